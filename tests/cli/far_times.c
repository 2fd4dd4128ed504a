/* Recordings and regions whose times lie at the ends of 64 bits, or farther apart than 64 bits say: as damage, or someone
   who means harm, makes them. Written into the working directory. */
#define NETPROF_IMPLEMENTATION
#include "netprof.h"

#include <stdio.h>
#include <stdlib.h>

#define SECOND INT64_C(1000000000)
#define EPOCH  INT64_C(1700000000000000000)

typedef struct reading {
    int64_t begin_ns, end_ns, wall_ns, stamp_ns;
} reading;

static netprof_writer *writer;

static void need(int ok)
{
    if (ok) return;
    fputs("far_times: cannot write\n", stderr);
    exit(1);
}

static void open_file(const char *path)
{
    need(!netprof_writer_open(&writer, path, 0, NULL));
}

static void close_file(void)
{
    need(!netprof_writer_close(writer, 1, NULL));
}

static const netprof_schema *schema_new(void)
{
    const netprof_schema *schema;
    netprof_counter octets = {.name = "hni_sts_tx_ok_octets", .unit = "bytes", .width = 56, .flags = NETPROF_STAMPED};
    netprof_list *list = netprof_build_begin(NULL);
    netprof_build_fact(list, "host", "n1");
    netprof_build_fact(list, "boot_id", "b");
    netprof_build_source(list, "cxi");
    netprof_list_device(list, "cxi0", 0, NETPROF_DEVICE_PHYSICAL);
    netprof_list_counter(list, &octets);
    need(!netprof_build_end(list, &schema, NULL));
    return schema;
}

static void take(netprof_snapshot *x, const netprof_schema *schema, const reading *r, size_t number)
{
    need(!netprof_snapshot_make(x, schema, NULL));
    x->begin_ns = x->device_begin_ns[0] = x->device_end_ns[0] = r->begin_ns;
    x->end_ns = r->end_ns;
    x->wall_ns = r->wall_ns;
    x->status[0] = NETPROF_STATUS_OK;
    x->values[0] = number * 1000000;
    x->stamps_ns[0] = r->stamp_ns;
}

static void write_readings(const char *path, const reading *readings, size_t count)
{
    const netprof_schema *schema = schema_new();
    netprof_snapshot x = NETPROF_ZERO;
    open_file(path);
    for (size_t i = 0; i < count; i++) {
        take(&x, schema, &readings[i], i);
        need(!netprof_write_snapshot(writer, &x, NULL));
    }
    close_file();
    netprof_snapshot_free(&x);
    netprof_schema_release(schema);
}

static void write_difference(const char *path, const reading *readings)
{
    const netprof_schema *schema = schema_new();
    netprof_snapshot a = NETPROF_ZERO, b = NETPROF_ZERO;
    netprof_delta delta = NETPROF_ZERO;
    netprof_diff_options force = {.force = 1};
    take(&a, schema, &readings[0], 0);
    take(&b, schema, &readings[1], 1);
    need(!netprof_diff(&a, &b, &force, &delta, NULL));
    open_file(path);
    need(!netprof_write_delta(writer, &delta, NULL));
    close_file();
    netprof_delta_free(&delta);
    netprof_snapshot_free(&a);
    netprof_snapshot_free(&b);
    netprof_schema_release(schema);
}

static void write_regions(const char *path, int64_t wall_ns, int64_t elapsed_ns)
{
    netprof_regions r;
    need(!netprof_regions_take(&r, NULL));
    r.wall_ns = wall_ns;
    r.elapsed_ns = r.interval_ns = elapsed_ns;
    open_file(path);
    netprof_write_fact(writer, "host", "n1", NULL);
    need(!netprof_write_regions(writer, &r, NULL));
    close_file();
    netprof_regions_free(&r);
}

#define WRITE(path, ...)                                                                                               \
    write_readings(path, (const reading[]){__VA_ARGS__}, sizeof((const reading[]){__VA_ARGS__}) / sizeof(reading))

int main(void)
{
    const reading far_off[] = {{INT64_MAX / 2, INT64_MAX / 2 + 1, 5 * EPOCH, 5},
                               {INT64_MAX - 2, INT64_MAX - 1, 5 * EPOCH + SECOND, 5}};
    /* set back by an hour; stamps beside it as late as can be */
    WRITE("stamps.netprof", {SECOND, SECOND + 1, EPOCH, EPOCH},
          {2 * SECOND, 2 * SECOND + 1, EPOCH + SECOND - 3600 * SECOND, INT64_MAX},
          {3 * SECOND, 3 * SECOND + 1, EPOCH + 2 * SECOND - 3600 * SECOND, INT64_MAX});
    WRITE("walls.netprof", {SECOND, SECOND + 1, -EPOCH, 5}, {2 * SECOND, 2 * SECOND + 1, INT64_MAX, 5},
          {SECOND, SECOND + 1, -EPOCH, 5}, {2 * SECOND, 2 * SECOND + 1, -EPOCH + SECOND, 5});
    WRITE("late.netprof", {SECOND, SECOND + 1, EPOCH, EPOCH}, {2 * SECOND, 2 * SECOND + 1, INT64_MAX - 1, 5},
          {3 * SECOND, 3 * SECOND + 1, INT64_MAX, 5});
    WRITE("ends.netprof", {INT64_MAX - 2 * SECOND, INT64_MIN, EPOCH, 5},
          {INT64_MAX - SECOND, INT64_MIN + 5, EPOCH + SECOND, 5});
    WRITE("negative.netprof", {INT64_MIN + 1, INT64_MIN + 2, EPOCH, 5}, {-1, INT64_MAX, EPOCH + SECOND, 5},
          {INT64_MAX, INT64_MIN, EPOCH + 2 * SECOND, 5});
    write_difference("difference.netprof", far_off);
    for (int i = 0; i < 3; i++) {
        NETPROF_BEGIN("work");
        NETPROF_END("work");
    }
    write_regions("regions_early.netprof", INT64_MIN, INT64_MAX);
    write_regions("regions_late.netprof", INT64_MAX, INT64_MAX);
    write_regions("regions_long.netprof", EPOCH, INT64_MAX);
    write_regions("regions_short.netprof", EPOCH, INT64_MIN);
    return 0;
}

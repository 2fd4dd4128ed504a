// make_long IN OUT SNAPSHOTS
// A long recording out of a short one: its snapshots over and over, each time later by as long as it lasted, and with its
// counters on by what they counted meanwhile. For files of days, which a simulator would take hours for.
#define _POSIX_C_SOURCE 200809L
#include "netprof.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static netprof_snapshot *kept;
static size_t count;

static void stop_if(bool bad, const char *what)
{
    if (!bad) return;
    fprintf(stderr, "make_long: %s\n", what);
    exit(1);
}

// Its facts go to the output at once.
static void read_all(const char *path, netprof_writer *to)
{
    netprof_reader *reader;
    netprof_item item = {.type = NETPROF_ITEM_FACT};
    stop_if(netprof_reader_open(&reader, path, NULL, NULL) != NETPROF_OK, path);
    while (item.type != NETPROF_ITEM_END) {
        stop_if(netprof_reader_next(reader, &item, NULL) != NETPROF_OK, path);
        if (item.type == NETPROF_ITEM_FACT) netprof_write_fact(to, item.fact->key, item.fact->value, NULL);
        if (item.type != NETPROF_ITEM_SNAPSHOT) continue;
        kept = realloc(kept, (count + 1) * sizeof *kept);
        stop_if(!kept, "no memory");
        kept[count] = (netprof_snapshot)NETPROF_ZERO;
        stop_if(netprof_snapshot_copy(&kept[count++], item.snapshot, NULL) != NETPROF_OK, "no memory");
    }
    netprof_reader_close(reader);
    stop_if(count < 3 || kept[0].schema != kept[count - 1].schema, "expected a recording of one schema");
}

static void move(netprof_snapshot *x, int64_t by_ns)
{
    x->begin_ns += by_ns;
    x->end_ns += by_ns;
    x->wall_ns += by_ns;
    for (size_t d = 0; d < x->schema->device_count; d++) {
        x->device_begin_ns[d] += by_ns;
        x->device_end_ns[d] += by_ns;
    }
    for (size_t i = 0; i < x->schema->counter_count; i++)
        if (x->stamps_ns[i]) x->stamps_ns[i] += by_ns;
}

// Of the first snapshot the next round makes the second, of the last one the round's end: they are the same moment.
static void write_all(netprof_writer *to, size_t wanted)
{
    const netprof_schema *schema = kept[0].schema;
    int64_t length = kept[count - 1].wall_ns - kept[0].wall_ns;
    uint64_t *counted = calloc(schema->counter_count + 1, sizeof *counted);
    stop_if(!counted || length <= 0, "no memory, or no time");
    for (size_t i = 0; i < schema->counter_count; i++)
        if (schema->counters[i].kind == NETPROF_KIND_COUNTER)
            counted[i] = kept[count - 1].values[i] - kept[0].values[i];
    for (size_t n = 0; n < wanted; n++) {
        netprof_snapshot *x = &kept[n % (count - 1)];
        stop_if(netprof_write_snapshot(to, x, NULL) != NETPROF_OK, "cannot write");
        move(x, length);
        for (size_t i = 0; i < schema->counter_count; i++)
            x->values[i] += counted[i];
    }
    free(counted);
}

int main(int argc, char **argv)
{
    netprof_writer *writer;
    stop_if(argc != 4 || atol(argv[3]) < 1, "expected IN OUT SNAPSHOTS");
    stop_if(netprof_writer_open(&writer, argv[2], 0, NULL) != NETPROF_OK, argv[2]);
    read_all(argv[1], writer);
    write_all(writer, (size_t)atol(argv[3]));
    stop_if(netprof_writer_close(writer, 1, NULL) != NETPROF_OK, argv[2]);
    for (size_t i = 0; i < count; i++)
        netprof_snapshot_free(&kept[i]);
    free(kept);
    return 0;
}

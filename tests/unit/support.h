// What unit tests of netprof.h share. Include after netprof.h (with its implementation).
#ifndef NETPROF_TESTS_SUPPORT_H
#define NETPROF_TESTS_SUPPORT_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define SUPPORT      static __attribute__((unused))
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* -- trees of small files -- */

// A new empty directory; remove it with tree_remove(), which frees the name.
SUPPORT char *tree_make(void)
{
    const char *base = getenv("TMPDIR");
    char path[512];
    if (!base || !*base) base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"; // in memory: sweeps write a lot
    snprintf(path, sizeof path, "%s/netprof-test-XXXXXX", base);
    assert_non_null(mkdtemp(path));
    return strdup(path);
}

SUPPORT int tree_remove_entry(const char *path, const struct stat *st, int type, struct FTW *where)
{
    (void)st;
    (void)type;
    (void)where;
    return remove(path);
}

SUPPORT void tree_remove(char *tree)
{
    nftw(tree, tree_remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    free(tree);
}

// "TREE/PATH", in one of a few static buffers; makes the directories that lead there.
SUPPORT const char *tree_path(const char *tree, const char *path)
{
    static char buffers[8][1024];
    static unsigned next;
    char *full = buffers[next++ % COUNT(buffers)], *slash;
    snprintf(full, sizeof buffers[0], "%s/%s", tree, path);
    for (slash = full + strlen(tree) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = 0;
        if (mkdir(full, 0777) != 0) assert_int_equal(errno, EEXIST);
        *slash = '/';
    }
    return full;
}

SUPPORT void tree_write_bytes(const char *tree, const char *path, const void *data, size_t size)
{
    int fd = open(tree_path(tree, path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, size), (ssize_t)size);
    close(fd);
}

SUPPORT __attribute__((format(printf, 3, 4))) void tree_write(const char *tree, const char *path, const char *format,
                                                              ...)
{
    char text[4096];
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    assert_true(n >= 0 && (size_t)n < sizeof text);
    tree_write_bytes(tree, path, text, (size_t)n);
}

SUPPORT size_t count_entries(const char *path)
{
    DIR *directory = opendir(path);
    size_t n = 0;
    if (!directory) return 0;
    while (readdir(directory))
        n++;
    closedir(directory);
    return n - 2;
}

SUPPORT size_t count_fds(void)
{
    return count_entries("/proc/self/fd") - 1; // less the one that looked
}

/* -- random numbers with a seed (splitmix64) -- */

SUPPORT uint64_t random_next(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

SUPPORT size_t random_below(uint64_t *state, size_t n)
{
    return (size_t)(random_next(state) % n);
}

/* -- where writers write to -- */

struct sink {
    unsigned char *data;
    size_t size, capacity;
    size_t fail_behind; // 0: never; else ENOSPC once more bytes than this would be there
};

SUPPORT int sink_write(void *user, const void *data, size_t size)
{
    struct sink *sink = user;
    if (sink->fail_behind && sink->size + size > sink->fail_behind) return ENOSPC;
    if (sink->size + size > sink->capacity) {
        sink->capacity = 2 * (sink->size + size);
        sink->data = realloc(sink->data, sink->capacity);
        assert_non_null(sink->data);
    }
    if (size) memcpy(sink->data + sink->size, data, size);
    sink->size += size;
    return 0;
}

SUPPORT void sink_free(struct sink *sink)
{
    free(sink->data);
    memset(sink, 0, sizeof *sink);
}

/* -- schemas and snapshots by hand -- */

struct row {
    const char *source, *device, *counter;
    int kind, width;
    unsigned scale, flags;
    uint64_t identity;
};

SUPPORT const netprof_schema *schema_of_rows(const struct row *rows, size_t count, const char *host,
                                             const char *boot_id)
{
    netprof_list *list = netprof_build_begin(NULL);
    const netprof_schema *schema = NULL;
    assert_non_null(list);
    if (host) netprof_build_fact(list, "host", host);
    if (boot_id) netprof_build_fact(list, "boot_id", boot_id);
    for (size_t i = 0; i < count; i++) {
        const struct row *row = &rows[i];
        netprof_counter counter = {.name = row->counter,
                                   .unit = "things",
                                   .scale = (uint16_t)row->scale,
                                   .flags = (uint16_t)row->flags,
                                   .kind = (uint8_t)row->kind,
                                   .width = (uint8_t)row->width};
        if (!i || strcmp(row->source, row[-1].source) != 0) netprof_build_source(list, row->source);
        if (!i || strcmp(row->device, row[-1].device) != 0 || strcmp(row->source, row[-1].source) != 0)
            netprof_list_device(list, row->device, row->identity, NETPROF_DEVICE_PHYSICAL);
        if (row->counter) netprof_list_counter(list, &counter);
    }
    assert_int_equal(netprof_build_end(list, &schema, NULL), NETPROF_OK);
    return schema;
}

// A snapshot of the schema, all ok, values 0; gives up the caller's reference to the schema.
SUPPORT netprof_snapshot snapshot_of(const netprof_schema *schema)
{
    netprof_snapshot snapshot = NETPROF_ZERO;
    assert_int_equal(netprof_snapshot_make(&snapshot, schema, NULL), NETPROF_OK);
    memset(snapshot.status, NETPROF_STATUS_OK, schema->counter_count);
    netprof_schema_release(schema);
    return snapshot;
}

SUPPORT int same_text(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

SUPPORT int same_facts(const netprof_fact *a, size_t m, const netprof_fact *b, size_t n)
{
    if (m != n) return 0;
    for (size_t i = 0; i < n; i++)
        if (!same_text(a[i].key, b[i].key) || !same_text(a[i].value, b[i].value)) return 0;
    return 1;
}

// Everything that is public, compared member by member; says what differs.
SUPPORT const char *schema_difference(const netprof_schema *a, const netprof_schema *b)
{
    if (!same_facts(a->facts, a->fact_count, b->facts, b->fact_count)) return "facts";
    if (a->source_count != b->source_count) return "source_count";
    for (size_t i = 0; i < a->source_count; i++) {
        const netprof_source_state *x = &a->sources[i], *y = &b->sources[i];
        if (!same_text(x->name, y->name) || x->status != y->status || x->sys_errno != y->sys_errno ||
            !same_text(x->path, y->path) || x->device_count != y->device_count)
            return "sources";
    }
    if (a->device_count != b->device_count) return "device_count";
    for (size_t i = 0; i < a->device_count; i++) {
        const netprof_device *x = &a->devices[i], *y = &b->devices[i];
        if (!same_text(x->source, y->source) || !same_text(x->name, y->name)) return "device names";
        if (x->identity != y->identity || x->flags != y->flags) return "device identity or flags";
        if (x->first != y->first || x->count != y->count) return "device counters";
        if (!same_facts(x->facts, x->fact_count, y->facts, y->fact_count)) return "device facts";
    }
    if (a->counter_count != b->counter_count) return "counter_count";
    for (size_t i = 0; i < a->counter_count; i++) {
        const netprof_counter *x = &a->counters[i], *y = &b->counters[i];
        if (!same_text(x->name, y->name)) return "counter name";
        if (!same_text(x->unit, y->unit)) return "counter unit";
        if (x->device != y->device || x->scale != y->scale || x->flags != y->flags || x->kind != y->kind ||
            x->width != y->width)
            return "counter class";
    }
    return NULL;
}

// The same for snapshots; stamps may be off by `tolerance` nanoseconds, where `exact` (may be NULL) is 0.
SUPPORT const char *snapshot_difference(const netprof_snapshot *a, const netprof_snapshot *b, int64_t tolerance,
                                        const uint8_t *exact)
{
    const char *what = schema_difference(a->schema, b->schema);
    size_t n = a->schema->counter_count, d = a->schema->device_count;
    if (what) return what;
    if (n && memcmp(a->values, b->values, n * sizeof *a->values) != 0) return "values";
    if (n && memcmp(a->status, b->status, n) != 0) return "status";
    if (n && memcmp(a->errnos, b->errnos, n) != 0) return "errnos";
    if (d && memcmp(a->device_begin_ns, b->device_begin_ns, d * 8) != 0) return "device_begin_ns";
    if (d && memcmp(a->device_end_ns, b->device_end_ns, d * 8) != 0) return "device_end_ns";
    if (a->begin_ns != b->begin_ns || a->end_ns != b->end_ns || a->wall_ns != b->wall_ns) return "times";
    if (a->set != b->set || a->not_ok != b->not_ok) return "set or not_ok";
    for (size_t i = 0; i < n; i++) {
        int64_t off = (int64_t)((uint64_t)a->stamps_ns[i] - (uint64_t)b->stamps_ns[i]);
        if (off < -tolerance || off > tolerance || (exact && exact[i] && off)) return "stamps_ns";
        if (!a->stamps_ns[i] != !b->stamps_ns[i]) return "presence of a stamp";
    }
    return NULL;
}

SUPPORT const char *delta_difference(const netprof_delta *a, const netprof_delta *b)
{
    const char *what = schema_difference(a->schema, b->schema);
    size_t n = a->schema->counter_count;
    if (what) return what;
    if (n && memcmp(a->before, b->before, n * 8) != 0) return "before";
    if (n && memcmp(a->after, b->after, n * 8) != 0) return "after";
    if (n && memcmp(a->values, b->values, n * 8) != 0) return "values";
    if (n && memcmp(a->elapsed_ns, b->elapsed_ns, n * 8) != 0) return "elapsed_ns";
    if (n && memcmp(a->flags, b->flags, n) != 0) return "flags";
    if (n && memcmp(a->before_status, b->before_status, n) != 0) return "before_status";
    if (n && memcmp(a->after_status, b->after_status, n) != 0) return "after_status";
    if (a->wall_begin_ns != b->wall_begin_ns || a->wall_end_ns != b->wall_end_ns) return "wall times";
    if (a->interval_ns != b->interval_ns || a->sweep_ns != b->sweep_ns) return "interval or sweep";
    if (a->stamp_error_ns != b->stamp_error_ns) return "stamp_error_ns";
    return NULL;
}

#define assert_same(difference)                                                                                        \
    do {                                                                                                               \
        const char *what_differs = (difference);                                                                       \
        if (what_differs) fail_msg("different: %s", what_differs);                                                     \
    } while (0)

#endif

// One source of the node on a tree of files or on this machine, for tests; include cmocka.h and netprof.h first.
#ifndef SOURCE_BENCH_H
#define SOURCE_BENCH_H

#include "analysis/catalog/catalog.h"
#include "sources/sources.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char root[] = "/tmp/netprof-source-XXXXXX";

static inline void put(const char *path, const char *text)
{
    char full[512], command[600];
    snprintf(full, sizeof full, "%s%s", root, path);
    snprintf(command, sizeof command, "mkdir -p \"$(dirname '%s')\"", full);
    if (strrchr(full, '/') && access(full, F_OK) != 0) assert_int_equal(system(command), 0);
    FILE *f = fopen(full, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static inline int drop_tree(void **state)
{
    char command[600];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'/*", root);
    return system(command);
}

static inline int make_tree(void **state)
{
    (void)state;
    return mkdtemp(root) ? 0 : -1;
}

static inline int remove_tree(void **state)
{
    drop_tree(state);
    return rmdir(root);
}

typedef struct bench {
    netprof *np;
    netprof_snapshot s;
} bench;

static inline void open_source(bench *b, const char *source, const char *below, const sources_job *job)
{
    netprof_config config = NETPROF_ZERO;
    netprof_error error;
    config.sources = "none";
    config.root = below;
    memset(b, 0, sizeof *b);
    assert_int_equal(netprof_open(&b->np, &config, &error), NETPROF_ERR_NOSOURCE);
    assert_non_null(b->np);
    assert_non_null(sources_find(source));
    assert_int_equal(sources_find(source)->add(b->np, job, &error), NETPROF_OK);
    assert_int_equal(netprof_take(b->np, &b->s, NETPROF_SET_ALL, &error), NETPROF_OK);
}

static inline void again(bench *b, netprof_set set)
{
    netprof_error error;
    assert_int_equal(netprof_take(b->np, &b->s, set, &error), NETPROF_OK);
}

static inline size_t index_of(const bench *b, const char *device, const char *counter)
{
    size_t i = netprof_find(b->s.schema, NULL, device, counter);
    if (i == NETPROF_NONE) fail_msg("no counter %s/%s", device, counter);
    return i;
}

// Is there such a counter at all?
static inline bool is_told(const bench *b, const char *device, const char *counter)
{
    return netprof_find(b->s.schema, NULL, device, counter) != NETPROF_NONE;
}

static inline uint64_t value(const bench *b, const char *device, const char *counter)
{
    size_t i = index_of(b, device, counter);
    if (b->s.status[i] != NETPROF_STATUS_OK)
        fail_msg("%s/%s: status %d, errno %d", device, counter, b->s.status[i], b->s.errnos[i]);
    return b->s.values[i];
}

static inline netprof_status status_of(const bench *b, const char *device, const char *counter)
{
    return (netprof_status)b->s.status[index_of(b, device, counter)];
}

static inline const netprof_device *device_of(const bench *b, const char *name)
{
    for (size_t i = 0; i < b->s.schema->device_count; i++)
        if (strcmp(b->s.schema->devices[i].name, name) == 0) return &b->s.schema->devices[i];
    return NULL;
}

// "" when there is no such fact.
static inline const char *fact(const bench *b, const char *device, const char *key)
{
    const netprof_device *d = device_of(b, device);
    assert_non_null(d);
    for (uint32_t i = 0; i < d->fact_count; i++)
        if (strcmp(d->facts[i].key, key) == 0) return d->facts[i].value;
    return "";
}

// Each counter has a row with the same unit and kind, and a meaning.
static inline void check_catalog(const bench *b)
{
    for (size_t i = 0; i < b->s.schema->counter_count; i++) {
        const netprof_counter *c = &b->s.schema->counters[i];
        const catalog_entry *e = catalog_find(b->s.schema->devices[c->device].source, c->name);
        if (!e || !*e->description) fail_msg("%s is not in the catalog", c->name);
        if (strcmp(e->unit, c->unit) != 0) fail_msg("%s: %s, by the catalog %s", c->name, c->unit, e->unit);
        if (e->kind != c->kind) fail_msg("%s: of another kind in the catalog", c->name);
    }
}

static inline void close_source(bench *b)
{
    netprof_snapshot_free(&b->s);
    netprof_close(b->np);
}

#endif

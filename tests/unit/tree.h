/* A directory made for one test, in the shape of / as a kernel shows it; include netprof.h and cmocka.h
 * first. */
#ifndef TREE_H
#define TREE_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char tree_root[256];

static inline int tree_setup(void **state)
{
    const char *tmp = getenv("TMPDIR");
    (void)state;
    snprintf(tree_root, sizeof tree_root, "%s/netprof-tree-XXXXXX", tmp ? tmp : "/tmp");
    return mkdtemp(tree_root) ? 0 : -1;
}

static inline int tree_remove_one(const char *path, const struct stat *st, int flag, struct FTW *where)
{
    (void)st;
    (void)flag;
    (void)where;
    return remove(path);
}

/* The path in the tree; four may be in use at once. */
static inline const char *tree_path(const char *path)
{
    static char paths[4][768];
    static unsigned next;
    char *p = paths[next++ % 4];
    snprintf(p, sizeof paths[0], "%s/%s", tree_root, path);
    return p;
}

static inline void tree_remove(const char *path)
{
    nftw(tree_path(path), tree_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static inline int tree_teardown(void **state)
{
    (void)state;
    tree_remove("");
    return 0;
}

/* Makes the directories above a path. */
static inline void tree_above(const char *full)
{
    char path[768];
    char *p;
    snprintf(path, sizeof path, "%s", full);
    for (p = path + strlen(tree_root) + 1; (p = strchr(p, '/')) != NULL; *p++ = '/') {
        *p = 0;
        mkdir(path, 0777);
    }
}

static inline void tree_write(const char *path, const char *text)
{
    const char *full = tree_path(path);
    FILE *file;
    tree_above(full);
    file = fopen(full, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

static inline void tree_link(const char *target, const char *path)
{
    const char *full = tree_path(path);
    tree_above(full);
    assert_int_equal(symlink(target, full), 0);
}

/* A context on the tree with one source. */
static inline netprof *tree_open(const char *source, netprof_hold hold)
{
    netprof_config config = NETPROF_ZERO;
    netprof_error error;
    netprof *np = NULL;
    config.root = tree_root;
    config.sources = source;
    config.hold = hold;
    config.max_fds = 4096;
    netprof_open(&np, &config, &error);
    assert_non_null(np);
    return np;
}

static inline netprof_snapshot tree_take(netprof *np, netprof_set set)
{
    netprof_snapshot s = NETPROF_ZERO;
    assert_int_equal(netprof_take(np, &s, set, NULL), NETPROF_OK);
    return s;
}

static inline const netprof_device *tree_device(const netprof_schema *schema, const char *name)
{
    size_t i;
    for (i = 0; i < schema->device_count; i++)
        if (strcmp(schema->devices[i].name, name) == 0) return &schema->devices[i];
    return NULL;
}

/* A fact of a device, "" when it has none. */
static inline const char *tree_fact(const netprof_schema *schema, const char *device, const char *key)
{
    const netprof_device *d = tree_device(schema, device);
    const char *value;
    assert_non_null(d);
    value = netprof_fact_of(d->facts, d->fact_count, key);
    return value ? value : "";
}

static inline size_t tree_find(const netprof_snapshot *s, const char *device, const char *counter)
{
    size_t i = netprof_find(s->schema, NULL, device, counter);
    if (i == NETPROF_NONE) fail_msg("%s/%s is not listed", device, counter);
    return i;
}

static inline const netprof_counter *tree_counter(const netprof_snapshot *s, const char *device, const char *counter)
{
    return &s->schema->counters[tree_find(s, device, counter)];
}

static inline netprof_status tree_status(const netprof_snapshot *s, const char *device, const char *counter)
{
    return (netprof_status)s->status[tree_find(s, device, counter)];
}

/* A value that must be there. */
static inline uint64_t tree_value(const netprof_snapshot *s, const char *device, const char *counter)
{
    size_t i = tree_find(s, device, counter);
    if (s->status[i] != NETPROF_STATUS_OK && s->status[i] != NETPROF_STATUS_SATURATED)
        fail_msg("%s/%s is %s", device, counter, netprof_status_name((netprof_status)s->status[i]));
    return s->values[i];
}

#endif

#define _GNU_SOURCE
#include "membership.h"

#include "analysis/base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// ---- control groups ----

// One part of a path between slashes.
typedef struct component {
    const char *at;
    size_t size;
} component;

static bool membership_next_component(const char **path, component *c)
{
    while (**path == '/')
        ++*path;
    c->at = *path;
    c->size = strcspn(*path, "/\n");
    *path += c->size;
    return c->size > 0;
}

static bool membership_is_named(component c, const char *before, const char *name)
{
    size_t n = strlen(before), m = strlen(name);
    return c.size == n + m && memcmp(c.at, before, n) == 0 && memcmp(c.at + n, name, m) == 0;
}

static bool membership_ends_in_job(component c, const char *job)
{
    size_t n = strlen(job);
    return c.size > n + 1 && c.at[c.size - n - 1] == '_' && memcmp(c.at + c.size - n, job, n) == 0;
}

static bool membership_path_names(const char *scheduler, const char *job, const char *path)
{
    bool slurm = false, oar = false;
    component c;
    while (membership_next_component(&path, &c)) {
        slurm |= c.size >= 5 && memcmp(c.at, "slurm", 5) == 0;
        if (strcmp(scheduler, "slurm") == 0 && slurm && membership_is_named(c, "job_", job)) return true;
        if (strcmp(scheduler, "pbs") == 0 && membership_is_named(c, "", job)) return true;
        if (strcmp(scheduler, "oar") == 0 && oar && membership_ends_in_job(c, job)) return true;
        oar |= membership_is_named(c, "", "oar");
    }
    return false;
}

bool membership_in_cgroup(const char *scheduler, const char *job, const char *text)
{
    if (!*job) return false;
    // hierarchy:controllers:path
    for (const char *line = text; line && *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const char *path = strchr(line, ':');
        if (path) path = strchr(path + 1, ':');
        if (path && path < line + strcspn(line, "\n") && membership_path_names(scheduler, job, path + 1)) return true;
    }
    return false;
}

void membership_cut_to_job(char *path)
{
    const char *at = path;
    bool slurm = false;
    component c;
    while (membership_next_component(&at, &c)) {
        bool job = slurm && c.size > 4 && memcmp(c.at, "job_", 4) == 0 && strspn(c.at + 4, "0123456789") == c.size - 4;
        if (job) path[at - path] = 0;
        if (job) return;
        slurm |= c.size >= 5 && memcmp(c.at, "slurm", 5) == 0;
    }
}

char *membership_pod_uid(const char *text)
{
    enum { UID = 36 }; // 8-4-4-4-12
    for (const char *at = text; (at = strstr(at, "pod"));) {
        char uid[UID + 1];
        size_t n = 0;
        at += 3;
        for (; n < UID; n++) {
            bool dash = n == 8 || n == 13 || n == 18 || n == 23;
            char x = at[n];
            if (dash ? x != '-' && x != '_' : !isxdigit((unsigned char)x)) break;
            uid[n] = dash ? '-' : x;
        }
        uid[n] = 0;
        if (n == UID && !isalnum((unsigned char)at[n])) return strdup(uid);
    }
    return NULL;
}

// ---- nodes ----

typedef struct node_list {
    char **names;
    size_t count;
} node_list;

static bool membership_add_node(node_list *l, const char *name)
{
    for (size_t i = l->count; i-- > 0;) { // slots of one node are adjacent
        if (!text_same_host(l->names[i], name)) continue;
        char *longer = strlen(name) > strlen(l->names[i]) ? strdup(name) : NULL;
        if (longer) {
            free(l->names[i]);
            l->names[i] = longer;
        }
        return true;
    }
    char **names = realloc(l->names, (l->count + 1) * sizeof *names);
    if (!names) return false;
    l->names = names;
    names[l->count] = strdup(name);
    return names[l->count] && ++l->count;
}

char *membership_nodes(FILE *file, size_t *count)
{
    node_list l = {0};
    char *line = NULL, *all = NULL;
    size_t room = 0, size = 1;
    while (getline(&line, &room, file) > 0) {
        char *name = line + strspn(line, " \t");
        name[strcspn(name, " \t\r\n:,")] = 0; // "node7:ppn=4", "node7 slots=4"; the list's own commas
        if (*name && *name != '#' && !membership_add_node(&l, name)) break;
    }
    free(line);
    for (size_t i = 0; i < l.count; i++)
        size += strlen(l.names[i]) + 1;
    if (l.count) all = malloc(size);
    char *to = all;
    for (size_t i = 0; i < l.count; i++) {
        if (to) to += sprintf(to, "%s%s", i ? "," : "", l.names[i]);
        free(l.names[i]);
    }
    free(l.names);
    *count = all ? l.count : 0;
    return all;
}

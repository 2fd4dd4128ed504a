#define _GNU_SOURCE
#include "racks.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RACKS_MOST = 240 }; // groups that still can be told apart

// ---- the file ----

static racks_row *racks_read(const char *directory)
{
    racks_row *rows = NULL;
    char *path = memory_format("%s/racks", directory), *line = NULL;
    size_t room = 0;
    FILE *f = fopen(path, "re");
    while (f && getline(&line, &room, f) > 0 && arrlenu(rows) < RACKS_MOST) {
        char *save = NULL, *name = strtok_r(line, " \t\r\n", &save), *globs = strtok_r(NULL, " \t\r\n", &save);
        if (!name || *name == '#' || !globs) continue;
        arrput(rows, ((racks_row){memory_strdup(name), memory_strdup(globs)}));
    }
    if (f) fclose(f);
    free(line);
    free(path);
    return rows;
}

static void racks_free_rows(racks_row *rows)
{
    for (size_t i = 0; i < arrlenu(rows); i++) {
        free(rows[i].name);
        free(rows[i].globs);
    }
    arrfree(rows);
}

void racks_look(racks *r, nodes *n, const char *directory)
{
    status_seen seen = r->seen;
    if (!status_file_is_new(directory, "racks", &seen)) return;
    racks_row *rows = racks_read(directory), *before = r->rows;
    nodes_lock(n);
    r->rows = rows;
    r->seen = seen;
    r->generation++;
    nodes_unlock(n);
    racks_free_rows(before);
}

void racks_free(racks *r)
{
    racks_free_rows(r->rows);
    *r = (racks){.rows = NULL};
}

// ---- which rack ----

static bool racks_takes(const racks_row *row, const char *name)
{
    char *list = memory_strdup(row->globs), *at = list;
    bool takes = false;
    for (char *word; !takes && (word = strsep(&at, ","));)
        takes = fnmatch(word, name, 0) == 0;
    free(list);
    return takes;
}

// Looked for once a node and file.
static size_t racks_find(const racks *r, node *x)
{
    if (x->rack_generation == r->generation) return x->rack;
    x->rack_generation = r->generation;
    for (x->rack = 0; x->rack < arrlenu(r->rows) && !racks_takes(&r->rows[x->rack], x->name);)
        x->rack++;
    return x->rack;
}

// What a name begins with: all up to its last number, or the cabinet of a name like x1000c0s0b0n1.
static size_t racks_prefix(const char *name)
{
    size_t digits = *name == 'x' ? strspn(name + 1, "0123456789") : 0, end = strlen(name);
    if (digits && name[1 + digits] == 'c' && isdigit((unsigned char)name[2 + digits])) return 1 + digits;
    while (end && !isdigit((unsigned char)name[end - 1]))
        end--;
    while (end && isdigit((unsigned char)name[end - 1]))
        end--;
    return end;
}

static int racks_compare(const void *a, const void *b)
{
    const racked *x = a, *y = b;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    return strverscmp(x->node->name, y->node->name);
}

static size_t racks_by_file(const racks *r, nodes *n, racked **to)
{
    size_t groups = 0;
    for (size_t i = 0; i < nodes_count(n); i++) {
        node *x = nodes_at(n, i);
        size_t rack = racks_find(r, x);
        arrput(*to, ((racked){x, rack < arrlenu(r->rows) ? r->rows[rack].name : NULL, rack}));
    }
    if (*to) qsort(*to, arrlenu(*to), sizeof(**to), racks_compare);
    for (size_t i = 0; i < arrlenu(*to); i++)
        groups += !i || (*to)[i].group != (*to)[i - 1].group;
    return groups;
}

// Nodes are by name already, so that those which begin alike stand together.
static size_t racks_by_name(nodes *n, racked **to)
{
    size_t groups = 0;
    for (size_t i = 0; i < nodes_count(n); i++) {
        const node *x = nodes_at(n, i), *before = i ? nodes_at(n, i - 1) : NULL;
        size_t prefix = racks_prefix(x->name);
        bool same = before && racks_prefix(before->name) == prefix && strncmp(before->name, x->name, prefix) == 0;
        groups += !same;
        arrput(*to, ((racked){x, NULL, groups - 1}));
    }
    // Groups of single nodes are no racks.
    if (groups <= RACKS_MOST && 2 * groups <= arrlenu(*to)) return groups;
    for (size_t i = 0; i < arrlenu(*to); i++)
        (*to)[i].group = 0;
    return 1;
}

racked *racks_order(const racks *r, nodes *n, size_t *groups)
{
    racked *all = NULL;
    *groups = arrlenu(r->rows) ? racks_by_file(r, n, &all) : racks_by_name(n, &all);
    return all;
}

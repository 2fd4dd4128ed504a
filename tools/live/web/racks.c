#define _GNU_SOURCE
#include "racks.h"

#include "cli/messages.h"
#include "cli/terminal_text.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RACKS_MOST = 240 }; // groups that still can be told apart

// ---- the file ----

static void racks_add(racks_row **rows, const char *name, char *globs)
{
    racks_row row = {.name = memory_strdup(name)};
    for (char *word; (word = strsep(&globs, ","));)
        arrput(row.globs, memory_strdup(word));
    arrput(*rows, row);
}

// *more: lines that there was no room for.
static racks_row *racks_read(const char *directory, size_t *more)
{
    racks_row *rows = NULL;
    char *path = memory_format("%s/racks", directory), *line = NULL;
    size_t room = 0;
    FILE *f = fopen(path, "re");
    *more = 0;
    while (f && getline(&line, &room, f) > 0) {
        char *save = NULL, *name = strtok_r(line, " \t\r\n", &save), *globs = strtok_r(NULL, " \t\r\n", &save);
        if (!name || *name == '#' || !globs) continue;
        if (arrlenu(rows) < RACKS_MOST)
            racks_add(&rows, name, globs);
        else
            ++*more;
    }
    if (f) fclose(f);
    free(line);
    free(path);
    return rows;
}

static void racks_free_rows(racks_row *rows)
{
    for (size_t i = 0; i < arrlenu(rows); i++) {
        for (size_t k = 0; k < arrlenu(rows[i].globs); k++)
            free(rows[i].globs[k]);
        arrfree(rows[i].globs);
        free(rows[i].name);
    }
    arrfree(rows);
}

static size_t racks_find(const racks_row *rows, const char *name)
{
    size_t rack = 0;
    for (; rack < arrlenu(rows); rack++)
        for (size_t k = 0; k < arrlenu(rows[rack].globs); k++)
            if (fnmatch(rows[rack].globs[k], name, 0) == 0) return rack;
    return rack;
}

typedef struct racks_found {
    node *node;
    size_t rack;
} racks_found;

void racks_look(racks *r, nodes *n, const char *directory)
{
    status_seen seen = r->seen;
    bool is_new = status_file_is_new(directory, "racks", &seen);
    size_t more = 0;
    racks_row *rows = is_new ? racks_read(directory, &more) : r->rows, *before = r->rows;
    uint64_t generation = r->generation + is_new;
    racks_found *found = NULL; // thousands of names against hundreds of patterns: others do not wait for that
    for (size_t i = 0; i < nodes_count(n); i++)
        if (nodes_at(n, i)->rack_generation != generation)
            arrput(found, ((racks_found){nodes_at(n, i), racks_find(rows, nodes_at(n, i)->name)}));
    if (more)
        warn("%s/racks: of %zu racks the first %d are told apart; nodes of the others stand with those of none",
             safe(directory), arrlenu(rows) + more, RACKS_MOST);
    if (!is_new && !found) return;
    nodes_lock(n);
    for (size_t i = 0; i < arrlenu(found); i++) {
        found[i].node->rack = found[i].rack;
        found[i].node->rack_generation = generation;
    }
    r->rows = rows;
    r->seen = seen;
    r->generation = generation;
    nodes_unlock(n);
    arrfree(found);
    if (is_new) racks_free_rows(before);
}

void racks_free(racks *r)
{
    racks_free_rows(r->rows);
    *r = (racks){.rows = NULL};
}

// ---- which rack ----

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

// Nodes are by name already, and stay so in each rack.
static size_t racks_by_file(const racks *r, nodes *n, racked **to)
{
    size_t none = arrlenu(r->rows), groups = 0, count = nodes_count(n), next = 0;
    size_t *places = memory_calloc(none + 1, sizeof *places); // how many are in each, then where its next one goes
    for (size_t pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < count; i++) {
            node *x = nodes_at(n, i);
            size_t rack = x->rack_generation == r->generation ? x->rack : none; // none: it came just now
            if (!pass)
                places[rack]++;
            else
                (*to)[places[rack]++] = (racked){x, rack < none ? r->rows[rack].name : NULL, rack};
        }
        for (size_t i = 0; !pass && i <= none; i++) {
            size_t size = places[i];
            groups += size > 0;
            places[i] = next;
            next += size;
        }
        if (!pass && count) arrsetlen(*to, count);
    }
    free(places);
    return groups;
}

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

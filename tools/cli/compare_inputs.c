#include "compare_inputs.h"

#include "common.h"
#include "analysis/base/map_key.h"
#include "analysis/base/memory.h"
#include "analysis/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// ---- a run on both sides ----

// What tells a file from others. Asked once, and read at most once, whatever the number of runs on the other side.
typedef struct compare_file {
    struct stat at; // st_nlink is 0 where it could not be asked
    bool is_read, is_readable;
    map_key key; // of its bytes
} compare_file;

typedef struct compare_files {
    compare_file ends[2]; // the first file of a run and the last
} compare_files;

static compare_files compare_inputs_ask(const comparison_run *run)
{
    const dataset_run *ends[2] = {run->first, run->last};
    compare_files files = {0};
    for (int i = 0; i < 2; i++)
        if (stat(ends[i]->path, &files.ends[i].at)) files.ends[i].at = (struct stat){0};
    return files;
}

static void compare_inputs_read(compare_file *x, const char *path)
{
    enum { PIECE = 1 << 16 };
    static char piece[PIECE];
    if (x->is_read) return;
    x->is_read = true;
    FILE *f = fopen(path, "rbe");
    if (!f) return;
    for (size_t n = PIECE; n == PIECE;) {
        n = fread(piece, 1, PIECE, f);
        x->key = map_key_siphash_128(piece, n, x->key.a, x->key.b);
    }
    x->is_readable = !ferror(f);
    fclose(f);
}

static bool compare_inputs_same_bytes(compare_file *x, const char *a, compare_file *y, const char *b)
{
    compare_inputs_read(x, a);
    compare_inputs_read(y, b);
    return x->is_readable && y->is_readable && x->key.a == y->key.a && x->key.b == y->key.b;
}

static bool compare_inputs_same_file(const dataset_run *a, compare_file *x, const dataset_run *b, compare_file *y)
{
    const struct stat *p = &x->at, *q = &y->at;
    if (a->part != b->part) return false;
    if (strcmp(a->path, b->path) == 0) return true;
    if (!p->st_nlink || !q->st_nlink) return false;
    if (p->st_dev == q->st_dev && p->st_ino == q->st_ino) return true;
    return S_ISREG(p->st_mode) && S_ISREG(q->st_mode) && p->st_size == q->st_size &&
           compare_inputs_same_bytes(x, a->path, y, b->path);
}

static bool compare_inputs_same_readings(const comparison_run *a, const comparison_run *b)
{
    const dataset_run *p = a->first, *q = b->first, *s = a->last, *t = b->last;
    if (!p->snapshot_count || !q->snapshot_count || !s->snapshot_count || !t->snapshot_count) return false;
    return difference_is_same_reading(&p->snapshots[0], &q->snapshots[0]) &&
           difference_is_same_reading(&s->snapshots[s->snapshot_count - 1], &t->snapshots[t->snapshot_count - 1]);
}

// One reading on both sides is no fault: the end of the healthy run may be the start of the faulty one.
static int compare_inputs_check_pair(const comparison_run *a, compare_files *x, const comparison_run *b,
                                     compare_files *y)
{
    bool file = compare_inputs_same_file(a->first, &x->ends[0], b->first, &y->ends[0]) &&
                compare_inputs_same_file(a->last, &x->ends[1], b->last, &y->ends[1]);
    if (!file && !compare_inputs_same_readings(a, b)) return EXIT_DONE;
    if (strcmp(a->label, b->label) == 0)
        return fail(EXIT_USAGE, "%s %s given on both sides; expected healthy runs, and other ones that are faulty",
                    safe(b->label), b->first == b->last ? "was" : "were");
    char *names = memory_strdup(safe(a->label));
    int code = fail(EXIT_USAGE,
                    "%s and %s: the same run on both sides; expected healthy runs, and other ones that are "
                    "faulty",
                    names, safe(b->label));
    free(names);
    return code;
}

static int compare_inputs_check_twice(const comparison *c)
{
    int code = EXIT_DONE;
    compare_files *files = memory_calloc(c->run_count + 1, sizeof *files);
    for (size_t r = 0; r < c->run_count; r++)
        files[r] = compare_inputs_ask(c->runs[r]);
    for (size_t a = 0; a < c->run_count && !code; a++)
        for (size_t b = a + 1; b < c->run_count && !code; b++)
            if (c->runs[a]->side != c->runs[b]->side)
                code = compare_inputs_check_pair(c->runs[a], &files[a], c->runs[b], &files[b]);
    free(files);
    return code;
}

// ---- nothing in common ----

static bool compare_inputs_are_related(const comparison_run *a, const comparison_run *b)
{
    const netprof_schema *x = a->d.delta->schema, *y = b->d.delta->schema;
    if (*a->host && strcmp(a->host, b->host) == 0) return true;
    for (size_t i = 0; i < x->device_count; i++)
        for (size_t k = 0; k < y->device_count; k++)
            if (strcmp(x->devices[i].name, y->devices[k].name) == 0 &&
                strcmp(x->devices[i].source, y->devices[k].source) == 0)
                return true;
    return !x->device_count || !y->device_count; // then that is what there is to say
}

static void compare_inputs_name(const comparison *c, comparison_side side, char **text)
{
    size_t first = side == COMPARISON_HEALTHY ? 0 : c->side_count[COMPARISON_HEALTHY];
    text_append(text, "%s", safe(c->runs[first]->label));
    if (c->side_count[side] > 1) text_append(text, " (and %zu more)", c->side_count[side] - 1);
}

static int compare_inputs_check_common(const comparison *c)
{
    size_t healthy = c->side_count[COMPARISON_HEALTHY];
    for (size_t a = 0; a < healthy; a++)
        for (size_t b = healthy; b < c->run_count; b++)
            if (compare_inputs_are_related(c->runs[a], c->runs[b])) return EXIT_DONE;
    if (!healthy || healthy == c->run_count) return EXIT_DONE;
    char *names = NULL;
    compare_inputs_name(c, COMPARISON_HEALTHY, &names);
    text_append(&names, " and ");
    compare_inputs_name(c, COMPARISON_FAULTY, &names);
    int code = fail(EXIT_FILE,
                    "%s: no device in common: they are of different nodes, or of different devices of one; "
                    "--force compares them all the same",
                    names);
    free(names);
    return code;
}

int compare_inputs_check(const comparison *c, bool force)
{
    int code = compare_inputs_check_twice(c);
    return code || force ? code : compare_inputs_check_common(c);
}

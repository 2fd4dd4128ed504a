#include "job_list.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"
#include "analysis/base/text.h"
#include "analysis/base/threads/parallel.h"
#include "analysis/data/dataset.h"
#include "analysis/regions/regions.h"

#include <stdlib.h>
#include <string.h>

#define PHASES ".phases"

static void job_listed_free(job_listed *x)
{
    free(x->id);
    free(x->array);
    free(x->task);
    arrfree(x->paths);
}

void job_list_free(job_list *l)
{
    for (size_t i = 0; i < l->count; i++)
        job_listed_free(&l->items[i]);
    arrfree(l->items);
    listing_free(&l->files);
    *l = (job_list){0};
}

static char *job_listed_fact(const dataset_run *run, const char *key)
{
    const char *value = dataset_fact(run, key);
    return memory_strdup(value ? value : "");
}

// Facts come before the first snapshot; an error ends the reading. Regions that a process sampled are of no job's number.
static netprof_err job_list_look(void *user, const dataset_run *run, size_t index, const netprof_snapshot *snapshot)
{
    job_listed *x = user;
    (void)index;
    (void)snapshot;
    if (x->id) return NETPROF_ERR_LIMIT; // a file of several recordings goes by its first
    const char *restart = dataset_fact(run, "job_restart");
    x->id = job_listed_fact(run, "job_id");
    x->array = job_listed_fact(run, "job_array");
    x->task = job_listed_fact(run, "job_array_task");
    x->restart = restart ? (unsigned)strtoul(restart, NULL, 10) : 0;
    return NETPROF_ERR_LIMIT;
}

static job_listed job_listed_of(const char *path)
{
    job_listed x = {0};
    dataset set = {0};
    dataset_options how = {.ends_only = 1, .each = job_list_look, .user = &x};
    dataset_read(&set, path, &how, NULL);
    dataset_free(&set);
    if (!x.id) x.id = memory_strdup(""), x.array = memory_strdup(""), x.task = memory_strdup("");
    return x;
}

static void job_list_add(job_list *l, job_listed x, const char *path)
{
    for (size_t i = 0; i < l->count; i++) {
        if (strcmp(l->items[i].id, x.id) != 0 || l->items[i].restart != x.restart) continue;
        arrput(l->items[i].paths, path);
        job_listed_free(&x);
        return;
    }
    arrput(x.paths, path);
    arrput(l->items, x);
    l->count++;
}

static int job_list_compare(const void *a, const void *b)
{
    const job_listed *x = a, *y = b;
    if (!*x->id != !*y->id) return *x->id ? -1 : 1;
    unsigned long p = strtoul(x->id, NULL, 10), q = strtoul(y->id, NULL, 10);
    if (p != q) return p < q ? -1 : 1;
    int order = strcmp(x->id, y->id);
    if (order) return order;
    return x->restart < y->restart ? -1 : x->restart > y->restart;
}

static bool job_list_is_of_phases(const char *path)
{
    size_t n = strlen(path), m = strlen(PHASES);
    return n >= m && strcmp(path + n - m, PHASES) == 0;
}

// One job and files that tell of none: these are its own.
static void job_list_join_rest(job_list *l)
{
    if (l->count != 2 || *l->items[1].id) return;
    for (size_t i = 0; i < arrlenu(l->items[1].paths); i++)
        arrput(l->items[0].paths, l->items[1].paths[i]);
    job_listed_free(&l->items[1]);
    arrsetlen(l->items, 1);
    l->count = 1;
}

typedef struct job_list_looking {
    char *const *paths;
    job_listed *found; // id: NULL of those that belong to every job
} job_list_looking;

static void job_list_look_at(void *user, size_t i)
{
    const job_list_looking *x = user;
    if (!job_list_is_of_phases(x->paths[i])) x->found[i] = job_listed_of(x->paths[i]);
}

// Files are read by several threads; they join the list in their order.
static void job_list_look_at_all(job_list *l)
{
    job_list_looking x = {l->files.paths, memory_calloc(l->files.count + 1, sizeof *x.found)};
    parallel_for(&(parallel_options){0}, l->files.count, job_list_look_at, &x);
    for (size_t i = 0; i < l->files.count; i++)
        if (x.found[i].id) job_list_add(l, x.found[i], l->files.paths[i]);
    free(x.found);
}

void job_list_read(job_list *l, const char *const *paths, size_t count)
{
    static const char *const endings[] = {".netprof", PHASES, NULL};
    for (size_t i = 0; i < count; i++)
        if (!listing_is_directory(paths[i]) || listing_add_directory(&l->files, paths[i], endings))
            listing_add(&l->files, paths[i]);
    job_list_look_at_all(l);
    if (l->count) qsort(l->items, l->count, sizeof *l->items, job_list_compare);
    job_list_join_rest(l);
    for (size_t i = 0; i < l->files.count; i++)
        for (size_t k = 0; k < l->count && job_list_is_of_phases(l->files.paths[i]); k++)
            arrput(l->items[k].paths, l->files.paths[i]);
}

static bool job_listed_is_without_attempt(const job_listed *x, const char *name)
{
    size_t n = strlen(x->array);
    if (*x->id && strcmp(x->id, name) == 0) return true;
    if (!n || strncmp(x->array, name, n) != 0) return false;
    return !name[n] || (name[n] == '_' && strcmp(x->task, name + n + 1) == 0);
}

bool job_listed_is(const job_listed *x, const char *name)
{
    const char *attempt = strrchr(name, ':');
    char *end = NULL, *whole = memory_strndup(name, attempt ? (size_t)(attempt - name) : strlen(name));
    bool is = job_listed_is_without_attempt(x, whole);
    if (attempt) is &= strtoul(attempt + 1, &end, 10) == x->restart + 1ul && !*end;
    free(whole);
    return is;
}

size_t job_list_choose(job_list *l, const char *name)
{
    size_t kept = 0;
    for (size_t i = 0; i < l->count; i++) {
        if (job_listed_is(&l->items[i], name))
            l->items[kept++] = l->items[i];
        else
            job_listed_free(&l->items[i]);
    }
    arrsetlen(l->items, kept);
    return l->count = kept;
}

char *job_listed_name(const job_list *l, size_t index)
{
    const job_listed *x = &l->items[index];
    char *text = NULL;
    bool again = x->restart > 0;
    for (size_t i = 0; i < l->count; i++)
        again |= i != index && strcmp(l->items[i].id, x->id) == 0;
    if (!*x->id) return memory_strdup("without a number");
    if (*x->array && *x->task)
        text_append(&text, "%s_%s", x->array, x->task);
    else
        text_append(&text, "%s", x->id);
    if (again) text_append(&text, ", attempt %u", x->restart + 1);
    return text;
}

char *job_list_names(const job_list *l)
{
    enum { SHOWN = 8 };
    char *text = NULL;
    for (size_t i = 0; i < l->count && i < SHOWN; i++) {
        char *name = job_listed_name(l, i);
        text_append(&text, "%s%s", i ? "; " : "", name);
        free(name);
    }
    if (l->count > SHOWN) text_append(&text, " and %zu more", l->count - SHOWN);
    return text ? text : memory_strdup("none");
}

#include "regions_store.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// ---- errors and warnings ----

netprof_err regions_fail(netprof_error *error, netprof_err code, const char *path, const char *format, ...)
{
    va_list arguments;
    if (!error) return code;
    *error = (netprof_error){.code = code};
    snprintf(error->path, sizeof error->path, "%s", path ? path : "");
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return code;
}

void regions_warn(regions *r, const char *path, uint64_t offset, const char *format, ...)
{
    enum { WARNINGS_KEPT = 1000 };
    char text[512];
    va_list arguments;
    if (r->warning_count == WARNINGS_KEPT) {
        r->warnings_dropped++;
        return;
    }
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    regions_warning warning = {regions_keep_text(&r->store->arena, path), offset, memory_strdup(text)};
    arrput(r->warnings, warning);
    r->warning_count++;
}

// ---- sums ----

// The variance of two groups of calls together, by Chan's formula.
static double regions_joined_variance(const regions_calls *a, const regions_calls *b)
{
    double n = (double)a->measured, m = (double)b->measured;
    if (n <= 0) return b->variance_ns2;
    if (m <= 0) return a->variance_ns2;
    double apart = (double)a->total_ns / n - (double)b->total_ns / m;
    return (n * a->variance_ns2 + m * b->variance_ns2 + apart * apart * n / (n + m) * m) / (n + m);
}

void regions_calls_add(regions_calls *to, const regions_calls *more)
{
    to->variance_ns2 = regions_joined_variance(to, more);
    to->calls = sum_capped(to->calls, more->calls);
    to->measured = sum_capped(to->measured, more->measured);
    to->open = sum_capped(to->open, more->open);
    to->spans = sum_capped(to->spans, more->spans);
    to->aborted = sum_capped(to->aborted, more->aborted);
    to->total_ns = sum_capped(to->total_ns, more->total_ns);
    to->inclusive_ns = sum_capped(to->inclusive_ns, more->inclusive_ns);
    to->exclusive_ns = sum_capped(to->exclusive_ns, more->exclusive_ns);
    to->bytes = sum_capped(to->bytes, more->bytes);
    to->waits = sum_capped(to->waits, more->waits);
    to->waited_ns = sum_capped(to->waited_ns, more->waited_ns);
    if (more->measured && more->min_ns < to->min_ns) to->min_ns = more->min_ns;
    if (more->measured && more->max_ns > to->max_ns) to->max_ns = more->max_ns;
}

// ---- values ----

void regions_values_add(regions_arena *arena, regions_value **list, const regions_value *more)
{
    regions_value *to = NULL;
    for (size_t i = 0; i < arrlenu(*list) && !to; i++)
        if (strcmp((*list)[i].name, more->name) == 0) to = &(*list)[i];
    if (!to) {
        arrput(*list, *more);
        arrlast(*list).name = regions_keep_text(arena, more->name);
        return;
    }
    to->count = sum_capped(to->count, more->count);
    to->sum = sum_capped_signed(to->sum, more->sum);
    if (more->least < to->least) to->least = more->least;
    if (more->most > to->most) to->most = more->most;
    for (int i = 0; i < NETPROF_VALUE_BUCKETS; i++) {
        to->counts[i] = sum_capped(to->counts[i], more->counts[i]);
        to->times_ns[i] = sum_capped(to->times_ns[i], more->times_ns[i]);
    }
    if (more->longest_ns < to->longest_ns || (more->longest_ns == to->longest_ns && more->rank >= to->rank)) return;
    to->longest_ns = more->longest_ns;
    to->at_longest = more->at_longest;
    to->rank = more->rank;
}

// ---- looking things up ----

map_key regions_child_key(size_t parent, const char *name, bool span)
{
    return map_key_of_name((parent + 1) | (span ? (size_t)1 << (sizeof(size_t) * 8 - 1) : 0), name);
}

const regions_cell *regions_cell_of(const regions_node *node, size_t rank)
{
    size_t low = 0, high = node->cell_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (node->cells[middle].rank < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < node->cell_count && node->cells[low].rank == rank ? &node->cells[low] : NULL;
}

double regions_reading_call_ns(const regions_node *node, const regions_reading *seen)
{
    const regions_cell *cell = regions_cell_of(node, seen->rank);
    return cell && cell->sums.measured ? (double)cell->sums.total_ns / (double)cell->sums.measured : 0;
}

// ---- paths ----

static size_t regions_escaped_length(const char *name)
{
    size_t n = 0;
    for (; *name; name++)
        n += *name == '/' || *name == '\\' ? 2 : 1;
    return n;
}

char *regions_path(const regions *r, size_t number)
{
    size_t length = r->nodes[number].depth; // slashes
    for (size_t i = number; i != REGIONS_NONE; i = r->nodes[i].parent)
        length += regions_escaped_length(r->nodes[i].name);
    char *path = memory_alloc(length + 1);
    char *at = path + length;
    *at = 0;
    for (size_t i = number; i != REGIONS_NONE; i = r->nodes[i].parent) {
        if (i != number) *--at = '/';
        const char *name = r->nodes[i].name;
        for (size_t k = strlen(name); k-- > 0;) {
            *--at = name[k];
            if (name[k] == '/' || name[k] == '\\') *--at = '\\';
        }
    }
    return path;
}

// If the path begins with this name, returns what follows it; else NULL.
static const char *regions_match_name(const char *path, const char *name)
{
    for (; *name; name++) {
        if (*name == '/' || *name == '\\') {
            if (*path != '\\') return NULL;
            path++;
        }
        if (*path++ != *name) return NULL;
    }
    return !*path || *path == '/' ? path : NULL;
}

// Among the siblings from `at` on, and what is below them: a region and a span may have one name and place.
static size_t regions_find_among(const regions *r, const char *path, size_t at, size_t end)
{
    size_t found = REGIONS_NONE;
    for (; at < end && found == REGIONS_NONE; at = r->nodes[at].end) {
        const char *rest = regions_match_name(path, r->nodes[at].name);
        if (rest) found = *rest ? regions_find_among(r, rest + 1, at + 1, r->nodes[at].end) : at;
    }
    return found;
}

size_t regions_find(const regions *r, const char *path)
{
    return regions_find_among(r, path, 0, r->node_count);
}

// ---- the end ----

static void regions_free_store(regions_store *s)
{
    for (size_t i = 0; i < arrlenu(s->growing); i++) {
        arrfree(s->growing[i].cells);
        arrfree(s->growing[i].readings);
        arrfree(s->growing[i].values);
    }
    for (size_t i = 0; i < arrlenu(s->views); i++)
        netprof_schema_release(s->views[i].schema);
    for (size_t i = 0; i < arrlenu(s->host_views); i++)
        free(s->host_views[i].columns);
    arrfree(s->growing);
    arrfree(s->views);
    arrfree(s->host_views);
    hmfree(s->hosts);
    hmfree(s->processes);
    hmfree(s->chosen);
    arrfree(s->series);
    hmfree(s->nodes);
    hmfree(s->host_view_of);
    hmfree(s->readings);
    regions_arena_free(&s->arena);
    free(s);
}

void regions_free(regions *r)
{
    if (!r) return;
    for (size_t i = 0; i < r->node_count; i++) {
        arrfree(r->nodes[i].cells);
        arrfree(r->nodes[i].readings);
        arrfree(r->nodes[i].values);
    }
    for (size_t i = 0; i < r->host_count; i++) {
        arrfree(r->hosts[i].ranks);
        netprof_schema_release(r->hosts[i].schema);
    }
    for (size_t i = 0; i < r->finding_count; i++)
        free(r->findings[i].claim);
    for (size_t i = 0; i < r->note_count; i++) {
        free(r->notes[i].text);
        free(r->notes[i].title);
    }
    arrfree(r->waits.late);
    for (size_t i = 0; i < r->warning_count; i++)
        free(r->warnings[i].text);
    arrfree(r->nodes);
    arrfree(r->ranks);
    arrfree(r->hosts);
    arrfree(r->findings);
    arrfree(r->notes);
    arrfree(r->warnings);
    free(r->missing);
    free(r->title);
    if (r->store) regions_free_store(r->store);
    *r = (regions){0};
}

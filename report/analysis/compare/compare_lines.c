// Lines of the comparison: a counter over the devices of its source.
#include "compare_cells.h"
#include "compare_chance.h"
#include "analysis/base/index_map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- which counters are compared ----

static comparison_class compare_lines_class(const char *source, const char *name, const char *unit, uint32_t marks)
{
    static const struct {
        const char *unit;
        comparison_class kind;
    } rows[] = {{"cycles", COMPARISON_STALLS},
                {"ticks", COMPARISON_STALLS},
                {"evictions", COMPARISON_STALLS},
                {"bytes", COMPARISON_BYTES}};
    if (marks & CATALOG_WAITING) return COMPARISON_STALLS;
    if (marks & CATALOG_FAULT || catalog_is_trouble(source, name, unit)) return COMPARISON_ERRORS;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].unit, unit) == 0) return rows[i].kind;
    return COMPARISON_PACKETS;
}

// Sources about the node and the job: only their errors and stalls are ranked. The core that runs a
// program and the bytes it reads from a disk differ from run to run.
static bool compare_lines_is_network(const char *source)
{
    static const char *const others[] = {"process",  "cgroup", "cpu",   "memory", "disk",
                                         "pressure", "energy", "hwmon", "self"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(others[i], source) == 0) return false;
    return true;
}

// ---- one line ----

typedef struct line_maker {
    comparer *m;
    index_map *seen;  // from (first device of the source, name)
    sample *samples;  // [devices of the source][run_count]
    double *values;   // as many, twice
    uint64_t *hashes; // of the lines
} line_maker;

static uint64_t compare_lines_mix(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * UINT64_C(1099511628211);
}

static void compare_lines_count_only(comparison *c, const sample *samples, size_t count)
{
    bool there[COMPARISON_SIDES] = {false, false};
    for (size_t i = 0; i < count; i++)
        there[samples[i].side] |= strcmp(samples[i].reason, "absent") != 0;
    for (int side = 0; side < COMPARISON_SIDES; side++)
        c->counts.only[side] += there[side] && !there[!side];
}

// Counts a cell, and keeps the names of those that could not be compared.
static void compare_lines_count(comparison *c, const comparison_line *line, size_t i, const sample *samples)
{
    comparison_missing missing = {.device = line->first_device + i, .name = line->name};
    bool exists = false;
    for (int side = 0; side < COMPARISON_SIDES; side++) {
        bool known = line->cells[i].side[side].runs > 0;
        missing.reason[side] = known ? "ok" : cells_unknown_reason(samples, c->run_count, (comparison_side)side);
        exists = exists || strcmp(missing.reason[side], "absent") != 0;
    }
    if (!exists) return;
    c->counts.states[line->cells[i].state]++;
    if (line->cells[i].state != COMPARISON_UNKNOWN) return;
    compare_lines_count_only(c, samples, c->run_count);
    arrput(c->missing, missing);
    c->missing_count = arrlenu(c->missing);
}

static void compare_lines_sample(line_maker *l, const comparison_line *line, uint64_t *hash)
{
    const comparison *c = l->m->c;
    *hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < line->device_count; i++) {
        sample *samples = &l->samples[i * c->run_count];
        for (size_t r = 0; r < c->run_count; r++) {
            samples[r] = cells_sample(l->m, line, line->first_device + i, r);
            if (samples[r].known && samples[r].exact)
                *hash = compare_lines_mix(compare_lines_mix(*hash, i * c->run_count + r), samples[r].exact);
        }
        cells_assume_nothing(l->m, line, line->first_device + i, samples);
    }
}

// Fills in the cells. False when there is nothing to show: 0 or unknown everywhere.
static bool compare_lines_fill(line_maker *l, comparison_line *line, uint64_t *hash)
{
    comparison *c = l->m->c;
    bool any = false;
    compare_lines_sample(l, line, hash);
    cells_peers peers = cells_peers_of(l->m, line, l->samples, l->values);
    for (size_t i = 0; i < line->device_count; i++) {
        const sample *samples = &l->samples[i * c->run_count];
        line->cells[i] = cells_make(c, line, samples, c->run_count, &peers, l->values);
        compare_lines_count(c, line, i, samples);
        any |= line->cells[i].state >= COMPARISON_SAME;
        if (line->cells[i].score > line->cells[line->worst].score) line->worst = i;
    }
    // Where nothing stands out, show where most was counted.
    for (size_t i = 0; i < line->device_count && !(line->cells[line->worst].score > 0); i++)
        if (line->cells[i].state > line->cells[line->worst].state ||
            line->cells[i].side[COMPARISON_FAULTY].count > line->cells[line->worst].side[COMPARISON_FAULTY].count)
            line->worst = i;
    line->score = line->cells[line->worst].score;
    return any;
}

// log2 of how far a cell went, for comparing devices with each other.
static double compare_lines_step(const comparison_line *line, const comparison_cell *cell)
{
    return cell->direction * cell->score / comparison_weight(line->kind);
}

static void compare_lines_find_pattern(comparison_line *line)
{
    static const double alike = 0.59; // log2: half as much again
    size_t known = 0, changed = 0;
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < line->device_count; i++) {
        const comparison_cell *cell = &line->cells[i];
        known += cell->state != COMPARISON_UNKNOWN;
        if (!(cell->score > 0)) continue;
        changed++;
        low = fmin(low, compare_lines_step(line, cell));
        high = fmax(high, compare_lines_step(line, cell));
    }
    if (!changed)
        line->pattern = COMPARISON_NOWHERE;
    else if (known == 1)
        line->pattern = COMPARISON_ALONE;
    else if (changed == known)
        line->pattern = high - low <= alike ? COMPARISON_ALL_ALIKE : COMPARISON_ALL;
    else
        line->pattern = changed == 1 ? COMPARISON_ONLY_ONE : COMPARISON_SOME;
}

// The count to raise for a counter that is left out; NULL for one that is compared.
static size_t *compare_lines_left_out(comparison *c, const char *source, const netprof_counter *counter,
                                      const char *unit, uint32_t marks)
{
    bool ranked = compare_lines_is_network(source) ||
                  compare_lines_class(source, counter->name, unit, marks) <= COMPARISON_STALLS;
    if (comparer_is_gauge(counter)) return &c->counts.gauges;
    if (marks & CATALOG_CLOCK_ONLY) return &c->counts.clocks;
    if (marks & (CATALOG_UNUSABLE | CATALOG_UNRELIABLE | CATALOG_OVERCOUNTS)) return &c->counts.bad;
    if (counter->kind == NETPROF_KIND_HISTOGRAM) return &c->counts.histograms;
    return ranked ? NULL : &c->counts.context;
}

static void compare_lines_add(line_maker *l, size_t device, size_t run, size_t counter)
{
    comparison *c = l->m->c;
    const difference_row *row = &c->runs[run]->d.rows[counter];
    const netprof_counter *about = &c->runs[run]->d.delta->schema->counters[counter];
    size_t first = device;
    uint64_t hash;
    while (first && strcmp(c->devices[first - 1].source, c->devices[device].source) == 0)
        first--;
    map_key key = map_key_of_name(first, about->name);
    if (index_map_find(l->seen, key) != INDEX_NONE) return;
    hmput(l->seen, key, counter);
    uint32_t marks = catalog_marks(c->devices[device].source, about->name);
    size_t *counted = compare_lines_left_out(c, c->devices[device].source, about, row->unit, marks);
    if (counted) {
        ++*counted;
        return;
    }
    comparison_line line = {.source = c->devices[device].source,
                            .name = about->name,
                            .unit = row->unit,
                            .gloss = row->entry ? row->entry->description : "",
                            .entry = row->entry,
                            .kind = compare_lines_class(c->devices[device].source, about->name, row->unit, marks),
                            .time_driven = marks & CATALOG_TIME_DRIVEN,
                            .first_device = first,
                            .device_count = comparer_source_end(c, first) - first};
    line.cells = memory_calloc(line.device_count, sizeof *line.cells);
    if (!compare_lines_fill(l, &line, &hash)) {
        free(line.cells);
        return;
    }
    compare_lines_find_pattern(&line);
    arrput(c->lines, line);
    arrput(l->hashes, hash);
    c->line_count = arrlenu(c->lines);
}

// ---- equal counters ----

// A counter that a device does not have counts nothing there.
static bool compare_lines_same_count(const comparison_cell *a, const comparison_cell *b, int side)
{
    double x = a->side[side].count, y = b->side[side].count;
    if (isnan(x) && a->reason && strcmp(a->reason, "absent") == 0) x = 0;
    if (isnan(y) && b->reason && strcmp(b->reason, "absent") == 0) y = 0;
    return (isnan(x) && isnan(y)) || (x >= y && x <= y);
}

static bool compare_lines_are_equal(const comparison_line *a, const comparison_line *b)
{
    if (a->source != b->source && strcmp(a->source, b->source) != 0) return false;
    if (a->kind != b->kind || strcmp(a->unit, b->unit) != 0 || a->time_driven != b->time_driven) return false;
    for (size_t i = 0; i < a->device_count; i++)
        for (int side = 0; side < COMPARISON_SIDES; side++)
            if (!compare_lines_same_count(&a->cells[i], &b->cells[i], side)) return false;
    return true;
}

static void compare_lines_fold(comparison_line *into, comparison_line *line)
{
    arrput(into->equal, line->name);
    for (size_t i = 0; i < line->equal_count; i++)
        arrput(into->equal, line->equal[i]);
    into->equal_count = arrlenu(into->equal);
    free(line->cells);
    arrfree(line->equal);
    *line = (comparison_line){.name = NULL};
}

// The better line of the same events, or the first with the very same counts.
static size_t compare_lines_find_equal(const comparison *c, const uint64_t *hashes, size_t i)
{
    const comparison_line *line = &c->lines[i];
    const char *better = line->entry ? line->entry->same_as : "";
    for (size_t k = 0; k < c->line_count && *better; k++)
        if (k != i && c->lines[k].name && strcmp(c->lines[k].name, better) == 0 &&
            strcmp(c->lines[k].source, line->source) == 0)
            return k;
    for (size_t k = 0; k < i; k++)
        if (c->lines[k].name && hashes[k] == hashes[i] && compare_lines_are_equal(&c->lines[k], line)) return k;
    return DIFFERENCE_NONE;
}

static int compare_lines_by_name(const void *a, const void *b)
{
    return catalog_name_compare(*(const char *const *)a, *(const char *const *)b);
}

static void compare_lines_fold_equal(comparison *c, const uint64_t *hashes)
{
    size_t kept = 0;
    for (size_t i = 0; i < c->line_count; i++) {
        size_t into = compare_lines_find_equal(c, hashes, i);
        if (into != DIFFERENCE_NONE) compare_lines_fold(&c->lines[into], &c->lines[i]);
    }
    for (size_t i = 0; i < c->line_count; i++) {
        if (!c->lines[i].name) continue;
        c->lines[kept] = c->lines[i];
        if (c->lines[kept].equal_count)
            qsort(c->lines[kept].equal, c->lines[kept].equal_count, sizeof *c->lines[kept].equal,
                  compare_lines_by_name);
        kept++;
    }
    arrsetlen(c->lines, kept);
    c->line_count = kept;
}

static int compare_lines_by_score(const void *a, const void *b)
{
    const comparison_line *x = a, *y = b;
    if (x->score > y->score || x->score < y->score) return x->score > y->score ? -1 : 1;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    int order = catalog_name_compare(x->name, y->name);
    return order ? order : strcmp(x->source, y->source);
}

static void compare_lines_make(line_maker *l)
{
    comparison *c = l->m->c;
    for (size_t i = 0; i < c->device_count; i++) {
        for (size_t r = 0; r < c->run_count; r++) {
            size_t place = c->devices[i].places[r];
            if (place == DIFFERENCE_NONE) continue;
            const netprof_device *dev = &c->runs[r]->d.delta->schema->devices[place];
            for (size_t k = dev->first; k < (size_t)dev->first + dev->count; k++)
                compare_lines_add(l, i, r, k);
        }
    }
}

void comparer_lines(comparer *m)
{
    comparison *c = m->c;
    line_maker l = {.m = m};
    l.samples = memory_calloc(c->run_count * c->device_count, sizeof *l.samples);
    l.values = memory_calloc(2 * c->run_count * c->device_count, sizeof *l.values);
    compare_lines_make(&l);
    compare_lines_fold_equal(c, l.hashes);
    if (c->line_count) qsort(c->lines, c->line_count, sizeof *c->lines, compare_lines_by_score);
    for (size_t i = 0; i < c->line_count; i++) {
        c->ranked_count += c->lines[i].score > 0;
        comparer_pattern_text(c, &c->lines[i]);
    }
    hmfree(l.seen);
    free(l.samples);
    free(l.values);
    arrfree(l.hashes);
}

// ---- what is beyond chance ----

// The cells of errors and stalls that have a value in all runs, as quantities for chance_of_many().
typedef struct line_chances {
    chance_quantity *quantities;
    comparison_cell **cells;
} line_chances;

// The logarithm of the rates, with one event more.
static double *compare_lines_view(const comparison *c, const sample *samples, comparison_basis basis, double *work)
{
    double *view = memory_calloc(c->run_count, sizeof *view);
    for (size_t r = 0; r < c->run_count; r++)
        work[r] = samples[r].event / (basis == COMPARISON_PER_BYTE ? samples[r].bytes : samples[r].seconds);
    double event = comparison_median(work, c->run_count);
    for (size_t r = 0; r < c->run_count; r++)
        view[r] = log(cells_rate(&samples[r], basis) + event);
    return view;
}

static bool compare_lines_known(const comparison *c, const sample *samples, comparison_basis basis)
{
    for (size_t r = 0; r < c->run_count; r++)
        if (isnan(cells_rate(&samples[r], basis))) return false;
    return true;
}

static void compare_lines_add_chance(line_chances *all, const comparison *c, const comparison_line *line,
                                     comparison_cell *cell, const sample *samples, double *work)
{
    static const double least = 0.05; // no counter is taken to be steadier than 5 %
    bool per_byte =
        !line->time_driven && c->basis != COMPARISON_PER_SECOND && compare_lines_known(c, samples, COMPARISON_PER_BYTE);
    bool per_s = c->basis != COMPARISON_PER_BYTE && compare_lines_known(c, samples, COMPARISON_PER_SECOND);
    chance_quantity q = {.values = {NULL, NULL}};
    if (!per_byte && !per_s) return;
    if (per_s) q.values[0] = compare_lines_view(c, samples, COMPARISON_PER_SECOND, work);
    if (per_byte) q.values[per_s] = compare_lines_view(c, samples, COMPARISON_PER_BYTE, work);
    for (size_t r = 0; r < c->run_count; r++)
        work[r] = samples[r].count / samples[r].event;
    q.floor = sqrt(least * least + 1 / (comparison_median(work, c->run_count) + 1)); // counts vary as their root does
    arrput(all->quantities, q);
    arrput(all->cells, cell);
}

void comparer_chance(comparer *m)
{
    static const double limit = 0.01;
    comparison *c = m->c;
    line_chances all = {NULL, NULL};
    if (limit * c->splits < 1) return; // the runs are too few
    sample *samples = memory_calloc(c->run_count, sizeof *samples);
    double *work = memory_calloc(c->run_count, sizeof *work);
    for (size_t i = 0; i < c->line_count; i++) {
        const comparison_line *line = &c->lines[i];
        for (size_t k = 0; k < line->device_count && line->kind <= COMPARISON_STALLS; k++) {
            if (line->cells[k].state < COMPARISON_SAME) continue;
            for (size_t r = 0; r < c->run_count; r++)
                samples[r] = cells_sample(m, line, line->first_device + k, r);
            cells_assume_nothing(m, line, line->first_device + k, samples);
            compare_lines_add_chance(&all, c, line, &line->cells[k], samples, work);
        }
    }
    bool *beyond = memory_calloc(arrlenu(all.cells) + 1, sizeof *beyond);
    chance_of_many(all.quantities, arrlenu(all.cells), c->side_count[COMPARISON_HEALTHY],
                   c->side_count[COMPARISON_FAULTY], limit, beyond);
    for (size_t i = 0; i < arrlenu(all.cells); i++) {
        all.cells[i]->beyond = beyond[i];
        for (int view = 0; view < 2; view++)
            free((double *)(uintptr_t)all.quantities[i].values[view]);
    }
    arrfree(all.quantities);
    arrfree(all.cells);
    free(beyond);
    free(work);
    free(samples);
}

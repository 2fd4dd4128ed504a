// Snapshots, differences over time, and findings of the files, as tables.
#define _POSIX_C_SOURCE 200809L // strdup
#include "export.h"
#include "analysis/base/memory.h"
#include "analysis/base/saturating_sum.h"
#include "analysis/rules/findings.h"
#include "export_differences.h"
#include "export_input.h"
#include "export_nccl.h"
#include "cli/inputs.h"
#include "analysis/base/index_map.h"
#include "export_catalog.h"
#include "analysis/nsys/nsys.h"
#include "analysis/data/clocks.h"
#include "analysis/data/series.h"
#include "export_columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct feed {
    export_sink *to;
    const export_options *o;
    struct export_input *in; // the file at hand
    uint64_t snapshot;       // its snapshots so far
    known_schema known;
    held held;
    wide wide;
    export_cell *cells; // of a wide row
    index_map *told;    // devices and counters of this file whose rows are written
    uint64_t finding;
    bool backwards; // said once for a file
    clocks_axis axis;
    netprof_snapshot placed; // the one at hand, where it is moved
} feed;

#define ROW(f, id, ...) export_row((f)->to, id, (const export_cell[]){__VA_ARGS__})

static bool export_stop(void *user)
{
    return export_failed(((feed *)user)->to);
}

static export_cell export_flag_cell(bool flag)
{
    return cell_u64(flag ? 1 : 0);
}

// ---- what is there: files, facts, devices, counters ----

static void export_put_facts(feed *f, const char *scope, const char *source, const char *device,
                             const netprof_fact *facts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        ROW(f, EXPORT_FACTS, cell_u64(f->in->run), cell_text(f->in->host), cell_text(scope), cell_text(source),
            cell_text(device), cell_text(facts[i].key), cell_exact_text(facts[i].value));
}

static void export_put_run(feed *f)
{
    const struct export_input *in = f->in;
    ROW(f, EXPORT_RUNS, cell_u64(in->run), cell_text(in->path), cell_text(dataset_format_name(in->format)),
        cell_text(in->host), cell_u64(in->snapshots), cell_time(in->begin_ns), cell_time(in->end_ns),
        export_flag_cell(in->complete), cell_text(in->node));
    export_put_facts(f, "run", NULL, NULL, in->facts, in->fact_count);
}

// The first time that this name is seen in the file.
static bool export_is_new(feed *f, char *key)
{
    size_t known = hmlenu(f->told);
    index_map_put(&f->told, map_key_of_name(0, key), known);
    free(key);
    return hmlenu(f->told) > known;
}

static void export_put_sources(feed *f, const netprof_schema *s)
{
    for (size_t i = 0; i < s->source_count; i++) {
        const netprof_source_state *x = &s->sources[i];
        if (!export_is_new(f, memory_format("source\x1f%s", x->name))) continue;
        ROW(f, EXPORT_SOURCES, cell_u64(f->in->run), cell_text(f->in->host), cell_text(x->name),
            cell_text(netprof_status_name(x->status)), x->sys_errno ? cell_i64(x->sys_errno) : cell_none(),
            cell_text(x->path), cell_u64(x->device_count));
    }
}

static void export_put_device(feed *f, const netprof_schema *s, const netprof_device *d)
{
    size_t wanted = 0;
    for (uint32_t i = 0; i < d->count; i++)
        wanted += f->known.counters[d->first + i].wanted;
    if ((d->count && !wanted) || !export_is_new(f, memory_format("device\x1f%s\x1f%s", d->source, d->name))) return;
    ROW(f, EXPORT_DEVICES, cell_u64(f->in->run), cell_text(f->in->host), cell_text(d->source), cell_text(d->name),
        d->identity ? cell_u64(d->identity) : cell_none(), export_flag_cell(d->flags & NETPROF_DEVICE_PHYSICAL),
        export_flag_cell(d->flags & NETPROF_DEVICE_VIRTUAL), export_flag_cell(series_repeats(s, d)),
        cell_u64(d->count));
    export_put_facts(f, "device", d->source, d->name, d->facts, d->fact_count);
}

static void export_put_counter(feed *f, const netprof_counter *c, const known_counter *k)
{
    if (!k->wanted || !export_is_new(f, memory_format("counter\x1f%s\x1f%s\x1f%s", k->source, k->device, k->name)))
        return;
    ROW(f, EXPORT_COUNTERS, cell_u64(f->in->run), cell_text(f->in->host), cell_text(k->source), cell_text(k->device),
        cell_text(k->name), cell_text(k->unit), cell_text(k->kind), c->width ? cell_u64(c->width) : cell_none(),
        export_flag_cell(k->is_signed), export_flag_cell(c->flags & NETPROF_SATURATES),
        export_flag_cell(c->flags & NETPROF_FAST), cell_u64(c->scale ? c->scale : 1), cell_text(k->role),
        export_flag_cell(k->trouble), cell_text(k->description));
}

// Writes the devices and counters of a schema that were not written before.
static void export_meet_schema(feed *f, const netprof_schema *s)
{
    if (!known_of(&f->known, s, f->o)) return;
    if (f->o->wide) wide_assign(&f->wide, &f->known);
    if (export_is_new(f, memory_strdup("node"))) export_put_facts(f, "node", NULL, NULL, s->facts, s->fact_count);
    export_put_sources(f, s);
    for (size_t i = 0; i < s->device_count; i++)
        export_put_device(f, s, &s->devices[i]);
    for (size_t i = 0; i < s->counter_count; i++)
        export_put_counter(f, &s->counters[i], &f->known.counters[i]);
}

// ---- snapshots ----

static bool export_has_value(uint8_t status)
{
    return status == NETPROF_STATUS_OK || status == NETPROF_STATUS_SATURATED;
}

static export_cell export_signed_cell(uint64_t bits)
{
    int64_t value;
    memcpy(&value, &bits, sizeof value);
    return cell_i64(value);
}

// Of two columns, value and signed_value, the one that the counter's number belongs to.
static export_cell export_number_cell(bool there, bool is_signed, bool signed_column, uint64_t bits)
{
    if (!there || is_signed != signed_column) return cell_none();
    return is_signed ? export_signed_cell(bits) : cell_u64(bits);
}

// When the counter was read: by its own stamp, else when its snapshot was.
static int64_t export_time_of(const netprof_snapshot *s, size_t i)
{
    return s->stamps_ns[i] > 0 ? s->stamps_ns[i] : s->wall_ns;
}

static void export_put_values(feed *f, const netprof_snapshot *s)
{
    for (size_t i = 0; i < s->schema->counter_count; i++) {
        const known_counter *k = &f->known.counters[i];
        bool there = export_has_value(s->status[i]);
        if (!k->wanted || s->status[i] == NETPROF_STATUS_SKIPPED) continue;
        ROW(f, EXPORT_VALUES, cell_u64(f->in->run), cell_text(f->in->host), cell_u64(f->snapshot),
            cell_time(export_time_of(s, i)), cell_text(k->source), cell_text(k->device), cell_text(k->name),
            export_number_cell(there, k->is_signed, false, s->values[i]),
            export_number_cell(there, k->is_signed, true, s->values[i]), cell_text(k->unit), cell_text(k->kind),
            cell_text(netprof_status_name((netprof_status)s->status[i])),
            s->errnos[i] ? cell_u64(s->errnos[i]) : cell_none());
    }
}

static export_cell *export_blank_cells(feed *f, const wide_side *side)
{
    for (size_t i = 0; i < side->table.column_count; i++)
        f->cells[i] = cell_none();
    f->cells[0] = cell_u64(f->in->run);
    f->cells[1] = cell_text(f->in->host);
    return f->cells;
}

static void export_put_missing(feed *f, const netprof_snapshot *s, size_t i, size_t column)
{
    ROW(f, EXPORT_MISSING, cell_u64(f->in->run), cell_text(f->in->host), cell_u64(f->snapshot), cell_time(s->wall_ns),
        cell_text(f->wide.values.columns[column].name), cell_text(netprof_status_name((netprof_status)s->status[i])),
        s->errnos[i] ? cell_u64(s->errnos[i]) : cell_none());
}

static void export_put_values_wide(feed *f, const netprof_snapshot *s)
{
    export_cell *cells = export_blank_cells(f, &f->wide.values);
    cells[2] = cell_u64(f->snapshot);
    cells[3] = cell_time(s->wall_ns);
    for (size_t i = 0; i < s->schema->counter_count; i++) {
        const known_counter *k = &f->known.counters[i];
        if (k->column == (size_t)-1 || s->status[i] == NETPROF_STATUS_SKIPPED) continue;
        if (export_has_value(s->status[i]))
            cells[k->column] = k->is_signed ? export_signed_cell(s->values[i]) : cell_u64(s->values[i]);
        if (s->status[i] != NETPROF_STATUS_OK) export_put_missing(f, s, i, k->column);
    }
    export_row(f->to, EXPORT_VALUES_WIDE, cells);
}

// ---- differences ----

static bool export_is_bound(uint8_t flag)
{
    return flag == NETPROF_FLAG_RESET || flag == NETPROF_FLAG_SUSPECT;
}

static bool export_has_difference(uint8_t flag)
{
    return flag == NETPROF_FLAG_OK || flag == NETPROF_FLAG_WRAPPED || export_is_bound(flag);
}

static double export_rate_of(const netprof_delta *d, size_t i, bool is_signed)
{
    int64_t value;
    memcpy(&value, &d->values[i], sizeof value);
    if (!export_has_difference(d->flags[i]) || d->elapsed_ns[i] <= 0) return NAN;
    return (is_signed ? (double)value : (double)d->values[i]) / ((double)d->elapsed_ns[i] * 1e-9);
}

static void export_put_rate(feed *f, const netprof_delta *d, size_t i, const known_counter *k)
{
    uint8_t flag = d->flags[i];
    bool there = export_has_difference(flag);
    ROW(f, EXPORT_RATES, cell_u64(f->in->run), cell_text(f->in->host), cell_time(d->wall_begin_ns),
        cell_time(d->wall_end_ns), cell_text(k->source), cell_text(k->device), cell_text(k->name),
        export_number_cell(there, k->is_signed, false, d->values[i]),
        export_number_cell(there, k->is_signed, true, d->values[i]), cell_f64(export_rate_of(d, i, k->is_signed)),
        d->elapsed_ns[i] > 0 ? cell_i64(d->elapsed_ns[i]) : cell_none(), cell_text(k->unit), cell_text(k->kind),
        cell_text(netprof_flag_name((netprof_flag)flag)), export_flag_cell(export_is_bound(flag)));
}

static void export_put_rates(feed *f, const netprof_delta *d, const known_schema *known, const size_t *places)
{
    bool as_wide = export_wants(f->to, EXPORT_RATES_WIDE), any = false;
    export_cell *cells = as_wide ? export_blank_cells(f, &f->wide.rates) : NULL;
    if (cells) {
        cells[2] = cell_time(d->wall_begin_ns);
        cells[3] = cell_time(d->wall_end_ns);
    }
    for (size_t i = 0; i < known->schema->counter_count; i++) {
        size_t at = places ? places[i] : i;
        const known_counter *k = &known->counters[i];
        if (at == (size_t)-1 || !k->wanted || d->flags[at] == NETPROF_FLAG_GAUGE) continue;
        export_put_rate(f, d, at, k);
        // A lower bound could not be told from a rate there.
        if (!as_wide || k->rate_column == (size_t)-1 || export_is_bound(d->flags[at])) continue;
        cells[k->rate_column] = cell_f64(export_rate_of(d, at, k->is_signed));
        any |= cells[k->rate_column].known;
    }
    if (any) export_row(f->to, EXPORT_RATES_WIDE, cells);
}

static void export_take_difference(void *user, const netprof_delta *d, const size_t *places)
{
    feed *f = user;
    export_put_rates(f, d, &f->known, places);
}

// Times go on from the first reading of a file, whatever the wall clock was set to meanwhile.
static const netprof_snapshot *export_on_axis(feed *f, const netprof_snapshot *s)
{
    clocks_axis_next(&f->axis, s);
    if (!f->axis.set_ns) return s;
    if (netprof_snapshot_copy(&f->placed, s, NULL)) memory_exhausted();
    f->placed.wall_ns = difference_capped(s->wall_ns, f->axis.set_ns);
    for (size_t i = 0; i < s->schema->counter_count; i++)
        if (s->stamps_ns[i] > 0) f->placed.stamps_ns[i] = difference_capped(s->stamps_ns[i], f->axis.set_ns);
    return &f->placed;
}

static void export_take_snapshot(void *user, const netprof_snapshot *read)
{
    feed *f = user;
    const netprof_snapshot *s = export_on_axis(f, read);
    netprof_error error;
    f->snapshot++;
    export_meet_schema(f, s->schema);
    ROW(f, EXPORT_SNAPSHOTS, cell_u64(f->in->run), cell_text(f->in->host), cell_u64(f->snapshot), cell_time(s->wall_ns),
        cell_time(s->begin_ns), cell_time(s->end_ns), cell_text(s->set == NETPROF_SET_FAST ? "fast" : "all"),
        cell_u64(s->not_ok));
    if (export_wants(f->to, EXPORT_VALUES)) export_put_values(f, s);
    if (export_wants(f->to, EXPORT_VALUES_WIDE) || export_wants(f->to, EXPORT_MISSING)) export_put_values_wide(f, s);
    if (!export_wants(f->to, EXPORT_RATES) && !export_wants(f->to, EXPORT_RATES_WIDE)) return;
    if (held_take(&f->held, s, export_take_difference, f, &error) && !f->backwards) {
        f->backwards = true;
        warn("%s: snapshot %llu: %s; differences begin anew there", safe(f->in->path), (unsigned long long)f->snapshot,
             error_text(&error));
    }
}

static void export_take_delta(void *user, const netprof_delta *d)
{
    feed *f = user;
    export_meet_schema(f, d->schema);
    export_put_rates(f, d, &f->known, NULL);
}

// ---- findings ----

static const char *export_device_name(const difference *d, size_t device)
{
    return device == DIFFERENCE_NONE ? NULL : d->delta->schema->devices[device].name;
}

// As times are exported: by the monotonic clock where the wall clock was set meanwhile.
static export_cell export_end_cell(const netprof_delta *d)
{
    return cell_time(clocks_set_between(d) ? sum_capped_signed(d->wall_begin_ns, d->interval_ns) : d->wall_end_ns);
}

static void export_put_finding(feed *f, const difference *d, const finding *x)
{
    f->finding++;
    ROW(f, EXPORT_FINDINGS, cell_u64(f->in->run), cell_text(f->in->host), cell_u64(f->finding),
        cell_time(d->delta->wall_begin_ns), export_end_cell(d->delta), cell_text(severity_name(x->severity)),
        cell_text(x->rule->name), cell_text(x->rule->class_name), cell_text(x->rule->source),
        cell_text(export_device_name(d, x->device)), cell_f64(x->value), cell_text(x->rule->unit), cell_text(x->claim),
        cell_text(x->rule->advice), cell_text(x->explained_by), cell_u64(x->peers),
        x->peers ? cell_f64(x->peers_min) : cell_none(), x->peers ? cell_f64(x->peers_max) : cell_none());
    for (size_t i = 0; i < x->evidence_count; i++) {
        const finding_evidence *e = &x->evidence[i];
        ROW(f, EXPORT_EVIDENCE, cell_u64(f->in->run), cell_text(f->in->host), cell_u64(f->finding), cell_text(e->name),
            cell_text(e->unit), export_flag_cell(e->gauge), cell_f64(e->number),
            e->counter == DIFFERENCE_NONE ? cell_none() : cell_u64(e->value));
    }
}

static int export_put_findings(feed *f, const difference *d, const rules *set)
{
    findings all = {0};
    findings_make(&all, d, set);
    ROW(f, EXPORT_VERDICTS, cell_u64(f->in->run), cell_text(f->in->host), cell_time(d->delta->wall_begin_ns),
        export_end_cell(d->delta), cell_text(severity_name(all.severity)), cell_text(all.verdict), cell_u64(all.judged),
        cell_u64(all.unknown_checks));
    for (size_t i = 0; i < all.count; i++)
        export_put_finding(f, d, &all.items[i]);
    findings_free(&all);
    return EXIT_DONE;
}

static int export_judge(feed *f, const netprof_snapshot *before, const netprof_snapshot *after, const rules *set)
{
    difference d = {0};
    netprof_error error;
    if (difference_of_snapshots(&d, before, after, false, &error)) {
        warn("%s: no findings: %s", safe(f->in->path), error_text(&error));
        return EXIT_DONE;
    }
    int code = export_put_findings(f, &d, set);
    difference_free(&d);
    return code;
}

typedef struct judging {
    feed *f;
    const rules *set;
    int code;
} judging;

static void export_judge_delta(void *user, const netprof_delta *delta)
{
    judging *j = user;
    difference d = {0};
    if (j->code) return;
    difference_of_delta(&d, delta);
    j->code = export_put_findings(j->f, &d, j->set);
    difference_free(&d);
}

// Each file of several snapshots, or of differences, is a run; of the files with one snapshot two of a host that follow
// each other are.
static int export_findings(feed *f, struct export_input *files, size_t count)
{
    rules set = {0};
    int code = inputs_rules(&set, f->o->rules);
    struct export_input *open = NULL;
    for (size_t i = 0; i < count && !code; i++) {
        f->in = &files[i];
        judging j = {f, &set, EXIT_DONE};
        if (f->in->snapshots > 1) {
            code = export_judge(f, &f->in->first, &f->in->last, &set);
        } else if (f->in->snapshots) {
            bool pair = open && strcmp(open->host, f->in->host) == 0;
            if (pair) code = export_judge(f, &open->first, &f->in->first, &set);
            open = pair ? NULL : f->in;
        }
        if (!code && f->in->deltas) code = input_walk(f->in, &(input_visitor){.user = &j, .delta = export_judge_delta});
        if (!code) code = j.code;
    }
    rules_free(&set);
    return code;
}

// ---- all files ----

static void export_survey_schema(feed *f, const netprof_schema *s)
{
    if (known_of(&f->known, s, f->o)) wide_add(&f->wide, &f->known);
}

static void export_survey_snapshot(void *user, const netprof_snapshot *s)
{
    export_survey_schema(user, s->schema);
}
static void export_survey_delta(void *user, const netprof_delta *d)
{
    export_survey_schema(user, d->schema);
}

// The wide tables' columns must be known before their first row.
static int export_survey(feed *f, struct export_input *files, size_t count)
{
    const input_visitor v = {
        .user = f, .snapshot = export_survey_snapshot, .delta = export_survey_delta, .stop = export_stop};
    int code = EXIT_DONE;
    wide_begin(&f->wide);
    for (size_t i = 0; i < count && !code; i++) {
        code = input_walk(&files[i], &v);
        known_free(&f->known);
    }
    size_t columns = f->wide.values.table.column_count, others = f->wide.rates.table.column_count;
    f->cells = memory_calloc(columns > others ? columns : others, sizeof *f->cells);
    export_begin(f->to, EXPORT_VALUES_WIDE, &f->wide.values.table);
    export_begin(f->to, EXPORT_RATES_WIDE, &f->wide.rates.table);
    export_begin(f->to, EXPORT_MISSING, export_table_of(EXPORT_MISSING));
    return code;
}

static bool export_is_over_time(const feed *f)
{
    return f->o->what & (WHAT_SNAPSHOTS | WHAT_SERIES);
}

// How the clocks of all files are to each other, by the first and the last snapshot of each.
static void export_put_clocks(feed *f, struct export_input *files, size_t count)
{
    dataset set = {.runs = memory_calloc(count + 1, sizeof *set.runs), .run_count = count};
    netprof_snapshot *ends = memory_calloc(2 * count + 1, sizeof *ends);
    clocks c = {0};
    int64_t begin_ns = 0;
    if (!f->o->driver->clock) count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct export_input *in = &files[i];
        ends[2 * i] = in->first;
        ends[2 * i + 1] = in->last;
        set.runs[i] = (dataset_run){.path = (char *)(uintptr_t)in->path,
                                    .host = in->node,
                                    .facts = in->facts,
                                    .fact_count = in->fact_count,
                                    .snapshots = &ends[2 * i],
                                    .snapshot_count = in->snapshots > 1 ? 2 : in->snapshots};
        if (in->begin_ns && (!begin_ns || in->begin_ns < begin_ns)) begin_ns = in->begin_ns;
    }
    if (count) clocks_of_dataset(&c, &set);
    if (count) export_clocks(f->to, &c, begin_ns);
    clocks_free(&c);
    free(ends);
    free(set.runs);
}

static int export_counters(feed *f, struct export_input *files, size_t count)
{
    const input_visitor v = {
        .user = f, .snapshot = export_take_snapshot, .delta = export_take_delta, .stop = export_stop};
    struct export_input *before = NULL;
    export_put_clocks(f, files, count);
    int code = f->o->wide && export_is_over_time(f) ? export_survey(f, files, count) : EXIT_DONE;
    for (size_t i = 0; i < count && !code; i++) {
        f->in = &files[i];
        f->snapshot = 0;
        f->backwards = false;
        f->axis = (clocks_axis){0};
        // Two files with a snapshot each, of one host, are the two ends of a run: there is a difference between them.
        bool pair = before && f->in->snapshots == 1 && strcmp(before->host, f->in->host) == 0;
        if (!pair) held_free(&f->held);
        export_put_run(f);
        if (export_is_over_time(f)) code = input_walk(f->in, &v);
        known_free(&f->known);
        hmfree(f->told);
        netprof_snapshot_free(&f->placed);
        before = f->in->snapshots == 1 && !pair ? f->in : NULL;
    }
    if (!code && f->o->what & WHAT_FINDINGS) code = export_findings(f, files, count);
    return code;
}

static void export_begin_tables(export_sink *sink, unsigned what)
{
    for (int i = 0; i < EXPORT_FIXED; i++)
        if (export_table_what((export_id)i) & what) export_begin(sink, (export_id)i, export_table_of((export_id)i));
}

// All parts of all files; those of regions are left to regions_read(), which takes paths.
typedef struct opened {
    listing paths; // of directories, too
    input_file *files;
    size_t file_count;
    struct export_input *inputs;
    size_t input_count;
    const char **regions;
    size_t region_count;
    const char **programs; // exports of Nsight Systems
    size_t program_count;
    const char **recorded; // files of the NCCL profiler plugin
    size_t recorded_count;
    const char **logs; // of the NCCL Inspector
    size_t log_count;
    bool damaged;
} opened;

static int export_open_part(opened *all, input_file *file, size_t part, bool listed)
{
    all->inputs = memory_realloc(all->inputs, (all->input_count + 1) * sizeof *all->inputs);
    struct export_input *in = &all->inputs[all->input_count];
    int code = input_open(in, file, part);
    all->damaged |= !in->complete;
    if (!code && in->has_calls && !(all->recorded_count && all->recorded[all->recorded_count - 1] == file->path))
        all->recorded[all->recorded_count++] = file->path;
    if (!code && in->has_calls && !in->snapshots && !in->deltas) {
        input_close(in);
        return code;
    }
    if (code || in->is_regions) {
        listed |= all->region_count && all->regions[all->region_count - 1] == file->path;
        if (!code && !listed) all->regions[all->region_count++] = file->path;
        input_close(in);
        return code;
    }
    in->run = ++all->input_count;
    return EXIT_DONE;
}

// listed: its directory is read for regions as a whole.
static int export_open_file(opened *all, const export_sink *sink, const char *path, bool listed)
{
    if (nsys_in_file(path)) {
        all->programs[all->program_count++] = path;
        return EXIT_DONE;
    }
    if (nsys_is_report(path)) return fail_file(EXIT_FILE, path, NSYS_EXPORT_FIRST);
    if (export_nccl_is_log(path)) {
        all->logs[all->log_count++] = path;
        return EXIT_DONE;
    }
    input_file *file = &all->files[all->file_count++];
    int code = input_file_open(file, path, export_options_of(sink)->names);
    for (size_t part = 0; part < file->count && !code && !export_failed(sink); part++)
        code = export_open_part(all, file, part, listed);
    return code;
}

// What cannot be used of a directory was said, and the others are used.
static int export_open_directory(opened *all, const export_sink *sink, const char *path, size_t first, size_t count)
{
    size_t recorded = all->recorded_count, before = all->input_count + all->program_count + recorded;
    bool regions = inputs_hold(path) & PARTS_REGIONS;
    if (regions) all->regions[all->region_count++] = path;
    for (size_t i = first; i < first + count && !export_failed(sink); i++) {
        if (parts_hold(all->paths.paths[i]) == PARTS_REGIONS) continue;
        all->damaged |= export_open_file(all, sink, all->paths.paths[i], regions) != EXIT_DONE;
    }
    bool logs = all->recorded_count == recorded && export_nccl_is_log(path);
    if (logs) all->logs[all->log_count++] = path;
    size_t after = all->input_count + all->program_count + all->recorded_count;
    return regions || logs || after > before ? EXIT_DONE : EXIT_FILE;
}

static int export_open_all(opened *all, const export_sink *sink, const char **paths, size_t count)
{
    int code = EXIT_DONE;
    size_t *firsts = memory_calloc(count + 1, sizeof *firsts); // in the listing, for each path
    for (size_t i = 0; i < count && !code; i++) {
        firsts[i] = all->paths.count;
        if (listing_is_directory(paths[i]) && (inputs_count(&paths[i], 1) || !export_nccl_is_log(paths[i])))
            code = inputs_list(&all->paths, paths[i]);
    }
    firsts[count] = all->paths.count;
    all->files = memory_calloc(count + all->paths.count + 1, sizeof *all->files);
    all->regions = memory_calloc(count + all->paths.count + 1, sizeof *all->regions);
    all->programs = memory_calloc(count + all->paths.count + 1, sizeof *all->programs);
    all->recorded = memory_calloc(count + all->paths.count + 1, sizeof *all->recorded);
    all->logs = memory_calloc(count + all->paths.count + 1, sizeof *all->logs);
    for (size_t i = 0; i < count && !code && !export_failed(sink); i++)
        code = listing_is_directory(paths[i])
                   ? export_open_directory(all, sink, paths[i], firsts[i], firsts[i + 1] - firsts[i])
                   : export_open_file(all, sink, paths[i], false);
    free(firsts);
    return code;
}

static void export_close_all(opened *all)
{
    for (size_t i = 0; i < all->input_count; i++)
        input_close(&all->inputs[i]);
    for (size_t i = 0; i < all->file_count; i++)
        input_file_close(&all->files[i]);
    free(all->inputs);
    free(all->files);
    free(all->regions);
    free(all->programs);
    free(all->recorded);
    free(all->logs);
    listing_free(&all->paths);
}

// As they were given, for a directory has its phases, too; what came by a pipe cannot be read again.
static void export_find_incidents(export_sink *sink, const char **given, size_t count)
{
    const char **paths = memory_calloc(count + 1, sizeof *paths);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (strcmp(given[i], "-") != 0 && !nsys_in_file(given[i])) paths[kept++] = given[i];
    export_incidents(sink, paths, kept);
    free(paths);
}

// Regions, profiles, NCCL's calls; each is only read where it is wanted. *told: there was something of it.
static int export_others(export_sink *sink, opened *all, bool *told)
{
    const export_options *o = export_options_of(sink);
    bool calls = o->driver->span && all->recorded_count + all->log_count;
    int code = EXIT_DONE;
    if (all->region_count && o->what & WHAT_REGIONS && !export_failed(sink)) {
        export_begin_tables(sink, WHAT_REGIONS);
        code = export_regions(sink, all->regions, all->region_count);
        *told = true;
    }
    if (!code && all->program_count && o->what & WHAT_PROGRAMS && !export_failed(sink)) {
        export_begin_tables(sink, WHAT_PROGRAMS);
        code = export_programs(sink, all->programs, all->program_count);
        *told = true;
    }
    if (!code && calls && o->what & WHAT_PROGRAMS && !export_failed(sink)) {
        code = export_nccl(sink, all->recorded, all->recorded_count, all->logs, all->log_count);
        *told = true;
    }
    return code;
}

// A file with NCCL's calls, where the format has no place for them. NULL: nothing is left out.
static const char *export_calls_left_out(const opened *all, const export_options *o)
{
    if (o->driver->span) return NULL;
    return all->log_count ? all->logs[0] : all->recorded_count ? all->recorded[0] : NULL;
}

static const char export_calls_way[] =
    "holds NCCL's calls: --to perfetto shows them, and netprof nccl -o DIR writes their tables";

static int export_nothing(const opened *all, const export_sink *sink, const char *path)
{
    const char *calls = export_calls_left_out(all, export_options_of(sink));
    if (calls) return fail_file(EXIT_FILE, calls, "%s", export_calls_way);
    return fail_file(EXIT_FILE, path, "holds nothing of what --what asks for");
}

int export_files(export_sink *sink, const char **paths, size_t count)
{
    feed f = {.to = sink, .o = export_options_of(sink)};
    opened all = {0};
    int code = export_open_all(&all, sink, paths, count);
    size_t kept = all.input_count;
    bool told = kept && f.o->what & (WHAT_SNAPSHOTS | WHAT_SERIES | WHAT_FINDINGS);
    if (!code && kept) export_begin_tables(sink, WHAT_SNAPSHOTS | WHAT_SERIES | WHAT_FINDINGS);
    if (!code && kept) code = export_counters(&f, all.inputs, kept);
    if (!code && kept && f.o->what & WHAT_FINDINGS && !export_failed(sink)) export_find_incidents(sink, paths, count);
    if (!code) code = export_others(sink, &all, &told);
    if (code == EXIT_WORTH_FAILING) {
        all.damaged = true;
        code = EXIT_DONE;
    }
    if (!code && !export_failed(sink) && !told) code = export_nothing(&all, sink, paths[0]);
    const char *calls = code || !(f.o->what & WHAT_PROGRAMS) ? NULL : export_calls_left_out(&all, f.o);
    if (calls) warn("%s: %s", safe(calls), export_calls_way);
    bool damaged = all.damaged;
    export_close_all(&all);
    held_free(&f.held);
    known_free(&f.known);
    hmfree(f.told);
    if (f.o->wide) wide_free(&f.wide);
    free(f.cells);
    return code ? code : damaged ? EXIT_WORTH_FAILING : EXIT_DONE;
}

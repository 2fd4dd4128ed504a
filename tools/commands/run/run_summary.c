#include "run_summary.h"

#include "cli/output.h"
#include "commands/print/summary.h"
#include "measure/nccl_run.h"
#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

void run_summary_difference(const execution *e, difference *d)
{
    netprof_error error;
    *d = (difference){0};
    if (!e->before.schema || !e->after.schema) return;
    if (!difference_of_snapshots(d, &e->before, &e->after, false, &error)) return;
    warn("%s", error_text(&error));
    *d = (difference){0};
}

// ---- text ----

// Which devices a short summary shows: physical ports that moved something, else virtual ones.
static bool run_summary_chosen(const difference *d, const traffic *t, bool physical)
{
    bool is_physical = d->delta->schema->devices[t->device].flags & NETPROF_DEVICE_PHYSICAL;
    return t->known && !t->repeated && is_physical == physical && traffic_moved(t);
}

static double run_summary_bytes(const traffic *t)
{
    double in = t->bytes_known[IN] ? (double)t->bytes[IN] : 0, out = t->bytes_known[OUT] ? (double)t->bytes[OUT] : 0;
    return in > out ? in : out;
}

static size_t run_summary_count_chosen(const difference *d, const traffic *list, bool physical, double least)
{
    size_t n = 0;
    for (size_t i = 0; i < d->delta->schema->device_count; i++)
        n += run_summary_chosen(d, &list[i], physical) && run_summary_bytes(&list[i]) >= least;
    return n;
}

// A hundredth of what the busiest port moved: a virtual device that moved less beside it is not worth a line.
static double run_summary_worth_of_virtual(const difference *d, const traffic *list)
{
    double most = 0;
    for (size_t i = 0; i < d->delta->schema->device_count; i++)
        if (run_summary_chosen(d, &list[i], true) && run_summary_bytes(&list[i]) > most)
            most = run_summary_bytes(&list[i]);
    return most / 100;
}

static void run_summary_add_traffic(traffic *sum, const traffic *x)
{
    for (int way = IN; way <= OUT; way++) {
        sum->bytes_known[way] &= x->bytes_known[way]; // a sum of what is known would look like all
        sum->packets_known[way] &= x->packets_known[way];
        sum->bytes_bound[way] |= x->bytes_bound[way];
        sum->packets_bound[way] |= x->packets_bound[way];
        sum->bytes[way] += x->bytes[way];
        sum->packets[way] += x->packets[way];
        if (!isnan(x->byte_rate[way])) sum->byte_rate[way] += x->byte_rate[way];
    }
}

static void run_summary_devices(FILE *to, const difference *d, const traffic *list, bool physical, double least)
{
    static const column columns[] = {{"", 0},
                                     {"RECEIVED", COLUMN_RIGHT},
                                     {"RATE", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"PACKETS", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"SENT", COLUMN_RIGHT},
                                     {"RATE", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"PACKETS", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"OF LINE RATE", COLUMN_RIGHT | COLUMN_LEAN}};
    const netprof_schema *schema = d->delta->schema;
    table *t = table_begin(columns, sizeof columns / sizeof *columns);
    traffic sum = {.known = true, .bytes_known = {true, true}, .packets_known = {true, true}};
    size_t added = 0;
    for (size_t i = 0; i < schema->device_count; i++) {
        if (!run_summary_chosen(d, &list[i], physical) || run_summary_bytes(&list[i]) < least) continue;
        table_cell(t, PLAIN, schema->devices[i].name);
        print_traffic_cells(t, PLAIN, &list[i]);
        table_cell(t, PLAIN, traffic_share(&list[i]).text);
        run_summary_add_traffic(&sum, &list[i]);
        added++;
    }
    if (physical && added > 1) {
        table_cell(t, BOLD, "together");
        print_traffic_cells(t, BOLD, &sum);
        table_cell(t, PLAIN, NULL);
    }
    table_end(t, to, 2);
}

static void run_summary_troubles_text(FILE *to, const difference *d)
{
    enum { SHOWN = 6 };
    static const column columns[] = {
        {"DEVICE", 0}, {"COUNTER", 0}, {"CHANGE", COLUMN_RIGHT}, {"UNIT", COLUMN_LEAN}, {"MEANING", COLUMN_LEAN}};
    const netprof_schema *schema = d->delta->schema;
    size_t count, *rows = summary_troubles(d, &count);
    table *t = table_begin(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < count && i < SHOWN; i++) {
        const difference_row *row = &d->rows[rows[i]];
        table_cell(t, PLAIN, schema->devices[schema->counters[rows[i]].device].name);
        table_cell(t, WARNING, schema->counters[rows[i]].name);
        table_cell(t, PLAIN, words_at_least(row->lower_bound, delta_text(row)).text);
        table_cell(t, PLAIN, row->unit);
        table_cell(t, DIM, row->entry ? row->entry->description : NULL);
    }
    if (count) fprintf(to, "  errors, drops, repetition or stalls:\n");
    table_end(t, to, 2);
    if (count > SHOWN) fprintf(to, "  ... and %zu more\n", count - SHOWN);
    free(rows);
}

static const char *run_summary_end(const execution *e)
{
    if (e->end == RUN_SIGNAL) return "; ended by a signal";
    if (e->end == RUN_DURATION || !arrlenu(e->ask->attached.pids)) return "";
    return arrlenu(e->ask->attached.pids) == 1 ? "; it has ended" : "; all have ended";
}

// Who was measured, and how long.
static void run_summary_title(FILE *to, const execution *e)
{
    const run_request *ask = e->ask;
    double cpu = run_seconds(e->use.ru_utime) + run_seconds(e->use.ru_stime);
    words_text elapsed = words_duration(run_elapsed_s(e));
    if (!ask->words) {
        fprintf(to, "netprof: %s for %s%s\n", ask->names ? safe(ask->names) : "this node", safe(elapsed.text),
                run_summary_end(e));
        return;
    }
    const char *whose = ask->names ? safe(ask->names) : ask->node ? "this node" : NULL;
    if (whose) fprintf(to, "netprof: %s while %s ran\n", whose, safe(ask->words[0]));
    fprintf(to, "netprof: %s %s after %s, CPU time %s\n", safe(ask->words[0]), run_ending(e), safe(elapsed.text),
            safe(words_at_least(e->left_behind, words_duration(cpu)).text));
    if (ask->delay_ns && e->measured)
        fprintf(to, "  counted without the first %s, which are in the CPU time\n",
                safe(words_duration((double)ask->delay_ns / 1e9).text));
    if (!e->measured)
        fprintf(to, "  nothing was measured: it ended before the delay of %s was over\n",
                safe(words_duration((double)ask->delay_ns / 1e9).text));
}

static void run_summary_text(FILE *to, const execution *e, const difference *d)
{
    run_summary_title(to, e);
    if (!d->delta) return;
    traffic *list = summary_traffic(d);
    bool physical = run_summary_count_chosen(d, list, true, 0) > 0;
    double least = run_summary_worth_of_virtual(d, list);
    bool moved = run_summary_count_chosen(d, list, false, least) > 0;
    if (!physical)
        fprintf(to, moved ? "  nothing through physical ports; through virtual ones:\n" : "  no network traffic\n");
    if (physical) run_summary_devices(to, d, list, true, 0);
    if (physical && moved) fprintf(to, "  through virtual ones, in no sum:\n");
    if (moved) run_summary_devices(to, d, list, false, least);
    run_summary_troubles_text(to, d);
    free(list);
}

// ---- JSON ----

static void run_summary_network_json(json_object *o, const difference *d)
{
    const netprof_schema *schema = d->delta->schema;
    json_object *devices = json_new_array(), *troubles = json_new_array();
    traffic *list = summary_traffic(d);
    for (size_t i = 0; i < schema->device_count; i++)
        if (list[i].known && traffic_moved(&list[i])) json_append(devices, summary_device_json(d, &list[i]));
    free(list);
    size_t count, *rows = summary_troubles(d, &count);
    for (size_t i = 0; i < count; i++)
        json_append(troubles, summary_trouble_json(d, rows[i]));
    free(rows);
    json_put(o, "devices", devices);
    json_put(o, "troubles", troubles);
}

static const char *run_summary_end_name(const execution *e)
{
    static const char *const names[] = {[RUN_ENDED] = "ended", [RUN_DURATION] = "duration", [RUN_SIGNAL] = "signal"};
    return e->timed_out ? "timeout" : names[e->end];
}

static json_object *run_summary_processes_json(const attached *a)
{
    json_object *list = json_new_array();
    for (size_t i = 0; i < arrlenu(a->pids); i++)
        json_append(list, json_new_int64(a->pids[i]));
    return list;
}

json_object *run_summary_json(const execution *e, const difference *d, bool alone)
{
    const run_request *ask = e->ask;
    bool command = ask->words != NULL;
    json_object *o = alone ? json_document("run") : json_new_object();
    json_put_text(o, "command", ask->line);
    if (arrlenu(ask->attached.pids)) json_put(o, "pids", run_summary_processes_json(&ask->attached));
    json_put(o, "exit_status", command ? json_new_int64(run_exit_status(e)) : NULL);
    json_put(o, "signal", command && WIFSIGNALED(e->status) ? json_new_int64(WTERMSIG(e->status)) : NULL);
    json_put_text(o, "ended_by", run_summary_end_name(e));
    json_put(o, "elapsed_s", json_number_value(run_elapsed_s(e)));
    if (ask->delay_ns) json_put_number(o, "delay_s", (double)ask->delay_ns / 1e9);
    json_put(o, "user_cpu_s", command ? json_number_value(run_seconds(e->use.ru_utime)) : NULL);
    json_put(o, "system_cpu_s", command ? json_number_value(run_seconds(e->use.ru_stime)) : NULL);
    json_put(o, "cpu_lower_bound", command ? json_new_boolean(e->left_behind) : NULL);
    json_put(o, "max_rss_bytes", command ? json_new_int64((int64_t)e->use.ru_maxrss * 1024) : NULL);
    json_put_text(o, "output", e->to ? recorder_path(e->to) : NULL);
    if (ask->mpi) json_put(o, "mpi", ranks_run_json(&e->mpi));
    if (ask->nccl) json_put(o, "nccl_run", nccl_run_json(e->mpi.directory));
    json_put(o, "snapshots_between", json_exact_value(e->series));
    json_put(o, "missed_ticks", json_exact_value(run_missed(e)));
    if (d->delta) run_summary_network_json(o, d);
    return o;
}

// ---- CSV, and fields ----

static void run_summary_csv_row(FILE *to, const char *device, const char *source, const char *counter, const char *unit,
                                const char *value, bool bound)
{
    csv_cell(to, device);
    csv_cell(to, source);
    csv_cell(to, counter);
    csv_cell(to, unit);
    csv_cell(to, value);
    csv_cell(to, bound ? "1" : "0");
    csv_end(to);
}

static void run_summary_csv_time(FILE *to, const char *counter, double seconds)
{
    char value[40];
    snprintf(value, sizeof value, "%.9g", seconds);
    run_summary_csv_row(to, NULL, NULL, counter, "s", value, false);
}

static void run_summary_csv_traffic(FILE *to, const difference *d, const traffic *t)
{
    static const char *const names[] = {"rx_bytes", "tx_bytes", "rx_packets", "tx_packets"};
    const netprof_device *device = &d->delta->schema->devices[t->device];
    for (int i = 0; i < 4; i++) {
        int way = i % 2;
        bool known = i < 2 ? t->bytes_known[way] : t->packets_known[way];
        bool bound = i < 2 ? t->bytes_bound[way] : t->packets_bound[way];
        run_summary_csv_row(to, device->name, device->source, names[i], i < 2 ? "bytes" : "packets",
                            known ? words_exact(i < 2 ? t->bytes[way] : t->packets[way]).text : NULL, bound);
    }
}

static void run_summary_csv(FILE *to, const execution *e, const difference *d)
{
    if (!e->ask->untitled)
        csv_line(to, (const char *const[]){"device", "source", "counter", "unit", "value", "lower_bound"}, 6);
    run_summary_csv_time(to, "elapsed", run_elapsed_s(e));
    if (e->ask->words) {
        run_summary_csv_time(to, "user_cpu", run_seconds(e->use.ru_utime));
        run_summary_csv_time(to, "system_cpu", run_seconds(e->use.ru_stime));
        run_summary_csv_row(to, NULL, NULL, "max_rss", "KiB", words_integer(e->use.ru_maxrss).text, false);
    }
    if (!d->delta) return;
    const netprof_schema *schema = d->delta->schema;
    traffic *list = summary_traffic(d);
    for (size_t i = 0; i < schema->device_count; i++)
        if (list[i].known && traffic_moved(&list[i])) run_summary_csv_traffic(to, d, &list[i]);
    free(list);
    size_t count, *rows = summary_troubles(d, &count);
    for (size_t i = 0; i < count; i++) {
        const netprof_counter *c = &schema->counters[rows[i]];
        run_summary_csv_row(to, schema->devices[c->device].name, schema->devices[c->device].source, c->name,
                            d->rows[rows[i]].unit, delta_text(&d->rows[rows[i]]).text, d->rows[rows[i]].lower_bound);
    }
    free(rows);
}

static void run_summary_field_time(FILE *to, const execution *e, const char *name, double seconds)
{
    char value[40];
    snprintf(value, sizeof value, "%.0f", seconds * 1e9);
    summary_field(to, e->ask->separator, NULL, value, "ns", name, NAN, run_elapsed_s(e));
}

// The times have the names of perf's events.
static void run_summary_fields(FILE *to, const execution *e, const difference *d)
{
    const char *separator = e->ask->separator;
    double seconds = run_elapsed_s(e);
    run_summary_field_time(to, e, "duration_time", seconds);
    if (e->ask->words) run_summary_field_time(to, e, "user_time", run_seconds(e->use.ru_utime));
    if (e->ask->words) run_summary_field_time(to, e, "system_time", run_seconds(e->use.ru_stime));
    if (!d->delta) return;
    traffic *list = summary_traffic(d);
    for (size_t i = 0; i < d->delta->schema->device_count; i++)
        for (int kind = 0; kind < 4 && list[i].known && traffic_moved(&list[i]); kind++)
            summary_traffic_field(to, separator, NULL, d, &list[i], kind, seconds);
    free(list);
    size_t count, *rows = summary_troubles(d, &count);
    for (size_t i = 0; i < count; i++)
        summary_counter_field(to, separator, NULL, d, rows[i], seconds);
    free(rows);
}

void run_summary_print(FILE *to, const execution *e, const difference *d)
{
    switch (e->ask->format) {
    case RUN_JSON: json_print(to, run_summary_json(e, d, true)); return;
    case RUN_CSV: run_summary_csv(to, e, d); return;
    case RUN_FIELDS: run_summary_fields(to, e, d); return;
    case RUN_TEXT: break;
    }
    run_summary_text(to, e, d);
    if (e->ask->mpi) ranks_run_summary(to, &e->mpi, e->status ? run_ending(e) : NULL);
    if (e->ask->nccl) nccl_run_summary(to, e->mpi.directory);
}

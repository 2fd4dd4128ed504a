#include "run_series.h"

#include "cli/inputs.h"
#include "cli/output.h"
#include "commands/print/summary.h"
#include "run_summary.h"
#include "analysis/base/memory.h"
#include "analysis/base/spread.h"
#include "analysis/base/stb_ds.h"
#include "analysis/base/text.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// ---- files ----

static bool run_series_is_directory(const char *output)
{
    size_t n = strlen(output);
    return (n && output[n - 1] == '/') || listing_is_directory(output);
}

char *run_series_path(const char *output, uint64_t number, uint64_t count)
{
    int digits = snprintf(NULL, 0, "%llu", (unsigned long long)count);
    if (run_series_is_directory(output))
        return memory_format("%s/run-%0*llu.netprof", output, digits, (unsigned long long)number);
    const char *slash = strrchr(output, '/'), *dot = strrchr(output, '.');
    size_t stem = dot && dot > (slash ? slash + 1 : output) ? (size_t)(dot - output) : strlen(output);
    return memory_format("%.*s.%0*llu%s", (int)stem, output, digits, (unsigned long long)number, output + stem);
}

char *run_series_directory(const char *output, uint64_t number, uint64_t count)
{
    int digits = snprintf(NULL, 0, "%llu", (unsigned long long)count);
    return memory_format("%s/run-%0*llu", output, digits, (unsigned long long)number);
}

int run_series_prepare(const char *output, bool directory)
{
    static const char *const endings[] = {".netprof", NULL};
    listing l = {0};
    int code = EXIT_DONE;
    if (!directory && !run_series_is_directory(output)) return EXIT_DONE;
    if (mkdir(output, 0777) && errno != EEXIST) return fail(EXIT_FILE, "%s: %s", safe(output), strerror(errno));
    if (listing_add_directory(&l, output, endings)) code = fail(EXIT_FILE, "%s: %s", safe(output), strerror(errno));
    for (size_t i = 0; i < l.count && !code; i++) {
        const char *name = strrchr(l.paths[i], '/');
        if (name && fnmatch("/run-*.netprof", name, 0) == 0)
            code = fail(EXIT_FILE, "%s: holds runs of an earlier series, which 'netprof compare' would take for these",
                        safe(output));
    }
    listing_free(&l);
    return code;
}

// ---- runs ----

static void run_series_note_failure(run_series *s, const execution *e)
{
    enum { NAMED = 5 };
    if (!run_exit_status(e)) return;
    if (++s->failures <= NAMED)
        text_append(&s->failed, "%srun %llu %s", s->failed ? ", " : "", (unsigned long long)s->taken, run_ending(e));
    if (s->failures == NAMED + 1) text_append(&s->failed, ", ...");
}

void run_series_add(run_series *s, const execution *e)
{
    difference d;
    s->taken++;
    if (!s->status || run_exit_status(e)) s->status = run_exit_status(e);
    run_summary_difference(e, &d);
    if (e->ask->format == RUN_JSON) {
        if (!s->runs) s->runs = json_new_array();
        json_append(s->runs, run_summary_json(e, &d, false));
    }
    if (e->signal) {
        s->broken_off = s->taken;
    } else {
        run_series_note_failure(s, e);
        s->timed_out += e->timed_out;
    }
    if (!e->signal && !e->timed_out && e->measured) {
        repeats_add(&s->figures, &d);
        repeats_put(&s->figures, "elapsed", "s", run_elapsed_s(e));
        repeats_put(&s->figures, "user_cpu", "s", run_seconds(e->use.ru_utime));
        repeats_put(&s->figures, "system_cpu", "s", run_seconds(e->use.ru_stime));
        repeats_put(&s->figures, "max_rss", "KiB", (double)e->use.ru_maxrss);
        arrput(s->numbers, s->taken);
    }
    difference_free(&d);
}

void run_series_free(run_series *s)
{
    repeats_free(&s->figures);
    arrfree(s->numbers);
    if (s->runs) json_object_put(s->runs);
    free(s->failed);
}

// ---- what is shown ----

static bool run_series_is_of_command(const repeats_row *row)
{
    return !*row->source;
}

// The figures of the command, of ports, of other interfaces, then what went wrong: each in the order of its making.
static int run_series_class(const repeats_row *row)
{
    return run_series_is_of_command(row) ? 0 : row->trouble ? 3 : row->physical ? 1 : 2;
}

enum { RUN_SERIES_CLASSES = 4 };

static bool run_series_is_shown(const repeats_row *row)
{
    return run_series_is_of_command(row) || repeats_moved(row);
}

// The rows that are shown, in the order in which every format has them: an array of stb_ds. What moved on which port of a
// busy node is chance, so the figures of the command, which are always there, come first.
static const repeats_row **run_series_rows(const run_series *s)
{
    const repeats_row **list = NULL;
    for (int class = 0; class < RUN_SERIES_CLASSES; class ++)
        for (size_t i = 0; i < arrlenu(s->figures.rows); i++)
            if (run_series_class(&s->figures.rows[i]) == class && run_series_is_shown(&s->figures.rows[i]))
                arrput(list, &s->figures.rows[i]);
    return list;
}

// "3 7", the numbers of the runs that stand apart; "" for none. free() it.
static char *run_series_outliers(const run_series *s, const repeats_row *row, const spread *x)
{
    char *text = memory_strdup("");
    for (size_t i = 0; i < arrlenu(row->values); i++)
        if (!isnan(row->values[i]) && spread_is_outlier(x, row->values[i]))
            text_append(&text, "%s%llu", *text ? " " : "", (unsigned long long)s->numbers[i]);
    return text;
}

static words_text run_series_value(const repeats_row *row, double value)
{
    if (isnan(value)) return (words_text){""};
    if (strcmp(row->unit, "s") == 0) return words_duration(value);
    if (strcmp(row->unit, "KiB") == 0) return words_binary(value * 1024);
    return words_amount(value, row->unit);
}

static const char *run_series_name(const repeats_row *row)
{
    static const struct {
        const char *counter, *words;
    } names[] = {{"elapsed", "time"},
                 {"user_cpu", "CPU time, user"},
                 {"system_cpu", "CPU time, system"},
                 {"max_rss", "memory of the largest process"}};
    for (size_t i = 0; run_series_is_of_command(row) && i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i].counter, row->counter) == 0) return names[i].words;
    return row->counter;
}

static void run_series_table_row(table *t, const run_series *s, const repeats_row *row)
{
    spread x = spread_of(row->values, arrlenu(row->values));
    char *outliers = run_series_outliers(s, row, &x);
    table_cell(t, PLAIN, row->device);
    table_cell(t, row->trouble ? WARNING : PLAIN, run_series_name(row));
    table_cell(t, BOLD, run_series_value(row, x.mean).text);
    table_cell(t, PLAIN, run_series_value(row, x.deviation).text);
    table_cell(t, PLAIN, x.deviation > 0 && x.mean > 0 ? words_share(x.deviation / x.mean).text : NULL);
    table_cell(t, PLAIN, run_series_value(row, x.least).text);
    table_cell(t, PLAIN, run_series_value(row, x.median).text);
    table_cell(t, PLAIN, run_series_value(row, x.most).text);
    table_cell(t, PLAIN, row->trouble ? row->unit : NULL);
    table_cell(t, WARNING, *outliers ? outliers : NULL);
    if (x.count < s->figures.runs)
        table_cell(t, PLAIN, words_exact(x.count).text);
    else
        table_cell(t, PLAIN, NULL);
    free(outliers);
}

static void run_series_table(FILE *to, const run_series *s)
{
    static const column columns[] = {{"", COLUMN_LEAN},
                                     {"", 0},
                                     {"MEAN", COLUMN_RIGHT},
                                     {"SD", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"OF MEAN", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"LEAST", COLUMN_RIGHT},
                                     {"MEDIAN", COLUMN_RIGHT},
                                     {"MOST", COLUMN_RIGHT},
                                     {"UNIT", COLUMN_LEAN},
                                     {"OUTLIERS", COLUMN_LEAN},
                                     {"RUNS", COLUMN_RIGHT | COLUMN_LEAN}};
    table *t = table_begin(columns, sizeof columns / sizeof *columns);
    const repeats_row **rows = run_series_rows(s);
    for (size_t i = 0; i < arrlenu(rows); i++)
        run_series_table_row(t, s, rows[i]);
    arrfree(rows);
    table_end(t, to, 2);
}

static const repeats_row *run_series_time(const run_series *s)
{
    for (size_t i = 0; i < arrlenu(s->figures.rows); i++)
        if (strcmp(s->figures.rows[i].counter, "elapsed") == 0) return &s->figures.rows[i];
    return NULL;
}

uint64_t run_series_median(const run_series *s)
{
    const repeats_row *time = run_series_time(s);
    size_t count = time ? arrlenu(time->values) : 0;
    for (size_t i = 0; i < count; i++) {
        size_t before = 0; // in the order of time, equal ones in their own
        for (size_t k = 0; k < count; k++)
            before += time->values[k] < time->values[i] || (k < i && time->values[k] <= time->values[i]);
        if (before == (count - 1) / 2) return s->numbers[i];
    }
    return 0;
}

static void run_series_text(FILE *to, const run_series *s, const run_request *ask)
{
    const repeats_row *time = run_series_time(s);
    fprintf(to, "netprof: %s of %s", words_many(s->figures.runs, "run").text, safe(ask->words[0]));
    if (time) {
        spread x = spread_of(time->values, arrlenu(time->values));
        fprintf(to, ": %s", safe(words_duration(x.mean).text));
        if (x.count > 1)
            fprintf(to, " +- %s (standard deviation%s%s)", safe(words_duration(x.deviation).text),
                    x.mean > 0 ? ", " : "", x.mean > 0 ? words_share(x.deviation / x.mean).text : "");
    }
    fputc('\n', to);
    if (s->failures)
        fprintf(to, "  %llu of %s failed: %s\n", (unsigned long long)s->failures, words_many(s->taken, "run").text,
                safe(s->failed));
    if (s->timed_out)
        fprintf(to, "  %s %s in no figure\n", words_noun(s->timed_out, "the run|the runs").text,
                words_noun(s->timed_out, "that timed out is|that timed out are").text);
    if (s->broken_off)
        fprintf(to, "  ended by the user in run %llu of %llu, which is in no figure\n",
                (unsigned long long)s->broken_off, (unsigned long long)ask->count);
    run_series_table(to, s);
}

// ---- for programs ----

static void run_series_json_row(json_object *list, const run_series *s, const repeats_row *row)
{
    spread x = spread_of(row->values, arrlenu(row->values));
    json_object *o = json_new_object(), *outliers = json_new_array();
    json_put_text(o, "device", *row->device ? row->device : NULL);
    json_put_text(o, "source", *row->source ? row->source : NULL);
    json_put_text(o, "counter", row->counter);
    json_put_text(o, "unit", row->unit);
    json_put(o, "is_trouble", json_new_boolean(row->trouble));
    json_put_exact(o, "run_count", x.count);
    json_put_number(o, "mean", x.mean);
    json_put_number(o, "standard_deviation", x.deviation);
    json_put_number(o, "standard_error", x.standard_error);
    json_put_number(o, "min", x.least);
    json_put_number(o, "median", x.median);
    json_put_number(o, "max", x.most);
    for (size_t i = 0; i < arrlenu(row->values); i++)
        if (!isnan(row->values[i]) && spread_is_outlier(&x, row->values[i]))
            json_append(outliers, json_exact_value(s->numbers[i]));
    json_put(o, "outliers", outliers);
    json_append(list, o);
}

static void run_series_json(FILE *to, run_series *s, const run_request *ask)
{
    json_object *o = json_document("runs"), *statistics = json_new_array();
    json_put_text(o, "command", ask->line);
    json_put_exact(o, "wanted_run_count", ask->count);
    json_put_exact(o, "taken_run_count", s->taken);
    json_put_exact(o, "failed_run_count", s->failures);
    json_put_exact(o, "timed_out_run_count", s->timed_out);
    json_put(o, "broken_off_run", s->broken_off ? json_exact_value(s->broken_off) : NULL);
    const repeats_row **rows = run_series_rows(s);
    for (size_t i = 0; i < arrlenu(rows); i++)
        run_series_json_row(statistics, s, rows[i]);
    arrfree(rows);
    json_put(o, "statistics", statistics);
    json_put(o, "runs", s->runs ? s->runs : json_new_array());
    s->runs = NULL;
    json_print(to, o);
}

static void run_series_csv_number(FILE *to, double value)
{
    if (isnan(value))
        csv_cell(to, NULL);
    else
        csv_printf(to, "%.9g", value);
}

static void run_series_csv(FILE *to, const run_series *s, bool untitled)
{
    static const char *const titles[] = {
        "device",         "source", "counter", "unit", "runs",    "mean", "standard_deviation",
        "standard_error", "min",    "median",  "max",  "outliers"};
    if (!untitled) csv_line(to, titles, sizeof titles / sizeof *titles);
    const repeats_row **rows = run_series_rows(s);
    for (size_t i = 0; i < arrlenu(rows); i++) {
        const repeats_row *row = rows[i];
        spread x = spread_of(row->values, arrlenu(row->values));
        const double numbers[] = {x.mean, x.deviation, x.standard_error, x.least, x.median, x.most};
        char *outliers = run_series_outliers(s, row, &x);
        csv_cell(to, row->device);
        csv_cell(to, row->source);
        csv_cell(to, row->counter);
        csv_cell(to, row->unit);
        csv_printf(to, "%zu", x.count);
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
            run_series_csv_number(to, numbers[k]);
        csv_cell(to, outliers);
        csv_end(to);
        free(outliers);
    }
    arrfree(rows);
}

// The spread is perf's: the standard error of the mean, in percent of it.
static void run_series_field(FILE *to, const char *separator, const repeats_row *row, double seconds)
{
    static const struct {
        const char *counter, *name;
    } times[] = {{"elapsed", "duration_time"}, {"user_cpu", "user_time"}, {"system_cpu", "system_time"}};
    spread x = spread_of(row->values, arrlenu(row->values));
    bool is_time = run_series_is_of_command(row) && strcmp(row->unit, "s") == 0;
    char value[40],
        *name = *row->device ? memory_format("%s/%s", row->device, row->counter) : memory_strdup(row->counter);
    for (size_t i = 0; is_time && i < sizeof times / sizeof *times; i++) {
        if (strcmp(row->counter, times[i].counter) != 0) continue;
        free(name);
        name = memory_strdup(times[i].name);
    }
    snprintf(value, sizeof value, "%.0f", is_time ? x.mean * 1e9 : x.mean);
    double percent = x.count < 2 || !(fabs(x.mean) > 0) ? 0 : 100 * x.standard_error / fabs(x.mean);
    summary_field(to, separator, NULL, x.count ? value : NULL, is_time ? "ns" : row->unit, name, percent, seconds);
    free(name);
}

static void run_series_fields(FILE *to, const run_series *s, const char *separator)
{
    const repeats_row *time = run_series_time(s);
    double seconds = time ? spread_of(time->values, arrlenu(time->values)).mean : 0;
    const repeats_row **rows = run_series_rows(s);
    for (size_t i = 0; i < arrlenu(rows); i++)
        run_series_field(to, separator, rows[i], seconds);
    arrfree(rows);
}

void run_series_print(FILE *to, run_series *s, const run_request *ask)
{
    switch (ask->format) {
    case RUN_TEXT: run_series_text(to, s, ask); break;
    case RUN_JSON: run_series_json(to, s, ask); break;
    case RUN_CSV: run_series_csv(to, s, ask->untitled); break;
    case RUN_FIELDS: run_series_fields(to, s, ask->separator); break;
    }
}

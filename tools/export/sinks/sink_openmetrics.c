// OpenMetrics 1.0: the last reading of each counter of each node, as an exporter would have shown it then, for a text file
// collector or a test. It parses as Prometheus' text format 0.0.4, too. There are no time stamps (Prometheus' staleness breaks
// by them; netprof_snapshot_time_seconds tells it), and what could not be read has no sample. Readers keep values as doubles:
// counters beyond 2^53 lose their last digits there, not here.
#include "export/export.h"
#include "sink_chosen.h"
#include "sink_text.h"
#include "analysis/base/memory.h"
#include "analysis/base/saturating_sum.h"
#include "analysis/catalog/openmetrics.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct openmetrics_sample {
    char *family, *labels, *help, *unit;
    bool counter;
    uint64_t bits;
    bool is_signed;
    double value, divisor; // value: where divisor is 0
} openmetrics_sample;

typedef struct openmetrics_state {
    export_sink *sink;
    FILE *to;
    chosen chosen;
    openmetrics_sample *samples; // arrays of stb_ds
    index_map *sample_of;
} openmetrics_state;

static char *openmetrics_tags(const openmetrics_state *m, char *labels)
{
    const char *const *tags = export_options_of(m->sink)->tags;
    for (; tags && *tags; tags++) {
        const char *equals = strchr(*tags, '=');
        char *text = memory_strndup(*tags, (size_t)(equals - *tags)), *key = openmetrics_name(text);
        labels = openmetrics_label(labels, key, equals + 1);
        free(text);
        free(key);
    }
    return labels;
}

static char *openmetrics_host(const openmetrics_state *m, uint64_t run)
{
    return openmetrics_label(openmetrics_tags(m, memory_strdup("")), "host", chosen_node(&m->chosen, run));
}

// ---- samples ----

// The last one of the same name and labels counts. Takes family and labels.
static openmetrics_sample *openmetrics_put(openmetrics_state *m, char *family, char *labels, bool counter,
                                           const char *unit, const char *help)
{
    char *name = memory_format("%d %s{%s}", counter, family, labels);
    size_t next = arrlenu(m->samples), found = index_map_put(&m->sample_of, map_key_of_name(0, name), next);
    free(name);
    if (found < next) {
        free(family);
        free(labels);
        return &m->samples[found];
    }
    arrput(m->samples, ((openmetrics_sample){.family = family,
                                             .labels = labels,
                                             .help = openmetrics_escaped(help),
                                             .unit = memory_strdup(unit),
                                             .counter = counter}));
    return &m->samples[found];
}

static void openmetrics_put_gauge(openmetrics_state *m, const char *family, char *labels, const char *unit,
                                  const char *help, double value)
{
    openmetrics_sample *s = openmetrics_put(m, memory_strdup(family), labels, false, unit, help);
    s->value = value;
    s->divisor = 0;
}

static void openmetrics_take_value(openmetrics_state *m, const export_cell *c)
{
    const chosen_counter *k = chosen_find(&m->chosen, c, &c[4]);
    double divisor;
    if (!k) return;
    const char *base = openmetrics_base(k->unit, &divisor);
    char *family = openmetrics_family(k->source, k->counter, base), *plain = openmetrics_name(k->counter);
    char *labels = openmetrics_label(openmetrics_host(m, c[0].as.u64), "device", k->device);
    // Names that became the same are told apart.
    if (strcmp(plain, k->counter) != 0) labels = openmetrics_label(labels, "counter", k->counter);
    free(plain);
    char *help = memory_format("%s of the source %s", k->counter, k->source);
    openmetrics_sample *s =
        openmetrics_put(m, family, labels, !k->gauge, base, *k->description ? k->description : help);
    free(help);
    s->is_signed = !c[7].known;
    s->bits = c[7].known ? c[7].as.u64 : (uint64_t)c[8].as.i64;
    s->divisor = divisor;
    if (!c[7].known && !c[8].known) { // not as it once was
        s->divisor = 0;
        s->value = NAN;
    }
}

static void openmetrics_take_snapshot(openmetrics_state *m, const export_cell *c)
{
    if (c[3].known)
        openmetrics_put_gauge(m, "netprof_snapshot_time_seconds", openmetrics_host(m, c[0].as.u64), "seconds",
                              "When the last snapshot was taken.", (double)c[3].as.i64 / 1e9);
    if (c[4].known && c[5].known)
        openmetrics_put_gauge(m, "netprof_sweep_seconds", openmetrics_host(m, c[0].as.u64), "seconds",
                              "How long the last snapshot took.",
                              (double)difference_capped(c[5].as.i64, c[4].as.i64) / 1e9);
}

static void openmetrics_take_source(openmetrics_state *m, const export_cell *c)
{
    char failure[24] = "", *labels = openmetrics_host(m, c[0].as.u64);
    bool up = c[3].known && strcmp(c[3].as.text, netprof_status_name(NETPROF_STATUS_OK)) == 0;
    if (c[4].known) snprintf(failure, sizeof failure, "%lld", (long long)c[4].as.i64);
    labels = openmetrics_label(labels, "source", c[2].known ? c[2].as.text : "");
    labels = openmetrics_label(labels, "status", c[3].known ? c[3].as.text : "");
    labels = openmetrics_label(labels, "errno", failure);
    openmetrics_put_gauge(m, "netprof_source_up", labels, "", "1: the source could be read.", up);
}

static void openmetrics_take_finding(openmetrics_state *m, const export_cell *c)
{
    char *labels = openmetrics_host(m, c[0].as.u64);
    labels = openmetrics_label(labels, "rule", c[6].known ? c[6].as.text : "");
    labels = openmetrics_label(labels, "severity", c[5].known ? c[5].as.text : "");
    labels = openmetrics_label(labels, "device", c[9].known ? c[9].as.text : "");
    openmetrics_put_gauge(m, "netprof_finding", labels, "", "What netprof check found.", 1);
}

// ---- writing ----

static int openmetrics_compare(const void *a, const void *b)
{
    const openmetrics_sample *x = a, *y = b;
    int order = strcmp(x->family, y->family);
    if (!order) order = x->counter - y->counter;
    return order ? order : strcmp(x->labels, y->labels);
}

static void openmetrics_put_value(FILE *to, const openmetrics_sample *s)
{
    int64_t number;
    memcpy(&number, &s->bits, sizeof number);
    if (s->divisor > 1)
        put_f64(to, (s->is_signed ? (double)number : (double)s->bits) / s->divisor);
    else if (s->divisor > 0 && s->is_signed)
        put_i64(to, number);
    else if (s->divisor > 0)
        put_u64(to, s->bits);
    else
        put_f64(to, s->value);
}

// A family: samples of one name and type. A gauge that is called as a counter is has its type in its name.
static void openmetrics_put_family(FILE *to, const openmetrics_sample *first, bool twin)
{
    const char *twins = twin ? "_gauge" : "";
    fprintf(to, "# TYPE %s%s %s\n", first->family, twins, first->counter ? "counter" : "gauge");
    if (*first->unit && !twin) fprintf(to, "# UNIT %s %s\n", first->family, first->unit);
    if (*first->help) fprintf(to, "# HELP %s%s %s\n", first->family, twins, first->help);
}

static void openmetrics_put_all(openmetrics_state *m)
{
    size_t count = arrlenu(m->samples);
    const openmetrics_sample *head = NULL;
    if (count) qsort(m->samples, count, sizeof *m->samples, openmetrics_compare);
    for (size_t i = 0; i < count; i++) {
        const openmetrics_sample *s = &m->samples[i];
        if (!(s->divisor > 0) && isnan(s->value)) continue;
        bool same_name = head && strcmp(head->family, s->family) == 0, twin = same_name && !head->counter && s->counter;
        if (!same_name || head->counter != s->counter) openmetrics_put_family(m->to, s, twin);
        head = s;
        fprintf(m->to, "%s%s%s", s->family, twin ? "_gauge" : "", s->counter ? "_total" : "");
        if (*s->labels) fprintf(m->to, "{%s}", s->labels);
        putc(' ', m->to);
        openmetrics_put_value(m->to, s);
        putc('\n', m->to);
    }
    fputs("# EOF\n", m->to);
}

// ---- the driver ----

static void *sink_openmetrics_open(export_sink *sink, const char *path)
{
    openmetrics_state *m = memory_calloc(1, sizeof *m);
    m->sink = sink;
    m->to = strcmp(path, "-") == 0 ? stdout : fopen(path, "we");
    if (!m->to) export_fail(sink, "%s", strerror(errno ? errno : EIO));
    openmetrics_put_gauge(m, "netprof_build_info", openmetrics_label(memory_strdup(""), "version", netprof_version()),
                          "", "The netprof that wrote this.", 1);
    return m;
}

static void sink_openmetrics_table(void *state, export_id id, const export_table *table)
{
    (void)state, (void)id, (void)table; // samples, no tables
}

static void sink_openmetrics_row(void *state, export_id id, const export_table *table, const export_cell *cells)
{
    openmetrics_state *m = state;
    (void)table;
    switch (id) {
    case EXPORT_VALUES: openmetrics_take_value(m, cells); break;
    case EXPORT_SNAPSHOTS: openmetrics_take_snapshot(m, cells); break;
    case EXPORT_SOURCES: openmetrics_take_source(m, cells); break;
    case EXPORT_FINDINGS: openmetrics_take_finding(m, cells); break;
    default: chosen_take(&m->chosen, id, cells, export_options_of(m->sink)->include != NULL); break;
    }
}

static void sink_openmetrics_close(void *state, bool finish)
{
    openmetrics_state *m = state;
    if (m->to && finish) openmetrics_put_all(m);
    bool bad = m->to && ferror(m->to);
    if (m->to && m->to != stdout && fclose(m->to)) bad = true;
    if (bad && finish && m->to != stdout) export_fail(m->sink, "%s", strerror(errno ? errno : EIO));
    for (size_t i = 0; i < arrlenu(m->samples); i++) {
        free(m->samples[i].family);
        free(m->samples[i].labels);
        free(m->samples[i].help);
        free(m->samples[i].unit);
    }
    arrfree(m->samples);
    hmfree(m->sample_of);
    chosen_free(&m->chosen);
    free(m);
}

const export_driver export_openmetrics = {.name = "openmetrics",
                                          .stream = true,
                                          .events = true,
                                          .open = sink_openmetrics_open,
                                          .table = sink_openmetrics_table,
                                          .row = sink_openmetrics_row,
                                          .close = sink_openmetrics_close};

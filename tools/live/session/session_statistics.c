#include "session_statistics.h"

#include "cli/output.h"
#include "session_export.h"
#include "session_heads.h"
#include "session_readings.h"

#include "analysis/base/distribution.h"
#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <stdlib.h>
#include <string.h>

// A metric of one node: a counter's rates, or a gauge's values.
typedef struct session_metric {
    char *device, *counter, *unit;
    bool is_gauge;
    distribution values;
    double sum, time_s;
} session_metric;

typedef struct session_named_metric {
    char *key; // DEVICE/COUNTER
    session_metric value;
} session_named_metric;

// A node, over all its streams.
typedef struct session_metrics {
    netprof_snapshot last;
    bool has_last, is_exact;
    session_named_metric *metrics; // stb_ds
    uint64_t readings, unread, missing[SPOOL_REASONS];
    bool at_most; // a gap reaches beyond the session
    int64_t first_ns, last_ns;
} session_metrics;

static session_metric *session_find_metric(session_metrics *m, const netprof_schema *schema, size_t counter, bool gauge)
{
    const netprof_counter *c = &schema->counters[counter];
    char *key = memory_format("%s/%s", schema->devices[c->device].name, c->name);
    ptrdiff_t i = shgeti(m->metrics, key);
    if (i < 0) {
        shput(m->metrics, key,
              ((session_metric){.device = memory_strdup(schema->devices[c->device].name),
                                .counter = memory_strdup(c->name),
                                .unit = memory_strdup(c->unit),
                                .is_gauge = gauge}));
        i = shgeti(m->metrics, key);
    }
    free(key);
    return &m->metrics[i].value;
}

static void session_take_delta(session_metrics *m, const netprof_delta *d)
{
    for (size_t i = 0; i < d->schema->counter_count; i++) {
        const netprof_counter *c = &d->schema->counters[i];
        netprof_flag flag = (netprof_flag)d->flags[i];
        if (flag == NETPROF_FLAG_GAUGE && c->kind == NETPROF_KIND_GAUGE && d->after_status[i] == NETPROF_STATUS_OK) {
            session_metric *g = session_find_metric(m, d->schema, i, true);
            double value = c->flags & NETPROF_SIGNED ? (double)(int64_t)d->after[i] : (double)d->after[i];
            g->sum += value;
            g->time_s += 1;
            distribution_add(&g->values, value);
        } else if ((flag == NETPROF_FLAG_OK || flag == NETPROF_FLAG_WRAPPED) && d->elapsed_ns[i] > 0 &&
                   c->kind == NETPROF_KIND_COUNTER) {
            session_metric *r = session_find_metric(m, d->schema, i, false);
            double time_s = (double)d->elapsed_ns[i] / 1e9;
            r->sum += (double)d->values[i];
            r->time_s += time_s;
            distribution_add(&r->values, (double)d->values[i] / time_s);
        }
    }
}

static void session_take_snapshot(void *user, const netprof_snapshot *s)
{
    session_metrics *m = user;
    netprof_delta d = NETPROF_ZERO;
    if (!m->readings++ || s->wall_ns < m->first_ns) m->first_ns = s->wall_ns;
    if (m->readings == 1 || s->wall_ns > m->last_ns) m->last_ns = s->wall_ns;
    if (m->has_last && netprof_diff(&m->last, s, NULL, &d, NULL) == NETPROF_OK) session_take_delta(m, &d);
    netprof_delta_free(&d);
    if (netprof_snapshot_copy(&m->last, s, NULL)) memory_exhausted();
    m->has_last = true;
}

static void session_print_number(table *t, const session_metric *m, double value)
{
    if (strcmp(m->unit, "bytes") == 0)
        table_cell(t, PLAIN, (m->is_gauge ? words_amount(value, m->unit) : words_amount_rate(value, m->unit)).text);
    else
        table_printf(t, PLAIN, "%s%s%s%s", words_number(value).text, *m->unit ? " " : "", safe(m->unit),
                     m->is_gauge ? "" : "/s");
}

static void session_print_metric(table *t, const char *node, session_named_metric *n)
{
    static const double shares[] = {0.5, 0.95, 0.99};
    session_metric *m = &n->value;
    table_cell(t, PLAIN, node);
    table_cell(t, PLAIN, n->key);
    session_print_number(t, m, m->sum / m->time_s);
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        session_print_number(t, m, distribution_percentile(&m->values, shares[i]));
    session_print_number(t, m, m->values.most);
}

static json_object *session_metric_json(session_metric *m, const char *node)
{
    json_object *o = json_new_object();
    json_put_text(o, "host", node);
    json_put_text(o, "device", m->device);
    json_put_text(o, "counter", m->counter);
    json_put_text(o, "kind", m->is_gauge ? "gauge" : "counter");
    char *unit = memory_format("%s%s", m->unit, m->is_gauge ? "" : "/s");
    json_put_text(o, "unit", unit);
    free(unit);
    json_put_number(o, "mean", m->sum / m->time_s);
    json_put_number(o, "min", m->values.least);
    json_put_number(o, "p50", distribution_percentile(&m->values, 0.5));
    json_put_number(o, "p95", distribution_percentile(&m->values, 0.95));
    json_put_number(o, "p99", distribution_percentile(&m->values, 0.99));
    json_put_number(o, "max", m->values.most);
    return o;
}

// Metrics that were 0 all the time are left out, but for JSON.
static void session_put_metrics(session_metrics *m, const char *node, table *t, json_object *rows)
{
    m->is_exact = true;
    for (size_t i = 0; i < shlenu(m->metrics); i++) {
        session_metric *x = &m->metrics[i].value;
        bool is_zero = x->values.least == 0 && x->values.most == 0;
        if (rows) json_append(rows, session_metric_json(x, node));
        if (!is_zero) {
            if (t) session_print_metric(t, node, &m->metrics[i]);
            m->is_exact &= distribution_is_exact(&x->values);
        }
        distribution_free(&x->values);
        free(x->device);
        free(x->counter);
        free(x->unit);
    }
    shfree(m->metrics);
}

// "12: disk_full 9, overwritten 3"
static void session_put_missing(const session_metrics *m, table *t)
{
    uint64_t sum = m->unread;
    char *text = memory_strdup(""), *longer;
    for (unsigned i = 0; i < SPOOL_REASONS; i++) {
        if (!m->missing[i]) continue;
        if (i != SPOOL_RESTARTED) sum += m->missing[i];
        longer = i == SPOOL_RESTARTED ? memory_format("%s%sthe node started again", text, *text ? ", " : "")
                                      : memory_format("%s%s%s %s", text, *text ? ", " : "", spool_reason_name(i),
                                                      words_integer((int64_t)m->missing[i]).text);
        free(text);
        text = longer;
    }
    if (m->unread) {
        longer = memory_format("%s%sunreadable %s", text, *text ? ", " : "", words_integer((int64_t)m->unread).text);
        free(text);
        text = longer;
    }
    table_printf(t, sum ? WARNING : PLAIN, "%s%s%s%s", m->at_most ? "at most " : "", words_integer((int64_t)sum).text,
                 *text ? ": " : "", text);
    free(text);
}

static void session_put_coverage(const session_metrics *m, const char *node, table *t)
{
    table_cell(t, PLAIN, node);
    table_cell(t, PLAIN, words_integer((int64_t)m->readings).text);
    table_cell(t, PLAIN, m->readings ? words_time(m->first_ns).text : "");
    table_cell(t, PLAIN, m->readings ? words_time(m->last_ns).text : "");
    session_put_missing(m, t);
}

static json_object *session_coverage_json(const session_metrics *m, const char *node)
{
    json_object *o = json_new_object(), *missing = json_new_object();
    json_put_text(o, "host", node);
    json_put_exact(o, "snapshot_count", m->readings);
    json_put(o, "begin_ns", m->readings ? json_new_int64(m->first_ns) : NULL);
    json_put(o, "end_ns", m->readings ? json_new_int64(m->last_ns) : NULL);
    for (unsigned i = 0; i < SPOOL_REASONS; i++)
        if (m->missing[i]) json_put_exact(missing, spool_reason_name(i), m->missing[i]);
    if (m->unread) json_put_exact(missing, "unreadable", m->unread);
    json_put(o, "missing_ticks", missing);
    json_put(o, "upper_bound", json_new_boolean(m->at_most));
    return o;
}

static void session_take_stream(session_metrics *m, journal_index *x, size_t stream, const session *s, int64_t now_ns)
{
    const journal_stream *of = journal_index_stream(x, stream);
    const session_readings_visitor v = {.snapshot = session_take_snapshot, .user = m};
    int64_t stop = s->stop_ns ? s->stop_ns : now_ns;
    m->has_last = false; // another spool may be of another boot
    m->unread += session_readings_visit(x, stream, s, now_ns, &v);
    for (size_t i = 0; i < arrlenu(of->stretches); i++) {
        const journal_stretch *gap = &of->stretches[i];
        if (!gap->is_gap || gap->last_ns < s->start_ns || gap->first_ns > stop) continue;
        m->missing[gap->reason < SPOOL_REASONS ? gap->reason : 0] += gap->last - gap->first + 1;
        m->at_most |= gap->reason != SPOOL_RESTARTED && (gap->first_ns < s->start_ns || gap->last_ns > stop);
    }
}

typedef struct session_tables {
    table *metrics, *coverage;
    json_object *rows, *hosts; // or NULL
    bool any, is_exact;
} session_tables;

// All streams of the node: an agent whose spool was removed begins another.
static void session_take_node(session_tables *t, journal_index *x, size_t first, const session *s, int64_t now_ns)
{
    session_metrics m = {.has_last = false};
    const char *node = journal_index_stream(x, first)->node;
    sh_new_strdup(m.metrics);
    session_take_stream(&m, x, first, s, now_ns);
    for (size_t i = first; (i = journal_index_stream(x, i)->after);)
        session_take_stream(&m, x, i, s, now_ns);
    session_put_metrics(&m, node, t->metrics, t->rows);
    if (t->hosts) json_append(t->hosts, session_coverage_json(&m, node));
    if (t->coverage) session_put_coverage(&m, node, t->coverage);
    t->any |= m.readings > 0;
    t->is_exact &= m.is_exact;
    netprof_snapshot_free(&m.last);
}

static void session_print_tables(session_tables *t)
{
    table_end(t->metrics, stdout, 0);
    if (!t->is_exact) printf("Percentiles of more than 1000 values are at most 0.4 %% too high.\n");
    printf("\n");
    table_end(t->coverage, stdout, 0);
}

static void session_print_statistics_json(session_tables *t, const session *s)
{
    json_object *o = json_document("session-statistics");
    json_put_text(o, "session", s->name);
    json_put(o, "begin_ns", json_new_int64(s->start_ns));
    json_put(o, "end_ns", s->stop_ns ? json_new_int64(s->stop_ns) : NULL);
    json_put(o, "percentiles_exact", json_new_boolean(t->is_exact));
    json_put(o, "statistics", t->rows);
    json_put(o, "hosts", t->hosts);
    json_print(stdout, o);
}

int session_statistics(const char *directories, const session *s, int64_t now_ns, bool as_json)
{
    static const column metrics[] = {{"node", 0},           {"metric", COLUMN_WRAP}, {"mean", COLUMN_RIGHT},
                                     {"p50", COLUMN_RIGHT}, {"p95", COLUMN_RIGHT},   {"p99", COLUMN_RIGHT},
                                     {"max", COLUMN_RIGHT}};
    static const column coverage[] = {
        {"node", 0}, {"readings", COLUMN_RIGHT}, {"first", 0}, {"last", 0}, {"missing", COLUMN_WRAP}};
    char *why = NULL;
    journal_index *x = session_heads_open(directories, s, now_ns, &why);
    if (!x) {
        int code = fail(EXIT_FILE, "%s", safe(why));
        free(why);
        return code;
    }
    session_tables t = {.metrics = as_json ? NULL : table_begin(metrics, sizeof metrics / sizeof *metrics),
                        .coverage = as_json ? NULL : table_begin(coverage, sizeof coverage / sizeof *coverage),
                        .rows = as_json ? json_new_array() : NULL,
                        .hosts = as_json ? json_new_array() : NULL,
                        .is_exact = true};
    for (size_t i = 0; i < journal_index_count(x); i++)
        if (journal_index_stream(x, i)->is_first && session_takes_node(s, journal_index_stream(x, i)->node))
            session_take_node(&t, x, i, s, now_ns);
    journal_index_close(x);
    if (!as_json)
        session_print_tables(&t);
    else if (t.any)
        session_print_statistics_json(&t, s);
    return t.any ? EXIT_DONE
                 : fail(EXIT_NOTHING, "%s: the head has no readings of this time and these nodes", safe(s->name));
}

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
    char *unit;
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
        shput(m->metrics, key, ((session_metric){.unit = memory_strdup(c->unit), .is_gauge = gauge}));
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

// Metrics that were 0 all the time are left out.
static void session_put_metrics(session_metrics *m, const char *node, table *t)
{
    m->is_exact = true;
    for (size_t i = 0; i < shlenu(m->metrics); i++) {
        session_metric *x = &m->metrics[i].value;
        bool is_zero = x->values.least == 0 && x->values.most == 0;
        if (!is_zero) {
            session_print_metric(t, node, &m->metrics[i]);
            m->is_exact &= distribution_is_exact(&x->values);
        }
        distribution_free(&x->values);
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
    bool any, is_exact;
} session_tables;

// All streams of the node: an agent whose spool was removed begins another.
static void session_take_node(session_tables *t, journal_index *x, size_t first, const session *s, int64_t now_ns)
{
    session_metrics m = {.has_last = false};
    const char *node = journal_index_stream(x, first)->node;
    sh_new_strdup(m.metrics);
    for (size_t i = first; i < journal_index_count(x); i++)
        if (strcmp(journal_index_stream(x, i)->node, node) == 0) session_take_stream(&m, x, i, s, now_ns);
    session_put_metrics(&m, node, t->metrics);
    session_put_coverage(&m, node, t->coverage);
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

int session_statistics(const char *directories, const session *s, int64_t now_ns)
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
    session_tables t = {.metrics = table_begin(metrics, sizeof metrics / sizeof *metrics),
                        .coverage = table_begin(coverage, sizeof coverage / sizeof *coverage),
                        .is_exact = true};
    for (size_t i = 0; i < journal_index_count(x); i++)
        if (session_is_first(x, i) && session_takes_node(s, journal_index_stream(x, i)->node))
            session_take_node(&t, x, i, s, now_ns);
    journal_index_close(x);
    session_print_tables(&t);
    return t.any ? EXIT_DONE
                 : fail(EXIT_NOTHING, "%s: the head has no readings of this time and these nodes", safe(s->name));
}

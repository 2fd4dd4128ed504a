#include "session_statistics.h"

#include "cli/output.h"
#include "session_export.h"
#include "session_readings.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <stdlib.h>
#include <string.h>

// A metric of one node: a counter's rates, or a gauge's values.
typedef struct session_metric {
    char *unit;
    bool is_gauge;
    double *values; // stb_ds
    double sum, time_s;
} session_metric;

typedef struct session_named_metric {
    char *key; // DEVICE/COUNTER
    session_metric value;
} session_named_metric;

typedef struct session_metrics {
    netprof_snapshot last;
    bool has_last;
    session_named_metric *metrics; // stb_ds
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
            arrput(g->values, value);
        } else if ((flag == NETPROF_FLAG_OK || flag == NETPROF_FLAG_WRAPPED) && d->elapsed_ns[i] > 0 &&
                   c->kind == NETPROF_KIND_COUNTER) {
            session_metric *r = session_find_metric(m, d->schema, i, false);
            double time_s = (double)d->elapsed_ns[i] / 1e9;
            r->sum += (double)d->values[i];
            r->time_s += time_s;
            arrput(r->values, (double)d->values[i] / time_s);
        }
    }
}

static void session_take_snapshot(void *user, const netprof_snapshot *s)
{
    session_metrics *m = user;
    netprof_delta d = NETPROF_ZERO;
    if (m->has_last && netprof_diff(&m->last, s, NULL, &d, NULL) == NETPROF_OK) session_take_delta(m, &d);
    netprof_delta_free(&d);
    if (netprof_snapshot_copy(&m->last, s, NULL)) memory_exhausted();
    m->has_last = true;
}

static int session_value_order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// The smallest value that at least this share of all does not exceed.
static double session_percentile(const double *sorted, double share)
{
    double place = share * (double)arrlenu(sorted);
    size_t i = (size_t)place;
    if ((double)i < place) i++;
    return sorted[i ? i - 1 : 0];
}

static void session_print_number(table *t, const session_metric *m, double value)
{
    if (strcmp(m->unit, "bytes") == 0)
        table_cell(t, PLAIN, (m->is_gauge ? words_amount(value, m->unit) : words_amount_rate(value, m->unit)).text);
    else
        table_printf(t, PLAIN, "%s%s%s%s", words_number(value).text, *m->unit ? " " : "", safe(m->unit),
                     m->is_gauge ? "" : "/s");
}

static void session_print_metric(table *t, const char *node, const session_named_metric *n)
{
    static const double shares[] = {0.5, 0.95, 0.99};
    const session_metric *m = &n->value;
    table_cell(t, PLAIN, node);
    table_cell(t, PLAIN, n->key);
    session_print_number(t, m, m->sum / m->time_s);
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        session_print_number(t, m, session_percentile(m->values, shares[i]));
    session_print_number(t, m, arrlast(m->values));
}

// Metrics that were 0 all the time are left out.
static void session_put_node(session_metrics *m, const char *node, table *t)
{
    for (size_t i = 0; i < shlenu(m->metrics); i++) {
        session_metric *x = &m->metrics[i].value;
        qsort(x->values, arrlenu(x->values), sizeof *x->values, session_value_order);
        bool is_zero = x->values[0] == 0 && arrlast(x->values) == 0;
        if (!is_zero) session_print_metric(t, node, &m->metrics[i]);
        arrfree(x->values);
        free(x->unit);
    }
    shfree(m->metrics);
    netprof_snapshot_free(&m->last);
}

int session_statistics(const char *directory, const session *s, int64_t now_ns)
{
    static const column columns[] = {{"node", 0},           {"metric", COLUMN_WRAP}, {"mean", COLUMN_RIGHT},
                                     {"p50", COLUMN_RIGHT}, {"p95", COLUMN_RIGHT},   {"p99", COLUMN_RIGHT},
                                     {"max", COLUMN_RIGHT}};
    char *why = NULL;
    journal_index *x = journal_index_open(directory, s->start_ns, s->stop_ns ? s->stop_ns : now_ns, &why);
    if (!x) {
        int code = fail(EXIT_FILE, "%s", safe(why));
        free(why);
        return code;
    }
    table *t = table_begin(columns, sizeof columns / sizeof *columns);
    bool any = false;
    for (size_t i = 0; i < journal_index_count(x); i++) {
        session_metrics m = {.has_last = false};
        const char *node = journal_index_stream(x, i)->node;
        const session_readings_visitor v = {.snapshot = session_take_snapshot, .user = &m};
        if (!session_takes_node(s, node)) continue;
        sh_new_strdup(m.metrics);
        session_readings_visit(x, i, s, now_ns, &v);
        any |= m.has_last;
        session_put_node(&m, node, t);
    }
    journal_index_close(x);
    table_end(t, stdout, 0);
    return any ? EXIT_DONE
               : fail(EXIT_NOTHING, "%s: the head has no readings of this time and these nodes", safe(s->name));
}

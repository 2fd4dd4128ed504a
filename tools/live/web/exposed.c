// What Prometheus reads: OpenMetrics 1.0 where it asks for that, else text 0.0.4. It is made of what came last: asking more
// often reads nothing more often. What was not read has no sample; no sample has a time stamp.
#include "exposed.h"

#include "listed.h"
#include "live/journal/long_text.h"

#include "analysis/base/memory.h"
#include "analysis/catalog/openmetrics.h"
#include "analysis/base/stb_ds.h"
#include "analysis/catalog/catalog.h"
#include "analysis/data/dataset_filter.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    EXPOSED_MOST = 60,
    EXPOSED_TICK = 3
}; // values of a node, unless all are asked for; the column of its last reading

typedef struct exposing {
    long_text text;
    bool openmetrics;
} exposing;

// These texts, one after the other; NULL ends them.
static void exposed_put(exposing *e, const char *const *texts)
{
    for (; *texts; texts++)
        long_text_put(&e->text, *texts);
}

static void exposed_end(exposing *e, http_answer *a)
{
    if (e->openmetrics) long_text_put(&e->text, "# EOF\n");
    a->data = long_text_end(&e->text, &a->size);
    a->type = e->openmetrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                             : "text/plain; version=0.0.4; charset=utf-8";
}

// A family's head. Of a counter text 0.0.4 names the samples, OpenMetrics the family.
static void exposed_family(exposing *e, const char *family, bool counter, const char *unit, const char *help)
{
    const char *end = counter && !e->openmetrics ? "_total" : "";
    char *escaped = openmetrics_escaped(help);
    exposed_put(e, (const char *const[]){"# HELP ", family, end, " ", escaped, "\n# TYPE ", family, end,
                                         counter ? " counter\n" : " gauge\n", NULL});
    if (e->openmetrics && *unit) exposed_put(e, (const char *const[]){"# UNIT ", family, " ", unit, "\n", NULL});
    free(escaped);
}

// Takes the labels.
static void exposed_sample(exposing *e, const char *family, bool counter, char *labels, double value)
{
    char number[40];
    snprintf(number, sizeof number, value == floor(value) && fabs(value) < 1e15 ? " %.0f\n" : " %.17g\n", value);
    if (isfinite(value))
        exposed_put(e, (const char *const[]){family, counter ? "_total" : "", *labels ? "{" : "", labels,
                                             *labels ? "}" : "", number, NULL});
    free(labels);
}

static char *exposed_label(const char *key, const char *value)
{
    return openmetrics_label(memory_strdup(""), key, value);
}

// ---- the head ----

static void exposed_one(exposing *e, const char *family, bool counter, const char *unit, const char *help, double value)
{
    if (isnan(value)) return;
    exposed_family(e, family, counter, unit, help);
    exposed_sample(e, family, counter, memory_strdup(""), value);
}

static void exposed_put_head(exposing *e, const web_head *h)
{
    exposed_one(e, "netprof_head_up", false, "", "1: a head runs in this directory.", h->runs);
    if (!h->known) return;
    exposed_one(e, "netprof_head_connected", false, "", "1: the head reaches its NATS server.", h->connected);
    exposed_one(e, "netprof_head_disk_refuses", false, "",
                "1: the disk of the head takes nothing; the agents keep what they read.", *h->disk_error != 0);
    exposed_one(e, "netprof_head_journal_bytes", false, "bytes", "Size of the journal of the head.",
                (double)h->journal_bytes);
    exposed_one(e, "netprof_head_disk_free_bytes", false, "bytes", "Free space on the disk of the journal.",
                h->free_bytes);
    exposed_one(e, "netprof_head_commits", true, "", "Commits since the head was started.", (double)h->commits);
    exposed_one(e, "netprof_head_commit_seconds", false, "seconds",
                "What the longest commit of the last 2 s took the disk of the head, or has taken so far.",
                (double)h->commit_ns / 1e9);
    exposed_one(e, "netprof_head_malformed_messages", true, "", "Messages that were no frames of their node.",
                (double)h->malformed);
    exposed_one(e, "netprof_head_turned_away_messages", true, "", "Frames without room; the agents keep them.",
                (double)h->turned_away);
    if (h->ticks_ns >= 0)
        exposed_one(e, "netprof_head_cpu_seconds", true, "seconds", "CPU time of the head.", (double)h->ticks_ns / 1e9);
    exposed_one(e, "netprof_head_resident_memory_bytes", false, "bytes", "Memory of the head.", h->memory_bytes);
}

static void exposed_put_http(exposing *e, web *w)
{
    http_counts c;
    http_count(w->http, &c);
    exposed_one(e, "netprof_http_requests", true, "", "Requests to this server.", (double)c.requests);
    exposed_one(e, "netprof_http_refused_requests", true, "", "Requests without the right token.", (double)c.refused);
    exposed_one(e, "netprof_http_failed_requests", true, "", "Requests that were answered by an error.",
                (double)c.failed);
    exposed_one(e, "netprof_http_connections", false, "", "Connections that are open.", (double)c.connections);
    exposed_one(e, "netprof_http_dropped_connections", true, "", "Connections that were shut for want of room or time.",
                (double)c.dropped);
}

static void exposed_put_states(exposing *e, const node_brief *all, size_t count_all)
{
    size_t count[NODE_STATES] = {0};
    for (size_t i = 0; i < count_all; i++)
        count[all[i].state]++;
    exposed_family(e, "netprof_head_nodes", false, "", "Nodes, by how they stand.");
    for (int s = 0; s < NODE_STATES; s++)
        exposed_sample(e, "netprof_head_nodes", false, exposed_label("state", node_state_name((node_state)s)),
                       (double)count[s]);
}

// Those that are open; of a judge that stopped none, as nobody knows whether they still are. Locked.
static void exposed_put_findings(exposing *e, const judged *j)
{
    if (!j->judged) return;
    exposed_one(e, "netprof_judged_timestamp_seconds", false, "seconds",
                "When netprof findings judged last, since 1970.", (double)j->wall_ns / 1e9);
    if (!judged_is_recent(j)) return;
    exposed_family(e, "netprof_finding", false, "", "1: a finding of netprof findings that is open.");
    for (size_t i = 0; i < j->count; i++)
        if (j->list[i].open) exposed_sample(e, "netprof_finding", false, memory_strdup(j->list[i].labels), 1);
}

// ---- nodes, on request: a few values of each ----

static const struct {
    const char *family, *unit, *help;
    bool counter;
} exposed_columns[] = {
    {"netprof_node_up", "", "1: heard from within 30 s.", false},
    {"netprof_node_behind_ticks", "", "Ticks that are on the node, and not here yet.", false},
    {"netprof_node_lost_ticks", "", "Ticks that are no more.", true},
    {"netprof_node_last_tick_seconds", "seconds", "When its last reading was taken, since 1970.", false},
    {"netprof_node_sent_bytes_per_second", "", "What its ports sent.", false},
    {"netprof_node_received_bytes_per_second", "", "What its ports received.", false},
    {"netprof_node_transmit_blocked_ratio", "ratio", "Share of the time that the network let a port not send.", false},
    {"netprof_node_gpu_busy_ratio", "ratio", "Share of the time that its GPUs were busy.", false},
    {"netprof_node_cpus_busy", "", "CPUs that were busy.", false},
};

static double exposed_column(const node_brief *x, size_t column)
{
    bool current = x->measured && x->state != NODE_SILENT; // else it is long ago
    switch (column) {
    case 0: return x->state != NODE_SILENT;
    case 1: return x->known && x->silence_ns >= 0 ? (double)x->behind : NAN;
    case 2: return x->known ? (double)x->lost : NAN;
    case EXPOSED_TICK: return x->tick_ns ? (double)x->tick_ns / 1e9 : NAN;
    default: return current ? x->values[column - 4] : NAN;
    }
}

// Of thousands of nodes: nothing is put together anew for each. Counts and times are exact, rates have nine digits.
static void exposed_put_column(exposing *e, size_t column, const node_brief *all, size_t count)
{
    const char *family = exposed_columns[column].family, *end = exposed_columns[column].counter ? "_total" : "";
    for (size_t i = 0; i < count; i++) {
        double value = exposed_column(&all[i], column);
        if (!isfinite(value)) continue;
        exposed_put(e, (const char *const[]){family, end, all[i].label, " ", NULL});
        if (column == EXPOSED_TICK)
            long_text_seconds(&e->text, all[i].tick_ns);
        else
            long_text_number(&e->text, value);
        long_text_put(&e->text, "\n");
    }
}

static void exposed_put_nodes(exposing *e, const node_brief *all, size_t count)
{
    for (size_t k = 0; k < sizeof exposed_columns / sizeof *exposed_columns; k++) {
        exposed_family(e, exposed_columns[k].family, exposed_columns[k].counter, exposed_columns[k].unit,
                       exposed_columns[k].help);
        exposed_put_column(e, k, all, count);
    }
}

static void exposed_put_all(web *w, exposing *e, bool of_nodes)
{
    size_t count;
    node_brief *all = nodes_briefs(w->nodes, &count);
    nodes_lock(w->nodes);
    web_head head = w->head;
    nodes_unlock(w->nodes);
    exposed_family(e, "netprof_build_info", false, "", "The netprof that answers.");
    exposed_sample(e, "netprof_build_info", false, exposed_label("version", netprof_version()), 1);
    exposed_put_head(e, &head);
    exposed_put_states(e, all, count);
    if (of_nodes) exposed_put_nodes(e, all, count);
    exposed_put_http(e, w);
    nodes_lock(w->nodes);
    exposed_put_findings(e, &w->judged);
    nodes_unlock(w->nodes);
    free(all);
}

// In the lists' lane; order: "plain" or "openmetrics", of all nodes.
static void exposed_job(void *user, char *order, http_answer *a)
{
    exposing e = {.openmetrics = strcmp(order, "openmetrics") == 0};
    web_list which = e.openmetrics ? LISTED_OPENMETRICS : LISTED_PLAIN;
    if (listed_give(user, which, a)) return;
    uint64_t turn = web_turn(user);
    exposed_put_all(user, &e, true);
    exposed_end(&e, a);
    listed_keep(user, which, turn, a);
}

void exposed_head(void *user, const http_request *r, http_answer *a)
{
    const char *which = http_query(r, "nodes");
    exposing e = {.openmetrics = r->wants_openmetrics};
    if (which && strcmp(which, "all") == 0) {
        a->job = exposed_job;
        a->lane = HTTP_LISTS;
        a->order = memory_strdup(r->wants_openmetrics ? "openmetrics" : "plain");
        return;
    }
    exposed_put_all(user, &e, false);
    exposed_end(&e, a);
}

// ---- a node: its counters ----

typedef struct exposed_value {
    char *family, *labels, *help;
    const char *unit;
    bool counter;
    double value;
    size_t place;
} exposed_value;

static int exposed_order(const void *a, const void *b)
{
    const exposed_value *x = a, *y = b;
    int by_name = strcmp(x->family, y->family);
    if (!by_name) by_name = x->counter - y->counter;
    return by_name ? by_name : (x->place > y->place) - (x->place < y->place);
}

static void exposed_take_value(exposed_value **to, const netprof_snapshot *s, size_t i, const char *host)
{
    const netprof_counter *c = &s->schema->counters[i];
    const netprof_device *d = &s->schema->devices[c->device];
    double divisor, value = c->flags & NETPROF_SIGNED ? (double)(int64_t)s->values[i] : (double)s->values[i];
    if (s->status[i] != NETPROF_STATUS_OK) return;
    const char *base = openmetrics_base(c->unit ? c->unit : "", &divisor);
    char *plain = openmetrics_name(c->name), *labels = exposed_label("host", host);
    labels = openmetrics_label(labels, "device", d->name);
    if (strcmp(plain, c->name) != 0) labels = openmetrics_label(labels, "counter", c->name);
    free(plain);
    exposed_value v = {.family = openmetrics_family(d->source, c->name, base),
                       .labels = labels,
                       .help = memory_format("%s of the source %s", c->name, d->source),
                       .unit = base,
                       .counter = c->kind == NETPROF_KIND_COUNTER || c->kind == NETPROF_KIND_HISTOGRAM,
                       .value = value / divisor,
                       .place = arrlenu(*to)};
    arrput(*to, v);
}

static void exposed_put_values(exposing *e, exposed_value *list)
{
    const exposed_value *first = list; // of its family
    if (list) qsort(list, arrlenu(list), sizeof *list, exposed_order);
    for (size_t i = 0; i < arrlenu(list); i++) {
        exposed_value *v = &list[i];
        bool same = i && strcmp(first->family, v->family) == 0; // one name is of one kind
        if (!same) first = v;
        if (!same) exposed_family(e, v->family, v->counter, v->unit, v->help);
        if (first->counter == v->counter) exposed_sample(e, v->family, v->counter, memory_strdup(v->labels), v->value);
    }
    for (size_t i = 0; i < arrlenu(list); i++) {
        free(list[i].family);
        free(list[i].labels);
        free(list[i].help);
    }
    arrfree(list);
}

static bool exposed_is_network(const netprof_schema *schema, size_t counter)
{
    const char *source = schema->devices[schema->counters[counter].device].source;
    return catalog_count(source, CATALOG_RX_BYTES | CATALOG_TX_BYTES) > 0;
}

static void exposed_put_node(exposing *e, const node *x, bool all)
{
    const dataset_filter fast = {.fast = !all};
    dataset_filtering *filter = dataset_filtering_open(&fast);
    netprof_snapshot whole = NETPROF_ZERO, small = NETPROF_ZERO;
    exposed_value *list = NULL;
    kept_give(&x->last, x->last.schema, &whole);
    const netprof_snapshot *s = &whole;
    if (!all && dataset_filtering_snapshot(filter, &small, &whole)) s = &small;
    for (int others = 0; others < 2; others++) // the network's come first
        for (size_t i = 0; i < s->schema->counter_count && (all || arrlenu(list) < EXPOSED_MOST); i++)
            if (exposed_is_network(s->schema, i) != (others == 1)) exposed_take_value(&list, s, i, x->name);
    exposed_put_values(e, list);
    exposed_family(e, "netprof_snapshot_time_seconds", false, "seconds", "When the last reading was taken.");
    exposed_sample(e, "netprof_snapshot_time_seconds", false, exposed_label("host", x->name), (double)s->wall_ns / 1e9);
    netprof_snapshot_free(&whole);
    netprof_snapshot_free(&small);
    dataset_filtering_close(filter);
}

void exposed_node(void *user, const http_request *r, http_answer *a)
{
    web *w = user;
    const char *set = http_query(r, "set"), *end = strstr(r->rest, "/metrics");
    bool whole = end && strcmp(end, "/metrics") == 0 && end > r->rest;
    char *name = memory_strndup(r->rest, whole ? (size_t)(end - r->rest) : 0);
    exposing e = {.openmetrics = r->wants_openmetrics};
    nodes_lock(w->nodes);
    node *x = whole ? nodes_find(w->nodes, name) : NULL;
    bool known = x && x->last.schema;
    if (x) node_watch(x);
    if (known) exposed_put_node(&e, x, set && strcmp(set, "all") == 0);
    nodes_unlock(w->nodes);
    exposed_end(&e, a);
    free(name);
    if (known) return;
    free(a->data);
    http_fail(a, 404, "no readings of such a node");
}

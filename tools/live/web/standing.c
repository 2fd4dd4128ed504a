// How nodes, head and sessions stand: /nodes, /findings, and what the page shows, with its numbers in words.
#define _GNU_SOURCE
#include "standing.h"

#include "listed.h"
#include "live/journal/long_text.h"
#include "live/journal/sessions.h"
#include "live/spool/spool_model.h"

#include "analysis/base/json_text.h"
#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"
#include "analysis/base/words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STANDING_FINDINGS = 6, STANDING_NODES = 2000, STANDING_OUT = 12 };

// ---- a node ----

// What is not measured is not there.
static void standing_put_number(long_text *to, const char *key, bool measured, double value)
{
    if (!measured || !isfinite(value)) return;
    long_text_put(to, key);
    long_text_number(to, value);
}

static void standing_put_count(long_text *to, const char *key, uint64_t value)
{
    long_text_put(to, key);
    long_text_count(to, value);
}

static void standing_put_node(long_text *to, const node_brief *x)
{
    long_text_put(to, "{\"node\":");
    long_text_put(to, x->json);
    long_text_put(to, ",\"state\":\"");
    long_text_put(to, node_state_name(x->state));
    long_text_put(to, "\"");
    standing_put_number(to, ",\"silent_s\":", x->silence_ns >= 0, (double)x->silence_ns / 1e9);
    standing_put_count(to, ",\"behind_ticks\":", x->behind);
    standing_put_count(to, ",\"lost_ticks\":", x->lost);
    standing_put_count(to, ",\"durable_ticks\":", x->durable);
    if (x->tick_ns) {
        long_text_put(to, ",\"last_tick\":");
        long_text_time(to, x->tick_ns);
    }
    if (*x->version) {
        long_text_put(to, ",\"version\":");
        json_text_quoted(long_text_bytes, to, x->version);
    }
    if (x->clock) long_text_put(to, x->clock == 'y' ? ",\"clock_synchronised\":true" : ",\"clock_synchronised\":false");
    standing_put_number(to, ",\"least_delay_s\":", x->delay_ns != INT64_MAX, (double)x->delay_ns / 1e9);
    standing_put_number(to, ",\"interval_s\":", x->interval_ns != 0, (double)x->interval_ns / 1e9);
    standing_put_number(to, ",\"sent_bytes_per_s\":", x->measured, x->values[METER_SENT]);
    standing_put_number(to, ",\"received_bytes_per_s\":", x->measured, x->values[METER_RECEIVED]);
    standing_put_number(to, ",\"transmit_blocked_share\":", x->measured, x->values[METER_PAUSED]);
    standing_put_number(to, ",\"gpu_busy_share\":", x->has_gpus, x->values[METER_GPU]);
    long_text_put(to, "}");
}

// In the lists' lane.
static void standing_nodes_job(void *user, char *order, http_answer *a)
{
    web *w = user;
    (void)order;
    if (listed_give(w, LISTED_NODES, a)) return;
    size_t count;
    uint64_t turn = web_turn(w);
    node_brief *all = nodes_briefs(w->nodes, &count);
    long_text t = {.text = NULL};
    standing_put_count(&t, "{\"total_nodes\":", count);
    long_text_put(&t, ",\"nodes\":[");
    for (size_t i = 0; i < count; i++) {
        if (i) long_text_put(&t, ",");
        standing_put_node(&t, &all[i]);
    }
    long_text_put(&t, "]}");
    a->data = long_text_end(&t, &a->size);
    free(all);
    listed_keep(w, LISTED_NODES, turn, a);
}

static void standing_in_lane(http_answer *a, void (*job)(void *, char *, http_answer *))
{
    a->job = job;
    a->lane = HTTP_LISTS;
    a->order = memory_strdup("");
}

void standing_nodes(void *user, const http_request *r, http_answer *a)
{
    (void)user, (void)r;
    standing_in_lane(a, standing_nodes_job);
}

// ---- in words ----

static char *standing_node_words(const node *x, node_state state)
{
    words_text behind = words_many(x->behind, "tick|ticks"), lost = words_exact(x->lost);
    int64_t silent = node_silence(x, web_now());
    const node_gap *g = arrlenu(x->gaps) ? &arrlast(x->gaps) : NULL;
    switch (state) {
    case NODE_SILENT:
        return silent < 0 ? memory_strdup("not heard from since the head was started")
                          : memory_format("not heard from for %s; what it reads stays on it",
                                          words_duration((double)silent / 1e9).text);
    case NODE_LOST:
        return memory_format("%s lost: %s", words_many(g ? g->ticks : x->lost, "tick|ticks").text,
                             spool_reason_text(g ? g->reason : SPOOL_NO_REASON));
    case NODE_BEHIND: return memory_format("%s behind, %s lost", behind.text, lost.text);
    case NODE_LATE: return memory_format("%s late", words_duration((double)silent / 1e9).text);
    default: return memory_strdup("on time");
    }
}

static web_severity standing_severity(node_state s)
{
    static const web_severity of[NODE_STATES] = {WEB_OK, WEB_INFO, WEB_WATCH, WEB_BAD, WEB_UNKNOWN};
    return of[s];
}

typedef struct standing_counts {
    size_t of[NODE_STATES], all;
    double most_s; // of those on time, how long ago the last one was heard from
    size_t lags[8];
} standing_counts;

static const double standing_lags[7] = {1, 2, 5, 10, 60, 600, INFINITY};

static void standing_count(standing_counts *c, const node *x, node_state s)
{
    int64_t silent = node_silence(x, web_now());
    double lag = silent < 0 ? INFINITY : (double)silent / 1e9;
    size_t bin = 0;
    while (lag > standing_lags[bin])
        bin++;
    c->lags[bin]++;
    c->of[s]++;
    c->all++;
    if (s == NODE_ON_TIME) c->most_s = fmax(c->most_s, lag);
}

static json_object *standing_tiles(const standing_counts *c)
{
    static const char *const titles[NODE_STATES] = {"on time", "late", "behind", "lost", "silent"};
    json_object *list = json_new_array();
    for (int i = 0; i < NODE_STATES; i++) {
        json_object *o = json_new_object();
        json_put_exact(o, "count", c->of[i]);
        json_put_text(o, "title", titles[i]);
        json_put_text(o, "severity", web_severity_word(c->of[i] ? standing_severity((node_state)i) : WEB_OK));
        if (i == NODE_ON_TIME && c->of[i])
            json_put_text(o, "detail", words_at_most(true, words_duration(c->most_s)).text);
        json_append(list, o);
    }
    return list;
}

static json_object *standing_histogram(const standing_counts *c)
{
    static const char *const labels[7] = {"≤ 1 s", "2 s", "5 s", "10 s", "1 min", "10 min", "more"};
    json_object *list = json_new_array();
    for (int i = 0; i < 7; i++) {
        json_object *o = json_new_object();
        json_put_text(o, "label", labels[i]);
        json_put_exact(o, "count", c->lags[i]);
        json_append(list, o);
    }
    return list;
}

// ---- findings ----

static json_object *standing_event(web_severity s, int64_t at_ns, const char *name, const char *text, bool open)
{
    json_object *o = json_new_object();
    json_put_text(o, "severity", web_severity_word(s));
    if (at_ns > 0) json_put_text(o, "time", words_utc(at_ns, 0).text);
    json_put_text(o, "node", name);
    json_put_text(o, "text", text);
    json_put(o, "open", json_new_boolean(open));
    return o;
}

static void standing_add_away(void *user, node *x)
{
    json_object *away = user;
    node_state s = node_state_of(x, web_now());
    if (s == NODE_ON_TIME) return;
    char *text = standing_node_words(x, s);
    json_append(away, standing_event(standing_severity(s), x->tick_ns, x->name, text, true));
    free(text);
}

// In the lists' lane: with the verdict of every node.
static void standing_findings_job(void *user, char *order, http_answer *a)
{
    const web *w = user;
    json_object *o = judged_document(w->directory), *away = json_new_array();
    (void)order;
    bool known = o != NULL;
    if (!o) o = json_new_object();
    if (!known) json_put_text(o, "message", "nothing is judged here: no netprof findings runs beside the head");
    nodes_visit(w->nodes, standing_add_away, away);
    json_put(o, "judged", json_new_boolean(known));
    json_put(o, "nodes_not_on_time", away);
    web_answer(a, o);
}

void standing_findings(void *user, const http_request *r, http_answer *a)
{
    (void)user, (void)r;
    standing_in_lane(a, standing_findings_job);
}

// The worst open event of those that were judged lately; else what is known to be good, and no more than that.
static json_object *standing_headline(const web *w, const judged *j, const standing_counts *c)
{
    bool recent = judged_is_recent(j);
    size_t away = c->of[NODE_SILENT];
    const judged_finding *worst = judged_worst(j);
    if (!w->head.runs) return standing_event(WEB_UNKNOWN, 0, NULL, "No head runs: this is what the last one saw", true);
    if (*w->head.disk_error) {
        char *text = memory_format("The head's disk takes nothing: %s", w->head.disk_error);
        json_object *o = standing_event(WEB_BAD, w->head.disk_since_ns, NULL, text, true);
        free(text);
        return o;
    }
    if (!c->all) return standing_event(WEB_UNKNOWN, 0, NULL, "No node has been heard from", true);
    if (worst) {
        json_object *o = standing_event(worst->severity, worst->begin_ns, worst->node, worst->text, true);
        char *more = memory_format("%s%s%s", worst->node && *worst->node ? worst->node : "the nodes together",
                                   j->open > 1 ? "; and " : "",
                                   j->open > 1 ? words_many(j->open - 1, "more finding|more findings").text : "");
        json_put_text(o, "detail", more);
        free(more);
        return o;
    }
    char *text = c->of[NODE_ON_TIME] == c->all
                     ? memory_format(c->all == 1 ? "The node is on time" : "All %zu nodes are on time", c->all)
                     : memory_format("%zu of %zu nodes are on time", c->of[NODE_ON_TIME], c->all);
    bool good = j->judged && recent && j->good && (double)away <= .05 * (double)c->all;
    json_object *o = standing_event(good ? c->of[NODE_LOST] ? WEB_WATCH : WEB_OK : WEB_UNKNOWN, 0, NULL, text, true);
    json_put_text(o, "detail",
                  !j->judged ? "What they do is not judged: no netprof findings runs beside the head."
                  : !recent  ? "What they do has not been judged for more than a minute."
                             : j->text);
    free(text);
    return o;
}

static json_object *standing_findings_list(const judged *j)
{
    json_object *list = json_new_array();
    for (size_t i = 0; i < j->count && i < STANDING_FINDINGS; i++) {
        const judged_finding *f = &j->list[i];
        json_append(list, standing_event(f->severity, f->begin_ns, f->node, f->text, f->open));
    }
    return list;
}

// ---- sessions ----

// "2 min"; of one that is planned "from 18:00:00", or from which day on.
static char *standing_how_long(const session *s, int64_t now)
{
    static const int64_t day_ns = INT64_C(86400000000000);
    if (session_state_of(s, now) == SESSION_PLANNED)
        return memory_format("from %s UTC", words_utc(s->start_ns, 0).text + (s->start_ns - now < day_ns ? 11 : 0));
    return memory_strdup(words_duration((double)((s->stop_ns ? s->stop_ns : now) - s->start_ns) / 1e9).text);
}

static json_object *standing_session(const session *s, int64_t now)
{
    json_object *o = json_new_object();
    session_state state = session_state_of(s, now);
    char *what = memory_format("%s, %s%s", s->nodes ? s->nodes : "all nodes",
                               s->interval_ns ? words_duration((double)s->interval_ns / 1e9).text : "every tick",
                               s->fast ? ", fast set" : ""),
         *how_long = standing_how_long(s, now);
    json_put_text(o, "name", s->name);
    json_put_text(o, "state", session_state_name(state));
    json_put_text(o, "what", what);
    json_put_text(o, "since", words_time(s->stop_ns ? s->stop_ns : s->start_ns).text);
    json_put_text(o, "long", how_long);
    free(what);
    free(how_long);
    return o;
}

static json_object *standing_sessions(const web *w)
{
    session *found = NULL;
    json_object *list = json_new_array();
    int64_t now = web_now();
    session_list(w->directory, &found);
    static const session_state order[] = {SESSION_GOES_ON, SESSION_PLANNED, SESSION_ENDED};
    for (size_t k = 0; k < sizeof order / sizeof *order; k++)
        for (size_t i = 0; i < arrlenu(found); i++)
            if (session_state_of(&found[i], now) == order[k]) json_append(list, standing_session(&found[i], now));
    session_list_free(&found);
    return list;
}

// ---- the head ----

static json_object *standing_head(const web *w)
{
    const web_head *h = &w->head;
    char host[256] = "", *disk = NULL, *load = NULL;
    char *grows = !h->runs ? NULL : growth_words(&w->growth, h->journal_limit, h->free_bytes);
    json_object *o = json_new_object();
    if (gethostname(host, sizeof host - 1)) *host = 0;
    json_put_text(o, "host", host);
    json_put(o, "runs", json_new_boolean(h->runs));
    json_put(o, "connected", json_new_boolean(h->connected));
    if (!isnan(h->memory_bytes))
        load = memory_format("%s%s%s", isnan(h->cpu_share) ? "" : words_share(h->cpu_share).text,
                             isnan(h->cpu_share) ? "" : " of a core, ", words_binary(h->memory_bytes).text);
    if (!isnan(h->free_bytes))
        disk = memory_format("journal of %s; %s of %s free%s%s", words_amount((double)h->journal_bytes, "bytes").text,
                             words_amount(h->free_bytes, "bytes").text, words_amount(h->disk_bytes, "bytes").text,
                             grows ? "; " : "", grows ? grows : "");
    free(grows);
    json_put_text(o, "load", load);
    json_put_text(o, "disk", disk);
    free(load);
    free(disk);
    return o;
}

// ---- a node in detail ----

static json_object *standing_ports(const node *x)
{
    json_object *list = json_new_array();
    for (size_t i = 0; i < arrlenu(x->now.ports); i++) {
        const meter_port *p = &x->now.ports[i];
        json_object *o = json_new_object();
        json_put_text(o, "name", p->name);
        json_put_text(o, "sent", words_amount_rate(p->sent, "bytes").text);
        json_put_text(o, "received", words_amount_rate(p->received, "bytes").text);
        json_put_text(o, "blocked", words_share(p->paused).text);
        json_put_text(o, "retries", isnan(p->retries) ? WORDS_UNKNOWN : words_number(p->retries).text);
        json_append(list, o);
    }
    return list;
}

// What is certain of a node's clock: a tick cannot come before it was read. NULL: nothing to tell.
static char *standing_clock_words(const node *x)
{
    const int64_t ahead_ns = 100000000; // heads and nodes whose clocks are kept are nearer
    int64_t delay_ns = node_least_delay(x, web_now());
    if (delay_ns < -ahead_ns)
        return memory_format("its clock is ahead of the head's by %s or more",
                             words_duration((double)-delay_ns / 1e9).text);
    return x->clock == 'n' ? memory_strdup("its kernel knew of no time service when its agent began") : NULL;
}

static json_object *standing_detail(const node *x)
{
    node_state s = node_state_of(x, web_now());
    json_object *o = json_new_object();
    char *state = standing_node_words(x, s);
    json_put_text(o, "node", x->name);
    json_put_text(o, "state", state);
    json_put_text(o, "severity", web_severity_word(standing_severity(s)));
    if (!isnan(x->now.cpus) && x->now.ports)
        json_put_text(o, "cpus", words_many((uint64_t)x->now.cpus, "CPU|CPUs").text);
    if (x->now.gpus) json_put_text(o, "gpus", words_many(x->now.gpus, "GPU|GPUs").text);
    if (x->interval_ns) json_put_text(o, "interval", words_duration((double)x->interval_ns / 1e9).text);
    char *version = *x->version ? memory_format("agent %s", x->version) : NULL, *clock = standing_clock_words(x);
    json_put_text(o, "version", version);
    json_put_text(o, "clock", clock);
    free(version);
    free(clock);
    json_put(o, "ports", standing_ports(x));
    free(state);
    return o;
}

// ---- the page ----

static node *standing_chosen(web *w, const char *wanted, const judged *j)
{
    node *x = wanted && *wanted ? nodes_find(w->nodes, wanted) : NULL;
    for (size_t i = 0; !x && i < j->count && j->list[i].open; i++)
        if (j->list[i].node) x = nodes_find(w->nodes, j->list[i].node);
    return x ? x : nodes_count(w->nodes) ? nodes_at(w->nodes, 0) : NULL;
}

static void standing_put_nodes(web *w, json_object *o, standing_counts *counts)
{
    json_object *names = json_new_array(), *out = json_new_array();
    int64_t now = web_now();
    for (size_t i = 0; i < nodes_count(w->nodes); i++) {
        const node *x = nodes_at(w->nodes, i);
        node_state s = node_state_of(x, now);
        standing_count(counts, x, s);
        if (i < STANDING_NODES) json_append(names, json_text_value(x->name));
        if (s == NODE_ON_TIME || json_object_array_length(out) == STANDING_OUT) continue;
        char *text = standing_node_words(x, s);
        json_object *event = standing_event(standing_severity(s), 0, x->name, text, true);
        json_put_text(event, "state", s == NODE_ON_TIME ? "on time" : node_state_name(s));
        json_append(out, event);
        free(text);
    }
    json_put(o, "nodes", names);
    json_put(o, "not_on_time", out);
}

void standing_live(void *user, const http_request *r, http_answer *a)
{
    web *w = user;
    standing_counts counts = {.all = 0};
    json_object *o = json_new_object();
    nodes_lock(w->nodes);
    const judged *j = &w->judged;
    standing_put_nodes(w, o, &counts);
    node *x = standing_chosen(w, http_query(r, "node"), j);
    if (x) node_watch(x);
    json_put(o, "head", standing_head(w));
    json_put_text(o, "time", words_time(web_now()).text);
    json_put_exact(o, "total_nodes", counts.all);
    json_put(o, "tiles", standing_tiles(&counts));
    json_put(o, "lags", standing_histogram(&counts));
    json_put(o, "headline", standing_headline(w, j, &counts));
    json_put(o, "findings", standing_findings_list(j));
    json_put_exact(o, "older_findings", j->count > STANDING_FINDINGS ? j->count - STANDING_FINDINGS : 0);
    json_put(o, "judged", json_new_boolean(j->judged));
    if (x) json_put(o, "node", standing_detail(x));
    json_put(o, "charts", json_new_boolean(w->charts_style != NULL));
    nodes_unlock(w->nodes);
    json_put(o, "sessions", standing_sessions(w));
    web_answer(a, o);
}

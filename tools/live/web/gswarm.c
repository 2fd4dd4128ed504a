// The answers that gswarm-profiler has, under its names; netprof-web(1) says where they differ.
#include "gswarm.h"

#include "live/journal/sessions.h"
#include "page.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GSWARM_FEW = 256 };

void gswarm_root(void *user, const http_request *r, http_answer *a)
{
    (void)user;
    if (r->wants_html) {
        page_answer(a);
        return;
    }
    json_object *o = json_new_object();
    json_put_text(o, "message", "netprof head");
    json_put_text(o, "version", netprof_version());
    web_answer(a, o);
}

// ---- GPUs ----

// A device of the source "gpu".
typedef struct gswarm_gpu {
    const netprof_device *d;
    size_t index;
} gswarm_gpu;

static bool gswarm_next_gpu(const netprof_schema *schema, gswarm_gpu *g, size_t *at)
{
    for (; schema && *at < schema->device_count; ++*at) {
        if (strcmp(schema->devices[*at].source, "gpu") != 0) continue;
        *g = (gswarm_gpu){.d = &schema->devices[(*at)++], .index = g->d ? g->index + 1 : 0};
        return true;
    }
    return false;
}

static double gswarm_value(const netprof_snapshot *s, const gswarm_gpu *g, const char *counter)
{
    size_t i = netprof_find(s->schema, "gpu", g->d->name, counter);
    return i != NETPROF_NONE && s->status[i] == NETPROF_STATUS_OK ? (double)s->values[i] : NAN;
}

static const char *gswarm_gpu_name(const gswarm_gpu *g)
{
    const char *model = netprof_fact_of(g->d->facts, g->d->fact_count, "model"),
               *name = netprof_fact_of(g->d->facts, g->d->fact_count, "name");
    return model ? model : name ? name : g->d->name;
}

static json_object *gswarm_gpus(const node *x)
{
    json_object *list = json_new_array();
    gswarm_gpu g = {.d = NULL};
    for (size_t at = 0; gswarm_next_gpu(x->last.schema, &g, &at);) {
        json_object *o = json_new_object();
        char *id = memory_format("%s:%zu:%s", x->name, g.index, gswarm_gpu_name(&g));
        json_put_text(o, "id", id);
        json_put_text(o, "name", gswarm_gpu_name(&g));
        json_put_exact(o, "physical_idx", g.index);
        json_put_text(o, "hostname", x->name);
        json_append(list, o);
        free(id);
    }
    return list;
}

// ---- /status, /clients ----

static bool gswarm_is_connected(const node *x)
{
    return x->known && node_state_of(x, web_now()) != NODE_SILENT;
}

static const char *gswarm_running(const web *w, session **list)
{
    const char *last = NULL;
    session_list(w->directory, list);
    for (size_t i = 0; i < arrlenu(*list); i++)
        if (session_state_of(&(*list)[i], web_now()) == SESSION_GOES_ON) last = (*list)[i].name;
    return last;
}

// What the answers are made of, node by node, in the lists' lane.
typedef struct gswarm_sums {
    json_object *clients, *info;
    uint64_t frames, gpus;
    int64_t interval;
} gswarm_sums;

static void gswarm_add_status(void *user, node *x)
{
    gswarm_sums *s = user;
    s->frames += x->durable;
    if (!gswarm_is_connected(x)) return;
    json_object *own = gswarm_gpus(x);
    s->gpus += json_object_array_length(own);
    json_append(s->clients, json_text_value(x->name));
    web_put_named(s->info, x->name, own);
    if (x->interval_ns && (!s->interval || x->interval_ns < s->interval)) s->interval = x->interval_ns;
}

static void gswarm_status_job(void *user, char *order, http_answer *a)
{
    const web *w = user;
    session *list = NULL;
    json_object *o = json_new_object();
    const char *running = gswarm_running(w, &list);
    gswarm_sums s = {.clients = json_new_array(), .info = json_new_object()};
    (void)order;
    nodes_visit(w->nodes, gswarm_add_status, &s);
    json_put(o, "freq", s.interval ? json_new_int64((s.interval + 5000000) / 10000000 * 10) : NULL);
    json_put(o, "enable_bandwidth_profiling", json_new_boolean(true));
    json_put(o, "enable_nvlink_profiling", json_new_boolean(false));
    json_put(o, "is_profiling", json_new_boolean(running != NULL));
    json_put(o, "output_filename", running ? json_text_value(running) : NULL);
    json_put_exact(o, "frame_id_counter", s.frames);
    json_put(o, "connected_clients", s.clients);
    json_put_exact(o, "total_gpus", s.gpus);
    json_put(o, "gpu_info", s.info);
    session_list_free(&list);
    web_answer(a, o);
}

static void gswarm_in_lane(http_answer *a, void (*job)(void *, char *, http_answer *))
{
    a->job = job;
    a->lane = HTTP_LISTS;
    a->order = memory_strdup("");
}

// Of few nodes it is asked often, and told at once.
void gswarm_status(void *user, const http_request *r, http_answer *a)
{
    const web *w = user;
    (void)r;
    nodes_lock(w->nodes);
    bool few = nodes_count(w->nodes) <= GSWARM_FEW;
    nodes_unlock(w->nodes);
    if (few)
        gswarm_status_job(user, NULL, a);
    else
        gswarm_in_lane(a, gswarm_status_job);
}

static void gswarm_add_client(void *user, node *x)
{
    json_object *list = user;
    if (!gswarm_is_connected(x)) return;
    json_object *c = json_new_object(), *gpus = gswarm_gpus(x);
    json_put_text(c, "client_id", x->name);
    json_put_text(c, "hostname", x->name);
    json_put_exact(c, "gpu_count", json_object_array_length(gpus));
    json_put(c, "gpus", gpus);
    json_append(list, c);
}

static void gswarm_clients_job(void *user, char *order, http_answer *a)
{
    const web *w = user;
    json_object *o = json_new_object(), *list = json_new_array();
    (void)order;
    nodes_visit(w->nodes, gswarm_add_client, list);
    json_put_exact(o, "total_clients", json_object_array_length(list));
    json_put(o, "clients", list);
    web_answer(a, o);
}

void gswarm_clients(void *user, const http_request *r, http_answer *a)
{
    (void)user, (void)r;
    gswarm_in_lane(a, gswarm_clients_job);
}

// ---- /metrics/latest ----

// What was not read is not there.
static void gswarm_put(json_object *o, const char *key, double value)
{
    if (!isnan(value)) json_put_number(o, key, value);
}

static json_object *gswarm_gpu_metrics(const netprof_snapshot *s)
{
    json_object *list = json_new_array();
    gswarm_gpu g = {.d = NULL};
    for (size_t at = 0; gswarm_next_gpu(s->schema, &g, &at);) {
        json_object *o = json_new_object();
        json_put_exact(o, "physical_idx", g.index);
        json_put_text(o, "name", gswarm_gpu_name(&g));
        gswarm_put(o, "gpu_util", gswarm_value(s, &g, "busy") / 100);
        gswarm_put(o, "mem_util", gswarm_value(s, &g, "memory_used") / gswarm_value(s, &g, "memory_total"));
        json_append(list, o);
    }
    return list;
}

static json_object *gswarm_system_metrics(const netprof_snapshot *s, double cpus_busy)
{
    json_object *o = json_new_object();
    const netprof_schema *schema = s->schema;
    double total = NAN, available = NAN;
    for (size_t i = 0; i < schema->device_count; i++) {
        const netprof_device *d = &schema->devices[i];
        for (size_t c = d->first; strcmp(d->source, "memory") == 0 && c < (size_t)d->first + d->count; c++) {
            if (s->status[c] != NETPROF_STATUS_OK) continue;
            if (strcmp(schema->counters[c].name, "MemTotal") == 0) total = (double)s->values[c];
            if (strcmp(schema->counters[c].name, "MemAvailable") == 0) available = (double)s->values[c];
        }
    }
    gswarm_put(o, "dram_util", total > 0 ? 100 * (1 - available / total) : NAN);
    gswarm_put(o, "cpus_busy", cpus_busy);
    return o;
}

static json_object *gswarm_network(const node *x)
{
    json_object *o = json_new_object();
    gswarm_put(o, "sent_bytes_per_s", x->now.values[METER_SENT]);
    gswarm_put(o, "received_bytes_per_s", x->now.values[METER_RECEIVED]);
    gswarm_put(o, "transmit_blocked_share", x->now.values[METER_PAUSED]);
    return o;
}

static void gswarm_add_latest(void *user, node *x)
{
    json_object *data = user;
    if (!x->last.schema || !gswarm_is_connected(x)) return;
    netprof_snapshot s = NETPROF_ZERO;
    json_object *c = json_new_object();
    kept_give(&x->last, x->last.schema, &s);
    json_put(c, "timestamp", web_time(s.wall_ns));
    json_put(c, "gpus_metrics", gswarm_gpu_metrics(&s));
    json_put(c, "p2p_links", json_new_array());
    json_put(c, "system_metrics", gswarm_system_metrics(&s, x->now.values[METER_CPU]));
    netprof_snapshot_free(&s);
    if (x->now.ports) json_put(c, "network", gswarm_network(x));
    web_put_named(data, x->name, c);
}

static void gswarm_latest_job(void *user, char *order, http_answer *a)
{
    const web *w = user;
    json_object *o = json_new_object(), *data = json_new_object();
    (void)order;
    json_put(o, "timestamp", web_time(web_now()));
    nodes_visit(w->nodes, gswarm_add_latest, data);
    json_put(o, "client_data", data);
    web_answer(a, o);
}

void gswarm_latest(void *user, const http_request *r, http_answer *a)
{
    (void)user, (void)r;
    gswarm_in_lane(a, gswarm_latest_job);
}

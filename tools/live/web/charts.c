// Charts: drawn by netprof-report, which is told by JSON what to draw, in the charts' lane. A drawing serves everybody who
// asks for the same within two seconds.
#define _GNU_SOURCE
#include "charts.h"

#include "cli/messages.h"
#include "run_program.h"

#include "analysis/base/memory.h"
#include "analysis/base/output_file.h"
#include "analysis/base/stb_ds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHARTS_ROWS = 120, CHARTS_KEPT = 16, CHARTS_MOST = 16 << 20, CHARTS_S = 20, CHARTS_NODE_MOST = 255 };
static const int64_t charts_fresh_ns = 2000000000;

// Of the charts' lane alone.
typedef struct charts_drawing {
    char *order, *svg;
    size_t size;
    bool failed; // there is none for another reason than that there is nothing to draw
    int64_t at_ns;
} charts_drawing;

static charts_drawing charts_kept[CHARTS_KEPT];

typedef struct charts_order {
    char kind[8]; // map, node
    meter meter;
    int width;
    char node[CHARTS_NODE_MOST + 1];
} charts_order;

// ---- drawing ----

// NULL: nothing to draw, or, *failed, it could not be drawn.
static char *charts_draw(json_object *request, size_t *size, bool *failed)
{
    static const char *const words[] = {"netprof-report", "--draw-live", NULL};
    const char *text = json_to_text(request, JSON_C_TO_STRING_PLAIN);
    size_t length = strlen(text), at = 0;
    int in = output_file_nameless("in"), out = output_file_nameless("out");
    int status = -1;
    char *svg = NULL, *said = NULL;
    while (in >= 0 && at < length) {
        ssize_t n = write(in, text + at, length - at);
        if (n <= 0) break;
        at += (size_t)n;
    }
    if (in >= 0 && out >= 0 && at == length && lseek(in, 0, SEEK_SET) == 0)
        status = run_program(words, in, out, CHARTS_S, &said);
    if (status == 0) svg = run_read_all(out, CHARTS_MOST, size);
    *failed = !svg && status != EXIT_NOTHING;
    free(said);
    if (in >= 0) close(in);
    if (out >= 0) close(out);
    return svg;
}

static json_object *charts_number(double value)
{
    char text[32];
    if (isnan(value)) return NULL;
    snprintf(text, sizeof text, "%.5g", value);
    return json_new_double_s(value, text);
}

// ---- the map ----

// A row of the map: a node, or the worst of neighbours.
typedef struct charts_row {
    size_t first, count;
} charts_row;

// Sent, received and busy: what a group does is its mean, and of what blocks the most.
static double charts_group_value(web *w, charts_row row, meter m, int64_t column)
{
    double sum = 0, most = NAN;
    size_t known = 0;
    for (size_t i = row.first; i < row.first + row.count; i++) {
        double v = (double)node_value(nodes_at(w->nodes, i), m, column);
        if (isnan(v)) continue;
        sum += v;
        most = fmax(most, v);
        known++;
    }
    return m == METER_PAUSED ? most : known ? sum / (double)known : NAN;
}

// '.': measured, or not; 'l': lost; 'w': it waits on the node.
static char charts_state(const node *x, int64_t column)
{
    int64_t from = column * nodes_column_ns, to = from + nodes_column_ns;
    for (size_t i = 0; i < arrlenu(x->gaps); i++)
        if (x->gaps[i].from_ns < to && x->gaps[i].to_ns > from) return 'l';
    return x->known && x->tick_ns && from > x->tick_ns && (x->behind || x->silent_ns > 2 * nodes_column_ns) ? 'w' : '.';
}

static const char *charts_severity(node_state s)
{
    static const char *const words[NODE_STATES] = {NULL, "info", "watch", "high", "unknown"};
    return words[s];
}

static json_object *charts_map_row(web *w, charts_row row, meter m, int64_t last, bool labelled)
{
    json_object *o = json_new_object(), *values = json_new_array();
    char states[NODES_COLUMNS + 1] = "";
    const node *first = nodes_at(w->nodes, row.first), *x = nodes_at(w->nodes, row.first + row.count - 1);
    char *label = row.count > 1 ? memory_format("%s to %s", first->name, x->name) : memory_strdup(x->name);
    node_state worst = NODE_ON_TIME;
    for (size_t i = row.first; i < row.first + row.count; i++) {
        node_state s = node_state_of(nodes_at(w->nodes, i), web_now());
        if (s > worst) worst = s, x = nodes_at(w->nodes, i);
    }
    for (int k = 0; k < NODES_COLUMNS; k++) {
        int64_t column = last - NODES_COLUMNS + 1 + k;
        json_append(values, charts_number(charts_group_value(w, row, m, column)));
        states[k] = charts_state(x, column);
    }
    json_put_text(o, "label", label);
    json_put(o, "quiet", json_new_boolean(!labelled));
    if (worst != NODE_ON_TIME) json_put_text(o, "right", x->name);
    json_put_text(o, "severity", charts_severity(worst));
    json_put(o, "values", values);
    json_put_text(o, "states", states);
    free(label);
    return o;
}

static json_object *charts_map_request(web *w, const charts_order *order)
{
    size_t count = nodes_count(w->nodes), per = (count + CHARTS_ROWS - 1) / CHARTS_ROWS, rows = 0;
    int64_t last = web_now() / nodes_column_ns - 1; // the column at hand is not whole
    json_object *o = json_new_object(), *list = json_new_array();
    const meter_info *info = meter_of(order->meter);
    size_t all = per ? (count + per - 1) / per : 0, every = all > 16 ? (all + 11) / 12 : 1;
    for (size_t i = 0; i < count; i += per, rows++) {
        charts_row row = {i, count - i < per ? count - i : per};
        json_append(list, charts_map_row(w, row, order->meter, last, rows % every == 0));
    }
    json_put_text(o, "kind", "map");
    json_put(o, "width", json_new_int(order->width));
    json_put(o, "height_of_rows", json_new_int(all <= 16 ? (int)all * 16 : all <= 60 ? (int)all * 6 : (int)all * 3));
    json_put_text(o, "unit", info->unit);
    json_put(o, "wall_ns", json_new_int64((last + 1) * nodes_column_ns));
    json_put(o, "from", json_new_int64(-NODES_COLUMNS * nodes_column_ns / 1000000000));
    json_put(o, "to", json_new_int64(0));
    json_put(o, "rows", list);
    return o;
}

// ---- a node ----

static const struct {
    meter meters[2];
    size_t count;
    const char *label, *below, *names[2];
} charts_panels[] = {
    {{METER_SENT, METER_RECEIVED}, 2, "Network", "", {"sent", "received"}},
    {{METER_PAUSED, METER_PAUSED}, 1, "Blocked", "", {"transmit blocked", NULL}},
    {{METER_GPU, METER_GPU}, 1, "GPU busy", "", {"gpu", NULL}},
    {{METER_CPU, METER_CPU}, 1, "CPU busy", "", {"cpu", NULL}},
};

static json_object *charts_curve(const node *x, meter m, int64_t last, const char *name, bool *any)
{
    json_object *o = json_new_object(), *y = json_new_array();
    for (int k = 0; k < NODES_COLUMNS; k++) {
        double v = (double)node_value(x, m, last - NODES_COLUMNS + 1 + k);
        *any |= !isnan(v);
        json_append(y, charts_number(v));
    }
    json_put_text(o, "label", name);
    json_put_text(o, "ink", meter_of(m)->name);
    json_put(o, "y", y);
    return o;
}

// A panel of what the node has none of is left out.
static json_object *charts_node_request(const node *x, const charts_order *order)
{
    int64_t last = web_now() / nodes_column_ns - 1;
    json_object *o = json_new_object(), *panels = json_new_array(), *times = json_new_array();
    for (int k = 0; k < NODES_COLUMNS; k++)
        json_append(times, json_new_int64((k - NODES_COLUMNS) * nodes_column_ns / 1000000000));
    for (size_t i = 0; i < sizeof charts_panels / sizeof *charts_panels; i++) {
        json_object *p = json_new_object(), *curves = json_new_array();
        bool any = false;
        for (size_t k = 0; k < charts_panels[i].count; k++)
            json_append(curves, charts_curve(x, charts_panels[i].meters[k], last, charts_panels[i].names[k], &any));
        json_put_text(p, "label", charts_panels[i].label);
        json_put_text(p, "below", charts_panels[i].below);
        json_put_text(p, "unit", meter_of(charts_panels[i].meters[0])->unit);
        json_put(p, "curves", curves);
        if (any)
            json_append(panels, p);
        else
            json_object_put(p);
    }
    json_put_text(o, "kind", "lines");
    json_put(o, "width", json_new_int(order->width));
    json_put(o, "wall_ns", json_new_int64((last + 1) * nodes_column_ns));
    json_put(o, "x", times);
    json_put(o, "panels", panels);
    return o;
}

// ---- in the lane ----

static json_object *charts_request(web *w, const charts_order *order)
{
    json_object *o = NULL;
    nodes_lock(w->nodes);
    if (strcmp(order->kind, "map") == 0) {
        o = charts_map_request(w, order);
    } else {
        const node *x = nodes_find(w->nodes, order->node);
        if (x) o = charts_node_request(x, order);
    }
    nodes_unlock(w->nodes);
    return o;
}

static charts_drawing *charts_find(const char *text)
{
    charts_drawing *oldest = &charts_kept[0];
    for (size_t i = 0; i < CHARTS_KEPT; i++) {
        if (charts_kept[i].order && strcmp(charts_kept[i].order, text) == 0) return &charts_kept[i];
        if (charts_kept[i].at_ns < oldest->at_ns) oldest = &charts_kept[i];
    }
    return oldest;
}

// "map METER WIDTH" or "node WIDTH NAME"
static bool charts_parse(const char *text, charts_order *order)
{
    int at = 0, number = 0;
    if (sscanf(text, "map %d %d", &number, &order->width) == 2) {
        snprintf(order->kind, sizeof order->kind, "map");
        order->meter = (meter)number;
        return true;
    }
    if (sscanf(text, "node %d %n", &order->width, &at) != 1 || !at) return false;
    snprintf(order->kind, sizeof order->kind, "node");
    snprintf(order->node, sizeof order->node, "%s", text + at);
    return true;
}

static void charts_job(void *user, char *text, http_answer *a)
{
    web *w = user;
    charts_order order = {.width = 0};
    charts_drawing *d = charts_find(text);
    bool same = d->order && strcmp(d->order, text) == 0;
    if (!same || web_now() - d->at_ns > charts_fresh_ns) {
        json_object *request = charts_parse(text, &order) ? charts_request(w, &order) : NULL;
        free(d->order);
        free(d->svg);
        *d = (charts_drawing){.order = memory_strdup(text), .at_ns = web_now()};
        if (request) d->svg = charts_draw(request, &d->size, &d->failed);
        json_object_put(request);
    }
    if (!d->svg) {
        http_fail(a, d->failed ? 500 : 404, d->failed ? "it could not be drawn" : "there is nothing to draw");
        return;
    }
    a->data = memory_alloc(d->size + 1);
    memcpy(a->data, d->svg, d->size + 1);
    a->size = d->size;
    a->type = "image/svg+xml";
}

static void charts_begin(const http_request *r, http_answer *a, char *(*make)(const http_request *, int))
{
    const char *text = http_query(r, "width");
    long width = text ? strtol(text, NULL, 10) : 0;
    width = width < 240 ? 240 : width > 1600 ? 1600 : width - width % 40; // few sizes, so that drawings are shared
    a->order = make(r, (int)width);
    a->job = charts_job;
    a->lane = HTTP_CHARTS;
}

static char *charts_map_order(const http_request *r, int width)
{
    meter m = METER_SENT;
    meter_find(http_query(r, "meter"), &m);
    return memory_format("map %d %d", (int)m, width);
}

static char *charts_node_order(const http_request *r, int width)
{
    const char *name = http_query(r, "node");
    return memory_format("node %d %s", width, name ? name : "");
}

void charts_map(void *user, const http_request *r, http_answer *a)
{
    (void)user;
    charts_begin(r, a, charts_map_order);
}

void charts_node(void *user, const http_request *r, http_answer *a)
{
    (void)user;
    charts_begin(r, a, charts_node_order);
}

// ---- their style, once ----

void charts_open(web *w)
{
    json_object *o = json_new_object();
    bool failed;
    size_t size = 0;
    json_put_text(o, "kind", "style");
    w->charts_style = charts_draw(o, &size, &failed);
    json_object_put(o);
}

void charts_css(void *user, const http_request *r, http_answer *a)
{
    const web *w = user;
    (void)r;
    a->data = memory_strdup(w->charts_style ? w->charts_style : "");
    a->type = "text/css; charset=utf-8";
}

void charts_close(web *w)
{
    for (size_t i = 0; i < CHARTS_KEPT; i++) {
        free(charts_kept[i].order);
        free(charts_kept[i].svg);
        charts_kept[i] = (charts_drawing){.order = NULL};
    }
    free(w->charts_style);
}

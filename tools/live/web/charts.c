// Charts: drawn by netprof-report, which is told by JSON what to draw, in the charts' lane. A drawing serves everybody who
// asks for the same within two seconds; one that is older, up to a column of time, is given at once while it is drawn anew.
#define _GNU_SOURCE
#include "charts.h"

#include "cli/messages.h"
#include "run_program.h"

#include "analysis/base/memory.h"
#include "analysis/base/output_file.h"
#include "analysis/base/stb_ds.h"
#include "analysis/base/words.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHARTS_SPACE = 5 }; // between racks, in pixels
enum { CHARTS_ROWS = 120, CHARTS_KEPT = 16, CHARTS_MOST = 16 << 20, CHARTS_S = 20, CHARTS_NODE_MOST = 255 };
static const int64_t charts_fresh_ns = 2000000000, charts_old_ns = 6000000000;

typedef struct charts_drawing {
    char *order, *svg;
    size_t size;
    bool failed; // there is none for another reason than that there is nothing to draw
    bool asked;  // it is being drawn anew
    int64_t at_ns;
} charts_drawing;

// The charts' lane alone changes them, but for `asked`; locked, where the server's thread is to see them whole.
static charts_drawing charts_kept[CHARTS_KEPT];
static pthread_mutex_t charts_lock = PTHREAD_MUTEX_INITIALIZER;

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

// A row of the map: a node, or the worst of neighbours. It is collected node by node, while the nodes are locked, and put into
// words afterwards.
typedef struct charts_row {
    const char *first, *last, *worst; // names live as long as the nodes
    char *rack;                       // of the first row of a rack
    bool begins;                      // a rack, but for the first one
    size_t at, members;               // in the order of racks
    size_t count;
    node_state state; // of the worst
    char states[NODES_COLUMNS + 1];
    double sum[NODES_COLUMNS], most[NODES_COLUMNS];
    unsigned known[NODES_COLUMNS];
} charts_row;

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

static void charts_add_node(charts_row *row, const node *x, meter m, int64_t last, int64_t now_ns)
{
    float values[NODES_COLUMNS];
    node_state state = node_state_of(x, now_ns);
    bool worse = !row->count || state > row->state;
    node_values(x, m, last, values);
    for (int k = 0; k < NODES_COLUMNS; k++) {
        if (worse) row->states[k] = charts_state(x, last - NODES_COLUMNS + 1 + k);
        if (isnan(values[k])) continue;
        row->sum[k] += (double)values[k];
        row->most[k] = row->known[k]++ ? fmax(row->most[k], (double)values[k]) : (double)values[k];
    }
    if (!row->count++) row->first = x->name;
    if (worse) {
        row->state = state;
        row->worst = x->name;
    }
    row->last = x->name;
}

// Neighbours, as many rows as are drawn, no row with nodes of two racks; stb_ds.
static charts_row *charts_split(const racked *all, size_t count)
{
    charts_row *rows = NULL;
    size_t per = (count + CHARTS_ROWS - 1) / CHARTS_ROWS;
    for (size_t i = 0; i < count; i++) {
        bool begins = i && all[i].group != all[i - 1].group;
        if (!i || begins || arrlast(rows).members == per) arrput(rows, ((charts_row){.begins = begins, .at = i}));
        if ((!i || begins) && all[i].rack) arrlast(rows).rack = memory_strdup(all[i].rack);
        arrlast(rows).members++;
    }
    return rows;
}

// *groups: racks. Others have their turn after each row.
static charts_row *charts_map_rows(web *w, meter m, int64_t last, size_t *groups)
{
    int64_t now = web_now();
    nodes_lock(w->nodes);
    racked *all = racks_order(&w->racks, w->nodes, groups);
    charts_row *rows = charts_split(all, arrlenu(all));
    nodes_unlock(w->nodes);
    for (size_t i = 0; i < arrlenu(rows); i++) {
        nodes_lock(w->nodes);
        for (size_t k = 0; k < rows[i].members; k++)
            charts_add_node(&rows[i], all[rows[i].at + k].node, m, last, now);
        nodes_unlock(w->nodes);
    }
    arrfree(all);
    return rows;
}

// Sent, received and busy: what a group does is its mean, and of what blocks the most.
static json_object *charts_map_row(const charts_row *row, meter m, bool labelled)
{
    json_object *o = json_new_object(), *values = json_new_array();
    char *range = row->count > 1 ? memory_format("%s to %s", row->first, row->last) : memory_strdup(row->first);
    char *label = memory_format("%s%s%s", row->rack ? row->rack : "", row->rack ? " " : "", range);
    for (int k = 0; k < NODES_COLUMNS; k++)
        json_append(values, charts_number(!row->known[k]      ? NAN
                                          : m == METER_PAUSED ? row->most[k]
                                                              : row->sum[k] / row->known[k]));
    json_put_text(o, "label", label);
    json_put(o, "quiet", json_new_boolean(!labelled));
    if (row->state != NODE_ON_TIME) json_put_text(o, "right", row->worst);
    json_put_text(o, "severity", charts_severity(row->state));
    json_put(o, "values", values);
    json_put_text(o, "states", row->states);
    free(label);
    free(range);
    return o;
}

static void charts_free_rows(charts_row *rows)
{
    for (size_t i = 0; i < arrlenu(rows); i++)
        free(rows[i].rack);
    arrfree(rows);
}

static int charts_rows_height(size_t rows)
{
    return rows <= 16 ? (int)rows * 16 : rows <= 60 ? (int)rows * 6 : (int)rows * 3;
}

// Since when what the headline says is so. one: not where it is another node that it names.
static void charts_put_incident(json_object *to, web *w, int64_t wall_ns, const node *one)
{
    const judged_finding *worst = judged_worst(&w->judged);
    if (!worst || worst->begin_ns <= 0) return;
    const char *name = worst->node ? worst->node : "";
    if (one && *name && strcmp(name, one->name) != 0) return;
    json_object *o = json_new_object();
    char *label =
        memory_format("%s%s%s", words_utc(worst->begin_ns, 0).text + 11, *name && !one ? " " : "", one ? "" : name);
    json_put_number(o, "from", (double)(worst->begin_ns - wall_ns) / 1e9);
    json_put_text(o, "label", label);
    json_put(to, "incident", o);
    free(label);
}

// Racks are set apart and named at their first row; labels that would touch are in hover texts alone.
static json_object *charts_map_request(web *w, const charts_order *order)
{
    enum { LEAST = 11 };                            // pixels from one label to the next
    int64_t last = web_now() / nodes_column_ns - 1; // the column at hand is not whole
    size_t groups;
    charts_row *rows = charts_map_rows(w, order->meter, last, &groups);
    json_object *o = json_new_object(), *list = json_new_array();
    size_t all = arrlenu(rows), every = all > 16 ? (all + 11) / 12 : 1;
    bool named = groups > 1, apart = named && all >= 3 * groups;
    double pitch = all ? (double)charts_rows_height(all) / (double)all : 0, free_at = 0;
    for (size_t i = 0; i < all; i++) {
        bool labelled = named && all > 16 ? (!i || rows[i].begins) && (double)i * pitch >= free_at : i % every == 0;
        if (labelled) free_at = (double)i * pitch + LEAST;
        json_object *row = charts_map_row(&rows[i], order->meter, labelled);
        if (apart && rows[i].begins) json_put(row, "apart", json_new_boolean(true));
        json_append(list, row);
    }
    charts_free_rows(rows);
    json_put_text(o, "kind", "map");
    json_put(o, "width", json_new_int(order->width));
    json_put(o, "height_of_rows",
             json_new_int(charts_rows_height(all) + (apart ? (int)(groups - 1) * CHARTS_SPACE : 0)));
    json_put_text(o, "unit", meter_of(order->meter)->unit);
    json_put(o, "wall_ns", json_new_int64((last + 1) * nodes_column_ns));
    json_put(o, "from", json_new_int64(-NODES_COLUMNS * nodes_column_ns / 1000000000));
    json_put(o, "to", json_new_int64(0));
    json_put(o, "rows", list);
    nodes_lock(w->nodes);
    charts_put_incident(o, w, (last + 1) * nodes_column_ns, NULL);
    nodes_unlock(w->nodes);
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
static json_object *charts_node_request(web *w, const node *x, const charts_order *order)
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
    charts_put_incident(o, w, (last + 1) * nodes_column_ns, x);
    return o;
}

// ---- in the lane ----

static json_object *charts_request(web *w, const charts_order *order)
{
    json_object *o = NULL;
    if (strcmp(order->kind, "map") == 0) return charts_map_request(w, order);
    nodes_lock(w->nodes);
    node *x = nodes_find(w->nodes, order->node);
    if (x) o = charts_node_request(w, x, order);
    if (x) node_watch(x);
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

static void charts_give(const charts_drawing *d, http_answer *a)
{
    a->data = memory_alloc(d->size + 1);
    memcpy(a->data, d->svg, d->size + 1);
    a->size = d->size;
    a->type = "image/svg+xml";
}

static bool charts_is_fresh(const charts_drawing *d, int64_t most_ns)
{
    int64_t age = web_now() - d->at_ns;
    return age >= 0 && age <= most_ns;
}

// In the lane: what is drawn is kept, in the place of the oldest.
static void charts_keep(const char *text, charts_drawing new)
{
    pthread_mutex_lock(&charts_lock);
    charts_drawing *d = charts_find(text), old = *d;
    *d = new;
    pthread_mutex_unlock(&charts_lock);
    free(old.order);
    free(old.svg);
}

static void charts_job(void *user, char *text, http_answer *a)
{
    web *w = user;
    charts_order order = {.width = 0};
    charts_drawing *d = charts_find(text); // this thread alone changes them
    bool same = d->order && strcmp(d->order, text) == 0;
    if (!same || !charts_is_fresh(d, charts_fresh_ns)) {
        charts_drawing new = {.order = memory_strdup(text), .at_ns = web_now()};
        json_object *request = charts_parse(text, &order) ? charts_request(w, &order) : NULL;
        if (request) new.svg = charts_draw(request, &new.size, &new.failed);
        json_object_put(request);
        charts_keep(text, new);
        d = charts_find(text);
    }
    if (d->svg)
        charts_give(d, a);
    else
        http_fail(a, d->failed ? 500 : 404, d->failed ? "it could not be drawn" : "there is nothing to draw");
}

// What was drawn a moment ago is answered at once, and drawn anew for whoever asks next.
static void charts_give_kept(http_answer *a)
{
    bool draws = true;
    pthread_mutex_lock(&charts_lock);
    charts_drawing *d = charts_find(a->order);
    if (d->order && strcmp(d->order, a->order) == 0 && d->svg && charts_is_fresh(d, charts_old_ns)) {
        charts_give(d, a);
        draws = !charts_is_fresh(d, charts_fresh_ns) && !d->asked;
        d->asked |= draws;
    }
    pthread_mutex_unlock(&charts_lock);
    if (draws) return;
    free(a->order);
    a->order = NULL;
    a->job = NULL;
}

static void charts_begin(const http_request *r, http_answer *a, char *(*make)(const http_request *, int))
{
    const char *text = http_query(r, "width");
    long width = text ? strtol(text, NULL, 10) : 0;
    width = width < 240 ? 240 : width > 1600 ? 1600 : width - width % 40; // few sizes, so that drawings are shared
    a->order = make(r, (int)width);
    a->job = charts_job;
    a->lane = HTTP_CHARTS;
    charts_give_kept(a);
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

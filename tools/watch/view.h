// One view: rates of ports, the node's load, trouble, findings; and the lines of text that show them.
#ifndef WATCH_VIEW_H
#define WATCH_VIEW_H

#include "analysis/data/difference.h"
#include "analysis/rules/findings.h"
#include "history.h"
#include "lines.h"
#include "analysis/rules/rules.h"

typedef enum view_order { VIEW_AS_FOUND = 0, VIEW_BY_RATE, VIEW_BY_SHARE, VIEW_BY_NAME, VIEW_ORDERS } view_order;

// A device with traffic. Rates are bytes per second; NAN: not known.
typedef struct view_port {
    const char *name; // of the schema: not safe
    bool physical, bound[2];
    double rate[2], line_rate; // line_rate 0: not known
    double packets_per_s;      // both ways
    char *trouble;             // the worst of each kind of it, safe; "" when there is none
    style style;               // of trouble
} view_port;

// A line of the node: how much of something is in use, and details.
typedef struct view_load {
    const char *title;
    double share; // NAN: not known, or has no limit
    char *text;
} view_load;

typedef struct view_event {
    char *text;
    int rank; // the worst first
    style style;
} view_event;

// Ends with view_free(). The findings point at the difference beside them: it stays where it is.
typedef struct view {
    difference last, window; // between the last two readings; over the window
    findings findings;       // over the window
    char *host;
    int64_t wall_ns;  // of the last reading
    double elapsed_s; // between the last two
    double window_s;
    view_port *ports;
    size_t port_count;
    view_load *loads;
    size_t load_count;
    view_event *events; // counters of trouble and waiting that moved
    size_t event_count;
} view;

// NETPROF_ERR_NOSOURCE: there are no two readings yet. *out is NULL after an error.
netprof_err view_make(view **out, const history *h, const rules *set, netprof_error *error);
void view_sort(view *v, view_order order);
void view_free(view *v); // NULL too

const char *view_order_name(view_order order);
// "ok: no fault found", in the style of its severity, as a part of the last line.
void view_verdict(const view *v, lines *l);
// The rest, in l->width columns; without bars and cuts when that is 0.
void view_lines(const view *v, lines *l);

#endif

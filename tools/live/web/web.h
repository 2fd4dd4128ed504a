// What the answers are made of: the head's directory, its nodes, and how the head is. Thread rule: any, where not said
// otherwise.
#ifndef LIVE_WEB_H
#define LIVE_WEB_H

#include "growth.h"
#include "http/http.h"
#include "judged.h"
#include "nodes.h"
#include "racks.h"
#include "web_model.h"

#include "live/journal/status_file.h"

#include "analysis/base/json_values.h"

typedef struct web_head {
    bool runs, known, connected; // known: there is a status of it
    char disk_error[128];        // "": its disk takes what comes
    int64_t wall_ns, disk_since_ns, process;
    int64_t commit_ns; // the longest commit of late
    uint64_t journal_bytes, journal_limit, commits, malformed, turned_away;
    double cpu_share, memory_bytes; // of a core; NAN: not known
    double free_bytes, disk_bytes;  // of the disk of its journal; NAN
    int64_t ticks_ns;               // CPU time; -1: not known
} web_head;

typedef enum web_list { LISTED_NODES = 0, LISTED_PLAIN, LISTED_OPENMETRICS, LISTED_KINDS } web_list;

typedef struct web_listed { // listed.h
    uint64_t turn;
    char *text; // with a zero behind it; NULL: none yet
    size_t size;
    const char *type;
} web_listed;

typedef struct web {
    char *directory;
    nodes *nodes;
    web_head head;  // under nodes_lock()
    growth growth;  // of its journal; under nodes_lock()
    judged judged;  // under nodes_lock()
    racks racks;    // under nodes_lock()
    uint64_t looks; // counts up with each web_look(); under nodes_lock()
    int64_t began_ns;
    status_seen seen; // of the thread that looks, as what follows
    int64_t looked_ns;
    http_server *http;
    web_listed listed[LISTED_KINDS]; // of the lists' lane
    char *charts_style;              // CSS of the charts; NULL: no charts can be drawn here
} web;

// Reads what the head says of itself and its nodes, and what was judged, where that is new.
void web_look(web *w);
uint64_t web_turn(web *w);              // counts up with each web_look(); it locks the nodes
void web_free(web *w);                  // what web_look() has read
json_object *web_time(int64_t wall_ns); // "2025-05-02T16:27:51Z", NULL: never
void web_put_named(json_object *o, const char *name, json_object *value); // a key that may be no UTF-8
// The answer is this object, which is freed.
void web_answer(http_answer *a, json_object *o);

#endif

#define _GNU_SOURCE
#include "nodes.h"

#include "live/spool/spool_model.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const int64_t nodes_silent_ns = 30000000000, nodes_late_ns = 6000000000; // the head says it every 2 s
enum { NODES_GAPS = 32, NODES_BEHIND = 20 }; // ticks behind that are no delay to speak of: messages on their way

typedef struct nodes_named {
    char *key;
    node *value;
} nodes_named;

struct nodes {
    pthread_mutex_t turn, lock; // turn: who waits for the lock; whoever takes it again and again waits behind
    nodes_named *by_name;
    node **order; // by name; stb_ds
    size_t full;
    node *taking; // of the frame at hand
};

nodes *nodes_open(void)
{
    nodes *n = memory_calloc(1, sizeof *n);
    pthread_mutex_init(&n->turn, NULL);
    pthread_mutex_init(&n->lock, NULL);
    sh_new_strdup(n->by_name);
    return n;
}

void nodes_lock(nodes *n)
{
    pthread_mutex_lock(&n->turn);
    pthread_mutex_lock(&n->lock);
    pthread_mutex_unlock(&n->turn);
}

void nodes_unlock(nodes *n)
{
    pthread_mutex_unlock(&n->lock);
}

size_t nodes_count(const nodes *n)
{
    return arrlenu(n->order);
}

node *nodes_at(nodes *n, size_t i)
{
    return n->order[i];
}

node *nodes_find(nodes *n, const char *name)
{
    ptrdiff_t i = shgeti(n->by_name, name);
    return i >= 0 ? n->by_name[i].value : NULL;
}

// n9 before n10: digits count as numbers.
node *nodes_make(nodes *n, const char *name)
{
    node *x = memory_calloc(1, sizeof *x);
    *x = (node){.name = memory_strdup(name), .stream = stream_open(n->full < NODES_FULL), .silent_ns = -1};
    n->full++;
    shput(n->by_name, name, x);
    size_t place = 0;
    for (size_t to = arrlenu(n->order); place < to;) {
        size_t middle = place + (to - place) / 2;
        if (strverscmp(n->order[middle]->name, name) > 0)
            to = middle;
        else
            place = middle + 1;
    }
    arrput(n->order, x);
    memmove(&n->order[place + 1], &n->order[place], (arrlenu(n->order) - 1 - place) * sizeof(*n->order));
    n->order[place] = x;
    return x;
}

// ---- readings ----

static void nodes_put(node *x, int64_t from, int64_t to, const meter_reading *r)
{
    if (from < 0) from = 0; // a clock of before 1970
    if (to - from > NODES_COLUMNS) from = to - NODES_COLUMNS;
    for (int64_t c = from; c < to; c++) {
        size_t at = (size_t)(c % NODES_COLUMNS);
        x->columns[at] = c;
        for (int m = 0; m < METERS; m++)
            x->values[m][at] = (float)r->values[m];
    }
}

// A mean over a time without readings says nothing about it.
static bool nodes_is_gap(const node *x, const netprof_snapshot *s)
{
    int64_t since = s->wall_ns - x->last.wall_ns;
    return since <= 0 || (x->interval_ns && since > 3 * x->interval_ns && since > nodes_column_ns);
}

static void nodes_keep(netprof_snapshot *to, const netprof_snapshot *s)
{
    if (netprof_snapshot_copy(to, s, NULL)) memory_exhausted();
}

// Not locked but where others read.
static void nodes_take_snapshot(void *user, const netprof_snapshot *s)
{
    nodes *n = user;
    node *x = n->taking;
    meter_reading r = {.ports = NULL};
    int64_t column = s->wall_ns / nodes_column_ns;
    bool anew = !x->base.schema || nodes_is_gap(x, s), ends = false;
    if (!anew && column > x->base.wall_ns / nodes_column_ns) ends = meter_make(&r, &x->base, s);
    nodes_lock(n);
    if (x->last.schema && s->wall_ns > x->last.wall_ns) {
        if (!x->interval_ns || !anew) x->interval_ns = s->wall_ns - x->last.wall_ns;
    }
    if (ends) {
        nodes_put(x, x->base.wall_ns / nodes_column_ns, column, &r);
        meter_free(&x->now);
        x->now = r;
    }
    nodes_keep(&x->last, s);
    x->tick_ns = s->wall_ns;
    nodes_unlock(n);
    if (anew || ends) nodes_keep(&x->base, s);
}

static void nodes_take_gap(node *x, const frame *f)
{
    if (f->reason == SPOOL_RESTARTED || f->reason == SPOOL_ELSEWHERE) return; // those are not lost
    if (arrlenu(x->gaps) == NODES_GAPS) arrdel(x->gaps, 0);
    // They were between its last reading and the next.
    node_gap g = {.from_ns = x->tick_ns && x->tick_ns < f->first_ns ? x->tick_ns : f->first_ns,
                  .to_ns = f->last_ns,
                  .ticks = f->count,
                  .reason = f->reason};
    arrput(x->gaps, g);
}

void nodes_take(void *user, const char *name, int64_t came_ns, const frame *f, const unsigned char *preamble,
                size_t size)
{
    nodes *n = user;
    nodes_lock(n);
    node *x = nodes_find(n, name);
    if (!x) x = nodes_make(n, name);
    x->frames++;
    x->heard_ns = came_ns;
    if (f->is_gap) nodes_take_gap(x, f);
    if (!f->is_gap) x->ticks += f->count;
    n->taking = x;
    nodes_unlock(n);
    stream_frame(x->stream, f, preamble, size, nodes_take_snapshot, n);
}

// ---- how they stand ----

static bool node_lost_lately(const node *x, int64_t now_ns)
{
    return arrlenu(x->gaps) && arrlast(x->gaps).to_ns > now_ns - NODES_COLUMNS * nodes_column_ns;
}

// The head says it every 2 s; a frame that came since then says more.
int64_t node_silence(const node *x, int64_t now_ns)
{
    int64_t since = now_ns > x->heard_ns ? now_ns - x->heard_ns : 0;
    if (!x->known || x->silent_ns < 0) return -1;
    return x->heard_ns && since < x->silent_ns ? since : x->silent_ns;
}

node_state node_state_of(const node *x, int64_t now_ns)
{
    int64_t silent = node_silence(x, now_ns);
    if (silent < 0 || silent > nodes_silent_ns) return NODE_SILENT;
    if (node_lost_lately(x, now_ns)) return NODE_LOST;
    if (x->behind > NODES_BEHIND) return NODE_BEHIND;
    int64_t late = 3 * x->interval_ns > nodes_late_ns ? 3 * x->interval_ns : nodes_late_ns;
    return silent > late ? NODE_LATE : NODE_ON_TIME;
}

const char *node_state_name(node_state s)
{
    static const char *const names[NODE_STATES] = {"on_time", "late", "behind", "lost", "silent"};
    return names[s];
}

float node_value(const node *x, meter m, int64_t column)
{
    size_t at = (size_t)(column % NODES_COLUMNS);
    return x->columns[at] == column ? x->values[m][at] : NAN;
}

void nodes_close(nodes *n)
{
    if (!n) return;
    for (size_t i = 0; i < arrlenu(n->order); i++) {
        node *x = n->order[i];
        stream_close(x->stream);
        netprof_snapshot_free(&x->last);
        netprof_snapshot_free(&x->base);
        meter_free(&x->now);
        arrfree(x->gaps);
        free(x->name);
        free(x);
    }
    arrfree(n->order);
    shfree(n->by_name);
    pthread_mutex_destroy(&n->turn);
    pthread_mutex_destroy(&n->lock);
    free(n);
}

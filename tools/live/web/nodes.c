#define _GNU_SOURCE
#include "nodes.h"

#include "live/spool/spool_model.h"

#include "analysis/base/json_values.h"
#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"
#include "analysis/catalog/openmetrics.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const int64_t nodes_silent_ns = 30000000000, nodes_late_ns = 6000000000, // the head says it every 2 s
    nodes_watch_ns = 60000000000;
// NODES_BEHIND: ticks behind that are no delay to speak of: messages on their way. NODES_APART: from one reading that needs none
// before it to the next, at most, in ticks.
enum { NODES_GAPS = 32, NODES_BEHIND = 20, NODES_APART = 64 };

typedef struct nodes_named {
    char *key;
    node *value;
} nodes_named;

struct nodes {
    pthread_mutex_t turn, lock; // turn: who waits for the lock; whoever takes it again and again waits behind
    nodes_named *by_name;
    node **order; // by name; stb_ds
    // Of the thread that takes:
    kept_schemas *schemas;
    node *taking; // of the frame at hand
    const unsigned char *hash;
    kept spare; // memory for the next reading
    netprof_snapshot before;
};

nodes *nodes_open(void)
{
    nodes *n = memory_calloc(1, sizeof *n);
    pthread_mutex_init(&n->turn, NULL);
    pthread_mutex_init(&n->lock, NULL);
    sh_new_strdup(n->by_name);
    n->schemas = kept_schemas_open();
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

size_t nodes_schemas(const nodes *n)
{
    return kept_schemas_count(n->schemas);
}

static char *nodes_json_name(const char *name)
{
    json_object *o = json_text_value(name);
    char *text = memory_strdup(json_to_text(o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
    json_object_put(o);
    return text;
}

static char *nodes_label(const char *name)
{
    char *inside = openmetrics_label(memory_strdup(""), "host", name),
         *text = *inside ? memory_format("{%s}", inside) : memory_strdup("");
    free(inside);
    return text;
}

// Not locked but where others read.
static void nodes_take_fact(void *user, const netprof_fact *f)
{
    nodes *n = user;
    node *x = n->taking;
    bool is_version = strcmp(f->key, "agent_version") == 0 && strcmp(f->value, x->version) != 0,
         is_clock = strcmp(f->key, "clock_synchronised") == 0 && *f->value != x->clock;
    if (!is_version && !is_clock) return;
    nodes_lock(n);
    if (is_version) snprintf(x->version, sizeof x->version, "%s", f->value);
    if (is_clock) x->clock = *f->value == 'y' || *f->value == 'n' ? *f->value : 0;
    nodes_unlock(n);
}

// n9 before n10: digits count as numbers.
node *nodes_make(nodes *n, const char *name)
{
    node *x = memory_calloc(1, sizeof *x);
    *x = (node){.name = memory_strdup(name),
                .json = nodes_json_name(name),
                .label = nodes_label(name),
                .stream = stream_open(nodes_column_ns, nodes_take_fact, n),
                .delay = {.least_ns = INT64_MAX, .before_ns = INT64_MAX},
                .silent_ns = -1};
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

// Nothing was measured from the one column on up to the other.
static void nodes_clear(float *values, int64_t from, int64_t to)
{
    if (to - from > NODES_COLUMNS) from = to - NODES_COLUMNS;
    if (from < 0) from = 0;
    for (int64_t c = from; values && c < to; c++)
        values[c % NODES_COLUMNS] = NAN;
}

static void nodes_put(node *x, int64_t from, int64_t to, const meter_reading *r)
{
    if (from < 0) from = 0; // a clock of before 1970
    if (to - from > NODES_COLUMNS) from = to - NODES_COLUMNS;
    if (to <= from) return;
    // A clock that went back by a little writes over what was there; by more, it begins anew.
    bool anew = to - 1 <= x->newest - NODES_COLUMNS;
    for (int m = 0; m < METERS; m++) {
        bool first = !x->values[m] && !isnan(r->values[m]);
        if (first) x->values[m] = memory_array(NULL, NODES_COLUMNS, sizeof(float));
        nodes_clear(x->values[m], anew || first ? from - NODES_COLUMNS : x->newest + 1, from);
        for (int64_t c = from; x->values[m] && c < to; c++)
            x->values[m][c % NODES_COLUMNS] = (float)r->values[m];
    }
    if (anew || to - 1 > x->newest) x->newest = to - 1;
}

// A mean over a time without readings says nothing about it.
static bool nodes_is_gap(const node *x, const netprof_snapshot *s)
{
    int64_t since = s->wall_ns - x->last.wall_ns,
            most = 3 * x->interval_ns * (x->care != STREAM_KEYS && x->followed ? 1 : NODES_APART);
    return x->broken || since <= 0 || (most && since > most && since > nodes_column_ns);
}

// The means up to here, against the first reading of the column at hand, which has to be of the same schema.
static bool nodes_measure(nodes *n, const node *x, const netprof_snapshot *s, meter_reading *r)
{
    const kept *base = x->base.schema ? &x->base : &x->last;
    if (!kept_is_of(base, s->schema, n->hash)) return false;
    kept_give(base, s->schema, &n->before);
    bool made = meter_make(r, &n->before, s);
    // It holds a schema of its own while nobody needs it.
    netprof_snapshot_free(&n->before);
    return made;
}

// Locked: the new reading is in n->spare; what is not needed any more becomes it.
static void nodes_replace(nodes *n, node *x, bool begins_column)
{
    kept old = x->last;
    x->last = n->spare;
    n->spare = old;
    if (begins_column) {
        kept_free(&x->base, n->schemas); // the last one is the first of its column
    } else if (!x->base.schema) {
        x->base = old;
        n->spare = (kept){.schema = NULL};
    }
}

// Not locked but where others read.
static void nodes_take_snapshot(void *user, const netprof_snapshot *s)
{
    nodes *n = user;
    node *x = n->taking;
    meter_reading r = {.ports = NULL};
    int64_t column = s->wall_ns / nodes_column_ns, base_ns = x->base.schema ? x->base.wall_ns : x->last.wall_ns;
    bool anew = !x->last.schema || nodes_is_gap(x, s), ends = false;
    if (!anew && column > base_ns / nodes_column_ns) {
        ends = nodes_measure(n, x, s, &r);
        anew = !ends; // another schema, or another boot
    }
    kept_take(&n->spare, &x->last, n->schemas, s, n->hash);
    x->broken = false;
    x->followed = x->care != STREAM_KEYS;
    nodes_lock(n);
    if (ends) {
        nodes_put(x, base_ns / nodes_column_ns, column, &r);
        meter_free(&x->now);
        x->now = r;
    }
    nodes_replace(n, x, anew || ends);
    x->tick_ns = s->wall_ns;
    nodes_unlock(n);
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

// Agents read on time but for moments, which are no part of the interval: about the same is made the mean of, another is taken.
static int64_t nodes_interval(int64_t before_ns, int64_t now_ns)
{
    int64_t more = now_ns - before_ns;
    return before_ns && llabs(more) < before_ns / 8 ? before_ns + more / 16 : now_ns;
}

static void nodes_follow(node *x, const frame *f)
{
    static const int64_t nodes_day_ns = INT64_C(86400000000000);
    bool follows = x->next == f->first && memcmp(x->id, f->stream, sizeof x->id) == 0;
    int64_t took = 0, ticks = f->count > 1 ? (int64_t)(f->count - 1) : 1;
    // Times that are none, of whoever sends: no reading is a day apart.
    bool known = !f->is_gap && (f->count > 1 || follows) &&
                 !__builtin_sub_overflow(f->count > 1 ? f->last_ns : f->first_ns,
                                         f->count > 1 ? f->first_ns : x->frame_ns, &took);
    int64_t interval = known ? took / ticks : 0;
    if (interval > 0 && interval <= nodes_day_ns) x->interval_ns = nodes_interval(x->interval_ns, interval);
    x->broken |= f->is_gap || !follows;
    memcpy(x->id, f->stream, sizeof x->id);
    x->next = frame_last(f) + 1;
    x->frame_ns = f->last_ns;
}

static const int64_t nodes_minute_ns = INT64_C(60000000000);

static void nodes_follow_clock(node *x, const frame *f, int64_t came_ns)
{
    node_delay *d = &x->delay;
    int64_t minute = came_ns / nodes_minute_ns, delay_ns;
    if (f->is_gap || __builtin_sub_overflow(came_ns, f->last_ns, &delay_ns)) return;
    if (minute != d->minute) *d = (node_delay){minute, INT64_MAX, minute == d->minute + 1 ? d->least_ns : INT64_MAX};
    if (delay_ns < d->least_ns) d->least_ns = delay_ns;
}

int64_t node_least_delay(const node *x, int64_t now_ns)
{
    const node_delay *d = &x->delay;
    int64_t passed = now_ns / nodes_minute_ns - d->minute;
    if (passed < 0 || passed > 1) return INT64_MAX;
    return passed == 0 && d->before_ns < d->least_ns ? d->before_ns : d->least_ns;
}

// From the first instant on, so that 0 is long ago.
static int64_t nodes_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec + nodes_watch_ns;
}

void node_watch(node *x)
{
    x->watched_ns = nodes_clock();
}

static void nodes_choose_care(const nodes *n, node *x)
{
    bool looked_at = nodes_clock() - x->watched_ns < nodes_watch_ns;
    stream_care care = nodes_count(n) <= NODES_AT_ONCE             ? STREAM_AT_ONCE
                       : nodes_count(n) <= NODES_FULL || looked_at ? STREAM_BY_COLUMN
                                                                   : STREAM_KEYS;
    if (care != x->care) x->followed = false; // reading begins anew
    x->care = care;
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
    nodes_follow(x, f);
    nodes_follow_clock(x, f, came_ns);
    if (f->is_gap) nodes_take_gap(x, f);
    if (!f->is_gap) x->ticks += f->count;
    nodes_choose_care(n, x);
    nodes_unlock(n);
    n->taking = x;
    n->hash = f->hash;
    stream_frame(x->stream, x->care, f, preamble, size, nodes_take_snapshot, n);
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
    bool there = column >= 0 && column <= x->newest && column > x->newest - NODES_COLUMNS && x->values[m];
    return there ? x->values[m][column % NODES_COLUMNS] : NAN;
}

void node_values(const node *x, meter m, int64_t last, float to[NODES_COLUMNS])
{
    for (int64_t k = 0; k < NODES_COLUMNS; k++)
        to[k] = node_value(x, m, last - NODES_COLUMNS + 1 + k);
}

static void node_brief_of(node_brief *b, const node *x, int64_t now_ns)
{
    *b = (node_brief){.name = x->name,
                      .json = x->json,
                      .label = x->label,
                      .state = node_state_of(x, now_ns),
                      .silence_ns = node_silence(x, now_ns),
                      .tick_ns = x->tick_ns,
                      .interval_ns = x->interval_ns,
                      .behind = x->behind,
                      .lost = x->lost,
                      .durable = x->durable,
                      .known = x->known,
                      .measured = x->now.ports != NULL,
                      .has_gpus = x->now.gpus > 0,
                      .clock = x->clock,
                      .delay_ns = node_least_delay(x, now_ns)};
    memcpy(b->version, x->version, sizeof b->version);
    memcpy(b->values, x->now.values, sizeof b->values);
}

node_brief *nodes_briefs(nodes *n, size_t *count)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    const int64_t now_ns = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
    nodes_lock(n);
    *count = nodes_count(n);
    node_brief *all = memory_array(NULL, *count + 1, sizeof *all);
    for (size_t i = 0; i < *count; i++)
        node_brief_of(&all[i], n->order[i], now_ns);
    nodes_unlock(n);
    return all;
}

void nodes_visit(nodes *n, void (*visit)(void *user, node *x), void *user)
{
    enum { AT_ONCE = 64 };
    nodes_lock(n);
    size_t count = nodes_count(n);
    node **all = memory_array(NULL, count + 1, sizeof(*all)); // one that is new meanwhile moves the others
    if (count) memcpy(all, n->order, count * sizeof(*all));
    for (size_t i = 0; i < count; i++) {
        if (i && i % AT_ONCE == 0) {
            nodes_unlock(n);
            nodes_lock(n);
        }
        visit(user, all[i]);
    }
    nodes_unlock(n);
    free(all);
}

void nodes_close(nodes *n)
{
    if (!n) return;
    for (size_t i = 0; i < arrlenu(n->order); i++) {
        node *x = n->order[i];
        stream_close(x->stream);
        for (int m = 0; m < METERS; m++)
            free(x->values[m]);
        kept_free(&x->last, n->schemas);
        kept_free(&x->base, n->schemas);
        meter_free(&x->now);
        arrfree(x->gaps);
        free(x->name);
        free(x->json);
        free(x->label);
        free(x);
    }
    arrfree(n->order);
    shfree(n->by_name);
    kept_free(&n->spare, n->schemas);
    kept_schemas_close(n->schemas);
    netprof_snapshot_free(&n->before);
    pthread_mutex_destroy(&n->turn);
    pthread_mutex_destroy(&n->lock);
    free(n);
}

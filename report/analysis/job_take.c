// Snapshots as they come: cut down to what a meter is made of, differenced by netprof_diff(), added to the lanes.
#include "job_report_private.h"

#include "catalog.h"
#include "text.h"
#include "traffic.h"

#include <stdlib.h>
#include <string.h>

enum { RECENT = 9, TRACKS_MOST = 8, EPISODES_MOST = 4096 };

// What a followed counter is beside the rows of meters.
typedef enum other {
    OTHER_NONE = 0,
    OTHER_TROUBLE,
    OTHER_MISSED,   // of the recorder: ticks
    OTHER_LATE,     // ns
    OTHER_RECORDER, // CPU time of it, ns
    OTHER_PEAK,
    OTHER_LIMIT, // of the control group's memory
    OTHER_TOTAL, // memory of the node
    OTHER_GPU_MEMORY,
    OTHER_GPU_POWER,
    OTHER_GPU_CLOCK
} other;

typedef struct followed {
    size_t from; // index in the file's schema
    const job_source_row *row; // NULL: no meter is made of it
    other other;
    size_t local; // device, or JOB_NONE
    size_t event;
    double factor, other_factor;
    bool off; // another track follows it more closely
} followed;

// What is collected in one step for one lane.
typedef struct slot {
    bool touched, level, unknown, stale, reset;
    size_t parts;
    double value, before, after, amount, elapsed_s;
    int64_t pending_ns; // since then amounts wait for a counter that was not refreshed
    double pending;
    bool pending_gap;
} slot;

typedef struct watching {
    int64_t window_ns, from_ns, to_ns; // window: begin of the second at hand; from..to: the episode, 0 none
    double window, integral, high;     // of the value: in the window, in the episode
    double window_retries, retries;    // of the NIC meanwhile
} watching;

typedef struct local_device {
    size_t device; // of the report
    bool chosen;   // its bytes count
    slot slots[JOB_METERS];
    watching watched[JOB_METERS];
} local_device;

// The readings of one rate in one file.
typedef struct track {
    char *key;
    const netprof_schema *schema, *small;
    followed *followed; // beside small->counters
    size_t count, room;
    netprof_snapshot last, cut;
    bool has_last, slow;
    int64_t last_wall_ns, last_mono_ns, interval_ns, recent[RECENT];
    size_t steps;
} track;

typedef struct job_run_reader run_reader;
struct job_run_reader {
    size_t node, number; // number: of the node's runs
    int64_t shift_ns;
    track tracks[TRACKS_MOST];
    size_t track_count;
    local_device *devices;
    size_t device_count, device_room;
    slot slots[JOB_METERS][JOB_SCOPES];
    bool overlapped;
};

// ---- lanes ----

job_lane *job_lane_make(job_meter meter, size_t node, size_t device)
{
    job_lane *lane = calloc(1, sizeof *lane);
    if (!lane || !(lane->bins = job_bins_make())) {
        free(lane);
        return NULL;
    }
    *lane = (job_lane){.meter = meter, .node = node, .device = device, .capacity = NAN, .mean = NAN, .low = NAN,
                       .high = NAN, .total = NAN, .first = NAN, .last = NAN, .bins = lane->bins};
    return lane;
}

void job_lane_free(job_lane *lane)
{
    if (!lane) return;
    job_bins_free(lane->bins);
    free(lane);
}

// Is this time covered by another file of the node?
static bool is_covered(const job_report *r, int64_t from_ns, int64_t to_ns)
{
    const job_node_reader *node = &r->reader->nodes[r->reader->run->node];
    for (size_t i = 0; i < r->reader->run->number; i++)
        if (from_ns < node->runs[i][1] && to_ns > node->runs[i][0]) return true;
    return false;
}

// ---- episodes beyond a limit ----

static bool end_episode(job_report *r, const job_watch_row *x, watching *w, size_t device)
{
    job_reader *reader = r->reader;
    double length = (double)(w->to_ns - w->from_ns) * 1e-9;
    bool worth = w->from_ns && length >= x->least_s && w->integral > x->limit * length;
    job_episode e = {device, x->meter, w->from_ns, w->to_ns, length > 0 ? w->integral / length : 0, w->high, w->retries};
    w->from_ns = w->to_ns = 0;
    w->integral = w->high = w->retries = 0;
    if (!worth || reader->episode_count == EPISODES_MOST) return true;
    if (!job_grow(&reader->episodes, reader->episode_count, &reader->episode_room, sizeof e)) return false;
    reader->episodes[reader->episode_count++] = e;
    return true;
}

// A second, or a step where steps are longer. Ten such below the limit end an episode.
static bool watch_window(job_report *r, const job_watch_row *x, watching *w, size_t device, int64_t from_ns, int64_t to_ns)
{
    double length = (double)(to_ns - from_ns) * 1e-9, value = w->window / length;
    bool beyond = value > x->limit, good = true;
    if (w->from_ns && from_ns - w->to_ns > 10 * (to_ns - from_ns)) good = end_episode(r, x, w, device);
    if (!beyond) return good;
    if (!w->from_ns) w->from_ns = from_ns;
    w->to_ns = to_ns;
    w->integral += w->window;
    w->retries += w->window_retries;
    w->high = fmax(w->high, value);
    return good;
}

static bool watch(job_report *r, job_meter meter, local_device *local, int64_t from_ns, int64_t to_ns, double value)
{
    const job_watch_row *x = job_watch_of(meter);
    watching *w = &local->watched[meter];
    if (!x) return true;
    if (!w->window_ns) w->window_ns = from_ns;
    if (from_ns - w->window_ns > 1000000000) { // behind a gap
        w->window_ns = from_ns;
        w->window = w->window_retries = 0;
    }
    const slot *retries = &local->slots[JOB_RETRIES];
    w->window += value * ((double)(to_ns - from_ns) * 1e-9);
    if (retries->touched && !retries->unknown) w->window_retries += retries->amount;
    if (to_ns - w->window_ns < 1000000000) return true;
    bool good = watch_window(r, x, w, local->device, w->window_ns, to_ns);
    w->window_ns = to_ns;
    w->window = w->window_retries = 0;
    return good;
}

static bool end_episodes(job_report *r)
{
    run_reader *run = r->reader->run;
    bool good = true;
    for (size_t i = 0; i < run->device_count; i++)
        for (int m = 0; m < JOB_METERS; m++)
            if (job_watch_of((job_meter)m))
                good &= end_episode(r, job_watch_of((job_meter)m), &run->devices[i].watched[m], run->devices[i].device);
    return good;
}

// ---- a step of a lane ----

typedef struct step {
    int64_t from_ns, to_ns;
    bool gap; // samples are missing within
} step;

static double length_of(const step *s)
{
    return (double)(s->to_ns - s->from_ns) * 1e-9;
}

static bool add_rate(job_lane *lane, const step *s, double value, double amount)
{
    lane->total = isnan(lane->total) ? amount : lane->total + amount;
    if (s->gap) return job_bins_skip(lane->bins, s->from_ns, s->to_ns, amount);
    lane->known_s += length_of(s);
    lane->low = fmin(lane->low, value);
    lane->high = fmax(lane->high, value);
    return job_bins_add(lane->bins, s->from_ns, s->to_ns, value, value, value);
}

static bool add_level(job_lane *lane, const step *s, double before, double after)
{
    double low = fmin(before, after), high = fmax(before, after), mean = (before + after) / 2;
    if (isnan(lane->first)) lane->first = before;
    lane->last = after;
    lane->low = fmin(lane->low, low);
    lane->high = fmax(lane->high, high);
    if (s->gap) {
        lane->lower_bound = true;
        return true;
    }
    lane->known_s += length_of(s);
    if (*job_meter_of(lane->meter)->total_unit)
        lane->total = (isnan(lane->total) ? 0 : lane->total) + mean * length_of(s);
    return job_bins_add(lane->bins, s->from_ns, s->to_ns, mean, low, high);
}

static void drop_pending(slot *s)
{
    s->pending_ns = 0;
    s->pending = 0;
    s->pending_gap = false;
}

// Something was not refreshed since the last reading: its amount comes later, with a longer step.
static void wait(slot *s, const step *at)
{
    if (!s->pending_ns) s->pending_ns = at->from_ns;
    s->pending += s->amount;
    s->pending_gap |= at->gap;
}

// The slot's step into its lane. *at becomes the step as it was taken.
static bool flush(job_lane *lane, slot *s, step *at)
{
    if (s->unknown) {
        lane->resets += s->reset;
        lane->lower_bound = true;
        drop_pending(s);
        return true;
    }
    if (s->level) return add_level(lane, at, s->before, s->after);
    double amount = s->amount + s->pending, value = s->value;
    if (s->pending_ns) {
        at->from_ns = s->pending_ns;
        at->gap |= s->pending_gap;
        value = amount / length_of(at);
    }
    drop_pending(s);
    s->value = value;
    return add_rate(lane, at, value, amount);
}

// ---- slots ----

static void touch(slot *s)
{
    if (s->touched) return;
    *s = (slot){.touched = true, .pending_ns = s->pending_ns, .pending = s->pending, .pending_gap = s->pending_gap};
}

static void join(slot *s, job_join how, double value, double amount)
{
    s->value = how == JOB_MOST ? fmax(s->value, value) : s->value + value;
    s->amount = how == JOB_MOST ? fmax(s->amount, amount) : s->amount + amount;
    s->parts++;
}

static void join_unknown(slot *s, uint8_t flag)
{
    touch(s);
    s->unknown = true;
    s->reset |= flag == NETPROF_FLAG_RESET;
}

static bool was_asked_for(const netprof_delta *delta, size_t k)
{
    return delta->before_status[k] != NETPROF_STATUS_SKIPPED && delta->after_status[k] != NETPROF_STATUS_SKIPPED;
}

static void add_counter(slot *s, const followed *f, const netprof_delta *delta, size_t k)
{
    uint8_t flag = delta->flags[k];
    double amount = (double)delta->values[k] * f->factor;
    if (flag == NETPROF_FLAG_NEW || flag == NETPROF_FLAG_GONE || !was_asked_for(delta, k)) return;
    touch(s);
    if (flag != NETPROF_FLAG_OK && flag != NETPROF_FLAG_WRAPPED) {
        join_unknown(s, flag);
    } else if (delta->elapsed_ns[k] <= 0) {
        s->stale = true;
        join(s, f->row->join, 0, amount);
    } else {
        double elapsed = (double)delta->elapsed_ns[k] * 1e-9;
        join(s, f->row->join, amount / elapsed, amount);
        s->elapsed_s = fmax(s->elapsed_s, elapsed);
    }
}

static void add_gauge(slot *s, const followed *f, const netprof_delta *delta, size_t k)
{
    if (delta->flags[k] != NETPROF_FLAG_GAUGE || !was_asked_for(delta, k)) return;
    touch(s);
    s->level = true;
    if (delta->before_status[k] != NETPROF_STATUS_OK || delta->after_status[k] != NETPROF_STATUS_OK) {
        s->unknown = true;
        return;
    }
    s->before += (double)delta->before[k] * f->factor;
    s->after += (double)delta->after[k] * f->factor;
    s->parts++;
}

static slot *slot_of(run_reader *run, const followed *f)
{
    const job_source_row *row = f->row;
    return row->of_device ? &run->devices[f->local].slots[row->meter] : &run->slots[row->meter][row->scope];
}

// A device's slot joins its node's.
static void join_node(run_reader *run, local_device *local, job_meter meter)
{
    slot *from = &local->slots[meter], *to = &run->slots[meter][JOB_SCOPE_NODE];
    job_join how = job_device_join(meter);
    touch(to);
    to->unknown |= from->unknown;
    to->stale |= from->stale;
    to->reset |= from->reset;
    if (from->unknown) return;
    join(to, how, from->value, from->amount);
    to->level |= from->level;
    to->before += from->before;
    to->after += from->after;
}

// The lane of a slot, made when it is first needed.
static job_lane *lane_at(job_lane **place, job_meter meter, size_t node, size_t device)
{
    if (!*place) *place = job_lane_make(meter, node, device);
    return *place;
}

static bool flush_device(job_report *r, local_device *local, job_meter meter, const step *whole)
{
    run_reader *run = r->reader->run;
    slot *s = &local->slots[meter];
    job_device *device = &r->devices[local->device];
    step at = *whole;
    if (!s->touched) return true;
    if (meter != JOB_SENT && meter != JOB_RECEIVED) join_node(run, local, meter);
    else if (local->chosen) join_node(run, local, meter);
    else return true;
    job_lane *lane = lane_at(&device->lanes[meter], meter, run->node, local->device);
    if (!lane) return false;
    if (!s->level && s->stale && !s->unknown) {
        wait(s, &at);
        return true;
    }
    // By its own stamps.
    if (!s->pending_ns && s->elapsed_s > 0 && !at.gap) at.from_ns = at.to_ns - (int64_t)llround(s->elapsed_s * 1e9);
    bool known = !s->unknown && !at.gap;
    return flush(lane, s, &at) && (!known || s->level || watch(r, meter, local, at.from_ns, at.to_ns, s->value));
}

static void average(slot *s)
{
    if (!s->parts) return;
    s->value /= (double)s->parts;
    s->before /= (double)s->parts;
    s->after /= (double)s->parts;
}

static bool flush_node(job_report *r, job_meter meter, int scope, const step *whole)
{
    run_reader *run = r->reader->run;
    slot *s = &run->slots[meter][scope];
    step at = *whole;
    if (!s->touched) return true;
    if (job_meter_of(meter)->of_devices && job_device_join(meter) == JOB_MEAN) average(s);
    // Memory in use is a difference of two: one alone tells nothing.
    if (meter == JOB_NODE_MEMORY && s->parts < 2) s->unknown = true;
    job_lane *lane = lane_at(&r->reader->nodes[run->node].lanes[meter][scope], meter, run->node, JOB_NONE);
    if (!lane) return false;
    if (!s->level && s->stale && !s->unknown) {
        wait(s, &at);
        return true;
    }
    return flush(lane, s, &at);
}

static bool flush_all(job_report *r, const step *at)
{
    run_reader *run = r->reader->run;
    bool good = true;
    for (size_t i = 0; i < run->device_count; i++)
        for (int m = 0; m < JOB_METERS; m++)
            good = good && flush_device(r, &run->devices[i], (job_meter)m, at);
    for (int m = 0; m < JOB_METERS; m++)
        for (int scope = 0; scope < JOB_SCOPES; scope++)
            good = good && flush_node(r, (job_meter)m, scope, at);
    for (size_t i = 0; i < run->device_count; i++)
        for (int m = 0; m < JOB_METERS; m++) run->devices[i].slots[m].touched = false;
    for (int m = 0; m < JOB_METERS; m++)
        for (int scope = 0; scope < JOB_SCOPES; scope++) run->slots[m][scope].touched = false;
    return good;
}

// ---- what is no meter ----

static bool add_trouble(job_report *r, const followed *f, const netprof_delta *delta, size_t k, const step *at)
{
    uint8_t flag = delta->flags[k];
    double amount = (double)delta->values[k];
    job_reader *reader = r->reader;
    if ((flag != NETPROF_FLAG_OK && flag != NETPROF_FLAG_WRAPPED) || !(amount > 0)) return true;
    job_event *event = &r->events[f->event];
    if (!event->bins && !(event->bins = job_bins_make())) return false;
    event->sum += amount;
    size_t device = reader->run->devices[f->local].device;
    size_t i = 0;
    // A device's are near the end while its file is read.
    for (i = reader->trouble_count; i > 0; i--)
        if (reader->troubles[i - 1].event == f->event && reader->troubles[i - 1].device == device) break;
    if (!i) {
        if (!job_grow(&reader->troubles, reader->trouble_count, &reader->trouble_room, sizeof *reader->troubles)) return false;
        reader->troubles[reader->trouble_count++] = (job_trouble){f->event, device, 0};
        i = reader->trouble_count;
    }
    reader->troubles[i - 1].sum += amount;
    double rate = amount / length_of(at);
    return job_bins_add(event->bins, at->from_ns, at->to_ns, rate, rate, rate);
}

static bool add_other(job_report *r, const followed *f, const netprof_delta *delta, size_t k, const step *at)
{
    job_node *node = &r->nodes[r->reader->run->node];
    job_node_reader *more = &r->reader->nodes[r->reader->run->node];
    bool counted = delta->flags[k] == NETPROF_FLAG_OK;
    double now = (double)delta->after[k];
    bool there = delta->after_status[k] == NETPROF_STATUS_OK;
    switch (f->other) {
    case OTHER_TROUBLE: return add_trouble(r, f, delta, k, at);
    case OTHER_MISSED: node->missed += counted ? delta->values[k] : 0; break;
    case OTHER_LATE:
        if (there) node->late_s = fmax(node->late_s, now * 1e-9);
        break;
    case OTHER_RECORDER:
        if (counted) more->recorder_ns += delta->values[k];
        if (counted) more->recorder_s += length_of(at);
        break;
    case OTHER_PEAK:
        if (there) node->memory_peak = fmax(node->memory_peak, now);
        break;
    case OTHER_LIMIT:
        if (there) more->memory_limit = isnan(more->memory_limit) ? now : fmin(more->memory_limit, now);
        break;
    case OTHER_TOTAL:
        if (there) more->memory_total = now;
        break;
    default: break;
    }
    return true;
}

// The GPU's capacities are gauges that do not change.
static bool add_capacity(job_report *r, const followed *f, const netprof_delta *delta, size_t k)
{
    static const struct {
        other other;
        job_meter meter;
    } of[] = {{OTHER_GPU_MEMORY, JOB_GPU_MEMORY}, {OTHER_GPU_POWER, JOB_POWER_GPU}, {OTHER_GPU_CLOCK, JOB_GPU_CLOCK}};
    run_reader *run = r->reader->run;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        if (of[i].other != f->other || f->local == JOB_NONE || delta->after_status[k] != NETPROF_STATUS_OK) continue;
        size_t device = run->devices[f->local].device;
        job_lane *lane = lane_at(&r->devices[device].lanes[of[i].meter], of[i].meter, run->node, device);
        if (!lane) return false;
        lane->capacity = (double)delta->after[k] * f->other_factor;
    }
    return true;
}

static size_t place_of(const track *t, const netprof_delta *delta, size_t i)
{
    const netprof_counter *c = &t->small->counters[i];
    const netprof_device *d = &t->small->devices[c->device];
    return delta->schema == t->small ? i : netprof_find(delta->schema, d->source, d->name, c->name);
}

static bool add_difference(job_report *r, track *t, const netprof_delta *delta, const step *at)
{
    run_reader *run = r->reader->run;
    bool good = true;
    for (size_t i = 0; i < t->count && good; i++) {
        const followed *f = &t->followed[i];
        size_t k = f->off ? NETPROF_NONE : place_of(t, delta, i);
        if (k == NETPROF_NONE) continue;
        if (f->other >= OTHER_GPU_MEMORY) good = add_capacity(r, f, delta, k);
        else if (f->other) good = add_other(r, f, delta, k, at);
        if (f->row && f->row->kind == JOB_RATE) add_counter(slot_of(run, f), f, delta, k);
        else if (f->row) add_gauge(slot_of(run, f), f, delta, k);
    }
    return good && flush_all(r, at);
}

// ---- devices ----

static bool has_byte_counters(const netprof_schema *schema, const netprof_device *d)
{
    for (size_t i = d->first; i < (size_t)d->first + d->count; i++)
        if (catalog_marks(d->source, schema->counters[i].name) & (CATALOG_TX_BYTES | CATALOG_RX_BYTES)) return true;
    return false;
}

static bool is_repeated(const netprof_schema *schema, size_t device)
{
    for (size_t i = 0; i < schema->device_count; i++)
        if (i != device && traffic_counts_the_same(&schema->devices[i], &schema->devices[device]) &&
            has_byte_counters(schema, &schema->devices[i]))
            return true;
    return false;
}

// How near a device is to what a node sends: a physical port, else another device, else the loopback.
static int nearness(const netprof_schema *schema, size_t device)
{
    const netprof_device *d = &schema->devices[device];
    if (!has_byte_counters(schema, d) || is_repeated(schema, device)) return 0;
    return d->flags & NETPROF_DEVICE_PHYSICAL ? 3 : strcmp(d->name, "lo") != 0 ? 2 : 1;
}

static bool is_chosen(const netprof_schema *schema, size_t device)
{
    int own = nearness(schema, device), best = 0;
    for (size_t i = 0; i < schema->device_count && own; i++) {
        int near = nearness(schema, i);
        if (near > best) best = near;
    }
    return own && own == best;
}

// ethtool tells of the network interface of its name.
static const netprof_device *stands_for(const netprof_schema *schema, const netprof_device *d)
{
    for (size_t i = 0; i < schema->device_count && strcmp(d->source, "ethtool") == 0; i++)
        if (strcmp(schema->devices[i].source, "netdev") == 0 && strcmp(schema->devices[i].name, d->name) == 0)
            return &schema->devices[i];
    return d;
}

static size_t find_device(job_report *r, const netprof_device *d)
{
    size_t node = r->reader->run->node;
    for (size_t i = 0; i < r->device_count; i++)
        if (r->devices[i].node == node && strcmp(r->devices[i].source, d->source) == 0 &&
            strcmp(r->devices[i].name, d->name) == 0)
            return i;
    if (!job_grow(&r->devices, r->device_count, &r->reader->device_room, sizeof *r->devices)) return JOB_NONE;
    double rate = traffic_bits_per_s(d) / 8;
    job_device *to = &r->devices[r->device_count];
    *to = (job_device){.node = node, .source = strdup(d->source), .name = strdup(d->name), .line_rate = rate > 0 ? rate : NAN};
    r->device_count++;
    return to->source && to->name ? r->device_count - 1 : JOB_NONE;
}

// The device of the file at hand; JOB_NONE without memory.
static size_t find_local(job_report *r, const netprof_schema *schema, size_t device)
{
    run_reader *run = r->reader->run;
    const netprof_device *d = stands_for(schema, &schema->devices[device]);
    size_t found = find_device(r, d), at = (size_t)(d - schema->devices);
    for (size_t i = 0; i < run->device_count; i++)
        if (run->devices[i].device == found) return i;
    if (found == JOB_NONE || !job_grow(&run->devices, run->device_count, &run->device_room, sizeof *run->devices))
        return JOB_NONE;
    run->devices[run->device_count] = (local_device){.device = found, .chosen = is_chosen(schema, at)};
    return run->device_count++;
}

// ---- what is followed ----

static double clock_of(const netprof_device *d)
{
    const char *version = netprof_fact_of(d->facts, d->fact_count, "cassini_version");
    return version && *version == '2' ? 1.1e9 : 1e9;
}

// From the counter's unit; 0: it cannot be told.
static double factor_of(const job_source_row *row, const netprof_device *d, const netprof_counter *c)
{
    if (row->meter == JOB_PAUSED && strcmp(d->source, "cxi") == 0) return 1 / clock_of(d);
    if (row->meter == JOB_PAUSED && strcmp(d->source, "rdma") == 0) {
        double bits = traffic_bits_per_s(d);
        return bits > 0 ? row->factor * 8 / bits : 0;
    }
    if (strcmp(d->source, "gpu") == 0 && c->unit && (row->meter == JOB_GPU_CLOCK) && strcmp(c->unit, "Hz") == 0) return 1;
    double seconds = row->factor > 0 || row->factor < 0 ? 0 : job_seconds_of_unit(c->unit ? c->unit : "");
    return row->factor > 0 || row->factor < 0 ? row->factor : seconds;
}

// What no meter is made of, by name.
static const struct {
    const char *source, *device, *counter;
    other other;
    double factor;
} others[] = {
    {"user", "recorder", "ticks_missed", OTHER_MISSED, 1},
    {"user", "recorder", "late", OTHER_LATE, 1},
    {"self", "*", "cpu_time", OTHER_RECORDER, 1},
    {"cgroup", "*", "memory_peak", OTHER_PEAK, 1},
    {"cgroup", "*", "memory_limit", OTHER_LIMIT, 1},
    {"memory", "*", "MemTotal", OTHER_TOTAL, 1},
    {"gpu", "*", "memory_total", OTHER_GPU_MEMORY, 1},
    {"gpu", "*", "power_limit", OTHER_GPU_POWER, 1e-6},
    {"gpu", "*", "clock_max", OTHER_GPU_CLOCK, 1e6},
};

static other other_of(const netprof_device *d, const netprof_counter *c, double *factor)
{
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (strcmp(others[i].source, d->source) != 0 || strcmp(others[i].counter, c->name) != 0) continue;
        if (!text_like(others[i].device, d->name)) continue;
        *factor = others[i].factor;
        return others[i].other;
    }
    return OTHER_NONE;
}

// What the catalog says of a counter, looked up once for all files.
typedef struct known_counter {
    char *name;
    bool trouble;
    uint32_t bytes; // CATALOG_TX_BYTES, CATALOG_RX_BYTES or 0
    size_t event;   // JOB_NONE before it was met
} known_counter;

struct job_known {
    lookup names; // (source, name) -> item
    known_counter *items;
    size_t count, room;
    char **sources;
    size_t source_count;
};

static bool is_trouble(const netprof_device *d, const netprof_counter *c, uint32_t marks)
{
    bool silent = marks & (CATALOG_HARMLESS | CATALOG_UNUSABLE | CATALOG_SAME_AS | CATALOG_CLOCK_ONLY);
    return c->kind == NETPROF_KIND_COUNTER && !silent &&
           (marks & CATALOG_FAULT || catalog_is_trouble(d->source, c->name, c->unit ? c->unit : ""));
}

// LOOKUP_NONE without memory.
static size_t source_number(struct job_known *known, const char *source)
{
    for (size_t i = 0; i < known->source_count; i++)
        if (strcmp(known->sources[i], source) == 0) return i;
    if (!job_grow_one(&known->sources, known->source_count, sizeof *known->sources)) return LOOKUP_NONE;
    known->sources[known->source_count] = strdup(source);
    return known->sources[known->source_count] ? known->source_count++ : LOOKUP_NONE;
}

// NULL: no memory. Valid until the next call.
static known_counter *know(job_report *r, size_t source, const netprof_device *d, const netprof_counter *c)
{
    struct job_known *known = r->reader->known;
    size_t found = lookup_find(&known->names, source, c->name), *place;
    if (found != LOOKUP_NONE) return &known->items[found];
    if (!job_grow(&known->items, known->count, &known->room, sizeof *known->items)) return NULL;
    uint32_t marks = catalog_marks(d->source, c->name);
    known_counter *k = &known->items[known->count];
    *k = (known_counter){strdup(c->name), is_trouble(d, c, marks), marks & (CATALOG_TX_BYTES | CATALOG_RX_BYTES), JOB_NONE};
    if (c->kind != NETPROF_KIND_COUNTER) k->bytes = 0;
    if (!k->name || !(place = lookup_put(&known->names, source, k->name))) {
        free(k->name);
        return NULL;
    }
    *place = known->count++;
    return k;
}

struct job_known *job_known_make(void)
{
    return calloc(1, sizeof(struct job_known));
}

void job_known_free(struct job_known *known)
{
    for (size_t i = 0; known && i < known->count; i++) free(known->items[i].name);
    for (size_t i = 0; known && i < known->source_count; i++) free(known->sources[i]);
    if (!known) return;
    free(known->items);
    free(known->sources);
    lookup_free(&known->names);
    free(known);
}

static size_t new_event(job_report *r, const netprof_device *d, const netprof_counter *c)
{
    if (!job_grow(&r->events, r->event_count, &r->reader->event_room, sizeof *r->events)) return JOB_NONE;
    const catalog_entry *entry = catalog_find(d->source, c->name);
    job_event *to = &r->events[r->event_count++];
    *to = (job_event){.source = strdup(d->source), .counter = strdup(c->name), .worst = JOB_NONE, .severity = SEVERITY_OK};
    to->unit = strdup(entry && *entry->unit ? entry->unit : c->unit ? c->unit : "");
    to->title = entry && *entry->description && !(entry->marks & CATALOG_PATTERN) ? entry->description : to->counter;
    return to->source && to->counter && to->unit ? r->event_count - 1 : JOB_NONE;
}

// Energy says what power only samples.
static bool is_told_better(const netprof_schema *schema, const netprof_device *d, const job_source_row *row)
{
    if (row->meter != JOB_POWER_GPU || row->kind != JOB_LEVEL) return false;
    for (size_t i = d->first; i < (size_t)d->first + d->count; i++)
        if (strcmp(schema->counters[i].name, "energy") == 0 && schema->counters[i].kind == NETPROF_KIND_COUNTER) return true;
    return false;
}

static void tell_state(job_report *r, const job_source_row *row, uint8_t status)
{
    job_state *state = &r->reader->nodes[r->reader->run->node].state[row->meter][row->scope];
    job_state now = JOB_UNREADABLE;
    if (status == NETPROF_STATUS_OK) now = JOB_KNOWN;
    else if (status == NETPROF_STATUS_DENIED) now = JOB_DENIED;
    else if (status == NETPROF_STATUS_SKIPPED || status == NETPROF_STATUS_ABSENT) now = JOB_ABSENT;
    if (now > *state) *state = now;
}

// One file's schema on its way into a track.
typedef struct following {
    job_report *r;
    track *t;
    netprof_list *list;
    const netprof_snapshot *x;
    size_t source, local; // of the device at hand
    bool open;
} following;

static bool need_local(following *f, size_t device)
{
    if (f->local == JOB_NONE) f->local = find_local(f->r, f->x->schema, device);
    return f->local != JOB_NONE;
}

static const job_source_row *row_of(following *f, const netprof_device *d, const netprof_counter *c, uint32_t bytes,
                                    double *factor)
{
    const job_source_row *row = bytes ? job_bytes_row(bytes == CATALOG_TX_BYTES) : job_source_row_of(d, c);
    if (!row) return NULL;
    *factor = factor_of(row, d, c);
    tell_state(f->r, row, f->x->status[c - f->x->schema->counters]);
    return is_told_better(f->x->schema, d, row) || (!(*factor > 0) && !(*factor < 0)) ? NULL : row;
}

static void open_device(following *f, const netprof_device *d)
{
    if (!f->open) {
        const char *speed = netprof_fact_of(d->facts, d->fact_count, "speed_mbps");
        netprof_list_device(f->list, d->name, d->identity, d->flags);
        if (speed) netprof_list_fact(f->list, "speed_mbps", speed); // wraps of narrow counters are told by it
    }
    f->open = true;
}

static bool follow_counter(following *f, size_t i)
{
    const netprof_counter *c = &f->x->schema->counters[i];
    const netprof_device *d = &f->x->schema->devices[c->device];
    track *t = f->t;
    followed new = {.from = i, .local = JOB_NONE, .event = JOB_NONE};
    known_counter *k = know(f->r, f->source, d, c);
    if (!k) return false;
    new.row = row_of(f, d, c, k->bytes, &new.factor);
    new.other = other_of(d, c, &new.other_factor);
    if (!new.other && k->trouble) new.other = OTHER_TROUBLE;
    if (!new.row && !new.other) return true;
    bool of_device = (new.row && new.row->of_device) || new.other == OTHER_TROUBLE || new.other >= OTHER_GPU_MEMORY;
    if (of_device && !need_local(f, c->device)) return false;
    if (of_device) new.local = f->local;
    if (new.other == OTHER_TROUBLE && k->event == JOB_NONE && (k->event = new_event(f->r, d, c)) == JOB_NONE) return false;
    new.event = k->event;
    open_device(f, d);
    netprof_list_counter(f->list, c);
    if (!job_grow(&t->followed, t->count, &t->room, sizeof new)) return false;
    t->followed[t->count++] = new;
    return true;
}

static void release_track(track *t)
{
    netprof_schema_release(t->schema);
    netprof_schema_release(t->small);
    t->schema = t->small = NULL;
    t->count = 0;
}

static netprof_err follow(job_report *r, track *t, const netprof_snapshot *x)
{
    const netprof_schema *schema = x->schema;
    netprof_list *list = netprof_build_begin(NULL);
    static const char *const facts[] = {"host", "boot_id"};
    const char *source = "";
    following f = {.r = r, .t = t, .list = list, .x = x};
    bool good = list != NULL;
    release_track(t);
    if (!list) return NETPROF_ERR_NOMEM;
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        const char *value = netprof_fact_of(schema->facts, schema->fact_count, facts[i]);
        if (value) netprof_build_fact(list, facts[i], value);
    }
    for (size_t d = 0; d < schema->device_count; d++) {
        const netprof_device *device = &schema->devices[d];
        f.open = false;
        f.local = JOB_NONE;
        f.source = source_number(r->reader->known, device->source);
        good = good && f.source != LOOKUP_NONE;
        if (strcmp(source, device->source) != 0) netprof_build_source(list, source = device->source);
        for (size_t i = device->first; i < (size_t)device->first + device->count; i++) good = good && follow_counter(&f, i);
    }
    netprof_err err = netprof_build_end(list, &t->small, NULL);
    if (err || !good) return err ? err : NETPROF_ERR_NOMEM;
    netprof_schema_retain(schema);
    t->schema = schema;
    return NETPROF_OK;
}

// ---- tracks ----

// A recorder of several rates says by its own counters which one a schema is of.
static const char *key_of(const netprof_schema *schema)
{
    for (size_t i = 0; i < schema->device_count; i++)
        if (strcmp(schema->devices[i].source, "user") == 0 && strncmp(schema->devices[i].name, "recorder", 8) == 0)
            return schema->devices[i].name;
    return "";
}

// What the faster track follows, the slower leaves to it.
static void share(run_reader *run, const track *fast)
{
    for (size_t k = 0; k < run->track_count; k++) {
        track *t = &run->tracks[k];
        for (size_t i = 0; t != fast && i < t->count; i++) {
            const netprof_counter *c = &t->small->counters[i];
            const netprof_device *d = &t->small->devices[c->device];
            t->followed[i].off |= netprof_find(fast->small, d->source, d->name, c->name) != NETPROF_NONE;
        }
    }
}

static int64_t interval_of(const dataset_run *run, const char *key)
{
    const char *text = netprof_fact_of(run->facts, run->fact_count, key);
    double ns = text ? strtod(text, NULL) : 0;
    return ns > 0 && ns < 1e15 ? (int64_t)ns : 0;
}

// NULL: no memory, or more rates than anybody records.
static track *track_of(job_report *r, const dataset_run *from, const netprof_snapshot *x)
{
    run_reader *run = r->reader->run;
    const char *key = key_of(x->schema);
    for (size_t i = 0; i < run->track_count; i++)
        if (run->tracks[i].schema == x->schema) return &run->tracks[i];
    track *t = NULL;
    for (size_t i = 0; i < run->track_count && !t; i++)
        if (strcmp(run->tracks[i].key, key) == 0) t = &run->tracks[i];
    if (!t) {
        if (run->track_count == TRACKS_MOST) return NULL;
        t = &run->tracks[run->track_count];
        *t = (track){.key = strdup(key), .slow = run->track_count == 0};
        if (!t->key) return NULL;
        run->track_count++;
        t->interval_ns = interval_of(from, t->slow ? "interval_ns" : "fast_interval_ns");
    }
    if (follow(r, t, x)) return NULL;
    if (!t->slow) share(run, t);
    return t;
}

static netprof_err cut_down(track *t, const netprof_snapshot *from)
{
    netprof_snapshot *to = &t->cut;
    netprof_err err = netprof_snapshot_make(to, t->small, NULL);
    if (err) return err;
    for (size_t i = 0; i < t->count; i++) {
        size_t k = t->followed[i].from;
        to->values[i] = from->values[k];
        to->status[i] = from->status[k];
        to->errnos[i] = from->errnos[k];
        to->stamps_ns[i] = from->stamps_ns[k];
    }
    for (size_t d = 0; d < t->small->device_count; d++) {
        size_t k = t->schema->counters[t->followed[t->small->devices[d].first].from].device;
        to->device_begin_ns[d] = from->device_begin_ns[k];
        to->device_end_ns[d] = from->device_end_ns[k];
    }
    to->begin_ns = from->begin_ns;
    to->end_ns = from->end_ns;
    to->wall_ns = from->wall_ns;
    to->stamp_error_ns = from->stamp_error_ns;
    to->set = from->set;
    return NETPROF_OK;
}

// ---- steps ----

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

// The interval as it is told, else the median of the last steps; 0: not known yet.
static int64_t usual_step(const track *t)
{
    int64_t sorted[RECENT];
    size_t n = t->steps < RECENT ? t->steps : RECENT;
    if (t->interval_ns) return t->interval_ns;
    if (n < 3) return 0;
    memcpy(sorted, t->recent, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_number);
    return sorted[n / 2];
}

static bool add_gap(job_report *r, double from_s, double to_s)
{
    job_node *node = &r->nodes[r->reader->run->node];
    if (!job_grow_one(&node->gaps, node->gap_count, sizeof *node->gaps)) return false;
    node->gaps[node->gap_count++] = (job_gap){from_s, to_s};
    return true;
}

// From one snapshot of a track to the next. Gaps are kept in ns since the first snapshot of all in the end.
static netprof_err add_step(job_report *r, track *t, int64_t from_ns, int64_t to_ns)
{
    netprof_delta delta = NETPROF_ZERO;
    netprof_diff_options force = {.force = 1};
    int64_t usual = usual_step(t);
    step at = {from_ns, to_ns, usual && to_ns - from_ns > usual * 5 / 2};
    t->recent[t->steps++ % RECENT] = to_ns - from_ns;
    if (is_covered(r, from_ns, to_ns)) {
        r->reader->run->overlapped = true;
        return NETPROF_OK;
    }
    if (at.gap && t->slow && !add_gap(r, (double)from_ns * 1e-9, (double)to_ns * 1e-9)) return NETPROF_ERR_NOMEM;
    netprof_err err = netprof_diff(&t->last, &t->cut, &force, &delta, NULL);
    if (!err && !add_difference(r, t, &delta, &at)) err = NETPROF_ERR_NOMEM;
    netprof_delta_free(&delta);
    return err;
}

// When a snapshot was: by the monotonic clock since the last one, for the wall clock may have been set.
static int64_t wall_of(const track *t, const netprof_snapshot *x, int64_t shift_ns)
{
    int64_t on = x->begin_ns - t->last_mono_ns;
    bool known = t->has_last && on > 0 && x->begin_ns > 0 && t->last_mono_ns > 0;
    return known ? t->last_wall_ns + on : x->wall_ns + shift_ns;
}

static netprof_err next(job_report *r, track *t, const netprof_snapshot *x)
{
    run_reader *run = r->reader->run;
    job_node *node = &r->nodes[run->node];
    job_node_reader *more = &r->reader->nodes[run->node];
    int64_t wall = wall_of(t, x, run->shift_ns);
    netprof_err err = NETPROF_OK;
    if (t->has_last && wall <= t->last_wall_ns) { // the clock went back: there is no step
        netprof_snapshot_free(&t->cut);
        return NETPROF_OK;
    }
    if (t->has_last) err = add_step(r, t, t->last_wall_ns, wall);
    if (t->slow && !is_covered(r, wall, wall + 1)) node->samples++;
    node->sweep_s = fmax(node->sweep_s, (double)(x->end_ns - x->begin_ns) * 1e-9);
    int64_t *span = more->runs[run->number];
    if (!span[0] || wall < span[0]) span[0] = wall;
    if (wall > span[1]) span[1] = wall;
    netprof_snapshot_free(&t->last);
    t->last = t->cut;
    t->cut = (netprof_snapshot){0};
    t->has_last = true;
    t->last_wall_ns = wall;
    t->last_mono_ns = x->begin_ns;
    return err;
}

// ---- runs and nodes ----

static const char *fact_of(const dataset_run *run, const netprof_schema *schema, const char *key)
{
    const char *value = netprof_fact_of(run->facts, run->fact_count, key);
    return value && *value ? value : netprof_fact_of(schema->facts, schema->fact_count, key);
}

static size_t find_node(job_report *r, const dataset_run *run, const netprof_schema *schema)
{
    const char *host = fact_of(run, schema, "host"), *name = fact_of(run, schema, "node");
    const char *slash = run->path ? strrchr(run->path, '/') : NULL;
    job_reader *reader = r->reader;
    if (!name || !*name) name = host;
    if (!name || !*name) name = slash ? slash + 1 : run->path ? run->path : "?";
    for (size_t i = 0; i < r->node_count; i++)
        if (strcmp(r->nodes[i].name, name) == 0) return i;
    size_t room = reader->node_room;
    if (!job_grow(&r->nodes, r->node_count, &room, sizeof *r->nodes) ||
        !job_grow(&reader->nodes, r->node_count, &reader->node_room, sizeof *reader->nodes))
        return JOB_NONE;
    job_node *node = &r->nodes[r->node_count];
    *node = (job_node){.name = strdup(name), .host = strdup(host ? host : ""), .interval_s = NAN, .late_s = NAN,
                       .memory_peak = NAN, .uncertainty_s = NAN, .recorder_cpu = NAN, .complete = true};
    reader->nodes[r->node_count] = (job_node_reader){.memory_limit = NAN, .memory_total = NAN, .cpus = NAN};
    r->node_count++;
    return node->name && node->host ? r->node_count - 1 : JOB_NONE;
}

// The model and how many CPUs there are, by the facts of the cpu device.
static bool tell_system(job_report *r, size_t index, const netprof_schema *schema)
{
    job_node *node = &r->nodes[index];
    for (size_t i = 0; i < schema->device_count; i++) {
        const netprof_device *d = &schema->devices[i];
        if (strcmp(d->source, "cpu") != 0 || strcmp(d->name, "cpu") != 0) continue;
        const char *cpus = netprof_fact_of(d->facts, d->fact_count, "cpus");
        const char *model = netprof_fact_of(d->facts, d->fact_count, "model");
        double count = cpus ? strtod(cpus, NULL) : 0;
        if (count >= 1 && count < 1e6) r->reader->nodes[index].cpus = count;
        if (!node->system) node->system = strdup(model ? model : "");
        if (!node->system) return false;
    }
    return true;
}

static netprof_err begin_run(job_report *r, const dataset_run *run, const netprof_snapshot *x)
{
    run_reader *to = calloc(1, sizeof *to);
    job_run_free(r);
    if (!(r->reader->run = to)) return NETPROF_ERR_NOMEM;
    size_t index = to->node = find_node(r, run, x->schema);
    if (index == JOB_NONE) return NETPROF_ERR_NOMEM;
    job_node_reader *more = &r->reader->nodes[index];
    job_node *node = &r->nodes[index];
    if (!job_grow(&more->runs, more->run_count, &more->run_room, sizeof *more->runs)) return NETPROF_ERR_NOMEM;
    to->number = more->run_count++;
    more->runs[to->number][0] = more->runs[to->number][1] = 0;
    double shift = 0, uncertainty = NAN;
    const job_report_options *options = r->reader->options;
    if (options->clock && options->clock(options->clock_user, run, &shift, &uncertainty)) {
        node->shift_s = shift;
        node->uncertainty_s = uncertainty;
        to->shift_ns = (int64_t)llround(shift * 1e9);
    } else {
        r->clocks_aligned = false;
    }
    return tell_system(r, index, x->schema) ? NETPROF_OK : NETPROF_ERR_NOMEM;
}

netprof_err job_take(void *user, const dataset_run *run, size_t index, const netprof_snapshot *snapshot)
{
    job_report *r = user;
    netprof_err err = index ? NETPROF_OK : begin_run(r, run, snapshot);
    if (err) return err;
    track *t = track_of(r, run, snapshot);
    if (!t) return NETPROF_ERR_NOMEM;
    err = cut_down(t, snapshot);
    return err ? err : next(r, t, snapshot);
}

netprof_err job_run_end(job_report *r, const dataset_run *run)
{
    run_reader *to = r->reader->run;
    if (!to) return NETPROF_OK;
    job_node *node = &r->nodes[to->node];
    double interval = (double)usual_step(&to->tracks[0]) * 1e-9;
    if (interval > 0) node->interval_s = isnan(node->interval_s) ? interval : fmin(node->interval_s, interval);
    if (!run->complete) node->complete = false;
    if (to->overlapped)
        job_warn(r, run->path, "node %s: overlaps in time with an earlier file of this node: what that one covers is left out",
                 node->name);
    bool good = end_episodes(r);
    job_run_free(r);
    return good ? NETPROF_OK : NETPROF_ERR_NOMEM;
}

size_t job_run_node(const job_report *r)
{
    return r->reader->run->node;
}

void job_run_free(job_report *r)
{
    run_reader *run = r->reader->run;
    if (!run) return;
    for (size_t i = 0; i < run->track_count; i++) {
        track *t = &run->tracks[i];
        netprof_snapshot_free(&t->last);
        netprof_snapshot_free(&t->cut);
        release_track(t);
        free(t->followed);
        free(t->key);
    }
    free(run->devices);
    free(run);
    r->reader->run = NULL;
}

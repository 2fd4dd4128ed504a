// From differences into lanes: the meters' values of one step, from its counters.
#include "job_tracks.h"

#include <stdlib.h>
#include <string.h>

// ---- lanes ----

job_lane *job_lane_make(job_meter meter, size_t node, size_t device)
{
    job_lane *lane = memory_alloc(sizeof *lane);
    *lane = (job_lane){.meter = meter,
                       .node = node,
                       .device = device,
                       .capacity = NAN,
                       .mean = NAN,
                       .low = NAN,
                       .high = NAN,
                       .total = NAN,
                       .first = NAN,
                       .last = NAN,
                       .bins = job_bins_make()};
    return lane;
}

void job_lane_free(job_lane *lane)
{
    if (!lane) return;
    job_bins_free(lane->bins);
    free(lane);
}

bool job_is_covered(const job_report *r, int64_t from_ns, int64_t to_ns)
{
    const job_node_reader *node = &r->reader->nodes[r->reader->run->node];
    for (size_t i = 0; i < r->reader->run->number; i++)
        if (from_ns < node->runs[i].to_ns && to_ns > node->runs[i].from_ns) return true;
    return false;
}

static bool job_is_touched(const slots *all, job_meter meter)
{
    return all->touched >> meter & 1;
}

// ---- episodes beyond a limit ----

static void job_end_episode(job_report *r, const job_watch_row *x, watching *w, size_t device)
{
    job_reader *reader = r->reader;
    double length = (double)(w->to_ns - w->from_ns) * 1e-9;
    bool worth = w->from_ns && length >= x->least_s && w->integral > x->limit * length;
    job_episode e = {device,  x->meter,  w->from_ns, w->to_ns, length > 0 ? w->integral / length : 0,
                     w->high, w->retries};
    w->from_ns = w->to_ns = 0;
    w->integral = w->high = w->retries = 0;
    if (worth && arrlenu(reader->episodes) < JOB_EPISODES_MOST) arrput(reader->episodes, e);
}

// A second, or a step where steps are longer. Ten such below the limit end an episode.
static void job_watch_window(job_report *r, const job_watch_row *x, watching *w, size_t device, int64_t from_ns,
                             int64_t to_ns)
{
    double length = (double)(to_ns - from_ns) * 1e-9, value = w->window / length;
    bool beyond = value > x->limit;
    if (w->from_ns && from_ns - w->to_ns > 10 * (to_ns - from_ns)) job_end_episode(r, x, w, device);
    if (!beyond) return;
    if (!w->from_ns) w->from_ns = from_ns;
    w->to_ns = to_ns;
    w->integral += w->window;
    w->retries += w->window_retries;
    w->high = fmax(w->high, value);
}

static void job_watch_step(job_report *r, job_meter meter, local_device *local, int64_t from_ns, int64_t to_ns,
                           double value)
{
    const job_watch_row *x = job_watch_of(meter);
    watching *w = &local->watched[meter];
    if (!x) return;
    if (!w->window_ns) w->window_ns = from_ns;
    if (from_ns - w->window_ns > 1000000000) { // after a gap
        w->window_ns = from_ns;
        w->window = w->window_retries = 0;
    }
    const slot *retries = &local->slots.of[JOB_RETRIES];
    w->window += value * ((double)(to_ns - from_ns) * 1e-9);
    if (job_is_touched(&local->slots, JOB_RETRIES) && !retries->unknown) w->window_retries += retries->amount;
    if (to_ns - w->window_ns < 1000000000) return;
    job_watch_window(r, x, w, local->device, w->window_ns, to_ns);
    w->window_ns = to_ns;
    w->window = w->window_retries = 0;
}

void job_end_episodes(job_report *r)
{
    run_reader *run = r->reader->run;
    for (size_t i = 0; i < arrlenu(run->devices); i++)
        for (int m = 0; m < JOB_METERS; m++)
            if (job_watch_of((job_meter)m))
                job_end_episode(r, job_watch_of((job_meter)m), &run->devices[i].watched[m], run->devices[i].device);
}

// ---- a step of a lane ----

static double job_step_s(const step *s)
{
    return (double)(s->to_ns - s->from_ns) * 1e-9;
}

static void job_add_rate(job_lane *lane, const step *s, double value, double amount)
{
    lane->total = isnan(lane->total) ? amount : lane->total + amount;
    if (s->gap) {
        job_bins_skip(lane->bins, s->from_ns, s->to_ns, amount);
        return;
    }
    lane->known_s += job_step_s(s);
    lane->low = job_less(lane->low, value);
    lane->high = job_more(lane->high, value);
    job_bins_add(lane->bins, s->from_ns, s->to_ns, value, value, value);
}

static void job_add_level(job_lane *lane, const step *s, double before, double after)
{
    double low = job_less(before, after), high = job_more(before, after), mean = (before + after) / 2;
    if (isnan(lane->first)) lane->first = before;
    lane->last = after;
    lane->low = job_less(lane->low, low);
    lane->high = job_more(lane->high, high);
    if (s->gap) {
        lane->lower_bound = true;
        return;
    }
    lane->known_s += job_step_s(s);
    if (*job_meter_of(lane->meter)->total_unit)
        lane->total = (isnan(lane->total) ? 0 : lane->total) + mean * job_step_s(s);
    job_bins_add(lane->bins, s->from_ns, s->to_ns, mean, low, high);
}

static void job_drop_pending(slot *s)
{
    s->pending_ns = 0;
    s->pending = 0;
    s->pending_gap = false;
}

// Something was not refreshed since the last reading: its amount comes later, with a longer step.
static void job_wait_for_counter(slot *s, const step *at)
{
    if (!s->pending_ns) s->pending_ns = at->from_ns;
    s->pending += s->amount;
    s->pending_gap |= at->gap;
}

// The slot's step into its lane. *at becomes the step as it was taken.
static void job_flush_slot(job_lane *lane, slot *s, step *at)
{
    if (s->unknown) {
        lane->resets += s->reset;
        lane->lower_bound = true;
        job_drop_pending(s);
        return;
    }
    if (s->level) {
        job_add_level(lane, at, s->before, s->after);
        return;
    }
    double amount = s->amount + s->pending, value = s->value;
    if (s->pending_ns) {
        at->from_ns = s->pending_ns;
        at->gap |= s->pending_gap;
        value = amount / job_step_s(at);
    }
    job_drop_pending(s);
    s->value = value;
    job_add_rate(lane, at, value, amount);
}

// ---- slots ----

static slot *job_touch_slot(slots *all, job_meter meter)
{
    slot *s = &all->of[meter];
    if (job_is_touched(all, meter)) return s;
    all->touched |= UINT64_C(1) << meter;
    *s = (slot){.pending_ns = s->pending_ns, .pending = s->pending, .pending_gap = s->pending_gap};
    return s;
}

// Bytes of a virtual device beside ports are a meter of their own.
static job_meter job_device_meter(const local_device *local, job_meter meter)
{
    if (!local->beside || (meter != JOB_SENT && meter != JOB_RECEIVED)) return meter;
    return meter == JOB_SENT ? JOB_VIRTUAL_SENT : JOB_VIRTUAL_RECEIVED;
}

static slot *job_touch_followed(run_reader *run, const followed *f, const job_source_row *row)
{
    if (!row->of_device) return job_touch_slot(&run->slots[row->scope], row->meter);
    local_device *local = &run->devices[f->local];
    return job_touch_slot(&local->slots, job_device_meter(local, row->meter));
}

static void job_join_slot(slot *s, job_join how, double value, double amount)
{
    s->value = how == JOB_MOST ? job_more(s->value, value) : s->value + value;
    s->amount = how == JOB_MOST ? job_more(s->amount, amount) : s->amount + amount;
    s->parts++;
}

static void job_join_unknown(slot *s, uint8_t flag)
{
    s->unknown = true;
    s->reset |= flag == NETPROF_FLAG_RESET;
}

static bool job_was_asked_for(const netprof_delta *delta, size_t k)
{
    return delta->before_status[k] != NETPROF_STATUS_SKIPPED && delta->after_status[k] != NETPROF_STATUS_SKIPPED;
}

static void job_add_counter(run_reader *run, const followed *f, const job_source_row *row, const netprof_delta *delta,
                            size_t k)
{
    uint8_t flag = delta->flags[k];
    double amount = (double)delta->values[k] * f->factor;
    if (flag == NETPROF_FLAG_NEW || flag == NETPROF_FLAG_GONE || !job_was_asked_for(delta, k)) return;
    slot *s = job_touch_followed(run, f, row);
    if (flag != NETPROF_FLAG_OK && flag != NETPROF_FLAG_WRAPPED) {
        job_join_unknown(s, flag);
    } else if (delta->elapsed_ns[k] <= 0) {
        s->stale = true;
        job_join_slot(s, row->join, 0, amount);
    } else {
        double elapsed = (double)delta->elapsed_ns[k] * 1e-9;
        job_join_slot(s, row->join, amount / elapsed, amount);
        s->elapsed_s = job_more(s->elapsed_s, elapsed);
    }
}

static void job_add_gauge(run_reader *run, const followed *f, const netprof_delta *delta, size_t k)
{
    if (delta->flags[k] != NETPROF_FLAG_GAUGE || !job_was_asked_for(delta, k)) return;
    bool known = delta->before_status[k] == NETPROF_STATUS_OK && delta->after_status[k] == NETPROF_STATUS_OK;
    double before = (double)delta->before[k], after = (double)delta->after[k];
    bool of_processes =
        f->row->meter == JOB_MEMORY && (f->row->scope == JOB_SCOPE_JOB || f->row->scope == JOB_SCOPE_PARTS);
    if (known && of_processes && !(before > 0) && !(after > 0)) return; // there is none
    // Read only now and then, and repeated in between: it is known from one reading to the next.
    bool stamped = f->row->scope == JOB_SCOPE_PARTS;
    if (stamped && known && delta->elapsed_ns[k] <= 0) return;
    slot *s = job_touch_followed(run, f, f->row);
    s->level = true;
    if (stamped) s->elapsed_s = (double)delta->elapsed_ns[k] * 1e-9;
    if (!known) {
        s->unknown = true;
        return;
    }
    // A job without a process has no memory yet, or none any more: what it has begins and ends within the step.
    if (of_processes && !(before > 0)) before = after;
    if (of_processes && !(after > 0)) after = before;
    s->before += before * f->factor;
    s->after += after * f->factor;
    s->parts++;
}

// A device's slot joins its node's.
static void job_join_node(run_reader *run, local_device *local, job_meter meter)
{
    const slot *from = &local->slots.of[meter];
    slot *to = job_touch_slot(&run->slots[JOB_SCOPE_NODE], meter);
    job_join how = job_device_join(meter);
    to->unknown |= from->unknown;
    to->stale |= from->stale;
    to->reset |= from->reset;
    if (from->unknown) return;
    job_join_slot(to, how, from->value, from->amount);
    to->level |= from->level;
    to->before += from->before;
    to->after += from->after;
}

// The lane of a slot, made when it is first needed.
static job_lane *job_lane_at(job_lane **place, job_meter meter, size_t node, size_t device)
{
    if (!*place) *place = job_lane_make(meter, node, device);
    return *place;
}

static void job_flush_device(job_report *r, local_device *local, job_meter meter, const step *whole)
{
    run_reader *run = r->reader->run;
    slot *s = &local->slots.of[meter];
    job_device *device = &r->devices[local->device];
    step at = *whole;
    bool bytes = meter == JOB_SENT || meter == JOB_RECEIVED;
    if (bytes && !local->chosen) return; // the same bytes as another's
    job_join_node(run, local, meter);
    job_lane *lane = job_lane_at(&device->lanes[meter], meter, run->node, local->device);
    if (!s->level && s->stale && !s->unknown) {
        job_wait_for_counter(s, &at);
        return;
    }
    // By its own stamps.
    if (!s->pending_ns && s->elapsed_s > 0 && !at.gap) at.from_ns = at.to_ns - (int64_t)llround(s->elapsed_s * 1e9);
    bool known = !s->unknown && !at.gap;
    job_flush_slot(lane, s, &at);
    if (known && !s->level) job_watch_step(r, meter, local, at.from_ns, at.to_ns, s->value);
}

static void job_average_slot(slot *s)
{
    if (!s->parts) return;
    s->value /= (double)s->parts;
    s->before /= (double)s->parts;
    s->after /= (double)s->parts;
}

static void job_flush_node(job_report *r, job_meter meter, int scope, const step *whole)
{
    run_reader *run = r->reader->run;
    slot *s = &run->slots[scope].of[meter];
    step at = *whole;
    if (job_meter_of(meter)->of_devices && job_device_join(meter) == JOB_MEAN) job_average_slot(s);
    // Memory in use is a difference of two counters; one alone is of no use.
    if (meter == JOB_NODE_MEMORY && s->parts < 2) s->unknown = true;
    job_lane *lane = job_lane_at(&r->reader->nodes[run->node].lanes[meter][scope], meter, run->node, JOB_NONE);
    if (!s->level && s->stale && !s->unknown) {
        job_wait_for_counter(s, &at);
        return;
    }
    if (s->level && s->elapsed_s > 0 && !at.gap) at.from_ns = at.to_ns - (int64_t)llround(s->elapsed_s * 1e9);
    job_flush_slot(lane, s, &at);
}

// Devices first, since they join their node's.
static void job_flush_all(job_report *r, const step *at)
{
    run_reader *run = r->reader->run;
    for (size_t i = 0; i < arrlenu(run->devices); i++) {
        slots *all = &run->devices[i].slots;
        for (uint64_t left = all->touched; left; left &= left - 1)
            job_flush_device(r, &run->devices[i], (job_meter)__builtin_ctzll(left), at);
        all->touched = 0;
    }
    for (int scope = 0; scope < JOB_SCOPES; scope++) {
        slots *all = &run->slots[scope];
        for (uint64_t left = all->touched; left; left &= left - 1)
            job_flush_node(r, (job_meter)__builtin_ctzll(left), scope, at);
        all->touched = 0;
    }
}

// ---- what is no meter ----

// The lane of the current node is one of the last.
static job_bins *job_event_bins(job_event *event, size_t node)
{
    for (size_t i = event->lane_count; i-- > 0;)
        if (event->lanes[i].node == node) return event->lanes[i].bins;
    arrput(event->lanes, ((job_event_lane){node, job_bins_make()}));
    return event->lanes[event->lane_count++].bins;
}

static job_trouble *job_count_trouble(job_reader *reader, size_t event, size_t device, double amount)
{
    map_key key = map_key_of_pair((int64_t)event, (int64_t)device);
    ptrdiff_t at = hmgeti(reader->trouble_of, key);
    if (at < 0) {
        hmput(reader->trouble_of, key, arrlenu(reader->troubles));
        arrput(reader->troubles, ((job_trouble){event, device, amount, NULL}));
        return &arrlast(reader->troubles);
    }
    job_trouble *t = &reader->troubles[reader->trouble_of[at].value];
    t->sum += amount;
    return t;
}

// What a counter of trouble grew by, and since when: what is read only now and then, as are many at the ends alone where
// the fast set is in between, counts from its last value. False: not known.
static bool job_trouble_since(const job_report *r, followed *f, const netprof_delta *delta, size_t k, const step *at,
                              uint64_t *amount, step *since)
{
    bool before = delta->before_status[k] == NETPROF_STATUS_OK, after = delta->after_status[k] == NETPROF_STATUS_OK;
    netprof_flag flag = (netprof_flag)delta->flags[k];
    *amount = delta->values[k];
    *since = *at;
    if (!before && after && f->known_ns && !job_is_covered(r, f->known_ns, at->to_ns)) {
        since->from_ns = f->known_ns;
        flag = netprof_difference(&delta->schema->counters[k], f->known, delta->after[k], amount);
    }
    if (after)
        f->known = delta->after[k], f->known_ns = at->to_ns;
    else if (before)
        f->known = delta->before[k], f->known_ns = at->from_ns;
    return flag == NETPROF_FLAG_OK || flag == NETPROF_FLAG_WRAPPED;
}

static void job_add_trouble(job_report *r, followed *f, const netprof_delta *delta, size_t k, const step *at)
{
    const run_reader *run = r->reader->run;
    job_event *event = &r->events[f->event];
    uint64_t amount;
    step since;
    if (!job_trouble_since(r, f, delta, k, at, &amount, &since)) return;
    event->known = true;
    if (!amount) return;
    job_bins *bins = job_event_bins(event, run->node);
    job_trouble *t = job_count_trouble(r->reader, f->event, run->devices[f->local].device, (double)amount);
    double rate = (double)amount / job_step_s(&since);
    if (job_is_damage(event->source, event->counter)) {
        if (!t->bins) t->bins = job_bins_make();
        job_bins_add(t->bins, since.from_ns, since.to_ns, rate, rate, rate);
    }
    if (since.from_ns < at->from_ns)
        job_bins_skip(bins, since.from_ns, since.to_ns, (double)amount);
    else
        job_bins_add(bins, since.from_ns, since.to_ns, rate, rate, rate);
}

// Gauges of which the last reading counts.
static double *job_kept_gauge(job_node_reader *node, other what)
{
    switch (what) {
    case OTHER_TOTAL: return &node->memory_total;
    case OTHER_CPUSET: return &node->cpuset;
    case OTHER_QUOTA: return &node->quota;
    case OTHER_PERIOD: return &node->period;
    case OTHER_AFFINITY: return &node->affinity;
    default: return NULL;
    }
}

static void job_add_wait(run_reader *run, const netprof_delta *delta, size_t k)
{
    if (!run->wait_known && delta->before_status[k] == NETPROF_STATUS_OK) {
        run->wait_first_s = run->wait_last_s = (double)delta->before[k] * 1e-9;
        run->wait_known = true;
    }
    if (run->wait_known && delta->after_status[k] == NETPROF_STATUS_OK)
        run->wait_last_s = (double)delta->after[k] * 1e-9;
}

static void job_add_other(job_report *r, followed *f, const netprof_delta *delta, size_t k, const step *at)
{
    run_reader *run = r->reader->run;
    job_node *node = &r->nodes[run->node];
    job_node_reader *more = &r->reader->nodes[run->node];
    uint64_t counted = delta->flags[k] == NETPROF_FLAG_OK ? delta->values[k] : 0;
    bool there = delta->after_status[k] == NETPROF_STATUS_OK;
    double now = (double)delta->after[k], *kept = job_kept_gauge(more, f->other);
    if (kept && there) *kept = now;
    switch (f->other) {
    case OTHER_TROUBLE: job_add_trouble(r, f, delta, k, at); break;
    case OTHER_MISSED: node->missed += counted; break;
    case OTHER_LATE:
        if (there) node->late_s = fmax(node->late_s, now * 1e-9);
        break;
    case OTHER_RECORDER:
        more->recorder_ns += counted;
        if (delta->flags[k] == NETPROF_FLAG_OK) more->recorder_s += job_step_s(at);
        break;
    case OTHER_LIMIT:
        if (there) more->memory_limit = fmin(more->memory_limit, now);
        break;
    case OTHER_GROUP_NOW:
        if (there) more->group_high = fmax(more->group_high, now);
        break;
    case OTHER_GROUP_PEAK:
        // Only where it rose: else it is from before the recording.
        if (there && delta->before_status[k] == NETPROF_STATUS_OK && delta->after[k] > delta->before[k])
            more->group_peak = fmax(more->group_peak, now);
        break;
    case OTHER_UNSEEN: more->unseen += (double)counted; break;
    case OTHER_WAITED: job_add_wait(run, delta, k); break;
    default: break;
    }
}

// The GPU's capacities are gauges that do not change.
static void job_add_capacity(job_report *r, const followed *f, const netprof_delta *delta, size_t k)
{
    static const struct {
        other other;
        job_meter meter;
    } of[] = {{OTHER_GPU_MEMORY, JOB_GPU_MEMORY}, {OTHER_GPU_POWER, JOB_POWER_GPU}, {OTHER_GPU_CLOCK, JOB_GPU_CLOCK}};
    run_reader *run = r->reader->run;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        if (of[i].other != f->other || f->local == JOB_NONE || delta->after_status[k] != NETPROF_STATUS_OK) continue;
        size_t device = run->devices[f->local].device;
        job_lane *lane = job_lane_at(&r->devices[device].lanes[of[i].meter], of[i].meter, run->node, device);
        lane->capacity = (double)delta->after[k] * f->other_factor;
    }
}

static size_t job_place_in_delta(const track *t, const netprof_delta *delta, size_t i)
{
    const netprof_counter *c = &t->small->counters[i];
    const netprof_device *d = &t->small->devices[c->device];
    return delta->schema == t->small ? i : netprof_find(delta->schema, d->source, d->name, c->name);
}

// Of a step: packages that are measured, and limits that are known.
typedef struct power_limits {
    double sum;
    size_t limits, packages;
} power_limits;

static void job_add_power_limit(power_limits *to, const followed *f, const netprof_delta *delta, size_t k)
{
    to->packages += f->row && f->row->meter == JOB_POWER_CPU;
    if (f->other != OTHER_POWER_LIMIT || k == NETPROF_NONE || delta->after_status[k] != NETPROF_STATUS_OK) return;
    to->sum += (double)delta->after[k] * f->other_factor;
    to->limits++;
}

void job_add_difference(job_report *r, track *t, const netprof_delta *delta, const step *at)
{
    run_reader *run = r->reader->run;
    power_limits power = {0};
    for (size_t i = 0; i < arrlenu(t->followed); i++) {
        followed *f = &t->followed[i];
        size_t k = job_place_in_delta(t, delta, i);
        job_add_power_limit(&power, f, delta, k);
        if (f->off || k == NETPROF_NONE) continue;
        if (f->other >= OTHER_GPU_MEMORY)
            job_add_capacity(r, f, delta, k);
        else if (f->other)
            job_add_other(r, f, delta, k, at);
        if (f->row && f->row->kind == JOB_RATE)
            job_add_counter(run, f, f->row, delta, k);
        else if (f->row)
            job_add_gauge(run, f, delta, k);
        if (f->second) job_add_counter(run, f, f->second, delta, k);
    }
    // Known only when every package has one.
    if (power.limits && power.limits == power.packages) r->reader->nodes[run->node].power_limit = power.sum;
    job_flush_all(r, at);
}

// Behind the last file: nodes in order, one time axis, for each meter the lane that tells most of the job; and looking
// at lanes.
#include "job_store.h"

#include "analysis/data/clocks.h"
#include "analysis/base/list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- order ----

// Numbers in names by value: n2 before n10.
static int compare_names(const char *a, const char *b)
{
    while (*a && *b) {
        size_t n = strspn(a, "0123456789"), m = strspn(b, "0123456789");
        if (n && m) {
            const char *x = a + strspn(a, "0"), *y = b + strspn(b, "0");
            size_t p = (size_t)(a + n - x) * (x < a + n), q = (size_t)(b + m - y) * (y < b + m);
            if (p != q) return p < q ? -1 : 1;
            int order = strncmp(x, y, p);
            if (order) return order;
            a += n;
            b += m;
            continue;
        }
        if (*a != *b) return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
        a++;
        b++;
    }
    return *a ? 1 : *b ? -1 : 0;
}

typedef struct key {
    const char *name, *source;
    size_t node, index;
} key;

static int compare_keys(const void *a, const void *b)
{
    const key *x = a, *y = b;
    if (x->node != y->node) return x->node < y->node ? -1 : 1;
    int order = x->source ? strcmp(x->source, y->source) : 0;
    if (!order) order = compare_names(x->name, y->name);
    if (!order) order = strcmp(x->name, y->name);
    return order ? order : x->index < y->index ? -1 : 1;
}

// Puts count elements into the order of the keys; new place of each in places.
static bool reorder(void *list, size_t size, const key *keys, size_t count, size_t *places)
{
    if (!count) return true; // then the list may be NULL
    char *sorted = malloc(count * size + 1), *from = list;
    if (!sorted) return false;
    for (size_t i = 0; i < count; i++) {
        memcpy(sorted + i * size, from + keys[i].index * size, size);
        places[keys[i].index] = i;
    }
    memcpy(list, sorted, count * size);
    free(sorted);
    return true;
}

static bool sort_nodes(job_report *r)
{
    key *keys = calloc(r->node_count + 1, sizeof *keys);
    size_t *places = calloc(r->node_count + 1, sizeof *places);
    for (size_t i = 0; keys && i < r->node_count; i++)
        keys[i] = (key){.name = r->nodes[i].name, .index = i};
    if (keys) qsort(keys, r->node_count, sizeof *keys, compare_keys);
    bool good = keys && places && reorder(r->nodes, sizeof *r->nodes, keys, r->node_count, places) &&
                reorder(r->reader->nodes, sizeof *r->reader->nodes, keys, r->node_count, places);
    for (size_t i = 0; good && i < r->device_count; i++)
        r->devices[i].node = places[r->devices[i].node];
    for (size_t i = 0; good && i < r->reader->found_count; i++)
        r->reader->found[i].node = places[r->reader->found[i].node];
    for (size_t i = 0; good && i < r->reader->run_count; i++)
        r->reader->runs[i].node = places[r->reader->runs[i].node];
    for (size_t i = 0; good && i < r->event_count; i++)
        for (size_t k = 0; k < r->events[i].lane_count; k++)
            r->events[i].lanes[k].node = places[r->events[i].lanes[k].node];
    free(keys);
    free(places);
    return good;
}

static bool sort_devices(job_report *r)
{
    job_reader *reader = r->reader;
    key *keys = calloc(r->device_count + 1, sizeof *keys);
    size_t *places = calloc(r->device_count + 1, sizeof *places);
    for (size_t i = 0; keys && i < r->device_count; i++)
        keys[i] = (key){r->devices[i].name, r->devices[i].source, r->devices[i].node, i};
    if (keys) qsort(keys, r->device_count, sizeof *keys, compare_keys);
    bool good = keys && places && reorder(r->devices, sizeof *r->devices, keys, r->device_count, places);
    for (size_t i = 0; good && i < reader->episode_count; i++)
        reader->episodes[i].device = places[reader->episodes[i].device];
    for (size_t i = 0; good && i < reader->trouble_count; i++)
        reader->troubles[i].device = places[reader->troubles[i].device];
    for (size_t i = 0; good && i < r->device_count; i++) {
        job_device *d = &r->devices[i];
        job_node *node = &r->nodes[d->node];
        if (!node->device_count++) node->first_device = i;
        for (int m = 0; m < JOB_METERS; m++) {
            if (!d->lanes[m]) continue;
            d->lanes[m]->device = i;
            d->lanes[m]->node = d->node;
        }
    }
    for (size_t i = 0; good && i < r->node_count; i++)
        for (int m = 0; m < JOB_METERS; m++)
            for (int s = 0; s < JOB_SCOPES; s++)
                if (reader->nodes[i].lanes[m][s]) reader->nodes[i].lanes[m][s]->node = i;
    free(keys);
    free(places);
    return good;
}

// "NIC 3 (cxi2)" where there are several that send, else the name.
static bool name_devices(job_report *r)
{
    for (size_t i = 0; i < r->node_count; i++) {
        const job_node *node = &r->nodes[i];
        size_t nics = 0, gpus = 0;
        for (size_t k = node->first_device; k < node->first_device + node->device_count; k++) {
            job_device *d = &r->devices[k];
            bool gpu = strcmp(d->source, "gpu") == 0, nic = d->lanes[JOB_SENT] || d->lanes[JOB_RECEIVED];
            size_t number = gpu ? ++gpus : nic ? ++nics : 0;
            d->label =
                number ? text_make("%s %zu (%s)", gpu ? "GPU" : "NIC", number, d->name) : text_make("%s", d->name);
            if (!d->label) return false;
        }
    }
    return true;
}

// ---- clocks ----

static void move_bins(job_bins *b, int64_t by_ns)
{
    if (b) b->offset_ns = by_ns;
}

// All that was read of a node moves on the axis.
static void move_node(job_report *r, size_t index, int64_t by_ns)
{
    job_node_reader *more = &r->reader->nodes[index];
    job_node *node = &r->nodes[index];
    for (int m = 0; m < JOB_METERS; m++)
        for (int s = 0; s < JOB_SCOPES; s++)
            if (more->lanes[m][s]) move_bins(more->lanes[m][s]->bins, by_ns);
    for (size_t i = node->first_device; i < node->first_device + node->device_count; i++)
        for (int m = 0; m < JOB_METERS; m++)
            if (r->devices[i].lanes[m]) move_bins(r->devices[i].lanes[m]->bins, by_ns);
    for (size_t i = 0; i < more->run_count; i++)
        if (more->runs[i].to_ns) more->runs[i].from_ns += by_ns, more->runs[i].to_ns += by_ns;
    for (size_t i = 0; i < node->gap_count; i++) {
        node->gaps[i].from_s += (double)by_ns * 1e-9;
        node->gaps[i].to_s += (double)by_ns * 1e-9;
    }
    for (size_t i = 0; i < r->reader->episode_count; i++) {
        job_episode *e = &r->reader->episodes[i];
        if (r->devices[e->device].node == index) e->from_ns += by_ns, e->to_ns += by_ns;
    }
    for (size_t i = 0; i < r->event_count; i++)
        for (size_t k = 0; k < r->events[i].lane_count; k++)
            if (r->events[i].lanes[k].node == index) move_bins(r->events[i].lanes[k].bins, by_ns);
}

static bool take_shifts(job_report *r, const double *shift_s, const double *uncertainty_s)
{
    bool *done = calloc(r->node_count + 1, sizeof *done);
    if (!done) return false;
    for (size_t i = 0; i < r->reader->run_count; i++) {
        job_node *node = &r->nodes[r->reader->runs[i].node];
        bool known = done[r->reader->runs[i].node];
        node->uncertainty_s =
            known && !(uncertainty_s[i] > node->uncertainty_s) ? node->uncertainty_s : uncertainty_s[i];
        if (known) continue;
        done[r->reader->runs[i].node] = true;
        node->shift_s = isfinite(shift_s[i]) && fabs(shift_s[i]) < 1e9 ? shift_s[i] : 0;
        move_node(r, r->reader->runs[i].node, (int64_t)llround(node->shift_s * 1e9));
    }
    free(done);
    return true;
}

// The begin of a job step is the same moment on all nodes, nearly.
static bool take_event(clocks_event *to, char **name, const job_run *x, size_t index, size_t *count)
{
    const char *id = netprof_fact_of(x->facts, x->fact_count, "job_id"),
               *number = netprof_fact_of(x->facts, x->fact_count, "job_step");
    if (!id || !number || !x->wall_ns) return true;
    if (!(*name = text_make("%s.%s", id, number))) return false;
    *to = (clocks_event){index, *name, x->wall_ns, CLOCKS_STEP_BEGIN_NS / 2};
    ++*count;
    return true;
}

// Behind the order of nodes and devices, before anything is put on the axis: clocks are moved by what the files hold;
// where they tell nothing, nothing is. False: no memory.
static bool align(job_report *r)
{
    if (r->node_count < 2) return true;
    size_t count = r->reader->run_count, events = 0, known = 0;
    clocks c = {0};
    clocks_input *inputs = calloc(count + 1, sizeof *inputs);
    clocks_event *event = calloc(count + 1, sizeof *event);
    char **keys = calloc(count + 1, sizeof *keys);
    double *shift = calloc(count + 1, sizeof *shift), *uncertainty = calloc(count + 1, sizeof *uncertainty);
    bool good = inputs && event && keys && shift && uncertainty;
    for (size_t i = 0; i < count && good; i++) {
        const job_run *x = &r->reader->runs[i];
        inputs[i] = (clocks_input){.name = r->nodes[x->node].name,
                                   .boot_id = *x->boot_id ? x->boot_id : NULL,
                                   .wall_ns = x->wall_ns,
                                   .mono_ns = x->mono_ns,
                                   .end_wall_ns = x->end_wall_ns,
                                   .end_mono_ns = x->end_mono_ns};
        clocks_take_facts(&inputs[i], x->facts, x->fact_count);
        good = take_event(&event[events], &keys[events], x, i, &events);
    }
    good = good && clocks_find(&c, inputs, count, event, events) == NETPROF_OK;
    for (size_t i = 0; i < count && good; i++) {
        shift[i] = (double)c.runs[i].offset_ns * 1e-9;
        uncertainty[i] = c.runs[i].error_ns == CLOCKS_UNKNOWN_NS ? NAN : (double)c.runs[i].error_ns * 1e-9;
        known += c.runs[i].basis != CLOCKS_NOTHING && i != c.reference;
    }
    good = good && take_shifts(r, shift, uncertainty);
    r->clocks_aligned = good && known > 0;
    if (r->clocks_aligned && c.text) good = (r->clock_note = strdup(c.text)) != NULL;
    for (size_t i = 0; i < events && keys; i++)
        free(keys[i]);
    free(inputs);
    free(event);
    free(keys);
    free(shift);
    free(uncertainty);
    clocks_free(&c);
    return good;
}

// ---- time ----

static double seconds_of(const job_report *r, int64_t at_ns)
{
    return (double)(at_ns - r->begin_ns) * 1e-9;
}

static void find_ends(job_report *r)
{
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < r->node_count; i++) {
            const job_node_reader *more = &r->reader->nodes[i];
            int64_t from = INT64_MAX, to = INT64_MIN;
            for (size_t k = 0; k < more->run_count; k++) {
                if (!more->runs[k].to_ns) continue;
                from = more->runs[k].from_ns < from ? more->runs[k].from_ns : from;
                to = more->runs[k].to_ns > to ? more->runs[k].to_ns : to;
            }
            if (from < first) first = from;
            if (to > last) last = to;
            if (!pass || from > to) continue;
            r->nodes[i].begin_s = seconds_of(r, from);
            r->nodes[i].end_s = seconds_of(r, to);
        }
        r->begin_ns = first;
    }
    r->end_s = last > first ? (double)(last - first) * 1e-9 : 0;
}

static int by_begin(const void *a, const void *b)
{
    const job_gap *x = a, *y = b;
    return (x->from_s > y->from_s) - (x->from_s < y->from_s);
}

static int by_run(const void *a, const void *b)
{
    const job_stretch *x = a, *y = b;
    return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

static bool add_gap(job_node *node, double from_s, double to_s, bool idle)
{
    if (!list_grow_one(&node->gaps, node->gap_count, sizeof *node->gaps)) return false;
    node->gaps[node->gap_count++] = (job_gap){from_s, to_s, idle};
    return true;
}

// Was nothing to be recorded from one run to the next? So when the first ended as it was meant to; one that a signal
// ended may be a recorder that was started again, but not for another job.
static bool is_idle(const job_report *r, const job_stretch *x, const job_stretch *y)
{
    const job_run *first = &r->reader->runs[x->run], *second = &r->reader->runs[y->run];
    const char *job = netprof_fact_of(first->facts, first->fact_count, "job_id");
    const char *other = netprof_fact_of(second->facts, second->fact_count, "job_id");
    bool same = job && other && strcmp(job, other) == 0;
    return first->ended || (first->stopped && !same);
}

// Gaps within files were found as they were read; here those between files, and before and behind them.
static bool find_gaps(job_report *r, size_t index)
{
    job_node *node = &r->nodes[index];
    job_node_reader *more = &r->reader->nodes[index];
    double longest = isnan(node->interval_s) ? INFINITY : 2.5 * node->interval_s;
    bool good = true;
    for (size_t i = 0; i < node->gap_count; i++) {
        node->gaps[i].from_s -= (double)r->begin_ns * 1e-9;
        node->gaps[i].to_s -= (double)r->begin_ns * 1e-9;
    }
    qsort(more->runs, more->run_count, sizeof *more->runs, by_run);
    int64_t until = 0;
    const job_stretch *before = NULL;
    for (size_t k = 0; k < more->run_count && good; k++) {
        if (!more->runs[k].to_ns) continue;
        double from = until ? seconds_of(r, until) : 0, to = seconds_of(r, more->runs[k].from_ns);
        if (to - from > longest) good = add_gap(node, from, to, before && is_idle(r, before, &more->runs[k]));
        if (more->runs[k].to_ns <= until) continue;
        until = more->runs[k].to_ns;
        before = &more->runs[k];
    }
    if (good && until && r->end_s - seconds_of(r, until) > longest)
        good = add_gap(node, seconds_of(r, until), r->end_s, false);
    if (node->gap_count) qsort(node->gaps, node->gap_count, sizeof *node->gaps, by_begin);
    return good;
}

static void count_samples(job_report *r, size_t index)
{
    job_node *node = &r->nodes[index];
    double missing = 0;
    for (size_t i = 0; i < node->gap_count && node->interval_s > 0; i++) {
        double steps = round((node->gaps[i].to_s - node->gaps[i].from_s) / node->interval_s);
        bool within = node->gaps[i].from_s > node->begin_s - 1e-6 && node->gaps[i].to_s < node->end_s + 1e-6;
        if (!node->gaps[i].idle) missing += within ? fmax(steps - 1, 0) : steps;
    }
    node->expected = node->samples + (uint64_t)missing;
    const job_node_reader *more = &r->reader->nodes[index];
    if (more->recorder_s > 0) node->recorder_cpu = (double)more->recorder_ns * 1e-9 / more->recorder_s;
    r->samples += node->samples;
    r->expected += node->expected;
    if (node->interval_s > 0)
        r->interval_s = isnan(r->interval_s) ? node->interval_s : fmin(r->interval_s, node->interval_s);
}

// ---- which lane is the node's ----

static bool tells(const job_lane *lane)
{
    return lane && (lane->known_s > 0 || !isnan(lane->total));
}

static void scale(job_lane *lane, double by)
{
    job_bins *b = lane->bins;
    for (size_t i = 0; i < b->count; i++) {
        b->items[i].integral *= (float)by;
        b->items[i].low *= (float)by;
        b->items[i].high *= (float)by;
    }
    for (size_t i = 0; i < b->skipped_count; i++)
        b->skipped[i].amount *= by;
    b->integral *= by;
    lane->low *= by;
    lane->high *= by;
    lane->total *= by;
}

// The same lane under another meter; it shares the bins. False: no memory.
static bool share(job_report *r, size_t node, job_meter meter, const job_lane *from)
{
    job_lane **place = &r->reader->nodes[node].lanes[meter][JOB_SCOPE_NODE];
    if (!tells(from) || *place) return true;
    if (!(*place = malloc(sizeof **place))) return false;
    **place = *from;
    (*place)->meter = meter;
    from->bins->owners++;
    return true;
}

static void choose(job_report *r, size_t index, job_meter meter)
{
    static const job_scope order[] = {JOB_SCOPE_JOB, JOB_SCOPE_GROUP, JOB_SCOPE_NODE};
    job_node *node = &r->nodes[index];
    job_node_reader *more = &r->reader->nodes[index];
    bool limited = meter == JOB_MEMORY && job_limit_binds(more) && tells(more->lanes[meter][JOB_SCOPE_GROUP]);
    // Then all that is not the job's alone says nothing of it: its processes were too short to be seen.
    bool unseen = meter == JOB_MEMORY && !limited && more->state[meter][JOB_SCOPE_JOB] == JOB_KNOWN;
    bool tried = false; // else it was read once at most: not in the fast set
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        tried |= more->lanes[meter][order[i]] != NULL;
        if (more->state[meter][order[i]] > node->state[meter]) node->state[meter] = more->state[meter][order[i]];
        if (node->lanes[meter] || !tells(more->lanes[meter][order[i]])) continue;
        if (limited && order[i] == JOB_SCOPE_JOB) continue;
        if (unseen && order[i] != JOB_SCOPE_JOB) continue;
        node->lanes[meter] = more->lanes[meter][order[i]];
        node->scope[meter] = order[i];
    }
    if (meter == JOB_POWER && node->lanes[meter])
        node->scope[meter] = JOB_SCOPE_NODE; // its own meter, or the platform's
    if (node->lanes[meter])
        node->state[meter] = JOB_KNOWN;
    else if (node->state[meter] == JOB_KNOWN)
        node->state[meter] = tried ? JOB_UNREADABLE : JOB_ABSENT;
}

// Without a meter of the whole node: what the parts draw together.
static bool add_power(job_report *r, size_t index)
{
    static const job_meter parts[] = {JOB_POWER_CPU, JOB_POWER_DRAM, JOB_POWER_GPU};
    job_node *node = &r->nodes[index];
    job_lane *sum = NULL;
    if (node->lanes[JOB_POWER]) return true;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const job_lane *part = node->lanes[parts[i]];
        if (!part) continue;
        if (!sum && !(sum = job_lane_make(JOB_POWER, index, JOB_NONE))) return false;
        sum->total = isnan(sum->total) ? part->total : sum->total + part->total;
        sum->lower_bound |= part->lower_bound;
        if (!job_bins_join(sum->bins, part->bins)) {
            job_lane_free(sum);
            return false;
        }
    }
    if (!sum) return true;
    for (size_t k = 0; k < sum->bins->count; k++) {
        const job_bin *x = &sum->bins->items[k];
        if (!(x->known_s > 0)) continue;
        sum->known_s += x->known_s;
        sum->low = fmin(sum->low, x->low);
        sum->high = fmax(sum->high, x->high);
    }
    sum->bins->offset_ns = (int64_t)llround(node->shift_s * 1e9);
    r->reader->nodes[index].lanes[JOB_POWER][JOB_SCOPE_NONE] = sum;
    node->lanes[JOB_POWER] = sum;
    node->state[JOB_POWER] = JOB_KNOWN;
    node->scope[JOB_POWER] = JOB_SCOPE_NONE;
    return true;
}

// Capacities of a node's devices together; NAN when one is unknown.
static double device_capacity(const job_report *r, const job_node *node, job_meter meter)
{
    double sum = 0;
    size_t count = 0;
    for (size_t i = node->first_device; i < node->first_device + node->device_count; i++) {
        const job_lane *lane = r->devices[i].lanes[meter];
        if (!tells(lane)) continue;
        sum += lane->capacity;
        count++;
    }
    if (!count) return NAN;
    return job_device_join(meter) == JOB_MEAN ? sum / (double)count : sum;
}

static double capacity_of(const job_report *r, size_t index, job_meter meter)
{
    const job_node *node = &r->nodes[index];
    const job_node_reader *more = &r->reader->nodes[index];
    const job_meter_info *info = job_meter_of(meter);
    bool of_job = node->scope[meter] == JOB_SCOPE_JOB || node->scope[meter] == JOB_SCOPE_GROUP;
    if (meter == JOB_CPU) return of_job ? node->cpus_allocated : more->cpus;
    if (meter == JOB_NODE_CPU) return more->cpus;
    if (meter == JOB_POWER_CPU) return more->power_limit;
    if (meter == JOB_NODE_MEMORY) return more->memory_total;
    if (meter == JOB_MEMORY)
        return node->scope[meter] == JOB_SCOPE_GROUP && job_limit_binds(more) ? more->memory_limit : more->memory_total;
    if (meter == JOB_SENT || meter == JOB_RECEIVED || meter == JOB_POWER_GPU || meter == JOB_GPU_MEMORY ||
        meter == JOB_GPU_CLOCK)
        return device_capacity(r, node, meter);
    return info->sum == JOB_AVERAGES && !*info->unit ? 1 : NAN;
}

static void close_lane(job_lane *lane)
{
    lane->mean = lane->known_s > 0 ? lane->bins->integral / lane->known_s : NAN;
}

static void close_devices(job_report *r)
{
    for (size_t i = 0; i < r->device_count; i++) {
        job_device *d = &r->devices[i];
        for (int m = 0; m < JOB_METERS; m++) {
            job_lane *lane = d->lanes[m];
            if (lane && !tells(lane)) {
                job_lane_free(lane);
                d->lanes[m] = lane = NULL;
            }
            if (!lane) continue;
            close_lane(lane);
            if (m == JOB_SENT || m == JOB_RECEIVED)
                lane->capacity = d->line_rate;
            else if (isnan(lane->capacity) && job_meter_of((job_meter)m)->sum == JOB_AVERAGES && m != JOB_GPU_CLOCK)
                lane->capacity = 1;
        }
    }
}

// Where several virtual devices moved bytes, the busiest one's are the least that went.
static void bound_virtual(job_report *r, size_t index)
{
    static const job_meter ways[] = {JOB_VIRTUAL_SENT, JOB_VIRTUAL_RECEIVED};
    job_node *node = &r->nodes[index];
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        size_t busy = 0;
        for (size_t i = node->first_device; i < node->first_device + node->device_count; i++) {
            const job_lane *lane = r->devices[i].lanes[ways[w]];
            busy += lane && lane->total > 0;
        }
        if (busy > 1 && node->lanes[ways[w]]) node->lanes[ways[w]]->lower_bound = true;
    }
}

static bool finish_node(job_report *r, size_t index)
{
    job_node_reader *more = &r->reader->nodes[index];
    job_node *node = &r->nodes[index];
    job_lane *wait = more->lanes[JOB_IO_WAIT][JOB_SCOPE_NODE];
    if (wait && more->cpus > 0) {
        scale(wait, 1 / more->cpus);
    } else if (wait) {
        job_lane_free(wait);
        more->lanes[JOB_IO_WAIT][JOB_SCOPE_NODE] = NULL;
    }
    if (!share(r, index, JOB_CPU, more->lanes[JOB_NODE_CPU][JOB_SCOPE_NODE]) ||
        !share(r, index, JOB_MEMORY, more->lanes[JOB_NODE_MEMORY][JOB_SCOPE_NODE]))
        return false;
    for (int m = 0; m < JOB_METERS; m++)
        choose(r, index, (job_meter)m);
    bound_virtual(r, index);
    job_allocate(r, index);
    if (!add_power(r, index)) return false;
    for (int m = 0; m < JOB_METERS; m++) {
        if (!node->lanes[m]) continue;
        close_lane(node->lanes[m]);
        node->lanes[m]->capacity = capacity_of(r, index, (job_meter)m);
    }
    // Not the control group's own peak: it is as old as the group, and has the page cache in it.
    if (node->lanes[JOB_MEMORY]) node->memory_peak = node->lanes[JOB_MEMORY]->high;
    return true;
}

// All bins as wide as the widest.
static void align_bins(job_report *r)
{
    unsigned shift = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < r->node_count; i++)
            for (int m = 0; m < JOB_METERS; m++) {
                job_lane *lane = r->nodes[i].lanes[m];
                if (lane && pass)
                    job_bins_coarsen(lane->bins, shift);
                else if (lane && lane->bins->count && lane->bins->shift > shift)
                    shift = lane->bins->shift;
            }
        for (size_t i = 0; i < r->device_count && pass; i++)
            for (int m = 0; m < JOB_METERS; m++)
                if (r->devices[i].lanes[m]) job_bins_coarsen(r->devices[i].lanes[m]->bins, shift);
    }
    r->bin_s = (double)((uint64_t)1 << shift) * 1e-9;
}

bool job_finish_lanes(job_report *r)
{
    r->interval_s = NAN;
    bool good = sort_nodes(r) && sort_devices(r) && align(r);
    if (!good) return false;
    find_ends(r);
    close_devices(r);
    for (size_t i = 0; i < r->node_count && good; i++) {
        good = finish_node(r, i) && find_gaps(r, i);
        if (good) count_samples(r, i);
    }
    if (good) align_bins(r);
    r->uncertainty_s = NAN;
    for (size_t i = 0; i < r->node_count; i++)
        r->uncertainty_s = fmax(r->uncertainty_s, r->nodes[i].uncertainty_s);
    for (size_t i = 0; i < r->node_count; i++)
        if (isnan(r->nodes[i].uncertainty_s)) r->uncertainty_s = NAN; // one unknown is enough
    return good && name_devices(r);
}

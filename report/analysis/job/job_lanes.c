// After the last file: nodes in order, one time axis, and for each meter the lane that says most about the job.
#include "job_store.h"

#include "analysis/data/clocks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- order ----

// Numbers in names by value: n2 before n10.
static int job_compare_names(const char *a, const char *b)
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

static int job_compare_keys(const void *a, const void *b)
{
    const key *x = a, *y = b;
    if (x->node != y->node) return x->node < y->node ? -1 : 1;
    int order = x->source ? strcmp(x->source, y->source) : 0;
    if (!order) order = job_compare_names(x->name, y->name);
    if (!order) order = strcmp(x->name, y->name);
    return order ? order : x->index < y->index ? -1 : 1;
}

// Puts elements into the order of the keys, and fills in the new place of each.
static void job_reorder(void *list, size_t size, const key *keys, size_t *places)
{
    size_t count = arrlenu(keys);
    if (!count) return;
    char *before = memory_copy(list, count * size), *to = list;
    for (size_t i = 0; i < count; i++) {
        memcpy(to + i * size, before + keys[i].index * size, size);
        places[keys[i].index] = i;
    }
    free(before);
}

static void job_sort_nodes(job_report *r)
{
    job_reader *reader = r->reader;
    key *keys = NULL;
    size_t *places = memory_calloc(r->node_count, sizeof *places);
    for (size_t i = 0; i < r->node_count; i++)
        arrput(keys, ((key){.name = r->nodes[i].name, .index = i}));
    if (keys) qsort(keys, r->node_count, sizeof *keys, job_compare_keys);
    job_reorder(r->nodes, sizeof *r->nodes, keys, places);
    job_reorder(reader->nodes, sizeof *reader->nodes, keys, places);
    for (size_t i = 0; i < r->device_count; i++)
        r->devices[i].node = places[r->devices[i].node];
    for (size_t i = 0; i < arrlenu(reader->found); i++)
        reader->found[i].node = places[reader->found[i].node];
    for (size_t i = 0; i < arrlenu(reader->rule_values); i++)
        reader->rule_values[i].node = places[reader->rule_values[i].node];
    for (size_t i = 0; i < arrlenu(reader->runs); i++)
        reader->runs[i].node = places[reader->runs[i].node];
    if (reader->worst_ended != JOB_NONE) reader->worst_ended = places[reader->worst_ended];
    for (size_t i = 0; i < r->event_count; i++)
        for (size_t k = 0; k < r->events[i].lane_count; k++)
            r->events[i].lanes[k].node = places[r->events[i].lanes[k].node];
    arrfree(keys);
    free(places);
}

static void job_sort_devices(job_report *r)
{
    job_reader *reader = r->reader;
    key *keys = NULL;
    size_t *places = memory_calloc(r->device_count, sizeof *places);
    for (size_t i = 0; i < r->device_count; i++)
        arrput(keys, ((key){r->devices[i].name, r->devices[i].source, r->devices[i].node, i}));
    if (keys) qsort(keys, r->device_count, sizeof *keys, job_compare_keys);
    job_reorder(r->devices, sizeof *r->devices, keys, places);
    for (size_t i = 0; i < arrlenu(reader->episodes); i++)
        reader->episodes[i].device = places[reader->episodes[i].device];
    for (size_t i = 0; i < arrlenu(reader->troubles); i++)
        reader->troubles[i].device = places[reader->troubles[i].device];
    arrfree(keys);
    free(places);
}

// Tells lanes and nodes where their nodes and devices are now.
static void job_number_lanes(job_report *r)
{
    for (size_t i = 0; i < r->device_count; i++) {
        job_device *d = &r->devices[i];
        job_node *node = &r->nodes[d->node];
        if (!node->device_count++) node->first_device = i;
        for (int m = 0; m < JOB_METERS; m++) {
            if (!d->lanes[m]) continue;
            d->lanes[m]->device = i;
            d->lanes[m]->node = d->node;
        }
    }
    for (size_t i = 0; i < r->node_count; i++)
        for (int m = 0; m < JOB_METERS; m++)
            for (int s = 0; s < JOB_SCOPES; s++)
                if (r->reader->nodes[i].lanes[m][s]) r->reader->nodes[i].lanes[m][s]->node = i;
}

// "NIC 3 (cxi2)" where there are several that send, else the name.
static void job_name_devices(job_report *r)
{
    for (size_t i = 0; i < r->node_count; i++) {
        const job_node *node = &r->nodes[i];
        size_t nics = 0, gpus = 0;
        for (size_t k = node->first_device; k < node->first_device + node->device_count; k++) {
            job_device *d = &r->devices[k];
            bool gpu = strcmp(d->source, "gpu") == 0, nic = d->lanes[JOB_SENT] || d->lanes[JOB_RECEIVED];
            size_t number = gpu ? ++gpus : nic ? ++nics : 0;
            d->label =
                number ? memory_format("%s %zu (%s)", gpu ? "GPU" : "NIC", number, d->name) : memory_strdup(d->name);
        }
    }
}

// ---- clocks ----

static void job_move_bins(job_bins *b, int64_t by_ns)
{
    if (b) b->offset_ns = by_ns;
}

// All that was read of a node moves on the axis.
static void job_move_node(job_report *r, size_t index, int64_t by_ns)
{
    job_node_reader *more = &r->reader->nodes[index];
    job_node *node = &r->nodes[index];
    for (int m = 0; m < JOB_METERS; m++)
        for (int s = 0; s < JOB_SCOPES; s++)
            if (more->lanes[m][s]) job_move_bins(more->lanes[m][s]->bins, by_ns);
    for (size_t i = node->first_device; i < node->first_device + node->device_count; i++)
        for (int m = 0; m < JOB_METERS; m++)
            if (r->devices[i].lanes[m]) job_move_bins(r->devices[i].lanes[m]->bins, by_ns);
    for (size_t i = 0; i < arrlenu(more->runs); i++)
        if (more->runs[i].to_ns) more->runs[i].from_ns += by_ns, more->runs[i].to_ns += by_ns;
    for (size_t i = 0; i < node->gap_count; i++) {
        node->gaps[i].from_s += (double)by_ns * 1e-9;
        node->gaps[i].to_s += (double)by_ns * 1e-9;
    }
    for (size_t i = 0; i < arrlenu(r->reader->troubles); i++)
        if (r->devices[r->reader->troubles[i].device].node == index) job_move_bins(r->reader->troubles[i].bins, by_ns);
    for (size_t i = 0; i < arrlenu(r->reader->episodes); i++) {
        job_episode *e = &r->reader->episodes[i];
        if (r->devices[e->device].node == index) e->from_ns += by_ns, e->to_ns += by_ns;
    }
    for (size_t i = 0; i < r->event_count; i++)
        for (size_t k = 0; k < r->events[i].lane_count; k++)
            if (r->events[i].lanes[k].node == index) job_move_bins(r->events[i].lanes[k].bins, by_ns);
}

static void job_take_shifts(job_report *r, const double *shift_s, const double *uncertainty_s)
{
    bool *done = memory_calloc(r->node_count, sizeof *done);
    for (size_t i = 0; i < arrlenu(r->reader->runs); i++) {
        job_node *node = &r->nodes[r->reader->runs[i].node];
        bool known = done[r->reader->runs[i].node];
        node->uncertainty_s =
            known && !(uncertainty_s[i] > node->uncertainty_s) ? node->uncertainty_s : uncertainty_s[i];
        if (known) continue;
        done[r->reader->runs[i].node] = true;
        node->shift_s = isfinite(shift_s[i]) && fabs(shift_s[i]) < 1e9 ? shift_s[i] : 0;
        job_move_node(r, r->reader->runs[i].node, (int64_t)llround(node->shift_s * 1e9));
    }
    free(done);
}

// The begin of a job step is nearly the same moment on all nodes.
static void job_add_step_begin(clocks_event **events, const job_run *x, size_t index)
{
    const char *id = netprof_fact_of(x->facts, arrlenu(x->facts), "job_id"),
               *number = netprof_fact_of(x->facts, arrlenu(x->facts), "job_step");
    if (!id || !number || !x->wall_ns) return;
    clocks_event new = {index, memory_format("%s.%s", id, number), x->wall_ns, CLOCKS_STEP_BEGIN_NS / 2};
    arrput(*events, new);
}

static void job_use_clocks(job_report *r, const clocks *c)
{
    double *shift = NULL, *uncertainty = NULL;
    size_t known = 0;
    for (size_t i = 0; i < arrlenu(r->reader->runs); i++) {
        arrput(shift, (double)c->runs[i].offset_ns * 1e-9);
        arrput(uncertainty, c->runs[i].error_ns == CLOCKS_UNKNOWN_NS ? NAN : (double)c->runs[i].error_ns * 1e-9);
        known += c->runs[i].basis != CLOCKS_NOTHING && i != c->reference;
    }
    job_take_shifts(r, shift, uncertainty);
    r->clocks_aligned = known > 0;
    if (known && c->text) r->clock_note = memory_strdup(c->text);
    arrfree(shift);
    arrfree(uncertainty);
}

// Moves the nodes' clocks by what the files say about them, if anything. Nodes and devices are in order, and nothing is on
// the axis yet.
static void job_align_clocks(job_report *r)
{
    if (r->node_count < 2) return;
    clocks c = {0};
    clocks_input *inputs = NULL;
    clocks_event *events = NULL;
    for (size_t i = 0; i < arrlenu(r->reader->runs); i++) {
        const job_run *x = &r->reader->runs[i];
        clocks_input input = {.name = r->nodes[x->node].name,
                              .boot_id = *x->boot_id ? x->boot_id : NULL,
                              .wall_ns = x->wall_ns,
                              .mono_ns = x->mono_ns,
                              .end_wall_ns = x->end_wall_ns,
                              .end_mono_ns = x->end_mono_ns};
        clocks_take_facts(&input, x->facts, arrlenu(x->facts));
        arrput(inputs, input);
        job_add_step_begin(&events, x, i);
    }
    clocks_find(&c, inputs, arrlenu(inputs), events, arrlenu(events));
    job_use_clocks(r, &c);
    for (size_t i = 0; i < arrlenu(events); i++)
        free((char *)(uintptr_t)events[i].key);
    arrfree(inputs);
    arrfree(events);
    clocks_free(&c);
}

// ---- time ----

static double job_seconds_at(const job_report *r, int64_t at_ns)
{
    return (double)(at_ns - r->begin_ns) * 1e-9;
}

static void job_find_ends(job_report *r)
{
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < r->node_count; i++) {
            const job_node_reader *more = &r->reader->nodes[i];
            int64_t from = INT64_MAX, to = INT64_MIN;
            for (size_t k = 0; k < arrlenu(more->runs); k++) {
                if (!more->runs[k].to_ns) continue;
                from = more->runs[k].from_ns < from ? more->runs[k].from_ns : from;
                to = more->runs[k].to_ns > to ? more->runs[k].to_ns : to;
            }
            if (from < first) first = from;
            if (to > last) last = to;
            if (!pass || from > to) continue;
            r->nodes[i].begin_s = job_seconds_at(r, from);
            r->nodes[i].end_s = job_seconds_at(r, to);
        }
        r->begin_ns = first;
    }
    r->end_s = last > first ? (double)(last - first) * 1e-9 : 0;
}

static int job_by_begin(const void *a, const void *b)
{
    const job_gap *x = a, *y = b;
    return (x->from_s > y->from_s) - (x->from_s < y->from_s);
}

static int job_by_run(const void *a, const void *b)
{
    const job_stretch *x = a, *y = b;
    return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

static void job_add_gap_between(job_node *node, double from_s, double to_s, bool idle)
{
    arrput(node->gaps, ((job_gap){from_s, to_s, idle}));
    node->gap_count++;
}

// Was nothing to be recorded from one run to the next? So when the first ended as it was meant to; one that a signal
// ended may be a recorder that was started again, but not for another job.
static bool job_is_idle(const job_report *r, const job_stretch *x, const job_stretch *y)
{
    const job_run *first = &r->reader->runs[x->run], *second = &r->reader->runs[y->run];
    const char *job = netprof_fact_of(first->facts, arrlenu(first->facts), "job_id");
    const char *other = netprof_fact_of(second->facts, arrlenu(second->facts), "job_id");
    bool same = job && other && strcmp(job, other) == 0;
    return first->ended || (first->stopped && !same);
}

// Gaps within files were found while reading; this adds those between files, and before and after them.
static void job_find_gaps(job_report *r, size_t index)
{
    job_node *node = &r->nodes[index];
    job_node_reader *more = &r->reader->nodes[index];
    int64_t usual = isnan(node->interval_s) ? 0 : llround(node->interval_s * 1e9);
    for (size_t i = 0; i < node->gap_count; i++) {
        node->gaps[i].from_s -= (double)r->begin_ns * 1e-9;
        node->gaps[i].to_s -= (double)r->begin_ns * 1e-9;
    }
    qsort(more->runs, arrlenu(more->runs), sizeof *more->runs, job_by_run);
    int64_t until = 0;
    const job_stretch *before = NULL;
    for (size_t k = 0; k < arrlenu(more->runs); k++) {
        if (!more->runs[k].to_ns) continue;
        int64_t from = until ? until : r->begin_ns, to = more->runs[k].from_ns;
        if (job_is_gap(to - from, usual))
            job_add_gap_between(node, job_seconds_at(r, from), job_seconds_at(r, to),
                                before && job_is_idle(r, before, &more->runs[k]));
        if (more->runs[k].to_ns <= until) continue;
        until = more->runs[k].to_ns;
        before = &more->runs[k];
    }
    if (until && job_is_gap(r->begin_ns + llround(r->end_s * 1e9) - until, usual))
        job_add_gap_between(node, job_seconds_at(r, until), r->end_s, false);
    if (node->gap_count) qsort(node->gaps, node->gap_count, sizeof *node->gaps, job_by_begin);
}

static void job_count_samples(job_report *r, size_t index)
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

static void job_lane_scale(job_lane *lane, double by)
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

// The same lane under another meter; it shares the bins.
static void job_lane_share(job_report *r, size_t node, job_meter meter, const job_lane *from)
{
    job_lane **place = &r->reader->nodes[node].lanes[meter][JOB_SCOPE_NODE];
    if (!job_lane_is_known(from) || *place) return;
    *place = memory_copy(from, sizeof *from);
    (*place)->meter = meter;
    from->bins->owners++;
}

// Without a meter of the whole node: what the parts draw together.
static void job_add_power(job_report *r, size_t index)
{
    static const job_meter parts[] = {JOB_POWER_CPU, JOB_POWER_DRAM, JOB_POWER_GPU};
    job_node *node = &r->nodes[index];
    job_lane *sum = NULL;
    if (node->lanes[JOB_POWER]) return;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const job_lane *part = node->lanes[parts[i]];
        if (!part) continue;
        if (!sum) sum = job_lane_make(JOB_POWER, index, JOB_NONE);
        sum->total = isnan(sum->total) ? part->total : sum->total + part->total;
        sum->lower_bound |= part->lower_bound;
        job_bins_join(sum->bins, part->bins);
    }
    if (!sum) return;
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
}

// Capacities of a node's devices together; NAN when one is unknown.
static double job_device_capacity(const job_report *r, const job_node *node, job_meter meter)
{
    double sum = 0;
    size_t count = 0;
    for (size_t i = node->first_device; i < node->first_device + node->device_count; i++) {
        const job_lane *lane = r->devices[i].lanes[meter];
        if (!job_lane_is_known(lane)) continue;
        sum += lane->capacity;
        count++;
    }
    if (!count) return NAN;
    return job_device_join(meter) == JOB_MEAN ? sum / (double)count : sum;
}

static double job_capacity(const job_report *r, size_t index, job_meter meter)
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
        return job_device_capacity(r, node, meter);
    return info->sum == JOB_AVERAGES && !*info->unit ? 1 : NAN;
}

static void job_close_lane(job_lane *lane)
{
    lane->mean = lane->known_s > 0 ? lane->bins->integral / lane->known_s : NAN;
}

static void job_close_devices(job_report *r)
{
    for (size_t i = 0; i < r->device_count; i++) {
        job_device *d = &r->devices[i];
        for (int m = 0; m < JOB_METERS; m++) {
            job_lane *lane = d->lanes[m];
            if (lane && !job_lane_is_known(lane)) {
                job_lane_free(lane);
                d->lanes[m] = lane = NULL;
            }
            if (!lane) continue;
            job_close_lane(lane);
            if (m == JOB_SENT || m == JOB_RECEIVED)
                lane->capacity = d->line_rate;
            else if (isnan(lane->capacity) && job_meter_of((job_meter)m)->sum == JOB_AVERAGES && m != JOB_GPU_CLOCK)
                lane->capacity = 1;
        }
    }
}

// Where several virtual devices moved bytes, the busiest one's are the least that went.
static void job_bound_virtual(job_report *r, size_t index)
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

// What counts some memory more than once may come to more than there is, which is no memory of anybody.
static void job_bound_memory(job_report *r, size_t index)
{
    job_lane *lane = r->nodes[index].lanes[JOB_MEMORY];
    double most = r->reader->nodes[index].memory_total;
    if (!lane || !lane->upper_bound || !(lane->high > most)) return;
    job_bins_cap(lane->bins, most);
    lane->low = fmin(lane->low, most);
    lane->high = most;
    lane->first = fmin(lane->first, most);
    lane->last = fmin(lane->last, most);
    lane->mean = lane->known_s > 0 ? lane->bins->integral / lane->known_s : fmin(lane->mean, most);
}

static void job_finish_node(job_report *r, size_t index)
{
    job_node_reader *more = &r->reader->nodes[index];
    job_node *node = &r->nodes[index];
    job_lane *wait = more->lanes[JOB_IO_WAIT][JOB_SCOPE_NODE];
    if (wait && more->cpus > 0) {
        job_lane_scale(wait, 1 / more->cpus);
    } else if (wait) {
        job_lane_free(wait);
        more->lanes[JOB_IO_WAIT][JOB_SCOPE_NODE] = NULL;
    }
    job_lane_share(r, index, JOB_CPU, more->lanes[JOB_NODE_CPU][JOB_SCOPE_NODE]);
    job_lane_share(r, index, JOB_MEMORY, more->lanes[JOB_NODE_MEMORY][JOB_SCOPE_NODE]);
    job_choose_lanes(r, index);
    job_bound_virtual(r, index);
    job_allocate(r, index);
    job_add_power(r, index);
    for (int m = 0; m < JOB_METERS; m++) {
        if (!node->lanes[m]) continue;
        job_close_lane(node->lanes[m]);
        node->lanes[m]->capacity = job_capacity(r, index, (job_meter)m);
    }
    job_bound_memory(r, index);
    // Not the control group's own peak: it is as old as the group, and has the page cache in it.
    if (node->lanes[JOB_MEMORY]) node->memory_peak = node->lanes[JOB_MEMORY]->high;
}

// Is a lane read as often as its node? What is read now and then only (proportional memory, say) has bins of its own, which
// must not make those of all others wider than their samples.
static bool job_lane_is_usual(const job_report *r, const job_lane *lane)
{
    return !(r->interval_s > 0) || (double)((uint64_t)1 << lane->bins->shift) * 1e-9 <= r->interval_s ||
           lane->bins->count > JOB_BINS / 2;
}

// All usual bins as wide as the widest of them.
static void job_align_bins(job_report *r)
{
    unsigned shift = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < r->node_count; i++)
            for (int m = 0; m < JOB_METERS; m++) {
                job_lane *lane = r->nodes[i].lanes[m];
                if (lane && pass)
                    job_bins_coarsen(lane->bins, shift);
                else if (lane && job_bins_known(lane->bins) && lane->bins->shift > shift && job_lane_is_usual(r, lane))
                    shift = lane->bins->shift;
            }
        for (size_t i = 0; i < r->device_count && pass; i++)
            for (int m = 0; m < JOB_METERS; m++)
                if (r->devices[i].lanes[m]) job_bins_coarsen(r->devices[i].lanes[m]->bins, shift);
    }
    r->bin_s = (double)((uint64_t)1 << shift) * 1e-9;
}

void job_finish_lanes(job_report *r)
{
    r->interval_s = NAN;
    job_sort_nodes(r);
    job_sort_devices(r);
    job_number_lanes(r);
    job_align_clocks(r);
    job_find_ends(r);
    job_close_devices(r);
    for (size_t i = 0; i < r->node_count; i++) {
        job_finish_node(r, i);
        job_find_gaps(r, i);
        job_count_samples(r, i);
    }
    job_align_bins(r);
    r->uncertainty_s = NAN;
    for (size_t i = 0; i < r->node_count; i++)
        r->uncertainty_s = fmax(r->uncertainty_s, r->nodes[i].uncertainty_s);
    for (size_t i = 0; i < r->node_count; i++)
        if (isnan(r->nodes[i].uncertainty_s)) r->uncertainty_s = NAN; // one unknown is enough
    job_name_devices(r);
}

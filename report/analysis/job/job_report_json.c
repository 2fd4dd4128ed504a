#include "job_report.h"
#include "bytes/job_explained_json.h"

#include "analysis/base/json_values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *job_json_node_name(const job_report *r, size_t node)
{
    return node < r->node_count ? r->nodes[node].name : NULL;
}

static const char *job_json_state_name(job_state state)
{
    static const char *const names[] = {"absent", "denied", "unreadable", "known"};
    return names[state];
}

static const char *job_json_scope_name(job_scope scope)
{
    static const char *const names[] = {NULL, "job", "cgroup", "node"};
    return names[scope];
}

// Clocks are told in nanoseconds, as moments are.
static void job_json_put_ns(json_object *o, const char *key, double seconds)
{
    json_put(o, key, isfinite(seconds) ? json_new_int64(llround(seconds * 1e9)) : NULL);
}

static void job_json_put_use(const job_report *r, json_object *o, const job_use *use)
{
    const job_meter_info *info = job_meter_of(use->meter);
    json_put_text(o, "title", info->title);
    json_put_text(o, "unit", info->unit);
    json_put_text(o, "scope", job_json_scope_name(use->scope));
    json_put_number(o, "mean", use->mean);
    json_put_number(o, "min", use->low);
    json_put_text(o, "min_host", job_json_node_name(r, use->low_node));
    json_put_number(o, "max", use->high);
    json_put_text(o, "max_host", job_json_node_name(r, use->high_node));
    json_put_number(o, "peak", use->peak);
    json_put_number(o, "capacity", use->capacity);
    if (*info->total_unit) json_put_number(o, "total", use->total);
    if (*info->total_unit) json_put_text(o, "total_unit", info->total_unit);
    if (use->lower_bound) json_put(o, "lower_bound", json_new_boolean(1));
    if (use->upper_bound) json_put(o, "upper_bound", json_new_boolean(1));
    json_put_exact(o, "host_count", use->nodes);
}

static json_object *job_json_of_uses(const job_report *r)
{
    json_object *all = json_new_object();
    for (size_t i = 0; i < r->use_count; i++) {
        json_object *o = json_new_object();
        job_json_put_use(r, o, &r->uses[i]);
        json_put(all, job_meter_of(r->uses[i].meter)->name, o);
    }
    return all;
}

// Used and given; a time without a limit has no "of".
static json_object *job_json_of_efficiency(const job_report *r)
{
    static const struct {
        const char *name, *used, *of;
    } rows[JOB_EFFICIENCIES] = {
        {"cpu", "used_cpu_s", "of_cpu_s"}, {"memory", "used_bytes", "of_bytes"}, {"time", "used_s", "of_s"}};
    json_object *all = json_new_object();
    for (int i = 0; i < JOB_EFFICIENCIES; i++) {
        const job_efficiency *e = &r->efficiency[i];
        if (isnan(e->used) || isnan(e->of)) continue;
        json_object *o = json_new_object();
        json_put_number(o, rows[i].used, e->used);
        json_put_number(o, rows[i].of, isfinite(e->of) ? e->of : NAN);
        json_put_number(o, "share", isfinite(e->of) ? e->used / e->of : NAN);
        json_put_text(o, "against", job_basis_name(e->basis));
        json_put_text(o, "host", job_json_node_name(r, e->node));
        if (i == JOB_EFFICIENCY_TIME) json_put_number(o, "left_s", e->left);
        json_put_text(o, "by", job_measure_name(e->by));
        if (e->lower_bound) json_put(o, "lower_bound", json_new_boolean(1));
        if (e->upper_bound) json_put(o, "upper_bound", json_new_boolean(1));
        json_put_exact(o, "host_count", e->nodes);
        json_put(all, rows[i].name, o);
    }
    return all;
}

static json_object *job_json_of_energy(const job_report *r)
{
    static const char *const names[JOB_PARTS] = {"cpu", "dram", "gpu", "rest"};
    const job_energy *e = &r->energy;
    json_object *o = json_new_object(), *parts = json_new_object();
    json_put_number(o, "energy_j", e->total_j);
    json_put(o, "whole_nodes", json_new_boolean(e->whole));
    json_put(o, "lower_bound", json_new_boolean(e->lower_bound));
    json_put_number(o, "node_w", e->node_w);
    json_put_text(o, "how", e->how);
    for (int p = 0; p < JOB_PARTS; p++) {
        json_object *part = json_new_object();
        json_put_text(part, "status", job_json_state_name(e->state[p]));
        json_put_number(part, "energy_j", e->part_j[p]);
        if (p != JOB_PART_REST) json_put_exact(part, "host_count", e->part_nodes[p]);
        json_put(parts, names[p], part);
    }
    json_put(o, "parts", parts);
    return o;
}

static json_object *job_json_of_lane(const job_lane *lane, job_state state, job_scope scope)
{
    json_object *o = json_new_object();
    if (!lane) {
        json_put_text(o, "status", job_json_state_name(state));
        return o;
    }
    const job_meter_info *info = job_meter_of(lane->meter);
    json_put_text(o, "scope", job_json_scope_name(scope));
    json_put_text(o, "unit", info->unit);
    json_put_number(o, "mean", lane->mean);
    json_put_number(o, "min", lane->low);
    json_put_number(o, "max", lane->high);
    json_put_number(o, "capacity", lane->capacity);
    json_put_number(o, "known_s", lane->known_s);
    if (*info->total_unit) json_put_number(o, "total", lane->total);
    if (*info->total_unit) json_put_text(o, "total_unit", info->total_unit);
    if (lane->lower_bound) json_put(o, "lower_bound", json_new_boolean(1));
    if (lane->upper_bound) json_put(o, "upper_bound", json_new_boolean(1));
    if (lane->resets) json_put_exact(o, "reset_count", lane->resets);
    return o;
}

static json_object *job_json_of_device(const job_device *d)
{
    json_object *o = json_new_object(), *meters = json_new_object();
    json_put_text(o, "source", d->source);
    json_put_text(o, "device", d->name);
    json_put_text(o, "label", d->label);
    if (d->lanes[JOB_VIRTUAL_SENT] || d->lanes[JOB_VIRTUAL_RECEIVED]) json_put(o, "virtual", json_new_boolean(1));
    for (int m = 0; m < JOB_METERS; m++)
        if (d->lanes[m])
            json_put(meters, job_meter_of((job_meter)m)->name,
                     job_json_of_lane(d->lanes[m], JOB_KNOWN, JOB_SCOPE_NONE));
    json_put(o, "meters", meters);
    return o;
}

static bool job_json_has_lanes(const job_device *d)
{
    for (int m = 0; m < JOB_METERS; m++)
        if (d->lanes[m]) return true;
    return false;
}

static json_object *job_json_of_gaps(const job_node *node)
{
    json_object *list = json_new_array();
    for (size_t i = 0; i < node->gap_count; i++) {
        json_object *o = json_new_object();
        json_put_number(o, "from_s", node->gaps[i].from_s);
        json_put_number(o, "to_s", node->gaps[i].to_s);
        if (node->gaps[i].idle) json_put(o, "between_recordings", json_new_boolean(1));
        json_append(list, o);
    }
    return list;
}

static json_object *job_json_of_node(const job_report *r, const job_node *node)
{
    json_object *o = json_new_object(), *meters = json_new_object(), *devices = json_new_array();
    json_put_text(o, "host", node->name);
    json_put_text(o, "hostname", node->host); // in a pod the pod's
    if (node->pod) json_put_text(o, "pod", node->pod);
    if (node->system && *node->system) json_put_text(o, "system", node->system);
    json_put_text(o, "severity", severity_name(node->severity));
    json_put_number(o, "begin_s", node->begin_s);
    json_put_number(o, "end_s", node->end_s);
    json_put_number(o, "interval_s", node->interval_s);
    json_put_exact(o, "snapshot_count", node->samples);
    json_put_exact(o, "expected_snapshot_count", node->expected);
    json_put_exact(o, "missed_ticks", node->missed);
    json_put_number(o, "late_s", node->late_s);
    json_put_number(o, "sweep_s", node->sweep_s);
    json_put_number(o, "cpus", node->cpus);
    json_put_number(o, "cpus_allocated", node->cpus_allocated);
    json_put_text(o, "cpus_allocated_by", job_basis_name(node->cpus_basis));
    json_put_text(o, "cpu_by", job_measure_name(node->cpu_by));
    json_put_text(o, "memory_by", job_measure_name(node->memory_by));
    json_put_number(o, "memory_requested_bytes", node->memory_requested);
    json_put_number(o, "memory_peak_bytes", node->memory_peak);
    json_put_number(o, "recorder_cpus", node->recorder_cpu);
    job_json_put_ns(o, "clock_offset_ns", node->shift_s);
    job_json_put_ns(o, "clock_uncertainty_ns", node->uncertainty_s);
    json_put(o, "complete", json_new_boolean(node->complete));
    json_put(o, "gaps", job_json_of_gaps(node));
    for (int m = 0; m < JOB_METERS; m++)
        if (node->lanes[m] || node->state[m] != JOB_ABSENT)
            json_put(meters, job_meter_of((job_meter)m)->name,
                     job_json_of_lane(node->lanes[m], node->state[m], node->scope[m]));
    json_put(o, "meters", meters);
    for (size_t i = node->first_device; i < node->first_device + node->device_count; i++)
        if (job_json_has_lanes(&r->devices[i])) json_append(devices, job_json_of_device(&r->devices[i]));
    json_put(o, "devices", devices);
    return o;
}

static json_object *job_json_of_finding(const job_report *r, const job_finding *x)
{
    json_object *o = json_new_object(), *threshold = json_new_object();
    json_put_text(o, "rule", x->rule);
    json_put_text(o, "severity", severity_name(x->severity));
    json_put_text(o, "claim", x->claim);
    if (*x->advice) json_put_text(o, "advice", x->advice);
    json_put_text(o, "host", job_json_node_name(r, x->node));
    if (x->device != JOB_NONE) json_put_text(o, "device", r->devices[x->device].name);
    if (x->devices > 1 && x->node == JOB_NONE) json_put(o, "host", NULL);
    if (x->devices > 1 && x->device == JOB_NONE) json_put(o, "device", NULL);
    json_put_exact(o, "host_count", x->nodes);
    if (x->devices) json_put_exact(o, "device_count", x->devices);
    json_put_number(o, "value", x->value);
    json_put_text(o, "unit", x->unit);
    json_put_number(threshold, "value", x->threshold);
    json_put_text(threshold, "origin", x->origin);
    json_put(o, "threshold", threshold);
    json_put_number(o, "from_s", x->from_s);
    json_put_number(o, "to_s", x->to_s);
    json_put_number(o, "cost_s", x->cost_s);
    if (*x->explained_by) json_put_text(o, "explained_by", x->explained_by);
    json_put(o, "incident", json_new_boolean(x->incident));
    if (!x->incident) return o;
    json_put_number(o, "sent_ratio", x->sent_ratio);
    json_put_number(o, "cpu_ratio", x->cpu_ratio);
    json_put_number(o, "gpu_ratio", x->gpu_ratio);
    json_put_number(o, "power_ratio", x->power_ratio);
    json_put_number(o, "lost_s", x->lost_s);
    return o;
}

static json_object *job_json_of_phase(const job_report *r, size_t index)
{
    const job_phase *p = &r->phases[index];
    json_object *o = json_new_object(), *meters = json_new_object(), *spans = json_new_array();
    json_put_text(o, "phase", p->name);
    json_put_exact(o, "count", p->count);
    json_put_number(o, "time_s", p->time_s);
    json_put(o, "incident", json_new_boolean(p->finding != JOB_NONE));
    json_put_number(o, "energy_j", p->energy_j);
    for (size_t i = 0; i < r->span_count; i++) {
        if (r->spans[i].phase != index) continue;
        json_object *span = json_new_object();
        json_put_number(span, "from_s", r->spans[i].from_s);
        json_put_number(span, "to_s", r->spans[i].to_s);
        json_append(spans, span);
    }
    json_put(o, "spans", spans);
    for (int m = 0; m < JOB_METERS; m++) {
        if (isnan(p->meters[m].mean)) continue;
        const job_meter_info *info = job_meter_of((job_meter)m);
        json_object *one = json_new_object();
        json_put_number(one, "mean", p->meters[m].mean);
        json_put_text(one, "unit", info->unit);
        if (*info->total_unit && !isnan(p->meters[m].amount)) json_put_number(one, "total", p->meters[m].amount);
        if (*info->total_unit && !isnan(p->meters[m].amount)) json_put_text(one, "total_unit", info->total_unit);
        json_put(meters, info->name, one);
    }
    json_put(o, "meters", meters);
    return o;
}

static json_object *job_json_of_event(const job_report *r, const job_event *e)
{
    json_object *o = json_new_object();
    json_put_text(o, "source", e->source);
    json_put_text(o, "counter", e->counter);
    json_put_text(o, "unit", e->unit);
    json_put_number(o, "delta", e->sum);
    json_put_exact(o, "device_count", e->devices);
    if (e->worst != JOB_NONE) json_put_text(o, "worst_host", job_json_node_name(r, r->devices[e->worst].node));
    if (e->worst != JOB_NONE) json_put_text(o, "worst_device", r->devices[e->worst].name);
    if (e->worst != JOB_NONE) json_put_number(o, "worst_delta", e->worst_sum);
    json_put(o, "is_background", json_new_boolean(e->background));
    return o;
}

static json_object *job_json_regions_json_part(const regions *x)
{
    json_object *list = json_new_array();
    for (size_t i = 0; i < x->node_count; i++) {
        const regions_node *node = &x->nodes[i];
        char *path = regions_path(x, i);
        json_object *o = json_new_object();
        json_put_text(o, "path", path);
        json_put_exact(o, "calls", node->sums.calls);
        json_put_exact(o, "rank_count", node->cell_count);
        json_put_number(o, "mean_s", node->mean_ns * 1e-9);
        json_put_number(o, "share", node->share);
        json_append(list, o);
        free(path);
    }
    return list;
}

enum { SHARE_COLUMNS = 200 };

static json_object *job_json_of_shares(const job_report *r, size_t region, size_t node, size_t columns)
{
    json_object *list = json_new_array();
    for (size_t i = 0; i < columns; i++) {
        double width = r->end_s / (double)columns,
               share = job_region_share(r, region, node, width * (double)i, width * (double)(i + 1));
        json_append(list, isnan(share) ? NULL : json_new_double(share));
    }
    return list;
}

static json_object *job_json_of_region_time(const job_report *r, size_t region, size_t columns)
{
    const job_region_time *x = &r->region_times[region];
    json_object *o = json_new_object();
    json_put_text(o, "region", x->others ? NULL : x->name);
    json_put_number(o, "own_s", x->own_s);
    json_put_exact(o, "calls", x->calls);
    json_put_exact(o, "declared_bytes", x->bytes);
    json_put(o, "share", job_json_of_shares(r, region, JOB_ALL_NODES, columns));
    if (r->node_count < 2) return o;
    json_object *nodes = json_new_object();
    for (size_t i = 0; i < r->node_count; i++)
        if (job_region_ranks(r, i)) json_put(nodes, r->nodes[i].name, job_json_of_shares(r, region, i, columns));
    json_put(o, "share_by_host", nodes);
    return o;
}

// As many columns as there are samples, and no more than anybody can use.
static json_object *job_json_of_region_times(const job_report *r)
{
    json_object *o = json_new_object(), *list = json_new_array();
    double samples = r->interval_s > 0 ? ceil(r->end_s / r->interval_s) : SHARE_COLUMNS;
    size_t columns = samples < 1 ? 1 : samples < SHARE_COLUMNS ? (size_t)samples : SHARE_COLUMNS;
    json_put_exact(o, "process_count", job_region_ranks(r, JOB_ALL_NODES));
    json_put_number(o, "threads_s", job_region_threads(r));
    json_put_number(o, "column_s", r->end_s / (double)columns);
    for (size_t i = 0; i < r->region_time_count; i++)
        json_append(list, job_json_of_region_time(r, i, columns));
    json_put(o, "regions", list);
    return o;
}

static json_object *job_json_of_notes(const job_report *r)
{
    json_object *list = json_new_array();
    for (size_t i = 0; i < r->note_count; i++) {
        json_object *o = json_new_object();
        json_put_text(o, "severity", severity_name(r->notes[i].severity));
        json_put_text(o, "text", r->notes[i].text);
        json_append(list, o);
    }
    return list;
}

static void job_json_put_lists(const job_report *r, json_object *o)
{
    json_object *nodes = json_new_array(), *phases = json_new_array(), *found = json_new_array();
    json_object *events = json_new_array(), *warnings = json_new_array();
    for (size_t i = 0; i < r->finding_count; i++)
        json_append(found, job_json_of_finding(r, &r->findings[i]));
    for (size_t i = 0; i < r->phase_count; i++)
        json_append(phases, job_json_of_phase(r, i));
    for (size_t i = 0; i < r->event_count; i++)
        if (r->events[i].sum > 0) json_append(events, job_json_of_event(r, &r->events[i]));
    for (size_t i = 0; i < r->node_count; i++)
        json_append(nodes, job_json_of_node(r, &r->nodes[i]));
    for (size_t i = 0; i < r->warning_count; i++) {
        json_object *w = json_new_object();
        json_put_text(w, "file", r->warnings[i].path);
        json_put_text(w, "text", r->warnings[i].text);
        json_append(warnings, w);
    }
    json_put(o, "findings", found);
    json_put(o, "phases", phases);
    if (r->regions.node_count) json_put(o, "regions", job_json_regions_json_part(&r->regions));
    if (r->region_time_count && job_region_ranks(r, JOB_ALL_NODES))
        json_put(o, "regions_over_time", job_json_of_region_times(r));
    json_put(o, "events", events);
    json_put(o, "hosts", nodes);
    json_put(o, "warnings", warnings);
}

// What could be at its limit: how much of it was used, and for how much of the time it was at the limit.
static json_object *job_json_of_bottlenecks(const job_report *r)
{
    static const char *const names[JOB_BOUNDS] = {
        "cpu", "thread", "gpu", "network_sent", "network_received", "network_paused", "io", "cpu_wait"};
    json_object *o = json_new_object(), *resources = json_new_object();
    json_put_text(o, "text", r->bound_text);
    json_put_number(o, "limit_share", JOB_AT_LIMIT);
    for (int of = 0; of < JOB_BOUNDS; of++) {
        const job_bottleneck *x = &r->bottlenecks[of];
        if (isnan(x->mean)) continue;
        json_object *one = json_new_object();
        json_put_number(one, "used_share", x->mean);
        json_put_number(one, "at_limit_share", x->share);
        json_put(one, "is_bound", json_new_boolean(x->bound));
        json_put(resources, names[of], one);
    }
    json_put(o, "resources", resources);
    return o;
}

json_object *job_report_json(const job_report *r)
{
    json_object *o = json_new_object(), *verdict = json_new_object(), *facts = json_new_object();
    json_put_text(o, "format", "netprof-job");
    json_put(o, "version", json_new_int(2));
    json_put_text(verdict, "severity", severity_name(r->severity));
    json_put_text(verdict, "text", r->title);
    json_put(verdict, "notes", job_json_of_notes(r));
    json_put(o, "verdict", verdict);
    for (size_t i = 0; i < r->fact_count; i++)
        json_put_text(facts, r->facts[i].key, r->facts[i].text);
    json_put(o, "facts", facts);
    json_put(o, "begin_ns", json_new_int64(r->begin_ns));
    json_put_number(o, "elapsed_s", r->end_s);
    json_put_number(o, "interval_s", r->interval_s);
    json_put_number(o, "bin_s", r->bin_s);
    json_put_text(o, "state", r->state);
    if (r->pod_start_s > 0 && r->pod_start_s < 9e9) job_json_put_ns(o, "pod_begin_ns", r->pod_start_s);
    json_put_exact(o, "host_count", r->node_count);
    if (r->given_nodes) json_put_exact(o, "allocated_host_count", r->given_nodes);
    json_put_exact(o, "snapshot_count", r->samples);
    json_put_exact(o, "expected_snapshot_count", r->expected);
    json_put(o, "clocks_aligned", json_new_boolean(r->clocks_aligned));
    job_json_put_ns(o, "clock_uncertainty_ns", r->uncertainty_s);
    json_put(o, "damaged", json_new_boolean(r->damaged));
    json_put(o, "efficiency", job_json_of_efficiency(r));
    json_put(o, "use", job_json_of_uses(r));
    json_put(o, "bound_by", job_json_of_bottlenecks(r));
    json_put(o, "energy", job_json_of_energy(r));
    if (r->explained.text) json_put(o, "bytes_explained", job_explained_json(r));
    job_json_put_lists(r, o);
    return o;
}

// Facts of the job, use of the nodes, energy to solution.
#include "job_columns.h"
#include "job_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// ---- facts ----

// As files tell them; of several files the first that does.
static const struct {
    const char *key, *title;
} told[] = {
    {"job_id", "Job"},
    {"job_name", "Name"},
    {"job_user", "User"},
    {"job_account", "Account"},
    {"job_partition", "Partition"},
    {"scheduler", "Scheduler"},
    {"job_array", "Array"},
    {"job_array_task", "Array task"},
    {"job_restart", "Restarts"},
    {"job_step", "Step"},
    {"job_qos", "Quality of service"},
    {"job_nodes", "Nodes"},
    {"job_cpus", "CPUs, all nodes"},
    {"job_gpus", "GPUs, all nodes"},
    {"rank_count", "Ranks"},
    {"command", "Command"},
    {"job_state", "State"},
    {"job_exit_code", "Exit code"},
    {"exit_status", "Exit status"},
    {"signal", "Ended by signal"},
    {"ended_by", "Recording ended by"},
    {"container", "Container"},
    {"pod", "Pod"},
    {"pod_namespace", "Namespace"},
};

static const char *job_fact_text(const job_report *r, const char *key)
{
    for (size_t i = 0; i < r->fact_count; i++)
        if (strcmp(r->facts[i].key, key) == 0) return r->facts[i].text;
    return NULL;
}

static size_t job_fact_row(const char *key)
{
    size_t i = 0;
    while (i < sizeof told / sizeof *told && strcmp(told[i].key, key) != 0)
        i++;
    return i;
}

static void job_add_fact(job_report *r, size_t row, const char *text)
{
    job_fact new = {told[row].key, told[row].title, memory_strdup(text)};
    size_t at = r->fact_count++;
    arrput(r->facts, new);
    for (; at > 0 && job_fact_row(r->facts[at - 1].key) > row; at--)
        r->facts[at] = r->facts[at - 1];
    r->facts[at] = new;
}

void job_make_facts(job_report *r, const dataset_run *run)
{
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        const char *value = dataset_fact(run, told[i].key), *known = job_fact_text(r, told[i].key);
        if (!value || !*value) continue;
        // Files of two jobs in one report: say so instead of hiding one.
        if (known && strcmp(told[i].key, "job_id") == 0 && strcmp(known, value) != 0)
            job_warn(r, run->path, "is of job %.60s, other files of job %.60s", value, known);
        if (!known) job_add_fact(r, i, value);
    }
    for (size_t i = 0; i < run->fact_count; i++)
        if (strcmp(run->facts[i].key, "phase") == 0)
            job_parse_phases(r, run->path, run->facts[i].value, strlen(run->facts[i].value));
    const char *id = job_fact_text(r, "job_id"), *name = job_fact_text(r, "job_name");
    r->job_id = id ? id : "";
    r->job_name = name ? name : "";
}

// ---- use of the nodes ----

static job_use job_compute_use(const job_report *r, job_meter meter)
{
    job_use use = {.meter = meter,
                   .mean = NAN,
                   .low = NAN,
                   .high = NAN,
                   .low_node = JOB_NONE,
                   .high_node = JOB_NONE,
                   .capacity = NAN,
                   .total = NAN,
                   .peak = NAN};
    double sum = 0, weight = 0, capacity = 0;
    for (size_t i = 0; i < r->node_count; i++) {
        const job_lane *lane = r->nodes[i].lanes[meter];
        if (!lane || isnan(lane->mean)) continue;
        if (!use.nodes || lane->mean < use.low) use.low = lane->mean, use.low_node = i;
        if (!use.nodes || lane->mean > use.high) use.high = lane->mean, use.high_node = i;
        use.scope = !use.nodes || use.scope == r->nodes[i].scope[meter] ? r->nodes[i].scope[meter] : JOB_SCOPE_NONE;
        use.peak = fmax(use.peak, lane->high);
        use.lower_bound |= lane->lower_bound;
        use.upper_bound |= lane->upper_bound;
        if (!isnan(lane->total)) use.total = isnan(use.total) ? lane->total : use.total + lane->total;
        capacity += lane->capacity; // NAN when one is unknown
        // Each node counts as long as it is known.
        sum += lane->mean * lane->known_s;
        weight += lane->known_s;
        use.nodes++;
    }
    if (weight > 0) use.mean = sum / weight;
    if (use.nodes) use.capacity = capacity / (double)use.nodes;
    if (job_meter_of(meter)->sum == JOB_AVERAGES) use.total = NAN;
    return use;
}

void job_make_uses(job_report *r)
{
    for (int m = 0; m < JOB_METERS; m++) {
        job_use use = job_compute_use(r, (job_meter)m);
        if (use.nodes) r->uses[r->use_count++] = use;
    }
}

// ---- energy ----

static const job_meter part_meters[JOB_PARTS - 1] = {JOB_POWER_CPU, JOB_POWER_DRAM, JOB_POWER_GPU};

// Has the node a meter of its own for everything?
static bool job_is_whole(const job_node *node)
{
    return node->lanes[JOB_POWER] && node->scope[JOB_POWER] == JOB_SCOPE_NODE && !isnan(node->lanes[JOB_POWER]->total);
}

static void job_add_part(job_report *r, job_part part)
{
    job_energy *e = &r->energy;
    size_t there = 0;
    e->part_j[part] = NAN;
    for (size_t i = 0; i < r->node_count; i++) {
        const job_node *node = &r->nodes[i];
        const job_lane *lane = node->lanes[part_meters[part]];
        there += node->state[part_meters[part]] != JOB_ABSENT;
        if (node->state[part_meters[part]] == JOB_DENIED && e->state[part] != JOB_KNOWN) e->state[part] = JOB_DENIED;
        if (node->state[part_meters[part]] == JOB_UNREADABLE && e->state[part] == JOB_ABSENT)
            e->state[part] = JOB_UNREADABLE;
        if (!lane || isnan(lane->total)) continue;
        e->state[part] = JOB_KNOWN;
        e->part_j[part] = isnan(e->part_j[part]) ? lane->total : e->part_j[part] + lane->total;
        e->part_nodes[part]++;
        e->lower_bound |= lane->lower_bound && !e->whole;
    }
    if (e->part_nodes[part] && e->part_nodes[part] < there && !e->whole) e->lower_bound = true;
}

static double job_energy_between(const job_report *r, double from_s, double to_s)
{
    double sum = NAN;
    for (size_t i = 0; i < r->node_count; i++) {
        double one = job_lane_amount(r, r->nodes[i].lanes[JOB_POWER], from_s, to_s);
        if (!isnan(one)) sum = isnan(sum) ? one : sum + one;
    }
    return sum;
}

static const char *job_energy_how(const job_energy *e)
{
    bool cpu = e->state[JOB_PART_CPU] == JOB_KNOWN, gpu = e->state[JOB_PART_GPU] == JOB_KNOWN;
    if (e->whole && (cpu || gpu))
        return "nodes by their own meters; rest = node minus the parts; what else ran there is in it";
    if (e->whole) return "nodes by their own meters; no part is measured alone";
    if (isnan(e->total_j)) {
        for (int p = 0; p < JOB_PARTS; p++)
            if (e->state[p] == JOB_DENIED) return "no CPU energy: reading it is not permitted";
        return "no energy was recorded";
    }
    if (cpu && gpu) return "CPUs by RAPL, GPUs by their own counters; fans, NICs, disks and losses are not in it";
    if (cpu) return "CPUs by RAPL, whole nodes; GPUs, fans, NICs, disks and losses are not in it";
    if (e->state[JOB_PART_CPU] == JOB_DENIED) return "GPUs alone; no CPU energy: reading it is not permitted";
    return "GPUs alone; no CPU energy was recorded";
}

void job_make_energy(job_report *r)
{
    job_energy *e = &r->energy;
    double time = 0, measured = 0;
    size_t whole = 0, metered = 0;
    for (size_t i = 0; i < r->node_count; i++)
        whole += job_is_whole(&r->nodes[i]);
    e->whole = whole == r->node_count && whole > 0;
    for (int p = 0; p < JOB_PART_REST; p++)
        job_add_part(r, (job_part)p);
    e->total_j = e->part_j[JOB_PART_REST] = e->node_w = NAN;
    for (size_t i = 0; i < r->node_count; i++) {
        const job_lane *lane = r->nodes[i].lanes[JOB_POWER];
        if (!lane || isnan(lane->total)) continue;
        e->total_j = isnan(e->total_j) ? lane->total : e->total_j + lane->total;
        e->lower_bound |= lane->lower_bound;
        metered++;
        measured += lane->mean * lane->known_s;
        time += lane->known_s;
    }
    if (metered && metered < r->node_count) e->lower_bound = true;
    if (time > 0) e->node_w = measured / time;
    if (e->whole) {
        double rest = e->total_j;
        for (int p = 0; p < JOB_PART_REST; p++)
            if (!isnan(e->part_j[p])) rest -= e->part_j[p];
        // Meters that disagree: parts that are more than their node leave no rest to speak of.
        e->state[JOB_PART_REST] = rest >= 0 ? JOB_KNOWN : JOB_UNREADABLE;
        if (rest >= 0) e->part_j[JOB_PART_REST] = rest;
    }
    e->how = job_energy_how(e);
    for (size_t i = 0; i < r->phase_count; i++)
        r->phases[i].energy_j = NAN;
    for (size_t i = 0; i < r->span_count; i++) {
        job_phase *p = &r->phases[r->spans[i].phase];
        double one = job_energy_between(r, r->spans[i].from_s, r->spans[i].to_s);
        if (!isnan(one)) p->energy_j = isnan(p->energy_j) ? one : p->energy_j + one;
    }
}

// By what each meter of a node is measured: of several lanes, the one that says most of the job. CPU time and memory are
// weighed against each other: the kernel's account of the job's own control group knows what ended unseen and counts
// shared pages once; sums over processes are at least, and resident sizes at most, what was used.
#include "job_store.h"
#include "job_tracks.h"

#include <stdlib.h>
#include <string.h>

// ---- whose control group ----

// A component of the path that names the job: "job_99" of Slurm, "99.server" of PBS, "user_99" of OAR.
static bool job_names_component(const char *at, size_t size, const char *id, const char *scheduler)
{
    size_t n = strlen(id);
    if (size == n && memcmp(at, id, n) == 0) return true;
    if (size == n + 4 && memcmp(at, "job_", 4) == 0 && memcmp(at + 4, id, n) == 0) return true;
    return scheduler && strcmp(scheduler, "oar") == 0 && size > n + 1 && at[size - n - 1] == '_' &&
           memcmp(at + size - n, id, n) == 0;
}

static bool job_group_names(const char *path, const char *id, const char *scheduler)
{
    if (!path || !id || !*id) return false;
    for (const char *at = path; *at;) {
        at += strspn(at, "/");
        size_t size = strcspn(at, "/");
        if (size && job_names_component(at, size, id, scheduler)) return true;
        at += size;
    }
    return false;
}

void job_tell_group(job_report *r, const netprof_device *d)
{
    job_node_reader *more = &r->reader->nodes[r->reader->run->node];
    const char *cpu = netprof_fact_of(d->facts, d->fact_count, "cpu_group");
    if (more->group) return;
    more->group = memory_strdup(d->name);
    more->cpu_group = memory_strdup(cpu ? cpu : d->name);
    more->group_given = netprof_fact_of(d->facts, d->fact_count, "given") != NULL;
}

static double job_account_of(const dataset_run *run, const char *key)
{
    const char *text = dataset_fact(run, key);
    return text && *text >= '0' && *text <= '9' ? strtod(text, NULL) * 1e-6 : NAN;
}

void job_take_account(job_report *r, size_t node, const dataset_run *run)
{
    job_node_reader *more = &r->reader->nodes[node];
    const char *id = dataset_fact(run, "job_id"), *scheduler = dataset_fact(run, "scheduler");
    const char *pod = dataset_fact(run, "pod");
    double used = job_account_of(run, "user_cpu_us") + job_account_of(run, "system_cpu_us");
    bool own = more->group_given || (pod && more->group && strstr(more->group, "pod"));
    more->group_is_own |= own || job_group_names(more->group, id, scheduler);
    more->cpu_is_of_own |= own || job_group_names(more->cpu_group, id, scheduler);
    if (!isnan(used)) more->used_cpu_s = (isnan(more->used_cpu_s) ? 0 : more->used_cpu_s) + used;
}

// ---- which lane ----

static bool job_is_more(double a, double b)
{
    return a > 1.05 * b + 0.1;
}

// Does the group's account hold all that was seen of the processes, for as long as they were there?
static bool job_group_covers(const job_lane *group, const job_lane *processes)
{
    if (!job_lane_is_known(group)) return false;
    if (!job_lane_is_known(processes)) return true;
    return !job_is_more(processes->total, group->total);
}

static job_scope job_choose_cpu(job_report *r, size_t index)
{
    job_node_reader *more = &r->reader->nodes[index];
    job_node *node = &r->nodes[index];
    job_lane *const *of = more->lanes[JOB_CPU];
    job_lane *group = of[JOB_SCOPE_GROUP], *processes = of[JOB_SCOPE_JOB], *clock = of[JOB_SCOPE_CLOCK];
    if (more->cpu_is_of_own && job_group_covers(group, processes)) {
        node->cpu_by = JOB_BY_GROUP;
        return JOB_SCOPE_GROUP;
    }
    if (!job_lane_is_known(processes)) {
        node->cpu_by = job_lane_is_known(group) ? JOB_BY_GROUP : JOB_BY_NODE;
        return job_lane_is_known(group) ? JOB_SCOPE_GROUP : JOB_SCOPE_NODE;
    }
    // Nobody in the job waited for what ended, so no process's account has it: there is at least as much.
    bool unseen = job_lane_is_known(clock) && job_is_more(clock->total, processes->total);
    job_lane *lane = unseen ? clock : processes;
    node->cpu_by = unseen ? JOB_BY_CLOCK : JOB_BY_PROCESSES;
    lane->lower_bound |= unseen || more->unseen > 0;
    if (job_is_more(more->used_cpu_s, lane->total)) {
        lane->total = more->used_cpu_s;
        lane->lower_bound = true;
    }
    return unseen ? JOB_SCOPE_CLOCK : JOB_SCOPE_JOB;
}

static job_scope job_choose_memory(job_report *r, size_t index)
{
    job_node_reader *more = &r->reader->nodes[index];
    job_node *node = &r->nodes[index];
    job_lane *const *of = more->lanes[JOB_MEMORY];
    job_lane *group = of[JOB_SCOPE_GROUP], *parts = of[JOB_SCOPE_PARTS], *resident = of[JOB_SCOPE_JOB];
    if (job_lane_is_known(group) && (job_limit_binds(more) || more->group_is_own)) {
        node->memory_by = JOB_BY_GROUP;
        group->lower_bound |= more->group_peak > 1.01 * more->group_high; // more between the readings, by the kernel
        return JOB_SCOPE_GROUP;
    }
    if (job_lane_is_known(parts) && (!job_lane_is_known(resident) || parts->known_s >= 0.5 * resident->known_s)) {
        node->memory_by = JOB_BY_PARTS;
        parts->lower_bound |= job_lane_is_known(resident) && resident->high > 1.1 * parts->high; // between its readings
        return JOB_SCOPE_PARTS;
    }
    if (job_lane_is_known(resident)) {
        node->memory_by = JOB_BY_RESIDENT;
        resident->upper_bound = true;
        return JOB_SCOPE_JOB;
    }
    // All that is not the job's alone says nothing of it where its processes were too short to be seen.
    if (more->state[JOB_MEMORY][JOB_SCOPE_JOB] == JOB_KNOWN) return JOB_SCOPE_NONE;
    node->memory_by = job_lane_is_known(group) ? JOB_BY_GROUP : JOB_BY_NODE;
    return job_lane_is_known(group) ? JOB_SCOPE_GROUP : JOB_SCOPE_NODE;
}

// What the CPU time is of, for it is a part of that.
static job_scope job_choose_kernel(const job_report *r, size_t index)
{
    switch (r->nodes[index].cpu_by) {
    case JOB_BY_GROUP: return JOB_SCOPE_GROUP;
    case JOB_BY_PROCESSES: return JOB_SCOPE_JOB;
    case JOB_BY_NODE: return JOB_SCOPE_NODE;
    default: return JOB_SCOPE_NONE;
    }
}

static job_scope job_choose_usual(const job_node_reader *more, job_meter meter)
{
    static const job_scope order[] = {JOB_SCOPE_JOB, JOB_SCOPE_GROUP, JOB_SCOPE_NODE};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (job_lane_is_known(more->lanes[meter][order[i]])) return order[i];
    return JOB_SCOPE_NONE;
}

// What processes did after their last reading is in no sum of theirs, when no process of the job waited for them.
static void job_bound_unseen(job_report *r, size_t index)
{
    static const job_meter meters[] = {JOB_FILES_READ, JOB_FILES_WRITTEN};
    for (size_t i = 0; i < sizeof meters / sizeof *meters; i++) {
        job_lane *lane = r->nodes[index].lanes[meters[i]];
        if (lane && r->reader->nodes[index].unseen > 0) lane->lower_bound = true;
    }
}

static void job_choose_lane(job_report *r, size_t index, job_meter meter)
{
    job_node *node = &r->nodes[index];
    job_node_reader *more = &r->reader->nodes[index];
    if (job_meter_of(meter)->of_one && r->node_count > 1) return;
    bool tried = false; // else it was read once at most: not in the fast set
    for (int s = JOB_SCOPE_JOB; s <= JOB_SCOPE_NODE; s++) {
        tried |= more->lanes[meter][s] != NULL;
        if (more->state[meter][s] > node->state[meter]) node->state[meter] = more->state[meter][s];
    }
    job_scope scope = meter == JOB_CPU      ? job_choose_cpu(r, index)
                      : meter == JOB_MEMORY ? job_choose_memory(r, index)
                      : meter == JOB_KERNEL ? job_choose_kernel(r, index)
                                            : job_choose_usual(more, meter);
    job_lane *lane = scope ? more->lanes[meter][scope] : NULL;
    if (job_lane_is_known(lane)) {
        node->lanes[meter] = lane;
        node->scope[meter] = scope == JOB_SCOPE_CLOCK || scope == JOB_SCOPE_PARTS ? JOB_SCOPE_JOB : scope;
    }
    if (meter == JOB_POWER && node->lanes[meter])
        node->scope[meter] = JOB_SCOPE_NODE; // its own meter, or the platform's
    if (node->lanes[meter])
        node->state[meter] = JOB_KNOWN;
    else if (node->state[meter] == JOB_KNOWN)
        node->state[meter] = tried ? JOB_UNREADABLE : JOB_ABSENT;
}

void job_choose_lanes(job_report *r, size_t index)
{
    job_node *node = &r->nodes[index];
    for (int m = 0; m < JOB_METERS; m++)
        job_choose_lane(r, index, (job_meter)m);
    job_bound_unseen(r, index);
    if (!node->lanes[JOB_CPU]) node->cpu_by = JOB_BY_NOTHING;
    if (!node->lanes[JOB_MEMORY]) node->memory_by = JOB_BY_NOTHING;
}

// Which counters of a file are followed, and what each is to the meters of its node and device.
#include "job_tracks.h"

#include "analysis/catalog/catalog.h"
#include "analysis/base/text.h"
#include "analysis/data/traffic.h"

#include <stdlib.h>
#include <string.h>

// ---- devices ----

static bool job_has_byte_counters(const netprof_schema *schema, const netprof_device *d)
{
    for (size_t i = d->first; i < (size_t)d->first + d->count; i++)
        if (catalog_marks(d->source, schema->counters[i].name) & (CATALOG_TX_BYTES | CATALOG_RX_BYTES)) return true;
    return false;
}

static bool job_is_repeated(const netprof_schema *schema, size_t device)
{
    for (size_t i = 0; i < schema->device_count; i++)
        if (i != device && traffic_counts_the_same(&schema->devices[i], &schema->devices[device]) &&
            job_has_byte_counters(schema, &schema->devices[i]))
            return true;
    return false;
}

// How near a device is to what a node sends: a physical port, else another device, else the loopback.
static int job_nearness(const netprof_schema *schema, size_t device)
{
    const netprof_device *d = &schema->devices[device];
    if (!job_has_byte_counters(schema, d) || job_is_repeated(schema, device)) return 0;
    return d->flags & NETPROF_DEVICE_PHYSICAL ? 3 : strcmp(d->name, "lo") != 0 ? 2 : 1;
}

// Of each device, computed once per schema: thousands of interfaces make millions of pairs.
static uint8_t *job_nearness_of_all(const netprof_schema *schema, uint8_t *best)
{
    uint8_t *list = memory_calloc(schema->device_count, 1);
    *best = 0;
    for (size_t i = 0; i < schema->device_count; i++) {
        list[i] = (uint8_t)job_nearness(schema, i);
        if (list[i] > *best) *best = list[i];
    }
    return list;
}

// A device of ethtool is the network interface of the same name.
static const netprof_device *job_stands_for(const netprof_schema *schema, const netprof_device *d)
{
    for (size_t i = 0; i < schema->device_count && strcmp(d->source, "ethtool") == 0; i++)
        if (strcmp(schema->devices[i].source, "netdev") == 0 && strcmp(schema->devices[i].name, d->name) == 0)
            return &schema->devices[i];
    return d;
}

static size_t job_find_device(job_report *r, const netprof_device *d)
{
    size_t node = r->reader->run->node;
    for (size_t i = 0; i < r->device_count; i++)
        if (r->devices[i].node == node && strcmp(r->devices[i].source, d->source) == 0 &&
            strcmp(r->devices[i].name, d->name) == 0)
            return i;
    // Virtual devices report a made-up speed.
    double rate = d->flags & NETPROF_DEVICE_PHYSICAL ? traffic_bits_per_s(d) / 8 : 0;
    job_device new = {.node = node,
                      .source = memory_strdup(d->source),
                      .name = memory_strdup(d->name),
                      .line_rate = rate > 0 ? rate : NAN};
    arrput(r->devices, new);
    return r->device_count++;
}

// ---- what is followed ----

// Counters that are followed, though no meter is made of them.
static const struct {
    const char *source, *device, *counter;
    other other;
    double factor;
} others[] = {
    {"user", "recorder", "ticks_missed", OTHER_MISSED, 1},
    {"user", "recorder", "late", OTHER_LATE, 1},
    {"self", "*", "cpu_time", OTHER_RECORDER, 1},
    {"cgroup", "*", "memory_limit", OTHER_LIMIT, 1},
    {"cgroup", "*", "memory_current", OTHER_GROUP_NOW, 1},
    {"cgroup", "*", "memory_peak", OTHER_GROUP_PEAK, 1},
    {"memory", "*", "MemTotal", OTHER_TOTAL, 1},
    {"cgroup", "*", "cpuset_cpus", OTHER_CPUSET, 1},
    {"cgroup", "*", "cpu_quota", OTHER_QUOTA, 1},
    {"cgroup", "*", "cpu_period", OTHER_PERIOD, 1},
    {"process", "*", "cpus_allowed", OTHER_AFFINITY, 1},
    {"process", "*", "run_queue_wait", OTHER_WAITED, 1},
    {"process", "*", "ended_unseen", OTHER_UNSEEN, 1},
    {"energy", "psys*", "power_limit_long_term", OTHER_NONE, 1},
    {"energy", "*/*", "power_limit_long_term", OTHER_NONE, 1}, // of a part of a package
    {"energy", "*", "power_limit_long_term", OTHER_POWER_LIMIT, 1e-6},
    {"gpu", "*", "memory_total", OTHER_GPU_MEMORY, 1},
    {"gpu", "*", "power_limit", OTHER_GPU_POWER, 1e-6},
    {"gpu", "*", "clock_max", OTHER_GPU_CLOCK, 1e6},
};

static other job_other(const netprof_device *d, const netprof_counter *c, double *factor)
{
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (strcmp(others[i].source, d->source) != 0 || strcmp(others[i].counter, c->name) != 0) continue;
        if (!text_like(others[i].device, d->name)) continue;
        *factor = others[i].factor;
        return others[i].other;
    }
    return OTHER_NONE;
}

static bool job_is_trouble(const netprof_device *d, const netprof_counter *c, uint32_t marks)
{
    bool silent = marks & (CATALOG_HARMLESS | CATALOG_UNUSABLE | CATALOG_SAME_AS | CATALOG_CLOCK_ONLY);
    return c->kind == NETPROF_KIND_COUNTER && !silent &&
           (marks & CATALOG_FAULT || catalog_is_trouble(d->source, c->name, c->unit ? c->unit : ""));
}

// `source` is a number for the device's source. Valid until the next call.
static job_known_counter *job_know_counter(job_report *r, size_t source, const netprof_device *d,
                                           const netprof_counter *c)
{
    job_reader *reader = r->reader;
    map_key key = map_key_of_name(source, c->name);
    ptrdiff_t at = hmgeti(reader->known, key);
    if (at >= 0) return &reader->known[at].value;
    uint32_t marks = catalog_marks(d->source, c->name);
    job_known_counter new = {.trouble = job_is_trouble(d, c, marks), .event = JOB_NONE};
    if (c->kind == NETPROF_KIND_COUNTER) new.bytes = marks &(CATALOG_TX_BYTES | CATALOG_RX_BYTES);
    hmput(reader->known, key, new);
    return &reader->known[hmlenu(reader->known) - 1].value;
}

static size_t job_new_event(job_report *r, const netprof_device *d, const netprof_counter *c)
{
    const catalog_entry *entry = catalog_find(d->source, c->name);
    job_event new = {.source = memory_strdup(d->source),
                     .counter = memory_strdup(c->name),
                     .unit = memory_strdup(entry && *entry->unit ? entry->unit
                                           : c->unit             ? c->unit
                                                                 : ""),
                     .worst = JOB_NONE,
                     .severity = SEVERITY_OK};
    new.title = entry && * entry->description && !(entry->marks & CATALOG_PATTERN) ? entry->description : new.counter;
    const char *words = r->reader->is_piece ? NULL : rules_words_of(r->reader->options->rules, d->source, c->name);
    if (words) new.words = memory_strdup(words);
    arrput(r->events, new);
    return r->event_count++;
}

// Energy says what power only samples.
static bool job_is_told_better(const netprof_schema *schema, const netprof_device *d, const job_source_row *row)
{
    if (row->meter != JOB_POWER_GPU || row->kind != JOB_LEVEL) return false;
    for (size_t i = d->first; i < (size_t)d->first + d->count; i++)
        if (strcmp(schema->counters[i].name, "energy") == 0 && schema->counters[i].kind == NETPROF_KIND_COUNTER)
            return true;
    return false;
}

static void job_tell_state(job_report *r, const job_source_row *row, uint8_t status)
{
    job_state *state = &r->reader->nodes[r->reader->run->node].state[row->meter][row->scope];
    job_state now = JOB_UNREADABLE;
    if (status == NETPROF_STATUS_OK)
        now = JOB_KNOWN;
    else if (status == NETPROF_STATUS_DENIED)
        now = JOB_DENIED;
    else if (status == NETPROF_STATUS_SKIPPED || status == NETPROF_STATUS_ABSENT)
        now = JOB_ABSENT;
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
    uint8_t *near, nearest; // of each device, and of the nearest
} following;

// The number of a device in the current file.
static size_t job_find_local(const following *f, size_t device)
{
    const netprof_schema *schema = f->x->schema;
    run_reader *run = f->r->reader->run;
    const netprof_device *d = job_stands_for(schema, &schema->devices[device]);
    size_t found = job_find_device(f->r, d), at = (size_t)(d - schema->devices);
    for (size_t i = 0; i < arrlenu(run->devices); i++)
        if (run->devices[i].device == found) return i;
    bool chosen = f->near[at] && f->near[at] == f->nearest;
    local_device new = {.device = found, .chosen = chosen, .beside = f->near[at] && !chosen};
    arrput(run->devices, new);
    return arrlenu(run->devices) - 1;
}

// Meters of one node alone are not even kept of many.
static bool job_row_is_wanted(const job_report *r, const job_source_row *row)
{
    return row && !(job_meter_of(row->meter)->of_one && (r->node_count > 1 || r->reader->is_piece));
}

static const job_source_row *job_row(following *f, const netprof_device *d, const netprof_counter *c, uint32_t bytes,
                                     double *factor)
{
    const job_source_row *row = bytes ? job_bytes_row(bytes == CATALOG_TX_BYTES) : job_source_row_of(d, c);
    if (!job_row_is_wanted(f->r, row)) return NULL;
    *factor = job_source_factor(row, d, c);
    job_tell_state(f->r, row, f->x->status[c - f->x->schema->counters]);
    return job_is_told_better(f->x->schema, d, row) || (!(*factor > 0) && !(*factor < 0)) ? NULL : row;
}

static void job_open_device(following *f, const netprof_device *d)
{
    if (!f->open) {
        const char *speed = netprof_fact_of(d->facts, d->fact_count, "speed_mbps");
        netprof_list_device(f->list, d->name, d->identity, d->flags);
        if (speed) netprof_list_fact(f->list, "speed_mbps", speed); // wraps of narrow counters are told by it
    }
    f->open = true;
    if (strcmp(d->source, "cgroup") == 0) job_tell_group(f->r, d);
}

static void job_follow_counter(following *f, size_t i)
{
    const netprof_counter *c = &f->x->schema->counters[i];
    const netprof_device *d = &f->x->schema->devices[c->device];
    followed new = {.from = i, .local = JOB_NONE};
    job_known_counter *k = job_know_counter(f->r, f->source, d, c);
    new.row = job_row(f, d, c, k->bytes, &new.factor);
    new.second = new.row ? job_second_row_of(d, c) : NULL;
    if (!job_row_is_wanted(f->r, new.second)) new.second = NULL;
    new.other = job_other(d, c, &new.other_factor);
    if (!new.other && k->trouble) new.other = OTHER_TROUBLE;
    if (!new.row && !new.other) return;
    if ((new.row &&new.row->of_device) || new.other == OTHER_TROUBLE || new.other >= OTHER_GPU_MEMORY) {
        if (f->local == JOB_NONE) f->local = job_find_local(f, c->device);
        new.local = f->local;
    }
    if (new.other == OTHER_TROUBLE && k->event == JOB_NONE) k->event = job_new_event(f->r, d, c);
    new.event = k->event;
    job_open_device(f, d);
    netprof_list_counter(f->list, c);
    arrput(f->t->followed, new);
}

void job_release_track(track *t)
{
    netprof_schema_release(t->schema);
    netprof_schema_release(t->small);
    t->schema = t->small = NULL;
    arrsetlen(t->followed, 0);
}

void job_follow(job_report *r, track *t, const netprof_snapshot *x)
{
    static const char *const facts[] = {"host", "boot_id"};
    const netprof_schema *schema = x->schema;
    const char *source = "";
    following f = {.r = r, .t = t, .list = memory_check(netprof_build_begin(NULL)), .x = x};
    job_release_track(t);
    f.near = job_nearness_of_all(schema, &f.nearest);
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        const char *value = netprof_fact_of(schema->facts, schema->fact_count, facts[i]);
        if (value) netprof_build_fact(f.list, facts[i], value);
    }
    for (size_t d = 0; d < schema->device_count; d++) {
        const netprof_device *device = &schema->devices[d];
        f.open = false;
        f.local = JOB_NONE;
        f.source = (size_t)map_key_of_name(0, device->source).a;
        if (strcmp(source, device->source) != 0) netprof_build_source(f.list, source = device->source);
        for (size_t i = device->first; i < (size_t)device->first + device->count; i++)
            job_follow_counter(&f, i);
    }
    free(f.near);
    if (netprof_build_end(f.list, &t->small, NULL)) memory_exhausted(); // the only error of a list in order
    netprof_schema_retain(schema);
    t->schema = schema;
}

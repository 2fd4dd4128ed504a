// What could not be judged, why, and whether a verdict may pass over it.
#include "findings_making.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <stdlib.h>
#include <string.h>

// ---- what it hides ----

static severity findings_reach(const rule *x)
{
    int s = SEVERITY_CRITICAL;
    while (s > SEVERITY_OK && x->thresholds[s].op == EXPRESSION_NUMBER)
        s--;
    return (severity)s;
}

bool findings_is_network(const char *source)
{
    return expression_is_source(source, strlen(source));
}

bool findings_is_host(const char *source)
{
    return strcmp(source, "ip") == 0 || findings_names_rule(FINDINGS_HOST_SOURCES, source);
}

static bool findings_is_device_new(const findings *f, size_t device)
{
    const difference_counts *c = &f->d->devices[device];
    return c->counters && c->flagged[NETPROF_FLAG_NEW] == c->counters;
}

// There was something to read, and it was not read: a fault may hide there. What nobody can know on a healthy node (the
// speed of a virtual port), what was not asked for, and what is said by a finding of its own (saturated) is not among it.
static bool findings_matters(const findings *f, const finding_unknown *u)
{
    if (strcmp(u->rule->source, "expect") == 0) return true; // the user asks for it
    if (u->cause < FINDING_NEW || u->rule->class_rank >= rules_class_rank("utilisation")) return false;
    if (u->device == DIFFERENCE_NONE) return findings_is_host(u->source) && u->hides >= SEVERITY_HIGH;
    if (u->cause == FINDING_NEW && !findings_is_device_new(f, u->device)) return false;
    if (findings_is_network(u->source))
        return f->d->delta->schema->devices[u->device].flags & NETPROF_DEVICE_PHYSICAL && u->hides >= SEVERITY_WARN;
    return findings_is_host(u->source) && u->hides >= SEVERITY_HIGH;
}

// ---- a rule ----

static finding_cause findings_cause_of_status(uint8_t status)
{
    switch (status) {
    case NETPROF_STATUS_SKIPPED: return FINDING_SKIPPED;
    case NETPROF_STATUS_DENIED: return FINDING_DENIED;
    case NETPROF_STATUS_VANISHED: return FINDING_VANISHED;
    case NETPROF_STATUS_SATURATED: return FINDING_SATURATED;
    case NETPROF_STATUS_UNREADABLE: return FINDING_UNREADABLE;
    default: return FINDING_NOT_KNOWN;
    }
}

static finding_cause findings_cause_of_counter(const netprof_delta *delta, const difference_row *row, size_t i)
{
    finding_cause before = findings_cause_of_status(delta->before_status[i]);
    finding_cause after = findings_cause_of_status(delta->after_status[i]);
    switch (row->flag) {
    case NETPROF_FLAG_RESET: return FINDING_RESET;
    case NETPROF_FLAG_NEW: return FINDING_NEW;
    case NETPROF_FLAG_GONE: return FINDING_GONE;
    case NETPROF_FLAG_SUSPECT: return after == FINDING_SATURATED ? FINDING_SATURATED : FINDING_SUSPECT;
    default: return after ? after : before;
    }
}

// Where a counter's file is, for the sources that keep each in a file of its own. Of the directories that may hold it
// the one above them.
static char *findings_counter_path(const netprof_schema *schema, size_t i)
{
    const netprof_counter *counter = &schema->counters[i];
    const netprof_device *dev = &schema->devices[counter->device];
    const char *given = netprof_fact_of(schema->facts, schema->fact_count, "root"), *name = counter->name;
    const char *root = given && strcmp(given, "/") != 0 ? given : "", *slash = strchr(dev->name, '/');
    if (strcmp(dev->source, "rdma") == 0 && slash)
        return memory_format("%s/sys/class/infiniband/%.*s/ports/%s", root, (int)(slash - dev->name), dev->name,
                             slash + 1);
    if (strcmp(dev->source, "netdev") == 0 && *root)
        return memory_format("%s/sys/class/net/%s/statistics/%s", root, dev->name, name);
    if (strcmp(dev->source, "cxi") != 0) return NULL;
    if (strncmp(name, "rh:", 3) == 0) return memory_format("%s/run/cxi/%s/%s", root, dev->name, name + 3);
    return memory_format("%s/sys/class/cxi/%s/device/%s%s", root, dev->name, strchr(name, '/') ? "" : "telemetry/",
                         name);
}

static void findings_put_unknown(findings *f, finding_unknown u)
{
    arrput(f->unknown, u);
    f->unknown_count = arrlenu(f->unknown);
    f->unknown_checks += u.checks;
    f->is_blind |= u.matters;
}

void findings_add_unknown(findings_making *m, const rule *x, size_t device, reading r)
{
    findings *f = m->f;
    const netprof_delta *delta = f->d->delta;
    finding_unknown u = {.rule = x,
                         .source = device == DIFFERENCE_NONE ? x->source : delta->schema->devices[device].source,
                         .device = device,
                         .counter = r.counter,
                         .reason = r.reason ? r.reason : "unknown",
                         .checks = 1,
                         .hides = findings_reach(x),
                         .hides_class = x->class_name};
    if (r.at) {
        u.cause = findings_cause_of_counter(delta, &f->d->rows[r.at - 1], r.at - 1);
        u.sys_errno = f->d->rows[r.at - 1].sys_errno;
        if (u.cause >= FINDING_VANISHED) u.path = findings_counter_path(delta->schema, r.at - 1);
    } else if (r.reason == expression_timeless) {
        u.cause = FINDING_TIMELESS;
    } else if (r.status == READING_SKIPPED) {
        u.cause = FINDING_SKIPPED;
    }
    u.matters = findings_matters(f, &u);
    findings_put_unknown(f, u);
}

// ---- sources ----

static bool findings_formula_names(const expression *x, const char *source)
{
    for (uint32_t i = 1; i < x->count; i++)
        if (x->nodes[i].qualifier && strcmp(x->nodes[i].qualifier, source) == 0) return true;
    return false;
}

// Its own rules; of a source without rules those that look at its counters as well.
static bool findings_uses_source(const rule *x, const char *source)
{
    if (strcmp(x->source, source) == 0) return true;
    bool uses = findings_formula_names(&x->value, source) || findings_formula_names(&x->needs, source);
    for (size_t i = 0; i < x->local_count; i++)
        uses |= findings_formula_names(&x->locals[i], source);
    return !x->per_node && uses;
}

// Below another root it is a saved tree, of which parts were not saved.
static bool findings_is_other_root(const netprof_schema *schema)
{
    const char *root = netprof_fact_of(schema->facts, schema->fact_count, "root");
    return root && *root && strcmp(root, "/") != 0;
}

static bool findings_is_failed(const netprof_schema *schema, const netprof_source_state *s)
{
    if (s->status == NETPROF_STATUS_VANISHED && !s->device_count && findings_is_other_root(schema)) return false;
    return s->status == NETPROF_STATUS_DENIED || s->status == NETPROF_STATUS_VANISHED ||
           s->status == NETPROF_STATUS_UNREADABLE;
}

// Of the kernel's protocols a file or two may be for root alone.
static bool findings_source_matters(const netprof_source_state *s, const finding_unknown *u)
{
    if (strcmp(s->name, "ip") == 0 && s->device_count) return false;
    if (findings_is_network(s->name)) return true;
    return findings_is_host(s->name) && u->hides >= SEVERITY_HIGH;
}

static void findings_add_blind_source(findings_making *m, const netprof_source_state *s)
{
    finding_unknown u = {.source = s->name,
                         .device = DIFFERENCE_NONE,
                         .reason = netprof_status_name(s->status),
                         .cause = findings_cause_of_status((uint8_t)s->status),
                         .sys_errno = s->sys_errno};
    for (size_t i = 0; i < m->set->count; i++) {
        const rule *x = m->set->items[i];
        if (!findings_uses_source(x, s->name)) continue;
        u.checks++;
        if (findings_reach(x) <= u.hides) continue;
        u.hides = findings_reach(x);
        u.hides_class = x->class_name;
    }
    if (!u.checks) return;
    if (s->path && *s->path) u.path = memory_strdup(s->path);
    u.matters = findings_source_matters(s, &u);
    findings_put_unknown(m->f, u);
}

void findings_add_unseen(findings_making *m, const char *rule_name, const char *source, const char *device)
{
    const rule *x = rules_find(m->set, rule_name);
    const netprof_source_state *s = dataset_source(m->f->d->delta->schema, source);
    if (!x) return;
    finding_unknown u = {.rule = x,
                         .source = x->source,
                         .subject = memory_strdup(device),
                         .device = DIFFERENCE_NONE,
                         .reason = s ? netprof_status_name(s->status) : "its source was not read",
                         .cause = s ? findings_cause_of_status((uint8_t)s->status) : FINDING_SKIPPED,
                         .sys_errno = s ? s->sys_errno : 0,
                         .checks = 1,
                         .hides = findings_reach(x),
                         .hides_class = x->class_name};
    if (s && *s->path) u.path = memory_strdup(s->path);
    u.matters = findings_matters(m->f, &u);
    findings_put_unknown(m->f, u);
}

// As the last snapshot saw them; what only the first could not read is missing as well.
void findings_add_blind_sources(findings_making *m)
{
    const netprof_schema *schema = m->f->d->delta->schema, *first = m->f->d->first;
    for (size_t i = 0; i < schema->source_count; i++)
        if (findings_is_failed(schema, &schema->sources[i])) findings_add_blind_source(m, &schema->sources[i]);
    for (size_t i = 0; first && i < first->source_count; i++) {
        const netprof_source_state *later = dataset_source(schema, first->sources[i].name);
        if (findings_is_failed(first, &first->sources[i]) && !(later && findings_is_failed(schema, later)))
            findings_add_blind_source(m, &first->sources[i]);
    }
}

void findings_add_check(findings_making *m, finding_check check)
{
    findings *f = m->f;
    arrput(f->checks, check);
    f->check_count = arrlenu(f->checks);
}

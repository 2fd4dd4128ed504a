// From the whole of the logs to what is shown of it.
#include "nccl_view_private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define DASH "\xe2\x80\x93"

typedef struct making {
    nccl_view *v;
    const nccl *n;
    const nccl_findings *f;
    uint32_t *groups;               // of each communicator: the first one of its group
    double *values;                 // room for one number of every instance
    uint32_t main_group, main_coll; // NCCL_NONE: there is nothing
} making;

static const nccl_communicator *communicator_of(const making *m, const nccl_series *s)
{
    return &m->n->communicators[s->communicator];
}

// ---- what was read ----

static uint64_t unusable_lines(const uint64_t outcomes[NCCL_OUTCOMES])
{
    uint64_t sum = 0;
    for (int i = NCCL_BAD_JSON; i < NCCL_COLL; i++)
        sum += outcomes[i];
    return sum;
}

static bool is_damaged(const nccl_file *f)
{
    return f->error || f->problem || f->cut || f->tail_cut || f->first_bad_line || f->duplicates || f->conflicts;
}

static const char *versions_text(making *m)
{
    const char *text = "";
    for (int minor = 0; minor < 10; minor++)
        if (m->n->versions >> minor & 1) text = nccl_view_format(m->v, "%s%sv4.%d", text, *text ? ", " : "", minor);
    return m->n->foreign_version ? nccl_view_format(m->v, "%s%sand one that is not known", text, *text ? ", " : "")
                                 : text;
}

static void add_facts(making *m)
{
    nccl_view *v = m->v;
    const nccl *n = m->n;
    v->files = n->file_count;
    for (size_t i = 0; i < n->file_count; i++)
        v->files_damaged += is_damaged(&n->files[i]);
    v->lines = n->lines;
    v->bytes = n->size;
    v->unpacked_bytes = n->bytes;
    v->unusable = unusable_lines(n->outcomes);
    v->records = n->record_count;
    v->hosts = n->host_count;
    v->processes = n->process_count;
    v->communicators = n->communicator_count;
    v->calls = n->instance_count;
    for (size_t i = 0; i < n->communicator_count; i++) {
        if ((uint64_t)n->communicators[i].ranks > v->ranks) v->ranks = (uint64_t)n->communicators[i].ranks;
        v->time_us += n->communicators[i].time_us;
    }
    if (n->member_count) {
        v->first_dump_us = n->first_dump_us;
        v->last_dump_us = n->last_dump_us;
    }
    if (n->host_count) {
        v->first_host = nccl_view_text(v, n->hosts[0].name);
        v->last_host = nccl_view_text(v, n->hosts[n->host_count - 1].name);
    }
    v->versions = versions_text(m);
}

// ---- findings and sentences ----

static void add_findings(making *m)
{
    nccl_view *v = m->v;
    const nccl_findings *f = m->f;
    size_t count = f->count < NCCL_VIEW_FINDINGS ? f->count : NCCL_VIEW_FINDINGS;
    v->severity = f->severity;
    v->findings_left = f->count - count;
    v->findings.items = nccl_view_take(v, count, sizeof *v->findings.items);
    for (size_t i = 0; v->findings.items && i < count; i++) {
        const nccl_finding *x = &f->items[i];
        nccl_view_finding *to = &v->findings.items[v->findings.count++];
        *to = (nccl_view_finding){.severity = x->severity, .value = x->value, .limit = x->rule->limit};
        to->rule = x->rule->name;
        to->device = nccl_view_text(v, x->device);
        to->claim = nccl_view_text(v, x->claim);
        to->unit = x->rule->unit;
        to->origin = x->rule->origin;
        to->advice = x->rule->advice;
        to->explained_by = x->explained_by ? x->explained_by : "";
        to->evidence.items = nccl_view_take(v, x->evidence_count, sizeof *to->evidence.items);
        for (size_t k = 0; to->evidence.items && k < x->evidence_count; k++)
            to->evidence.items[to->evidence.count++] = (nccl_view_evidence){
                nccl_view_text(v, x->evidence[k].name), nccl_view_text(v, x->evidence[k].unit), x->evidence[k].value};
    }
    v->unknown.items = nccl_view_take(v, f->unknown_count, sizeof *v->unknown.items);
    for (size_t i = 0; v->unknown.items && i < f->unknown_count && i < NCCL_VIEW_FINDINGS; i++)
        v->unknown.items[v->unknown.count++] = (nccl_view_line){SEVERITY_INFO, nccl_view_text(v, f->unknown[i])};
}

enum { SENTENCES = 6 };

static const char *capital(making *m, const char *text)
{
    char *copy = (char *)(uintptr_t)nccl_view_text(m->v, text);
    if (*copy >= 'a' && *copy <= 'z') *copy = (char)(*copy - 'a' + 'A');
    return copy;
}

static void say(making *m, severity s, const char *text)
{
    nccl_view *v = m->v;
    if (v->sentences.items && v->sentences.count < SENTENCES)
        v->sentences.items[v->sentences.count++] = (nccl_view_line){s, text};
}

// Which findings are said on the first page: the worst, at most two of a rule, one of the data's own.
static bool is_said(const making *m, size_t i, size_t said)
{
    const nccl_finding *x = &m->f->items[i];
    size_t alike = 0;
    bool data = strcmp(x->rule->class_name, "data") == 0;
    for (size_t k = 0; k < i; k++)
        alike += m->f->items[k].rule == x->rule || (data && strcmp(m->f->items[k].rule->class_name, "data") == 0);
    return x->severity >= SEVERITY_WATCH && !x->explained_by && alike < (data ? 1 : 2) && (data || said < 3);
}

static bool has_class(const making *m, const char *name)
{
    for (size_t i = 0; i < m->f->count; i++)
        if (m->f->items[i].severity >= SEVERITY_WATCH && strcmp(m->f->items[i].rule->class_name, name) == 0)
            return true;
    return false;
}

static const nccl_view_size *largest_size(const nccl_view *v)
{
    const nccl_view_size *best = NULL;
    for (size_t i = 0; i < v->sizes.count; i++)
        if (v->sizes.items[i].bus_gbs.count) best = &v->sizes.items[i];
    return best;
}

static const char *binary_size(making *m, uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes;
    size_t unit = 0;
    for (; value >= 1024; unit++)
        value /= 1024;
    return nccl_view_format(m->v, value == floor(value) ? "%.0f %s" : "%.3g %s", value, units[unit]);
}

// What the wire does when nobody waits: said when no finding is about it.
static void say_wire(making *m)
{
    const nccl_view *v = m->v;
    const nccl_view_size *s = largest_size(v);
    const char *of_peak = "";
    if (!s || has_class(m, "wire")) return;
    if (!isnan(v->main_peak_gbs))
        of_peak = nccl_view_format(m->v, ", %.0f %% of the peak", 100 * s->bus_gbs.p50 / v->main_peak_gbs);
    say(m, isnan(v->main_peak_gbs) ? SEVERITY_INFO : SEVERITY_OK,
        nccl_view_format(
            m->v, "The wire: %s of %s on %s moves %.3g GB/s in the median%s; nine of ten calls %.3g to %.3g GB/s.",
            v->main_coll, binary_size(m, s->size), v->main_label, s->bus_gbs.p50, of_peak, s->bus_gbs.p5,
            s->bus_gbs.p95));
}

// Its rank in the largest communicator is the one that people know.
static const nccl_member *widest_member(const nccl *n, uint32_t process)
{
    const nccl_process *p = &n->processes[process];
    const nccl_member *best = NULL;
    for (uint32_t i = p->first_member; i < p->first_member + p->member_count; i++) {
        const nccl_member *m = &n->members[n->process_members[i]];
        if (!best || n->communicators[m->communicator].ranks > n->communicators[best->communicator].ranks) best = m;
    }
    return best;
}

static const char *seconds_text(making *m, double us)
{
    if (us >= 1e6) return nccl_view_format(m->v, us >= 1e7 ? "%.0f s" : "%.1f s", us / 1e6);
    return us >= 1e3 ? nccl_view_format(m->v, "%.0f ms", us / 1e3) : nccl_view_format(m->v, "%.0f \xc2\xb5s", us);
}

// The same process under the name that it has elsewhere, and what it cost in all.
static void say_process(making *m, const nccl_finding *x)
{
    const nccl *n = m->n;
    if (x->member == NCCL_NONE || strcmp(x->rule->class_name, "late") != 0 || isnan(x->cost_us)) return;
    const nccl_member *of = &n->members[x->member], *wide = widest_member(n, of->process);
    const nccl_process *p = &n->processes[of->process];
    const char *also = wide == of ? ""
                                  : nccl_view_format(m->v, "is rank %lld of %s, ", (long long)wide->rank,
                                                     n->communicators[wide->communicator].label);
    say(m, SEVERITY_INFO,
        nccl_view_format(m->v,
                         "That process (pid %lld, local rank %u) %sand cost %s in all its communicators together.",
                         (long long)p->pid, p->local, also, seconds_text(m, x->cost_us)));
}

// "look at this process" behind "Look next: ".
static const char *look_at(const char *advice)
{
    static const char verb[] = "look at ";
    return strncmp(advice, verb, sizeof verb - 1) == 0 ? advice + sizeof verb - 1 : advice;
}

static void say_all(making *m)
{
    size_t said = 0;
    const nccl_finding *lead = NULL;
    m->v->sentences.items = nccl_view_take(m->v, SENTENCES, sizeof(nccl_view_line));
    for (size_t i = 0; i < m->f->count && said < 4; i++) {
        if (!is_said(m, i, said)) continue;
        if (!lead) lead = &m->f->items[i];
        say(m, m->f->items[i].severity, nccl_view_format(m->v, "%s.", capital(m, m->f->items[i].claim)));
        say_process(m, &m->f->items[i]);
        said++;
    }
    if (!said && (m->v->completeness_known || !m->n->instance_count))
        say(m, m->f->judged && m->n->instance_count ? SEVERITY_OK : SEVERITY_INFO,
            nccl_view_format(m->v, "%s.", m->f->verdict));
    say_wire(m);
    for (size_t i = 0; i < m->f->count; i++)
        if (strcmp(m->f->items[i].rule->name, "nccl-mean-misleads") == 0)
            say(m, SEVERITY_INFO, nccl_view_format(m->v, "%s.", capital(m, m->f->items[i].claim)));
    if (lead && *lead->rule->advice)
        say(m, SEVERITY_INFO, nccl_view_format(m->v, "Look next: %s.", look_at(lead->rule->advice)));
    else if (!m->v->completeness_known && m->n->instance_count)
        say(m, SEVERITY_INFO, "Every communicator has one rank: nobody waits for anybody, and nothing can be missed.");
}

// The finding in as few words as a heading needs; else its claim.
static const char *title_of(making *m)
{
    const nccl_finding *x = m->f->count ? &m->f->items[0] : NULL;
    const nccl *n = m->n;
    if (!x || x->severity < SEVERITY_WATCH) return nccl_view_text(m->v, m->f->verdict);
    if (strcmp(x->rule->name, "nccl-below-peak") == 0 && x->communicator != NCCL_NONE)
        return nccl_view_format(m->v, "%s reaches %.0f %% of its peak", n->communicators[x->communicator].label,
                                100 * x->value);
    if (strcmp(x->rule->class_name, "late") != 0 || isnan(x->cost_us)) return nccl_view_text(m->v, m->f->verdict);
    if (x->member != NCCL_NONE) {
        const nccl_member *of = widest_member(n, n->members[x->member].process);
        return nccl_view_format(m->v, "Rank %lld of %s, on %s, was late: %s lost", (long long)of->rank,
                                n->communicators[of->communicator].label, n->hosts[n->processes[of->process].host].name,
                                seconds_text(m, x->cost_us));
    }
    if (x->host != NCCL_NONE)
        return nccl_view_format(m->v, "Host %s was late: %s lost", n->hosts[x->host].name, seconds_text(m, x->cost_us));
    return nccl_view_text(m->v, m->f->verdict);
}

// ---- groups: communicators that are alike stand on one row ----

// "tp 0" and "tp 12" have the stem "tp "; without a name: "".
static size_t stem_of(const nccl_communicator *c)
{
    size_t length = strlen(c->name);
    while (length && c->name[length - 1] >= '0' && c->name[length - 1] <= '9')
        length--;
    return length;
}

// One that is unlike its equals: ranks are late in it, or it is slow.
static bool is_named(const making *m, uint32_t communicator)
{
    for (size_t i = 0; i < m->f->count; i++) {
        const nccl_finding *x = &m->f->items[i];
        if (x->communicator != communicator) continue;
        if (strcmp(x->rule->class_name, "late") == 0 || strcmp(x->rule->name, "nccl-slow-communicator") == 0)
            return true;
    }
    return false;
}

static bool are_alike(const making *m, uint32_t a, uint32_t b)
{
    const nccl_communicator *x = &m->n->communicators[a], *y = &m->n->communicators[b];
    size_t stem = stem_of(x);
    return x->type == y->type && x->ranks == y->ranks && x->nodes == y->nodes && stem == stem_of(y) &&
           !*x->name == !*y->name && strncmp(x->name, y->name, stem) == 0;
}

static bool make_groups(making *m)
{
    size_t count = m->n->communicator_count;
    uint32_t *leaders = malloc((count + 1) * sizeof *leaders);
    size_t leader_count = 0;
    m->groups = malloc((count + 1) * sizeof *m->groups);
    for (uint32_t i = 0; leaders && m->groups && i < count; i++) {
        m->groups[i] = i;
        if (is_named(m, i)) continue;
        size_t k = leader_count; // equal ones are neighbours: the last leader first
        while (k && !are_alike(m, leaders[k - 1], i))
            k--;
        if (k)
            m->groups[i] = leaders[k - 1];
        else
            leaders[leader_count++] = i;
    }
    free(leaders);
    return leaders && m->groups;
}

static uint64_t group_size(const making *m, uint32_t group)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < m->n->communicator_count; i++)
        count += m->groups[i] == group;
    return count;
}

static const char *group_label(making *m, uint32_t group)
{
    const nccl_communicator *c = &m->n->communicators[group];
    uint64_t count = group_size(m, group);
    size_t stem = stem_of(c);
    unsigned long long low = ~0ULL, high = 0;
    if (count == 1) return nccl_view_text(m->v, c->label);
    if (!*c->name) return nccl_view_format(m->v, "%llu %s", (unsigned long long)count, nccl_class_name(c->type));
    for (uint32_t i = 0; i < m->n->communicator_count; i++) {
        const char *number = m->n->communicators[i].name + stem;
        if (m->groups[i] != group || !*number) continue;
        unsigned long long value = strtoull(number, NULL, 10);
        if (value < low) low = value;
        if (value > high) high = value;
    }
    if (high > low) return nccl_view_format(m->v, "%.*s%llu" DASH "%llu", (int)stem, c->name, low, high);
    return nccl_view_format(m->v, "%s \xc3\x97%llu", c->name, (unsigned long long)count);
}

// ---- several series together ----

typedef double value_of(const nccl_series *s, const nccl_instance *x);

static double wire_of(const nccl_series *s, const nccl_instance *x)
{
    (void)s;
    return (double)x->min_us;
}

static double skew_of(const nccl_series *s, const nccl_instance *x)
{
    (void)s;
    return (double)(x->max_us - x->min_us);
}

static double bus_of(const nccl_series *s, const nccl_instance *x)
{
    return nccl_bus_gbs(s, (double)x->min_us);
}

static double mean_bus_of(const nccl_series *s, const nccl_instance *x)
{
    (void)s;
    return x->mean_bus;
}

static nccl_spread merge(making *m, const uint32_t *indexes, size_t count, value_of *of)
{
    const nccl *n = m->n;
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        const nccl_series *s = &n->series[indexes[i]];
        for (size_t k = 0; k < s->instance_count; k++) {
            double value = of(s, &n->instances[s->first_instance + k]);
            if (!isnan(value)) m->values[used++] = value;
        }
    }
    return nccl_spread_of(m->values, used);
}

static double common_peak(const making *m, const uint32_t *indexes, size_t count)
{
    double peak = count ? communicator_of(m, &m->n->series[indexes[0]])->peak_gbs : NAN;
    for (size_t i = 1; i < count; i++)
        if (communicator_of(m, &m->n->series[indexes[i]])->peak_gbs != peak) return NAN;
    return peak;
}

// ---- the table of collectives ----

// A row to be, and the series in it.
typedef struct lot {
    uint32_t group, coll;
    uint64_t size, time_us;
    uint32_t first, count; // in the ordered series
    double share;          // of all rows' time
} lot;

typedef struct sorted_series {
    uint32_t series, group, coll;
    uint64_t size;
} sorted_series;

static int by_group(const void *a, const void *b)
{
    const sorted_series *x = a, *y = b;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    if (x->coll != y->coll) return x->coll < y->coll ? -1 : 1;
    if (x->size != y->size) return x->size < y->size ? -1 : 1;
    return (x->series > y->series) - (x->series < y->series);
}

typedef struct lots {
    sorted_series *sorted;
    uint32_t *series; // in that order
    lot *items;
    size_t count;
} lots;

static void free_lots(lots *l)
{
    free(l->sorted);
    free(l->series);
    free(l->items);
}

static double lot_time(const making *m, const lot *x)
{
    return (double)x->time_us / (double)group_size(m, x->group);
}

static bool make_lots(making *m, lots *l)
{
    const nccl *n = m->n;
    double all = 0;
    *l = (lots){malloc((n->series_count + 1) * sizeof *l->sorted), malloc((n->series_count + 1) * sizeof *l->series),
                calloc(n->series_count + 1, sizeof *l->items), 0};
    if (!l->sorted || !l->series || !l->items) return false;
    for (uint32_t i = 0; i < n->series_count; i++)
        l->sorted[i] = (sorted_series){i, m->groups[n->series[i].communicator], n->series[i].coll, n->series[i].size};
    qsort(l->sorted, n->series_count, sizeof *l->sorted, by_group);
    for (uint32_t i = 0; i < n->series_count; i++) {
        const sorted_series *s = &l->sorted[i];
        lot *last = l->count ? &l->items[l->count - 1] : NULL;
        l->series[i] = s->series;
        if (!last || last->group != s->group || last->coll != s->coll || last->size != s->size) {
            last = &l->items[l->count++];
            *last = (lot){.group = s->group, .coll = s->coll, .size = s->size, .first = i};
        }
        last->count++;
        last->time_us += n->series[s->series].time_us;
    }
    for (size_t i = 0; i < l->count; i++)
        all += l->items[i].share = lot_time(m, &l->items[i]);
    for (size_t i = 0; i < l->count; i++)
        l->items[i].share = all > 0 ? l->items[i].share / all : 0;
    return true;
}

static severity skew_severity(const nccl_view_row *r)
{
    if (r->ranks < 2 || !r->skew_us.count || r->skew_us.p50 <= 1000) return SEVERITY_OK;
    return r->skew_us.p50 > 2 * r->wire_us.p50 ? SEVERITY_HIGH : SEVERITY_OK;
}

static nccl_view_row row_of(making *m, const lots *l, const lot *x)
{
    const nccl *n = m->n;
    const uint32_t *indexes = l->series + x->first;
    const nccl_spreads *one = &n->series[indexes[0]].spreads;
    nccl_view_row r = {.label = group_label(m, x->group),
                       .coll = n->colls[x->coll],
                       .size_low = x->size,
                       .size_high = x->size,
                       .sizes = 1,
                       .time_us = lot_time(m, x)};
    r.coll = nccl_view_text(m->v, r.coll);
    r.communicators = group_size(m, x->group);
    r.ranks = (uint64_t)n->communicators[x->group].ranks;
    r.peak_gbs = common_peak(m, indexes, x->count);
    for (size_t i = 0; i < x->count; i++) {
        const nccl_series *s = &n->series[indexes[i]];
        r.calls += s->instance_count;
        r.incomplete += s->incomplete;
        r.bytes += s->traffic_bytes * (double)s->instance_count;
    }
    r.wire_us = x->count == 1 ? one->wire_us : merge(m, indexes, x->count, wire_of);
    r.skew_us = x->count == 1 ? one->skew_us : merge(m, indexes, x->count, skew_of);
    r.bus_gbs = x->count == 1 ? one->bus_gbs : merge(m, indexes, x->count, bus_of);
    r.mean_bus_gbs = x->count == 1 ? one->mean_bus_gbs : merge(m, indexes, x->count, mean_bus_of);
    r.severity = skew_severity(&r);
    return r;
}

static void fold_into(nccl_view_row *to, const nccl_view_row *from)
{
    if (from->size_low < to->size_low) to->size_low = from->size_low;
    if (from->size_high > to->size_high) to->size_high = from->size_high;
    to->sizes += from->sizes;
    to->calls += from->calls;
    to->incomplete += from->incomplete;
    to->bytes += from->bytes;
    to->time_us += from->time_us;
    if (from->severity > to->severity) to->severity = from->severity;
    to->wire_us.count = to->skew_us.count = to->bus_gbs.count = to->mean_bus_gbs.count = 0;
}

static bool is_small(const lots *l, const lot *x)
{
    for (size_t i = 0; i < l->count; i++)
        if (l->items[i].group == x->group && l->items[i].coll == x->coll && l->items[i].share > 2 * x->share)
            return x->share < 0.05;
    return false;
}

// Sizes below 5 % of the time, and of half of the collective's dearest, become one row where there are two or more.
static bool is_foldable(const lots *l, const lot *x)
{
    size_t count = 0;
    for (size_t i = 0; i < l->count; i++)
        count += l->items[i].group == x->group && l->items[i].coll == x->coll && is_small(l, &l->items[i]);
    return count > 1 && is_small(l, x);
}

static int by_row_time(const void *a, const void *b)
{
    const nccl_view_row *x = a, *y = b;
    if (x->time_us != y->time_us) return x->time_us < y->time_us ? 1 : -1;
    int order = strcmp(x->label, y->label);
    if (!order) order = strcmp(x->coll, y->coll);
    return order ? order : (x->size_low > y->size_low) - (x->size_low < y->size_low);
}

static void add_rows(making *m, const lots *l)
{
    nccl_view *v = m->v;
    uint32_t group = NCCL_NONE, coll = NCCL_NONE;
    nccl_view_row *open = NULL; // of this group and collective, for the small ones
    v->rows.items = nccl_view_take(v, l->count, sizeof *v->rows.items);
    for (size_t i = 0; v->rows.items && i < l->count; i++) {
        const lot *x = &l->items[i];
        nccl_view_row r = row_of(m, l, x);
        bool fold = is_foldable(l, x);
        if (x->group != group || x->coll != coll) open = NULL;
        group = x->group, coll = x->coll;
        if (fold && open) {
            fold_into(open, &r);
            continue;
        }
        v->rows.items[v->rows.count] = r;
        if (fold) open = &v->rows.items[v->rows.count];
        v->rows.count++;
    }
    if (v->rows.count) qsort(v->rows.items, v->rows.count, sizeof *v->rows.items, by_row_time);
}

// ---- the collective that tells most ----

static bool takes_part(const nccl *n, const nccl_communicator *c, uint32_t process)
{
    for (uint32_t i = 0; i < c->member_count; i++)
        if (n->members[c->first_member + i].process == process) return true;
    return false;
}

// The process or host that the worst finding accuses must be in it; else that with the most rank time.
static bool is_about(const making *m, uint32_t group)
{
    const nccl_finding *x = m->f->count ? &m->f->items[0] : NULL;
    const nccl *n = m->n;
    if (!x || x->severity < SEVERITY_WATCH || x->member == NCCL_NONE) return true;
    for (uint32_t i = 0; i < n->communicator_count; i++)
        if (m->groups[i] == group && takes_part(n, &n->communicators[i], n->members[x->member].process)) return true;
    return false;
}

// Of its calls; what is incomplete tells nobody's lateness. Never 0: then there is no better one.
static double complete_share(const making *m, const lots *l, const lot *x)
{
    double calls = 0, incomplete = 0;
    for (size_t i = x->first; i < x->first + x->count; i++) {
        calls += (double)m->n->series[l->series[i]].instance_count;
        incomplete += (double)m->n->series[l->series[i]].incomplete;
    }
    return calls > 0 ? 1 - .999 * incomplete / calls : 0;
}

static void choose_main(making *m, const lots *l)
{
    double best = -1;
    m->main_group = m->main_coll = NCCL_NONE;
    for (size_t i = 0, k; i < l->count; i = k) {
        const lot *x = &l->items[i];
        double time = 0;
        for (k = i; k < l->count && l->items[k].group == x->group && l->items[k].coll == x->coll; k++)
            time += (double)l->items[k].time_us * complete_share(m, l, &l->items[k]);
        time *= (double)(m->n->communicators[x->group].ranks - 1); // one rank tells nothing of waiting
        if (!(time > best) || !is_about(m, x->group)) continue;
        best = time;
        m->main_group = x->group;
        m->main_coll = x->coll;
    }
}

static void add_sizes(making *m, const lots *l)
{
    nccl_view *v = m->v;
    if (m->main_group == NCCL_NONE) return;
    v->main_label = group_label(m, m->main_group);
    v->main_coll = nccl_view_text(v, m->n->colls[m->main_coll]);
    v->sizes.items = nccl_view_take(v, l->count, sizeof *v->sizes.items);
    for (size_t i = 0; v->sizes.items && i < l->count; i++) {
        const lot *x = &l->items[i];
        const uint32_t *indexes = l->series + x->first;
        if (x->group != m->main_group || x->coll != m->main_coll) continue;
        nccl_view_size *s = &v->sizes.items[v->sizes.count++];
        *s = (nccl_view_size){.size = x->size};
        for (size_t k = 0; k < x->count; k++)
            s->calls += m->n->series[indexes[k]].instance_count;
        s->mean_gbs = merge(m, indexes, x->count, mean_bus_of).p50;
        s->bus_gbs = merge(m, indexes, x->count, bus_of);
        v->main_peak_gbs = common_peak(m, indexes, x->count);
    }
}

// ---- completeness ----

static void add_reason(making *m, const char *what, uint64_t count)
{
    nccl_view *v = m->v;
    if (count && v->reasons.items) v->reasons.items[v->reasons.count++] = (nccl_view_reason){what, count};
}

// "h27, 8 processes": who misses most of these, and how many do.
static const char *where_missing(making *m, bool tail)
{
    const nccl *n = m->n;
    uint64_t most = 0, processes = 0;
    const char *host = "";
    for (size_t i = 0; i < n->host_count; i++) {
        const nccl_waiting *w = &n->hosts[i].waiting;
        uint64_t count = tail ? w->missing_tail : w->missing - w->missing_tail;
        if (count <= most) continue;
        most = count;
        host = n->hosts[i].name;
    }
    for (size_t i = 0; i < n->process_count; i++) {
        const nccl_waiting *w = &n->processes[i].waiting;
        processes += (tail ? w->missing_tail : w->missing - w->missing_tail) > 0;
    }
    return processes > 1 ? nccl_view_format(m->v, "%llu processes, most on %s", (unsigned long long)processes, host)
                         : host;
}

static void add_completeness(making *m)
{
    const nccl *n = m->n;
    nccl_view *v = m->v;
    uint64_t missing = 0, tail = 0, absent = 0, dropped = 0;
    for (size_t i = 0; i < n->communicator_count; i++) {
        const nccl_communicator *c = &n->communicators[i];
        if (c->ranks < 2) continue;
        v->completeness_known = true;
        v->ranks_seen += c->member_count;
        v->ranks_expected += (uint64_t)c->ranks;
        v->records_seen += c->records;
        v->records_expected += c->records + c->missing;
        v->calls_judgeable += c->instances;
        v->calls_complete += c->complete;
        missing += c->missing, tail += c->missing_tail, absent += c->missing_absent;
    }
    for (size_t i = 0; i < n->member_count; i++)
        dropped += n->members[i].stats.coll_dropped;
    v->reasons.items = nccl_view_take(v, 12, sizeof *v->reasons.items);
    uint64_t between = missing - tail - absent;
    if (between)
        add_reason(m, nccl_view_format(v, "lost in between, others have them (%s)", where_missing(m, false)), between);
    if (tail) add_reason(m, nccl_view_format(v, "after the end of a log (%s)", where_missing(m, true)), tail);
    add_reason(m, "of ranks without any log", absent);
    add_reason(m, "dropped, by the plugin's own count (in part the same)", dropped);
    add_reason(m, "lines that cannot be used", v->unusable);
    add_reason(m, "duplicates, left out", n->duplicates);
    add_reason(m, "conflicting records, left out", n->conflicts);
}

// ---- who is late ----

static nccl_view_process process_of(making *m, uint32_t index)
{
    const nccl *n = m->n;
    const nccl_process *p = &n->processes[index];
    const nccl_waiting *w = &p->waiting;
    nccl_view_process x = {.pid = p->pid > 0 ? (uint64_t)p->pid : 0, .local = p->local, .rank = UINT64_MAX};
    x.host = nccl_view_text(m->v, n->hosts[p->host].name);
    x.judged = w->judged;
    x.last_alone = w->judged_last;
    x.behind_us = w->judged ? w->behind_us / (double)w->judged : NAN;
    x.records = w->records;
    x.last_arrivals = w->last_arrivals;
    x.cost_us = w->cost_us;
    x.caused_us = w->caused_us;
    x.suffered_us = w->suffered_us;
    x.missing = w->missing;
    x.missing_tail = w->missing_tail;
    return x;
}

typedef struct arrival {
    double behind_us;
    uint64_t judged, last;
    int64_t rank;
    bool takes_part;
} arrival;

static void gather_arrivals(const making *m, arrival *all)
{
    const nccl *n = m->n;
    for (size_t i = 0; i < n->operation_count; i++) {
        const nccl_operation *o = &n->operations[i];
        const nccl_communicator *c = &n->communicators[o->communicator];
        if (m->groups[o->communicator] != m->main_group || o->coll != m->main_coll) continue;
        for (uint32_t k = 0; k < c->member_count; k++) {
            const nccl_member *member = &n->members[c->first_member + k];
            const nccl_waiting *w = &n->arrivals[o->first_arrival + k];
            arrival *a = &all[member->process];
            a->behind_us += w->behind_us;
            a->judged += w->judged;
            a->last += w->judged_last;
            a->rank = member->rank;
            a->takes_part = true;
        }
    }
}

// In all collectives, for a map of everybody.
static void gather_all(const making *m, arrival *all)
{
    const nccl *n = m->n;
    for (uint32_t i = 0; i < n->process_count; i++) {
        const nccl_waiting *w = &n->processes[i].waiting;
        const nccl_member *wide = widest_member(n, i);
        if (!w->records || !wide) continue;
        all[i] = (arrival){w->behind_us, w->judged, w->judged_last, wide->rank, true};
    }
}

// Are at least half of the processes in it?
static bool is_of_most(const making *m, const arrival *all)
{
    size_t there = 0;
    for (size_t i = 0; i < m->n->process_count; i++)
        there += all[i].takes_part;
    return 2 * there >= m->n->process_count;
}

typedef struct chosen_host {
    uint32_t host;
    double worst_us;
} chosen_host;

static int by_lateness(const void *a, const void *b)
{
    const chosen_host *x = a, *y = b;
    if (x->worst_us != y->worst_us) return x->worst_us < y->worst_us ? 1 : -1;
    return (x->host > y->host) - (x->host < y->host);
}

static int by_host(const void *a, const void *b)
{
    const chosen_host *x = a, *y = b;
    return (x->host > y->host) - (x->host < y->host);
}

static double mean_behind(const arrival *a)
{
    return a->judged ? a->behind_us / (double)a->judged : NAN;
}

// All hosts that take part; of too many the latest, and only those above the floor.
static size_t choose_hosts(making *m, const arrival *all, chosen_host *hosts)
{
    const nccl *n = m->n;
    size_t count = 0, kept;
    for (uint32_t i = 0; i < n->host_count; i++) {
        chosen_host h = {i, 0};
        bool any = false;
        for (uint32_t k = n->hosts[i].first_process; k < n->hosts[i].first_process + n->hosts[i].process_count; k++) {
            any |= all[k].takes_part;
            h.worst_us = fmax(h.worst_us, mean_behind(&all[k]));
        }
        if (any) hosts[count++] = h;
    }
    m->v->late_hosts = count;
    if (count <= NCCL_VIEW_HOSTS) return count;
    qsort(hosts, count, sizeof *hosts, by_lateness);
    for (kept = 0; kept < NCCL_VIEW_HOSTS && (kept < 8 || hosts[kept].worst_us > m->v->late_floor_us);)
        kept++;
    m->v->late_hosts_left = count - kept;
    qsort(hosts, kept, sizeof *hosts, by_host);
    return kept;
}

static void add_late_host(making *m, const arrival *all, uint32_t host)
{
    nccl_view *v = m->v;
    const nccl_host *h = &m->n->hosts[host];
    for (uint32_t i = h->first_process; i < h->first_process + h->process_count; i++) {
        nccl_view_process x = process_of(m, i);
        x.judged = all[i].judged;
        x.last_alone = all[i].last;
        x.behind_us = mean_behind(&all[i]);
        x.rank = all[i].takes_part ? (uint64_t)all[i].rank : UINT64_MAX;
        if (x.local + 1 > v->late_rows) v->late_rows = x.local + 1;
        v->late.items[v->late.count++] = x;
    }
}

static bool add_late(making *m)
{
    const nccl *n = m->n;
    nccl_view *v = m->v;
    arrival *all = calloc(n->process_count + 1, sizeof *all);
    chosen_host *hosts = calloc(n->host_count + 1, sizeof *hosts);
    bool good = all && hosts;
    v->late.items = nccl_view_take(v, n->process_count, sizeof *v->late.items);
    if (good && v->late.items && m->main_group != NCCL_NONE && n->communicators[m->main_group].ranks > 1) {
        gather_arrivals(m, all);
        v->late_all = !is_of_most(m, all);
        if (v->late_all) gather_all(m, all);
        size_t count = choose_hosts(m, all, hosts);
        for (size_t i = 0; i < count; i++)
            add_late_host(m, all, hosts[i].host);
    }
    free(all);
    free(hosts);
    return good;
}

// ---- over the run ----

static const nccl_series *series_over_run(const making *m)
{
    const nccl *n = m->n;
    const nccl_finding *x = m->f->count ? &m->f->items[0] : NULL;
    uint32_t process =
        x && x->severity >= SEVERITY_WATCH && x->member != NCCL_NONE ? n->members[x->member].process : NCCL_NONE;
    const nccl_series *best = NULL;
    bool best_about = false;
    for (size_t i = 0; i < n->series_count; i++) {
        const nccl_series *s = &n->series[i];
        if (m->groups[s->communicator] != m->main_group || s->coll != m->main_coll) continue;
        bool about = process != NCCL_NONE && takes_part(n, communicator_of(m, s), process);
        if (best && (best_about != about ? best_about : s->time_us <= best->time_us)) continue;
        best = s;
        best_about = about;
    }
    return best;
}

static uint64_t other_runs(const nccl *n, const nccl_communicator *c)
{
    uint64_t count = 0;
    for (size_t i = 0; i < n->communicator_count; i++)
        count += &n->communicators[i] != c && strcmp(n->communicators[i].id, c->id) == 0;
    return count;
}

// Ten calls make quantiles; but a short run has some bins, too.
static size_t bins_for(size_t calls)
{
    size_t bins = calls / 10 > 40 ? calls / 10 : calls < 40 ? calls : 40;
    return bins < NCCL_VIEW_BINS ? bins : NCCL_VIEW_BINS;
}

static bool add_run(making *m)
{
    nccl_view *v = m->v;
    const nccl_series *s = m->main_group == NCCL_NONE ? NULL : series_over_run(m);
    size_t count;
    if (!s) return true;
    nccl_bin *bins = nccl_bins(m->n, s, bins_for(s->instance_count), &count);
    if (!bins) return false;
    v->run_label = nccl_view_text(v, communicator_of(m, s)->label);
    v->run_ranks = (uint64_t)communicator_of(m, s)->ranks;
    v->run_size = s->size;
    v->run_calls = s->instance_count;
    v->run_others = other_runs(m->n, communicator_of(m, s));
    v->run_changed = s->skew_change.found;
    v->run_change_sn = s->skew_change.found ? s->skew_change.sn : 0;
    v->run.items = nccl_view_take(v, count, sizeof *v->run.items);
    for (size_t i = 0; v->run.items && i < count; i++) {
        const nccl_bin *b = &bins[i];
        v->run.items[v->run.count++] =
            (nccl_view_bin){b->first_sn,    b->last_sn,     b->instances,  b->complete,    b->wire_us.p5,
                            b->wire_us.p50, b->wire_us.p95, b->skew_us.p5, b->skew_us.p50, b->skew_us.p95};
    }
    free(bins);
    return true;
}

// ---- kinds: points and histograms ----

// Six digits are more than a chart can show.
static double six_digits(double value)
{
    if (!isfinite(value) || value == 0) return value;
    int places = 5 - (int)floor(log10(fabs(value)));
    if (places > 18) return value;
    double scale = pow(10, abs(places));
    return places >= 0 ? round(value * scale) / scale : round(value / scale) * scale;
}

// A round number that is not less.
static double round_up(double value)
{
    static const double steps[] = {1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10};
    if (!(value > 0)) return 1;
    double decade = pow(10, floor(log10(value)));
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (steps[i] * decade >= value) return six_digits(steps[i] * decade);
    return six_digits(10 * decade);
}

static double y_of(const nccl_view_kind *k, const nccl_series *s, const nccl_instance *x)
{
    return k->has_bus ? nccl_bus_gbs(s, (double)x->min_us) : (double)x->min_us;
}

// Calls visit() for every call of the kind.
typedef struct kind_walk {
    const making *m;
    nccl_view_kind *k;
    uint32_t kind;
    uint32_t *cells;
} kind_walk;

static void walk_kind(const kind_walk *w, void (*visit)(const kind_walk *w, double x, double y))
{
    const nccl *n = w->m->n;
    for (size_t i = 0; i < n->series_count; i++) {
        const nccl_series *s = &n->series[i];
        if (s->kind != w->kind) continue;
        for (size_t k = 0; k < s->instance_count; k++) {
            const nccl_instance *x = &n->instances[s->first_instance + k];
            double y = y_of(w->k, s, x);
            if (!isnan(y)) visit(w, (double)x->sn, y);
        }
    }
}

static void visit_ends(const kind_walk *w, double x, double y)
{
    nccl_view_kind *k = w->k;
    k->x_max = fmax(k->x_max, x);
    k->low = fmin(y, k->low); // fmin and fmax pass over NAN
    k->high = fmax(y, k->high);
    k->points.count++;
}

static void visit_point(const kind_walk *w, double x, double y)
{
    nccl_view_kind *k = w->k;
    k->points.items[k->points.count++] = (nccl_view_point){x, six_digits(y), 1};
}

static size_t place(double at, double max, size_t cells)
{
    double cell = at / max * (double)cells;
    return cell >= (double)cells ? cells - 1 : cell > 0 ? (size_t)cell : 0;
}

static void visit_cell(const kind_walk *w, double x, double y)
{
    w->cells[place(y, w->k->y_max, NCCL_VIEW_UP) * NCCL_VIEW_ACROSS + place(x, w->k->x_max, NCCL_VIEW_ACROSS)]++;
}

static void visit_bin(const kind_walk *w, double x, double y)
{
    nccl_view_kind *k = w->k;
    (void)x;
    k->bins.items[k->high > k->low ? place(y - k->low, k->high - k->low, k->bins.count) : 0].count++;
}

static void keep_cells(making *m, nccl_view_kind *k, const uint32_t *cells)
{
    enum { CELLS = NCCL_VIEW_ACROSS * NCCL_VIEW_UP };
    size_t used = 0;
    for (size_t i = 0; i < CELLS; i++)
        used += cells[i] > 0;
    k->points.items = nccl_view_take(m->v, used, sizeof *k->points.items);
    for (size_t i = 0; k->points.items && i < CELLS; i++)
        if (cells[i])
            k->points.items[k->points.count++] = (nccl_view_point){
                six_digits(((double)(i % NCCL_VIEW_ACROSS) + 0.5) / NCCL_VIEW_ACROSS * k->x_max),
                six_digits(((double)(i / NCCL_VIEW_ACROSS) + 0.5) / NCCL_VIEW_UP * k->y_max), cells[i]};
}

static void add_points(making *m, kind_walk *w)
{
    nccl_view_kind *k = w->k;
    enum { HISTOGRAM = 40 };
    k->low = k->high = NAN;
    walk_kind(w, visit_ends);
    size_t count = k->points.count, bins = k->high > k->low ? HISTOGRAM : 1;
    k->points.count = 0;
    if (!count) return;
    k->x_max = round_up(k->x_max > 0 ? k->x_max : 1);
    k->y_max = round_up(k->high);
    if (count <= NCCL_VIEW_POINTS) {
        k->points.items = nccl_view_take(m->v, count, sizeof *k->points.items);
        if (k->points.items) walk_kind(w, visit_point);
    } else {
        memset(w->cells, 0, sizeof *w->cells * NCCL_VIEW_ACROSS * NCCL_VIEW_UP);
        walk_kind(w, visit_cell);
        keep_cells(m, k, w->cells);
    }
    k->bins.items = nccl_view_take(m->v, bins, sizeof *k->bins.items);
    k->bins.count = k->bins.items ? bins : 0;
    if (k->bins.count) walk_kind(w, visit_bin);
    k->low = six_digits(k->low);
    k->high = six_digits(k->high);
}

typedef struct weighed {
    uint64_t weight;
    uint32_t index;
} weighed;

// The heaviest first; of equal ones as they stand.
static int by_weight(const void *a, const void *b)
{
    const weighed *x = a, *y = b;
    if (x->weight != y->weight) return x->weight < y->weight ? 1 : -1;
    return (x->index > y->index) - (x->index < y->index);
}

static void fill_kind(making *m, const nccl_kind *from, nccl_view_kind *to)
{
    *to = (nccl_view_kind){.size = from->size,
                           .calls = from->instances,
                           .incomplete = from->incomplete,
                           .time_us = from->time_us,
                           .peak_gbs = from->peak_gbs};
    to->type = nccl_class_name(from->type);
    to->meaning = nccl_class_meaning(from->type);
    to->coll = nccl_view_text(m->v, m->n->colls[from->coll]);
    to->has_bus = from->spreads.bus_gbs.count > 0;
    to->wire_us = from->spreads.wire_us;
    to->skew_us = from->spreads.skew_us;
    to->time_spread_us = from->spreads.time_us;
    to->bus_gbs = from->spreads.bus_gbs;
    to->mean_bus_gbs = from->spreads.mean_bus_gbs;
}

static bool add_kinds(making *m)
{
    const nccl *n = m->n;
    nccl_view *v = m->v;
    weighed *order = malloc((n->kind_count + 1) * sizeof *order);
    uint32_t *cells = calloc((size_t)NCCL_VIEW_ACROSS * NCCL_VIEW_UP, sizeof *cells);
    size_t count = n->kind_count < NCCL_VIEW_KINDS ? n->kind_count : NCCL_VIEW_KINDS;
    v->kinds_left = n->kind_count - count;
    v->kinds.items = nccl_view_take(v, count, sizeof *v->kinds.items);
    for (uint32_t i = 0; order && i < n->kind_count; i++)
        order[i] = (weighed){n->kinds[i].time_us, i};
    if (order) qsort(order, n->kind_count, sizeof *order, by_weight);
    for (size_t i = 0; order && cells && v->kinds.items && i < count; i++) {
        kind_walk w = {m, &v->kinds.items[i], order[i].index, cells};
        fill_kind(m, &n->kinds[w.kind], w.k);
        add_points(m, &w);
        v->kinds.count = i + 1;
    }
    free(order);
    free(cells);
    return order && cells;
}

// ---- lists behind the charts ----

static bool add_series(making *m)
{
    const nccl *n = m->n;
    nccl_view *v = m->v;
    weighed *order = malloc((n->series_count + 1) * sizeof *order);
    size_t count = n->series_count < NCCL_VIEW_SERIES ? n->series_count : NCCL_VIEW_SERIES;
    v->series_left = n->series_count - count;
    v->series.items = nccl_view_take(v, count, sizeof *v->series.items);
    for (uint32_t i = 0; order && i < n->series_count; i++)
        order[i] = (weighed){n->series[i].time_us, i};
    if (order) qsort(order, n->series_count, sizeof *order, by_weight);
    for (size_t i = 0; order && v->series.items && i < count; i++) {
        const nccl_series *s = &n->series[order[i].index];
        const nccl_communicator *c = communicator_of(m, s);
        v->series.items[v->series.count++] = (nccl_view_series){nccl_view_text(v, c->label),
                                                                nccl_class_name(c->type),
                                                                nccl_view_text(v, n->colls[s->coll]),
                                                                (uint64_t)c->ranks,
                                                                s->size,
                                                                s->instance_count,
                                                                s->incomplete,
                                                                s->time_us,
                                                                s->spreads.wire_us,
                                                                s->spreads.skew_us,
                                                                s->spreads.bus_gbs};
    }
    free(order);
    return order != NULL;
}

static void add_paths(making *m)
{
    const nccl *n = m->n;
    nccl_view *v = m->v;
    v->paths.items = n->has_algorithms ? nccl_view_take(v, n->path_count, sizeof *v->paths.items) : NULL;
    for (size_t i = 0; v->paths.items && i < n->path_count; i++) {
        const nccl_path *p = &n->paths[i];
        v->paths.items[v->paths.count++] = (nccl_view_path){nccl_class_name(p->type),
                                                            nccl_view_text(v, p->what.coll),
                                                            nccl_view_text(v, p->what.algo),
                                                            nccl_view_text(v, p->what.proto),
                                                            p->size,
                                                            p->instances,
                                                            p->wire_us,
                                                            p->bus_gbs};
    }
}

static bool add_processes(making *m)
{
    const nccl *n = m->n;
    nccl_view *v = m->v;
    size_t count = n->process_count < NCCL_VIEW_PROCESSES ? n->process_count : NCCL_VIEW_PROCESSES;
    weighed *order = malloc((n->process_count + 1) * sizeof *order);
    v->slowest_left = n->process_count - count;
    v->slowest.items = nccl_view_take(v, count, sizeof *v->slowest.items);
    for (uint32_t i = 0; order && i < n->process_count; i++)
        order[i] = (weighed){n->processes[i].waiting.cost_us, i};
    if (order) qsort(order, n->process_count, sizeof *order, by_weight);
    for (size_t i = 0; order && v->slowest.items && i < count; i++)
        v->slowest.items[v->slowest.count++] = process_of(m, order[i].index);
    free(order);
    return order != NULL;
}

static const char *reasons_of(making *m, const nccl_file *f)
{
    const char *text = "";
    for (int i = NCCL_BAD_JSON; i < NCCL_COLL; i++)
        if (f->outcomes[i])
            text = nccl_view_format(m->v, "%s%s%llu %s", text, *text ? ", " : "", (unsigned long long)f->outcomes[i],
                                    nccl_outcome_name((nccl_outcome)i));
    return text;
}

static void add_files(making *m)
{
    const nccl *n = m->n;
    nccl_view *v = m->v;
    v->damaged.items = nccl_view_take(v, NCCL_VIEW_FILES, sizeof *v->damaged.items);
    for (size_t i = 0; v->damaged.items && i < n->file_count; i++) {
        const nccl_file *f = &n->files[i];
        if (!is_damaged(f)) continue;
        if (v->damaged.count == NCCL_VIEW_FILES) {
            v->damaged_left++;
            continue;
        }
        const char *problem = f->error      ? strerror(f->error)
                              : f->problem  ? f->problem
                              : f->cut      ? "the compressed stream is cut"
                              : f->tail_cut ? "the last line is cut"
                                            : "";
        v->damaged.items[v->damaged.count++] = (nccl_view_file){nccl_view_text(v, f->name),
                                                                nccl_view_text(v, problem),
                                                                f->lines,
                                                                unusable_lines(f->outcomes),
                                                                f->first_bad_line,
                                                                f->duplicates,
                                                                f->conflicts,
                                                                reasons_of(m, f)};
    }
}

static bool add_gone(making *m)
{
    const nccl *n = m->n;
    nccl_view *v = m->v;
    weighed *order = malloc((n->process_count + 1) * sizeof *order);
    size_t count = 0;
    v->gone.items = nccl_view_take(v, NCCL_VIEW_FILES, sizeof *v->gone.items);
    for (uint32_t i = 0; order && i < n->process_count; i++)
        if (n->processes[i].waiting.missing) order[count++] = (weighed){n->processes[i].waiting.missing, i};
    if (order && count) qsort(order, count, sizeof *order, by_weight);
    for (size_t i = 0; order && v->gone.items && i < count && i < NCCL_VIEW_FILES; i++) {
        nccl_view_process p = process_of(m, order[i].index);
        v->gone.items[v->gone.count++] = (nccl_view_gone){p.host, p.pid, p.missing_tail, p.missing - p.missing_tail};
    }
    v->gone_left = count - v->gone.count;
    free(order);
    return order != NULL;
}

static void add_comparison(making *m, const nccl_comparison *c)
{
    nccl_view *v = m->v;
    if (!c) return;
    v->compared_known = true;
    v->slower = c->slower;
    v->faster = c->faster;
    v->alike = c->alike;
    v->compared.items = nccl_view_take(v, c->count, sizeof *v->compared.items);
    for (size_t i = 0; v->compared.items && i < c->count; i++) {
        const nccl_compared *r = &c->rows[i];
        const nccl_kind *k = r->after ? r->after : r->before;
        v->compared.items[v->compared.count++] =
            (nccl_view_compared){nccl_class_name(k->type),
                                 nccl_view_text(v, (r->after ? c->after : c->before)->colls[k->coll]),
                                 nccl_verdict_name(r->verdict),
                                 k->size,
                                 r->before ? r->before->spreads.wire_us.p50 : NAN,
                                 r->after ? r->after->spreads.wire_us.p50 : NAN,
                                 r->wire_ratio,
                                 r->skew_ratio,
                                 r->bus_ratio,
                                 r->z};
    }
}

static bool add_pairs(making *m)
{
    enum { PAIRS = 200 };
    const nccl *n = m->n;
    nccl_view *v = m->v;
    weighed *order = malloc((n->p2p_count + 1) * sizeof *order);
    size_t count = n->p2p_count < PAIRS ? n->p2p_count : PAIRS;
    v->pairs_left = n->p2p_count - count;
    v->pairs.items = nccl_view_take(v, count, sizeof *v->pairs.items);
    for (uint32_t i = 0; order && i < n->p2p_count; i++)
        order[i] = (weighed){(uint64_t)(n->p2p[i].time_us.mean * (double)n->p2p[i].records), i};
    if (order) qsort(order, n->p2p_count, sizeof *order, by_weight);
    for (size_t i = 0; order && v->pairs.items && i < count; i++) {
        const nccl_p2p *p = &n->p2p[order[i].index];
        const nccl_member *of = &n->members[p->member];
        v->pairs.items[v->pairs.count++] =
            (nccl_view_pair){nccl_view_text(v, n->communicators[of->communicator].label),
                             nccl_view_text(v, p->operation),
                             nccl_view_text(v, n->hosts[n->processes[of->process].host].name),
                             (uint64_t)of->rank,
                             p->size,
                             p->records,
                             p->peer >= 0 ? (double)p->peer : NAN,
                             p->time_us,
                             p->bus_gbs};
    }
    free(order);
    return order != NULL;
}

static void add_metrics(making *m)
{
    enum { METRICS = 200 };
    const nccl *n = m->n;
    nccl_view *v = m->v;
    size_t count = n->metric_count < METRICS ? n->metric_count : METRICS;
    v->metrics_left = n->metric_count - count;
    v->metrics.items = nccl_view_take(v, count, sizeof *v->metrics.items);
    for (size_t i = 0; v->metrics.items && i < count; i++)
        v->metrics.items[v->metrics.count++] = (nccl_view_metric){
            nccl_view_text(v, n->metrics[i].name), nccl_view_text(v, n->metrics[i].labels), n->metrics[i].value};
}

// ---- NIC counters on the logs' time axis ----

static size_t column_of(const nccl_view *v, double from_dump_s)
{
    double length = v->columns_to_s - v->columns_from_s;
    return place(from_dump_s - v->columns_from_s, length > 0 ? length : 1, v->columns.count);
}

static void add_nic(making *m, const nccl_counters *c, const nccl_counters_host *h)
{
    nccl_view *v = m->v;
    v->nics.items[v->nics.count++] = (nccl_view_nic){nccl_view_text(v, c->n->hosts[h->host].name),
                                                     nccl_view_text(v, h->trouble.counter),
                                                     nccl_view_text(v, h->trouble.unit),
                                                     nccl_view_text(v, h->waiting.counter),
                                                     nccl_view_text(v, h->waiting.unit),
                                                     h->to_s - h->from_s,
                                                     h->bytes[SERIES_IN],
                                                     h->bytes[SERIES_OUT],
                                                     h->peak_rate[SERIES_IN],
                                                     h->peak_rate[SERIES_OUT],
                                                     h->trouble.counter ? h->trouble.amount : NAN,
                                                     h->waiting.counter ? h->waiting.amount : NAN};
}

// The rate of a run in every column: the sum of its chosen devices; NAN where one is not known.
static bool run_rates(const nccl_counters *c, size_t run, int way, double from_s, double to_s, double *rates,
                      double *one, size_t columns)
{
    const series_run *r = &c->s->runs[run];
    bool any = false;
    for (size_t k = 0; k < columns; k++)
        rates[k] = 0;
    for (size_t i = r->first_device; i < r->first_device + r->device_count; i++) {
        if (!c->s->devices[i].chosen) continue;
        series_columns(&c->s->devices[i], way, from_s, to_s, one, columns);
        for (size_t k = 0; k < columns; k++)
            rates[k] += one[k];
        any = true;
    }
    return any;
}

static void add_rates(making *m, const nccl_counters *c, int way, double *rates, double *one)
{
    nccl_view *v = m->v;
    double begin_s = nccl_counters_time_s(c->s, v->first_dump_us);
    uint64_t known[NCCL_VIEW_COLUMNS] = {0};
    for (size_t i = 0; i < c->count; i++) {
        if (!run_rates(c, c->hosts[i].run, way, begin_s + v->columns_from_s, begin_s + v->columns_to_s, rates, one,
                       v->columns.count))
            continue;
        for (size_t k = 0; k < v->columns.count; k++) {
            nccl_view_column *x = &v->columns.items[k];
            double *sum = way ? &x->sent : &x->received, *high = way ? &x->sent_high : &x->received_high;
            if (isnan(rates[k])) continue;
            *sum = known[k]++ ? *sum + rates[k] : rates[k];
            *high = fmax(*high, rates[k]);
        }
    }
    for (size_t k = 0; k < v->columns.count; k++) {
        nccl_view_column *x = &v->columns.items[k];
        double *sum = way ? &x->sent : &x->received;
        if (known[k]) *sum /= (double)known[k];
    }
}

// How many counters of trouble, and of waiting, moved in a column; 0 where a recording runs and none did.
static void add_events(making *m, const nccl_counters *c)
{
    nccl_view *v = m->v;
    double begin_s = nccl_counters_time_s(c->s, v->first_dump_us);
    for (size_t i = 0; i < c->count; i++) {
        const series_run *r = &c->s->runs[c->hosts[i].run];
        size_t last = column_of(v, r->end_s - begin_s);
        for (size_t k = column_of(v, r->begin_s - begin_s); k <= last; k++) {
            nccl_view_column *x = &v->columns.items[k];
            if (isnan(x->trouble)) x->trouble = x->waiting = 0;
        }
        for (size_t k = 0; k < c->s->event_count; k++) {
            const series_event *e = &c->s->events[k];
            double at = (e->from_s + e->to_s) / 2 - begin_s;
            if (e->device < r->first_device || e->device >= r->first_device + r->device_count) continue;
            if (at < v->columns_from_s || at > v->columns_to_s) continue;
            nccl_view_column *x = &v->columns.items[column_of(v, at)];
            *(c->s->counters[e->counter].trouble ? &x->trouble : &x->waiting) += 1;
        }
    }
}

typedef struct timed {
    size_t column;
    double wire_us, skew_us;
} timed;

static int by_column(const void *a, const void *b)
{
    const timed *x = a, *y = b;
    return (x->column > y->column) - (x->column < y->column);
}

// Medians of the calls of the series over the run, in the columns in which they were written.
static bool add_written(making *m, const nccl_series *s)
{
    nccl_view *v = m->v;
    const nccl *n = m->n;
    timed *all = malloc((s->instance_count + 1) * sizeof *all);
    double *values = m->values;
    if (!all) return false;
    for (size_t i = 0; i < s->instance_count; i++) {
        const nccl_instance *x = &n->instances[s->first_instance + i];
        all[i] = (timed){column_of(v, (double)(x->first_dump_us - v->first_dump_us) / 1e6), (double)x->min_us,
                         (double)(x->max_us - x->min_us)};
    }
    qsort(all, s->instance_count, sizeof *all, by_column);
    for (size_t i = 0, k; i < s->instance_count; i = k) {
        nccl_view_column *to = &v->columns.items[all[i].column];
        for (k = i; k < s->instance_count && all[k].column == all[i].column; k++)
            values[k - i] = all[k].wire_us;
        to->calls = k - i;
        to->wire_us = nccl_median_of(values, k - i);
        for (size_t j = i; j < k; j++)
            values[j - i] = all[j].skew_us;
        to->skew_us = nccl_median_of(values, k - i);
    }
    free(all);
    return true;
}

static bool add_counters(making *m, const nccl_counters *c)
{
    nccl_view *v = m->v;
    const nccl_series *s = m->main_group == NCCL_NONE ? NULL : series_over_run(m);
    double rates[NCCL_VIEW_COLUMNS], one[NCCL_VIEW_COLUMNS];
    if (!c) return true;
    v->counters_known = true;
    v->nics.items = nccl_view_take(v, c->count, sizeof *v->nics.items);
    for (size_t i = 0; v->nics.items && i < c->count; i++)
        add_nic(m, c, &c->hosts[i]);
    if (!c->count || !s) return true;
    v->columns_from_s = 0;
    v->columns_to_s = fmax((double)(v->last_dump_us - v->first_dump_us) / 1e6, 1e-6);
    v->columns.items = nccl_view_take(v, NCCL_VIEW_COLUMNS, sizeof *v->columns.items);
    // About three calls in a column: fewer make gaps where nothing is missing.
    size_t columns = s->instance_count / 3 < 30 ? 30 : s->instance_count / 3;
    v->columns.count = !v->columns.items ? 0 : columns < NCCL_VIEW_COLUMNS ? columns : NCCL_VIEW_COLUMNS;
    for (size_t k = 0; k < v->columns.count; k++)
        v->columns.items[k] = (nccl_view_column){NAN, NAN, 0, NAN, NAN, NAN, NAN, NAN, NAN};
    for (int way = 0; way < 2 && v->columns.count; way++)
        add_rates(m, c, way, rates, one);
    if (v->columns.count) add_events(m, c);
    return !v->columns.count || add_written(m, s);
}

// ---- all ----

static bool make_first_page(making *m)
{
    lots l;
    bool good = make_lots(m, &l);
    if (good) {
        choose_main(m, &l);
        add_rows(m, &l);
        add_sizes(m, &l);
        const nccl_series *s = m->main_group == NCCL_NONE ? NULL : series_over_run(m);
        m->v->late_floor_us = s ? s->spreads.wire_us.p50 / 10 : NAN;
    }
    free_lots(&l);
    add_completeness(m);
    return good && add_late(m) && add_run(m);
}

netprof_err nccl_view_make(nccl_view *v, const nccl *n, const nccl_findings *f, const nccl_comparison *comparison,
                           const nccl_counters *counters, netprof_error *error)
{
    making m = {.v = v, .n = n, .f = f, .values = malloc((n->instance_count + 1) * sizeof(double))};
    bool good = nccl_view_begin(v) && m.values && make_groups(&m);
    if (good) {
        add_facts(&m);
        add_findings(&m);
        good = make_first_page(&m) && add_kinds(&m) && add_series(&m) && add_processes(&m) && add_gone(&m) &&
               add_pairs(&m);
        add_paths(&m);
        add_files(&m);
        add_comparison(&m, comparison);
        add_metrics(&m);
        good = good && add_counters(&m, counters);
        v->verdict =
            v->completeness_known || !n->instance_count || v->severity >= SEVERITY_WATCH
                ? title_of(&m)
                : nccl_view_format(v, "%zu collectives of single ranks: nobody to wait for", n->instance_count);
        say_all(&m);
    }
    good = good && !v->memory->failed;
    free(m.groups);
    free(m.values);
    if (good) return NETPROF_OK;
    nccl_view_free(v);
    if (error) *error = (netprof_error){.code = NETPROF_ERR_NOMEM};
    return NETPROF_ERR_NOMEM;
}

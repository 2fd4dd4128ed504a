// The table of collectives: communicators that are alike share a row; and which collective the first page is about.
#include "nccl_view_parts.h"

#include "analysis/nccl/logs/nccl_spread.h"

#include <math.h>
#include <stdlib.h>

#define DASH "\xe2\x80\x93"

// ---- groups: communicators that are alike share a row ----

// "tp 0" and "tp 12" have the stem "tp "; without a name: "".
static size_t rows_name_stem(const nccl_communicator *c)
{
    size_t length = strlen(c->name);
    while (length && c->name[length - 1] >= '0' && c->name[length - 1] <= '9')
        length--;
    return length;
}

// One that is unlike its equals: ranks are late in it, or it is slow.
static bool rows_is_accused(const nccl_view_making *m, uint32_t communicator)
{
    for (size_t i = 0; i < m->f->count; i++) {
        const nccl_finding *x = &m->f->items[i];
        if (x->communicator != communicator) continue;
        if (strcmp(x->rule->class_name, "late") == 0 || strcmp(x->rule->name, "nccl-slow-communicator") == 0)
            return true;
    }
    return false;
}

static bool rows_are_alike(const nccl_view_making *m, uint32_t a, uint32_t b)
{
    const nccl_communicator *x = &m->n->communicators[a], *y = &m->n->communicators[b];
    size_t stem = rows_name_stem(x);
    return x->type == y->type && x->ranks == y->ranks && x->nodes == y->nodes && stem == rows_name_stem(y) &&
           !*x->name == !*y->name && strncmp(x->name, y->name, stem) == 0;
}

void nccl_view_make_groups(nccl_view_making *m)
{
    size_t count = m->n->communicator_count;
    uint32_t *leaders = memory_array(NULL, count, sizeof *leaders);
    size_t leader_count = 0;
    m->groups = memory_array(NULL, count, sizeof *m->groups);
    for (uint32_t i = 0; i < count; i++) {
        m->groups[i] = i;
        if (rows_is_accused(m, i)) continue;
        size_t k = leader_count; // equal ones are neighbours: the last leader first
        while (k && !rows_are_alike(m, leaders[k - 1], i))
            k--;
        if (k)
            m->groups[i] = leaders[k - 1];
        else
            leaders[leader_count++] = i;
    }
    free(leaders);
}

static uint64_t rows_group_size(const nccl_view_making *m, uint32_t group)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < m->n->communicator_count; i++)
        count += m->groups[i] == group;
    return count;
}

static const char *rows_group_label(nccl_view_making *m, uint32_t group)
{
    const nccl_communicator *c = &m->n->communicators[group];
    uint64_t count = rows_group_size(m, group);
    size_t stem = rows_name_stem(c);
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

static double rows_wire(const nccl_series *s, const nccl_instance *x)
{
    (void)s;
    return (double)x->min_us;
}

static double rows_skew(const nccl_series *s, const nccl_instance *x)
{
    (void)s;
    return (double)(x->max_us - x->min_us);
}

static double rows_bus(const nccl_series *s, const nccl_instance *x)
{
    return nccl_bus_gbs(s, (double)x->min_us);
}

static double rows_mean_bus(const nccl_series *s, const nccl_instance *x)
{
    (void)s;
    return x->mean_bus;
}

static nccl_spread rows_merge(nccl_view_making *m, const uint32_t *indexes, size_t count, value_of *of)
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

static double rows_common_peak(const nccl_view_making *m, const uint32_t *indexes, size_t count)
{
    double peak = count ? nccl_view_communicator(m, &m->n->series[indexes[0]])->peak_gbs : NAN;
    for (size_t i = 1; i < count; i++)
        if (nccl_view_communicator(m, &m->n->series[indexes[i]])->peak_gbs != peak) return NAN;
    return peak;
}

// ---- the table of collectives ----

static int rows_by_group(const void *a, const void *b)
{
    const nccl_view_sorted_series *x = a, *y = b;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    if (x->coll != y->coll) return x->coll < y->coll ? -1 : 1;
    if (x->size != y->size) return x->size < y->size ? -1 : 1;
    return (x->series > y->series) - (x->series < y->series);
}

void nccl_view_free_lots(nccl_view_lots *l)
{
    free(l->sorted);
    free(l->series);
    free(l->items);
}

static double rows_lot_time(const nccl_view_making *m, const nccl_view_lot *x)
{
    return (double)x->time_us / (double)rows_group_size(m, x->group);
}

void nccl_view_make_lots(nccl_view_making *m, nccl_view_lots *l)
{
    const nccl *n = m->n;
    double all = 0;
    *l = (nccl_view_lots){memory_array(NULL, n->series_count, sizeof *l->sorted),
                          memory_array(NULL, n->series_count, sizeof *l->series),
                          memory_calloc(n->series_count, sizeof *l->items), 0};
    for (uint32_t i = 0; i < n->series_count; i++)
        l->sorted[i] =
            (nccl_view_sorted_series){i, m->groups[n->series[i].communicator], n->series[i].coll, n->series[i].size};
    qsort(l->sorted, n->series_count, sizeof *l->sorted, rows_by_group);
    for (uint32_t i = 0; i < n->series_count; i++) {
        const nccl_view_sorted_series *s = &l->sorted[i];
        nccl_view_lot *last = l->count ? &l->items[l->count - 1] : NULL;
        l->series[i] = s->series;
        if (!last || last->group != s->group || last->coll != s->coll || last->size != s->size) {
            last = &l->items[l->count++];
            *last = (nccl_view_lot){.group = s->group, .coll = s->coll, .size = s->size, .first = i};
        }
        last->count++;
        last->time_us += n->series[s->series].time_us;
    }
    for (size_t i = 0; i < l->count; i++)
        all += l->items[i].share = rows_lot_time(m, &l->items[i]);
    for (size_t i = 0; i < l->count; i++)
        l->items[i].share = all > 0 ? l->items[i].share / all : 0;
}

static severity rows_skew_severity(const nccl_view_row *r)
{
    if (r->ranks < 2 || !r->skew_us.count || r->skew_us.p50 <= 1000) return SEVERITY_OK;
    return r->skew_us.p50 > 2 * r->wire_us.p50 ? SEVERITY_HIGH : SEVERITY_OK;
}

static nccl_view_row rows_row(nccl_view_making *m, const nccl_view_lots *l, const nccl_view_lot *x)
{
    const nccl *n = m->n;
    const uint32_t *indexes = l->series + x->first;
    const nccl_spreads *one = &n->series[indexes[0]].spreads;
    nccl_view_row r = {.label = rows_group_label(m, x->group),
                       .coll = n->colls[x->coll],
                       .size_low = x->size,
                       .size_high = x->size,
                       .sizes = 1,
                       .time_us = rows_lot_time(m, x)};
    r.coll = nccl_view_text(m->v, r.coll);
    r.communicators = rows_group_size(m, x->group);
    r.ranks = (uint64_t)n->communicators[x->group].ranks;
    r.peak_gbs = rows_common_peak(m, indexes, x->count);
    for (size_t i = 0; i < x->count; i++) {
        const nccl_series *s = &n->series[indexes[i]];
        r.calls += s->instance_count;
        r.incomplete += s->incomplete;
        r.bytes += s->traffic_bytes * (double)s->instance_count;
    }
    r.wire_us = x->count == 1 ? one->wire_us : rows_merge(m, indexes, x->count, rows_wire);
    r.skew_us = x->count == 1 ? one->skew_us : rows_merge(m, indexes, x->count, rows_skew);
    r.bus_gbs = x->count == 1 ? one->bus_gbs : rows_merge(m, indexes, x->count, rows_bus);
    r.mean_bus_gbs = x->count == 1 ? one->mean_bus_gbs : rows_merge(m, indexes, x->count, rows_mean_bus);
    r.severity = rows_skew_severity(&r);
    return r;
}

static void rows_fold_into(nccl_view_row *to, const nccl_view_row *from)
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

static bool rows_is_small(const nccl_view_lots *l, const nccl_view_lot *x)
{
    for (size_t i = 0; i < l->count; i++)
        if (l->items[i].group == x->group && l->items[i].coll == x->coll && l->items[i].share > 2 * x->share)
            return x->share < 0.05;
    return false;
}

// Sizes below 5 % of the time, and of half of the collective's dearest, become one row where there are two or more.
static bool rows_is_foldable(const nccl_view_lots *l, const nccl_view_lot *x)
{
    size_t count = 0;
    for (size_t i = 0; i < l->count; i++)
        count += l->items[i].group == x->group && l->items[i].coll == x->coll && rows_is_small(l, &l->items[i]);
    return count > 1 && rows_is_small(l, x);
}

static int rows_by_time(const void *a, const void *b)
{
    const nccl_view_row *x = a, *y = b;
    if (x->time_us != y->time_us) return x->time_us < y->time_us ? 1 : -1;
    int order = strcmp(x->label, y->label);
    if (!order) order = strcmp(x->coll, y->coll);
    return order ? order : (x->size_low > y->size_low) - (x->size_low < y->size_low);
}

void nccl_view_add_rows(nccl_view_making *m, const nccl_view_lots *l)
{
    nccl_view *v = m->v;
    uint32_t group = NCCL_NONE, coll = NCCL_NONE;
    nccl_view_row *open = NULL; // of this group and collective, for the small ones
    v->rows.items = nccl_view_take(v, l->count, sizeof *v->rows.items);
    for (size_t i = 0; i < l->count; i++) {
        const nccl_view_lot *x = &l->items[i];
        nccl_view_row r = rows_row(m, l, x);
        bool fold = rows_is_foldable(l, x);
        if (x->group != group || x->coll != coll) open = NULL;
        group = x->group, coll = x->coll;
        if (fold && open) {
            rows_fold_into(open, &r);
            continue;
        }
        v->rows.items[v->rows.count] = r;
        if (fold) open = &v->rows.items[v->rows.count];
        v->rows.count++;
    }
    if (v->rows.count) qsort(v->rows.items, v->rows.count, sizeof *v->rows.items, rows_by_time);
}

// ---- the collective that the first page is about ----

// The process or host that the worst finding accuses must be in it; else that with the most rank time.
static bool rows_is_about(const nccl_view_making *m, uint32_t group)
{
    const nccl_finding *x = m->f->count ? &m->f->items[0] : NULL;
    const nccl *n = m->n;
    if (!x || x->severity < SEVERITY_WATCH || x->member == NCCL_NONE) return true;
    for (uint32_t i = 0; i < n->communicator_count; i++)
        if (m->groups[i] == group && nccl_view_takes_part(n, &n->communicators[i], n->members[x->member].process))
            return true;
    return false;
}

// The share of complete calls, for only they show who was late; kept above 0, so that some collective is chosen.
static double rows_complete_share(const nccl_view_making *m, const nccl_view_lots *l, const nccl_view_lot *x)
{
    double calls = 0, incomplete = 0;
    for (size_t i = x->first; i < x->first + x->count; i++) {
        calls += (double)m->n->series[l->series[i]].instance_count;
        incomplete += (double)m->n->series[l->series[i]].incomplete;
    }
    return calls > 0 ? 1 - .999 * incomplete / calls : 0;
}

void nccl_view_choose_main(nccl_view_making *m, const nccl_view_lots *l)
{
    double best = -1;
    m->main_group = m->main_coll = NCCL_NONE;
    for (size_t i = 0, k; i < l->count; i = k) {
        const nccl_view_lot *x = &l->items[i];
        double time = 0;
        for (k = i; k < l->count && l->items[k].group == x->group && l->items[k].coll == x->coll; k++)
            time += (double)l->items[k].time_us * rows_complete_share(m, l, &l->items[k]);
        time *= (double)(m->n->communicators[x->group].ranks - 1); // a single rank never waits
        if (!(time > best) || !rows_is_about(m, x->group)) continue;
        best = time;
        m->main_group = x->group;
        m->main_coll = x->coll;
    }
}

void nccl_view_add_sizes(nccl_view_making *m, const nccl_view_lots *l)
{
    nccl_view *v = m->v;
    if (m->main_group == NCCL_NONE) return;
    v->main_label = rows_group_label(m, m->main_group);
    v->main_coll = nccl_view_text(v, m->n->colls[m->main_coll]);
    v->sizes.items = nccl_view_take(v, l->count, sizeof *v->sizes.items);
    for (size_t i = 0; i < l->count; i++) {
        const nccl_view_lot *x = &l->items[i];
        const uint32_t *indexes = l->series + x->first;
        if (x->group != m->main_group || x->coll != m->main_coll) continue;
        nccl_view_size *s = &v->sizes.items[v->sizes.count++];
        *s = (nccl_view_size){.size = x->size};
        for (size_t k = 0; k < x->count; k++)
            s->calls += m->n->series[indexes[k]].instance_count;
        s->mean_gbs = rows_merge(m, indexes, x->count, rows_mean_bus).p50;
        s->bus_gbs = rows_merge(m, indexes, x->count, rows_bus);
        v->main_peak_gbs = rows_common_peak(m, indexes, x->count);
    }
}

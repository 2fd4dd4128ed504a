// The rules on both sides, device by device.
#include "compare_chance.h"
#include "comparer.h"

#include "analysis/base/stb_ds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A side's mark: fine, doubtful or bad.
static int checks_mark(severity s)
{
    return s >= SEVERITY_HIGH ? 2 : s >= SEVERITY_WATCH;
}

static const finding *checks_finding(const findings *f, const rule *x, size_t device)
{
    for (size_t i = 0; i < f->count; i++)
        if (f->items[i].rule == x && (device == DIFFERENCE_NONE || f->items[i].device == device)) return &f->items[i];
    return NULL;
}

static bool checks_is_small_bad(const rule *x)
{
    for (int s = SEVERITY_CRITICAL; s > SEVERITY_OK; s--) {
        expression_op op = x->thresholds[s].op;
        if (op != EXPRESSION_NUMBER) return op == EXPRESSION_LESS || op == EXPRESSION_LESS_EQUAL;
    }
    return false;
}

static const comparison_verdict no_verdict = {
    .value = {NAN, NAN}, .run = {DIFFERENCE_NONE, DIFFERENCE_NONE}, .chance = NAN};

// The judgements of all runs on one device, [run_count]; NULL: nothing to judge.
typedef const finding_check *check_record;

static double checks_badness(const finding_check *x)
{
    return checks_is_small_bad(x->rule) ? -x->value : x->value;
}

// Mildest first: of an even number the milder of the two in the middle counts.
static int checks_by_badness(const void *a, const void *b)
{
    const finding_check *x = *(const check_record *)a, *y = *(const check_record *)b;
    if (x->severity != y->severity) return x->severity < y->severity ? -1 : 1;
    double p = checks_badness(x), q = checks_badness(y);
    return p < q ? -1 : p > q;
}

static void checks_take_middle(comparison_verdict *v, const comparison *c, comparison_side side, check_record *records)
{
    check_record *judged = NULL;
    for (size_t r = 0; r < c->run_count; r++) {
        if (c->runs[r]->side != side || !records[r]) continue;
        if (!records[r]->judged) v->judged[side] = COMPARISON_NOT_KNOWN;
        if (!records[r]->judged) continue;
        arrput(judged, records[r]);
    }
    v->runs[side] = arrlenu(judged);
    if (judged) {
        qsort(judged, v->runs[side], sizeof *judged, checks_by_badness);
        const finding_check *middle = judged[(v->runs[side] - 1) / 2];
        while (records[++v->run[side]] != middle) // from DIFFERENCE_NONE, one before the first
            ;
        v->judged[side] = COMPARISON_JUDGED;
        v->severity[side] = middle->severity;
        v->value[side] = middle->value;
        v->finding[side] =
            middle->severity ? checks_finding(&c->runs[v->run[side]]->f, middle->rule, middle->device) : NULL;
    }
    arrfree(judged);
}

// How many runs of each side are as bad as the middle faulty one: watch or worse.
static void checks_count_found(comparison_verdict *v, const comparison *c, check_record *records)
{
    int least = v->judged[COMPARISON_FAULTY] == COMPARISON_JUDGED ? checks_mark(v->severity[COMPARISON_FAULTY]) : 0;
    for (size_t r = 0; r < c->run_count; r++)
        if (records[r] && records[r]->judged)
            v->found[c->runs[r]->side] += checks_mark(records[r]->severity) >= (least ? least : 1);
}

// The values of the runs that were judged, larger for worse, the healthy ones first. Returns room for all runs.
static double *checks_values(const comparison *c, check_record *records, size_t n[COMPARISON_SIDES])
{
    double *values = memory_calloc(c->run_count, sizeof *values);
    n[COMPARISON_HEALTHY] = n[COMPARISON_FAULTY] = 0;
    for (size_t r = 0; r < c->run_count; r++)
        if (records[r] && records[r]->judged) {
            values[n[0] + n[1]] = checks_badness(records[r]);
            n[c->runs[r]->side]++;
        }
    return values;
}

// How the runs' values rank.
static void checks_rank(comparison_verdict *v, const comparison *c, check_record *records)
{
    size_t n[COMPARISON_SIDES];
    double *values = checks_values(c, records, n);
    if (n[0] && n[1]) v->chance = chance_of_ranks(values, n[0], values + n[0], n[1], 1);
    free(values);
}

// Several runs whose values, even if their ranges do not meet, are no further apart than runs like these would be once in
// a hundred times.
static bool checks_is_noise(const comparison *c, check_record *records)
{
    static const double limit = 0.01, apart = 2;
    size_t n[COMPARISON_SIDES];
    double *values = checks_values(c, records, n);
    bool known = n[0] > 0 && n[1] > 0;
    double chance = known ? chance_of_means(values, n[0], values + n[0], n[1]) : NAN;
    comparison_range h = comparison_range_of(values, n[0]), f = comparison_range_of(values + n[0], n[1]);
    double ratio = h.max > 0 ? f.min / h.max : h.max < 0 ? h.max / f.min : INFINITY; // negative where small is bad
    free(values);
    return known && chance > limit && ratio < apart;
}

// The logarithms of the healthy values on one device, or on all from `from` to `end`: how many, mean, squares.
typedef struct checks_spread {
    double count, sum, squares;
} checks_spread;

static checks_spread checks_spread_of(const comparison *c, check_record *records, size_t from, size_t end)
{
    checks_spread s = {0, 0, 0};
    for (size_t i = from * c->run_count; i < end * c->run_count; i++) {
        const finding_check *x = i % c->run_count < c->side_count[COMPARISON_HEALTHY] ? records[i] : NULL;
        if (!x || !x->judged || !(x->value > 0)) continue;
        s.count++;
        s.sum += log(x->value);
        s.squares += log(x->value) * log(x->value);
    }
    return s;
}

// Would a device that is alike have as far a value once in a thousand times? Ratios and rates spread as their logarithms
// do. How much is told by the devices together: of several healthy runs each around its own mean, of one run around the
// mean of all. Nothing is taken to be steadier than 5 %.
static bool checks_is_like_peers(const comparison *c, const comparison_check *check, size_t cell, check_record *records)
{
    static const double limit = 0.001, least = 0.05;
    const comparison_verdict *v = &check->cells[cell];
    bool several = c->side_count[COMPARISON_HEALTHY] > 1;
    double squares = 0, freedom = 0, step = log(v->value[COMPARISON_FAULTY]);
    checks_spread own = checks_spread_of(c, records, several ? cell : 0, several ? cell + 1 : check->cell_count);
    for (size_t i = 0; i < check->cell_count && several; i++) {
        checks_spread s = checks_spread_of(c, records, i, i + 1);
        if (s.count > 1) squares += s.squares - s.sum * s.sum / s.count;
        freedom += s.count > 1 ? s.count - 1 : 0;
    }
    if (!several && own.count > 1) {
        squares = own.squares - own.sum * own.sum / own.count;
        freedom = own.count - 1;
    }
    if (freedom < 2 || !(own.count > 0) || !isfinite(step)) return false;
    double spread = sqrt(fmax(squares / freedom, least * least));
    double error = spread * sqrt(1 / (double)v->runs[COMPARISON_FAULTY] + 1 / own.count);
    return chance_of_student((step - own.sum / own.count) / error, (size_t)freedom) > limit;
}

// Does the middle faulty run lie among the healthy ones, or hardly beside them? Of one or two healthy runs those of the
// devices that are alike count as well.
static bool checks_is_near(const comparison *c, const comparison_check *check, size_t cell, check_record *records)
{
    enum { ENOUGH_RUNS = 3 };
    const comparison_verdict *v = &check->cells[cell];
    bool few = c->side_count[COMPARISON_HEALTHY] < ENOUGH_RUNS, peers = few && check->cell_count > 2;
    double beside = few ? 1.5 : 1.25;
    bool small = checks_is_small_bad(check->rule);
    double worst = NAN, value = v->value[COMPARISON_FAULTY];
    for (size_t i = peers ? 0 : cell; i < (peers ? check->cell_count : cell + 1); i++)
        for (size_t r = 0; r < c->side_count[COMPARISON_HEALTHY]; r++) {
            const finding_check *x = records[i * c->run_count + r];
            if (x && x->judged) worst = small ? fmin(worst, x->value) : fmax(worst, x->value);
        }
    if (!few && checks_is_noise(c, records + cell * c->run_count)) return true;
    if (check->cell_count > 2 && checks_is_like_peers(c, check, cell, records)) return true;
    if (isnan(worst) || isnan(value) || worst * value < 0) return false;
    return small ? value * beside > worst : value < worst * beside;
}

// A side that has nothing to judge shows no trouble; one that could not be judged shows nothing.
static void checks_conclude_verdict(const comparison *c, comparison_check *check, size_t cell, check_record *records)
{
    comparison_verdict *v = &check->cells[cell];
    int marks[COMPARISON_SIDES];
    for (int side = 0; side < COMPARISON_SIDES; side++) {
        if (v->judged[side] == COMPARISON_NOT_KNOWN) return;
        marks[side] = v->judged[side] == COMPARISON_JUDGED ? checks_mark(v->severity[side]) : 0;
    }
    v->flipped = marks[COMPARISON_HEALTHY] != marks[COMPARISON_FAULTY];
    if (marks[COMPARISON_FAULTY] > marks[COMPARISON_HEALTHY] && checks_is_near(c, check, cell, records)) v->near = true;
    if (v->near) v->flipped = false;
}

static bool checks_is_worse(const comparison_verdict *a, const comparison_verdict *b)
{
    if (a->flipped != b->flipped) return a->flipped;
    if (a->severity[COMPARISON_FAULTY] != b->severity[COMPARISON_FAULTY])
        return a->severity[COMPARISON_FAULTY] > b->severity[COMPARISON_FAULTY];
    if (a->severity[COMPARISON_HEALTHY] != b->severity[COMPARISON_HEALTHY])
        return a->severity[COMPARISON_HEALTHY] > b->severity[COMPARISON_HEALTHY];
    return false;
}

static bool checks_conclude(const comparison *c, comparison_check *check, check_record *records)
{
    bool any = false;
    for (size_t i = 0; i < check->cell_count; i++) {
        comparison_verdict *v = &check->cells[i];
        for (int side = 0; side < COMPARISON_SIDES; side++)
            checks_take_middle(v, c, (comparison_side)side, records + i * c->run_count);
        checks_count_found(v, c, records + i * c->run_count);
        checks_rank(v, c, records + i * c->run_count);
        checks_conclude_verdict(c, check, i, records);
        if (checks_is_worse(v, &check->cells[check->worst])) check->worst = i;
        for (int side = 0; side < COMPARISON_SIDES; side++) {
            any |= v->judged[side] == COMPARISON_JUDGED;
            if (v->judged[side] == COMPARISON_JUDGED && v->severity[side] > check->severity[side])
                check->severity[side] = v->severity[side];
        }
    }
    check->flipped = check->cells[check->worst].flipped;
    return any;
}

// For each run where a rule's records begin in its list: they are in the rules' order.
static void checks_gather(comparer *m, const comparison_check *check, check_record *records, size_t *at)
{
    const comparison *c = m->c;
    for (size_t r = 0; r < c->run_count; r++) {
        const findings *f = &c->runs[r]->f;
        for (; at[r] < f->check_count && f->checks[at[r]].rule == check->rule; at[r]++) {
            const finding_check *x = &f->checks[at[r]];
            size_t cell = x->device == DIFFERENCE_NONE ? 0 : m->back[r][x->device] - check->first_device;
            records[cell * c->run_count + r] = x;
        }
    }
}

static bool checks_choose_devices(const comparer *m, comparison_check *check)
{
    const comparison *c = m->c;
    const rule *x = check->rule;
    check->of_node = x->per_node;
    check->cell_count = x->per_node ? 1 : 0;
    for (size_t i = 0; i < c->device_count && !x->per_node; i++) {
        if (strcmp(x->source, "*") != 0 && strcmp(x->source, c->devices[i].source) != 0) continue;
        if (!check->cell_count++) check->first_device = i;
    }
    return check->cell_count > 0;
}

static int checks_by_order(const void *a, const void *b)
{
    const comparison_check *x = a, *y = b;
    const comparison_verdict *v = &x->cells[x->worst], *w = &y->cells[y->worst];
    if (checks_is_worse(v, w) || checks_is_worse(w, v)) return checks_is_worse(v, w) ? -1 : 1;
    // As findings are ordered: unexplained ones, then those nearer to the cause.
    bool p = v->finding[COMPARISON_FAULTY] && v->finding[COMPARISON_FAULTY]->explained_by;
    bool q = w->finding[COMPARISON_FAULTY] && w->finding[COMPARISON_FAULTY]->explained_by;
    if (p != q) return p ? 1 : -1;
    if (x->rule->class_rank != y->rule->class_rank) return x->rule->class_rank < y->rule->class_rank ? -1 : 1;
    return strcmp(x->rule->name, y->rule->name);
}

void comparer_checks(comparer *m)
{
    comparison *c = m->c;
    size_t *at = memory_calloc(c->run_count, sizeof *at);
    for (size_t i = 0; i < m->set->count; i++) {
        comparison_check check = {.rule = m->set->items[i]};
        if (!checks_choose_devices(m, &check)) continue;
        check.cells = memory_array(NULL, check.cell_count, sizeof *check.cells);
        for (size_t k = 0; k < check.cell_count; k++)
            check.cells[k] = no_verdict;
        check_record *records = memory_calloc(check.cell_count * c->run_count, sizeof *records);
        checks_gather(m, &check, records, at);
        if (checks_conclude(c, &check, records))
            arrput(c->checks, check);
        else
            free(check.cells);
        free(records);
    }
    free(at);
    c->check_count = arrlenu(c->checks);
    if (c->check_count) qsort(c->checks, c->check_count, sizeof *c->checks, checks_by_order);
}

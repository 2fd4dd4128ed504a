// The rules on both sides, device by device.
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

// One run's judgement; the worst of a side stays.
static void checks_add_verdict(comparison_verdict *v, const comparison *c, size_t run, const finding_check *check)
{
    comparison_side side = c->runs[run]->side;
    if (!check->judged) {
        if (v->judged[side] == COMPARISON_NOT_THERE) v->judged[side] = COMPARISON_NOT_KNOWN;
        return;
    }
    bool further = checks_is_small_bad(check->rule) ? check->value < v->value[side] : check->value > v->value[side];
    bool worse = check->severity > v->severity[side] || (check->severity == v->severity[side] && further);
    if (v->judged[side] == COMPARISON_JUDGED && !worse) return;
    v->judged[side] = COMPARISON_JUDGED;
    v->severity[side] = check->severity;
    v->value[side] = check->value;
    v->run[side] = run;
    v->finding[side] = check->severity ? checks_finding(&c->runs[run]->f, check->rule, check->device) : NULL;
}

static const comparison_verdict no_verdict = {.value = {NAN, NAN}, .run = {DIFFERENCE_NONE, DIFFERENCE_NONE}};

// A side that has nothing to judge shows no trouble; one that could not be judged shows nothing.
static void checks_conclude_verdict(comparison_verdict *v)
{
    int marks[COMPARISON_SIDES];
    for (int side = 0; side < COMPARISON_SIDES; side++) {
        if (v->judged[side] == COMPARISON_NOT_KNOWN) return;
        marks[side] = v->judged[side] == COMPARISON_JUDGED ? checks_mark(v->severity[side]) : 0;
    }
    v->flipped = marks[COMPARISON_HEALTHY] != marks[COMPARISON_FAULTY];
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

static bool checks_conclude(comparison_check *check)
{
    bool any = false;
    for (size_t i = 0; i < check->cell_count; i++) {
        comparison_verdict *v = &check->cells[i];
        checks_conclude_verdict(v);
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
static void checks_gather(comparer *m, comparison_check *check, size_t *at)
{
    comparison *c = m->c;
    for (size_t r = 0; r < c->run_count; r++) {
        const findings *f = &c->runs[r]->f;
        for (; at[r] < f->check_count && f->checks[at[r]].rule == check->rule; at[r]++) {
            const finding_check *x = &f->checks[at[r]];
            size_t cell = x->device == DIFFERENCE_NONE ? 0 : m->back[r][x->device] - check->first_device;
            checks_add_verdict(&check->cells[cell], c, r, x);
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
        checks_gather(m, &check, at);
        if (checks_conclude(&check))
            arrput(c->checks, check);
        else
            free(check.cells);
    }
    free(at);
    c->check_count = arrlenu(c->checks);
    if (c->check_count) qsort(c->checks, c->check_count, sizeof *c->checks, checks_by_order);
}

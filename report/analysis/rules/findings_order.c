// Which finding explains which, and their order.
#include "findings_making.h"

#include "analysis/base/stb_ds.h"
#include "analysis/base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A finding on the job or the node as a whole, or on its cores, can be a cause anywhere on it.
static bool findings_is_everywhere(const findings_making *m, size_t device)
{
    if (device == DIFFERENCE_NONE) return true;
    const char *source = m->f->d->delta->schema->devices[device].source;
    return strcmp(source, "cpu") == 0 || findings_source_is_whole(source);
}

void findings_explain(findings_making *m, finding *x)
{
    if (!*x->rule->explained_by) return;
    for (size_t i = 0; i < m->f->count; i++) {
        const finding *cause = &m->f->items[i];
        bool here = findings_is_everywhere(m, cause->device) || x->device == DIFFERENCE_NONE ||
                    evaluation_linked(&m->e, cause->device, x->device);
        if (cause == x || cause->severity < SEVERITY_WATCH || !here) continue;
        if (!findings_names_rule(x->rule->explained_by, cause->rule->name)) continue;
        if (x->explained_by && findings_names_rule(x->explained_by, cause->rule->name)) continue;
        text_append(&x->explained_by, "%s%s", x->explained_by ? ", " : "", cause->rule->name);
    }
}

// How far behind a first cause each finding is: 0 where nothing explains it. A circle ends after a few steps.
static size_t *findings_depths(const findings *f)
{
    enum { STEPS = 4 };
    size_t *depths = memory_calloc(f->count + 1, sizeof *depths);
    for (int step = 0; step < STEPS; step++)
        for (size_t i = 0; i < f->count; i++)
            for (size_t k = 0; f->items[i].explained_by && k < f->count; k++)
                if (depths[i] <= depths[k] && depths[i] < STEPS &&
                    findings_names_rule(f->items[i].explained_by, f->items[k].rule->name))
                    depths[i] = depths[k] + 1;
    return depths;
}

typedef struct order_key {
    const finding *x;
    size_t rule, device, depth;
    double cost_s; // 0: unknown
} order_key;

static int findings_compare_findings(const void *a, const void *b)
{
    const order_key *p = a, *q = b;
    const finding *x = p->x, *y = q->x;
    if (x->severity != y->severity) return x->severity > y->severity ? -1 : 1;
    if (p->depth != q->depth) return p->depth < q->depth ? -1 : 1;
    if (p->cost_s < q->cost_s || p->cost_s > q->cost_s) return p->cost_s > q->cost_s ? -1 : 1;
    if (x->rule->class_rank != y->rule->class_rank) return x->rule->class_rank < y->rule->class_rank ? -1 : 1;
    if (p->rule != q->rule) return p->rule < q->rule ? -1 : 1;
    bool small = x->threshold->op == EXPRESSION_LESS || x->threshold->op == EXPRESSION_LESS_EQUAL;
    if (x->value > y->value || x->value < y->value) return (x->value > y->value) == small ? 1 : -1;
    return p->device < q->device ? -1 : p->device > q->device;
}

// Worst first; of equals the cause before what it explains, then what cost more time, then the class and the tables' order.
void findings_sort(findings *f, const rules *set)
{
    size_t *depths = findings_depths(f);
    order_key *keys = NULL;
    finding *sorted = NULL;
    arrsetcap(keys, f->count);
    arrsetcap(sorted, f->count);
    for (size_t i = 0; i < f->count; i++) {
        size_t r = 0;
        while (set->items[r] != f->items[i].rule)
            r++;
        arrput(keys, ((order_key){&f->items[i], r, f->items[i].device, depths[i],
                                  isnan(f->items[i].cost_s) ? 0 : f->items[i].cost_s}));
    }
    if (f->count) qsort(keys, f->count, sizeof *keys, findings_compare_findings);
    for (size_t i = 0; i < f->count; i++)
        arrput(sorted, *keys[i].x);
    arrfree(f->items);
    f->items = sorted;
    arrfree(keys);
    free(depths);
}

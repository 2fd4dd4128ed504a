// The rules' findings in the regions: per reading by several threads, then each rule once per node.
#include "regions_store.h"

#include "analysis/base/threads/parallel.h"

#include <string.h>

// ---- all readings, by several threads ----

typedef struct regions_task {
    size_t node, reading;
    regions_finding *found; // stb_ds
} regions_task;

typedef struct regions_judging {
    regions *r;
    regions_task *tasks; // stb_ds; node after node, and host after host within a node
} regions_judging;

static void regions_judge_one(void *user, size_t i)
{
    regions_judging *j = user;
    regions_task *task = &j->tasks[i];
    const regions_node *node = &j->r->nodes[task->node];
    regions_measure(j->r, task->node, node, &node->readings[task->reading], &task->found);
}

static void regions_judge_all(regions_judging *j, int threads)
{
    enum { WORTH_IT = 64 };
    const parallel_options pool = {.threads = arrlenu(j->tasks) < WORTH_IT ? 1 : threads > 0 ? (size_t)threads : 0};
    parallel_for(&pool, arrlenu(j->tasks), regions_judge_one, j);
}

// ---- findings of a node: each rule once ----

// Whether small or large values are worse depends on the rule's thresholds.
static bool regions_is_worse(const regions_finding *a, const regions_finding *b)
{
    const rule_threshold *t = &a->rule->thresholds[a->severity];
    bool small = t->op == EXPRESSION_LESS || t->op == EXPRESSION_LESS_EQUAL;
    if (a->severity != b->severity) return a->severity > b->severity;
    return small ? a->value < b->value : a->value > b->value;
}

static void regions_fold(regions_finding *into, regions_finding *more)
{
    size_t places = into->places + 1, hosts = into->hosts;
    if (regions_is_worse(more, into)) {
        free(into->claim);
        *into = *more;
    } else {
        free(more->claim);
    }
    into->places = places;
    into->hosts = hosts;
}

// last_host: for each finding of the node, so that a host counts once.
static void regions_add_finding(regions *r, size_t first, regions_finding *x, size_t **last_host)
{
    for (size_t i = first; i < arrlenu(r->findings); i++)
        if (r->findings[i].rule == x->rule) {
            bool new_host = (*last_host)[i - first] != x->host;
            (*last_host)[i - first] = x->host;
            regions_fold(&r->findings[i], x);
            r->findings[i].hosts += new_host;
            return;
        }
    arrput(*last_host, x->host);
    arrput(r->findings, *x);
}

static int regions_compare_findings(const void *a, const void *b)
{
    const regions_finding *x = a, *y = b;
    if (x->severity != y->severity) return x->severity > y->severity ? -1 : 1;
    if (x->rule->class_rank != y->rule->class_rank) return x->rule->class_rank < y->rule->class_rank ? -1 : 1;
    return strcmp(x->rule->name, y->rule->name);
}

static void regions_collect_findings(regions *r, const regions_task *tasks)
{
    size_t *last_host = NULL;
    for (size_t task = 0, n = 0; n < r->node_count; n++) {
        regions_node *node = &r->nodes[n];
        node->first_finding = arrlenu(r->findings);
        arrsetlen(last_host, 0);
        for (; task < arrlenu(tasks) && tasks[task].node == n; task++)
            for (size_t i = 0; i < arrlenu(tasks[task].found); i++)
                regions_add_finding(r, node->first_finding, &tasks[task].found[i], &last_host);
        node->finding_count = arrlenu(r->findings) - node->first_finding;
        if (node->finding_count)
            qsort(&r->findings[node->first_finding], node->finding_count, sizeof *r->findings,
                  regions_compare_findings);
    }
    r->finding_count = arrlenu(r->findings);
    arrfree(last_host);
}

// Is the trouble of `whole` rather that of `part`, a region within it: the same rule and device, half as bad again?
static bool regions_is_rather_there(const regions_finding *whole, const regions_finding *part)
{
    const rule_threshold *t = &whole->rule->thresholds[whole->severity];
    bool small = t->op == EXPRESSION_LESS || t->op == EXPRESSION_LESS_EQUAL;
    if (part->rule != whole->rule || part->host != whole->host || part->device != whole->device) return false;
    return part->severity >= whole->severity &&
           (small ? 1.5 * part->value <= whole->value : part->value >= 1.5 * whole->value);
}

static void regions_find_parts(regions *r)
{
    for (size_t i = 0; i < r->finding_count; i++) {
        regions_finding *x = &r->findings[i];
        const regions_node *node = &r->nodes[x->node];
        const regions_finding *best = NULL;
        for (size_t n = x->node + 1; n < node->end; n++)
            for (size_t k = 0; k < r->nodes[n].finding_count; k++) {
                const regions_finding *y = &r->findings[r->nodes[n].first_finding + k];
                if (regions_is_rather_there(x, y) && (!best || regions_is_worse(y, best))) best = y;
            }
        if (best) x->part = best->node;
    }
}

// ---- all of it ----

void regions_judge(regions *r, const rules *set, int threads)
{
    regions_judging j = {.r = r};
    catalog_init();
    r->store->rules = set;
    regions_make_schemas(r);
    for (size_t i = 0; i < r->node_count; i++)
        for (size_t k = 0; k < r->nodes[i].reading_count; k++)
            arrput(j.tasks, ((regions_task){i, k, NULL}));
    regions_judge_all(&j, threads);
    for (size_t i = 0; i < r->node_count; i++)
        regions_sum_readings(r, &r->nodes[i]);
    regions_collect_findings(r, j.tasks);
    regions_find_parts(r);
    for (size_t i = 0; i < arrlenu(j.tasks); i++)
        arrfree(j.tasks[i].found);
    arrfree(j.tasks);
}

// Where it backs up: the stages that a byte passes, in their order, each by the check that watches it. A stage that nothing
// counts is not skipped: what is not counted is not known.
#include "comparer.h"

#include <string.h>

static const comparison_path path_ways[] = {
    {.of = "of a received byte",
     .stages = {{"Senders, switches", "held by this NIC", "ingress-paused", NULL, NULL},
                {"Cable", "damaged beyond repair", "uncorrected-codewords", NULL, NULL},
                {"Receive buffer", "full", "ingress-buffer-stall", NULL, NULL},
                {"PCIe to the host", "writes blocked", "host-write-back-pressure", NULL, NULL},
                {"Host memory", "no counter read", NULL, NULL, NULL}}},
    {.of = "of a sent byte",
     .stages = {{"Host memory", "no counter read", NULL, NULL, NULL},
                {"PCIe from the host", "reads blocked", "host-read-latency", NULL, NULL},
                {"Cable", "damaged beyond repair", "uncorrected-codewords", NULL, NULL},
                {"Network", "holds this NIC", "egress-paused", NULL, NULL},
                {"Receivers", "no counter read", NULL, NULL, NULL}}},
};

static const comparison_check *path_check(const comparison *c, const char *name)
{
    for (size_t i = 0; name && i < c->check_count; i++)
        if (strcmp(c->checks[i].rule->name, name) == 0) return &c->checks[i];
    return NULL;
}

static const comparison_verdict *path_verdict(const comparison_check *check, size_t device)
{
    bool inside =
        check && !check->of_node && device >= check->first_device && device < check->first_device + check->cell_count;
    return inside ? &check->cells[device - check->first_device] : NULL;
}

bool comparison_is_worse(const comparison_verdict *v)
{
    bool judged = v->judged[COMPARISON_HEALTHY] == COMPARISON_JUDGED;
    return v->flipped && !v->near && v->judged[COMPARISON_FAULTY] == COMPARISON_JUDGED &&
           v->severity[COMPARISON_FAULTY] >= SEVERITY_WATCH &&
           (!judged || v->severity[COMPARISON_FAULTY] > v->severity[COMPARISON_HEALTHY]);
}

// The worst device of the first stage of this way that went worse, by the checks' own order; DIFFERENCE_NONE: none.
static size_t path_device(const comparison *c, const comparison_path *way, size_t *rank)
{
    size_t device = DIFFERENCE_NONE;
    for (size_t i = 0; i < c->check_count && i < *rank; i++) {
        const comparison_check *check = &c->checks[i];
        if (check->of_node || !comparison_is_worse(&check->cells[check->worst])) continue;
        for (size_t k = 0; k < COMPARISON_STAGES; k++) {
            const char *name = way->stages[k].rule;
            // A damaged cable alone is on both ways, and no back-up.
            if (!name || strcmp(name, "uncorrected-codewords") == 0 || strcmp(name, check->rule->name) != 0) continue;
            device = check->first_device + check->worst;
            *rank = i;
            return device;
        }
    }
    return device;
}

// The stage farthest along that went worse is drawn apart; it backs up from there where the rules explain an earlier one by it.
static void path_choose_outline(comparison_path *p)
{
    const comparison_stage *last = NULL;
    for (size_t i = 0; i < COMPARISON_STAGES; i++)
        if (p->stages[i].verdict && comparison_is_worse(p->stages[i].verdict)) last = &p->stages[i], p->outlined = i;
    for (size_t i = 0; last && i < p->outlined; i++) {
        const comparison_verdict *v = p->stages[i].verdict;
        if (!v || !comparison_is_worse(v)) continue;
        const finding *x = v->finding[COMPARISON_FAULTY];
        if (!p->backs_up && x && x->explained_by && findings_names_rule(x->explained_by, last->rule))
            p->backs_up = true, p->first = i;
    }
}

void comparer_path(comparer *m)
{
    comparison *c = m->c;
    size_t rank = c->check_count, chosen = DIFFERENCE_NONE;
    for (size_t i = 0; i < sizeof path_ways / sizeof *path_ways; i++) {
        size_t device = path_device(c, &path_ways[i], &rank);
        if (device == DIFFERENCE_NONE) continue;
        c->path = path_ways[i];
        chosen = device;
    }
    if (chosen == DIFFERENCE_NONE) return;
    c->path.device = chosen;
    for (size_t i = 0; i < COMPARISON_STAGES; i++) {
        comparison_stage *s = &c->path.stages[i];
        s->check = path_check(c, s->rule);
        s->verdict = path_verdict(s->check, chosen);
    }
    path_choose_outline(&c->path);
}

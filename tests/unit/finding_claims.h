// What holds for all findings about counters, whatever was found: their order, what each crossed, whom it names, and that
// what explains it is told as well.
#ifndef NETPROF_TESTS_FINDING_CLAIMS_H
#define NETPROF_TESTS_FINDING_CLAIMS_H

#include "analysis/rules/findings.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static inline void finding_claims_need(bool held, const finding *x, const char *what)
{
    if (!held) fail_msg("%s: %s: %s", x->rule->name, what, x->claim ? x->claim : "");
}

// The names in explained_by, by ", ".
static inline void finding_claims_check_cause(const findings *f, const finding *x)
{
    char names[512] = "", *rest = names, *name;
    snprintf(names, sizeof names, "%s", x->explained_by ? x->explained_by : "");
    while ((name = strtok_r(rest, ", ", &rest)) != NULL) {
        bool told = false;
        for (size_t i = 0; i < f->count; i++)
            told |= &f->items[i] != x && strcmp(f->items[i].rule->name, name) == 0 &&
                    f->items[i].severity >= SEVERITY_WATCH;
        finding_claims_need(told, x, "its cause is not told");
    }
}

// The worst first; of those that nothing explains and that cost alike, the class of rules that comes first.
static inline void finding_claims_check_order(const finding *x, const finding *y)
{
    finding_claims_need(x->severity >= y->severity, y, "it stands behind what is better");
    bool alike = x->severity == y->severity && !x->explained_by && !y->explained_by;
    double p = isnan(x->cost_s) ? 0 : x->cost_s, q = isnan(y->cost_s) ? 0 : y->cost_s;
    if (alike) finding_claims_need(p >= q, y, "it stands behind what costs less");
    if (alike && !(p > q))
        finding_claims_need(x->rule->class_rank <= y->rule->class_rank, y, "it stands behind a later class");
}

static inline void finding_claims_check(const findings *f)
{
    assert_true(f->verdict && *f->verdict);
    for (size_t i = 0; i < f->count; i++) {
        const finding *x = &f->items[i];
        assert_non_null(x->claim);
        finding_claims_need(isfinite(x->value) && x->threshold != NULL, x, "no value, or nothing that it crossed");
        finding_claims_need(x->device == DIFFERENCE_NONE || x->device < f->d->delta->schema->device_count, x, "device");
        finding_claims_need(x->alike <= x->alike_of, x, "alike");
        finding_claims_need(!x->peers || x->peers_min <= x->peers_max, x, "its peers");
        finding_claims_need(isnan(x->cost_s) || x->cost_s >= 0, x, "its cost");
        finding_claims_check_cause(f, x);
        if (i) finding_claims_check_order(x - 1, x);
    }
    for (size_t i = 1; i < f->gap_count; i++) { // what could have shown something that matters first, then the worst
        const finding_gap *x = &f->gaps[i - 1], *y = &f->gaps[i];
        assert_true(x->matters >= y->matters);
        if (x->matters == y->matters) assert_true(x->hides >= y->hides);
    }
    size_t hidden = 0;
    for (size_t i = 0; i < f->gap_count; i++)
        hidden += f->gaps[i].checks;
    assert_int_equal(hidden, f->unknown_checks);
}

#endif

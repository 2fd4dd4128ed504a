// Findings that no formula makes: a rule of the tables gives severity, threshold and advice.
#include "findings_making.h"

#include "analysis/base/memory.h"
#include "analysis/base/signals.h"
#include "analysis/base/stb_ds.h"
#include "analysis/data/clocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void findings_add_told(findings_making *m, const char *rule_name, size_t device, const char *subject, double value,
                       char *claim)
{
    findings *f = m->f;
    const rule *x = rules_find(m->set, rule_name);
    int s = SEVERITY_CRITICAL;
    while (x && s > SEVERITY_OK && !findings_crosses(&x->thresholds[s], value))
        s--;
    if (!x || s == SEVERITY_OK) {
        free(claim);
        return;
    }
    if (!claim) claim = memory_strdup(x->part_count ? x->claim[0].text : x->name);
    finding made = {.rule = x,
                    .severity = (severity)s,
                    .device = device,
                    .value = value,
                    .cost_s = NAN,
                    .claim = claim,
                    .threshold = &x->thresholds[s],
                    .subject = subject ? memory_strdup(subject) : NULL};
    arrput(f->items, made);
    f->count = arrlenu(f->items);
}

// The command whose run it is.
void findings_look_at_command(findings_making *m)
{
    const difference *d = m->f->d;
    const char *status = netprof_fact_of(d->run_facts, d->run_fact_count, "exit_status"),
               *killed = netprof_fact_of(d->run_facts, d->run_fact_count, "signal");
    double value = status ? strtod(status, NULL) : 0;
    if (killed)
        findings_add_told(m, "job-failed", DIFFERENCE_NONE, "node", value > 0 ? value : 1,
                          memory_format("the command was ended by %s", signals_text(atoi(killed)).text));
    else if (value > 0)
        findings_add_told(m, "job-failed", DIFFERENCE_NONE, "node", value,
                          memory_format("the command failed with exit status %s", status));
}

// Between the two readings; a clock that was set there and back is not seen.
void findings_look_at_clock(findings_making *m)
{
    int64_t by = clocks_set_between(m->f->d->delta);
    char *how = clocks_set_words(1, by);
    if (by)
        findings_add_told(m, "clock-set", DIFFERENCE_NONE, "node", fabs((double)by) / 1e9,
                          memory_format("the wall clock was %s between the two readings", how));
    free(how);
}

// What holds for every finding of a job, whatever it found: whose it is and when is said in its sentence and in its fields
// alike, amounts are possible ones and have units, and what explains it is told as well.
#ifndef NETPROF_TESTS_JOB_CLAIMS_H
#define NETPROF_TESTS_JOB_CLAIMS_H

#include "analysis/job/job_report.h"
#include "support.h"

#include <math.h>

SUPPORT void job_claims_need(bool held, const job_finding *x, const char *what)
{
    if (!held) fail_msg("%s: %s: %s", x->rule, what, x->claim);
}

SUPPORT bool job_claims_is_told(const job_report *job, const char *name)
{
    for (size_t i = 0; i < job->finding_count; i++)
        if (strcmp(job->findings[i].rule, name) == 0) return true;
    return false;
}

SUPPORT void job_claims_check_place(const job_report *job, const job_finding *x)
{
    job_claims_need(x->node == JOB_NONE || x->node < job->node_count, x, "no such node");
    job_claims_need(x->device == JOB_NONE || x->device < job->device_count, x, "no such device");
    job_claims_need(x->nodes >= 1 && (double)x->nodes <= fmax((double)job->node_count, (double)job->given_nodes), x,
                    "nodes");
    if (x->node != JOB_NONE) {
        bool named = strstr(x->claim, job->nodes[x->node].name) || job->node_count == 1;
        job_claims_need(named, x, "its node is not named");
        job_claims_need(job->nodes[x->node].severity >= x->severity, x, "its node is better than that");
    }
    if (x->device != JOB_NONE) {
        const job_device *d = &job->devices[x->device];
        job_claims_need(d->node == x->node, x, "a device of another node");
        if (x->incident) job_claims_need(strstr(x->claim, d->label) != NULL, x, "its device is not named");
    }
}

SUPPORT void job_claims_check_amounts(const job_report *job, const job_finding *x)
{
    double length = x->to_s - x->from_s;
    job_claims_need(x->from_s >= 0 && length > 0 && x->to_s <= job->end_s + 1e-6, x, "its time");
    job_claims_need(isnan(x->value) || (isfinite(x->value) && *x->unit), x, "its value");
    job_claims_need(!x->incident || x->value >= x->threshold, x, "an incident below its threshold");
    job_claims_need(isnan(x->cost_s) || (x->cost_s >= 0 && x->cost_s <= job->end_s + 1e-6), x, "its cost");
    job_claims_need(isnan(x->lost_s) || (x->lost_s >= 0 && x->lost_s <= length + 1e-6), x, "what was lost");
    const double ratios[] = {x->sent_ratio, x->cpu_ratio, x->gpu_ratio, x->power_ratio};
    for (size_t i = 0; i < COUNT(ratios); i++)
        job_claims_need(isnan(ratios[i]) || (ratios[i] >= 0 && isfinite(ratios[i])), x, "a ratio");
}

// Of the node, or the device of a node, that it is found at; its figures fit each other.
SUPPORT void job_claims_check_lane(const job_report *job, const job_lane *x, job_meter meter, size_t node,
                                   size_t device)
{
    const char *name = job_meter_of(meter)->name;
    if (!x) return;
    if (x->meter != meter || x->node != node || x->device != device) fail_msg("%s: a lane of something else", name);
    if (!(x->known_s >= 0 && x->known_s <= job->end_s * (1 + 1e-6))) fail_msg("%s: known for %g s", name, x->known_s);
    if (x->low > x->high) fail_msg("%s: from %g to %g", name, x->low, x->high);
    double slack = 1e-4 * fmax(fabs(x->low), fabs(x->high));
    if (x->mean < x->low - slack || x->mean > x->high + slack)
        fail_msg("%s: %g is not between %g and %g", name, x->mean, x->low, x->high);
}

SUPPORT void job_claims_check_lanes(const job_report *job)
{
    for (size_t i = 0; i < job->node_count; i++)
        for (int m = 0; m < JOB_METERS; m++)
            job_claims_check_lane(job, job->nodes[i].lanes[m], (job_meter)m, i, JOB_NONE);
    for (size_t i = 0; i < job->device_count; i++)
        for (int m = 0; m < JOB_METERS; m++)
            job_claims_check_lane(job, job->devices[i].lanes[m], (job_meter)m, job->devices[i].node, i);
}

SUPPORT void job_claims_check(const job_report *job)
{
    job_claims_check_lanes(job);
    assert_true(job->title && *job->title && job->note_count > 0);
    for (size_t i = 0; i < job->finding_count; i++) {
        const job_finding *x = &job->findings[i];
        job_claims_need(*x->rule && *x->claim && *x->title, x, "no words");
        job_claims_need(*x->origin != 0, x, "no origin of its threshold");
        job_claims_need(x->class_rank < 99, x, "no class");
        job_claims_need(!*x->explained_by ||
                            (strcmp(x->explained_by, x->rule) != 0 && job_claims_is_told(job, x->explained_by)),
                        x, "its cause is not told");
        if (i) job_claims_need(x->severity <= x[-1].severity, x, "before it comes what is better");
        job_claims_check_place(job, x);
        job_claims_check_amounts(job, x);
    }
    for (size_t i = 0; i < job->note_count; i++) {
        assert_true(*job->notes[i].text != 0);
        assert_true(job->notes[i].finding == JOB_NONE || job->notes[i].finding < job->finding_count);
    }
}

#endif

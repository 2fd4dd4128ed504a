// What went wrong in a job from when to when, as netprof job finds it.
#include "export.h"
#include "cli/inputs.h"
#include "analysis/job/job_report.h"

static void export_incidents_put(export_sink *sink, const job_report *r)
{
    for (size_t i = 0; i < r->finding_count; i++) {
        const job_finding *x = &r->findings[i];
        if (!x->incident || !(x->to_s >= x->from_s)) continue;
        export_put_incident(sink, &(export_incident){.severity = severity_name(x->severity),
                                                     .rule = x->rule,
                                                     .claim = x->claim,
                                                     .advice = x->advice,
                                                     .node = x->node == JOB_NONE ? "" : r->nodes[x->node].name,
                                                     .device = x->device == JOB_NONE ? "" : r->devices[x->device].name,
                                                     .from_s = x->from_s,
                                                     .to_s = x->to_s});
    }
}

void export_incidents(export_sink *sink, const char **paths, size_t count)
{
    rules set = {0};
    job_report job = {0};
    netprof_error error;
    const export_options *o = export_options_of(sink);
    if (!o->driver->incident || !count || !job_report_wants(paths, count) || inputs_rules(&set, o->rules)) return;
    if (job_report_read(&job, paths, count, &(job_report_options){.rules = &set}, &error))
        warn("no findings of the job: %s", error_text(&error));
    else
        export_incidents_put(sink, &job);
    job_report_free(&job);
    rules_free(&set);
}

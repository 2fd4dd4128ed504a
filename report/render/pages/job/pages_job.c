#include "pages_job.h"

#include "pages_job_regions.h"
#include "render/pages/pages_lanes.h"
#include "render/pages/pages_peers.h"
#include "render/pages/pages_signs.h"
#include "analysis/base/words.h"

#include <math.h>

#define GROUP_CHARTS(name)  name "-figures " name "-lines " name "-nodes " name "-table "
#define DEVICE_CHARTS(name) name "-devices " name "-device-table "

const pages_kind pages_job_kind = {
    "Job time series",
    "verdict, use of the nodes, when they sent less, who waited; what moved together; findings; CPU, memory, network, "
    "energy, GPUs; nodes in numbers",
    "use facts next amounts unjudged time-sent time-received time-gpu time-cpu time-nic time-paused time-events "
    "time-lines energy rails " PAGES_LANES_CHART PAGES_PEERS_CHARTS "bytes-explained "
    "phases "
    "regions-over-time region-times findings " GROUP_CHARTS("cpu") GROUP_CHARTS("memory") GROUP_CHARTS("network")
        DEVICE_CHARTS("network") GROUP_CHARTS("virtual") DEVICE_CHARTS("virtual") GROUP_CHARTS("io")
            GROUP_CHARTS("energy") GROUP_CHARTS("gpu") DEVICE_CHARTS("gpu") "nodes event-table samples warnings"};

static void pages_job_add_foot(const job_view *v, document *doc, bool short_form)
{
    const job_report *job = v->job;
    bool drawn = v->column_s > 1.5 * job->interval_s;
    document_foot(
        doc,
        arena_format(v->memory, "%s%s%s%s%snetprof %s%s%s samples%s%s%s%s", *job->job_id ? "job " : "", job->job_id,
                     *job->job_id ? DOT : "", words_many(job->files, "file").text, DOT, netprof_version(), DOT,
                     number_duration(job->interval_s).text,
                     drawn ? arena_format(v->memory, ", drawn as %s columns", number_duration(v->column_s).text) : "",
                     job->clock_text ? DOT : "", job->clock_text ? job->clock_text : "",
                     short_form ? DOT "all that was recorded: --all-nics" : ""));
    document_metadata(doc, "what the nodes of a job did", "netprof, job",
                      job->begin_ns + (int64_t)llround(job->end_s * 1e9));
}

// One node has one page where its verdict says all that was found: more would be many equal numbers.
static bool pages_job_is_told(const job_report *job)
{
    size_t faults = 0;
    for (size_t i = 0; i < job->finding_count; i++) {
        faults += job->findings[i].severity >= SEVERITY_WARN;
        if (job->findings[i].incident && job->findings[i].severity >= SEVERITY_WATCH) return false;
    }
    return faults < 2 && !job->warning_count;
}

static void pages_job_add_evidence_of_one(job_view *v, document *doc)
{
    job_findings_page(v, doc, true);
    job_overview_events(v, doc);
    if (v->job->warning_count) job_appendix(v, doc);
}

static void pages_job_add_evidence(job_view *v, document *doc, const struct nccl_lanes *collectives)
{
    if (v->job->node_count > 1) {
        job_series_page(v, doc);
        job_collectives(v, doc, collectives);
        job_rails(v, doc);
        job_peers(v, doc);
        job_regions_page(v, doc);
    }
    job_findings_page(v, doc, false);
    if (v->job->node_count == 1) job_series_energy(v, doc);
    job_meter_pages(v, doc);
    job_appendix(v, doc);
}

document *pages_job(const job_report *job, const struct nccl_lanes *collectives, bool brief, bool full)
{
    job_view v = job_view_open(job);
    document *doc = document_open(pages_job_kind.name);
    pages_job_add_foot(&v, doc, job->node_count == 1 && !full);
    if (job->node_count == 1)
        job_overview_of_one(&v, doc, brief, full);
    else
        job_overview(&v, doc);
    if (!brief && job->node_count == 1) job_collectives(&v, doc, collectives);
    if (!brief && (full || job->node_count > 1)) {
        pages_job_add_evidence(&v, doc, collectives);
        if (job->clock_note) document_note(doc, job->clock_note);
    } else if (!brief && !pages_job_is_told(job)) {
        pages_job_add_evidence_of_one(&v, doc);
    }
    job_view_close(&v);
    return doc;
}

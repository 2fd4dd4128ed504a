/* Recordings of a job, one to four files, whatever is in them: a report is made of them, or they are refused with a word.
   What it names is there, its values lie within their bounds, and it can be written as JSON. */
#define _GNU_SOURCE
#include "pieces.h"
#include "analysis/job/job_list.h"
#include "analysis/job/job_report.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int is_share(double x)
{
    return isnan(x) || (x >= 0 && x <= 1);
}

static void check_lane(const job_report *r, const job_lane *lane)
{
    job_column columns[9];
    if (!lane) return;
    expect(lane->node < r->node_count && (lane->device == JOB_NONE || lane->device < r->device_count));
    expect(!(lane->known_s < 0) && !(lane->low > lane->high));
    job_lane_columns(r, lane, 0, r->end_s, columns, 9);
    for (int c = 0; c < 9; c++)
        expect(!(columns[c].low > columns[c].high));
}

static void check_nodes(const job_report *r)
{
    size_t next = 0;
    for (size_t i = 0; i < r->node_count; i++) {
        const job_node *n = &r->nodes[i];
        expect((n->first_device == next || !n->device_count) && *n->name && !(n->begin_s < 0) &&
               !(n->end_s > r->end_s + 1e-6));
        next += n->device_count;
        for (int m = 0; m < JOB_METERS; m++)
            check_lane(r, n->lanes[m]);
        for (size_t k = 0; k < i; k++)
            expect(strcmp(n->name, r->nodes[k].name) != 0);
    }
    expect(next == r->device_count);
    for (size_t i = 0; i < r->device_count; i++)
        for (int m = 0; m < JOB_METERS; m++)
            check_lane(r, r->devices[i].lanes[m]);
}

static void check_findings(const job_report *r)
{
    severity worst = SEVERITY_OK;
    for (size_t i = 0; i < r->finding_count; i++) {
        const job_finding *f = &r->findings[i];
        if (f->severity > worst) worst = f->severity;
        expect(i == 0 || f->severity <= f[-1].severity);
        expect(*f->claim && *f->rule && f->advice && f->origin);
        expect(f->node == JOB_NONE || f->node < r->node_count);
        expect(f->device == JOB_NONE || f->device < r->device_count);
        expect(!(f->from_s > f->to_s) && !(f->cost_s < 0));
    }
    expect(r->note_count > 0 && *r->title);
    for (size_t i = 0; i < r->note_count; i++)
        expect(r->notes[i].finding == JOB_NONE || r->notes[i].finding < r->finding_count);
    expect(worst <= SEVERITY_INFO || r->severity == worst);
}

static void check_phases(const job_report *r)
{
    for (size_t i = 0; i < r->span_count; i++)
        expect(r->spans[i].phase < r->phase_count && r->spans[i].from_s <= r->spans[i].to_s);
    for (size_t i = 0; i < r->phase_count; i++)
        expect(r->phases[i].finding == JOB_NONE || r->phases[i].finding < r->finding_count);
    for (size_t i = 0; i < r->region_time_count; i++)
        for (size_t n = 0; n < r->node_count; n++)
            expect(is_share(job_region_share(r, i, n, 0, r->end_s)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static rules all;
    pieces p;
    job_report job = {0};
    job_list list = {0};
    netprof_error error = {.code = NETPROF_OK};
    if (!all.count) rules_builtin(&all);
    pieces_take(&p, data, size);
    const job_report_options how = {.rules = p.choice & 1 ? &all : NULL, .max_bytes = 64 << 20};
    netprof_err failed = job_report_read(&job, p.paths, p.count, &how, &error);
    expect(failed ? error.code == failed && *error.text : job.node_count > 0);
    if (!failed) {
        check_nodes(&job);
        check_findings(&job);
        check_phases(&job);
        json_object *o = job_report_json(&job);
        expect(o != NULL);
        json_object_put(o);
        job_report_free(&job);
    }
    if (p.count) job_list_read(&list, p.paths, p.count);
    free(p.count ? job_list_names(&list) : NULL);
    job_list_free(&list);
    pieces_free(&p);
    return 0;
}

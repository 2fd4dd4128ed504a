#include "analysis/job/bytes/job_explained.h"
#include "analysis/job/job_nodelist.h"
#include "analysis/job/job_regions.h"
#include "analysis/job/job_model.h"
#include "analysis/job/job_store.h"

#include <stdlib.h>

static void job_free_runs(job_run *runs)
{
    for (size_t i = 0; i < arrlenu(runs); i++) {
        for (size_t k = 0; k < arrlenu(runs[i].facts); k++) {
            free((char *)(uintptr_t)runs[i].facts[k].key);
            free((char *)(uintptr_t)runs[i].facts[k].value);
        }
        arrfree(runs[i].facts);
        free(runs[i].path);
        free(runs[i].boot_id);
    }
    arrfree(runs);
}

static void job_free_reader(job_report *r)
{
    job_reader *reader = r->reader;
    if (!reader) return;
    job_run_free(r);
    job_region_series_free(r);
    job_places_free(reader->places);
    job_free_runs(reader->runs);
    for (size_t i = 0; i < arrlenu(reader->nodes); i++) {
        for (int m = 0; m < JOB_METERS; m++)
            for (int s = 0; s < JOB_SCOPES; s++)
                job_lane_free(reader->nodes[i].lanes[m][s]);
        arrfree(reader->nodes[i].runs);
        free(reader->nodes[i].group);
        free(reader->nodes[i].cpu_group);
    }
    for (size_t i = 0; i < arrlenu(reader->found); i++)
        job_node_finding_free(&reader->found[i]);
    for (size_t i = 0; i < arrlenu(reader->marks); i++)
        free(reader->marks[i].name);
    for (size_t i = 0; i < arrlenu(reader->region_paths); i++)
        free(reader->region_paths[i]);
    arrfree(reader->nodes);
    arrfree(reader->episodes);
    job_nodelist_free(reader->given_nodes);
    free(reader->given_list);
    arrfree(reader->told);
    arrfree(reader->found);
    arrfree(reader->rule_values);
    for (size_t i = 0; i < arrlenu(reader->troubles); i++)
        job_bins_free(reader->troubles[i].bins);
    arrfree(reader->troubles);
    hmfree(reader->trouble_of);
    arrfree(reader->marks);
    arrfree(reader->region_paths);
    node_settings_free(&reader->settings);
    hmfree(reader->known);
    hmfree(reader->node_of);
    free(reader);
    r->reader = NULL;
}

static void job_free_nodes(job_report *r)
{
    for (size_t i = 0; i < r->node_count; i++) {
        free(r->nodes[i].name);
        free(r->nodes[i].host);
        free(r->nodes[i].system);
        free(r->nodes[i].pod);
        arrfree(r->nodes[i].gaps);
    }
    for (size_t i = 0; i < r->device_count; i++) {
        for (int m = 0; m < JOB_METERS; m++)
            job_lane_free(r->devices[i].lanes[m]);
        free(r->devices[i].source);
        free(r->devices[i].name);
        free(r->devices[i].label);
        free(r->devices[i].alike);
    }
    arrfree(r->nodes);
    arrfree(r->devices);
}

void job_findings_free(job_report *r)
{
    for (size_t i = 0; i < r->finding_count; i++) {
        job_finding *x = &r->findings[i];
        char *texts[] = {x->rule, x->claim, x->title, x->advice, x->origin, x->unit, x->explained_by};
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
            free(texts[k]);
    }
    for (size_t i = 0; i < r->note_count; i++)
        free(r->notes[i].text);
    arrfree(r->findings);
    arrfree(r->notes);
    r->finding_count = r->note_count = 0;
}

void job_report_free(job_report *r)
{
    if (!r) return;
    job_free_reader(r);
    job_free_nodes(r);
    job_findings_free(r);
    job_regions_free(r);
    for (size_t i = 0; i < r->fact_count; i++)
        free(r->facts[i].text);
    for (size_t i = 0; i < r->phase_count; i++)
        free(r->phases[i].name);
    for (size_t i = 0; i < r->event_count; i++) {
        free(r->events[i].source);
        free(r->events[i].counter);
        free(r->events[i].words);
        free(r->events[i].unit);
        for (size_t k = 0; k < r->events[i].lane_count; k++)
            job_bins_free(r->events[i].lanes[k].bins);
        arrfree(r->events[i].lanes);
    }
    for (size_t i = 0; i < r->warning_count; i++) {
        free(r->warnings[i].path);
        free(r->warnings[i].text);
    }
    arrfree(r->facts);
    arrfree(r->phases);
    arrfree(r->spans);
    arrfree(r->ranks);
    arrfree(r->events);
    arrfree(r->warnings);
    free(r->title);
    free(r->state);
    free(r->bound_text);
    free(r->clock_text);
    free(r->clock_note);
    job_explained_free(&r->explained);
    regions_free(&r->regions);
    *r = (job_report){0};
}

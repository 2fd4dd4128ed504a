/* Reports of files, whatever is in them: two readings, a recording over time, healthy and faulty runs, a job, regions. Each
   is laid out on pages, all of it and its first page. Nothing is drawn by other programs. */
#define _GNU_SOURCE
#include "pieces.h"
#include "analysis/data/series.h"
#include "render/pages/job/pages_job.h"
#include "render/pages/pages.h"
#include "render/pages/pair/pages_series.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static rules all;

static void lay_out(document *doc)
{
    expect(doc && document_pages(doc, PAPER_A4) > 0);
    document_close(doc);
}

static void draw_pair(const pieces *p, bool brief)
{
    dataset set = {0};
    series over_time = {0};
    difference d = {0};
    findings f = {0};
    clocks c = {0};
    const dataset_options how = {.max_bytes = 64 << 20, .each = series_take, .user = &over_time};
    for (size_t i = 0; i < p->count; i++)
        dataset_read_memory(&set, "input", p->data[i], p->size[i], &how, NULL);
    if (set.run_count && !difference_of_dataset(&d, &set, true, NULL)) {
        clocks_of_dataset(&c, &set);
        series_align(&over_time, &set, &c);
        series_finish(&over_time);
        findings_make(&f, &d, &all);
        const pages_pair_input in = {.set = &set,
                                     .d = &d,
                                     .f = &f,
                                     .rules = &all,
                                     .paths = p->paths,
                                     .path_count = 1,
                                     .brief = brief,
                                     .all_nics = true};
        document *doc = pages_pair(&in);
        if (set.run_count == 1 && set.runs[0].snapshot_count > 2) pages_series_part(doc, &over_time);
        lay_out(doc);
        clocks_free(&c);
        findings_free(&f);
        difference_free(&d);
    }
    series_free(&over_time);
    dataset_free(&set);
}

static void draw_comparison(const pieces *p, bool brief)
{
    dataset sets[2] = {{0}, {0}};
    comparison c = {0};
    const comparison_options options = {.force = true};
    const dataset_options how = {.max_bytes = 64 << 20};
    netprof_error error;
    for (size_t i = 0; i < p->count; i++)
        dataset_read_memory(&sets[i * 2 / p->count], "input", p->data[i], p->size[i], &how, NULL);
    bool failed = !sets[0].run_count || !sets[1].run_count;
    for (int side = 0; side < 2 && !failed; side++)
        failed = comparison_add(&c, (comparison_side)side, &sets[side], &options, &error) != NETPROF_OK;
    if (!failed) failed = comparison_make(&c, &all, &options, &error) != NETPROF_OK;
    if (!failed && comparison_compared(&c)) lay_out(pages_compare(&c, NULL, brief));
    comparison_free(&c);
    for (int side = 0; side < 2; side++)
        dataset_free(&sets[side]);
}

static void draw_job(const pieces *p, bool brief)
{
    job_report job = {0};
    const job_report_options how = {.rules = &all, .max_bytes = 64 << 20};
    netprof_error error;
    if (job_report_read(&job, p->paths, p->count, &how, &error)) return;
    lay_out(pages_job(&job, NULL, brief, true));
    job_report_free(&job);
}

static void draw_regions(const pieces *p, bool brief)
{
    regions r = {0};
    const regions_options how = {.rules = &all, .threads = 1, .max_bytes = 64 << 20};
    netprof_error error;
    if (regions_read(&r, p->paths, p->count, &how, &error)) return;
    lay_out(pages_regions(&r, NULL, brief));
    regions_free(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pieces p;
    if (size > 1 << 16) return 0;
    if (!all.count) rules_builtin(&all);
    pieces_take(&p, data, size);
    bool brief = p.choice & 16;
    if (p.count) switch (p.choice & 3) {
        case 0: draw_pair(&p, brief); break;
        case 1: draw_comparison(&p, brief); break;
        case 2: draw_job(&p, brief); break;
        default: draw_regions(&p, brief); break;
        }
    pieces_free(&p);
    return 0;
}

#include "main_make.h"

#include "analysis/compare/compare.h"
#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"
#include "analysis/nccl/view/nccl_pairs.h"
#include "analysis/nccl/view/nccl_beside.h"
#include "analysis/nccl/view/nccl_lanes.h"
#include "analysis/job/job_list.h"
#include "analysis/job/job_report.h"
#include "analysis/nsys/nsys.h"
#include "analysis/regions/regions.h"
#include "analysis/rules/findings.h"
#include "cli/common.h"
#include "cli/compare_inputs.h"
#include "cli/inputs.h"
#include "render/pages/job/pages_job.h"
#include "render/pages/pages.h"
#include "render/pages/pair/pages_series.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EXPORT_BINS = 2048 }; // of Nsight Systems exports: finer than what is drawn

void make_say_progress(void *user, const char *what, size_t done, size_t of)
{
    static time_t begin;
    (void)user;
    time_t now = time(NULL);
    if (!begin) begin = now;
    if (done + 1 >= of)
        progress_end();
    else if (now - begin >= 1)
        progress("%s %zu of %zu", what, done, of);
}

static void make_say_reading(void *user, size_t done, size_t all)
{
    make_say_progress(user, "read file", done, all);
}

static int make_failed(const netprof_error *error, const char *path)
{
    return fail_error(*error->path ? NULL : path, error);
}

// ---- two snapshots ----

static int make_pair_pages(arguments *a, const difference *d, const report_order *order, bool over_time)
{
    rules all = {0};
    findings f = {0};
    document *doc = NULL;
    int code = inputs_rules(&all, order->rules);
    if (!code) {
        findings_make(&f, d, &all);
        const pages_pair_input in = {.set = &a->set,
                                     .d = d,
                                     .f = &f,
                                     .rules = &all,
                                     .paths = a->paths,
                                     .path_count = a->count,
                                     .brief = order->brief,
                                     .all_nics = order->all_nics,
                                     .full = order->full};
        doc = pages_pair(&in);
        if (over_time && !order->brief) pages_series_part(doc, &a->over_time);
        code = order->draw(doc, &order->document);
    }
    document_close(doc);
    findings_free(&f);
    rules_free(&all);
    return code;
}

static int make_counters(arguments *a, const report_order *order, bool over_time)
{
    const dataset *set = &a->set;
    const char *first = a->paths[0];
    difference d = {0};
    int code = inputs_compare(&d, set, order->force);
    if (!code && !d.total.counters)
        code = fail_file(EXIT_NOTHING, first, "holds no counter: there is nothing to report about");
    if (!code) code = make_pair_pages(a, &d, order, over_time);
    difference_free(&d);
    return !code && inputs_damaged(set) ? EXIT_WORTH_FAILING : code;
}

int make_pair(arguments *a, const report_order *order)
{
    return make_counters(a, order, false);
}

int make_recording(arguments *a, const report_order *order)
{
    return make_counters(a, order, true);
}

// ---- a job ----

static int make_programs(document *doc, const job_report *job, nsys_job *programs, const arguments *a)
{
    const nsys_options how = {.bins = EXPORT_BINS, .progress = make_say_reading};
    netprof_error error;
    if (nsys_job_read(programs, a->exports, a->export_count, &how, &error)) return make_failed(&error, a->exports[0]);
    pages_job_programs(doc, job, programs);
    return EXIT_DONE;
}

// One page tells of one job.
static int make_choose_job(job_list *list, const char *name)
{
    char *names = job_list_names(list);
    int code = EXIT_DONE;
    if (name && !job_list_choose(list, name))
        code = fail(EXIT_FILE, "--job %s: no file is of this job; jobs: %s", safe(name), safe(names));
    else if (list->count > 1)
        code = fail(EXIT_FILE,
                    "files of %zu jobs, or of attempts of one (%s): choose one with --job, or give its files alone",
                    list->count, safe(names));
    free(names);
    return code;
}

// Files of NCCL that lie beside a job's or its regions'.
typedef struct make_beside {
    bool read;
    pairs pairs;
    nccl_lanes lanes;
} make_beside;

static void make_read_beside(make_beside *b, const char *const *paths, size_t count)
{
    nccl n = {0};
    b->read = nccl_beside_read(&n, paths, count);
    if (b->read) nccl_pairs(&b->pairs, &n);
    if (b->read) nccl_lanes_make(&b->lanes, &n);
    nccl_free(&n);
}

static void make_free_beside(make_beside *b)
{
    pairs_free(&b->pairs);
    nccl_lanes_free(&b->lanes);
}

// Those that are no file of NCCL, or, of the plugin's, that hold readings of NICs as well; no directory of logs alone; free() the
// list.
static const char **make_without_nccl(const arguments *a, bool without_recordings, size_t *count)
{
    const char **kept = memory_calloc(a->count + 1, sizeof *kept);
    *count = 0;
    for (size_t i = 0; i < a->count; i++) {
        size_t length = strlen(a->paths[i]);
        bool recording = length > 8 && strcmp(a->paths[i] + length - 8, ".netprof") == 0;
        bool left_out = nccl_beside_is_file(a->paths[i]) && (without_recordings || !recording);
        if (listing_is_directory(a->paths[i]))
            left_out = !inputs_count(&a->paths[i], 1) && arguments_is_log(a->paths[i]);
        if (!left_out) kept[(*count)++] = a->paths[i];
    }
    return kept;
}

int make_job(arguments *a, const report_order *order)
{
    nsys_job programs = {0};
    job_report job = {0};
    rules all = {0};
    netprof_error error;
    document *doc = NULL;
    arguments_forget_reading(a);
    int code = inputs_rules(&all, order->rules);
    job_list list = {0};
    make_beside beside = {.read = false};
    const pairs *const layers[] = {&beside.pairs};
    size_t own_count;
    const char **own = make_without_nccl(a, false, &own_count);
    if (!code) job_list_read(&list, own, own_count);
    if (!code) code = make_choose_job(&list, order->job);
    bool chosen = order->job && list.count;
    const char *const *paths = chosen ? list.items[0].paths : own;
    size_t count = chosen ? arrlenu(list.items[0].paths) : own_count;
    if (!code) make_read_beside(&beside, chosen ? paths : a->paths, chosen ? count : a->count);
    const job_report_options how = {.rules = &all,
                                    .phases = order->phases,
                                    .progress = make_say_reading,
                                    .layers = layers,
                                    .layer_count = beside.read,
                                    .is_of_layer = nccl_beside_is_file};
    if (!code && job_report_read(&job, paths, count, &how, &error)) code = make_failed(&error, a->paths[0]);
    for (size_t i = 0; !code && i < job.warning_count; i++)
        warn("%s: %s", safe(job.warnings[i].path), safe(job.warnings[i].text));
    if (!code) doc = pages_job(&job, beside.read ? &beside.lanes : NULL, order->brief, order->full);
    if (!code && a->export_count) code = make_programs(doc, &job, &programs, a);
    if (!code) code = order->draw(doc, &order->document);
    if (!code && job.damaged) code = EXIT_WORTH_FAILING;
    document_close(doc);
    nsys_job_free(&programs);
    job_report_free(&job);
    make_free_beside(&beside);
    job_list_free(&list);
    free(own);
    rules_free(&all);
    return code;
}

// ---- regions, GPU programs ----

int make_regions(arguments *a, const report_order *order)
{
    regions r = {0};
    rules all = {0};
    netprof_error error;
    document *doc = NULL;
    const regions_options how = {.rules = &all, .progress = make_say_reading};
    make_beside beside = {.read = false};
    size_t count;
    const char **paths = make_without_nccl(a, true, &count);
    int code = inputs_rules(&all, order->rules);
    if (!code && regions_read(&r, paths, count, &how, &error)) code = make_failed(&error, a->paths[0]);
    if (!code) make_read_beside(&beside, a->paths, a->count);
    for (size_t i = 0; !code && i < r.warning_count; i++)
        warn("%s: %s", safe(r.warnings[i].path), safe(r.warnings[i].text));
    if (!code) {
        doc = pages_regions(&r, beside.read ? &beside.lanes : NULL, order->brief);
        code = order->draw(doc, &order->document);
    }
    if (!code && r.damaged) code = EXIT_WORTH_FAILING;
    document_close(doc);
    make_free_beside(&beside);
    regions_free(&r);
    free(paths);
    rules_free(&all);
    return code;
}

int make_nsys(arguments *a, const report_order *order)
{
    const nsys_options how = {.bins = EXPORT_BINS, .progress = make_say_reading};
    nsys_job job = {0};
    netprof_error error;
    if (nsys_job_read(&job, a->exports, a->export_count, &how, &error)) return make_failed(&error, a->exports[0]);
    document *doc = pages_nsys(&job, order->brief);
    int code = order->draw(doc, &order->document);
    document_close(doc);
    nsys_job_free(&job);
    return code;
}

// ---- healthy and faulty runs ----

// What the processes of a side's runs measured around their code, where its files hold any. What is wrong with them is no
// fault of the comparison: then nothing is known of them.
static const regions *make_processes(regions *r, const char *const *paths, size_t count)
{
    netprof_error error;
    bool any = false;
    for (size_t i = 0; i < count && !any; i++)
        any = inputs_hold(paths[i]) & PARTS_REGIONS;
    return any && !regions_read(r, paths, count, NULL, &error) ? r : NULL;
}

int make_comparison(arguments *a, const report_order *order)
{
    const char **paths[COMPARISON_SIDES] = {a->before, a->paths};
    size_t counts[COMPARISON_SIDES] = {a->before_count, a->count};
    dataset sets[COMPARISON_SIDES] = {{0}, {0}};
    dataset_options how = {.names = order->names};
    comparison_options options_of = {.force = order->force};
    comparison c = {0};
    regions processes[COMPARISON_SIDES] = {{0}, {0}};
    const regions *there[COMPARISON_SIDES] = {NULL, NULL};
    rules all = {0};
    netprof_error error;
    document *doc = NULL;
    int code = inputs_rules(&all, order->rules);
    for (int side = 0; side < COMPARISON_SIDES && !code; side++) {
        code = inputs_read(&sets[side], paths[side], counts[side], &how);
        if (!code && comparison_add(&c, (comparison_side)side, &sets[side], &options_of, &error))
            code = make_failed(&error, paths[side][0]);
    }
    if (!code) code = compare_inputs_check(&c, order->force);
    if (!code && comparison_make(&c, &all, &options_of, &error)) code = fail_error(NULL, &error);
    if (!code && !comparison_compared(&c))
        code = fail_file(EXIT_NOTHING, a->paths[0], "no counter has a value on both sides");
    for (int side = 0; side < COMPARISON_SIDES && !code; side++)
        there[side] = make_processes(&processes[side], paths[side], counts[side]);
    if (!code) {
        doc = pages_compare(&c, there, order->brief);
        code = order->draw(doc, &order->document);
    }
    if (!code && (inputs_damaged(&sets[0]) || inputs_damaged(&sets[1]))) code = EXIT_WORTH_FAILING;
    document_close(doc);
    comparison_free(&c);
    rules_free(&all);
    for (int side = 0; side < COMPARISON_SIDES; side++) {
        dataset_free(&sets[side]);
        regions_free(&processes[side]);
    }
    return code;
}

// ---- no report ----

int make_no_option(arguments *a, const report_order *order)
{
    (void)order;
    return fail_usage("--%s: there are no logs of the NCCL Inspector", a->nccl_option);
}

int make_no_file(arguments *a, const report_order *order)
{
    (void)a;
    (void)order;
    return fail_usage("expected BEFORE and AFTER, one file with both, or the files of several hosts");
}

int make_no_export(arguments *a, const report_order *order)
{
    size_t i = 0;
    (void)order;
    while (i + 1 < a->count && !nsys_is_report(a->paths[i]))
        i++;
    return fail_file(EXIT_FILE, a->paths[i], "" NSYS_EXPORT_FIRST);
}

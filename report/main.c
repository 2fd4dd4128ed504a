// netprof-report: what saved snapshots mean, as PDF, SVG, PNG or HTML.
#include "cli/command.h"
#include "analysis/base/memory.h"
#include "analysis/compare/compare.h"
#include "analysis/rules/findings.h"
#include "cli/inputs.h"
#include "main_nccl.h"
#include "cli/output.h"
#include "render/pages/pages.h"
#include "render/pages/job/pages_job.h"
#include "render/pages/pair/pages_series.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

static int brief, all_nics, list_charts, no_gnuplot, force, check_layout;
static char *peak, *jobid, *config_path, *compare, *charts;
static size_t before_dashes;
static char *output, *format_name, *paper_name, *theme_name, *chart_name, *rules_path, *names, *scale_text, *phases;

static const struct poptOption options[] = {
    {"output", 'o', POPT_ARG_STRING, &output, 0, "write FILE, in the format of its ending: .pdf, .svg, .png, .html",
     "FILE"},
    {"format", 0, POPT_ARG_STRING, &format_name, 0, "the format, whatever the ending", "pdf|svg|png|html"},
    {"paper", 0, POPT_ARG_STRING, &paper_name, 0, "size of the pages (a4)", "a4|letter"},
    {"theme", 0, POPT_ARG_STRING, &theme_name, 0, "colours; auto is light, in HTML as the reader's screen is set",
     "auto|light|dark"},
    {"brief", 'b', POPT_ARG_NONE, &brief, 0, "only the first page", NULL},
    {"all-nics", 'a', POPT_ARG_NONE, &all_nics, 0, "a page for every NIC, also for those like the others", NULL},
    {"chart", 0, POPT_ARG_STRING, &chart_name, 0, "only this chart, without a page around it", "NAME"},
    {"list-charts", 0, POPT_ARG_NONE, &list_charts, 0, "the names of the charts; nothing is written", NULL},
    {"scale", 0, POPT_ARG_STRING, &scale_text, 0, "pixels for each point of a PNG (2)", "N"},
    {"charts", 0, POPT_ARG_STRING, &charts, 0, "of NCCL logs: every chart as a file, named as NVIDIA's exporter does",
     "DIR"},
    {"peak", 0, POPT_ARG_STRING, &peak, 0, "of NCCL logs: peak bus bandwidth, 400 or 'dp*=46,*=400'", "GBs"},
    {"compare", 0, POPT_ARG_STRING, &compare, 0, "of NCCL logs: what became slower since the job with these", "DIR"},
    {"jobid", 0, POPT_ARG_STRING, &jobid, 0, "the NCCL logs of this job, below the given directories", "ID"},
    {"config", 0, POPT_ARG_STRING, &config_path, 0, "the exporter's configuration file (default_log_root), for --jobid",
     "FILE"},
    {"no-gnuplot", 0, POPT_ARG_NONE, &no_gnuplot, 0, "leave out what gnuplot draws", NULL},
    {"rules", 'r', POPT_ARG_STRING, &rules_path, 0, "more rules; one of the same name replaces a built-in one", "FILE"},
    {"phases", 0, POPT_ARG_STRING, &phases, 0, "phases of a job: lines TIME NAME, in seconds since 1970 (date +%s.%N)",
     "FILE"},
    {"names", 0, POPT_ARG_STRING, &names, 0, "counter names of net_prof's text, one a line", "FILE"},
    {"force", 'f', POPT_ARG_NONE, &force, 0, "compare also different hosts or boots", NULL},
    {"check-layout", 0, POPT_ARG_NONE | POPT_ARGFLAG_DOC_HIDDEN, &check_layout, 0, NULL, NULL}, // for the tests
    POPT_TABLEEND,
};

// ---- options ----

static bool find_format(document_format *format)
{
    static const char *const formats[] = {"pdf", "svg", "png", "html", "htm"};
    const char *dot = output ? strrchr(output, '.') : NULL;
    const char *wanted = format_name ? format_name : !output || strcmp(output, "-") == 0 ? "pdf" : dot ? dot + 1 : "";
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (strcasecmp(formats[i], wanted) != 0) continue;
        *format = i > DOCUMENT_HTML ? DOCUMENT_HTML : (document_format)i;
        return true;
    }
    if (format_name)
        fail_usage("--format: %s: expected pdf, svg, png or html", safe(format_name));
    else
        fail_usage("-o: %s: expected a name that ends in .pdf, .svg, .png or .html", safe(output));
    return false;
}

static bool find_paper(document_paper *paper)
{
    *paper = PAPER_A4;
    if (!paper_name || strcasecmp(paper_name, "a4") == 0) return true;
    *paper = PAPER_LETTER;
    if (strcasecmp(paper_name, "letter") == 0) return true;
    fail_usage("--paper: %s: expected a4 or letter", safe(paper_name));
    return false;
}

static bool find_theme(document_theme *theme)
{
    static const char *const themes[] = {
        [DOCUMENT_AUTO] = "auto", [DOCUMENT_LIGHT] = "light", [DOCUMENT_DARK] = "dark"};
    *theme = DOCUMENT_AUTO;
    for (size_t i = 0; theme_name && i < sizeof themes / sizeof *themes; i++)
        if (strcasecmp(themes[i], theme_name) == 0) *theme = (document_theme)i;
    if (!theme_name || strcasecmp(themes[*theme], theme_name) == 0) return true;
    fail_usage("--theme: %s: expected auto, light or dark", safe(theme_name));
    return false;
}

static bool find_scale(double *scale)
{
    char *end = NULL;
    *scale = scale_text ? strtod(scale_text, &end) : 2;
    if (!scale_text || (!*end && *scale >= .25 && *scale <= 20)) return true;
    fail_usage("--scale: %s: expected a number from 0.25 to 20", safe(scale_text));
    return false;
}

// ---- progress: on a terminal, after a second ----

static void say_progress(void *user, const char *what, size_t done, size_t of)
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

static void say_warning(void *user, const char *text)
{
    (void)user;
    warn("%s", safe(text));
}

// ---- layout check, for the tests ----

static void say_fault(void *user, size_t page, canvas_fault fault, const char *text, const char *other)
{
    static const char *const names_of[] = {"", "outside", "small", "overlap"};
    (void)user;
    printf("page %zu: %s: %s%s%s\n", page, names_of[fault], safe(text), other ? " | " : "", other ? safe(other) : "");
}

static int layout(document *doc, document_paper paper)
{
    size_t faults = document_check(doc, paper, say_fault, NULL);
    printf("%zu faults\n", faults);
    return faults ? EXIT_WORTH_FAILING : EXIT_DONE;
}

// ---- together ----

static void say_chart(void *user, const char *name, const char *title)
{
    (void)user;
    printf("%s\t%s\n", name, title);
}

static int write_document(document *doc, const document_options *o)
{
    netprof_error error = {.code = NETPROF_OK};
    const char *path = output ? output : "report.pdf";
    if (!document_write(doc, path, o, say_warning, &error)) return EXIT_DONE;
    if (chart_name && error.code == NETPROF_ERR_ARG)
        return fail_usage("--chart: %s: no such chart; --list-charts shows them", safe(chart_name));
    return fail_error(*error.path ? NULL : path, &error);
}

static int draw(document *doc, const document_options *o)
{
    if (list_charts) {
        document_charts(doc, say_chart, NULL);
        return output_close();
    }
    if (!check_layout) return write_document(doc, o);
    int code = layout(doc, o->paper), closed = output_close();
    return closed ? closed : code;
}

static int report_pair(const dataset *set, const difference *d, const series *over_time, const char **paths,
                       size_t count, const document_options *o)
{
    rules all = {0};
    findings f = {0};
    netprof_error error;
    document *doc = NULL;
    int code = inputs_rules(&all, rules_path);
    if (!code && findings_make(&f, d, &all, &error)) code = fail_error(NULL, &error);
    if (!code) {
        const pages_pair_input in = {.set = set,
                                     .d = d,
                                     .f = &f,
                                     .rules = &all,
                                     .paths = paths,
                                     .path_count = count,
                                     .brief = brief,
                                     .all_nics = all_nics};
        doc = pages_pair(&in, &error);
        if (doc && over_time && !brief) doc = document_made(doc, pages_series_part(doc, over_time), &error);
        code = doc ? draw(doc, o) : fail_error(NULL, &error);
    }
    document_close(doc);
    findings_free(&f);
    rules_free(&all);
    return code;
}

// One file, or the first and the last snapshot of two.
static int report_ends(const dataset *set, const series *s, const char **paths, size_t count, const document_options *o)
{
    difference d = {0};
    netprof_error error;
    int code = EXIT_DONE;
    bool over_time = set->run_count == 1 && s->run_count == 1 && s->runs[0].snapshots > 2;
    if (set->run_count == 1 && set->runs[0].snapshot_count < 2 && !set->runs[0].delta_count)
        code = fail(EXIT_FILE, "%s: holds one snapshot; a second one is needed", safe(paths[0]));
    if (!code && difference_of_dataset(&d, set, force, &error))
        code = error.code == NETPROF_ERR_MISMATCH ? fail(EXIT_FILE, "%s and %s: %s; --force compares them all the same",
                                                         safe(paths[0]), safe(paths[count - 1]), error_text(&error))
                                                  : fail_error(paths[0], &error);
    if (!code && !d.total.counters)
        code = fail(EXIT_NOTHING, "%s: holds no counter: there is nothing to report about", safe(paths[0]));
    if (!code) code = report_pair(set, &d, over_time ? s : NULL, paths, count, o);
    difference_free(&d);
    return code;
}

static void say_reading(void *user, size_t done, size_t all)
{
    say_progress(user, "read file", done, all);
}

// Nsight Systems exports among the arguments; they are apart from the others.
static const char **exports;
static size_t export_count;
enum { EXPORT_BINS = 2048 }; // finer than what is drawn

static int add_programs(document *doc, const job_report *job, nsys_job *programs)
{
    const nsys_options how = {.bins = EXPORT_BINS, .progress = say_reading};
    netprof_error error;
    if (nsys_job_read(programs, exports, export_count, &how, &error))
        return fail_error(*error.path ? NULL : exports[0], &error);
    if (pages_job_programs(doc, job, programs)) return EXIT_DONE;
    return fail(EXIT_FILE, "no memory");
}

// Recordings of the nodes of a job, on one time axis.
static int report_job(const char **paths, size_t count, const document_options *o)
{
    nsys_job programs = {0};
    job_report job = {0};
    rules all = {0};
    netprof_error error;
    document *doc = NULL;
    int code = inputs_rules(&all, rules_path);
    const job_report_options how = {.rules = &all, .phases = phases, .progress = say_reading};
    if (!code && job_report_read(&job, paths, count, &how, &error))
        code = fail_error(*error.path ? NULL : paths[0], &error);
    for (size_t i = 0; !code && i < job.warning_count; i++)
        warn("%s: %s", safe(job.warnings[i].path), safe(job.warnings[i].text));
    if (!code) {
        doc = pages_job(&job, brief, &error);
        if (!doc) code = fail_error(NULL, &error);
    }
    if (!code && export_count) code = add_programs(doc, &job, &programs);
    if (!code) {
        code = draw(doc, o);
    }
    if (!code && job.damaged) code = EXIT_WORTH_FAILING;
    document_close(doc);
    nsys_job_free(&programs);
    job_report_free(&job);
    rules_free(&all);
    return code;
}

// Two files are before and after, unless each holds a run of its own.
static bool is_of_hosts(const dataset *set, const series *s)
{
    return set->run_count > 2 || (set->run_count == 2 && s->run_count == 2 && s->runs[0].snapshots > 1 &&
                                  s->runs[1].snapshots > 1 && strcmp(s->runs[0].host, s->runs[1].host) != 0);
}

static int report(const char **paths, size_t count, const document_options *o)
{
    if (inputs_count(paths, count) > 2) return report_job(paths, count, o);
    dataset set = {0};
    series s = {0};
    dataset_options how = {.names = names, .ends_only = 1, .each = series_take, .user = &s};
    int code = inputs_read(&set, paths, count, &how);
    clocks c = {0};
    if (!code && clocks_of_dataset(&c, &set)) code = fail(EXIT_FILE, "no memory");
    if (!code) series_align(&s, &set, &c);
    if (!code && series_finish(&s)) code = fail(EXIT_FILE, "no memory");
    bool of_hosts = !code && is_of_hosts(&set, &s);
    if (!code && !of_hosts) code = report_ends(&set, &s, paths, count, o);
    if (!code && !of_hosts && inputs_damaged(&set)) code = EXIT_WORTH_FAILING;
    clocks_free(&c);
    series_free(&s);
    dataset_free(&set);
    return of_hosts ? report_job(paths, count, o) : code;
}

// A file that holds regions, or a directory unless all that it holds are readings.
static bool is_of_regions(const char *const *paths, size_t count)
{
    size_t sampled = 0;
    for (size_t i = 0; i < count; i++) {
        bool directory = listing_is_directory(paths[i]);
        if (directory && inputs_hold(paths[i]) == PARTS_SNAPSHOTS) return false;
        if (directory || regions_in_file(paths[i])) continue;
        if (!regions_series_in_file(paths[i])) return false;
        sampled++;
    }
    return count > sampled;
}

static int report_regions(const char **paths, size_t count, const document_options *o)
{
    regions r = {0};
    rules all = {0};
    netprof_error error;
    document *doc = NULL;
    int code = inputs_rules(&all, rules_path);
    if (!code && regions_read(&r, paths, count, &(regions_options){.rules = &all, .progress = say_reading}, &error))
        code = fail_error(*error.path ? NULL : paths[0], &error);
    for (size_t i = 0; !code && i < r.warning_count; i++)
        warn("%s: %s", safe(r.warnings[i].path), safe(r.warnings[i].text));
    if (!code) {
        doc = pages_regions(&r, brief, &error);
        code = doc ? draw(doc, o) : fail_error(NULL, &error);
    }
    if (!code && r.damaged) code = EXIT_WORTH_FAILING;
    document_close(doc);
    regions_free(&r);
    rules_free(&all);
    return code;
}

static int report_nsys(const char **paths, size_t count, const document_options *o)
{
    const nsys_options how = {.bins = EXPORT_BINS, .progress = say_reading};
    nsys_job job = {0};
    netprof_error error;
    if (nsys_job_read(&job, paths, count, &how, &error)) return fail_error(*error.path ? NULL : paths[0], &error);
    document *doc = pages_nsys(&job, brief, &error);
    int code = doc ? draw(doc, o) : fail_error(NULL, &error);
    document_close(doc);
    nsys_job_free(&job);
    return code;
}

// Puts the exports of Nsight Systems behind the other arguments, each in their order. Returns how many others there are.
static size_t part_exports(const char **paths, size_t count)
{
    const char **apart = memory_calloc(count + 1, sizeof *apart);
    size_t others = 0;
    exports = paths;
    for (size_t i = 0; i < count; i++) {
        if (nsys_in_file(paths[i]))
            apart[export_count++] = paths[i];
        else
            paths[others++] = paths[i];
    }
    memcpy(paths + others, apart, export_count * sizeof *apart);
    exports = paths + others;
    free(apart);
    return others;
}

// Healthy runs before the "--", faulty ones behind it.
static int report_comparison(const char **healthy, size_t healthy_count, const char **faulty, size_t faulty_count,
                             const document_options *o)
{
    const char **paths[COMPARISON_SIDES] = {healthy, faulty};
    size_t counts[COMPARISON_SIDES] = {healthy_count, faulty_count};
    dataset sets[COMPARISON_SIDES] = {{0}, {0}};
    dataset_options how = {.names = names};
    comparison_options options_of = {.force = force};
    comparison c = {0};
    rules all = {0};
    netprof_error error;
    document *doc = NULL;
    int code = inputs_rules(&all, rules_path);
    for (int side = 0; side < COMPARISON_SIDES && !code; side++) {
        code = inputs_read(&sets[side], paths[side], counts[side], &how);
        if (!code && comparison_add(&c, (comparison_side)side, &sets[side], &options_of, &error))
            code = fail_error(*error.path ? NULL : paths[side][0], &error);
    }
    if (!code && comparison_make(&c, &all, &options_of, &error)) code = fail_error(NULL, &error);
    if (!code && !comparison_compared(&c))
        code = fail(EXIT_NOTHING, "%s: no counter has a value on both sides", safe(faulty[0]));
    if (!code) {
        doc = pages_compare(&c, brief, &error);
        code = doc ? draw(doc, o) : fail_error(NULL, &error);
    }
    if (!code && (inputs_damaged(&sets[0]) || inputs_damaged(&sets[1]))) code = EXIT_WORTH_FAILING;
    document_close(doc);
    comparison_free(&c);
    rules_free(&all);
    for (int side = 0; side < COMPARISON_SIDES; side++)
        dataset_free(&sets[side]);
    return code;
}

// behind: what stands behind "--", and is compared with what stands before it; NULL without it.
static int report_nccl(const char **paths, size_t count, const char **behind, size_t behind_count, document_options *o)
{
    const char *others[] = {compare};
    main_nccl_input in = {.paths = paths,
                          .count = count,
                          .before = others,
                          .before_count = compare ? 1 : 0,
                          .peak = peak,
                          .jobid = jobid,
                          .config = config_path,
                          .charts = charts,
                          .brief = brief};
    if (compare && behind) return fail_usage("--compare and -- say the same: expected one of them");
    if (behind) {
        in.before = paths, in.before_count = count;
        in.paths = behind, in.count = behind_count;
    }
    in.document = !charts || output || list_charts || check_layout;
    if (!in.document && !format_name) o->format = DOCUMENT_PNG;
    if (!in.document && o->format == DOCUMENT_HTML) return fail_usage("--charts: a chart alone is SVG, PNG or PDF");
    return main_nccl(&in, o, draw);
}

static int check_nccl_only(void)
{
    const struct {
        const char *name, *value;
    } options_of[] = {{"charts", charts}, {"peak", peak}, {"compare", compare}, {"config", config_path}};
    for (size_t i = 0; i < sizeof options_of / sizeof *options_of; i++)
        if (options_of[i].value) return fail_usage("--%s: there are no logs of the NCCL Inspector", options_of[i].name);
    return EXIT_DONE;
}

static int run(const char **paths, size_t count)
{
    // What stands behind "--", if anything does.
    const char **faulty = before_dashes == (size_t)-1 ? NULL : paths + before_dashes;
    size_t faulty_count = faulty ? count - before_dashes : 0;
    count -= faulty_count;
    document_options o = {.chart = chart_name, .no_gnuplot = no_gnuplot, .progress = say_progress};
    if (!find_format(&o.format) || !find_paper(&o.paper) || !find_theme(&o.theme) || !find_scale(&o.scale))
        return EXIT_USAGE;
    if (chart_name && o.format == DOCUMENT_HTML) return fail_usage("--chart: a chart alone is SVG, PNG or PDF");
    if (faulty && (!count || !faulty_count)) return fail_usage("expected HEALTHY... -- FAULTY..., files on both sides");
    if (jobid || main_nccl_recognise(faulty ? faulty : paths, faulty ? faulty_count : count))
        return report_nccl(paths, count, faulty, faulty_count, &o);
    int code = check_nccl_only();
    if (code) return code;
    if (faulty) return report_comparison(paths, count, faulty, faulty_count, &o);
    if (count < 1) return fail_usage("expected BEFORE and AFTER, one file with both, or the files of several hosts");
    for (size_t i = 0; i < count; i++)
        if (nsys_is_report(paths[i])) return fail(EXIT_FILE, "%s: " NSYS_EXPORT_FIRST, safe(paths[i]));
    count = part_exports(paths, count);
    if (!count) return report_nsys(exports, export_count, &o);
    if (export_count) return report_job(paths, count, &o);
    if (job_report_wants(paths, count)) return report_job(paths, count, &o);
    return is_of_regions(paths, count) ? report_regions(paths, count, &o) : report(paths, count, &o);
}

static const command report_command = {
    .name = "report",
    .arguments = "BEFORE AFTER\nFILE...\nHEALTHY... -- FAULTY...\nLOGS... [RECORDING...]",
    .text =
        "Turns saved snapshots into a report: first the verdict, then the evidence for it. The input is two "
        "snapshots,\n"
        "or a file with both ends of a run; any file that netprof or net_prof wrote. Recordings (netprof record, "
        "netprof\n"
        "run --interval), of one node or of all nodes of a job, a directory of them, or a file of netprof merge, are a "
        "job on\n"
        "one time axis. With -- between them, the runs before it are compared with those behind it. Region files, or "
        "a\n"
        "directory of them, are the regions of a job's code. Logs of the NCCL Inspector (files, directories, or the\n"
        "nccl.json that netprof nccl -o saves) become a report about collectives, beside recordings of the same "
        "hosts.\n"
        "Nsight Systems exports (.sqlite) become their tables, processes side by side and GPUs over time; with "
        "recordings, on\n"
        "the time of their job.\n"
        "Without -o the report is report.pdf.",
    .examples = "netprof report before.netprof after.netprof\n"
                "netprof report -o run.html run.netprof\n"
                "netprof report --brief -o page.png run.netprof\n"
                "netprof report -o job.html node1.netprof node2.netprof node3.netprof\n"
                "netprof report -o job.pdf --phases job.phases node.netprof\n"
                "netprof report -o why.pdf good1.netprof good2.netprof -- bad.netprof\n"
                "netprof report -o regions.pdf ranks\n"
                "netprof report -o nccl.pdf nccl-inspector-52310 --peak 400\n"
                "netprof report -o gpu.pdf rank0.sqlite rank1.sqlite\n"
                "netprof report -o gpus.html node1.netprof node2.netprof node3.netprof rank0.sqlite\n"
                "netprof report --charts charts results/nccl.json\n"
                "netprof report --chart traffic -o traffic.svg run.netprof\n",
    .exits = "0 done, 1 done from a damaged file, 2 wrong usage, 3 a file could not be read or written,\n"
             "4 there is nothing to report about.",
    .options = options,
    .run = run,
    .before_dashes = &before_dashes,
};

int main(int argc, char **argv)
{
    return command_program(&report_command, argc, argv);
}

// netprof-report: what saved snapshots mean, as PDF, SVG, PNG or HTML.
#include "analysis/base/memory.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/whole_file.h"
#include "main_figure.h"
#include "main_live.h"
#include "main_make.h"
#include "main_nccl.h"
#include "render/pages/job/pages_job.h"
#include "render/pages/nccl/pages_nccl.h"
#include "render/pages/pages.h"
#include "render/pages/pair/pages_series.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int interactive;
static int brief, all_nics, list_charts, explain_only, no_gnuplot, force, check_layout, draw_live;
static char *peak, *jobid, *job_id, *config_path, *compare, *charts;
static size_t before_dashes;
static char *figure_width, *figure_height, *figure_font, *figure_font_size, *figure_titles, *figure_style,
    *figure_device, *figure_node, *figure_metric, *data_path;
static char *as_name, *output, *format_name, *paper_name, *theme_name, *chart_name, *rules_path, *names, *scale_text,
    *phases;

static const struct poptOption options[] = {
    {"output", 'o', POPT_ARG_STRING, &output, 0,
     "write FILE, in the format of its ending: .pdf, .svg, .png, .html, of a chart also .eps, .tikz", "FILE"},
    {"as", 0, POPT_ARG_STRING, &as_name, 0, "which report, where the files fit several: NCCL's beside others",
     "nccl|job|regions"},
    {"format", 0, POPT_ARG_STRING, &format_name, 0, "the format, whatever the ending; eps and tikz: a chart",
     "pdf|svg|png|html|eps|tikz"},
    {"paper", 0, POPT_ARG_STRING, &paper_name, 0, "size of the pages (a4)", "a4|letter"},
    {"theme", 0, POPT_ARG_STRING, &theme_name, 0, "colours; auto is light, in HTML as the reader's screen is set",
     "auto|light|dark"},
    {"brief", 'b', POPT_ARG_NONE, &brief, 0, "only the first page", NULL},
    {"all-nics", 'a', POPT_ARG_NONE, &all_nics, 0, "all pages and one for every NIC, also where nothing was found",
     NULL},
    {"chart", 0, POPT_ARG_STRING, &chart_name, 0, "only this chart, without a page around it", "NAME"},
    {"width", 0, POPT_ARG_STRING, &figure_width, 0,
     "--chart as a figure for a paper, so wide (3.3in): one size of type, titled axes", "LENGTH"},
    {"height", 0, POPT_ARG_STRING, &figure_height, 0, "of a figure (as the chart has it for its width)", "LENGTH"},
    {"font", 0, POPT_ARG_STRING, &figure_font, 0, "of a figure, a family that is installed here", "FAMILY"},
    {"font-size", 0, POPT_ARG_STRING, &figure_font_size, 0, "of a figure, of all its type (8pt)", "LENGTH"},
    {"titles", 0, POPT_ARG_STRING, &figure_titles, 0,
     "of a figure: its title and words of status; off: the caption says it (on)", "on|off"},
    {"style", 0, POPT_ARG_STRING, &figure_style, 0,
     "of a figure: slides is 10 x 5 in, 18 pt type; grey: lines differ by dashes and points (colour)",
     "colour|grey|slides"},
    {"metric", 0, POPT_ARG_STRING, &figure_metric, 0,
     "of a figure only what has this name, or a word of it; * is any text", "NAME"},
    {"device", 0, POPT_ARG_STRING, &figure_device, 0, "of a figure only this device", "NAME"},
    {"node", 0, POPT_ARG_STRING, &figure_node, 0, "of a figure only this node", "NAME"},
    {"data", 0, POPT_ARG_STRING, &data_path, 0, "the values that --chart draws, as CSV", "FILE"},
    {"interactive", 0, POPT_ARG_NONE, &interactive, 0,
     "HTML that can be asked: values at a time, zoom, tables to sort and filter; nothing is fetched", NULL},
    {"list-charts", 0, POPT_ARG_NONE, &list_charts, 0,
     "the charts, with their names and what they show; nothing is written", NULL},
    {"explain", 0, POPT_ARG_NONE, &explain_only, 0,
     "which report FILE... would make, and why; without FILE the table of all; nothing is written", NULL},
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
    {"job", 0, POPT_ARG_STRING, &job_id, 0, "only this job of several; 4_1 of an array; 4:2 the second attempt", "ID"},
    {"phases", 0, POPT_ARG_STRING, &phases, 0, "phases of a job: lines TIME NAME, in seconds since 1970 (date +%s.%N)",
     "FILE"},
    {"names", 0, POPT_ARG_STRING, &names, 0, "counter names of net_prof's text, one a line", "FILE"},
    {"force", 'f', POPT_ARG_NONE, &force, 0, "compare also different hosts or boots", NULL},
    {"check-layout", 0, POPT_ARG_NONE | POPT_ARGFLAG_DOC_HIDDEN, &check_layout, 0, NULL, NULL}, // for the tests
    {"draw-live", 0, POPT_ARG_NONE | POPT_ARGFLAG_DOC_HIDDEN, &draw_live, 0, NULL, NULL},       // for netprof-web
    POPT_TABLEEND,
};

// ---- options ----

static bool report_find_format(document_format *format)
{
    static const struct {
        const char *name;
        document_format format;
    } formats[] = {{"pdf", DOCUMENT_PDF},  {"svg", DOCUMENT_SVG}, {"png", DOCUMENT_PNG},   {"html", DOCUMENT_HTML},
                   {"htm", DOCUMENT_HTML}, {"eps", DOCUMENT_EPS}, {"tikz", DOCUMENT_TIKZ}, {"tex", DOCUMENT_TIKZ}};
    const char *dot = output ? strrchr(output, '.') : NULL;
    const char *wanted = format_name ? format_name : !output || strcmp(output, "-") == 0 ? "pdf" : dot ? dot + 1 : "";
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (strcasecmp(formats[i].name, wanted) != 0) continue;
        *format = formats[i].format;
        return true;
    }
    if (format_name)
        fail_usage("--format: %s: expected pdf, svg, png or html, for a chart also eps or tikz", safe(format_name));
    else
        fail_usage("-o: %s: expected a name that ends in .pdf, .svg, .png or .html, for a chart also .eps or .tikz",
                   safe(output));
    return false;
}

static bool report_find_paper(document_paper *paper)
{
    *paper = PAPER_A4;
    if (!paper_name || strcasecmp(paper_name, "a4") == 0) return true;
    *paper = PAPER_LETTER;
    if (strcasecmp(paper_name, "letter") == 0) return true;
    fail_usage("--paper: %s: expected a4 or letter", safe(paper_name));
    return false;
}

static bool report_find_theme(document_theme *theme)
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

static bool report_find_scale(double *scale)
{
    char *end = NULL;
    *scale = scale_text ? strtod(scale_text, &end) : 2;
    if (!scale_text || (!*end && *scale >= .25 && *scale <= 20)) return true;
    fail_usage("--scale: %s: expected a number from 0.25 to 20", safe(scale_text));
    return false;
}

// ---- which input makes which report ----

// The first row that fits is taken.
typedef struct report_row {
    const char *input; // in words
    bool (*fits)(arguments *a);
    const pages_kind *kind, *part; // part: added to it; both NULL: no report
    int (*make)(arguments *a, const report_order *order);
} report_row;

static const report_row rows[] = {
    {"logs of the NCCL Inspector, a directory with some, or a saved nccl.json; or --jobid", arguments_are_nccl,
     &pages_nccl_kind, NULL, main_nccl},
    {"--charts, --peak, --compare or --config without such logs", arguments_misuse_option, NULL, NULL, make_no_option},
    {"files on both sides of \"--\"", arguments_are_two_sides, &pages_compare_kind, NULL, make_comparison},
    {"no file", arguments_are_missing, NULL, NULL, make_no_file},
    {"a report of Nsight Systems (.nsys-rep, .qdrep, .qdstrm) among the files", arguments_are_not_exported, NULL, NULL,
     make_no_export},
    {"exports of Nsight Systems (.sqlite) and nothing else", arguments_are_exports, &pages_nsys_kind, NULL, make_nsys},
    {"an export of Nsight Systems beside other files", arguments_have_exports, &pages_job_kind,
     &pages_job_programs_kind, make_job},
    {"a recording with counters of processes, control groups, CPUs, memory, energy, GPUs or perf", arguments_are_of_job,
     &pages_job_kind, NULL, make_job},
    {"region files, or directories of other files than snapshots; regions sampled over time only beside them",
     arguments_are_regions, &pages_regions_kind, NULL, make_regions},
    {"more than two files, those in directories counted", arguments_are_many, &pages_job_kind, NULL, make_job},
    {"more than two runs, or two recordings of different nodes", arguments_are_of_hosts, &pages_job_kind, NULL,
     make_job},
    {"one run of more than two snapshots", arguments_are_one_recording, &pages_pair_kind, &pages_series_kind,
     make_recording},
    {"any other file with both ends of a run, or two files: before and after", arguments_are_two_snapshots,
     &pages_pair_kind, NULL, make_pair},
};
enum { ROWS = sizeof rows / sizeof *rows };

static const report_row *chosen; // what draw() draws

// --as; false: no such name.
static bool report_find_kind(const pages_kind **kind)
{
    static const struct {
        const char *name;
        const pages_kind *kind;
    } kinds[] = {{"nccl", &pages_nccl_kind}, {"job", &pages_job_kind}, {"regions", &pages_regions_kind}};
    *kind = NULL;
    for (size_t i = 0; as_name && i < sizeof kinds / sizeof *kinds; i++)
        if (strcasecmp(kinds[i].name, as_name) == 0) *kind = kinds[i].kind;
    if (as_name && !*kind) fail_usage("--as: %s: expected nccl, job or regions", safe(as_name));
    return !as_name || *kind;
}

// Without a file --as chooses nothing: that none was given is said.
static const report_row *report_choose_row(arguments *a)
{
    const pages_kind *kind;
    if (!report_find_kind(&kind)) {
        a->failure = EXIT_USAGE;
        return NULL;
    }
    for (size_t i = 0; i < ROWS; i++)
        if ((!kind || !a->count || rows[i].kind == kind) && rows[i].fits(a)) return &rows[i];
    if (kind && !a->failure)
        a->failure = fail_usage("--as %s: the files make no such report; --explain says which they make without it",
                                safe(as_name));
    return NULL; // the files cannot be read: a->failure
}

static bool report_kind_has(const pages_kind *kind, const char *wanted)
{
    char *names_of = memory_strdup(kind ? kind->charts : ""), *rest = names_of, *name;
    bool found = false;
    while (!found && (name = strsep(&rest, " ")))
        found = fnmatch(name, wanted, 0) == 0;
    free(names_of);
    return found;
}

static bool report_row_has(const report_row *row, const char *wanted)
{
    return report_kind_has(row->kind, wanted) || report_kind_has(row->part, wanted);
}

// ---- --explain ----

// Is this the first row that has it?
static bool report_kind_is_new(const report_row *row, const pages_kind *kind)
{
    for (const report_row *r = rows; r < row; r++)
        if (r->kind == kind || r->part == kind) return false;
    return kind != NULL;
}

static void report_explain_kinds(void)
{
    static const column columns[] = {{"report", 0}, {"pages", COLUMN_WRAP}, {"charts (* is any text)", COLUMN_WRAP}};
    table *t = table_begin(columns, 3);
    heading(stdout, "Reports, and parts that are added to them");
    for (size_t i = 0; i < 2 * ROWS; i++) {
        const pages_kind *kind = i % 2 ? rows[i / 2].part : rows[i / 2].kind;
        if (!report_kind_is_new(&rows[i / 2], kind)) continue;
        table_cell(t, PLAIN, kind->name);
        table_cell(t, PLAIN, kind->pages);
        table_cell(t, PLAIN, kind->charts);
    }
    table_end(t, stdout, 2);
}

static void report_explain_rows(void)
{
    static const column columns[] = {{"row", COLUMN_RIGHT}, {"input", COLUMN_WRAP}, {"report", 0}};
    table *t = table_begin(columns, 3);
    heading(stdout, "The first row that fits the input is taken");
    for (size_t i = 0; i < ROWS; i++) {
        const report_row *r = &rows[i];
        table_printf(t, PLAIN, "%zu", i + 1);
        table_cell(t, PLAIN, r->input);
        table_printf(t, PLAIN, "%s%s%s", r->kind ? r->kind->name : "none", r->part ? " + " : "",
                     r->part ? r->part->name : "");
    }
    table_end(t, stdout, 2);
}

static void report_explain_paths(table *t, const char **paths, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char text[300];
        arguments_describe(paths[i], text, sizeof text);
        table_cell(t, PLAIN, paths[i]);
        table_cell(t, PLAIN, text);
    }
}

static void report_explain_choice(const arguments *a)
{
    static const column columns[] = {{"argument", 0}, {"found", COLUMN_WRAP}};
    table *t = table_begin(columns, 2);
    heading(stdout, "Input");
    report_explain_paths(t, a->before, a->before_count);
    report_explain_paths(t, a->paths, a->count + a->export_count);
    table_end(t, stdout, 2);
    heading(stdout, "Row %td: %s", chosen - rows + 1, chosen->input);
    printf("  why: %s\n", a->why);
    printf("  report: %s%s%s\n", chosen->kind ? chosen->kind->name : "none", chosen->part ? " + " : "",
           chosen->part ? chosen->part->name : "");
    if (chosen->kind) printf("  pages: %s\n", chosen->kind->pages);
    if (chosen->part) printf("  and: %s\n", chosen->part->pages);
}

static int report_explain(arguments *a)
{
    if (!a->count && !a->jobid) {
        report_explain_rows();
        report_explain_kinds();
        return output_close();
    }
    if (!(chosen = report_choose_row(a))) return a->failure;
    report_explain_choice(a);
    return output_close();
}

// ---- drawing ----

static void report_say_warning(void *user, const char *text)
{
    (void)user;
    warn("%s", safe(text));
}

static void report_say_chart(void *user, const char *name, const char *title, const char *shows)
{
    (void)user;
    printf("%s\t%s\t%s\n", name, safe(title), safe(shows));
}

// A list of names by commas, of type char **.
static void report_append_name(void *user, const char *name, const char *title, const char *shows)
{
    char **list = user, *longer = memory_format("%s%s%s", *list, **list ? ", " : "", name);
    (void)title, (void)shows;
    free(*list);
    *list = longer;
}

// Which report was drawn, which charts it has, and which report has this one.
static int report_fail_chart(const document *doc)
{
    char *charts_of = memory_strdup(""), *others = memory_strdup("");
    document_charts(doc, report_append_name, &charts_of);
    for (size_t i = 0; i < ROWS; i++) {
        const char *name = report_kind_has(rows[i].part, chart_name)   ? rows[i].part->name
                           : report_kind_has(rows[i].kind, chart_name) ? rows[i].kind->name
                                                                       : NULL;
        if (name && !report_row_has(chosen, chart_name) && !strstr(others, name))
            report_append_name(&others, name, "", "");
    }
    int code = fail_usage("--chart: %s: no such chart here; the report is \"%s\" and has %s%s%s%s%s", safe(chart_name),
                          chosen->kind->name, charts_of,
                          report_row_has(chosen, chart_name) ? "; for other input it may also have that one" : "",
                          *others ? "; that chart is in \"" : "", others, *others ? "\": see --explain" : "");
    free(charts_of);
    free(others);
    return code;
}

static int report_pick(document *doc, const document_options *o)
{
    chart_pick p = o->figure->pick;
    if (document_pick(doc, o->chart, &p)) {
        free(p.there);
        return EXIT_DONE;
    }
    int code = p.there ? fail_usage("--chart %s: nothing in it fits --%s; it has %s", safe(o->chart),
                                    p.metric && p.who ? "metric and --device or --node"
                                    : p.metric        ? "metric"
                                    : figure_node     ? "node"
                                                      : "device",
                                    safe(p.there))
                       : EXIT_DONE; // no such chart is said later
    if (!p.there && document_has(doc, o->chart))
        code = fail_usage("--chart %s: this chart has no parts to choose from", safe(o->chart));
    free(p.there);
    return code;
}

static int report_write_document(document *doc, const document_options *o)
{
    netprof_error error = {.code = NETPROF_OK};
    const char *path = output ? output : "report.pdf";
    if (o->figure && (o->figure->pick.metric || o->figure->pick.who)) {
        int code = report_pick(doc, o);
        if (code) return code;
    }
    if (!document_write(doc, path, o, report_say_warning, &error)) return EXIT_DONE;
    if (chart_name && error.code == NETPROF_ERR_ARG) return report_fail_chart(doc);
    return fail_error(*error.path ? NULL : path, &error);
}

// ---- layout check, for the tests ----

static void report_say_fault(void *user, size_t page, canvas_fault fault, const char *text, const char *other)
{
    static const char *const names_of[] = {"", "outside", "small", "overlap"};
    (void)user;
    printf("page %zu: %s: %s%s%s\n", page, names_of[fault], safe(text), other ? " | " : "", other ? safe(other) : "");
}

// user: how many are not in the table of reports, a size_t.
static void report_check_chart(void *user, const char *name, const char *title, const char *shows)
{
    size_t *faults = user;
    (void)title, (void)shows;
    if (report_row_has(chosen, name)) return;
    printf("chart %s: not among those of \"%s\"\n", safe(name), chosen->kind->name);
    ++*faults;
}

static int report_layout(document *doc, document_paper paper)
{
    size_t faults = document_check(doc, paper, report_say_fault, NULL);
    document_charts(doc, report_check_chart, &faults);
    printf("%zu faults\n", faults);
    return faults ? EXIT_WORTH_FAILING : EXIT_DONE;
}

static int report_draw(document *doc, const document_options *o)
{
    if (list_charts) {
        document_charts(doc, report_say_chart, NULL);
        return output_close();
    }
    if (!check_layout) return report_write_document(doc, o);
    int code = report_layout(doc, o->paper), closed = output_close();
    return closed ? closed : code;
}

// ---- together ----

static const char *report_nccl_option(void)
{
    const struct {
        const char *name, *value;
    } all[] = {{"charts", charts}, {"peak", peak}, {"compare", compare}, {"config", config_path}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].value) return all[i].name;
    return NULL;
}

// Also without any of its options EPS and TikZ are figures.
static bool report_find_figure(document_options *o)
{
    static document_figure figure;
    const figure_words words = {figure_width, figure_height, figure_font, figure_font_size, figure_titles,
                                figure_style, figure_device, figure_node, figure_metric};
    const char *given = main_figure_given(&words);
    o->data = data_path;
    if (!chart_name && (given || data_path)) {
        fail_usage("--%s is for a chart alone: choose one with --chart, see --list-charts", given ? given : "data");
        return false;
    }
    if (data_path && output && strcmp(data_path, output) == 0) {
        fail_usage("--data: %s: the chart itself is written there", safe(data_path));
        return false;
    }
    if (!chart_name || (!given && o->format < DOCUMENT_EPS)) return true;
    o->figure = &figure;
    return main_figure_read(&words, &figure);
}

static bool report_find_looks(document_options *o)
{
    *o = (document_options){.chart = chart_name, .no_gnuplot = no_gnuplot, .progress = make_say_progress};
    if (!report_find_format(&o->format)) return false;
    if (o->format >= DOCUMENT_EPS && !chart_name && !charts) {
        fail_usage("EPS and TikZ are for a chart alone: choose one with --chart, see --list-charts");
        return false;
    }
    if (interactive && o->format != DOCUMENT_HTML) {
        fail_usage("--interactive is for HTML: expected -o with a name that ends in .html");
        return false;
    }
    o->interactive = interactive;
    return report_find_figure(o) && report_find_paper(&o->paper) && report_find_theme(&o->theme) &&
           report_find_scale(&o->scale);
}

static int report_run(const char **paths, size_t count)
{
    bool two_sides = before_dashes != (size_t)-1;
    size_t before_count = two_sides ? before_dashes : 0;
    arguments a = {.paths = paths + before_count,
                   .count = count - before_count,
                   .before = two_sides ? paths : NULL,
                   .before_count = before_count,
                   .jobid = jobid,
                   .nccl_option = report_nccl_option(),
                   .names = names};
    report_order order = {.brief = brief,
                          .all_nics = all_nics,
                          .full = all_nics || chart_name || list_charts,
                          .force = force,
                          .rules = rules_path,
                          .names = names,
                          .phases = phases,
                          .job = job_id,
                          .peak = peak,
                          .config = config_path,
                          .compare = compare,
                          .charts = charts,
                          .only_charts = charts && !output && !list_charts && !check_layout,
                          .draw = report_draw};
    if (draw_live) return main_draw_live();
    if (!report_find_looks(&order.document)) return EXIT_USAGE;
    if (order.only_charts && !format_name) order.document.format = DOCUMENT_PNG;
    if (chart_name && order.document.format == DOCUMENT_HTML)
        return fail_usage("--chart: a chart alone is PDF, SVG, PNG, EPS or TikZ");
    if (two_sides && (!a.count || !a.before_count))
        return fail_usage("expected HEALTHY... -- FAULTY..., files on both sides");
    int code = explain_only ? report_explain(&a) : whole_file_refuse_inputs(output, a.paths, a.count);
    if (!explain_only && !code) code = (chosen = report_choose_row(&a)) ? chosen->make(&a, &order) : a.failure;
    arguments_free(&a);
    return code;
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
        "hosts;\n"
        "with --as job or --as regions it is these files' own report, with the collectives on its axis of time.\n"
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
                "netprof report --as job -o job.pdf node1.netprof node2.netprof node3.netprof nccl-inspector-52310\n"
                "netprof report -o gpu.pdf rank0.sqlite rank1.sqlite\n"
                "netprof report -o gpus.html node1.netprof node2.netprof node3.netprof rank0.sqlite\n"
                "netprof report --charts charts results/nccl.json\n"
                "netprof report --chart traffic -o traffic.svg run.netprof\n"
                "netprof report --chart time-sent --width 3.3in --titles off --data a.csv -o a.pdf node1.netprof "
                "node2.netprof\n"
                "netprof report --explain before.netprof after.netprof\n",
    .exits = "0 done, 1 done from a damaged file, 2 wrong usage, 3 a file could not be read or written,\n"
             "4 there is nothing to report about.",
    .options = options,
    .run = report_run,
    .before_dashes = &before_dashes,
};

int main(int argc, char **argv)
{
    return command_program(&report_command, argc, argv);
}

// netprof regions: what the processes of a job measured around their code.
#define _GNU_SOURCE // qsort_r
#include "commands.h"
#include "cli/inputs.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/whole_file.h"
#include "cli/nearest.h"
#include "commands/print/regions_output.h"
#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"
#include "analysis/base/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int flat, tree, as_json, as_csv, values, quiet;
static char *sort_by, *share_text, *rank_text, *region_path, *rules_path, *output_path;

static const struct poptOption options[] = {
    {"tree", 0, POPT_ARG_NONE, &tree, 0, "regions below the regions that they are in (the default)", NULL},
    {"flat", 0, POPT_ARG_NONE, &flat, 0, "each name once, wherever it is", NULL},
    {"sort", 's', POPT_ARG_STRING, &sort_by, 0, "order of the regions (tree: code, flat: own)",
     "code|name|time|own|calls|bytes|sent|imbalance"},
    {"min-share", 0, POPT_ARG_STRING, &share_text, 0,
     "leave out regions below so many percent of the time (in a text of more than 20: 1)", "PERCENT"},
    {"rank", 0, POPT_ARG_STRING, &rank_text, 0, "this rank beside the others; with --csv also 'all': each by itself",
     "N"},
    {"region", 0, POPT_ARG_STRING, &region_path, 0, "one region closely: ranks, durations, NICs; a path like main/step",
     "PATH"},
    {"rules", 'r', POPT_ARG_STRING, &rules_path, 0, "more rules for the findings, as in netprof check", "FILE"},
    {"json", 0, POPT_ARG_NONE, &as_json, 0, "as JSON", NULL},
    {"csv", 0, POPT_ARG_NONE, &as_csv, 0, "as CSV: a line for each region", NULL},
    {"values", 0, POPT_ARG_NONE, &values, 0, "with --csv: the values that the program gave, by powers of two", NULL},
    {"output", 'o', POPT_ARG_STRING, &output_path, 0, "write to this file", "FILE"},
    {"quiet", 'q', POPT_ARG_NONE, &quiet, 0, "no progress on a terminal", NULL},
    POPT_TABLEEND,
};

// ---- order ----

static double cmd_regions_sent_of(const regions_node *n)
{
    return n->nic.bytes_known[1] ? (double)n->nic.bytes[1] : -1;
}

static double cmd_regions_time_of(const regions_node *n)
{
    return (double)n->sums.inclusive_ns;
}
static double cmd_regions_own_of(const regions_node *n)
{
    return (double)n->sums.exclusive_ns;
}
static double cmd_regions_calls_of(const regions_node *n)
{
    return (double)n->sums.calls;
}
static double cmd_regions_bytes_of(const regions_node *n)
{
    return (double)n->bytes;
}
static double cmd_regions_imbalance_of(const regions_node *n)
{
    return n->imbalance_ns;
}

static const struct sort_key {
    const char *name;
    double (*value)(const regions_node *n); // largest first; NULL: see cmd_regions_compare_nodes()
} sort_keys[] = {{"code", NULL},
                 {"name", NULL},
                 {"time", cmd_regions_time_of},
                 {"own", cmd_regions_own_of},
                 {"calls", cmd_regions_calls_of},
                 {"bytes", cmd_regions_bytes_of},
                 {"sent", cmd_regions_sent_of},
                 {"imbalance", cmd_regions_imbalance_of}};
enum { SORT_KEYS = sizeof sort_keys / sizeof *sort_keys, BY_CODE = 0, BY_NAME = 1, BY_OWN = 3 };

static int cmd_regions_compare_nodes(const void *a, const void *b, void *user)
{
    const regions_view *view = user;
    size_t i = *(const size_t *)a, k = *(const size_t *)b;
    const regions_node *x = &view->nodes[i], *y = &view->nodes[k];
    if (view->sort_key == BY_NAME) {
        int order = strcmp(x->name, y->name);
        if (order) return order;
    } else if (view->sort_key != BY_CODE) {
        double p = sort_keys[view->sort_key].value(x), q = sort_keys[view->sort_key].value(y);
        if (p > q || p < q) return p > q ? -1 : 1;
    }
    return i < k ? -1 : i > k;
}

static bool cmd_regions_is_shown(const regions_view *view, size_t node)
{
    return view->nodes[node].span || view->nodes[node].share >= view->min_share;
}

// Puts siblings from `first` on in order, each followed by its children.
static void cmd_regions_order_siblings(regions_view *view, size_t first, size_t end)
{
    size_t count = 0, *list = memory_alloc((end - first + 1) * sizeof *list);
    for (size_t i = first; i < end; i = view->nodes[i].end) {
        if (cmd_regions_is_shown(view, i))
            list[count++] = i;
        else
            view->left_out += view->nodes[i].end - i;
    }
    qsort_r(list, count, sizeof *list, cmd_regions_compare_nodes, view);
    for (size_t i = 0; i < count; i++) {
        view->order[view->order_count++] = list[i];
        if (view->nodes[list[i]].end > list[i] + 1)
            cmd_regions_order_siblings(view, list[i] + 1, view->nodes[list[i]].end);
    }
    free(list);
}

// ---- options ----

static int cmd_regions_choose_share(regions_view *view)
{
    char *end;
    enum { MANY = 20 };
    view->min_share = !as_json && !as_csv && view->node_count > MANY ? 0.01 : 0;
    if (!share_text) return EXIT_DONE;
    double percent = strtod(share_text, &end);
    if (end == share_text || *end || !(percent >= 0 && percent <= 100))
        return fail_usage("--min-share: %s: expected percent, 0 to 100", safe(share_text));
    view->min_share = percent / 100;
    return EXIT_DONE;
}

static int cmd_regions_choose_rank(regions_view *view)
{
    char *end;
    if (!rank_text) return EXIT_DONE;
    view->ranks = RANKS_ALL;
    if (strcmp(rank_text, "all") == 0)
        return as_csv ? EXIT_DONE : fail_usage("--rank all needs --csv (JSON holds all ranks anyway)");
    view->ranks = RANKS_ONE;
    view->rank = strtol(rank_text, &end, 10);
    if (end == rank_text || *end || view->rank < 0)
        return fail_usage("--rank: %s: expected the number of a rank, or all", safe(rank_text));
    return EXIT_DONE;
}

static int cmd_regions_choose_order(regions_view *view)
{
    const char *names[SORT_KEYS + 1] = {NULL};
    view->sort_key = flat ? BY_OWN : BY_CODE;
    if (!sort_by) return EXIT_DONE;
    for (size_t i = 0; i < SORT_KEYS; i++) {
        names[i] = sort_keys[i].name;
        view->sort_key = i;
        if (strcmp(sort_by, names[i]) == 0) return EXIT_DONE;
    }
    return fail_usage("--sort: %s: expected code, name, time, own, calls, bytes, sent or imbalance%s", safe(sort_by),
                      nearest_hint(sort_by, names));
}

static int cmd_regions_check_options(regions_view *view, size_t count)
{
    if (!count) return fail_usage("expected files of regions, or directories that hold them");
    if (as_json && as_csv) return fail_usage("--json and --csv exclude each other");
    if (values && !as_csv) return fail_usage("--values needs --csv: text and JSON hold them anyway");
    if (values && rank_text) return fail_usage("--values are of all ranks: not with --rank");
    if (flat && tree) return fail_usage("--flat and --tree exclude each other");
    if (region_path && (as_json || as_csv))
        return fail_usage("--region shows text only; JSON holds all regions anyway");
    if (region_path && flat) return fail_usage("--region is a path in the tree: not with --flat");
    int code = cmd_regions_choose_order(view);
    if (!code) code = cmd_regions_choose_rank(view);
    return code ? code : cmd_regions_choose_share(view); // once more when the number of regions is known
}

// ---- reading ----

static void cmd_regions_show_progress(void *user, size_t done, size_t all)
{
    (void)user;
    progress("reading file %zu of %zu", done, all);
}

static void cmd_regions_say_warnings(const regions *job)
{
    enum { SAID = 10 };
    uint64_t all = job->warning_count + job->warnings_dropped;
    for (size_t i = 0; i < job->warning_count && i < SAID; i++) {
        const regions_warning *w = &job->warnings[i];
        if (w->offset)
            warn("%s: byte %llu: %s", safe(w->path), (unsigned long long)w->offset, safe(w->text));
        else
            warn("%s: %s", safe(w->path), safe(w->text));
    }
    if (all > SAID) warn("%llu more such lines", (unsigned long long)(all - SAID));
}

static int cmd_regions_read_files(regions *job, const rules *set, const char **paths, size_t count)
{
    netprof_error error;
    regions_options how = {.rules = set, .progress = quiet ? NULL : cmd_regions_show_progress};
    netprof_err result = regions_read(job, paths, count, &how, &error);
    progress_end();
    if (result) return fail_error(*error.path ? NULL : paths[0], &error);
    cmd_regions_say_warnings(job);
    return EXIT_DONE;
}

// ---- output ----

static void cmd_regions_print(const regions_view *view, FILE *to)
{
    if (as_json)
        regions_print_json(view, to);
    else if (as_csv && values)
        regions_print_csv_values(view, to);
    else if (as_csv)
        regions_print_csv(view, to);
    else
        regions_print_text(view, to);
}

// Where the output goes: straight to the terminal or pipe, or whole into a file.
typedef struct cmd_regions_out {
    FILE *to;
    whole_file *file;
    char *text;
    size_t size;
} cmd_regions_out;

static int cmd_regions_open_out(cmd_regions_out *o)
{
    o->to = stdout;
    if (!output_path || strcmp(output_path, "-") == 0) return EXIT_DONE;
    o->file = whole_file_open(output_path);
    if (!o->file) return EXIT_FILE;
    o->to = memory_check(open_memstream(&o->text, &o->size));
    return EXIT_DONE;
}

static int cmd_regions_close_out(cmd_regions_out *o, int code)
{
    if (o->to == stdout) return code ? code : output_close();
    if (fclose(o->to)) memory_exhausted();
    if (!code) whole_file_write(o->file, o->text, o->size);
    free(o->text);
    int closed = whole_file_close(o->file, !code);
    return code ? code : closed;
}

static int cmd_regions_find_region(regions_view *view)
{
    view->region = REGIONS_NONE;
    if (!region_path) return EXIT_DONE;
    view->region = regions_find(view->job, region_path);
    for (size_t i = 0; i < view->job->node_count && view->region == REGIONS_NONE; i++)
        if (strcmp(view->job->nodes[i].name, region_path) == 0) view->region = i; // a name will do, the first of it
    if (view->region != REGIONS_NONE) return EXIT_DONE;
    return fail(EXIT_USAGE, "--region: %s: no such region", safe(region_path));
}

static int cmd_regions_find_rank(const regions_view *view)
{
    if (view->ranks != RANKS_ONE) return EXIT_DONE;
    for (size_t i = 0; i < view->job->rank_count; i++)
        if (regions_is_wanted(view, i)) return EXIT_DONE;
    return fail(EXIT_USAGE, "--rank: %ld: no file is of this rank", view->rank);
}

static int cmd_regions_show(regions_view *view, const regions *job, FILE *to)
{
    regions_flat list = {0};
    view->job = job;
    view->flat = flat;
    if (flat) regions_flatten(&list, job);
    view->nodes = flat ? list.nodes : job->nodes;
    view->node_count = flat ? list.node_count : job->node_count;
    int code = cmd_regions_choose_share(view);
    if (!code) code = cmd_regions_find_region(view);
    if (!code) code = cmd_regions_find_rank(view);
    if (!code) {
        view->order = memory_alloc((view->node_count + 1) * sizeof *view->order);
        cmd_regions_order_siblings(view, 0, view->node_count);
        cmd_regions_print(view, to);
        free(view->order);
    }
    regions_flat_free(&list);
    return code;
}

// ---- files of several runs ----

static bool cmd_regions_shows_all_runs(void)
{
    return !as_csv && !region_path;
}

static int cmd_regions_show_run(const regions *all, size_t run, const rules *set, FILE *to)
{
    regions_view view = {.region = REGIONS_NONE};
    regions job = {0};
    netprof_error error;
    regions_options how = {.rules = set, .of = all, .run = run};
    const char **files = regions_files_of_run(all, run);
    int code = cmd_regions_check_options(&view, arrlenu(files));
    if (!code && regions_read(&job, files, arrlenu(files), &how, &error)) code = fail_error(files[0], &error);
    if (!code && as_json)
        fputs(run ? ",\n" : "{\"format\": \"netprof-regions-runs\", \"version\": 2, \"runs\": [\n", to);
    else if (!code && cmd_regions_shows_all_runs())
        fprintf(to, "%sRun %zu of %zu, which began %s\n\n", run ? "\n\n" : "", run + 1, all->runs,
                words_time(job.wall_ns).text);
    if (!code) code = cmd_regions_show(&view, &job, to);
    if (!code && as_json && run + 1 == all->runs) fputs("]}\n", to);
    arrfree(files);
    regions_free(&job);
    return code;
}

// Each run is read again, alone; the newest is the last, and the only one where there is room for one.
static int cmd_regions_show_runs(const regions *all, const rules *set)
{
    cmd_regions_out out = {0};
    size_t first = cmd_regions_shows_all_runs() ? 0 : all->runs - 1;
    int code = cmd_regions_open_out(&out);
    if (code) return code;
    if (first) warn("the files are of %zu runs: only the newest is shown", all->runs);
    for (size_t run = first; run < all->runs && !code; run++)
        code = cmd_regions_show_run(all, run, set, out.to);
    return cmd_regions_close_out(&out, code);
}

static int cmd_regions_show_one(regions_view *view, const regions *job)
{
    cmd_regions_out out = {0};
    int code = cmd_regions_open_out(&out);
    if (code) return code;
    return cmd_regions_close_out(&out, cmd_regions_show(view, job, out.to));
}

static int cmd_regions_run(const char **paths, size_t count)
{
    regions_view view = {.region = REGIONS_NONE};
    regions job = {0};
    rules set = {0};
    int code = cmd_regions_check_options(&view, count);
    if (!code) code = inputs_rules(&set, rules_path);
    if (!code) code = cmd_regions_read_files(&job, &set, paths, count);
    if (!code) code = job.runs > 1 ? cmd_regions_show_runs(&job, &set) : cmd_regions_show_one(&view, &job);
    if (!code && job.damaged) code = EXIT_WORTH_FAILING;
    regions_free(&job);
    rules_free(&set);
    return code;
}

const command command_regions = {
    .name = "regions",
    .summary = "join the region files of a job: where the time went, which rank is odd, what the NICs did",
    .arguments = "FILE|DIR...",
    .text =
        "Joins the files that programs with netprof.h's regions leave, one for each process, over threads, ranks and\n"
        "hosts: calls, time and its balance, the odd rank, durations, the program's bytes beside those of the NICs, "
        "and\n"
        "what the rules find in each region. Of a directory every *.netprof is taken. The NICs of a host count once,\n"
        "whatever the number of ranks; their bytes are what went by while the region was open, whoever sent them.\n"
        "Files of several runs are told apart: a table for each run, the newest last (--csv, --region: the newest).\n"
        "Of files of netprof run --mpi it lists who sent how much to whom, by calls that name a peer, and how long "
        "blocking\n"
        "receives of it took.\n"
        "A process that was killed is known up to its last writing, or by its samples over time (NETPROF_SERIES).",
    .examples = "netprof regions netprof-*.netprof\n"
                "netprof regions . --flat --sort own\n"
                "netprof regions . --rank 3 --min-share 0\n"
                "netprof regions . --region main/step/halo_exchange\n"
                "netprof regions . --csv --rank all -o ranks.csv\n"
                "netprof regions . --json",
    .exits = "0 done, 1 done but parts of the files were damaged, 2 wrong usage, 3 no file could be used.",
    .options = options,
    .run = cmd_regions_run,
    .json = &as_json,
};

// netprof compare: healthy runs against faulty ones.
#include "commands.h"
#include "commands/print/compare_text.h"
#include "cli/compare_inputs.h"
#include "cli/fail_on.h"
#include "cli/inputs.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/whole_file.h"
#include "commands/print/json_csv.h"
#include "measure/node_options.h"
#include "analysis/base/memory.h"

#include <stdlib.h>
#include <string.h>

static int top = -1, as_json, as_csv, all, force;
static char *per, *fail_on_text, *rules_path, *names, *output;
static char *chosen; // what alone is compared, in words
static size_t healthy_count;

static const struct poptOption options[] = {
    {"top", 'n', POPT_ARG_INT, &top, 0, "the N that changed most of each class (5; 0: all)", "N"},
    {"per", 'p', POPT_ARG_STRING, &per, 0, "rank by the counts of a second, or of a byte (both: the milder of the two)",
     "second|byte|both"},
    {"all", 'a', POPT_ARG_NONE, &all, 0, "also what is within chance, every check, every gauge", NULL},
    {"fail-on", 0, POPT_ARG_STRING, &fail_on_text, 0, "exit with 1 for a finding this bad or worse (high)",
     FAIL_ON_ARGUMENT},
    {"rules", 'r', POPT_ARG_STRING, &rules_path, 0, "more rules; one of the same name replaces a built-in one", "FILE"},
    {"names", 0, POPT_ARG_STRING, &names, 0, "counter names of net_prof's text, one a line", "FILE"},
    {"force", 'f', POPT_ARG_NONE, &force, 0,
     "take two snapshots of different boots for a run, and sides without a device in common", NULL},
    {"output", 'o', POPT_ARG_STRING, &output, 0, "into FILE instead of the standard output", "FILE"},
    {"json", 0, POPT_ARG_NONE, &as_json, 0, "as JSON", NULL},
    {"csv", 0, POPT_ARG_NONE, &as_csv, 0, "as CSV: a line for each finding", NULL},
    {NULL, 0, POPT_ARG_INCLUDE_TABLE, (void *)(uintptr_t)filter_options, 0, "What is looked at:", NULL},
    POPT_TABLEEND,
};

static int cmd_compare_choose(comparison_options *how)
{
    fail_on limit;
    how->force = force;
    if (top < -1) return fail_usage("--top: %d: expected 0 or more", top);
    if (!fail_on_parse(&limit, fail_on_text)) return EXIT_USAGE;
    if (!per || strcmp(per, "both") == 0) return EXIT_DONE;
    how->basis = strcmp(per, "second") == 0 ? COMPARISON_PER_SECOND : COMPARISON_PER_BYTE;
    if (how->basis == COMPARISON_PER_SECOND || strcmp(per, "byte") == 0) return EXIT_DONE;
    return fail_usage("--per: %s: expected second, byte or both", safe(per));
}

// HEALTHY... -- FAULTY...; two files without -- are one of each.
static int cmd_compare_split(size_t count, size_t *healthy)
{
    *healthy = healthy_count == (size_t)-1 && count == 2 ? 1 : healthy_count;
    if (*healthy == (size_t)-1)
        return fail_usage("expected HEALTHY... -- FAULTY...: which of the files are the faulty ones?");
    if (!*healthy) return fail_usage("expected files of healthy runs before --");
    if (*healthy == count) return fail_usage("expected files of faulty runs behind --");
    return EXIT_DONE;
}

static int cmd_compare_read_side(comparison *c, dataset *set, comparison_side side, const char **paths, size_t count,
                                 comparison_options *how)
{
    dataset_options reading = {.names = names, .ends_only = 1};
    netprof_error error;
    char *scope = NULL;
    int code = inputs_read(set, paths, count, &reading);
    inputs_drop_series(set);
    if (!code) code = reading_filter(set, &scope);
    free(chosen);
    how->scope = chosen = scope;
    if (code || !comparison_add(c, side, set, how, &error)) return code;
    if (error.code == NETPROF_ERR_MISMATCH)
        return fail_file(EXIT_FILE, error.path, "%s; --force takes them for a run all the same", error_text(&error));
    return fail_file(EXIT_FILE, error.path, "%s", error_text(&error));
}

static int cmd_compare_print(const comparison *c)
{
    FILE *to = stdout;
    char *text = NULL;
    size_t size = 0, lines = all && top < 0 ? 0 : top < 0 ? 5 : (size_t)top;
    if (output) to = memory_check(open_memstream(&text, &size));
    if (as_json)
        json_print(to, memory_check(comparison_json(c, top < 0 ? 0 : (size_t)top, all)));
    else if (as_csv)
        findings_csv_print(to, memory_check(comparison_json(c, 0, false)));
    else
        compare_print_text(to, c, lines, all);
    if (!output) return output_close();
    bool whole = !ferror(to);
    if (fclose(to)) memory_exhausted();
    whole_file *file = whole_file_open(output);
    int code = file ? EXIT_DONE : EXIT_FILE;
    if (file && whole_file_write(file, text, size)) whole = false;
    if (file) code = whole_file_close(file, whole);
    free(text);
    return code;
}

static int cmd_compare_sides(comparison *c, const comparison_options *how)
{
    rules set = {0};
    netprof_error error;
    fail_on limit;
    (void)fail_on_parse(&limit, fail_on_text);
    int code = inputs_rules(&set, rules_path);
    if (!code && comparison_make(c, &set, how, &error)) code = fail_error(NULL, &error);
    if (!code) code = cmd_compare_print(c);
    if (!code && !comparison_compared(c))
        code = EXIT_NOTHING;
    else if (!code)
        code = fail_on_code(&limit, c->severity, c->severity == SEVERITY_UNKNOWN);
    comparison_free(c);
    rules_free(&set);
    return code;
}

static int cmd_compare_run(const char **paths, size_t count)
{
    dataset sides[COMPARISON_SIDES] = {{0}, {0}};
    comparison c = {0};
    comparison_options how = {0};
    size_t healthy;
    int code = cmd_compare_split(count, &healthy);
    if (!code) code = whole_file_refuse_inputs(output, paths, count);
    if (!code) code = cmd_compare_choose(&how);
    if (!code) code = cmd_compare_read_side(&c, &sides[COMPARISON_HEALTHY], COMPARISON_HEALTHY, paths, healthy, &how);
    if (!code)
        code = cmd_compare_read_side(&c, &sides[COMPARISON_FAULTY], COMPARISON_FAULTY, paths + healthy, count - healthy,
                                     &how);
    if (!code) code = compare_inputs_check(&c, force);
    if (!code) code = cmd_compare_sides(&c, &how);
    if (!code && (inputs_damaged(&sides[0]) || inputs_damaged(&sides[1]))) code = EXIT_WORTH_FAILING;
    comparison_free(&c);
    for (int side = 0; side < COMPARISON_SIDES; side++)
        dataset_free(&sides[side]);
    free(chosen);
    chosen = NULL;
    return code;
}

const command command_compare = {
    .name = "compare",
    .summary = "tell what differs between healthy runs and faulty ones",
    .arguments = "HEALTHY... -- FAULTY...",
    .text =
        "Compares runs that went well with runs that did not. The first line answers: was it the same work, was it\n"
        "slower, and what else differs? Then what differs in the order of how bad it is: how the commands ended, time "
        "or\n"
        "throughput, configuration (MTU, speed, driver, CPUs, NICs), checks that turned, counters that changed "
        "(errors\n"
        "before stalls before traffic). Counts are taken per second and per byte, so that runs of different length or\n"
        "work can be compared.\n"
        "Several runs of a side are compared by their middle and by ranks, never by the worst one. Counters without a\n"
        "rule are findings only where runs that differ in nothing would show any at most once in 100 comparisons: "
        "this\n"
        "takes 5 and 5 runs, or 5 and 4. With one run a side a time or throughput is a finding where it takes "
        "twice\n"
        "as long or half as much is moved, or worse; how much runs vary is not known then.\n"
        "A file with several snapshots (netprof run -o, netprof collect) is a run; two files with one snapshot each "
        "of\n"
        "the same host are a run, the earlier one first.",
    .examples = "netprof compare good.netprof -- bad.netprof\n"
                "netprof compare good.netprof bad.netprof --top 10\n"
                "netprof compare good.netprof bad.netprof --include lo\n"
                "netprof compare before.netprof after.netprof -- bad.netprof --json\n"
                "netprof compare good.netprof good.netprof -- bad.netprof --per second -o comparison.txt",
    .exits =
        "0 done, 1 a finding as bad as --fail-on (high when it is not given), or parts of the files were damaged,\n"
        "2 wrong usage, 3 a file could not be used, 4 no counter could be compared, 5 it could not be judged whether\n"
        "anything went worse.",
    .options = options,
    .run = cmd_compare_run,
    .json = &as_json,
    .before_dashes = &healthy_count,
};

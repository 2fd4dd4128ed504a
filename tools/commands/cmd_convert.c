// netprof convert: one format into another.
#include "commands.h"
#include "analysis/data/convert.h"
#include "cli/inputs.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/whole_file.h"
#include "measure/node_options.h"

#include <stdlib.h>
#include <string.h>

static char *from, *to, *names;
static int snapshot_number, u64_strings;

static const struct poptOption options[] = {
    {"from", 0, POPT_ARG_STRING, &from, 0, "insist that IN is of this format", "netprof|json|net_prof|text"},
    {"to", 0, POPT_ARG_STRING, &to, 0, "write this format; without it the ending of OUT tells",
     "netprof|json|net_prof|csv"},
    {"snapshot", 0, POPT_ARG_INT, &snapshot_number, 0, "for net_prof: the Nth snapshot of IN", "N"},
    {"names", 0, POPT_ARG_STRING, &names, 0, "counter names of net_prof's text, one a line", "FILE"},
    {"strings", 0, POPT_ARG_NONE, &u64_strings, 0, "JSON: values as strings, for readers that keep numbers as doubles",
     NULL},
    POPT_TABLEEND,
};

static bool cmd_convert_is_expected(dataset_format format)
{
    static const struct {
        const char *name;
        dataset_format format;
    } rows[] = {{"netprof", DATASET_NETPROF},
                {"json", DATASET_JSON},
                {"net_prof", DATASET_NET_PROF_JSON},
                {"text", DATASET_NET_PROF_TEXT}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, from) == 0) return rows[i].format == format;
    return false;
}

static int cmd_convert_check_from(void)
{
    static const char *const known[] = {"netprof", "json", "net_prof", "text"};
    for (size_t i = 0; from && i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i], from) == 0) return EXIT_DONE;
    return from ? fail_usage("--from: %s: expected netprof, json, net_prof or text", safe(from)) : EXIT_DONE;
}

static int cmd_convert_write_out(const dataset *set, convert_format format, const char *path)
{
    size_t left_out = 0;
    convert_options how = {.snapshot = (size_t)snapshot_number, .u64_strings = u64_strings, .left_out = &left_out};
    netprof_error error;
    whole_file *file = whole_file_open(path);
    if (!file) return EXIT_FILE;
    netprof_err result = convert_write(set, format, &how, whole_file_write, file, &error);
    int code = whole_file_close(file, result == NETPROF_OK);
    if (result && !code) code = fail_error(path, &error); // a write that failed was said
    if (!code && left_out) warn("%zu values have no place in this format and were left out", left_out);
    return code;
}

static int cmd_convert_run(const char **arguments, size_t count)
{
    dataset set = {0};
    if (count != 2) return fail_usage("expected IN and OUT");
    if (cmd_convert_check_from()) return EXIT_USAGE;
    if (whole_file_refuse_inputs(arguments[1], arguments, 1)) return EXIT_USAGE;
    if (snapshot_number < 0) return fail_usage("--snapshot: %d: expected 1 or more", snapshot_number);
    convert_format format = to ? convert_format_named(to) : convert_format_of_path(arguments[1]);
    if (!format && to) return fail_usage("--to: %s: expected netprof, json, net_prof or csv", safe(to));
    if (!format) return fail_usage("%s: the ending tells no format; use --to", safe(arguments[1]));
    dataset_options how = {.names = names};
    int code = inputs_read(&set, arguments, 1, &how);
    if (!code && from && !cmd_convert_is_expected(set.runs[0].format))
        code = fail_file(EXIT_FILE, arguments[0], "expected %s, but this is %s", safe(from),
                         dataset_format_name(set.runs[0].format));
    if (!code) code = cmd_convert_write_out(&set, format, arguments[1]);
    if (!code && inputs_damaged(&set)) code = EXIT_WORTH_FAILING;
    dataset_free(&set);
    return code ? code : output_close();
}

const command command_convert = {
    .name = "convert",
    .summary = "turn one file format into another",
    .arguments = "IN OUT",
    .text = "Converts between .netprof, netprof's JSON, net_prof's JSON and (OUT only) CSV. The content of IN and the "
            "ending\n"
            "of OUT (.netprof, .json, .csv) tell the formats; '-' is the standard input or output.",
    .examples = "netprof convert run.netprof run.json\n"
                "netprof convert run.netprof values.csv\n"
                "netprof convert --to net_prof --snapshot 1 run.netprof before.json",
    .exits = "0 done, 1 done but parts of IN were damaged, 2 wrong usage, 3 a file could not be read or written.",
    .options = options,
    .run = cmd_convert_run,
};

// netprof-export: snapshots, series, regions and findings as tables for other programs.
#include "cli/command.h"
#include "cli/whole_file.h"
#include "export_formats.h"
#include "cli/output.h"
#include "cli/nearest.h"
#include "analysis/base/stb_ds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int wide, plain, iso, as_json; // as_json: --to json
static char *output, *format_name, *what_text, *table_name, *rules_path, *names;
static char **include, **exclude, **tags;

static const struct poptOption options[] = {
    {"to", 0, POPT_ARG_STRING, &format_name, 0, "the format", EXPORT_FORMAT_NAMES},
    {"output", 'o', POPT_ARG_STRING, &output, 0,
     "the file; with CSV, Parquet and Arrow a directory with a file for each table", "OUT"},
    {"what", 0, POPT_ARG_STRING, &what_text, 0, "only this (all), several by commas",
     "snapshots|series|regions|findings|programs|all"},
    {"wide", 0, POPT_ARG_NONE, &wide, 0, "a row for each time, a column for each counter", NULL},
    {"table", 0, POPT_ARG_STRING, &table_name, 0, "only this table; CSV, Parquet and Arrow are then one file", "NAME"},
    {"include", 'i', POPT_ARG_ARGV, &include, 0, "only DEVICE or DEVICE/COUNTER like these, by commas", "GLOBS"},
    {"exclude", 'x', POPT_ARG_ARGV, &exclude, 0, "but not those like these", "GLOBS"},
    {"plain", 0, POPT_ARG_NONE, &plain, 0, "CSV: texts as they are, also those that a spreadsheet takes for formulas",
     NULL},
    {"iso", 0, POPT_ARG_NONE, &iso, 0, "CSV: each time as text, too (ISO 8601, UTC), in a column of its own", NULL},
    {"tag", 0, POPT_ARG_ARGV, &tags, 0, "influx, openmetrics: this tag or label, too, such as cluster=alex",
     "KEY=VALUE"},
    {"rules", 'r', POPT_ARG_STRING, &rules_path, 0, "more rules for the findings, as in netprof check", "FILE"},
    {"names", 0, POPT_ARG_STRING, &names, 0, "counter names of net_prof's text, one a line", "FILE"},
    POPT_TABLEEND,
};

// Splits lists by commas; NULL when there is none.
static const char **export_globs(char **lists)
{
    const char **all = NULL;
    for (size_t i = 0; lists && lists[i]; i++)
        for (char *word = strtok(lists[i], ","); word; word = strtok(NULL, ","))
            arrput(all, word);
    if (all) arrput(all, NULL);
    return all;
}

static bool export_find_what(unsigned *what)
{
    static const struct {
        const char *name;
        unsigned bit;
    } rows[] = {{"snapshots", WHAT_SNAPSHOTS}, {"series", WHAT_SERIES},     {"regions", WHAT_REGIONS},
                {"findings", WHAT_FINDINGS},   {"programs", WHAT_PROGRAMS}, {"all", WHAT_ALL}};
    *what = what_text ? 0 : WHAT_ALL;
    for (const char *at = what_text; at;) {
        size_t n = strcspn(at, ","), i = 0;
        while (i < sizeof rows / sizeof *rows && !(strlen(rows[i].name) == n && strncmp(rows[i].name, at, n) == 0))
            i++;
        if (i == sizeof rows / sizeof *rows) {
            fail_usage("--what: %s: expected snapshots, series, regions, findings, programs or all", safe(what_text));
            return false;
        }
        *what |= rows[i].bit;
        at = at[n] ? at + n + 1 : NULL;
    }
    return true;
}

static int export_check_table(const export_options *o)
{
    const char *known[EXPORT_TABLES + 1] = {NULL};
    if (!table_name) return EXIT_DONE;
    for (int i = 0; i < EXPORT_TABLES; i++)
        known[i] = export_table_name((export_id)i);
    for (int i = 0; i < EXPORT_TABLES; i++) {
        if (strcmp(known[i], table_name) != 0) continue;
        bool wide_table = i >= EXPORT_FIXED;
        if (wide_table && !o->wide) return fail_usage("--table %s needs --wide", table_name);
        if (o->wide && (i == EXPORT_VALUES || i == EXPORT_RATES))
            return fail_usage("--table: with --wide the table is %s_wide", table_name);
        if (export_table_what((export_id)i) & o->what) return EXIT_DONE;
        return fail_usage("--table: %s is no table of --what %s", table_name, safe(what_text));
    }
    return fail_usage("--table: %s: no such table%s", safe(table_name), nearest_hint(table_name, known));
}

static bool export_choose_format(export_options *o)
{
    o->driver = format_name ? export_format_named(format_name) : NULL;
    if (o->driver) return true;
    char *formats = export_format_list();
    if (format_name)
        fail_usage("--to: %s: expected %s", safe(format_name), formats);
    else
        fail_usage("expected --to %s", formats);
    free(formats);
    return false;
}

static int export_check_options(export_options *o, size_t count)
{
    if (!count) return fail_usage("expected FILE...");
    if (!export_choose_format(o)) return EXIT_USAGE;
    if (!output) return fail_usage("expected -o OUT");
    if (!export_find_what(&o->what)) return EXIT_USAGE;
    o->path = output;
    o->only = table_name;
    o->wide = wide;
    o->plain = plain;
    o->utc = iso;
    o->rules = rules_path;
    o->names = names;
    if (o->driver->events && (wide || table_name))
        return fail_usage("--to %s has no tables: leave %s out", o->driver->name, wide ? "--wide" : "--table");
    if (iso && strcmp(o->driver->name, "csv") != 0) return fail_usage("--iso is for --to csv");
    for (size_t i = 0; tags && tags[i]; i++)
        if (!strchr(tags[i], '=') || *tags[i] == '=') return fail_usage("--tag: %s: expected KEY=VALUE", safe(tags[i]));
    if (tags && strcmp(o->driver->name, "influx") != 0 && strcmp(o->driver->name, "openmetrics") != 0)
        return fail_usage("--tag is for --to influx and --to openmetrics");
    o->tags = (const char **)tags;
    int code = export_check_table(o);
    if (code) return code;
    if (!*output) return fail_usage("-o: expected a name");
    if (strcmp(output, "-") == 0 && !o->driver->stream)
        return fail_usage("-o -: %s cannot be written to the standard output", o->driver->name);
    if (strcmp(output, "-") == 0 && o->driver->directory && !table_name)
        return fail_usage("-o -: CSV is a file for each table: choose one with --table");
    if (o->driver->missing)
        return fail(EXIT_FILE, "--to %s: this netprof-export was built without %s", o->driver->name,
                    o->driver->missing);
    return EXIT_DONE;
}

static int export_run(const char **paths, size_t count)
{
    export_options o = {0};
    as_json = format_name && strcmp(format_name, "json") == 0;
    message_json_later(); // a file of many that is none is left out
    int code = export_check_options(&o, count);
    if (!code) code = whole_file_refuse_inputs(output, paths, count);
    if (code) return message_json_now(), code;
    o.include = export_globs(include);
    o.exclude = export_globs(exclude);
    export_sink *sink = export_open(&o);
    code = sink ? export_files(sink, paths, count) : EXIT_FILE;
    if (sink) {
        int closed = export_close(sink, code == EXIT_DONE || code == EXIT_WORTH_FAILING);
        if (closed) code = closed;
    }
    arrfree(o.include);
    arrfree(o.exclude);
    if (code != EXIT_DONE && code != EXIT_WORTH_FAILING) return message_json_now(), code;
    int closed = output_close();
    return closed ? closed : code;
}

#ifdef EXPORT_HAS_SQLITE
#define EXAMPLE_SQLITE "netprof export node1.netprof node2.netprof --to sqlite -o job.db\n"
#else
#define EXAMPLE_SQLITE
#endif
#ifdef EXPORT_HAS_HDF5
#define EXAMPLE_HDF5 "netprof export ranks --to hdf5 -o regions.h5\n"
#else
#define EXAMPLE_HDF5
#endif

static const command export_command = {
    .name = "export",
    .arguments = "FILE|DIR...",
    .text =
        "Turns what netprof saved into tables for other programs: values and rates of counters over time, devices and\n"
        "facts, the regions of a job's code, findings, and the tables of Nsight Systems exports. FILE is any file "
        "that\n"
        "netprof or net_prof wrote, or such an export; of DIR every *.netprof is taken. Numbers are exact, and what is "
        "missing\n"
        "is missing (NULL, an empty cell), never zero.\n"
        "With --to perfetto it is one trace for ui.perfetto.dev, with counters, findings and gaps over time, and the\n"
        "calls that 'netprof run --nccl' or the NCCL Inspector recorded; with --to influx lines for a database of "
        "time\n"
        "series, with --to openmetrics the last reading of each node. Parquet needs DuckDB's library, Arrow its "
        "extension\n"
        "nanoarrow, too; Feather, ORC and pickle are a line of Python from Parquet.\n"
        "The tables and their columns are described in netprof-export(1).",
    .examples =
        "netprof export run.netprof --to csv -o tables\n"
        "netprof export run.netprof --to json --what series -o run.json\n"
        "netprof export run.netprof --to csv --table counter_rates -o -\n"
        "netprof export run.netprof --to json --wide --include 'lo/*' -o wide.json\n"
        "netprof export run.netprof --to perfetto -o run.json.gz\n"
        "netprof export node1.netprof node2.netprof --to influx --tag cluster=alex -o job.lines\n"
        "netprof export run.netprof --to openmetrics -o -\n"
        "netprof export profile.sqlite --to csv --table nsys_tables -o profile.csv\n" EXAMPLE_SQLITE EXAMPLE_HDF5,
    .exits = "0 done, 1 done but parts of the files were damaged, 2 wrong usage, 3 a file could not be read\n"
             "or written, or a format's library is missing.",
    .options = options,
    .json = &as_json,
    .json_option = "--to",
    .run = export_run,
};

int main(int argc, char **argv)
{
    return command_program(&export_command, argc, argv);
}

// netprof nsys: the tables of an Nsight Systems export, and how busy the GPUs were.
#include "command.h"
#include "nsys.h"
#include "options.h"
#include "output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int as_json, as_csv, top = 10, all, bins;

static const struct poptOption options[] = {
    {"top", 'n', POPT_ARG_INT, &top, 0, "so many rows of each table (10)", "N"},
    {"all", 'a', POPT_ARG_NONE, &all, 0, "all rows", NULL},
    {"bins", 0, POPT_ARG_INT, &bins, 0, "parts of the time for how busy the GPUs were, in JSON and CSV (120)",
     "N"},
    {"json", 0, POPT_ARG_NONE, &as_json, 0, "as JSON: the tables, and how busy each GPU was over time", NULL},
    {"csv", 0, POPT_ARG_NONE, &as_csv, 0, "as CSV: a line for each row of each table", NULL},
    POPT_TABLEEND,
};

// ---- text: the columns of nsys stats ----

static const char *quantity(char text[40], const nsys_table *t, double value, bool whole)
{
    bool bytes = strcmp(t->unit, "bytes") == 0;
    snprintf(text, 40, bytes ? "%.3f" : whole ? "%.0f" : "%.1f", bytes ? value / 1e6 : value);
    return text;
}

static void print_row(table *to, const nsys_table *t, const nsys_row *row)
{
    char text[40];
    if (isfinite(row->share))
        table_printf(to, PLAIN, "%.1f", 100 * row->share);
    else
        table_cell(to, PLAIN, NULL);
    table_cell(to, PLAIN, quantity(text, t, (double)row->total, true));
    table_cell(to, PLAIN, number_exact(row->count));
    table_cell(to, PLAIN, quantity(text, t, row->mean, false));
    table_cell(to, PLAIN, quantity(text, t, row->median, false));
    table_cell(to, PLAIN, quantity(text, t, (double)row->min, true));
    table_cell(to, PLAIN, quantity(text, t, (double)row->max, true));
    table_cell(to, PLAIN, quantity(text, t, row->deviation, false));
    table_cell(to, PLAIN, row->nccl ? "NCCL" : NULL);
    table_cell(to, PLAIN, row->name);
}

static void print_table(const nsys_table *t, bool *first)
{
    bool bytes = strcmp(t->unit, "bytes") == 0;
    const column columns[] = {
        {bytes ? "Size (%)" : "Time (%)", COLUMN_RIGHT},
        {bytes ? "Total (MB)" : "Total Time (ns)", COLUMN_RIGHT},
        {t->counted, COLUMN_RIGHT},
        {bytes ? "Avg (MB)" : "Avg (ns)", COLUMN_RIGHT},
        {bytes ? "Med (MB)" : "Med (ns)", COLUMN_RIGHT},
        {bytes ? "Min (MB)" : "Min (ns)", COLUMN_RIGHT},
        {bytes ? "Max (MB)" : "Max (ns)", COLUMN_RIGHT},
        {bytes ? "StdDev (MB)" : "StdDev (ns)", COLUMN_RIGHT},
        {"Of", COLUMN_LEAN},
        {strncmp(t->name, "cuda_gpu_mem", 12) == 0 ? "Operation" : "Name", COLUMN_WRAP}};
    size_t shown = all || t->row_count <= (size_t)top ? t->row_count : (size_t)top;
    if (!*first) putchar('\n');
    *first = false;
    printf("%s (%s)\n", t->title, t->name);
    if (!t->present) {
        puts("  the file has no such events");
        return;
    }
    table *to = table_begin(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < shown; i++)
        print_row(to, t, &t->rows[i]);
    if (!t->row_count) puts("  none");
    table_end(to, stdout, 2);
    if (shown < t->row_count) printf("  and %zu more (--all)\n", t->row_count - shown);
    if (t->left_out)
        printf("  %s events without a plausible %s were left out\n", number_exact(t->left_out),
               bytes ? "size" : "time");
}

static void print_busy(const nsys *n)
{
    static const column columns[] = {{"GPU", COLUMN_RIGHT},
                                     {"kernels", COLUMN_RIGHT},
                                     {"of them NCCL", COLUMN_RIGHT},
                                     {"memory operations", COLUMN_RIGHT}};
    double length = (double)(n->end_ns - n->begin_ns);
    if (!n->gpu_count) return;
    printf("\nBusy GPUs, of the %s between their first and last event", number_seconds(length / 1e9));
    if (n->session_ns)
        printf(", from %s on", number_time(n->session_ns + n->begin_ns));
    else
        printf(" (the file does not tell the date)");
    putchar('\n');
    table *to = table_begin(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < n->gpu_count; i++) {
        table_printf(to, PLAIN, "%lld", (long long)n->gpus[i].device);
        for (int what = 0; what < NSYS_BUSY; what++)
            table_cell(to, PLAIN,
                       length > 0 ? number_share((double)n->gpus[i].busy_ns[what] / length) : NULL);
    }
    table_end(to, stdout, 2);
}

static void print_text(const nsys *files, size_t count)
{
    bool first = true;
    for (size_t i = 0; i < count; i++) {
        if (count > 1)
            heading(stdout, "%s%s%s", safe(files[i].path), files[i].host ? " of " : "",
                    files[i].host ? safe(files[i].host) : "");
        for (int k = 0; k < NSYS_TABLES; k++)
            if (k <= NSYS_MEMORY_SIZE || files[i].tables[k].present) print_table(&files[i].tables[k], &first);
        print_busy(&files[i]);
    }
}

// ---- for programs ----

static void number_cell(double value)
{
    if (isfinite(value))
        csv_printf(stdout, "%.15g", value);
    else
        csv_cell(stdout, NULL);
}

static void print_csv(const nsys *files, size_t count)
{
    static const char *const titles[] = {"file",  "host",  "table", "name",   "nccl", "unit", "share",
                                         "count", "total", "mean",  "median", "min",  "max",  "deviation"};
    csv_line(stdout, titles, sizeof titles / sizeof *titles);
    for (size_t i = 0; i < count; i++) {
        for (int k = 0; k < NSYS_TABLES; k++) {
            const nsys_table *t = &files[i].tables[k];
            for (size_t r = 0; r < t->row_count; r++) {
                const nsys_row *row = &t->rows[r];
                const char *const texts[] = {files[i].path,
                                             files[i].host,
                                             t->name,
                                             row->name,
                                             k == NSYS_KERNELS ? row->nccl ? "1" : "0" : NULL,
                                             t->unit};
                for (size_t c = 0; c < sizeof texts / sizeof *texts; c++)
                    csv_cell(stdout, texts[c]);
                number_cell(row->share);
                csv_cell(stdout, number_exact(row->count));
                csv_cell(stdout, number_exact(row->total));
                number_cell(row->mean);
                number_cell(row->median);
                csv_cell(stdout, number_exact(row->min));
                csv_cell(stdout, number_exact(row->max));
                number_cell(row->deviation);
                csv_end(stdout);
            }
        }
    }
}

static void print_json(const nsys *files, size_t count)
{
    json_object *o = json_document("nsys"), *list = json_object_new_array();
    for (size_t i = 0; i < count; i++)
        json_object_array_add(list, must(nsys_json(&files[i])));
    json_object_object_add(o, "files", list);
    json_print(stdout, o);
}

static int run(const char **paths, size_t count)
{
    netprof_error error;
    int code = EXIT_DONE;
    size_t read = 0;
    if (!count) return fail_usage("expected FILE.sqlite...");
    if (as_json && as_csv) return fail_usage("--json and --csv exclude each other");
    if (top < 1) return fail_usage("--top: %d: expected 1 or more", top);
    if (bins < 0 || bins > 100000) return fail_usage("--bins: %d: expected a number up to 100000", bins);
    nsys *files = must(calloc(count, sizeof *files));
    for (; read < count && !code; read++)
        if (nsys_read(&files[read], paths[read], &(nsys_options){.bins = (size_t)bins}, &error))
            code = fail_error(paths[read], &error);
    if (!code) {
        if (as_json)
            print_json(files, count);
        else if (as_csv)
            print_csv(files, count);
        else
            print_text(files, count);
        code = output_close();
    }
    for (size_t i = 0; i < read; i++)
        nsys_free(&files[i]);
    free(files);
    return code;
}

const command command_nsys = {
    .name = "nsys",
    .summary = "kernels, copies and CUDA calls of an Nsight Systems export, and how busy the GPUs were",
    .arguments = "FILE.sqlite...",
    .text = "Prints what `nsys stats` prints of a file that `nsys export --type sqlite` made: calls of the "
            "CUDA API, kernels,\n"
            "memory operations by time and by size, NVTX ranges and calls of the operating system's "
            "libraries, each with its\n"
            "count, mean, median, extremes and standard deviation (of the sample); and what part of the time "
            "each GPU ran\n"
            "kernels, kernels of NCCL, and memory operations, whatever the number of streams.",
    .examples = "netprof nsys profile.sqlite\n"
                "netprof nsys profile.sqlite --all\n"
                "netprof nsys profile.sqlite --json --bins 600",
    .exits = "0 done, 2 wrong usage, 3 a file could not be read.",
    .options = options,
    .run = run,
    .json = &as_json,
};

// netprof nsys: the tables of an Nsight Systems export, and how busy the GPUs were.
#include "commands.h"
#include "analysis/base/memory.h"
#include "analysis/nsys/nsys.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/nearest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int as_json, as_csv, top = 10, all, bins, each;
static char *report_text;

static const struct poptOption options[] = {
    {"report", 'r', POPT_ARG_STRING, &report_text, 0, "only these tables, by their names in nsys stats, by commas",
     "NAMES"},
    {"top", 'n', POPT_ARG_INT, &top, 0, "so many rows of each table (10)", "N"},
    {"all", 'a', POPT_ARG_NONE, &all, 0, "all rows", NULL},
    {"each", 'e', POPT_ARG_NONE, &each, 0, "of several files, the tables of each, too", NULL},
    {"bins", 0, POPT_ARG_INT, &bins, 0, "parts of the time for how busy the GPUs were, in JSON (120)", "N"},
    {"json", 0, POPT_ARG_NONE, &as_json, 0, "as JSON: the tables, and how busy each GPU was over time", NULL},
    {"csv", 0, POPT_ARG_NONE, &as_csv, 0, "as CSV: a line for each row of each table", NULL},
    POPT_TABLEEND,
};

// ---- text: the columns of nsys stats ----

static bool cmd_nsys_is_bytes(const nsys_table *t)
{
    return strcmp(t->unit, "bytes") == 0;
}

static const char *cmd_nsys_quantity(char text[40], const nsys_table *t, double value, bool whole)
{
    snprintf(text, 40,
             cmd_nsys_is_bytes(t) ? "%.3f"
             : whole              ? "%.0f"
                                  : "%.1f",
             cmd_nsys_is_bytes(t) ? value / 1e6 : value);
    return isfinite(value) ? text : "?";
}

// A sum or an extreme: exact, and said to be a lower bound where it does not fit 64 bits.
static const char *cmd_nsys_exact(char text[40], const nsys_table *t, uint64_t value)
{
    if (cmd_nsys_is_bytes(t)) return cmd_nsys_quantity(text, t, (double)value, true);
    snprintf(text, 40, "%.39s", words_at_least(value == UINT64_MAX, words_exact(value)).text);
    return text;
}

static void cmd_nsys_print_row(table *to, const nsys_table *t, const nsys_row *row)
{
    char text[40];
    if (isfinite(row->share) && !cmd_nsys_is_bytes(t))
        table_printf(to, PLAIN, "%.1f", 100 * row->share);
    else
        table_cell(to, PLAIN, NULL);
    table_cell(to, PLAIN, cmd_nsys_exact(text, t, row->total));
    table_cell(to, PLAIN, words_exact(row->count).text);
    table_cell(to, PLAIN, cmd_nsys_quantity(text, t, row->mean, false));
    table_cell(to, PLAIN, cmd_nsys_quantity(text, t, row->median, false));
    table_cell(to, PLAIN, cmd_nsys_exact(text, t, row->min));
    table_cell(to, PLAIN, cmd_nsys_exact(text, t, row->max));
    table_cell(to, PLAIN, cmd_nsys_quantity(text, t, row->deviation, false));
    table_cell(to, PLAIN, t->of_title ? row->of : row->nccl ? "NCCL" : NULL);
    table_cell(to, PLAIN, row->name);
}

static void cmd_nsys_print_notes(const nsys_table *t, size_t shown)
{
    if (shown < t->row_count) printf("  and %zu more (--all)\n", t->row_count - shown);
    if (t->left_out)
        printf("  %s events without a plausible %s were left out\n", words_exact(t->left_out).text,
               cmd_nsys_is_bytes(t) ? "size" : "time");
    if (t->unended)
        printf("  %s ranges never ended: counted to the last event of NVTX\n", words_exact(t->unended).text);
    if (t->row_count && strncmp(t->name, "nvtx_", 5) == 0)
        puts("  a range within another counts in both, and so do ranges of several threads");
}

static void cmd_nsys_print_table(const nsys_table *t, bool *first)
{
    bool bytes = cmd_nsys_is_bytes(t);
    const column columns[] = {{"Time (%)", COLUMN_RIGHT | COLUMN_LEAN},
                              {bytes ? "Total (MB)" : "Total Time (ns)", COLUMN_RIGHT},
                              {t->counted, COLUMN_RIGHT},
                              {bytes ? "Avg (MB)" : "Avg (ns)", COLUMN_RIGHT},
                              {bytes ? "Med (MB)" : "Med (ns)", COLUMN_RIGHT},
                              {bytes ? "Min (MB)" : "Min (ns)", COLUMN_RIGHT},
                              {bytes ? "Max (MB)" : "Max (ns)", COLUMN_RIGHT},
                              {bytes ? "StdDev (MB)" : "StdDev (ns)", COLUMN_RIGHT},
                              {t->of_title ? t->of_title : "Of", COLUMN_LEAN},
                              {t->name_title, COLUMN_WRAP}};
    const size_t most = (size_t)top; // gcc 10 warns of it as a part of what follows
    const size_t shown = all || most > t->row_count ? t->row_count : most;
    if (!*first) putchar('\n');
    *first = false;
    printf("%s (%s)\n", t->title, t->name);
    if (!t->present) {
        puts("  the file has no such events");
        return;
    }
    table *to = table_begin(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < shown; i++)
        cmd_nsys_print_row(to, t, &t->rows[i]);
    if (!t->row_count) puts("  none");
    table_end(to, stdout, 2);
    cmd_nsys_print_notes(t, shown);
}

// Those that were asked for; else those of the GPU, and of the others what there is.
static void cmd_nsys_print_tables(nsys *n, const bool chosen[NSYS_TABLES])
{
    bool first = true;
    for (int k = 0; k < NSYS_TABLES; k++) {
        if (!chosen[k]) continue;
        const nsys_table *t = nsys_table_of(n, (nsys_kind)k);
        if (report_text || k <= NSYS_MEMORY_SIZE || t->present) cmd_nsys_print_table(t, &first);
    }
}

static void cmd_nsys_print_gpu(table *to, const nsys *n, const nsys_gpu *gpu, bool many)
{
    double length = (double)(n->end_ns - n->begin_ns);
    table_cell(to, PLAIN, many ? n->path : NULL);
    if (gpu->pid >= 0)
        table_printf(to, PLAIN, "%lld of process %lld", (long long)gpu->device, (long long)gpu->pid);
    else
        table_printf(to, PLAIN, "%lld", (long long)gpu->device);
    table_cell(to, PLAIN, gpu->name);
    if (many) table_cell(to, PLAIN, words_duration(length / 1e9).text);
    for (int what = 0; what < NSYS_BUSY; what++)
        table_cell(to, PLAIN, length > 0 ? words_share((double)gpu->busy_ns[what] / length).text : NULL);
}

static void cmd_nsys_print_when(const nsys *n)
{
    double length = (double)(n->end_ns - n->begin_ns);
    printf("\nBusy GPUs, of the %s between their first and last event", safe(words_duration(length / 1e9).text));
    if (n->session_ns)
        printf(", from %s on", words_time(n->session_ns + n->begin_ns).text);
    else
        printf(" (the file does not tell the date)");
    putchar('\n');
}

static void cmd_nsys_print_busy(const nsys *files, size_t count)
{
    const column one[] = {{"File", COLUMN_LEAN},          {"GPU", COLUMN_RIGHT},
                          {"name", COLUMN_LEAN},          {"kernels", COLUMN_RIGHT},
                          {"of them NCCL", COLUMN_RIGHT}, {"memory operations", COLUMN_RIGHT}},
                 several[] = {one[0], one[1], one[2], {"over", COLUMN_RIGHT}, one[3], one[4], one[5]};
    bool many = count > 1, any = false, graphs = false;
    for (size_t i = 0; i < count; i++) {
        any |= files[i].gpu_count > 0;
        graphs |= files[i].tables[NSYS_GRAPHS].row_count > 0;
    }
    if (!any) return;
    if (many)
        puts("\nBusy GPUs, of the time between the first and last event in each file");
    else
        cmd_nsys_print_when(files);
    table *to =
        many ? table_begin(several, sizeof several / sizeof *several) : table_begin(one, sizeof one / sizeof *one);
    for (size_t i = 0; i < count; i++)
        for (size_t g = 0; g < files[i].gpu_count; g++)
            cmd_nsys_print_gpu(to, &files[i], &files[i].gpus[g], many);
    table_end(to, stdout, 2);
    if (graphs) puts("  CUDA graphs were recorded whole: what NCCL ran in them is not told apart");
}

// ---- text: processes side by side ----

static void cmd_nsys_print_balance(table *to, const nsys_job *job, const char *title, bool ratio)
{
    table_cell(to, BOLD, title);
    for (int i = 0; i < 3; i++)
        table_cell(to, PLAIN, NULL);
    for (int what = 0; what < NSYS_SPENT; what++) {
        const nsys_balance *b = &job->balance[what];
        if (!b->count || (ratio && !isfinite(b->ratio)))
            table_cell(to, PLAIN, NULL);
        else if (ratio)
            table_printf(to, b->ratio >= 1.2 ? WARNING : PLAIN, "%.2f", b->ratio);
        else
            table_cell(to, BOLD, words_duration(b->mean / 1e9).text);
    }
}

static void cmd_nsys_print_process(table *to, const nsys_job *job, const nsys_spender *s)
{
    const nsys *n = &job->files[s->file];
    table_cell(to, PLAIN, n->path);
    table_cell(to, PLAIN, n->host);
    table_cell(to, PLAIN, s->process->rank >= 0 ? words_integer(s->process->rank).text : NULL);
    table_cell(to, PLAIN, s->process->pid >= 0 ? words_integer(s->process->pid).text : NULL);
    for (int what = 0; what < NSYS_SPENT; what++)
        table_cell(to, PLAIN, n->knows[what] ? words_duration((double)s->process->spent_ns[what] / 1e9).text : NULL);
}

static void cmd_nsys_print_processes(const nsys_job *job)
{
    static const column columns[] = {{"File", 0},
                                     {"Host", COLUMN_LEAN},
                                     {"Rank", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"Process", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"kernels", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"of them NCCL", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"memory operations", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"MPI", COLUMN_RIGHT | COLUMN_LEAN},
                                     {"CUDA API", COLUMN_RIGHT | COLUMN_LEAN}};
    size_t shown = all || job->spent_count <= 64 ? job->spent_count : 64;
    if (job->spent_count < 2) return;
    puts("\nProcesses side by side: time spent, added up over streams and threads");
    table *to = table_begin(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < shown; i++)
        cmd_nsys_print_process(to, job, &job->spent[i]);
    cmd_nsys_print_balance(to, job, "mean", false);
    cmd_nsys_print_balance(to, job, "largest / mean", true);
    table_end(to, stdout, 2);
    if (shown < job->spent_count)
        printf("  and %zu more (--all); mean and largest are of all\n", job->spent_count - shown);
    if (job->repeated_rank >= 0)
        printf("  rank %lld is in several files: what these have in common counts twice\n",
               (long long)job->repeated_rank);
}

static void cmd_nsys_print_not_read(const nsys *files, size_t count)
{
    const char *before = "\nNot read, though a file has it: ";
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < sizeof files->not_read / sizeof *files->not_read && files[i].not_read[k]; k++) {
            bool said = false;
            for (size_t f = 0; f < i; f++)
                for (size_t m = 0; m < sizeof files->not_read / sizeof *files->not_read && files[f].not_read[m]; m++)
                    said |= files[f].not_read[m] == files[i].not_read[k];
            if (said) continue;
            printf("%s%s", before, files[i].not_read[k]);
            before = ", ";
        }
    }
    if (*before == ',') putchar('\n');
}

static void cmd_nsys_print_text(nsys_job *job, const bool chosen[NSYS_TABLES])
{
    bool many = job->file_count > 1;
    for (size_t i = 0; i < job->file_count && (each || !many); i++) {
        nsys *n = &job->files[i];
        if (many) heading(stdout, "%s%s%s", safe(n->path), n->host ? " of " : "", n->host ? safe(n->host) : "");
        cmd_nsys_print_tables(n, chosen);
    }
    if (many) {
        heading(stdout, "All %zu files", job->file_count);
        cmd_nsys_print_tables(&job->together, chosen);
    }
    if (report_text) return;
    cmd_nsys_print_busy(job->files, job->file_count);
    cmd_nsys_print_processes(job);
    if (many) printf("\nClocks: %s\n", safe(job->clock_text));
    cmd_nsys_print_not_read(job->files, job->file_count);
}

// ---- for programs ----

static void cmd_nsys_number_cell(double value)
{
    if (isfinite(value))
        csv_printf(stdout, "%.15g", value);
    else
        csv_cell(stdout, NULL);
}

static void cmd_nsys_print_csv_table(const nsys *n, const nsys_table *t, const char *file)
{
    for (size_t r = 0; r < t->row_count; r++) {
        const nsys_row *row = &t->rows[r];
        const char *const texts[] = {file,    n->host,
                                     t->name, row->name,
                                     row->of, strcmp(t->name, "cuda_gpu_kern_sum") == 0 ? row->nccl ? "1" : "0" : NULL,
                                     t->unit};
        for (size_t c = 0; c < sizeof texts / sizeof *texts; c++)
            csv_cell(stdout, texts[c]);
        cmd_nsys_number_cell(row->share);
        csv_cell(stdout, words_exact(row->count).text);
        csv_cell(stdout, row->total == UINT64_MAX ? NULL : words_exact(row->total).text);
        cmd_nsys_number_cell(row->mean);
        cmd_nsys_number_cell(row->median);
        csv_cell(stdout, words_exact(row->min).text);
        csv_cell(stdout, words_exact(row->max).text);
        cmd_nsys_number_cell(row->deviation);
        csv_end(stdout);
    }
}

// Of several files the rows without a file are of all together.
static void cmd_nsys_print_csv(nsys_job *job, const bool chosen[NSYS_TABLES])
{
    static const char *const titles[] = {"file",  "host",  "table", "name",   "of",  "nccl", "unit",     "share",
                                         "count", "total", "mean",  "median", "min", "max",  "deviation"};
    csv_line(stdout, titles, sizeof titles / sizeof *titles);
    for (size_t i = 0; i <= job->file_count; i++) {
        nsys *n = i < job->file_count ? &job->files[i] : &job->together;
        for (int k = 0; k < NSYS_TABLES && (i < job->file_count || job->file_count > 1); k++)
            if (chosen[k]) cmd_nsys_print_csv_table(n, nsys_table_of(n, (nsys_kind)k), n->path);
    }
}

static void cmd_nsys_print_json(nsys_job *job, const bool chosen[NSYS_TABLES])
{
    json_object *o = json_document("nsys"), *list = json_new_array();
    for (size_t i = 0; i < job->file_count; i++)
        json_append(list, memory_check(nsys_json(&job->files[i], chosen)));
    json_put(o, "files", list);
    nsys_job_json(o, job, chosen);
    json_print(stdout, o);
}

// ---- together ----

// Which tables; without --report those that are not made of others.
static int cmd_nsys_choose(bool chosen[NSYS_TABLES])
{
    const char *known[NSYS_TABLES + 1] = {NULL};
    for (int k = 0; k < NSYS_TABLES; k++) {
        known[k] = nsys_kind_name((nsys_kind)k);
        chosen[k] = !report_text && k < NSYS_READ;
    }
    for (char *word = report_text ? strtok(report_text, ",") : NULL; word; word = strtok(NULL, ",")) {
        nsys_kind kind = nsys_kind_named(word);
        if (kind == NSYS_TABLES)
            return fail_usage("--report: %s: no such table%s", safe(word), nearest_hint(word, known));
        chosen[kind] = true;
    }
    return EXIT_DONE;
}

static void cmd_nsys_say_progress(void *user, size_t done, size_t of)
{
    (void)user;
    if (of > 1) progress("file %zu of %zu", done + 1, of);
}

static int cmd_nsys_run(const char **paths, size_t count)
{
    bool chosen[NSYS_TABLES];
    netprof_error error;
    nsys_job job = {0};
    if (!count) return fail_usage("expected FILE.sqlite...");
    if (as_json && as_csv) return fail_usage("--json and --csv exclude each other");
    if (top < 1) return fail_usage("--top: %d: expected 1 or more", top);
    if (bins < 0 || bins > 100000) return fail_usage("--bins: %d: expected a number up to 100000", bins);
    int code = cmd_nsys_choose(chosen);
    if (code) return code;
    const nsys_options o = {.bins = (size_t)bins, .progress = cmd_nsys_say_progress};
    if (nsys_job_read(&job, paths, count, &o, &error)) return fail_error(*error.path ? NULL : paths[0], &error);
    progress_end();
    if (as_json)
        cmd_nsys_print_json(&job, chosen);
    else if (as_csv)
        cmd_nsys_print_csv(&job, chosen);
    else
        cmd_nsys_print_text(&job, chosen);
    code = output_close();
    nsys_job_free(&job);
    return code;
}

const command command_nsys = {
    .name = "nsys",
    .summary = "kernels, copies and CUDA calls of an Nsight Systems export, and how busy the GPUs were",
    .arguments = "FILE.sqlite...",
    .text = "Prints what `nsys stats` prints of files that `nsys export --type sqlite` made: calls of the "
            "CUDA API, kernels,\n"
            "memory operations by time and by size, NVTX ranges with their domains, MPI calls and messages, "
            "and calls of the\n"
            "operating system's libraries, each with its count, mean, median, extremes and standard "
            "deviation (of the sample);\n"
            "and what part of the time each GPU ran kernels, kernels of NCCL, and memory operations.\n"
            "\n"
            "Of several files, one for each rank or node, the tables are of all together, the processes "
            "stand side by side, and\n"
            "their clocks are compared.\n"
            "\n"
            "NAMES: cuda_api_sum, cuda_gpu_kern_sum, cuda_gpu_mem_time_sum, cuda_gpu_mem_size_sum, "
            "cuda_graph_sum, nvtx_sum,\n"
            "mpi_event_sum, mpi_msg_size_sum, osrt_sum; and those made of others: cuda_gpu_sum, "
            "nvtx_pushpop_sum,\n"
            "nvtx_startend_sum.",
    .examples = "netprof nsys profile.sqlite\n"
                "netprof nsys rank0.sqlite rank1.sqlite\n"
                "netprof nsys rank0.sqlite rank1.sqlite --each --all\n"
                "netprof nsys profile.sqlite --report cuda_gpu_sum,nvtx_pushpop_sum\n"
                "netprof nsys profile.sqlite --json --bins 600",
    .exits = "0 done, 2 wrong usage, 3 a file could not be read.",
    .options = options,
    .run = cmd_nsys_run,
    .json = &as_json,
};

// netprof job: what recordings say of a job, in a page of text.
#define _POSIX_C_SOURCE 200809L
#include "commands.h"
#include "cli/fail_on.h"
#include "cli/inputs.h"
#include "analysis/base/memory.h"
#include "analysis/base/json_values.h"
#include "analysis/base/stb_ds.h"
#include "analysis/base/text.h"
#include "analysis/job/job_list.h"
#include "analysis/job/job_report.h"
#include "analysis/nccl/view/nccl_pairs.h"
#include "analysis/nccl/view/nccl_beside.h"
#include "commands/print/job_text.h"
#include "commands/print/json_csv.h"
#include "cli/options.h"
#include "cli/output.h"

#include <stdlib.h>
#include <string.h>

static int as_json, as_csv, all, quiet;
static char *rules_path, *fail_on_text, *phases, *job_id;

static const struct poptOption options[] = {
    {"phases", 0, POPT_ARG_STRING, &phases, 0, "phases of the job: lines TIME NAME, TIME in seconds since 1970",
     "FILE"},
    {"job", 0, POPT_ARG_STRING, &job_id, 0,
     "only this job of several; 4_1 of an array, 4 for all of it; 4:2 the second attempt", "ID"},
    {"rules", 'r', POPT_ARG_STRING, &rules_path, 0, "more rules; one of the same name replaces a built-in one", "FILE"},
    {"fail-on", 0, POPT_ARG_STRING, &fail_on_text, 0, "exit with 1 for a finding this bad or worse (high)",
     FAIL_ON_ARGUMENT},
    {"all", 'a', POPT_ARG_NONE, &all, 0, "every finding with its threshold and advice, and a line for each node", NULL},
    {"json", 0, POPT_ARG_NONE, &as_json, 0, "as JSON", NULL},
    {"csv", 0, POPT_ARG_NONE, &as_csv, 0, "as CSV: a line for each finding, of each job", NULL},
    {"quiet", 'q', POPT_ARG_NONE, &quiet, 0, "no progress on a terminal", NULL},
    POPT_TABLEEND,
};

static void cmd_job_say_progress(void *user, size_t done, size_t count)
{
    (void)user;
    if (quiet || count < 2) return;
    if (done < count)
        progress("reading file %zu of %zu", done + 1, count);
    else
        progress_end();
}

static void cmd_job_say_warnings(const job_report *job)
{
    enum { SAID = 10 };
    for (size_t i = 0; i < job->warning_count && i < SAID; i++) {
        const job_warning *w = &job->warnings[i];
        if (*w->path)
            warn("%s: %s", safe(w->path), safe(w->text));
        else
            warn("%s", safe(w->text));
    }
    if (job->warning_count > SAID) warn("%zu more such lines", job->warning_count - SAID);
}

// ---- one job ----

static severity worst;  // of all jobs
static size_t worse;    // jobs that have one of watch or worse
static size_t unjudged; // jobs of which something that matters could not be judged
static size_t read_jobs;
static bool judged; // anything of any of them

static int cmd_job_read(job_report *job, const char *const *paths, size_t count, const rules *set)
{
    netprof_error error;
    pairs collectives;
    const pairs *const layers[] = {&collectives};
    const job_report_options how = {.rules = set,
                                    .phases = phases,
                                    .progress = cmd_job_say_progress,
                                    .layers = layers,
                                    .layer_count = nccl_pairs_read(&collectives, paths, count),
                                    .is_of_layer = nccl_beside_is_file};
    netprof_err failed = job_report_read(job, paths, count, &how, &error);
    pairs_free(&collectives);
    if (failed) return fail_error(NULL, &error);
    cmd_job_say_warnings(job);
    if (job->severity > worst) worst = job->severity;
    worse += job->severity >= SEVERITY_WATCH;
    bool blind = job->severity == SEVERITY_UNKNOWN;
    for (size_t i = 0; i < job->finding_count; i++)
        blind |= strcmp(job->findings[i].rule, "not-judged") == 0;
    unjudged += blind;
    read_jobs++;
    judged |= job->use_count || job->finding_count;
    return EXIT_DONE;
}

static int cmd_job_one(const char *const *paths, size_t count, const rules *set)
{
    job_report job = {0};
    int code = cmd_job_read(&job, paths, count, set);
    if (!code && as_json)
        json_print(stdout, memory_check(job_report_json(&job)));
    else if (!code && as_csv)
        findings_csv_print(stdout, memory_check(job_report_json(&job)));
    else if (!code)
        job_print(stdout, &job, all != 0);
    job_report_free(&job);
    return code;
}

// ---- several ----

static json_object *cmd_job_json_of_several(void)
{
    json_object *o = json_document("jobs"), *verdict = json_new_object();
    char *text = memory_format("findings on %zu of %s", worse, words_many(read_jobs, "job").text);
    if (unjudged) text_append(&text, "; %s could not be judged in all that matters", words_many(unjudged, "job").text);
    json_put_text(verdict, "severity", severity_name(worst));
    json_put_text(verdict, "text", text);
    free(text);
    json_put(o, "verdict", verdict);
    return o;
}

// A block each; the tasks of an array are lines of a table, but with --all.
static int cmd_job_several(const job_list *list, const rules *set)
{
    json_object *found = json_new_array();
    job_lines *lines = job_lines_begin();
    size_t blocks = 0;
    int code = EXIT_DONE, one;
    for (size_t i = 0; i < list->count; i++) {
        const job_listed *x = &list->items[i];
        job_report job = {0};
        char *name = job_listed_name(list, i);
        if ((one = cmd_job_read(&job, x->paths, arrlenu(x->paths), set))) {
            code = one; // said already; the others are shown all the same
        } else if (as_json || as_csv) {
            json_append(found, memory_check(job_report_json(&job)));
        } else if (*x->array && !all) {
            job_lines_add(lines, &job, name);
        } else {
            blocks++;
            heading(stdout, "---- job %s", safe(name));
            job_print(stdout, &job, all != 0);
        }
        free(name);
        job_report_free(&job);
    }
    if (!as_json && !as_csv && !all && list->count > blocks && blocks) putchar('\n');
    job_lines_end(lines, stdout);
    json_object *o = as_json || as_csv ? cmd_job_json_of_several() : NULL;
    if (!o) {
        json_object_put(found);
        return code;
    }
    json_put(o, "jobs", found);
    if (as_csv)
        findings_csv_print(stdout, o);
    else
        json_print(stdout, o);
    return code;
}

static int cmd_job_all(job_list *list, const char **paths, size_t count, const rules *set)
{
    char *names = job_list_names(list);
    int code = EXIT_DONE;
    if (job_id && !job_list_choose(list, job_id))
        code = fail(EXIT_FILE, "--job %s: no file is of this job; jobs: %s", safe(job_id), safe(names));
    free(names);
    if (code) return code;
    if (list->count > 1) return cmd_job_several(list, set);
    if (job_id) return cmd_job_one(list->items[0].paths, arrlenu(list->items[0].paths), set);
    return cmd_job_one(paths, count, set);
}

static int cmd_job_run(const char **paths, size_t count)
{
    rules set = {0};
    job_list list = {0};
    fail_on limit;
    if (!fail_on_parse(&limit, fail_on_text)) return EXIT_USAGE;
    if (as_json && as_csv) return fail_usage("--json and --csv exclude each other");
    if (!count) return fail_usage("expected recordings, or the directory that holds them");
    int code = inputs_rules(&set, rules_path);
    if (!code) job_list_read(&list, paths, count);
    if (!code) code = cmd_job_all(&list, paths, count, &set);
    int closed = output_close();
    if (!code) code = closed;
    if (!code && !judged) code = EXIT_NOTHING;
    if (!code) code = fail_on_code(&limit, worst, unjudged > 0);
    job_list_free(&list);
    rules_free(&set);
    return code;
}

const command command_job = {
    .name = "job",
    .summary = "what a job did on its nodes: use, energy, phases, and what went wrong when",
    .arguments = "FILE|DIRECTORY...",
    .text =
        "Reads the recordings of a job (netprof record, netprof run --interval), one or more for each node, puts them "
        "on\n"
        "one time axis and tells in a page how well CPUs, memory, GPUs, network and disks were used, how much energy\n"
        "that took, what each phase did, and what went wrong: from when to when, on which node, and what it cost the\n"
        "others. Of a directory every *.netprof is read, and phases from *.phases. Files of several jobs, or of "
        "several attempts\n"
        "of one, are told apart: a block each, a line for each task of an array.\n"
        "Where files of netprof run --mpi or --nccl lie beside them, it tells what of the NICs' bytes these explain: "
        "what\n"
        "ranks sent to other nodes. What stays within a node passes no NIC; headers, repeats, collectives of MPI "
        "(which way\n"
        "they go is not known) and other programs are in the rest.",
    .examples = "netprof job node.netprof\n"
                "netprof job . --fail-on critical\n"
                "netprof job node.netprof --phases job.phases --all\n"
                "netprof job node.netprof --json",
    .exits = "0 nothing as bad as --fail-on, 1 something is, 2 wrong usage, 3 no file could be used,\n"
             "4 nothing in them that could be judged, 5 what matters could not be judged.",
    .options = options,
    .run = cmd_job_run,
    .json = &as_json,
};

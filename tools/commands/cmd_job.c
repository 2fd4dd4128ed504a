// netprof job: what recordings say of a job, in a page of text.
#define _POSIX_C_SOURCE 200809L
#include "commands.h"
#include "cli/inputs.h"
#include "analysis/base/memory.h"
#include "analysis/job/job_report.h"
#include "commands/print/job_text.h"
#include "cli/options.h"
#include "cli/output.h"

#include <stdlib.h>
#include <string.h>

static int as_json, all, quiet;
static char *rules_path, *fail_on, *phases;

static const struct poptOption options[] = {
    {"phases", 0, POPT_ARG_STRING, &phases, 0, "phases of the job: lines TIME NAME, TIME in seconds since 1970",
     "FILE"},
    {"rules", 'r', POPT_ARG_STRING, &rules_path, 0, "more rules; one of the same name replaces a built-in one", "FILE"},
    {"fail-on", 0, POPT_ARG_STRING, &fail_on, 0, "exit with 1 for a finding this bad or worse (high)",
     "watch|warn|high|critical"},
    {"all", 'a', POPT_ARG_NONE, &all, 0, "every finding with its threshold and advice, and a line for each node", NULL},
    {"json", 0, POPT_ARG_NONE, &as_json, 0, "as JSON", NULL},
    {"quiet", 'q', POPT_ARG_NONE, &quiet, 0, "no progress on a terminal", NULL},
    POPT_TABLEEND,
};

static severity cmd_job_limit_wanted(void)
{
    severity limit = SEVERITY_HIGH;
    if (fail_on) severity_parse(fail_on, &limit);
    return limit;
}

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

static int cmd_job_run(const char **paths, size_t count)
{
    rules set = {0};
    job_report job = {0};
    netprof_error error;
    severity limit;
    if (fail_on && (!severity_parse(fail_on, &limit) || limit < SEVERITY_WATCH))
        return fail_usage("--fail-on: %s: expected watch, warn, high or critical", safe(fail_on));
    if (!count) return fail_usage("expected recordings, or the directory that holds them");
    int code = inputs_rules(&set, rules_path);
    const job_report_options how = {.rules = &set, .phases = phases, .progress = cmd_job_say_progress};
    if (!code && job_report_read(&job, paths, count, &how, &error)) {
        code = fail_error(NULL, &error);
    } else if (!code) {
        cmd_job_say_warnings(&job);
        if (as_json)
            json_print(stdout, memory_check(job_report_json(&job)));
        else
            job_print(stdout, &job, all != 0);
        code = output_close();
        if (!code && !job.use_count && !job.finding_count) code = EXIT_NOTHING;
        if (!code && job.severity >= cmd_job_limit_wanted()) code = EXIT_WORTH_FAILING;
    }
    job_report_free(&job);
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
        "others. Of a directory every *.netprof is read, and phases from *.phases.",
    .examples = "netprof job node.netprof\n"
                "netprof job . --fail-on critical\n"
                "netprof job node.netprof --phases job.phases --all\n"
                "netprof job node.netprof --json",
    .exits = "0 nothing as bad as --fail-on, 1 something is, 2 wrong usage, 3 no file could be used,\n"
             "4 nothing in them that could be judged.",
    .options = options,
    .run = cmd_job_run,
    .json = &as_json,
};

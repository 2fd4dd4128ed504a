// How the job and its commands ended, and which of its nodes nobody recorded: what seff says first.
#include "job_findings_make.h"
#include "job_finding.h"

#include "analysis/base/signals.h"
#include "analysis/base/text.h"
#include "analysis/base/words.h"
#include "analysis/job/job_nodelist.h"

#include <stdlib.h>
#include <string.h>

// ---- how it ended ----

static const char *job_end_fact(const job_report *r, const char *key)
{
    for (size_t i = 0; i < r->fact_count; i++)
        if (strcmp(r->facts[i].key, key) == 0) return r->facts[i].text;
    return NULL;
}

// Slurm's "EXIT:SIGNAL".
static void job_end_codes(const char *text, int *status, int *number)
{
    char *end;
    *status = (int)strtol(text, &end, 10);
    *number = *end == ':' ? (int)strtol(end + 1, NULL, 10) : 0;
}

// The state of the scheduler, then what the commands said, then at least why nobody knows.
static char *job_end_state(const job_report *r)
{
    const char *state = job_end_fact(r, "job_state"), *code = job_end_fact(r, "job_exit_code"),
               *by = job_end_fact(r, "ended_by");
    const job_reader *reader = r->reader;
    char *text = NULL;
    int status = 0, number = 0;
    if (state) {
        text_append(&text, "%s", state);
        if (code) job_end_codes(code, &status, &number);
        if (code) text_append(&text, ", exit code %d", status);
        if (number) text_append(&text, ", %s", signals_text(number).text);
    } else if (reader->ended_runs && reader->worst_signal) {
        text_append(&text, "the command was ended by %s", signals_text(reader->worst_signal).text);
    } else if (reader->ended_runs) {
        text_append(&text, "the command ended with exit status %d", reader->worst_status);
        if (!reader->worst_status && reader->ended_runs < r->files)
            text_append(&text, ", as %zu of %zu recordings %s", reader->ended_runs, r->files,
                        reader->ended_runs == 1 ? "says" : "say");
    } else {
        text_append(&text, "not known: no exit code was recorded%s%s", by ? "; the recording was ended by: " : "",
                    by ? by : "");
    }
    return text;
}

static severity job_end_severity(const char *state, int status, int number)
{
    static const struct {
        const char *state;
        severity how;
    } states[] = {{"OUT_OF_MEMORY", SEVERITY_CRITICAL}, {"NODE_FAIL", SEVERITY_CRITICAL},
                  {"BOOT_FAIL", SEVERITY_CRITICAL},     {"FAILED", SEVERITY_WARN},
                  {"TIMEOUT", SEVERITY_WARN},           {"DEADLINE", SEVERITY_WARN},
                  {"CANCELLED", SEVERITY_WATCH},        {"PREEMPTED", SEVERITY_WATCH}};
    for (size_t i = 0; state && i < sizeof states / sizeof *states; i++)
        if (strncmp(state, states[i].state, strlen(states[i].state)) == 0) return states[i].how;
    return status || number ? SEVERITY_WARN : SEVERITY_OK;
}

static void job_end_find_failure(job_report *r)
{
    const char *state = job_end_fact(r, "job_state"), *code = job_end_fact(r, "job_exit_code");
    int status = r->reader->worst_status, number = r->reader->worst_signal;
    if (code && !status && !number) job_end_codes(code, &status, &number);
    job_finding x = job_finding_blank;
    x.severity = job_end_severity(state, status, number);
    if (!x.severity) return;
    bool several = r->reader->ended_runs > 1;
    x.class_rank = rules_class_rank("command");
    x.rule = (char *)(uintptr_t) "job-failed";
    x.origin = (char *)(uintptr_t) "the scheduler's state, and exit codes";
    x.advice =
        (char *)(uintptr_t) "Read the job's own output first; what else was found may be the reason, or its effect";
    x.unit = (char *)(uintptr_t) "exit status";
    x.value = status;
    x.nodes = 1;
    x.node = r->reader->worst_ended;
    x.to_s = r->end_s;
    if (state && job_end_severity(state, 0, 0))
        text_append(&x.claim, "the job\u2019s state is %s", r->state);
    else if (number)
        text_append(&x.claim, "the command was ended by %s", signals_text(number).text);
    else
        text_append(&x.claim, "the command failed with exit status %d", status);
    if (several && x.node != JOB_NONE) text_append(&x.claim, " on %s", r->nodes[x.node].name);
    x.title = memory_strdup(x.claim);
    if (*x.title == 't') *x.title = 'T';
    job_add_finding(r, x);
}

// ---- nodes without a recording ----

static bool job_end_is_recorded(const job_report *r, const char *name)
{
    for (size_t i = 0; i < r->node_count; i++)
        if (text_same_host(r->nodes[i].name, name) || text_same_host(r->nodes[i].host, name)) return true;
    return false;
}

static void job_end_find_missing(job_report *r)
{
    enum { SHOWN = 3 };
    char **missing = NULL, **names = r->reader->given_nodes;
    size_t all = arrlenu(names);
    for (size_t i = 0; i < all; i++)
        if (!job_end_is_recorded(r, names[i])) arrput(missing, names[i]);
    size_t count = arrlenu(missing);
    // By number alone where the list is not known, or is not of these names.
    if (!all || count == all) {
        all = r->reader->given_count;
        arrsetlen(missing, 0);
        count = all > r->node_count ? all - r->node_count : 0;
    }
    r->given_nodes = all;
    if (count) {
        char *who = NULL;
        for (size_t i = 0; i < arrlenu(missing) && i < SHOWN; i++)
            text_append(&who, "%s%s", i ? ", " : "", missing[i]);
        if (who && count > SHOWN) text_append(&who, " and %zu more", count - SHOWN);
        if (!who) text_append(&who, "%s of the job", words_many(count, "node").text);
        job_finding x = job_finding_blank;
        x.severity = SEVERITY_UNKNOWN; // nothing is known of them, neither good nor bad
        x.class_rank = rules_class_rank("command");
        x.rule = (char *)(uintptr_t) "node-missing";
        x.origin = (char *)(uintptr_t) "the scheduler's list of nodes";
        x.advice = (char *)(uintptr_t) "See whether these nodes were down, or why no recorder ran there: nothing here "
                                       "is about them";
        x.unit = (char *)(uintptr_t) "nodes";
        x.value = (double)count;
        x.nodes = count;
        x.to_s = r->end_s;
        x.claim = memory_format("%s: no recording; %zu of %zu nodes %s recorded", who, all - count, all,
                                all - count == 1 ? "was" : "were");
        x.title = memory_format("%s: no recording, %zu of %zu nodes", who, all - count, all);
        free(who);
        job_add_finding(r, x);
    }
    arrfree(missing);
}

void job_find_end(job_report *r)
{
    r->state = job_end_state(r);
    job_end_find_failure(r);
    job_end_find_missing(r);
}

// The first questions: was the same work done, did it end well, and how much slower was it?
#include "compare_chance.h"
#include "comparer.h"

#include "analysis/base/signals.h"
#include "analysis/base/stb_ds.h"
#include "analysis/base/text.h"
#include "analysis/base/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double chance_limit = 0.01; // what chance does at most so often is a finding

// ---- what was done ----

static bool work_is_near(double ratio, double tolerance)
{
    return ratio > 1 - tolerance && ratio < 1 / (1 - tolerance);
}

// One figure of all runs, the healthy ones first; fills in the ranges of both sides.
static void work_measure(const comparison *c, double (*figure)(const comparison_run *), double *values,
                         comparison_range sides[COMPARISON_SIDES])
{
    double *sorted = memory_calloc(c->run_count, sizeof *sorted);
    for (int side = 0; side < COMPARISON_SIDES; side++) {
        size_t n = 0;
        for (size_t r = 0; r < c->run_count; r++)
            if (c->runs[r]->side == (comparison_side)side) sorted[n++] = values[r] = figure(c->runs[r]);
        sides[side] = comparison_range_of(sorted, n);
    }
    free(sorted);
}

static double work_seconds(const comparison_run *run)
{
    return run->elapsed_ns > 0 ? (double)run->elapsed_ns / 1e9 : NAN;
}

static double work_bytes(const comparison_run *run)
{
    return run->bytes;
}

static double work_packets(const comparison_run *run)
{
    return run->packets;
}

static double work_rate(const comparison_run *run)
{
    return run->bytes / work_seconds(run);
}

// ---- the commands ----

typedef enum work_command { WORK_NO_COMMAND, WORK_SAME_COMMAND, WORK_SAME_PROGRAM, WORK_OTHER_PROGRAM } work_command;

// The one command line of a side; NULL unknown. Runs of one side may differ in it: then the first.
static const char *work_command_of(const comparison *c, comparison_side side)
{
    for (size_t r = 0; r < c->run_count; r++)
        if (c->runs[r]->side == side) return c->runs[r]->command;
    return NULL;
}

static const char *work_program(const char *command, size_t *length)
{
    const char *from = command, *end = command + strcspn(command, " ");
    for (const char *at = command; at < end; at++)
        if (*at == '/') from = at + 1;
    *length = (size_t)(end - from);
    return from;
}

static work_command work_compare_commands(const comparison *c)
{
    const char *a = work_command_of(c, COMPARISON_HEALTHY), *b = work_command_of(c, COMPARISON_FAULTY);
    size_t m, n;
    if (!a || !b) return WORK_NO_COMMAND;
    if (strcmp(a, b) == 0) return WORK_SAME_COMMAND;
    const char *x = work_program(a, &m), *y = work_program(b, &n);
    return m == n && memcmp(x, y, m) == 0 ? WORK_SAME_PROGRAM : WORK_OTHER_PROGRAM;
}

// ---- the same? slower? ----

// Bytes are the work only where they are more than a node's own chatter.
static bool work_is_traffic(const comparison_work *w)
{
    static const double least = 1e6, least_per_s = 1e5;
    for (int side = 0; side < COMPARISON_SIDES; side++)
        if (w->bytes[side].median >= least && !(w->bytes_per_s[side].median < least_per_s)) return true;
    return false;
}

// By the ranks, where the runs are enough for them to tell anything; of fewer whose ranges do not meet, by how much they
// vary. Which of the two is not chosen by what they say: the smaller of both would be too small.
static void work_judge_chance(comparison *c, double *values)
{
    comparison_work *w = &c->work;
    size_t h = c->side_count[COMPARISON_HEALTHY], f = c->side_count[COMPARISON_FAULTY];
    bool meet = w->slower >= 1 ? w->gap < 1 : w->gap > 1;
    w->by_spread = !meet && 2 / c->splits > chance_limit;
    w->chance = w->by_spread ? chance_of_means(values, h, values + h, f)
                             : fmin(1, 2 * chance_of_ranks(values, h, values + h, f, w->slower >= 1 ? 1 : -1));
}

// Larger means slower: seconds, or seconds a byte. The logarithms, for the test of the means.
static void work_judge_slower(comparison *c, const double *slowness)
{
    comparison_work *w = &c->work;
    size_t h = c->side_count[COMPARISON_HEALTHY], f = c->side_count[COMPARISON_FAULTY];
    double *values = memory_calloc(c->run_count, sizeof *values);
    for (size_t r = 0; r < c->run_count; r++)
        values[r] = slowness[r];
    comparison_range healthy = comparison_range_of(values, h), faulty = comparison_range_of(values + h, f);
    w->slower = faulty.median / healthy.median;
    w->gap = w->slower >= 1 ? faulty.min / healthy.max : faulty.max / healthy.min;
    bool known = true;
    for (size_t r = 0; r < c->run_count; r++) {
        values[r] = log(slowness[r]);
        known = known && isfinite(values[r]);
    }
    if (known && c->run_count > 2) work_judge_chance(c, values);
    free(values);
}

static comparison_same work_find_same(const comparison_work *w, work_command command)
{
    if (work_is_traffic(w)) {
        double ratio = w->bytes[COMPARISON_FAULTY].median / w->bytes[COMPARISON_HEALTHY].median;
        if (isnan(ratio)) return COMPARISON_WORK_UNKNOWN;
        return work_is_near(ratio, 0.1) ? COMPARISON_WORK_SAME : COMPARISON_WORK_OTHER;
    }
    if (command == WORK_SAME_COMMAND) return COMPARISON_WORK_SAME;
    return command == WORK_NO_COMMAND ? COMPARISON_WORK_UNKNOWN : COMPARISON_WORK_OTHER;
}

static void work_count_failures(comparison *c)
{
    for (size_t r = 0; r < c->run_count; r++) {
        const comparison_run *run = c->runs[r];
        c->work.ended[run->side] += run->exit_status || run->signal;
        c->work.failed[run->side] += comparison_failed(run);
    }
}

void comparer_work(comparer *m)
{
    comparison *c = m->c;
    comparison_work *w = &c->work;
    double *values = memory_calloc(2 * c->run_count, sizeof *values), *seconds = values + c->run_count;
    w->slower = w->gap = w->chance = NAN;
    work_measure(c, work_bytes, values, w->bytes);
    work_measure(c, work_packets, values, w->packets);
    work_measure(c, work_seconds, seconds, w->seconds);
    work_measure(c, work_rate, values, w->bytes_per_s);
    work_count_failures(c);
    w->same = work_find_same(w, work_compare_commands(c));
    w->by_throughput = w->same == COMPARISON_WORK_OTHER && work_is_traffic(w);
    for (size_t r = 0; w->by_throughput && r < c->run_count; r++)
        seconds[r] = 1 / values[r];
    if (!w->failed[0] && !w->failed[1] && (w->by_throughput || w->same == COMPARISON_WORK_SAME))
        work_judge_slower(c, seconds);
    free(values);
}

// ---- how bad it is ----

static severity work_severity_of_gap(double gap)
{
    return gap >= 10 ? SEVERITY_HIGH : gap >= 4 ? SEVERITY_WARN : gap >= 2 ? SEVERITY_WATCH : SEVERITY_INFO;
}

// Of what takes milliseconds the machine decides how many.
static bool work_is_long(const comparison_work *w)
{
    static const double least_s = 0.1;
    double healthy = w->seconds[COMPARISON_HEALTHY].median, faulty = w->seconds[COMPARISON_FAULTY].median;
    return w->by_throughput ? faulty >= least_s : faulty - healthy >= least_s;
}

// One run a side says nothing of chance: only a large factor counts. With more, what chance gives at most once in 100.
severity comparer_speed_severity(const comparison *c)
{
    static const double least = 1.05;
    const comparison_work *w = &c->work;
    work_command command = work_compare_commands(c);
    if (!(w->slower >= least)) return SEVERITY_OK;
    if (!work_is_long(w)) return SEVERITY_INFO;
    severity s = work_severity_of_gap(w->gap);
    if (w->chance <= chance_limit) {
        severity by_chance = w->slower >= 2 ? SEVERITY_HIGH : w->slower >= 1.25 ? SEVERITY_WARN : SEVERITY_WATCH;
        if (by_chance > s) s = by_chance;
    }
    // Another program does other work; without commands nobody knows whether less was to be done where less was moved.
    bool less = w->by_throughput && w->bytes[COMPARISON_FAULTY].median < w->bytes[COMPARISON_HEALTHY].median;
    if (command == WORK_OTHER_PROGRAM && s > SEVERITY_WATCH) s = SEVERITY_WATCH;
    if (command == WORK_NO_COMMAND && less) s = w->slower >= 2 ? SEVERITY_UNKNOWN : SEVERITY_INFO;
    return s;
}

// ---- words ----

static words_text work_factor(double factor)
{
    return factor >= 10 ? words_count(factor) : words_number(factor);
}

// Whether the runs' ranges meet, and what chance does; with one run a side what that cannot say.
static void work_append_chance(const comparison *c, char **text)
{
    const comparison_work *w = &c->work;
    bool meet = w->slower >= 1 ? w->gap < 1 : w->gap > 1;
    if (c->run_count == 2) {
        text_append(text, "; one run on each side: how much runs vary is not known");
        return;
    }
    text_append(text, meet ? "; the ranges of the two sides meet" : "; the ranges do not meet");
    if (isnan(w->chance)) return;
    const words_text often = w->by_spread ? comparer_spread_text(w->chance) : comparer_splits_text(c, w->chance);
    text_append(text, ": so far apart by chance in %s", often.text);
}

static void work_append_packets(const comparison_work *w, char **text)
{
    double ratio = w->packets[COMPARISON_FAULTY].median / w->packets[COMPARISON_HEALTHY].median;
    if (ratio > 0 && isfinite(ratio) && !work_is_near(ratio, 0.2))
        text_append(text, ", in %s times the packets", words_number(ratio).text);
}

static void work_append_bytes_same(const comparison *c, char **text)
{
    const comparison_work *w = &c->work;
    if (work_is_traffic(w)) {
        text_append(text, "%s moved on both sides", comparer_bytes_text(w->bytes[COMPARISON_FAULTY].median).text);
        work_append_packets(w, text);
    } else {
        text_append(text, "the same command, next to no traffic");
    }
}

static void work_say_same(comparison *c)
{
    const comparison_work *w = &c->work;
    severity s = comparer_speed_severity(c);
    char *text = NULL;
    bool timed = !isnan(w->slower), near = timed && work_is_near(w->slower, 0.05);
    double cost = timed ? w->seconds[COMPARISON_FAULTY].median - w->seconds[COMPARISON_HEALTHY].median : NAN;
    if (!timed)
        text_append(&text, "Same work: ");
    else if (near)
        text_append(&text, "Same work in the same time: ");
    else if (w->slower > 1)
        text_append(&text, "%s times slower for the same work: ", work_factor(w->slower).text);
    else
        text_append(&text, "%s times faster for the same work: ", work_factor(1 / w->slower).text);
    work_append_bytes_same(c, &text);
    if (timed) text_append(&text, near ? " in " : ", in ");
    if (timed && near) comparer_append_range(&text, &w->seconds[COMPARISON_FAULTY], words_duration);
    if (timed && !near) comparer_append_instead(&text, w->seconds, words_duration);
    if (timed && w->slower > 1 && !near) work_append_chance(c, &text);
    comparer_say(c, s ? s : SEVERITY_INFO, s ? COMPARISON_OF_SPEED : COMPARISON_OF_CONTEXT, "duration", DIFFERENCE_NONE,
                 text);
    if (s) c->sentences[c->sentence_count - 1].cost_s = cost;
    if (!timed)
        c->work.headline = memory_strdup("same work");
    else if (near)
        c->work.headline = memory_strdup("same work in the same time");
    else
        c->work.headline =
            memory_format("%s times %s for the same work", work_factor(fmax(w->slower, 1 / w->slower)).text,
                          w->slower > 1 ? "slower" : "faster");
}

// "not the same work": what was moved, and what can be judged all the same.
static void work_say_other(comparison *c)
{
    const comparison_work *w = &c->work;
    work_command command = work_compare_commands(c);
    severity s = comparer_speed_severity(c);
    char *text = NULL;
    // More may be the same work, with what was sent again.
    bool more = w->by_throughput && w->bytes[COMPARISON_FAULTY].median > w->bytes[COMPARISON_HEALTHY].median;
    text_append(&text, more ? "More was moved: " : "Not the same work: ");
    if (!w->by_throughput) {
        text_append(&text, command == WORK_OTHER_PROGRAM ? "another program, and next to no traffic on both sides"
                                                         : "another command, and next to no traffic on both sides");
        comparer_say(c, SEVERITY_INFO, COMPARISON_OF_CONTEXT, "duration", DIFFERENCE_NONE, text);
        c->work.headline = memory_strdup("not the same work");
        return;
    }
    comparer_append_instead(&text, w->bytes, comparer_bytes_text);
    if (command == WORK_OTHER_PROGRAM) text_append(&text, ", by another program");
    if (!isnan(w->slower)) {
        text_append(&text, "; throughput %s times: ", words_number(1 / w->slower).text);
        comparer_append_instead(&text, w->bytes_per_s, comparer_rate_text);
        if (w->slower > 1.05) work_append_chance(c, &text);
        if (s == SEVERITY_UNKNOWN)
            text_append(&text, "; whether less was to be done cannot be told without the command");
    }
    comparer_say(c, s ? s : SEVERITY_INFO, s ? COMPARISON_OF_SPEED : COMPARISON_OF_CONTEXT, "throughput",
                 DIFFERENCE_NONE, text);
    c->work.headline = isnan(w->slower) ? memory_strdup(more ? "more was moved" : "not the same work")
                                        : memory_format("%s: %s instead of %s, throughput %s times",
                                                        more ? "more was moved" : "not the same work",
                                                        comparer_bytes_text(w->bytes[COMPARISON_FAULTY].median).text,
                                                        comparer_bytes_text(w->bytes[COMPARISON_HEALTHY].median).text,
                                                        words_number(1 / w->slower).text);
}

// "exit status 1", "signal 11, segmentation fault".
static void work_append_end(const comparison *c, char **text, comparison_side side)
{
    for (size_t r = 0; r < c->run_count; r++) {
        const comparison_run *run = c->runs[r];
        if (run->side != side || !comparison_failed(run)) continue;
        const char *words = run->signal ? signals_words(atoi(run->signal)) : NULL;
        text_append(text, run->signal ? "signal %.20s" : "exit status %.20s",
                    run->signal ? run->signal : run->exit_status);
        if (words) text_append(text, ", %s", words);
        return;
    }
}

static void work_append_failed(const comparison *c, char **text, comparison_side side)
{
    const comparison_work *w = &c->work;
    if (c->side_count[side] == 1)
        text_append(text, "the %s run failed (", comparison_side_name(side));
    else
        text_append(text,
                    w->ended[side] == c->side_count[side] ? "%zu of %zu %s runs failed ("
                                                          : "%zu of the %zu %s runs that say how they ended failed (",
                    w->failed[side], w->ended[side], comparison_side_name(side));
    work_append_end(c, text, side);
    text_append(text, ")");
}

// Of a side without a run that failed: only what is known.
static void work_append_did_not(const comparison *c, char **text, comparison_side side)
{
    size_t ended = c->work.ended[side], all = c->side_count[side];
    const char *name = comparison_side_name(side);
    if (ended == all)
        text_append(text, ", the %s %s did not", name, all == 1 ? "one" : "ones");
    else if (ended)
        text_append(text, ", %zu of %zu %s ones did not; how the others ended is not known", ended, all, name);
}

static void work_say_outcome(comparison *c)
{
    const comparison_work *w = &c->work;
    size_t h = w->failed[COMPARISON_HEALTHY], f = w->failed[COMPARISON_FAULTY];
    char *text = NULL;
    severity s = SEVERITY_UNKNOWN; // where both failed, and where the healthy side did, the work cannot be compared
    if (!h && !f) return;
    if (f && !h) {
        s = 2 * f > w->ended[COMPARISON_FAULTY] ? SEVERITY_HIGH : SEVERITY_WATCH;
        work_append_failed(c, &text, COMPARISON_FAULTY);
        work_append_did_not(c, &text, COMPARISON_HEALTHY);
    } else if (f && h) {
        text_append(&text, "on both sides the command failed: ");
        work_append_failed(c, &text, COMPARISON_FAULTY);
        text_append(&text, ", ");
        work_append_failed(c, &text, COMPARISON_HEALTHY);
    } else {
        work_append_failed(c, &text, COMPARISON_HEALTHY);
        work_append_did_not(c, &text, COMPARISON_FAULTY);
    }
    text_capital(text);
    comparer_say(c, s, COMPARISON_OF_OUTCOME, "exit-status", DIFFERENCE_NONE, text);
}

void comparer_say_work(comparison *c)
{
    work_say_outcome(c);
    if (c->work.failed[0] || c->work.failed[1]) return;
    if (c->work.same == COMPARISON_WORK_UNKNOWN && comparison_compared(c))
        comparer_say(
            c, SEVERITY_INFO, COMPARISON_OF_CONTEXT, "duration", DIFFERENCE_NONE,
            memory_strdup("Whether it was the same work is not known: next to no traffic, and the files do not "
                          "name the commands"));
    if (c->work.same == COMPARISON_WORK_SAME) work_say_same(c);
    if (c->work.same == COMPARISON_WORK_OTHER) work_say_other(c);
}

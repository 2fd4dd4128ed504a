// Which processes belong together: children of a rank are no ranks, files of several runs that lie in one place are no job.
// And how each ended.
#include "regions_store.h"

#include "analysis/base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GAP_NS = 500000 }; // clocks of two processes of a host differ by less

// ---- children ----

static bool regions_is_parent(const regions_rank *parent, const regions_rank *of)
{
    return parent->pid == of->parent_pid && parent->host == of->host && of->parent_start >= 0 &&
           parent->start == of->parent_start;
}

// The process that another one comes from, by its own account; or REGIONS_NONE.
static size_t regions_parent(const regions *r, regions_index *by_pid, const regions_rank *of)
{
    ptrdiff_t at = hmgeti(by_pid, map_key_of_pair((int64_t)of->host, of->parent_pid));
    if (at < 0 || of->parent_pid < 0) return REGIONS_NONE;
    size_t parent = by_pid[at].value;
    return regions_is_parent(&r->ranks[parent], of) ? parent : REGIONS_NONE;
}

// A launcher that has regions itself starts ranks, which have numbers of their own.
static void regions_tell_children(regions *r)
{
    regions_index *by_pid = NULL;
    for (size_t i = 0; i < r->rank_count; i++)
        if (r->ranks[i].pid >= 0) hmput(by_pid, map_key_of_pair((int64_t)r->ranks[i].host, r->ranks[i].pid), i);
    for (size_t i = 0; i < r->rank_count; i++) {
        regions_rank *x = &r->ranks[i];
        size_t parent = by_pid ? regions_parent(r, by_pid, x) : REGIONS_NONE;
        x->child = parent != REGIONS_NONE ? x->number < 0 || x->number == r->ranks[parent].number : x->forked;
        r->children += x->child;
    }
    hmfree(by_pid);
}

// ---- runs ----

typedef struct regions_life {
    int64_t begin, end;
    const char *name; // of the run
    size_t rank;
} regions_life;

static int regions_compare_lives(const void *a, const void *b)
{
    const regions_life *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    if (order) return order;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

// A rank that was there before, or on a host that was there before a process without a rank: other ranks may be those of
// another host, whose clock differs.
static bool regions_seen_before(const regions *r, const regions_life *lives, size_t from, size_t until, size_t first)
{
    for (size_t i = from; i < until; i++)
        for (size_t k = first; k < from; k++) {
            const regions_rank *x = &r->ranks[lives[i].rank], *y = &r->ranks[lives[k].rank];
            if (x->child || y->child) continue;
            if (x->number == y->number && (x->number >= 0 || x->host == y->host)) return true;
        }
    return false;
}

// The processes of lives[first..end) have the same name of a run, or none: what began after the end of all others, with
// ranks that were there before, is another run. Runs are numbered from `run` on; returns the next number.
static size_t regions_split_by_time(regions *r, const regions_life *lives, size_t first, size_t end, size_t run)
{
    int64_t until = lives[first].end;
    size_t from = first;
    for (size_t i = first + 1; i <= end; i++) {
        bool apart = i < end && lives[i].begin > until && lives[i].begin - until > GAP_NS;
        if (i == end || apart) {
            if (from > first && regions_seen_before(r, lives, from, i, first)) run++;
            for (size_t k = from; k < i; k++)
                r->ranks[lives[k].rank].run = run;
            from = i;
        }
        if (i < end && lives[i].end > until) until = lives[i].end;
    }
    return run + 1;
}

typedef struct regions_run {
    int64_t begin;
    size_t number;
} regions_run;

static int regions_compare_runs(const void *a, const void *b)
{
    const regions_run *x = a, *y = b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

// The newest last.
static void regions_sort_runs(regions *r)
{
    regions_run *runs = NULL;
    size_t *place = memory_array(NULL, r->runs, sizeof *place);
    for (size_t i = 0; i < r->runs; i++)
        arrput(runs, ((regions_run){INT64_MAX, i}));
    for (size_t i = 0; i < r->rank_count; i++)
        if (r->ranks[i].wall_ns < runs[r->ranks[i].run].begin) runs[r->ranks[i].run].begin = r->ranks[i].wall_ns;
    qsort(runs, r->runs, sizeof *runs, regions_compare_runs);
    for (size_t i = 0; i < r->runs; i++)
        place[runs[i].number] = i;
    for (size_t i = 0; i < r->rank_count; i++)
        r->ranks[i].run = place[r->ranks[i].run];
    arrfree(runs);
    free(place);
}

void regions_tell_runs(regions *r)
{
    regions_life *lives = NULL;
    r->runs = 0;
    regions_tell_children(r);
    for (size_t i = 0; i < r->rank_count; i++) {
        const regions_rank *x = &r->ranks[i];
        int64_t end;
        if (x->wall_ns > 0 && x->elapsed_ns >= 0 && !__builtin_add_overflow(x->wall_ns, x->elapsed_ns, &end))
            arrput(lives, ((regions_life){x->wall_ns, end, x->run_name, i}));
    }
    size_t n = arrlenu(lives);
    if (n) qsort(lives, n, sizeof *lives, regions_compare_lives);
    for (size_t i = 0, first = 0; i < n; i++)
        if (i + 1 == n || strcmp(lives[i + 1].name, lives[first].name) != 0) {
            r->runs = regions_split_by_time(r, lives, first, i + 1, r->runs);
            first = i + 1;
        }
    if (!r->runs) r->runs = 1;
    regions_sort_runs(r);
    arrfree(lives);
}

// ---- one run of several ----

const char **regions_files_of_run(const regions *r, size_t run)
{
    const char **files = NULL;
    regions_index *seen = NULL;
    for (size_t i = 0; i < r->rank_count; i++) {
        map_key key = map_key_of_name(0, r->ranks[i].path);
        if (r->ranks[i].run != run || hmgeti(seen, key) >= 0) continue;
        hmput(seen, key, i);
        arrput(files, r->ranks[i].path);
    }
    hmfree(seen);
    return files;
}

void regions_choose_run(regions *r, const regions *of, size_t run)
{
    for (size_t i = 0; i < of->rank_count; i++)
        if (of->ranks[i].run == run)
            hmput(r->store->chosen, map_key_of_pair(of->ranks[i].wall_ns, of->ranks[i].pid), i);
}

bool regions_is_chosen(const regions *r, int64_t wall_ns, long pid)
{
    return !r->store->chosen || hmgeti(r->store->chosen, map_key_of_pair(wall_ns, pid)) >= 0;
}

// ---- what is said ----

void regions_say_runs(regions *r)
{
    size_t last = 0;
    if (r->runs < 2) return;
    for (size_t i = 0; i < r->rank_count; i++)
        last += r->ranks[i].run == r->runs - 1;
    regions_say(r, SEVERITY_WATCH, REGIONS_NONE, REGIONS_NONE,
                memory_format("Files of %zu runs: not compared", r->runs),
                "The files are of %zu runs: their ranks are not compared; the last run has %s. Name its files alone, "
                "or give each run a directory",
                r->runs, words_many(last, "file").text);
}

// Did the process go on after its file was written, and never write it again? A file of MPI alone may be older than that
// it says so.
bool regions_ran_on(const regions_rank *rank)
{
    if (*rank->end) return strcmp(rank->end, "no") == 0;
    return rank->from_series || (rank->blocks.began_ns && !rank->ended);
}

void regions_say_not_ended(regions *r)
{
    size_t count = 0, aborted = 0;
    int64_t last = 0;
    if (r->runs > 1) return;
    for (size_t i = 0; i < r->rank_count; i++) {
        const regions_rank *x = &r->ranks[i];
        aborted += strcmp(x->end, "MPI_Abort") == 0;
        if (!regions_ran_on(x)) continue;
        count++;
        int64_t end = sum_capped_signed(x->wall_ns, x->elapsed_ns);
        if (x->wall_ns > 0 && end > last) last = end;
    }
    const char *who = r->children || r->rank_count == 1 ? "process|processes" : "rank";
    if (aborted)
        regions_say(r, SEVERITY_WATCH, REGIONS_NONE, REGIONS_NONE,
                    memory_format("%s called MPI_Abort", words_many(aborted, who).text),
                    "%s called MPI_Abort, which ends all ranks", words_many(aborted, who).text);
    if (!count) return;
    bool one = count == 1;
    char of[48] = "The ";
    if (r->rank_count > 1) snprintf(of, sizeof of, "%zu of %zu ", count, r->rank_count);
    regions_say(
        r, SEVERITY_WATCH, REGIONS_NONE, REGIONS_NONE,
        memory_format("%s%s did not end normally, or %s", of, words_noun(r->rank_count, who).text,
                      one ? "still runs" : "still run"),
        "%s%s did not end normally (%s killed, or ended by _exit() or exec), or %s: what %s did is known up to the "
        "last writing of %s, at %s",
        of, words_noun(r->rank_count, who).text, one ? "it was" : "they were", one ? "still runs" : "still run",
        one ? "it" : "they", one ? "its file" : "their files", words_time(last).text);
}

void regions_say_children(regions *r)
{
    size_t sampled = 0;
    for (size_t i = 0; i < r->rank_count; i++)
        sampled += r->ranks[i].from_series;
    if (r->children && r->runs == 1)
        regions_say(r, SEVERITY_INFO, REGIONS_NONE, REGIONS_NONE, NULL,
                    "%s of the %zu processes %s by another one: %s not compared as %s",
                    words_count((double)r->children).text, r->rank_count,
                    r->children == 1 ? "was started" : "were started", r->children == 1 ? "it is" : "they are",
                    r->children == 1 ? "a rank" : "ranks");
    if (sampled)
        regions_say(
            r, SEVERITY_INFO, REGIONS_NONE, REGIONS_NONE, NULL,
            "Of %s only the samples over time are there (NETPROF_SERIES): calls, times and bytes up to the last "
            "sample",
            words_many(sampled, "process|processes").text);
}

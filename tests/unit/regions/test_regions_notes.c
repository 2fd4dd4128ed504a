// What is said of how good the data of regions are: a situation each, and the sentences that it must and must not have.
#define _GNU_SOURCE
#include "netprof.h"

#include "analysis/regions/regions.h"
#include "support.h"

#include "regions_job.h"

enum { RANKS = 4, FACTS = 4 };

// Four ranks of a second in main and a quarter in main/step, all alike but for what a situation changes of rank 2 (and 3).
typedef struct situation {
    const char *what;
    void (*change)(job_rank *r);
    netprof_fact facts[RANKS][FACTS]; // of each rank; NULL ends them
    const char *said, *not_said;      // parts of sentences; not_said: NULL: any
    severity at;
} situation;

static void nothing(job_rank *r)
{
    (void)r;
}

static void one_end_wrong(job_rank *r)
{
    r->mismatched = r->rank == 2;
    if (r->rank == 2) r->warning = "end of a, b is open";
}

static void ends_wrong_on_two(job_rank *r)
{
    r->mismatched = r->rank >= 2 ? 2 : 0;
}

static void says_something(job_rank *r)
{
    if (r->rank == 1) r->warning = "NETPROF=fats is not understood";
}

static void five_dropped(job_rank *r)
{
    r->dropped = r->rank == 2 ? 5 : 0;
}

static void dropped_on_two(job_rank *r)
{
    r->dropped = r->rank == 2 ? 5 : r->rank == 3 ? 1 : 0;
}

static void one_aborted(job_rank *r)
{
    if (r->rank == 2) job_find(r, 0, "main/step")->aborted = 1;
}

static void three_aborted(job_rank *r)
{
    if (r->rank == 2) job_find(r, 0, "main/step")->aborted = 2;
    if (r->rank == 3) job_find(r, 0, "main/step")->aborted = 1;
}

static void open_on_two(job_rank *r)
{
    if (r->rank >= 2) job_find(r, 0, "main/step")->open = 1;
}

static void open_outside(job_rank *r)
{
    if (r->rank == 2) job_find(r, 0, "main")->open = 1;
    if (r->rank == 2) job_find(r, 0, "main/step")->open = 1;
}

static void other_job(job_rank *r)
{
    if (r->rank == 3) r->job = "78";
}

static void other_version(job_rank *r)
{
    if (r->rank == 3) r->version = "0.0.1";
}

static void costly_pairs(job_rank *r)
{
    r->overhead_ps = 150000000000ull; // 0.15 s each of two calls in 1 s
}

static void cheap_pairs(job_rank *r)
{
    r->overhead_ps = 45000000000ull; // 0.045 s each
}

static void astray(job_rank *r)
{
    for (uint32_t thread = 1; thread <= 2 && r->rank < 2; thread++)
        job_call(r, thread, "step", 100000000);
}

static void half_missing(job_rank *r)
{
    r->rank_count = 6;
}

// Spans beside main: `calls` of a tenth of a second, of which the program waited so long for so many.
static void transfers(job_rank *r, const char *name, size_t calls, uint64_t waits, uint64_t waited_ns)
{
    job_calls(r, 0, name, calls, 100000000);
    job_node *n = job_find(r, 0, name);
    n->span = true;
    n->waits = waits;
    n->waited_ns = waited_ns;
}

static void spans_waited_for(job_rank *r)
{
    transfers(r, "isend", 2, 2, 50000000);
    transfers(r, "ireceive", 2, 2, 40000000);
}

static void one_span_waited_for(job_rank *r)
{
    transfers(r, "isend", 2, 1, 90000000); // of one of the two it is not known
    transfers(r, "ireceive", 2, 2, 40000000);
    transfers(r, "prefetch", 2, 0, 0);
}

static void spans_not_waited_for(job_rank *r)
{
    transfers(r, "isend", 2, 1, 90000000);
    transfers(r, "prefetch", 2, 0, 0);
}

#define END(text)                                                                                                      \
    {                                                                                                                  \
        "ended", text                                                                                                  \
    }

static const situation situations[] = {
    {"nothing",
     nothing,
     {{{0}}},
     "",
     "not of the innermost|could not be counted|was still open|The files are of several|ended from",
     SEVERITY_OK},
    {"a wrong end",
     one_end_wrong,
     {{{0}}},
     "1 end was not of the innermost region; the first: end of a, b is open",
     "A process said",
     SEVERITY_WATCH},
    {"wrong ends", ends_wrong_on_two, {{{0}}}, "4 ends were not of the innermost region", "the first:", SEVERITY_WATCH},
    {"a warning",
     says_something,
     {{{0}}},
     "A process said: NETPROF=fats is not understood",
     "innermost",
     SEVERITY_WATCH},
    {"dropped, of an old file",
     five_dropped,
     {{{0}}},
     "5 begins could not be counted: too deep, too many regions, no memory, or in a signal handler",
     NULL,
     SEVERITY_WATCH},
    {"dropped in a handler",
     five_dropped,
     {{{0}}, {{0}}, {END("yes"), {"dropped_in_handler", "5"}}},
     "5 begins could not be counted: 5 in a signal handler that interrupted another call of netprof",
     "too deep|memory",
     SEVERITY_WATCH},
    {"dropped for three reasons",
     dropped_on_two,
     {{{0}}, {{0}}, {END("yes"), {"dropped_in_handler", "1"}, {"dropped_too_deep", "2"}}, {END("yes")}},
     "6 begins could not be counted: 1 in a signal handler that interrupted another call of netprof, 2 too deep in "
     "other "
     "regions, 3 for want of memory, or with too many names",
     NULL,
     SEVERITY_WATCH},
    {"dropped too deep alone",
     five_dropped,
     {{{0}}, {{0}}, {END("yes"), {"dropped_too_deep", "5"}}},
     "5 begins could not be counted: 5 too deep in other regions",
     "handler|memory",
     SEVERITY_WATCH},
    {"dropped, one tells no reason",
     dropped_on_two,
     {{{0}}, {{0}}, {END("yes"), {"dropped_too_deep", "5"}}},
     "6 begins could not be counted: too deep, too many regions, no memory, or in a signal handler",
     NULL,
     SEVERITY_WATCH},
    {"aborted once",
     one_aborted,
     {{{0}}},
     "1 call was ended from outside, by the end of a thread or of a region around: first in step",
     NULL,
     SEVERITY_INFO},
    {"aborted", three_aborted, {{{0}}}, "3 calls were ended from outside", NULL, SEVERITY_INFO},
    {"open, of old files",
     open_on_two,
     {{{0}}},
     "step was open on 2 ranks when the file was written: its time is at least",
     "main was",
     SEVERITY_INFO},
    {"open",
     open_on_two,
     {{{0}}, {{0}}, {END("yes")}, {END("yes")}},
     "step was still open on 2 ranks when the file was written: its time is that up to then",
     NULL,
     SEVERITY_INFO},
    {"open outside", open_outside, {{{0}}}, "main was open on 1 rank when", "step was open", SEVERITY_INFO},
    {"several jobs", other_job, {{{0}}}, "The files are of several jobs", "versions", SEVERITY_WATCH},
    {"several versions",
     other_version,
     {{{0}}},
     "The files are of several versions of netprof.h",
     "jobs",
     SEVERITY_INFO},
    {"MPI_Abort",
     nothing,
     {{{0}}, {END("MPI_Abort")}},
     "1 rank called MPI_Abort, which ends all ranks",
     NULL,
     SEVERITY_WATCH},
    {"killed", nothing, {{{0}}, {END("no")}}, "1 of 4 ranks did not end normally (it was killed", NULL, SEVERITY_WATCH},
    {"children",
     nothing,
     {{{"process_start", "10"}}, {{"parent_pid", "1000"}, {"parent_start", "10"}, {"forked", "yes"}}},
     "1 of the 4 processes was started by another one: it is not compared as a rank",
     NULL,
     SEVERITY_INFO},
    {"a child of an earlier process of that number",
     nothing,
     {{{"process_start", "11"}}, {{"parent_pid", "1000"}, {"parent_start", "10"}}},
     "",
     "started by another",
     SEVERITY_OK},
    {"costly", costly_pairs, {{{0}}}, " of the time", NULL, SEVERITY_WATCH},
    {"cheap", cheap_pairs, {{{0}}}, "", "measuring itself|NETPROF_EVERY", SEVERITY_OK},
    {"astray",
     astray,
     {{{0}}},
     "step is within main in one thread and at the top level in others: NETPROF_ADOPT",
     NULL,
     SEVERITY_INFO},
    {"spans that were waited for",
     spans_waited_for,
     {{{0}}},
     "isend: 75 % of the time of its 8 spans overlapped with other work, 25 % was waited for (200 ms); other "
     "spans were waited for less",
     "ireceive:",
     SEVERITY_INFO},
    {"one span of which all waits are known",
     one_span_waited_for,
     {{{0}}},
     "ireceive: 80 % of the time of its 8 spans overlapped with other work, 20 % was waited for (160 ms)",
     "isend:|prefetch:|other spans",
     SEVERITY_INFO},
    {"spans whose waits are not known", spans_not_waited_for, {{{0}}}, "", "overlapped", SEVERITY_OK},
    {"ranks missing",
     half_missing,
     {{{0}}},
     "2 of 6 ranks left no file: 4, 5; so who was late cannot be told",
     NULL,
     SEVERITY_WATCH},
};

static bool is_of_child(const netprof_fact *facts)
{
    for (size_t i = 0; i < FACTS && facts[i].key; i++)
        if (strcmp(facts[i].key, "parent_pid") == 0) return true;
    return false;
}

static void write_job(const char *tree, const situation *x)
{
    static job_rank r;
    for (long rank = 0; rank < RANKS; rank++) {
        size_t count = 0;
        job_begin(&r, rank, rank < 2 ? "h1" : "h2");
        r.rank_count = RANKS;
        job_call(&r, 0, "main", 1000000000);
        job_call(&r, 0, "main/step", 250000000);
        if (is_of_child(x->facts[rank])) r.rank = -1; // it has no number of its own
        x->change(&r);
        while (count < FACTS && x->facts[rank][count].key)
            count++;
        job_write_with(&r, tree, x->facts[rank], count);
    }
}

static const regions_note *note_of(const regions *r, const char *part)
{
    for (size_t i = 0; i < r->note_count; i++)
        if (strstr(r->notes[i].text, part)) return &r->notes[i];
    return NULL;
}

static void print_notes(const regions *r, const char *of)
{
    print_message("%s:\n", of);
    for (size_t i = 0; i < r->note_count; i++)
        print_message("    %d %s\n", (int)r->notes[i].severity, r->notes[i].text);
}

static void sentences_of_situations(void **state)
{
    size_t wrong = 0;
    (void)state;
    for (size_t i = 0; i < COUNT(situations); i++) {
        const situation *x = &situations[i];
        char *tree = tree_make(), unwanted[200];
        const char *path = tree;
        regions r = {0};
        netprof_error error = {.code = NETPROF_OK};
        write_job(tree, x);
        if (regions_read(&r, &path, 1, NULL, &error)) fail_msg("%s: %s", x->what, error.text);
        const regions_note *note = note_of(&r, x->said);
        bool right = note && (!*x->said || note->severity == x->at);
        snprintf(unwanted, sizeof unwanted, "%s", x->not_said ? x->not_said : "");
        for (char *rest = unwanted, *word; (word = strtok_r(rest, "|", &rest));)
            right &= !note_of(&r, word);
        if (!right) print_notes(&r, x->what);
        wrong += !right;
        for (size_t k = 1; k < r.note_count; k++) // the worst first
            assert_true(r.notes[k].severity <= r.notes[k - 1].severity);
        assert_int_equal(r.severity, r.notes[0].severity);
        assert_true(r.title && *r.title);
        regions_free(&r);
        tree_remove(tree);
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sentences_of_situations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

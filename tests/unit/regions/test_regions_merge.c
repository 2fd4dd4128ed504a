// Joining region files: what comes out is what arithmetic on the single calls says.
#define _GNU_SOURCE
#include "netprof.h"
#include "support.h"

#include "builtin_rules.h"
#include "analysis/regions/regions.h"
#include "analysis/regions/regions_store.h"
#include "regions_job.h"
#include "analysis/data/traffic.h"

#include <math.h>

static job_rank rank_; // large

static regions read_paths(const char *const *paths, size_t count, int threads)
{
    regions r = {0};
    netprof_error error = {.code = NETPROF_OK};
    regions_options options = {.rules = &built_in, .threads = threads};
    if (regions_read(&r, paths, count, &options, &error)) fail_msg("%s: %s", error.path, error.text);
    return r;
}

static regions read_tree(const char *tree)
{
    return read_paths(&tree, 1, 2);
}

// A damaged file may name counters that its schema does not have: nothing is kept of it.
static void counters_that_are_not_there(void **state)
{
    const struct {
        uint32_t counters[3];
        bool good;
    } rows[] = {{{0, 1, 2}, true}, {{0, 2, 3}, true}, {{0, 1, 4}, false}, {{4, 5, 6}, false}};
    netprof_list *list = netprof_build_begin(NULL);
    const netprof_schema *schema = NULL;
    (void)state;
    netprof_build_source(list, "cxi");
    for (int d = 0; d < 2; d++) {
        netprof_list_device(list, d ? "cxi1" : "cxi0", 0, NETPROF_DEVICE_PHYSICAL);
        netprof_list_counter(list, &(netprof_counter){.name = "rx", .unit = "bytes", .width = 56});
        netprof_list_counter(list, &(netprof_counter){.name = "tx", .unit = "bytes", .width = 56});
    }
    assert_int_equal(netprof_build_end(list, &schema, NULL), NETPROF_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        netprof_regions from = NETPROF_ZERO;
        regions_view view = {0};
        from.schema = schema;
        from.counters = rows[i].counters;
        from.counter_count = 3;
        if (regions_view_make(&view, &from) != rows[i].good) fail_msg("row %zu", i);
        assert_int_equal(view.schema != NULL, rows[i].good);
        if (rows[i].good) assert_int_equal(view.schema->counter_count, 3);
        netprof_schema_release(view.schema);
    }
    netprof_schema_release(schema);
}

static const regions_node *node_at(const regions *r, const char *path)
{
    size_t i = regions_find(r, path);
    if (i == REGIONS_NONE) fail_msg("no node %s", path);
    return &r->nodes[i];
}

static void assert_near(double a, double b)
{
    if (!(fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b)))) fail_msg("%.17g is not %.17g", a, b);
}

// ---- times ----

// Two ranks, the second with two threads: every figure from the seven calls of "main/work".
static void threads_and_ranks_are_one_node(void **state)
{
    static const uint64_t calls[] = {100, 250, 50, 400, 90, 3000, 7};
    char *tree = tree_make();
    job_begin(&rank_, 0, "h1");
    job_call(&rank_, 0, "main", 1000);
    job_call(&rank_, 0, "main/work", calls[0]);
    job_call(&rank_, 0, "main/work", calls[1]);
    job_bytes(&rank_, 0, "main/work", 11);
    job_bytes(&rank_, 0, "main", 1);
    job_write(&rank_, tree);
    job_begin(&rank_, 1, "h2");
    job_call(&rank_, 0, "main", 2000);
    for (size_t i = 2; i < 5; i++)
        job_call(&rank_, 0, "main/work", calls[i]);
    job_call(&rank_, 1, "main", 5000);
    for (size_t i = 5; i < 7; i++)
        job_call(&rank_, 1, "main/work", calls[i]);
    job_bytes(&rank_, 1, "main/work", 22);
    job_write(&rank_, tree);

    regions r = read_tree(tree);
    assert_int_equal(r.rank_count, 2);
    assert_int_equal(r.host_count, 2);
    assert_int_equal(r.node_count, 2);
    const regions_node *work = node_at(&r, "main/work"), *whole = node_at(&r, "main");
    assert_int_equal(work->sums.calls, 7);
    assert_int_equal(work->sums.measured, 7);
    assert_int_equal(work->sums.total_ns, 3897);
    assert_int_equal(work->sums.inclusive_ns, 3897);
    assert_int_equal(work->sums.exclusive_ns, 3897);
    assert_int_equal(work->sums.min_ns, 7);
    assert_int_equal(work->sums.max_ns, 3000);
    assert_near(work->sums.variance_ns2, job_variance(calls, 7));
    assert_int_equal(work->sums.bytes, 33);
    assert_int_equal(work->bytes, 33);
    assert_int_equal(whole->sums.bytes, 1);
    assert_int_equal(whole->bytes, 34);
    assert_int_equal(whole->sums.inclusive_ns, 8000);
    assert_int_equal(whole->sums.exclusive_ns, 8000 - 3897);
    assert_int_equal(r.time_ns, 8000);
    assert_near(work->share, 3897 / 8000.0);
    assert_near(whole->share, 1);
    assert_int_equal(work->cell_count, 2);
    assert_int_equal(work->cells[0].sums.inclusive_ns, 350);
    assert_int_equal(work->cells[1].sums.inclusive_ns, 3547);
    assert_int_equal(work->cells[1].threads, 2);
    assert_int_equal(work->cells[1].longest_ns, 3007);
    assert_near(work->mean_ns, 3897 / 2.0);
    assert_near(work->median_ns, 3897 / 2.0);
    assert_near(work->max_over_mean, 3547 / (3897 / 2.0));
    assert_int_equal(work->slowest, 1);
    assert_int_equal(work->fastest, 0);
    assert_int_equal(work->threads, 3);
    assert_int_equal(work->odd, REGIONS_NONE); // two ranks have no odd one
    assert_int_equal(r.ranks[1].calls, 7);
    assert_string_equal(r.job, "77");
    assert_string_equal(r.command, "solver.x");
    regions_free(&r);
    tree_remove(tree);
    (void)state;
}

// What the program said of its calls: the longest call keeps its value and its rank, of equally long ones the lower rank's.
static void values_of_ranks_are_one(void **state)
{
    static const struct {
        int64_t value;
        uint64_t ns;
        size_t rank;
    } said[] = {{7, 100, 2}, {9, 200, 3}, {5, 200, 4}, {-4, 200, 1}, {30, 199, 0}};
    static const int64_t longest[] = {7, 9, 9, -4, -4};
    static const size_t ranks[] = {2, 3, 3, 1, 1};
    regions_arena arena = {0};
    regions_value *list = NULL;
    int64_t sum = 0;
    (void)state;
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        regions_value x = {.name = "iterations",
                           .count = 1,
                           .sum = said[i].value,
                           .least = said[i].value,
                           .most = said[i].value,
                           .longest_ns = said[i].ns,
                           .at_longest = said[i].value,
                           .rank = said[i].rank};
        x.counts[i] = 1;
        x.times_ns[i] = said[i].ns;
        sum += said[i].value;
        regions_values_add(&arena, &list, &x);
        regions_values_add(&arena, &list, &(regions_value){.name = "other"});
        assert_int_equal(arrlenu(list), 2);
        assert_int_equal(list[0].at_longest, longest[i]);
        assert_int_equal(list[0].rank, ranks[i]);
        assert_int_equal(list[0].count, i + 1);
        assert_int_equal(list[0].sum, sum);
    }
    assert_int_equal(list[0].least, -4);
    assert_int_equal(list[0].most, 30);
    assert_int_equal(list[0].longest_ns, 200);
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        assert_int_equal(list[0].counts[i], 1);
        assert_int_equal(list[0].times_ns[i], said[i].ns);
    }
    regions_values_add(&arena, &list, &(regions_value){.name = "other", .sum = INT64_MAX});
    regions_values_add(&arena, &list, &(regions_value){.name = "other", .sum = 1});
    assert_true(list[1].sum == INT64_MAX);
    arrfree(list);
    regions_arena_free(&arena);
}

// Calls that something else ended are counted over all regions and ranks; the first that has some is named.
static void calls_that_something_else_ended(void **state)
{
    (void)state;
    char *tree = tree_make();
    for (long rank = 0; rank < 2; rank++) {
        job_begin(&rank_, rank, "h1");
        job_call(&rank_, 0, "main", 3000000000);
        job_call(&rank_, 0, "main/halo", 2000000000);
        job_call(&rank_, 0, "main/wait", 1000000000);
        job_find(&rank_, 0, "main/halo")->aborted = rank ? 2 : 1;
        job_find(&rank_, 0, "main/wait")->aborted = 4;
        job_write(&rank_, tree);
    }
    regions r = read_tree(tree);
    size_t said = 0;
    for (size_t i = 0; i < r.note_count; i++) {
        if (!strstr(r.notes[i].text, "ended from outside")) continue;
        said++;
        assert_string_equal(
            r.notes[i].text,
            "11 calls were ended from outside, by the end of a thread or of a region around: first in halo");
        assert_string_equal(r.nodes[r.notes[i].node].name, "halo");
    }
    assert_int_equal(said, 1);
    regions_free(&r);
    tree_remove(tree);
}

// Files of one version are no matter; of two they are said.
static void versions_that_differ_are_said(void **state)
{
    (void)state;
    for (int differ = 0; differ < 2; differ++) {
        char *tree = tree_make();
        for (long rank = 0; rank < 2; rank++) {
            job_begin(&rank_, rank, "h1");
            if (differ && rank) rank_.version = "0.0.1";
            job_call(&rank_, 0, "main", 1000000000);
            job_write(&rank_, tree);
        }
        regions r = read_tree(tree);
        int said = 0;
        for (size_t i = 0; i < r.note_count; i++)
            said += strcmp(r.notes[i].text, "The files are of several versions of netprof.h") == 0;
        assert_int_equal(said, differ);
        regions_free(&r);
        tree_remove(tree);
    }
}

// The quantiles' bounds hold the true value, at every place of 200 calls.
static void quantiles_lie_within_their_bounds(void **state)
{
    enum { CALLS = 200 };
    uint64_t sorted[CALLS], buckets[NETPROF_HISTOGRAM_BUCKETS], ns = 3;
    char *tree = tree_make();
    job_begin(&rank_, 0, "h1");
    for (size_t i = 0; i < CALLS; i++) {
        sorted[i] = ns;
        ns += ns / 17 + 1;
    }
    for (size_t i = 0; i < CALLS; i++) // another order than theirs
        job_call(&rank_, (uint32_t)(i % 3), "solve", sorted[i * 67 % CALLS]);
    job_write(&rank_, tree);
    regions r = read_tree(tree);
    const regions_node *n = node_at(&r, "solve");
    assert_true(regions_histogram(n, buckets));
    for (size_t i = 1; i <= CALLS; i++) {
        regions_quantile q = regions_quantile_of(buckets, (double)i / CALLS, n->sums.min_ns, n->sums.max_ns);
        if (q.low_ns > sorted[i - 1] || q.high_ns < sorted[i - 1])
            fail_msg("call %zu: %llu is not in %llu..%llu", i, (unsigned long long)sorted[i - 1],
                     (unsigned long long)q.low_ns, (unsigned long long)q.high_ns);
        assert_true(q.high_ns - q.low_ns <= q.low_ns / 8 + 1); // 8 buckets for a power of two
    }
    assert_int_equal(regions_quantile_of(buckets, 0, n->sums.min_ns, n->sums.max_ns).low_ns, sorted[0]);
    assert_int_equal(regions_quantile_of(buckets, 1, n->sums.min_ns, n->sums.max_ns).high_ns, sorted[CALLS - 1]);
    uint64_t sum = 0, one[NETPROF_HISTOGRAM_BUCKETS];
    assert_true(regions_cell_histogram(&n->cells[0], one));
    for (size_t i = 0; i < NETPROF_HISTOGRAM_BUCKETS; i++)
        sum += buckets[i];
    assert_int_equal(sum, CALLS);
    assert_memory_equal(one, buckets, sizeof one);
    regions_free(&r);
    tree_remove(tree);
    (void)state;
}

static regions ranks_of(const char *tree, const uint64_t *times, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        job_begin(&rank_, (long)i, "h1");
        job_call(&rank_, 0, "main", 1000000);
        job_call(&rank_, 0, "main/wait", times[i]);
        job_write(&rank_, tree);
    }
    return read_tree(tree);
}

static void the_odd_rank_is_farthest_from_the_median(void **state)
{
    static const struct {
        uint64_t times[6];
        size_t count, odd;
        double ratio, distance;
        bool notable;
    } rows[] = {
        {{100000, 101000, 99000, 100000, 150000}, 5, 4, 1.5, 50000, true},         // long
        {{100000, 20000, 100000, 101000, 99000, 100000}, 6, 1, 0.2, -80000, true}, // short: the others wait for it
        {{100000, 101000, 99000, 104000}, 4, 3, 104000 / 100500.0, 3500, false},   // within 10 %
        {{100, 200, 100, 100}, 4, 1, 2, 100, false},                               // too little of the run to matter
        {{100000, 150000, 200000, 250000, 300000}, 5, 0, 0.5, -100000, false},     // all differ: none is odd
        {{5, 5, 5, 5}, 4, REGIONS_NONE, NAN, 0, false},
        {{100000, 500000, 100000}, 3, REGIONS_NONE, NAN, 0, false}, // three have no median to be far from
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *tree = tree_make();
        regions r = ranks_of(tree, rows[i].times, rows[i].count);
        const regions_node *n = node_at(&r, "main/wait");
        assert_int_equal(n->odd, rows[i].odd);
        if (isnan(rows[i].ratio))
            assert_true(isnan(n->odd_over_median));
        else
            assert_near(n->odd_over_median, rows[i].ratio);
        assert_near(n->odd_distance_ns, rows[i].distance);
        assert_int_equal(n->odd_notable, rows[i].notable);
        regions_free(&r);
        tree_remove(tree);
    }
    (void)state;
}

// A rank that lacks a region is not one of its ranks.
static void ranks_without_a_region_do_not_count(void **state)
{
    char *tree = tree_make();
    for (long i = 0; i < 5; i++) {
        job_begin(&rank_, i, "h1");
        job_call(&rank_, 0, "main", 1000);
        if (i == 3) job_call(&rank_, 0, "main/write", 600);
        job_write(&rank_, tree);
    }
    regions r = read_tree(tree);
    const regions_node *n = node_at(&r, "main/write");
    assert_int_equal(n->cell_count, 1);
    assert_int_equal(n->cells[0].rank, 3);
    assert_null(regions_cell_of(n, 2));
    assert_ptr_equal(regions_cell_of(n, 3), &n->cells[0]);
    assert_near(n->mean_ns, 600);
    assert_near(n->share, 600 / 5000.0);
    regions_free(&r);
    tree_remove(tree);
    (void)state;
}

// Killed within main: the file has no time for it, but for what is within.
static void an_open_region_lasts_at_least_as_long_as_its_parts(void **state)
{
    char *tree = tree_make();
    job_begin(&rank_, 0, "h1");
    job_find(&rank_, 0, "main")->open = 1;
    job_find(&rank_, 0, "main/step")->open = 1;
    job_call(&rank_, 0, "main/step", 500);
    job_call(&rank_, 0, "main/step/a", 400);
    job_call(&rank_, 0, "main/step/a", 300); // of the open step
    job_call(&rank_, 0, "main/b", 50);
    job_write(&rank_, tree);
    regions r = read_tree(tree);
    // what job_stat() cannot know: own time of the ended step is 500 - 400
    assert_int_equal(node_at(&r, "main/step/a")->sums.inclusive_ns, 700);
    assert_int_equal(node_at(&r, "main/step")->sums.inclusive_ns, 700);
    assert_int_equal(node_at(&r, "main")->sums.inclusive_ns, 750);
    assert_int_equal(node_at(&r, "main")->sums.measured, 0);
    assert_int_equal(node_at(&r, "main")->sums.open, 1);
    assert_int_equal(r.time_ns, 750);
    regions_free(&r);
    tree_remove(tree);
    (void)state;
}

static void calls_that_were_not_timed_are_told_apart(void **state)
{
    char *tree = tree_make();
    job_begin(&rank_, 0, "h1");
    job_calls(&rank_, 0, "halo", 3, 100);
    job_find(&rank_, 0, "halo")->unmeasured = 27;
    job_call(&rank_, 0, "other", 10);
    job_find(&rank_, 0, "other")->open = 1;
    job_write(&rank_, tree);
    regions r = read_tree(tree);
    assert_int_equal(node_at(&r, "halo")->sums.calls, 30);
    assert_int_equal(node_at(&r, "halo")->sums.measured, 3);
    assert_true(node_at(&r, "halo")->sampled);
    assert_false(node_at(&r, "other")->sampled);
    regions_free(&r);
    tree_remove(tree);
    (void)state;
}

// ---- the tree ----

static void the_tree_has_the_order_of_the_code(void **state)
{
    static const char *const expected[] = {"main",       "main/zeta",      "main/zeta/last",
                                           "main/alpha", "main/only on 1", "worker"};
    char *tree = tree_make();
    job_begin(&rank_, 0, "h1");
    job_call(&rank_, 1, "worker", 10);
    job_call(&rank_, 0, "main", 100);
    job_call(&rank_, 0, "main/zeta", 20);
    job_call(&rank_, 0, "main/zeta/last", 5);
    job_call(&rank_, 0, "main/alpha", 20);
    job_write(&rank_, tree);
    job_begin(&rank_, 1, "h1"); // came another way
    job_call(&rank_, 0, "main", 100);
    job_call(&rank_, 0, "main/alpha", 20);
    job_call(&rank_, 0, "main/zeta", 20);
    job_call(&rank_, 0, "main/only on 1", 1);
    job_write(&rank_, tree);
    regions r = read_tree(tree);
    assert_int_equal(r.node_count, COUNT(expected));
    for (size_t i = 0; i < COUNT(expected); i++) {
        char *path = regions_path(&r, i);
        assert_string_equal(path, expected[i]);
        assert_int_equal(regions_find(&r, path), i);
        free(path);
    }
    assert_int_equal(r.nodes[0].end, 5);
    assert_int_equal(r.nodes[0].child_count, 3);
    assert_int_equal(r.nodes[1].end, 3);
    assert_int_equal(r.nodes[2].depth, 2);
    assert_int_equal(r.nodes[2].parent, 1);
    assert_int_equal(r.nodes[5].parent, REGIONS_NONE);
    assert_int_equal(regions_find(&r, "main/beta"), REGIONS_NONE);
    assert_int_equal(regions_find(&r, "main/zet"), REGIONS_NONE);
    assert_int_equal(regions_find(&r, "main/"), REGIONS_NONE);
    assert_int_equal(regions_find(&r, ""), REGIONS_NONE);
    regions_free(&r);
    tree_remove(tree);
    (void)state;
}

// A region and a span of one name: the first one has the path, what is below the second is found all the same.
static void a_path_below_the_second_of_one_name(void **state)
{
    uint64_t buckets[NETPROF_HISTOGRAM_BUCKETS] = {0};
    netprof_stat stats[] = {{.parent = UINT32_MAX, .region = "a"},
                            {.node = 1, .parent = UINT32_MAX, .region = "a", .spans = 1},
                            {.node = 2, .parent = 1, .region = "below"}};
    netprof_regions from = {.stats = stats, .count = 3, .mode = NETPROF_MODE_TIME, .clock = "tsc", .warning = ""};
    netprof_writer *w = NULL;
    char *tree = tree_make(), path[4096];
    for (size_t i = 0; i < 3; i++) {
        stats[i].histogram = buckets;
        stats[i].calls = stats[i].measured = 1;
        stats[i].total_ns = stats[i].inclusive_ns = stats[i].exclusive_ns = stats[i].min_ns = stats[i].max_ns = 1000;
    }
    buckets[10] = 1;
    snprintf(path, sizeof path, "%s/one.netprof", tree);
    assert_int_equal(netprof_writer_open(&w, path, 0, NULL), NETPROF_OK);
    assert_int_equal(netprof_write_regions(w, &from, NULL), NETPROF_OK);
    assert_int_equal(netprof_writer_close(w, 1, NULL), NETPROF_OK);
    regions r = read_tree(tree);
    assert_int_equal(r.node_count, 3);
    assert_int_not_equal(r.nodes[0].span, r.nodes[1].span);
    assert_int_equal(regions_find(&r, "a"), 0);
    assert_string_equal(node_at(&r, "a/below")->name, "below");
    regions_free(&r);
    tree_remove(tree);
    (void)state;
}

static void paths_of_names_with_slashes(void **state)
{
    static const char *const names[] = {"a\\b", "x%y", "x", "", "\xff<&>\"\n"};
    char *tree = tree_make(), *path;
    job_begin(&rank_, 0, "h1");
    for (size_t i = 0; i < COUNT(names); i++)
        job_call(&rank_, 0, names[i], 10);
    job_write(&rank_, tree);
    regions r = read_tree(tree);
    assert_int_equal(r.node_count, COUNT(names));
    for (size_t i = 0; i < r.node_count; i++) {
        path = regions_path(&r, i);
        assert_int_equal(regions_find(&r, path), i);
        free(path);
    }
    path = regions_path(&r, 0);
    assert_string_equal(path, "a\\\\b");
    free(path);
    path = regions_path(&r, 1);
    assert_string_equal(path, "x\\/y");
    free(path);
    regions_free(&r);
    tree_remove(tree);
    (void)state;
}

// solve in main, and solve in solve's part: times once, calls twice.
static void by_name_nested_regions_count_once(void **state)
{
    regions_flat flat;
    char *tree = tree_make();
    for (long i = 0; i < 2; i++) {
        job_begin(&rank_, i, "h1");
        job_call(&rank_, 0, "main", 1000);
        job_call(&rank_, 0, "main/solve", 600);
        job_call(&rank_, 0, "main/solve/inner", 300);
        job_call(&rank_, 0, "main/solve/inner/solve", 100);
        job_call(&rank_, 0, "main/late", 50);
        job_call(&rank_, 0, "main/late/solve", 40);
        job_bytes(&rank_, 0, "main/solve/inner/solve", 5);
        job_bytes(&rank_, 0, "main/late/solve", 7);
        job_write(&rank_, tree);
    }
    regions r = read_tree(tree);
    regions_flatten(&flat, &r);
    assert_int_equal(flat.node_count, 4);
    const regions_node *solve = &flat.nodes[1];
    assert_string_equal(solve->name, "solve");
    assert_int_equal(solve->sums.calls, 6);
    assert_int_equal(solve->sums.inclusive_ns, 2 * 640);
    assert_int_equal(solve->sums.exclusive_ns, 2 * (300 + 100 + 40));
    assert_int_equal(solve->sums.total_ns, 2 * 740);
    assert_int_equal(solve->sums.min_ns, 40);
    assert_int_equal(solve->sums.max_ns, 600);
    static const uint64_t calls[] = {600, 100, 40, 600, 100, 40};
    assert_near(solve->sums.variance_ns2, job_variance(calls, 6));
    assert_int_equal(solve->bytes, 2 * 12);
    assert_int_equal(solve->cell_count, 2);
    assert_near(solve->share, 640 / 1000.0);
    uint64_t buckets[NETPROF_HISTOGRAM_BUCKETS], sum = 0;
    assert_true(regions_histogram(solve, buckets));
    for (size_t i = 0; i < NETPROF_HISTOGRAM_BUCKETS; i++)
        sum += buckets[i];
    assert_int_equal(sum, 6);
    regions_flat_free(&flat);
    regions_free(&r);
    tree_remove(tree);
    (void)state;
}

// ---- who ----

static void missing_ranks_and_repeated_numbers(void **state)
{
    char *tree = tree_make();
    static const long numbers[] = {0, 2, 3, 7};
    for (size_t i = 0; i < COUNT(numbers); i++) {
        job_begin(&rank_, numbers[i], "h1");
        rank_.rank_count = 8;
        job_call(&rank_, 0, "main", 10);
        job_write(&rank_, tree);
    }
    job_begin(&rank_, 3, "h1"); // a child of rank 3
    rank_.pid = 4000;
    job_call(&rank_, 0, "main", 10);
    job_write(&rank_, tree);
    regions r = read_tree(tree);
    assert_int_equal(r.rank_count_told, 8);
    assert_int_equal(r.missing_count, 4);
    static const long missing[] = {1, 4, 5, 6};
    assert_memory_equal(r.missing, missing, sizeof missing);
    assert_int_equal(r.rank_count, 5);
    assert_string_equal(r.ranks[1].label, "2");
    assert_string_equal(r.ranks[2].label, "3 (pid 1003)");
    assert_string_equal(r.ranks[3].label, "3 (pid 4000)");
    assert_string_equal(r.ranks[4].label, "7");
    regions_free(&r);
    tree_remove(tree);
    (void)state;
}

static void the_same_process_twice_counts_once(void **state)
{
    char *tree = tree_make(), copy[1024];
    job_begin(&rank_, 0, "h1");
    job_call(&rank_, 0, "main", 10);
    const char *paths[4];
    paths[0] = job_write(&rank_, tree);
    paths[1] = paths[0]; // named twice: read once
    snprintf(copy, sizeof copy, "%s/copy.netprof", tree);
    assert_int_equal(link(paths[0], copy), 0);
    paths[2] = tree;
    paths[3] = copy;
    regions r = read_paths(paths, 4, 2);
    assert_int_equal(r.files, 2);
    assert_int_equal(r.rank_count, 1);
    assert_int_equal(node_at(&r, "main")->sums.calls, 1);
    assert_int_equal(r.warning_count, 1);
    assert_non_null(strstr(r.warnings[0].text, "the same process"));
    assert_false(r.damaged);
    regions_free(&r);
    tree_remove(tree);
    (void)state;
}

static void assert_alike(const regions *a, const regions *b)
{
    assert_int_equal(a->rank_count, b->rank_count);
    assert_int_equal(a->node_count, b->node_count);
    assert_int_equal(a->finding_count, b->finding_count);
    assert_int_equal(a->note_count, b->note_count);
    assert_string_equal(a->title, b->title);
    for (size_t i = 0; i < a->note_count; i++)
        assert_string_equal(a->notes[i].text, b->notes[i].text);
    for (size_t i = 0; i < a->rank_count; i++)
        assert_string_equal(a->ranks[i].path, b->ranks[i].path);
    for (size_t i = 0; i < a->node_count; i++) {
        const regions_node *x = &a->nodes[i], *y = &b->nodes[i];
        assert_string_equal(x->name, y->name);
        assert_memory_equal(&x->sums, &y->sums, sizeof x->sums); // the variance to the last bit
        assert_int_equal(x->cell_count, y->cell_count);
        assert_int_equal(x->odd, y->odd);
        assert_int_equal(x->reading_count, y->reading_count);
        for (size_t k = 0; k < x->reading_count; k++) {
            assert_int_equal(x->readings[k].rank, y->readings[k].rank);
            assert_int_equal(x->readings[k].bytes[TRAFFIC_SENT], y->readings[k].bytes[TRAFFIC_SENT]);
        }
    }
}

// ---- counters ----

static const netprof_schema *cxi_schema(const char *const *devices, size_t count)
{
    static const char *const names[] = {"hni_sts_tx_ok_octets", "hni_sts_rx_ok_octets", "hni_tx_paused_0",
                                        "pct_retry_srb_requests"};
    netprof_list *list = netprof_build_begin(NULL);
    const netprof_schema *schema = NULL;
    netprof_build_source(list, "cxi");
    for (size_t d = 0; d < count; d++) {
        netprof_list_device(list, devices[d], 0, NETPROF_DEVICE_PHYSICAL);
        netprof_list_fact(list, "speed_mbps", "200000");
        netprof_list_fact(list, "port_speed", "BS_200G");
        netprof_list_fact(list, "mac", d ? "02:00:00:00:00:02" : "02:00:00:00:00:01");
        for (size_t i = 0; i < COUNT(names); i++) {
            netprof_counter c = {.name = names[i], .unit = "", .width = 56, .flags = NETPROF_FAST};
            netprof_list_counter(list, &c);
        }
    }
    assert_int_equal(netprof_build_end(list, &schema, NULL), NETPROF_OK);
    return schema;
}

enum { SENT = 0, RECEIVED = 1, PAUSED = 2, RETRIES = 3, OF_SECOND = 4 }; // counters of the first device; of the second

static void begin_counting(long rank, const char *host, const netprof_schema *schema)
{
    job_begin(&rank_, rank, host);
    rank_.mode = NETPROF_MODE_FAST;
    rank_.schema = schema;
    rank_.sweep_ns = 6200;
}

static const char *const two_nics[] = {"cxi0", "cxi1"};

// Two hosts of three ranks each. All ranks of a host see the same bytes: those of the rank that was inside longest count.
static void the_nics_of_a_host_count_once(void **state)
{
    const netprof_schema *schema = cxi_schema(two_nics, 2);
    char *tree = tree_make();
    for (long i = 0; i < 6; i++) {
        bool longest = i == 1 || i == 5;
        begin_counting(i, i < 3 ? "h1" : "h2", schema);
        job_call(&rank_, 0, "main", 4000000000);
        job_calls(&rank_, 0, "main/halo", 10, longest ? 200000000 : 100000000);
        job_find(&rank_, 0, "main/halo")->concurrency = 25;
        job_bytes(&rank_, 0, "main/halo", 1000);
        job_count(&rank_, 0, "main/halo", SENT, longest ? 9000 : 4500);
        job_count(&rank_, 0, "main/halo", OF_SECOND + SENT, longest ? 1000 : 700);
        job_count(&rank_, 0, "main/halo", RECEIVED, 500);
        job_write(&rank_, tree);
    }
    regions r = read_tree(tree);
    const regions_node *n = node_at(&r, "main/halo");
    assert_int_equal(n->reading_count, 2);
    assert_int_equal(n->nic.state, REGIONS_KNOWN);
    assert_int_equal(n->nic.hosts, 2);
    assert_int_equal(n->nic.bytes[TRAFFIC_SENT], 2 * 10000);
    assert_int_equal(n->nic.bytes[TRAFFIC_RECEIVED], 2 * 500);
    assert_near(n->nic.bytes_per_s[TRAFFIC_SENT], 10000 / 2.0); // of one host, in 2 s
    assert_near(n->nic.line_bytes_per_s, 2 * 25e9);
    assert_near(n->nic.share, 9000 / 2.0 / 25e9);
    assert_near(n->nic.sent_over_declared, 20000 / 6000.0);
    assert_int_equal(n->readings[0].rank, 1);
    assert_int_equal(n->readings[1].rank, 5);
    assert_int_equal(n->readings[0].readers, 3);
    assert_int_equal(n->readings[0].time_ns, 2000000000);
    assert_near(n->readings[0].open, 2.5);
    assert_int_equal(n->readings[0].busiest, 0);
    assert_ptr_equal(r.hosts[0].schema, r.hosts[1].schema); // nodes that are alike share it
    assert_int_equal(node_at(&r, "main")->nic.bytes[TRAFFIC_SENT], 0);
    assert_true(node_at(&r, "main")->nic.bytes_known[TRAFFIC_SENT]);
    regions_free(&r);
    netprof_schema_release(schema);
    tree_remove(tree);
    (void)state;
}

// A job of so many hosts with so many ranks each, of which each declares `bytes` in `path` and sees its NIC send and
// receive so much meanwhile. The note about bytes, or "".
static void moved_note(char text[1024], size_t hosts, size_t ranks, const char *path, uint64_t bytes, uint64_t sent,
                       uint64_t received, severity *how_bad)
{
    const netprof_schema *schema = cxi_schema(two_nics, 1);
    char *tree = tree_make();
    for (size_t i = 0; i < hosts * ranks; i++) {
        char host[32];
        snprintf(host, sizeof host, "h%zu", i / ranks);
        begin_counting((long)i, host, schema);
        job_call(&rank_, 0, "main", 4000000000);
        job_call(&rank_, 0, "main/halo", 3000000000);
        if (strcmp(path, "main/halo") != 0) job_call(&rank_, 0, path, 1000000000);
        job_bytes(&rank_, 0, path, bytes);
        job_count(&rank_, 0, "main/halo", SENT, sent);
        job_count(&rank_, 0, "main/halo", RECEIVED, received);
        job_write(&rank_, tree);
    }
    regions r = read_tree(tree);
    text[0] = 0;
    for (size_t i = 0; i < r.note_count; i++)
        if (strstr(r.notes[i].text, "that the program moved there")) {
            assert_string_equal(text, "");
            snprintf(text, 1024, "%s", r.notes[i].text);
            *how_bad = r.notes[i].severity;
        }
    regions_free(&r);
    netprof_schema_release(schema);
    tree_remove(tree);
}

static void what_the_program_moved_against_the_nics(void **state)
{
    static const struct {
        size_t hosts, ranks;
        const char *path;
        uint64_t bytes, sent, received;
        severity expected; // OK: no note
        const char *text;
    } rows[] = {
        {2, 1, "main/halo", 100000000, 104600000, 104600000, SEVERITY_OK, ""}, // headers
        {2, 1, "main/halo", 100000000, 120000000, 120000000, SEVERITY_OK, ""},
        {2, 1, "main/halo", 100000000, 121000000, 121000000, SEVERITY_WATCH, "the NICs sent 1.21 bytes for each byte"},
        {2, 1, "main/halo", 100000000, 151000000, 9, SEVERITY_WARN, "the NICs sent 1.51 bytes for each byte"},
        {2, 1, "main/halo", 49999999, 90000000, 90000000, SEVERITY_OK, ""},  // of both ranks under 100 MB
        {2, 1, "main/halo", 100000000, 50000000, 50000000, SEVERITY_OK, ""}, // each way half: both were declared
        {2, 1, "main/halo", 100000000, 47000000, 47000000, SEVERITY_WATCH,
         "sent and received 0.940 bytes for each byte"},
        {1, 1, "main/halo", 100000000, 0, 0, SEVERITY_OK, ""}, // within the node
        {2, 2, "main/halo", 100000000, 0, 0, SEVERITY_OK, ""}, // likewise
        {1, 2, "main/halo", 100000000, 250000000, 0, SEVERITY_WATCH, "the NICs sent 1.25 bytes for each byte"},
        {2, 1, "main/halo/MPI_Isend", 100000000, 160000000, 160000000, SEVERITY_WARN, "halo: the NICs sent 1.60 bytes"},
        {2, 1, "main/halo/MPI_Sendrecv", 100000000, 160000000, 160000000, SEVERITY_WARN,
         "halo: the NICs sent 1.60 bytes"},
        {2, 1, "main/halo/MPI_Allreduce", 100000000, 190000000, 190000000, SEVERITY_OK, ""}, // a ring sends twice
        {2, 1, "main/halo/part", 100000000, 160000000, 160000000, SEVERITY_WATCH,
         "part: the NICs sent and received 0 bytes"}, // what its parent saw is not its own
    };
    char text[1024];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        severity s = SEVERITY_OK;
        moved_note(text, rows[i].hosts, rows[i].ranks, rows[i].path, rows[i].bytes, rows[i].sent, rows[i].received, &s);
        if (s != rows[i].expected || !strstr(text, rows[i].text))
            fail_msg("row %zu: %s: \"%s\"", i, severity_name(s), text);
    }
}

// Each rank was told to read its own NIC: none of them may be lost.
static void ranks_that_read_different_nics(void **state)
{
    const netprof_schema *schemas[2] = {cxi_schema(&two_nics[0], 1), cxi_schema(&two_nics[1], 1)};
    char *tree = tree_make();
    for (long i = 0; i < 4; i++) {
        begin_counting(i, "h1", schemas[i % 2]);
        job_call(&rank_, 0, "halo", 1000000000);
        job_count(&rank_, 0, "halo", SENT, i % 2 ? 300 : 5000);
        job_write(&rank_, tree);
    }
    regions r = read_tree(tree);
    const regions_node *n = node_at(&r, "halo");
    assert_int_equal(n->reading_count, 2);
    assert_int_equal(n->nic.hosts, 1);
    assert_int_equal(n->nic.bytes[TRAFFIC_SENT], 5300);
    assert_int_equal(r.hosts[0].schema->device_count, 2);
    // and one that reads both: the second device is not counted again
    const netprof_schema *both = cxi_schema(two_nics, 2);
    begin_counting(9, "h1", both);
    job_call(&rank_, 0, "halo", 900000000);
    job_count(&rank_, 0, "halo", SENT, 4000);
    job_count(&rank_, 0, "halo", OF_SECOND + SENT, 200);
    job_write(&rank_, tree);
    regions_free(&r);
    r = read_tree(tree);
    assert_int_equal(node_at(&r, "halo")->nic.bytes[TRAFFIC_SENT], 5300);
    assert_int_equal(r.hosts[0].schema->device_count, 2);
    regions_free(&r);
    for (int i = 0; i < 2; i++)
        netprof_schema_release(schemas[i]);
    netprof_schema_release(both);
    tree_remove(tree);
    (void)state;
}

static const char *note_about(const regions *r, const char *words)
{
    for (size_t i = 0; i < r->note_count; i++)
        if (strstr(r->notes[i].text, words)) return r->notes[i].text;
    return NULL;
}

// What measuring took is a share of the run, at most all of it, and much of it is no good news.
static void what_measuring_took(void **state)
{
    static const struct {
        uint64_t overhead_ps, readings, reading_ns, calls, each_ns;
        int64_t elapsed_ns;
        netprof_mode mode;
        double share;
        const char *told;
    } rows[] = {
        // 500 calls of 100 us, 20 ns each
        {20000, 0, 0, 500, 100000, 0, NETPROF_MODE_TIME, 10e3 / 50e6,
         "complete; 500 calls, none unmatched; measuring took 0.0200 %"},
        // 500 empty calls: they cost what the run took, more than they lasted
        {30000, 0, 0, 500, 15, 15500, NETPROF_MODE_TIME, 30. / 31,
         "Measuring took about 96.8 % of the time, most of it in work (500 calls)"},
        {30000, 0, 0, 500, 15, 0, NETPROF_MODE_TIME, 1, "Measuring took about 100 % of the time"},
        // 500 calls of 100 us, and 300 us of reading around each
        {20000, 1000, 150000000, 500, 100000, 200000000, NETPROF_MODE_FAST, 150.01 / 200,
         "Reading counters took 75.0 % of the time, most of it around work (500 calls)"},
        {20000, 100, 1000000, 500, 100000, 0, NETPROF_MODE_SAMPLER, 1.01 / 50, "measuring took 2.02 %"},
        {20000, 9000, 40000000, 500, 100000, 0, NETPROF_MODE_SAMPLER, 40.01 / 50,
         "The sampler's thread used a CPU for 80.0 % of the time"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *tree = tree_make();
        job_begin(&rank_, 0, "h1");
        rank_.mode = rows[i].mode;
        rank_.interval_ns = rows[i].mode == NETPROF_MODE_SAMPLER ? 10000000 : 0;
        rank_.schema = rows[i].mode == NETPROF_MODE_TIME ? NULL : cxi_schema(two_nics, 2);
        rank_.overhead_ps = rows[i].overhead_ps;
        rank_.readings = rows[i].readings;
        rank_.reading_ns = rows[i].reading_ns;
        rank_.elapsed_ns = rows[i].elapsed_ns;
        job_calls(&rank_, 0, "work", rows[i].calls, rows[i].each_ns);
        job_write(&rank_, tree);
        regions r = read_tree(tree);
        assert_true(fabs(r.overhead_share - rows[i].share) < 1e-6);
        if (!note_about(&r, rows[i].told)) fail_msg("%zu: %s", i, r.notes[0].text);
        if (rows[i].share >= 0.1) assert_int_equal(r.severity, SEVERITY_WATCH);
        assert_int_equal(note_about(&r, "; measuring took") != NULL, rows[i].share < 0.1);
        regions_free(&r);
        netprof_schema_release(rank_.schema);
        tree_remove(tree);
    }
    (void)state;
}

static void too_short_for_the_counters(void **state)
{
    const netprof_schema *schema = cxi_schema(two_nics, 2);
    char *tree = tree_make();
    begin_counting(0, "h1", schema);
    job_call(&rank_, 0, "main", 1000000);
    job_calls(&rank_, 0, "main/pack", 10, 61999); // a reading takes 6.2 us: ten of them are 62 us
    job_calls(&rank_, 0, "main/send", 2, 62000);
    job_count(&rank_, 0, "main/pack", SENT, 77);
    job_count(&rank_, 0, "main/send", SENT, 88);
    job_count(&rank_, 0, "main", SENT, 165);
    job_write(&rank_, tree);
    regions r = read_tree(tree);
    const regions_node *pack = node_at(&r, "main/pack"), *sending = node_at(&r, "main/send");
    assert_int_equal(pack->nic.state, REGIONS_UNCERTAIN);
    assert_int_equal(pack->nic.limit_ns, 62000);
    assert_true(pack->nic.bytes_known[TRAFFIC_SENT]);
    assert_int_equal(pack->nic.bytes[TRAFFIC_SENT], 77); // exact, but in which time is not
    assert_true(fabs(pack->nic.uncertain - 2 * 6200. / (61999 + 2 * 6200)) < 1e-9);
    assert_true(isnan(pack->nic.bytes_per_s[TRAFFIC_SENT]) && isnan(pack->nic.share));
    assert_int_equal(pack->finding_count, 0);
    assert_int_equal(pack->sums.inclusive_ns, 619990); // the time is exact
    assert_int_equal(sending->nic.state, REGIONS_KNOWN);
    assert_int_equal(sending->nic.bytes[TRAFFIC_SENT], 88);
    assert_int_equal(node_at(&r, "main")->nic.bytes[TRAFFIC_SENT], 165);
    regions_free(&r);

    // a sampler's granularity is its interval, and calls without a sample have no counters at all
    job_begin(&rank_, 0, "h1");
    rank_.mode = NETPROF_MODE_SAMPLER;
    rank_.schema = schema;
    rank_.interval_ns = 10000000;
    job_calls(&rank_, 0, "quick", 5, 99999999);
    job_calls(&rank_, 0, "slow", 4, 100000000);
    job_count(&rank_, 0, "slow", SENT, 5);
    job_find(&rank_, 0, "slow")->unread = 1;
    job_calls(&rank_, 0, "never", 4, 200000000);
    job_find(&rank_, 0, "never")->unread = 4;
    job_write(&rank_, tree);
    r = read_tree(tree);
    const regions_node *quick = node_at(&r, "quick");
    assert_int_equal(quick->nic.state, REGIONS_TOO_SHORT);
    assert_false(quick->nic.bytes_known[TRAFFIC_SENT]);
    assert_int_equal(quick->nic.bytes[TRAFFIC_SENT], 0);
    regions_counters c;
    assert_int_equal(regions_counters_make(&c, &r, quick, &quick->readings[0], NULL), NETPROF_ERR_ARG);
    bool told = false;
    for (size_t i = 0; i < r.note_count; i++)
        told |= strstr(r.notes[i].text, "too short") != NULL;
    assert_true(told);
    assert_int_equal(node_at(&r, "slow")->nic.state, REGIONS_KNOWN);
    assert_int_equal(node_at(&r, "slow")->readings[0].calls, 3);
    assert_int_equal(node_at(&r, "slow")->readings[0].unread, 1);
    assert_int_equal(node_at(&r, "slow")->readings[0].time_ns, 400000000); // its samples stand for all of it
    assert_int_equal(node_at(&r, "never")->nic.state, REGIONS_TOO_SHORT);
    regions_free(&r);
    netprof_schema_release(schema);
    tree_remove(tree);
    (void)state;
}

// Paused for 0.3 of 1 s in wait, on the second NIC of h2; the same in its parent is a tenth of the time.
static void findings_of_a_region(void **state)
{
    const netprof_schema *schema = cxi_schema(two_nics, 2);
    char *tree = tree_make();
    for (long i = 0; i < 4; i++) {
        begin_counting(i, i < 2 ? "h1" : "h2", schema);
        job_call(&rank_, 0, "step", 3000000000);
        job_calls(&rank_, 0, "step/wait", 100, 10000000);
        if (i >= 2) job_count(&rank_, 0, "step", OF_SECOND + PAUSED, 300000000);
        if (i >= 2) job_count(&rank_, 0, "step/wait", OF_SECOND + PAUSED, 300000000);
        job_count(&rank_, 0, "step/wait", RETRIES, 3);
        job_write(&rank_, tree);
    }
    regions r = read_tree(tree);
    size_t wait = regions_find(&r, "step/wait"), step = regions_find(&r, "step");
    const regions_finding *found[2] = {NULL, NULL};
    for (size_t i = 0; i < r.finding_count; i++) {
        if (strcmp(r.findings[i].rule->name, "egress-paused") != 0) continue;
        found[r.findings[i].node == wait] = &r.findings[i];
    }
    assert_non_null(found[0]);
    assert_non_null(found[1]);
    assert_near(found[1]->value, 0.3);
    assert_int_equal(found[1]->severity, SEVERITY_HIGH);
    assert_string_equal(r.hosts[found[1]->host].name, "h2");
    assert_string_equal(r.hosts[found[1]->host].schema->devices[found[1]->device].name, "cxi1");
    assert_int_equal(found[1]->places, 1);
    assert_int_equal(found[1]->part, REGIONS_NONE);
    assert_near(found[0]->value, 0.1);
    assert_int_equal(found[0]->part, wait);
    assert_near(r.nodes[wait].nic.paused, 0.3);
    assert_int_equal(r.nodes[wait].nic.most_paused, 1);
    assert_int_equal(r.nodes[wait].readings[1].most_paused, 1);
    assert_true(r.nodes[wait].nic.retries_known);
    assert_int_equal(r.nodes[wait].nic.retries, 2 * 3);
    assert_int_equal(r.nodes[step].nic.retries, 0);
    // the same as a difference
    regions_counters c;
    assert_int_equal(regions_counters_make(&c, &r, &r.nodes[wait], &r.nodes[wait].readings[1], NULL), NETPROF_OK);
    size_t at = netprof_find(c.d.delta->schema, "cxi", "cxi1", "hni_tx_paused_0");
    assert_int_equal(c.d.rows[at].magnitude, 300000000);
    assert_near(c.d.rows[at].rate_per_s, 3e8);
    regions_counters_free(&c);
    regions_free(&r);
    netprof_schema_release(schema);
    tree_remove(tree);
    (void)state;
}

// A rank that is held longer than the others in its Waitall, each on a host of its own. The trouble of its NIC explains
// that only where it was in that region or in one around it, and the region is named.
static void trouble_elsewhere_explains_no_wait(void **state)
{
    static const char *const places[] = {"main/MPI_Waitall", "main", "main/io"};
    (void)state;
    for (size_t place = 0; place < COUNT(places); place++) {
        const netprof_schema *schema = cxi_schema(two_nics, 2);
        char *tree = tree_make();
        for (long i = 0; i < 8; i++) {
            char host[8];
            uint64_t held = i == 5 ? 20000000 : 0;
            snprintf(host, sizeof host, "h%ld", i);
            begin_counting(i, host, schema);
            job_call(&rank_, 0, "MPI_Init", 10);
            job_call(&rank_, 0, "main", 1000000000);
            job_calls(&rank_, 0, "main/MPI_Waitall", 10, 10000000 + held + (uint64_t)i);
            job_call(&rank_, 0, "main/io", 200000000);
            job_calls(&rank_, 0, "main/MPI_Allreduce", 10, 30000000 - held - (uint64_t)i);
            if (i == 5) job_count(&rank_, 0, places[place], PAUSED, 200000000);
            job_write(&rank_, tree);
        }
        regions r = read_tree(tree);
        assert_int_equal(r.waits.held, 5);
        const regions_note *held = NULL;
        for (size_t i = 0; i < r.note_count && !held; i++)
            if (r.notes[i].rank == 5) held = &r.notes[i];
        assert_non_null(held);
        char cause[80];
        snprintf(cause, sizeof cause, "; in %s meanwhile, on its host cxi0: transmit blocked by the network",
                 r.nodes[node_at(&r, places[place]) - r.nodes].name);
        if (!strstr(held->text, cause) != (place == 2)) fail_msg("%s", held->text);
        assert_int_equal(held->severity, place == 2 ? SEVERITY_WATCH : SEVERITY_HIGH);
        assert_int_equal(!strstr(held->text, "transmit blocked"), place == 2);
        regions_free(&r);
        netprof_schema_release(schema);
        tree_remove(tree);
    }
}

// 64 ranks by the generator's sums are in tests/cli/regions.bats; here 12 with counters, read in every way.
static void order_and_threads_do_not_matter(void **state)
{
    const netprof_schema *schema = cxi_schema(two_nics, 2);
    char *tree = tree_make(), *names[40];
    const char *paths[40];
    uint64_t seed = 7;
    for (long i = 0; i < 40; i++) {
        begin_counting(i, i % 5 ? "h1" : "h0", schema);
        for (int k = 0; k < 5; k++) {
            char name[32];
            snprintf(name, sizeof name, "r%d", k);
            job_call(&rank_, 0, name, 1000000 + random_below(&seed, 10000000));
            job_call(&rank_, 1, name, 1000000 + random_below(&seed, 10000000));
            job_count(&rank_, 0, name, SENT, random_below(&seed, 1000));
            job_count(&rank_, 1, name, SENT, random_below(&seed, 1000));
        }
        names[i] = strdup(job_write(&rank_, tree));
        paths[i] = names[i];
    }
    regions one = read_paths(paths, 40, 1);
    for (int round = 0; round < 3; round++) {
        for (size_t i = 40; i > 1; i--) {
            size_t k = random_below(&seed, i);
            const char *path = paths[i - 1];
            paths[i - 1] = paths[k];
            paths[k] = path;
        }
        regions other = read_paths(paths, 40, 4);
        assert_alike(&one, &other);
        regions_free(&other);
    }
    regions_free(&one);
    for (size_t i = 0; i < 40; i++)
        free(names[i]);
    netprof_schema_release(schema);
    tree_remove(tree);
    (void)state;
}

// ---- files that are not as they should be ----

static void a_cut_file_costs_only_itself(void **state)
{
    char *tree = tree_make();
    struct sink sink = {0};
    netprof_writer *w = NULL;
    job_begin(&rank_, 0, "h1");
    job_call(&rank_, 0, "main", 10);
    job_write(&rank_, tree);
    job_begin(&rank_, 1, "h1");
    job_call(&rank_, 0, "main", 20);
    assert_int_equal(netprof_writer_open_fn(&w, sink_write, &sink, NULL), NETPROF_OK);
    job_put(&rank_, w);
    assert_int_equal(netprof_writer_close(w, 1, NULL), NETPROF_OK);
    size_t with_regions = 0;
    for (size_t length = 0; length < sink.size; length++) {
        tree_write_bytes(tree, "cut.netprof", sink.data, length);
        regions r = read_tree(tree);
        assert_true(r.damaged);
        assert_int_equal(r.warning_count, 1);
        assert_non_null(strstr(r.warnings[0].path, "cut.netprof"));
        assert_true(r.warnings[0].offset <= length);
        assert_true(r.rank_count == 1 || r.rank_count == 2);
        assert_int_equal(node_at(&r, "main")->sums.inclusive_ns, r.rank_count == 1 ? 10 : 30);
        if (r.rank_count == 2) {
            with_regions++;
            assert_false(r.ranks[1].complete);
            assert_true(r.ranks[0].complete);
        }
        regions_free(&r);
    }
    // the regions are the last chunk but the end, which is 13 bytes: all but the last of its lengths show them
    assert_int_equal(with_regions, 13);
    sink_free(&sink);
    tree_remove(tree);
    (void)state;
}

static void other_files_are_left_alone(void **state)
{
    char *tree = tree_make();
    netprof_error error;
    regions r = {0};
    const char *paths[3] = {tree, NULL, NULL};
    assert_int_equal(regions_read(&r, paths, 1, NULL, &error), NETPROF_ERR_FORMAT); // empty
    tree_write(tree, "notes.txt", "not one of ours");
    tree_write(tree, "liar.netprof", "not one of ours either");
    job_begin(&rank_, 0, "h1");
    job_call(&rank_, 0, "main", 10);
    job_write(&rank_, tree);
    struct sink sink = {0};
    netprof_writer *w = NULL;
    assert_int_equal(netprof_writer_open_fn(&w, sink_write, &sink, NULL), NETPROF_OK);
    assert_int_equal(netprof_write_fact(w, "host", "h1", NULL), NETPROF_OK);
    assert_int_equal(netprof_writer_close(w, 1, NULL), NETPROF_OK);
    tree_write_bytes(tree, "run.netprof", sink.data, sink.size);
    sink_free(&sink);
    r = read_tree(tree);
    assert_int_equal(r.rank_count, 1);
    assert_int_equal(r.files_without, 1);
    assert_int_equal(r.warning_count, 1); // of the liar; a recording in the same directory is no fault
    regions_free(&r);
    assert_true(regions_in_file(tree_path(tree, "rank-0-1000.netprof")));
    assert_false(regions_in_file(tree_path(tree, "run.netprof")));
    assert_false(regions_in_file(tree_path(tree, "liar.netprof")));
    paths[0] = tree_path(tree, "run.netprof");
    assert_int_equal(regions_read(&r, paths, 1, NULL, &error), NETPROF_ERR_FORMAT);
    assert_string_equal(error.text, "holds no regions");
    paths[1] = tree_path(tree, "missing.netprof");
    paths[0] = tree_path(tree, "rank-0-1000.netprof");
    r = read_paths(paths, 2, 1);
    assert_int_equal(r.warning_count, 1);
    assert_non_null(strstr(r.warnings[0].text, "No such file"));
    assert_true(r.damaged);
    regions_free(&r);
    regions_options garbage = {.end_zero = 1};
    assert_int_equal(regions_read(&r, paths, 1, &garbage, NULL), NETPROF_ERR_ARG);
    assert_int_equal(regions_read(&r, paths, 0, NULL, NULL), NETPROF_ERR_ARG);
    regions_options small = {.max_bytes = 20};
    assert_int_equal(regions_read(&r, paths, 1, &small, &error), NETPROF_ERR_FORMAT);
    assert_non_null(strstr(error.text, "larger than the limit on memory"));
    tree_remove(tree);
    (void)state;
}

// cat rank-0 rank-1 > both: two processes.
static void files_put_together(void **state)
{
    char *tree = tree_make();
    struct sink sink = {0};
    for (long i = 0; i < 3; i++) {
        netprof_writer *w = NULL;
        assert_int_equal(netprof_writer_open_fn(&w, sink_write, &sink, NULL), NETPROF_OK);
        job_begin(&rank_, i, i ? "h2" : "h1");
        job_call(&rank_, 0, "main", 100 + (uint64_t)i);
        job_put(&rank_, w);
        assert_int_equal(netprof_writer_close(w, 1, NULL), NETPROF_OK);
    }
    tree_write_bytes(tree, "all.netprof", sink.data, sink.size);
    regions r = read_tree(tree);
    assert_int_equal(r.rank_count, 3);
    assert_int_equal(r.host_count, 2);
    assert_string_equal(r.ranks[2].label, "2");
    assert_int_equal(node_at(&r, "main")->sums.inclusive_ns, 303);
    sink_free(&sink);
    regions_free(&r);
    tree_remove(tree);
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters_that_are_not_there),
        cmocka_unit_test(threads_and_ranks_are_one_node),
        cmocka_unit_test(values_of_ranks_are_one),
        cmocka_unit_test(versions_that_differ_are_said),
        cmocka_unit_test(calls_that_something_else_ended),
        cmocka_unit_test(quantiles_lie_within_their_bounds),
        cmocka_unit_test(the_odd_rank_is_farthest_from_the_median),
        cmocka_unit_test(ranks_without_a_region_do_not_count),
        cmocka_unit_test(an_open_region_lasts_at_least_as_long_as_its_parts),
        cmocka_unit_test(calls_that_were_not_timed_are_told_apart),
        cmocka_unit_test(the_tree_has_the_order_of_the_code),
        cmocka_unit_test(a_path_below_the_second_of_one_name),
        cmocka_unit_test(paths_of_names_with_slashes),
        cmocka_unit_test(by_name_nested_regions_count_once),
        cmocka_unit_test(missing_ranks_and_repeated_numbers),
        cmocka_unit_test(the_same_process_twice_counts_once),
        cmocka_unit_test(the_nics_of_a_host_count_once),
        cmocka_unit_test(what_the_program_moved_against_the_nics),
        cmocka_unit_test(ranks_that_read_different_nics),
        cmocka_unit_test(what_measuring_took),
        cmocka_unit_test(too_short_for_the_counters),
        cmocka_unit_test(findings_of_a_region),
        cmocka_unit_test(trouble_elsewhere_explains_no_wait),
        cmocka_unit_test(order_and_threads_do_not_matter),
        cmocka_unit_test(a_cut_file_costs_only_itself),
        cmocka_unit_test(other_files_are_left_alone),
        cmocka_unit_test(files_put_together),
    };
    return cmocka_run_group_tests_name("regions_merge", tests, load, unload);
}

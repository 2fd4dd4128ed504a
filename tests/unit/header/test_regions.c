/* Regions against a slow model (a stack and a tree), by the test's own clock, and in their file. What threads and
   processes do to them: test_regions_threads.c. */
struct timespec;
static int test_clock(int clock, struct timespec *t);
#define NETPROF_OS_CLOCK(clock, t) test_clock((clock), (t))
#define NETPROF_NO_TSC
#define NETPROF_IMPLEMENTATION
#include "../../netprof.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static int64_t made_up_ns; /* 0: the real clock */

static int test_clock(int clock, struct timespec *t)
{
    int64_t ns = __atomic_load_n(&made_up_ns, __ATOMIC_RELAXED);
    if (!ns) return clock_gettime(clock, t);
    t->tv_sec = ns / 1000000000;
    t->tv_nsec = ns % 1000000000;
    return 0;
}

static uint64_t random_state = 88172645463325252u;

static uint64_t random_number(uint64_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % below;
}

/* -- the model -- */

enum { NAMES = 6, MODEL_NODES = 4096, MODEL_DEPTH = 4096 };
static const char *const names[NAMES] = {"alpha", "beta", "gamma", "delta", "epsilon", "zeta"};
static netprof_region_id ids[NAMES];
static unsigned every[NAMES];

typedef struct model_node {
    int name, parent; /* -1: none */
    int is_span;
    uint64_t calls, measured, skipped, aborted, bytes, spans, inclusive, exclusive, total, min, max;
    double mean, squares; /* Welford's: another way than the header's */
    uint64_t histogram[NETPROF_HISTOGRAM_BUCKETS];
} model_node;

static struct {
    model_node nodes[MODEL_NODES];
    int node_count;
    struct {
        int node, nested, skipped;
        uint64_t begin, inside;
    } stack[NETPROF_MAX_DEPTH];
    int depth;
    int deep[NAMES], deep_all;
    uint64_t mismatched, dropped;
} model;

static uint64_t now_ns(void)
{
    return (uint64_t)made_up_ns;
}

static int model_child(int parent, int name, int is_span)
{
    int i;
    if (!is_span && parent >= 0 && model.nodes[parent].name == name) return parent;
    for (i = 0; i < model.node_count; i++)
        if (model.nodes[i].parent == parent && model.nodes[i].name == name && model.nodes[i].is_span == is_span)
            return i;
    assert_true(model.node_count < MODEL_NODES);
    model.nodes[i].name = name;
    model.nodes[i].parent = parent;
    model.nodes[i].is_span = is_span;
    model.nodes[i].min = UINT64_MAX;
    model.node_count++;
    return i;
}

/* By the definition of the buckets, not by their formula: the last floor that is not above. */
static unsigned slow_bucket(uint64_t ns)
{
    unsigned b = NETPROF_HISTOGRAM_BUCKETS - 1;
    while (netprof_histogram_floor_ns(b) > ns)
        b--;
    return b;
}

static void model_measure(model_node *n, uint64_t ns, uint64_t inside, int nested)
{
    double off = (double)ns - n->mean;
    n->measured++;
    n->mean += off / (double)n->measured;
    n->squares += off * ((double)ns - n->mean);
    n->total += ns;
    if (!nested) n->inclusive += ns;
    n->exclusive += ns - inside;
    n->min = ns < n->min ? ns : n->min;
    n->max = ns > n->max ? ns : n->max;
    n->histogram[slow_bucket(ns)]++;
}

static void model_begin(int name)
{
    int parent = model.depth ? model.stack[model.depth - 1].node : -1, node;
    if (model.depth == NETPROF_MAX_DEPTH) {
        model.deep[name]++;
        model.deep_all++;
        model.dropped++;
        return;
    }
    node = model_child(parent, name, 0);
    model.stack[model.depth].node = node;
    model.stack[model.depth].nested = node == parent;
    model.stack[model.depth].skipped = every[name] > 1 && model.nodes[node].calls % every[name] != 0;
    model.stack[model.depth].begin = now_ns();
    model.stack[model.depth].inside = 0;
    model.nodes[node].calls++;
    model.depth++;
}

static void model_pop(int aborted)
{
    model_node *n;
    uint64_t ns, inside;
    model.depth--;
    n = &model.nodes[model.stack[model.depth].node];
    ns = now_ns() - model.stack[model.depth].begin;
    inside = model.stack[model.depth].inside;
    n->aborted += aborted != 0;
    if (model.stack[model.depth].skipped) {
        n->skipped++;
        ns = inside;
    } else {
        model_measure(n, ns, inside, model.stack[model.depth].nested);
    }
    if (model.depth) model.stack[model.depth - 1].inside += ns;
}

static void model_end(int name)
{
    int d;
    if (model.deep[name]) {
        model.deep[name]--;
        model.deep_all--;
        return;
    }
    memset(model.deep, 0, sizeof model.deep);
    model.deep_all = 0;
    for (d = model.depth; d && model.nodes[model.stack[d - 1].node].name != name; d--)
        continue;
    if (!d || d < model.depth) model.mismatched++;
    if (!d) return;
    while (model.depth > d)
        model_pop(1);
    model_pop(0);
}

static void model_bytes(uint64_t n)
{
    if (model.depth && !model.deep_all) model.nodes[model.stack[model.depth - 1].node].bytes += n;
}

static void both_begin(int name)
{
    model_begin(name);
    netprof_begin(ids[name]);
}

static void both_end(int name)
{
    model_end(name);
    netprof_end(ids[name]);
}

static void both_end_all(void)
{
    while (model.depth)
        both_end(model.nodes[model.stack[0].node].name);
}

static void expect_near(double found, double wanted, double slack)
{
    if (!(found >= wanted - slack && found <= wanted + slack))
        fail_msg("%.17g instead of %.17g +- %g", found, wanted, slack);
}

/* -- comparing -- */

static const netprof_stat *stat_of_kind(const netprof_regions *r, uint32_t thread, uint32_t parent, const char *name,
                                        int is_span)
{
    const netprof_stat *found = NULL; /* after a reset the stat of spans looks like that of the region */
    size_t i;
    for (i = 0; i < r->count && !(found && found->calls); i++)
        if (r->stats[i].thread == thread && r->stats[i].parent == parent && strcmp(r->stats[i].region, name) == 0 &&
            (r->stats[i].spans != 0) == is_span)
            found = &r->stats[i];
    return found;
}

static const netprof_stat *stat_below(const netprof_regions *r, uint32_t thread, uint32_t parent, const char *name)
{
    return stat_of_kind(r, thread, parent, name, 0);
}

static const netprof_stat *stat_of_node(const netprof_regions *r, int node)
{
    const netprof_stat *above = NULL;
    const model_node *n = &model.nodes[node];
    if (n->parent >= 0 && (above = stat_of_node(r, n->parent)) == NULL) return NULL;
    return stat_of_kind(r, 0, above ? above->node : UINT32_MAX, names[n->name], n->is_span);
}

static void compare_one(const netprof_stat *s, const model_node *n, uint64_t open)
{
    unsigned b;
    double variance = n->measured ? n->squares / (double)n->measured : 0;
    assert_int_equal(s->calls, n->calls);
    assert_int_equal(s->measured, n->measured);
    assert_int_equal(s->open, open);
    assert_int_equal(s->aborted, n->aborted);
    assert_int_equal(s->spans, n->spans);
    assert_int_equal(s->bytes, n->bytes);
    assert_int_equal(s->inclusive_ns, n->inclusive);
    assert_int_equal(s->exclusive_ns, n->exclusive);
    assert_int_equal(s->total_ns, n->total);
    assert_int_equal(s->min_ns, n->measured ? n->min : 0);
    assert_int_equal(s->max_ns, n->max);
    expect_near(s->variance_ns2, variance, 1e-6 * variance + 1e-6);
    for (b = 0; b < NETPROF_HISTOGRAM_BUCKETS; b++)
        assert_int_equal(s->histogram[b], n->histogram[b]);
}

static void compare(void)
{
    netprof_regions r;
    size_t i;
    int k, d, found = 0;
    assert_int_equal(netprof_regions_take(&r, NULL), NETPROF_OK);
    assert_int_equal(r.mismatched, model.mismatched);
    assert_int_equal(r.dropped, model.dropped);
    for (k = 0; k < model.node_count; k++) {
        const netprof_stat *s = stat_of_node(&r, k);
        uint64_t open = 0;
        if (!model.nodes[k].calls && !s) continue;
        for (d = 0; d < model.depth; d++)
            open += model.stack[d].node == k;
        assert_non_null(s);
        compare_one(s, &model.nodes[k], open);
        found++;
    }
    for (i = 0; i < r.count; i++)
        found -= r.stats[i].thread == 0 && (r.stats[i].calls || r.stats[i].bytes);
    assert_true(found >= 0); /* nothing that the model does not have */
    netprof_regions_free(&r);
}

static int fresh(void **state)
{
    int i;
    (void)state;
    while (netprof__this_thread && netprof__this_thread->depth)
        netprof_end(netprof__this_thread->frames[1].region);
    memset(&model, 0, sizeof model);
    made_up_ns = 1000000000000;
    for (i = 0; i < NAMES; i++) {
        ids[i] = netprof_region(names[i]);
        netprof_region_every(ids[i], every[i] = 1);
    }
    netprof_regions_reset();
    return 0;
}

static int back_to_real_time(void **state)
{
    (void)state;
    made_up_ns = 0;
    netprof_regions_reset();
    return 0;
}

/* -- one thread, a made-up clock -- */

/* Every way to begin up to four of four regions, and after it every order of up to four ends. */
static void test_every_order(void **state)
{
    int depth, ends, ways, orders, way, order, i;
    (void)state;
    for (depth = 0; depth <= 4; depth++)
        for (way = 0, ways = 1 << 2 * depth; way < ways; way++)
            for (ends = depth ? depth : 1, orders = 1 << 2 * ends, order = 0; order < orders; order++) {
                for (i = 0; i < depth; i++) {
                    made_up_ns += 1 + i;
                    both_begin(way >> 2 * i & 3);
                }
                for (i = 0; i < ends; i++) {
                    made_up_ns += 10 + i;
                    both_end(order >> 2 * i & 3);
                    if (netprof__this_thread) assert_int_equal(netprof__this_thread->depth, model.depth);
                }
                both_end_all();
                if (order == 0 && way % 64 == 0) compare();
            }
    compare();
}

static void random_step(int deep)
{
    uint64_t what = random_number(100);
    int name = (int)random_number(NAMES);
    made_up_ns += (int64_t)(random_number(4) ? random_number(5000) : random_number(3000000000u));
    if (what < (deep ? 60 : 42)) {
        both_begin(name);
    } else if (what < 88) {
        both_end(random_number(4) && model.depth ? model.nodes[model.stack[model.depth - 1].node].name : name);
    } else if (what < 96) {
        uint64_t n = random_number(1u << 20);
        model_bytes(n);
        netprof_bytes(n);
    } else {
        netprof_span span = netprof_span_begin(ids[name]);
        int node = model_child(model.depth ? model.stack[model.depth - 1].node : -1, name, 1);
        made_up_ns += 7;
        netprof_span_end(span);
        model.nodes[node].calls++;
        model.nodes[node].spans++;
        model_measure(&model.nodes[node], 7, 0, 0);
    }
}

/* A node without bounds on the ways to get there would be many: a restart keeps the tree small. */
static void test_random(void **state)
{
    int i;
    (void)state;
    for (i = 0; i < 60000; i++) {
        random_step(0);
        if (model.depth > 4) both_end_all();
        if (i % 10000 == 0) compare();
    }
    compare();
}

static void test_random_every(void **state)
{
    int i;
    (void)state;
    for (i = 0; i < NAMES; i++)
        netprof_region_every(ids[i], every[i] = (unsigned)i + 1);
    for (i = 0; i < 30000; i++) {
        random_step(0);
        if (model.depth > 4) both_end_all();
    }
    compare();
}

/* Deeper than the limit: only alpha inside alpha, so that there is one node; then a few others on top. */
static void test_too_deep(void **state)
{
    int i, k;
    (void)state;
    for (k = 0; k < 50; k++) {
        for (i = 0; i < 100; i++) {
            made_up_ns += 3;
            both_begin(i < NETPROF_MAX_DEPTH ? 0 : (int)random_number(NAMES));
        }
        assert_int_equal(netprof__this_thread->depth, NETPROF_MAX_DEPTH);
        for (i = 0; i < 100; i++) {
            made_up_ns += 2;
            both_end(random_number(3) ? 0 : (int)random_number(NAMES));
        }
        both_end_all();
        assert_int_equal(netprof__this_thread->depth, model.depth);
    }
    compare();
    assert_true(model.dropped >= 36 * 50);
}

/* Ends forgotten beyond the limit must not swallow the ends of what is outside. */
static void test_too_deep_forgotten(void **state)
{
    int i;
    (void)state;
    for (i = 0; i < NETPROF_MAX_DEPTH; i++)
        both_begin(0);
    for (i = 0; i < 1000; i++)
        both_begin(1);
    both_end(0);
    assert_int_equal(netprof__this_thread->depth, NETPROF_MAX_DEPTH - 1);
    model_bytes(9); /* of the innermost that is left */
    netprof_bytes(9);
    both_end_all();
    compare();
}

static void test_recursion(void **state)
{
    netprof_regions r;
    const netprof_stat *a, *b;
    (void)state;
    both_begin(0); /* alpha 100 { alpha 10 { } } : 100 inclusive, 110 in all */
    made_up_ns += 45;
    both_begin(0);
    made_up_ns += 10;
    both_end(0);
    made_up_ns += 45;
    both_end(0);
    both_begin(1); /* beta { gamma { beta } }: indirect, a node of its own */
    made_up_ns += 1;
    both_begin(2);
    made_up_ns += 2;
    both_begin(1);
    made_up_ns += 4;
    both_end(1);
    both_end(2);
    both_end(1);
    compare();
    netprof_regions_take(&r, NULL);
    a = stat_below(&r, 0, UINT32_MAX, "alpha");
    assert_int_equal(a->inclusive_ns, 100);
    assert_int_equal(a->exclusive_ns, 100);
    assert_int_equal(a->total_ns, 110);
    assert_int_equal(a->calls, 2);
    b = stat_below(&r, 0, UINT32_MAX, "beta");
    assert_int_equal(b->inclusive_ns, 7);
    assert_int_equal(b->exclusive_ns, 1);
    b = stat_below(&r, 0, stat_below(&r, 0, b->node, "gamma")->node, "beta");
    assert_int_equal(b->inclusive_ns, 4);
    netprof_regions_free(&r);
}

/* Inclusive of a parent = its exclusive + inclusive of its children. */
static void test_times_add_up(void **state)
{
    netprof_regions r;
    size_t i, k;
    (void)state;
    for (i = 0; i < 5000; i++) { /* alpha { beta { delta } gamma { delta } } */
        both_begin(0);
        for (k = 1; k < 3; k++) {
            made_up_ns += (int64_t)random_number(1000);
            both_begin((int)k);
            made_up_ns += (int64_t)random_number(1000);
            both_begin(3);
            made_up_ns += (int64_t)random_number(1000);
            both_end(3);
            made_up_ns += (int64_t)random_number(1000);
            both_end((int)k);
        }
        both_end(0);
    }
    netprof_regions_take(&r, NULL);
    for (i = 0; i < r.count; i++) {
        uint64_t sum = r.stats[i].exclusive_ns, buckets = 0;
        for (k = 0; k < r.count; k++)
            if (r.stats[k].parent == r.stats[i].node && r.stats[k].thread == r.stats[i].thread)
                sum += r.stats[k].inclusive_ns;
        assert_int_equal(r.stats[i].inclusive_ns, sum);
        for (k = 0; k < NETPROF_HISTOGRAM_BUCKETS; k++)
            buckets += r.stats[i].histogram[k];
        assert_int_equal(buckets, r.stats[i].measured);
    }
    netprof_regions_free(&r);
}

static void test_histogram_bounds(void **state)
{
    unsigned b;
    int i;
    (void)state;
    for (b = 0; b < 16; b++)
        assert_int_equal(netprof_histogram_floor_ns(b), b);
    for (b = 1; b < NETPROF_HISTOGRAM_BUCKETS; b++) {
        uint64_t low = netprof_histogram_floor_ns(b - 1), high = netprof_histogram_floor_ns(b);
        assert_true(low < high);
        if (b > 8) assert_true((high - low) * 8 <= low); /* 12.5 % */
        assert_int_equal(netprof__bucket(high), b);
        assert_int_equal(netprof__bucket(high - 1), b - 1);
    }
    assert_int_equal(netprof__bucket(UINT64_MAX), NETPROF_HISTOGRAM_BUCKETS - 1);
    for (i = 0; i < 100000; i++) {
        uint64_t v = random_number(UINT64_MAX) >> random_number(64);
        assert_int_equal(netprof__bucket(v), slow_bucket(v));
    }
}

static void timed(int name, int64_t ns)
{
    both_begin(name);
    made_up_ns += ns;
    both_end(name);
}

static double variance_of(const char *name)
{
    netprof_regions r;
    double v;
    netprof_regions_take(&r, NULL);
    v = stat_below(&r, 0, UINT32_MAX, name)->variance_ns2;
    netprof_regions_free(&r);
    return v;
}

static void test_variance(void **state)
{
    int i;
    (void)state;
    for (i = -1; i <= 1; i++)
        timed(0, 1000000000 + i);
    expect_near(variance_of("alpha"), 2.0 / 3, 1e-9);
    timed(1, 12345);
    expect_near(variance_of("beta"), 0, 0);
    timed(2, 3600000000000); /* an outlier at first: the rest must not drown */
    for (i = 0; i < 100000; i++)
        timed(2, 1000 + i % 2);
    compare();
}

/* A bucket holds more than 2^32 calls: two minutes of 30 ns. */
static void test_bucket_carries(void **state)
{
    static const int64_t durations[] = {0, 1000, 77000};
    netprof_regions r;
    const netprof_stat *s;
    size_t i;
    int k;
    (void)state;
    for (i = 0; i < 3; i++) {
        unsigned b = netprof__bucket((uint64_t)durations[i]);
        timed(0, durations[i]);
        netprof__this_thread->root.recent->histogram[b] = UINT32_MAX - 1;
        for (k = 0; k < 3; k++)
            timed(0, durations[i]);
        netprof_regions_take(&r, NULL);
        s = stat_below(&r, 0, UINT32_MAX, "alpha");
        assert_int_equal(s->histogram[b], (uint64_t)UINT32_MAX + 2);
        netprof_regions_free(&r);
        netprof_regions_reset();
        timed(0, durations[i]);
        netprof_regions_take(&r, NULL);
        assert_int_equal(stat_below(&r, 0, UINT32_MAX, "alpha")->histogram[b], 1);
        netprof_regions_free(&r);
        netprof_regions_reset();
    }
}

/* What the clock measured too small is set right in everything that is told of it: here by a quarter more. */
static void test_the_clock_is_corrected(void **state)
{
    netprof_regions r;
    const netprof_stat *s;
    (void)state;
    both_begin(0);
    timed(1, 1000);
    timed(1, 3000);
    made_up_ns += 4000;
    both_end(0);
    netprof__fix_factor(&netprof__regions_state, 1.25);
    netprof_regions_take(&r, NULL);
    netprof__fix_factor(&netprof__regions_state, 0);
    s = stat_below(&r, 0, UINT32_MAX, "alpha");
    assert_int_equal(s->total_ns, 10000);
    assert_int_equal(s->exclusive_ns, 5000);
    s = stat_below(&r, 0, s->node, "beta");
    assert_int_equal(s->inclusive_ns, 5000);
    assert_int_equal(s->min_ns, 1250);
    assert_int_equal(s->max_ns, 3750);
    expect_near(s->variance_ns2, 1250.0 * 1250, 1e-9); /* of 1250 and 3750 */
    netprof_regions_free(&r);
}

static void test_clock_steps_back(void **state)
{
    netprof_regions r;
    (void)state;
    netprof_begin(ids[0]);
    made_up_ns -= 5;
    netprof_end(ids[0]);
    netprof_regions_take(&r, NULL);
    assert_int_equal(stat_below(&r, 0, UINT32_MAX, "alpha")->max_ns, 0);
    netprof_regions_free(&r);
}

static void test_reset_in_open_regions(void **state)
{
    netprof_regions r;
    const netprof_stat *s;
    (void)state;
    netprof_begin(ids[0]);
    netprof_begin(ids[1]);
    made_up_ns += 1000;
    netprof_end(ids[1]);
    netprof_begin(ids[1]);
    made_up_ns += 500;
    netprof_end(ids[5]); /* a mismatch of the past */
    netprof_regions_reset();
    made_up_ns += 30;
    netprof_end(ids[1]);
    made_up_ns += 4;
    netprof_regions_take(&r, NULL);
    s = stat_below(&r, 0, UINT32_MAX, "alpha");
    assert_int_equal(s->calls, 1);
    assert_int_equal(s->open, 1);
    assert_int_equal(r.elapsed_ns, 34);
    assert_int_equal(r.mismatched, 0);
    netprof_regions_free(&r);
    netprof_end(ids[0]);
    netprof_regions_take(&r, NULL);
    s = stat_below(&r, 0, UINT32_MAX, "alpha");
    assert_int_equal(s->inclusive_ns, 34);
    assert_int_equal(s->exclusive_ns, 4);
    s = stat_below(&r, 0, s->node, "beta");
    assert_int_equal(s->calls, 1);
    assert_int_equal(s->inclusive_ns, 30);
    netprof_regions_free(&r);
}

static void test_off_in_open_regions(void **state)
{
    netprof_regions r;
    const netprof_stat *s;
    (void)state;
    netprof_begin(ids[0]);
    netprof_begin(ids[1]);
    netprof_set_mode(NETPROF_MODE_OFF);
    netprof_end(ids[1]);
    netprof_end(ids[0]);
    netprof_begin(ids[2]);
    netprof_bytes(1);
    assert_int_equal(netprof_span_begin(ids[2]).begin_ticks, 0);
    netprof_set_mode(NETPROF_MODE_TIME);
    netprof_begin(ids[0]);
    made_up_ns += 8;
    netprof_end(ids[0]);
    netprof_regions_take(&r, NULL);
    s = stat_below(&r, 0, UINT32_MAX, "alpha");
    assert_int_equal(s->calls, 2);
    assert_int_equal(s->measured, 1);
    assert_int_equal(s->aborted, 1);
    assert_int_equal(s->open, 0);
    assert_int_equal(s->inclusive_ns, 8);
    s = stat_below(&r, 0, UINT32_MAX, "gamma");
    assert_true(!s || (s->calls == 0 && s->bytes == 0));
    netprof_regions_free(&r);
}

static void test_nonsense(void **state)
{
    netprof_regions r;
    netprof_span none = NETPROF_ZERO, wrong;
    (void)state;
    netprof_begin(0);
    netprof_end(0);
    netprof_begin(4000); /* no such region: lost, but its end is its own */
    netprof_begin(ids[0]);
    netprof_end(ids[0]);
    netprof_end(4000);
    netprof_end(UINT32_MAX);
    netprof_span_end(none);
    wrong = netprof_span_begin(4000);
    netprof_span_end(wrong);
    netprof_bytes(5);
    netprof_region_every(4000, 3);
    assert_int_equal(netprof_region(NULL), 0);
    netprof_set_mode((netprof_mode)0);
    netprof_set_mode((netprof_mode)9); /* no modes: the one that is stays */
    assert_int_equal(netprof_regions_take(NULL, NULL), NETPROF_ERR_ARG);
    netprof_regions_free(NULL);
    netprof_regions_take(&r, NULL);
    assert_int_equal(r.mode, NETPROF_MODE_TIME);
    assert_int_equal(r.mismatched, 1);
    assert_int_equal(r.dropped, 4);
    assert_string_equal(r.warning, "end of no region while nothing is the innermost region");
    netprof_regions_free(&r);
    netprof_regions_free(&r);
    netprof_regions_reset();
    netprof_regions_take(&r, NULL);
    assert_int_equal(r.mismatched, 0);
    assert_int_equal(r.dropped, 0);
    netprof_regions_free(&r);
}

static void test_every_of_a_name(void **state)
{
    (void)state;
    assert_int_equal(netprof__every_setting("halo:10,solve:2", "halo"), 10);
    assert_int_equal(netprof__every_setting("halo:10,solve:2", "solve"), 2);
    assert_int_equal(netprof__every_setting("halo:10,solve:2", "sol"), 0);
    assert_int_equal(netprof__every_setting("a:b:3", "a:b"), 3);
    assert_int_equal(netprof__every_setting("a:b:3", "a"), 0);
    assert_int_equal(netprof__every_setting("a:-3,b:x,c:,d:99999999999", "a"), 0);
    assert_int_equal(netprof__every_setting("a:-3,b:x,c:,d:99999999999", "b"), 0);
    assert_int_equal(netprof__every_setting("a:-3,b:x,c:,d:99999999999", "c"), 0);
    assert_int_equal(netprof__every_setting("a:-3,b:x,c:,d:99999999999", "d"), 0);
    assert_int_equal(netprof__every_setting("", ""), 0);
}

/* -- the file -- */

static void same_regions(const netprof_regions *a, const netprof_regions *b)
{
    size_t i;
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->counter_count, b->counter_count);
    assert_int_equal(a->mode, b->mode);
    assert_int_equal(a->wall_ns, b->wall_ns);
    assert_int_equal(a->elapsed_ns, b->elapsed_ns);
    assert_int_equal(a->threads, b->threads);
    assert_int_equal(a->mismatched, b->mismatched);
    assert_int_equal(a->dropped, b->dropped);
    assert_int_equal(a->overhead_ps, b->overhead_ps);
    assert_int_equal(a->sweep_ns, b->sweep_ns);
    assert_int_equal(a->interval_ns, b->interval_ns);
    assert_string_equal(a->clock, b->clock);
    assert_string_equal(a->warning, b->warning);
    for (i = 0; i < a->counter_count; i++)
        assert_int_equal(a->counters[i], b->counters[i]);
    for (i = 0; i < a->count; i++) {
        netprof_stat x = a->stats[i], y = b->stats[i];
        assert_string_equal(x.region, y.region);
        assert_memory_equal(x.histogram, y.histogram, NETPROF_HISTOGRAM_BUCKETS * sizeof *x.histogram);
        if (a->counter_count)
            assert_memory_equal(x.counter_sums, y.counter_sums, a->counter_count * sizeof *x.counter_sums);
        x.region = y.region = NULL;
        x.histogram = y.histogram = NULL;
        x.counter_sums = y.counter_sums = NULL;
        assert_memory_equal(&x, &y, sizeof x);
    }
}

typedef struct memory {
    unsigned char *data;
    size_t size;
} memory;

static int to_memory(void *user, const void *data, size_t size)
{
    memory *m = user;
    m->data = realloc(m->data, m->size + size);
    memcpy(m->data + m->size, data, size);
    m->size += size;
    return 0;
}

static memory written(const netprof_regions *r)
{
    memory m = {NULL, 0};
    netprof_writer *w;
    assert_int_equal(netprof_writer_open_fn(&w, to_memory, &m, NULL), NETPROF_OK);
    assert_int_equal(netprof_write_regions(w, r, NULL), NETPROF_OK);
    assert_int_equal(netprof_writer_close(w, 1, NULL), NETPROF_OK);
    return m;
}

/* 1: the regions were there, and equal. */
static int read_back(const memory *m, const netprof_regions *wanted)
{
    netprof_reader *reader;
    netprof_item item;
    int found = 0;
    if (netprof_reader_open_memory(&reader, m->data, m->size, NULL, NULL)) return 0;
    while (netprof_reader_next(reader, &item, NULL) == NETPROF_OK && item.type != NETPROF_ITEM_END)
        if (item.type == NETPROF_ITEM_REGIONS) {
            same_regions(item.regions, wanted);
            assert_ptr_equal(item.regions->schema == NULL, wanted->schema == NULL);
            found++;
        }
    netprof_reader_close(reader);
    return found;
}

static void test_round_trip(void **state)
{
    netprof_regions r;
    memory m;
    int i;
    (void)state;
    for (i = 0; i < 3000; i++) {
        random_step(0);
        if (model.depth > 4) both_end_all();
    }
    netprof_regions_take(&r, NULL);
    m = written(&r);
    assert_int_equal(read_back(&m, &r), 1);
    free(m.data);
    netprof_regions_free(&r);
}

/* Copies need not come from here: every field at its largest, and counters of a schema. */
static void test_round_trip_of_extremes(void **state)
{
    static uint64_t histogram[NETPROF_HISTOGRAM_BUCKETS], sums[2] = {UINT64_MAX, 0};
    static const uint32_t counters[2] = {1, 2};
    netprof_counter counter = NETPROF_ZERO;
    netprof_stat stats[3];
    netprof_regions r;
    netprof_list *list = netprof_build_begin(NULL);
    uint64_t *k;
    memory m;
    int i;
    (void)state;
    netprof_build_source(list, "netdev");
    netprof_list_device(list, "eth0", 2, NETPROF_DEVICE_PHYSICAL);
    for (i = 0; i < 3; i++) {
        counter.name = names[i];
        netprof_list_counter(list, &counter);
    }
    memset(&r, 0, sizeof r);
    assert_int_equal(netprof_build_end(list, &r.schema, NULL), NETPROF_OK);
    memset(stats, 0, sizeof stats);
    memset(histogram, 0xff, sizeof histogram);
    histogram[0] = histogram[100] = 0;
    for (i = 0; i < 3; i++) {
        stats[i].region = i == 1 ? "" : "\xc3\xa4 \"odd\"\n";
        for (k = &stats[i].calls; k <= &stats[i].max_ns; k++)
            *k = UINT64_MAX;
        for (k = &stats[i].bytes; k <= &stats[i].concurrency; k++)
            *k = UINT64_MAX;
        stats[i].thread = UINT32_MAX;
        stats[i].node = i == 2 ? UINT32_MAX - 1 : (uint32_t)i;
        stats[i].parent = i ? (uint32_t)i - 1 : UINT32_MAX;
        stats[i].variance_ns2 = 1.0 / 3;
        stats[i].histogram = histogram;
        stats[i].counter_sums = sums;
    }
    r.stats = stats;
    r.count = 3;
    r.counters = counters;
    r.counter_count = 2;
    r.mode = NETPROF_MODE_SAMPLER;
    r.wall_ns = INT64_MIN;
    r.elapsed_ns = r.sweep_ns = r.interval_ns = INT64_MAX;
    r.threads = r.mismatched = r.dropped = r.overhead_ps = UINT64_MAX;
    r.clock = "tsc";
    r.warning = "";
    m = written(&r);
    assert_int_equal(read_back(&m, &r), 1);
    free(m.data);
    netprof_schema_release(r.schema);
}

/* Cut or changed anywhere, with a right checksum or not: no crash, and what is delivered keeps its promises. */
static void check_promises(const netprof_regions *r)
{
    size_t i;
    for (i = 0; i < r->counter_count; i++)
        assert_true(r->schema && r->counters[i] < r->schema->counter_count);
    for (i = 0; i < r->count; i++) {
        assert_non_null(r->stats[i].region);
        assert_true(r->stats[i].parent == UINT32_MAX || r->stats[i].parent < r->stats[i].node);
    }
}

static void read_hostile(memory *m)
{
    netprof_reader *reader;
    netprof_item item;
    netprof_limits limits = NETPROF_ZERO;
    limits.max_memory = 1 << 20;
    if (netprof_reader_open_memory(&reader, m->data, m->size, &limits, NULL)) return;
    while (netprof_reader_next(reader, &item, NULL) == NETPROF_OK && item.type != NETPROF_ITEM_END)
        if (item.type == NETPROF_ITEM_REGIONS) check_promises(item.regions);
    netprof_reader_close(reader);
}

static void test_hostile_file(void **state)
{
    netprof_regions r;
    uint32_t crc[NETPROF__CRC_TABLES];
    memory m, copy;
    size_t i, length;
    int k;
    (void)state;
    timed(0, 5);
    both_begin(0);
    NETPROF_VALUE("size", 5);
    NETPROF_VALUE("peer", -1);
    timed(1, 50);
    both_end(0);
    netprof_regions_take(&r, NULL);
    for (i = 0, length = 0; i < r.count; i++) /* the nodes of other tests are empty now: a small file will do */
        if (r.stats[i].calls) r.stats[length++] = r.stats[i];
    r.count = length;
    assert_int_equal(r.value_count, 2); /* all parts of the chunk */
    r.values[0].stat = r.values[1].stat = r.count - 1;
    r.stats[0].waits = r.stats[r.count - 1].waits = 3;
    r.readings = 7;
    m = written(&r);
    netprof_regions_free(&r);
    netprof__crc_tables(crc);
    length = (size_t)netprof__get_le(m.data + 20, 4);
    copy.data = malloc(m.size);
    for (i = 28; i < 28 + length; i++)
        for (k = 0; k < 20; k++) {
            copy.size = m.size;
            memcpy(copy.data, m.data, m.size);
            copy.data[i] = (unsigned char)(k < 8 ? copy.data[i] ^ 1 << k : k == 8 ? 0xff : (int)random_number(256));
            netprof__put_le(copy.data + 24,
                            netprof__crc(crc, netprof__crc(crc, 0, copy.data + 16, 8), copy.data + 28, length), 4);
            read_hostile(&copy);
        }
    for (copy.size = 0; copy.size < m.size; copy.size++)
        read_hostile(&copy);
    free(copy.data);
    free(m.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_every_order, fresh, back_to_real_time),
        cmocka_unit_test_setup_teardown(test_random, fresh, back_to_real_time),
        cmocka_unit_test_setup_teardown(test_random_every, fresh, back_to_real_time),
        cmocka_unit_test_setup_teardown(test_too_deep, fresh, back_to_real_time),
        cmocka_unit_test_setup_teardown(test_too_deep_forgotten, fresh, back_to_real_time),
        cmocka_unit_test_setup_teardown(test_recursion, fresh, back_to_real_time),
        cmocka_unit_test_setup_teardown(test_times_add_up, fresh, back_to_real_time),
        cmocka_unit_test(test_histogram_bounds),
        cmocka_unit_test_setup_teardown(test_variance, fresh, back_to_real_time),
        cmocka_unit_test_setup_teardown(test_bucket_carries, fresh, back_to_real_time),
        cmocka_unit_test_setup_teardown(test_the_clock_is_corrected, fresh, back_to_real_time),
        cmocka_unit_test_setup_teardown(test_clock_steps_back, fresh, back_to_real_time),
        cmocka_unit_test_setup_teardown(test_reset_in_open_regions, fresh, back_to_real_time),
        cmocka_unit_test_setup_teardown(test_off_in_open_regions, fresh, back_to_real_time),
        cmocka_unit_test_setup_teardown(test_nonsense, fresh, back_to_real_time),
        cmocka_unit_test(test_every_of_a_name),
        cmocka_unit_test_setup_teardown(test_round_trip, fresh, back_to_real_time),
        cmocka_unit_test(test_round_trip_of_extremes),
        cmocka_unit_test_setup_teardown(test_hostile_file, fresh, back_to_real_time),
    };
    setenv("NETPROF_OUTPUT", "/dev/null", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

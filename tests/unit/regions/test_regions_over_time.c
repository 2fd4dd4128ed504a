// Ranks without MPI as peers: what they sampled of their regions tells who alone spends more or less of its time in one, and
// since when. What each did is arithmetic here.
#define _GNU_SOURCE
#include "netprof.h"

#include "job_cluster.h"

#include "analysis/regions/regions.h"

#include <math.h>
#include <unistd.h>

static uint64_t random_state = 1;

static double uniform(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return ((double)(random_state >> 11) + 0.5) / 9007199254740992.0;
}

static double gauss(void)
{
    return sqrt(-2 * log(uniform())) * cos(2 * 3.14159265358979 * uniform());
}

typedef struct series_shape {
    int ranks, seconds;
    double noise, share; // of the time in compute; the odd one's is times `times` from `from` to `to`
    double times;
    int odd, from, to;
    bool numbered, waits;
} series_shape;

// As netprof.h writes it.
static node_file series_open(const series_shape *s, int rank)
{
    static const char *const paths[] = {"main", "main/compute", "main/io", "main/exchange"};
    const netprof_schema *schema = NULL;
    node_file f = {.x = NETPROF_ZERO};
    char file[64], number[16];
    netprof_list *list = netprof_build_begin(NULL);
    netprof_build_source(list, "regions");
    netprof_list_device(list, "process", 1, 0);
    cluster_counter(list, "thread_time", "ns", NETPROF_KIND_COUNTER, 64);
    netprof_build_source(list, "region");
    for (size_t i = 0; i < (s->waits ? 4 : 3); i++) {
        const char *slash = strrchr(paths[i], '/');
        netprof_list_device(list, paths[i], 1, 0);
        netprof_list_fact(list, "name", slash ? slash + 1 : paths[i]);
        cluster_counter(list, "calls", "calls", NETPROF_KIND_COUNTER, 64);
        cluster_counter(list, "time", "ns", NETPROF_KIND_COUNTER, 64);
        cluster_counter(list, "own_time", "ns", NETPROF_KIND_COUNTER, 64);
        cluster_counter(list, "bytes", "bytes", NETPROF_KIND_COUNTER, 64);
    }
    assert_int_equal(netprof_build_end(list, &schema, NULL), NETPROF_OK);
    snprintf(file, sizeof file, "rank-%d.series.netprof", rank);
    assert_int_equal(netprof_writer_open(&f.writer, tree_path(tree, file), 0, NULL), NETPROF_OK);
    netprof_write_fact(f.writer, "host", rank % 2 ? "beta" : "alpha", NULL);
    snprintf(number, sizeof number, "%d", 1000 + rank);
    netprof_write_fact(f.writer, "pid", number, NULL);
    snprintf(number, sizeof number, "%d", rank);
    if (s->numbered) netprof_write_fact(f.writer, "rank", number, NULL);
    netprof_write_fact(f.writer, "interval_ns", "1000000000", NULL);
    assert_int_equal(netprof_snapshot_make(&f.x, schema, NULL), NETPROF_OK);
    netprof_schema_release(schema);
    memset(f.x.status, NETPROF_STATUS_OK, f.x.schema->counter_count);
    return f;
}

static void series_remove(const series_shape *s)
{
    for (int rank = 0; rank < s->ranks; rank++) {
        char file[64];
        snprintf(file, sizeof file, "rank-%d.series.netprof", rank);
        assert_int_equal(unlink(tree_path(tree, file)), 0);
    }
}

// A tenth of the time is spent in io; what is left may be spent in exchange.
static void series_write(const series_shape *s)
{
    for (int rank = 0; rank < s->ranks; rank++) {
        node_file f = series_open(s, rank);
        for (int t = 0; t <= s->seconds; t++) {
            node_take(&f, t);
            bool unlike = rank == s->odd && t >= s->from && t < s->to;
            double own = fmin(fmax(s->share * (1 + s->noise * gauss()) * (unlike ? s->times : 1), 0), 0.9);
            node_add(&f, "process", "thread_time", 1e9);
            node_add(&f, "main", "time", 1e9);
            node_add(&f, "main/compute", "time", own * 1e9);
            node_add(&f, "main/compute", "own_time", own * 1e9);
            node_add(&f, "main/compute", "calls", 1);
            node_add(&f, "main/io", "time", 0.1e9);
            node_add(&f, "main/io", "own_time", 0.1e9);
            if (s->waits) node_add(&f, "main/exchange", "time", (0.9 - own) * 1e9);
            if (s->waits) node_add(&f, "main/exchange", "own_time", (0.9 - own) * 1e9);
        }
        node_close(&f);
    }
}

static regions regions_here(void)
{
    regions r = {0};
    netprof_error error = {.code = NETPROF_OK};
    const char *paths[] = {tree};
    if (regions_read(&r, paths, 1, NULL, &error)) fail_msg("%s: %s", error.path, error.text);
    return r;
}

static const regions_note *note_with(const regions *r, const char *text)
{
    for (size_t i = 0; i < r->note_count; i++)
        if (strstr(r->notes[i].text, text)) return &r->notes[i];
    return NULL;
}

static void expect_alone(const regions *r, const series_shape *s, const char *text, severity level)
{
    const regions_alone *x = &r->waits.in_region;
    double window = fmax(1, s->seconds / 64.0);
    const regions_note *note = note_with(r, text);
    if (!note) fail_msg("no \"%s\": %s", text, r->notes[0].text);
    assert_int_equal(x->rank, s->odd);
    assert_string_equal(r->nodes[r->waits.region].name, "compute");
    if (fabs(x->from_s - s->from) > 2 * window || (s->to < s->seconds && fabs(x->until_s - s->to) > 2 * window))
        fail_msg("from %g to %g s, not %d to %d", x->from_s, x->until_s, s->from, s->to);
    assert_int_equal(note->severity, level);
    assert_int_equal(note->rank, s->odd);
}

// ---- tests ----

// In all it is the slowest there, which is a line of its own: since when is new.
static void who_computes_more_from_the_middle_on(void **state)
{
    const series_shape s = {.ranks = 8,
                            .seconds = 60,
                            .noise = 0.1,
                            .share = 0.4,
                            .times = 2,
                            .odd = 5,
                            .from = 30,
                            .to = 61,
                            .numbered = true};
    (void)state;
    series_write(&s);
    regions r = regions_here();
    expect_alone(&r, &s, "Rank 5 (beta) alone spends ", SEVERITY_INFO);
    assert_non_null(note_with(&r, "; the 7 other ranks "));
    assert_non_null(note_with(&r, "Rank 5 (beta) is slowest in compute"));
    assert_true(fabs(r.waits.in_region.share - 0.8) < 0.05 && fabs(r.waits.in_region.others - 0.4) < 0.03);
    regions_free(&r);
}

static void who_computes_more_for_a_while(void **state)
{
    const series_shape s = {.ranks = 8,
                            .seconds = 320,
                            .noise = 0.05,
                            .share = 0.4,
                            .times = 2,
                            .odd = 2,
                            .from = 100,
                            .to = 125,
                            .numbered = true};
    (void)state;
    series_write(&s);
    regions r = regions_here();
    expect_alone(&r, &s, "Rank 2 (alpha) alone spends ", SEVERITY_WATCH);
    if (strstr(r.title, "Rank 2 (alpha) alone spends more time in compute from ") != r.title) fail_msg("%s", r.title);
    regions_free(&r);
}

static void who_computes_less_is_no_culprit(void **state)
{
    (void)state;
    for (int ranks = 2; ranks <= 32; ranks *= 4) {
        const series_shape s = {.ranks = ranks,
                                .seconds = 64,
                                .noise = 0.05,
                                .share = 0.6,
                                .times = 0.4,
                                .odd = 1,
                                .from = 24,
                                .to = 65,
                                .numbered = true};
        series_write(&s);
        regions r = regions_here();
        expect_alone(&r, &s, ranks == 2 ? "; the other rank " : "Rank 1 (beta) alone spends ", SEVERITY_INFO);
        regions_free(&r);
    }
}

// Where regions wait, who works longer is judged by that: here nobody need be accused.
static void where_waits_are_known_it_is_context(void **state)
{
    const series_shape s = {.ranks = 8,
                            .seconds = 320,
                            .noise = 0.05,
                            .share = 0.4,
                            .times = 2,
                            .odd = 2,
                            .from = 100,
                            .to = 125,
                            .numbered = true,
                            .waits = true};
    (void)state;
    series_write(&s);
    regions r = regions_here();
    assert_true(r.waits.known);
    expect_alone(&r, &s, "Rank 2 (alpha) alone spends ", SEVERITY_INFO);
    regions_free(&r);
}

static void alike_ranks_and_processes_that_are_none(void **state)
{
    (void)state;
    for (int i = 0; i < 12; i++) {
        const series_shape s = {
            .ranks = 2 << i % 4, .seconds = 64, .noise = i < 8 ? 0.1 : 0.3, .share = 0.4, .odd = -1, .numbered = true};
        random_state = (uint64_t)i + 1;
        series_write(&s);
        regions r = regions_here();
        if (r.waits.in_region.rank != REGIONS_NONE) fail_msg("set %d: rank %zu", i, r.waits.in_region.rank);
        assert_null(note_with(&r, "alone"));
        regions_free(&r);
        series_remove(&s);
    }
    const series_shape s = {
        .ranks = 16, .seconds = 64, .noise = 0.05, .share = 0.4, .times = 2, .odd = 5, .from = 30, .to = 65};
    series_write(&s);
    regions r = regions_here();
    assert_int_equal(r.waits.in_region.rank, REGIONS_NONE);
    regions_free(&r);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(who_computes_more_from_the_middle_on, setup, teardown),
        cmocka_unit_test_setup_teardown(who_computes_more_for_a_while, setup, teardown),
        cmocka_unit_test_setup_teardown(who_computes_less_is_no_culprit, setup, teardown),
        cmocka_unit_test_setup_teardown(where_waits_are_known_it_is_context, setup, teardown),
        cmocka_unit_test_setup_teardown(alike_ranks_and_processes_that_are_none, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

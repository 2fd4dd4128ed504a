// Calls that count nowhere in this copy of netprof.h: another copy in the process has the regions, and each call goes there as it
// is; or a signal handler came amid another call, and each is lost and told in the file.
#define _GNU_SOURCE
#define NETPROF_IMPLEMENTATION
#define NETPROF_STATIC
#include "netprof.h"

#include "support.h"

#include <sys/wait.h>

// ---- a copy that writes down what it is asked ----

static char asked[4096];

static __attribute__((format(printf, 1, 2))) void note(const char *format, ...)
{
    size_t at = strlen(asked);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(asked + at, sizeof asked - at, format, arguments);
    va_end(arguments);
}

static netprof_region_id its_region(const char *name)
{
    note("region %s\n", name);
    return 70 + (netprof_region_id)strlen(name);
}

static void its_begin(netprof_region_id region)
{
    note("begin %u\n", region);
}

static void its_end(netprof_region_id region)
{
    note("end %u\n", region);
}

static netprof_span its_span_begin(netprof_region_id region)
{
    netprof_span span = {.begin_ticks = 8, .region = region};
    note("span %u\n", region);
    return span;
}

static netprof_span its_span_begin_at(netprof_region_id region, netprof_place place)
{
    netprof_span span = {.begin_ticks = 9, .region = region, .place = place};
    note("span %u at %s\n", region, (const char *)place.node);
    return span;
}

static void its_span_end(netprof_span span)
{
    note("span %u from %" PRIu64 " ends, %" PRIu64 " bytes\n", span.region, span.begin_ticks, span.bytes);
}

static void its_bytes(uint64_t bytes)
{
    note("bytes %" PRIu64 "\n", bytes);
}

static void its_every(netprof_region_id region, unsigned n)
{
    note("every %u: %u\n", region, n);
}

static void its_set_mode(netprof_mode mode)
{
    note("mode %d\n", (int)mode);
}

static void its_set_rank(int rank, int size)
{
    note("rank %d of %d\n", rank, size);
}

static netprof_err its_flush(netprof_error *error)
{
    note("flush\n");
    snprintf(error->text, sizeof error->text, "no disk");
    return NETPROF_ERR_IO;
}

static void its_reset(void)
{
    note("reset\n");
}

static netprof_err its_take(netprof_regions *out, netprof_error *error)
{
    note("take\n");
    snprintf(error->text, sizeof error->text, "no room");
    out->threads = 6;
    return NETPROF_ERR_NOMEM;
}

static const char its_place[] = "its place", another_place[] = "another";

static netprof_place its_here(void)
{
    netprof_place place = {its_place};
    note("here\n");
    return place;
}

static netprof_place its_span_place(const netprof_span *span)
{
    netprof_place place = {another_place};
    note("place of %u\n", span->region);
    return place;
}

static void its_adopt(netprof_place place)
{
    note("adopt %s\n", (const char *)place.node);
}

static void its_adopt_end(void)
{
    note("adopted ends\n");
}

static void its_value(netprof_region_id name, int64_t value)
{
    note("value %u: %" PRId64 "\n", name, value);
}

static netprof_err its_set_output(const char *pattern, netprof_error *error)
{
    note("output %s\n", pattern);
    if (error) snprintf(error->text, sizeof error->text, "no name");
    return NETPROF_ERR_LIMIT;
}

static netprof_err its_set_time(int which, double seconds, netprof_error *error)
{
    note("time %d: %g\n", which, seconds);
    if (error) snprintf(error->text, sizeof error->text, "no time");
    return NETPROF_ERR_ARG;
}

static const netprof__calls another = {
    .version = NETPROF_VERSION_STRING,
    .region = its_region,
    .begin = its_begin,
    .end = its_end,
    .span_begin = its_span_begin,
    .span_end = its_span_end,
    .bytes = its_bytes,
    .every = its_every,
    .set_mode = its_set_mode,
    .set_rank = its_set_rank,
    .flush = its_flush,
    .reset = its_reset,
    .take = its_take,
    .span_begin_at = its_span_begin_at,
    .here = its_here,
    .span_place = its_span_place,
    .adopt = its_adopt,
    .adopt_end = its_adopt_end,
    .value = its_value,
    .set_output = its_set_output,
    .set_time = its_set_time,
};

// The next calls asked the other copy for just this.
static void expect_asked(const char *text)
{
    if (strcmp(asked, text) != 0) fail_msg("asked:\n%s\nexpected:\n%s", asked, text);
    *asked = 0;
}

// As the second of two copies, once its first call has found the other.
static int another_has_the_regions(void **state)
{
    struct netprof__regions_state *g = &netprof__regions_state;
    (void)state;
    g->ready = 1;
    g->epoch = 1;
    g->first = &another;
    netprof__mode_now = NETPROF_MODE_TIME;
    *asked = 0;
    return 0;
}

static int nobody_has_the_regions(void **state)
{
    (void)state;
    memset(&netprof__regions_state, 0, sizeof netprof__regions_state);
    netprof__mode_now = 0;
    return 0;
}

static void regions_begin_and_end_there(void **state)
{
    (void)state;
    assert_int_equal(netprof_region("gather"), 76);
    netprof_begin(76);
    netprof_end(76);
    netprof_end(0); // no region
    netprof_bytes(4096);
    netprof_value(71, -5);
    netprof_region_every(76, 10);
    expect_asked("region gather\nbegin 76\nend 76\nbytes 4096\nvalue 71: -5\nevery 76: 10\n");
    for (int i = 0; i < 2; i++) { // a place in the program asks for its name once
        NETPROF_BEGIN("sort");
        NETPROF_END("sort");
    }
    expect_asked("region sort\nbegin 74\nregion sort\nend 74\nbegin 74\nend 74\n");
    NETPROF_BYTES(17);
    NETPROF_VALUE("rows", 3);
    expect_asked("bytes 17\nregion rows\nvalue 74: 3\n");
    NETPROF_BEGIN_DYNAMIC("x");
    NETPROF_END_DYNAMIC("x");
    expect_asked("region x\nbegin 71\nregion x\nend 71\n");
    assert_int_equal(netprof__regions_state.dropped, 0);
    assert_int_equal(netprof__regions_state.region_count, 0);
    assert_null(netprof__regions_state.threads);
}

static void spans_and_places_are_there(void **state)
{
    netprof_place place = netprof_here();
    netprof_span span = netprof_span_begin(72), second = netprof_span_begin_at(73, place);
    (void)state;
    assert_ptr_equal(place.node, its_place);
    assert_int_equal(span.begin_ticks, 8);
    assert_int_equal(second.begin_ticks, 9);
    netprof_span_bytes(&second, 30);
    netprof_span_bytes(&second, 12);
    assert_ptr_equal(netprof_span_place(&second).node, another_place);
    netprof_span_end(second);
    netprof_span_end(span);
    netprof_adopt(place);
    netprof_adopt_end();
    expect_asked("here\nspan 72\nspan 73 at its place\nplace of 73\nspan 73 from 9 ends, 42 bytes\n"
                 "span 72 from 8 ends, 0 bytes\nadopt its place\nadopted ends\n");
    assert_int_equal(netprof_span_begin_at(0, place).region, 0);
    expect_asked("");
}

// What it answers is the answer.
static void what_is_set_is_set_there(void **state)
{
    netprof_error error = NETPROF_ZERO;
    netprof_regions r;
    (void)state;
    netprof_set_rank(3, 8);
    netprof_regions_reset();
    assert_int_equal(netprof_flush(&error), NETPROF_ERR_IO);
    assert_string_equal(error.text, "no disk");
    assert_int_equal(netprof_regions_take(&r, &error), NETPROF_ERR_NOMEM);
    assert_string_equal(error.text, "no room");
    assert_int_equal(r.threads, 6);
    assert_int_equal(netprof_set_output("out/%p", &error), NETPROF_ERR_LIMIT);
    assert_string_equal(error.text, "no name");
    assert_int_equal(netprof_set_flush(2.5, &error), NETPROF_ERR_ARG);
    assert_int_equal(netprof_set_series(0.25, &error), NETPROF_ERR_ARG);
    assert_int_equal(netprof_set_interval(7, &error), NETPROF_ERR_ARG);
    assert_string_equal(error.text, "no time");
    expect_asked("rank 3 of 8\nreset\nflush\ntake\noutput out/%p\ntime 1: 2.5\ntime 2: 0.25\ntime 0: 7\n");
    assert_int_equal(netprof_set_output("", &error), NETPROF_ERR_ARG); // what is wrong is not passed on
    assert_int_equal(netprof_set_flush(-1, &error), NETPROF_ERR_ARG);
    netprof_set_mode((netprof_mode)(NETPROF_MODE_SAMPLER + 1));
    expect_asked("");
    netprof_set_mode(NETPROF_MODE_SAMPLER);
    netprof_set_mode(NETPROF_MODE_FAST);
    expect_asked("mode 4\nmode 3\n");
    assert_int_equal(netprof__mode_now, NETPROF_MODE_FAST);
}

// Mode off: not even the other copy is asked.
static void nothing_is_asked_when_it_is_off(void **state)
{
    (void)state;
    netprof_set_mode(NETPROF_MODE_OFF);
    expect_asked("mode 1\n");
    netprof_begin(5);
    netprof_end(5);
    netprof_bytes(6);
    netprof_value(5, 6);
    assert_null(netprof_here().node);
    netprof_adopt((netprof_place){its_place});
    netprof_adopt_end();
    netprof_span span = netprof_span_begin_at(5, (netprof_place){its_place});
    assert_int_equal(span.begin_ticks, 0);
    span.begin_ticks = 3;
    assert_null(netprof_span_place(&span).node);
    expect_asked("");
}

// ---- the real meeting of copies ----

static void pages_of_copies(void **state)
{
    static const netprof__calls one, two;
    netprof__meeting *a = netprof__meeting_make(&one), *b = netprof__meeting_make(&two);
    char line[128];
    (void)state;
    assert_non_null(a);
    assert_non_null(b);
    assert_ptr_equal(a->calls, &one);
    assert_ptr_equal(b->calls, &two);
    assert_true(a->stamp_ns > 0 && b->stamp_ns >= a->stamp_ns);
    b->stamp_ns = a->stamp_ns + 1;
    snprintf(line, sizeof line, "%lx-%lx rw-p 00000000 00:01 77    /memfd:netprof-regions-2 (deleted)\n",
             (unsigned long)(uintptr_t)a, (unsigned long)(uintptr_t)a + 4096);
    assert_ptr_equal(netprof__meeting_of(line, b), a); // the earlier has the regions
    assert_ptr_equal(netprof__meeting_of(line, a), a);
    b->stamp_ns = a->stamp_ns - 1;
    assert_ptr_equal(netprof__meeting_of(line, b), b);
    b->stamp_ns = a->stamp_ns; // of two at once the one that comes first in memory
    assert_ptr_equal(netprof__meeting_of(line, b), a < b ? a : b);
    b->stamp_ns = a->stamp_ns + 1;
    a->magic[15] ^= 1; // not one of ours
    assert_ptr_equal(netprof__meeting_of(line, b), b);
    a->magic[15] ^= 1;
    strchr(line, '(')[0] = '[';
    assert_ptr_equal(netprof__meeting_of(line, b), b);
    snprintf(line, sizeof line, "%lx-%lx rw-p 00000000 00:01 77    /memfd:netprof-regions-3 (deleted)\n",
             (unsigned long)(uintptr_t)a, (unsigned long)(uintptr_t)a + 4096);
    assert_ptr_equal(netprof__meeting_of(line, b), b); // of another version of the page
    munmap(a, sizeof *a);
    munmap(b, sizeof *b);
}

// ---- amid another call ----

#define EXPECT(what)                                                                                                   \
    do {                                                                                                               \
        if (!(what)) _exit(1 + failed);                                                                                \
        failed++;                                                                                                      \
    } while (0)

// As in a signal handler that interrupted a call of netprof: ten calls that count nowhere, of which nothing is left.
static int calls_of_a_handler(netprof_region_id work, int failed)
{
    netprof__thread *t = netprof__this_thread;
    netprof_span span = {.begin_ticks = 7, .region = work};
    netprof_error error = NETPROF_ZERO;
    netprof_regions r;
    netprof__holds_lock = 1;
    t->ready = 0;
    netprof_begin(work);
    netprof_end(work);
    netprof_bytes(100);
    netprof_value(work, 5);
    netprof_adopt(netprof_here());
    netprof_adopt_end();
    netprof_span_end(span);
    EXPECT(!netprof_span_place(&span).node);
    EXPECT(t->depth == 1 && t->dropped[NETPROF__LOST_IN_HANDLER] == 8);
    EXPECT(netprof_region("new") == 0 && netprof_region("work") == work);
    EXPECT(netprof_flush(&error) == NETPROF_ERR_ARG && strstr(error.text, "signal handler"));
    memset(&error, 0, sizeof error);
    EXPECT(netprof_regions_take(&r, &error) == NETPROF_ERR_ARG && strstr(error.text, "signal handler"));
    memset(&error, 0, sizeof error);
    EXPECT(netprof_set_output("x", &error) == NETPROF_ERR_ARG && strstr(error.text, "signal handler"));
    memset(&error, 0, sizeof error);
    EXPECT(netprof_set_flush(1, &error) == NETPROF_ERR_ARG && strstr(error.text, "signal handler"));
    netprof_set_rank(4, 5);
    netprof_regions_reset();
    netprof_set_mode(NETPROF_MODE_OFF);
    EXPECT(netprof__regions_state.rank == -1 && netprof__regions_state.size == -1 && !netprof__regions_state.resets);
    EXPECT(netprof__mode_now == NETPROF_MODE_TIME);
    t->ready = t->epoch;
    netprof__holds_lock = 0;
    return failed;
}

// Loses 8 calls in a handler, 3 too deep, and 2 + 5 otherwise: in another thread, and without a region.
static void lose_calls(const char *output)
{
    int failed = 0;
    setenv("NETPROF_OUTPUT", output, 1);
    netprof_region_id work = netprof_region("work");
    netprof_begin(work);
    failed = calls_of_a_handler(work, failed);
    for (int i = 1; i < NETPROF_MAX_DEPTH + 3; i++)
        netprof_begin(work);
    for (int i = 0; i < NETPROF_MAX_DEPTH + 3; i++)
        netprof_end(work);
    EXPECT(netprof__this_thread->depth == 0 && !netprof__this_thread->too_deep);
    for (int i = 0; i < 5; i++)
        netprof_begin(0);
    netprof__this_thread->dropped[NETPROF__LOST_OTHERWISE] += 2;
    EXPECT(netprof_flush(NULL) == NETPROF_OK);
    _exit(0);
}

static char *facts_of_losses(const char *path, uint64_t *dropped)
{
    static char text[1000];
    netprof_reader *reader = NULL;
    netprof_item item;
    *text = 0;
    assert_int_equal(netprof_reader_open(&reader, path, NULL, NULL), NETPROF_OK);
    do {
        size_t at = strlen(text);
        assert_int_equal(netprof_reader_next(reader, &item, NULL), NETPROF_OK);
        if (item.type == NETPROF_ITEM_FACT && strncmp(item.fact->key, "dropped", 7) == 0)
            snprintf(text + at, sizeof text - at, "%s=%s\n", item.fact->key, item.fact->value);
        if (item.type == NETPROF_ITEM_REGIONS) *dropped = item.regions->dropped;
    } while (item.type != NETPROF_ITEM_END);
    netprof_reader_close(reader);
    return text;
}

static void what_is_lost_is_told(void **state)
{
    char *tree = tree_make(), output[600];
    uint64_t dropped = 0;
    int status;
    (void)state;
    snprintf(output, sizeof output, "%s/lost.netprof", tree);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) lose_calls(output);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (status) fail_msg("expectation %d", WEXITSTATUS(status));
    assert_string_equal(facts_of_losses(output, &dropped),
                        "dropped_in_handler=8\ndropped_too_deep=3\ndropped_otherwise=7\n");
    assert_int_equal(dropped, 8 + 3 + 7);
    tree_remove(tree);
}

// ---- after a fork ----

static void *work_once(void *region)
{
    netprof_begin(*(netprof_region_id *)region);
    netprof_end(*(netprof_region_id *)region);
    return NULL;
}

static void work_in_thread(netprof_region_id region)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, work_once, &region) != 0) _exit(200);
    pthread_join(thread, NULL);
}

// Five threads of the parent, of which the second forks, and of the child that one and two more: numbered from 0 in each.
static void count_threads(void)
{
    struct netprof__regions_state *g = &netprof__regions_state;
    netprof_region_id work = netprof_region("work");
    netprof_regions r;
    int failed = 0, status;
    work_in_thread(work);
    work_once(&work);
    for (int i = 0; i < 3; i++)
        work_in_thread(work);
    for (int i = 0; i < 4; i++)
        netprof_begin(0);
    EXPECT(netprof_regions_take(&r, NULL) == NETPROF_OK && r.threads == 5 && r.count == 5 && r.dropped == 4);
    netprof_regions_free(&r);
    pid_t child = fork();
    if (child) {
        EXPECT(child > 0 && waitpid(child, &status, 0) == child && status == 0);
        _exit(0);
    }
    EXPECT(g->thread_count == 1 && g->threads_begun == 1 && g->threads && !g->threads->next && g->past);
    EXPECT(!g->used && !g->dropped && g->resets == 1 && g->forks == 1 && g->parent == getppid());
    work_once(&work);
    work_once(&work);
    for (int i = 0; i < 2; i++)
        work_in_thread(work);
    EXPECT(netprof_regions_take(&r, NULL) == NETPROF_OK && r.threads == 3 && r.count == 3 && !r.dropped);
    for (size_t i = 0; i < r.count; i++)
        EXPECT(r.stats[i].thread < 3 && r.stats[i].calls == (r.stats[i].thread == 0 ? 2 : 1));
    EXPECT(r.stats[0].thread != r.stats[1].thread && r.stats[1].thread != r.stats[2].thread);
    EXPECT(r.stats[0].thread != r.stats[2].thread);
    netprof_regions_free(&r);
    _exit(0);
}

static void threads_of_a_child(void **state)
{
    int status;
    (void)state;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        setenv("NETPROF_OUTPUT", "/dev/null", 1);
        count_threads();
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (status) fail_msg("expectation %d", WEXITSTATUS(status));
}

// ---- counters at the edges of a call ----

// What is not known at both edges has moved by at least nothing, and what went back began again: by at least what it shows.
static void between_two_readings(void **state)
{
    static const struct row rows[] = {
        {"s", "d", "plain", NETPROF_KIND_COUNTER, 64, 1, 0, 0}, {"s", "d", "wraps", NETPROF_KIND_COUNTER, 32, 1, 0, 0},
        {"s", "d", "gone", NETPROF_KIND_COUNTER, 64, 1, 0, 0},  {"s", "d", "came", NETPROF_KIND_COUNTER, 64, 1, 0, 0},
        {"s", "d", "back", NETPROF_KIND_COUNTER, 64, 1, 0, 0},  {"s", "d", "still", NETPROF_KIND_COUNTER, 64, 1, 0, 0}};
    struct netprof__regions_state *g = &netprof__regions_state;
    const netprof_schema *schema = schema_of_rows(rows, COUNT(rows), NULL, NULL);
    uint64_t before[] = {100, UINT32_MAX - 1, 50, 60, 900, 7}, after[] = {103, 5, 55, 66, 800, 7}, sums[6] = {10, 20};
    unsigned char known_before[] = {1, 1, 1, 0, 1, 1}, known_after[] = {1, 1, 0, 1, 1, 1};
    uint32_t counters[] = {0, 1, 2, 3, 4, 5};
    netprof__sample first, last, same;
    netprof__node node;
    (void)state;
    memset(&first, 0, sizeof first);
    memset(&node, 0, sizeof node);
    last = first;
    first.values = before, first.known = known_before, first.sequence = 4;
    last.values = after, last.known = known_after, last.sequence = 6;
    same = last, same.sequence = 4;
    node.sums = sums;
    g->schema = schema, g->counters = counters, g->counter_count = COUNT(rows);
    g->open = 5;
    netprof__count_edges(&node, &first, &last);
    assert_int_equal(node.tally.counted, 1);
    assert_int_equal(node.tally.concurrency, 5);
    assert_int_equal(g->open, 4);
    assert_int_equal(g->bounded, 3);
    netprof__count_edges(&node, &first, &same); // no reading came in between
    netprof__count_edges(&node, NULL, &last);
    netprof__count_edges(&node, &first, NULL);
    assert_int_equal(node.tally.too_short, 3);
    assert_int_equal(node.tally.counted, 1);
    assert_int_equal(g->open, 1);
    assert_int_equal(sums[0], 13);
    assert_int_equal(sums[1], 20 + 7);
    for (size_t i = 2; i < COUNT(sums); i++)
        assert_int_equal(sums[i], i == 4 ? 800 : 0);
    netprof_schema_release(schema);
    memset(g, 0, sizeof *g);
}

// Beside the other file; where there is no room, cut, and never written beyond it.
static void names_of_series(void **state)
{
    static const struct {
        const char *output, *name;
        size_t size;
    } all[] = {
        {"/nowhere/a.netprof", "/nowhere/a.series.netprof", 100},
        {"/nowhere/a", "/nowhere/a.series.netprof", 100},
        {"/nowhere/a.netprof.x", "/nowhere/a.netprof.x.series.netprof", 100},
        {"/.netprof", "/.series.netprof", 100},
        {"/nowhere/a.netprof", "/nowhere/a.series.netprof", 27},
        {"/nowhere/a.netprof", "/nowhere/a.netpro.series.", 26}, // of both, what there is room for
        {"/nowhere/abcdefg", "/nowhere/abcde.series.", 23},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(all); i++) {
        char name[128];
        memset(name, '#', sizeof name);
        snprintf(netprof__regions_state.output, sizeof netprof__regions_state.output, "%s", all[i].output);
        netprof__regions_state.pid = getpid();
        netprof__regions_state.rank = netprof__regions_state.size = -1;
        netprof__series_name(name, all[i].size);
        if (strcmp(name, all[i].name) != 0) fail_msg("%s: %s, expected %s", all[i].output, name, all[i].name);
        assert_int_equal(name[all[i].size], '#');
    }
    netprof__regions_state.output[0] = 0;
}

int main(void)
{
    static const char *const variables[] = {"NETPROF",     "SLURM_PROCID", "SLURM_NTASKS",         "PMI_RANK",
                                            "PMI_SIZE",    "PMIX_RANK",    "OMPI_COMM_WORLD_RANK", "PALS_RANKID",
                                            "NETPROF_RANK"};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(regions_begin_and_end_there, another_has_the_regions, nobody_has_the_regions),
        cmocka_unit_test_setup_teardown(spans_and_places_are_there, another_has_the_regions, nobody_has_the_regions),
        cmocka_unit_test_setup_teardown(what_is_set_is_set_there, another_has_the_regions, nobody_has_the_regions),
        cmocka_unit_test_setup_teardown(nothing_is_asked_when_it_is_off, another_has_the_regions,
                                        nobody_has_the_regions),
        cmocka_unit_test(pages_of_copies),
        cmocka_unit_test(what_is_lost_is_told),
        cmocka_unit_test(threads_of_a_child),
        cmocka_unit_test(between_two_readings),
        cmocka_unit_test(names_of_series),
    };
    for (size_t i = 0; i < COUNT(variables); i++)
        unsetenv(variables[i]);
    setenv("NETPROF_QUIET", "1", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

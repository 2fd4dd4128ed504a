// Clocks of hosts: planted offsets, steps and drifts are found, and what stays uncertain is said.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/data/clocks.h"
#include "analysis/data/series.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND INT64_C(1000000000)
#define MS     INT64_C(1000000)
static const int64_t epoch = INT64_C(1700000000) * SECOND;

// Doubles of today's nanoseconds: a quarter of a microsecond each, a few of them in a sum.
static void assert_near(int64_t a, int64_t b, int64_t within)
{
    if (a - b > within || b - a > within) fail_msg("%lld is not %lld", (long long)a, (long long)b);
}

// A run whose wall clock is ahead of the true time by so much; the host was booted `up` before the epoch.
static clocks_input run_of(const char *name, const char *boot, int64_t ahead, int64_t up)
{
    return (clocks_input){.name = name,
                          .boot_id = boot,
                          .wall_ns = epoch + ahead,
                          .mono_ns = up,
                          .end_wall_ns = epoch + ahead + 60 * SECOND,
                          .end_mono_ns = up + 60 * SECOND,
                          .max_error_ns = CLOCKS_UNKNOWN_NS};
}

static void find(clocks *c, const clocks_input *runs, size_t count, const clocks_event *events, size_t event_count)
{
    clocks_find(c, runs, count, events, event_count);
    assert_int_equal(c->count, count);
}

// Two runs of one boot, whose wall clock was set back 3 s between them: the monotonic clock holds.
static void one_boot_is_one_clock(void **state)
{
    clocks c = {0};
    clocks_input runs[] = {run_of("n1", "boot-a", 0, 5000 * SECOND),
                           run_of("n2", "boot-a", -3 * SECOND, 5100 * SECOND)};
    runs[1].wall_ns += 100 * SECOND; // it began 100 s after the other
    runs[1].end_wall_ns += 100 * SECOND;
    find(&c, runs, 2, NULL, 0);
    assert_int_equal(c.hosts, 1);
    assert_near(c.runs[1].offset_ns, 3 * SECOND, 1000);
    assert_near(clocks_place(&c, 1, runs[1].wall_ns), epoch + 100 * SECOND, 1000);
    assert_int_equal(c.error_ns, 0);
    assert_non_null(strstr(c.text, "one boot"));
    clocks_free(&c);
    (void)state;
}

// A container with a time namespace of its own tells another monotonic clock, and the same wall clock at the same time.
static void a_time_namespace_is_no_step(void **state)
{
    clocks c = {0};
    clocks_input runs[] = {run_of("a", "boot-a", 0, 5000 * SECOND), run_of("b", "boot-a", 0, 10 * SECOND)};
    find(&c, runs, 2, NULL, 0);
    assert_int_equal(c.runs[1].offset_ns, 0);
    clocks_free(&c);
    (void)state;
}

static void a_clock_that_was_set_is_said(void **state)
{
    clocks c = {0};
    clocks_input runs[] = {run_of("n1", "boot-a", 0, 5000 * SECOND)};
    runs[0].end_wall_ns += 2 * SECOND;
    find(&c, runs, 1, NULL, 0);
    assert_near(c.runs[0].set_ns, 2 * SECOND, 1000);
    assert_non_null(strstr(c.text, "The wall clock of n1 was set 2 s ahead"));
    clocks_free(&c);
    (void)state;
}

// Two synchronised hosts are apart by no more than both errors; nothing is moved.
static void the_kernels_word(void **state)
{
    clocks c = {0};
    clocks_input runs[] = {run_of("n1", "a", 2 * MS, 1), run_of("n2", "b", -1 * MS, 7), run_of("n3", "c", 0, 9)};
    runs[0].max_error_ns = 4 * MS;
    runs[1].max_error_ns = 3 * MS;
    runs[2].max_error_ns = 1 * MS;
    find(&c, runs, 3, NULL, 0);
    assert_int_equal(c.hosts, 3);
    assert_int_equal(c.reference, 2);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(c.runs[i].offset_ns, 0);
    assert_near(c.runs[0].error_ns, 5 * MS, 1);
    assert_near(c.runs[1].error_ns, 4 * MS, 1);
    assert_near(c.error_ns, 7 * MS, 1); // n1 and n2
    // The truth is within it.
    assert_true(llabs(runs[0].wall_ns - runs[1].wall_ns) <= c.error_ns);
    assert_string_equal(c.text, "The clocks of 3 hosts agree within 7 ms, by what their kernels say.");
    clocks_free(&c);
    (void)state;
}

static void one_clock_that_nobody_knows(void **state)
{
    clocks c = {0};
    clocks_input runs[] = {run_of("n1", "a", 0, 1), run_of("n2", "b", 0, 7)};
    runs[0].max_error_ns = 4 * MS;
    runs[1].max_error_ns = 16 * SECOND;
    runs[1].unsynchronised = true; // its number means nothing then
    find(&c, runs, 2, NULL, 0);
    assert_int_equal(c.runs[1].basis, CLOCKS_NOTHING);
    assert_int_equal(c.runs[1].error_ns, CLOCKS_UNKNOWN_NS);
    assert_int_equal(c.error_ns, CLOCKS_UNKNOWN_NS);
    assert_non_null(strstr(c.text, "not known"));
    assert_non_null(strstr(c.text, "n2"));
    assert_null(strstr(c.text, "n1"));
    clocks_free(&c);
    (void)state;
}

// n2's clock is 40 s ahead; a step began on both within a second.
static void an_event_finds_a_planted_offset(void **state)
{
    clocks c = {0};
    clocks_input runs[] = {run_of("n1", "a", 0, 1), run_of("n2", "b", 40 * SECOND, 7)};
    clocks_event events[] = {{0, "17.0", epoch + SECOND, SECOND / 2},
                             {1, "17.0", epoch + 40 * SECOND + SECOND, SECOND / 2}};
    find(&c, runs, 2, events, 2);
    assert_int_equal(c.runs[1].basis, CLOCKS_EVENTS);
    assert_near(c.runs[1].offset_ns, -40 * SECOND, 1000);
    assert_near(c.runs[1].error_ns, SECOND, 1000);
    assert_near(clocks_place(&c, 1, epoch + 50 * SECOND), epoch + 10 * SECOND, 1000);
    assert_non_null(strstr(c.text, "n2 is moved 40 s back"));
    clocks_free(&c);
    (void)state;
}

// An offset that could be nothing stays: the event is wider than what it shows.
static void nothing_is_moved_without_need(void **state)
{
    clocks c = {0};
    clocks_input runs[] = {run_of("n1", "a", 0, 1), run_of("n2", "b", SECOND / 4, 7)};
    clocks_event events[] = {{0, "17.0", epoch, SECOND / 2}, {1, "17.0", epoch + SECOND / 4, SECOND / 2}};
    find(&c, runs, 2, events, 2);
    assert_int_equal(c.runs[1].offset_ns, 0);
    assert_near(c.runs[1].error_ns, SECOND + SECOND / 4, 1000); // from -1.25 s to 0.75 s
    clocks_free(&c);
    (void)state;
}

// Events narrow what the kernels say; an event that they exclude is a late start, and moves nothing.
static void events_and_kernels(void **state)
{
    clocks c = {0};
    clocks_input runs[] = {run_of("n1", "a", 0, 1), run_of("n2", "b", 0, 7)};
    clocks_event events[] = {{0, "e", epoch, MS / 2}, {1, "e", epoch + 3 * MS, MS / 2}};
    runs[0].max_error_ns = runs[1].max_error_ns = 10 * MS;
    find(&c, runs, 2, events, 2);
    assert_int_equal(c.runs[1].basis, CLOCKS_KERNEL);
    assert_near(c.runs[1].offset_ns, -3 * MS, 1000);
    assert_near(c.runs[1].error_ns, MS, 1000);
    assert_int_equal(c.runs[1].contradicted_ns, 0);
    events[1].wall_ns = epoch + 2 * SECOND;
    find(&c, runs, 2, events, 2);
    assert_int_equal(c.runs[1].offset_ns, 0);
    assert_near(c.runs[1].error_ns, 20 * MS, 1);
    assert_near(c.runs[1].contradicted_ns, -2 * SECOND, 1000);
    assert_non_null(strstr(c.text, "later"));
    clocks_free(&c);
    (void)state;
}

// n2's clock gains 100 ppm and began 5 ms ahead; three events over 1000 s, each sharp to 0.1 ms.
static void events_find_a_planted_drift(void **state)
{
    clocks c = {0};
    clocks_input runs[] = {run_of("n1", "a", 0, 1), run_of("n2", "b", 5 * MS, 7)};
    clocks_event events[6];
    static const char *const keys[] = {"one", "two", "three"};
    for (size_t i = 0; i < 3; i++) {
        int64_t since = (int64_t)i * 500 * SECOND;
        events[2 * i] = (clocks_event){0, keys[i], epoch + since, MS / 10};
        events[2 * i + 1] = (clocks_event){1, keys[i], epoch + 5 * MS + since + since / 10000, MS / 10};
    }
    find(&c, runs, 2, events, 6);
    assert_near(c.runs[1].offset_ns, -5 * MS, 2000);
    assert_true(fabs(c.runs[1].drift + 1e-4) < 1e-8);
    for (size_t i = 0; i < 3; i++)
        assert_near(clocks_place(&c, 1, events[2 * i + 1].wall_ns), events[2 * i].wall_ns, 11000); // 1e-8 of 1000 s
    assert_near(c.runs[1].error_ns, MS / 5, 15000);
    assert_non_null(strstr(c.text, "ppm"));
    clocks_free(&c);
    (void)state;
}

// Two events that disagree by more than a clock can drift: it was set; one offset with an error that covers both.
static void no_clock_drifts_so_much(void **state)
{
    clocks c = {0};
    clocks_input runs[] = {run_of("n1", "a", 0, 1), run_of("n2", "b", 0, 7)};
    clocks_event events[] = {{0, "one", epoch, MS},
                             {1, "one", epoch, MS},
                             {0, "two", epoch + 10 * SECOND, MS},
                             {1, "two", epoch + 15 * SECOND, MS}};
    find(&c, runs, 2, events, 4);
    assert_true(c.runs[1].drift == 0);
    assert_near(c.runs[1].error_ns, 5 * SECOND + 2 * MS, 1000);
    clocks_free(&c);
    (void)state;
}

static void what_a_hostile_file_says(void **state)
{
    clocks c = {0};
    clocks_input runs[3] = {run_of("n1", "a", 0, 1), run_of(NULL, NULL, 0, 7), run_of("\033[2J", "c", 0, 7)};
    clocks_event events[] = {{0, "e", INT64_MIN, INT64_MAX}, {1, "e", INT64_MAX, INT64_MAX}, {2, "x", 0, 0}};
    runs[0].wall_ns = INT64_MAX, runs[0].mono_ns = INT64_MIN;
    runs[1].end_wall_ns = INT64_MIN, runs[1].end_mono_ns = INT64_MAX;
    find(&c, runs, 3, events, 3);
    for (size_t i = 0; i < 3; i++)
        (void)clocks_place(&c, i, INT64_MIN);
    static const netprof_fact facts[] = {{"clock_synchronised", "yes"}, {"clock_max_error_us", "99999999999999999999"}};
    clocks_take_facts(&runs[0], facts, 2);
    assert_int_equal(runs[0].max_error_ns, CLOCKS_UNKNOWN_NS);
    find(&c, NULL, 0, NULL, 0);
    clocks_free(&c);
    (void)state;
}

static void the_worse_of_begin_and_end(void **state)
{
    clocks_input x = {0};
    static const netprof_fact facts[] = {{"clock_synchronised", "yes"},
                                         {"clock_max_error_us", "1500"},
                                         {"clock_end_synchronised", "yes"},
                                         {"clock_end_max_error_us", "2500"}};
    clocks_take_facts(&x, facts, 4);
    assert_int_equal(x.max_error_ns, 2500000);
    assert_false(x.unsynchronised);
    static const netprof_fact lost[] = {
        {"clock_synchronised", "yes"}, {"clock_max_error_us", "1500"}, {"clock_end_synchronised", "no"}};
    clocks_take_facts(&x, lost, 3);
    assert_true(x.unsynchronised);
    (void)state;
}

// ---- the axis of a series ----

static const netprof_schema *schema_of(const char *host, const char *boot)
{
    netprof_list *list = netprof_build_begin(NULL);
    const netprof_schema *schema = NULL;
    netprof_counter bytes = {.name = "rx_bytes", .unit = "bytes", .width = 64};
    netprof_build_fact(list, "host", host);
    netprof_build_fact(list, "boot_id", boot);
    netprof_build_source(list, "netdev");
    netprof_list_device(list, "eth0", 0, NETPROF_DEVICE_PHYSICAL);
    netprof_list_counter(list, &bytes);
    assert_int_equal(netprof_build_end(list, &schema, NULL), NETPROF_OK);
    return schema;
}

static int append(void *user, const void *data, size_t size)
{
    FILE *to = user;
    return fwrite(data, 1, size, to) != size;
}

// Five readings a second apart; the wall clock is ahead of the true time.
static void put_run(FILE *to, const char *host, const char *boot, int64_t ahead)
{
    netprof_writer *w;
    netprof_snapshot x = NETPROF_ZERO;
    const netprof_schema *schema = schema_of(host, boot);
    assert_int_equal(netprof_snapshot_make(&x, schema, NULL), NETPROF_OK);
    assert_int_equal(netprof_writer_open_fn(&w, append, to, NULL), NETPROF_OK);
    netprof_write_fact(w, "job_id", "17", NULL);
    netprof_write_fact(w, "job_step", "0", NULL);
    x.status[0] = NETPROF_STATUS_OK;
    for (int64_t i = 0; i < 5; i++) {
        x.values[0] = (uint64_t)i * 1000;
        x.begin_ns = x.end_ns = x.device_begin_ns[0] = x.device_end_ns[0] = (100 + i) * SECOND;
        x.wall_ns = epoch + i * SECOND + ahead;
        assert_int_equal(netprof_write_snapshot(w, &x, NULL), NETPROF_OK);
    }
    assert_int_equal(netprof_writer_close(w, 1, NULL), NETPROF_OK);
    netprof_snapshot_free(&x);
    netprof_schema_release(schema);
}

// Two nodes in one file: a run each, and the one whose clock is an hour ahead stands beside the other.
static void a_series_of_two_hosts(void **state)
{
    char *data;
    size_t size;
    dataset set = {0};
    series s = {0};
    clocks c = {0};
    dataset_options how = {.ends_only = 1, .each = series_take, .user = &s};
    FILE *to = open_memstream(&data, &size);
    put_run(to, "n1", "boot-a", 0);
    put_run(to, "n2", "boot-b", 3600 * SECOND);
    fclose(to);
    assert_int_equal(dataset_read_memory(&set, "job.netprof", data, size, &how, NULL), NETPROF_OK);
    assert_int_equal(set.run_count, 2);
    assert_int_equal(set.warning_count, 0);
    assert_string_equal(set.runs[0].host, "n1");
    assert_string_equal(set.runs[1].host, "n2");
    assert_int_equal(set.runs[1].part, 2);
    assert_int_equal(set.runs[1].parts, 2);
    assert_true(set.runs[0].complete && set.runs[1].complete);
    clocks_of_dataset(&c, &set);
    series_align(&s, &set, &c);
    series_finish(&s);
    assert_int_equal(s.run_count, 2);
    assert_true(fabs(s.runs[1].begin_s) < 1e-5);
    assert_true(fabs(s.end_s - 4) < 1e-5);
    assert_true(fabs(s.devices[1].steps[3].to_s - 4) < 1e-5);
    assert_near(c.runs[1].error_ns, CLOCKS_STEP_BEGIN_NS, 1000);
    clocks_free(&c);
    series_free(&s);
    dataset_free(&set);
    free(data);
    (void)state;
}

// The first of two was killed: its readings are there, the warning has the place in the whole file, the second is whole.
static void a_cut_part(void **state)
{
    char *data;
    size_t size, first;
    dataset set = {0};
    FILE *to = open_memstream(&data, &size);
    put_run(to, "n1", "boot-a", 0);
    fflush(to);
    first = size;
    put_run(to, "n2", "boot-b", 0);
    fclose(to);
    memmove(data + first - 5, data + first, size - first); // 5 bytes of its last chunk
    size -= 5;
    assert_int_equal(dataset_read_memory(&set, "job.netprof", data, size, NULL, NULL), NETPROF_OK);
    assert_int_equal(set.run_count, 2);
    assert_int_equal(set.runs[0].snapshot_count, 5);
    assert_int_equal(set.runs[1].snapshot_count, 5);
    assert_false(set.runs[0].complete);
    assert_true(set.runs[1].complete);
    assert_int_equal(set.warning_count, 1);
    assert_true(set.warnings[0].offset < first && set.warnings[0].offset > first - 20);
    dataset_free(&set);
    // The second is damaged in its header: only that is lost.
    data[first - 5 + 12] = 9;
    assert_int_equal(dataset_read_memory(&set, "job.netprof", data, size, NULL, NULL), NETPROF_OK);
    assert_int_equal(set.runs[0].snapshot_count >= 5, 1);
    dataset_free(&set);
    free(data);
    (void)state;
}

// Readings every second; before the fourth the clock is set 1 h ahead, before the sixth 90 min back.
static void a_run_goes_on_by_the_monotonic_clock(void **state)
{
    static const int64_t ahead[] = {0, 0, 0, 3600, 3600, -1800, -1800};
    clocks_axis axis = {0};
    for (int64_t i = 0; i < 7; i++) {
        netprof_snapshot x = {.begin_ns = (77 + i) * SECOND, .wall_ns = epoch + (i + ahead[i]) * SECOND};
        assert_int_equal(clocks_axis_next(&axis, &x), epoch + i * SECOND);
        assert_int_equal(axis.set_ns, ahead[i] * SECOND);
        assert_int_equal(axis.steps, i < 3 ? 0 : i < 5 ? 1 : 2);
    }
    // Without a monotonic clock nobody knows.
    axis = (clocks_axis){0};
    for (int64_t i = 0; i < 7; i++) {
        netprof_snapshot x = {.wall_ns = epoch + (i + ahead[i]) * SECOND};
        assert_int_equal(clocks_axis_next(&axis, &x), x.wall_ns);
        assert_int_equal(axis.steps, 0);
    }
    // A time before 1970 is not known: the difference of any two times on the axis fits into 64 bits.
    const netprof_snapshot early = {.wall_ns = -epoch}, late = {.wall_ns = INT64_MAX};
    axis = (clocks_axis){0};
    assert_int_equal(clocks_axis_next(&axis, &early), 0);
    assert_int_equal(clocks_axis_next(&axis, &late), INT64_MAX);
    (void)state;
}

// Daemons slew by 500 ppm at most: an hour of that is no step, and 20 ms within a second are.
static void a_slewed_clock_was_not_set(void **state)
{
    assert_int_equal(clocks_set_by(3600 * SECOND + 3600 * SECOND / 2000, 3600 * SECOND), 0);
    assert_int_equal(clocks_set_by(3600 * SECOND - 3600 * SECOND / 2000, 3600 * SECOND), 0);
    assert_int_equal(clocks_set_by(SECOND + 5 * MS, SECOND), 0);
    assert_int_equal(clocks_set_by(SECOND + 20 * MS, SECOND), 20 * MS);
    assert_int_equal(clocks_set_by(SECOND - 20 * MS, SECOND), -20 * MS);
    static const struct {
        size_t steps;
        int64_t set_ns;
        const char *words;
    } all[] = {{1, 3600 * SECOND, "set 1 h 00 min ahead"},
               {1, -2 * SECOND, "set 2 s back"},
               {2, -1800 * SECOND, "set 2 times, 30 min 00 s back in all"},
               {2, 0, "set 2 times, and back to what it was"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char *words = clocks_set_words(all[i].steps, all[i].set_ns);
        assert_string_equal(words, all[i].words);
        free(words);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_boot_is_one_clock),
        cmocka_unit_test(a_time_namespace_is_no_step),
        cmocka_unit_test(a_clock_that_was_set_is_said),
        cmocka_unit_test(the_kernels_word),
        cmocka_unit_test(one_clock_that_nobody_knows),
        cmocka_unit_test(an_event_finds_a_planted_offset),
        cmocka_unit_test(nothing_is_moved_without_need),
        cmocka_unit_test(events_and_kernels),
        cmocka_unit_test(events_find_a_planted_drift),
        cmocka_unit_test(no_clock_drifts_so_much),
        cmocka_unit_test(what_a_hostile_file_says),
        cmocka_unit_test(the_worse_of_begin_and_end),
        cmocka_unit_test(a_series_of_two_hosts),
        cmocka_unit_test(a_cut_part),
        cmocka_unit_test(a_run_goes_on_by_the_monotonic_clock),
        cmocka_unit_test(a_slewed_clock_was_not_set),
    };
    return cmocka_run_group_tests_name("clocks", tests, NULL, NULL);
}

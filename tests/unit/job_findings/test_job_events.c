// Events of a job: what counts trouble on how many devices, where most, whether on all alike, and in which order; of a report
// as a model.
#define _GNU_SOURCE
#include "netprof.h"

#include "support.h"

#include "analysis/base/stb_ds.h"
#include "analysis/job/findings/job_findings_make.h"

enum { CXI = 3, RDMA = 4, NETDEV = 2, DEVICES = CXI + RDMA + NETDEV + 1, EVENTS = 9 };

// Three NICs of Slingshot, four and two of others, and one of Slingshot that sends nothing. Start with scene_of().
typedef struct scene {
    job_report r;
    job_reader reader;
    job_device devices[DEVICES];
    job_lane sent;
    job_event events[EVENTS];
} scene;

static void scene_of(scene *s)
{
    *s = (scene){.r = {.devices = s->devices, .device_count = DEVICES, .events = s->events, .reader = &s->reader}};
    for (size_t i = 0; i < DEVICES; i++) {
        s->devices[i].source = i < CXI ? "cxi" : i < CXI + RDMA ? "rdma" : i < DEVICES - 1 ? "netdev" : "cxi";
        s->devices[i].lanes[JOB_SENT] = i < DEVICES - 1 ? &s->sent : NULL;
    }
}

// Another event, and by how much it grew on each device from the first of them on.
static void event_of(scene *s, char *source, char *counter, severity is, size_t first, const double *sums, size_t count)
{
    size_t at = s->r.event_count++;
    s->events[at] = (job_event){.source = source, .counter = counter, .severity = is, .worst = JOB_NONE};
    for (size_t i = 0; i < count; i++) {
        job_trouble t = {at, first + i, sums[i], i == 1 ? job_bins_make() : NULL};
        arrput(s->reader.troubles, t);
    }
}

// A line for each event in order: counter, severity, sum, devices, worst and its sum, background.
static void expect_events(scene *s, const char *expected)
{
    char text[1024] = "";
    job_finish_events(&s->r);
    for (size_t i = 0; i < s->r.event_count; i++) {
        const job_event *e = &s->r.events[i];
        size_t n = strlen(text);
        snprintf(text + n, sizeof text - n, "%s %s: %s, %g on %zu, %g on %d%s\n", e->source, e->counter,
                 severity_name(e->severity), e->sum, e->devices, e->worst_sum,
                 e->worst == JOB_NONE ? -1 : (int)e->worst, e->background ? ", on all alike" : "");
    }
    assert_int_equal(arrlen(s->reader.troubles), 0);
    arrfree(s->reader.troubles);
    assert_string_equal(text, expected);
}

// On all devices of its source that send, on three at least, and on none more than twice as much as on another.
static void what_moves_on_all_alike(void **state)
{
    static const struct {
        const char *expected;
        char *source;
        double sums[RDMA];
        size_t first, count;
    } rows[] = {
        {"cxi x: ok, 45 on 3, 20 on 1, on all alike\n", "cxi", {10, 20, 15}, 0, 3},
        {"cxi x: ok, 46 on 3, 21 on 1\n", "cxi", {10, 21, 15}, 0, 3},
        {"cxi x: ok, 47 on 3, 21 on 0\n", "cxi", {21, 16, 10}, 0, 3},
        {"cxi x: ok, 30 on 2, 15 on 0\n", "cxi", {15, 15}, 0, 2},
        {"rdma x: ok, 36 on 3, 13 on 5\n", "rdma", {11, 12, 13}, CXI, 3},
        {"rdma x: ok, 50 on 4, 14 on 6, on all alike\n", "rdma", {11, 12, 13, 14}, CXI, 4},
        {"netdev x: ok, 19 on 2, 10 on 7\n", "netdev", {10, 9}, CXI + RDMA, 2},
        {"ip x: ok, 30 on 3, 11 on 1, on all alike\n", "ip", {9, 11, 10}, 0, 3}, // none of its own sends
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        scene s;
        scene_of(&s);
        event_of(&s, rows[i].source, "x", SEVERITY_OK, rows[i].first, rows[i].sums, rows[i].count);
        expect_events(&s, rows[i].expected);
    }
}

// What moved comes first; of these the worst, what is on all alike last, what is on fewer first; else by name.
static void events_in_order(void **state)
{
    static const double sums[] = {5, 6, 7, 30};
    scene s;
    (void)state;
    scene_of(&s);
    event_of(&s, "netdev", "still", SEVERITY_HIGH, 0, NULL, 0);
    event_of(&s, "rdma", "b", SEVERITY_WATCH, CXI, sums, 4);
    event_of(&s, "cxi", "alike", SEVERITY_WATCH, 0, sums, 3);
    event_of(&s, "cxi", "few", SEVERITY_WATCH, 0, sums + 1, 2);
    event_of(&s, "rdma", "a", SEVERITY_WATCH, CXI, sums, 4);
    event_of(&s, "cxi", "still", SEVERITY_HIGH, 0, NULL, 0);
    event_of(&s, "rdma", "worst", SEVERITY_HIGH, CXI, sums, 4);
    event_of(&s, "cxi", "good", SEVERITY_OK, 1, sums, 1);
    event_of(&s, "cxi", "z", SEVERITY_WATCH, 0, sums, 4);
    expect_events(&s, "rdma worst: high, 48 on 4, 30 on 6\n"
                      "cxi few: watch, 13 on 2, 7 on 1\n"
                      "cxi z: watch, 48 on 4, 30 on 3\n"
                      "rdma a: watch, 48 on 4, 30 on 6\n"
                      "rdma b: watch, 48 on 4, 30 on 6\n"
                      "cxi alike: watch, 18 on 3, 7 on 2, on all alike\n"
                      "cxi good: ok, 5 on 1, 5 on 1\n"
                      "cxi still: high, 0 on 0, 0 on -1\n"
                      "netdev still: high, 0 on 0, 0 on -1\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_moves_on_all_alike),
        cmocka_unit_test(events_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

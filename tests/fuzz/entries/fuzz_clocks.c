/* Clocks of runs and events on them, of any bytes. What is found is there and in bounds: one run is the reference and does
   not move, runs of one boot are of one host, errors are not negative; a second time gives the same. */
#include "expect.h"
#include "input.h"
#include "analysis/data/clocks.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RUNS = 8, EVENTS = 24 };
#define NOW  INT64_C(1763643720000000000)
#define HOUR INT64_C(3600000000000)

static int64_t take(input *in, unsigned bytes)
{
    return (int64_t)input_take(in, bytes);
}

/* Times of every size, near now and far from it. */
static int64_t take_time(input *in, int64_t base)
{
    switch (take(in, 1) % 6) {
    case 0: return 0;
    case 1: return base + take(in, 2);
    case 2: return base + take(in, 4) * 1000;
    case 3: return base - take(in, 4) * 1000;
    case 4: return base + take(in, 3) * 1000000000;
    default: return take(in, 8) >> 1;
    }
}

static size_t take_runs(input *in, clocks_input *runs)
{
    static const char *const boots[] = {NULL, "", "a", "b", "c"};
    static const char *const names[] = {"n1", "n2", "\x1b[31m", NULL};
    size_t count = 1 + (size_t)take(in, 1) % RUNS;
    for (size_t i = 0; i < count; i++) {
        runs[i] = (clocks_input){.name = names[take(in, 1) % 4], .boot_id = boots[take(in, 1) % 5]};
        runs[i].wall_ns = take_time(in, NOW);
        runs[i].mono_ns = take_time(in, HOUR);
        runs[i].end_wall_ns = take_time(in, runs[i].wall_ns);
        runs[i].end_mono_ns = take_time(in, runs[i].mono_ns);
        runs[i].max_error_ns = take(in, 1) & 1 ? CLOCKS_UNKNOWN_NS : take(in, 4);
        runs[i].unsynchronised = take(in, 1) & 1;
    }
    return count;
}

static size_t take_events(input *in, clocks_event *events, size_t runs)
{
    static const char *const keys[] = {"step 0", "step 1", "step 2", ""};
    size_t count = (size_t)take(in, 1) % EVENTS;
    for (size_t i = 0; i < count; i++)
        events[i] = (clocks_event){(size_t)take(in, 1) % runs, keys[take(in, 1) % 4], take_time(in, NOW), take(in, 4)};
    return count;
}

static void check(const clocks *c, const clocks_input *runs, size_t count)
{
    expect(c->count == count && c->reference < count && c->hosts >= 1 && c->hosts <= count && c->text);
    expect(c->error_ns >= 0 || c->error_ns == CLOCKS_UNKNOWN_NS);
    expect(c->runs[c->reference].offset_ns == 0);
    for (size_t i = 0; i < count; i++) {
        const clocks_run *r = &c->runs[i];
        expect(r->host < c->hosts && r->basis <= CLOCKS_ONE_BOOT && isfinite(r->drift));
        expect(r->error_ns >= 0 || r->error_ns == CLOCKS_UNKNOWN_NS);
        expect(c->error_ns == CLOCKS_UNKNOWN_NS || r->error_ns != CLOCKS_UNKNOWN_NS);
        (void)clocks_place(c, i, runs[i].wall_ns);
        for (size_t k = 0; k < i; k++)
            if (runs[i].boot_id && *runs[i].boot_id && runs[k].boot_id && strcmp(runs[i].boot_id, runs[k].boot_id) == 0)
                expect(r->host == c->runs[k].host);
    }
}

static void take_facts(input *in)
{
    static const char *const keys[] = {"clock_max_error_us", "clock_state", "clock_end_max_error_us", "clock_end_state",
                                       "clock_esterror_us"};
    char texts[4][24];
    netprof_fact facts[4];
    clocks_input to = {.max_error_ns = CLOCKS_UNKNOWN_NS};
    for (int i = 0; i < 4; i++) {
        snprintf(texts[i], sizeof *texts, take(in, 1) & 1 ? "%lld" : "x%lld", (long long)take(in, 8));
        facts[i] = (netprof_fact){keys[take(in, 1) % 5], texts[i]};
    }
    clocks_take_facts(&to, facts, 4);
    expect(to.max_error_ns >= 0 || to.max_error_ns == CLOCKS_UNKNOWN_NS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input in = {data, size};
    clocks_input runs[RUNS];
    clocks_event events[EVENTS];
    clocks c = {0}, again = {0};
    size_t count = take_runs(&in, runs), event_count = take_events(&in, events, count);
    take_facts(&in);
    clocks_find(&c, runs, count, events, event_count);
    check(&c, runs, count);
    clocks_find(&again, runs, count, events, event_count);
    for (size_t i = 0; i < count; i++)
        expect(c.runs[i].offset_ns == again.runs[i].offset_ns && c.runs[i].error_ns == again.runs[i].error_ns);
    clocks_free(&c);
    clocks_free(&again);
    return 0;
}

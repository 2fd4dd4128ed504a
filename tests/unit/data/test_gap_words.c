// What helps where something could not be judged, and names of devices in few words.
#define _GNU_SOURCE
#include "netprof.h"

#include "analysis/rules/findings.h"
#include "analysis/rules/findings_making.h"
#include "support.h"

#include <errno.h>

// Only what is sure to be the way is told.
static void what_helps(void **state)
{
    static const struct {
        finding_cause cause;
        int sys_errno;
        const char *remedy; // its beginning; NULL: none
    } cases[] = {
        {FINDING_DENIED, 0, "For now: take both readings with sudo netprof collect -o FILE."},
        {FINDING_SKIPPED, 0, "Read all counters: netprof collect --set all -o FILE"},
        {FINDING_RESET, 0, "Take two readings between which the driver is not loaded again"},
        {FINDING_SUSPECT, 0, "Take the two readings closer together"},
        {FINDING_TIMELESS, 0, "Take two readings some seconds apart: netprof collect -o a.netprof; sleep 10; netprof"},
        {FINDING_NEW, 0, "See why the device was not there all the time"},
        {FINDING_GONE, 0, "See why the device was not there all the time"},
        {FINDING_VANISHED, 0, "See why the device was not there all the time"},
        {FINDING_SATURATED, 0, NULL},
        {FINDING_NOT_KNOWN, 0, NULL},
        {FINDING_NOT_KNOWN, EACCES, "For now: take both readings with sudo"},
        {FINDING_NOT_KNOWN, EPERM, "For now: take both readings with sudo"},
        {FINDING_NOT_KNOWN, EBADMSG, "See what the driver writes there (head -c 64 FILE)"},
        {FINDING_NOT_KNOWN, EIO, NULL},
        {FINDING_SKIPPED, EACCES, "Read all counters"}, // the cause comes before the error
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        finding_unknown unknown[2] = {{.cause = FINDING_DENIED},
                                      {.cause = cases[i].cause, .sys_errno = cases[i].sys_errno}};
        const findings f = {.unknown = unknown, .unknown_count = 2};
        const finding_gap gap = {.unknown = 1};
        const char *remedy = finding_gap_remedy(&f, &gap);
        bool right =
            cases[i].remedy ? remedy && strncmp(remedy, cases[i].remedy, strlen(cases[i].remedy)) == 0 : !remedy;
        if (!right) fail_msg("case %zu: %s", i, remedy ? remedy : "none");
    }
}

// Three at most; three and more that count on are a range, two are not.
static void names_in_few_words(void **state)
{
    static const struct {
        const char *names[8], *text;
    } cases[] = {
        {{"cxi0"}, "cxi0"},
        {{"cxi0", "cxi1"}, "cxi0, cxi1"},
        {{"cxi0", "cxi1", "cxi2"}, "cxi0-cxi2"},
        {{"cxi0", "cxi1", "cxi2", "cxi3"}, "cxi0-cxi3"},
        {{"cxi0", "cxi1", "cxi3"}, "cxi0, cxi1, cxi3"},
        {{"cxi0", "cxi2", "cxi4"}, "cxi0, cxi2, cxi4"},
        {{"cxi0", "cxi2", "cxi4", "cxi6"}, "cxi0, cxi2, cxi4 and 1 other"},
        {{"cxi0", "cxi2", "cxi4", "cxi6", "eth0"}, "cxi0, cxi2, cxi4 and 2 others"},
        {{"cxi8", "cxi9", "cxi10", "eth0"}, "cxi8-cxi10, eth0"},
        {{"cxi0", "cxi1", "cxi2", "eth0", "eth1", "eth2", "lo"}, "cxi0-cxi2, eth0-eth2, lo"},
        {{"cxi0", "eth1", "ib2"}, "cxi0, eth1, ib2"}, // other stems do not count on
        {{"a07", "a08", "a09"}, "a07, a08, a09"},     // a number begins with no 0
        {{"a9", "a010", "a11"}, "a9, a010, a11"},
        {{"a", "a1", "a2", "a3"}, "a, a1-a3"},                                                  // one has no number
        {{"a999999999", "a1000000000", "a1000000001"}, "a999999999, a1000000000, a1000000001"}, // too long for one
        {{"a2", "a1", "a0"}, "a2, a1, a0"}, // nor do they count back
        {{"a1", "a1", "a1"}, "a1, a1, a1"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        size_t count = 0;
        while (count < 8 && cases[i].names[count])
            count++;
        char *text = findings_names_text(cases[i].names, count);
        if (strcmp(text, cases[i].text) != 0) fail_msg("%s: expected %s", text, cases[i].text);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_helps),
        cmocka_unit_test(names_in_few_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// A comparison in the making, as the parts of compare.h share it.
#ifndef NETPROF_COMPARER_H
#define NETPROF_COMPARER_H

#include "compare_model.h"
#include "analysis/base/words.h"
#include "analysis/rules/evaluate.h"

typedef struct comparer {
    comparison *c;
    const rules *set;
    evaluation *runs;  // [run_count]
    double *bytes;     // [run_count * device_count]: of a device in a run, by its basis; NAN unknown
    size_t **back;     // [run_count][its devices]: from a run's device to the comparison's
    bool *same_makers; // [device_count]: the same software made its counters on both sides
} comparer;

// The device's index in the run's schema; DIFFERENCE_NONE when the run does not have it.
static inline size_t comparer_place(const comparer *m, size_t device, size_t run)
{
    return m->c->devices[device].places[run];
}

double comparison_median(double *values, size_t count);             // sorts them; NAN of none
comparison_range comparison_range_of(double *values, size_t count); // likewise; NANs count as missing

// The first device of the next source.
size_t comparer_source_end(const comparison *c, size_t first);
bool comparer_is_gauge(const netprof_counter *counter);

// The steps of comparison_make(), in this order: devices and their bytes, how they came about, the work and its time, checks by rules, lines
// and what of them is beyond chance, histograms, gauges, facts that differ, notes, the verdict.
void comparer_devices(comparer *m);
void comparer_bytes(comparer *m);
void comparer_progress(comparer *m);
void comparer_work(comparer *m);
void comparer_checks(comparer *m);
void comparer_lines(comparer *m);
void comparer_chance(comparer *m);
void comparer_shapes(comparer *m);
void comparer_gauges(comparer *m);
void comparer_facts(comparer *m);
void comparer_notes(comparer *m);
void comparer_conclude(comparer *m);
// What a page shows of it: the verdict as answers, the way of a byte, events.
void comparer_answers(comparer *m);
void comparer_path(comparer *m);
void comparer_events(comparer *m);

// Takes over the text, which may be NULL: none. The verdict's order is made at the end.
void comparer_say(comparison *c, severity s, comparison_subject subject, const char *name, size_t device, char *text);
severity comparer_speed_severity(const comparison *c); // of what comparer_work() found, OK when nothing
void comparer_say_work(comparison *c);
void comparer_say_setup(comparison *c);
void comparer_say_checks(comparison *c);
void comparer_say_lines(comparison *c);
void comparer_say_context(comparison *c);

// "1 of 252 splits": how often as the runs can be split.
words_text comparer_splits_text(const comparison *c, double chance);
// Where how much the runs vary tells it, not how they rank: "2.30 % of such comparisons", "1 of 385 such comparisons".
words_text comparer_spread_text(double chance);

words_text comparer_bytes_text(double bytes);
words_text comparer_rate_text(double bytes_per_s);
// "4.32 s", of several runs "4.32 s (4.10 s to 4.90 s)"; then the faulty side's "instead of" the healthy one's.
void comparer_append_range(char **text, const comparison_range *r, words_text (*words)(double));
void comparer_append_instead(char **text, const comparison_range sides[COMPARISON_SIDES], words_text (*words)(double));

// Fills in line->pattern_text.
void comparer_pattern_text(const comparison *c, comparison_line *line);

#endif

// What the files of the comparison share.
#ifndef NETPROF_COMPARE_PRIVATE_H
#define NETPROF_COMPARE_PRIVATE_H

#include "compare.h"
#include "analysis/rules/evaluate.h"

// One comparison in the making.
typedef struct comparer {
    comparison *c;
    const rules *set;
    evaluation *runs; // [run_count]
    double *bytes;    // [run_count * device_count]: of a device in a run, by its basis; NAN unknown
    size_t **back;    // [run_count][its devices]: from a run's device to the comparison's
    bool no_memory;
} comparer;

// Room for one more element at the end of an array that grows by doubling; NULL (and no_memory) without memory.
void *comparer_grow(comparer *m, void *array, size_t count, size_t size);
// Appends to a text that malloc() gave.
__attribute__((format(printf, 3, 4))) void comparer_append(comparer *m, char **text, const char *format, ...);

// Does the run have the device?
static inline size_t comparer_place(const comparer *m, size_t device, size_t run)
{
    return m->c->devices[device].places[run];
}

double comparison_median(double *values, size_t count);             // sorts them; NAN of none
comparison_range comparison_range_of(double *values, size_t count); // likewise; NANs count as missing

// compare_lines.c: lines, shapes, gauges, counts
void comparer_lines(comparer *m);
void comparer_shapes(comparer *m);
void comparer_gauges(comparer *m);
// compare_words.c: facts, notes, pattern texts, the verdict
void comparer_pattern_text(comparer *m, comparison_line *line);
void comparer_facts(comparer *m);
void comparer_notes(comparer *m);
void comparer_conclude(comparer *m);

#endif

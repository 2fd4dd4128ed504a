// A value over time, in bins whose width doubles as the job grows.
#ifndef NETPROF_JOB_BINS_H
#define NETPROF_JOB_BINS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// As fmin() and fmax(), NAN of both alone; those are calls of a library, and these are made for every value read.
static inline double job_less(double a, double b)
{
    return b < a || isnan(a) ? b : a;
}

static inline double job_more(double a, double b)
{
    return b > a || isnan(a) ? b : a;
}

typedef struct job_bin {
    float known_s, integral, low, high; // integral: of the value over the known time ...
    float from_s, to_s;                 // ... which lies between these, since the bin's begin
} job_bin;

// An amount counted while samples were missing.
typedef struct job_skipped {
    int64_t from_ns, to_ns;
    double amount;
} job_skipped;

enum { JOB_BINS = 1024 };  // at most
enum { JOB_SKIPPED = 64 }; // more are joined with their neighbours

// Bins of 2^shift ns; bin i of all times is [i << shift, (i + 1) << shift), so those of different lanes lie alike.
typedef struct job_bins {
    int64_t first;
    unsigned shift;
    size_t count, room;
    job_bin *items;
    int64_t zero_from, zero_to; // while count is 0: all that was added is 0 and lies between these, without a gap
    job_skipped *skipped;
    size_t skipped_count;
    double integral;   // of all that was added, more exact than the items'
    int64_t offset_ns; // of the clock: what was added at t is at t + offset_ns on the axis
    unsigned owners;   // lanes
} job_bins;

job_bins *job_bins_make(void);
void job_bins_free(job_bins *b); // the last owner's frees it
// A value known from..to, in ns on the clock of the axis.
void job_bins_add(job_bins *b, int64_t from_ns, int64_t to_ns, double value, double low, double high);
// An amount counted while the value was not known.
void job_bins_skip(job_bins *b, int64_t from_ns, int64_t to_ns, double amount);
bool job_bins_known(const job_bins *b);             // was anything added?
void job_bins_trim(job_bins *b);                    // frees the room that it did not need so far
void job_bins_coarsen(job_bins *b, unsigned shift); // to bins of at least 2^shift ns

void job_bins_cap(job_bins *b, double most); // no value above this

// Adds values where both are known; an empty b takes those of `from`.
void job_bins_join(job_bins *b, const job_bins *from);

typedef struct job_span {
    double known_s, integral, low, high; // low, high: NAN when nothing is known
} job_span;
// Bins that reach over an edge count in proportion to what of their known time lies within.
job_span job_bins_span(const job_bins *b, int64_t from_ns, int64_t to_ns);

// Amounts of an event on one node; its own bins, for each node has its clock.
typedef struct job_event_lane {
    size_t node;
    job_bins *bins;
} job_event_lane;

#endif

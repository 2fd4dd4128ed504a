// Time series: the rates of devices and the events between neighbouring snapshots, of one file or of the
// files of many hosts on one time axis.
//
// Snapshots are taken one after another while a file is read (dataset_options.each = series_take), and only what is
// shown over time is kept of them. Differences, wraps and resets are netprof_diff()'s work.
//
// Thread rule: one thread at a time per series.
#ifndef NETPROF_SERIES_H
#define NETPROF_SERIES_H

#include "clocks.h"
#include "dataset.h"

enum { SERIES_IN = 0, SERIES_OUT = 1 };

// Between two readings of one device, by its own stamps where it has them: a device that was not refreshed between two
// snapshots has no step there and a longer one after it. Times are seconds since series.begin_ns.
typedef struct series_step {
    double from_s, to_s;
    double rate[2]; // bytes/s received and sent, over the counters' own stamps; NAN: not known
    bool gap;       // samples are missing: nothing is known about its inside
} series_step;

typedef struct series_device {
    size_t run;
    char *source, *name;
    double line_rate; // bytes/s each way, by its fact speed_mbps; 0: unknown
    bool chosen;      // its bytes count: a physical port whose traffic no other device shows better
    bool physical;
    series_step *steps;
    size_t count;
    size_t last;     // private: of which snapshot the last step is
    double bytes[2]; // over all steps that are known
} series_device;

// A counter of trouble or of waiting, by its name, over all devices.
typedef struct series_counter {
    char *source, *name, *unit;
    bool trouble; // else of waiting: pauses, credits, back-pressure
    double sum;
    size_t events;
} series_counter;

typedef struct series_event {
    double from_s, to_s, amount;
    uint32_t counter, device;
} series_event;

typedef struct series_run {
    char *path, *host;
    size_t snapshots;
    double *times; // [snapshots], rising; without those whose clock went back
    size_t time_count;
    double begin_s, end_s;
    double interval_s;                       // the median step; NAN: there is none
    double longest_s, sweep_s;               // longest step and sweep
    size_t gaps, resets, backwards, unknown; // unknown: byte counters of chosen devices without a rate
    size_t clock_steps;                      // how often the wall clock was set ...
    int64_t clock_set_ns;                    // ... and by how much in all
    size_t first_device, device_count;
    double moved_s, drift, moved_at_s; // private: what series_align() adds to its times
} series_run;

// Start from {0}; series_free() at the end.
typedef struct series {
    int64_t begin_ns; // CLOCK_REALTIME of the first snapshot of all
    double end_s;
    series_run *runs;
    size_t run_count;
    series_device *devices; // run after run
    size_t device_count;
    series_counter *counters;
    size_t counter_count;
    series_event *events;
    size_t event_count;
    struct series_reader *reader; // private
} series;

// dataset_options.each, with the series as its user.
netprof_err series_take(void *user, const dataset_run *run, size_t index, const netprof_snapshot *snapshot);
// Before series_finish(): puts the runs of the data set on the axis of the reference clock.
void series_align(series *s, const dataset *set, const clocks *c);
// Call after the last file: finds gaps, puts all on one time axis, chooses devices.
void series_finish(series *s);
void series_free(series *s);

// True if another device reports this traffic more completely (the port, not its interface).
bool series_repeats(const netprof_schema *schema, const netprof_device *device);

// Mean rates in columns of the same length from begin to end, weighted by time. A column of which less than half is
// known is NAN.
void series_columns(const series_device *d, int way, double begin_s, double end_s, double *columns, size_t count);
// Quantiles of the rates of a device's steps, each step once, without gaps; returns the number of steps.
size_t series_quantiles(const series_device *d, int way, const double *shares, double *values, size_t count);
#endif

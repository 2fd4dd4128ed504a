/* The counter model: tables of (target, formula), evaluated once per NIC and step. Private to the simulator.
 *
 * A formula knows + - * / ( ), numbers, and names:
 *   k.NAME, q.NAME  quantities set by earlier rows        NAME   what counter NAME gains in this step
 *   dt    seconds (in a counter's row: between that counter's own two stamps)
 *   clk   Hz      line  bit/s     was   present value of the target      now   epoch seconds
 *   rnd   0..1    first 1 in the first step of a run     global  1 with global pause
 *   min(a,b) max(a,b) floor(x) ceil(x) near(x,r)=x*(1+-r) count(x)=whole number, x on average
 *   sum(pattern)    gain of all counters that match       val(counter)  its value before this step */
#ifndef NETPROF_SIM_MODEL_H
#define NETPROF_SIM_MODEL_H

#include <stddef.h>
#include <stdint.h>

typedef struct model_item {
    const char *name; /* telemetry file, "rh:" retry handler file or "net:" netdev file */
    int gauge;
    int order; /* place in the order in which a sweep reads */
    uint64_t max;
} model_item;

typedef struct model_row {
    const char *target; /* a quantity (has a dot), counters (fnmatch pattern), or an event:
                         * "@reset", "@restarts", "@top COUNTER" (see tables.c) */
    const char *formula;
} model_row;

/* count frames of one size: go to the size bin, the octets and the frame kind (opt, ieee) of a direction. */
typedef struct model_frames {
    const char *direction, *kind, *count, *octets;
} model_frames;

/* total samples over the counters FAMILY0, FAMILY1, ... with weights 1 / (1 + ((i - centre) / width)^2). */
typedef struct model_spread {
    const char *family, *total, *centre, *width;
} model_spread;

typedef struct model_attribute {
    const char *path, *text; /* below the device directory; text as in sim.c */
} model_attribute;

typedef struct model_scenario {
    const char *name, *sentence;
    const char *others; /* scenario of the NICs that are not hit; NULL: healthy */
    int hits_one;       /* hits one NIC unless told otherwise, else all */
    const model_row *rows;
    const model_attribute *attributes;
} model_scenario;

extern const model_row model_knobs[], model_quantities[], model_counters[];
extern const model_frames model_frame_rows[];
extern const model_spread model_spreads[];
extern const model_scenario model_scenarios[];

const model_scenario *model_scenario_find(const char *name, size_t length);

typedef struct model_step {
    const model_item *items; /* sorted by name */
    size_t item_count;
    const uint64_t *values;  /* before the step */
    const double *intervals; /* seconds, one per item */
    double dt, now, clock_hz, line_bits_per_s;
    int first, global_pause;
    uint64_t random;
    const model_scenario *const *scenarios; /* NULL at the end */
} model_step;

typedef struct model_result {
    uint64_t *gains;     /* per item; for a gauge its new level */
    int restarts, reset; /* events */
    const char *error;   /* the formula that could not be understood, or NULL */
} model_result;

void model_run(const model_step *step, model_result *result);

/* Index of a name, or -1. */
ptrdiff_t model_find(const model_item *items, size_t count, const char *name, size_t length);

uint64_t model_random(uint64_t *state);
double model_uniform(uint64_t *state);

#endif

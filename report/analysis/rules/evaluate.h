// Formulas of rules, evaluated on a difference.
#ifndef NETPROF_EVALUATE_H
#define NETPROF_EVALUATE_H

#include "analysis/data/difference.h"
#include "rules.h"

#define EVALUATION_IDLE_SHARE 0.001 // of its line: a port that carries less is idle

// Worse is larger: a formula with several parts gets the worst of their statuses.
typedef enum reading_status {
    READING_OK = 0,
    READING_NONE,    // there is no such counter or fact here, or nothing to divide by
    READING_SKIPPED, // exists, but was not read (fast set)
    READING_UNKNOWN  // could not be read, was reset, is stuck at its largest value, ...
} reading_status;

typedef struct reading {
    double number;
    reading_status status;
    const char *reason;  // of SKIPPED and UNKNOWN: "reset", "denied", ...
    const char *counter; // whose; NULL when it is not about one
    size_t at;           // 1 + its index
} reading;

// A device in the chains of those that share its network interface, and of those that have one master. Indexes of devices
// that end with DIFFERENCE_NONE.
typedef struct evaluation_group {
    size_t first_twin, next_twin; // first: of the interface that the device is
    size_t first_member, next_member;
} evaluation_group;

// Start from evaluation_begin(); evaluation_end() frees. Made once for a difference.
typedef struct evaluation {
    const difference *d;
    size_t *counters; // [counter_count]: the counters of each device, ordered by name; see evaluation_counter()
    size_t *twins;    // [device_count]: the network interface of a device by its fact "netdev", or DIFFERENCE_NONE
    evaluation_group *groups; // [device_count]
    // of the node, set by the caller: the largest share of its line that a port used (NAN: that of some is not known),
    // and how many findings there are so far that speak against the network
    double line_share;
    double wire_bytes; // in and out of its own network interfaces, NAN: it has none that could be read
    double within;     // 1: next to nothing of the IP bytes went over them; NAN: it has IP bytes that could not be read
    size_t losses;
    // the rule and device at hand
    const rule *rule;
    size_t device; // DIFFERENCE_NONE: the node
    reading value; // of the variable "value"
    reading locals[RULES_LOCALS];
    bool local_known[RULES_LOCALS];
    // the node at the other end, and for each device here the one that it is linked with there (or DIFFERENCE_NONE);
    // NULL: not known. Borrowed, set by the caller.
    const struct evaluation *far;
    const size_t *far_devices;
} evaluation;

void evaluation_begin(evaluation *e, const difference *d);
void evaluation_end(evaluation *e);

// The index of a device's counter; DIFFERENCE_NONE when it has none of this name.
size_t evaluation_counter(const evaluation *e, size_t device, const char *name);

// Sets the rule and device that all following calls are about.
void evaluation_of(evaluation *e, const rule *x, size_t device);
reading evaluate(evaluation *e, const expression *x);
bool evaluate_condition(evaluation *e, const expression *x); // true only when it is known to hold; no formula: true

// Calls visit() for each counter that a formula looks at (of first() only the chosen one), without order or
// uniqueness.
void evaluation_counters(evaluation *e, const expression *x, void (*visit)(void *user, size_t counter), void *user);
// The same for facts: the name, and the number that was used.
void evaluation_facts(evaluation *e, const expression *x, void (*visit)(void *user, const char *fact, double number),
                      void *user);

// The change of the device that a formula device(...) asks for, or NULL.
const device_change *evaluation_change(const evaluation *e, const expression *x);

bool evaluation_linked(const evaluation *e, size_t a, size_t b); // the same device, or the same port of the node
// A network device or GPU that is gone or new is asked for its change alone.
bool evaluation_applies(const evaluation *e, const rule *x, size_t device);
// Another device counts the same bytes: this one is left out of sums over the node.
bool evaluation_counts_again(const evaluation *e, size_t device);
double evaluation_clock(const evaluation *e, size_t device);     // Hz
double evaluation_line_rate(const evaluation *e, size_t device); // bit/s, 0 unknown: on the wire ...
double evaluation_speed(const evaluation *e, size_t device);     // ... and for frames

#endif

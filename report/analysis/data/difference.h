// What happened between two snapshots: rates, ranking within a unit, groups, balance, totals.
//
// Matching, wraps and resets are netprof_diff()'s work; here its result gets a meaning. All indexes of
// counters and devices are those of difference.delta->schema.
//
// Thread rule: one thread at a time per difference. Arrays that functions return are the caller's: free() them; they
// are never NULL.
#ifndef NETPROF_DIFFERENCE_H
#define NETPROF_DIFFERENCE_H

#include "analysis/catalog/catalog.h"
#include "dataset.h"
#include "device_changes.h"
#include "netprof.h"

#include <stdbool.h>

enum { DIFFERENCE_FLAGS = NETPROF_FLAG_UNKNOWN + 1 };
#define DIFFERENCE_NONE ((size_t)-1)

// One counter; beside delta->schema->counters[i].
typedef struct difference_row {
    const catalog_entry *entry; // NULL when the catalog knows nothing
    const char *unit;           // the catalog's, else the file's; "" when unknown
    uint64_t magnitude;         // the difference to show: by the flag's rule, and for gauges after - before ...
    bool negative;              // ... with this sign (gauges and signed counters only)
    uint8_t flag;               // netprof_flag
    bool compared;              // there is a value on both sides
    bool lower_bound;           // the true difference may be larger: it was reset, or is suspect
    bool changed;               // compared, and the two values differ (gauges included), or it was reset and counted
    double rate_per_s;          // over the counter's own two stamps; NAN for gauges and where no time is known
    uint64_t raw_magnitude;     // |after - before| of the plain values, as net_prof takes it ...
    bool raw_negative;          // ... and its sign
    uint8_t sys_errno;          // of one without a difference: why it could not be read; 0: not known
} difference_row;

typedef struct difference_counts {
    size_t counters; // that the two snapshots have together
    size_t compared, changed;
    size_t flagged[DIFFERENCE_FLAGS]; // by netprof_flag
    size_t saturated;                 // of the suspect ones: stuck at their largest value
    size_t skipped;                   // of the unknown ones: not asked for in one of the snapshots (the fast set)
    int64_t elapsed_ns;               // the longest of its counters', 0 when unknown
} difference_counts;

// Start from {0}; difference_free() at the end.
typedef struct difference {
    const netprof_delta *delta;
    difference_row *rows;       // [counter_count]
    difference_counts *devices; // [device_count]
    difference_counts total;
    device_change *changes; // devices that are not what they were, the gravest first; an stb_ds array
    size_t change_count;
    const netprof_schema *first; // of the first snapshot; NULL when it was made of a delta
    const char *scope;           // words for what alone is in it, "what --include lo leaves"; NULL: all; the caller's
    netprof_fact *run_facts;     // of the run ("exit_status", "signal", "command"); copies, see difference_keep_facts()
    size_t run_fact_count;
    netprof_delta own; // private
} difference;

// From two snapshots; from a delta that outlives the difference; or from data sets as the command gets them:
// with one run its first and last snapshot, or its only delta; with several runs the first snapshot of the
// first and the last snapshot of the last. force: also across hosts and boots, and backwards in time (otherwise
// NETPROF_ERR_MISMATCH). The data set may be freed afterwards unless a delta of it was used.
netprof_err difference_of_snapshots(difference *d, const netprof_snapshot *before, const netprof_snapshot *after,
                                    bool force, netprof_error *error);
void difference_of_delta(difference *d, const netprof_delta *delta);
// One reading in two files: same times and same values. Without any time equal values prove nothing.
bool difference_is_same_reading(const netprof_snapshot *a, const netprof_snapshot *b);
// From the first reading of a file to the last of another, or of the same. Refuses more: two files that hold the same
// reading (_ARG, whatever force says), of two hosts by their facts (_MISMATCH), and readings without a device in common
// unless both name the same host (_MISMATCH; forced _NOSOURCE: there is nothing to compare).
netprof_err difference_of_ends(difference *d, const dataset_run *first, const dataset_run *last, bool force,
                               netprof_error *error);
netprof_err difference_of_dataset(difference *d, const dataset *set, bool force, netprof_error *error);
void difference_free(difference *d);
// The device's change of this kind, or NULL.
const device_change *difference_change(const difference *d, size_t device, device_change_kind kind);
// Whether the device is there at both ends: no comparison with others counts one that is gone or new.
bool difference_has_both_ends(const difference *d, size_t device);
// Keeps copies of a run's facts: of the command whose run it is.
void difference_keep_facts(difference *d, const netprof_fact *facts, size_t count);
// Of the first of two files: what it tells of sockets, beside the facts of the run; DIFFERENCE_AT_BEGIN is put before a key.
#define DIFFERENCE_AT_BEGIN "begin/"
void difference_add_fact(difference *d, const char *key, const char *value);
void difference_keep_begin(difference *d, const netprof_fact *facts, size_t count);
// The same for what the two snapshots know and their delta does not: why a counter could not be read, and what the
// first one's sources were.
void difference_keep_errors(difference *d, const netprof_snapshot *before, const netprof_snapshot *after);
void difference_move(difference *to, difference *from); // leaves `from` empty; `to` must be empty

// ---- choosing and ordering counters ----

typedef enum difference_order {
    DIFFERENCE_BY_UNIT = 0, // unit after unit (catalog_unit_rank), within a unit the largest first
    DIFFERENCE_RAW = 1      // by |after - before| of the plain values whatever the unit, as net_prof ranks
} difference_order;

typedef enum difference_kinds {
    DIFFERENCE_COUNTERS = 0, // what has a difference: counters and histogram buckets
    DIFFERENCE_GAUGES = 1,   // gauges and states: before and after
    DIFFERENCE_ANY_KIND = 2
} difference_kinds;

typedef enum difference_clock {
    DIFFERENCE_WITHOUT_CLOCK = 0, // without counters that only tell time
    DIFFERENCE_ONLY_CLOCK = 1,
    DIFFERENCE_WITH_CLOCK = 2
} difference_clock;

// All zero: the changed counters of all devices, unit after unit, without those that only tell time.
typedef struct difference_query {
    size_t device;          // 1 + index of the device; 0: all
    difference_order order; // DIFFERENCE_RAW takes kinds and clock counters together, whatever the next two say
    difference_kinds kinds;
    difference_clock clock;
    uint64_t groups; // bits of catalog groups, any of them; 0: whatever group
    uint32_t marks;  // CATALOG_..., any of them; 0: whatever marks
    uint32_t flags;  // bits 1 << NETPROF_FLAG_..., any of them; 0: whatever flag
    bool unchanged;  // those that did not change, or could not be compared, as well
    size_t top;      // at most so many, in DIFFERENCE_BY_UNIT of each device and unit; 0: all
} difference_query;

// Indexes of counters; free() them. With several devices: device after device in DIFFERENCE_BY_UNIT, together in
// DIFFERENCE_RAW. Equal values come in net_prof's order of names.
size_t *difference_select(const difference *d, const difference_query *query, size_t *count);

// ---- tables: a row for each counter name, a column for each device ----

typedef struct difference_table {
    const char **names; // [row_count], in net_prof's order of names
    size_t *devices;    // [column_count]
    size_t *cells;      // [row_count * column_count], row by row: index of the counter, or DIFFERENCE_NONE
    size_t row_count, column_count;
} difference_table;

// The counters of one source that are in a group (catalog_group_at), or have one of the marks
// (CATALOG_IMPORTANT: net_prof's 16). Columns: the source's devices that have any of them.
void difference_table_of_group(const difference *d, size_t group, difference_table *table);
void difference_table_of_marks(const difference *d, const char *source, uint32_t marks, difference_table *table);
void difference_table_free(difference_table *table);

// ---- sums over devices: each byte once ----

// A counter summed over those of a source's physical devices that are among the rows, or over all of them when no
// physical one is.
typedef struct difference_sum {
    const char *source, *name, *unit;
    const catalog_entry *entry;
    uint64_t value;     // UINT64_MAX when the sum is larger ...
    bool negative;      // ... with this sign (signed counters only)
    bool lower_bound;   // a part is one, or a device's counter could not be compared
    double rate_per_s;  // sum of the rates; NAN when none is known
    size_t devices;     // how many were added
    size_t first, most; // counter indexes: the first and the largest
} difference_sum;

// Of the counters in rows (as difference_select() gives them; gauges and what was not compared are passed over): all
// sources together, unit after unit, the `top` largest of each unit (0: all). free() it.
difference_sum *difference_sums(const difference *d, const size_t *rows, size_t row_count, size_t top, size_t *count);

// ---- balance across the physical devices of a source ----

typedef struct difference_balance {
    const char *source;
    uint32_t role;  // CATALOG_TX_BYTES or CATALOG_RX_BYTES
    size_t devices; // that have such a counter with a difference
    uint64_t sum, min, max;
    size_t min_device, max_device;
    bool lower_bound;     // a part is one, or a device's counter could not be compared
    double max_over_mean; // 1 = even; NAN when nothing was moved, or the sum is a lower bound
    double rate_per_s;    // of all devices together; NAN when unknown
} difference_balance;

// Two rows for each source that has physical devices with byte counters; free() them.
difference_balance *difference_balances(const difference *d, size_t *count);

#endif

// The program netprof-export: tables, and what they are written to.
//
// A table is a list of typed columns; a row is a list of cells, of which any may be missing. The formats differ in how
// they keep them (see the drivers), never in what the tables hold.
#ifndef EXPORT_EXPORT_H
#define EXPORT_EXPORT_H

#include "cli/common.h"

#include <stddef.h>

// ---- tables ----

typedef enum export_type {
    EXPORT_TEXT = 0, // any text
    EXPORT_NAME,     // text that repeats from row to row
    EXPORT_U64,      // exact to 2^64-1
    EXPORT_I64,
    EXPORT_TIME, // an int64: ns since 1970 (UTC)
    EXPORT_F64
} export_type;

typedef struct export_column {
    const char *name;
    export_type type;
    const char *unit; // "" for none
} export_column;

typedef struct export_table {
    const char *name;
    const export_column *columns;
    size_t column_count;
} export_table;

typedef enum export_id {
    EXPORT_RUNS = 0,
    EXPORT_FACTS,
    EXPORT_SOURCES,
    EXPORT_DEVICES,
    EXPORT_COUNTERS,
    EXPORT_SNAPSHOTS,
    EXPORT_VALUES,
    EXPORT_RATES,
    EXPORT_RANKS,
    EXPORT_REGIONS,
    EXPORT_REGION_RANKS,
    EXPORT_REGION_HISTOGRAMS,
    EXPORT_REGION_NICS,
    EXPORT_REGION_COUNTERS,
    EXPORT_REGION_FINDINGS,
    EXPORT_REGION_NOTES,
    EXPORT_VERDICTS,
    EXPORT_FINDINGS,
    EXPORT_EVIDENCE,
    EXPORT_NSYS_FILES,
    EXPORT_NSYS_TABLES,
    EXPORT_NSYS_PROCESSES,
    EXPORT_NSYS_BUSY,
    EXPORT_FIXED, // so many have fixed columns
    EXPORT_VALUES_WIDE = EXPORT_FIXED,
    EXPORT_RATES_WIDE,
    EXPORT_MISSING,
    EXPORT_TABLES
} export_id;

// Bits of --what.
enum { WHAT_SNAPSHOTS = 1, WHAT_SERIES = 2, WHAT_REGIONS = 4, WHAT_FINDINGS = 8, WHAT_PROGRAMS = 16, WHAT_ALL = 31 };

const export_table *export_table_of(export_id id); // of those with fixed columns, and EXPORT_MISSING
const char *export_table_name(export_id id);
unsigned export_table_what(export_id id); // bits WHAT_...: with any of them the table is written

// ---- cells ----

typedef struct export_cell {
    bool known;
    union {
        const char *text;
        uint64_t u64;
        int64_t i64;
        double f64; // NAN is as missing
    } as;
} export_cell;

export_cell cell_none(void);
export_cell cell_text(const char *text);       // missing where it is NULL or empty: not known
export_cell cell_exact_text(const char *text); // missing where it is NULL
export_cell cell_u64(uint64_t value);
export_cell cell_i64(int64_t value);
export_cell cell_f64(double value); // missing where it is no finite number
export_cell cell_time(int64_t ns);  // missing where it is 0: not known

// ---- sinks ----

typedef struct export_sink export_sink;
struct clocks;

// Something that netprof job found, which lasted so long; seconds since the first snapshot of all recordings.
typedef struct export_incident {
    const char *severity, *rule, *claim, *advice, *node, *device; // "" not known
    double from_s, to_s;
} export_incident;

// What is known of something that happened.
typedef struct export_note {
    const char *key;
    export_type type;
    export_cell value;
} export_note;

// Something that ran from when to when in a lane of a node; ns since 1970.
typedef struct export_span {
    const char *node, *lane, *name, *kind;
    int64_t begin_ns, end_ns;
    bool host_clock; // node is a host, and the times are by its wall clock: not on the axis of all runs yet
    bool instant;    // only that it happened is known, at begin_ns
    const export_note *notes;
    size_t note_count;
} export_span;

typedef struct export_driver {
    const char *name;
    bool directory;      // a file for each table, unless only one is wanted
    bool stream;         // can write to the standard output
    bool events;         // one stream of what happened when, not tables: neither --wide nor --table
    const char *missing; // what this program was built without, or NULL
    // Writing to `path`. Failures go to export_fail(), and nothing is called after one but close.
    void *(*open)(export_sink *sink, const char *path);
    // The clocks of all runs, by number, and when the first of them begins: before any run. NULL: it is not asked for.
    void (*clock)(void *state, const struct clocks *c, int64_t begin_ns);
    void (*incident)(void *state, const export_incident *x); // after all runs. NULL: it is not asked for
    void (*span)(void *state, const export_span *x);         // NULL: it is not asked for
    void (*table)(void *state, export_id id, const export_table *table);
    void (*row)(void *state, export_id id, const export_table *table, const export_cell *cells);
    // Ends what was opened; finish = false: it is dropped anyway.
    void (*close)(void *state, bool finish);
} export_driver;

typedef struct export_options {
    const export_driver *driver;
    const char *path; // "-": the standard output
    const char *only; // the name of the only table, or NULL
    unsigned what;    // WHAT_...
    bool wide;
    bool plain;                      // CSV: texts as they are, also where a spreadsheet takes them for formulas
    bool utc;                        // CSV: a time as text, too, beside ns
    const char **tags;               // "KEY=VALUE", NULL-terminated, or NULL: for influx and openmetrics
    const char **include, **exclude; // globs, NULL-terminated or NULL
    const char *rules, *names;
} export_options;

// Opens under a temporary name. NULL after saying why.
export_sink *export_open(const export_options *options);
const export_options *export_options_of(const export_sink *sink);
bool export_wants(const export_sink *sink, export_id id);
void export_begin(export_sink *sink, export_id id, const export_table *table); // unless it is not wanted
void export_row(export_sink *sink, export_id id, const export_cell *cells);
void export_clocks(export_sink *sink, const struct clocks *c, int64_t begin_ns);
void export_put_incident(export_sink *sink, const export_incident *x);
void export_put_span(export_sink *sink, const export_span *x);
bool export_failed(const export_sink *sink); // also after an interrupt
// The first failure counts.
void export_fail(export_sink *sink, const char *format, ...) PRINTF_LIKE(2, 3);
// Gives the output its name, or drops it. Returns an exit code after saying what went wrong.
int export_close(export_sink *sink, bool keep);
// "DIRECTORY/TABLE.ENDING" within a path that is a directory, else the path itself. free() it.
char *export_file_name(const export_sink *sink, const char *path, const export_table *table, const char *ending);

// ---- what is exported ----

typedef struct export_input export_input;

// Reads the files and fills the sink with everything that is wanted. Returns an exit code.
int export_files(export_sink *sink, const char **paths, size_t count);
// The regions of these files and directories.
int export_regions(export_sink *sink, const char **paths, size_t count);
// What netprof job finds in these files from when to when, where the format shows that.
void export_incidents(export_sink *sink, const char **paths, size_t count);
// The tables of Nsight Systems exports.
int export_programs(export_sink *sink, const char **paths, size_t count);

#endif

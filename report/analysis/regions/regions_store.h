// Shared by the parts of regions, private to them.
#ifndef NETPROF_REGIONS_STORE_H
#define NETPROF_REGIONS_STORE_H

#include "analysis/base/map_key.h"
#include "analysis/base/saturating_sum.h"
#include "analysis/base/stb_ds.h"
#include "analysis/base/words.h"
#include "regions_model.h"
#include "regions_pack.h"

#define REGIONS_PRINTF(text, first) __attribute__((format(printf, text, first)))

// A map from names or pairs of numbers to indexes.
typedef struct regions_index {
    map_key key;
    size_t value;
} regions_index;

// Adds what is said of a value to the list (stb_ds); a new name is kept in the arena.
void regions_values_add(regions_arena *arena, regions_value **list, const regions_value *more);
// The key of a child: spans are apart from regions of the same name.
map_key regions_child_key(size_t parent, const char *name, bool span);

// Returns the code.
netprof_err regions_fail(netprof_error *error, netprof_err code, const char *path, const char *format, ...)
    REGIONS_PRINTF(4, 5);
void regions_warn(regions *r, const char *path, uint64_t offset, const char *format, ...) REGIONS_PRINTF(4, 5);
void regions_calls_add(regions_calls *to, const regions_calls *more);
double regions_reading_call_ns(const regions_node *node,
                               const regions_reading *seen); // of the rank whose reading it is

// ---- one process on its way in ----

// The statistics of one path, chained over the threads.
typedef struct regions_part_node {
    size_t parent; // in the part, or REGIONS_NONE
    bool span;
    size_t first; // index in from->stats; next[] leads on
    size_t last;
    regions_cell cell;                    // without rank
    size_t histogram, values, packed_end; // offsets in part.packed
    bool has_reading;
    uint32_t readers, thread; // thread: the one whose reading it is
    uint64_t counted, unread, read_ns;
    double open;
} regions_part_node;

// One chunk of regions of a file, by node. A thread that reads files has one, made by regions_part_begin() while there
// is one thread (maps are), and fills it again and again.
typedef struct regions_part {
    const netprof_regions *from;    // borrowed
    regions_part_node *nodes;       // stb_ds; parents before their children
    size_t *next, *node_of, *order; // stb_ds, as many as from->stats
    regions_index *index;           // (parent + 1, name) -> node
    unsigned char *packed;          // stb_ds
    bool has_counters;
    uint64_t view_hash;
} regions_part;

void regions_part_begin(regions_part *part);
void regions_part_fill(regions_part *part, const netprof_regions *from);
void regions_part_free(regions_part *part);

// The facts of a file about its process, borrowed.
typedef struct regions_origin {
    const char *path;
    netprof_fact *facts; // stb_ds
    regions_peer *peers; // stb_ds
    bool tells_peers;
    bool damaged;
    bool series; // made of the last sample over time
} regions_origin;

// ---- views: which devices and counters a process read ----

// Leaves out what differs from host to host, so that all equal nodes share one.
typedef struct regions_view {
    const netprof_schema *schema;
    uint64_t hash;
} regions_view;

uint64_t regions_view_hash(const netprof_regions *from);
bool regions_view_same(const regions_view *view, const netprof_regions *from);
// False: the counters do not fit their devices.
bool regions_view_make(regions_view *view, const netprof_regions *from);

// ---- what the tree keeps ----

// A node while files come in: its cells in the order of the files, its readings in no order.
typedef struct regions_growing {
    size_t parent;
    const char *name;
    bool span;
    regions_value *values;     // stb_ds
    regions_cell *cells;       // stb_ds
    regions_reading *readings; // stb_ds; .view is a regions_host_view
} regions_growing;

// The ranks of a host that read the same devices.
typedef struct regions_host_view {
    size_t host, view;
    uint32_t *columns; // for each counter of the view its index in the host's schema; NULL: the same
} regions_host_view;

typedef struct regions_store {
    regions_arena arena;
    regions_index *hosts, *processes, *nodes; // nodes: (parent + 1, name)
    regions_index *host_view_of, *readings;   // of (host, view); of (node, host view)
    regions_growing *growing;                 // stb_ds, as are these
    regions_view *views;
    regions_host_view *host_views;
    const char *job, *command; // of the first file
    bool jobs_differ, commands_differ, versions_differ;
    size_t repeated;       // files of a process that another file had
    const char **series;   // stb_ds; files of samples over time
    regions_index *chosen; // of (wall_ns, pid): processes to be joined; NULL: all
    const rules *rules;    // or NULL
} regions_store;

// Before the first file: only the processes of one run of `of` will be joined.
void regions_choose_run(regions *r, const regions *of, size_t run);
bool regions_is_chosen(const regions *r, int64_t wall_ns, long pid);

// Adds one process; `part` and `origin` are not needed afterwards. One thread at a time.
void regions_join(regions *r, const regions_part *part, const regions_origin *origin);

// Adds the processes of which only samples over time are there.
void regions_join_series(regions *r);

// After the last file, in this order.
void regions_sort(regions *r);                                 // ranks, hosts, nodes and cells into their order
void regions_tell_runs(regions *r);                            // children, and files of several runs
void regions_balance(regions *r);                              // sums, shares, odd ranks
void regions_tell_times(regions *r);                           // work and waiting of each rank
void regions_find_late(regions *r);                            // who waited for whom
void regions_find_over_time(regions *r);                       // who is unlike in what was sampled over time
void regions_judge(regions *r, const rules *set, int threads); // NICs and findings
void regions_conclude(regions *r);                             // notes and title

void regions_node_share(regions_node *node, double lived_ns); // of the run
double regions_median(double *values, size_t count);          // sorts them

// ---- sentences ----

bool regions_ran_on(const regions_rank *rank); // after its file was written
void regions_make_step(regions *r);
void regions_say_runs(regions *r);
void regions_say_not_ended(regions *r);
void regions_say_children(regions *r);
// A note, with a title unless that is NULL.
void regions_say(regions *r, severity s, size_t node, size_t rank, char *title, const char *format, ...)
    REGIONS_PRINTF(6, 7);
const char *regions_rank_text(const regions *r, size_t rank, char *text, size_t size); // "Rank 17 (h3)"
words_text regions_time_text(double ns);
words_text regions_above_text(double over_median); // "16 % above the median", "about 1000 times the median"
double regions_run_ns(const regions *r);           // of a rank
severity regions_cost_severity(const regions *r, double ns);
// False: nobody was blamed or held. The list loses the finding that was told with it.
bool regions_blame(regions *r, const regions_finding **worst, size_t *count);
// Who alone spends more or less of its time in a region, as far as that is not said: `slow`, the node in which a rank was
// named, or REGIONS_NONE.
void regions_say_over_time(regions *r, size_t slow);
const char *regions_device_name(const regions *r, const regions_finding *x);
// The worst finding on the NICs of the rank's host, in the node or one around it, that a title may name; or NULL.
const regions_finding *regions_finding_around(const regions *r, const regions_finding *const *worst, size_t count,
                                              size_t rank, size_t node);

// Statistics of one node whose cells are sorted; `time_ns` is share 1, `ranks` how many there are in all.
void regions_node_balance(regions_arena *arena, regions_node *node, uint64_t time_ns, size_t ranks);

// ---- NICs ----

// The schemas of the hosts, from the views of their ranks.
void regions_make_schemas(regions *r);
// The figures of one reading. Its findings are added to *found (stb_ds), unless that is NULL.
void regions_measure(const regions *r, size_t node, const regions_node *of, regions_reading *seen,
                     regions_finding **found);
void regions_sort_readings(regions_reading *readings, size_t count); // by host and view
// node->nic, from readings that were measured.
void regions_sum_readings(const regions *r, regions_node *node);

#endif

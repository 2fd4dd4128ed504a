// What the parts of regions.h share: files on their way into the tree, and what the tree keeps behind it.
//
// Files are read by several threads and joined one after the other, in the order of their names: a thread reads its
// file, waits for its turn, and joins. So the tree has one writer at a time, nothing of a file outlives its turn but what
// was copied, and the result does not depend on who was faster.
#ifndef NETPROF_REGIONS_PRIVATE_H
#define NETPROF_REGIONS_PRIVATE_H

#include "analysis/base/lookup.h"
#include "analysis/base/pairs.h"
#include "regions.h"
#include "analysis/base/saturating_sum.h"
#include "analysis/base/text.h"

#include <stdarg.h>

#define REGIONS_PRINTF(text, first) __attribute__((format(printf, text, first)))

// ---- memory ----

// Small things that live as long as the tree; nothing is freed alone.
typedef struct regions_chunk {
    struct regions_chunk *next;
    size_t used, size;
} regions_chunk;

typedef struct regions_arena {
    regions_chunk *chunks;
} regions_arena;

void *regions_keep(regions_arena *arena, const void *data, size_t size); // a copy; NULL without memory
void regions_arena_free(regions_arena *arena);

// Room for one more element in an array of `count` that doubles; NULL without memory (the array stays).
void *regions_grow(void *array, size_t count, size_t *room, size_t size);

// Bytes that are put together.
typedef struct regions_bytes {
    unsigned char *data;
    size_t size, room;
    bool failed; // no memory
} regions_bytes;

void regions_put(regions_bytes *to, uint64_t value); // LEB128
uint64_t regions_get(const unsigned char **at);      // of what was put

netprof_err regions_fail(netprof_error *error, netprof_err code, const char *path, const char *format, ...)
    REGIONS_PRINTF(4, 5);

// ---- sparse arrays of numbers: histograms, sums of counters ----

// Pairs (distance from the one before, value) of what is not 0, ended by 0.
void regions_pack(regions_bytes *to, const uint64_t *values, size_t count);
void regions_unpack_add(const unsigned char *from, uint64_t *values, size_t count);

// ---- calls ----

void regions_calls_add(regions_calls *to, const regions_calls *more);

// ---- one process on its way in: what a file's chunk of regions says, by node ----

// The stats of one path, over the threads: a chain.
typedef struct regions_part_node {
    size_t parent; // in the part, or REGIONS_NONE
    size_t first;  // a stat; next[] leads on
    size_t last;
    // Made by regions_part_pack():
    regions_cell cell;        // without rank
    size_t histogram, values; // where they are in part.packed
    size_t packed_end;
    bool has_reading;
    uint32_t readers, thread; // thread: whose reading
    uint64_t counted, unread, read_ns;
    double open;
} regions_part_node;

typedef struct regions_part {
    const netprof_regions *from; // borrowed
    regions_part_node *nodes;    // parents before their children
    size_t node_count, room;
    size_t *next, *node_of, *order; // [from->count]
    lookup index;                   // (parent + 1, name) -> node
    regions_bytes packed;
    bool has_counters;
    uint64_t view_hash;
} regions_part;

// What a file says about its process, borrowed.
typedef struct regions_origin {
    const char *path;
    netprof_fact *facts;
    size_t fact_count, fact_room;
    bool damaged;
} regions_origin;

// Sorts out a chunk of regions. False without memory.
bool regions_part_make(regions_part *part, const netprof_regions *from);
void regions_part_free(regions_part *part);

// ---- views: which devices and counters a process read ----

// Only what the regions have, so that all nodes that are alike share one.
typedef struct regions_view {
    const netprof_schema *schema;
    uint64_t hash;
} regions_view;

uint64_t regions_view_hash(const netprof_regions *from);
bool regions_view_same(const regions_view *view, const netprof_regions *from);
netprof_err regions_view_make(regions_view *view, const netprof_regions *from);
// Devices and counters of several views in one; a device that is in an earlier one is not taken again.
netprof_err regions_views_join(const netprof_schema *const *views, size_t count, const netprof_schema **joined);

// ---- what the tree keeps ----

// While files come in: a node, its cells in the order of the files, its readings in no order.
typedef struct regions_growing {
    size_t parent;
    const char *name;
    regions_cell *cells;
    size_t cell_count, cell_room;
    regions_reading *readings; // .view is a regions_host_view
    size_t reading_count, reading_room;
} regions_growing;

// The ranks of a host that read the same devices.
typedef struct regions_host_view {
    size_t host, view;
    uint32_t *columns; // of each counter of the view its index in the host's schema; NULL: the same
} regions_host_view;

typedef struct regions_store {
    regions_arena arena;
    lookup hosts, processes, nodes; // nodes: (parent + 1, name)
    regions_growing *growing;
    size_t growing_count, growing_room;
    regions_view *views;
    size_t view_count, view_room;
    regions_host_view *host_views;
    size_t host_view_count, host_view_room;
    pairs host_view_of; // (host, view)
    pairs readings;     // (node, host view) -> reading
    size_t host_room, rank_room, warning_room, note_room, finding_room;
    const char *job, *command; // of the first file
    bool jobs_differ, commands_differ, versions_differ;
    size_t repeated;    // files of a process that was there already
    const rules *rules; // or NULL
} regions_store;

// Takes in one process; `part` and `origin` are not needed afterwards. Only in turn.
netprof_err regions_join(regions *r, const regions_part *part, const regions_origin *origin, netprof_error *error);
void regions_warn(regions *r, const char *path, uint64_t offset, const char *format, ...) REGIONS_PRINTF(4, 5);

// When all is there, in this order. _NOMEM is the only error.
netprof_err regions_sort(regions *r, netprof_error *error);    // ranks, hosts, nodes, cells in their order
netprof_err regions_balance(regions *r, netprof_error *error); // sums, shares, odd ranks
netprof_err regions_judge(regions *r, const regions_options *options, netprof_error *error); // NICs, findings
netprof_err regions_conclude(regions *r, netprof_error *error);                              // notes and title

// Statistics of one node whose cells are there and sorted; `time_ns` is share 1, `ranks` how many there are in all.
netprof_err regions_node_balance(regions_arena *arena, regions_node *node, uint64_t time_ns, size_t ranks,
                                 netprof_error *error);
// What the NICs did in one node: node->readings and node->nic. No findings.
netprof_err regions_node_nic(const regions *r, regions_node *node, netprof_error *error);

#endif

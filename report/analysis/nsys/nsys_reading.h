// Shared by the parts that read an export: the sources of events, and the results so far.
#ifndef NETPROF_NSYS_READING_H
#define NETPROF_NSYS_READING_H

#include "nsys_private.h"

// Sums of a session's begin, a clock's offset and two times of events stay within 64 bits.
#define LATEST_NS         ((int64_t)1 << 60) // since the profile began: 36 years
#define LATEST_SESSION_NS ((int64_t)1 << 62) // since 1970

// The columns of the query, in their order.
enum {
    AT_BEGIN = 0,
    AT_END,
    AT_NAME,
    AT_TEXT,
    AT_DEVICE,
    AT_GLOBAL,
    AT_BYTES,
    AT_KIND,
    AT_TYPE,
    AT_DOMAIN,
    AT_COMMUNICATOR
};

enum {
    EACH_ONCE = 1,    // rows that are alike are one call: it has one for each of its requests or directions
    API_VERSION = 2,  // "cudaLaunchKernel_v7000": the version of the interface is no part of the name
    MESSAGE_SIZE = 4, // what counts is the size alone; rows without one are of no message
    GRAPH = 8,        // named by the number of a graph
    MEETINGS = 16     // may be a call that nobody leaves before everybody entered it
};

enum { OF_NONE = 0, OF_PUSHPOP, OF_STARTEND, OF_P2P, OF_COLL, OF_START_WAIT, OF_OTHER, OF_COLL_SEND, OF_COLL_RECV };

typedef struct event_source {
    const char *table;
    nsys_kind kind;
    int busy;  // -1: not on a GPU
    int spent; // -1: none
    int of;
    unsigned flags;
    const char *names[4];          // columns: the first that is not NULL names the event
    const char *bytes, *copy_kind; // columns
    const char *fixed;             // the name of all
} event_source;

// How many calls of one kind of meeting a process made.
typedef struct round_count {
    size_t kind;
    uint64_t count;
} round_count;

typedef struct reading {
    nsys *n;
    nsys_sqlite db;
    nsys_names names;
    nsys_gather gathers[NSYS_READ];
    nsys_spans *gpus;              // array of stb_ds
    nsys_map *gpu_of, *process_of; // (device, process), process
    nsys_map *round_of;            // (kind of meeting, process): index in round_counts
    round_count *round_counts;     // array of stb_ds
    nsys_map *communicators;       // of MPI, that the file does not list: (process, handle)
    nsys_map *has_one;             // process: of those
    bool mixed;                    // a process has several of them: who takes part in which is not known
    size_t last_process;
    int64_t last_nvtx; // -1: not looked for
    netprof_error *error;
} reading;

void nsys_event_add(reading *r, void *row, const event_source *from);

#endif

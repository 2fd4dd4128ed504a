/* netprof.h - v0.1.0 - network counters and code regions for HPC and AI nodes
   SPDX-License-Identifier: MIT; the licence text is at the end of this file.

   QUICK START. In exactly one C or C++ file, before any other include:

       #define NETPROF_IMPLEMENTATION
       #include "netprof.h"

   then, around the code that communicates:

       netprof *np;
       netprof_snapshot before = NETPROF_ZERO, after = NETPROF_ZERO;
       netprof_delta delta = NETPROF_ZERO;
       if (netprof_open(&np, NULL, NULL) == NETPROF_OK) {
           netprof_take(np, &before, NETPROF_SET_ALL, NULL);
           exchange();
           netprof_take(np, &after, NETPROF_SET_ALL, NULL);
           netprof_diff(&before, &after, NULL, &delta, NULL);
           netprof_save_file("run.netprof", &before, 2, NULL);  (before and after kept side by side)
       }

   Link with -pthread. `netprof diff run.netprof` prints what happened.

   CONTENTS
     1  concepts          4  types: schema, snapshot, delta     7  implementation, in numbered parts:
     2  switches          5  functions                             7.1 seams  7.2 memory and errors ...
     3  limits            6  regions (their place)                 the format of .netprof: at 7.16

   1 CONCEPTS
   A *source* (cxi, netdev, ethtool, rdma, ip, tcp, or yours) finds *devices* (cxi0, eth0, mlx5_0/1). A device
   has facts (text: bus address, speed, link) and *counters* (name, unit, kind, width in bits). What there is to
   read is a *schema*; reading it once is a *snapshot*: per counter a value and a status, and the times between
   which it was read. Two snapshots give a *delta*: per counter a value and a flag. A counter keeps its 64-bit
   value from the kernel to the file: rates and ratios are the reader's business. What could not be read has a
   status and an errno, and never the value 0 in disguise. The *fast set* is the few counters that decide most
   questions; *all* is all of them.

   2 SWITCHES (define before including; the first four in the implementing file)
     NETPROF_IMPLEMENTATION   the implementation, too
     NETPROF_STATIC           every function static (several files may then have their own copy)
     NETPROF_MALLOC(size), NETPROF_REALLOC(pointer, size), NETPROF_FREE(pointer)   all three or none
     NETPROF_NO_THREADS       no worker threads (netprof_config.threads is then ignored)
     NETPROF_NO_NETLINK       links from sysfs, no ethtool groups
     NETPROF_NO_JSON          no JSON writer
     NETPROF_OS_...           the system calls of part 7.1, for fault injection in tests
     Environment: NETPROF_ROOT, NETPROF_INCLUDE, NETPROF_EXCLUDE, NETPROF_SOURCES, used by netprof_open() where
     the configuration leaves the field empty.

   3 LIMITS
     Linux 3.10 or newer. A snapshot is not atomic: it takes as long as it takes and says how long. Counters
     belong to devices, not to processes: other programs' traffic is in them. */

#ifndef NETPROF_H
#define NETPROF_H

#if defined(NETPROF_IMPLEMENTATION) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

#include <stddef.h>
#include <stdint.h>

#define NETPROF_VERSION_MAJOR 0
#define NETPROF_VERSION_MINOR 1
#define NETPROF_VERSION_PATCH 0
#define NETPROF_VERSION_STRING "0.1.0"

#ifdef NETPROF_STATIC
#define NETPROF_API static __attribute__((unused))
#elif !defined(NETPROF_API)
#define NETPROF_API extern
#endif

#ifdef __cplusplus
#define NETPROF_ZERO {}
extern "C" {
#else
#define NETPROF_ZERO {0}
#endif

/* ---- 4 types ---- */

typedef enum netprof_err {
    NETPROF_OK = 0,
    NETPROF_ERR_ARG = -1,      /* an argument that cannot be meant (NULL, an uninitialised struct) */
    NETPROF_ERR_NOMEM = -2,    /* an allocation failed */
    NETPROF_ERR_IO = -3,       /* a system call failed: see sys_errno and path */
    NETPROF_ERR_PARSE = -4,    /* text that is not what its format demands */
    NETPROF_ERR_FORMAT = -5,   /* not a .netprof file */
    NETPROF_ERR_VERSION = -6,  /* a .netprof file of a later major format */
    NETPROF_ERR_MISMATCH = -7, /* snapshots of different hosts or boots */
    NETPROF_ERR_LIMIT = -8,    /* more than the limits allow */
    NETPROF_ERR_NOSOURCE = -9, /* nothing to read: no source found a counter */
    NETPROF_ERR_DAMAGED = -10  /* a file with parts missing; everything readable was delivered */
} netprof_err;

/* Details of a failure, owned by the caller; every function that takes one accepts NULL. */
typedef struct netprof_error {
    netprof_err code;
    int sys_errno;     /* 0 when no system call was involved */
    uint64_t offset;   /* byte offset in the file, where one applies */
    char source[16];   /* "cxi", "netdev", ...; empty when none */
    char path[256];    /* file or device; empty when none */
    char text[160];    /* what was expected, without the path */
} netprof_error;

typedef enum netprof_kind {
    NETPROF_KIND_COUNTER = 0,  /* grows; differences and rates make sense */
    NETPROF_KIND_GAUGE = 1,    /* goes up and down; never differenced */
    NETPROF_KIND_STATE = 2,    /* a code (link state, carrier); never differenced */
    NETPROF_KIND_HISTOGRAM = 3 /* one bucket of a histogram; differs like a counter */
} netprof_kind;

/* Why a value is or is not there. Only OK and SATURATED carry a value; all others have value 0. */
typedef enum netprof_status {
    NETPROF_STATUS_SKIPPED = 0,     /* not in the set that was asked for */
    NETPROF_STATUS_OK = 1,
    NETPROF_STATUS_ABSENT = 2,      /* the source has no such value here (attribute or column missing) */
    NETPROF_STATUS_UNSUPPORTED = 3, /* the driver says it cannot ("N/A (no PMA)", EINVAL, ENOSYS, EOPNOTSUPP) */
    NETPROF_STATUS_DENIED = 4,      /* EACCES, EPERM */
    NETPROF_STATUS_VANISHED = 5,    /* was there at discovery, is gone (ENOENT, ENODEV, ENXIO) */
    NETPROF_STATUS_SATURATED = 6,   /* a counter that sticks at all-ones has done so: the true value is larger */
    NETPROF_STATUS_UNREADABLE = 7   /* anything else, with its errno; EBADMSG: the text was not a number */
} netprof_status;

/* Flags of a counter. */
#define NETPROF_FAST      0x0001u /* member of the fast set */
#define NETPROF_SIGNED    0x0002u /* the value is an int64_t in two's complement */
#define NETPROF_SATURATES 0x0004u /* sticks at all-ones of its width instead of wrapping */
#define NETPROF_STAMPED   0x0008u /* the device stamps each value with its own time */
#define NETPROF_SLOW_REFRESH 0x0010u /* cached by the driver (rdma hw_counters: fact "lifespan_ms") */

typedef struct netprof_fact {
    const char *key;   /* lower case, with the unit where it holds a quantity: "speed_mbps", "numa_node" */
    const char *value; /* UTF-8 as the kernel gave it: hostile until escaped */
} netprof_fact;

typedef struct netprof_counter {
    const char *name;  /* as the kernel names it; unique within its device ("#2" added to a second one) */
    const char *unit;  /* "bytes", "packets", "cycles", ...; "" when unknown */
    uint32_t device;   /* index into netprof_schema.devices */
    uint16_t scale;    /* values were multiplied by this already (InfiniBand data words: 4); raw = value/scale */
    uint16_t flags;    /* NETPROF_FAST | ... */
    uint8_t kind;      /* netprof_kind */
    uint8_t width;     /* bits of the raw counter, 0 when unknown: a decrease is then never called a wrap */
} netprof_counter;

/* Flags of a device. */
#define NETPROF_DEVICE_PHYSICAL 0x0001u /* a port of the node: totals add these up, and only these */
#define NETPROF_DEVICE_VIRTUAL  0x0002u /* bond, VLAN, bridge, veth, VF, loopback: listed, never added */

typedef struct netprof_device {
    const char *source;       /* "cxi" */
    const char *name;         /* "cxi0", "eth0", "mlx5_0/1" (port 1) or "mlx5_0" (the device itself) */
    uint64_t identity;        /* ifindex or inode, 0 when unknown: differs after the device was re-created */
    uint32_t flags;
    uint32_t first, count;    /* its counters are schema->counters[first .. first+count) */
    const netprof_fact *facts;
    uint32_t fact_count;
} netprof_device;

/* What became of a source at discovery; one row for each source that was asked for, also when it has no device. */
typedef struct netprof_source_state {
    const char *name;
    netprof_status status;    /* OK, ABSENT, DENIED, ... */
    int sys_errno;
    const char *path;         /* where it looked */
    uint32_t device_count;
} netprof_source_state;

/* Everything there is to read: immutable, shared by snapshots, freed with the last one that refers to it. */
typedef struct netprof_schema {
    const netprof_device *devices;
    const netprof_counter *counters;
    const netprof_source_state *sources;
    const netprof_fact *facts; /* of the node: host, boot_id, kernel, machine, netns, root, netprof, ... */
    size_t device_count, counter_count, source_count, fact_count;
} netprof_schema;

typedef enum netprof_set { NETPROF_SET_ALL = 0, NETPROF_SET_FAST = 1 } netprof_set;

/* The values of a schema's counters at one moment. Start from NETPROF_ZERO; reuse it for the next take (no
   allocation when the schema is the same); netprof_snapshot_free() at the end. Arrays have counter_count entries
   except the two that say otherwise. */
typedef struct netprof_snapshot {
    const netprof_schema *schema;     /* kept alive by this snapshot */
    uint64_t *values;                 /* in the counter's unit (int64_t bits where NETPROF_SIGNED) */
    uint8_t *status;                  /* netprof_status */
    uint8_t *errnos;                  /* errno behind a status that is not OK, 0 if none */
    int64_t *stamps_ns;               /* NETPROF_STAMPED: CLOCK_REALTIME by the device's driver; else 0 */
    int64_t *device_begin_ns;         /* [device_count] CLOCK_MONOTONIC when reading this device began ... */
    int64_t *device_end_ns;           /* [device_count] ... and ended; both 0 when it was not read */
    int64_t begin_ns, end_ns;         /* CLOCK_MONOTONIC around the whole sweep */
    int64_t wall_ns;                  /* CLOCK_REALTIME at begin_ns, ns since 1970-01-01 UTC */
    int64_t stamp_error_ns;           /* 0 = stamps exact; else the largest error of those that a file thinned out */
    netprof_set set;
    uint32_t not_ok;                  /* how many asked-for counters have no value */
    void *memory;                     /* private */
} netprof_snapshot;

typedef enum netprof_flag {
    NETPROF_FLAG_OK = 0,
    NETPROF_FLAG_WRAPPED = 1, /* passed 2^width once; the value is the true difference */
    NETPROF_FLAG_RESET = 2,   /* started again from 0: the value is what came since, a lower bound */
    NETPROF_FLAG_NEW = 3,     /* not in the first snapshot; no difference, value 0 */
    NETPROF_FLAG_GONE = 4,    /* not in the second snapshot; no difference, value 0 */
    NETPROF_FLAG_GAUGE = 5,   /* gauge or state: before and after, never a difference */
    NETPROF_FLAG_SUSPECT = 6, /* saturated: the value is a lower bound */
    NETPROF_FLAG_UNKNOWN = 7  /* in both, but not readable in at least one: no difference, value 0 */
} netprof_flag;

/* Snapshot minus snapshot. Start from NETPROF_ZERO; netprof_delta_free() at the end. */
typedef struct netprof_delta {
    const netprof_schema *schema;   /* of the second snapshot, or joined when the two differ; kept alive */
    uint64_t *before, *after;       /* 0 when not readable: see the statuses */
    uint64_t *values;               /* after - before by the flag's rule */
    uint8_t *flags;                 /* netprof_flag */
    uint8_t *before_status, *after_status;
    int64_t *elapsed_ns;            /* between the two readings of this counter: own stamps, else device times */
    int64_t wall_begin_ns, wall_end_ns;
    int64_t interval_ns;            /* between the starts of the two sweeps (CLOCK_MONOTONIC within one boot) */
    int64_t sweep_ns;               /* the longer of the two sweeps: how sharp the edges are */
    void *memory;
} netprof_delta;

/* ---- the context ---- */

typedef struct netprof netprof;

typedef struct netprof_alloc {
    void *(*resize)(void *user, void *pointer, size_t size); /* as realloc; pointer may be NULL */
    void (*release)(void *user, void *pointer);              /* as free; never called with NULL */
    void *user;
} netprof_alloc;

/* Held descriptors are re-read with pread (about 0.4 times the cost of opening anew), but each costs 4 KiB of
   kernel memory for a sysfs file and one entry of the process's descriptor table. */
typedef enum netprof_hold {
    NETPROF_HOLD_FAST = 0, /* keep the fast set's files open */
    NETPROF_HOLD_NONE = 1,
    NETPROF_HOLD_ALL = 2   /* as many as the budget allows */
} netprof_hold;

/* All zero = defaults. Strings are copied. */
typedef struct netprof_config {
    const char *root;    /* replaces "/" for every file; NULL: NETPROF_ROOT or "/" */
    const char *sources; /* comma list of source names; NULL: NETPROF_SOURCES or all built-in ones */
    const char *include; /* comma list of globs on "device/counter"; one without '/' means the device;
                            '*' matches '/' too; "\," is a comma within a name; NULL: everything */
    const char *exclude; /* likewise; applied after include */
    const char *fast;    /* likewise: what the fast set is; NULL: the sources' own choice */
    int pid;             /* > 0: the network namespace of this process, through /proc/PID/net */
    netprof_hold hold;
    int max_fds;         /* budget of held descriptors; 0: a quarter of the soft limit RLIMIT_NOFILE; never more
                            than that limit less what is open less 256; never raised */
    int threads;         /* workers of a sweep, one device each at a time; 0 or 1: the calling thread alone */
    int no_rescan;       /* 1: netprof_take() never looks for devices that came or went by itself */
    const netprof_alloc *alloc; /* NULL: the NETPROF_MALLOC family */
    uint64_t end_zero;   /* must be 0: catches a struct that was never initialised */
} netprof_config;

/* ---- your own sources ---- */

typedef struct netprof_list netprof_list; /* collects what a source finds */

/* One sweep over one source. Arrays are the source's own counters, in the order it listed them. */
typedef struct netprof_sweep {
    netprof_set set;
    size_t count;                    /* entries of the arrays */
    const netprof_counter *counters; /* counters[i].flags & NETPROF_FAST tells the fast set */
    uint64_t *values;
    uint8_t *status;                 /* preset to NETPROF_STATUS_SKIPPED */
    uint8_t *errnos;
    int64_t *stamps_ns;
    int stale;                       /* set to 1 when devices came or went: the next take looks again */
} netprof_sweep;

#define NETPROF_SOURCE_WHOLE 0x0001u /* read() is called once for all devices (device = 0), not once for each */

typedef struct netprof_source {
    const char *name;
    unsigned flags;
    /* Lists devices and counters, dropping what an earlier call found. Called at open and at every rescan, never
       while a sweep runs. Errors other than NETPROF_ERR_NOMEM leave the source without devices. */
    netprof_err (*discover)(void *user, netprof_list *list);
    /* Fills in the values of one device (or of all, SOURCE_WHOLE). With netprof_config.threads, different devices
       are read by different threads at the same time. */
    void (*read)(void *user, size_t device, netprof_sweep *sweep);
    /* 1 when devices came or went since discover(); called at the start of every take; may be NULL. */
    int (*changed)(void *user);
    void (*close)(void *user); /* may be NULL */
} netprof_source;

#define NETPROF_NONE ((size_t)-1)

/* A counter of your own: appears as device/name of source "user". */
typedef struct netprof_user_counter {
    const char *device, *name, *unit; /* copied; device NULL means "program" */
    netprof_kind kind;
    int width;                        /* bits, 0 unknown */
    int (*read)(void *user, uint64_t *value); /* 0, or an errno; called in a sweep */
    void *user;
} netprof_user_counter;

/* ---- files ---- */

typedef int (*netprof_write_fn)(void *user, const void *data, size_t size); /* 0, or an errno */
typedef struct netprof_writer netprof_writer;
typedef struct netprof_reader netprof_reader;

/* Bounds for hostile input; 0 = default. */
typedef struct netprof_limits {
    uint64_t max_counters; /* of one schema: 4 Mi */
    uint64_t max_devices;  /* of one schema: 64 Ki */
    uint64_t max_memory;   /* bytes that one reader may hold: 1 GiB */
} netprof_limits;

typedef enum netprof_item_type {
    NETPROF_ITEM_END = 0,  /* no more; `complete` tells whether the writer closed the file properly */
    NETPROF_ITEM_FACT,     /* one fact of the run */
    NETPROF_ITEM_SNAPSHOT,
    NETPROF_ITEM_DELTA,
    NETPROF_ITEM_DAMAGE    /* bytes that are lost: offset, size, text */
} netprof_item_type;

/* What a reader delivers, borrowed until the next call. Copy a snapshot with netprof_snapshot_copy(). */
typedef struct netprof_item {
    netprof_item_type type;
    uint64_t offset, size;             /* of the chunk, in bytes */
    const netprof_fact *fact;
    const netprof_snapshot *snapshot;
    const netprof_delta *delta;
    const char *text;                  /* DAMAGE: what is lost, in words */
    int complete;
} netprof_item;

/* ---- 5 functions ----
   Thread rule "context": one thread at a time per context; different contexts are independent. "any": any thread.
   Functions that return netprof_err also fill *error on failure. free and close accept NULL and zeroed structs. */

NETPROF_API const char *netprof_version(void);                   /* any */
NETPROF_API const char *netprof_strerror(netprof_err code);      /* any; static text */
NETPROF_API const char *netprof_status_name(netprof_status s);   /* any; "ok", "absent", ... */
NETPROF_API const char *netprof_kind_name(netprof_kind k);       /* any; "counter", "gauge", "state", "histogram" */
NETPROF_API const char *netprof_flag_name(netprof_flag f);       /* any; "ok", "wrapped", "reset", ... */

/* Finds every source, device and counter. A source that is absent or denied is a row of schema->sources, no error;
   NETPROF_ERR_NOSOURCE only when nothing at all was found (the context is open all the same, for sources and
   counters of your own). config NULL: defaults. Thread: any, for different contexts. */
NETPROF_API netprof_err netprof_open(netprof **out, const netprof_config *config, netprof_error *error);
NETPROF_API void netprof_close(netprof *np);

/* What is read now. Borrowed until the next rescan, add or close; retain it to keep it. context. */
NETPROF_API const netprof_schema *netprof_get_schema(const netprof *np);
NETPROF_API void netprof_schema_retain(const netprof_schema *schema);  /* any */
NETPROF_API void netprof_schema_release(const netprof_schema *schema); /* any; NULL accepted */

/* Index of a counter, or NETPROF_NONE; source NULL: the first device of that name that has it. any. */
NETPROF_API size_t netprof_find(const netprof_schema *schema, const char *source, const char *device,
                                const char *counter);
/* Value of a fact, or NULL. any. */
NETPROF_API const char *netprof_fact_of(const netprof_fact *facts, size_t count, const char *key);

/* Looks for devices that came or went; the schema changes only if something did. context. */
NETPROF_API netprof_err netprof_rescan(netprof *np, netprof_error *error);

/* Adds a source; `user` is passed to its functions; its strings must outlive the context. context. */
NETPROF_API netprof_err netprof_add_source(netprof *np, const netprof_source *source, void *user,
                                           netprof_error *error);
NETPROF_API netprof_err netprof_add_counter(netprof *np, const netprof_user_counter *counter, netprof_error *error);
/* TCP_INFO of a connected socket (getsockopt(2), IPPROTO_TCP) as device "tcp/NAME"; the socket stays yours. Remove
   it before closing it: a number that is reused would be read as if it were the old one. context. */
NETPROF_API netprof_err netprof_add_socket(netprof *np, int fd, const char *name, netprof_error *error);
NETPROF_API netprof_err netprof_remove_socket(netprof *np, int fd, netprof_error *error);

/* For a source's discover(). Allocation failures are remembered in the list and reported by the library. */
NETPROF_API size_t netprof_list_device(netprof_list *list, const char *name, uint64_t identity, unsigned flags);
NETPROF_API void netprof_list_fact(netprof_list *list, const char *key, const char *value); /* of the last device */
/* A counter of the last device; only name, unit, scale, flags, kind, width are looked at (unit NULL = ""). Returns
   its index in the sweep's arrays, or NETPROF_NONE when a filter dropped it: then never read it. */
NETPROF_API size_t netprof_list_counter(netprof_list *list, const netprof_counter *counter);
/* What became of the source: kept in schema->sources. The default is OK with devices, ABSENT without. */
NETPROF_API void netprof_list_state(netprof_list *list, netprof_status status, int sys_errno, const char *path);
NETPROF_API const char *netprof_list_root(const netprof_list *list); /* "" or the root without final '/' */
NETPROF_API netprof_status netprof_status_of_errno(int sys_errno);

/* Reads the set into *snapshot, replacing what it held. Values that fail have a status; the call itself fails only
   for want of memory or arguments. When devices came or went it rescans first, so that snapshot->schema may differ
   from the last one. context. Cost: about 0.5 us for a held sysfs file, 2 us for one that is opened anew. */
NETPROF_API netprof_err netprof_take(netprof *np, netprof_snapshot *snapshot, netprof_set set, netprof_error *error);
NETPROF_API netprof_err netprof_snapshot_copy(netprof_snapshot *to, const netprof_snapshot *from,
                                              netprof_error *error); /* any */
NETPROF_API void netprof_snapshot_free(netprof_snapshot *snapshot);

/* Options of netprof_diff; NULL = all zero. */
typedef struct netprof_diff_options {
    int force;         /* 1: also across hosts and boots */
    uint64_t end_zero;
} netprof_diff_options;

/* after - before, matched by (source, device, counter). Different host or boot_id facts: NETPROF_ERR_MISMATCH unless
   forced. A device with another identity was re-created: its counters are RESET. any. */
NETPROF_API netprof_err netprof_diff(const netprof_snapshot *before, const netprof_snapshot *after,
                                     const netprof_diff_options *options, netprof_delta *delta, netprof_error *error);
NETPROF_API void netprof_delta_free(netprof_delta *delta);
/* One counter by the rules above: kind, width, flags as declared; sets *value. any. */
NETPROF_API netprof_flag netprof_difference(const netprof_counter *counter, uint64_t before, uint64_t after,
                                            uint64_t *value);

/* A writer of .netprof. To a path: the file appears under its name only at netprof_writer_close() (temporary name
   in the same directory, fsync, rename). live = 1: appears at once and grows chunk by chunk, each in one write, so
   that it is readable after a kill at any instant. The first failure sticks and is returned by every later call.
   Thread: one at a time per writer. */
NETPROF_API netprof_err netprof_writer_open(netprof_writer **out, const char *path, int live, netprof_error *error);
NETPROF_API netprof_err netprof_writer_open_fn(netprof_writer **out, netprof_write_fn write, void *user,
                                               netprof_error *error);
NETPROF_API netprof_err netprof_write_fact(netprof_writer *writer, const char *key, const char *value,
                                           netprof_error *error);
NETPROF_API netprof_err netprof_write_snapshot(netprof_writer *writer, const netprof_snapshot *snapshot,
                                               netprof_error *error);
NETPROF_API netprof_err netprof_write_delta(netprof_writer *writer, const netprof_delta *delta, netprof_error *error);
/* Ends the file and gives it its name; keep = 0 drops it. The writer is gone in any case. */
NETPROF_API netprof_err netprof_writer_close(netprof_writer *writer, int keep, netprof_error *error);
/* The usual case in one call: n snapshots, atomically. */
NETPROF_API netprof_err netprof_save_file(const char *path, const netprof_snapshot *snapshots, size_t count,
                                          netprof_error *error);

/* A reader of .netprof: from a path, or from memory that outlives it. Fails at once only when there is no .netprof
   header; damage behind it comes as items, and everything complete is delivered. */
NETPROF_API netprof_err netprof_reader_open(netprof_reader **out, const char *path, const netprof_limits *limits,
                                            netprof_error *error);
NETPROF_API netprof_err netprof_reader_open_memory(netprof_reader **out, const void *data, size_t size,
                                                   const netprof_limits *limits, netprof_error *error);
NETPROF_API netprof_err netprof_reader_next(netprof_reader *reader, netprof_item *item, netprof_error *error);
NETPROF_API void netprof_reader_close(netprof_reader *reader);

#ifndef NETPROF_NO_JSON
/* JSON of facts, snapshots and deltas; the format is described at part 7.17. */
typedef struct netprof_json {
    const netprof_fact *facts;
    size_t fact_count;
    const netprof_snapshot *snapshots;
    size_t snapshot_count;
    const netprof_delta *deltas;
    size_t delta_count;
    int u64_strings;   /* 1: values as strings, for readers that keep numbers as doubles */
} netprof_json;
NETPROF_API netprof_err netprof_write_json(const netprof_json *what, netprof_write_fn write, void *user,
                                           netprof_error *error);
#endif

/* For readers of other formats: builds a schema by hand, like a source does. netprof_build_end() returns it with one
   reference (release it), or fails with what went wrong meanwhile. */
NETPROF_API netprof_list *netprof_build_begin(netprof_error *error);
NETPROF_API void netprof_build_source(netprof_list *list, const char *name); /* following devices belong to it */
NETPROF_API void netprof_build_fact(netprof_list *list, const char *key, const char *value); /* of the node */
NETPROF_API netprof_err netprof_build_end(netprof_list *list, const netprof_schema **out, netprof_error *error);
/* An empty snapshot of a schema, all SKIPPED, for a reader to fill in. */
NETPROF_API netprof_err netprof_snapshot_make(netprof_snapshot *snapshot, const netprof_schema *schema,
                                              netprof_error *error);

/* ---- 6 regions: their place ---- */

#ifdef __cplusplus
}
#endif
#endif /* NETPROF_H */

/* ---- 7 implementation ---- */

#if defined(NETPROF_IMPLEMENTATION) && !defined(NETPROF_IMPLEMENTED)
#define NETPROF_IMPLEMENTED

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#ifndef NETPROF_NO_THREADS
#include <pthread.h>
#endif
#if defined(__GLIBC__) && !defined(__USE_XOPEN2K8)
#error "the file with NETPROF_IMPLEMENTATION must include netprof.h first, or define _GNU_SOURCE"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* -- 7.1 seams: every system call whose failure a test wants to see -- */

#ifndef NETPROF_OS_OPENAT
#define NETPROF_OS_OPENAT(dirfd, path, flags) openat((dirfd), (path), (flags) | O_CLOEXEC)
#endif
#ifndef NETPROF_OS_CREATE
#define NETPROF_OS_CREATE(path, flags) open((path), (flags) | O_CREAT | O_WRONLY | O_CLOEXEC, 0666)
#endif
#ifndef NETPROF_OS_READ
#define NETPROF_OS_READ(fd, data, size) read((fd), (data), (size))
#endif
#ifndef NETPROF_OS_PREAD
#define NETPROF_OS_PREAD(fd, data, size, offset) pread((fd), (data), (size), (offset))
#endif
#ifndef NETPROF_OS_WRITE
#define NETPROF_OS_WRITE(fd, data, size) write((fd), (data), (size))
#endif
#ifndef NETPROF_OS_CLOSE
#define NETPROF_OS_CLOSE(fd) close(fd)
#endif
#ifndef NETPROF_OS_FSYNC
#define NETPROF_OS_FSYNC(fd) fsync(fd)
#endif
#ifndef NETPROF_OS_RENAME
#define NETPROF_OS_RENAME(from, to) rename((from), (to))
#endif
#ifndef NETPROF_OS_GETDENTS
#define NETPROF_OS_GETDENTS(fd, data, size) syscall(SYS_getdents64, (fd), (data), (size))
#endif
#ifndef NETPROF_OS_SOCKET
#define NETPROF_OS_SOCKET(domain, type, protocol) socket((domain), (type), (protocol))
#endif
#ifndef NETPROF_OS_SEND
#define NETPROF_OS_SEND(fd, data, size, flags) send((fd), (data), (size), (flags))
#endif
#ifndef NETPROF_OS_RECV
#define NETPROF_OS_RECV(fd, data, size, flags) recv((fd), (data), (size), (flags))
#endif
#ifndef NETPROF_OS_IOCTL
#define NETPROF_OS_IOCTL(fd, request, argument) ioctl((fd), (request), (argument))
#endif
#ifndef NETPROF_OS_GETSOCKOPT
#define NETPROF_OS_GETSOCKOPT(fd, level, name, data, size) getsockopt((fd), (level), (name), (data), (size))
#endif
#ifndef NETPROF_OS_CLOCK
#define NETPROF_OS_CLOCK(clock, timespec) clock_gettime((clock), (timespec))
#endif
#ifndef NETPROF_OS_GETENV
#define NETPROF_OS_GETENV(name) getenv(name)
#endif

/* -- 7.2 memory, errors, text -- */

#if !defined(NETPROF_MALLOC) && !defined(NETPROF_REALLOC) && !defined(NETPROF_FREE)
#define NETPROF_MALLOC(size) malloc(size)
#define NETPROF_REALLOC(pointer, size) realloc((pointer), (size))
#define NETPROF_FREE(pointer) free(pointer)
#elif !defined(NETPROF_MALLOC) || !defined(NETPROF_REALLOC) || !defined(NETPROF_FREE)
#error "define all three of NETPROF_MALLOC, NETPROF_REALLOC and NETPROF_FREE, or none"
#endif

static void *netprof__default_resize(void *user, void *pointer, size_t size)
{
    (void)user;
    return pointer ? NETPROF_REALLOC(pointer, size) : NETPROF_MALLOC(size);
}

static void netprof__default_release(void *user, void *pointer)
{
    (void)user;
    NETPROF_FREE(pointer);
}

static netprof_alloc netprof__alloc_or_default(const netprof_alloc *given)
{
    netprof_alloc a;
    if (given && given->resize && given->release)
        return *given;
    a.resize = netprof__default_resize;
    a.release = netprof__default_release;
    a.user = NULL;
    return a;
}

static void *netprof__resize(const netprof_alloc *a, void *pointer, size_t size)
{
    return a->resize(a->user, pointer, size ? size : 1);
}

static void *netprof__zalloc(const netprof_alloc *a, size_t size)
{
    void *p = netprof__resize(a, NULL, size);
    if (p)
        memset(p, 0, size);
    return p;
}

static void netprof__release(const netprof_alloc *a, void *pointer)
{
    if (pointer)
        a->release(a->user, pointer);
}

static char *netprof__strdup(const netprof_alloc *a, const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = (char *)netprof__resize(a, NULL, n);
    if (copy)
        memcpy(copy, text, n);
    return copy;
}

/* Makes room for `need` elements; the capacity at least doubles. 0 when out of memory, the array unchanged. */
static int netprof__grow(const netprof_alloc *a, void *array_pointer, size_t *capacity, size_t need, size_t size)
{
    void *array, *bigger;
    size_t n = *capacity ? *capacity : 8;
    if (need <= *capacity)
        return 1;
    while (n < need) {
        if (n > SIZE_MAX / 2)
            return 0;
        n *= 2;
    }
    if (n > SIZE_MAX / size)
        return 0;
    memcpy(&array, array_pointer, sizeof array);
    bigger = netprof__resize(a, array, n * size);
    if (!bigger)
        return 0;
    memcpy(array_pointer, &bigger, sizeof bigger);
    *capacity = n;
    return 1;
}

static void netprof__copy_text(char *to, size_t size, const char *from)
{
    size_t n = from ? strlen(from) : 0;
    if (n >= size)
        n = size - 1;
    if (n)
        memcpy(to, from, n);
    to[n] = 0;
}

static netprof_err netprof__fail(netprof_error *e, netprof_err code, int sys_errno, const char *path, const char *text)
{
    if (e) {
        memset(e, 0, sizeof *e);
        e->code = code;
        e->sys_errno = sys_errno;
        netprof__copy_text(e->path, sizeof e->path, path);
        netprof__copy_text(e->text, sizeof e->text, text);
    }
    return code;
}

static netprof_err netprof__no_memory(netprof_error *e)
{
    return netprof__fail(e, NETPROF_ERR_NOMEM, ENOMEM, NULL, "out of memory");
}

static int64_t netprof__clock(clockid_t clock)
{
    struct timespec t;
    if (NETPROF_OS_CLOCK(clock, &t) != 0)
        return 0;
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

NETPROF_API const char *netprof_version(void)
{
    return NETPROF_VERSION_STRING;
}

NETPROF_API const char *netprof_strerror(netprof_err code)
{
    switch (code) {
    case NETPROF_OK: return "done";
    case NETPROF_ERR_ARG: return "bad argument";
    case NETPROF_ERR_NOMEM: return "out of memory";
    case NETPROF_ERR_IO: return "input or output failed";
    case NETPROF_ERR_PARSE: return "text that does not parse";
    case NETPROF_ERR_FORMAT: return "not a .netprof file";
    case NETPROF_ERR_VERSION: return "written by a later version";
    case NETPROF_ERR_MISMATCH: return "different hosts or boots";
    case NETPROF_ERR_LIMIT: return "over the limit";
    case NETPROF_ERR_NOSOURCE: return "nothing to read";
    case NETPROF_ERR_DAMAGED: return "damaged file";
    }
    return "unknown error";
}

static const char *netprof__name_in(const char *const *names, size_t count, int value)
{
    return value >= 0 && (size_t)value < count ? names[value] : "unknown";
}

NETPROF_API const char *netprof_status_name(netprof_status s)
{
    static const char *const names[] = {"skipped", "ok",       "absent",    "unsupported",
                                        "denied",  "vanished", "saturated", "unreadable"};
    return netprof__name_in(names, sizeof names / sizeof *names, (int)s);
}

NETPROF_API const char *netprof_kind_name(netprof_kind k)
{
    static const char *const names[] = {"counter", "gauge", "state", "histogram"};
    return netprof__name_in(names, sizeof names / sizeof *names, (int)k);
}

NETPROF_API const char *netprof_flag_name(netprof_flag f)
{
    static const char *const names[] = {"ok",   "wrapped", "reset",   "new",
                                        "gone", "gauge",   "suspect", "unknown"};
    return netprof__name_in(names, sizeof names / sizeof *names, (int)f);
}

NETPROF_API netprof_status netprof_status_of_errno(int sys_errno)
{
    switch (sys_errno) {
    case 0: return NETPROF_STATUS_OK;
    case EACCES:
    case EPERM: return NETPROF_STATUS_DENIED;
    case ENOENT:
    case ENODEV:
    case ENXIO: return NETPROF_STATUS_VANISHED;
    case EINVAL:
    case ENOSYS:
    case ENOTTY:
    case EOPNOTSUPP: return NETPROF_STATUS_UNSUPPORTED;
    default: return NETPROF_STATUS_UNREADABLE;
    }
}

/* Keeps what read() gave: the errno fits a byte for every errno of Linux below 256. */
static void netprof__set_failed(netprof_sweep *sweep, size_t i, int sys_errno)
{
    sweep->status[i] = (uint8_t)netprof_status_of_errno(sys_errno);
    sweep->errnos[i] = (uint8_t)(sys_errno > 0 && sys_errno < 256 ? sys_errno : 255);
    sweep->values[i] = 0;
    sweep->stamps_ns[i] = 0;
}

/* Keeps a raw value: saturation is judged before the scale is applied. */
static void netprof__set_value(netprof_sweep *sweep, size_t i, uint64_t raw)
{
    const netprof_counter *c = &sweep->counters[i];
    int full = (c->flags & NETPROF_SATURATES) && c->width && c->width <= 64 && raw == UINT64_MAX >> (64 - c->width);
    sweep->values[i] = c->scale > 1 ? raw * c->scale : raw;
    sweep->status[i] = full ? NETPROF_STATUS_SATURATED : NETPROF_STATUS_OK;
    sweep->errnos[i] = 0;
}

/* -- 7.3 small files and directories -- */

/* Reads a short text file whole. Returns its length, or -errno; the text ends with a 0 byte. */
static ssize_t netprof__read_text(int dirfd, const char *path, char *text, size_t size)
{
    size_t used = 0;
    ssize_t n = 0;
    int fd, failed = 0;
    do
        fd = NETPROF_OS_OPENAT(dirfd, path, O_RDONLY);
    while (fd < 0 && errno == EINTR);
    if (fd < 0)
        return -errno;
    while (used + 1 < size) {
        n = NETPROF_OS_READ(fd, text + used, size - 1 - used);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        used += (size_t)n;
    }
    if (n < 0)
        failed = errno;
    NETPROF_OS_CLOSE(fd);
    text[used] = 0;
    return failed ? -failed : (ssize_t)used;
}

/* As above without trailing white space: attributes of sysfs. */
static ssize_t netprof__read_line(int dirfd, const char *path, char *text, size_t size)
{
    ssize_t n = netprof__read_text(dirfd, path, text, size);
    while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == ' ' || text[n - 1] == '\t' || text[n - 1] == '\r'))
        text[--n] = 0;
    return n;
}

/* Joins root and path; 0 when it does not fit. */
static int netprof__path(char *to, size_t size, const char *root, const char *path)
{
    size_t a = strlen(root), b = strlen(path);
    if (a + b >= size)
        return 0;
    memcpy(to, root, a);
    memcpy(to + a, path, b + 1);
    return 1;
}

static int netprof__open_dir(int dirfd, const char *path)
{
    int fd;
    do
        fd = NETPROF_OS_OPENAT(dirfd, path, O_RDONLY | O_DIRECTORY);
    while (fd < 0 && errno == EINTR);
    return fd < 0 ? -errno : fd;
}

struct netprof__dirent64 {
    uint64_t d_ino;
    int64_t d_off;
    unsigned short d_reclen;
    unsigned char d_type;
    char d_name[1];
};

/* Calls visit() for each name but "." and ".."; stops when it returns non-zero. Returns 0, -errno or visit's. */
static int netprof__each_entry(int fd, int (*visit)(void *user, const char *name, uint64_t inode), void *user)
{
    uint64_t words[512]; /* aligned room for the records */
    char *data = (char *)words;
    for (;;) {
        long n = NETPROF_OS_GETDENTS(fd, data, sizeof words), at = 0;
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : 0;
        while (at < n) {
            const struct netprof__dirent64 *entry = (const struct netprof__dirent64 *)(const void *)(data + at);
            const char *name = data + at + offsetof(struct netprof__dirent64, d_name);
            int stop = 0;
            if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0)
                stop = visit(user, name, entry->d_ino);
            if (stop)
                return stop;
            at += entry->d_reclen;
        }
    }
}

typedef struct netprof__names {
    const netprof_alloc *alloc;
    char **names;
    size_t count, capacity;
} netprof__names;

static void netprof__names_free(netprof__names *list)
{
    size_t i;
    for (i = 0; i < list->count; i++)
        netprof__release(list->alloc, list->names[i]);
    netprof__release(list->alloc, list->names);
    list->names = NULL;
    list->count = list->capacity = 0;
}

static int netprof__names_add(void *user, const char *name, uint64_t inode)
{
    netprof__names *list = (netprof__names *)user;
    char *copy;
    (void)inode;
    if (!netprof__grow(list->alloc, &list->names, &list->capacity, list->count + 1, sizeof *list->names))
        return -ENOMEM;
    copy = netprof__strdup(list->alloc, name);
    if (!copy)
        return -ENOMEM;
    list->names[list->count++] = copy;
    return 0;
}

static int netprof__digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Natural order: cxi2 before cxi10; ties of number (07, 7) by text. */
static int netprof__natural(const char *a, const char *b)
{
    const char *p = a, *q = b;
    while (*p && *q) {
        if (netprof__digit(*p) && netprof__digit(*q)) {
            size_t m, n;
            int order;
            while (*p == '0' && netprof__digit(p[1]))
                p++;
            while (*q == '0' && netprof__digit(q[1]))
                q++;
            m = strspn(p, "0123456789");
            n = strspn(q, "0123456789");
            if (m != n)
                return m < n ? -1 : 1;
            order = memcmp(p, q, m);
            if (order)
                return order;
            p += m;
            q += n;
        } else if (*p != *q) {
            return (unsigned char)*p < (unsigned char)*q ? -1 : 1;
        } else {
            p++;
            q++;
        }
    }
    if (*p || *q)
        return *p ? 1 : -1;
    return strcmp(a, b);
}

static int netprof__natural_of_pointers(const void *a, const void *b)
{
    return netprof__natural(*(char *const *)a, *(char *const *)b);
}

/* Names in a directory in natural order; -errno or 0. Free the list in any case. */
static int netprof__list_dir(const netprof_alloc *alloc, int dirfd, const char *path, netprof__names *out)
{
    int fd = netprof__open_dir(dirfd, path), result;
    memset(out, 0, sizeof *out);
    out->alloc = alloc;
    if (fd < 0)
        return fd;
    result = netprof__each_entry(fd, netprof__names_add, out);
    NETPROF_OS_CLOSE(fd);
    if (out->count)
        qsort(out->names, out->count, sizeof *out->names, netprof__natural_of_pointers);
    return result;
}

static int netprof__mix_entry(void *user, const char *name, uint64_t inode)
{
    uint64_t *sum = (uint64_t *)user, h = 14695981039346656037u ^ inode;
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 1099511628211u;
    *sum += h; /* the order of entries does not matter */
    return 0;
}

/* A number that differs when an entry of the directory came, went or was made anew; 0 when there is none. */
static uint64_t netprof__dir_signature(const char *path)
{
    uint64_t sum = 1;
    int fd = netprof__open_dir(AT_FDCWD, path);
    if (fd < 0)
        return 0;
    netprof__each_entry(fd, netprof__mix_entry, &sum);
    NETPROF_OS_CLOSE(fd);
    return sum;
}

static uint64_t netprof__inode(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 ? (uint64_t)st.st_ino : 0;
}

/* -- 7.4 numbers in text -- */

/* Decimal digits at *p; 0 and *p moved behind them, or EBADMSG (none, or beyond 64 bits). */
static int netprof__parse_digits(const char **p, const char *end, uint64_t *value)
{
    const char *q = *p;
    uint64_t v = 0;
    while (q < end && netprof__digit(*q) && q - *p < 19)
        v = v * 10 + (uint64_t)(*q++ - '0');
    if (q == *p)
        return EBADMSG;
    for (; q < end && netprof__digit(*q); q++) {
        uint64_t d = (uint64_t)(*q - '0');
        if (v > (UINT64_MAX - d) / 10)
            return EBADMSG;
        v = v * 10 + d;
    }
    *p = q;
    *value = v;
    return 0;
}

static int netprof__only_space(const char *p, const char *end)
{
    while (p < end && (*p == '\n' || *p == ' ' || *p == '\t' || *p == '\r'))
        p++;
    return p == end;
}

/* "value@seconds.nanoseconds\n" of cxi telemetry (cass_telem.c); the stamp may be missing. 0 or errno. */
static int netprof__parse_stamped(const char *text, size_t size, uint64_t *value, int64_t *stamp_ns)
{
    const char *p = text, *end = text + size, *digits;
    uint64_t seconds, nanoseconds;
    *stamp_ns = 0;
    if (netprof__parse_digits(&p, end, value))
        return size ? EBADMSG : ENODATA;
    if (p < end && *p == '@') {
        p++;
        if (netprof__parse_digits(&p, end, &seconds) || p == end || *p++ != '.')
            return EBADMSG;
        digits = p;
        if (netprof__parse_digits(&p, end, &nanoseconds) || p - digits != 9 || seconds > 9000000000u)
            return EBADMSG;
        *stamp_ns = (int64_t)(seconds * 1000000000u + nanoseconds);
    }
    return netprof__only_space(p, end) ? 0 : EBADMSG;
}

/* A whole number, possibly negative (then two's complement). 0 or errno. */
static int netprof__parse_number(const char *text, size_t size, uint64_t *value, int64_t *stamp_ns)
{
    const char *p = text, *end = text + size;
    int negative = size && *p == '-';
    *stamp_ns = 0;
    p += negative;
    if (netprof__parse_digits(&p, end, value))
        return size == 0 ? ENODATA : size >= 3 && memcmp(text, "N/A", 3) == 0 ? EOPNOTSUPP : EBADMSG;
    if (negative)
        *value = ~*value + 1;
    return netprof__only_space(p, end) ? 0 : EBADMSG;
}

/* The number of a state such as "4: ACTIVE". 0 or errno. */
static int netprof__parse_state(const char *text, size_t size, uint64_t *value, int64_t *stamp_ns)
{
    const char *p = text, *end = text + size;
    *stamp_ns = 0;
    if (netprof__parse_digits(&p, end, value))
        return size ? EBADMSG : ENODATA;
    return p < end && *p == ':' ? 0 : netprof__only_space(p, end) ? 0 : EBADMSG;
}

typedef int (*netprof__parser)(const char *text, size_t size, uint64_t *value, int64_t *stamp_ns);

/* -- 7.5 filters -- */

typedef struct netprof__filter {
    char *patterns; /* each ends with a 0 byte */
    size_t count;   /* 0: no filter */
} netprof__filter;

static int netprof__filter_make(const netprof_alloc *a, const char *list, netprof__filter *out)
{
    char *to;
    out->patterns = NULL;
    out->count = 0;
    if (!list || !*list)
        return 1;
    out->patterns = to = (char *)netprof__resize(a, NULL, strlen(list) + 2);
    if (!to)
        return 0;
    for (out->count = 1; *list; list++) {
        if (*list == '\\' && list[1] == ',') {
            *to++ = *++list;
        } else if (*list == ',') {
            *to++ = 0;
            out->count++;
        } else {
            *to++ = *list;
        }
    }
    *to = 0;
    return 1;
}

static int netprof__filter_matches(const netprof__filter *filter, const char *device, const char *counter)
{
    const char *pattern = filter->patterns;
    char name[512];
    size_t i;
    snprintf(name, sizeof name, "%s/%s", device, counter);
    for (i = 0; i < filter->count; i++, pattern += strlen(pattern) + 1)
        if (fnmatch(pattern, strchr(pattern, '/') ? name : device, 0) == 0 || fnmatch(pattern, name, 0) == 0)
            return 1;
    return 0;
}

/* -- 7.6 schemas and the list that builds one -- */

typedef struct netprof__arena {
    char *block; /* starts with a pointer to the previous block */
    size_t used, size;
} netprof__arena;

static void *netprof__arena_take(const netprof_alloc *a, netprof__arena *arena, size_t size)
{
    size_t head = sizeof(char *);
    char *block;
    if (!arena->block || arena->size - arena->used < size) {
        size_t bytes = size + head > 16384 ? size + head : 16384;
        block = (char *)netprof__resize(a, NULL, bytes);
        if (!block)
            return NULL;
        memcpy(block, &arena->block, head);
        arena->block = block;
        arena->used = head;
        arena->size = bytes;
    }
    arena->used += size;
    return arena->block + arena->used - size;
}

static void netprof__arena_free(const netprof_alloc *a, netprof__arena *arena)
{
    while (arena->block) {
        char *previous;
        memcpy(&previous, arena->block, sizeof previous);
        netprof__release(a, arena->block);
        arena->block = previous;
    }
}

/* What the public part of a schema stands in. */
typedef struct netprof__schema {
    netprof_schema pub;
    netprof_alloc alloc;
    netprof__arena arena;
    netprof_device *devices;
    netprof_counter *counters;
    netprof_source_state *sources;
    netprof_fact *device_facts, *facts;
    int references;
} netprof__schema;

typedef struct netprof__interned {
    const char *text;
    size_t device; /* the last device that has a counter of this name, + 1 */
} netprof__interned;

struct netprof_list {
    netprof_alloc alloc;
    netprof_err failed;
    netprof__schema *schema;
    netprof__interned *table;
    size_t table_size, table_used;
    size_t device_capacity, counter_capacity, source_capacity, device_fact_capacity, fact_capacity;
    size_t device_fact_count;
    int state_given;               /* the current source said what became of it */
    size_t source_first_counter;   /* where the current source's counters begin */
    size_t source_first_device;
    const char *root;
    const netprof__filter *include, *exclude, *fast;
};

static void netprof__schema_destroy(netprof__schema *s)
{
    netprof_alloc a = s->alloc;
    netprof__arena_free(&a, &s->arena);
    netprof__release(&a, s->devices);
    netprof__release(&a, s->counters);
    netprof__release(&a, s->sources);
    netprof__release(&a, s->device_facts);
    netprof__release(&a, s->facts);
    netprof__release(&a, s);
}

/* Every public schema is the first member of a private one; the reference count is all that ever changes. */
static netprof__schema *netprof__schema_of(const netprof_schema *schema)
{
    return (netprof__schema *)(uintptr_t)schema;
}

NETPROF_API void netprof_schema_retain(const netprof_schema *schema)
{
    if (schema)
        __atomic_add_fetch(&netprof__schema_of(schema)->references, 1, __ATOMIC_RELAXED);
}

NETPROF_API void netprof_schema_release(const netprof_schema *schema)
{
    if (schema && __atomic_sub_fetch(&netprof__schema_of(schema)->references, 1, __ATOMIC_ACQ_REL) == 0)
        netprof__schema_destroy(netprof__schema_of(schema));
}

static netprof_list *netprof__list_make(const netprof_alloc *a)
{
    netprof_list *list = (netprof_list *)netprof__zalloc(a, sizeof *list);
    if (!list)
        return NULL;
    list->alloc = *a;
    list->root = "";
    list->schema = (netprof__schema *)netprof__zalloc(a, sizeof *list->schema);
    if (!list->schema) {
        netprof__release(a, list);
        return NULL;
    }
    list->schema->alloc = *a;
    list->schema->references = 1;
    return list;
}

static void netprof__list_free(netprof_list *list)
{
    netprof_alloc a = list->alloc;
    if (list->schema)
        netprof__schema_destroy(list->schema);
    netprof__release(&a, list->table);
    netprof__release(&a, list);
}

static netprof__interned *netprof__intern_slot(netprof__interned *table, size_t size, const char *text)
{
    uint64_t h = 14695981039346656037u;
    const char *p;
    size_t i;
    for (p = text; *p; p++)
        h = (h ^ (unsigned char)*p) * 1099511628211u;
    for (i = (size_t)(h ^ h >> 32) & (size - 1); table[i].text; i = (i + 1) & (size - 1))
        if (strcmp(table[i].text, text) == 0)
            break;
    return &table[i];
}

static int netprof__intern_grow(netprof_list *list)
{
    size_t i, size = list->table_size ? 2 * list->table_size : 1024;
    netprof__interned *table = (netprof__interned *)netprof__zalloc(&list->alloc, size * sizeof *table);
    if (!table)
        return 0;
    for (i = 0; i < list->table_size; i++)
        if (list->table[i].text)
            *netprof__intern_slot(table, size, list->table[i].text) = list->table[i];
    netprof__release(&list->alloc, list->table);
    list->table = table;
    list->table_size = size;
    return 1;
}

/* One copy of each text: eight devices with the same 1890 names share them. NULL when out of memory. */
static netprof__interned *netprof__intern(netprof_list *list, const char *text)
{
    netprof__interned *slot;
    if (2 * list->table_used >= list->table_size && !netprof__intern_grow(list)) {
        list->failed = NETPROF_ERR_NOMEM;
        return NULL;
    }
    slot = netprof__intern_slot(list->table, list->table_size, text);
    if (!slot->text) {
        size_t n = strlen(text) + 1;
        char *copy = (char *)netprof__arena_take(&list->alloc, &list->schema->arena, n);
        if (!copy) {
            list->failed = NETPROF_ERR_NOMEM;
            return NULL;
        }
        memcpy(copy, text, n);
        slot->text = copy;
        list->table_used++;
    }
    return slot;
}

static const char *netprof__intern_text(netprof_list *list, const char *text)
{
    netprof__interned *slot = netprof__intern(list, text ? text : "");
    return slot ? slot->text : "";
}

/* Room for one more element of an array of the list; 0 and the failure kept when there is none. */
static int netprof__list_room(netprof_list *list, void *array_pointer, size_t *capacity, size_t count, size_t size)
{
    if (list->failed)
        return 0;
    if (netprof__grow(&list->alloc, array_pointer, capacity, count + 1, size))
        return 1;
    list->failed = NETPROF_ERR_NOMEM;
    return 0;
}

NETPROF_API void netprof_build_source(netprof_list *list, const char *name)
{
    netprof__schema *s = list->schema;
    netprof_source_state *row;
    if (!netprof__list_room(list, &s->sources, &list->source_capacity, s->pub.source_count, sizeof *row))
        return;
    row = &s->sources[s->pub.source_count++];
    memset(row, 0, sizeof *row);
    row->name = netprof__intern_text(list, name);
    row->path = "";
    row->status = NETPROF_STATUS_ABSENT;
    list->state_given = 0;
    list->source_first_counter = s->pub.counter_count;
    list->source_first_device = s->pub.device_count;
}

NETPROF_API size_t netprof_list_device(netprof_list *list, const char *name, uint64_t identity, unsigned flags)
{
    netprof__schema *s = list->schema;
    netprof_device *d;
    if (!s->pub.source_count)
        netprof_build_source(list, "unknown");
    if (!netprof__list_room(list, &s->devices, &list->device_capacity, s->pub.device_count, sizeof *d))
        return NETPROF_NONE;
    d = &s->devices[s->pub.device_count];
    memset(d, 0, sizeof *d);
    d->source = s->sources[s->pub.source_count - 1].name;
    d->name = netprof__intern_text(list, name);
    d->identity = identity;
    d->flags = flags;
    d->first = (uint32_t)s->pub.counter_count;
    s->sources[s->pub.source_count - 1].device_count++;
    if (!list->state_given)
        s->sources[s->pub.source_count - 1].status = NETPROF_STATUS_OK;
    return s->pub.device_count++ - list->source_first_device;
}

NETPROF_API void netprof_list_fact(netprof_list *list, const char *key, const char *value)
{
    netprof__schema *s = list->schema;
    netprof_fact *f;
    if (!s->pub.device_count ||
        !netprof__list_room(list, &s->device_facts, &list->device_fact_capacity, list->device_fact_count, sizeof *f))
        return;
    f = &s->device_facts[list->device_fact_count++];
    f->key = netprof__intern_text(list, key);
    f->value = netprof__intern_text(list, value);
    s->devices[s->pub.device_count - 1].fact_count++;
}

NETPROF_API void netprof_build_fact(netprof_list *list, const char *key, const char *value)
{
    netprof__schema *s = list->schema;
    netprof_fact *f;
    if (!netprof__list_room(list, &s->facts, &list->fact_capacity, s->pub.fact_count, sizeof *f))
        return;
    f = &s->facts[s->pub.fact_count++];
    f->key = netprof__intern_text(list, key);
    f->value = netprof__intern_text(list, value);
}

/* The name, or name#2, name#3 ... when the device has it already (ethtool strings may repeat). */
static const char *netprof__unique_name(netprof_list *list, const char *name)
{
    size_t mark = list->schema->pub.device_count;
    netprof__interned *slot = netprof__intern(list, name);
    char numbered[512];
    unsigned n = 2;
    while (slot && slot->device == mark) {
        snprintf(numbered, sizeof numbered, "%.490s#%u", name, n++);
        slot = netprof__intern(list, numbered);
    }
    if (!slot)
        return NULL;
    slot->device = mark;
    return slot->text;
}

NETPROF_API size_t netprof_list_counter(netprof_list *list, const netprof_counter *counter)
{
    netprof__schema *s = list->schema;
    netprof_device *d;
    netprof_counter *c;
    const char *name;
    if (!s->pub.device_count)
        return NETPROF_NONE;
    d = &s->devices[s->pub.device_count - 1];
    if ((list->include && list->include->count && !netprof__filter_matches(list->include, d->name, counter->name)) ||
        (list->exclude && list->exclude->count && netprof__filter_matches(list->exclude, d->name, counter->name)))
        return NETPROF_NONE;
    if (s->pub.counter_count >= UINT32_MAX ||
        !netprof__list_room(list, &s->counters, &list->counter_capacity, s->pub.counter_count, sizeof *c))
        return NETPROF_NONE;
    name = netprof__unique_name(list, counter->name);
    if (!name)
        return NETPROF_NONE;
    c = &s->counters[s->pub.counter_count++];
    *c = *counter;
    c->name = name;
    c->unit = netprof__intern_text(list, counter->unit);
    c->device = (uint32_t)(s->pub.device_count - 1);
    c->scale = counter->scale ? counter->scale : 1;
    if (list->fast && list->fast->count)
        c->flags = (uint16_t)((c->flags & ~NETPROF_FAST) |
                              (netprof__filter_matches(list->fast, d->name, name) ? NETPROF_FAST : 0));
    d->count++;
    return s->pub.counter_count - 1 - list->source_first_counter;
}

NETPROF_API void netprof_list_state(netprof_list *list, netprof_status status, int sys_errno, const char *path)
{
    netprof__schema *s = list->schema;
    netprof_source_state *row;
    if (!s->pub.source_count)
        return;
    row = &s->sources[s->pub.source_count - 1];
    row->status = status;
    row->sys_errno = sys_errno;
    row->path = netprof__intern_text(list, path);
    list->state_given = 1;
}

NETPROF_API const char *netprof_list_root(const netprof_list *list)
{
    return list->root;
}

/* A source failed: what it listed goes, the row that says so stays. */
static void netprof__list_drop_source(netprof_list *list, int sys_errno)
{
    netprof__schema *s = list->schema;
    size_t i;
    for (i = list->source_first_device; i < s->pub.device_count; i++)
        list->device_fact_count -= s->devices[i].fact_count;
    for (i = 0; i < list->table_size; i++)
        list->table[i].device = 0;
    s->pub.device_count = list->source_first_device;
    s->pub.counter_count = list->source_first_counter;
    s->sources[s->pub.source_count - 1].device_count = 0;
    if (!list->state_given)
        netprof_list_state(list, NETPROF_STATUS_UNREADABLE, sys_errno, "");
}

static void netprof__list_finish(netprof_list *list)
{
    netprof__schema *s = list->schema;
    netprof_fact *fact = s->device_facts;
    size_t i;
    for (i = 0; i < s->pub.device_count; i++) {
        s->devices[i].facts = fact;
        fact += s->devices[i].fact_count;
    }
    s->pub.devices = s->devices;
    s->pub.counters = s->counters;
    s->pub.sources = s->sources;
    s->pub.facts = s->facts;
}

NETPROF_API netprof_list *netprof_build_begin(netprof_error *error)
{
    netprof_alloc a = netprof__alloc_or_default(NULL);
    netprof_list *list = netprof__list_make(&a);
    if (!list)
        netprof__no_memory(error);
    return list;
}

NETPROF_API netprof_err netprof_build_end(netprof_list *list, const netprof_schema **out, netprof_error *error)
{
    netprof_err failed = list->failed;
    *out = NULL;
    if (!failed) {
        netprof__list_finish(list);
        *out = &list->schema->pub;
        list->schema = NULL;
    }
    netprof__list_free(list);
    return failed ? netprof__fail(error, failed, ENOMEM, NULL, "cannot build the schema") : NETPROF_OK;
}

NETPROF_API const char *netprof_fact_of(const netprof_fact *facts, size_t count, const char *key)
{
    size_t i;
    for (i = 0; i < count; i++)
        if (strcmp(facts[i].key, key) == 0)
            return facts[i].value;
    return NULL;
}

NETPROF_API size_t netprof_find(const netprof_schema *schema, const char *source, const char *device,
                                const char *counter)
{
    size_t i, k;
    for (i = 0; i < schema->device_count; i++) {
        const netprof_device *d = &schema->devices[i];
        if ((source && strcmp(source, d->source) != 0) || strcmp(device, d->name) != 0)
            continue;
        for (k = d->first; k < (size_t)d->first + d->count; k++)
            if (strcmp(counter, schema->counters[k].name) == 0)
                return k;
    }
    return NETPROF_NONE;
}

static int netprof__same_facts(const netprof_fact *a, size_t m, const netprof_fact *b, size_t n)
{
    size_t i;
    if (m != n)
        return 0;
    for (i = 0; i < m; i++)
        if (strcmp(a[i].key, b[i].key) != 0 || strcmp(a[i].value, b[i].value) != 0)
            return 0;
    return 1;
}

static int netprof__same_counter(const netprof_counter *a, const netprof_counter *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->unit, b->unit) == 0 && a->device == b->device &&
           a->scale == b->scale && a->flags == b->flags && a->kind == b->kind && a->width == b->width;
}

static int netprof__same_device(const netprof_device *a, const netprof_device *b)
{
    return strcmp(a->source, b->source) == 0 && strcmp(a->name, b->name) == 0 && a->identity == b->identity &&
           a->flags == b->flags && a->first == b->first && a->count == b->count;
}

/* Same devices with the same counters in the same order: values of one fit the other. */
static int netprof__same_layout(const netprof_schema *a, const netprof_schema *b)
{
    size_t i;
    if (a == b)
        return 1;
    if (a->device_count != b->device_count || a->counter_count != b->counter_count)
        return 0;
    for (i = 0; i < a->device_count; i++)
        if (!netprof__same_device(&a->devices[i], &b->devices[i]))
            return 0;
    for (i = 0; i < a->counter_count; i++)
        if (!netprof__same_counter(&a->counters[i], &b->counters[i]))
            return 0;
    return 1;
}

static int netprof__same_schema(const netprof_schema *a, const netprof_schema *b)
{
    size_t i;
    if (!netprof__same_layout(a, b) || a->source_count != b->source_count ||
        !netprof__same_facts(a->facts, a->fact_count, b->facts, b->fact_count))
        return 0;
    for (i = 0; i < a->device_count; i++)
        if (!netprof__same_facts(a->devices[i].facts, a->devices[i].fact_count, b->devices[i].facts,
                                 b->devices[i].fact_count))
            return 0;
    for (i = 0; i < a->source_count; i++)
        if (strcmp(a->sources[i].name, b->sources[i].name) != 0 || a->sources[i].status != b->sources[i].status ||
            a->sources[i].sys_errno != b->sources[i].sys_errno)
            return 0;
    return 1;
}

/* -- 7.7 groups of files: one directory, one counter a file -- */

#define NETPROF__CLOSED (-1) /* to be held, not open yet */
#define NETPROF__LOOSE (-2)  /* opened anew for each reading */

typedef struct netprof__group {
    char *path;          /* the directory, root included */
    int dirfd;           /* -1 when it could not be opened */
    int *fds;            /* [count], or NULL: none held */
    size_t first, count; /* in the source's own numbering */
    size_t promised;     /* taken from the budget */
    size_t skip;         /* bytes of the counter's name that are not the file's */
    netprof__parser parse;
} netprof__group;

/* The groups of a source; device i has groups[starts[i]] up to groups[starts[i + 1]]. */
typedef struct netprof__files {
    netprof_alloc alloc;
    netprof_hold hold;
    int *fd_budget;      /* descriptors that may still be held, shared by the context's sources */
    netprof__group *groups;
    size_t *starts;
    size_t count, capacity, start_count, start_capacity;
} netprof__files;

static void netprof__group_close_files(netprof__group *g)
{
    size_t i;
    for (i = 0; g->fds && i < g->count; i++)
        if (g->fds[i] >= 0) {
            NETPROF_OS_CLOSE(g->fds[i]);
            g->fds[i] = NETPROF__CLOSED;
        }
}

/* Closes and forgets everything; ready for the next discovery. */
static void netprof__files_clear(netprof__files *files)
{
    size_t i;
    for (i = 0; i < files->count; i++) {
        netprof__group *g = &files->groups[i];
        netprof__group_close_files(g);
        *files->fd_budget += (int)g->promised;
        if (g->dirfd >= 0)
            NETPROF_OS_CLOSE(g->dirfd);
        netprof__release(&files->alloc, g->fds);
        netprof__release(&files->alloc, g->path);
    }
    netprof__release(&files->alloc, files->groups);
    netprof__release(&files->alloc, files->starts);
    files->groups = NULL;
    files->starts = NULL;
    files->count = files->capacity = files->start_count = files->start_capacity = 0;
}

/* Call once for each device, in the list's order, before its groups. */
static netprof_err netprof__files_device(netprof__files *files)
{
    if (!netprof__grow(&files->alloc, &files->starts, &files->start_capacity, files->start_count + 2,
                       sizeof *files->starts))
        return NETPROF_ERR_NOMEM;
    files->starts[files->start_count++] = files->count;
    files->starts[files->start_count] = files->count;
    return NETPROF_OK;
}

/* Opens a group on a directory; `first` is set when its first counter is listed. */
static netprof_err netprof__files_group(netprof__files *files, const char *path, netprof__parser parse, size_t skip,
                                        netprof__group **out)
{
    netprof__group *g;
    if (!netprof__grow(&files->alloc, &files->groups, &files->capacity, files->count + 1, sizeof *files->groups))
        return NETPROF_ERR_NOMEM;
    g = &files->groups[files->count];
    memset(g, 0, sizeof *g);
    g->path = netprof__strdup(&files->alloc, path);
    if (!g->path)
        return NETPROF_ERR_NOMEM;
    g->dirfd = netprof__open_dir(AT_FDCWD, path);
    if (g->dirfd < 0)
        g->dirfd = -1;
    g->parse = parse;
    g->skip = skip;
    files->starts[files->start_count] = ++files->count;
    *out = g;
    return NETPROF_OK;
}

/* Lists a counter of the group; the counters of one group must be listed one after another. */
static void netprof__group_counter(netprof__group *g, netprof_list *list, const netprof_counter *counter)
{
    size_t index = netprof_list_counter(list, counter);
    if (index == NETPROF_NONE)
        return;
    if (!g->count)
        g->first = index;
    g->count++;
}

/* Decides which files of the group are held, within the budget; open them at the first reading. */
static netprof_err netprof__group_hold(netprof__files *files, netprof__group *g, const netprof_list *list)
{
    const netprof_counter *c = list->schema->counters + list->source_first_counter + g->first;
    size_t i;
    if (files->hold == NETPROF_HOLD_NONE || !g->count || *files->fd_budget <= 0)
        return NETPROF_OK;
    g->fds = (int *)netprof__resize(&files->alloc, NULL, g->count * sizeof *g->fds);
    if (!g->fds)
        return NETPROF_ERR_NOMEM;
    for (i = 0; i < g->count; i++) {
        int wanted = files->hold == NETPROF_HOLD_ALL || (c[i].flags & NETPROF_FAST);
        g->fds[i] = wanted && *files->fd_budget > 0 ? NETPROF__CLOSED : NETPROF__LOOSE;
        if (g->fds[i] == NETPROF__CLOSED) {
            --*files->fd_budget;
            g->promised++;
        }
    }
    return NETPROF_OK;
}

/* The directory of a device that was removed and made again: its old descriptors are dead. 1 when there is another
   one under the same name. */
static int netprof__group_reopen(netprof__group *g)
{
    int fd = netprof__open_dir(AT_FDCWD, g->path);
    if (fd < 0)
        return 0;
    if (g->dirfd >= 0 && netprof__inode(fd) == netprof__inode(g->dirfd)) {
        NETPROF_OS_CLOSE(fd);
        return 0;
    }
    netprof__group_close_files(g);
    if (g->dirfd >= 0)
        NETPROF_OS_CLOSE(g->dirfd);
    g->dirfd = fd;
    return 1;
}

/* Too many open files: from now on this group holds none. 1 when that freed any. */
static int netprof__group_let_go(netprof__group *g)
{
    size_t i;
    int freed = 0;
    for (i = 0; g->fds && i < g->count; i++) {
        freed += g->fds[i] >= 0;
        if (g->fds[i] >= 0)
            NETPROF_OS_CLOSE(g->fds[i]);
        g->fds[i] = NETPROF__LOOSE;
    }
    return freed;
}

/* Reads on while a text without its newline may go on: what sysfs never needs, but an interrupted read may. */
static ssize_t netprof__read_rest(int fd, char *text, size_t size, ssize_t got)
{
    size_t used = got > 0 ? (size_t)got : 0;
    while (used < size && !(used && text[used - 1] == '\n')) {
        ssize_t n = NETPROF_OS_PREAD(fd, text + used, size - used, (off_t)used);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            break;
        used += (size_t)n;
    }
    return (ssize_t)used;
}

/* One file into text. Returns the length or -errno. Held descriptors are opened on first use; too many open files
   turns a held one into a loose one. */
static ssize_t netprof__read_entry(netprof__group *g, int *held, const char *file, char *text, size_t size)
{
    int fd = held ? *held : NETPROF__LOOSE, fresh = fd < 0, failed;
    ssize_t n;
    if (fresh) {
        fd = NETPROF_OS_OPENAT(g->dirfd, file, O_RDONLY);
        while (fd < 0 && errno == EINTR)
            fd = NETPROF_OS_OPENAT(g->dirfd, file, O_RDONLY);
        if (fd < 0)
            return -errno;
    }
    n = fresh ? NETPROF_OS_READ(fd, text, size) : NETPROF_OS_PREAD(fd, text, size, 0);
    if (n < 0 && errno != EINTR)
        n = -errno;
    else if (n <= 0 || text[n - 1] != '\n')
        n = netprof__read_rest(fd, text, size, n);
    failed = n == -ENODEV || n == -ENXIO;
    if (held && *held != NETPROF__LOOSE && !failed)
        *held = fd;
    else
        NETPROF_OS_CLOSE(fd);
    if (held && failed && *held >= 0)
        *held = NETPROF__CLOSED;
    return n;
}

/* The text of a counter is short; more than this is not a number. */
#define NETPROF__NUMBER_TEXT 96

static void netprof__read_group(netprof__group *g, netprof_sweep *sweep)
{
    char text[NETPROF__NUMBER_TEXT];
    int looked = 0; /* a vanished directory is looked for once in a sweep */
    size_t k;
    for (k = 0; k < g->count; k++) {
        size_t i = g->first + k;
        const netprof_counter *c = &sweep->counters[i];
        int *held = g->fds ? &g->fds[k] : NULL;
        uint64_t value;
        ssize_t n;
        int failed;
        if (sweep->set == NETPROF_SET_FAST && !(c->flags & NETPROF_FAST))
            continue;
        n = netprof__read_entry(g, held, c->name + g->skip, text, sizeof text);
        if ((n == -ENOENT || n == -ENODEV || n == -ENXIO || n == -EBADF) && !looked) {
            looked = sweep->stale = 1;
            if (netprof__group_reopen(g))
                n = netprof__read_entry(g, held, c->name + g->skip, text, sizeof text);
        }
        if ((n == -EMFILE || n == -ENFILE) && netprof__group_let_go(g))
            n = netprof__read_entry(g, NULL, c->name + g->skip, text, sizeof text);
        failed = n < 0                  ? (int)-n
                 : n == sizeof text     ? EBADMSG
                                        : g->parse(text, (size_t)n, &value, &sweep->stamps_ns[i]);
        if (failed)
            netprof__set_failed(sweep, i, failed);
        else
            netprof__set_value(sweep, i, value);
    }
}

static void netprof__files_read(netprof__files *files, size_t device, netprof_sweep *sweep)
{
    size_t i;
    if (device + 1 > files->start_count)
        return;
    for (i = files->starts[device]; i < files->starts[device + 1]; i++)
        netprof__read_group(&files->groups[i], sweep);
}

/* Adds a fact from a file, if it can be read and is not empty. */
static void netprof__fact_from_file(netprof_list *list, const char *key, const char *dir, const char *file)
{
    char path[1024], text[256];
    if (netprof__path(path, sizeof path, dir, file) && netprof__read_line(AT_FDCWD, path, text, sizeof text) > 0)
        netprof_list_fact(list, key, text);
}

/* The last component of what a link points to. */
static void netprof__fact_from_link(netprof_list *list, const char *key, const char *dir, const char *file)
{
    char path[1024], target[1024];
    const char *slash;
    ssize_t n;
    if (!netprof__path(path, sizeof path, dir, file))
        return;
    n = readlink(path, target, sizeof target - 1);
    if (n <= 0)
        return;
    target[n] = 0;
    slash = strrchr(target, '/');
    netprof_list_fact(list, key, slash ? slash + 1 : target);
}

/* Bus facts of a PCI function from its sysfs directory (Documentation/ABI/testing/sysfs-bus-pci). */
static void netprof__pci_facts(netprof_list *list, const char *dir)
{
    static const char *const rows[][2] = {{"pci_speed", "/current_link_speed"}, {"pci_width", "/current_link_width"},
                                          {"pci_max_speed", "/max_link_speed"}, {"pci_max_width", "/max_link_width"},
                                          {"numa_node", "/numa_node"},          {"local_cpus", "/local_cpulist"},
                                          {"pci_vendor", "/vendor"},            {"pci_device", "/device"}};
    char path[1024], text[1024], *slot;
    size_t i;
    if (netprof__path(path, sizeof path, dir, "/uevent") &&
        netprof__read_text(AT_FDCWD, path, text, sizeof text) > 0 && (slot = strstr(text, "PCI_SLOT_NAME=")) != NULL) {
        slot += strlen("PCI_SLOT_NAME=");
        slot[strcspn(slot, "\n")] = 0;
        netprof_list_fact(list, "pci", slot);
    }
    for (i = 0; i < sizeof rows / sizeof *rows; i++)
        netprof__fact_from_file(list, rows[i][0], dir, rows[i][1]);
}

/* -- 7.8 the context -- */

typedef struct netprof__part {
    netprof_source source;
    void *user;
    size_t first_counter, counter_count, first_device, device_count;
    int stale;
} netprof__part;

struct netprof {
    netprof_alloc alloc;
    netprof_hold hold;
    char *root; /* "" or without its final '/' */
    int pid, threads, no_rescan;
    int fd_budget;
    netprof__filter include, exclude, fast;
    netprof__part *parts;
    size_t part_count, part_capacity;
    const netprof_schema *schema;
    struct netprof__tcp *tcp;   /* part of the source of that name, once a socket is added */
    struct netprof__user *user; /* likewise */
};

/* Built-in sources: each makes its state and its table of functions. */
typedef netprof_err (*netprof__maker)(netprof *np, netprof_source *source, void **user);
/* -- 7.9 source cxi: HPE Cassini, /sys/class/cxi and /run/cxi --

   Telemetry (driver shs-cxi-driver, cass_telem.c): one file per item, "value@seconds.nanoseconds"; 56-bit counters
   unless the table says otherwise; the longest matching prefix of a name decides. Checked against the full list of
   items by the tests. */

static const struct netprof__cxi_row {
    const char *prefix, *unit;
    uint8_t kind, width;
} netprof__cxi_rows[] = {
    {"atu_ats_prs_odp_latency_", "samples", NETPROF_KIND_HISTOGRAM, 56},
    {"atu_ats_trans_latency_", "samples", NETPROF_KIND_HISTOGRAM, 56},
    {"atu_cache_evictions", "evictions", NETPROF_KIND_COUNTER, 56},
    {"atu_cache_hit_base_page_size_", "lookups", NETPROF_KIND_COUNTER, 56},
    {"atu_cache_hit_derivative", "", NETPROF_KIND_COUNTER, 56},
    {"atu_cache_miss_", "lookups", NETPROF_KIND_COUNTER, 56},
    {"atu_n", "samples", NETPROF_KIND_HISTOGRAM, 56},
    {"cq_cfg_event_cnts_ovf_cnt", "overflows", NETPROF_KIND_COUNTER, 16},
    {"cq_cq_oxe_num_idles", "cycles", NETPROF_KIND_COUNTER, 56},
    {"cq_cq_tou_num_idles", "cycles", NETPROF_KIND_COUNTER, 56},
    {"cq_sts_credits_in_use_", "entries", NETPROF_KIND_GAUGE, 5},
    {"cq_sts_credits_in_use_fq_", "entries", NETPROF_KIND_GAUGE, 9},
    {"cq_sts_credits_in_use_lpe_cmd_credits", "entries", NETPROF_KIND_GAUGE, 10},
    {"cq_sts_credits_in_use_lpe_rcv_fifo_credits", "entries", NETPROF_KIND_GAUGE, 4},
    {"cq_sts_credits_in_use_t", "entries", NETPROF_KIND_GAUGE, 3},
    {"cq_sts_credits_in_use_tarb_", "entries", NETPROF_KIND_GAUGE, 5},
    {"cq_sts_credits_in_use_tou_fq_credits", "entries", NETPROF_KIND_GAUGE, 7},
    {"cq_sts_credits_in_use_tou_wb_credits", "entries", NETPROF_KIND_GAUGE, 5},
    {"cq_sts_credits_in_use_txq_cmd_fail_event_credits", "entries", NETPROF_KIND_GAUGE, 4},
    {"cq_sts_fq_load_", "load", NETPROF_KIND_GAUGE, 41},
    {"cq_sts_tle_in_use_", "entries", NETPROF_KIND_GAUGE, 12},
    {"ee_sts_ecbs_in_use_", "entries", NETPROF_KIND_GAUGE, 9},
    {"hni_cfg_event_cnts_ovf_cnt", "overflows", NETPROF_KIND_COUNTER, 16},
    {"hni_llr_rx_replay_event", "events", NETPROF_KIND_COUNTER, 56},
    {"hni_llr_tx_replay_event", "events", NETPROF_KIND_COUNTER, 56},
    {"hni_multicast_pkts_", "packets", NETPROF_KIND_COUNTER, 56},
    {"hni_pcs_corrected_cw", "codewords", NETPROF_KIND_COUNTER, 56},
    {"hni_pcs_corrected_cw_bin_", "codewords", NETPROF_KIND_HISTOGRAM, 56},
    {"hni_pcs_good_cw", "codewords", NETPROF_KIND_COUNTER, 56},
    {"hni_pcs_uncorrected_cw", "codewords", NETPROF_KIND_COUNTER, 56},
    {"hni_pkts_", "packets", NETPROF_KIND_COUNTER, 56},
    {"hni_rx_ok_1", "packets", NETPROF_KIND_HISTOGRAM, 56},
    {"hni_rx_ok_2", "packets", NETPROF_KIND_HISTOGRAM, 56},
    {"hni_rx_ok_3", "packets", NETPROF_KIND_HISTOGRAM, 56},
    {"hni_rx_ok_4096_to_8191", "packets", NETPROF_KIND_HISTOGRAM, 56},
    {"hni_rx_ok_512_to_1023", "packets", NETPROF_KIND_HISTOGRAM, 56},
    {"hni_rx_ok_6", "packets", NETPROF_KIND_HISTOGRAM, 56},
    {"hni_rx_ok_8192_to_max", "packets", NETPROF_KIND_HISTOGRAM, 56},
    {"hni_rx_paused_", "cycles", NETPROF_KIND_COUNTER, 56},
    {"hni_rx_stall_ixe_", "cycles", NETPROF_KIND_COUNTER, 56},
    {"hni_sts_rx_bad_octets", "bytes", NETPROF_KIND_COUNTER, 56},
    {"hni_sts_rx_o", "bytes", NETPROF_KIND_COUNTER, 56},
    {"hni_sts_tx_bad_octets", "bytes", NETPROF_KIND_COUNTER, 56},
    {"hni_sts_tx_o", "bytes", NETPROF_KIND_COUNTER, 56},
    {"hni_tx_ok_", "packets", NETPROF_KIND_HISTOGRAM, 56},
    {"hni_tx_ok_broadcast", "packets", NETPROF_KIND_COUNTER, 56},
    {"hni_tx_ok_ieee", "packets", NETPROF_KIND_COUNTER, 56},
    {"hni_tx_ok_multicast", "packets", NETPROF_KIND_COUNTER, 56},
    {"hni_tx_ok_opt", "packets", NETPROF_KIND_COUNTER, 56},
    {"hni_tx_ok_tagged", "packets", NETPROF_KIND_COUNTER, 56},
    {"hni_tx_paused_", "cycles", NETPROF_KIND_COUNTER, 56},
    {"hni_tx_stall_llr", "cycles", NETPROF_KIND_COUNTER, 56},
    {"ixe_tc_r", "packets", NETPROF_KIND_COUNTER, 56},
    {"lpe_cfg_event_cnts_ovf_cnt", "overflows", NETPROF_KIND_COUNTER, 16},
    {"lpe_cfg_pe_le_shared_num_", "entries", NETPROF_KIND_GAUGE, 15},
    {"lpe_net_match_", "", NETPROF_KIND_COUNTER, 56},
    {"lpe_rndzv_puts_", "messages", NETPROF_KIND_COUNTER, 56},
    {"lpe_sts_", "", NETPROF_KIND_GAUGE, 12},
    {"lpe_sts_app_match_attempts_", "attempts", NETPROF_KIND_COUNTER, 56},
    {"lpe_sts_app_max_attempts_max_", "attempts", NETPROF_KIND_GAUGE, 15},
    {"lpe_sts_load_stats_load_", "", NETPROF_KIND_COUNTER, 48},
    {"lpe_sts_load_stats_max_", "load", NETPROF_KIND_GAUGE, 4},
    {"lpe_sts_load_stats_ptlte_load_", "", NETPROF_KIND_COUNTER, 52},
    {"lpe_sts_net_match_attempts_", "attempts", NETPROF_KIND_COUNTER, 56},
    {"lpe_sts_net_max_attempts_max_", "attempts", NETPROF_KIND_GAUGE, 15},
    {"lpe_sts_pe_le_alloc_num_allocated_", "entries", NETPROF_KIND_GAUGE, 15},
    {"mb_cfg_event_cnts_ovf_cnt", "overflows", NETPROF_KIND_COUNTER, 16},
    {"mst_sts_num_req", "entries", NETPROF_KIND_GAUGE, 12},
    {"oxe_channel_idle", "cycles", NETPROF_KIND_COUNTER, 56},
    {"oxe_prf_set0_occ_hist_bin", "samples", NETPROF_KIND_HISTOGRAM, 56},
    {"oxe_prf_set1_occ_hist_bin", "samples", NETPROF_KIND_HISTOGRAM, 56},
    {"oxe_stall_", "cycles", NETPROF_KIND_COUNTER, 56},
    {"oxe_sts_", "entries", NETPROF_KIND_GAUGE, 11},
    {"parbs_sts_credits_in_use_tarb_pi_", "entries", NETPROF_KIND_GAUGE, 6},
    {"parbs_tarb_pi_non_posted_blocked_cnt", "cycles", NETPROF_KIND_COUNTER, 56},
    {"parbs_tarb_pi_non_posted_pkts", "packets", NETPROF_KIND_COUNTER, 56},
    {"parbs_tarb_pi_posted_blocked_cnt", "cycles", NETPROF_KIND_COUNTER, 56},
    {"parbs_tarb_pi_posted_pkts", "packets", NETPROF_KIND_COUNTER, 56},
    {"pct_host_access_latency_", "samples", NETPROF_KIND_HISTOGRAM, 56},
    {"pct_no_", "nacks", NETPROF_KIND_COUNTER, 56},
    {"pct_prf_", "entries", NETPROF_KIND_GAUGE, 12},
    {"pct_prf_sct_status_", "entries", NETPROF_KIND_GAUGE, 13},
    {"pct_prf_smt_status_", "entries", NETPROF_KIND_GAUGE, 9},
    {"pct_prf_tct_status_", "entries", NETPROF_KIND_GAUGE, 14},
    {"pct_req_rsp_latency_", "samples", NETPROF_KIND_HISTOGRAM, 56},
    {"pct_retry_srb_requests", "packets", NETPROF_KIND_COUNTER, 56},
    {"pct_sct_timeouts", "events", NETPROF_KIND_COUNTER, 56},
    {"pct_spt_timeouts", "events", NETPROF_KIND_COUNTER, 56},
    {"pct_trs_rsp_nack_drops", "packets", NETPROF_KIND_COUNTER, 56},
    {"pi_ipd_cfg_event_cnts_ovf_cnt", "overflows", NETPROF_KIND_COUNTER, 16},
    {"tou_tou_oxe_num_idles", "cycles", NETPROF_KIND_COUNTER, 56},
};

/* Few, cheap, decisive: volume, pause, host back-pressure, matching, translation, losses, link quality. */
static const char *const netprof__cxi_fast[] = {
    "hni_sts_tx_ok_octets",
    "hni_sts_rx_ok_octets",
    "hni_pkts_sent_by_tc_0",
    "hni_pkts_sent_by_tc_1",
    "hni_pkts_recv_by_tc_0",
    "hni_pkts_recv_by_tc_1",
    "hni_tx_paused_0",
    "hni_tx_paused_1",
    "hni_rx_paused_0",
    "hni_rx_paused_1",
    "parbs_tarb_pi_posted_pkts",
    "parbs_tarb_pi_posted_blocked_cnt",
    "parbs_tarb_pi_non_posted_pkts",
    "parbs_tarb_pi_non_posted_blocked_cnt",
    "lpe_net_match_priority_0",
    "lpe_net_match_overflow_0",
    "lpe_rndzv_puts_0",
    "lpe_rndzv_puts_offloaded_0",
    "atu_cache_miss_0",
    "atu_cache_miss_1",
    "atu_cache_hit_base_page_size_0",
    "atu_cache_hit_derivative1_page_size_0",
    "atu_cache_evictions",
    "pct_spt_timeouts",
    "pct_sct_timeouts",
    "pct_retry_srb_requests",
    "pct_no_tct_nacks",
    "pct_no_trs_nacks",
    "pct_no_mst_nacks",
    "pct_trs_rsp_nack_drops",
    "hni_pcs_corrected_cw",
    "hni_pcs_uncorrected_cw",
    "hni_llr_tx_replay_event",
    "hni_llr_rx_replay_event",
};

/* Retry handler (libcxi retry_handler/stats.c): these go up and down, the rest counts. */
static const char *const netprof__cxi_rh_gauges[] = {
    "srb_in_use", "spt_in_use", "smt_in_use",       "sct_in_use",        "trs_in_use",          "mst_in_use",
    "tct_in_use", "nid_value",  "nid_tree_count",   "max_nid_tree_count", "switch_tree_count",   "max_switch_tree_count",
    "parked_nids", "max_parked_nids", "parked_switches", "max_parked_switches"};

typedef struct netprof__cxi {
    netprof *np;
    netprof__files files;
    char class_path[512];
    uint64_t signature;
} netprof__cxi;

static int netprof__in_table(const char *name, const char *const *table, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++)
        if (strcmp(name, table[i]) == 0)
            return 1;
    return 0;
}

/* Entries of telemetry/ and of the retry handler's directory that are no counters. */
static int netprof__cxi_skipped(const char *name)
{
    static const char *const names[] = {"ALL-in-binary", "reset_counters", "config"};
    return netprof__in_table(name, names, sizeof names / sizeof *names);
}

static void netprof__cxi_describe(netprof_counter *c, const char *name)
{
    size_t i, best = 0;
    memset(c, 0, sizeof *c);
    c->name = name;
    c->kind = NETPROF_KIND_COUNTER;
    c->width = 56;
    c->flags = NETPROF_STAMPED;
    for (i = 0; i < sizeof netprof__cxi_rows / sizeof *netprof__cxi_rows; i++) {
        const struct netprof__cxi_row *row = &netprof__cxi_rows[i];
        size_t n = strlen(row->prefix);
        if (n > best && strncmp(name, row->prefix, n) == 0) {
            best = n;
            c->unit = row->unit;
            c->kind = row->kind;
            c->width = row->width;
        }
    }
    if (netprof__in_table(name, netprof__cxi_fast, sizeof netprof__cxi_fast / sizeof *netprof__cxi_fast))
        c->flags = NETPROF_STAMPED | NETPROF_FAST;
}

static netprof_err netprof__cxi_telemetry(netprof__cxi *cxi, netprof_list *list, const char *device_path)
{
    netprof__group *g;
    netprof__names names;
    char path[1024];
    size_t i;
    int failed;
    netprof__path(path, sizeof path, device_path, "/telemetry");
    failed = netprof__list_dir(&cxi->files.alloc, AT_FDCWD, path, &names);
    if (failed && failed != -ENOMEM) {
        netprof_list_fact(list, "telemetry_error", strerror(-failed));
        netprof_list_state(list, netprof_status_of_errno(-failed), -failed, path);
    }
    if (failed != -ENOMEM && names.count && netprof__files_group(&cxi->files, path, netprof__parse_stamped, 0, &g))
        failed = -ENOMEM;
    for (i = 0; failed != -ENOMEM && i < names.count; i++) {
        netprof_counter c;
        if (netprof__cxi_skipped(names.names[i]))
            continue;
        netprof__cxi_describe(&c, names.names[i]);
        netprof__group_counter(g, list, &c);
    }
    if (failed != -ENOMEM && names.count && netprof__group_hold(&cxi->files, g, list))
        failed = -ENOMEM;
    netprof__names_free(&names);
    return failed == -ENOMEM ? NETPROF_ERR_NOMEM : NETPROF_OK;
}

/* "%d" of a 32-bit counter: negative once it passed 2^31. */
static int netprof__parse_int32(const char *text, size_t size, uint64_t *value, int64_t *stamp_ns)
{
    int failed = netprof__parse_number(text, size, value, stamp_ns);
    *value &= UINT32_MAX;
    return failed;
}

/* All files of a directory as counters "PREFIXname"; describe() sets the rest. A missing directory adds nothing. */
static netprof_err netprof__dir_group(netprof__files *files, netprof_list *list, const char *path,
                                      const char *prefix, netprof__parser parse,
                                      int (*describe)(netprof_counter *c, const char *name))
{
    netprof__names names;
    netprof__group *g;
    int failed = netprof__list_dir(&files->alloc, AT_FDCWD, path, &names) == -ENOMEM;
    char name[512];
    size_t i;
    if (!failed && names.count)
        failed = netprof__files_group(files, path, parse, strlen(prefix), &g) != NETPROF_OK;
    for (i = 0; !failed && i < names.count; i++) {
        netprof_counter c;
        memset(&c, 0, sizeof c);
        snprintf(name, sizeof name, "%s%s", prefix, names.names[i]);
        c.name = name;
        if (describe(&c, names.names[i]))
            netprof__group_counter(g, list, &c);
    }
    if (!failed && names.count)
        failed = netprof__group_hold(files, g, list) != NETPROF_OK;
    netprof__names_free(&names);
    return failed ? NETPROF_ERR_NOMEM : NETPROF_OK;
}

static int netprof__cxi_describe_rh(netprof_counter *c, const char *name)
{
    c->width = 32;
    c->kind = netprof__in_table(name, netprof__cxi_rh_gauges,
                                sizeof netprof__cxi_rh_gauges / sizeof *netprof__cxi_rh_gauges)
                  ? NETPROF_KIND_GAUGE
                  : NETPROF_KIND_COUNTER;
    c->unit = c->kind == NETPROF_KIND_GAUGE ? "entries" : "events";
    return !netprof__cxi_skipped(name);
}

/* time_0 .. time_9: when the link came up again, a ring of ten. */
static int netprof__cxi_describe_restart(netprof_counter *c, const char *name)
{
    c->kind = NETPROF_KIND_STATE;
    c->unit = "seconds since 1970";
    return strncmp(name, "time_", 5) == 0;
}

static int netprof__cxi_describe_property(netprof_counter *c, const char *name)
{
    int is_error = strcmp(name, "pcie_corr_err") == 0 || strcmp(name, "pcie_uncorr_err") == 0;
    c->kind = is_error ? NETPROF_KIND_COUNTER : NETPROF_KIND_STATE;
    c->unit = is_error ? "errors" : "1 = up";
    return is_error || strcmp(name, "link") == 0;
}

/* The first name in a directory: device/net/ holds the one interface of a NIC. */
static void netprof__fact_from_first_entry(netprof_list *list, const netprof_alloc *a, const char *key,
                                           const char *dir, char *name, size_t size)
{
    netprof__names names;
    name[0] = 0;
    if (netprof__list_dir(a, AT_FDCWD, dir, &names) == 0 && names.count) {
        netprof__copy_text(name, size, names.names[0]);
        netprof_list_fact(list, key, name);
    }
    netprof__names_free(&names);
}

static void netprof__cxi_facts(netprof__cxi *cxi, netprof_list *list, const char *device)
{
    /* C1 first, C2 where it differs: the first that can be read is taken */
    static const char *const rows[][2] = {
        {"cassini_version", "/properties/cassini_version"}, {"speed_mbps", "/properties/speed"},
        {"link", "/port/link"},                             {"link", "/port/0/link/state"},
        {"port_speed", "/port/speed"},                      {"port_speed", "/port/0/link/speed"},
        {"media", "/port/media"},                           {"media", "/port/0/media/type"},
        {"link_layer_retry", "/port/link_layer_retry"},     {"link_layer_retry", "/port/0/llr/state"},
        {"loopback", "/port/loopback"},                     {"loopback", "/port/0/link/config/loopback"},
        {"pause", "/port/pause"},                           {"pause", "/port/0/pause"},
        {"hpc_mtu", "/properties/hpc_mtu"},                 {"nic_addr", "/properties/nic_addr"},
        {"nid", "/properties/nid"},                         {"driver_rev", "/properties/driver_rev"},
        {"fw_version", "/uc/qspi_blob_version"},            {"esm_link_speed", "/properties/current_esm_link_speed"},
        {"model", "/fru/model"},                            {"part_number", "/fru/part_number"},
        {"serial_number", "/fru/serial_number"}};
    char path[1024], name[64];
    const char *done = "";
    size_t i;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t before = list->device_fact_count;
        if (strcmp(done, rows[i][0]) == 0)
            continue;
        netprof__fact_from_file(list, rows[i][0], device, rows[i][1]);
        if (list->device_fact_count > before)
            done = rows[i][0];
    }
    netprof__pci_facts(list, device);
    netprof__path(path, sizeof path, device, "/net");
    netprof__fact_from_first_entry(list, &cxi->files.alloc, "netdev", path, name, sizeof name);
    if (*name) {
        snprintf(path, sizeof path, "/net/%s/address", name);
        netprof__fact_from_file(list, "mac", device, path);
        snprintf(path, sizeof path, "/net/%s/mtu", name);
        netprof__fact_from_file(list, "mtu", device, path);
    }
}

static netprof_err netprof__cxi_device(netprof__cxi *cxi, netprof_list *list, const char *name)
{
    char device[768], path[1024];
    struct stat st;
    uint64_t identity = 0;
    unsigned flags = NETPROF_DEVICE_PHYSICAL;
    snprintf(device, sizeof device, "%s/%s/device", cxi->class_path, name);
    snprintf(path, sizeof path, "%s/telemetry", device);
    if (stat(path, &st) == 0)
        identity = (uint64_t)st.st_ino;
    snprintf(path, sizeof path, "%s/physfn", device);
    if (access(path, F_OK) == 0)
        flags = NETPROF_DEVICE_VIRTUAL; /* an SR-IOV function: its port counts for it */
    netprof_list_device(list, name, identity, flags);
    netprof__cxi_facts(cxi, list, device);
    if (netprof__files_device(&cxi->files) || netprof__cxi_telemetry(cxi, list, device))
        return NETPROF_ERR_NOMEM;
    snprintf(path, sizeof path, "%s/link_restarts", device);
    if (netprof__dir_group(&cxi->files, list, path, "link_restarts/", netprof__parse_number,
                           netprof__cxi_describe_restart))
        return NETPROF_ERR_NOMEM;
    snprintf(path, sizeof path, "%s/properties", device);
    if (netprof__dir_group(&cxi->files, list, path, "properties/", netprof__parse_number,
                           netprof__cxi_describe_property))
        return NETPROF_ERR_NOMEM;
    snprintf(path, sizeof path, "%s/run/cxi/%s", list->root, name);
    return netprof__dir_group(&cxi->files, list, path, "rh:", netprof__parse_int32, netprof__cxi_describe_rh);
}

static netprof_err netprof__cxi_discover(void *user, netprof_list *list)
{
    netprof__cxi *cxi = (netprof__cxi *)user;
    netprof_err failed = NETPROF_OK;
    netprof__names names;
    size_t i;
    int result;
    netprof__files_clear(&cxi->files);
    snprintf(cxi->class_path, sizeof cxi->class_path, "%s/sys/class/cxi", list->root);
    cxi->signature = netprof__dir_signature(cxi->class_path);
    result = netprof__list_dir(&cxi->files.alloc, AT_FDCWD, cxi->class_path, &names);
    if (result)
        netprof_list_state(list, result == -ENOENT ? NETPROF_STATUS_ABSENT : netprof_status_of_errno(-result),
                           -result, cxi->class_path);
    for (i = 0; !failed && result != -ENOMEM && i < names.count; i++)
        failed = netprof__cxi_device(cxi, list, names.names[i]);
    netprof__names_free(&names);
    return result == -ENOMEM ? NETPROF_ERR_NOMEM : failed;
}

static void netprof__cxi_read(void *user, size_t device, netprof_sweep *sweep)
{
    netprof__files_read(&((netprof__cxi *)user)->files, device, sweep);
}

static int netprof__cxi_changed(void *user)
{
    netprof__cxi *cxi = (netprof__cxi *)user;
    return netprof__dir_signature(cxi->class_path) != cxi->signature;
}

static void netprof__cxi_close(void *user)
{
    netprof__cxi *cxi = (netprof__cxi *)user;
    netprof_alloc a = cxi->files.alloc;
    netprof__files_clear(&cxi->files);
    netprof__release(&a, cxi);
}

static netprof_err netprof__make_cxi(netprof *np, netprof_source *source, void **user)
{
    netprof__cxi *cxi = (netprof__cxi *)netprof__zalloc(&np->alloc, sizeof *cxi);
    if (!cxi)
        return NETPROF_ERR_NOMEM;
    cxi->np = np;
    cxi->files.alloc = np->alloc;
    cxi->files.hold = np->hold;
    cxi->files.fd_budget = &np->fd_budget;
    source->discover = netprof__cxi_discover;
    source->read = netprof__cxi_read;
    source->changed = netprof__cxi_changed;
    source->close = netprof__cxi_close;
    *user = cxi;
    return NETPROF_OK;
}

/* @NETDEV@ */
/* @ETHTOOL@ */
/* @RDMA@ */
/* @IP@ */
/* @TCP@ */
/* @USER@ */

static const struct {
    const char *name;
    netprof__maker make;
} netprof__builtin[] = {{"cxi", netprof__make_cxi}};

static int netprof__count_entry(void *user, const char *name, uint64_t inode)
{
    (void)name;
    (void)inode;
    ++*(int *)user;
    return 0;
}

/* How many descriptors may be held: never so many that the program runs short (see netprof_config.max_fds). */
static int netprof__fd_budget(int wanted)
{
    struct rlimit limit;
    int64_t soft, room;
    int used = 0, fd;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return 0;
    soft = limit.rlim_cur > INT_MAX ? INT_MAX : (int64_t)limit.rlim_cur;
    fd = netprof__open_dir(AT_FDCWD, "/proc/self/fd");
    if (fd >= 0) {
        netprof__each_entry(fd, netprof__count_entry, &used);
        NETPROF_OS_CLOSE(fd);
    }
    room = soft - used - 256;
    if (wanted <= 0)
        wanted = (int)(soft / 4);
    if (room <= 0)
        return 0;
    return wanted < room ? wanted : (int)room;
}

static void netprof__node_fact(netprof_list *list, const char *key, const char *root, const char *file)
{
    char path[1024], text[256];
    if (netprof__path(path, sizeof path, root, file) && netprof__read_line(AT_FDCWD, path, text, sizeof text) > 0)
        netprof_build_fact(list, key, text);
}

/* Who counts: kept with every schema, so that a delta across hosts or boots is noticed. */
static void netprof__node_facts(const netprof *np, netprof_list *list)
{
    struct utsname name;
    char text[64];
    ssize_t n;
    netprof_build_fact(list, "netprof", NETPROF_VERSION_STRING);
    if (*np->root) {
        netprof_build_fact(list, "root", np->root);
        netprof__node_fact(list, "host", np->root, "/proc/sys/kernel/hostname");
    } else if (uname(&name) == 0) {
        netprof_build_fact(list, "host", name.nodename);
        netprof_build_fact(list, "kernel", name.release);
        netprof_build_fact(list, "machine", name.machine);
    }
    netprof__node_fact(list, "boot_id", np->root, "/proc/sys/kernel/random/boot_id");
    if (np->pid > 0) {
        snprintf(text, sizeof text, "%d", np->pid);
        netprof_build_fact(list, "pid", text);
    }
    n = *np->root || np->pid > 0 ? 0 : readlink("/proc/self/ns/net", text, sizeof text - 1);
    if (n > 0) {
        text[n] = 0;
        netprof_build_fact(list, "netns", text);
    }
}

static netprof_err netprof__discover(netprof *np, const netprof_schema **out, netprof_error *error)
{
    netprof_list *list = netprof__list_make(&np->alloc);
    size_t i;
    *out = NULL;
    if (!list)
        return netprof__no_memory(error);
    list->root = np->root;
    list->include = &np->include;
    list->exclude = &np->exclude;
    list->fast = &np->fast;
    netprof__node_facts(np, list);
    for (i = 0; i < np->part_count && !list->failed; i++) {
        netprof__part *part = &np->parts[i];
        netprof_err failed;
        netprof_build_source(list, part->source.name);
        failed = part->source.discover(part->user, list);
        if (failed == NETPROF_ERR_NOMEM)
            list->failed = failed;
        else if (failed)
            netprof__list_drop_source(list, EIO);
        part->first_counter = list->source_first_counter;
        part->counter_count = list->schema->pub.counter_count - part->first_counter;
        part->first_device = list->source_first_device;
        part->device_count = list->schema->pub.device_count - part->first_device;
        part->stale = 0;
    }
    return netprof_build_end(list, out, error);
}

NETPROF_API netprof_err netprof_rescan(netprof *np, netprof_error *error)
{
    const netprof_schema *fresh;
    netprof_err failed;
    if (!np)
        return netprof__fail(error, NETPROF_ERR_ARG, 0, NULL, "no context");
    failed = netprof__discover(np, &fresh, error);
    if (failed)
        return failed;
    if (np->schema && netprof__same_schema(np->schema, fresh)) {
        netprof_schema_release(fresh);
    } else {
        netprof_schema_release(np->schema);
        np->schema = fresh;
    }
    return NETPROF_OK;
}

/* 1 when the comma list names the source, or is empty. */
static int netprof__listed(const char *list, const char *name)
{
    size_t n = strlen(name);
    if (!list || !*list)
        return 1;
    for (;;) {
        size_t length = strcspn(list, ",");
        if (length == n && memcmp(list, name, n) == 0)
            return 1;
        if (!list[length])
            return 0;
        list += length + 1;
    }
}

static const char *netprof__setting(const char *given, const char *variable)
{
    const char *value = given ? given : NETPROF_OS_GETENV(variable);
    return value ? value : "";
}

static netprof_err netprof__add_part(netprof *np, const netprof_source *source, void *user)
{
    netprof__part *part;
    if (!netprof__grow(&np->alloc, &np->parts, &np->part_capacity, np->part_count + 1, sizeof *np->parts))
        return NETPROF_ERR_NOMEM;
    part = &np->parts[np->part_count++];
    memset(part, 0, sizeof *part);
    part->source = *source;
    part->user = user;
    return NETPROF_OK;
}

/* A name that is no source is a mistake worth telling: it would silently read nothing. */
static netprof_err netprof__check_sources(const char *list, netprof_error *error)
{
    char name[32];
    while (*list) {
        size_t length = strcspn(list, ","), i;
        snprintf(name, sizeof name, "%.*s", (int)(length < 31 ? length : 31), list);
        for (i = 0; i < sizeof netprof__builtin / sizeof *netprof__builtin; i++)
            if (strcmp(name, netprof__builtin[i].name) == 0)
                break;
        if (i == sizeof netprof__builtin / sizeof *netprof__builtin)
            return netprof__fail(error, NETPROF_ERR_ARG, 0, name, "is not a source");
        list += length + (list[length] == ',');
    }
    return NETPROF_OK;
}

static netprof_err netprof__add_builtin(netprof *np, const char *sources)
{
    size_t i;
    for (i = 0; i < sizeof netprof__builtin / sizeof *netprof__builtin; i++) {
        netprof_source source;
        void *user = NULL;
        memset(&source, 0, sizeof source);
        if (!netprof__listed(sources, netprof__builtin[i].name))
            continue;
        if (netprof__builtin[i].make(np, &source, &user))
            return NETPROF_ERR_NOMEM;
        source.name = netprof__builtin[i].name;
        if (netprof__add_part(np, &source, user)) {
            source.close(user);
            return NETPROF_ERR_NOMEM;
        }
    }
    return NETPROF_OK;
}

static netprof_err netprof__configure(netprof *np, const netprof_config *c, netprof_error *error)
{
    const char *sources = netprof__setting(c->sources, "NETPROF_SOURCES");
    size_t n;
    np->hold = c->hold;
    np->pid = c->pid;
    np->threads = c->threads;
    np->no_rescan = c->no_rescan;
    np->fd_budget = netprof__fd_budget(c->max_fds);
    np->root = netprof__strdup(&np->alloc, netprof__setting(c->root, "NETPROF_ROOT"));
    if (!np->root ||
        !netprof__filter_make(&np->alloc, netprof__setting(c->include, "NETPROF_INCLUDE"), &np->include) ||
        !netprof__filter_make(&np->alloc, netprof__setting(c->exclude, "NETPROF_EXCLUDE"), &np->exclude) ||
        !netprof__filter_make(&np->alloc, c->fast, &np->fast))
        return netprof__no_memory(error);
    for (n = strlen(np->root); n && np->root[n - 1] == '/'; n--)
        np->root[n - 1] = 0;
    if (netprof__check_sources(sources, error))
        return NETPROF_ERR_ARG;
    return netprof__add_builtin(np, sources) ? netprof__no_memory(error) : NETPROF_OK;
}

NETPROF_API netprof_err netprof_open(netprof **out, const netprof_config *config, netprof_error *error)
{
    netprof_config defaults;
    netprof_alloc alloc;
    netprof_err failed;
    netprof *np;
    if (!out)
        return netprof__fail(error, NETPROF_ERR_ARG, 0, NULL, "nowhere to put the context");
    *out = NULL;
    memset(&defaults, 0, sizeof defaults);
    if (!config)
        config = &defaults;
    if (config->end_zero)
        return netprof__fail(error, NETPROF_ERR_ARG, 0, NULL, "the configuration was never initialised");
    alloc = netprof__alloc_or_default(config->alloc);
    np = (netprof *)netprof__zalloc(&alloc, sizeof *np);
    if (!np)
        return netprof__no_memory(error);
    np->alloc = alloc;
    failed = netprof__configure(np, config, error);
    if (!failed)
        failed = netprof_rescan(np, error);
    if (failed) {
        netprof_close(np);
        return failed;
    }
    *out = np;
    return np->schema->counter_count
               ? NETPROF_OK
               : netprof__fail(error, NETPROF_ERR_NOSOURCE, 0, *np->root ? np->root : "/", "no counter found");
}

NETPROF_API void netprof_close(netprof *np)
{
    netprof_alloc a;
    size_t i;
    if (!np)
        return;
    a = np->alloc;
    for (i = 0; i < np->part_count; i++)
        if (np->parts[i].source.close)
            np->parts[i].source.close(np->parts[i].user);
    netprof_schema_release(np->schema);
    netprof__release(&a, np->parts);
    netprof__release(&a, np->include.patterns);
    netprof__release(&a, np->exclude.patterns);
    netprof__release(&a, np->fast.patterns);
    netprof__release(&a, np->root);
    netprof__release(&a, np);
}

NETPROF_API const netprof_schema *netprof_get_schema(const netprof *np)
{
    return np ? np->schema : NULL;
}

NETPROF_API netprof_err netprof_add_source(netprof *np, const netprof_source *source, void *user, netprof_error *error)
{
    netprof_err failed;
    if (!np || !source || !source->name || !source->discover || !source->read)
        return netprof__fail(error, NETPROF_ERR_ARG, 0, NULL, "a source needs a name, discover and read");
    if (netprof__add_part(np, source, user))
        return netprof__no_memory(error);
    failed = netprof_rescan(np, error);
    if (failed)
        np->part_count--; /* still the caller's: its close is not called */
    return failed;
}

/* -- snapshots -- */

/* One block: the 8-byte arrays first, then the bytes. */
static netprof_err netprof__snapshot_room(netprof_snapshot *s, const netprof_schema *schema, netprof_error *error)
{
    size_t n = schema->counter_count, d = schema->device_count;
    size_t bytes = n * (2 * sizeof(uint64_t) + 2) + d * 2 * sizeof(int64_t);
    const netprof_alloc *a = &netprof__schema_of(schema)->alloc;
    char *p;
    if (s->memory && s->schema->counter_count == n && s->schema->device_count == d) {
        netprof_schema_retain(schema);
        netprof_schema_release(s->schema);
        s->schema = schema;
        return NETPROF_OK;
    }
    p = (char *)netprof__resize(a, NULL, bytes);
    if (!p)
        return netprof__no_memory(error);
    netprof_snapshot_free(s);
    s->memory = p;
    s->values = (uint64_t *)(void *)p;
    s->stamps_ns = (int64_t *)(void *)(p + n * 8);
    s->device_begin_ns = (int64_t *)(void *)(p + n * 16);
    s->device_end_ns = (int64_t *)(void *)(p + n * 16 + d * 8);
    s->status = (uint8_t *)(p + n * 16 + d * 16);
    s->errnos = s->status + n;
    netprof_schema_retain(schema);
    s->schema = schema;
    return NETPROF_OK;
}

static void netprof__snapshot_clear(netprof_snapshot *s)
{
    size_t n = s->schema->counter_count, d = s->schema->device_count;
    memset(s->memory, 0, n * (2 * sizeof(uint64_t) + 2) + d * 2 * sizeof(int64_t));
    s->begin_ns = s->end_ns = s->wall_ns = s->stamp_error_ns = 0;
    s->set = NETPROF_SET_ALL;
    s->not_ok = 0;
}

NETPROF_API netprof_err netprof_snapshot_make(netprof_snapshot *snapshot, const netprof_schema *schema,
                                              netprof_error *error)
{
    netprof_err failed;
    if (!snapshot || !schema)
        return netprof__fail(error, NETPROF_ERR_ARG, 0, NULL, "no snapshot or no schema");
    failed = netprof__snapshot_room(snapshot, schema, error);
    if (!failed)
        netprof__snapshot_clear(snapshot);
    return failed;
}

NETPROF_API netprof_err netprof_snapshot_copy(netprof_snapshot *to, const netprof_snapshot *from, netprof_error *error)
{
    size_t n, d;
    netprof_err failed;
    if (!to || !from || !from->schema)
        return netprof__fail(error, NETPROF_ERR_ARG, 0, NULL, "no snapshot");
    failed = netprof__snapshot_room(to, from->schema, error);
    if (failed)
        return failed;
    n = from->schema->counter_count;
    d = from->schema->device_count;
    memcpy(to->memory, from->memory, n * (2 * sizeof(uint64_t) + 2) + d * 2 * sizeof(int64_t));
    to->begin_ns = from->begin_ns;
    to->end_ns = from->end_ns;
    to->wall_ns = from->wall_ns;
    to->stamp_error_ns = from->stamp_error_ns;
    to->set = from->set;
    to->not_ok = from->not_ok;
    return NETPROF_OK;
}

NETPROF_API void netprof_snapshot_free(netprof_snapshot *s)
{
    if (!s)
        return;
    if (s->schema) {
        netprof_alloc a = netprof__schema_of(s->schema)->alloc;
        netprof__release(&a, s->memory);
        netprof_schema_release(s->schema);
    }
    memset(s, 0, sizeof *s);
}

/* One sweep: jobs are a device each, or a whole source. */
typedef struct netprof__work {
    netprof *np;
    netprof_snapshot *snapshot;
    netprof_set set;
    size_t next, count; /* jobs */
} netprof__work;

static size_t netprof__jobs_of(const netprof__part *part)
{
    return part->source.flags & NETPROF_SOURCE_WHOLE ? part->device_count != 0 : part->device_count;
}

static void netprof__read_part(netprof__work *w, netprof__part *part, size_t device)
{
    netprof_snapshot *s = w->snapshot;
    size_t from = part->first_device + device, to = from + 1, i;
    netprof_sweep sweep;
    int64_t begin = netprof__clock(CLOCK_MONOTONIC), end;
    memset(&sweep, 0, sizeof sweep);
    sweep.set = w->set;
    sweep.count = part->counter_count;
    sweep.counters = s->schema->counters + part->first_counter;
    sweep.values = s->values + part->first_counter;
    sweep.status = s->status + part->first_counter;
    sweep.errnos = s->errnos + part->first_counter;
    sweep.stamps_ns = s->stamps_ns + part->first_counter;
    part->source.read(part->user, device, &sweep);
    end = netprof__clock(CLOCK_MONOTONIC);
    if (sweep.stale)
        __atomic_store_n(&part->stale, 1, __ATOMIC_RELAXED);
    if (part->source.flags & NETPROF_SOURCE_WHOLE)
        to = part->first_device + part->device_count;
    for (i = from; i < to; i++) {
        s->device_begin_ns[i] = begin;
        s->device_end_ns[i] = end;
    }
}

static void *netprof__worker(void *argument)
{
    netprof__work *w = (netprof__work *)argument;
    size_t job;
    while ((job = __atomic_fetch_add(&w->next, 1, __ATOMIC_RELAXED)) < w->count) {
        size_t i = 0;
        while (job >= netprof__jobs_of(&w->np->parts[i]))
            job -= netprof__jobs_of(&w->np->parts[i++]);
        netprof__read_part(w, &w->np->parts[i], job);
    }
    return NULL;
}

/* A worker that cannot be started is work for the others. */
static void netprof__run_workers(netprof__work *w, int threads)
{
#ifndef NETPROF_NO_THREADS
    pthread_t ids[64];
    int started = 0, i;
    while (started < threads - 1 && started < 64 && (size_t)started + 1 < w->count &&
           pthread_create(&ids[started], NULL, netprof__worker, w) == 0)
        started++;
    netprof__worker(w);
    for (i = 0; i < started; i++)
        pthread_join(ids[i], NULL);
#else
    (void)threads;
    netprof__worker(w);
#endif
}

static uint32_t netprof__count_not_ok(const netprof_snapshot *s)
{
    uint32_t bad = 0;
    size_t i;
    for (i = 0; i < s->schema->counter_count; i++)
        bad += s->status[i] != NETPROF_STATUS_OK && s->status[i] != NETPROF_STATUS_SKIPPED &&
               s->status[i] != NETPROF_STATUS_SATURATED;
    return bad;
}

static netprof_err netprof__sweep(netprof *np, netprof_snapshot *s, netprof_set set, netprof_error *error)
{
    netprof__work w;
    size_t i;
    netprof_err failed = netprof_snapshot_make(s, np->schema, error);
    if (failed)
        return failed;
    memset(&w, 0, sizeof w);
    w.np = np;
    w.snapshot = s;
    w.set = set;
    for (i = 0; i < np->part_count; i++)
        w.count += netprof__jobs_of(&np->parts[i]);
    s->set = set;
    s->wall_ns = netprof__clock(CLOCK_REALTIME);
    s->begin_ns = netprof__clock(CLOCK_MONOTONIC);
    netprof__run_workers(&w, np->threads);
    s->end_ns = netprof__clock(CLOCK_MONOTONIC);
    s->not_ok = netprof__count_not_ok(s);
    return NETPROF_OK;
}

static int netprof__is_stale(netprof *np)
{
    size_t i;
    int stale = 0;
    for (i = 0; i < np->part_count; i++) {
        const netprof__part *part = &np->parts[i];
        stale |= part->stale || (part->source.changed && part->source.changed(part->user));
    }
    return stale;
}

NETPROF_API netprof_err netprof_take(netprof *np, netprof_snapshot *snapshot, netprof_set set, netprof_error *error)
{
    const netprof_schema *before;
    netprof_err failed = NETPROF_OK;
    size_t i;
    if (!np || !snapshot || (set != NETPROF_SET_ALL && set != NETPROF_SET_FAST))
        return netprof__fail(error, NETPROF_ERR_ARG, 0, NULL, "no context, no snapshot or no such set");
    if (!np->no_rescan && netprof__is_stale(np))
        failed = netprof_rescan(np, error);
    if (!failed)
        failed = netprof__sweep(np, snapshot, set, error);
    for (i = 0; i < np->part_count && !np->parts[i].stale; i++)
        continue;
    if (failed || np->no_rescan || i == np->part_count)
        return failed;
    before = np->schema; /* something came or went while we read */
    failed = netprof_rescan(np, error);
    if (!failed && np->schema != before)
        failed = netprof__sweep(np, snapshot, set, error);
    return failed;
}

/* -- deltas -- */

NETPROF_API netprof_flag netprof_difference(const netprof_counter *c, uint64_t before, uint64_t after, uint64_t *value)
{
    uint64_t scale = c->scale ? c->scale : 1, mask, step;
    *value = 0;
    if (c->kind == NETPROF_KIND_GAUGE || c->kind == NETPROF_KIND_STATE)
        return NETPROF_FLAG_GAUGE;
    *value = after - before;
    if ((c->flags & NETPROF_SIGNED) || after >= before)
        return NETPROF_FLAG_OK;
    if (c->width && c->width <= 64 && !(c->flags & NETPROF_SATURATES)) {
        mask = UINT64_MAX >> (64 - c->width);
        step = (after / scale - before / scale) & mask;
        if (before / scale <= mask && step <= mask / 2) { /* from the upper half on through zero */
            *value = step * scale;
            return NETPROF_FLAG_WRAPPED;
        }
    }
    *value = after;
    return NETPROF_FLAG_RESET;
}

static int netprof__has_value(uint8_t status)
{
    return status == NETPROF_STATUS_OK || status == NETPROF_STATUS_SATURATED;
}

/* Time between two readings of a counter: the device's own stamps where both have one, else the middles of the
   stretches in which the device was read. */
static int64_t netprof__elapsed(const netprof_snapshot *a, size_t i, const netprof_snapshot *b, size_t k)
{
    uint32_t d = a->schema->counters[i].device, e = b->schema->counters[k].device;
    if (a->stamps_ns[i] && b->stamps_ns[k])
        return b->stamps_ns[k] - a->stamps_ns[i];
    return (b->device_begin_ns[e] + b->device_end_ns[e]) / 2 - (a->device_begin_ns[d] + a->device_end_ns[d]) / 2;
}

/* Fills in row r of the delta; i, k: index in a and b, or NETPROF_NONE. */
static void netprof__delta_row(netprof_delta *d, size_t r, const netprof_snapshot *a, size_t i,
                               const netprof_snapshot *b, size_t k, int recreated)
{
    int was = i != NETPROF_NONE && a->status[i] != NETPROF_STATUS_SKIPPED;
    int is = k != NETPROF_NONE && b->status[k] != NETPROF_STATUS_SKIPPED;
    d->before_status[r] = was ? a->status[i] : (uint8_t)NETPROF_STATUS_SKIPPED;
    d->after_status[r] = is ? b->status[k] : (uint8_t)NETPROF_STATUS_SKIPPED;
    d->before[r] = was ? a->values[i] : 0;
    d->after[r] = is ? b->values[k] : 0;
    d->values[r] = 0;
    d->elapsed_ns[r] = 0;
    if (!was || !is) {
        d->flags[r] = (uint8_t)(is ? NETPROF_FLAG_NEW : was ? NETPROF_FLAG_GONE : NETPROF_FLAG_UNKNOWN);
        return;
    }
    d->elapsed_ns[r] = netprof__elapsed(a, i, b, k);
    if (!netprof__has_value(a->status[i]) || !netprof__has_value(b->status[k])) {
        d->flags[r] = NETPROF_FLAG_UNKNOWN;
        return;
    }
    d->flags[r] = (uint8_t)netprof_difference(&b->schema->counters[k], a->values[i], b->values[k], &d->values[r]);
    if (recreated && d->flags[r] != NETPROF_FLAG_GAUGE) {
        d->flags[r] = NETPROF_FLAG_RESET;
        d->values[r] = b->values[k];
    } else if (b->status[k] == NETPROF_STATUS_SATURATED && d->flags[r] != NETPROF_FLAG_GAUGE) {
        d->flags[r] = NETPROF_FLAG_SUSPECT;
    }
}

static netprof_err netprof__delta_room(netprof_delta *d, const netprof_schema *schema, netprof_error *error)
{
    size_t n = schema->counter_count;
    char *p = (char *)netprof__resize(&netprof__schema_of(schema)->alloc, NULL, n * (4 * sizeof(uint64_t) + 3));
    if (!p)
        return netprof__no_memory(error);
    netprof_delta_free(d);
    d->memory = p;
    d->before = (uint64_t *)(void *)p;
    d->after = d->before + n;
    d->values = d->after + n;
    d->elapsed_ns = (int64_t *)(void *)(d->values + n);
    d->flags = (uint8_t *)(d->elapsed_ns + n);
    d->before_status = d->flags + n;
    d->after_status = d->before_status + n;
    netprof_schema_retain(schema);
    d->schema = schema;
    return NETPROF_OK;
}

NETPROF_API void netprof_delta_free(netprof_delta *d)
{
    if (!d)
        return;
    if (d->schema) {
        netprof_alloc a = netprof__schema_of(d->schema)->alloc;
        netprof__release(&a, d->memory);
        netprof_schema_release(d->schema);
    }
    memset(d, 0, sizeof *d);
}

/* The device of the other schema with the same source and name. */
static const netprof_device *netprof__twin(const netprof_schema *schema, const netprof_device *d, size_t hint)
{
    size_t i;
    for (i = 0; i < schema->device_count; i++) {
        const netprof_device *other = &schema->devices[(hint + i) % schema->device_count];
        if (strcmp(other->name, d->name) == 0 && strcmp(other->source, d->source) == 0)
            return other;
    }
    return NULL;
}

/* A counter of the twin device; the search starts behind the last hit, so that equal orders cost nothing. */
static size_t netprof__twin_counter(const netprof_schema *schema, const netprof_device *d, const char *name,
                                    size_t *hint)
{
    size_t i;
    for (i = 0; i < d->count; i++) {
        size_t k = d->first + (*hint + i) % d->count;
        if (strcmp(schema->counters[k].name, name) == 0) {
            *hint = k - d->first + 1;
            return k;
        }
    }
    return NETPROF_NONE;
}

/* Where each counter of `to` is in `from`, or NETPROF_NONE; the devices' re-creation as a byte each. */
static void netprof__match(const netprof_schema *from, const netprof_schema *to, size_t *where, uint8_t *recreated)
{
    size_t i, k;
    for (i = 0; i < to->device_count; i++) {
        const netprof_device *d = &to->devices[i], *twin = netprof__twin(from, d, i);
        size_t hint = 0;
        recreated[i] = twin && twin->identity && d->identity && twin->identity != d->identity;
        for (k = d->first; k < (size_t)d->first + d->count; k++)
            where[k] = twin ? netprof__twin_counter(from, twin, to->counters[k].name, &hint) : NETPROF_NONE;
    }
}

static void netprof__join_device(netprof_list *list, const netprof_schema *s, const netprof_device *d)
{
    size_t i;
    netprof_list_device(list, d->name, d->identity, d->flags);
    for (i = 0; i < d->fact_count; i++)
        netprof_list_fact(list, d->facts[i].key, d->facts[i].value);
    for (i = d->first; i < (size_t)d->first + d->count; i++)
        netprof_list_counter(list, &s->counters[i]);
}

/* The counters of `from` that `to` does not have, behind the device's own or as devices of their own. */
static void netprof__join_missing(netprof_list *list, const netprof_schema *from, const netprof_device *d,
                                  const size_t *back)
{
    size_t i;
    for (i = d->first; i < (size_t)d->first + d->count; i++)
        if (back[i] == NETPROF_NONE)
            netprof_list_counter(list, &from->counters[i]);
}

/* Schema of the second snapshot plus what only the first has. `back`: where the first's counters are in the second. */
static netprof_err netprof__join(const netprof_schema *from, const netprof_schema *to, const size_t *back,
                                 const netprof_schema **out, netprof_error *error)
{
    netprof_list *list = netprof__list_make(&netprof__schema_of(to)->alloc);
    const char *source = NULL;
    size_t i;
    if (!list)
        return netprof__no_memory(error);
    for (i = 0; i < to->fact_count; i++)
        netprof_build_fact(list, to->facts[i].key, to->facts[i].value);
    for (i = 0; i < to->device_count; i++) {
        const netprof_device *d = &to->devices[i], *twin = netprof__twin(from, d, i);
        if (!source || strcmp(source, d->source) != 0)
            netprof_build_source(list, source = d->source);
        netprof__join_device(list, to, d);
        if (twin)
            netprof__join_missing(list, from, twin, back);
    }
    for (i = 0; i < from->device_count; i++) {
        const netprof_device *d = &from->devices[i];
        if (netprof__twin(to, d, i))
            continue;
        if (!source || strcmp(source, d->source) != 0)
            netprof_build_source(list, source = d->source);
        netprof__join_device(list, from, d);
    }
    return netprof_build_end(list, out, error);
}

static netprof_err netprof__same_node(const netprof_schema *a, const netprof_schema *b, netprof_error *error)
{
    static const char *const keys[] = {"host", "boot_id"};
    size_t i;
    for (i = 0; i < 2; i++) {
        const char *x = netprof_fact_of(a->facts, a->fact_count, keys[i]);
        const char *y = netprof_fact_of(b->facts, b->fact_count, keys[i]);
        char text[160];
        if (!x || !y || strcmp(x, y) == 0)
            continue;
        snprintf(text, sizeof text, "%s differs: %.60s and %.60s", keys[i], x, y);
        return netprof__fail(error, NETPROF_ERR_MISMATCH, 0, NULL, text);
    }
    return NETPROF_OK;
}

static void netprof__delta_times(netprof_delta *d, const netprof_snapshot *a, const netprof_snapshot *b)
{
    int64_t x = a->end_ns - a->begin_ns, y = b->end_ns - b->begin_ns;
    d->wall_begin_ns = a->wall_ns;
    d->wall_end_ns = b->wall_ns;
    d->interval_ns = b->begin_ns - a->begin_ns;
    d->sweep_ns = x > y ? x : y;
}

/* Rows when the layouts differ: the joined schema's counters are looked up in both. */
static void netprof__delta_joined(netprof_delta *d, const netprof_snapshot *a, const netprof_snapshot *b,
                                  size_t *in_a, size_t *in_b, uint8_t *recreated)
{
    size_t i;
    netprof__match(b->schema, d->schema, in_b, recreated);
    netprof__match(a->schema, d->schema, in_a, recreated);
    for (i = 0; i < d->schema->counter_count; i++)
        netprof__delta_row(d, i, a, in_a[i], b, in_b[i], recreated[d->schema->counters[i].device]);
}

static netprof_err netprof__diff_different(const netprof_snapshot *a, const netprof_snapshot *b, netprof_delta *d,
                                           netprof_error *error)
{
    const netprof_alloc *alloc = &netprof__schema_of(b->schema)->alloc;
    size_t total = a->schema->counter_count + b->schema->counter_count;
    size_t devices = a->schema->device_count + b->schema->device_count;
    size_t *where = (size_t *)netprof__resize(alloc, NULL, 2 * total * sizeof *where + devices);
    const netprof_schema *joined = NULL;
    netprof_err failed;
    if (!where)
        return netprof__no_memory(error);
    netprof__match(b->schema, a->schema, where, (uint8_t *)(where + 2 * total));
    failed = netprof__join(a->schema, b->schema, where, &joined, error);
    if (!failed)
        failed = netprof__delta_room(d, joined, error);
    if (!failed)
        netprof__delta_joined(d, a, b, where, where + total, (uint8_t *)(where + 2 * total));
    netprof_schema_release(joined);
    netprof__release(alloc, where);
    return failed;
}

NETPROF_API netprof_err netprof_diff(const netprof_snapshot *before, const netprof_snapshot *after,
                                     const netprof_diff_options *options, netprof_delta *delta, netprof_error *error)
{
    netprof_err failed;
    size_t i;
    if (!before || !after || !delta || !before->schema || !after->schema || (options && options->end_zero))
        return netprof__fail(error, NETPROF_ERR_ARG, 0, NULL, "two snapshots and a delta are needed");
    if (!(options && options->force) && netprof__same_node(before->schema, after->schema, error))
        return NETPROF_ERR_MISMATCH;
    if (netprof__same_layout(before->schema, after->schema)) {
        failed = netprof__delta_room(delta, after->schema, error);
        for (i = 0; !failed && i < after->schema->counter_count; i++)
            netprof__delta_row(delta, i, before, i, after, i, 0);
    } else {
        failed = netprof__diff_different(before, after, delta, error);
    }
    if (!failed)
        netprof__delta_times(delta, before, after);
    return failed;
}

/* @FILES@ */
/* @JSON@ */

#ifdef __cplusplus
}
#endif
#endif /* NETPROF_IMPLEMENTATION */

/* MIT License, Copyright (c) 2026 The netprof authors.

   Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
   documentation files (the "Software"), to deal in the Software without restriction, including without limitation
   the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to
   permit persons to whom the Software is furnished to do so, subject to the following conditions: The above copyright
   notice and this permission notice shall be included in all copies or substantial portions of the Software.

   THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
   WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
   COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
   OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE. */

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
     3  limits            6  regions (their place)                 the format of .netprof: at 7.9

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
/* JSON of facts, snapshots and deltas; the format is described at part 7.10. */
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

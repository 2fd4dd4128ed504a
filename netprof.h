/* netprof.h - v0.1.0 - network counters and code regions for HPC and AI nodes
   SPDX-License-Identifier: MIT; the licence text is at the end of this file.

   QUICK START. In exactly one C or C++ file, before any other include:

       #define NETPROF_IMPLEMENTATION
       #include "netprof.h"

   then, around the code that communicates:

       netprof_meter m = NETPROF_ZERO;
       netprof_meter_start(&m, NETPROF_SET_FAST, NULL);
       exchange();
       if (netprof_meter_stop(&m, NULL) == NETPROF_OK) netprof_print(1, &m.delta, NULL); (1: the standard output)
       netprof_save_file("run.netprof", m.snapshots, 2, NULL); (for `netprof diff`, `check`, `report`)
       netprof_meter_free(&m);

   Link with -pthread. To know where a program spends its time, put NETPROF_BEGIN("exchange") and NETPROF_END("exchange")
   around the call and open nothing: it leaves a file of its own for `netprof regions`; with NETPROF_PRINT=1 in the
   environment it also prints its table.

   CONTENTS (to reach a section, search for >> and its number; only the section's heading has the two together)
     1 concepts
     2 switches: macros and environment variables
     3 limits, and what later versions may change
     4 types
        4.1 errors
        4.2 counters, devices, schemas
        4.3 snapshots and deltas
        4.4 the context
        4.5 your own sources
        4.6 files
     5 functions
        5.1 version and names of codes
        5.2 opening a context; its schema
        5.3 sources, counters and sockets of your own
        5.4 taking and comparing snapshots
        5.5 writing .netprof files
        5.6 reading .netprof files
        5.7 JSON
        5.8 building a schema by hand, for readers of other formats
        5.9 totals, one counter's change, a meter
        5.10 text for people; a benchmark over sizes of messages
     6 regions: what they measure, modes, files
        6.1 types
        6.2 functions
        6.3 macros: NETPROF_BEGIN, NETPROF_END, NETPROF_SCOPE, NETPROF_BYTES
        6.4 statistics that were taken or read
        6.5 with NETPROF_DISABLE: the same functions, without regions
     7 implementation: foundations
        7.1 system calls that a test may replace
        7.2 memory, errors, clocks
        7.3 names of codes; values of a sweep
        7.4 small files and directories
        7.5 numbers in text
        7.6 filters and patterns
        7.7 schemas and the list that builds one
        7.8 groups of files: one directory, one counter per file
        7.9 facts from files
        7.10 netlink
        7.11 ethtool's ioctl
        7.12 the context
     8 implementation: sources
        8.1 source cxi: HPE Cassini, /sys/class/cxi and /run/cxi
        8.2 source netdev: the links of a network namespace
           8.2.1 which links are ports
           8.2.2 facts of a link
           8.2.3 slots and their counters
           8.2.4 /proc/net/dev
           8.2.5 /sys/class/net
           8.2.6 replies of rtnetlink
           8.2.7 discovery by rtnetlink
           8.2.8 a sweep by rtnetlink
           8.2.9 the source
        8.3 source ethtool: what a driver counts beyond the standard statistics
           8.3.1 driver statistics by ioctl
           8.3.2 standard groups by netlink: replies
           8.3.3 standard groups by netlink: requests and readings
           8.3.4 discovery, and the source
        8.4 source rdma: InfiniBand, RoCE, Omni-Path, EFA; /sys/class/infiniband
           8.4.1 counters in sysfs
           8.4.2 facts of an adapter and its ports
           8.4.3 counters by netlink
           8.4.4 discovery, and the source
        8.5 source ip: the kernel's protocol counters, /proc/net
           8.5.1 the formats of the files
           8.5.2 the files, and what their counters are
           8.5.3 discovery
           8.5.4 reading, and the source
        8.6 source tcp: TCP_INFO of sockets that the program hands over
        8.7 source user: counters of the program itself
     9 implementation: contexts, snapshots, deltas
        9.1 opening and discovery
        9.2 snapshots
        9.3 deltas
           9.3.1 which device is which
           9.3.2 joining two schemas
           9.3.3 comparing two snapshots
        9.4 statistics of regions, as callers and readers get them
        9.5 totals, one counter's change, a meter
     10 implementation: .netprof files
        10.1 the file format .netprof, version 2
        10.2 integers, checksums, bit codes
        10.3 writing schemas
        10.4 what writer and reader expect of the next snapshot
        10.5 writing snapshots and deltas
        10.6 the writer
        10.7 writing regions
        10.8 the reader: its state, integers and bit codes
        10.9 reading schemas
        10.10 reading snapshots of format version 1
        10.11 reading snapshots of format version 2, deltas and facts
        10.12 reading regions, events
        10.13 chunks, damage, files put together
        10.14 the reader's functions
     11 implementation: JSON, text
        11.1 JSON
        11.2 text for people
        11.3 a benchmark over sizes of messages
     12 implementation: regions
        12.1 the data of the hot path
        12.2 clock and nodes
        12.3 counters at the edges of a call
        12.4 begin and end
           12.4.1 spans
           12.4.2 work for a place of another thread; values
        12.5 locks and names
        12.6 threads
        12.7 calibration and settings
        12.8 the counters and the background thread
        12.9 start, exit, fork
        12.10 collecting the statistics
        12.11 writing the file
        12.12 one set of regions in a process
        12.13 regions over time
     13 what each version changed
     14 licence

   >>1 CONCEPTS
   A *source* (cxi, netdev, ethtool, rdma, ip, tcp, or your own) finds *devices* (cxi0, eth0, mlx5_0/1). A device has
   facts (text: bus address, speed, link) and *counters* (name, unit, kind, width in bits). The list of everything that
   can be read is a *schema*; one reading of it is a *snapshot*: for each counter a value and a status, and the times
   between which it was read. The difference of two snapshots is a *delta*: for each counter a value and a flag. A
   counter keeps its 64-bit value from the kernel to the file; rates and ratios are left to whoever reads the file. A
   value that could not be read has a status and an errno; it is never disguised as 0. The *fast set* is the few
   counters that answer most questions; *all* is every counter.

   >>2 SWITCHES (define before including; the first four in the implementing file)
     NETPROF_IMPLEMENTATION   compiles the implementation, too
     NETPROF_STATIC           makes every function static (several files may then have their own copy)
     NETPROF_MALLOC(size), NETPROF_REALLOC(pointer, size), NETPROF_FREE(pointer)   define all three or none
     NETPROF_NO_THREADS       no worker threads (netprof_config.threads is ignored). Regions: no sampler, no
                              NETPROF_FLUSH and no NETPROF_SERIES; the end of a thread goes unnoticed; a child of fork()
                              writes no file
     NETPROF_NO_NETLINK       links are read from sysfs; no ethtool groups
     NETPROF_NO_JSON          no JSON writer
     NETPROF_NO_PRINT         no tables for people, no benchmark (section 5.10)
     NETPROF_NO_READER        no reader of .netprof files (section 5.6)
     NETPROF_NO_SERIES        no regions over time: no NETPROF_SERIES, no netprof_set_series(). NETPROF_NO_THREADS
                              implies it
     NETPROF_NO_SOURCES       no built-in sources: contexts have the sources and counters that the program adds, regions
                              have times and bytes but no counters. Implied on systems other than Linux
     NETPROF_REGIONS_ONLY     regions, their statistics and their file, with a writer to a path; no contexts, snapshots
                              or deltas. Implies NETPROF_NO_READER, _SERIES, _SOURCES, _JSON and _PRINT
       Define these in every file: what they leave out is then not declared. The implementation's code and constants
       (gcc 12, x86-64, -Os) take 181 KB; NO_READER saves 19, NO_SERIES 5, NO_SOURCES 65, NO_JSON 5, NO_PRINT 11;
       REGIONS_ONLY leaves 39. tests/bench/README.md has the whole table.
     NETPROF_DISABLE          no regions: the macros expand to nothing, the functions do nothing; define it in every
                              file (a file without it still links, and calls functions that do nothing)
     NETPROF_NO_TSC           uses the kernel's clock instead of the processor's time stamp counter
     NETPROF_MAX_DEPTH, NETPROF_MAX_REGIONS   64 open regions per thread, 4096 names
     NETPROF_OS_...           the system calls of section 7.1, for fault injection in tests
     All environment variables (seconds: 0.5, 0.5s or 500ms):
     NETPROF_ROOT, NETPROF_SOURCES, NETPROF_INCLUDE, NETPROF_EXCLUDE   used where netprof_config leaves the field empty,
                              and for the counters of regions
     NETPROF                  mode of the regions: off, time (default), fast, sampler; see section 6
     NETPROF_OUTPUT           pattern of the regions' file: %j job, %r rank, %h host, %p pid, %% for %. What is not known
                              is left out, with the '-', '_' or '.' before it (otherwise it is 0). A directory takes a
                              file of the usual name; one that ends in / is made. A relative name begins where the
                              program was when its regions began. Without %p, a child of fork() adds its number to the
                              name; without %p and %r, a rank among several adds its rank.
     NETPROF_INTERVAL         seconds between two readings of the sampler: 0.01 (at least 0.0001)
     NETPROF_FLUSH            seconds between two writes of the regions' file, by a thread; 0: only at exit. Not set: where
                              a region ends, first after 5 seconds, then 10, 20, 40 seconds later and every 60 seconds
                              (a quarter more or less)
     NETPROF_SERIES           seconds between two samples of all regions over time, kept beside that file: 0 (none)
     NETPROF_EVERY            "halo:10,solve:2": measures every 10th call of halo; the others are only counted
     NETPROF_RANK             rank of this process, where the launcher's environment does not give it
     NETPROF_RUN              name of the run: `netprof regions` never mixes runs. Needed only where the launcher's
                              environment does not tell runs apart
     NETPROF_QUIET            if set, a regions' file that cannot be written is not said on standard error
     NETPROF_PRINT            1: a program that uses regions prints them, and the traffic since the first one, at exit
     NETPROF_VERBOSE          if set, faults in these settings are reported on standard error. Set or not, the first one
                              (an unknown NETPROF_ name, such as a typo, included) is stored in the regions' file as its
                              warning.

   >>3 LIMITS, AND WHAT LATER VERSIONS MAY CHANGE
     Linux 3.10 or newer. Other POSIX systems have regions and files, but no counters: netprof_open() fails with
     NETPROF_ERR_NOSOURCE (see NETPROF_NO_SOURCES), each copy of the implementation in a process has regions of its own,
     and a shared object with regions must stay loaded. That is tested on Linux, with nothing but what POSIX has. On
     Windows only the declarations compile, also with NETPROF_DISABLE: not the implementation.

     A snapshot is not atomic: it takes as long as it takes and records how long. Counters belong to devices, not to
     processes: they include the traffic of other programs.

     Versions are MAJOR.MINOR.PATCH. Section 13 lists what each version changed. These promises hold from now on:

     API and ABI of this header. A patch version changes neither. A minor version adds: functions, enumerators at the
     end of an enum, members in a struct. While MAJOR is 0, a minor version may also rename or remove something in the
     API; section 13 then says what to write instead. From 1.0.0 on, only a major version does. A new member of a struct
     that you fill in means the old behaviour when it is 0. Structs may therefore grow in a minor version: compile all
     files of a program, and a library that passes these structs, with the same MAJOR.MINOR. Names that begin with
     netprof__ or NETPROF__ are private and may change at any time.

     .netprof files. Every version reads every file that an earlier version wrote. A file's header has a format version
     (now 2), a whole number without minor versions. It rises only when older readers would misread the new files; these
     then refuse the file as a whole (NETPROF_ERR_VERSION) instead of guessing, or pass over it, as damage, where files
     were put together. Within a format version a writer may add chunks with new tags, facts with new keys, and bytes at
     the end of FACT, SCHM, DIFF, REGN and END chunks: readers skip chunks and trailing bytes that they do not know, and
     pass unknown facts on as they are. New kinds of counters, statuses or flags of deltas need a new format version.

     JSON documents, of netprof_write_json() and of the commands. Each document has "format" and a "version" number.
     Within a version keys are only added; an existing key keeps its meaning, type and unit. Any other change raises the
     number. Ignore keys that you do not know. Lines of .ndjson files have no version of their own: they follow the
     document that is written with them.

     Exit codes of the commands: 0 done, 1 done but worth failing for, 2 wrong usage, 3 a file could not be read or
     written (or memory ran out), 4 nothing to read on this node, 5 done but what matters could not be judged. They are
     fixed, also while MAJOR is 0: a code never changes its meaning, and a new one comes only with a new minor version.
     `netprof run` ends with the exit status of the command that it ran.

     Names, units and widths of counters come from kernels and drivers: nothing is promised about them. */

#ifndef NETPROF_H
#define NETPROF_H

#if defined(NETPROF_IMPLEMENTATION) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

#include <stddef.h>
#include <stdint.h>

#define NETPROF_VERSION_MAJOR  0
#define NETPROF_VERSION_MINOR  1
#define NETPROF_VERSION_PATCH  0
#define NETPROF_VERSION_STRING "0.1.0"

/* What switches imply. */
#if !defined(__linux__) && !defined(NETPROF_NO_SOURCES)
#define NETPROF_NO_SOURCES
#endif
#ifdef NETPROF_REGIONS_ONLY
#ifndef NETPROF_NO_SOURCES
#define NETPROF_NO_SOURCES
#endif
#ifndef NETPROF_NO_READER
#define NETPROF_NO_READER
#endif
#ifndef NETPROF_NO_SERIES
#define NETPROF_NO_SERIES
#endif
#ifndef NETPROF_NO_JSON
#define NETPROF_NO_JSON
#endif
#ifndef NETPROF_NO_PRINT
#define NETPROF_NO_PRINT
#endif
#endif
#if defined(NETPROF_NO_THREADS) && !defined(NETPROF_NO_SERIES)
#define NETPROF_NO_SERIES
#endif

#ifdef NETPROF_STATIC
#define NETPROF_API static __attribute__((unused))
#elif !defined(NETPROF_API)
#define NETPROF_API extern
#endif

/* clang-format off */
#ifdef __cplusplus
#define NETPROF_ZERO {}
extern "C" {
#else
#define NETPROF_ZERO {0}
#endif
/* clang-format on */

/* ---- >>4 types ---- */

/* >>4.1 errors */

typedef enum netprof_err {
    NETPROF_OK = 0,
    NETPROF_ERR_ARG = -1,      /* an argument that makes no sense (NULL, an uninitialised struct) */
    NETPROF_ERR_NOMEM = -2,    /* an allocation failed */
    NETPROF_ERR_IO = -3,       /* a system call failed: see sys_errno and path */
    NETPROF_ERR_PARSE = -4,    /* text that does not follow its format (readers of other formats) */
    NETPROF_ERR_FORMAT = -5,   /* not a .netprof file */
    NETPROF_ERR_VERSION = -6,  /* a .netprof file of a later format version */
    NETPROF_ERR_MISMATCH = -7, /* snapshots of different hosts or boots, or given in the wrong order */
    NETPROF_ERR_LIMIT = -8,    /* more than the limits allow */
    NETPROF_ERR_NOSOURCE = -9, /* nothing to read: no source found a counter */
    /* A file with missing parts (readers of other formats; .netprof has NETPROF_ITEM_DAMAGE). */
    NETPROF_ERR_DAMAGED = -10
} netprof_err;

/* Details of a failure, owned by the caller. Every function that takes one accepts NULL. */
typedef struct netprof_error {
    netprof_err code;
    int sys_errno;   /* 0 if no system call was involved */
    uint64_t offset; /* byte offset in the file, where there is one */
    char source[16]; /* "cxi", "netdev", ...; "" if none */
    char path[256];  /* file or device; "" if none */
    char text[160];  /* what was expected, without the path */
} netprof_error;

/* >>4.2 counters, devices, schemas */

typedef enum netprof_kind {
    NETPROF_KIND_COUNTER = 0,  /* only grows; differences and rates make sense */
    NETPROF_KIND_GAUGE = 1,    /* goes up and down; never differenced */
    NETPROF_KIND_STATE = 2,    /* a code (link state, carrier); never differenced */
    NETPROF_KIND_HISTOGRAM = 3 /* one bucket of a histogram; differenced like a counter */
} netprof_kind;

/* Why a value is present or missing. Only OK and SATURATED carry a value; for all others the value is 0. */
typedef enum netprof_status {
    NETPROF_STATUS_SKIPPED = 0, /* not in the requested set */
    NETPROF_STATUS_OK = 1,
    NETPROF_STATUS_ABSENT = 2, /* the source has no such value here (attribute or column missing) */
    /* The driver says that it cannot provide it ("N/A (no PMA)", EINVAL, ENOSYS, EOPNOTSUPP). */
    NETPROF_STATUS_UNSUPPORTED = 3,
    NETPROF_STATUS_DENIED = 4,   /* EACCES, EPERM */
    NETPROF_STATUS_VANISHED = 5, /* existed at discovery, but no longer (ENOENT, ENODEV, ENXIO) */
    /* The counter sticks at all-ones and has reached that value: the true count may be larger. */
    NETPROF_STATUS_SATURATED = 6,
    NETPROF_STATUS_UNREADABLE = 7 /* any other failure, with its errno; EBADMSG: the text was not a number */
} netprof_status;

/* Flags of a counter. */
#define NETPROF_FAST         0x0001u /* member of the fast set */
#define NETPROF_SIGNED       0x0002u /* the value is an int64_t in two's complement */
#define NETPROF_SATURATES    0x0004u /* sticks at all-ones of its width instead of wrapping */
#define NETPROF_STAMPED      0x0008u /* the device stamps each value with its own time */
#define NETPROF_SLOW_REFRESH 0x0010u /* cached by the driver (rdma hw_counters: fact "lifespan_ms") */

typedef struct netprof_fact {
    const char *key;   /* lower case, with the unit if it holds a quantity: "speed_mbps", "numa_node" */
    const char *value; /* UTF-8 as the kernel gave it: untrusted, escape it before printing */
} netprof_fact;

typedef struct netprof_counter {
    const char *name; /* as the kernel names it; unique within its device (a second one gets "#2") */
    const char *unit; /* "bytes", "packets", "cycles", ...; "" when unknown */
    uint32_t device;  /* index into netprof_schema.devices */
    uint16_t scale;   /* factor that values already include (InfiniBand data words: 4); raw = value / scale */
    uint16_t flags;   /* NETPROF_FAST | ... */
    uint8_t kind;     /* netprof_kind */
    uint8_t width;    /* bits of the raw counter, 0 if unknown: a decrease is then never taken for a wrap */
} netprof_counter;

/* Flags of a device. */
#define NETPROF_DEVICE_PHYSICAL 0x0001u /* a port of the node: totals add up these, and only these */
#define NETPROF_DEVICE_VIRTUAL  0x0002u /* bond, VLAN, bridge, veth, VF, loopback: listed, never added up */

typedef struct netprof_device {
    const char *source; /* "cxi" */
    const char *name;   /* "cxi0", "eth0", "mlx5_0/1" (port 1) or "mlx5_0" (the device itself) */
    uint64_t identity;  /* of links the ifindex, else an inode; 0: unknown. Changes when the device is re-created */
    uint32_t flags;
    uint32_t first, count; /* its counters are schema->counters[first .. first+count) */
    const netprof_fact *facts;
    uint32_t fact_count;
} netprof_device;

/* Result of discovery for one source: a row for each requested source, even one without a device. */
typedef struct netprof_source_state {
    const char *name;
    netprof_status status; /* OK, ABSENT, DENIED, ... */
    int sys_errno;
    const char *path; /* where it looked */
    uint32_t device_count;
} netprof_source_state;

/* Everything that can be read: immutable, shared by snapshots, freed with the last reference. */
typedef struct netprof_schema {
    const netprof_device *devices;
    const netprof_counter *counters;
    const netprof_source_state *sources;
    const netprof_fact *facts; /* of the node: host, boot_id, kernel, machine, netns, root, netprof, ... */
    size_t device_count, counter_count, source_count, fact_count;
} netprof_schema;

/* >>4.3 snapshots and deltas */

/* Which counters to read: all, or the fast set (NETPROF_FAST), which leaves the others SKIPPED. */
typedef enum netprof_set { NETPROF_SET_ALL = 0, NETPROF_SET_FAST = 1 } netprof_set;

/* The values of a schema's counters at one moment. Start from NETPROF_ZERO; reuse it for the next take (no allocation
   while the schema stays the same); call netprof_snapshot_free() at the end. Arrays have counter_count entries except
   the two that say otherwise. */
typedef struct netprof_snapshot {
    const netprof_schema *schema; /* this snapshot holds a reference to it */
    uint64_t *values;             /* in the counter's unit (int64_t bits where NETPROF_SIGNED) */
    uint8_t *status;              /* netprof_status */
    uint8_t *errnos;              /* errno of a status that is not OK, 0 if none */
    int64_t *stamps_ns;           /* NETPROF_STAMPED: CLOCK_REALTIME, set by the device's driver; else 0 */
    int64_t *device_begin_ns;     /* [device_count] CLOCK_MONOTONIC when the reading of this device began ... */
    int64_t *device_end_ns;       /* [device_count] ... and ended; both 0 if it was not read */
    int64_t begin_ns, end_ns;     /* CLOCK_MONOTONIC around the whole sweep */
    int64_t wall_ns;              /* CLOCK_REALTIME at begin_ns, ns since 1970-01-01 UTC */
    /* 0: stamps_ns are exact. A file keeps stamps only as precisely as needed; they are off by at most this much. Each
       time it is written, a snapshot adds at most 65,536 ns and at most 1/8192 of the time since the snapshot before;
       the first 8 of a schema in a file at most 1/8192 of the time that the snapshot took. Everything else is always
       exact. */
    int64_t stamp_error_ns;
    netprof_set set;
    uint32_t not_ok; /* requested counters without a value */
    void *memory;    /* private */
} netprof_snapshot;

typedef enum netprof_flag {
    NETPROF_FLAG_OK = 0,
    NETPROF_FLAG_WRAPPED = 1, /* passed 2^width once; the value is the true difference */
    NETPROF_FLAG_RESET = 2,   /* restarted from 0: the value is what was counted since, a lower bound */
    NETPROF_FLAG_NEW = 3,     /* the first snapshot's schema has no such device or counter; no difference, value 0 */
    NETPROF_FLAG_GONE = 4,    /* the second snapshot's schema has no such device or counter; no difference, value 0 */
    NETPROF_FLAG_GAUGE = 5,   /* gauge or state: before and after, never a difference */
    /* Saturated; or so narrow that it may have passed 2^width once or several times or have restarted, which cannot be
       told apart: the value is a lower bound. */
    NETPROF_FLAG_SUSPECT = 6,
    /* In both schemas, but without a value in at least one snapshot (not in the requested set, or not readable: see the
       statuses). No difference, value 0. */
    NETPROF_FLAG_UNKNOWN = 7
} netprof_flag;

/* Snapshot minus snapshot. Start from NETPROF_ZERO; netprof_delta_free() at the end. */
typedef struct netprof_delta {
    const netprof_schema *schema; /* of the second snapshot, or a joined one if the two differ; referenced */
    uint64_t *before, *after;     /* 0 if not readable: see the statuses */
    uint64_t *values;             /* after - before, by the rule of the flag */
    uint8_t *flags;               /* netprof_flag */
    uint8_t *before_status, *after_status;
    /* Time between the two readings of this counter: by its own stamps, else by the device's times. Steps of
       CLOCK_REALTIME are removed if both snapshots have CLOCK_MONOTONIC and are from the same boot. 0: both have the
       same stamp, within stamp_error_ns; the value was not refreshed in between. */
    int64_t *elapsed_ns;
    int64_t wall_begin_ns, wall_end_ns;
    int64_t interval_ns; /* between the starts of the two sweeps (CLOCK_MONOTONIC within one boot) */
    int64_t sweep_ns;    /* duration of the longer of the two sweeps: how blurred the edges are */
    /* Largest error of an elapsed_ns that was computed from stamps: the sum of the errors of both snapshots. 0:
       exact. */
    int64_t stamp_error_ns;
    void *memory;
    /* [device_count] Which device of the first and of the second snapshot's schema it was, or NETPROF_NONE: before NONE,
       it is new; after NONE, it is gone. Other names in the two: it was renamed; other identities: re-created. NULL in a
       delta that was read from a file. */
    size_t *device_before, *device_after;
} netprof_delta;

/* >>4.4 the context */

typedef struct netprof netprof;

typedef struct netprof_alloc {
    void *(*resize)(void *user, void *pointer, size_t size); /* like realloc; pointer may be NULL */
    void (*release)(void *user, void *pointer);              /* like free; never called with NULL */
    void *user;
} netprof_alloc;

/* A file that is held open is read again with pread (about 0.4 times the cost of opening it each time), but costs 4 KiB
   of kernel memory if it is in sysfs, and one entry of the process's descriptor table. */
typedef enum netprof_hold {
    NETPROF_HOLD_FAST = 0, /* keep the fast set's files open */
    NETPROF_HOLD_NONE = 1,
    NETPROF_HOLD_ALL = 2 /* as many as the budget allows */
} netprof_hold;

/* All zero: the defaults. Strings are copied. */
typedef struct netprof_config {
    const char *root; /* path in front of every file; NULL: NETPROF_ROOT, else "/" */
    /* Comma-separated names of sources; NULL: NETPROF_SOURCES, else all built-in ones; "none": none. */
    const char *sources;
    /* Comma-separated globs on "device/counter", or on the device alone ("cxi*", "mlx5_0/1"). '*' also matches '/';
       "\," is a comma within a name. NULL: everything. */
    const char *include;
    const char *exclude; /* likewise; applied after include */
    const char *fast;    /* likewise: the fast set; NULL: each source's own choice */
    int pid;             /* > 0: use the network namespace of this process, through /proc/PID/net */
    netprof_hold hold;
    /* How many files may be held open. 0: a quarter of the soft limit RLIMIT_NOFILE. Never more than that limit less
       the descriptors already open less 256; the limit is never raised. */
    int max_fds;
    /* Threads of a sweep; each reads one device at a time. 0 or 1: only the calling thread. */
    int threads;
    /* 1: netprof_take() does not look for devices that came or went. */
    int no_rescan;
    /* Copied. What it points to must also outlive the context's schemas. NULL: NETPROF_MALLOC, _REALLOC and _FREE. */
    const netprof_alloc *alloc;
    uint64_t end_zero; /* must be 0: catches a struct that was never initialised */
} netprof_config;

/* >>4.5 your own sources */

typedef struct netprof_list netprof_list; /* collects what a source finds */

/* One sweep over one source. The arrays hold the source's own counters, in the order in which it listed them. */
typedef struct netprof_sweep {
    netprof_set set;
    size_t count;                    /* entries of the arrays */
    const netprof_counter *counters; /* counters[i].flags & NETPROF_FAST: in the fast set */
    uint64_t *values;
    uint8_t *status; /* preset to NETPROF_STATUS_SKIPPED */
    uint8_t *errnos;
    int64_t *stamps_ns;
    int stale; /* set it to 1 if devices came or went: the next take rescans */
} netprof_sweep;

#define NETPROF_SOURCE_WHOLE 0x0001u /* read() is called once for all devices (device = 0), not once for each */

typedef struct netprof_source {
    const char *name;
    unsigned flags;
    /* Lists devices and counters; forgets what an earlier call found. Called at open and at every rescan, never during
       a sweep. An error other than NETPROF_ERR_NOMEM leaves the source without devices. */
    netprof_err (*discover)(void *user, netprof_list *list);
    /* Fills in the values of one device (of all devices with NETPROF_SOURCE_WHOLE). With netprof_config.threads,
       several threads read different devices at the same time. */
    void (*read)(void *user, size_t device, netprof_sweep *sweep);
    /* Returns 1 if devices came or went since discover(). Called at the start of every take; may be NULL. */
    int (*changed)(void *user);
    void (*close)(void *user); /* may be NULL */
} netprof_source;

#define NETPROF_NONE ((size_t)-1)

/* A counter of your own: it appears as device/name of the source "user". */
typedef struct netprof_user_counter {
    const char *device, *name, *unit; /* copied; device NULL means "program" */
    netprof_kind kind;
    int width;                                /* bits, 0 if unknown */
    int (*read)(void *user, uint64_t *value); /* returns 0 or an errno; called during a sweep */
    void *user;
} netprof_user_counter;

/* >>4.6 files */

typedef int (*netprof_write_fn)(void *user, const void *data, size_t size); /* returns 0 or an errno */
/* Reads at most `size` bytes; *got = 0 at the end. Returns 0 or an errno. */
typedef int (*netprof_read_fn)(void *user, void *to, size_t size, size_t *got);
typedef struct netprof_writer netprof_writer;
typedef struct netprof_reader netprof_reader;

/* Bounds for untrusted input; 0: the default. */
typedef struct netprof_limits {
    uint64_t max_counters; /* of one schema; default 4 Mi */
    uint64_t max_devices;  /* of one schema; default 64 Ki */
    /* Bytes that one reader keeps, and bytes of a chunk (its buffer comes on top); default 1 GiB. */
    uint64_t max_memory;
} netprof_limits;

typedef enum netprof_item_type {
    NETPROF_ITEM_END = 0, /* end of the input; `complete`: the writer closed the file properly */
    NETPROF_ITEM_FACT,    /* one fact of the run */
    NETPROF_ITEM_SNAPSHOT,
    NETPROF_ITEM_DELTA,
    NETPROF_ITEM_REGIONS,
    NETPROF_ITEM_DAMAGE, /* bytes that were lost: offset, size, text */
    /* Another file begins, appended to the one before; `complete`: that one was closed properly. What follows is a run
       of its own, with other facts and other schemas. */
    NETPROF_ITEM_FILE,
    NETPROF_ITEM_EVENTS
} netprof_item_type;

/* A column of events: whole numbers (uint64_t bits where a name's meaning needs them), or texts. */
typedef struct netprof_events_column {
    const char *name;         /* lower case, with the unit if it holds a quantity: "begin_ns" */
    const int64_t *numbers;   /* [count]; NULL: texts */
    const char *const *texts; /* [count]; NULL: numbers */
} netprof_events_column;

/* Rows of a table that grows: what happened, one row each, with attributes. Rows of a kind may come in many parts, and
   later versions may add columns: find them by their names. */
typedef struct netprof_events {
    const char *kind; /* "nccl.coll" */
    const netprof_events_column *columns;
    size_t column_count, count;
} netprof_events;

#define NETPROF_EVENTS_MAX (1 << 20) /* rows of one part */

/* One item read; valid until the next call. To keep a snapshot, copy it with netprof_snapshot_copy(). */
typedef struct netprof_item {
    netprof_item_type type;
    uint64_t offset, size; /* of the chunk, in bytes */
    uint64_t needs;        /* SNAPSHOT: offset of the first chunk that it builds on; 0: unknown */
    const netprof_fact *fact;
    const netprof_snapshot *snapshot; /* NULL: it was passed over */
    const netprof_delta *delta;
    const struct netprof_regions *regions;
    const char *text;             /* DAMAGE: what was lost, in words */
    int complete;                 /* END, FILE */
    const netprof_schema *schema; /* SNAPSHOT: its schema, also if it was passed over */
    const netprof_events *events;
} netprof_item;

/* ---- >>5 functions ----
   Thread rules, at the end of each comment. "any": any thread at any time. "context": one thread at a time per context;
   different contexts are independent. "object": one thread at a time for each object that is passed to be changed
   (snapshot, delta, writer, reader, list); reading such objects, and schemas, needs no care.
   Functions that return netprof_err return NETPROF_OK or fill in *error; `error` may be NULL everywhere. After a
   failure the results are NULL or unchanged. free, close and release accept NULL and zeroed structs. */

/* >>5.1 version and names of codes */

NETPROF_API const char *netprof_version(void);              /* any; "0.1.0" */
NETPROF_API const char *netprof_strerror(netprof_err code); /* any; static text */
#ifndef NETPROF_REGIONS_ONLY
NETPROF_API const char *netprof_status_name(netprof_status s); /* any; "ok", "absent", ... */
NETPROF_API const char *netprof_kind_name(netprof_kind k);     /* any; "counter", "gauge", "state", "histogram" */
NETPROF_API const char *netprof_flag_name(netprof_flag f);     /* any; "ok", "wrapped", "reset", ... */
#endif

#ifndef NETPROF_REGIONS_ONLY
/* >>5.2 opening a context; its schema */

/* Finds every source, device and counter. A source that is absent or denied is not an error; its row in schema->sources
   says so. NETPROF_ERR_NOSOURCE if nothing at all was found: the context is open all the same, for sources and counters
   of your own, and must be closed. After any other error *out is NULL: _ARG (no such source, or a configuration that
   was never initialised), _NOMEM. config NULL: the defaults; it may be freed after the call. any. */
NETPROF_API netprof_err netprof_open(netprof **out, const netprof_config *config, netprof_error *error);
/* Closes all files. Snapshots, deltas and retained schemas stay valid. context. */
NETPROF_API void netprof_close(netprof *np);

/* The schema that is read now. Borrowed: any function of this context except close may replace it; retain it to keep
   it. context. */
NETPROF_API const netprof_schema *netprof_get_schema(const netprof *np);
NETPROF_API void netprof_schema_retain(const netprof_schema *schema); /* any */
/* any; call it once for every retain, and once for every schema that a function handed over to you */
NETPROF_API void netprof_schema_release(const netprof_schema *schema);

/* Index of a counter in schema->counters and in the arrays of its snapshots and deltas, or NETPROF_NONE. source NULL:
   the first device of that name that has the counter. A linear search: keep the index as long as the schema stays the
   same. any. */
NETPROF_API size_t netprof_find(const netprof_schema *schema, const char *source, const char *device,
                                const char *counter);
/* Value of a fact, or NULL; valid as long as the facts. any. */
NETPROF_API const char *netprof_fact_of(const netprof_fact *facts, size_t count, const char *key);

/* Looks for devices that came or went; the schema changes only if something did. netprof_take() does this by itself
   unless netprof_config.no_rescan is set. context. */
NETPROF_API netprof_err netprof_rescan(netprof *np, netprof_error *error);

/* >>5.3 sources, counters and sockets of your own */

/* Adds a source. Its discover() is called at once and at every rescan, its read() and changed() at every take, its
   close() with the context; `user` is passed to each. The struct is copied, its strings are not. If this fails, close()
   is not called. context. */
NETPROF_API netprof_err netprof_add_source(netprof *np, const netprof_source *source, void *user, netprof_error *error);
/* Adds a counter of your own; the schema changes. If the device already has the name, "#2" is appended. context. */
NETPROF_API netprof_err netprof_add_counter(netprof *np, const netprof_user_counter *counter, netprof_error *error);
#ifndef NETPROF_NO_SOURCES
/* Adds TCP_INFO of a connected socket (getsockopt(2), IPPROTO_TCP) as device "tcp/NAME"; the socket stays yours. Remove
   it before you close it: a reused descriptor would be read as if it were the old one. context. */
NETPROF_API netprof_err netprof_add_socket(netprof *np, int fd, const char *name, netprof_error *error);
NETPROF_API netprof_err netprof_remove_socket(netprof *np, int fd, netprof_error *error);
#endif

/* For a source's discover(), during which alone the list exists: devices, each followed by its facts and counters. The
   list remembers failed allocations, and the library reports them. object.

   Adds a device. Returns its number, the `device` of netprof_source.read, or NETPROF_NONE if out of memory. */
NETPROF_API size_t netprof_list_device(netprof_list *list, const char *name, uint64_t identity, unsigned flags);
NETPROF_API void netprof_list_fact(netprof_list *list, const char *key, const char *value); /* of the last device */
/* Adds a counter to the last device. Only name, unit, scale, flags, kind and width are used (unit NULL: ""). Returns
   its index in the sweep's arrays, or NETPROF_NONE if a filter dropped it: then do not read it. */
NETPROF_API size_t netprof_list_counter(netprof_list *list, const netprof_counter *counter);
/* Sets the source's row in schema->sources. Without this call: OK with devices, ABSENT without. */
NETPROF_API void netprof_list_state(netprof_list *list, netprof_status status, int sys_errno, const char *path);
NETPROF_API const char *netprof_list_root(const netprof_list *list); /* "" or the root without a final '/' */
NETPROF_API netprof_status netprof_status_of_errno(int sys_errno);   /* any; as the built-in sources map it */

/* >>5.4 taking and comparing snapshots */

/* Reads the set into *snapshot, replacing its contents. A value that cannot be read has a status; the call itself fails
   only for lack of memory or for bad arguments. If devices came or went it rescans first, so snapshot->schema may
   differ from the last one. Cost: about 0.5 us per sysfs file that is held open, 2 us per file that is opened each
   time. context. */
NETPROF_API netprof_err netprof_take(netprof *np, netprof_snapshot *snapshot, netprof_set set, netprof_error *error);
/* Replaces the contents of *to; both share the schema. object. */
NETPROF_API netprof_err netprof_snapshot_copy(netprof_snapshot *to, const netprof_snapshot *from, netprof_error *error);
NETPROF_API void netprof_snapshot_free(netprof_snapshot *snapshot); /* object; sets it to NETPROF_ZERO */

/* Options of netprof_diff; NULL: all zero. */
typedef struct netprof_diff_options {
    int force;         /* 1: compare also across hosts and boots, and backwards */
    uint64_t end_zero; /* must be 0, as in netprof_config */
} netprof_diff_options;

/* after - before, matched by device and counter; replaces *delta. NETPROF_ERR_MISMATCH, unless forced, if the host or
   boot_id facts differ or if `after` was taken before `before` (by CLOCK_MONOTONIC within one boot, which steps of the
   wall clock do not touch; by the wall clock only if one of them has nothing else).

   A device is the same in both, whatever its name, if it is of the same source and
     - has the same address on its bus (fact "pci", of ethtool "bus") and is the same port there ("mlx5_0/1" is port 1;
       fact "port_name"); or, where one of the two has no address, the same fact "node_guid" and port;
     - or is a link (of netdev or ethtool) without an address and has the same ifindex, in the same boot and network
       namespace.
   With another address or node_guid it is another device even under the same name. What has no such mark in one of the
   two, or is on another host, goes by its name; a link is even then another device if its old namesake lives on under
   another name, or if it was made anew as one of another sort (fact "kind"). Of several with the same address ifindex,
   fact "mac" and name decide, in this order.

   Where the two have other devices, delta->schema joins them: source by source those of `after` under their names there,
   then those that are gone. A name that meanwhile belongs to another device occurs twice, NEW and GONE: no difference is
   formed between two devices. A device that was re-created (another identity) counts from 0 again: its counters are
   RESET. A decrease of a counter wider than 32 bits is a wrap if it passed zero from the upper half of its range. A
   decrease of a narrower one is a wrap if it can have counted that much in the time: bytes and packets of a physical
   device by its line rate, all others if it came from the last sixteenth of the range. object. */
NETPROF_API netprof_err netprof_diff(const netprof_snapshot *before, const netprof_snapshot *after,
                                     const netprof_diff_options *options, netprof_delta *delta, netprof_error *error);
NETPROF_API void netprof_delta_free(netprof_delta *delta); /* object; sets it to NETPROF_ZERO */
/* The rules above for one counter, without time and line rate: uses its kind, width and flags, sets *value. any. */
NETPROF_API netprof_flag netprof_difference(const netprof_counter *counter, uint64_t before, uint64_t after,
                                            uint64_t *value);

#endif /* NETPROF_REGIONS_ONLY */

/* >>5.5 writing .netprof files */

/* A writer of .netprof files.

   To a path: the file appears under its name only at netprof_writer_close() (temporary name in the same directory,
   fsync, rename). live = 1: it appears at once and grows chunk by chunk, each in a single write, so that a kill at any
   instant costs at most the chunk being written. To a function: it gets the file's bytes in order, and no more once it
   returned an errno.

   A symbolic link stays, and its target is replaced, with the mode that it had; the superuser uses no link of another
   user. Devices and pipes are written in place; a named pipe that nobody reads within a second is an error. A file-size
   limit and a reader that goes away are errors of the call: their signals (SIGXFSZ, SIGPIPE) do not reach the program.

   The first failure sticks: every later call returns it. The writer holds references to the schemas that it wrote, not
   to the snapshots. Errors: _IO, _NOMEM, _LIMIT (a chunk over 4 GiB), _ARG. object. */
NETPROF_API netprof_err netprof_writer_open(netprof_writer **out, const char *path, int live, netprof_error *error);
#ifndef NETPROF_REGIONS_ONLY
NETPROF_API netprof_err netprof_writer_open_fn(netprof_writer **out, netprof_write_fn write, void *user,
                                               netprof_error *error);
#endif
NETPROF_API netprof_err netprof_write_fact(netprof_writer *writer, const char *key, const char *value,
                                           netprof_error *error);
#ifndef NETPROF_REGIONS_ONLY
NETPROF_API netprof_err netprof_write_snapshot(netprof_writer *writer, const netprof_snapshot *snapshot,
                                               netprof_error *error);
NETPROF_API netprof_err netprof_write_delta(netprof_writer *writer, const netprof_delta *delta, netprof_error *error);
/* Writes a part of a table of events. NETPROF_ERR_LIMIT: more than NETPROF_EVENTS_MAX rows, or 255 columns.
   NETPROF_ERR_ARG: a column without a name, or without as many numbers or texts as there are rows. */
NETPROF_API netprof_err netprof_write_events(netprof_writer *writer, const netprof_events *events,
                                             netprof_error *error);
#endif
/* Ends the file and gives it its name; keep = 0 discards it. Frees the writer in any case. */
NETPROF_API netprof_err netprof_writer_close(netprof_writer *writer, int keep, netprof_error *error);
#ifndef NETPROF_REGIONS_ONLY
/* The common case in one call: writes n snapshots, atomically. any. */
NETPROF_API netprof_err netprof_save_file(const char *path, const netprof_snapshot *snapshots, size_t count,
                                          netprof_error *error);
#endif

/* >>5.6 reading .netprof files */

#ifndef NETPROF_NO_READER
/* A reader of .netprof files: from a path, a function, or memory that must outlive it. limits NULL: the defaults. It
   reads a file of any size piece by piece and holds only what the current chunk needs. Opening fails if there is no
   .netprof header (_FORMAT), if the format version is later than this reader's (_VERSION), and with _IO or _NOMEM.
   object. */
NETPROF_API netprof_err netprof_reader_open(netprof_reader **out, const char *path, const netprof_limits *limits,
                                            netprof_error *error);
NETPROF_API netprof_err netprof_reader_open_fn(netprof_reader **out, netprof_read_fn read, void *user,
                                               const netprof_limits *limits, netprof_error *error);
NETPROF_API netprof_err netprof_reader_open_memory(netprof_reader **out, const void *data, size_t size,
                                                   const netprof_limits *limits, netprof_error *error);
/* Reads the next item; at the end, NETPROF_ITEM_END at every call. Damage is an item, too, and everything intact after
   it is delivered. _NOMEM: calling again tries again; _IO is permanent. object. */
NETPROF_API netprof_err netprof_reader_next(netprof_reader *reader, netprof_item *item, netprof_error *error);
/* From now on, passes over the snapshots before an offset (0: none) and over those that build on them: their checksums
   and links are still checked, but they are not decoded, which is nearly all of the work. To read the last of many
   snapshots, pass over all (UINT64_MAX) to learn its `needs`, then read again with another reader that passes over
   those before that offset. Snapshots of format version 1 are never passed over. object. */
NETPROF_API void netprof_reader_pass(netprof_reader *reader, uint64_t until);
NETPROF_API void netprof_reader_close(netprof_reader *reader);
#endif

/* >>5.7 JSON */

#ifndef NETPROF_NO_JSON
/* Facts, snapshots and deltas as JSON; section 11 describes the document. any. */
typedef struct netprof_json {
    const netprof_fact *facts;
    size_t fact_count;
    const netprof_snapshot *snapshots;
    size_t snapshot_count;
    const netprof_delta *deltas;
    size_t delta_count;
    int u64_strings; /* 1: values as strings, for readers that keep numbers as doubles */
} netprof_json;
NETPROF_API netprof_err netprof_write_json(const netprof_json *what, netprof_write_fn write, void *user,
                                           netprof_error *error);
#endif

/* >>5.8 building a schema by hand, for readers of other formats */

#ifndef NETPROF_REGIONS_ONLY
/* For readers of other formats: builds a schema by hand, as a source does, with netprof_list_device() and its
   relatives. netprof_build_begin() returns NULL if out of memory. netprof_build_end() frees the list in any case; it
   returns the schema with one reference (release it), or fails with the first error since netprof_build_begin().
   object. */
NETPROF_API netprof_list *netprof_build_begin(netprof_error *error);
NETPROF_API void netprof_build_source(netprof_list *list, const char *name); /* the following devices belong to it */
NETPROF_API void netprof_build_fact(netprof_list *list, const char *key, const char *value); /* of the node */
NETPROF_API netprof_err netprof_build_end(netprof_list *list, const netprof_schema **out, netprof_error *error);
/* Makes an empty snapshot of a schema, all SKIPPED, for a reader to fill in; replaces its contents. object. */
NETPROF_API netprof_err netprof_snapshot_make(netprof_snapshot *snapshot, const netprof_schema *schema,
                                              netprof_error *error);

/* >>5.9 totals, one counter's change, a meter */

/* What passed the ports of the node between two snapshots: the devices that are NETPROF_DEVICE_PHYSICAL. A port that two
   sources count is taken once: a Cassini NIC with its network interface, a link with its ethtool statistics, an
   InfiniBand port with the IP over it. */
typedef struct netprof_total {
    uint64_t rx_bytes, tx_bytes, rx_packets, tx_packets; /* as the devices count: headers of the link included */
    /* Sums of the rates of the devices, each over the time between its own readings. */
    double rx_bytes_per_s, tx_bytes_per_s, rx_packets_per_s, tx_packets_per_s;
    uint64_t errors; /* frames that arrived damaged or were dropped at these ports: 0 also where nothing counts them */
    double seconds;  /* between the starts of the two sweeps */
    size_t devices;  /* that were added up; 0: there is none that counts traffic, and the sums mean nothing */
    size_t unknown;  /* devices with traffic counters of which one was not read twice: it is not in its sum */
    int lower_bound; /* 1: a sum may be too small, since one is unknown, was reset or saturated */
} netprof_total;

/* devices NULL: the ports of the node; else comma-separated globs on the names of devices, virtual ones included ("lo",
   "eth*,cxi0"). any. */
NETPROF_API netprof_total netprof_totals(const netprof_delta *delta, const char *devices);

/* How one counter changed. */
typedef struct netprof_change {
    size_t counter;    /* index into the delta's arrays; NETPROF_NONE: there is no such counter */
    netprof_flag flag; /* OK, WRAPPED: exact; RESET, SUSPECT: a lower bound; GAUGE: the last value; else no value */
    uint64_t value;    /* int64_t bits where the counter is NETPROF_SIGNED */
    double seconds;    /* between its two readings */
    double per_s;      /* 0 where no time is known, and for gauges */
} netprof_change;

/* Finds a counter by name, as netprof_find() does. any. */
NETPROF_API netprof_change netprof_change_of(const netprof_delta *delta, const char *device, const char *counter);

/* Two snapshots and their difference, for who wants one number:

       netprof_meter m = NETPROF_ZERO;
       netprof_meter_start(&m, NETPROF_SET_FAST, NULL);
       exchange();
       if (netprof_meter_stop(&m, NULL) == NETPROF_OK) netprof_print(2, &m.delta, NULL);
       netprof_meter_free(&m);

   The members may be used and changed (sources of your own: open `np` before the start). */
typedef struct netprof_meter {
    netprof *np;                   /* opened at the first start, with the defaults */
    netprof_snapshot snapshots[2]; /* of the start and of the stop */
    netprof_delta delta;
} netprof_meter;

/* Takes the first snapshot. May be called again, after a stop or without one. Errors as of netprof_open() and
   netprof_take(). object. */
NETPROF_API netprof_err netprof_meter_start(netprof_meter *meter, netprof_set set, netprof_error *error);
/* Takes the second snapshot and forms meter->delta; may be called again, for a longer interval. Errors as of
   netprof_take() and netprof_diff(); NETPROF_ERR_ARG without a start. object. */
NETPROF_API netprof_err netprof_meter_stop(netprof_meter *meter, netprof_error *error);
NETPROF_API void netprof_meter_free(netprof_meter *meter); /* object; sets it to NETPROF_ZERO */

#endif /* NETPROF_REGIONS_ONLY */

/* >>5.10 text for people; a benchmark over sizes of messages */

#ifndef NETPROF_NO_PRINT

/* Writes tables of at most 100 columns, made for reading: they may change with every version. delta: a row for each
   device that moved something, their sum, errors, and what could not be read; NULL: none. regions: a row for each path
   of regions, summed over threads; NULL: none. With NETPROF_PRINT=1 in the environment, a program that uses regions
   prints both on standard error at exit. Names are shown without control characters. any. */
NETPROF_API netprof_err netprof_print_to(netprof_write_fn write, void *user, const netprof_delta *delta,
                                         const struct netprof_regions *regions, netprof_error *error);
/* The same to a descriptor (1: standard output; flush stdio's buffers before), errors ignored. any. */
NETPROF_API void netprof_print(int fd, const netprof_delta *delta, const struct netprof_regions *regions);

/* A benchmark: calls a function for messages of growing size, each size until its median is steady. */
typedef struct netprof_bench {
    int (*run)(void *user, size_t size); /* moves messages of that size; anything but 0, an errno, ends the benchmark */
    void *user;
    size_t from, to;   /* sizes in bytes, each twice the one before; 0: from 1, to 4194304 */
    unsigned messages; /* how many messages one call moves (a window); 0: 1 */
    unsigned warmup;   /* calls of each size that are not counted; 0: 10 */
    double steady;     /* done when the median is known this well: 95 % interval, half its width over it; 0: 0.01 */
    double seconds;    /* for each size, about: done even if not steady; 0: 1 */
    /* For several processes that must call equally often: gets whether this one wants more calls, returns whether any
       does (MPI_Allreduce with MPI_LOR). NULL: each for itself. */
    int (*agree)(void *user, int more);
    const char *devices; /* whose bytes are counted, as for netprof_totals() */
    uint64_t end_zero;   /* must be 0, as in netprof_config */
} netprof_bench;

typedef struct netprof_bench_row {
    size_t size;
    uint64_t calls;                      /* that were timed, one by one; at most 65,536 */
    double median_ns, least_ns, most_ns; /* of one call */
    double lower_ns, upper_ns;           /* a quarter of the calls took less than lower, a quarter more than upper */
    int steady;                          /* 0: the time was over before the median was known well enough */
    double bytes_per_s;                  /* size times messages over the median */
    netprof_total nic;                   /* of all timed calls together, other programs' traffic included */
} netprof_bench_row;

/* Fills in at most *count rows and sets *count to their number, also after a failure: _LIMIT (more sizes than rows),
   _IO (the function's errno), _NOMEM, _ARG. Devices that cannot be read are no error: nic.devices is 0. The environment
   chooses sources and devices as for netprof_open(). any. */
NETPROF_API netprof_err netprof_bench_run(const netprof_bench *bench, netprof_bench_row *rows, size_t *count,
                                          netprof_error *error);
/* A line for each row. Errors ignored. any. */
NETPROF_API void netprof_print_bench(int fd, const netprof_bench_row *rows, size_t count);

#endif

/* ---- >>6 regions ----
   A region is a named stretch of code. Around it, in any thread:

       NETPROF_BEGIN("halo"); exchange(); NETPROF_BYTES(n); NETPROF_END("halo");
       { NETPROF_SCOPE("halo"); exchange(); }                (to the end of the block; C++, or C with gcc and clang)
       for (i = 0; i < n; i++) { NETPROF_ITERATION("step", i); NETPROF_VALUE("size", m); step(); }

   The name is a string constant. For names that are known only at run time, and for other languages, netprof_region()
   returns an id for netprof_begin() and netprof_end(). Use a span for work that goes on beside, that ends in another
   thread than it began in, or in an order that does not nest:

       netprof_span s = netprof_span_begin(id); MPI_Isend(...); compute(); netprof_span_wait(&s); MPI_Wait(...);
       netprof_span_bytes(&s, n); netprof_span_end(s);

   Threads that work for a region of another one say so, or their regions are at the top level:

       netprof_place here = netprof_here();
       #pragma omp parallel
       { NETPROF_ADOPT(here); ... }

   Statistics per thread, region and parent region: calls, time inside (inclusive and exclusive), shortest, longest,
   variance, a histogram, bytes, values. After the first use of a region in a thread there is no lock, no system call and no
   allocation; only the mode fast makes system calls, as few as the devices' counters need. If any region was used, the
   process writes one file, atomically: netprof-JOB-RANK-HOST-PID.netprof (without a job or a rank if it has none).
   `netprof regions` joins the files of a run.

   Modes (NETPROF in the environment, or netprof_set_mode()):
     off      one load and a branch per call
     time     times and bytes
     fast     also the fast set of counters, read at both edges of each call: exact, but each reading costs microseconds
              (5 with 4 links; more with every NIC). It is in no region's time: clocks of open regions stand still. The
              kernel's TCP, UDP and IP statistics, text that costs 90 us more, are read only if NETPROF_SOURCES or
              NETPROF_INCLUDE is set
     sampler  also the fast set, as a thread last read it: costs nanoseconds, and is at most NETPROF_INTERVAL old if
              that thread gets to run. A call without a reading between its edges is too_short: its counters are unknown

   Device counters belong to the device: a region's counters are the device's traffic while the region was open,
   including that of other threads, ranks and programs. How many regions overlapped is kept with them
   (netprof_stat.concurrency).

   Over time (NETPROF_SERIES): at fixed points in time a thread samples what each region has counted so far, calls that
   are still open included up to that moment. It appends the samples to netprof-JOB-RANK-HOST-PID.series.netprof, as
   snapshots with one device of source "region" for each path of regions, summed over threads: calls, bytes, time
   (inclusive) and own_time (exclusive). They never decrease, not even after a reset. Even kill -9 loses no sample that
   was taken. The regions themselves cost no more.

   Ends: exit(), quick_exit() and the return from main() write the file, and write it again if static destructors or
   other threads used regions since. exec, _exit(), abort() and signals lose what came after the last write, a
   minute or so of a long run (NETPROF_FLUSH). Those writes are made by a thread that lives only as
   long as they take, and which a region that ends starts; the region waits for the start of the thread, not for the
   disk. The file says whether the process ended or still ran when it was written. A file that cannot be written is said
   once on standard error, with the reason. When a thread ends, its open regions end (aborted). A child of fork() starts
   at zero with the regions that its thread had open, and leaves a file of its own once it uses a region.

   A process has one set of regions, even if it contains several copies of the implementation (NETPROF_STATIC in some
   files, libraries with hidden symbols): the first copy to begin a region keeps the set, the others forward their calls
   to it. A copy of another version has no regions. A shared object that has used a region stays loaded, whoever closes
   it. */

/* >>6.1 types */

typedef uint32_t netprof_region_id; /* 0 = none */

typedef enum netprof_mode {
    NETPROF_MODE_OFF = 1,
    NETPROF_MODE_TIME = 2,
    NETPROF_MODE_FAST = 3,
    NETPROF_MODE_SAMPLER = 4
} netprof_mode;

#define NETPROF_HISTOGRAM_BUCKETS 496 /* 8 buckets per power of two of ns: an error of at most 12.5 % */

/* Statistics of one region under one parent, in one thread. Times in ns. */
typedef struct netprof_stat {
    uint32_t thread;       /* numbered from 0 in the order of first use */
    uint32_t node, parent; /* index within this thread's stats; parent UINT32_MAX: top level */
    const char *region;
    uint64_t calls; /* all calls; `measured` of them were timed (NETPROF_EVERY) */
    uint64_t measured;
    /* Begun but not yet ended; in no other figure. In a file they are in all figures, as if they ended at its writing. */
    uint64_t open;
    uint64_t spans; /* calls that began as a netprof_span, perhaps in another thread: all or none of a stat's */
    /* Sum over the measured calls, including the inner ones of a recursion: mean = total / measured. */
    uint64_t total_ns;
    /* Inclusive: a region directly inside itself is not counted twice; inside another region inside itself it is a
       separate node, and a sum by name takes only the outer one. Exclusive: without the regions inside. */
    uint64_t inclusive_ns, exclusive_ns;
    uint64_t min_ns, max_ns;
    double variance_ns2; /* of the durations of single calls */
    uint64_t bytes;      /* by NETPROF_BYTES() */
    uint64_t aborted;    /* calls that were ended by the end of an outer region or of the thread, or by mode off */
    uint64_t too_short;  /* calls with unknown counters: no sample between their edges, or the reading failed */
    uint64_t counted;    /* calls whose counters are in counter_sums */
    /* Sum over the counted calls: regions with counters that were open in the process when the call ended. */
    uint64_t concurrency;
    /* Of the spans: for which the program said when it began to wait (netprof_span_wait), and how long it waited. The rest
       of their time overlapped with something else. */
    uint64_t waits, waited_ns;
    const uint64_t *histogram;    /* [NETPROF_HISTOGRAM_BUCKETS]; see netprof_histogram_floor_ns() */
    const uint64_t *counter_sums; /* [netprof_regions.counter_count]; NULL without counters */
} netprof_stat;

#define NETPROF_VALUE_BUCKETS 64 /* 0: below 1; k: from 2^(k-1) to below 2^k */

/* One value that the program gave (netprof_value) in the calls of one stat. */
typedef struct netprof_value_stat {
    size_t stat; /* index in netprof_regions.stats */
    const char *name;
    uint64_t count; /* how often it was given */
    int64_t sum, least, most;
    int64_t at_longest;                /* in the longest call that had it ... */
    uint64_t longest_ns;               /* ... which took so long */
    const uint64_t *counts, *times_ns; /* [NETPROF_VALUE_BUCKETS]; times: of the calls that had it, by its last value */
} netprof_value_stat;

/* A copy of all statistics, taken or read from a file. It is valid until netprof_regions_free() or, as a reader's item,
   until the reader's next call. */
typedef struct netprof_regions {
    netprof_stat *stats; /* thread by thread */
    size_t count;
    const netprof_schema *schema; /* of the counters; NULL without counters */
    const uint32_t *counters;     /* indices into the schema */
    size_t counter_count;
    netprof_mode mode;
    int64_t wall_ns, elapsed_ns; /* when the first region began, and the time since then */
    uint64_t threads;
    uint64_t mismatched; /* ends that were not of the innermost open region */
    /* Begins deeper than NETPROF_MAX_DEPTH, beyond NETPROF_MAX_REGIONS or without memory, and calls in a signal handler
       that interrupted another call. */
    uint64_t dropped;
    uint64_t overhead_ps; /* measured cost of an empty begin/end pair, in picoseconds; never subtracted */
    int64_t sweep_ns;     /* how long one reading of the counters takes */
    int64_t interval_ns;  /* sampler: time between readings */
    uint64_t readings;    /* of the counters, since the start or the last reset ... */
    /* ... and how long they took. Mode fast: of all threads; they are in no region's time. Sampler: the processor time of
       its thread. */
    uint64_t reading_ns;
    const char *clock; /* "tsc" or "clock_gettime" */
    /* "", or the first of: a setting that was not understood, counters that failed, a mismatch with both names. */
    const char *warning;
    void *memory;
    netprof_value_stat *values; /* in the order of the stats */
    size_t value_count;
    void *values_memory;
} netprof_regions;

/* A place in the tree of regions: an open region or a span, of whatever thread. It stays valid. */
typedef struct netprof_place {
    const void *node; /* private; NULL: the top level */
} netprof_place;

/* Work that overlaps with what its thread does meanwhile: a message on its way, a request, a coroutine. Another thread
   may end it, and spans may end in any order. Copy it freely, but end it once. Its parent is the region that was open
   where it began; its time is not part of that region's. In modes fast and sampler its counters are what the devices
   counted while it was open, whatever for: of spans that overlap each counts all of it. NETPROF_EVERY does not apply. It
   appears in no statistics until it ends. All members are private. */
typedef struct netprof_span {
    netprof_region_id region;
    uint32_t sample;
    uint64_t begin_ticks, wait_ticks, suspend_ticks, bytes;
    netprof_place place;
} netprof_span;

/* One per call site; the macros create it. */
typedef struct netprof_site {
    const char *name;
    netprof_region_id region;
    unsigned line;
    const char *file;
} netprof_site;

/* >>6.2 functions */

#if !defined(NETPROF_DISABLE) || defined(NETPROF_IMPLEMENTATION) /* otherwise 6.5 */

/* Region calls never fail and never print: errors are counted. Thread rule "hot": any thread, no lock; also in a signal
   handler if the thread used the region in the same place before (a first use allocates). Calls in a handler that
   interrupted one of these calls are dropped and counted. "any": any thread, takes a lock; in a handler that
   interrupted the holder of that lock it does nothing, or fails with NETPROF_ERR_ARG. */

/* The id of a name, the same for the life of the process. The text is copied. 0, which begins nothing, if name is NULL,
   if there are NETPROF_MAX_REGIONS names already, or if out of memory. any; hot for a known name. */
NETPROF_API netprof_region_id netprof_region(const char *name);
/* Begins a call; the region that is open in the thread becomes its parent. hot. */
NETPROF_API void netprof_begin(netprof_region_id region);
/* Ends the innermost open call of the region in this thread, and everything open inside it (aborted). If none is open,
   nothing ends. Both cases are counted as mismatched, unless the region was the innermost one. hot. */
NETPROF_API void netprof_end(netprof_region_id region);
NETPROF_API netprof_span netprof_span_begin(netprof_region_id region); /* below the innermost open region. hot */
NETPROF_API netprof_span netprof_span_begin_at(netprof_region_id region, netprof_place place); /* hot */
NETPROF_API void netprof_span_bytes(netprof_span *span, uint64_t bytes);                       /* that it moves. hot */
/* From here on the program waits for the span: MPI_Wait comes next. What was before, it overlapped. hot. */
NETPROF_API void netprof_span_wait(netprof_span *span);
/* Between these two the span's clock stands still: a fiber or coroutine that gives up its thread. hot. */
NETPROF_API void netprof_span_suspend(netprof_span *span);
NETPROF_API void netprof_span_resume(netprof_span *span);
NETPROF_API void netprof_span_end(netprof_span span); /* hot; any thread */
/* The innermost open region of this thread; the top level without one. hot. */
NETPROF_API netprof_place netprof_here(void);
/* Inside a span, as the parent of other spans: fibers and coroutines, which may change threads between a begin and its
   end, nest their regions so. hot; the first use allocates. */
NETPROF_API netprof_place netprof_span_place(const netprof_span *span);
/* From here to the next netprof_adopt_end() this thread works for that place: its regions are below it, and its time is
   part of the time there. For the workers of a parallel region; where the place is open in this thread, it changes nothing.
   hot; the first use allocates. */
NETPROF_API void netprof_adopt(netprof_place place);
NETPROF_API void netprof_adopt_end(void); /* Ends regions that are still open inside (aborted). hot. */
/* Gives the innermost open region of this thread a value: the size of a message, the peer, the number of an iteration.
   name is an id of netprof_region(). Counts, sum, least, most, a histogram by powers of two, and the time of the calls by
   the value; a value that is given again in one call counts again, and the call's time is the last one's. hot. */
NETPROF_API void netprof_value(netprof_region_id name, int64_t value);
/* Adds bytes that the program moved to the innermost open region of this thread; without one they are ignored. hot. */
NETPROF_API void netprof_bytes(uint64_t bytes);
/* Measures only every n-th call of the region from now on; 0 and 1: every call. any, no lock. */
NETPROF_API void netprof_region_every(netprof_region_id region, unsigned n);
/* Changes the mode of all threads. OFF: open calls end without a time. FAST and SAMPLER: only before the first region
   of the process, or to return to them; otherwise the mode becomes TIME. Before the first region it takes precedence
   over NETPROF in the environment. any. */
NETPROF_API void netprof_set_mode(netprof_mode mode);
/* The settings of the environment, by call; the call takes precedence. All but the output only before the first region
   of the process is used: NETPROF_ERR_ARG later. pattern: as NETPROF_OUTPUT; a file that was written under another name
   is removed when the next one is there. Seconds: as NETPROF_INTERVAL, NETPROF_FLUSH, NETPROF_SERIES. any. */
NETPROF_API netprof_err netprof_set_output(const char *pattern, netprof_error *error);
NETPROF_API netprof_err netprof_set_flush(double seconds, netprof_error *error);
#ifndef NETPROF_NO_SOURCES
NETPROF_API netprof_err netprof_set_interval(double seconds, netprof_error *error);
#endif
#ifndef NETPROF_NO_SERIES
NETPROF_API netprof_err netprof_set_series(double seconds, netprof_error *error);
#endif
NETPROF_API void netprof_set_rank(int rank, int size); /* rank of this process, and number of ranks; -1: unknown. any */
/* Writes the file now, with all statistics since the start or the last reset; replaces the previous one. Regions may
   continue meanwhile. NETPROF_ERR_IO with path and errno, NETPROF_ERR_NOMEM. any. */
NETPROF_API netprof_err netprof_flush(netprof_error *error);
/* Sets all statistics to zero; names and ids stay. Open calls start again from now. any. */
NETPROF_API void netprof_regions_reset(void);
/* Copies all statistics into *out, ignoring what it held (free that first). Regions may continue meanwhile: each stat
   is consistent in itself, but not with the others. On failure (NETPROF_ERR_NOMEM) *out is empty. any. */
NETPROF_API netprof_err netprof_regions_take(netprof_regions *out, netprof_error *error);

NETPROF_API void netprof__enter(netprof_site *site);
NETPROF_API void netprof__leave(netprof_site *site);
NETPROF_API void netprof__value(netprof_site *site, int64_t value);
#ifdef NETPROF_STATIC
static int netprof__mode_now __attribute__((unused)) = 0;
#else
extern int netprof__mode_now; /* netprof_mode; 0 before the first call */
#endif

#endif

/* >>6.3 macros: NETPROF_BEGIN, NETPROF_END, NETPROF_SCOPE, NETPROF_BYTES

   Names are string literals, since a call site keeps its region: any other name does not compile. The macros that end
   in _DYNAMIC take any text, which is copied and looked up at each call (some 40 ns). NETPROF_SCOPE_ID takes an id of
   netprof_region(); what it begins ends with the block, as with NETPROF_SCOPE. */

#ifdef NETPROF_DISABLE
#define NETPROF_BEGIN(name)         ((void)0)
#define NETPROF_END(name)           ((void)0)
#define NETPROF_BYTES(n)            ((void)sizeof(n))
#define NETPROF_VALUE(name, value)  ((void)sizeof(value))
#define NETPROF_BEGIN_DYNAMIC(name) ((void)0)
#define NETPROF_END_DYNAMIC(name)   ((void)0)
#define NETPROF_SCOPE(name)         ((void)0)
#define NETPROF_SCOPE_DYNAMIC(name) ((void)0)
#define NETPROF_SCOPE_ID(id)        ((void)0)
#define NETPROF_ADOPT(place)        ((void)sizeof(place))
#else

#define NETPROF__SITE(name)                                                                                            \
    {                                                                                                                  \
        "" name "", 0, __LINE__, __FILE__                                                                              \
    }
#define NETPROF__IS_ON (__builtin_expect(__atomic_load_n(&netprof__mode_now, __ATOMIC_RELAXED) != NETPROF_MODE_OFF, 1))
#define NETPROF__AT(call, name)                                                                                        \
    do {                                                                                                               \
        static netprof_site netprof__site = NETPROF__SITE(name);                                                       \
        if (NETPROF__IS_ON) call(&netprof__site);                                                                      \
    } while (0)
#define NETPROF_BEGIN(name) NETPROF__AT(netprof__enter, name)
#define NETPROF_END(name)   NETPROF__AT(netprof__leave, name)
#define NETPROF_BYTES(n)                                                                                               \
    do {                                                                                                               \
        if (NETPROF__IS_ON) netprof_bytes(NETPROF__AS_BYTES(n));                                                       \
    } while (0)
/* A value of the innermost open region; the name is a string literal. */
#define NETPROF_VALUE(name, value)                                                                                     \
    do {                                                                                                               \
        static netprof_site netprof__site = NETPROF__SITE(name);                                                       \
        if (NETPROF__IS_ON) netprof__value(&netprof__site, NETPROF__AS_VALUE(value));                                  \
    } while (0)
#define NETPROF_BEGIN_DYNAMIC(name)                                                                                    \
    do {                                                                                                               \
        if (NETPROF__IS_ON) netprof_begin(netprof_region(name));                                                       \
    } while (0)
#define NETPROF_END_DYNAMIC(name)                                                                                      \
    do {                                                                                                               \
        if (NETPROF__IS_ON) netprof_end(netprof_region(name));                                                         \
    } while (0)

/* Several scopes may stand in one line. */
#ifdef __COUNTER__
#define NETPROF__UNIQUE __COUNTER__
#else
#define NETPROF__UNIQUE __LINE__
#endif

#define NETPROF__JOIN(a, b) a##b
#define NETPROF__SCOPE_NAMED(name, n)                                                                                  \
    NETPROF__SCOPE_OF(name, NETPROF__JOIN(netprof__site_, n), NETPROF__JOIN(netprof__scope_, n))
#define NETPROF__SCOPE_AT(name, n)  NETPROF__SCOPE_NAMED(name, n)
#define NETPROF_SCOPE(name)         NETPROF__SCOPE_AT(name, NETPROF__UNIQUE)
#define NETPROF__SCOPE_ID_AT(id, n) NETPROF__SCOPE_ID_OF(id, NETPROF__JOIN(netprof__scope_, n))
#define NETPROF__SCOPE_ID_ON(id, n) NETPROF__SCOPE_ID_AT(id, n)
#define NETPROF_SCOPE_ID(id)        NETPROF__SCOPE_ID_ON(id, NETPROF__UNIQUE)
#define NETPROF_SCOPE_DYNAMIC(name) NETPROF_SCOPE_ID(NETPROF__IS_ON ? netprof_region(name) : 0)
#define NETPROF__ADOPT_AT(place, n) NETPROF__ADOPT_OF(place, NETPROF__JOIN(netprof__adoption_, n))
#define NETPROF__ADOPT_ON(place, n) NETPROF__ADOPT_AT(place, n)
#define NETPROF_ADOPT(place)        NETPROF__ADOPT_ON(place, NETPROF__UNIQUE)

#ifdef __cplusplus
} /* extern "C" */
class netprof_scope
{
    netprof_site *site;
    bool on;
    netprof_scope(const netprof_scope &);
    netprof_scope &operator=(const netprof_scope &);

  public:
    explicit netprof_scope(netprof_site *s) : site(s), on(NETPROF__IS_ON != 0)
    {
        if (on) netprof__enter(site);
    }
    ~netprof_scope()
    {
        if (on) netprof__leave(site);
    }
};
class netprof_scope_id
{
    netprof_region_id region;
    netprof_scope_id(const netprof_scope_id &);
    netprof_scope_id &operator=(const netprof_scope_id &);

  public:
    explicit netprof_scope_id(netprof_region_id id) : region(NETPROF__IS_ON ? id : 0)
    {
        if (region) netprof_begin(region);
    }
    ~netprof_scope_id()
    {
        if (region) netprof_end(region);
    }
};
#define NETPROF__SCOPE_ID_OF(id, scope)    netprof_scope_id scope(id)
class netprof_adoption
{
    netprof_adoption(const netprof_adoption &);
    netprof_adoption &operator=(const netprof_adoption &);

  public:
    explicit netprof_adoption(netprof_place place) { netprof_adopt(place); }
    ~netprof_adoption() { netprof_adopt_end(); }
};
#define NETPROF__ADOPT_OF(place, adoption) netprof_adoption adoption(place)
template <class T> inline uint64_t netprof__as_bytes(T n) /* no warning in the user's file, whatever the type */
{
    return static_cast<uint64_t>(n);
}
template <class T> inline int64_t netprof__as_value(T n)
{
    return static_cast<int64_t>(n);
}
extern "C" {
#define NETPROF__AS_BYTES(n)               netprof__as_bytes(n)
#define NETPROF__AS_VALUE(n)               netprof__as_value(n)
#define NETPROF__SCOPE_OF(name, site, scope)                                                                           \
    static netprof_site site = NETPROF__SITE(name);                                                                    \
    netprof_scope scope(&site)
#else
static inline __attribute__((unused)) netprof_site *netprof__scope_begin(netprof_site *site)
{
    if (!NETPROF__IS_ON) return NULL;
    netprof__enter(site);
    return site;
}
static inline __attribute__((unused)) void netprof__scope_end(netprof_site **site)
{
    if (*site) netprof__leave(*site);
}
static inline __attribute__((unused)) netprof_place netprof__scope_adopt(netprof_place place)
{
    netprof_adopt(place);
    return place;
}
static inline __attribute__((unused)) void netprof__scope_adopt_end(netprof_place *place)
{
    (void)place;
    netprof_adopt_end();
}
#define NETPROF__ADOPT_OF(place, adoption)                                                                             \
    netprof_place adoption __attribute__((cleanup(netprof__scope_adopt_end), unused)) = netprof__scope_adopt(place)
static inline __attribute__((unused)) netprof_region_id netprof__scope_begin_id(netprof_region_id region)
{
    if (!NETPROF__IS_ON) return 0;
    if (region) netprof_begin(region);
    return region;
}
static inline __attribute__((unused)) void netprof__scope_end_id(netprof_region_id *region)
{
    if (*region) netprof_end(*region);
}
#define NETPROF__AS_BYTES(n) (uint64_t)(n)
#define NETPROF__AS_VALUE(n) (int64_t)(n)
#define NETPROF__SCOPE_ID_OF(id, scope)                                                                                \
    netprof_region_id scope __attribute__((cleanup(netprof__scope_end_id), unused)) = netprof__scope_begin_id(id)
#define NETPROF__SCOPE_OF(name, site, scope)                                                                           \
    static netprof_site site = NETPROF__SITE(name);                                                                    \
    netprof_site *scope __attribute__((cleanup(netprof__scope_end), unused)) = netprof__scope_begin(&site)
#endif

#endif /* NETPROF_DISABLE */
/* One iteration of a loop, to the end of the block: a region with the value "iteration". The report tells which iteration
   was the longest. */
#define NETPROF_ITERATION(name, number)                                                                                \
    NETPROF_SCOPE(name);                                                                                               \
    NETPROF_VALUE("iteration", number)

/* >>6.4 statistics that were taken or read */

NETPROF_API void netprof_regions_free(netprof_regions *regions); /* any; NULL accepted */
/* Smallest duration of a bucket, in ns: 0..7 are exact, then 8 buckets per power of two. UINT64_MAX for
   NETPROF_HISTOGRAM_BUCKETS and above. any. */
NETPROF_API uint64_t netprof_histogram_floor_ns(unsigned bucket);
/* Smallest value of a bucket: INT64_MIN, 1, 2, 4 ...; INT64_MAX for NETPROF_VALUE_BUCKETS and above. any. */
NETPROF_API int64_t netprof_value_floor(unsigned bucket);
/* Writes a copy of the statistics, taken or read; its schema is written first if it has counters. object (the
   writer). */
NETPROF_API netprof_err netprof_write_regions(netprof_writer *writer, const netprof_regions *regions,
                                              netprof_error *error);

/* >>6.5 with NETPROF_DISABLE: the same functions, without regions */

/* Inline; but the file with the implementation has them for files without NETPROF_DISABLE, too. */
#ifdef NETPROF_DISABLE
#ifdef NETPROF_IMPLEMENTATION
#define NETPROF__STUB NETPROF_API
#else
#define NETPROF__STUB static inline __attribute__((unused))
#endif
NETPROF__STUB netprof_region_id netprof_region(const char *name)
{
    (void)name;
    return 0;
}
NETPROF__STUB void netprof_begin(netprof_region_id region)
{
    (void)region;
}
NETPROF__STUB void netprof_end(netprof_region_id region)
{
    (void)region;
}
NETPROF__STUB netprof_span netprof_span_begin(netprof_region_id region)
{
    netprof_span span = NETPROF_ZERO;
    (void)region;
    return span;
}
NETPROF__STUB void netprof_span_end(netprof_span span)
{
    (void)span;
}
NETPROF__STUB netprof_span netprof_span_begin_at(netprof_region_id region, netprof_place place)
{
    (void)place;
    return netprof_span_begin(region);
}
NETPROF__STUB void netprof_span_bytes(netprof_span *span, uint64_t bytes)
{
    (void)span;
    (void)bytes;
}
NETPROF__STUB void netprof_span_wait(netprof_span *span)
{
    (void)span;
}
NETPROF__STUB void netprof_span_suspend(netprof_span *span)
{
    (void)span;
}
NETPROF__STUB void netprof_span_resume(netprof_span *span)
{
    (void)span;
}
NETPROF__STUB netprof_place netprof_here(void)
{
    netprof_place none = NETPROF_ZERO;
    return none;
}
NETPROF__STUB netprof_place netprof_span_place(const netprof_span *span)
{
    (void)span;
    return netprof_here();
}
NETPROF__STUB void netprof_adopt(netprof_place place)
{
    (void)place;
}
NETPROF__STUB void netprof_adopt_end(void) {}
NETPROF__STUB void netprof_value(netprof_region_id name, int64_t value)
{
    (void)name;
    (void)value;
}
NETPROF__STUB void netprof_bytes(uint64_t bytes)
{
    (void)bytes;
}
NETPROF__STUB void netprof_region_every(netprof_region_id region, unsigned n)
{
    (void)region;
    (void)n;
}
NETPROF__STUB void netprof_set_mode(netprof_mode mode)
{
    (void)mode;
}
NETPROF__STUB netprof_err netprof_set_output(const char *pattern, netprof_error *error)
{
    (void)pattern;
    (void)error;
    return NETPROF_OK;
}
NETPROF__STUB netprof_err netprof_set_flush(double seconds, netprof_error *error)
{
    (void)seconds;
    (void)error;
    return NETPROF_OK;
}
#ifndef NETPROF_NO_SOURCES
NETPROF__STUB netprof_err netprof_set_interval(double seconds, netprof_error *error)
{
    return netprof_set_flush(seconds, error);
}
#endif
#ifndef NETPROF_NO_SERIES
NETPROF__STUB netprof_err netprof_set_series(double seconds, netprof_error *error)
{
    return netprof_set_flush(seconds, error);
}
#endif
NETPROF__STUB void netprof_set_rank(int rank, int size)
{
    (void)rank;
    (void)size;
}
NETPROF__STUB netprof_err netprof_flush(netprof_error *error)
{
    (void)error;
    return NETPROF_OK;
}
NETPROF__STUB void netprof_regions_reset(void) {}
/* Nothing: no name, no time. */
NETPROF__STUB netprof_err netprof_regions_take(netprof_regions *out, netprof_error *error)
{
    netprof_regions none = NETPROF_ZERO;
    none.mode = NETPROF_MODE_OFF;
    none.clock = none.warning = "";
    *out = none;
    (void)error;
    return NETPROF_OK;
}
NETPROF__STUB void netprof__enter(netprof_site *site)
{
    (void)site;
}
NETPROF__STUB void netprof__leave(netprof_site *site)
{
    (void)site;
}
NETPROF__STUB void netprof__value(netprof_site *site, int64_t value)
{
    (void)site;
    (void)value;
}
#endif /* NETPROF_DISABLE */

#ifdef __cplusplus
}
#endif
#endif /* NETPROF_H */

/* The implementation of one copy with the declarations of another would disagree about what is in its structs. */
#if NETPROF_VERSION_MAJOR != 0 || NETPROF_VERSION_MINOR != 1 || NETPROF_VERSION_PATCH != 0
#error "two copies of netprof.h, of different versions, in one file: see which directories the compiler searches (-I)"
#endif

/* ---- >>7 implementation: foundations ---- */

#if defined(NETPROF_IMPLEMENTATION) && !defined(NETPROF_IMPLEMENTED)
#define NETPROF_IMPLEMENTED

/* The declarations alone were included first, and with them <stdint.h>: glibc chose its features without _GNU_SOURCE.
   Let it choose again for the headers below; other C libraries ask at each header. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#if defined(__GLIBC__) && !defined(__USE_GNU)
#undef _FEATURES_H
#include <features.h>
#endif
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <dlfcn.h>
#include <netinet/in.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#endif
#ifndef NETPROF_NO_THREADS
#include <pthread.h>
#endif
#ifndef O_CLOEXEC
#error "the file with NETPROF_IMPLEMENTATION must include netprof.h first, or define _GNU_SOURCE"
#endif

#if defined(__cplusplus) && !defined(PRIu64) /* older C libraries, before C++11 */
#define PRIu64 "llu"
#define PRId64 "lld"
#endif

/* Helpers that only the parts use which a switch leaves out. */
#if defined(NETPROF_NO_READER) || defined(NETPROF_NO_SERIES) || defined(NETPROF_NO_SOURCES) || defined(NETPROF_DISABLE)
#define NETPROF__PARTIAL
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* >>7.1 system calls that a test may replace */

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
#ifndef NETPROF_OS_BIND
#define NETPROF_OS_BIND(fd, address, size) bind((fd), (address), (size))
#endif
#ifndef NETPROF_OS_SEND
#define NETPROF_OS_SEND(fd, data, size, flags) send((fd), (data), (size), (flags))
#endif
#ifndef NETPROF_OS_RECV
#define NETPROF_OS_RECV(fd, data, size, flags) recv((fd), (data), (size), (flags))
#endif
#if !defined(NETPROF_OS_IOCTL) && defined(__GLIBC__)
#define NETPROF_OS_IOCTL(fd, request, argument) ioctl((fd), (request), (argument))
#elif !defined(NETPROF_OS_IOCTL) /* musl: an int */
#define NETPROF_OS_IOCTL(fd, request, argument) ioctl((fd), (int)(request), (argument))
#endif
#ifndef NETPROF_OS_GETSOCKOPT
#define NETPROF_OS_GETSOCKOPT(fd, level, name, data, size) getsockopt((fd), (level), (name), (data), (size))
#endif
#ifndef NETPROF_OS_CLOCK
#define NETPROF_OS_CLOCK(clock, timespec) clock_gettime((clock), (timespec))
#endif
#ifndef NETPROF_OS_GETENV
#define NETPROF_OS_GETENV(name) netprof__getenv(name)
#endif

/* >>7.2 memory, errors, clocks */

static int netprof__is_privileged(void)
{
#ifdef __linux__
    return getauxval(AT_SECURE) != 0;
#else
    return getuid() != geteuid() || getgid() != getegid();
#endif
}

/* A set-uid program, or one with file capabilities, takes nothing from the environment, which is its caller's: a name of
   an output there would have any file replaced. */
static __attribute__((unused)) const char *netprof__getenv(const char *name)
{
    return netprof__is_privileged() ? NULL : getenv(name);
}

#if !defined(NETPROF_MALLOC) && !defined(NETPROF_REALLOC) && !defined(NETPROF_FREE)
#define NETPROF_MALLOC(size)           malloc(size)
#define NETPROF_REALLOC(pointer, size) realloc((pointer), (size))
#define NETPROF_FREE(pointer)          free(pointer)
#elif !defined(NETPROF_MALLOC) || !defined(NETPROF_REALLOC) || !defined(NETPROF_FREE)
#error "define all three of NETPROF_MALLOC, NETPROF_REALLOC and NETPROF_FREE, or none"
#endif

/* FNV-1a, 64 and 32 bits: http://www.isthe.com/chongo/tech/comp/fnv/ */
#define NETPROF__FNV_BASIS   14695981039346656037u
#define NETPROF__FNV_PRIME   1099511628211u
#define NETPROF__FNV32_BASIS 2166136261u
#define NETPROF__FNV32_PRIME 16777619u

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

/* The given allocator if it is complete, else the default one. */
static netprof_alloc netprof__alloc_or_default(const netprof_alloc *given)
{
    netprof_alloc a;
    if (given && given->resize && given->release) return *given;
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
    if (p) memset(p, 0, size);
    return p;
}

static void netprof__release(const netprof_alloc *a, void *pointer)
{
    if (pointer) a->release(a->user, pointer);
}

static char *netprof__strdup(const netprof_alloc *a, const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = (char *)netprof__resize(a, NULL, n);
    if (copy) memcpy(copy, text, n);
    return copy;
}

/* Makes room for `need` elements; at least doubles the capacity. Returns 0 if out of memory, with the array
   unchanged. */
static int netprof__grow(const netprof_alloc *a, void *array_pointer, size_t *capacity, size_t need, size_t size)
{
    void *array, *bigger;
    size_t n = *capacity ? *capacity : 8;
    if (need <= *capacity) return 1;
    while (n < need) {
        if (n > SIZE_MAX / 2) return 0;
        n *= 2;
    }
    if (n > SIZE_MAX / size) return 0;
    memcpy(&array, array_pointer, sizeof array);
    bigger = netprof__resize(a, array, n * size);
    if (!bigger) return 0;
    memcpy(array_pointer, &bigger, sizeof bigger);
    *capacity = n;
    return 1;
}

/* Copies a text, cut to fit; NULL is "". */
static void netprof__copy_text(char *to, size_t size, const char *from)
{
    size_t n = from ? strlen(from) : 0;
    if (n >= size) n = size - 1;
    if (n) memcpy(to, from, n);
    to[n] = 0;
}

/* Fills in *e, if there is one, and returns the code. */
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

/* Nanoseconds of a clock; 0 if it cannot be read. */
static int64_t netprof__clock(clockid_t clock)
{
    struct timespec t;
    if (NETPROF_OS_CLOCK(clock, &t) != 0) return 0;
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* a - b without signed overflow: an untrusted file may hold any two numbers. */
static int64_t netprof__minus(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

static int64_t netprof__plus(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
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
    case NETPROF_ERR_MISMATCH: return "snapshots that do not belong together";
    case NETPROF_ERR_LIMIT: return "over the limit";
    case NETPROF_ERR_NOSOURCE: return "nothing to read";
    case NETPROF_ERR_DAMAGED: return "damaged file";
    }
    return "unknown error";
}

/* >>7.3 names of codes; values of a sweep */

#ifndef NETPROF_REGIONS_ONLY
static const char *netprof__name_of_code(const char *const *names, size_t count, int value)
{
    return value >= 0 && (size_t)value < count ? names[value] : "unknown";
}

NETPROF_API const char *netprof_status_name(netprof_status s)
{
    static const char *const names[] = {"skipped", "ok",       "absent",    "unsupported",
                                        "denied",  "vanished", "saturated", "unreadable"};
    return netprof__name_of_code(names, sizeof names / sizeof *names, (int)s);
}

NETPROF_API const char *netprof_kind_name(netprof_kind k)
{
    static const char *const names[] = {"counter", "gauge", "state", "histogram"};
    return netprof__name_of_code(names, sizeof names / sizeof *names, (int)k);
}

NETPROF_API const char *netprof_flag_name(netprof_flag f)
{
    static const char *const names[] = {"ok", "wrapped", "reset", "new", "gone", "gauge", "suspect", "unknown"};
    return netprof__name_of_code(names, sizeof names / sizeof *names, (int)f);
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

/* Stores why a value could not be read. Linux errnos below 256 fit the byte; others become 255. */
static void netprof__set_failed(netprof_sweep *sweep, size_t i, int sys_errno)
{
    sweep->status[i] = (uint8_t)netprof_status_of_errno(sys_errno);
    sweep->errnos[i] = (uint8_t)(sys_errno > 0 && sys_errno < 256 ? sys_errno : 255);
    sweep->values[i] = 0;
    sweep->stamps_ns[i] = 0;
}

/* Stores a raw value. Saturation is checked before the scale is applied. */
static void netprof__set_value(netprof_sweep *sweep, size_t i, uint64_t raw)
{
    const netprof_counter *c = &sweep->counters[i];
    int full = (c->flags & NETPROF_SATURATES) && c->width && c->width <= 64 && raw == UINT64_MAX >> (64 - c->width);
    sweep->values[i] = c->scale > 1 ? raw * c->scale : raw;
    sweep->status[i] = full ? NETPROF_STATUS_SATURATED : NETPROF_STATUS_OK;
    sweep->errnos[i] = 0;
}

/* True if counter i is in the set that the sweep reads. */
static int netprof__in_set(const netprof_sweep *sweep, size_t i)
{
    return sweep->set != NETPROF_SET_FAST || (sweep->counters[i].flags & NETPROF_FAST);
}
#endif

/* >>7.4 small files and directories */

/* Reads a short text file whole and appends a 0 byte. Returns the length or -errno. */
static ssize_t netprof__read_text(int dirfd, const char *path, char *text, size_t size)
{
    size_t used = 0;
    ssize_t n = 0;
    int fd, failed = 0;
    do
        fd = NETPROF_OS_OPENAT(dirfd, path, O_RDONLY);
    while (fd < 0 && errno == EINTR);
    if (fd < 0) return -errno;
    while (used + 1 < size) {
        n = NETPROF_OS_READ(fd, text + used, size - 1 - used);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        used += (size_t)n;
    }
    if (n < 0) failed = errno;
    NETPROF_OS_CLOSE(fd);
    text[used] = 0;
    return failed ? -failed : (ssize_t)used;
}

/* The same without trailing white space, for sysfs attributes. */
static ssize_t netprof__read_line(int dirfd, const char *path, char *text, size_t size)
{
    ssize_t n = netprof__read_text(dirfd, path, text, size);
    while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == ' ' || text[n - 1] == '\t' || text[n - 1] == '\r'))
        text[--n] = 0;
    return n;
}

/* Concatenates root and path; 0 if the result does not fit. */
static int netprof__prepend_root(char *to, size_t size, const char *root, const char *path)
{
    size_t a = strlen(root), b = strlen(path);
    if (a + b >= size) return 0;
    memcpy(to, root, a);
    memcpy(to + a, path, b + 1);
    return 1;
}

/* DIR/NAME. If it does not fit the result is "", a file that does not exist. `to` may be `dir`. */
static void netprof__join_path(char *to, size_t size, const char *dir, const char *name)
{
    size_t a = strlen(dir), b = strlen(name);
    if (a + b + 2 > size) {
        *to = 0;
        return;
    }
    memmove(to, dir, a);
    to[a] = '/';
    memcpy(to + a + 1, name, b + 1);
}

static int netprof__open_dir(int dirfd, const char *path)
{
    int fd;
    do
        fd = NETPROF_OS_OPENAT(dirfd, path, O_RDONLY | O_DIRECTORY);
    while (fd < 0 && errno == EINTR);
    return fd < 0 ? -errno : fd;
}

static int netprof__is_digit(char c)
{
    return c >= '0' && c <= '9';
}

#ifndef NETPROF_NO_SOURCES
struct netprof__dirent64 {
    uint64_t d_ino;
    int64_t d_off;
    unsigned short d_reclen;
    unsigned char d_type;
    char d_name[1];
};

/* Calls visit() for each name except "." and "..", until it returns non-zero. Returns 0, -errno or visit()'s result. */
static int netprof__each_entry(int fd, int (*visit)(void *user, const char *name, uint64_t inode), void *user)
{
    uint64_t words[512]; /* aligned for the records */
    char *data = (char *)words;
    for (;;) {
        long n = NETPROF_OS_GETDENTS(fd, data, sizeof words), at = 0;
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n < 0 ? -errno : 0;
        while (at < n) {
            const struct netprof__dirent64 *entry = (const struct netprof__dirent64 *)(const void *)(data + at);
            const char *name = data + at + offsetof(struct netprof__dirent64, d_name);
            int stop = 0;
            if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0) stop = visit(user, name, entry->d_ino);
            if (stop) return stop;
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
    if (!copy) return -ENOMEM;
    list->names[list->count++] = copy;
    return 0;
}

/* Natural order: cxi2 before cxi10; equal numbers (07, 7) by text. */
static int netprof__natural(const char *a, const char *b)
{
    const char *p = a, *q = b;
    while (*p && *q) {
        if (netprof__is_digit(*p) && netprof__is_digit(*q)) {
            size_t m, n;
            int order;
            while (*p == '0' && netprof__is_digit(p[1]))
                p++;
            while (*q == '0' && netprof__is_digit(q[1]))
                q++;
            m = strspn(p, "0123456789");
            n = strspn(q, "0123456789");
            if (m != n) return m < n ? -1 : 1;
            order = memcmp(p, q, m);
            if (order) return order;
            p += m;
            q += n;
        } else if (*p != *q) {
            return (unsigned char)*p < (unsigned char)*q ? -1 : 1;
        } else {
            p++;
            q++;
        }
    }
    if (*p || *q) return *p ? 1 : -1;
    return strcmp(a, b);
}

static int netprof__natural_of_pointers(const void *a, const void *b)
{
    return netprof__natural(*(char *const *)a, *(char *const *)b);
}

/* The names in a directory, in natural order. Returns 0 or -errno; free the list in any case. */
static int netprof__list_dir(const netprof_alloc *alloc, int dirfd, const char *path, netprof__names *out)
{
    int fd = netprof__open_dir(dirfd, path), result;
    memset(out, 0, sizeof *out);
    out->alloc = alloc;
    if (fd < 0) return fd;
    result = netprof__each_entry(fd, netprof__names_add, out);
    NETPROF_OS_CLOSE(fd);
    if (out->count) qsort(out->names, out->count, sizeof *out->names, netprof__natural_of_pointers);
    return result;
}

/* Adds the FNV-1a hash of a name and its inode. */
static int netprof__mix_entry(void *user, const char *name, uint64_t inode)
{
    uint64_t *sum = (uint64_t *)user, h = NETPROF__FNV_BASIS ^ inode;
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * NETPROF__FNV_PRIME;
    *sum += h; /* a sum: the order of the entries does not matter */
    return 0;
}

/* A number that changes when an entry of the directory is added, removed or re-created; 0 if there is no directory. */
static uint64_t netprof__dir_signature(const char *path)
{
    uint64_t sum = 1;
    int fd = netprof__open_dir(AT_FDCWD, path);
    if (fd < 0) return 0;
    netprof__each_entry(fd, netprof__mix_entry, &sum);
    NETPROF_OS_CLOSE(fd);
    return sum;
}

static uint64_t netprof__inode(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 ? (uint64_t)st.st_ino : 0;
}
#endif /* NETPROF_NO_SOURCES */

static int netprof__in_table(const char *name, const char *const *table, size_t count)
{
    size_t i;
    for (i = 0; i < count; i++)
        if (strcmp(name, table[i]) == 0) return 1;
    return 0;
}

/* >>7.5 numbers in text */

/* Parses decimal digits at *p. Returns 0 and moves *p past them, or EBADMSG (no digits, or more than 64 bits). Hot: the
   first 19 digits cannot overflow, so only later ones are checked. */
static int netprof__parse_digits(const char **p, const char *end, uint64_t *value)
{
    const char *q = *p, *safe = end - q > 19 ? q + 19 : end;
    uint64_t v = 0;
    unsigned digit;
    while (q < safe && (digit = (unsigned)(unsigned char)*q - '0') < 10) {
        v = v * 10 + digit;
        q++;
    }
    if (q == *p) return EBADMSG;
    for (; q - *p >= 19 && q < end && netprof__is_digit(*q); q++) {
        digit = (unsigned)(*q - '0');
        if (v > (UINT64_MAX - digit) / 10) return EBADMSG;
        v = v * 10 + digit;
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

#ifndef NETPROF_NO_SOURCES
/* "value@seconds.nanoseconds\n" of cxi telemetry (cass_telem.c); the stamp may be missing. Seconds above 9,000,000,000
   are refused: as nanoseconds they would not fit an int64_t. Returns 0 or an errno. */
static int netprof__parse_stamped(const char *text, size_t size, uint64_t *value, int64_t *stamp_ns)
{
    const char *p = text, *end = text + size, *digits;
    uint64_t seconds, nanoseconds;
    *stamp_ns = 0;
    if (netprof__parse_digits(&p, end, value)) return size ? EBADMSG : ENODATA;
    if (p < end && *p == '@') {
        p++;
        if (netprof__parse_digits(&p, end, &seconds) || p == end || *p++ != '.') return EBADMSG;
        digits = p;
        if (netprof__parse_digits(&p, end, &nanoseconds) || p - digits != 9 || seconds > 9000000000u) return EBADMSG;
        *stamp_ns = (int64_t)(seconds * 1000000000u + nanoseconds);
    }
    return netprof__only_space(p, end) ? 0 : EBADMSG;
}

/* A whole number, negative ones in two's complement. Returns 0 or an errno. */
static int netprof__parse_number(const char *text, size_t size, uint64_t *value, int64_t *stamp_ns)
{
    const char *p = text, *end = text + size;
    int negative = size && *p == '-';
    *stamp_ns = 0;
    p += negative;
    if (netprof__parse_digits(&p, end, value))
        return size == 0 ? ENODATA : size >= 3 && memcmp(text, "N/A", 3) == 0 ? EOPNOTSUPP : EBADMSG;
    if (negative && *value > (uint64_t)1 << 63) return EBADMSG;
    if (negative) *value = ~*value + 1;
    return netprof__only_space(p, end) ? 0 : EBADMSG;
}

/* The number of a state such as "4: ACTIVE". Returns 0 or an errno. */
static int netprof__parse_state(const char *text, size_t size, uint64_t *value, int64_t *stamp_ns)
{
    const char *p = text, *end = text + size;
    *stamp_ns = 0;
    if (netprof__parse_digits(&p, end, value)) return size ? EBADMSG : ENODATA;
    return p < end && *p == ':' ? 0 : netprof__only_space(p, end) ? 0 : EBADMSG;
}

typedef int (*netprof__parser)(const char *text, size_t size, uint64_t *value, int64_t *stamp_ns);
#endif /* NETPROF_NO_SOURCES */

#ifndef NETPROF_REGIONS_ONLY
/* >>7.6 filters and patterns */

typedef struct netprof__filter {
    char *patterns; /* each ends with a 0 byte */
    size_t count;   /* 0: no filter */
} netprof__filter;

/* Splits a comma-separated list of patterns; "\," is a comma within one. Returns 0 if out of memory. */
static int netprof__filter_make(const netprof_alloc *a, const char *list, netprof__filter *out)
{
    char *to;
    out->patterns = NULL;
    out->count = 0;
    if (!list || !*list) return 1;
    out->patterns = to = (char *)netprof__resize(a, NULL, strlen(list) + 2);
    if (!to) return 0;
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

/* True if a pattern matches the device, or one with a slash matches "device/counter". */
static int netprof__filter_matches(const netprof__filter *filter, const char *device, const char *counter)
{
    const char *pattern = filter->patterns;
    char name[512];
    size_t i;
    snprintf(name, sizeof name, "%s/%s", device, counter);
    for (i = 0; i < filter->count; i++, pattern += strlen(pattern) + 1)
        if (fnmatch(pattern, device, 0) == 0 || (strchr(pattern, '/') && fnmatch(pattern, name, 0) == 0)) return 1;
    return 0;
}

/* The pattern may have one '*', at its beginning or its end. */
static int netprof__matches_pattern(const char *pattern, const char *name)
{
    size_t n = strlen(pattern), m = strlen(name);
    if (*pattern == '*') return m >= n - 1 && strcmp(name + m - (n - 1), pattern + 1) == 0;
    if (n && pattern[n - 1] == '*') return strncmp(name, pattern, n - 1) == 0;
    return strcmp(pattern, name) == 0;
}

/* >>7.7 schemas and the list that builds one

   A list collects what the sources find, in this order: a source, its devices, and after each device its facts and
   counters. netprof__list_finish() turns it into a schema. All texts are kept once, in the schema's arena. */

/* Memory for texts that are freed all at once: a list of blocks. */
typedef struct netprof__arena {
    char *block; /* begins with a pointer to the previous block */
    size_t used, size;
} netprof__arena;

/* Unaligned memory from the last block, or from a new one of at least 16 KiB. */
static void *netprof__arena_take(const netprof_alloc *a, netprof__arena *arena, size_t size)
{
    size_t head = sizeof(char *);
    char *block;
    if (!arena->block || arena->size - arena->used < size) {
        size_t bytes = size + head > 16384 ? size + head : 16384;
        block = (char *)netprof__resize(a, NULL, bytes);
        if (!block) return NULL;
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

/* A schema and its storage; `pub` is the part that users see. */
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
    size_t device; /* 1 + the last device that has a counter of this name */
    unsigned next; /* suffix for the next duplicate in that device */
} netprof__interned;

struct netprof_list {
    netprof_alloc alloc;
    netprof_err failed;
    netprof__schema *schema;
    netprof__interned *table;
    size_t table_size, table_used;
    size_t device_capacity, counter_capacity, source_capacity, device_fact_capacity, fact_capacity;
    size_t device_fact_count;
    int state_given;             /* the current source has set its own status */
    size_t source_first_counter; /* where the current source's counters begin */
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

/* Every public schema is the first member of a private one; only the reference count ever changes. */
static netprof__schema *netprof__schema_of(const netprof_schema *schema)
{
    return (netprof__schema *)(uintptr_t)schema;
}

NETPROF_API void netprof_schema_retain(const netprof_schema *schema)
{
    if (schema) __atomic_add_fetch(&netprof__schema_of(schema)->references, 1, __ATOMIC_RELAXED);
}

NETPROF_API void netprof_schema_release(const netprof_schema *schema)
{
    if (schema && __atomic_sub_fetch(&netprof__schema_of(schema)->references, 1, __ATOMIC_ACQ_REL) == 0)
        netprof__schema_destroy(netprof__schema_of(schema));
}

static netprof_list *netprof__list_make(const netprof_alloc *a)
{
    netprof_list *list = (netprof_list *)netprof__zalloc(a, sizeof *list);
    if (!list) return NULL;
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
    if (list->schema) netprof__schema_destroy(list->schema);
    netprof__release(&a, list->table);
    netprof__release(&a, list);
}

/* The slot of a text, by its FNV-1a hash, or the free slot where it belongs. The size is a power of two. */
static netprof__interned *netprof__intern_slot(netprof__interned *table, size_t size, const char *text)
{
    uint64_t h = NETPROF__FNV_BASIS;
    const char *p;
    size_t i;
    for (p = text; *p; p++)
        h = (h ^ (unsigned char)*p) * NETPROF__FNV_PRIME;
    for (i = (size_t)(h ^ h >> 32) & (size - 1); table[i].text; i = (i + 1) & (size - 1))
        if (strcmp(table[i].text, text) == 0) break;
    return &table[i];
}

static int netprof__intern_grow(netprof_list *list)
{
    size_t i, size = list->table_size ? 2 * list->table_size : 1024;
    netprof__interned *table = (netprof__interned *)netprof__zalloc(&list->alloc, size * sizeof *table);
    if (!table) return 0;
    for (i = 0; i < list->table_size; i++)
        if (list->table[i].text) *netprof__intern_slot(table, size, list->table[i].text) = list->table[i];
    netprof__release(&list->alloc, list->table);
    list->table = table;
    list->table_size = size;
    return 1;
}

/* Keeps one copy of each text: eight devices with the same 1890 names share them. NULL if out of memory. */
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

/* Makes room for one more element of an array of the list. Returns 0 and records the failure if out of memory. */
static int netprof__list_room(netprof_list *list, void *array_pointer, size_t *capacity, size_t count, size_t size)
{
    if (list->failed) return 0;
    if (netprof__grow(&list->alloc, array_pointer, capacity, count + 1, size)) return 1;
    list->failed = NETPROF_ERR_NOMEM;
    return 0;
}

NETPROF_API void netprof_build_source(netprof_list *list, const char *name)
{
    netprof__schema *s = list->schema;
    netprof_source_state *row;
    if (!netprof__list_room(list, &s->sources, &list->source_capacity, s->pub.source_count, sizeof *row)) return;
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
    if (!s->pub.source_count) netprof_build_source(list, "unknown");
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
    if (!list->state_given) s->sources[s->pub.source_count - 1].status = NETPROF_STATUS_OK;
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
    if (!netprof__list_room(list, &s->facts, &list->fact_capacity, s->pub.fact_count, sizeof *f)) return;
    f = &s->facts[s->pub.fact_count++];
    f->key = netprof__intern_text(list, key);
    f->value = netprof__intern_text(list, value);
}

/* The name, or name#2, name#3 ... if the device already has it (ethtool strings may repeat). */
static const char *netprof__unique_name(netprof_list *list, const char *name)
{
    size_t mark = list->schema->pub.device_count;
    netprof__interned *slot = netprof__intern(list, name);
    unsigned n = slot && slot->device == mark ? slot->next : 0;
    char numbered[512];
    const char *text;
    while (slot && slot->device == mark) {
        snprintf(numbered, sizeof numbered, "%.490s#%u", name, n++);
        slot = netprof__intern(list, numbered);
    }
    if (!slot) return NULL;
    slot->device = mark;
    slot->next = 2;
    text = slot->text;
    if (n) netprof__intern_slot(list->table, list->table_size, name)->next = n;
    return text;
}

NETPROF_API size_t netprof_list_counter(netprof_list *list, const netprof_counter *counter)
{
    netprof__schema *s = list->schema;
    netprof_device *d;
    netprof_counter *c;
    const char *name;
    if (!s->pub.device_count) return NETPROF_NONE;
    d = &s->devices[s->pub.device_count - 1];
    if ((list->include && list->include->count && !netprof__filter_matches(list->include, d->name, counter->name)) ||
        (list->exclude && list->exclude->count && netprof__filter_matches(list->exclude, d->name, counter->name)))
        return NETPROF_NONE;
    if (s->pub.counter_count >= UINT32_MAX ||
        !netprof__list_room(list, &s->counters, &list->counter_capacity, s->pub.counter_count, sizeof *c))
        return NETPROF_NONE;
    name = netprof__unique_name(list, counter->name);
    if (!name) return NETPROF_NONE;
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
    if (!s->pub.source_count) return;
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

/* Drops what a failed source listed, but keeps the row with its status. */
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
    if (!list->state_given) netprof_list_state(list, NETPROF_STATUS_UNREADABLE, sys_errno, "");
}

/* Completes the public part of the schema: the arrays no longer grow, so pointers into them are final. */
static void netprof__list_finish(netprof_list *list)
{
    netprof__schema *s = list->schema;
    netprof_fact *fact = s->device_facts;
    size_t i;
    for (i = 0; i < s->pub.device_count; i++) {
        s->devices[i].facts = fact;
        if (fact) /* NULL + 0 is undefined in C */
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
    if (!list) netprof__no_memory(error);
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
        if (strcmp(facts[i].key, key) == 0) return facts[i].value;
    return NULL;
}

NETPROF_API size_t netprof_find(const netprof_schema *schema, const char *source, const char *device,
                                const char *counter)
{
    size_t i, k;
    for (i = 0; i < schema->device_count; i++) {
        const netprof_device *d = &schema->devices[i];
        if ((source && strcmp(source, d->source) != 0) || strcmp(device, d->name) != 0) continue;
        for (k = d->first; k < (size_t)d->first + d->count; k++)
            if (strcmp(counter, schema->counters[k].name) == 0) return k;
    }
    return NETPROF_NONE;
}

static int netprof__same_facts(const netprof_fact *a, size_t m, const netprof_fact *b, size_t n)
{
    size_t i;
    if (m != n) return 0;
    for (i = 0; i < m; i++)
        if (strcmp(a[i].key, b[i].key) != 0 || strcmp(a[i].value, b[i].value) != 0) return 0;
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

/* True if both have the same devices and counters in the same order, so that values of one fit the other. */
static int netprof__same_layout(const netprof_schema *a, const netprof_schema *b)
{
    size_t i;
    if (a == b) return 1;
    if (a->device_count != b->device_count || a->counter_count != b->counter_count) return 0;
    for (i = 0; i < a->device_count; i++)
        if (!netprof__same_device(&a->devices[i], &b->devices[i])) return 0;
    for (i = 0; i < a->counter_count; i++)
        if (!netprof__same_counter(&a->counters[i], &b->counters[i])) return 0;
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

#endif /* NETPROF_REGIONS_ONLY */

#ifndef NETPROF_NO_SOURCES
/* >>7.8 groups of files: one directory, one counter per file

   Sources in sysfs have one directory per device and one file per counter. Files are held open within the budget of the
   context (netprof_config.hold, max_fds); all others are opened for each reading. */

#define NETPROF__CLOSED (-1) /* to be held open, not open yet */
#define NETPROF__LOOSE  (-2) /* opened for each reading */

typedef struct netprof__group {
    char *path;          /* the directory, including the root */
    int dirfd;           /* -1 if it could not be opened */
    int *fds;            /* [count], or NULL: no file is held open */
    size_t first, count; /* in the source's own numbering */
    uint32_t *fast;      /* [fast_count] indices of the counters in the fast set */
    size_t fast_count;
    size_t promised; /* descriptors taken from the budget */
    size_t skip;     /* length of the prefix of the counter's name that is not part of the file's name */
    netprof__parser parse;
} netprof__group;

/* The groups of a source. Device i has groups[starts[i]] up to, but not including, groups[starts[i + 1]]. */
typedef struct netprof__files {
    netprof_alloc alloc;
    netprof_hold hold;
    int *fd_budget; /* descriptors that may still be held, shared by all sources of the context */
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

/* Closes and forgets everything, ready for the next discovery. */
static void netprof__files_clear(netprof__files *files)
{
    size_t i;
    for (i = 0; i < files->count; i++) {
        netprof__group *g = &files->groups[i];
        netprof__group_close_files(g);
        *files->fd_budget += (int)g->promised;
        if (g->dirfd >= 0) NETPROF_OS_CLOSE(g->dirfd);
        netprof__release(&files->alloc, g->fds);
        netprof__release(&files->alloc, g->fast);
        netprof__release(&files->alloc, g->path);
    }
    netprof__release(&files->alloc, files->groups);
    netprof__release(&files->alloc, files->starts);
    files->groups = NULL;
    files->starts = NULL;
    files->count = files->capacity = files->start_count = files->start_capacity = 0;
}

/* Call once per device, in the order of the list, before its groups. */
static netprof_err netprof__files_device(netprof__files *files)
{
    if (!netprof__grow(&files->alloc, &files->starts, &files->start_capacity, files->start_count + 2,
                       sizeof *files->starts))
        return NETPROF_ERR_NOMEM;
    files->starts[files->start_count++] = files->count;
    files->starts[files->start_count] = files->count;
    return NETPROF_OK;
}

/* Adds a group for a directory; its `first` is set when its first counter is listed. */
static netprof_err netprof__files_group(netprof__files *files, const char *path, netprof__parser parse, size_t skip,
                                        netprof__group **out)
{
    netprof__group *g;
    if (!netprof__grow(&files->alloc, &files->groups, &files->capacity, files->count + 1, sizeof *files->groups))
        return NETPROF_ERR_NOMEM;
    g = &files->groups[files->count];
    memset(g, 0, sizeof *g);
    g->path = netprof__strdup(&files->alloc, path);
    if (!g->path) return NETPROF_ERR_NOMEM;
    g->dirfd = netprof__open_dir(AT_FDCWD, path);
    if (g->dirfd < 0) g->dirfd = -1;
    g->parse = parse;
    g->skip = skip;
    files->starts[files->start_count] = ++files->count;
    *out = g;
    return NETPROF_OK;
}

/* Lists a counter of the group. The counters of one group must be listed one after another. */
static void netprof__group_counter(netprof__group *g, netprof_list *list, const netprof_counter *counter)
{
    size_t index = netprof_list_counter(list, counter);
    if (index == NETPROF_NONE) return;
    if (!g->count) g->first = index;
    g->count++;
}

/* Finds the counters that a fast sweep reads, so that it can skip the others. */
static netprof_err netprof__group_find_fast(netprof__files *files, netprof__group *g, const netprof_counter *c)
{
    size_t i, n = 0;
    for (i = 0; i < g->count; i++)
        n += (c[i].flags & NETPROF_FAST) != 0;
    if (!n) return NETPROF_OK;
    g->fast = (uint32_t *)netprof__resize(&files->alloc, NULL, n * sizeof *g->fast);
    if (!g->fast) return NETPROF_ERR_NOMEM;
    for (i = 0; i < g->count; i++)
        if (c[i].flags & NETPROF_FAST) g->fast[g->fast_count++] = (uint32_t)i;
    return NETPROF_OK;
}

/* Call once per group, after its counters are listed. Decides which of its files are held open, within the budget; they
   are opened at the first reading. */
static netprof_err netprof__group_hold(netprof__files *files, netprof__group *g, const netprof_list *list)
{
    const netprof_counter *c;
    size_t i;
    if (!g->count) return NETPROF_OK;
    c = list->schema->counters + list->source_first_counter + g->first;
    if (netprof__group_find_fast(files, g, c)) return NETPROF_ERR_NOMEM;
    if (files->hold == NETPROF_HOLD_NONE || *files->fd_budget <= 0) return NETPROF_OK;
    g->fds = (int *)netprof__resize(&files->alloc, NULL, g->count * sizeof *g->fds);
    if (!g->fds) return NETPROF_ERR_NOMEM;
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

/* Reopens the directory of a device that was removed and created again, since the old descriptors are dead. Returns 1
   if there is a new directory of the same name. */
static int netprof__group_reopen(netprof__group *g)
{
    int fd = netprof__open_dir(AT_FDCWD, g->path);
    if (fd < 0) return 0;
    if (g->dirfd >= 0 && netprof__inode(fd) == netprof__inode(g->dirfd)) {
        NETPROF_OS_CLOSE(fd);
        return 0;
    }
    netprof__group_close_files(g);
    if (g->dirfd >= 0) NETPROF_OS_CLOSE(g->dirfd);
    g->dirfd = fd;
    return 1;
}

/* Too many open files: this group gives up its descriptors for good. If it holds none (other groups or the program have
   them all), it gives up its directory, and its files are opened by their full paths. Returns 1 if that freed any. */
static int netprof__group_let_go(netprof__group *g)
{
    size_t i;
    int freed = 0;
    for (i = 0; g->fds && i < g->count; i++) {
        freed += g->fds[i] >= 0;
        if (g->fds[i] >= 0) NETPROF_OS_CLOSE(g->fds[i]);
        g->fds[i] = NETPROF__LOOSE;
    }
    if (!freed && g->dirfd >= 0) {
        NETPROF_OS_CLOSE(g->dirfd);
        g->dirfd = -1;
        freed = 1;
    }
    return freed;
}

/* Reads on while a text without its newline may continue: sysfs never needs this, but an interrupted read may. */
static ssize_t netprof__read_rest(int fd, char *text, size_t size, ssize_t got)
{
    size_t used = got > 0 ? (size_t)got : 0;
    while (used < size && !(used && text[used - 1] == '\n')) {
        ssize_t n = NETPROF_OS_PREAD(fd, text + used, size - used, (off_t)used);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return -errno;
        if (n == 0) break;
        used += (size_t)n;
    }
    return (ssize_t)used;
}

/* Opens a file of the group, by its full path if the directory is not open (no descriptor was left for it). */
static int netprof__open_entry(const netprof__group *g, const char *file)
{
    const char *name = file;
    char path[1400];
    int fd;
    if (g->dirfd < 0) {
        snprintf(path, sizeof path, "%s/%s", g->path, file);
        name = path;
    }
    do
        fd = NETPROF_OS_OPENAT(g->dirfd < 0 ? AT_FDCWD : g->dirfd, name, O_RDONLY);
    while (fd < 0 && errno == EINTR);
    return fd < 0 ? -errno : fd;
}

/* Reads one file into `text`; returns the length or -errno. A held descriptor is opened on first use; it is dropped
   when the device behind it is gone. */
static ssize_t netprof__read_entry(netprof__group *g, int *held, const char *file, char *text, size_t size)
{
    int fd = held ? *held : NETPROF__LOOSE, fresh = fd < 0, failed;
    ssize_t n;
    if (fresh) {
        fd = netprof__open_entry(g, file);
        if (fd < 0) return fd;
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
    if (held && failed && *held >= 0) *held = NETPROF__CLOSED;
    return n;
}

/* The text of a counter is short; anything longer is not a number. */
#define NETPROF__NUMBER_TEXT 96

/* Reads counter k of the group. *looked: a vanished directory is looked for only once per sweep. */
static void netprof__read_counter(netprof__group *g, netprof_sweep *sweep, size_t k, int *looked)
{
    char text[NETPROF__NUMBER_TEXT];
    size_t i = g->first + k;
    const char *file = sweep->counters[i].name + g->skip;
    int *held = g->fds ? &g->fds[k] : NULL;
    ssize_t n = netprof__read_entry(g, held, file, text, sizeof text);
    uint64_t value;
    int failed;
    if ((n == -ENOENT || n == -ENODEV || n == -ENXIO || n == -EBADF) && !*looked) {
        *looked = sweep->stale = 1;
        if (netprof__group_reopen(g)) n = netprof__read_entry(g, held, file, text, sizeof text);
    }
    if ((n == -EMFILE || n == -ENFILE) && netprof__group_let_go(g))
        n = netprof__read_entry(g, NULL, file, text, sizeof text);
    failed = n < 0 ? (int)-n : n == sizeof text ? EBADMSG : g->parse(text, (size_t)n, &value, &sweep->stamps_ns[i]);
    if (failed)
        netprof__set_failed(sweep, i, failed);
    else
        netprof__set_value(sweep, i, value);
}

/* Reads the counters of a group that are in the sweep's set. */
static void netprof__read_group(netprof__group *g, netprof_sweep *sweep)
{
    size_t k;
    int looked = 0;
    if (g->dirfd < 0) g->dirfd = netprof__open_dir(AT_FDCWD, g->path); /* a descriptor may be free again */
    if (g->dirfd < 0) g->dirfd = -1;
    if (sweep->set == NETPROF_SET_FAST)
        for (k = 0; k < g->fast_count; k++)
            netprof__read_counter(g, sweep, g->fast[k], &looked);
    else
        for (k = 0; k < g->count; k++)
            netprof__read_counter(g, sweep, k, &looked);
}

static void netprof__files_read(netprof__files *files, size_t device, netprof_sweep *sweep)
{
    size_t i;
    if (device + 1 > files->start_count) return;
    for (i = files->starts[device]; i < files->starts[device + 1]; i++)
        netprof__read_group(&files->groups[i], sweep);
}

/* Lists all files of a directory as counters "PREFIXname"; describe() sets the rest. A missing directory adds
   nothing. */
static netprof_err netprof__dir_group(netprof__files *files, netprof_list *list, const char *path, const char *prefix,
                                      netprof__parser parse, int (*describe)(netprof_counter *c, const char *name))
{
    netprof__names names;
    netprof__group *g;
    int failed = netprof__list_dir(&files->alloc, AT_FDCWD, path, &names) == -ENOMEM;
    char name[512];
    size_t i;
    if (!failed && names.count) failed = netprof__files_group(files, path, parse, strlen(prefix), &g) != NETPROF_OK;
    for (i = 0; !failed && i < names.count; i++) {
        netprof_counter c;
        memset(&c, 0, sizeof c);
        snprintf(name, sizeof name, "%s%s", prefix, names.names[i]);
        c.name = name;
        if (describe(&c, names.names[i])) netprof__group_counter(g, list, &c);
    }
    if (!failed && names.count) failed = netprof__group_hold(files, g, list) != NETPROF_OK;
    netprof__names_free(&names);
    return failed ? NETPROF_ERR_NOMEM : NETPROF_OK;
}

/* >>7.9 facts from files */

/* Adds a fact from a file, if the file can be read and is not empty. */
static void netprof__fact_from_file(netprof_list *list, const char *key, const char *dir, const char *file)
{
    char path[1024], text[256];
    if (netprof__prepend_root(path, sizeof path, dir, file) &&
        netprof__read_line(AT_FDCWD, path, text, sizeof text) > 0)
        netprof_list_fact(list, key, text);
}

/* Adds the last component of a link's target. */
static void netprof__fact_from_link(netprof_list *list, const char *key, const char *dir, const char *file)
{
    char path[1024], target[1024];
    const char *slash;
    ssize_t n;
    if (!netprof__prepend_root(path, sizeof path, dir, file)) return;
    n = readlink(path, target, sizeof target - 1);
    if (n <= 0) return;
    target[n] = 0;
    slash = strrchr(target, '/');
    netprof_list_fact(list, key, slash ? slash + 1 : target);
}

/* Facts of a PCI function from its sysfs directory (Documentation/ABI/testing/sysfs-bus-pci). */
static void netprof__pci_facts(netprof_list *list, const char *dir)
{
    static const char *const rows[][2] = {{"pci_speed", "/current_link_speed"},
                                          {"pci_width", "/current_link_width"},
                                          {"pci_max_speed", "/max_link_speed"},
                                          {"pci_max_width", "/max_link_width"},
                                          {"numa_node", "/numa_node"},
                                          {"local_cpus", "/local_cpulist"},
                                          {"pci_vendor", "/vendor"},
                                          {"pci_device", "/device"}};
    char path[1024], text[1024], *slot;
    size_t i;
    if (netprof__prepend_root(path, sizeof path, dir, "/uevent") &&
        netprof__read_text(AT_FDCWD, path, text, sizeof text) > 0 && (slot = strstr(text, "PCI_SLOT_NAME=")) != NULL) {
        slot += strlen("PCI_SLOT_NAME=");
        slot[strcspn(slot, "\n")] = 0;
        netprof_list_fact(list, "pci", slot);
    }
    for (i = 0; i < sizeof rows / sizeof *rows; i++)
        netprof__fact_from_file(list, rows[i][0], dir, rows[i][1]);
}

static void netprof__fact_number(netprof_list *list, const char *key, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    netprof_list_fact(list, key, text);
}

static void netprof__fact_text(netprof_list *list, const char *key, const char *value)
{
    if (*value) netprof_list_fact(list, key, value);
}

/* Reads a whole number from a file in a directory; returns 0 if there is none. */
static int netprof__file_number(const char *dir, const char *file, uint64_t *value)
{
    char path[1024], text[64];
    int64_t stamp;
    ssize_t n;
    if (!netprof__prepend_root(path, sizeof path, dir, file)) return 0;
    n = netprof__read_line(AT_FDCWD, path, text, sizeof text);
    return n > 0 && netprof__parse_number(text, (size_t)n, value, &stamp) == 0;
}

static void netprof__file_line(const char *dir, const char *file, char *text, size_t size)
{
    char path[1024];
    text[0] = 0;
    if (!netprof__prepend_root(path, sizeof path, dir, file) || netprof__read_line(AT_FDCWD, path, text, size) < 0)
        text[0] = 0;
}

static int netprof__file_exists(const char *dir, const char *file)
{
    char path[1024];
    return netprof__prepend_root(path, sizeof path, dir, file) && access(path, F_OK) == 0;
}

/* The last component of the target of a link such as device/subsystem; "" if there is none. */
static void netprof__link_target(const char *dir, const char *file, char *text, size_t size)
{
    char path[1024], target[1024];
    const char *slash;
    ssize_t n = netprof__prepend_root(path, sizeof path, dir, file) ? readlink(path, target, sizeof target - 1) : 0;
    target[n > 0 ? n : 0] = 0;
    slash = strrchr(target, '/');
    netprof__copy_text(text, size, slash ? slash + 1 : target);
}

/* >>7.10 netlink

   Messages, attributes, requests and events (linux/netlink.h, linux/rtnetlink.h). Numbers are written out, so that old
   kernel headers suffice. Every function that looks at a reply is a pure function of its bytes. */

/* A netlink socket and its buffer. If it is subscribed to link events, it receives events and answers through the same
   call, in the order in which they happened. */
typedef struct netprof__nl {
    int fd, protocol;
    int listens; /* should subscribe to events of links and queueing disciplines */
    int hears;   /* is subscribed: the kernel allowed it */
    int heard;   /* something happened, or may have, since this was last cleared */
    int small;   /* answers are usually small */
    uint32_t sequence;
    unsigned char *buffer;
} netprof__nl;

#ifndef NETPROF_NO_NETLINK

#define NETPROF__NL_BUFFER 32768 /* bytes: the largest datagram of a dump that the kernel sends */
/* bytes: the datagram that the kernel sends if given no more room, with pages of 4 KiB */
#define NETPROF__NL_PAGE        3776
#define NETPROF__NL_PAGES       4 /* after this many datagrams of that size, a dump counts as long */
#define NETPROF__NL_TRIES       4
#define NETPROF__NL_INTERRUPTED 1 /* complete, but links came or went during it */

#define NETPROF__NLA_F_NESTED    0x8000u
#define NETPROF__NLM_F_MULTI     0x2
#define NETPROF__NLM_F_DUMP_INTR 0x10
#define NETPROF__RTM_NEWLINK     16
#define NETPROF__RTM_DELLINK     17
#define NETPROF__RTM_GETLINK     18
#define NETPROF__RTM_NEWQDISC    36
#define NETPROF__RTM_DELQDISC    37
#define NETPROF__RTM_GETQDISC    38
#define NETPROF__RTM_GETDCB      78 /* of answers as well */
#define NETPROF__RTM_NEWSTATS    92
#define NETPROF__RTM_GETSTATS    94

static uint32_t netprof__u32_at(const unsigned char *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static uint16_t netprof__u16_at(const unsigned char *p)
{
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static uint64_t netprof__u64_at(const unsigned char *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

typedef struct netprof__attr {
    unsigned type; /* without the flags NLA_F_NESTED and NLA_F_NET_BYTEORDER */
    const unsigned char *data;
    size_t size;
} netprof__attr;

/* Reads the attribute at *at and advances. Returns 0 at the end, and at anything that does not fit into the rest. */
static int netprof__next_attr(const unsigned char *data, size_t size, size_t *at, netprof__attr *attr)
{
    size_t length;
    if (*at > size || size - *at < 4) return 0;
    length = netprof__u16_at(data + *at);
    if (length < 4 || length > size - *at) return 0;
    attr->type = netprof__u16_at(data + *at + 2) & 0x3fffu;
    attr->data = data + *at + 4;
    attr->size = length - 4;
    *at += (length + 3) & ~(size_t)3;
    return 1;
}

static uint32_t netprof__attr_u32(const netprof__attr *attr)
{
    return attr->size >= 4 ? netprof__u32_at(attr->data) : attr->size ? attr->data[0] : 0;
}

/* Copies a text attribute, which may lack its 0 byte. */
static void netprof__attr_text(const netprof__attr *attr, char *to, size_t size)
{
    size_t n = attr->size < size - 1 ? attr->size : size - 1;
    if (n) memcpy(to, attr->data, n);
    to[n] = 0;
}

/* Appends an attribute with `size` bytes of data (may be 0). Returns its offset. */
static size_t netprof__put_attr(unsigned char *request, size_t *at, unsigned type, const void *data, size_t size)
{
    uint16_t head[2];
    size_t begin = *at;
    head[0] = (uint16_t)(size + 4);
    head[1] = (uint16_t)type;
    memcpy(request + begin, head, 4);
    if (size) memcpy(request + begin + 4, data, size);
    *at += (size + 7) & ~(size_t)3;
    return begin;
}

typedef int (*netprof__nl_visit)(void *user, unsigned type, const unsigned char *body, size_t size);

/* True for a message that is an event, not an answer: of all answers, only these two come outside of dumps. */
static int netprof__is_event(unsigned type, unsigned flags)
{
    return type >= NETPROF__RTM_NEWLINK && type != NETPROF__RTM_NEWSTATS && type != NETPROF__RTM_GETDCB &&
           !(flags & NETPROF__NLM_F_MULTI);
}

/* True for events that matter here. The groups also report filters and actions, perhaps thousands of them, which are
   not counted here. */
static int netprof__is_news(unsigned type)
{
    return type == NETPROF__RTM_NEWLINK || type == NETPROF__RTM_DELLINK || type == NETPROF__RTM_NEWQDISC ||
           type == NETPROF__RTM_DELQDISC;
}

/* Handles the messages of one datagram in turn. Messages with another sequence number are skipped; events set *heard
   (NULL: the socket is not subscribed). visit() returns 0 or an errno. Returns 1 if the answer is complete, 0 if more
   is to come, or -errno (from the kernel, from visit(), EBADMSG for anything that is not a netlink message). */
static int netprof__nl_parse(const unsigned char *data, size_t size, uint32_t sequence, int *interrupted, int *heard,
                             netprof__nl_visit visit, void *user)
{
    size_t at = 0;
    while (size - at >= 16) {
        const unsigned char *message = data + at;
        size_t length = netprof__u32_at(message), step = (length + 3) & ~(size_t)3;
        unsigned type = netprof__u16_at(message + 4), flags = netprof__u16_at(message + 6);
        int code, ours = netprof__u32_at(message + 8) == sequence;
        if (length < 16 || length > size - at) return -EBADMSG;
        at = step < size - at ? at + step : size;
        if (heard && netprof__is_event(type, flags)) {
            *heard |= netprof__is_news(type);
            continue;
        }
        if (!ours) continue;
        *interrupted |= (flags & NETPROF__NLM_F_DUMP_INTR) != 0;
        if (type == 2 || type == 3) { /* NLMSG_ERROR, NLMSG_DONE: a negative errno or 0; DONE may lack it */
            code = length >= 20 ? (int)netprof__u32_at(message + 16) : type == 2 ? -EBADMSG : 0;
            return code < 0 && code > -4096 ? code : 1;
        }
        if (type == 4) /* NLMSG_OVERRUN */
            return -ENOBUFS;
        if (type < 16) /* NLMSG_NOOP and other control messages */
            continue;
        code = visit(user, type, message + 16, length - 16);
        if (code) return -code;
        if (!(flags & NETPROF__NLM_F_MULTI)) return 1;
    }
    return at == size ? 0 : -EBADMSG;
}

static void netprof__nl_close(netprof__nl *nl)
{
    if (nl->fd >= 0) NETPROF_OS_CLOSE(nl->fd);
    nl->fd = -1;
}

#define NETPROF__OF_LINKS  1 /* RTMGRP_LINK */
#define NETPROF__OF_QUEUES 8 /* RTMGRP_TC: also reports filters and actions, which may be many */

/* Subscribes the socket to these groups; returns 1 on success. */
static int netprof__nl_join(int fd, uint32_t groups)
{
    struct {
        uint16_t family, pad;
        uint32_t pid, groups;
    } address; /* struct sockaddr_nl */
    memset(&address, 0, sizeof address);
    address.family = AF_NETLINK;
    address.groups = groups;
    return NETPROF_OS_BIND(fd, (const struct sockaddr *)(const void *)&address, sizeof address) == 0;
}

/* Opens the socket; returns 0 or an errno. Strict checking makes the kernel honour the filters of a request, where it
   can (Linux 4.20). The timeout keeps a lost reply from hanging the program. */
static int netprof__nl_open(netprof__nl *nl)
{
    int one = 1;
    struct timeval limit;
    if (nl->fd >= 0) return 0;
    nl->fd = NETPROF_OS_SOCKET(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, nl->protocol);
    if (nl->fd < 0) return errno;
    memset(&limit, 0, sizeof limit);
    limit.tv_sec = 5;
    setsockopt(nl->fd, 270, 12, &one, sizeof one); /* SOL_NETLINK, NETLINK_GET_STRICT_CHK */
    setsockopt(nl->fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    nl->hears = nl->listens && netprof__nl_join(nl->fd, NETPROF__OF_LINKS | NETPROF__OF_QUEUES);
    nl->heard = 1; /* what happened before is unknown */
    return 0;
}

#define NETPROF__NL_LEFT 4096 /* datagrams: more than a socket's queue holds, plus the rest of a dump */

/* Empties the queue, including the rest of a dump, which would otherwise keep the kernel busy. Returns 0 if the socket
   is no longer usable. */
static int netprof__nl_drain(const netprof__nl *nl)
{
    int left;
    for (left = NETPROF__NL_LEFT; left; left--)
        if (NETPROF_OS_RECV(nl->fd, nl->buffer, NETPROF__NL_PAGE, MSG_TRUNC | MSG_DONTWAIT) < 0 && errno != EINTR &&
            errno != ENOBUFS)
            return errno == EAGAIN;
    return 1;
}

/* Cleans up after a lost or garbled reply: whatever follows it cannot be trusted and is thrown away. A subscribed
   socket stays open: its queue overflows whenever much happens between two sweeps, and a new one would belong to the
   namespace that the thread is in now. Any other socket is reopened next time. */
static int netprof__nl_broken(netprof__nl *nl, int sys_errno)
{
    nl->heard = 1;
    /* The program closed it; the number may be its own now. */
    if (sys_errno == EBADF || sys_errno == ENOTSOCK) nl->fd = -1;
    if (nl->fd >= 0 && (!nl->hears || !netprof__nl_drain(nl))) netprof__nl_close(nl);
    return -sys_errno;
}

/* The buffer size for the next datagram, after `came` datagrams. The kernel prepares, and may clear, as much as it was
   ever offered; with small answers that is most of the cost. */
static size_t netprof__nl_room(const netprof__nl *nl, int came)
{
    return nl->small && came < NETPROF__NL_PAGES ? NETPROF__NL_PAGE : NETPROF__NL_BUFFER;
}

/* Receives one datagram; returns its size or -errno. rtnetlink answers before send() returns: an answer that is not
   there by then found no room after the events, and is not waited for. */
static ssize_t netprof__nl_receive(netprof__nl *nl, size_t room)
{
    ssize_t n;
    do
        n = NETPROF_OS_RECV(nl->fd, nl->buffer, room, nl->hears ? MSG_TRUNC | MSG_DONTWAIT : MSG_TRUNC);
    while (n < 0 && errno == EINTR);
    if (n < 0) return nl->hears && errno == EAGAIN ? -ENOBUFS : -errno;
    if (n == 0) return -EBADMSG;
    if ((size_t)n <= room) return n;
    if (room == NETPROF__NL_BUFFER) return -EMSGSIZE;
    nl->small = 0; /* pages are larger than assumed */
    return -ENOBUFS;
}

/* Sends a request, after filling in its length and sequence number, and visits the answer. Returns 0,
   NETPROF__NL_INTERRUPTED or -errno. */
static int netprof__nl_ask(netprof__nl *nl, unsigned char *request, size_t size, netprof__nl_visit visit, void *user)
{
    uint32_t length = (uint32_t)size;
    int result = -netprof__nl_open(nl), interrupted = 0, came = 0;
    ssize_t n;
    if (result) return result;
    nl->sequence++;
    memcpy(request, &length, 4);
    memcpy(request + 8, &nl->sequence, 4);
    do
        n = NETPROF_OS_SEND(nl->fd, request, size, 0);
    while (n < 0 && errno == EINTR);
    if (n < 0) return netprof__nl_broken(nl, errno);
    while (result == 0) {
        n = netprof__nl_receive(nl, netprof__nl_room(nl, came++));
        if (n < 0) return netprof__nl_broken(nl, (int)-n);
        result = netprof__nl_parse(nl->buffer, (size_t)n, nl->sequence, &interrupted, nl->hears ? &nl->heard : NULL,
                                   visit, user);
    }
    if (result == -ENOBUFS || result == -EBADMSG || result == -ENOMEM) netprof__nl_broken(nl, -result);
    return result < 0 ? result : interrupted ? NETPROF__NL_INTERRUPTED : 0;
}

/* True if the request should be repeated: the reply found no room, another dump was running, or the list changed during
   it. */
static int netprof__nl_again(int result)
{
    return result == NETPROF__NL_INTERRUPTED || result == -ENOBUFS || result == -EBUSY;
}

/* A dump request of that type: the header and a zeroed body. */
static void netprof__nl_request(unsigned char *request, size_t size, unsigned type)
{
    uint16_t word = (uint16_t)type, flags = 0x301; /* NLM_F_REQUEST | NLM_F_ROOT | NLM_F_MATCH */
    memset(request, 0, size);
    memcpy(request + 4, &word, 2);
    memcpy(request + 6, &flags, 2);
}

/* Opens a socket that is subscribed to link events; -1 if that is not possible. */
static int netprof__events_open(void)
{
    int fd = NETPROF_OS_SOCKET(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); /* NETLINK_ROUTE */
    if (fd >= 0 && !netprof__nl_join(fd, NETPROF__OF_LINKS)) {
        NETPROF_OS_CLOSE(fd);
        fd = -1;
    }
    return fd;
}

/* Returns 1 if something happened since the last call. The events themselves are not looked at; ENOBUFS means that some
   were lost. */
static int netprof__events_poll(int fd)
{
    char data[256];
    int heard = 0, i;
    for (i = 0; i < 256; i++) {
        ssize_t n = NETPROF_OS_RECV(fd, data, sizeof data, MSG_DONTWAIT);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0 && (n == 0 || errno != ENOBUFS)) return heard || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK);
        heard = 1;
    }
    return heard;
}

#endif /* NETPROF_NO_NETLINK */

/* >>7.11 ethtool's ioctl */

typedef struct netprof__ifreq {
    char name[16];
    union {
        void *data;
        int index;
        char room[24];
    } u;
} netprof__ifreq;

#define NETPROF__SIOCGIFINDEX 0x8933
#define NETPROF__SIOCETHTOOL  0x8946

/* linux/ethtool.h; `data` begins with the command. Returns 0 or an errno. */
static int netprof__ethtool_ioctl(int fd, const char *name, unsigned long request, netprof__ifreq *ifreq)
{
    int result;
    netprof__copy_text(ifreq->name, sizeof ifreq->name, name);
    do
        result = NETPROF_OS_IOCTL(fd, request, ifreq);
    while (result < 0 && errno == EINTR);
    return result < 0 ? errno : 0;
}

static int netprof__ethtool(int fd, const char *name, void *data)
{
    netprof__ifreq ifreq;
    memset(&ifreq, 0, sizeof ifreq);
    ifreq.u.data = data;
    return netprof__ethtool_ioctl(fd, name, NETPROF__SIOCETHTOOL, &ifreq);
}

#endif /* NETPROF_NO_SOURCES */

#ifndef NETPROF_REGIONS_ONLY
/* >>7.12 the context */

typedef struct netprof__part {
    netprof_source source;
    void *user;
    size_t first_counter, counter_count, first_device, device_count;
    uint32_t missing[2]; /* per set: number of vanished values that a rescan did not explain */
    int stale;
} netprof__part;

struct netprof {
    netprof_alloc alloc;
    netprof_hold hold;
    char *root; /* "", or the root without a final '/' */
    int pid, threads, no_rescan;
    int fd_budget;
    int torn; /* a discovery failed half-way: the sources no longer match the schema */
    netprof__filter include, exclude, fast;
    netprof__part *parts;
    size_t part_count, part_capacity;
    const netprof_schema *schema;
    struct netprof__tcp *tcp;   /* state of the source tcp, once a socket was added */
    struct netprof__user *user; /* likewise for the source user */
};

/* Built-in sources: each creates its state and its table of functions. */
typedef netprof_err (*netprof__maker)(netprof *np, netprof_source *source, void **user);

static netprof_err netprof__add_part(netprof *np, const netprof_source *source, void *user);
static netprof_err netprof__rescan_part(netprof *np, const void *user, netprof_error *error);

#endif /* NETPROF_REGIONS_ONLY */

/* ---- >>8 implementation: sources ---- */

#ifndef NETPROF_NO_SOURCES
/* >>8.1 source cxi: HPE Cassini, /sys/class/cxi and /run/cxi

   Telemetry (driver shs-cxi-driver, cass_telem.c): one file per item, "value@seconds.nanoseconds". Counters have 56
   bits unless the table says otherwise; the longest matching prefix of a name decides. The tests check the table
   against the full list of items. */

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

/* Few, cheap and decisive: volume, pause, host back-pressure, matching, translation, losses, link quality. */
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

/* Retry handler (libcxi retry_handler/stats.c): these go up and down, all others are counters. */
static const char *const netprof__cxi_rh_gauges[] = {
    "srb_in_use",     "spt_in_use",         "smt_in_use",        "sct_in_use",
    "trs_in_use",     "mst_in_use",         "tct_in_use",        "nid_value",
    "nid_tree_count", "max_nid_tree_count", "switch_tree_count", "max_switch_tree_count",
    "parked_nids",    "max_parked_nids",    "parked_switches",   "max_parked_switches"};

typedef struct netprof__cxi {
    netprof *np;
    netprof__files files;
    char class_path[512];
    uint64_t signature;
} netprof__cxi;

/* Entries of telemetry/ and of the retry handler's directory that are not counters. */
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

/* The NICs of a node have the same items: if the previous one has the same name in this place, it saves the look-up. */
static int netprof__cxi_describe_alike(const netprof_list *list, netprof_counter *c, const char *name)
{
    const netprof__schema *s = list->schema;
    const netprof_device *d;
    size_t at;
    if (list->failed || s->pub.device_count < list->source_first_device + 2) return 0;
    d = &s->devices[s->pub.device_count - 1];
    at = (size_t)d[-1].first + d->count;
    if (at >= d->first || strcmp(s->counters[at].name, name) != 0) return 0;
    *c = s->counters[at];
    return 1;
}

/* Lists the telemetry items of a NIC. A directory that cannot be listed is recorded as a fact and a state. */
static netprof_err netprof__cxi_telemetry(netprof__cxi *cxi, netprof_list *list, const char *device_path)
{
    netprof__group *g;
    netprof__names names;
    char path[1024];
    size_t i;
    int failed;
    netprof__prepend_root(path, sizeof path, device_path, "/telemetry");
    failed = netprof__list_dir(&cxi->files.alloc, AT_FDCWD, path, &names);
    if (failed == -EMFILE || failed == -ENFILE) cxi->signature = 0; /* the next take rescans */
    if (failed && failed != -ENOMEM) {
        netprof_list_fact(list, "telemetry_error", strerror(-failed));
        netprof_list_state(list, netprof_status_of_errno(-failed), -failed, path);
    }
    if (failed != -ENOMEM && names.count && netprof__files_group(&cxi->files, path, netprof__parse_stamped, 0, &g))
        failed = -ENOMEM;
    for (i = 0; failed != -ENOMEM && i < names.count; i++) {
        netprof_counter c;
        if (netprof__cxi_skipped(names.names[i])) continue;
        if (!netprof__cxi_describe_alike(list, &c, names.names[i])) netprof__cxi_describe(&c, names.names[i]);
        netprof__group_counter(g, list, &c);
    }
    if (failed != -ENOMEM && names.count && netprof__group_hold(&cxi->files, g, list)) failed = -ENOMEM;
    netprof__names_free(&names);
    return failed == -ENOMEM ? NETPROF_ERR_NOMEM : NETPROF_OK;
}

/* A 32-bit counter printed with "%d": negative from 2^31 on. */
static int netprof__parse_int32(const char *text, size_t size, uint64_t *value, int64_t *stamp_ns)
{
    int failed = netprof__parse_number(text, size, value, stamp_ns);
    if (!failed) *value &= UINT32_MAX;
    return failed;
}

static int netprof__cxi_describe_rh(netprof_counter *c, const char *name)
{
    c->width = 32;
    c->kind =
        netprof__in_table(name, netprof__cxi_rh_gauges, sizeof netprof__cxi_rh_gauges / sizeof *netprof__cxi_rh_gauges)
            ? NETPROF_KIND_GAUGE
            : NETPROF_KIND_COUNTER;
    c->unit = c->kind == NETPROF_KIND_GAUGE ? "entries" : "events";
    return !netprof__cxi_skipped(name);
}

/* time_0 .. time_9: the last ten times at which the link came up again, as a ring. */
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

/* Adds the first name in a directory: device/net/ holds the one interface of a NIC. */
static void netprof__fact_from_first_entry(netprof_list *list, const netprof_alloc *a, const char *key, const char *dir,
                                           char *name, size_t size)
{
    netprof__names names;
    int failed = netprof__list_dir(a, AT_FDCWD, dir, &names);
    name[0] = 0;
    if (failed == -ENOMEM) list->failed = NETPROF_ERR_NOMEM;
    if (!failed && names.count) {
        netprof__copy_text(name, size, names.names[0]);
        netprof_list_fact(list, key, name);
    }
    netprof__names_free(&names);
}

/* For drivers without device/net: finds the interface whose device is the same PCI function. */
static void netprof__cxi_find_netdev(netprof__cxi *cxi, netprof_list *list, const char *device, char *name, size_t size)
{
    netprof__names names;
    struct stat mine, other;
    char path[1024];
    size_t i;
    if (stat(device, &mine) != 0) return;
    snprintf(path, sizeof path, "%s/sys/class/net", list->root);
    if (netprof__list_dir(&cxi->files.alloc, AT_FDCWD, path, &names) == -ENOMEM) list->failed = NETPROF_ERR_NOMEM;
    for (i = 0; i < names.count && !*name; i++) {
        snprintf(path, sizeof path, "%s/sys/class/net/%s/device", list->root, names.names[i]);
        if (stat(path, &other) == 0 && other.st_ino == mine.st_ino && other.st_dev == mine.st_dev)
            netprof__copy_text(name, size, names.names[i]);
    }
    if (*name) netprof_list_fact(list, "netdev", name);
    netprof__names_free(&names);
}

static void netprof__cxi_facts(netprof__cxi *cxi, netprof_list *list, const char *device)
{
    /* Cassini 1 first, then Cassini 2 where it differs: the first file that can be read is used. */
    static const char *const rows[][2] = {{"cassini_version", "/properties/cassini_version"},
                                          {"speed_mbps", "/properties/speed"},
                                          {"link", "/port/link"},
                                          {"link", "/port/0/link/state"},
                                          {"port_speed", "/port/speed"},
                                          {"port_speed", "/port/0/link/speed"},
                                          {"media", "/port/media"},
                                          {"media", "/port/0/media/type"},
                                          {"link_layer_retry", "/port/link_layer_retry"},
                                          {"link_layer_retry", "/port/0/llr/state"},
                                          {"loopback", "/port/loopback"},
                                          {"loopback", "/port/0/link/config/loopback"},
                                          {"pause", "/port/pause"},
                                          {"pause", "/port/0/pause"},
                                          {"hpc_mtu", "/properties/hpc_mtu"},
                                          {"nic_addr", "/properties/nic_addr"},
                                          {"nid", "/properties/nid"},
                                          {"driver_rev", "/properties/driver_rev"},
                                          {"fw_version", "/uc/qspi_blob_version"},
                                          {"esm_link_speed", "/properties/current_esm_link_speed"},
                                          {"model", "/fru/model"},
                                          {"part_number", "/fru/part_number"},
                                          {"serial_number", "/fru/serial_number"}};
    char path[1024], name[64];
    const char *done = "";
    size_t i;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t before = list->device_fact_count;
        if (strcmp(done, rows[i][0]) == 0) continue;
        netprof__fact_from_file(list, rows[i][0], device, rows[i][1]);
        if (list->device_fact_count > before) done = rows[i][0];
    }
    netprof__pci_facts(list, device);
    netprof__prepend_root(path, sizeof path, device, "/net");
    netprof__fact_from_first_entry(list, &cxi->files.alloc, "netdev", path, name, sizeof name);
    if (!*name) netprof__cxi_find_netdev(cxi, list, device, name, sizeof name);
    if (*name) {
        snprintf(path, sizeof path, "/net/%s/address", name);
        netprof__fact_from_file(list, "mac", device, path);
        snprintf(path, sizeof path, "/net/%s/mtu", name);
        netprof__fact_from_file(list, "mtu", device, path);
    }
}

/* Lists one NIC: facts, telemetry, link restarts, properties, and the retry handler's counters ("rh:..."). */
static netprof_err netprof__cxi_device(netprof__cxi *cxi, netprof_list *list, const char *name)
{
    char device[768], path[1024];
    struct stat st;
    uint64_t identity = 0;
    unsigned flags = NETPROF_DEVICE_PHYSICAL;
    snprintf(device, sizeof device, "%s/%s/device", cxi->class_path, name);
    snprintf(path, sizeof path, "%s/telemetry", device);
    if (stat(path, &st) == 0) identity = (uint64_t)st.st_ino;
    snprintf(path, sizeof path, "%s/physfn", device);
    if (access(path, F_OK) == 0) flags = NETPROF_DEVICE_VIRTUAL; /* an SR-IOV function: the port counts its traffic */
    netprof_list_device(list, name, identity, flags);
    netprof__cxi_facts(cxi, list, device);
    if (netprof__files_device(&cxi->files) || netprof__cxi_telemetry(cxi, list, device)) return NETPROF_ERR_NOMEM;
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

/* The state of a source whose class directory cannot be listed. It is absent where there is no such hardware; without
   /sys nobody knows whether there is. (Another root may be a tree of which only parts were saved.) */
static void netprof__class_state(netprof_list *list, int failed, const char *path)
{
    if (failed == -ENOENT && (*list->root || access("/sys/class", F_OK) == 0))
        netprof_list_state(list, NETPROF_STATUS_ABSENT, ENOENT, path);
    else if (failed == -ENOENT)
        netprof_list_state(list, NETPROF_STATUS_UNREADABLE, ENOENT, "/sys/class");
    else
        netprof_list_state(list, netprof_status_of_errno(-failed), -failed, path);
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
    if (result) netprof__class_state(list, result, cxi->class_path);
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
    if (!cxi) return NETPROF_ERR_NOMEM;
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

/* >>8.2 source netdev: the links of a network namespace

   On the live system: rtnetlink. One RTM_GETSTATS dump reads the 64-bit statistics of every link (kernel
   net/core/rtnetlink.c, linux/if_link.h: IFLA_STATS_LINK_64). Names, kinds, masters and carrier come from RTM_GETLINK,
   at discovery and again only after an event of the groups RTNLGRP_LINK or RTNLGRP_TC. A sweep of all counters also
   makes one RTM_GETQDISC dump (linux/pkt_sched.h, TCA_STATS2) for what each link's root queueing discipline dropped and
   holds back; only the root, because its figures include those of its classes and queues. Links without a queue
   ("noqueue") have no such counters. Before Linux 4.7 each sweep is an RTM_GETLINK dump with IFLA_STATS64; the 32-bit
   IFLA_STATS is never used. The sockets belong to the network namespace of the thread that opened the context, even
   if that thread enters another one later.

   Under another root, or without netlink: ROOT/sys/class/net. Links without a statistics directory there, and all links
   if a pid is given, are read from ROOT/proc/PID/net/dev, or ROOT/proc/1/net/dev, because proc/net is self/net even
   through a bind mount; if process 1 is not there, from ROOT/proc/net/dev.

   Each byte counts once. PHYSICAL is a link with a bus device and no kind of its own. VIRTUAL is everything else: links
   on top of a port (bond, VLAN, bridge), links that never leave the node (lo, veth), an SR-IOV function whose PF is
   here too, a switchdev representor, and links below a master that is itself a port: hv_netvsc and net_failover include
   in their own statistics the traffic of the VF that they enslave. A function whose PF is elsewhere (a guest, a
   container that was given a VF) is the port of its node. A link known only from /proc/net/dev is neither, since that
   file does not say what it is. */

/* Fields of struct rtnl_link_stats64 in Linux 6.x; shorter and longer structs are understood, too. */
#define NETPROF__STATS64        25
#define NETPROF__NETDEV_COLUMNS 32
/* The first of three columns that come from RTM_GETLINK. */
#define NETPROF__CARRIER NETPROF__STATS64
/* The first of the columns that come from RTM_GETQDISC. */
#define NETPROF__QDISC        (NETPROF__CARRIER + 3)
#define NETPROF__QDISC_MASK   (0xfu << NETPROF__QDISC)
#define NETPROF__STATS64_MASK (((uint32_t)1 << NETPROF__STATS64) - 1)

typedef struct netprof__column {
    const char *name, *unit;
    uint8_t kind, width;
    uint16_t flags;
} netprof__column;

/* In the order of struct rtnl_link_stats64. A driver may count in 32 bits internally: a decrease is then a reset. */
static const netprof__column netprof__netdev_columns[NETPROF__NETDEV_COLUMNS] = {
    {"rx_packets", "packets", NETPROF_KIND_COUNTER, 64, NETPROF_FAST},
    {"tx_packets", "packets", NETPROF_KIND_COUNTER, 64, NETPROF_FAST},
    {"rx_bytes", "bytes", NETPROF_KIND_COUNTER, 64, NETPROF_FAST},
    {"tx_bytes", "bytes", NETPROF_KIND_COUNTER, 64, NETPROF_FAST},
    {"rx_errors", "errors", NETPROF_KIND_COUNTER, 64, NETPROF_FAST},
    {"tx_errors", "errors", NETPROF_KIND_COUNTER, 64, NETPROF_FAST},
    {"rx_dropped", "packets", NETPROF_KIND_COUNTER, 64, NETPROF_FAST},
    {"tx_dropped", "packets", NETPROF_KIND_COUNTER, 64, NETPROF_FAST},
    {"multicast", "packets", NETPROF_KIND_COUNTER, 64, 0},
    {"collisions", "collisions", NETPROF_KIND_COUNTER, 64, 0},
    {"rx_length_errors", "errors", NETPROF_KIND_COUNTER, 64, 0},
    {"rx_over_errors", "errors", NETPROF_KIND_COUNTER, 64, 0},
    {"rx_crc_errors", "errors", NETPROF_KIND_COUNTER, 64, 0},
    {"rx_frame_errors", "errors", NETPROF_KIND_COUNTER, 64, 0},
    {"rx_fifo_errors", "errors", NETPROF_KIND_COUNTER, 64, 0},
    {"rx_missed_errors", "errors", NETPROF_KIND_COUNTER, 64, 0},
    {"tx_aborted_errors", "errors", NETPROF_KIND_COUNTER, 64, 0},
    {"tx_carrier_errors", "errors", NETPROF_KIND_COUNTER, 64, 0},
    {"tx_fifo_errors", "errors", NETPROF_KIND_COUNTER, 64, 0},
    {"tx_heartbeat_errors", "errors", NETPROF_KIND_COUNTER, 64, 0},
    {"tx_window_errors", "errors", NETPROF_KIND_COUNTER, 64, 0},
    {"rx_compressed", "packets", NETPROF_KIND_COUNTER, 64, 0},
    {"tx_compressed", "packets", NETPROF_KIND_COUNTER, 64, 0},
    {"rx_nohandler", "packets", NETPROF_KIND_COUNTER, 64, 0},
    {"rx_otherhost_dropped", "packets", NETPROF_KIND_COUNTER, 64, 0},
    {"carrier", "1 = up", NETPROF_KIND_STATE, 1, 0},
    {"carrier_up_count", "events", NETPROF_KIND_COUNTER, 32, 0},
    {"carrier_down_count", "events", NETPROF_KIND_COUNTER, 32, NETPROF_FAST},
    {"qdisc_drops", "packets", NETPROF_KIND_COUNTER, 32, 0},
    {"qdisc_overlimits", "events", NETPROF_KIND_COUNTER, 32, 0},
    {"qdisc_requeues", "packets", NETPROF_KIND_COUNTER, 32, 0},
    {"qdisc_backlog", "bytes", NETPROF_KIND_GAUGE, 32, 0},
};

/* Columns of /proc/net/dev that are sums of several statistics (net/core/net-procfs.c). They keep names of their own,
   so that rx_drop (dropped + missed) is not mistaken for rx_dropped. */
static const netprof__column netprof__procdev_merged[] = {
    {"rx_drop", "packets", NETPROF_KIND_COUNTER, 64, NETPROF_FAST},
    {"rx_frame", "errors", NETPROF_KIND_COUNTER, 64, 0},
    {"tx_carrier", "errors", NETPROF_KIND_COUNTER, 64, 0},
};

/* Columns of /proc/net/dev that are one statistic each, under a shorter title. */
static const char *const netprof__procdev_same[][2] = {
    {"rx_errs", "rx_errors"},  {"rx_fifo", "rx_fifo_errors"}, {"rx_multicast", "multicast"}, {"tx_errs", "tx_errors"},
    {"tx_drop", "tx_dropped"}, {"tx_fifo", "tx_fifo_errors"}, {"tx_colls", "collisions"},
};

#define NETPROF__ARPHRD_LOOPBACK 772 /* linux/if_arp.h */

/* The result of discovery for one link. */
typedef struct netprof__link {
    uint32_t ifindex, master, lower, mtu, type, carrier_up, carrier_down, netnsid;
    uint8_t carrier, operstate, has_carrier, has_up, has_down, has_mtu, has_netnsid;
    uint8_t has_bus, is_function; /* has a bus device; is an SR-IOV function whose PF is here */
    char name[64], kind[32], qdisc[32], port[32], mac[100], bus[32], bus_device[64];
} netprof__link;

/* What a sweep needs for one link; slots are in the order of the devices. */
typedef struct netprof__netdev_slot {
    uint32_t ifindex, master;
    uint32_t mask;  /* columns that were listed, one after another from `first` */
    uint32_t fast;  /* those of them that are in the fast set */
    uint32_t round; /* the last sweep that found it */
    size_t first;
    uint32_t carrier[3]; /* state, up count, down count */
    uint32_t qdisc[4];   /* drops, overlimits, requeues, backlog */
    uint8_t qdisc_known; /* one bit each: reported by the kernel in this sweep */
    uint8_t has_queue;   /* the link has a root queueing discipline that counts */
    uint8_t from_proc;
    char name[64];
} netprof__netdev_slot;

#define NETPROF__PROC_COLUMNS 32

typedef struct netprof__procdev {
    char path[512];
    char *text;
    size_t size;
    char header[512]; /* as at discovery: a different one means different columns */
    char names[NETPROF__PROC_COLUMNS][32];
    size_t count;
} netprof__procdev;

typedef struct netprof__netdev {
    netprof *np;
    netprof__files files;
    netprof__netdev_slot *slots;
    size_t slot_count, slot_capacity;
    netprof__link *links; /* only during discovery */
    size_t link_count, link_capacity;
    char class_path[512];
    uint64_t signature;
    netprof__procdev proc;
    uint32_t round;
    int proc_used, live, by_netlink, out_of_memory;
    netprof__nl route;
    int no_stats_dump; /* the kernel lacks RTM_GETSTATS */
    int qdisc_errno;   /* why the last sweep got no figures of queueing disciplines */
    size_t hint;       /* the slot that comes next in the kernel's order */
} netprof__netdev;

/* >>8.2.1 which links are ports */

static const netprof__link *netprof__link_by_index(const netprof__link *links, size_t count, uint32_t ifindex)
{
    size_t i;
    for (i = 0; ifindex && i < count; i++)
        if (links[i].ifindex == ifindex) return &links[i];
    return NULL;
}

/* True for the names that a switchdev driver gives to the ports of other functions: pf0vf3, pf0sf88, c1pf0vf1. */
static int netprof__is_representor(const char *port)
{
    if (*port == 'c' && netprof__is_digit(port[1])) port += 1 + strspn(port + 1, "0123456789");
    if (strncmp(port, "pf", 2) != 0 || !netprof__is_digit(port[2])) return 0;
    port += 2 + strspn(port + 2, "0123456789");
    return strncmp(port, "vf", 2) == 0 || strncmp(port, "sf", 2) == 0;
}

/* True for a port of its own: on a bus, on top of nothing, not of a kind made by software (IPoIB parents have a
   kind). */
static int netprof__is_port(const netprof__link *link)
{
    return link->has_bus && (!link->lower || link->lower == link->ifindex) &&
           (!*link->kind || strcmp(link->kind, "ipoib") == 0);
}

/* Returns the kind in words and sets PHYSICAL or VIRTUAL: see the top of section 8.2. */
static const char *netprof__classify(const netprof__link *links, size_t count, const netprof__link *link,
                                     unsigned *flags)
{
    const netprof__link *master = netprof__link_by_index(links, count, link->master);
    *flags = NETPROF_DEVICE_VIRTUAL;
    if (link->type == NETPROF__ARPHRD_LOOPBACK) return "loopback";
    if (!netprof__is_port(link)) return *link->kind ? link->kind : "virtual";
    if (link->is_function || (master && netprof__is_port(master))) return "vf";
    if (netprof__is_representor(link->port)) return "representor";
    *flags = NETPROF_DEVICE_PHYSICAL;
    if (master && (strcmp(master->kind, "bond") == 0 || strcmp(master->kind, "team") == 0)) return "bond member";
    if (master && strcmp(master->kind, "bridge") == 0) return "bridge port";
    return *link->kind ? link->kind : "physical";
}

/* Mbit/s, or 0 if unknown: drivers report that as -1, 65535 or 4294967295. */
static uint32_t netprof__known_speed(uint64_t speed)
{
    return speed >= UINT32_MAX || speed == 65535 ? 0 : (uint32_t)speed;
}

/* >>8.2.2 facts of a link */

/* struct ethtool_link_settings: the speed is word 1, the duplex byte 8, the number of words of its masks byte 15. The
   first reply holds that number, negated; the second one has the settings. */
static int netprof__link_settings(int fd, const char *name, uint32_t *speed, unsigned *duplex)
{
    uint32_t words[12 + 3 * 128];
    unsigned char *bytes = (unsigned char *)words;
    int failed, need;
    memset(words, 0, sizeof words);
    words[0] = 0x4c; /* ETHTOOL_GLINKSETTINGS */
    failed = netprof__ethtool(fd, name, words);
    if (failed) return failed;
    need = bytes[15] < 128 ? 0 : 256 - (int)bytes[15];
    if (!need) return EBADMSG;
    memset(words, 0, sizeof words);
    words[0] = 0x4c;
    bytes[15] = (unsigned char)need;
    failed = netprof__ethtool(fd, name, words);
    if (failed || (int)bytes[15] != need) return failed ? failed : EBADMSG;
    *speed = netprof__known_speed(words[1]);
    *duplex = bytes[8];
    return 0;
}

/* RFC 2863, linux/if.h */
static const char *const netprof__operstates[] = {"unknown", "notpresent", "down", "lowerlayerdown",
                                                  "testing", "dormant",    "up"};
#define NETPROF__OPERSTATES (sizeof netprof__operstates / sizeof *netprof__operstates)

/* Facts of the bus device of a link. A virtio device is the child of its PCI function. */
static void netprof__bus_facts(netprof_list *list, const char *device)
{
    char bus[64], parent[1024];
    netprof__fact_from_link(list, "driver", device, "/driver");
    netprof__link_target(device, "/subsystem", bus, sizeof bus);
    if (strcmp(bus, "virtio") == 0 && netprof__prepend_root(parent, sizeof parent, device, "/..")) {
        netprof__link_target(parent, "/subsystem", bus, sizeof bus);
        device = parent;
    }
    if (!*bus || strcmp(bus, "pci") == 0)
        netprof__pci_facts(list, device);
    else
        netprof__fact_from_file(list, "numa_node", device, "/numa_node");
}

/* Speed and duplex, read again at each discovery: a link that was down has none, and may have one later. */
static void netprof__speed_facts(netprof_list *list, const char *dir, const char *name, int fd)
{
    static const char *const words[] = {"half", "full"};
    uint32_t speed = 0;
    unsigned duplex = 255;
    uint64_t number;
    char text[32];
    if (fd >= 0 && netprof__link_settings(fd, name, &speed, &duplex) == 0) {
        netprof__fact_text(list, "duplex", duplex < 2 ? words[duplex] : "");
    } else if (*dir) {
        if (netprof__file_number(dir, "/speed", &number)) speed = netprof__known_speed(number);
        netprof__file_line(dir, "/duplex", text, sizeof text);
        netprof__fact_text(list, "duplex", strcmp(text, "unknown") == 0 ? "" : text);
    }
    if (speed) netprof__fact_number(list, "speed_mbps", speed);
}

/* Which pause frames (IEEE 802.3x) the port heeds and sends; struct ethtool_pauseparam: cmd, autoneg, rx_pause,
   tx_pause. Anyone may ask. */
static void netprof__pause_fact(netprof_list *list, const char *name, int fd)
{
    uint32_t words[4];
    memset(words, 0, sizeof words);
    words[0] = 0x12; /* ETHTOOL_GPAUSEPARAM */
    if (fd < 0 || netprof__ethtool(fd, name, words)) return;
    netprof_list_fact(list, "pause", words[2] ? (words[3] ? "rx tx" : "rx") : words[3] ? "tx" : "off");
}

/* The priorities of a set, "3" or "0 3"; "off" of none. */
static void netprof__priorities_fact(netprof_list *list, const char *key, unsigned set)
{
    char text[32] = "off";
    size_t n = 0;
    unsigned i;
    for (i = 0; i < 8; i++)
        if (set >> i & 1) n += (size_t)snprintf(text + n, sizeof text - n, n ? " %u" : "%u", i);
    netprof_list_fact(list, key, text);
}

/* Priorities of RoCE whose marks are answered (roce_np) and whose rate follows them (roce_rp): files of NVIDIA's driver
   package, /sys/class/net/NAME/ecn/SIDE/enable/PRIORITY. */
static void netprof__ecn_facts(netprof_list *list, const char *dir)
{
    static const char *const sides[2][2] = {{"roce_np", "roce_ecn_np"}, {"roce_rp", "roce_ecn_rp"}};
    size_t side;
    for (side = 0; side < 2; side++) {
        unsigned i, set = 0, known = 0;
        for (i = 0; i < 8; i++) {
            char file[64];
            uint64_t on;
            snprintf(file, sizeof file, "/ecn/%s/enable/%u", sides[side][0], i);
            if (!netprof__file_number(dir, file, &on)) {
                if (!i) break;
                continue;
            }
            known = 1;
            set |= (unsigned)(on != 0) << i;
        }
        if (known) netprof__priorities_fact(list, sides[side][1], set);
    }
}

/* The link below this one: by name if it is in this namespace, else by number. */
static void netprof__lower_fact(netprof_list *list, const netprof__netdev *nd, const netprof__link *link)
{
    const netprof__link *lower = netprof__link_by_index(nd->links, nd->link_count, link->lower);
    char text[64];
    if (!link->lower || link->lower == link->ifindex) return;
    if (lower && !link->has_netnsid) {
        netprof_list_fact(list, "lower", lower->name);
        return;
    }
    snprintf(text, sizeof text, link->has_netnsid ? "if%u of namespace %u" : "if%u", link->lower, link->netnsid);
    netprof_list_fact(list, "lower", text);
}

/* dir: the link in sysfs, "" if sysfs shows another namespace. device: its bus device, "" if it has none. */
static void netprof__netdev_facts(netprof_list *list, const netprof__netdev *nd, const netprof__link *link,
                                  const char *kind, const char *dir, const char *device, int ioctl_fd)
{
    const netprof__link *master = netprof__link_by_index(nd->links, nd->link_count, link->master);
    netprof_list_fact(list, "kind", kind);
    if (link->ifindex) netprof__fact_number(list, "ifindex", link->ifindex);
    if (master) netprof_list_fact(list, "master", master->name);
    netprof__lower_fact(list, nd, link);
    if (link->has_mtu) netprof__fact_number(list, "mtu", link->mtu);
    if (link->operstate < NETPROF__OPERSTATES)
        netprof_list_fact(list, "operstate", netprof__operstates[link->operstate]);
    if (link->has_carrier) netprof__fact_number(list, "carrier", link->carrier);
    netprof__fact_text(list, "qdisc", link->qdisc);
    netprof__fact_text(list, "mac", link->mac);
    netprof__fact_text(list, "port_name", link->port);
    netprof__speed_facts(list, dir, link->name, ioctl_fd);
    if (!*device) return;
    netprof__bus_facts(list, device);
    netprof__pause_fact(list, link->name, ioctl_fd);
    if (*dir) netprof__ecn_facts(list, dir);
}

/* >>8.2.3 slots and their counters */

static netprof__netdev_slot *netprof__netdev_add(netprof__netdev *nd, const char *name)
{
    netprof__netdev_slot *slot;
    if (!netprof__grow(&nd->np->alloc, &nd->slots, &nd->slot_capacity, nd->slot_count + 1, sizeof *nd->slots)) {
        nd->out_of_memory = 1;
        return NULL;
    }
    slot = &nd->slots[nd->slot_count++];
    memset(slot, 0, sizeof *slot);
    netprof__copy_text(slot->name, sizeof slot->name, name);
    return slot;
}

static netprof__link *netprof__netdev_add_link(netprof__netdev *nd)
{
    netprof__link *link;
    if (!netprof__grow(&nd->np->alloc, &nd->links, &nd->link_capacity, nd->link_count + 1, sizeof *nd->links)) {
        nd->out_of_memory = 1;
        return NULL;
    }
    link = &nd->links[nd->link_count++];
    memset(link, 0, sizeof *link);
    link->operstate = UINT8_MAX;
    return link;
}

static void netprof__column_counter(netprof_counter *c, const netprof__column *column)
{
    memset(c, 0, sizeof *c);
    c->name = column->name;
    c->unit = column->unit;
    c->kind = column->kind;
    c->width = column->width;
    c->flags = column->flags;
}

/* Lists a column of a slot. Listed columns are stored one after another. */
static void netprof__slot_counter(netprof__netdev_slot *slot, netprof_list *list, size_t bit, const netprof_counter *c)
{
    size_t index = netprof_list_counter(list, c);
    if (index == NETPROF_NONE) return;
    if (!slot->mask) slot->first = index;
    slot->mask |= (uint32_t)1 << bit;
    if (list->schema->counters[list->source_first_counter + index].flags & NETPROF_FAST)
        slot->fast |= (uint32_t)1 << bit;
}

/* Describes a statistic by name: unit, kind and width from the tables; an unknown one is a 64-bit counter. */
static int netprof__netdev_describe(netprof_counter *c, const char *name)
{
    const char *listed = c->name; /* may have the prefix of its group, unlike `name` */
    size_t i;
    for (i = 0; i < NETPROF__NETDEV_COLUMNS; i++)
        if (strcmp(netprof__netdev_columns[i].name, name) == 0) netprof__column_counter(c, &netprof__netdev_columns[i]);
    for (i = 0; i < sizeof netprof__procdev_merged / sizeof *netprof__procdev_merged; i++)
        if (strcmp(netprof__procdev_merged[i].name, name) == 0) netprof__column_counter(c, &netprof__procdev_merged[i]);
    c->width = c->width ? c->width : 64;
    c->name = listed;
    return 1;
}

/* Gives every listed counter of a slot the same status. */
static void netprof__slot_failed(const netprof__netdev_slot *slot, netprof_sweep *sweep, netprof_status status,
                                 int sys_errno)
{
    size_t i = slot->first, bit;
    for (bit = 0; bit < 32; bit++) {
        if (!(slot->mask >> bit & 1)) continue;
        if (sweep->set != NETPROF_SET_FAST || (sweep->counters[i].flags & NETPROF_FAST)) {
            sweep->status[i] = (uint8_t)status;
            sweep->errnos[i] = (uint8_t)(sys_errno & 255);
            sweep->values[i] = 0;
        }
        i++;
    }
}

/* >>8.2.4 /proc/net/dev */

/* Parses the names of the columns from the second line, "face |bytes packets ...|bytes ...". Returns the offset of the
   first link's line, or 0 if this is not such a file. A pure function of the text. */
static size_t netprof__parse_procdev_header(const char *text, size_t size, char names[][32], size_t *count)
{
    const char *end = text + size, *p = (const char *)memchr(text, '\n', size), *line_end, *word;
    const char *side = "";
    size_t i, length;
    *count = 0;
    line_end = p ? (const char *)memchr(p + 1, '\n', (size_t)(end - p - 1)) : NULL;
    for (p = line_end ? p + 1 : NULL; p && p < line_end;) {
        if (*p == '|') {
            side = *side ? "tx_" : "rx_";
            p++;
            continue;
        }
        for (word = p; p < line_end && *p != '|' && *p != ' '; p++)
            continue;
        length = (size_t)(p - word);
        if (*side && length && length < 24 && *count < NETPROF__PROC_COLUMNS) {
            char *name = names[(*count)++];
            snprintf(name, 32, "%s%.*s", side, (int)length, word);
            for (i = 0; i < sizeof netprof__procdev_same / sizeof *netprof__procdev_same; i++)
                if (strcmp(name, netprof__procdev_same[i][0]) == 0)
                    netprof__copy_text(name, 32, netprof__procdev_same[i][1]);
        }
        p += p < line_end && *p == ' ';
    }
    return *count ? (size_t)(line_end + 1 - text) : 0;
}

/* Parses one line. The name ends at the LAST colon ("eth0:1: 5", "ibr10:30:5"), since numbers contain none. Returns how
   many numbers there are, or -1 if it is not such a line. A pure function of the text. */
static int netprof__parse_procdev_line(const char *line, size_t size, char *name, size_t name_size, uint64_t *values,
                                       size_t room)
{
    const char *end = line + size, *p = end;
    size_t count = 0;
    while (p > line && p[-1] != ':')
        p--;
    while (line < end && *line == ' ')
        line++;
    if (p <= line + 1 || (size_t)(p - 1 - line) >= name_size) return -1;
    memcpy(name, line, (size_t)(p - 1 - line));
    name[p - 1 - line] = 0;
    while (count < room) {
        while (p < end && (*p == ' ' || *p == '\t'))
            p++;
        if (p == end || netprof__parse_digits(&p, end, &values[count])) break;
        count++;
    }
    return (int)count;
}

/* Chooses the file, as the top of section 8.2 says. On the live system it is that of the thread's namespace. */
static void netprof__procdev_path(const netprof *np, char *path, size_t size)
{
    const char *root = np->root;
    if (np->pid > 0) {
        snprintf(path, size, "%s/proc/%d/net/dev", root, np->pid);
        return;
    }
    snprintf(path, size, "%s/proc/%s/net/dev", root, *root ? "1" : "thread-self");
    if (access(path, R_OK) != 0) snprintf(path, size, "%s/proc/net/dev", root);
}

/* Reads the file whole into proc->text, which grows as needed. Returns the length or -errno. */
static ssize_t netprof__procdev_read(const netprof_alloc *a, netprof__procdev *proc)
{
    for (;;) {
        ssize_t n = proc->size ? netprof__read_text(AT_FDCWD, proc->path, proc->text, proc->size) : 0;
        char *bigger;
        if (proc->size && (n < 0 || (size_t)n + 1 < proc->size)) return n;
        if (proc->size > (size_t)64 << 20) return -EFBIG;
        bigger = (char *)netprof__resize(a, proc->text, proc->size ? 2 * proc->size : 8192);
        if (!bigger) return -ENOMEM;
        proc->text = bigger;
        proc->size = proc->size ? 2 * proc->size : 8192;
    }
}

/* Finds the slot of a name; the search starts after the last hit. */
static netprof__netdev_slot *netprof__slot_by_name(netprof__netdev *nd, const char *name)
{
    size_t i;
    for (i = 0; i < nd->slot_count; i++) {
        size_t k = (nd->hint + i) % nd->slot_count;
        if (strcmp(nd->slots[k].name, name) == 0) {
            nd->hint = k + 1;
            return &nd->slots[k];
        }
    }
    return NULL;
}

typedef void (*netprof__procdev_visit)(void *user, const char *name, const uint64_t *values, int count);

/* Calls visit() for each line of text[at .. size), the part after the header. */
static void netprof__procdev_lines(const char *text, size_t at, size_t size, netprof__procdev_visit visit, void *user)
{
    uint64_t values[NETPROF__PROC_COLUMNS];
    char name[64];
    while (at < size) {
        const char *line = text + at, *end = (const char *)memchr(line, '\n', size - at);
        size_t length = end ? (size_t)(end - line) : size - at;
        int count = netprof__parse_procdev_line(line, length, name, sizeof name, values, NETPROF__PROC_COLUMNS);
        if (count >= 0) visit(user, name, values, count);
        at += length + 1;
    }
}

static void netprof__procdev_found(void *user, const char *name, const uint64_t *values, int count)
{
    netprof__netdev *nd = (netprof__netdev *)user;
    netprof__link *link;
    (void)values;
    (void)count;
    for (link = nd->links; link && link < nd->links + nd->link_count; link++)
        if (strcmp(link->name, name) == 0) return;
    link = netprof__netdev_add_link(nd);
    if (!link) return;
    netprof__copy_text(link->name, sizeof link->name, name);
    link->type =
        strcmp(name, "lo") == 0 ? NETPROF__ARPHRD_LOOPBACK : UINT32_MAX; /* nothing is known about the others */
}

/* Learns the columns, and adds the links that only this file knows. Returns 0 or an errno. */
static int netprof__procdev_discover(netprof__netdev *nd)
{
    netprof__procdev *proc = &nd->proc;
    ssize_t n;
    size_t at;
    netprof__procdev_path(nd->np, proc->path, sizeof proc->path);
    proc->count = 0;
    n = netprof__procdev_read(&nd->np->alloc, proc);
    if (n < 0) return (int)-n;
    at = netprof__parse_procdev_header(proc->text, (size_t)n, proc->names, &proc->count);
    if (!at || at >= sizeof proc->header) {
        proc->count = 0;
        return EBADMSG;
    }
    memcpy(proc->header, proc->text, at);
    proc->header[at] = 0;
    netprof__procdev_lines(proc->text, at, (size_t)n, netprof__procdev_found, nd);
    return 0;
}

static void netprof__procdev_counters(netprof__netdev *nd, netprof_list *list, netprof__netdev_slot *slot)
{
    size_t i;
    slot->from_proc = 1;
    nd->proc_used = 1;
    for (i = 0; i < nd->proc.count; i++) {
        netprof_counter c;
        memset(&c, 0, sizeof c);
        c.name = nd->proc.names[i];
        netprof__netdev_describe(&c, c.name);
        netprof__slot_counter(slot, list, i, &c);
    }
}

/* A sweep of the source, as its visitors see it. */
typedef struct netprof__netdev_sweeping {
    netprof__netdev *nd;
    netprof_sweep *sweep;
} netprof__netdev_sweeping;

/* Stores one line in the sweep. */
static void netprof__procdev_store(void *user, const char *name, const uint64_t *values, int count)
{
    netprof__netdev *nd = ((netprof__netdev_sweeping *)user)->nd;
    netprof_sweep *sweep = ((netprof__netdev_sweeping *)user)->sweep;
    netprof__netdev_slot *slot = netprof__slot_by_name(nd, name);
    size_t i, bit;
    if (!slot) {
        sweep->stale = 1;
        return;
    }
    slot->round = nd->round;
    i = slot->first;
    for (bit = 0; slot->from_proc && bit < NETPROF__PROC_COLUMNS; bit++) {
        if (!(slot->mask >> bit & 1)) continue;
        if (sweep->set == NETPROF_SET_FAST && !(sweep->counters[i].flags & NETPROF_FAST))
            sweep->status[i] = NETPROF_STATUS_SKIPPED;
        else if (bit < (size_t)count)
            netprof__set_value(sweep, i, values[bit]);
        else
            sweep->status[i] = NETPROF_STATUS_ABSENT;
        i++;
    }
}

/* Reads the file for all slots that come from it. Another header means other columns: the next take rescans. */
static void netprof__procdev_sweep(netprof__netdev *nd, netprof_sweep *sweep)
{
    ssize_t n = netprof__procdev_read(&nd->np->alloc, &nd->proc);
    size_t header = strlen(nd->proc.header), i;
    int failed = n < 0 ? (int)-n : 0;
    netprof__netdev_sweeping sweeping;
    sweeping.nd = nd;
    sweeping.sweep = sweep;
    nd->round++;
    nd->hint = 0;
    if (!failed && ((size_t)n < header || memcmp(nd->proc.text, nd->proc.header, header) != 0)) {
        failed = EBADMSG;
        sweep->stale = 1;
    }
    if (!failed) netprof__procdev_lines(nd->proc.text, header, (size_t)n, netprof__procdev_store, &sweeping);
    for (i = 0; i < nd->slot_count; i++) {
        if (!nd->slots[i].from_proc || nd->slots[i].round == nd->round) continue;
        sweep->stale = 1;
        netprof__slot_failed(&nd->slots[i], sweep, failed ? netprof_status_of_errno(failed) : NETPROF_STATUS_VANISHED,
                             failed);
    }
}

/* >>8.2.5 /sys/class/net */

static int netprof__operstate_of(const char *word)
{
    size_t i;
    for (i = 0; i < NETPROF__OPERSTATES; i++)
        if (strcmp(word, netprof__operstates[i]) == 0) return (int)i;
    return UINT8_MAX;
}

/* sysfs lacks the kind that rtnetlink reports: use DEVTYPE if there is one, else a file that only one kind has. */
static void netprof__sysfs_kind(const char *dir, netprof__link *link)
{
    static const char *const signs[][2] = {
        {"/bonding", "bond"}, {"/bridge", "bridge"}, {"/tun_flags", "tun"}, {"/parent", "ipoib"}};
    char text[512], *type;
    size_t i;
    netprof__file_line(dir, "/uevent", text, sizeof text);
    type = strstr(text, "DEVTYPE=");
    if (type) {
        type += strlen("DEVTYPE=");
        type[strcspn(type, "\n")] = 0;
        if (strcmp(type, "wlan") != 0 && strcmp(type, "wwan") != 0) /* these are ports */
            netprof__copy_text(link->kind, sizeof link->kind, type);
    }
    for (i = 0; !*link->kind && i < sizeof signs / sizeof *signs; i++)
        if (netprof__file_exists(dir, signs[i][0])) netprof__copy_text(link->kind, sizeof link->kind, signs[i][1]);
}

/* True if the PF of a function has an interface in this namespace; otherwise the function is a port of its own. */
static int netprof__has_pf(const netprof_alloc *a, const char *device)
{
    netprof__names names;
    char path[1024];
    int result, here;
    if (!netprof__file_exists(device, "/physfn") || !netprof__prepend_root(path, sizeof path, device, "/physfn/net"))
        return 0;
    result = netprof__list_dir(a, AT_FDCWD, path, &names);
    here = result != 0 || names.count != 0;
    netprof__names_free(&names);
    return here;
}

static void netprof__sysfs_link(netprof__netdev *nd, const char *dir, netprof__link *link)
{
    /* The number in each file and where it goes. */
    const struct {
        const char *file;
        uint32_t *number;
        uint8_t *has;
    } rows[] = {{"/iflink", &link->lower, NULL},
                {"/master/ifindex", &link->master, NULL},
                {"/type", &link->type, NULL},
                {"/mtu", &link->mtu, &link->has_mtu}};
    char text[64], device[1024];
    uint64_t number;
    size_t i;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!netprof__file_number(dir, rows[i].file, &number)) continue;
        *rows[i].number = (uint32_t)number;
        if (rows[i].has) *rows[i].has = 1;
    }
    link->has_carrier = (uint8_t)netprof__file_number(dir, "/carrier", &number); /* EINVAL if the link is down */
    link->carrier = link->has_carrier && number;
    netprof__file_line(dir, "/operstate", text, sizeof text);
    link->operstate = (uint8_t)netprof__operstate_of(text);
    netprof__file_line(dir, "/address", link->mac, sizeof link->mac);
    netprof__file_line(dir, "/phys_port_name", link->port, sizeof link->port);
    netprof__sysfs_kind(dir, link);
    if (netprof__prepend_root(device, sizeof device, dir, "/device") && access(device, F_OK) == 0) {
        link->has_bus = 1;
        link->is_function = (uint8_t)netprof__has_pf(&nd->np->alloc, device);
    }
}

/* Only an entry with an ifindex is an interface: bonding_masters is a file, and there may be other things. Returns 0 or
   an errno. */
static int netprof__sysfs_discover(netprof__netdev *nd)
{
    netprof__names names;
    char dir[1024];
    uint64_t ifindex;
    size_t i;
    int failed;
    nd->signature = netprof__dir_signature(nd->class_path);
    failed = -netprof__list_dir(&nd->np->alloc, AT_FDCWD, nd->class_path, &names);
    for (i = 0; failed != ENOMEM && i < names.count; i++) {
        netprof__link *link;
        snprintf(dir, sizeof dir, "%s/%.200s", nd->class_path, names.names[i]);
        if (strlen(names.names[i]) >= sizeof link->name || !netprof__file_number(dir, "/ifindex", &ifindex)) continue;
        link = netprof__netdev_add_link(nd);
        if (!link) break;
        link->ifindex = (uint32_t)ifindex;
        netprof__copy_text(link->name, sizeof link->name, names.names[i]);
        netprof__sysfs_link(nd, dir, link);
    }
    netprof__names_free(&names);
    return failed;
}

/* Lists the carrier files in the link's own directory, those of the three that this kernel has. */
static netprof_err netprof__sysfs_carrier(netprof__netdev *nd, netprof_list *list, const char *dir)
{
    netprof__group *g;
    size_t i;
    if (netprof__files_group(&nd->files, dir, netprof__parse_number, 0, &g)) return NETPROF_ERR_NOMEM;
    for (i = NETPROF__CARRIER; i < NETPROF__QDISC; i++) {
        char file[64];
        netprof_counter c;
        snprintf(file, sizeof file, "/%s", netprof__netdev_columns[i].name);
        netprof__column_counter(&c, &netprof__netdev_columns[i]);
        if (netprof__file_exists(dir, file)) netprof__group_counter(g, list, &c);
    }
    return netprof__group_hold(&nd->files, g, list);
}

/* Lists one link, with its counters from sysfs or, without a statistics directory, from /proc/net/dev. */
static netprof_err netprof__netdev_list_file(netprof__netdev *nd, netprof_list *list, const netprof__link *link)
{
    char dir[1024], path[1100], device[1100];
    unsigned flags;
    int known = link->type != UINT32_MAX;
    const char *kind = netprof__classify(nd->links, nd->link_count, link, &flags);
    netprof__netdev_slot *slot = netprof__netdev_add(nd, link->name);
    if (!slot || netprof__files_device(&nd->files)) return NETPROF_ERR_NOMEM;
    slot->ifindex = link->ifindex;
    snprintf(dir, sizeof dir, "%s/%.64s", nd->class_path, link->name);
    snprintf(device, sizeof device, "%s/device", dir);
    snprintf(path, sizeof path, "%s/statistics", dir);
    netprof_list_device(list, link->name, link->ifindex, known ? flags : 0);
    netprof__netdev_facts(list, nd, link, known ? kind : "unknown", link->ifindex ? dir : "",
                          link->has_bus ? device : "", -1);
    if (!link->ifindex || access(path, F_OK) != 0) {
        netprof__procdev_counters(nd, list, slot);
        return link->ifindex ? netprof__sysfs_carrier(nd, list, dir) : NETPROF_OK;
    }
    if (netprof__dir_group(&nd->files, list, path, "", netprof__parse_number, netprof__netdev_describe))
        return NETPROF_ERR_NOMEM;
    return netprof__sysfs_carrier(nd, list, dir);
}

static netprof_err netprof__netdev_discover_files(netprof__netdev *nd, netprof_list *list)
{
    int sysfs = nd->np->pid > 0 ? ENOENT : netprof__sysfs_discover(nd), proc;
    netprof_err failed = NETPROF_OK;
    size_t i;
    proc = netprof__procdev_discover(nd);
    for (i = 0; !failed && !nd->out_of_memory && i < nd->link_count; i++)
        failed = netprof__netdev_list_file(nd, list, &nd->links[i]);
    if (failed || nd->out_of_memory || sysfs == ENOMEM || proc == ENOMEM) return NETPROF_ERR_NOMEM;
    if (!nd->link_count) {
        int why = proc && nd->np->pid > 0 ? proc : sysfs;
        netprof_list_state(list, why == 0 || why == ENOENT ? NETPROF_STATUS_ABSENT : netprof_status_of_errno(why), why,
                           nd->np->pid > 0 ? nd->proc.path : nd->class_path);
    }
    return NETPROF_OK;
}

#ifndef NETPROF_NO_NETLINK

/* >>8.2.6 replies of rtnetlink */

/* RTM_NEWSTATS: struct if_stats_msg (12 bytes, ifindex at 4) and attributes. Returns 0, or EBADMSG if even the ifindex
   is missing. Without statistics *count is 0. */
static int netprof__parse_stats(const unsigned char *body, size_t size, uint32_t *ifindex, const unsigned char **stats,
                                size_t *count)
{
    netprof__attr attr;
    size_t at = 12;
    *count = 0;
    *stats = NULL;
    if (size < 12) return EBADMSG;
    *ifindex = netprof__u32_at(body + 4);
    while (netprof__next_attr(body, size, &at, &attr))
        if (attr.type == 1) { /* IFLA_STATS_LINK_64 */
            *stats = attr.data;
            *count = attr.size / 8;
        }
    return 0;
}

/* Reads those 32-bit words of a queueing discipline's statistics that are columns here, from the offsets `at`. */
static uint8_t netprof__qdisc_words(const netprof__attr *attr, const uint8_t *at, size_t count, uint32_t *values)
{
    uint8_t known = 0;
    size_t i;
    for (i = 0; i < count; i++) {
        if (at[i] == UINT8_MAX || attr->size < (size_t)at[i] + 4) continue;
        values[i] = netprof__u32_at(attr->data + at[i]);
        known |= (uint8_t)(1 << i);
    }
    return known;
}

/* RTM_NEWQDISC: struct tcmsg (20 bytes: ifindex at 4, parent at 12) and attributes. Reads drops, overlimits, requeues
   and backlog of a link's root from TCA_STATS2, or from the older TCA_STATS, which lacks requeues; *known has a bit for
   each. Returns 0, or EBADMSG if it is not a root. */
static int netprof__parse_qdisc(const unsigned char *body, size_t size, uint32_t *ifindex, uint32_t values[4],
                                uint8_t *known)
{
    static const uint8_t in_queue[4] = {8, 16, 12, 4};        /* struct gnet_stats_queue */
    static const uint8_t in_old[4] = {12, 16, UINT8_MAX, 32}; /* struct tc_stats */
    netprof__attr attr, part;
    size_t at = 20, inner;
    uint8_t newer = 0, older = 0;
    uint32_t old_values[4] = {0, 0, 0, 0};
    memset(values, 0, 4 * sizeof *values);
    *known = 0;
    if (size < 20 || netprof__u32_at(body + 12) != UINT32_MAX) return EBADMSG; /* TC_H_ROOT */
    *ifindex = netprof__u32_at(body + 4);
    while (netprof__next_attr(body, size, &at, &attr)) {
        if (attr.type == 3) older = netprof__qdisc_words(&attr, in_old, 4, old_values);             /* TCA_STATS */
        for (inner = 0; attr.type == 7 && netprof__next_attr(attr.data, attr.size, &inner, &part);) /* TCA_STATS2 */
            if (part.type == 3) newer = netprof__qdisc_words(&part, in_queue, 4, values); /* TCA_STATS_QUEUE */
    }
    if (!newer) memcpy(values, old_values, sizeof old_values);
    *known = newer ? newer : older;
    return 0;
}

/* True if IFLA_QDISC names a discipline that counts: these two are placeholders that the kernel leaves out of its
   dump. */
static int netprof__has_queue(const netprof__link *link)
{
    return *link->qdisc && strcmp(link->qdisc, "noqueue") != 0 && strcmp(link->qdisc, "noop") != 0;
}

static void netprof__parse_mac(const netprof__attr *attr, char *text, size_t size)
{
    size_t i;
    for (i = 0; i < attr->size && 3 * i + 3 < size; i++)
        snprintf(text + 3 * i, size - 3 * i, i + 1 < attr->size ? "%02x:" : "%02x", attr->data[i]);
}

static void netprof__parse_linkinfo(const netprof__attr *info, netprof__link *link)
{
    netprof__attr attr;
    size_t at = 0;
    while (netprof__next_attr(info->data, info->size, &at, &attr))
        if (attr.type == 1) /* IFLA_INFO_KIND */
            netprof__attr_text(&attr, link->kind, sizeof link->kind);
}

/* RTM_NEWLINK: struct ifinfomsg (16 bytes: type at 2, ifindex at 4) and attributes (linux/if_link.h). Returns 0 or
   EBADMSG. */
static int netprof__parse_link(const unsigned char *body, size_t size, netprof__link *link, const unsigned char **stats,
                               size_t *count)
{
    netprof__attr a;
    size_t at = 16;
    memset(link, 0, sizeof *link);
    link->operstate = UINT8_MAX;
    *stats = NULL;
    *count = 0;
    if (size < 16) return EBADMSG;
    link->type = netprof__u16_at(body + 2);
    link->ifindex = netprof__u32_at(body + 4);
    while (netprof__next_attr(body, size, &at, &a)) {
        switch (a.type) {
        case 1: netprof__parse_mac(&a, link->mac, sizeof link->mac); break;                /* IFLA_ADDRESS */
        case 3: netprof__attr_text(&a, link->name, sizeof link->name); break;              /* IFLA_IFNAME */
        case 4: link->mtu = netprof__attr_u32(&a), link->has_mtu = 1; break;               /* IFLA_MTU */
        case 5: link->lower = netprof__attr_u32(&a); break;                                /* IFLA_LINK */
        case 6: netprof__attr_text(&a, link->qdisc, sizeof link->qdisc); break;            /* IFLA_QDISC */
        case 10: link->master = netprof__attr_u32(&a); break;                              /* IFLA_MASTER */
        case 16: link->operstate = (uint8_t)netprof__attr_u32(&a); break;                  /* IFLA_OPERSTATE */
        case 18: netprof__parse_linkinfo(&a, link); break;                                 /* IFLA_LINKINFO */
        case 23: *stats = a.data, *count = a.size / 8; break;                              /* IFLA_STATS64 */
        case 33: link->carrier = netprof__attr_u32(&a) != 0, link->has_carrier = 1; break; /* IFLA_CARRIER */
        case 37: link->netnsid = netprof__attr_u32(&a), link->has_netnsid = 1; break;      /* IFLA_LINK_NETNSID */
        case 38: netprof__attr_text(&a, link->port, sizeof link->port); break;             /* IFLA_PHYS_PORT_NAME */
        case 47: link->carrier_up = netprof__attr_u32(&a), link->has_up = 1; break;        /* IFLA_CARRIER_UP_COUNT */
        case 48: link->carrier_down = netprof__attr_u32(&a), link->has_down = 1; break;    /* IFLA_CARRIER_DOWN_COUNT */
        case 56: netprof__attr_text(&a, link->bus_device, sizeof link->bus_device); break; /* IFLA_PARENT_DEV_NAME */
        case 57: netprof__attr_text(&a, link->bus, sizeof link->bus); break; /* IFLA_PARENT_DEV_BUS_NAME */
        default: break;
        }
    }
    return *link->name ? 0 : EBADMSG;
}

/* >>8.2.7 discovery by rtnetlink */

static int netprof__netdev_link_message(void *user, unsigned type, const unsigned char *body, size_t size)
{
    netprof__netdev *nd = (netprof__netdev *)user;
    const unsigned char *stats;
    netprof__link *link;
    size_t count;
    if (type != NETPROF__RTM_NEWLINK) return 0;
    link = netprof__netdev_add_link(nd);
    if (!link) return ENOMEM;
    if (netprof__parse_link(body, size, link, &stats, &count)) nd->link_count--;
    return 0;
}

/* Fills nd->links. Returns 0 or an errno; a list that keeps changing is used as it is. */
static int netprof__netdev_ask_links(netprof__netdev *nd)
{
    unsigned char request[16 + 16];
    int tries, result = 0;
    for (tries = 0; tries < NETPROF__NL_TRIES; tries++) {
        nd->link_count = 0;
        netprof__nl_request(request, sizeof request, NETPROF__RTM_GETLINK);
        result = netprof__nl_ask(&nd->route, request, sizeof request, netprof__netdev_link_message, nd);
        if (!netprof__nl_again(result)) break;
    }
    return result < 0 ? -result : 0;
}

static void netprof__netdev_drop_links(netprof__netdev *nd)
{
    netprof__release(&nd->np->alloc, nd->links);
    nd->links = NULL;
    nd->link_count = nd->link_capacity = 0;
}

static void netprof__slot_carrier(netprof__netdev_slot *slot, const netprof__link *link)
{
    slot->carrier[0] = link->carrier;
    slot->carrier[1] = link->carrier_up;
    slot->carrier[2] = link->carrier_down;
}

/* Finds the slot of an ifindex. Both dumps list the links in the same order, so the next slot is nearly always the
   right one; after a link came or went, the search finds the place again. */
static netprof__netdev_slot *netprof__slot_by_index(netprof__netdev *nd, uint32_t ifindex)
{
    size_t i, k = nd->hint;
    for (i = 0; i < nd->slot_count; i++, k++) {
        if (k >= nd->slot_count) k = 0;
        if (nd->slots[k].ifindex == ifindex) {
            nd->hint = k + 1;
            return &nd->slots[k];
        }
    }
    return NULL;
}

/* Reads carrier again after an event. Returns 1 if links came, went or were renamed, or changed their master or whether
   they have a queueing discipline. */
static int netprof__netdev_refresh(netprof__netdev *nd)
{
    int changed = netprof__netdev_ask_links(nd) != 0 || nd->link_count != nd->slot_count;
    size_t i;
    nd->hint = 0;
    for (i = 0; i < nd->link_count; i++) {
        const netprof__link *link = &nd->links[i];
        netprof__netdev_slot *slot = netprof__slot_by_index(nd, link->ifindex);
        if (!slot || strcmp(slot->name, link->name) != 0 || slot->master != link->master ||
            slot->has_queue != netprof__has_queue(link))
            changed = 1;
        if (slot) netprof__slot_carrier(slot, link);
    }
    netprof__netdev_drop_links(nd);
    return changed;
}

/* True if sysfs shows this namespace: it shows the links of the one in which it was mounted. */
static int netprof__same_namespace(const char *dir, uint32_t ifindex)
{
    uint64_t number;
    return netprof__file_number(dir, "/ifindex", &number) && number == ifindex;
}

/* Finds the bus device: through the link's own directory if sysfs shows our namespace, else by the names that the
   kernel reports (Linux 5.14). Links with a kind have none. */
static void netprof__netdev_bus(netprof__netdev *nd, netprof__link *link, char *device, size_t size)
{
    char dir[128];
    device[0] = 0;
    if ((*link->kind && strcmp(link->kind, "ipoib") != 0) || link->type == NETPROF__ARPHRD_LOOPBACK) return;
    snprintf(dir, sizeof dir, "/sys/class/net/%.64s", link->name);
    if (netprof__same_namespace(dir, link->ifindex))
        snprintf(device, size, "%.120s/device", dir);
    else if (*link->bus && *link->bus_device && !strchr(link->bus_device, '/'))
        snprintf(device, size, "/sys/bus/%.31s/devices/%.63s", link->bus, link->bus_device);
    if (*device && access(device, F_OK) != 0) device[0] = 0;
    link->has_bus = *device || *link->bus_device;
    link->is_function = *device && netprof__has_pf(&nd->np->alloc, device);
}

/* An answer to DCB_CMD_IEEE_GET: struct dcbmsg, and nested in DCB_ATTR_IEEE the DCB_ATTR_IEEE_PFC, whose second byte is the
   set of priorities that are paused one by one (IEEE 802.1Qbb). */
static int netprof__dcb_message(void *user, unsigned type, const unsigned char *body, size_t size)
{
    netprof__attr attr, part;
    size_t at = 4, inner;
    if (type != NETPROF__RTM_GETDCB) return 0;
    while (netprof__next_attr(body, size, &at, &attr))
        for (inner = 0; attr.type == 13 && netprof__next_attr(attr.data, attr.size, &inner, &part);)
            if (part.type == 2 && part.size >= 2) *(int *)user = part.data[1];
    return 0;
}

/* Priority flow control as the driver has it (dcbnl); anyone may ask. No fact where the driver does not know it. */
static void netprof__pfc_fact(netprof__netdev *nd, netprof_list *list, const char *name)
{
    unsigned char request[16 + 4 + 4 + 72];
    uint16_t flags = 1; /* NLM_F_REQUEST */
    size_t at = 20, length = strlen(name);
    int set = -1;
    if (length > 64) return;
    netprof__nl_request(request, sizeof request, NETPROF__RTM_GETDCB);
    memcpy(request + 6, &flags, 2);
    request[17] = 21;                                     /* DCB_CMD_IEEE_GET */
    netprof__put_attr(request, &at, 1, name, length + 1); /* DCB_ATTR_IFNAME */
    if (netprof__nl_ask(&nd->route, request, at, netprof__dcb_message, &set) == 0 && set >= 0)
        netprof__priorities_fact(list, "pfc", (unsigned)set);
}

/* Lists one link that rtnetlink reported. */
static void netprof__netdev_list_link(netprof__netdev *nd, netprof_list *list, netprof__link *link, int ioctl_fd)
{
    char dir[128], device[192];
    unsigned flags;
    const char *kind = netprof__classify(nd->links, nd->link_count, link, &flags);
    netprof__netdev_slot *slot = netprof__netdev_add(nd, link->name);
    int has[3], sysfs;
    size_t i;
    if (!slot) return;
    slot->ifindex = link->ifindex;
    slot->master = link->master;
    slot->has_queue = (uint8_t)netprof__has_queue(link);
    netprof__slot_carrier(slot, link);
    snprintf(dir, sizeof dir, "/sys/class/net/%.64s", link->name);
    sysfs = netprof__same_namespace(dir, link->ifindex);
    netprof__netdev_bus(nd, link, device, sizeof device);
    netprof_list_device(list, link->name, link->ifindex, flags);
    netprof__netdev_facts(list, nd, link, kind, sysfs ? dir : "", device, ioctl_fd);
    if (*device) netprof__pfc_fact(nd, list, link->name);
    if (!sysfs && access(nd->class_path, F_OK) == 0)
        netprof_list_fact(list, "netns", "sysfs shows another network namespace");
    has[0] = link->has_carrier;
    has[1] = link->has_up;
    has[2] = link->has_down;
    for (i = 0; i < NETPROF__NETDEV_COLUMNS; i++) {
        netprof_counter c;
        netprof__column_counter(&c, &netprof__netdev_columns[i]);
        if (i < NETPROF__CARRIER || (i < NETPROF__QDISC ? has[i - NETPROF__CARRIER] : slot->has_queue))
            netprof__slot_counter(slot, list, i, &c);
    }
}

/* Returns 0 or an errno; after an errno the files are tried. */
static int netprof__netdev_discover_links(netprof__netdev *nd, netprof_list *list)
{
    char device[192];
    size_t i;
    int failed, fd;
    netprof__nl_open(&nd->route);
    nd->route.heard = 0; /* events from here on count */
    failed = netprof__netdev_ask_links(nd);
    if (failed) {
        netprof__netdev_drop_links(nd);
        return failed;
    }
    for (i = 0; i < nd->link_count; i++)
        netprof__netdev_bus(nd, &nd->links[i], device, sizeof device);
    fd = NETPROF_OS_SOCKET(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0); /* for ethtool's ioctl */
    for (i = 0; i < nd->link_count; i++)
        netprof__netdev_list_link(nd, list, &nd->links[i], fd >= 0 ? fd : nd->route.fd);
    if (fd >= 0) NETPROF_OS_CLOSE(fd);
    nd->by_netlink = 1;
    return 0;
}

/* >>8.2.8 a sweep by rtnetlink */

static void netprof__slot_store_queue(const netprof__netdev_slot *slot, netprof_sweep *sweep, size_t i, size_t column,
                                      int sys_errno)
{
    if (slot->qdisc_known >> column & 1) {
        sweep->values[i] = slot->qdisc[column];
        return;
    }
    sweep->values[i] = 0;
    sweep->status[i] = (uint8_t)(sys_errno ? netprof_status_of_errno(sys_errno) : NETPROF_STATUS_ABSENT);
    sweep->errnos[i] = (uint8_t)(sys_errno & 255);
}

/* Stores the counters of one link in the sweep's arrays. `stats` holds `count` 64-bit words, perhaps unaligned. */
static void netprof__slot_store(const netprof__netdev_slot *slot, netprof_sweep *sweep, const unsigned char *stats,
                                size_t count, int qdisc_errno)
{
    uint32_t todo = sweep->set == NETPROF_SET_FAST ? slot->fast : slot->mask;
    if (count >= NETPROF__STATS64 && (todo & NETPROF__STATS64_MASK) == NETPROF__STATS64_MASK) {
        memcpy(sweep->values + slot->first, stats, NETPROF__STATS64 * 8);
        memset(sweep->status + slot->first, NETPROF_STATUS_OK, NETPROF__STATS64);
        todo &= ~NETPROF__STATS64_MASK;
    }
    for (; todo; todo &= todo - 1) {
        size_t bit = (size_t)__builtin_ctz(todo);
        uint32_t before = ((uint32_t)1 << bit) - 1; /* columns before this one, some of which may be filtered out */
        uint32_t listed = slot->mask & before;
        size_t i = slot->first + (listed == before ? bit : (size_t)__builtin_popcount(listed));
        sweep->status[i] = NETPROF_STATUS_OK;
        if (bit >= NETPROF__QDISC)
            netprof__slot_store_queue(slot, sweep, i, bit - NETPROF__QDISC, qdisc_errno);
        else if (bit >= NETPROF__CARRIER)
            sweep->values[i] = slot->carrier[bit - NETPROF__CARRIER];
        else if (bit < count)
            memcpy(&sweep->values[i], stats + 8 * bit, 8);
        else
            sweep->status[i] = NETPROF_STATUS_ABSENT;
    }
}

/* Visits RTM_NEWSTATS, or RTM_NEWLINK from kernels without it. */
static int netprof__netdev_stats_message(void *user, unsigned type, const unsigned char *body, size_t size)
{
    netprof__netdev_sweeping *s = (netprof__netdev_sweeping *)user;
    netprof__netdev_slot *slot;
    const unsigned char *stats;
    netprof__link link;
    size_t count;
    if (type == NETPROF__RTM_NEWSTATS) {
        if (netprof__parse_stats(body, size, &link.ifindex, &stats, &count)) return 0;
    } else if (type != NETPROF__RTM_NEWLINK || netprof__parse_link(body, size, &link, &stats, &count)) {
        return 0;
    }
    slot = netprof__slot_by_index(s->nd, link.ifindex);
    if (!slot) {
        s->sweep->stale = 1; /* came since discovery */
        return 0;
    }
    if (type == NETPROF__RTM_NEWLINK) netprof__slot_carrier(slot, &link);
    slot->round = s->nd->round;
    netprof__slot_store(slot, s->sweep, stats, count, s->nd->qdisc_errno);
    return 0;
}

static int netprof__netdev_qdisc_message(void *user, unsigned type, const unsigned char *body, size_t size)
{
    netprof__netdev_sweeping *s = (netprof__netdev_sweeping *)user;
    netprof__netdev_slot *slot;
    uint32_t ifindex, values[4];
    uint8_t known;
    if (type != NETPROF__RTM_NEWQDISC || netprof__parse_qdisc(body, size, &ifindex, values, &known)) return 0;
    slot = netprof__slot_by_index(s->nd, ifindex);
    if (!slot) return 0; /* a new link: its statistics will show that */
    memcpy(slot->qdisc, values, sizeof values);
    slot->qdisc_known = known;
    return 0;
}

/* True if the sweep reads any counter of a queueing discipline. */
static int netprof__wants_queues(const netprof__netdev *nd, const netprof_sweep *sweep)
{
    uint32_t wanted = 0;
    size_t i;
    for (i = 0; i < nd->slot_count; i++)
        wanted |= sweep->set == NETPROF_SET_FAST ? nd->slots[i].fast : nd->slots[i].mask;
    return (wanted & NETPROF__QDISC_MASK) != 0;
}

static void netprof__netdev_ask_queues(netprof__netdev_sweeping *s)
{
    unsigned char request[16 + 20];
    int tries, result = 0;
    size_t i;
    if (!netprof__wants_queues(s->nd, s->sweep)) return;
    for (tries = 0; tries < NETPROF__NL_TRIES; tries++) {
        for (i = 0; i < s->nd->slot_count; i++)
            s->nd->slots[i].qdisc_known = 0;
        s->nd->hint = 0;
        netprof__nl_request(request, sizeof request, NETPROF__RTM_GETQDISC);
        result = netprof__nl_ask(&s->nd->route, request, sizeof request, netprof__netdev_qdisc_message, s);
        if (!netprof__nl_again(result)) break;
    }
    s->nd->qdisc_errno = result < 0 ? -result : 0;
}

/* The only link that is read, if there is just one and events would report new ones; else NULL. */
static const netprof__netdev_slot *netprof__netdev_only(const netprof__netdev *nd)
{
    const netprof__netdev_slot *only = NULL;
    size_t i;
    for (i = 0; i < nd->slot_count; i++) {
        if (!nd->slots[i].mask) continue;
        if (only) return NULL;
        only = &nd->slots[i];
    }
    return nd->route.hears ? only : NULL;
}

/* Requests the statistics of one link, or of all. Returns 0, NETPROF__NL_INTERRUPTED or -errno. */
static int netprof__netdev_ask_stats(netprof__netdev_sweeping *s, const netprof__netdev_slot *only)
{
    const uint16_t no_dump = 1; /* NLM_F_REQUEST */
    unsigned char request[16 + 16];
    uint32_t filter = 1; /* IFLA_STATS_LINK_64 alone, at offset 8 of struct if_stats_msg */
    int result;
    s->nd->hint = 0;
    if (!s->nd->no_stats_dump) {
        netprof__nl_request(request, 16 + 12, NETPROF__RTM_GETSTATS);
        memcpy(request + 16 + 8, &filter, 4);
        if (only) {
            memcpy(request + 6, &no_dump, 2);
            memcpy(request + 16 + 4, &only->ifindex, 4);
        }
        result = netprof__nl_ask(&s->nd->route, request, 16 + 12, netprof__netdev_stats_message, s);
        if (result != -EOPNOTSUPP) return result;
        s->nd->no_stats_dump = 1;
    }
    netprof__nl_request(request, sizeof request, NETPROF__RTM_GETLINK);
    return netprof__nl_ask(&s->nd->route, request, sizeof request, netprof__netdev_stats_message, s);
}

/* Requests queues and statistics. Returns 0, NETPROF__NL_INTERRUPTED or -errno. */
static int netprof__netdev_ask_all(netprof__netdev_sweeping *s, const netprof__netdev_slot *only)
{
    int tries, result = 0;
    s->nd->round++;
    netprof__netdev_ask_queues(s);
    for (tries = 0; tries < NETPROF__NL_TRIES; tries++) {
        result = netprof__netdev_ask_stats(s, only);
        if (!netprof__nl_again(result)) break;
    }
    return result;
}

/* The answers also show what happened since the last sweep: if anything did, links are read again and the requests are
   repeated. If there is no answer, the event flag stays set for the next sweep. */
static void netprof__netdev_sweep(netprof__netdev *nd, netprof_sweep *sweep)
{
    const netprof__netdev_slot *only = netprof__netdev_only(nd);
    netprof__netdev_sweeping s;
    int tries, result;
    size_t i;
    s.nd = nd;
    s.sweep = sweep;
    if (!nd->route.hears) sweep->stale |= netprof__netdev_refresh(nd);
    result = netprof__netdev_ask_all(&s, only);
    for (tries = 0; tries < NETPROF__NL_TRIES && result >= 0 && nd->route.hears && nd->route.heard; tries++) {
        nd->route.heard = 0;
        sweep->stale |= netprof__netdev_refresh(nd);
        result = netprof__netdev_ask_all(&s, only);
    }
    for (i = 0; i < nd->slot_count; i++) {
        if (nd->slots[i].round == nd->round || (only && only != &nd->slots[i])) continue;
        if (result < 0) {
            netprof__slot_failed(&nd->slots[i], sweep, netprof_status_of_errno(-result), -result);
            sweep->stale |= result == -ENODEV;
            continue;
        }
        netprof__slot_failed(&nd->slots[i], sweep, NETPROF_STATUS_VANISHED, ENODEV);
        sweep->stale = 1;
    }
}

#endif /* NETPROF_NO_NETLINK */

/* >>8.2.9 the source */

static void netprof__netdev_forget(netprof__netdev *nd)
{
    netprof__files_clear(&nd->files);
    netprof__release(&nd->np->alloc, nd->slots);
    netprof__release(&nd->np->alloc, nd->links);
    nd->slots = NULL;
    nd->links = NULL;
    nd->slot_count = nd->slot_capacity = nd->link_count = nd->link_capacity = 0;
    nd->proc_used = nd->by_netlink = nd->out_of_memory = 0;
}

static netprof_err netprof__netdev_discover(void *user, netprof_list *list)
{
    netprof__netdev *nd = (netprof__netdev *)user;
    netprof_err failed = NETPROF_OK;
    netprof__netdev_forget(nd);
    snprintf(nd->class_path, sizeof nd->class_path, "%.480s/sys/class/net", list->root);
#ifndef NETPROF_NO_NETLINK
    if (nd->live) failed = netprof__netdev_discover_links(nd, list) == ENOMEM ? NETPROF_ERR_NOMEM : NETPROF_OK;
#endif
    if (!failed && !nd->by_netlink && !nd->out_of_memory) failed = netprof__netdev_discover_files(nd, list);
    if (nd->out_of_memory) failed = NETPROF_ERR_NOMEM;
    netprof__release(&nd->np->alloc, nd->links);
    nd->links = NULL;
    nd->link_count = nd->link_capacity = 0;
    return failed;
}

static void netprof__netdev_read(void *user, size_t device, netprof_sweep *sweep)
{
    netprof__netdev *nd = (netprof__netdev *)user;
    size_t i;
    (void)device;
#ifndef NETPROF_NO_NETLINK
    if (nd->by_netlink) {
        netprof__netdev_sweep(nd, sweep);
        return;
    }
#endif
    for (i = 0; i < nd->slot_count; i++)
        netprof__files_read(&nd->files, i, sweep);
    if (nd->proc_used) netprof__procdev_sweep(nd, sweep);
}

static int netprof__netdev_changed(void *user)
{
    netprof__netdev *nd = (netprof__netdev *)user;
    if (nd->by_netlink) return 0; /* read() learns of it */
    return nd->np->pid <= 0 && netprof__dir_signature(nd->class_path) != nd->signature;
}

static void netprof__netdev_close(void *user)
{
    netprof__netdev *nd = (netprof__netdev *)user;
    const netprof_alloc a = nd->np->alloc;
    netprof__netdev_forget(nd);
#ifndef NETPROF_NO_NETLINK
    netprof__nl_close(&nd->route);
#endif
    netprof__release(&a, nd->route.buffer);
    netprof__release(&a, nd->proc.text);
    netprof__release(&a, nd);
}

static netprof_err netprof__make_netdev(netprof *np, netprof_source *source, void **user)
{
    netprof__netdev *nd = (netprof__netdev *)netprof__zalloc(&np->alloc, sizeof *nd);
    if (!nd) return NETPROF_ERR_NOMEM;
    nd->np = np;
    nd->files.alloc = np->alloc;
    nd->files.hold = np->hold;
    nd->files.fd_budget = &np->fd_budget;
    nd->route.fd = -1;
    nd->route.listens = nd->route.small = 1;
#ifndef NETPROF_NO_NETLINK
    nd->live = !*np->root && np->pid <= 0;
    if (nd->live) {
        nd->route.buffer = (unsigned char *)netprof__resize(&np->alloc, NULL, NETPROF__NL_BUFFER);
        if (!nd->route.buffer) {
            netprof__release(&np->alloc, nd);
            return NETPROF_ERR_NOMEM;
        }
    }
#endif
    source->flags = NETPROF_SOURCE_WHOLE; /* one request for all links */
    source->discover = netprof__netdev_discover;
    source->read = netprof__netdev_read;
    source->changed = netprof__netdev_changed;
    source->close = netprof__netdev_close;
    *user = nd;
    return NETPROF_OK;
}

/* >>8.3 source ethtool: what a driver counts beyond the standard statistics

   Driver statistics (linux/ethtool.h: GSSET_INFO, GSTRINGS, GSTATS) keep the driver's names, and their unit is guessed
   from the name. The standard groups (linux/ethtool_netlink.h: STATS_GET, PAUSE_GET, FEC_GET, LINKSTATE_GET) have the
   names of the kernel's string sets, "eth-mac/FramesTransmittedOK". A statistic that a driver does not have is not
   listed: missing is not 0. Devices are neither PHYSICAL nor VIRTUAL, because the numbers of one driver overlap (total,
   per queue, per priority) and must not be added up.

   Reading may take milliseconds of firmware time on a real NIC. Therefore nothing is in the fast set, and each device
   is read separately, so that netprof_config.threads helps. All netlink requests share one socket, one at a time. The
   ioctl sees only this process's network namespace: under another root or with a pid the source is absent. */

typedef struct netprof__ethtool_row {
    const char *pattern, *unit;
    uint8_t kind;
} netprof__ethtool_row;

/* Unit and kind of a driver's statistic: the first pattern that matches, ignoring case. */
static const netprof__ethtool_row netprof__ethtool_rows[] = {
    {"peer_ifindex", "", NETPROF_KIND_STATE},
    {"[rt]x_[0-9]*_bytes_phy", "packets", NETPROF_KIND_HISTOGRAM}, /* mlx5: rx_65_to_127_bytes_phy */
    {"[rt]x_[0-9]*b_frames", "packets", NETPROF_KIND_HISTOGRAM},   /* bnxt: rx_65b_127b_frames */
    {"*[rt]x_size_[0-9]*", "packets", NETPROF_KIND_HISTOGRAM},     /* i40e, ice: port.rx_size_127 */
    {"*duration*", "", NETPROF_KIND_COUNTER},
    {"*bytes*", "bytes", NETPROF_KIND_COUNTER},
    {"*octets*", "bytes", NETPROF_KIND_COUNTER},
    {"*error*", "errors", NETPROF_KIND_COUNTER},
    {"*_err*", "errors", NETPROF_KIND_COUNTER},
    {"*_errs*", "errors", NETPROF_KIND_COUNTER},
    {"*crc*", "errors", NETPROF_KIND_COUNTER},
    {"*drop*", "packets", NETPROF_KIND_COUNTER},
    {"*discard*", "packets", NETPROF_KIND_COUNTER},
    {"*packet*", "packets", NETPROF_KIND_COUNTER},
    {"*pkt*", "packets", NETPROF_KIND_COUNTER},
    {"*frame*", "packets", NETPROF_KIND_COUNTER},
    {"*pause*", "packets", NETPROF_KIND_COUNTER},
    {"*cast*", "packets", NETPROF_KIND_COUNTER},
    {"*timeout*", "events", NETPROF_KIND_COUNTER},
    {"*_events*", "events", NETPROF_KIND_COUNTER},
};

/* Groups of standard statistics. The first five are the kernel's ETHTOOL_STATS_..., in its order. */
enum {
    NETPROF__GROUP_RMON = 3,
    NETPROF__GROUP_PAUSE = 5,
    NETPROF__GROUP_FEC = 6,
    NETPROF__GROUP_LINK = 7,
    NETPROF__HISTOGRAM_RX = 0x100, /* items beyond the kernel's attributes */
    NETPROF__HISTOGRAM_TX = 0x101
};

#define NETPROF__OLDER_GROUPS 0xfu  /* without phydev, which only newer kernels know */
#define NETPROF__ALL_GROUPS   0x1fu /* one bit per ETHTOOL_STATS_... */

static const char *const netprof__ethtool_groups[] = {"eth-phy", "eth-mac", "eth-ctrl", "rmon",
                                                      "phydev",  "pause",   "fec",      "link"};

/* The names of net/ethtool/stats.c, and of pause, FEC and link state. `item` is the kernel's attribute. */
static const struct netprof__ethtool_item {
    uint16_t group, item;
    const char *name, *unit;
    uint8_t kind, width;
} netprof__ethtool_items[] = {
    {0, 0, "SymbolErrorDuringCarrier", "errors", NETPROF_KIND_COUNTER, 64},
    {1, 0, "FramesTransmittedOK", "packets", NETPROF_KIND_COUNTER, 64},
    {1, 1, "SingleCollisionFrames", "packets", NETPROF_KIND_COUNTER, 64},
    {1, 2, "MultipleCollisionFrames", "packets", NETPROF_KIND_COUNTER, 64},
    {1, 3, "FramesReceivedOK", "packets", NETPROF_KIND_COUNTER, 64},
    {1, 4, "FrameCheckSequenceErrors", "errors", NETPROF_KIND_COUNTER, 64},
    {1, 5, "AlignmentErrors", "errors", NETPROF_KIND_COUNTER, 64},
    {1, 6, "OctetsTransmittedOK", "bytes", NETPROF_KIND_COUNTER, 64},
    {1, 7, "FramesWithDeferredXmissions", "packets", NETPROF_KIND_COUNTER, 64},
    {1, 8, "LateCollisions", "packets", NETPROF_KIND_COUNTER, 64},
    {1, 9, "FramesAbortedDueToXSColls", "packets", NETPROF_KIND_COUNTER, 64},
    {1, 10, "FramesLostDueToIntMACXmitError", "packets", NETPROF_KIND_COUNTER, 64},
    {1, 11, "CarrierSenseErrors", "errors", NETPROF_KIND_COUNTER, 64},
    {1, 12, "OctetsReceivedOK", "bytes", NETPROF_KIND_COUNTER, 64},
    {1, 13, "FramesLostDueToIntMACRcvError", "packets", NETPROF_KIND_COUNTER, 64},
    {1, 14, "MulticastFramesXmittedOK", "packets", NETPROF_KIND_COUNTER, 64},
    {1, 15, "BroadcastFramesXmittedOK", "packets", NETPROF_KIND_COUNTER, 64},
    {1, 16, "FramesWithExcessiveDeferral", "packets", NETPROF_KIND_COUNTER, 64},
    {1, 17, "MulticastFramesReceivedOK", "packets", NETPROF_KIND_COUNTER, 64},
    {1, 18, "BroadcastFramesReceivedOK", "packets", NETPROF_KIND_COUNTER, 64},
    {1, 19, "InRangeLengthErrors", "errors", NETPROF_KIND_COUNTER, 64},
    {1, 20, "OutOfRangeLengthField", "packets", NETPROF_KIND_COUNTER, 64},
    {1, 21, "FrameTooLongErrors", "errors", NETPROF_KIND_COUNTER, 64},
    {2, 0, "MACControlFramesTransmitted", "packets", NETPROF_KIND_COUNTER, 64},
    {2, 1, "MACControlFramesReceived", "packets", NETPROF_KIND_COUNTER, 64},
    {2, 2, "UnsupportedOpcodesReceived", "packets", NETPROF_KIND_COUNTER, 64},
    {3, 0, "etherStatsUndersizePkts", "packets", NETPROF_KIND_COUNTER, 64},
    {3, 1, "etherStatsOversizePkts", "packets", NETPROF_KIND_COUNTER, 64},
    {3, 2, "etherStatsFragments", "packets", NETPROF_KIND_COUNTER, 64},
    {3, 3, "etherStatsJabbers", "packets", NETPROF_KIND_COUNTER, 64},
    {3, NETPROF__HISTOGRAM_RX, "rx_etherStatsPkts", "packets", NETPROF_KIND_HISTOGRAM, 64},
    {3, NETPROF__HISTOGRAM_TX, "tx_etherStatsPkts", "packets", NETPROF_KIND_HISTOGRAM, 64},
    {4, 0, "RxFrames", "packets", NETPROF_KIND_COUNTER, 64},
    {4, 1, "RxOctets", "bytes", NETPROF_KIND_COUNTER, 64},
    {4, 2, "RxErrors", "errors", NETPROF_KIND_COUNTER, 64},
    {4, 3, "TxFrames", "packets", NETPROF_KIND_COUNTER, 64},
    {4, 4, "TxOctets", "bytes", NETPROF_KIND_COUNTER, 64},
    {4, 5, "TxErrors", "errors", NETPROF_KIND_COUNTER, 64},
    {5, 2, "tx_pause_frames", "packets", NETPROF_KIND_COUNTER, 64},
    {5, 3, "rx_pause_frames", "packets", NETPROF_KIND_COUNTER, 64},
    {6, 2, "corrected_blocks", "blocks", NETPROF_KIND_COUNTER, 64},
    {6, 3, "uncorrectable_blocks", "blocks", NETPROF_KIND_COUNTER, 64},
    {6, 4, "corrected_bits", "bits", NETPROF_KIND_COUNTER, 64},
    {7, 3, "signal_quality", "index", NETPROF_KIND_GAUGE, 32},
    {7, 7, "down_events", "events", NETPROF_KIND_COUNTER, 32},
};

/* One standard statistic; `item` is the kernel's attribute. For a histogram, low and high bound the bucket, in bytes
   (high 0: no upper bound). For others, low is 0 for all lanes together, else 1 + the lane. */
typedef struct netprof__ethtool_entry {
    uint32_t group, item, low, high;
    uint32_t index; /* among the source's counters; UINT32_MAX if a filter dropped it */
} netprof__ethtool_entry;

#define NETPROF__ASK_DRIVER 0x80000000u

typedef struct netprof__ethtool_device {
    char name[16];
    uint32_t ifindex, count; /* count: of driver statistics */
    uint32_t *index;         /* [count] among the source's counters; UINT32_MAX if a filter dropped it */
    uint64_t *reply;         /* struct ethtool_stats: two 32-bit words, then the values */
    uint32_t room;           /* values that fit into it; larger than count */
    netprof__ethtool_entry *entries;
    size_t entry_count, entry_capacity;
    uint32_t wanted[2]; /* per netprof_set: one bit per request whose answer is wanted */
} netprof__ethtool_device;

typedef struct netprof__ethtool_source {
    netprof *np;
    netprof__ethtool_device *devices;
    size_t device_count, device_capacity;
    netprof__procdev proc;
    netprof__names names; /* of interfaces; only during discovery */
    uint64_t signature;
    int fd, events, out_of_memory;
    unsigned family;
    uint32_t groups; /* one bit per group that this kernel knows */
    netprof__nl nl;
#ifndef NETPROF_NO_THREADS
    pthread_mutex_t lock;
#endif
} netprof__ethtool_source;

static void netprof__ethtool_describe(netprof_counter *c, const char *name)
{
    size_t i;
    memset(c, 0, sizeof *c);
    c->name = name;
    c->unit = "";
    for (i = 0; i < sizeof netprof__ethtool_rows / sizeof *netprof__ethtool_rows; i++) {
        if (fnmatch(netprof__ethtool_rows[i].pattern, name, FNM_CASEFOLD) != 0) continue;
        c->unit = netprof__ethtool_rows[i].unit;
        c->kind = netprof__ethtool_rows[i].kind;
        return;
    }
}

/* >>8.3.1 driver statistics by ioctl */

/* Reads how many statistics the driver has now. Returns 0 or an errno. */
static int netprof__ethtool_count(int fd, const char *name, uint32_t *count)
{
    uint32_t words[6] = {0x37, 0, 0, 0, 0, 0}; /* ETHTOOL_GSSET_INFO: command, reserved, mask of 64 bits, data */
    uint64_t mask = (uint64_t)1 << 1;          /* ETH_SS_STATS */
    int failed;
    memcpy(&words[2], &mask, sizeof mask);
    *count = 0;
    failed = netprof__ethtool(fd, name, words);
    memcpy(&mask, &words[2], sizeof mask);
    if (!failed && mask) *count = words[4];
    return failed;
}

/* Reads the names, 32 bytes each after three words; *count becomes what the driver really gave. Returns 0 or an
   errno. */
static int netprof__ethtool_strings(const netprof_alloc *a, int fd, const char *name, uint32_t *count, uint32_t **words)
{
    size_t room = *count + *count / 2 + 64; /* the driver may have more of them by now */
    int failed;
    *words = (uint32_t *)netprof__zalloc(a, 12 + room * 32);
    if (!*words) return ENOMEM;
    (*words)[0] = 0x1b; /* ETHTOOL_GSTRINGS */
    (*words)[1] = 1;    /* ETH_SS_STATS */
    (*words)[2] = *count;
    failed = netprof__ethtool(fd, name, *words);
    if (!failed && (*words)[2] < *count) *count = (*words)[2];
    return failed;
}

/* Copies one name, which may lack its 0 byte. */
static void netprof__ethtool_name(char *to, const uint32_t *words, size_t i)
{
    const char *from = (const char *)(words + 3) + 32 * i;
    size_t n = strnlen(from, 32);
    memcpy(to, from, n);
    to[n] = 0;
    if (!n) memcpy(to, "unnamed", 8);
}

/* Marks everything of the driver that this sweep should have read. */
static void netprof__ethtool_driver_failed(const netprof__ethtool_device *d, netprof_sweep *sweep,
                                           netprof_status status, int sys_errno)
{
    size_t i;
    for (i = 0; i < d->count; i++) {
        uint32_t k = d->index[i];
        if (k == UINT32_MAX || (sweep->set == NETPROF_SET_FAST && !(sweep->counters[k].flags & NETPROF_FAST))) continue;
        netprof__set_failed(sweep, k, sys_errno);
        sweep->status[k] = (uint8_t)status;
    }
}

/* Reads the count again before each reading: it changes with the number of queues, and then every column shifts. */
static void netprof__ethtool_read_driver(netprof__ethtool_source *et, netprof__ethtool_device *d, netprof_sweep *sweep)
{
    uint32_t count, head[2];
    size_t i;
    int failed = netprof__ethtool_count(et->fd, d->name, &count);
    if (!failed && count == d->count) {
        head[0] = 0x1d; /* ETHTOOL_GSTATS */
        head[1] = count;
        memcpy(d->reply, head, sizeof head);
        failed = netprof__ethtool(et->fd, d->name, d->reply);
        memcpy(head, d->reply, sizeof head);
        count = head[1];
    }
    if (failed || count != d->count) {
        sweep->stale |= !failed || netprof_status_of_errno(failed) == NETPROF_STATUS_VANISHED;
        netprof__ethtool_driver_failed(d, sweep, failed ? netprof_status_of_errno(failed) : NETPROF_STATUS_ABSENT,
                                       failed ? failed : EAGAIN);
        return;
    }
    for (i = 0; i < d->count; i++) {
        uint32_t k = d->index[i];
        if (k != UINT32_MAX && (sweep->set == NETPROF_SET_ALL || (sweep->counters[k].flags & NETPROF_FAST)))
            netprof__set_value(sweep, k, d->reply[1 + i]);
    }
}

/* >>8.3.2 standard groups by netlink: replies */

#ifndef NETPROF_NO_NETLINK

/* The name of a counter of a group, with its unit, kind and width. */
static void netprof__ethtool_describe_entry(netprof_counter *c, const netprof__ethtool_entry *e, char *name,
                                            size_t size)
{
    const struct netprof__ethtool_item *item = NULL;
    char suffix[48] = "";
    size_t i;
    for (i = 0; i < sizeof netprof__ethtool_items / sizeof *netprof__ethtool_items; i++)
        if (netprof__ethtool_items[i].group == e->group && netprof__ethtool_items[i].item == e->item)
            item = &netprof__ethtool_items[i];
    memset(c, 0, sizeof *c);
    c->name = name;
    c->unit = item ? item->unit : "";
    c->kind = item ? item->kind : (uint8_t)NETPROF_KIND_COUNTER;
    c->width = item ? item->width : 0;
    if (e->item >= NETPROF__HISTOGRAM_RX && e->high)
        snprintf(suffix, sizeof suffix, "%uto%uOctets", e->low, e->high);
    else if (e->item >= NETPROF__HISTOGRAM_RX)
        snprintf(suffix, sizeof suffix, "%utoMaxOctets", e->low);
    else if (e->low)
        snprintf(suffix, sizeof suffix, "_lane%u", e->low - 1);
    if (item)
        snprintf(name, size, "%s/%s%s", netprof__ethtool_groups[e->group], item->name, suffix);
    else
        snprintf(name, size, "%s/stat_%u%s", netprof__ethtool_groups[e->group & 7], e->item, suffix);
}

typedef int (*netprof__entry_visit)(void *user, const netprof__ethtool_entry *entry, uint64_t value);

static int netprof__visit_entry(netprof__entry_visit visit, void *user, uint32_t group, uint32_t item, uint32_t low,
                                uint32_t high, uint64_t value)
{
    netprof__ethtool_entry entry;
    entry.group = group;
    entry.item = item;
    entry.low = low;
    entry.high = high;
    entry.index = UINT32_MAX;
    return visit(user, &entry, value);
}

/* A nest of 64-bit attributes. An array has the total first, then the lanes. Attributes of less than 8 bytes are
   padding. */
static int netprof__parse_values(const netprof__attr *nest, uint32_t group, netprof__entry_visit visit, void *user)
{
    netprof__attr attr;
    size_t at = 0, i;
    int failed = 0;
    while (!failed && netprof__next_attr(nest->data, nest->size, &at, &attr))
        for (i = 0; !failed && i < attr.size / 8 && i < 256; i++)
            failed =
                netprof__visit_entry(visit, user, group, attr.type, (uint32_t)i, 0, netprof__u64_at(attr.data + 8 * i));
    return failed;
}

/* One bucket of a histogram: ETHTOOL_A_STATS_GRP_HIST_RX or _TX, with its bounds (attributes 7 and 8) and its value
   (9). */
static int netprof__parse_bucket(const netprof__attr *nest, uint32_t item, netprof__entry_visit visit, void *user)
{
    uint32_t low = 0, high = 0;
    uint64_t value = 0;
    netprof__attr attr;
    size_t at = 0;
    int found = 0;
    while (netprof__next_attr(nest->data, nest->size, &at, &attr)) {
        if (attr.type == 7)
            low = netprof__attr_u32(&attr);
        else if (attr.type == 8)
            high = netprof__attr_u32(&attr);
        else if (attr.type == 9 && attr.size >= 8) {
            value = netprof__u64_at(attr.data);
            found = 1;
        }
    }
    return found ? netprof__visit_entry(visit, user, NETPROF__GROUP_RMON, item, low, high, value) : 0;
}

/* ETHTOOL_A_STATS_GRP. The group's number may come after its statistics. */
static int netprof__parse_stats_group(const netprof__attr *nest, netprof__entry_visit visit, void *user)
{
    netprof__attr attr;
    uint32_t group = UINT32_MAX;
    size_t at = 0;
    int failed = 0;
    while (netprof__next_attr(nest->data, nest->size, &at, &attr))
        if (attr.type == 2 && attr.size >= 4) /* ETHTOOL_A_STATS_GRP_ID */
            group = netprof__attr_u32(&attr);
    if (group >= NETPROF__GROUP_PAUSE) return 0;
    for (at = 0; !failed && netprof__next_attr(nest->data, nest->size, &at, &attr);) {
        if (attr.type == 4) /* ..._STAT */
            failed = netprof__parse_values(&attr, group, visit, user);
        else if (attr.type == 5 || attr.type == 6) /* ..._HIST_RX, ..._HIST_TX */
            failed = netprof__parse_bucket(&attr, NETPROF__HISTOGRAM_RX + attr.type - 5, visit, user);
    }
    return failed;
}

/* A reply of the family "ethtool": struct genlmsghdr (4 bytes) and attributes. Returns 0 or visit()'s result. */
static int netprof__parse_ethtool(const unsigned char *body, size_t size, netprof__entry_visit visit, void *user)
{
    unsigned command = size >= 4 ? body[0] : 0;
    netprof__attr attr;
    size_t at = 4;
    int failed = 0;
    while (!failed && netprof__next_attr(body, size, &at, &attr)) {
        if (command == 33 && attr.type == 4) /* STATS_GET_REPLY, ETHTOOL_A_STATS_GRP */
            failed = netprof__parse_stats_group(&attr, visit, user);
        else if (command == 22 && attr.type == 5) /* PAUSE_GET_REPLY, ETHTOOL_A_PAUSE_STATS */
            failed = netprof__parse_values(&attr, NETPROF__GROUP_PAUSE, visit, user);
        else if (command == 30 && attr.type == 5) /* FEC_GET_REPLY, ETHTOOL_A_FEC_STATS */
            failed = netprof__parse_values(&attr, NETPROF__GROUP_FEC, visit, user);
        else if (command == 6 && (attr.type == 3 || attr.type == 7) && attr.size >= 4) /* LINKSTATE: _SQI, _DOWN_CNT */
            failed = netprof__visit_entry(visit, user, NETPROF__GROUP_LINK, attr.type, 0, 0, netprof__attr_u32(&attr));
    }
    return failed;
}

/* >>8.3.3 standard groups by netlink: requests and readings */

/* The requests: STATS_GET, PAUSE_GET, FEC_GET, LINKSTATE_GET. Row i has bit i in netprof__ethtool_device.wanted. */
static const struct netprof__ethtool_ask {
    uint8_t command, header; /* ETHTOOL_MSG_...; the attribute that names the interface */
    uint32_t flags;          /* 4: ETHTOOL_FLAG_STATS */
} netprof__ethtool_asks[] = {{32, 2, 0}, {21, 1, 4}, {29, 1, 4}, {6, 1, 0}};

#define NETPROF__ASKS (sizeof netprof__ethtool_asks / sizeof *netprof__ethtool_asks)

/* The request that a group belongs to: the first one asks for all of the kernel's ETHTOOL_STATS_... groups. */
static size_t netprof__ask_of(uint32_t group)
{
    return group < NETPROF__GROUP_PAUSE ? 0 : group - NETPROF__GROUP_PAUSE + 1;
}

static void netprof__end_nest(unsigned char *request, size_t at, size_t begin)
{
    uint16_t length = (uint16_t)(at - begin);
    memcpy(request + begin, &length, 2);
}

/* Writes the netlink header and the genl header (version 1). Returns the offset at which attributes begin. */
static size_t netprof__genl_request(unsigned char *request, size_t size, unsigned family, unsigned command)
{
    uint16_t flags = 1; /* NLM_F_REQUEST */
    netprof__nl_request(request, size, family);
    memcpy(request + 6, &flags, 2);
    request[16] = (unsigned char)command;
    request[17] = 1;
    return 20;
}

/* A request about one interface: a nested header (1: ETHTOOL_A_HEADER_DEV_INDEX, 3: _FLAGS), and for STATS_GET a
   compact bit set of groups (1: ETHTOOL_A_BITSET_NOMASK, 2: _SIZE, 4: _VALUE). */
static size_t netprof__ethtool_request(unsigned char *request, size_t size, unsigned family,
                                       const struct netprof__ethtool_ask *ask, uint32_t ifindex, uint32_t groups)
{
    size_t at = netprof__genl_request(request, size, family, ask->command), nest;
    uint32_t bits = groups > NETPROF__OLDER_GROUPS ? 5 : 4;
    nest = netprof__put_attr(request, &at, NETPROF__NLA_F_NESTED | ask->header, NULL, 0);
    netprof__put_attr(request, &at, 1, &ifindex, 4);
    netprof__put_attr(request, &at, 3, &ask->flags, 4);
    netprof__end_nest(request, at, nest);
    if (ask->command != 32) return at;
    nest = netprof__put_attr(request, &at, NETPROF__NLA_F_NESTED | 3, NULL, 0); /* ETHTOOL_A_STATS_GROUPS */
    netprof__put_attr(request, &at, 1, NULL, 0);
    netprof__put_attr(request, &at, 2, &bits, 4);
    netprof__put_attr(request, &at, 4, &groups, 4);
    netprof__end_nest(request, at, nest);
    return at;
}

static int netprof__family_message(void *user, unsigned type, const unsigned char *body, size_t size)
{
    netprof__attr attr;
    size_t at = 4;
    (void)type;
    while (netprof__next_attr(body, size, &at, &attr))
        if (attr.type == 1 && attr.size >= 2) /* CTRL_ATTR_FAMILY_ID */
            *(unsigned *)user = netprof__u16_at(attr.data);
    return 0;
}

/* The number of the family "ethtool" (Linux 5.6), or 0. */
static unsigned netprof__ethtool_family(netprof__nl *nl)
{
    unsigned char request[64];
    unsigned family = 0;
    size_t at = netprof__genl_request(request, sizeof request, 16, 3); /* GENL_ID_CTRL, CTRL_CMD_GETFAMILY */
    netprof__put_attr(request, &at, 2, "ethtool", 8);                  /* CTRL_ATTR_FAMILY_NAME */
    return netprof__nl_ask(nl, request, at, netprof__family_message, &family) == 0 ? family : 0;
}

/* Passed to the visitor of messages, for the visitor of entries. */
typedef struct netprof__ethtool_visit {
    netprof__entry_visit visit;
    void *user;
    unsigned family;
} netprof__ethtool_visit;

static int netprof__ethtool_message(void *user, unsigned type, const unsigned char *body, size_t size)
{
    const netprof__ethtool_visit *v = (const netprof__ethtool_visit *)user;
    return type == v->family ? netprof__parse_ethtool(body, size, v->visit, v->user) : 0;
}

static void netprof__ethtool_lock(netprof__ethtool_source *et, int lock)
{
#ifndef NETPROF_NO_THREADS
    if (lock)
        pthread_mutex_lock(&et->lock);
    else
        pthread_mutex_unlock(&et->lock);
#else
    (void)et;
    (void)lock;
#endif
}

/* One request about one interface. Returns 0 or an errno. */
static int netprof__ethtool_ask_once(netprof__ethtool_source *et, uint32_t ifindex, size_t ask, uint32_t groups,
                                     netprof__entry_visit visit, void *user)
{
    unsigned char request[128];
    netprof__ethtool_visit v;
    size_t size;
    int result;
    v.visit = visit;
    v.user = user;
    v.family = et->family;
    size = netprof__ethtool_request(request, sizeof request, et->family, &netprof__ethtool_asks[ask], ifindex, groups);
    netprof__ethtool_lock(et, 1);
    result = netprof__nl_ask(&et->nl, request, size, netprof__ethtool_message, &v);
    netprof__ethtool_lock(et, 0);
    return result < 0 ? -result : 0;
}

/* Finds the entries of a device, starting after the last hit: replies keep their order. */
typedef struct netprof__ethtool_reading {
    netprof__ethtool_device *device;
    netprof_sweep *sweep;
    size_t hint;
} netprof__ethtool_reading;

static int netprof__ethtool_store(void *user, const netprof__ethtool_entry *entry, uint64_t value)
{
    netprof__ethtool_reading *r = (netprof__ethtool_reading *)user;
    size_t i, count = r->device->entry_count;
    for (i = 0; i < count; i++) {
        const netprof__ethtool_entry *e = &r->device->entries[(r->hint + i) % count];
        if (e->group != entry->group || e->item != entry->item || e->low != entry->low) continue;
        r->hint = (size_t)(e - r->device->entries) + 1;
        if (e->index != UINT32_MAX &&
            (r->sweep->set == NETPROF_SET_ALL || (r->sweep->counters[e->index].flags & NETPROF_FAST)))
            netprof__set_value(r->sweep, e->index, value);
        return 0;
    }
    r->sweep->stale = 1; /* a statistic that was not there at discovery */
    return 0;
}

/* Marks every wanted entry as absent before the answer; if there is no answer, sets its errno. */
static void netprof__ethtool_mark(const netprof__ethtool_device *d, netprof_sweep *sweep, size_t ask, int failed)
{
    size_t i;
    for (i = 0; i < d->entry_count; i++) {
        uint32_t k = d->entries[i].index;
        if (k == UINT32_MAX || netprof__ask_of(d->entries[i].group) != ask ||
            (sweep->set == NETPROF_SET_FAST && !(sweep->counters[k].flags & NETPROF_FAST)))
            continue;
        if (failed)
            netprof__set_failed(sweep, k, failed);
        else
            sweep->status[k] = NETPROF_STATUS_ABSENT;
    }
}

static void netprof__ethtool_read_groups(netprof__ethtool_source *et, netprof__ethtool_device *d, netprof_sweep *sweep)
{
    netprof__ethtool_reading reading;
    size_t ask;
    reading.device = d;
    reading.sweep = sweep;
    reading.hint = 0;
    for (ask = 0; ask < NETPROF__ASKS; ask++) {
        int failed;
        if (!(d->wanted[sweep->set] >> ask & 1)) continue;
        netprof__ethtool_mark(d, sweep, ask, 0);
        failed = netprof__ethtool_ask_once(et, d->ifindex, ask, et->groups, netprof__ethtool_store, &reading);
        if (failed) netprof__ethtool_mark(d, sweep, ask, failed);
        sweep->stale |= netprof_status_of_errno(failed) == NETPROF_STATUS_VANISHED;
    }
}

typedef struct netprof__ethtool_finding {
    const netprof_alloc *alloc;
    netprof__ethtool_device *device;
} netprof__ethtool_finding;

static int netprof__ethtool_found(void *user, const netprof__ethtool_entry *entry, uint64_t value)
{
    netprof__ethtool_device *d = ((netprof__ethtool_finding *)user)->device;
    (void)value;
    if (!netprof__grow(((netprof__ethtool_finding *)user)->alloc, &d->entries, &d->entry_capacity, d->entry_count + 1,
                       sizeof *d->entries))
        return ENOMEM;
    d->entries[d->entry_count++] = *entry;
    return 0;
}

/* Finds all groups of this interface. A kernel that does not know the newest group refuses the whole request, which is
   then repeated without it. Returns 0 or ENOMEM. */
static int netprof__ethtool_find_groups(netprof__ethtool_source *et, netprof__ethtool_device *d)
{
    netprof__ethtool_finding finding;
    size_t ask;
    finding.alloc = &et->np->alloc;
    finding.device = d;
    for (ask = 0; et->family && ask < NETPROF__ASKS; ask++) {
        size_t before = d->entry_count;
        int failed = netprof__ethtool_ask_once(et, d->ifindex, ask, et->groups, netprof__ethtool_found, &finding);
        if (failed && failed != ENOMEM && ask == 0 && et->groups > NETPROF__OLDER_GROUPS) {
            d->entry_count = before;
            failed =
                netprof__ethtool_ask_once(et, d->ifindex, ask, NETPROF__OLDER_GROUPS, netprof__ethtool_found, &finding);
            if (!failed) et->groups = NETPROF__OLDER_GROUPS;
        }
        if (failed == ENOMEM) return ENOMEM;
        if (failed) d->entry_count = before;
    }
    return 0;
}

#endif /* NETPROF_NO_NETLINK */

/* >>8.3.4 discovery, and the source */

static void netprof__ethtool_forget(netprof__ethtool_source *et)
{
    const netprof_alloc *a = &et->np->alloc;
    size_t i;
    for (i = 0; i < et->device_count; i++) {
        netprof__release(a, et->devices[i].index);
        netprof__release(a, et->devices[i].reply);
        netprof__release(a, et->devices[i].entries);
    }
    netprof__release(a, et->devices);
    et->devices = NULL;
    et->device_count = et->device_capacity = 0;
    et->out_of_memory = 0;
}

static void netprof__ethtool_interface(void *user, const char *name, const uint64_t *values, int count)
{
    netprof__ethtool_source *et = (netprof__ethtool_source *)user;
    (void)values;
    (void)count;
    if (strlen(name) < sizeof et->devices->name && netprof__names_add(&et->names, name, 0)) et->out_of_memory = 1;
}

static uint32_t netprof__ifindex_of(int fd, const char *name)
{
    netprof__ifreq ifreq;
    memset(&ifreq, 0, sizeof ifreq);
    return netprof__ethtool_ioctl(fd, name, NETPROF__SIOCGIFINDEX, &ifreq) ? 0 : (uint32_t)ifreq.u.index;
}

/* Lists the interfaces of this thread's network namespace from /proc/net/dev, which needs neither netlink nor
   privileges. *signature changes when an interface is added, removed, renamed or re-created. Returns 0 or an errno;
   free et->names in any case. */
static int netprof__ethtool_interfaces(netprof__ethtool_source *et, uint64_t *signature)
{
    ssize_t n;
    size_t at, i;
    memset(&et->names, 0, sizeof et->names);
    et->names.alloc = &et->np->alloc;
    *signature = 1;
    netprof__procdev_path(et->np, et->proc.path, sizeof et->proc.path);
    n = netprof__procdev_read(&et->np->alloc, &et->proc);
    if (n < 0) return (int)-n;
    at = netprof__parse_procdev_header(et->proc.text, (size_t)n, et->proc.names, &et->proc.count);
    if (!at) return EBADMSG;
    netprof__procdev_lines(et->proc.text, at, (size_t)n, netprof__ethtool_interface, et);
    for (i = 0; i < et->names.count; i++)
        netprof__mix_entry(signature, et->names.names[i], netprof__ifindex_of(et->fd, et->names.names[i]));
    return et->out_of_memory ? ENOMEM : 0;
}

/* Facts from struct ethtool_drvinfo: driver, version, fw_version and bus, 32 bytes each, from byte 4 on. */
static void netprof__ethtool_facts(netprof_list *list, int fd, const char *name)
{
    static const char *const keys[] = {"driver", "version", "fw_version", "bus"};
    uint32_t words[49] = {3}; /* ETHTOOL_GDRVINFO */
    char text[33];
    size_t i;
    if (netprof__ethtool(fd, name, words)) return;
    for (i = 0; i < sizeof keys / sizeof *keys; i++) {
        memcpy(text, (const char *)words + 4 + 32 * i, 32);
        text[32] = 0;
        netprof__fact_text(list, keys[i], text);
    }
}

/* Notes that a listed counter needs these requests. */
static void netprof__ethtool_want(netprof__ethtool_device *d, const netprof_list *list, size_t index, uint32_t bits)
{
    const netprof_counter *c;
    if (index == NETPROF_NONE) return;
    c = list->schema->counters + list->source_first_counter;
    d->wanted[NETPROF_SET_ALL] |= bits;
    if (c[index].flags & NETPROF_FAST) d->wanted[NETPROF_SET_FAST] |= bits;
}

static void netprof__ethtool_list_driver(netprof_list *list, netprof__ethtool_device *d, const uint32_t *words)
{
    char name[33];
    size_t i;
    for (i = 0; i < d->count; i++) {
        netprof_counter c;
        size_t index;
        netprof__ethtool_name(name, words, i);
        netprof__ethtool_describe(&c, name);
        index = netprof_list_counter(list, &c);
        d->index[i] = index == NETPROF_NONE ? UINT32_MAX : (uint32_t)index;
        netprof__ethtool_want(d, list, index, NETPROF__ASK_DRIVER);
    }
}

static void netprof__ethtool_list_groups(netprof_list *list, netprof__ethtool_device *d)
{
#ifndef NETPROF_NO_NETLINK
    char name[128];
    size_t i;
    for (i = 0; i < d->entry_count; i++) {
        netprof_counter c;
        size_t index;
        netprof__ethtool_describe_entry(&c, &d->entries[i], name, sizeof name);
        index = netprof_list_counter(list, &c);
        d->entries[i].index = index == NETPROF_NONE ? UINT32_MAX : (uint32_t)index;
        netprof__ethtool_want(d, list, index, (uint32_t)1 << netprof__ask_of(d->entries[i].group));
    }
#else
    (void)list;
    (void)d;
#endif
}

/* Makes room for the replies, with slack: the kernel writes as many values as the driver has at that moment. */
static int netprof__ethtool_room(const netprof_alloc *a, netprof__ethtool_device *d)
{
    d->room = d->count + d->count / 2 + 64;
    d->index = (uint32_t *)netprof__resize(a, NULL, d->count * sizeof *d->index);
    d->reply = (uint64_t *)netprof__zalloc(a, ((size_t)d->room + 1) * sizeof *d->reply);
    return d->index && d->reply;
}

/* Lists an interface if it has any statistics. Loopback has none (EOPNOTSUPP), which is not an error. */
static netprof_err netprof__ethtool_device_of(netprof__ethtool_source *et, netprof_list *list, const char *name)
{
    const netprof_alloc *a = &et->np->alloc;
    netprof__ethtool_device *d;
    uint32_t *words = NULL;
    int failed;
    if (!netprof__grow(a, &et->devices, &et->device_capacity, et->device_count + 1, sizeof *et->devices))
        return NETPROF_ERR_NOMEM;
    d = &et->devices[et->device_count++]; /* from here on netprof__ethtool_forget() frees its arrays */
    memset(d, 0, sizeof *d);
    netprof__copy_text(d->name, sizeof d->name, name);
    d->ifindex = netprof__ifindex_of(et->fd, name);
    failed = netprof__ethtool_count(et->fd, name, &d->count);
    if (!failed && d->count > 1000000) d->count = 0; /* implausible */
    if (!failed && d->count) failed = netprof__ethtool_strings(a, et->fd, name, &d->count, &words);
    if (failed && failed != ENOMEM) d->count = 0;
    if (failed != ENOMEM && d->count && !netprof__ethtool_room(a, d)) failed = ENOMEM;
#ifndef NETPROF_NO_NETLINK
    if (failed != ENOMEM && d->ifindex && netprof__ethtool_find_groups(et, d)) failed = ENOMEM;
#endif
    if (failed != ENOMEM && (d->count || d->entry_count)) {
        netprof_list_device(list, name, d->ifindex, 0);
        netprof__ethtool_facts(list, et->fd, name);
        netprof__ethtool_list_driver(list, d, words);
        netprof__ethtool_list_groups(list, d);
    } else if (failed != ENOMEM) {
        et->device_count--;
    }
    netprof__release(a, words);
    return failed == ENOMEM ? NETPROF_ERR_NOMEM : NETPROF_OK;
}

/* Opens what is not open yet: a socket for the ioctl and, with netlink, one for the groups and one for link events.
   Returns 0 or an errno. */
static int netprof__ethtool_open(netprof__ethtool_source *et)
{
    int failed = 0;
    if (et->fd < 0) et->fd = NETPROF_OS_SOCKET(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (et->fd < 0) failed = errno;
#ifndef NETPROF_NO_NETLINK
    if (et->fd < 0) /* a kernel without IPv4: since Linux 4.6 any socket will do */
        et->fd = NETPROF_OS_SOCKET(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 16);
    if (et->fd >= 0 && et->events < 0) et->events = netprof__events_open();
    if (et->fd >= 0 && et->events >= 0) /* events from here on count */
        netprof__events_poll(et->events);
    if (et->fd >= 0 && !et->family) et->family = netprof__ethtool_family(&et->nl);
#endif
    return et->fd < 0 ? failed : 0;
}

static netprof_err netprof__ethtool_discover(void *user, netprof_list *list)
{
    netprof__ethtool_source *et = (netprof__ethtool_source *)user;
    netprof_err result = NETPROF_OK;
    size_t i;
    int failed;
    netprof__ethtool_forget(et);
    if (*et->np->root || et->np->pid > 0) {
        netprof_list_state(list, NETPROF_STATUS_ABSENT, 0, "SIOCETHTOOL: for this namespace and the root / only");
        return NETPROF_OK;
    }
    failed = netprof__ethtool_open(et);
    if (failed) {
        netprof_list_state(list, netprof_status_of_errno(failed), failed, "socket(AF_INET)");
        return NETPROF_OK;
    }
    failed = netprof__ethtool_interfaces(et, &et->signature);
    if (failed && failed != ENOMEM) netprof_list_state(list, netprof_status_of_errno(failed), failed, et->proc.path);
    for (i = 0; !failed && !result && i < et->names.count; i++)
        result = netprof__ethtool_device_of(et, list, et->names.names[i]);
    netprof__names_free(&et->names);
    return failed == ENOMEM ? NETPROF_ERR_NOMEM : result;
}

static void netprof__ethtool_read(void *user, size_t device, netprof_sweep *sweep)
{
    netprof__ethtool_source *et = (netprof__ethtool_source *)user;
    netprof__ethtool_device *d = &et->devices[device];
    if (d->wanted[sweep->set] & NETPROF__ASK_DRIVER) netprof__ethtool_read_driver(et, d, sweep);
#ifndef NETPROF_NO_NETLINK
    netprof__ethtool_read_groups(et, d, sweep);
#endif
}

/* Lists the interfaces again after an event, or at every take if events are not available. */
static int netprof__ethtool_changed(void *user)
{
    netprof__ethtool_source *et = (netprof__ethtool_source *)user;
    uint64_t signature;
    int failed;
    if (et->fd < 0) return 0;
#ifndef NETPROF_NO_NETLINK
    if (et->events >= 0 && !netprof__events_poll(et->events)) return 0;
#endif
    failed = netprof__ethtool_interfaces(et, &signature);
    netprof__names_free(&et->names);
    return !failed && signature != et->signature;
}

static void netprof__ethtool_close(void *user)
{
    netprof__ethtool_source *et = (netprof__ethtool_source *)user;
    const netprof_alloc a = et->np->alloc;
    netprof__ethtool_forget(et);
#ifndef NETPROF_NO_NETLINK
    netprof__nl_close(&et->nl);
    if (et->events >= 0) NETPROF_OS_CLOSE(et->events);
#endif
    if (et->fd >= 0) NETPROF_OS_CLOSE(et->fd);
#ifndef NETPROF_NO_THREADS
    pthread_mutex_destroy(&et->lock);
#endif
    netprof__release(&a, et->nl.buffer);
    netprof__release(&a, et->proc.text);
    netprof__release(&a, et);
}

static netprof_err netprof__make_ethtool(netprof *np, netprof_source *source, void **user)
{
    netprof__ethtool_source *et = (netprof__ethtool_source *)netprof__zalloc(&np->alloc, sizeof *et);
    if (!et) return NETPROF_ERR_NOMEM;
    et->np = np;
    et->fd = et->events = et->nl.fd = -1;
    et->nl.protocol = 16; /* NETLINK_GENERIC */
    et->groups = NETPROF__ALL_GROUPS;
#ifndef NETPROF_NO_NETLINK
    if (!*np->root && np->pid <= 0) {
        et->nl.buffer = (unsigned char *)netprof__resize(&np->alloc, NULL, NETPROF__NL_BUFFER);
        if (!et->nl.buffer) {
            netprof__release(&np->alloc, et);
            return NETPROF_ERR_NOMEM;
        }
    }
#endif
#ifndef NETPROF_NO_THREADS
    pthread_mutex_init(&et->lock, NULL);
#endif
    source->discover = netprof__ethtool_discover;
    source->read = netprof__ethtool_read;
    source->changed = netprof__ethtool_changed;
    source->close = netprof__ethtool_close;
    *user = et;
    return NETPROF_OK;
}

/* >>8.4 source rdma: InfiniBand, RoCE, Omni-Path, EFA; /sys/class/infiniband

   One device per port ("mlx5_0/1"), and one for the adapter ("hfi1_0") if it has counters of its own. counters/ and
   counters_ext/ (drivers/infiniband/core/sysfs.c) come from the port's performance management agent: data in words of
   4 octets, narrow counters that stick at all-ones. hw_counters/ is the driver's own list. Counters missing there
   (optional ones that an administrator switched on, or all of them if sysfs shows none) are read by netlink
   (include/uapi/rdma/rdma_netlink.h, drivers/infiniband/core/nldev.c). A RoCE port shares its wire with the netdev that
   its fact names; therefore totals are formed within a source, never across sources. */

static const struct netprof__rdma_row {
    const char *name, *unit;
    uint16_t scale, flags;
    uint8_t width; /* 0: 64 or 32 bits, see netprof__rdma_is_wide() */
} netprof__rdma_rows[] = {
    {"port_xmit_data", "bytes", 4, NETPROF_FAST, 0},
    {"port_rcv_data", "bytes", 4, NETPROF_FAST, 0},
    {"port_xmit_packets", "packets", 1, NETPROF_FAST, 0},
    {"port_rcv_packets", "packets", 1, NETPROF_FAST, 0},
    {"port_xmit_data_64", "bytes", 4, NETPROF_FAST, 64},
    {"port_rcv_data_64", "bytes", 4, NETPROF_FAST, 64},
    {"port_xmit_packets_64", "packets", 1, NETPROF_FAST, 64},
    {"port_rcv_packets_64", "packets", 1, NETPROF_FAST, 64},
    {"unicast_xmit_packets", "packets", 1, 0, 64},
    {"unicast_rcv_packets", "packets", 1, 0, 64},
    {"multicast_xmit_packets", "packets", 1, 0, 64},
    {"multicast_rcv_packets", "packets", 1, 0, 64},
    {"port_unicast_xmit_packets", "packets", 1, 0, 64},
    {"port_unicast_rcv_packets", "packets", 1, 0, 64},
    {"port_multicast_xmit_packets", "packets", 1, 0, 64},
    {"port_multicast_rcv_packets", "packets", 1, 0, 64},
    {"port_xmit_wait", "ticks", 1, NETPROF_FAST | NETPROF_SATURATES, 32},
    {"port_xmit_discards", "packets", 1, NETPROF_FAST | NETPROF_SATURATES, 16},
    {"VL15_dropped", "packets", 1, NETPROF_SATURATES, 16},
    {"symbol_error", "errors", 1, NETPROF_FAST | NETPROF_SATURATES, 16},
    {"port_rcv_errors", "errors", 1, NETPROF_SATURATES, 16},
    {"port_rcv_remote_physical_errors", "errors", 1, NETPROF_SATURATES, 16},
    {"port_rcv_switch_relay_errors", "errors", 1, NETPROF_SATURATES, 16},
    {"link_error_recovery", "events", 1, NETPROF_FAST | NETPROF_SATURATES, 8},
    {"link_downed", "events", 1, NETPROF_FAST | NETPROF_SATURATES, 8},
    {"port_xmit_constraint_errors", "errors", 1, NETPROF_SATURATES, 8},
    {"port_rcv_constraint_errors", "errors", 1, NETPROF_SATURATES, 8},
    {"local_link_integrity_errors", "errors", 1, NETPROF_SATURATES, 4},
    {"excessive_buffer_overrun_errors", "errors", 1, NETPROF_SATURATES, 4},
};

/* hw_counters/, by the drivers' naming habits: the first row that matches. Their widths are documented nowhere. */
static const struct netprof__rdma_hw_row {
    const char *pattern, *unit;
    uint8_t kind;
} netprof__rdma_hw_rows[] = {
    {"active_*", "objects", NETPROF_KIND_GAUGE},
    {"watermark_*", "objects", NETPROF_KIND_GAUGE},
    {"*_bytes", "bytes", NETPROF_KIND_COUNTER},
    {"*Octets", "bytes", NETPROF_KIND_COUNTER},
    {"*_pkts", "packets", NETPROF_KIND_COUNTER},
    {"*_packets", "packets", NETPROF_KIND_COUNTER},
    {"*Pkts", "packets", NETPROF_KIND_COUNTER},
    {"rx_drops", "packets", NETPROF_KIND_COUNTER},
    {"np_*", "packets", NETPROF_KIND_COUNTER},
    {"rp_cnp_*", "packets", NETPROF_KIND_COUNTER},
    {"out_of_buffer", "packets", NETPROF_KIND_COUNTER},
    {"out_of_sequence", "packets", NETPROF_KIND_COUNTER},
    {"rx_icrc_encapsulated", "packets", NETPROF_KIND_COUNTER},
    {"roce_slow_restart_cnps", "packets", NETPROF_KIND_COUNTER},
    {"roce_*", "events", NETPROF_KIND_COUNTER},
    {"*_events", "events", NETPROF_KIND_COUNTER},
    {"*_exceeded", "events", NETPROF_KIND_COUNTER},
    {"packet_seq_err", "events", NETPROF_KIND_COUNTER},
    {"local_ack_timeout_err", "events", NETPROF_KIND_COUNTER},
    {"implied_nak_seq_err", "events", NETPROF_KIND_COUNTER},
    {"rnr_nak_retry_err", "events", NETPROF_KIND_COUNTER},
    {"*_err", "errors", NETPROF_KIND_COUNTER},
    {"*_error", "errors", NETPROF_KIND_COUNTER},
    {"*_errors", "errors", NETPROF_KIND_COUNTER},
    {"*_requests", "requests", NETPROF_KIND_COUNTER},
    {"*_request", "requests", NETPROF_KIND_COUNTER},
    {"rx_dct_connect", "requests", NETPROF_KIND_COUNTER},
    {"*_wrs", "requests", NETPROF_KIND_COUNTER},
    {"*_cmds", "commands", NETPROF_KIND_COUNTER},
};

static const char *const netprof__rdma_hw_fast[] = {"out_of_sequence",
                                                    "packet_seq_err",
                                                    "local_ack_timeout_err",
                                                    "rnr_nak_retry_err",
                                                    "out_of_buffer",
                                                    "np_cnp_sent",
                                                    "np_ecn_marked_roce_packets",
                                                    "rp_cnp_handled",
                                                    "tx_bytes",
                                                    "rx_bytes",
                                                    "tx_pkts",
                                                    "rx_pkts",
                                                    "rx_drops",
                                                    "retrans_bytes"};

/* A port whose driver reports more by netlink than sysfs shows. */
typedef struct netprof__rdma_extra {
    size_t device;          /* in the source's own numbering */
    uint32_t adapter, port; /* the kernel's numbers */
    netprof__names names;   /* every name in the reply, in its order */
    uint32_t *index;        /* [names.count] of the counter; UINT32_MAX: sysfs has it, or a filter dropped it */
    size_t capacity;
    int wanted[2]; /* per netprof_set: any of them is in it */
} netprof__rdma_extra;

typedef struct netprof__rdma {
    netprof__files files;
    char class_path[512];
    uint64_t signature;
    netprof *np;
    netprof__nl nl;
    netprof__names adapters; /* only during discovery: names, and below the kernel's numbers */
    uint32_t *adapter_numbers;
    size_t adapter_capacity;
    netprof__rdma_extra *extras;
    size_t extra_count, extra_capacity;
#ifndef NETPROF_NO_THREADS
    pthread_mutex_t lock; /* one request at a time */
#endif
} netprof__rdma;

/* "100 Gb/sec (4X EDR)", "2.5 Gb/sec (1X SDR)", "0 GB/sec" in bits per second. Returns 0 or an errno. */
static int netprof__parse_rate(const char *text, size_t size, uint64_t *bits_per_s)
{
    const char *p = text, *end = text + size;
    uint64_t whole, unit = 1000000000u, part = 0;
    if (netprof__parse_digits(&p, end, &whole) || whole > UINT64_MAX / unit - 1) return size ? EBADMSG : ENODATA;
    if (p < end && *p == '.')
        for (p++; p < end && netprof__is_digit(*p); p++) {
            unit /= 10;
            part += (uint64_t)(*p - '0') * unit;
        }
    while (p < end && *p == ' ')
        p++;
    if (end - p < 6 || *p != 'G' || (p[1] != 'b' && p[1] != 'B') || memcmp(p + 2, "/sec", 4) != 0) return EBADMSG;
    *bits_per_s = whole * 1000000000u + part;
    return 0;
}

/* >>8.4.1 counters in sysfs */

/* Describes a counter of counters/ or counters_ext/; an unknown one has no unit and no width. */
static void netprof__rdma_describe(netprof_counter *c, const char *name, int wide)
{
    size_t i;
    for (i = 0; i < sizeof netprof__rdma_rows / sizeof *netprof__rdma_rows; i++) {
        const struct netprof__rdma_row *row = &netprof__rdma_rows[i];
        if (strcmp(name, row->name) != 0) continue;
        c->unit = row->unit;
        c->scale = row->scale;
        c->flags = row->flags;
        c->width = row->width;
        if (!c->width) {
            c->width = wide ? 64 : 32;
            c->flags = (uint16_t)(c->flags | (wide ? 0 : NETPROF_SATURATES));
        }
    }
}

/* Omni-Path (hfi1) marks 32-bit counters in their names: "RxTIDFullEr,32". */
static void netprof__rdma_describe_hw(netprof_counter *c, const char *name, int cached)
{
    const struct netprof__rdma_hw_row *row = netprof__rdma_hw_rows;
    const struct netprof__rdma_hw_row *end = row + sizeof netprof__rdma_hw_rows / sizeof *row;
    while (row < end && !netprof__matches_pattern(row->pattern, name))
        row++;
    if (row < end) {
        c->unit = row->unit;
        c->kind = row->kind;
    }
    c->width = netprof__matches_pattern("*,32", name) ? 32 : 0;
    c->flags = (uint16_t)(cached ? NETPROF_SLOW_REFRESH : 0);
    if (netprof__in_table(name, netprof__rdma_hw_fast, sizeof netprof__rdma_hw_fast / sizeof *netprof__rdma_hw_fast))
        c->flags = (uint16_t)(c->flags | NETPROF_FAST);
}

static void netprof__rdma_describe_state(netprof_counter *c, const char *name, int unused)
{
    (void)name;
    (void)unused;
    c->kind = NETPROF_KIND_STATE;
}

/* True if data and packets of counters/ have 64 bits: the agent has the extended set (and therefore unicast_*), or a
   value exceeds 32 bits. Otherwise they are taken for 32-bit counters that stick, which can only be wrong in a flag,
   and only at the one value 4294967295. counters_ext/ proves nothing: it keeps the wide counters in files of their
   own. */
static int netprof__rdma_is_wide(const netprof__names *names, const char *dir)
{
    char path[1024], text[64];
    size_t i;
    for (i = 0; i < names->count; i++)
        if (netprof__matches_pattern("unicast_*", names->names[i])) return 1;
    for (i = 0; i < 4; i++) { /* the first four rows */
        uint64_t value = 0;
        int64_t stamp;
        ssize_t n;
        netprof__join_path(path, sizeof path, dir, netprof__rdma_rows[i].name);
        n = netprof__read_text(AT_FDCWD, path, text, sizeof text);
        if (n > 0 && !netprof__parse_number(text, (size_t)n, &value, &stamp) && value > UINT32_MAX) return 1;
    }
    return 0;
}

/* One directory of counters of a port or adapter. */
typedef struct netprof__rdma_dir {
    const char *base, *name; /* "/sys/class/infiniband/mlx5_0/ports/1", "hw_counters" */
    const netprof__names *files;
    const netprof__names *taken[2]; /* names already used by other directories */
    netprof__parser parse;
    void (*describe)(netprof_counter *c, const char *name, int detail);
    int detail;
} netprof__rdma_dir;

/* True if another directory has used the name. */
static int netprof__rdma_taken(const netprof__rdma_dir *d, const char *name)
{
    size_t i;
    for (i = 0; i < 2; i++)
        if (d->taken[i] && netprof__in_table(name, (const char *const *)d->taken[i]->names, d->taken[i]->count))
            return 1;
    return 0;
}

/* Lists the names that are still free, or the taken ones as "hw_counters/NAME": a group has one way of naming. */
static netprof_err netprof__rdma_group(netprof__rdma *rdma, netprof_list *list, const netprof__rdma_dir *d, int taken)
{
    netprof__group *g = NULL;
    char path[1024], name[512];
    size_t i;
    netprof__join_path(path, sizeof path, d->base, d->name);
    for (i = 0; i < d->files->count; i++) {
        netprof_counter c;
        const char *file = d->files->names[i];
        if (strcmp(file, "lifespan") == 0 || netprof__rdma_taken(d, file) != taken) continue;
        if (!g && netprof__files_group(&rdma->files, path, d->parse, taken ? strlen(d->name) + 1 : 0, &g))
            return NETPROF_ERR_NOMEM;
        memset(&c, 0, sizeof c);
        snprintf(name, sizeof name, "%s%s%s", taken ? d->name : "", taken ? "/" : "", file);
        c.name = name;
        d->describe(&c, file, d->detail);
        netprof__group_counter(g, list, &c);
    }
    return g ? netprof__group_hold(&rdma->files, g, list) : NETPROF_OK;
}

static netprof_err netprof__rdma_groups(netprof__rdma *rdma, netprof_list *list, const netprof__rdma_dir *d)
{
    netprof_err failed = netprof__rdma_group(rdma, list, d, 0);
    return failed || !d->taken[0] ? failed : netprof__rdma_group(rdma, list, d, 1);
}

/* Lists the names in base/name. A directory that exists but cannot be listed is recorded as a fact and a state. Returns
   -ENOMEM or 0. */
static int netprof__rdma_names(netprof__rdma *rdma, netprof_list *list, const char *base, const char *name,
                               netprof__names *out)
{
    char path[1024], key[64];
    int failed;
    netprof__join_path(path, sizeof path, base, name);
    failed = netprof__list_dir(&rdma->files.alloc, AT_FDCWD, path, out);
    if (!failed || failed == -ENOMEM) return failed;
    if (failed != -ENOENT && failed != -ENOTDIR) {
        snprintf(key, sizeof key, "%s_error", name);
        netprof_list_fact(list, key, strerror(-failed));
        netprof_list_state(list, netprof_status_of_errno(-failed), -failed, path);
    }
    return 0;
}

/* For how long the driver returns the same cached values: a fact, not a counter. Returns 1 if it caches. */
static int netprof__rdma_lifespan(netprof_list *list, const char *base)
{
    char path[1024], text[32];
    netprof__join_path(path, sizeof path, base, "hw_counters/lifespan");
    if (netprof__read_line(AT_FDCWD, path, text, sizeof text) <= 0) return 0;
    netprof_list_fact(list, "lifespan_ms", text);
    return strcmp(text, "0") != 0;
}

static netprof_err netprof__rdma_hw(netprof__rdma *rdma, netprof_list *list, const char *base,
                                    const netprof__names *files, const netprof__names *taken,
                                    const netprof__names *taken_too)
{
    netprof__rdma_dir d;
    memset(&d, 0, sizeof d);
    d.base = base;
    d.name = "hw_counters";
    d.files = files;
    d.taken[0] = taken;
    d.taken[1] = taken_too;
    d.parse = netprof__parse_number;
    d.describe = netprof__rdma_describe_hw;
    d.detail = netprof__rdma_lifespan(list, base);
    return netprof__rdma_groups(rdma, list, &d);
}

static netprof_err netprof__rdma_counters(netprof__rdma *rdma, netprof_list *list, const char *base,
                                          const netprof__names *files, const netprof__names *ext)
{
    netprof__rdma_dir d;
    char path[1024];
    netprof_err failed;
    memset(&d, 0, sizeof d);
    d.base = base;
    d.name = "counters";
    d.files = files;
    d.parse = netprof__parse_number;
    d.describe = netprof__rdma_describe;
    netprof__join_path(path, sizeof path, base, "counters");
    d.detail = files->count && netprof__rdma_is_wide(files, path);
    failed = netprof__rdma_groups(rdma, list, &d);
    d.name = "counters_ext";
    d.files = ext;
    d.taken[0] = files;
    d.detail = 1;
    return failed ? failed : netprof__rdma_groups(rdma, list, &d);
}

/* Lists the port's own files state and phys_state. */
static netprof_err netprof__rdma_states(netprof__rdma *rdma, netprof_list *list, const char *base,
                                        const netprof__names *files)
{
    netprof__names states;
    netprof__rdma_dir d;
    char *names[2];
    size_t i;
    memset(&states, 0, sizeof states);
    memset(&d, 0, sizeof d);
    states.names = names;
    for (i = 0; i < files->count && states.count < 2; i++)
        if (strcmp(files->names[i], "state") == 0 || strcmp(files->names[i], "phys_state") == 0)
            names[states.count++] = files->names[i];
    d.base = base;
    d.name = ".";
    d.files = &states;
    d.parse = netprof__parse_state;
    d.describe = netprof__rdma_describe_state;
    return netprof__rdma_groups(rdma, list, &d);
}

/* >>8.4.2 facts of an adapter and its ports */

/* Finds the interface on the same wire: the one that the port names, else the adapter's one with this port's number. */
static void netprof__rdma_netdev(netprof__rdma *rdma, netprof_list *list, const char *device, const char *port_path,
                                 const char *port)
{
    netprof__names names;
    char path[1024], file[1024], text[64];
    const char *found = NULL;
    size_t i;
    int failed;
    netprof__join_path(path, sizeof path, port_path, "gid_attrs/ndevs/0");
    if (netprof__read_line(AT_FDCWD, path, text, sizeof text) > 0) {
        netprof_list_fact(list, "netdev", text);
        return;
    }
    netprof__join_path(path, sizeof path, device, "device/net");
    failed = netprof__list_dir(&rdma->files.alloc, AT_FDCWD, path, &names);
    if (failed == -ENOMEM) list->failed = NETPROF_ERR_NOMEM;
    if (!failed) {
        for (i = 0; i < names.count && !found; i++) {
            netprof__join_path(file, sizeof file, path, names.names[i]);
            netprof__join_path(file, sizeof file, file, "dev_port");
            if (netprof__read_line(AT_FDCWD, file, text, sizeof text) > 0 ? atoi(text) + 1 == atoi(port)
                                                                          : names.count == 1)
                found = names.names[i];
        }
        if (found) netprof_list_fact(list, "netdev", found);
    }
    netprof__names_free(&names);
}

static void netprof__rdma_device_facts(netprof_list *list, const char *device)
{
    static const char *const rows[][2] = {{"fw_ver", "/fw_ver"},       {"hca_type", "/hca_type"},
                                          {"board_id", "/board_id"},   {"node_guid", "/node_guid"},
                                          {"node_type", "/node_type"}, {"hw_rev", "/hw_rev"}};
    char path[1024];
    size_t i;
    for (i = 0; i < sizeof rows / sizeof *rows; i++)
        netprof__fact_from_file(list, rows[i][0], device, rows[i][1]);
    netprof__fact_from_link(list, "driver", device, "/device/driver");
    netprof__join_path(path, sizeof path, device, "device");
    netprof__pci_facts(list, path);
}

static void netprof__rdma_port_facts(netprof_list *list, const char *port_path)
{
    static const char *const rows[][2] = {
        {"link_layer", "/link_layer"}, {"rate", "/rate"}, {"lid", "/lid"}, {"sm_lid", "/sm_lid"}};
    char path[1024], text[128];
    uint64_t rate;
    ssize_t n;
    size_t i;
    for (i = 0; i < sizeof rows / sizeof *rows; i++)
        netprof__fact_from_file(list, rows[i][0], port_path, rows[i][1]);
    netprof__join_path(path, sizeof path, port_path, "rate");
    n = netprof__read_line(AT_FDCWD, path, text, sizeof text);
    if (n > 0 && !netprof__parse_rate(text, (size_t)n, &rate) && rate) { /* 0: a port that is down has no rate */
        snprintf(text, sizeof text, "%" PRIu64, rate);
        netprof_list_fact(list, "rate_bps", text);
    }
}

/* VIRTUAL if the traffic is counted elsewhere: an SR-IOV function's by its port, that of rxe and siw ("parent") by a
   netdev. */
static unsigned netprof__rdma_flags(const char *device)
{
    static const char *const signs[] = {"device/physfn", "parent"};
    char path[1024];
    size_t i;
    for (i = 0; i < 2; i++) {
        netprof__join_path(path, sizeof path, device, signs[i]);
        if (access(path, F_OK) == 0) return NETPROF_DEVICE_VIRTUAL;
    }
    return NETPROF_DEVICE_PHYSICAL;
}

static uint64_t netprof__inode_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? (uint64_t)st.st_ino : 0;
}

static void netprof__rdma_forget(netprof__rdma *rdma)
{
    const netprof_alloc *a = &rdma->files.alloc;
    size_t i;
    for (i = 0; i < rdma->extra_count; i++) {
        netprof__names_free(&rdma->extras[i].names);
        netprof__release(a, rdma->extras[i].index);
    }
    netprof__release(a, rdma->extras);
    netprof__release(a, rdma->adapter_numbers);
    netprof__names_free(&rdma->adapters);
    rdma->extras = NULL;
    rdma->adapter_numbers = NULL;
    rdma->extra_count = rdma->extra_capacity = rdma->adapter_capacity = 0;
}

/* >>8.4.3 counters by netlink */

#ifndef NETPROF_NO_NETLINK

#define NETPROF__RDMA_GET      (5u << 10 | 1)  /* RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET */
#define NETPROF__RDMA_STAT_GET (5u << 10 | 17) /* RDMA_NLDEV_CMD_STAT_GET */

typedef int (*netprof__rdma_stat_visit)(void *user, const char *name, uint64_t value);

/* RDMA_NLDEV_ATTR_STAT_HWCOUNTERS (80) of a reply: entries (81), each with a name (82) and a value (83). Returns 0 or
   visit()'s result. */
static int netprof__parse_rdma_stat(const unsigned char *body, size_t size, netprof__rdma_stat_visit visit, void *user)
{
    netprof__attr list, entry, a;
    size_t at = 0, in_list, in_entry;
    int failed = 0;
    while (!failed && netprof__next_attr(body, size, &at, &list)) {
        if (list.type != 80) continue;
        for (in_list = 0; !failed && netprof__next_attr(list.data, list.size, &in_list, &entry);) {
            char name[128] = "";
            uint64_t value = 0;
            int known = 0;
            if (entry.type != 81) continue;
            for (in_entry = 0; netprof__next_attr(entry.data, entry.size, &in_entry, &a);)
                if (a.type == 82)
                    netprof__attr_text(&a, name, sizeof name);
                else if (a.type == 83 && a.size >= 8)
                    value = netprof__u64_at(a.data), known = 1;
            if (*name && known) failed = visit(user, name, value);
        }
    }
    return failed;
}

/* RDMA_NLDEV_CMD_GET: the number (attribute 1) and the name (2) of an adapter. */
static int netprof__rdma_adapter_message(void *user, unsigned type, const unsigned char *body, size_t size)
{
    netprof__rdma *rdma = (netprof__rdma *)user;
    netprof__attr a;
    size_t at = 0;
    uint32_t number = 0;
    char name[64] = "";
    int known = 0;
    if (type != NETPROF__RDMA_GET) return 0;
    while (netprof__next_attr(body, size, &at, &a))
        if (a.type == 1 && a.size >= 4)
            number = netprof__attr_u32(&a), known = 1;
        else if (a.type == 2)
            netprof__attr_text(&a, name, sizeof name);
    if (!known || !*name) return 0;
    if (!netprof__grow(&rdma->files.alloc, &rdma->adapter_numbers, &rdma->adapter_capacity, rdma->adapters.count + 1,
                       sizeof *rdma->adapter_numbers) ||
        netprof__names_add(&rdma->adapters, name, 0))
        return ENOMEM;
    rdma->adapter_numbers[rdma->adapters.count - 1] = number;
    return 0;
}

/* Lists the kernel's names and numbers of the adapters; none if it does not report them. NETPROF_OK or
   NETPROF_ERR_NOMEM. */
static netprof_err netprof__rdma_adapters(netprof__rdma *rdma)
{
    unsigned char request[16];
    int result = 0, tries;
    if (*rdma->np->root || rdma->np->pid > 0) return NETPROF_OK;
    if (!rdma->nl.buffer)
        rdma->nl.buffer = (unsigned char *)netprof__resize(&rdma->files.alloc, NULL, NETPROF__NL_BUFFER);
    if (!rdma->nl.buffer) return NETPROF_ERR_NOMEM;
    for (tries = 0; tries < NETPROF__NL_TRIES; tries++) {
        netprof__names_free(&rdma->adapters);
        netprof__nl_request(request, sizeof request, NETPROF__RDMA_GET);
        result = netprof__nl_ask(&rdma->nl, request, sizeof request, netprof__rdma_adapter_message, rdma);
        if (!netprof__nl_again(result)) break;
    }
    return result == -ENOMEM ? NETPROF_ERR_NOMEM : NETPROF_OK;
}

typedef struct netprof__rdma_reply {
    netprof__rdma_stat_visit visit;
    void *user;
} netprof__rdma_reply;

static int netprof__rdma_stat_message(void *user, unsigned type, const unsigned char *body, size_t size)
{
    const netprof__rdma_reply *reply = (const netprof__rdma_reply *)user;
    return type == NETPROF__RDMA_STAT_GET ? netprof__parse_rdma_stat(body, size, reply->visit, reply->user) : 0;
}

static void netprof__rdma_lock(netprof__rdma *rdma, int lock)
{
#ifndef NETPROF_NO_THREADS
    if (lock)
        pthread_mutex_lock(&rdma->lock);
    else
        pthread_mutex_unlock(&rdma->lock);
#else
    (void)rdma;
    (void)lock;
#endif
}

/* Requests all counters of one port (attributes 1: the adapter's number, 3: the port's). Returns 0 or an errno. */
static int netprof__rdma_ask(netprof__rdma *rdma, const netprof__rdma_extra *x, netprof__rdma_stat_visit visit,
                             void *user)
{
    unsigned char request[32];
    const uint16_t flags = 1; /* NLM_F_REQUEST */
    netprof__rdma_reply reply;
    size_t at = 16;
    int result;
    reply.visit = visit;
    reply.user = user;
    netprof__nl_request(request, sizeof request, NETPROF__RDMA_STAT_GET);
    memcpy(request + 6, &flags, 2);
    netprof__put_attr(request, &at, 1, &x->adapter, 4);
    netprof__put_attr(request, &at, 3, &x->port, 4);
    netprof__rdma_lock(rdma, 1);
    result = netprof__nl_ask(&rdma->nl, request, at, netprof__rdma_stat_message, &reply);
    netprof__rdma_lock(rdma, 0);
    return result < 0 ? -result : 0;
}

/* For listing the counters that sysfs lacks. */
typedef struct netprof__rdma_finding {
    const netprof_alloc *alloc;
    netprof_list *list;
    netprof__rdma_extra *extra;
    const netprof__names *files; /* of the port itself, counters, counters_ext, hw_counters */
} netprof__rdma_finding;

static int netprof__names_have(const netprof__names *names, const char *name)
{
    return netprof__in_table(name, (const char *const *)names->names, names->count);
}

/* Notes a name in the reply, and lists it unless sysfs has it in hw_counters/. */
static int netprof__rdma_found(void *user, const char *name, uint64_t value)
{
    netprof__rdma_finding *f = (netprof__rdma_finding *)user;
    netprof__rdma_extra *x = f->extra;
    char listed[160];
    netprof_counter c;
    size_t index = NETPROF_NONE;
    (void)value;
    if (!netprof__grow(f->alloc, &x->index, &x->capacity, x->names.count + 1, sizeof *x->index) ||
        netprof__names_add(&x->names, name, 0))
        return ENOMEM;
    if (!netprof__names_have(&f->files[3], name)) {
        int taken = netprof__names_have(&f->files[1], name) || netprof__names_have(&f->files[2], name);
        snprintf(listed, sizeof listed, "%s%s", taken ? "hw_counters/" : "", name);
        memset(&c, 0, sizeof c);
        netprof__rdma_describe_hw(&c, name, 0);
        c.name = listed;
        index = netprof_list_counter(f->list, &c);
        if (index != NETPROF_NONE) {
            x->wanted[NETPROF_SET_ALL] = 1;
            x->wanted[NETPROF_SET_FAST] |=
                (f->list->schema->counters[f->list->source_first_counter + index].flags & NETPROF_FAST) != 0;
        }
    }
    x->index[x->names.count - 1] = index == NETPROF_NONE ? UINT32_MAX : (uint32_t)index;
    return 0;
}

/* Lists them after the port's other counters; none if there is no answer. */
static netprof_err netprof__rdma_extras(netprof__rdma *rdma, netprof_list *list, const char *adapter, const char *port,
                                        const netprof__names *files)
{
    netprof__rdma_finding finding;
    netprof__rdma_extra *x;
    size_t i = 0;
    int failed;
    while (i < rdma->adapters.count && strcmp(rdma->adapters.names[i], adapter) != 0)
        i++;
    if (i == rdma->adapters.count) return NETPROF_OK;
    if (!netprof__grow(&rdma->files.alloc, &rdma->extras, &rdma->extra_capacity, rdma->extra_count + 1,
                       sizeof *rdma->extras))
        return NETPROF_ERR_NOMEM;
    x = &rdma->extras[rdma->extra_count++];
    memset(x, 0, sizeof *x);
    x->names.alloc = &rdma->files.alloc;
    x->device = rdma->files.start_count - 1;
    x->adapter = rdma->adapter_numbers[i];
    x->port = (uint32_t)strtoul(port, NULL, 10);
    finding.alloc = &rdma->files.alloc;
    finding.list = list;
    finding.extra = x;
    finding.files = files;
    failed = netprof__rdma_ask(rdma, x, netprof__rdma_found, &finding);
    return failed == ENOMEM ? NETPROF_ERR_NOMEM : NETPROF_OK;
}

typedef struct netprof__rdma_reading {
    const netprof__rdma_extra *extra;
    netprof_sweep *sweep;
    size_t hint;
} netprof__rdma_reading;

static int netprof__rdma_wants(const netprof_sweep *sweep, uint32_t index)
{
    return index != UINT32_MAX && (sweep->set == NETPROF_SET_ALL || (sweep->counters[index].flags & NETPROF_FAST));
}

/* Replies keep their order: the search starts after the last hit. */
static int netprof__rdma_store(void *user, const char *name, uint64_t value)
{
    netprof__rdma_reading *r = (netprof__rdma_reading *)user;
    size_t i, count = r->extra->names.count;
    for (i = 0; i < count; i++) {
        size_t k = (r->hint + i) % count;
        if (strcmp(r->extra->names.names[k], name) != 0) continue;
        r->hint = k + 1;
        if (netprof__rdma_wants(r->sweep, r->extra->index[k])) netprof__set_value(r->sweep, r->extra->index[k], value);
        return 0;
    }
    r->sweep->stale = 1; /* one that was switched on since discovery */
    return 0;
}

/* Marks every wanted counter as absent before the answer; if there is no answer, sets its errno. */
static void netprof__rdma_read_extra(netprof__rdma *rdma, const netprof__rdma_extra *x, netprof_sweep *sweep)
{
    netprof__rdma_reading reading;
    size_t i;
    int failed;
    if (!x->wanted[sweep->set]) return;
    for (i = 0; i < x->names.count; i++)
        if (netprof__rdma_wants(sweep, x->index[i])) sweep->status[x->index[i]] = NETPROF_STATUS_ABSENT;
    reading.extra = x;
    reading.sweep = sweep;
    reading.hint = 0;
    failed = netprof__rdma_ask(rdma, x, netprof__rdma_store, &reading);
    for (i = 0; failed && i < x->names.count; i++)
        if (netprof__rdma_wants(sweep, x->index[i])) netprof__set_failed(sweep, x->index[i], failed);
    sweep->stale |= netprof_status_of_errno(failed) == NETPROF_STATUS_VANISHED;
}

#endif /* NETPROF_NO_NETLINK */

/* >>8.4.4 discovery, and the source */

/* Lists one port: facts, counters of all directories, states, and what only netlink reports. (On a part of the stack of its
   own: with all that it calls inlined into its caller, that would need more than 8 kB.) */
static __attribute__((noinline)) netprof_err netprof__rdma_port(netprof__rdma *rdma, netprof_list *list,
                                                                const char *device, const char *device_name,
                                                                const char *port)
{
    static const char *const dirs[] = {"", "counters", "counters_ext", "hw_counters"};
    netprof__names names[4];
    netprof_err failed;
    char ports[800], path[896], name[320];
    size_t i;
    int no_memory = 0;
    netprof__join_path(ports, sizeof ports, device, "ports");
    netprof__join_path(path, sizeof path, ports, port);
    netprof__join_path(name, sizeof name, device_name, port);
    netprof_list_device(list, name, netprof__inode_of(path), netprof__rdma_flags(device));
    netprof__rdma_port_facts(list, path);
    netprof__rdma_netdev(rdma, list, device, path, port);
    netprof__rdma_device_facts(list, device);
    failed = netprof__files_device(&rdma->files);
    for (i = 0; i < 4; i++)
        no_memory |= netprof__rdma_names(rdma, list, path, dirs[i], &names[i]) != 0;
    if (no_memory) failed = NETPROF_ERR_NOMEM;
    if (!failed) failed = netprof__rdma_counters(rdma, list, path, &names[1], &names[2]);
    if (!failed) failed = netprof__rdma_hw(rdma, list, path, &names[3], &names[1], &names[2]);
    if (!failed) failed = netprof__rdma_states(rdma, list, path, &names[0]);
#ifndef NETPROF_NO_NETLINK
    if (!failed) failed = netprof__rdma_extras(rdma, list, device_name, port, names);
#endif
    for (i = 0; i < 4; i++)
        netprof__names_free(&names[i]);
    return failed;
}

/* Counters of the adapter itself: hfi1, EFA, mlx4. It is not a port, so no total includes it. */
static netprof_err netprof__rdma_adapter(netprof__rdma *rdma, netprof_list *list, const char *device,
                                         const char *device_name)
{
    netprof__names names;
    netprof_err failed = NETPROF_OK;
    char path[1024];
    int result;
    netprof__join_path(path, sizeof path, device, "hw_counters");
    result = netprof__list_dir(&rdma->files.alloc, AT_FDCWD, path, &names);
    if (result == -ENOMEM) failed = NETPROF_ERR_NOMEM;
    if (!result && names.count) {
        netprof_list_device(list, device_name, netprof__inode_of(device), 0);
        netprof__rdma_device_facts(list, device);
        failed = netprof__files_device(&rdma->files);
        if (!failed) failed = netprof__rdma_hw(rdma, list, device, &names, NULL, NULL);
    }
    netprof__names_free(&names);
    return failed;
}

static netprof_err netprof__rdma_device(netprof__rdma *rdma, netprof_list *list, const char *name)
{
    netprof__names ports;
    netprof_err failed;
    char device[768], path[1024];
    size_t i;
    int result;
    netprof__join_path(device, sizeof device, rdma->class_path, name);
    failed = netprof__rdma_adapter(rdma, list, device, name);
    if (failed) return failed;
    netprof__join_path(path, sizeof path, device, "ports");
    result = netprof__list_dir(&rdma->files.alloc, AT_FDCWD, path, &ports);
    for (i = 0; !failed && !result && i < ports.count; i++)
        failed = netprof__rdma_port(rdma, list, device, name, ports.names[i]);
    netprof__names_free(&ports);
    return result == -ENOMEM ? NETPROF_ERR_NOMEM : failed;
}

static netprof_err netprof__rdma_discover(void *user, netprof_list *list)
{
    netprof__rdma *rdma = (netprof__rdma *)user;
    netprof_err failed = NETPROF_OK;
    netprof__names names;
    size_t i;
    int result;
    netprof__files_clear(&rdma->files);
    netprof__rdma_forget(rdma);
    snprintf(rdma->class_path, sizeof rdma->class_path, "%s/sys/class/infiniband", list->root);
    rdma->signature = netprof__dir_signature(rdma->class_path);
    result = netprof__list_dir(&rdma->files.alloc, AT_FDCWD, rdma->class_path, &names);
    if (result) netprof__class_state(list, result, rdma->class_path);
#ifndef NETPROF_NO_NETLINK
    /* Only if there are adapters: opening the socket could load the kernel module, and must not. */
    if (!result && names.count) failed = netprof__rdma_adapters(rdma);
#endif
    for (i = 0; !failed && result != -ENOMEM && i < names.count; i++)
        failed = netprof__rdma_device(rdma, list, names.names[i]);
    netprof__names_free(&names);
    return result == -ENOMEM ? NETPROF_ERR_NOMEM : failed;
}

static void netprof__rdma_read(void *user, size_t device, netprof_sweep *sweep)
{
    netprof__rdma *rdma = (netprof__rdma *)user;
    netprof__files_read(&rdma->files, device, sweep);
#ifndef NETPROF_NO_NETLINK
    {
        size_t i;
        for (i = 0; i < rdma->extra_count; i++)
            if (rdma->extras[i].device == device) netprof__rdma_read_extra(rdma, &rdma->extras[i], sweep);
    }
#endif
}

static int netprof__rdma_changed(void *user)
{
    netprof__rdma *rdma = (netprof__rdma *)user;
    return netprof__dir_signature(rdma->class_path) != rdma->signature;
}

static void netprof__rdma_close(void *user)
{
    netprof__rdma *rdma = (netprof__rdma *)user;
    netprof_alloc a = rdma->files.alloc;
    netprof__files_clear(&rdma->files);
    netprof__rdma_forget(rdma);
#ifndef NETPROF_NO_NETLINK
    netprof__nl_close(&rdma->nl);
#endif
#ifndef NETPROF_NO_THREADS
    pthread_mutex_destroy(&rdma->lock);
#endif
    netprof__release(&a, rdma->nl.buffer);
    netprof__release(&a, rdma);
}

static netprof_err netprof__make_rdma(netprof *np, netprof_source *source, void **user)
{
    netprof__rdma *rdma = (netprof__rdma *)netprof__zalloc(&np->alloc, sizeof *rdma);
    if (!rdma) return NETPROF_ERR_NOMEM;
    rdma->np = np;
    rdma->files.alloc = np->alloc;
    rdma->files.hold = np->hold;
    rdma->files.fd_budget = &np->fd_budget;
    rdma->adapters.alloc = &rdma->files.alloc;
    rdma->nl.fd = -1;
    rdma->nl.protocol = 20; /* NETLINK_RDMA */
#ifndef NETPROF_NO_THREADS
    pthread_mutex_init(&rdma->lock, NULL);
#endif
    source->discover = netprof__rdma_discover;
    source->read = netprof__rdma_read;
    source->changed = netprof__rdma_changed;
    source->close = netprof__rdma_close;
    *user = rdma;
    return NETPROF_OK;
}

/* >>8.5 source ip: the kernel's protocol counters, /proc/net

   snmp and netstat have pairs of lines, names and values: one device per protocol as the kernel prints it
   ("Tcp/RetransSegs", "TcpExt/ListenDrops"). snmp6 is one device whose counters keep their full names
   ("snmp6/Ip6InReceives"); sockstat and sockstat6 are one each ("sockstat/TCP_inuse"). softnet_stat counts in 32 bits
   per CPU ("softnet/dropped/cpu3"): a sum would wrap unnoticed, so adding up is left to whoever reads the values. The
   same holds for the tables under stat, of which only the columns that show a full table are read
   ("conntrack/drop/cpu0", "arp_cache/table_fulls/cpu0"). Limits come from sys/net: "conntrack/max",
   "sockstat/TCP_orphan_limit". Values are found by name; a missing column is absent. All of them belong to one network
   namespace and to no port: no total includes them. */

/* >>8.5.1 the formats of the files */

/* One value of such a text. */
typedef struct netprof__cell {
    const char *group, *name; /* "Tcp", "InSegs": not terminated */
    size_t group_size, name_size;
    uint64_t key; /* hash of group and name, or a number that identifies them (and the CPU) */
    uint64_t value;
    unsigned cpu;
    int negative;
    int failed; /* 0; ENODATA: a name without a value; EBADMSG: not a number */
} netprof__cell;

/* A walk over a text. To begin, set p and end, and all else to 0. */
typedef struct netprof__cells {
    const char *p, *end;
    const char *names, *names_end, *values, *values_end; /* the rest of the current lines */
    const char *group;
    size_t group_size;
    uint64_t group_key;
    unsigned line, column, cpu;
} netprof__cells;

typedef int (*netprof__next_cell)(netprof__cells *cells, netprof__cell *cell); /* returns 0 at the end */

/* The next word, delimited by white space; 0 at the end. */
static int netprof__next_word(const char **p, const char *end, const char **word, size_t *size)
{
    const char *q = *p;
    while (q < end && (unsigned char)*q <= ' ')
        q++;
    *word = q;
    while (q < end && (unsigned char)*q > ' ')
        q++;
    *size = (size_t)(q - *word);
    *p = q;
    return *size != 0;
}

/* The next line; 0 at the end. */
static int netprof__next_line(netprof__cells *cells, const char **begin, const char **end)
{
    const char *newline;
    if (cells->p == cells->end) return 0;
    newline = (const char *)memchr(cells->p, '\n', (size_t)(cells->end - cells->p));
    *begin = cells->p;
    *end = newline ? newline : cells->end;
    cells->p = newline ? newline + 1 : cells->end;
    return 1;
}

/* "Tcp: ..."; returns 0 if the line does not begin like that. */
static int netprof__group_word(const char **p, const char *end, const char **group, size_t *size)
{
    if (!netprof__next_word(p, end, group, size) || (*group)[*size - 1] != ':') return 0;
    --*size;
    return 1;
}

/* Hashes eight bytes at a time: half of the text of netstat is names, and each sweep compares all of them. */
static uint64_t netprof__mix_text(uint64_t h, const char *text, size_t size)
{
    uint64_t word;
    for (; size >= 8; text += 8, size -= 8) {
        memcpy(&word, text, 8);
        h = (h ^ word) * NETPROF__FNV_PRIME;
        h ^= h >> 29;
    }
    for (word = size; size; size--)
        word = word << 8 | (unsigned char)*text++;
    h = (h ^ word) * 11400714819323198485u; /* 2^64 divided by the golden ratio */
    return h ^ h >> 32;
}

/* Reads the cell's value at *p. */
static void netprof__cell_number(netprof__cell *cell, const char **p, const char *end)
{
    const char *word;
    size_t size;
    cell->value = 0;
    cell->negative = 0;
    cell->failed = ENODATA;
    if (!netprof__next_word(p, end, &word, &size)) return;
    end = word + size;
    cell->negative = *word == '-';
    word += cell->negative;
    cell->failed = netprof__parse_digits(&word, end, &cell->value) || word != end ? EBADMSG : 0;
    if (cell->negative) cell->value = ~cell->value + 1;
}

/* snmp, netstat: "Tcp: InSegs OutSegs" and "Tcp: 12 34". A header without its values is skipped. */
static int netprof__take_pair(netprof__cells *c)
{
    const char *begin, *end, *group;
    size_t size;
    int have = 0;
    while (netprof__next_line(c, &begin, &end)) {
        if (!netprof__group_word(&begin, end, &group, &size)) {
            have = 0;
            continue;
        }
        if (have && size == c->group_size && memcmp(group, c->group, size) == 0) {
            c->values = begin;
            c->values_end = end;
            c->group_key = netprof__mix_text(0, group, size);
            return 1;
        }
        have = 1;
        c->group = group;
        c->group_size = size;
        c->names = begin;
        c->names_end = end;
    }
    c->names = c->names_end = c->p;
    return 0;
}

static int netprof__next_pair(netprof__cells *c, netprof__cell *cell)
{
    while (!netprof__next_word(&c->names, c->names_end, &cell->name, &cell->name_size))
        if (!netprof__take_pair(c)) return 0;
    cell->group = c->group;
    cell->group_size = c->group_size;
    cell->cpu = 0;
    cell->key = netprof__mix_text(c->group_key, cell->name, cell->name_size);
    netprof__cell_number(cell, &c->values, c->values_end);
    return 1;
}

/* sockstat: "TCP: inuse 35 orphan 0". */
static int netprof__next_keyed(netprof__cells *c, netprof__cell *cell)
{
    while (!netprof__next_word(&c->names, c->names_end, &cell->name, &cell->name_size)) {
        if (!netprof__next_line(c, &c->names, &c->names_end)) return 0;
        if (!netprof__group_word(&c->names, c->names_end, &c->group, &c->group_size))
            c->names = c->names_end;
        else
            c->group_key = netprof__mix_text(0, c->group, c->group_size);
    }
    cell->group = c->group;
    cell->group_size = c->group_size;
    cell->cpu = 0;
    cell->key = netprof__mix_text(c->group_key, cell->name, cell->name_size);
    netprof__cell_number(cell, &c->names, c->names_end);
    return 1;
}

/* snmp6: "Ip6InReceives   92166". */
static int netprof__next_named(netprof__cells *c, netprof__cell *cell)
{
    const char *begin, *end;
    do {
        if (!netprof__next_line(c, &begin, &end)) return 0;
    } while (!netprof__next_word(&begin, end, &cell->name, &cell->name_size));
    cell->group = cell->name;
    cell->group_size = 0;
    cell->cpu = 0;
    cell->key = netprof__mix_text(0, cell->name, cell->name_size);
    netprof__cell_number(cell, &begin, end);
    return 1;
}

/* softnet_seq_show() in net/core/net-procfs.c: 9, 10, 11, 13 or 15 columns, depending on the kernel's age. */
static const char *const netprof__softnet_columns[] = {
    "processed",     "dropped",      "time_squeeze", NULL,          NULL, NULL,         NULL,          NULL,
    "cpu_collision", "received_rps", "flow_limit",   "backlog_len", NULL, "input_qlen", "process_qlen"};
#define NETPROF__SOFTNET_CPU 12 /* the CPU's number: offline CPUs have no line */

static int netprof__parse_hex(const char *p, size_t size, uint64_t *value)
{
    size_t i;
    *value = 0;
    for (i = 0; i < size; i++) {
        unsigned char c = (unsigned char)p[i], letter = (unsigned char)(c | 0x20);
        if (c >= '0' && c <= '9')
            *value = *value << 4 | (uint64_t)(c - '0');
        else if (letter >= 'a' && letter <= 'f')
            *value = *value << 4 | (uint64_t)(letter - 'a' + 10);
        else
            return EBADMSG;
    }
    return size && size <= 16 ? 0 : EBADMSG;
}

static int netprof__softnet_line(netprof__cells *c)
{
    const char *p, *word;
    size_t size;
    uint64_t cpu = 0;
    unsigned column;
    if (!netprof__next_line(c, &c->values, &c->values_end)) return 0;
    p = c->values;
    c->cpu = c->line++;
    c->column = 0;
    for (column = 0; netprof__next_word(&p, c->values_end, &word, &size); column++)
        if (column == NETPROF__SOFTNET_CPU && !netprof__parse_hex(word, size, &cpu)) c->cpu = (unsigned)cpu;
    return 1;
}

static int netprof__next_softnet(netprof__cells *c, netprof__cell *cell)
{
    const size_t count = sizeof netprof__softnet_columns / sizeof *netprof__softnet_columns;
    const char *word;
    size_t size;
    for (;;) {
        if (!netprof__next_word(&c->values, c->values_end, &word, &size)) {
            if (!netprof__softnet_line(c)) return 0;
            continue;
        }
        if (c->column++ < count && netprof__softnet_columns[c->column - 1]) break;
    }
    cell->name = netprof__softnet_columns[c->column - 1];
    cell->name_size = strlen(cell->name);
    cell->group = cell->name;
    cell->group_size = 0;
    cell->cpu = c->cpu;
    cell->key = (uint64_t)c->cpu << 8 | c->column;
    cell->negative = 0;
    cell->failed = netprof__parse_hex(word, size, &cell->value);
    return 1;
}

/* ct_cpu_seq_show() in net/netfilter/nf_conntrack_standalone.c, neigh_stat_seq_show() in net/core/neighbour.c: a line
   of names, then one line of hexadecimal numbers per possible CPU. The first column is the same in all lines. */
static const char *const netprof__table_columns[] = {"drop",           "early_drop",  "insert_failed",
                                                     "forced_gc_runs", "table_fulls", "unresolved_discards"};

static int netprof__is_table_column(const netprof__cell *cell)
{
    size_t i;
    for (i = 0; i < sizeof netprof__table_columns / sizeof *netprof__table_columns; i++)
        if (strlen(netprof__table_columns[i]) == cell->name_size &&
            memcmp(netprof__table_columns[i], cell->name, cell->name_size) == 0)
            return 1;
    return 0;
}

static int netprof__next_table(netprof__cells *c, netprof__cell *cell)
{
    const char *word;
    size_t size;
    if (!c->line && netprof__next_line(c, &c->group, &c->names_end)) c->group_size = (size_t)(c->names_end - c->group);
    for (;;) {
        if (!netprof__next_word(&c->values, c->values_end, &word, &size)) {
            if (!netprof__next_line(c, &c->values, &c->values_end)) return 0;
            c->names = c->group;
            c->cpu = c->line++;
            c->column = 0;
            continue;
        }
        if (!netprof__next_word(&c->names, c->names_end, &cell->name, &cell->name_size)) continue;
        if (c->column++ ? netprof__is_table_column(cell) : c->line == 1) break;
    }
    cell->group = c->group;
    cell->group_size = 0;
    cell->cpu = c->column == 1 ? UINT_MAX : c->cpu; /* not per CPU */
    cell->key = netprof__mix_text(c->cpu, cell->name, cell->name_size);
    cell->negative = 0;
    cell->failed = netprof__parse_hex(word, size, &cell->value);
    return 1;
}

/* A limit: the numbers of one line; names[i] is NULL for a number to skip. */
static int netprof__next_limit(netprof__cells *c, netprof__cell *cell, const char *const *names, size_t count)
{
    const char *at;
    size_t size;
    if (!c->line && !netprof__next_line(c, &c->values, &c->values_end)) return 0;
    c->line = 1;
    while (c->column < count && !names[c->column]) {
        netprof__next_word(&c->values, c->values_end, &at, &size);
        c->column++;
    }
    at = c->values;
    if (c->column == count || !netprof__next_word(&at, c->values_end, &at, &size)) return 0;
    cell->group = cell->name = names[c->column++];
    cell->group_size = 0;
    cell->name_size = strlen(cell->name);
    cell->cpu = UINT_MAX;
    cell->key = c->column;
    netprof__cell_number(cell, &c->values, c->values_end);
    return 1;
}

static int netprof__next_conntrack_max(netprof__cells *c, netprof__cell *cell)
{
    static const char *const names[] = {"max"};
    return netprof__next_limit(c, cell, names, 1);
}

static int netprof__next_orphans(netprof__cells *c, netprof__cell *cell)
{
    static const char *const names[] = {"TCP_orphan_limit"};
    return netprof__next_limit(c, cell, names, 1);
}

static int netprof__next_tcp_mem(netprof__cells *c, netprof__cell *cell)
{
    static const char *const names[] = {NULL, "TCP_mem_pressure", "TCP_mem_limit"};
    return netprof__next_limit(c, cell, names, 3);
}

/* >>8.5.2 the files, and what their counters are */

/* The files. Neighbouring rows with the same device share it. A setting is in sys/net. */
static const struct netprof__ip_format {
    const char *file, *device; /* device NULL: each group is a device */
    netprof__next_cell next;
    int setting;
} netprof__ip_formats[] = {{"snmp", NULL, netprof__next_pair, 0},
                           {"netstat", NULL, netprof__next_pair, 0},
                           {"snmp6", "snmp6", netprof__next_named, 0},
                           {"softnet_stat", "softnet", netprof__next_softnet, 0},
                           {"sockstat", "sockstat", netprof__next_keyed, 0},
                           {"ipv4/tcp_max_orphans", "sockstat", netprof__next_orphans, 1},
                           {"ipv4/tcp_mem", "sockstat", netprof__next_tcp_mem, 1},
                           {"sockstat6", "sockstat6", netprof__next_keyed, 0},
                           {"stat/nf_conntrack", "conntrack", netprof__next_table, 0},
                           {"netfilter/nf_conntrack_max", "conntrack", netprof__next_conntrack_max, 1},
                           {"stat/arp_cache", "arp_cache", netprof__next_table, 0},
                           {"stat/ndisc_cache", "ndisc_cache", netprof__next_table, 0}};
#define NETPROF__IP_FILES (sizeof netprof__ip_formats / sizeof *netprof__ip_formats)

/* Unit, kind and flags of the counters: the first row that matches. Device NULL: any. */
static const struct netprof__ip_row {
    const char *device, *pattern, *unit;
    uint8_t kind;
    uint16_t flags;
} netprof__ip_rows[] = {
    {"Tcp", "RtoAlgorithm", "", NETPROF_KIND_STATE, 0},
    {"Tcp", "RtoM*", "ms", NETPROF_KIND_GAUGE, 0},
    {"Tcp", "MaxConn", "connections", NETPROF_KIND_GAUGE, NETPROF_SIGNED},
    {"Tcp", "CurrEstab", "connections", NETPROF_KIND_GAUGE, 0},
    {"Tcp", "InSegs", "segments", NETPROF_KIND_COUNTER, NETPROF_FAST},
    {"Tcp", "OutSegs", "segments", NETPROF_KIND_COUNTER, NETPROF_FAST},
    {"Tcp", "RetransSegs", "segments", NETPROF_KIND_COUNTER, NETPROF_FAST},
    {"Tcp", "InErrs", "errors", NETPROF_KIND_COUNTER, NETPROF_FAST},
    {"Tcp", "InCsumErrors", "errors", NETPROF_KIND_COUNTER, 0},
    {"Tcp", "OutRsts", "segments", NETPROF_KIND_COUNTER, 0},
    {"Tcp", "*", "connections", NETPROF_KIND_COUNTER, 0},
    {"Ip", "Forwarding", "", NETPROF_KIND_STATE, 0},
    {"Ip", "DefaultTTL", "hops", NETPROF_KIND_GAUGE, 0},
    {"Ip", "*Errors", "errors", NETPROF_KIND_COUNTER, 0},
    {"Ip", "*", "packets", NETPROF_KIND_COUNTER, 0},
    {"IpExt", "InOctets", "bytes", NETPROF_KIND_COUNTER, NETPROF_FAST},
    {"IpExt", "OutOctets", "bytes", NETPROF_KIND_COUNTER, NETPROF_FAST},
    {"IpExt", "*Octets", "bytes", NETPROF_KIND_COUNTER, 0},
    {"IpExt", "*Errors", "errors", NETPROF_KIND_COUNTER, 0},
    {"IpExt", "*", "packets", NETPROF_KIND_COUNTER, 0},
    {"Udp", "InDatagrams", "datagrams", NETPROF_KIND_COUNTER, NETPROF_FAST},
    {"Udp", "OutDatagrams", "datagrams", NETPROF_KIND_COUNTER, NETPROF_FAST},
    {"Udp", "RcvbufErrors", "errors", NETPROF_KIND_COUNTER, NETPROF_FAST},
    {"Udp", "SndbufErrors", "errors", NETPROF_KIND_COUNTER, NETPROF_FAST},
    {"Udp", "*Errors", "errors", NETPROF_KIND_COUNTER, 0},
    {"Udp", "*", "datagrams", NETPROF_KIND_COUNTER, 0},
    {"UdpLite", "*Errors", "errors", NETPROF_KIND_COUNTER, 0},
    {"UdpLite", "*", "datagrams", NETPROF_KIND_COUNTER, 0},
    {"Icmp", "*Errors", "errors", NETPROF_KIND_COUNTER, 0},
    {"Icmp", "*", "messages", NETPROF_KIND_COUNTER, 0},
    {"IcmpMsg", "*", "messages", NETPROF_KIND_COUNTER, 0},
    {"TcpExt", "ListenDrops", "connections", NETPROF_KIND_COUNTER, NETPROF_FAST},
    {"TcpExt", "ListenOverflows", "connections", NETPROF_KIND_COUNTER, 0},
    {"TcpExt", "TW*", "connections", NETPROF_KIND_COUNTER, 0},
    {"TcpExt", "TCPTimeouts", "events", NETPROF_KIND_COUNTER, NETPROF_FAST},
    {"TcpExt", "TCPLostRetransmit", "segments", NETPROF_KIND_COUNTER, NETPROF_FAST},
    {"TcpExt", "*Chrono", "ms", NETPROF_KIND_COUNTER, 0},
    {"TcpExt", "*Retrans", "segments", NETPROF_KIND_COUNTER, 0},
    {"TcpExt", "*Drop", "segments", NETPROF_KIND_COUNTER, 0},
    {"TcpExt", "*Acks", "segments", NETPROF_KIND_COUNTER, 0},
    {"TcpExt", "DelayedACKs", "segments", NETPROF_KIND_COUNTER, 0},
    {"TcpExt", "TCPHPHits", "segments", NETPROF_KIND_COUNTER, 0},
    {"TcpExt", "TCPOFOQueue", "segments", NETPROF_KIND_COUNTER, 0},
    {"TcpExt", "TCPRcvCoalesce", "segments", NETPROF_KIND_COUNTER, 0},
    {"TcpExt", "TCPOrigDataSent", "segments", NETPROF_KIND_COUNTER, 0},
    {"TcpExt", "TCPDelivered*", "segments", NETPROF_KIND_COUNTER, 0},
    {"TcpExt", "*", "events", NETPROF_KIND_COUNTER, 0},
    {"MPTcpExt", "MPCurrEstab", "connections", NETPROF_KIND_GAUGE, 0},
    {"MPTcpExt", "*", "events", NETPROF_KIND_COUNTER, 0},
    {"snmp6", "*Octets", "bytes", NETPROF_KIND_COUNTER, 0},
    {"snmp6", "*Errors", "errors", NETPROF_KIND_COUNTER, 0},
    {"snmp6", "Ip6*", "packets", NETPROF_KIND_COUNTER, 0},
    {"snmp6", "Icmp6*", "messages", NETPROF_KIND_COUNTER, 0},
    {"snmp6", "Udp*", "datagrams", NETPROF_KIND_COUNTER, 0},
    {"softnet", "backlog_len*", "packets", NETPROF_KIND_GAUGE, 0},
    {"softnet", "input_qlen*", "packets", NETPROF_KIND_GAUGE, 0},
    {"softnet", "process_qlen*", "packets", NETPROF_KIND_GAUGE, 0},
    {"softnet", "time_squeeze*", "events", NETPROF_KIND_COUNTER, 0},
    {"softnet", "cpu_collision*", "events", NETPROF_KIND_COUNTER, 0},
    {"softnet", "received_rps*", "events", NETPROF_KIND_COUNTER, 0},
    {"softnet", "*", "packets", NETPROF_KIND_COUNTER, 0},
    {NULL, "*_mem", "bytes", NETPROF_KIND_GAUGE, 0}, /* sockstat, sockstat6; the file counts pages */
    {"sockstat", "TCP_mem_*", "bytes", NETPROF_KIND_GAUGE, 0},
    {NULL, "*_memory", "bytes", NETPROF_KIND_GAUGE, 0},
    {NULL, "FRAG*", "queues", NETPROF_KIND_GAUGE, 0},
    {"sockstat", "*", "sockets", NETPROF_KIND_GAUGE, 0},
    {"sockstat6", "*", "sockets", NETPROF_KIND_GAUGE, 0},
    {"conntrack", "entries", "entries", NETPROF_KIND_GAUGE, 0},
    {"conntrack", "max", "entries", NETPROF_KIND_GAUGE, 0},
    {"conntrack", "early_drop/*", "entries", NETPROF_KIND_COUNTER, 0},
    {"conntrack", "insert_failed/*", "entries", NETPROF_KIND_COUNTER, 0},
    {"conntrack", "*", "packets", NETPROF_KIND_COUNTER, 0},
    {NULL, "entries", "entries", NETPROF_KIND_GAUGE, 0}, /* arp_cache, ndisc_cache */
    {NULL, "unresolved_discards/*", "packets", NETPROF_KIND_COUNTER, 0},
    {NULL, "table_fulls/*", "events", NETPROF_KIND_COUNTER, 0},
    {NULL, "forced_gc_runs/*", "events", NETPROF_KIND_COUNTER, 0},
};

/* >>8.5.3 discovery */

/* Where the values of a file go, in the order that the file had last. */
typedef struct netprof__ip_slot {
    uint64_t key;
    size_t index;    /* NETPROF_NONE: dropped by a filter */
    uint64_t factor; /* multiplies the value, in addition to the counter's scale */
} netprof__ip_slot;

typedef struct netprof__ip_file {
    int fd;
    int hold, held; /* hold: keep it open; held: it was taken from the budget */
    char *text;
    size_t capacity;
    netprof__ip_slot *slots;
    size_t slot_count, slot_capacity;
    size_t first, count; /* in the source's own numbering */
    int fast;            /* has counters of the fast set */
} netprof__ip_file;

typedef struct netprof__ip {
    netprof *np;
    char dir[512], settings[512], netns_path[512], netns[64]; /* settings: "" if they would be of another namespace */
    const char *last; /* device of the file listed before; "" at the beginning */
    netprof__ip_file files[NETPROF__IP_FILES];
} netprof__ip;

/* Reads the file whole into its buffer. Returns the length or -errno; -EOVERFLOW: the buffer is too small. */
static ssize_t netprof__ip_load(netprof__ip *ip, size_t index)
{
    netprof__ip_file *f = &ip->files[index];
    char path[600];
    size_t used = 0;
    ssize_t n = 0;
    const char *dir = netprof__ip_formats[index].setting ? ip->settings : ip->dir;
    if (!*dir) return -ENOENT;
    if (f->fd < 0) {
        netprof__join_path(path, sizeof path, dir, netprof__ip_formats[index].file);
        do
            f->fd = NETPROF_OS_OPENAT(AT_FDCWD, path, O_RDONLY);
        while (f->fd < 0 && errno == EINTR);
        if (f->fd < 0) return -errno;
    }
    while (used < f->capacity) {
        n = NETPROF_OS_PREAD(f->fd, f->text + used, f->capacity - used, (off_t)used);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        used += (size_t)n;
    }
    n = n < 0 ? -errno : used == f->capacity ? -EOVERFLOW : (ssize_t)used;
    if (!f->hold || (n < 0 && n != -EOVERFLOW)) {
        NETPROF_OS_CLOSE(f->fd);
        f->fd = -1;
    }
    return n;
}

/* The same, with a growing buffer. Doubles the room, so that a sweep, which must not allocate, has enough. */
static ssize_t netprof__ip_load_growing(netprof__ip *ip, size_t index)
{
    netprof__ip_file *f = &ip->files[index];
    for (;;) {
        ssize_t n = f->capacity ? netprof__ip_load(ip, index) : -EOVERFLOW;
        size_t bigger = f->capacity ? 2 * f->capacity : 16384;
        char *text;
        if (n >= 0 && (size_t)n <= f->capacity / 2) return n;
        if (n < 0 && n != -EOVERFLOW) return n;
        text = bigger > (1u << 26) ? NULL : (char *)netprof__resize(&ip->np->alloc, f->text, bigger);
        if (!text) return -ENOMEM;
        f->text = text;
        f->capacity = bigger;
    }
}

/* Counted per CPU, in 32 bits. */
static int netprof__ip_by_cpu(const netprof__cell *cell, netprof__next_cell next)
{
    return (next == netprof__next_softnet || next == netprof__next_table) && cell->cpu != UINT_MAX;
}

static int netprof__ip_in_pages(const char *name)
{
    return netprof__matches_pattern("*_mem", name) || netprof__matches_pattern("TCP_mem_*", name);
}

/* Describes a counter by the first matching row. Counts per CPU have 32 bits, all others 64. */
static void netprof__ip_describe(netprof_counter *c, const char *device)
{
    const struct netprof__ip_row *row = netprof__ip_rows;
    const struct netprof__ip_row *end = row + sizeof netprof__ip_rows / sizeof *row;
    while (row < end &&
           ((row->device && strcmp(row->device, device) != 0) || !netprof__matches_pattern(row->pattern, c->name)))
        row++;
    c->width = strstr(c->name, "/cpu") ? 32 : 64;
    if (row == end) return;
    c->unit = row->unit;
    c->kind = row->kind;
    c->flags = row->flags;
    if (netprof__ip_in_pages(c->name) && sysconf(_SC_PAGESIZE) <= UINT16_MAX)
        c->scale = (uint16_t)sysconf(_SC_PAGESIZE);
}

/* Pages of 64 KiB do not fit the scale; their values are converted to bytes by this factor. */
static uint64_t netprof__ip_factor(const netprof_counter *c)
{
    return netprof__ip_in_pages(c->name) && !c->scale ? (uint64_t)sysconf(_SC_PAGESIZE) : 1;
}

/* "InSegs" of device Tcp, "TCP_inuse", "dropped/cpu3". */
static void netprof__ip_name(const struct netprof__ip_format *format, const netprof__cell *cell, char *name,
                             size_t size)
{
    int m = (int)(cell->group_size < 64 ? cell->group_size : 64),
        n = (int)(cell->name_size < 128 ? cell->name_size : 128);
    if (netprof__ip_by_cpu(cell, format->next))
        snprintf(name, size, "%.*s/cpu%u", n, cell->name, cell->cpu);
    else if (format->next == netprof__next_keyed)
        snprintf(name, size, "%.*s_%.*s", m, cell->group, n, cell->name);
    else
        snprintf(name, size, "%.*s", n, cell->name);
}

static void netprof__ip_list_device(netprof__ip *ip, netprof_list *list, const struct netprof__ip_format *format,
                                    const netprof__cell *cell, char *device, size_t size)
{
    const char *inode = strchr(ip->netns, '[');
    int more = format->device && strcmp(ip->last, format->device) == 0;
    ip->last = format->device ? format->device : "";
    if (format->device)
        netprof__copy_text(device, size, format->device);
    else
        snprintf(device, size, "%.*s", (int)(cell->group_size < 64 ? cell->group_size : 64), cell->group);
    if (more) return;
    netprof_list_device(list, device, inode ? strtoull(inode + 1, NULL, 10) : 0, 0);
    netprof_list_fact(list, "file", format->file);
    if (*ip->netns) netprof_list_fact(list, "netns", ip->netns);
}

static netprof_err netprof__ip_add_slot(netprof__ip *ip, netprof__ip_file *f, uint64_t key, size_t index,
                                        uint64_t factor)
{
    if (!netprof__grow(&ip->np->alloc, &f->slots, &f->slot_capacity, f->slot_count + 1, sizeof *f->slots))
        return NETPROF_ERR_NOMEM;
    f->slots[f->slot_count].key = key;
    f->slots[f->slot_count].factor = factor;
    f->slots[f->slot_count++].index = index;
    if (index == NETPROF_NONE) return NETPROF_OK;
    if (!f->count++) f->first = index;
    return NETPROF_OK;
}

/* Lists everything in the text; a new device begins where another group begins. */
static netprof_err netprof__ip_list_file(netprof__ip *ip, netprof_list *list, size_t index, size_t size)
{
    const struct netprof__ip_format *format = &netprof__ip_formats[index];
    netprof__ip_file *f = &ip->files[index];
    netprof__cells cells;
    netprof__cell cell;
    const char *group = NULL;
    char device[80], name[256];
    memset(&cells, 0, sizeof cells);
    cells.p = f->text;
    cells.end = f->text + size;
    while (format->next(&cells, &cell)) {
        netprof_counter c;
        size_t at;
        if (!group || (!format->device && cell.group != group))
            netprof__ip_list_device(ip, list, format, &cell, device, sizeof device);
        group = cell.group;
        memset(&c, 0, sizeof c);
        netprof__ip_name(format, &cell, name, sizeof name);
        c.name = name;
        netprof__ip_describe(&c, device);
        at = netprof_list_counter(list, &c);
        if (netprof__ip_add_slot(ip, f, cell.key, at, netprof__ip_factor(&c))) return NETPROF_ERR_NOMEM;
        if (at != NETPROF_NONE)
            f->fast |= (list->schema->counters[list->source_first_counter + at].flags & NETPROF_FAST) != 0;
    }
    return NETPROF_OK;
}

static void netprof__ip_clear(netprof__ip *ip)
{
    size_t i;
    for (i = 0; i < NETPROF__IP_FILES; i++) {
        netprof__ip_file *f = &ip->files[i];
        if (f->fd >= 0) NETPROF_OS_CLOSE(f->fd);
        ip->np->fd_budget += f->held;
        netprof__release(&ip->np->alloc, f->text);
        netprof__release(&ip->np->alloc, f->slots);
        memset(f, 0, sizeof *f);
        f->fd = -1;
    }
}

static void netprof__ip_read_netns(const netprof__ip *ip, char *text, size_t size)
{
    ssize_t n = readlink(ip->netns_path, text, size - 1);
    text[n > 0 ? n : 0] = 0;
}

/* Chooses the directory. Under another root, proc/net is still the reader's own namespace: use that of process 1. */
static void netprof__ip_choose(netprof__ip *ip, const netprof_list *list)
{
    char process[32];
    if (ip->np->pid > 0)
        snprintf(process, sizeof process, "%d/", ip->np->pid);
    else
        netprof__copy_text(process, sizeof process, *list->root ? "1/" : "");
    snprintf(ip->dir, sizeof ip->dir, "%s/proc/%snet", list->root, process);
    if (ip->np->pid <= 0 && *process && access(ip->dir, R_OK | X_OK) != 0) {
        *process = 0;
        snprintf(ip->dir, sizeof ip->dir, "%s/proc/net", list->root);
    }
    *ip->settings = 0;
    if (!*process) snprintf(ip->settings, sizeof ip->settings, "%s/proc/sys/net", list->root);
    snprintf(ip->netns_path, sizeof ip->netns_path, "%s/proc/%sns/net", list->root, *process ? process : "self/");
    netprof__ip_read_netns(ip, ip->netns, sizeof ip->netns);
}

/* Holds the file open if the budget allows. Never for another process, which the open file would outlive. */
static void netprof__ip_hold(netprof__ip *ip, netprof__ip_file *f)
{
    netprof_hold hold = ip->np->hold;
    f->hold = f->held = f->count && ip->np->pid <= 0 && ip->np->fd_budget > 0 &&
                        (hold == NETPROF_HOLD_ALL || (hold == NETPROF_HOLD_FAST && f->fast));
    ip->np->fd_budget -= f->held;
}

static netprof_err netprof__ip_discover(void *user, netprof_list *list)
{
    netprof__ip *ip = (netprof__ip *)user;
    size_t i;
    int found = 0;
    netprof__ip_clear(ip);
    netprof__ip_choose(ip, list);
    ip->last = "";
    for (i = 0; i < NETPROF__IP_FILES; i++) {
        ssize_t n = netprof__ip_load_growing(ip, i);
        if (n == -ENOMEM || (n > 0 && netprof__ip_list_file(ip, list, i, (size_t)n))) return NETPROF_ERR_NOMEM;
        if (n < 0 && n != -ENOENT) netprof_list_state(list, netprof_status_of_errno((int)-n), (int)-n, ip->dir);
        found |= n >= 0;
        netprof__ip_hold(ip, &ip->files[i]);
    }
    if (!found && !list->state_given) netprof_list_state(list, NETPROF_STATUS_ABSENT, ENOENT, ip->dir);
    return NETPROF_OK;
}

/* >>8.5.4 reading, and the source */

/* Where the k-th value goes, or NULL. If the columns changed since last time: by name, and the next take rescans. */
static const netprof__ip_slot *netprof__ip_find(const netprof__ip_file *f, size_t k, uint64_t key, int *moved)
{
    size_t i;
    if (k < f->slot_count && f->slots[k].key == key) return &f->slots[k];
    *moved = 1;
    for (i = 0; i < f->slot_count; i++)
        if (f->slots[i].key == key) return &f->slots[i];
    return NULL;
}

/* Stores a cell, if it has a value that fits its counter. */
static void netprof__ip_keep(netprof_sweep *sweep, const netprof__ip_slot *slot, const netprof__cell *cell)
{
    size_t i = slot->index;
    if (cell->failed == ENODATA) return; /* absent */
    if (cell->failed || (cell->negative && !(sweep->counters[i].flags & NETPROF_SIGNED)))
        netprof__set_failed(sweep, i, EBADMSG);
    else
        netprof__set_value(sweep, i, cell->value * slot->factor);
}

/* Reads one file. Its counters are absent until their value is found; if the file changed its shape, the next take
   rescans. */
static void netprof__ip_read_file(netprof__ip *ip, size_t index, netprof_sweep *sweep)
{
    netprof__ip_file *f = &ip->files[index];
    netprof__cells cells;
    netprof__cell cell;
    ssize_t n = netprof__ip_load(ip, index);
    size_t i, k = 0;
    for (i = f->first; i < f->first + f->count; i++) {
        if (!netprof__in_set(sweep, i)) continue;
        sweep->status[i] = NETPROF_STATUS_ABSENT;
        if (n < 0) netprof__set_failed(sweep, i, (int)-n);
    }
    sweep->stale |= n == -ENOENT || n == -EOVERFLOW;
    memset(&cells, 0, sizeof cells);
    cells.p = f->text;
    cells.end = f->text + (n > 0 ? n : 0);
    while (netprof__ip_formats[index].next(&cells, &cell)) {
        const netprof__ip_slot *slot = netprof__ip_find(f, k++, cell.key, &sweep->stale);
        if (slot && slot->index != NETPROF_NONE && netprof__in_set(sweep, slot->index))
            netprof__ip_keep(sweep, slot, &cell);
    }
    sweep->stale |= n >= 0 && k != f->slot_count;
}

static void netprof__ip_read(void *user, size_t device, netprof_sweep *sweep)
{
    netprof__ip *ip = (netprof__ip *)user;
    size_t i;
    (void)device;
    for (i = 0; i < NETPROF__IP_FILES; i++)
        if (ip->files[i].count && (sweep->set != NETPROF_SET_FAST || ip->files[i].fast))
            netprof__ip_read_file(ip, i, sweep);
}

/* True if the process moved to another network namespace: the held files still show the old one. */
static int netprof__ip_changed(void *user)
{
    netprof__ip *ip = (netprof__ip *)user;
    char netns[sizeof ip->netns];
    netprof__ip_read_netns(ip, netns, sizeof netns);
    return strcmp(netns, ip->netns) != 0;
}

static void netprof__ip_close(void *user)
{
    netprof__ip *ip = (netprof__ip *)user;
    netprof_alloc a = ip->np->alloc;
    netprof__ip_clear(ip);
    netprof__release(&a, ip);
}

static netprof_err netprof__make_ip(netprof *np, netprof_source *source, void **user)
{
    netprof__ip *ip = (netprof__ip *)netprof__zalloc(&np->alloc, sizeof *ip);
    size_t i;
    if (!ip) return NETPROF_ERR_NOMEM;
    ip->np = np;
    for (i = 0; i < NETPROF__IP_FILES; i++)
        ip->files[i].fd = -1;
    source->flags = NETPROF_SOURCE_WHOLE; /* a file with several devices is read only once */
    source->discover = netprof__ip_discover;
    source->read = netprof__ip_read;
    source->changed = netprof__ip_changed;
    source->close = netprof__ip_close;
    *user = ip;
    return NETPROF_OK;
}

/* >>8.6 source tcp: TCP_INFO of sockets that the program hands over */

#define NETPROF__TCP_INFO 11 /* TCP_INFO in linux/tcp.h */

/* struct tcp_info of linux/tcp.h. Fields are only ever added at its end, and the kernel returns how much it filled in.
   all_ones: all-ones means that there is no value (no sample yet, no limit). */
static const struct netprof__tcp_row {
    const char *name, *unit;
    uint16_t offset;
    uint8_t size, kind;
    uint16_t flags;
    uint8_t all_ones;
} netprof__tcp_rows[] = {
    {"state", "", 0, 1, NETPROF_KIND_STATE, 0, 0},
    {"ca_state", "", 1, 1, NETPROF_KIND_STATE, 0, 0},
    {"retransmits", "segments", 2, 1, NETPROF_KIND_GAUGE, 0, 0},
    {"probes", "segments", 3, 1, NETPROF_KIND_GAUGE, 0, 0},
    {"backoff", "", 4, 1, NETPROF_KIND_GAUGE, 0, 0},
    {"rto", "us", 8, 4, NETPROF_KIND_GAUGE, 0, 0},
    {"ato", "us", 12, 4, NETPROF_KIND_GAUGE, 0, 0},
    {"snd_mss", "bytes", 16, 4, NETPROF_KIND_GAUGE, 0, 0},
    {"rcv_mss", "bytes", 20, 4, NETPROF_KIND_GAUGE, 0, 0},
    {"unacked", "segments", 24, 4, NETPROF_KIND_GAUGE, 0, 0},
    {"sacked", "segments", 28, 4, NETPROF_KIND_GAUGE, 0, 0},
    {"lost", "segments", 32, 4, NETPROF_KIND_GAUGE, 0, 0},
    {"retrans", "segments", 36, 4, NETPROF_KIND_GAUGE, 0, 0},
    {"fackets", "segments", 40, 4, NETPROF_KIND_GAUGE, 0, 0},
    {"last_data_sent", "ms", 44, 4, NETPROF_KIND_GAUGE, 0, 0},
    {"last_data_recv", "ms", 52, 4, NETPROF_KIND_GAUGE, 0, 0},
    {"last_ack_recv", "ms", 56, 4, NETPROF_KIND_GAUGE, 0, 0},
    {"pmtu", "bytes", 60, 4, NETPROF_KIND_GAUGE, 0, 0},
    {"rcv_ssthresh", "bytes", 64, 4, NETPROF_KIND_GAUGE, 0, 0},
    {"rtt", "us", 68, 4, NETPROF_KIND_GAUGE, NETPROF_FAST, 0},
    {"rttvar", "us", 72, 4, NETPROF_KIND_GAUGE, 0, 0},
    {"snd_ssthresh", "segments", 76, 4, NETPROF_KIND_GAUGE, 0, 0},
    {"snd_cwnd", "segments", 80, 4, NETPROF_KIND_GAUGE, NETPROF_FAST, 0},
    {"advmss", "bytes", 84, 4, NETPROF_KIND_GAUGE, 0, 0},
    {"reordering", "segments", 88, 4, NETPROF_KIND_GAUGE, 0, 0},
    {"rcv_rtt", "us", 92, 4, NETPROF_KIND_GAUGE, 0, 0},
    {"rcv_space", "bytes", 96, 4, NETPROF_KIND_GAUGE, 0, 0},
    {"total_retrans", "segments", 100, 4, NETPROF_KIND_COUNTER, NETPROF_FAST, 0},
    {"pacing_rate", "bytes/s", 104, 8, NETPROF_KIND_GAUGE, 0, 1},
    {"max_pacing_rate", "bytes/s", 112, 8, NETPROF_KIND_GAUGE, 0, 1},
    {"bytes_acked", "bytes", 120, 8, NETPROF_KIND_COUNTER, NETPROF_FAST, 0},
    {"bytes_received", "bytes", 128, 8, NETPROF_KIND_COUNTER, NETPROF_FAST, 0},
    {"segs_out", "segments", 136, 4, NETPROF_KIND_COUNTER, 0, 0},
    {"segs_in", "segments", 140, 4, NETPROF_KIND_COUNTER, 0, 0},
    {"notsent_bytes", "bytes", 144, 4, NETPROF_KIND_GAUGE, 0, 0},
    {"min_rtt", "us", 148, 4, NETPROF_KIND_GAUGE, 0, 1},
    {"data_segs_in", "segments", 152, 4, NETPROF_KIND_COUNTER, 0, 0},
    {"data_segs_out", "segments", 156, 4, NETPROF_KIND_COUNTER, 0, 0},
    {"delivery_rate", "bytes/s", 160, 8, NETPROF_KIND_GAUGE, NETPROF_FAST, 0},
    {"busy_time", "us", 168, 8, NETPROF_KIND_COUNTER, NETPROF_FAST, 0},
    {"rwnd_limited", "us", 176, 8, NETPROF_KIND_COUNTER, NETPROF_FAST, 0},
    {"sndbuf_limited", "us", 184, 8, NETPROF_KIND_COUNTER, NETPROF_FAST, 0},
    {"delivered", "segments", 192, 4, NETPROF_KIND_COUNTER, 0, 0},
    {"delivered_ce", "segments", 196, 4, NETPROF_KIND_COUNTER, 0, 0},
    {"bytes_sent", "bytes", 200, 8, NETPROF_KIND_COUNTER, 0, 0},
    {"bytes_retrans", "bytes", 208, 8, NETPROF_KIND_COUNTER, NETPROF_FAST, 0},
    {"dsack_dups", "segments", 216, 4, NETPROF_KIND_COUNTER, 0, 0},
    {"reord_seen", "events", 220, 4, NETPROF_KIND_COUNTER, 0, 0},
    {"rcv_ooopack", "segments", 224, 4, NETPROF_KIND_COUNTER, 0, 0},
    {"snd_wnd", "bytes", 228, 4, NETPROF_KIND_GAUGE, 0, 0},
    {"rcv_wnd", "bytes", 232, 4, NETPROF_KIND_GAUGE, 0, 0},
    {"rehash", "events", 236, 4, NETPROF_KIND_COUNTER, 0, 0},
    {"total_rto", "events", 240, 2, NETPROF_KIND_COUNTER, 0, 0},
    {"total_rto_recoveries", "events", 242, 2, NETPROF_KIND_COUNTER, 0, 0},
    {"total_rto_time", "ms", 244, 4, NETPROF_KIND_COUNTER, 0, 0},
};
#define NETPROF__TCP_ROWS (sizeof netprof__tcp_rows / sizeof *netprof__tcp_rows)

typedef struct netprof__socket {
    int fd;
    uint64_t inode; /* of the socket behind the descriptor, when it was added */
    char *name;     /* "tcp/NAME" */
    size_t indices[NETPROF__TCP_ROWS];
} netprof__socket;

struct netprof__tcp {
    netprof *np;
    netprof__socket *sockets;
    size_t count, capacity;
};

/* Inode of the socket behind a descriptor; 0 if it is not a socket. */
static uint64_t netprof__socket_inode(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode) ? (uint64_t)st.st_ino : 0;
}

/* Reads one field of a struct tcp_info of which `size` bytes are filled in. Returns 0 if it is missing or has no
   value. */
static int netprof__tcp_field(const struct netprof__tcp_row *row, const unsigned char *info, size_t size,
                              uint64_t *value)
{
    uint16_t half;
    uint32_t word;
    if ((size_t)row->offset + row->size > size) return 0;
    if (row->size == 8) {
        memcpy(value, info + row->offset, 8);
    } else if (row->size == 4) {
        memcpy(&word, info + row->offset, 4);
        *value = word;
    } else if (row->size == 2) {
        memcpy(&half, info + row->offset, 2);
        *value = half;
    } else {
        *value = info[row->offset];
    }
    return !(row->all_ones && *value == UINT64_MAX >> (64 - 8 * row->size));
}

static netprof_err netprof__tcp_discover(void *user, netprof_list *list)
{
    struct netprof__tcp *tcp = (struct netprof__tcp *)user;
    size_t i, k;
    for (i = 0; i < tcp->count; i++) {
        netprof__socket *s = &tcp->sockets[i];
        netprof_list_device(list, s->name, s->inode, 0);
        for (k = 0; k < NETPROF__TCP_ROWS; k++) {
            const struct netprof__tcp_row *row = &netprof__tcp_rows[k];
            netprof_counter c;
            memset(&c, 0, sizeof c);
            c.name = row->name;
            c.unit = row->unit;
            c.kind = row->kind;
            c.flags = row->flags;
            c.width = (uint8_t)(8 * row->size);
            s->indices[k] = netprof_list_counter(list, &c);
        }
    }
    return NETPROF_OK;
}

/* The identity is checked after getsockopt(), which also catches a descriptor that was reused in between. */
static void netprof__tcp_read(void *user, size_t device, netprof_sweep *sweep)
{
    const netprof__socket *s = &((struct netprof__tcp *)user)->sockets[device];
    union {
        uint64_t align;
        unsigned char bytes[512];
    } info;
    socklen_t size = sizeof info;
    int failed = NETPROF_OS_GETSOCKOPT(s->fd, IPPROTO_TCP, NETPROF__TCP_INFO, &info, &size) == 0 ? 0 : errno;
    int gone = netprof__socket_inode(s->fd) != s->inode;
    size_t k;
    for (k = 0; k < NETPROF__TCP_ROWS; k++) {
        size_t i = s->indices[k];
        uint64_t value;
        if (i == NETPROF_NONE || !netprof__in_set(sweep, i)) continue;
        if (failed || gone)
            netprof__set_failed(sweep, i, gone ? EBADF : failed);
        else if (netprof__tcp_field(&netprof__tcp_rows[k], info.bytes, size, &value))
            netprof__set_value(sweep, i, value);
        else
            sweep->status[i] = NETPROF_STATUS_ABSENT;
        if (gone) sweep->status[i] = NETPROF_STATUS_VANISHED;
    }
}

static void netprof__tcp_close(void *user)
{
    struct netprof__tcp *tcp = (struct netprof__tcp *)user;
    netprof_alloc a = tcp->np->alloc;
    size_t i;
    for (i = 0; i < tcp->count; i++)
        netprof__release(&a, tcp->sockets[i].name);
    netprof__release(&a, tcp->sockets);
    netprof__release(&a, tcp);
}

static void netprof__tcp_drop(struct netprof__tcp *tcp, size_t i)
{
    netprof__release(&tcp->np->alloc, tcp->sockets[i].name);
    tcp->count--;
    memmove(&tcp->sockets[i], &tcp->sockets[i + 1], (tcp->count - i) * sizeof *tcp->sockets);
}

/* The context's source tcp, created at first use; NULL if out of memory. */
static struct netprof__tcp *netprof__tcp_of(netprof *np)
{
    netprof_source source;
    if (np->tcp) return np->tcp;
    np->tcp = (struct netprof__tcp *)netprof__zalloc(&np->alloc, sizeof *np->tcp);
    if (!np->tcp) return NULL;
    np->tcp->np = np;
    memset(&source, 0, sizeof source);
    source.name = "tcp";
    source.discover = netprof__tcp_discover;
    source.read = netprof__tcp_read;
    source.close = netprof__tcp_close;
    if (netprof__add_part(np, &source, np->tcp)) {
        netprof__release(&np->alloc, np->tcp);
        np->tcp = NULL;
    }
    return np->tcp;
}

static netprof_err netprof__tcp_append(struct netprof__tcp *tcp, int fd, uint64_t inode, const char *name)
{
    const netprof_alloc *a = &tcp->np->alloc;
    netprof__socket *s;
    size_t n = strlen(name) + sizeof "tcp/";
    if (!netprof__grow(a, &tcp->sockets, &tcp->capacity, tcp->count + 1, sizeof *tcp->sockets))
        return NETPROF_ERR_NOMEM;
    s = &tcp->sockets[tcp->count];
    memset(s, 0, sizeof *s);
    s->name = (char *)netprof__resize(a, NULL, n);
    if (!s->name) return NETPROF_ERR_NOMEM;
    snprintf(s->name, n, "tcp/%s", name);
    s->fd = fd;
    s->inode = inode;
    tcp->count++;
    return NETPROF_OK;
}

static int netprof__tcp_is(const netprof__socket *s, int fd, const char *name)
{
    return s->fd == fd || strcmp(s->name + strlen("tcp/"), name) == 0;
}

/* Drops dead sockets of the same name or descriptor; a live one is an error. */
static netprof_err netprof__tcp_make_way(struct netprof__tcp *tcp, int fd, const char *name, netprof_error *error)
{
    size_t i;
    for (i = 0; i < tcp->count; i++) {
        const netprof__socket *s = &tcp->sockets[i];
        if (netprof__tcp_is(s, fd, name) && netprof__socket_inode(s->fd) == s->inode)
            return netprof__fail(error, NETPROF_ERR_ARG, 0, name, "this socket or this name was added before");
    }
    for (i = tcp->count; i-- > 0;)
        if (netprof__tcp_is(&tcp->sockets[i], fd, name)) netprof__tcp_drop(tcp, i);
    return NETPROF_OK;
}

NETPROF_API netprof_err netprof_add_socket(netprof *np, int fd, const char *name, netprof_error *error)
{
    unsigned char info[8];
    socklen_t size = sizeof info;
    struct netprof__tcp *tcp;
    netprof_err failed;
    if (!np || !name || !*name) return netprof__fail(error, NETPROF_ERR_ARG, 0, NULL, "no context or no name");
    if (NETPROF_OS_GETSOCKOPT(fd, IPPROTO_TCP, NETPROF__TCP_INFO, info, &size) != 0)
        return netprof__fail(error, NETPROF_ERR_IO, errno, name, "is not a TCP socket");
    tcp = netprof__tcp_of(np);
    if (!tcp) return netprof__no_memory(error);
    failed = netprof__tcp_make_way(tcp, fd, name, error);
    if (failed) return failed;
    if (netprof__tcp_append(tcp, fd, netprof__socket_inode(fd), name)) {
        np->torn = 1; /* some may have been dropped */
        return netprof__no_memory(error);
    }
    failed = netprof__rescan_part(np, tcp, error);
    if (failed) netprof__tcp_drop(tcp, tcp->count - 1);
    return failed;
}

NETPROF_API netprof_err netprof_remove_socket(netprof *np, int fd, netprof_error *error)
{
    size_t i = 0;
    if (!np) return netprof__fail(error, NETPROF_ERR_ARG, 0, NULL, "no context");
    while (np->tcp && i < np->tcp->count && np->tcp->sockets[i].fd != fd)
        i++;
    if (!np->tcp || i == np->tcp->count)
        return netprof__fail(error, NETPROF_ERR_ARG, 0, NULL, "this socket was not added");
    netprof__tcp_drop(np->tcp, i);
    return netprof__rescan_part(np, np->tcp, error);
}

#endif /* NETPROF_NO_SOURCES */

#ifndef NETPROF_REGIONS_ONLY
/* >>8.7 source user: counters of the program itself

   They are in the fast set, too: the program added them because it wants them. One thread calls all read functions, one
   after another, in the order of their devices. */

typedef struct netprof__user_row {
    char *device, *name, *unit;
    uint8_t kind, width;
    int (*read)(void *user, uint64_t *value);
    void *user;
    size_t index;
} netprof__user_row;

struct netprof__user {
    netprof *np;
    netprof__user_row *rows;
    size_t count, capacity;
};

static void netprof__user_list(netprof_list *list, netprof__user_row *row)
{
    netprof_counter c;
    memset(&c, 0, sizeof c);
    c.name = row->name;
    c.unit = row->unit;
    c.kind = row->kind;
    c.width = row->width;
    c.flags = NETPROF_FAST;
    row->index = netprof_list_counter(list, &c);
}

static netprof_err netprof__user_discover(void *user, netprof_list *list)
{
    struct netprof__user *u = (struct netprof__user *)user;
    size_t i, k;
    for (i = 0; i < u->count; i++) {
        for (k = 0; k < i && strcmp(u->rows[k].device, u->rows[i].device) != 0; k++)
            continue;
        if (k < i) continue; /* listed with the first of its device */
        netprof_list_device(list, u->rows[i].device, 0, 0);
        for (; k < u->count; k++)
            if (strcmp(u->rows[k].device, u->rows[i].device) == 0) netprof__user_list(list, &u->rows[k]);
    }
    return NETPROF_OK;
}

static void netprof__user_read(void *user, size_t device, netprof_sweep *sweep)
{
    struct netprof__user *u = (struct netprof__user *)user;
    size_t i;
    (void)device;
    for (i = 0; i < u->count; i++) {
        const netprof__user_row *row = &u->rows[i];
        uint64_t value = 0;
        int failed;
        if (row->index == NETPROF_NONE || !netprof__in_set(sweep, row->index)) continue;
        failed = row->read(row->user, &value);
        if (failed)
            netprof__set_failed(sweep, row->index, failed);
        else
            netprof__set_value(sweep, row->index, value);
    }
}

static void netprof__user_drop_last(struct netprof__user *u)
{
    const netprof__user_row *row = &u->rows[--u->count];
    netprof__release(&u->np->alloc, row->device);
    netprof__release(&u->np->alloc, row->name);
    netprof__release(&u->np->alloc, row->unit);
}

static void netprof__user_close(void *user)
{
    struct netprof__user *u = (struct netprof__user *)user;
    netprof_alloc a = u->np->alloc;
    while (u->count)
        netprof__user_drop_last(u);
    netprof__release(&a, u->rows);
    netprof__release(&a, u);
}

static struct netprof__user *netprof__user_of(netprof *np)
{
    netprof_source source;
    if (np->user) return np->user;
    np->user = (struct netprof__user *)netprof__zalloc(&np->alloc, sizeof *np->user);
    if (!np->user) return NULL;
    np->user->np = np;
    memset(&source, 0, sizeof source);
    source.name = "user";
    source.flags = NETPROF_SOURCE_WHOLE;
    source.discover = netprof__user_discover;
    source.read = netprof__user_read;
    source.close = netprof__user_close;
    if (netprof__add_part(np, &source, np->user)) {
        netprof__release(&np->alloc, np->user);
        np->user = NULL;
    }
    return np->user;
}

static netprof_err netprof__user_append(struct netprof__user *u, const netprof_user_counter *c)
{
    const netprof_alloc *a = &u->np->alloc;
    netprof__user_row *row;
    if (!netprof__grow(a, &u->rows, &u->capacity, u->count + 1, sizeof *u->rows)) return NETPROF_ERR_NOMEM;
    row = &u->rows[u->count++];
    memset(row, 0, sizeof *row);
    row->device = netprof__strdup(a, c->device ? c->device : "program");
    row->name = netprof__strdup(a, c->name);
    row->unit = netprof__strdup(a, c->unit ? c->unit : "");
    row->kind = (uint8_t)c->kind;
    row->width = (uint8_t)c->width;
    row->read = c->read;
    row->user = c->user;
    if (row->device && row->name && row->unit) return NETPROF_OK;
    netprof__user_drop_last(u);
    return NETPROF_ERR_NOMEM;
}

NETPROF_API netprof_err netprof_add_counter(netprof *np, const netprof_user_counter *counter, netprof_error *error)
{
    struct netprof__user *u;
    netprof_err failed;
    if (!np || !counter || !counter->name || !*counter->name || !counter->read)
        return netprof__fail(error, NETPROF_ERR_ARG, 0, NULL, "a counter needs a name and a read function");
    if (counter->width < 0 || counter->width > 64 || (int)counter->kind < 0 || counter->kind > NETPROF_KIND_HISTOGRAM)
        return netprof__fail(error, NETPROF_ERR_ARG, 0, counter->name, "no such kind, or wider than 64 bits");
    u = netprof__user_of(np);
    if (!u || netprof__user_append(u, counter)) {
        np->torn = 1; /* the source may be new, and not in the schema */
        return netprof__no_memory(error);
    }
    failed = netprof__rescan_part(np, u, error);
    if (failed) netprof__user_drop_last(u);
    return failed;
}

/* ---- >>9 implementation: contexts, snapshots, deltas ---- */

/* >>9.1 opening and discovery

   A part is one source in a context. Discovery lets every part list its devices and counters and builds one schema of
   them, in which each part has a range of devices and a range of counters. */

#ifndef NETPROF_NO_SOURCES
static const struct {
    const char *name;
    netprof__maker make;
} netprof__builtin[] = {{"cxi", netprof__make_cxi},
                        {"netdev", netprof__make_netdev},
                        {"ethtool", netprof__make_ethtool},
                        {"rdma", netprof__make_rdma},
                        {"ip", netprof__make_ip}};

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
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
    soft = limit.rlim_cur > INT_MAX ? INT_MAX : (int64_t)limit.rlim_cur;
    fd = netprof__open_dir(AT_FDCWD, "/proc/self/fd");
    if (fd >= 0) {
        netprof__each_entry(fd, netprof__count_entry, &used);
        NETPROF_OS_CLOSE(fd);
    }
    room = soft - used - 256;
    if (wanted <= 0) wanted = (int)(soft / 4);
    if (room <= 0) return 0;
    return wanted < room ? wanted : (int)room;
}
#endif

static void netprof__node_fact(netprof_list *list, const char *key, const char *root, const char *file)
{
    char path[1024], text[256];
    if (netprof__prepend_root(path, sizeof path, root, file) &&
        netprof__read_line(AT_FDCWD, path, text, sizeof text) > 0)
        netprof_build_fact(list, key, text);
}

/* Identifies the node in every schema, so that a delta across hosts or boots is noticed. */
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

/* Lets every source list its devices and counters, and builds a schema of them. */
static netprof_err netprof__discover(netprof *np, const netprof_schema **out, netprof_error *error)
{
    netprof_list *list = netprof__list_make(&np->alloc);
    size_t i;
    *out = NULL;
    if (!list) return netprof__no_memory(error);
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
    size_t i;
    if (!np) return netprof__fail(error, NETPROF_ERR_ARG, 0, NULL, "no context");
    np->torn = 1;
    failed = netprof__discover(np, &fresh, error);
    if (failed) return failed;
    np->torn = 0;
    if (np->schema && netprof__same_schema(np->schema, fresh)) {
        netprof_schema_release(fresh);
        return NETPROF_OK;
    }
    netprof_schema_release(np->schema);
    np->schema = fresh;
    for (i = 0; i < np->part_count; i++) /* they belonged to the old schema */
        memset(np->parts[i].missing, 0, sizeof np->parts[i].missing);
    return NETPROF_OK;
}

/* Lists a part again as the schema has it, without discovery. */
static void netprof__list_again(netprof_list *list, const netprof_schema *s, const netprof__part *part, size_t source)
{
    size_t i, k;
    for (i = part->first_device; i < part->first_device + part->device_count; i++) {
        const netprof_device *d = &s->devices[i];
        netprof_list_device(list, d->name, d->identity, d->flags);
        for (k = 0; k < d->fact_count; k++)
            netprof_list_fact(list, d->facts[k].key, d->facts[k].value);
        for (k = d->first; k < (size_t)d->first + d->count; k++)
            netprof_list_counter(list, &s->counters[k]);
    }
    netprof_list_state(list, s->sources[source].status, s->sources[source].sys_errno, s->sources[source].path);
}

/* Finds each part's devices and counters in a schema; each part has its row of sources. */
static void netprof__place_parts(netprof *np, const netprof_schema *s)
{
    size_t i, k, counter = 0, device = 0;
    for (i = 0; i < np->part_count; i++) {
        netprof__part *part = &np->parts[i];
        part->first_counter = counter;
        part->first_device = device;
        part->device_count = s->sources[i].device_count;
        for (k = 0; k < part->device_count; k++)
            counter += s->devices[device++].count;
        part->counter_count = counter - part->first_counter;
    }
}

/* Discovers one part again and copies all others from the schema: a program that adds a hundred counters must not have
   every source enumerated a hundred times. */
static netprof_err netprof__rescan_part(netprof *np, const void *user, netprof_error *error)
{
    netprof_list *list = np->torn ? NULL : netprof__list_make(&np->alloc);
    const netprof_schema *fresh;
    netprof_err failed;
    size_t i;
    if (np->torn) return netprof_rescan(np, error);
    np->torn = 1;
    if (!list) return netprof__no_memory(error);
    for (i = 0; i < np->schema->fact_count; i++)
        netprof_build_fact(list, np->schema->facts[i].key, np->schema->facts[i].value);
    for (i = 0; i < np->part_count && !list->failed; i++) {
        int anew = np->parts[i].user == user;
        netprof_build_source(list, np->parts[i].source.name);
        list->root = np->root;
        list->include = anew ? &np->include : NULL;
        list->exclude = anew ? &np->exclude : NULL;
        list->fast = anew ? &np->fast : NULL;
        if (!anew)
            netprof__list_again(list, np->schema, &np->parts[i], i);
        else if (np->parts[i].source.discover(np->parts[i].user, list))
            list->failed = NETPROF_ERR_NOMEM;
    }
    failed = netprof_build_end(list, &fresh, error);
    if (failed) return failed;
    netprof__place_parts(np, fresh);
    netprof_schema_release(np->schema);
    np->schema = fresh;
    np->torn = 0;
    return NETPROF_OK;
}

/* Returns 1 if the comma-separated list names the source, or is empty. */
static int netprof__listed(const char *list, const char *name)
{
    size_t n = strlen(name);
    if (!list || !*list) return 1;
    for (;;) {
        size_t length = strcspn(list, ",");
        if (length == n && memcmp(list, name, n) == 0) return 1;
        if (!list[length]) return 0;
        list += length + 1;
    }
}

/* The given text, else the environment variable, else "". */
static const char *netprof__setting_or_environment(const char *given, const char *variable)
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

#ifndef NETPROF_NO_SOURCES
/* An unknown name is an error: otherwise nothing would be read, silently. */
static netprof_err netprof__check_sources(const char *list, netprof_error *error)
{
    char name[32];
    while (*list) {
        size_t length = strcspn(list, ","), i;
        snprintf(name, sizeof name, "%.*s", (int)(length < 31 ? length : 31), list);
        if (strcmp(name, "none") == 0) {
            list += length + (list[length] == ',');
            continue;
        }
        for (i = 0; i < sizeof netprof__builtin / sizeof *netprof__builtin; i++)
            if (strcmp(name, netprof__builtin[i].name) == 0) break;
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
        if (!netprof__listed(sources, netprof__builtin[i].name)) continue;
        if (netprof__builtin[i].make(np, &source, &user)) return NETPROF_ERR_NOMEM;
        source.name = netprof__builtin[i].name;
        if (netprof__add_part(np, &source, user)) {
            source.close(user);
            return NETPROF_ERR_NOMEM;
        }
    }
    return NETPROF_OK;
}

#endif /* NETPROF_NO_SOURCES */

static netprof_err netprof__configure(netprof *np, const netprof_config *c, netprof_error *error)
{
#ifndef NETPROF_NO_SOURCES
    const char *sources = netprof__setting_or_environment(c->sources, "NETPROF_SOURCES");
#endif
    size_t n;
    np->hold = c->hold;
    np->pid = c->pid;
    np->threads = c->threads;
    np->no_rescan = c->no_rescan;
    np->root = netprof__strdup(&np->alloc, netprof__setting_or_environment(c->root, "NETPROF_ROOT"));
    if (!np->root ||
        !netprof__filter_make(&np->alloc, netprof__setting_or_environment(c->include, "NETPROF_INCLUDE"),
                              &np->include) ||
        !netprof__filter_make(&np->alloc, netprof__setting_or_environment(c->exclude, "NETPROF_EXCLUDE"),
                              &np->exclude) ||
        !netprof__filter_make(&np->alloc, c->fast, &np->fast))
        return netprof__no_memory(error);
    for (n = strlen(np->root); n && np->root[n - 1] == '/'; n--)
        np->root[n - 1] = 0;
#ifndef NETPROF_NO_SOURCES
    np->fd_budget = netprof__fd_budget(c->max_fds);
    if (netprof__check_sources(sources, error)) return NETPROF_ERR_ARG;
    if (netprof__add_builtin(np, sources)) return netprof__no_memory(error);
#endif
    return NETPROF_OK;
}

NETPROF_API netprof_err netprof_open(netprof **out, const netprof_config *config, netprof_error *error)
{
    netprof_config defaults;
    netprof_alloc alloc;
    netprof_err failed;
    netprof *np;
    if (!out) return netprof__fail(error, NETPROF_ERR_ARG, 0, NULL, "nowhere to put the context");
    *out = NULL;
    memset(&defaults, 0, sizeof defaults);
    if (!config) config = &defaults;
    if (config->end_zero)
        return netprof__fail(error, NETPROF_ERR_ARG, 0, NULL, "the configuration was never initialised");
    alloc = netprof__alloc_or_default(config->alloc);
    np = (netprof *)netprof__zalloc(&alloc, sizeof *np);
    if (!np) return netprof__no_memory(error);
    np->alloc = alloc;
    failed = netprof__configure(np, config, error);
    if (!failed) failed = netprof_rescan(np, error);
    if (failed) {
        netprof_close(np);
        return failed;
    }
    *out = np;
    if (np->schema->counter_count) return NETPROF_OK;
#ifdef NETPROF_NO_SOURCES
    return netprof__fail(error, NETPROF_ERR_NOSOURCE, 0, NULL,
                         "this program was built without sources of counters (NETPROF_NO_SOURCES, or not on Linux)");
#else
    return netprof__fail(error, NETPROF_ERR_NOSOURCE, 0, *np->root ? np->root : "/", "no counter found");
#endif
}

NETPROF_API void netprof_close(netprof *np)
{
    netprof_alloc a;
    size_t i;
    if (!np) return;
    a = np->alloc;
    for (i = 0; i < np->part_count; i++)
        if (np->parts[i].source.close) np->parts[i].source.close(np->parts[i].user);
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
    if (netprof__add_part(np, source, user)) return netprof__no_memory(error);
    failed = netprof_rescan(np, error);
    if (failed) np->part_count--; /* it stays the caller's: its close() is not called */
    return failed;
}

/* >>9.2 snapshots

   A sweep consists of jobs, one for each device or for a whole source, which the calling thread and the workers
   share. */

static int netprof__same_alloc(const netprof_alloc *a, const netprof_alloc *b)
{
    return a->resize == b->resize && a->release == b->release && a->user == b->user;
}

/* Allocates one block: the 8-byte arrays first, then the bytes. */
static netprof_err netprof__snapshot_room(netprof_snapshot *s, const netprof_schema *schema, netprof_error *error)
{
    size_t n = schema->counter_count, d = schema->device_count;
    size_t bytes = n * (2 * sizeof(uint64_t) + 2) + d * 2 * sizeof(int64_t);
    const netprof_alloc *a = &netprof__schema_of(schema)->alloc;
    char *p;
    if (s->memory && s->schema->counter_count == n && s->schema->device_count == d &&
        netprof__same_alloc(a, &netprof__schema_of(s->schema)->alloc)) {
        netprof_schema_retain(schema);
        netprof_schema_release(s->schema);
        s->schema = schema;
        return NETPROF_OK;
    }
    p = (char *)netprof__resize(a, NULL, bytes);
    if (!p) return netprof__no_memory(error);
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

/* The same for a snapshot that holds the fast set and will hold it again. Values without a status are zero already;
   they are left alone, to spare the cache. */
static void netprof__snapshot_clear_read(netprof_snapshot *s)
{
    size_t n = s->schema->counter_count, d = s->schema->device_count, i, end;
    for (i = 0; i < n; i = end) {
        static const uint8_t none[8] = {0};
        end = n - i < 8 ? n : i + 8;
        if (!memcmp(s->status + i, none, end - i)) continue;
        for (; i < end; i++)
            if (s->status[i] != NETPROF_STATUS_SKIPPED) s->values[i] = 0, s->stamps_ns[i] = 0;
    }
    memset(s->device_begin_ns, 0, d * 2 * sizeof(int64_t) + n * 2); /* begins, ends, statuses and errnos */
    s->begin_ns = s->end_ns = s->wall_ns = s->stamp_error_ns = 0;
    s->not_ok = 0;
}

NETPROF_API netprof_err netprof_snapshot_make(netprof_snapshot *snapshot, const netprof_schema *schema,
                                              netprof_error *error)
{
    netprof_err failed;
    if (!snapshot || !schema) return netprof__fail(error, NETPROF_ERR_ARG, 0, NULL, "no snapshot or no schema");
    failed = netprof__snapshot_room(snapshot, schema, error);
    if (!failed) netprof__snapshot_clear(snapshot);
    return failed;
}

NETPROF_API netprof_err netprof_snapshot_copy(netprof_snapshot *to, const netprof_snapshot *from, netprof_error *error)
{
    size_t n, d;
    netprof_err failed;
    if (!to || !from || !from->schema) return netprof__fail(error, NETPROF_ERR_ARG, 0, NULL, "no snapshot");
    failed = netprof__snapshot_room(to, from->schema, error);
    if (failed) return failed;
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
    if (!s) return;
    if (s->schema) {
        netprof_alloc a = netprof__schema_of(s->schema)->alloc;
        netprof__release(&a, s->memory);
        netprof_schema_release(s->schema);
    }
    memset(s, 0, sizeof *s);
}

/* One sweep. A job is one device, or a whole source. */
typedef struct netprof__work {
    netprof *np;
    netprof_snapshot *snapshot;
    netprof_set set;
    size_t next, count; /* jobs */
} netprof__work;

/* How many jobs a sweep of the part has. */
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
    if (!part->counter_count) return;
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
    if (sweep.stale) __atomic_store_n(&part->stale, 1, __ATOMIC_RELAXED);
    if (part->source.flags & NETPROF_SOURCE_WHOLE) to = part->first_device + part->device_count;
    for (i = from; i < to; i++) {
        s->device_begin_ns[i] = begin;
        s->device_end_ns[i] = end;
    }
}

/* Does jobs until none is left. Runs in the calling thread and in each worker. */
static void *netprof__sweep_worker(void *argument)
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

/* If a worker cannot be started, the others do its work. */
static void netprof__run_workers(netprof__work *w, int threads)
{
#ifndef NETPROF_NO_THREADS
    pthread_t ids[64];
    int started = 0, i;
    while (started < threads - 1 && started < 64 && (size_t)started + 1 < w->count &&
           pthread_create(&ids[started], NULL, netprof__sweep_worker, w) == 0)
        started++;
    netprof__sweep_worker(w);
    for (i = 0; i < started; i++)
        pthread_join(ids[i], NULL);
#else
    (void)threads;
    netprof__sweep_worker(w);
#endif
}

/* Counts requested counters without a value, eight statuses at a time: OK is 1 and SKIPPED is 0, so any other bit means
   another status (the initial 2, for the last few counters, forces the loop). */
static uint32_t netprof__count_not_ok(const netprof_snapshot *s)
{
    size_t n = s->schema->counter_count, i, end;
    uint32_t bad = 0;
    uint64_t eight;
    for (i = 0; i < n; i = end) {
        end = n - i < 8 ? n : i + 8;
        eight = 2;
        if (end == i + 8) memcpy(&eight, s->status + i, 8);
        if (!(eight & ~UINT64_C(0x0101010101010101))) /* all eight OK or SKIPPED, as nearly always */
            continue;
        for (; i < end; i++)
            bad += s->status[i] != NETPROF_STATUS_OK && s->status[i] != NETPROF_STATUS_SKIPPED &&
                   s->status[i] != NETPROF_STATUS_SATURATED;
    }
    return bad;
}

/* Reads both clocks at the same instant; tries again if the process was interrupted in between (20 us). */
static void netprof__both_clocks(netprof_snapshot *s)
{
    int tries = 4;
    do {
        s->begin_ns = netprof__clock(CLOCK_MONOTONIC);
        s->wall_ns = netprof__clock(CLOCK_REALTIME);
    } while (--tries && netprof__clock(CLOCK_MONOTONIC) - s->begin_ns > 20000);
}

/* Reads all sources once. A fast snapshot of the same schema is reused with little clearing. */
static netprof_err netprof__sweep(netprof *np, netprof_snapshot *s, netprof_set set, netprof_error *error)
{
    netprof__work w;
    size_t i;
    int again = set == NETPROF_SET_FAST && s->memory && s->set == set && s->schema == np->schema;
    netprof_err failed = again ? NETPROF_OK : netprof_snapshot_make(s, np->schema, error);
    if (failed) return failed;
    if (again) netprof__snapshot_clear_read(s);
    memset(&w, 0, sizeof w);
    w.np = np;
    w.snapshot = s;
    w.set = set;
    for (i = 0; i < np->part_count; i++)
        w.count += netprof__jobs_of(&np->parts[i]);
    s->set = set;
    netprof__both_clocks(s);
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

static uint32_t netprof__count_vanished(const netprof_snapshot *s, const netprof__part *part)
{
    uint32_t n = 0;
    size_t i;
    for (i = part->first_counter; i < part->first_counter + part->counter_count; i++)
        n += s->status[i] == NETPROF_STATUS_VANISHED;
    return n;
}

/* True if something came or went during the sweep. A counter that is listed but can never be opened (a dangling link)
   causes one rescan, not one at every take. */
static int netprof__stale_after(netprof *np, const netprof_snapshot *s)
{
    size_t i;
    int stale = 0;
    for (i = 0; i < np->part_count; i++) {
        netprof__part *part = &np->parts[i];
        uint32_t n = part->stale ? netprof__count_vanished(s, part) : 0;
        if (n && n == part->missing[s->set]) part->stale = 0;
        part->missing[s->set] = n;
        stale |= part->stale;
    }
    return stale;
}

NETPROF_API netprof_err netprof_take(netprof *np, netprof_snapshot *snapshot, netprof_set set, netprof_error *error)
{
    const netprof_schema *before;
    netprof_err failed = NETPROF_OK;
    if (!np || !snapshot || (set != NETPROF_SET_ALL && set != NETPROF_SET_FAST))
        return netprof__fail(error, NETPROF_ERR_ARG, 0, NULL, "no context, no snapshot or no such set");
    if (np->torn || (!np->no_rescan && netprof__is_stale(np))) failed = netprof_rescan(np, error);
    if (!failed) failed = netprof__sweep(np, snapshot, set, error);
    if (failed || np->no_rescan || !netprof__stale_after(np, snapshot)) return failed;
    before = np->schema; /* something came or went during the sweep */
    failed = netprof_rescan(np, error);
    if (!failed && np->schema != before) failed = netprof__sweep(np, snapshot, set, error);
    return failed;
}

/* >>9.3 deltas */

#define NETPROF__NARROW 32 /* bits: a counter up to this width may wrap more than once in a run */

/* The most that a counter can count at the device's line rate, in the counter's unit; per_ms 0: unknown. */
typedef struct netprof__pace {
    uint64_t per_ms;
    int64_t elapsed_ns;
} netprof__pace;

/* The most that it can count in the elapsed time plus some milliseconds; saturates at UINT64_MAX. */
static uint64_t netprof__most_at_pace(const netprof__pace *pace, uint64_t more_ms)
{
    uint64_t ms = (uint64_t)pace->elapsed_ns / 1000000 + more_ms;
    return ms && pace->per_ms > UINT64_MAX / ms ? UINT64_MAX : pace->per_ms * ms;
}

/* A decrease of a narrow counter; step: what was counted if it wrapped once. */
static netprof_flag netprof__narrow_decrease(const netprof_counter *c, uint64_t step, uint64_t after,
                                             const netprof__pace *pace, uint64_t *value)
{
    uint64_t scale = c->scale ? c->scale : 1, mask = UINT64_MAX >> (64 - c->width), limit;
    *value = after;
    if (step > mask / 2) return NETPROF_FLAG_RESET;
    if (!pace->per_ms) {
        if (step > mask / 16) return NETPROF_FLAG_SUSPECT;
    } else {
        /* Drivers update their counters about once a second, hence a second more; and an eighth more, since rates are
           nominal. */
        limit = netprof__most_at_pace(pace, 1000);
        limit = limit > UINT64_MAX / 2 ? UINT64_MAX : limit + limit / 8;
        if (step > limit / scale) return NETPROF_FLAG_RESET;
        if (netprof__most_at_pace(pace, 0) / scale > mask) return NETPROF_FLAG_SUSPECT;
    }
    *value = step * scale;
    return NETPROF_FLAG_WRAPPED;
}

/* The difference of two values of a counter and its flag, by the rules at netprof_diff(). */
static netprof_flag netprof__counter_difference(const netprof_counter *c, uint64_t before, uint64_t after,
                                                const netprof__pace *pace, uint64_t *value)
{
    uint64_t scale = c->scale ? c->scale : 1, mask, step;
    int wraps = c->width && c->width <= 64 && !(c->flags & NETPROF_SATURATES);
    *value = 0;
    if (c->kind == NETPROF_KIND_GAUGE || c->kind == NETPROF_KIND_STATE) return NETPROF_FLAG_GAUGE;
    *value = after - before;
    if (c->flags & NETPROF_SIGNED) return NETPROF_FLAG_OK;
    mask = wraps ? UINT64_MAX >> (64 - c->width) : 0;
    if (after >= before)
        return wraps && c->width <= NETPROF__NARROW && *value && netprof__most_at_pace(pace, 0) / scale > mask
                   ? NETPROF_FLAG_SUSPECT
                   : NETPROF_FLAG_OK;
    *value = after;
    if (!wraps || before / scale > mask) return NETPROF_FLAG_RESET;
    step = (after / scale - before / scale) & mask;
    if (c->width <= NETPROF__NARROW) return netprof__narrow_decrease(c, step, after, pace, value);
    if (step > mask / 2) return NETPROF_FLAG_RESET;
    *value = step * scale; /* from the upper half of the range through zero */
    return NETPROF_FLAG_WRAPPED;
}

NETPROF_API netprof_flag netprof_difference(const netprof_counter *counter, uint64_t before, uint64_t after,
                                            uint64_t *value)
{
    const netprof__pace unknown = {0, 0};
    return netprof__counter_difference(counter, before, after, &unknown, value);
}

/* Line rate of a physical device from its facts, in bits per millisecond; 0 if unknown. The speed of a virtual device
   is made up. */
static uint64_t netprof__line_rate(const netprof_device *d)
{
    const char *mbps = netprof_fact_of(d->facts, d->fact_count, "speed_mbps");
    const char *rate = mbps ? mbps : netprof_fact_of(d->facts, d->fact_count, "rate"); /* "2.5 Gb/sec (1X SDR)" */
    uint64_t whole = 0, unit = mbps ? 1000 : 1000000;
    if (!rate || !(d->flags & NETPROF_DEVICE_PHYSICAL)) return 0;
    for (; netprof__is_digit(*rate) && whole < 1000000000; rate++)
        whole = 10 * whole + (uint64_t)(*rate - '0');
    whole *= unit;
    if (*rate == '.' && netprof__is_digit(rate[1])) whole += (uint64_t)(rate[1] - '0') * (unit / 10);
    return whole;
}

static netprof__pace netprof__pace_of(const netprof_counter *c, const netprof_device *before,
                                      const netprof_device *after, int64_t elapsed_ns)
{
    /* 25 bytes per packet is below the smallest packets there are: 27 bytes on Slingshot, 26 on InfiniBand. */
    int bytes = strcmp(c->unit, "bytes") == 0, packets = strcmp(c->unit, "packets") == 0;
    netprof__pace pace = {0, elapsed_ns};
    uint64_t x, y;
    if ((!bytes && !packets) || elapsed_ns <= 0) return pace;
    x = netprof__line_rate(before);
    y = netprof__line_rate(after);
    pace.per_ms = (x > y ? x : y) / (bytes ? 8 : 8 * 25);
    return pace;
}

static int netprof__has_value(uint8_t status)
{
    return status == NETPROF_STATUS_OK || status == NETPROF_STATUS_SATURATED;
}

/* Two snapshots to be compared. */
typedef struct netprof__pair {
    const netprof_snapshot *a, *b;
    int by_wall;           /* their monotonic clocks are unrelated (another boot, or none recorded) */
    int64_t clock_step_ns; /* how far CLOCK_REALTIME was set forward in between; 0 if unknown */
} netprof__pair;

/* CLOCK_REALTIME and CLOCK_MONOTONIC run at the same rate; a difference is a step. Below a millisecond it is the time
   between two calls. */
static int64_t netprof__clock_step(const netprof__pair *pair)
{
    const netprof_snapshot *a = pair->a, *b = pair->b;
    int64_t step;
    if (pair->by_wall || !a->wall_ns || !b->wall_ns) return 0;
    step = netprof__minus(netprof__minus(b->wall_ns, a->wall_ns), netprof__minus(b->begin_ns, a->begin_ns));
    return step > -1000000 && step < 1000000 ? 0 : step;
}

/* Errors cannot be negative, and their sum saturates. */
static int64_t netprof__sum_errors(int64_t x, int64_t y)
{
    if (x < 0) x = 0;
    if (y < 0) y = 0;
    return x > INT64_MAX - y ? INT64_MAX : x + y;
}

/* When a device was read: the middle of its reading, on the clock that both snapshots share. */
static int64_t netprof__read_at(const netprof_snapshot *s, uint32_t device, int by_wall)
{
    int64_t begin = s->device_begin_ns[device];
    int64_t at = netprof__plus(begin, netprof__minus(s->device_end_ns[device], begin) / 2);
    return by_wall ? netprof__plus(s->wall_ns, begin ? netprof__minus(at, s->begin_ns) : 0) : at;
}

/* Time between the two readings of a device. */
static int64_t netprof__device_elapsed(const netprof__pair *pair, uint32_t before, uint32_t after)
{
    return netprof__minus(netprof__read_at(pair->b, after, pair->by_wall),
                          netprof__read_at(pair->a, before, pair->by_wall));
}

/* Time between the two readings of a counter: by the device's own stamps if both have one, else by the devices'
   times. One that was not refreshed has the same stamp, but for what a file leaves off. */
static int64_t netprof__counter_elapsed(const netprof__pair *pair, size_t i, size_t k, int64_t of_device_ns)
{
    const netprof_snapshot *a = pair->a, *b = pair->b;
    int64_t apart_ns, error_ns = netprof__sum_errors(a->stamp_error_ns, b->stamp_error_ns);
    if (!a->stamps_ns[i] || !b->stamps_ns[k]) return of_device_ns;
    apart_ns = netprof__minus(b->stamps_ns[k], a->stamps_ns[i]);
    if (apart_ns <= error_ns && apart_ns >= -error_ns) return 0;
    return netprof__minus(apart_ns, pair->clock_step_ns);
}

/* The value and flag of row r, whose counter has a value in both snapshots. */
static void netprof__delta_value(netprof_delta *d, size_t r, const netprof__pair *pair, size_t i, size_t k,
                                 int recreated)
{
    const netprof_snapshot *a = pair->a, *b = pair->b;
    const netprof_counter *c = &b->schema->counters[k];
    netprof__pace pace = {0, 0};
    netprof_flag flag;
    if (c->width && c->width <= NETPROF__NARROW)
        pace = netprof__pace_of(c, &a->schema->devices[a->schema->counters[i].device], &b->schema->devices[c->device],
                                d->elapsed_ns[r]);
    flag = netprof__counter_difference(c, a->values[i], b->values[k], &pace, &d->values[r]);
    if (recreated && flag != NETPROF_FLAG_GAUGE) {
        flag = NETPROF_FLAG_RESET;
        d->values[r] = b->values[k];
    } else if (b->status[k] == NETPROF_STATUS_SATURATED && flag != NETPROF_FLAG_GAUGE) {
        flag = NETPROF_FLAG_SUSPECT;
    }
    d->flags[r] = (uint8_t)flag;
}

/* Fills in row r of the delta. i, k: indices in a and b, or NETPROF_NONE. of_device_ns is valid if neither is NONE. */
static void netprof__delta_row(netprof_delta *d, size_t r, const netprof__pair *pair, size_t i, size_t k,
                               int64_t of_device_ns, int recreated)
{
    const netprof_snapshot *a = pair->a, *b = pair->b;
    int was = i != NETPROF_NONE, is = k != NETPROF_NONE;
    d->before_status[r] = was ? a->status[i] : (uint8_t)NETPROF_STATUS_SKIPPED;
    d->after_status[r] = is ? b->status[k] : (uint8_t)NETPROF_STATUS_SKIPPED;
    d->before[r] = was ? a->values[i] : 0;
    d->after[r] = is ? b->values[k] : 0;
    d->values[r] = 0;
    d->elapsed_ns[r] = 0;
    d->flags[r] = (uint8_t)(was == is ? NETPROF_FLAG_UNKNOWN : is ? NETPROF_FLAG_NEW : NETPROF_FLAG_GONE);
    if (!was || !is || !d->before_status[r] || !d->after_status[r]) return; /* 0: not requested */
    d->elapsed_ns[r] = netprof__counter_elapsed(pair, i, k, of_device_ns);
    if (netprof__has_value(a->status[i]) && netprof__has_value(b->status[k]))
        netprof__delta_value(d, r, pair, i, k, recreated);
}

static netprof_err netprof__delta_room(netprof_delta *d, const netprof_schema *schema, netprof_error *error)
{
    size_t n = schema->counter_count, m = schema->device_count;
    const netprof_alloc *a = &netprof__schema_of(schema)->alloc;
    char *p = (char *)d->memory;
    if (p && d->schema && d->schema->counter_count == n && d->schema->device_count == m &&
        netprof__same_alloc(a, &netprof__schema_of(d->schema)->alloc)) {
        netprof_schema_retain(schema);
        netprof_schema_release(d->schema);
    } else {
        p = (char *)netprof__resize(a, NULL, n * (4 * sizeof(uint64_t) + 3) + 2 * m * sizeof(size_t));
        if (!p) return netprof__no_memory(error);
        netprof_delta_free(d);
        netprof_schema_retain(schema);
    }
    d->schema = schema;
    d->memory = p;
    d->before = (uint64_t *)(void *)p;
    d->after = d->before + n;
    d->values = d->after + n;
    d->elapsed_ns = (int64_t *)(void *)(d->values + n);
    d->device_before = (size_t *)(void *)(d->elapsed_ns + n);
    d->device_after = d->device_before + m;
    d->flags = (uint8_t *)(d->device_after + m);
    d->before_status = d->flags + n;
    d->after_status = d->before_status + n;
    return NETPROF_OK;
}

NETPROF_API void netprof_delta_free(netprof_delta *d)
{
    if (!d) return;
    if (d->schema) {
        netprof_alloc a = netprof__schema_of(d->schema)->alloc;
        netprof__release(&a, d->memory);
        netprof_schema_release(d->schema);
    }
    memset(d, 0, sizeof *d);
}

/* >>9.3.1 which device is which */

/* Two schemas whose devices are matched, and what tells devices apart in both. */
typedef struct netprof__match {
    const netprof_schema *from, *to;
    int same_host;   /* not two hosts: hardware keeps its address */
    int same_kernel; /* neither two boots nor two network namespaces: an ifindex means the same link */
} netprof__match;

/* True if both have the fact, with different values. */
static int netprof__facts_differ(const netprof_schema *a, const netprof_schema *b, const char *key, char *text,
                                 size_t size)
{
    const char *x = netprof_fact_of(a->facts, a->fact_count, key);
    const char *y = netprof_fact_of(b->facts, b->fact_count, key);
    if (!x || !y || strcmp(x, y) == 0) return 0;
    if (text) snprintf(text, size, "%s differs: %.60s and %.60s", key, x, y);
    return 1;
}

static netprof__match netprof__match_of(const netprof_schema *from, const netprof_schema *to)
{
    netprof__match m;
    m.from = from;
    m.to = to;
    m.same_host = !netprof__facts_differ(from, to, "host", NULL, 0);
    m.same_kernel = m.same_host && !netprof__facts_differ(from, to, "boot_id", NULL, 0) &&
                    !netprof__facts_differ(from, to, "netns", NULL, 0);
    return m;
}

static const char *netprof__device_fact(const netprof_device *d, const char *key)
{
    return netprof_fact_of(d->facts, d->fact_count, key);
}

/* The address of the device on its bus, or NULL. "bus" is ethtool's: "virtio0", "N/A" and the like are none. */
static const char *netprof__bus_address(const netprof_device *d)
{
    const char *pci = netprof__device_fact(d, "pci"), *bus = pci ? NULL : netprof__device_fact(d, "bus");
    return pci ? pci : bus && strchr(bus, ':') ? bus : NULL;
}

/* The devices of these sources are links, and their identity is the ifindex. */
static int netprof__is_link(const netprof_device *d)
{
    return d->identity && (strcmp(d->source, "netdev") == 0 || strcmp(d->source, "ethtool") == 0);
}

/* Which port of its adapter: of "mlx5_0/1" the number, of a link the port's name; "" if it has none. */
static const char *netprof__port_of(const netprof_device *d)
{
    const char *slash = strrchr(d->name, '/'), *name = slash ? slash + 1 : netprof__device_fact(d, "port_name");
    return name ? name : "";
}

static int netprof__texts_equal(const char *x, const char *y)
{
    return x && y && strcmp(x, y) == 0;
}

/* Compares two devices of the same source: 1 the same hardware or link, -1 another one, 0 not known. */
static int netprof__same_thing(const netprof__match *m, const netprof_device *a, const netprof_device *b)
{
    const char *x = netprof__bus_address(a), *y = netprof__bus_address(b);
    int same_link = m->same_kernel && netprof__is_link(a) && a->identity == b->identity;
    if (!m->same_host) return 0;
    if (!x || !y) {
        if (same_link) return 1;
        x = netprof__device_fact(a, "node_guid");
        y = netprof__device_fact(b, "node_guid");
    }
    if (!x || !y) return 0;
    return strcmp(x, y) == 0 && strcmp(netprof__port_of(a), netprof__port_of(b)) == 0 ? 1 : -1;
}

/* Finds the device of `other` that is the same hardware or link as d, which is of the schema on the other side. Where
   several share an address (the ports of some adapters), the ifindex decides, then the MAC address, then the name;
   NETPROF_NONE if that leaves two. */
static size_t netprof__kin(const netprof__match *m, const netprof_schema *other, const netprof_device *d)
{
    size_t i, best = NETPROF_NONE;
    int most = -1, tie = 0;
    if (!netprof__bus_address(d) && !netprof__is_link(d) && !netprof__device_fact(d, "node_guid")) return NETPROF_NONE;
    for (i = 0; i < other->device_count; i++) {
        const netprof_device *o = &other->devices[i];
        int score;
        if (strcmp(o->source, d->source) != 0 || netprof__same_thing(m, o, d) != 1) continue;
        score = (m->same_kernel && o->identity == d->identity) * 4 +
                netprof__texts_equal(netprof__device_fact(o, "mac"), netprof__device_fact(d, "mac")) * 2 +
                (strcmp(o->name, d->name) == 0);
        if (score >= most) {
            tie = score == most;
            most = score;
            best = i;
        }
    }
    return tie ? NETPROF_NONE : best;
}

/* Finds the device with the same source and name in a schema. */
static size_t netprof__namesake(const netprof_schema *schema, const netprof_device *d, size_t hint)
{
    size_t i;
    for (i = 0; i < schema->device_count; i++) {
        size_t k = (hint + i) % schema->device_count;
        if (strcmp(schema->devices[k].name, d->name) == 0 && strcmp(schema->devices[k].source, d->source) == 0)
            return k;
    }
    return NETPROF_NONE;
}

/* A link that was made anew, as one of another sort: a veth now has the name of a card. */
static int netprof__other_sort(const netprof_device *a, const netprof_device *b)
{
    const char *x = netprof__device_fact(a, "kind"), *y = netprof__device_fact(b, "kind");
    if (!netprof__is_link(a) || !netprof__is_link(b) || a->identity == b->identity) return 0;
    return ((a->flags ^ b->flags) & NETPROF_DEVICE_PHYSICAL) || (x && y && strcmp(x, y) != 0);
}

/* The device of `from` that device i of `to` was, or NETPROF_NONE. */
static size_t netprof__twin_of(const netprof__match *m, size_t i)
{
    const netprof_device *d = &m->to->devices[i], *named;
    size_t name = netprof__namesake(m->from, d, i), kin, back;
    int thing;
    named = name == NETPROF_NONE ? NULL : &m->from->devices[name];
    thing = named ? netprof__same_thing(m, named, d) : -1;
    if (named && named->identity == d->identity && (thing > 0 || (thing == 0 && d->identity)))
        return name; /* nearly always */
    kin = netprof__kin(m, m->from, d);
    if (kin != NETPROF_NONE && netprof__kin(m, m->to, &m->from->devices[kin]) == i) return kin;
    if (thing < 0 || netprof__other_sort(named, d)) return NETPROF_NONE;
    back = netprof__kin(m, m->to, named);
    return back == NETPROF_NONE || back == i ? name : NETPROF_NONE;
}

/* twins[i]: the index in before->devices of what after->devices[i] was, or NETPROF_NONE. */
static void netprof__match_devices(const netprof_schema *before, const netprof_schema *after, size_t *twins)
{
    netprof__match m = netprof__match_of(before, after);
    size_t i;
    for (i = 0; i < after->device_count; i++)
        twins[i] = before == after ? i : netprof__twin_of(&m, i);
}

/* Finds a counter of the twin device. The search starts after the last hit, so that equal orders cost nothing. */
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

/* >>9.3.2 joining two schemas */

/* Where a device of the joined schema is in the two schemas, or NETPROF_NONE. */
typedef struct netprof__joint {
    size_t from, to;
} netprof__joint;

typedef struct netprof__join {
    const netprof_schema *from, *to;
    netprof_list *list;
    size_t *twins;          /* [to->device_count] */
    netprof__joint *joints; /* of the devices of the joined schema, in its order */
    size_t count;
    uint8_t *claimed; /* [from->device_count]: it is the twin of one */
    void *memory;
} netprof__join;

static int netprof__join_room(netprof__join *j, const netprof_alloc *a)
{
    size_t m = j->from->device_count, n = j->to->device_count, i;
    j->memory = netprof__resize(a, NULL, (m + n) * sizeof *j->joints + n * sizeof *j->twins + m);
    if (!j->memory) return 0;
    j->joints = (netprof__joint *)j->memory;
    j->twins = (size_t *)(void *)(j->joints + m + n);
    j->claimed = (uint8_t *)(void *)(j->twins + n);
    memset(j->claimed, 0, m);
    netprof__match_devices(j->from, j->to, j->twins);
    for (i = 0; i < n; i++)
        if (j->twins[i] != NETPROF_NONE) j->claimed[j->twins[i]] = 1;
    return 1;
}

static void netprof__join_device(netprof__join *j, const netprof_schema *s, const netprof_device *d, size_t from,
                                 size_t to)
{
    netprof__joint joint;
    size_t i;
    joint.from = from;
    joint.to = to;
    j->joints[j->count++] = joint;
    netprof_list_device(j->list, d->name, d->identity, d->flags);
    for (i = 0; i < d->fact_count; i++)
        netprof_list_fact(j->list, d->facts[i].key, d->facts[i].value);
    for (i = d->first; i < (size_t)d->first + d->count; i++)
        netprof_list_counter(j->list, &s->counters[i]);
}

/* Lists a device of the second schema, and behind its own counters those that only the first has. */
static void netprof__join_both(netprof__join *j, size_t to)
{
    const netprof_device *d = &j->to->devices[to], *twin;
    size_t i, hint = 0;
    netprof__join_device(j, j->to, d, j->twins[to], to);
    if (j->twins[to] == NETPROF_NONE) return;
    twin = &j->from->devices[j->twins[to]];
    for (i = twin->first; i < (size_t)twin->first + twin->count; i++)
        if (netprof__twin_counter(j->to, d, j->from->counters[i].name, &hint) == NETPROF_NONE)
            netprof_list_counter(j->list, &j->from->counters[i]);
}

/* True if a source of this name is among the rows before `end`. */
static int netprof__has_source(const netprof_schema *s, size_t end, const char *name)
{
    size_t i;
    for (i = 0; i < end; i++)
        if (strcmp(s->sources[i].name, name) == 0) return 1;
    return 0;
}

static void netprof__join_source(netprof__join *j, const netprof_source_state *source)
{
    netprof_build_source(j->list, source->name);
    netprof_list_state(j->list, source->status, source->sys_errno, source->path);
}

/* Lists the devices of a source that only the first snapshot has. */
static void netprof__join_gone(netprof__join *j, const char *source)
{
    size_t i;
    for (i = 0; i < j->from->device_count; i++)
        if (!j->claimed[i] && strcmp(j->from->devices[i].source, source) == 0)
            netprof__join_device(j, j->from, &j->from->devices[i], i, NETPROF_NONE);
}

/* Joins the schema of the second snapshot with what only the first has. A source's state is taken from the second if it
   has the source, else from the first. */
static netprof_err netprof__join_schemas(netprof__join *j, const netprof_schema **out, netprof_error *error)
{
    const netprof_schema *from = j->from, *to = j->to;
    size_t i, s, next = 0;
    j->list = netprof__list_make(&netprof__schema_of(to)->alloc);
    if (!j->list) return netprof__no_memory(error);
    for (i = 0; i < to->fact_count; i++)
        netprof_build_fact(j->list, to->facts[i].key, to->facts[i].value);
    for (s = 0; s < to->source_count; s++) {
        netprof__join_source(j, &to->sources[s]);
        for (i = next, next += to->sources[s].device_count; i < next && i < to->device_count; i++)
            netprof__join_both(j, i);
        if (!netprof__has_source(to, s, to->sources[s].name)) netprof__join_gone(j, to->sources[s].name);
    }
    for (s = 0; s < from->source_count; s++) {
        const char *name = from->sources[s].name;
        if (netprof__has_source(to, to->source_count, name) || netprof__has_source(from, s, name)) continue;
        netprof__join_source(j, &from->sources[s]);
        netprof__join_gone(j, name);
    }
    return netprof_build_end(j->list, out, error);
}

/* >>9.3.3 comparing two snapshots */

static void netprof__delta_times(netprof_delta *d, const netprof__pair *pair)
{
    const netprof_snapshot *a = pair->a, *b = pair->b;
    int64_t x = netprof__minus(a->end_ns, a->begin_ns), y = netprof__minus(b->end_ns, b->begin_ns);
    d->wall_begin_ns = a->wall_ns;
    d->wall_end_ns = b->wall_ns;
    d->interval_ns = pair->by_wall ? netprof__minus(b->wall_ns, a->wall_ns) : netprof__minus(b->begin_ns, a->begin_ns);
    d->sweep_ns = x > y ? x : y;
    d->stamp_error_ns = netprof__sum_errors(a->stamp_error_ns, b->stamp_error_ns);
}

/* The rows, if both snapshots have the same layout. */
static void netprof__delta_alike(netprof_delta *d, const netprof__pair *pair)
{
    const netprof_schema *schema = d->schema;
    size_t i, k;
    for (i = 0; i < schema->device_count; i++) {
        int64_t elapsed_ns = netprof__device_elapsed(pair, (uint32_t)i, (uint32_t)i);
        d->device_before[i] = d->device_after[i] = i;
        for (k = schema->devices[i].first; k < (size_t)schema->devices[i].first + schema->devices[i].count; k++)
            netprof__delta_row(d, k, pair, k, k, elapsed_ns, 0);
    }
}

/* The rows of one device of the joined schema. */
static void netprof__delta_device(netprof_delta *d, const netprof__pair *pair, const netprof_device *joined,
                                  const netprof__joint *joint)
{
    const netprof_schema *from = pair->a->schema, *to = pair->b->schema;
    const netprof_device *a = joint->from == NETPROF_NONE ? NULL : &from->devices[joint->from];
    const netprof_device *b = joint->to == NETPROF_NONE ? NULL : &to->devices[joint->to];
    int both = a && b, recreated = both && a->identity && b->identity && a->identity != b->identity;
    int64_t elapsed_ns = both ? netprof__device_elapsed(pair, (uint32_t)joint->from, (uint32_t)joint->to) : 0;
    size_t r = joined->first, k, hint = 0;
    for (k = 0; b && k < b->count; k++) {
        size_t in_b = b->first + k;
        size_t in_a = a ? netprof__twin_counter(from, a, to->counters[in_b].name, &hint) : NETPROF_NONE;
        netprof__delta_row(d, r++, pair, in_a, in_b, elapsed_ns, recreated);
    }
    hint = 0;
    for (k = 0; a && k < a->count; k++)
        if (!b || netprof__twin_counter(to, b, from->counters[a->first + k].name, &hint) == NETPROF_NONE)
            netprof__delta_row(d, r++, pair, a->first + k, NETPROF_NONE, elapsed_ns, recreated);
}

static netprof_err netprof__diff_different(const netprof__pair *pair, netprof_delta *d, netprof_error *error)
{
    const netprof_alloc *alloc = &netprof__schema_of(pair->b->schema)->alloc;
    const netprof_schema *joined = NULL;
    netprof_err failed;
    netprof__join j;
    size_t i;
    memset(&j, 0, sizeof j);
    j.from = pair->a->schema;
    j.to = pair->b->schema;
    if (!netprof__join_room(&j, alloc)) return netprof__no_memory(error);
    failed = netprof__join_schemas(&j, &joined, error);
    if (!failed) failed = netprof__delta_room(d, joined, error);
    for (i = 0; !failed && i < j.count; i++) {
        d->device_before[i] = j.joints[i].from;
        d->device_after[i] = j.joints[i].to;
        netprof__delta_device(d, pair, &joined->devices[i], &j.joints[i]);
    }
    netprof_schema_release(joined);
    netprof__release(alloc, j.memory);
    return failed;
}

/* True if values of one fit the other, and no name belongs to another device by now. */
static int netprof__same_devices(const netprof_schema *a, const netprof_schema *b)
{
    netprof__match m;
    size_t i;
    if (a == b) return 1;
    if (!netprof__same_layout(a, b)) return 0;
    m = netprof__match_of(a, b);
    for (i = 0; i < a->device_count; i++)
        if (netprof__same_thing(&m, &a->devices[i], &b->devices[i]) < 0) return 0;
    return 1;
}

/* Returns 1 if both are of one boot, 0 if of two boots or hosts, -1 if unknown. text: what differs. */
static int netprof__same_boot(const netprof_schema *a, const netprof_schema *b, char *text, size_t size)
{
    if (a != b &&
        (netprof__facts_differ(a, b, "host", text, size) || netprof__facts_differ(a, b, "boot_id", text, size)))
        return 0;
    return netprof_fact_of(a->facts, a->fact_count, "boot_id") && netprof_fact_of(b->facts, b->fact_count, "boot_id")
               ? 1
               : -1;
}

/* Chooses the clock of a pair: CLOCK_MONOTONIC if both have it and it is the same one. Returns by how much the second
   snapshot was taken before the first, or 0. */
static int64_t netprof__choose_clock(netprof__pair *pair, int same_boot)
{
    const netprof_snapshot *a = pair->a, *b = pair->b;
    int64_t wall = a->wall_ns && b->wall_ns ? netprof__minus(b->wall_ns, a->wall_ns) : 0;
    int64_t elapsed = netprof__minus(b->begin_ns, a->begin_ns);
    pair->by_wall = !same_boot || !a->begin_ns || !b->begin_ns;
    if (!same_boot) return 0;
    if (pair->by_wall) return wall < 0 ? netprof__minus(0, wall) : 0;
    if (elapsed >= 0) return 0;
    /* The clocks contradict each other: another boot, or a container with a clock of its own. */
    pair->by_wall = wall > 0;
    return same_boot > 0 || wall <= 0 ? netprof__minus(0, elapsed) : 0;
}

/* Checks that the two may be compared, and sets the rest of the pair. */
static netprof_err netprof__may_compare(netprof__pair *pair, int force, netprof_error *error)
{
    char text[160];
    int same_boot = netprof__same_boot(pair->a->schema, pair->b->schema, text, sizeof text);
    int64_t back_ns = netprof__choose_clock(pair, same_boot);
    pair->clock_step_ns = netprof__clock_step(pair);
    if (force || (same_boot && back_ns == 0)) return NETPROF_OK;
    if (same_boot)
        snprintf(text, sizeof text, "given in the wrong order: the second was read %.3f s before the first",
                 (double)back_ns / 1e9);
    return netprof__fail(error, NETPROF_ERR_MISMATCH, 0, NULL, text);
}

NETPROF_API netprof_err netprof_diff(const netprof_snapshot *before, const netprof_snapshot *after,
                                     const netprof_diff_options *options, netprof_delta *delta, netprof_error *error)
{
    netprof__pair pair;
    netprof_err failed;
    if (!before || !after || !delta || !before->schema || !after->schema || (options && options->end_zero))
        return netprof__fail(error, NETPROF_ERR_ARG, 0, NULL, "two snapshots and a delta are needed");
    pair.a = before;
    pair.b = after;
    failed = netprof__may_compare(&pair, options && options->force, error);
    if (failed) return failed;
    if (netprof__same_devices(before->schema, after->schema)) {
        failed = netprof__delta_room(delta, after->schema, error);
        if (!failed) netprof__delta_alike(delta, &pair);
    } else {
        failed = netprof__diff_different(&pair, delta, error);
    }
    if (!failed) netprof__delta_times(delta, &pair);
    return failed;
}

#endif /* NETPROF_REGIONS_ONLY */

/* >>9.4 statistics of regions, as callers and readers get them */

NETPROF_API uint64_t netprof_histogram_floor_ns(unsigned bucket)
{
    if (bucket < 8) return bucket;
    if (bucket >= NETPROF_HISTOGRAM_BUCKETS) return UINT64_MAX;
    return (uint64_t)(8 + bucket % 8) << (bucket / 8 - 1);
}

NETPROF_API void netprof_regions_free(netprof_regions *r)
{
    netprof_alloc a = netprof__alloc_or_default(NULL);
    if (!r) return;
    netprof__release(&a, r->memory);
    netprof__release(&a, r->values_memory);
#ifndef NETPROF_REGIONS_ONLY
    netprof_schema_release(r->schema);
#endif
    memset(r, 0, sizeof *r);
}

NETPROF_API int64_t netprof_value_floor(unsigned bucket)
{
    if (!bucket) return INT64_MIN;
    return bucket < NETPROF_VALUE_BUCKETS ? (int64_t)1 << (bucket - 1) : INT64_MAX;
}

/* Allocates a block for so many values, and `text` bytes for names; value_count stays 0. */
static netprof_err netprof__values_room(netprof_regions *r, size_t count, size_t text, char **names,
                                        netprof_error *error)
{
    netprof_alloc a = netprof__alloc_or_default(NULL);
    size_t one = sizeof(netprof_value_stat) + 2 * NETPROF_VALUE_BUCKETS * sizeof(uint64_t), i;
    uint64_t *buckets;
    if (!count) return NETPROF_OK;
    if (count > (SIZE_MAX / 2) / one) return netprof__no_memory(error);
    r->values_memory = netprof__zalloc(&a, count * one + text);
    if (!r->values_memory) return netprof__no_memory(error);
    r->values = (netprof_value_stat *)r->values_memory;
    buckets = (uint64_t *)(void *)(r->values + count);
    for (i = 0; i < count; i++) {
        r->values[i].counts = buckets + 2 * i * NETPROF_VALUE_BUCKETS;
        r->values[i].times_ns = r->values[i].counts + NETPROF_VALUE_BUCKETS;
    }
    if (names) *names = (char *)(buckets + 2 * count * NETPROF_VALUE_BUCKETS);
    return NETPROF_OK;
}

/* Allocates one block: stats, counter sums, histograms, counter indices, and `text` bytes for names. */
static netprof_err netprof__regions_room(netprof_regions *r, size_t stats, size_t counters, size_t text, char **names,
                                         netprof_error *error)
{
    netprof_alloc a = netprof__alloc_or_default(NULL);
    size_t one = sizeof(netprof_stat) + counters * sizeof(uint64_t) + NETPROF_HISTOGRAM_BUCKETS * sizeof(uint64_t), i;
    uint64_t *sums, *buckets;
    char *p;
    memset(r, 0, sizeof *r);
    if (stats > (SIZE_MAX / 2) / one) return netprof__no_memory(error);
    p = (char *)netprof__zalloc(&a, stats * one + counters * sizeof(uint32_t) + text + 1);
    if (!p) return netprof__no_memory(error);
    r->memory = p;
    r->stats = (netprof_stat *)(void *)p;
    r->count = stats;
    sums = (uint64_t *)(void *)(p + stats * sizeof(netprof_stat));
    buckets = sums + stats * counters;
    for (i = 0; i < stats; i++) {
        r->stats[i].counter_sums = counters ? sums + i * counters : NULL;
        r->stats[i].histogram = buckets + i * NETPROF_HISTOGRAM_BUCKETS;
    }
    r->counters = (uint32_t *)(void *)(buckets + stats * NETPROF_HISTOGRAM_BUCKETS);
    r->counter_count = counters;
    *names = (char *)(uintptr_t)(r->counters + counters);
    return NETPROF_OK;
}

#ifndef NETPROF_REGIONS_ONLY
/* >>9.5 totals, one counter's change, a meter */

enum { NETPROF__RX_BYTES, NETPROF__TX_BYTES, NETPROF__RX_PACKETS, NETPROF__TX_PACKETS, NETPROF__ERRORS, NETPROF__SUMS };

/* The counters that make up the sums of a port. Of several that count the same the largest is taken: the 32-bit ones of
   an adapter stand beside those of 64 bits. Where parts is not 0 they are added, and it is how many there are. */
static const struct netprof__summand {
    const char *source, *counter; /* may have one '*' at its end */
    unsigned char sum, parts;
} netprof__summands[] = {{"cxi", "hni_sts_rx_ok_octets", NETPROF__RX_BYTES, 0},
                         {"cxi", "hni_sts_tx_ok_octets", NETPROF__TX_BYTES, 0},
                         {"cxi", "hni_rx_ok_*", NETPROF__RX_PACKETS, 12}, /* by size of the frame */
                         {"cxi", "hni_tx_ok_*", NETPROF__TX_PACKETS, 12},
                         {"cxi", "hni_pcs_uncorrected_cw", NETPROF__ERRORS, 1},
                         {"cxi", "hni_discard_cntr_*", NETPROF__ERRORS, 1},
                         {"netdev", "rx_bytes", NETPROF__RX_BYTES, 0},
                         {"netdev", "tx_bytes", NETPROF__TX_BYTES, 0},
                         {"netdev", "rx_packets", NETPROF__RX_PACKETS, 0},
                         {"netdev", "tx_packets", NETPROF__TX_PACKETS, 0},
                         {"netdev", "rx_errors", NETPROF__ERRORS, 1},
                         {"netdev", "tx_errors", NETPROF__ERRORS, 1},
                         {"netdev", "rx_dropped", NETPROF__ERRORS, 1},
                         {"netdev", "tx_dropped", NETPROF__ERRORS, 1},
                         {"rdma", "port_rcv_data", NETPROF__RX_BYTES, 0},
                         {"rdma", "port_xmit_data", NETPROF__TX_BYTES, 0},
                         {"rdma", "port_rcv_data_64", NETPROF__RX_BYTES, 0},
                         {"rdma", "port_xmit_data_64", NETPROF__TX_BYTES, 0},
                         {"rdma", "rx_bytes", NETPROF__RX_BYTES, 0},
                         {"rdma", "tx_bytes", NETPROF__TX_BYTES, 0},
                         {"rdma", "port_rcv_packets", NETPROF__RX_PACKETS, 0},
                         {"rdma", "port_xmit_packets", NETPROF__TX_PACKETS, 0},
                         {"rdma", "rx_pkts", NETPROF__RX_PACKETS, 0},
                         {"rdma", "tx_pkts", NETPROF__TX_PACKETS, 0},
                         {"rdma", "port_rcv_errors", NETPROF__ERRORS, 1},
                         {"rdma", "port_xmit_discards", NETPROF__ERRORS, 1}};

/* Of several parts each has a number: hni_rx_ok_64 is one, hni_rx_ok_ieee, which counts the same frames, is none. */
static int netprof__is_summand(const struct netprof__summand *s, const char *name)
{
    return netprof__matches_pattern(s->counter, name) &&
           (s->parts < 2 || netprof__is_digit(name[strlen(s->counter) - 1]));
}

typedef struct netprof__sum {
    uint64_t value;
    double per_s;
    unsigned there, found, parts; /* counters of this sum; those with a difference; how many a whole sum has */
    int lower_bound;
} netprof__sum;

static double netprof__seconds_of(const netprof_delta *d, size_t i)
{
    int64_t ns = d->elapsed_ns[i] > 0 ? d->elapsed_ns[i] : d->interval_ns;
    return ns > 0 ? (double)ns * 1e-9 : 0;
}

static double netprof__per_s(uint64_t value, double seconds)
{
    return seconds > 0 ? (double)value / seconds : 0;
}

static void netprof__sum_add(netprof__sum *s, const netprof_delta *d, size_t i, unsigned parts)
{
    int bound = d->flags[i] == NETPROF_FLAG_RESET || d->flags[i] == NETPROF_FLAG_SUSPECT;
    s->there++;
    s->parts = parts;
    if (d->flags[i] != NETPROF_FLAG_OK && d->flags[i] != NETPROF_FLAG_WRAPPED && !bound) return;
    s->found++;
    if (!parts && s->found > 1 && d->values[i] < s->value) return;
    s->lower_bound = (parts && s->lower_bound) || bound;
    s->value = (parts ? s->value : 0) + d->values[i];
    s->per_s = (parts ? s->per_s : 0) + netprof__per_s(d->values[i], netprof__seconds_of(d, i));
}

/* The counters of a device must be asked for, or their absence says nothing. */
static int netprof__is_skipped(const netprof_delta *d, size_t i)
{
    return d->flags[i] == NETPROF_FLAG_UNKNOWN &&
           (d->before_status[i] == NETPROF_STATUS_SKIPPED || d->after_status[i] == NETPROF_STATUS_SKIPPED);
}

static int netprof__sum_is_known(const netprof__sum *s)
{
    return s->found && s->found >= (s->parts > 1 ? s->parts : 1);
}

static void netprof__sums_of(const netprof_delta *d, const netprof_device *device, netprof__sum *sums)
{
    size_t i, k;
    memset(sums, 0, NETPROF__SUMS * sizeof *sums);
    for (k = 0; k < sizeof netprof__summands / sizeof *netprof__summands; k++) {
        const struct netprof__summand *s = &netprof__summands[k];
        if (strcmp(s->source, device->source) != 0) continue;
        for (i = device->first; i < (size_t)device->first + device->count; i++)
            if (netprof__is_summand(s, d->schema->counters[i].name) && !netprof__is_skipped(d, i))
                netprof__sum_add(&sums[s->sum], d, i, s->parts);
    }
}

static int netprof__fact_is(const netprof_device *d, const char *key, const char *value)
{
    const char *given = netprof_fact_of(d->facts, d->fact_count, key);
    return given && strcmp(given, value) == 0;
}

/* True if the first device counts all that the second one counts. RoCE is not in the counts of its link. */
static int netprof__counts_all_of(const netprof_device *all, const netprof_device *part)
{
    if (strcmp(all->source, "cxi") == 0)
        return strcmp(part->source, "cxi") != 0 && netprof__fact_is(all, "netdev", part->name);
    return strcmp(all->source, "rdma") == 0 && strcmp(part->source, "netdev") == 0 &&
           netprof__fact_is(all, "link_layer", "InfiniBand") && netprof__fact_is(all, "netdev", part->name);
}

/* True if a glob of the list matches the name. */
static int netprof__list_has(const char *list, const char *name)
{
    char pattern[256];
    while (*list) {
        size_t n = 0;
        for (; *list && *list != ','; list++) {
            if (*list == '\\' && list[1] == ',') list++;
            if (n + 1 < sizeof pattern) pattern[n++] = *list;
        }
        pattern[n] = 0;
        if (*list) list++;
        if (fnmatch(pattern, name, 0) == 0) return 1;
    }
    return 0;
}

static int netprof__is_chosen(const netprof_device *d, const char *devices)
{
    return devices ? netprof__list_has(devices, d->name) : (d->flags & NETPROF_DEVICE_PHYSICAL) != 0;
}

/* Its traffic is in the counts of another device that is chosen and was read. */
static int netprof__is_counted_by_another(const netprof_delta *d, size_t device, const char *devices)
{
    const netprof_device *all = d->schema->devices;
    netprof__sum sums[NETPROF__SUMS];
    size_t i;
    for (i = 0; i < d->schema->device_count; i++) {
        if (i == device || !netprof__is_chosen(&all[i], devices) || !netprof__counts_all_of(&all[i], &all[device]))
            continue;
        netprof__sums_of(d, &all[i], sums);
        if (netprof__sum_is_known(&sums[NETPROF__RX_BYTES])) return 1;
    }
    return 0;
}

static void netprof__total_add(netprof_total *t, const netprof__sum *sums)
{
    uint64_t *values[NETPROF__SUMS];
    double *rates[NETPROF__SUMS];
    int i, unknown = 0, any = 0;
    values[NETPROF__RX_BYTES] = &t->rx_bytes;
    values[NETPROF__TX_BYTES] = &t->tx_bytes;
    values[NETPROF__RX_PACKETS] = &t->rx_packets;
    values[NETPROF__TX_PACKETS] = &t->tx_packets;
    values[NETPROF__ERRORS] = &t->errors;
    rates[NETPROF__RX_BYTES] = &t->rx_bytes_per_s;
    rates[NETPROF__TX_BYTES] = &t->tx_bytes_per_s;
    rates[NETPROF__RX_PACKETS] = &t->rx_packets_per_s;
    rates[NETPROF__TX_PACKETS] = &t->tx_packets_per_s;
    rates[NETPROF__ERRORS] = NULL;
    for (i = 0; i < NETPROF__SUMS; i++) {
        if (!sums[i].there) continue;
        if (netprof__sum_is_known(&sums[i])) {
            *values[i] += sums[i].value;
            if (rates[i]) *rates[i] += sums[i].per_s;
            t->lower_bound |= sums[i].lower_bound;
            any |= i != NETPROF__ERRORS;
        } else {
            unknown = 1;
        }
    }
    t->devices += (size_t)any;
    t->unknown += (size_t)unknown;
    t->lower_bound |= unknown;
}

NETPROF_API netprof_total netprof_totals(const netprof_delta *delta, const char *devices)
{
    netprof_total t = NETPROF_ZERO;
    netprof__sum sums[NETPROF__SUMS];
    size_t i;
    if (!delta || !delta->schema) return t;
    t.seconds = delta->interval_ns > 0 ? (double)delta->interval_ns * 1e-9 : 0;
    for (i = 0; i < delta->schema->device_count; i++) {
        if (!netprof__is_chosen(&delta->schema->devices[i], devices)) continue;
        netprof__sums_of(delta, &delta->schema->devices[i], sums);
        if (!netprof__is_counted_by_another(delta, i, devices)) netprof__total_add(&t, sums);
    }
    return t;
}

NETPROF_API netprof_change netprof_change_of(const netprof_delta *delta, const char *device, const char *counter)
{
    netprof_change c;
    memset(&c, 0, sizeof c);
    c.counter = NETPROF_NONE;
    c.flag = NETPROF_FLAG_UNKNOWN;
    if (delta && delta->schema && device && counter) c.counter = netprof_find(delta->schema, NULL, device, counter);
    if (c.counter == NETPROF_NONE) return c;
    c.flag = (netprof_flag)delta->flags[c.counter];
    c.seconds = netprof__seconds_of(delta, c.counter);
    if (c.flag == NETPROF_FLAG_GAUGE && !netprof__has_value(delta->after_status[c.counter])) {
        c.flag = NETPROF_FLAG_UNKNOWN;
    } else if (c.flag == NETPROF_FLAG_GAUGE) {
        c.value = delta->after[c.counter];
    } else {
        c.value = delta->values[c.counter];
        c.per_s = netprof__per_s(c.value, c.seconds);
        if (delta->schema->counters[c.counter].flags & NETPROF_SIGNED && c.seconds > 0)
            c.per_s = (double)(int64_t)c.value / c.seconds;
    }
    return c;
}

NETPROF_API netprof_err netprof_meter_start(netprof_meter *meter, netprof_set set, netprof_error *error)
{
    netprof_err failed = NETPROF_OK;
    if (!meter) return netprof__fail(error, NETPROF_ERR_ARG, 0, NULL, "no meter");
    if (!meter->np) failed = netprof_open(&meter->np, NULL, error);
    if (failed) {
        netprof_close(meter->np);
        meter->np = NULL;
        return failed;
    }
    return netprof_take(meter->np, &meter->snapshots[0], set, error);
}

NETPROF_API netprof_err netprof_meter_stop(netprof_meter *meter, netprof_error *error)
{
    netprof_err failed;
    if (!meter || !meter->np || !meter->snapshots[0].schema)
        return netprof__fail(error, NETPROF_ERR_ARG, 0, NULL, "the meter was not started");
    failed = netprof_take(meter->np, &meter->snapshots[1], meter->snapshots[0].set, error);
    return failed ? failed : netprof_diff(&meter->snapshots[0], &meter->snapshots[1], NULL, &meter->delta, error);
}

NETPROF_API void netprof_meter_free(netprof_meter *meter)
{
    if (!meter) return;
    netprof_delta_free(&meter->delta);
    netprof_snapshot_free(&meter->snapshots[0]);
    netprof_snapshot_free(&meter->snapshots[1]);
    netprof_close(meter->np);
    meter->np = NULL;
}

#endif /* NETPROF_REGIONS_ONLY */

/* ---- >>10 implementation: .netprof files ---- */

/* >>10.1 the file format .netprof, version 2

   Integers are little-endian. "varint" is LEB128 (7 bits per byte, low bits first, at most 10 bytes). "signed" is a
   varint of the zigzag code (0, -1, 1, -2 ...). "text" is a varint length and that many bytes, usually UTF-8, but not
   guaranteed to be. "zero code" is a sequence of varints in which each 0 is followed by a varint: how many more zeros
   follow it.

   File   = 16 bytes of header, then chunks. Header: 89 4e 50 52 4f 46 0d 0a, u16 version (2), u16 zero, u32 0x01020304.
            Version 1 has SNAP where version 2 has STEP; the rest is the same. A version 1 reader refuses version 2.
   Chunk  = 4 bytes of tag, u32 length of the payload, u32 CRC-32 (IEEE 802.3) of tag, length and payload, payload.
            Readers skip unknown tags. A damaged chunk costs itself and the chunks that refer to it. Reading resumes at
            the next place where a known tag begins a chunk with a correct checksum, or where another file's header is:
            files put together (with cat, or netprof merge) are read one after the other, each with its own facts,
            schemas, keys and END.
   "FACT" = text key, text value: about the run (command, job, exit status).
   "SCHM" = varint number (schemas count from 0), facts, sources, classes, lists, devices; each of these begins with a
            varint count:
            fact    text key, text value
            source  text name, u8 status, varint errno, text path, varint number of its devices below
            class   text unit, u8 kind, u8 width, varint scale, varint flags
            list    varint n, n different names, then runs (varint class, varint length) until they cover n.
                    Names: varint t. t = 0: varint m; m + 1 names follow, each of them the previous one with its decimal
                    ending plus one. Else one name: the first t - 1 bytes of the previous one, and a text
            device  text name, varint identity, varint flags, varint list, varint fact count, facts
   "STEP" = a snapshot, as the difference from what the snapshots before it predict. The snapshots of a schema form
            chains: each builds on all before it in its chain, so a lost one costs the rest of its chain. The writer
            begins a new chain with every 64th.
            varint schema; u32 checksum of the chunk that it builds on (the one before it in its chain, or the schema's
            if it begins a chain); varint position in its chain (0 begins it); varint set; then, as below, times,
            statuses, values, stamps, and nothing else.
            Arithmetic is modulo 2^64 in two's complement; divisions round towards 0. A "code" is a number minus its
            prediction, in zigzag. At the beginning of a chain every prediction is 0 and nothing has been "seen".
            "Sparse" encodes n codes, where n is known: varint how many are not 0; if there are any: u8 j, u8 k; then
            for each of them, bits low first as in SNAP: how many zeros precede it (since the previous one), in Rice
            code with parameter j; then the code itself: if k <= 57, minus 1, in Rice code with parameter k; if k = 64,
            6 bits with the number of bits below its highest, then those bits. Zero bits fill the last byte.
            Times: sparse over all devices: 1 if the device changed between read and not read (read: its times are not
            both 0) since the previous snapshot; at the beginning of a chain the prediction is read. For each device
            read: gap = begin minus the end of the device read before it (for the first: minus begin_ns); length = end
            minus begin. Sparse: begin_ns, predicted as the last one plus the last difference of two (0 until two were
            seen); wall_ns - begin_ns; the gap of each device read; end_ns minus the end of the last device read (or
            minus begin_ns). Sparse: the length of each device read. All but begin_ns are predicted to be as last time;
            but a device that, when it was read last, had begin and end in common with the one before it (the first:
            with begin_ns) is predicted to have that again.
            Statuses: runs until they cover the counters: varint length (0: all the rest), u8 status, u8 errno. Without
            an errno: status 254 = each as in the previous snapshot, 255 = ok if the set includes it, else skipped.
            Values, only of counters with status ok or saturated. Kept for each counter, besides the last value: C = 16
            times the predicted change; S = 8 times the usual size of its codes; A and L = 4 times the usual error of C
            alone, and of C as led; F = fresh. The prediction is the last value plus C / 16; or, if S > 0 and L < A, as
            led: plus (C / 16) * R >> 16, if R is known and 0 < C / 16 < 2^43. R is unknown at a device's first counter.
            First, sparse, the codes of the counters with S = 0 (with R unknown); then, in Rice code, the codes z of
            those with S > 0, each with the parameter k = bit length of S >> 4; zero bits fill the last byte. Then, with
            D = the change from the last value (from the first value of a counter nothing is learned):
              S = 0 and z = 0: nothing.
              S = 0, or z >> k >= 40: C = 16 D, S = zigzag(D) / 4 + 1, A = L = 0, F = 1; for gauges and states C = 0, S
              = 4 z.
              F = 1: C = C + (16 D - C) / 2, S = 8 z, F = 0.
              F = 0: A = A - A / 4 + |D - C / 16|; L likewise with C as led; then, if 1024 <= C < 2^46 and 0 < D < 2^42,
              R becomes (16 D << 16) / C for the following counters of the device, or unknown if that is 2^20 or more;
              then C = C + (16 D - C) / 4; and S = S - S / 8 + z, but S / 2 if z = 0.
              For gauges and states C stays 0, and A, L and R stay. Before they are added, z and |...| are limited to
              2^57.
            Stamps: sparse over the counters with a value and the flag STAMPED: 1 if there is no stamp. For those with
            one: u8 w, varint stamp_error_ns; sparse: each stamp's distance from its prediction, in cells of 2^w ns.
            Kept for each counter, T: at first stamp - wall_ns, after that T = T + (stamp - wall_ns - T) / 4. The first
            stamp is predicted as wall_ns + T; each other one as the stamp before it, plus its own T minus that one's T
            (both from before this snapshot) if both had been seen. A writer may leave stamps off by as much as
            stamp_error_ns says: at most 2^16 ns, and at most 1/8192 of the shortest time between two snapshots so far
            in this chain and in the one before; in its first 8 snapshots of a schema also at most 1/8192 of end_ns -
            begin_ns. If later ones come faster than recently, the rate up to the first such one may therefore be off by
            more than 1/4096, as stamp_error_ns shows.
   "SNAP" (version 1) = varint schema, varint set, signed wall_ns, signed begin_ns, varint end_ns - begin_ns,
            varint stamp_error_ns, u8 form: 0 = a key snapshot, 1 = changes since the last key snapshot of the same
            schema in the file, varint number of that key (keys count from 0 for each schema; a key snapshot gives its
            own);
            then for each device signed device_begin_ns - begin_ns, signed device_end_ns - device_begin_ns;
            then statuses in runs (varint length, u8 status, u8 errno);
            then values, only of counters with status ok or saturated: form 0: in the zero code; form 1: varint number
            of changes, each: varint unchanged counters skipped, signed change;
            then stamps, only of counters with a value and the flag STAMPED: varint number of those without a stamp; for
            each of these, varint how many with one come before it (since the previous such); of the others, form 0:
            all; form 1: only anchors, which are the changed ones; in each device the first, the last and every 64th
            (the first, the 65th ...); and those of a list (varint number; for each, varint how many with a stamp that
            are not in the list come before it, since the previous such). A stamp between the anchors a and b of a
            device, the m-th of n steps, is a + (m / n) * (b - a) in doubles, rounded towards a. For each device with a
            stamp: signed first - wall_ns, signed step, u8 k; then for each further anchor the zigzag code z of its
            difference from (the previous one plus step times the distance in positions), in Rice code, bits low first:
            z >> k ones, a zero, the k low bits of z; or, if z >> k is 40 or more, 40 ones and the 64 bits of z. Zero
            bits fill the last byte of a device.
   "DIFF" = varint schema, signed wall_begin_ns, wall_end_ns, interval_ns, varint sweep_ns; runs of (flag, before
            status, after status) as (varint length, 3 x u8); then, in the zero code, one column after the other, with
            no run of zeros across two: before; zigzag (after - before); zigzag (value - (after - before)); zigzag
            (elapsed - interval). All differences are modulo 2^64. Then varint stamp_error_ns; version 1 ends before it.
   "REGN" = u8 mode, varint schema + 1 (0 = no counters), varint number of counters and that many varints, each the
            distance of a counter's index from the one before; signed wall_ns, elapsed_ns; varint threads, mismatched,
            dropped, overhead_ps; signed sweep_ns, interval_ns; text clock, warning; varint number of names and that
            many texts; varint number of stats, each: varint thread, node, parent + 1 (0 = none), name, calls, measured,
            open, spans, inclusive_ns, exclusive_ns, min_ns, max_ns, bytes, aborted, too_short, counted, concurrency,
            total_ns; variance_ns2 as an IEEE double in 8 bytes; in the zero code 496 buckets; in the zero code the sums
            of the counters. Then, up to the end of the chunk, parts: u8 kind, u32 length, content; readers skip kinds
            that they do not know, and whatever follows in a part what they know of it. Kind 1: varint readings,
            reading_ns. Kind 2: varint number of stats whose program waited for spans; for each, varint distance of its index
            from the one before, waits, waited_ns. Kind 3: varint number of values; for each, varint distance of its
            stat's index from that of the one before, text name, varint count, signed sum, least, most, at_longest, varint
            longest_ns; in the zero code 64 counts; in the zero code 64 times.
   "EVNT" = text kind, varint number of columns, varint number of rows; for each column: text name, u8 type, content. Type
            0, numbers: in the zero code, the difference of each row from the one before (the first: from 0) in zigzag.
            Type 1, texts: varint how many different ones, these texts; then the number of each row's text, as numbers.
            A chunk with another type is passed over. Chunks of events refer to no other chunk.
   "END " = varint number of chunks before it: the file was closed properly. */

/* >>10.2 integers, checksums, bit codes */

#define NETPROF__FILE_VERSION 2
#define NETPROF__CHAIN        64 /* snapshots that build on each other: the most that damage to one costs */

static const unsigned char netprof__file_magic[8] = {0x89, 'N', 'P', 'R', 'O', 'F', 0x0d, 0x0a};

static uint64_t netprof__zigzag(int64_t v)
{
    return ((uint64_t)v << 1) ^ (v < 0 ? UINT64_MAX : 0);
}

static int64_t netprof__unzigzag(uint64_t v)
{
    return (int64_t)(v >> 1 ^ (v & 1 ? UINT64_MAX : 0));
}

#define NETPROF__CRC_BYTES  (8 * 256)
#define NETPROF__CRC_TABLES (NETPROF__CRC_BYTES + 16)

/* Table k of the first eight is for a byte with k zero bytes after it: taking eight bytes at a time is four times as
   fast as one by one. The last, small one is for half bytes, in short chunks: it fits one cache line, where the others
   would have to be fetched from memory. */
static void netprof__crc_tables(uint32_t *tables)
{
    uint32_t i, c;
    int k;
    for (i = 0; i < 256; i++) {
        for (c = i, k = 0; k < 8; k++)
            c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
        tables[i] = c;
    }
    for (; i < NETPROF__CRC_BYTES; i++)
        tables[i] = tables[i - 256] >> 8 ^ tables[tables[i - 256] & 255];
    for (i = 0; i < 16; i++)
        tables[NETPROF__CRC_BYTES + i] = tables[16 * i];
}

/* The checksum after eight more bytes. */
static uint32_t netprof__crc_eight(const uint32_t *tables, uint32_t crc, const unsigned char *p)
{
    uint32_t x = crc ^ ((uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24);
    return tables[7 * 256 + (x & 255)] ^ tables[6 * 256 + (x >> 8 & 255)] ^ tables[5 * 256 + (x >> 16 & 255)] ^
           tables[4 * 256 + (x >> 24)] ^ tables[3 * 256 + p[4]] ^ tables[2 * 256 + p[5]] ^ tables[256 + p[6]] ^
           tables[p[7]];
}

static uint32_t netprof__crc(const uint32_t *tables, uint32_t crc, const unsigned char *data, size_t size)
{
    const uint32_t *halves = tables + NETPROF__CRC_BYTES;
    int in_eights = size >= 64;
    crc = ~crc;
    for (; in_eights && size >= 8; size -= 8, data += 8)
        crc = netprof__crc_eight(tables, crc, data);
    while (size--) {
        crc ^= *data++;
        crc = halves[crc & 15] ^ crc >> 4;
        crc = halves[crc & 15] ^ crc >> 4;
    }
    return ~crc;
}

static void netprof__put_le(unsigned char *to, uint64_t v, int bytes)
{
    int i;
    for (i = 0; i < bytes; i++)
        to[i] = (unsigned char)(v >> 8 * i);
}

static uint64_t netprof__get_le(const unsigned char *from, int bytes)
{
    uint64_t v = 0;
    int i;
    for (i = 0; i < bytes; i++)
        v |= (uint64_t)from[i] << 8 * i;
    return v;
}

/* A growing buffer. If an allocation fails, `failed` is set for good and everything that follows is dropped. */
typedef struct netprof__buffer {
    netprof_alloc alloc;
    unsigned char *data;
    size_t size, capacity;
    uint64_t zeros; /* of the zero code, not yet written */
    int failed;
} netprof__buffer;

static void netprof__put(netprof__buffer *b, const void *data, size_t size)
{
    if (b->failed || !netprof__grow(&b->alloc, &b->data, &b->capacity, b->size + size, 1)) {
        b->failed = 1;
        return;
    }
    if (size) memcpy(b->data + b->size, data, size);
    b->size += size;
}

static void netprof__put_byte(netprof__buffer *b, unsigned v)
{
    unsigned char byte = (unsigned char)v;
    if (b->size < b->capacity && !b->failed)
        b->data[b->size++] = byte;
    else
        netprof__put(b, &byte, 1);
}

static void netprof__put_varint(netprof__buffer *b, uint64_t v)
{
    unsigned char bytes[10];
    size_t n = 0;
    while (v >= 128) {
        bytes[n++] = (unsigned char)(v | 128);
        v >>= 7;
    }
    bytes[n++] = (unsigned char)v;
    netprof__put(b, bytes, n);
}

static void netprof__put_signed(netprof__buffer *b, int64_t v)
{
    netprof__put_varint(b, netprof__zigzag(v));
}

static void netprof__put_text(netprof__buffer *b, const char *text)
{
    size_t n = strlen(text);
    netprof__put_varint(b, n);
    netprof__put(b, text, n);
}

/* Bits, low first, between a buffer and its reader or writer. */
typedef struct netprof__bits {
    uint64_t word;
    unsigned used;
} netprof__bits;

static void netprof__put_bits(netprof__buffer *b, netprof__bits *bits, uint64_t v, unsigned count)
{
    if (count > 32) {
        netprof__put_bits(b, bits, v, 32);
        v >>= 32;
        count -= 32;
    }
    bits->word |= (v & (((uint64_t)1 << count) - 1)) << bits->used;
    for (bits->used += count; bits->used >= 8; bits->used -= 8) {
        netprof__put_byte(b, (unsigned)(bits->word & 255));
        bits->word >>= 8;
    }
}

/* Fills the last byte with zero bits. */
static void netprof__end_bits(netprof__buffer *b, netprof__bits *bits)
{
    netprof__put_bits(b, bits, 0, (8 - bits->used) % 8);
}

#define NETPROF__RICE_LONGEST 40 /* ones; anything longer is written plainly */

/* Rice code: z >> k ones, a zero, the k low bits of z; see SNAP in section 10.1. */
static void netprof__put_rice(netprof__buffer *b, netprof__bits *bits, uint64_t z, unsigned k)
{
    if (z >> k >= NETPROF__RICE_LONGEST) {
        netprof__put_bits(b, bits, UINT64_MAX, NETPROF__RICE_LONGEST);
        netprof__put_bits(b, bits, z, 64);
        return;
    }
    netprof__put_bits(b, bits, ((uint64_t)1 << (z >> k)) - 1, (unsigned)(z >> k) + 1);
    netprof__put_bits(b, bits, z, k);
}

static unsigned netprof__bit_length(uint64_t v)
{
    return v ? 64 - (unsigned)__builtin_clzll(v) : 0;
}

#define NETPROF__RICE_MOST 57 /* largest parameter */
#define NETPROF__PLAIN     64 /* instead of a parameter: 6 bits of length, and the bits below the highest */

/* Chooses the cheaper code for the numbers that are not 0. `typical` is the mean of their bit lengths, which gives
   outliers little weight. */
static unsigned netprof__sparse_code(const uint64_t *z, size_t n, unsigned typical)
{
    unsigned k = typical < NETPROF__RICE_MOST ? typical : NETPROF__RICE_MOST;
    uint64_t rice = 0, plain = 0;
    size_t i;
    for (i = 0; i < n; i++) {
        if (!z[i]) continue;
        rice += (z[i] - 1) >> k < NETPROF__RICE_LONGEST ? ((z[i] - 1) >> k) + 1 + k : NETPROF__RICE_LONGEST + 64;
        plain += 5 + netprof__bit_length(z[i]);
    }
    return plain < rice ? NETPROF__PLAIN : k;
}

/* Writes numbers of which most are 0. */
static void netprof__put_sparse(netprof__buffer *b, const uint64_t *z, size_t n)
{
    uint64_t skipped = 0, count = 0, skip_bits = 0, value_bits = 0;
    netprof__bits bits = {0, 0};
    unsigned skip_k, k;
    size_t i;
    for (i = 0; i < n; i++) {
        skipped++;
        if (!z[i]) continue;
        count++;
        skip_bits += netprof__bit_length(skipped - 1);
        value_bits += netprof__bit_length(z[i] - 1);
        skipped = 0;
    }
    netprof__put_varint(b, count);
    if (!count) return;
    skip_k = (unsigned)(skip_bits / count);
    k = netprof__sparse_code(z, n, (unsigned)(value_bits / count));
    netprof__put_byte(b, skip_k);
    netprof__put_byte(b, k);
    for (i = 0, skipped = 0; i < n; i++) {
        if (!z[i]) {
            skipped++;
            continue;
        }
        netprof__put_rice(b, &bits, skipped, skip_k);
        skipped = 0;
        if (k == NETPROF__PLAIN) {
            netprof__put_bits(b, &bits, netprof__bit_length(z[i]) - 1, 6);
            netprof__put_bits(b, &bits, z[i], netprof__bit_length(z[i]) - 1);
        } else {
            netprof__put_rice(b, &bits, z[i] - 1, k);
        }
    }
    netprof__end_bits(b, &bits);
}

static void netprof__zero_code_end(netprof__buffer *b)
{
    if (b->zeros) {
        netprof__put_byte(b, 0);
        netprof__put_varint(b, b->zeros - 1);
        b->zeros = 0;
    }
}

/* Writes a number in the zero code; zeros are collected until another number or netprof__zero_code_end(). */
static void netprof__zero_code(netprof__buffer *b, uint64_t v)
{
    if (!v) {
        b->zeros++;
        return;
    }
    netprof__zero_code_end(b);
    netprof__put_varint(b, v);
}

#ifndef NETPROF_REGIONS_ONLY
/* >>10.3 writing schemas */

static void netprof__put_facts(netprof__buffer *b, const netprof_fact *facts, size_t count)
{
    size_t i;
    netprof__put_varint(b, count);
    for (i = 0; i < count; i++) {
        netprof__put_text(b, facts[i].key);
        netprof__put_text(b, facts[i].value);
    }
}

static int netprof__same_class(const netprof_counter *a, const netprof_counter *b)
{
    return a->kind == b->kind && a->width == b->width && a->scale == b->scale && a->flags == b->flags &&
           strcmp(a->unit, b->unit) == 0;
}

static int netprof__same_list(const netprof_schema *s, const netprof_device *a, const netprof_device *b)
{
    size_t i;
    if (a->count != b->count) return 0;
    for (i = 0; i < a->count; i++) {
        const netprof_counter *x = &s->counters[a->first + i], *y = &s->counters[b->first + i];
        if (!netprof__same_class(x, y) || strcmp(x->name, y->name) != 0) return 0;
    }
    return 1;
}

/* Adds one to the decimal ending of a name. Returns 0 if it has none, or one with a leading zero (01). */
static int netprof__next_name(char *name, size_t size)
{
    size_t n = strlen(name), first = n;
    while (first && netprof__is_digit(name[first - 1]))
        first--;
    if (first == n || (name[first] == '0' && n - first > 1) || n + 1 >= size) return 0;
    for (; n > first; n--) {
        if (name[n - 1] != '9') {
            name[n - 1]++;
            return 1;
        }
        name[n - 1] = '0';
    }
    memmove(name + first + 1, name + first, strlen(name + first) + 1);
    name[first] = '1';
    return 1;
}

/* True if the name is the previous one with its decimal ending plus one. */
static int netprof__follows(const char *previous, const char *name)
{
    char next[512];
    netprof__copy_text(next, sizeof next, previous);
    return strlen(previous) < sizeof next - 1 && netprof__next_name(next, sizeof next) && strcmp(next, name) == 0;
}

/* Names as in section 10.1: runs that count on, else the part that differs from the previous name. */
static void netprof__put_names(netprof__buffer *b, const netprof_counter *c, size_t count)
{
    const char *previous = "";
    size_t i, shared, run;
    for (i = 0; i < count; i += run) {
        for (run = 0; i + run < count && netprof__follows(run ? c[i + run - 1].name : previous, c[i + run].name); run++)
            continue;
        if (run) {
            netprof__put_byte(b, 0);
            netprof__put_varint(b, run - 1);
        } else {
            for (shared = 0; previous[shared] && previous[shared] == c[i].name[shared]; shared++)
                continue;
            netprof__put_varint(b, shared + 1);
            netprof__put_text(b, c[i].name + shared);
            run = 1;
        }
        previous = c[i + run - 1].name;
    }
}

/* The classes of a schema (unit, kind, ...), each as one counter that represents it. */
typedef struct netprof__classes {
    const netprof_counter **rows;
    size_t count, capacity;
} netprof__classes;

static size_t netprof__class_of(const netprof__classes *classes, const netprof_counter *c)
{
    size_t i = 0;
    while (i < classes->count && !netprof__same_class(classes->rows[i], c))
        i++;
    return i;
}

static void netprof__put_list(netprof__buffer *b, const netprof__classes *classes, const netprof_counter *c,
                              size_t count)
{
    size_t i, run;
    netprof__put_varint(b, count);
    netprof__put_names(b, c, count);
    for (i = 0; i < count; i += run) {
        for (run = 1; i + run < count && netprof__same_class(&c[i], &c[i + run]); run++)
            continue;
        netprof__put_varint(b, netprof__class_of(classes, &c[i]));
        netprof__put_varint(b, run);
    }
}

/* Finds the different lists of counters: lists[k] is the first device with list k, of_device[i] the list of device
   i. */
static size_t netprof__find_lists(const netprof_schema *s, size_t *lists, size_t *of_device)
{
    size_t count = 0, i, k;
    for (i = 0; i < s->device_count; i++) {
        for (k = 0; k < count && !netprof__same_list(s, &s->devices[lists[k]], &s->devices[i]); k++)
            continue;
        of_device[i] = k;
        if (k == count) lists[count++] = i;
    }
    return count;
}

static int netprof__find_classes(const netprof_alloc *a, const netprof_schema *s, const size_t *lists, size_t count,
                                 netprof__classes *classes)
{
    size_t i, k;
    for (i = 0; i < count; i++) {
        const netprof_device *d = &s->devices[lists[i]];
        for (k = d->first; k < (size_t)d->first + d->count; k++) {
            if (netprof__class_of(classes, &s->counters[k]) < classes->count) continue;
            if (!netprof__grow(a, &classes->rows, &classes->capacity, classes->count + 1, sizeof *classes->rows))
                return 0;
            classes->rows[classes->count++] = &s->counters[k];
        }
    }
    return 1;
}

static void netprof__put_schema_head(netprof__buffer *b, const netprof_schema *s, size_t number)
{
    size_t i;
    netprof__put_varint(b, number);
    netprof__put_facts(b, s->facts, s->fact_count);
    netprof__put_varint(b, s->source_count);
    for (i = 0; i < s->source_count; i++) {
        netprof__put_text(b, s->sources[i].name);
        netprof__put_byte(b, s->sources[i].status);
        netprof__put_varint(b, (uint64_t)s->sources[i].sys_errno);
        netprof__put_text(b, s->sources[i].path);
        netprof__put_varint(b, s->sources[i].device_count);
    }
}

static void netprof__put_classes(netprof__buffer *b, const netprof__classes *classes)
{
    size_t i;
    netprof__put_varint(b, classes->count);
    for (i = 0; i < classes->count; i++) {
        const netprof_counter *c = classes->rows[i];
        netprof__put_text(b, c->unit);
        netprof__put_byte(b, c->kind);
        netprof__put_byte(b, c->width);
        netprof__put_varint(b, c->scale);
        netprof__put_varint(b, c->flags);
    }
}

static void netprof__put_schema(netprof__buffer *b, const netprof_schema *s, size_t number)
{
    size_t *lists = (size_t *)netprof__resize(&b->alloc, NULL, 2 * s->device_count * sizeof *lists);
    netprof__classes classes;
    size_t count, i;
    memset(&classes, 0, sizeof classes);
    if (!lists) {
        b->failed = 1;
        return;
    }
    count = netprof__find_lists(s, lists, lists + s->device_count);
    if (!netprof__find_classes(&b->alloc, s, lists, count, &classes)) b->failed = 1;
    netprof__put_schema_head(b, s, number);
    netprof__put_classes(b, &classes);
    netprof__put_varint(b, count);
    for (i = 0; i < count; i++) {
        const netprof_device *d = &s->devices[lists[i]];
        netprof__put_list(b, &classes, d->count ? s->counters + d->first : NULL, d->count);
    }
    netprof__put_varint(b, s->device_count);
    for (i = 0; i < s->device_count; i++) {
        const netprof_device *d = &s->devices[i];
        netprof__put_text(b, d->name);
        netprof__put_varint(b, d->identity);
        netprof__put_varint(b, d->flags);
        netprof__put_varint(b, lists[s->device_count + i]);
        netprof__put_facts(b, d->facts, d->fact_count);
    }
    netprof__release(&b->alloc, classes.rows);
    netprof__release(&b->alloc, lists);
}

/* >>10.4 what writer and reader expect of the next snapshot

   Most counters change by about the same amount from snapshot to snapshot. Writer and reader keep the same prediction
   of each value, time and stamp, and a file holds only the errors of these predictions. Section 10.1 defines the
   arithmetic: any change to it needs a new format version.

   The letters of section 10.1: C is change, S spread, F fresh, A alone, L led, T stamp, R the ratio of a lead. */

#define NETPROF__AS_BEFORE       254 /* status of a run: each as in the previous snapshot */
#define NETPROF__AS_ASKED        255 /* OK for what the set includes, SKIPPED for the rest */
#define NETPROF__STAMP_SLACK     4   /* cells: the most that a stamp may be off */
#define NETPROF__STAMPS_PACE     8   /* snapshots of a schema after which its pace is known */
#define NETPROF__STAMP_CELL_MOST 14  /* a cell has at most 2^14 ns when written ... */
#define NETPROF__STAMP_CELL_READ 62  /* ... and at most 2^62 ns when read */

static int netprof__may_be_stamped(const netprof_snapshot *s, size_t i)
{
    return netprof__has_value(s->status[i]) && (s->schema->counters[i].flags & NETPROF_STAMPED);
}

/* Prediction of one counter. This part is needed for each counter at each snapshot and is kept close together. */
typedef struct netprof__expected {
    uint64_t value;  /* the last one */
    int64_t change;  /* 16 times the predicted change */
    uint64_t spread; /* 8 times the usual error of the prediction, in zigzag codes; 0: always exact */
    uint8_t seen;    /* there was a value */
    uint8_t fresh;   /* only one change has been seen since the last surprise */
    uint8_t stamped; /* there was a stamp */
} netprof__expected;

/* The part that is needed only for counters that change, or have stamps. */
typedef struct netprof__habit {
    /* 4 times the usual error of the counter's own prediction, and of the one led by the counter before. */
    uint64_t alone, led;
    int64_t stamp; /* usual stamp minus its snapshot's wall_ns */
} netprof__habit;

/* Prediction of the times at which one device is read. */
typedef struct netprof__window {
    int64_t gap;    /* from the end of the device read before it (or the sweep's begin) to its own begin */
    int64_t length; /* from begin to end */
    uint8_t shared; /* both times equalled those of the device before: a source that is read as a whole */
    uint8_t read;
} netprof__window;

/* What the snapshots of a schema so far predict about the next one. A new chain begins every NETPROF__CHAIN
   snapshots. */
typedef struct netprof__chain {
    void *memory; /* holds all arrays */
    netprof__expected *counters;
    netprof__habit *habits; /* of the same counters */
    netprof__window *devices;
    uint64_t *residuals; /* scratch */
    uint32_t *list;      /* scratch: indices of counters */
    uint8_t *status, *errnos;
    size_t stamped;    /* counters that may have a stamp */
    uint64_t position; /* of the last snapshot in the chain */
    uint32_t link;     /* checksum of its chunk */
    int begun;         /* position is valid */
    int64_t begin_ns, interval_ns;
    int64_t wall_ns, tail_ns; /* wall_ns - begin_ns; end_ns minus the last device's end */
    /* Shortest time between two snapshots, in this chain and in the one before. */
    int64_t shortest_ns, shortest_then_ns;
    uint64_t written; /* snapshots written by this writer */
} netprof__chain;

/* A schema in a file being written, and the prediction of its next snapshot. */
typedef struct netprof__written {
    const netprof_schema *schema;
    uint32_t link; /* checksum of its chunk */
    netprof__chain chain;
} netprof__written;

static void netprof__chain_free(netprof__chain *chain, const netprof_alloc *a)
{
    netprof__release(a, chain->memory);
    memset(chain, 0, sizeof *chain);
}

/* Allocates the arrays for a schema, if that is not done yet. Returns 0 if out of memory. */
static int netprof__chain_room(netprof__chain *chain, const netprof_alloc *a, const netprof_schema *schema)
{
    size_t n = schema->counter_count, d = schema->device_count, residuals = n + 2 * d + 3, i;
    char *p;
    if (chain->memory) return 1;
    p = (char *)netprof__zalloc(a, n * (sizeof *chain->counters + sizeof *chain->habits + sizeof *chain->list + 2) +
                                       d * sizeof *chain->devices + residuals * sizeof *chain->residuals);
    if (!p) return 0;
    chain->memory = p;
    chain->counters = (netprof__expected *)(void *)p;
    chain->habits = (netprof__habit *)(void *)(chain->counters + n);
    chain->devices = (netprof__window *)(void *)(chain->habits + n);
    chain->residuals = (uint64_t *)(void *)(chain->devices + d);
    chain->list = (uint32_t *)(void *)(chain->residuals + residuals);
    chain->status = (uint8_t *)(chain->list + n);
    chain->errnos = chain->status + n;
    for (i = 0; i < n; i++)
        chain->stamped += (schema->counters[i].flags & NETPROF_STAMPED) != 0;
    return 1;
}

/* Forgets all predictions; every device is predicted to be read. */
static void netprof__chain_begin(netprof__chain *chain, const netprof_schema *schema)
{
    size_t i;
    if (schema->counter_count) {
        memset(chain->counters, 0, schema->counter_count * sizeof *chain->counters);
        memset(chain->habits, 0, schema->counter_count * sizeof *chain->habits);
    }
    for (i = 0; i < schema->device_count; i++) {
        memset(&chain->devices[i], 0, sizeof chain->devices[i]);
        chain->devices[i].read = 1;
    }
    chain->position = 0;
    chain->begin_ns = chain->interval_ns = chain->wall_ns = chain->tail_ns = 0;
}

static int netprof__has_window(const netprof_snapshot *s, size_t device)
{
    return s->device_begin_ns[device] || s->device_end_ns[device];
}

/* Writing: the code of a number, given its prediction. Reading: the number, given its code. */
static void netprof__code_or_decode(int64_t *number, int64_t expected, uint64_t *code, int reading)
{
    if (reading)
        *number = netprof__plus(expected, netprof__unzigzag(*code));
    else
        *code = netprof__zigzag(netprof__minus(*number, expected));
}

/* Converts the times of a snapshot to codes, or back, and makes them the next prediction. Only for devices that were
   read. Returns the number of those; the codes of their lengths come after all others. */
static size_t netprof__code_times(netprof__chain *chain, netprof_snapshot *s, int reading)
{
    uint64_t *code = chain->residuals, *lengths = code + s->schema->device_count + 3;
    int64_t begin = s->begin_ns, wall = netprof__minus(s->wall_ns, s->begin_ns), tail, last_begin, last_end;
    size_t i, read = 0;
    netprof__code_or_decode(&begin, netprof__plus(chain->begin_ns, chain->interval_ns), code++, reading);
    netprof__code_or_decode(&wall, chain->wall_ns, code++, reading);
    last_begin = last_end = begin;
    if (reading) s->begin_ns = begin, s->wall_ns = netprof__plus(begin, wall);
    for (i = 0; i < s->schema->device_count; i++) {
        netprof__window *w = &chain->devices[i];
        int64_t gap = netprof__minus(s->device_begin_ns[i], last_end);
        int64_t length = netprof__minus(s->device_end_ns[i], s->device_begin_ns[i]);
        int64_t same_gap = netprof__minus(last_begin, last_end), same_length = netprof__minus(last_end, last_begin);
        if (!w->read) continue;
        read++;
        netprof__code_or_decode(&gap, w->shared ? same_gap : w->gap, code++, reading);
        netprof__code_or_decode(&length, w->shared ? same_length : w->length, lengths++, reading);
        w->shared = gap == same_gap && length == same_length;
        w->gap = gap;
        w->length = length;
        last_begin = netprof__plus(last_end, gap);
        last_end = netprof__plus(last_begin, length);
        if (reading) s->device_begin_ns[i] = last_begin, s->device_end_ns[i] = last_end;
    }
    tail = netprof__minus(s->end_ns, last_end);
    netprof__code_or_decode(&tail, chain->tail_ns, code++, reading);
    if (reading) s->end_ns = netprof__plus(last_end, tail);
    chain->interval_ns = chain->position ? netprof__minus(begin, chain->begin_ns) : 0;
    chain->begin_ns = begin;
    chain->wall_ns = wall;
    chain->tail_ns = tail;
    return read;
}

/* How much more or less than predicted a device's counters grew in this snapshot, by the last counter that shows it:
   the counters of one device count the same traffic. */
typedef struct netprof__lead {
    uint32_t device;
    uint64_t ratio; /* 2^16: as predicted; 0: unknown */
} netprof__lead;

static void netprof__lead_device(netprof__lead *lead, uint32_t device)
{
    if (lead->device != device) lead->ratio = 0;
    lead->device = device;
}

/* The predicted change (x->change is 16 times that), multiplied by the device's ratio. Up to 2^43 the product with a
   ratio below 2^20 fits 63 bits. */
static int64_t netprof__change_by_lead(const netprof__expected *x, const netprof__lead *lead)
{
    int64_t change = x->change / 16;
    if (!lead->ratio || change <= 0 || change >= (int64_t)1 << 43) return change;
    return (int64_t)((uint64_t)change * lead->ratio >> 16);
}

/* The predicted value: by the device's lead if that has been the better guide. */
static uint64_t netprof__expected_value(const netprof__expected *x, const netprof__habit *h, const netprof__lead *lead)
{
    int follows = x->spread && h->led < h->alone;
    return x->value + (uint64_t)(follows ? netprof__change_by_lead(x, lead) : x->change / 16);
}

/* The Rice parameter: the bit length of half the usual code (x->spread is 8 times that). */
static unsigned netprof__rice_of(const netprof__expected *x)
{
    return netprof__bit_length(x->spread >> 4);
}

/* Updates a moving mean (times its weight) of distances; each distance is limited to 2^57. */
static uint64_t netprof__update_mean_error(uint64_t mean, unsigned weight, int64_t a, int64_t b)
{
    uint64_t off = netprof__zigzag(netprof__minus(a, b)) / 2, most = (uint64_t)1 << 57;
    return mean - mean / weight + (off < most ? off : most);
}

/* Updates both usual errors, and the device's ratio if this counter's change says enough: 64 or more predicted, and
   small enough for the arithmetic. A ratio of 16 or more (2^20) is no guide. */
static void netprof__learn_lead(const netprof__expected *x, netprof__habit *h, netprof__lead *lead, int64_t change)
{
    const int64_t least = 64 * 16, most = (int64_t)1 << 46;
    int64_t led = netprof__change_by_lead(x, lead), scaled = (int64_t)((uint64_t)change * 16);
    h->alone = netprof__update_mean_error(h->alone, 4, change, x->change / 16);
    h->led = netprof__update_mean_error(h->led, 4, change, led);
    if (x->change < least || x->change >= most || change <= 0 || change >= most / 16) return;
    lead->ratio = ((uint64_t)scaled << 16) / (uint64_t)x->change;
    if (lead->ratio >> 20) lead->ratio = 0;
}

/* Learns from a value that was `code` away from its prediction. A counter is predicted to grow as it did recently,
   anything else to stay. */
static void netprof__learn_value(netprof__expected *x, netprof__habit *h, netprof__lead *lead, uint64_t value,
                                 uint64_t code, uint8_t kind)
{
    int64_t change = (int64_t)(value - x->value), scaled = (int64_t)((uint64_t)change * 16);
    int grows = kind == NETPROF_KIND_COUNTER || kind == NETPROF_KIND_HISTOGRAM, first = !x->seen;
    uint64_t most = code < (uint64_t)1 << 57 ? code : (uint64_t)1 << 57;
    x->value = value;
    x->seen = 1;
    if (first || (!x->spread && !code)) return;
    if (!x->spread || code >> netprof__rice_of(x) >= NETPROF__RICE_LONGEST) { /* a surprise: the past is no guide */
        x->change = grows ? scaled : 0;
        x->spread = grows ? netprof__zigzag(change) / 4 + 1 : 4 * most;
        h->alone = h->led = 0;
        x->fresh = 1;
        return;
    }
    if (grows && !x->fresh) netprof__learn_lead(x, h, lead, change);
    if (grows) x->change = netprof__plus(x->change, netprof__minus(scaled, x->change) / (x->fresh ? 2 : 4));
    if (x->fresh)
        x->spread = 8 * most;
    else
        x->spread = code ? x->spread - x->spread / 8 + most : x->spread / 2;
    x->fresh = 0;
}

/* Lists the counters that have a value; with `stamped`, only those of them that may have a stamp. */
static size_t netprof__list_values(netprof__chain *chain, const netprof_snapshot *s, int stamped)
{
    size_t count = 0, i;
    if (stamped && !chain->stamped) return 0;
    for (i = 0; i < s->schema->counter_count; i++)
        if (stamped ? netprof__may_be_stamped(s, i) : netprof__has_value(s->status[i]))
            chain->list[count++] = (uint32_t)i;
    return count;
}

/* True if the value is exactly as predicted, as always before: most counters stand still, and nothing is learned. */
static int netprof__is_steady(const netprof__expected *x, uint64_t value)
{
    return x->seen && !x->spread && value == x->value + (uint64_t)(x->change / 16);
}

/* Counts the listed counters whose prediction has always been exact. */
static size_t netprof__count_steady(const netprof__chain *chain, size_t listed)
{
    size_t count = 0, i;
    for (i = 0; i < listed; i++)
        count += !chain->counters[chain->list[i]].spread;
    return count;
}

/* A distance in cells: 0 within the slack, else rounded, and at least one more than the slack: so the same distance,
   computed from cells, gives the same cells. */
static int64_t netprof__in_cells(int64_t length, unsigned cell_bits)
{
    int64_t size, cells;
    if (!cell_bits) return length;
    size = length < 0 ? -length : length;
    if (size <= NETPROF__STAMP_SLACK << cell_bits) return 0;
    cells = (size + ((int64_t)1 << (cell_bits - 1))) >> cell_bits;
    if (cells <= NETPROF__STAMP_SLACK) cells = NETPROF__STAMP_SLACK + 1;
    return length < 0 ? -cells : cells;
}

/* Like netprof__code_times(), for the stamps of the listed counters. Each stamp is predicted to follow the one before
   it at the usual distance, and is kept in cells of 2^cell_bits ns. Returns the largest error that this causes. */
static int64_t netprof__code_stamps(netprof__chain *chain, netprof_snapshot *s, size_t listed, unsigned cell_bits,
                                    int reading)
{
    const uint64_t cell = (uint64_t)1 << cell_bits;
    int64_t last = s->wall_ns, last_stamp = 0, worst = 0;
    int known = 1; /* last_stamp is valid: at first, that of the snapshot itself */
    size_t i;
    for (i = 0; i < listed; i++) {
        netprof__expected *x = &chain->counters[chain->list[i]];
        netprof__habit *h = &chain->habits[chain->list[i]];
        int64_t *stamp = &s->stamps_ns[chain->list[i]];
        int64_t expected = known && x->stamped ? netprof__plus(last, netprof__minus(h->stamp, last_stamp)) : last;
        int64_t cells, off;
        if (reading)
            cells = netprof__unzigzag(chain->residuals[i]);
        else
            cells = netprof__in_cells(netprof__minus(*stamp, expected), cell_bits);
        chain->residuals[i] = netprof__zigzag(cells);
        last = netprof__plus(expected, (int64_t)((uint64_t)cells * cell));
        off = netprof__minus(*stamp, last);
        if (!reading && (off < 0 ? -off : off) > worst) worst = off < 0 ? -off : off;
        if (reading) *stamp = last;
        known = x->stamped;
        last_stamp = h->stamp;
        off = netprof__minus(last, s->wall_ns);
        h->stamp = x->stamped ? netprof__plus(h->stamp, netprof__minus(off, h->stamp) / 4) : off;
        x->stamped = 1;
    }
    return worst;
}

/* >>10.5 writing snapshots and deltas */

static int netprof__is_as_asked(const netprof_snapshot *s, size_t i)
{
    int asked = s->set == NETPROF_SET_ALL || (s->schema->counters[i].flags & NETPROF_FAST);
    return s->status[i] == (asked ? NETPROF_STATUS_OK : NETPROF_STATUS_SKIPPED) && !s->errnos[i];
}

/* How many counters from i on have the status that a run with this code gives them. */
static size_t netprof__status_run(const netprof_snapshot *s, const netprof__chain *chain, size_t i, unsigned code)
{
    size_t at = i;
    for (; at < s->schema->counter_count; at++) {
        if (code == NETPROF__AS_BEFORE  ? s->status[at] != chain->status[at] || s->errnos[at] != chain->errnos[at]
            : code == NETPROF__AS_ASKED ? !netprof__is_as_asked(s, at)
                                        : s->status[at] != s->status[i] || s->errnos[at] != s->errnos[i])
            break;
    }
    return at - i;
}

/* Writes the statuses in runs: at each place the code whose run is longest. */
static void netprof__put_statuses(netprof__buffer *b, const netprof_snapshot *s, const netprof__chain *chain)
{
    size_t n = s->schema->counter_count, i, run, k;
    if (n && chain->position && !memcmp(chain->status, s->status, n) && !memcmp(chain->errnos, s->errnos, n)) {
        netprof__put_varint(b, 0); /* nearly always; the general case is below */
        netprof__put_byte(b, NETPROF__AS_BEFORE);
        return;
    }
    for (i = 0; i < n; i += run) {
        const unsigned codes[] = {NETPROF__AS_BEFORE, NETPROF__AS_ASKED, s->status[i]};
        unsigned best = codes[2];
        for (run = 0, k = chain->position == 0; k < 3; k++) {
            size_t length = netprof__status_run(s, chain, i, codes[k]);
            if (length > run) best = codes[k], run = length;
        }
        netprof__put_varint(b, i + run < n ? run : 0);
        netprof__put_byte(b, best);
        if (best < NETPROF__AS_BEFORE) netprof__put_byte(b, s->errnos[i]);
    }
    if (n) memcpy(chain->status, s->status, n);
    if (n) memcpy(chain->errnos, s->errnos, n);
}

static void netprof__put_times(netprof__buffer *b, const netprof_snapshot *s, netprof__chain *chain)
{
    netprof_snapshot same = *s; /* only read */
    size_t i;
    for (i = 0; i < s->schema->device_count; i++) {
        uint8_t read = (uint8_t)netprof__has_window(s, i);
        chain->residuals[i] = read != chain->devices[i].read;
        chain->devices[i].read = read;
    }
    netprof__put_sparse(b, chain->residuals, s->schema->device_count);
    i = netprof__code_times(chain, &same, 0);
    netprof__put_sparse(b, chain->residuals, i + 3);
    netprof__put_sparse(b, chain->residuals + s->schema->device_count + 3, i);
}

/* First the counters that should have been predicted exactly, then those that never quite are. */
static void netprof__put_values(netprof__buffer *b, const netprof_snapshot *s, netprof__chain *chain)
{
    size_t listed = netprof__list_values(chain, s, 0), steady = 0, i;
    netprof__lead lead = {0, 0};
    netprof__bits bits = {0, 0};
    for (i = 0; i < listed; i++) {
        const netprof__expected *x = &chain->counters[chain->list[i]];
        uint64_t off = s->values[chain->list[i]] - netprof__expected_value(x, &chain->habits[chain->list[i]], &lead);
        if (!x->spread) chain->residuals[steady++] = netprof__zigzag((int64_t)off);
    }
    netprof__put_sparse(b, chain->residuals, steady);
    for (i = 0; i < listed; i++) {
        netprof__expected *x = &chain->counters[chain->list[i]];
        netprof__habit *h = &chain->habits[chain->list[i]];
        const netprof_counter *counter = &s->schema->counters[chain->list[i]];
        uint64_t value = s->values[chain->list[i]], code;
        if (netprof__is_steady(x, value)) {
            x->value = value;
            continue;
        }
        netprof__lead_device(&lead, counter->device);
        code = netprof__zigzag((int64_t)(value - netprof__expected_value(x, h, &lead)));
        if (x->spread) netprof__put_rice(b, &bits, code, netprof__rice_of(x));
        netprof__learn_value(x, h, &lead, value, code, counter->kind);
    }
    netprof__end_bits(b, &bits);
}

/* Stamps are rounded by at most 1/8192 of the interval, so that a rate between two snapshots that far apart is off by
   at most 1/4096, and never by more than 2^16 ns. Exact if the stamps are far from this snapshot's time (2^40 ns, 18
   minutes). */
static unsigned netprof__stamp_cell_bits(const netprof__chain *chain, const netprof_snapshot *s, size_t listed,
                                         int64_t interval_ns)
{
    const int64_t near_ns = (int64_t)1 << 40;
    unsigned bits = interval_ns > 0 ? netprof__bit_length((uint64_t)interval_ns / (8192 * NETPROF__STAMP_SLACK)) : 0;
    size_t i;
    if (s->wall_ns < 4 * near_ns || s->wall_ns > INT64_MAX - 4 * near_ns) return 0;
    for (i = 0; i < listed; i++) {
        int64_t usual = chain->habits[chain->list[i]].stamp;
        int64_t off = netprof__minus(s->stamps_ns[chain->list[i]], s->wall_ns);
        if (off < -near_ns || off > near_ns || usual < -2 * near_ns || usual > 2 * near_ns) return 0;
    }
    if (!bits) return 0;
    return bits - 1 < NETPROF__STAMP_CELL_MOST ? bits - 1 : NETPROF__STAMP_CELL_MOST;
}

static void netprof__put_stamps(netprof__buffer *b, const netprof_snapshot *s, netprof__chain *chain,
                                int64_t interval_ns)
{
    netprof_snapshot same = *s; /* only read */
    size_t may = netprof__list_values(chain, s, 1), listed = 0, i;
    unsigned cell_bits;
    int64_t worst;
    for (i = 0; i < may; i++) {
        chain->residuals[i] = !s->stamps_ns[chain->list[i]];
        if (!chain->residuals[i]) chain->list[listed++] = chain->list[i];
    }
    netprof__put_sparse(b, chain->residuals, may);
    cell_bits = netprof__stamp_cell_bits(chain, s, listed, interval_ns);
    worst = netprof__code_stamps(chain, &same, listed, cell_bits, 0);
    netprof__put_byte(b, cell_bits);
    netprof__put_varint(b, (uint64_t)netprof__sum_errors(s->stamp_error_ns, worst));
    netprof__put_sparse(b, chain->residuals, listed);
}

/* The interval that limits the rounding of stamps: the shortest one, since the next snapshot may come sooner and its
   rate should be as sharp. Until the pace is known, the time that this snapshot took: none begins before it ends. */
static int64_t netprof__stamp_interval(netprof__chain *chain, const netprof_snapshot *s)
{
    int64_t since_ns = netprof__minus(s->begin_ns, chain->begin_ns), interval_ns = chain->shortest_then_ns;
    if (since_ns < 0) since_ns = 0; /* begin_ns is of another clock: the pace is unknown */
    if (chain->written && since_ns < chain->shortest_ns) chain->shortest_ns = since_ns;
    if (chain->shortest_ns < interval_ns) interval_ns = chain->shortest_ns;
    if (chain->written++ >= NETPROF__STAMPS_PACE) return interval_ns;
    since_ns = netprof__minus(s->end_ns, s->begin_ns);
    return since_ns < interval_ns ? since_ns : interval_ns;
}

/* Writes a STEP chunk's payload, and begins a new chain where one is due. */
static void netprof__put_step(netprof__buffer *b, const netprof_snapshot *s, netprof__written *row, size_t number)
{
    netprof__chain *chain = &row->chain;
    int begins = !chain->begun || chain->position + 1 == NETPROF__CHAIN;
    unsigned char link[4];
    int64_t interval_ns;
    if (begins) {
        chain->shortest_then_ns = chain->begun ? chain->shortest_ns : INT64_MAX;
        chain->shortest_ns = INT64_MAX;
    }
    interval_ns = netprof__stamp_interval(chain, s);
    if (begins)
        netprof__chain_begin(chain, s->schema);
    else
        chain->position++;
    chain->begun = 1;
    netprof__put_le(link, begins ? row->link : chain->link, 4);
    netprof__put_varint(b, number);
    netprof__put(b, link, 4);
    netprof__put_varint(b, chain->position);
    netprof__put_varint(b, (uint64_t)s->set);
    netprof__put_times(b, s, chain);
    netprof__put_statuses(b, s, chain);
    netprof__put_values(b, s, chain);
    netprof__put_stamps(b, s, chain, interval_ns);
}

/* Writes a DIFF chunk's payload. */
static void netprof__put_delta(netprof__buffer *b, const netprof_delta *d, size_t number)
{
    size_t n = d->schema->counter_count, i, run, column;
    netprof__put_varint(b, number);
    netprof__put_signed(b, d->wall_begin_ns);
    netprof__put_signed(b, d->wall_end_ns);
    netprof__put_signed(b, d->interval_ns);
    netprof__put_varint(b, (uint64_t)d->sweep_ns);
    for (i = 0; i < n; i += run) {
        for (run = 1;
             i + run < n && d->flags[i + run] == d->flags[i] && d->before_status[i + run] == d->before_status[i] &&
             d->after_status[i + run] == d->after_status[i];
             run++)
            continue;
        netprof__put_varint(b, run);
        netprof__put_byte(b, d->flags[i]);
        netprof__put_byte(b, d->before_status[i]);
        netprof__put_byte(b, d->after_status[i]);
    }
    for (column = 0; column < 4; column++) {
        for (i = 0; i < n; i++) {
            uint64_t step = d->after[i] - d->before[i];
            netprof__zero_code(b, column == 0   ? d->before[i]
                                  : column == 1 ? netprof__zigzag((int64_t)step)
                                  : column == 2 ? netprof__zigzag((int64_t)(d->values[i] - step))
                                                : netprof__zigzag(netprof__minus(d->elapsed_ns[i], d->interval_ns)));
        }
        netprof__zero_code_end(b);
    }
    netprof__put_varint(b, (uint64_t)netprof__sum_errors(d->stamp_error_ns, 0));
}

#endif /* NETPROF_REGIONS_ONLY */

/* >>10.6 the writer */

struct netprof_writer {
    netprof_alloc alloc;
    netprof_write_fn write;
    void *user;
    int fd;                 /* -1: write() takes the bytes */
    char *path, *temporary; /* temporary: NULL if live */
    netprof__buffer buffer;
#ifndef NETPROF_REGIONS_ONLY
    netprof__written *schemas;
    size_t schema_count, schema_capacity;
#endif
    uint64_t chunks;
    netprof_error error; /* the first failure: sticks */
    uint32_t sum;        /* checksum of the last chunk */
    uint32_t crc[NETPROF__CRC_TABLES];
};

/* A file-size limit and a pipe whose reader is gone are errors of a write here; their signals must not end the program
   that we measure. They are held back in this thread for the time of the call, and taken away if the call raised them. */
typedef struct netprof__quiet {
    sigset_t signals, before, pending;
} netprof__quiet;

static void netprof__quiet_begin(netprof__quiet *q)
{
    sigemptyset(&q->signals);
    sigaddset(&q->signals, SIGXFSZ);
    sigaddset(&q->signals, SIGPIPE);
    sigpending(&q->pending);
#ifndef NETPROF_NO_THREADS
    pthread_sigmask(SIG_BLOCK, &q->signals, &q->before);
#else
    sigprocmask(SIG_BLOCK, &q->signals, &q->before);
#endif
}

/* Takes away one of these signals, if it is pending. */
static void netprof__take_signal(const sigset_t *signals)
{
#ifdef __linux__
    struct timespec now = {0, 0};
    sigtimedwait(signals, NULL, &now);
#else /* macOS and OpenBSD lack it */
    sigset_t pending;
    int number;
    sigpending(&pending);
    if ((sigismember(signals, SIGXFSZ) == 1 && sigismember(&pending, SIGXFSZ) == 1) ||
        (sigismember(signals, SIGPIPE) == 1 && sigismember(&pending, SIGPIPE) == 1))
        sigwait(signals, &number);
#endif
}

/* failed: the errno of the call, 0 if it did not fail. errno stays. */
static void netprof__quiet_end(netprof__quiet *q, int failed)
{
    int saved = errno, number = failed == EFBIG ? SIGXFSZ : failed == EPIPE ? SIGPIPE : 0;
    if (number && sigismember(&q->pending, number) == 0) {
        sigemptyset(&q->signals);
        sigaddset(&q->signals, number);
        netprof__take_signal(&q->signals);
    }
#ifndef NETPROF_NO_THREADS
    pthread_sigmask(SIG_SETMASK, &q->before, NULL);
#else
    sigprocmask(SIG_SETMASK, &q->before, NULL);
#endif
    errno = saved;
}

static netprof_err netprof__writer_failed(netprof_writer *w, netprof_error *error)
{
    if (error) *error = w->error;
    return w->error.code;
}

static netprof_err netprof__write_all(netprof_writer *w, const unsigned char *data, size_t size)
{
    int failed = 0;
    if (w->write) {
        failed = w->write(w->user, data, size);
    } else {
        netprof__quiet quiet;
        netprof__quiet_begin(&quiet);
        while (size && !failed) {
            ssize_t n = NETPROF_OS_WRITE(w->fd, data, size);
            if (n < 0 && errno == EINTR) continue;
            if (n <= 0)
                failed = n < 0 ? errno : ENOSPC;
            else {
                data += n;
                size -= (size_t)n;
            }
        }
        netprof__quiet_end(&quiet, failed);
    }
    if (failed) netprof__fail(&w->error, NETPROF_ERR_IO, failed, w->path, "cannot write");
    return w->error.code;
}

/* Begins a chunk: leaves room for its head; the payload follows. */
static void netprof__chunk_begin(netprof_writer *w, const char *tag)
{
    w->buffer.size = 0;
    netprof__put(&w->buffer, tag, 4);
    netprof__put(&w->buffer, "\0\0\0\0\0\0\0", 8);
}

/* Fills in length and checksum, and writes the chunk. */
static netprof_err netprof__chunk_end(netprof_writer *w)
{
    netprof__buffer *b = &w->buffer;
    uint32_t crc;
    if (b->failed) return netprof__no_memory(&w->error);
    if (b->size - 12 > UINT32_MAX)
        return netprof__fail(&w->error, NETPROF_ERR_LIMIT, 0, w->path, "a chunk would be larger than 4 GiB");
    netprof__put_le(b->data + 4, b->size - 12, 4);
    crc = netprof__crc(w->crc, 0, b->data, 8);
    crc = netprof__crc(w->crc, crc, b->data + 12, b->size - 12);
    netprof__put_le(b->data + 8, crc, 4);
    w->sum = crc;
    w->chunks++;
    return netprof__write_all(w, b->data, b->size);
}

static void netprof__writer_free(netprof_writer *w)
{
    netprof_alloc a = w->alloc;
#ifndef NETPROF_REGIONS_ONLY
    size_t i;
    for (i = 0; i < w->schema_count; i++) {
        netprof__chain_free(&w->schemas[i].chain, &a);
        netprof_schema_release(w->schemas[i].schema);
    }
    netprof__release(&a, w->schemas);
#endif
    if (w->fd >= 0) NETPROF_OS_CLOSE(w->fd);
    netprof__release(&a, w->buffer.data);
    netprof__release(&a, w->path);
    netprof__release(&a, w->temporary);
    netprof__release(&a, w);
}

static netprof_writer *netprof__writer_make(void)
{
    netprof_alloc a = netprof__alloc_or_default(NULL);
    netprof_writer *w = (netprof_writer *)netprof__zalloc(&a, sizeof *w);
    if (!w) return NULL;
    w->alloc = w->buffer.alloc = a;
    w->fd = -1;
    netprof__crc_tables(w->crc);
    return w;
}

static netprof_err netprof__write_header(netprof_writer *w)
{
    unsigned char header[16];
    memcpy(header, netprof__file_magic, 8);
    netprof__put_le(header + 8, NETPROF__FILE_VERSION, 2);
    netprof__put_le(header + 10, 0, 2);
    netprof__put_le(header + 12, 0x01020304, 4);
    return netprof__write_all(w, header, sizeof header);
}

/* What the kernel offers as a file, such as /dev/stdout. Not all of /dev: anybody may put files into /dev/shm. */
static int netprof__is_of_kernel(const char *path)
{
    static const char *const names[] = {"/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/"};
    size_t i;
    for (i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(path, names[i], strlen(names[i])) == 0) return 1;
    return 0;
}

/* True for files that are written in place, not replaced: pipes, devices, and what only looks like a file. */
static int netprof__written_in_place(const char *path)
{
    struct stat st;
    return netprof__is_of_kernel(path) || (stat(path, &st) == 0 && !S_ISREG(st.st_mode));
}

/* A name in the same directory, cut to fit NAME_MAX. */
static void netprof__temporary_name(char *to, size_t size, const char *path, const void *unique)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    snprintf(to, size, "%.*s%.200s.%ld-%lx.tmp", (int)(base - path), path, base, (long)getpid(),
             (unsigned long)(uintptr_t)unique);
}

/* A link's name becomes that of what it leads to. Returns 0 where that is not known. */
static int netprof__follow_link(char *name, size_t size)
{
    char target[1024];
    const char *slash = strrchr(name, '/');
    ssize_t n = readlink(name, target, sizeof target);
    size_t kept = n > 0 && target[0] != '/' && slash ? (size_t)(slash + 1 - name) : 0;
    if (n <= 0 || (size_t)n == sizeof target || kept + (size_t)n >= size) return 0;
    memcpy(name + kept, target, (size_t)n);
    name[kept + (size_t)n] = 0;
    return 1;
}

/* Somebody else could have put a link there, or where one of the superuser's leads, to have a file of the superuser's
   replaced. In `name` there is room for a path. */
static int netprof__is_trap(const char *path, char *name, size_t size)
{
    struct stat st;
    int links;
    if (geteuid() != 0 || strlen(path) >= size) return 0;
    strcpy(name, path);
    for (links = 0; links < 40 && !netprof__is_of_kernel(name); links++) {
        if (lstat(name, &st) != 0 || !S_ISLNK(st.st_mode)) break;
        if (st.st_uid != 0) return 1;
        if (!netprof__follow_link(name, size)) break;
    }
    return 0;
}

/* Opens what is written in place. A named pipe that nobody reads within a second is an error: waiting could take for
   ever. */
static int netprof__open_in_place(const char *path, int flags)
{
    struct stat st;
    struct timespec nap = {0, 10000000};
    int is_pipe = stat(path, &st) == 0 && S_ISFIFO(st.st_mode), tries = 100, fd, old;
    for (;;) {
        fd = NETPROF_OS_CREATE(path, flags | (is_pipe ? O_NONBLOCK : 0));
        if (fd < 0 && errno == EINTR) continue;
        if (fd >= 0 || errno != ENXIO || !is_pipe || !tries--) break;
        nanosleep(&nap, NULL);
        errno = ENXIO;
    }
    if (is_pipe && fd >= 0 && (old = fcntl(fd, F_GETFL)) >= 0) fcntl(fd, F_SETFL, old & ~O_NONBLOCK);
    return fd;
}

/* Creates a temporary file next to the file (or next to the target of a link); the file itself if it is live or not a
   regular file. */
static netprof_err netprof__writer_create(netprof_writer *w, const char *path, int live)
{
    int flags = O_TRUNC | O_APPEND, replace = !live && !netprof__written_in_place(path);
    const char *name = path;
    char target[PATH_MAX];
    struct stat there;
    if (netprof__is_trap(path, target, sizeof target))
        return netprof__fail(&w->error, NETPROF_ERR_IO, EACCES, path,
                             "a symbolic link of another user: the superuser does not write there");
    w->path = netprof__strdup(&w->alloc, replace && realpath(path, target) ? target : path);
    if (!w->path) return netprof__no_memory(&w->error);
    if (replace) {
        size_t size = strlen(w->path) + 48;
        w->temporary = (char *)netprof__resize(&w->alloc, NULL, size);
        if (!w->temporary) return netprof__no_memory(&w->error);
        netprof__temporary_name(w->temporary, size, w->path, w);
        unlink(w->temporary);
        name = w->temporary;
        flags = O_EXCL;
    }
    w->fd = netprof__open_in_place(name, flags);
    if (w->fd >= 0 && replace && stat(w->path, &there) == 0 && fchmod(w->fd, there.st_mode & 0777) != 0)
        errno = 0; /* it is then only less readable */
    if (w->fd < 0) {
        netprof__fail(&w->error, NETPROF_ERR_IO, errno, path, "cannot create the file");
        netprof__release(&w->alloc, w->temporary);
        w->temporary = NULL;
        return w->error.code;
    }
    return NETPROF_OK;
}

/* Writes the header and hands the writer over, or frees it after a failure. */
static netprof_err netprof__writer_ready(netprof_writer *w, netprof_writer **out, netprof_error *error)
{
    netprof_err failed = w->error.code ? w->error.code : netprof__write_header(w);
    if (failed) {
        netprof__writer_failed(w, error);
        netprof_writer_close(w, 0, NULL);
        return failed;
    }
    *out = w;
    return NETPROF_OK;
}

NETPROF_API netprof_err netprof_writer_open(netprof_writer **out, const char *path, int live, netprof_error *error)
{
    netprof_writer *w;
    if (!out || !path || !*path) return netprof__fail(error, NETPROF_ERR_ARG, 0, NULL, "no path");
    *out = NULL;
    w = netprof__writer_make();
    if (!w) return netprof__no_memory(error);
    netprof__writer_create(w, path, live);
    return netprof__writer_ready(w, out, error);
}

#ifndef NETPROF_REGIONS_ONLY
NETPROF_API netprof_err netprof_writer_open_fn(netprof_writer **out, netprof_write_fn write, void *user,
                                               netprof_error *error)
{
    netprof_writer *w;
    if (!out || !write) return netprof__fail(error, NETPROF_ERR_ARG, 0, NULL, "no function to write with");
    *out = NULL;
    w = netprof__writer_make();
    if (!w) return netprof__no_memory(error);
    w->write = write;
    w->user = user;
    return netprof__writer_ready(w, out, error);
}
#endif

NETPROF_API netprof_err netprof_write_fact(netprof_writer *w, const char *key, const char *value, netprof_error *error)
{
    if (!w || !key || !value) return netprof__fail(error, NETPROF_ERR_ARG, 0, NULL, "a fact needs a key and a value");
    if (w->error.code) return netprof__writer_failed(w, error);
    netprof__chunk_begin(w, "FACT");
    netprof__put_text(&w->buffer, key);
    netprof__put_text(&w->buffer, value);
    return netprof__chunk_end(w) ? netprof__writer_failed(w, error) : NETPROF_OK;
}

#ifndef NETPROF_REGIONS_ONLY
/* Returns the schema's number in the file, after writing the schema if it is new; NETPROF_NONE on failure. */
static size_t netprof__write_schema(netprof_writer *w, const netprof_schema *schema)
{
    netprof__written *row;
    size_t i;
    for (i = 0; i < w->schema_count; i++) /* nearly always; comparing two schemas costs more than all else */
        if (w->schemas[i].schema == schema) return i;
    for (i = 0; i < w->schema_count; i++)
        if (netprof__same_schema(w->schemas[i].schema, schema)) return i;
    if (!netprof__grow(&w->alloc, &w->schemas, &w->schema_capacity, w->schema_count + 1, sizeof *w->schemas)) {
        netprof__no_memory(&w->error);
        return NETPROF_NONE;
    }
    netprof__chunk_begin(w, "SCHM");
    netprof__put_schema(&w->buffer, schema, w->schema_count);
    if (netprof__chunk_end(w)) return NETPROF_NONE;
    row = &w->schemas[w->schema_count++];
    memset(row, 0, sizeof *row);
    netprof_schema_retain(schema);
    row->schema = schema;
    row->link = w->sum;
    return w->schema_count - 1;
}

NETPROF_API netprof_err netprof_write_snapshot(netprof_writer *w, const netprof_snapshot *s, netprof_error *error)
{
    netprof__written *row;
    size_t number;
    if (!w || !s || !s->schema) return netprof__fail(error, NETPROF_ERR_ARG, 0, NULL, "no snapshot");
    if (w->error.code || (number = netprof__write_schema(w, s->schema)) == NETPROF_NONE)
        return netprof__writer_failed(w, error);
    row = &w->schemas[number];
    if (!netprof__chain_room(&row->chain, &w->alloc, s->schema)) {
        netprof__no_memory(&w->error);
        return netprof__writer_failed(w, error);
    }
    netprof__chunk_begin(w, "STEP");
    netprof__put_step(&w->buffer, s, row, number);
    if (netprof__chunk_end(w)) return netprof__writer_failed(w, error);
    row->chain.link = w->sum;
    return NETPROF_OK;
}

NETPROF_API netprof_err netprof_write_delta(netprof_writer *w, const netprof_delta *d, netprof_error *error)
{
    size_t number;
    if (!w || !d || !d->schema) return netprof__fail(error, NETPROF_ERR_ARG, 0, NULL, "no delta");
    if (w->error.code || (number = netprof__write_schema(w, d->schema)) == NETPROF_NONE)
        return netprof__writer_failed(w, error);
    netprof__chunk_begin(w, "DIFF");
    netprof__put_delta(&w->buffer, d, number);
    return netprof__chunk_end(w) ? netprof__writer_failed(w, error) : NETPROF_OK;
}

/* Differences, so that what stays or grows evenly takes little. */
static void netprof__put_differences(netprof__buffer *b, const int64_t *numbers, size_t count)
{
    uint64_t before = 0;
    size_t i;
    for (i = 0; i < count; i++) {
        netprof__zero_code(b, netprof__zigzag((int64_t)((uint64_t)numbers[i] - before)));
        before = (uint64_t)numbers[i];
    }
    netprof__zero_code_end(b);
}

/* The different texts of a column, and in numbers[] which of them each row has. Few are different: a look at the last ones
   finds nearly all. Returns how many; NETPROF_NONE: out of memory. */
static size_t netprof__events_texts(netprof_writer *w, const netprof_events_column *c, size_t count, int64_t *numbers,
                                    size_t **different)
{
    size_t *rows = NULL, capacity = 0, known = 0, i, k;
    for (i = 0; i < count; i++) {
        size_t last = known > 64 ? known - 64 : 0;
        for (k = known; k > last && strcmp(c->texts[rows[k - 1]], c->texts[i]) != 0;)
            k--;
        if (k == last) {
            if (!netprof__grow(&w->alloc, &rows, &capacity, known + 1, sizeof *rows)) {
                netprof__release(&w->alloc, rows);
                return NETPROF_NONE;
            }
            rows[known++] = i;
            k = known;
        }
        numbers[i] = (int64_t)(k - 1);
    }
    *different = rows;
    return known;
}

static int netprof__put_events_texts(netprof_writer *w, const netprof_events_column *c, size_t count)
{
    int64_t *numbers = (int64_t *)netprof__resize(&w->alloc, NULL, (count + 1) * sizeof *numbers);
    size_t *rows = NULL, known = numbers ? netprof__events_texts(w, c, count, numbers, &rows) : NETPROF_NONE, i;
    if (known != NETPROF_NONE) {
        netprof__put_varint(&w->buffer, known);
        for (i = 0; i < known; i++)
            netprof__put_text(&w->buffer, c->texts[rows[i]]);
        netprof__put_differences(&w->buffer, numbers, count);
    }
    netprof__release(&w->alloc, rows);
    netprof__release(&w->alloc, numbers);
    return known != NETPROF_NONE;
}

/* Every column has a name, and every row a number or a text in it. */
static int netprof__events_are_whole(const netprof_events *e)
{
    size_t i, k;
    for (i = 0; i < e->column_count; i++) {
        const netprof_events_column *c = &e->columns[i];
        if (!c->name || (e->count && !c->numbers && !c->texts)) return 0;
        for (k = 0; c->texts && k < e->count; k++)
            if (!c->texts[k]) return 0;
    }
    return 1;
}

NETPROF_API netprof_err netprof_write_events(netprof_writer *w, const netprof_events *e, netprof_error *error)
{
    size_t i;
    if (!w || !e || !e->kind || (!e->columns && e->column_count) || (!e->column_count && e->count))
        return netprof__fail(error, NETPROF_ERR_ARG, 0, NULL, "no events");
    if (w->error.code) return netprof__writer_failed(w, error);
    if (e->count > NETPROF_EVENTS_MAX || e->column_count > 255)
        return netprof__fail(error, NETPROF_ERR_LIMIT, 0, NULL, "more events than a part may have");
    if (!netprof__events_are_whole(e))
        return netprof__fail(error, NETPROF_ERR_ARG, 0, NULL, "a column of events without a name or without its rows");
    netprof__chunk_begin(w, "EVNT");
    netprof__put_text(&w->buffer, e->kind);
    netprof__put_varint(&w->buffer, e->column_count);
    netprof__put_varint(&w->buffer, e->count);
    for (i = 0; i < e->column_count; i++) {
        const netprof_events_column *c = &e->columns[i];
        netprof__put_text(&w->buffer, c->name);
        netprof__put_byte(&w->buffer, c->texts != NULL);
        if (!c->texts)
            netprof__put_differences(&w->buffer, c->numbers, e->count);
        else if (!netprof__put_events_texts(w, c, e->count))
            w->buffer.failed = 1;
    }
    return netprof__chunk_end(w) ? netprof__writer_failed(w, error) : NETPROF_OK;
}

#endif /* NETPROF_REGIONS_ONLY */

/* Gives the file its name only after every byte is on disk. */
static void netprof__writer_publish(netprof_writer *w)
{
    int fd = w->fd, failed;
    if (fd < 0) return;
    w->fd = -1;
    do
        failed = w->temporary && NETPROF_OS_FSYNC(fd) != 0 ? errno : 0;
    while (failed == EINTR);
    if (failed && failed != EINVAL && failed != ENOSYS)
        netprof__fail(&w->error, NETPROF_ERR_IO, failed, w->path, "cannot write to disk");
    if (NETPROF_OS_CLOSE(fd) != 0 && errno != EINTR && !w->error.code)
        netprof__fail(&w->error, NETPROF_ERR_IO, errno, w->path, "cannot write to disk");
    if (!w->temporary || w->error.code) return;
    do
        failed = NETPROF_OS_RENAME(w->temporary, w->path) != 0 ? errno : 0;
    while (failed == EINTR);
    if (failed) netprof__fail(&w->error, NETPROF_ERR_IO, failed, w->path, "cannot give the file its name");
}

NETPROF_API netprof_err netprof_writer_close(netprof_writer *w, int keep, netprof_error *error)
{
    netprof_err failed;
    if (!w) return NETPROF_OK;
    if (keep && !w->error.code) {
        uint64_t before = w->chunks;
        netprof__chunk_begin(w, "END ");
        netprof__put_varint(&w->buffer, before);
        netprof__chunk_end(w);
    }
    if (keep && !w->error.code) netprof__writer_publish(w);
    if (w->temporary && (!keep || w->error.code)) unlink(w->temporary);
    failed = w->error.code;
    if (failed) netprof__writer_failed(w, error);
    netprof__writer_free(w);
    return failed;
}

#ifndef NETPROF_REGIONS_ONLY
NETPROF_API netprof_err netprof_save_file(const char *path, const netprof_snapshot *snapshots, size_t count,
                                          netprof_error *error)
{
    netprof_writer *w;
    netprof_err failed = netprof_writer_open(&w, path, 0, error), ended;
    size_t i;
    if (failed) return failed;
    for (i = 0; i < count && !failed; i++)
        failed = netprof_write_snapshot(w, &snapshots[i], error);
    ended = netprof_writer_close(w, !failed, failed ? NULL : error);
    return failed ? failed : ended;
}

#endif

/* >>10.7 writing regions */

static uint64_t netprof__double_bits(double d)
{
    uint64_t v;
    memcpy(&v, &d, sizeof v);
    return v;
}

static void netprof__put_regions_head(netprof__buffer *b, const netprof_regions *r, size_t schema)
{
    unsigned char mode = (unsigned char)r->mode;
    uint64_t before = 0;
    size_t i;
    netprof__put(b, &mode, 1);
    netprof__put_varint(b, schema);
    netprof__put_varint(b, r->counter_count);
    for (i = 0; i < r->counter_count; i++) {
        netprof__put_varint(b, r->counters[i] - before);
        before = r->counters[i];
    }
    netprof__put_signed(b, r->wall_ns);
    netprof__put_signed(b, r->elapsed_ns);
    netprof__put_varint(b, r->threads);
    netprof__put_varint(b, r->mismatched);
    netprof__put_varint(b, r->dropped);
    netprof__put_varint(b, r->overhead_ps);
    netprof__put_signed(b, r->sweep_ns);
    netprof__put_signed(b, r->interval_ns);
    netprof__put_text(b, r->clock ? r->clock : "");
    netprof__put_text(b, r->warning ? r->warning : "");
}

static void netprof__put_stat(netprof__buffer *b, const netprof_stat *s, size_t name, size_t counters)
{
    const uint64_t values[] = {s->thread,
                               s->node,
                               s->parent == UINT32_MAX ? 0 : (uint64_t)s->parent + 1,
                               name,
                               s->calls,
                               s->measured,
                               s->open,
                               s->spans,
                               s->inclusive_ns,
                               s->exclusive_ns,
                               s->min_ns,
                               s->max_ns,
                               s->bytes,
                               s->aborted,
                               s->too_short,
                               s->counted,
                               s->concurrency,
                               s->total_ns};
    unsigned char bits[8];
    size_t i;
    for (i = 0; i < sizeof values / sizeof *values; i++)
        netprof__put_varint(b, values[i]);
    netprof__put_le(bits, netprof__double_bits(s->variance_ns2), 8);
    netprof__put(b, bits, 8);
    for (i = 0; i < NETPROF_HISTOGRAM_BUCKETS; i++)
        netprof__zero_code(b, s->histogram[i]);
    netprof__zero_code_end(b);
    for (i = 0; i < counters; i++)
        netprof__zero_code(b, s->counter_sums[i]);
    netprof__zero_code_end(b);
}

/* Numbers the names of the stats in the order of first use. A slot, found by the hash of the name, holds a stat's index
   + 1. */
typedef struct netprof__region_names {
    size_t *slots, mask;
    size_t *numbers; /* [count of stats] number of each stat's name */
    size_t count;    /* of different names */
} netprof__region_names;

static void netprof__region_number(netprof__region_names *n, const netprof_regions *r, size_t i)
{
    const char *name = r->stats[i].region, *p;
    uint32_t hash = NETPROF__FNV32_BASIS;
    size_t at;
    for (p = name; *p; p++)
        hash = (hash ^ (unsigned char)*p) * NETPROF__FNV32_PRIME;
    for (at = hash & n->mask; n->slots[at]; at = (at + 1) & n->mask)
        if (strcmp(r->stats[n->slots[at] - 1].region, name) == 0) {
            n->numbers[i] = n->numbers[n->slots[at] - 1];
            return;
        }
    n->slots[at] = i + 1;
    n->numbers[i] = n->count++;
}

/* The parts at the end of the chunk: kinds, and where one begins. */
enum netprof__region_part { NETPROF__PART_READINGS = 1, NETPROF__PART_WAITS = 2, NETPROF__PART_VALUES = 3 };

static size_t netprof__part_begin(netprof__buffer *b, unsigned kind)
{
    netprof__put_byte(b, kind);
    netprof__put(b, "\0\0\0", 4);
    return b->size;
}

static void netprof__part_end(netprof__buffer *b, size_t begin)
{
    if (!b->failed) netprof__put_le(b->data + begin - 4, b->size - begin, 4);
}

static void netprof__put_waits(netprof__buffer *b, const netprof_regions *r, size_t count)
{
    size_t i, before = 0, at = netprof__part_begin(b, NETPROF__PART_WAITS);
    netprof__put_varint(b, count);
    for (i = 0; i < r->count; i++) {
        if (!r->stats[i].waits) continue;
        netprof__put_varint(b, i - before);
        netprof__put_varint(b, r->stats[i].waits);
        netprof__put_varint(b, r->stats[i].waited_ns);
        before = i;
    }
    netprof__part_end(b, at);
}

static void netprof__put_value(netprof__buffer *b, const netprof_value_stat *v, size_t before)
{
    size_t i;
    netprof__put_varint(b, v->stat - before);
    netprof__put_text(b, v->name);
    netprof__put_varint(b, v->count);
    netprof__put_signed(b, v->sum);
    netprof__put_signed(b, v->least);
    netprof__put_signed(b, v->most);
    netprof__put_signed(b, v->at_longest);
    netprof__put_varint(b, v->longest_ns);
    for (i = 0; i < NETPROF_VALUE_BUCKETS; i++)
        netprof__zero_code(b, v->counts[i]);
    netprof__zero_code_end(b);
    for (i = 0; i < NETPROF_VALUE_BUCKETS; i++)
        netprof__zero_code(b, v->times_ns[i]);
    netprof__zero_code_end(b);
}

static void netprof__put_region_parts(netprof__buffer *b, const netprof_regions *r)
{
    size_t at, i, waits = 0;
    for (i = 0; i < r->count; i++)
        waits += r->stats[i].waits != 0;
    if (waits) netprof__put_waits(b, r, waits);
    if (r->value_count) {
        at = netprof__part_begin(b, NETPROF__PART_VALUES);
        netprof__put_varint(b, r->value_count);
        for (i = 0; i < r->value_count; i++)
            netprof__put_value(b, &r->values[i], i ? r->values[i - 1].stat : 0);
        netprof__part_end(b, at);
    }
    if (r->readings) {
        at = netprof__part_begin(b, NETPROF__PART_READINGS);
        netprof__put_varint(b, r->readings);
        netprof__put_varint(b, r->reading_ns);
        netprof__part_end(b, at);
    }
}

static netprof_err netprof__put_regions(netprof_writer *w, const netprof_regions *r, size_t schema)
{
    netprof__region_names names;
    size_t i, slots = 16, first = 0;
    memset(&names, 0, sizeof names);
    while (slots < 2 * r->count)
        slots *= 2;
    names.mask = slots - 1;
    names.slots = (size_t *)netprof__zalloc(&w->alloc, (slots + r->count) * sizeof *names.slots);
    if (!names.slots) return netprof__no_memory(&w->error);
    names.numbers = names.slots + slots;
    for (i = 0; i < r->count; i++)
        netprof__region_number(&names, r, i);
    netprof__put_regions_head(&w->buffer, r, schema);
    netprof__put_varint(&w->buffer, names.count);
    for (i = 0; i < r->count; i++)
        if (names.numbers[i] == first) {
            netprof__put_text(&w->buffer, r->stats[i].region);
            first++;
        }
    netprof__put_varint(&w->buffer, r->count);
    for (i = 0; i < r->count; i++)
        netprof__put_stat(&w->buffer, &r->stats[i], names.numbers[i], r->counter_count);
    netprof__release(&w->alloc, names.slots);
    netprof__put_region_parts(&w->buffer, r);
    return NETPROF_OK;
}

NETPROF_API netprof_err netprof_write_regions(netprof_writer *w, const netprof_regions *r, netprof_error *error)
{
    size_t number = 0;
    if (!w || !r) return netprof__fail(error, NETPROF_ERR_ARG, 0, NULL, "no regions");
    if (w->error.code) return netprof__writer_failed(w, error);
#ifndef NETPROF_REGIONS_ONLY
    if (r->schema && (number = netprof__write_schema(w, r->schema) + 1) == 0) return netprof__writer_failed(w, error);
#endif
    netprof__chunk_begin(w, "REGN");
    return netprof__put_regions(w, r, number) || netprof__chunk_end(w) ? netprof__writer_failed(w, error) : NETPROF_OK;
}

#ifndef NETPROF_NO_READER
/* >>10.8 the reader: its state, integers and bit codes */

/* Bytes still to be decoded. `bad` sticks. */
typedef struct netprof__cursor {
    const unsigned char *at, *end;
    uint64_t zeros; /* of the zero code, still to come */
    int bad;
} netprof__cursor;

static unsigned netprof__take_byte(netprof__cursor *c)
{
    if (c->at >= c->end) {
        c->bad = 1;
        return 0;
    }
    return *c->at++;
}

static uint32_t netprof__take_u32(netprof__cursor *c)
{
    uint32_t v = netprof__take_byte(c);
    v |= (uint32_t)netprof__take_byte(c) << 8;
    v |= (uint32_t)netprof__take_byte(c) << 16;
    return v | (uint32_t)netprof__take_byte(c) << 24;
}

/* At most 10 bytes, of which the last may only be 0 or 1; anything else is damage. */
static uint64_t netprof__take_varint(netprof__cursor *c)
{
    uint64_t v = 0;
    int shift;
    for (shift = 0; shift < 70; shift += 7) {
        uint64_t byte = netprof__take_byte(c);
        if (shift == 63 && byte > 1) break;
        v |= (byte & 127) << shift;
        if (byte < 128) return v;
    }
    c->bad = 1;
    return 0;
}

static int64_t netprof__take_signed(netprof__cursor *c)
{
    return netprof__unzigzag(netprof__take_varint(c));
}

static uint64_t netprof__take_zero_code(netprof__cursor *c)
{
    uint64_t v;
    if (c->zeros) {
        c->zeros--;
        return 0;
    }
    v = netprof__take_varint(c);
    if (!v) c->zeros = netprof__take_varint(c);
    return v;
}

static uint64_t netprof__take_bits(netprof__cursor *c, netprof__bits *bits, unsigned count)
{
    uint64_t v;
    if (count > 32) {
        v = netprof__take_bits(c, bits, 32);
        return v | netprof__take_bits(c, bits, count - 32) << 32;
    }
    while (bits->used < count) {
        bits->word |= (uint64_t)netprof__take_byte(c) << bits->used;
        bits->used += 8;
    }
    v = bits->word & (((uint64_t)1 << count) - 1);
    bits->word >>= count;
    bits->used -= count;
    return v;
}

static uint64_t netprof__take_rice(netprof__cursor *c, netprof__bits *bits, unsigned k)
{
    uint64_t ones = 0;
    while (ones < NETPROF__RICE_LONGEST && netprof__take_bits(c, bits, 1) && !c->bad)
        ones++;
    if (ones == NETPROF__RICE_LONGEST) return netprof__take_bits(c, bits, 64);
    return ones << k | netprof__take_bits(c, bits, k);
}

/* A count of things that take at least one byte each: a count larger than the remaining bytes is damage. */
static size_t netprof__take_count(netprof__cursor *c)
{
    uint64_t v = netprof__take_varint(c);
    if (v > (uint64_t)(c->end - c->at)) {
        c->bad = 1;
        return 0;
    }
    return (size_t)v;
}

typedef struct netprof__read_schema {
    const netprof_schema *schema; /* NULL: damaged or missing */
    netprof_snapshot key;         /* last key snapshot of version 1 */
    uint64_t key_number;
    int has_key;
    uint32_t link; /* checksum of its chunk */
    netprof__chain chain;
    uint64_t chain_at; /* offset in the file at which it begins */
    int passed;        /* its last snapshot was not decoded */
} netprof__read_schema;

struct netprof_reader {
    netprof_alloc alloc;
    netprof_limits limits;
    const unsigned char *data;
    unsigned char *owned;
    char *path;
    size_t size, at, capacity; /* of data, of owned: a window on the file, or all of it if it is in memory */
    uint64_t base;             /* offset of the window in the file */
    netprof_read_fn read;      /* reads what follows the window; NULL: nothing does */
    void *user;
    int fd, failed; /* failed: errno of a reading */
    uint64_t lost;  /* damaged bytes before r->at that were not reported yet */
    int later;      /* ... and a later netprof wrote them */
    int large;      /* among them may be a chunk larger than max_memory */
    uint64_t memory, chunks;
    uint64_t pass_until, needs; /* needs: of the last snapshot; passed: it was not decoded */
    int passed;
    const netprof_schema *passed_schema;
    int foreign; /* the chunks here belong to another file, whose beginning is lost */
    netprof__read_schema *schemas;
    size_t schema_count, schema_capacity;
    netprof_snapshot snapshot;
    netprof_delta delta;
    netprof_regions regions;
    netprof_fact fact;
    netprof_events events;
    netprof_events_column *event_columns;
    int64_t *event_numbers;
    const char **event_texts;
    size_t *event_words; /* offsets in `texts`: the columns' names, then the texts of all columns */
    size_t event_columns_capacity, event_numbers_capacity, event_texts_capacity, event_words_capacity;
    char *texts; /* of the fact, of events, and scratch space for names */
    size_t texts_capacity;
    uint8_t *marks;
    size_t marks_capacity;
    char damage[200];
    int ended, starved; /* starved: an allocation failed; the chunk can be tried again */
    uint64_t searched;  /* bytes after damage whose checksum was computed in vain */
    uint32_t crc[NETPROF__CRC_TABLES];
};

/* The checksum of the current chunk. */
static uint32_t netprof__chunk_sum(const netprof_reader *r)
{
    return (uint32_t)netprof__get_le(r->data + r->at + 8, 4);
}

/* For an intact chunk that does not fit into memory now. */
static const char *netprof__reader_starved(netprof_reader *r)
{
    r->starved = 1;
    return "";
}

static int netprof__reader_room(netprof_reader *r, void *array_pointer, size_t *capacity, size_t need, size_t size)
{
    if (netprof__grow(&r->alloc, array_pointer, capacity, need, size)) return 1;
    r->starved = 1;
    return 0;
}

static void *netprof__reader_zalloc(netprof_reader *r, size_t count, size_t size)
{
    void *p = netprof__zalloc(&r->alloc, count * size);
    r->starved |= !p;
    return p;
}

/* Reserves memory within the limit; returns 1 if the reader may hold that many more bytes. */
static int netprof__reader_may_hold(netprof_reader *r, uint64_t bytes)
{
    if (bytes > r->limits.max_memory || r->memory > r->limits.max_memory - bytes) return 0;
    r->memory += bytes;
    return 1;
}

/* Copies a text to the scratch space at `from`; a 0 byte inside ends it early. Returns where the next one may go, 0 on
   failure. */
static size_t netprof__take_text(netprof_reader *r, netprof__cursor *c, size_t from)
{
    size_t n = netprof__take_count(c);
    if (c->bad || !netprof__reader_room(r, &r->texts, &r->texts_capacity, from + n + 1, 1)) {
        c->bad = 1;
        return 0;
    }
    if (n) memcpy(r->texts + from, c->at, n);
    r->texts[from + n] = 0;
    c->at += n;
    return from + n + 1;
}

/* >>10.9 reading schemas */

static void netprof__take_facts(netprof_reader *r, netprof__cursor *c, netprof_list *list, int of_device)
{
    size_t n = netprof__take_count(c), i, value;
    for (i = 0; i < n && !c->bad; i++) {
        value = netprof__take_text(r, c, 0);
        if (!value || !netprof__take_text(r, c, value)) return;
        if (of_device)
            netprof_list_fact(list, r->texts, r->texts + value);
        else
            netprof_build_fact(list, r->texts, r->texts + value);
    }
}

/* The parts of a schema chunk before they become a list: classes, counters of all lists, and where each list begins. */
typedef struct netprof__schema_parts {
    netprof_counter *classes; /* `unit` points into `units` */
    char **units;
    size_t class_count;
    /* Of all lists, one after another; their names are at the offsets `name_at` in `names`. */
    netprof_counter *counters;
    size_t *name_at;
    size_t counter_count, counter_capacity, name_at_capacity;
    char *names;
    size_t names_size, names_capacity;
    size_t *list_first, *list_length;
    size_t list_count;
    uint64_t *source_devices;
    size_t source_count;
} netprof__schema_parts;

static void netprof__schema_parts_free(const netprof_alloc *a, netprof__schema_parts *p)
{
    size_t i;
    for (i = 0; p->units && i < p->class_count; i++)
        netprof__release(a, p->units[i]);
    netprof__release(a, p->units);
    netprof__release(a, p->classes);
    netprof__release(a, p->counters);
    netprof__release(a, p->name_at);
    netprof__release(a, p->names);
    netprof__release(a, p->list_first);
    netprof__release(a, p->list_length);
    netprof__release(a, p->source_devices);
}

static void netprof__take_classes(netprof_reader *r, netprof__cursor *c, netprof__schema_parts *p)
{
    size_t n = netprof__take_count(c), i;
    p->classes = (netprof_counter *)netprof__reader_zalloc(r, n, sizeof *p->classes);
    p->units = (char **)netprof__reader_zalloc(r, n, sizeof *p->units);
    if (!p->classes || !p->units) {
        c->bad = 1;
        return;
    }
    p->class_count = n;
    for (i = 0; i < n && !c->bad; i++) {
        if (!netprof__take_text(r, c, 0)) return;
        p->units[i] = netprof__strdup(&r->alloc, r->texts);
        if (!p->units[i]) c->bad = r->starved = 1;
        p->classes[i].unit = p->units[i];
        p->classes[i].kind = (uint8_t)netprof__take_byte(c);
        p->classes[i].width = (uint8_t)netprof__take_byte(c);
        p->classes[i].scale = (uint16_t)netprof__take_varint(c);
        p->classes[i].flags = (uint16_t)netprof__take_varint(c);
        c->bad |= p->classes[i].kind > NETPROF_KIND_HISTOGRAM || p->classes[i].width > 64;
    }
}

/* Appends the next name of a list after `previous` (an offset, or NETPROF_NONE). Returns its offset, or NETPROF_NONE.
   `run`: how many more names are just numbered on. */
static size_t netprof__take_name(netprof_reader *r, netprof__cursor *c, netprof__schema_parts *p, size_t previous,
                                 uint64_t *run)
{
    const char *before = previous == NETPROF_NONE ? "" : p->names + previous;
    size_t length = strlen(before), at = p->names_size, shared;
    uint64_t t = *run ? 0 : netprof__take_varint(c);
    if (!t) *run = *run ? *run - 1 : netprof__take_varint(c);
    shared = t ? (size_t)(t - 1) : length;
    if (c->bad || shared > length || (t && !netprof__take_text(r, c, 0)) ||
        !netprof__reader_may_hold(r, 3 * (shared + (t ? strlen(r->texts) : 1) + 2)) || /* here, grown, and interned */
        !netprof__reader_room(r, &p->names, &p->names_capacity, at + shared + (t ? strlen(r->texts) : 1) + 2, 1)) {
        c->bad = 1;
        return NETPROF_NONE;
    }
    if (shared) memcpy(p->names + at, p->names + previous, shared);
    p->names[at + shared] = 0;
    if (t)
        strcpy(p->names + at + shared, r->texts);
    else if (!netprof__next_name(p->names + at, shared + 3))
        c->bad = 1;
    p->names_size = at + strlen(p->names + at) + 1;
    return at;
}

/* Reads a list of counters: the names, then runs of classes. */
static void netprof__take_list(netprof_reader *r, netprof__cursor *c, netprof__schema_parts *p, size_t number)
{
    /* Names in a run take less than a byte each: only the limit bounds n. */
    uint64_t given = netprof__take_varint(c), run = 0;
    size_t first = p->counter_count, n = (size_t)given, i, previous = NETPROF_NONE;
    p->list_first[number] = first;
    p->list_length[number] = n;
    if (c->bad || given > r->limits.max_counters || first + n > r->limits.max_counters ||
        !netprof__reader_may_hold(r, given * (sizeof *p->counters + sizeof *p->name_at)) ||
        !netprof__reader_room(r, &p->counters, &p->counter_capacity, first + n, sizeof *p->counters) ||
        !netprof__reader_room(r, &p->name_at, &p->name_at_capacity, first + n, sizeof *p->name_at)) {
        c->bad = 1;
        return;
    }
    p->counter_count = first + n;
    for (i = first; i < first + n && !c->bad; i++)
        previous = p->name_at[i] = netprof__take_name(r, c, p, previous, &run);
    c->bad |= run != 0;
    for (i = first; i < first + n && !c->bad;) {
        uint64_t class_number = netprof__take_varint(c);
        run = netprof__take_varint(c);
        if (class_number >= p->class_count || !run || run > first + n - i) {
            c->bad = 1;
            return;
        }
        while (run--)
            p->counters[i++] = p->classes[class_number];
    }
}

static void netprof__take_sources(netprof_reader *r, netprof__cursor *c, netprof__cursor *kept,
                                  netprof__schema_parts *p)
{
    size_t i;
    *kept = *c; /* read again with the devices: a source's row comes before its devices */
    p->source_count = netprof__take_count(c);
    p->source_devices = (uint64_t *)netprof__reader_zalloc(r, p->source_count, sizeof *p->source_devices);
    c->bad |= !p->source_devices;
    for (i = 0; i < p->source_count && !c->bad; i++) {
        netprof__take_text(r, c, 0);
        c->bad |= netprof__take_byte(c) > NETPROF_STATUS_UNREADABLE;
        netprof__take_varint(c);
        netprof__take_text(r, c, 0);
        p->source_devices[i] = netprof__take_varint(c);
    }
}

static void netprof__take_lists(netprof_reader *r, netprof__cursor *c, netprof__schema_parts *p)
{
    size_t i, n = netprof__take_count(c);
    p->list_first = (size_t *)netprof__reader_zalloc(r, n, sizeof *p->list_first);
    p->list_length = (size_t *)netprof__reader_zalloc(r, n, sizeof *p->list_length);
    if (!p->list_first || !p->list_length) {
        c->bad = 1;
        return;
    }
    p->list_count = n;
    for (i = 0; i < n && !c->bad; i++)
        netprof__take_list(r, c, p, i);
}

#define NETPROF__COUNTER_COST 160 /* bytes per counter: of a schema, and of snapshots of it */

static void netprof__take_device(netprof_reader *r, netprof__cursor *c, netprof_list *list,
                                 const netprof__schema_parts *p)
{
    uint64_t identity, flags, number;
    size_t i;
    if (!netprof__take_text(r, c, 0)) return;
    identity = netprof__take_varint(c);
    flags = netprof__take_varint(c);
    number = netprof__take_varint(c);
    if (c->bad || number >= p->list_count ||
        list->schema->pub.counter_count + p->list_length[number] > r->limits.max_counters ||
        !netprof__reader_may_hold(r, NETPROF__COUNTER_COST * (uint64_t)p->list_length[number])) {
        c->bad = 1;
        return;
    }
    netprof_list_device(list, r->texts, identity, (unsigned)flags);
    netprof__take_facts(r, c, list, 1);
    for (i = p->list_first[number]; i < p->list_first[number] + p->list_length[number] && !c->bad; i++) {
        netprof_counter counter = p->counters[i];
        counter.name = p->names + p->name_at[i];
        c->bad |= netprof_list_counter(list, &counter) == NETPROF_NONE ||
                  strcmp(list->schema->counters[list->schema->pub.counter_count - 1].name, counter.name) != 0;
    }
}

/* Lists the sources, each followed by its devices. */
static void netprof__take_devices(netprof_reader *r, netprof__cursor *c, netprof__cursor *sources, netprof_list *list,
                                  const netprof__schema_parts *p)
{
    size_t total = netprof__take_count(c), done = 0, i;
    uint64_t k;
    netprof__take_count(sources);
    c->bad |= total > r->limits.max_devices;
    for (i = 0; i < p->source_count && !c->bad; i++) {
        netprof_status status;
        int sys_errno;
        netprof__take_text(r, sources, 0);
        netprof_build_source(list, r->texts);
        status = (netprof_status)netprof__take_byte(sources);
        sys_errno = (int)netprof__take_varint(sources);
        netprof__take_text(r, sources, 0);
        netprof_list_state(list, status, sys_errno, r->texts);
        netprof__take_varint(sources);
        for (k = 0; k < p->source_devices[i] && !c->bad; k++, done++)
            netprof__take_device(r, c, list, p);
    }
    c->bad |= done != total || sources->bad;
}

/* Reads a SCHM chunk; NULL if it does not decode, or if out of memory (r->starved). */
static const netprof_schema *netprof__take_schema(netprof_reader *r, netprof__cursor *c, size_t *number)
{
    netprof_list *list = netprof__list_make(&r->alloc);
    const netprof_schema *schema = NULL;
    netprof__schema_parts p;
    netprof__cursor sources;
    uint64_t held = r->memory;
    memset(&p, 0, sizeof p);
    if (!list) {
        r->starved = 1;
        return NULL;
    }
    *number = (size_t)netprof__take_varint(c);
    netprof__take_facts(r, c, list, 0);
    if (!c->bad) netprof__take_sources(r, c, &sources, &p);
    if (!c->bad) netprof__take_classes(r, c, &p);
    if (!c->bad) netprof__take_lists(r, c, &p);
    if (!c->bad) netprof__take_devices(r, c, &sources, list, &p);
    netprof__schema_parts_free(&r->alloc, &p);
    r->memory = held; /* what remains is charged when it is kept */
    r->starved |= list->failed == NETPROF_ERR_NOMEM;
    if (c->bad || list->failed) {
        netprof__list_free(list);
        return NULL;
    }
    r->memory += p.names_size;
    return netprof_build_end(list, &schema, NULL) ? NULL : schema;
}

/* Keeps a schema under its number; missing numbers before it are lost schemas. */
static const char *netprof__keep_schema(netprof_reader *r, netprof__cursor *c)
{
    size_t number = 0;
    uint64_t held = r->memory;
    const netprof_schema *schema = netprof__take_schema(r, c, &number);
    if (!schema) return "a schema that does not decode, or is over the limits";
    if (number < r->schema_count && r->schemas[number].schema)
        r->foreign |= r->schemas[number].link != netprof__chunk_sum(r); /* a file never has two with one number */
    if (r->foreign) {
        netprof_schema_release(schema);
        r->memory = held;
        return "a schema of another file, whose beginning is lost";
    }
    if (number > r->schema_count + 4096 || /* so many lost schemas are implausible */
        (number < r->schema_count && r->schemas[number].schema) ||
        !netprof__reader_may_hold(r, NETPROF__COUNTER_COST *
                                         (uint64_t)(schema->counter_count + schema->device_count + 10)) ||
        !netprof__reader_room(r, &r->schemas, &r->schema_capacity, number + 1, sizeof *r->schemas)) {
        netprof_schema_release(schema);
        r->memory = held; /* if out of memory (r->starved), the caller tries again */
        return "a schema with a wrong number, or over the limits";
    }
    while (r->schema_count <= number)
        memset(&r->schemas[r->schema_count++], 0, sizeof *r->schemas);
    r->schemas[number].schema = schema;
    r->schemas[number].link = netprof__chunk_sum(r);
    return NULL;
}

static const netprof_schema *netprof__schema_number(netprof_reader *r, netprof__cursor *c, size_t *number)
{
    *number = (size_t)netprof__take_varint(c);
    return !c->bad && *number < r->schema_count ? r->schemas[*number].schema : NULL;
}

/* >>10.10 reading snapshots of format version 1 */

/* Marks of stamps, one byte per counter. */
#define NETPROF__STAMPED_HERE 1 /* has a stamp */
#define NETPROF__ANCHOR       2 /* the stamp is in the file */

#define NETPROF__ANCHOR_EVERY 64 /* stamps of a device: keeps the error of interpolation small */

/* Marks the anchors that need not be listed, given which counters have a stamp. */
static void netprof__mark_regular(const netprof_snapshot *s, uint8_t *marks)
{
    size_t d, i, last, n;
    for (d = 0; d < s->schema->device_count; d++) {
        const netprof_device *device = &s->schema->devices[d];
        last = NETPROF_NONE;
        n = 0;
        for (i = device->first; i < (size_t)device->first + device->count; i++) {
            if (!(marks[i] & NETPROF__STAMPED_HERE)) {
                marks[i] = 0;
                continue;
            }
            if (n++ % NETPROF__ANCHOR_EVERY == 0) marks[i] |= NETPROF__ANCHOR;
            last = i;
        }
        if (last != NETPROF_NONE) marks[last] |= NETPROF__ANCHOR;
    }
}

/* The stamp at position `at` between two anchors. */
static int64_t netprof__interpolated_stamp(int64_t a, uint64_t from, int64_t b, uint64_t to, uint64_t at)
{
    double part = (double)(at - from) / (double)(to - from);
    return netprof__plus(a, (int64_t)(part * (double)netprof__minus(b, a)));
}

/* Computes the stamps between two anchors of a device. */
static void netprof__interpolate(netprof_snapshot *s, const uint8_t *marks, size_t from, size_t to)
{
    uint64_t n = 0, at = 0;
    size_t i;
    for (i = from; i < to; i++)
        n += marks[i] & NETPROF__STAMPED_HERE;
    for (i = from + 1; i < to; i++)
        if (marks[i] & NETPROF__STAMPED_HERE)
            s->stamps_ns[i] = netprof__interpolated_stamp(s->stamps_ns[from], 0, s->stamps_ns[to], n, ++at);
}

static void netprof__interpolate_all(netprof_snapshot *s, const uint8_t *marks)
{
    size_t d, i, last;
    for (d = 0; d < s->schema->device_count; d++) {
        const netprof_device *device = &s->schema->devices[d];
        last = NETPROF_NONE;
        for (i = device->first; i < (size_t)device->first + device->count; i++) {
            if (!(marks[i] & NETPROF__ANCHOR)) continue;
            if (last != NETPROF_NONE) netprof__interpolate(s, marks, last, i);
            last = i;
        }
    }
}

/* Finds the next anchor of a device from i on, or the device's end. *distance: stamps on the way, the anchor
   included. */
static size_t netprof__next_anchor(const netprof_device *d, const uint8_t *marks, size_t i, uint64_t *distance)
{
    *distance = 0;
    for (; i < (size_t)d->first + d->count; i++) {
        *distance += marks[i] & NETPROF__STAMPED_HERE;
        if (marks[i] & NETPROF__ANCHOR) break;
    }
    return i;
}

static void netprof__take_statuses(netprof__cursor *c, netprof_snapshot *s)
{
    size_t n = s->schema->counter_count, i = 0;
    while (i < n && !c->bad) {
        uint64_t run = netprof__take_varint(c);
        unsigned status = netprof__take_byte(c), sys_errno = netprof__take_byte(c);
        if (!run || run > n - i || status > NETPROF_STATUS_UNREADABLE) {
            c->bad = 1;
            return;
        }
        memset(s->status + i, (int)status, (size_t)run);
        memset(s->errnos + i, (int)sys_errno, (size_t)run);
        i += (size_t)run;
    }
}

/* Reads the values, as changes of a key snapshot if there is one. changed[i]: counter i is among the changes. */
static void netprof__take_values(netprof__cursor *c, netprof_snapshot *s, const netprof_snapshot *key, uint8_t *changed)
{
    size_t n = s->schema->counter_count, i, changes = 0;
    uint64_t skip = 0;
    c->zeros = 0;
    if (key) {
        changes = netprof__take_count(c);
        skip = changes ? netprof__take_varint(c) : 0;
    }
    for (i = 0; i < n && !c->bad; i++) {
        changed[i] = 0;
        if (!netprof__has_value(s->status[i])) continue;
        if (!key) {
            s->values[i] = netprof__take_zero_code(c);
        } else if (!changes || skip) {
            s->values[i] = key->values[i];
            skip -= changes != 0;
        } else {
            s->values[i] = key->values[i] + (uint64_t)netprof__take_signed(c);
            changed[i] = 1;
            skip = --changes ? netprof__take_varint(c) : 0;
        }
    }
    c->bad |= changes != 0 || c->zeros != 0;
}

/* Marks the counters that a list of positions names. */
static void netprof__take_positions(netprof__cursor *c, const netprof_snapshot *s, uint8_t *marks, int unstamped)
{
    size_t n = s->schema->counter_count, i, count = netprof__take_count(c);
    uint64_t skip = count ? netprof__take_varint(c) : 0;
    for (i = 0; i < n && !c->bad && count; i++) {
        if (unstamped ? !netprof__may_be_stamped(s, i) : !(marks[i] & NETPROF__STAMPED_HERE)) continue;
        if (skip) {
            skip--;
            continue;
        }
        marks[i] = (uint8_t)(unstamped ? marks[i] & ~NETPROF__STAMPED_HERE : marks[i] | NETPROF__ANCHOR);
        skip = --count ? netprof__take_varint(c) : 0;
    }
    c->bad |= count != 0;
}

/* Marks the stamps that are in the file. On entry `marks` holds 1 for each changed value. */
static void netprof__take_anchors(netprof__cursor *c, const netprof_snapshot *s, uint8_t *marks, int thinned)
{
    size_t i;
    for (i = 0; i < s->schema->counter_count; i++) {
        int may = netprof__may_be_stamped(s, i);
        marks[i] = (uint8_t)(!may                   ? 0
                             : marks[i] || !thinned ? NETPROF__STAMPED_HERE | NETPROF__ANCHOR
                                                    : NETPROF__STAMPED_HERE);
    }
    netprof__take_positions(c, s, marks, 1);
    netprof__mark_regular(s, marks);
    if (thinned) netprof__take_positions(c, s, marks, 0);
}

static void netprof__take_device_stamps(netprof__cursor *c, netprof_snapshot *s, const netprof_device *d,
                                        const uint8_t *marks)
{
    size_t end = (size_t)d->first + d->count, i;
    netprof__bits bits = {0, 0};
    uint64_t distance;
    int64_t stamp, step;
    unsigned k;
    i = netprof__next_anchor(d, marks, d->first, &distance);
    if (i == end) return;
    stamp = s->stamps_ns[i] = netprof__plus(s->wall_ns, netprof__take_signed(c));
    step = netprof__take_signed(c);
    k = netprof__take_byte(c);
    c->bad |= k > 57;
    while (!c->bad && (i = netprof__next_anchor(d, marks, i + 1, &distance)) < end) {
        stamp = netprof__plus(stamp, (int64_t)((uint64_t)step * distance));
        stamp = netprof__plus(stamp, netprof__unzigzag(netprof__take_rice(c, &bits, k)));
        s->stamps_ns[i] = stamp;
    }
}

static void netprof__take_stamps(netprof__cursor *c, netprof_snapshot *s, const uint8_t *marks)
{
    size_t d;
    for (d = 0; d < s->schema->device_count && !c->bad; d++)
        netprof__take_device_stamps(c, s, &s->schema->devices[d], marks);
}

/* Reads a snapshot; returns NULL, or what is wrong with the chunk. */
static const char *netprof__take_snapshot(netprof_reader *r, netprof__cursor *c)
{
    netprof_snapshot *s = &r->snapshot;
    const netprof_snapshot *key = NULL;
    size_t number, d;
    const netprof_schema *schema = netprof__schema_number(r, c, &number);
    netprof__read_schema *row;
    uint64_t key_number;
    unsigned form;
    if (!schema) return "a snapshot whose schema is lost";
    row = &r->schemas[number];
    if (!netprof__reader_room(r, &r->marks, &r->marks_capacity, schema->counter_count + 1, 1)) return "";
    if (netprof_snapshot_make(s, schema, NULL)) return netprof__reader_starved(r);
    s->set = netprof__take_varint(c) == NETPROF_SET_FAST ? NETPROF_SET_FAST : NETPROF_SET_ALL;
    s->wall_ns = netprof__take_signed(c);
    s->begin_ns = netprof__take_signed(c);
    s->end_ns = netprof__plus(s->begin_ns, (int64_t)netprof__take_varint(c));
    s->stamp_error_ns = (int64_t)netprof__take_varint(c);
    form = netprof__take_byte(c);
    key_number = netprof__take_varint(c);
    if (form) {
        if (!row->has_key || row->key_number != key_number) return "a snapshot whose key snapshot is lost";
        key = &row->key;
    }
    for (d = 0; d < schema->device_count; d++) {
        s->device_begin_ns[d] = netprof__plus(s->begin_ns, netprof__take_signed(c));
        s->device_end_ns[d] = netprof__plus(s->device_begin_ns[d], netprof__take_signed(c));
    }
    netprof__take_statuses(c, s);
    netprof__take_values(c, s, key, r->marks);
    if (c->bad) return "a snapshot that does not decode";
    netprof__take_anchors(c, s, r->marks, key != NULL);
    netprof__take_stamps(c, s, r->marks);
    if (c->bad) return "a snapshot that does not decode";
    if (key) netprof__interpolate_all(s, r->marks);
    s->not_ok = netprof__count_not_ok(s);
    if (!key) {
        if (netprof_snapshot_copy(&row->key, s, NULL)) return netprof__reader_starved(r);
        row->has_key = 1;
        row->key_number = key_number;
    }
    return NULL;
}

/* >>10.11 reading snapshots of format version 2, deltas and facts */

/* The counterpart of netprof__put_sparse(). */
static void netprof__take_sparse(netprof__cursor *c, uint64_t *z, size_t n)
{
    uint64_t count = netprof__take_varint(c);
    netprof__bits bits = {0, 0};
    unsigned skip_k, k;
    size_t at = 0;
    if (n) memset(z, 0, n * sizeof *z);
    if (!count) return;
    skip_k = netprof__take_byte(c);
    k = netprof__take_byte(c);
    c->bad |= count > n || skip_k > NETPROF__RICE_MOST || (k > NETPROF__RICE_MOST && k != NETPROF__PLAIN);
    for (; count && !c->bad; count--) {
        uint64_t skip = netprof__take_rice(c, &bits, skip_k);
        unsigned length;
        if (skip >= n - at) {
            c->bad = 1;
            return;
        }
        at += (size_t)skip;
        if (k == NETPROF__PLAIN) {
            length = (unsigned)netprof__take_bits(c, &bits, 6);
            z[at++] = (uint64_t)1 << length | netprof__take_bits(c, &bits, length);
        } else {
            z[at++] = netprof__take_rice(c, &bits, k) + 1;
        }
    }
}

static void netprof__take_step_times(netprof__cursor *c, netprof_snapshot *s, netprof__chain *chain)
{
    size_t n = s->schema->device_count, read = 0, i;
    netprof__take_sparse(c, chain->residuals, n);
    for (i = 0; i < n; i++) {
        chain->devices[i].read = (uint8_t)(chain->devices[i].read ^ (chain->residuals[i] & 1));
        read += chain->devices[i].read;
    }
    netprof__take_sparse(c, chain->residuals, read + 3);
    netprof__take_sparse(c, chain->residuals + n + 3, read);
    netprof__code_times(chain, s, 1);
}

static void netprof__take_step_statuses(netprof__cursor *c, netprof_snapshot *s, netprof__chain *chain)
{
    size_t n = s->schema->counter_count, i = 0, end;
    while (i < n && !c->bad) {
        uint64_t run = netprof__take_varint(c);
        unsigned code = netprof__take_byte(c), sys_errno = code < NETPROF__AS_BEFORE ? netprof__take_byte(c) : 0;
        if (run > n - i || (code > NETPROF_STATUS_UNREADABLE && code < NETPROF__AS_BEFORE) ||
            (code == NETPROF__AS_BEFORE && !chain->position)) {
            c->bad = 1;
            return;
        }
        for (end = run ? i + (size_t)run : n; i < end; i++) {
            if (code == NETPROF__AS_BEFORE) continue;
            chain->status[i] = (uint8_t)code;
            chain->errnos[i] = (uint8_t)sys_errno;
            if (code == NETPROF__AS_ASKED)
                chain->status[i] = s->set == NETPROF_SET_ALL || (s->schema->counters[i].flags & NETPROF_FAST)
                                       ? NETPROF_STATUS_OK
                                       : NETPROF_STATUS_SKIPPED;
        }
    }
    if (n) memcpy(s->status, chain->status, n);
    if (n) memcpy(s->errnos, chain->errnos, n);
}

static void netprof__take_step_values(netprof__cursor *c, netprof_snapshot *s, netprof__chain *chain)
{
    size_t listed = netprof__list_values(chain, s, 0), steady = 0, i;
    netprof__lead lead = {0, 0};
    netprof__bits bits = {0, 0};
    netprof__take_sparse(c, chain->residuals, netprof__count_steady(chain, listed));
    for (i = 0; i < listed && !c->bad; i++) {
        netprof__expected *x = &chain->counters[chain->list[i]];
        netprof__habit *h = &chain->habits[chain->list[i]];
        const netprof_counter *counter = &s->schema->counters[chain->list[i]];
        uint64_t code = x->spread ? netprof__take_rice(c, &bits, netprof__rice_of(x)) : chain->residuals[steady++];
        uint64_t value;
        netprof__lead_device(&lead, counter->device);
        value = netprof__expected_value(x, h, &lead) + (uint64_t)netprof__unzigzag(code);
        s->values[chain->list[i]] = value;
        netprof__learn_value(x, h, &lead, value, code, counter->kind);
    }
}

static void netprof__take_step_stamps(netprof__cursor *c, netprof_snapshot *s, netprof__chain *chain)
{
    size_t may = netprof__list_values(chain, s, 1), listed = 0, i;
    unsigned cell_bits;
    netprof__take_sparse(c, chain->residuals, may);
    for (i = 0; i < may; i++)
        if (!chain->residuals[i]) chain->list[listed++] = chain->list[i];
    cell_bits = netprof__take_byte(c);
    s->stamp_error_ns = (int64_t)netprof__take_varint(c);
    c->bad |= cell_bits > NETPROF__STAMP_CELL_READ || s->stamp_error_ns < 0;
    if (c->bad) return;
    netprof__take_sparse(c, chain->residuals, listed);
    netprof__code_stamps(chain, s, listed, cell_bits, 1);
}

/* Called once the chunk's place in its chain is known. Returns 1 if its contents are not wanted. */
static int netprof__pass_step(netprof_reader *r, netprof__read_schema *row, uint64_t position)
{
    uint64_t at = r->base + r->at;
    if (!position) row->chain_at = at;
    r->needs = row->chain_at;
    row->passed = at < r->pass_until || (position && row->passed);
    if (!row->passed) return 0;
    r->passed = row->chain.begun = 1;
    r->passed_schema = row->schema;
    row->chain.position = position;
    row->chain.link = netprof__chunk_sum(r);
    return 1;
}

/* Reads a snapshot; returns NULL, or what is wrong with the chunk. Snapshots that build on one that does not decode are
   lost, too. */
static const char *netprof__take_step(netprof_reader *r, netprof__cursor *c)
{
    netprof_snapshot *s = &r->snapshot;
    size_t number;
    const netprof_schema *schema = netprof__schema_number(r, c, &number);
    netprof__read_schema *row;
    netprof__chain *chain;
    uint64_t position, set;
    uint32_t link;
    if (!schema) return "a snapshot whose schema is lost";
    row = &r->schemas[number];
    chain = &row->chain;
    link = netprof__take_u32(c);
    position = netprof__take_varint(c);
    set = netprof__take_varint(c);
    if (!position && link != row->link) return "a snapshot whose schema is lost";
    if (position && (!chain->begun || chain->link != link || chain->position + 1 != position))
        return "a snapshot that builds on one that is lost";
    r->foreign = 0; /* it builds on a known chunk */
    if (!c->bad && netprof__pass_step(r, row, position)) return NULL;
    if (netprof_snapshot_make(s, schema, NULL) || !netprof__chain_room(chain, &r->alloc, schema))
        return netprof__reader_starved(r);
    s->set = set == NETPROF_SET_FAST ? NETPROF_SET_FAST : NETPROF_SET_ALL;
    chain->begun = 0;
    if (!position) netprof__chain_begin(chain, schema);
    chain->position = position;
    netprof__take_step_times(c, s, chain);
    if (!c->bad) netprof__take_step_statuses(c, s, chain);
    if (!c->bad) netprof__take_step_values(c, s, chain);
    if (!c->bad) netprof__take_step_stamps(c, s, chain);
    if (c->bad || c->at != c->end) return "a snapshot that does not decode";
    s->not_ok = netprof__count_not_ok(s);
    chain->begun = 1;
    chain->link = netprof__chunk_sum(r);
    return NULL;
}

static void netprof__take_delta_columns(netprof__cursor *c, netprof_delta *d)
{
    size_t n = d->schema->counter_count, i, column;
    for (column = 0; column < 4; column++) {
        c->zeros = 0;
        for (i = 0; i < n && !c->bad; i++) {
            uint64_t v = netprof__take_zero_code(c), signed_v = (uint64_t)netprof__unzigzag(v);
            switch (column) {
            case 0: d->before[i] = v; break;
            case 1: d->after[i] = d->before[i] + signed_v; break;
            case 2: d->values[i] = d->after[i] - d->before[i] + signed_v; break;
            default: d->elapsed_ns[i] = netprof__plus(d->interval_ns, (int64_t)signed_v); break;
            }
        }
        c->bad |= c->zeros != 0;
    }
}

static const char *netprof__take_delta(netprof_reader *r, netprof__cursor *c)
{
    netprof_delta *d = &r->delta;
    size_t number, i = 0, n;
    const netprof_schema *schema = netprof__schema_number(r, c, &number);
    if (!schema) return "a delta whose schema is lost";
    if (netprof__delta_room(d, schema, NULL)) return netprof__reader_starved(r);
    d->device_before = d->device_after = NULL; /* a file does not say */
    d->wall_begin_ns = netprof__take_signed(c);
    d->wall_end_ns = netprof__take_signed(c);
    d->interval_ns = netprof__take_signed(c);
    d->sweep_ns = (int64_t)netprof__take_varint(c);
    for (n = schema->counter_count; i < n && !c->bad;) {
        uint64_t run = netprof__take_varint(c);
        unsigned flag = netprof__take_byte(c), before = netprof__take_byte(c), after = netprof__take_byte(c);
        if (!run || run > n - i || flag > NETPROF_FLAG_UNKNOWN || before > NETPROF_STATUS_UNREADABLE ||
            after > NETPROF_STATUS_UNREADABLE)
            return "a delta that does not decode";
        memset(d->flags + i, (int)flag, (size_t)run);
        memset(d->before_status + i, (int)before, (size_t)run);
        memset(d->after_status + i, (int)after, (size_t)run);
        i += (size_t)run;
    }
    netprof__take_delta_columns(c, d);
    d->stamp_error_ns = c->at < c->end ? (int64_t)netprof__take_varint(c) : 0;
    c->bad |= d->stamp_error_ns < 0;
    return c->bad ? "a delta that does not decode" : NULL;
}

static const char *netprof__take_fact(netprof_reader *r, netprof__cursor *c)
{
    size_t value = netprof__take_text(r, c, 0);
    if (!value || !netprof__take_text(r, c, value)) return "a fact that does not decode";
    r->fact.key = r->texts;
    r->fact.value = r->texts + value;
    return NULL;
}

/* >>10.12 reading regions, events */

/* Reads everything before the names; returns 0 if it does not decode. Texts go to the reader's scratch space, one after
   another. */
static int netprof__take_regions_head(netprof_reader *r, netprof__cursor *c, netprof_regions *head, size_t *schema,
                                      netprof__cursor *counters, size_t *texts)
{
    uint64_t i;
    head->mode = (netprof_mode)netprof__take_byte(c);
    *schema = (size_t)netprof__take_varint(c);
    head->counter_count = netprof__take_count(c);
    *counters = *c;
    for (i = 0; i < head->counter_count && !c->bad; i++)
        netprof__take_varint(c);
    head->wall_ns = netprof__take_signed(c);
    head->elapsed_ns = netprof__take_signed(c);
    head->threads = netprof__take_varint(c);
    head->mismatched = netprof__take_varint(c);
    head->dropped = netprof__take_varint(c);
    head->overhead_ps = netprof__take_varint(c);
    head->sweep_ns = netprof__take_signed(c);
    head->interval_ns = netprof__take_signed(c);
    texts[0] = 0;
    texts[1] = netprof__take_text(r, c, texts[0]);
    texts[2] = texts[1] ? netprof__take_text(r, c, texts[1]) : 0;
    return !c->bad && texts[2];
}

/* Reads one stat; v holds its integers in the order of section 10.1. */
static void netprof__take_stat(netprof__cursor *c, netprof_stat *s, size_t counters, const char *const *names,
                               size_t name_count)
{
    uint64_t v[18], bits;
    uint64_t *histogram = (uint64_t *)(uintptr_t)s->histogram;
    uint64_t *sums = (uint64_t *)(uintptr_t)s->counter_sums;
    size_t i;
    for (i = 0; i < 18; i++)
        v[i] = netprof__take_varint(c);
    /* A parent comes before its children, so that walking up always ends. */
    if (c->bad || c->end - c->at < 8 || v[3] >= name_count || v[0] > UINT32_MAX || v[1] >= UINT32_MAX || v[2] > v[1]) {
        c->bad = 1;
        return;
    }
    s->thread = (uint32_t)v[0];
    s->node = (uint32_t)v[1];
    s->parent = v[2] ? (uint32_t)(v[2] - 1) : UINT32_MAX;
    s->region = names[v[3]];
    s->calls = v[4];
    s->measured = v[5];
    s->open = v[6];
    s->spans = v[7];
    s->inclusive_ns = v[8];
    s->exclusive_ns = v[9];
    s->min_ns = v[10];
    s->max_ns = v[11];
    s->bytes = v[12];
    s->aborted = v[13];
    s->too_short = v[14];
    s->counted = v[15];
    s->concurrency = v[16];
    s->total_ns = v[17];
    bits = netprof__get_le(c->at, 8);
    memcpy(&s->variance_ns2, &bits, 8);
    c->at += 8;
    c->zeros = 0;
    for (i = 0; i < NETPROF_HISTOGRAM_BUCKETS && !c->bad; i++)
        histogram[i] = netprof__take_zero_code(c);
    c->bad |= c->zeros != 0;
    for (c->zeros = 0, i = 0; i < counters && !c->bad; i++)
        sums[i] = netprof__take_zero_code(c);
    c->bad |= c->zeros != 0;
}

/* Reads the names into the scratch space from `from` on, and allocates pointers for them. NULL if they do not decode,
   or if out of memory (r->starved). */
static const char **netprof__take_region_names(netprof_reader *r, netprof__cursor *c, size_t from, size_t *count,
                                               size_t *end)
{
    size_t n = netprof__take_count(c), i, at = from;
    const char **names = (const char **)netprof__reader_zalloc(r, n, sizeof *names);
    for (i = 0; names && i < n && !c->bad; i++)
        at = netprof__take_text(r, c, at);
    if (!names || c->bad) {
        netprof__release(&r->alloc, names);
        return NULL;
    }
    *end = at;
    *count = n;
    return names;
}

static void netprof__take_waits(netprof__cursor *c, netprof_regions *to)
{
    uint64_t count = netprof__take_count(c), at = 0;
    for (; count && !c->bad; count--) {
        at += netprof__take_varint(c);
        if (c->bad || at >= to->count) {
            c->bad = 1;
            return;
        }
        to->stats[at].waits = netprof__take_varint(c);
        to->stats[at].waited_ns = netprof__take_varint(c);
    }
}

/* Reads a value; its name goes to *text, which is moved on. */
static void netprof__take_value(netprof__cursor *c, netprof_value_stat *v, char **text)
{
    uint64_t *counts = (uint64_t *)(uintptr_t)v->counts, *times = (uint64_t *)(uintptr_t)v->times_ns;
    size_t n = netprof__take_count(c), i;
    if (c->bad) return;
    memcpy(*text, c->at, n);
    v->name = *text;
    *text += n + 1; /* the block is zeroed */
    c->at += n;
    v->count = netprof__take_varint(c);
    v->sum = netprof__take_signed(c);
    v->least = netprof__take_signed(c);
    v->most = netprof__take_signed(c);
    v->at_longest = netprof__take_signed(c);
    v->longest_ns = netprof__take_varint(c);
    for (c->zeros = 0, i = 0; i < NETPROF_VALUE_BUCKETS && !c->bad; i++)
        counts[i] = netprof__take_zero_code(c);
    c->bad |= c->zeros != 0;
    for (c->zeros = 0, i = 0; i < NETPROF_VALUE_BUCKETS && !c->bad; i++)
        times[i] = netprof__take_zero_code(c);
    c->bad |= c->zeros != 0;
}

static const char *netprof__take_region_values(netprof_reader *r, netprof__cursor *c, netprof_regions *to)
{
    enum { LEAST = 10 }; /* bytes of one value */
    size_t count = netprof__take_count(c), i, room = (size_t)(c->end - c->at);
    uint64_t at = 0, one = sizeof(netprof_value_stat) + 2 * NETPROF_VALUE_BUCKETS * sizeof(uint64_t);
    char *text = NULL;
    if (c->bad || count > room / LEAST || to->values_memory) return "values that do not decode";
    if (r->memory > r->limits.max_memory || count > (r->limits.max_memory - r->memory) / one)
        return "regions over the limits";
    if (netprof__values_room(to, count, room + count, &text, NULL)) return netprof__reader_starved(r);
    for (i = 0; i < count; i++) {
        at += netprof__take_varint(c);
        if (c->bad || at >= to->count) return "values that do not decode";
        to->values[i].stat = (size_t)at;
        netprof__take_value(c, &to->values[i], &text);
        if (c->bad) return "values that do not decode";
        to->value_count++;
    }
    return NULL;
}

/* Reads the parts after the stats. Returns NULL, or what is wrong. */
static const char *netprof__take_region_parts(netprof_reader *r, netprof__cursor *c, netprof_regions *to)
{
    const char *wrong = NULL;
    while (!c->bad && c->at < c->end) {
        unsigned kind = netprof__take_byte(c);
        uint32_t length = netprof__take_u32(c);
        netprof__cursor part = *c;
        if (c->bad || length > (size_t)(c->end - c->at)) return NULL; /* no part: what a later version put there */
        part.end = c->at += length;
        if (kind == NETPROF__PART_READINGS) {
            to->readings = netprof__take_varint(&part);
            to->reading_ns = netprof__take_varint(&part);
        } else if (kind == NETPROF__PART_WAITS) {
            netprof__take_waits(&part, to);
        } else if (kind == NETPROF__PART_VALUES) {
            wrong = netprof__take_region_values(r, &part, to);
        }
        if (wrong) return wrong;
        if (part.bad) return "regions whose parts do not decode";
    }
    return c->bad ? "regions whose parts do not decode" : NULL;
}

static const char *netprof__take_regions_body(netprof_reader *r, netprof__cursor *c, const netprof_regions *head,
                                              netprof__cursor *counters, const size_t *texts)
{
    netprof_regions *to = &r->regions;
    size_t name_count = 0, end, count, i, at;
    const char **names = netprof__take_region_names(r, c, texts[2], &name_count, &end);
    uint64_t index = 0, one;
    char *text = NULL;
    if (!names) return "regions whose names do not decode";
    count = netprof__take_count(c);
    one = sizeof(netprof_stat) + head->counter_count * 8 + NETPROF_HISTOGRAM_BUCKETS * 8;
    if (c->bad || r->memory > r->limits.max_memory || count > (r->limits.max_memory - r->memory) / one) {
        netprof__release(&r->alloc, names);
        return "regions over the limits";
    }
    if (netprof__regions_room(to, count, head->counter_count, end, &text, NULL)) {
        netprof__release(&r->alloc, names);
        return netprof__reader_starved(r);
    }
    memcpy(text, r->texts, end);
    for (i = 0, at = texts[2]; i < name_count; i++, at += strlen(text + at) + 1)
        names[i] = text + at;
    for (i = 0; i < count && !c->bad; i++)
        netprof__take_stat(c, &to->stats[i], head->counter_count, names, name_count);
    netprof__release(&r->alloc, names);
    for (i = 0; i < head->counter_count; i++) {
        index += netprof__take_varint(counters);
        ((uint32_t *)(uintptr_t)to->counters)[i] = (uint32_t)index;
        c->bad |= index >= (head->schema ? head->schema->counter_count : 0);
    }
    to->clock = text + texts[0];
    to->warning = text + texts[1];
    return c->bad ? "regions that do not decode" : netprof__take_region_parts(r, c, to);
}

static const char *netprof__take_regions(netprof_reader *r, netprof__cursor *c)
{
    netprof_regions head, *to = &r->regions;
    netprof__cursor counters;
    size_t schema, texts[3];
    const char *wrong;
    netprof_regions_free(to);
    memset(&head, 0, sizeof head);
    if (!netprof__take_regions_head(r, c, &head, &schema, &counters, texts)) return "regions that do not decode";
    if (schema) {
        if (schema > r->schema_count || !r->schemas[schema - 1].schema) return "regions whose schema is lost";
        head.schema = r->schemas[schema - 1].schema;
    }
    wrong = netprof__take_regions_body(r, c, &head, &counters, texts);
    if (wrong) {
        netprof_regions_free(to);
        return wrong;
    }
    netprof_schema_retain(head.schema);
    to->schema = head.schema;
    to->mode = head.mode;
    to->wall_ns = head.wall_ns;
    to->elapsed_ns = head.elapsed_ns;
    to->threads = head.threads;
    to->mismatched = head.mismatched;
    to->dropped = head.dropped;
    to->overhead_ps = head.overhead_ps;
    to->sweep_ns = head.sweep_ns;
    to->interval_ns = head.interval_ns;
    return NULL;
}

/* Places of the texts of a chunk of events, while it is read. */
typedef struct netprof__events_places {
    size_t texts, words; /* used of r->texts and of r->event_words */
} netprof__events_places;

static int netprof__take_event_text(netprof_reader *r, netprof__cursor *c, netprof__events_places *p)
{
    size_t next = netprof__take_text(r, c, p->texts);
    if (!next ||
        !netprof__reader_room(r, &r->event_words, &r->event_words_capacity, p->words + 1, sizeof *r->event_words)) {
        c->bad = 1;
        return 0;
    }
    r->event_words[p->words++] = p->texts;
    p->texts = next;
    return 1;
}

/* The numbers of a column; of texts with `first` added: each is then a place in r->event_words below `end`. */
static void netprof__take_event_numbers(netprof_reader *r, netprof__cursor *c, int64_t *to, size_t first, size_t end)
{
    uint64_t value = 0;
    size_t i;
    c->zeros = 0;
    for (i = 0; i < r->events.count && !c->bad; i++) {
        value += (uint64_t)netprof__unzigzag(netprof__take_zero_code(c));
        if (end && value >= end - first) c->bad = 1;
        to[i] = (int64_t)(value + first);
    }
    if (c->zeros) c->bad = 1;
}

static void netprof__take_event_column(netprof_reader *r, netprof__cursor *c, size_t column, netprof__events_places *p)
{
    size_t first, texts, i;
    unsigned type;
    int64_t *numbers = r->event_numbers + column * r->events.count;
    if (!netprof__take_event_text(r, c, p)) return;
    r->event_columns[column].name = NULL;
    r->event_columns[column].numbers =
        (const int64_t *)(uintptr_t)(p->words - 1); /* until all texts have their place */
    r->event_columns[column].texts = NULL;
    type = netprof__take_byte(c);
    if (type > 1) c->bad = 1;
    if (type != 1) {
        netprof__take_event_numbers(r, c, numbers, 0, 0);
        return;
    }
    r->event_columns[column].texts = r->event_texts + column * r->events.count;
    texts = netprof__take_count(c);
    /* Each is of a row: more would be memory that the limit does not know. */
    if (texts > r->events.count || (!texts && r->events.count)) c->bad = 1;
    for (i = 0, first = p->words; i < texts && !c->bad; i++)
        netprof__take_event_text(r, c, p);
    netprof__take_event_numbers(r, c, numbers, first, p->words);
}

/* Texts may have moved while they were read: now they stay. */
static void netprof__place_events(netprof_reader *r)
{
    size_t i, k;
    for (i = 0; i < r->events.column_count; i++) {
        netprof_events_column *c = &r->event_columns[i];
        const char **texts = r->event_texts + i * r->events.count;
        c->name = r->texts + r->event_words[(size_t)(uintptr_t)c->numbers];
        c->numbers = r->event_numbers + i * r->events.count;
        for (k = 0; c->texts && k < r->events.count; k++)
            texts[k] = r->texts + r->event_words[c->numbers[k]];
        if (c->texts) c->numbers = NULL;
    }
    r->events.kind = r->texts;
    r->events.columns = r->event_columns;
}

static const char *netprof__take_events(netprof_reader *r, netprof__cursor *c)
{
    static const char bad[] = "events that are damaged, or that only a later netprof can read";
    netprof__events_places p;
    uint64_t cells;
    size_t i;
    memset(&r->events, 0, sizeof r->events);
    p.words = 0;
    p.texts = netprof__take_text(r, c, 0);
    r->events.column_count = netprof__take_count(c);
    cells = netprof__take_varint(c);
    if (c->bad || r->events.column_count > 255 || cells > NETPROF_EVENTS_MAX || (cells && !r->events.column_count))
        return r->starved ? "" : bad;
    r->events.count = (size_t)cells;
    cells *= r->events.column_count;
    if (cells * 16 > r->limits.max_memory) return "more events than the limit on memory allows";
    if (!netprof__reader_room(r, &r->event_columns, &r->event_columns_capacity, r->events.column_count + 1,
                              sizeof *r->event_columns) ||
        !netprof__reader_room(r, &r->event_numbers, &r->event_numbers_capacity, (size_t)cells + 1,
                              sizeof *r->event_numbers) ||
        !netprof__reader_room(r, &r->event_texts, &r->event_texts_capacity, (size_t)cells + 1, sizeof *r->event_texts))
        return "";
    for (i = 0; i < r->events.column_count && !c->bad; i++)
        netprof__take_event_column(r, c, i, &p);
    if (c->bad) return r->starved ? "" : bad;
    netprof__place_events(r);
    return NULL;
}

/* >>10.13 chunks, damage, files put together */

static const struct netprof__chunk_kind {
    char tag[5];
    netprof_item_type type; /* NETPROF_ITEM_END: not delivered */
    const char *(*take)(netprof_reader *r, netprof__cursor *c);
} netprof__chunk_types[] = {
    {"FACT", NETPROF_ITEM_FACT, netprof__take_fact},     {"SCHM", NETPROF_ITEM_END, netprof__keep_schema},
    {"STEP", NETPROF_ITEM_SNAPSHOT, netprof__take_step}, {"SNAP", NETPROF_ITEM_SNAPSHOT, netprof__take_snapshot},
    {"DIFF", NETPROF_ITEM_DELTA, netprof__take_delta},   {"REGN", NETPROF_ITEM_REGIONS, netprof__take_regions},
    {"EVNT", NETPROF_ITEM_EVENTS, netprof__take_events}, {"END ", NETPROF_ITEM_END, NULL}};

static const struct netprof__chunk_kind *netprof__chunk_type(const unsigned char *tag)
{
    size_t i;
    for (i = 0; i < sizeof netprof__chunk_types / sizeof *netprof__chunk_types; i++)
        if (memcmp(tag, netprof__chunk_types[i].tag, 4) == 0) return &netprof__chunk_types[i];
    return NULL;
}

#ifndef NETPROF__WINDOW
#define NETPROF__WINDOW (128 << 10)
#endif

/* Makes room for more bytes after the window; returns 0 if out of memory. */
static int netprof__fill_room(netprof_reader *r)
{
    size_t left = r->size - r->at;
    if (r->at && (r->size == r->capacity || r->at >= left)) {
        memmove(r->owned, r->owned + r->at, left);
        r->base += r->at;
        r->size = left;
        r->at = 0;
    }
    if (r->size == r->capacity &&
        !netprof__grow(&r->alloc, &r->owned, &r->capacity, r->capacity ? 2 * r->capacity : NETPROF__WINDOW, 1)) {
        r->starved = 1;
        return 0;
    }
    r->data = r->owned;
    return 1;
}

/* Reads until the window has the wanted number of bytes from r->at on, or the file ends. Returns how many it has; fewer
   also if it sets r->failed or r->starved. */
static size_t netprof__fill_window(netprof_reader *r, uint64_t wanted)
{
    while (r->size - r->at < wanted && r->read && !r->failed && netprof__fill_room(r)) {
        size_t got = 0;
        r->failed = r->read(r->user, r->owned + r->size, r->capacity - r->size, &got);
        if (!r->failed && !got) r->read = NULL;
        if (!r->failed) r->size += got;
    }
    return r->size - r->at;
}

/* The error of the last reading, if it failed or ran out of memory. */
static netprof_err netprof__fill_trouble(netprof_reader *r, netprof_error *error)
{
    if (r->failed) return netprof__fail(error, NETPROF_ERR_IO, r->failed, r->path, "cannot read");
    if (!r->starved) return NETPROF_OK;
    r->starved = 0;
    return netprof__no_memory(error);
}

/* Length of the chunk at r->at, or 0 if there is none with a correct checksum. */
static size_t netprof__intact_chunk_length(netprof_reader *r)
{
    const unsigned char *p;
    uint64_t length;
    uint32_t crc;
    int large;
    if (netprof__fill_window(r, 12) < 12) return 0;
    p = r->data + r->at;
    length = netprof__get_le(p + 4, 4);
    large = length > r->limits.max_memory && netprof__chunk_type(p);
    if (!(r->read && length > r->limits.max_memory) && netprof__fill_window(r, length + 12) >= length + 12) {
        p = r->data + r->at;
        crc = netprof__crc(r->crc, 0, p, 8);
        crc = netprof__crc(r->crc, crc, p + 12, (size_t)length);
        if (crc == netprof__get_le(p + 8, 4)) return (size_t)length + 12;
        r->searched += length;
    }
    r->large |= large;
    return 0;
}

static int netprof__is_header(netprof_reader *r)
{
    return netprof__fill_window(r, 16) >= 16 && memcmp(r->data + r->at, netprof__file_magic, 8) == 0;
}

static int netprof__may_begin(unsigned char first)
{
    return first == netprof__file_magic[0] || (first >= 'D' && first <= 'S'); /* first letters of the tags */
}

/* Skips damaged bytes; they are reported later. */
static void netprof__skip_damaged(netprof_reader *r, size_t bytes)
{
    r->at += bytes;
    r->lost += bytes;
}

/* Skips to the place after damage where reading can resume: an intact chunk of a known type, a header, or the end.
   Gives up on a file full of false chunk heads once 16 times the bytes before this place plus 1 GiB were checksummed.
   Returns 0 if reading failed or memory ran out: call again. */
static int netprof__resync(netprof_reader *r)
{
    for (;;) {
        size_t skip = 1;
        while (r->at + skip + 16 <= r->size && !netprof__may_begin(r->data[r->at + skip]))
            skip += netprof__get_le(r->data + r->at + skip, 8) ? 1 : 8; /* a hole of a sparse file holds zeros */
        netprof__skip_damaged(r, skip);
        if (netprof__fill_window(r, 16) < 12 || r->searched / 16 > r->base + r->at + (1 << 26)) break;
        if (netprof__is_header(r)) return 1;
        if (!netprof__chunk_type(r->data + r->at)) continue;
        if (netprof__intact_chunk_length(r)) return 1;
        if (r->failed || r->starved) return 0;
    }
    while (netprof__fill_window(r, 1))
        netprof__skip_damaged(r, r->size - r->at);
    return !r->failed && !r->starved;
}

/* What follows belongs to another file, whose schemas count from 0 again. */
static void netprof__forget_schemas(netprof_reader *r)
{
    size_t i;
    for (i = 0; i < r->schema_count; i++) {
        netprof_snapshot_free(&r->schemas[i].key);
        netprof__chain_free(&r->schemas[i].chain, &r->alloc);
        netprof_schema_release(r->schemas[i].schema);
    }
    r->schema_count = 0;
    r->foreign = 0;
}

static netprof_err netprof__item_damage(netprof_reader *r, netprof_item *item, uint64_t size, const char *text)
{
    item->type = NETPROF_ITEM_DAMAGE;
    item->offset = r->base + r->at;
    item->size = size;
    snprintf(r->damage, sizeof r->damage, "%s", text);
    item->text = r->damage;
    return NETPROF_OK;
}

/* Reports the bytes before r->at that were not reported yet. */
static netprof_err netprof__item_lost(netprof_reader *r, netprof_item *item, const char *text)
{
    netprof__item_damage(r, item, r->lost, text);
    item->offset -= r->lost;
    r->lost = 0;
    r->large = 0;
    return NETPROF_OK;
}

/* found: something readable begins at r->at. */
static netprof_err netprof__item_no_chunk(netprof_reader *r, netprof_item *item, int found, netprof_error *error)
{
    if (!found && !netprof__resync(r)) return netprof__fill_trouble(r, error);
    return netprof__item_lost(r, item,
                              r->large ? "bytes that are no whole chunk, or one larger than the limit on memory"
                                       : "bytes that are no whole chunk");
}

/* Skips a file of a later version, whose header was skipped already: the meaning of its chunks is unknown. */
static netprof_err netprof__item_later(netprof_reader *r, netprof_item *item, netprof_error *error)
{
    while (netprof__fill_window(r, 16) >= 16 && !netprof__is_header(r)) {
        const unsigned char *from = r->data + r->at + 1;
        const void *next = memchr(from, netprof__file_magic[0], r->size - r->at - 1);
        netprof__skip_damaged(r, 1 + (next ? (size_t)((const unsigned char *)next - from) : r->size - r->at - 1));
    }
    if (r->failed || r->starved) return netprof__fill_trouble(r, error);
    if (r->size - r->at < 16) netprof__skip_damaged(r, r->size - r->at);
    r->later = 0;
    return netprof__item_lost(r, item, "another file begins here, written by a later netprof");
}

/* A header after the first one. */
static netprof_err netprof__item_file(netprof_reader *r, netprof_item *item, netprof_error *error)
{
    int later = netprof__get_le(r->data + r->at + 8, 2) > NETPROF__FILE_VERSION;
    netprof__forget_schemas(r);
    r->memory = 0;
    if (later) {
        r->ended = 0;
        r->later = 1;
        netprof__skip_damaged(r, 16);
        return netprof__item_later(r, item, error);
    }
    item->type = NETPROF_ITEM_FILE;
    item->offset = r->base + r->at;
    item->size = 16;
    item->complete = r->ended;
    r->ended = 0;
    r->chunks = 0;
    r->at += 16;
    return NETPROF_OK;
}

static void netprof__item_of(const netprof_reader *r, netprof_item *item, netprof_item_type type)
{
    item->type = type;
    item->fact = type == NETPROF_ITEM_FACT ? &r->fact : NULL;
    item->snapshot = type == NETPROF_ITEM_SNAPSHOT && !r->passed ? &r->snapshot : NULL;
    item->needs = type == NETPROF_ITEM_SNAPSHOT ? r->needs : 0;
    item->schema = type != NETPROF_ITEM_SNAPSHOT ? NULL : r->passed ? r->passed_schema : r->snapshot.schema;
    item->delta = type == NETPROF_ITEM_DELTA ? &r->delta : NULL;
    item->regions = type == NETPROF_ITEM_REGIONS ? &r->regions : NULL;
    item->events = type == NETPROF_ITEM_EVENTS ? &r->events : NULL;
}

static const char netprof__foreign[] = "a part of another file, whose beginning is lost";

/* True if the chunk belongs to a file whose beginning is lost. Snapshots (STEP) show by the checksum in them what they
   build on; other chunks name a schema only by number, or none. */
static int netprof__is_foreign(const netprof_reader *r, const struct netprof__chunk_kind *type)
{
    return r->foreign && type->take != netprof__take_step && type->take != netprof__keep_schema;
}

/* Reads the intact chunk at r->at. */
static netprof_err netprof__next_chunk(netprof_reader *r, size_t size, netprof_item *item, netprof_error *error)
{
    const struct netprof__chunk_kind *type = netprof__chunk_type(r->data + r->at);
    netprof__cursor c;
    const char *wrong;
    memset(&c, 0, sizeof c);
    c.at = r->data + r->at + 12;
    c.end = r->data + r->at + size;
    r->ended = type && !type->take && netprof__take_varint(&c) == r->chunks;
    r->chunks++;
    r->needs = 0;
    r->passed = 0;
    wrong = !type || !type->take ? NULL : netprof__is_foreign(r, type) ? netprof__foreign : type->take(r, &c);
    if (r->starved) {
        r->chunks--;
        return netprof__fill_trouble(r, error);
    }
    if (wrong) {
        netprof__item_damage(r, item, size, wrong);
    } else {
        item->offset = r->base + r->at;
        item->size = size;
        if (type && type->type != NETPROF_ITEM_END) netprof__item_of(r, item, type->type);
    }
    r->at += size;
    return NETPROF_OK;
}

/* >>10.14 the reader's functions */

NETPROF_API netprof_err netprof_reader_next(netprof_reader *r, netprof_item *item, netprof_error *error)
{
    netprof_err failed = NETPROF_OK;
    if (!r || !item) return netprof__fail(error, NETPROF_ERR_ARG, 0, NULL, "no reader or no item");
    memset(item, 0, sizeof *item);
    if (r->later) return netprof__item_later(r, item, error);
    while (!failed && item->type == NETPROF_ITEM_END) {
        size_t size = netprof__intact_chunk_length(r);
        int header = !size && netprof__is_header(r);
        failed = netprof__fill_trouble(r, error);
        if (failed) return failed;
        if (r->at == r->size && !r->lost) break;
        if (r->lost || (!size && !header))
            return netprof__item_no_chunk(r, item, size || header || r->at == r->size, error);
        failed = size ? netprof__next_chunk(r, size, item, error) : netprof__item_file(r, item, error);
    }
    if (failed || item->type != NETPROF_ITEM_END) return failed;
    item->offset = r->base + r->size;
    item->size = 0;
    item->complete = r->ended;
    return NETPROF_OK;
}

NETPROF_API void netprof_reader_pass(netprof_reader *r, uint64_t until)
{
    if (r) r->pass_until = until;
}

NETPROF_API void netprof_reader_close(netprof_reader *r)
{
    netprof_alloc a;
    if (!r) return;
    a = r->alloc;
    netprof__forget_schemas(r);
    netprof_snapshot_free(&r->snapshot);
    netprof_delta_free(&r->delta);
    netprof_regions_free(&r->regions);
    netprof__release(&a, r->event_columns);
    netprof__release(&a, r->event_numbers);
    netprof__release(&a, (void *)r->event_texts);
    netprof__release(&a, r->event_words);
    netprof__release(&a, r->schemas);
    netprof__release(&a, r->texts);
    netprof__release(&a, r->marks);
    netprof__release(&a, r->owned);
    netprof__release(&a, r->path);
    if (r->fd >= 0) NETPROF_OS_CLOSE(r->fd);
    netprof__release(&a, r);
}

static netprof_reader *netprof__reader_make(const netprof_limits *limits)
{
    netprof_alloc a = netprof__alloc_or_default(NULL);
    netprof_reader *r = (netprof_reader *)netprof__zalloc(&a, sizeof *r);
    if (!r) return NULL;
    r->alloc = a;
    r->fd = -1;
    if (limits) r->limits = *limits;
    if (!r->limits.max_counters) r->limits.max_counters = (uint64_t)4 << 20;
    if (!r->limits.max_devices) r->limits.max_devices = (uint64_t)64 << 10;
    if (!r->limits.max_memory) r->limits.max_memory = (uint64_t)1 << 30;
    netprof__crc_tables(r->crc);
    return r;
}

static netprof_err netprof__check_header(netprof_reader *r, netprof_error *error)
{
    netprof_err failed;
    int header = netprof__is_header(r);
    failed = netprof__fill_trouble(r, error);
    if (failed) return failed;
    if (!header)
        return netprof__fail(error, NETPROF_ERR_FORMAT, 0, r->path, "not a .netprof file (its first bytes are others)");
    if (netprof__get_le(r->data + 8, 2) > NETPROF__FILE_VERSION)
        return netprof__fail(error, NETPROF_ERR_VERSION, 0, r->path, "written by a later netprof");
    if (netprof__get_le(r->data + 12, 4) != 0x01020304 || !netprof__get_le(r->data + 8, 2))
        return netprof__fail(error, NETPROF_ERR_FORMAT, 0, r->path, "bytes in the wrong order, or version 0");
    r->at = 16;
    return NETPROF_OK;
}

NETPROF_API netprof_err netprof_reader_open_memory(netprof_reader **out, const void *data, size_t size,
                                                   const netprof_limits *limits, netprof_error *error)
{
    netprof_reader *r;
    netprof_err failed;
    if (!out || (!data && size)) return netprof__fail(error, NETPROF_ERR_ARG, 0, NULL, "no data");
    *out = NULL;
    r = netprof__reader_make(limits);
    if (!r) return netprof__no_memory(error);
    r->data = (const unsigned char *)data;
    r->size = size;
    failed = netprof__check_header(r, error);
    if (failed)
        netprof_reader_close(r);
    else
        *out = r;
    return failed;
}

NETPROF_API netprof_err netprof_reader_open_fn(netprof_reader **out, netprof_read_fn read, void *user,
                                               const netprof_limits *limits, netprof_error *error)
{
    netprof_reader *r;
    netprof_err failed;
    if (!out || !read) return netprof__fail(error, NETPROF_ERR_ARG, 0, NULL, "nothing to read from");
    *out = NULL;
    r = netprof__reader_make(limits);
    if (!r) return netprof__no_memory(error);
    r->read = read;
    r->user = user;
    failed = netprof__check_header(r, error);
    if (failed)
        netprof_reader_close(r);
    else
        *out = r;
    return failed;
}

static int netprof__read_file(void *user, void *to, size_t size, size_t *got)
{
    ssize_t n;
    do
        n = NETPROF_OS_READ(((netprof_reader *)user)->fd, to, size);
    while (n < 0 && errno == EINTR);
    *got = n < 0 ? 0 : (size_t)n;
    return n < 0 ? errno : 0;
}

NETPROF_API netprof_err netprof_reader_open(netprof_reader **out, const char *path, const netprof_limits *limits,
                                            netprof_error *error)
{
    netprof_reader *r;
    netprof_err failed;
    if (!out || !path) return netprof__fail(error, NETPROF_ERR_ARG, 0, NULL, "no path");
    *out = NULL;
    r = netprof__reader_make(limits);
    if (!r || !(r->path = netprof__strdup(&r->alloc, path))) {
        netprof_reader_close(r);
        return netprof__no_memory(error);
    }
    do
        r->fd = NETPROF_OS_OPENAT(AT_FDCWD, path, O_RDONLY);
    while (r->fd < 0 && errno == EINTR);
    r->read = netprof__read_file;
    r->user = r;
    failed =
        r->fd < 0 ? netprof__fail(error, NETPROF_ERR_IO, errno, path, "cannot open") : netprof__check_header(r, error);
    if (failed)
        netprof_reader_close(r);
    else
        *out = r;
    return failed;
}

#endif /* NETPROF_NO_READER */

/* ---- >>11 implementation: JSON, text ---- */

/* >>11.1 JSON

   {"format":"netprof","version":2,"facts":{KEY:VALUE},
    "schemas":[{"facts":{},"sources":[{"source","status","errno","source_path","device_count"}],
                "devices":[{"source","device","identity","physical","virtual","facts":{},
                            "counters":[{"counter","unit","kind","width_bits","scale","flags":["fast",...]}]}]}],
    "snapshots":[{"schema":INDEX,"set":"all"|"fast","monotonic_begin_ns","monotonic_end_ns","time_ns","stamp_error_ns",
                  "devices":[{"device","source","monotonic_begin_ns","monotonic_end_ns","values":{NAME:VALUE|null},
                              "stamps_ns":[...],"not_ok":{NAME:[STATUS,ERRNO]}}]}],
    "deltas":[{"schema":INDEX,"begin_ns","end_ns","elapsed_ns","sweep_ns","stamp_error_ns",
               "devices":[{"device","source","counters":{NAME:{"before","after","delta","flag","elapsed_ns",
                           "before_status","after_status"}}}]}]}

   "time_ns", "begin_ns" and "end_ns" are of the wall clock. The programs read version 1 as well (section 13).
   Numbers are whole and exact: values go up to 2^64 - 1, which is more than readers with doubles can keep (option
   u64_strings). The members of "counters", "values" and "stamps_ns" are in the schema's order. "stamps_ns" (0 = none)
   appears only if the device stamps its values; "not_ok" only if something has no value or is saturated. */

#if !defined(NETPROF_NO_JSON) || !defined(NETPROF_NO_PRINT)
/* Length of the UTF-8 sequence at p (RFC 3629); 0 if it is not valid. */
static size_t netprof__utf8(const unsigned char *p)
{
    size_t n = p[0] < 0x80                   ? 1
               : p[0] >= 0xc2 && p[0] < 0xe0 ? 2
               : (p[0] & 0xf0) == 0xe0       ? 3
               : (p[0] & 0xf8) == 0xf0       ? 4
                                             : 0;
    size_t i;
    for (i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80) return 0;
    if ((n == 3 && ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f))) ||
        (n == 4 && ((p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f) || p[0] > 0xf4)))
        return 0;
    return n;
}
#endif

#ifndef NETPROF_NO_JSON

typedef struct netprof__json {
    netprof_write_fn write;
    void *user;
    size_t used;
    int failed, u64_strings;
    char data[4096];
} netprof__json;

static void netprof__json_flush(netprof__json *j)
{
    if (!j->failed && j->used) j->failed = j->write(j->user, j->data, j->used);
    j->used = 0;
}

static void netprof__json_bytes(netprof__json *j, const char *data, size_t size)
{
    while (size) {
        size_t n = sizeof j->data - j->used < size ? sizeof j->data - j->used : size;
        memcpy(j->data + j->used, data, n);
        j->used += n;
        data += n;
        size -= n;
        if (j->used == sizeof j->data) netprof__json_flush(j);
    }
}

static void netprof__json_raw(netprof__json *j, const char *text)
{
    netprof__json_bytes(j, text, strlen(text));
}

/* Writes a string; bytes that are not UTF-8 become U+FFFD. */
static void netprof__json_text(netprof__json *j, const char *text)
{
    const unsigned char *p = (const unsigned char *)text, *from = p;
    char escaped[8];
    netprof__json_raw(j, "\"");
    while (*p) {
        size_t n = netprof__utf8(p);
        if (n && *p != '"' && *p != '\\' && *p >= 0x20 && *p != 0x7f) {
            p += n;
            continue;
        }
        netprof__json_bytes(j, (const char *)from, (size_t)(p - from));
        if (n) snprintf(escaped, sizeof escaped, *p == '"' || *p == '\\' ? "\\%c" : "\\u%04x", *p);
        netprof__json_raw(j, n ? escaped : "\\ufffd");
        from = ++p;
    }
    netprof__json_bytes(j, (const char *)from, (size_t)(p - from));
    netprof__json_raw(j, "\"");
}

static void netprof__json_u64(netprof__json *j, uint64_t v, int negative)
{
    char text[24];
    size_t at = sizeof text;
    do
        text[--at] = (char)('0' + v % 10);
    while (v /= 10);
    if (negative) text[--at] = '-';
    netprof__json_bytes(j, text + at, sizeof text - at);
}

static void netprof__json_i64(netprof__json *j, int64_t v)
{
    netprof__json_u64(j, v < 0 ? 0 - (uint64_t)v : (uint64_t)v, v < 0);
}

/* Writes a counter's value; signed ones with their sign. */
static void netprof__json_value(netprof__json *j, const netprof_counter *c, uint64_t v)
{
    if (j->u64_strings) netprof__json_raw(j, "\"");
    if (c->flags & NETPROF_SIGNED)
        netprof__json_i64(j, (int64_t)v);
    else
        netprof__json_u64(j, v, 0);
    if (j->u64_strings) netprof__json_raw(j, "\"");
}

/* Writes ,"key": for every member of an object but its first, which the caller writes. */
static void netprof__json_key(netprof__json *j, const char *key)
{
    netprof__json_raw(j, ",");
    netprof__json_text(j, key);
    netprof__json_raw(j, ":");
}

static void netprof__json_member_text(netprof__json *j, const char *key, const char *value)
{
    netprof__json_key(j, key);
    netprof__json_text(j, value);
}

static void netprof__json_member_i64(netprof__json *j, const char *key, int64_t value)
{
    netprof__json_key(j, key);
    netprof__json_i64(j, value);
}

static void netprof__json_facts(netprof__json *j, const netprof_fact *facts, size_t count)
{
    size_t i;
    netprof__json_raw(j, "{");
    for (i = 0; i < count; i++) {
        if (i) netprof__json_raw(j, ",");
        netprof__json_text(j, facts[i].key);
        netprof__json_raw(j, ":");
        netprof__json_text(j, facts[i].value);
    }
    netprof__json_raw(j, "}");
}

static void netprof__json_flags(netprof__json *j, unsigned flags)
{
    static const struct {
        unsigned flag;
        const char *name;
    } rows[] = {{NETPROF_FAST, "fast"},
                {NETPROF_SIGNED, "signed"},
                {NETPROF_SATURATES, "saturates"},
                {NETPROF_STAMPED, "stamped"},
                {NETPROF_SLOW_REFRESH, "slow-refresh"}};
    const char *comma = "";
    size_t i;
    netprof__json_raw(j, "[");
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!(flags & rows[i].flag)) continue;
        netprof__json_raw(j, comma);
        netprof__json_text(j, rows[i].name);
        comma = ",";
    }
    netprof__json_raw(j, "]");
}

static void netprof__json_counter(netprof__json *j, const netprof_counter *c)
{
    netprof__json_raw(j, "{\"counter\":");
    netprof__json_text(j, c->name);
    netprof__json_member_text(j, "unit", c->unit);
    netprof__json_member_text(j, "kind", netprof_kind_name((netprof_kind)c->kind));
    netprof__json_member_i64(j, "width_bits", c->width);
    netprof__json_member_i64(j, "scale", c->scale);
    netprof__json_key(j, "flags");
    netprof__json_flags(j, c->flags);
    netprof__json_raw(j, "}");
}

static void netprof__json_sources(netprof__json *j, const netprof_schema *s)
{
    size_t i;
    netprof__json_raw(j, "[");
    for (i = 0; i < s->source_count; i++) {
        netprof__json_raw(j, i ? ",\n{\"source\":" : "\n{\"source\":");
        netprof__json_text(j, s->sources[i].name);
        netprof__json_member_text(j, "status", netprof_status_name(s->sources[i].status));
        netprof__json_member_i64(j, "errno", s->sources[i].sys_errno);
        netprof__json_member_text(j, "source_path", s->sources[i].path);
        netprof__json_member_i64(j, "device_count", s->sources[i].device_count);
        netprof__json_raw(j, "}");
    }
    netprof__json_raw(j, "]");
}

static void netprof__json_device(netprof__json *j, const netprof_schema *s, const netprof_device *d)
{
    size_t i;
    netprof__json_raw(j, "{\"source\":");
    netprof__json_text(j, d->source);
    netprof__json_member_text(j, "device", d->name);
    netprof__json_key(j, "identity");
    netprof__json_u64(j, d->identity, 0);
    netprof__json_key(j, "physical");
    netprof__json_raw(j, d->flags & NETPROF_DEVICE_PHYSICAL ? "true" : "false");
    netprof__json_key(j, "virtual");
    netprof__json_raw(j, d->flags & NETPROF_DEVICE_VIRTUAL ? "true" : "false");
    netprof__json_key(j, "facts");
    netprof__json_facts(j, d->facts, d->fact_count);
    netprof__json_key(j, "counters");
    netprof__json_raw(j, "[");
    for (i = 0; i < d->count; i++) {
        netprof__json_raw(j, i ? ",\n" : "\n");
        netprof__json_counter(j, &s->counters[d->first + i]);
    }
    netprof__json_raw(j, "]}");
}

static void netprof__json_schema(netprof__json *j, const netprof_schema *s)
{
    size_t i;
    netprof__json_raw(j, "{\"facts\":");
    netprof__json_facts(j, s->facts, s->fact_count);
    netprof__json_key(j, "sources");
    netprof__json_sources(j, s);
    netprof__json_key(j, "devices");
    netprof__json_raw(j, "[");
    for (i = 0; i < s->device_count; i++) {
        netprof__json_raw(j, i ? ",\n" : "\n");
        netprof__json_device(j, s, &s->devices[i]);
    }
    netprof__json_raw(j, "]}");
}

static void netprof__json_values(netprof__json *j, const netprof_snapshot *s, const netprof_device *d)
{
    size_t i;
    netprof__json_raw(j, "{");
    for (i = d->first; i < (size_t)d->first + d->count; i++) {
        netprof__json_raw(j, i > d->first ? ",\n" : "\n");
        netprof__json_text(j, s->schema->counters[i].name);
        netprof__json_raw(j, ":");
        if (netprof__has_value(s->status[i]))
            netprof__json_value(j, &s->schema->counters[i], s->values[i]);
        else
            netprof__json_raw(j, "null");
    }
    netprof__json_raw(j, "}");
}

static void netprof__json_stamps(netprof__json *j, const netprof_snapshot *s, const netprof_device *d)
{
    size_t i, any = 0;
    for (i = d->first; i < (size_t)d->first + d->count; i++)
        any |= s->stamps_ns[i] != 0;
    if (!any) return;
    netprof__json_key(j, "stamps_ns");
    netprof__json_raw(j, "[");
    for (i = d->first; i < (size_t)d->first + d->count; i++) {
        if (i > d->first) netprof__json_raw(j, ",");
        netprof__json_i64(j, s->stamps_ns[i]);
    }
    netprof__json_raw(j, "]");
}

/* The member "not_ok": status and errno of every counter that is not OK. */
static void netprof__json_not_ok(netprof__json *j, const netprof_snapshot *s, const netprof_device *d)
{
    size_t i, any = 0;
    for (i = d->first; i < (size_t)d->first + d->count; i++) {
        if (s->status[i] == NETPROF_STATUS_OK) continue;
        if (!any++) {
            netprof__json_key(j, "not_ok");
            netprof__json_raw(j, "{");
        } else {
            netprof__json_raw(j, ",");
        }
        netprof__json_text(j, s->schema->counters[i].name);
        netprof__json_raw(j, ":[");
        netprof__json_text(j, netprof_status_name((netprof_status)s->status[i]));
        netprof__json_raw(j, ",");
        netprof__json_u64(j, s->errnos[i], 0);
        netprof__json_raw(j, "]");
    }
    if (any) netprof__json_raw(j, "}");
}

static void netprof__json_snapshot(netprof__json *j, const netprof_snapshot *s, size_t number)
{
    size_t i;
    netprof__json_raw(j, "{\"schema\":");
    netprof__json_u64(j, number, 0);
    netprof__json_member_text(j, "set", s->set == NETPROF_SET_FAST ? "fast" : "all");
    netprof__json_member_i64(j, "monotonic_begin_ns", s->begin_ns);
    netprof__json_member_i64(j, "monotonic_end_ns", s->end_ns);
    netprof__json_member_i64(j, "time_ns", s->wall_ns);
    netprof__json_member_i64(j, "stamp_error_ns", s->stamp_error_ns);
    netprof__json_key(j, "devices");
    netprof__json_raw(j, "[");
    for (i = 0; i < s->schema->device_count; i++) {
        const netprof_device *d = &s->schema->devices[i];
        netprof__json_raw(j, i ? ",\n{\"device\":" : "\n{\"device\":");
        netprof__json_text(j, d->name);
        netprof__json_member_text(j, "source", d->source);
        netprof__json_member_i64(j, "monotonic_begin_ns", s->device_begin_ns[i]);
        netprof__json_member_i64(j, "monotonic_end_ns", s->device_end_ns[i]);
        netprof__json_key(j, "values");
        netprof__json_values(j, s, d);
        netprof__json_stamps(j, s, d);
        netprof__json_not_ok(j, s, d);
        netprof__json_raw(j, "}");
    }
    netprof__json_raw(j, "]}");
}

static void netprof__json_delta_row(netprof__json *j, const netprof_delta *d, size_t i)
{
    const netprof_counter *c = &d->schema->counters[i];
    netprof__json_text(j, c->name);
    netprof__json_raw(j, ":{\"before\":");
    netprof__json_value(j, c, d->before[i]);
    netprof__json_key(j, "after");
    netprof__json_value(j, c, d->after[i]);
    netprof__json_key(j, "delta");
    netprof__json_value(j, c, d->values[i]);
    netprof__json_member_text(j, "flag", netprof_flag_name((netprof_flag)d->flags[i]));
    netprof__json_member_i64(j, "elapsed_ns", d->elapsed_ns[i]);
    netprof__json_member_text(j, "before_status", netprof_status_name((netprof_status)d->before_status[i]));
    netprof__json_member_text(j, "after_status", netprof_status_name((netprof_status)d->after_status[i]));
    netprof__json_raw(j, "}");
}

static void netprof__json_delta(netprof__json *j, const netprof_delta *d, size_t number)
{
    size_t i, k;
    netprof__json_raw(j, "{\"schema\":");
    netprof__json_u64(j, number, 0);
    netprof__json_member_i64(j, "begin_ns", d->wall_begin_ns);
    netprof__json_member_i64(j, "end_ns", d->wall_end_ns);
    netprof__json_member_i64(j, "elapsed_ns", d->interval_ns);
    netprof__json_member_i64(j, "sweep_ns", d->sweep_ns);
    netprof__json_member_i64(j, "stamp_error_ns", d->stamp_error_ns);
    netprof__json_key(j, "devices");
    netprof__json_raw(j, "[");
    for (i = 0; i < d->schema->device_count; i++) {
        const netprof_device *device = &d->schema->devices[i];
        netprof__json_raw(j, i ? ",\n{\"device\":" : "\n{\"device\":");
        netprof__json_text(j, device->name);
        netprof__json_member_text(j, "source", device->source);
        netprof__json_key(j, "counters");
        netprof__json_raw(j, "{");
        for (k = device->first; k < (size_t)device->first + device->count; k++) {
            netprof__json_raw(j, k > device->first ? ",\n" : "\n");
            netprof__json_delta_row(j, d, k);
        }
        netprof__json_raw(j, "}}");
    }
    netprof__json_raw(j, "]}");
}

/* The schema of the i-th item: snapshots first, then deltas. */
static const netprof_schema *netprof__json_schema_of(const netprof_json *what, size_t i)
{
    return i < what->snapshot_count ? what->snapshots[i].schema : what->deltas[i - what->snapshot_count].schema;
}

/* Number of its schema: how many different schemas come before the first use of it. */
static size_t netprof__json_number(const netprof_json *what, size_t i)
{
    size_t number = 0, k, m;
    for (k = 0; netprof__json_schema_of(what, k) != netprof__json_schema_of(what, i); k++) {
        for (m = 0; netprof__json_schema_of(what, m) != netprof__json_schema_of(what, k); m++)
            continue;
        number += m == k;
    }
    return number;
}

static void netprof__json_schemas(netprof__json *j, const netprof_json *what)
{
    size_t i, m, written = 0;
    for (i = 0; i < what->snapshot_count + what->delta_count; i++) {
        for (m = 0; netprof__json_schema_of(what, m) != netprof__json_schema_of(what, i); m++)
            continue;
        if (m < i) continue;
        netprof__json_raw(j, written++ ? ",\n" : "\n");
        netprof__json_schema(j, netprof__json_schema_of(what, i));
    }
}

NETPROF_API netprof_err netprof_write_json(const netprof_json *what, netprof_write_fn write, void *user,
                                           netprof_error *error)
{
    netprof__json j;
    size_t i;
    if (!what || !write) return netprof__fail(error, NETPROF_ERR_ARG, 0, NULL, "nothing to write, or nowhere");
    j.write = write;
    j.user = user;
    j.used = 0;
    j.failed = 0;
    j.u64_strings = what->u64_strings;
    netprof__json_raw(&j, "{\"format\":\"netprof\",\"version\":2,\"facts\":");
    netprof__json_facts(&j, what->facts, what->fact_count);
    netprof__json_raw(&j, ",\n\"schemas\":[");
    netprof__json_schemas(&j, what);
    netprof__json_raw(&j, "],\n\"snapshots\":[");
    for (i = 0; i < what->snapshot_count; i++) {
        netprof__json_raw(&j, i ? ",\n" : "\n");
        netprof__json_snapshot(&j, &what->snapshots[i], netprof__json_number(what, i));
    }
    netprof__json_raw(&j, "],\n\"deltas\":[");
    for (i = 0; i < what->delta_count; i++) {
        netprof__json_raw(&j, i ? ",\n" : "\n");
        netprof__json_delta(&j, &what->deltas[i], netprof__json_number(what, what->snapshot_count + i));
    }
    netprof__json_raw(&j, "]}\n");
    netprof__json_flush(&j);
    return j.failed ? netprof__fail(error, NETPROF_ERR_IO, j.failed, NULL, "cannot write") : NETPROF_OK;
}

#endif /* NETPROF_NO_JSON */

/* >>11.2 text for people */

#ifndef NETPROF_NO_PRINT

typedef struct netprof__text {
    netprof_write_fn write;
    void *user;
    size_t used;
    int failed;
    char data[2048];
} netprof__text;

static void netprof__text_flush(netprof__text *t)
{
    if (!t->failed && t->used) t->failed = t->write(t->user, t->data, t->used);
    t->used = 0;
}

__attribute__((format(printf, 2, 3))) static void netprof__text_add(netprof__text *t, const char *format, ...)
{
    char line[512];
    size_t n;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    n = strlen(line);
    if (t->used + n > sizeof t->data) netprof__text_flush(t);
    memcpy(t->data + t->used, line, n);
    t->used += n;
}

static int netprof__write_fd(void *user, const void *data, size_t size)
{
    const char *p = (const char *)data;
    int fd = *(const int *)user;
    while (size) {
        ssize_t n = NETPROF_OS_WRITE(fd, p, size);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n < 0 ? errno : EIO;
        p += n;
        size -= (size_t)n;
    }
    return 0;
}

/* Control characters, those that turn the direction of text, and bytes that are not UTF-8 are not for a terminal. */
static int netprof__is_printable(const unsigned char *p, size_t n)
{
    unsigned code;
    if (n == 1) return *p >= 0x20 && *p != 0x7f;
    code = n == 2 ? (p[0] & 0x1fu) << 6 | (p[1] & 0x3fu) : (p[0] & 0x0fu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu);
    if (n == 4 || !n) return n == 4;
    return code >= 0xa0 && !(code >= 0x200b && code <= 0x200f) && !(code >= 0x2028 && code <= 0x202e) &&
           !(code >= 0x2066 && code <= 0x2069) && code != 0x61c && code != 0xfeff;
}

/* Adds a name from outside, cut or filled up to the width (in characters). */
static void netprof__text_name(netprof__text *t, const char *name, int width)
{
    const unsigned char *p = (const unsigned char *)name;
    int used = 0, cut = 0;
    for (; *p && used < width; used++) {
        size_t n = netprof__utf8(p);
        cut = used + 1 == width && p[n ? n : 1];
        if (cut)
            netprof__text_add(t, "~");
        else if (!n || !netprof__is_printable(p, n))
            netprof__text_add(t, "?");
        else
            netprof__text_add(t, "%.*s", (int)n, (const char *)p);
        p += n ? n : 1;
    }
    netprof__text_add(t, "%*s", width - used, "");
}

/* The same without filling up. */
static void netprof__text_short_name(netprof__text *t, const char *name, int most)
{
    int n = 0;
    const unsigned char *p = (const unsigned char *)name;
    for (; *p && n < most; n++) {
        size_t bytes = netprof__utf8(p);
        p += bytes ? bytes : 1;
    }
    netprof__text_name(t, name, n);
}

typedef struct netprof__words {
    char text[24];
} netprof__words;

/* Three digits and a decimal prefix. */
static netprof__words netprof__amount(double value, const char *unit)
{
    static const char prefixes[] = " kMGTPE";
    netprof__words w;
    int prefix = 0;
    while (value >= 999.5 && prefix < 6) {
        value /= 1000;
        prefix++;
    }
    snprintf(w.text, sizeof w.text, "%.*f%s%.*s%s",
             !prefix || value >= 99.95 ? 0
             : value >= 9.995          ? 1
                                       : 2,
             value, prefix || *unit ? " " : "", prefix ? 1 : 0, prefixes + prefix, unit);
    return w;
}

static netprof__words netprof__duration(double ns)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    netprof__words w;
    int unit = 0;
    while (ns >= 999.5 && unit < 3) {
        ns /= 1000;
        unit++;
    }
    snprintf(w.text, sizeof w.text, "%.*f %s", !unit || ns >= 99.95 ? 0 : ns >= 9.995 ? 1 : 2, ns, units[unit]);
    return w;
}

/* ">=" where the sum may be too small, "?" where there is none. */
static void netprof__text_sum(netprof__text *t, const netprof__sum *s, const char *unit, int width)
{
    netprof__words w = netprof__amount((double)s->value, unit);
    char text[32];
    if (!netprof__sum_is_known(s)) {
        netprof__text_add(t, " %*s", width, "?");
        return;
    }
    snprintf(text, sizeof text, "%s%s", s->lower_bound ? ">=" : "", w.text);
    netprof__text_add(t, " %*s", width, text);
}

static void netprof__text_rates(netprof__text *t, const netprof__sum *rx, const netprof__sum *tx, double line_rate,
                                uint64_t errors)
{
    double most = rx->per_s > tx->per_s ? rx->per_s : tx->per_s;
    netprof__text_sum(t, rx, "B", 12);
    netprof__text_add(t, " %10s/s", netprof__sum_is_known(rx) ? netprof__amount(rx->per_s, "B").text : "?");
    netprof__text_sum(t, tx, "B", 12);
    netprof__text_add(t, " %10s/s", netprof__sum_is_known(tx) ? netprof__amount(tx->per_s, "B").text : "?");
    if (line_rate > 0 && netprof__sum_is_known(rx) && netprof__sum_is_known(tx))
        netprof__text_add(t, " %6.*f %%", most < 0.1 * line_rate ? 1 : 0, most / line_rate * 100);
    else if (errors)
        netprof__text_add(t, " %8s", "");
    if (errors) netprof__text_add(t, " %9s", netprof__amount((double)errors, "").text);
    netprof__text_add(t, "\n");
}

enum { NETPROF__QUIET, NETPROF__MOVED, NETPROF__UNREAD, NETPROF__UNTOLD };

static int netprof__traffic_of(const netprof_delta *d, size_t device, netprof__sum *sums)
{
    int i, there = 0, moved = 0, unread = 0;
    netprof__sums_of(d, &d->schema->devices[device], sums);
    for (i = 0; i < NETPROF__ERRORS; i++) {
        there |= sums[i].there > 0;
        moved |= sums[i].value > 0;
        unread |= sums[i].there && !netprof__sum_is_known(&sums[i]);
    }
    if (!there || (!moved && !netprof__is_chosen(&d->schema->devices[device], NULL))) return NETPROF__UNTOLD;
    if (netprof__is_counted_by_another(d, device, NULL)) return NETPROF__UNTOLD;
    return moved || sums[NETPROF__ERRORS].value ? NETPROF__MOVED : unread ? NETPROF__UNREAD : NETPROF__QUIET;
}

static void netprof__text_device(netprof__text *t, const netprof_delta *d, const netprof_device *device,
                                 const netprof__sum *sums)
{
    const char *other = netprof_fact_of(device->facts, device->fact_count, "netdev");
    char name[128];
    if (other && strcmp(other, device->name) != 0)
        snprintf(name, sizeof name, "%s (%s)", device->name, other);
    else
        snprintf(name, sizeof name, "%s%s", device->name, device->flags & NETPROF_DEVICE_PHYSICAL ? "" : " (virtual)");
    (void)d;
    netprof__text_add(t, "  ");
    netprof__text_name(t, name, 20);
    netprof__text_rates(t, &sums[NETPROF__RX_BYTES], &sums[NETPROF__TX_BYTES], (double)netprof__line_rate(device) * 125,
                        sums[NETPROF__ERRORS].value);
}

/* Names of the devices in that state, some of them. */
static void netprof__text_others(netprof__text *t, const netprof_delta *d, int state, const char *what)
{
    netprof__sum sums[NETPROF__SUMS];
    size_t i, count = 0;
    for (i = 0; i < d->schema->device_count; i++) {
        if (netprof__traffic_of(d, i, sums) != state) continue;
        count++;
        if (count == 1) netprof__text_add(t, "  %s: ", what);
        if (count > 1 && count <= 6) netprof__text_add(t, ", ");
        if (count <= 6) netprof__text_short_name(t, d->schema->devices[i].name, 20);
    }
    if (count > 6) netprof__text_add(t, " and %lu more", (unsigned long)(count - 6));
    if (count) netprof__text_add(t, "\n");
}

static void netprof__text_total(netprof__text *t, const netprof_total *total)
{
    netprof__sum rx = NETPROF_ZERO, tx = NETPROF_ZERO;
    rx.value = total->rx_bytes;
    rx.per_s = total->rx_bytes_per_s;
    tx.value = total->tx_bytes;
    tx.per_s = total->tx_bytes_per_s;
    rx.found = tx.found = 1;
    rx.lower_bound = tx.lower_bound = total->lower_bound;
    netprof__text_add(t, "  all %-16lu", (unsigned long)total->devices);
    netprof__text_rates(t, &rx, &tx, 0, total->errors);
}

static void netprof__text_delta(netprof__text *t, const netprof_delta *d)
{
    netprof_total total = netprof_totals(d, NULL);
    netprof__sum sums[NETPROF__SUMS];
    size_t i, rows = 0, ports = 0;
    const char *host = netprof_fact_of(d->schema->facts, d->schema->fact_count, "host");
    netprof__text_add(t, "netprof: %s on ", netprof__duration((double)d->interval_ns).text);
    netprof__text_short_name(t, host ? host : "this node", 64);
    netprof__text_add(t, "\n");
    for (i = 0; i < d->schema->device_count; i++) {
        if (netprof__traffic_of(d, i, sums) != NETPROF__MOVED) continue;
        if (!rows++)
            netprof__text_add(t, "  %-20s %12s %12s %12s %12s %8s %9s\n", "device", "received", "rate", "sent", "rate",
                              "of line", "errors");
        ports += (d->schema->devices[i].flags & NETPROF_DEVICE_PHYSICAL) != 0;
        netprof__text_device(t, d, &d->schema->devices[i], sums);
    }
    if (ports > 1) netprof__text_total(t, &total);
    if (!rows)
        netprof__text_add(t, "  no network traffic%s\n", total.devices ? "" : ": no port of a network is seen here");
    netprof__text_others(t, d, NETPROF__QUIET, "moved nothing");
    netprof__text_others(t, d, NETPROF__UNREAD, "not read, or not twice");
}

/* A path of regions, summed over threads. */
typedef struct netprof__row {
    const char *name;
    size_t parent; /* NETPROF_NONE: top level */
    uint64_t calls, measured, total_ns, inclusive_ns, exclusive_ns, min_ns, max_ns, bytes, open;
} netprof__row;

typedef struct netprof__rows {
    netprof__row *rows;
    size_t count, *of; /* [stats]: the row of a stat */
    size_t *slots, slot_count;
    netprof__row **order;
} netprof__rows;

static size_t netprof__row_hash(size_t parent, const char *name)
{
    uint64_t h = (NETPROF__FNV_BASIS ^ parent) * NETPROF__FNV_PRIME;
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * NETPROF__FNV_PRIME;
    return (size_t)(h ^ h >> 32);
}

static size_t netprof__row_of(netprof__rows *t, size_t parent, const char *name)
{
    size_t at = netprof__row_hash(parent, name) & (t->slot_count - 1);
    for (; t->slots[at]; at = (at + 1) & (t->slot_count - 1)) {
        netprof__row *r = &t->rows[t->slots[at] - 1];
        if (r->parent == parent && strcmp(r->name, name) == 0) return t->slots[at] - 1;
    }
    memset(&t->rows[t->count], 0, sizeof *t->rows);
    t->rows[t->count].name = name;
    t->rows[t->count].parent = parent;
    t->rows[t->count].min_ns = UINT64_MAX;
    t->slots[at] = ++t->count;
    return t->count - 1;
}

/* The row of a stat; that of its parent comes first. A file may hold any parents: one that is its own forefather, or
   very deep, stands at the top. */
static size_t netprof__place(netprof__rows *t, const netprof_regions *r, size_t first, size_t i, unsigned depth)
{
    const size_t underway = NETPROF_NONE - 1;
    size_t above = r->stats[i].parent, parent = NETPROF_NONE;
    if (t->of[i] != NETPROF_NONE) return t->of[i];
    t->of[i] = underway;
    if (above != UINT32_MAX && above < r->count - first && r->stats[first + above].thread == r->stats[i].thread &&
        t->of[first + above] != underway && depth < 1000)
        parent = netprof__place(t, r, first, first + above, depth + 1);
    return t->of[i] = netprof__row_of(t, parent, r->stats[i].region);
}

static void netprof__row_add(netprof__row *to, const netprof_stat *s)
{
    to->calls += s->calls;
    to->measured += s->measured;
    to->total_ns += s->total_ns;
    to->inclusive_ns += s->inclusive_ns;
    to->exclusive_ns += s->exclusive_ns;
    to->bytes += s->bytes;
    to->open += s->open;
    if (s->measured && s->min_ns < to->min_ns) to->min_ns = s->min_ns;
    if (s->max_ns > to->max_ns) to->max_ns = s->max_ns;
}

/* Siblings stand together, the longest first. */
static int netprof__row_order(const void *a, const void *b)
{
    const netprof__row *x = *(netprof__row *const *)a, *y = *(netprof__row *const *)b;
    if (x->parent != y->parent) return x->parent + 1 < y->parent + 1 ? -1 : 1; /* NETPROF_NONE first */
    if (x->inclusive_ns != y->inclusive_ns) return x->inclusive_ns > y->inclusive_ns ? -1 : 1;
    return strcmp(x->name, y->name);
}

static int netprof__rows_make(netprof__rows *t, const netprof_regions *r)
{
    netprof_alloc a = netprof__alloc_or_default(NULL);
    size_t i, first = 0;
    memset(t, 0, sizeof *t);
    for (t->slot_count = 16; t->slot_count < 2 * r->count; t->slot_count *= 2)
        continue;
    t->rows = (netprof__row *)netprof__zalloc(&a, (r->count + 1) * sizeof *t->rows);
    t->of = (size_t *)netprof__zalloc(&a, (r->count + 1) * sizeof *t->of);
    t->slots = (size_t *)netprof__zalloc(&a, t->slot_count * sizeof *t->slots);
    t->order = (netprof__row **)netprof__zalloc(&a, (r->count + 1) * sizeof *t->order);
    if (!t->rows || !t->of || !t->slots || !t->order) return 0;
    memset(t->of, 0xff, r->count * sizeof *t->of);
    for (i = 0; i < r->count; i++) {
        if (i && r->stats[i].thread != r->stats[i - 1].thread) first = i;
        netprof__row_add(&t->rows[netprof__place(t, r, first, i, 0)], &r->stats[i]);
    }
    for (i = 0; i < t->count; i++)
        t->order[i] = &t->rows[i];
    qsort(t->order, t->count, sizeof *t->order, netprof__row_order);
    return 1;
}

static void netprof__rows_free(netprof__rows *t)
{
    netprof_alloc a = netprof__alloc_or_default(NULL);
    netprof__release(&a, t->rows);
    netprof__release(&a, t->of);
    netprof__release(&a, t->slots);
    netprof__release(&a, t->order);
}

static void netprof__text_row(netprof__text *t, const netprof__row *r, unsigned depth, double own_all)
{
    int indent = depth < 12 ? (int)(2 * depth) : 24;
    netprof__text_add(t, "  %*s", indent, "");
    netprof__text_name(t, r->name, 30 - indent);
    netprof__text_add(t, " %9s%s", netprof__amount((double)r->calls, "").text, r->measured < r->calls ? "*" : " ");
    netprof__text_add(t, " %8s", netprof__duration((double)r->inclusive_ns).text);
    netprof__text_add(t, " %6.1f %%", own_all > 0 ? (double)r->exclusive_ns / own_all * 100 : 0);
    if (r->measured) {
        netprof__text_add(t, " %8s", netprof__duration((double)r->total_ns / (double)r->measured).text);
        netprof__text_add(t, " %8s", netprof__duration((double)r->min_ns).text);
        netprof__text_add(t, " %8s", netprof__duration((double)r->max_ns).text);
    } else {
        netprof__text_add(t, " %8s %8s %8s", "", "", "");
    }
    if (r->bytes) netprof__text_add(t, " %8s", netprof__amount((double)r->bytes, "B").text);
    netprof__text_add(t, "%s\n", r->open ? " open" : "");
}

/* Where the children of a parent begin in the order. */
static size_t netprof__children_of(const netprof__rows *t, size_t parent)
{
    size_t low = 0, high = t->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (t->order[middle]->parent + 1 < parent + 1)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void netprof__text_rows(netprof__text *t, const netprof__rows *rows, size_t parent, unsigned depth,
                               double own_all)
{
    size_t i;
    for (i = netprof__children_of(rows, parent); i < rows->count && rows->order[i]->parent == parent; i++) {
        netprof__text_row(t, rows->order[i], depth, own_all);
        netprof__text_rows(t, rows, (size_t)(rows->order[i] - rows->rows), depth + 1, own_all);
    }
}

static const char *netprof__mode_text(netprof_mode mode)
{
    return mode == NETPROF_MODE_FAST      ? "fast"
           : mode == NETPROF_MODE_SAMPLER ? "sampler"
           : mode == NETPROF_MODE_TIME    ? "time"
                                          : "off";
}

static netprof_err netprof__text_regions(netprof__text *t, const netprof_regions *r, netprof_error *error)
{
    netprof__rows rows;
    double own_all = 0;
    size_t i, partly = 0;
    if (!netprof__rows_make(&rows, r)) {
        netprof__rows_free(&rows);
        return netprof__no_memory(error);
    }
    for (i = 0; i < rows.count; i++) {
        own_all += (double)rows.rows[i].exclusive_ns;
        partly += rows.rows[i].measured < rows.rows[i].calls;
    }
    netprof__text_add(t, "regions: %s, %lu thread%s, mode %s\n", netprof__duration((double)r->elapsed_ns).text,
                      (unsigned long)r->threads, r->threads == 1 ? "" : "s", netprof__mode_text(r->mode));
    netprof__text_add(t, "  %-30s %9s  %8s %8s %8s %8s %8s %8s\n", "region", "calls", "time", "own", "mean", "least",
                      "most", "bytes");
    netprof__text_rows(t, &rows, NETPROF_NONE, 0, own_all);
    if (r->readings)
        netprof__text_add(t, "  reading counters took %s, which is in no region's time\n",
                          netprof__duration((double)r->reading_ns).text);
    if (partly) netprof__text_add(t, "  * not every call was timed: the times are those of the timed ones\n");
    if (r->dropped || r->mismatched)
        netprof__text_add(t, "  begins that could not be counted: %lu; ends that did not fit: %lu\n",
                          (unsigned long)r->dropped, (unsigned long)r->mismatched);
    if (*r->warning) {
        netprof__text_add(t, "  warning: ");
        netprof__text_short_name(t, r->warning, 200);
        netprof__text_add(t, "\n");
    }
    netprof__rows_free(&rows);
    return NETPROF_OK;
}

NETPROF_API netprof_err netprof_print_to(netprof_write_fn write, void *user, const netprof_delta *delta,
                                         const netprof_regions *regions, netprof_error *error)
{
    netprof__text t;
    netprof_err failed = NETPROF_OK;
    if (!write) return netprof__fail(error, NETPROF_ERR_ARG, 0, NULL, "nowhere to write");
    t.write = write;
    t.user = user;
    t.used = 0;
    t.failed = 0;
    if (delta && delta->schema) netprof__text_delta(&t, delta);
    if (regions && regions->count) failed = netprof__text_regions(&t, regions, error);
    netprof__text_flush(&t);
    if (t.failed && !failed) failed = netprof__fail(error, NETPROF_ERR_IO, t.failed, NULL, "cannot write");
    return failed;
}

NETPROF_API void netprof_print(int fd, const netprof_delta *delta, const netprof_regions *regions)
{
    netprof_print_to(netprof__write_fd, &fd, delta, regions, NULL);
}

/* >>11.3 a benchmark over sizes of messages */

enum { NETPROF__BENCH_CALLS = 65536, NETPROF__BENCH_FIRST = 32 };
#define NETPROF__BENCH_LEAST 0.02 /* of its time that a size gets however steady it is: what changes slowly shows */

typedef struct netprof__bench {
    const netprof_bench *what;
    double *sorted; /* ns of each call; in order of size after each round */
    netprof *np;
    netprof_snapshot before, after;
    netprof_delta delta;
} netprof__bench;

static int netprof__double_order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The largest whole number whose square is at most n. */
static size_t netprof__root(size_t n)
{
    size_t r = 0;
    while ((r + 1) * (r + 1) <= n)
        r++;
    return r;
}

static double netprof__middle(const double *sorted, size_t n)
{
    return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

/* The median lies between these two of the sorted durations in 95 of 100 benchmarks: the ranks n/2 -+ 0.98 sqrt(n) (sign
   test, normal approximation). */
static int netprof__median_is_steady(const double *sorted, size_t n, double steady)
{
    size_t away = netprof__root(n) + 1;
    if (n < 20) return 0;
    return sorted[n / 2 + away < n ? n / 2 + away : n - 1] - sorted[n / 2 > away ? n / 2 - away : 0] <=
           2 * steady * netprof__middle(sorted, n);
}

static int netprof__bench_calls(netprof__bench *b, size_t size, size_t from, size_t to)
{
    size_t i;
    for (i = from; i < to; i++) {
        int64_t begin = netprof__clock(CLOCK_MONOTONIC);
        int failed = b->what->run(b->what->user, size);
        b->sorted[i] = (double)(netprof__clock(CLOCK_MONOTONIC) - begin);
        if (failed) return failed;
    }
    return 0;
}

static void netprof__bench_result(const netprof__bench *b, netprof_bench_row *row, size_t n)
{
    double messages = b->what->messages ? b->what->messages : 1;
    row->calls = n;
    row->median_ns = netprof__middle(b->sorted, n);
    row->least_ns = b->sorted[0];
    row->most_ns = b->sorted[n - 1];
    row->lower_ns = b->sorted[n / 4];
    row->upper_ns = b->sorted[n - 1 - n / 4];
    row->bytes_per_s = row->median_ns > 0 ? (double)row->size * messages / row->median_ns * 1e9 : 0;
}

/* Rounds, each as long as all before it, so that processes that agree call equally often. Returns 0 or an errno. */
static int netprof__bench_size(netprof__bench *b, netprof_bench_row *row)
{
    const netprof_bench *w = b->what;
    size_t n = 0, next = NETPROF__BENCH_FIRST, i;
    double limit_ns = 1e9 * (w->seconds > 0 ? w->seconds : 1), passed;
    int more = 1, failed = 0;
    int64_t begin;
    for (i = 0; i < (w->warmup ? w->warmup : 10u) && !failed; i++)
        failed = w->run(w->user, row->size);
    if (b->np && netprof_take(b->np, &b->before, NETPROF_SET_FAST, NULL)) netprof_snapshot_free(&b->before);
    begin = netprof__clock(CLOCK_MONOTONIC);
    while (more && !failed) {
        failed = netprof__bench_calls(b, row->size, n, next);
        n = next;
        qsort(b->sorted, n, sizeof *b->sorted, netprof__double_order);
        passed = (double)(netprof__clock(CLOCK_MONOTONIC) - begin) / limit_ns;
        row->steady = netprof__median_is_steady(b->sorted, n, w->steady > 0 ? w->steady : 0.01);
        next = 2 * n;
        more = next <= NETPROF__BENCH_CALLS && passed < (row->steady ? NETPROF__BENCH_LEAST : 1);
        if (w->agree && !failed) more = w->agree(w->user, more) && next <= NETPROF__BENCH_CALLS;
    }
    if (failed) return failed;
    netprof__bench_result(b, row, n);
    if (b->before.schema && !netprof_take(b->np, &b->after, NETPROF_SET_FAST, NULL) &&
        !netprof_diff(&b->before, &b->after, NULL, &b->delta, NULL))
        row->nic = netprof_totals(&b->delta, w->devices);
    return 0;
}

static void netprof__bench_end(netprof__bench *b)
{
    netprof_alloc a = netprof__alloc_or_default(NULL);
    netprof__release(&a, b->sorted);
    netprof_delta_free(&b->delta);
    netprof_snapshot_free(&b->before);
    netprof_snapshot_free(&b->after);
    netprof_close(b->np);
}

NETPROF_API netprof_err netprof_bench_run(const netprof_bench *bench, netprof_bench_row *rows, size_t *count,
                                          netprof_error *error)
{
    netprof_alloc a = netprof__alloc_or_default(NULL);
    size_t room = count ? *count : 0, size, last;
    netprof__bench b;
    int failed = 0;
    if (count) *count = 0;
    if (!bench || !bench->run || bench->end_zero || !rows || !count)
        return netprof__fail(error, NETPROF_ERR_ARG, 0, NULL, "a benchmark that was not initialised, or no rows");
    memset(&b, 0, sizeof b);
    b.what = bench;
    b.sorted = (double *)netprof__zalloc(&a, NETPROF__BENCH_CALLS * sizeof *b.sorted);
    if (!b.sorted) return netprof__no_memory(error);
    netprof_open(&b.np, NULL, NULL);
    size = bench->from ? bench->from : 1;
    last = bench->to ? bench->to : 4194304;
    for (; size <= last && *count < room && !failed; size *= 2) {
        memset(&rows[*count], 0, sizeof *rows);
        rows[*count].size = size;
        failed = netprof__bench_size(&b, &rows[*count]);
        *count += !failed;
        if (size > SIZE_MAX / 2) break;
    }
    netprof__bench_end(&b);
    if (failed) return netprof__fail(error, NETPROF_ERR_IO, failed, NULL, "the benchmark's function failed");
    return size <= last && size <= SIZE_MAX / 2
               ? netprof__fail(error, NETPROF_ERR_LIMIT, 0, NULL, "more sizes than rows")
               : NETPROF_OK;
}

NETPROF_API void netprof_print_bench(int fd, const netprof_bench_row *rows, size_t count)
{
    netprof__text t;
    size_t i, restless = 0;
    t.write = netprof__write_fd;
    t.user = &fd;
    t.used = 0;
    t.failed = 0;
    netprof__text_add(&t, "%12s %8s  %10s %10s %10s %12s  %12s %12s\n", "size", "calls", "median", "25 %", "75 %",
                      "bandwidth", "NIC sent", "received");
    netprof__text_add(&t, "%12s %8s  %10s %10s %10s %12s  %12s %12s\n", "bytes", "", "", "", "", "", "a call",
                      "a call");
    for (i = 0; i < count; i++) {
        const netprof_bench_row *r = &rows[i];
        double calls = (double)r->calls;
        restless += !r->steady;
        netprof__text_add(&t, "%12lu %8lu %s%10s %10s", (unsigned long)r->size, (unsigned long)r->calls,
                          r->steady ? " " : "~", netprof__duration(r->median_ns).text,
                          netprof__duration(r->lower_ns).text);
        netprof__text_add(&t, " %10s %10s/s", netprof__duration(r->upper_ns).text,
                          netprof__amount(r->bytes_per_s, "B").text);
        netprof__text_add(&t, "  %12s",
                          r->nic.devices && calls > 0 ? netprof__amount((double)r->nic.tx_bytes / calls, "B").text
                                                      : "?");
        netprof__text_add(&t, " %12s\n",
                          r->nic.devices && calls > 0 ? netprof__amount((double)r->nic.rx_bytes / calls, "B").text
                                                      : "?");
    }
    if (restless) netprof__text_add(&t, "~ the time was over before the median was known well enough\n");
    netprof__text_flush(&t);
}

#endif /* NETPROF_NO_PRINT */

/* ---- >>12 implementation: regions ---- */

#if defined(NETPROF_DISABLE) && !defined(NETPROF_STATIC)
int netprof__mode_now = NETPROF_MODE_OFF; /* for files without NETPROF_DISABLE */
#endif
#ifndef NETPROF_DISABLE

/* >>12.1 the data of the hot path

   A thread owns its nodes (a region under a parent) and its frames (open calls), and only it writes to them. A reader
   (flush, series) copies a node between two equal even values of its sequence number. Stores are release stores, which
   cost nothing on x86: a reader that sees one of them sees everything before it. So a reader that sees any effect of a
   region call also sees either the 0 to which the call first set `ready`, or all of the call's effects; see section
   12.13. Whatever concerns all threads at once (a reset, a fork, mode off) changes the process's epoch, and each thread
   catches up at its next call: a single comparison covers that, a signal handler inside another call, and the first
   call of a thread. */

#ifndef NETPROF_MAX_DEPTH
#define NETPROF_MAX_DEPTH 64
#endif
#ifndef NETPROF_MAX_REGIONS
#define NETPROF_MAX_REGIONS 4096
#endif

#define NETPROF__LIKELY(condition)   __builtin_expect(!!(condition), 1)
#define NETPROF__UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#if defined(NETPROF_REGIONS_ONLY) && defined(__OPTIMIZE_SIZE__) /* each once: 3 KB less, 1.5 ns more a pair */
#define NETPROF__HOT static inline
#else
#define NETPROF__HOT static inline __attribute__((always_inline))
#endif
#define NETPROF__COLD static __attribute__((noinline, cold))
/* The thread's pointer in a shared object: avoids a call to __tls_get_addr where the C library has room for it. */
#if defined(__GLIBC__) && defined(__PIC__)
#define NETPROF__TLS __thread __attribute__((tls_model("initial-exec")))
#else
#define NETPROF__TLS __thread
#endif

#define NETPROF__SET(place, value) __atomic_store_n(&(place), (value), __ATOMIC_RELEASE)
#define NETPROF__GET(place)        __atomic_load_n(&(place), __ATOMIC_ACQUIRE)
#define NETPROF__PEEK(place)       __atomic_load_n(&(place), __ATOMIC_RELAXED)
#define NETPROF__ADD(place, step)  NETPROF__SET(place, (place) + (step)) /* only by the one thread that writes */

/* The counts of a node. The first row changes at every call. All members have 64 bits, for netprof__node_read(). */
typedef struct netprof__tally {
    uint64_t calls, measured, inclusive, within, min, max; /* within: time of the regions inside */
    /* The first duration, and the sum of squares (a double) of the distances from it: with larger numbers a small
       variance would be lost. */
    uint64_t pivot, squares;
    uint64_t recursive; /* time of the inner calls of a recursion */
    uint64_t skipped, spans, bytes, aborted, too_short, counted, concurrency;
    uint64_t waits, waited, adopted; /* adopted: time of threads that work for it (netprof_adopt) */
} netprof__tally;

/* A value of a node's calls; the numbers are those of netprof_value_stat. */
typedef struct netprof__value_node {
    struct netprof__value_node *next; /* made before */
    uint32_t name, waiting;           /* waiting: given in a call that is open */
    uint64_t current, count, sum, least, most, at_longest, longest;
    uint64_t counts[NETPROF_VALUE_BUCKETS], times[NETPROF_VALUE_BUCKETS];
} netprof__value_node;

/* One region under one parent, in one thread: its statistics and its place in the tree. */
typedef struct netprof__node {
    uint32_t sequence, region;
    const uint32_t *every;        /* of the region */
    struct netprof__node *recent; /* the child that was used last */
    uint64_t *sums;               /* of the counters; NULL in modes without counters */
    netprof__tally tally;
    struct netprof__node *parent, *children, *sibling, *made_before; /* made_before: list of all nodes of the thread */
    /* Of the histogram: how often each bucket passed 2^32; NULL until one does. */
    uint32_t *carries;
    uint32_t index;
    uint32_t row; /* used by the series: its row, from 1; 0: not known yet */
    uint32_t is_span;
    struct netprof__node *recent_span; /* as recent, of the spans */
    struct netprof__thread *owner;
    netprof__value_node *values, *collected_values; /* collected: `values` when a collection began */
    uint32_t histogram[NETPROF_HISTOGRAM_BUCKETS];
} netprof__node;

/* Values of the counters at one moment, shared by the frames that began at that moment. */
typedef struct netprof__sample {
    uint64_t sequence;
    unsigned frames;
    uint64_t *values;
    unsigned char *known; /* 0: could not be read */
} netprof__sample;

/* 0: regions have no counters. The compiler then drops what follows from this and from the marks below. */
#ifdef NETPROF_NO_SOURCES
#define NETPROF__COUNTERS 0
#else
#define NETPROF__COUNTERS 1
#endif
#define NETPROF__COUNTER_COUNT (NETPROF__COUNTERS ? netprof__regions_state.counter_count : 0)

enum netprof__mark {
    NETPROF__NESTED = 1,                      /* inner call of a recursion */
    NETPROF__SKIPPED = 2,                     /* not measured (NETPROF_EVERY) */
    NETPROF__COUNTED = 4 * NETPROF__COUNTERS, /* with counters */
    NETPROF__LOST = 8,                        /* without a node: out of memory, or no such region */
    NETPROF__APART = 16 * NETPROF__COUNTERS,  /* counters were read meanwhile */
    NETPROF__VALUED = 32,                     /* has values */
    NETPROF__ADOPTED = 64,                    /* no call: work for a place of another thread */
    NETPROF__BASE = 128,                      /* the first of an adoption */
    NETPROF__AGAIN = 256 /* of an adoption: open in this thread already, so that its time is counted there */
};

/* One open call. */
typedef struct netprof__frame {
    netprof__node *node;
    uint64_t begin, inside; /* begin in ticks; ns of the regions inside */
    netprof__sample *sample;
    uint32_t region, marks;
} netprof__frame;

/* Where a schema has the counters of the regions; UINT32_MAX: it lacks that one. */
typedef struct netprof__columns {
    const netprof_schema *schema;
    uint32_t *at;
} netprof__columns;

#define NETPROF__SITE_WORDS 8 /* of a call site's text, which may be read while it is written */

/* Why a begin could not be counted. */
enum netprof__loss {
    NETPROF__LOST_IN_HANDLER = 0, /* it interrupted another call */
    NETPROF__LOST_TOO_DEEP,
    NETPROF__LOST_OTHERWISE, /* too many names, no memory, no region */
    NETPROF__LOSSES
};

/* One thread, or several that followed each other: its open calls and its tree of nodes. */
typedef struct netprof__thread {
    /* The epoch that this thread has caught up with; 0 during a region call, so that another one must come from a
       signal handler. */
    uint32_t ready;
    uint32_t depth;                      /* frames in use; frames[0] is not one of them, its node is the root */
    uint32_t too_deep;                   /* calls beyond the depth that have not ended */
    uint32_t epoch, resets, cuts, forks; /* as caught up with */
    netprof__frame frames[NETPROF_MAX_DEPTH + 1];
    /* For each frame: ticks that went into reading counters meanwhile; only with its mark NETPROF__APART. */
    uint64_t apart[NETPROF_MAX_DEPTH + 1];
    uint32_t deep[64];            /* too_deep by region modulo 64 */
    struct netprof__thread *next; /* list of all threads; never shortened */
    netprof__node root;           /* parent of the top level; counts nothing itself */
    netprof__node *made;          /* the newest node */
    netprof__node *collected;     /* `made` when a collection began */
    uint32_t number, node_count;
    int in_use;       /* by a living thread */
    sigset_t signals; /* blocked at its first region */
    uint64_t mismatched, dropped[NETPROF__LOSSES];
    uint64_t mismatch; /* the first one: region that was ended << 32 | innermost region */
    uint64_t mismatch_site[NETPROF__SITE_WORDS];
    uint64_t readings, reading; /* of the counters; reading in ticks */
    netprof *np;                /* in mode fast */
    netprof_snapshot snapshot;
    netprof__columns columns;
    netprof__sample samples[NETPROF_MAX_DEPTH + 1], *now;
    const netprof__node *mirrored; /* the last node of another thread that was looked up here, and this thread's own */
    netprof__node *mirror;
} netprof__thread;

/* The counters at the begin of a span. */
typedef struct netprof__span_sample {
    netprof__sample sample;
    uint32_t ticket; /* of its span; a number that it does not have again soon */
    uint32_t resets; /* as of its begin */
    uint32_t next;   /* free one, from 1 */
} netprof__span_sample;

/* A name; its id is its index in netprof__regions_state.regions. */
typedef struct netprof__region {
    char *name;
    uint32_t every;
    uint64_t site[NETPROF__SITE_WORDS]; /* "solver.c:120", where it was first begun; "" unknown */
} netprof__region;

enum netprof__series_column {
    NETPROF__SERIES_CALLS = 0,
    NETPROF__SERIES_TIME,
    NETPROF__SERIES_OWN_TIME,
    NETPROF__SERIES_BYTES,
    NETPROF__SERIES_COLUMNS
};

/* The functions of one copy of this implementation, for other copies in the process: see section 12.12. */
typedef struct netprof__calls {
    char version[16];
    netprof_region_id (*region)(const char *name);
    void (*begin)(netprof_region_id region);
    void (*end)(netprof_region_id region);
    netprof_span (*span_begin)(netprof_region_id region);
    void (*span_end)(netprof_span span);
    void (*bytes)(uint64_t bytes);
    void (*every)(netprof_region_id region, unsigned n);
    void (*set_mode)(netprof_mode mode);
    void (*set_rank)(int rank, int size);
    netprof_err (*flush)(netprof_error *error);
    void (*reset)(void);
    netprof_err (*take)(netprof_regions *out, netprof_error *error);
    netprof_span (*span_begin_at)(netprof_region_id region, netprof_place place);
    netprof_place (*here)(void);
    netprof_place (*span_place)(const netprof_span *span);
    void (*adopt)(netprof_place place);
    void (*adopt_end)(void);
    void (*value)(netprof_region_id name, int64_t value);
    netprof_err (*set_output)(const char *pattern, netprof_error *error);
    netprof_err (*set_time)(int which, double seconds, netprof_error *error);
} netprof__calls;

/* One path of regions over time, summed over threads: sums of this sample, and the values written last. */
typedef struct netprof__series_row {
    char *path;              /* "main/step"; a slash in a name becomes "\/", a backslash "\\" */
    uint32_t parent, region; /* parent: 1 + its row; 0: top level */
    uint64_t now[NETPROF__SERIES_COLUMNS], written[NETPROF__SERIES_COLUMNS], base[NETPROF__SERIES_COLUMNS];
} netprof__series_row;

#define NETPROF__OUTPUT_DEFAULT "netprof-%j-%r-%h-%p.netprof"
#define NETPROF__NAME_SIZE      4400 /* of a file of the regions */

#ifndef NETPROF_NO_SERIES
/* Regions over time; see section 12.13. Used by the background thread, then by the flush at exit, under flush_lock. */
typedef struct netprof__series {
    netprof_writer *writer;
    int begun, over; /* over: nothing more is written, at the end or after a failure */
    int left_out;    /* paths beyond the maximum number of rows: 1 seen, 2 and reported */
    netprof__series_row *rows;
    size_t count, capacity, in_schema;
    const netprof_schema *schema;
    netprof_snapshot snapshot;
    uint32_t resets;
    int64_t last_ns;
    uint64_t thread_time, cpu_before;
    struct netprof__open_frame *open; /* [NETPROF_MAX_DEPTH], of the current thread */
    dev_t file_device;                /* identifies the file */
    ino_t file_inode;
    char name[NETPROF__NAME_SIZE], rank[32];
} netprof__series;
#endif

/* What may be set by call. */
enum netprof__times { NETPROF__TIME_INTERVAL = 0, NETPROF__TIME_FLUSH, NETPROF__TIME_SERIES, NETPROF__TIMES };

/* The one region context of the process. */
static struct netprof__regions_state {
    uint32_t epoch; /* changes with each of the three below; never 0 once ready */
    int use_tsc;
    uint64_t ns_per_tick_24;      /* ns per tick, times 2^24 (16777216) */
    uint64_t flush_ticks;         /* when the file is due, without NETPROF_FLUSH; UINT64_MAX: never, or being written */
    uint32_t resets, cuts, forks; /* cuts: changes to mode off */
    int lock, flush_lock;         /* of everything but the hot path; of writing the file */
    int ready, used, ended;
    netprof_mode started;
    const netprof__calls *first;                       /* the copy that has the regions, if not this one */
    netprof__region *regions[NETPROF_MAX_REGIONS + 1]; /* [0] is unused */
    uint32_t slots[2 * NETPROF_MAX_REGIONS + 1];       /* ids by the hash of the name */
    uint32_t region_count;
    netprof__thread *threads, *past; /* past: those of the process that forked this one */
    uint32_t thread_count;
    uint64_t threads_begun; /* more than there are blocks, which later threads take over */
    uint64_t begin_ticks, reset_ticks;
    int64_t begin_ns, since_ns, since_wall_ns; /* begin: of the clock's calibration; since: of the statistics */
    uint64_t overhead_ps;
    netprof__span_sample **span_samples;
    uint32_t span_sample_count, span_sample_free;
    uint64_t sampler_readings, sampler_ns, sampler_base[2]; /* base: of both, at the last reset */
    uint64_t dropped, bounded; /* calls without a region; counter sums that are lower bounds */
    const netprof_schema *schema;
    uint32_t *counters;
    size_t counter_count;
    int64_t interval_ns, flush_ns, series_ns, sweep_ns;
    uint64_t open;     /* open regions with counters */
    uint64_t sequence; /* of `values`: odd while the sampler writes them */
    uint64_t *values;
    unsigned char *known;
    int background;        /* the background thread runs */
    netprof *np, *past_np; /* the sampler's */
    int print;             /* NETPROF_PRINT=1 */
#ifndef NETPROF_NO_PRINT
    netprof_meter meter, past_meter; /* for that */
#endif
    netprof_snapshot snapshot, past_snapshot;
    netprof__columns columns;
    int rank, size;
    pid_t pid; /* of the process that started the regions */
    int output_given;
    int64_t given_ns[NETPROF__TIMES]; /* by call, + 1; 0: not given */
    char output[1024], every[1024], warning[200];
    char *directory;      /* where a relative name of the file begins; NULL: the current one */
    char *written;        /* the file as it was written last */
    dev_t written_device; /* and what identifies it */
    ino_t written_inode;
    int told;                     /* a file that could not be written was said on standard error */
    const char *end;              /* how the process ended; NULL: it runs */
    uint64_t end_sum;             /* of all counts when the last file was written; see netprof__at_last() */
    int64_t flush_step_ns;        /* until the next file without NETPROF_FLUSH; 0: none */
    int flush_grows;              /* flush_ns: without NETPROF_FLUSH, in the background thread */
    pid_t parent;                 /* of this process, when its regions began */
    uint64_t start, parent_start; /* when this process and that began, in clock ticks since boot; 0: not known */
    char hydra[80];     /* the port of the mpiexec of MPICH or Intel MPI that started this process; "": none */
    dev_t error_device; /* standard error when the regions began */
    ino_t error_inode;
    double factor; /* of the clock: fixed while the final file is written, else 0 */
#ifndef NETPROF_NO_SERIES
    netprof__series series, past_series;
#endif
} netprof__regions_state;

#ifndef NETPROF_STATIC
int netprof__mode_now = 0;
#endif
static NETPROF__TLS netprof__thread *netprof__this_thread;
static NETPROF__TLS int netprof__holds_lock, netprof__flushing;

/* >>12.2 clock and nodes */

#define NETPROF__TICK_UNIT 16777216.0 /* 2^24, see ns_per_tick_24 */

NETPROF__HOT uint64_t netprof__ticks(void)
{
#if defined(__x86_64__) || defined(__i386__)
    if (NETPROF__LIKELY(netprof__regions_state.use_tsc)) return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    if (NETPROF__LIKELY(netprof__regions_state.use_tsc)) {
        uint64_t v;
        __asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(v));
        return v;
    }
#endif
    return (uint64_t)netprof__clock(CLOCK_MONOTONIC);
}

/* A negative difference (the clocks of two processors differ by a few ticks) becomes 0. */
NETPROF__COLD uint64_t netprof__many_ticks_to_ns(uint64_t ticks)
{
    return ticks >> 63 ? 0
                       : (uint64_t)((double)ticks * (double)netprof__regions_state.ns_per_tick_24 / NETPROF__TICK_UNIT);
}

NETPROF__HOT uint64_t netprof__ticks_to_ns(uint64_t ticks)
{
    if (NETPROF__LIKELY(ticks < (uint64_t)1 << 32)) return ticks * netprof__regions_state.ns_per_tick_24 >> 24;
    return netprof__many_ticks_to_ns(ticks);
}

/* The histogram bucket of a duration: 8 per power of two, chosen by the three bits after the highest. */
NETPROF__HOT unsigned netprof__bucket(uint64_t ns)
{
    unsigned top;
    if (ns < 8) return (unsigned)ns;
    top = 63 - (unsigned)__builtin_clzll(ns);
    return (top - 2) * 8 + (unsigned)(ns >> (top - 3) & 7);
}

/* Adds a node; it becomes visible to readers, complete, with the last store. */
static netprof__node *netprof__node_make(netprof__thread *t, netprof__node *parent, uint32_t region, int is_span)
{
    netprof_alloc a = netprof__alloc_or_default(NULL);
    size_t counters = NETPROF__COUNTER_COUNT;
    netprof__node *n;
    if (!region || region > NETPROF__GET(netprof__regions_state.region_count)) return NULL;
    n = (netprof__node *)netprof__zalloc(&a, sizeof *n + counters * sizeof(uint64_t));
    if (!n) return NULL;
    n->sums = counters ? (uint64_t *)(void *)(n + 1) : NULL;
    n->parent = parent;
    n->owner = t;
    n->is_span = (uint32_t)is_span;
    n->region = region;
    n->every = &netprof__regions_state.regions[region]->every;
    n->index = t->node_count++;
    n->tally.min = UINT64_MAX;
    n->sibling = parent->children;
    n->made_before = t->made;
    parent->children = n;
    NETPROF__SET(t->made, n);
    return n;
}

static netprof__node *netprof__node_child(netprof__thread *t, netprof__node *parent, uint32_t region, int is_span)
{
    netprof__node *n;
    if (!parent) return NULL;
    for (n = parent->children; n && (n->region != region || n->is_span != (uint32_t)is_span); n = n->sibling)
        continue;
    return n ? n : netprof__node_make(t, parent, region, is_span);
}

/* Finds the node of a region under the innermost open one. A region that calls itself stays in its node. */
NETPROF__COLD netprof__node *netprof__node_below(netprof__thread *t, netprof__node *parent, uint32_t region)
{
    netprof__node *n;
    if (!parent) return NULL;
    if (parent->region == region && parent != &t->root && !parent->is_span) return parent->recent = parent;
    n = netprof__node_child(t, parent, region, 0);
    if (n) parent->recent = n;
    return n;
}

/* Finds this thread's node for a node of any thread: the same path of names. NULL: out of memory. */
NETPROF__COLD netprof__node *netprof__node_mirror(netprof__thread *t, const netprof__node *n)
{
    netprof__node *parent;
    if (!n || !n->parent) return &t->root;
    if (n->owner == t) return (netprof__node *)(uintptr_t)n;
    if (n == t->mirrored) return t->mirror;
    parent = netprof__node_mirror(t, n->parent);
    t->mirror = netprof__node_child(t, parent, n->region, (int)n->is_span);
    t->mirrored = t->mirror ? n : NULL;
    return t->mirror;
}

/* >>12.3 counters at the edges of a call */

#ifndef NETPROF_NO_SOURCES
/* Opens a context for reading the fast set; filters and root come from the environment. Mode fast leaves source ip out
   unless the environment chooses sources or counters: its files are text for all processors of the node, and cost ten
   times as much as all links together. */
static netprof *netprof__region_context(int fast, netprof_error *error)
{
    netprof_config config;
    netprof *np = NULL;
    const char *sources = NETPROF_OS_GETENV("NETPROF_SOURCES"), *include = NETPROF_OS_GETENV("NETPROF_INCLUDE");
    memset(&config, 0, sizeof config);
    if (fast && !(sources && *sources) && !(include && *include)) config.sources = "cxi,netdev,ethtool,rdma";
    config.no_rescan = 1; /* the columns of all threads must stay the same */
    if (netprof_open(&np, &config, error)) {
        netprof_close(np);
        np = NULL;
    }
    return np;
}

/* The context of a thread in mode fast, anew: the one that it has may be that of the process that forked this one. */
static void netprof__thread_open(netprof__thread *t)
{
    netprof_close(t->np);
    t->np = netprof__regions_state.started == NETPROF_MODE_FAST ? netprof__region_context(1, NULL) : NULL;
}

static int netprof__sample_room(netprof__sample *s)
{
    netprof_alloc a = netprof__alloc_or_default(NULL);
    size_t n = netprof__regions_state.counter_count;
    if (!s->values && (s->values = (uint64_t *)netprof__zalloc(&a, n * (sizeof(uint64_t) + 1))) != NULL)
        s->known = (unsigned char *)(s->values + n);
    return s->values != NULL;
}

/* Finds a sample that no frame uses. There always is one, since there are NETPROF_MAX_DEPTH + 1 and fewer frames. */
static netprof__sample *netprof__sample_free(netprof__thread *t)
{
    size_t i;
    for (i = 0; i <= NETPROF_MAX_DEPTH; i++)
        if (!t->samples[i].frames && &t->samples[i] != t->now)
            return netprof__sample_room(&t->samples[i]) ? &t->samples[i] : NULL;
    return t->now && !t->now->frames ? t->now : NULL;
}

/* The sampler's last values, if they are newer than the thread's own copy. NULL if there are none yet, or if the
   sampler is stuck while writing them: it was preempted, perhaps by this very thread. */
static netprof__sample *netprof__sample_shared(netprof__thread *t)
{
    struct netprof__regions_state *g = &netprof__regions_state;
    uint64_t sequence = NETPROF__GET(g->sequence);
    int patience = 1000;
    netprof__sample *s;
    size_t i;
    if (t->now && (t->now->sequence | 1) == (sequence | 1)) return t->now; /* the last complete one */
    if (!sequence || (s = netprof__sample_free(t)) == NULL) return NULL;
    if (s == t->now) t->now = NULL;
    do {
        while ((sequence = NETPROF__GET(g->sequence)) & 1) {
            if (!patience--) return NULL;
            sched_yield();
        }
        for (i = 0; i < g->counter_count; i++) {
            s->values[i] = NETPROF__GET(g->values[i]);
            s->known[i] = NETPROF__GET(g->known[i]);
        }
    } while (NETPROF__PEEK(g->sequence) != sequence);
    s->sequence = sequence;
    return t->now = s;
}

static uint32_t netprof__column_of(const netprof_schema *schema, uint32_t counter)
{
    const netprof_schema *ours = netprof__regions_state.schema;
    const netprof_counter *c = &ours->counters[counter];
    const netprof_device *d = &ours->devices[c->device];
    size_t i = schema == ours ? counter : netprof_find(schema, d->source, d->name, c->name);
    return i == NETPROF_NONE ? UINT32_MAX : (uint32_t)i;
}

/* Maps the counters to a schema: contexts opened at different times may have found different devices. */
static int netprof__columns_fit(netprof__columns *m, const netprof_schema *schema)
{
    struct netprof__regions_state *g = &netprof__regions_state;
    netprof_alloc a = netprof__alloc_or_default(NULL);
    size_t i;
    if (m->schema == schema) return 1;
    if (!m->at && !(m->at = (uint32_t *)netprof__zalloc(&a, g->counter_count * sizeof *m->at))) return 0;
    for (i = 0; i < g->counter_count; i++)
        m->at[i] = netprof__column_of(schema, g->counters[i]);
    netprof_schema_retain(schema);
    netprof_schema_release(m->schema);
    m->schema = schema;
    return 1;
}

/* Value of the i-th counter of the regions in a snapshot; returns 0 if it has none. */
static int netprof__column_value(const netprof__columns *m, size_t i, const netprof_snapshot *s, uint64_t *value)
{
    uint32_t at = m->at[i];
    int known = at != UINT32_MAX && s->status[at] == NETPROF_STATUS_OK;
    *value = known ? s->values[at] : 0;
    return known;
}

/* Reads the fast set now, through this thread's own context. */
static netprof__sample *netprof__sample_read(netprof__thread *t)
{
    netprof__sample *s = netprof__sample_free(t);
    size_t i;
    if (!s || !t->np || netprof_take(t->np, &t->snapshot, NETPROF_SET_FAST, NULL) ||
        !netprof__columns_fit(&t->columns, t->snapshot.schema))
        return NULL;
    for (i = 0; i < netprof__regions_state.counter_count; i++)
        s->known[i] = (unsigned char)netprof__column_value(&t->columns, i, &t->snapshot, &s->values[i]);
    NETPROF__SET(netprof__regions_state.sweep_ns, t->snapshot.end_ns - t->snapshot.begin_ns);
    s->sequence = t->now ? t->now->sequence + 1 : 1;
    return t->now = s;
}

/* The sampler's last values: mostly those that the thread has copied already. */
NETPROF__HOT netprof__sample *netprof__sample_latest(netprof__thread *t)
{
    if (NETPROF__LIKELY(t->now && (t->now->sequence | 1) == (NETPROF__GET(netprof__regions_state.sequence) | 1)))
        return t->now;
    return netprof__sample_shared(t);
}

NETPROF__HOT netprof__sample *netprof__sample_take(netprof__thread *t)
{
    return netprof__regions_state.started == NETPROF_MODE_FAST ? netprof__sample_read(t) : netprof__sample_latest(t);
}

/* Counters were read for so many ticks while this call was open: its clock stood still. */
static void netprof__frame_apart(netprof__thread *t, netprof__frame *f, uint64_t ticks)
{
    uint64_t *apart = &t->apart[f - t->frames];
    NETPROF__SET(*apart, (f->marks & NETPROF__APART ? *apart : 0) + ticks);
    NETPROF__SET(f->marks, f->marks | NETPROF__APART);
}

/* The time since then went into reading counters. */
static uint64_t netprof__reading_end(netprof__thread *t, uint64_t since)
{
    uint64_t ticks = netprof__ticks() - since;
    if ((int64_t)ticks < 0) ticks = 0;
    NETPROF__ADD(t->readings, 1);
    NETPROF__ADD(t->reading, ticks);
    return ticks;
}

NETPROF__COLD netprof__sample *netprof__frame_read(netprof__thread *t, netprof__frame *f)
{
    uint64_t since = netprof__ticks();
    netprof__sample *s = netprof__sample_read(t);
    netprof__frame_apart(t, f - 1, netprof__reading_end(t, since));
    return s;
}

static void netprof__frame_sample(netprof__thread *t, netprof__frame *f)
{
    __atomic_add_fetch(&netprof__regions_state.open, 1, __ATOMIC_RELAXED);
    NETPROF__SET(f->marks, f->marks | NETPROF__COUNTED);
    f->sample =
        netprof__regions_state.started == NETPROF_MODE_FAST ? netprof__frame_read(t, f) : netprof__sample_latest(t);
    if (f->sample) f->sample->frames++;
}

static void netprof__frame_release(netprof__frame *f)
{
    if (f->sample) f->sample->frames--;
    f->sample = NULL;
}

/* Adds the change of the counters between the edges of a call. Called while the node's sequence is odd. */
NETPROF__HOT void netprof__count_edges(netprof__node *n, const netprof__sample *before, const netprof__sample *after)
{
    struct netprof__regions_state *g = &netprof__regions_state;
    uint64_t open = __atomic_fetch_sub(&g->open, 1, __ATOMIC_RELAXED);
    size_t i;
    if (!before || !after || after->sequence == before->sequence) {
        NETPROF__ADD(n->tally.too_short, 1);
        return;
    }
    for (i = 0; i < g->counter_count; i++) {
        uint64_t step = 0;
        int exact = before->known[i] && after->known[i];
        if (exact) {
            netprof_flag flag =
                netprof_difference(&g->schema->counters[g->counters[i]], before->values[i], after->values[i], &step);
            exact = flag == NETPROF_FLAG_OK || flag == NETPROF_FLAG_WRAPPED;
        }
        if (!exact) __atomic_add_fetch(&g->bounded, 1, __ATOMIC_RELAXED);
        if (step) NETPROF__ADD(n->sums[i], step);
    }
    NETPROF__ADD(n->tally.counted, 1);
    NETPROF__ADD(n->tally.concurrency, open);
}
#else
/* Regions without counters: none of these is ever reached. */
static netprof__sample *netprof__sample_take(netprof__thread *t)
{
    (void)t;
    return NULL;
}
static int netprof__sample_room(netprof__sample *s)
{
    return s->values != NULL;
}
static void netprof__frame_apart(netprof__thread *t, netprof__frame *f, uint64_t ticks)
{
    (void)t, (void)f, (void)ticks;
}
static uint64_t netprof__reading_end(netprof__thread *t, uint64_t since)
{
    (void)t;
    return since;
}
static void netprof__frame_sample(netprof__thread *t, netprof__frame *f)
{
    (void)t, (void)f;
}
static void netprof__frame_release(netprof__frame *f)
{
    (void)f;
}
static void netprof__count_edges(netprof__node *n, const netprof__sample *before, const netprof__sample *after)
{
    (void)n, (void)before, (void)after;
}
static void netprof__thread_open(netprof__thread *t)
{
    (void)t;
}
#endif

/* >>12.4 begin and end */

/* Between these two calls a reader knows that the node is changing. */
NETPROF__HOT void netprof__node_open(netprof__node *n)
{
    __atomic_store_n(&n->sequence, n->sequence + 1, __ATOMIC_RELAXED);
}

NETPROF__HOT void netprof__node_close(netprof__node *n)
{
    NETPROF__SET(n->sequence, n->sequence + 1);
}

/* A bucket of the histogram passed 2^32. */
NETPROF__COLD void netprof__carry_bucket(netprof__node *n, unsigned bucket)
{
    netprof_alloc a = netprof__alloc_or_default(NULL);
    if (!n->carries)
        NETPROF__SET(n->carries, (uint32_t *)netprof__zalloc(&a, NETPROF_HISTOGRAM_BUCKETS * sizeof *n->carries));
    if (n->carries)
        NETPROF__ADD(n->carries[bucket], 1);
    else
        NETPROF__SET(n->histogram[bucket], UINT32_MAX); /* the best that is possible without memory */
}

/* Counts one measured call. nested: directly inside another call of the same region. */
NETPROF__HOT void netprof__tally_call(netprof__node *n, uint64_t ns, uint64_t inside, int nested)
{
    netprof__tally *y = &n->tally;
    unsigned bucket = netprof__bucket(ns);
    double squares, off;
    if (NETPROF__UNLIKELY(!y->measured)) NETPROF__SET(y->pivot, ns);
    off = (double)(int64_t)(ns - y->pivot);
    memcpy(&squares, &y->squares, sizeof squares);
    NETPROF__SET(y->measured, y->measured + 1);
    if (NETPROF__LIKELY(!nested))
        NETPROF__SET(y->inclusive, y->inclusive + ns);
    else
        NETPROF__SET(y->recursive, y->recursive + ns);
    if (inside) NETPROF__SET(y->within, y->within + (inside < ns ? inside : ns));
    if (ns < y->min) NETPROF__SET(y->min, ns);
    if (ns > y->max) NETPROF__SET(y->max, ns);
    NETPROF__SET(y->squares, netprof__double_bits(squares + off * off));
    NETPROF__SET(n->histogram[bucket], n->histogram[bucket] + 1);
    if (NETPROF__UNLIKELY(!n->histogram[bucket])) netprof__carry_bucket(n, bucket);
}

/* All numbers from `current` on. */
#define NETPROF__VALUE_WORDS ((sizeof(netprof__value_node) - offsetof(netprof__value_node, current)) / sizeof(uint64_t))

static void netprof__value_renew(netprof__value_node *x)
{
    size_t i;
    for (i = 0; i < NETPROF__VALUE_WORDS; i++)
        NETPROF__SET((&x->current)[i], 0);
    x->waiting = 0;
}

/* After a reset the owner empties its nodes before it counts again. */
static void netprof__node_renew(netprof__node *n)
{
    netprof__value_node *x;
    size_t i;
    netprof__node_open(n);
    for (i = 0; i < sizeof n->tally / sizeof(uint64_t); i++)
        NETPROF__SET((&n->tally.calls)[i], 0);
    NETPROF__SET(n->tally.min, UINT64_MAX);
    for (i = 0; i < NETPROF_HISTOGRAM_BUCKETS; i++) {
        NETPROF__SET(n->histogram[i], 0);
        if (n->carries) NETPROF__SET(n->carries[i], 0);
    }
    for (i = 0; i < NETPROF__COUNTER_COUNT && n->sums; i++)
        NETPROF__SET(n->sums[i], 0);
    for (x = n->values; x; x = x->next)
        netprof__value_renew(x);
    netprof__node_close(n);
}

/* A call that was open at a reset, or in the parent of a fork, begins again from now: its past is counted nowhere. */
static void netprof__frame_renew(netprof__frame *f, uint64_t now)
{
    if (f->marks & NETPROF__LOST) return;
    NETPROF__SET(f->inside, 0);
    NETPROF__SET(f->marks, f->marks & ~(uint32_t)NETPROF__APART);
    if ((int64_t)(now - f->begin) > 0) NETPROF__SET(f->begin, now);
    netprof__frame_release(f);
    if (!(f->marks & NETPROF__ADOPTED)) NETPROF__ADD(f->node->tally.calls, 1);
}

static void netprof__thread_renew(netprof__thread *t)
{
    netprof__node *n;
    uint32_t i;
    NETPROF__SET(t->mismatched, 0);
    for (i = 0; i < NETPROF__LOSSES; i++)
        NETPROF__SET(t->dropped[i], 0);
    NETPROF__SET(t->readings, 0);
    NETPROF__SET(t->reading, 0);
    for (n = t->made; n; n = n->made_before)
        netprof__node_renew(n);
    for (i = 1; i <= t->depth; i++)
        netprof__frame_renew(&t->frames[i], NETPROF__GET(netprof__regions_state.reset_ticks));
}

static void netprof__pop_frame(netprof__thread *t, uint64_t now, int aborted);
static netprof__thread *netprof__thread_make(void);
static void netprof__process_begin(netprof__thread *t);
static void netprof__flush_due(void);

static void netprof__forget_deep(netprof__thread *t)
{
    t->too_deep = 0;
    memset(t->deep, 0, sizeof t->deep);
}

/* Mode off came in between: calls that were open then have no duration. */
static void netprof__thread_cut(netprof__thread *t)
{
    while (t->depth) {
        NETPROF__SET(t->frames[t->depth].marks, t->frames[t->depth].marks | NETPROF__SKIPPED);
        netprof__pop_frame(t, 0, 1);
    }
    netprof__forget_deep(t);
}

NETPROF__COLD void netprof__thread_catch_up(netprof__thread *t)
{
    struct netprof__regions_state *g = &netprof__regions_state;
    uint32_t epoch = NETPROF__GET(g->epoch), resets = NETPROF__GET(g->resets), cuts = NETPROF__GET(g->cuts);
    if (t->cuts != cuts) netprof__thread_cut(t);
    if (t->resets != resets) netprof__thread_renew(t);
    NETPROF__SET(t->resets, resets); /* before netprof__process_begin() starts a thread that reads the nodes */
    if (t->forks != g->forks) netprof__process_begin(t);
    t->cuts = cuts;
    t->forks = g->forks;
    t->epoch = epoch;
}

/* For the first call of a thread, a call inside another one (of a signal handler: returns NULL), or the first after a
   change of epoch. */
NETPROF__COLD netprof__thread *netprof__thread_slow(void)
{
    netprof__thread *t = netprof__this_thread;
    if (!t && (t = netprof__thread_make()) == NULL) return NULL;
    if (!NETPROF__PEEK(t->ready)) {
        NETPROF__ADD(t->dropped[NETPROF__LOST_IN_HANDLER], 1);
        return NULL;
    }
    NETPROF__SET(t->ready, 0);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    netprof__thread_catch_up(t);
    return t;
}

/* Returns this thread's block, or NULL: out of memory, another copy has the regions, or a signal handler inside a
   call. */
NETPROF__HOT netprof__thread *netprof__thread_enter(void)
{
    netprof__thread *t = netprof__this_thread;
    if (NETPROF__UNLIKELY(!t || NETPROF__PEEK(t->ready) != NETPROF__PEEK(netprof__regions_state.epoch)))
        return netprof__thread_slow();
    NETPROF__SET(t->ready, 0);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return t;
}

NETPROF__HOT void netprof__thread_leave(netprof__thread *t)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    NETPROF__SET(t->ready, t->epoch);
}

NETPROF__COLD void netprof__begin_nowhere(uint32_t region)
{
    struct netprof__regions_state *g = &netprof__regions_state;
    if (g->first)
        g->first->begin(region);
    else if (!netprof__this_thread)
        __atomic_add_fetch(&g->dropped, 1, __ATOMIC_RELAXED);
}

NETPROF__COLD void netprof__begin_too_deep(netprof__thread *t, uint32_t region)
{
    t->too_deep++; /* its end only counts down */
    t->deep[region % 64]++;
    NETPROF__ADD(t->dropped[NETPROF__LOST_TOO_DEEP], 1);
}

/* A begin without a node, kept for its end to find. */
NETPROF__COLD void netprof__begin_lost(netprof__thread *t, netprof__frame *f)
{
    NETPROF__SET(f->node, NULL);
    NETPROF__SET(f->marks, NETPROF__LOST);
    NETPROF__ADD(t->dropped[NETPROF__LOST_OTHERWISE], 1);
}

static int netprof__regions_lock(void);
static void netprof__regions_unlock(void);

/* The part of a begin for recursion, NETPROF_EVERY and counters. */
NETPROF__COLD void netprof__begin_marked(netprof__thread *t, netprof__frame *f)
{
    uint32_t every = NETPROF__PEEK(*f->node->every);
    uint32_t marks = 0;
    if (f[-1].node == f->node) marks |= NETPROF__NESTED;
    if (every > 1 && f->node->tally.calls % every != 0) marks |= NETPROF__SKIPPED;
    NETPROF__SET(f->marks, marks);
    if (NETPROF__COUNTERS && f->node->sums && !f->marks && NETPROF__PEEK(netprof__mode_now) >= NETPROF_MODE_FAST)
        netprof__frame_sample(t, f);
}

NETPROF__HOT void netprof__begin_at(netprof__thread *t, uint32_t region)
{
    netprof__frame *f;
    netprof__node *n, *parent;
    if (NETPROF__UNLIKELY(t->depth >= NETPROF_MAX_DEPTH)) {
        netprof__begin_too_deep(t, region);
        return;
    }
    f = &t->frames[t->depth + 1];
    NETPROF__ADD(t->depth, 1);
    parent = f[-1].node;
    f->region = region;
    NETPROF__SET(f->marks, 0);
    NETPROF__SET(f->inside, 0);
    if (NETPROF__UNLIKELY(!parent || (n = parent->recent) == NULL || n->region != region) &&
        (n = netprof__node_below(t, parent, region)) == NULL) {
        netprof__begin_lost(t, f);
        return;
    }
    NETPROF__SET(f->node, n);
    if (NETPROF__UNLIKELY(n == parent || NETPROF__PEEK(*n->every) > 1 || n->sums)) netprof__begin_marked(t, f);
    NETPROF__ADD(n->tally.calls, 1);
    NETPROF__SET(f->begin, netprof__ticks());
}

/* Ends a frame of an adoption, after so many ticks. Returns the ns that its parent did not do itself. */
NETPROF__COLD uint64_t netprof__end_adopted(netprof__frame *f, uint64_t ticks)
{
    netprof__node *n = f->node;
    uint64_t ns = netprof__ticks_to_ns(ticks);
    if (f->marks & (NETPROF__AGAIN | NETPROF__SKIPPED)) return f->inside;
    netprof__node_open(n);
    NETPROF__ADD(n->tally.adopted, ns);
    NETPROF__ADD(n->tally.within, f->inside < ns ? f->inside : ns);
    netprof__node_close(n);
    return ns;
}

NETPROF__HOT unsigned netprof__value_bucket(uint64_t value)
{
    return (int64_t)value < 1 ? 0 : 64 - (unsigned)__builtin_clzll(value);
}

/* A call with values ended: its time belongs to the last value of each name. */
static __attribute__((noinline)) void netprof__end_values(netprof__node *n, uint64_t ns)
{
    netprof__value_node *x;
    for (x = n->values; x; x = x->next) {
        if (!x->waiting) continue;
        x->waiting = 0;
        NETPROF__ADD(x->times[netprof__value_bucket(x->current)], ns);
        if (ns < x->longest) continue;
        NETPROF__SET(x->longest, ns);
        NETPROF__SET(x->at_longest, x->current);
    }
}

/* What a call read, and its own end since `now` (0: nothing), is no time of the call around it either. */
NETPROF__COLD void netprof__pass_apart(netprof__thread *t, netprof__frame *around, uint64_t apart, uint64_t now)
{
    if (now && netprof__regions_state.started == NETPROF_MODE_FAST) apart += netprof__reading_end(t, now);
    netprof__frame_apart(t, around, apart);
}

/* Removes the innermost frame; `now` is when it ended, and no reading of counters has been made since. */
static void netprof__pop_frame(netprof__thread *t, uint64_t now, int aborted)
{
    netprof__frame *f = &t->frames[t->depth];
    netprof__node *n = f->node;
    const netprof__sample *after = NULL;
    uint64_t ns = f->inside; /* what an unmeasured call passes on to its parent */
    uint64_t apart = f->marks & NETPROF__APART ? t->apart[t->depth] : 0;
    int reads = f->marks & NETPROF__COUNTED && !(f->marks & NETPROF__SKIPPED);
    if (reads) after = netprof__sample_take(t);
    NETPROF__SET(t->depth, t->depth - 1);
    if (f->marks & NETPROF__ADOPTED) {
        ns = netprof__end_adopted(f, now - f->begin - apart);
    } else if (!(f->marks & NETPROF__LOST)) {
        netprof__node_open(n);
        if (aborted) NETPROF__ADD(n->tally.aborted, 1);
        if (f->marks & NETPROF__COUNTED) netprof__count_edges(n, f->sample, after);
        if (f->marks & NETPROF__SKIPPED) {
            NETPROF__ADD(n->tally.skipped, 1);
        } else {
            ns = netprof__ticks_to_ns(now - f->begin - apart);
            netprof__tally_call(n, ns, f->inside, f->marks & NETPROF__NESTED);
        }
        if (f->marks & NETPROF__VALUED) netprof__end_values(n, f->marks & NETPROF__SKIPPED ? 0 : ns);
        netprof__node_close(n);
    }
    netprof__frame_release(f);
    NETPROF__ADD(f[-1].inside, ns);
    if (NETPROF__COUNTERS && NETPROF__UNLIKELY(apart || (reads && netprof__regions_state.started == NETPROF_MODE_FAST)))
        netprof__pass_apart(t, f - 1, apart, reads ? now : 0);
}

/* Keeps "FILE:LINE" of a call site, without the directory: the text of a shared object goes when that is closed. */
static void netprof__keep_site(uint64_t *words, const netprof_site *site)
{
    uint64_t text[NETPROF__SITE_WORDS] = {0};
    const char *name = site && site->file ? strrchr(site->file, '/') : NULL;
    size_t i;
    if (site && site->file) snprintf((char *)text, sizeof text, "%.48s:%u", name ? name + 1 : site->file, site->line);
    for (i = 0; i < NETPROF__SITE_WORDS; i++)
        NETPROF__SET(words[i], text[i]);
}

/* An end whose begin is not the innermost also ends the calls inside it. An end without a begin is only counted. */
static void netprof__end_other(netprof__thread *t, uint32_t region, uint64_t now, const netprof_site *site)
{
    uint32_t d = t->depth;
    if (!t->mismatched) {
        NETPROF__SET(t->mismatch, (uint64_t)region << 32 | (d ? t->frames[d].region : 0));
        netprof__keep_site(t->mismatch_site, site);
    }
    NETPROF__ADD(t->mismatched, 1);
    while (d && t->frames[d].region != region)
        d--;
    if (!d) return;
    for (; t->depth > d; now = netprof__ticks())
        netprof__pop_frame(t, now, 1);
    netprof__pop_frame(t, now, 0);
}

/* The part of an end for calls beyond the depth, marked frames and mismatches. */
NETPROF__COLD void netprof__end_marked(netprof__thread *t, uint32_t region, uint64_t now, const netprof_site *site)
{
    if (t->too_deep && t->deep[region % 64]) {
        t->deep[region % 64]--;
        t->too_deep--;
        return;
    }
    if (t->too_deep) netprof__forget_deep(t); /* the end of an outer call: those inside it were never ended */
    if (t->depth && t->frames[t->depth].region == region)
        netprof__pop_frame(t, now, 0);
    else
        netprof__end_other(t, region, now, site);
}

NETPROF__HOT void netprof__end_at(netprof__thread *t, uint32_t region, uint64_t now, const netprof_site *site)
{
    netprof__frame *f = &t->frames[t->depth];
    netprof__node *n = f->node;
    uint64_t ns;
    if (NETPROF__UNLIKELY(f->region != region || (f->marks | t->too_deep))) {
        netprof__end_marked(t, region, now, site);
        return;
    }
    ns = netprof__ticks_to_ns(now - f->begin);
    netprof__node_open(n);
    netprof__tally_call(n, ns, f->inside, 0);
    netprof__node_close(n);
    NETPROF__SET(t->depth, t->depth - 1);
    NETPROF__ADD(f[-1].inside, ns);
}

NETPROF__HOT void netprof__begin_now(uint32_t region)
{
    netprof__thread *t = netprof__thread_enter();
    if (NETPROF__UNLIKELY(!t)) {
        netprof__begin_nowhere(region);
        return;
    }
    netprof__begin_at(t, region);
    netprof__thread_leave(t);
}

NETPROF__HOT void netprof__end_now(uint32_t region, const netprof_site *site)
{
    uint64_t now = netprof__ticks();
    netprof__thread *t = netprof__thread_enter();
    if (NETPROF__UNLIKELY(!t)) {
        if (netprof__regions_state.first) netprof__regions_state.first->end(region);
        return;
    }
    netprof__end_at(t, region, now, site);
    netprof__thread_leave(t);
    if (NETPROF__UNLIKELY(now >= NETPROF__PEEK(netprof__regions_state.flush_ticks))) netprof__flush_due();
}

NETPROF__COLD void netprof__begin_none(void)
{
    __atomic_add_fetch(&netprof__regions_state.dropped, 1, __ATOMIC_RELAXED);
}

NETPROF_API void netprof_begin(netprof_region_id region)
{
    if (!NETPROF__IS_ON) return;
    if (NETPROF__LIKELY(region))
        netprof__begin_now(region);
    else
        netprof__begin_none();
}

NETPROF_API void netprof_end(netprof_region_id region)
{
    if (NETPROF__IS_ON && region) netprof__end_now(region, NULL);
}

NETPROF__COLD netprof_region_id netprof__site_find(netprof_site *site)
{
    netprof_region_id id = netprof_region(site->name);
    NETPROF__SET(site->region, id);
    return id;
}

/* The first use of a place that begins a region; where several do, the first of them is kept. */
NETPROF__COLD netprof_region_id netprof__site_enter(netprof_site *site)
{
    struct netprof__regions_state *g = &netprof__regions_state;
    netprof_region_id id = netprof__site_find(site);
    if (id && !NETPROF__GET(g->first) && id <= NETPROF__GET(g->region_count) && netprof__regions_lock()) {
        if (!g->regions[id]->site[0]) netprof__keep_site(g->regions[id]->site, site);
        netprof__regions_unlock();
    }
    return id;
}

NETPROF_API void netprof__enter(netprof_site *site)
{
    netprof_region_id id = NETPROF__GET(site->region);
    if (NETPROF__UNLIKELY(!id)) {
        id = netprof__site_enter(site);
        netprof_begin(id); /* the mode may only be known now */
        return;
    }
    netprof__begin_now(id);
}

NETPROF_API void netprof__leave(netprof_site *site)
{
    netprof_region_id id = NETPROF__GET(site->region);
    if (NETPROF__UNLIKELY(!id)) {
        id = netprof__site_find(site);
        if (!id || !NETPROF__IS_ON) return;
    }
    netprof__end_now(id, site);
}

/* The node that is open in this thread; NULL: none. */
NETPROF__HOT netprof__node *netprof__open_node(netprof__thread *t)
{
    uint32_t depth = t ? t->depth : 0;
    while (depth && !t->frames[depth].node) /* without memory */
        depth--;
    return depth ? t->frames[depth].node : NULL;
}

/* >>12.4.1 spans */

/* netprof_span.sample: a place to keep the counters at its begin, from 1, and in the upper half its ticket. */
#define NETPROF__SPAN_SAMPLES 65535

/* A place, from 1; 0: there is none. */
static uint32_t netprof__span_sample_make(struct netprof__regions_state *g)
{
    enum { STEP = 64 };
    netprof_alloc a = netprof__alloc_or_default(NULL);
    uint32_t i, at = g->span_sample_free;
    netprof__span_sample **more;
    if (at) {
        g->span_sample_free = g->span_samples[at - 1]->next;
        return at;
    }
    if (g->span_sample_count == NETPROF__SPAN_SAMPLES) return 0;
    if (g->span_sample_count % STEP == 0) {
        more =
            (netprof__span_sample **)netprof__resize(&a, g->span_samples, (g->span_sample_count + STEP) * sizeof *more);
        if (!more) return 0;
        g->span_samples = more;
    }
    i = g->span_sample_count;
    g->span_samples[i] = (netprof__span_sample *)netprof__zalloc(&a, sizeof **more);
    if (!g->span_samples[i]) return 0;
    return ++g->span_sample_count;
}

/* Keeps the counters at the begin of a span. */
NETPROF__COLD void netprof__span_read(netprof_span *span)
{
    struct netprof__regions_state *g = &netprof__regions_state;
    netprof__thread *t = netprof__thread_enter();
    int reads = g->started == NETPROF_MODE_FAST;
    uint64_t since = netprof__ticks();
    const netprof__sample *s;
    netprof__span_sample *keep;
    uint32_t at;
    if (!t) return;
    s = netprof__sample_take(t);
    if (s && netprof__regions_lock()) {
        at = netprof__span_sample_make(g);
        keep = at ? g->span_samples[at - 1] : NULL;
        if (keep && netprof__sample_room(&keep->sample)) {
            memcpy(keep->sample.values, s->values, g->counter_count * sizeof *s->values);
            memcpy(keep->sample.known, s->known, g->counter_count);
            keep->sample.sequence = reads ? 0 : s->sequence; /* each thread of mode fast counts its own */
            keep->resets = NETPROF__GET(g->resets);
            span->sample = at | keep->ticket << 16;
            __atomic_add_fetch(&g->open, 1, __ATOMIC_RELAXED);
        } else if (keep) {
            keep->next = g->span_sample_free;
            g->span_sample_free = at;
        }
        netprof__regions_unlock();
    }
    if (reads) netprof__frame_apart(t, &t->frames[t->depth], netprof__reading_end(t, since));
    netprof__thread_leave(t);
    span->begin_ticks = netprof__ticks();
}

NETPROF_API netprof_span netprof_span_begin_at(netprof_region_id region, netprof_place place)
{
    netprof_span span;
    memset(&span, 0, sizeof span);
    span.region = NETPROF__IS_ON ? region : 0;
    span.place = place;
    if (!span.region) return span;
    if (netprof__regions_state.first) return netprof__regions_state.first->span_begin_at(region, place);
    span.begin_ticks = netprof__ticks();
    if (NETPROF__COUNTERS && NETPROF__UNLIKELY(netprof__regions_state.counter_count) &&
        NETPROF__PEEK(netprof__mode_now) >= NETPROF_MODE_FAST)
        netprof__span_read(&span);
    return span;
}

NETPROF_API netprof_place netprof_here(void)
{
    netprof_place place;
    place.node = NULL;
    if (!NETPROF__IS_ON) return place;
    if (netprof__regions_state.first) return netprof__regions_state.first->here();
    place.node = netprof__open_node(netprof__this_thread);
    return place;
}

NETPROF_API netprof_span netprof_span_begin(netprof_region_id region)
{
    netprof_place place;
    if (netprof__regions_state.first) return netprof__regions_state.first->span_begin(region);
    place.node = netprof__open_node(netprof__this_thread);
    return netprof_span_begin_at(region, place);
}

NETPROF_API void netprof_span_bytes(netprof_span *span, uint64_t bytes)
{
    span->bytes += bytes;
}

NETPROF_API void netprof_span_wait(netprof_span *span)
{
    if (span->begin_ticks && !span->wait_ticks)
        span->wait_ticks = span->suspend_ticks ? span->suspend_ticks : netprof__ticks();
}

NETPROF_API void netprof_span_suspend(netprof_span *span)
{
    if (span->begin_ticks && !span->suspend_ticks) span->suspend_ticks = netprof__ticks();
}

/* The clock stood still: as if it had begun, and the wait as well, so much later. */
NETPROF_API void netprof_span_resume(netprof_span *span)
{
    uint64_t still = span->suspend_ticks ? netprof__ticks() - span->suspend_ticks : 0;
    span->suspend_ticks = 0;
    span->begin_ticks += still;
    if (span->wait_ticks) span->wait_ticks += still;
}

/* This thread's node of a span. */
NETPROF__HOT netprof__node *netprof__span_node(netprof__thread *t, const netprof_span *span)
{
    netprof__node *parent = (netprof__node *)(uintptr_t)span->place.node, *n;
    if (!parent)
        parent = &t->root;
    else if (NETPROF__UNLIKELY(parent->owner != t) && (parent = netprof__node_mirror(t, parent)) == NULL)
        return NULL;
    n = parent->recent_span;
    if (NETPROF__LIKELY(n && n->region == span->region)) return n;
    return parent->recent_span = netprof__node_child(t, parent, span->region, 1);
}

NETPROF_API netprof_place netprof_span_place(const netprof_span *span)
{
    netprof_place place;
    netprof__thread *t;
    place.node = NULL;
    if (!NETPROF__IS_ON || !span->begin_ticks) return place;
    if ((t = netprof__thread_enter()) == NULL)
        return netprof__regions_state.first ? netprof__regions_state.first->span_place(span) : place;
    place.node = netprof__span_node(t, span);
    netprof__thread_leave(t);
    return place;
}

/* When it began, or the last reset if that came later. */
static uint64_t netprof__span_begin_or_reset(uint64_t begin)
{
    uint64_t reset = NETPROF__GET(netprof__regions_state.reset_ticks);
    return (int64_t)(reset - begin) > 0 ? reset : begin;
}

/* The counters at its begin; NULL: it has none, or they were used. Call with the lock held. */
static netprof__span_sample *netprof__span_sample_of(struct netprof__regions_state *g, const netprof_span *span)
{
    uint32_t at = span->sample & 65535;
    return at && at <= g->span_sample_count && (g->span_samples[at - 1]->ticket & 65535) == span->sample >> 16
               ? g->span_samples[at - 1]
               : NULL;
}

static void netprof__span_sample_release(struct netprof__regions_state *g, const netprof_span *span,
                                         netprof__span_sample *keep)
{
    keep->ticket++;
    keep->next = g->span_sample_free;
    g->span_sample_free = span->sample & 65535;
}

/* A span whose counters are not counted gives their place back. */
NETPROF__COLD void netprof__span_forget(const netprof_span *span)
{
    struct netprof__regions_state *g = &netprof__regions_state;
    netprof__span_sample *keep;
    if (!netprof__regions_lock()) return;
    if ((keep = netprof__span_sample_of(g, span)) != NULL) {
        __atomic_sub_fetch(&g->open, 1, __ATOMIC_RELAXED);
        netprof__span_sample_release(g, span, keep);
    }
    netprof__regions_unlock();
}

NETPROF__HOT void netprof__tally_span(netprof__node *n, const netprof_span *span, uint64_t now)
{
    uint64_t begin = netprof__span_begin_or_reset(span->begin_ticks), wait = span->wait_ticks;
    NETPROF__ADD(n->tally.calls, 1);
    NETPROF__ADD(n->tally.spans, 1);
    if (span->bytes) NETPROF__ADD(n->tally.bytes, span->bytes);
    if (wait) {
        NETPROF__ADD(n->tally.waits, 1);
        NETPROF__ADD(n->tally.waited, netprof__ticks_to_ns(now - ((int64_t)(begin - wait) > 0 ? begin : wait)));
    }
    netprof__tally_call(n, netprof__ticks_to_ns(now - begin), 0, 0);
}

/* The end of a span with counters. The lock comes first: who collects holds it, and waits for nodes that change. */
NETPROF__COLD void netprof__span_end_counted(netprof__thread *t, netprof__node *n, const netprof_span *span,
                                             uint64_t now)
{
    struct netprof__regions_state *g = &netprof__regions_state;
    uint64_t since = netprof__ticks();
    const netprof__sample *after = netprof__sample_take(t);
    int locked = netprof__regions_lock();
    netprof__span_sample *keep = locked ? netprof__span_sample_of(g, span) : NULL;
    netprof__node_open(n);
    netprof__tally_span(n, span, now);
    if (keep) /* what was counted before a reset is no longer known */
        netprof__count_edges(n, keep->resets == NETPROF__GET(g->resets) ? &keep->sample : NULL, after);
    else
        NETPROF__ADD(n->tally.too_short, 1);
    netprof__node_close(n);
    if (keep) netprof__span_sample_release(g, span, keep);
    if (locked) netprof__regions_unlock();
    if (g->started == NETPROF_MODE_FAST) netprof__frame_apart(t, &t->frames[t->depth], netprof__reading_end(t, since));
}

/* Not in this copy, mode off, or amid another call. */
NETPROF__COLD void netprof__span_end_nowhere(const netprof_span *span)
{
    if (netprof__regions_state.first)
        netprof__regions_state.first->span_end(*span);
    else if (NETPROF__COUNTERS && span->sample)
        netprof__span_forget(span);
}

NETPROF__HOT void netprof__span_end_in(netprof__thread *t, const netprof_span *span, uint64_t now)
{
    netprof__node *n = netprof__span_node(t, span);
    if (NETPROF__UNLIKELY(!n)) {
        NETPROF__ADD(t->dropped[NETPROF__LOST_OTHERWISE], 1);
    } else if (NETPROF__COUNTERS &&
               NETPROF__UNLIKELY(n->sums && NETPROF__PEEK(netprof__mode_now) >= NETPROF_MODE_FAST)) {
        netprof__span_end_counted(t, n, span, now);
        return;
    } else {
        netprof__node_open(n);
        netprof__tally_span(n, span, now);
        netprof__node_close(n);
    }
    if (NETPROF__COUNTERS && NETPROF__UNLIKELY(span->sample)) netprof__span_forget(span);
}

NETPROF_API void netprof_span_end(netprof_span span)
{
    uint64_t now = span.suspend_ticks ? span.suspend_ticks : netprof__ticks();
    netprof__thread *t;
    if (!NETPROF__IS_ON || !span.begin_ticks || (t = netprof__thread_enter()) == NULL) {
        netprof__span_end_nowhere(&span);
        return;
    }
    netprof__span_end_in(t, &span, now);
    netprof__thread_leave(t);
}

/* >>12.4.2 work for a place of another thread; values

   Such work is a frame that is no call. */

static int netprof__is_open(const netprof__thread *t, const netprof__node *n)
{
    uint32_t d;
    for (d = t->depth; d && t->frames[d].node != n; d--)
        continue;
    return d != 0;
}

static void netprof__push_adopted(netprof__thread *t, netprof__node *n, uint32_t marks)
{
    netprof__frame *f = &t->frames[t->depth + 1];
    NETPROF__ADD(t->depth, 1);
    f->region = 0; /* no end fits it */
    NETPROF__SET(f->node, n);
    NETPROF__SET(f->inside, 0);
    NETPROF__SET(f->marks, NETPROF__ADOPTED | marks);
    NETPROF__SET(f->begin, netprof__ticks());
}

/* The path to the place, without what is open in this thread; the place itself in any case. */
NETPROF__COLD void netprof__adopt_here(netprof__thread *t, const netprof__node *place)
{
    netprof__node *target = netprof__node_mirror(t, place), *n, *path[NETPROF_MAX_DEPTH];
    uint32_t count = 0, again, base = NETPROF__BASE;
    for (n = target; n && n->parent && count < NETPROF_MAX_DEPTH; n = n->parent)
        if (n == target || !netprof__is_open(t, n)) path[count++] = n;
    if (t->depth + (count ? count : 1) > NETPROF_MAX_DEPTH) {
        netprof__begin_too_deep(t, 0);
        return;
    }
    if (!count) netprof__push_adopted(t, &t->root, base | NETPROF__AGAIN); /* the top level, or no memory */
    while (count-- > 0) {
        again = netprof__is_open(t, path[count]) ? NETPROF__AGAIN : 0;
        netprof__push_adopted(t, path[count], base | again);
        base = 0;
    }
}

NETPROF_API void netprof_adopt(netprof_place place)
{
    netprof__thread *t;
    if (!NETPROF__IS_ON) return;
    if ((t = netprof__thread_enter()) == NULL) {
        if (netprof__regions_state.first) netprof__regions_state.first->adopt(place);
        return;
    }
    netprof__adopt_here(t, (const netprof__node *)place.node);
    netprof__thread_leave(t);
}

/* Ends what is open down to the begin of the adoption; calls among it were not ended. */
NETPROF__COLD void netprof__adopt_end_here(netprof__thread *t)
{
    uint32_t d = t->depth, marks;
    if (t->too_deep && t->deep[0]) {
        t->deep[0]--;
        t->too_deep--;
        return;
    }
    while (d && !(t->frames[d].marks & NETPROF__BASE))
        d--;
    if (!d) return;
    if (t->too_deep) netprof__forget_deep(t);
    do {
        marks = t->frames[t->depth].marks;
        if (!(marks & NETPROF__ADOPTED)) NETPROF__ADD(t->mismatched, 1);
        netprof__pop_frame(t, netprof__ticks(), !(marks & NETPROF__ADOPTED));
    } while (t->depth >= d);
}

NETPROF_API void netprof_adopt_end(void)
{
    netprof__thread *t;
    if (!NETPROF__IS_ON) return;
    if ((t = netprof__thread_enter()) == NULL) {
        if (netprof__regions_state.first) netprof__regions_state.first->adopt_end();
        return;
    }
    netprof__adopt_end_here(t);
    netprof__thread_leave(t);
}

/* -- values -- */

NETPROF__COLD netprof__value_node *netprof__value_make(netprof__node *n, uint32_t name)
{
    netprof_alloc a = netprof__alloc_or_default(NULL);
    netprof__value_node *x;
    if (!name || name > NETPROF__GET(netprof__regions_state.region_count)) return NULL;
    if ((x = (netprof__value_node *)netprof__zalloc(&a, sizeof *x)) == NULL) return NULL;
    x->name = name;
    x->next = n->values;
    NETPROF__SET(n->values, x);
    return x;
}

NETPROF__HOT netprof__value_node *netprof__value_of(netprof__node *n, uint32_t name)
{
    netprof__value_node *x = n->values;
    while (x && x->name != name)
        x = x->next;
    return NETPROF__LIKELY(x) ? x : netprof__value_make(n, name);
}

NETPROF_API void netprof_value(netprof_region_id name, int64_t value)
{
    netprof__thread *t;
    netprof__frame *f;
    netprof__value_node *x;
    uint64_t v = (uint64_t)value;
    unsigned bucket = netprof__value_bucket(v);
    if (!NETPROF__IS_ON) return;
    if ((t = netprof__thread_enter()) == NULL) {
        if (netprof__regions_state.first) netprof__regions_state.first->value(name, value);
        return;
    }
    f = t->depth && !t->too_deep ? &t->frames[t->depth] : NULL;
    if (f && !(f->marks & (NETPROF__LOST | NETPROF__ADOPTED)) && (x = netprof__value_of(f->node, name)) != NULL) {
        netprof__node_open(f->node);
        if (!x->count || value < (int64_t)x->least) NETPROF__SET(x->least, v);
        if (!x->count || value > (int64_t)x->most) NETPROF__SET(x->most, v);
        NETPROF__ADD(x->count, 1);
        NETPROF__ADD(x->sum, v);
        NETPROF__ADD(x->counts[bucket], 1);
        NETPROF__SET(x->current, v);
        x->waiting = 1;
        netprof__node_close(f->node);
        NETPROF__SET(f->marks, f->marks | NETPROF__VALUED);
    }
    netprof__thread_leave(t);
}

NETPROF_API void netprof__value(netprof_site *site, int64_t value)
{
    netprof_region_id id = NETPROF__GET(site->region);
    netprof_value(NETPROF__LIKELY(id) ? id : netprof__site_find(site), value);
}

NETPROF_API void netprof_bytes(uint64_t bytes)
{
    netprof__thread *t;
    netprof__node *n;
    if (!NETPROF__IS_ON) return;
    if ((t = netprof__thread_enter()) == NULL) {
        if (netprof__regions_state.first) netprof__regions_state.first->bytes(bytes);
        return;
    }
    n = t->depth && !t->too_deep ? t->frames[t->depth].node : NULL;
    if (n) NETPROF__ADD(n->tally.bytes, bytes);
    netprof__thread_leave(t);
}

/* >>12.5 locks and names

   Everything but the hot path takes a lock: one for the state, one for writing the file. A signal handler cannot wait
   for a lock that its own thread holds, so taking it fails there. */

/* Returns 0 if this thread already holds a lock: then it is in a signal handler that interrupted the holder. */
static int netprof__lock(int *lock)
{
    struct timespec nap = {0, 50000};
    int tries = 0;
    if (netprof__holds_lock) return 0;
    netprof__holds_lock = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE))
        if (++tries < 100)
            sched_yield();
        else
            nanosleep(&nap, NULL); /* the holder may have a lower real-time priority */
    return 1;
}

static void netprof__unlock(int *lock)
{
    __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    netprof__holds_lock = 0;
}

static netprof_err netprof__in_handler(netprof_error *error)
{
    return netprof__fail(error, NETPROF_ERR_ARG, 0, NULL, "called by a signal handler amid another call of netprof");
}

static void netprof__regions_start(void);

#if defined(__linux__) && defined(__PIC__) && !defined(__PIE__)
static int netprof__find_object(const void *address, Dl_info *object) __attribute__((weakref("dladdr")));
static void *netprof__open_object(const char *file, int mode) __attribute__((weakref("dlopen")));
static char *netprof__open_failure(void) __attribute__((weakref("dlerror")));

/* A shared object with regions stays, whoever closes it: threads, exit() and other copies come back to it. Weak
   references need no library: whoever opened this object has these functions. Not under our lock: another thread may
   be inside dlopen(), with the loader's lock, and want ours. */
static void netprof__stay_loaded(void)
{
    Dl_info own, program;
    void *address = (void *)(uintptr_t)getauxval(AT_ENTRY);
    if (!netprof__find_object || !netprof__open_object ||
        !netprof__find_object((const void *)&netprof__regions_state, &own) || !own.dli_fname)
        return;
    if (netprof__find_object(address, &program) && program.dli_fbase == own.dli_fbase) return;
    if (!netprof__open_object(own.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) && netprof__open_failure)
        netprof__open_failure(); /* the program must not find it */
}
#else
static void netprof__stay_loaded(void) {}
#endif

/* Takes the lock; the first call sets everything up. */
static int netprof__regions_lock(void)
{
    if (!NETPROF__GET(netprof__regions_state.ready) && !netprof__holds_lock) netprof__stay_loaded();
    if (!netprof__lock(&netprof__regions_state.lock)) return 0;
    if (!netprof__regions_state.ready) netprof__regions_start();
    return 1;
}

static void netprof__regions_unlock(void)
{
    netprof__unlock(&netprof__regions_state.lock);
}

/* Makes all threads catch up; call it after the change. */
static void netprof__new_epoch(struct netprof__regions_state *g)
{
    uint32_t next = g->epoch + 1;
    NETPROF__SET(g->epoch, next ? next : 1);
}

static void netprof__release_text(char **text)
{
    netprof_alloc a = netprof__alloc_or_default(NULL);
    netprof__release(&a, *text);
    *text = NULL;
}

/* Keeps the first warning. */
static void netprof__warn(struct netprof__regions_state *g, const char *format, const char *what)
{
    if (!*g->warning) snprintf(g->warning, sizeof g->warning, format, what);
}

/* A daemon may have closed its standard error and been given the number again, for a socket or a data base: these are
   open for reading, too. */
static int netprof__error_is_open(const struct netprof__regions_state *g)
{
    struct stat st;
    int flags = fcntl(2, F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY || fstat(2, &st) != 0) return 0;
    return (flags & O_ACCMODE) == O_WRONLY || (st.st_dev == g->error_device && st.st_ino == g->error_inode) ||
           isatty(2);
}

/* One line on standard error, without its control characters, unless NETPROF_QUIET is set. Does not wait for a reader
   for ever. */
static void netprof__say(char *line)
{
    struct pollfd to;
    netprof__quiet quiet;
    size_t n = strlen(line), i;
    ssize_t written;
    to.fd = 2;
    to.events = POLLOUT;
    to.revents = 0;
    for (i = 0; i < n; i++)
        if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f) line[i] = '?';
    line[n++] = '\n'; /* in place of the 0 */
    if (NETPROF_OS_GETENV("NETPROF_QUIET") || !netprof__error_is_open(&netprof__regions_state) ||
        poll(&to, 1, 1000) != 1)
        return;
    netprof__quiet_begin(&quiet);
    written = write(2, line, n);
    netprof__quiet_end(&quiet, written < 0 ? errno : 0);
}

/* The n of "NAME:n" in the comma-separated list of NETPROF_EVERY; 0 if it is not there. */
static uint32_t netprof__every_setting(const char *list, const char *name)
{
    size_t n = strlen(name);
    while (*list) {
        size_t length = strcspn(list, ",");
        const char *p = list + n + 1;
        uint64_t every;
        if (length > n + 1 && memcmp(list, name, n) == 0 && list[n] == ':' &&
            netprof__parse_digits(&p, list + length, &every) == 0 && p == list + length && every <= UINT32_MAX)
            return (uint32_t)every;
        list += length + (list[length] == ',');
    }
    return 0;
}

/* Warns of an item that is not NAME:NUMBER, which would otherwise be ignored silently. */
static void netprof__check_every(struct netprof__regions_state *g)
{
    const char *item = g->every;
    while (*item) {
        size_t length = strcspn(item, ","), digits = 0;
        while (digits < length && netprof__is_digit(item[length - 1 - digits]))
            digits++;
        if (!digits || digits > 9 || length < digits + 2 || item[length - 1 - digits] != ':') {
            char text[60];
            netprof__copy_text(text, length < sizeof text ? length + 1 : sizeof text, item);
            netprof__warn(g, "NETPROF_EVERY: \"%s\" is no NAME:NUMBER: not used", text);
        }
        item += length + (item[length] == ',');
    }
}

static void netprof__check_output(struct netprof__regions_state *g)
{
    const char *p = g->output;
    char code[2] = {0, 0};
    for (; (p = strchr(p, '%')) != NULL && p[1]; p += 2) {
        code[0] = p[1];
        if (!strchr("jrhp%", p[1]))
            netprof__warn(g, "NETPROF_OUTPUT: %%%s is none of %%j, %%r, %%h, %%p and %%%%: it stays as it is", code);
    }
}

static void netprof__check_rank(struct netprof__regions_state *g)
{
    const char *rank = NETPROF_OS_GETENV("NETPROF_RANK");
    if (rank && (strspn(rank, "0123456789") != strlen(rank) || strlen(rank) > 9))
        netprof__warn(g, "%s is no number: not used", "NETPROF_RANK");
}

/* Returns the id of a name, or 0 and the free slot for it. Slots are filled only under the lock, and never emptied. */
static uint32_t netprof__name_find(const char *name, uint32_t *slot)
{
    struct netprof__regions_state *g = &netprof__regions_state;
    const size_t count = sizeof g->slots / sizeof *g->slots;
    uint32_t hash = NETPROF__FNV32_BASIS, id;
    const char *p;
    size_t i;
    for (p = name; *p; p++)
        hash = (hash ^ (unsigned char)*p) * NETPROF__FNV32_PRIME;
    for (i = hash % count; (id = NETPROF__GET(g->slots[i])) != 0; i = (i + 1) % count)
        if (strcmp(g->regions[id]->name, name) == 0) return id;
    *slot = (uint32_t)i;
    return 0;
}

/* Call with the lock held. */
static uint32_t netprof__name_add(const char *name, uint32_t slot)
{
    struct netprof__regions_state *g = &netprof__regions_state;
    netprof_alloc a = netprof__alloc_or_default(NULL);
    uint32_t id = g->region_count + 1;
    netprof__region *r = id > NETPROF_MAX_REGIONS ? NULL : (netprof__region *)netprof__zalloc(&a, sizeof *r);
    if (!r || !(r->name = netprof__strdup(&a, name))) {
        netprof__release(&a, r);
        return 0;
    }
    r->every = netprof__every_setting(g->every, name);
    g->regions[id] = r;
    NETPROF__SET(g->region_count, id);
    NETPROF__SET(g->slots[slot], id);
    return id;
}

NETPROF_API netprof_region_id netprof_region(const char *name)
{
    struct netprof__regions_state *g = &netprof__regions_state;
    uint32_t slot, id;
    if (!name) return 0;
    if ((id = netprof__name_find(name, &slot)) != 0) return id;
    if (!netprof__regions_lock()) return 0;
    if (!g->first && (id = netprof__name_find(name, &slot)) == 0) id = netprof__name_add(name, slot);
    netprof__regions_unlock();
    return g->first ? g->first->region(name) : id;
}

NETPROF_API void netprof_region_every(netprof_region_id region, unsigned n)
{
    struct netprof__regions_state *g = &netprof__regions_state;
    if (region && region <= NETPROF__GET(g->region_count))
        __atomic_store_n(&g->regions[region]->every, n, __ATOMIC_RELAXED);
    else if (NETPROF__GET(g->first))
        g->first->every(region, n);
}

/* >>12.6 threads */

#define NETPROF__THREADS_KEPT 256 /* blocks; from this many on, those of ended threads are reused */

/* Takes over the block of an ended thread, once there are many: thread pools that come and go must not fill memory. */
static netprof__thread *netprof__thread_adopt(void)
{
    netprof__thread *t;
    if (netprof__regions_state.thread_count < NETPROF__THREADS_KEPT) return NULL;
    for (t = netprof__regions_state.threads; t; t = t->next)
        if (!NETPROF__GET(t->in_use)) return t;
    return NULL;
}

static netprof__thread *netprof__thread_new(struct netprof__regions_state *g)
{
    netprof_alloc a = netprof__alloc_or_default(NULL);
    netprof__thread *t = (netprof__thread *)netprof__zalloc(&a, sizeof *t);
    if (!t) return NULL;
    t->frames[0].node = &t->root;
    t->root.owner = t;
    t->resets = g->resets;
    t->cuts = g->cuts;
    t->forks = g->forks;
    t->epoch = g->epoch;
    t->ready = t->epoch;
    t->number = g->thread_count++;
    t->next = g->threads;
    NETPROF__SET(g->threads, t);
    return t;
}

#ifndef NETPROF_NO_THREADS
static pthread_key_t netprof__thread_key;

/* A thread ends, and its open calls with it. Destructors that run later may begin regions; those count as another
   thread's. */
static void netprof__thread_end(void *argument)
{
    netprof__thread *t = (netprof__thread *)argument;
    NETPROF__SET(t->ready, 0);
    netprof__forget_deep(t);
    while (t->depth)
        netprof__pop_frame(t, netprof__ticks(), 1);
#ifndef NETPROF_NO_SOURCES
    netprof_close(t->np);
    t->np = NULL;
#endif
    netprof__this_thread = NULL;
    NETPROF__SET(t->ready, t->epoch);
    NETPROF__SET(t->in_use, 0);
}
#endif

static void netprof__background_check(struct netprof__regions_state *g);

/* Gives the caller a block, new or taken over. NULL: out of memory, or another copy has the regions. */
static netprof__thread *netprof__thread_make(void)
{
    struct netprof__regions_state *g = &netprof__regions_state;
    netprof__thread *t = NULL;
    if (NETPROF__GET(g->first) || !netprof__regions_lock()) return NULL;
    if (!g->first && NETPROF__IS_ON) {
        t = netprof__thread_adopt();
        if (!t) t = netprof__thread_new(g);
        if (t) NETPROF__SET(t->in_use, 1);
        if (t) g->threads_begun++;
        NETPROF__SET(g->used, 1);
        netprof__background_check(g);
    }
    netprof__regions_unlock();
    if (!t) return NULL;
    netprof__thread_open(t);
    netprof__this_thread = t;
#ifndef NETPROF_NO_THREADS
    pthread_setspecific(netprof__thread_key, t);
    pthread_sigmask(SIG_SETMASK, NULL, &t->signals);
#endif
    return t;
}

/* At the first call after a fork: the part of the setup that a child does not need if it only starts another
   program. */
static void netprof__process_begin(netprof__thread *t)
{
    struct netprof__regions_state *g = &netprof__regions_state;
    netprof__thread_open(t); /* its sockets are also the parent's */
    if (!netprof__regions_lock()) return;
    NETPROF__SET(g->used, 1);
    netprof__background_check(g);
    netprof__regions_unlock();
}

/* >>12.7 calibration and settings */

/* True if there is an invariant time stamp counter and the kernel trusts it; otherwise the kernel's clock is used. */
static int netprof__tsc_usable(void)
{
#if defined(NETPROF_NO_TSC)
    return 0;
#elif defined(__aarch64__)
    return 1;
#elif defined(__x86_64__) || defined(__i386__)
    char text[32];
    return netprof__read_line(AT_FDCWD, "/sys/devices/system/clocksource/clocksource0/current_clocksource", text,
                              sizeof text) > 0 &&
           strcmp(text, "tsc") == 0;
#else
    return 0;
#endif
}

/* Reads ticks and the clock at the same moment: the closest of several tries, in case a thread switch comes between. */
static int64_t netprof__clock_and_ticks(uint64_t *ticks)
{
    uint64_t closest = UINT64_MAX;
    int64_t ns = 0;
    int i;
    for (i = 0; i < 8; i++) {
        uint64_t before = netprof__ticks();
        int64_t now = netprof__clock(CLOCK_MONOTONIC);
        uint64_t after = netprof__ticks();
        if (after - before < closest) {
            closest = after - before;
            *ticks = before + closest / 2;
            ns = now;
        }
    }
    return ns;
}

/* A first estimate, from 0.2 ms. The file is written with a better one, from the whole run. */
static void netprof__calibrate(struct netprof__regions_state *g)
{
    uint64_t ticks;
    int64_t ns;
    g->use_tsc = netprof__tsc_usable();
    g->ns_per_tick_24 = 1u << 24;
    g->since_wall_ns = netprof__clock(CLOCK_REALTIME);
    g->begin_ns = g->since_ns = netprof__clock_and_ticks(&g->begin_ticks);
    if (!g->use_tsc) return;
    while (netprof__clock(CLOCK_MONOTONIC) - g->begin_ns < 200000)
        continue;
    ns = netprof__clock_and_ticks(&ticks) - g->begin_ns;
    if (ticks > g->begin_ticks)
        g->ns_per_tick_24 = (uint64_t)((double)ns * NETPROF__TICK_UNIT / (double)(ticks - g->begin_ticks) + 0.5);
}

typedef struct netprof__scratch {
    netprof__thread thread;
    netprof__node node;
} netprof__scratch;

/* For the sampler's pairs, with counters. */
static void netprof__scratch_counters(struct netprof__regions_state *g, netprof__scratch *scratch)
{
    netprof_alloc a = netprof__alloc_or_default(NULL);
    if (NETPROF__COUNTERS && g->started == NETPROF_MODE_SAMPLER)
        scratch->node.sums = (uint64_t *)netprof__zalloc(&a, g->counter_count * sizeof(uint64_t));
}

static void netprof__scratch_free(netprof__scratch *scratch)
{
    netprof_alloc a = netprof__alloc_or_default(NULL);
    size_t i;
    for (i = 0; NETPROF__COUNTERS && i <= NETPROF_MAX_DEPTH; i++)
        netprof__release(&a, scratch->thread.samples[i].values);
    netprof__release(&a, scratch->node.sums);
    netprof__release(&a, scratch);
}

/* Measures an empty begin/end pair in a scratch thread block, in ps: the smallest mean of 8 times 32 pairs. In mode fast
   it is a pair without counters, since their readings are measured one by one. */
static void netprof__measure_overhead(struct netprof__regions_state *g)
{
    netprof_alloc a = netprof__alloc_or_default(NULL);
    netprof__scratch *scratch = (netprof__scratch *)netprof__zalloc(&a, sizeof *scratch);
    uint64_t best = UINT64_MAX, begin, ticks;
    uint32_t every = 0;
    int i, k;
    if (!scratch) return;
    scratch->node.region = 1;
    scratch->node.every = &every;
    scratch->thread.root.recent = &scratch->node;
    scratch->thread.frames[0].node = &scratch->thread.root;
    netprof__scratch_counters(g, scratch);
    for (i = 0; i < 8; i++) {
        begin = netprof__ticks();
        for (k = 0; k < 32; k++) {
            netprof__begin_at(&scratch->thread, 1);
            netprof__end_at(&scratch->thread, 1, netprof__ticks(), NULL);
        }
        ticks = netprof__ticks() - begin;
        best = ticks < best ? ticks : best;
    }
    g->overhead_ps = (best * g->ns_per_tick_24 / 32 * 1000) >> 24;
    netprof__scratch_free(scratch);
}

/* Parses seconds as a decimal number, whatever the locale; "s" or "ms" may follow. */
static int64_t netprof__seconds_setting(struct netprof__regions_state *g, const char *variable, int64_t otherwise)
{
    const char *text = NETPROF_OS_GETENV(variable), *p = text, *end;
    uint64_t seconds = 0, ns = 0, unit = 100000000;
    if (!text || !*text) return otherwise;
    end = text + strlen(text);
    if ((*p != '.' && netprof__parse_digits(&p, end, &seconds)) || seconds > 1000000) {
        netprof__warn(g, "%s is no number of seconds: not used", variable);
        return otherwise;
    }
    if (*p == '.')
        for (p++; netprof__is_digit(*p); p++, unit /= 10)
            ns += unit * (uint64_t)(*p - '0');
    if (p == end || strcmp(p, "s") == 0) return (int64_t)(seconds * 1000000000 + ns);
    if (strcmp(p, "ms") == 0) return (int64_t)(seconds * 1000000 + ns / 1000);
    netprof__warn(g, "%s is no number of seconds: not used", variable);
    return otherwise;
}

static void netprof__text_setting(struct netprof__regions_state *g, const char *variable, const char *otherwise,
                                  char *to, size_t size)
{
    const char *text = NETPROF_OS_GETENV(variable);
    if (text && strlen(text) >= size) netprof__warn(g, "%s is too long: not used", variable);
    netprof__copy_text(to, size, text && *text && strlen(text) < size ? text : otherwise);
}

#ifdef __APPLE__ /* a shared library has no environ there */
extern char ***_NSGetEnviron(void);
#define NETPROF__ENVIRON (*_NSGetEnviron())
#else
extern char **environ;
#define NETPROF__ENVIRON environ
#endif

/* Warns of a misspelt variable, which would otherwise be ignored silently. */
static void netprof__check_environment(struct netprof__regions_state *g)
{
    static const char *const known[] = {"NETPROF",          "NETPROF_ROOT",   "NETPROF_SOURCES", "NETPROF_INCLUDE",
                                        "NETPROF_EXCLUDE",  "NETPROF_OUTPUT", "NETPROF_FLUSH",   "NETPROF_EVERY",
                                        "NETPROF_INTERVAL", "NETPROF_RANK",   "NETPROF_VERBOSE", "NETPROF_SERIES",
                                        "NETPROF_QUIET",    "NETPROF_RUN",    "NETPROF_PRINT",   "NETPROF_DUCKDB",
                                        "NETPROF_GNUPLOT"}; /* the last two: of the programs */
    char name[64];
    char **e;
    for (e = NETPROF__ENVIRON; e && *e; e++) {
        size_t n = strcspn(*e, "=");
        if (strncmp(*e, "NETPROF", 7) != 0 || n >= sizeof name || (n > 7 && (*e)[7] != '_') ||
            strncmp(*e, "NETPROF_TEST_", 13) == 0 || strncmp(*e, "NETPROF_NCCL", 12) == 0) /* of the NCCL plugin */
            continue;
        memcpy(name, *e, n);
        name[n] = 0;
        if (!netprof__in_table(name, known, sizeof known / sizeof *known))
            netprof__warn(g, "the environment variable %s is none of netprof's", name);
    }
}

static netprof_mode netprof__mode_setting(struct netprof__regions_state *g)
{
    static const char *const names[] = {"off", "time", "fast", "sampler"};
    const char *text = NETPROF_OS_GETENV("NETPROF");
    int i;
    if (netprof__is_privileged()) return NETPROF_MODE_OFF;
    for (i = 0; text && *text && i < 4; i++)
        if (strcmp(text, names[i]) == 0) return (netprof_mode)(i + 1);
    if (text && *text) netprof__warn(g, "NETPROF=%.40s is none of off, time, fast, sampler: time is used", text);
    return NETPROF_MODE_TIME;
}

/* >>12.8 the counters and the background thread */

#ifndef NETPROF_NO_SOURCES
/* Chooses the counters: those of the fast set that count and can be read. Returns 0 if there are none, or no memory. */
static int netprof__choose_counters(struct netprof__regions_state *g, const netprof_snapshot *s)
{
    const netprof_schema *schema = s->schema;
    netprof_alloc a = netprof__alloc_or_default(NULL);
    size_t i, n = 0;
    g->counters = (uint32_t *)netprof__zalloc(&a, (schema->counter_count + 1) * sizeof *g->counters);
    g->values = (uint64_t *)netprof__zalloc(&a, (schema->counter_count + 1) * (sizeof *g->values + 1));
    for (i = 0; g->counters && g->values && i < schema->counter_count; i++)
        if ((schema->counters[i].flags & NETPROF_FAST) && schema->counters[i].kind != NETPROF_KIND_GAUGE &&
            schema->counters[i].kind != NETPROF_KIND_STATE && s->status[i] == NETPROF_STATUS_OK)
            g->counters[n++] = (uint32_t)i;
    if (!n) {
        netprof__release(&a, g->counters);
        netprof__release(&a, g->values);
        g->counters = NULL;
        g->values = NULL;
        return 0;
    }
    g->known = (unsigned char *)(g->values + schema->counter_count + 1);
    netprof_schema_retain(schema);
    g->schema = schema;
    g->counter_count = n;
    return 1;
}

/* Publishes one reading of the sampler; the sequence is odd meanwhile, so that readers wait. */
static void netprof__publish_sample(struct netprof__regions_state *g, const netprof_snapshot *s)
{
    size_t i;
    if (!netprof__columns_fit(&g->columns, s->schema)) return;
    __atomic_store_n(&g->sequence, g->sequence + 1, __ATOMIC_RELAXED);
    for (i = 0; i < g->counter_count; i++) {
        uint64_t value;
        int known = netprof__column_value(&g->columns, i, s, &value);
        NETPROF__SET(g->values[i], value);
        NETPROF__SET(g->known[i], (unsigned char)known);
    }
    NETPROF__SET(g->sequence, g->sequence + 1);
    NETPROF__SET(g->sweep_ns, s->end_ns - s->begin_ns);
}

static void netprof__sampler_tick(struct netprof__regions_state *g, netprof *np)
{
    int64_t before = netprof__clock(CLOCK_THREAD_CPUTIME_ID);
    if (netprof_take(np, &g->snapshot, NETPROF_SET_FAST, NULL) == NETPROF_OK) netprof__publish_sample(g, &g->snapshot);
    NETPROF__ADD(g->sampler_readings, 1);
    NETPROF__ADD(g->sampler_ns, (uint64_t)(netprof__clock(CLOCK_THREAD_CPUTIME_ID) - before));
}

/* Sets up the counters if the mode needs them; falls back to time if there are none. */
static netprof_mode netprof__counters_start(struct netprof__regions_state *g, netprof_mode mode)
{
    netprof *np;
    netprof_error error;
    int fine;
    if (mode < NETPROF_MODE_FAST) return mode;
#ifdef NETPROF_NO_THREADS
    if (mode == NETPROF_MODE_SAMPLER) {
        netprof__warn(g, "no sampler without threads: %s", "time only");
        return NETPROF_MODE_TIME;
    }
#endif
    memset(&error, 0, sizeof error);
    np = netprof__region_context(mode == NETPROF_MODE_FAST, &error);
    fine = np && netprof_take(np, &g->snapshot, NETPROF_SET_FAST, NULL) == NETPROF_OK &&
           netprof__choose_counters(g, &g->snapshot);
    if (fine && mode == NETPROF_MODE_SAMPLER) {
        netprof__publish_sample(g, &g->snapshot);
        g->np = np;
        return mode;
    }
    netprof_snapshot_free(&g->snapshot);
    netprof_close(np);
    if (fine) return mode;
    if (!np && *error.text) {
        char text[sizeof error.path + sizeof error.text + 2];
        snprintf(text, sizeof text, "%s%s%s", error.path,
                 *error.path == '/' ? ": "
                 : *error.path      ? " "
                                    : "",
                 error.text);
        netprof__warn(g, "no counter can be read for the regions, time only: %.120s", text);
    }
    netprof__warn(g, "no counter can be read for the regions: %s", "time only");
    return NETPROF_MODE_TIME;
}

#else
static void netprof__sampler_tick(struct netprof__regions_state *g, netprof *np)
{
    (void)g, (void)np;
}

static netprof_mode netprof__counters_start(struct netprof__regions_state *g, netprof_mode mode)
{
    if (mode < NETPROF_MODE_FAST) return mode;
    netprof__warn(g, "this program was built without counters (%s, or not on Linux): regions have times only",
                  "NETPROF_NO_SOURCES");
    return NETPROF_MODE_TIME;
}
#endif

static void netprof__tell_unwritten(const netprof_error *error, int again);

#ifndef NETPROF_NO_THREADS
#ifndef NETPROF__FLUSH_FIRST_NS
#define NETPROF__FLUSH_FIRST_NS (5 * (int64_t)1000000000)
#endif
#define NETPROF__FLUSH_MOST_NS (60 * (int64_t)1000000000)

static netprof_err netprof__flush(int background, netprof_error *error);

static void netprof__sleep_until(int64_t at_ns)
{
    struct timespec t;
#ifdef __linux__
    t.tv_sec = (time_t)(at_ns / 1000000000);
    t.tv_nsec = (long)(at_ns % 1000000000);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
        continue;
#else /* macOS and OpenBSD lack it */
    int64_t left;
    while ((left = at_ns - netprof__clock(CLOCK_MONOTONIC)) > 0) {
        t.tv_sec = (time_t)(left / 1000000000);
        t.tv_nsec = (long)(left % 1000000000);
        nanosleep(&t, NULL);
    }
#endif
}

/* Something periodic, at points in time that do not drift; step 0: never. */
typedef struct netprof__beat {
    int64_t step_ns, next_ns;
} netprof__beat;

/* Returns 1 if it is due; missed ones are skipped. */
static int netprof__beat_due(netprof__beat *b)
{
    int64_t now = netprof__clock(CLOCK_MONOTONIC);
    if (!b->step_ns || now < b->next_ns) return 0;
    b->next_ns += ((now - b->next_ns) / b->step_ns + 1) * b->step_ns;
    return 1;
}

#ifndef NETPROF_NO_SERIES
static void netprof__series_tick(struct netprof__regions_state *g);
#endif

static void netprof__flush_and_tell(void)
{
    netprof_error error;
    if (netprof__flush(1, &error)) netprof__tell_unwritten(&error, 1);
}

/* The background thread: the sampler, and the writer for NETPROF_FLUSH and NETPROF_SERIES. */
static void *netprof__background(void *argument)
{
    struct netprof__regions_state *g = &netprof__regions_state;
    netprof *np = (netprof *)argument;
    int64_t now = netprof__clock(CLOCK_MONOTONIC);
    netprof__beat beats[3];
    size_t i;
    memset(beats, 0, sizeof beats);
    beats[0].step_ns = np ? g->interval_ns : 0;
    beats[1].step_ns = g->flush_ns;
    beats[2].step_ns = g->series_ns;
    for (i = 0; i < 3; i++)
        beats[i].next_ns = now + beats[i].step_ns;
#ifndef NETPROF_NO_SERIES
    if (g->series_ns) netprof__series_tick(g);
#endif
    for (;;) {
        int64_t wake = INT64_MAX;
        for (i = 0; i < 3; i++)
            if (beats[i].step_ns && beats[i].next_ns < wake) wake = beats[i].next_ns;
        netprof__sleep_until(wake);
        if (netprof__beat_due(&beats[0])) netprof__sampler_tick(g, np);
#ifndef NETPROF_NO_SERIES
        if (netprof__beat_due(&beats[2])) netprof__series_tick(g);
#endif
        if (!netprof__beat_due(&beats[1])) continue;
        netprof__flush_and_tell();
        if (g->flush_grows && beats[1].step_ns < NETPROF__FLUSH_MOST_NS) beats[1].step_ns *= 2;
    }
    return NULL;
}

/* Signals are blocked in the thread: they belong to the program's own threads. */
static int netprof__thread_start(void *(*function)(void *argument), void *argument)
{
    sigset_t all, before;
    pthread_t id;
    int failed;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(&id, NULL, function, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!failed) pthread_detach(id);
    return !failed;
}

/* Without NETPROF_FLUSH: a thread that writes the file once, and ends. A region that ends after NETPROF__FLUSH_FIRST_NS
   starts the first one, and each next after twice the time, up to NETPROF__FLUSH_MOST_NS: a process that is killed loses
   at most its last minute, and one that ends within seconds has no thread. The region waits for the thread to be
   created, not for the disk. Ranks that start together do not write together. */
static void netprof__flush_later(struct netprof__regions_state *g, int64_t ns)
{
    double unit = (double)g->ns_per_tick_24 / NETPROF__TICK_UNIT;
    uint64_t ticks = netprof__ticks();
    double spread = 0.75 + (double)(((uint32_t)getpid() * 2654435761u) >> 16) / 131072; /* 0.75 to 1.25 */
    NETPROF__SET(g->flush_ticks, ns ? ticks + (uint64_t)((double)ns * spread / unit) : UINT64_MAX);
}

static void *netprof__flush_once(void *argument)
{
    struct netprof__regions_state *g = (struct netprof__regions_state *)argument;
    int64_t begin = netprof__clock(CLOCK_MONOTONIC), took;
    netprof__flush_and_tell();
    took = netprof__clock(CLOCK_MONOTONIC) - begin;
    g->flush_step_ns = g->flush_step_ns < NETPROF__FLUSH_MOST_NS / 2 ? 2 * g->flush_step_ns : NETPROF__FLUSH_MOST_NS;
    netprof__flush_later(g, took > g->flush_step_ns / 100 ? 100 * took : g->flush_step_ns);
    return NULL;
}

#ifdef NSIG
#define NETPROF__SIGNALS NSIG
#else
#define NETPROF__SIGNALS 65
#endif

/* A signal handler may have interrupted what creates threads, too. There, the signal is blocked. */
static int netprof__may_start(const netprof__thread *t)
{
    sigset_t now;
    int i;
    if (!t || pthread_sigmask(SIG_SETMASK, NULL, &now)) return 0;
    for (i = 1; i < NETPROF__SIGNALS; i++)
        if (sigismember(&now, i) == 1 && sigismember(&t->signals, i) != 1) return 0;
    return 1;
}
#endif

/* A region ended, and the file is due. errno stays. */
NETPROF__COLD void netprof__flush_due(void)
{
#ifndef NETPROF_NO_THREADS
    struct netprof__regions_state *g = &netprof__regions_state;
    uint64_t due = NETPROF__GET(g->flush_ticks);
    int saved = errno;
    if (netprof__ticks() < due ||
        !__atomic_compare_exchange_n(&g->flush_ticks, &due, UINT64_MAX, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return;
    if (NETPROF__GET(g->ended)) return;
    if (!netprof__may_start(netprof__this_thread) || !netprof__thread_start(netprof__flush_once, g))
        netprof__flush_later(g, g->flush_step_ns / 8);
    errno = saved;
#endif
}

/* Starts the thread if it is wanted and not running: at first use, also in a forked process. Call with the lock
   held. */
static void netprof__background_check(struct netprof__regions_state *g)
{
#ifndef NETPROF_NO_THREADS
    int sampler = g->started == NETPROF_MODE_SAMPLER;
#ifndef NETPROF_NO_SERIES
    if (!g->background) g->series.last_ns = g->since_ns;
#endif
    if (g->background || !NETPROF__IS_ON || (!sampler && !g->flush_ns && !g->series_ns)) return;
#ifndef NETPROF_NO_SOURCES
    if (sampler && !g->np) g->np = netprof__region_context(0, NULL);
#endif
    if (g->flush_step_ns) { /* as there is a thread, it writes the file, too */
        g->flush_ns = NETPROF__FLUSH_FIRST_NS;
        g->flush_grows = 1;
        g->flush_step_ns = 0;
        netprof__flush_later(g, 0);
    }
    g->background = netprof__thread_start(netprof__background, sampler ? g->np : NULL);
    if (!g->background)
        netprof__warn(g, "the %s thread cannot be started",
                      sampler       ? "sampler's"
                      : g->flush_ns ? "flushing"
                                    : "series'");
#else
    (void)g;
#endif
}

/* Changes with every call of a region, in any thread. */
static uint64_t netprof__all_counts(struct netprof__regions_state *g)
{
    uint64_t sum = 0;
    netprof__thread *t;
    const netprof__node *n;
    for (t = NETPROF__GET(g->threads); t; t = t->next)
        for (n = NETPROF__GET(t->made); n; n = n->made_before)
            sum += NETPROF__GET(n->tally.calls) + NETPROF__GET(n->tally.measured) + NETPROF__GET(n->tally.skipped) +
                   NETPROF__GET(n->tally.bytes);
    return sum;
}

/* This thread ends with the process: the counters of its open calls are read now. */
static void netprof__count_open(void)
{
    netprof__thread *t = netprof__this_thread ? netprof__thread_enter() : NULL;
    uint32_t d;
    if (!t) return;
    for (d = t->depth; d > 0; d--) {
        netprof__frame *f = &t->frames[d];
        const netprof__sample *after;
        if (!(f->marks & NETPROF__COUNTED) || f->marks & (NETPROF__SKIPPED | NETPROF__LOST)) continue;
        after = netprof__sample_take(t);
        netprof__node_open(f->node);
        netprof__count_edges(f->node, f->sample, after);
        netprof__node_close(f->node);
        netprof__frame_release(f);
        NETPROF__SET(f->marks, f->marks & ~(uint32_t)NETPROF__COUNTED);
    }
    netprof__thread_leave(t);
}

static void netprof__write_last(const char *how)
{
    struct netprof__regions_state *g = &netprof__regions_state;
    netprof_error error;
    NETPROF__SET(g->end, how);
    NETPROF__SET(g->flush_ticks, UINT64_MAX);
    NETPROF__SET(g->ended, 1);
    if (!NETPROF__GET(g->used)) return;
    netprof__count_open();
    g->end_sum = netprof__all_counts(g);
    if (netprof_flush(&error)) netprof__tell_unwritten(&error, 0);
}

#ifndef NETPROF_NO_PRINT
static void netprof__print_setting(struct netprof__regions_state *g)
{
    const char *text = NETPROF_OS_GETENV("NETPROF_PRINT");
    g->print = text && strcmp(text, "1") == 0;
    if (text && *text && !g->print && strcmp(text, "0") != 0)
        netprof__warn(g, "NETPROF_PRINT=%.40s is neither 0 nor 1", text);
    if (g->print && netprof_meter_start(&g->meter, NETPROF_SET_FAST, NULL)) netprof_meter_free(&g->meter);
}

static void netprof__print_at_exit(struct netprof__regions_state *g)
{
    netprof_regions r;
    int moved = g->meter.np && netprof_meter_stop(&g->meter, NULL) == NETPROF_OK;
    if (netprof_regions_take(&r, NULL) == NETPROF_OK) netprof_print(STDERR_FILENO, moved ? &g->meter.delta : NULL, &r);
    netprof_regions_free(&r);
    netprof_meter_free(&g->meter);
}
#endif

static void netprof__at_exit(void)
{
    netprof__write_last("exit");
#ifndef NETPROF_NO_PRINT
    if (NETPROF__GET(netprof__regions_state.used) && netprof__regions_state.print)
        netprof__print_at_exit(&netprof__regions_state);
#endif
}

static void netprof__at_quick_exit(void)
{
    netprof__write_last("quick_exit");
}

/* After the destructors of static objects, which may have used regions when the file was written already, and after
   other threads that go on during an exit. */
__attribute__((destructor)) static void netprof__at_last(void)
{
    struct netprof__regions_state *g = &netprof__regions_state;
    if (NETPROF__GET(g->ended) && !g->first && netprof__all_counts(g) != g->end_sum)
        netprof__write_last(NETPROF__GET(g->end));
}

/* Declared by <stdlib.h> only in some standards. */
#ifdef __GLIBC__
extern int netprof__register_quick_exit(void (*function)(void)) __asm__("at_quick_exit");
#elif defined(__ELF__)
static int netprof__register_quick_exit(void (*function)(void)) __attribute__((weakref("at_quick_exit")));
#endif

static void netprof__watch_exit(void)
{
    atexit(netprof__at_exit);
#ifdef __GLIBC__
    netprof__register_quick_exit(netprof__at_quick_exit);
#elif defined(__ELF__)
    if (netprof__register_quick_exit) netprof__register_quick_exit(netprof__at_quick_exit);
#endif
}

/* >>12.9 start, exit, fork */

#ifndef NETPROF_NO_THREADS
static __thread int netprof__fork_locked;

static void netprof__fork_before(void)
{
    netprof__fork_locked = netprof__lock(&netprof__regions_state.lock);
}

static void netprof__fork_parent(void)
{
    if (netprof__fork_locked) netprof__regions_unlock();
}

/* Spans of the parent have no counters in the child. */
static void netprof__span_samples_drop(struct netprof__regions_state *g)
{
    uint32_t i;
    g->span_sample_free = 0;
    for (i = 0; i < g->span_sample_count; i++) {
        g->span_samples[i]->ticket++;
        g->span_samples[i]->next = g->span_sample_free;
        g->span_sample_free = i + 1;
    }
}

/* Only this thread continues in the child. Nobody reads the blocks of the others, which may have been interrupted
   inside a call. */
static void netprof__fork_threads(struct netprof__regions_state *g)
{
    netprof__thread *mine = netprof__this_thread, **link = &g->threads, *t;
    netprof__node *n;
    uint32_t i;
    while ((t = *link) != NULL) {
        if (t == mine) {
            link = &t->next;
            continue;
        }
        *link = t->next;
        t->next = g->past;
        g->past = t;
    }
    g->thread_count = mine ? 1 : 0;
    g->threads_begun = g->thread_count;
    g->open = 0;
    netprof__span_samples_drop(g);
    for (n = mine ? mine->made : NULL; n; n = n->made_before)
        n->row = 0;
    if (mine) mine->number = 0;
    for (i = 1; mine && i <= mine->depth; i++)
        g->open += (mine->frames[i].marks & NETPROF__COUNTED) != 0;
}

#ifndef NETPROF_NO_SERIES
/* Fixes the clock's factor for the files written next; 0: as measured. Any thread may be reading it. */
static void netprof__fix_factor(struct netprof__regions_state *g, double factor)
{
    __atomic_store(&g->factor, &factor, __ATOMIC_RELAXED);
}

/* True if the descriptor is still that of the series: some programs close all descriptors that they do not know, and
   are given the numbers again. */
static int netprof__series_is_ours(const netprof__series *s, int fd)
{
    struct stat st;
    return fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == s->file_device && st.st_ino == s->file_inode;
}

/* The series is the parent's, perhaps interrupted inside a sample: only its descriptor is closed. */
static void netprof__series_leave(struct netprof__regions_state *g)
{
    netprof_writer *w = NETPROF__GET(g->series.writer);
    if (w && netprof__series_is_ours(&g->series, w->fd)) NETPROF_OS_CLOSE(w->fd);
    g->past_series = g->series;
    memset(&g->series, 0, sizeof g->series);
    netprof__fix_factor(g, 0);
}
#endif

/* The child starts from zero, with this thread's open regions. Threads and sockets wait for its first region, since
   most children start another program instead. */
static void netprof__fork_child(void)
{
    struct netprof__regions_state *g = &netprof__regions_state;
    if (!g->ready) {
        if (netprof__fork_locked) netprof__regions_unlock();
        return;
    }
    netprof__fork_threads(g);
    g->background = g->used = g->ended = g->flush_lock = 0;
    g->dropped = g->bounded = 0;
    g->sampler_base[0] = g->sampler_readings;
    g->sampler_base[1] = g->sampler_ns;
    g->sequence &= ~(uint64_t)1;
#ifndef NETPROF_NO_PRINT
    g->past_meter = g->meter; /* its traffic is the parent's */
    memset(&g->meter, 0, sizeof g->meter);
#endif
#ifndef NETPROF_NO_SOURCES
    g->past_np = g->np; /* perhaps interrupted while reading */
    g->past_snapshot = g->snapshot;
    g->np = NULL;
    memset(&g->snapshot, 0, sizeof g->snapshot);
#endif
#ifndef NETPROF_NO_SERIES
    netprof__series_leave(g);
#endif
    g->since_ns = netprof__clock(CLOCK_MONOTONIC);
    g->since_wall_ns = netprof__clock(CLOCK_REALTIME);
    g->reset_ticks = netprof__ticks();
    g->resets++;
    g->forks++;
    g->parent = getppid();
    g->parent_start = g->start;
    g->start = 0;
    g->end = NULL;
    g->told = 0;
    netprof__release_text(&g->written);
    if (g->flush_step_ns) {
        g->flush_step_ns = NETPROF__FLUSH_FIRST_NS;
        netprof__flush_later(g, g->flush_step_ns);
    }
    netprof__new_epoch(g);
    if (netprof__fork_locked) netprof__regions_unlock();
}

/* At load time, not at the first region: a fork during another thread's first region would leave the child with a lock
   that nobody releases. */
__attribute__((constructor)) static void netprof__fork_watch(void)
{
    pthread_atfork(netprof__fork_before, netprof__fork_parent, netprof__fork_child);
}
#endif

static const netprof__calls *netprof__first_copy(void);
static netprof_err netprof__set_time(int which, double seconds, netprof_error *error);

/* A number of a process from proc(5), stat; 0: not known. */
static uint64_t netprof__process_field(pid_t pid, int wanted)
{
    char path[40], text[1024];
    const char *p, *end;
    uint64_t value = 0;
    int field;
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    if (netprof__read_line(AT_FDCWD, path, text, sizeof text) <= 0 || (p = strrchr(text, ')')) == NULL) return 0;
    for (field = 2; field < wanted && p; field++)
        p = (p = strchr(p, ' ')) != NULL ? p + 1 : NULL;
    end = p ? p + strcspn(p, " ") : NULL;
    return p && netprof__parse_digits(&p, end, &value) == 0 ? value : 0;
}

/* When a process began, in clock ticks since boot: with its number it has no other like it. */
static uint64_t netprof__start_of(pid_t pid)
{
    return netprof__process_field(pid, 22);
}

/* Hydra, the launcher of MPICH and of Intel MPI, gives its ranks no name of the run. On each node a proxy starts them
   ("hydra_pmi_proxy --control-port HOST:PORT ..."), and that port of mpiexec's is the same in all proxies of a run. */
static int netprof__hydra_port(pid_t pid, char *to, size_t size)
{
    static const char option[] = "--control-port";
    char path[40], text[2048];
    const char *p;
    ssize_t n;
    snprintf(path, sizeof path, "/proc/%ld/cmdline", (long)pid);
    n = netprof__read_text(AT_FDCWD, path, text, sizeof text);
    if (n <= 0 || !strstr(text, "hydra")) return 0;
    for (p = text; p < text + n; p += strlen(p) + 1)
        if (strcmp(p, option) == 0 && p + sizeof option < text + n) {
            netprof__copy_text(to, size, p + sizeof option);
            return 1;
        }
    return 0;
}

/* A script may stand between the proxy and this process. */
static void netprof__hydra_find(char *to, size_t size)
{
    pid_t pid = getppid();
    int steps = 8;
    if (!NETPROF_OS_GETENV("PMI_RANK")) return;
    while (pid > 1 && steps-- && !netprof__hydra_port(pid, to, size))
        pid = (pid_t)netprof__process_field(pid, 4);
}

/* Who this is, and where it stands: the file is written there, wherever the program goes later. */
static void netprof__process_note(struct netprof__regions_state *g)
{
    char directory[PATH_MAX];
    netprof_alloc a = netprof__alloc_or_default(NULL);
    struct stat st;
    if (getcwd(directory, sizeof directory) && directory[0] == '/') g->directory = netprof__strdup(&a, directory);
    if (fstat(2, &st) == 0) {
        g->error_device = st.st_dev;
        g->error_inode = st.st_ino;
    }
    g->parent = getppid();
    g->start = netprof__start_of(getpid());
    g->parent_start = netprof__start_of(g->parent);
    netprof__hydra_find(g->hydra, sizeof g->hydra);
}

/* Applies what was given by call, or read from the environment. */
static void netprof__apply_times(struct netprof__regions_state *g)
{
    const int64_t *given = g->given_ns;
    if (given[NETPROF__TIME_INTERVAL]) g->interval_ns = given[NETPROF__TIME_INTERVAL] - 1;
    if (given[NETPROF__TIME_FLUSH]) g->flush_ns = given[NETPROF__TIME_FLUSH] - 1;
    if (given[NETPROF__TIME_SERIES]) g->series_ns = given[NETPROF__TIME_SERIES] - 1;
    g->interval_ns = g->interval_ns < 100000 ? 100000 : g->interval_ns;
    if (g->series_ns && g->series_ns < 1000000) g->series_ns = 1000000;
}

/* NETPROF_FLUSH is not given: now and then, without a thread that stays. */
static void netprof__flush_plan(struct netprof__regions_state *g)
{
    int wanted = g->flush_ns < 0;
    if (wanted) g->flush_ns = 0;
#ifndef NETPROF_NO_THREADS
    g->flush_step_ns = wanted ? NETPROF__FLUSH_FIRST_NS : 0;
    netprof__flush_later(g, g->flush_step_ns);
#endif
}

/* A setting of which this build has nothing would otherwise be ignored silently. */
static void netprof__check_left_out(struct netprof__regions_state *g)
{
#ifdef NETPROF_NO_SERIES
    if (g->series_ns) netprof__warn(g, "%s: this program was built without it", "NETPROF_SERIES");
    g->series_ns = 0;
#endif
#ifdef NETPROF_NO_PRINT
    const char *print = NETPROF_OS_GETENV("NETPROF_PRINT");
    if (print && *print && strcmp(print, "0") != 0)
        netprof__warn(g, "%s: this program was built without it", "NETPROF_PRINT");
#endif
    (void)g;
}

static void netprof__read_settings(struct netprof__regions_state *g)
{
    netprof__text_setting(g, "NETPROF_EVERY", "", g->every, sizeof g->every);
    netprof__check_every(g);
    netprof__check_rank(g);
    if (!g->output_given)
        netprof__text_setting(g, "NETPROF_OUTPUT", NETPROF__OUTPUT_DEFAULT, g->output, sizeof g->output);
    netprof__check_output(g);
    g->interval_ns = netprof__seconds_setting(g, "NETPROF_INTERVAL", 10000000);
    g->flush_ns = netprof__seconds_setting(g, "NETPROF_FLUSH", -1);
    g->series_ns = netprof__seconds_setting(g, "NETPROF_SERIES", 0);
    netprof__apply_times(g);
    netprof__check_left_out(g);
}

/* Call with the lock held. */
static void netprof__regions_start(void)
{
    struct netprof__regions_state *g = &netprof__regions_state;
    netprof_mode mode = netprof__mode_setting(g);
    NETPROF__SET(g->ready, 1);
    g->epoch = 1;
    g->rank = g->size = -1;
    g->pid = getpid();
    g->flush_ticks = UINT64_MAX;
    netprof__check_environment(g);
    if (netprof__mode_now) mode = (netprof_mode)netprof__mode_now; /* netprof_set_mode() came first */
    NETPROF__SET(g->first, netprof__first_copy());
    if (!g->first) {
        netprof__read_settings(g);
        netprof__process_note(g);
#ifndef NETPROF_NO_PRINT
        netprof__print_setting(g);
#endif
        netprof__calibrate(g);
        netprof__measure_overhead(g);
        netprof__flush_plan(g);
#ifndef NETPROF_NO_THREADS
        pthread_key_create(&netprof__thread_key, netprof__thread_end);
#endif
        mode = g->started = netprof__counters_start(g, mode);
        netprof__watch_exit();
    } else if (strcmp(g->first->version, NETPROF_VERSION_STRING) == 0) {
        int i;
        if (g->output_given) g->first->set_output(g->output, NULL);
        for (i = 0; i < NETPROF__TIMES; i++)
            if (g->given_ns[i]) g->first->set_time(i, (double)(g->given_ns[i] - 1) / 1e9, NULL);
    } else {
        netprof__warn(g, "netprof %s in the same process has the regions: none here", g->first->version);
        mode = NETPROF_MODE_OFF;
    }
    __atomic_store_n(&netprof__mode_now, (int)mode, __ATOMIC_RELAXED);
    if (NETPROF__COUNTERS && !g->first && mode == NETPROF_MODE_SAMPLER)
        netprof__measure_overhead(g); /* with counters */
    if (*g->warning && NETPROF_OS_GETENV("NETPROF_VERBOSE")) fprintf(stderr, "netprof: %s\n", g->warning);
}

NETPROF_API void netprof_set_mode(netprof_mode mode)
{
    struct netprof__regions_state *g = &netprof__regions_state;
    if (mode < NETPROF_MODE_OFF || mode > NETPROF_MODE_SAMPLER || !netprof__lock(&g->lock)) return;
    if (g->ready && !g->first && mode >= NETPROF_MODE_FAST && mode != g->started) mode = NETPROF_MODE_TIME;
    if (mode == NETPROF_MODE_OFF && g->ready) {
        g->cuts++;
        netprof__new_epoch(g);
    }
    __atomic_store_n(&netprof__mode_now, (int)mode, __ATOMIC_RELAXED);
    netprof__regions_unlock();
    if (g->first) g->first->set_mode(mode);
}

static netprof_err netprof__too_late(netprof_error *error)
{
    return netprof__fail(error, NETPROF_ERR_ARG, 0, NULL, "only before the first region of the process is used");
}

static netprof_err netprof__set_time(int which, double seconds, netprof_error *error)
{
    struct netprof__regions_state *g = &netprof__regions_state;
    netprof_err failed = NETPROF_OK;
    if (!(seconds >= 0 && seconds <= 1e6))
        return netprof__fail(error, NETPROF_ERR_ARG, 0, NULL, "expected seconds, 0 to a million");
#ifdef NETPROF_NO_SERIES /* asked for by another copy of the implementation */
    if (which == NETPROF__TIME_SERIES)
        return netprof__fail(error, NETPROF_ERR_ARG, 0, NULL, "the copy that has the regions was built without series");
#endif
    if (!netprof__lock(&g->lock)) return netprof__in_handler(error);
    if (NETPROF__GET(g->used)) failed = netprof__too_late(error);
    if (!failed) g->given_ns[which] = (int64_t)(seconds * 1e9) + 1;
    if (!failed && g->ready && !g->first) {
        netprof__apply_times(g);
        if (which == NETPROF__TIME_FLUSH) netprof__flush_plan(g);
    }
    netprof__regions_unlock();
    return g->first ? g->first->set_time(which, seconds, error) : failed;
}

NETPROF_API netprof_err netprof_set_flush(double seconds, netprof_error *error)
{
    return netprof__set_time(NETPROF__TIME_FLUSH, seconds, error);
}

#ifndef NETPROF_NO_SOURCES
NETPROF_API netprof_err netprof_set_interval(double seconds, netprof_error *error)
{
    return netprof__set_time(NETPROF__TIME_INTERVAL, seconds, error);
}
#endif

#ifndef NETPROF_NO_SERIES
NETPROF_API netprof_err netprof_set_series(double seconds, netprof_error *error)
{
    return netprof__set_time(NETPROF__TIME_SERIES, seconds, error);
}
#endif

/* Waits for a file that is being written. */
NETPROF_API netprof_err netprof_set_output(const char *pattern, netprof_error *error)
{
    struct netprof__regions_state *g = &netprof__regions_state;
    int ready;
    if (!pattern || !*pattern || strlen(pattern) >= sizeof g->output)
        return netprof__fail(error, NETPROF_ERR_ARG, 0, NULL, "expected a pattern of at most 1023 bytes");
    if (!netprof__lock(&g->lock)) return netprof__in_handler(error);
    ready = g->ready;
    g->output_given = 1;
    if (!ready) netprof__copy_text(g->output, sizeof g->output, pattern);
    netprof__regions_unlock();
    if (g->first) return g->first->set_output(pattern, error);
    if (!ready) return NETPROF_OK;
    if (netprof__flushing || !netprof__lock(&g->flush_lock)) return netprof__in_handler(error);
    netprof__copy_text(g->output, sizeof g->output, pattern);
    netprof__check_output(g);
    netprof__unlock(&g->flush_lock);
    return NETPROF_OK;
}

NETPROF_API void netprof_set_rank(int rank, int size)
{
    struct netprof__regions_state *g = &netprof__regions_state;
    if (!netprof__regions_lock()) return;
    NETPROF__SET(g->rank, rank);
    NETPROF__SET(g->size, size);
    netprof__regions_unlock();
    if (g->first) g->first->set_rank(rank, size);
}

/* >>12.10 collecting the statistics */

/* Copies a node consistently while its owner may continue. */
static void netprof__node_read(netprof__node *n, netprof__tally *y, uint64_t *histogram, uint64_t *sums,
                               size_t counters)
{
    uint32_t sequence, *carries;
    size_t i;
    do {
        while ((sequence = NETPROF__GET(n->sequence)) & 1)
            sched_yield();
        for (i = 0; i < sizeof *y / sizeof(uint64_t); i++)
            (&y->calls)[i] = NETPROF__GET((&n->tally.calls)[i]);
        for (i = 0; i < NETPROF_HISTOGRAM_BUCKETS; i++)
            histogram[i] = NETPROF__GET(n->histogram[i]);
        carries = NETPROF__GET(n->carries);
        for (i = 0; carries && i < NETPROF_HISTOGRAM_BUCKETS; i++)
            histogram[i] += (uint64_t)NETPROF__GET(carries[i]) << 32;
        for (i = 0; sums && i < counters; i++)
            sums[i] = NETPROF__GET(n->sums[i]);
    } while (NETPROF__PEEK(n->sequence) != sequence);
}

static uint64_t netprof__scale_ns(uint64_t ns, double factor)
{
    return (uint64_t)((double)ns * factor + 0.5);
}

/* The correction of the first estimate of the clock: the whole run measures it far better than the start did. */
static double netprof__clock_factor(struct netprof__regions_state *g)
{
    uint64_t ticks;
    int64_t ns;
    double fixed;
    __atomic_load(&g->factor, &fixed, __ATOMIC_RELAXED);
    if (fixed > 0) return fixed;
    if (!g->use_tsc) return 1;
    ns = netprof__clock_and_ticks(&ticks) - g->begin_ns;
    if (ns < 10000000 || ticks <= g->begin_ticks) return 1;
    return (double)ns * NETPROF__TICK_UNIT / ((double)(ticks - g->begin_ticks) * (double)g->ns_per_tick_24);
}

/* Fills in a stat from the counts of its node; all times are multiplied by the clock's factor. */
static void netprof__stat_fill(netprof_stat *s, const netprof__thread *t, const netprof__node *n,
                               const netprof__tally *y, double factor)
{
    uint64_t total = y->inclusive + y->recursive;
    double mean_off = y->measured ? (double)(int64_t)(total - y->measured * y->pivot) / (double)y->measured : 0;
    double squares, variance;
    memcpy(&squares, &y->squares, sizeof squares);
    variance = y->measured ? squares / (double)y->measured - mean_off * mean_off : 0;
    s->thread = t->number;
    s->node = n->index;
    s->parent = n->parent == &t->root ? UINT32_MAX : n->parent->index;
    s->calls = y->calls;
    s->measured = y->measured;
    s->open = y->calls > y->measured + y->skipped ? y->calls - y->measured - y->skipped : 0;
    s->spans = y->spans;
    s->total_ns = netprof__scale_ns(total, factor);
    s->inclusive_ns = netprof__scale_ns(y->inclusive + y->adopted, factor);
    s->exclusive_ns = netprof__scale_ns(total + y->adopted - y->within, factor);
    s->min_ns = y->measured ? netprof__scale_ns(y->min, factor) : 0;
    s->max_ns = netprof__scale_ns(y->max, factor);
    s->variance_ns2 = variance > 0 ? variance * factor * factor : 0;
    s->bytes = y->bytes;
    s->aborted = y->aborted;
    s->too_short = y->too_short;
    s->counted = y->counted;
    s->concurrency = y->concurrency;
    s->waits = y->waits;
    s->waited_ns = netprof__scale_ns(y->waited, factor);
}

/* Copies the values of a node, those that it had when the collection began. */
static void netprof__collect_values(netprof_regions *r, size_t stat, netprof__node *n, char **names, double factor)
{
    netprof__value_node *x, copy;
    uint32_t sequence;
    size_t i;
    for (x = n->collected_values; x; x = x->next) {
        netprof_value_stat *v = &r->values[r->value_count];
        uint64_t *counts = (uint64_t *)(uintptr_t)v->counts, *times = (uint64_t *)(uintptr_t)v->times_ns;
        do {
            while ((sequence = NETPROF__GET(n->sequence)) & 1)
                sched_yield();
            for (i = 0; i < NETPROF__VALUE_WORDS; i++)
                (&copy.current)[i] = NETPROF__GET((&x->current)[i]);
        } while (NETPROF__PEEK(n->sequence) != sequence);
        if (!copy.count) continue; /* none since the last reset */
        v->stat = stat;
        v->name = names[x->name];
        v->count = copy.count;
        v->sum = (int64_t)copy.sum;
        v->least = (int64_t)copy.least;
        v->most = (int64_t)copy.most;
        v->at_longest = (int64_t)copy.at_longest;
        v->longest_ns = netprof__scale_ns(copy.longest, factor);
        memcpy(counts, copy.counts, sizeof copy.counts);
        for (i = 0; i < NETPROF_VALUE_BUCKETS; i++)
            times[i] = netprof__scale_ns(copy.times[i], factor);
        r->value_count++;
    }
}

static uint64_t netprof__losses(const netprof__thread *t)
{
    uint64_t sum = 0;
    size_t i;
    for (i = 0; i < NETPROF__LOSSES; i++)
        sum += NETPROF__GET(t->dropped[i]);
    return sum;
}

/* Fills in the stats of one thread, from `at` on. Nodes created meanwhile wait for the next time. A thread that has not
   yet noticed a reset contributes nothing. */
static void netprof__collect_thread(netprof_regions *r, size_t at, netprof__thread *t, char **names, double factor)
{
    int current = NETPROF__GET(t->resets) == NETPROF__GET(netprof__regions_state.resets);
    netprof__node *n;
    for (n = t->collected; n; n = n->made_before) {
        netprof_stat *s = &r->stats[at + n->index];
        netprof__tally y;
        memset(&y, 0, sizeof y);
        if (current)
            netprof__node_read(n, &y, (uint64_t *)(uintptr_t)s->histogram, (uint64_t *)(uintptr_t)s->counter_sums,
                               n->sums ? NETPROF__COUNTER_COUNT : 0);
        netprof__stat_fill(s, t, n, &y, factor);
        s->region = names[n->region];
        if (current) netprof__collect_values(r, (size_t)(s - r->stats), n, names, factor);
    }
    if (!current) return;
    r->mismatched += NETPROF__GET(t->mismatched);
    r->dropped += netprof__losses(t);
    r->readings += NETPROF__GET(t->readings);
    r->reading_ns += netprof__scale_ns(netprof__ticks_to_ns(NETPROF__GET(t->reading)), factor);
}

/* Frames are read as section 12.13 explains. */
typedef struct netprof__open_frame {
    const netprof__node *node;
    uint64_t begin, inside, apart;
    uint32_t marks;
    netprof__tally tally;
} netprof__open_frame;

/* Reads the counts of a node at one moment; returns 0 if its owner is changing it. */
static int netprof__tally_peek(const netprof__node *n, netprof__tally *y, uint32_t *sequence)
{
    size_t i;
    if ((*sequence = NETPROF__GET(n->sequence)) & 1) return 0;
    for (i = 0; i < sizeof *y / sizeof(uint64_t); i++)
        (&y->calls)[i] = NETPROF__GET((&n->tally.calls)[i]);
    return NETPROF__PEEK(n->sequence) == *sequence;
}

/* Reads one frame that is certainly open. The second look finds any change since the first: all loads acquire, so
   seeing any part of a change also means seeing the `ready` of that call, or its end. */
static int netprof__frame_peek(const netprof__thread *t, uint32_t depth, netprof__open_frame *o)
{
    const netprof__frame *f = &t->frames[depth];
    uint32_t sequence;
    if (NETPROF__GET(t->depth) < depth || (o->node = NETPROF__GET(f->node)) == NULL) return 0;
    if (!netprof__tally_peek(o->node, &o->tally, &sequence)) return 0;
    o->begin = NETPROF__GET(f->begin);
    o->inside = NETPROF__GET(f->inside);
    o->marks = NETPROF__GET(f->marks);
    o->apart = o->marks & NETPROF__APART ? NETPROF__GET(t->apart[depth]) : 0;
    if (!NETPROF__GET(t->ready)) return 0;
    return NETPROF__GET(t->depth) >= depth && NETPROF__GET(f->node) == o->node && NETPROF__GET(f->begin) == o->begin &&
           NETPROF__GET(f->marks) == o->marks && NETPROF__GET(o->node->tally.calls) == o->tally.calls &&
           NETPROF__GET(o->node->sequence) == sequence;
}

/* Returns how many frames of a thread are open, from the outermost on, as far as can be told. *all: there are no more.
   A thread that was preempted inside a call is given time to return. */
static uint32_t netprof__frames_peek(const netprof__thread *t, netprof__open_frame *open, int *all)
{
    struct timespec nap = {0, 50000};
    uint32_t depth = 0;
    int tries = 0;
    while (depth < NETPROF_MAX_DEPTH && NETPROF__GET(t->depth) > depth && tries < 200) {
        if (netprof__frame_peek(t, depth + 1, &open[depth]))
            depth++;
        else if (++tries > 150 && !NETPROF__GET(t->ready))
            nanosleep(&nap, NULL);
    }
    *all = NETPROF__GET(t->ready) && NETPROF__GET(t->depth) == depth;
    return depth;
}

/* A call that is still open counts as if it ended now. */
static void netprof__stat_add_open(netprof_stat *s, uint64_t ns, uint64_t own, int nested)
{
    double m = (double)s->measured, off = m > 0 ? (double)ns - (double)s->total_ns / m : 0;
    s->variance_ns2 = (s->variance_ns2 + off * off / (m + 1)) * m / (m + 1);
    s->min_ns = !s->measured || ns < s->min_ns ? ns : s->min_ns;
    s->max_ns = ns > s->max_ns ? ns : s->max_ns;
    s->measured++;
    s->total_ns += ns;
    s->inclusive_ns += nested ? 0 : ns;
    s->exclusive_ns += own;
    ((uint64_t *)(uintptr_t)s->histogram)[netprof__bucket(ns)]++;
}

/* Adds the open calls of a thread, from the innermost outwards. Of a node whose calls began or ended meanwhile, none. */
static void netprof__collect_open(netprof_regions *r, size_t at, const netprof__thread *t, double factor,
                                  netprof__open_frame *open)
{
    uint64_t inner = 0, now;
    int all;
    uint32_t count = netprof__frames_peek(t, open, &all), i, k;
    now = netprof__ticks();
    for (k = count; k-- > 0;) {
        const netprof__open_frame *o = &open[k];
        uint64_t ns = netprof__ticks_to_ns(now - o->begin - o->apart), parts = o->inside + inner, frames = 0, own;
        netprof_stat *s = &r->stats[at + o->node->index];
        inner = o->marks & (NETPROF__SKIPPED | NETPROF__AGAIN) ? parts : ns;
        if (o->marks & (NETPROF__SKIPPED | NETPROF__AGAIN) || o->node->index > t->collected->index) continue;
        own = netprof__scale_ns(ns > parts ? ns - parts : 0, factor);
        if (o->marks & NETPROF__ADOPTED) {
            s->inclusive_ns += netprof__scale_ns(ns, factor);
            s->exclusive_ns += own;
            continue;
        }
        for (i = 0; i < count; i++)
            frames += open[i].node == o->node && !(open[i].marks & (NETPROF__SKIPPED | NETPROF__ADOPTED));
        if (s->open != frames) continue;
        netprof__stat_add_open(s, netprof__scale_ns(ns, factor), own, o->marks & NETPROF__NESTED);
        if (o->marks & NETPROF__COUNTED) s->too_short++;
    }
}

/* Copies the names into the block; names[id] points to them. Returns the place after them. */
static char *netprof__collect_names(const struct netprof__regions_state *g, char *to, char **names)
{
    uint32_t i;
    for (i = 1; i <= g->region_count; i++) {
        size_t n = strlen(g->regions[i]->name) + 1;
        memcpy(to, g->regions[i]->name, n);
        names[i] = to;
        to += n;
    }
    return to;
}

static const char *netprof__region_name(uint32_t region)
{
    struct netprof__regions_state *g = &netprof__regions_state;
    return !region ? "nothing" : region <= NETPROF__GET(g->region_count) ? g->regions[region]->name : "no region";
}

#define NETPROF__WARNING_SIZE 400

/* A region's name, with the place in the code if that is known: "halo (solver.c:120)". */
static void netprof__region_at(char *to, size_t size, uint32_t region, const char *before, const uint64_t *site)
{
    uint64_t text[NETPROF__SITE_WORDS] = {0};
    size_t i;
    for (i = 0; site && i < NETPROF__SITE_WORDS; i++)
        text[i] = NETPROF__GET(site[i]);
    snprintf(to, size, text[0] ? "%.80s (%s%.60s)" : "%.80s", netprof__region_name(region), before, (const char *)text);
}

/* The first mismatch of a thread. */
static void netprof__mismatch_text(const struct netprof__regions_state *g, const netprof__thread *t, char *to)
{
    uint64_t both = NETPROF__GET(t->mismatch);
    uint32_t inner = (uint32_t)both;
    char ended[160], open[160];
    netprof__region_at(ended, sizeof ended, (uint32_t)(both >> 32), "", t->mismatch_site);
    netprof__region_at(open, sizeof open, inner, "begun at ",
                       inner && inner <= NETPROF__GET(g->region_count) ? g->regions[inner]->site : NULL);
    snprintf(to, NETPROF__WARNING_SIZE, "end of %s while %s is the innermost region", ended, open);
}

/* The warning: a fault in the settings, else counters that failed, else the first mismatch. */
static void netprof__collect_warning(const struct netprof__regions_state *g, char *to)
{
    const netprof__thread *t;
    uint64_t bounded = NETPROF__GET(g->bounded);
    netprof__copy_text(to, NETPROF__WARNING_SIZE, g->warning);
    if (NETPROF__COUNTERS && !*to && bounded)
        snprintf(to, NETPROF__WARNING_SIZE,
                 "a counter could not be read or started again %" PRIu64 " times: counter sums are lower bounds",
                 bounded);
    for (t = g->threads; t && !*to; t = t->next)
        if (NETPROF__GET(t->mismatched)) netprof__mismatch_text(g, t, to);
}

static void netprof__collect_head(netprof_regions *r, const struct netprof__regions_state *g)
{
#ifndef NETPROF_NO_SOURCES
    if (g->counter_count) {
        netprof_schema_retain(g->schema);
        r->schema = g->schema;
        memcpy((uint32_t *)(uintptr_t)r->counters, g->counters, g->counter_count * sizeof *g->counters);
    }
#endif
    r->mode = (netprof_mode)NETPROF__PEEK(netprof__mode_now);
    r->wall_ns = g->since_wall_ns;
    r->elapsed_ns = netprof__clock(CLOCK_MONOTONIC) - g->since_ns;
    r->threads = g->threads_begun;
    r->dropped = NETPROF__GET(g->dropped);
    r->overhead_ps = g->overhead_ps;
    r->sweep_ns = NETPROF__GET(g->sweep_ns);
    r->readings = NETPROF__GET(g->sampler_readings) - g->sampler_base[0];
    r->reading_ns = NETPROF__GET(g->sampler_ns) - g->sampler_base[1];
    r->interval_ns = g->started == NETPROF_MODE_SAMPLER ? g->interval_ns : 0;
    r->clock = g->use_tsc ? "tsc" : "clock_gettime";
}

/* Call with the lock held. with_open: open calls count as if they ended now. */
static netprof_err netprof__collect(struct netprof__regions_state *g, int with_open, netprof_regions *out,
                                    netprof_error *error)
{
    netprof_alloc a = netprof__alloc_or_default(NULL);
    char *to = NULL, **names = (char **)netprof__zalloc(&a, (g->region_count + 1) * sizeof *names);
    netprof__open_frame *open = (netprof__open_frame *)netprof__zalloc(&a, NETPROF_MAX_DEPTH * sizeof *open);
    size_t stats = 0, text = NETPROF__WARNING_SIZE, at = 0, values = 0;
    double factor = netprof__clock_factor(g);
    netprof_err failed;
    netprof__thread *t;
    netprof__node *n;
    netprof__value_node *x;
    uint32_t i;
    for (i = 1; i <= g->region_count; i++)
        text += strlen(g->regions[i]->name) + 1;
    for (t = g->threads; t; t = t->next) {
        t->collected = NETPROF__GET(t->made);
        stats += t->collected ? t->collected->index + 1 : 0;
        for (n = t->collected; n; n = n->made_before)
            for (x = n->collected_values = NETPROF__GET(n->values); x; x = x->next)
                values++;
    }
    failed = names && open ? netprof__regions_room(out, stats, NETPROF__COUNTER_COUNT, text, &to, error)
                           : netprof__no_memory(error);
    if (!failed && netprof__values_room(out, values, 0, NULL, error)) {
        netprof_regions_free(out);
        failed = NETPROF_ERR_NOMEM;
    }
    if (!failed) {
        char *warning = netprof__collect_names(g, to, names);
        netprof__collect_head(out, g);
        netprof__collect_warning(g, warning);
        out->warning = warning;
        for (t = g->threads; t; t = t->next) {
            netprof__collect_thread(out, at, t, names, factor);
            if (with_open && t->collected && NETPROF__GET(t->resets) == NETPROF__GET(g->resets))
                netprof__collect_open(out, at, t, factor, open);
            at += t->collected ? t->collected->index + 1 : 0;
        }
    }
    netprof__release(&a, open);
    netprof__release(&a, names);
    return failed;
}

NETPROF_API netprof_err netprof_regions_take(netprof_regions *out, netprof_error *error)
{
    struct netprof__regions_state *g = &netprof__regions_state;
    netprof_err failed = NETPROF_OK;
    if (!out) return netprof__fail(error, NETPROF_ERR_ARG, 0, NULL, "nowhere to put the statistics");
    memset(out, 0, sizeof *out);
    if (!netprof__regions_lock()) return netprof__in_handler(error);
    if (!g->first) failed = netprof__collect(g, 0, out, error);
    netprof__regions_unlock();
    return g->first ? g->first->take(out, error) : failed;
}

NETPROF_API void netprof_regions_reset(void)
{
    struct netprof__regions_state *g = &netprof__regions_state;
    if (!netprof__regions_lock()) return;
    if (!g->first) {
        g->since_wall_ns = netprof__clock(CLOCK_REALTIME);
        g->since_ns = netprof__clock(CLOCK_MONOTONIC);
        NETPROF__SET(g->reset_ticks, netprof__ticks());
        NETPROF__SET(g->dropped, 0);
        NETPROF__SET(g->bounded, 0);
        g->sampler_base[0] = NETPROF__GET(g->sampler_readings);
        g->sampler_base[1] = NETPROF__GET(g->sampler_ns);
        NETPROF__SET(g->resets, g->resets + 1);
        netprof__new_epoch(g);
    }
    netprof__regions_unlock();
    if (g->first) g->first->reset();
}

/* >>12.11 writing the file */

/* Returns the first of these variables that is set, and a number if it must be one. */
static const char *netprof__first_set(const char *const *names, size_t count, int numeric)
{
    size_t i;
    for (i = 0; i < count; i++) {
        const char *value = NETPROF_OS_GETENV(names[i]);
        if (value && *value && (!numeric || (strspn(value, "0123456789") == strlen(value) && strlen(value) < 10)))
            return value;
    }
    return NULL;
}

/* The launchers' variables for job, rank, local rank and size. */
static const char *netprof__launcher(const char *what)
{
    static const char *const ranks[] = {
        "NETPROF_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK",          "PMI_RANK",     "MV2_COMM_WORLD_RANK",
        "PALS_RANKID",  "FLUX_TASK_RANK",       "JSM_NAMESPACE_RANK", "SLURM_PROCID", "ALPS_APP_PE"};
    static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "PALS_SIZE",
                                        "SLURM_NTASKS"};
    static const char *const locals[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "MV2_COMM_WORLD_LOCAL_RANK",
                                         "PALS_LOCAL_RANKID", "SLURM_LOCALID"};
    static const char *const jobs[] = {"SLURM_JOB_ID", "PBS_JOBID", "OAR_JOB_ID",
                                       "LSB_JOBID",    "JOB_ID",    "COBALT_JOBID"};
    switch (*what) {
    case 'r': return netprof__first_set(ranks, sizeof ranks / sizeof *ranks, 1);
    case 's': return netprof__first_set(sizes, sizeof sizes / sizeof *sizes, 1);
    case 'l': return netprof__first_set(locals, sizeof locals / sizeof *locals, 1);
    default: return netprof__first_set(jobs, sizeof jobs / sizeof *jobs, 0);
    }
}

/* Appends text from the environment to a file's name; it must not lead to another directory. */
static void netprof__append_safe(char *to, size_t size, const char *text)
{
    size_t at = strlen(to);
    for (; *text && at + 1 < size; text++)
        to[at++] = *text == '/' || (unsigned char)*text < 0x20 ? '_' : *text;
    to[at] = 0;
}

/* The rank that the program set, else the launcher's; "" if unknown. */
static void netprof__rank_text(char *text, size_t size)
{
    const char *rank = netprof__launcher("rank");
    int given = NETPROF__GET(netprof__regions_state.rank);
    if (given >= 0)
        snprintf(text, size, "%d", given);
    else
        netprof__copy_text(text, size, rank ? rank : "");
}

/* What a code of the pattern stands for; "": not known. */
static void netprof__output_code(char code, char *text, size_t size)
{
    const char *job = netprof__launcher("job");
    struct utsname node;
    switch (code) {
    case 'j': netprof__copy_text(text, size, job ? job : ""); break;
    case 'r': netprof__rank_text(text, size); break;
    case 'h': netprof__copy_text(text, size, uname(&node) == 0 ? node.nodename : "unknown"); break;
    case 'p': snprintf(text, size, "%ld", (long)getpid()); break;
    case '%': netprof__copy_text(text, size, "%"); break;
    default: snprintf(text, size, "%%%c", code); break; /* netprof__check_output() warned of it */
    }
}

/* Appends what the pattern says. Of what is not known the separator before it goes, too: "netprof-%j-%p" becomes
   "netprof-4242", not a job 0. */
static void netprof__append_pattern(char *name, size_t size, const char *p)
{
    char text[80];
    for (; *p; p++) {
        size_t at = strlen(name);
        if (*p != '%' || !p[1]) {
            if (at + 1 >= size) return;
            name[at] = *p;
            name[at + 1] = 0;
            continue;
        }
        netprof__output_code(*++p, text, sizeof text);
        if (*text)
            netprof__append_safe(name, size, text);
        else if (at > 1 && strchr("-_.", name[at - 1]) && name[at - 2] != '/')
            name[at - 1] = 0;
        else
            netprof__append_safe(name, size, "0");
    }
}

static int netprof__pattern_has(const char *p, char code)
{
    for (; (p = strchr(p, '%')) != NULL && p[1]; p += 2)
        if (p[1] == code) return 1;
    return 0;
}

/* Where the pattern does not tell processes apart, they would replace each other's files: then a child of fork() adds
   its number, and a rank its rank, before the ending. */
static void netprof__output_apart(char *name, size_t size)
{
    static const char ending[] = ".netprof";
    const struct netprof__regions_state *g = &netprof__regions_state;
    const char *told = netprof__launcher("size");
    size_t n = strlen(name), e = sizeof ending - 1;
    char rank[32], number[24];
    int given = NETPROF__GET(g->size), ranks = given > 0 ? given : told ? atoi(told) : 0;
    netprof__rank_text(rank, sizeof rank);
    if (netprof__pattern_has(g->output, 'p') || netprof__written_in_place(name)) return;
    snprintf(number, sizeof number, "-%ld", (long)getpid());
    if (n < e || strcmp(name + n - e, ending) != 0) e = 0;
    name[n - e] = 0;
    if (!netprof__pattern_has(g->output, 'r') && *rank && (ranks > 1 || strcmp(rank, "0") != 0)) {
        netprof__append_safe(name, size, "-");
        netprof__append_safe(name, size, rank);
    }
    if (g->pid != getpid()) netprof__append_safe(name, size, number);
    netprof__append_safe(name, size, e ? ending : "");
}

/* A directory takes a file of the usual name, which tells processes apart. Returns whether it is one. */
static int netprof__output_in_directory(char *name, size_t size)
{
    struct stat st;
    size_t n = strlen(name);
    if (n && name[n - 1] != '/' && (stat(name, &st) != 0 || !S_ISDIR(st.st_mode))) return 0;
    if (n && name[n - 1] != '/' && n + 1 < size) memcpy(name + n, "/", 2);
    netprof__append_pattern(name, size, NETPROF__OUTPUT_DEFAULT);
    return 1;
}

/* Makes the directory that NETPROF_OUTPUT=DIRECTORY/ names. */
static void netprof__output_mkdir(char *name)
{
    size_t n = strlen(netprof__regions_state.output);
    char *slash = strrchr(name, '/');
    if (!slash || slash == name || !n || netprof__regions_state.output[n - 1] != '/') return;
    *slash = 0;
    mkdir(name, 0777);
    *slash = '/';
}

/* The file's name, from the pattern in NETPROF_OUTPUT. */
static void netprof__output_name(char *name, size_t size)
{
    const struct netprof__regions_state *g = &netprof__regions_state;
    name[0] = 0;
    if (g->output[0] != '/' && g->directory) snprintf(name, size, "%s/", g->directory);
    netprof__append_pattern(name, size, g->output);
    if (!netprof__output_in_directory(name, size)) netprof__output_apart(name, size);
}

static netprof_err netprof__write_fact_if(netprof_writer *w, const char *key, const char *value, netprof_error *error)
{
    return value && *value ? netprof_write_fact(w, key, value, error) : NETPROF_OK;
}

static netprof_err netprof__write_number_if(netprof_writer *w, const char *key, uint64_t value, netprof_error *error)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    return value ? netprof_write_fact(w, key, text, error) : NETPROF_OK;
}

/* What the launcher calls this run, the same in all its ranks and in no other run; "" if it does not say. */
static void netprof__run_text(char *text, size_t size)
{
    static const char *const names[][2] = {{"PALS_APID", "pals"}, {"FLUX_JOB_ID", "flux"}, {"ALPS_APP_ID", "alps"}};
    const char *given = NETPROF_OS_GETENV("NETPROF_RUN"), *space = NETPROF_OS_GETENV("PMIX_NAMESPACE");
    const char *job = NETPROF_OS_GETENV("SLURM_JOB_ID"), *step = NETPROF_OS_GETENV("SLURM_STEP_ID");
    size_t i;
    text[0] = 0;
    if (given && *given) {
        snprintf(text, size, "given %s", given);
    } else if (space && *space && strspn(space, "0123456789") == strlen(space)) {
        /* Open MPI 4: the lower half numbers what one mpirun started, by MPI_Comm_spawn() for example. */
        snprintf(text, size, "pmix %lu", strtoul(space, NULL, 10) >> 16);
    } else if (space && *space) {
        snprintf(text, size, "pmix %.*s", (int)strcspn(space, "@"), space);
    } else if (job && step) {
        snprintf(text, size, "slurm %s.%s", job, step);
    }
    for (i = 0; i < sizeof names / sizeof *names && !*text; i++)
        if ((given = NETPROF_OS_GETENV(names[i][0])) != NULL && *given)
            snprintf(text, size, "%s %s", names[i][1], given);
    if (!*text && netprof__regions_state.hydra[0]) snprintf(text, size, "hydra %s", netprof__regions_state.hydra);
}

/* Facts about where this process comes from: runs, and children, are told apart by them. */
static netprof_err netprof__write_descent(netprof_writer *w, netprof_error *error)
{
    struct netprof__regions_state *g = &netprof__regions_state;
    char run[256];
    netprof__run_text(run, sizeof run);
    if (!g->start) g->start = netprof__start_of(getpid());
    if (netprof__write_fact_if(w, "run", run, error) || netprof__write_number_if(w, "process_start", g->start, error) ||
        netprof__write_number_if(w, "parent_pid", (uint64_t)g->parent, error) ||
        netprof__write_number_if(w, "parent_start", g->parent_start, error) ||
        netprof__write_number_if(w, "forked", g->pid != getpid(), error))
        return error ? error->code : NETPROF_ERR_IO;
    return NETPROF_OK;
}

/* Facts that identify the process. */
static netprof_err netprof__write_origin(netprof_writer *w, netprof_error *error)
{
    char rank[32], size[32], pid[32], command[256];
    int given = NETPROF__GET(netprof__regions_state.size);
    struct utsname node;
    netprof__rank_text(rank, sizeof rank);
    snprintf(size, sizeof size, "%d", given);
    snprintf(pid, sizeof pid, "%ld", (long)getpid());
    if (netprof__read_line(AT_FDCWD, "/proc/self/comm", command, sizeof command) < 0) command[0] = 0;
    if (netprof_write_fact(w, "netprof", NETPROF_VERSION_STRING, error) ||
        netprof_write_fact(w, "host", uname(&node) == 0 ? node.nodename : "unknown", error) ||
        netprof_write_fact(w, "pid", pid, error) || netprof__write_fact_if(w, "command", command, error) ||
        netprof__write_fact_if(w, "job", netprof__launcher("job"), error) ||
        netprof__write_fact_if(w, "rank", rank, error) ||
        netprof__write_fact_if(w, "local_rank", netprof__launcher("local"), error) ||
        netprof__write_fact_if(w, "rank_count", given > 0 ? size : netprof__launcher("size"), error) ||
        netprof__write_descent(w, error))
        return error ? error->code : NETPROF_ERR_IO;
#ifdef NETPROF__MORE_ORIGIN /* of libnetprof-mpi.so */
    return (netprof_err)NETPROF__MORE_ORIGIN(w, error);
#else
    return NETPROF_OK;
#endif
}

#ifndef NETPROF_NO_SOURCES
/* Lists a device with its facts, and those of its counters that the regions have, from `at` on. Returns where the next
   ones begin. */
static size_t netprof__trim_device(netprof_list *list, const netprof_regions *r, const netprof_device *d, size_t at)
{
    uint32_t i;
    netprof_list_device(list, d->name, d->identity, d->flags);
    for (i = 0; i < d->fact_count; i++)
        netprof_list_fact(list, d->facts[i].key, d->facts[i].value);
    for (; at < r->counter_count && r->counters[at] < d->first + d->count; at++)
        netprof_list_counter(list, &r->schema->counters[r->counters[at]]);
    return at;
}

/* Reduces the schema to the counters of the regions and their devices: otherwise each of thousands of files would hold
   the whole node's. If out of memory, the schema stays whole. */
static void netprof__regions_trim(netprof_regions *r)
{
    const netprof_schema *whole = r->schema, *part = NULL;
    netprof_list *list = whole ? netprof_build_begin(NULL) : NULL;
    const char *source = NULL;
    size_t i, at = 0;
    if (!list) return;
    for (i = 0; i < whole->fact_count; i++)
        netprof_build_fact(list, whole->facts[i].key, whole->facts[i].value);
    for (i = 0; i < whole->device_count && at < r->counter_count; i++) {
        const netprof_device *d = &whole->devices[i];
        if (r->counters[at] >= d->first + d->count) continue;
        if (!source || strcmp(source, d->source) != 0) netprof_build_source(list, source = d->source);
        at = netprof__trim_device(list, r, d, at);
    }
    if (netprof_build_end(list, &part, NULL)) return;
    if (part->counter_count != r->counter_count) {
        netprof_schema_release(part);
        return;
    }
    for (i = 0; i < r->counter_count; i++)
        ((uint32_t *)(uintptr_t)r->counters)[i] = (uint32_t)i;
    netprof_schema_release(whole);
    r->schema = part;
}
#endif

#ifndef NETPROF_NO_SERIES
static void netprof__series_end(struct netprof__regions_state *g);
#endif

/* Facts: why begins could not be counted. */
static netprof_err netprof__write_losses(netprof_writer *w, struct netprof__regions_state *g, netprof_error *error)
{
    static const char *const keys[NETPROF__LOSSES] = {"dropped_in_handler", "dropped_too_deep", "dropped_otherwise"};
    uint64_t sums[NETPROF__LOSSES];
    netprof__thread *t;
    netprof_err failed = NETPROF_OK;
    size_t i;
    memset(sums, 0, sizeof sums);
    sums[NETPROF__LOST_OTHERWISE] = NETPROF__GET(g->dropped);
    for (t = NETPROF__GET(g->threads); t; t = t->next)
        for (i = 0; i < NETPROF__LOSSES; i++)
            sums[i] += NETPROF__GET(t->dropped[i]);
    for (i = 0; i < NETPROF__LOSSES && !failed; i++)
        failed = netprof__write_number_if(w, keys[i], sums[i], error);
    return failed;
}

/* A file of this process that was written under another name, before its rank was known for example, goes. */
static void netprof__keep_one(struct netprof__regions_state *g, const char *name)
{
    netprof_alloc a = netprof__alloc_or_default(NULL);
    struct stat st;
    if (g->written && strcmp(g->written, name) != 0 && stat(g->written, &st) == 0 && st.st_dev == g->written_device &&
        st.st_ino == g->written_inode)
        unlink(g->written);
    netprof__release_text(&g->written);
    if (netprof__written_in_place(name) || stat(name, &st) != 0) return;
    g->written = netprof__strdup(&a, name);
    g->written_device = st.st_dev;
    g->written_inode = st.st_ino;
}

/* Where the regions began may be out of reach now (another user, another root directory): then here. */
static netprof_err netprof__output_open(netprof_writer **w, char *name, size_t size, netprof_error *error)
{
    struct netprof__regions_state *g = &netprof__regions_state;
    size_t n;
    netprof_error second;
    netprof__output_name(name, size);
    netprof__output_mkdir(name);
    if (netprof_writer_open(w, name, 0, error) == NETPROF_OK) return NETPROF_OK;
    if (!g->directory || g->output[0] == '/' || error->code != NETPROF_ERR_IO) return error->code;
    n = strlen(g->directory) + 1;
    if (netprof_writer_open(w, name + n, 0, &second)) return error->code;
    memmove(name, name + n, strlen(name + n) + 1);
    return NETPROF_OK;
}

static netprof_err netprof__flush_locked(netprof_error *error)
{
    struct netprof__regions_state *g = &netprof__regions_state;
    netprof_regions r;
    netprof_writer *w = NULL;
    netprof_error own;
    const char *end = NETPROF__GET(g->end);
    char name[NETPROF__NAME_SIZE];
    netprof_err failed, ended;
#ifndef NETPROF_NO_SERIES
    if (NETPROF__GET(netprof__regions_state.ended)) netprof__series_end(&netprof__regions_state);
#endif
#ifdef NETPROF_NO_THREADS
    if (netprof__regions_state.pid != getpid())
        return netprof__fail(error, NETPROF_ERR_ARG, 0, NULL,
                             "a child of fork() has its parent's statistics (NETPROF_NO_THREADS): no file");
#endif
    if (!error) error = &own;
    if (!netprof__regions_lock()) return netprof__in_handler(error);
    memset(&r, 0, sizeof r);
    failed = netprof__collect(g, 1, &r, error);
    netprof__regions_unlock();
#ifndef NETPROF_NO_SERIES
    netprof__fix_factor(g, 0);
#endif
    if (failed) return failed;
#ifndef NETPROF_NO_SOURCES
    netprof__regions_trim(&r);
#endif
    failed = netprof__output_open(&w, name, sizeof name, error);
    if (!failed) failed = netprof__write_origin(w, error);
    if (!failed) failed = netprof_write_fact(w, "ended", end ? end : "no", error);
    if (!failed) failed = netprof__write_losses(w, g, error);
    if (!failed) failed = netprof_write_regions(w, &r, error);
    ended = netprof_writer_close(w, !failed, failed ? NULL : error);
    if (!failed && !ended) netprof__keep_one(g, name);
    netprof_regions_free(&r);
    return failed ? failed : ended;
}

/* Says once in the life of a process that its file could not be written. */
static void netprof__tell_unwritten(const netprof_error *error, int again)
{
    char line[NETPROF__NAME_SIZE + 400], rank[32];
    size_t length;
    const char *reason = error->sys_errno ? strerror(error->sys_errno)
                         : *error->text   ? error->text
                                          : netprof_strerror(error->code);
    if (__atomic_exchange_n(&netprof__regions_state.told, 1, __ATOMIC_RELAXED)) return;
    netprof__rank_text(rank, sizeof rank);
    snprintf(line, sizeof line,
             "netprof: the regions of %s%s%sprocess %ld could not be written: ", *rank ? "rank " : "", rank,
             *rank ? ", " : "", (long)getpid());
    length = strlen(line);
    netprof__output_name(line + length, NETPROF__NAME_SIZE);
    length += strlen(line + length);
    snprintf(line + length, sizeof line - 1 - length, ": %s%s", reason, again ? " (this is tried again)" : "");
    netprof__say(line);
}

/* One flush at a time, since there is one file. The background thread stops flushing once the program exits: it could
   leave an unfinished file. */
static netprof_err netprof__flush(int background, netprof_error *error)
{
    struct netprof__regions_state *g = &netprof__regions_state;
    netprof_err failed = NETPROF_OK;
    if (netprof__holds_lock || netprof__flushing) return netprof__in_handler(error);
    netprof__flushing = 1;
    netprof__lock(&g->flush_lock);
    netprof__holds_lock = 0; /* a region in a signal handler has nothing to do with the flush */
    if (!background || !NETPROF__GET(g->ended)) failed = netprof__flush_locked(error);
    netprof__unlock(&g->flush_lock);
    netprof__flushing = 0;
    return failed;
}

NETPROF_API netprof_err netprof_flush(netprof_error *error)
{
    const netprof__calls *first;
    if (!netprof__regions_lock()) return netprof__in_handler(error);
    first = netprof__regions_state.first;
    netprof__regions_unlock();
    return first ? first->flush(error) : netprof__flush(0, error);
}

/* >>12.12 one set of regions in a process

   A process may contain several copies of this implementation (NETPROF_STATIC, hidden symbols, separately loaded
   libraries). The first one maps a page under a name that the others find in /proc/self/maps; they forward their calls
   to it. Without memfd_create(2) or /proc each copy has regions and a file of its own. */

typedef struct netprof__meeting {
    char magic[16];
    int64_t stamp_ns; /* when the page was ready: the earliest wins; 0: not ready yet */
    const netprof__calls *calls;
} netprof__meeting;

static const char netprof__meeting_name[] = "netprof-regions-2";

/* Maps the page of this copy; NULL if that is not possible. */
static netprof__meeting *netprof__meeting_make(const netprof__calls *calls)
{
#if defined(__linux__) && defined(SYS_memfd_create)
    int fd = (int)syscall(SYS_memfd_create, netprof__meeting_name, 1u /* MFD_CLOEXEC */), failed;
    void *page = MAP_FAILED;
    netprof__quiet quiet;
    if (fd < 0) return NULL;
    netprof__quiet_begin(&quiet);
    failed = ftruncate(fd, sizeof(netprof__meeting)) == 0 ? 0 : errno;
    netprof__quiet_end(&quiet, failed);
    if (!failed) page = mmap(NULL, sizeof(netprof__meeting), PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    close(fd);
    if (page != MAP_FAILED) {
        netprof__meeting *m = (netprof__meeting *)page;
        memcpy(m->magic, netprof__meeting_name, sizeof m->magic);
        m->calls = calls;
        NETPROF__SET(m->stamp_ns, netprof__clock(CLOCK_MONOTONIC));
        return m;
    }
#endif
    (void)calls;
    return NULL;
}

/* The earlier of `best` and the page in a line of maps, if there is one. */
static netprof__meeting *netprof__meeting_of(const char *line, netprof__meeting *best)
{
    const char *name = strstr(line, " /memfd:");
    size_t n = sizeof netprof__meeting_name - 1;
    netprof__meeting *m;
    int tries;
    if (!name || strncmp(name + 8, netprof__meeting_name, n) != 0 || strcmp(name + 8 + n, " (deleted)\n") != 0)
        return best;
    m = (netprof__meeting *)(uintptr_t)strtoull(line, NULL, 16);
    if (m == best) return best;
    for (tries = 0; !NETPROF__GET(m->stamp_ns) && tries < 1000; tries++)
        sched_yield();
    if (!NETPROF__GET(m->stamp_ns) || memcmp(m->magic, netprof__meeting_name, sizeof m->magic) != 0) return best;
    return m->stamp_ns < best->stamp_ns || (m->stamp_ns == best->stamp_ns && m < best) ? m : best;
}

/* Finds the copy that has the regions; NULL: this one. */
static const netprof__calls *netprof__first_copy(void)
{
    static const netprof__calls calls = {
        NETPROF_VERSION_STRING, netprof_region,        netprof_begin,        netprof_end,           netprof_span_begin,
        netprof_span_end,       netprof_bytes,         netprof_region_every, netprof_set_mode,      netprof_set_rank,
        netprof_flush,          netprof_regions_reset, netprof_regions_take, netprof_span_begin_at, netprof_here,
        netprof_span_place,     netprof_adopt,         netprof_adopt_end,    netprof_value,         netprof_set_output,
        netprof__set_time};
    netprof__meeting *mine = netprof__meeting_make(&calls), *found = mine;
    char line[512];
    FILE *maps = mine ? fopen("/proc/self/maps", "re") : NULL;
    if (!maps) return NULL;
    while (fgets(line, sizeof line, maps))
        found = netprof__meeting_of(line, found);
    fclose(maps);
    if (found == mine) return NULL;
    return found->calls; /* our page stays mapped: another thread may be reading it */
}

#ifndef NETPROF_NO_SERIES
/* >>12.13 regions over time

   The process samples itself. The alternatives are worse: a recorder that reads mapped memory would need the nodes in
   shared memory, which a child of fork() continues to write to, or a second copy of each figure on the hot path, and
   would have to trust what another process wrote; sampling at the end of a region would report nothing while one is
   open, when it matters most. A sleeping thread costs the hot path nothing, and what it wrote survives a kill.

   Nodes hold the calls that ended, frames the open ones. A frame was open with its begin if it reads the same twice,
   while its thread was outside our functions (`ready`) and its node neither began nor ended a call in between. If that
   never happens, because regions begin and end all the time, a call that is not known to be open is left out: it is as
   short as the time between two looks. Values are those of a moment before the look, so that they never decrease; if
   parts were read at slightly different moments, or the clock is known better than before, the larger value is kept. */

#define NETPROF__SERIES_ROWS 1024 /* paths; more are left out, and a fact says so */

/* Returns PARENT/NAME with the name escaped. */
static char *netprof__series_path(const char *parent, const char *name)
{
    netprof_alloc a = netprof__alloc_or_default(NULL);
    size_t n = parent ? strlen(parent) : 0;
    char *path = (char *)netprof__resize(&a, NULL, n + 2 * strlen(name) + 2), *to = path;
    if (!path) return NULL;
    if (parent) {
        memcpy(to, parent, n);
        to += n;
        *to++ = '/';
    }
    for (; *name; name++) {
        if (*name == '/' || *name == '\\') *to++ = '\\';
        *to++ = *name;
    }
    *to = 0;
    return path;
}

/* Returns the row of a node, created if needed. NULL: there are too many, or out of memory. */
static netprof__series_row *netprof__series_row_of(netprof__series *s, netprof__node *n)
{
    const struct netprof__regions_state *g = &netprof__regions_state;
    netprof_alloc a = netprof__alloc_or_default(NULL);
    netprof__series_row *row;
    uint32_t parent = 0;
    size_t i;
    if (n->row > NETPROF__SERIES_ROWS) return NULL;
    if (n->row) return &s->rows[n->row - 1];
    if (n->parent->parent) { /* otherwise the parent is the root */
        if ((row = netprof__series_row_of(s, n->parent)) == NULL) return NULL;
        parent = (uint32_t)(row - s->rows) + 1;
    }
    for (i = 0; i < s->count; i++)
        if (s->rows[i].parent == parent && s->rows[i].region == n->region) {
            n->row = (uint32_t)i + 1;
            return &s->rows[i];
        }
    if (s->count == NETPROF__SERIES_ROWS) {
        if (!s->left_out) s->left_out = 1;
        n->row = NETPROF__SERIES_ROWS + 1; /* left out for good: not searched at each sample */
        return NULL;
    }
    if (!netprof__grow(&a, &s->rows, &s->capacity, s->count + 1, sizeof *s->rows)) return NULL;
    row = &s->rows[s->count];
    memset(row, 0, sizeof *row);
    row->parent = parent;
    row->region = n->region;
    row->path = netprof__series_path(parent ? s->rows[parent - 1].path : NULL, g->regions[n->region]->name);
    if (!row->path) return NULL;
    n->row = (uint32_t)++s->count;
    return row;
}

static void netprof__series_add(netprof__series_row *row, uint64_t time, uint64_t own)
{
    row->now[NETPROF__SERIES_TIME] += time;
    row->now[NETPROF__SERIES_OWN_TIME] += own;
}

/* Adds the times of open calls up to `now`, from the innermost outwards: time inside belongs to the inner call. If
   there may be another call inside that could not be read, the time since then belongs to an unknown region; the next
   sample has it. */
static void netprof__series_open(netprof__series *s, const netprof__open_frame *open, uint32_t count, int all,
                                 uint64_t now, double factor)
{
    uint64_t inner = 0;
    uint32_t innermost = count;
    while (count-- > 0) {
        const netprof__open_frame *o = &open[count];
        int known = all || count + 1 < innermost;
        netprof__series_row *row = netprof__series_row_of(s, (netprof__node *)(uintptr_t)o->node);
        uint64_t ns = netprof__ticks_to_ns(now - o->begin - o->apart), parts = o->inside + inner;
        if (o->marks & (NETPROF__SKIPPED | NETPROF__AGAIN)) {
            inner = parts;
            continue;
        }
        if (row)
            netprof__series_add(row, o->marks & NETPROF__NESTED ? 0 : netprof__scale_ns(ns, factor),
                                netprof__scale_ns(known && ns > parts ? ns - parts : 0, factor));
        inner = ns;
    }
}

/* Adds the calls of a node that have ended. */
static void netprof__series_closed(netprof__series *s, netprof__node *n, const netprof__tally *y, double factor)
{
    netprof__series_row *row = netprof__series_row_of(s, n);
    if (!row) return;
    row->now[NETPROF__SERIES_CALLS] += y->calls;
    row->now[NETPROF__SERIES_BYTES] += y->bytes;
    netprof__series_add(row, netprof__scale_ns(y->inclusive + y->adopted, factor),
                        n->is_span ? 0
                                   : netprof__scale_ns(y->inclusive + y->recursive + y->adopted - y->within, factor));
}

/* A thread that has not yet noticed a reset contributes nothing. */
static void netprof__series_thread(netprof__series *s, const netprof__thread *t, double factor)
{
    netprof__open_frame *open = s->open;
    uint64_t now = netprof__ticks();
    uint32_t count, k, sequence;
    netprof__node *n;
    int all;
    if (NETPROF__GET(t->resets) != NETPROF__GET(netprof__regions_state.resets)) return;
    count = netprof__frames_peek(t, open, &all);
    for (n = NETPROF__GET(t->made); n; n = n->made_before) {
        netprof__tally y;
        for (k = 0; k < count && open[k].node != n; k++)
            continue;
        if (k < count)
            y = open[k].tally;
        else
            while (!netprof__tally_peek(n, &y, &sequence))
                sched_yield();
        netprof__series_closed(s, n, &y, factor);
    }
    netprof__series_open(s, open, count, all, now, factor);
}

/* Sums all threads into the rows. Returns how many threads are alive. */
static uint64_t netprof__series_collect(struct netprof__regions_state *g)
{
    netprof__series *s = &g->series;
    double factor = netprof__clock_factor(g);
    uint32_t resets = NETPROF__GET(g->resets);
    uint64_t living = 0;
    netprof__thread *t;
    size_t i, k;
    for (i = 0; i < s->count; i++) {
        if (s->resets != resets) memcpy(s->rows[i].base, s->rows[i].written, sizeof s->rows[i].base);
        memset(s->rows[i].now, 0, sizeof s->rows[i].now);
    }
    s->resets = resets;
    for (t = NETPROF__GET(g->threads); t; t = t->next) {
        netprof__series_thread(s, t, factor);
        living += NETPROF__GET(t->in_use) != 0;
    }
    for (i = 0; i < s->count; i++)
        for (k = 0; k < NETPROF__SERIES_COLUMNS; k++) {
            uint64_t sum = s->rows[i].base[k] + s->rows[i].now[k];
            if (sum > s->rows[i].written[k]) s->rows[i].written[k] = sum;
        }
    return living;
}

static void netprof__series_counter(netprof_list *list, const char *name, const char *unit)
{
    netprof_counter c;
    memset(&c, 0, sizeof c);
    c.name = name;
    c.unit = unit;
    c.kind = NETPROF_KIND_COUNTER;
    c.width = 64;
    c.flags = NETPROF_FAST;
    netprof_list_counter(list, &c);
}

/* Makes a schema of all rows, if there are new ones. */
static int netprof__series_schema(netprof__series *s)
{
    static const char *const names[NETPROF__SERIES_COLUMNS][2] = {
        {"calls", "calls"}, {"time", "ns"}, {"own_time", "ns"}, {"bytes", "bytes"}};
    const netprof_schema *schema;
    struct utsname node;
    netprof_list *list;
    size_t i, k;
    if (s->schema && s->in_schema == s->count) return 1;
    if ((list = netprof_build_begin(NULL)) == NULL) return 0;
    netprof_build_fact(list, "netprof", NETPROF_VERSION_STRING);
    if (uname(&node) == 0) netprof_build_fact(list, "host", node.nodename);
    netprof__node_fact(list, "boot_id", "", "/proc/sys/kernel/random/boot_id");
    netprof_build_source(list, "regions");
    netprof_list_device(list, "process", (uint64_t)getpid(), 0);
    netprof__series_counter(list, "thread_time", "ns");
    netprof__series_counter(list, "sampling_time", "ns");
    if (s->count) netprof_build_source(list, "region");
    for (i = 0; i < s->count; i++) {
        netprof_list_device(list, s->rows[i].path, (uint64_t)getpid(), 0);
        netprof_list_fact(list, "name", netprof__region_name(s->rows[i].region));
        for (k = 0; k < NETPROF__SERIES_COLUMNS; k++)
            netprof__series_counter(list, names[k][0], names[k][1]);
    }
    if (netprof_build_end(list, &schema, NULL)) return 0;
    netprof_schema_release(s->schema);
    s->schema = schema;
    s->in_schema = s->count;
    return !netprof_snapshot_make(&s->snapshot, schema, NULL);
}

/* Copies the rows into the snapshot, in the order of the schema. */
static void netprof__series_fill(netprof__series *s, int64_t begin_ns, int64_t wall_ns)
{
    netprof_snapshot *x = &s->snapshot;
    size_t i, at = 0;
    x->begin_ns = begin_ns;
    x->end_ns = netprof__clock(CLOCK_MONOTONIC);
    x->wall_ns = wall_ns;
    x->set = NETPROF_SET_ALL;
    x->values[at++] = s->thread_time;
    x->values[at++] = (uint64_t)netprof__clock(CLOCK_THREAD_CPUTIME_ID) - s->cpu_before;
    for (i = 0; i < s->in_schema; i++) {
        memcpy(&x->values[at], s->rows[i].written, sizeof s->rows[i].written);
        at += NETPROF__SERIES_COLUMNS;
    }
    memset(x->status, NETPROF_STATUS_OK, at);
    for (i = 0; i < x->schema->device_count; i++) {
        x->device_begin_ns[i] = begin_ns;
        x->device_end_ns[i] = x->end_ns;
    }
}

/* The series of NAME.netprof is NAME.series.netprof. */
static void netprof__series_name(char *name, size_t size)
{
    static const char end[] = ".netprof";
    size_t n;
    netprof__output_name(name, size - 8);
    n = strlen(name);
    if (n >= sizeof end && strcmp(name + n - (sizeof end - 1), end) == 0) name[n - (sizeof end - 1)] = 0;
    n = strlen(name);
    snprintf(name + n, size - n, ".series%s", end);
}

/* Creates the file. An existing one of that name belongs to another process or an earlier run: it is replaced, not
   written to. */
static netprof_err netprof__series_begin(struct netprof__regions_state *g, netprof_error *error)
{
    netprof__series *s = &g->series;
    netprof_writer *w;
    struct stat file;
    char step[32];
    const char *node = NETPROF_OS_GETENV("SLURMD_NODENAME");
    netprof_err failed;
    netprof_alloc a = netprof__alloc_or_default(NULL);
    s->open = (netprof__open_frame *)netprof__zalloc(&a, NETPROF_MAX_DEPTH * sizeof *s->open);
    if (!s->open) return netprof__no_memory(error);
    netprof__series_name(s->name, sizeof s->name);
    netprof__output_mkdir(s->name);
    if (!netprof__written_in_place(s->name)) unlink(s->name);
    if ((failed = netprof_writer_open(&w, s->name, 1, error)) != NETPROF_OK) return failed;
    if (fstat(w->fd, &file) == 0) {
        s->file_device = file.st_dev;
        s->file_inode = file.st_ino;
    }
    NETPROF__SET(s->writer, w);
    netprof__rank_text(s->rank, sizeof s->rank);
    snprintf(step, sizeof step, "%" PRId64, g->series_ns);
    failed = netprof__write_origin(w, error);
    if (!failed) failed = netprof__write_fact_if(w, "node", node, error);
    return failed ? failed : netprof_write_fact(w, "interval_ns", step, error);
}

/* netprof_set_rank() was called after the file was created: the file is renamed, and the later fact counts. */
static netprof_err netprof__series_follow(netprof__series *s, netprof_error *error)
{
    char name[sizeof s->name], rank[sizeof s->rank];
    netprof__rank_text(rank, sizeof rank);
    if (strcmp(rank, s->rank) == 0) return NETPROF_OK;
    netprof__copy_text(s->rank, sizeof s->rank, rank);
    netprof__series_name(name, sizeof name);
    if (strcmp(name, s->name) != 0 && !netprof__written_in_place(s->name) && NETPROF_OS_RENAME(s->name, name) == 0)
        netprof__copy_text(s->name, sizeof s->name, name);
    return netprof__write_fact_if(s->writer, "rank", rank, error);
}

/* Writes one sample. */
static netprof_err netprof__series_write(struct netprof__regions_state *g, netprof_error *error)
{
    netprof__series *s = &g->series;
    int64_t begin_ns = netprof__clock(CLOCK_MONOTONIC), wall_ns = netprof__clock(CLOCK_REALTIME);
    netprof_err failed = NETPROF_OK;
    uint64_t living = netprof__series_collect(g);
    s->thread_time += living * (uint64_t)(begin_ns - s->last_ns);
    s->last_ns = begin_ns;
    if (!netprof__series_schema(s)) return netprof__no_memory(error);
    netprof__series_fill(s, begin_ns, wall_ns);
    if (s->left_out == 1) {
        s->left_out = 2;
        failed = netprof_write_fact(s->writer, "warning", "too many paths of regions: later ones are not in the series",
                                    error);
    }
    return failed ? failed : netprof_write_snapshot(s->writer, &s->snapshot, error);
}

/* Nothing more is written; the regions' own file says so. */
static void netprof__series_failed(struct netprof__regions_state *g, const netprof_error *error)
{
    netprof_writer *w = g->series.writer;
    NETPROF__SET(g->series.writer, NULL);
    netprof_writer_close(w, 0, NULL);
    g->series.over = 1;
    if (!netprof__regions_lock()) return;
    netprof__warn(g, "the series of the regions cannot be written: %.80s",
                  error->sys_errno ? strerror(error->sys_errno) : error->text);
    if (NETPROF_OS_GETENV("NETPROF_VERBOSE")) fprintf(stderr, "netprof: %s\n", g->warning);
    netprof__regions_unlock();
}

/* Call with flush_lock held. */
static void netprof__series_step(struct netprof__regions_state *g)
{
    netprof__series *s = &g->series;
    netprof_error error;
    netprof_err failed = NETPROF_OK;
    if (s->over) return;
    memset(&error, 0, sizeof error);
    if (s->begun && !netprof__series_is_ours(s, s->writer->fd)) {
        s->writer->fd = -1; /* it may be the program's now */
        failed = netprof__fail(&error, NETPROF_ERR_IO, EBADF, s->name, "the program closed it");
    }
    if (!s->begun) {
        s->begun = 1;
        s->resets = NETPROF__GET(g->resets);
        s->cpu_before = (uint64_t)netprof__clock(CLOCK_THREAD_CPUTIME_ID);
        failed = netprof__series_begin(g, &error);
    }
    if (!failed) failed = netprof__series_follow(s, &error);
    if (!failed) failed = netprof__series_write(g, &error);
    if (failed) netprof__series_failed(g, &error);
}

static void netprof__series_tick(struct netprof__regions_state *g)
{
    netprof__lock(&g->flush_lock);
    netprof__holds_lock = 0;
    netprof__flushing = 1;
    if (!NETPROF__GET(g->ended)) netprof__series_step(g);
    netprof__flushing = 0;
    netprof__unlock(&g->flush_lock);
}

/* Writes the last sample, with the same clock factor as the totals that are written next. If the program ended before
   the thread's first sample, this is the first one: otherwise an older series of that name would be taken for this
   run's. */
static void netprof__series_end(struct netprof__regions_state *g)
{
    netprof__series *s = &g->series;
    netprof_writer *w;
    if (!g->series_ns || s->over) return;
    netprof__fix_factor(g, netprof__clock_factor(g));
    /* The processor time of the exiting thread is not the sampler's. */
    if (s->begun) s->cpu_before = (uint64_t)netprof__clock(CLOCK_THREAD_CPUTIME_ID) - s->snapshot.values[1];
    netprof__series_step(g);
    if ((w = s->writer) == NULL) return;
    NETPROF__SET(s->writer, NULL);
    s->over = 1;
    netprof_writer_close(w, 1, NULL);
}
#endif

#endif /* NETPROF_DISABLE */

#ifdef __cplusplus
}
#endif
#ifdef NETPROF__PARTIAL
#pragma GCC diagnostic pop
#endif
#endif /* NETPROF_IMPLEMENTATION */

/* >>13 what each version changed

   next
     netprof_write_events and NETPROF_ITEM_EVENTS: tables of events, with attributes, in .netprof files (chunks EVNT, which
     older readers pass over). Files of libnccl-profiler-netprof.so hold the tables nccl.comm, nccl.call,
     nccl.transfer, nccl.device and nccl.drops; netprof-nccl(1) lists their columns.
     JSON of `netprof compare`, document version 2: ratios, scores, directions and checks are those of the middle faulty
     run (before: of the worst one); findings, work, splits, chance and not_compared are new.
     netprof_delta.elapsed_ns of two stamps that are the same, within stamp_error_ns, is 0 (before: some ns, or below 0).
      Files of netprof record, run and collect have facts of TCP sockets: tcp_sockets, tcp_socket_1 and so on, in words
      KEY=VALUE; those of one recording of the time that it covers, those of one reading since the connections began.
      JSON of `netprof job`: bound_by (what could be used up, how much of it was, and for how much of the time), pod_start_s
      and a node's pod, the meters thread and io_stalled are new; state (how the job ended, and whether a part of its energy or a row of its use is known),
     given_nodes, upper_bound, by (and cpu_by and memory_by of a node: what measured it), and of a finding cost_s and
     explained_by are new; lost_s is null where there is no evidence that work was lost. Files of several jobs give one
     document, with {"jobs": [...]}, each as it is alone.
     Facts of source netdev: pause ("rx tx", "rx", "tx", "off"), pfc (the priorities that are paused one by one, "0 3", or
     "off"; dcbnl), roce_ecn_np and roce_ecn_rp (likewise; NVIDIA's driver package), where the driver tells them.
     JSON of `netprof check` and `netprof job`: the rules nic-peers, rdma-peers, eth-peers, gpu-peers, node-peers and
     node-settings stand in the place of nic-balance, rdma-rail-imbalance and imbalance. Their value is what the odd one
     did, its peers' range is in peers.
     netprof_reader_next: an allocation that fails while regions are read gives NETPROF_ERR_NOMEM, no longer an item of
     type NETPROF_ITEM_DAMAGE.
     netprof_diff matches devices by what they are (bus address, node GUID, ifindex) before it goes by their names: the
     differences of a renamed device are formed, and none between two devices that had the same name one after the
     other (before: the values of the second as RESET). netprof_delta has device_before and device_after, and
     netprof_item has schema.
     Regions: the file is written now and then without NETPROF_FLUSH, by quick_exit(), and again after static destructors;
     its name lacks a job or a rank that is not known (before: 0), and is relative to where the program was when its
     regions began (before: at its end); what cannot be written is said on standard error unless NETPROF_QUIET is set. A
     shared object with regions may be closed. Files of regions have more facts: ended ("no" while the process ran, exit,
     quick_exit, MPI_Abort), run (what the launcher calls it), process_start, parent_pid, parent_start (in clock ticks
     since boot) and forked (1 in a child of fork).
     netprof_set_output(), netprof_set_interval(), netprof_set_flush() and netprof_set_series(). In a file, calls that
     were open at its writing are in all figures up to then, and still counted as open (before: in no figure but open).
     Facts dropped_in_handler, dropped_too_deep and dropped_otherwise: why begins could not be counted. threads counts
     all threads (before: at most 256 that came one after the other).
     Files of libnetprof-mpi.so have more facts: mpi_began_ns and mpi_ended_ns (the run, by the wall clock), mpi_open_ns,
     mpi_block_ns, mpi_first_block and mpi_inside (how much of each stretch of the run was in MPI, in ten-thousandths),
     mpi_cpus (those that the process may use, "0-3,8"), cpu_ns and cpu_wait_ns; mpi_polled_ns (waiting between calls of
     MPI_Test and its like that found nothing) and mpi_between_polls_ns (what may have been waiting or work there).
     They have a table of events, mpi.peers: a row for each rank of MPI_COMM_WORLD that this one sent to or received from
     (peer; below 0: all others) with sent_bytes, sends; send_ns and timed_sends of waits until it took what was sent to
     it, in blocking sends and in waits for requests; receive_ns and timed_receives of waits for what it sent, in blocking
     receives, probes and waits for requests; got_bytes and gets (one-sided). Collectives are in no row.
     JSON of `netprof regions`: messages, who sent how much to whom. JSON of `netprof job`: bytes_explained, what the NICs
     moved and what of it the program accounts for.
     Files: a size limit (SIGXFSZ), a pipe whose reader is gone (SIGPIPE) or that nobody reads are errors of the call and
     neither end nor hold the program, with NETPROF=off as well; the superuser follows no symbolic link of another user;
     a file that is replaced passes on its mode.
     A set-uid program, or one with file capabilities, uses nothing of the environment, and its regions are off unless it
     calls netprof_set_mode().
     Exit code 5 of the commands that judge (check, job, compare, and nccl with --fail-on): what matters could not be
     judged. Before, such a check ended with 0, or with 4 where no rule found its counters. `netprof compare` ends with 1
     for a finding that is high or worse without --fail-on as well, with 2 for a run that is on both sides, and with 3 for
     sides without a device in common (before: 0, 0 and 4).
     A source whose directory is missing because the whole of /sys is has the status NETPROF_STATUS_UNREADABLE, no longer
     _ABSENT.
     Regions. The time that mode fast spends reading counters is in no region's time (before: the parent's own):
     netprof_regions.readings and .reading_ns. Mode fast leaves source ip out unless NETPROF_SOURCES or NETPROF_INCLUDE is
     set. NETPROF_BEGIN, NETPROF_END and NETPROF_SCOPE take string literals only, in C++ as well (before: the first name
     for all calls); for other names there are NETPROF_BEGIN_DYNAMIC, NETPROF_END_DYNAMIC, NETPROF_SCOPE_DYNAMIC and
     NETPROF_SCOPE_ID. netprof_site has line and file, which the warning about a mismatch names.
     Spans have a parent (the region where they began; before: none), bytes, counters, a wait and a clock that can stand
     still; netprof_span grew. New: netprof_here, netprof_span_place, netprof_span_begin_at, netprof_adopt, NETPROF_ADOPT,
     netprof_value, NETPROF_VALUE, NETPROF_ITERATION; netprof_stat.waits, .waited_ns; netprof_regions.values.
     .netprof format, still version 2: REGN chunks end in parts (see section 10.1), which older readers pass over.
     JSON of `netprof regions`: "run" has alone_unlike_the_others, the rank that alone works more or less, and since when.
     JSON of `netprof regions`: spans have the kind "span" and no share (null); spans_waited_for, waited_ns and values are
     new. readings, reading_ns, uncertain_share and no_port are new, and so is the state
     "uncertain" of nics: bytes without rates, of calls that the reading of exact counters takes long beside.
     share_of_time_measuring is at most 1, and contains the readings.
     .netprof files, format version 2 as before: stamps of the first 8 snapshots of a schema may be off by as much as
     stamp_error_ns says, at most 1/8192 of the time that the snapshot took (before: exact). A file of two full snapshots
     of eight NICs is half as long, and no rate is off by more than 1/4096.
     Two copies of different versions in one file do not compile.
     netprof_totals, netprof_change_of and netprof_meter: first numbers without a file; netprof_print and
     netprof_print_to: the same and regions as tables; NETPROF_PRINT=1: these at exit; netprof_bench_run: a benchmark over
     sizes of messages. Switch NETPROF_NO_PRINT.
     Switches NETPROF_REGIONS_ONLY, NETPROF_NO_READER, NETPROF_NO_SERIES and NETPROF_NO_SOURCES; the header compiles on
     other systems than Linux, where it has regions and files but no counters. NETPROF_NO_THREADS implies
     NETPROF_NO_SERIES. With NETPROF_DISABLE the regions' functions are stubs, so that a program links unchanged (before:
     not declared). Several scopes may stand in one line (before: they did not compile).
     Fact run: also what MPICH and Intel MPI start ("hydra HOST:PORT").
     Files of `netprof run`: fact signal is the number of x86 and ARM on every architecture (before: of the architecture
     that wrote the file); signal_name ("SIGBUS") is new.
     JSON of facts, snapshots and deltas, document version 2, and of all commands, a version higher each: the same thing
     has the same name everywhere. netprof-json(5) lists the names, and those that were renamed; schemas are installed.
     Of a file of snapshots: name is source, device or counter; path is source_path; a source's devices is device_count;
     width is width_bits; begin_ns and end_ns of a snapshot are monotonic_begin_ns and monotonic_end_ns, its wall_ns is
     time_ns; a delta's wall_begin_ns, wall_end_ns, interval_ns and value are begin_ns, end_ns, elapsed_ns and delta. The
     programs of this version read version 1 as well.

   0.1.0, the first version
     Sources cxi, netdev, ethtool, rdma and ip; tcp and user for what the program adds; sources of your own.
     Snapshots of all counters or of the fast set, with a status and an errno for each value. Deltas that distinguish
     wraps from resets, also between different schemas.
     Regions: NETPROF_BEGIN, NETPROF_END, NETPROF_SCOPE, NETPROF_BYTES, and spans; modes off, time, fast and sampler;
     one file per process; samples over time with NETPROF_SERIES.
     .netprof files: writes format version 2, reads versions 1 and 2. Only builds before the format was settled wrote
     version 1 (its snapshots are SNAP chunks, see section 10.1).
     JSON of facts, snapshots and deltas, document version 1. */

/* >>14 licence

   MIT License, Copyright (c) 2026 The netprof authors.

   Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
   documentation files (the "Software"), to deal in the Software without restriction, including without limitation
   the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to
   permit persons to whom the Software is furnished to do so, subject to the following conditions: The above copyright
   notice and this permission notice shall be included in all copies or substantial portions of the Software.

   THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
   WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
   COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
   OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE. */

/* A simulated Cassini (HPE Slingshot, CXI) node: a tree of files as the driver would show them under /sys,
 * /proc and /run, and a model that moves the counters as a real NIC under a given load would.
 *
 *     sim_create("/tmp/node", &(sim_options){.nics = 8});
 *     sim *s = sim_open("/tmp/node");
 *     sim_step(s, &(sim_step_options){.seconds = 1.0, .scenario = "congestion"});
 *     sim_close(s);
 *
 * Functions that return int give 0, or minus an errno. One thread per sim. */
#ifndef NETPROF_SIM_H
#define NETPROF_SIM_H

#include <stdint.h>

typedef struct sim sim;

typedef struct sim_options {
    int nics;             /* 0: 8 */
    int asic;             /* 1 or 2 for Cassini-1 or -2; 0: 1 */
    uint64_t seed;        /* same options and seed: same bytes */
    const char *host;     /* NULL: "sim0" */
    int64_t start_ns;     /* CLOCK_REALTIME of the first snapshot; 0: 2025-05-02 16:41:11 UTC */
    int global_pause;     /* 802.3x instead of priority flow control */
    int no_retry_handler; /* leave out /run/cxi */
    int no_foreign_files; /* leave out telemetry/ALL-in-binary and telemetry/reset_counters */
} sim_options;

/* Write a new tree; root may exist but must not hold a tree yet. The counters start with a history of about
 * 3.5 days of light use. */
int sim_create(const char *root, const sim_options *options);

/* NULL and errno when root holds no tree of ours. */
sim *sim_open(const char *root);

/* Save the state file and free; accepts NULL. */
int sim_close(sim *s);

/* A row of a scenario of one's own: a knob of tables.c ("k.tx_paused"), or what to add to a counter, and the formula. */
typedef struct sim_row {
    const char *target, *formula;
    int nic; /* -1: all */
} sim_row;

typedef struct sim_step_options {
    double seconds;       /* simulated time; ignored with real_clock */
    const char *scenario; /* names joined by commas; NULL: "healthy" */
    const int *nics;      /* the NICs that it hits; NULL: the scenario's own choice */
    int nic_count;
    int real_clock;      /* stamps from CLOCK_REALTIME, interval since the step before */
    const sim_row *rows; /* after those of the scenario, whichever NICs that hits */
    int row_count;
    int continued; /* not the first step of a run: events that happen once do not happen again */
} sim_step_options;

/* Advance all counters and stamps and rewrite the files in place (same inodes). -EINVAL: no such scenario. */
int sim_step(sim *s, const sim_step_options *options);

/* Bring the stamps to the present without counting, before stepping with real_clock. From here on the sim
 * keeps its files open, as far as RLIMIT_NOFILE (which it raises to the hard limit) goes. */
int sim_sync_clock(sim *s);

/* Spoil files of one NIC (or all, nic < 0). pattern (fnmatch) is a telemetry name, "rh:NAME", "net:NAME", or
 * a path below the device directory such as "properties/speed". kind "none" repairs. */
int sim_fault(sim *s, int nic, const char *kind, const char *pattern);

/* The device leaves the tree; comes back with counters that start from zero. */
int sim_remove(sim *s, int nic);
int sim_restore(sim *s, int nic);

int sim_set(sim *s, int nic, const char *counter, uint64_t value);
int sim_get(const sim *s, int nic, const char *counter, uint64_t *value);

int sim_nic_count(const sim *s);

/* Tables, for listings: entry i, or NULL after the last. */
const char *sim_scenario_name(int i);
const char *sim_scenario_sentence(int i);
const char *sim_fault_name(int i);
const char *sim_fault_sentence(int i);

#endif

// Regions: the time that the processes of a job measured around their code, joined over threads, ranks and hosts.
//
//     regions job = {0};
//     netprof_error error;
//     if (!regions_read(&job, paths, count, &(regions_options){.rules = &set}, &error)) {
//         for (size_t i = 0; i < job.node_count; i++)
//             ... job.nodes[i].name, .depth, .mean_ns, .share, .odd, .nic ...
//     }
//     regions_free(&job);
//
// A file of netprof.h holds one process, called a *rank* here whether or not a launcher started it. A *node* is a path of
// region names ("main/step/halo"): the same path in all threads of all ranks is one node. A *cell* is one rank in one
// node, all its threads together. A *reading* is what the NICs of one host counted during a node.
//
// TIME. The time of a rank in a node is the sum over its threads, so that own time and children always add up to the
// parent, and the top level to the whole. With one thread it is elapsed time; with several (cell.threads),
// cell.longest_ns is the time of the thread that spent most. Calls that were counted and not timed (NETPROF_EVERY) are in
// `calls`, but not in `measured` nor in any time. Shares are of the time of the top-level regions of all ranks; run_share of
// what the ranks lived.
//
// WAITING. Time in calls that end only when another rank did its part is waiting (regions_calls.h), the rest of a rank's run
// is work (regions_times). A rank is blamed only for work, by regions.waits: in a run that all ranks share, who works
// longest waits least. Where nothing is known to wait (regions of the user alone, named after what they do), regions are
// compared one by one.
//
// BALANCE. Mean, median and the odd rank are over the ranks that have the node, which may be fewer than all. The odd rank
// is the one farthest from the median, in either direction. With fewer than REGIONS_ODD_RANKS ranks there is none. It
// accuses nobody: where ranks meet, the one that waits least is late.
//
// NIC COUNTERS belong to the device: every process of a host that had the region open saw the same bytes, and adding them
// up would count those once per rank. So one thread's reading is used per host: among threads that read the same devices,
// the one that was inside longest, which saw most. (Ranks that were told to read different devices, NETPROF_INCLUDE, each
// have a reading.) It is a lower bound of what the devices did while any rank of the host was inside. It cannot be
// attributed to a process, nor to this region alone: reading.open is how many regions with counters were open in that
// process at the time, host.ranks how many processes shared the devices, and programs without regions are included, too.
// So children and own traffic need not add up to the parent's. A region too short for its counters (regions_nic.limit_ns)
// has the state REGIONS_TOO_SHORT and no bytes; its time is exact, and its bytes are in the parent.
//
// BYTES OF THE PROGRAM (NETPROF_BYTES) are the node's own and, including its children's, inclusive; of all calls.
//
// All text comes from outside and is hostile (names of regions, hosts, devices; claims contain them): escape it. Times
// are in ns.
//
// Thread rule: one thread at a time. Everything returned lives until regions_free(), unless stated otherwise.
#ifndef NETPROF_REGIONS_H
#define NETPROF_REGIONS_H

#include "regions_counters.h"
#include "regions_flat.h"
#include "regions_histogram.h"
#include "regions_model.h"

// All zero = defaults.
typedef struct regions_options {
    const rules *rules; // for the findings, which need it as long as they live; NULL: no findings
    int threads;        // reading files; 0: one per processor, 8 at most
    uint64_t max_bytes; // limit for reading one file (schemas, one summary of regions); 0: 1 GiB
    // Called from time to time by the calling thread with how many of the files are read; may be NULL.
    void (*progress)(void *user, size_t done, size_t all);
    void *user;
    const regions *of; // only the processes of run `run` of these, which were read from the same files; NULL: all
    size_t run;
    uint64_t end_zero;
} regions_options;

// Reads files, and every *.netprof of directories (not below them), and joins them. A file that is damaged or cannot be
// used becomes a warning, and everything else is there. The result does not depend on the order of the files. Errors,
// which leave nothing to free: _ARG (no path, options not initialised, or regions that already hold something), _FORMAT
// (no file holds regions: error->path and ->text are about the first).
netprof_err regions_read(regions *r, const char *const *paths, size_t count, const regions_options *options,
                         netprof_error *error);

// Does the file hold regions? Reads no more than it must. 0 also when it cannot be read.
int regions_in_file(const char *path);

// Does the file hold what a process sampled of its regions over time (NETPROF_SERIES)? regions_read() takes it where the
// file of the process's regions is not among its files: it was killed before it could write one.
int regions_series_in_file(const char *path);

#endif

// A job, as its recordings show it: every node's CPU, memory, network, I/O, energy and GPUs on one time axis, how well the
// nodes were used, where the energy went, phase by phase, and what went wrong from when to when.
//
//     job_report job = {0};
//     netprof_error error;
//     if (!job_report_read(&job, paths, count, &(job_report_options){.rules = &set}, &error)) {
//         puts(job.title);
//         job_column columns[400];
//         job_report_columns(&job, JOB_SENT, JOB_ALL_NODES, 0, job.end_s, columns, 400);
//     }
//     job_report_free(&job);
//
// NODES. A file belongs to the node that its fact "node" names (several virtual nodes may share a host name), else to its
// host. Several files of one node are one node, one after another; where two overlap in time the one read first counts
// and the other is left out, with a note.
//
// TIME is seconds since job_report.begin_ns, the first snapshot of all. Hosts are put on it by their wall clocks, moved as
// far as what the files hold of the clocks demands (clocks.h).
//
// LANES. A lane is one meter of one node, or of one device of a node, over time. It is kept in at most JOB_BINS bins,
// whose width doubles as the job grows, so memory does not grow with its length; each bin keeps how long it is known, mean,
// lowest and highest value. A value of a rate is the difference of two readings over the time between them
// (netprof_diff(): wraps, resets); of a gauge the mean of both readings, never a difference. Where samples are missing
// (longer than 2.5 intervals) a bin knows nothing: gap, no mean. What was counted meanwhile is in the totals all the same
// (lane.total, phases, energy), for a cumulative counter crosses gaps.
//
// JOB OR NODE. CPU time and memory are by the best account there is (job_basis.c: job_node.cpu_by, memory_by), files the
// job's where the recording followed its processes, else its control group's, else the node's: job_node.scope, per meter.
//
// BLAME. findings/job_blame.h: who holds and who is held, and what evidence a cause takes.
//
// UNKNOWN IS NOT ZERO. A figure that is not known is NAN, a lane that is not there is NULL, and job_node.state[] tells
// why. Nothing here is 0 unless it was read as 0.
//
// All text is from outside and hostile (names of nodes, devices, phases, jobs; claims hold them): escape it.
//
// Thread rule: one thread at a time; job_report_read() starts threads of its own, which have ended when it returns. Everything
// that is returned ends with job_report_free().
#ifndef NETPROF_JOB_REPORT_H
#define NETPROF_JOB_REPORT_H

#include "job_columns.h"
#include "job_meters.h"
#include "job_model.h"
#include "job_regions.h"
#include "job_words.h"

#include "analysis/base/json.h"

// Reads recordings, files of regions among them, and of directories every *.netprof and *.phases in them (not those
// below). A file that cannot be used becomes a warning and everything else is there; the order of the files does not
// matter but where files of one node overlap. Errors, which leave nothing to free: _ARG (no path, or options not
// initialised), _FORMAT (not one file holds two snapshots: error->path and ->text tell of the first).
netprof_err job_report_read(job_report *r, const char *const *paths, size_t count, const job_report_options *options,
                            netprof_error *error);

// Should files be shown as a job: is there, in any of them, a counter of CPU, memory, energy or GPUs, and two snapshots?
// Reads no more than it must. A directory: any file in it.
bool job_report_wants(const char *const *paths, size_t count);

// Everything, as {"format":"netprof-job","version":2,...}; what is unknown is null or left out.
json_object *job_report_json(const job_report *r);

#endif

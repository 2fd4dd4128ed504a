// Looking at lanes: means over stretches of time, and which devices and nodes are worst.
#ifndef NETPROF_JOB_COLUMNS_H
#define NETPROF_JOB_COLUMNS_H

#include "job_model.h"

// One column of time.
typedef struct job_column {
    double mean;      // over the column's known time and, of all nodes, over the nodes that know it. NAN: not known
    double low, high; // one node or device: of its steps; of all nodes: lowest and highest node's mean
    double total; // of all nodes, JOB_ADDS: their sum (NAN when not all that ever knew it know it here); else the mean
    size_t low_node, high_node; // JOB_NONE
    size_t nodes;               // that know it here
} job_column;

// Columns of the same length over from..to. node: an index or JOB_ALL_NODES. A column of which less than half is known is
// NAN. False: no node has this meter.
bool job_report_columns(const job_report *r, job_meter meter, size_t node, double from_s, double to_s,
                        job_column *columns, size_t count);
// The same of one lane (of a device, say).
void job_lane_columns(const job_report *r, const job_lane *lane, double from_s, double to_s, job_column *columns,
                      size_t count);
// One stretch as one column.
job_column job_lane_span(const job_report *r, const job_lane *lane, double from_s, double to_s);
// Amount in total_unit over a stretch, gaps included; NAN unknown.
double job_lane_amount(const job_report *r, const job_lane *lane, double from_s, double to_s);
// Events of all nodes in each column; NAN where no node was watched.
void job_event_columns(const job_report *r, const job_event *event, double from_s, double to_s, double *columns,
                       size_t count);

// A device and its mean over the worst stretch of a meter.
typedef struct job_worst {
    size_t device;
    double value, from_s, to_s;
} job_worst;
// The devices with this meter, by their highest mean over any window_s (whole job when shorter); returns how many were
// filled in, at most count; *all (may be NULL): how many devices have the meter.
size_t job_report_worst(const job_report *r, job_meter meter, double window_s, job_worst *worst, size_t count,
                        size_t *all);
// Nodes by how telling they are: worst finding, then farthest from the median of the meter. [node_count] indexes.
void job_report_rank_nodes(const job_report *r, job_meter meter, size_t *order);

// Means of a meter over a stretch: of one node's lane, or over the nodes that know it. NAN unknown.
double job_mean_between(const job_report *r, job_meter meter, size_t node, double from_s, double to_s);
double job_median(double *values, size_t count); // sorts them; NAN of none
int64_t job_ns_of(const job_report *r, double at_s);

#endif

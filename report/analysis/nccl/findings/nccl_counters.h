// NIC counters beside NCCL's logs: recordings of the same hosts, on one time axis with the windows in which the logs
// were written. Window accuracy is the Inspector's dump interval. Thread rule: one thread at a time.
#ifndef NETPROF_NCCL_COUNTERS_H
#define NETPROF_NCCL_COUNTERS_H

#include "nccl_findings.h"
#include "analysis/data/series.h"

// A counter that moved in the window; its name is NULL when none did.
typedef struct nccl_moved {
    const char *counter, *unit;
    double amount;
} nccl_moved;

typedef struct nccl_counters_host {
    uint32_t host;       // index in nccl.hosts
    size_t run;          // index in series.runs
    double from_s, to_s; // on the series' axis: what both recording and logs cover
    double bytes[2];     // received and sent in it by the chosen devices, SERIES_IN and SERIES_OUT; NAN: not known
    double peak_rate[2]; // bytes/s: highest of one device's steps
    nccl_moved trouble, waiting;         // those that moved in most steps
    size_t trouble_count, waiting_count; // how many counters did
} nccl_counters_host;

// Start from {0}; nccl_counters_free() at the end. The nccl and the finished series must live as long.
typedef struct nccl_counters {
    const nccl *n;
    const series *s;
    nccl_counters_host *hosts; // in the order of nccl.hosts: only those that both know at the same time
    size_t count;
} nccl_counters;

// Where a time of the logs is on the series' axis, in seconds.
double nccl_counters_time_s(const series *s, uint64_t time_us);

void nccl_counters_make(nccl_counters *c, const nccl *n, const series *s);
void nccl_counters_free(nccl_counters *c);
// Adds what the counters say about hosts that findings name: "the NIC counters of h12 show no trouble ...".
void nccl_counters_findings(nccl_findings *f, const nccl_counters *c);
json_object *nccl_counters_json(const nccl_counters *c); // an array

#endif

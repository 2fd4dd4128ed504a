// Tables of NCCL results for other programs. Everything goes through a write function (netprof_write_fn); the caller
// makes files of it. Names from outside are escaped for the format. Thread rule: one thread at a time per nccl.
#ifndef NETPROF_NCCL_EXPORT_H
#define NETPROF_NCCL_EXPORT_H

#include "analysis/nccl/findings/nccl_findings.h"

// One file each. The columns of CSV files begin with those of the reference's lines, per_instance, per_comm_coll_size,
// per_type_coll_size and per_rank.
typedef enum nccl_table {
    NCCL_LINES_CSV = 0,
    NCCL_INSTANCES_CSV,
    NCCL_COMMUNICATORS_CSV,
    NCCL_TYPES_CSV,
    NCCL_RANKS_CSV,
    NCCL_P2P_CSV,
    NCCL_PROXIES_CSV,
    NCCL_WAITS_CSV,    // by collective, size and rank: what its steps waited for
    NCCL_ADAPTERS_CSV, // by rank and direction: what went through which network device
    NCCL_PEERS_CSV,    // matrices of senders and receivers
    NCCL_METRICS_CSV,
    NCCL_INSTANCES_NDJSON, // an object for each instance
    NCCL_BULK_NDJSON,      // for Elasticsearch's _bulk: detailed and summary documents
    NCCL_TABLES
} nccl_table;
const char *nccl_table_file(nccl_table table);          // "instances.csv"
bool nccl_table_empty(const nccl *n, nccl_table table); // nothing of the kind was logged: no file is needed

typedef struct nccl_export_options {
    // For _bulk; NULL: "unknown", and the indexes "nccl-detailed" and "nccl-summary".
    const char *jobid, *cluster, *user;
    const char *detailed_index, *summary_index;
} nccl_export_options;

// NETPROF_ERR_IO when write failed.
netprof_err nccl_export(const nccl *n, nccl_table table, const nccl_export_options *options, netprof_write_fn write,
                        void *user);

// The exporter's tree: summary/msg_size_B_H/summary_CLASS_COLL_B.csv. Paths are relative and safe as file names.
size_t nccl_summary_count(const nccl *n);
const char *nccl_summary_path(const nccl *n, size_t i, char *text, size_t size);
netprof_err nccl_summary_write(const nccl *n, size_t i, netprof_write_fn write, void *user);

// Version 2: netprof nccl -o adds the member "view" (nccl_view.h), from which reports are drawn. Version 3:
// verdict and findings stand at the top, and members are named as in the other formats.
#define NCCL_JSON_VERSION 3
// {"format":"netprof-nccl","version":3,...}. findings and comparison may be NULL.
json_object *nccl_json(const nccl *n, const nccl_findings *findings, const nccl_comparison *comparison);

#endif

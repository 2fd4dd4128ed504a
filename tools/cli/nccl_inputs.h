// Finds the logs of the NCCL Inspector: by paths, a job's id, or the exporter's configuration file.
#ifndef TOOLS_NCCL_INPUTS_H
#define TOOLS_NCCL_INPUTS_H

#include "common.h"
#include "analysis/nccl/logs/nccl_logs.h"

// Settings of the exporter's configuration file; NULL: not set.
typedef struct nccl_config {
    char *log_root;                       // [paths] default_log_root, with {jobid}
    char *detailed_index, *summary_index; // [kibana] kibana_project_detailed, kibana_project_summary
} nccl_config;

// Returns an exit code after saying what is wrong. Free with nccl_config_free().
int nccl_config_read(nccl_config *config, const char *path);
void nccl_config_free(nccl_config *config);

// The directory of the job's logs, free it; NULL when none of the places exists. *tried, an array of stb_ds, gets
// all that were looked at: nccl_tried_free().
char *nccl_job_directory(const nccl_config *config, const char *jobid, const char **roots, size_t root_count,
                         char ***tried);
void nccl_tried_free(char **tried);
// "400", or "pattern=GB/s,..." ; NULL: none. Returns an exit code after saying what is wrong.
typedef struct nccl_peak_list {
    nccl_peak *items;
    size_t count;
    char *text;
} nccl_peak_list;
int nccl_peaks_read(nccl_peak_list *list, const char *text);
void nccl_peaks_free(nccl_peak_list *list);

typedef struct nccl_reading {
    const nccl_peak_list *peaks;
    size_t threads; // 0: one for each processor
    bool quiet;     // no progress on a terminal
} nccl_reading;
// Reads the logs with progress and reports damaged files; without any logs it prints nccl_no_logs_hint().
int nccl_logs_read(nccl *n, const char *const *paths, size_t count, const nccl_reading *how);

// The plugin's own files hold what it read of the host's NICs: of each host one is enough, the one with most. Returns how
// many; paths: room for as many as there are hosts.
size_t nccl_own_recordings(const nccl *n, const char **paths);

// On the standard error: what commonly leaves no logs behind.
void nccl_no_logs_hint(void);

#endif

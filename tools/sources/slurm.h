// Parses Slurm's machine-readable texts: lists of nodes, CPUs of each node, lengths of time, and scontrol's answer
// about a job. No files, no processes.
#ifndef NETPROF_SOURCES_SLURM_H
#define NETPROF_SOURCES_SLURM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The position, from 0 on, of a node in a list like "n[1-3,07],login1,r[0-1]n[0-9]". False: it is not in the list, or
// the text is not a list.
bool slurm_place(const char *list, const char *node, size_t *place);
// The number at a position in "4(x2),1" (SLURM_JOB_CPUS_PER_NODE). False: the list is shorter.
bool slurm_count_at(const char *counts, size_t place, uint64_t *count);
// "1-02:03:04", "02:03:04", "03:04". False: UNLIMITED and the like.
bool slurm_seconds(const char *text, int64_t *seconds);
// "200M", "4G", "512" (mebibytes), in bytes.
bool slurm_bytes(const char *text, uint64_t *bytes);

// Facts of `scontrol -d show job N` with SLURM_TIME_FORMAT=%s, in the many-lines form: there only lines of their own
// hold what users write (name, command, comment), and these are not looked at. node: whose CPUs and memory are
// reported; NULL: of no node.
typedef void slurm_tell(void *user, const char *key, const char *value);
void slurm_read_job(const char *text, const char *node, slurm_tell *tell, void *user);

#endif

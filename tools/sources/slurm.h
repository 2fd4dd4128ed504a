// What Slurm writes for programs to read: lists of nodes, CPUs of each node, lengths of time, and scontrol's answer about a
// job. Text in, answers out.
#ifndef NETPROF_SOURCES_SLURM_H
#define NETPROF_SOURCES_SLURM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Where a node stands in a list like "n[1-3,07],login1,r[0-1]n[0-9]", from 0 on. False: it is not in it, or the text is no
// list.
bool slurm_place(const char *list, const char *node, size_t *place);
// The number for the place in "4(x2),1" (SLURM_JOB_CPUS_PER_NODE). False: there is none.
bool slurm_count_at(const char *counts, size_t place, uint64_t *count);
// "1-02:03:04", "02:03:04", "03:04". False: UNLIMITED and the like.
bool slurm_seconds(const char *text, int64_t *seconds);
// "200M", "4G", "512" (mebibytes), in bytes.
bool slurm_bytes(const char *text, uint64_t *bytes);

// Facts of `scontrol -d show job N` with SLURM_TIME_FORMAT=%s, in the many-lines form: there only lines of their own hold
// what users write (name, command, comment), and these are not looked at. node: whose CPUs and memory are told; NULL: none.
typedef void slurm_tell(void *user, const char *key, const char *value);
void slurm_read_job(const char *text, const char *node, slurm_tell *tell, void *user);

#endif

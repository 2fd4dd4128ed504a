// Names of recordings: %h and so on.
#ifndef TOOLS_RECORD_PATH_H
#define TOOLS_RECORD_PATH_H

// %h host, %n node (the scheduler's name of it, else the host's), %j job (of an array JOB_TASK; of a job that was started
// again JOB-rN), %r rank, %p process, %t time (UTC, 20261123T101500Z), %% a percent sign. A '/' in a value becomes '_'.
// To be freed.
char *record_path_expand(const char *pattern);
// The name with a number before its ending that no file has: run.netprof, run.1.netprof, ... To be freed.
char *record_path_next(const char *path);

#endif

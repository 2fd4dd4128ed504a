// Reading one process.
#ifndef TOOLS_SOURCES_PROCESS_READ_H
#define TOOLS_SOURCES_PROCESS_READ_H

#include "process_model.h"

bool process_read_stat(process_state *s, const emit *e, process_member *m);
void process_read_io(const emit *e, process_member *m);
void process_read_memory(const process_state *s, const emit *e, process_member *m);
void process_count_files(const emit *e, process_member *m);
void process_compare_files(process_state *s, const process_member *m);
int process_add_shares(const emit *e, pid_t pid, uint64_t *shares);

#endif

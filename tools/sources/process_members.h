// The list of a job's processes.
#ifndef TOOLS_SOURCES_PROCESS_MEMBERS_H
#define TOOLS_SOURCES_PROCESS_MEMBERS_H

#include "process_model.h"

process_member *process_find_member(const process_state *s, pid_t pid);
process_member *process_new_member(process_state *s, pid_t pid); // NULL: no memory
void process_drop_last(process_state *s);                        // the newest
bool process_index_all(process_state *s);                        // after the list of members was changed by hand
void process_forget_stat(process_state *s, process_member *m);   // closes what is kept open

#endif

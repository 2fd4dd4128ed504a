// The .netprof file of a process: tables of events, and snapshots of the network devices. Thread rule: with the lock of
// plugin_main.c held.
#ifndef NETPROF_PLUGIN_FILE_H
#define NETPROF_PLUGIN_FILE_H

#include <stdbool.h>
#include <stdint.h>

typedef enum file_table { TABLE_COMM = 0, TABLE_CALL, TABLE_TRANSFER, TABLE_DEVICE, TABLE_DROPS, TABLES } file_table;

void file_begin(void); // the file itself is made with its first row
void file_end(void);   // closes it

// A row: the values of the table's columns in their order, numbers as they are and texts through file_text().
void file_row(file_table table, const int64_t *values);
int64_t file_text(const char *text); // a copy of it, which lives as long as the file; NULL: ""
void file_flush(void);               // writes what was gathered
bool file_is_full(void);             // NETPROF_NCCL_LIMIT: calls and transfers are left out from now on

// The RDMA device that this queue pair of the process belongs to; "" as a text: unknown, or several have one of the number.
int64_t file_adapter(uint32_t queue_pair);
void file_sample(bool all);         // a snapshot of the network devices; all: not only of the fast set
int64_t file_sample_interval(void); // ns; 0: none

#endif

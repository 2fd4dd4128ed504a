/* The files of one simulated NIC: names, fixed contents, in-place rewriting, faults. Private to the
 * simulator. */
#ifndef NETPROF_SIM_TREE_H
#define NETPROF_SIM_TREE_H

#include "model.h"

typedef struct tree_nic {
    int cxi, hsn, asic, count, global_pause;
    uint64_t seed;
    char pci[16], bridge[16], device[64]; /* device: path of the PCI directory below the root */
} tree_nic;

tree_nic tree_identify(int cxi, int count, int asic, uint64_t seed, int global_pause);

/* Where an item's file is. */
void tree_item_path(const tree_nic *nic, const char *item, char *path, size_t size);

/* Directories, links and fixed files of a NIC; those of overrides (may be NULL) win. */
int tree_build(int root_fd, const tree_nic *nic, int retry_handler, int foreign_files);
int tree_write_attributes(int root_fd, const tree_nic *nic, const model_scenario *const *scenarios);
int tree_write_restarts(int root_fd, const tree_nic *nic, const int64_t restarts[10]);
int tree_remove(int root_fd, const char *root, const tree_nic *nic);

/* Files of the node itself. */
int tree_build_node(int root_fd, const char *host, uint64_t seed);

int tree_make_directories(int root_fd, const char *path);

/* Whole content of a file, in place when it exists. */
int tree_write(int directory_fd, const char *path, const char *text, size_t length);

/* Spoils a file. kind 0 is "no fault" and only removes it. */
int tree_spoil(int directory_fd, const char *path, int kind);
int tree_fault_find(const char *name); /* -1: no such kind */
int tree_fault_keeps_counting(int kind);

#endif

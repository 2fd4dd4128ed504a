// What the parts of the nsys reader share.
#ifndef NETPROF_NSYS_PRIVATE_H
#define NETPROF_NSYS_PRIVATE_H

#include "analysis/base/lookup.h"
#include "nsys.h"
#include "nsys_sqlite.h"
#include "analysis/base/pairs.h"

// ---- the events of one table, by name ----

typedef struct nsys_group {
    char *name;
    const char *of;
    nsys_values values;
} nsys_group;

typedef struct nsys_gather {
    lookup names;
    pairs ids; // what number, of what, is which group
    nsys_group *groups;
    size_t count;
} nsys_gather;

typedef struct nsys_span {
    int64_t begin, end;
} nsys_span;

// The spans of one GPU, joined where they follow one another.
typedef struct nsys_spans {
    int64_t device, pid;
    nsys_span *items[NSYS_BUSY];
    size_t count[NSYS_BUSY], room[NSYS_BUSY];
    bool unsorted[NSYS_BUSY];
} nsys_spans;

// All return false, or LOOKUP_NONE, without memory.
size_t nsys_gather_group(nsys_gather *g, const char *of, size_t of_number, const char *name);
bool nsys_gather_add(nsys_gather *g, size_t group, uint64_t value);
bool nsys_gather_end(nsys_gather *g, nsys_table *table,
                     bool keep); // fills the table and frees what was gathered
void nsys_gather_free(nsys_gather *g);
bool nsys_table_join(nsys_table *to, const nsys_table *const *from, size_t count); // their values were kept
void nsys_table_start(nsys_table *t, nsys_kind kind);
void nsys_table_free(nsys_table *t);
void nsys_values_free(nsys_values *v);
bool nsys_is_nccl(const char *name);

bool nsys_spans_add(nsys_spans *gpu, int what, nsys_span span);
bool nsys_spans_end(nsys *n, nsys_spans *gpus, size_t count, size_t bins);
void nsys_spans_free(nsys_spans *gpus, size_t count);

// ---- what numbers in the file mean ----

typedef struct nsys_device {
    int64_t pid, ordinal, gpu;
} nsys_device;

typedef struct nsys_listed_gpu {
    int64_t id;
    char *name, *bus;
} nsys_listed_gpu;

typedef struct nsys_names {
    nsys_sqlite *db;
    void *string;    // the statement that finds one; NULL: the file has no strings
    pairs domain_of; // of NVTX: domain and process
    char **domains;
    size_t domain_count;
    pairs copy_of;
    char **copies; // "[CUDA memcpy Host-to-Device]"
    size_t copy_count;
    pairs rank_of; // pid
    nsys_device *devices;
    size_t device_count;
    nsys_listed_gpu *gpus;
    size_t gpu_count;
    pairs size_of; // of communicators of MPI: handle and rank
    size_t largest_communicator;
    bool no_memory; // for a text, which would be missing
} nsys_names;

enum { NSYS_NO_PID = -1, NSYS_KNOWN_GPU = -2 }; // the second: in place of the process where the GPU itself is known

bool nsys_names_read(nsys_names *names, nsys_sqlite *db);
void nsys_names_free(nsys_names *names);
int64_t nsys_pid(int64_t global); // of a serialised id
// free() them; NULL where there is none. Without memory names->no_memory is set, too.
char *nsys_keep(nsys_names *names, const char *text);
char *nsys_text(nsys_names *names, void *row, int column);
char *nsys_string(nsys_names *names, int64_t id);
char *nsys_number(int64_t id); // "(name 77)": for a string that is not there
char *nsys_copy_name(const nsys_names *names, int64_t kind);
const char *nsys_domain(const nsys_names *names, int64_t domain,
                        int64_t global); // "" is the one without a name

#endif

// Shared by the parts of the nsys reader.
#ifndef NETPROF_NSYS_PRIVATE_H
#define NETPROF_NSYS_PRIVATE_H

#include "analysis/base/map_key.h"
#include "analysis/base/stb_ds.h"
#include "nsys.h"
#include "nsys_sqlite.h"

// ---- the events of one table, by name ----

// From two numbers, or a number and a name, to an index: a map of stb_ds.
typedef struct nsys_map {
    map_key key;
    size_t value;
} nsys_map;

#define NSYS_NONE ((size_t)-1)

static inline size_t nsys_find_key(nsys_map *map, map_key key)
{
    ptrdiff_t at = map ? hmgeti(map, key) : -1;
    return at < 0 ? NSYS_NONE : map[at].value;
}

static inline size_t nsys_find(nsys_map *map, int64_t a, int64_t b)
{
    return nsys_find_key(map, map_key_of_pair(a, b));
}

static inline void nsys_put(nsys_map **map, int64_t a, int64_t b, size_t value)
{
    hmput(*map, map_key_of_pair(a, b), value);
}

typedef struct nsys_group {
    char *name;
    const char *of;
    nsys_values values;
} nsys_group;

typedef struct nsys_gather {
    nsys_map *names, *ids; // (style, name), and (style and domain, number of a name): index of the group
    nsys_group *groups;    // array of stb_ds
} nsys_gather;

typedef struct nsys_span {
    int64_t begin, end;
} nsys_span;

// The spans of one GPU, joined where they follow one another.
typedef struct nsys_spans {
    int64_t device, pid;
    nsys_span *items[NSYS_BUSY]; // arrays of stb_ds
    bool unsorted[NSYS_BUSY];
} nsys_spans;

size_t nsys_gather_group(nsys_gather *g, const char *of, size_t of_number, const char *name);
void nsys_gather_add(nsys_gather *g, size_t group, uint64_t value);
void nsys_gather_end(nsys_gather *g, nsys_table *table,
                     bool keep); // fills the table and frees what was gathered
void nsys_gather_free(nsys_gather *g);
void nsys_table_join(nsys_table *to, const nsys_table *const *from, size_t count); // their values were kept
void nsys_table_start(nsys_table *t, nsys_kind kind);
void nsys_table_free(nsys_table *t);
void nsys_values_free(nsys_values *v);
bool nsys_is_nccl(const char *name);

void nsys_spans_add(nsys_spans *gpu, int what, nsys_span span);
void nsys_spans_end(nsys *n, nsys_spans *gpus, size_t bins);
void nsys_spans_free(nsys_spans *gpus);

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
    void *string;        // the statement that finds one; NULL: the file has no strings
    nsys_map *domain_of; // of NVTX: domain and process
    char **domains;      // this and the following are arrays of stb_ds
    nsys_map *copy_of;
    char **copies;     // "[CUDA memcpy Host-to-Device]"
    nsys_map *rank_of; // pid
    nsys_device *devices;
    nsys_listed_gpu *gpus;
    nsys_map *size_of; // of communicators of MPI: handle and rank
    size_t largest_communicator;
} nsys_names;

enum { NSYS_NO_PID = -1, NSYS_KNOWN_GPU = -2 }; // the second: in place of the process where the GPU itself is known

void nsys_names_read(nsys_names *names, nsys_sqlite *db);
void nsys_names_free(nsys_names *names);
int64_t nsys_pid(int64_t global); // of a serialised id
// free() them; NULL where there is none.
char *nsys_keep(const char *text);
char *nsys_text(nsys_names *names, void *row, int column);
char *nsys_string(nsys_names *names, int64_t id);
char *nsys_number(int64_t id); // "(name 77)": for a string that is not there
char *nsys_copy_name(const nsys_names *names, int64_t kind);
const char *nsys_domain(const nsys_names *names, int64_t domain,
                        int64_t global); // "" is the one without a name

#endif

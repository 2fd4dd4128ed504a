// Nsight Systems: the tables that `nsys stats` prints, how busy each GPU was over time, and how the processes of a job
// compare, from SQLite exports.
//
//     nsys_job job = {0};
//     if (!nsys_job_read(&job, paths, count, NULL, &error))
//         for (size_t i = 0; i < job.file_count; i++) puts(job.files[i].path);
//     nsys_job_free(&job);
//
// SQLite's library is loaded when it is asked for. Files are opened read-only and as immutable, and are hostile: tables
// and columns that are absent are those of another version, rows without a plausible time are counted and left out.
//
// MEMORY grows by at most 24 bytes for each event of a GPU and 4 for each other one (8 where it lasted longer than 4
// s), for one file at a time; the tables of all files together keep their 4 bytes until the end, for at most
// NSYS_TOGETHER_EVENTS events: of more, medians together are unknown.
//
// CLOCKS. Times within a file are ns since its profile began; nsys.session_ns places that in UTC, by its host's clock.
// nsys_job_read() puts all files on one axis: by blocking collectives of MPI that all ranks are seen in (nobody leaves
// a barrier before everybody entered it) where the files hold some, else by their hosts' clocks as they are; job.clocks
// says how far they may be apart.
//
// Thread rule: one thread at a time per object.
#ifndef NETPROF_NSYS_H
#define NETPROF_NSYS_H

#include "netprof.h"

#include "analysis/base/json.h"
#include <stdbool.h>

#define NSYS_TOGETHER_EVENTS ((uint64_t)100000000)

typedef enum nsys_kind {
    NSYS_API = 0,         // calls of the CUDA API; nsys' cuda_api_sum
    NSYS_KERNELS,         // cuda_gpu_kern_sum
    NSYS_MEMORY_TIME,     // copies and fills: cuda_gpu_mem_time_sum ...
    NSYS_MEMORY_SIZE,     // ... and cuda_gpu_mem_size_sum
    NSYS_GRAPHS,          // launches of CUDA graphs that were recorded whole; nsys has no such table
    NSYS_NVTX,            // the program's own ranges: nvtx_sum
    NSYS_MPI,             // mpi_event_sum
    NSYS_MPI_SIZE,        // mpi_msg_size_sum
    NSYS_OSRT,            // calls of the operating system's libraries: osrt_sum
    NSYS_READ,            // so many are read; the others are made of them, on demand
    NSYS_GPU = NSYS_READ, // kernels and memory operations: cuda_gpu_sum
    NSYS_NVTX_PUSHPOP,    // nvtx_pushpop_sum
    NSYS_NVTX_STARTEND,   // nvtx_startend_sum
    NSYS_TABLES
} nsys_kind;

// Values of one name, in no order: those below 2^32 - 1, and all others.
typedef struct nsys_values {
    uint32_t *narrow; // arrays of stb_ds
    uint64_t *wide;
} nsys_values;

// All of one name. Quantities are ns, or bytes in tables of sizes.
typedef struct nsys_row {
    char *name;
    const char *of; // "PushPop", "p2p", "CUDA_KERNEL"; NULL where the table has no such column
    bool nccl;      // a kernel of NCCL: the GPU communicates, and waits for others
    uint64_t count;
    uint64_t total; // saturates
    uint64_t min, max;
    double mean, median; // median: NAN where there were too many events to keep
    double deviation;    // of the sample (n - 1), as nsys has it; 0 of one
    double share;        // of the table's total; NAN when that is 0
    double sum, squares; // of the values, and of their distances from the mean
    nsys_values values;  // empty unless nsys_options.keep
} nsys_row;

typedef struct nsys_table {
    const char *title, *name, *unit;             // "CUDA kernels", "cuda_gpu_kern_sum", "ns"
    const char *counted, *of_title, *name_title; // "Instances", "Style" or NULL, "Range"
    bool present;                                // the file has such events
    nsys_row *rows;                              // array of stb_ds, the largest total first
    size_t row_count;
    uint64_t count, total;
    uint64_t left_out; // events without a plausible begin, end or size
    uint64_t unended;  // ranges that never ended: they count to the last event of NVTX, as in nsys stats
} nsys_table;

enum { NSYS_BUSY_KERNELS = 0, NSYS_BUSY_NCCL, NSYS_BUSY_MEMORY, NSYS_BUSY };

// The activity of one GPU: shares of the time in which at least one kernel (of NCCL; or copy, or fill) ran, whatever
// the number of streams. Kernels are those of NCCL, too, and CUDA graphs that were recorded whole.
typedef struct nsys_gpu {
    int64_t device;          // the GPU's number on its node where the file has it, else the program's own number for it
    int64_t pid;             // of its only process, where the file does not identify the GPU; else -1
    char *name;              // "NVIDIA H100 80GB HBM3"; NULL unknown
    char *bus;               // where it is on its host: "0000:41:00.0"; NULL unknown
    double *busy[NSYS_BUSY]; // [nsys.bin_count], 0..1
    uint64_t busy_ns[NSYS_BUSY]; // over all
} nsys_gpu;

enum { NSYS_SPENT_KERNELS = 0, NSYS_SPENT_NCCL, NSYS_SPENT_MEMORY, NSYS_SPENT_MPI, NSYS_SPENT_API, NSYS_SPENT };

// Time spent by one process: sums of durations, which overlap where it has several streams or threads.
typedef struct nsys_process {
    int64_t pid;  // -1: unknown
    int64_t rank; // of MPI; -1 unknown
    uint64_t spent_ns[NSYS_SPENT];
} nsys_process;

enum { NSYS_MEETINGS = 4 };

// A meeting: one process in a blocking collective of MPI that nobody leaves before everybody has entered it. The n-th
// call of a kind by one process is the same meeting as the n-th call by every other process.
typedef struct nsys_meeting {
    size_t kind;    // MPI_Barrier, MPI_Allreduce, ...
    uint64_t round; // 0, 1, ...: which call of this kind by its process
    int64_t begin_ns, end_ns;
} nsys_meeting;

// Start from {0}; nsys_free() at the end.
typedef struct nsys {
    char *path, *host; // host: NULL unknown
    char *version;     // of the Nsight Systems that exported it; NULL unknown
    nsys_table tables[NSYS_TABLES];
    nsys_gpu *gpus; // by device
    size_t gpu_count;
    nsys_process *processes; // by rank, then pid
    size_t process_count;
    bool knows[NSYS_SPENT];   // the file has such events: if so, 0 means none; if not, nothing was recorded
    size_t bin_count;         // 0 without events of GPUs
    int64_t begin_ns, end_ns; // of the GPUs' events, since the profile began; bins part this
    int64_t session_ns;       // CLOCK_REALTIME when the profile began; 0: unknown
    const char *not_read[12]; // names of tables that hold more than what is read here, NULL ends them
    nsys_meeting *meetings;   // the first ones
    size_t meeting_count;
    uint64_t rounds[NSYS_MEETINGS]; // calls of each kind by every process; 0: none, or not equally many
    size_t ranks;                   // of the largest communicator of MPI that the file lists; 0: it lists none
} nsys;

typedef struct nsys_options {
    size_t bins;                                          // 0: 120
    bool keep;                                            // the rows' values, to put tables together
    void (*progress)(void *user, size_t done, size_t of); // files
    void *user;
    uint64_t end_zero;
} nsys_options;

// Errors: _IO (no such file; SQLite's library is not there; it is still being written), _FORMAT (no SQLite file, or
// none of Nsight Systems'), _DAMAGED, _ARG; see error->path and ->text.
netprof_err nsys_read(nsys *n, const char *path, const nsys_options *options, netprof_error *error);
void nsys_free(nsys *n);
bool nsys_in_file(const char *path);   // is it an SQLite file at all?
bool nsys_is_report(const char *path); // a file of Nsight Systems' own (.nsys-rep, .qdrep), which is to be exported
#define NSYS_EXPORT_FIRST                                                                                              \
    "is a report of Nsight Systems itself; make its SQLite export: nsys export --type sqlite REPORT"

const char *nsys_kind_name(nsys_kind kind);               // "cuda_api_sum"
nsys_kind nsys_kind_named(const char *name);              // NSYS_TABLES: none
const nsys_table *nsys_table_of(nsys *n, nsys_kind kind); // makes it where it is made of others
const char *nsys_spent_name(int what);                    // "kernels", "NCCL kernels", "memory", "MPI", "CUDA API"
int64_t nsys_bin_begin(const nsys *n,
                       size_t i); // since the profile began; i = bin_count: the end of the last
// The busy shares of so many columns from `from_ns` to `to_ns` since the profile began; NAN outside the file's time.
void nsys_busy_columns(const nsys *n, const nsys_gpu *gpu, int what, int64_t from_ns, int64_t to_ns, double *columns,
                       size_t count);

// ---- several files: one for each rank or node ----

// How evenly something was spent over processes that have any.
typedef struct nsys_balance {
    size_t count;       // processes whose file has such events; 0: the other fields mean nothing
    double mean, ratio; // ns; the largest over the mean, NAN where that is 0
    size_t high, low;   // indexes into nsys_job.spent
} nsys_balance;

typedef struct nsys_spender {
    size_t file;
    const nsys_process *process;
} nsys_spender;

struct clocks;

// Start from {0}; nsys_job_free() at the end.
typedef struct nsys_job {
    nsys *files; // as given
    size_t file_count;
    nsys together;       // its tables are of all files; nothing else is set
    nsys_spender *spent; // every process, by rank, then file and pid
    size_t spent_count;
    int64_t repeated_rank; // the lowest rank found in several files, which may count twice; -1: none
    nsys_balance balance[NSYS_SPENT];
    struct clocks *clocks;  // clocks.h, beside files; NULL unless placed
    char *clock_text;       // what they are aligned by, and what is uncertain; names in it are hostile
    bool placed;            // every file says when it began, so there is one axis
    int64_t *begin_ns;      // beside files, when placed: CLOCK_REALTIME on the axis when its profile began
    int64_t from_ns, to_ns; // when placed: first and last event of a GPU on the axis; equal: none
    size_t meetings;        // collectives that the clocks were compared by
} nsys_job;

netprof_err nsys_job_read(nsys_job *job, const char *const *paths, size_t count, const nsys_options *options,
                          netprof_error *error);
void nsys_job_free(nsys_job *job);

// One process of several whose own kernels (NCCL's wait for others) took longer than those of all others.
typedef struct nsys_slow {
    size_t place;  // in nsys_job.spent
    double own_ns; // all its own kernels
    // Times the others' median: all its kernels, one of them in the mean, and how many they are.
    double times, each_times, count_times;
} nsys_slow;

// False: none stands out, or it cannot be told: several processes in one file, CUDA graphs.
bool nsys_job_slow(const nsys_job *job, nsys_slow *slow);

json_object *nsys_json(nsys *n,
                       const bool chosen[NSYS_TABLES]); // an object for one file
// "together", "processes", "balance" and "clocks" of several.
void nsys_job_json(json_object *to, nsys_job *job, const bool chosen[NSYS_TABLES]);

#endif

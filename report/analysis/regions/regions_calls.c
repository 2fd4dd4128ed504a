#include "regions_calls.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define ALL_MEET "a collective that no rank leaves before all have entered"
#define ROOTED   "ranks wait for the root, or the root for them"
#define CREATES  "a collective over the communicator that it makes or frees"
#define MATCHES  "ends when a message came"
#define HANDS    "a large message waits for its receiver (rendezvous)"
#define COMPLETE "ends when requests are complete, which another rank decides"
#define PIECES   "asks without blocking: in a loop it is a wait in pieces"
#define WINDOW   "a collective over the window"
#define TARGET   "ends when the other side of the window did its part"
#define TOGETHER "a file collective: ends when all ranks came, and with their data"

const regions_call_row regions_call_rows[] = {
    {"Init", REGIONS_APART, "the launcher's time"},
    {"Init_thread", REGIONS_APART, "the launcher's time"},
    {"Finalize", REGIONS_APART, "the end: the last rank ends it"},
    {"Abort", REGIONS_APART, "the end"},

    {"Barrier", REGIONS_ALL, ALL_MEET},
    {"Allreduce", REGIONS_ALL, ALL_MEET},
    {"Allgather", REGIONS_ALL, ALL_MEET},
    {"Allgatherv", REGIONS_ALL, ALL_MEET},
    {"Alltoall", REGIONS_ALL, ALL_MEET},
    {"Alltoallv", REGIONS_ALL, ALL_MEET},
    {"Alltoallw", REGIONS_ALL, ALL_MEET},
    {"Reduce_scatter", REGIONS_ALL, ALL_MEET},
    {"Reduce_scatter_block", REGIONS_ALL, ALL_MEET},
    {"Scan", REGIONS_ALL, "a rank waits for all ranks below it"},
    {"Exscan", REGIONS_ALL, "a rank waits for all ranks below it"},
    {"Bcast", REGIONS_ALL, ROOTED},
    {"Scatter", REGIONS_ALL, ROOTED},
    {"Scatterv", REGIONS_ALL, ROOTED},
    {"Gather", REGIONS_ALL, ROOTED},
    {"Gatherv", REGIONS_ALL, ROOTED},
    {"Reduce", REGIONS_ALL, ROOTED},
    {"Neighbor_allgather", REGIONS_PEER, "ends when the neighbours came"},
    {"Neighbor_allgatherv", REGIONS_PEER, "ends when the neighbours came"},
    {"Neighbor_alltoall", REGIONS_PEER, "ends when the neighbours came"},
    {"Neighbor_alltoallv", REGIONS_PEER, "ends when the neighbours came"},
    {"Neighbor_alltoallw", REGIONS_PEER, "ends when the neighbours came"},

    {"Send", REGIONS_PEER, HANDS},
    {"Ssend", REGIONS_PEER, "ends when the receiver has begun to receive"},
    {"Rsend", REGIONS_PEER, HANDS},
    {"Recv", REGIONS_PEER, MATCHES},
    {"Mrecv", REGIONS_PEER, MATCHES},
    {"Sendrecv", REGIONS_PEER, MATCHES},
    {"Sendrecv_replace", REGIONS_PEER, MATCHES},
    {"Probe", REGIONS_PEER, MATCHES},
    {"Mprobe", REGIONS_PEER, MATCHES},
    {"Iprobe", REGIONS_POLLS, PIECES},
    {"Improbe", REGIONS_POLLS, PIECES},
    {"Wait", REGIONS_PEER, COMPLETE},
    {"Waitall", REGIONS_PEER, COMPLETE},
    {"Waitany", REGIONS_PEER, COMPLETE},
    {"Waitsome", REGIONS_PEER, COMPLETE},
    {"Test", REGIONS_POLLS, PIECES},
    {"Testall", REGIONS_POLLS, PIECES},
    {"Testany", REGIONS_POLLS, PIECES},
    {"Testsome", REGIONS_POLLS, PIECES},
    {"Parrived", REGIONS_POLLS, PIECES},
    {"Request_get_status", REGIONS_POLLS, PIECES},

    {"Comm_create", REGIONS_ALL, CREATES},
    {"Comm_create_group", REGIONS_ALL, CREATES},
    {"Comm_dup", REGIONS_ALL, CREATES},
    {"Comm_dup_with_info", REGIONS_ALL, CREATES},
    {"Comm_split", REGIONS_ALL, CREATES},
    {"Comm_split_type", REGIONS_ALL, CREATES},
    {"Comm_free", REGIONS_ALL, CREATES},
    {"Comm_disconnect", REGIONS_ALL, CREATES},
    {"Comm_spawn", REGIONS_ALL, "starts processes and waits for them"},
    {"Comm_spawn_multiple", REGIONS_ALL, "starts processes and waits for them"},
    {"Comm_join", REGIONS_PEER, "ends when the other process came"},
    {"Comm_accept", REGIONS_PEER, "ends when the other processes came"},
    {"Comm_connect", REGIONS_PEER, "ends when the other processes came"},
    {"Intercomm_create", REGIONS_ALL, CREATES},
    {"Intercomm_merge", REGIONS_ALL, CREATES},
    {"Cart_create", REGIONS_ALL, CREATES},
    {"Cart_sub", REGIONS_ALL, CREATES},
    {"Graph_create", REGIONS_ALL, CREATES},
    {"Dist_graph_create", REGIONS_ALL, CREATES},
    {"Dist_graph_create_adjacent", REGIONS_ALL, CREATES},

    {"Win_create", REGIONS_ALL, WINDOW},
    {"Win_allocate", REGIONS_ALL, WINDOW},
    {"Win_allocate_shared", REGIONS_ALL, WINDOW},
    {"Win_create_dynamic", REGIONS_ALL, WINDOW},
    {"Win_free", REGIONS_ALL, WINDOW},
    {"Win_fence", REGIONS_ALL, WINDOW},
    {"Win_start", REGIONS_PEER, TARGET},
    {"Win_complete", REGIONS_PEER, TARGET},
    {"Win_wait", REGIONS_PEER, TARGET},
    {"Win_test", REGIONS_POLLS, PIECES},
    {"Win_lock", REGIONS_PEER, "waits for others that hold the lock"},
    {"Win_lock_all", REGIONS_PEER, "waits for others that hold the lock"},
    {"Win_unlock", REGIONS_PEER, TARGET},
    {"Win_unlock_all", REGIONS_PEER, TARGET},
    {"Win_flush", REGIONS_PEER, TARGET},
    {"Win_flush_all", REGIONS_PEER, TARGET},
    {"Win_flush_local", REGIONS_PEER, TARGET},
    {"Win_flush_local_all", REGIONS_PEER, TARGET},

    {"File_open", REGIONS_ALL, TOGETHER},
    {"File_close", REGIONS_ALL, TOGETHER},
    {"File_set_size", REGIONS_ALL, TOGETHER},
    {"File_preallocate", REGIONS_ALL, TOGETHER},
    {"File_set_view", REGIONS_ALL, TOGETHER},
    {"File_sync", REGIONS_ALL, TOGETHER},
    {"File_read_all", REGIONS_ALL, TOGETHER},
    {"File_read_at_all", REGIONS_ALL, TOGETHER},
    {"File_read_ordered", REGIONS_ALL, TOGETHER},
    {"File_write_all", REGIONS_ALL, TOGETHER},
    {"File_write_at_all", REGIONS_ALL, TOGETHER},
    {"File_write_ordered", REGIONS_ALL, TOGETHER},
    {"File_read_all_begin", REGIONS_ALL, TOGETHER},
    {"File_read_all_end", REGIONS_ALL, TOGETHER},
    {"File_read_at_all_begin", REGIONS_ALL, TOGETHER},
    {"File_read_at_all_end", REGIONS_ALL, TOGETHER},
    {"File_read_ordered_begin", REGIONS_ALL, TOGETHER},
    {"File_read_ordered_end", REGIONS_ALL, TOGETHER},
    {"File_write_all_begin", REGIONS_ALL, TOGETHER},
    {"File_write_all_end", REGIONS_ALL, TOGETHER},
    {"File_write_at_all_begin", REGIONS_ALL, TOGETHER},
    {"File_write_at_all_end", REGIONS_ALL, TOGETHER},
    {"File_write_ordered_begin", REGIONS_ALL, TOGETHER},
    {"File_write_ordered_end", REGIONS_ALL, TOGETHER},
};
const size_t regions_call_row_count = sizeof regions_call_rows / sizeof *regions_call_rows;

// Words of the user's own names, where only they tell what a region is for.
static const struct {
    const char *word;
    regions_class kind;
} words[] = {{"wait", REGIONS_PEER},        {"waiting", REGIONS_PEER},       {"waitall", REGIONS_PEER},
             {"recv", REGIONS_PEER},        {"receive", REGIONS_PEER},       {"sendrecv", REGIONS_PEER},
             {"exchange", REGIONS_PEER},    {"halo", REGIONS_PEER},          {"comm", REGIONS_PEER},
             {"communicate", REGIONS_PEER}, {"communication", REGIONS_PEER}, {"idle", REGIONS_PEER},
             {"barrier", REGIONS_ALL},      {"sync", REGIONS_ALL},           {"synchronize", REGIONS_ALL},
             {"synchronise", REGIONS_ALL},  {"fence", REGIONS_ALL},          {"allreduce", REGIONS_ALL},
             {"allgather", REGIONS_ALL},    {"alltoall", REGIONS_ALL},       {"bcast", REGIONS_ALL},
             {"broadcast", REGIONS_ALL}};

bool regions_is_mpi_name(const char *name)
{
    return strncmp(name, "MPI_", 4) == 0;
}

const char *regions_class_name(regions_class kind)
{
    static const char *const names[] = {"work",  "moves data",        "start and end",
                                        "polls", "waits for another", "waits for all"};
    return names[kind];
}

bool regions_class_waits(regions_class kind)
{
    return kind >= REGIONS_POLLS;
}

static regions_class regions_class_of_call(const char *name)
{
    size_t length = strlen(name);
    if (length > 2 && strcmp(name + length - 2, "_c") == 0) length -= 2; // with large counts
    for (size_t i = 0; i < regions_call_row_count; i++)
        if (strlen(regions_call_rows[i].name) == length && strncmp(name, regions_call_rows[i].name, length) == 0)
            return regions_call_rows[i].kind;
    return REGIONS_MOVES;
}

// "haloExchange", "halo_exchange", "halo exchange" have the same words.
static size_t regions_word_length(const char *at)
{
    size_t n = 0;
    while (isalpha((unsigned char)at[n]) && !(n && isupper((unsigned char)at[n]) && islower((unsigned char)at[n - 1])))
        n++;
    return n;
}

static regions_class regions_class_of_words(const char *name)
{
    regions_class found = REGIONS_WORK;
    while (*name) {
        size_t n = regions_word_length(name);
        for (size_t i = 0; n && i < sizeof words / sizeof *words; i++)
            if (strlen(words[i].word) == n && strncasecmp(name, words[i].word, n) == 0 && words[i].kind > found)
                found = words[i].kind;
        name += n ? n : 1;
    }
    return found;
}

regions_class regions_class_of(const char *name, bool by_words)
{
    if (regions_is_mpi_name(name)) return regions_class_of_call(name + 4);
    return by_words ? regions_class_of_words(name) : REGIONS_WORK;
}

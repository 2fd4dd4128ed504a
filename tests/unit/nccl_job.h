// A small job of two communicators as NCCL's logs have it, with a record that is missing and lines that are none: figures
// of it are worked out by hand in tests. Include netprof.h first.
#ifndef NETPROF_TESTS_NCCL_JOB_H
#define NETPROF_TESTS_NCCL_JOB_H

#include "analysis/nccl/logs/nccl_logs.h"
#include "support.h"

#include <json-c/json.h>
#include <math.h>

// T is 2025-06-09 17:26:40 UTC. Rank r of a call with the number sn is logged at T + sn s + r * 250 ms.
#define T UINT64_C(1749490000000000)

typedef struct call {
    const char *id, *name, *coll, *algo;
    int ranks, nodes;
    unsigned sn;
    unsigned long long size;
    int us[4];  // by rank; 0: it has no record
    double bus; // of the algorithm's bandwidth
} call;

// Ranks 0 and 1 are on h1, 2 and 3 on h2; dp has all four, tp the first two.
SUPPORT const call calls[] = {
    {"0xab", "dp", "AllReduce", "RING", 4, 2, 4, 1000000, {150, 151, 100, 153}, 1.5},
    {"0xab", "dp", "AllReduce", "RING", 4, 2, 5, 1000000, {150, 140, 120, 0}, 1.5},
    {"0xab", "dp", "Broadcast", "TREE", 4, 2, 6, 2048, {32, 33, 32, 40}, 1},
    {"0x1c", "tp", "AllReduce", "RING", 2, 1, 0, 500, {20, 10, 0, 0}, 1},
};

SUPPORT void put_call(FILE *f, const call *c, int rank)
{
    double alg = (double)c->size / 1e3 / c->us[rank];
    fprintf(f,
            "{\"header\":{\"id\":\"%s\",\"comm_name\":\"%s\",\"rank\":%d,\"n_ranks\":%d,\"nnodes\":%d},\"metadata\":{"
            "\"inspector_output_format_version\":\"v4.2\",\"dump_timestamp_us\":%llu,\"hostname\":\"h%d\",\"pid\":%d},"
            "\"coll_perf\":{\"coll\":\"%s\",\"coll_algo\":\"%s\",\"coll_proto\":\"LL\",\"coll_sn\":%u,"
            "\"coll_msg_size_bytes\":%llu,\"coll_exec_time_us\":%d,\"coll_timing_source\":\"kernel_gpu\","
            "\"coll_algobw_gbs\":%.9f,\"coll_busbw_gbs\":%.9f}}\n",
            c->id, c->name, rank, c->ranks, c->nodes,
            (unsigned long long)T + c->sn * 1000000ULL + (unsigned)rank * 250000ULL, rank / 2 + 1, 100 + rank, c->coll,
            c->algo, c->sn, c->size, c->us[rank], alg, alg * c->bus);
}

// Twelve of one size from rank 1 to rank 2, and what rank 2 received, whose partner its log does not tell.
SUPPORT void put_pairs(FILE *f, int rank)
{
    for (int i = 0; i < 12 && (rank == 1 || rank == 2); i++)
        fprintf(
            f,
            "{\"header\":{\"id\":\"0xab\",\"comm_name\":\"dp\",\"rank\":%d,\"n_ranks\":4,\"nnodes\":2},\"metadata\":{"
            "\"inspector_output_format_version\":\"v4.0\",\"dump_timestamp_us\":%llu,\"hostname\":\"h%d\","
            "\"pid\":%d},\"p2p_perf\":{\"p2p\":\"%s\",\"p2p_sn\":%d,%s\"p2p_msg_size_bytes\":4096,"
            "\"p2p_exec_time_us\":%d,\"p2p_timing_source\":\"kernel_cpu\",\"p2p_algobw_gbs\":2.0,"
            "\"p2p_busbw_gbs\":%d.5}}\n",
            rank, (unsigned long long)T, rank / 2 + 1, 100 + rank, rank == 1 ? "Send" : "Recv", i,
            rank == 1 ? "\"p2p_peer\":2," : "", rank == 1 ? 50 : 60, rank + 1);
}

SUPPORT void read_job(nccl *n, char **tree)
{
    const nccl_options how = {.peaks = &(nccl_peak){"*", 40}, .peak_count = 1};
    *tree = tree_make();
    for (int rank = 0; rank < 4; rank++) {
        char name[40];
        snprintf(name, sizeof name, "h%d-pid%d.log", rank / 2 + 1, 100 + rank);
        FILE *f = fopen(tree_path(*tree, name), "we");
        assert_non_null(f);
        for (size_t i = 0; i < COUNT(calls); i++)
            if (calls[i].us[rank]) put_call(f, &calls[i], rank);
        put_pairs(f, rank);
        if (rank == 3) fputs("nonsense\n\n[7]\n{\"header\":", f); // line 3: a call is missing; the last is cut
        assert_int_equal(fclose(f), 0);
    }
    *n = (nccl){0};
    const char *path = *tree;
    assert_int_equal(nccl_read(n, &path, 1, &how, NULL), NETPROF_OK);
}

typedef struct json_number {
    const char *path;
    double value;
} json_number;

SUPPORT void check_json(json_object *o, const json_number *numbers, size_t count)
{
    json_object *at;
    for (size_t i = 0; i < count; i++) {
        if (json_pointer_get(o, numbers[i].path, &at)) fail_msg("no %s", numbers[i].path);
        if (!(fabs(json_object_get_double(at) - numbers[i].value) <= 1e-9 * fabs(numbers[i].value)))
            fail_msg("%s: %s, not %g", numbers[i].path, json_object_to_json_string(at), numbers[i].value);
    }
}

#endif

// Logs of a job that is planned: when each rank comes and how long the wire takes is arithmetic, so that what must be said
// of it is, too. A call takes a rank what the wire takes, and what it waits for the last. Include netprof.h first.
#ifndef NETPROF_TESTS_NCCL_PLAN_H
#define NETPROF_TESTS_NCCL_PLAN_H

#include "analysis/nccl/logs/nccl_logs.h"
#include "support.h"

enum { PLAN_LOST = -1, PLAN_RANKS = 64, PLAN_SECOND = 1000000 };

// A rank's call. Ranks are those of the world, place after place of host after host.
typedef struct plan_call {
    char group; // 'w': the world; 'r': a rail, one place of all hosts; 'n': a node; 'p': one place of two hosts
    int number; // of the communicator among those of its group
    int rank, host, place;
    int what; // in plan_whats
    int call; // 0, 1, ...
} plan_call;

typedef struct plan {
    int hosts, each; // ranks of a host
    int calls;       // of each collective and size
    int whats;
    const char *groups;
    int (*late)(const plan_call *c); // us after the first
    int (*wire)(const plan_call *c); // us; PLAN_LOST: this rank's record is lost
} plan;

SUPPORT const struct plan_what {
    const char *coll;
    unsigned long long size;
} plan_whats[] = {{"AllReduce", 1 << 20}, {"Broadcast", 4096}, {"AllReduce", 1 << 24}, {"ReduceScatter", 1 << 16}};

// The ranks of a communicator; 0: there is no such one.
SUPPORT int plan_ranks(const plan *p, char group, int number, int *ranks)
{
    int count = 0, first = 0, second = 0;
    for (int i = 0; i < number && group == 'p'; i++)
        if (++second >= p->hosts - 1) second = ++first;
    if (group == 'p') second++;
    if (number >= (group == 'w' ? 1 : group == 'r' ? p->each : p->hosts) && group != 'p') return 0;
    if (group == 'p' && second >= p->hosts) return 0;
    for (int rank = 0; rank < p->hosts * p->each; rank++) {
        int host = rank / p->each, place = rank % p->each;
        bool is = group == 'w' || (group == 'r' && place == number) || (group == 'n' && host == number) ||
                  (group == 'p' && !place && (host == first || host == second));
        if (is) ranks[count++] = rank;
    }
    return count;
}

SUPPORT plan_call plan_call_of(const plan *p, char group, int number, int rank, int what, int call)
{
    return (plan_call){group, number, rank, rank / p->each, rank % p->each, what, call};
}

// AllReduce of two sizes has its numbers in turn.
SUPPORT int plan_sn(const plan *p, int what, int call)
{
    bool two = p->whats > 2 && what % 2 == 0;
    return two ? 2 * call + what / 2 : call;
}

SUPPORT double plan_bus_gbs(const struct plan_what *what, int ranks, int us)
{
    bool all = *what->coll == 'A', part = *what->coll == 'R';
    double bytes = (double)what->size * (part ? ranks : 1);
    return bytes / 1e3 / us * (all ? 2.0 * (ranks - 1) / ranks : part ? (ranks - 1.0) / ranks : 1);
}

SUPPORT void plan_put(FILE *f, const plan *p, const plan_call *c, const int *ranks, int count)
{
    int last = 0, own = 0, place = 0, wire = p->wire(c);
    const struct plan_what *what = &plan_whats[c->what];
    bool apart = c->group == 'r' || c->group == 'p';
    if (wire == PLAN_LOST) return;
    for (int i = 0; i < count; i++) {
        plan_call other = plan_call_of(p, c->group, c->number, ranks[i], c->what, c->call);
        int late = p->late(&other);
        if (late > last) last = late;
        if (ranks[i] == c->rank) own = late, place = i;
    }
    int us = wire + last - own;
    fprintf(
        f,
        "{\"header\":{\"id\":\"0x%d%d\",\"comm_name\":\"%c%d\",\"rank\":%d,\"n_ranks\":%d,\"nnodes\":%d},\"metadata\":{"
        "\"inspector_output_format_version\":\"v4.2\",\"dump_timestamp_us\":%llu,\"hostname\":\"h%d\",\"pid\":%d},"
        "\"coll_perf\":{\"coll\":\"%s\",\"coll_sn\":%d,\"coll_msg_size_bytes\":%llu,\"coll_exec_time_us\":%d,"
        "\"coll_algobw_gbs\":1.0,\"coll_busbw_gbs\":%.9f}}\n",
        c->group, c->number, c->group, c->number, place, count,
        apart             ? count
        : c->group == 'n' ? 1
                          : p->hosts,
        (1000 + (unsigned long long)c->call) * PLAN_SECOND + (unsigned)c->rank, c->host, 100 + c->rank, what->coll,
        plan_sn(p, c->what, c->call), what->size, us, plan_bus_gbs(what, count, us));
}

SUPPORT void plan_write_rank(const plan *p, FILE *f, int rank)
{
    int ranks[PLAN_RANKS];
    for (const char *group = p->groups; *group; group++)
        for (int number = 0, count; (count = plan_ranks(p, *group, number, ranks)) > 0; number++) {
            bool in = false;
            for (int i = 0; i < count; i++)
                in |= ranks[i] == rank;
            for (int call = 0; in && call < p->calls; call++)
                for (int what = 0; what < p->whats; what++) {
                    plan_call c = plan_call_of(p, *group, number, rank, what, call);
                    plan_put(f, p, &c, ranks, count);
                }
        }
}

SUPPORT void plan_write(const plan *p, const char *tree)
{
    for (int rank = 0; rank < p->hosts * p->each; rank++) {
        char name[64];
        snprintf(name, sizeof name, "h%d-pid%d.log", rank / p->each, 100 + rank);
        FILE *f = fopen(tree_path(tree, name), "we");
        assert_non_null(f);
        plan_write_rank(p, f, rank);
        assert_int_equal(fclose(f), 0);
    }
}

#endif

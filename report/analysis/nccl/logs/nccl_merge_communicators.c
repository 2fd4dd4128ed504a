// Which members form one communicator, and the model's arrays of communicators, processes and hosts.
#include "nccl_merge_parts.h"
#include "analysis/base/saturating_sum.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// ---- which members are one communicator ----

// By id, ranks, nodes; then rank, time.
static int runs_by_group(const void *a, const void *b)
{
    const nccl_joined *x = *(nccl_joined *const *)a, *y = *(nccl_joined *const *)b;
    int order = strcmp(x->id, y->id);
    if (!order) order = nccl_compare_i64(x->ranks, y->ranks);
    if (!order) order = nccl_compare_i64(x->nodes, y->nodes);
    if (!order) order = nccl_compare_i64(x->rank, y->rank);
    if (!order) order = nccl_compare_u64(x->first_dump_us, y->first_dump_us);
    if (!order) order = nccl_compare_i64(x->generation, y->generation);
    if (!order) order = strcmp(x->host, y->host);
    return order ? order : nccl_compare_i64(x->pid, y->pid);
}

static bool runs_same_group(const nccl_joined *a, const nccl_joined *b)
{
    return a->id == b->id && a->ranks == b->ranks && a->nodes == b->nodes;
}

// How far the member's time is from the run's, 0 when they overlap.
static uint64_t runs_distance(const nccl_joined *run, const nccl_joined *x)
{
    if (x->first_dump_us > run->last_dump_us) return x->first_dump_us - run->last_dump_us;
    if (run->first_dump_us > x->last_dump_us) return run->first_dump_us - x->last_dump_us;
    return 0;
}

static uint64_t runs_apart(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

// The processes of one rank, `count` of them by time, go to different runs in their order, each to the nearest that
// leaves room for the later ones.
static void runs_place_rank(nccl_joined **rank, size_t count, nccl_joined **runs, size_t run_count)
{
    size_t least = 0;
    for (size_t i = 0; i < count; i++) {
        size_t last = run_count - (count - i), best = least;
        for (size_t k = least + 1; k <= last; k++) {
            uint64_t near = runs_distance(runs[k], rank[i]), best_near = runs_distance(runs[best], rank[i]);
            if (near < best_near ||
                (near == best_near && runs_apart(runs[k]->first_dump_us, rank[i]->first_dump_us) <
                                          runs_apart(runs[best]->first_dump_us, rank[i]->first_dump_us)))
                best = k;
        }
        rank[i]->run = (uint32_t)best;
        least = best + 1;
    }
}

static size_t runs_same_rank(nccl_joined **members, size_t count)
{
    size_t k = 1;
    while (k < count && members[k]->rank == members[0]->rank)
        k++;
    return k;
}

// As many runs as the rank with the most processes has; that rank's times say when they ran.
static void runs_place_group(nccl_joined **members, size_t count, uint32_t group)
{
    nccl_joined **runs = members;
    size_t run_count = 0;
    for (size_t i = 0, k; i < count; i += k) {
        k = runs_same_rank(members + i, count - i);
        if (k <= run_count) continue;
        runs = members + i;
        run_count = k;
    }
    for (size_t i = 0, k; i < count; i += k) {
        k = runs_same_rank(members + i, count - i);
        runs_place_rank(members + i, k, runs, run_count);
    }
    for (size_t i = 0; i < count; i++)
        members[i]->group = group;
}

// By group and run, then rank.
static int runs_by_communicator(const void *a, const void *b)
{
    const nccl_joined *x = *(nccl_joined *const *)a, *y = *(nccl_joined *const *)b;
    int order = nccl_compare_i64(x->group, y->group);
    if (!order) order = nccl_compare_i64(x->run, y->run);
    if (!order) order = nccl_compare_i64(x->rank, y->rank);
    return order ? order : runs_by_group(a, b);
}

// A communicator while it is sorted.
typedef struct gathered {
    nccl_communicator c;
    nccl_joined **members;
    size_t count;
} gathered;

static int runs_by_display(const void *a, const void *b)
{
    const nccl_communicator *x = &((const gathered *)a)->c, *y = &((const gathered *)b)->c;
    int order = nccl_compare_i64(y->type, x->type); // mixed, the whole job, first
    if (!order) order = nccl_compare_i64(y->ranks, x->ranks);
    if (!order) order = strcmp(x->name, y->name);
    if (!order) order = strcmp(x->id, y->id);
    return order ? order : nccl_compare_i64(x->run, y->run);
}

static int runs_by_id_and_time(const void *a, const void *b)
{
    const nccl_communicator *x = &(*(gathered *const *)a)->c, *y = &(*(gathered *const *)b)->c;
    int order = strcmp(x->id, y->id);
    return order ? order : nccl_compare_u64(x->first_dump_us, y->first_dump_us);
}

static void runs_gather(gathered *g, nccl_joined **members, size_t count)
{
    nccl_joined *first = members[0];
    g->members = members;
    g->count = count;
    g->c = (nccl_communicator){.id = first->id,
                               .name = "",
                               .ranks = first->ranks,
                               .nodes = first->nodes,
                               .type = nccl_class_of(first->ranks, first->nodes),
                               .first_dump_us = UINT64_MAX};
    for (size_t i = 0; i < count; i++) {
        if (!*g->c.name) g->c.name = members[i]->name;
        if (members[i]->first_dump_us < g->c.first_dump_us) g->c.first_dump_us = members[i]->first_dump_us;
        if (members[i]->last_dump_us > g->c.last_dump_us) g->c.last_dump_us = members[i]->last_dump_us;
    }
}

static void runs_number(gathered *all, size_t count)
{
    gathered **order = memory_array(NULL, count, sizeof *order);
    for (size_t i = 0; i < count; i++)
        order[i] = &all[i];
    qsort(order, count, sizeof(gathered *), runs_by_id_and_time);
    for (size_t i = 0; i < count; i++)
        order[i]->c.run = i && order[i - 1]->c.id == order[i]->c.id ? order[i - 1]->c.run + 1 : 1;
    free(order);
}

// Its name where no other id has it, else with the id; and which run.
static void runs_label(nccl_merging *m, nccl_communicator *c, bool shared)
{
    char run[32] = "", text[1200];
    if (c->run > 1) snprintf(run, sizeof run, " #%u", c->run);
    if (*c->name && shared)
        snprintf(text, sizeof text, "%.512s (%.512s)%s", c->name, c->id, run);
    else
        snprintf(text, sizeof text, "%.512s%s", *c->name ? c->name : c->id, run);
    c->label = nccl_arena_text(&m->memory->arena, text, strlen(text));
}

static int runs_by_name(const void *a, const void *b)
{
    const nccl_communicator *x = *(nccl_communicator *const *)a, *y = *(nccl_communicator *const *)b;
    int order = strcmp(x->name, y->name);
    return order ? order : strcmp(x->id, y->id);
}

static void runs_make_labels(nccl_merging *m)
{
    nccl *n = m->n;
    size_t count = n->communicator_count;
    nccl_communicator **order = memory_array(NULL, count, sizeof *order);
    for (size_t i = 0; i < count; i++)
        order[i] = &n->communicators[i];
    qsort(order, count, sizeof(nccl_communicator *), runs_by_name);
    for (size_t i = 0; i < count; i++) {
        bool before = i && order[i - 1]->name == order[i]->name && order[i - 1]->id != order[i]->id;
        size_t k = i;
        while (k + 1 < count && order[k + 1]->name == order[i]->name && order[k + 1]->id == order[i]->id)
            k++;
        bool behind = k + 1 < count && order[k + 1]->name == order[i]->name;
        for (size_t j = i; j <= k; j++)
            runs_label(m, order[j], before || behind);
        i = k;
    }
    free(order);
}

// ---- the model's arrays ----

typedef struct process_key {
    const char *host;
    int64_t pid;
    nccl_joined *member;
} process_key;

static int runs_by_process(const void *a, const void *b)
{
    const process_key *x = a, *y = b;
    int order = strcmp(x->host, y->host);
    if (!order) order = nccl_compare_i64(x->pid, y->pid);
    return order ? order : nccl_compare_i64(x->member->final, y->member->final);
}

static void runs_add_process(nccl *n, const process_key *key)
{
    nccl_host *host = n->host_count ? &n->hosts[n->host_count - 1] : NULL;
    nccl_process *p = n->process_count ? &n->processes[n->process_count - 1] : NULL;
    bool other_host = !host || host->name != key->host;
    if (other_host) {
        host = &n->hosts[n->host_count++];
        *host = (nccl_host){.name = key->host, .first_process = (uint32_t)n->process_count};
    }
    if (other_host || p->pid != key->pid) {
        p = &n->processes[n->process_count++];
        *p = (nccl_process){.host = (uint32_t)(n->host_count - 1),
                            .pid = key->pid,
                            .local = host->process_count++,
                            .first_dump_us = UINT64_MAX};
    }
    p->member_count++;
    nccl_member *member = &n->members[key->member->final];
    member->process = (uint32_t)(n->process_count - 1);
    if (member->first_dump_us < p->first_dump_us) p->first_dump_us = member->first_dump_us;
    if (member->last_dump_us > p->last_dump_us) p->last_dump_us = member->last_dump_us;
}

static void runs_make_processes(nccl_merging *m)
{
    nccl *n = m->n;
    size_t count = arrlenu(m->members);
    process_key *keys = memory_array(NULL, count, sizeof *keys);
    n->hosts = memory_calloc(count, sizeof *n->hosts);
    n->processes = memory_calloc(count, sizeof *n->processes);
    n->process_members = memory_calloc(count, sizeof *n->process_members);
    for (size_t i = 0; i < count; i++)
        keys[i] = (process_key){m->members[i].host, m->members[i].pid, &m->members[i]};
    qsort(keys, count, sizeof *keys, runs_by_process);
    for (size_t i = 0; i < count; i++) {
        size_t known = n->process_count;
        runs_add_process(n, &keys[i]);
        if (n->process_count > known) n->processes[known].first_member = (uint32_t)i;
        n->process_members[i] = keys[i].member->final;
    }
    free(keys);
}

static void runs_fill_communicator(nccl_merging *m, const gathered *g)
{
    nccl *n = m->n;
    nccl_communicator *c = &n->communicators[n->communicator_count];
    *c = g->c;
    c->first_member = (uint32_t)n->member_count;
    c->member_count = (uint32_t)g->count;
    c->peak_gbs = NAN;
    for (size_t i = 0; i < g->count; i++) {
        nccl_joined *x = g->members[i];
        x->final = (uint32_t)n->member_count;
        n->members[n->member_count++] = (nccl_member){.communicator = (uint32_t)n->communicator_count,
                                                      .rank = x->rank,
                                                      .stats = x->stats,
                                                      .first_dump_us = x->first_dump_us,
                                                      .last_dump_us = x->last_dump_us};
        n->has_dump_stats |= x->stats.dumps > 0;
        n->untimed = sum_capped(n->untimed, x->stats.untimed);
    }
    n->communicator_count++;
}

void nccl_merge_communicators(nccl_merging *m)
{
    nccl *n = m->n;
    size_t count = arrlenu(m->members), groups = 0;
    nccl_joined **order = memory_array(NULL, count, sizeof *order);
    gathered *all = memory_calloc(count, sizeof *all);
    n->communicators = memory_calloc(count, sizeof *n->communicators);
    n->members = memory_calloc(count, sizeof *n->members);
    for (size_t i = 0; i < count; i++)
        order[i] = &m->members[i];
    qsort(order, count, sizeof(nccl_joined *), runs_by_group);
    for (size_t i = 0, k; i < count; i = k, groups++) {
        for (k = i + 1; k < count && runs_same_group(order[i], order[k]);)
            k++;
        runs_place_group(order + i, k - i, (uint32_t)groups);
    }
    qsort(order, count, sizeof(nccl_joined *), runs_by_communicator);
    groups = 0;
    for (size_t i = 0, k; i < count; i = k) {
        for (k = i + 1; k < count && order[k]->group == order[i]->group && order[k]->run == order[i]->run;)
            k++;
        runs_gather(&all[groups++], order + i, k - i);
    }
    runs_number(all, groups);
    qsort(all, groups, sizeof *all, runs_by_display);
    for (size_t i = 0; i < groups; i++)
        runs_fill_communicator(m, &all[i]);
    free(order);
    free(all);
    runs_make_labels(m);
    runs_make_processes(m);
}

// Point to point and proxies.
#include "nccl_parts.h"
#include "nccl_spread.h"
#include "analysis/base/memory.h"
#include "analysis/base/saturating_sum.h"

#include <math.h>
#include <stdlib.h>

// ---- point to point ----

typedef struct sent {
    uint32_t member;
    const nccl_what *what; // of the chunk
    int64_t peer;
    uint64_t sn, size, time_us;
    double bus_gbs;
} sent;

static int p2p_by_group(const sent *x, const sent *y)
{
    int order = nccl_compare_u64(x->member, y->member);
    if (!order) order = strcmp(x->what->coll, y->what->coll);
    if (!order) order = (x->peer > y->peer) - (x->peer < y->peer);
    if (!order) order = strcmp(x->what->timing, y->what->timing);
    return order ? order : nccl_compare_u64(x->size, y->size);
}

static int p2p_by_sent(const void *a, const void *b)
{
    const sent *x = a, *y = b;
    int order = p2p_by_group(x, y);
    if (!order) order = nccl_compare_u64(x->sn, y->sn);
    if (!order) order = nccl_compare_u64(x->time_us, y->time_us);
    return order ? order : (x->bus_gbs > y->bus_gbs) - (x->bus_gbs < y->bus_gbs);
}

static bool p2p_is_copy(const sent *x, const sent *y)
{
    return p2p_by_group(x, y) == 0 && x->sn == y->sn && x->time_us == y->time_us;
}

static void p2p_add_group(nccl *n, const sent *s, size_t count, double *work)
{
    nccl_store *memory = n->memory;
    nccl_p2p *p = &n->p2p[n->p2p_count++];
    const char *operation = nccl_arena_text(&memory->arena, s->what->coll, strlen(s->what->coll));
    const char *timing = nccl_arena_text(&memory->arena, s->what->timing, strlen(s->what->timing));
    *p = (nccl_p2p){.member = s->member,
                    .peer = s->peer,
                    .operation = operation,
                    .timing = timing,
                    .size = s->size,
                    .records = count,
                    .traffic_bytes = (double)s->size * (double)count};
    for (size_t i = 0; i < count; i++)
        work[i] = (double)s[i].time_us;
    p->time_us = nccl_spread_of(work, count);
    for (size_t i = 0; i < count; i++)
        work[i] = s[i].bus_gbs;
    p->bus_gbs = nccl_spread_of(work, count);
}

static size_t p2p_collect(nccl_chunk *chunks, size_t count, sent *all)
{
    size_t total = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < arrlenu(chunks[i].p2p); k++) {
            const nccl_p2p_record *r = &chunks[i].p2p[k];
            uint32_t member = r->member == NCCL_NONE ? NCCL_NONE : chunks[i].members[r->member].global;
            if (member == NCCL_NONE) continue;
            all[total++] = (sent){member, &chunks[i].whats[r->what], r->peer, r->sn, r->size, r->time_us, r->bus_gbs};
        }
    return total;
}

static void p2p_merge_sent(nccl *n, nccl_chunk *chunks, size_t count)
{
    size_t room = 0, kept = 0, groups = 0;
    for (size_t i = 0; i < count; i++)
        room += arrlenu(chunks[i].p2p);
    if (!room) return;
    sent *all = memory_array(NULL, room, sizeof *all);
    double *work = memory_array(NULL, room, sizeof *work);
    size_t total = p2p_collect(chunks, count, all);
    if (total) qsort(all, total, sizeof *all, p2p_by_sent);
    for (size_t i = 0; i < total; i++) { // copies of a log hold the same records
        if (kept && p2p_is_copy(&all[kept - 1], &all[i])) continue;
        groups += !kept || p2p_by_group(&all[kept - 1], &all[i]) != 0;
        all[kept++] = all[i];
    }
    n->p2p = memory_calloc(groups, sizeof *n->p2p);
    for (size_t i = 0, k; i < kept; i = k) {
        for (k = i + 1; k < kept && p2p_by_group(&all[i], &all[k]) == 0;)
            k++;
        n->members[all[i].member].p2p_records += k - i;
        p2p_add_group(n, all + i, k - i, work);
    }
    free(all);
    free(work);
}

// ---- proxies ----

typedef struct proxied {
    nccl_proxy proxy;
    uint32_t file;
} proxied;

static int p2p_by_pair(const nccl_proxy *x, const nccl_proxy *y)
{
    int order = nccl_compare_u64(x->member, y->member);
    if (!order) order = (x->peer > y->peer) - (x->peer < y->peer);
    return order ? order : strcmp(x->direction, y->direction);
}

static int p2p_by_proxy(const void *a, const void *b)
{
    const proxied *x = a, *y = b;
    int order = p2p_by_pair(&x->proxy, &y->proxy);
    return order ? order : nccl_compare_u64(x->file, y->file);
}

static void p2p_add_proxy(nccl_proxy *to, const nccl_proxy *from)
{
    to->operations = sum_capped(to->operations, from->operations);
    to->steps = sum_capped(to->steps, from->steps);
    to->steps_dropped = sum_capped(to->steps_dropped, from->steps_dropped);
    to->bytes = sum_capped(to->bytes, from->bytes);
    to->total_us = sum_capped(to->total_us, from->total_us);
    to->gpu_us = sum_capped(to->gpu_us, from->gpu_us);
    to->credit_us = sum_capped(to->credit_us, from->credit_us);
    to->wire_us = sum_capped(to->wire_us, from->wire_us);
    to->flush_us = sum_capped(to->flush_us, from->flush_us);
    to->verbs_operations = sum_capped(to->verbs_operations, from->verbs_operations);
    to->socket_operations = sum_capped(to->socket_operations, from->socket_operations);
    to->timed = sum_capped(to->timed, from->timed);
    to->step_bytes = sum_capped(to->step_bytes, from->step_bytes);
    to->unsized = sum_capped(to->unsized, from->unsized);
}

// Parts of one file are summed; of copies of it the one with most operations counts.
static void p2p_keep_proxies(nccl *n, const proxied *all, size_t total)
{
    nccl_store *memory = n->memory;
    n->proxies = memory_calloc(total, sizeof *n->proxies);
    for (size_t i = 0, k; i < total; i = k) {
        nccl_proxy sum = all[i].proxy, *to = n->proxy_count ? &n->proxies[n->proxy_count - 1] : NULL;
        for (k = i + 1; k < total && p2p_by_proxy(&all[i], &all[k]) == 0; k++)
            p2p_add_proxy(&sum, &all[k].proxy);
        if (to && p2p_by_pair(to, &sum) == 0) {
            sum.direction = to->direction;
            if (sum.operations > to->operations) *to = sum;
            continue;
        }
        sum.direction = nccl_arena_text(&memory->arena, sum.direction, strlen(sum.direction));
        n->proxies[n->proxy_count++] = sum;
    }
}

static void p2p_merge_proxies(nccl *n, nccl_chunk *chunks, size_t count)
{
    size_t room = 0, total = 0;
    for (size_t i = 0; i < count; i++)
        room += arrlenu(chunks[i].proxies);
    if (!room) return;
    proxied *all = memory_array(NULL, room, sizeof *all);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < arrlenu(chunks[i].proxies); k++) {
            all[total] = (proxied){chunks[i].proxies[k], chunks[i].file};
            all[total].proxy.member = chunks[i].members[all[total].proxy.member].global;
            if (all[total].proxy.member != NCCL_NONE) total++;
        }
    if (total) qsort(all, total, sizeof *all, p2p_by_proxy);
    p2p_keep_proxies(n, all, total);
    free(all);
}

void nccl_merge_p2p(nccl *n, nccl_chunk *chunks, size_t count)
{
    p2p_merge_sent(n, chunks, count);
    p2p_merge_proxies(n, chunks, count);
}

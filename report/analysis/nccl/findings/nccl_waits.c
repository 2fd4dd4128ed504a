#include "nccl_waits.h"

#include "analysis/base/memory.h"
#include "analysis/base/saturating_sum.h"
#include "analysis/nccl/logs/nccl_spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double nccl_split_send_us(const nccl_split *s)
{
    return s->gpu_us + s->credit_us + s->wire_us;
}

double nccl_split_receive_us(const nccl_split *s)
{
    return s->receive_us + s->flush_us + s->consume_us;
}

const char *nccl_split_mostly(const nccl_split *s)
{
    const double parts[] = {s->gpu_us, s->credit_us, s->wire_us};
    double all = nccl_split_send_us(s);
    for (int i = 0; i < 3; i++)
        if (all > 0 && 2 * parts[i] >= all) return nccl_wait_name((nccl_wait)i);
    return all > 0 ? "mixed" : "";
}

nccl_split nccl_spent_split(const nccl *n, const nccl_spent *x)
{
    return (nccl_split){.sent = x->sent,
                        .received = x->received,
                        .sent_bytes = x->sent_bytes,
                        .received_bytes = x->received_bytes,
                        .gpu_us = x->gpu_us,
                        .credit_us = x->credit_us,
                        .wire_us = x->wire_us,
                        .receive_us = x->data_us,
                        .flush_us = x->flush_us,
                        .consume_us = x->consume_us,
                        .sent_at_least = x->sent_at_least || nccl_member_lost_parts(n, x->member),
                        .received_at_least = x->received_at_least || nccl_member_lost_parts(n, x->member)};
}

static void waits_add(nccl_split *to, const nccl_split *x)
{
    to->sent = sum_capped(to->sent, x->sent);
    to->received = sum_capped(to->received, x->received);
    to->sent_bytes = sum_capped(to->sent_bytes, x->sent_bytes);
    to->received_bytes = sum_capped(to->received_bytes, x->received_bytes);
    to->gpu_us += x->gpu_us;
    to->credit_us += x->credit_us;
    to->wire_us += x->wire_us;
    to->receive_us += x->receive_us;
    to->flush_us += x->flush_us;
    to->consume_us += x->consume_us;
    to->sent_at_least |= x->sent_at_least;
    to->received_at_least |= x->received_at_least;
}

// ---- rows ----

// qsort() hands nothing on.
typedef struct waits_rank {
    const nccl_spent *spent;
    uint32_t index, communicator;
} waits_rank;

static int waits_by_group(const waits_rank *x, const waits_rank *y)
{
    if (x->communicator != y->communicator) return x->communicator < y->communicator ? -1 : 1;
    int order = strcmp(x->spent->coll, y->spent->coll);
    return order ? order : (x->spent->size > y->spent->size) - (x->spent->size < y->spent->size);
}

static int waits_by_rank(const void *a, const void *b)
{
    const waits_rank *x = a, *y = b;
    int order = waits_by_group(x, y);
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

static int waits_by_time(const void *a, const void *b)
{
    const nccl_waits_row *x = a, *y = b;
    double p = nccl_split_send_us(&x->sum) + nccl_split_receive_us(&x->sum),
           q = nccl_split_send_us(&y->sum) + nccl_split_receive_us(&y->sum);
    if (p != q) return p > q ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

static void waits_find_longest(const nccl *n, nccl_waits_row *row, const waits_rank *ranks, double *work)
{
    size_t count = 0;
    row->longest = NCCL_NONE;
    row->longest_us = row->middle_us = NAN;
    for (size_t i = 0; i < row->count; i++) {
        nccl_split s = nccl_spent_split(n, ranks[i].spent);
        if (!s.sent) continue;
        double step = nccl_split_send_us(&s) / (double)s.sent;
        work[count++] = step;
        if (step <= row->longest_us) continue; // NAN at first
        row->longest_us = step;
        row->longest = ranks[i].spent->member;
    }
    if (count > 1) row->middle_us = nccl_spread_of(work, count).p50;
    if (count < 2) row->longest = NCCL_NONE;
}

void nccl_waits_make(nccl_waits *w, const nccl *n)
{
    waits_rank *ranks = memory_array(NULL, n->spent_count, sizeof *ranks);
    double *work = memory_array(NULL, n->spent_count, sizeof *work);
    size_t count = 0;
    for (size_t i = 0; i < n->spent_count; i++)
        if (n->spent[i].sent || n->spent[i].received)
            ranks[count++] = (waits_rank){&n->spent[i], (uint32_t)i, n->members[n->spent[i].member].communicator};
    if (count) qsort(ranks, count, sizeof *ranks, waits_by_rank);
    *w = (nccl_waits){.items = memory_array(NULL, count, sizeof *w->items),
                      .ranks = memory_array(NULL, count, sizeof *w->ranks)};
    for (size_t i = 0, k; i < count; i = k) {
        nccl_waits_row *row = &w->items[w->count++];
        *row = (nccl_waits_row){.communicator = ranks[i].communicator,
                                .coll = ranks[i].spent->coll,
                                .size = ranks[i].spent->size,
                                .first = i};
        for (k = i; k < count && waits_by_group(&ranks[i], &ranks[k]) == 0; k++) {
            w->ranks[k] = ranks[k].index;
            nccl_split s = nccl_spent_split(n, ranks[k].spent);
            waits_add(&row->sum, &s);
            if (ranks[k].spent->calls > row->calls) row->calls = ranks[k].spent->calls;
        }
        row->count = k - i;
        waits_find_longest(n, row, &ranks[i], work);
    }
    if (w->count) qsort(w->items, w->count, sizeof *w->items, waits_by_time);
    free(ranks);
    free(work);
}

void nccl_waits_free(nccl_waits *w)
{
    free(w->items);
    free(w->ranks);
    *w = (nccl_waits){0};
}

#include "nccl_peers.h"

#include "analysis/base/memory.h"
#include "analysis/base/saturating_sum.h"
#include "analysis/nccl/logs/nccl_spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *nccl_wait_name(nccl_wait w)
{
    static const char *const names[NCCL_WAITS] = {"own GPU", "credit", "wire", "flush"};
    return names[w];
}

double nccl_peer_wait(const nccl_peer *x, nccl_wait w)
{
    uint64_t steps = w == NCCL_WAIT_FLUSH ? x->received : x->sent;
    return steps ? x->wait_us[w] / (double)steps : NAN;
}

double nccl_peer_delay(const nccl_peer *x)
{
    double delay = NAN;
    for (int w = 0; w < NCCL_WAITS; w++) {
        double wait = nccl_peer_wait(x, (nccl_wait)w), beside = x->beside[w];
        if (isnan(wait) || isnan(beside)) continue;
        delay = (isnan(delay) ? 0 : delay) + (beside > 1 ? wait - wait / beside : 0);
    }
    return delay;
}

// ---- cells ----

static int peers_by_place(const void *a, const void *b)
{
    const nccl_peer *x = a, *y = b;
    if (x->communicator != y->communicator) return x->communicator < y->communicator ? -1 : 1;
    if (x->sender != y->sender) return x->sender < y->sender ? -1 : 1;
    return (x->receiver > y->receiver) - (x->receiver < y->receiver);
}

bool nccl_peer_tells_bytes(const nccl_peer *x)
{
    return x->bytes || x->sent || x->received;
}

static bool peers_is_at_least(const nccl *n, const nccl_proxy *p)
{
    return p->unsized || p->steps_dropped || nccl_member_lost_parts(n, p->member);
}

static nccl_peer peers_side(const nccl *n, const nccl_proxy *p)
{
    uint32_t communicator = n->members[p->member].communicator;
    uint32_t other = nccl_member_of_rank(n, communicator, p->peer);
    uint64_t bytes = p->bytes > p->step_bytes ? p->bytes : p->step_bytes;
    nccl_peer x = {.communicator = communicator, .bytes = bytes, .at_least = peers_is_at_least(n, p)};
    bool sends = strcmp(p->direction, "send") == 0;
    x.sender = sends ? p->member : other;
    x.receiver = sends ? other : p->member;
    if (sends) {
        x.sent = p->timed;
        x.wait_us[NCCL_WAIT_GPU] = (double)p->gpu_us;
        x.wait_us[NCCL_WAIT_CREDIT] = (double)p->credit_us;
        x.wait_us[NCCL_WAIT_WIRE] = (double)p->wire_us;
    } else {
        x.received = p->timed;
        x.wait_us[NCCL_WAIT_FLUSH] = (double)p->flush_us;
        x.receive_us = (double)p->wire_us;
        x.consume_us = (double)p->gpu_us;
    }
    return x;
}

// Both sides of a transfer.
static void peers_join(nccl_peer *to, const nccl_peer *from)
{
    bool other = !to->sent && (from->sent || from->bytes > to->bytes);
    if (from->bytes == to->bytes)
        to->at_least &= from->at_least; // one of them knows that these were all
    else if (other)
        to->at_least = from->at_least;
    if (other) to->bytes = from->bytes;
    to->sent = sum_capped(to->sent, from->sent);
    to->received = sum_capped(to->received, from->received);
    for (int w = 0; w < NCCL_WAITS; w++)
        to->wait_us[w] += from->wait_us[w];
    to->receive_us += from->receive_us;
    to->consume_us += from->consume_us;
}

// ---- beside others ----

static bool peers_are_alike(const nccl *n, const nccl_peer *a, const nccl_peer *b)
{
    const nccl_communicator *x = &n->communicators[a->communicator], *y = &n->communicators[b->communicator];
    return x->type == y->type && x->ranks == y->ranks && x->nodes == y->nodes;
}

static void peers_compare(nccl_peers *p, const nccl *n, size_t first, bool *done, double *work)
{
    for (int w = 0; w < NCCL_WAITS; w++) {
        size_t count = 0;
        for (size_t i = first; i < p->count; i++)
            if (peers_are_alike(n, &p->items[first], &p->items[i]) &&
                !isnan(nccl_peer_wait(&p->items[i], (nccl_wait)w)))
                work[count++] = nccl_peer_wait(&p->items[i], (nccl_wait)w);
        // Half of all may be slow ones' cells: normal is the lower quartile. Whole us are logged: less is no time.
        double normal = count ? fmax(nccl_spread_of(work, count).p25, 1) : NAN;
        for (size_t i = first; i < p->count; i++) {
            if (!peers_are_alike(n, &p->items[first], &p->items[i])) continue;
            p->items[i].beside[w] = nccl_peer_wait(&p->items[i], (nccl_wait)w) / normal;
            done[i] = true;
        }
    }
}

void nccl_peers_make(nccl_peers *p, const nccl *n)
{
    *p = (nccl_peers){.items = memory_array(NULL, n->proxy_count, sizeof *p->items)};
    for (size_t i = 0; i < n->proxy_count; i++)
        if (strcmp(n->proxies[i].direction, "send") == 0 || strcmp(n->proxies[i].direction, "recv") == 0)
            p->items[p->count++] = peers_side(n, &n->proxies[i]);
    if (p->count) qsort(p->items, p->count, sizeof *p->items, peers_by_place);
    size_t kept = 0;
    for (size_t i = 0; i < p->count; i++) {
        bool known = p->items[i].sender != NCCL_NONE && p->items[i].receiver != NCCL_NONE;
        if (kept && known && peers_by_place(&p->items[kept - 1], &p->items[i]) == 0)
            peers_join(&p->items[kept - 1], &p->items[i]);
        else
            p->items[kept++] = p->items[i];
    }
    p->count = kept;
    bool *done = memory_calloc(p->count, sizeof *done);
    double *work = memory_array(NULL, p->count, sizeof *work);
    for (size_t i = 0; i < p->count; i++)
        if (!done[i]) peers_compare(p, n, i, done, work);
    free(done);
    free(work);
}

void nccl_peers_free(nccl_peers *p)
{
    free(p->items);
    *p = (nccl_peers){0};
}

// ---- by process ----

nccl_split *nccl_splits_make(const nccl *n)
{
    nccl_split *splits = memory_calloc(n->process_count, sizeof *splits);
    for (size_t i = 0; i < n->proxy_count; i++) {
        const nccl_proxy *p = &n->proxies[i];
        nccl_split *s = &splits[n->members[p->member].process];
        uint64_t bytes = p->bytes > p->step_bytes ? p->bytes : p->step_bytes;
        if (strcmp(p->direction, "send") == 0) {
            s->sent = sum_capped(s->sent, p->timed);
            s->sent_bytes = sum_capped(s->sent_bytes, bytes);
            s->sent_at_least |= peers_is_at_least(n, p);
            s->gpu_us += (double)p->gpu_us;
            s->credit_us += (double)p->credit_us;
            s->wire_us += (double)p->wire_us;
        } else if (strcmp(p->direction, "recv") == 0) {
            s->received = sum_capped(s->received, p->timed);
            s->received_bytes = sum_capped(s->received_bytes, bytes);
            s->received_at_least |= peers_is_at_least(n, p);
            s->receive_us += (double)p->wire_us;
            s->flush_us += (double)p->flush_us;
            s->consume_us += (double)p->gpu_us;
        }
    }
    return splits;
}

#include "nccl_places.h"

#include "analysis/base/memory.h"

#include <stdlib.h>
#include <string.h>

// ---- adapters ----

static int places_by_adapter(const void *a, const void *b)
{
    const nccl_sends *x = a, *y = b;
    if (x->process != y->process) return x->process < y->process ? -1 : 1;
    if (x->device != y->device) return x->device < y->device ? -1 : 1;
    return strcmp(x->adapter, y->adapter);
}

nccl_sends *nccl_sends_make(const nccl *n, size_t *count)
{
    nccl_sends *sends = memory_array(NULL, n->used_count, sizeof *sends);
    size_t all = 0;
    *count = 0;
    for (size_t i = 0; i < n->used_count; i++) {
        const nccl_used *x = &n->used[i];
        if (strcmp(x->transport, "ib") == 0 && strcmp(x->direction, "send") == 0)
            sends[all++] = (nccl_sends){n->members[x->member].process, x->device, x->adapter, (double)x->bytes,
                                        (double)x->requests};
    }
    if (all) qsort(sends, all, sizeof *sends, places_by_adapter);
    for (size_t i = 0; i < all; i++) {
        nccl_sends *to = *count ? &sends[*count - 1] : NULL;
        if (to && places_by_adapter(to, &sends[i]) == 0) {
            to->bytes += sends[i].bytes;
            to->requests += sends[i].requests;
        } else {
            sends[(*count)++] = sends[i];
        }
    }
    return sends;
}

static char *places_adapters_of(const nccl_sends *sends, size_t count)
{
    double all = 0;
    char *text = NULL;
    for (size_t i = 0; i < count; i++)
        all += sends[i].bytes;
    for (size_t i = 0; i < count; i++) {
        if (sends[i].bytes < 0.01 * all || sends[i].bytes <= 0) continue;
        char *more = !nccl_adapter_is_known(sends[i].adapter) ? NULL
                     : text                                   ? memory_format("%s and %.60s", text, sends[i].adapter)
                                                              : memory_format("%.60s", sends[i].adapter);
        free(text);
        text = more;
        if (!text) return NULL;
    }
    return text;
}

char **nccl_adapters_make(const nccl *n, const nccl_sends *sends, size_t count)
{
    char **adapters = memory_calloc(n->process_count, sizeof *adapters);
    for (size_t i = 0, k; i < count; i = k) {
        for (k = i; k < count && sends[k].process == sends[i].process;)
            k++;
        adapters[sends[i].process] = places_adapters_of(&sends[i], k - i);
    }
    return adapters;
}

void nccl_adapters_free(char **adapters, const nccl *n)
{
    for (size_t i = 0; i < n->process_count; i++)
        free(adapters[i]);
    free(adapters);
}

// ---- places ----

static uint32_t places_host(const nccl *n, uint32_t member)
{
    return n->processes[n->members[member].process].host;
}

static bool places_is_between_hosts(const nccl *n, const nccl_peer *x)
{
    return x->sender != NCCL_NONE && x->receiver != NCCL_NONE &&
           places_host(n, x->sender) != places_host(n, x->receiver);
}

// qsort() hands nothing on.
typedef struct places_process {
    uint32_t process, host, communicator;
    int64_t rank;
    const char *adapter;
} places_process;

static int places_by_rank(const void *a, const void *b)
{
    const places_process *x = a, *y = b;
    if (x->host != y->host) return x->host < y->host ? -1 : 1;
    if (x->communicator != y->communicator) return x->communicator < y->communicator ? -1 : 1;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return (x->process > y->process) - (x->process < y->process);
}

static int places_by_name(const void *a, const void *b)
{
    const places_process *x = a, *y = b;
    int order = strcmp(x->adapter, y->adapter);
    return order ? order : places_by_rank(a, b);
}

uint32_t *nccl_rank_places_make(const nccl *n)
{
    uint32_t *of = memory_calloc(n->process_count, sizeof *of), at = 0;
    places_process *all = memory_array(NULL, n->process_count, sizeof *all);
    for (uint32_t i = 0; i < n->process_count; i++) {
        const nccl_member *x = nccl_widest_member(n, i);
        all[i] = (places_process){i, n->processes[i].host, x ? x->communicator : NCCL_NONE, x ? x->rank : 0, ""};
    }
    if (n->process_count) qsort(all, n->process_count, sizeof *all, places_by_rank);
    for (size_t i = 0; i < n->process_count; i++, at++) {
        if (i && all[i].host != all[i - 1].host) at = 0;
        of[all[i].process] = at;
    }
    free(all);
    return of;
}

// Do half of the processes send through adapters that another host has, too? Else hosts name theirs as they like.
static bool places_are_named_alike(const places_process *all, size_t count)
{
    size_t alike = 0;
    for (size_t i = 0, k; i < count; i = k) {
        for (k = i; k < count && strcmp(all[k].adapter, all[i].adapter) == 0;)
            k++;
        if (all[i].host != all[k - 1].host) alike += k - i;
    }
    return count && 2 * alike >= count;
}

static bool places_make_by_adapter(nccl_places *p, const nccl *n, places_process *all, size_t count,
                                   char *const *adapters)
{
    for (size_t i = 0; i < count; i++)
        if (!(all[i].adapter = adapters[all[i].process])) return false;
    if (count) qsort(all, count, sizeof *all, places_by_name);
    if (!places_are_named_alike(all, count)) return false;
    p->by_adapter = true;
    p->of = memory_calloc(n->process_count, sizeof *p->of);
    p->names = memory_calloc(count, sizeof *p->names);
    for (size_t i = 0; i < count; i++) {
        if (!i || strcmp(all[i].adapter, all[i - 1].adapter) != 0) p->names[p->count++] = memory_strdup(all[i].adapter);
        p->of[all[i].process] = p->count - 1;
    }
    return true;
}

static size_t places_between_hosts(const nccl *n, const nccl_peers *peers, places_process *all)
{
    bool *sends = memory_calloc(n->process_count, sizeof *sends);
    size_t count = 0;
    for (size_t i = 0; i < peers->count; i++) {
        const nccl_peer *x = &peers->items[i];
        if (!places_is_between_hosts(n, x)) continue;
        sends[n->members[x->sender].process] = sends[n->members[x->receiver].process] = true;
    }
    for (uint32_t i = 0; i < n->process_count; i++)
        if (sends[i]) all[count++] = (places_process){.process = i, .host = n->processes[i].host};
    free(sends);
    return count;
}

void nccl_places_make(nccl_places *p, const nccl *n, const nccl_peers *peers)
{
    places_process *all = memory_array(NULL, n->process_count, sizeof *all);
    size_t sent;
    nccl_sends *sends = nccl_sends_make(n, &sent);
    char **adapters = nccl_adapters_make(n, sends, sent);
    *p = (nccl_places){0};
    if (!places_make_by_adapter(p, n, all, places_between_hosts(n, peers, all), adapters)) {
        p->of = nccl_rank_places_make(n);
        for (size_t i = 0; i < n->process_count; i++)
            if (p->of[i] + 1 > p->count) p->count = p->of[i] + 1;
    }
    nccl_adapters_free(adapters, n);
    free(sends);
    free(all);
}

void nccl_places_free(nccl_places *p)
{
    for (uint32_t i = 0; i < p->count && p->names; i++)
        free(p->names[i]);
    free(p->names);
    free(p->of);
    *p = (nccl_places){0};
}

nccl_crossing nccl_crossing_of(const nccl_places *p, const nccl *n, const nccl_peers *peers)
{
    nccl_crossing c = {0};
    for (size_t i = 0; i < peers->count; i++) {
        const nccl_peer *x = &peers->items[i];
        if (!places_is_between_hosts(n, x)) continue;
        c.between += (double)x->bytes;
        if (p->of[n->members[x->sender].process] == p->of[n->members[x->receiver].process]) continue;
        c.across += (double)x->bytes;
        c.ways += x->bytes > 0;
    }
    return c;
}

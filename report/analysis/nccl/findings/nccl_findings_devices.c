// Which network devices ranks really used: members of a joined device that carry unequal traffic, adapters unlike those of
// the same place on other hosts, traffic between rails.
#include "nccl_findings_make.h"
#include "nccl_peers.h"

#include "analysis/base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What a process sent through one device, over its communicators.
typedef struct devices_part {
    uint32_t process;
    int64_t device;
    const char *adapter;
    double bytes, requests;
} devices_part;

typedef struct devices_making {
    nccl_findings_making *m;
    devices_part *parts; // by process and device
    size_t count;
} devices_making;

static int devices_by_place(const void *a, const void *b)
{
    const devices_part *x = a, *y = b;
    if (x->process != y->process) return x->process < y->process ? -1 : 1;
    if (x->device != y->device) return x->device < y->device ? -1 : 1;
    return strcmp(x->adapter, y->adapter);
}

static void devices_gather(devices_making *d)
{
    const nccl *n = d->m->n;
    size_t count = 0;
    d->parts = memory_array(NULL, n->used_count, sizeof *d->parts);
    for (size_t i = 0; i < n->used_count; i++) {
        const nccl_used *x = &n->used[i];
        if (strcmp(x->transport, "ib") == 0 && strcmp(x->direction, "send") == 0)
            d->parts[count++] = (devices_part){n->members[x->member].process, x->device, x->adapter, (double)x->bytes,
                                               (double)x->requests};
    }
    if (count) qsort(d->parts, count, sizeof *d->parts, devices_by_place);
    for (size_t i = 0; i < count; i++) {
        devices_part *to = d->count ? &d->parts[d->count - 1] : NULL;
        if (to && devices_by_place(to, &d->parts[i]) == 0) {
            to->bytes += d->parts[i].bytes;
            to->requests += d->parts[i].requests;
        } else {
            d->parts[d->count++] = d->parts[i];
        }
    }
}

// ---- members of a joined device ----

// Of a process; least and most are places in parts. share: of the one with least / an even share; NAN: one member only,
// or too few requests.
typedef struct devices_balance {
    size_t first, count, least, most;
    double share, bytes;
} devices_balance;

static devices_balance devices_balance_of(const devices_making *d, size_t first)
{
    enum { LEAST_REQUESTS = 100 };
    devices_balance b = {.first = first, .least = first, .most = first, .share = NAN};
    double requests = 0, members = 0;
    for (size_t i = first; i < d->count && d->parts[i].process == d->parts[first].process; i++, b.count++) {
        b.bytes += d->parts[i].bytes;
        requests += d->parts[i].requests;
        members += i == first || d->parts[i].device != d->parts[i - 1].device;
        if (d->parts[i].bytes < d->parts[b.least].bytes) b.least = i;
        if (d->parts[i].bytes > d->parts[b.most].bytes) b.most = i;
    }
    // Several adapters with one number are devices of their own: which of them NCCL takes is its choice.
    if (members == (double)b.count && b.count > 1 && requests >= LEAST_REQUESTS && b.bytes > 0)
        b.share = d->parts[b.least].bytes * (double)b.count / b.bytes;
    return b;
}

static const char *devices_name(const devices_part *x, char *text, size_t size)
{
    if (*x->adapter)
        snprintf(text, size, "%.60s", x->adapter);
    else
        snprintf(text, size, "member %lld", (long long)x->device);
    return text;
}

static void devices_report_balance(devices_making *d, const devices_balance *b, size_t unequal, size_t known)
{
    const nccl *n = d->m->n;
    const devices_part *least = &d->parts[b->least], *most = &d->parts[b->most];
    char names[2][80], *rank = nccl_finding_process(n, least->process);
    nccl_finding *x = nccl_finding_add(
        d->m, NCCL_RULE_UNEQUAL_MEMBERS, SEVERITY_WATCH, b->share,
        memory_format("%s sends %s of its bytes through %s of a joined network device, %s through %s; %s so "
                      "unequally, of %s with joined devices",
                      rank, words_share(least->bytes / b->bytes).text, devices_name(least, names[0], sizeof names[0]),
                      words_share(most->bytes / b->bytes).text, devices_name(most, names[1], sizeof names[1]),
                      words_many(unequal, "rank sends|ranks send").text, words_many(known, "rank").text));
    free(rank);
    x->host = n->processes[least->process].host;
    x->device = n->hosts[x->host].name;
    x->member = (uint32_t)(nccl_widest_member(n, least->process) - n->members);
    for (size_t i = b->first; i < b->first + b->count; i++) {
        char name[80];
        nccl_finding_evidence(x, memory_format("sent through %s", devices_name(&d->parts[i], name, sizeof name)),
                              d->parts[i].bytes, "bytes");
    }
}

static void devices_judge_balance(devices_making *d)
{
    devices_balance worst = {.share = NAN};
    size_t known = 0, unequal = 0;
    for (size_t i = 0, next; i < d->count; i = next) {
        devices_balance b = devices_balance_of(d, i);
        next = i + b.count;
        if (isnan(b.share)) continue;
        known++;
        unequal += b.share < nccl_finding_rules[NCCL_RULE_UNEQUAL_MEMBERS].limit;
        if (!(b.share >= worst.share)) worst = b;
    }
    if (!known) return;
    d->m->f->judged++;
    if (unequal) devices_report_balance(d, &worst, unequal, known);
}

// ---- adapters by place ----

// The adapters that carry what a process sends, those with less than a hundredth left out: "mlx5_2", "mlx5_2 and mlx5_3".
// NULL: of some bytes it is not known. free() it.
static char *devices_adapters_of(const devices_part *parts, size_t count)
{
    double all = 0;
    char *text = NULL;
    for (size_t i = 0; i < count; i++)
        all += parts[i].bytes;
    for (size_t i = 0; i < count; i++) {
        if (parts[i].bytes < 0.01 * all || parts[i].bytes <= 0) continue;
        char *more = !*parts[i].adapter ? NULL
                     : text             ? memory_format("%s and %.60s", text, parts[i].adapter)
                                        : memory_format("%.60s", parts[i].adapter);
        free(text);
        text = more;
        if (!text) return NULL;
    }
    return text;
}

static char **devices_adapters(const devices_making *d) // by process
{
    char **adapters = memory_calloc(d->m->n->process_count, sizeof *adapters);
    for (size_t i = 0, k; i < d->count; i = k) {
        for (k = i; k < d->count && d->parts[k].process == d->parts[i].process;)
            k++;
        adapters[d->parts[i].process] = devices_adapters_of(&d->parts[i], k - i);
    }
    return adapters;
}

static int devices_by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// Of the processes of a place: which one most hosts have the same, and how many; names is room for all.
static const char *devices_usual(char *const *adapters, const nccl *n, uint32_t local, const char **names, size_t *same,
                                 size_t *known)
{
    const char *usual = NULL;
    *same = *known = 0;
    for (size_t i = 0; i < n->process_count; i++)
        if (n->processes[i].local == local && adapters[i]) names[(*known)++] = adapters[i];
    if (*known) qsort(names, *known, sizeof *names, devices_by_name);
    for (size_t i = 0, k; i < *known; i = k) {
        for (k = i + 1; k < *known && strcmp(names[i], names[k]) == 0;)
            k++;
        if (k - i <= *same) continue;
        *same = k - i;
        usual = names[i];
    }
    return usual;
}

static void devices_report_adapter(devices_making *d, uint32_t process, const char *own, const char *usual, size_t same,
                                   size_t known)
{
    const nccl *n = d->m->n;
    char *rank = nccl_finding_process(n, process);
    nccl_finding *x = nccl_finding_add(
        d->m, NCCL_RULE_OTHER_ADAPTER, SEVERITY_WATCH, (double)same / (double)known,
        memory_format("%s sends through %s; process %u (by pid, from 0) of %s sends through %s", rank, own,
                      (unsigned)n->processes[process].local, words_many(same, "other host").text, usual));
    free(rank);
    x->host = n->processes[process].host;
    x->device = n->hosts[x->host].name;
    x->member = (uint32_t)(nccl_widest_member(n, process) - n->members);
    nccl_finding_evidence(x, memory_strdup("hosts with the usual adapter at this place"), (double)same, "");
    nccl_finding_evidence(x, memory_strdup("hosts of which the adapter is known"), (double)known, "");
}

// What most hosts have at a place.
typedef struct devices_place {
    const char *usual; // NULL: nothing is
    size_t same, known;
} devices_place;

// Does its host use the adapter as often as others do, by whichever process? Then pids are in another order there: places
// are by pid, and nothing is wrong.
static bool devices_is_reordered(char *const *adapters, const nccl *n, uint32_t process, const devices_place *places,
                                 size_t count)
{
    size_t here = 0, usual = 0;
    for (size_t i = 0; i < n->process_count; i++)
        here += n->processes[i].host == n->processes[process].host && adapters[i] &&
                strcmp(adapters[i], adapters[process]) == 0;
    for (size_t i = 0; i < count; i++)
        usual += places[i].usual && strcmp(places[i].usual, adapters[process]) == 0;
    return here <= usual;
}

static void devices_judge_adapters(devices_making *d)
{
    enum { LEAST_HOSTS = 3 };
    const nccl *n = d->m->n;
    char **adapters = devices_adapters(d);
    const char **names = memory_calloc(n->process_count, sizeof *names);
    size_t count = 0;
    for (uint32_t i = 0; i < n->process_count; i++)
        if (adapters[i] && n->processes[i].local >= count) count = (size_t)n->processes[i].local + 1;
    devices_place *places = memory_calloc(count, sizeof *places);
    for (uint32_t local = 0; local < count; local++) {
        devices_place *x = &places[local];
        x->usual = devices_usual(adapters, n, local, names, &x->same, &x->known);
        d->m->f->judged += x->same >= LEAST_HOSTS;
        if (x->same < LEAST_HOSTS ||
            (double)x->same < nccl_finding_rules[NCCL_RULE_OTHER_ADAPTER].limit * (double)x->known)
            x->usual = NULL;
    }
    for (uint32_t i = 0; i < n->process_count; i++) {
        const devices_place *x = adapters[i] ? &places[n->processes[i].local] : NULL;
        if (x && x->usual && strcmp(adapters[i], x->usual) != 0 && !devices_is_reordered(adapters, n, i, places, count))
            devices_report_adapter(d, i, adapters[i], x->usual, x->same, x->known);
    }
    for (uint32_t i = 0; i < n->process_count; i++)
        free(adapters[i]);
    free(places);
    free(names);
    free(adapters);
}

// ---- between rails ----

static void devices_judge_rails(devices_making *d)
{
    const nccl *n = d->m->n;
    double between = 0, across = 0;
    size_t ways = 0;
    nccl_peers p;
    nccl_peers_make(&p, n);
    for (size_t i = 0; i < p.count; i++) {
        const nccl_peer *x = &p.items[i];
        if (x->sender == NCCL_NONE || x->receiver == NCCL_NONE) continue;
        const nccl_process *from = &n->processes[n->members[x->sender].process],
                           *to = &n->processes[n->members[x->receiver].process];
        if (from->host == to->host) continue;
        between += (double)x->bytes;
        if (from->local == to->local) continue;
        across += (double)x->bytes;
        ways += x->bytes > 0;
    }
    nccl_peers_free(&p);
    double share = between > 0 ? across / between : 0;
    if (share < nccl_finding_rules[NCCL_RULE_CROSS_RAIL].limit) return;
    nccl_finding *x = nccl_finding_add(
        d->m, NCCL_RULE_CROSS_RAIL, SEVERITY_INFO, share,
        memory_format("%s of the bytes between hosts go between processes of unlike places on their hosts: where each "
                      "has a NIC of its own, they cross rails",
                      words_share(share).text));
    nccl_finding_evidence(x, memory_strdup("bytes between hosts"), between, "bytes");
    nccl_finding_evidence(x, memory_strdup("of these, between unlike places"), across, "bytes");
    nccl_finding_evidence(x, memory_strdup("pairs of ranks of unlike places"), (double)ways, "");
}

void nccl_findings_devices(nccl_findings_making *m)
{
    devices_making d = {.m = m};
    devices_gather(&d);
    devices_judge_balance(&d);
    devices_judge_adapters(&d);
    if (m->n->used_count) devices_judge_rails(&d);
    free(d.parts);
}

// Which network devices ranks really used: members of a joined device that carry unequal traffic, adapters unlike those of
// the same place on other hosts, traffic between rails, sockets.
#include "nccl_findings_make.h"
#include "nccl_places.h"

#include "analysis/base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct devices_making {
    nccl_findings_making *m;
    nccl_sends *parts;
    size_t count;
} devices_making;

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

static const char *devices_name(const nccl_sends *x, char *text, size_t size)
{
    if (nccl_adapter_is_known(x->adapter))
        snprintf(text, size, "%.60s", x->adapter);
    else
        snprintf(text, size, "member %lld", (long long)x->device);
    return text;
}

static void devices_report_balance(devices_making *d, const devices_balance *b, size_t unequal, size_t known)
{
    const nccl *n = d->m->n;
    const nccl_sends *least = &d->parts[b->least], *most = &d->parts[b->most];
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

static int devices_by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// Of the processes of a place: which one most hosts have the same, and how many; names is room for all.
static const char *devices_usual(char *const *adapters, const nccl *n, const uint32_t *of, uint32_t place,
                                 const char **names, size_t *same, size_t *known)
{
    const char *usual = NULL;
    *same = *known = 0;
    for (size_t i = 0; i < n->process_count; i++)
        if (of[i] == place && adapters[i]) names[(*known)++] = adapters[i];
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

static void devices_report_adapter(devices_making *d, uint32_t process, uint32_t place, const char *own,
                                   const char *usual, size_t same, size_t known)
{
    const nccl *n = d->m->n;
    char *rank = nccl_finding_process(n, process);
    nccl_finding *x = nccl_finding_add(
        d->m, NCCL_RULE_OTHER_ADAPTER, SEVERITY_WATCH, (double)same / (double)known,
        memory_format("%s sends through %s; the rank of its place (%u, in the order of ranks, from 0) on %s sends "
                      "through %s",
                      rank, own, (unsigned)place, words_many(same, "other host").text, usual));
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

// Does its host use the adapter as often as others do, by whichever process? Then ranks are in another order there, and
// nothing is wrong.
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
    char **adapters = nccl_adapters_make(n, d->parts, d->count);
    const char **names = memory_calloc(n->process_count, sizeof *names);
    size_t count = 0;
    uint32_t *of = nccl_rank_places_make(n);
    for (uint32_t i = 0; i < n->process_count; i++)
        if (adapters[i] && of[i] >= count) count = (size_t)of[i] + 1;
    devices_place *places = memory_calloc(count, sizeof *places);
    for (uint32_t place = 0; place < count; place++) {
        devices_place *x = &places[place];
        x->usual = devices_usual(adapters, n, of, place, names, &x->same, &x->known);
        d->m->f->judged += x->same >= LEAST_HOSTS;
        if (x->same < LEAST_HOSTS ||
            (double)x->same < nccl_finding_rules[NCCL_RULE_OTHER_ADAPTER].limit * (double)x->known)
            x->usual = NULL;
    }
    for (uint32_t i = 0; i < n->process_count; i++) {
        const devices_place *x = adapters[i] ? &places[of[i]] : NULL;
        if (x && x->usual && strcmp(adapters[i], x->usual) != 0 && !devices_is_reordered(adapters, n, i, places, count))
            devices_report_adapter(d, i, of[i], adapters[i], x->usual, x->same, x->known);
    }
    free(of);
    free(places);
    free(names);
    nccl_adapters_free(adapters, n);
}

// ---- between rails ----

static void devices_judge_rails(devices_making *d)
{
    const nccl *n = d->m->n;
    nccl_peers peers;
    nccl_places places;
    nccl_peers_make(&peers, n);
    nccl_places_make(&places, n, &peers);
    nccl_crossing c = nccl_crossing_of(&places, n, &peers);
    bool by_adapter = places.by_adapter;
    nccl_places_free(&places);
    nccl_peers_free(&peers);
    double share = c.between > 0 ? c.across / c.between : 0;
    if (share < nccl_finding_rules[NCCL_RULE_CROSS_RAIL].limit) return;
    nccl_finding *x = nccl_finding_add(
        d->m, NCCL_RULE_CROSS_RAIL, SEVERITY_INFO, share,
        by_adapter ? memory_format(
                         "%s of the bytes between hosts go between ranks that send through adapters of unlike names: "
                         "where adapters of one name share a rail, they cross rails",
                         words_share(share).text)
                   : memory_format(
                         "%s of the bytes between hosts go between ranks of unlike places on their hosts (in the order "
                         "of ranks): where each place has a NIC of its own, they cross rails",
                         words_share(share).text));
    nccl_finding_evidence(x, memory_strdup("bytes between hosts"), c.between, "bytes");
    nccl_finding_evidence(x, memory_strdup("of these, between unlike places"), c.across, "bytes");
    nccl_finding_evidence(x, memory_strdup("pairs of ranks of unlike places"), (double)c.ways, "");
}

// ---- sockets: hosts that have fallen back to them while the others use InfiniBand or RoCE, or all could ----

typedef struct sockets_host {
    double verbs, sockets; // operations that send
    const char *rdma;      // an adapter whose port is active; NULL: none is known
} sockets_host;

static sockets_host *sockets_by_host(const nccl *n)
{
    sockets_host *hosts = memory_calloc(n->host_count, sizeof *hosts);
    for (size_t i = 0; i < n->proxy_count; i++) {
        const nccl_proxy *p = &n->proxies[i];
        if (strcmp(p->direction, "send") != 0) continue;
        sockets_host *h = &hosts[n->processes[n->members[p->member].process].host];
        h->verbs += (double)p->verbs_operations;
        h->sockets += (double)p->socket_operations;
    }
    for (size_t i = 0; i < n->file_count; i++)
        if (n->files[i].host != NCCL_NONE && n->files[i].rdma) hosts[n->files[i].host].rdma = n->files[i].rdma;
    return hosts;
}

static void sockets_report(nccl_findings_making *m, uint32_t host, const sockets_host *h, size_t others)
{
    double share = h->sockets / (h->sockets + h->verbs);
    nccl_finding *x =
        nccl_finding_add(m, NCCL_RULE_SOCKETS, SEVERITY_WARN, share,
                         memory_format("host %s sends through sockets (%s of its operations), %s through InfiniBand or "
                                       "RoCE",
                                       m->n->hosts[host].name, words_share(share).text,
                                       words_many(others, "other host sends|other hosts send").text));
    x->device = m->n->hosts[host].name;
    x->host = host;
    nccl_finding_evidence(x, memory_strdup("operations through sockets"), h->sockets, "operations");
    nccl_finding_evidence(x, memory_strdup("operations through InfiniBand or RoCE"), h->verbs, "operations");
}

// Nobody uses what is there. Why is not known: it may be meant, so that this is less than a host that alone has fallen back.
static void sockets_report_all(nccl_findings_making *m, const sockets_host *hosts, size_t known)
{
    const nccl *n = m->n;
    size_t able = 0, first = 0;
    double operations = 0;
    for (size_t i = n->host_count; i-- > 0;) {
        if (hosts[i].sockets <= 0) continue;
        operations += hosts[i].sockets;
        if (!hosts[i].rdma) continue;
        able++;
        first = i;
    }
    if (!able) return;
    nccl_finding *x = nccl_finding_add(
        m, NCCL_RULE_SOCKETS_UNUSED, SEVERITY_WATCH, (double)able / (double)known,
        memory_format(
            "all %s that send use sockets, and none InfiniBand or RoCE, although %s an RDMA adapter whose port is "
            "active (%s on host %s)",
            words_many(known, "host").text, words_many(able, "of them has|of them have").text, hosts[first].rdma,
            n->hosts[first].name));
    x->device = n->hosts[first].name;
    x->host = (uint32_t)first;
    nccl_finding_evidence(x, memory_strdup("operations through sockets"), operations, "operations");
}

void nccl_findings_sockets(nccl_findings_making *m)
{
    const nccl *n = m->n;
    sockets_host *hosts = sockets_by_host(n);
    size_t known = 0, verbs = 0, any = 0;
    for (size_t i = 0; i < n->host_count; i++) {
        known += hosts[i].verbs + hosts[i].sockets > 0;
        verbs += hosts[i].verbs > 0 && hosts[i].sockets <= 0;
        any += hosts[i].verbs > 0;
    }
    if (known > 1) m->f->judged++;
    for (size_t i = 0; i < n->host_count; i++)
        if (2 * verbs > known && hosts[i].sockets > hosts[i].verbs) sockets_report(m, (uint32_t)i, &hosts[i], verbs);
    if (known > 1 && !any) sockets_report_all(m, hosts, known);
    free(hosts);
}

void nccl_findings_devices(nccl_findings_making *m)
{
    devices_making d = {.m = m};
    d.parts = nccl_sends_make(m->n, &d.count);
    devices_judge_balance(&d);
    devices_judge_adapters(&d);
    if (m->n->used_count) devices_judge_rails(&d);
    free(d.parts);
}

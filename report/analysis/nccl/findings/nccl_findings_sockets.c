// Hosts that have fallen back to sockets while the others use InfiniBand or RoCE.
#include "nccl_findings_make.h"

#include "analysis/base/memory.h"

#include <stdlib.h>
#include <string.h>

typedef struct sockets_host {
    double verbs, sockets; // operations that send
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

void nccl_findings_sockets(nccl_findings_making *m)
{
    const nccl *n = m->n;
    sockets_host *hosts = sockets_by_host(n);
    size_t known = 0, verbs = 0;
    for (size_t i = 0; i < n->host_count; i++) {
        known += hosts[i].verbs + hosts[i].sockets > 0;
        verbs += hosts[i].verbs > 0 && hosts[i].sockets <= 0;
    }
    if (known > 1) m->f->judged++;
    for (size_t i = 0; i < n->host_count; i++)
        if (2 * verbs > known && hosts[i].sockets > hosts[i].verbs) sockets_report(m, (uint32_t)i, &hosts[i], verbs);
    free(hosts);
}

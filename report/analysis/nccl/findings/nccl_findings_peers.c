// Slow senders (rows of the matrix of who sent to whom), slow receivers (columns) and slow links (cells).
//
// What a step waited for says whose it is: for its own GPU the sender's, for credit or the flush the receiver's. Time on
// the wire is the sender's when all it sends is slow, the receiver's when all that it gets is, else the link's.
#include "nccl_findings_make.h"
#include "nccl_places.h"

#include "analysis/base/memory.h"
#include "analysis/nccl/logs/nccl_spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PEERS_LEAST_STEPS = 30, PEERS_LEAST_CELLS = 6 };

typedef struct peers_judging {
    nccl_findings_making *m;
    nccl_peers p;
    nccl_places places;
    nccl_wait wait;
    bool *slow, *explained; // by cell, of this wait
    bool host;              // units are hosts, not processes
} peers_judging;

// The cells of one sender, or receiver.
typedef struct peers_unit {
    bool rows;
    uint32_t who;                                    // host or process
    size_t cells, slow, others, beside, beside_slow; // others: different partners; beside: their cells with others
    double excess_us, time_us, wait_us, steps;
} peers_unit;

static bool peers_is_known(const peers_judging *j, const nccl_peer *x)
{
    uint64_t steps = j->wait == NCCL_WAIT_FLUSH ? x->received : x->sent;
    return x->sender != NCCL_NONE && x->receiver != NCCL_NONE && steps >= PEERS_LEAST_STEPS &&
           !isnan(x->beside[j->wait]);
}

// How far normal values lie from each other, in the log: from those below the lower quartile, which few slow ones touch.
static double peers_spread(const peers_judging *j, double *work, size_t *count)
{
    for (size_t i = 0; i < j->p.count; i++)
        if (peers_is_known(j, &j->p.items[i])) work[(*count)++] = log(fmax(j->p.items[i].beside[j->wait], 0.1));
    if (*count < PEERS_LEAST_CELLS) return 1;
    nccl_spread s = nccl_spread_of(work, *count);
    return fmax((s.p25 - s.p5) / 0.97, 0.02); // of normal values: 1.645 - 0.674 standard deviations
}

// Which cells stand out: half longer than the lower quartile, two us at least, and far from how others spread.
static bool peers_find_slow(peers_judging *j)
{
    double *work = memory_array(NULL, j->p.count, sizeof *work);
    size_t count = 0;
    double spread = peers_spread(j, work, &count);
    for (size_t i = 0; i < j->p.count; i++) {
        const nccl_peer *x = &j->p.items[i];
        double beside = x->beside[j->wait], wait = nccl_peer_wait(x, j->wait);
        j->explained[i] = false;
        j->slow[i] = count >= PEERS_LEAST_CELLS && peers_is_known(j, x) &&
                     beside > nccl_finding_rules[NCCL_RULE_SLOW_SENDER].limit && wait - wait / beside >= 2 &&
                     log(beside) > NCCL_BY_CHANCE * spread;
    }
    free(work);
    return count >= PEERS_LEAST_CELLS;
}

static uint32_t peers_who(const peers_judging *j, uint32_t member)
{
    const nccl *n = j->m->n;
    return j->host ? n->processes[n->members[member].process].host : n->members[member].process;
}

static uint32_t peers_side_of(const peers_judging *j, const nccl_peer *x, bool rows)
{
    return peers_who(j, rows ? x->sender : x->receiver);
}

static double peers_time_of(const peers_judging *j, const nccl_peer *x)
{
    if (j->wait == NCCL_WAIT_FLUSH) return x->receive_us + x->wait_us[NCCL_WAIT_FLUSH] + x->consume_us;
    return x->wait_us[NCCL_WAIT_GPU] + x->wait_us[NCCL_WAIT_CREDIT] + x->wait_us[NCCL_WAIT_WIRE];
}

static void peers_unit_add(const peers_judging *j, peers_unit *u, size_t i)
{
    const nccl_peer *x = &j->p.items[i];
    u->cells++;
    u->slow += j->slow[i];
    u->excess_us += x->wait_us[j->wait] * (1 - 1 / fmax(x->beside[j->wait], 1));
    u->wait_us += x->wait_us[j->wait];
    u->steps += (double)(j->wait == NCCL_WAIT_FLUSH ? x->received : x->sent);
    u->time_us += peers_time_of(j, x);
}

// partners: by host or process: 0, or 1 for those of the unit.
static peers_unit peers_unit_of(const peers_judging *j, bool rows, uint32_t who, char *partners)
{
    peers_unit u = {.rows = rows, .who = who};
    memset(partners, 0, j->host ? j->m->n->host_count : j->m->n->process_count);
    for (size_t i = 0; i < j->p.count; i++) {
        const nccl_peer *x = &j->p.items[i];
        if (!peers_is_known(j, x) || peers_side_of(j, x, rows) != who || peers_side_of(j, x, !rows) == who) continue;
        peers_unit_add(j, &u, i);
        char *partner = &partners[peers_side_of(j, x, !rows)];
        u.others += !*partner;
        *partner = 1;
    }
    for (size_t i = 0; i < j->p.count; i++) {
        const nccl_peer *x = &j->p.items[i];
        if (!peers_is_known(j, x) || peers_side_of(j, x, rows) == who || !partners[peers_side_of(j, x, !rows)])
            continue;
        u.beside++;
        u.beside_slow += j->slow[i];
    }
    return u;
}

// On the wire one partner alone tells nothing: it may as well be his.
static bool peers_unit_is_slow(const peers_judging *j, const peers_unit *u)
{
    size_t least = j->wait == NCCL_WAIT_WIRE || j->host ? 2 : 1;
    return u->cells >= least && u->others >= (j->wait == NCCL_WAIT_WIRE ? 2u : 1u) && 10 * u->slow >= 9 * u->cells &&
           2 * u->beside_slow <= u->beside;
}

static char *peers_name(const peers_judging *j, uint32_t who)
{
    const nccl *n = j->m->n;
    if (j->host) return memory_format("host %s", n->hosts[who].name);
    return nccl_finding_process(n, who);
}

static const char *peers_verb(nccl_wait w, bool rows)
{
    if (w == NCCL_WAIT_GPU) return "sends late: its own GPU takes";
    if (w == NCCL_WAIT_CREDIT) return "receives slowly: its senders wait for room";
    if (w == NCCL_WAIT_FLUSH) return "receives slowly: the flush to its GPU takes";
    return rows ? "sends slowly: whoever receives, its data are on the wire"
                : "receives slowly: whoever sends, the data for it are on the wire";
}

static severity peers_severity(double share)
{
    severity s = nccl_finding_severity(share);
    return s < SEVERITY_WARN ? s : SEVERITY_WARN; // steps overlap: how much time passed is not known
}

static void peers_report_unit(peers_judging *j, const peers_unit *u)
{
    const nccl *n = j->m->n;
    double share = u->excess_us / u->time_us, step = u->wait_us / u->steps;
    double ratio = u->wait_us / (u->wait_us - u->excess_us);
    char *name = peers_name(j, u->who);
    nccl_finding *x = nccl_finding_add(
        j->m, u->rows ? NCCL_RULE_SLOW_SENDER : NCCL_RULE_SLOW_RECEIVER, peers_severity(share), ratio,
        memory_format("%s %s %s a step, %s times as long as for others; that is %s of the time of its steps", name,
                      peers_verb(j->wait, u->rows), nccl_finding_time(step).text, words_number(ratio).text,
                      words_share(share).text));
    free(name);
    x->host = j->host ? u->who : n->processes[u->who].host;
    x->device = n->hosts[x->host].name;
    if (!j->host) x->member = (uint32_t)(nccl_widest_member(n, u->who) - n->members);
    x->cost_share = share;
    nccl_finding_evidence(x, memory_format("steps that waited (%s)", nccl_wait_name(j->wait)), u->steps, "steps");
    nccl_finding_evidence(x, memory_strdup(u->rows ? "receivers" : "senders"), (double)u->others, "");
    for (size_t i = 0; i < j->p.count; i++) {
        const nccl_peer *c = &j->p.items[i];
        if (peers_is_known(j, c) && peers_side_of(j, c, u->rows) == u->who) j->explained[i] = true;
    }
}

static void peers_report_units(peers_judging *j, bool rows)
{
    size_t count = j->host ? j->m->n->host_count : j->m->n->process_count;
    char *partners = memory_calloc(count, 1), *with_slow = memory_calloc(count, 1);
    for (size_t i = 0; i < j->p.count; i++)
        if (j->slow[i] && !j->explained[i]) with_slow[peers_side_of(j, &j->p.items[i], rows)] = 1;
    for (uint32_t who = 0; who < count; who++) {
        if (!with_slow[who] || (j->host && j->m->n->hosts[who].process_count < 2)) continue;
        peers_unit u = peers_unit_of(j, rows, who, partners);
        if (peers_unit_is_slow(j, &u)) peers_report_unit(j, &u);
    }
    free(partners);
    free(with_slow);
}

// The finding that names this way already, in another communicator of the same two; NULL: none does.
static nccl_finding *peers_named_link(const peers_judging *j, size_t first, const nccl_peer *c)
{
    const nccl *n = j->m->n;
    for (size_t i = first; i < j->m->f->count; i++) {
        nccl_finding *x = &j->m->f->items[i];
        if (x->receiver != NCCL_NONE && n->members[x->member].process == n->members[c->sender].process &&
            n->members[x->receiver].process == n->members[c->receiver].process)
            return x;
    }
    return NULL;
}

static void peers_report_link(peers_judging *j, const nccl_peer *c)
{
    const nccl *n = j->m->n;
    double beside = c->beside[NCCL_WAIT_WIRE],
           share = c->wait_us[NCCL_WAIT_WIRE] * (1 - 1 / beside) / peers_time_of(j, c);
    char *from = nccl_finding_rank(n, c->sender), *to = nccl_finding_rank(n, c->receiver);
    nccl_finding *x = nccl_finding_add(
        j->m, NCCL_RULE_SLOW_LINK, peers_severity(share), beside,
        memory_format(
            "the way from %s to %s in communicator %s is slow: %s a step on the wire, %s times as long as for "
            "others; that is %s of the time of these steps",
            from, to, n->communicators[c->communicator].label,
            nccl_finding_time(nccl_peer_wait(c, NCCL_WAIT_WIRE)).text, words_number(beside).text,
            words_share(share).text));
    free(from);
    free(to);
    x->device = nccl_finding_host(n, c->sender);
    x->member = c->sender;
    x->receiver = c->receiver;
    x->communicator = c->communicator;
    x->cost_share = share;
    nccl_finding_evidence(x, memory_strdup("steps"), (double)c->sent, "steps");
}

static int peers_by_beside(const void *a, const void *b)
{
    const nccl_peer *x = *(const nccl_peer *const *)a, *y = *(const nccl_peer *const *)b;
    double p = x->beside[NCCL_WAIT_WIRE], q = y->beside[NCCL_WAIT_WIRE];
    if (p != q) return p > q ? -1 : 1;
    return (x > y) - (x < y);
}

// What is left on the wire: between two. A way that is slow in several communicators is one finding, of the slowest.
static void peers_report_links(peers_judging *j)
{
    size_t known = 0, left = 0, first = j->m->f->count;
    const nccl_peer **links = memory_array(NULL, j->p.count, sizeof *links);
    for (size_t i = 0; i < j->p.count; i++) {
        known += peers_is_known(j, &j->p.items[i]);
        if (j->slow[i] && !j->explained[i]) links[left++] = &j->p.items[i];
    }
    if (5 * left > known) left = 0; // near and far pairs, not faults
    if (left) qsort(links, left, sizeof *links, peers_by_beside);
    for (size_t i = 0; i < left; i++) {
        nccl_finding *x = peers_named_link(j, first, links[i]);
        if (!x)
            peers_report_link(j, links[i]);
        else
            nccl_finding_evidence(x,
                                  memory_format("likewise in %s", j->m->n->communicators[links[i]->communicator].label),
                                  links[i]->beside[NCCL_WAIT_WIRE], "times");
    }
    free(links);
}

// ---- rails: the ways between ranks of the same place on their hosts ----

typedef struct peers_rail {
    size_t cells, slow, others, others_slow, hosts;
    uint32_t communicator;
    double excess_us, time_us, wait_us, steps;
} peers_rail;

static bool peers_is_on_rail(const peers_judging *j, const nccl_peer *x, uint32_t place)
{
    const nccl *n = j->m->n;
    return j->places.of[n->members[x->sender].process] == place &&
           j->places.of[n->members[x->receiver].process] == place;
}

static bool peers_is_between_hosts(const peers_judging *j, const nccl_peer *x)
{
    const nccl *n = j->m->n;
    return peers_is_known(j, x) &&
           n->processes[n->members[x->sender].process].host != n->processes[n->members[x->receiver].process].host;
}

static peers_rail peers_rail_of(const peers_judging *j, uint32_t place)
{
    const nccl *n = j->m->n;
    peers_rail r = {0};
    char *seen = memory_calloc(n->host_count, 1);
    for (size_t i = 0; i < j->p.count; i++) {
        const nccl_peer *x = &j->p.items[i];
        if (!peers_is_between_hosts(j, x)) continue;
        if (!peers_is_on_rail(j, x, place)) {
            r.others++;
            r.others_slow += j->slow[i];
            continue;
        }
        peers_unit u = {0};
        peers_unit_add(j, &u, i);
        char *host = &seen[n->processes[n->members[x->sender].process].host];
        r.hosts += !*host;
        *host = 1;
        r.cells++;
        r.slow += j->slow[i];
        r.communicator = x->communicator;
        r.excess_us += u.excess_us;
        r.time_us += u.time_us;
        r.wait_us += u.wait_us;
        r.steps += u.steps;
    }
    free(seen);
    return r;
}

static void peers_report_rail(peers_judging *j, uint32_t place, const peers_rail *r)
{
    double share = r->excess_us / r->time_us, ratio = r->wait_us / (r->wait_us - r->excess_us);
    char *who = j->places.by_adapter ? memory_format("ranks that send through %s", j->places.names[place])
                                     : memory_format("ranks of place %u on their hosts (in the order of ranks, from 0)",
                                                     (unsigned)place);
    nccl_finding *x = nccl_finding_add(
        j->m, NCCL_RULE_SLOW_RAIL, peers_severity(share), ratio,
        memory_format("the ways between %s are slow, those between others are not: %s a step on the wire, %s times as "
                      "long as for others; that is %s of the time of these steps",
                      who, nccl_finding_time(r->wait_us / r->steps).text, words_number(ratio).text,
                      words_share(share).text));
    free(who);
    x->device = j->m->n->communicators[r->communicator].label;
    x->communicator = r->communicator;
    x->rail = place;
    x->cost_share = share;
    nccl_finding_evidence(x, memory_strdup("hosts"), (double)r->hosts, "");
    nccl_finding_evidence(x, memory_strdup("ways that are slow"), (double)r->slow, "");
    nccl_finding_evidence(x, memory_strdup("ways of this rail"), (double)r->cells, "");
    nccl_finding_evidence(x, memory_strdup("other ways that are slow"), (double)r->others_slow, "");
    nccl_finding_evidence(x, memory_strdup("other ways"), (double)r->others, "");
    for (size_t i = 0; i < j->p.count; i++)
        if (peers_is_between_hosts(j, &j->p.items[i]) && peers_is_on_rail(j, &j->p.items[i], place))
            j->explained[i] = true;
}

static void peers_report_rails(peers_judging *j)
{
    enum { LEAST_HOSTS = 3 };
    for (uint32_t place = 0; j->places.count > 1 && place < j->places.count; place++) {
        peers_rail r = peers_rail_of(j, place);
        if (r.hosts >= LEAST_HOSTS && r.others >= r.cells && 10 * r.slow >= 9 * r.cells &&
            4 * r.others_slow <= r.others)
            peers_report_rail(j, place, &r);
    }
}

// Rails first, then hosts, single processes, and pairs.
static void peers_judge_wait(peers_judging *j)
{
    if (!peers_find_slow(j)) return;
    j->m->f->judged++;
    if (j->wait == NCCL_WAIT_WIRE) peers_report_rails(j);
    bool sender = j->wait == NCCL_WAIT_GPU || j->wait == NCCL_WAIT_WIRE, receiver = j->wait != NCCL_WAIT_GPU;
    for (int host = 1; host >= 0; host--) {
        j->host = host;
        if (sender) peers_report_units(j, true);
        if (receiver) peers_report_units(j, false);
    }
    if (j->wait == NCCL_WAIT_WIRE) peers_report_links(j);
}

void nccl_findings_peers(nccl_findings_making *m)
{
    // Each may be the cause of those after it: data that come late are late for the GPU, whoever cannot send on has no
    // room to receive.
    static const nccl_wait order[NCCL_WAITS] = {NCCL_WAIT_WIRE, NCCL_WAIT_FLUSH, NCCL_WAIT_GPU, NCCL_WAIT_CREDIT};
    peers_judging j = {.m = m};
    const char *cause = NULL;
    if (!m->n->proxy_count) return;
    nccl_peers_make(&j.p, m->n);
    nccl_places_make(&j.places, m->n, &j.p);
    j.slow = memory_calloc(j.p.count, sizeof *j.slow);
    j.explained = memory_calloc(j.p.count, sizeof *j.explained);
    for (int k = 0; k < NCCL_WAITS; k++) {
        size_t before = m->f->count;
        j.wait = order[k];
        peers_judge_wait(&j);
        for (size_t i = before; i < m->f->count && cause; i++) {
            m->f->items[i].severity = SEVERITY_INFO;
            m->f->items[i].explained_by = cause;
        }
        if (!cause && m->f->count > before) cause = m->f->items[before].rule->name;
    }
    free(j.slow);
    free(j.explained);
    nccl_places_free(&j.places);
    nccl_peers_free(&j.p);
}

// What holds for every finding about NCCL, whatever it found: it names whom and what it is about in its claim and in its
// fields alike, says what it costs where its kind tells of a cost, and shows what it rests on.
#ifndef NETPROF_TESTS_NCCL_CLAIMS_H
#define NETPROF_TESTS_NCCL_CLAIMS_H

#include "analysis/nccl/findings/nccl_findings.h"
#include "support.h"

#include <math.h>

enum {
    CLAIMS_MEMBER = 1,
    CLAIMS_COMMUNICATOR = 2,
    CLAIMS_OPERATION = 4,
    CLAIMS_SERIES = 8,
    CLAIMS_HOST = 16,
    CLAIMS_COST = 32,
    CLAIMS_SHARE = 64,
    CLAIMS_RECEIVER = 128,
    CLAIMS_RAIL = 256
};

// The least that a finding of the rule tells.
typedef struct claims_row {
    const char *rule;
    int fields;
    size_t evidence;
} claims_row;

static const claims_row claims_rows[] = {
    {"nccl-late-rank", CLAIMS_MEMBER | CLAIMS_HOST | CLAIMS_COST | CLAIMS_SHARE, 3},
    {"nccl-often-late", CLAIMS_MEMBER | CLAIMS_HOST | CLAIMS_COST | CLAIMS_SHARE, 3},
    {"nccl-early-rank", CLAIMS_MEMBER | CLAIMS_HOST | CLAIMS_COMMUNICATOR | CLAIMS_OPERATION, 1},
    {"nccl-late-host", CLAIMS_HOST | CLAIMS_COST | CLAIMS_SHARE, 2},
    {"nccl-slow-host", CLAIMS_HOST | CLAIMS_SERIES | CLAIMS_COST | CLAIMS_SHARE, 3},
    {"nccl-slow-communicator", CLAIMS_COMMUNICATOR | CLAIMS_SERIES | CLAIMS_COST | CLAIMS_SHARE, 2},
    {"nccl-slower", CLAIMS_COST | CLAIMS_SHARE, 3},
    {"nccl-faster", 0, 3},
    {"nccl-below-peak", CLAIMS_COMMUNICATOR | CLAIMS_SERIES | CLAIMS_COST | CLAIMS_SHARE, 2},
    {"nccl-wire-change", CLAIMS_COMMUNICATOR | CLAIMS_SERIES, 0},
    {"nccl-skew", CLAIMS_COMMUNICATOR | CLAIMS_SERIES | CLAIMS_COST | CLAIMS_SHARE, 0},
    {"nccl-late-partner", CLAIMS_MEMBER | CLAIMS_COMMUNICATOR | CLAIMS_COST, 1},
    {"nccl-slow-partner", CLAIMS_MEMBER | CLAIMS_COMMUNICATOR | CLAIMS_COST, 1},
    {"nccl-slow-pair", CLAIMS_MEMBER | CLAIMS_COMMUNICATOR | CLAIMS_COST, 0},
    {"nccl-sockets", CLAIMS_HOST, 2},
    {"nccl-rdma-unused", CLAIMS_HOST, 1},
    {"nccl-unequal-members", CLAIMS_HOST | CLAIMS_MEMBER, 2},
    {"nccl-other-adapter", CLAIMS_HOST | CLAIMS_MEMBER, 2},
    {"nccl-slow-rail", CLAIMS_RAIL | CLAIMS_COMMUNICATOR | CLAIMS_SHARE, 5},
    {"nccl-slow-sender", CLAIMS_HOST | CLAIMS_SHARE, 2},
    {"nccl-slow-receiver", CLAIMS_HOST | CLAIMS_SHARE, 2},
    {"nccl-slow-link", CLAIMS_MEMBER | CLAIMS_RECEIVER | CLAIMS_COMMUNICATOR | CLAIMS_SHARE, 1},
    {"nccl-plugin-dropped", CLAIMS_MEMBER, 0},
    {"nccl-parts-dropped", CLAIMS_MEMBER, 1},
    {"nccl-records-missing", 0, 4},
    {"nccl-logs-damaged", 0, 0},
    {"nccl-conflicting-records", 0, 0},
    {"nccl-disagreeing-bandwidth", 0, 0},
    {"nccl-invalid-size", 0, 0},
    {"nccl-duplicates", 0, 0},
    {"nccl-mean-misleads", CLAIMS_COMMUNICATOR, 0},
    {"nccl-cross-rail", 0, 3},
    {"nccl-nic-counters", 0, 0},
};

SUPPORT const claims_row *claims_row_of(const nccl_finding *x)
{
    for (size_t i = 0; i < COUNT(claims_rows); i++)
        if (strcmp(claims_rows[i].rule, x->rule->name) == 0) return &claims_rows[i];
    fail_msg("no row for %s", x->rule->name);
    return NULL;
}

SUPPORT int claims_fields(const nccl_finding *x)
{
    return (x->member != NCCL_NONE ? CLAIMS_MEMBER : 0) | (x->communicator != NCCL_NONE ? CLAIMS_COMMUNICATOR : 0) |
           (x->operation != NCCL_NONE ? CLAIMS_OPERATION : 0) | (x->series != NCCL_NONE ? CLAIMS_SERIES : 0) |
           (x->host != NCCL_NONE ? CLAIMS_HOST : 0) | (isnan(x->cost_us) ? 0 : CLAIMS_COST) |
           (isnan(x->cost_share) ? 0 : CLAIMS_SHARE) | (x->receiver != NCCL_NONE ? CLAIMS_RECEIVER : 0) |
           (x->rail != NCCL_NONE ? CLAIMS_RAIL : 0);
}

SUPPORT void claims_has(const nccl_finding *x, const char *word)
{
    if (!strstr(x->claim, word)) fail_msg("%s: no \"%s\" in: %s", x->rule->name, word, x->claim);
}

// A rank is called by its number in its widest communicator.
SUPPORT void claims_names_member(const nccl *n, const nccl_finding *x, uint32_t member)
{
    char rank[40];
    const nccl_member *m = &n->members[member];
    snprintf(rank, sizeof rank, "rank %lld ", (long long)nccl_widest_member(n, m->process)->rank);
    claims_has(x, rank);
    claims_has(x, n->hosts[n->processes[m->process].host].name);
}

SUPPORT void claims_check_fields(const nccl *n, const nccl_finding *x)
{
    const char *device = NULL;
    if (x->communicator != NCCL_NONE) device = n->communicators[x->communicator].label;
    if (device && x->rail == NCCL_NONE) claims_has(x, device);
    if (x->member != NCCL_NONE) {
        claims_names_member(n, x, x->member);
        device = n->hosts[n->processes[n->members[x->member].process].host].name;
        if (x->communicator != NCCL_NONE) assert_int_equal(n->members[x->member].communicator, x->communicator);
    }
    if (x->receiver != NCCL_NONE) claims_names_member(n, x, x->receiver);
    if (x->host != NCCL_NONE) {
        device = n->hosts[x->host].name;
        claims_has(x, device);
        if (x->member != NCCL_NONE) assert_int_equal(n->processes[n->members[x->member].process].host, x->host);
    }
    if (device) assert_string_equal(x->device, device);
    if (x->operation != NCCL_NONE) {
        claims_has(x, n->colls[n->operations[x->operation].coll]);
        if (x->communicator != NCCL_NONE) assert_int_equal(n->operations[x->operation].communicator, x->communicator);
    }
    if (x->series != NCCL_NONE) {
        const nccl_series *s = &n->series[x->series];
        claims_has(x, n->colls[s->coll]);
        claims_has(x, words_binary((double)s->size).text);
        if (x->communicator != NCCL_NONE) assert_int_equal(s->communicator, x->communicator);
    }
}

// As documented: 10 % of the time is high, 3 % a warning, 1 % to be watched; some findings are never so bad.
SUPPORT void claims_check_cost(const nccl_finding *x)
{
    if (!isnan(x->cost_us)) assert_true(x->cost_us >= 0 && isfinite(x->cost_us));
    if (isnan(x->cost_share)) return;
    if (!(x->cost_share >= 0 && x->cost_share <= 1)) fail_msg("%s: %g of the time", x->rule->name, x->cost_share);
    severity most = x->cost_share >= 0.10   ? SEVERITY_HIGH
                    : x->cost_share >= 0.03 ? SEVERITY_WARN
                    : x->cost_share >= 0.01 ? SEVERITY_WATCH
                                            : SEVERITY_INFO;
    if (x->rule->by_cost) assert_true(x->severity <= most);
}

SUPPORT void claims_check(const nccl *n, const nccl_findings *f)
{
    for (size_t i = 0; i < f->count; i++) {
        const nccl_finding *x = &f->items[i];
        const claims_row *row = claims_row_of(x);
        if ((claims_fields(x) & row->fields) != row->fields)
            fail_msg("%s tells %#x, not all of %#x: %s", row->rule, (unsigned)claims_fields(x), (unsigned)row->fields,
                     x->claim);
        if (x->evidence_count < row->evidence) fail_msg("%s has %zu numbers", row->rule, x->evidence_count);
        for (size_t k = 0; k < x->evidence_count; k++)
            assert_true(x->evidence[k].name[0] && isfinite(x->evidence[k].value));
        assert_true(x->value > 0 && isfinite(x->value));
        assert_true(!x->last_sn || x->first_sn <= x->last_sn);
        if (x->explained_by) assert_true(strcmp(x->explained_by, x->rule->name) != 0);
        if (i) assert_true(x->severity <= x[-1].severity); // the worst first
        claims_check_fields(n, x);
        claims_check_cost(x);
    }
    assert_true(f->verdict && *f->verdict);
}

#endif

// The heading of a report on NCCL logs and the sentences below it, whole, for findings made by hand about a small job.
#define _GNU_SOURCE
#include "netprof.h"

#include "analysis/nccl/findings/nccl_findings_make.h"
#include "analysis/nccl/view/nccl_view.h"
#include "nccl_job.h"

// The job's members: of dp (communicator 0 or 1, as they are ordered) ranks 0 to 3, of tp ranks 0 and 1.
typedef struct situation {
    nccl n;
    char *tree;
    uint32_t dp, tp;
} situation;

static uint32_t communicator_of(const nccl *n, const char *label)
{
    for (uint32_t i = 0; i < n->communicator_count; i++)
        if (strcmp(n->communicators[i].label, label) == 0) return i;
    fail_msg("no %s", label);
    return 0;
}

static int begin(void **state)
{
    static situation s;
    read_job(&s.n, &s.tree);
    s.dp = communicator_of(&s.n, "dp");
    s.tp = communicator_of(&s.n, "tp");
    *state = &s;
    return 0;
}

static int end(void **state)
{
    situation *s = *state;
    nccl_free(&s->n);
    tree_remove(s->tree);
    return 0;
}

static nccl_finding found(int which, severity s, const char *claim)
{
    return (nccl_finding){.rule = &nccl_finding_rules[which],
                          .severity = s,
                          .value = 2.5,
                          .claim = (char *)(uintptr_t)claim,
                          .device = "h2",
                          .communicator = NCCL_NONE,
                          .operation = NCCL_NONE,
                          .series = NCCL_NONE,
                          .member = NCCL_NONE,
                          .host = NCCL_NONE,
                          .receiver = NCCL_NONE,
                          .rail = NCCL_NONE,
                          .cost_us = 3.2e6,
                          .cost_share = NAN};
}

static void view_of(nccl_view *v, const situation *s, nccl_finding *items, size_t count, const nccl_judged *what)
{
    const nccl_findings f = {.items = items,
                             .count = count,
                             .what = what ? *what : (nccl_judged){0},
                             .severity = count ? items[0].severity : SEVERITY_OK,
                             .verdict = (char *)(uintptr_t) "The verdict"};
    nccl_view_make(v, &s->n, &f, NULL, NULL);
}

// ---- the heading ----

enum { NOBODY = -1, OF_TP = 4 }; // who: a rank of dp; OF_TP + rank: of tp

static uint32_t member_at(const situation *s, int who)
{
    if (who == NOBODY) return NCCL_NONE;
    const nccl_communicator *c = &s->n.communicators[who < OF_TP ? s->dp : s->tp];
    return c->first_member + (uint32_t)(who % OF_TP);
}

static void headings(void **state)
{
    static const struct {
        int rule, who, to; // ranks of dp
        bool host;         // h2, without a rank
        const char *claim, *title;
    } rows[] = {
        {NCCL_RULE_BELOW_PEAK, NOBODY, NOBODY, false, "c", "tp reaches 250 % of its peak"},
        {NCCL_RULE_SLOW_HOST, NOBODY, NOBODY, true, "c",
         "Host h2 is slow on the wire: 2.50 times its equals, 3.20 s lost"},
        {NCCL_RULE_SLOW_COMMUNICATOR, NOBODY, NOBODY, false, "c",
         "h2 is slow on the wire: 2.50 times its equals, 3.20 s lost"},
        {NCCL_RULE_SLOW_SENDER, NOBODY, NOBODY, true, "c", "Host h2 sends slowly: 2.50 times as long as others"},
        {NCCL_RULE_SLOW_SENDER, NOBODY, NOBODY, true, "h2 sends late: its GPU",
         "Host h2 sends late: 2.50 times as long as others"},
        {NCCL_RULE_SLOW_SENDER, 3, NOBODY, false, "c",
         "Rank 3 of dp, on h2, sends slowly: 2.50 times as long as others"},
        {NCCL_RULE_SLOW_RECEIVER, OF_TP + 1, NOBODY, false, "c",
         "Rank 1 of dp, on h1, receives slowly: 2.50 times as long as others"},
        {NCCL_RULE_SLOW_RECEIVER, NOBODY, NOBODY, true, "c", "Host h2 receives slowly: 2.50 times as long as others"},
        {NCCL_RULE_SOCKETS_UNUSED, NOBODY, NOBODY, true, "c", "All hosts send through sockets although RDMA is there"},
        {NCCL_RULE_UNEQUAL_MEMBERS, 2, NOBODY, false, "c", "The adapters of rank 2 of dp on h2 carry unequal traffic"},
        {NCCL_RULE_UNEQUAL_MEMBERS, NOBODY, NOBODY, true, "c", "The verdict"},
        {NCCL_RULE_OTHER_ADAPTER, OF_TP, NOBODY, false, "c",
         "Rank 0 of dp on h1 sends through another adapter than its place elsewhere"},
        {NCCL_RULE_SLOW_LINK, 1, 2, false, "c", "The way from h1 to h2 is slow: 2.50 times as long as others"},
        {NCCL_RULE_SLOW_LINK, 3, 0, false, "c", "The way from h2 to h1 is slow: 2.50 times as long as others"},
        {NCCL_RULE_SLOW_LINK, 1, NOBODY, false, "c", "The verdict"},
        {NCCL_RULE_LATE_RANK, OF_TP + 1, NOBODY, false, "c", "Rank 1 of dp, on h1, was late: 3.20 s lost"},
        {NCCL_RULE_OFTEN_LATE, 2, NOBODY, false, "c", "Rank 2 of dp, on h2, was late: 3.20 s lost"},
        {NCCL_RULE_LATE_HOST, NOBODY, NOBODY, true, "c", "Host h2 was late: 3.20 s lost"},
        {NCCL_RULE_SLOWER, NOBODY, NOBODY, false, "c", "The verdict"},
        {NCCL_RULE_SLOW_PAIR, 0, 2, false, "c", "The verdict"},
        {NCCL_RULE_DUPLICATES, NOBODY, NOBODY, false, "c", "The verdict"}};
    const situation *s = *state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        nccl_view v;
        nccl_finding x = found(rows[i].rule, SEVERITY_WATCH, rows[i].claim);
        x.communicator = s->tp;
        x.member = member_at(s, rows[i].who);
        x.receiver = member_at(s, rows[i].to);
        if (rows[i].host) x.host = 1;
        view_of(&v, s, &x, 1, NULL);
        assert_string_equal(v.verdict, rows[i].title);
        assert_int_equal(v.severity, SEVERITY_WATCH);
        nccl_view_free(&v);
    }
}

// Nothing bad: what was looked at, and what was found that cost little.
static void good_headings(void **state)
{
    static const struct {
        nccl_judged what;
        int rule; // of a finding that is context; -1: none
        const char *title;
    } rows[] = {{{.ranks = 0, .late = 0, .communicators = 2, .wires = 2}, -1, "The verdict"},
                {{.ranks = 4, .late = 0, .communicators = 2, .wires = 0}, -1, "The verdict"},
                {{.ranks = 4, .late = 4, .communicators = 3, .wires = 3},
                 -1,
                 "No late rank among 4 ranks, no slow wire in 3 communicators"},
                {{.ranks = 4, .late = 3, .communicators = 3, .wires = 1},
                 -1,
                 "No late rank among 3 of 4 ranks, no slow wire in 1 of 3 communicators"},
                {{.ranks = 4, .late = 0, .communicators = 3, .wires = 2},
                 -1,
                 "Lateness not judged, no slow wire in 2 of 3 communicators"},
                {{.ranks = 5, .late = 2, .communicators = 3, .wires = 0},
                 -1,
                 "No late rank among 2 of 5 ranks; wire not judged"},
                {{.ranks = 4, .late = 4, .communicators = 3, .wires = 3},
                 NCCL_RULE_LATE_RANK,
                 "No costly lateness among 4 ranks, no slow wire in 3 communicators"},
                {{.ranks = 4, .late = 4, .communicators = 3, .wires = 3},
                 NCCL_RULE_SLOW_HOST,
                 "No late rank among 4 ranks, no costly slowness of the wire in 3 communicators"},
                {{.ranks = 4, .late = 4, .communicators = 3, .wires = 3},
                 NCCL_RULE_EARLY_RANK,
                 "No late rank among 4 ranks, no slow wire in 3 communicators"}};
    const situation *s = *state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        nccl_view v;
        nccl_finding x = found(rows[i].rule < 0 ? 0 : rows[i].rule, SEVERITY_INFO, "c");
        view_of(&v, s, &x, rows[i].rule >= 0, &rows[i].what);
        assert_string_equal(v.verdict, rows[i].title);
        nccl_view_free(&v);
    }
}

// ---- the sentences ----

static void expect_sentences(const nccl_view *v, const nccl_view_line *lines, size_t count)
{
    for (size_t i = 0; i < v->sentences.count || i < count; i++) {
        if (i >= count) fail_msg("one more: %s", v->sentences.items[i].text);
        if (i >= v->sentences.count) fail_msg("not said: %s", lines[i].text);
        assert_string_equal(v->sentences.items[i].text, lines[i].text);
        assert_int_equal(v->sentences.items[i].severity, lines[i].severity);
    }
}

#define WIRE                                                                                                           \
    "The wire: AllReduce of 977 KiB on dp moves 13.8 GB/s in the median, 34.4 % of the peak; nine of ten calls 12.6 "  \
    "GB/s to 14.9 GB/s."

// The two worst of a rule, three in all, and one about the data; nothing that another explains, nothing that is context.
// Of a late process also what it is called elsewhere, and what it cost in all.
static void sentences(void **state)
{
    const situation *s = *state;
    nccl_finding items[] = {found(NCCL_RULE_LATE_RANK, SEVERITY_HIGH, "rank 2 was late"),
                            found(NCCL_RULE_SKEW, SEVERITY_HIGH, "explained"),
                            found(NCCL_RULE_RECORDS_MISSING, SEVERITY_WARN, "records are missing"),
                            found(NCCL_RULE_LATE_RANK, SEVERITY_WARN, "rank 1 of tp was late"),
                            found(NCCL_RULE_LATE_RANK, SEVERITY_WARN, "a third one"),
                            found(NCCL_RULE_LOGS_DAMAGED, SEVERITY_WARN, "more about data"),
                            found(NCCL_RULE_MEAN_MISLEADS, SEVERITY_INFO, "the mean misleads")};
    static const nccl_view_line lines[] = {
        {SEVERITY_HIGH, "Rank 2 was late."},
        {SEVERITY_INFO, "That process (pid 102, local rank 0) cost 3.20 s in all its communicators together."},
        {SEVERITY_WARN, "Records are missing."},
        {SEVERITY_WARN, "Rank 1 of tp was late."},
        {SEVERITY_INFO,
         "That process (pid 101, local rank 1) is rank 1 of tp, and cost 12 s in all its communicators together."},
        {SEVERITY_OK, WIRE}};
    nccl_view v;
    items[0].member = member_at(s, 2);
    items[1].explained_by = "nccl-late-rank";
    items[3].member = member_at(s, OF_TP + 1);
    items[3].cost_us = 12e6;
    view_of(&v, s, items, COUNT(items), NULL);
    expect_sentences(&v, lines, COUNT(lines)); // six at most: neither what misleads nor where to look
    assert_int_equal(v.findings.count, COUNT(items));
    assert_string_equal(v.findings.items[1].explained_by, "nccl-late-rank");
    assert_string_equal(v.findings.items[0].explained_by, "");
    nccl_view_free(&v);
}

static void fewer_sentences(void **state)
{
    static const nccl_view_line context[] = {{SEVERITY_INFO, "The verdict."},
                                             {SEVERITY_OK, WIRE},
                                             {SEVERITY_INFO, "The mean misleads."}},
                                wire[] = {{SEVERITY_WATCH, "A host is slow."},
                                          {SEVERITY_WATCH, "And one more."},
                                          {SEVERITY_WATCH, "A pair is slow."},
                                          {SEVERITY_INFO, "Look next: the NICs and links of this host: netprof check, "
                                                          "cables, PCIe width, NVLink state."}},
                                other[] = {{SEVERITY_WARN, "It was below."},
                                           {SEVERITY_INFO,
                                            "Look next: check algorithm and protocol, number of channels "
                                            "and NICs that are used, and the peak that was given."}},
                                late[] = {{SEVERITY_WATCH, "Its cost is not known."},
                                          {SEVERITY_OK, WIRE},
                                          {SEVERITY_INFO, "Look next: this process: GPU clocks, data loader, CPU "
                                                          "placement, other load on its cores."}};
    const situation *s = *state;
    nccl_finding items[] = {found(NCCL_RULE_MEAN_MISLEADS, SEVERITY_INFO, "the mean misleads"),
                            found(NCCL_RULE_SLOW_HOST, SEVERITY_WATCH, "a host is slow"),
                            found(NCCL_RULE_SLOW_HOST, SEVERITY_WATCH, "and one more"),
                            found(NCCL_RULE_SLOW_PAIR, SEVERITY_WATCH, "a pair is slow"),
                            found(NCCL_RULE_SLOW_PARTNER, SEVERITY_WATCH, "a fourth"),
                            found(NCCL_RULE_BELOW_PEAK, SEVERITY_WARN, "it was below"),
                            found(NCCL_RULE_LATE_RANK, SEVERITY_WATCH, "its cost is not known")};
    nccl_view v;
    view_of(&v, s, items, 1, NULL);
    expect_sentences(&v, context, COUNT(context));
    nccl_view_free(&v);
    for (size_t i = 1; i < 5; i++)
        items[i].host = 1, items[i].member = member_at(s, 2);
    view_of(&v, s, &items[1], 4, NULL);
    expect_sentences(&v, wire, COUNT(wire));
    nccl_view_free(&v);
    items[5].communicator = s->dp;
    view_of(&v, s, &items[5], 1, NULL);
    expect_sentences(&v, other, COUNT(other));
    nccl_view_free(&v);
    items[6].member = member_at(s, 2);
    items[6].cost_us = NAN;
    view_of(&v, s, &items[6], 1, NULL);
    expect_sentences(&v, late, COUNT(late));
    nccl_view_free(&v);
}

// ---- the list of findings ----

// More than the list holds are counted; what could not be judged is told with them.
static void all_findings(void **state)
{
    enum { MANY = NCCL_VIEW_FINDINGS + 7 };
    static nccl_finding items[MANY];
    static char *unknown[] = {"one", "two", "three"};
    const situation *s = *state;
    nccl_view v;
    for (size_t i = 0; i < MANY; i++) {
        items[i] = found(i % 2 ? NCCL_RULE_LATE_RANK : NCCL_RULE_SLOW_PAIR, i < 5 ? SEVERITY_WARN : SEVERITY_INFO, "c");
        items[i].value = (double)i + 0.5;
        items[i].device = i % 3 ? "h1" : "h2";
        items[i].member = member_at(s, 1);
        for (items[i].evidence_count = 0; items[i].evidence_count < i % 4; items[i].evidence_count++)
            items[i].evidence[items[i].evidence_count] =
                (nccl_evidence){items[i].evidence_count ? "more" : "first", (double)(i * 10 + items[i].evidence_count),
                                items[i].evidence_count == 2 ? "us" : "x"};
    }
    const nccl_findings f = {.items = items,
                             .count = MANY,
                             .unknown = unknown,
                             .unknown_count = COUNT(unknown),
                             .severity = SEVERITY_WARN,
                             .verdict = "The verdict"};
    nccl_view_make(&v, &s->n, &f, NULL, NULL);
    assert_int_equal(v.findings.count, NCCL_VIEW_FINDINGS);
    assert_int_equal(v.findings_left, 7);
    for (size_t i = 0; i < v.findings.count; i++) {
        const nccl_view_finding *x = &v.findings.items[i];
        const nccl_rule *of = &nccl_finding_rules[i % 2 ? NCCL_RULE_LATE_RANK : NCCL_RULE_SLOW_PAIR];
        assert_string_equal(x->rule, of->name);
        assert_string_equal(x->unit, of->unit);
        assert_string_equal(x->origin, of->origin);
        assert_string_equal(x->advice, of->advice);
        assert_string_equal(x->device, i % 3 ? "h1" : "h2");
        assert_string_equal(x->claim, "c");
        assert_int_equal(x->severity, i < 5 ? SEVERITY_WARN : SEVERITY_INFO);
        assert_true(x->limit == (i % 2 ? 0.5 : 1.5));
        assert_true(x->value == (double)i + 0.5);
        assert_int_equal(x->evidence.count, i % 4);
        for (size_t k = 0; k < x->evidence.count; k++) {
            assert_string_equal(x->evidence.items[k].name, k ? "more" : "first");
            assert_string_equal(x->evidence.items[k].unit, k == 2 ? "us" : "x");
            assert_true(x->evidence.items[k].value == (double)(i * 10 + k));
        }
    }
    assert_int_equal(v.unknown.count, COUNT(unknown));
    for (size_t i = 0; i < COUNT(unknown); i++) {
        assert_string_equal(v.unknown.items[i].text, unknown[i]);
        assert_int_equal(v.unknown.items[i].severity, SEVERITY_UNKNOWN);
    }
    nccl_view_free(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(headings), cmocka_unit_test(good_headings),
                                       cmocka_unit_test(sentences), cmocka_unit_test(fewer_sentences),
                                       cmocka_unit_test(all_findings)};
    return cmocka_run_group_tests(tests, begin, end);
}

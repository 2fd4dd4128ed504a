// Send and Recv among ranks: who waits is never accused, who comes late or whose way is slow is. Times are arithmetic: a
// transfer takes what its way takes, and its caller waits until the partner has come.
#define _GNU_SOURCE
#include "netprof.h"

#include "analysis/nccl/findings/nccl_findings.h"
#include "analysis/nccl/logs/nccl_logs.h"
#include "nccl_told.h"
#include "support.h"

enum { RANKS = 8, CALLS = 12, NEAR_US = 20, FAR_US = 100 };

typedef struct situation {
    int ranks_a_host;
    int late, early;   // comes 400 us after, or before, all others; -1: nobody
    int slow;          // its ways take three times as long; -1: nobody's
    int pair[2];       // the way between these takes four times as long
    const char *rule;  // of the first accusation; NULL: nobody is accused
    int rank;          // whom it names
    const char *claim; // a part of it
    bool twice;        // the same in a second communicator, of the same processes
} situation;

static int arrival_us(const situation *s, int rank)
{
    return rank == s->late ? 400 : rank == s->early ? -400 : 0;
}

static int transfer_us(const situation *s, int own, int partner, int call)
{
    int way = own / s->ranks_a_host == partner / s->ranks_a_host ? NEAR_US : FAR_US;
    int wait = arrival_us(s, partner) - arrival_us(s, own);
    bool between = (own == s->pair[0] && partner == s->pair[1]) || (own == s->pair[1] && partner == s->pair[0]);
    way *= own == s->slow || partner == s->slow ? 3 : between ? 4 : 1;
    return way + (wait > 0 ? wait : 0) + (own * 7 + partner * 5 + call * 3) % 5; // and a little noise
}

static void write_rank_of(const situation *s, const char *tree, int rank, int communicator)
{
    static const char *const operations[] = {"Send", "Recv"};
    char name[64];
    snprintf(name, sizeof name, "h%d-pid%d-%d.log", rank / s->ranks_a_host, 100 + rank, communicator);
    FILE *f = fopen(tree_path(tree, name), "we");
    assert_non_null(f);
    for (int call = 0; call < CALLS; call++)
        for (int partner = 0; partner < RANKS; partner++)
            for (int o = 0; o < 2 && partner != rank; o++)
                fprintf(
                    f,
                    "{\"header\":{\"id\":\"0xa%d\",\"comm_name\":\"pp%d\",\"rank\":%d,\"n_ranks\":%d,\"nnodes\":%d},"
                    "\"metadata\":{\"inspector_output_format_version\":\"v4.0\",\"dump_timestamp_us\":1000000,"
                    "\"hostname\":\"h%d\",\"pid\":%d},\"p2p_perf\":{\"p2p\":\"%s\",\"p2p_sn\":%d,\"p2p_peer\":%d,"
                    "\"p2p_msg_size_bytes\":1048576,\"p2p_exec_time_us\":%d,\"p2p_timing_source\":\"kernel_gpu\","
                    "\"p2p_algobw_gbs\":1.0,\"p2p_busbw_gbs\":1.0}}\n",
                    communicator, communicator, rank, RANKS, RANKS / s->ranks_a_host, rank / s->ranks_a_host,
                    100 + rank, operations[o], (call * RANKS + partner) * 2 + o, partner,
                    transfer_us(s, rank, partner, call));
    assert_int_equal(fclose(f), 0);
}

static void write_rank(const situation *s, const char *tree, int rank)
{
    for (int i = 0; i <= s->twice; i++)
        write_rank_of(s, tree, rank, i);
}

static const nccl_finding *next_accusation(const nccl_findings *f, const nccl_finding *after)
{
    for (size_t i = after ? (size_t)(after - f->items) + 1 : 0; i < f->count; i++)
        if (f->items[i].severity >= SEVERITY_WATCH) return &f->items[i];
    return NULL;
}

static json_object *check(size_t row, const situation *s)
{
    char *tree = tree_make();
    nccl n = {0};
    nccl_findings f;
    for (int rank = 0; rank < RANKS; rank++)
        write_rank(s, tree, rank);
    const char *paths[] = {tree};
    assert_int_equal(nccl_read(&n, paths, 1, NULL, NULL), NETPROF_OK);
    nccl_findings_make(&f, &n, NULL);
    claims_check(&n, &f);
    const nccl_finding *x = next_accusation(&f, NULL);
    if (!x != !s->rule) fail_msg("row %zu: %s", row, x ? x->claim : "nobody is accused");
    if (x) {
        if (strcmp(x->rule->name, s->rule) != 0 || n.members[x->member].rank != s->rank || !strstr(x->claim, s->claim))
            fail_msg("row %zu: %s: %s", row, x->rule->name, x->claim);
        const nccl_finding *more = next_accusation(&f, x);
        if (more) fail_msg("row %zu: a second one: %s", row, more->claim);
    }
    json_object *said = told(&n, &f);
    nccl_findings_free(&f);
    nccl_free(&n);
    tree_remove(tree);
    return said;
}

static void who_is_named(void **state)
{
    static const situation rows[] = {
        {1, -1, -1, -1, {-1, -1}, NULL, 0, NULL, false},
        {2, -1, -1, -1, {-1, -1}, NULL, 0, NULL, false}, // those on one host are five times as fast
        {4, -1, -1, -1, {-1, -1}, NULL, 0, NULL, false},
        {1, 5, -1, -1, {-1, -1}, "nccl-late-partner", 5, "comes late to Send and Recv, and its partners wait", false},
        {4, 5, -1, -1, {-1, -1}, "nccl-late-partner", 5, "comes late to Send and Recv, and its partners wait", false},
        {1, -1, 3, -1, {-1, -1}, NULL, 0, NULL, false}, // it waits for all
        {1, -1, -1, 6, {-1, -1}, "nccl-slow-partner", 6, "transfers slowly to and from whichever partner", false},
        // of its 14 transfers of each kind 6 are beside near ones
        {4, -1, -1, 6, {-1, -1}, "nccl-slow-partner", 6, "take 2.9", false},
        {1, -1, -1, -1, {2, 7}, "nccl-slow-pair", 2, "takes 3.9", false},
        {1, 5, -1, -1, {-1, -1}, "nccl-late-partner", 5, ", likewise in 1 other communicator, comes late to", true},
        {1, -1, -1, 6, {-1, -1}, "nccl-slow-partner", 6, ", likewise in 1 other communicator, transfers slowly", true},
        {1, -1, -1, -1, {2, 7}, "nccl-slow-pair", 2, "takes 3.9", true},
    };
    json_object *all = json_new_array();
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        json_append(all, check(i, &rows[i]));
    golden_expect(all, "nccl/partners.json"); // and all that is said, whole
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(who_is_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

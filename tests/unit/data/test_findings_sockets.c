// What findings about TCP say of the sockets that a recording tells of.
#define _GNU_SOURCE
#include "netprof.h"

#include "support.h"

#include "analysis/rules/findings.h"
#include "situation.h"
#include "finding_claims.h"

#define ALL(since, worth)                                                                                              \
    "since=" since " seen=9 retransmitted=0 segments=0 worth=" worth " incomplete=0 looks=3 cost_us=1"
#define SOCKET(cookie, again, unread, more)                                                                            \
    "cookie=" cookie " retransmitted=" again " segments=9000 sent=1 received=1 unread=" unread                         \
    " rtt_us=1 cwnd=10 uid=1001 local=10.0.0.1:5201 remote=[fe80::2]:38472 ended=" more

static rules set;

static int set_setup(void **state)
{
    (void)state;
    rules_builtin(&set);
    return 0;
}

static int set_teardown(void **state)
{
    (void)state;
    rules_free(&set);
    return 0;
}

// The claim of a rule; free it. facts: pairs, to a NULL.
static char *claim_of(const char *counters, const char *rule_name, const char *const *facts)
{
    situation s;
    findings f = {0};
    char *claim = NULL;
    situation_make(&s, "ip", counters);
    for (; *facts; facts += 2)
        difference_add_fact(&s.d, facts[0], facts[1]);
    findings_make(&f, &s.d, &set);
    finding_claims_check(&f);
    for (size_t i = 0; i < f.count; i++)
        if (strcmp(f.items[i].rule->name, rule_name) == 0) claim = strdup(f.items[i].claim);
    findings_free(&f);
    situation_free(&s);
    if (!claim) fail_msg("no finding of %s", rule_name);
    return claim;
}

static const char sent_again[] = "Tcp/OutSegs=1000000 Tcp/RetransSegs=840";

static void whose_segments_were_sent_again(void **state)
{
    static const struct {
        const char *facts[10], *ends; // ends: NULL: nothing is added
    } rows[] = {
        {{NULL}, NULL},
        {{"tcp_sockets", ALL("recording", "1"), "tcp_socket_1", SOCKET("1", "840", "0", "0 pid=4123 command=iperf3")},
         "; all 840 segments sent again were of iperf3 (process 4123), 10.0.0.1:5201 to [fe80::2]:38472"},
        {{"tcp_sockets", ALL("recording", "1"), "tcp_socket_1", SOCKET("1", "812", "0", "0 pid=4123 command=iperf3")},
         "; 812 of the 840 segments sent again were of iperf3 (process 4123), 10.0.0.1:5201 to [fe80::2]:38472"},
        // Of several connections of one process together, and the most is not most of them.
        {{"tcp_sockets", ALL("recording", "2"), "tcp_socket_1", SOCKET("1", "100", "0", "0 pid=7 command=a b"),
          "tcp_socket_2", SOCKET("2", "60", "0", "0 pid=7 command=a b")},
         "; 160 of the 840 segments sent again, the most, were of a b (process 7), 10.0.0.1:5201 to [fe80::2]:38472 "
         "and 1 "
         "other connection"},
        {{"tcp_sockets", ALL("recording", "1"), "tcp_socket_1", SOCKET("1", "840", "0", "0")},
         "; all 840 segments sent again were of a program of user 1001 that may not be looked at, 10.0.0.1:5201 to "
         "[fe80::2]:38472"},
        {{"tcp_sockets", ALL("recording", "1"), "tcp_socket_1",
          "cookie=1 retransmitted=840 unread=0 uid= local=10.0.0.1:5201 remote=10.0.0.2:99 ended=0"},
         "; all 840 segments sent again were of a program that may not be looked at, 10.0.0.1:5201 to 10.0.0.2:99"},
        {{"tcp_sockets", ALL("recording", "1"), "tcp_socket_1", SOCKET("1", "840", "0", "1")},
         "; all 840 segments sent again were of a program that had ended before it was looked for, 10.0.0.1:5201 to "
         "[fe80::2]:38472"},
        // A hostile name of a program tells of no other process and no other numbers.
        {{"tcp_sockets", ALL("recording", "1"), "tcp_socket_1", SOCKET("1", "840", "0", "0 command=x pid=1 y")},
         "; all 840 segments sent again were of a program of user 1001 that may not be looked at, 10.0.0.1:5201 to "
         "[fe80::2]:38472"},
        // Two files with one reading each: since their connections began. What the first did not tell of is not known.
        {{"tcp_sockets", ALL("connection", "1"), "tcp_socket_1", SOCKET("a", "1840", "0", "0 pid=7 command=x"),
          "begin/tcp_sockets", ALL("connection", "1"), "begin/tcp_socket_1", SOCKET("a", "1000", "0", "0")},
         "; all 840 segments sent again were of x (process 7), 10.0.0.1:5201 to [fe80::2]:38472"},
        {{"tcp_sockets", ALL("connection", "1"), "tcp_socket_1", SOCKET("b", "840", "0", "0 pid=7 command=x"),
          "begin/tcp_sockets", ALL("connection", "0")},
         "; all 840 segments sent again were of x (process 7), 10.0.0.1:5201 to [fe80::2]:38472"},
        {{"tcp_sockets", ALL("connection", "1"), "tcp_socket_1", SOCKET("b", "840", "0", "0 pid=7 command=x"),
          "begin/tcp_sockets", ALL("connection", "40")},
         NULL},
        {{"tcp_sockets", ALL("connection", "1"), "tcp_socket_1", SOCKET("b", "840", "0", "0 pid=7 command=x"),
          "begin/tcp_sockets", ALL("connection", "1")},
         NULL},
        {{"tcp_sockets", ALL("connection", "1"), "tcp_socket_1", SOCKET("b", "840", "0", "0 pid=7 command=x"),
          "begin/tcp_sockets", ALL("connection", "2"), "begin/tcp_socket_2", SOCKET("c", "9", "0", "0")},
         "; all 840 segments sent again were of x (process 7), 10.0.0.1:5201 to [fe80::2]:38472"},
        // One segment makes a connection one of them, none does not.
        {{"tcp_sockets", ALL("recording", "3"), "tcp_socket_1", SOCKET("1", "839", "0", "0 pid=7 command=x"),
          "tcp_socket_2", SOCKET("2", "1", "0", "0 pid=7 command=x"), "tcp_socket_3",
          SOCKET("3", "0", "0", "0 pid=7 command=x")},
         "; all 840 segments sent again were of x (process 7), 10.0.0.1:5201 to [fe80::2]:38472 and 1 other "
         "connection"},
        {{"tcp_sockets", ALL("connection", "1"), "tcp_socket_1", SOCKET("b", "840", "0", "0 pid=7 command=x")}, NULL},
    };
    (void)state;
    char *bare = claim_of(sent_again, "tcp-retrans-ratio", rows[0].facts);
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *claim = claim_of(sent_again, "tcp-retrans-ratio", rows[i].facts), *expected = NULL;
        if (asprintf(&expected, "%s%s", bare, rows[i].ends ? rows[i].ends : "") < 0) fail();
        assert_string_equal(claim, expected);
        free(expected);
        free(claim);
    }
    free(bare);
}

static void who_left_bytes_unread(void **state)
{
    static const char *const facts[] = {"tcp_sockets",
                                        ALL("recording", "2"),
                                        "tcp_socket_1",
                                        SOCKET("1", "0", "70000", "0 pid=7 command=slow"),
                                        "tcp_socket_2",
                                        SOCKET("2", "0", "6200000", "0 pid=8 command=nginx"),
                                        NULL};
    (void)state;
    char *claim = claim_of("TcpExt/TCPToZeroWindowAdv=20220 IpExt/InOctets=1000000 TcpExt/TCPWantZeroWindowAdv=0",
                           "tcp-zero-window", facts);
    if (!strstr(claim, "; the most unread, 6.20 MB, was left by nginx (process 8), 10.0.0.1:5201 to [fe80::2]:38472"))
        fail_msg("%s", claim);
    free(claim);
}

// Readings are a moment's: what a program that keeps up has just not read yet accuses nobody.
static void a_few_bytes_unread_accuse_nobody(void **state)
{
    static const char *const facts[] = {"tcp_sockets", ALL("recording", "1"), "tcp_socket_1",
                                        SOCKET("1", "0", "1", "0 pid=7 command=quick"), NULL};
    (void)state;
    char *claim = claim_of("TcpExt/TCPToZeroWindowAdv=20220 IpExt/InOctets=1000000 TcpExt/TCPWantZeroWindowAdv=0",
                           "tcp-zero-window", facts);
    assert_null(strstr(claim, "unread"));
    assert_null(strstr(claim, "quick"));
    free(claim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(whose_segments_were_sent_again),
                                       cmocka_unit_test(who_left_bytes_unread),
                                       cmocka_unit_test(a_few_bytes_unread_accuse_nobody)};
    return cmocka_run_group_tests(tests, set_setup, set_teardown);
}

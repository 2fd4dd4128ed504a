/* Source tcp: real connections over the loopback interface. */
#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

/* What a made kernel answers: the bytes 1, 2, 3 and so on, as many as it is old; or an error. */
static int made_size, made_errno; /* 0: the kernel's own answer */

static int answer(int fd, int level, int name, void *data, socklen_t *size)
{
    int i;
    if (made_errno) return errno = made_errno, -1;
    if (!made_size) return getsockopt(fd, level, name, data, size);
    for (i = 0; i < made_size; i++)
        ((unsigned char *)data)[i] = (unsigned char)(i + 1);
    *size = (socklen_t)made_size;
    return 0;
}
#define NETPROF_OS_GETSOCKOPT(fd, level, name, data, size) answer(fd, level, name, data, size)
#define NETPROF_IMPLEMENTATION
#include "netprof.h"
#include <linux/tcp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include "failing.h"
#include "tree.h"

typedef struct pair {
    int client, server;
} pair;

static pair connect_pair(void)
{
    struct sockaddr_in address;
    socklen_t size = sizeof address;
    pair p;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    p.client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(p.client, (struct sockaddr *)&address, size), 0);
    p.server = accept(listener, NULL, NULL);
    assert_true(p.server >= 0);
    close(listener);
    return p;
}

static void disconnect(pair p)
{
    close(p.client);
    close(p.server);
}

static void move(int from, int to, size_t bytes)
{
    static char data[8192];
    size_t sent = 0, got = 0;
    while (got < bytes) {
        ssize_t n = sent < bytes ? send(from, data, bytes - sent < sizeof data ? bytes - sent : sizeof data, 0) : 0;
        assert_true(n >= 0);
        sent += (size_t)n;
        n = recv(to, data, sizeof data, 0);
        assert_true(n > 0);
        got += (size_t)n;
    }
}

/* An empty tree: nothing but what is added. */
static netprof *open_empty(void)
{
    return tree_open("rdma", NETPROF_HOLD_NONE);
}

static void known_bytes_are_counted_exactly(void **state)
{
    pair p = connect_pair();
    netprof *np = open_empty();
    netprof_snapshot before, after = NETPROF_ZERO;
    netprof_delta d = NETPROF_ZERO;
    int tries;
    size_t k;
    (void)state;
    assert_int_equal(netprof_add_socket(np, p.client, "client", NULL), NETPROF_OK);
    assert_int_equal(netprof_add_socket(np, p.server, "server", NULL), NETPROF_OK);
    before = tree_take(np, NETPROF_SET_ALL);
    move(p.client, p.server, 1000003);
    move(p.server, p.client, 77);
    for (tries = 0; tries < 6000; tries++) { /* the last acknowledgement may take its 40 ms */
        assert_int_equal(netprof_take(np, &after, NETPROF_SET_ALL, NULL), NETPROF_OK);
        if (tree_value(&after, "tcp/server", "bytes_acked") - tree_value(&before, "tcp/server", "bytes_acked") == 77)
            break;
        usleep(5000);
    }
    assert_int_equal(netprof_diff(&before, &after, NULL, &d, NULL), NETPROF_OK);
    k = tree_find(&after, "tcp/client", "bytes_acked");
    assert_int_equal(d.flags[k], NETPROF_FLAG_OK);
    assert_int_equal(d.values[k], 1000003);
    assert_int_equal(d.values[tree_find(&after, "tcp/server", "bytes_received")], 1000003);
    assert_int_equal(d.values[tree_find(&after, "tcp/server", "bytes_acked")], 77);
    assert_int_equal(d.values[tree_find(&after, "tcp/client", "bytes_received")], 77);
    assert_int_equal(tree_value(&after, "tcp/client", "state"), 1); /* established */
    assert_int_equal(d.flags[tree_find(&after, "tcp/client", "rtt")], NETPROF_FLAG_GAUGE);
    assert_string_equal(tree_counter(&after, "tcp/client", "rtt")->unit, "us");
    netprof_delta_free(&d);
    netprof_snapshot_free(&before);
    netprof_snapshot_free(&after);
    netprof_close(np);
    disconnect(p);
}

static void offsets_are_those_of_the_kernel(void **state)
{
#define FIELD(name)                                                                                                    \
    {                                                                                                                  \
#name, offsetof(struct tcp_info, tcpi_##name), sizeof(((struct tcp_info *)0)->tcpi_##name)                     \
    }
    static const struct {
        const char *name;
        size_t offset, size;
    } rows[] = {FIELD(state),
                FIELD(ca_state),
                FIELD(retransmits),
                FIELD(probes),
                FIELD(backoff),
                FIELD(rto),
                FIELD(ato),
                FIELD(snd_mss),
                FIELD(rcv_mss),
                FIELD(unacked),
                FIELD(sacked),
                FIELD(lost),
                FIELD(retrans),
                FIELD(fackets),
                FIELD(last_data_sent),
                FIELD(last_data_recv),
                FIELD(last_ack_recv),
                FIELD(pmtu),
                FIELD(rcv_ssthresh),
                FIELD(rtt),
                FIELD(rttvar),
                FIELD(snd_ssthresh),
                FIELD(snd_cwnd),
                FIELD(advmss),
                FIELD(reordering),
                FIELD(rcv_rtt),
                FIELD(rcv_space),
                FIELD(total_retrans),
                FIELD(pacing_rate),
                FIELD(max_pacing_rate),
                FIELD(bytes_acked),
                FIELD(bytes_received),
                FIELD(segs_out),
                FIELD(segs_in),
                FIELD(notsent_bytes),
                FIELD(min_rtt),
                FIELD(data_segs_in),
                FIELD(data_segs_out),
                FIELD(delivery_rate),
                FIELD(busy_time),
                FIELD(rwnd_limited),
                FIELD(sndbuf_limited),
                FIELD(delivered),
                FIELD(delivered_ce),
                FIELD(bytes_sent),
                FIELD(bytes_retrans),
                FIELD(dsack_dups),
                FIELD(reord_seen)};
    size_t i, k;
    (void)state;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (k = 0; k < NETPROF__TCP_ROWS && strcmp(netprof__tcp_rows[k].name, rows[i].name) != 0; k++)
            continue;
        assert_true(k < NETPROF__TCP_ROWS);
        assert_int_equal(netprof__tcp_rows[k].offset, rows[i].offset);
        assert_int_equal(netprof__tcp_rows[k].size, rows[i].size);
    }
}

/* An older kernel fills in less: what is beyond is absent, not 0. */
static void trap_length_varies_by_kernel(void **state)
{
    unsigned char info[512];
    uint64_t value;
    size_t k, there = 0;
    (void)state;
    memset(info, 7, sizeof info);
    for (k = 0; k < NETPROF__TCP_ROWS; k++) /* Linux 2.6 to 3.14: up to total_retrans */
        there += (size_t)netprof__tcp_field(&netprof__tcp_rows[k], info, 104, &value);
    assert_int_equal(there, 28);
    memset(info, 0xff, sizeof info);
    for (k = 0; strcmp(netprof__tcp_rows[k].name, "min_rtt") != 0; k++)
        continue;
    assert_false(netprof__tcp_field(&netprof__tcp_rows[k], info, sizeof info, &value)); /* no sample yet */
}

/* The value of a field whose bytes are numbered from `offset` + 1 on. */
static uint64_t numbered(size_t offset, size_t size)
{
    const uint16_t one = 1;
    unsigned char bytes[8] = {0}, little;
    uint64_t value;
    size_t i;
    memcpy(&little, &one, 1);
    for (i = 0; i < size; i++) /* as the machine has numbers: lowest byte first or last */
        bytes[little ? i : 8 - size + i] = (unsigned char)(offset + i + 1);
    memcpy(&value, bytes, 8);
    return value;
}

static void check_field(const netprof_snapshot *s, size_t first, const struct netprof__tcp_row *row, size_t end)
{
    size_t i = first + (size_t)(row - netprof__tcp_rows);
    const netprof_counter *c = &s->schema->counters[i];
    int there = (size_t)row->offset + row->size <= end;
    assert_string_equal(c->name, row->name);
    assert_string_equal(c->unit, row->unit);
    assert_int_equal(c->width, 8 * row->size);
    assert_int_equal(s->errnos[i], 0);
    if (s->set == NETPROF_SET_FAST && !(c->flags & NETPROF_FAST)) {
        assert_int_equal(s->status[i], NETPROF_STATUS_SKIPPED);
        assert_true(s->values[i] == 0);
    } else {
        assert_int_equal(s->status[i], there ? NETPROF_STATUS_OK : NETPROF_STATUS_ABSENT);
        assert_true(s->values[i] == (there ? numbered(row->offset, row->size) : 0));
    }
}

/* Of two sockets and in both sets: each value from its place, and what the kernel left out absent, without an error. */
static void every_field_is_read_where_it_is(void **state)
{
    static const int sizes[] = {8, 104, 108, 160, 248};
    pair p = connect_pair();
    netprof *np = open_empty();
    netprof_snapshot s = NETPROF_ZERO;
    size_t k, i, set;
    (void)state;
    assert_int_equal(netprof_add_socket(np, p.client, "a", NULL), NETPROF_OK);
    assert_int_equal(netprof_add_socket(np, p.server, "b", NULL), NETPROF_OK);
    for (k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (set = 0; set < 2; set++) {
            made_size = sizes[k];
            assert_int_equal(netprof_take(np, &s, set ? NETPROF_SET_FAST : NETPROF_SET_ALL, NULL), NETPROF_OK);
            made_size = 0;
            assert_int_equal(s.schema->counter_count, 2 * NETPROF__TCP_ROWS);
            for (i = 0; i < 2 * NETPROF__TCP_ROWS; i++)
                check_field(&s, i / NETPROF__TCP_ROWS * NETPROF__TCP_ROWS, &netprof__tcp_rows[i % NETPROF__TCP_ROWS],
                            (size_t)sizes[k]);
        }
    netprof_snapshot_free(&s);
    netprof_close(np);
    disconnect(p);
}

/* A kernel that refuses says why, of each value that was asked for; the socket is the same one still. */
static void a_refusal_is_told_of_each_value(void **state)
{
    static const int codes[] = {EACCES, ENOPROTOOPT, EINVAL};
    pair p = connect_pair();
    netprof *np = open_empty();
    netprof_snapshot s = NETPROF_ZERO;
    size_t k, i;
    (void)state;
    assert_int_equal(netprof_add_socket(np, p.client, "a", NULL), NETPROF_OK);
    for (k = 0; k < sizeof codes / sizeof *codes; k++) {
        made_errno = codes[k];
        assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
        made_errno = 0;
        assert_int_equal(s.not_ok, NETPROF__TCP_ROWS);
        for (i = 0; i < s.schema->counter_count; i++) {
            assert_int_equal(s.status[i], netprof_status_of_errno(codes[k]));
            assert_int_equal(s.errnos[i], codes[k]);
            assert_true(s.values[i] == 0);
        }
    }
    netprof_snapshot_free(&s);
    netprof_close(np);
    disconnect(p);
}

static void trap_descriptor_closed_or_used_again(void **state)
{
    pair p = connect_pair(), q;
    netprof *np = open_empty();
    netprof_snapshot s;
    size_t i;
    int number = p.client;
    (void)state;
    assert_int_equal(netprof_add_socket(np, p.client, "a", NULL), NETPROF_OK);
    close(p.client);
    s = tree_take(np, NETPROF_SET_ALL);
    assert_int_equal(tree_status(&s, "tcp/a", "bytes_acked"), NETPROF_STATUS_VANISHED);
    assert_int_equal(s.errnos[tree_find(&s, "tcp/a", "bytes_acked")], EBADF);
    q = connect_pair();
    assert_int_equal(dup2(q.client, number), number); /* another socket under the number */
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    for (i = 0; i < s.schema->counter_count; i++) {
        assert_int_equal(s.status[i], NETPROF_STATUS_VANISHED);
        assert_int_equal(s.values[i], 0);
    }
    /* the name is free again for the new connection, as another device */
    assert_int_equal(netprof_add_socket(np, number, "a", NULL), NETPROF_OK);
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    assert_int_equal(s.schema->device_count, 1);
    assert_int_equal(tree_status(&s, "tcp/a", "bytes_acked"), NETPROF_STATUS_OK);
    netprof_snapshot_free(&s);
    netprof_close(np);
    close(number);
    close(p.server);
    disconnect(q);
}

static void adding_and_removing(void **state)
{
    pair p = connect_pair();
    netprof *np = open_empty();
    netprof_error error;
    netprof_snapshot s;
    int udp = socket(AF_INET, SOCK_DGRAM, 0);
    (void)state;
    assert_int_equal(netprof_add_socket(np, udp, "udp", &error), NETPROF_ERR_IO);
    assert_int_not_equal(error.sys_errno, 0);
    assert_int_equal(netprof_add_socket(np, -1, "none", &error), NETPROF_ERR_IO);
    assert_int_equal(error.sys_errno, EBADF);
    assert_int_equal(netprof_add_socket(np, p.client, "", &error), NETPROF_ERR_ARG);
    assert_int_equal(netprof_remove_socket(np, p.client, &error), NETPROF_ERR_ARG);
    assert_int_equal(netprof_add_socket(np, p.client, "x", NULL), NETPROF_OK);
    assert_int_equal(netprof_add_socket(np, p.client, "y", &error), NETPROF_ERR_ARG);
    assert_string_equal(error.path, "y");
    assert_string_equal(error.text, "this socket or this name was added before");
    assert_int_equal(error.sys_errno, 0);
    assert_int_equal(netprof_add_socket(np, p.server, "x", &error), NETPROF_ERR_ARG);
    assert_string_equal(error.path, "x");
    assert_int_equal(error.sys_errno, 0);
    assert_int_equal(netprof_add_socket(np, p.server, "y", NULL), NETPROF_OK);
    s = tree_take(np, NETPROF_SET_FAST);
    assert_int_equal(tree_status(&s, "tcp/y", "rtt"), NETPROF_STATUS_OK);
    assert_int_equal(tree_status(&s, "tcp/y", "rto"), NETPROF_STATUS_SKIPPED);
    assert_int_equal(netprof_remove_socket(np, p.client, NULL), NETPROF_OK);
    assert_null(tree_device(netprof_get_schema(np), "tcp/x"));
    assert_int_equal(netprof_take(np, &s, NETPROF_SET_ALL, NULL), NETPROF_OK);
    assert_int_equal(tree_value(&s, "tcp/y", "state"), 1);
    netprof_snapshot_free(&s);
    netprof_close(np);
    close(udp);
    disconnect(p);
}

/* A failure leaves what was there before: the next sweep reads it as if nothing had happened. */
static void every_allocation_fails_in_turn(void **state)
{
    pair p = connect_pair();
    netprof_config config = NETPROF_ZERO;
    long n, left;
    netprof_alloc alloc = failing_alloc(&left);
    netprof_err result = NETPROF_ERR_NOMEM;
    (void)state;
    tree_write("sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data", "25\n");
    config.root = tree_root;
    config.sources = "rdma";
    config.alloc = &alloc;
    for (n = 0; result == NETPROF_ERR_NOMEM; n++) {
        netprof *np;
        netprof_snapshot s;
        left = 1000000;
        assert_int_equal(netprof_open(&np, &config, NULL), NETPROF_OK);
        assert_int_equal(netprof_add_socket(np, p.server, "first", NULL), NETPROF_OK);
        left = n;
        result = netprof_add_socket(np, p.client, "second", NULL);
        left = 1000000;
        s = tree_take(np, NETPROF_SET_ALL);
        assert_int_equal(tree_value(&s, "mlx5_0/1", "port_xmit_data"), 100);
        assert_int_equal(tree_value(&s, "tcp/first", "state"), 1);
        assert_int_equal(tree_device(s.schema, "tcp/second") != NULL, result == NETPROF_OK);
        netprof_snapshot_free(&s);
        netprof_close(np);
    }
    assert_int_equal(result, NETPROF_OK);
    assert_true(n > 5);
    disconnect(p);
}

#define TREE_TEST(test) cmocka_unit_test_setup_teardown(test, tree_setup, tree_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TREE_TEST(known_bytes_are_counted_exactly),
        cmocka_unit_test(offsets_are_those_of_the_kernel),
        TREE_TEST(adding_and_removing),
        TREE_TEST(every_field_is_read_where_it_is),
        TREE_TEST(a_refusal_is_told_of_each_value),
        TREE_TEST(every_allocation_fails_in_turn),
        cmocka_unit_test(trap_length_varies_by_kernel),
        TREE_TEST(trap_descriptor_closed_or_used_again),
    };
    return cmocka_run_group_tests_name("tcp", tests, NULL, NULL);
}

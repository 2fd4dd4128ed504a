// What netprof-web makes of a journal, and what holds its clients within bounds. The server itself: tests/live/web_check.
#define _GNU_SOURCE
#include "live/journal/journal.h"
#include "live/journal/journal_tail.h"
#include "live/web/growth.h"
#include "live/web/http/http_bounds.h"
#include "live/web/nodes.h"
#include "live/web/racks.h"
#include "live/web/run_program.h"
#include "live/web/tokens.h"
#include "netprof.h"
#include "support.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <math.h>
#include <sys/socket.h>

static char *top;
static const int64_t second = 1000000000, start = 1800000000 * INT64_C(1000000000);

static int set_up(void **state)
{
    (void)state;
    top = tree_make();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    tree_remove(top);
    return 0;
}

// ---- an agent's ticks ----

// As the agent makes them: the chunks of a file, its facts and schema apart from its readings.
typedef struct made {
    netprof_writer *writer;
    const netprof_schema *schema;
    unsigned char *preamble, *step; // stb_ds
    uint64_t next;
    char stream;
} made;

static int made_collect(void *user, const void *data, size_t size)
{
    made *m = user;
    bool step = size >= 4 && memcmp(data, "STEP", 4) == 0,
         preamble = size >= 4 && (memcmp(data, "SCHM", 4) == 0 || memcmp(data, "FACT", 4) == 0);
    if (step) memcpy(arraddnptr(m->step, size), data, size);
    if (preamble) memcpy(arraddnptr(m->preamble, size), data, size);
    return 0;
}

static void made_begin_as(made *m, char letter, const char *host, const char *model)
{
    netprof_list *list = netprof_build_begin(NULL);
    netprof_counter c = {.unit = "bytes", .kind = NETPROF_KIND_COUNTER, .width = 64};
    *m = (made){.next = 1, .stream = letter};
    netprof_build_fact(list, "host", host);
    netprof_build_source(list, "netdev");
    netprof_list_device(list, "eth0", 0, NETPROF_DEVICE_PHYSICAL);
    c.name = "tx_bytes";
    netprof_list_counter(list, &c);
    c.name = "rx_bytes";
    netprof_list_counter(list, &c);
    netprof_build_source(list, "gpu");
    netprof_list_device(list, "gpu0", 0, 0);
    netprof_list_fact(list, "model", model);
    netprof_list_fact(list, "uuid", host);
    netprof_list_counter(list, &(netprof_counter){.name = "busy", .unit = "%", .kind = NETPROF_KIND_GAUGE});
    assert_int_equal(netprof_build_end(list, &m->schema, NULL), NETPROF_OK);
    assert_int_equal(netprof_writer_open_fn(&m->writer, made_collect, m, NULL), NETPROF_OK);
}

static void made_begin(made *m, char letter)
{
    made_begin_as(m, letter, "h", "A");
}

static void made_end(made *m)
{
    netprof_writer_close(m->writer, 0, NULL);
    netprof_schema_release(m->schema);
    arrfree(m->preamble);
    arrfree(m->step);
}

// So many seconds after the start: 1 MB sent and 3 MB received each second, a GPU that is busy 40 %.
static void made_tick(made *m, int64_t at_s)
{
    netprof_snapshot s = NETPROF_ZERO;
    const uint64_t values[3] = {1000000 * (uint64_t)at_s, 3000000 * (uint64_t)at_s, 40};
    assert_int_equal(netprof_snapshot_make(&s, m->schema, NULL), NETPROF_OK);
    for (size_t i = 0; i < 3; i++) {
        s.values[i] = values[i];
        s.status[i] = NETPROF_STATUS_OK;
    }
    s.wall_ns = start + at_s * second;
    s.begin_ns = s.end_ns = at_s * second + 1;
    for (size_t i = 0; i < m->schema->device_count; i++)
        s.device_begin_ns[i] = s.device_end_ns[i] = s.begin_ns;
    if (m->step) arrsetlen(m->step, 0);
    assert_int_equal(netprof_write_snapshot(m->writer, &s, NULL), NETPROF_OK);
    netprof_snapshot_free(&s);
}

static bool made_is_key(const made *m)
{
    size_t at = 12;
    while (m->step[at] & 0x80)
        at++;
    return m->step[at + 5] == 0;
}

// A frame of the ticks from..to, with its preamble or without.
static void made_frame(made *m, frame_buffer *b, int64_t from_s, int64_t to_s, bool preamble)
{
    frame f = {.first = m->next, .count = (uint32_t)(to_s - from_s + 1), .high = 1000};
    bool begun = false;
    f.first_ns = start + from_s * second;
    f.last_ns = start + to_s * second;
    memset(f.stream, m->stream, sizeof f.stream);
    for (int64_t at = from_s; at <= to_s; at++) {
        made_tick(m, at);
        if (!begun) {
            sha256(f.hash, m->preamble, arrlenu(m->preamble));
            f.preamble = preamble ? m->preamble : NULL;
            f.preamble_size = preamble ? (uint32_t)arrlenu(m->preamble) : 0;
            frame_begin(b, &f);
            begun = true;
        }
        frame_add(b, &(spool_tick){.is_key = made_is_key(m),
                                   .wall_ns = start + at * second,
                                   .data = m->step,
                                   .size = arrlenu(m->step)});
    }
    frame_end(b, &f);
    m->next += f.count;
}

static void made_take(journal *j, const char *name, const frame_buffer *b)
{
    frame f;
    receiver_verdict v;
    assert_true(frame_parse(&f, b->data, b->size));
    assert_true(journal_take(j, name, &f, start, &v));
    assert_int_equal(v, RECEIVER_STORE);
}

static void tell(void *user, const char *name, const watermark *w)
{
    (void)user, (void)name, (void)w;
}

static void commit(journal *j)
{
    assert_true(journal_begin_commit(j));
    assert_int_equal(journal_write(j), 0);
    journal_end_commit(j, tell, NULL);
}

static journal *open_journal(const char *directory)
{
    char *why = NULL;
    const journal_options o = {
        .directory = directory, .segment_bytes = 1500, .waiting_bytes = 1 << 20, .credit = 4, .wall_ns = start};
    journal *j = journal_open(&o, &why);
    if (!j) fail_msg("%s", why);
    return j;
}

// What the head writes is seen as it comes, over segments and without the preamble in each frame; rates are those of the
// counters, and where readings are missing there is nothing in their place.
static void test_follows(void **state)
{
    const char *directory = tree_path(top, "head");
    int64_t column = start / nodes_column_ns;
    made m;
    (void)state;
    journal *j = open_journal(directory);
    nodes *n = nodes_open();
    journal_tail *t = journal_tail_open(directory, start);
    assert_int_equal(journal_tail_look(t, 100, nodes_take, n), 0);
    made_begin(&m, 'a');
    for (int64_t at = 0; at < 60; at += 3) {
        if (at >= 30 && at < 45) { // numbers that come never
            for (int64_t i = at; i < at + 3; i++)
                made_tick(&m, i);
            continue;
        }
        frame_buffer b = {0};
        if (at == 45) { // a new chain, as after a gap
            m.next += 15;
            uint64_t next = m.next;
            frame gap = {.first = next - 15, .count = 15, .high = 1000, .is_gap = true, .reason = SPOOL_OVERWRITTEN};
            gap.first_ns = gap.last_ns = start + 45 * second;
            memset(gap.stream, 'a', sizeof gap.stream);
            frame_begin(&b, &gap);
            frame_end(&b, &gap);
            made_take(j, "n10", &b);
            frame_buffer_free(&b);
            b = (frame_buffer){0};
            made_end(&m);
            made_begin(&m, 'a');
            m.next = next;
        }
        made_frame(&m, &b, at, at + 2, at == 0);
        made_take(j, "n10", &b);
        commit(j);
        frame_buffer_free(&b);
        while (journal_tail_look(t, 1, nodes_take, n)) // as a reader that is slow
            continue;
        nodes_lock(n);
        const node *x = nodes_find(n, "n10");
        assert_non_null(x);
        assert_int_equal(x->tick_ns, start + (at + 2) * second);
        nodes_unlock(n);
    }
    const node *x = nodes_find(n, "n10");
    for (int64_t c = 0; c < 11; c++) {
        bool measured = c < 5 || c >= 9; // 30 to 44 are not there: the sixth column is not whole, either
        float sent = node_value(x, METER_SENT, column + c);
        if (!measured) {
            assert_true(isnan(sent));
            continue;
        }
        assert_true(fabs((double)sent - 1e6) < 1);
        assert_true(fabs((double)node_value(x, METER_RECEIVED, column + c) - 3e6) < 1);
        assert_true(fabs((double)node_value(x, METER_GPU, column + c) - .4) < 1e-6);
        assert_true(isnan(node_value(x, METER_PAUSED, column + c))); // nobody measured it: not 0
    }
    assert_int_equal(arrlenu(x->gaps), 1);
    assert_int_equal(x->gaps[0].ticks, 15);
    assert_int_equal(x->gaps[0].from_ns, start + 29 * second);
    assert_int_equal(x->interval_ns, second);
    made_end(&m);
    journal_tail_close(t);
    nodes_close(n);
    journal_close(j);
}

// ---- where following begins ----

static void count_frame(void *user, const char *name, int64_t came_ns, const frame *f, const unsigned char *preamble,
                        size_t size)
{
    (void)name, (void)came_ns, (void)f, (void)preamble, (void)size;
    ++*(size_t *)user;
}

static size_t count_from(const char *directory, int64_t from_ns)
{
    size_t count = 0;
    journal_tail *t = journal_tail_open(directory, from_ns);
    journal_tail_look(t, SIZE_MAX, count_frame, &count);
    journal_tail_close(t);
    return count;
}

static void take_frames(journal *j, made *m, int64_t from_s, int64_t to_s)
{
    for (int64_t at = from_s; at < to_s; at++) {
        frame_buffer b = {0};
        made_frame(m, &b, at, at, at == 0);
        made_take(j, "n1", &b);
        commit(j);
        frame_buffer_free(&b);
    }
}

// All segments that were written to since then are read, not the last alone; a segment that the head is just beginning is read
// as soon as there is something in it.
static void test_begins(void **state)
{
    const char *directory = tree_path(top, "head");
    const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    journal_segment *all = NULL;
    size_t followed = 0;
    made m;
    (void)state;
    journal *j = open_journal(directory);
    made_begin(&m, 'a');
    take_frames(j, &m, 0, 20);
    assert_int_equal(journal_segments_list(directory, &all), 0);
    assert_true(arrlenu(all) >= 3);
    assert_int_equal(count_from(directory, 2000 * second), 20);
    char *path = journal_segment_path(directory, all[0].number);
    assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
    free(path);
    size_t later = count_from(directory, 2000 * second);
    assert_true(later > 0 && later < 20);
    assert_int_equal(count_from(directory, 500 * second), 20);

    journal_tail *t = journal_tail_open(directory, 500 * second);
    path = journal_segment_path(directory, arrlast(all).number + 1);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600); // its header is to come
    assert_true(fd >= 0);
    close(fd);
    journal_tail_look(t, SIZE_MAX, count_frame, &followed);
    assert_int_equal(followed, 20);
    assert_int_equal(unlink(path), 0);
    take_frames(j, &m, 20, 40);
    journal_tail_look(t, SIZE_MAX, count_frame, &followed);
    assert_int_equal(followed, 40);
    journal_tail_close(t);
    free(path);
    arrfree(all);
    made_end(&m);
    journal_close(j);
}

// A node of so many that only readings are taken which need none before them.
static void test_keys_alone(void **state)
{
    made m;
    frame_buffer b = {0};
    (void)state;
    nodes *n = nodes_open();
    char name[32];
    for (int i = 0; i < NODES_FULL; i++) {
        snprintf(name, sizeof name, "n%d", NODES_FULL - i);
        nodes_make(n, name);
    }
    assert_string_equal(nodes_at(n, 8)->name, "n9"); // in the order of their numbers
    assert_string_equal(nodes_at(n, 9)->name, "n10");
    made_begin(&m, 'b');
    made_frame(&m, &b, 0, 149, true);
    frame f;
    assert_true(frame_parse(&f, b.data, b.size));
    nodes_take(n, "z", start, &f, f.preamble, f.preamble_size);
    const node *x = nodes_find(n, "z");
    assert_true(x->last.schema && x->tick_ns >= start + 64 * second);
    assert_true(x->tick_ns < start + 149 * second);
    assert_true(fabs(x->now.values[METER_SENT] - 1e6) < 1);
    frame_buffer_free(&b);
    made_end(&m);
    nodes_close(n);
}

// A node that was read tick by tick while there were few, goes on being measured when there are many; and one that is looked at is
// read tick by tick again.
static void test_few_then_many(void **state)
{
    made m;
    frame_buffer b = {0};
    frame f;
    char name[32];
    (void)state;
    nodes *n = nodes_open();
    made_begin(&m, 'd');
    made_frame(&m, &b, 0, 9, true);
    assert_true(frame_parse(&f, b.data, b.size));
    nodes_take(n, "z", start, &f, f.preamble, f.preamble_size);
    node *x = nodes_find(n, "z");
    assert_int_equal(x->tick_ns, start + 9 * second);
    for (int i = 0; i < NODES_FULL; i++) {
        snprintf(name, sizeof name, "n%d", i);
        nodes_make(n, name);
    }
    frame_buffer_free(&b);
    b = (frame_buffer){0};
    made_frame(&m, &b, 10, 199, true);
    assert_true(frame_parse(&f, b.data, b.size));
    nodes_take(n, "z", start, &f, f.preamble, f.preamble_size);
    assert_true(x->tick_ns > start + 64 * second &&
                x->tick_ns < start + 199 * second); // the last that needs none before it
    assert_int_equal(x->interval_ns, second);
    for (int64_t c = 0; c < 24;
         c++) // up to 120 s without a hole: means over longer than a column, where that is all there is
        assert_true(fabs((double)node_value(x, METER_SENT, start / nodes_column_ns + c) - 1e6) < 1);
    node_watch(x);
    frame_buffer_free(&b);
    b = (frame_buffer){0};
    made_frame(&m, &b, 200, 399, true);
    assert_true(frame_parse(&f, b.data, b.size));
    nodes_take(n, "z", start, &f, f.preamble, f.preamble_size);
    assert_int_equal(x->tick_ns, start + 399 * second);
    frame_buffer_free(&b);
    made_end(&m);
    nodes_close(n);
}

static void take_seconds(nodes *n, const char *name, made *m, int64_t from_s, int64_t to_s, bool whole)
{
    frame_buffer b = {0};
    frame f;
    made_frame(m, &b, from_s, to_s, whole);
    assert_true(frame_parse(&f, b.data, b.size));
    nodes_take(n, name, start, &f, m->preamble, arrlenu(m->preamble));
    frame_buffer_free(&b);
}

// A node of some hundred: each column is measured, over ticks that need none before them and over frames of one tick.
static void test_by_column(void **state)
{
    made m;
    char name[32];
    (void)state;
    nodes *n = nodes_open();
    for (int i = 0; i < NODES_AT_ONCE; i++) {
        snprintf(name, sizeof name, "n%d", i);
        nodes_make(n, name);
    }
    made_begin(&m, 'e');
    take_seconds(n, "z", &m, 0, 3, true);
    const node *x = nodes_find(n, "z");
    assert_int_equal(x->tick_ns, start + 3 * second);
    for (int64_t at = 4; at < 152; at++)
        take_seconds(n, "z", &m, at, at, false);
    take_seconds(n, "z", &m, 152, 201, false);
    assert_int_equal(x->tick_ns, start + 201 * second);
    for (int64_t c = 0; c < 40; c++)
        assert_true(fabs((double)node_value(x, METER_SENT, start / nodes_column_ns + c) - 1e6) < 1);
    take_seconds(n, "z", &m, 202, 203, false); // the rest of a column waits for its end
    assert_int_equal(x->tick_ns, start + 201 * second);
    take_seconds(n, "z", &m, 204, 205, false);
    assert_int_equal(x->tick_ns, start + 205 * second);
    made_end(&m);
    nodes_close(n);
}

// A clock that goes back by a little writes over what was there; by hours, nothing of before is taken for the present.
static void test_clock_back(void **state)
{
    made m;
    (void)state;
    nodes *n = nodes_open();
    made_begin(&m, 'f');
    take_seconds(n, "z", &m, 7200, 7300, true);
    const node *x = nodes_find(n, "z");
    int64_t column = start / nodes_column_ns;
    assert_true(fabs((double)node_value(x, METER_SENT, column + 1450) - 1e6) < 1);
    assert_true(isnan(node_value(x, METER_SENT, column + 1460)));
    take_seconds(n, "z", &m, 0, 20, false);
    assert_true(isnan(node_value(x, METER_SENT, column + 1450)));
    for (int64_t c = -NODES_COLUMNS; c < NODES_COLUMNS; c++)
        assert_true(isnan(node_value(x, METER_SENT, column + c)) == (c < 0 || c > 3));
    made_end(&m);
    nodes_close(n);
}

static void take_at(nodes *n, made *m, int64_t at_s, int64_t came_ns)
{
    frame_buffer b = {0};
    frame f;
    made_frame(m, &b, at_s, at_s, true);
    assert_true(frame_parse(&f, b.data, b.size));
    nodes_take(n, "z", came_ns, &f, f.preamble, f.preamble_size);
    frame_buffer_free(&b);
}

// What the agent says of itself, whatever is read of its ticks; and what is certain of the node's clock: nothing comes before it
// was read.
static void test_agent(void **state)
{
    (void)state;
    for (size_t others = 0; others <= NODES_FULL; others += others ? NODES_FULL - NODES_AT_ONCE : NODES_AT_ONCE) {
        made m;
        char name[32];
        nodes *n = nodes_open();
        for (size_t i = 0; i < others; i++) {
            snprintf(name, sizeof name, "n%zu", i);
            nodes_make(n, name);
        }
        made_begin(&m, 'g');
        assert_int_equal(netprof_write_fact(m.writer, "agent_version", "12.34.56-a-long-name-of-a-build", NULL),
                         NETPROF_OK);
        assert_int_equal(netprof_write_fact(m.writer, "clock_synchronised", "no", NULL), NETPROF_OK);
        int64_t minute = (start / (60 * second) + 1) * 60; // the first that is whole, in seconds
        int64_t base = minute - start / second, at_ns = start + base * second;
        take_at(n, &m, base, at_ns + 2 * second);
        const node *x = nodes_find(n, "z");
        assert_int_equal(node_least_delay(x, at_ns + 3 * second), 2 * second);
        take_at(n, &m, base + 6, at_ns + 13 * second);
        assert_int_equal(node_least_delay(x, at_ns + 3 * second), 2 * second);
        take_at(n, &m, base + 64, at_ns + 61 * second); // the next minute
        assert_string_equal(x->version, "12.34.56-a-long-name-of");
        assert_int_equal(x->clock, 'n');
        assert_int_equal(node_least_delay(x, at_ns + 62 * second), -3 * second);
        take_at(n, &m, base + 110, at_ns + 115 * second);
        assert_int_equal(node_least_delay(x, at_ns + 116 * second), -3 * second);
        take_at(n, &m, base + 120, at_ns + 121 * second);
        assert_int_equal(node_least_delay(x, at_ns + 122 * second), -3 * second);
        take_at(n, &m, base + 180, at_ns + 181 * second);
        assert_int_equal(node_least_delay(x, at_ns + 182 * second), second);
        assert_int_equal(node_least_delay(x, at_ns + 400 * second), INT64_MAX);
        made_end(&m);
        nodes_close(n);
    }
}

static void take_from(nodes *n, const char *name, const char *model)
{
    made m;
    frame_buffer b = {0};
    frame f;
    made_begin_as(&m, name[1], name, model);
    made_frame(&m, &b, 0, 12, true);
    assert_true(frame_parse(&f, b.data, b.size));
    nodes_take(n, name, start, &f, f.preamble, f.preamble_size);
    frame_buffer_free(&b);
    made_end(&m);
}

// Nodes that are built alike share the names of their counters, however their hosts and serial numbers are called; a GPU's model is
// kept, and a schema goes with its last reading.
static void test_nodes_alike(void **state)
{
    netprof_snapshot whole = NETPROF_ZERO;
    (void)state;
    nodes *n = nodes_open();
    take_from(n, "n1", "A");
    take_from(n, "n2", "A");
    assert_int_equal(nodes_schemas(n), 1);
    take_from(n, "n3", "B");
    assert_int_equal(nodes_schemas(n), 2);
    const node *one = nodes_find(n, "n1"), *other = nodes_find(n, "n3");
    assert_ptr_equal(one->last.schema, nodes_find(n, "n2")->last.schema);
    const netprof_device *gpu = &other->last.schema->devices[1];
    assert_string_equal(gpu->name, "gpu0");
    assert_string_equal(netprof_fact_of(gpu->facts, gpu->fact_count, "model"), "B");
    kept_give(&one->last, one->last.schema, &whole);
    assert_int_equal(whole.wall_ns, start + 12 * second);
    assert_int_equal(whole.values[netprof_find(whole.schema, "netdev", "eth0", "tx_bytes")], 12000000);
    assert_int_equal(whole.values[netprof_find(whole.schema, "gpu", "gpu0", "busy")], 40);
    assert_int_equal(whole.not_ok, 0);
    netprof_snapshot_free(&whole);
    assert_true(fabs(one->now.values[METER_SENT] - 1e6) < 1);
    take_from(n, "n3", "A"); // it has another GPU now
    take_from(n, "n3", "A");
    assert_int_equal(nodes_schemas(n), 1);
    nodes_close(n);
}

static char *racks_text(const racks *r, nodes *n, size_t groups_expected)
{
    size_t groups;
    racked *all = racks_order(r, n, &groups);
    char *text = memory_strdup("");
    assert_int_equal(groups, groups_expected);
    for (size_t i = 0; i < arrlenu(all); i++) {
        char *more = memory_format("%s%s%s%s%s", text,
                                   !i                                 ? ""
                                   : all[i].group != all[i - 1].group ? " | "
                                                                      : " ",
                                   all[i].rack ? all[i].rack : "", all[i].rack ? ":" : "", all[i].node->name);
        free(text);
        text = more;
    }
    arrfree(all);
    return text;
}

static void expect_racks(const racks *r, nodes *n, size_t groups, const char *expected)
{
    char *text = racks_text(r, n, groups);
    assert_string_equal(text, expected);
    free(text);
}

// By the file, in its order; without one by what names begin with, where that makes groups.
static void test_racks(void **state)
{
    static const char *const names[] = {"r2n10", "r2n2", "r1n1", "r1n2"};
    racks r = {.rows = NULL};
    (void)state;
    nodes *n = nodes_open();
    expect_racks(&r, n, 0, "");
    for (size_t i = 0; i < 4; i++)
        nodes_make(n, names[i]);
    expect_racks(&r, n, 2, "r1n1 r1n2 | r2n2 r2n10");
    nodes_make(n, "login");
    nodes_make(n, "x1000c0s0b0n0");
    nodes_make(n, "x1000c7s1b0n1");
    expect_racks(&r, n, 1, "login r1n1 r1n2 r2n2 r2n10 x1000c0s0b0n0 x1000c7s1b0n1");
    nodes_make(n, "x1001c0s0b0n0");
    nodes_make(n, "x1001c0s0b0n1");
    nodes_make(n, "x1001c0s0b1n0");
    expect_racks(&r, n, 5,
                 "login | r1n1 r1n2 | r2n2 r2n10 | x1000c0s0b0n0 x1000c7s1b0n1 | x1001c0s0b0n0 x1001c0s0b0n1 "
                 "x1001c0s0b1n0");
    tree_write(top, "racks", "# racks\n\nupper r2n*,login\nlower x*\nnonsense\n");
    racks_look(&r, n, top);
    expect_racks(&r, n, 3,
                 "upper:login upper:r2n2 upper:r2n10 | lower:x1000c0s0b0n0 lower:x1000c7s1b0n1 "
                 "lower:x1001c0s0b0n0 lower:x1001c0s0b0n1 lower:x1001c0s0b1n0 | r1n1 r1n2");
    tree_write(top, "racks", "one *\n# it is another file\n");
    racks_look(&r, n, top);
    expect_racks(&r, n, 1,
                 "one:login one:r1n1 one:r1n2 one:r2n2 one:r2n10 one:x1000c0s0b0n0 one:x1000c7s1b0n1 "
                 "one:x1001c0s0b0n0 one:x1001c0s0b0n1 one:x1001c0s0b1n0");
    nodes_make(n, "z"); // it is looked at in the next turn
    expect_racks(&r, n, 2,
                 "one:login one:r1n1 one:r1n2 one:r2n2 one:r2n10 one:x1000c0s0b0n0 one:x1000c7s1b0n1 "
                 "one:x1001c0s0b0n0 one:x1001c0s0b0n1 one:x1001c0s0b1n0 | z");
    racks_look(&r, n, top);
    expect_racks(&r, n, 1,
                 "one:login one:r1n1 one:r1n2 one:r2n2 one:r2n10 one:x1000c0s0b0n0 one:x1000c7s1b0n1 "
                 "one:x1001c0s0b0n0 one:x1001c0s0b0n1 one:x1001c0s0b1n0 one:z");
    racks_free(&r);
    nodes_close(n);
}

// More racks than can be told apart: the rest is none.
static void test_many_racks(void **state)
{
    racks r = {.rows = NULL};
    size_t groups;
    char *text = memory_strdup("");
    (void)state;
    nodes *n = nodes_open();
    for (int i = 1; i <= 250; i++) {
        char name[16], *more = memory_format("%srack%d m%d\n", text, i, i);
        free(text);
        text = more;
        snprintf(name, sizeof name, "m%d", i);
        nodes_make(n, name);
    }
    tree_write(top, "racks", "%s", text);
    free(text);
    racks_look(&r, n, top);
    racked *all = racks_order(&r, n, &groups);
    assert_int_equal(groups, 241);
    assert_int_equal(arrlenu(all), 250);
    assert_string_equal(all[239].rack, "rack240");
    for (size_t i = 240; i < 250; i++) {
        assert_null(all[i].rack);
        assert_int_equal(all[i].group, all[240].group);
    }
    arrfree(all);
    racks_free(&r);
    nodes_close(n);
}

// A node whose clock is before 1970 has no columns, and breaks nothing.
static void test_before_1970(void **state)
{
    const int64_t epoch_s = -start / second;
    made m;
    frame_buffer b = {0};
    frame f;
    (void)state;
    nodes *n = nodes_open();
    made_begin(&m, 'c');
    made_frame(&m, &b, epoch_s - 40, epoch_s - 10, true);
    assert_true(frame_parse(&f, b.data, b.size));
    nodes_take(n, "early", start, &f, f.preamble, f.preamble_size);
    node *x = nodes_find(n, "early");
    assert_string_equal(x->name, "early");
    assert_int_equal(x->last.wall_ns, -10 * second);
    assert_int_equal(x->newest, 0);
    for (int k = 0; k < METERS; k++)
        assert_null(x->values[k]);
    frame_buffer_free(&b);
    made_end(&m);
    nodes_close(n);
}

// ---- bounds ----

static bool is_shut(int fd)
{
    char byte;
    return recv(fd, &byte, 1, MSG_DONTWAIT) == 0;
}

// Connections beyond the bound cost the oldest ones that have asked nothing, and those that take too long go.
static void test_bounds(void **state)
{
    enum { ALL = 12, MOST = 8 };
    int ends[ALL][2];
    void *connections[ALL];
    uint64_t open, dropped;
    (void)state;
    http_bounds *b = http_bounds_open(MOST);
    for (int i = 0; i < ALL; i++) {
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends[i]), 0);
        connections[i] = http_bounds_begin(b, ends[i][0], i);
        if (i == 0) http_bounds_busy(b, connections[i], true, i);
    }
    http_bounds_count(b, &open, &dropped);
    assert_int_equal(open, MOST);
    assert_int_equal(dropped, ALL - MOST);
    for (int i = 0; i < ALL; i++)
        assert_int_equal(is_shut(ends[i][1]), i >= 1 && i <= ALL - MOST); // 0 has asked, and is answered
    http_bounds_look(b, (HTTP_SLOW_S + 1) * second);
    for (int i = 0; i < ALL; i++)
        assert_int_equal(is_shut(ends[i][1]), i != 0);
    for (int i = 0; i < ALL; i++) {
        http_bounds_end(b, connections[i]);
        close(ends[i][0]);
        close(ends[i][1]);
    }
    http_bounds_count(b, &open, &dropped);
    assert_int_equal(open, 0);
    http_bounds_close(b);
}

static void test_rates(void **state)
{
    const struct sockaddr_in one = {.sin_family = AF_INET, .sin_addr.s_addr = 0x0100007f},
                             other = {.sin_family = AF_INET, .sin_addr.s_addr = 0x0200007f};
    unsigned may = 0;
    (void)state;
    http_bounds *b = http_bounds_open(8);
    for (int i = 0; i < 2 * HTTP_BURST; i++)
        may += http_bounds_may(b, (const struct sockaddr *)(const void *)&one, 1, second);
    assert_int_equal(may, HTTP_BURST);
    assert_true(http_bounds_may(b, (const struct sockaddr *)(const void *)&other, 1, second));
    assert_false(http_bounds_may(b, (const struct sockaddr *)(const void *)&one, 1, second + second / 100));
    assert_true(http_bounds_may(b, (const struct sockaddr *)(const void *)&one, 1, 10 * second));
    http_bounds_close(b);
}

// ---- tokens ----

static void test_tokens(void **state)
{
    char token[HTTP_TOKEN + 1], again[HTTP_TOKEN + 1];
    struct stat st;
    (void)state;
    const char *path = tree_path(top, "t");
    assert_int_equal(tokens_find(top, "t", token), 0);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(strlen(token), HTTP_TOKEN);
    assert_int_equal(tokens_find(top, "t", again), 0);
    assert_string_equal(again, token);
    assert_int_equal(tokens_find(top, "u", again), 0);
    assert_string_not_equal(again, token);
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(tokens_find(top, "t", again), EPERM);
    assert_int_equal(chmod(path, 0600), 0);
    assert_int_equal(truncate(path, 5), 0);
    assert_int_equal(tokens_find(top, "t", again), EILSEQ);
    assert_true(http_is_token(token, token));
    assert_false(http_is_token("", token));
    assert_false(http_is_token("", ""));
    assert_false(http_is_token(again, ""));
    token[31] ^= 1;
    tokens_find(top, "u", again);
    assert_false(http_is_token(token, again));
    again[31] = 0;
    char *longer = strdup("x");
    assert_false(http_is_token(longer, token));
    free(longer);
}

// ---- programs beside it ----

// A report may take minutes; the end of the server waits for none.
static void expect_growth(const growth *g, uint64_t limit, double free_bytes, const char *wanted)
{
    char *text = growth_words(g, limit, free_bytes);
    assert_string_equal(text ? text : "", wanted);
    free(text);
}

// 1 MB a second is 86.4 GB a day.
static void test_growth(void **state)
{
    growth g = {.since_ns = 0};
    (void)state;
    growth_note(&g, 100 * second, 5000000);
    growth_note(&g, 159 * second, 64000000);
    assert_true(isnan(growth_rate(&g))); // of less than a minute nothing is said
    expect_growth(&g, 0, 1e12, "");
    growth_note(&g, 160 * second, 65000000);
    assert_true(growth_rate(&g) == 1e6);
    expect_growth(&g, 0, 864e9, "86.4 GB a day: full in 10 days");
    expect_growth(&g, 0, 864e12, "86.4 GB a day: full in more than 10 years");
    expect_growth(&g, 0, 7.2e9, "86.4 GB a day: full in 2 h 00 min");
    expect_growth(
        &g, 65000000 + UINT64_C(259200000000), 864e9,
        "86.4 GB a day: at its limit of 259 GB in 3 days; then the oldest data that no session needs are dropped");
    expect_growth(&g, 64000000, 864e9, "86.4 GB a day: full in 10 days"); // above its limit: sessions hold it
    // Two hours of nothing: what was before says nothing any more.
    growth_note(&g, 3700 * second, 65000000);
    growth_note(&g, 7300 * second, 65000000);
    assert_true(growth_rate(&g) == 0);
    expect_growth(&g, 0, 1e9, "");
    // The oldest went: it is measured anew.
    growth_note(&g, 7301 * second, 1000000);
    assert_true(isnan(growth_rate(&g)));
}

static void test_end(void **state)
{
    static const char *const words[] = {"sleep", "3600", NULL};
    char *said = NULL;
    (void)state;
    run_end();
    assert_int_equal(run_program(words, -1, -1, 3600, &said), -1);
    assert_non_null(said);
    free(said);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_follows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_begins, set_up, tear_down),
        cmocka_unit_test(test_keys_alone),
        cmocka_unit_test(test_few_then_many),
        cmocka_unit_test(test_by_column),
        cmocka_unit_test(test_clock_back),
        cmocka_unit_test(test_agent),
        cmocka_unit_test(test_nodes_alike),
        cmocka_unit_test_setup_teardown(test_racks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_many_racks, set_up, tear_down),
        cmocka_unit_test(test_before_1970),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_rates),
        cmocka_unit_test(test_growth),
        cmocka_unit_test_setup_teardown(test_tokens, set_up, tear_down),
        cmocka_unit_test(test_end), // the last: what runs is ended for good
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

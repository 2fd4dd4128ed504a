// What netprof-watch is made of: following a file that grows piece by piece, the window of readings, lines of text.
#define _GNU_SOURCE
#include "watch/follow.h"
#include "watch/history.h"
#include "watch/lines.h"
#include "cli/output.h"
#include "watch/view.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h> // behind common.h: both know a fail()

#include "situation.h"

#include <locale.h>
#include <math.h>
#include <unistd.h>

// ---- following ----

static char path[] = "/tmp/netprof-watch-XXXXXX";

typedef struct bytes {
    unsigned char *data;
    size_t size;
} bytes;

static int keep_bytes(void *user, const void *data, size_t size)
{
    bytes *b = user;
    b->data = realloc(b->data, b->size + size);
    assert_non_null(b->data);
    memcpy(b->data + b->size, data, size);
    b->size += size;
    return 0;
}

static const netprof_schema *schema_of(const char *device, size_t counters)
{
    netprof_list *list = netprof_build_begin(NULL);
    const netprof_schema *schema;
    char name[24];
    netprof_build_source(list, "netdev");
    netprof_list_device(list, device, 0, NETPROF_DEVICE_PHYSICAL);
    for (size_t i = 0; i < counters; i++) {
        netprof_counter c = {.name = name, .unit = "bytes", .width = 64};
        snprintf(name, sizeof name, "c%zu", i);
        netprof_list_counter(list, &c);
    }
    assert_int_equal(netprof_build_end(list, &schema, NULL), NETPROF_OK);
    return schema;
}

static void write_one(netprof_writer *w, const netprof_schema *schema, uint64_t number)
{
    netprof_snapshot s = NETPROF_ZERO;
    assert_int_equal(netprof_snapshot_make(&s, schema, NULL), NETPROF_OK);
    s.begin_ns = s.end_ns = (int64_t)(number + 1) * 1000000;
    s.wall_ns = INT64_C(1700000000000000000) + s.begin_ns;
    for (size_t i = 0; i < schema->counter_count; i++) {
        s.values[i] = number * 1000 + i;
        s.status[i] = NETPROF_STATUS_OK;
    }
    assert_int_equal(netprof_write_snapshot(w, &s, NULL), NETPROF_OK);
    netprof_snapshot_free(&s);
}

// A fast device at every number, a slow one at each 50th, so that both are thinned out at different places.
static bytes make_file(uint64_t count, bool closed)
{
    bytes b = {0};
    netprof_writer *w;
    const netprof_schema *fast = schema_of("fast0", 3), *slow = schema_of("slow0", 40);
    assert_int_equal(netprof_writer_open_fn(&w, keep_bytes, &b, NULL), NETPROF_OK);
    netprof_write_fact(w, "command", "test", NULL);
    for (uint64_t i = 0; i < count; i++) {
        write_one(w, fast, i);
        if (i % 50 == 0) write_one(w, slow, i);
    }
    size_t open_size = b.size;
    netprof_writer_close(w, 1, NULL);
    if (!closed) b.size = open_size;
    netprof_schema_release(fast);
    netprof_schema_release(slow);
    return b;
}

typedef struct seen {
    uint64_t fast, slow; // how many; the next number is this, or 50 times this
} seen;

static void take(void *user, const netprof_snapshot *s)
{
    seen *x = user;
    bool fast = strcmp(s->schema->devices[0].name, "fast0") == 0;
    uint64_t number = fast ? x->fast : 50 * x->slow;
    for (size_t i = 0; i < s->schema->counter_count; i++)
        assert_int_equal(s->values[i], number * 1000 + i);
    if (fast)
        x->fast++;
    else
        x->slow++;
}

static void append(const bytes *b, size_t from, size_t to)
{
    FILE *f = fopen(path, from ? "ab" : "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(b->data + from, 1, to - from, f), to - from);
    assert_int_equal(fclose(f), 0);
}

static void each_snapshot_comes_once_whatever_the_pieces(void **state)
{
    (void)state;
    enum { COUNT = 2000 };
    bytes b = make_file(COUNT, true);
    netprof_error error;
    seen x = {0};
    follow *f = follow_open(path);
    append(&b, 0, 7); // not even a header
    assert_int_equal(follow_look(f, take, &x, &error), NETPROF_OK);
    size_t at = 7;
    for (uint64_t random = 1; at < b.size;) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        size_t piece = 1 + (random >> 33) % 3000;
        if (piece > b.size - at) piece = b.size - at;
        append(&b, at, at + piece);
        at += piece;
        assert_false(follow_ended(f));
        assert_int_equal(follow_look(f, take, &x, &error), NETPROF_OK);
        assert_int_equal(follow_look(f, take, &x, &error), NETPROF_OK); // nothing new, nothing twice
    }
    assert_int_equal(x.fast, COUNT);
    assert_int_equal(x.slow, COUNT / 50);
    assert_true(follow_ended(f));
    follow_close(f);
    free(b.data);
}

static void a_replaced_file_begins_anew(void **state)
{
    (void)state;
    bytes b = make_file(100, false);
    netprof_error error;
    seen x = {0};
    follow *f = follow_open(path);
    append(&b, 0, b.size);
    assert_int_equal(follow_look(f, take, &x, &error), NETPROF_OK);
    assert_int_equal(x.fast, 100);
    assert_false(follow_ended(f));
    x = (seen){0};
    assert_int_equal(unlink(path), 0);
    append(&b, 0, b.size / 2);
    assert_int_equal(follow_look(f, take, &x, &error), NETPROF_OK);
    uint64_t half = x.fast;
    assert_true(half > 20 && half < 80);
    x = (seen){0};
    append(&b, 0, 40); // cut in place: shorter than what was read
    assert_int_equal(follow_look(f, take, &x, &error), NETPROF_OK);
    append(&b, 40, b.size);
    assert_int_equal(follow_look(f, take, &x, &error), NETPROF_OK);
    assert_int_equal(x.fast, 100);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(follow_look(f, take, &x, &error), NETPROF_OK); // removed under it: what it had stays
    assert_int_equal(x.fast, 100);
    follow_close(f);
    free(b.data);
}

static void damage_costs_what_it_hits(void **state)
{
    (void)state;
    bytes b = make_file(100, true);
    netprof_error error;
    seen x = {0};
    b.data[b.size - 60] ^= 0x55; // within one of the last chunks
    append(&b, 0, b.size - 40);
    follow *f = follow_open(path);
    assert_int_equal(follow_look(f, take, &x, &error), NETPROF_OK);
    assert_true(x.fast >= 95 && x.fast < 100);
    follow_close(f);
    assert_int_equal(unlink(path), 0);
    f = follow_open(path);
    assert_int_equal(follow_look(f, take, &x, &error), NETPROF_ERR_IO);
    assert_string_equal(error.path, path);
    follow_close(f);
    FILE *other = fopen(path, "wb");
    fputs("this is no recording at all", other);
    fclose(other);
    f = follow_open(path);
    assert_int_equal(follow_look(f, take, &x, &error), NETPROF_ERR_FORMAT);
    follow_close(f);
    free(b.data);
}

// ---- the window ----

static void add_at(history *h, const netprof_schema *schema, netprof_set set, int64_t ms)
{
    netprof_snapshot s = NETPROF_ZERO;
    assert_int_equal(netprof_snapshot_make(&s, schema, NULL), NETPROF_OK);
    s.begin_ns = s.end_ns = ms * 1000000;
    s.set = set;
    history_add(h, &s);
    netprof_snapshot_free(&s);
}

static void the_window_reaches_back_and_no_further(void **state)
{
    (void)state;
    const netprof_schema *schema = schema_of("eth0", 2);
    const netprof_snapshot *first, *before, *last;
    history h = {.window_ns = 1000000000};
    add_at(&h, schema, NETPROF_SET_ALL, 100);
    assert_false(history_last(&h, &first, &before, &last));
    for (int64_t ms = 400; ms <= 3100; ms += 300)
        add_at(&h, schema, NETPROF_SET_ALL, ms);
    assert_true(history_last(&h, &first, &before, &last));
    assert_int_equal(last->begin_ns, 3100000000);
    assert_int_equal(before->begin_ns, 2800000000);
    assert_int_equal(first->begin_ns, 1900000000); // the last one at or before 2.1 s
    // The last reading of a recording, right behind a tick: rates are of the whole interval all the same.
    add_at(&h, schema, NETPROF_SET_ALL, 3101);
    assert_true(history_last(&h, &first, &before, &last));
    assert_int_equal(last->begin_ns, 3101000000);
    assert_int_equal(before->begin_ns, 2800000000);
    // The fast set is shown only when the other has stopped.
    for (int64_t ms = 3000; ms <= 3600; ms += 100)
        add_at(&h, schema, NETPROF_SET_FAST, ms);
    assert_int_equal(history_shown(&h), NETPROF_SET_ALL);
    add_at(&h, schema, NETPROF_SET_FAST, 3800);
    assert_int_equal(history_shown(&h), NETPROF_SET_FAST);
    // Time that goes back: another run.
    add_at(&h, schema, NETPROF_SET_ALL, 50);
    add_at(&h, schema, NETPROF_SET_ALL, 90);
    assert_int_equal(h.sets[NETPROF_SET_ALL].count, 2);
    history_free(&h);
    netprof_schema_release(schema);
}

// ---- text ----

static char *text_of(const line *l)
{
    static char text[1024];
    *text = 0;
    for (size_t i = 0; i < arrlenu(l->spans); i++)
        strcat(text, l->spans[i].text);
    return text;
}

static void lines_keep_to_their_width(void **state)
{
    (void)state;
    lines l = {.width = 20};
    lines_begin(&l);
    lines_cell(&l, NORMAL, 6, true, "ab");
    lines_cell(&l, NORMAL, 6, false, "cdefghij");
    lines_add(&l, NORMAL, "0123456789");
    assert_string_equal(text_of(&l.items[0]),
                        terminal_utf8() ? "    abcdefg\u20260123456\u2026" : "    abcdefg~0123456~");
    assert_int_equal(l.items[0].width, 20);
    lines_begin(&l);
    lines_add(&l, NORMAL, "\u4e2d\u4e2d\u4e2d\u4e2d\u4e2d\u4e2d\u4e2d\u4e2d\u4e2d\u4e2d\u4e2d"); // two columns each
    if (terminal_utf8()) assert_true(l.items[1].width <= 20);
    lines_free(&l);
}

static void bars_show_a_little_and_never_too_much(void **state)
{
    (void)state;
    static const struct {
        double share;
        const char *utf8, *ascii;
    } rows[] = {{0, "[    ]", "[    ]"},
                {1e-9, "[\u258f   ]", "[#   ]"},
                {0.5, "[\u2588\u2588  ]", "[##  ]"},
                {1, "[\u2588\u2588\u2588\u2588]", "[####]"},
                {7, "[\u2588\u2588\u2588\u2588]", "[####]"},
                {NAN, "[    ]", "[    ]"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        lines l = {.width = 80};
        lines_begin(&l);
        lines_bar(&l, NORMAL, 6, rows[i].share);
        assert_string_equal(text_of(&l.items[0]), terminal_utf8() ? rows[i].utf8 : rows[i].ascii);
        assert_int_equal(l.items[0].width, 6);
        lines_free(&l);
    }
}

// ---- the view ----

static void build(view **v, rules *set, history *h, const char *source, const char *text)
{
    situation x;
    netprof_error error;
    *h = (history){.window_ns = INT64_C(60000000000)};
    situation_make(&x, source, text);
    history_add(h, &x.before);
    history_add(h, &x.after);
    situation_free(&x);
    *set = (rules){0};
    rules_builtin(set);
    assert_int_equal(view_make(v, h, set, &error), NETPROF_OK);
}

static void rates_shares_and_trouble_of_a_port(void **state)
{
    (void)state;
    view *v;
    rules set;
    history h;
    // 10 seconds; a line of 10 Gbit/s carries 1.25 GB/s.
    build(&v, &set, &h, "netdev",
          "@speed_mbps=10000 rx_bytes=5000000000 tx_bytes=12500000000 rx_packets=1000 "
          "tx_packets=3000 rx_crc_errors=7 peer:rx_bytes=20u peer:tx_bytes=30");
    assert_int_equal(v->port_count, 2);
    const view_port *p = &v->ports[0];
    assert_true(fabs(p->rate[0] - 5e8) < 1 && fabs(p->rate[1] - 1.25e9) < 1);
    assert_true(fabs(p->line_rate - 1.25e9) < 1);
    assert_true(fabs(p->packets_per_s - 400) < 1e-6);
    assert_string_equal(p->trouble, "error 7 errors");
    assert_true(isnan(v->ports[1].rate[0])); // it could not be read
    assert_true(isnan(v->ports[1].packets_per_s));
    assert_true(v->ports[1].line_rate == 0);
    assert_int_equal(v->event_count, 1);
    assert_non_null(strstr(v->events[0].text, "rx_crc_errors +7 errors"));
    view_sort(v, VIEW_BY_RATE);
    assert_string_equal(v->ports[0].name, "dev0");
    lines l = {.width = 80};
    view_lines(v, &l);
    for (size_t i = 0; i < arrlenu(l.items); i++)
        assert_true(l.items[i].width <= 80);
    lines_free(&l);
    view_free(v);
    rules_free(&set);
    history_free(&h);
}

static void cycles_of_pause_are_no_errors(void **state)
{
    (void)state;
    view *v;
    rules set;
    history h;
    build(&v, &set, &h, "cxi", "hni_sts_tx_ok_octets=1000 hni_rx_paused_1=2500000 hni_rx_paused_0=3");
    assert_int_equal(v->port_count, 1);
    assert_string_equal(v->ports[0].trouble, "pause 2.50 M cycles");
    assert_int_equal(v->event_count, 2);
    view_free(v);
    rules_free(&set);
    history_free(&h);
}

// A node with a GPU whose power is not known, and a processor with a column that an old kernel does not have.
static void the_node_without_what_is_not_known(void **state)
{
    (void)state;
    static const struct {
        const char *source, *device, *name, *unit;
        uint8_t kind;
        uint64_t before, after;
    } rows[] = {{"cpu", "cpu", "user", "us", NETPROF_KIND_COUNTER, 0, 6000000},
                {"cpu", "cpu", "nice", "us", NETPROF_KIND_COUNTER, 0, 0},
                {"cpu", "cpu", "system", "us", NETPROF_KIND_COUNTER, 0, 2000000},
                {"cpu", "cpu", "idle", "us", NETPROF_KIND_COUNTER, 0, 11000000},
                {"cpu", "cpu", "iowait", "us", NETPROF_KIND_COUNTER, 0, 1000000},
                {"gpu", "gpu0", "busy", "percent", NETPROF_KIND_GAUGE, 1, 75},
                {"gpu", "gpu0", "memory_used", "bytes", NETPROF_KIND_GAUGE, 1, 3000000000},
                {"gpu", "gpu0", "temperature", "mC", NETPROF_KIND_GAUGE, 1, 61500},
                {"energy", "package-0", "energy", "uJ", NETPROF_KIND_COUNTER, 0, 1234000000},
                {"memory", "memory", "MemTotal", "bytes", NETPROF_KIND_GAUGE, 0, 8000000000},
                {"memory", "memory", "MemAvailable", "bytes", NETPROF_KIND_GAUGE, 0, 2000000000}};
    netprof_list *list = netprof_build_begin(NULL);
    const netprof_schema *schema;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        netprof_counter c = {.name = rows[i].name, .unit = rows[i].unit, .kind = rows[i].kind, .width = 64};
        if (!i || strcmp(rows[i].source, rows[i - 1].source) != 0) {
            netprof_build_source(list, rows[i].source);
            netprof_list_device(list, rows[i].device, 0, NETPROF_DEVICE_PHYSICAL);
        }
        netprof_list_counter(list, &c);
    }
    assert_int_equal(netprof_build_end(list, &schema, NULL), NETPROF_OK);
    history h = {.window_ns = INT64_C(60000000000)};
    for (int e = 0; e < 2; e++) { // 10 seconds
        netprof_snapshot s = NETPROF_ZERO;
        assert_int_equal(netprof_snapshot_make(&s, schema, NULL), NETPROF_OK);
        s.begin_ns = s.end_ns = INT64_C(1000000000) * (1 + 10 * e);
        s.wall_ns = INT64_C(1700000000000000000) + s.begin_ns;
        for (size_t d = 0; d < schema->device_count; d++)
            s.device_begin_ns[d] = s.device_end_ns[d] = s.begin_ns;
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            s.values[i] = e ? rows[i].after : rows[i].before;
            s.status[i] = NETPROF_STATUS_OK;
        }
        history_add(&h, &s);
        netprof_snapshot_free(&s);
    }
    rules set = {0};
    view *v;
    netprof_error error;
    rules_builtin(&set);
    assert_int_equal(view_make(&v, &h, &set, &error), NETPROF_OK);
    static const struct {
        const char *title, *text;
        double share;
    } loads[] = {{"CPU", "40 %: user 30 %, system 10 %, iowait 5 %, steal ?", 0.4},
                 {"Memory", "5.59 GiB of 7.45 GiB in use (75 %)", 0.75},
                 {"Power", "123 W in 1 package", NAN},
                 {"GPU", "gpu0: 75 % busy, memory 2.79 GiB of ?, 61.5 C", 0.75}};
    assert_int_equal(v->load_count, sizeof loads / sizeof *loads);
    for (size_t i = 0; i < v->load_count; i++) {
        assert_string_equal(v->loads[i].title, loads[i].title);
        assert_string_equal(v->loads[i].text, loads[i].text);
        assert_true(isnan(loads[i].share) ? isnan(v->loads[i].share) : fabs(v->loads[i].share - loads[i].share) < 1e-9);
    }
    view_free(v);
    rules_free(&set);
    history_free(&h);
    netprof_schema_release(schema);
}

static int make_path(void **state)
{
    (void)state;
    int fd = mkstemp(path);
    output_init();
    return fd < 0 || close(fd);
}

static int drop_path(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_snapshot_comes_once_whatever_the_pieces),
        cmocka_unit_test(a_replaced_file_begins_anew),
        cmocka_unit_test(damage_costs_what_it_hits),
        cmocka_unit_test(the_window_reaches_back_and_no_further),
        cmocka_unit_test(lines_keep_to_their_width),
        cmocka_unit_test(bars_show_a_little_and_never_too_much),
        cmocka_unit_test(rates_shares_and_trouble_of_a_port),
        cmocka_unit_test(cycles_of_pause_are_no_errors),
        cmocka_unit_test(the_node_without_what_is_not_known),
    };
    return cmocka_run_group_tests(tests, make_path, drop_path);
}

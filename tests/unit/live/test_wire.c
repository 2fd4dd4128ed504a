// Frames, watermarks, names, and the two sides of the protocol over a simulated network that loses, repeats and reorders.
#define _GNU_SOURCE
#include "live/spool/crc32c.h"
#include "live/spool/little.h"
#include "live/wire/receiver.h"
#include "live/wire/sender.h"
#include "live/wire/succession.h"
#include "netprof.h"
#include "support.h"

#include "analysis/base/stb_ds.h"

// ---- names ----

static void test_names(void **state)
{
    static const struct {
        const char *node, *token;
    } rows[] = {{"node-1_A", "node-1_A"},
                {"n1.cluster.example", "n1%2Ecluster%2Eexample"},
                {"a > b.*", "a%20%3E%20b%2E%2A"},
                {"../../etc/passwd", "%2E%2E%2F%2E%2E%2Fetc%2Fpasswd"},
                {"\xc3\xa4\n", "%C3%A4%0A"}};
    static const char *const wrong[] = {"", "%", "%4", "%41", "%2e", "%00", "a.b", "a*", "a b", "%G0", "a/b"};
    char token[3 * FRAME_NODE_MOST + 1], node[FRAME_NODE_MOST + 1], longest[FRAME_NODE_MOST + 2];
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_true(frame_token(token, rows[i].node));
        assert_string_equal(token, rows[i].token);
        assert_true(frame_node(node, token, strlen(token)));
        assert_string_equal(node, rows[i].node);
    }
    for (size_t i = 0; i < COUNT(wrong); i++)
        assert_false(frame_node(node, wrong[i], strlen(wrong[i])));
    memset(longest, 'x', sizeof longest);
    longest[FRAME_NODE_MOST] = 0;
    assert_true(frame_token(token, longest));
    longest[FRAME_NODE_MOST] = 'x';
    assert_false(frame_node(node, longest, sizeof longest));
    longest[FRAME_NODE_MOST + 1] = 0;
    assert_false(frame_token(token, ""));
}

// ---- frames ----

static const unsigned char stream_a[16] = "stream a", stream_b[16] = "stream b";

static size_t make_frame(frame_buffer *b, bool preamble)
{
    frame f = {.first = 7, .base = 3, .head = 11, .epoch = 12, .low = 2, .high = 9, .first_ns = 70, .last_ns = 80};
    memcpy(f.stream, stream_a, 16);
    sha256(f.hash, "schema", 6);
    if (preamble) {
        f.preamble = (const unsigned char *)"schema";
        f.preamble_size = 6;
    }
    frame_begin(b, &f);
    frame_add(b, &(spool_tick){.is_key = true, .wall_ns = 70, .data = (const unsigned char *)"seven", .size = 5});
    frame_add(b, &(spool_tick){.wall_ns = 80, .size = 0});
    f.count = 2;
    frame_end(b, &f);
    return b->size;
}

static void test_frames(void **state)
{
    frame_buffer b = {0};
    frame f;
    spool_tick t;
    (void)state;
    for (int preamble = 0; preamble < 2; preamble++) {
        size_t size = make_frame(&b, preamble), at = 0;
        assert_int_equal(size, FRAME_HEAD + (preamble ? 6 : 0) + 2 * FRAME_TICK + 5);
        assert_true(frame_parse(&f, b.data, size));
        assert_int_equal(f.first, 7);
        assert_int_equal(frame_last(&f), 8);
        assert_int_equal(f.base, 3);
        assert_int_equal(f.head, 11);
        assert_int_equal(f.epoch, 12);
        assert_int_equal(f.low, 2);
        assert_int_equal(f.high, 9);
        assert_int_equal(f.last_ns, 80);
        assert_memory_equal(f.stream, stream_a, 16);
        assert_int_equal(f.preamble_size, preamble ? 6 : 0);
        assert_true(frame_next(&f, &at, &t));
        assert_true(t.is_key);
        assert_int_equal(t.wall_ns, 70);
        assert_memory_equal(t.data, "seven", t.size);
        assert_true(frame_next(&f, &at, &t));
        assert_false(t.is_key);
        assert_int_equal(t.size, 0);
        assert_false(frame_next(&f, &at, &t));
        for (size_t cut = 0; cut < size; cut++)
            assert_false(frame_parse(&f, b.data, cut));
        for (size_t i = 0; i < size; i++) {
            b.data[i] ^= 1;
            assert_false(frame_parse(&f, b.data, size));
            b.data[i] ^= 1;
        }
        assert_true(frame_parse(&f, b.data, size));
    }
    frame_buffer_free(&b);
}

// Frames of a right checksum that say what cannot be.
static void test_hostile_frames(void **state)
{
    static const struct {
        size_t at;
        unsigned bytes;
        uint64_t value;
    } rows[] = {{12, 2, 2}, {64, 8, 0},          {64, 8, UINT64_MAX}, {72, 4, 0},    {72, 4, 1}, {72, 4, 3},
                {76, 4, 1}, {76, 4, UINT32_MAX}, {80, 8, 7},          {136, 4, 500}, {136, 4, 4}};
    frame_buffer b = {0};
    frame f;
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        make_frame(&b, false);
        little_put(b.data + rows[i].at, rows[i].value, rows[i].bytes);
        assert_true(rows[i].at != 4);
        // the checksum as a hostile sender would make it
        frame_buffer copy = {.data = malloc(b.size), .size = b.size, .room = b.size};
        memcpy(copy.data, b.data, b.size);
        little_put(copy.data + 8, crc32c(crc32c(0, copy.data, 8), copy.data + 12, copy.size - 12), 4);
        assert_false(frame_parse(&f, copy.data, copy.size));
        frame_buffer_free(&copy);
    }
    // a preamble that is not the one its hash names
    size_t size = make_frame(&b, true);
    b.data[FRAME_HEAD] = 'S';
    little_put(b.data + 8, crc32c(crc32c(0, b.data, 8), b.data + 12, size - 12), 4);
    assert_false(frame_parse(&f, b.data, size));
    frame_buffer_free(&b);
}

static void test_watermarks(void **state)
{
    watermark w = {.epoch = 5, .head = 6, .durable = 7, .credit = 8, .wants_preamble = true}, back;
    unsigned char bytes[WATERMARK_SIZE];
    (void)state;
    memcpy(w.stream, stream_a, 16);
    watermark_write(bytes, &w);
    assert_true(watermark_parse(&back, bytes, sizeof bytes));
    assert_memory_equal(&back, &w, sizeof w);
    assert_false(watermark_parse(&back, bytes, sizeof bytes - 1));
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] ^= 4;
        assert_false(watermark_parse(&back, bytes, sizeof bytes));
        bytes[i] ^= 4;
    }
}

// ---- what an agent believes ----

static watermark say(const unsigned char *stream, uint64_t epoch, uint64_t head, uint64_t durable)
{
    watermark w = {.epoch = epoch, .head = head, .durable = durable, .credit = 4};
    memcpy(w.stream, stream, 16);
    return w;
}

static void fly(sender *s, unsigned count)
{
    s->flights[s->flying].first = s->next;
    s->flights[s->flying++].last = s->next + count - 1;
    s->next += count;
}

static void test_whom_an_agent_believes(void **state)
{
    sender s;
    watermark w;
    (void)state;
    sender_begin(&s, stream_a, 0, 0, 0, 1);
    fly(&s, 5);
    fly(&s, 5);
    w = say(stream_b, 9, 1, 5); // another agent's
    assert_false(sender_heard(&s, &w, 20, 1));
    w = say(stream_a, 9, 1, 21); // more than was ever given
    assert_false(sender_heard(&s, &w, 20, 1));
    assert_int_equal(s.epoch, 0);
    w = say(stream_a, 9, 1, 5);
    assert_true(sender_heard(&s, &w, 20, 1));
    assert_int_equal(s.base, 5);
    assert_int_equal(s.flying, 1);
    w = say(stream_a, 8, 1, 10); // an old head that came back
    assert_false(sender_heard(&s, &w, 20, 2));
    assert_int_equal(s.base, 5);
    w = say(stream_a, 9, 1, 3); // late
    assert_false(sender_heard(&s, &w, 20, 3));
    assert_int_equal(s.base, 5);
    w = say(stream_a, 10, 1, 3); // the same head, started again on a disk that lost something: it gets it again
    assert_false(sender_heard(&s, &w, 20, 4));
    assert_int_equal(s.base, 3);
    assert_int_equal(s.next, 4);
    assert_int_equal(s.flying, 0);
    w = say(stream_a, 11, 2, 1); // another head knows less: what the first has is durable all the same
    assert_false(sender_heard(&s, &w, 20, 5));
    assert_int_equal(s.base, 3);
    assert_int_equal(s.epoch, 11);
}

static void test_half_a_frame(void **state)
{
    sender s;
    watermark w = say(stream_a, 1, 1, 3);
    (void)state;
    sender_begin(&s, stream_a, 0, 0, 0, 1);
    fly(&s, 5);
    assert_true(sender_heard(&s, &w, 20, 1));
    assert_int_equal(s.next, 4); // the head refused the frame as a whole
    assert_int_equal(s.flying, 0);
}

static void test_patience(void **state)
{
    sender s;
    int64_t now = 0, waited;
    (void)state;
    sender_begin(&s, stream_a, 0, 0, 0, 7);
    assert_int_equal(sender_patience(&s), INT64_MAX);
    for (int i = 0; i < 10; i++) {
        while (s.flying < 4)
            fly(&s, 1);
        assert_int_equal(sender_next(&s, now), 0); // the window is full
        waited = sender_patience(&s) - now;
        assert_true(waited >= 5000000000 && waited <= 20000000000);
        if (i > 6) assert_true(waited >= 20000000000 * 7 / 8);
        now = sender_patience(&s);
        assert_int_equal(sender_next(&s, now), 1);
        assert_int_equal(s.again, i + 1);
    }
}

// ---- what a head takes ----

static frame part(uint64_t first, uint32_t count, uint64_t base)
{
    frame f = {.first = first, .count = count, .base = base, .head = 1, .epoch = 5};
    memcpy(f.stream, stream_a, 16);
    return f;
}

static void test_what_a_head_takes(void **state)
{
    const receiver_head head = {.id = 1, .epoch = 5, .credit = 4};
    receiver r = {0};
    watermark w;
    frame f = part(1, 5, 0);
    (void)state;
    assert_int_equal(receiver_take(&r, &f, &head, false), RECEIVER_PREAMBLE);
    assert_true(receiver_commit(&r, 0, &head, &w));
    assert_true(w.wants_preamble);
    assert_int_equal(w.durable, 0);
    assert_int_equal(receiver_take(&r, &f, &head, true), RECEIVER_STORE);
    assert_int_equal(receiver_take(&r, &f, &head, true), RECEIVER_DUPLICATE);
    f = part(4, 5, 0); // overlaps
    assert_int_equal(receiver_take(&r, &f, &head, true), RECEIVER_DUPLICATE);
    f = part(7, 1, 0);
    assert_int_equal(receiver_take(&r, &f, &head, true), RECEIVER_AHEAD);
    assert_int_equal(r.accepted, 5);
    assert_true(receiver_commit(&r, 5, &head, &w));
    assert_int_equal(w.durable, 5);
    assert_false(receiver_commit(&r, 5, &head, &w)); // nobody asked
    f = part(9, 1, 8);                               // this head's own word, which it forgot: asked for again
    assert_int_equal(receiver_take(&r, &f, &head, true), RECEIVER_AHEAD);
    f.head = 2; // another's
    assert_int_equal(receiver_take(&r, &f, &head, true), RECEIVER_ELSEWHERE);
    assert_int_equal(receiver_take(&r, &f, &head, true), RECEIVER_STORE);
    f = part(10, 3, 9);
    f.is_gap = true; // needs no preamble
    assert_int_equal(receiver_take(&r, &f, &head, false), RECEIVER_STORE);
    f = part(13, 1, 9);
    f.epoch = 6;
    assert_int_equal(receiver_take(&r, &f, &head, true), RECEIVER_SUPERSEDED);
    assert_int_equal(r.accepted, 12);
}

// ---- both, over a bad network ----

enum { NODES = 6, HEADS = 3, WRITTEN = 400, STEPS = 60000 };

typedef struct message {
    int64_t due;
    bool to_head;
    unsigned node, head;
    unsigned char *data;
    size_t size;
} message;

typedef struct stored {
    uint64_t first, last;
    bool is_gap;
    unsigned reason;
} stored;

// A head's journal for one node: on disk, and what waits for the commit.
typedef struct kept {
    receiver r;
    stored *durable, *waiting;
} kept;

static struct {
    uint64_t random;
    int64_t now;
    message *wire;
    unsigned head; // the one that collects
    struct {
        sender s;
        uint64_t low, high;
        int64_t asleep;
    } nodes[NODES];
    struct {
        receiver_head self;
        kept kept[NODES];
        bool knows[NODES], alive, paused;
        int64_t commit_at;
    } heads[HEADS];
    uint64_t next_epoch;
    unsigned lost, refused;
} sim;

static uint64_t chance(uint64_t below)
{
    sim.random ^= sim.random << 13;
    sim.random ^= sim.random >> 7;
    sim.random ^= sim.random << 17;
    return sim.random % below;
}

static void send(bool to_head, unsigned node, unsigned head, const void *data, size_t size)
{
    for (unsigned copies = chance(12) == 0 ? 2 : 1; copies; copies--) {
        if (chance(10) == 0) continue;
        message m = {
            sim.now + (int64_t)chance(chance(8) ? 20 : 900) * 1000000, to_head, node, head, malloc(size), size};
        memcpy(m.data, data, size);
        arrput(sim.wire, m);
    }
}

// A node's ticks: all from low to high but every 97th, which the disk refused.
static bool sim_get(void *user, uint64_t number, uint64_t high, spool_tick *t)
{
    unsigned node = *(unsigned *)user;
    static unsigned char hash[SHA256_BYTES], data[8];
    if (number < sim.nodes[node].low) number = sim.nodes[node].low;
    unsigned reason = SPOOL_DAMAGED;
    if (number % 97 == 0) {
        number++;
        reason = SPOOL_FULL;
    }
    if (number > high) return false;
    little_put(data, number * 31 + node, 8);
    sha256(hash, number < 150 ? "one" : "two", 3);
    *t = (spool_tick){.number = number,
                      .wall_ns = (int64_t)number,
                      .reason = reason,
                      .data = data,
                      .size = 8,
                      .hash = hash,
                      .preamble = (const unsigned char *)(number < 150 ? "one" : "two"),
                      .preamble_size = 3};
    return true;
}

static void sim_store(unsigned head, unsigned node, const frame *f)
{
    kept *k = &sim.heads[head].kept[node];
    spool_tick t;
    uint64_t number = f->first;
    for (size_t at = 0; !f->is_gap && frame_next(f, &at, &t); number++)
        assert_int_equal(little_get(t.data, 8), number * 31 + node);
    arrput(k->waiting, ((stored){f->first, frame_last(f), f->is_gap, f->reason}));
}

static void sim_head(unsigned head, unsigned node, const message *m)
{
    frame f;
    assert_true(frame_parse(&f, m->data, m->size));
    kept *k = &sim.heads[head].kept[node];
    uint64_t before = k->r.accepted;
    receiver_verdict v =
        receiver_take(&k->r, &f, &sim.heads[head].self, f.preamble_size || sim.heads[head].knows[node]);
    if (v == RECEIVER_ELSEWHERE) {
        arrput(k->waiting, ((stored){before + 1, k->r.accepted, true, SPOOL_ELSEWHERE}));
        v = receiver_take(&k->r, &f, &sim.heads[head].self, f.preamble_size || sim.heads[head].knows[node]);
    }
    if (v == RECEIVER_STORE && f.preamble_size) sim.heads[head].knows[node] = true;
    if (v == RECEIVER_STORE)
        sim_store(head, node, &f);
    else
        sim.refused++;
}

static void sim_commit(unsigned head)
{
    unsigned char bytes[WATERMARK_SIZE];
    watermark w;
    for (unsigned n = 0; n < NODES; n++) {
        kept *k = &sim.heads[head].kept[n];
        for (size_t i = 0; i < arrlenu(k->waiting); i++)
            arrput(k->durable, k->waiting[i]);
        arrsetlen(k->waiting, 0);
        if (!k->r.known || !receiver_commit(&k->r, k->r.accepted, &sim.heads[head].self, &w)) continue;
        watermark_write(bytes, &w);
        send(false, n, head, bytes, sizeof bytes);
    }
}

// What was not committed is gone; what was is known again, as from the journal.
static void sim_restart(unsigned head)
{
    for (unsigned n = 0; n < NODES; n++) {
        kept *k = &sim.heads[head].kept[n];
        arrsetlen(k->waiting, 0);
        if (k->r.known && arrlenu(k->durable))
            k->r.accepted = k->r.durable = arrlast(k->durable).last;
        else
            k->r = (receiver){0};
        k->r.owes = false;
    }
    sim.heads[head].self.epoch = ++sim.next_epoch;
    sim.heads[head].alive = true;
    sim.heads[head].paused = false;
}

static void sim_fault(void)
{
    unsigned head = sim.head, node = (unsigned)chance(NODES);
    switch (chance(6)) {
    case 0: sim_restart(head); break; // killed, and started again
    case 1:                           // stopped, and another takes over; it may come back
        sim.heads[head].paused = true;
        sim.head = (head + 1) % HEADS;
        sim_restart(sim.head);
        break;
    case 2: { // an old head goes on, knowing nothing of the new one
        unsigned old = (unsigned)chance(HEADS);
        if (sim.heads[old].self.epoch) sim.heads[old].paused = false;
        break;
    }
    case 3: { // the agent was killed: it knows what it kept
        const sender s = sim.nodes[node].s;
        sender_begin(&sim.nodes[node].s, s.stream, s.base, s.head, s.epoch, chance(1000));
        break;
    }
    case 4: sim.nodes[node].asleep = sim.now + 3000000000; break;
    default: sender_connected(&sim.nodes[node].s, sim.now);
    }
}

static void sim_deliver(void)
{
    for (size_t i = 0; i < arrlenu(sim.wire);) {
        message m = sim.wire[i];
        if (m.due > sim.now) {
            i++;
            continue;
        }
        arrdelswap(sim.wire, i);
        if (m.to_head) { // every head that lives sees it
            for (unsigned h = 0; h < HEADS; h++)
                if (sim.heads[h].alive && !sim.heads[h].paused) sim_head(h, m.node, &m);
        } else {
            watermark w;
            assert_true(watermark_parse(&w, m.data, m.size));
            sender_heard(&sim.nodes[m.node].s, &w, sim.nodes[m.node].high, sim.now);
        }
        free(m.data);
    }
}

static void sim_step(bool faults)
{
    static const sender_limits limits = {.ticks = 5, .bytes = 4096};
    frame_buffer b = {0};
    sim.now += 10000000;
    for (unsigned n = 0; n < NODES; n++) {
        if (faults && sim.nodes[n].high < WRITTEN && chance(5) == 0) sim.nodes[n].high++;
        uint64_t high = sim.nodes[n].high; // a ring of 120
        if (n == 0 && high > 120 && sim.nodes[n].low < high - 120) sim.nodes[n].low = high - 120;
        if (sim.nodes[n].asleep > sim.now) continue;
        while (sender_pack(&sim.nodes[n].s, &b, &limits, sim_get, &n, sim.nodes[n].low, high, sim.now))
            send(true, n, 0, b.data, b.size);
    }
    sim_deliver();
    for (unsigned h = 0; h < HEADS; h++) {
        if (!sim.heads[h].alive || sim.heads[h].paused || sim.now < sim.heads[h].commit_at) continue;
        sim_commit(h);
        sim.heads[h].commit_at = sim.now + 200000000;
    }
    frame_buffer_free(&b);
}

// Each journal is in order and holds nothing twice; together they hold every tick but those that a gap names.
static void sim_check(void)
{
    for (unsigned n = 0; n < NODES; n++) {
        char found[WRITTEN + 2] = {0}, gap[WRITTEN + 2] = {0};
        for (unsigned h = 0; h < HEADS; h++) {
            uint64_t last = 0;
            stored *all = sim.heads[h].kept[n].durable;
            for (size_t i = 0; i < arrlenu(all); i++) {
                if (i) assert_int_equal(all[i].first, last + 1);
                last = all[i].last;
                for (uint64_t k = all[i].first; k <= last; k++) {
                    if (!all[i].is_gap)
                        found[k] = 1;
                    else if (all[i].reason != SPOOL_ELSEWHERE)
                        gap[k] = (char)all[i].reason;
                }
            }
        }
        for (uint64_t k = 1; k <= sim.nodes[n].high; k++) {
            if (k % 97 == 0) {
                if (!gap[k]) fail_msg("node %u, tick %u: no gap", n, (unsigned)k);
            } else if (!found[k]) {
                if (gap[k] != SPOOL_OVERWRITTEN || k >= sim.nodes[n].low || n != 0)
                    fail_msg("node %u, tick %u is lost", n, (unsigned)k);
                sim.lost++;
            }
        }
    }
}

static void sim_free(void)
{
    for (size_t i = 0; i < arrlenu(sim.wire); i++)
        free(sim.wire[i].data);
    arrfree(sim.wire);
    for (unsigned h = 0; h < HEADS; h++) {
        for (unsigned n = 0; n < NODES; n++) {
            arrfree(sim.heads[h].kept[n].durable);
            arrfree(sim.heads[h].kept[n].waiting);
        }
    }
    memset(&sim, 0, sizeof sim);
}

static bool sim_is_done(void)
{
    for (unsigned n = 0; n < NODES; n++)
        if (sim.nodes[n].s.base < sim.nodes[n].high) return false;
    return true;
}

static void sim_run(uint64_t seed)
{
    sim.random = seed * 0x9e3779b97f4a7c15u | 1;
    for (unsigned h = 0; h < HEADS; h++)
        sim.heads[h].self = (receiver_head){.id = h + 1, .credit = 4};
    sim_restart(0);
    for (unsigned n = 0; n < NODES; n++) {
        unsigned char stream[16] = {(unsigned char)('a' + n)};
        sim.nodes[n].low = 1;
        sender_begin(&sim.nodes[n].s, stream, 0, 0, 0, chance(1000));
    }
    for (unsigned step = 0; step < 2500; step++) {
        sim_step(true);
        if (chance(120) == 0) sim_fault();
    }
    for (unsigned h = 0; h < HEADS; h++) // the faults end; the latest head collects
        sim.heads[h].paused = h != sim.head;
    unsigned steps = 0;
    while (!sim_is_done() && steps++ < STEPS)
        sim_step(false);
    if (!sim_is_done()) fail_msg("seed %u: it never caught up", (unsigned)seed);
    sim_check();
}

static void test_bad_network(void **state)
{
    unsigned lost = 0, refused = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        sim_run(seed);
        lost += sim.lost;
        refused += sim.refused;
        sim_free();
    }
    assert_true(refused > 1000); // the network was bad
    assert_true(lost > 0);       // the ring came round, and the gap says so
}

// Three heads that stop, go on, start again and cannot hear each other, at random: whenever that ends one of them collects, the
// one with the highest epoch, and no epoch was ever two heads'.
static void test_succession(void **state)
{
    enum { STANDING = 3 };
    static const int64_t step_ns = 500000000;
    succession heads[STANDING];
    unsigned char said[SUCCESSION_SAID];
    uint64_t used[STANDING] = {0};
    int64_t now = 0;
    unsigned changes = 0;
    (void)state;
    for (unsigned i = 0; i < STANDING; i++)
        succession_begin(&heads[i], 100 + i, 1000 + i, now);
    for (unsigned round = 0; round < 300; round++) {
        unsigned stopped = (unsigned)chance(8), apart = (unsigned)chance(8); // a bit for each
        if (round % 3 == 2) stopped = apart = 0;
        for (unsigned k = 0; k < 40; k++, now += step_ns) {
            for (unsigned i = 0; i < STANDING; i++) {
                if (stopped >> i & 1) continue;
                changes += succession_look(&heads[i], true, now);
                if (!heads[i].collects) continue;
                used[i] = heads[i].epoch;
                for (unsigned other = 0; other < STANDING; other++)
                    assert_true(other == i || used[other] != heads[i].epoch);
                succession_say(&heads[i], said);
                for (unsigned other = 0; other < STANDING; other++)
                    if (other != i && (apart >> i & 1) == (apart >> other & 1) && !(stopped >> other & 1))
                        assert_true(succession_hear(&heads[other], said, sizeof said, now));
            }
        }
        unsigned collecting = 0, best = 0;
        for (unsigned i = 0; i < STANDING; i++) {
            collecting += heads[i].collects;
            if (heads[i].epoch > heads[best].epoch) best = i;
        }
        if (stopped || apart) continue;
        assert_int_equal(collecting, 1);
        assert_true(heads[best].collects);
        // One that starts again is of a higher epoch than before, and stands by.
        unsigned again = (unsigned)chance(STANDING);
        succession_begin(&heads[again], 100 + again, heads[again].epoch + 1, now);
    }
    assert_true(changes > 50);
    said[20] ^= 1;
    assert_false(succession_hear(&heads[0], said, sizeof said, now));
    assert_false(succession_hear(&heads[0], said, sizeof said - 1, now));
    // While the server is not reached nobody takes over.
    succession_begin(&heads[0], 1, 1, now);
    for (unsigned k = 0; k < 100; k++)
        assert_false(succession_look(&heads[0], false, now += step_ns));
    assert_false(succession_look(&heads[0], true, now));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_frames),
        cmocka_unit_test(test_hostile_frames),
        cmocka_unit_test(test_watermarks),
        cmocka_unit_test(test_whom_an_agent_believes),
        cmocka_unit_test(test_half_a_frame),
        cmocka_unit_test(test_patience),
        cmocka_unit_test(test_what_a_head_takes),
        cmocka_unit_test(test_bad_network),
        cmocka_unit_test(test_succession),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

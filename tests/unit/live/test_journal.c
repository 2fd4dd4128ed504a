// A head's journal: what is confirmed is there after a kill, a torn tail, damage and a full disk; and it is never there twice.
#define _GNU_SOURCE
#include "live/journal/journal.h"
#include "live/journal/journal_index.h"
#include "live/journal/journal_merge.h"
#include "live/journal/journal_snapshots.h"
#include "live/spool/little.h"
#include "live/spool/seglog.h"
#include "netprof.h"
#include "support.h"

#include "analysis/base/stb_ds.h"

#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>

static char *top;
static uint64_t told[4]; // what each node was told last
static bool asked;       // for the preamble
static bool says_told;   // frames say what was confirmed

static int set_up(void **state)
{
    (void)state;
    top = tree_make();
    memset(told, 0, sizeof told);
    says_told = false;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    tree_remove(top);
    return 0;
}

static const char *directory(void)
{
    static char path[600];
    snprintf(path, sizeof path, "%s/head", top);
    return path;
}

static journal *open_journal(uint64_t segment)
{
    char *why = NULL;
    const journal_options o = {
        .directory = directory(), .segment_bytes = segment, .waiting_bytes = 1 << 20, .credit = 4};
    journal *j = journal_open(&o, &why);
    if (!j) fail_msg("%s", why);
    return j;
}

static const char *const nodes[4] = {"a", "b", "c.example", "d"};

// A frame of `count` ticks that begins with this number; the first of it needs none before it.
static receiver_verdict take(journal *j, int node, uint64_t first, uint32_t count, bool preamble)
{
    frame_buffer b = {0};
    receiver_verdict v = RECEIVER_VERDICTS;
    frame f = {.first = first,
               .count = count,
               .high = 1000,
               .first_ns = (int64_t)first,
               .last_ns = (int64_t)first + count - 1};
    memset(f.stream, 'a' + node, sizeof f.stream);
    if (says_told) {
        f.base = told[node];
        f.head = journal_head(j)->id;
    }
    sha256(f.hash, nodes[node], strlen(nodes[node]));
    if (preamble) {
        f.preamble = (const unsigned char *)nodes[node];
        f.preamble_size = (uint32_t)strlen(nodes[node]);
    }
    frame_begin(&b, &f);
    for (uint32_t i = 0; i < count; i++) {
        unsigned char data[40];
        memset(data, node, sizeof data);
        little_put(data, first + i, 8);
        frame_add(&b,
                  &(spool_tick){.is_key = i == 0, .wall_ns = (int64_t)(first + i), .data = data, .size = sizeof data});
    }
    frame_end(&b, &f);
    assert_true(frame_parse(&f, b.data, b.size));
    assert_true(journal_take(j, nodes[node], &f, 1, &v));
    frame_buffer_free(&b);
    return v;
}

// Numbers that are no more, as the agent says it with the next tick that there is.
static receiver_verdict take_gap(journal *j, int node, uint64_t first, uint32_t count, int64_t next_ns)
{
    frame_buffer b = {0};
    receiver_verdict v = RECEIVER_VERDICTS;
    frame f = {.first = first,
               .count = count,
               .is_gap = true,
               .reason = SPOOL_OVERWRITTEN,
               .first_ns = next_ns,
               .last_ns = next_ns};
    memset(f.stream, 'a' + node, sizeof f.stream);
    frame_begin(&b, &f);
    frame_end(&b, &f);
    assert_true(frame_parse(&f, b.data, b.size));
    assert_true(journal_take(j, nodes[node], &f, 1, &v));
    frame_buffer_free(&b);
    return v;
}

static void tell(void *user, const char *node, const watermark *w)
{
    (void)user;
    for (size_t i = 0; i < COUNT(nodes); i++)
        if (strcmp(node, nodes[i]) == 0) told[i] = w->durable;
    asked |= w->wants_preamble;
}

static int commit(journal *j)
{
    if (!journal_begin_commit(j)) return 0;
    int error = journal_write(j);
    if (!error) journal_end_commit(j, tell, NULL);
    return error;
}

// Every number from 1 to `last` is there once, in order. Returns how many frames that are.
static size_t check(int node, uint64_t last)
{
    char *why = NULL;
    journal_index *x = journal_index_open(directory(), 0, INT64_MAX, &why);
    uint64_t next = 1;
    size_t frames = 0;
    assert_non_null(x);
    for (size_t i = 0; i < journal_index_count(x); i++) {
        const journal_stream *s = journal_index_stream(x, i);
        if (strcmp(s->node, nodes[node]) != 0) continue;
        for (size_t k = 0; k < arrlenu(s->stretches); k++, frames++) {
            frame f;
            spool_tick t;
            size_t size;
            assert_true(journal_index_frame(x, &s->stretches[k], &f));
            for (size_t at = 0; frame_next(&f, &at, &t); next++)
                assert_int_equal(little_get(t.data, 8), next);
            const unsigned char *preamble = journal_index_preamble(x, f.hash, &size);
            assert_non_null(preamble);
            assert_memory_equal(preamble, nodes[node], size);
        }
    }
    journal_index_close(x);
    assert_int_equal(next - 1, last);
    return frames;
}

static void test_confirms_what_is_written(void **state)
{
    (void)state;
    journal *j = open_journal(1 << 20);
    assert_int_equal(take(j, 0, 1, 5, false), RECEIVER_PREAMBLE);
    assert_int_equal(commit(j), 0);
    assert_true(asked);
    assert_int_equal(take(j, 0, 1, 5, true), RECEIVER_STORE);
    assert_int_equal(take(j, 1, 1, 3, true), RECEIVER_STORE);
    assert_int_equal(take(j, 0, 6, 5, false), RECEIVER_STORE);
    assert_int_equal(told[0], 0); // not before it is on the disk
    assert_int_equal(commit(j), 0);
    assert_int_equal(told[0], 10);
    assert_int_equal(told[1], 3);
    journal_close(j);
    assert_int_equal(check(0, 10), 2);
    assert_int_equal(check(1, 3), 1);
}

static void test_goes_on(void **state)
{
    uint64_t epoch;
    (void)state;
    journal *j = open_journal(1 << 20);
    for (uint64_t n = 1; n <= 50; n += 5)
        take(j, 0, n, 5, n == 1);
    commit(j);
    take(j, 0, 51, 5, false); // accepted, not committed: a kill takes it
    epoch = journal_head(j)->epoch;
    journal_close(j);
    j = open_journal(1 << 20);
    assert_true(journal_head(j)->epoch > epoch);
    assert_int_equal(take(j, 0, 46, 5, false), RECEIVER_DUPLICATE);
    assert_int_equal(take(j, 0, 56, 5, false), RECEIVER_AHEAD);
    assert_int_equal(take(j, 0, 51, 5, false), RECEIVER_STORE); // its preamble is known
    commit(j);
    assert_int_equal(told[0], 55);
    journal_close(j);
    check(0, 55);
}

// Segments that begin with the table alone say what is durable.
static void test_segments(void **state)
{
    journal_segment *all = NULL;
    (void)state;
    journal *j = open_journal(2000);
    for (uint64_t n = 1; n <= 200; n += 5) {
        for (int i = 0; i < 4; i++)
            assert_int_equal(take(j, i, n, 5, n == 1), RECEIVER_STORE);
        commit(j);
    }
    journal_close(j);
    assert_int_equal(journal_segments_list(directory(), &all), 0);
    assert_true(arrlenu(all) > 10);
    arrfree(all);
    for (int i = 0; i < 4; i++)
        check(i, 200);
    j = open_journal(2000);
    for (int i = 0; i < 4; i++)
        assert_int_equal(take(j, i, 201, 5, false), RECEIVER_STORE);
    commit(j);
    journal_close(j);
    for (int i = 0; i < 4; i++)
        check(i, 205);
}

// Writing to the disk goes on without a lock: what others see changes with the end of the commit only.
static void test_writes_apart(void **state)
{
    (void)state;
    journal *j = open_journal(100);
    for (uint64_t n = 1; n <= 31; n += 5) {
        uint64_t before = journal_bytes(j);
        take(j, 0, n, 5, n == 1);
        assert_true(journal_begin_commit(j));
        assert_int_equal(journal_write(j), 0);
        assert_int_equal(journal_bytes(j), before);
        journal_end_commit(j, tell, NULL);
        assert_true(journal_bytes(j) > before + 200);
    }
    journal_close(j);
    check(0, 35);
}

static char *last_segment(void)
{
    journal_segment *all = NULL;
    assert_int_equal(journal_segments_list(directory(), &all), 0);
    char *path = journal_segment_path(directory(), arrlast(all).number);
    arrfree(all);
    return path;
}

// The tail torn at any byte: what is whole counts, the rest is asked for again, and nothing is there twice.
static void test_torn(void **state)
{
    struct stat st;
    (void)state;
    journal *j = open_journal(1 << 20);
    take(j, 0, 1, 5, true);
    take(j, 1, 1, 5, true);
    commit(j);
    char *path = last_segment();
    assert_int_equal(stat(path, &st), 0);
    off_t whole = st.st_size;
    journal_close(j);
    for (off_t more = 1; more < 400; more += 7) {
        j = open_journal(1 << 20);
        assert_int_equal(take(j, 0, 6, 5, false), RECEIVER_STORE);
        assert_int_equal(commit(j), 0);
        journal_close(j);
        assert_int_equal(stat(path, &st), 0);
        if (whole + more >= st.st_size) break;
        assert_int_equal(truncate(path, whole + more), 0);
        j = open_journal(1 << 20);
        assert_int_equal(journal_cut(j), more);
        assert_int_equal(take(j, 0, 1, 5, false), RECEIVER_DUPLICATE);
        assert_int_equal(commit(j), 0);
        assert_int_equal(told[0], 5);
        journal_close(j);
        check(0, 5);
        check(1, 5);
    }
    free(path);
}

// Damage in what was confirmed: the agent is asked again from there on, and what was behind it is not there twice.
static void test_damaged(void **state)
{
    struct stat before;
    (void)state;
    journal *j = open_journal(1 << 20);
    take(j, 0, 1, 5, true);
    commit(j);
    char *path = last_segment();
    assert_int_equal(stat(path, &before), 0);
    take(j, 0, 6, 5, false);
    take(j, 0, 11, 5, false);
    commit(j);
    journal_close(j);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    char byte;
    assert_int_equal(pread(fd, &byte, 1, before.st_size + 60), 1);
    byte = (char)(byte ^ 1);
    assert_int_equal(pwrite(fd, &byte, 1, before.st_size + 60), 1);
    close(fd);
    j = open_journal(1 << 20);
    assert_int_equal(take(j, 0, 16, 5, false), RECEIVER_AHEAD);
    commit(j);
    assert_int_equal(told[0], 5);
    for (uint64_t n = 6; n <= 20; n += 5)
        assert_int_equal(take(j, 0, n, 5, false), RECEIVER_STORE);
    commit(j);
    journal_close(j);
    assert_int_equal(check(0, 20), 4);
    free(path);
}

// Damage in an old segment, which nobody can send again: it costs what follows in that segment, and a gap says so.
static void test_damaged_long_ago(void **state)
{
    char byte, *why = NULL;
    (void)state;
    journal *j = open_journal(2000);
    for (uint64_t n = 1; n <= 200; n += 5) {
        take(j, 0, n, 5, n == 1);
        commit(j);
    }
    journal_close(j);
    char *path = journal_segment_path(directory(), 3);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_int_equal(pread(fd, &byte, 1, 300), 1); // in the first frame: a row of 25 bytes and two heads are before it
    byte = (char)(byte ^ 1);
    assert_int_equal(pwrite(fd, &byte, 1, 300), 1);
    close(fd);
    free(path);
    journal_index *x = journal_index_open(directory(), 0, INT64_MAX, &why);
    const journal_stream *s = journal_index_stream(x, 0);
    uint64_t next = 1, missing = 0;
    for (size_t k = 0; k < arrlenu(s->stretches); k++) {
        assert_int_equal(s->stretches[k].first, next);
        next = s->stretches[k].last + 1;
        if (!s->stretches[k].is_gap) continue;
        assert_int_equal(s->stretches[k].first_ns, s->stretches[k].first - 1); // the ticks around it
        assert_int_equal(s->stretches[k].last_ns, next);
        missing += s->stretches[k].last - s->stretches[k].first + 1;
        assert_int_equal(s->stretches[k].reason, SPOOL_DAMAGED);
    }
    assert_int_equal(next, 201);
    assert_true(missing >= 5 && missing <= 30);
    journal_index_close(x);
    j = open_journal(2000);
    assert_int_equal(take(j, 0, 201, 5, false), RECEIVER_STORE);
    journal_close(j);
}

// Turns one bit in the entry that is the n-th of its kind for this row.
static void damage(const char *path, unsigned kind, uint64_t row, unsigned nth)
{
    seglog_reader r;
    seglog_entry e;
    assert_int_equal(seglog_reader_open(&r, path), 0);
    while (seglog_reader_next(&r, &e) && !(e.kind == kind && e.number == row && !nth--))
        continue;
    assert_int_equal(e.kind, kind);
    off_t at = (off_t)(r.at - 1);
    seglog_reader_close(&r);
    char byte;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_int_equal(pread(fd, &byte, 1, at), 1);
    byte = (char)(byte ^ 1);
    assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    close(fd);
}

// All numbers up to `last` of the only stream of this node, in order: ticks, or gaps that are named damaged. Returns how many are
// in gaps.
static uint64_t missing_of(const char *node, uint64_t last)
{
    char *why = NULL;
    uint64_t next = 1, missing = 0;
    journal_index *x = journal_index_open(directory(), 0, INT64_MAX, &why);
    for (size_t i = 0; i < journal_index_count(x); i++) {
        const journal_stream *s = journal_index_stream(x, i);
        if (strcmp(s->node, node) != 0) continue;

        for (size_t k = 0; k < arrlenu(s->stretches); k++) {
            const journal_stretch *t = &s->stretches[k];
            frame f;
            assert_int_equal(t->first, next);
            next = t->last + 1;
            if (t->is_gap)
                missing += next - t->first;
            else
                assert_true(journal_index_frame(x, t, &f) && f.first == t->first);
            if (t->is_gap) assert_int_equal(t->reason, SPOOL_DAMAGED);
        }
    }
    journal_index_close(x);
    assert_int_equal(next - 1, last);
    return missing;
}

// The entry that says of which node a stream is: what follows it is there, and so are the streams that began behind it.
static void test_damaged_row(void **state)
{
    (void)state;
    for (int later = 0; later < 2; later++) { // another segment names it again, or there is none yet
        journal *j = open_journal(later ? 2000 : 1 << 20);
        says_told = true;
        memset(told, 0, sizeof told);
        take(j, 0, 1, 5, true);
        commit(j); // rows that are new to a segment are in it once
        for (uint64_t n = 1; n <= 50; n += 5) {
            for (int i = n == 1; i < 4; i++)
                assert_int_equal(take(j, i, n, 5, n == 1), RECEIVER_STORE);
            commit(j);
        }
        journal_close(j);
        char *path = journal_segment_path(directory(), 1);
        damage(path, JOURNAL_ROW, 1, 0);
        for (int i = 0; i < 4; i++)
            assert_int_equal(missing_of(i != 1 ? nodes[i] : later ? "b" : "unnamed-6262626262626262", 50), 0);
        damage(path, JOURNAL_FRAME, 1, 0); // and what came first
        for (int i = 0; i < 4; i++)
            assert_int_equal(missing_of(i != 1  ? nodes[i]
                                        : later ? "b"
                                                : "unnamed-6262626262626262",
                                        50),
                             5 * (i == 1));
        // Those behind it are known as before; its own agent is asked for what it has.
        j = open_journal(1 << 20);
        assert_int_equal(take(j, 3, 51, 5, false), RECEIVER_STORE);
        if (!later) assert_int_equal(take(j, 1, 51, 5, false), RECEIVER_AHEAD);
        commit(j);
        for (uint64_t n = later ? 51 : 1; n <= 55; n += 5)
            assert_int_equal(take(j, 1, n, 5, false), RECEIVER_STORE);
        commit(j);
        journal_close(j);
        assert_int_equal(missing_of("b", 55), later ? 5 : 0);
        assert_int_equal(missing_of("d", 55), 0);
        free(path);
        tree_remove(top);
        top = tree_make();
    }
}

// In the table of a segment that is the first there is.
static void test_damaged_table(void **state)
{
    journal_segment *all = NULL;
    (void)state;
    says_told = true;
    journal *j = open_journal(2000);
    for (uint64_t n = 1; n <= 50; n += 5) {
        for (int i = 0; i < 4; i++)
            take(j, i, n, 5, n == 1);
        commit(j);
    }
    journal_close(j);
    assert_int_equal(journal_segments_list(directory(), &all), 0);
    char *first = journal_segment_path(directory(), all[0].number),
         *second = journal_segment_path(directory(), all[1].number), *why = NULL;
    assert_int_equal(unlink(first), 0);
    damage(second, JOURNAL_ROW, 0, 0);
    journal_index *x = journal_index_open(directory(), 0, INT64_MAX, &why);
    assert_int_equal(journal_index_count(x), 4);
    for (size_t i = 0; i < 4; i++) {
        const journal_stream *s = journal_index_stream(x, i);
        assert_int_equal(s->stretches[0].first, journal_index_stream(x, 0)->stretches[0].first);
        assert_false(s->stretches[0].is_gap); // what was before is not lost: it was removed
        assert_int_equal(arrlast(s->stretches).last, 50);
        assert_int_equal(strlen(s->node), strlen(nodes[s->stream[0] - 'a']));
    }
    journal_index_close(x);
    arrfree(all);
    free(first);
    free(second);
}

// A gap reaches from the tick before it to the one behind it, wherever a session begins or ends in it.
static void test_times_of_a_gap(void **state)
{
    static const int64_t ranges[][2] = {{0, 7}, {8, 9}, {8, 20}, {0, 20}};
    (void)state;
    journal *j = open_journal(1 << 20);
    take(j, 0, 1, 5, true);
    assert_int_equal(take_gap(j, 0, 6, 5, 11), RECEIVER_STORE);
    take(j, 0, 11, 5, false);
    commit(j);
    journal_close(j);
    for (size_t i = 0; i < COUNT(ranges); i++) {
        char *why = NULL;
        unsigned gaps = 0;
        journal_index *x = journal_index_open(directory(), ranges[i][0], ranges[i][1], &why);
        const journal_stream *s = journal_index_stream(x, 0);
        for (size_t k = 0; k < arrlenu(s->stretches); k++) {
            if (!s->stretches[k].is_gap) continue;
            gaps++;
            assert_int_equal(s->stretches[k].first_ns, 5);
            assert_int_equal(s->stretches[k].last_ns, 11);
        }
        assert_int_equal(gaps, 1);
        journal_index_close(x);
    }
}

// A kill in the middle of a segment's table: what comes after can be read without the segments before.
static void test_torn_table(void **state)
{
    journal_segment *all = NULL;
    char *why = NULL;
    uint64_t first = 0;
    (void)state;
    journal *j = open_journal(3000);
    for (uint64_t n = 1; n <= 100; n += 5) {
        for (int i = 0; i < 4; i++)
            take(j, i, n, 5, n == 1);
        commit(j);
    }
    journal_close(j);
    char *path = last_segment();
    assert_int_equal(truncate(path, SEGLOG_HEADER + SEGLOG_HEAD + 25 + 20), 0); // one row and a bit
    assert_int_equal(journal_segments_list(directory(), &all), 0);
    j = open_journal(1 << 20);
    for (uint64_t n = 1; n <= 200; n += 5) {
        for (int i = 0; i < 4; i++)
            take(j, i, n, 5, false); // many are there already
        commit(j);
    }
    journal_close(j);
    for (size_t i = 0; i + 1 < arrlenu(all); i++) {
        char *gone = journal_segment_path(directory(), all[i].number);
        assert_int_equal(unlink(gone), 0);
        free(gone);
    }
    journal_index *x = journal_index_open(directory(), 0, INT64_MAX, &why);
    assert_int_equal(journal_index_count(x), 4);
    for (size_t i = 0; i < 4; i++) {
        const journal_stream *s = journal_index_stream(x, i);
        if (!first) first = s->stretches[0].first;
        assert_int_equal(s->stretches[0].first, first);
        assert_int_equal(arrlast(s->stretches).last, 200);
    }
    assert_true(first > 50 && first <= 101);
    journal_index_close(x);
    arrfree(all);
    free(path);
}

// What cannot be opened is no reason to leave it out in silence.
static void test_too_many_files(void **state)
{
    struct rlimit limit, old;
    char *why = NULL;
    (void)state;
    journal *j = open_journal(100);
    for (uint64_t n = 1; n <= 100; n += 5) {
        take(j, 0, n, 5, n == 1);
        commit(j);
    }
    journal_close(j);
    int free_one = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_true(free_one >= 0);
    close(free_one);
    getrlimit(RLIMIT_NOFILE, &old);
    limit = old;
    limit.rlim_cur = (rlim_t)free_one + 5;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    journal_index *x = journal_index_open(directory(), 0, INT64_MAX, &why);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    assert_null(x);
    assert_non_null(strstr(why, strerror(EMFILE)));
    free(why);
    check(0, 100);
}

static void ignore_snapshot(void *user, const netprof_snapshot *s)
{
    (void)user;
    (void)s;
}

// Ticks that are no part of a recording: all of them count as unread.
static void test_unread(void **state)
{
    const journal_visitor v = {.snapshot = ignore_snapshot};
    char *why = NULL;
    (void)state;
    journal *j = open_journal(1 << 20);
    for (uint64_t n = 1; n <= 50; n += 5)
        take(j, 0, n, 5, n == 1);
    commit(j);
    journal_close(j);
    journal_index *x = journal_index_open(directory(), 0, INT64_MAX, &why);
    assert_int_equal(journal_snapshots_visit(x, 0, 0, INT64_MAX, &v), 50);
    journal_index_close(x);
}

// The file of preambles with a damaged header is kept for who can mend it, and agents are asked for theirs.
static void test_damaged_preambles(void **state)
{
    struct stat before, after;
    char path[700];
    (void)state;
    journal *j = open_journal(1 << 20);
    take(j, 0, 1, 5, true);
    commit(j);
    journal_close(j);
    snprintf(path, sizeof path, "%s/preambles", directory());
    assert_int_equal(stat(path, &before), 0);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_int_equal(pwrite(fd, "x", 1, 20), 1);
    close(fd);
    j = open_journal(1 << 20);
    assert_int_equal(take(j, 1, 1, 5, false), RECEIVER_PREAMBLE);
    journal_close(j);
    snprintf(path, sizeof path, "%s/preambles.damaged", directory());
    assert_int_equal(stat(path, &after), 0);
    assert_int_equal(after.st_size, before.st_size);
}

static void shrink(journal *j, uint64_t most)
{
    uint64_t *surplus = NULL;
    journal_surplus(j, most, &surplus);
    for (size_t i = 0; i < arrlenu(surplus); i++)
        assert_true(journal_drop(j, surplus[i]));
    assert_true(!surplus || !journal_drop(j, surplus[0])); // it is gone
    arrfree(surplus);
}

static off_t preambles_size(void)
{
    struct stat st;
    char path[700];
    snprintf(path, sizeof path, "%s/preambles", directory());
    assert_int_equal(stat(path, &st), 0);
    return st.st_size;
}

// Agents begin with other preambles all the time: those that no segment needs are dropped, those that one does are not, and
// what was dropped is asked for again.
static void test_drops_preambles(void **state)
{
    off_t most = 0;
    (void)state;
    journal *j = open_journal(2000);
    take(j, 1, 1, 5, true);
    for (unsigned i = 0; i < 400; i++) {
        frame_buffer b = {0};
        receiver_verdict v;
        char preamble[100];
        unsigned char data[8];
        memset(preamble, 'p', sizeof preamble);
        little_put((unsigned char *)preamble, i, 4);
        frame f = {
            .first = i + 1, .count = 1, .high = i + 1, .preamble = (unsigned char *)preamble, .preamble_size = 100};
        memset(f.stream, 'a', sizeof f.stream);
        sha256(f.hash, preamble, sizeof preamble);
        little_put(data, f.first, 8);
        frame_begin(&b, &f);
        frame_add(&b, &(spool_tick){.is_key = true, .wall_ns = (int64_t)f.first, .data = data, .size = sizeof data});
        frame_end(&b, &f);
        assert_true(frame_parse(&f, b.data, b.size));
        assert_true(journal_take(j, "a", &f, 1, &v));
        assert_int_equal(v, RECEIVER_STORE);
        if (i == 390) assert_int_equal(take(j, 1, 6, 5, false), RECEIVER_PREAMBLE);
        if (i == 390) assert_int_equal(take(j, 1, 6, 5, true), RECEIVER_STORE);
        assert_int_equal(commit(j), 0);
        shrink(j, 10000);
        if (preambles_size() > most) most = preambles_size();
        frame_buffer_free(&b);
    }
    assert_in_range(most, 10000 / 300 * 140, 30000); // all would be 400 x 168
    assert_int_equal(take(j, 1, 11, 5, false), RECEIVER_STORE);
    commit(j);
    journal_close(j);
    char *why = NULL;
    journal_index *x = journal_index_open(directory(), 0, INT64_MAX, &why);
    for (size_t i = 0; i < journal_index_count(x); i++) {
        const journal_stream *s = journal_index_stream(x, i);
        for (size_t k = 0; k < arrlenu(s->stretches); k++) {
            frame f;
            size_t size;
            assert_true(journal_index_frame(x, &s->stretches[k], &f));
            assert_non_null(journal_index_preamble(x, f.hash, &size));
        }
    }
    journal_index_close(x);
}

// A disk that takes nothing for a while: nothing is confirmed, nothing is lost, and more than a bound is not taken.
static void test_full_disk(void **state)
{
    struct rlimit limit, old;
    uint64_t n = 1;
    frame_buffer b = {0};
    (void)state;
    journal *j = open_journal(1 << 30);
    take(j, 0, n, 5, true);
    commit(j);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    limit = old;
    limit.rlim_cur = 700;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    for (n = 6; journal_waiting(j) < (1 << 20) - 1000; n += 5) {
        assert_int_equal(take(j, 0, n, 5, false), RECEIVER_STORE);
        if (n % 100 == 1) assert_int_not_equal(commit(j), 0);
    }
    assert_int_equal(told[0], 5);
    receiver_verdict v;
    unsigned char *large = calloc(1, 2000);
    frame f = {.first = n, .count = 1, .body = large, .body_size = 2000};
    assert_false(journal_take(j, nodes[0], &f, 1, &v)); // not looked at: the agent keeps it
    free(large);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(commit(j), 0);
    assert_int_equal(commit(j), 0);
    assert_int_equal(told[0], n - 1);
    journal_close(j);
    check(0, n - 1);
    frame_buffer_free(&b);
}

// What frames build on is in one place, however many nodes send it, and counts as what waits.
static void test_preamble_is_kept_once(void **state)
{
    enum { SIZE = 50000, NODES = 3 };
    unsigned char *preamble = calloc(1, SIZE);
    char *why = NULL;
    (void)state;
    journal *j = open_journal(1 << 20);
    for (unsigned i = 0; i < NODES; i++) {
        frame_buffer b = {0};
        receiver_verdict v;
        frame f = {.first = 1, .count = 1, .high = 1, .preamble = preamble, .preamble_size = SIZE};
        f.first_ns = f.last_ns = 7;
        f.stream[0] = (unsigned char)(i + 1);
        sha256(f.hash, preamble, SIZE);
        frame_begin(&b, &f);
        frame_add(&b, &(spool_tick){.is_key = true, .wall_ns = 7, .data = (const unsigned char *)"tick", .size = 4});
        frame_end(&b, &f);
        assert_true(frame_parse(&f, b.data, b.size));
        assert_true(journal_take(j, "a", &f, 1, &v));
        assert_int_equal(v, RECEIVER_STORE);
        frame_buffer_free(&b);
    }
    assert_in_range(journal_waiting(j), SIZE, SIZE + 2000);
    commit(j);
    assert_int_equal(journal_waiting(j), 0);
    assert_in_range(journal_bytes(j), NODES * (FRAME_HEAD + FRAME_TICK + 4), 2000);
    assert_in_range(preambles_size(), SIZE, SIZE + 500);
    journal_close(j);
    journal_index *x = journal_index_open(directory(), 0, INT64_MAX, &why);
    assert_non_null(x);
    assert_int_equal(journal_index_count(x), NODES);
    for (size_t i = 0; i < NODES; i++) {
        const journal_stream *s = journal_index_stream(x, i);
        frame f;
        spool_tick t;
        size_t size, at = 0;
        assert_int_equal(arrlenu(s->stretches), 1);
        assert_true(journal_index_frame(x, &s->stretches[0], &f));
        assert_int_equal(f.preamble_size, 0);
        assert_true(frame_next(&f, &at, &t));
        assert_memory_equal(t.data, "tick", 4);
        const unsigned char *kept = journal_index_preamble(x, f.hash, &size);
        assert_int_equal(size, SIZE);
        assert_memory_equal(kept, preamble, SIZE);
    }
    journal_index_close(x);
    free(preamble);
}

// A head that was killed may hold its lock for a moment still.
static void test_waits_for_the_lock(void **state)
{
    char path[700], byte = 0;
    int ready[2];
    (void)state;
    journal_close(open_journal(1 << 20));
    snprintf(path, sizeof path, "%s/lock", directory());
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        int fd = open(path, O_RDWR | O_CLOEXEC);
        if (flock(fd, LOCK_EX) || write(ready[1], &byte, 1) != 1) _exit(1);
        usleep(100000);
        _exit(0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    journal_close(open_journal(1 << 20));
    assert_int_equal(waitpid(child, NULL, 0), child);
    close(ready[0]);
    close(ready[1]);
}

// Only one head writes, and a node may not invent streams without end.
static void test_bounds(void **state)
{
    char *why = NULL;
    const journal_options o = {
        .directory = directory(), .segment_bytes = 1 << 20, .waiting_bytes = 1 << 20, .credit = 4};
    unsigned taken = 0;
    (void)state;
    journal *j = open_journal(1 << 20);
    assert_null(journal_open(&o, &why));
    assert_non_null(strstr(why, "another head"));
    free(why);
    for (unsigned i = 0; i < 200; i++) {
        frame f = {.first = 1, .count = 1, .is_gap = true};
        receiver_verdict v;
        little_put(f.stream, i, 4);
        taken += journal_take(j, "a", &f, 1, &v);
    }
    assert_int_equal(taken, 64);
    journal_close(j);
}

// A tick of one of node a's many streams. False: the node has too many of them.
static bool take_stream(journal *j, unsigned stream, uint64_t number, uint64_t base, int64_t wall_ns, bool preamble)
{
    frame_buffer b = {0};
    receiver_verdict v = RECEIVER_VERDICTS;
    unsigned char data[8];
    frame f = {.first = number,
               .count = 1,
               .base = base,
               .head = base ? journal_head(j)->id : 0,
               .epoch = base ? journal_head(j)->epoch : 0,
               .high = number,
               .first_ns = (int64_t)number,
               .last_ns = (int64_t)number};
    little_put(f.stream, stream, 4);
    sha256(f.hash, "a", 1);
    if (preamble) {
        f.preamble = (const unsigned char *)"a";
        f.preamble_size = 1;
    }
    little_put(data, number, 8);
    frame_begin(&b, &f);
    frame_add(&b, &(spool_tick){.is_key = true, .wall_ns = (int64_t)number, .data = data, .size = sizeof data});
    frame_end(&b, &f);
    assert_true(frame_parse(&f, b.data, b.size));
    bool looked_at = journal_take(j, "a", &f, wall_ns, &v);
    if (looked_at) assert_int_equal(v, RECEIVER_STORE);
    frame_buffer_free(&b);
    return looked_at;
}

// The numbers of node a's stream that the journal has are 1 to `last`, each once.
static void check_stream(unsigned stream, uint64_t last)
{
    char *why = NULL;
    journal_index *x = journal_index_open(directory(), 0, INT64_MAX, &why);
    unsigned seen = 0;
    for (size_t i = 0; i < journal_index_count(x); i++) {
        const journal_stream *s = journal_index_stream(x, i);
        if (little_get(s->stream, 4) != stream) continue;
        seen++;
        assert_string_equal(s->node, "a");
        assert_int_equal(arrlenu(s->stretches), last);
        for (uint64_t n = 1; n <= last; n++) {
            frame f;
            assert_true(journal_index_frame(x, &s->stretches[n - 1], &f));
            assert_int_equal(f.first, n);
            assert_int_equal(little_get(f.stream, 4), stream);
        }
    }
    assert_int_equal(seen, 1);
    journal_index_close(x);
}

// A node without a disk begins a stream with each start. The one that was silent longest makes room for a new one, what it sent
// stays, and should it come back it goes on where it was; also over a restart, and a segment whose rows are others by then.
static void test_forgets(void **state)
{
    static const int64_t minute_ns = 60000000000;
    (void)state;
    for (unsigned restart = 0; restart < 2; restart++) {
        int64_t now = minute_ns;
        journal *j = open_journal(restart ? 2000 : 1 << 20);
        for (unsigned i = 0; i < 64; i++, now += minute_ns)
            assert_true(take_stream(j, i, 1, 0, now, i == 0));
        assert_int_equal(commit(j), 0);
        // the last 60 were heard from within the hour, and so was the fifth
        assert_true(take_stream(j, 0, 2, 1, now, false));
        assert_int_equal(commit(j), 0);
        for (unsigned i = 64; i < 67; i++)
            assert_true(take_stream(j, i, 1, 0, now, false));
        assert_false(take_stream(j, 67, 1, 0, now, false));
        assert_int_equal(commit(j), 0);
        if (restart) {
            journal_close(j);
            j = open_journal(2000);
        } else {
            assert_true(
                take_stream(j, 1, 2, 1, now + 2 * minute_ns, false)); // forgotten, and back: in place of stream 4
        }
        assert_true(take_stream(j, 0, 3, 2, now + 2 * minute_ns, false));
        assert_true(take_stream(j, 65, 2, 1, now + 2 * minute_ns, false));
        assert_int_equal(commit(j), 0);
        assert_int_equal(journal_row_count(j), 64);
        journal_close(j);
        check_stream(0, 3);
        check_stream(1, restart ? 1 : 2);
        check_stream(4, 1);
        check_stream(65, 2);
        tree_remove(top);
        top = tree_make();
    }
}

// What is no more is counted over the head's restarts, and once, wherever the kill came.
static void test_counts_what_is_missing(void **state)
{
    (void)state;
    journal *j = open_journal(600);
    take(j, 0, 1, 5, true);
    assert_int_equal(take_gap(j, 0, 6, 5, 11), RECEIVER_STORE);
    commit(j);
    uint64_t number = 11;
    for (unsigned restart = 0; restart < 6; restart++) {
        assert_int_equal(journal_row_at(j, 0)->missing[SPOOL_OVERWRITTEN], 5 + 7 * restart);
        assert_int_equal(journal_row_at(j, 0)->since_ns, 1);
        assert_int_equal(take(j, 0, number, 5, false), RECEIVER_STORE);
        commit(j);
        assert_int_equal(take_gap(j, 0, number + 5, 7, (int64_t)number + 12), RECEIVER_STORE);
        commit(j);
        number += 12;
        journal_close(j);
        j = open_journal(600);
    }
    // a gap that is in the table of a segment and, torn off, is sent again
    journal_close(j);
    j = open_journal(1);
    uint64_t before = journal_row_at(j, 0)->missing[SPOOL_OVERWRITTEN];
    take(j, 0, number, 5, false);
    assert_int_equal(take_gap(j, 0, number + 5, 3, (int64_t)number + 8), RECEIVER_STORE);
    commit(j);
    journal_close(j);
    char *path = last_segment();
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(truncate(path, st.st_size - 20), 0);
    free(path);
    j = open_journal(1 << 20);
    assert_int_equal(take_gap(j, 0, number + 5, 3, (int64_t)number + 8), RECEIVER_STORE);
    commit(j);
    assert_int_equal(journal_row_at(j, 0)->missing[SPOOL_OVERWRITTEN], before + 3);
    journal_close(j);
}

// A journal of a head that did not count over its runs: it is read, and counting begins with what is in it.
static void test_older_journal(void **state)
{
    seglog_header header = {.first = 1};
    seglog log;
    unsigned char row[25] = {0};
    frame_buffer b = {0};
    (void)state;
    journal_close(open_journal(1 << 20));
    char *path = journal_segment_path(directory(), 1);
    assert_int_equal(seglog_create(&log, path, &header), 0);
    memset(row, 'a', 16);
    row[24] = 'a';
    assert_int_equal(seglog_append(&log, &(seglog_entry){.kind = JOURNAL_ROW, .size = sizeof row, .data = row}), 0);
    frame f = {.first = 1, .count = 9, .is_gap = true, .reason = SPOOL_OVERWRITTEN};
    memset(f.stream, 'a', sizeof f.stream);
    frame_begin(&b, &f);
    frame_end(&b, &f);
    const seglog_entry e = {.kind = JOURNAL_FRAME, .size = (uint32_t)b.size, .data = b.data, .time_ns = 77};
    assert_int_equal(seglog_append(&log, &e), 0);
    seglog_close(&log);
    journal *j = open_journal(1 << 20);
    assert_int_equal(journal_row_at(j, 0)->missing[SPOOL_OVERWRITTEN], 9);
    assert_int_equal(journal_row_at(j, 0)->since_ns, 77);
    assert_int_equal(take(j, 0, 10, 5, true), RECEIVER_STORE);
    assert_int_equal(commit(j), 0);
    journal_close(j);
    j = open_journal(1 << 20);
    assert_int_equal(journal_row_at(j, 0)->r.durable, 14);
    assert_int_equal(journal_row_at(j, 0)->missing[SPOOL_OVERWRITTEN], 9);
    journal_close(j);
    frame_buffer_free(&b);
    free(path);
}

static uint32_t merge_random(void)
{
    static uint32_t x = 1;
    x = x * 1664525 + 1013904223;
    return x >> 8;
}

enum { MERGED = 200 };

// Stretches of a head: what it has is 1, a gap that it knows 2, what another has 3, what it does not know of 0.
static journal_stretch *merge_make(unsigned char has[MERGED + 1])
{
    journal_stretch *all = NULL;
    uint64_t number = 1 + merge_random() % 50;
    memset(has, 0, MERGED + 1);
    while (number <= MERGED - 20) {
        journal_stretch s = {.first = number, .last = number + merge_random() % 19};
        unsigned kind = merge_random() % 5;
        s.is_gap = kind >= 3;
        s.reason = kind == 3 ? SPOOL_OVERWRITTEN : kind == 4 ? SPOOL_ELSEWHERE : 0;
        s.first_ns = (int64_t)s.first * 10;
        s.last_ns = (int64_t)s.last * 10;
        memset(has + s.first, kind < 3 ? 1 : (int)kind - 1, s.last - s.first + 1);
        arrput(all, s);
        number = s.last + 1;
    }
    return all;
}

// Whatever two heads have: each number that one of them has is there once, in order, and every other one is in a gap.
static void test_merge(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 2000; round++) {
        unsigned char x[MERGED + 1], y[MERGED + 1];
        journal_stretch *a = merge_make(x), *b = merge_make(y), *both = journal_merge(a, b);
        uint64_t number = a[0].first < b[0].first ? a[0].first : b[0].first;
        for (size_t i = 0; i < arrlenu(both); i++) {
            assert_int_equal(both[i].first, number);
            assert_true(both[i].last >= number);
            for (; number <= both[i].last; number++) {
                bool tick = x[number] == 1 || y[number] == 1, known = x[number] == 2 || y[number] == 2;
                assert_int_equal(both[i].is_gap, !tick);
                if (!tick) assert_int_equal(both[i].reason, known ? SPOOL_OVERWRITTEN : SPOOL_ELSEWHERE);
            }
            if (i && i + 1 < arrlenu(both) && both[i].is_gap && !both[i - 1].is_gap && !both[i + 1].is_gap)
                assert_true(both[i].first_ns == both[i - 1].last_ns && both[i].last_ns == both[i + 1].first_ns);
        }
        assert_int_equal(number - 1, arrlast(a).last > arrlast(b).last ? arrlast(a).last : arrlast(b).last);
        arrfree(a);
        arrfree(b);
        arrfree(both);
    }
}

static journal *open_other(void)
{
    char *why = NULL, path[600];
    snprintf(path, sizeof path, "%s/other", top);
    journal *j = journal_open(
        &(journal_options){.directory = path, .segment_bytes = 1 << 20, .waiting_bytes = 1 << 20, .credit = 4}, &why);
    if (!j) fail_msg("%s", why);
    return j;
}

// Ticks of node a, of which a head has confirmed those up to `base`.
static receiver_verdict take_on(journal *j, uint64_t first, uint32_t count, uint64_t base, uint64_t head)
{
    frame_buffer b = {0};
    receiver_verdict v = RECEIVER_VERDICTS;
    frame f = {.first = first,
               .count = count,
               .base = base,
               .head = head,
               .high = 1000,
               .first_ns = (int64_t)first,
               .last_ns = (int64_t)first + count - 1,
               .preamble = (const unsigned char *)"a",
               .preamble_size = 1};
    memset(f.stream, 'a', sizeof f.stream);
    sha256(f.hash, "a", 1);
    frame_begin(&b, &f);
    for (uint32_t i = 0; i < count; i++) {
        unsigned char data[8];
        little_put(data, first + i, 8);
        frame_add(&b, &(spool_tick){.is_key = i == 0, .wall_ns = (int64_t)(first + i), .data = data, .size = 8});
    }
    frame_end(&b, &f);
    assert_true(frame_parse(&f, b.data, b.size));
    assert_true(journal_take(j, "a", &f, 1, &v));
    commit(j);
    frame_buffer_free(&b);
    return v;
}

// A second head takes over and the first comes back: both journals together have each tick once.
static void test_two_heads(void **state)
{
    char *why = NULL, path[600];
    uint64_t next = 1;
    (void)state;
    journal *j = open_journal(1 << 20), *other = open_other();
    uint64_t one = journal_head(j)->id, two = journal_head(other)->id;
    assert_int_equal(take_on(j, 1, 50, 0, 0), RECEIVER_STORE);
    assert_int_equal(take_on(other, 51, 25, 50, one), RECEIVER_STORE);
    assert_int_equal(take_on(other, 76, 8, 75, two),
                     RECEIVER_STORE); // its word for the last three did not come through
    assert_int_equal(take_on(j, 81, 20, 80, two), RECEIVER_STORE);
    journal_close(j);
    journal_close(other);
    snprintf(path, sizeof path, "%s/other", top);
    const char *const heads[] = {directory(), path};
    for (unsigned turn = 0; turn < 2; turn++, next = 1) {
        const char *const turned[] = {heads[turn], heads[1 - turn]};
        journal_index *x = journal_index_open_all(turned, 2, 0, INT64_MAX, &why);
        assert_non_null(x);
        assert_int_equal(journal_index_count(x), 1);
        const journal_stream *s = journal_index_stream(x, 0);
        for (size_t k = 0; k < arrlenu(s->stretches); k++) {
            frame f;
            spool_tick t;
            size_t size;
            assert_false(s->stretches[k].is_gap);
            assert_int_equal(s->stretches[k].first, next);
            assert_true(journal_index_frame(x, &s->stretches[k], &f));
            assert_non_null(journal_index_preamble(x, f.hash, &size));
            uint64_t number = f.first;
            for (size_t at = 0; frame_next(&f, &at, &t); number++) {
                if (number < s->stretches[k].first || number > s->stretches[k].last) continue;
                assert_int_equal(number, next++);
                assert_int_equal(little_get(t.data, 8), number);
            }
        }
        assert_int_equal(next, 101);
        // Not a recording, and so unread, but each counts once.
        const journal_visitor v = {.snapshot = ignore_snapshot};
        assert_int_equal(journal_snapshots_visit(x, 0, 0, INT64_MAX, &v), 100);
        journal_index_close(x);
    }
}

// One frame of an epoch that no clock can have ends no head; one of a head that was started later does.
static void test_epochs(void **state)
{
    static const int64_t now_ns = 1800000000000000000;
    static const struct {
        uint64_t epoch;
        receiver_verdict verdict;
    } cases[] = {{UINT64_MAX, RECEIVER_IMPOSSIBLE},
                 {(uint64_t)1 << 63, RECEIVER_IMPOSSIBLE},
                 {1800000000000000000u + 40 * 86400000000000u, RECEIVER_IMPOSSIBLE},
                 {1800000000000000000u + 3600000000000u, RECEIVER_SUPERSEDED},
                 {2, RECEIVER_SUPERSEDED}};
    (void)state;
    journal *j = open_journal(1 << 20); // its epoch is 1: it had no clock
    for (size_t i = 0; i < COUNT(cases); i++) {
        frame f = {.first = 1, .count = 1, .is_gap = true, .epoch = cases[i].epoch};
        receiver_verdict v = RECEIVER_VERDICTS;
        assert_false(journal_take(j, "a", &f, now_ns, &v));
        assert_int_equal(v, cases[i].verdict);
    }
    assert_int_equal(journal_row_count(j), 0);
    journal_close(j);
    // It is started again, to take over from that one, whose clock is an hour ahead.
    j = open_journal(1 << 20);
    assert_int_equal(journal_head(j)->epoch, 1800000000000000000u + 3600000000000u + 1);
    journal_close(j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_confirms_what_is_written, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_goes_on, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_segments, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_writes_apart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_torn, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_torn_table, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_times_of_a_gap, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_too_many_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_unread, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_damaged_preambles, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_drops_preambles, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_damaged, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_damaged_long_ago, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_waits_for_the_lock, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_preamble_is_kept_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_damaged_row, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_damaged_table, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_full_disk, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bounds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_forgets, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_counts_what_is_missing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_older_journal, set_up, tear_down),
        cmocka_unit_test(test_merge),
        cmocka_unit_test_setup_teardown(test_two_heads, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_epochs, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

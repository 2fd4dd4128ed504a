// A head's directory: segments made of the input's entries, as a head writes them but in any order, with planted damage; and
// files of sessions. Whatever is there, an index has every number of a stream once, in order, each with a reason or a frame
// that can be read; who follows the journal is told of frames that are whole; a session that is read is written the same.
#define _GNU_SOURCE
#include "live/journal/journal_index.h"
#include "live/journal/journal_tail.h"
#include "live/journal/sessions.h"
#include "live/spool/little.h"
#include "live/spool/seglog.h"
#include "analysis/base/stb_ds.h"
#include "expect.h"
#include "input.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SEGMENTS = 3, ROOM = 1 << 16 };

static const char *const nodes[] = {"a", "b.example", "a"};
static char directory[64];
static struct segment {
    seglog log;
    unsigned char bytes[ROOM];
    size_t size;
} segments[SEGMENTS];

static void tidy(void)
{
    char *path;
    for (uint64_t i = 1; i <= SEGMENTS; i++) {
        path = journal_segment_path(directory, i);
        unlink(path);
        free(path);
    }
    expect(asprintf(&path, "%s/journal", directory) > 0);
    rmdir(path);
    free(path);
    rmdir(directory);
}

// The files stay open, and their salts the same: both are made once.
static void start(void)
{
    char *path;
    if (*directory) return;
    snprintf(directory, sizeof directory, "%s/netprof-fuzz-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    expect(mkdtemp(directory) != NULL);
    atexit(tidy);
    expect(asprintf(&path, "%s/journal", directory) > 0 && mkdir(path, 0700) == 0);
    free(path);
    for (uint64_t i = 0; i < SEGMENTS; i++) {
        seglog_header h = {.first = i + 1, .owner = {1}};
        path = journal_segment_path(directory, i + 1);
        expect(seglog_create(&segments[i].log, path, &h) == 0);
        expect(pread(segments[i].log.fd, segments[i].bytes, SEGLOG_HEADER, 0) == SEGLOG_HEADER);
        free(path);
    }
}

static void put(struct segment *to, uint16_t kind, uint64_t row, const void *data, size_t size)
{
    const seglog_entry e = {.kind = kind, .number = row, .size = (uint32_t)size, .data = data};
    if (to->size + SEGLOG_HEAD + size > ROOM) return;
    seglog_head(&to->log, to->bytes + to->size, &e);
    memcpy(to->bytes + to->size + SEGLOG_HEAD, data, size);
    to->size += SEGLOG_HEAD + size;
}

static void put_row(struct segment *to, input *in, unsigned row, unsigned stream)
{
    unsigned char data[24 + FRAME_NODE_MOST] = {0};
    const char *node = nodes[input_take(in, 1) % 3];
    memset(data, 'a' + (int)stream, 16);
    little_put(data + 16, input_take(in, 1), 8);
    memcpy(data + 24, node, strlen(node));
    put(to, JOURNAL_ROW, row, data, 24 + strlen(node));
}

static void put_frame(struct segment *to, input *in, unsigned row, unsigned stream, bool is_gap)
{
    frame_buffer b = {0};
    unsigned keys = (unsigned)input_take(in, 1);
    frame f = {.first = 1 + input_take(in, 1), .count = 1 + keys % 4, .base = input_take(in, 1), .high = UINT64_MAX};
    f.is_gap = is_gap;
    f.reason = is_gap ? keys >> 4 : 0;
    f.head = keys & 128 ? 1 : 2;
    f.first_ns = (int64_t)f.first * 10;
    f.last_ns = f.first_ns + 10 * (f.count - 1);
    memset(f.stream, 'a' + (int)stream, sizeof f.stream);
    frame_begin(&b, &f);
    for (uint32_t i = 0; i < f.count && !is_gap; i++)
        frame_add(&b, &(spool_tick){.is_key = keys >> (i + 2) & 1,
                                    .wall_ns = f.first_ns + 10 * i,
                                    .data = (const unsigned char *)"tick",
                                    .size = 4});
    frame_end(&b, &f);
    put(to, JOURNAL_FRAME, row, b.data, b.size);
    frame_buffer_free(&b);
}

static void make(input *in)
{
    struct segment *to = segments;
    for (int i = 0; i < SEGMENTS; i++)
        segments[i].size = SEGLOG_HEADER;
    while (in->size > 2) {
        unsigned what = (unsigned)input_take(in, 1), row = what >> 3 & 3, stream = what >> 5 & 1;
        unsigned char pair[16] = {0};
        switch (what & 7) {
        case 0: put_row(to, in, row, stream); break;
        case 1: put_frame(to, in, row, stream, true); break;
        case 2:
            little_put(pair, input_take(in, 1), 8);
            little_put(pair + 8, little_get(pair, 8) + input_take(in, 1), 8);
            put(to, JOURNAL_ELSEWHERE, row, pair, sizeof pair);
            break;
        case 3:
            if (to < segments + SEGMENTS - 1) to++;
            break;
        case 4: { // damage in what is there
            size_t at = input_take(in, 2);
            if (at >= SEGLOG_HEADER && at < to->size) to->bytes[at] ^= (unsigned char)(1 + row);
            break;
        }
        default: put_frame(to, in, row, stream, false);
        }
    }
    for (int i = 0; i < SEGMENTS; i++) {
        expect(ftruncate(segments[i].log.fd, 0) == 0);
        expect(pwrite(segments[i].log.fd, segments[i].bytes, segments[i].size, 0) == (ssize_t)segments[i].size);
    }
}

static void check_stream(journal_index *x, const journal_stream *s)
{
    uint64_t next = 0;
    expect(s->node && *s->node);
    for (size_t i = 0; i < arrlenu(s->stretches); i++) {
        const journal_stretch *t = &s->stretches[i];
        frame f;
        expect(t->first >= next && t->last >= t->first && (next == 0 || t->first == next));
        next = t->last + 1;
        if (t->is_gap) continue;
        expect(journal_index_frame(x, t, &f));
        expect(memcmp(f.stream, s->stream, sizeof f.stream) == 0 && f.first <= t->first && t->last <= frame_last(&f));
    }
}

static void check_index(uint8_t choice)
{
    const char *const both[] = {directory, directory};
    char *why = NULL;
    journal_index *x = journal_index_open_all(both, 1 + (choice & 1), choice & 2 ? 300 : 0, INT64_MAX, &why);
    expect(x != NULL);
    for (size_t i = 0; i < journal_index_count(x); i++)
        check_stream(x, journal_index_stream(x, i));
    journal_index_close(x);
}

static void follow(void *user, const char *node, int64_t came_ns, const frame *f, const unsigned char *preamble,
                   size_t size)
{
    spool_tick t;
    uint32_t count = 0;
    (void)came_ns;
    (void)preamble;
    ++*(size_t *)user;
    expect(node && *node && size == 0);
    for (size_t at = 0; !f->is_gap && frame_next(f, &at, &t); count++)
        expect(t.size == 4);
    expect(f->is_gap || count == f->count);
}

static void check_tail(void)
{
    size_t told = 0, taken = 0, n;
    journal_tail *t = journal_tail_open(directory, 0);
    while ((n = journal_tail_look(t, 3, follow, &told)) > 0)
        taken += n;
    expect(told == taken);
    journal_tail_close(t);
}

static bool same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static void check_session(const uint8_t *data, size_t size)
{
    session s, again;
    char *text = malloc(size + 1); // exactly as large: nothing behind it may be read
    expect(text != NULL);
    if (size) memcpy(text, data, size);
    text[size] = 0;
    if (session_parse("n", text, size, &s) == 0) {
        char *written = session_file_text(&s);
        expect(s.start_ns > 0 && s.stop_ns >= 0 && s.interval_ns >= 0 && strcmp(s.name, "n") == 0);
        expect(session_parse("n", written, strlen(written), &again) == 0);
        expect(again.start_ns == s.start_ns && again.stop_ns == s.stop_ns && again.interval_ns == s.interval_ns);
        expect(again.fast == s.fast && same(again.nodes, s.nodes) && same(again.sources, s.sources));
        expect(same(again.include, s.include) && same(again.exclude, s.exclude));
        session_free(&again);
        session_free(&s);
        free(written);
    }
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > 1024) return 0;
    if (data[0] == '{') {
        check_session(data, size);
        return 0;
    }
    input in = {data + 1, size - 1};
    start();
    make(&in);
    check_index(data[0]);
    check_tail();
    return 0;
}

#define _GNU_SOURCE
#include "journal_tail.h"

#include "live/spool/seglog.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct tail_preamble {
    struct tail_hash {
        unsigned char bytes[SHA256_BYTES];
    } key;
    uint64_t value; // where it is in the file of preambles: of thousands of nodes they are too many to keep
} tail_preamble;

typedef struct tail_bytes {
    const unsigned char *data;
    size_t size;
} tail_bytes;

struct journal_tail {
    char *directory;
    int64_t from_ns;
    uint64_t number;                      // of the segment that is read; 0: none yet
    seglog_reader segment, known, chosen; // chosen: of the file of preambles, at the one that was needed last
    bool reading, has_known;
    tail_bytes held; // the one that was needed last, in the memory of `chosen`
    struct tail_hash held_key;
    dev_t device; // of the file of preambles, which a head may write anew
    ino_t inode;
    tail_preamble *preambles;
    char **rows; // the node of each row; stb_ds
};

journal_tail *journal_tail_open(const char *directory, int64_t from_ns)
{
    journal_tail *t = memory_calloc(1, sizeof *t);
    *t = (journal_tail){.directory = memory_strdup(directory), .from_ns = from_ns};
    hmdefault(t->preambles, 0);
    return t;
}

// ---- preambles ----

static void tail_close_preambles(journal_tail *t)
{
    if (t->has_known) {
        seglog_reader_close(&t->known);
        seglog_reader_close(&t->chosen);
    }
    hmfree(t->preambles);
    hmdefault(t->preambles, 0);
    t->has_known = false;
    t->held = (tail_bytes){NULL, 0};
}

static void tail_open_preambles(journal_tail *t)
{
    struct stat st;
    char *path = memory_format("%s/preambles", t->directory);
    bool there = stat(path, &st) == 0;
    if (t->has_known && there && (st.st_ino != t->inode || st.st_dev != t->device)) tail_close_preambles(t);
    if (!t->has_known && there && seglog_reader_open(&t->known, path) == 0) {
        t->has_known = seglog_reader_open(&t->chosen, path) == 0;
        if (!t->has_known) seglog_reader_close(&t->known);
        t->inode = st.st_ino;
        t->device = st.st_dev;
    }
    free(path);
}

static void tail_read_preambles(journal_tail *t)
{
    seglog_entry e;
    tail_open_preambles(t);
    while (t->has_known && seglog_reader_next(&t->known, &e)) {
        struct tail_hash key;
        if (e.kind != JOURNAL_PREAMBLE || e.size < SHA256_BYTES) continue;
        memcpy(key.bytes, e.data, sizeof key.bytes);
        if (hmgeti(t->preambles, key) < 0) hmput(t->preambles, key, t->known.at - e.size - SEGLOG_HEAD);
    }
}

// Valid until the next one.
static tail_bytes tail_find_preamble(journal_tail *t, const frame *f)
{
    struct tail_hash key;
    seglog_entry e;
    if (f->preamble_size) return (tail_bytes){f->preamble, f->preamble_size};
    memcpy(key.bytes, f->hash, sizeof key.bytes);
    if (t->held.data && memcmp(&key, &t->held_key, sizeof key) == 0) return t->held;
    if (hmgeti(t->preambles, key) < 0) tail_read_preambles(t);
    ptrdiff_t i = hmgeti(t->preambles, key);
    t->held = (tail_bytes){NULL, 0};
    if (i < 0) return t->held;
    t->chosen.at = t->preambles[i].value;
    if (!seglog_reader_here(&t->chosen, &e) || e.kind != JOURNAL_PREAMBLE || e.size < SHA256_BYTES) return t->held;
    t->held = (tail_bytes){e.data + SHA256_BYTES, e.size - SHA256_BYTES};
    t->held_key = key;
    return t->held;
}

// ---- segments ----

// False: it cannot be read (yet): a head that begins one has not written its first bytes.
static bool tail_begin_segment(journal_tail *t, uint64_t number)
{
    seglog_reader r;
    char *path = journal_segment_path(t->directory, number);
    bool good = seglog_reader_open(&r, path) == 0;
    free(path);
    if (!good) return false;
    if (t->reading) seglog_reader_close(&t->segment);
    t->segment = r;
    t->reading = true;
    t->number = number;
    return true;
}

// The first one that was written to since the time at which reading is to begin, or the last.
static uint64_t tail_find_first(journal_tail *t, const journal_segment *all)
{
    size_t i = 0;
    for (; i + 1 < arrlenu(all); i++) {
        struct stat st;
        char *path = journal_segment_path(t->directory, all[i].number);
        bool is_old = stat(path, &st) == 0 && (int64_t)st.st_mtim.tv_sec < t->from_ns / 1000000000;
        free(path);
        if (!is_old) break;
    }
    return all[i].number;
}

// The segment behind this one; behind none, the one to begin with. 0: there is none.
static uint64_t tail_find_next(journal_tail *t, uint64_t number)
{
    journal_segment *all = NULL;
    uint64_t next = 0;
    journal_segments_list(t->directory, &all);
    if (!number && arrlenu(all)) next = tail_find_first(t, all);
    for (size_t i = 0; number && !next && i < arrlenu(all); i++)
        if (all[i].number > number) next = all[i].number;
    arrfree(all);
    return next;
}

// The segment that is being written may end in half an entry. Once there is a later one it is complete, and what is behind
// damage counts.
static bool tail_next_entry(journal_tail *t, seglog_entry *e)
{
    for (;;) {
        if (t->reading && seglog_reader_here(&t->segment, e)) return true;
        uint64_t next = tail_find_next(t, t->number);
        if (!next) return false;
        if (t->reading && seglog_reader_next(&t->segment, e)) return true;
        while (next && !tail_begin_segment(t, next))
            next = tail_find_next(t, next); // the last one is tried again
        if (!next) return false;
    }
}

static void tail_take_row(journal_tail *t, const seglog_entry *e)
{
    if (e->size < 25 || e->size - 24 > FRAME_NODE_MOST) return;
    // A segment begins with all rows; the first one that is read need not be the first there is.
    while (arrlenu(t->rows) <= e->number && e->number < 1 << 24)
        arrput(t->rows, NULL);
    if (e->number >= arrlenu(t->rows)) return;
    free(t->rows[e->number]);
    t->rows[e->number] = memory_strndup((const char *)e->data + 24, e->size - 24);
}

static bool tail_take_frame(journal_tail *t, const seglog_entry *e, journal_tail_take take, void *user)
{
    frame f;
    tail_bytes preamble = {NULL, 0};
    const char *node = e->number < arrlenu(t->rows) ? t->rows[e->number] : NULL;
    if (!node || !frame_parse(&f, e->data, e->size)) return false;
    if (!f.is_gap) preamble = tail_find_preamble(t, &f);
    take(user, node, e->time_ns, &f, preamble.data, preamble.size);
    return true;
}

size_t journal_tail_look(journal_tail *t, size_t most, journal_tail_take take, void *user)
{
    seglog_entry e;
    size_t taken = 0;
    while (taken < most && tail_next_entry(t, &e)) {
        if (e.kind == JOURNAL_ROW) tail_take_row(t, &e);
        if (e.kind == JOURNAL_FRAME) taken += tail_take_frame(t, &e, take, user);
    }
    return taken;
}

void journal_tail_close(journal_tail *t)
{
    if (!t) return;
    if (t->reading) seglog_reader_close(&t->segment);
    tail_close_preambles(t);
    for (size_t i = 0; i < arrlenu(t->rows); i++)
        free(t->rows[i]);
    arrfree(t->rows);
    hmfree(t->preambles);
    free(t->directory);
    free(t);
}

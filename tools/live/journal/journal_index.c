#include "journal_index.h"

#include "journal_merge.h"
#include "live/spool/little.h"
#include "live/spool/seglog.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct journal_place {
    struct journal_place_key {
        unsigned char bytes[SHA256_BYTES];
    } key;
    struct journal_place_at {
        size_t file;
        uint64_t at;
    } value;
} journal_place;

typedef struct journal_index_known {
    char *key; // stream and node
    size_t value;
} journal_index_known;

struct journal_index {
    int64_t from_ns, to_ns;
    seglog_reader *segments;  // stb_ds
    seglog_reader *preambles; // one for each head; stb_ds
    journal_place *places;    // where each preamble is
    journal_stream *streams;  // stb_ds
    journal_index_known *known;
    size_t *rows;         // the stream that each row is of at this place of the journal; stb_ds
    size_t nameless;      // streams whose row is damaged, so that their node is not known (yet)
    uint64_t number, own; // of the segment that is read; the head that wrote it
    size_t table;         // at least so many rows are in its table
    uint64_t damaged;     // bytes of the segment before it that are no entries, while its table is read
};

enum { JOURNAL_INDEX_ROWS = 1 << 20 };
static const size_t journal_index_none = SIZE_MAX; // of a row: its entry is damaged

// ---- one entry after the other ----

static const int64_t journal_index_not_yet = INT64_MAX; // the end of a gap before the next tick is known

static void journal_index_end_gap(journal_stream *s, int64_t at_ns)
{
    journal_stretch *last = arrlenu(s->stretches) ? &arrlast(s->stretches) : NULL;
    if (last && last->is_gap && last->last_ns == journal_index_not_yet) last->last_ns = at_ns;
}

static void journal_index_add(journal_index *x, journal_stream *s, journal_stretch *t)
{
    bool is_open = t->is_gap && t->last_ns == journal_index_not_yet;
    int64_t before_ns = s->last_ns ? s->last_ns : x->from_ns;
    if (t->first < s->next && t->last >= s->next) { // the rest of it was there before
        t->first = s->next;
        t->has_key = false;
    }
    if (t->first != s->next) return; // behind damage: it comes again
    s->next = t->last + 1;
    journal_index_end_gap(s, is_open ? before_ns : t->first_ns);
    if (is_open || (t->is_gap && s->last_ns && s->last_ns < t->first_ns)) t->first_ns = before_ns;
    if (!t->is_gap) s->last_ns = t->last_ns;
    if (t->first_ns > x->to_ns) return;
    // Before the time that is asked for only what the first tick of it builds on.
    if (t->last_ns < x->from_ns && (t->is_gap || t->has_key) && s->stretches) arrsetlen(s->stretches, 0);
    if (t->last_ns < x->from_ns && t->is_gap) return;
    arrput(s->stretches, *t);
}

// What was on the disk when a segment began. Numbers up to there that did not come are in a segment that is gone or damaged.
static void journal_index_durable(journal_index *x, journal_stream *s, uint64_t durable)
{
    // All that it had in the segment before this one may be damaged, were it not too much for that.
    if (!s->begun) s->next = durable <= x->damaged / FRAME_TICK ? 1 : durable + 1;
    s->begun = true;
    if (s->next <= durable) {
        journal_stretch gap = {.first = s->next,
                               .last = durable,
                               .last_ns = journal_index_not_yet,
                               .is_gap = true,
                               .reason = SPOOL_DAMAGED};
        journal_index_add(x, s, &gap);
    }
}

static bool journal_index_is_of(const journal_stream *s, const seglog_entry *e)
{
    return s->node && memcmp(s->stream, e->data, 16) == 0 && strlen(s->node) == e->size - 24 &&
           memcmp(s->node, e->data + 24, e->size - 24) == 0;
}

// ---- streams whose row is damaged ----

static size_t journal_index_find_nameless(const journal_index *x, const unsigned char stream[16])
{
    for (size_t i = 0; x->nameless && i < arrlenu(x->streams); i++)
        if (!x->streams[i].node && memcmp(x->streams[i].stream, stream, 16) == 0) return i;
    return journal_index_none;
}

// Takes the name.
static void journal_index_name(journal_index *x, size_t stream, char *node)
{
    char *key = journal_stream_key(node, x->streams[stream].stream);
    x->streams[stream].node = node;
    shput(x->known, key, stream);
    x->nameless--;
    free(key);
}

// A frame tells which stream it is of, and what its agent knew to be durable: what lies between was stored before it, and is
// damaged as the row is. Where the stream cannot have been here before, all that this head had confirmed was stored as well.
static size_t journal_index_begin_nameless(journal_index *x, const frame *f, size_t row)
{
    size_t stream = journal_index_find_nameless(x, f->stream);
    if (stream != journal_index_none) return stream;
    bool is_fresh = row >= x->table && f->head == x->own;
    journal_stream s = {.next = is_fresh ? 1 : f->base + 1, .begun = true};
    memcpy(s.stream, f->stream, sizeof s.stream);
    if (s.next > f->first) s.next = f->first;
    journal_index_durable(x, &s, f->first - 1);
    x->nameless++;
    arrput(x->streams, s);
    return arrlenu(x->streams) - 1;
}

// No row ever said of which node it is.
static char *journal_index_unnamed(const unsigned char stream[16])
{
    return memory_format("unnamed-%016llx", (unsigned long long)little_get(stream, 8));
}

static void journal_index_name_rest(journal_index *x)
{
    for (size_t i = 0; x->nameless && i < arrlenu(x->streams); i++)
        if (!x->streams[i].node) journal_index_name(x, i, journal_index_unnamed(x->streams[i].stream));
}

// The head did not know any more what is here, and asked for all behind `durable` again: both together are what there is.
static void journal_index_ask_again(journal_stream *s, uint64_t durable)
{
    if (s->next <= durable + 1) return;
    s->earlier = s->stretches;
    s->stretches = NULL;
    s->next = durable + 1;
    s->last_ns = 0;
}

static void journal_index_end_stream(journal_index *x, journal_stream *s)
{
    journal_index_end_gap(s, x->to_ns);
    if (!s->earlier) return;
    journal_stretch *both = journal_merge(s->earlier, s->stretches);
    arrfree(s->earlier);
    arrfree(s->stretches);
    s->stretches = both;
}

// ---- rows ----

// The stream that a row begins to be of. It may have been here before, and have been forgotten by the head.
static size_t journal_index_find(journal_index *x, const seglog_entry *e)
{
    journal_stream s = {.node = memory_strndup((const char *)e->data + 24, e->size - 24)};
    memcpy(s.stream, e->data, 16);
    char *key = journal_stream_key(s.node, s.stream);
    ptrdiff_t at = shgeti(x->known, key);
    size_t stream = at >= 0 ? x->known[at].value : journal_index_find_nameless(x, s.stream);
    free(key);
    free(s.node);
    if (at >= 0) return stream;
    if (stream == journal_index_none) {
        stream = arrlenu(x->streams);
        x->nameless++;
        s.node = NULL;
        arrput(x->streams, s);
    }
    journal_index_name(x, stream, memory_strndup((const char *)e->data + 24, e->size - 24));
    journal_index_ask_again(&x->streams[stream], little_get(e->data + 16, 8));
    return stream;
}

static void journal_index_row(journal_index *x, const seglog_entry *e)
{
    if (e->size < 25 || e->number >= JOURNAL_INDEX_ROWS) return;
    while (arrlenu(x->rows) <= e->number)
        arrput(x->rows, journal_index_none);
    size_t *row = &x->rows[e->number];
    if (*row == journal_index_none || !journal_index_is_of(&x->streams[*row], e)) *row = journal_index_find(x, e);
    journal_index_durable(x, &x->streams[*row], little_get(e->data + 16, 8));
}

static bool journal_index_has_key(const frame *f)
{
    spool_tick t;
    for (size_t at = 0; frame_next(f, &at, &t);)
        if (t.is_key) return true;
    return false;
}

// Of the entry's row; of a frame the one that it says itself.
static journal_stream *journal_index_stream_of(journal_index *x, const seglog_entry *e, const frame *f)
{
    if (e->number >= JOURNAL_INDEX_ROWS) return NULL;
    size_t none = journal_index_none, *row = e->number < arrlenu(x->rows) ? &x->rows[e->number] : &none;
    if (f && (*row == none || memcmp(f->stream, x->streams[*row].stream, sizeof f->stream) != 0)) {
        size_t stream = journal_index_begin_nameless(x, f, e->number);
        while (arrlenu(x->rows) <= e->number)
            arrput(x->rows, journal_index_none);
        row = &x->rows[e->number];
        *row = stream;
    }
    return *row == journal_index_none ? NULL : &x->streams[*row];
}

static void journal_index_entry(journal_index *x, const seglog_entry *e, uint32_t segment, uint64_t at)
{
    frame f;
    journal_stretch t = {.at = at, .segment = segment};
    if (e->kind == JOURNAL_ROW) {
        journal_index_row(x, e);
        return;
    }
    bool is_frame = e->kind == JOURNAL_FRAME && frame_parse(&f, e->data, e->size);
    if (e->kind == JOURNAL_FRAME) x->damaged = 0;
    journal_stream *s = journal_index_stream_of(x, e, is_frame ? &f : NULL);
    if (!s) return;
    if (e->kind == JOURNAL_ELSEWHERE && e->size == 16) {
        t.first = little_get(e->data, 8);
        t.last = little_get(e->data + 8, 8);
        t.last_ns = journal_index_not_yet;
        t.is_gap = true;
        t.reason = SPOOL_ELSEWHERE;
    } else if (is_frame) {
        t.first = f.first;
        t.last = frame_last(&f);
        t.first_ns = f.first_ns;
        t.last_ns = f.last_ns;
        t.is_gap = f.is_gap;
        t.reason = f.reason;
        t.has_key = journal_index_has_key(&f);
    } else {
        return;
    }
    journal_index_add(x, s, &t);
}

static void journal_index_read(journal_index *x, uint32_t segment, uint64_t number, uint64_t bytes)
{
    seglog_reader *r = &x->segments[segment];
    seglog_entry e;
    if (number != x->number + 1) x->damaged = 0;
    // Its table has the rows of the segment before it, where that was read; the first of all has none.
    x->table = number == x->number + 1 ? arrlenu(x->rows) : SIZE_MAX;
    x->number = number;
    memcpy(&x->own, r->header.owner, sizeof x->own);
    while (seglog_reader_next(r, &e))
        journal_index_entry(x, &e, segment, r->at - SEGLOG_HEAD - e.size);
    x->damaged = r->lost + (bytes > r->at ? bytes - r->at : 0);
}

// Removed meanwhile by a head, and then it held nothing that a session needs; or damaged, and then a gap says so.
static bool journal_index_is_gone(int error)
{
    return error == ENOENT || error == EILSEQ;
}

static int journal_index_read_preambles(journal_index *x, const char *directory)
{
    seglog_reader r;
    seglog_entry e;
    char *path = memory_format("%s/preambles", directory);
    int error = seglog_reader_open(&r, path);
    free(path);
    if (error) return journal_index_is_gone(error) ? 0 : error;
    while (seglog_reader_next(&r, &e)) {
        struct journal_place_key key;
        if (e.kind != JOURNAL_PREAMBLE || e.size < SHA256_BYTES) continue;
        memcpy(key.bytes, e.data, SHA256_BYTES);
        hmput(x->places, key, ((struct journal_place_at){arrlenu(x->preambles), r.at - SEGLOG_HEAD - e.size}));
    }
    arrput(x->preambles, r);
    return 0;
}

// ---- several heads ----

static void journal_index_merge_stream(journal_index *x, journal_stream *s, size_t first_segment)
{
    size_t nameless = journal_index_find_nameless(x, s->stream);
    for (size_t i = 0; !s->node && i < arrlenu(x->streams); i++)
        if (x->streams[i].node && memcmp(x->streams[i].stream, s->stream, sizeof s->stream) == 0)
            s->node = memory_strdup(x->streams[i].node);
    if (!s->node) s->node = journal_index_unnamed(s->stream);
    if (nameless != journal_index_none) journal_index_name(x, nameless, memory_strdup(s->node));
    char *key = journal_stream_key(s->node, s->stream);
    ptrdiff_t at = shgeti(x->known, key);
    for (size_t i = 0; i < arrlenu(s->stretches); i++)
        s->stretches[i].segment += (uint32_t)first_segment;
    if (at >= 0) {
        journal_stream *to = &x->streams[x->known[at].value];
        journal_stretch *both = journal_merge(to->stretches, s->stretches);
        arrfree(to->stretches);
        to->stretches = both;
        arrfree(s->stretches);
        free(s->node);
    } else {
        shput(x->known, key, arrlenu(x->streams));
        arrput(x->streams, *s);
    }
    free(key);
}

// Takes what the other has; the other is no more.
static void journal_index_take_over(journal_index *x, journal_index *other)
{
    size_t segments = arrlenu(x->segments), files = arrlenu(x->preambles);
    for (size_t i = 0; i < arrlenu(other->streams); i++)
        journal_index_merge_stream(x, &other->streams[i], segments);
    for (size_t i = 0; i < arrlenu(other->segments); i++)
        arrput(x->segments, other->segments[i]);
    for (size_t i = 0; i < arrlenu(other->preambles); i++)
        arrput(x->preambles, other->preambles[i]);
    for (size_t i = 0; i < hmlenu(other->places); i++) {
        const struct journal_place_at *v = &other->places[i].value;
        hmput(x->places, other->places[i].key, ((struct journal_place_at){files + v->file, v->at}));
    }
    arrfree(other->streams); // what is in them is this one's now
    arrfree(other->segments);
    arrfree(other->preambles);
    journal_index_close(other);
}

// A node whose agent began another spool while another head was there: in the order of time.
static int journal_index_order(const void *a, const void *b)
{
    const journal_stream *s = a, *t = b;
    int64_t x = arrlenu(s->stretches) ? s->stretches[0].first_ns : INT64_MAX,
            y = arrlenu(t->stretches) ? t->stretches[0].first_ns : INT64_MAX;
    return (x > y) - (x < y);
}

// How many segments at the beginning hold nothing that the time needs: nothing came into them since then, by the head's clock.
// Each segment begins with all rows. What readings build on is at most 63 ticks before them; nodes' clocks may be behind.
static size_t journal_index_old(const char *directory, const journal_segment *found, int64_t from_ns)
{
    static const int64_t before_ns = 600000000000;
    size_t old = 0;
    for (; old + 1 < arrlenu(found); old++) {
        struct stat st;
        char *path = journal_segment_path(directory, found[old].number);
        bool is_old =
            stat(path, &st) == 0 && (int64_t)st.st_mtim.tv_sec < from_ns / 1000000000 - before_ns / 1000000000;
        free(path);
        if (!is_old) break;
    }
    return old;
}

static journal_index *journal_index_begin(const char *directory, int64_t from_ns, int64_t to_ns, char **why)
{
    journal_segment *found = NULL;
    journal_index *x = memory_calloc(1, sizeof *x);
    *x = (journal_index){.from_ns = from_ns, .to_ns = to_ns};
    sh_new_strdup(x->known);
    int error = journal_segments_list(directory, &found);
    for (size_t i = error ? 0 : journal_index_old(directory, found, from_ns); !error && i < arrlenu(found); i++) {
        seglog_reader r;
        char *path = journal_segment_path(directory, found[i].number);
        error = seglog_reader_open(&r, path);
        if (!error) {
            arrput(x->segments, r);
            journal_index_read(x, (uint32_t)arrlenu(x->segments) - 1, found[i].number, found[i].bytes);
        }
        if (error == EILSEQ) {
            x->number = found[i].number;
            x->damaged = found[i].bytes;
        }
        if (journal_index_is_gone(error)) error = 0;
        free(path);
    }
    arrfree(found);
    // After the segments: the preamble of a frame that is there is there as well.
    if (!error) error = journal_index_read_preambles(x, directory);
    for (size_t i = 0; i < arrlenu(x->streams); i++)
        journal_index_end_stream(x, &x->streams[i]);
    if (!error) return x;
    *why = memory_format("%s/journal: %s", directory, strerror(error));
    journal_index_close(x);
    return NULL;
}

static void journal_index_link(journal_index *x)
{
    journal_index_known *last = NULL; // stream of each node
    sh_new_strdup(last);
    for (size_t i = 0; i < arrlenu(x->streams); i++) {
        ptrdiff_t before = shgeti(last, x->streams[i].node);
        x->streams[i].is_first = before < 0;
        if (before >= 0) x->streams[last[before].value].after = i;
        shput(last, x->streams[i].node, i);
    }
    shfree(last);
}

// ---- outside ----

journal_index *journal_index_open(const char *directory, int64_t from_ns, int64_t to_ns, char **why)
{
    return journal_index_open_all(&directory, 1, from_ns, to_ns, why);
}

journal_index *journal_index_open_all(const char *const *directories, size_t count, int64_t from_ns, int64_t to_ns,
                                      char **why)
{
    journal_index *x = journal_index_begin(directories[0], from_ns, to_ns, why);
    for (size_t i = 1; x && i < count; i++) {
        journal_index *other = journal_index_begin(directories[i], from_ns, to_ns, why);
        if (other) {
            journal_index_take_over(x, other);
        } else {
            journal_index_close(x);
            x = NULL;
        }
    }
    if (!x) return NULL;
    if (count > 1 && x->streams) qsort(x->streams, arrlenu(x->streams), sizeof *x->streams, journal_index_order);
    journal_index_name_rest(x);
    journal_index_link(x);
    return x;
}

size_t journal_index_count(const journal_index *x)
{
    return arrlenu(x->streams);
}

const journal_stream *journal_index_stream(const journal_index *x, size_t stream)
{
    return &x->streams[stream];
}

bool journal_index_frame(journal_index *x, const journal_stretch *s, frame *f)
{
    seglog_entry e;
    seglog_reader *r = &x->segments[s->segment];
    r->at = s->at;
    return seglog_reader_here(r, &e) && e.kind == JOURNAL_FRAME && frame_parse(f, e.data, e.size);
}

const unsigned char *journal_index_preamble(journal_index *x, const unsigned char *hash, size_t *size)
{
    struct journal_place_key key;
    seglog_entry e;
    memcpy(key.bytes, hash, SHA256_BYTES);
    ptrdiff_t i = hmgeti(x->places, key);
    if (i < 0) return NULL;
    seglog_reader *r = &x->preambles[x->places[i].value.file];
    r->at = x->places[i].value.at;
    if (!seglog_reader_here(r, &e)) return NULL;
    *size = e.size - SHA256_BYTES;
    return e.data + SHA256_BYTES;
}

void journal_index_close(journal_index *x)
{
    if (!x) return;
    for (size_t i = 0; i < arrlenu(x->segments); i++)
        seglog_reader_close(&x->segments[i]);
    for (size_t i = 0; i < arrlenu(x->streams); i++) {
        arrfree(x->streams[i].stretches);
        arrfree(x->streams[i].earlier);
        free(x->streams[i].node);
    }
    for (size_t i = 0; i < arrlenu(x->preambles); i++)
        seglog_reader_close(&x->preambles[i]);
    arrfree(x->preambles);
    arrfree(x->segments);
    arrfree(x->streams);
    arrfree(x->rows);
    shfree(x->known);
    hmfree(x->places);
    free(x);
}

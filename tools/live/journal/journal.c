#define _GNU_SOURCE
#include "journal.h"

#include "journal_known.h"
#include "journal_preambles.h"
#include "live/spool/little.h"
#include "live/spool/seglog.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { JOURNAL_KEPT = 8 << 20 }; // memory of a commit that is kept for the next one
// A node without a disk begins a stream with each start. Above the bounds it takes the place of one that was silent so long.
static const int64_t journal_silent_ns = 3600000000000;
// Heads' clocks differ by less: by a time zone at most.
static const uint64_t journal_ahead_ns = 86400000000000;

typedef struct journal_piece {
    size_t at; // of its head in the buffer
    seglog_entry entry;
} journal_piece;

// What waits: entries whose heads are filled in when it is known which segment they go to.
typedef struct journal_buffer {
    unsigned char *bytes;      // stb_ds
    journal_piece *pieces;     // stb_ds
    size_t *changed;           // rows; stb_ds
    unsigned char **preambles; // hash and preamble, each an stb_ds array; stb_ds
    size_t preamble_bytes;
} journal_buffer;

struct journal {
    char *directory;
    int lock;
    receiver_head head;
    uint64_t segment_bytes, waiting_bytes, cut;
    journal_known known; // rows, and the hashes of preambles
    journal_buffer filling, writing;
    journal_buffer table; // what a segment that is to be begun begins with; empty: it is not to be
    uint64_t superseded;  // the epoch of the head that agents follow in place of this one; 0: none
    bool committing, has_table;
    bool shrunk;                         // segments were removed, and with them perhaps the last use of preambles
    bool rewriting;                      // the file of preambles is to be written anew
    unsigned char (*keep)[SHA256_BYTES]; // with these; stb_ds
    size_t preambles_written;            // of those in `writing`
    seglog log, preambles;
    journal_segment current;   // that is written: the committing thread's own until journal_end_commit()
    journal_segment *segments; // stb_ds; the last is the one that is written
};

const receiver_head *journal_head(const journal *j)
{
    return &j->head;
}

uint64_t journal_cut(const journal *j)
{
    return j->cut;
}

size_t journal_waiting(const journal *j)
{
    return arrlenu(j->filling.bytes) + j->filling.preamble_bytes;
}

size_t journal_row_count(const journal *j)
{
    return arrlenu(j->known.rows);
}

int64_t journal_heard(const journal *j, const char *node)
{
    return journal_known_heard(&j->known, node);
}

const journal_row *journal_row_at(const journal *j, size_t index)
{
    return &j->known.rows[index];
}

uint64_t journal_bytes(const journal *j)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < arrlenu(j->segments); i++)
        sum += j->segments[i].bytes;
    return sum;
}

// ---- what waits ----

static unsigned char *journal_room(journal_buffer *b, seglog_entry e)
{
    arrput(b->pieces, ((journal_piece){arrlenu(b->bytes), e}));
    return arraddnptr(b->bytes, SEGLOG_HEAD + e.size) + SEGLOG_HEAD;
}

static void journal_put_row(journal_buffer *b, size_t index, const journal_row *row)
{
    size_t name = strlen(row->node);
    unsigned char *to = journal_room(
        b,
        (seglog_entry){.kind = JOURNAL_ROW, .number = index, .size = (uint32_t)(24 + name), .time_ns = row->heard_ns});
    memcpy(to, row->r.stream, 16);
    little_put(to + 16, row->r.durable, 8);
    memcpy(to + 24, row->node, name);
}

// Those that are accepted are counted already, also where they are written behind this.
static void journal_put_missing(journal_buffer *b, size_t index, const journal_row *row)
{
    unsigned char *to =
        journal_room(b, (seglog_entry){.kind = JOURNAL_MISSING, .number = index, .size = 16 + sizeof row->missing});
    little_put(to, (uint64_t)row->since_ns, 8);
    little_put(to + 8, row->r.accepted, 8);
    for (size_t i = 0; i < SPOOL_REASONS; i++)
        little_put(to + 16 + 8 * i, row->missing[i], 8);
}

static void journal_put_elsewhere(journal *j, size_t row, uint64_t first, uint64_t last)
{
    unsigned char *to = journal_room(&j->filling, (seglog_entry){.kind = JOURNAL_ELSEWHERE, .number = row, .size = 16});
    little_put(to, first, 8);
    little_put(to + 8, last, 8);
}

// What it builds on is in the file of preambles, once for all: thousands of nodes that begin at once, each with its own word of
// it, would be many times what they read.
static void journal_put_frame(journal *j, size_t row, const frame *f, int64_t wall_ns)
{
    size_t size = frame_bare_size(f);
    frame_bare(
        journal_room(&j->filling,
                     (seglog_entry){.kind = JOURNAL_FRAME, .number = row, .size = (uint32_t)size, .time_ns = wall_ns}),
        f);
}

static void journal_keep_preamble(journal *j, const frame *f)
{
    unsigned char *whole = NULL;
    memcpy(arraddnptr(whole, SHA256_BYTES), f->hash, SHA256_BYTES);
    memcpy(arraddnptr(whole, f->preamble_size), f->preamble, f->preamble_size);
    arrput(j->filling.preambles, whole);
    j->filling.preamble_bytes += arrlenu(whole);
}

// What waits may go to the segment that is being begun, or to the one behind it.
static uint64_t journal_latest_segment(const journal *j)
{
    return (arrlenu(j->segments) ? arrlast(j->segments).number : 0) + 2;
}

static void journal_change(journal *j, size_t row)
{
    if (j->known.rows[row].changed) return;
    j->known.rows[row].changed = true;
    arrput(j->filling.changed, row);
}

static bool journal_find_row(journal *j, const char *node, const frame *f, int64_t wall_ns, size_t *row)
{
    if (journal_known_find(&j->known, node, f->stream, row)) return true;
    if (arrlenu(j->known.rows) < JOURNAL_ROWS && journal_known_streams(&j->known, node) < JOURNAL_STREAMS) {
        *row = journal_known_add(&j->known, node, f->stream);
        return true;
    }
    if (!journal_known_oldest(&j->known, node, wall_ns - journal_silent_ns, row)) return false;
    journal_known_replace(&j->known, *row, f->stream);
    return true;
}

// The agent follows a head that was started after this one. An epoch is the time of a start: one that no clock can have is no
// head's, and must not end this one.
static bool journal_is_superseded(const journal *j, const frame *f, int64_t wall_ns)
{
    uint64_t now = wall_ns > 0 ? (uint64_t)wall_ns : 0, most = j->head.epoch > now ? j->head.epoch : now;
    return f->epoch > j->head.epoch && (f->epoch <= most || f->epoch - most <= journal_ahead_ns);
}

static void journal_count(journal_row *row, const frame *f, size_t size)
{
    row->frames++;
    row->bytes += size;
    if (f->is_gap)
        journal_known_miss(row, f->first, frame_last(f), f->reason);
    else
        row->ticks += f->count;
    row->tick_ns = f->last_ns;
}

bool journal_take(journal *j, const char *node, const frame *f, int64_t wall_ns, receiver_verdict *verdict)
{
    size_t index, size = frame_bare_size(f) + f->preamble_size;
    if (f->epoch > j->superseded && journal_is_superseded(j, f, wall_ns)) j->superseded = f->epoch;
    if (journal_waiting(j) + size > j->waiting_bytes || f->epoch > j->head.epoch) {
        *verdict = f->epoch <= j->head.epoch              ? RECEIVER_AHEAD
                   : journal_is_superseded(j, f, wall_ns) ? RECEIVER_SUPERSEDED
                                                          : RECEIVER_IMPOSSIBLE;
        return false;
    }
    if (!journal_find_row(j, node, f, wall_ns, &index)) return false;
    journal_row *row = &j->known.rows[index];
    bool has_preamble = f->preamble_size || journal_known_has_hash(&j->known, f->hash), is_new = !row->r.known;
    uint64_t before = row->r.accepted;
    row->heard_ns = wall_ns;
    if (!row->since_ns) row->since_ns = wall_ns;
    *verdict = receiver_take(&row->r, f, &j->head, has_preamble);
    if (is_new) journal_put_row(&j->filling, index, row);
    if (*verdict == RECEIVER_ELSEWHERE) {
        journal_put_elsewhere(j, index, before + 1, row->r.accepted);
        journal_known_miss(row, before + 1, row->r.accepted, SPOOL_ELSEWHERE);
        *verdict = receiver_take(&row->r, f, &j->head, has_preamble);
    }
    journal_change(j, index);
    if (*verdict != RECEIVER_STORE) {
        row->refused++;
        return true;
    }
    if (f->preamble_size && !journal_known_has_hash(&j->known, f->hash)) journal_keep_preamble(j, f);
    if (!f->is_gap) journal_known_use_hash(&j->known, f->hash, journal_latest_segment(j));
    journal_put_frame(j, index, f, wall_ns);
    journal_count(row, f, size);
    return true;
}

void journal_tell_all(journal *j)
{
    for (size_t i = 0; i < arrlenu(j->known.rows); i++) {
        if (!j->known.rows[i].r.known) continue;
        j->known.rows[i].r.owes = true;
        journal_change(j, i);
    }
}

// ---- committing ----

// Each segment begins with all rows, so that the last one alone says what is durable.
static void journal_make_table(journal *j)
{
    for (size_t i = 0; i < arrlenu(j->known.rows); i++) {
        if (!*j->known.rows[i].node) continue;
        journal_put_row(&j->table, i, &j->known.rows[i]);
        journal_put_missing(&j->table, i, &j->known.rows[i]);
    }
    j->has_table = true;
}

// Preambles that no segment needs any more are dropped when they are most of what there is.
static void journal_begin_rewriting(journal *j)
{
    if (!j->shrunk || j->preambles.size < j->segment_bytes / 4) return;
    j->shrunk = false;
    if (!journal_known_forget_hashes(&j->known, j->segments[0].number)) return;
    for (size_t i = 0; i < hmlenu(j->known.hashes); i++)
        memcpy(arraddnptr(j->keep, 1), j->known.hashes[i].key.bytes, SHA256_BYTES);
    j->rewriting = true;
}

bool journal_begin_commit(journal *j)
{
    if (j->committing) return true;
    if (!arrlenu(j->filling.changed)) return false;
    journal_begin_rewriting(j);
    if (j->log.fd < 0 || j->log.size >= j->segment_bytes) journal_make_table(j);
    journal_buffer empty = j->writing;
    j->writing = j->filling;
    j->filling = empty;
    for (size_t i = 0; i < arrlenu(j->writing.changed); i++) {
        journal_row *row = &j->known.rows[j->writing.changed[i]];
        row->committing = row->r.accepted;
        row->changed = false;
    }
    j->committing = true;
    return true;
}

static void journal_make(const seglog *log, journal_buffer *b)
{
    for (size_t i = 0; i < arrlenu(b->pieces); i++) {
        journal_piece *p = &b->pieces[i];
        p->entry.data = b->bytes + p->at + SEGLOG_HEAD;
        seglog_head(log, b->bytes + p->at, &p->entry);
    }
}

static void journal_empty(journal_buffer *b)
{
    for (size_t i = 0; i < arrlenu(b->preambles); i++)
        arrfree(b->preambles[i]);
    if (arrcap(b->bytes) > JOURNAL_KEPT) arrfree(b->bytes); // of a disk that stood still
    if (b->bytes) arrsetlen(b->bytes, 0);
    if (b->pieces) arrsetlen(b->pieces, 0);
    if (b->changed) arrsetlen(b->changed, 0);
    if (b->preambles) arrsetlen(b->preambles, 0);
    b->preamble_bytes = 0;
}

static int journal_sync_directory(const journal *j, const char *inside)
{
    char *path = memory_format("%s%s", j->directory, inside);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), error = fd < 0 || fsync(fd) ? errno : 0;
    if (fd >= 0) close(fd);
    free(path);
    return error;
}

static int journal_begin_segment(journal *j)
{
    uint64_t number = j->current.number + 1;
    seglog_header header = {.first = number};
    seglog log;
    memcpy(header.owner, &j->head.id, sizeof j->head.id);
    char *path = journal_segment_path(j->directory, number);
    int error = seglog_create(&log, path, &header);
    if (!error) {
        journal_make(&log, &j->table);
        error = seglog_append_made(&log, j->table.bytes, arrlenu(j->table.bytes));
        if (!error) error = seglog_sync(&log);
        if (!error) error = journal_sync_directory(j, "/journal");
        if (error) {
            seglog_close(&log);
            unlink(path);
        }
    }
    free(path);
    if (error) return error;
    seglog_close(&j->log);
    j->log = log;
    j->current = (journal_segment){.number = number, .bytes = log.size};
    journal_empty(&j->table);
    j->has_table = false;
    return 0;
}

// What frames build on is on the disk before they are.
static int journal_write_preambles(journal *j)
{
    size_t count = arrlenu(j->writing.preambles);
    if (j->preambles_written == count) return 0;
    for (; j->preambles_written < count; j->preambles_written++) {
        const unsigned char *whole = j->writing.preambles[j->preambles_written];
        const seglog_entry e = {.kind = JOURNAL_PREAMBLE,
                                .size = (uint32_t)arrlenu(j->writing.preambles[j->preambles_written]),
                                .data = whole};
        int error = seglog_append(&j->preambles, &e);
        if (error) return error;
    }
    int error = seglog_sync(&j->preambles);
    if (error) j->preambles_written = 0; // written again: twice does no harm
    return error;
}

// Where that cannot be done, the file stays as it is.
static void journal_rewrite_preambles(journal *j)
{
    seglog log;
    if (!j->rewriting) return;
    j->rewriting = false;
    if (journal_preambles_rewrite(&log, j->directory, j->keep, arrlenu(j->keep)) == 0) {
        seglog_close(&j->preambles);
        j->preambles = log;
        journal_sync_directory(j, "");
    }
    arrfree(j->keep);
}

int journal_write(journal *j)
{
    journal_rewrite_preambles(j);
    int error = journal_write_preambles(j);
    if (!error && j->has_table) error = journal_begin_segment(j);
    if (error) return error;
    uint64_t before = j->log.size;
    if (!arrlenu(j->writing.bytes)) return 0; // watermarks alone
    journal_make(&j->log, &j->writing);
    error = seglog_append_made(&j->log, j->writing.bytes, arrlenu(j->writing.bytes));
    // After a failed sync nobody knows which pages are on the disk: all of it is written again.
    if (!error && (error = seglog_sync(&j->log))) seglog_take_back(&j->log, before);
    if (!error) j->current.bytes = j->log.size;
    return error;
}

void journal_end_commit(journal *j, void (*tell)(void *user, const char *node, const watermark *w), void *user)
{
    watermark w;
    if (!arrlenu(j->segments) || arrlast(j->segments).number != j->current.number) arrput(j->segments, j->current);
    arrlast(j->segments).bytes = j->current.bytes;
    for (size_t i = 0; i < arrlenu(j->writing.changed); i++) {
        journal_row *row = &j->known.rows[j->writing.changed[i]];
        if (!receiver_commit(&row->r, row->committing, &j->head, &w)) continue;
        tell(user, row->node, &w);
        if (row->r.owes) journal_change(j, j->writing.changed[i]);
    }
    journal_empty(&j->writing);
    j->preambles_written = 0;
    j->committing = false;
}

void journal_surplus(const journal *j, uint64_t most, uint64_t **to)
{
    uint64_t bytes = journal_bytes(j);
    for (size_t i = 0; i + 1 < arrlenu(j->segments) && bytes > most; i++) {
        arrput(*to, j->segments[i].number);
        bytes -= j->segments[i].bytes;
    }
}

bool journal_drop(journal *j, uint64_t number)
{
    if (arrlenu(j->segments) < 2 || j->segments[0].number != number) return false;
    char *path = journal_segment_path(j->directory, number);
    bool gone = unlink(path) == 0;
    free(path);
    if (!gone) return false;
    arrdel(j->segments, 0);
    j->shrunk = true;
    return true;
}

// ---- opening ----

static int journal_write_identity(const journal *j, uint64_t epoch)
{
    unsigned char bytes[16];
    char *path = memory_format("%s/head", j->directory), *beside = memory_format("%s/head.new", j->directory);
    little_put(bytes, j->head.id, 8);
    little_put(bytes + 8, epoch, 8);
    int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600), error = fd < 0 ? errno : 0;
    if (!error && (write(fd, bytes, sizeof bytes) != sizeof bytes || fsync(fd))) error = errno ? errno : ENOSPC;
    if (fd >= 0) close(fd);
    if (!error && rename(beside, path)) error = errno;
    free(path);
    free(beside);
    return error;
}

// Who this head is: 8 bytes of id, 8 of the epoch of its last run, or of the head that took over from it. A later run has a
// higher epoch, whatever the clocks say.
static int journal_identify(journal *j, int64_t wall_ns)
{
    unsigned char bytes[16] = {0};
    char *path = memory_format("%s/head", j->directory);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW), error = 0;
    bool known = fd >= 0 && read(fd, bytes, sizeof bytes) == sizeof bytes;
    if (fd >= 0) close(fd);
    free(path);
    if (!known) error = seglog_random(bytes, 8);
    j->head.id = little_get(bytes, 8);
    j->head.epoch = known ? little_get(bytes + 8, 8) + 1 : 1;
    if (wall_ns > 0 && (uint64_t)wall_ns > j->head.epoch) j->head.epoch = (uint64_t)wall_ns;
    return error ? error : journal_write_identity(j, j->head.epoch);
}

void journal_raise(journal *j, uint64_t epoch)
{
    if (epoch <= j->head.epoch) return;
    j->head.epoch = epoch;
    if (journal_write_identity(j, epoch)) errno = 0; // a next run that is behind for it hears so from the agents
}

// A head that was killed, or ends, has it for a moment still.
static int journal_take_lock(int fd)
{
    const struct timespec nap = {.tv_nsec = 20000000};
    for (int tries = 100; flock(fd, LOCK_EX | LOCK_NB); tries--) {
        if (errno == EINTR) continue;
        if (errno != EWOULDBLOCK || !tries) return errno;
        nanosleep(&nap, NULL);
    }
    return 0;
}

static int journal_make_directories(journal *j)
{
    static const char *const inside[] = {"", "/journal", "/sessions"};
    struct stat st;
    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++) {
        char *path = memory_format("%s%s", j->directory, inside[i]);
        int error = mkdir(path, 0700) && errno != EEXIST ? errno : lstat(path, &st) ? errno : 0;
        if (!error && (!S_ISDIR(st.st_mode) || st.st_uid != geteuid())) error = EPERM;
        free(path);
        if (error) return error;
    }
    char *path = memory_format("%s/lock", j->directory);
    j->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    free(path);
    if (j->lock < 0) return errno;
    return journal_take_lock(j->lock);
}

// What cannot be read is no good here, but may be to who can mend it. ENOENT: it is out of the way.
static int journal_put_aside(const char *path)
{
    char *aside = memory_format("%s.damaged", path);
    struct stat st;
    bool is_torn = stat(path, &st) == 0 && st.st_size < SEGLOG_HEADER; // nothing was ever in it
    int error = (is_torn ? unlink(path) : rename(path, aside)) ? errno : ENOENT;
    free(aside);
    return error;
}

static int journal_open_preambles(journal *j)
{
    seglog_header header = {0};
    uint64_t cut;
    char *path = memory_format("%s/preambles", j->directory);
    int error = seglog_continue(&j->preambles, path, &header, &cut);
    if (error == EILSEQ) error = journal_put_aside(path);
    if (error == ENOENT) { // never begun, or torn at its first bytes
        error = seglog_create(&j->preambles, path, &header);
        if (!error) error = journal_sync_directory(j, "");
    } else if (!error) {
        journal_known_read_preambles(&j->known, path);
    }
    free(path);
    return error;
}

static void journal_read_before(journal *j)
{
    char *path = journal_segment_path(j->directory, j->segments[arrlenu(j->segments) - 2].number);
    journal_known_read(&j->known, path);
    free(path);
}

// A kill that came while its table was written: what begins with half a table could not be read alone.
static bool journal_has_table(const char *path, size_t rows)
{
    seglog_reader r;
    seglog_entry e;
    size_t found = 0;
    if (seglog_reader_open(&r, path)) return false;
    while (found < 2 * rows && seglog_reader_here(&r, &e) && e.kind == (found % 2 ? JOURNAL_MISSING : JOURNAL_ROW))
        found++;
    seglog_reader_close(&r);
    return found == 2 * rows;
}

// The last segment that can be read says what is durable. One that cannot be is not even its table: nothing was told of it.
static int journal_recover(journal *j)
{
    int error = journal_segments_list(j->directory, &j->segments);
    while (!error && arrlenu(j->segments)) {
        seglog_header header;
        char *path = journal_segment_path(j->directory, arrlast(j->segments).number);
        error = seglog_continue(&j->log, path, &header, &j->cut);
        // A kill may have come while its table was written: the one before it knows the same.
        if (!error && arrlenu(j->segments) > 1) journal_read_before(j);
        size_t before = journal_known_named(&j->known);
        if (!error) journal_known_read(&j->known, path);
        if (error == EILSEQ && journal_put_aside(path) == ENOENT) {
            (void)arrpop(j->segments);
            error = 0;
            free(path);
            continue;
        }
        if (!error) arrlast(j->segments).bytes = j->log.size;
        if (!error && !journal_has_table(path, before)) seglog_close(&j->log); // the next commit begins another
        free(path);
        break;
    }
    if (arrlenu(j->segments)) j->current = arrlast(j->segments);
    for (size_t i = 0; i < hmlenu(j->known.hashes); i++)
        j->known.hashes[i].value = j->current.number;
    return error;
}

journal *journal_open(const journal_options *o, char **why)
{
    journal *j = memory_calloc(1, sizeof *j);
    *j = (journal){.directory = memory_strdup(o->directory),
                   .lock = -1,
                   .log = {.fd = -1},
                   .preambles = {.fd = -1},
                   .segment_bytes = o->segment_bytes,
                   .waiting_bytes = o->waiting_bytes,
                   .head = {.credit = o->credit}};
    journal_known_init(&j->known);
    int error = journal_make_directories(j);
    if (!error) error = journal_identify(j, o->wall_ns);
    if (!error) error = journal_open_preambles(j);
    if (!error) error = journal_recover(j);
    if (!error) return j;
    *why = memory_format("%s: %s", o->directory, error == EWOULDBLOCK ? "another head writes here" : strerror(error));
    journal_close(j);
    return NULL;
}

void journal_close(journal *j)
{
    if (!j) return;
    if (j->superseded > j->head.epoch && journal_write_identity(j, j->superseded))
        errno = 0; // the next run learns it, too
    journal_buffer *const buffers[] = {&j->filling, &j->writing, &j->table};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) {
        journal_empty(buffers[i]);
        arrfree(buffers[i]->bytes);
        arrfree(buffers[i]->pieces);
        arrfree(buffers[i]->changed);
        arrfree(buffers[i]->preambles);
    }
    seglog_close(&j->log);
    seglog_close(&j->preambles);
    if (j->lock >= 0) close(j->lock);
    journal_known_free(&j->known);
    arrfree(j->segments);
    arrfree(j->keep);
    free(j->directory);
    free(j);
}

#define _GNU_SOURCE
#include "spool.h"

#include "sha256.h"
#include "spool_segments.h"

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

enum { SPOOL_PASSED_OVER = 1 << 20, SPOOL_LEAST_SEGMENT = 4096, SPOOL_MOST_SEGMENT = 16 << 20 };

struct spool {
    char *directory;
    int lock;
    uint64_t bytes, segment_bytes, total;
    spool_segment *segments; // the oldest first; stb_ds
    seglog log;              // the last of them
    unsigned char stream[16], boot[8];
    uint64_t next, acknowledged, cut;
    spool_reason reason; // of numbers before the next entry that have none
    bool is_passing;     // numbers were passed over, and the disk does not know of it yet
    unsigned char *preamble;
    size_t preamble_size;
};

const unsigned char *spool_stream(const spool *s)
{
    return s->stream;
}

uint64_t spool_next(const spool *s)
{
    return s->next;
}

uint64_t spool_low(const spool *s)
{
    return arrlenu(s->segments) ? s->segments[0].first : s->next;
}

uint64_t spool_bytes(const spool *s)
{
    return s->total;
}

uint64_t spool_cut(const spool *s)
{
    return s->cut;
}

static int64_t spool_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

// ---- segments ----

// A segment that cannot be removed still counts.
static bool spool_drop_oldest(spool *s)
{
    char *path = spool_segment_path(s->directory, s->segments[0].first);
    bool gone = unlink(path) == 0 || errno == ENOENT;
    free(path);
    if (!gone) return false;
    s->total -= s->segments[0].bytes;
    arrdel(s->segments, 0);
    return true;
}

static void spool_count(spool *s)
{
    spool_segment *last = &arrlast(s->segments);
    s->total += s->log.size - last->bytes;
    last->bytes = s->log.size;
}

static int spool_put(spool *s, const seglog_entry *e)
{
    int error = seglog_append(&s->log, e);
    if (!error) spool_count(s);
    return error;
}

static int spool_begin_segment(spool *s)
{
    seglog_header header = {.first = s->next, .time_ns = spool_now()};
    memcpy(header.owner, s->stream, sizeof header.owner);
    memcpy(&header.extra, s->boot, sizeof header.extra);
    seglog_close(&s->log);
    while (arrlenu(s->segments) && s->total + s->segment_bytes > s->bytes)
        if (!spool_drop_oldest(s)) break;
    char *path = spool_segment_path(s->directory, s->next);
    int error = seglog_create(&s->log, path, &header);
    if (!error) {
        arrput(s->segments, (spool_segment){.first = s->next});
        spool_count(s);
        const seglog_entry e = {.kind = SPOOL_PREAMBLE, .size = (uint32_t)s->preamble_size, .data = s->preamble};
        error = spool_put(s, &e);
    }
    if (error && s->log.fd >= 0) { // none without its preamble
        seglog_close(&s->log);
        unlink(path);
        s->total -= arrlast(s->segments).bytes;
        (void)arrpop(s->segments);
    }
    free(path);
    return error;
}

void spool_preamble(spool *s, const void *data, size_t size)
{
    free(s->preamble);
    s->preamble = memory_copy(data, size);
    s->preamble_size = size;
    seglog_close(&s->log); // the next tick begins a segment
}

static int spool_try(spool *s, const seglog_entry *e)
{
    if (spool_is_at_end_of_segment(s)) {
        int error = spool_begin_segment(s);
        if (error) return error;
    }
    return spool_put(s, e);
}

// All of its ticks are below the first of the next one.
static bool spool_is_done(const spool *s)
{
    return arrlenu(s->segments) > 1 && s->segments[1].first <= s->acknowledged + 1;
}

int spool_append(spool *s, int64_t wall_ns, bool is_key, const void *data, size_t size)
{
    int error = EFBIG;
    if (size <= SEGLOG_MOST) {
        const seglog_entry e = {.kind = SPOOL_TICK,
                                .flags = (uint16_t)((is_key ? SPOOL_KEY : 0) | (unsigned)s->reason << 8),
                                .size = (uint32_t)size,
                                .number = s->next,
                                .time_ns = wall_ns,
                                .data = data};
        error = spool_try(s, &e);
        if ((error == ENOSPC || error == EDQUOT) && spool_is_done(s) && spool_drop_oldest(s)) error = spool_try(s, &e);
    }
    // Else the next death of the node would have the same numbers passed over, and those from here on used twice.
    if (!error && s->is_passing) {
        spool_segments_sync(s->directory);
        s->is_passing = false;
    }
    s->next++;
    // Numbers that were passed over stay what they are: they must not pass for readings that a disk refused.
    if (!error || s->reason != SPOOL_RESTARTED) s->reason = error ? SPOOL_FULL : SPOOL_NO_REASON;
    return error;
}

void spool_acknowledged(spool *s, uint64_t number)
{
    if (number > s->acknowledged) s->acknowledged = number;
}

bool spool_is_at_end_of_segment(const spool *s)
{
    return s->log.fd < 0 || s->log.size >= s->segment_bytes;
}

// ---- opening ----

static bool spool_get_boot(spool *s, const char *boot_id)
{
    char text[64] = "";
    unsigned char hash[SHA256_BYTES];
    FILE *f = boot_id ? NULL : fopen("/proc/sys/kernel/random/boot_id", "re");
    if (f) {
        if (!fgets(text, sizeof text, f)) *text = 0;
        fclose(f);
    }
    if (boot_id) snprintf(text, sizeof text, "%s", boot_id);
    sha256(hash, text, strlen(text));
    memcpy(s->boot, hash, sizeof s->boot);
    return true;
}

// Goes on behind the last tick of the last segment that has one; a segment without one goes.
static int spool_find_end(spool *s)
{
    bool found = false, damaged = false;
    for (size_t i = arrlenu(s->segments); i-- > 0 && !found;) {
        seglog_header header;
        seglog log;
        uint64_t cut = 0, last = 0;
        char *path = spool_segment_path(s->directory, s->segments[i].first);
        int error = seglog_continue(&log, path, &header, &cut);
        if (!error) last = spool_segment_last(path);
        s->cut += cut;
        if (error && error != EILSEQ) {
            free(path);
            return error;
        }
        if (last) {
            found = true;
            memcpy(s->stream, header.owner, sizeof s->stream);
            s->next = last + 1;
            s->segments[i].bytes = log.size;
            if (damaged || memcmp(&header.extra, s->boot, sizeof s->boot) != 0) {
                s->next += SPOOL_PASSED_OVER;
                s->reason = SPOOL_RESTARTED;
                s->is_passing = true;
            }
        } else {
            // What it held may have been sent: its numbers are not used again.
            damaged |= error == EILSEQ && s->segments[i].bytes >= SEGLOG_HEADER + SEGLOG_HEAD;
            if (unlink(path) == 0) arrdel(s->segments, i);
        }
        seglog_close(&log);
        free(path);
    }
    for (size_t i = 0; i < arrlenu(s->segments); i++)
        s->total += s->segments[i].bytes;
    if (found) return 0;
    s->next = 1;
    return seglog_random(s->stream, sizeof s->stream);
}

static int spool_lock(spool *s)
{
    char *path = memory_format("%s/lock", s->directory);
    struct stat st;
    int error = mkdir(s->directory, 0700) && errno != EEXIST ? errno : 0;
    if (!error && lstat(s->directory, &st)) error = errno;
    // In a directory that all may write to, somebody else could have made it.
    if (!error && (!S_ISDIR(st.st_mode) || st.st_uid != geteuid())) error = EPERM;
    if (error) {
        free(path);
        return error;
    }
    s->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    free(path);
    if (s->lock < 0) return errno;
    return flock(s->lock, LOCK_EX | LOCK_NB) ? errno : 0;
}

spool *spool_open(const spool_options *o, char **why)
{
    spool *s = memory_calloc(1, sizeof *s);
    uint64_t segment = o->segment_bytes ? o->segment_bytes : o->bytes / 16;
    if (segment < SPOOL_LEAST_SEGMENT) segment = SPOOL_LEAST_SEGMENT;
    *s = (spool){.directory = memory_strdup(o->directory),
                 .lock = -1,
                 .log = {.fd = -1},
                 .bytes = o->bytes,
                 .segment_bytes = segment < SPOOL_MOST_SEGMENT ? segment : SPOOL_MOST_SEGMENT};
    spool_get_boot(s, o->boot_id);
    int error = spool_lock(s);
    if (!error) error = spool_segments_list(o->directory, &s->segments);
    if (!error) error = spool_find_end(s);
    if (!error) return s;
    *why = memory_format("%s: %s", o->directory,
                         error == EWOULDBLOCK ? "another agent writes this spool" : strerror(error));
    spool_close(s);
    return NULL;
}

void spool_close(spool *s)
{
    if (!s) return;
    seglog_close(&s->log);
    if (s->lock >= 0) close(s->lock);
    arrfree(s->segments);
    free(s->preamble);
    free(s->directory);
    free(s);
}

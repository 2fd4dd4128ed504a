#include "spool_reader.h"

#include "sha256.h"
#include "spool_segments.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <stdlib.h>
#include <string.h>

struct spool_reader {
    char *directory;
    seglog_reader segment;
    bool open, damaged;
    uint64_t first, after; // of the open segment; of the next one, UINT64_MAX: there was none
    uint64_t next;         // no number below it comes from here on
    unsigned char *preamble, hash[SHA256_BYTES];
    size_t preamble_size;
};

spool_reader *spool_reader_open(const char *directory)
{
    spool_reader *r = memory_calloc(1, sizeof *r);
    r->directory = memory_strdup(directory);
    return r;
}

static void spool_reader_leave(spool_reader *r)
{
    if (r->open) seglog_reader_close(&r->segment);
    r->open = false;
}

// The last segment that begins at or below the number, else the first one above it.
static bool spool_reader_enter(spool_reader *r, uint64_t number)
{
    spool_segment *segments = NULL;
    size_t at = SIZE_MAX;
    spool_reader_leave(r);
    if (spool_segments_list(r->directory, &segments) == 0) {
        for (size_t i = 0; i < arrlenu(segments); i++)
            if (at == SIZE_MAX || segments[i].first <= number) at = i;
    }
    if (at != SIZE_MAX) {
        char *path = spool_segment_path(r->directory, segments[at].first);
        r->open = seglog_reader_open(&r->segment, path) == 0;
        r->first = segments[at].first;
        r->after = at + 1 < arrlenu(segments) ? segments[at + 1].first : UINT64_MAX;
        r->next = r->first;
        r->preamble_size = 0;
        free(path);
    }
    arrfree(segments);
    // A segment that cannot be opened is a gap as long as there is one behind it.
    if (at != SIZE_MAX && !r->open && r->after != UINT64_MAX) return spool_reader_enter(r, r->after);
    return r->open;
}

static void spool_reader_keep_preamble(spool_reader *r, const seglog_entry *e)
{
    free(r->preamble);
    r->preamble = memory_copy(e->data, e->size);
    r->preamble_size = e->size;
    sha256(r->hash, e->data, e->size);
}

// The next tick of the open segment. A number that is written already is there, or damaged.
static bool spool_reader_step(spool_reader *r, bool written, seglog_entry *e)
{
    uint64_t lost = r->segment.lost;
    while (written ? seglog_reader_next(&r->segment, e) : seglog_reader_here(&r->segment, e)) {
        r->damaged |= r->segment.lost != lost;
        if (e->kind == SPOOL_PREAMBLE) spool_reader_keep_preamble(r, e);
        if (e->kind == SPOOL_TICK && e->number >= r->next && r->preamble_size) return true;
    }
    return false;
}

bool spool_reader_get(spool_reader *r, uint64_t number, uint64_t high, spool_tick *t)
{
    seglog_entry e;
    if (!r->open || number < r->next || number >= r->after) {
        if (!spool_reader_enter(r, number)) return false;
    }
    for (;;) {
        r->damaged = false;
        while (spool_reader_step(r, r->next <= high, &e)) {
            r->next = e.number + 1;
            if (e.number < number) continue;
            unsigned reason = e.flags >> 8 & 15;
            *t = (spool_tick){.number = e.number,
                              .wall_ns = e.time_ns,
                              .is_key = (e.flags & SPOOL_KEY) != 0,
                              .reason = reason ? reason : SPOOL_DAMAGED,
                              .data = e.data,
                              .size = e.size,
                              .preamble = r->preamble,
                              .preamble_size = r->preamble_size,
                              .hash = r->hash};
            return true;
        }
        // A segment may have come behind this one meanwhile. The last one is read again from where it ended.
        if (r->next > high) return false;
        uint64_t first = r->first;
        if (!spool_reader_enter(r, r->after != UINT64_MAX ? r->after : high)) return false;
        if (r->first <= first) {
            r->next = high + 1; // written, but not readable here: nothing more is known of it
            return false;
        }
    }
}

void spool_reader_close(spool_reader *r)
{
    if (!r) return;
    spool_reader_leave(r);
    free(r->preamble);
    free(r->directory);
    free(r);
}

#include "status.h"

#include "live/journal/long_text.h"
#include "live/journal/sessions.h"
#include "live/spool/seglog.h"

#include "analysis/base/json_text.h"
#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void status_put(long_text *t, const char *key, uint64_t value)
{
    long_text_put(t, key);
    long_text_count(t, value);
}

static void status_put_signed(long_text *t, const char *key, int64_t value)
{
    long_text_put(t, key);
    if (value < 0) long_text_put(t, "-");
    long_text_count(t, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

static void status_put_missing(long_text *t, const journal_row *row)
{
    const char *before = "\"";
    long_text_put(t, ",\"missing_ticks\":{");
    for (unsigned i = 0; i < SPOOL_REASONS; i++) {
        if (!row->missing[i]) continue;
        long_text_put(t, before);
        long_text_put(t, spool_reason_name(i));
        status_put(t, "\":", row->missing[i]);
        before = ",\"";
    }
    long_text_put(t, "}");
}

static void status_put_row(long_text *t, const journal_row *row, int64_t wall_ns)
{
    uint64_t behind = row->r.high > row->r.durable ? row->r.high - row->r.durable : 0;
    long_text_put(t, "{\"node\":");
    json_text_quoted(long_text_bytes, t, row->node);
    status_put(t, ",\"durable\":", row->r.durable);
    status_put(t, ",\"behind_ticks\":", behind);
    status_put(t, ",\"ticks\":", row->ticks);
    status_put(t, ",\"frames\":", row->frames);
    status_put(t, ",\"frames_refused\":", row->refused);
    status_put(t, ",\"bytes\":", row->bytes);
    status_put_signed(t, ",\"last_tick_ns\":", row->tick_ns);
    if (row->heard_ns)
        status_put_signed(t, ",\"silent_ns\":", wall_ns - row->heard_ns);
    else
        long_text_put(t, ",\"silent_ns\":null");
    status_put_missing(t, row);
    if (row->since_ns)
        status_put_signed(t, ",\"missing_since_ns\":", row->since_ns);
    else
        long_text_put(t, ",\"missing_since_ns\":null");
    long_text_put(t, "}");
}

static void status_copy_clear(status_copy *c)
{
    for (size_t i = 0; i < arrlenu(c->rows); i++)
        free(c->rows[i].node);
    if (c->rows) arrsetlen(c->rows, 0);
}

void status_copy_take(status_copy *c, const journal *j)
{
    status_copy_clear(c);
    c->journal_bytes = journal_bytes(j);
    for (size_t i = 0; i < journal_row_count(j); i++) {
        if (!*journal_row_at(j, i)->node) continue;
        journal_row row = *journal_row_at(j, i);
        row.node = memory_strdup(row.node);
        arrput(c->rows, row);
    }
}

void status_copy_free(status_copy *c)
{
    status_copy_clear(c);
    arrfree(c->rows);
}

// Of thousands of nodes a tree of values would be half of the head's memory.
char *status_text(const status_copy *c, const status_facts *facts, int64_t wall_ns)
{
    long_text t = {.text = NULL};
    size_t size;
    status_put_signed(&t, "{\"format\":\"netprof-live-status\",\"version\":1,\"wall_ns\":", wall_ns);
    status_put_signed(&t, ",\"process\":", getpid());
    long_text_put(&t, facts->up ? ",\"connected\":true" : ",\"connected\":false");
    long_text_put(&t, facts->stands_by ? ",\"stands_by\":true" : ",\"stands_by\":false");
    status_put(&t, ",\"journal_bytes\":", c->journal_bytes);
    status_put(&t, ",\"journal_limit\":", facts->journal_limit);
    status_put(&t, ",\"commits\":", facts->commits);
    status_put_signed(&t, ",\"commit_ns\":", facts->commit_ns);
    status_put(&t, ",\"malformed\":", facts->malformed);
    status_put(&t, ",\"turned_away\":", facts->turned_away);
    status_put(&t, ",\"dropped\":", facts->dropped);
    if (facts->disk_error) {
        long_text_put(&t, ",\"disk_error\":");
        json_text_quoted(long_text_bytes, &t, strerror(facts->disk_error));
        status_put_signed(&t, ",\"disk_since_ns\":", facts->disk_since_ns);
    }
    long_text_put(&t, ",\"nodes\":[");
    for (size_t i = 0; i < arrlenu(c->rows); i++) {
        if (i) long_text_put(&t, ",");
        status_put_row(&t, &c->rows[i], wall_ns);
    }
    long_text_put(&t, "]}");
    return long_text_end(&t, &size);
}

void status_write(const char *directory, const char *text)
{
    char *path = memory_format("%s/status.json", directory), *beside = memory_format("%s/status.new", directory);
    int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    size_t size = strlen(text);
    bool good = fd >= 0 && write(fd, text, size) == (ssize_t)size;
    if (fd >= 0) close(fd);
    if (!good || rename(beside, path)) unlink(beside); // the next one comes soon
    free(path);
    free(beside);
}

// ---- what is kept ----

// Its first readings build on those before them, up to 63. What came before that is of no use to it, whatever a node's clock
// says: one in the future would have all segments kept.
static const int64_t status_before_ns = 600000000000;

static bool status_may_go(const session *sessions, const char *path)
{
    seglog_reader r;
    seglog_entry e;
    frame f;
    bool needed = false;
    if (seglog_reader_open(&r, path)) return false;
    while (arrlenu(sessions) && !needed && seglog_reader_next(&r, &e)) {
        if (e.kind != JOURNAL_FRAME || !frame_parse(&f, e.data, e.size)) continue;
        for (size_t i = 0; i < arrlenu(sessions); i++) {
            const session *s = &sessions[i];
            const int64_t from_ns = s->start_ns - status_before_ns;
            needed |= e.time_ns >= from_ns && f.last_ns >= from_ns && (!s->stop_ns || f.first_ns <= s->stop_ns);
        }
    }
    seglog_reader_close(&r);
    return !needed;
}

size_t status_free_segments(const char *directory, const uint64_t *surplus)
{
    session *sessions = NULL;
    size_t n = 0;
    // Where it is not known which sessions there are, all is kept.
    for (bool may = arrlenu(surplus) && session_list(directory, &sessions) == 0; may && n < arrlenu(surplus);) {
        char *path = journal_segment_path(directory, surplus[n]);
        may = status_may_go(sessions, path);
        n += may;
        free(path);
    }
    session_list_free(&sessions);
    return n;
}

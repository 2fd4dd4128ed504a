#include "status.h"

#include "live/journal/sessions.h"
#include "live/spool/seglog.h"

#include "analysis/base/json_values.h"
#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static json_object *status_row(const journal_row *row, int64_t wall_ns)
{
    json_object *o = json_new_object(), *missing = json_new_object();
    uint64_t behind = row->r.high > row->r.durable ? row->r.high - row->r.durable : 0;
    json_put_text(o, "node", row->node);
    json_put_exact(o, "durable", row->r.durable);
    json_put_exact(o, "behind_ticks", behind);
    json_put_exact(o, "ticks", row->ticks);
    json_put_exact(o, "frames", row->frames);
    json_put_exact(o, "frames_refused", row->refused);
    json_put_exact(o, "bytes", row->bytes);
    json_put(o, "last_tick_ns", json_new_int64(row->tick_ns));
    json_put(o, "silent_ns", row->heard_ns ? json_new_int64(wall_ns - row->heard_ns) : NULL);
    for (unsigned i = 0; i < SPOOL_REASONS; i++)
        if (row->missing[i]) json_put_exact(missing, spool_reason_name(i), row->missing[i]);
    json_put(o, "missing_ticks", missing);
    json_put(o, "missing_since_ns", row->since_ns ? json_new_int64(row->since_ns) : NULL);
    return o;
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

char *status_text(const status_copy *c, const status_facts *facts, int64_t wall_ns)
{
    json_object *o = json_new_object(), *nodes = json_new_array();
    json_put(o, "format", json_new_string("netprof-live-status"));
    json_put(o, "version", json_new_int(1));
    json_put(o, "wall_ns", json_new_int64(wall_ns));
    json_put(o, "process", json_new_int(getpid()));
    json_put(o, "connected", json_new_boolean(facts->up));
    json_put(o, "stands_by", json_new_boolean(facts->stands_by));
    json_put_exact(o, "journal_bytes", c->journal_bytes);
    json_put_exact(o, "journal_limit", facts->journal_limit);
    json_put_exact(o, "commits", facts->commits);
    json_put_exact(o, "malformed", facts->malformed);
    json_put_exact(o, "turned_away", facts->turned_away);
    json_put_exact(o, "dropped", facts->dropped);
    json_put_text(o, "disk_error", facts->disk_error ? strerror(facts->disk_error) : NULL);
    if (facts->disk_error) json_put(o, "disk_since_ns", json_new_int64(facts->disk_since_ns));
    for (size_t i = 0; i < arrlenu(c->rows); i++)
        json_append(nodes, status_row(&c->rows[i], wall_ns));
    json_put(o, "nodes", nodes);
    char *text = memory_strdup(json_to_text(o, JSON_C_TO_STRING_PLAIN));
    json_object_put(o);
    return text;
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

#define _GNU_SOURCE
#include "session_export.h"

#include "cli/common.h"
#include "live/journal/journal_snapshots.h"
#include "live/spool/little.h"
#include "session_heads.h"
#include "session_readings.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"
#include "analysis/base/words.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// Messages of 5 ticks a second each, and a commit, are no delay to speak of.
static const int64_t session_early_ns = 10000000000;

typedef struct session_told {
    char *key;
    char *value;
} session_told;

// One node's file.
typedef struct session_file {
    const session *session;
    netprof_writer *writer;
    netprof_error error;
    session_told *told; // facts so far: each is written once; stb_ds
    session_written written;
    uint64_t gaps;
} session_file;

bool session_takes_node(const session *s, const char *node)
{
    char *list = s->nodes ? memory_strdup(s->nodes) : NULL, *at = list;
    bool takes = !list;
    for (char *word; !takes && (word = strsep(&at, ","));)
        takes = fnmatch(word, node, 0) == 0;
    free(list);
    return takes;
}

static void session_file_fact(void *user, const char *key, const char *value)
{
    session_file *f = user;
    ptrdiff_t i = shgeti(f->told, key);
    if (f->error.code || (i >= 0 && strcmp(f->told[i].value, value) == 0)) return;
    if (i >= 0) free(f->told[i].value);
    shput(f->told, key, memory_strdup(value));
    netprof_write_fact(f->writer, key, value, &f->error);
}

static void session_file_snapshot(void *user, const netprof_snapshot *s)
{
    session_file *f = user;
    if (!f->error.code && netprof_write_snapshot(f->writer, s, &f->error) == NETPROF_OK) f->written.snapshots++;
    if (!f->written.first_ns) f->written.first_ns = s->wall_ns;
    if (s->wall_ns > f->written.last_ns) f->written.last_ns = s->wall_ns;
}

// As a recording names what it lacks.
static void session_file_gap(session_file *f, const journal_stretch *t)
{
    const char *reason = spool_reason_text(t->reason);
    char *key = memory_format("gap_%llu", (unsigned long long)++f->gaps), *text;
    if (t->reason == SPOOL_RESTARTED) // numbers that were passed over, not readings
        text = memory_format("from %lld to %lld: %s", (long long)t->first_ns, (long long)t->last_ns, reason);
    else
        text = memory_format("%llu readings from %lld to %lld: %s", (unsigned long long)(t->last - t->first + 1),
                             (long long)t->first_ns, (long long)t->last_ns, reason);
    session_file_fact(f, key, text);
    free(key);
    free(text);
}

static void session_file_stream(session_file *f, journal_index *x, size_t stream, int64_t now_ns)
{
    const journal_stream *s = journal_index_stream(x, stream);
    int64_t stop = f->session->stop_ns ? f->session->stop_ns : now_ns;
    const session_readings_visitor v = {.snapshot = session_file_snapshot, .fact = session_file_fact, .user = f};
    uint64_t unread = session_readings_visit(x, stream, f->session, now_ns, &v);
    for (size_t i = 0; i < arrlenu(s->stretches); i++)
        if (s->stretches[i].is_gap && s->stretches[i].last_ns >= f->session->start_ns &&
            s->stretches[i].first_ns <= stop)
            session_file_gap(f, &s->stretches[i]);
    if (!unread) return;
    char *key = memory_format("gap_%llu", (unsigned long long)++f->gaps);
    char *text =
        memory_format("%llu readings cannot be read without others that are missing", (unsigned long long)unread);
    session_file_fact(f, key, text);
    free(key);
    free(text);
}

// A node that is behind, or away: the recording ends before the session does.
static void session_say_end(const session *s, const session_written *w, const char *node, int64_t now_ns)
{
    int64_t stop = s->stop_ns ? s->stop_ns : now_ns, early = stop - w->last_ns;
    if (!w->snapshots || early <= session_early_ns + 2 * s->interval_ns) return;
    warn("%s: its last reading is of %s, %s before the end of the session; netprof session status says whether more "
         "comes",
         safe(node), words_time(w->last_ns).text, words_duration((double)early / 1e9).text);
}

int session_export_node(journal_index *x, size_t first, const session *s, int64_t now_ns, const char *path,
                        session_written *written)
{
    session_file f = {.session = s};
    if (netprof_writer_open(&f.writer, path, 0, &f.error)) return fail_error(path, &f.error);
    sh_new_strdup(f.told);
    session_file_fact(&f, "session", s->name);
    session_file_fact(&f, "session_start_ns", words_integer(s->start_ns).text);
    if (s->stop_ns) session_file_fact(&f, "session_stop_ns", words_integer(s->stop_ns).text);
    session_file_stream(&f, x, first, now_ns);
    for (size_t i = first; (i = journal_index_stream(x, i)->after);)
        session_file_stream(&f, x, i, now_ns);
    *written = f.written;
    netprof_error closing = {.code = NETPROF_OK};
    netprof_writer_close(f.writer, !f.error.code && f.written.snapshots, &closing);
    if (!f.error.code) f.error = closing;
    for (size_t i = 0; i < shlenu(f.told); i++)
        free(f.told[i].value);
    shfree(f.told);
    return f.error.code ? fail_error(path, &f.error) : EXIT_DONE;
}

// A name that would be too long for a file is cut, and told from others by its hash; no other has a '.'.
char *session_file_path(const char *to, const char *node)
{
    enum { MOST = 160 };
    char token[3 * FRAME_NODE_MOST + 1];
    unsigned char hash[SHA256_BYTES];
    if (!frame_token(token, node)) return NULL;
    if (strlen(token) <= MOST) return memory_format("%s/%s.netprof", to, token);
    sha256(hash, node, strlen(node));
    return memory_format("%s/%.*s.%016llx.netprof", to, MOST, token, (unsigned long long)little_get(hash, 8));
}

// Those that have no file because there is nothing to put into it.
static void session_say_without(const session *s, uint64_t count, const char *first)
{
    if (count)
        warn("%s: %s of the session %s no readings of this time, and so no file: %s%s", safe(s->name),
             words_many(count, "node|nodes").text, count == 1 ? "has" : "have", safe(first), count == 1 ? "" : ", ...");
}

static int session_export_all(journal_index *x, const session *s, int64_t now_ns, const char *to, char ***files)
{
    const char *without = NULL;
    uint64_t count = 0;
    for (size_t i = 0; i < journal_index_count(x); i++) {
        const char *node = journal_index_stream(x, i)->node;
        session_written w = {.snapshots = 0};
        if (!journal_index_stream(x, i)->is_first || !session_takes_node(s, node)) continue;
        char *path = session_file_path(to, node);
        if (!path) continue;
        int code = session_export_node(x, i, s, now_ns, path, &w);
        if (!code) session_say_end(s, &w, node, now_ns);
        if (!code && w.snapshots)
            arrput(*files, path);
        else
            free(path);
        if (code) return code;
        if (!w.snapshots && !count++) without = node;
    }
    if (arrlenu(*files)) {
        session_say_without(s, count, without);
        return EXIT_DONE;
    }
    return fail(EXIT_NOTHING, "%s: the head has no readings of this time and these nodes", safe(s->name));
}

int session_export(const char *directories, const session *s, int64_t now_ns, const char *to, char ***files)
{
    char *why = NULL;
    if (mkdir(to, 0777) && errno != EEXIST) return fail_file(EXIT_FILE, to, "%s", strerror(errno));
    journal_index *x = session_heads_open(directories, s, now_ns, &why);
    if (!x) {
        int code = fail(EXIT_FILE, "%s", safe(why));
        free(why);
        return code;
    }
    int code = session_export_all(x, s, now_ns, to, files);
    journal_index_close(x);
    return code;
}

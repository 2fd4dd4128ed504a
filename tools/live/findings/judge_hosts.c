#define _GNU_SOURCE
#include "judge_hosts.h"

#include "cli/common.h"
#include "live/session/session_document.h"
#include "live/session/session_export.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"
#include "analysis/base/words.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static const int64_t judge_silent_ns = 30000000000, judge_gone_ns = 86400000000000, judge_small_ns = 5000000000;

// ---- what the head says ----

static int64_t judge_number(json_object *o, const char *key, int64_t otherwise)
{
    json_object *v;
    return json_object_object_get_ex(o, key, &v) && v ? json_object_get_int64(v) : otherwise;
}

// A node has a row for each spool that it ever had: the one that was heard from last counts.
static void judge_take_row(judge *j, json_object *row, int64_t age_ns)
{
    json_object *name;
    if (!json_object_object_get_ex(row, "node", &name) || !json_object_is_type(name, json_type_string)) return;
    judge_host *h = judge_add_host(j, json_object_get_string(name));
    int64_t silent = judge_number(row, "silent_ns", -1), last = judge_number(row, "last_tick_ns", 0);
    if (silent >= 0) silent += age_ns;
    if (last > h->last_ns) h->last_ns = last;
    if (silent < 0 || (h->silent_ns >= 0 && silent >= h->silent_ns)) return;
    h->silent_ns = silent;
    h->behind = (uint64_t)judge_number(row, "behind_ticks", 0);
}

void judge_take_status(judge *j, int64_t wall_ns)
{
    char *path = memory_format("%s/status.json", j->directory);
    json_object *o = session_read_document(path), *rows = NULL;
    free(path);
    if (o && json_object_object_get_ex(o, "nodes", &rows) && json_object_is_type(rows, json_type_array)) {
        int64_t age = wall_ns - judge_number(o, "wall_ns", wall_ns);
        for (size_t i = 0; i < json_object_array_length(rows); i++)
            judge_take_row(j, json_object_array_get_idx(rows, i), age > 0 ? age : 0);
    }
    json_object_put(o);
}

// ---- recordings ----

static void judge_host_is_not(judge_host *h, judge_state state, char *text)
{
    free(h->text);
    h->state = state;
    h->severity = SEVERITY_UNKNOWN;
    h->text = text;
}

// Its readings of the window did not come, or too few of them.
static void judge_say_why_not(const judge *j, judge_host *h)
{
    int64_t since = h->last_ns ? j->window.wall_ns - h->last_ns : -1;
    if (h->silent_ns >= 0 && h->silent_ns <= judge_silent_ns)
        judge_host_is_not(h, JUDGE_BEHIND,
                          h->behind ? memory_format("its readings of this time have not come yet: %s behind",
                                                    words_many(h->behind, "tick|ticks").text)
                                    : memory_strdup("fewer than two readings of this time"));
    else if (h->silent_ns < 0 && since < 0)
        judge_host_is_not(h, JUDGE_SILENT, memory_strdup("not heard from since the head started"));
    else if (since > judge_gone_ns && (h->silent_ns < 0 || h->silent_ns > judge_gone_ns))
        judge_host_is_not(h, JUDGE_GONE, memory_format("its last reading is of %s", words_time(h->last_ns).text));
    else
        judge_host_is_not(h, JUDGE_SILENT,
                          memory_format("not heard from for %s",
                                        words_duration((double)(h->silent_ns < 0 ? since : h->silent_ns) / 1e9).text));
}

// A node that fell silent is told at once, not when the window has passed.
static bool judge_is_whole(const judge *j, const session_written *w)
{
    return w->snapshots >= 2 && j->window.to_ns - w->last_ns <= judge_silent_ns;
}

// Beside the whole one: of thousands of nodes all readings of all counters at once would be too much.
static int judge_write_small(judge_host *h, journal_index *x, size_t stream, const session *window, const char *path)
{
    session few = *window;
    session_written w = {.snapshots = 0};
    few.fast = true;
    few.interval_ns = judge_small_ns;
    char *beside = memory_format("%.*s.small.netprof", (int)(strlen(path) - strlen(".netprof")), path);
    int code = session_export_node(x, stream, &few, few.stop_ns, beside, &w);
    if (!code && w.snapshots >= 2) h->small = memory_format("./%s", strrchr(beside, '/') + 1);
    free(beside);
    return code;
}

static int judge_write_host(judge *j, journal_index *x, size_t stream, const session *window, const char *work)
{
    judge_host *h = judge_add_host(j, journal_index_stream(x, stream)->node);
    session_written w = {.snapshots = 0};
    char *path = session_file_path(work, h->name);
    if (!path) return EXIT_DONE;
    int code = session_export_node(x, stream, window, window->stop_ns, path, &w);
    if (w.last_ns > h->last_ns) h->last_ns = w.last_ns;
    h->snapshots = w.snapshots;
    bool silent = h->silent_ns > judge_silent_ns;
    if (!code && !silent && judge_is_whole(j, &w)) h->file = memory_format("./%s", strrchr(path, '/') + 1);
    if (h->file && h->wide) code = judge_write_small(h, x, stream, window, path);
    free(path);
    return code;
}

// A file system that takes thousands of new files at once makes the head's next commit wait for all of them.
static void judge_breathe(size_t files)
{
    enum { AT_ONCE = 8, FEW = 500 };
    const struct timespec nap = {.tv_nsec = 3000000};
    if (files > FEW && files % AT_ONCE == 0) nanosleep(&nap, NULL);
}

int judge_write_window(judge *j, const char *work)
{
    const session window = {.name = "live", .start_ns = j->window.from_ns, .stop_ns = j->window.to_ns};
    char *why = NULL;
    int code = EXIT_DONE;
    journal_index *x = journal_index_open(j->directory, window.start_ns, window.stop_ns, &why);
    if (!x) {
        code = fail(EXIT_FILE, "%s", safe(why));
        free(why);
        return code;
    }
    for (size_t i = 0, files = 0; i < journal_index_count(x) && !code; i++) {
        if (!journal_index_stream(x, i)->is_first) continue;
        code = judge_write_host(j, x, i, &window, work);
        judge_breathe(++files);
    }
    journal_index_close(x);
    for (size_t i = 0; i < arrlenu(j->hosts); i++)
        if (!j->hosts[i].file) judge_say_why_not(j, &j->hosts[i]);
    return code;
}

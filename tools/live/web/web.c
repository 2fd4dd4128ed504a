#define _GNU_SOURCE
#include "web.h"

#include "live/journal/status_file.h"

#include "analysis/base/memory.h"
#include "analysis/base/words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

int64_t web_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

json_object *web_time(int64_t wall_ns)
{
    time_t at = (time_t)(wall_ns / 1000000000);
    struct tm tm;
    char text[40];
    if (wall_ns <= 0 || !gmtime_r(&at, &tm) || !strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm)) return NULL;
    return json_new_string(text);
}

void web_put_named(json_object *o, const char *name, json_object *value)
{
    json_object *key = json_text_value(name);
    json_put(o, json_object_get_string(key), value);
    json_object_put(key);
}

void web_answer(http_answer *a, json_object *o)
{
    a->data = memory_strdup(json_to_text(o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
    json_object_put(o);
}

const char *web_severity_word(web_severity s)
{
    static const char *const words[] = {"ok", "info", "unknown", "watch", "bad"};
    return words[s];
}

// ---- the head ----

// What it takes of this machine, by /proc.
static void web_look_process(web_head *h, const web_head *before)
{
    char path[64], line[512];
    unsigned long long user = 0, system = 0;
    long pages = 0;
    h->cpu_share = h->memory_bytes = NAN;
    h->ticks_ns = -1;
    if (h->process <= 0) return;
    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)h->process);
    FILE *f = fopen(path, "re");
    const char *rest = f && fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
    if (f) fclose(f);
    if (!rest || sscanf(rest + 1,
                        " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %*d %*d %*d %*d %*d %*d %*u "
                        "%*u %ld",
                        &user, &system, &pages) != 3)
        return;
    h->memory_bytes = (double)pages * (double)sysconf(_SC_PAGESIZE);
    h->ticks_ns = (int64_t)((double)(user + system) / (double)sysconf(_SC_CLK_TCK) * 1e9);
    int64_t since = h->wall_ns - before->wall_ns;
    if (before->process == h->process && before->ticks_ns >= 0 && since > 0)
        h->cpu_share = (double)(h->ticks_ns - before->ticks_ns) / (double)since;
}

static void web_look_disk(web_head *h, const char *directory)
{
    struct statvfs v;
    h->free_bytes = h->disk_bytes = NAN;
    if (statvfs(directory, &v)) return;
    h->free_bytes = (double)v.f_bavail * (double)v.f_frsize;
    h->disk_bytes = (double)v.f_blocks * (double)v.f_frsize;
}

// It has a row for each spool that a node had: what the one says that was heard from last, and what all lost.
static void web_look_node(web *w, json_object *row, int64_t age_ns)
{
    const char *name = status_file_text(row, "node");
    if (!*name) return;
    node *x = nodes_find(w->nodes, name);
    if (!x) x = nodes_make(w->nodes, name);
    if (!x->known) x->silent_ns = -1, x->lost = 0, x->behind = 0;
    int64_t silent = status_file_silence(row), last = (int64_t)status_file_number(row, "last_tick_ns");
    if (!x->known || (silent >= 0 && (x->silent_ns < 0 || silent < x->silent_ns))) {
        x->silent_ns = silent < 0 ? -1 : silent + age_ns;
        x->behind = status_file_number(row, "behind_ticks");
        x->durable = status_file_number(row, "durable");
        if (last > x->tick_ns) x->tick_ns = last;
    }
    x->lost += status_file_missing(row);
    x->known = true;
}

static void web_take_status(web *w, json_object *o, web_head *h)
{
    json_object *list;
    h->known = true;
    h->connected = status_file_number(o, "connected");
    h->wall_ns = (int64_t)status_file_number(o, "wall_ns");
    h->process = (int64_t)status_file_number(o, "process");
    h->journal_bytes = status_file_number(o, "journal_bytes");
    h->journal_limit = status_file_number(o, "journal_limit");
    h->commits = status_file_number(o, "commits");
    h->malformed = status_file_number(o, "malformed");
    h->turned_away = status_file_number(o, "turned_away");
    h->disk_since_ns = (int64_t)status_file_number(o, "disk_since_ns");
    snprintf(h->disk_error, sizeof h->disk_error, "%s", status_file_text(o, "disk_error"));
    int64_t age = web_now() - h->wall_ns;
    if (!json_object_object_get_ex(o, "nodes", &list) || !json_object_is_type(list, json_type_array)) return;
    for (size_t i = 0; i < nodes_count(w->nodes); i++)
        nodes_at(w->nodes, i)->known = false;
    for (size_t i = 0; i < json_object_array_length(list); i++)
        web_look_node(w, json_object_array_get_idx(list, i), age > 0 ? age : 0);
}

void web_look(web *w)
{
    web_head h = {.runs = status_file_head_runs(w->directory)};
    json_object *o = status_file_read(w->directory);
    nodes_lock(w->nodes);
    if (o) web_take_status(w, o, &h);
    if (h.wall_ns == w->head.wall_ns) { // the same status as before
        h.cpu_share = w->head.cpu_share;
        h.memory_bytes = w->head.memory_bytes;
        h.ticks_ns = w->head.ticks_ns;
    } else {
        web_look_process(&h, &w->head);
        if (h.known) growth_note(&w->growth, h.wall_ns, h.journal_bytes);
    }
    web_look_disk(&h, w->directory);
    w->head = h;
    w->looks++;
    nodes_unlock(w->nodes);
    json_object_put(o);
}

#define _GNU_SOURCE
#include "web.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

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

// Of a node in the status, as it is read before anybody has to wait.
typedef struct web_row {
    const char *name;
    int64_t silent_ns, last_ns;
    uint64_t behind, durable, lost;
} web_row;

static web_row *web_read_rows(json_object *o)
{
    json_object *list;
    web_row *rows = NULL;
    if (!json_object_object_get_ex(o, "nodes", &list) || !json_object_is_type(list, json_type_array)) return NULL;
    for (size_t i = 0; i < json_object_array_length(list); i++) {
        json_object *row = json_object_array_get_idx(list, i);
        web_row r = {.name = status_file_text(row, "node"),
                     .silent_ns = status_file_silence(row),
                     .last_ns = (int64_t)status_file_number(row, "last_tick_ns"),
                     .behind = status_file_number(row, "behind_ticks"),
                     .durable = status_file_number(row, "durable"),
                     .lost = status_file_missing(row)};
        if (*r.name) arrput(rows, r);
    }
    return rows;
}

// It has a row for each spool that a node had: what the one says that was heard from last, and what all lost.
static void web_look_node(web *w, const web_row *row, int64_t age_ns)
{
    node *x = nodes_find(w->nodes, row->name);
    if (!x) x = nodes_make(w->nodes, row->name);
    if (!x->known) x->silent_ns = -1, x->lost = 0, x->behind = 0;
    if (!x->known || (row->silent_ns >= 0 && (x->silent_ns < 0 || row->silent_ns < x->silent_ns))) {
        x->silent_ns = row->silent_ns < 0 ? -1 : row->silent_ns + age_ns;
        x->behind = row->behind;
        x->durable = row->durable;
        if (row->last_ns > x->tick_ns) x->tick_ns = row->last_ns;
    }
    x->lost += row->lost;
    x->known = true;
}

static void web_read_head(json_object *o, web_head *h)
{
    h->known = true;
    h->connected = status_file_number(o, "connected");
    h->wall_ns = (int64_t)status_file_number(o, "wall_ns");
    h->process = (int64_t)status_file_number(o, "process");
    h->journal_bytes = status_file_number(o, "journal_bytes");
    h->journal_limit = status_file_number(o, "journal_limit");
    h->commit_ns = (int64_t)status_file_number(o, "commit_ns");
    h->commits = status_file_number(o, "commits");
    h->malformed = status_file_number(o, "malformed");
    h->turned_away = status_file_number(o, "turned_away");
    h->disk_since_ns = (int64_t)status_file_number(o, "disk_since_ns");
    snprintf(h->disk_error, sizeof h->disk_error, "%s", status_file_text(o, "disk_error"));
}

// Locked.
static void web_take_rows(web *w, const web_row *rows, int64_t wall_ns)
{
    int64_t age = web_now() - wall_ns;
    for (size_t i = 0; i < nodes_count(w->nodes); i++)
        nodes_at(w->nodes, i)->known = false;
    for (size_t i = 0; i < arrlenu(rows); i++)
        web_look_node(w, &rows[i], age > 0 ? age : 0);
}

// Locked: nothing new was said of them.
static void web_age(web *w, int64_t more_ns)
{
    for (size_t i = 0; i < nodes_count(w->nodes); i++) {
        node *x = nodes_at(w->nodes, i);
        if (x->known && x->silent_ns >= 0) x->silent_ns += more_ns;
    }
}

// Thousands of nodes are a file of megabytes: it is read where it is new, and put into numbers before others wait for it.
static void web_look_status(web *w)
{
    bool is_new = status_file_is_new(w->directory, "status.json", &w->seen);
    json_object *o = is_new ? status_file_read(w->directory) : NULL;
    web_head h = is_new ? (web_head){.known = false} : w->head; // this thread alone writes it
    if (o) web_read_head(o, &h);
    int64_t now = web_now();
    h.runs = status_file_head_runs(w->directory);
    if (is_new || !h.known) web_look_process(&h, &w->head);
    web_look_disk(&h, w->directory);
    web_row *rows = o ? web_read_rows(o) : NULL;
    nodes_lock(w->nodes);
    if (o) {
        web_take_rows(w, rows, h.wall_ns);
        growth_note(&w->growth, h.wall_ns, h.journal_bytes);
    } else if (now > w->looked_ns) {
        web_age(w, now - w->looked_ns);
    }
    w->looked_ns = now;
    w->head = h;
    w->looks++;
    nodes_unlock(w->nodes);
    arrfree(rows);
    json_object_put(o);
}

void web_look(web *w)
{
    judged found = w->judged;
    web_look_status(w);
    racks_look(&w->racks, w->nodes, w->directory);
    if (!judged_look(&found, w->directory)) return;
    judged before = w->judged;
    nodes_lock(w->nodes);
    w->judged = found;
    nodes_unlock(w->nodes);
    judged_free(&before);
}

uint64_t web_turn(web *w)
{
    nodes_lock(w->nodes);
    uint64_t turn = w->looks;
    nodes_unlock(w->nodes);
    return turn;
}

void web_free(web *w)
{
    for (size_t i = 0; i < LISTED_KINDS; i++)
        free(w->listed[i].text);
    judged_free(&w->judged);
    racks_free(&w->racks);
}

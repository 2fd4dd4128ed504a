#define _POSIX_C_SOURCE 200809L // clock_gettime
#include "recording.h"

#include "analysis/base/memory.h"
#include "cli/output.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static void recording_set_trouble(recording *r, const netprof_error *error)
{
    free(r->trouble);
    r->trouble = error ? memory_format("%s%s%s", *error->path ? safe(error->path) : "", *error->path ? ": " : "",
                                       error_text(error))
                       : NULL;
}

static void recording_show(recording *r, const history *h, const rules *set)
{
    netprof_error error;
    view *made;
    netprof_err err = view_make(&made, h, set, &error);
    if (err) {
        if (err != NETPROF_ERR_NOSOURCE) recording_set_trouble(r, &error);
        return;
    }
    view_free(r->view);
    r->view = made;
}

// ---- as it comes ----

void recording_take(recording *r, const netprof_snapshot *s)
{
    r->fresh = true;
    r->readings++;
    history_add(&r->history, s);
    trails_add(&r->trails, s);
}

static void recording_take_followed(void *user, const netprof_snapshot *s)
{
    recording_take(user, s);
}

// What is wrong stays until there is a reading: of a file that is none, nothing new is no good news.
netprof_err recording_look(recording *r, netprof_error *error)
{
    size_t before = r->readings;
    netprof_err err = follow_look(r->file, recording_take_followed, r, error);
    if (err)
        recording_set_trouble(r, error);
    else if (r->readings > before)
        recording_set_trouble(r, NULL);
    return err;
}

void recording_make_view(recording *r, const rules *set)
{
    if (!r->fresh || r->sought) return;
    recording_show(r, &r->history, set);
    if (r->view) r->fresh = false;
}

// ---- a moment of the past ----

// Reads the file's first readings, or all of them: visit() gets each with its number, from 1 on.
typedef void recording_visit(void *user, size_t number, const netprof_snapshot *s);

static void recording_walk(const recording *r, size_t most, recording_visit *visit, void *user)
{
    netprof_reader *reader;
    netprof_item x = {.type = NETPROF_ITEM_FACT};
    size_t number = 0;
    if (netprof_reader_open(&reader, follow_path(r->file), NULL, NULL)) return;
    while (number < most && !netprof_reader_next(reader, &x, NULL) && x.type != NETPROF_ITEM_END)
        if (x.type == NETPROF_ITEM_SNAPSHOT) visit(user, ++number, x.snapshot);
    netprof_reader_close(reader);
}

static void recording_note_time(void *user, size_t number, const netprof_snapshot *s)
{
    int64_t **times = user;
    (void)number;
    arrput(*times, s->begin_ns);
}

typedef struct recording_past {
    history history;
    trails *trails;
} recording_past;

static void recording_take_past(void *user, size_t number, const netprof_snapshot *s)
{
    recording_past *past = user;
    (void)number;
    history_add(&past->history, s);
    trails_add(past->trails, s);
}

static void recording_show_past(recording *r, const rules *set, size_t number)
{
    recording_past past = {.history = {.window_ns = r->history.window_ns}, .trails = &r->past};
    trails_free(&r->past);
    recording_walk(r, number, recording_take_past, &past);
    r->sought = number;
    recording_show(r, &past.history, set);
    history_free(&past.history);
}

// The number of the reading there; those of a moment have their own times.
static size_t recording_find(const int64_t *times, size_t from, long readings, double seconds)
{
    size_t count = arrlenu(times);
    double at = (double)from + (double)readings, wanted = (double)times[from - 1] + seconds * 1e9;
    size_t number = at < 2 ? 2 : at > (double)count ? count + 1 : (size_t)at;
    while (seconds < 0 && number > 2 && (double)times[number - 1] > wanted)
        number--;
    while (seconds > 0 && number <= count && (double)times[number - 1] < wanted)
        number++;
    return number;
}

void recording_seek(recording *r, const rules *set, long readings, double seconds)
{
    int64_t *times = NULL;
    if (!r->file) return;
    recording_walk(r, SIZE_MAX, recording_note_time, &times);
    size_t count = arrlenu(times), from = r->sought ? r->sought : count;
    if (count > 2 && from && from <= count) {
        size_t number = recording_find(times, from, readings, seconds);
        if (number > count) {
            r->sought = 0;
            r->fresh = true;
            recording_make_view(r, set);
        } else if (number != from || r->sought) {
            r->readings = count;
            recording_show_past(r, set, number);
        }
    }
    arrfree(times);
}

const trails *recording_trails(const recording *r)
{
    return r->sought ? &r->past : &r->trails;
}

// ---- what is known ----

bool recording_ended(const recording *r)
{
    return r->file && follow_ended(r->file);
}

double recording_age_s(const recording *r)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return r->view ? (double)((int64_t)t.tv_sec * 1000000000 + t.tv_nsec - r->view->wall_ns) / 1e9 : 0;
}

const char *recording_name(const recording *r)
{
    const char *slash = r->path ? strrchr(r->path, '/') : NULL;
    return !r->path ? r->view ? r->view->host : "" : safe(slash ? slash + 1 : r->path);
}

void recording_free(recording *r)
{
    view_free(r->view);
    history_free(&r->history);
    trails_free(&r->trails);
    trails_free(&r->past);
    follow_close(r->file);
    free(r->trouble);
    *r = (recording){0};
}

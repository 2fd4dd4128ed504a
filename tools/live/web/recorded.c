// Sessions: what is recorded. They are files in the head's directory, as netprof session writes them.
#define _GNU_SOURCE
#include "recorded.h"

#include "cli/options.h"
#include "live/journal/sessions.h"
#include "run_program.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"
#include "analysis/base/words.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RECORDED_REPORT_S = 300, RECORDED_REPORT_MOST = 256 << 20, RECORDED_VIEW_NODES = 64 };
#define RECORDED_VIEW "15m"

// ---- what is asked for ----

// A body that is an object, or empty. NULL: it is neither.
static json_object *recorded_parse(const http_request *r)
{
    if (!r->body_size) return json_new_object();
    json_tokener *tokener = json_new_tokener(8);
    json_object *o = json_feed_tokener(tokener, r->body, (int)r->body_size);
    bool whole = json_tokener_get_error(tokener) == json_tokener_success;
    json_tokener_free(tokener);
    if (whole && o && json_object_is_type(o, json_type_object)) return o;
    json_object_put(o);
    return NULL;
}

// A text; NULL: not given. A list of texts becomes one by commas. *bad: it is something else.
static char *recorded_list_of(json_object *o, const char *key, bool *bad)
{
    json_object *v;
    char *text = NULL;
    if (!json_object_object_get_ex(o, key, &v) || !v) return NULL;
    if (json_object_is_type(v, json_type_string)) return memory_strdup(json_object_get_string(v));
    *bad |= !json_object_is_type(v, json_type_array);
    for (size_t i = 0; !*bad && i < json_object_array_length(v); i++) {
        json_object *word = json_object_array_get_idx(v, i);
        *bad |= !json_object_is_type(word, json_type_string);
        char *longer =
            *bad ? NULL : memory_format("%s%s%s", text ? text : "", text ? "," : "", json_object_get_string(word));
        free(text);
        text = longer;
    }
    return text;
}

static void recorded_done(http_answer *a, const char *name, const char *text, bool has_file)
{
    json_object *o = json_new_object();
    char *path = has_file ? memory_format("/sessions/%s/report.pdf", name) : NULL;
    json_put(o, "success", json_new_boolean(true));
    json_put_text(o, "message", text);
    json_put(o, "output_file", path ? json_new_string(path) : NULL);
    if (name) json_put_text(o, "name", name);
    free(path);
    web_answer(a, o);
}

static void recorded_fail(http_answer *a, const char *name, int error)
{
    char *text = memory_format("%s: %s", name,
                               error == ENOENT   ? "there is no such session"
                               : error == EILSEQ ? "its file is no session"
                                                 : strerror(error));
    http_fail(a, error == ENOENT ? 404 : 500, text);
    free(text);
}

// ---- start ----

// NULL: good; else what is wrong.
static const char *recorded_read_order(json_object *o, session *s)
{
    bool bad = false;
    int64_t since = 0, in = 0;
    char *name = recorded_list_of(o, "name", &bad), *interval = recorded_list_of(o, "interval", &bad),
         *back = recorded_list_of(o, "since", &bad), *ahead = recorded_list_of(o, "in", &bad),
         *set = recorded_list_of(o, "set", &bad);
    s->nodes = recorded_list_of(o, "nodes", &bad);
    s->sources = recorded_list_of(o, "sources", &bad);
    s->include = recorded_list_of(o, "include", &bad);
    s->exclude = recorded_list_of(o, "exclude", &bad);
    const char *wrong = bad ? "expected texts" : NULL;
    words_text now = words_utc(web_now(), 3);
    if (!name || !*name) { // as gswarm, which makes one up
        free(name);
        name = memory_format("session-%s", now.text);
        for (char *p = name; *p; p++)
            if (*p == ' ' || *p == ':') *p = '-';
    }
    if (!wrong && !session_is_name(name))
        wrong = "name: expected 1 to 64 letters, digits, '-', '_' and '.', not first a '.'";
    if (!wrong && interval && !parse_duration(interval, &s->interval_ns))
        wrong = "interval: expected a time like \"1s\"";
    if (!wrong && back && !parse_duration(back, &since)) wrong = "since: expected a time like \"10m\"";
    if (!wrong && ahead && !parse_duration(ahead, &in)) wrong = "in: expected a time like \"8h\"";
    if (!wrong && back && ahead) wrong = "since and in: expected one of them";
    if (!wrong && set && strcmp(set, "all") != 0 && strcmp(set, "fast") != 0) wrong = "set: expected all or fast";
    s->fast = set && strcmp(set, "fast") == 0;
    s->start_ns = web_now() - since + in;
    if (!wrong && s->start_ns <= 0) wrong = "since: before 1970";
    snprintf(s->name, sizeof s->name, "%s", wrong ? "" : name);
    free(name);
    free(interval);
    free(back);
    free(ahead);
    free(set);
    return wrong;
}

void recorded_start(void *user, const http_request *r, http_answer *a)
{
    web *w = user;
    session there, s = {.interval_ns = 0};
    json_object *o = recorded_parse(r);
    const char *wrong = o ? recorded_read_order(o, &s) : "expected a JSON object";
    json_object_put(o);
    if (wrong) {
        http_fail(a, 400, wrong);
        session_free(&s);
        return;
    }
    int error = session_read(w->directory, s.name, &there);
    if (error != ENOENT) {
        http_fail(a, 409, "there is a session of this name");
        if (!error) session_free(&there);
    } else if ((error = session_write(w->directory, &s))) {
        recorded_fail(a, s.name, error);
    } else {
        bool planned = session_state_of(&s, web_now()) == SESSION_PLANNED;
        char *text = memory_format("Session %s %s%s", s.name, planned ? "is planned from " : "goes on",
                                   planned ? words_time(s.start_ns).text : "");
        recorded_done(a, s.name, text, true);
        free(text);
    }
    session_free(&s);
}

// ---- stop ----

static void recorded_stop_named(const web *w, const char *name, http_answer *a)
{
    session s;
    int error = session_read(w->directory, name, &s);
    if (error) {
        recorded_fail(a, "name", error == EINVAL ? ENOENT : error);
        return;
    }
    bool planned = session_state_of(&s, web_now()) == SESSION_PLANNED;
    if (s.stop_ns) {
        http_fail(a, 409, "this session has ended already");
    } else if ((error = session_end(w->directory, &s, web_now()))) {
        recorded_fail(a, name, error);
    } else {
        char *text = memory_format("Session %s %s", name, planned ? "is cancelled" : "has ended");
        recorded_done(a, name, text, !planned);
        free(text);
    }
    session_free(&s);
}

static void recorded_stop_all(const web *w, http_answer *a)
{
    session *list = NULL;
    uint64_t stopped = 0;
    int error = session_list(w->directory, &list);
    for (size_t i = 0; i < arrlenu(list); i++)
        if (session_state_of(&list[i], web_now()) == SESSION_GOES_ON &&
            session_end(w->directory, &list[i], web_now()) == 0)
            stopped++;
    session_list_free(&list);
    if (error) {
        recorded_fail(a, "sessions", error);
        return;
    }
    char *text = memory_format("%s stopped", words_many(stopped, "session|sessions").text);
    recorded_done(a, NULL, text, false);
    free(text);
}

void recorded_stop(void *user, const http_request *r, http_answer *a)
{
    bool bad = false;
    json_object *o = recorded_parse(r);
    char *name = o ? recorded_list_of(o, "name", &bad) : NULL;
    if (!o || bad)
        http_fail(a, 400, "expected {} or {\"name\": \"NAME\"}");
    else if (name)
        recorded_stop_named(user, name, a);
    else
        recorded_stop_all(user, a);
    free(name);
    json_object_put(o);
}

// ---- list ----

static json_object *recorded_session(const session *s)
{
    json_object *o = json_new_object();
    char *path = memory_format("/sessions/%s/report.pdf", s->name);
    json_put_text(o, "name", s->name);
    session_state state = session_state_of(s, web_now());
    json_put(o, "is_active", json_new_boolean(state == SESSION_GOES_ON));
    json_put_text(o, "state", session_state_name(state));
    json_put(o, "start_time", web_time(s->start_ns));
    json_put(o, "end_time", web_time(s->stop_ns));
    json_put(o, "output_file", json_new_string(path));
    json_put_text(o, "nodes", s->nodes);
    json_put_text(o, "sources", s->sources);
    json_put_text(o, "include", s->include);
    json_put_text(o, "exclude", s->exclude);
    if (s->interval_ns) json_put_number(o, "interval_s", (double)s->interval_ns / 1e9);
    json_put_text(o, "set", s->fast ? "fast" : "all");
    free(path);
    return o;
}

void recorded_list(void *user, const http_request *r, http_answer *a)
{
    web *w = user;
    session *list = NULL;
    json_object *o = json_new_object(), *sessions = json_new_array();
    uint64_t active = 0;
    (void)r;
    int error = session_list(w->directory, &list);
    for (size_t i = 0; i < arrlenu(list); i++) {
        active += session_state_of(&list[i], web_now()) == SESSION_GOES_ON;
        json_append(sessions, recorded_session(&list[i]));
    }
    json_put_exact(o, "total_sessions", arrlenu(list));
    json_put_exact(o, "active_sessions", active);
    json_put(o, "sessions", sessions);
    session_list_free(&list);
    if (!error || error == ENOENT) {
        web_answer(a, o);
        return;
    }
    json_object_put(o);
    recorded_fail(a, "sessions", error);
}

// ---- /sessions/NAME/report.pdf ----

static const struct {
    const char *file, *type;
} recorded_reports[] = {{"report.pdf", "application/pdf"}, {"report.html", "text/html; charset=utf-8"}};

// words: of netprof-session, whose output goes to the path that is given it.
static void recorded_run(const char *const *words, const char *file, const char *path, http_answer *a)
{
    char *said = NULL;
    int status = run_program(words, -1, -1, RECORDED_REPORT_S, &said),
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0) a->data = run_read_all(fd, RECORDED_REPORT_MOST, &a->size);
    for (size_t i = 0; i < 2; i++)
        if (strcmp(recorded_reports[i].file, file) == 0) a->type = recorded_reports[i].type;
    // A report is a page that only shows: its own policy says so, too.
    a->more[0] = "Content-Security-Policy";
    a->more[1] = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:";
    if (fd >= 0) close(fd);
    if (!a->data || !a->size) {
        free(a->data);
        http_fail(a, status == 4 ? 404 : 500, *said ? said : "no report could be made");
    }
    free(said);
}

// In the reports' lane; order: NAME/report.pdf, or, of a view, /report.pdf, a blank and its nodes.
static void recorded_make_report(void *user, char *order, http_answer *a)
{
    const web *w = user;
    const char *temporary = getenv("TMPDIR");
    char *slash = strchr(order, '/'), *globs = strchr(slash, ' ');
    char *inside = memory_format("%s/netprof-web.XXXXXX", temporary && *temporary ? temporary : "/tmp");
    *slash = 0;
    if (globs) *globs++ = 0;
    if (!mkdtemp(inside)) {
        http_fail(a, 500, "no place for a report");
        free(inside);
        return;
    }
    char *path = memory_format("%s/%s", inside, slash + 1), *chosen = memory_format("--nodes=%s", globs ? globs : "");
    const char *const of_session[] = {
        "netprof-session", "report", "--dir", w->directory, "-o", path, "--", order, NULL};
    const char *const of_view[] = {"netprof-session", "report",      "--dir", w->directory, "-o", path,
                                   "--since",         RECORDED_VIEW, chosen,  NULL};
    recorded_run(globs ? of_view : of_session, slash + 1, path, a);
    unlink(path);
    rmdir(inside);
    free(chosen);
    free(path);
    free(inside);
}

// ---- /view/report.pdf: what the page shows ----

// As a glob that is this name and no other; a comma, which would part two, is any letter.
static char *recorded_glob(const char *name)
{
    char *text = memory_alloc(2 * strlen(name) + 1), *to = text;
    for (; *name; name++) {
        if (strchr("*?[]\\", *name)) *to++ = '\\';
        *to++ = *name;
        if (*name == ',') to[-1] = '?';
    }
    *to = 0;
    return text;
}

void recorded_view(void *user, const http_request *r, http_answer *a)
{
    web *w = user;
    const char *one = http_query(r, "node");
    bool known = strcmp(r->rest, recorded_reports[0].file) == 0 || strcmp(r->rest, recorded_reports[1].file) == 0;
    nodes_lock(w->nodes);
    size_t count = nodes_count(w->nodes);
    bool there = one && nodes_find(w->nodes, one);
    nodes_unlock(w->nodes);
    if (!known || (one && !there) || !count) {
        http_fail(a, 404, known ? "there is no such node" : "there is no such report");
    } else if (!one && count > RECORDED_VIEW_NODES) {
        http_fail(a, 400, "of more than 64 nodes a view is of one: node=NAME. Of all, start a session");
    } else {
        char *glob = one ? recorded_glob(one) : memory_strdup("*");
        a->job = recorded_make_report;
        a->lane = HTTP_REPORTS;
        a->order = memory_format("/%s %s", r->rest, glob);
        free(glob);
    }
}

// ---- of a session ----

void recorded_report(void *user, const http_request *r, http_answer *a)
{
    web *w = user;
    session s;
    const char *slash = strchr(r->rest, '/');
    bool known = false;
    for (size_t i = 0; slash && i < 2; i++)
        known |= strcmp(recorded_reports[i].file, slash + 1) == 0;
    char *name = memory_strndup(r->rest, slash ? (size_t)(slash - r->rest) : 0);
    if (!known || !session_is_name(name) || session_read(w->directory, name, &s)) {
        http_fail(a, 404, "there is no such session, or no such report");
    } else {
        session_free(&s);
        a->job = recorded_make_report;
        a->lane = HTTP_REPORTS;
        a->order = memory_strdup(r->rest);
    }
    free(name);
}

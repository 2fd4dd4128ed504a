#include "judge_json.h"

#include "live/session/session_document.h"

#include "analysis/base/json_values.h"
#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void judge_put_time(json_object *o, const char *key, int64_t ns)
{
    json_put(o, key, ns ? json_new_int64(ns) : NULL);
}

// What netprof check says, without the evidence, and since when.
static json_object *judge_finding_json(const judge_finding *x)
{
    static const char *const kept[] = {"rule",  "severity", "device", "device_count", "host_count",   "class",
                                       "claim", "value",    "unit",   "cost_s",       "explained_by", "advice"};
    json_object *o = json_new_object(), *v;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (json_object_object_get_ex(x->told, kept[i], &v)) json_put(o, kept[i], json_object_get(v));
    if (*x->host)
        json_put_text(o, "host", x->host);
    else
        json_put(o, "host", NULL);
    if (x->session)
        json_put_text(o, "session", x->session);
    else
        json_put(o, "session", NULL);
    json_put_text(o, "worst_severity", severity_name(x->worst));
    json_put(o, "in_last_window", json_new_boolean(x->now));
    judge_put_time(o, "begin_ns", x->begin_ns);
    judge_put_time(o, "last_seen_ns", x->seen_ns);
    judge_put_time(o, "end_ns", x->end_ns);
    return o;
}

static json_object *judge_host_json(const judge_host *h)
{
    json_object *o = json_new_object(), *verdict = json_new_object();
    json_put_text(o, "host", h->name);
    json_put_text(verdict, "severity", severity_name(h->severity));
    json_put_text(verdict, "text", h->text ? h->text : "");
    json_put(o, "verdict", verdict);
    json_put_text(o, "state", judge_state_name(h->state));
    json_put(o, "silent_ns", h->silent_ns >= 0 ? json_new_int64(h->silent_ns) : NULL);
    judge_put_time(o, "last_tick_ns", h->last_ns);
    json_put_exact(o, "behind_ticks", h->behind);
    json_put_exact(o, "snapshot_count", h->snapshots);
    return o;
}

char *judge_json(const judge *j)
{
    const judge_window *w = &j->window;
    json_object *o = json_new_object(), *verdict = json_new_object(), *findings = json_new_array(),
                *hosts = json_new_array();
    json_put(o, "format", json_new_string("netprof-live-findings"));
    json_put(o, "version", json_new_int(1));
    json_put_text(verdict, "severity", severity_name(w->severity));
    json_put_text(verdict, "text", w->text);
    json_put(o, "verdict", verdict);
    judge_put_time(o, "wall_ns", w->wall_ns);
    judge_put_time(o, "begin_ns", w->from_ns);
    judge_put_time(o, "end_ns", w->to_ns);
    json_put_number(o, "every_s", w->every_s);
    json_put_number(o, "judging_cpu_s", w->cpu_s);
    for (size_t i = 0; i < arrlenu(j->findings); i++)
        json_append(findings, judge_finding_json(&j->findings[i]));
    for (size_t i = 0; i < arrlenu(j->hosts); i++)
        json_append(hosts, judge_host_json(&j->hosts[i]));
    json_put(o, "findings", findings);
    json_put(o, "hosts", hosts);
    char *text = memory_strdup(json_to_text(o, JSON_C_TO_STRING_PLAIN));
    json_object_put(o);
    return text;
}

int judge_write(const char *directory, const char *text)
{
    char *path = memory_format("%s/findings.json", directory), *beside = memory_format("%s/findings.new", directory);
    int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600), error = fd < 0 ? errno : 0;
    size_t size = strlen(text), at = 0;
    while (!error && at < size) {
        ssize_t n = write(fd, text + at, size - at);
        if (n < 0 && errno != EINTR) error = errno;
        if (n > 0) at += (size_t)n;
    }
    if (fd >= 0) close(fd);
    if (!error && rename(beside, path)) error = errno;
    if (error) unlink(beside);
    free(path);
    free(beside);
    return error;
}

// ---- going on ----

static void judge_finding_again(judge *j, json_object *o)
{
    judge_finding x = {.told = o,
                       .begin_ns = session_number_of(o, "begin_ns"),
                       .seen_ns = session_number_of(o, "last_seen_ns"),
                       .end_ns = session_number_of(o, "end_ns")};
    const char *host = session_text_of(o, "host"), *session = session_text_of(o, "session"),
               *name = session_text_of(o, "rule");
    if (!*name || !x.begin_ns || !severity_parse(session_text_of(o, "severity"), &x.severity)) return;
    if (!severity_parse(session_text_of(o, "worst_severity"), &x.worst)) x.worst = x.severity;
    json_object_get(o);
    x.host = memory_strdup(host);
    x.session = *session ? memory_strdup(session) : NULL;
    x.key = judge_key(host, session_text_of(o, "device"), name, session);
    arrput(j->findings, x);
}

void judge_go_on(judge *j, json_object *before)
{
    if (strcmp(session_text_of(before, "format"), "netprof-live-findings") != 0) return;
    json_object *list = session_list_of(before, "findings");
    for (size_t i = 0; list && i < json_object_array_length(list); i++)
        judge_finding_again(j, json_object_array_get_idx(list, i));
    list = session_list_of(before, "hosts");
    for (size_t i = 0; list && i < json_object_array_length(list); i++) {
        json_object *one = json_object_array_get_idx(list, i);
        if (!*session_text_of(one, "host")) continue;
        judge_add_host(j, session_text_of(one, "host"))->last_ns = session_number_of(one, "last_tick_ns");
    }
}

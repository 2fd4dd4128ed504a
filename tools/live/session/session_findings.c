#include "session_findings.h"

#include "cli/output.h"
#include "session_document.h"

#include "analysis/base/json_values.h"
#include "analysis/base/memory.h"

#include <stdlib.h>
#include <string.h>

// A judge that stopped says nothing of what happened since, however good it was before.
static const int64_t session_findings_late_ns = 60000000000;

static bool session_findings_set_verdict(json_object *o, char *text)
{
    json_object *verdict = json_new_object();
    json_put_text(verdict, "severity", severity_name(SEVERITY_UNKNOWN));
    json_put_text(verdict, "text", text);
    json_put(o, "verdict", verdict);
    free(text);
    return true;
}

// True: it was put into words that nothing is known of now.
static bool session_findings_age(json_object *o, int64_t now_ns)
{
    int64_t at = session_number_of(o, "wall_ns");
    json_object *every;
    double every_s = json_object_object_get_ex(o, "every_s", &every) ? json_object_get_double(every) : 0;
    if (now_ns - at <= session_findings_late_ns + (int64_t)(2e9 * every_s)) return false;
    return session_findings_set_verdict(o, memory_format("Could not be judged: nothing was judged since %s, %s ago",
                                                         words_time(at).text,
                                                         words_duration((double)(now_ns - at) / 1e9).text));
}

static severity session_findings_severity(json_object *o)
{
    severity s = SEVERITY_UNKNOWN;
    json_object *verdict;
    if (json_object_object_get_ex(o, "verdict", &verdict)) severity_parse(session_text_of(verdict, "severity"), &s);
    return s;
}

static bool session_findings_is_blind(json_object *o)
{
    json_object *hosts = session_list_of(o, "hosts");
    bool blind = session_findings_severity(o) == SEVERITY_UNKNOWN;
    for (size_t i = 0; hosts && i < json_object_array_length(hosts); i++) {
        json_object *h = json_object_array_get_idx(hosts, i);
        blind |= strcmp(session_text_of(h, "state"), "gone") != 0 && session_findings_severity(h) == SEVERITY_UNKNOWN;
    }
    return blind;
}

// ---- text ----

static const char *session_findings_where(json_object *x, char to[300])
{
    const char *host = session_text_of(x, "host"), *device = session_text_of(x, "device");
    int64_t hosts = session_number_of(x, "host_count");
    if (*host)
        snprintf(to, 300, "%s%s%s", host, *device ? " " : "", device);
    else
        snprintf(to, 300, "%s", words_many((uint64_t)hosts, "node").text);
    return to;
}

static void session_findings_row(table *t, json_object *x)
{
    char where[300];
    severity s = SEVERITY_UNKNOWN;
    int64_t end = session_number_of(x, "end_ns");
    json_object *now;
    bool in_last = json_object_object_get_ex(x, "in_last_window", &now) && json_object_get_boolean(now);
    severity_parse(session_text_of(x, "severity"), &s);
    table_cell(t, end ? DIM : s >= SEVERITY_HIGH ? ALARM : WARNING, severity_name(s));
    table_cell(t, PLAIN, session_findings_where(x, where));
    table_cell(t, PLAIN, session_text_of(x, "claim"));
    table_cell(t, PLAIN, words_time(session_number_of(x, "begin_ns")).text);
    table_cell(t, PLAIN, in_last ? "" : words_time(session_number_of(x, "last_seen_ns")).text);
    table_cell(t, PLAIN, end ? "ended" : "");
    table_cell(t, PLAIN, session_text_of(x, "session"));
}

static void session_findings_table(json_object *o, bool ended)
{
    static const column columns[] = {{"severity", 0},
                                     {"where", 0},
                                     {"finding", COLUMN_WRAP},
                                     {"since", 0},
                                     {"last seen", COLUMN_LEAN},
                                     {"", COLUMN_LEAN},
                                     {"session", COLUMN_LEAN}};
    json_object *list = session_list_of(o, "findings");
    table *t = table_begin(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; list && i < json_object_array_length(list); i++) {
        json_object *x = json_object_array_get_idx(list, i);
        if (ended || !session_number_of(x, "end_ns")) session_findings_row(t, x);
    }
    table_end(t, stdout, 0);
}

static void session_findings_unjudged(json_object *o)
{
    static const column columns[] = {{"not judged", 0}, {"why", COLUMN_WRAP}};
    json_object *hosts = session_list_of(o, "hosts"), *verdict;
    table *t = table_begin(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; hosts && i < json_object_array_length(hosts); i++) {
        json_object *h = json_object_array_get_idx(hosts, i);
        if (strcmp(session_text_of(h, "state"), "judged") == 0) continue;
        table_cell(t, PLAIN, session_text_of(h, "host"));
        table_cell(t, PLAIN, json_object_object_get_ex(h, "verdict", &verdict) ? session_text_of(verdict, "text") : "");
    }
    if (table_lines(t)) putchar('\n');
    table_end(t, stdout, 0);
}

static void session_findings_text(json_object *o, bool ended)
{
    json_object *verdict, *every;
    double every_s = json_object_object_get_ex(o, "every_s", &every) ? json_object_get_double(every) : 0;
    int64_t begin = session_number_of(o, "begin_ns"), end = session_number_of(o, "end_ns");
    if (json_object_object_get_ex(o, "verdict", &verdict))
        heading(stdout, "%s", safe(session_text_of(verdict, "text")));
    printf("The %s to %s; judged every %s.\n", words_duration((double)(end - begin) / 1e9).text, words_time(end).text,
           words_duration(every_s).text);
    if (every_s > (double)(end - begin) / 1e9)
        printf("There are more nodes than can be judged all the time: what happens between two windows is not seen.\n");
    session_findings_table(o, ended);
    session_findings_unjudged(o);
}

int session_findings(const char *directory, int64_t now_ns, bool as_json, bool ended, const fail_on *failing)
{
    char *path = memory_format("%s/findings.json", directory);
    json_object *o = session_read_document(path);
    free(path);
    if (!o)
        return fail_file(EXIT_FILE, directory,
                         "nothing was judged here: netprof head does so, unless it was started with --no-findings");
    session_findings_age(o, now_ns);
    severity worst = session_findings_severity(o);
    bool blind = session_findings_is_blind(o);
    if (as_json) {
        json_print(stdout, o);
    } else {
        session_findings_text(o, ended);
        json_object_put(o);
    }
    return fail_on_code(failing, worst, blind);
}

#include "judged.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"
#include "analysis/catalog/openmetrics.h"
#include "analysis/rules/rules.h"

#include <stdlib.h>
#include <string.h>

static const int64_t judged_old_ns = 60000000000; // as netprof session findings has it

json_object *judged_document(const char *directory)
{
    char *path = memory_format("%s/findings.json", directory);
    json_object *o = status_file_parse(path);
    free(path);
    if (o && strcmp(status_file_text(o, "format"), "netprof-live-findings") == 0) return o;
    json_object_put(o);
    return NULL;
}

// Six severities for four words: what is warn or worse is BAD.
static web_severity judged_severity(const char *name)
{
    static const web_severity of[] = {
        [SEVERITY_OK] = WEB_OK,       [SEVERITY_INFO] = WEB_INFO, [SEVERITY_UNKNOWN] = WEB_UNKNOWN,
        [SEVERITY_WATCH] = WEB_WATCH, [SEVERITY_WARN] = WEB_BAD,  [SEVERITY_HIGH] = WEB_BAD,
        [SEVERITY_CRITICAL] = WEB_BAD};
    severity s;
    return severity_parse(name, &s) ? of[s] : WEB_UNKNOWN;
}

static char *judged_labels(json_object *o)
{
    static const char *const keys[] = {"host", "device", "rule", "severity", "session"};
    char *labels = memory_strdup("");
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
        labels = openmetrics_label(labels, keys[k], status_file_text(o, keys[k]));
    return labels;
}

static void judged_add(judged *j, json_object *o)
{
    const char *host = status_file_text(o, "host"), *device = status_file_text(o, "device"),
               *claim = status_file_text(o, "claim");
    judged_finding f = {.severity = judged_severity(status_file_text(o, "severity")),
                        .begin_ns = (int64_t)status_file_number(o, "begin_ns"),
                        .node = *host ? memory_strdup(host) : NULL,
                        .text = memory_format("%s%s%s%s%s", host, *host && *device ? " " : "", device,
                                              *host || *device ? ": " : "", claim),
                        .labels = judged_labels(o),
                        .open = !status_file_number(o, "end_ns")};
    j->open += f.open && f.severity >= WEB_WATCH;
    arrput(j->list, f);
}

static int judged_order(const void *a, const void *b)
{
    const judged_finding *x = a, *y = b;
    if (x->open != y->open) return x->open ? -1 : 1;
    if (x->open && x->severity != y->severity) return x->severity > y->severity ? -1 : 1;
    return (x->begin_ns < y->begin_ns) - (x->begin_ns > y->begin_ns);
}

bool judged_is_recent(const judged *j)
{
    return j->judged && web_now() - j->wall_ns <= judged_old_ns + (int64_t)(2e9 * j->every_s);
}

static void judged_read(judged *j, json_object *o)
{
    json_object *list, *v;
    j->judged = true;
    j->wall_ns = (int64_t)status_file_number(o, "wall_ns");
    if (json_object_object_get_ex(o, "every_s", &v)) j->every_s = json_object_get_double(v);
    if (json_object_object_get_ex(o, "verdict", &v)) {
        j->good = judged_severity(status_file_text(v, "severity")) <= WEB_INFO;
        j->text = memory_strdup(status_file_text(v, "text"));
    }
    if (json_object_object_get_ex(o, "findings", &list) && json_object_is_type(list, json_type_array))
        for (size_t i = 0; i < json_object_array_length(list); i++)
            judged_add(j, json_object_array_get_idx(list, i));
    j->count = arrlenu(j->list);
    if (j->count) qsort(j->list, j->count, sizeof *j->list, judged_order);
}

bool judged_look(judged *j, const char *directory)
{
    status_seen seen = j->seen;
    if (!status_file_is_new(directory, "findings.json", &seen)) return false;
    json_object *o = judged_document(directory);
    *j = (judged){.seen = seen};
    if (o) judged_read(j, o);
    json_object_put(o);
    return true;
}

const judged_finding *judged_worst(const judged *j)
{
    bool any = judged_is_recent(j) && j->count && j->list[0].open && j->list[0].severity >= WEB_WATCH;
    return any ? &j->list[0] : NULL;
}

void judged_free(judged *j)
{
    for (size_t i = 0; i < j->count; i++) {
        free(j->list[i].node);
        free(j->list[i].text);
        free(j->list[i].labels);
    }
    arrfree(j->list);
    free(j->text);
}

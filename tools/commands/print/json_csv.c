#include "json_csv.h"

#include "analysis/base/memory.h"
#include "cli/output.h"

#include <stdlib.h>
#include <string.h>

// The value at a path of keys; NULL where there is none.
static json_object *json_csv_at(json_object *o, const char *path)
{
    char *copy = memory_strdup(path), *save = NULL;
    for (char *key = strtok_r(copy, ".", &save); key && o; key = strtok_r(NULL, ".", &save)) {
        json_object *next = NULL;
        if (!json_object_is_type(o, json_type_object) || !json_object_object_get_ex(o, key, &next)) next = NULL;
        o = next;
    }
    free(copy);
    return o;
}

static void json_csv_titles(FILE *to, const char *const *keys)
{
    for (size_t i = 0; keys[i]; i++) {
        char *title = memory_strdup(keys[i]);
        for (char *dot = title; (dot = strchr(dot, '.'));)
            *dot = '_';
        csv_cell(to, title);
        free(title);
    }
    csv_end(to);
}

static void json_csv_row(FILE *to, json_object *row, const char *const *keys)
{
    for (size_t i = 0; keys[i]; i++) {
        json_object *value = json_csv_at(row, keys[i]);
        csv_cell(to, value ? json_object_get_string(value) : NULL);
    }
    csv_end(to);
}

void json_csv_print(FILE *to, json_object *list, const char *const *keys)
{
    json_csv_titles(to, keys);
    for (size_t i = 0; list && i < json_object_array_length(list); i++)
        json_csv_row(to, json_object_array_get_idx(list, i), keys);
}

static const char *const finding_keys[] = {"job",
                                           "host",
                                           "device",
                                           "rule",
                                           "severity",
                                           "class",
                                           "claim",
                                           "value",
                                           "unit",
                                           "cost_s",
                                           "explained_by",
                                           "threshold.value",
                                           "threshold.origin",
                                           "advice",
                                           NULL};

// Each says whose it is.
static void json_csv_take_findings(json_object *into, json_object *document)
{
    json_object *list = json_csv_at(document, "findings"), *job = json_csv_at(document, "facts.job_id");
    for (size_t i = 0; list && i < json_object_array_length(list); i++) {
        json_object *x = json_object_get(json_object_array_get_idx(list, i));
        if (job) json_put(x, "job", json_object_get(job));
        json_append(into, x);
    }
}

void findings_csv_print(FILE *to, json_object *document)
{
    json_object *all = json_new_array(), *jobs = json_csv_at(document, "jobs");
    json_csv_take_findings(all, document);
    for (size_t i = 0; jobs && i < json_object_array_length(jobs); i++)
        json_csv_take_findings(all, json_object_array_get_idx(jobs, i));
    json_csv_print(to, all, finding_keys);
    json_object_put(all);
    json_object_put(document);
}

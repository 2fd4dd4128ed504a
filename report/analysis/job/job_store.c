#include "job_store.h"

#include "analysis/base/list.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARNINGS = 1000 };

void job_warn(job_report *r, const char *path, const char *format, ...)
{
    char text[512];
    va_list arguments;
    if (r->warning_count >= WARNINGS || !list_grow_one(&r->warnings, r->warning_count, sizeof *r->warnings)) return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    job_warning *to = &r->warnings[r->warning_count];
    *to = (job_warning){strdup(path ? path : ""), strdup(text)};
    if (to->path && to->text) {
        r->warning_count++;
        return;
    }
    free(to->path);
    free(to->text);
}

// While a file is read its run does not have a schema yet.
const char *job_fact_of(const dataset_run *run, const netprof_schema *schema, const char *key)
{
    const char *value = netprof_fact_of(run->facts, run->fact_count, key);
    return value && *value ? value : netprof_fact_of(schema->facts, schema->fact_count, key);
}

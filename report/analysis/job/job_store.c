#include "job_store.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

job_reader *job_reader_make(const job_report_options *options)
{
    job_reader *reader = memory_calloc(1, sizeof *reader);
    reader->options = options;
    reader->start_s = reader->limit_s = NAN;
    reader->worst_ended = JOB_NONE;
    return reader;
}

void job_warn(job_report *r, const char *path, const char *format, ...)
{
    enum { WARNINGS = 1000 };
    char text[512];
    va_list arguments;
    if (r->warning_count == WARNINGS) return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    arrput(r->warnings, ((job_warning){memory_strdup(path ? path : ""), memory_strdup(text)}));
    r->warning_count++;
}

// While a file is read its run does not have a schema yet.
const char *job_fact_of(const dataset_run *run, const netprof_schema *schema, const char *key)
{
    const char *value = netprof_fact_of(run->facts, run->fact_count, key);
    return value && *value ? value : netprof_fact_of(schema->facts, schema->fact_count, key);
}

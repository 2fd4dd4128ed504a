#define _GNU_SOURCE // gethostname
#include "record_path.h"

#include "record_job.h"
#include "analysis/base/memory.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void record_path_put(FILE *to, const char *value)
{
    for (; *value; value++)
        putc(*value == '/' ? '_' : *value, to);
}

// PBS has the task in the job's number; LSF says 0 outside an array.
static void record_path_put_job(FILE *to)
{
    const char *job = record_job_fact("job_id"), *array = record_job_fact("job_array");
    const char *task = record_job_fact("job_array_task"), *again = record_job_fact("job_restart");
    bool has_task = task && (array || strcmp(task, "0") != 0) && !getenv("PBS_JOBID");
    record_path_put(to, array && has_task ? array : job ? job : "nojob");
    if (job && has_task) {
        putc('_', to);
        record_path_put(to, task);
    }
    if (job && again && strcmp(again, "0") != 0) {
        fputs("-r", to);
        record_path_put(to, again);
    }
}

static void record_path_put_time(FILE *to)
{
    char text[32];
    struct tm parts;
    time_t now = time(NULL);
    if (gmtime_r(&now, &parts) && strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &parts)) fputs(text, to);
}

// False: no code of ours.
static bool record_path_put_code(FILE *to, char code)
{
    char host[256] = "host";
    gethostname(host, sizeof host - 1);
    const char *node = getenv("SLURMD_NODENAME"), *rank = record_job_fact("rank");
    switch (code) {
    case 'h': record_path_put(to, host); return true;
    case 'n': record_path_put(to, node && *node ? node : host); return true;
    case 'j': record_path_put_job(to); return true;
    case 'r': record_path_put(to, rank ? rank : "0"); return true;
    case 'p': fprintf(to, "%ld", (long)getpid()); return true;
    case 't': record_path_put_time(to); return true;
    case '%': putc('%', to); return true;
    default: return false;
    }
}

char *record_path_expand(const char *pattern)
{
    char *path = NULL;
    size_t size;
    FILE *to = memory_check(open_memstream(&path, &size));
    for (; *pattern; pattern++) {
        if (*pattern == '%' && record_path_put_code(to, pattern[1]))
            pattern++;
        else
            putc(*pattern, to);
    }
    if (fclose(to)) memory_exhausted();
    return path;
}

char *record_path_next(const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *dot = strrchr(base, '.');
    size_t stem = dot && dot != base ? (size_t)(dot - path) : strlen(path);
    if (access(path, F_OK)) return memory_strdup(path);
    for (unsigned n = 1;; n++) {
        char *name = memory_format("%.*s.%u%s", (int)stem, path, n, path + stem);
        if (access(name, F_OK)) return name;
        free(name);
    }
}

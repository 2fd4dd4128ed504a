#define _GNU_SOURCE // gethostname
#include "record_path.h"

#include "analysis/base/memory.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *record_path_variable(const char *const *names)
{
    for (; *names; names++) {
        const char *value = getenv(*names);
        if (value && *value) return value;
    }
    return NULL;
}

static void record_path_put(FILE *to, const char *value)
{
    for (; *value; value++)
        putc(*value == '/' ? '_' : *value, to);
}

static void record_path_put_job(FILE *to)
{
    static const char *const jobs[] = {"SLURM_JOB_ID", "PBS_JOBID",   "LSB_JOBID",  "JOB_ID",
                                       "COBALT_JOBID", "FLUX_JOB_ID", "OAR_JOB_ID", NULL};
    static const char *const array[] = {"SLURM_ARRAY_JOB_ID", NULL}, *const task[] = {"SLURM_ARRAY_TASK_ID", NULL};
    static const char *const lsf[] = {"LSB_JOBINDEX", NULL}, *const restarts[] = {"SLURM_RESTART_COUNT", NULL};
    const char *of_array = record_path_variable(array), *index = record_path_variable(task), *job;
    job = of_array && index ? of_array : record_path_variable(jobs);
    record_path_put(to, job ? job : "nojob");
    if (!of_array) index = record_path_variable(lsf); // 0 outside an array; PBS has it in the job's name
    if (job && index && strcmp(index, "0") != 0) {
        putc('_', to);
        record_path_put(to, index);
    } else if (job && index && of_array) {
        fputs("_0", to);
    }
    const char *again = record_path_variable(restarts);
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
    static const char *const nodes[] = {"SLURMD_NODENAME", NULL};
    static const char *const ranks[] = {
        "OMPI_COMM_WORLD_RANK", "PMIX_RANK",           "PMI_RANK", "PALS_RANKID", "SLURM_PROCID",
        "ALPS_APP_PE",          "MV2_COMM_WORLD_RANK", NULL};
    char host[256] = "host";
    gethostname(host, sizeof host - 1);
    const char *node = record_path_variable(nodes), *rank = record_path_variable(ranks);
    switch (code) {
    case 'h': record_path_put(to, host); return true;
    case 'n': record_path_put(to, node ? node : host); return true;
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

#define _GNU_SOURCE
#include "gpu_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool gpu_in_group(const emit *e, const char *group, pid_t pid)
{
    emit_file list = {.fd = -1};
    char path[64], *line;
    int error;
    bool found = false;
    snprintf(path, sizeof path, "/proc/%ld/cgroup", (long)pid);
    for (char *at = emit_file_read(&list, e, path, &error); at && (line = emit_line(&at));) {
        char *own = strchr(line, ':'); // "N:controllers:path"
        own = own ? strchr(own + 1, ':') : NULL;
        size_t n = strlen(group);
        if (own && strncmp(own + 1, group, n) == 0 && (!own[1 + n] || own[1 + n] == '/')) found = true;
    }
    emit_file_close(&list);
    return found;
}

bool gpu_of_job(const emit *e, const sources_job *job, pid_t pid)
{
    if (job->cgroup && gpu_in_group(e, job->cgroup, pid)) return true;
    for (int steps = 0; pid > 1 && steps < 64; steps++, pid = emit_process_parent(e, pid))
        for (size_t i = 0; i < job->pid_count; i++)
            if (job->pids[i] == pid) return true;
    return false;
}

// ---- whose GPU it is ----

// Does a list of CUDA_VISIBLE_DEVICES and its like name the GPU? Numbers count what the reader of the list sees.
static bool gpu_job_is_named(const char *list, const gpu *g, size_t number)
{
    for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',') {
        size_t n = strcspn(at, ",");
        char *end;
        unsigned long value = strtoul(at, &end, 10);
        if (n && (end == at + n || *end == '.') && *at >= '0' && *at <= '9') { // "1.0": a part of number 1
            if (value == number) return true;
        } else if (n > 4 && strncmp(at, g->uuid, n) == 0) { // a beginning of the UUID is enough
            return true;
        }
    }
    return false;
}

static bool gpu_job_has_numbers(const char *list)
{
    return *list >= '0' && *list <= '9';
}

static const struct {
    const char *name, *vendor;
} variables[] = {{"CUDA_VISIBLE_DEVICES", "NVIDIA"},
                 {"ROCR_VISIBLE_DEVICES", "AMD"},
                 {"HIP_VISIBLE_DEVICES", "AMD"},
                 {"ZE_AFFINITY_MASK", "Intel"}};

// A variable of a process's environment; NULL. The text is in f.
static const char *gpu_job_variable_of(emit_file *f, const emit *e, pid_t pid, const char *name)
{
    char path[64];
    int error;
    size_t n = strlen(name);
    snprintf(path, sizeof path, "/proc/%ld/environ", (long)pid);
    const char *text = emit_file_read(f, e, path, &error);
    // A text with zeros inside: its end is where two follow each other.
    for (const char *at = text; at && *at; at += strlen(at) + 1)
        if (strncmp(at, name, n) == 0 && at[n] == '=') return at + n + 1;
    return NULL;
}

static bool gpu_job_same_group(const emit *e, pid_t pid)
{
    emit_file own = {.fd = -1}, other = {.fd = -1};
    char path[64];
    int error;
    snprintf(path, sizeof path, "/proc/%ld/cgroup", (long)pid);
    const char *a = emit_file_read(&own, e, "/proc/self/cgroup", &error), *b = emit_file_read(&other, e, path, &error);
    bool same = a && b && strcmp(a, b) == 0;
    emit_file_close(&own);
    emit_file_close(&other);
    return same;
}

// The place among its maker's GPUs; a part has that of its whole.
static size_t gpu_job_place_of(const gpu_list *list, const gpu *g)
{
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++) {
        const gpu *other = list->items[i];
        count += !other->part && strcmp(other->vendor, g->vendor) == 0;
        if (other == g) break;
    }
    return count ? count - 1 : 0;
}

// Programs count GPUs of several models with the fastest first: numbers say nothing then.
static bool gpu_job_is_mixed(const gpu_list *list, const char *vendor)
{
    const gpu *first = NULL;
    for (size_t i = 0; i < list->count; i++) {
        const gpu *g = list->items[i];
        if (g->part || strcmp(g->vendor, vendor) != 0) continue;
        if (first && strcmp(first->model, g->model) != 0) return true;
        if (!first) first = g;
    }
    return false;
}

// By the variable that gives GPUs to programs: "yes", "no", or NULL where it does not say. Numbers in it count the
// GPUs that its process may see, so they are believed only of one that sees the same ones as this process.
static const char *gpu_job_by_variable(const emit *e, const gpu_list *all, const gpu *g, const char *variable)
{
    const sources_job *job = all->job;
    const char *verdict = NULL, *own = job->expected && !job->pid_count ? getenv(variable) : NULL;
    size_t number = gpu_job_place_of(all, g);
    bool mixed = gpu_job_is_mixed(all, g->vendor);
    if (own) return gpu_job_has_numbers(own) && mixed ? NULL : gpu_job_is_named(own, g, number) ? "yes" : "no";
    for (size_t i = 0; i < job->pid_count; i++) {
        emit_file environment = {.fd = -1};
        const char *list = gpu_job_variable_of(&environment, e, job->pids[i], variable);
        bool said = list != NULL,
             believed = list && (!gpu_job_has_numbers(list) || (!mixed && gpu_job_same_group(e, job->pids[i])));
        bool named = believed && gpu_job_is_named(list, g, number);
        emit_file_close(&environment);
        if (named) return "yes";
        if (said && !believed) return NULL;
        if (believed) verdict = "no";
    }
    return verdict;
}

void gpu_job_facts(const gpu_list *list, const gpu *g, emit *e)
{
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        if (strcmp(variables[i].vendor, g->vendor) != 0) continue;
        const char *verdict = gpu_job_by_variable(e, list, g, variables[i].name);
        if (!verdict) continue;
        emit_fact(e, "job", verdict);
        emit_fact(e, "job_by", variables[i].name);
        return;
    }
    const gpu_value *holding = &g->values[GPU_JOB_PROCESSES];
    if (!holding->told || holding->error || !holding->value) return;
    emit_fact(e, "job", "yes");
    emit_fact(e, "job_by", "process");
}

#define _POSIX_C_SOURCE 200809L
#include "job_slurm.h"

#include "sources/slurm.h"
#include "analysis/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { ASK_SECONDS = 5 };

static const char *job_slurm_set_variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static bool job_slurm_number_of(const char *name, uint64_t *value)
{
    const char *text = job_slurm_set_variable(name);
    char *end;
    if (!text || *text < '0' || *text > '9') return false;
    *value = strtoull(text, &end, 10);
    return !*end;
}

// ---- the environment ----

static void job_slurm_tell_number(recorder *to, const char *key, uint64_t value)
{
    if (value <= INT64_MAX) recorder_number(to, key, (int64_t)value);
}

// The job's CPUs on this node; those of the step (SLURM_CPUS_ON_NODE) where it is not known which node of the job this
// is.
static bool job_slurm_cpus_here(uint64_t *cpus)
{
    const char *counts = job_slurm_set_variable("SLURM_JOB_CPUS_PER_NODE"),
               *list = job_slurm_set_variable("SLURM_JOB_NODELIST");
    const char *node = job_slurm_set_variable("SLURMD_NODENAME");
    size_t place;
    if (counts && list && node && slurm_place(list, node, &place) && slurm_count_at(counts, place, cpus)) return true;
    return job_slurm_number_of("SLURM_CPUS_ON_NODE", cpus);
}

// Slurm counts mebibytes; 0 is all memory of the node.
static bool job_slurm_memory_here(uint64_t *bytes)
{
    uint64_t mebibytes, cpus;
    if (job_slurm_number_of("SLURM_MEM_PER_NODE", &mebibytes))
        *bytes = mebibytes;
    else if (job_slurm_number_of("SLURM_MEM_PER_CPU", &mebibytes) && job_slurm_cpus_here(&cpus) &&
             mebibytes < UINT32_MAX && cpus < UINT32_MAX)
        *bytes = mebibytes * cpus;
    else
        return false;
    if (*bytes > UINT64_MAX >> 21) return false;
    *bytes <<= 20;
    return *bytes > 0;
}

static bool job_slurm_is_alone(void)
{
    const char *tasks = job_slurm_set_variable("SLURM_STEP_NUM_TASKS"),
               *nodes = job_slurm_set_variable("SLURM_STEP_NUM_NODES");
    return !tasks || !nodes || strcmp(tasks, nodes) == 0;
}

void job_slurm_facts(recorder *to, bool alone)
{
    uint64_t value, begin, end;
    if (!job_slurm_set_variable("SLURM_JOB_ID")) return;
    if (job_slurm_number_of("SLURM_JOB_START_TIME", &begin)) job_slurm_tell_number(to, "job_start_s", begin);
    if (job_slurm_number_of("SLURM_JOB_END_TIME", &end)) job_slurm_tell_number(to, "job_end_s", end);
    if (job_slurm_number_of("SLURM_JOB_START_TIME", &begin) && job_slurm_number_of("SLURM_JOB_END_TIME", &end) &&
        end > begin)
        job_slurm_tell_number(to, "job_time_limit_s", end - begin);
    if (!alone && !job_slurm_is_alone()) return;
    if (job_slurm_cpus_here(&value)) job_slurm_tell_number(to, "job_cpus_on_node", value);
    if (job_slurm_memory_here(&value)) job_slurm_tell_number(to, "job_memory_on_node", value);
    if (job_slurm_number_of("SLURM_GPUS_ON_NODE", &value)) job_slurm_tell_number(to, "job_gpus_on_node", value);
}

// ---- scontrol ----

static bool job_slurm_ask(question *q, const char *id)
{
    char *words[] = {"scontrol", "-d", "show", "job", (char *)(uintptr_t)id, NULL};
    return question_ask(q, words, "SLURM_TIME_FORMAT=%s", ASK_SECONDS);
}

static bool job_slurm_is_first_node(const char *node)
{
    const char *list = job_slurm_set_variable("SLURM_JOB_NODELIST");
    size_t place;
    return !list || !node || !slurm_place(list, node, &place) || place == 0;
}

void job_slurm_begin(job_slurm *s)
{
    const char *id = job_slurm_set_variable("SLURM_JOB_ID"), *node = job_slurm_set_variable("SLURMD_NODENAME");
    // Only a number may become an argument of a program.
    if (!id || id[strspn(id, "0123456789")] || !job_slurm_is_first_node(node)) return;
    s->id = memory_strdup(id);
    s->node = node ? memory_strdup(node) : NULL;
    s->asks = job_slurm_ask(&s->begin, s->id);
}

static bool job_slurm_is_of_the_end(const char *key)
{
    return strcmp(key, "job_state") == 0 || strcmp(key, "job_exit_code") == 0;
}

// Leaves out facts that are already known from the environment.
static void job_slurm_tell_begin(void *user, const char *key, const char *value)
{
    static const struct {
        const char *key, *variable;
    } known[] = {{"job_start_s", "SLURM_JOB_START_TIME"},
                 {"job_end_s", "SLURM_JOB_END_TIME"},
                 {"job_time_limit_s", "SLURM_JOB_END_TIME"},
                 {"job_cpus_on_node", "SLURM_CPUS_ON_NODE"},
                 {"job_memory_on_node", "SLURM_MEM_PER_NODE"},
                 {"job_memory_on_node", "SLURM_MEM_PER_CPU"},
                 {"job_user", "SLURM_JOB_USER"},
                 {"job_account", "SLURM_JOB_ACCOUNT"},
                 {"job_partition", "SLURM_JOB_PARTITION"},
                 {"job_nodes", "SLURM_JOB_NODELIST"}};
    if (job_slurm_is_of_the_end(key)) return;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].key, key) == 0 && job_slurm_set_variable(known[i].variable)) return;
    recorder_fact(user, key, value);
}

void job_slurm_look(job_slurm *s, recorder *to)
{
    if (!s->asks || s->told || !question_look(&s->begin)) return;
    s->told = true;
    if (s->begin.whole) slurm_read_job(s->begin.text, s->node, job_slurm_tell_begin, to);
}

typedef struct ending {
    bool over;
    recorder *to;
} ending;

// While it runs it has no exit code.
static void job_slurm_tell_end(void *user, const char *key, const char *value)
{
    ending *e = user;
    if (strcmp(key, "job_state") == 0) e->over = strcmp(value, "RUNNING") != 0 && strcmp(value, "CONFIGURING") != 0;
    if (job_slurm_is_of_the_end(key) && e->over) recorder_fact(e->to, key, value);
}

void job_slurm_end(job_slurm *s, recorder *to)
{
    question end = {.fd = -1};
    ending e = {.to = to};
    if (!s->asks) return;
    question_wait(&s->begin);
    job_slurm_look(s, to);
    if (s->begin.whole && job_slurm_ask(&end, s->id) && question_wait(&end))
        slurm_read_job(end.text, s->node, job_slurm_tell_end, &e);
    question_end(&end);
}

void job_slurm_free(job_slurm *s)
{
    if (s->asks) question_end(&s->begin);
    free(s->id);
    free(s->node);
    *s = (job_slurm){0};
}

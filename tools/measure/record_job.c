#include "record_job.h"

#include <stdlib.h>
#include <string.h>

// The first variable of a row that is set gives the fact.
static const struct {
    const char *key;
    const char *variables[8];
} record_job_facts[] = {
    {"job_id", {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID", "COBALT_JOBID", "FLUX_JOB_ID", "OAR_JOB_ID"}},
    {"job_name", {"SLURM_JOB_NAME", "PBS_JOBNAME", "LSB_JOBNAME", "JOB_NAME"}},
    {"job_step", {"SLURM_STEP_ID"}},
    {"job_array_task", {"SLURM_ARRAY_TASK_ID", "PBS_ARRAY_INDEX", "LSB_JOBINDEX"}},
    {"job_array", {"SLURM_ARRAY_JOB_ID"}},
    {"job_restart", {"SLURM_RESTART_COUNT"}},
    {"job_nodes", {"SLURM_JOB_NODELIST", "SLURM_NODELIST"}},
    {"rank",
     {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "PALS_RANKID", "SLURM_PROCID", "ALPS_APP_PE",
      "MV2_COMM_WORLD_RANK"}},
    {"rank_count", {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS", "MV2_COMM_WORLD_SIZE"}},
    {"local_rank", {"OMPI_COMM_WORLD_LOCAL_RANK", "PALS_LOCAL_RANKID", "SLURM_LOCALID", "MV2_COMM_WORLD_LOCAL_RANK"}},
    {"job_user", {"SLURM_JOB_USER", "PBS_O_LOGNAME", "OAR_USER"}},
    {"job_account", {"SLURM_JOB_ACCOUNT", "PBS_ACCOUNT", "OAR_PROJECT_NAME"}},
    {"job_partition", {"SLURM_JOB_PARTITION", "PBS_QUEUE", "LSB_QUEUE", "OAR_QUEUE"}},
};

enum { RECORD_JOB_FACTS = sizeof record_job_facts / sizeof *record_job_facts };

const char *record_job_key(size_t i)
{
    return i < RECORD_JOB_FACTS ? record_job_facts[i].key : NULL;
}

const char *record_job_fact(const char *key)
{
    size_t row = 0;
    while (row < RECORD_JOB_FACTS && strcmp(record_job_facts[row].key, key) != 0)
        row++;
    if (row == RECORD_JOB_FACTS) return NULL;
    for (const char *const *name = record_job_facts[row].variables; *name; name++) {
        const char *value = getenv(*name);
        if (value && *value) return value;
    }
    return NULL;
}

// NCCL's calls on the job's axis.
#include "pages_job_view.h"
#include "render/pages/pages_lanes.h"

#include <string.h>

// Hosts without a recording are where their own clock says.
static double job_collectives_shift(const void *user, const char *host)
{
    const job_report *job = user;
    for (size_t i = 0; i < job->node_count; i++)
        if (strcmp(job->nodes[i].name, host) == 0 || strcmp(job->nodes[i].host, host) == 0)
            return job->nodes[i].shift_s;
    return 0;
}

void job_collectives(const job_view *v, document *doc, const nccl_lanes *collectives)
{
    pages_time time = v->time;
    time.columns = MAP_COLUMNS; // when calls ran is known better than what samples tell
    const pages_lanes p = {.memory = v->memory,
                           .lanes = collectives,
                           .time = &time,
                           .question = "the job's own axis",
                           .phases = v->phases,
                           .phase_count = v->phase_count,
                           .incidents = v->incidents,
                           .incident_count = v->incident_count,
                           .shift_s = job_collectives_shift,
                           .user = v->job};
    pages_lanes_add(doc, &p);
}

#ifndef NETPROF_JOB_EXPLAINED_JSON_H
#define NETPROF_JOB_EXPLAINED_JSON_H

#include "analysis/base/json.h"
#include "analysis/job/job_model.h"

json_object *job_explained_json(const job_report *r); // NULL: nothing can be said

#endif

// Which counters the meters are made of.
#ifndef NETPROF_JOB_SOURCES_H
#define NETPROF_JOB_SOURCES_H

#include "job_model.h"

typedef enum job_kind {
    JOB_RATE = 0, // a counter: value and total by its differences
    JOB_LEVEL     // a gauge
} job_kind;

typedef enum job_join { JOB_SUM = 0, JOB_MOST, JOB_MEAN } job_join;

// A row: what a counter means.
typedef struct job_source_row {
    const char *source, *device, *counter; // patterns
    job_meter meter;
    job_scope scope;
    job_kind kind;
    job_join join;  // with other counters of the same node or device
    double factor;  // from the counter's unit; 0: by the unit's name (time to seconds)
    bool of_device; // a lane of the device, of which the node's is made
} job_source_row;

// NULL when it means nothing here. Bytes of network devices are the catalog's business: job_bytes_row().
const job_source_row *job_source_row_of(const netprof_device *device, const netprof_counter *counter);
const job_source_row *job_second_row_of(const netprof_device *device, const netprof_counter *counter); // beside it
const job_source_row *job_bytes_row(bool is_sent);
// What a value of the counter is multiplied by, by its unit; 0: it cannot be told.
double job_source_factor(const job_source_row *row, const netprof_device *d, const netprof_counter *c);
// 1e-6 for "us"; 0 when the unit is no time.
double job_seconds_of_unit(const char *unit);
// How lanes of a node's devices come together.
job_join job_device_join(job_meter meter);

typedef struct job_watch_row {
    job_meter meter;
    const char *rule, *words; // words: what it is, as the name of a row
    double limit;             // the value, of its unit
    double least_s;           // so long at least
    severity severity;
    const char *class_name, *origin, *advice;
    const char *covers; // rules that say the same of the whole time, beside those that are marked as pauses
} job_watch_row;

const job_watch_row *job_watch_of(job_meter meter); // NULL: it is not watched
// Does a counter tell that the link itself lost or damaged what it carried?
bool job_is_damage(const char *source, const char *counter);

#endif

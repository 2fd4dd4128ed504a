// A data set made of any bytes is whole: what it holds is within its bounds and can be written again.
#ifndef FUZZ_WHOLE_H
#define FUZZ_WHOLE_H

#include "analysis/data/dataset.h"
#include "expect.h"

static inline void expect_whole(const dataset *set)
{
    size_t written = 0;
    for (size_t r = 0; r < set->run_count; r++) {
        const dataset_run *run = &set->runs[r];
        for (size_t i = 0; i < run->snapshot_count; i++) {
            const netprof_schema *schema = run->snapshots[i].schema;
            for (size_t k = 0; k < schema->counter_count; k++) {
                uint8_t status = run->snapshots[i].status[k];
                expect(schema->counters[k].device < schema->device_count);
                expect(schema->counters[k].kind <= NETPROF_KIND_HISTOGRAM && schema->counters[k].width <= 64);
                expect(status <= NETPROF_STATUS_UNREADABLE);
                expect(status == NETPROF_STATUS_OK || status == NETPROF_STATUS_SATURATED ||
                       run->snapshots[i].values[k] == 0);
            }
        }
        for (size_t i = 0; i < run->delta_count; i++)
            for (size_t k = 0; k < run->deltas[i].schema->counter_count; k++)
                expect(run->deltas[i].flags[k] <= NETPROF_FLAG_UNKNOWN &&
                       run->deltas[i].before_status[k] <= NETPROF_STATUS_UNREADABLE &&
                       run->deltas[i].after_status[k] <= NETPROF_STATUS_UNREADABLE);
        netprof_json what = {.facts = run->facts,
                             .fact_count = run->fact_count,
                             .snapshots = run->snapshots,
                             .snapshot_count = run->snapshot_count,
                             .deltas = run->deltas,
                             .delta_count = run->delta_count};
        expect(netprof_write_json(&what, discard, &written, NULL) == NETPROF_OK);
        netprof_writer *writer;
        expect(netprof_writer_open_fn(&writer, discard, &written, NULL) == NETPROF_OK);
        for (size_t i = 0; i < run->snapshot_count; i++)
            expect(netprof_write_snapshot(writer, &run->snapshots[i], NULL) == NETPROF_OK);
        for (size_t i = 0; i < run->delta_count; i++)
            expect(netprof_write_delta(writer, &run->deltas[i], NULL) == NETPROF_OK);
        expect(netprof_writer_close(writer, 1, NULL) == NETPROF_OK);
    }
}

#endif

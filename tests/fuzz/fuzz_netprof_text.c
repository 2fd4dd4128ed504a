/* net_prof's text: any bytes behind a line that is recognised as such. */
#include "dataset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define expect(condition) expect_at((condition), __LINE__)
static void expect_at(int condition, int line)
{
    if (condition) return;
    fprintf(stderr, "line %d\n", line);
    abort();
}

static int drop(void *user, const void *data, size_t size)
{
    (void)data;
    *(size_t *)user += size;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dataset set = {0};
    dataset_options options = {.max_bytes = 64 << 20};
    size_t written = 0;
    static const char first[] = "0@1700000000.000000000\n";
    char *text = (char *)malloc(sizeof first + size);
    expect(text != NULL);
    memcpy(text, first, sizeof first - 1);
    if (size) memcpy(text + sizeof first - 1, data, size);
    size += sizeof first - 1;
    netprof_err failed = dataset_read_memory(&set, "input", text, size, &options, NULL);
    expect(set.run_count == (failed == NETPROF_OK));
    for (size_t r = 0; r < set.run_count; r++) {
        const dataset_run *run = &set.runs[r];
        for (size_t i = 0; i < run->snapshot_count; i++) {
            const netprof_schema *schema = run->snapshots[i].schema;
            for (size_t k = 0; k < schema->counter_count; k++) {
                uint8_t status = run->snapshots[i].status[k];
                expect(schema->counters[k].device < schema->device_count);
                expect(status <= NETPROF_STATUS_UNREADABLE);
                expect(status == NETPROF_STATUS_OK || status == NETPROF_STATUS_SATURATED || run->snapshots[i].values[k] == 0);
            }
        }
        netprof_json what = {.facts = run->facts, .fact_count = run->fact_count, .snapshots = run->snapshots,
                             .snapshot_count = run->snapshot_count, .deltas = run->deltas, .delta_count = run->delta_count};
        expect(netprof_write_json(&what, drop, &written, NULL) == NETPROF_OK);
        netprof_writer *writer;
        expect(netprof_writer_open_fn(&writer, drop, &written, NULL) == NETPROF_OK);
        for (size_t i = 0; i < run->snapshot_count; i++)
            expect(netprof_write_snapshot(writer, &run->snapshots[i], NULL) == NETPROF_OK);
        for (size_t i = 0; i < run->delta_count; i++)
            expect(netprof_write_delta(writer, &run->deltas[i], NULL) == NETPROF_OK);
        expect(netprof_writer_close(writer, 1, NULL) == NETPROF_OK);
    }
    dataset_free(&set);
    free(text);
    return 0;
}

/* Every kind of file that report/analysis reads but .netprof: whatever the bytes, what is handed out is whole. */
#define _GNU_SOURCE
#include "analysis/data/dataset.h"
#include "few_counters.h"
#include "whole.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dataset set = {0};
    dataset_options options = {.max_bytes = 64 << 20};
    netprof_err failed = dataset_read_memory(&set, "input", data, size, &options, NULL);
    expect(set.run_count == (failed == NETPROF_OK));
    expect_whole(&set);
    dataset_free(&set);
    return 0;
}

/* net_prof's text: any bytes behind a line that is recognised as such. */
#include "analysis/data/dataset.h"
#include "whole.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dataset set = {0};
    dataset_options options = {.max_bytes = 64 << 20};
    static const char first[] = "0@1700000000.000000000\n";
    char *text = (char *)malloc(sizeof first + size);
    expect(text != NULL);
    memcpy(text, first, sizeof first - 1);
    if (size) memcpy(text + sizeof first - 1, data, size);
    size += sizeof first - 1;
    netprof_err failed = dataset_read_memory(&set, "input", text, size, &options, NULL);
    expect(set.run_count == (failed == NETPROF_OK));
    expect_whole(&set);
    dataset_free(&set);
    free(text);
    return 0;
}

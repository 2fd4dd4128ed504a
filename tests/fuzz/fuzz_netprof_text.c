/* net_prof's text: any bytes behind a line that is recognised as such, of a NIC with few counters. (Of one with all those of
   Cassini-1 hardly an input would be whole NICs, and each takes far longer.) The first byte chooses: 255 is all of them. */
#define _GNU_SOURCE
#include "analysis/data/dataset.h"
#include "few_names.h"
#include "whole.h"
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char first[] = "0@1700000000.000000000\n";
    dataset set = {0};
    if (!size) return 0;
    dataset_options options = {.max_bytes = 64 << 20, .names = *data < 255 ? few_names() : NULL};
    char *text = (char *)malloc(sizeof first + size);
    expect(text != NULL);
    memcpy(text, first, sizeof first - 1);
    memcpy(text + sizeof first - 1, data + 1, size - 1);
    size += sizeof first - 2;
    netprof_err failed = dataset_read_memory(&set, "input", text, size, &options, NULL);
    expect(set.run_count == (failed == NETPROF_OK));
    expect_whole(&set);
    dataset_free(&set);
    free(text);
    return 0;
}

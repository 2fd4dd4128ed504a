/* net_prof's text: any bytes behind a line that is recognised as such, of a NIC with few counters. (Of one with all those of
   Cassini-1 hardly an input would be whole NICs.) The first byte chooses: these, or all,
   which takes a thousand times as long. */
#define _GNU_SOURCE
#include "analysis/data/dataset.h"
#include "pieces.h"
#include "whole.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char names[] = "pct_trs_rsp_nack_drops\nhni_sts_rx_ok_octets\natu_cache_miss_0\nhni_rx_paused_1\n";
    static const char first[] = "0@1700000000.000000000\n";
    static const char *list;
    dataset set = {0};
    if (!size) return 0;
    if (!list) list = pieces_file(0, names, sizeof names - 1);
    dataset_options options = {.max_bytes = 64 << 20, .names = *data < 255 ? list : NULL};
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

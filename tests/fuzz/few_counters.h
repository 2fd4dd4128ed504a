/* net_prof's text of a few bytes stands for all of a NIC's counters, thousands, and takes a hundred times as long as any other
   input. A target that includes this reads them as of four counters, but for one text in 61. (Linked with --wrap.) */
#ifndef FUZZ_FEW_COUNTERS_H
#define FUZZ_FEW_COUNTERS_H

#include "analysis/data/dataset_build.h"
#include "expect.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

netprof_err __real_dataset_read_net_prof_text(dataset_input *in);
netprof_err __wrap_dataset_read_net_prof_text(dataset_input *in);

static inline const char *few_counters_list(void)
{
    static const char names[] = "pct_trs_rsp_nack_drops\nhni_sts_rx_ok_octets\natu_cache_miss_0\nhni_rx_paused_1\n";
    static char path[32];
    if (*path) return path;
    int file = memfd_create("names", MFD_CLOEXEC);
    expect(file >= 0 && write(file, names, sizeof names - 1) == sizeof names - 1);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    return path;
}

netprof_err __wrap_dataset_read_net_prof_text(dataset_input *in)
{
    const dataset_options *given = in->options;
    dataset_options few = *given;
    if (!few.names && in->size % 61 != 7) few.names = few_counters_list();
    in->options = &few;
    netprof_err err = __real_dataset_read_net_prof_text(in);
    in->options = given;
    return err;
}

#endif

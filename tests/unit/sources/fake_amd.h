/* What the made libamd_smi.so and librocm_smi64.so answer: found by dlsym() under the name "fake_amd". */
#ifndef FAKE_AMD_H
#define FAKE_AMD_H

#include <stdint.h>

enum { FAKE_AMD_GPUS = 2, FAKE_XGMI = 8 };

typedef struct fake_amd_gpu {
    uint64_t bdf; /* domain from bit 16 on, as amdsmi_bdf_t; ROCm SMI's is made of it */
    int result;   /* of every reading */
    int ecc_result, energy_result;
    uint64_t energy;
    float microjoules;
    uint64_t corrected, uncorrected, replays;
    uint64_t xgmi_read[FAKE_XGMI], xgmi_written[FAKE_XGMI];
    uint64_t recoveries, ticks, residencies[5];
    uint32_t naks_sent, naks_received;
    int short_table; /* of an older release: ends behind the links */
} fake_amd_gpu;

typedef struct fake_amd_state {
    int init_result, inits, shutdowns, calls;
    uint64_t init_flags;
    uint32_t version[4];
    unsigned count;
    fake_amd_gpu gpus[FAKE_AMD_GPUS];
} fake_amd_state;

extern fake_amd_state fake_amd;

#endif

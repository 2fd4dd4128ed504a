/* What the made libnvidia-ml.so.1 answers: found by dlsym() under the name "fake_nvml". */
#ifndef FAKE_NVML_H
#define FAKE_NVML_H

enum { FAKE_GPUS = 4, FAKE_LINKS = 3, FAKE_PARTS = 2, FAKE_PROCESSES = 4 };

typedef struct fake_gpu {
    int lost;   /* result of every call; 0: works */
    int handle; /* result of the call that gives the handle */
    unsigned busy, memory_busy, power_mw, limit_mw, limit_set_mw, celsius, memory_celsius, fan;
    unsigned clocks[3], clocks_max[3]; /* by type: 1 SM, 2 memory */
    unsigned long long memory_total, memory_used, energy_mj, reasons, violation_ns[12], ecc[2];
    int ecc_result, busy_result;
    unsigned rows[4], replays, generation, generation_max, width, width_max;
    unsigned long long pcie_rx, pcie_tx;
    int pcie_result, pcie_32; /* 32: of type unsigned int */
    unsigned links, link_up[FAKE_LINKS];
    int link_in_bytes;
    unsigned long long link_rx[FAKE_LINKS], link_tx[FAKE_LINKS]; /* KiB or bytes */
    unsigned long long crc_flit, crc_data, link_replays, link_recoveries;
    unsigned processes, pids[FAKE_PROCESSES], use[FAKE_PROCESSES];
    unsigned long long process_memory[FAKE_PROCESSES], use_stamp[FAKE_PROCESSES];
    unsigned mig, parts, other_model;
    unsigned long long part_used[FAKE_PARTS];
} fake_gpu;

typedef struct fake_nvml_state {
    int init_result, inits, shutdowns, calls;
    unsigned count;
    fake_gpu gpus[FAKE_GPUS];
} fake_nvml_state;

extern fake_nvml_state fake_nvml;

#endif

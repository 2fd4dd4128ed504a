/* What the made libze_loader.so.1 answers: found by dlsym() under the name "fake_ze". */
#ifndef FAKE_ZE_H
#define FAKE_ZE_H

#include <stdint.h>

enum { FAKE_ZE_PARTS = 4 };

typedef struct fake_ze_part {
    int kind, on_part, result;
    unsigned number; /* of the tile */
    uint64_t a, b;   /* engine: us, stamp; memory: size, free; energy: uJ; port: received, sent; clock: us throttled */
    double real;     /* MHz, degrees */
    double most;
    unsigned bits; /* reasons of a clock, status of a port, width of a memory's counters, where 0: not told */
    uint64_t read, written;
    uint64_t counts[7];
} fake_ze_part;

typedef struct fake_ze_list {
    unsigned count;
    fake_ze_part parts[FAKE_ZE_PARTS];
} fake_ze_list;

typedef struct fake_ze_state {
    int init_result, inits, old_inits, old_init_saw_variable, calls, cleared;
    uint32_t domain, bus, device, function;
    int counts_bytes;
    uint64_t received, sent;
    int has_card_power;
    fake_ze_part card_power;
    fake_ze_list engines, powers, memories, clocks, temperatures, ports, errors;
} fake_ze_state;

extern fake_ze_state fake_ze;

#endif

// The part of Level Zero's system management (zes_api.h) that gpu_ze uses. Structures carry their type and do not change.
#ifndef TOOLS_SOURCES_GPU_ZE_API_H
#define TOOLS_SOURCES_GPU_ZE_API_H

#include <stddef.h>
#include <stdint.h>

typedef void *handle;

enum { // types of structures
    PCI_PROPERTIES = 0x2,
    ENGINE_PROPERTIES = 0x5,
    PORT_PROPERTIES = 0x6,
    CLOCK_PROPERTIES = 0x9,
    MEMORY_PROPERTIES = 0xb,
    POWER_PROPERTIES = 0xd,
    RAS_PROPERTIES = 0xf,
    TEMPERATURE_PROPERTIES = 0x14,
    PORT_STATE = 0x19,
    CLOCK_STATE = 0x1b,
    MEMORY_STATE = 0x1e,
    RAS_STATE = 0x22,
    COUNTER_BITS = 0x00020002
};
enum { RAS_KINDS = 7, RAS_RESETS = 0, RAS_COMPUTE = 3, RAS_OTHERS = 4, RAS_CACHE = 5 };
enum { NO_HOST_MEMORY = 0x70000002, UNSUPPORTED_VERSION = 0x78000002 };
enum { ENGINE_ALL = 0, CLOCK_OF_GPU = 0, CLOCK_OF_MEMORY = 1, MEMORY_OF_DEVICE = 1 };

typedef struct head {
    int type;
    void *next;
} head;

typedef struct pci_properties {
    head head;
    uint32_t domain, bus, device, function;
    int32_t generation, width;
    int64_t bandwidth;
    uint8_t counts_bytes, counts_packets, counts_replays;
} pci_properties;

typedef struct pci_stats {
    uint64_t stamp_us, replays, packets, received, sent;
    int32_t generation, width;
    int64_t bandwidth;
} pci_stats;

typedef struct engine_properties {
    head head;
    int kind;
    uint8_t on_part;
    uint32_t part;
} engine_properties;

typedef struct engine_stats { // of one driver in microseconds, of another in ticks of the GPU
    uint64_t active, stamp;
} engine_stats;

typedef struct power_properties {
    head head;
    uint8_t on_part;
    uint32_t part;
    uint8_t can_control, has_threshold;
    int32_t limits[3];
} power_properties;

typedef struct energy_counter {
    uint64_t microjoules, stamp_us;
} energy_counter;

typedef struct counter_bits {
    head head;
    uint32_t bits;
} counter_bits;

typedef struct memory_properties {
    head head;
    int kind;
    uint8_t on_part;
    uint32_t part;
    int place;
    uint64_t size;
    int32_t width, channels;
} memory_properties;

typedef struct memory_state {
    head head;
    int health;
    uint64_t free, size;
} memory_state;

typedef struct memory_traffic {
    uint64_t read, written, most, stamp_us;
} memory_traffic;

typedef struct clock_properties {
    head head;
    int kind;
    uint8_t on_part;
    uint32_t part;
    uint8_t can_control, has_event;
    double least, most; // MHz
} clock_properties;

typedef struct clock_state {
    head head;
    double voltage, request, tdp, efficient, actual;
    uint32_t reasons;
} clock_state;

typedef struct throttle_time {
    uint64_t us, stamp_us;
} throttle_time;

typedef struct temperature_properties {
    head head;
    int kind;
    uint8_t on_part;
    uint32_t part;
    double most;
    uint8_t has[3];
} temperature_properties;

typedef struct port_number {
    uint32_t fabric, attached;
    uint8_t port;
} port_number;

typedef struct port_speed {
    int64_t bits_per_s;
    int32_t width;
} port_speed;

typedef struct port_state {
    head head;
    int status;
    uint32_t quality, failures;
    port_number remote;
    port_speed rx, tx;
} port_state;

typedef struct port_traffic {
    uint64_t stamp_us, received, sent;
} port_traffic;

typedef struct ras_properties {
    head head;
    int kind; // 0 corrected, 1 not
    uint8_t on_part;
    uint32_t part;
} ras_properties;

typedef struct ras_state {
    head head;
    uint64_t counts[RAS_KINDS];
} ras_state;

_Static_assert(offsetof(pci_properties, domain) == 16 && offsetof(pci_properties, bandwidth) == 40, "as in zes_api.h");
_Static_assert(offsetof(pci_properties, counts_bytes) == 48 && sizeof(pci_properties) == 56, "as in zes_api.h");
_Static_assert(offsetof(pci_stats, received) == 24 && sizeof(pci_stats) == 56, "as in zes_api.h");
_Static_assert(offsetof(engine_properties, kind) == 16 && sizeof(engine_properties) == 32, "as in zes_api.h");
_Static_assert(offsetof(power_properties, limits) == 28 && sizeof(power_properties) == 40, "as in zes_api.h");
_Static_assert(offsetof(memory_properties, size) == 32 && sizeof(memory_properties) == 48, "as in zes_api.h");
_Static_assert(offsetof(memory_state, free) == 24 && sizeof(memory_state) == 40, "as in zes_api.h");
_Static_assert(offsetof(clock_properties, most) == 40 && sizeof(clock_properties) == 48, "as in zes_api.h");
_Static_assert(offsetof(clock_state, reasons) == 56 && sizeof(clock_state) == 64, "as in zes_api.h");
_Static_assert(offsetof(temperature_properties, most) == 32 && sizeof(temperature_properties) == 48, "as in zes_api.h");
_Static_assert(offsetof(port_state, remote) == 28 && sizeof(port_state) == 72, "as in zes_api.h");
_Static_assert(offsetof(ras_state, counts) == 16 && sizeof(ras_state) == 72, "as in zes_api.h");

typedef int enumerate(handle device, uint32_t *count, handle *items);

struct gpu_ze {
    void *library;
    int (*init)(uint32_t flags);
    int (*drivers)(uint32_t *count, handle *drivers);
    enumerate *devices;
    int (*old_init)(uint32_t flags);
    int (*old_drivers)(uint32_t *count, handle *drivers);
    enumerate *old_devices;
    int (*pci)(handle device, pci_properties *properties);
    int (*pci_stats)(handle device, pci_stats *stats);
    enumerate *engines, *powers, *memories, *clocks, *temperatures, *ports, *errors;
    int (*engine)(handle engine, engine_properties *properties);
    int (*activity)(handle engine, engine_stats *stats);
    int (*power)(handle power, power_properties *properties);
    int (*card_power)(handle device, handle *power);
    int (*energy)(handle power, energy_counter *counter);
    int (*memory)(handle memory, memory_properties *properties);
    int (*memory_state)(handle memory, memory_state *state);
    int (*traffic)(handle memory, memory_traffic *traffic);
    int (*clock)(handle clock, clock_properties *properties);
    int (*clock_state)(handle clock, clock_state *state);
    int (*throttled)(handle clock, throttle_time *time);
    int (*temperature)(handle sensor, temperature_properties *properties);
    int (*celsius)(handle sensor, double *celsius);
    int (*port_state)(handle port, port_state *state);
    int (*port_traffic)(handle port, port_traffic *traffic);
    int (*error)(handle set, ras_properties *properties);
    int (*error_state)(handle set, uint8_t clear, ras_state *state);
    const char *way;
};

#endif

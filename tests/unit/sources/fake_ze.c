/* A made libze_loader.so.1 with one GPU, answering what a test wrote into fake_ze. With FAKE_OLD it lacks zesInit and
 * its like, as loaders before 1.9. Structures are written by their offsets as of zes_api.h. */
#include "fake_ze.h"

#include <stdlib.h>
#include <string.h>

__attribute__((visibility("default"))) fake_ze_state fake_ze;

typedef void *handle;
enum { UNSUPPORTED = 0x78000003, WRONG = 0x78000004 };

static int put(void *to, size_t at, const void *value, size_t size)
{
    memcpy((char *)to + at, value, size);
    return 0;
}

/* Each structure says of which type it is. */
static int is_type(const void *structure, int type)
{
    int own;
    memcpy(&own, structure, sizeof own);
    return own == type;
}

int zeInit(uint32_t flags);
int zeInit(uint32_t flags)
{
    const char *variable = getenv("ZES_ENABLE_SYSMAN");
    fake_ze.old_inits++;
    fake_ze.old_init_saw_variable = variable && strcmp(variable, "1") == 0;
    return flags ? WRONG : fake_ze.init_result;
}

static int one(uint32_t *count, handle *items)
{
    if (items) items[0] = &fake_ze;
    *count = 1;
    return 0;
}

int zeDriverGet(uint32_t *count, handle *drivers);
int zeDriverGet(uint32_t *count, handle *drivers)
{
    return one(count, drivers);
}

int zeDeviceGet(handle driver, uint32_t *count, handle *devices);
int zeDeviceGet(handle driver, uint32_t *count, handle *devices)
{
    return driver == &fake_ze ? one(count, devices) : WRONG;
}

#ifndef FAKE_OLD
int zesInit(uint32_t flags);
int zesInit(uint32_t flags)
{
    fake_ze.inits++;
    return flags ? WRONG : fake_ze.init_result;
}

int zesDriverGet(uint32_t *count, handle *drivers);
int zesDriverGet(uint32_t *count, handle *drivers)
{
    return one(count, drivers);
}

int zesDeviceGet(handle driver, uint32_t *count, handle *devices);
int zesDeviceGet(handle driver, uint32_t *count, handle *devices)
{
    return driver == &fake_ze ? one(count, devices) : WRONG;
}
#endif

int zesDevicePciGetProperties(handle device, void *p);
int zesDevicePciGetProperties(handle device, void *p)
{
    unsigned char yes = fake_ze.counts_bytes ? 1 : 0;
    if (device != &fake_ze || !is_type(p, 0x2)) return WRONG;
    put(p, 16, &fake_ze.domain, 4 * sizeof(uint32_t));
    return put(p, 48, &yes, 1);
}

int zesDevicePciGetStats(handle device, uint64_t *stats);
int zesDevicePciGetStats(handle device, uint64_t *stats)
{
    fake_ze.calls++;
    stats[3] = fake_ze.received;
    stats[4] = fake_ze.sent;
    return device == &fake_ze ? 0 : WRONG;
}

static int list(const fake_ze_list *l, uint32_t *count, handle *items)
{
    unsigned i;
    for (i = 0; items && i < l->count; i++)
        items[i] = (handle)(uintptr_t)&l->parts[i];
    *count = l->count;
    return 0;
}

#define LIST(name, member)                                                                                             \
    int name(handle device, uint32_t *count, handle *items);                                                           \
    int name(handle device, uint32_t *count, handle *items)                                                            \
    {                                                                                                                  \
        return device == &fake_ze ? list(&fake_ze.member, count, items) : WRONG;                                       \
    }

LIST(zesDeviceEnumEngineGroups, engines)
LIST(zesDeviceEnumPowerDomains, powers)
LIST(zesDeviceEnumMemoryModules, memories)
LIST(zesDeviceEnumFrequencyDomains, clocks)
LIST(zesDeviceEnumTemperatureSensors, temperatures)
LIST(zesDeviceEnumFabricPorts, ports)
LIST(zesDeviceEnumRasErrorSets, errors)

/* Kind at 16, tile at 20 and 24 in all of these but that of power. */
static int properties(const fake_ze_part *part, void *p, int type)
{
    unsigned char on = part->on_part ? 1 : 0;
    if (!is_type(p, type)) return WRONG;
    put(p, 16, &part->kind, sizeof part->kind);
    put(p, 20, &on, 1);
    return put(p, 24, &part->number, sizeof part->number);
}

int zesEngineGetProperties(const fake_ze_part *part, void *p);
int zesEngineGetProperties(const fake_ze_part *part, void *p)
{
    return properties(part, p, 0x5);
}

int zesEngineGetActivity(const fake_ze_part *part, uint64_t *stats);
int zesEngineGetActivity(const fake_ze_part *part, uint64_t *stats)
{
    fake_ze.calls++;
    stats[0] = part->a;
    stats[1] = part->b;
    return part->result;
}

int zesPowerGetProperties(const fake_ze_part *part, void *p);
int zesPowerGetProperties(const fake_ze_part *part, void *p)
{
    unsigned char on = part->on_part ? 1 : 0;
    if (!is_type(p, 0xd)) return WRONG;
    put(p, 16, &on, 1);
    return put(p, 20, &part->number, sizeof part->number);
}

int zesDeviceGetCardPowerDomain(handle device, handle *power);
int zesDeviceGetCardPowerDomain(handle device, handle *power)
{
    *power = &fake_ze.card_power;
    return device == &fake_ze && fake_ze.has_card_power ? 0 : UNSUPPORTED;
}

int zesPowerGetEnergyCounter(const fake_ze_part *part, uint64_t *counter);
int zesPowerGetEnergyCounter(const fake_ze_part *part, uint64_t *counter)
{
    fake_ze.calls++;
    counter[0] = part->a;
    return part->result;
}

int zesMemoryGetProperties(const fake_ze_part *part, void *p);
int zesMemoryGetProperties(const fake_ze_part *part, void *p)
{
    void *next;
    int place = 1;
    memcpy(&next, (char *)p + 8, sizeof next);
    if (next && !is_type(next, 0x00020002)) return WRONG;
    if (next && part->bits) put(next, 16, &part->bits, sizeof part->bits);
    put(p, 28, &place, sizeof place);
    return properties(part, p, 0xb);
}

int zesMemoryGetState(const fake_ze_part *part, void *state);
int zesMemoryGetState(const fake_ze_part *part, void *state)
{
    fake_ze.calls++;
    if (!is_type(state, 0x1e)) return WRONG;
    put(state, 24, &part->b, 8);
    put(state, 32, &part->a, 8);
    return part->result;
}

int zesMemoryGetBandwidth(const fake_ze_part *part, uint64_t *traffic);
int zesMemoryGetBandwidth(const fake_ze_part *part, uint64_t *traffic)
{
    fake_ze.calls++;
    traffic[0] = part->read;
    traffic[1] = part->written;
    return part->result;
}

int zesFrequencyGetProperties(const fake_ze_part *part, void *p);
int zesFrequencyGetProperties(const fake_ze_part *part, void *p)
{
    put(p, 40, &part->most, 8);
    return properties(part, p, 0x9);
}

int zesFrequencyGetState(const fake_ze_part *part, void *state);
int zesFrequencyGetState(const fake_ze_part *part, void *state)
{
    fake_ze.calls++;
    if (!is_type(state, 0x1b)) return WRONG;
    put(state, 48, &part->real, 8);
    put(state, 56, &part->bits, 4);
    return part->result;
}

int zesFrequencyGetThrottleTime(const fake_ze_part *part, uint64_t *time);
int zesFrequencyGetThrottleTime(const fake_ze_part *part, uint64_t *time)
{
    fake_ze.calls++;
    time[0] = part->a;
    return part->result;
}

int zesTemperatureGetProperties(const fake_ze_part *part, void *p);
int zesTemperatureGetProperties(const fake_ze_part *part, void *p)
{
    return properties(part, p, 0x14);
}

int zesTemperatureGetState(const fake_ze_part *part, double *celsius);
int zesTemperatureGetState(const fake_ze_part *part, double *celsius)
{
    fake_ze.calls++;
    *celsius = part->real;
    return part->result;
}

int zesFabricPortGetState(const fake_ze_part *part, void *state);
int zesFabricPortGetState(const fake_ze_part *part, void *state)
{
    fake_ze.calls++;
    if (!is_type(state, 0x19)) return WRONG;
    put(state, 16, &part->bits, 4);
    return part->result;
}

int zesFabricPortGetThroughput(const fake_ze_part *part, uint64_t *traffic);
int zesFabricPortGetThroughput(const fake_ze_part *part, uint64_t *traffic)
{
    fake_ze.calls++;
    traffic[1] = part->a;
    traffic[2] = part->b;
    return part->result;
}

int zesRasGetProperties(const fake_ze_part *part, void *p);
int zesRasGetProperties(const fake_ze_part *part, void *p)
{
    return properties(part, p, 0xf);
}

int zesRasGetState(const fake_ze_part *part, unsigned char clear, void *state);
int zesRasGetState(const fake_ze_part *part, unsigned char clear, void *state)
{
    fake_ze.calls++;
    fake_ze.cleared += clear;
    if (!is_type(state, 0x22)) return WRONG;
    put(state, 16, part->counts, sizeof part->counts);
    return part->result;
}

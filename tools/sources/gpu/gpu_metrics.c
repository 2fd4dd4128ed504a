// gpu_metrics of amdgpu (kernel: kgd_pp_interface.h): a binary table whose first bytes name its size and version. What
// a version holds, and where, is a row; one that is not known is not read.
#include "gpu_metrics.h"

#include <errno.h>

enum { LINKS = 8, REASON_BITS = 16 };

// A place of 0: the version does not hold it. Residencies are six words of 32 bits in the
// order of gpu_ticks_set(). Some drivers had another table as version 1.6 for a while, a much shorter one.
static const struct gpu_metrics_row {
    unsigned content, least, energy, reasons, residencies, recoveries, replays, naks, received, written, up;
} rows[] = {
    {.content = 1, .energy = 24},
    {.content = 2, .energy = 24},
    {.content = 3, .energy = 24, .reasons = 112},
    {.content = 4, .energy = 24, .recoveries = 80, .replays = 88, .received = 104, .written = 168},
    {.content = 5, .energy = 88, .recoveries = 144, .replays = 152, .naks = 168, .received = 176, .written = 240},
    {.content = 6,
     .least = 1600,
     .energy = 16,
     .residencies = 32,
     .recoveries = 96,
     .replays = 104,
     .naks = 120,
     .received = 128,
     .written = 192},
    {.content = 7,
     .least = 1600,
     .energy = 24,
     .residencies = 40,
     .recoveries = 104,
     .replays = 112,
     .naks = 128,
     .received = 136,
     .written = 200,
     .up = 264},
    {.content = 8,
     .least = 1600,
     .energy = 24,
     .residencies = 40,
     .recoveries = 104,
     .replays = 112,
     .naks = 128,
     .received = 136,
     .written = 200,
     .up = 264},
};

#define GPU_METRICS_IS_LITTLE (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

typedef struct table {
    const unsigned char *data;
    size_t size;
} table;

// Of the host's order, since the driver hands out its own structure. All ones if the place is past the end, as the driver
// writes for a value that the chip does not have.
static uint64_t gpu_metrics_number_at(const table *t, size_t place, size_t bytes)
{
    uint64_t value = 0;
    if (place + bytes > t->size) return UINT64_MAX;
    for (size_t i = 0; i < bytes; i++)
        value = value << 8 | t->data[place + (GPU_METRICS_IS_LITTLE ? bytes - 1 - i : i)];
    return bytes < 8 && value == (UINT64_C(1) << 8 * bytes) - 1 ? UINT64_MAX : value;
}

static void gpu_metrics_set_number(gpu *g, gpu_value_id id, int error, const table *t, size_t place, size_t bytes)
{
    uint64_t value = error ? 0 : gpu_metrics_number_at(t, place, bytes);
    gpu_set(g, id, value == UINT64_MAX ? EOPNOTSUPP : error, value);
    if (bytes == 4 && g->values[id].told) g->values[id].width = 32;
}

static const struct gpu_metrics_row *gpu_metrics_row_of(const unsigned char *data, size_t size)
{
    if (size < 4 || data[2] != 1) return NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].content == data[3]) return size >= rows[i].least ? &rows[i] : NULL;
    return NULL;
}

bool gpu_metrics_known(const unsigned char *data, size_t size)
{
    return gpu_metrics_row_of(data, size) != NULL;
}

static unsigned gpu_metrics_reasons_of(uint64_t bits) // 16 bits each of power, current, temperature, others
{
    return (bits & 0xffffffff ? GPU_REASON_POWER : 0u) | (bits >> 2 * REASON_BITS & 0xffff ? GPU_REASON_THERMAL : 0u) |
           (bits >> 3 * REASON_BITS ? GPU_REASON_HARDWARE : 0u);
}

static void gpu_metrics_set_reasons(gpu *g, int error, const table *t, size_t place)
{
    uint64_t bits = error ? 0 : gpu_metrics_number_at(t, place, 8);
    if (bits == UINT64_MAX) error = EOPNOTSUPP;
    gpu_set(g, GPU_THROTTLE_REASONS, error, bits);
    g->reasons = error ? 0 : gpu_metrics_reasons_of(bits);
}

void gpu_ticks_set(gpu *g, int error, uint64_t all, const uint64_t of[GPU_TICKS_AMD])
{
    static const gpu_value_id ids[GPU_TICKS_AMD] = {GPU_THROTTLED_PROCHOT, GPU_THROTTLED_POWER, GPU_THROTTLED_THERMAL,
                                                    GPU_THROTTLED_REGULATOR, GPU_THROTTLED_MEMORY};
    gpu_ticks ticks = {.told = true, .error = error, .all = all, .mask = UINT32_MAX};
    if (!error && all == UINT64_MAX) ticks.error = EOPNOTSUPP;
    for (size_t i = 0; i < GPU_TICKS_AMD; i++) {
        if (of[i] == UINT64_MAX) continue; // not counted by this chip
        ticks.told_of |= 1u << (ids[i] - GPU_THROTTLED_POWER);
        ticks.of[ids[i] - GPU_THROTTLED_POWER] = of[i];
    }
    g->ticks = ticks;
}

static void gpu_metrics_set_ticks(gpu *g, int error, const table *t, size_t place)
{
    uint64_t all = 0, of[GPU_TICKS_AMD] = {0}; // after a failed reading, each is reported as failed
    for (size_t i = 0; i < GPU_TICKS_AMD && !error; i++)
        of[i] = gpu_metrics_number_at(t, place + 4 + 4 * i, 4);
    if (!error) all = gpu_metrics_number_at(t, place, 4);
    gpu_ticks_set(g, error, all, of);
}

void gpu_xgmi_set(gpu *g, unsigned link, uint64_t read_kib, uint64_t written_kib)
{
    gpu_link *l = gpu_link_at(g, link);
    if (!l) return;
    g->link_kind = "xgmi";
    l->rx = (gpu_value){.told = true, .error = read_kib == UINT64_MAX ? EOPNOTSUPP : 0};
    l->tx = (gpu_value){.told = true, .error = written_kib == UINT64_MAX ? EOPNOTSUPP : 0};
    if (!l->rx.error) l->rx.value = read_kib * 1024;
    if (!l->tx.error) l->tx.value = written_kib * 1024;
}

static bool gpu_metrics_knows_link(const gpu *g, unsigned number)
{
    for (size_t i = 0; i < g->link_count; i++)
        if (g->links[i].number == number) return true;
    return false;
}

// Links that a chip does not have are all ones for ever; one that was seen stays.
static void gpu_metrics_set_links(gpu *g, int error, const table *t, const struct gpu_metrics_row *r)
{
    uint64_t up = 0;
    bool any = false;
    for (unsigned i = 0; i < LINKS; i++) {
        uint64_t read = error ? UINT64_MAX : gpu_metrics_number_at(t, r->received + 8 * i, 8),
                 written = error ? UINT64_MAX : gpu_metrics_number_at(t, r->written + 8 * i, 8),
                 state = error || !r->up ? UINT64_MAX : gpu_metrics_number_at(t, r->up + 2 * i, 2);
        if (read == UINT64_MAX && written == UINT64_MAX && !gpu_metrics_knows_link(g, i)) continue;
        gpu_xgmi_set(g, i, read, written);
        gpu_link *l = gpu_link_at(g, i);
        if (!l) return;
        if (error) l->rx.error = l->tx.error = error;
        if (state == UINT64_MAX) continue;
        any = true;
        l->up = (gpu_value){.told = true, .value = state == 1}; // 0: down, 2: switched off
        up += state == 1;
    }
    if (any) gpu_set(g, GPU_LINKS_UP, 0, up);
}

void gpu_metrics_set(gpu *g, int error, const unsigned char *data, size_t size)
{
    const table t = {data, size};
    const struct gpu_metrics_row *r = error ? NULL : gpu_metrics_row_of(data, size);
    if (!error && !r) error = EBADMSG;
    if (r) g->metrics = r;
    r = g->metrics; // a reading that failed leaves the same values without a number
    if (!r) return;
    uint64_t energy = error ? 0 : gpu_metrics_number_at(&t, r->energy, 8); // in 2^-16 J
    gpu_set(g, GPU_ENERGY, energy == UINT64_MAX ? EOPNOTSUPP : error,
            energy / 65536 * 1000000 + energy % 65536 * 1000000 / 65536);
    if (r->reasons) gpu_metrics_set_reasons(g, error, &t, r->reasons);
    if (r->residencies) gpu_metrics_set_ticks(g, error, &t, r->residencies);
    if (r->recoveries) gpu_metrics_set_number(g, GPU_PCIE_RECOVERIES, error, &t, r->recoveries, 8);
    if (r->replays) gpu_metrics_set_number(g, GPU_PCIE_REPLAYS, error, &t, r->replays, 8);
    if (r->naks) {
        gpu_metrics_set_number(g, GPU_PCIE_NAKS_SENT, error, &t, r->naks, 4);
        gpu_metrics_set_number(g, GPU_PCIE_NAKS_RECEIVED, error, &t, r->naks + 4, 4);
    }
    if (r->received) gpu_metrics_set_links(g, error, &t, r);
}

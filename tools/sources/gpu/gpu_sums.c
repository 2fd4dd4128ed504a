#include "gpu_sums.h"

#include "sources/shapes.h"

#include <errno.h>

enum { LOADED_PERCENT = 80 };

static bool gpu_sums_is_known(const gpu *g, gpu_value_id id)
{
    return g->values[id].told && !g->values[id].error;
}

// The GPU is as busy as its busiest engine.
static void gpu_sums_add_account(gpu *g, uint64_t passed_us)
{
    const gpu_account *a = &g->account;
    if (!a->told) return;
    if (a->error || !a->all) {
        gpu_set(g, GPU_BUSY, a->error ? a->error : ENODATA, 0);
        return;
    }
    double share = a->active < a->all ? (double)a->active / (double)a->all : 1;
    gpu_set(g, GPU_BUSY, 0, (uint64_t)(100 * share + 0.5));
    g->busy_us += (uint64_t)((double)passed_us * share + 0.5);
}

enum { TICKS = sizeof((gpu_ticks *)0)->of / sizeof(uint64_t) };

// Firmware that has not updated its counter since the last reading reports this time at the next one.
static void gpu_sums_add_ticks(gpu *g, uint64_t passed_us)
{
    const gpu_ticks *now = &g->ticks;
    gpu_ticks *last = &g->last_ticks;
    double share[TICKS] = {0};
    if (!now->told) return;
    uint64_t all = (now->all - last->all) & now->mask;
    g->ticks_us += passed_us;
    bool counted = !now->error && last->told && all;
    for (size_t i = 0; i < TICKS; i++) {
        bool known = counted && now->told_of & last->told_of & 1u << i;
        uint64_t of = known ? (now->of[i] - last->of[i]) & now->mask : 0;
        share[i] = !known ? 0 : of < all ? (double)of / (double)all : 1;
        g->ticks_sum_us[i] += (uint64_t)(share[i] * (double)g->ticks_us + 0.5);
        gpu_value_id id = (gpu_value_id)(GPU_THROTTLED_POWER + i);
        if (now->told_of & 1u << i) gpu_set(g, id, now->error, g->ticks_sum_us[i]);
    }
    if (counted) {
        double us = (double)g->ticks_us, thermal = 0;
        static const gpu_value_id hot[] = {GPU_THROTTLED_THERMAL, GPU_THROTTLED_REGULATOR, GPU_THROTTLED_MEMORY};
        for (size_t i = 0; i < sizeof hot / sizeof *hot; i++)
            if (share[hot[i] - GPU_THROTTLED_POWER] > thermal) thermal = share[hot[i] - GPU_THROTTLED_POWER];
        g->reason_us[0] += (uint64_t)(share[0] * us + 0.5);
        g->reason_us[1] += (uint64_t)(thermal * us + 0.5);
        g->reason_us[2] += (uint64_t)(share[GPU_THROTTLED_PROCHOT - GPU_THROTTLED_POWER] * us + 0.5);
    }
    if (now->error || (last->told && !all)) return;
    *last = *now;
    g->ticks_us = 0;
}

void gpu_sums_add(gpu *g, uint64_t passed_us)
{
    static const unsigned reasons[GPU_REASONS] = {GPU_REASON_POWER, GPU_REASON_THERMAL, GPU_REASON_HARDWARE};
    gpu_sums_add_account(g, passed_us);
    gpu_sums_add_ticks(g, passed_us);
    if (gpu_sums_is_known(g, GPU_BUSY)) {
        uint64_t busy = g->values[GPU_BUSY].value;
        g->seen_us += passed_us;
        if (!g->account.told) g->busy_us += busy * passed_us / 100;
        if (busy >= LOADED_PERCENT && gpu_sums_is_known(g, GPU_CLOCK)) {
            g->loaded_us += passed_us;
            g->loaded_cycles += passed_us * g->values[GPU_CLOCK].value; // MHz times microseconds
        }
    }
    for (size_t i = 0; i < GPU_REASONS; i++)
        if (gpu_sums_is_known(g, GPU_THROTTLE_REASONS) && g->reasons & reasons[i]) g->reason_us[i] += passed_us;
    if (gpu_sums_is_known(g, GPU_JOB_PROCESSES) && g->values[GPU_JOB_PROCESSES].value) g->job_us += passed_us;
    if (gpu_sums_is_known(g, GPU_MEMORY_USED) && g->values[GPU_MEMORY_USED].value > g->memory_peak)
        g->memory_peak = g->values[GPU_MEMORY_USED].value;
}

// Why it is not known how long this reason held; 0: it is.
static int gpu_sums_reason_error(const gpu *g, size_t reason)
{
    static const gpu_value_id by_ticks[GPU_REASONS] = {GPU_THROTTLED_POWER, GPU_THROTTLED_THERMAL,
                                                       GPU_THROTTLED_PROCHOT};
    if (gpu_sums_is_known(g, GPU_THROTTLE_REASONS)) return 0;
    if (!g->ticks.told) return g->values[GPU_THROTTLE_REASONS].error;
    if (g->ticks.error) return g->ticks.error;
    return g->ticks.told_of & 1u << (by_ticks[reason] - GPU_THROTTLED_POWER) ? 0 : EOPNOTSUPP;
}

void gpu_sums_tell(const gpu *g, emit *e)
{
    static const emit_shape time = SHAPE("us", COUNTER, 0), cycles = SHAPE("GPU cycles", COUNTER, 0),
                            bytes = SHAPE("bytes", GAUGE, 0);
    static const char *const reasons[GPU_REASONS] = {"reason_power_cap", "reason_thermal", "reason_hardware"};
    if (g->values[GPU_BUSY].told) {
        emit_value(e, "busy_time", &time, g->busy_us);
        emit_value(e, "seen_time", &time, g->seen_us);
        if (g->values[GPU_CLOCK].told) {
            emit_value(e, "loaded_time", &time, g->loaded_us);
            emit_value(e, "loaded_cycles", &cycles, g->loaded_cycles);
        }
    }
    if (g->values[GPU_MEMORY_USED].told && (g->memory_peak || gpu_sums_is_known(g, GPU_MEMORY_USED)))
        emit_value(e, "memory_peak", &bytes, g->memory_peak);
    else if (g->values[GPU_MEMORY_USED].told)
        emit_failed(e, "memory_peak", &bytes, g->values[GPU_MEMORY_USED].error);
    if (g->values[GPU_JOB_PROCESSES].told) emit_value(e, "job_time", &time, g->job_us);
    bool told = g->values[GPU_THROTTLE_REASONS].told || g->ticks.told;
    for (size_t i = 0; i < GPU_REASONS && told; i++) {
        int error = gpu_sums_reason_error(g, i);
        if (error)
            emit_failed(e, reasons[i], &time, error);
        else
            emit_value(e, reasons[i], &time, g->reason_us[i]);
    }
}

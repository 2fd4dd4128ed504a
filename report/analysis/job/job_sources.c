#include "job_sources.h"

#include "analysis/base/text.h"
#include "analysis/catalog/catalog.h"
#include "analysis/data/traffic.h"

#include <string.h>

#define JOB   JOB_SCOPE_JOB
#define GROUP JOB_SCOPE_GROUP
#define NODE  JOB_SCOPE_NODE

// The first row that fits. JOB_METERS: none is made of it.
static const job_source_row rows[] = {
    // time in microseconds a second: CPUs
    {"process", "*", "cpu_user", JOB_CPU, JOB, JOB_RATE, JOB_SUM, 1e-6, false},
    {"process", "*", "cpu_system", JOB_CPU, JOB, JOB_RATE, JOB_SUM, 1e-6, false},
    {"process", "*", "busiest_thread", JOB_THREAD, JOB, JOB_RATE, JOB_SUM, 1e-9, false},
    {"perf", "job", "task_clock", JOB_CPU, JOB_SCOPE_CLOCK, JOB_RATE, JOB_SUM, 1e-9, false},
    {"cgroup", "*", "cpu_usage", JOB_CPU, GROUP, JOB_RATE, JOB_SUM, 1e-6, false},
    {"cpu", "cpu", "user", JOB_NODE_CPU, NODE, JOB_RATE, JOB_SUM, 1e-6, false}, // guests are in it
    {"cpu", "cpu", "nice", JOB_NODE_CPU, NODE, JOB_RATE, JOB_SUM, 1e-6, false},
    {"cpu", "cpu", "system", JOB_NODE_CPU, NODE, JOB_RATE, JOB_SUM, 1e-6, false},
    {"cpu", "cpu", "irq", JOB_NODE_CPU, NODE, JOB_RATE, JOB_SUM, 1e-6, false},
    {"cpu", "cpu", "softirq", JOB_NODE_CPU, NODE, JOB_RATE, JOB_SUM, 1e-6, false},
    {"cpu", "cpu", "context_switches", JOB_SWITCHES, NODE, JOB_RATE, JOB_SUM, 1, false},
    {"cgroup", "*", "cpu_system", JOB_KERNEL, GROUP, JOB_RATE, JOB_SUM, 1e-6, false},
    {"cpu", "cpu", "iowait", JOB_IO_WAIT, NODE, JOB_RATE, JOB_SUM, 1e-6, false}, // over the CPUs in the end
    {"cgroup", "*", "throttled_time", JOB_THROTTLED, GROUP, JOB_RATE, JOB_SUM, 1e-6, false},
    // memory
    {"process", "*", "resident", JOB_MEMORY, JOB, JOB_LEVEL, JOB_SUM, 1, false},
    {"process", "*", "memory_proportional", JOB_MEMORY, JOB_SCOPE_PARTS, JOB_LEVEL, JOB_SUM, 1, false},
    {"cgroup", "*", "memory_current", JOB_MEMORY, GROUP, JOB_LEVEL, JOB_SUM, 1, false},
    {"cgroup", "*", "memory_file_inactive", JOB_MEMORY, GROUP, JOB_LEVEL, JOB_SUM, -1, false},
    {"memory", "*", "MemTotal", JOB_NODE_MEMORY, NODE, JOB_LEVEL, JOB_SUM, 1, false},
    {"memory", "*", "MemAvailable", JOB_NODE_MEMORY, NODE, JOB_LEVEL, JOB_SUM, -1, false},
    // files and disks
    {"process", "*", "read_chars", JOB_FILES_READ, JOB, JOB_RATE, JOB_SUM, 1, false},
    {"process", "*", "write_chars", JOB_FILES_WRITTEN, JOB, JOB_RATE, JOB_SUM, 1, false},
    {"process", "*", "read_bytes", JOB_DISK_READ, JOB, JOB_RATE, JOB_SUM, 1, false},
    {"process", "*", "write_bytes", JOB_DISK_WRITTEN, JOB, JOB_RATE, JOB_SUM, 1, false},
    {"cgroup", "*", "io_*_read_bytes", JOB_DISK_READ, GROUP, JOB_RATE, JOB_SUM, 1, false},
    {"cgroup", "*", "io_*_write_bytes", JOB_DISK_WRITTEN, GROUP, JOB_RATE, JOB_SUM, 1, false},
    {"disk", "*", "read_bytes", JOB_DISK_READ, NODE, JOB_RATE, JOB_SUM, 1, false},
    {"disk", "*", "write_bytes", JOB_DISK_WRITTEN, NODE, JOB_RATE, JOB_SUM, 1, false},
    {"pressure", "*", "cpu_some", JOB_CPU_PRESSURE, NODE, JOB_RATE, JOB_SUM, 1e-6, false},
    {"pressure", "*", "memory_some", JOB_MEMORY_PRESSURE, NODE, JOB_RATE, JOB_SUM, 1e-6, false},
    {"pressure", "*", "io_some", JOB_IO_PRESSURE, NODE, JOB_RATE, JOB_SUM, 1e-6, false},
    {"pressure", "*", "io_full", JOB_IO_STALLED, NODE, JOB_RATE, JOB_SUM, 1e-6, false},
    // what network and link made the NIC wait or repeat; as the rules egress-paused, eth-pause-rx and ib-xmit-wait take it
    {"cxi", "*", "hni_tx_paused_?", JOB_PAUSED, NODE, JOB_RATE, JOB_MOST, 1, true}, // over the device's clock
    {"ethtool", "*", "rx_prio*_pause_duration", JOB_PAUSED, NODE, JOB_RATE, JOB_MOST, 1e-6, true},
    {"ethtool", "*", "rx_global_pause_duration", JOB_PAUSED, NODE, JOB_RATE, JOB_MOST, 1e-6, true},
    // ... and what made it hold its senders
    {"cxi", "*", "hni_rx_paused_?", JOB_HOLDING, NODE, JOB_RATE, JOB_MOST, 1, true},
    {"ethtool", "*", "tx_prio*_pause_duration", JOB_HOLDING, NODE, JOB_RATE, JOB_MOST, 1e-6, true},
    {"ethtool", "*", "tx_global_pause_duration", JOB_HOLDING, NODE, JOB_RATE, JOB_MOST, 1e-6, true},
    {"rdma", "*", "port_xmit_wait", JOB_PAUSED, NODE, JOB_RATE, JOB_MOST, 8, true}, // bytes: over the line rate
    {"cxi", "*", "pct_retry_srb_requests", JOB_RETRIES, NODE, JOB_RATE, JOB_SUM, 1, true},
    {"rdma", "*", "roce_adp_retrans", JOB_RETRIES, NODE, JOB_RATE, JOB_SUM, 1, true},
    {"rdma", "*", "retrans_pkts", JOB_RETRIES, NODE, JOB_RATE, JOB_SUM, 1, true},
    // energy in microjoules, power in microwatts. A package holds its cores, not its memory; psys holds all.
    {"energy", "psys*", "energy", JOB_POWER, GROUP, JOB_RATE, JOB_SUM, 1e-6, false},
    {"energy", "*/dram*", "energy", JOB_POWER_DRAM, NODE, JOB_RATE, JOB_SUM, 1e-6, false},
    {"energy", "*/*", "energy", JOB_METERS, NODE, JOB_RATE, JOB_SUM, 0, false},
    {"energy", "*", "energy", JOB_POWER_CPU, NODE, JOB_RATE, JOB_SUM, 1e-6, false},
    {"hwmon", "power_meter*", "power*", JOB_POWER, JOB, JOB_LEVEL, JOB_SUM, 1e-6, false}, // ACPI: the whole node
    {"hwmon", "ibmpowernv*", "power* System", JOB_POWER, JOB, JOB_LEVEL, JOB_SUM, 1e-6, false},
    {"gpu", "*", "energy", JOB_POWER_GPU, JOB, JOB_RATE, JOB_SUM, 1e-6, true},
    {"gpu", "*", "power", JOB_POWER_GPU, NODE, JOB_LEVEL, JOB_SUM, 1e-6, true},
    {"gpu", "*", "busy", JOB_GPU_BUSY, NODE, JOB_LEVEL, JOB_SUM, 0.01, true},
    {"gpu", "*", "memory_used", JOB_GPU_MEMORY, NODE, JOB_LEVEL, JOB_SUM, 1, true},
    {"gpu", "*", "clock", JOB_GPU_CLOCK, NODE, JOB_LEVEL, JOB_SUM, 1e6, true},
    // Not throttled_power: the power limit holds every GPU at full load.
    {"gpu", "*", "throttled_thermal", JOB_GPU_THROTTLED, NODE, JOB_RATE, JOB_MOST, 0, true},
    {"gpu", "*", "reason_thermal", JOB_GPU_THROTTLED, NODE, JOB_RATE, JOB_MOST, 0, true},
    {"gpu", "*", "reason_hardware", JOB_GPU_THROTTLED, NODE, JOB_RATE, JOB_MOST, 0, true},
    {"perf", "job", "instructions", JOB_INSTRUCTIONS, JOB, JOB_RATE, JOB_SUM, 1, false},
    {"perf", "job", "cycles", JOB_CYCLES, JOB, JOB_RATE, JOB_SUM, 1, false},
    {"perf", "*", "instructions", JOB_INSTRUCTIONS, NODE, JOB_RATE, JOB_SUM, 1, false},
    {"perf", "*", "cycles", JOB_CYCLES, NODE, JOB_RATE, JOB_SUM, 1, false},
};

// What some of them mean as well.
static const job_source_row second_rows[] = {
    {"process", "*", "cpu_system", JOB_KERNEL, JOB, JOB_RATE, JOB_SUM, 1e-6, false},
    {"cpu", "cpu", "system", JOB_KERNEL, NODE, JOB_RATE, JOB_SUM, 1e-6, false},
    {"cpu", "cpu", "softirq", JOB_SOFTIRQ, NODE, JOB_RATE, JOB_SUM, 1e-6, false},
};

// Bytes of network devices are found by the catalog's marks.
static const job_source_row sent = {"*", "*", "*", JOB_SENT, NODE, JOB_RATE, JOB_MOST, 1, true};
static const job_source_row received = {"*", "*", "*", JOB_RECEIVED, NODE, JOB_RATE, JOB_MOST, 1, true};

const job_source_row *job_bytes_row(bool is_sent)
{
    return is_sent ? &sent : &received;
}

const job_source_row *job_source_row_of(const netprof_device *device, const netprof_counter *counter)
{
    bool gauge = counter->kind == NETPROF_KIND_GAUGE;
    if (counter->kind != NETPROF_KIND_COUNTER && !gauge) return NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (gauge != (rows[i].kind == JOB_LEVEL)) continue;
        if (*rows[i].source != *device->source || strcmp(rows[i].source, device->source) != 0) continue;
        if (!text_like(rows[i].counter, counter->name) || !text_like(rows[i].device, device->name)) continue;
        // Disks above other disks, and a partition's, count the same bytes again.
        if (strcmp(device->source, "disk") == 0 && !(device->flags & NETPROF_DEVICE_PHYSICAL)) return NULL;
        return rows[i].meter == JOB_METERS ? NULL : &rows[i];
    }
    return NULL;
}

const job_source_row *job_second_row_of(const netprof_device *device, const netprof_counter *counter)
{
    if (counter->kind != NETPROF_KIND_COUNTER) return NULL;
    for (size_t i = 0; i < sizeof second_rows / sizeof *second_rows; i++) {
        const job_source_row *row = &second_rows[i];
        if (strcmp(row->source, device->source) == 0 && strcmp(row->counter, counter->name) == 0 &&
            text_like(row->device, device->name))
            return row;
    }
    return NULL;
}

double job_seconds_of_unit(const char *unit)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(units[i].unit, unit) == 0) return units[i].seconds;
    return 0;
}

static double job_device_clock_hz(const netprof_device *d)
{
    const char *version = netprof_fact_of(d->facts, d->fact_count, "cassini_version");
    return version && *version == '2' ? 1.1e9 : 1e9;
}

double job_source_factor(const job_source_row *row, const netprof_device *d, const netprof_counter *c)
{
    bool waits = row->meter == JOB_PAUSED || row->meter == JOB_HOLDING;
    if (waits && strcmp(d->source, "cxi") == 0) return 1 / job_device_clock_hz(d);
    if (row->meter == JOB_PAUSED && strcmp(d->source, "rdma") == 0) {
        double bits = traffic_bits_per_s(d);
        return bits > 0 ? row->factor * 8 / bits : 0;
    }
    if (strcmp(d->source, "gpu") == 0 && c->unit && (row->meter == JOB_GPU_CLOCK) && strcmp(c->unit, "Hz") == 0)
        return 1;
    double seconds = row->factor > 0 || row->factor < 0 ? 0 : job_seconds_of_unit(c->unit ? c->unit : "");
    return row->factor > 0 || row->factor < 0 ? row->factor : seconds;
}

job_join job_device_join(job_meter meter)
{
    switch (meter) {
    case JOB_VIRTUAL_SENT:
    case JOB_VIRTUAL_RECEIVED:
    case JOB_PAUSED:
    case JOB_HOLDING:
    case JOB_GPU_THROTTLED: return JOB_MOST;
    case JOB_GPU_BUSY:
    case JOB_GPU_CLOCK: return JOB_MEAN;
    default: return JOB_SUM;
    }
}

// Meters watched step by step, so that episodes are found whatever the width of the bins.
static const job_watch_row watches[] = {
    {JOB_HOLDING, "nic-holding", "NIC holds others", 0.05, 30, SEVERITY_HIGH, "back-pressure",
     "own: more than 5 % of the time for 30 s",
     "Look at what keeps this host from draining: host write back-pressure, translation misses, its memory; or many "
     "send "
     "to it at once",
     "ingress-paused eth-pause-tx"},
    {JOB_PAUSED, "nic-paused", "NIC paused", 0.05, 30, SEVERITY_HIGH, "congestion",
     "own: more than 5 % of the time for 30 s",
     "Look at where this NIC sends to, not at its host: a receiver that drains slowly (nic-holding, ingress-paused), "
     "many "
     "senders to one target, the fabric between",
     ""},
    {JOB_GPU_THROTTLED, "gpu-throttled", "GPU slowed", 0.01, 60, SEVERITY_WATCH, "back-pressure",
     "own: slowed for a minute; NVIDIA DCGM counts any such time",
     "Look at cooling and power supply; compare with its siblings", ""},
};

const job_watch_row *job_watch_of(job_meter meter)
{
    for (size_t i = 0; i < sizeof watches / sizeof *watches; i++)
        if (watches[i].meter == meter) return &watches[i];
    return NULL;
}

// Counters of what a link lost: a cause of its own where a NIC is held in the same time.
bool job_is_damage(const char *source, const char *counter)
{
    static const struct {
        const char *source, *counter;
    } counters[] = {{"cxi", "hni_pcs_uncorrected_cw"}, {"rdma", "symbol_error"},
                    {"rdma", "link_error_recovery"},   {"ethtool", "rx_crc_errors_phy"},
                    {"ethtool", "rx_symbol_err_phy"},  {"netdev", "rx_crc_errors"}};
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++)
        if (strcmp(counters[i].source, source) == 0 && strcmp(counters[i].counter, counter) == 0) return true;
    return false;
}

#include "job_meters.h"

#include <stddef.h>

static const job_meter_info infos[JOB_METERS] = {
    [JOB_GPU_BUSY] = {"gpu_busy", "GPU busy", "", "", JOB_AVERAGES, true, false},
    [JOB_GPU_MEMORY] = {"gpu_memory", "GPU memory", "bytes", "", JOB_ADDS, true, false},
    [JOB_CPU] = {"cpu", "CPU busy", "CPUs", "s", JOB_ADDS, false, false},
    [JOB_NODE_CPU] = {"node_cpu", "CPU busy, whole node", "CPUs", "s", JOB_ADDS, false, false},
    [JOB_THREAD] = {"thread", "Busiest thread", "", "s", JOB_AVERAGES, false, false},
    [JOB_IO_WAIT] = {"io_wait", "CPU idle for disks", "", "", JOB_AVERAGES, false, false},
    [JOB_MEMORY] = {"memory", "Host memory", "bytes", "", JOB_ADDS, false, false},
    [JOB_NODE_MEMORY] = {"node_memory", "Host memory, whole node", "bytes", "", JOB_ADDS, false, false},
    [JOB_SENT] = {"network_sent", "Network sent", "bytes/s", "bytes", JOB_ADDS, true, false},
    [JOB_RECEIVED] = {"network_received", "Network received", "bytes/s", "bytes", JOB_ADDS, true, false},
    [JOB_VIRTUAL_SENT] = {"virtual_sent", "Virtual sent", "bytes/s", "bytes", JOB_ADDS, true, false},
    [JOB_VIRTUAL_RECEIVED] = {"virtual_received", "Virtual received", "bytes/s", "bytes", JOB_ADDS, true, false},
    [JOB_PAUSED] = {"network_paused", "Time paused", "", "s", JOB_AVERAGES, true, false},
    [JOB_HOLDING] = {"network_holding", "Time holding others", "", "s", JOB_AVERAGES, true, false},
    [JOB_RETRIES] = {"network_retries", "Retries", "1/s", "retries", JOB_ADDS, true, false},
    [JOB_FILES_READ] = {"files_read", "Read by read()", "bytes/s", "bytes", JOB_ADDS, false, false},
    [JOB_FILES_WRITTEN] = {"files_written", "Written by write()", "bytes/s", "bytes", JOB_ADDS, false, false},
    [JOB_DISK_READ] = {"disk_read", "Disk read", "bytes/s", "bytes", JOB_ADDS, false, false},
    [JOB_DISK_WRITTEN] = {"disk_written", "Disk written", "bytes/s", "bytes", JOB_ADDS, false, false},
    [JOB_CPU_PRESSURE] = {"cpu_pressure", "Waiting for a CPU", "", "s", JOB_AVERAGES, false, false},
    [JOB_MEMORY_PRESSURE] = {"memory_pressure", "Waiting for memory", "", "s", JOB_AVERAGES, false, false},
    [JOB_IO_PRESSURE] = {"io_pressure", "Waiting for I/O", "", "s", JOB_AVERAGES, false, false},
    [JOB_IO_STALLED] = {"io_stalled", "All waiting for I/O", "", "s", JOB_AVERAGES, false, false},
    [JOB_THROTTLED] = {"throttled", "Stopped by the CPU limit", "CPUs", "s", JOB_ADDS, false, false},
    [JOB_INSTRUCTIONS] = {"instructions", "Instructions", "1/s", "instructions", JOB_ADDS, false, false},
    [JOB_CYCLES] = {"cycles", "CPU cycles", "1/s", "cycles", JOB_ADDS, false, false},
    [JOB_POWER] = {"power", "Power", "W", "J", JOB_ADDS, false, false},
    [JOB_POWER_CPU] = {"power_cpu", "CPU power", "W", "J", JOB_ADDS, false, false},
    [JOB_POWER_DRAM] = {"power_dram", "Memory power", "W", "J", JOB_ADDS, false, false},
    [JOB_POWER_GPU] = {"power_gpu", "GPU power", "W", "J", JOB_ADDS, true, false},
    [JOB_GPU_CLOCK] = {"gpu_clock", "GPU clock", "Hz", "", JOB_AVERAGES, true, false},
    [JOB_GPU_THROTTLED] = {"gpu_throttled", "GPU slowed", "", "s", JOB_AVERAGES, true, false},
    [JOB_KERNEL] = {"cpu_kernel", "CPU in the kernel", "CPUs", "s", JOB_ADDS, false, true},
    [JOB_SOFTIRQ] = {"softirq", "CPU in softirqs", "CPUs", "s", JOB_ADDS, false, true},
    [JOB_SWITCHES] = {"context_switches", "Context switches", "1/s", "switches", JOB_ADDS, false, true},
};

const job_meter_info *job_meter_of(job_meter meter)
{
    return (unsigned)meter < JOB_METERS ? &infos[meter] : NULL;
}

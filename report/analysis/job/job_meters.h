// Meters: what a job report shows over time.
#ifndef NETPROF_JOB_METERS_H
#define NETPROF_JOB_METERS_H

#include <stdbool.h>

// In the order of pages and tables.
typedef enum job_meter {
    JOB_GPU_BUSY = 0, // share of the time that a kernel ran, 0..1; of a node: mean of its GPUs
    JOB_GPU_MEMORY,   // bytes; of a node: sum of its GPUs
    JOB_CPU,          // CPUs busy, of the scope; capacity: the CPUs there are
    JOB_NODE_CPU,     // CPUs busy, of the whole node
    JOB_THREAD,       // share of a CPU that the job's busiest thread had, 0..1: of one thread after the other
    JOB_IO_WAIT,      // share of the node's CPU time that waited for disks, 0..1
    JOB_MEMORY,       // bytes, of the scope; capacity: the control group's limit, else the node's memory
    JOB_NODE_MEMORY,  // bytes that are not available any more
    JOB_SENT,         // bytes/s; capacity: line rate; of a node: its ports, each byte once. Lanes of NICs too
    JOB_RECEIVED,
    JOB_VIRTUAL_SENT, // bytes/s of the loopback, bridges, veth and the like, where there are ports beside them: in no
    JOB_VIRTUAL_RECEIVED, // figure of the network. Of a node: the busiest one, for the same bytes may pass several
    JOB_PAUSED,           // share of the time that the network let a NIC not send, 0..1; of a node: its most paused NIC
    JOB_HOLDING,          // share of the time that a NIC held its senders, for its host drains slowly; as JOB_PAUSED
    JOB_RETRIES,          // repeated transmissions/s; lanes of NICs too
    JOB_FILES_READ,       // bytes/s by read() and its like, sockets and pipes too; of the job's processes
    JOB_FILES_WRITTEN,
    JOB_DISK_READ, // bytes/s of disks: the job's, else its control group's, else the node's
    JOB_DISK_WRITTEN,
    JOB_CPU_PRESSURE, // share of the time that a task waited for a CPU, 0..1
    JOB_MEMORY_PRESSURE,
    JOB_IO_PRESSURE,
    JOB_IO_STALLED,    // share of the time that all tasks of the node that were not idle waited for I/O, 0..1
    JOB_THROTTLED,     // CPUs' worth of time that the CPU limit of the control group stopped
    JOB_INSTRUCTIONS,  // instructions/s
    JOB_CYCLES,        // cycles/s
    JOB_POWER,         // W of the node: by its own meter, else of the parts that are measured (job_energy.whole)
    JOB_POWER_CPU,     // W, all packages
    JOB_POWER_DRAM,    // W, where it is a domain of its own
    JOB_POWER_GPU,     // W; lanes of GPUs too; capacity: their limits
    JOB_GPU_CLOCK,     // Hz; of a node: mean; capacity: the highest
    JOB_GPU_THROTTLED, // share of the time that heat or the hardware slowed a GPU, 0..1; of a node: the most slowed
    // Of a job of one node only:
    JOB_KERNEL,   // CPUs busy in the kernel; by the account that JOB_CPU is of, which holds them
    JOB_SOFTIRQ,  // CPUs busy with softirqs (packets, timers), of the whole node
    JOB_SWITCHES, // context switches/s, of the whole node
    JOB_METERS
} job_meter;

// How a meter's values of several nodes come together.
typedef enum job_sum {
    JOB_ADDS = 0, // bytes/s, W: the job's figure is the sum, a node's figure the mean
    JOB_AVERAGES  // shares, clocks: a sum means nothing
} job_sum;

typedef struct job_meter_info {
    const char *name;  // "network_sent", for JSON
    const char *title; // "Network sent"
    const char *unit;  // of a value: "bytes/s", "CPUs", "bytes", "W", "Hz", "1/s"; "" for a share 0..1
    const char
        *total_unit; // of lane.total and job_phase_meter.amount: "bytes", "s" (CPU seconds), "J", ""; "": no total
    job_sum sum;
    bool of_devices; // there are lanes of devices too
    bool of_one;     // only of a job of one node
} job_meter_info;

const job_meter_info *job_meter_of(job_meter meter);

#endif

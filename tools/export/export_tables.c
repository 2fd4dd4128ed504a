// The tables, as data. What they mean is in netprof-export(1).
#include "export.h"

#include <math.h>
#include <string.h>

#define COLUMNS(...)                                                                                                   \
    (const export_column[]){__VA_ARGS__}, sizeof((const export_column[]){__VA_ARGS__}) / sizeof(export_column)
#define TEXT(name)                                                                                                     \
    {                                                                                                                  \
        name, EXPORT_TEXT, ""                                                                                          \
    }
#define NAME(name)                                                                                                     \
    {                                                                                                                  \
        name, EXPORT_NAME, ""                                                                                          \
    }
#define U64(name, unit)                                                                                                \
    {                                                                                                                  \
        name, EXPORT_U64, unit                                                                                         \
    }
#define I64(name, unit)                                                                                                \
    {                                                                                                                  \
        name, EXPORT_I64, unit                                                                                         \
    }
#define TIME(name)                                                                                                     \
    {                                                                                                                  \
        name, EXPORT_TIME, "ns"                                                                                        \
    }
#define F64(name, unit)                                                                                                \
    {                                                                                                                  \
        name, EXPORT_F64, unit                                                                                         \
    }
// Common columns.
#define RUN     U64("run", ""), NAME("host")
#define COUNTER NAME("source"), NAME("device"), NAME("counter")
#define CALLS                                                                                                          \
    U64("calls", ""), U64("measured_calls", ""), U64("open_calls", ""), U64("spans", ""), U64("aborted_calls", ""),    \
        U64("inclusive_ns", "ns"), U64("exclusive_ns", "ns"), U64("min_ns", "ns"), U64("max_ns", "ns"),                \
        F64("mean_ns", "ns"), F64("variance_ns2", "ns^2"), U64("declared_bytes", "bytes")

static const struct {
    export_table table;
    unsigned what;
} tables[EXPORT_TABLES] = {
    [EXPORT_RUNS] = {{"runs", COLUMNS(U64("run", ""), TEXT("path"), NAME("format"), NAME("host"), U64("snapshots", ""),
                                      TIME("begin_ns"), TIME("end_ns"), U64("complete", ""), NAME("node"))},
                     WHAT_SNAPSHOTS | WHAT_SERIES | WHAT_FINDINGS},
    [EXPORT_FACTS] = {{"facts",
                       COLUMNS(RUN, NAME("scope"), NAME("source"), NAME("device"), NAME("key"), TEXT("value"))},
                      WHAT_SNAPSHOTS | WHAT_SERIES | WHAT_FINDINGS},
    [EXPORT_SOURCES] = {{"sources", COLUMNS(RUN, NAME("source"), NAME("status"), I64("errno", ""), TEXT("path"),
                                            U64("devices", ""))},
                        WHAT_SNAPSHOTS | WHAT_SERIES},
    [EXPORT_DEVICES] = {{"devices",
                         COLUMNS(RUN, NAME("source"), NAME("device"), U64("identity", ""), U64("physical", ""),
                                 U64("virtual", ""), U64("repeats", ""), U64("counters", ""))},
                        WHAT_SNAPSHOTS | WHAT_SERIES},
    [EXPORT_COUNTERS] = {{"counters", COLUMNS(RUN, COUNTER, NAME("unit"), NAME("kind"), U64("width", "bits"),
                                              U64("signed", ""), U64("saturates", ""), U64("fast", ""),
                                              U64("scale", ""), NAME("role"), U64("trouble", ""), NAME("description"))},
                         WHAT_SNAPSHOTS | WHAT_SERIES},
    [EXPORT_SNAPSHOTS] = {{"snapshots", COLUMNS(RUN, U64("snapshot", ""), TIME("time_ns"), I64("begin_ns", "ns"),
                                                I64("end_ns", "ns"), NAME("set"), U64("not_ok", ""))},
                          WHAT_SNAPSHOTS | WHAT_SERIES},
    [EXPORT_VALUES] = {{"counter_values",
                        COLUMNS(RUN, U64("snapshot", ""), TIME("time_ns"), COUNTER, U64("value", ""),
                                I64("signed_value", ""), NAME("unit"), NAME("kind"), NAME("status"), U64("errno", ""))},
                       WHAT_SNAPSHOTS},
    [EXPORT_RATES] = {{"counter_rates",
                       COLUMNS(RUN, TIME("from_ns"), TIME("to_ns"), COUNTER, U64("difference", ""),
                               I64("signed_difference", ""), F64("rate_per_s", "1/s"), I64("interval_ns", "ns"),
                               NAME("unit"), NAME("kind"), NAME("status"), U64("lower_bound", ""))},
                      WHAT_SERIES},
    [EXPORT_RANKS] = {{"ranks", COLUMNS(NAME("rank"), I64("number", ""), I64("pid", ""), NAME("host"), TEXT("path"),
                                        NAME("command"), NAME("mode"), NAME("clock"), TEXT("warning"), TIME("begin_ns"),
                                        I64("elapsed_ns", "ns"), I64("sweep_ns", "ns"), I64("interval_ns", "ns"),
                                        U64("threads", ""), U64("regions_ns", "ns"), U64("calls", ""),
                                        U64("mismatched_ends", ""), U64("dropped_begins", ""),
                                        U64("overhead_ps_per_call", "ps"), U64("complete", ""))},
                      WHAT_REGIONS},
    [EXPORT_REGIONS] = {{"regions",
                         COLUMNS(NAME("region"), NAME("name"), NAME("parent"), U64("depth", ""), U64("ranks", ""),
                                 U64("threads", ""), CALLS, U64("declared_bytes_inclusive", "bytes"), F64("share", ""),
                                 F64("own_share", ""), F64("mean_rank_ns", "ns"), F64("median_rank_ns", "ns"),
                                 F64("deviation_rank_ns", "ns"), NAME("fastest_rank"), U64("fastest_ns", "ns"),
                                 NAME("slowest_rank"), U64("slowest_ns", "ns"), F64("max_over_mean", ""),
                                 F64("imbalance_ns", "ns"), NAME("odd_rank"), F64("odd_over_median", ""),
                                 F64("odd_distance_ns", "ns"), U64("odd_notable", ""))},
                        WHAT_REGIONS},
    [EXPORT_REGION_RANKS] = {{"region_ranks", COLUMNS(NAME("region"), NAME("rank"), NAME("host"), U64("threads", ""),
                                                      U64("longest_thread_ns", "ns"), CALLS)},
                             WHAT_REGIONS},
    [EXPORT_REGION_HISTOGRAMS] = {{"region_histograms", COLUMNS(NAME("region"), NAME("rank"), U64("from_ns", "ns"),
                                                                U64("below_ns", "ns"), U64("calls", ""))},
                                  WHAT_REGIONS},
    [EXPORT_REGION_NICS] = {{"region_nics",
                             COLUMNS(NAME("region"), NAME("host"), NAME("rank"), U64("readers", ""), NAME("state"),
                                     U64("calls", ""), U64("unread_calls", ""), U64("time_ns", "ns"),
                                     F64("open_regions", ""), U64("bytes_received", "bytes"),
                                     U64("bytes_sent", "bytes"), F64("received_bytes_per_s", "bytes/s"),
                                     F64("sent_bytes_per_s", "bytes/s"), F64("line_bytes_per_s", "bytes/s"),
                                     F64("share_of_line_rate", ""), NAME("busiest_device"), F64("paused_share", ""),
                                     NAME("most_paused_device"), U64("retries", ""))},
                            WHAT_REGIONS},
    [EXPORT_REGION_COUNTERS] = {{"region_counters",
                                 COLUMNS(NAME("region"), NAME("host"), NAME("rank"), COUNTER, U64("difference", ""),
                                         I64("signed_difference", ""), F64("rate_per_s", "1/s"), NAME("unit"),
                                         NAME("kind"), NAME("status"), U64("lower_bound", ""))},
                                WHAT_REGIONS},
    [EXPORT_REGION_FINDINGS] = {{"region_findings",
                                 COLUMNS(NAME("region"), NAME("severity"), NAME("rule"), NAME("class"), NAME("host"),
                                         NAME("device"), F64("value", ""), NAME("unit"), TEXT("claim"), TEXT("advice"),
                                         U64("places", ""), U64("hosts", ""), NAME("part"))},
                                WHAT_REGIONS},
    [EXPORT_REGION_NOTES] = {{"region_notes", COLUMNS(NAME("severity"), TEXT("text"), NAME("region"), NAME("rank"))},
                             WHAT_REGIONS},
    [EXPORT_VERDICTS] = {{"verdicts", COLUMNS(RUN, TIME("from_ns"), TIME("to_ns"), NAME("severity"), TEXT("verdict"),
                                              U64("judged", ""), U64("could_not_be_judged", ""))},
                         WHAT_FINDINGS},
    [EXPORT_FINDINGS] = {{"findings",
                          COLUMNS(RUN, U64("finding", ""), TIME("from_ns"), TIME("to_ns"), NAME("severity"),
                                  NAME("rule"), NAME("class"), NAME("source"), NAME("device"), F64("value", ""),
                                  NAME("unit"), TEXT("claim"), TEXT("advice"), TEXT("explained_by"), U64("peers", ""),
                                  F64("peers_min", ""), F64("peers_max", ""))},
                         WHAT_FINDINGS},
    [EXPORT_EVIDENCE] = {{"finding_evidence", COLUMNS(RUN, U64("finding", ""), NAME("name"), NAME("unit"),
                                                      U64("gauge", ""), F64("number", ""), U64("value", ""))},
                         WHAT_FINDINGS},
    [EXPORT_NSYS_FILES] = {{"nsys_files", COLUMNS(U64("file", ""), TEXT("path"), NAME("host"), NAME("version"),
                                                  TIME("begin_ns"), TIME("session_ns"), U64("gpus", ""))},
                           WHAT_PROGRAMS},
    [EXPORT_NSYS_TABLES] = {{"nsys_tables",
                             COLUMNS(U64("file", ""), NAME("host"), NAME("table_name"), TEXT("name"), NAME("of"),
                                     U64("nccl", ""), NAME("unit"), F64("share", ""), U64("count", ""),
                                     U64("total", ""), F64("mean", ""), F64("median", ""), U64("min", ""),
                                     U64("max", ""), F64("deviation", ""))},
                            WHAT_PROGRAMS},
    [EXPORT_NSYS_PROCESSES] = {{"nsys_processes",
                                COLUMNS(U64("file", ""), NAME("host"), I64("rank", ""), I64("pid", ""),
                                        U64("kernels_ns", "ns"), U64("nccl_kernels_ns", "ns"),
                                        U64("memory_operations_ns", "ns"), U64("mpi_ns", "ns"),
                                        U64("cuda_api_ns", "ns"))},
                               WHAT_PROGRAMS},
    [EXPORT_NSYS_BUSY] = {{"nsys_busy",
                           COLUMNS(U64("file", ""), NAME("host"), I64("gpu", ""), I64("pid", ""), NAME("gpu_name"),
                                   TIME("from_ns"), I64("offset_ns", "ns"), I64("length_ns", "ns"), F64("kernels", ""),
                                   F64("nccl_kernels", ""), F64("memory_operations", ""))},
                          WHAT_PROGRAMS},
    // Their columns are those of the counters.
    [EXPORT_VALUES_WIDE] = {{"counter_values_wide", NULL, 0}, WHAT_SNAPSHOTS},
    [EXPORT_RATES_WIDE] = {{"counter_rates_wide", NULL, 0}, WHAT_SERIES},
    [EXPORT_MISSING] = {{"counter_missing", COLUMNS(RUN, U64("snapshot", ""), TIME("time_ns"), NAME("column"),
                                                    NAME("status"), U64("errno", ""))},
                        WHAT_SNAPSHOTS},
};

const export_table *export_table_of(export_id id)
{
    return &tables[id].table;
}
const char *export_table_name(export_id id)
{
    return tables[id].table.name;
}
unsigned export_table_what(export_id id)
{
    return tables[id].what;
}

// ---- cells ----

export_cell cell_none(void)
{
    return (export_cell){.known = false};
}

export_cell cell_text(const char *text)
{
    return (export_cell){.known = text && *text, .as.text = text};
}

export_cell cell_exact_text(const char *text)
{
    return (export_cell){.known = text != NULL, .as.text = text};
}

export_cell cell_u64(uint64_t value)
{
    return (export_cell){.known = true, .as.u64 = value};
}

export_cell cell_i64(int64_t value)
{
    return (export_cell){.known = true, .as.i64 = value};
}

export_cell cell_f64(double value)
{
    return (export_cell){.known = isfinite(value) != 0, .as.f64 = value};
}

export_cell cell_time(int64_t ns)
{
    return (export_cell){.known = ns != 0, .as.i64 = ns};
}

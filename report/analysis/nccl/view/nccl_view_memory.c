// The fields of a view, row by row, and its memory.
#define _GNU_SOURCE // vasprintf
#include "nccl_view_memory.h"

#include "analysis/base/memory.h"
#include "analysis/rules/rules.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#define FIELD(type, kind, name)                                                                                        \
    {                                                                                                                  \
#name, NCCL_VIEW_##kind, offsetof(type, name), NULL                                                            \
    }
#define ROWS(type, name, shape)                                                                                        \
    {                                                                                                                  \
#name, NCCL_VIEW_LIST, offsetof(type, name), &shape                                                            \
    }
#define SHAPE(name, type, tuple, ...)                                                                                  \
    static const nccl_view_field name##_fields[] = {__VA_ARGS__};                                                      \
    static const nccl_view_shape name = {sizeof(type), tuple, name##_fields,                                           \
                                         sizeof name##_fields / sizeof(nccl_view_field)};

#define F(kind, name) FIELD(nccl_view_line, kind, name)
SHAPE(line_shape, nccl_view_line, false, F(SEVERITY, severity), F(TEXT, text))
#undef F
#define F(kind, name) FIELD(nccl_view_evidence, kind, name)
SHAPE(evidence_shape, nccl_view_evidence, false, F(TEXT, name), F(TEXT, unit), F(NUMBER, value))
#undef F
#define F(kind, name) FIELD(nccl_view_finding, kind, name)
SHAPE(finding_shape, nccl_view_finding, false, F(SEVERITY, severity), F(TEXT, rule), F(TEXT, device), F(TEXT, claim),
      F(TEXT, unit), F(TEXT, origin), F(TEXT, advice), F(TEXT, explained_by), F(NUMBER, value), F(NUMBER, limit),
      ROWS(nccl_view_finding, evidence, evidence_shape))
#undef F
#define F(kind, name) FIELD(nccl_view_row, kind, name)
SHAPE(row_shape, nccl_view_row, false, F(TEXT, label), F(TEXT, coll), F(COUNT, communicators), F(COUNT, ranks),
      F(COUNT, size_low), F(COUNT, size_high), F(COUNT, sizes), F(COUNT, calls), F(COUNT, incomplete), F(NUMBER, bytes),
      F(NUMBER, time_us), F(SPREAD, wire_us), F(SPREAD, skew_us), F(SPREAD, bus_gbs), F(SPREAD, mean_bus_gbs),
      F(NUMBER, peak_gbs), F(SEVERITY, severity))
#undef F
#define F(kind, name) FIELD(nccl_view_size, kind, name)
SHAPE(size_shape, nccl_view_size, false, F(COUNT, size), F(COUNT, calls), F(SPREAD, bus_gbs), F(NUMBER, mean_gbs))
#undef F
#define F(kind, name) FIELD(nccl_view_reason, kind, name)
SHAPE(reason_shape, nccl_view_reason, false, F(TEXT, what), F(COUNT, count))
#undef F
#define F(kind, name) FIELD(nccl_view_process, kind, name)
SHAPE(process_shape, nccl_view_process, false, F(TEXT, host), F(TEXT, name), F(COUNT, pid), F(COUNT, local),
      F(COUNT, rank), F(COUNT, judged), F(COUNT, last_alone), F(NUMBER, behind_us), F(COUNT, records),
      F(COUNT, last_arrivals), F(COUNT, cost_us), F(COUNT, caused_us), F(COUNT, suffered_us), F(COUNT, missing),
      F(COUNT, missing_tail))
#undef F
#define F(kind, name) FIELD(nccl_view_bin, kind, name)
SHAPE(bin_shape, nccl_view_bin, true, F(COUNT, first_sn), F(COUNT, last_sn), F(COUNT, instances), F(COUNT, complete),
      F(NUMBER, wire_p5), F(NUMBER, wire_p50), F(NUMBER, wire_p95), F(NUMBER, skew_p5), F(NUMBER, skew_p50),
      F(NUMBER, skew_p95), F(COUNT, written_us))
#undef F
#define F(kind, name) FIELD(nccl_view_point, kind, name)
SHAPE(point_shape, nccl_view_point, true, F(NUMBER, x), F(NUMBER, y), F(COUNT, calls))
#undef F
#define F(kind, name) FIELD(nccl_view_count, kind, name)
SHAPE(count_shape, nccl_view_count, true, F(NUMBER, count))
#undef F
#define F(kind, name) FIELD(nccl_view_kind, kind, name)
SHAPE(kind_shape, nccl_view_kind, false, F(TEXT, type), F(TEXT, meaning), F(TEXT, coll), F(COUNT, size),
      F(COUNT, calls), F(COUNT, incomplete), F(COUNT, time_us), F(FLAG, has_bus), F(SPREAD, wire_us),
      F(SPREAD, skew_us), F(SPREAD, time_spread_us), F(SPREAD, bus_gbs), F(SPREAD, mean_bus_gbs), F(NUMBER, peak_gbs),
      F(NUMBER, x_max), F(NUMBER, y_max), ROWS(nccl_view_kind, points, point_shape), F(NUMBER, low), F(NUMBER, high),
      ROWS(nccl_view_kind, bins, count_shape))
#undef F
#define F(kind, name) FIELD(nccl_view_series, kind, name)
SHAPE(series_shape, nccl_view_series, false, F(TEXT, label), F(TEXT, type), F(TEXT, coll), F(COUNT, ranks),
      F(COUNT, size), F(COUNT, calls), F(COUNT, incomplete), F(COUNT, time_us), F(SPREAD, wire_us), F(SPREAD, skew_us),
      F(SPREAD, bus_gbs))
#undef F
#define F(kind, name) FIELD(nccl_view_path, kind, name)
SHAPE(path_shape, nccl_view_path, false, F(TEXT, type), F(TEXT, coll), F(TEXT, algo), F(TEXT, proto), F(COUNT, size),
      F(COUNT, calls), F(SPREAD, wire_us), F(SPREAD, bus_gbs))
#undef F
#define F(kind, name) FIELD(nccl_view_file, kind, name)
SHAPE(file_shape, nccl_view_file, false, F(TEXT, name), F(TEXT, problem), F(COUNT, lines), F(COUNT, bad),
      F(COUNT, first_bad_line), F(COUNT, duplicates), F(COUNT, conflicts), F(TEXT, reasons))
#undef F
#define F(kind, name) FIELD(nccl_view_gone, kind, name)
SHAPE(gone_shape, nccl_view_gone, false, F(TEXT, host), F(COUNT, pid), F(COUNT, tail), F(COUNT, between))
#undef F
#define F(kind, name) FIELD(nccl_view_compared, kind, name)
SHAPE(compared_shape, nccl_view_compared, false, F(TEXT, type), F(TEXT, coll), F(TEXT, verdict), F(COUNT, size),
      F(NUMBER, before_us), F(NUMBER, after_us), F(NUMBER, wire_ratio), F(NUMBER, skew_ratio), F(NUMBER, bus_ratio),
      F(NUMBER, z))
#undef F
#define F(kind, name) FIELD(nccl_view_pair, kind, name)
SHAPE(pair_shape, nccl_view_pair, false, F(TEXT, label), F(TEXT, operation), F(TEXT, host), F(COUNT, rank),
      F(COUNT, size), F(COUNT, records), F(NUMBER, peer), F(SPREAD, time_us), F(SPREAD, bus_gbs))
#undef F
#define F(kind, name) FIELD(nccl_view_metric, kind, name)
SHAPE(metric_shape, nccl_view_metric, false, F(TEXT, name), F(TEXT, labels), F(NUMBER, value))
#undef F
#define F(kind, name) FIELD(nccl_view_column, kind, name)
SHAPE(column_shape, nccl_view_column, true, F(NUMBER, wire_us), F(NUMBER, skew_us), F(COUNT, calls),
      F(NUMBER, received), F(NUMBER, received_high), F(NUMBER, sent), F(NUMBER, sent_high), F(NUMBER, trouble),
      F(NUMBER, waiting))
#undef F
#define F(kind, name) FIELD(nccl_view_nic, kind, name)
SHAPE(nic_shape, nccl_view_nic, false, F(TEXT, host), F(TEXT, trouble), F(TEXT, trouble_unit), F(TEXT, waiting),
      F(TEXT, waiting_unit), F(NUMBER, seconds), F(NUMBER, received), F(NUMBER, sent), F(NUMBER, peak_received),
      F(NUMBER, peak_sent), F(NUMBER, trouble_amount), F(NUMBER, waiting_amount))
#undef F
#define F(kind, name) FIELD(nccl_view_overlap, kind, name)
SHAPE(overlap_shape, nccl_view_overlap, false, F(TEXT, host), F(TEXT, label), F(TEXT, coll), F(TEXT, others),
      F(COUNT, size), F(COUNT, calls), F(NUMBER, received), F(NUMBER, sent), F(NUMBER, own_received),
      F(NUMBER, own_sent), F(FLAG, own_received_at_least), F(FLAG, own_sent_at_least))
#undef F
#define F(kind, name) FIELD(nccl_view_unit, kind, name)
SHAPE(unit_shape, nccl_view_unit, false, F(TEXT, host), F(NUMBER, rank), F(SEVERITY, severity))
#undef F
#define F(kind, name) FIELD(nccl_view_cell, kind, name)
SHAPE(cell_shape, nccl_view_cell, true, F(COUNT, row), F(COUNT, column), F(COUNT, bytes), F(COUNT, steps),
      F(NUMBER, delay_us), F(NUMBER, gpu_us), F(NUMBER, credit_us), F(NUMBER, wire_us), F(NUMBER, flush_us),
      F(SEVERITY, severity), F(FLAG, at_least))
#undef F
#define F(kind, name) FIELD(nccl_view_matrix, kind, name)
SHAPE(matrix_shape, nccl_view_matrix, false, F(TEXT, label), F(TEXT, claim), F(TEXT, rule), F(SEVERITY, severity),
      F(COUNT, ranks), F(COUNT, bytes), F(COUNT, steps), F(COUNT, cells_left), F(FLAG, by_host), F(FLAG, at_least),
      ROWS(nccl_view_matrix, units, unit_shape), ROWS(nccl_view_matrix, cells, cell_shape))
#undef F
#define F(kind, name) FIELD(nccl_view_waiting, kind, name)
SHAPE(waiting_shape, nccl_view_waiting, false, F(TEXT, name), F(TEXT, host), F(COUNT, pid), F(COUNT, calls),
      F(COUNT, sent), F(COUNT, received), F(COUNT, sent_bytes), F(COUNT, received_bytes), F(NUMBER, gpu_us),
      F(NUMBER, credit_us), F(NUMBER, wire_us), F(NUMBER, data_us), F(NUMBER, flush_us), F(NUMBER, consume_us),
      F(FLAG, sent_at_least), F(FLAG, received_at_least))
#undef F
#define F(kind, name) FIELD(nccl_view_wait, kind, name)
SHAPE(wait_shape, nccl_view_wait, false, F(TEXT, label), F(TEXT, coll), F(TEXT, mostly), F(TEXT, longest),
      F(COUNT, size), F(COUNT, calls), F(COUNT, ranks), F(NUMBER, gpu_us), F(NUMBER, credit_us), F(NUMBER, wire_us),
      F(NUMBER, data_us), F(NUMBER, flush_us), F(NUMBER, consume_us), F(NUMBER, middle_us), F(NUMBER, longest_us),
      ROWS(nccl_view_wait, items, waiting_shape))
#undef F
#define F(kind, name) FIELD(nccl_view_adapter, kind, name)
SHAPE(adapter_shape, nccl_view_adapter, false, F(TEXT, name), F(TEXT, host), F(TEXT, way), F(TEXT, by),
      F(TEXT, adapter), F(TEXT, remark), F(COUNT, pid), F(COUNT, requests), F(SEVERITY, severity), F(NUMBER, member),
      F(NUMBER, bytes), F(NUMBER, share))
#undef F
#define F(kind, name) FIELD(nccl_view, kind, name)
#define L(name, of)   ROWS(nccl_view, name, of)
SHAPE(view_shape, nccl_view, false, F(COUNT, recorded_files), F(COUNT, files), F(COUNT, files_damaged), F(COUNT, lines),
      F(COUNT, bytes), F(COUNT, unpacked_bytes), F(COUNT, unusable), F(COUNT, records), F(COUNT, hosts),
      F(COUNT, processes), F(COUNT, communicators), F(COUNT, ranks), F(COUNT, calls), F(COUNT, first_dump_us),
      F(COUNT, last_dump_us), F(COUNT, time_us), F(TEXT, first_host), F(TEXT, last_host), F(TEXT, versions),
      F(SEVERITY, severity), F(TEXT, verdict), L(sentences, line_shape), L(findings, finding_shape),
      F(COUNT, findings_left), L(unknown, line_shape), L(rows, row_shape), F(TEXT, main_label), F(TEXT, main_coll),
      F(NUMBER, main_peak_gbs), L(sizes, size_shape), F(FLAG, completeness_known), F(COUNT, ranks_seen),
      F(COUNT, ranks_expected), F(COUNT, records_expected), F(COUNT, records_seen), F(COUNT, calls_judgeable),
      F(COUNT, calls_complete), L(reasons, reason_shape), F(NUMBER, late_floor_us), F(FLAG, late_all),
      F(COUNT, late_hosts), F(COUNT, late_hosts_left), F(COUNT, late_rows), L(late, process_shape), F(TEXT, run_label),
      F(COUNT, run_ranks), F(COUNT, run_size), F(COUNT, run_calls), F(COUNT, run_change_sn), F(COUNT, run_others),
      F(FLAG, run_changed), L(run, bin_shape), L(kinds, kind_shape), F(COUNT, kinds_left), L(series, series_shape),
      F(COUNT, series_left), L(paths, path_shape), L(slowest, process_shape), F(COUNT, slowest_left),
      L(damaged, file_shape), F(COUNT, damaged_left), L(gone, gone_shape), F(COUNT, gone_left), F(FLAG, compared_known),
      F(COUNT, slower), F(COUNT, faster), F(COUNT, alike), L(compared, compared_shape), L(pairs, pair_shape),
      F(COUNT, pairs_left), L(metrics, metric_shape), F(COUNT, metrics_left), F(FLAG, counters_known),
      F(NUMBER, columns_from_s), F(NUMBER, columns_to_s), L(columns, column_shape), L(nics, nic_shape),
      L(overlaps, overlap_shape), F(COUNT, overlaps_left), L(matrices, matrix_shape), F(COUNT, matrices_left),
      L(waits, wait_shape), F(COUNT, waits_left), F(COUNT, untied), L(transfers, waiting_shape),
      F(COUNT, transfers_left), L(adapters, adapter_shape), F(COUNT, adapters_left), F(NUMBER, between_bytes),
      F(NUMBER, across_bytes), F(FLAG, places_by_adapter))
#undef F
#undef L

#define F(name) offsetof(nccl_spread, name)
const size_t nccl_view_spread_numbers[NCCL_VIEW_SPREAD_NUMBERS] = {F(min), F(p5),  F(p25), F(p50),  F(p75),
                                                                   F(p95), F(p99), F(max), F(mean), F(sd)};
#undef F

const nccl_view_shape *nccl_view_fields(void)
{
    return &view_shape;
}

// ---- memory ----

void *nccl_view_take(nccl_view *v, size_t count, size_t size)
{
    if (count > SIZE_MAX / (size + 1)) memory_exhausted();
    size_t bytes = (count + 1) * size;
    return memset(nccl_arena_take(&v->memory->arena, bytes), 0, bytes);
}

const char *nccl_view_text(nccl_view *v, const char *text)
{
    return text && *text ? nccl_arena_text(&v->memory->arena, text, strlen(text)) : "";
}

const char *nccl_view_format(nccl_view *v, const char *format, ...)
{
    va_list arguments;
    char *text = NULL;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0) memory_exhausted();
    va_end(arguments);
    const char *copy = nccl_view_text(v, text);
    free(text);
    return copy;
}

void nccl_view_blank_spread(nccl_spread *s)
{
    s->count = 0;
    for (size_t i = 0; i < NCCL_VIEW_SPREAD_NUMBERS; i++)
        *(double *)(void *)((char *)s + nccl_view_spread_numbers[i]) = NAN;
}

// Nothing known of a row.
void nccl_view_blank(const nccl_view_shape *s, void *row)
{
    for (size_t i = 0; i < s->count; i++) {
        void *at = (char *)row + s->fields[i].offset;
        switch (s->fields[i].kind) {
        case NCCL_VIEW_TEXT: *(const char **)at = ""; break;
        case NCCL_VIEW_COUNT:
        case NCCL_VIEW_SEVERITY: *(uint64_t *)at = 0; break;
        case NCCL_VIEW_NUMBER: *(double *)at = NAN; break;
        case NCCL_VIEW_FLAG: *(bool *)at = false; break;
        case NCCL_VIEW_SPREAD: nccl_view_blank_spread(at); break;
        case NCCL_VIEW_LIST: *(nccl_view_any_list *)at = (nccl_view_any_list){NULL, 0}; break;
        }
    }
}

void nccl_view_begin(nccl_view *v)
{
    *v = (nccl_view){0};
    nccl_view_blank(&view_shape, v);
    v->memory = memory_calloc(1, sizeof *v->memory);
}

void nccl_view_free(nccl_view *v)
{
    if (v->memory) nccl_arena_free(&v->memory->arena);
    free(v->memory);
    *v = (nccl_view){0};
}

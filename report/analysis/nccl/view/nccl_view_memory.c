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
#name, kind, offsetof(type, name), NULL                                                                        \
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
SHAPE(line_shape, nccl_view_line, false, F(NCCL_VIEW_SEVERITY, severity), F(NCCL_VIEW_TEXT, text))
#undef F
#define F(kind, name) FIELD(nccl_view_evidence, kind, name)
SHAPE(evidence_shape, nccl_view_evidence, false, F(NCCL_VIEW_TEXT, name), F(NCCL_VIEW_TEXT, unit),
      F(NCCL_VIEW_NUMBER, value))
#undef F
#define F(kind, name) FIELD(nccl_view_finding, kind, name)
SHAPE(finding_shape, nccl_view_finding, false, F(NCCL_VIEW_SEVERITY, severity), F(NCCL_VIEW_TEXT, rule),
      F(NCCL_VIEW_TEXT, device), F(NCCL_VIEW_TEXT, claim), F(NCCL_VIEW_TEXT, unit), F(NCCL_VIEW_TEXT, origin),
      F(NCCL_VIEW_TEXT, advice), F(NCCL_VIEW_TEXT, explained_by), F(NCCL_VIEW_NUMBER, value),
      F(NCCL_VIEW_NUMBER, limit), ROWS(nccl_view_finding, evidence, evidence_shape))
#undef F
#define F(kind, name) FIELD(nccl_view_row, kind, name)
SHAPE(row_shape, nccl_view_row, false, F(NCCL_VIEW_TEXT, label), F(NCCL_VIEW_TEXT, coll),
      F(NCCL_VIEW_COUNT, communicators), F(NCCL_VIEW_COUNT, ranks), F(NCCL_VIEW_COUNT, size_low),
      F(NCCL_VIEW_COUNT, size_high), F(NCCL_VIEW_COUNT, sizes), F(NCCL_VIEW_COUNT, calls),
      F(NCCL_VIEW_COUNT, incomplete), F(NCCL_VIEW_NUMBER, bytes), F(NCCL_VIEW_NUMBER, time_us),
      F(NCCL_VIEW_SPREAD, wire_us), F(NCCL_VIEW_SPREAD, skew_us), F(NCCL_VIEW_SPREAD, bus_gbs),
      F(NCCL_VIEW_SPREAD, mean_bus_gbs), F(NCCL_VIEW_NUMBER, peak_gbs), F(NCCL_VIEW_SEVERITY, severity))
#undef F
#define F(kind, name) FIELD(nccl_view_size, kind, name)
SHAPE(size_shape, nccl_view_size, false, F(NCCL_VIEW_COUNT, size), F(NCCL_VIEW_COUNT, calls),
      F(NCCL_VIEW_SPREAD, bus_gbs), F(NCCL_VIEW_NUMBER, mean_gbs))
#undef F
#define F(kind, name) FIELD(nccl_view_reason, kind, name)
SHAPE(reason_shape, nccl_view_reason, false, F(NCCL_VIEW_TEXT, what), F(NCCL_VIEW_COUNT, count))
#undef F
#define F(kind, name) FIELD(nccl_view_process, kind, name)
SHAPE(process_shape, nccl_view_process, false, F(NCCL_VIEW_TEXT, host), F(NCCL_VIEW_COUNT, pid),
      F(NCCL_VIEW_COUNT, local), F(NCCL_VIEW_COUNT, rank), F(NCCL_VIEW_COUNT, judged), F(NCCL_VIEW_COUNT, last_alone),
      F(NCCL_VIEW_NUMBER, behind_us), F(NCCL_VIEW_COUNT, records), F(NCCL_VIEW_COUNT, last_arrivals),
      F(NCCL_VIEW_COUNT, cost_us), F(NCCL_VIEW_COUNT, caused_us), F(NCCL_VIEW_COUNT, suffered_us),
      F(NCCL_VIEW_COUNT, missing), F(NCCL_VIEW_COUNT, missing_tail))
#undef F
#define F(kind, name) FIELD(nccl_view_bin, kind, name)
SHAPE(bin_shape, nccl_view_bin, true, F(NCCL_VIEW_COUNT, first_sn), F(NCCL_VIEW_COUNT, last_sn),
      F(NCCL_VIEW_COUNT, instances), F(NCCL_VIEW_COUNT, complete), F(NCCL_VIEW_NUMBER, wire_p5),
      F(NCCL_VIEW_NUMBER, wire_p50), F(NCCL_VIEW_NUMBER, wire_p95), F(NCCL_VIEW_NUMBER, skew_p5),
      F(NCCL_VIEW_NUMBER, skew_p50), F(NCCL_VIEW_NUMBER, skew_p95))
#undef F
#define F(kind, name) FIELD(nccl_view_point, kind, name)
SHAPE(point_shape, nccl_view_point, true, F(NCCL_VIEW_NUMBER, x), F(NCCL_VIEW_NUMBER, y), F(NCCL_VIEW_COUNT, calls))
#undef F
#define F(kind, name) FIELD(nccl_view_count, kind, name)
SHAPE(count_shape, nccl_view_count, true, F(NCCL_VIEW_NUMBER, count))
#undef F
#define F(kind, name) FIELD(nccl_view_kind, kind, name)
SHAPE(kind_shape, nccl_view_kind, false, F(NCCL_VIEW_TEXT, type), F(NCCL_VIEW_TEXT, meaning), F(NCCL_VIEW_TEXT, coll),
      F(NCCL_VIEW_COUNT, size), F(NCCL_VIEW_COUNT, calls), F(NCCL_VIEW_COUNT, incomplete), F(NCCL_VIEW_COUNT, time_us),
      F(NCCL_VIEW_FLAG, has_bus), F(NCCL_VIEW_SPREAD, wire_us), F(NCCL_VIEW_SPREAD, skew_us),
      F(NCCL_VIEW_SPREAD, time_spread_us), F(NCCL_VIEW_SPREAD, bus_gbs), F(NCCL_VIEW_SPREAD, mean_bus_gbs),
      F(NCCL_VIEW_NUMBER, peak_gbs), F(NCCL_VIEW_NUMBER, x_max), F(NCCL_VIEW_NUMBER, y_max),
      ROWS(nccl_view_kind, points, point_shape), F(NCCL_VIEW_NUMBER, low), F(NCCL_VIEW_NUMBER, high),
      ROWS(nccl_view_kind, bins, count_shape))
#undef F
#define F(kind, name) FIELD(nccl_view_series, kind, name)
SHAPE(series_shape, nccl_view_series, false, F(NCCL_VIEW_TEXT, label), F(NCCL_VIEW_TEXT, type), F(NCCL_VIEW_TEXT, coll),
      F(NCCL_VIEW_COUNT, ranks), F(NCCL_VIEW_COUNT, size), F(NCCL_VIEW_COUNT, calls), F(NCCL_VIEW_COUNT, incomplete),
      F(NCCL_VIEW_COUNT, time_us), F(NCCL_VIEW_SPREAD, wire_us), F(NCCL_VIEW_SPREAD, skew_us),
      F(NCCL_VIEW_SPREAD, bus_gbs))
#undef F
#define F(kind, name) FIELD(nccl_view_path, kind, name)
SHAPE(path_shape, nccl_view_path, false, F(NCCL_VIEW_TEXT, type), F(NCCL_VIEW_TEXT, coll), F(NCCL_VIEW_TEXT, algo),
      F(NCCL_VIEW_TEXT, proto), F(NCCL_VIEW_COUNT, size), F(NCCL_VIEW_COUNT, calls), F(NCCL_VIEW_SPREAD, wire_us),
      F(NCCL_VIEW_SPREAD, bus_gbs))
#undef F
#define F(kind, name) FIELD(nccl_view_file, kind, name)
SHAPE(file_shape, nccl_view_file, false, F(NCCL_VIEW_TEXT, name), F(NCCL_VIEW_TEXT, problem), F(NCCL_VIEW_COUNT, lines),
      F(NCCL_VIEW_COUNT, bad), F(NCCL_VIEW_COUNT, first_bad_line), F(NCCL_VIEW_COUNT, duplicates),
      F(NCCL_VIEW_COUNT, conflicts), F(NCCL_VIEW_TEXT, reasons))
#undef F
#define F(kind, name) FIELD(nccl_view_gone, kind, name)
SHAPE(gone_shape, nccl_view_gone, false, F(NCCL_VIEW_TEXT, host), F(NCCL_VIEW_COUNT, pid), F(NCCL_VIEW_COUNT, tail),
      F(NCCL_VIEW_COUNT, between))
#undef F
#define F(kind, name) FIELD(nccl_view_compared, kind, name)
SHAPE(compared_shape, nccl_view_compared, false, F(NCCL_VIEW_TEXT, type), F(NCCL_VIEW_TEXT, coll),
      F(NCCL_VIEW_TEXT, verdict), F(NCCL_VIEW_COUNT, size), F(NCCL_VIEW_NUMBER, before_us),
      F(NCCL_VIEW_NUMBER, after_us), F(NCCL_VIEW_NUMBER, wire_ratio), F(NCCL_VIEW_NUMBER, skew_ratio),
      F(NCCL_VIEW_NUMBER, bus_ratio), F(NCCL_VIEW_NUMBER, z))
#undef F
#define F(kind, name) FIELD(nccl_view_pair, kind, name)
SHAPE(pair_shape, nccl_view_pair, false, F(NCCL_VIEW_TEXT, label), F(NCCL_VIEW_TEXT, operation),
      F(NCCL_VIEW_TEXT, host), F(NCCL_VIEW_COUNT, rank), F(NCCL_VIEW_COUNT, size), F(NCCL_VIEW_COUNT, records),
      F(NCCL_VIEW_NUMBER, peer), F(NCCL_VIEW_SPREAD, time_us), F(NCCL_VIEW_SPREAD, bus_gbs))
#undef F
#define F(kind, name) FIELD(nccl_view_metric, kind, name)
SHAPE(metric_shape, nccl_view_metric, false, F(NCCL_VIEW_TEXT, name), F(NCCL_VIEW_TEXT, labels),
      F(NCCL_VIEW_NUMBER, value))
#undef F
#define F(kind, name) FIELD(nccl_view_column, kind, name)
SHAPE(column_shape, nccl_view_column, true, F(NCCL_VIEW_NUMBER, wire_us), F(NCCL_VIEW_NUMBER, skew_us),
      F(NCCL_VIEW_COUNT, calls), F(NCCL_VIEW_NUMBER, received), F(NCCL_VIEW_NUMBER, received_high),
      F(NCCL_VIEW_NUMBER, sent), F(NCCL_VIEW_NUMBER, sent_high), F(NCCL_VIEW_NUMBER, trouble),
      F(NCCL_VIEW_NUMBER, waiting))
#undef F
#define F(kind, name) FIELD(nccl_view_nic, kind, name)
SHAPE(nic_shape, nccl_view_nic, false, F(NCCL_VIEW_TEXT, host), F(NCCL_VIEW_TEXT, trouble),
      F(NCCL_VIEW_TEXT, trouble_unit), F(NCCL_VIEW_TEXT, waiting), F(NCCL_VIEW_TEXT, waiting_unit),
      F(NCCL_VIEW_NUMBER, seconds), F(NCCL_VIEW_NUMBER, received), F(NCCL_VIEW_NUMBER, sent),
      F(NCCL_VIEW_NUMBER, peak_received), F(NCCL_VIEW_NUMBER, peak_sent), F(NCCL_VIEW_NUMBER, trouble_amount),
      F(NCCL_VIEW_NUMBER, waiting_amount))
#undef F
#define F(kind, name) FIELD(nccl_view, kind, name)
#define L(name, of)   ROWS(nccl_view, name, of)
SHAPE(view_shape, nccl_view, false, F(NCCL_VIEW_COUNT, files), F(NCCL_VIEW_COUNT, files_damaged),
      F(NCCL_VIEW_COUNT, lines), F(NCCL_VIEW_COUNT, bytes), F(NCCL_VIEW_COUNT, unpacked_bytes),
      F(NCCL_VIEW_COUNT, unusable), F(NCCL_VIEW_COUNT, records), F(NCCL_VIEW_COUNT, hosts),
      F(NCCL_VIEW_COUNT, processes), F(NCCL_VIEW_COUNT, communicators), F(NCCL_VIEW_COUNT, ranks),
      F(NCCL_VIEW_COUNT, calls), F(NCCL_VIEW_COUNT, first_dump_us), F(NCCL_VIEW_COUNT, last_dump_us),
      F(NCCL_VIEW_COUNT, time_us), F(NCCL_VIEW_TEXT, first_host), F(NCCL_VIEW_TEXT, last_host),
      F(NCCL_VIEW_TEXT, versions), F(NCCL_VIEW_SEVERITY, severity), F(NCCL_VIEW_TEXT, verdict),
      L(sentences, line_shape), L(findings, finding_shape), F(NCCL_VIEW_COUNT, findings_left), L(unknown, line_shape),
      L(rows, row_shape), F(NCCL_VIEW_TEXT, main_label), F(NCCL_VIEW_TEXT, main_coll),
      F(NCCL_VIEW_NUMBER, main_peak_gbs), L(sizes, size_shape), F(NCCL_VIEW_FLAG, completeness_known),
      F(NCCL_VIEW_COUNT, ranks_seen), F(NCCL_VIEW_COUNT, ranks_expected), F(NCCL_VIEW_COUNT, records_expected),
      F(NCCL_VIEW_COUNT, records_seen), F(NCCL_VIEW_COUNT, calls_judgeable), F(NCCL_VIEW_COUNT, calls_complete),
      L(reasons, reason_shape), F(NCCL_VIEW_NUMBER, late_floor_us), F(NCCL_VIEW_FLAG, late_all),
      F(NCCL_VIEW_COUNT, late_hosts), F(NCCL_VIEW_COUNT, late_hosts_left), F(NCCL_VIEW_COUNT, late_rows),
      L(late, process_shape), F(NCCL_VIEW_TEXT, run_label), F(NCCL_VIEW_COUNT, run_ranks), F(NCCL_VIEW_COUNT, run_size),
      F(NCCL_VIEW_COUNT, run_calls), F(NCCL_VIEW_COUNT, run_change_sn), F(NCCL_VIEW_COUNT, run_others),
      F(NCCL_VIEW_FLAG, run_changed), L(run, bin_shape), L(kinds, kind_shape), F(NCCL_VIEW_COUNT, kinds_left),
      L(series, series_shape), F(NCCL_VIEW_COUNT, series_left), L(paths, path_shape), L(slowest, process_shape),
      F(NCCL_VIEW_COUNT, slowest_left), L(damaged, file_shape), F(NCCL_VIEW_COUNT, damaged_left), L(gone, gone_shape),
      F(NCCL_VIEW_COUNT, gone_left), F(NCCL_VIEW_FLAG, compared_known), F(NCCL_VIEW_COUNT, slower),
      F(NCCL_VIEW_COUNT, faster), F(NCCL_VIEW_COUNT, alike), L(compared, compared_shape), L(pairs, pair_shape),
      F(NCCL_VIEW_COUNT, pairs_left), L(metrics, metric_shape), F(NCCL_VIEW_COUNT, metrics_left),
      F(NCCL_VIEW_FLAG, counters_known), F(NCCL_VIEW_NUMBER, columns_from_s), F(NCCL_VIEW_NUMBER, columns_to_s),
      L(columns, column_shape), L(nics, nic_shape))
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

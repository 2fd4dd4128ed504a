// Text for files: buffered, with names from outside escaped for CSV and JSON. Thread rule: one thread at a time.
#ifndef NETPROF_NCCL_TEXT_H
#define NETPROF_NCCL_TEXT_H

#include "analysis/nccl/logs/nccl_model.h"

// Start with nccl_out_begin(), end with nccl_out_end().
typedef struct nccl_out {
    netprof_write_fn write;
    void *user;
    bool failed, inside; // inside: the CSV line, or JSON object, has begun
    size_t size;
    char text[16 << 10];
} nccl_out;

void nccl_out_begin(nccl_out *o, netprof_write_fn write, void *user);
netprof_err nccl_out_end(nccl_out *o); // NETPROF_ERR_IO when something could not be written
void nccl_out_bytes(nccl_out *o, const char *text, size_t length);
void nccl_out_text(nccl_out *o, const char *text);
void nccl_out_u64(nccl_out *o, uint64_t value);
// The shortest text that reads back as the same number. Nothing when it is NAN.
void nccl_out_exact(nccl_out *o, double value);

// ---- cells of CSV (RFC 4180), lines end with "\n" as the exporter's do ----
void nccl_csv_name(nccl_out *o, const char *text);
void nccl_csv_u64(nccl_out *o, uint64_t value);
void nccl_csv_i64(nccl_out *o, int64_t value);
void nccl_csv_number(nccl_out *o, double value);
void nccl_csv_spread(nccl_out *o, const nccl_spread *s,
                     bool short_form); // p5 p25 p50 p75 p95 p99 mean; short: p5 p50 p95 p99
void nccl_csv_line_end(nccl_out *o);

// ---- members of a JSON object ----
void nccl_json_begin(nccl_out *o); // {
void nccl_json_end(nccl_out *o);   // } and the end of the line
void nccl_json_member_text(nccl_out *o, const char *key, const char *text);
void nccl_json_member_u64(nccl_out *o, const char *key, uint64_t value);
void nccl_json_member_i64(nccl_out *o, const char *key, int64_t value);
void nccl_json_member_number(nccl_out *o, const char *key, double value); // null when it is NAN
void nccl_json_key(nccl_out *o, const char *key);
void nccl_json_quoted(nccl_out *o, const char *text);

#endif

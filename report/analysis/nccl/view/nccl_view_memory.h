// The fields of a view, which writer and reader of its JSON share, and its memory.
#ifndef NETPROF_NCCL_VIEW_MEMORY_H
#define NETPROF_NCCL_VIEW_MEMORY_H

#include "analysis/nccl/logs/nccl_memory.h"
#include "nccl_view_model.h"

// SEVERITY: a COUNT below SEVERITIES; pages look up its word and its colour.
typedef enum nccl_view_field_kind {
    NCCL_VIEW_TEXT = 0,
    NCCL_VIEW_COUNT,
    NCCL_VIEW_SEVERITY,
    NCCL_VIEW_NUMBER,
    NCCL_VIEW_FLAG,
    NCCL_VIEW_SPREAD,
    NCCL_VIEW_LIST
} nccl_view_field_kind;

typedef struct nccl_view_shape nccl_view_shape;

typedef struct nccl_view_field {
    const char *key;
    nccl_view_field_kind kind;
    size_t offset;
    const nccl_view_shape *rows; // of a LIST
} nccl_view_field;

struct nccl_view_shape {
    size_t size;
    bool tuple; // an array of numbers in this order, without keys
    const nccl_view_field *fields;
    size_t count;
};

// The layout of every NCCL_LIST.
typedef struct nccl_view_any_list {
    void *items;
    size_t count;
} nccl_view_any_list;

enum { NCCL_VIEW_SPREAD_NUMBERS = 10 };
extern const size_t nccl_view_spread_numbers[NCCL_VIEW_SPREAD_NUMBERS]; // their offsets in an nccl_spread
const nccl_view_shape *nccl_view_fields(void);                          // of an nccl_view
// Makes a row in which nothing is known.
void nccl_view_blank(const nccl_view_shape *s, void *row);
void nccl_view_blank_spread(nccl_spread *s);

typedef struct nccl_view_memory {
    nccl_arena arena;
} nccl_view_memory;

// An empty view with its memory: no text is NULL, no number is known.
void nccl_view_begin(nccl_view *v);
void *nccl_view_take(nccl_view *v, size_t count, size_t size); // zeroed
const char *nccl_view_text(nccl_view *v, const char *text);    // a copy; "" for NULL
const char *nccl_view_format(nccl_view *v, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif

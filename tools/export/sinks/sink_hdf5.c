// HDF5: a group for each table, in it a dataset for each column: chunked, deflated, with the attributes "unit" and
// "column". A missing integer is 2^64-1, or -2^63, and its row is 0 in the dataset COLUMN.valid beside it; a missing
// float64 is NaN; a missing text is a null string. Text that repeats is a number into the dataset COLUMN.names
// (2^32-1: missing).
#include "export/export.h"
#include "analysis/base/memory.h"
#include "analysis/base/index_map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef EXPORT_HAS_HDF5
#include <hdf5.h>

enum { BUFFERED_BYTES = 16 << 20, MAX_ROWS = 16384, MIN_ROWS = 64 };

typedef struct hdf5_column {
    export_type type;
    hid_t data, valid; // valid: -1 where the type has a missing value of its own
    void *buffer;
    unsigned char *known;
    char *link;
    index_map *index; // of EXPORT_NAME: its texts ...
    char **names;     // ... in the order of first use
} hdf5_column;

typedef struct hdf5_group {
    const export_table *table;
    hid_t group;
    hdf5_column *columns;
    hsize_t rows; // written
    size_t buffered, room;
} hdf5_group;

typedef struct hdf5_state {
    export_sink *sink;
    bool failed;      // the library cannot close what it could not write: it is left alone then
    hid_t file, text; // text: the type of strings
    hdf5_group groups[EXPORT_TABLES];
} hdf5_state;

static bool sink_hdf5_good(hdf5_state *h, long long result)
{
    if (result < 0) h->failed = true;
    if (result < 0) export_fail(h->sink, "the HDF5 library could not write (no space left on the device?)");
    return result >= 0;
}

static void sink_hdf5_add_text(hdf5_state *h, hid_t object, const char *name, const char *text)
{
    hid_t space = H5Screate(H5S_SCALAR), attribute = H5Acreate2(object, name, h->text, space, H5P_DEFAULT, H5P_DEFAULT);
    const char *safe_text = utf8(text);
    if (sink_hdf5_good(h, attribute)) sink_hdf5_good(h, H5Awrite(attribute, h->text, &safe_text));
    if (attribute >= 0) H5Aclose(attribute);
    H5Sclose(space);
}

static void *sink_hdf5_open(export_sink *sink, const char *path)
{
    hdf5_state *h = memory_calloc(1, sizeof *h);
    h->sink = sink;
    H5dont_atexit();
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); // what goes wrong is said by export_fail()
    h->text = H5Tcopy(H5T_C_S1);
    H5Tset_size(h->text, H5T_VARIABLE);
    H5Tset_cset(h->text, H5T_CSET_UTF8);
    h->file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    if (!sink_hdf5_good(h, h->file)) return h;
    sink_hdf5_add_text(h, h->file, "format", "netprof-export");
    sink_hdf5_add_text(h, h->file, "version", "1");
    sink_hdf5_add_text(h, h->file, "netprof", netprof_version());
    return h;
}

// ---- columns ----

static hid_t sink_hdf5_kept_type(const hdf5_state *h, export_type type)
{
    switch (type) {
    case EXPORT_TEXT: return h->text;
    case EXPORT_NAME: return H5T_STD_U32LE;
    case EXPORT_U64: return H5T_STD_U64LE;
    case EXPORT_TIME:
    case EXPORT_I64: return H5T_STD_I64LE;
    case EXPORT_F64: return H5T_IEEE_F64LE;
    }
    return -1;
}

static hid_t sink_hdf5_memory_type(const hdf5_state *h, export_type type)
{
    switch (type) {
    case EXPORT_TEXT: return h->text;
    case EXPORT_NAME: return H5T_NATIVE_UINT32;
    case EXPORT_U64: return H5T_NATIVE_UINT64;
    case EXPORT_TIME:
    case EXPORT_I64: return H5T_NATIVE_INT64;
    case EXPORT_F64: return H5T_NATIVE_DOUBLE;
    }
    return -1;
}

static size_t sink_hdf5_cell_size(export_type type)
{
    return type == EXPORT_NAME ? sizeof(uint32_t) : type == EXPORT_TEXT ? sizeof(char *) : sizeof(uint64_t);
}

static hid_t sink_hdf5_make_dataset(hdf5_state *h, hid_t group, const char *name, hid_t type, size_t chunk)
{
    hsize_t none = 0, any = H5S_UNLIMITED, rows = chunk;
    hid_t space = H5Screate_simple(1, &none, &any), how = H5Pcreate(H5P_DATASET_CREATE),
          access = H5Pcreate(H5P_DATASET_ACCESS);
    H5Pset_chunk(how, 1, &rows);
    if (H5Tis_variable_str(type) <= 0) {
        H5Pset_shuffle(how);
        H5Pset_deflate(how, 4);
    }
    H5Pset_chunk_cache(access, 0, 0, 1); // whole chunks are written: nothing to cache
    hid_t made = H5Dcreate2(group, name, type, space, H5P_DEFAULT, how, access);
    sink_hdf5_good(h, made);
    H5Pclose(access);
    H5Pclose(how);
    H5Sclose(space);
    return made;
}

// The name of a link: HDF5 parts paths at '/', and "." is no name.
static char *sink_hdf5_link_name(const char *name)
{
    char *link = memory_strdup(utf8(name));
    for (char *c = link; *c; c++)
        if (*c == '/') *c = '|';
    if (strcmp(link, ".") != 0 && *link) return link;
    free(link);
    return memory_strdup(*name ? "|." : "|");
}

static void sink_hdf5_make_column(hdf5_state *h, hdf5_group *g, size_t i)
{
    hdf5_column *c = &g->columns[i];
    const export_column *from = &g->table->columns[i];
    c->type = from->type;
    c->valid = -1;
    c->link = sink_hdf5_link_name(from->name);
    c->data = sink_hdf5_make_dataset(h, g->group, c->link, sink_hdf5_kept_type(h, c->type), g->room);
    if (c->data < 0) return;
    c->buffer = memory_calloc(g->room, sink_hdf5_cell_size(c->type));
    sink_hdf5_add_text(h, c->data, "column", from->name);
    sink_hdf5_add_text(h, c->data, "unit", from->unit);
    if (c->type != EXPORT_U64 && c->type != EXPORT_I64 && c->type != EXPORT_TIME) return;
    char *valid = memory_format("%s.valid", c->link);
    c->valid = sink_hdf5_make_dataset(h, g->group, valid, H5T_STD_U8LE, g->room);
    c->known = memory_calloc(g->room, 1);
    free(valid);
}

static void sink_hdf5_table(void *state, export_id id, const export_table *table)
{
    hdf5_state *h = state;
    hdf5_group *g = &h->groups[id];
    size_t rows = BUFFERED_BYTES / (8 * table->column_count + 1);
    g->table = table;
    g->room = rows > MAX_ROWS ? MAX_ROWS : rows < MIN_ROWS ? MIN_ROWS : rows;
    g->group = H5Gcreate2(h->file, table->name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (!sink_hdf5_good(h, g->group)) return;
    g->columns = memory_calloc(table->column_count, sizeof *g->columns);
    for (size_t i = 0; i < table->column_count; i++) {
        g->columns[i].data = g->columns[i].valid = -1;
        sink_hdf5_make_column(h, g, i);
    }
}

// ---- rows ----

static void sink_hdf5_write_block(hdf5_state *h, hid_t to, hid_t type, const void *block, hsize_t first, hsize_t count)
{
    hsize_t all = first + count;
    hid_t memory = H5Screate_simple(1, &count, NULL);
    if (sink_hdf5_good(h, H5Dset_extent(to, &all))) {
        hid_t space = H5Dget_space(to);
        H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, NULL, &count, NULL);
        sink_hdf5_good(h, H5Dwrite(to, type, memory, space, H5P_DEFAULT, block));
        H5Sclose(space);
    }
    H5Sclose(memory);
}

static void sink_hdf5_empty_buffers(hdf5_state *h, hdf5_group *g)
{
    for (size_t i = 0; i < g->table->column_count && g->buffered; i++) {
        hdf5_column *c = &g->columns[i];
        if (!h->failed)
            sink_hdf5_write_block(h, c->data, sink_hdf5_memory_type(h, c->type), c->buffer, g->rows, g->buffered);
        if (c->known && !h->failed)
            sink_hdf5_write_block(h, c->valid, H5T_NATIVE_UINT8, c->known, g->rows, g->buffered);
        char **texts = c->buffer;
        for (size_t k = 0; c->type == EXPORT_TEXT && k < g->buffered; k++)
            free(texts[k]);
    }
    g->rows += g->buffered;
    g->buffered = 0;
}

static uint32_t sink_hdf5_number_of(hdf5_column *c, const char *text)
{
    size_t next = arrlenu(c->names), number = index_map_put(&c->index, map_key_of_name(0, text), next);
    if (number == next) arrput(c->names, memory_strdup(text));
    return (uint32_t)number;
}

static void sink_hdf5_put_cell(hdf5_column *c, size_t at, const export_cell *cell)
{
    bool known = cell->known;
    if (c->known) c->known[at] = known;
    switch (c->type) {
    case EXPORT_TEXT: ((char **)c->buffer)[at] = known ? memory_strdup(utf8(cell->as.text)) : NULL; break;
    case EXPORT_NAME: ((uint32_t *)c->buffer)[at] = known ? sink_hdf5_number_of(c, cell->as.text) : UINT32_MAX; break;
    case EXPORT_U64: ((uint64_t *)c->buffer)[at] = known ? cell->as.u64 : UINT64_MAX; break;
    case EXPORT_TIME:
    case EXPORT_I64: ((int64_t *)c->buffer)[at] = known ? cell->as.i64 : INT64_MIN; break;
    case EXPORT_F64: ((double *)c->buffer)[at] = known ? cell->as.f64 : (double)NAN; break;
    }
}

static void sink_hdf5_row(void *state, export_id id, const export_table *table, const export_cell *cells)
{
    hdf5_state *h = state;
    hdf5_group *g = &h->groups[id];
    for (size_t i = 0; i < table->column_count; i++)
        sink_hdf5_put_cell(&g->columns[i], g->buffered, &cells[i]);
    if (++g->buffered == g->room) sink_hdf5_empty_buffers(h, g);
}

// ---- the end ----

static void sink_hdf5_write_names(hdf5_state *h, hdf5_group *g, hdf5_column *c)
{
    enum { CHUNK = 256 };
    char *link = memory_format("%s.names", c->link);
    hid_t names = sink_hdf5_make_dataset(h, g->group, link, h->text, CHUNK);
    size_t count = arrlenu(c->names);
    char **texts = memory_calloc(count, sizeof *texts);
    for (size_t i = 0; i < count; i++)
        texts[i] = memory_strdup(utf8(c->names[i]));
    if (names >= 0 && count) sink_hdf5_write_block(h, names, h->text, texts, 0, count);
    if (names >= 0) H5Dclose(names);
    for (size_t i = 0; i < count; i++)
        free(texts[i]);
    free(texts);
    free(link);
}

static void sink_hdf5_end_column(hdf5_state *h, hdf5_group *g, hdf5_column *c, bool finish)
{
    char **texts = c->buffer;
    if (finish && !h->failed && c->type == EXPORT_NAME) sink_hdf5_write_names(h, g, c);
    for (size_t k = 0; texts && c->type == EXPORT_TEXT && k < g->buffered; k++)
        free(texts[k]);
    if (c->data >= 0 && !h->failed) sink_hdf5_good(h, H5Dclose(c->data));
    if (c->valid >= 0 && !h->failed) sink_hdf5_good(h, H5Dclose(c->valid));
    for (size_t i = 0; i < arrlenu(c->names); i++)
        free(c->names[i]);
    hmfree(c->index);
    arrfree(c->names);
    free(c->buffer);
    free(c->known);
    free(c->link);
}

static void sink_hdf5_close(void *state, bool finish)
{
    hdf5_state *h = state;
    for (int i = 0; i < EXPORT_TABLES; i++) {
        hdf5_group *g = &h->groups[i];
        if (!g->columns) continue;
        if (finish && !h->failed) sink_hdf5_empty_buffers(h, g);
        for (size_t k = 0; k < g->table->column_count; k++)
            sink_hdf5_end_column(h, g, &g->columns[k], finish);
        if (!h->failed) H5Gclose(g->group);
        free(g->columns);
    }
    if (!h->failed) sink_hdf5_good(h, H5Fflush(h->file, H5F_SCOPE_LOCAL));
    if (!h->failed) sink_hdf5_good(h, H5Fclose(h->file));
    if (!h->failed) H5Tclose(h->text);
    free(h);
}

const export_driver export_hdf5 = {
    .name = "hdf5", .open = sink_hdf5_open, .table = sink_hdf5_table, .row = sink_hdf5_row, .close = sink_hdf5_close};
#else
const export_driver export_hdf5 = {.name = "hdf5", .missing = "HDF5 (libhdf5-dev)"};
#endif

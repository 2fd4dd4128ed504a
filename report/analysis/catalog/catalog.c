#define _POSIX_C_SOURCE 200809L // strcasecmp
#include "catalog.h"

#include "analysis/base/index_map.h"
#include "analysis/base/text.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

// Made from the .csv files by the build.
#include "catalog_cxi.inc"
#include "catalog_cxi_driver.inc"
#include "catalog_ethtool.inc"
#include "catalog_groups.inc"
#include "catalog_ip.inc"
#include "catalog_marks.inc"
#include "catalog_netdev.inc"
#include "catalog_node.inc"
#include "catalog_rdma.inc"
#include "catalog_tcp.inc"
#include "catalog_units.inc"

static const struct {
    const char *source;
    const char *const *lines;
} counter_tables[] = {
    {"cxi", catalog_cxi_lines},   {"cxi", catalog_cxi_driver_lines}, {"netdev", catalog_netdev_lines},
    {"rdma", catalog_rdma_lines}, {"ip", catalog_ip_lines},          {"ethtool", catalog_ethtool_lines},
    {"tcp", catalog_tcp_lines},   {NULL, catalog_node_lines}, // NULL: the table has a column of sources
};
enum { TABLES = sizeof counter_tables / sizeof *counter_tables };

static const struct {
    const char *name;
    uint32_t bit;
} mark_names[] = {
    {"clock_only", CATALOG_CLOCK_ONLY},
    {"time_of_day", CATALOG_TIME_OF_DAY},
    {"unusable", CATALOG_UNUSABLE},
    {"unreliable", CATALOG_UNRELIABLE},
    {"overcounts", CATALOG_OVERCOUNTS},
    {"undercounts", CATALOG_UNDERCOUNTS},
    {"important", CATALOG_IMPORTANT},
    {"fast", CATALOG_FAST},
    {"tx_bytes", CATALOG_TX_BYTES},
    {"rx_bytes", CATALOG_RX_BYTES},
    {"tx_packets", CATALOG_TX_PACKETS},
    {"rx_packets", CATALOG_RX_PACKETS},
    {"harmless", CATALOG_HARMLESS},
    {"same_as", CATALOG_SAME_AS},
    {"tx_packets_part", CATALOG_TX_PACKETS_PART},
    {"rx_packets_part", CATALOG_RX_PACKETS_PART},
    {"time_driven", CATALOG_TIME_DRIVEN},
    {"fault", CATALOG_FAULT},
    {"waiting", CATALOG_WAITING},
    {"rx_errors", CATALOG_RX_ERRORS},
    {"tx_errors", CATALOG_TX_ERRORS},
    {"rx_drops", CATALOG_RX_DROPS},
    {"tx_drops", CATALOG_TX_DROPS},
};
enum { MARKS = sizeof mark_names / sizeof *mark_names };

enum { MAX_FIELDS = 12, MAX_GROUPS = 64 };

// Columns of the counter tables, found by their names in the first line.
enum column { NAME, GROUPS, UNIT, KIND, DESCRIPTION, WIDTH, NOTE, ASIC, WIDTH_C2, SOURCE, COLUMNS };
static const char *const column_names[COLUMNS] = {
    "name",  "groups", "unit", "kind", "description", "width_bits", "note", "asic", "width_bits_c2_if_different",
    "source"};

typedef struct mark_row {
    const char *source, *pattern, *text;
    uint32_t bit;
} mark_row;

static struct {
    char *text; // the lines, cut into fields
    catalog_entry *entries;
    size_t entry_count;
    index_map *by_name; // entries without a pattern, see catalog_key()
    const catalog_entry **patterns;
    catalog_group groups[MAX_GROUPS];
    size_t group_count;
    uint64_t trouble_groups; // bits
    struct {
        const char *name;
        bool trouble, leading;
    } units[128];
    size_t unit_count;
    mark_row *marks;    // the rows with a pattern
    const char **order; // the Cassini-1 names in net_prof's order
    size_t order_count;
} catalog;
static pthread_once_t catalog_once = PTHREAD_ONCE_INIT;
static pthread_once_t order_once = PTHREAD_ONCE_INIT;

// The short names of sources are their own number; of a longer one it is a hash.
static map_key catalog_key(const char *source, const char *name)
{
    uint64_t number = 0;
    size_t length = strlen(source);
    if (length < sizeof number)
        memcpy(&number, source, length);
    else
        number = map_key_of_name(0, source).a;
    return map_key_of_name((size_t)number, name);
}

// ---- unpacking ----

static size_t catalog_count_lines(const char *const *lines, size_t *bytes)
{
    size_t n = 0;
    for (; lines[n]; n++)
        *bytes += strlen(lines[n]) + 1;
    return n;
}

// Cuts a copy of the line at *at (RFC 4180, no line breaks in fields); missing fields are "".
static void catalog_split(const char *line, char **at, const char *fields[MAX_FIELDS])
{
    char *to = *at;
    for (size_t i = 0; i < MAX_FIELDS; i++) {
        bool quoted = *line == '"';
        fields[i] = to;
        line += quoted;
        for (; *line && (quoted || *line != ','); line++) {
            if (quoted && *line == '"' && *++line != '"') {
                quoted = false;
                line--;
                continue;
            }
            *to++ = *line;
        }
        *to++ = 0;
        if (!*line) {
            for (size_t k = i + 1; k < MAX_FIELDS; k++)
                fields[k] = to - 1;
            break;
        }
        line++;
    }
    *at = to;
}

static uint64_t catalog_groups_of(const char *list)
{
    uint64_t bits = 0;
    while (*list) {
        size_t n = strcspn(list, ";");
        for (size_t i = 0; i < catalog.group_count; i++)
            if (strncmp(catalog.groups[i].name, list, n) == 0 && !catalog.groups[i].name[n]) bits |= (uint64_t)1 << i;
        list += n + (list[n] == ';');
    }
    return bits;
}

static uint8_t catalog_kind_of(const char *text)
{
    // "histogram" is written "histogram bucket" in some tables.
    for (int k = NETPROF_KIND_HISTOGRAM; k > NETPROF_KIND_COUNTER; k--) {
        const char *name = netprof_kind_name((netprof_kind)k);
        if (strncmp(text, name, strlen(name)) == 0) return (uint8_t)k;
    }
    return NETPROF_KIND_COUNTER;
}

static void catalog_add_entry(const char *source, const char *const value[COLUMNS])
{
    catalog_entry *e = &catalog.entries[catalog.entry_count++];
    bool pattern = strpbrk(value[NAME], "*?") != NULL;
    *e = (catalog_entry){
        .source = source,
        .name = value[NAME],
        .unit = value[UNIT],
        .description = value[DESCRIPTION],
        .note = value[NOTE],
        .same_as = "",
        .groups = catalog_groups_of(value[GROUPS]),
        .marks = (strcmp(value[ASIC], "C2") == 0 ? CATALOG_CASSINI_2 : 0) | (pattern ? CATALOG_PATTERN : 0),
        .kind = catalog_kind_of(value[KIND]),
        .width = (uint8_t)atoi(value[WIDTH]),
        .width_cassini_2 = (uint8_t)atoi(value[WIDTH_C2]),
    };
    if (pattern)
        arrput(catalog.patterns, e);
    else
        hmput(catalog.by_name, catalog_key(source, e->name), catalog.entry_count - 1);
}

static void catalog_load_counters(const char *source, const char *const *lines, char **at)
{
    const char *fields[MAX_FIELDS], *value[COLUMNS];
    size_t where[COLUMNS];
    catalog_split(*lines, at, fields);
    for (size_t c = 0; c < COLUMNS; c++) {
        where[c] = MAX_FIELDS;
        for (size_t f = 0; f < MAX_FIELDS; f++)
            if (strcmp(fields[f], column_names[c]) == 0) where[c] = f;
    }
    while (*++lines) {
        catalog_split(*lines, at, fields);
        for (size_t c = 0; c < COLUMNS; c++)
            value[c] = where[c] < MAX_FIELDS ? fields[where[c]] : "";
        catalog_add_entry(source ? source : value[SOURCE], value);
    }
}

static void catalog_load_groups(char **at)
{
    const char *f[MAX_FIELDS];
    for (const char *const *line = catalog_groups_lines + 1; *line && catalog.group_count < MAX_GROUPS; line++) {
        catalog_split(*line, at, f);
        bool trouble = *f[4];
        if (trouble) catalog.trouble_groups |= (uint64_t)1 << catalog.group_count;
        catalog.groups[catalog.group_count++] = (catalog_group){f[0], f[1], f[2], f[3], trouble};
    }
}

static void catalog_load_units(char **at)
{
    const char *f[MAX_FIELDS];
    size_t room = sizeof catalog.units / sizeof *catalog.units;
    for (const char *const *line = catalog_units_lines + 1; *line && catalog.unit_count < room; line++) {
        catalog_split(*line, at, f);
        catalog.units[catalog.unit_count].name = f[0];
        catalog.units[catalog.unit_count].trouble = *f[2];
        catalog.units[catalog.unit_count++].leading = *f[3];
    }
}

static void catalog_mark(catalog_entry *e, const mark_row *row)
{
    e->marks |= row->bit;
    if (row->bit == CATALOG_SAME_AS)
        e->same_as = row->text;
    else if (*row->text)
        e->note = row->text;
}

static uint32_t catalog_mark_bit(const char *name)
{
    for (size_t i = 0; i < MARKS; i++)
        if (strcmp(mark_names[i].name, name) == 0) return mark_names[i].bit;
    return 0;
}

static void catalog_load_marks(char **at)
{
    const char *f[MAX_FIELDS];
    for (const char *const *line = catalog_marks_lines + 1; *line; line++) {
        catalog_split(*line, at, f);
        mark_row row = {.source = f[0], .pattern = f[1], .text = f[3], .bit = catalog_mark_bit(f[2])};
        if (!strpbrk(row.pattern, "*?")) {
            size_t index = index_map_find(catalog.by_name, catalog_key(row.source, row.pattern));
            if (index != INDEX_NONE) catalog_mark(&catalog.entries[index], &row);
            continue;
        }
        arrput(catalog.marks, row);
        for (size_t i = 0; i < catalog.entry_count; i++) {
            catalog_entry *e = &catalog.entries[i];
            if (strcmp(e->source, row.source) == 0 && text_like(row.pattern, e->name)) catalog_mark(e, &row);
        }
    }
}

static void catalog_unpack(void)
{
    size_t rows = 0, bytes = 0;
    for (size_t i = 0; i < TABLES; i++)
        rows += catalog_count_lines(counter_tables[i].lines, &bytes);
    catalog_count_lines(catalog_groups_lines, &bytes);
    catalog_count_lines(catalog_units_lines, &bytes);
    catalog_count_lines(catalog_marks_lines, &bytes);
    catalog.text = memory_alloc(bytes);
    catalog.entries = memory_calloc(rows, sizeof *catalog.entries);
    char *at = catalog.text;
    catalog_load_groups(&at);
    catalog_load_units(&at);
    for (size_t i = 0; i < TABLES; i++)
        catalog_load_counters(counter_tables[i].source, counter_tables[i].lines, &at);
    catalog_load_marks(&at);
}

void catalog_init(void)
{
    pthread_once(&catalog_once, catalog_unpack);
}

// ---- looking up ----

const catalog_entry *catalog_find(const char *source, const char *counter)
{
    catalog_init();
    size_t index = index_map_find(catalog.by_name, catalog_key(source, counter));
    if (index != INDEX_NONE) return &catalog.entries[index];
    for (size_t i = 0; i < arrlenu(catalog.patterns); i++) {
        const catalog_entry *e = catalog.patterns[i];
        if (strcmp(e->source, source) == 0 && text_like(e->name, counter)) return e;
    }
    return NULL;
}

static uint32_t catalog_marks_of(const catalog_entry *entry, const char *source, const char *counter)
{
    uint32_t marks = entry ? entry->marks : 0;
    if (entry && !(marks & CATALOG_PATTERN)) return marks;
    for (size_t i = 0; i < arrlenu(catalog.marks); i++) {
        const mark_row *row = &catalog.marks[i];
        if (strcmp(row->source, source) == 0 && text_like(row->pattern, counter)) marks |= row->bit;
    }
    return marks;
}

uint32_t catalog_marks(const char *source, const char *counter)
{
    return catalog_marks_of(catalog_find(source, counter), source, counter);
}

size_t catalog_count(const char *source, uint32_t marks)
{
    size_t n = 0;
    const catalog_entry *e;
    for (size_t i = 0; (e = catalog_at(i)); i++)
        n += e->marks & marks && strcmp(e->source, source) == 0;
    return n;
}

bool catalog_is_trouble(const char *source, const char *counter, const char *unit)
{
    const catalog_entry *entry = catalog_find(source, counter);
    uint32_t marks = catalog_marks_of(entry, source, counter);
    if (marks & (CATALOG_UNUSABLE | CATALOG_HARMLESS)) return false;
    if (marks & (CATALOG_RX_ERRORS | CATALOG_TX_ERRORS | CATALOG_RX_DROPS | CATALOG_TX_DROPS)) return true;
    if (entry && entry->groups & catalog.trouble_groups) return true;
    size_t rank = catalog_unit_rank(unit);
    return rank < catalog.unit_count && catalog.units[rank].trouble;
}

const catalog_entry *catalog_at(size_t index)
{
    catalog_init();
    return index < catalog.entry_count ? &catalog.entries[index] : NULL;
}

const catalog_group *catalog_group_at(size_t index)
{
    catalog_init();
    return index < catalog.group_count ? &catalog.groups[index] : NULL;
}

size_t catalog_group_find(const char *name)
{
    catalog_init();
    for (size_t i = 0; i < catalog.group_count; i++)
        if (strcasecmp(catalog.groups[i].name, name) == 0) return i;
    return CATALOG_NO_GROUP;
}

const char *catalog_mark_name(uint32_t mark)
{
    for (size_t i = 0; i < MARKS; i++)
        if (mark_names[i].bit == mark) return mark_names[i].name;
    return "";
}

size_t catalog_unit_rank(const char *unit)
{
    size_t i = 0;
    catalog_init();
    while (i < catalog.unit_count && strcmp(catalog.units[i].name, unit) != 0)
        i++;
    return i;
}

bool catalog_unit_is_leading(const char *unit)
{
    size_t rank = catalog_unit_rank(unit);
    return rank < catalog.unit_count && catalog.units[rank].leading;
}

// ---- net_prof's order ----

static bool catalog_is_letter_or_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c & 0x80);
}

int catalog_name_compare(const char *a, const char *b)
{
    const char *x = a, *y = b;
    for (;; x++, y++) {
        while (*x && !catalog_is_letter_or_digit(*x))
            x++;
        while (*y && !catalog_is_letter_or_digit(*y))
            y++;
        if (*x != *y) return (unsigned char)*x < (unsigned char)*y ? -1 : 1;
        if (!*x) return strcmp(a, b);
    }
}

static int catalog_by_name(const void *a, const void *b)
{
    return catalog_name_compare(*(const char *const *)a, *(const char *const *)b);
}

static void catalog_make_order(void)
{
    // The retry handler's counters are the driver's neighbours, not its files.
    for (size_t i = 0; i < catalog.entry_count; i++) {
        const catalog_entry *e = &catalog.entries[i];
        if (strcmp(e->source, "cxi") == 0 && !(e->marks & (CATALOG_CASSINI_2 | CATALOG_PATTERN)) &&
            !strchr(e->name, ':'))
            arrput(catalog.order, e->name);
    }
    catalog.order_count = arrlenu(catalog.order);
    qsort(catalog.order, catalog.order_count, sizeof *catalog.order, catalog_by_name);
}

const char *const *catalog_cassini_1_names(size_t *count)
{
    catalog_init();
    pthread_once(&order_once, catalog_make_order);
    *count = catalog.order_count;
    return catalog.order;
}

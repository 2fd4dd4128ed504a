// A reading is a row of four small integers: its id (that of its moment's first reading, and the place of its counter in the
// run), the value, how much later it was read than its moment's first, and a code for everything that repeats (status, which
// span its rate is over). Rows of one moment follow each other, so that no index is needed.
//
// A rate is not stored where it follows from two readings: the difference of their values over the difference of their times,
// or over the interval of their device. Where it does not (a counter that began anew, a reading of another file), the code says
// that it is told, in told_rates. What the view would make of two readings is worked out here with the same rule.
#include "sink_sqlite_readings.h"

#ifdef EXPORT_HAS_SQLITE
#include "analysis/base/index_map.h"
#include "analysis/base/memory.h"
#include "analysis/base/saturating_sum.h"

#include <stdlib.h>
#include <string.h>

enum { NAMES = 6 };

// A counter of a run, as the rows name it.
typedef struct readings_series {
    uint64_t run;
    char *names[NAMES]; // host, source, device, counter, unit, kind; NULL: not known
    int is_signed;      // -1: not known yet
    uint64_t place, device;
    size_t follower; // which came after it last time
    struct {
        bool known;
        uint64_t first; // of its moment
        int64_t value, time_ns, late_ns;
    } last; // reading
} readings_series;

typedef struct readings_code {
    bool there; // a value, or why there is none
    const char *status;
    uint64_t failure; // errno; 0: none
    int span;         // -1: no rate
    const char *flag;
    bool lower_bound, told;
} readings_code;

// Of the moment at hand: what is known about one counter.
typedef struct readings_pending {
    size_t series;
    readings_code code;
    export_cell value, difference, rate; // value and difference: as bits
    int64_t time_ns, interval_ns;        // 0: not known
} readings_pending;

typedef struct readings_span {
    export_cell from, to;
    uint64_t from_first; // of the moment before
    int64_t from_time_ns, interval_ns;
    bool placed;      // from_first is known
    int64_t *devices; // by the device's place: its interval, 0: not known; an array of stb_ds
} readings_span;

struct sqlite_readings {
    export_sink *sink;
    sqlite3 *db;
    sqlite3_stmt *reading, *moment, *span, *span_device, *told, *beyond;
    readings_series *series;                 // arrays of stb_ds, as what follows
    index_map *series_of, *places, *devices; // places and devices: the next of each run
    readings_code *codes;
    index_map *code_of;
    size_t at; // the series of the last row
    readings_pending *pending;
    size_t *pending_of; // by series: index in pending + 1
    readings_span *spans;
    bool open;           // there is a moment at hand
    uint64_t run, first; // its
    export_cell snapshot;
    int64_t time_ns; // 0: not known
    uint64_t next, next_span, next_device;
};

static const char readings_tables[] =
    "CREATE TABLE series(id INTEGER PRIMARY KEY, run INTEGER, place INTEGER, device_place INTEGER, host TEXT, source "
    "TEXT,"
    " device TEXT, counter TEXT, unit TEXT, kind TEXT, signed INTEGER);"
    "CREATE TABLE moments(first INTEGER PRIMARY KEY, places INTEGER, run INTEGER, snapshot INTEGER, time_ns INTEGER);"
    "CREATE TABLE readings(id INTEGER PRIMARY KEY, value INTEGER, late_ns INTEGER, code INTEGER);"
    "CREATE TABLE codes(id INTEGER PRIMARY KEY, there INTEGER, status TEXT, errno INTEGER, span INTEGER, flag TEXT,"
    " lower_bound INTEGER, told INTEGER);"
    "CREATE TABLE spans(id INTEGER PRIMARY KEY, run INTEGER, first INTEGER, places INTEGER, number INTEGER, time_ns "
    "INTEGER,"
    " from_first INTEGER, from_time_ns INTEGER, from_ns INTEGER, to_ns INTEGER, interval_ns INTEGER, first_device "
    "INTEGER);"
    "CREATE TABLE span_devices(id INTEGER PRIMARY KEY, beyond_ns INTEGER);"
    "CREATE TABLE told_rates(id INTEGER PRIMARY KEY, difference INTEGER, beyond_ns INTEGER, rate_per_s REAL);"
    "CREATE TABLE seconds(per_ns REAL);";

static const char readings_indexes[] = "CREATE INDEX series_by_run ON series(run, place);"
                                       "CREATE INDEX series_by_counter ON series(counter, device);"
                                       "CREATE INDEX moments_by_time ON moments(run, time_ns);";

#define READINGS_VALUE_COLUMNS                                                                                         \
    "c.run AS run, c.host AS host, m.snapshot AS snapshot, m.time_ns + r.late_ns AS time_ns, c.source AS source,"      \
    " c.device AS device, c.counter AS counter, CASE WHEN NOT c.signed THEN r.value END AS value,"                     \
    " CASE WHEN c.signed THEN r.value END AS signed_value, c.unit AS unit, c.kind AS kind, k.status AS status,"        \
    " k.errno AS errno"
#define READINGS_VALUE_ROWS                                                                                            \
    " FROM moments m JOIN series c ON c.run = m.run AND c.place < m.places JOIN readings r ON r.id = m.first + "       \
    "c.place"                                                                                                          \
    " JOIN codes k ON k.id = r.code AND k.there"

static const char readings_value_views[] =
    "CREATE VIEW counter_values AS SELECT " READINGS_VALUE_COLUMNS READINGS_VALUE_ROWS ";"
    // Every value as its exact decimal text.
    "CREATE VIEW counter_values_exact AS SELECT " READINGS_VALUE_COLUMNS
    ", coalesce(CAST(r.value AS TEXT), CASE WHEN b.bits IS NOT NULL THEN printf('%llu', b.bits) END) AS "
    "value_text" READINGS_VALUE_ROWS
    " LEFT JOIN beyond_int64 b ON r.value IS NULL AND b.table_name = 'counter_values' AND b.row = r.id"
    " AND b.column_name = 'value';";

#define READINGS_DIFFERENCE "CASE WHEN k.told THEN t.difference ELSE r.value - p.value END"
#define READINGS_INTERVAL                                                                                              \
    "CASE WHEN k.told THEN s.interval_ns + t.beyond_ns WHEN r.late_ns = 0 AND p.late_ns = 0 THEN s.interval_ns +"      \
    " v.beyond_ns ELSE (s.time_ns + r.late_ns) - (s.from_time_ns + p.late_ns) END"
#define READINGS_RATE_COLUMNS                                                                                          \
    "c.run AS run, c.host AS host, s.from_ns AS from_ns, s.to_ns AS to_ns, c.source AS source, c.device AS device,"    \
    " c.counter AS counter, CASE WHEN NOT c.signed THEN " READINGS_DIFFERENCE " END AS difference,"                    \
    " CASE WHEN c.signed THEN " READINGS_DIFFERENCE " END AS signed_difference,"                                       \
    " coalesce(t.rate_per_s, CAST(" READINGS_DIFFERENCE " AS REAL) / ((" READINGS_INTERVAL                             \
    ") * (SELECT per_ns FROM seconds))) AS rate_per_s, " READINGS_INTERVAL " AS interval_ns, c.unit AS unit,"          \
    " c.kind AS kind, k.flag AS status, k.lower_bound AS lower_bound"
#define READINGS_RATE_ROWS                                                                                             \
    " FROM spans s JOIN series c ON c.run = s.run AND c.place < s.places JOIN readings r ON r.id = s.first + c.place"  \
    " JOIN codes k ON k.id = r.code AND k.span = s.number"                                                             \
    " LEFT JOIN readings p ON NOT k.told AND p.id = s.from_first + c.place"                                            \
    " LEFT JOIN span_devices v ON NOT k.told AND v.id = s.first_device + c.device_place"                               \
    " LEFT JOIN told_rates t ON k.told AND t.id = r.id"

static const char readings_rate_views[] =
    "CREATE INDEX spans_by_time ON spans(run, to_ns);"
    "CREATE VIEW counter_rates AS SELECT " READINGS_RATE_COLUMNS READINGS_RATE_ROWS ";"
    "CREATE VIEW counter_rates_exact AS SELECT " READINGS_RATE_COLUMNS ", coalesce(CAST(" READINGS_DIFFERENCE
    " AS TEXT), CASE WHEN b.bits IS NOT NULL THEN printf('%llu', b.bits) END) AS difference_text" READINGS_RATE_ROWS
    " LEFT JOIN beyond_int64 b ON k.told AND t.difference IS NULL AND b.table_name = 'counter_rates' AND b.row = r.id"
    " AND b.column_name = 'difference';";

static bool readings_check(sqlite_readings *r, int result)
{
    if (result == SQLITE_OK || result == SQLITE_DONE) return true;
    export_fail(r->sink, "SQLite: %s", sqlite3_errmsg(r->db));
    return false;
}

static bool readings_step(sqlite_readings *r, sqlite3_stmt *statement)
{
    bool good = readings_check(r, sqlite3_step(statement));
    sqlite3_reset(statement);
    return good;
}

static bool readings_prepare(sqlite_readings *r, sqlite3_stmt **statement, const char *sql)
{
    return readings_check(r, sqlite3_prepare_v2(r->db, sql, -1, statement, NULL));
}

// ---- codes ----

static bool readings_same_code(const readings_code *a, const readings_code *b)
{
    return a->there == b->there && a->span == b->span && a->told == b->told && a->lower_bound == b->lower_bound &&
           a->failure == b->failure && strcmp(a->status, b->status) == 0 && strcmp(a->flag, b->flag) == 0;
}

// Its number. Those of the library's names: the texts stay.
static size_t readings_code_number(sqlite_readings *r, const readings_code *code)
{
    enum { FEW = 4 };
    for (size_t i = 0; i < FEW && i < arrlenu(r->codes); i++)
        if (readings_same_code(&r->codes[i], code)) return i;
    char *key = memory_format("%d/%s/%llu/%d/%s/%d/%d", code->there, code->status, (unsigned long long)code->failure,
                              code->span, code->flag, code->lower_bound, code->told);
    size_t next = arrlenu(r->codes), found = index_map_put(&r->code_of, map_key_of_name(0, key), next);
    if (found == next) arrput(r->codes, *code);
    free(key);
    return found;
}

// ---- opening ----

sqlite_readings *sqlite_readings_open(export_sink *sink, sqlite3 *db)
{
    sqlite_readings *r = memory_calloc(1, sizeof *r);
    const char *ok = netprof_status_name(NETPROF_STATUS_OK), *fine = netprof_flag_name(NETPROF_FLAG_OK);
    r->sink = sink;
    r->db = db;
    r->next = r->next_device = 1;
    // 0 and 1 take no byte in a row.
    readings_code_number(r, &(readings_code){.there = true, .status = ok, .flag = fine});
    readings_code_number(r, &(readings_code){.there = true, .status = ok, .span = -1, .flag = ""});
    if (readings_check(r, sqlite3_exec(db, readings_tables, NULL, NULL, NULL)) &&
        readings_prepare(r, &r->reading, "INSERT INTO readings VALUES(?,?,?,?)") &&
        readings_prepare(r, &r->moment, "INSERT INTO moments VALUES(?,?,?,?,?)") &&
        readings_prepare(r, &r->span, "INSERT INTO spans VALUES(?,?,?,?,?,?,?,?,?,?,?,?)") &&
        readings_prepare(r, &r->span_device, "INSERT INTO span_devices VALUES(?,?)") &&
        readings_prepare(r, &r->told, "INSERT INTO told_rates VALUES(?,?,?,?)") &&
        readings_prepare(r, &r->beyond, "INSERT INTO beyond_int64 VALUES(?,?,?,?)"))
        return r;
    sqlite_readings_close(r);
    return NULL;
}

// ---- which counter ----

// Where a row has the names, and what else is read of it.
static const struct readings_columns {
    int names[NAMES];
    int number; // and the signed one right after it
} readings_columns[2] = {{{1, 4, 5, 6, 9, 10}, 7}, {{1, 4, 5, 6, 11, 12}, 7}};

static bool readings_same_text(const char *a, const export_cell *b)
{
    return a && b->known ? strcmp(a, b->as.text) == 0 : !a && !b->known;
}

static bool readings_is_of(const readings_series *s, const export_cell *cells, const struct readings_columns *columns,
                           int is_signed)
{
    if (s->run != cells[0].as.u64 || (s->is_signed >= 0 && is_signed >= 0 && s->is_signed != is_signed)) return false;
    for (int i = NAMES; i-- > 0;)
        if (!readings_same_text(s->names[i], &cells[columns->names[i]])) return false;
    return true;
}

// Lengths before the texts: no two different names make the same key.
static char *readings_key(const export_cell *cells, const struct readings_columns *columns, int names, int is_signed)
{
    char *key = memory_format("%llu/%d", (unsigned long long)cells[0].as.u64, is_signed);
    for (int i = 0; i < names; i++) {
        const export_cell *c = &cells[columns->names[i]];
        char *longer = memory_format("%s/%zu:%s", key, c->known ? strlen(c->as.text) : 0, c->known ? c->as.text : "?");
        free(key);
        key = longer;
    }
    return key;
}

static uint64_t readings_next_of_run(index_map **map, uint64_t run)
{
    map_key key = map_key_of_pair((int64_t)run, 0);
    size_t next = index_map_find(*map, key);
    if (next == INDEX_NONE) next = 0;
    hmput(*map, key, next + 1);
    return next;
}

static size_t readings_add_series(sqlite_readings *r, const export_cell *cells, const struct readings_columns *columns)
{
    readings_series s = {.run = cells[0].as.u64, .is_signed = -1};
    for (int i = 0; i < NAMES; i++)
        s.names[i] = cells[columns->names[i]].known ? memory_strdup(cells[columns->names[i]].as.text) : NULL;
    char *device = readings_key(cells, columns, 3, -1);
    map_key key = map_key_of_name(1, device);
    size_t place = index_map_find(r->series_of, key);
    if (place == INDEX_NONE) {
        place = readings_next_of_run(&r->devices, s.run);
        hmput(r->series_of, key, place);
    }
    free(device);
    s.device = place;
    s.place = readings_next_of_run(&r->places, s.run);
    s.follower = arrlenu(r->series) + 1;
    arrput(r->series, s);
    arrput(r->pending_of, 0);
    return arrlenu(r->series) - 1;
}

static size_t readings_look_up(sqlite_readings *r, const export_cell *cells, const struct readings_columns *columns,
                               int is_signed)
{
    for (int with = -1;; with = is_signed) {
        char *name = readings_key(cells, columns, NAMES, with);
        map_key key = map_key_of_name(0, name);
        size_t found = index_map_find(r->series_of, key);
        free(name);
        if (found == INDEX_NONE) {
            found = readings_add_series(r, cells, columns);
            hmput(r->series_of, key, found);
        }
        // The same name as a counter of the other sign is another series.
        if (with == is_signed || readings_is_of(&r->series[found], cells, columns, is_signed)) return found;
    }
}

// Rows come in the order of the schema: after each counter the same one as last time.
static size_t readings_series_of(sqlite_readings *r, export_id id, const export_cell *cells)
{
    const struct readings_columns *columns = &readings_columns[id == EXPORT_RATES];
    int is_signed = cells[columns->number].known ? 0 : cells[columns->number + 1].known ? 1 : -1;
    size_t count = arrlenu(r->series), guess = r->at < count ? r->series[r->at].follower : 0, found = INDEX_NONE;
    if (guess < count && readings_is_of(&r->series[guess], cells, columns, is_signed)) found = guess;
    if (found == INDEX_NONE) found = readings_look_up(r, cells, columns, is_signed);
    if (r->at < count) r->series[r->at].follower = found;
    if (is_signed >= 0) r->series[found].is_signed = is_signed;
    r->at = found;
    return found;
}

// ---- writing a moment ----

static void readings_bind(sqlite3_stmt *to, int at, bool known, int64_t value)
{
    if (known)
        sqlite3_bind_int64(to, at, value);
    else
        sqlite3_bind_null(to, at);
}

// The 64 bits of a number; which of them SQLite has no integer for.
static int64_t readings_bits(const export_cell *cell)
{
    return cell->as.i64;
}

static bool readings_is_beyond(const readings_series *s, const export_cell *cell)
{
    return cell->known && !s->is_signed && cell->as.u64 > INT64_MAX;
}

static void readings_put_beyond(sqlite_readings *r, const char *table, uint64_t id, const char *column, int64_t bits)
{
    sqlite3_bind_text(r->beyond, 1, table, -1, SQLITE_STATIC);
    sqlite3_bind_int64(r->beyond, 2, (int64_t)id);
    sqlite3_bind_text(r->beyond, 3, column, -1, SQLITE_STATIC);
    sqlite3_bind_int64(r->beyond, 4, bits);
    readings_step(r, r->beyond);
}

static int64_t readings_late(const sqlite_readings *r, const readings_pending *x)
{
    return x->time_ns ? x->time_ns - r->time_ns : 0; // taken only where that is a number
}

// The interval that the view makes of the last reading and this one; 0: none.
static int64_t readings_interval(const sqlite_readings *r, const readings_series *s, const readings_pending *x,
                                 readings_span *span)
{
    int64_t interval_ns;
    if (!x->time_ns || !s->last.time_ns) return 0;
    if (readings_late(r, x) || s->last.late_ns)
        return __builtin_sub_overflow(x->time_ns, s->last.time_ns, &interval_ns) ? 0 : interval_ns;
    while (arrlenu(span->devices) <= s->device)
        arrput(span->devices, 0);
    if (!span->devices[s->device]) span->devices[s->device] = x->interval_ns; // the first of its device says it
    return span->devices[s->device];
}

// Does the rate follow from the last reading and this one?
static bool readings_follows(const sqlite_readings *r, const readings_series *s, const readings_pending *x,
                             readings_span *span)
{
    int64_t difference;
    if (!s->last.known || !x->code.there || !x->value.known || !x->difference.known || !x->interval_ns) return false;
    if (readings_is_beyond(s, &x->value) || readings_is_beyond(s, &x->difference)) return false;
    if (span->placed && span->from_first != s->last.first) return false;
    if (__builtin_sub_overflow(readings_bits(&x->value), s->last.value, &difference) ||
        difference != readings_bits(&x->difference))
        return false;
    if (readings_interval(r, s, x, span) != x->interval_ns) return false;
    if (!span->placed) {
        span->placed = true;
        span->from_first = s->last.first;
        span->from_time_ns = s->last.time_ns - s->last.late_ns;
    }
    return true;
}

static void readings_put_told(sqlite_readings *r, const readings_series *s, const readings_pending *x,
                              const readings_span *span, uint64_t id)
{
    bool beyond = readings_is_beyond(s, &x->difference);
    sqlite3_bind_int64(r->told, 1, (int64_t)id);
    readings_bind(r->told, 2, x->difference.known && !beyond, readings_bits(&x->difference));
    readings_bind(r->told, 3, x->interval_ns != 0, difference_capped(x->interval_ns, span->interval_ns));
    if (beyond && x->rate.known)
        sqlite3_bind_double(r->told, 4, x->rate.as.f64);
    else
        sqlite3_bind_null(r->told, 4);
    readings_step(r, r->told);
    if (beyond) readings_put_beyond(r, "counter_rates", id, "difference", readings_bits(&x->difference));
}

static void readings_put(sqlite_readings *r, readings_pending *x)
{
    readings_series *s = &r->series[x->series];
    readings_span *span = x->code.span < 0 ? NULL : &r->spans[x->code.span];
    uint64_t id = r->first + s->place;
    bool beyond = readings_is_beyond(s, &x->value), known = x->value.known && !beyond;
    x->code.told = span && !readings_follows(r, s, x, span);
    sqlite3_bind_int64(r->reading, 1, (int64_t)id);
    readings_bind(r->reading, 2, known, readings_bits(&x->value));
    readings_bind(r->reading, 3, x->time_ns != 0, readings_late(r, x));
    sqlite3_bind_int64(r->reading, 4, (int64_t)readings_code_number(r, &x->code));
    readings_step(r, r->reading);
    if (beyond) readings_put_beyond(r, "counter_values", id, "value", readings_bits(&x->value));
    if (x->code.told) readings_put_told(r, s, x, span, id);
    if (id >= r->next) r->next = id + 1;
    if (!x->code.there) return;
    s->last.known = known;
    s->last.first = r->first;
    s->last.value = known ? readings_bits(&x->value) : 0;
    s->last.time_ns = x->time_ns;
    s->last.late_ns = readings_late(r, x);
}

static void readings_put_span(sqlite_readings *r, const readings_span *span, size_t number)
{
    uint64_t first = r->next_device;
    const struct {
        bool known;
        int64_t value;
    } numbers[] = {{true, (int64_t)++r->next_span},
                   {true, (int64_t)r->run},
                   {true, (int64_t)r->first},
                   {true, (int64_t)(r->next - r->first)},
                   {true, (int64_t)number},
                   {r->time_ns != 0, r->time_ns},
                   {span->placed, (int64_t)span->from_first},
                   {span->placed, span->from_time_ns},
                   {span->from.known, span->from.as.i64},
                   {span->to.known, span->to.as.i64},
                   {true, span->interval_ns},
                   {true, (int64_t)first}};
    for (int i = 0; i < (int)(sizeof numbers / sizeof *numbers); i++)
        readings_bind(r->span, i + 1, numbers[i].known, numbers[i].value);
    readings_step(r, r->span);
    for (size_t i = 0; i < arrlenu(span->devices); i++) {
        if (!span->devices[i]) continue;
        sqlite3_bind_int64(r->span_device, 1, (int64_t)(first + i));
        sqlite3_bind_int64(r->span_device, 2, difference_capped(span->devices[i], span->interval_ns));
        readings_step(r, r->span_device);
        r->next_device = first + i + 1;
    }
}

static void readings_end_moment(sqlite_readings *r)
{
    if (!r->open) return;
    r->open = false;
    for (size_t i = 0; i < arrlenu(r->pending) && !export_failed(r->sink); i++) {
        r->pending_of[r->pending[i].series] = 0;
        readings_put(r, &r->pending[i]);
    }
    arrsetlen(r->pending, 0);
    sqlite3_bind_int64(r->moment, 1, (int64_t)r->first);
    sqlite3_bind_int64(r->moment, 2, (int64_t)(r->next - r->first));
    sqlite3_bind_int64(r->moment, 3, (int64_t)r->run);
    readings_bind(r->moment, 4, r->snapshot.known, (int64_t)r->snapshot.as.u64);
    readings_bind(r->moment, 5, r->time_ns != 0, r->time_ns);
    readings_step(r, r->moment);
    for (size_t i = 0; i < arrlenu(r->spans); i++) {
        readings_put_span(r, &r->spans[i], i);
        arrfree(r->spans[i].devices);
    }
    arrsetlen(r->spans, 0);
}

// ---- gathering a moment ----

static void readings_begin_moment(sqlite_readings *r, uint64_t run, export_cell snapshot)
{
    readings_end_moment(r);
    r->open = true;
    r->run = run;
    r->first = r->next;
    r->snapshot = snapshot;
    r->time_ns = 0;
}

static readings_pending *readings_pend(sqlite_readings *r, size_t series)
{
    if (!r->pending_of[series]) {
        arrput(r->pending, ((readings_pending){.series = series, .code = {.status = "", .span = -1, .flag = ""}}));
        r->pending_of[series] = arrlenu(r->pending);
    }
    return &r->pending[r->pending_of[series] - 1];
}

static bool readings_same_cell(const export_cell *a, const export_cell *b)
{
    return a->known == b->known && (!a->known || a->as.u64 == b->as.u64);
}

static void readings_take_value(sqlite_readings *r, size_t series, const export_cell *c)
{
    int64_t time_ns = c[3].known ? c[3].as.i64 : 0, late_ns;
    bool here = r->open && r->run == c[0].as.u64 && readings_same_cell(&r->snapshot, &c[2]) && !arrlenu(r->spans) &&
                !r->pending_of[series];
    if (!here || (time_ns && r->time_ns && __builtin_sub_overflow(time_ns, r->time_ns, &late_ns)))
        readings_begin_moment(r, c[0].as.u64, c[2]);
    if (!r->time_ns) r->time_ns = time_ns;
    readings_pending *x = readings_pend(r, series);
    x->value = c[7].known ? c[7] : c[8];
    x->time_ns = time_ns;
    x->code.there = true;
    x->code.status = c[11].known ? c[11].as.text : "";
    x->code.failure = c[12].known ? c[12].as.u64 : 0;
}

// The span of the moment from there to there; a new one where there is none yet. -1: it ends at another time.
static int readings_span_of(sqlite_readings *r, const export_cell *from, const export_cell *to, int64_t interval_ns)
{
    size_t count = arrlenu(r->spans);
    if (count && !readings_same_cell(&r->spans[0].to, to)) return -1;
    for (size_t i = 0; i < count; i++) {
        if (!readings_same_cell(&r->spans[i].from, from)) continue;
        if (!r->spans[i].interval_ns) r->spans[i].interval_ns = interval_ns;
        return (int)i;
    }
    arrput(r->spans, ((readings_span){.from = *from, .to = *to, .interval_ns = interval_ns}));
    return (int)count;
}

static void readings_take_rate(sqlite_readings *r, size_t series, const export_cell *c)
{
    int64_t interval_ns = c[10].known ? c[10].as.i64 : 0;
    bool taken = r->open && r->pending_of[series] && r->pending[r->pending_of[series] - 1].code.span >= 0;
    int span = r->open && r->run == c[0].as.u64 && !taken ? readings_span_of(r, &c[2], &c[3], interval_ns) : -1;
    if (span < 0) {
        readings_begin_moment(r, c[0].as.u64, cell_none());
        span = readings_span_of(r, &c[2], &c[3], interval_ns);
    }
    readings_pending *x = readings_pend(r, series);
    x->difference = c[7].known ? c[7] : c[8];
    x->rate = c[9];
    x->interval_ns = interval_ns;
    x->code.span = span;
    x->code.flag = c[13].known ? c[13].as.text : "";
    x->code.lower_bound = c[14].known && c[14].as.u64;
}

void sqlite_readings_take(sqlite_readings *r, export_id id, const export_cell *cells)
{
    size_t series = readings_series_of(r, id, cells);
    if (id == EXPORT_RATES)
        readings_take_rate(r, series, cells);
    else
        readings_take_value(r, series, cells);
}

// ---- the end ----

static void readings_bind_text(sqlite3_stmt *to, int at, const char *text)
{
    if (text && *text)
        sqlite3_bind_text(to, at, utf8(text), -1, SQLITE_TRANSIENT);
    else
        sqlite3_bind_null(to, at);
}

static bool readings_put_series(sqlite_readings *r)
{
    sqlite3_stmt *row = NULL;
    bool good = readings_prepare(r, &row, "INSERT INTO series VALUES(?,?,?,?,?,?,?,?,?,?,?)");
    for (size_t i = 0; good && i < arrlenu(r->series); i++) {
        const readings_series *s = &r->series[i];
        const int64_t numbers[] = {(int64_t)i + 1, (int64_t)s->run, (int64_t)s->place, (int64_t)s->device};
        for (int k = 0; k < 4; k++)
            sqlite3_bind_int64(row, k + 1, numbers[k]);
        for (int k = 0; k < NAMES; k++)
            readings_bind_text(row, 5 + k, s->names[k]);
        sqlite3_bind_int64(row, 5 + NAMES, s->is_signed > 0);
        good = readings_step(r, row);
    }
    sqlite3_finalize(row);
    return good;
}

static bool readings_put_codes(sqlite_readings *r)
{
    sqlite3_stmt *row = NULL;
    bool good = readings_prepare(r, &row, "INSERT INTO codes VALUES(?,?,?,?,?,?,?,?)");
    for (size_t i = 0; good && i < arrlenu(r->codes); i++) {
        const readings_code *c = &r->codes[i];
        sqlite3_bind_int64(row, 1, (int64_t)i);
        sqlite3_bind_int(row, 2, c->there);
        readings_bind_text(row, 3, c->status);
        readings_bind(row, 4, c->failure != 0, (int64_t)c->failure);
        readings_bind(row, 5, c->span >= 0, c->span);
        readings_bind_text(row, 6, c->flag);
        sqlite3_bind_int(row, 7, c->lower_bound);
        sqlite3_bind_int(row, 8, c->told);
        good = readings_step(r, row);
    }
    sqlite3_finalize(row);
    return good;
}

// As the rates are made in C: a literal of SQL might be read with another last digit.
static bool readings_put_seconds(sqlite_readings *r)
{
    sqlite3_stmt *row = NULL;
    bool good = readings_prepare(r, &row, "INSERT INTO seconds VALUES(?)");
    if (good) sqlite3_bind_double(row, 1, 1e-9);
    good = good && readings_step(r, row);
    sqlite3_finalize(row);
    return good;
}

bool sqlite_readings_finish(sqlite_readings *r, bool values, bool rates)
{
    readings_end_moment(r);
    return !export_failed(r->sink) && readings_put_series(r) && readings_put_codes(r) && readings_put_seconds(r) &&
           readings_check(r, sqlite3_exec(r->db, readings_indexes, NULL, NULL, NULL)) &&
           (!values || readings_check(r, sqlite3_exec(r->db, readings_value_views, NULL, NULL, NULL))) &&
           (!rates || readings_check(r, sqlite3_exec(r->db, readings_rate_views, NULL, NULL, NULL)));
}

void sqlite_readings_close(sqlite_readings *r)
{
    if (!r) return;
    sqlite3_stmt *const statements[] = {r->reading, r->moment, r->span, r->span_device, r->told, r->beyond};
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
        sqlite3_finalize(statements[i]);
    for (size_t i = 0; i < arrlenu(r->series); i++)
        for (int k = 0; k < NAMES; k++)
            free(r->series[i].names[k]);
    for (size_t i = 0; i < arrlenu(r->spans); i++)
        arrfree(r->spans[i].devices);
    arrfree(r->series);
    arrfree(r->codes);
    arrfree(r->pending);
    arrfree(r->pending_of);
    arrfree(r->spans);
    hmfree(r->series_of);
    hmfree(r->places);
    hmfree(r->devices);
    hmfree(r->code_of);
    free(r);
}
#endif

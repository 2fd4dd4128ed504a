// Reference sets of NCCL Inspector logs with expected results, where they lie beside the checkout.
#define _GNU_SOURCE
#include "netprof.h"

#include "analysis/nccl/export/nccl_export.h"
#include "analysis/nccl/logs/nccl_logs.h"
#include "support.h"

#include <math.h>

static char *sets; // where they were unpacked; NULL: there are none

static int unpack(void **state)
{
    char command[1200];
    const char *archive = NETPROF_TEST_TOP "/../shared/data/nccl/sets.tar.xz";
    (void)state;
    if (access(archive, R_OK) != 0) {
        print_message("skipped: no reference data (%s)\n", archive);
        return 0;
    }
    sets = tree_make();
    snprintf(command, sizeof command, "xz -dc '%s' | tar -C '%s' -xf -", archive, sets);
    return system(command) == 0 ? 0 : -1;
}

static int clean_up(void **state)
{
    (void)state;
    if (sets) tree_remove(sets);
    return 0;
}

// ---- CSV: a table of cells; none of these files has quotes ----

enum { CELLS = 64 };
typedef struct csv_row {
    char *cells[CELLS];
    size_t count;
} csv_row;

typedef struct csv {
    char *text;
    csv_row *rows; // [0]: the head
    size_t count;
} csv;

static csv csv_parse(char *text)
{
    csv table = {text, NULL, 0};
    char *line, *rest = text;
    while ((line = strsep(&rest, "\n")) && (*line || rest)) {
        table.rows = realloc(table.rows, (table.count + 1) * sizeof *table.rows);
        csv_row *r = &table.rows[table.count++];
        char *cell;
        *r = (csv_row){.count = 0};
        while ((cell = strsep(&line, ","))) {
            assert_true(r->count < CELLS);
            r->cells[r->count++] = cell;
        }
    }
    return table;
}

static csv csv_read(const char *format, ...) __attribute__((format(printf, 1, 2)));
static csv csv_read(const char *format, ...)
{
    char path[1200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(path, sizeof path, format, arguments);
    va_end(arguments);
    FILE *f = fopen(path, "re");
    if (!f) fail_msg("%s: %s", path, strerror(errno));
    fseek(f, 0, SEEK_END);
    size_t size = (size_t)ftell(f);
    char *text = calloc(1, size + 1);
    rewind(f);
    assert_int_equal(fread(text, 1, size, f), size);
    fclose(f);
    return csv_parse(text);
}

static void csv_free(csv *table)
{
    free(table->text);
    free(table->rows);
}

static int by_two(const void *a, const void *b)
{
    const csv_row *x = a, *y = b;
    int order = strcmp(x->cells[0], y->cells[0]);
    return order ? order : strcmp(x->cells[1], y->cells[1]);
}

static bool same_cell(const char *a, const char *b)
{
    char *a_end, *b_end;
    if (strcmp(a, b) == 0) return true;
    double x = strtod(a, &a_end), y = strtod(b, &b_end);
    if (a_end == a || *a_end || b_end == b || *b_end) return false;
    return fabs(x - y) <= 1e-6 * fmax(fabs(x), fabs(y));
}

// The first columns of ours are theirs, and every line is equal.
static void same_tables(csv *theirs, csv *ours, bool sort)
{
    size_t columns = theirs->rows[0].count;
    assert_int_equal(ours->count, theirs->count);
    for (size_t k = 0; k < columns; k++)
        assert_string_equal(ours->rows[0].cells[k], theirs->rows[0].cells[k]);
    if (sort) {
        qsort(theirs->rows + 1, theirs->count - 1, sizeof(csv_row), by_two);
        qsort(ours->rows + 1, ours->count - 1, sizeof(csv_row), by_two);
    }
    for (size_t i = 1; i < theirs->count; i++)
        for (size_t k = 0; k < columns; k++)
            if (!same_cell(theirs->rows[i].cells[k], ours->rows[i].cells[k]))
                fail_msg("line %zu, %s: %s instead of %s", i, theirs->rows[0].cells[k], ours->rows[i].cells[k],
                         theirs->rows[i].cells[k]);
    csv_free(theirs);
    csv_free(ours);
}

static csv exported(const nccl *n, nccl_table table)
{
    struct sink s = {0};
    assert_int_equal(nccl_export(n, table, NULL, sink_write, &s), NETPROF_OK);
    assert_int_equal(sink_write(&s, "", 1), 0);
    return csv_parse((char *)s.data);
}

// ---- the sets ----

static void read_set(nccl *n, const char *name)
{
    const char *path = tree_path(sets, name);
    *n = (nccl){0};
    assert_int_equal(nccl_read(n, &path, 1, NULL, NULL), NETPROF_OK);
}

static void check_set(const char *name)
{
    static const struct {
        const char *file;
        nccl_table table;
        bool sort; // the order of equals is no contract
    } tables[] = {{"lines", NCCL_LINES_CSV, false},
                  {"per_instance", NCCL_INSTANCES_CSV, false},
                  {"per_comm_coll_size", NCCL_COMMUNICATORS_CSV, false},
                  {"per_type_coll_size", NCCL_TYPES_CSV, false},
                  {"per_rank", NCCL_RANKS_CSV, true}};
    nccl n;
    if (!sets) skip();
    read_set(&n, name);
    for (size_t i = 0; i < COUNT(tables); i++) {
        csv theirs = csv_read("%s/%s.expected/%s.csv", sets, name, tables[i].file),
            ours = exported(&n, tables[i].table);
        assert_true(theirs.count > 5);
        same_tables(&theirs, &ours, tables[i].sort);
    }
    nccl_free(&n);
}

static void small_clean(void **unused)
{
    (void)unused;
    check_set("small_clean");
}

static void small_damaged(void **unused)
{
    (void)unused;
    check_set("small_damaged");
}

static const char *const formats[] = {"fmt_v4.0", "fmt_v4.1", "fmt_v4.2", "fmt_v4.3"};

static void versions(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(formats); i++)
        check_set(formats[i]);
}

// The same records in four formats: identical to the last digit.
static void versions_alike(void **unused)
{
    nccl first, other;
    (void)unused;
    if (!sets) skip();
    read_set(&first, formats[0]);
    for (size_t i = 1; i < COUNT(formats); i++) {
        read_set(&other, formats[i]);
        assert_int_equal(other.instance_count, first.instance_count);
        assert_int_equal(other.series_count, first.series_count);
        for (size_t k = 0; k < first.instance_count; k++) {
            const nccl_instance *x = &first.instances[k];
            const nccl_series *s = &first.series[x->series];
            size_t j = 0; // names are new since 4.0, so communicators may stand in another order
            for (; j < other.instance_count; j++) {
                const nccl_instance *y = &other.instances[j];
                const nccl_series *t = &other.series[y->series];
                if (y->sn == x->sn && t->size == s->size && strcmp(other.colls[t->coll], first.colls[s->coll]) == 0 &&
                    strcmp(other.communicators[t->communicator].id, first.communicators[s->communicator].id) == 0)
                    break;
            }
            assert_true(j < other.instance_count);
            const nccl_instance *y = &other.instances[j];
            assert_int_equal(y->count, x->count);
            assert_int_equal(y->min_us, x->min_us);
            assert_int_equal(y->max_us, x->max_us);
            assert_true(y->mean_us == x->mean_us && y->mean_bus == x->mean_bus && y->max_bus == x->max_bus);
            assert_int_equal(other.members[y->first_late].rank, first.members[x->first_late].rank);
        }
        nccl_free(&other);
    }
    nccl_free(&first);
}

static void exporter(void **unused)
{
    nccl n;
    char path[256];
    (void)unused;
    if (!sets) skip();
    read_set(&n, "small_clean");
    assert_int_equal(nccl_summary_count(&n), 13); // files that the real exporter wrote
    for (size_t i = 0; i < nccl_summary_count(&n); i++) {
        struct sink s = {0};
        nccl_summary_path(&n, i, path, sizeof path);
        csv theirs = csv_read("%s/small_clean.real_exporter/%s", sets, path + strlen("summary/"));
        assert_int_equal(nccl_summary_write(&n, i, sink_write, &s), NETPROF_OK);
        sink_write(&s, "", 1);
        csv ours = csv_parse((char *)s.data);
        same_tables(&theirs, &ours, true);
    }
    nccl_free(&n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_clean),    cmocka_unit_test(small_damaged), cmocka_unit_test(versions),
        cmocka_unit_test(versions_alike), cmocka_unit_test(exporter),
    };
    return cmocka_run_group_tests(tests, unpack, clean_up);
}

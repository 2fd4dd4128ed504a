// Parts of exports of Nsight Systems: domains of NVTX, the world that files must share for their clocks to be compared, files that
// end in the middle of being read, and what is a report and no export.
#define _GNU_SOURCE // nftw
#include "netprof.h"

#include "analysis/data/clocks.h"
#include "analysis/nsys/nsys.h"
#include "analysis/nsys/nsys_kernels.h"
#include "nsys_export.h"
#include "support.h"

#define SESSION INT64_C(1700000000000000000)

static char *place;

static int begin(void **state)
{
    (void)state;
    place = tree_make();
    return 0;
}

static int end(void **state)
{
    (void)state;
    tree_remove(place);
    return 0;
}

static export_file export_named(const char *name)
{
    return export_open(tree_path(place, name));
}

// ---- domains ----

// A domain is a process's own: by number or by text, and of two names the first by time. Ranges tell theirs.
static void domains(void **state)
{
    static const struct {
        const char *of, *name;
        uint64_t count, total_ns;
    } rows[] = {{"PushPop", "io:read", 2, 900 + 100}, {"StartEnd", "io:read", 1, 800}, {"PushPop", "net:read", 1, 700},
                {"PushPop", "other:read", 1, 600},    {"PushPop", ":read", 1, 500},    {"StartEnd", ":write", 1, 400},
                {"PushPop", "io:write", 1, 300},      {"PushPop", ":", 1, 200}};
    nsys n;
    (void)state;
    if (!export_possible()) skip();
    export_file f = export_named("d.sqlite");
    const long long a = export_global(20), b = export_global(21);
    export_string(&f, 1, "io");
    export_string(&f, 2, "read");
    export_sql(
        &f,
        "CREATE TABLE NVTX_EVENTS (start INT, end INT, eventType INT, text TEXT, textId INT, domainId INT, "
        "globalTid INT); INSERT INTO NVTX_EVENTS VALUES"
        "(7, NULL, 75, 'late', NULL, 1, %lld), (5, NULL, 75, NULL, 1, 1, %lld), (6, NULL, 75, 'net', NULL, 2, %lld),"
        "(6, NULL, 75, 'other', NULL, 1, %lld), (6, NULL, 75, NULL, NULL, 4, %lld), (6, NULL, 75, 'x', NULL, NULL, 1),"
        "(0, 900, 59, NULL, 2, 1, %lld), (0, 100, 70, NULL, 2, 1, %lld), (0, 800, 60, NULL, 2, 1, %lld),"
        "(0, 700, 59, NULL, 2, 2, %lld), (0, 600, 59, NULL, 2, 1, %lld), (0, 500, 59, NULL, 2, 3, %lld),"
        "(0, 400, 71, 'write', NULL, NULL, %lld), (0, 300, 59, 'write', NULL, 1, %lld),"
        "(0, 200, 59, NULL, NULL, 4, %lld), (0, 999, 34, 'mark', NULL, 1, %lld)",
        a, a, a, b, a, a, a, a, a, b, a, a, a, a, a);
    export_close(&f);
    assert_int_equal(nsys_read(&n, tree_path(place, "d.sqlite"), NULL, NULL), NETPROF_OK);
    const nsys_table *t = &n.tables[NSYS_NVTX];
    assert_int_equal(t->row_count, COUNT(rows));
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_string_equal(t->rows[i].name, rows[i].name);
        assert_string_equal(t->rows[i].of, rows[i].of);
        assert_int_equal(t->rows[i].count, rows[i].count);
        assert_int_equal(t->rows[i].total, rows[i].total_ns);
    }
    const nsys_table *started = nsys_table_of(&n, NSYS_NVTX_STARTEND), *pushed = nsys_table_of(&n, NSYS_NVTX_PUSHPOP);
    assert_int_equal(started->count, 2);
    assert_int_equal(started->total, 800 + 400);
    assert_int_equal(pushed->count, 7);
    assert_int_equal(pushed->total, 1000 + 700 + 600 + 500 + 300 + 200);
    assert_null(started->rows[0].of);
    nsys_free(&n);
}

// ---- the world ----

enum { BARRIERS = 6 };

// Of a job in which each rank is on a host of its own; world: the size of the largest communicator that the file lists.
static void put_rank(const char *name, int rank, int world)
{
    char host[8];
    export_file f = export_named(name);
    snprintf(host, sizeof host, "h%d", rank);
    export_session(&f, host, SESSION + rank);
    export_string(&f, 1, "MPI_Barrier");
    for (int i = 0; i < BARRIERS; i++)
        export_collective(&f, 100 + rank, 1, 1000000 * (i + 1), 5000, 1);
    export_rank(&f, 100 + rank, rank);
    if (world)
        export_sql(&f,
                   "CREATE TABLE MPI_COMMUNICATORS (rank INT, commHandle INT, size INT);"
                   "INSERT INTO MPI_COMMUNICATORS VALUES (%d, 7, %d)",
                   rank, world);
    export_close(&f);
}

// Clocks are compared by collectives of all: where files tell worlds of one size, which hold all their ranks, or none.
static void one_world(void **state)
{
    static const struct {
        int ranks[3], worlds[3];
        bool is;
    } rows[] = {{{0, 1, 2}, {0, 0, 0}, true},  {{0, 1, 2}, {3, 3, 3}, true},  {{0, 1, 2}, {3, 4, 3}, false},
                {{0, 1, 2}, {3, 3, 2}, false}, {{0, 1, 3}, {3, 3, 3}, false}, {{0, 1, 3}, {4, 4, 4}, true},
                {{4, 1, 2}, {3, 3, 3}, false}};
    (void)state;
    if (!export_possible()) skip();
    for (size_t i = 0; i < COUNT(rows); i++) {
        char names[3][20];
        const char *paths[3];
        nsys_job job;
        for (int k = 0; k < 3; k++) {
            snprintf(names[k], sizeof names[k], "%zu-%d.sqlite", i, k);
            put_rank(names[k], rows[i].ranks[k], rows[i].worlds[k]);
            paths[k] = tree_path(place, names[k]);
        }
        assert_int_equal(nsys_job_read(&job, paths, 3, NULL, NULL), NETPROF_OK);
        assert_true(job.placed);
        if ((job.meetings == BARRIERS) != rows[i].is) fail_msg("case %zu: %zu: %s", i, job.meetings, job.clock_text);
        if (!rows[i].is) assert_int_equal(job.meetings, 0);
        nsys_job_free(&job);
    }
}

// ---- files that cannot be read to the end ----

static void expect_failed(const char *name, netprof_err code, const char *text)
{
    nsys n;
    netprof_error error = {.text = ""};
    const char *path = tree_path(place, name);
    assert_int_equal(nsys_read(&n, path, NULL, &error), code);
    assert_int_equal(error.code, code);
    assert_string_equal(error.path, path);
    assert_string_equal(error.text, text);
    assert_null(n.path);
    assert_int_equal(nsys_read(&n, path, NULL, NULL), code);
}

static void in_the_middle(void **state)
{
    enum { ROWS = 2000, PAGE = 4096 };
    char page[PAGE];
    (void)state;
    if (!export_possible()) skip();
    export_file f = export_named("columns.sqlite");
    export_string(&f, 1, "call");
    for (int i = 0; i < 10; i++)
        export_call(&f, "CUPTI_ACTIVITY_KIND_RUNTIME", 20, 1, i, 5);
    export_sql(&f, "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (begin INT, end INT)");
    export_close(&f);
    expect_failed("columns.sqlite", NETPROF_ERR_FORMAT,
                  "the table CUPTI_ACTIVITY_KIND_KERNEL has other columns than those known");
    f = export_named("none.sqlite");
    export_sql(&f, "DROP TABLE StringIds; CREATE TABLE mine (x INT)");
    export_close(&f);
    expect_failed("none.sqlite", NETPROF_ERR_FORMAT, "holds no table of Nsight Systems (nsys export --type sqlite)");
    // The last page holds calls, and is overwritten.
    f = export_named("damaged.sqlite");
    for (int i = 0; i < ROWS; i++)
        export_call(&f, "OSRT_API", 20, 1, i, 5);
    export_close(&f);
    int fd = open(tree_path(place, "damaged.sqlite"), O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    off_t size = lseek(fd, 0, SEEK_END);
    memset(page, 0xff, sizeof page);
    assert_true(size > 4 * PAGE && pwrite(fd, page, sizeof page, size - PAGE) == PAGE);
    close(fd);
    expect_failed("damaged.sqlite", NETPROF_ERR_DAMAGED, "OSRT_API: database disk image is malformed");
}

// ---- kernels, one by one ----

enum { KERNELS = 3 };

typedef struct taken {
    nsys_kernel items[KERNELS];
    char names[KERNELS][20];
    size_t count, most;
} taken;

static bool take_kernel(void *user, const nsys_kernel *k)
{
    taken *to = user;
    assert_true(to->count < KERNELS);
    to->items[to->count] = *k;
    snprintf(to->names[to->count], sizeof to->names[0], "%s", k->name);
    return ++to->count < to->most;
}

static void expect_kernels(const char *name, const nsys_kernel *rows, size_t count, size_t most)
{
    taken t = {.most = most};
    assert_int_equal(nsys_kernels_read(tree_path(place, name), take_kernel, &t, NULL), NETPROF_OK);
    assert_int_equal(t.count, count);
    for (size_t i = 0; i < count; i++) {
        const nsys_kernel *x = &t.items[i], *y = &rows[i];
        assert_string_equal(t.names[i], y->name);
        assert_int_equal(x->nccl, y->nccl);
        assert_true(x->device == y->device && x->stream == y->stream && x->pid == y->pid);
        assert_true(x->begin_ns == y->begin_ns && x->end_ns == y->end_ns);
    }
}

// In the file's order, without those whose time cannot be; what a version's file does not have is not told.
static void kernels_in_order(void **state)
{
    static const nsys_kernel full[] = {{"gemm", false, 3, 7, 20, 500, 600},
                                       {"ncclDevKernel", true, 4, 8, 21, 100, 100},
                                       {"kernel", false, -1, -1, -1, 0, 9}},
                             bare[] = {{"kernel", false, -1, -1, -1, 5, 6}};
    (void)state;
    if (!export_possible()) skip();
    export_file f = export_named("k.sqlite");
    export_string(&f, 1, "gemm");
    export_string(&f, 2, "ncclDevKernel");
    export_sql(
        &f,
        "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, streamId INT, globalPid INT, "
        "shortName INT); INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (500, 600, 3, 7, %lld, 1), (-1, 5, 3, 7, 1, 1),"
        "(100, 100, 4, 8, %lld, 2), (20, 19, 3, 7, 1, 1), ('x', 5, 3, 7, 1, 1), (5, NULL, 3, 7, 1, 1), "
        "(0, 9, NULL, NULL, NULL, 99)",
        export_global(20), export_global(21));
    export_close(&f);
    expect_kernels("k.sqlite", full, 3, 99);
    expect_kernels("k.sqlite", full, 2, 2);
    f = export_named("bare.sqlite");
    export_sql(&f,
               "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT); INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL "
               "VALUES (5, 6)");
    export_close(&f);
    expect_kernels("bare.sqlite", bare, 1, 99);
    f = export_named("none.sqlite");
    export_close(&f);
    expect_kernels("none.sqlite", NULL, 0, 99);
    assert_int_equal(nsys_kernels_read(tree_path(place, "gone"), take_kernel, NULL, NULL), NETPROF_ERR_IO);
}

// ---- reports ----

static void reports(void **state)
{
    static const struct {
        const char *name;
        bool is;
    } rows[] = {{"a.nsys-rep", true}, {"a.QDREP", true},    {"a.qdstrm", true}, {"a.sqlite", false},
                {".nsys-rep", true},  {"a.nsys-re", false}, {"nsys-rep", false}};
    nsys n;
    netprof_error error;
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_false(nsys_is_report(tree_path(place, rows[i].name))); // nothing is there
        tree_write(place, rows[i].name, "not an export at all");
        assert_int_equal(nsys_is_report(tree_path(place, rows[i].name)), rows[i].is);
        assert_false(nsys_in_file(tree_path(place, rows[i].name)));
    }
    assert_int_equal(nsys_read(&n, tree_path(place, "a.nsys-rep"), NULL, &error), NETPROF_ERR_FORMAT);
    assert_string_equal(error.text, NSYS_EXPORT_FIRST);
    tree_write_bytes(place, "b.nsys-rep", "SQLite format 3", 16);
    assert_false(nsys_is_report(tree_path(place, "b.nsys-rep"))); // its name is wrong
    assert_true(nsys_in_file(tree_path(place, "b.nsys-rep")));
    tree_write_bytes(place, "b.nsys-rep", "SQLite format 3", 15);
    assert_false(nsys_in_file(tree_path(place, "b.nsys-rep")));
    assert_int_equal(nsys_read(&n, "x", &(nsys_options){.bins = 100001}, &error), NETPROF_ERR_ARG);
    assert_string_equal(error.text, "the options are not valid");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(domains, begin, end),
        cmocka_unit_test_setup_teardown(one_world, begin, end),
        cmocka_unit_test_setup_teardown(in_the_middle, begin, end),
        cmocka_unit_test_setup_teardown(kernels_in_order, begin, end),
        cmocka_unit_test_setup_teardown(reports, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

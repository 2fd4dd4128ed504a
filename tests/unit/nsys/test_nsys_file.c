// One export of Nsight Systems: how busy each GPU was, by counting nanoseconds one by one; what events, GPUs, processes
// and ranges are called; which barriers are of all ranks; and the file as JSON.
#define _GNU_SOURCE // nftw
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/nsys/nsys.h"
#include "nsys_export.h"
#include "support.h"

#include <math.h>

enum { PID = 20 };

typedef struct one_file {
    char *tree;
    const char *path;
    export_file f;
    nsys n;
} one_file;

static bool begun(one_file *x)
{
    *x = (one_file){.tree = export_possible() ? tree_make() : NULL};
    if (!x->tree) {
        print_message("no libsqlite3.so.0\n");
        return false;
    }
    x->path = tree_path(x->tree, "a.sqlite");
    x->f = export_open(x->path);
    return true;
}

static void read_file(one_file *x, size_t bins)
{
    netprof_error error = {.text = ""};
    export_close(&x->f);
    if (nsys_read(&x->n, x->path, &(nsys_options){.bins = bins}, &error)) fail_msg("%s: %s", error.path, error.text);
}

static void ended(one_file *x)
{
    nsys_free(&x->n);
    tree_remove(x->tree);
}

static void near(double a, double b)
{
    if (!(fabs(a - b) <= 1e-9)) fail_msg("%.17g is not %.17g", a, b);
}

// ---- how busy ----

enum { FROM = 1000, LENGTH = 480, BINS = 8, BIN = LENGTH / BINS };

typedef struct span {
    int device, begin, ns; // since FROM
    enum { GEMM = 1, NCCL, COPY } what;
} span;

// Unsorted, overlapping, one within another, touching; the second GPU has other times.
static const span spans[] = {{0, 0, 50, GEMM},   {0, 100, 40, GEMM}, {0, 30, 40, GEMM},  {0, 110, 10, GEMM},
                             {0, 140, 25, NCCL}, {0, 400, 80, GEMM}, {0, 20, 5, COPY},   {0, 200, 90, COPY},
                             {0, 250, 30, COPY}, {0, 90, 5, NCCL},   {1, 300, 61, GEMM}, {1, 60, 60, NCCL},
                             {1, 59, 2, COPY},   {1, 0, 1, GEMM},    {1, 479, 1, COPY}};

static bool covers(const span *s, int device, int what, int at)
{
    bool kind = what == NSYS_BUSY_MEMORY ? s->what == COPY : what == NSYS_BUSY_NCCL ? s->what == NCCL : s->what != COPY;
    return kind && s->device == device && at >= s->begin && at < s->begin + s->ns;
}

static int counted(int device, int what, int begin, int end)
{
    int count = 0;
    for (int at = begin; at < end; at++) {
        bool busy = false;
        for (size_t i = 0; i < COUNT(spans); i++)
            busy |= covers(&spans[i], device, what, at);
        count += busy;
    }
    return count;
}

static void check_columns(const nsys *n, const nsys_gpu *gpu, int what)
{
    double columns[12];
    // Two bins before the file's time, half a bin wide from there; and one after its end.
    nsys_busy_columns(n, gpu, what, FROM - 2 * BIN, FROM + 4 * BIN, columns, 12);
    for (int i = 0; i < 12; i++) {
        int bin = i / 2 - 2;
        if (bin < 0)
            assert_true(isnan(columns[i]));
        else
            near(columns[i], gpu->busy[what][bin]);
    }
    nsys_busy_columns(n, gpu, what, FROM, FROM + 10 * BIN, columns, 5);
    for (int i = 0; i < 4; i++)
        near(columns[i], (gpu->busy[what][2 * i] + gpu->busy[what][2 * i + 1]) / 2);
    assert_true(isnan(columns[4]));
    // Of a column that the file covers in part, the part that it covers.
    nsys_busy_columns(n, gpu, what, FROM - BIN, FROM + BIN, columns, 1);
    near(columns[0], gpu->busy[what][0]);
    nsys_busy_columns(n, gpu, what, FROM + 7 * BIN, FROM + 10 * BIN, columns, 1);
    near(columns[0], gpu->busy[what][7]);
}

static void time_counts_once(void **state)
{
    one_file x;
    (void)state;
    if (!begun(&x)) skip();
    export_string(&x.f, GEMM, "gemm");
    export_string(&x.f, NCCL, "ncclDevKernel_AllReduce");
    // Which of them these are is not told, but all are of one kind.
    export_sql(&x.f, "CREATE TABLE TARGET_INFO_GPU (id INT, name TEXT, busLocation TEXT);"
                     "INSERT INTO TARGET_INFO_GPU VALUES (8, 'H100', '0000:08:00.0'), (9, 'H100', '0000:09:00.0')");
    for (size_t i = 0; i < COUNT(spans); i++)
        if (spans[i].what == COPY)
            export_copy(&x.f, PID, spans[i].device, 1, FROM + spans[i].begin, spans[i].ns, 64);
        else
            export_kernel(&x.f, PID, spans[i].device, (int)spans[i].what, FROM + spans[i].begin, spans[i].ns);
    read_file(&x, BINS);
    assert_int_equal(x.n.begin_ns, FROM);
    assert_int_equal(x.n.end_ns, FROM + LENGTH);
    assert_int_equal(x.n.bin_count, BINS);
    for (size_t i = 0; i <= BINS + 1; i++)
        assert_int_equal(nsys_bin_begin(&x.n, i), FROM + (i < BINS ? (int)i * BIN : LENGTH));
    assert_int_equal(x.n.gpu_count, 2);
    for (int device = 0; device < 2; device++)
        for (int what = 0; what < NSYS_BUSY; what++) {
            const nsys_gpu *gpu = &x.n.gpus[device];
            assert_int_equal(gpu->device, device);
            assert_int_equal(gpu->pid, -1); // its number needs no process beside it
            assert_string_equal(gpu->name, "H100");
            assert_null(gpu->bus);
            assert_int_equal(gpu->busy_ns[what], counted(device, what, 0, LENGTH));
            for (int i = 0; i < BINS; i++)
                near(gpu->busy[what][i], (double)counted(device, what, i * BIN, (i + 1) * BIN) / BIN);
            check_columns(&x.n, gpu, what);
        }
    ended(&x);
}

// ---- names ----

static void names_of_events(void **state)
{
    static const struct {
        const char *written, *shown;
    } calls[] = {{"cudaLaunchKernel_v7000", "cudaLaunchKernel"},
                 {"x_v1234", "x"},
                 {"_v1234", "_v1234"}, // nothing would be left
                 {"odd_v12x4", "odd_v12x4"},
                 {"long_v12345", "long_v12345"},
                 {"other_w1234", "other_w1234"},
                 {"minus-v1234", "minus-v1234"},
                 {"last_v123x", "last_v123x"}};
    one_file x;
    (void)state;
    if (!begun(&x)) skip();
    for (size_t i = 0; i < COUNT(calls); i++) {
        export_string(&x.f, (int)i + 1, calls[i].written);
        export_call(&x.f, "CUPTI_ACTIVITY_KIND_RUNTIME", PID, (int)i + 1, 100, (long long)(100 - i));
    }
    export_call(&x.f, "OSRT_API", PID, 77, 0, 5); // a string that is not there
    for (int kind = -1; kind <= 14; kind++)
        export_copy(&x.f, PID, 0, kind, 1000 * kind + 2000, 100 - kind, 1);
    read_file(&x, 0);
    const nsys_table *t = &x.n.tables[NSYS_API];
    assert_int_equal(t->row_count, COUNT(calls));
    for (size_t i = 0; i < COUNT(calls); i++)
        assert_string_equal(t->rows[i].name, calls[i].shown);
    assert_string_equal(x.n.tables[NSYS_OSRT].rows[0].name, "(name 77)");
    t = &x.n.tables[NSYS_MEMORY_TIME];
    assert_int_equal(t->row_count, 16);
    assert_string_equal(t->rows[0].name, "[CUDA memcpy of kind -1]");
    assert_string_equal(t->rows[1].name, "[CUDA memcpy Unknown]");
    assert_string_equal(t->rows[2].name, "[CUDA memcpy Host-to-Device]");
    assert_string_equal(t->rows[9].name, "[CUDA memcpy Device-to-Device]");
    assert_string_equal(t->rows[14].name, "[CUDA memcpy Unified Device-to-Device]");
    assert_string_equal(t->rows[15].name, "[CUDA memcpy of kind 14]");
    assert_int_equal(x.n.bin_count, 120); // as documented, where none are asked for
    ended(&x);
}

// Numbers that the file explains; and processes, by rank and then by their number, those without a rank last.
static void gpus_and_processes(void **state)
{
    static const int pids[] = {33, 21, 40, 22}, ranks[] = {1, -1, 0, -1};
    static const int order[] = {40, 33, 21, 22};
    one_file x;
    (void)state;
    if (!begun(&x)) skip();
    export_string(&x.f, GEMM, "gemm");
    export_sql(&x.f, "CREATE TABLE TARGET_INFO_GPU (id INT, name TEXT, busLocation TEXT);"
                     "INSERT INTO TARGET_INFO_GPU VALUES (5, 'A', '0000:05:00.0'), (6, 'B', '0000:06:00.0'), "
                     "(7, 'C', '0000:07:00.0');"
                     "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INT, cudaId INT, pid INT);"
                     "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (6, 0, 33), (5, 0, 40), (7, 1, 40)");
    for (size_t i = 0; i < COUNT(pids); i++) {
        export_kernel(&x.f, pids[i], 0, GEMM, 0, 10 + (long long)i);
        if (ranks[i] >= 0) export_rank(&x.f, pids[i], ranks[i]);
    }
    export_kernel(&x.f, 40, 1, GEMM, 0, 99);
    read_file(&x, 4);
    assert_int_equal(x.n.process_count, COUNT(order));
    for (size_t i = 0; i < COUNT(order); i++)
        assert_int_equal(x.n.processes[i].pid, order[i]);
    assert_int_equal(x.n.processes[0].rank, 0);
    assert_int_equal(x.n.processes[3].rank, -1);
    assert_int_equal(x.n.processes[0].spent_ns[NSYS_SPENT_KERNELS], 12 + 99);
    // Two processes call theirs 0, and nothing tells which these are; three are known.
    static const struct {
        int device, pid, busy;
        const char *name, *bus;
    } gpus[] = {{0, 21, 11, NULL, NULL},
                {0, 22, 13, NULL, NULL},
                {5, -1, 12, "A", "0000:05:00.0"},
                {6, -1, 10, "B", "0000:06:00.0"},
                {7, -1, 99, "C", "0000:07:00.0"}};
    assert_int_equal(x.n.gpu_count, COUNT(gpus));
    for (size_t i = 0; i < COUNT(gpus); i++) {
        const nsys_gpu *gpu = &x.n.gpus[i];
        assert_int_equal(gpu->device, gpus[i].device);
        assert_int_equal(gpu->pid, gpus[i].pid);
        assert_int_equal(gpu->busy_ns[NSYS_BUSY_KERNELS], gpus[i].busy);
        if (gpus[i].name) {
            assert_string_equal(gpu->name, gpus[i].name);
            assert_string_equal(gpu->bus, gpus[i].bus);
        } else {
            assert_null(gpu->name);
            assert_null(gpu->bus);
        }
    }
    ended(&x);
}

// ---- barriers ----

// Those of the largest communicator are meetings; others, and handles that were of two sizes, are not.
static void barriers_of_all(void **state)
{
    one_file x;
    (void)state;
    if (!begun(&x)) skip();
    export_string(&x.f, 1, "MPI_Barrier");
    export_string(&x.f, 2, "MPI_Allreduce");
    export_string(&x.f, 3, "MPI_Bcast");
    export_rank(&x.f, PID, 2);
    export_sql(&x.f, "CREATE TABLE MPI_COMMUNICATORS (rank INT, commHandle INT, size INT);"
                     "INSERT INTO MPI_COMMUNICATORS VALUES (2, 1000, 8), (2, 1001, 2), (2, 1002, 8), (2, 1002, 4), "
                     "(3, 1001, 8), (2, 1003, 0);"
                     "CREATE TABLE MPI_COLLECTIVES_EVENTS (" EXPORT_MPI ", commHandle INT)");
    static const int events[][2] = {{1, 1000}, {1, 1001}, {2, 1000}, {1, 1000}, {1, 1002}, {3, 1000}, {1, 1000}};
    for (size_t i = COUNT(events); i-- > 0;) // in no order: they are counted by time
        export_sql(&x.f, "INSERT INTO MPI_COLLECTIVES_EVENTS VALUES (%zu, %zu, %lld, %d, %d)", 100 * i,
                   100 * i + 10 + i, export_global(PID), events[i][0], events[i][1]);
    read_file(&x, 0);
    assert_int_equal(x.n.ranks, 8);
    assert_int_equal(x.n.rounds[0], 3);
    assert_int_equal(x.n.rounds[1], 1);
    assert_int_equal(x.n.rounds[2] + x.n.rounds[3], 0);
    static const int meetings[][3] = {{0, 0, 0}, {1, 0, 2}, {0, 1, 3}, {0, 2, 6}}; // kind, round, event
    assert_int_equal(x.n.meeting_count, COUNT(meetings));
    for (size_t i = 0; i < COUNT(meetings); i++) {
        assert_int_equal(x.n.meetings[i].kind, meetings[i][0]);
        assert_int_equal(x.n.meetings[i].round, meetings[i][1]);
        assert_int_equal(x.n.meetings[i].begin_ns, 100 * meetings[i][2]);
        assert_int_equal(x.n.meetings[i].end_ns, 101 * meetings[i][2] + 10);
    }
    ended(&x);
}

// ---- JSON ----

static json_object *at(json_object *o, const char *path)
{
    json_object *found = NULL;
    if (json_pointer_get(o, path, &found)) fail_msg("no %s", path);
    return found;
}

static void as_json(void **state)
{
    static const struct {
        const char *path;
        double value;
    } numbers[] = {{"/begin_ns", 1700000000e9},
                   {"/tables/cuda_gpu_kern_sum/count", 2},
                   {"/tables/cuda_gpu_kern_sum/total_ns", 400},
                   {"/tables/cuda_gpu_kern_sum/rows_left_out", 1},
                   {"/tables/cuda_gpu_kern_sum/rows/0/share", 1},
                   {"/tables/cuda_gpu_kern_sum/rows/0/count", 2},
                   {"/tables/cuda_gpu_kern_sum/rows/0/total_ns", 400},
                   {"/tables/cuda_gpu_kern_sum/rows/0/mean_ns", 200},
                   {"/tables/cuda_gpu_kern_sum/rows/0/median_ns", 200},
                   {"/tables/cuda_gpu_kern_sum/rows/0/min_ns", 100},
                   {"/tables/cuda_gpu_kern_sum/rows/0/max_ns", 300},
                   {"/tables/cuda_gpu_mem_size_sum/rows/0/total_bytes", 4096},
                   {"/tables/cuda_gpu_mem_size_sum/total_bytes", 4096},
                   {"/tables/nvtx_sum/unended", 1},
                   {"/busy/bin_begins_ns/1", 1700000000e9 + 200},
                   {"/busy/end_ns", 1700000000e9 + 400},
                   {"/busy/gpus/0/gpu", 3},
                   {"/busy/gpus/0/kernels/busy_ns", 400},
                   {"/busy/gpus/0/kernels/shares/1", 1},
                   {"/busy/gpus/0/nccl_kernels/busy_ns", 0},
                   {"/busy/gpus/0/memory_operations/busy_ns", 50},
                   {"/busy/gpus/0/memory_operations/shares/0", 0.25}};
    static const struct {
        const char *path, *text;
    } texts[] = {{"/host", "node-a"},
                 {"/nsys_version", "2025.1"},
                 {"/tables/cuda_gpu_kern_sum/title", "CUDA kernels"},
                 {"/tables/cuda_gpu_kern_sum/rows/0/name", "gemm"},
                 {"/tables/cuda_gpu_kern_sum/rows/0/nccl", "false"},
                 {"/tables/nvtx_sum/rows/0/of", "PushPop"},
                 {"/tables_not_read/0", "GPU_METRICS"},
                 {"/tables_not_read/1", "SCHED_EVENTS"},
                 {"/busy/clock", "ns since 1970-01-01 UTC"},
                 {"/busy/gpus/0/name", "H100"},
                 {"/busy/gpus/0/bus", "0000:41:00.0"}};
    bool chosen[NSYS_TABLES] = {
        [NSYS_KERNELS] = true, [NSYS_MEMORY_SIZE] = true, [NSYS_NVTX] = true, [NSYS_MPI] = true};
    one_file x;
    json_object *missing;
    (void)state;
    if (!begun(&x)) skip();
    export_session(&x.f, "node-a", 1700000000000000000);
    export_string(&x.f, GEMM, "gemm");
    export_kernel(&x.f, PID, 3, GEMM, 0, 100);
    export_kernel(&x.f, PID, 3, GEMM, 100, 300);
    export_kernel(&x.f, PID, 3, GEMM, 9, -1);
    export_copy(&x.f, PID, 3, 1, 0, 50, 4096);
    export_call(&x.f, "OSRT_API", PID, GEMM, 0, 5);
    export_range(&x.f, PID, 59, "open", 0, -1);
    export_range(&x.f, PID, 59, "open", 0, 100);
    export_sql(&x.f, "CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);"
                     "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA', '9'), ('EXPORT_PRODUCT_VERSION', '2025.1');"
                     "CREATE TABLE TARGET_INFO_GPU (id INT, name TEXT, busLocation TEXT);"
                     "INSERT INTO TARGET_INFO_GPU VALUES (3, 'H100', '0000:41:00.0');"
                     "CREATE TABLE GPU_METRICS (v INT); INSERT INTO GPU_METRICS VALUES (1);"
                     "CREATE TABLE NET_NIC_METRIC (v INT);" // empty: nothing is missed
                     "CREATE TABLE SCHED_EVENTS (v INT); INSERT INTO SCHED_EVENTS VALUES (1)");
    read_file(&x, 2);
    json_object *o = nsys_json(&x.n, chosen);
    for (size_t i = 0; i < COUNT(numbers); i++)
        if (json_object_get_double(at(o, numbers[i].path)) != numbers[i].value)
            fail_msg("%s: %s", numbers[i].path, json_object_get_string(at(o, numbers[i].path)));
    for (size_t i = 0; i < COUNT(texts); i++)
        assert_string_equal(json_object_get_string(at(o, texts[i].path)), texts[i].text);
    near(json_object_get_double(at(o, "/tables/cuda_gpu_kern_sum/rows/0/deviation_ns")), sqrt(2 * 100.0 * 100));
    assert_string_equal(json_object_get_string(at(o, "/file")), x.path);
    assert_int_equal(json_object_array_length(at(o, "/tables_not_read")), 2);
    assert_false(json_object_object_get_ex(at(o, "/tables"), "osrt_sum", &missing));      // not chosen
    assert_false(json_object_object_get_ex(at(o, "/tables"), "mpi_event_sum", &missing)); // not there
    json_object_put(o);
    ended(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_counts_once), cmocka_unit_test(names_of_events), cmocka_unit_test(gpus_and_processes),
        cmocka_unit_test(barriers_of_all),  cmocka_unit_test(as_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

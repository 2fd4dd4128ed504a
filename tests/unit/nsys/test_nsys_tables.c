// Tables of Nsight Systems' exports, of each file and of all together: every figure of every row by arithmetic on the
// events that were put into the files, in which names, counts and lengths are unlike.
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

enum { FILES = 3, PID = 20 };

// An event: of a copy or a message also so many bytes.
typedef struct sample {
    nsys_kind kind;
    size_t file;
    const char *name;
    uint64_t ns, bytes;
    const char *of;
} sample;

#define S *UINT64_C(1000000000)

static const sample samples[] = {
    {NSYS_KERNELS, 0, "gemm", 100, 0, NULL},
    {NSYS_KERNELS, 0, "gemm", 300, 0, NULL},
    {NSYS_KERNELS, 1, "gemm", 50, 0, NULL},
    {NSYS_KERNELS, 0, "ncclDevKernel_AllReduce", 1000, 0, NULL},
    {NSYS_KERNELS, 1, "ncclDevKernel_AllReduce", 5 S, 0, NULL},
    {NSYS_KERNELS, 1, "ncclDevKernel_AllReduce", 6 S, 0, NULL},
    {NSYS_KERNELS, 2, "ncclDevKernel_AllReduce", 4294967295, 0, NULL}, // the first that is wide
    {NSYS_KERNELS, 2, "ncclDevKernel_AllReduce", 4294967294, 0, NULL}, // the last that is not
    {NSYS_KERNELS, 2, "scan", 20, 0, NULL},
    {NSYS_KERNELS, 2, "scan", 30, 0, NULL},
    {NSYS_KERNELS, 2, "scan", 45, 0, NULL},
    {NSYS_API, 0, "cudaLaunchKernel", 7, 0, NULL},
    {NSYS_API, 0, "cudaMemcpyAsync", 11, 0, NULL},
    {NSYS_API, 2, "cudaLaunchKernel", 13, 0, NULL},
    {NSYS_API, 2, "cudaLaunchKernel", 17, 0, NULL},
    {NSYS_OSRT, 1, "poll", 4 S, 0, NULL},
    {NSYS_OSRT, 1, "poll", 5 S, 0, NULL},
    {NSYS_OSRT, 2, "ioctl", 3, 0, NULL},
    {NSYS_OSRT, 2, "poll", 9, 0, NULL},
    {NSYS_MEMORY_TIME, 0, "[CUDA memcpy Host-to-Device]", 60, 4096, NULL},
    {NSYS_MEMORY_TIME, 0, "[CUDA memcpy Device-to-Host]", 80, 100, NULL},
    {NSYS_MEMORY_TIME, 1, "[CUDA memcpy Host-to-Device]", 90, 9 S, NULL},
    {NSYS_MEMORY_TIME, 1, "[CUDA memcpy Host-to-Device]", 10, 8 S, NULL},
    {NSYS_MEMORY_TIME, 2, "[CUDA memcpy Device-to-Host]", 70, 300, NULL},
    {NSYS_MPI, 0, "MPI_Bcast", 500, 1000, "coll"},
    {NSYS_MPI, 0, "MPI_Reduce", 501, 10, "coll"},
    {NSYS_MPI, 0, "MPI_Reduce", 503, 30, "coll"},
    {NSYS_MPI, 1, "MPI_Bcast", 507, 5000, "coll"},
    {NSYS_MPI, 2, "MPI_Reduce", 509, 70, "coll"},
    {NSYS_NVTX, 0, ":step", 1000, 0, "PushPop"},
    {NSYS_NVTX, 0, ":step", 900, 0, "StartEnd"},
    {NSYS_NVTX, 1, ":step", 800, 0, "StartEnd"},
    {NSYS_NVTX, 1, ":step", 850, 0, "StartEnd"},
    {NSYS_NVTX, 1, ":load", 1, 0, "PushPop"},
    {NSYS_NVTX, 2, ":load", 2, 0, "PushPop"},
};

static int string_of(const sample *s)
{
    return (int)(s - samples) + 1;
}

static void put_sample(export_file *f, const sample *s, long long begin)
{
    int name = string_of(s);
    long long ns = (long long)s->ns;
    export_string(f, name, s->name);
    switch ((int)s->kind) {
    case NSYS_KERNELS: export_kernel(f, PID, 0, name, begin, ns); break;
    case NSYS_API: export_call(f, "CUPTI_ACTIVITY_KIND_RUNTIME", PID, name, begin, ns); break;
    case NSYS_OSRT: export_call(f, "OSRT_API", PID, name, begin, ns); break;
    case NSYS_MEMORY_TIME:
        export_copy(f, PID, 0, strstr(s->name, "Host-to") ? 1 : 2, begin, ns, (long long)s->bytes);
        break;
    case NSYS_MPI: export_collective(f, PID, name, begin, ns, (long long)s->bytes); break;
    default: export_range(f, PID, strcmp(s->of, "PushPop") ? 60 : 59, s->name + 1, begin, ns);
    }
}

static void write_files(const char *tree, const char *paths[FILES], char names[FILES][200])
{
    for (size_t i = 0; i < FILES; i++) {
        snprintf(names[i], sizeof names[i], "%s/%zu.sqlite", tree, i);
        paths[i] = names[i];
        export_file f = export_open(paths[i]);
        for (size_t k = 0; k < COUNT(samples); k++)
            if (samples[k].file == i) put_sample(&f, &samples[k], (long long)k * 1000);
        export_close(&f);
    }
}

// ---- the reference ----

typedef struct expected {
    uint64_t values[COUNT(samples)], count, total, min, max;
    double mean, median, deviation;
} expected;

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static bool is_size(nsys_kind kind)
{
    return kind == NSYS_MEMORY_SIZE || kind == NSYS_MPI_SIZE;
}

// Is the sample one of this table, of this file (FILES: of all)?
static bool belongs(const sample *s, nsys_kind kind, size_t file)
{
    nsys_kind of = kind == NSYS_MEMORY_SIZE ? NSYS_MEMORY_TIME : kind == NSYS_MPI_SIZE ? NSYS_MPI : kind;
    if (kind == NSYS_GPU && (s->kind == NSYS_KERNELS || s->kind == NSYS_MEMORY_TIME)) of = s->kind;
    if (kind == NSYS_NVTX_PUSHPOP || kind == NSYS_NVTX_STARTEND) {
        of = NSYS_NVTX;
        if (s->kind == of && (strcmp(s->of, "PushPop") == 0) != (kind == NSYS_NVTX_PUSHPOP)) return false;
    }
    return s->kind == of && (file == FILES || s->file == file);
}

static const char *style_of(const sample *s, nsys_kind kind)
{
    if (kind == NSYS_MPI_SIZE) return "coll_send";
    if (kind == NSYS_GPU) return s->kind == NSYS_KERNELS ? "CUDA_KERNEL" : "MEMORY_OPER";
    return kind == NSYS_NVTX_PUSHPOP || kind == NSYS_NVTX_STARTEND ? NULL : s->of;
}

static bool same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : !a && !b;
}

static expected expect(nsys_kind kind, size_t file, const char *name, const char *of)
{
    expected e = {.min = UINT64_MAX};
    for (size_t i = 0; i < COUNT(samples); i++) {
        const sample *s = &samples[i];
        if (!belongs(s, kind, file) || (name && (strcmp(s->name, name) != 0 || !same(style_of(s, kind), of)))) continue;
        uint64_t value = is_size(kind) ? s->bytes : s->ns;
        e.values[e.count++] = value;
        e.total += value;
        e.min = value < e.min ? value : e.min;
        e.max = value > e.max ? value : e.max;
    }
    if (!e.count) return e;
    e.mean = (double)e.total / (double)e.count;
    for (size_t i = 0; i < e.count; i++)
        e.deviation += ((double)e.values[i] - e.mean) * ((double)e.values[i] - e.mean);
    e.deviation = e.count > 1 ? sqrt(e.deviation / (double)(e.count - 1)) : 0;
    qsort(e.values, e.count, sizeof *e.values, by_value);
    e.median = ((double)e.values[e.count / 2] + (double)e.values[(e.count - 1) / 2]) / 2;
    return e;
}

static void near(const char *what, double a, double b)
{
    if (!(fabs(a - b) <= 1e-9 * fabs(b))) fail_msg("%s: %.17g is not %.17g", what, a, b);
}

// Every row of the table, of one file or of all (FILES).
static void check_table(const nsys_table *t, nsys_kind kind, size_t file)
{
    expected all = expect(kind, file, NULL, NULL);
    uint64_t counted = 0;
    bool ranges = kind == NSYS_NVTX_PUSHPOP || kind == NSYS_NVTX_STARTEND; // of either style
    assert_int_equal(t->present, ranges ? expect(NSYS_NVTX, file, NULL, NULL).count > 0 : all.count > 0);
    assert_string_equal(t->name, nsys_kind_name(kind));
    assert_string_equal(t->unit, is_size(kind) ? "bytes" : "ns");
    assert_int_equal(t->count, all.count);
    assert_int_equal(t->total, all.total);
    assert_int_equal(t->left_out, 0);
    assert_int_equal(t->unended, 0);
    for (size_t i = 0; i < t->row_count; i++) {
        const nsys_row *row = &t->rows[i];
        expected e = expect(kind, file, row->name, row->of);
        assert_true(e.count > 0);
        assert_int_equal(row->count, e.count);
        assert_int_equal(row->total, e.total);
        assert_int_equal(row->min, e.min);
        assert_int_equal(row->max, e.max);
        near("mean", row->mean, e.mean);
        near("median", row->median, e.median);
        near("deviation", row->deviation, e.deviation);
        near("share", row->share, (double)e.total / (double)all.total);
        assert_int_equal(row->nccl, (kind == NSYS_KERNELS || kind == NSYS_GPU) && strncmp(row->name, "nccl", 4) == 0);
        if (i) assert_true(row->total <= row[-1].total); // the largest first
        counted += row->count;
    }
    assert_int_equal(counted, all.count); // no name is missing, and none is there twice
}

static bool skipped(void)
{
    if (export_possible()) return false;
    print_message("no libsqlite3.so.0\n");
    return true;
}

static void every_figure_of_every_row(void **state)
{
    const char *paths[FILES];
    char names[FILES][200];
    nsys_job job = {0};
    (void)state;
    if (skipped()) skip();
    char *tree = tree_make();
    write_files(tree, paths, names);
    assert_int_equal(nsys_job_read(&job, paths, FILES, NULL, NULL), NETPROF_OK);
    assert_int_equal(job.file_count, FILES);
    for (int kind = 0; kind < NSYS_TABLES; kind++) {
        for (size_t i = 0; i < FILES; i++)
            check_table(nsys_table_of(&job.files[i], (nsys_kind)kind), (nsys_kind)kind, i);
        check_table(nsys_table_of(&job.together, (nsys_kind)kind), (nsys_kind)kind, FILES);
    }
    nsys_job_free(&job);
    tree_remove(tree);
}

// Names with the same total: by name, then by style.
static void rows_of_equal_totals(void **state)
{
    static const struct {
        const char *name;
        int type;
    } ranges[] = {{"b", 60}, {"c", 59}, {"b", 59}, {"a", 60}};
    static const char *const order[][2] = {
        {":a", "StartEnd"}, {":b", "PushPop"}, {":b", "StartEnd"}, {":c", "PushPop"}};
    nsys n = {0};
    (void)state;
    if (skipped()) skip();
    char *tree = tree_make();
    const char *path = tree_path(tree, "a.sqlite");
    export_file f = export_open(path);
    for (size_t i = 0; i < COUNT(ranges); i++)
        export_range(&f, PID, ranges[i].type, ranges[i].name, (long long)i * 10, 5);
    export_close(&f);
    assert_int_equal(nsys_read(&n, path, NULL, NULL), NETPROF_OK);
    assert_int_equal(n.tables[NSYS_NVTX].row_count, COUNT(order));
    for (size_t i = 0; i < COUNT(order); i++) {
        assert_string_equal(n.tables[NSYS_NVTX].rows[i].name, order[i][0]);
        assert_string_equal(n.tables[NSYS_NVTX].rows[i].of, order[i][1]);
        near("share", n.tables[NSYS_NVTX].rows[i].share, 0.25);
    }
    nsys_free(&n);
    tree_remove(tree);
}

// What is not plausible is counted, of each file and of all; ranges that never ended count to the last event of NVTX.
static void left_out_and_unended(void **state)
{
    static const int broken[2] = {1, 3}, open[2] = {2, 1};
    const char *paths[2];
    nsys_job job = {0};
    (void)state;
    if (skipped()) skip();
    char *tree = tree_make(), names[2][200];
    for (int i = 0; i < 2; i++) {
        snprintf(names[i], sizeof names[i], "%s/%d.sqlite", tree, i);
        paths[i] = names[i];
        export_file f = export_open(names[i]);
        export_string(&f, 1, "gemm");
        for (int k = 0; k < broken[i]; k++)
            export_kernel(&f, PID, 0, 1, 500 + k, -1); // ends before it begins
        export_kernel(&f, PID, 0, 1, 0, 0);            // no time at all: it is an event
        for (int k = 0; k < open[i]; k++)
            export_range(&f, PID, 59, "open", 100 + k, -1);
        export_range(&f, PID, 59, "last", 300, 600 + i);
        export_close(&f);
    }
    assert_int_equal(nsys_job_read(&job, paths, 2, NULL, NULL), NETPROF_OK);
    for (int i = 0; i < 3; i++) {
        const nsys_table *t = i < 2 ? job.files[i].tables : job.together.tables;
        assert_int_equal(t[NSYS_KERNELS].left_out, i < 2 ? broken[i] : 4);
        assert_int_equal(t[NSYS_KERNELS].count, i < 2 ? 1 : 2);
        assert_int_equal(t[NSYS_KERNELS].total, 0);
        assert_true(isnan(t[NSYS_KERNELS].rows[0].share));
        assert_int_equal(t[NSYS_NVTX].unended, i < 2 ? open[i] : 3);
        assert_int_equal(t[NSYS_NVTX].left_out, 0);
        assert_string_equal(t[NSYS_NVTX].rows[0].name, ":open");
    }
    // To 900 in the first file, from 100 and 101; to 901 in the second, from 100.
    assert_int_equal(job.files[0].tables[NSYS_NVTX].rows[0].total, 800 + 799);
    assert_int_equal(job.files[1].tables[NSYS_NVTX].rows[0].total, 801);
    assert_int_equal(job.together.tables[NSYS_NVTX].rows[0].total, 800 + 799 + 801);
    assert_int_equal(job.together.tables[NSYS_NVTX].rows[1].total, 600 + 601);
    const nsys_table *made = nsys_table_of(&job.files[0], NSYS_GPU);
    assert_int_equal(made->left_out, 1);
    nsys_job_free(&job);
    tree_remove(tree);
}

// Sums stay at their largest value, and the mean and the shares go on from the values.
static void sums_that_are_too_large(void **state)
{
    nsys n = {0};
    (void)state;
    if (skipped()) skip();
    char *tree = tree_make();
    const char *path = tree_path(tree, "a.sqlite");
    const double most = 9223372036854775807.0;
    export_file f = export_open(path);
    for (int i = 0; i < 4; i++)
        export_copy(&f, PID, 0, i == 3 ? 2 : 1, i, 1, INT64_MAX);
    export_close(&f);
    assert_int_equal(nsys_read(&n, path, NULL, NULL), NETPROF_OK);
    const nsys_table *t = &n.tables[NSYS_MEMORY_SIZE];
    assert_true(t->total == UINT64_MAX);
    assert_int_equal(t->row_count, 2);
    assert_true(t->rows[0].total == UINT64_MAX);
    near("mean", t->rows[0].mean, most);
    near("share", t->rows[0].share, 0.75);
    near("share", t->rows[1].share, 0.25);
    nsys_free(&n);
    tree_remove(tree);
}

static void names_of_tables(void **state)
{
    static const char *const names[NSYS_TABLES] = {
        "cuda_api_sum",   "cuda_gpu_kern_sum", "cuda_gpu_mem_time_sum", "cuda_gpu_mem_size_sum",
        "cuda_graph_sum", "nvtx_sum",          "mpi_event_sum",         "mpi_msg_size_sum",
        "osrt_sum",       "cuda_gpu_sum",      "nvtx_pushpop_sum",      "nvtx_startend_sum"};
    (void)state;
    for (int i = 0; i < NSYS_TABLES; i++) {
        assert_string_equal(nsys_kind_name((nsys_kind)i), names[i]);
        assert_int_equal(nsys_kind_named(names[i]), i);
    }
    assert_int_equal(nsys_kind_named("cuda_api"), NSYS_TABLES);
    assert_int_equal(nsys_kind_named(""), NSYS_TABLES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_figure_of_every_row), cmocka_unit_test(rows_of_equal_totals),
        cmocka_unit_test(left_out_and_unended),      cmocka_unit_test(sums_that_are_too_large),
        cmocka_unit_test(names_of_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

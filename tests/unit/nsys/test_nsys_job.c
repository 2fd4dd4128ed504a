// Several exports of Nsight Systems, one for each rank or node: processes side by side, who spent most and least, clocks
// on one axis, who is slow, and what is refused. Expected values are arithmetic on the events that were written.
#define _GNU_SOURCE // nftw
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/nsys/nsys.h"
#include "analysis/data/clocks.h"
#include "nsys_export.h"
#include "support.h"

#include <math.h>

enum { MOST_FILES = 12 };
#define SESSION INT64_C(1700000000000000000)
#define MS      INT64_C(1000000)

typedef struct files {
    char *tree, names[MOST_FILES][200];
    const char *paths[MOST_FILES];
    size_t count;
} files;

static bool begun(files *f)
{
    *f = (files){.tree = export_possible() ? tree_make() : NULL};
    if (!f->tree) print_message("no libsqlite3.so.0\n");
    return f->tree;
}

static export_file next_file(files *f)
{
    assert_true(f->count < MOST_FILES);
    char *name = f->names[f->count];
    snprintf(name, sizeof f->names[0], "%s/%zu.sqlite", f->tree, f->count);
    f->paths[f->count++] = name;
    return export_open(name);
}

static void read_all(nsys_job *job, const files *f)
{
    netprof_error error = {.text = ""};
    if (nsys_job_read(job, f->paths, f->count, NULL, &error)) fail_msg("%s: %s", error.path, error.text);
    assert_int_equal(job->file_count, f->count);
}

static void near(double a, double b)
{
    if (!(fabs(a - b) <= 1e-9 * fabs(b))) fail_msg("%.17g is not %.17g", a, b);
}

// ---- processes ----

typedef struct worker {
    size_t file;
    int pid, rank; // rank -1: MPI tells none
    long long weight;
} worker;

// In the order in which they are to come: by rank, file and pid, those without a rank last.
static const worker workers[] = {{2, 20, 0, 5}, {3, 10, 0, 2}, {1, 29, 1, 9}, {1, 30, 1, 4},
                                 {0, 40, 3, 6}, {2, 50, 3, 1}, {0, 41, -1, 3}};

enum { GEMM = 1, NCCL, SEND, LAUNCH };

// How long one of weight 1 spends with each; MPI is not in the second file.
static const uint64_t spent_ns[NSYS_SPENT] = {[NSYS_SPENT_KERNELS] = 110,
                                              [NSYS_SPENT_NCCL] = 10,
                                              [NSYS_SPENT_MEMORY] = 1000,
                                              [NSYS_SPENT_MPI] = 7,
                                              [NSYS_SPENT_API] = 3};

static bool file_knows(size_t file, int what)
{
    return what != NSYS_SPENT_MPI || file != 1;
}

static void put_worker(export_file *f, const worker *w)
{
    export_string(f, GEMM, "gemm");
    export_string(f, NCCL, "ncclDevKernel_SendRecv");
    export_string(f, SEND, "MPI_Bcast");
    export_string(f, LAUNCH, "cudaLaunchKernel");
    export_kernel(f, w->pid, 0, GEMM, w->pid, w->weight * 60);
    export_kernel(f, w->pid, 0, GEMM, 5000 + w->pid, w->weight * 40);
    export_kernel(f, w->pid, 0, NCCL, 8000 + w->pid, w->weight * 10);
    export_copy(f, w->pid, 0, 1, 100, w->weight * 1000, 77);
    if (file_knows(w->file, NSYS_SPENT_MPI)) export_collective(f, w->pid, SEND, 100, w->weight * 7, 8);
    export_call(f, "CUPTI_ACTIVITY_KIND_RUNTIME", w->pid, LAUNCH, 100, w->weight * 3);
    if (w->rank >= 0) export_rank(f, w->pid, w->rank);
}

static void check_balance(const nsys_job *job, int what)
{
    const nsys_balance *b = &job->balance[what];
    double sum = 0;
    size_t count = 0, high = COUNT(workers), low = COUNT(workers);
    for (size_t i = 0; i < COUNT(workers); i++) {
        if (!file_knows(workers[i].file, what)) continue;
        if (!count || workers[i].weight > workers[high].weight) high = i;
        if (!count || workers[i].weight < workers[low].weight) low = i;
        sum += (double)workers[i].weight * (double)spent_ns[what];
        count++;
    }
    assert_int_equal(b->count, count);
    near(b->mean, sum / (double)count);
    assert_int_equal(b->high, high);
    assert_int_equal(b->low, low);
    near(b->ratio, (double)workers[high].weight * (double)spent_ns[what] / b->mean);
}

static json_object *at(json_object *o, const char *path)
{
    json_object *found = NULL;
    if (json_pointer_get(o, path, &found)) fail_msg("no %s", path);
    return found;
}

static double number_at(json_object *o, const char *format, const char *key, size_t i)
{
    char path[100];
    snprintf(path, sizeof path, format, i, key);
    return json_object_get_double(at(o, path));
}

static const char *const keys[NSYS_SPENT] = {"kernels_ns", "nccl_kernels_ns", "memory_operations_ns", "mpi_ns",
                                             "cuda_api_ns"};

static void check_processes_json(nsys_job *job, const files *f)
{
    static const bool chosen[NSYS_TABLES] = {[NSYS_KERNELS] = true};
    json_object *o = json_new_object(), *missing;
    nsys_job_json(o, job, chosen);
    assert_int_equal(json_object_array_length(at(o, "/processes")), COUNT(workers));
    for (size_t i = 0; i < COUNT(workers); i++) {
        const worker *w = &workers[i];
        json_object *process = json_object_array_get_idx(at(o, "/processes"), i);
        assert_string_equal(json_object_get_string(at(process, "/file")), f->paths[w->file]);
        assert_int_equal(json_object_get_int(at(process, "/pid")), w->pid);
        if (w->rank >= 0)
            assert_int_equal(json_object_get_int(at(process, "/rank")), w->rank);
        else
            assert_null(at(process, "/rank"));
        for (int what = 0; what < NSYS_SPENT; what++)
            if (file_knows(w->file, what))
                near(number_at(o, "/processes/%zu/%s", keys[what], i), (double)w->weight * (double)spent_ns[what]);
            else
                assert_false(json_object_object_get_ex(process, keys[what], &missing));
    }
    assert_int_equal(json_object_get_int(at(o, "/rank_in_several_files")), 0);
    for (int what = 0; what < NSYS_SPENT; what++) {
        char path[60];
        snprintf(path, sizeof path, "/balance/%s", keys[what]);
        json_object *balance = at(o, path);
        bool all = what != NSYS_SPENT_MPI;
        assert_int_equal(json_object_get_int(at(balance, "/process_count")), all ? 7 : 5);
        near(json_object_get_double(at(balance, "/max_ns")), (all ? 9.0 : 6.0) * (double)spent_ns[what]);
        near(json_object_get_double(at(balance, "/min_ns")), (double)spent_ns[what]);
        near(json_object_get_double(at(balance, "/mean_ns")), (all ? 30.0 / 7 : 17.0 / 5) * (double)spent_ns[what]);
        near(json_object_get_double(at(balance, "/max_over_mean")), all ? 9 / (30.0 / 7) : 6 / (17.0 / 5));
    }
    near(json_object_get_double(at(o, "/together/cuda_gpu_kern_sum/total_ns")), 30.0 * 110);
    assert_false(json_object_object_get_ex(at(o, "/together"), "cuda_api_sum", &missing)); // not chosen
    json_object_put(o);
}

static void processes_side_by_side(void **state)
{
    files f;
    nsys_job job = {0};
    (void)state;
    if (!begun(&f)) skip();
    for (size_t i = 0; i < 4; i++) {
        export_file file = next_file(&f);
        for (size_t k = COUNT(workers); k-- > 0;)
            if (workers[k].file == i) put_worker(&file, &workers[k]);
        export_close(&file);
    }
    read_all(&job, &f);
    assert_int_equal(job.spent_count, COUNT(workers));
    for (size_t i = 0; i < COUNT(workers); i++) {
        assert_int_equal(job.spent[i].file, workers[i].file);
        assert_int_equal(job.spent[i].process->pid, workers[i].pid);
        assert_int_equal(job.spent[i].process->rank, workers[i].rank);
    }
    assert_int_equal(job.repeated_rank, 0); // the lowest of 0 and 3; 1 is of one file
    for (int what = 0; what < NSYS_SPENT; what++)
        check_balance(&job, what);
    check_processes_json(&job, &f);
    assert_false(job.placed);
    assert_string_equal(job.clock_text,
                        "4 of 4 files do not tell when their profile began: they are on no common axis.");
    nsys_job_free(&job);
    tree_remove(f.tree);
}

// Nothing was spent, by nobody: there is no ratio. A file that tells nothing of MPI: no process counts.
static void nothing_spent(void **state)
{
    files f;
    nsys_job job = {0};
    (void)state;
    if (!begun(&f)) skip();
    export_file file = next_file(&f);
    export_kernel(&file, 5, 0, 1, 10, 0);
    export_close(&file);
    read_all(&job, &f);
    assert_int_equal(job.repeated_rank, -1);
    assert_int_equal(job.balance[NSYS_SPENT_KERNELS].count, 1);
    assert_true(job.balance[NSYS_SPENT_KERNELS].mean == 0);
    assert_true(isnan(job.balance[NSYS_SPENT_KERNELS].ratio));
    assert_int_equal(job.balance[NSYS_SPENT_MPI].count, 0);
    assert_true(isnan(job.balance[NSYS_SPENT_MPI].ratio));
    nsys_job_free(&job);
    tree_remove(f.tree);
}

// ---- clocks ----

enum { BARRIERS = 10, BARRIER = 1, KERNEL = 2 };

// Barriers every `apart` ns, which all leave 5 us after they came; `drift` of this clock, which counts so much too fast.
static void put_host(files *f, const char *host, int rank, int64_t ahead, double drift, int64_t apart)
{
    export_file file = next_file(f);
    if (host) export_session(&file, host, SESSION + ahead);
    export_string(&file, BARRIER, "MPI_Barrier");
    export_string(&file, KERNEL, "gemm");
    for (int i = 0; i < BARRIERS; i++)
        export_collective(&file, 100 + rank, BARRIER, (int64_t)((double)((i + 1) * apart) * (1 + drift)), 5000, 1);
    export_kernel(&file, 100 + rank, 0, KERNEL, 1000 * (rank + 1), 500 * (rank + 1));
    export_rank(&file, 100 + rank, rank);
    export_close(&file);
}

static const char not_known[] =
    " hosts, placed by when each profile began (UTC) by its host's clock: how far these are apart is not known.";

// h0 and h1 on one clock, h2 `ahead` of it: moved back by that, within twice the 5 us that they stay.
static void clocks_of_collectives(void **state)
{
    static const int64_t ahead[] = {3 * MS, -7 * MS, 0};
    (void)state;
    for (size_t i = 0; i < COUNT(ahead); i++) {
        files f;
        nsys_job job = {0};
        if (!begun(&f)) skip();
        put_host(&f, "h0", 0, 0, 0, 100 * MS);
        put_host(&f, "h1", 1, 0, 0, 100 * MS);
        put_host(&f, "h2", 2, ahead[i], 0, 100 * MS);
        put_host(&f, "h2", 3, ahead[i], 0, 100 * MS);
        read_all(&job, &f);
        assert_true(job.placed);
        assert_int_equal(job.meetings, BARRIERS);
        assert_int_equal(job.clocks->hosts, 3);
        for (size_t k = 0; k < 4; k++)
            assert_true(llabs(job.begin_ns[k] - SESSION) <= 2 * 5000 + 1024);
        assert_true(job.from_ns == job.begin_ns[0] + 1000);
        assert_true(job.to_ns == job.begin_ns[3] + 4000 + 2000);
        assert_non_null(strstr(job.clock_text,
                               "3 hosts, placed by when each profile began (UTC) and by 10 collectives of "
                               "MPI: they agree within "));
        const char *moved = strstr(job.clock_text, "moved ");
        if (!ahead[i]) assert_null(moved);
        if (ahead[i]) {
            assert_non_null(moved);
            assert_null(strstr(moved + 1, "moved ")); // of two files of one host once
            assert_non_null(strstr(job.clock_text, " h2 is moved "));
            assert_non_null(strstr(moved, ahead[i] > 0 ? " back." : " ahead."));
        }
        nsys_job_free(&job);
        tree_remove(f.tree);
    }
}

// Of many that are moved four are named.
static void many_moved(void **state)
{
    enum { HOSTS = 8 };
    (void)state;
    for (int moved = 4; moved <= HOSTS - 1; moved++) {
        files f;
        nsys_job job = {0};
        char host[8], last[40];
        if (!begun(&f)) skip();
        for (int i = 0; i < HOSTS; i++) {
            snprintf(host, sizeof host, "h%d", i);
            put_host(&f, host, i, i < HOSTS - moved ? 0 : (i + 1) * 10 * MS, 0, 100 * MS);
        }
        read_all(&job, &f);
        size_t count = 0;
        for (const char *x = job.clock_text; (x = strstr(x, " is moved ")); x++)
            count++;
        snprintf(last, sizeof last, " So are %d more.", moved - 4);
        assert_int_equal(count, 4);
        if (moved > 4)
            assert_non_null(strstr(job.clock_text, last));
        else
            assert_null(strstr(job.clock_text, "So are"));
        nsys_job_free(&job);
        tree_remove(f.tree);
    }
}

// Clocks that differ as none do: what was compared were not the same collectives, and none is moved.
static void implausible_clocks(void **state)
{
    static const struct {
        int64_t ahead, apart;
        double drift;
        bool plausible;
    } cases[] = {{0, 10000 * MS, 1e-4, true},
                 {0, 10000 * MS, 2e-3, false},
                 {0, 10000 * MS, -2e-3, false},
                 {INT64_C(900000000000000000), 100 * MS, 0, true},
                 {INT64_C(1100000000000000000), 100 * MS, 0, false},
                 {INT64_C(-1100000000000000000), 100 * MS, 0, false}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        files f;
        nsys_job job = {0};
        if (!begun(&f)) skip();
        put_host(&f, "h0", 0, 0, 0, cases[i].apart);
        put_host(&f, "h1", 1, cases[i].ahead, cases[i].drift, cases[i].apart);
        read_all(&job, &f);
        if ((job.meetings > 0) != cases[i].plausible) fail_msg("case %zu: %s", i, job.clock_text);
        if (!cases[i].plausible) {
            assert_string_equal(job.clock_text + 1, not_known);
            assert_int_equal(job.begin_ns[0], SESSION);
            assert_int_equal(job.begin_ns[1], SESSION + cases[i].ahead);
        }
        nsys_job_free(&job);
        tree_remove(f.tree);
    }
}

// What is said where collectives tell nothing.
static void other_words_of_clocks(void **state)
{
    static const char one_host[] =
        "All files are of one host: placed by when each profile began, by that host's clock.";
    files f;
    nsys_job job = {0};
    (void)state;
    if (!begun(&f)) skip();
    put_host(&f, "h0", 0, 20 * MS, 0, 100 * MS);
    put_host(&f, "h0", 1, 0, 0, 100 * MS);
    put_host(&f, NULL, 2, 0, 0, 100 * MS);
    put_host(&f, "h4", 9, 0, 0, 70 * MS); // other barriers
    nsys_job_read(&job, &f.paths[0], 1, NULL, NULL);
    assert_string_equal(job.clock_text, "Placed by when the profile began, by its host's clock.");
    assert_int_equal(job.from_ns, SESSION + 20 * MS + 1000);
    assert_int_equal(job.to_ns, SESSION + 20 * MS + 1500);
    nsys_job_free(&job);
    nsys_job_read(&job, &f.paths[0], 2, NULL, NULL);
    assert_string_equal(job.clock_text, one_host);
    assert_int_equal(job.meetings, 0);
    // Of the second the clock says that it began 20 ms before: its events are the first ones.
    assert_int_equal(job.from_ns, SESSION + 2000);
    assert_int_equal(job.to_ns, SESSION + 20 * MS + 1500);
    nsys_job_free(&job);
    nsys_job_read(&job, &f.paths[0], 3, NULL, NULL);
    assert_string_equal(job.clock_text,
                        "1 of 3 files do not tell when their profile began: they are on no common axis.");
    assert_false(job.placed);
    assert_null(job.begin_ns);
    nsys_job_free(&job);
    tree_remove(f.tree);
}

// Files without events of GPUs, on the axis all the same.
static void no_gpu_on_the_axis(void **state)
{
    files f;
    nsys_job job = {0};
    (void)state;
    if (!begun(&f)) skip();
    for (int i = 0; i < 2; i++) {
        export_file file = next_file(&f);
        export_session(&file, "h", SESSION + i);
        export_string(&file, 1, "poll");
        export_call(&file, "OSRT_API", 5, 1, 10, 20);
        export_close(&file);
    }
    read_all(&job, &f);
    assert_true(job.placed);
    assert_int_equal(job.from_ns, 0);
    assert_int_equal(job.to_ns, 0);
    assert_int_equal(job.begin_ns[1], SESSION + 1);
    nsys_job_free(&job);
    tree_remove(f.tree);
}

// ---- who is slow ----

typedef struct slow_case {
    int own_ns[4], count[4]; // of each rank
    int slow;                // the rank; -1: none
    double times, each, number;
} slow_case;

static void put_kernels(files *f, int rank, int own_ns, int count, const char *name)
{
    export_file file = next_file(f);
    export_string(&file, GEMM, name);
    export_string(&file, NCCL, "ncclDevKernel_AllReduce_Sum");
    for (int i = 0; i < count; i++)
        export_kernel(&file, 100 + rank, 0, GEMM, i * 100000, own_ns / count);
    export_kernel(&file, 100 + rank, 0, NCCL, 90000000, 5000 * (4 - rank)); // the first waits most: no fault of it
    export_rank(&file, 100 + rank, rank);
    export_close(&file);
}

static void who_is_slow(void **state)
{
    static const slow_case cases[] = {
        {{4000, 4000, 9000, 4000}, {10, 10, 10, 10}, 2, 2.25, 2.25, 1},
        {{4000, 4000, 4000, 8000}, {10, 10, 10, 20}, 3, 2, 1, 2}, // has more to do
        {{9000, 4000, 4000, 4400}, {10, 10, 10, 20}, 0, 2.25, 2.25, 1},
        {{1000, 1000, 1200, 1000}, {10, 10, 10, 10}, 2, 1.2, 1.2, 1}, // a fifth: the limit
        {{1000, 1000, 1190, 1000}, {10, 10, 10, 10}, -1, 0, 0, 0},
        {{1000, 1000, 1300, 1140}, {10, 10, 10, 10}, 2, 1.3, 1.3, 1}, // the next is less than half as far
        {{1000, 1000, 1300, 1160}, {10, 10, 10, 10}, -1, 0, 0, 0},
        {{1000, 1000, 1000, 1000}, {10, 10, 10, 10}, -1, 0, 0, 0}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const slow_case *x = &cases[i];
        files f;
        nsys_job job = {0};
        nsys_slow slow = {0};
        if (!begun(&f)) skip();
        for (int rank = 0; rank < 4; rank++)
            put_kernels(&f, rank, x->own_ns[rank], x->count[rank], "gemm");
        read_all(&job, &f);
        bool found = nsys_job_slow(&job, &slow);
        if (found != (x->slow >= 0)) fail_msg("case %zu", i);
        if (found) {
            assert_int_equal(slow.place, x->slow);
            near(slow.own_ns, x->own_ns[x->slow]);
            near(slow.times, x->times);
            near(slow.each_times, x->each);
            near(slow.count_times, x->number);
        }
        nsys_job_free(&job);
        tree_remove(f.tree);
    }
}

// Where it cannot be told nobody is called slow.
static void slow_cannot_be_told(void **state)
{
    enum { ALONE, WAITING_NAME, GRAPH, TWO_PROCESSES, ONLY_NCCL, NO_KERNELS, CASES };
    (void)state;
    for (int i = 0; i < CASES; i++) {
        files f;
        nsys_job job = {0};
        nsys_slow slow = {0};
        if (!begun(&f)) skip();
        put_kernels(&f, 0, 9000, 10, i == WAITING_NAME ? "void cross_device_reduce_1stage" : "gemm");
        for (int rank = 1; rank < 3 && i != ALONE; rank++)
            put_kernels(&f, rank, 4000, 10, "gemm");
        export_file file = next_file(&f);
        export_string(&file, 1, i == ONLY_NCCL ? "ncclKernel" : "gemm");
        if (i == NO_KERNELS)
            export_copy(&file, 200, 0, 1, 0, 4000, 64);
        else
            export_kernel(&file, 200, 0, 1, 0, 4000);
        if (i == TWO_PROCESSES) export_kernel(&file, 201, 0, 1, 0, 4000);
        if (i == GRAPH)
            export_sql(&file, "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (" EXPORT_GPU ", graphId INT);"
                              "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (1, 2, 0, 0, 1)");
        export_close(&file);
        if (i == ALONE) f.count = 1;
        read_all(&job, &f);
        if (nsys_job_slow(&job, &slow)) fail_msg("case %d", i);
        nsys_job_free(&job);
        tree_remove(f.tree);
    }
}

// ---- what is refused ----

typedef struct steps {
    size_t count, of;
} steps;

static void one_more(void *user, size_t done, size_t of)
{
    steps *s = user;
    assert_int_equal(done, s->count);
    s->count++;
    s->of = of;
}

static void check_refused(const char *const *paths, size_t count, const nsys_options *o, netprof_err code,
                          const char *path, const char *text)
{
    nsys_job job = {0};
    netprof_error error = {.text = ""};
    assert_int_equal(nsys_job_read(&job, paths, count, o, &error), code);
    assert_int_equal(error.code, code);
    assert_string_equal(error.path, path);
    assert_non_null(strstr(error.text, text));
    assert_null(job.files);
    assert_null(job.spent);
    assert_int_equal(job.file_count, 0);
    assert_int_equal(nsys_job_read(&job, paths, count, o, NULL), code); // whoever does not ask why
    nsys_job_free(&job);
}

static void refused(void **state)
{
    static const char not_valid[] = "the options are not valid, or there is no file";
    files f;
    steps s = {0, 0};
    nsys_job job = {0};
    (void)state;
    if (!begun(&f)) skip();
    for (int i = 0; i < 3; i++)
        put_host(&f, "h", i, 0, 0, 100 * MS);
    char link[200], gone[200];
    snprintf(link, sizeof link, "%s/link", f.tree);
    snprintf(gone, sizeof gone, "%s/gone", f.tree);
    assert_int_equal(symlink(f.names[1], link), 0);
    const char *twice[] = {f.names[0], f.names[1], f.names[2], link}, *missing[] = {f.names[0], gone, f.names[1]};
    check_refused(f.paths, 0, NULL, NETPROF_ERR_ARG, "", not_valid);
    check_refused(f.paths, 3, &(nsys_options){.end_zero = 1}, NETPROF_ERR_ARG, "", not_valid);
    check_refused(f.paths, 3, &(nsys_options){.bins = 100001}, NETPROF_ERR_ARG, "", "the options are not valid");
    check_refused(twice, 4, NULL, NETPROF_ERR_ARG, link, "is the same file as another one that was given");
    check_refused(missing, 3, NULL, NETPROF_ERR_IO, gone, "No such file");
    // What has no file, twice, is not there; that it is twice says nothing.
    missing[0] = gone;
    check_refused(missing, 2, NULL, NETPROF_ERR_IO, gone, "No such file");
    assert_int_equal(nsys_job_read(&job, f.paths, 3, &(nsys_options){.progress = one_more, .user = &s}, NULL),
                     NETPROF_OK);
    assert_int_equal(s.count, 3);
    assert_int_equal(s.of, 3);
    nsys_job_free(&job);
    tree_remove(f.tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processes_side_by_side), cmocka_unit_test(nothing_spent),
        cmocka_unit_test(clocks_of_collectives),  cmocka_unit_test(many_moved),
        cmocka_unit_test(implausible_clocks),     cmocka_unit_test(other_words_of_clocks),
        cmocka_unit_test(no_gpu_on_the_axis),     cmocka_unit_test(who_is_slow),
        cmocka_unit_test(slow_cannot_be_told),    cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

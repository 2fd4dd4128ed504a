// The analysis library when memory runs out: for each task every allocation fails in turn, alone and with all that
// follow. Nothing crashes, nothing leaks, the error says so, and a result that is said to be whole is the same as with
// memory. The linker hands us the library's own allocations (--wrap, see CMakeLists.txt); those inside json-c and libc
// succeed.
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/nccl/logs/nccl_logs.h"
#include "analysis/nccl/view/nccl_view.h"
#include "analysis/nccl/view/nccl_view_json.h"
#include "analysis/nsys/nsys.h"
#include "nccl_generate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- allocations ----

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *pointer, size_t size);
char *__real_strdup(const char *text);
void __real_free(void *pointer);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *pointer, size_t size);
char *__wrap_strdup(const char *text);
void __wrap_free(void *pointer);

static bool counting, and_all_that_follow;
static long fail_at;        // the fail_at-th fails; 0: none
static void *ours[1 << 16]; // what was handed out and not given back while counting
static size_t our_count;

static bool fails(void)
{
    if (!counting || !fail_at || --fail_at) return false;
    if (and_all_that_follow) fail_at = 1;
    return true;
}

static void *note(void *pointer)
{
    if (!counting || !pointer) return pointer;
    if (our_count < sizeof ours / sizeof *ours) ours[our_count] = pointer;
    our_count++;
    return pointer;
}

static void forget(const void *pointer)
{
    size_t end = our_count < sizeof ours / sizeof *ours ? our_count : sizeof ours / sizeof *ours;
    if (!counting || !pointer) return;
    for (size_t i = end; i > 0; i--)
        if (ours[i - 1] == pointer) {
            ours[i - 1] = ours[end - 1];
            our_count--;
            return;
        }
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : note(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : note(__real_calloc(count, size));
}

void *__wrap_realloc(void *pointer, size_t size)
{
    if (fails()) return NULL;
    forget(pointer);
    return note(__real_realloc(pointer, size));
}

char *__wrap_strdup(const char *text)
{
    return fails() ? NULL : note(__real_strdup(text));
}

void __wrap_free(void *pointer)
{
    forget(pointer);
    __real_free(pointer);
}

// A task gives 0 and a text that tells its result, or the error. All that it allocates it frees but for the text.
typedef struct outcome {
    netprof_err error;
    char text[20000];
    size_t used;
} outcome;

static void tell(outcome *o, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void tell(outcome *o, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(o->text + o->used, sizeof o->text - o->used, format, arguments);
    va_end(arguments);
    o->used += n < 0 ? 0 : (size_t)n;
    if (o->used >= sizeof o->text) o->used = sizeof o->text - 1;
}

typedef void (*task)(outcome *o);

static void run_task(task t, outcome *o, long n, bool all)
{
    o->error = NETPROF_OK;
    o->used = 0;
    o->text[0] = 0;
    our_count = 0;
    fail_at = n;
    and_all_that_follow = all;
    counting = true;
    t(o);
    counting = false;
}

static long sweep(task t)
{
    static outcome whole, now;
    long n = 1;
    run_task(t, &whole, 0, false);
    assert_int_equal(whole.error, NETPROF_OK);
    assert_true(whole.used > 0);
    assert_int_equal(our_count, 0);
    for (int all = 0; all < 2; all++)
        for (n = 1;; n++) {
            run_task(t, &now, n, all);
            bool reached = fail_at == 0 || all;
            if (our_count)
                fail_msg("allocation %ld%s: %zu blocks leaked", n, all ? " and all that follow" : "", our_count);
            if (now.error && now.error != NETPROF_ERR_NOMEM)
                fail_msg("allocation %ld: %s instead of no memory", n, netprof_strerror(now.error));
            if (!now.error && strcmp(now.text, whole.text) != 0)
                fail_msg("allocation %ld%s: another result\n%s\ninstead of\n%s", n, all ? " and all that follow" : "",
                         now.text, whole.text);
            if (all ? fail_at > 1 || !now.error : !reached) break;
            assert_true(n < 100000);
        }
    return n;
}

// ---- what a report of NCCL logs shows: made of logs, and read from a saved result ----

static nccl nccl_logs;
static nccl_findings nccl_found;
static char *nccl_saved;

static void tell_view(outcome *o, const nccl_view *v)
{
    tell(o, "%s|%zu sentences %zu rows %zu late %zu kinds %zu bins %zu series %zu ranks %zu gone|", v->verdict,
         v->sentences.count, v->rows.count, v->late.count, v->kinds.count, v->run.count, v->series.count,
         v->slowest.count, v->gone.count);
    for (size_t i = 0; i < v->rows.count; i++)
        tell(o, "%s %s %g;", v->rows.items[i].label, v->rows.items[i].coll, v->rows.items[i].wire_us.p50);
    for (size_t i = 0; i < v->kinds.count; i++)
        tell(o, "%zu %zu;", v->kinds.items[i].points.count, v->kinds.items[i].bins.count);
}

static void view_of_logs(outcome *o)
{
    nccl_view v;
    o->error = nccl_view_make(&v, &nccl_logs, &nccl_found, NULL, NULL, NULL);
    if (!o->error) tell_view(o, &v);
    nccl_view_free(&v);
}

static void view_of_saved(outcome *o)
{
    nccl_view v;
    o->error = nccl_view_parse(&v, nccl_saved, strlen(nccl_saved), NULL);
    if (!o->error) tell_view(o, &v);
    nccl_view_free(&v);
}

static void view_without_memory(void **state)
{
    char directory[] = "/tmp/netprof-view-XXXXXX", command[80];
    const char *path = mkdtemp(directory);
    nccl_generate_truth truth;
    nccl_view v;
    (void)state;
    assert_non_null(path);
    const nccl_generate_plan plan = {.directory = path,
                                     .packing = "",
                                     .side = 2,
                                     .gpus = 1,
                                     .records = 400,
                                     .seed = 3,
                                     .late_rank = 2,
                                     .late_us = 500,
                                     .drop = 0.02};
    assert_int_equal(nccl_generate(&plan, &truth), 0);
    assert_int_equal(nccl_read(&nccl_logs, &path, 1, NULL, NULL), NETPROF_OK);
    assert_int_equal(nccl_findings_make(&nccl_found, &nccl_logs, NULL, NULL), NETPROF_OK);
    assert_int_equal(nccl_view_make(&v, &nccl_logs, &nccl_found, NULL, NULL, NULL), NETPROF_OK);
    json_object *o = json_object_new_object();
    json_object_object_add(o, "format", json_object_new_string("netprof-nccl"));
    json_object_object_add(o, "version", json_object_new_int(2));
    json_object_object_add(o, "view", nccl_view_json(&v));
    nccl_saved = strdup(json_object_to_json_string(o));
    json_object_put(o);
    nccl_view_free(&v);
    printf("view_of_logs: %ld allocations\n", sweep(view_of_logs) - 1);
    printf("view_of_saved: %ld allocations\n", sweep(view_of_saved) - 1);
    free(nccl_saved);
    nccl_findings_free(&nccl_found);
    nccl_free(&nccl_logs);
    snprintf(command, sizeof command, "rm -rf %s", directory);
    assert_int_equal(system(command), 0);
}

// ---- exports of Nsight Systems, side by side; SQLite's own allocations succeed ----

static const char *nsys_paths[2];

static void tell_table(outcome *o, const nsys_table *t)
{
    for (size_t i = 0; i < t->row_count; i++)
        tell(o, "%s %s %llu %g;", t->name, t->rows[i].name, (unsigned long long)t->rows[i].total, t->rows[i].median);
}

static void programs(outcome *o)
{
    nsys_job job;
    const nsys_options options = {.bins = 3};
    o->error = nsys_job_read(&job, nsys_paths, 2, &options, NULL);
    if (o->error) return;
    for (int i = 0; i < NSYS_READ; i++)
        tell_table(o, &job.together.tables[i]);
    for (size_t i = 0; i < job.files[0].gpu_count; i++)
        tell(o, "%s %s %g;", job.files[0].gpus[i].name, job.files[0].gpus[i].bus, job.files[0].gpus[i].busy[0][1]);
    tell(o, "%zu %zu %s", job.spent_count, job.meetings, job.clock_text);
    const nsys_table *made = nsys_table_of(&job.together, NSYS_GPU);
    if (made)
        tell_table(o, made);
    else
        o->error = NETPROF_ERR_NOMEM;
    nsys_job_free(&job);
}

static void programs_without_memory(void **state)
{
    char paths[2][40] = {"/tmp/netprof-nsys-XXXXXX", "/tmp/netprof-nsys-XXXXXX"}, file[1 << 14];
    FILE *from = fopen(NETPROF_TEST_TOP "/tests/fuzz/corpus/nsys/file", "rb");
    (void)state;
    assert_non_null(from);
    size_t size = fread(file, 1, sizeof file, from);
    fclose(from);
    assert_in_range(size, 4096, sizeof file - 1);
    for (int i = 0; i < 2; i++) {
        int fd = mkstemp(paths[i]);
        assert_true(fd >= 0);
        assert_int_equal(write(fd, file + 1, size - 1), size - 1);
        close(fd);
        nsys_paths[i] = paths[i];
    }
    nsys_job job;
    bool can_read = nsys_job_read(&job, nsys_paths, 1, NULL, NULL) != NETPROF_ERR_IO; // not without SQLite's library
    nsys_job_free(&job);
    if (can_read) printf("programs: %ld allocations\n", sweep(programs) - 1);
    for (int i = 0; i < 2; i++)
        unlink(paths[i]);
    if (!can_read) skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(view_without_memory),
        cmocka_unit_test(programs_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

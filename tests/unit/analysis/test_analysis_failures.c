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

#include "analysis/data/convert.h"
#include "analysis/data/dataset.h"
#include "analysis/data/difference.h"
#include "analysis/rules/findings.h"
#include "analysis/job/job_report.h"
#include "analysis/nccl/nccl_view.h"
#include "analysis/nsys/nsys.h"
#include "nccl_generate.h"
#include "analysis/rules/rules.h"
#include "analysis/data/series.h"
#include "situation.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
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

// ---- material ----

typedef struct bytes {
    char data[60000];
    size_t size;
} bytes;

static int append(void *user, const void *data, size_t size)
{
    bytes *b = user;
    if (b->size + size > sizeof b->data) return ENOSPC;
    memcpy(b->data + b->size, data, size);
    b->size += size;
    return 0;
}

static const char text_of_node[] =
    "@port_speed=BS_200G @netdev=hsn0 hni_sts_rx_ok_octets=10000000000 hni_sts_tx_ok_octets=10000000000 "
    "hni_rx_paused_1=3000000000 hni_tx_paused_1=100 pct_spt_timeouts=4 hni_pcs_good_cw=390000000 "
    "hni_pcs_uncorrected_cw=50 parbs_tarb_pi_posted_pkts=100000 parbs_tarb_pi_posted_blocked_cnt=2000000 "
    "peer:hni_sts_rx_ok_octets=100 peer:hni_rx_paused_1=0 peer:pct_spt_timeouts=2r peer:hni_pcs_uncorrected_cw=1u "
    "netdev/rx_bytes=1000";
static const char rules_text[] =
    "name,class,source,per,define,value,unit,needs,info,watch,warn,high,critical,claim,advice,explained_by,background,"
    "evidence\n"
    "mine,congestion,cxi,,,rate(hni_rx_paused_1),per second,hni_rx_paused_1 >= 0,,> 1,> 2,> 3,,{value|x} of it,do "
    "this,,,\n"
    "bad line,cxi\n";

static bytes netprof_file, json_file, net_prof_json;
static const char net_prof_text[] = "1@1700000000.000000001\n2@1700000000.000000002\n";
static situation node;

static void make_files(const situation *x)
{
    dataset_run run = {.path = (char *)"x", .complete = true};
    netprof_snapshot both[2] = {x->before, x->after};
    dataset set = {.runs = &run, .run_count = 1};
    netprof_error error = {0};
    run.snapshots = both;
    run.snapshot_count = 2;
    const convert_options first = {.snapshot = 1};
    dataset cassini = {0};
    if (convert_write(&set, CONVERT_NETPROF, NULL, append, &netprof_file, &error) ||
        convert_write(&set, CONVERT_JSON, NULL, append, &json_file, &error))
        fail_msg("%s", error.text);
    // net_prof knows devices of these names only
    for (char *p = json_file.data; (p = memmem(p, json_file.size - (size_t)(p - json_file.data), "\"dev", 4)); p += 4)
        if (p[4] == '0' || p[4] == '1') memcpy(p, "\"cxi", 4);
    if (dataset_read_memory(&cassini, "x", json_file.data, json_file.size, NULL, &error) ||
        convert_write(&cassini, CONVERT_NET_PROF_JSON, &first, append, &net_prof_json, &error))
        fail_msg("%s", error.text);
    dataset_free(&cassini);
}

static int load(void **state)
{
    (void)state;
    if (catalog_init(NULL)) return -1;
    catalog_name_compare("a", "b");
    size_t count;
    catalog_cassini_1_names(&count);
    situation_make(&node, "cxi", text_of_node);
    make_files(&node);
    return 0;
}

static int unload(void **state)
{
    (void)state;
    situation_free(&node);
    return 0;
}

// ---- tasks ----

static void tell_dataset(outcome *o, const dataset *set)
{
    for (size_t r = 0; r < set->run_count; r++) {
        const dataset_run *run = &set->runs[r];
        tell(o, "%s %d %d %zu snapshots %zu deltas\n", run->path, run->format, run->complete, run->snapshot_count,
             run->delta_count);
        for (size_t s = 0; s < run->snapshot_count; s++)
            for (size_t i = 0; i < run->snapshots[s].schema->counter_count; i++)
                tell(o, "%s=%llu ", run->snapshots[s].schema->counters[i].name,
                     (unsigned long long)run->snapshots[s].values[i]);
    }
}

static void read_bytes(outcome *o, const void *data, size_t size)
{
    dataset set = {0};
    netprof_error error = {0};
    o->error = dataset_read_memory(&set, "name", data, size, NULL, &error);
    if (o->error) assert_int_equal(error.code, o->error);
    if (o->error) assert_int_equal(set.run_count, 0);
    if (!o->error) tell_dataset(o, &set);
    dataset_free(&set);
}

static void read_netprof(outcome *o)
{
    read_bytes(o, netprof_file.data, netprof_file.size);
}

static void read_json(outcome *o)
{
    read_bytes(o, json_file.data, json_file.size);
}

static void read_net_prof_json(outcome *o)
{
    read_bytes(o, net_prof_json.data, net_prof_json.size);
}

static void read_net_prof_text(outcome *o)
{
    read_bytes(o, net_prof_text, sizeof net_prof_text - 1);
}

static void read_cut_file(outcome *o)
{
    read_bytes(o, netprof_file.data, netprof_file.size - 5);
}

static void convert(outcome *o, const bytes *from, convert_format format, const convert_options *options)
{
    static bytes out;
    dataset set = {0};
    netprof_error error = {0};
    out.size = 0;
    o->error = dataset_read_memory(&set, "name", from->data, from->size, NULL, &error);
    if (!o->error) o->error = convert_write(&set, format, options, append, &out, &error);
    if (!o->error) tell(o, "%zu %.*s", out.size, (int)out.size, out.data);
    dataset_free(&set);
}

static void convert_to_netprof(outcome *o)
{
    convert(o, &netprof_file, CONVERT_NETPROF, NULL);
}

static void convert_to_json(outcome *o)
{
    convert(o, &netprof_file, CONVERT_JSON, NULL);
}

static void convert_to_net_prof(outcome *o)
{
    const convert_options one = {.snapshot = 2};
    convert(o, &json_file, CONVERT_NET_PROF_JSON, &one);
}

static void convert_to_csv(outcome *o)
{
    convert(o, &netprof_file, CONVERT_CSV, NULL);
}

static void differ(outcome *o)
{
    difference d = {0};
    netprof_error error = {0};
    o->error = difference_of_snapshots(&d, &node.before, &node.after, false, &error);
    if (o->error) assert_int_equal(error.code, o->error);
    for (size_t i = 0; !o->error && i < d.delta->schema->counter_count; i++)
        tell(o, "%s %llu %d ", d.delta->schema->counters[i].name, (unsigned long long)d.rows[i].magnitude,
             d.rows[i].flag);
    difference_free(&d);
}

// The functions that return NULL without memory.
static void choose(outcome *o)
{
    const difference_query everything = {.kinds = DIFFERENCE_ANY_KIND, .unchanged = true};
    size_t count = 0, sums = 0, balances = 0;
    size_t *rows = difference_select(&node.d, &everything, &count);
    difference_sum *sum = rows ? difference_sums(&node.d, rows, count, 0, &sums) : NULL;
    difference_balance *balance = sum ? difference_balances(&node.d, &balances) : NULL;
    o->error = balance ? NETPROF_OK : NETPROF_ERR_NOMEM;
    if (balance) tell(o, "%zu rows, %zu sums, %zu balances:", count, sums, balances);
    for (size_t i = 0; balance && i < sums; i++)
        tell(o, " %s %llu", sum[i].name, (unsigned long long)sum[i].value);
    free(rows);
    free(sum);
    free(balance);
}

static void tabulate(outcome *o)
{
    difference_table table = {0};
    o->error = difference_table_of_marks(&node.d, "cxi", CATALOG_IMPORTANT, &table, NULL);
    for (size_t i = 0; !o->error && i < table.row_count; i++)
        tell(o, "%s ", table.names[i]);
    if (!o->error) tell(o, "%zu columns", table.column_count);
    difference_table_free(&table);
}

static void read_rules(outcome *o)
{
    rules set = {0};
    netprof_error error = {0};
    o->error = rules_read_text(&set, "mine.csv", rules_text, sizeof rules_text - 1, &error);
    if (!o->error) tell(o, "%zu rules, %zu problems: %s", set.count, set.problem_count, set.items[0]->name);
    rules_free(&set);
}

static void over_time(outcome *o)
{
    const dataset_run run = {.path = (char *)(uintptr_t) "x"};
    static const double half[] = {0.5};
    series s = {0};
    o->error = series_take(&s, &run, 0, &node.before);
    if (!o->error) o->error = series_take(&s, &run, 1, &node.after);
    if (!o->error) o->error = series_finish(&s);
    for (size_t i = 0; !o->error && i < s.device_count; i++) {
        double middle[2] = {0, 0};
        for (int way = 0; way < 2 && !o->error; way++)
            if (series_quantiles(&s.devices[i], way, half, &middle[way], 1) == SERIES_FAILED)
                o->error = NETPROF_ERR_NOMEM;
        tell(o, "%s %d %zu steps %g %g\n", s.devices[i].name, s.devices[i].chosen, s.devices[i].count, middle[0],
             middle[1]);
    }
    for (size_t i = 0; !o->error && i < s.counter_count; i++)
        tell(o, "%s %g\n", s.counters[i].name, s.counters[i].sum);
    series_free(&s);
}

static rules built_in;
static char job_directory[64];

// Two nodes, of which one has two files, and phases.
static void make_job(void)
{
    char path[128];
    snprintf(job_directory, sizeof job_directory, "/tmp/netprof-job-XXXXXX");
    assert_non_null(mkdtemp(job_directory));
    for (int i = 0; i < 3; i++) {
        netprof_snapshot both[2] = {node.before, node.after};
        for (int k = 0; k < 2; k++)
            both[k].wall_ns += i == 2 ? INT64_C(3600000000000) : 0;
        netprof_writer *w;
        snprintf(path, sizeof path, "%s/%d.netprof", job_directory, i);
        assert_int_equal(netprof_writer_open(&w, path, 0, NULL), NETPROF_OK);
        netprof_write_fact(w, "node", i == 1 ? "n2" : "n1", NULL);
        netprof_write_fact(w, "job_id", "17", NULL);
        for (int k = 0; k < 2; k++)
            assert_int_equal(netprof_write_snapshot(w, &both[k], NULL), NETPROF_OK);
        assert_int_equal(netprof_writer_close(w, 1, NULL), NETPROF_OK);
    }
    snprintf(path, sizeof path, "%s/x.phases", job_directory);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%lld init\n%lld.5 train\n", (long long)(node.before.wall_ns / 1000000000),
            (long long)(node.before.wall_ns / 1000000000));
    fclose(file);
}

static void remove_job(void)
{
    static const char *const names[] = {"0.netprof", "1.netprof", "2.netprof", "x.phases"};
    char path[128];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", job_directory, names[i]);
        unlink(path);
    }
    rmdir(job_directory);
}

static void report_job(outcome *o)
{
    job_report job = {0};
    netprof_error error = {0};
    const char *paths[] = {job_directory};
    const job_report_options how = {.rules = &built_in};
    o->error = job_report_read(&job, paths, 1, &how, &error);
    if (o->error) assert_int_equal(error.code, o->error);
    if (!o->error) tell(o, "%s\n%zu nodes, %g s\n", job.title, job.node_count, job.end_s);
    for (size_t i = 0; i < job.use_count; i++)
        tell(o, "%d %g %g\n", job.uses[i].meter, job.uses[i].mean, job.uses[i].total);
    for (size_t i = 0; i < job.finding_count; i++)
        tell(o, "%s: %s\n", job.findings[i].rule, job.findings[i].claim);
    for (size_t i = 0; i < job.note_count; i++)
        tell(o, "%s\n", job.notes[i].text);
    for (size_t i = 0; i < job.phase_count; i++)
        tell(o, "%s %g\n", job.phases[i].name, job.phases[i].time_s);
    for (size_t i = 0; i < job.event_count; i++)
        tell(o, "%s %g\n", job.events[i].counter, job.events[i].sum);
    for (size_t i = 0; i < job.fact_count; i++)
        tell(o, "%s\n", job.facts[i].text);
    job_report_free(&job);
}

static void find(outcome *o)
{
    findings f = {0};
    netprof_error error = {0};
    o->error = findings_make(&f, &node.d, &built_in, &error);
    if (!o->error) tell(o, "%s\n", f.verdict);
    for (size_t i = 0; !o->error && i < f.count; i++)
        tell(o, "%s %s: %s\n", f.items[i].rule->name, finding_device(&f, &f.items[i]), f.items[i].claim);
    for (size_t i = 0; !o->error && i < f.unknown_count; i++)
        tell(o, "%s: %s\n", f.unknown[i].rule->name, f.unknown[i].reason);
    findings_free(&f);
}

#define SWEPT(function)                                                                                                \
    static void function##_without_memory(void **state)                                                                \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        printf("%s: %ld allocations\n", #function, sweep(function) - 1);                                               \
    }
SWEPT(read_netprof)
SWEPT(read_json)
SWEPT(read_net_prof_json)
SWEPT(read_net_prof_text)
SWEPT(read_cut_file)
SWEPT(convert_to_netprof)
SWEPT(convert_to_json)
SWEPT(convert_to_net_prof)
SWEPT(convert_to_csv)
SWEPT(differ)
SWEPT(choose)
SWEPT(tabulate)
SWEPT(read_rules)
SWEPT(over_time)

static void find_without_memory(void **state)
{
    (void)state;
    assert_int_equal(rules_builtin(&built_in, NULL), NETPROF_OK);
    printf("find: %ld allocations\n", sweep(find) - 1);
    make_job();
    long allocations = sweep(report_job) - 1;
    remove_job();
    printf("report_job: %ld allocations\n", allocations);
    rules_free(&built_in);
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

// The built-in tables: thousands of allocations, so only some of them.
static void built_in_rules_without_memory(void **state)
{
    (void)state;
    assert_int_equal(rules_builtin(&built_in, NULL), NETPROF_OK);
    for (long n = 1;; n += 1 + n / 8) {
        rules set = {0};
        our_count = 0;
        fail_at = n;
        and_all_that_follow = false;
        counting = true;
        netprof_err err = rules_builtin(&set, NULL);
        bool reached = fail_at == 0, whole = set.count == built_in.count && !set.problem_count;
        rules_free(&set);
        counting = false;
        assert_int_equal(our_count, 0);
        assert_true(err ? reached && err == NETPROF_ERR_NOMEM : whole);
        if (!reached) break;
    }
    rules_free(&built_in);
}

// The catalog is unpacked once in a process: a child each. Without it nothing is found, and it says so.
static void catalog_without_memory(void **state)
{
    (void)state;
    for (long n = 1; n < 100; n++) {
        int status;
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            char number[24];
            snprintf(number, sizeof number, "%ld", n);
            setenv("CATALOG_FAILS_AT", number, 1);
            execl("/proc/self/exe", "test_analysis_failures", (char *)NULL);
            _exit(99);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        if (WEXITSTATUS(status) == 2) return; // there are no more
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}

static int catalog_child(long n)
{
    fail_at = n;
    counting = true;
    netprof_err err = catalog_init(NULL);
    bool reached = fail_at == 0;
    counting = false;
    if (!reached) return 2;
    size_t count = 1;
    bool found = catalog_find("cxi", "hni_sts_tx_ok_octets") || catalog_group_at(0) || catalog_at(0) ||
                 catalog_metric_id("hni_sts_tx_ok_octets") || catalog_unit_is_leading("bytes");
    catalog_cassini_1_names(&count);
    return err == NETPROF_ERR_NOMEM && !found && !count ? 0 : 1;
}

int main(void)
{
    const char *child = getenv("CATALOG_FAILS_AT");
    if (child) return catalog_child(strtol(child, NULL, 10));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(catalog_without_memory),
        cmocka_unit_test(read_netprof_without_memory),
        cmocka_unit_test(read_json_without_memory),
        cmocka_unit_test(read_net_prof_json_without_memory),
        cmocka_unit_test(read_net_prof_text_without_memory),
        cmocka_unit_test(read_cut_file_without_memory),
        cmocka_unit_test(convert_to_netprof_without_memory),
        cmocka_unit_test(convert_to_json_without_memory),
        cmocka_unit_test(convert_to_net_prof_without_memory),
        cmocka_unit_test(convert_to_csv_without_memory),
        cmocka_unit_test(differ_without_memory),
        cmocka_unit_test(choose_without_memory),
        cmocka_unit_test(tabulate_without_memory),
        cmocka_unit_test(read_rules_without_memory),
        cmocka_unit_test(over_time_without_memory),
        cmocka_unit_test(find_without_memory),
        cmocka_unit_test(view_without_memory),
        cmocka_unit_test(programs_without_memory),
        cmocka_unit_test(built_in_rules_without_memory),
    };
    return cmocka_run_group_tests(tests, load, unload);
}

// Regions over time in the job report: what processes sampled of themselves, beside recordings of their nodes. Every
// expected figure is arithmetic on what was recorded; names are hostile and files are broken.
#define _GNU_SOURCE
#include "netprof.h"

#include "job_claims.h"
#include "job_cluster.h"

#include "analysis/job/job_report.h"
#include "analysis/regions/regions.h"
#include "analysis/regions/pairs/regions_pairs.h"

#include <json-c/json.h>
#include <math.h>

// ---- helpers ----

static void expect_close(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-6 * fmax(1, fabs(expected)))) fail_msg("%.12g is not %.12g", value, expected);
}

static job_report report_here(void)
{
    job_report job = {0};
    netprof_error error = {.code = NETPROF_OK};
    const char *paths[] = {tree};
    if (job_report_read(&job, paths, 1, NULL, &error)) fail_msg("%s: %s", error.path, error.text);
    job_claims_check(&job);
    return job;
}

static size_t warnings_with(const job_report *job, const char *text)
{
    size_t count = 0;
    for (size_t i = 0; i < job->warning_count; i++)
        count += strstr(job->warnings[i].text, text) != NULL;
    return count;
}

// The recording of a node that did nothing for ten seconds.
static void record_node(const char *name, const char *host, int64_t offset_ns)
{
    char file[64];
    snprintf(file, sizeof file, "node-%s.netprof", name);
    node_shape shape = {.name = name, .host = host, .parts = NODE_CPU, .interval_s = 1, .offset_ns = offset_ns};
    node_file f = node_open(tree_path(tree, file), &shape);
    for (int t = 0; t <= 10; t++)
        node_take(&f, t);
    node_close(&f);
}

typedef struct path_shape {
    const char *path, *name;
} path_shape;

// As netprof.h writes it; of a process on a host, of the scheduler's node if that is known.
static node_file series_open_every(const char *interval_ns, const char *file, const char *host, const char *node,
                                   const path_shape *paths, size_t count)
{
    static const char *const each[] = {"time", "own_time", NULL};
    const netprof_schema *schema = NULL;
    node_file f = {.x = NETPROF_ZERO};
    netprof_list *list = netprof_build_begin(NULL);
    netprof_build_source(list, "regions");
    netprof_list_device(list, "process", 1, 0);
    cluster_counter(list, "thread_time", "ns", NETPROF_KIND_COUNTER, 64);
    cluster_counter(list, "sampling_time", "ns", NETPROF_KIND_COUNTER, 64);
    if (count) netprof_build_source(list, "region");
    for (size_t i = 0; i < count; i++) {
        netprof_list_device(list, paths[i].path, 1, 0);
        netprof_list_fact(list, "name", paths[i].name);
        cluster_counter(list, "calls", "calls", NETPROF_KIND_COUNTER, 64);
        cluster_counters(list, each, "ns", NETPROF_KIND_COUNTER, 64);
        cluster_counter(list, "bytes", "bytes", NETPROF_KIND_COUNTER, 64);
    }
    assert_int_equal(netprof_build_end(list, &schema, NULL), NETPROF_OK);
    assert_int_equal(netprof_writer_open(&f.writer, tree_path(tree, file), 0, NULL), NETPROF_OK);
    netprof_write_fact(f.writer, "host", host, NULL);
    if (node) netprof_write_fact(f.writer, "node", node, NULL);
    netprof_write_fact(f.writer, "interval_ns", interval_ns, NULL);
    assert_int_equal(netprof_snapshot_make(&f.x, schema, NULL), NETPROF_OK);
    netprof_schema_release(schema);
    memset(f.x.status, NETPROF_STATUS_OK, f.x.schema->counter_count);
    return f;
}

static node_file series_open(const char *file, const char *host, const char *node, const path_shape *paths,
                             size_t count)
{
    return series_open_every("1000000000", file, host, node, paths, count);
}

static size_t region_of(const job_report *job, const char *name)
{
    for (size_t i = 0; i < job->region_time_count; i++)
        if (!job->region_times[i].others && strcmp(job->region_times[i].name, name) == 0) return i;
    fail_msg("no region %s", name);
    return 0;
}

static const path_shape usual[] = {
    {"main", "main"}, {"main/step", "step"}, {"main/io/step", "step"}, {"main/wait", "wait"}};
enum { USUAL = sizeof usual / sizeof *usual };

// Of `threads` threads each second: half in step, below main and below io alike; from 5 s on a quarter waits.
static void usual_series(const char *file, const char *host, const char *node, int threads)
{
    node_file f = series_open(file, host, node, usual, USUAL);
    for (int t = 0; t <= 10; t++) {
        node_take(&f, t);
        node_add(&f, "process", "thread_time", threads * 1e9);
        node_add(&f, "main/step", "own_time", threads * .25e9);
        node_add(&f, "main/io/step", "own_time", threads * .25e9);
        node_add(&f, "main/step", "calls", 2);
        node_add(&f, "main/step", "bytes", 700);
        if (t >= 5) node_add(&f, "main/wait", "own_time", threads * .25e9);
        if (t >= 5) node_add(&f, "main/wait", "calls", 1);
    }
    node_close(&f);
}

// ---- tests ----

static void ranks_and_nodes_are_added_up(void **state)
{
    (void)state;
    record_node("n1", "alpha", 0);
    record_node("n2", "beta", 0);
    usual_series("a.netprof", "alpha", "n1", 1);
    usual_series("b.netprof", "alpha", "n1", 3);
    usual_series("c.netprof", "beta", NULL, 2); // known by its host only
    job_report job = report_here();
    assert_int_equal(job_region_ranks(&job, JOB_ALL_NODES), 3);
    assert_int_equal(job_region_ranks(&job, 0), 2);
    assert_int_equal(job_region_ranks(&job, 1), 1);
    expect_close(job_region_threads(&job), 60);
    assert_int_equal(job.region_time_count, 2); // main itself took nothing, and began nothing
    size_t step = region_of(&job, "step"), wait = region_of(&job, "wait");
    assert_int_equal(step, 0); // the longest first
    expect_close(job.region_times[step].own_s, 30);
    assert_int_equal(job.region_times[step].calls, 3 * 20);
    assert_int_equal(job.region_times[step].bytes, 3 * 7000);
    expect_close(job.region_times[wait].own_s, 6 * 5 * .25);
    for (size_t node = 0; node < 2; node++) {
        expect_close(job_region_share(&job, step, node, 0, 10), .5);
        expect_close(job_region_share(&job, wait, node, 0, 4), 0);
        expect_close(job_region_share(&job, wait, node, 6, 10), .25);
    }
    expect_close(job_region_share(&job, wait, JOB_ALL_NODES, 0, 10), .125);
    job_report_free(&job);
}

// Two nodes of one host, whose clock was set an hour ahead between them: what the second's process sampled moves with it.
static void regions_move_with_their_node(void **state)
{
    const int64_t hour = INT64_C(3600000000000);
    (void)state;
    for (int n = 1; n <= 2; n++) {
        node_shape shape = {.name = n == 1 ? "v1" : "v2",
                            .host = "box",
                            .boot = "b",
                            .parts = NODE_CPU,
                            .interval_s = 1,
                            .offset_ns = n == 2 ? hour : 0};
        node_file f = node_open(tree_path(tree, n == 1 ? "1.netprof" : "2.netprof"), &shape);
        for (int t = 0; t <= 10; t++)
            node_take(&f, t);
        node_close(&f);
    }
    node_file f = series_open("s.netprof", "box", "v2", usual, USUAL);
    f.offset_ns = hour;
    for (int t = 0; t <= 10; t++) {
        node_take(&f, t);
        node_add(&f, "process", "thread_time", 4e9);
        node_add(&f, "main/wait", "own_time", t < 5 ? 1e9 : 3e9);
    }
    node_close(&f);
    job_report job = report_here();
    assert_true(job.clocks_aligned);
    expect_close(job.end_s, 10);
    expect_close(job.nodes[1].shift_s, -3600);
    size_t wait = region_of(&job, "wait");
    for (int all = 0; all < 2; all++) {
        size_t node = all ? JOB_ALL_NODES : 1;
        expect_close(job_region_share(&job, wait, node, 0, 4), .25);
        expect_close(job_region_share(&job, wait, node, 6, 10), .75);
        expect_close(job_region_share(&job, wait, node, 0, 10), .5);
    }
    assert_true(isnan(job_region_share(&job, wait, 0, 0, 10)));
    job_report_free(&job);
}

// An interval that nobody can have meant is none.
static void an_impossible_interval(void **state)
{
    (void)state;
    record_node("n1", NULL, 0);
    node_file f = series_open_every("9000000000000000000", "a.netprof", "n1", NULL, usual, USUAL);
    for (int t = 0; t <= 10; t += 5) {
        node_take(&f, t);
        node_add(&f, "process", "thread_time", 4e9);
        node_add(&f, "main/wait", "own_time", 1e9);
    }
    node_close(&f);
    job_report job = report_here();
    expect_close(job_region_share(&job, region_of(&job, "wait"), 0, 0, 10), .25);
    job_report_free(&job);
}

// The same as JSON: a column a second, of all and of each host.
static void shares_of_hosts_in_json(void **state)
{
    (void)state;
    record_node("n1", "alpha", 0);
    record_node("n2", "beta", 0);
    usual_series("a.netprof", "alpha", "n1", 1);
    usual_series("c.netprof", "beta", NULL, 2);
    job_report job = report_here();
    json_object *o = job_report_json(&job), *part, *list, *name, *hosts, *shares;
    bool found = false;
    assert_true(json_object_object_get_ex(o, "regions_over_time", &part) &&
                json_object_object_get_ex(part, "regions", &list));
    for (size_t i = 0; i < json_object_array_length(list); i++) {
        json_object *x = json_object_array_get_idx(list, i);
        assert_true(json_object_object_get_ex(x, "region", &name));
        if (strcmp(json_object_get_string(name), "wait") != 0) continue;
        found = true;
        assert_true(json_object_object_get_ex(x, "share_by_host", &hosts));
        assert_int_equal(json_object_object_length(hosts), 2);
        for (int node = 0; node < 2; node++) {
            assert_true(json_object_object_get_ex(hosts, node ? "n2" : "n1", &shares));
            assert_int_equal(json_object_array_length(shares), 10);
            for (size_t t = 0; t < 10; t++) { // from 5 s on a quarter waits
                double share = json_object_get_double(json_object_array_get_idx(shares, t));
                if (t != 5 && !(fabs(share - (t < 5 ? 0 : 0.25)) < 0.01)) fail_msg("%zu: %g", t, share);
            }
        }
    }
    assert_true(found);
    json_object_put(o);
    job_report_free(&job);
}

// A process that was killed left its samples alone: its regions are those of the last one, each below its own.
static void a_killed_process_is_read_from_its_samples(void **state)
{
    static const path_shape nested[] = {
        {"main", "main"}, {"main/io", "io"}, {"mainly", "mainly"}, {"main/io/step", "step"}};
    (void)state;
    node_file f = series_open("x.series.netprof", "alpha", "n1", nested, sizeof nested / sizeof *nested);
    for (int t = 0; t <= 10; t++) {
        node_take(&f, t);
        for (size_t i = 0; i < sizeof nested / sizeof *nested; i++) {
            node_add(&f, nested[i].path, "calls", 2);
            node_add(&f, nested[i].path, "time", (double)(8 >> i) * 1e6);
            node_add(&f, nested[i].path, "bytes", 100 * (double)i);
        }
    }
    node_close(&f);
    regions r = {0};
    netprof_error error = {.code = NETPROF_OK};
    const char *paths[] = {tree};
    if (regions_read(&r, paths, 1, NULL, &error)) fail_msg("%s: %s", error.path, error.text);
    assert_int_equal(r.rank_count, 1);
    assert_int_equal(r.node_count, 4);
    for (size_t i = 0; i < sizeof nested / sizeof *nested; i++) {
        size_t at = regions_find(&r, nested[i].path);
        assert_true(at != REGIONS_NONE);
        assert_string_equal(r.nodes[at].name, nested[i].name);
        assert_int_equal(r.nodes[at].depth, i == 3 ? 2 : i == 1);
        assert_int_equal(r.nodes[at].sums.calls, 20);
        assert_true(r.nodes[at].sums.total_ns == (uint64_t)(8 >> i) * 10000000);
        assert_int_equal(r.nodes[at].sums.bytes, 1000 * i);
        assert_true(r.nodes[at].sums.min_ns == r.nodes[at].sums.total_ns / 20);
    }
    regions_free(&r);
}

static void a_node_without_a_recording_is_named_and_left_out(void **state)
{
    (void)state;
    record_node("n1", "same", 0);
    record_node("n2", "same", 0);
    usual_series("a.netprof", "same", "n1", 1);
    usual_series("b.netprof", "same", "n9", 8); // another node of that host
    job_report job = report_here();
    assert_int_equal(job_region_ranks(&job, JOB_ALL_NODES), 1);
    expect_close(job_region_threads(&job), 10);
    expect_close(job.region_times[region_of(&job, "step")].own_s, 5);
    assert_int_equal(
        warnings_with(&job, "the series of 1 process on n9 is not shown: there is no recording of that node"), 1);
    job_report_free(&job);
}

// One process tells its node, one its host alone, which is called the same: two places, and one node's.
static void processes_that_name_their_node_differently_are_of_one(void **state)
{
    (void)state;
    record_node("n1", NULL, 0);
    record_node("n2", NULL, 0);
    usual_series("a.netprof", "n1", "n1", 1);
    usual_series("b.netprof", "n2", NULL, 2);
    usual_series("c.netprof", "n1", NULL, 3);
    job_report job = report_here();
    assert_int_equal(job.region_place_count, 3);
    assert_int_equal(job_region_ranks(&job, 0), 2);
    assert_int_equal(job_region_ranks(&job, 1), 1);
    assert_int_equal(job_region_ranks(&job, JOB_ALL_NODES), 3);
    expect_close(job_region_threads(&job), 60);
    for (size_t node = 0; node < 2; node++) {
        expect_close(job_region_share(&job, region_of(&job, "step"), node, 0, 10), .5);
        expect_close(job_region_share(&job, region_of(&job, "wait"), node, 0, 10), .125);
    }
    job_report_free(&job);
}

// One process that is sampled every second and one every eight, on one node: their bins differ in width. All threads are
// in one of the regions all the time, so the shares of any stretch add up to 1, wherever its edges cut the bins.
static void shares_of_lanes_of_different_widths_add_up(void **state)
{
    static const path_shape fine[] = {{"early", "early"}, {"late", "late"}}, wide[] = {{"wide", "wide"}};
    (void)state;
    record_node("n1", NULL, 0);
    node_file a = series_open("a.netprof", "n1", NULL, fine, 2);
    for (int t = 0; t <= 16; t++) {
        node_take(&a, t);
        node_add(&a, "process", "thread_time", t < 5 ? 1e9 : 8e9); // more of them begin at 5 s
        node_add(&a, t < 5 ? "early" : "late", "own_time", t < 5 ? 1e9 : 8e9);
    }
    node_close(&a);
    node_file b = series_open_every("8000000000", "b.netprof", "n1", NULL, wide, 1);
    for (int t = 0; t <= 16; t += 8) {
        node_take(&b, t);
        node_add(&b, "process", "thread_time", 8e9);
        node_add(&b, "wide", "own_time", 8e9);
    }
    node_close(&b);
    job_report job = report_here();
    assert_int_equal(job.region_time_count, 3);
    for (int i = 0; i < 40; i++) {
        double sum = 0;
        for (size_t k = 0; k < 3; k++)
            sum += job_region_share(&job, k, 0, .25 * i, .25 * (i + 1));
        if (!(fabs(sum - 1) < 1e-3)) fail_msg("%g s: %g", .25 * i, sum);
    }
    expect_close(job_region_share(&job, region_of(&job, "late"), 0, 0, 16), 88. / (5 + 88 + 16));
    job_report_free(&job);
}

// Behind a first snapshot of the one kind come such of the other: what the file began as counts, and the rest is no more
// than time in which nothing of that is known.
static void a_file_that_changes_its_kind(void **state)
{
    (void)state;
    record_node("n1", NULL, 0);
    for (int to_series = 0; to_series < 2; to_series++) {
        const node_shape shape = {.name = "n1", .parts = NODE_CPU, .interval_s = 1};
        const netprof_schema *cpu = cluster_schema(&shape);
        node_file f = series_open("a.netprof", "n1", NULL, usual, USUAL);
        node_file other = {.writer = f.writer, .x = NETPROF_ZERO};
        assert_int_equal(netprof_snapshot_make(&other.x, cpu, NULL), NETPROF_OK);
        memset(other.x.status, NETPROF_STATUS_OK, other.x.schema->counter_count);
        netprof_schema_release(cpu);
        for (int t = 0; t < 4; t++) {
            node_take((t < 2) == to_series ? &other : &f, t);
            node_add(&f, "process", "thread_time", 1e9);
            node_add(&f, "main", "own_time", .5e9);
        }
        netprof_snapshot_free(&other.x);
        node_close(&f);
        job_report job = report_here();
        assert_int_equal(job.node_count, 1);
        assert_int_equal(job_region_ranks(&job, 0), to_series ? 0 : 1);
        assert_int_equal(job.region_time_count, to_series ? 0 : 1);
        if (!to_series) expect_close(job.region_times[0].own_s, .5);
        job_report_free(&job);
    }
}

// A count that goes back, one that no thread can reach, one that could not be read: each tells nothing, and the others
// stand. A process that was stopped for a while: its sums count, and are nowhere on the axis.
static void impossible_counts_tell_nothing(void **state)
{
    (void)state;
    record_node("n1", NULL, 0);
    node_file f = series_open("a.netprof", "n1", NULL, usual, USUAL);
    for (int t = 0; t <= 10; t++) {
        node_set(&f, "process", "thread_time", t * 1e9);
        node_set(&f, "main", "own_time", t * .5e9);
        node_set(&f, "main/step", "own_time", 1e9 * (10 - t));                            // backwards
        f.x.values[node_index(&f, "main/wait", "own_time")] = t < 5 ? 0 : UINT64_MAX - 5; // a leap
        node_set(&f, "main/io/step", "own_time", t * .25e9);
        node_status(&f, "main/io/step", "own_time", t == 4 ? NETPROF_STATUS_ABSENT : NETPROF_STATUS_OK);
        if (t != 6 && t != 7 && t != 8) node_take(&f, t);
    }
    node_close(&f);
    job_report job = report_here();
    expect_close(job.region_times[region_of(&job, "main")].own_s, 5);
    expect_close(job_region_share(&job, region_of(&job, "main"), 0, 0, 5), .5);
    assert_true(isnan(job_region_share(&job, region_of(&job, "main"), 0, 5.5, 8.5)));
    // What was counted when it could not be read comes with the next; backwards: what was there at the first sample.
    expect_close(job.region_times[region_of(&job, "step")].own_s, 2.5 + 10);
    expect_close(job_region_share(&job, region_of(&job, "step"), 0, 0, 1.9), .25);
    for (size_t i = 0; i < job.region_time_count; i++)
        assert_string_not_equal(job.region_times[i].name, "wait");
    job_report_free(&job);
}

static void more_names_than_anybody_reads(void **state)
{
    (void)state;
    enum { NAMES = 300 };
    static char names[NAMES][16];
    path_shape paths[NAMES];
    for (int i = 0; i < NAMES; i++) {
        snprintf(names[i], sizeof names[i], "r%d", i);
        paths[i] = (path_shape){names[i], names[i]};
    }
    record_node("n1", NULL, 0);
    node_file f = series_open("a.netprof", "n1", NULL, paths, NAMES);
    for (int t = 0; t <= 10; t++) {
        node_take(&f, t);
        node_add(&f, "process", "thread_time", 1e9);
        for (int i = 0; i < NAMES; i++)
            node_add(&f, names[i], "own_time", 1e9 / NAMES);
    }
    node_close(&f);
    job_report job = report_here();
    double sum = 0, share = 0;
    for (size_t i = 0; i < job.region_time_count; i++) {
        sum += job.region_times[i].own_s;
        share += job_region_share(&job, i, 0, 2, 8);
    }
    assert_true(job.region_time_count < NAMES);
    assert_true(job.region_times[job.region_time_count - 1].others);
    expect_close(sum, 10); // to the nanosecond that each name was rounded by
    expect_close(share, 1);
    job_report_free(&job);
}

// ---- hostile names ----

static const char long_name[] =
    "a_very_long_name_of_a_region_0123456789_0123456789_0123456789_0123456789_0123456789_0123456789_0123456789"
    "_0123456789_0123456789_0123456789_0123456789_0123456789_0123456789_0123456789_0123456789_the_end";
static const path_shape hostile[] = {
    {"<script>alert(1)<\\/script>", "<script>alert(1)</script>"},
    {"\x1b[31mred\x07", "\x1b[31mred\x07"},
    {"two\nlines\ttab", "two\nlines\ttab"},
    {"\xff\xfe not text \xc3", "\xff\xfe not text \xc3"},
    {"\xe2\x80\xae right to left", "\xe2\x80\xae right to left"},
    {"'; set terminal png; \"quoted\" `id` $(id) %s%n", "'; set terminal png; \"quoted\" `id` $(id) %s%n"},
    {"=cmd|'/c calc'!A1", "=cmd|'/c calc'!A1"},
    {long_name, long_name},
    {"none", ""},
};
enum { HOSTILE = sizeof hostile / sizeof *hostile };

static void write_hostile(void)
{
    record_node("n1", NULL, 0);
    node_file f = series_open("a.netprof", "n1", NULL, hostile, HOSTILE);
    for (int t = 0; t <= 10; t++) {
        node_take(&f, t);
        node_add(&f, "process", "thread_time", 10e9);
        for (int i = 0; i < HOSTILE; i++)
            node_add(&f, hostile[i].path, "own_time", 1e9);
    }
    node_close(&f);
}

static char *output_of(const char *format, ...)
{
    char command[8192];
    va_list list;
    va_start(list, format);
    vsnprintf(command, sizeof command, format, list);
    va_end(list);
    FILE *from = popen(command, "r");
    assert_non_null(from);
    size_t size = 0, room = 1 << 22;
    char *text = malloc(room + 1);
    assert_non_null(text);
    for (size_t n; size < room && (n = fread(text + size, 1, room - size, from)) > 0;)
        size += n;
    assert_int_equal(strlen((text[size] = 0, text)), size);
    int status = pclose(from);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) <= 1); // 1: a finding
    return text;
}

// One name a row, and nothing that a terminal would obey.
static void hostile_names_on_a_terminal(void **state)
{
    (void)state;
    write_hostile();
    char *text = output_of("'%s/netprof' job --all '%s'", NETPROF_TEST_BIN, tree);
    for (const char *p = text; *p; p++)
        assert_true((unsigned char)*p >= ' ' || *p == '\n');
    assert_null(strstr(text, "\xe2\x80\xae"));
    assert_null(strstr(text, "\xff"));
    assert_non_null(strstr(text, "set terminal png"));
    size_t rows = 0;
    for (const char *p = text; (p = strstr(p, "  10.0 %  10.0 %  10.0 %  10.0 %  10.0 %  10.0 %")) != NULL; p++)
        rows++;
    assert_int_equal(rows, HOSTILE);
    assert_non_null(strstr(text, "_the_end "));
    free(text);
    text = output_of("'%s/netprof' job '%s'", NETPROF_TEST_BIN, tree); // the same without --all fits
    for (const char *p = text, *end; (end = strchr(p, '\n')) != NULL; p = end + 1)
        assert_true(end - p <= 80);
    free(text);
}

static void hostile_names_in_json(void **state)
{
    (void)state;
    write_hostile();
    char *text = output_of("'%s/netprof' job --json '%s'", NETPROF_TEST_BIN, tree);
    json_object *all = json_tokener_parse(text), *part, *list, *name;
    assert_non_null(all);
    assert_true(json_object_object_get_ex(all, "regions_over_time", &part) &&
                json_object_object_get_ex(part, "regions", &list));
    assert_int_equal(json_object_array_length(list), HOSTILE);
    size_t same = 0;
    for (size_t i = 0; i < HOSTILE; i++)
        for (size_t k = 0; k < HOSTILE; k++)
            same += json_object_object_get_ex(json_object_array_get_idx(list, i), "region", &name) &&
                    strcmp(json_object_get_string(name), hostile[k].name) == 0;
    assert_int_equal(same, HOSTILE - 1); // all but the one that is no text
    json_object_put(all);
    free(text);
}

static void hostile_names_on_a_page(void **state)
{
    (void)state;
    if (access(NETPROF_TEST_BIN "/netprof-report", X_OK) != 0) skip();
    write_hostile();
    char *text =
        output_of("'%s/netprof-report' -o '%s/page.html' '%s/node-n1.netprof' '%s/a.netprof' && cat '%s/page.html'",
                  NETPROF_TEST_BIN, tree, tree, tree, tree);
    assert_non_null(strstr(text, "Regions in all"));
    assert_non_null(strstr(text, "&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert_null(strstr(text, "<script>alert"));
    for (const char *p = text; *p; p++)
        assert_true((unsigned char)*p >= ' ' || strchr("\n\r\t", *p));
    free(text);
}

// ---- broken files ----

static char *bytes_of(const char *file, size_t *size)
{
    FILE *from = fopen(tree_path(tree, file), "rb");
    char *bytes = malloc(1 << 16);
    assert_true(from && bytes);
    *size = fread(bytes, 1, 1 << 16, from);
    assert_true(*size > 0 && *size < 1 << 16);
    fclose(from);
    return bytes;
}

static double step_time(const job_report *job)
{
    for (size_t i = 0; i < job->region_time_count; i++)
        if (strcmp(job->region_times[i].name, "step") == 0) return job->region_times[i].own_s;
    return 0;
}

// All that stands before the cut counts, and never more.
static void cut_at_every_length(void **state)
{
    (void)state;
    record_node("n1", NULL, 0);
    usual_series("a.netprof", "n1", NULL, 1);
    size_t size;
    char *whole = bytes_of("a.netprof", &size);
    double last = 0;
    for (size_t n = 0; n <= size; n += n < size && n + 7 > size ? size - n : 7) {
        tree_write_bytes(tree, "a.netprof", whole, n);
        job_report job = report_here();
        double own = step_time(&job);
        assert_true(own >= last);
        assert_int_equal(job.node_count, 1); // the node's own recording is not touched by it
        last = own;
        job_report_free(&job);
        if (n == size) break;
    }
    expect_close(last, 5);
    free(whole);
}

// Whatever stands in it: the node's recording is reported, and shares stay shares.
static void every_byte_wrong(void **state)
{
    (void)state;
    record_node("n1", NULL, 0);
    usual_series("a.netprof", "n1", NULL, 1);
    size_t size;
    char *whole = bytes_of("a.netprof", &size);
    for (size_t at = 0; at < size; at += 3) {
        whole[at] = (char)~whole[at];
        tree_write_bytes(tree, "a.netprof", whole, size);
        whole[at] = (char)~whole[at];
        job_report job = report_here();
        assert_in_range(job.node_count, 1, 2);
        for (size_t i = 0; i < job.region_time_count; i++) {
            double share = job_region_share(&job, i, JOB_ALL_NODES, 0, job.end_s);
            assert_true(isnan(share) || (share >= 0 && share <= 1));
        }
        json_object *o = job_report_json(&job);
        assert_non_null(o);
        json_object_put(o);
        job_report_free(&job);
    }
    free(whole);
}

static void a_series_alone_is_no_job(void **state)
{
    (void)state;
    usual_series("a.netprof", "n1", NULL, 1);
    job_report job = {0};
    netprof_error error = {.code = NETPROF_OK};
    const char *paths[] = {tree};
    assert_int_not_equal(job_report_read(&job, paths, 1, NULL, &error), NETPROF_OK);
    assert_non_null(strstr(error.path, tree));
    assert_true(*error.text != 0);
}

// ---- who sent to whom, and the bytes that this explains ----

enum { TOLD_COLUMNS = 5 };
typedef struct told {
    int64_t peer, sent_bytes, sends, receive_ns, timed_receives;
} told;

// The file of a rank that was in MPI from second 1 to second `until`; rows: NULL: an older one, that told nothing.
static void mpi_rank_numbered(int rank, int ranks, int pid, const char *host, double until, const told *rows,
                              size_t count)
{
    static const char *const names[TOLD_COLUMNS] = {"peer", "sent_bytes", "sends", "receive_ns", "timed_receives"};
    netprof_writer *w;
    char file[32], text[32];
    snprintf(file, sizeof file, "rank-%d.netprof", rank);
    assert_int_equal(netprof_writer_open(&w, tree_path(tree, file), 0, NULL), NETPROF_OK);
    const struct {
        const char *key;
        int64_t value;
    } numbers[] = {{"rank", rank},
                   {"rank_count", ranks},
                   {"pid", pid},
                   {"mpi_began_ns", CLUSTER_EPOCH + 1000000000},
                   {"mpi_ended_ns", CLUSTER_EPOCH + llround(until * 1e9)}};
    netprof_write_fact(w, "host", host, NULL);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        snprintf(text, sizeof text, "%lld", (long long)numbers[i].value);
        netprof_write_fact(w, numbers[i].key, text, NULL);
    }
    netprof_events_column columns[TOLD_COLUMNS];
    int64_t cells[TOLD_COLUMNS][8];
    for (size_t k = 0; k < TOLD_COLUMNS; k++)
        columns[k] = (netprof_events_column){.name = names[k], .numbers = cells[k]};
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < TOLD_COLUMNS; k++)
            cells[k][i] = (&rows[i].peer)[k];
    const netprof_events table = {"mpi.peers", columns, TOLD_COLUMNS, count};
    if (rows) assert_int_equal(netprof_write_events(w, &table, NULL), NETPROF_OK);
    netprof_stat stats[] = {
        {.region = "MPI_Allreduce", .node = 0, .parent = UINT32_MAX, .calls = 1, .measured = 1, .bytes = 500},
        {.region = "MPI_Iallreduce", .node = 1, .parent = UINT32_MAX, .calls = 1, .measured = 1, .bytes = 30},
        {.region = "MPI_Send", .node = 2, .parent = UINT32_MAX, .calls = 1, .measured = 1, .bytes = 7}};
    uint64_t buckets[NETPROF_HISTOGRAM_BUCKETS] = {0};
    for (size_t i = 0; i < sizeof stats / sizeof *stats; i++) {
        stats[i].histogram = buckets;
        stats[i].inclusive_ns = stats[i].exclusive_ns = stats[i].total_ns = stats[i].min_ns = stats[i].max_ns = 1000;
    }
    const netprof_regions all = {.stats = stats,
                                 .count = sizeof stats / sizeof *stats,
                                 .mode = NETPROF_MODE_TIME,
                                 .wall_ns = CLUSTER_EPOCH + 1000000000,
                                 .elapsed_ns = llround((until - 1) * 1e9),
                                 .threads = 1,
                                 .clock = "tsc",
                                 .warning = ""};
    assert_int_equal(netprof_write_regions(w, &all, NULL), NETPROF_OK);
    assert_int_equal(netprof_writer_close(w, 1, NULL), NETPROF_OK);
}

// Two nodes, of which each sends so much in ten seconds. a's counters begin again at second `reset`; 0: they do not.
static void record_pair_from(double sent_by_a, double sent_by_b, int reset)
{
    node_file a = node_open(tree_path(tree, "a.netprof"),
                            &(node_shape){.name = "a", .parts = NODE_CPU, .nics = 1, .interval_s = 1}),
              b = node_open(tree_path(tree, "b.netprof"),
                            &(node_shape){.name = "b", .parts = NODE_CPU, .nics = 1, .interval_s = 1});
    for (int t = 0; t <= 10; t++) {
        node_set(&a, "cxi0", "hni_sts_tx_ok_octets", sent_by_a * (t < reset ? t : t - reset) / 10);
        node_set(&b, "cxi0", "hni_sts_rx_ok_octets", sent_by_a * t / 10);
        node_set(&b, "cxi0", "hni_sts_tx_ok_octets", sent_by_b * t / 10);
        node_set(&a, "cxi0", "hni_sts_rx_ok_octets", sent_by_b * t / 10);
        node_take(&a, t);
        node_take(&b, t);
    }
    node_close(&a);
    node_close(&b);
}

static void mpi_rank_of(int rank, int ranks, const char *host, double until, const told *rows, size_t count)
{
    mpi_rank_numbered(rank, ranks, 100 + rank, host, until, rows, count);
}

static void record_pair(double sent_by_a, double sent_by_b)
{
    record_pair_from(sent_by_a, sent_by_b, 0);
}

// Four ranks: 0 and 1 on a, 2 and 3 on b.
static void usual_ranks(double until)
{
    mpi_rank_of(0, 4, "a", until, (const told[]){{1, 4000, 4, 0, 0}, {2, 1000, 10, 900, 3}}, 2);
    mpi_rank_of(1, 4, "a", until, (const told[]){{3, 2000, 2, 0, 0}}, 1);
    mpi_rank_of(2, 4, "b", until, (const told[]){{0, 500, 5, 0, 0}, {3, 60, 1, 0, 0}}, 2);
    mpi_rank_of(3, 4, "b", until, (const told[]){{-1, 70, 1, 0, 0}}, 1);
}

static void messages_are_told_by_pair_and_by_node(void **state)
{
    (void)state;
    pairs p, by_node;
    record_pair(3300, 600);
    usual_ranks(9);
    job_report job = report_here();
    assert_true(regions_pairs(&p, &job.regions));
    assert_int_equal(regions_pairs_told(&job.regions), 4);
    uint64_t sent[2] = {0}, received[2] = {0};
    pairs_sums s = pairs_sum(&p, sent, received);
    assert_int_equal(s.between, 1000 + 2000 + 500);
    assert_int_equal(s.within, 4000 + 60);
    assert_int_equal(s.messages, 4 + 10 + 2 + 5 + 1);
    assert_int_equal(p.outside_bytes, 70);
    assert_int_equal(p.together_bytes, 4 * 530); // not what was sent to one
    assert_int_equal(sent[0], 3000);
    assert_int_equal(sent[1], 500);
    assert_int_equal(received[0], 500);
    // Rank 0 said how long it waited for what rank 2 sent: that is in the row of the sender.
    const pairs_cell *cell = pairs_find(&p, 2, 0);
    assert_non_null(cell);
    assert_int_equal(cell->bytes, 500);
    expect_close(pairs_delay_of(cell), 300);
    assert_true(isnan(pairs_delay_of(pairs_find(&p, 0, 2))));
    assert_null(pairs_find(&p, 3, 0));
    size_t *largest, count = pairs_largest(&p, 2, &largest);
    assert_int_equal(count, 2);
    assert_int_equal(p.cells[largest[0]].bytes, 4000);
    assert_int_equal(p.cells[largest[1]].bytes, 2000);
    free(largest);
    pairs_by_node(&by_node, &p);
    assert_int_equal(pairs_find(&by_node, 0, 1)->bytes, 3000);
    assert_int_equal(pairs_find(&by_node, 0, 0)->bytes, 4000);
    assert_string_equal(by_node.places[1].label, "b");
    pairs_free(&by_node);
    pairs_free(&p);
    job_report_free(&job);
}

static void bytes_of_the_nics_are_explained(void **state)
{
    (void)state;
    record_pair(3300, 600);
    usual_ranks(9);
    job_report job = report_here();
    const job_explained *e = &job.explained;
    assert_int_equal(e->node_count, 2);
    expect_close(e->nic_sent, 3900);
    assert_int_equal(e->sent[0], 3500);
    assert_int_equal(e->within, 4060);
    expect_close(e->nodes[0].nic_sent, 3300);
    assert_int_equal(e->nodes[0].sent[0], 3000);
    assert_int_equal(e->nodes[0].received[0], 500);
    assert_non_null(strstr(e->text,
                           "sent 3.90 kB; the messages of MPI to other nodes are 3.50 kB (89.7 %). The rest, "
                           "400 B: headers, acknowledgements, what was sent again, collectives (given 2.12 kB"));
    assert_non_null(strstr(e->text, "Within nodes, past the NICs: 4.06 kB."));
    job_report_free(&job);
    record_pair_from(3300, 600, 5); // what a sent in one second nobody knows: 330
    job = report_here();
    assert_non_null(
        strstr(job.explained.text,
               "sent \u2265 3.57 kB; the messages of MPI to other nodes are 3.50 kB (\u2264 98.0 %). The rest, "
               "\u2265 70 B: "));
    job_report_free(&job);
}

static void more_than_the_nics_moved_is_never_a_share(void **state)
{
    (void)state;
    record_pair(1000, 100);
    usual_ranks(9);
    job_report job = report_here();
    assert_non_null(strstr(job.explained.text, "are 3.50 kB, more than the NICs: why is not known."));
    assert_null(strchr(job.explained.text, '%'));
    job_report_free(&job);
    usual_ranks(21); // of 20 s the last 11 have no recording
    job = report_here();
    assert_non_null(strstr(job.explained.text, "more than the NICs: 55.0 % of the run was not recorded."));
    job_report_free(&job);
}

static void ranks_and_nodes_that_tell_nothing_are_said(void **state)
{
    (void)state;
    record_pair(3300, 600);
    usual_ranks(9);
    mpi_rank_of(1, 4, "a", 9, NULL, 0);
    job_report job = report_here();
    assert_int_equal(job.explained.sent[0], 1500);
    assert_non_null(strstr(job.explained.text, "Only 3 of 4 ranks told."));
    job_report_free(&job);
    mpi_rank_of(1, 4, "elsewhere", 9, (const told[]){{3, 2000, 2, 0, 0}}, 1);
    job = report_here();
    assert_int_equal(job.explained.sent[0], 1500 + 4000); // to rank 1, which now is on another node
    assert_non_null(strstr(job.explained.text, "Nodes whose NICs were not read are left out."));
    job_report_free(&job);
    for (int rank = 0; rank < 4; rank++)
        mpi_rank_of(rank, 4, "a", 9, NULL, 0);
    job = report_here();
    assert_null(job.explained.text);
    job_report_free(&job);
}

// Two programs at once, each with a rank 0: which of them a row means nobody can tell.
static void ranks_of_one_number_are_told_of_no_pair(void **state)
{
    (void)state;
    pairs p;
    record_pair(3300, 600);
    usual_ranks(9);
    assert_int_equal(rename(tree_path(tree, "rank-0.netprof"), tree_path(tree, "other-0.netprof")), 0);
    mpi_rank_numbered(0, 4, 200, "b", 9, (const told[]){{3, 1000, 1, 0, 0}}, 1);
    job_report job = report_here();
    assert_false(regions_pairs(&p, &job.regions));
    assert_null(job.explained.text);
    pairs_free(&p);
    job_report_free(&job);
}

static void hostile_rows_of_peers_cost_nothing_else(void **state)
{
    (void)state;
    pairs p;
    record_pair(3300, 600);
    mpi_rank_of(0, 2, "a", 9,
                (const told[]){{1, INT64_MAX, 1, -1, INT64_MIN},
                               {1, INT64_MAX, 1, INT64_MAX, 2},
                               {1, INT64_MAX, 1, 0, 0},
                               {INT64_MAX, 5, 1, 0, 0},
                               {INT64_MIN, -5, 1, 0, 0}},
                5);
    mpi_rank_of(1, 2, "b", 9, (const told[]){{0, 0, 0, 0, 0}}, 1);
    job_report job = report_here();
    assert_true(regions_pairs(&p, &job.regions));
    assert_int_equal(pairs_sum(&p, NULL, NULL).pairs, 2);
    assert_true(pairs_find(&p, 0, 1)->bytes == UINT64_MAX); // capped, not wrapped
    assert_int_equal(p.outside_bytes, 5);
    pairs_free(&p);
    assert_non_null(strstr(job.explained.text, "more than the NICs"));
    job_report_free(&job);
}

// NCCL's part, as another reader found it: of both nodes, within one, to nobody known.
static void other_layers_explain_too(void **state)
{
    (void)state;
    pairs nccl = {.layer = "NCCL"}, silent = {.layer = "NCCL", .unknown = true};
    const pairs *const layers[] = {&nccl}, *const none[] = {&silent};
    const char *paths[] = {tree};
    const size_t a = pairs_add_node(&nccl, "a"), b = pairs_add_node(&nccl, "b");
    pairs_add_place(&nccl, "pid 1", a);
    pairs_add_place(&nccl, "pid 2", b);
    pairs_add_place(&nccl, "pid 3", b);
    pairs_add(&nccl, &(pairs_cell){.sender = 1, .receiver = 0, .bytes = 80, .messages = 1});
    pairs_add(&nccl, &(pairs_cell){.sender = 1, .receiver = 2, .bytes = 9, .messages = 1});
    pairs_add(&nccl, &(pairs_cell){.sender = 1, .receiver = 0, .bytes = 20, .messages = 1});
    pairs_finish(&nccl);
    record_pair(3300, 600);
    usual_ranks(9);
    job_report job = {0};
    assert_int_equal(job_report_read(&job, paths, 1, &(job_report_options){.layers = layers, .layer_count = 1}, NULL),
                     0);
    assert_int_equal(job.explained.layer_count, 2);
    assert_int_equal(job.explained.sent[1], 100);
    assert_int_equal(job.explained.nodes[1].sent[1], 100);
    assert_int_equal(job.explained.within, 4060 + 9);
    assert_non_null(strstr(job.explained.text, "the messages of MPI and NCCL to other nodes are 3.60 kB (92.3 %)"));
    job_report_free(&job);
    // Of some transfers it is not known how much they moved: no sum of them is more than a lower bound.
    nccl.at_least = true;
    job = (job_report){0};
    assert_int_equal(job_report_read(&job, paths, 1, &(job_report_options){.layers = layers, .layer_count = 1}, NULL),
                     0);
    assert_non_null(
        strstr(job.explained.text, "to other nodes are \u2265 3.60 kB (\u2265 92.3 %). The rest, \u2264 300 B: "));
    assert_non_null(strstr(job.explained.text, ", transfers of which it was not recorded how much they moved"));
    json_object *json = job_report_json(&job), *explained, *list, *bound;
    assert_true(json_object_object_get_ex(json, "bytes_explained", &explained));
    assert_true(json_object_object_get_ex(explained, "layers", &list));
    assert_false(json_object_object_get_ex(json_object_array_get_idx(list, 0), "lower_bound", &bound));
    assert_true(json_object_object_get_ex(json_object_array_get_idx(list, 1), "lower_bound", &bound));
    assert_true(json_object_get_boolean(bound));
    json_object_put(json);
    job_report_free(&job);
    job = (job_report){0};
    assert_int_equal(job_report_read(&job, paths, 1, &(job_report_options){.layers = none, .layer_count = 1}, NULL), 0);
    assert_int_equal(job.explained.layer_count, 1);
    assert_non_null(strstr(job.explained.text, ", what NCCL sent (the steps of its transfers were not recorded)"));
    job_report_free(&job);
    pairs_free(&nccl);
}

static char *report_of(const char *options)
{
    return output_of("cd '%s' && '%s/netprof-report' %s . && cat out", tree, NETPROF_TEST_BIN, options);
}

#define GAP "\xe2\x80\xaf" // before a unit

static void matrices_and_bars_of_a_job(void **state)
{
    (void)state;
    if (access(NETPROF_TEST_BIN "/netprof-report", X_OK) != 0) skip();
    record_pair(3300, 600);
    usual_ranks(9);
    char *text = report_of("--chart peers-bytes -o p.svg --data out");
    assert_string_equal(text, "sender,receiver,B\nrank 0,rank 1,4.00" GAP "kB\nrank 0,rank 2,1.00" GAP
                              "kB\nrank 1,rank 3,2.00" GAP "kB\n"
                              "rank 2,rank 0,500" GAP "B\nrank 2,rank 3,60" GAP "B\n");
    free(text);
    text = report_of("--chart peers-delay -o p.svg --data out");
    assert_non_null(strstr(text, "rank 2,rank 0,300" GAP "ns\n"));
    assert_non_null(strstr(text, "rank 0,rank 1,\n")); // nobody received that in a blocking call
    free(text);
    text = report_of("--chart bytes-explained -o p.svg --data out");
    assert_non_null(strstr(text, "2 nodes,MPI,3.50" GAP "kB,89.7" GAP "%"));
    assert_non_null(strstr(text, "2 nodes,the rest,400" GAP "B,10.3" GAP "%"));
    assert_non_null(strstr(text, "a,MPI,3.00" GAP "kB,90.9" GAP "%"));
    free(text);
    text = output_of("cd '%s' && '%s/netprof-report' --check-layout .", tree, NETPROF_TEST_BIN);
    assert_string_equal(text, "0 faults\n");
    free(text);
}

// A call of rank 0, on a, or 1, on b, as a verbose log of the Inspector has it; from_s 0: as others have it.
static void nccl_call(FILE *f, int rank, const char *coll, int sn, double from_s, double to_s)
{
    fprintf(f,
            "{\"header\":{\"id\":\"0xab\",\"comm_name\":\"dp\",\"rank\":%d,\"n_ranks\":2,\"nnodes\":2},\"metadata\":{"
            "\"inspector_output_format_version\":\"v4.2\",\"dump_timestamp_us\":%lld,\"hostname\":\"%c\",\"pid\":7},"
            "\"coll_perf\":{\"coll\":\"%s\",\"coll_sn\":%d,\"coll_msg_size_bytes\":1000,\"coll_exec_time_us\":9,"
            "\"coll_algobw_gbs\":1.0,\"coll_busbw_gbs\":1.0",
            rank, CLUSTER_EPOCH / 1000 + 9000000LL, 'a' + rank, coll, sn);
    if (from_s > 0)
        fprintf(f, ",\"event_trace_ts\":{\"coll_start_ts\":%lld,\"coll_stop_ts\":%lld}",
                CLUSTER_EPOCH / 1000 + llround(from_s * 1e6), CLUSTER_EPOCH / 1000 + llround(to_s * 1e6));
    fprintf(f, "}}\n");
}

// The columns of a row of a chart's data that are of this text, as "8-19 24".
static char *columns_of(const char *data, const char *row, const char *value)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    const char *p = strstr(data, row);
    assert_non_null(p);
    p += strlen(row);
    bool open = false;
    for (int column = 0; *p && *p != '\n'; column++) {
        const char *cell = ++p;
        p += strcspn(p, ",\n");
        bool is = (size_t)(p - cell) == strlen(value) && strncmp(cell, value, strlen(value)) == 0;
        if (is && !open) fprintf(to, "%s%d-", ftell(to) ? " " : "", column);
        if (!is && open) fprintf(to, "%d", column - 1);
        open = is;
    }
    if (open) fprintf(to, "end");
    fclose(to);
    return text;
}

static void nccl_calls_are_on_the_axis_of_the_job(void **state)
{
    (void)state;
    if (access(NETPROF_TEST_BIN "/netprof-report", X_OK) != 0) skip();
    record_pair(3300, 600); // ten seconds, in a table of 60 columns
    FILE *f = fopen(tree_path(tree, "nccl.log"), "we");
    assert_non_null(f);
    nccl_call(f, 0, "AllReduce", 0, 2, 4);
    nccl_call(f, 0, "AllReduce", 1, 3, 5); // a call is in flight from 2 s to 5 s,
    nccl_call(f, 0, "AllGather", 0, 7, 8);
    nccl_call(f, 1, "AllReduce", 0, 0, 0);
    nccl_call(f, 1, "AllReduce", 1, 9, 12);
    assert_int_equal(fclose(f), 0);
    char *text = report_of("--as job --chart nccl-over-time -o p.svg --data out");
    char *columns = columns_of(text, "\nrank 0 of dp", "100" GAP "%");
    assert_string_equal(columns, "12-29 42-47");
    free(columns);
    columns = columns_of(text, "\nrank 0 of dp", "0" GAP "%");
    assert_string_equal(columns, "0-11 30-41 48-end");
    free(columns);
    columns = columns_of(text, "\nrank 1 of dp", "100" GAP "%");
    assert_string_equal(columns, "54-end");
    free(columns);
    free(text);
    text = output_of("cd '%s' && '%s/netprof-report' --as job -o r.svg . && cat r*.svg | tr -d '\\n'", tree,
                     NETPROF_TEST_BIN);
    assert_non_null(strstr(text, "Drawn: 4 of 5"));
    free(text);
    text = output_of("cd '%s' && '%s/netprof-report' --as job --check-layout .", tree, NETPROF_TEST_BIN);
    assert_string_equal(text, "0 faults\n");
    free(text);
    // What lies beside it makes NCCL's report as long as nothing else is wanted.
    text = output_of("cd '%s' && '%s/netprof-report' --explain .", tree, NETPROF_TEST_BIN);
    assert_non_null(strstr(text, "report: NCCL collectives"));
    free(text);
}

static void many_ranks_are_rows_of_nodes(void **state)
{
    enum { RANKS = 130, EACH = 10 };
    (void)state;
    if (access(NETPROF_TEST_BIN "/netprof-report", X_OK) != 0) skip();
    for (int i = 0; i < RANKS; i++) {
        char host[16];
        snprintf(host, sizeof host, "h%02d", i / EACH);
        mpi_rank_of(i, RANKS, host, 2, &(told){(i + EACH) % RANKS, 1000, 1, 0, 0}, 1);
    }
    char *text = report_of("--chart peers-bytes -o p.svg --data out");
    size_t lines = 0;
    for (const char *p = text; *p; p++)
        lines += *p == '\n';
    assert_int_equal(lines, 1 + RANKS / EACH);
    assert_non_null(strstr(text, "\nh00,h01,10.0" GAP "kB\n"));
    assert_non_null(strstr(text, "\nh12,h00,10.0" GAP "kB\n"));
    free(text);
    text = output_of("cd '%s' && '%s/netprof-report' --list-charts .", tree, NETPROF_TEST_BIN);
    assert_non_null(strstr(text, "MPI messages to a named peer, by node"));
    free(text);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(ranks_and_nodes_are_added_up, setup, teardown),
        cmocka_unit_test_setup_teardown(regions_move_with_their_node, setup, teardown),
        cmocka_unit_test_setup_teardown(an_impossible_interval, setup, teardown),
        cmocka_unit_test_setup_teardown(shares_of_hosts_in_json, setup, teardown),
        cmocka_unit_test_setup_teardown(a_killed_process_is_read_from_its_samples, setup, teardown),
        cmocka_unit_test_setup_teardown(a_node_without_a_recording_is_named_and_left_out, setup, teardown),
        cmocka_unit_test_setup_teardown(processes_that_name_their_node_differently_are_of_one, setup, teardown),
        cmocka_unit_test_setup_teardown(shares_of_lanes_of_different_widths_add_up, setup, teardown),
        cmocka_unit_test_setup_teardown(a_file_that_changes_its_kind, setup, teardown),
        cmocka_unit_test_setup_teardown(impossible_counts_tell_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(more_names_than_anybody_reads, setup, teardown),
        cmocka_unit_test_setup_teardown(hostile_names_on_a_terminal, setup, teardown),
        cmocka_unit_test_setup_teardown(hostile_names_in_json, setup, teardown),
        cmocka_unit_test_setup_teardown(hostile_names_on_a_page, setup, teardown),
        cmocka_unit_test_setup_teardown(cut_at_every_length, setup, teardown),
        cmocka_unit_test_setup_teardown(every_byte_wrong, setup, teardown),
        cmocka_unit_test_setup_teardown(a_series_alone_is_no_job, setup, teardown),
        cmocka_unit_test_setup_teardown(messages_are_told_by_pair_and_by_node, setup, teardown),
        cmocka_unit_test_setup_teardown(bytes_of_the_nics_are_explained, setup, teardown),
        cmocka_unit_test_setup_teardown(more_than_the_nics_moved_is_never_a_share, setup, teardown),
        cmocka_unit_test_setup_teardown(ranks_and_nodes_that_tell_nothing_are_said, setup, teardown),
        cmocka_unit_test_setup_teardown(ranks_of_one_number_are_told_of_no_pair, setup, teardown),
        cmocka_unit_test_setup_teardown(hostile_rows_of_peers_cost_nothing_else, setup, teardown),
        cmocka_unit_test_setup_teardown(other_layers_explain_too, setup, teardown),
        cmocka_unit_test_setup_teardown(matrices_and_bars_of_a_job, setup, teardown),
        cmocka_unit_test_setup_teardown(nccl_calls_are_on_the_axis_of_the_job, setup, teardown),
        cmocka_unit_test_setup_teardown(many_ranks_are_rows_of_nodes, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

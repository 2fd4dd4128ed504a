/* What a report costs: whole processes, from fork to exit, beside gnuplot's start and an empty page of cairo. */
#include "bench.h"
#include "netprof.h"

#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { NICS = 8, SAMPLES = 60 };

static const char *const fast[] = {"hni_sts_tx_ok_octets",
                                   "hni_sts_rx_ok_octets",
                                   "hni_pkts_sent_by_tc_0",
                                   "hni_pkts_sent_by_tc_1",
                                   "hni_pkts_recv_by_tc_0",
                                   "hni_pkts_recv_by_tc_1",
                                   "hni_tx_paused_0",
                                   "hni_tx_paused_1",
                                   "hni_rx_paused_0",
                                   "hni_rx_paused_1",
                                   "parbs_tarb_pi_posted_pkts",
                                   "parbs_tarb_pi_posted_blocked_cnt",
                                   "parbs_tarb_pi_non_posted_pkts",
                                   "parbs_tarb_pi_non_posted_blocked_cnt",
                                   "lpe_net_match_priority_0",
                                   "lpe_net_match_overflow_0",
                                   "lpe_rndzv_puts_0",
                                   "lpe_rndzv_puts_offloaded_0",
                                   "atu_cache_miss_0",
                                   "atu_cache_miss_1",
                                   "atu_cache_hit_base_page_size_0",
                                   "atu_cache_hit_derivative1_page_size_0",
                                   "atu_cache_evictions",
                                   "pct_spt_timeouts",
                                   "pct_sct_timeouts",
                                   "pct_retry_srb_requests",
                                   "pct_no_tct_nacks",
                                   "pct_no_trs_nacks",
                                   "pct_no_mst_nacks",
                                   "pct_trs_rsp_nack_drops",
                                   "hni_pcs_corrected_cw",
                                   "hni_pcs_uncorrected_cw",
                                   "hni_llr_tx_replay_event",
                                   "hni_llr_rx_replay_event"};
enum { FAST = sizeof fast / sizeof *fast };

/* -- processes -- */

static struct rusage use; /* of the last process */

static int64_t run_process(char *const *command, long *kib)
{
    posix_spawn_file_actions_t to_null;
    int64_t begin;
    pid_t pid;
    int status = -1;
    posix_spawn_file_actions_init(&to_null);
    posix_spawn_file_actions_addopen(&to_null, 0, "/dev/null", 0, 0);
    posix_spawn_file_actions_addopen(&to_null, 1, "/dev/null", 1, 0);
    begin = bench_now();
    if (posix_spawnp(&pid, command[0], &to_null, NULL, command, environ) == 0) wait4(pid, &status, 0, &use);
    posix_spawn_file_actions_destroy(&to_null);
    if (kib) *kib = WIFEXITED(status) ? use.ru_maxrss : -1;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? bench_now() - begin : -1;
}

static int64_t once(void *state)
{
    return run_process(state, NULL);
}

static void *prepare(const void *with)
{
    long kib;
    if (run_process((char *const *)(uintptr_t)with, &kib) >= 0) return (void *)(uintptr_t)with;
    bench_cannot("%s failed", *(const char *const *)with);
    return NULL;
}

static double processor_s(void)
{
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
}

/* Memory, and the least processor time of some runs: what a machine with other work on it does not change. With the
   programs that it starts. */
static void use_rows(const char *name, const char *const *command, double target)
{
    double least = 1e9;
    long kib = -1;
    char text[120];
    for (int i = 0; i < (bench.quick ? 1 : 5); i++) {
        if (run_process((char *const *)(uintptr_t)command, &kib) < 0) {
            bench_skip(name, "the report failed");
            return;
        }
        least = processor_s() < least ? processor_s() : least;
    }
    snprintf(text, sizeof text, "%s: processor time", name);
    bench_figure(text, least * 1e3, "ms", 0);
    bench_figure("  resident", (double)kib / 1024, "MiB", target);
}

/* -- many hosts -- */

static const netprof_schema *schema_of(unsigned host)
{
    netprof_list *list = netprof_build_begin(NULL);
    const netprof_schema *schema = NULL;
    char name[32];
    snprintf(name, sizeof name, "node%04u", host);
    netprof_build_fact(list, "host", name);
    netprof_build_fact(list, "boot_id", name);
    netprof_build_source(list, "cxi");
    for (unsigned d = 0; d < NICS; d++) {
        snprintf(name, sizeof name, "cxi%u", d);
        netprof_list_device(list, name, 0, NETPROF_DEVICE_PHYSICAL);
        netprof_list_fact(list, "speed_mbps", "200000");
        for (size_t i = 0; i < FAST; i++) {
            netprof_counter c = {.name = fast[i], .unit = "", .width = 56, .flags = NETPROF_FAST | NETPROF_STAMPED};
            netprof_list_counter(list, &c);
        }
    }
    return netprof_build_end(list, &schema, NULL) == NETPROF_OK ? schema : NULL;
}

static void advance(netprof_snapshot *x, unsigned sample, uint64_t *seed)
{
    x->begin_ns = 1000000000000 + (int64_t)sample * 1000000000;
    x->end_ns = x->begin_ns + 300000;
    x->wall_ns = 1700000000000000000 + x->begin_ns;
    x->set = NETPROF_SET_FAST;
    for (size_t i = 0; i < x->schema->counter_count; i++) {
        size_t kind = i % FAST;
        *seed = *seed * 6364136223846793005u + 1442695040888963407u;
        uint64_t random = *seed >> 40; /* 24 bits */
        x->values[i] += kind < 2 ? 5000000000u + random * 100 : kind < 23 ? random : (uint64_t)(random > 16770000);
        x->status[i] = NETPROF_STATUS_OK;
        x->stamps_ns[i] = x->wall_ns + (int64_t)i * 1000;
    }
    for (size_t d = 0; d < NICS; d++) {
        x->device_begin_ns[d] = x->begin_ns + (int64_t)d * 30000;
        x->device_end_ns[d] = x->device_begin_ns[d] + 30000;
    }
}

static int make_host(unsigned host, const char *path)
{
    netprof_snapshot x = NETPROF_ZERO;
    netprof_writer *to = NULL;
    const netprof_schema *schema = schema_of(host);
    uint64_t seed = host + 1;
    int failed = !schema || netprof_snapshot_make(&x, schema, NULL) != NETPROF_OK ||
                 netprof_writer_open(&to, path, 0, NULL) != NETPROF_OK;
    for (unsigned i = 0; i < SAMPLES && !failed; i++) {
        advance(&x, i, &seed);
        failed = netprof_write_snapshot(to, &x, NULL) != NETPROF_OK;
    }
    if (to && netprof_writer_close(to, !failed, NULL) != NETPROF_OK) failed = 1;
    netprof_snapshot_free(&x);
    netprof_schema_release(schema);
    return failed;
}

static void many_hosts(const char *report)
{
    unsigned hosts = bench.quick ? 3 : 1000;
    char directory[600], output[700], name[160];
    const char **command = calloc(hosts + 4, sizeof *command);
    char(*paths)[700] = calloc(hosts, sizeof *paths);
    long kib = -1;
    int failed = !command || !paths;
    bench_path(directory, sizeof directory, "%s/hosts", bench.tree);
    bench_path(output, sizeof output, "%s/hosts.pdf", bench.tree);
    failed = failed || mkdir(directory, 0777) != 0;
    for (unsigned i = 0; i < hosts && !failed; i++) {
        bench_path(paths[i], sizeof paths[i], "%s/%04u.netprof", directory, i);
        failed = make_host(i, paths[i]);
        command[i + 3] = paths[i];
    }
    snprintf(name, sizeof name, "report of %u hosts x %d NICs x %d samples", hosts, NICS, SAMPLES);
    if (failed) {
        bench_skip(name, "cannot write the files");
    } else {
        command[0] = report, command[1] = "-o", command[2] = output;
        int64_t ns = run_process((char *const *)(uintptr_t)command, &kib);
        if (ns < 0) {
            bench_skip(name, "the report failed");
        } else {
            bench_figure(name, (double)ns / 1e9, "s", 20);
            bench_figure("  its processor time", processor_s(), "s", 0);
            bench_figure("  resident", (double)kib / 1024, "MiB", 1024);
        }
    }
    bench_remove_all(directory);
    free(command);
    free(paths);
}

/* A program that lies beside another one. */
static const char *beside(const char *path, const char *name, char *to, size_t size)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    snprintf(to, size, "%.*s%s", slash ? (int)(slash - path + 1) : 0, path ? path : "", name);
    return to;
}

/* A job of an hour at 1 Hz: the fast set of four NICs, CPU, memory, processes, energy, four GPUs of each node. */
static void hour_of_a_job(const char *report, const char *self)
{
    const char *nodes = bench.quick ? "2" : "256", *seconds = bench.quick ? "60" : "3600";
    char make[700], directory[600], output[700], name[160];
    long kib = -1;
    beside(self, "make_job", make, sizeof make);
    bench_path(directory, sizeof directory, "%s/job", bench.tree);
    bench_path(output, sizeof output, "%s/job.pdf", bench.tree);
    const char *const written[] = {make, "-n", nodes, "-t", seconds, directory, NULL};
    const char *const drawn[] = {report, "-o", output, directory, NULL};
    snprintf(name, sizeof name, "report of %s nodes x %s s at 1 Hz", nodes, seconds);
    if (mkdir(directory, 0777) != 0 || run_process((char *const *)(uintptr_t)written, NULL) < 0) {
        bench_skip(name, "cannot write the recordings");
        return;
    }
    int64_t ns = run_process((char *const *)(uintptr_t)drawn, &kib);
    if (ns < 0) {
        bench_skip(name, "the report failed");
    } else {
        bench_figure(name, (double)ns / 1e9, "s", 30);
        bench_figure("  its processor time", processor_s(), "s", 0);
        bench_figure("  resident", (double)kib / 1024, "MiB", 1024);
    }
    bench_remove_all(directory);
}

/* -- rows -- */

static void rows(const bench_samples *s)
{
    bench_row("gnuplot, start to exit", &s[0], 1e6, "ms", NULL, 0);
    bench_row("an empty page by cairo, whole process", &s[1], 1e6, "ms", NULL, 0);
    bench_row("report of 8 x 1890 counters to PDF", &s[2], 1e6, "ms", NULL, 500);
    bench_row("  beside gnuplot's start", &s[2], 1e6, "ms", &s[0], 0);
    bench_row("  beside an empty page", &s[2], 1e6, "ms", &s[1], 0);
    bench_row("report to HTML", &s[3], 1e6, "ms", NULL, 300);
    bench_row("  its first page alone, PDF", &s[4], 1e6, "ms", NULL, 0);
    bench_row(bench.quick ? "scatter of 1e4 points" : "scatter of 1e6 points", &s[5], 1e6, "ms", NULL, 1000);
}

void bench_report(void)
{
    char report[600], drawing[600], pdf[600], html[600], first[600], page[600], points[600];
    char self[600] = "";
    const char *before, *after;
    if (readlink(bench.self, self, sizeof self - 1) < 0) snprintf(self, sizeof self, "%s", bench.self);
    if (bench.cpu) {
        bench_skip("reports", "--cpu does not see what children take");
        return;
    }
    beside(bench.program ? bench.program : self, "netprof-report", report, sizeof report);
    beside(self, "netprof-bench-drawing", drawing, sizeof drawing);
    if (access(report, X_OK) != 0 || access(drawing, X_OK) != 0) {
        bench_skip("reports", access(report, X_OK) ? "no netprof-report here" : "no netprof-bench-drawing here");
        return;
    }
    if (bench_pair_files(&before, &after) != 0) {
        bench_skip("reports", "cannot make two snapshots");
        return;
    }
    bench_path(pdf, sizeof pdf, "%s/report.pdf", bench.tree);
    bench_path(html, sizeof html, "%s/report.html", bench.tree);
    bench_path(first, sizeof first, "%s/first.pdf", bench.tree);
    bench_path(page, sizeof page, "%s/page.pdf", bench.tree);
    bench_path(points, sizeof points, "%s/points.pdf", bench.tree);
    const char *const gnuplot[] = {"gnuplot", "-d", "-e", "exit", NULL};
    const char *const empty[] = {drawing, "page", page, NULL};
    const char *const to_pdf[] = {report, "-o", pdf, before, after, NULL};
    const char *const to_html[] = {report, "-o", html, before, after, NULL};
    const char *const to_first[] = {report, "--brief", "-o", first, before, after, NULL};
    const char *const scatter[] = {drawing, "scatter", bench.quick ? "10000" : "1000000", points, NULL};
    const bench_contestant all[] = {
        {"gnuplot", prepare, once, gnuplot, NULL},      {"empty page", prepare, once, empty, NULL},
        {"report to PDF", prepare, once, to_pdf, NULL}, {"report to HTML", prepare, once, to_html, NULL},
        {"first page", prepare, once, to_first, NULL},  {"scatter", prepare, once, scatter, NULL}};
    bench_samples s[BENCH_MOST];
    bench_round(all, 6, bench.repeats, s);
    rows(s);
    bench_samples_free(s, 6);
    use_rows("empty page", empty, 0);
    use_rows("report to PDF", to_pdf, 64);
    use_rows("report to HTML", to_html, 0);
    use_rows("scatter", scatter, 0);
    many_hosts(report);
    hour_of_a_job(report, self);
}

/* What it costs to hold all devices and nodes of a job against each other, beside the report that says so, both of the same
   recordings and measured in one run.

   bench_peers [-n NODES] [-t SECONDS]       64 nodes of four NICs and four GPUs, 3600 s at 1 Hz */
#include "analysis/job/findings/job_findings_make.h"
#include "analysis/job/job_report.h"
#include "analysis/peers/peers.h"

#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static double processor_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Processor seconds of a process and those that it starts; -1: it failed. */
static double run(char *const *command)
{
    pid_t pid;
    int status = -1;
    struct rusage use;
    if (posix_spawnp(&pid, command[0], NULL, NULL, command, environ) != 0) return -1;
    if (wait4(pid, &status, 0, &use) != pid || status != 0) return -1;
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
}

static void beside(const char *self, const char *name, char *to, size_t size)
{
    const char *slash = strrchr(self, '/');
    snprintf(to, size, "%.*s%s", slash ? (int)(slash - self + 1) : 0, self, name);
}

/* The least of five. */
static double peers_of(const char *directory, size_t *devices)
{
    rules set = {0};
    job_report job = {0};
    double least = 1e9;
    rules_builtin(&set);
    const job_report_options how = {.rules = &set};
    if (job_report_read(&job, (const char *const[]){directory}, 1, &how, NULL)) return -1;
    *devices = job.device_count;
    job.reader->options = &how;
    for (int i = 0; i < 5; i++) {
        double begin = processor_now();
        job_find_settings(&job);
        job_find_device_peers(&job);
        job_find_node_peers(&job);
        least = fmin(least, processor_now() - begin);
    }
    job.reader->options = NULL;
    job_report_free(&job);
    rules_free(&set);
    return least;
}

static double ten_thousand_ranks(void)
{
    enum { RANKS = 10000, WINDOWS = 64 };
    float *values = calloc((size_t)RANKS * WINDOWS, sizeof *values);
    peers_outcome o;
    if (!values) return -1;
    for (size_t i = 0; i < (size_t)RANKS * WINDOWS; i++)
        values[i] = 1 + (float)(i * 2654435761u % 1000) / 5000 - (i / WINDOWS == 7 ? 0.5F : 0);
    double begin = processor_now();
    peers_follow(&o, values, RANKS, WINDOWS, 0, NULL);
    double took = processor_now() - begin;
    free(values);
    return o.kind == PEERS_ONE && o.odd == 7 ? took : -1;
}

int main(int argc, char **argv)
{
    const char *nodes = "64", *seconds = "3600";
    char self[600] = "", make[700], report[700], folder[] = "/tmp/netprof-peers-XXXXXX", output[64];
    for (int c; (c = getopt(argc, argv, "n:t:")) != -1;) {
        if (c == 'n') nodes = optarg;
        if (c == 't') seconds = optarg;
        if (c == '?') return 2;
    }
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0 || !mkdtemp(folder)) return 3;
    beside(self, "make_job", make, sizeof make);
    beside(self, "../bin/netprof-report", report, sizeof report);
    snprintf(output, sizeof output, "%s/report.html", folder);
    size_t devices = 0;
    double made =
        run((char *const[]){make, "-n", (char *)(uintptr_t)nodes, "-t", (char *)(uintptr_t)seconds, folder, NULL});
    double peers = made < 0 ? -1 : peers_of(folder, &devices), ranks = ten_thousand_ranks();
    double drawn = peers < 0 ? -1 : run((char *const[]){report, "-o", output, folder, NULL});
    run((char *const[]){"rm", "-rf", folder, NULL});
    if (drawn < 0 || ranks < 0) {
        fprintf(stderr, "bench_peers: %s failed\n", made < 0 ? make : ranks < 0 ? "the odd rank" : report);
        return 1;
    }
    printf("peers of %s nodes x %s s, %zu devices    %8.1f ms\n", nodes, seconds, devices, peers * 1e3);
    printf("report of them, HTML, processor time     %8.1f ms\n", drawn * 1e3);
    printf("  peers of it, at most a tenth           %8.2f %%   %s\n", 100 * peers / drawn,
           peers <= drawn / 10 ? "ok" : "MISSED");
    printf("one odd rank of 10,000, 64 windows       %8.1f ms\n", ranks * 1e3);
    return 0;
}

/* Regions of other tools, where they were installed at build time: what they cost, and what they say of a number of
   bytes that is known. PAPI's component net (configure --with-components=net) reads /proc/net/dev at most once a second
   unless PAPI_NET_REFRESH_LATENCY=0. */
#define _GNU_SOURCE
#include "netprof.h"

#include "bench.h"
#include "bench_regions.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef BENCH_PAPI
#include <papi.h>
#endif
#ifdef BENCH_LIKWID
#define LIKWID_PERFMON
#include <likwid-marker.h>
#endif

/* -- what they cost -- */

#ifdef BENCH_LIKWID
static int pairs_likwid(int pairs)
{
    int i;
    for (i = 0; i < pairs; i++) {
        LIKWID_MARKER_START("pair");
        LIKWID_MARKER_STOP("pair");
    }
    return 0;
}
#endif

static void likwid_row(int pairs)
{
#ifdef BENCH_LIKWID
    const bench_loop loop = {pairs_likwid, pairs, NULL};
    const bench_contestant marker = {"LIKWID", bench_loop_prepare, bench_loop_once, &loop, NULL};
    bench_samples s[1];
    bench_round(&marker, 1, bench.repeats, s);
    bench_row("LIKWID marker, inactive", &s[0], loop.pairs, "ns", NULL, 0);
    bench_samples_free(s, 1);
#else
    (void)pairs;
    bench_skip("LIKWID marker, inactive", "not installed when this was built");
#endif
}

#ifdef BENCH_PAPI
static const char no_net[] = "PAPI's high-level interface has no net component here";

/* Events by PAPI's own names: 7.3 cuts off their last letter. 0: it has none. */
static int papi_choose_events(void)
{
    static const char *const pairs[] = {"net:::lo:rx:bytes,net:::lo:tx:bytes", "net:::lo:rx:byte,net:::lo:tx:byte"};
    char first[32];
    int i, code;
    if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT) return 0;
    for (i = 0; i < 2; i++) {
        snprintf(first, sizeof first, "%.*s", (int)strcspn(pairs[i], ","), pairs[i]);
        if (PAPI_event_name_to_code(first, &code) != PAPI_OK) continue;
        setenv("PAPI_EVENTS", pairs[i], 1);
        setenv("PAPI_OUTPUT_DIRECTORY", bench.tree, 1);
        return 1;
    }
    return 0;
}

static int pairs_papi(int pairs)
{
    int i;
    for (i = 0; i < pairs; i++)
        if (PAPI_hl_region_begin("pair") != PAPI_OK || PAPI_hl_region_end("pair") != PAPI_OK) {
            bench_cannot(no_net);
            return -1;
        }
    return 0;
}

static void *prepare_papi(const void *with)
{
    if (papi_choose_events()) return bench_loop_prepare(with);
    bench_cannot(no_net);
    return NULL;
}

static void *prepare_papi_fresh(const void *with)
{
    setenv("PAPI_NET_REFRESH_LATENCY", "0", 1);
    return prepare_papi(with);
}
#endif

static void papi_rows(int pairs)
{
#ifdef BENCH_PAPI
    const bench_loop loop = {pairs_papi, pairs / 100 + 1, NULL};
    const bench_contestant contestants[] = {
        {"PAPI", prepare_papi, bench_loop_once, &loop, NULL},
        {"PAPI, fresh", prepare_papi_fresh, bench_loop_once, &loop, NULL},
    };
    bench_samples s[2];
    bench_round(contestants, 2, bench.repeats, s);
    bench_row("PAPI high-level, net component", &s[0], loop.pairs, "ns", NULL, 0);
    bench_row("  PAPI_NET_REFRESH_LATENCY=0", &s[1], loop.pairs, "ns", NULL, 0);
    bench_samples_free(s, 2);
#else
    (void)pairs;
    bench_skip("PAPI high-level, net component", "not installed when this was built");
#endif
}

void bench_regions_tools(int pairs)
{
    likwid_row(pairs);
    papi_rows(pairs);
}

/* -- what they say of 1000 datagrams that were sent and received in a region of some milliseconds -- */

enum { DATAGRAMS = 1000, PAYLOAD = 1000, HEADERS = 20 + 8 };

static int from = -1, to = -1;

/* In a network namespace of our own where that is allowed: nobody else's bytes. */
static int open_sockets(void)
{
    struct sockaddr_in address;
    struct ifreq request;
    socklen_t size = sizeof address;
    int own = unshare(CLONE_NEWNET) == 0;
    to = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    from = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    memset(&request, 0, sizeof request);
    strcpy(request.ifr_name, "lo");
    request.ifr_flags = IFF_UP;
    if (own && ioctl(to, SIOCSIFFLAGS, &request) != 0) return -1;
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return bind(to, (const struct sockaddr *)&address, size) != 0 ||
                   getsockname(to, (struct sockaddr *)&address, &size) != 0
               ? -1
               : connect(from, (const struct sockaddr *)&address, size);
}

static int datagrams(void)
{
    char data[PAYLOAD];
    int i;
    memset(data, 0, sizeof data);
    for (i = 0; i < DATAGRAMS; i++)
        if (send(from, data, sizeof data, 0) != PAYLOAD || recv(to, data, sizeof data, 0) != PAYLOAD) return -1;
    return 0;
}

/* Bytes received by lo according to the tool; below 0: it did not say. */
static long long netprof_says(void)
{
    netprof_regions r;
    size_t i, wanted;
    long long bytes = -1;
    setenv("NETPROF", "fast", 1);
    setenv("NETPROF_OUTPUT", "/dev/null", 1);
    setenv("NETPROF_SOURCES", "netdev", 1);
    setenv("NETPROF_INCLUDE", "lo", 1);
    NETPROF_BEGIN("bytes");
    if (datagrams() != 0) return -1;
    NETPROF_END("bytes");
    if (netprof_regions_take(&r, NULL) != NETPROF_OK || r.count != 1 || !r.schema) return -1;
    wanted = netprof_find(r.schema, "netdev", "lo", "rx_bytes");
    for (i = 0; i < r.counter_count; i++)
        if (r.counters[i] == wanted && r.stats[0].counted == 1) bytes = (long long)r.stats[0].counter_sums[i];
    netprof_regions_free(&r);
    return bytes;
}

#ifdef BENCH_PAPI
/* PAPI's high-level interface tells its figures only in its file: "net:::lo:rx:bytes":"N". */
static long long papi_file_says(const char *directory)
{
    char path[700] = "", text[16384];
    const char *value;
    DIR *d = opendir(directory);
    struct dirent *e;
    size_t size;
    FILE *f;
    while (d && (e = readdir(d)) != NULL)
        if (strstr(e->d_name, ".json")) bench_path(path, sizeof path, "%s/%s", directory, e->d_name);
    if (d) closedir(d);
    if (!*path || (f = fopen(path, "r")) == NULL) return -1;
    size = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[size] = 0;
    value = strstr(text, "\"threads\""); /* before it come the names of the events */
    if (value) value = strstr(value, "\"net:::lo:rx:byte");
    if (value) value = strstr(value, "\":");
    if (!value) return -1;
    return strtoll(value + 2 + strspn(value + 2, " \""), NULL, 10);
}

static long long papi_says(void)
{
    char directory[600];
    int status = 1;
    pid_t pid;
    bench_path(directory, sizeof directory, "%s/papi-%d", bench.tree, (int)getpid());
    if (!papi_choose_events()) return -1;
    setenv("PAPI_OUTPUT_DIRECTORY", directory, 1);
    pid = fork();
    if (pid == 0) /* its file is written at exit */
        exit(PAPI_hl_region_begin("bytes") != PAPI_OK || datagrams() != 0 || PAPI_hl_region_end("bytes") != PAPI_OK);
    if (waitpid(pid, &status, 0) < 0 || status != 0) return -1;
    strncat(directory, "/papi_hl_output", sizeof directory - strlen(directory) - 1);
    return papi_file_says(directory);
}

static long long papi_fresh_says(void)
{
    setenv("PAPI_NET_REFRESH_LATENCY", "0", 1);
    return papi_says();
}
#endif

/* In a process of its own: a namespace, an environment and libraries that start once. */
static void bytes_row(const char *name, long long (*says)(void), const char *why_not)
{
    long long bytes = -1;
    int ends[2], status;
    pid_t pid;
    fflush(NULL);
    if (pipe(ends) != 0) return;
    pid = fork();
    if (pid == 0) {
        bytes = open_sockets() == 0 ? says() : -1;
        if (write(ends[1], &bytes, sizeof bytes) < 0) _exit(1);
        _exit(0);
    }
    close(ends[1]);
    if (read(ends[0], &bytes, sizeof bytes) != sizeof bytes) bytes = -1;
    close(ends[0]);
    waitpid(pid, &status, 0);
    if (bytes < 0)
        bench_skip(name, why_not);
    else
        bench_figure(name, (double)bytes, "bytes", 0);
}

void bench_regions_bytes(void)
{
    bench_figure("bytes over lo in a region of some ms: sent", DATAGRAMS * (PAYLOAD + HEADERS), "bytes", 0);
    bytes_row("  netprof, fast set", netprof_says, "netprof_regions_take failed");
#ifdef BENCH_PAPI
    bytes_row("  PAPI high-level, net component", papi_says, no_net);
    bytes_row("    PAPI_NET_REFRESH_LATENCY=0", papi_fresh_says, no_net);
#else
    bench_skip("  PAPI high-level, net component", "not installed when this was built");
#endif
}

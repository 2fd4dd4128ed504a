/* Network links: one dump by netlink beside the bare dump, and sysfs text as the kernel really formats it. Links are
   made in a network namespace of our own where that is allowed; otherwise those that are there are read. */
#define _GNU_SOURCE
#include "netprof.h"

#include "bench.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* -- netprof -- */

typedef struct links {
    netprof *np;
    netprof_snapshot snapshot;
    netprof_set set;
    int takes;
} links;

typedef struct which {
    const char *root, *include;
    netprof_hold hold;
    netprof_set set;
    int takes; /* in one repeat */
} which;

static netprof *open_links(const which *w)
{
    netprof_config config = {0};
    netprof_error error;
    netprof *np;
    config.sources = "netdev";
    config.root = w->root;
    config.include = w->include;
    config.hold = w->hold;
    config.max_fds = 1 << 24;
    if (w->hold == NETPROF_HOLD_ALL) bench_many_files();
    if (netprof_open(&np, &config, &error) == NETPROF_OK) return np;
    bench_cannot("netprof_open: %s", error.text);
    netprof_close(np);
    return NULL;
}

static void *prepare_take(const void *with)
{
    static links l;
    const which *w = with;
    l.np = open_links(w);
    l.set = w->set;
    l.takes = w->takes;
    if (l.np && netprof_take(l.np, &l.snapshot, l.set, NULL) == NETPROF_OK) return &l;
    return NULL;
}

static int64_t once_take(void *state)
{
    links *l = state;
    int64_t begin = bench_now();
    int i;
    for (i = 0; i < l->takes; i++)
        if (netprof_take(l->np, &l->snapshot, l->set, NULL) != NETPROF_OK) return -1;
    return bench_now() - begin;
}

/* -- the bare dump -- */

typedef struct dump {
    int fd, takes;
    char room[32768];
} dump;

static void *prepare_dump(const void *with)
{
    static dump d;
    d.takes = ((const which *)with)->takes;
    d.fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    return d.fd >= 0 ? &d : NULL;
}

static int is_done(const char *data, ssize_t size)
{
    const struct nlmsghdr *m = (const void *)data;
    for (; NLMSG_OK(m, (size_t)size); m = NLMSG_NEXT(m, size))
        if (m->nlmsg_type == NLMSG_DONE || m->nlmsg_type == NLMSG_ERROR) return m->nlmsg_type == NLMSG_DONE ? 1 : -1;
    return 0;
}

static int one_dump(dump *d)
{
    struct {
        struct nlmsghdr head;
        struct if_stats_msg body;
    } request;
    int done = 0;
    memset(&request, 0, sizeof request);
    request.head.nlmsg_len = sizeof request;
    request.head.nlmsg_type = RTM_GETSTATS;
    request.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    request.body.filter_mask = IFLA_STATS_FILTER_BIT(IFLA_STATS_LINK_64);
    if (send(d->fd, &request, sizeof request, 0) < 0) return -1;
    while (!done) {
        ssize_t n = recv(d->fd, d->room, sizeof d->room, 0);
        done = n <= 0 ? -1 : is_done(d->room, n);
    }
    return done;
}

static int64_t once_dump(void *state)
{
    dump *d = state;
    int64_t begin = bench_now();
    int i;
    for (i = 0; i < d->takes; i++)
        if (one_dump(d) < 0) return -1;
    return bench_now() - begin;
}

/* -- the bare files -- */

typedef struct texts {
    const netprof_schema *schema;
    int *dirs, *fds;
    char (*names)[80]; /* below the directory of the link */
} texts;

static void *prepare_texts(const void *with)
{
    static texts t;
    const which *w = with;
    netprof *np = open_links(w);
    size_t i;
    if (!np) return NULL;
    t.schema = netprof_get_schema(np);
    netprof_schema_retain(t.schema);
    netprof_close(np);
    t.dirs = calloc(t.schema->device_count, sizeof *t.dirs);
    t.fds = calloc(t.schema->counter_count, sizeof *t.fds);
    t.names = calloc(t.schema->counter_count, sizeof *t.names);
    if (!t.dirs || !t.fds || !t.names) return NULL;
    for (i = 0; i < t.schema->device_count; i++) {
        char path[1024];
        bench_path(path, sizeof path, "%s/sys/class/net/%s", w->root, t.schema->devices[i].name);
        t.dirs[i] = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    for (i = 0; i < t.schema->counter_count; i++) {
        const netprof_counter *c = &t.schema->counters[i];
        bench_path(t.names[i], sizeof t.names[i], "statistics/%s", c->name);
        if (faccessat(t.dirs[c->device], t.names[i], R_OK, 0) != 0)
            bench_path(t.names[i], sizeof t.names[i], "%s", c->name);
        if (w->hold == NETPROF_HOLD_ALL) t.fds[i] = openat(t.dirs[c->device], t.names[i], O_RDONLY | O_CLOEXEC);
    }
    return &t;
}

static int64_t once_pread(void *state)
{
    const texts *t = state;
    int64_t begin = bench_now();
    char text[96];
    size_t i;
    int fine = 0;
    for (i = 0; i < t->schema->counter_count; i++)
        fine += pread(t->fds[i], text, sizeof text, 0) > 0;
    return fine ? bench_now() - begin : -1; /* the carrier of a link that is down is EINVAL */
}

static int64_t once_openat(void *state)
{
    const texts *t = state;
    int64_t begin = bench_now();
    char text[96];
    size_t i;
    int fine = 0;
    for (i = 0; i < t->schema->counter_count; i++) {
        int fd = openat(t->dirs[t->schema->counters[i].device], t->names[i], O_RDONLY | O_CLOEXEC);
        fine += read(fd, text, sizeof text) > 0;
        close(fd);
    }
    return fine ? bench_now() - begin : -1;
}

/* -- places to measure in -- */

static int add_links(int wanted)
{
    FILE *ip = popen("ip -force -batch - 2>/dev/null", "we");
    int i;
    if (!ip) return -1;
    fprintf(ip, "link set lo up\n");
    for (i = 0; i < (wanted - 1) / 2; i++)
        fprintf(ip, "link add a%d type veth peer name b%d\nlink set a%d up\nlink set b%d up\n", i, i, i, i);
    if ((wanted - 1) % 2) fprintf(ip, "link add c0 type bridge\nlink set c0 up\n");
    pclose(ip);
    return 0;
}

/* An empty network namespace, and its sysfs below the tree. */
static int enter_namespace(char *root, size_t size)
{
    char path[600];
    if (unshare(CLONE_NEWNET | CLONE_NEWNS) != 0) return -1;
    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
    bench_path(root, size, "%s/links", bench.tree);
    bench_path(path, sizeof path, "%s/sys", root);
    mkdir(root, 0777);
    mkdir(path, 0777);
    return mount("sysfs", path, "sysfs", MS_RDONLY, NULL);
}

static double count(const which *w, int devices)
{
    netprof *np = open_links(w);
    const netprof_schema *s = np ? netprof_get_schema(np) : NULL;
    double n = s ? (double)(devices ? s->device_count : s->counter_count) : 0;
    netprof_close(np);
    return n;
}

static void netlink_rows(void)
{
    const which few = {NULL, NULL, NETPROF_HOLD_FAST, NETPROF_SET_ALL, 1};
    const double n = count(&few, 1);
    const int takes = n < 20 ? 100 : n < 200 ? 20 : 4;
    const which all = {NULL, NULL, NETPROF_HOLD_FAST, NETPROF_SET_ALL, takes};
    const which fast = {NULL, NULL, NETPROF_HOLD_FAST, NETPROF_SET_FAST, takes};
    const which lo = {NULL, "lo", NETPROF_HOLD_FAST, NETPROF_SET_FAST, 2 * takes};
    const bench_contestant contestants[] = {
        {"bare RTM_GETSTATS dump", prepare_dump, once_dump, &all, NULL},
        {"netprof, links", prepare_take, once_take, &all, NULL},
        {"netprof, links, fast set", prepare_take, once_take, &fast, NULL},
        {"netprof, lo, fast set", prepare_take, once_take, &lo, NULL},
    };
    bench_samples s[BENCH_MOST];
    char name[64];
    bench_round(contestants, 4, bench.repeats, s);
    snprintf(name, sizeof name, "bare RTM_GETSTATS dump, %.0f links", n);
    bench_row(name, &s[0], takes * 1e3, "us", NULL, 0);
    snprintf(name, sizeof name, "netprof_take, %.0f links by netlink", n);
    bench_row(name, &s[1], takes * 1e3, "us", &s[0], 1.3);
    bench_row("  fast set", &s[2], takes * 1e3, "us", &s[0], 0);
    if (n < 20) bench_row("  fast set of one interface, a pair", &s[3], takes * 1e3, "us", NULL, 0);
    bench_samples_free(s, 4);
}

static void sysfs_rows(const char *root)
{
    const which held = {root, NULL, NETPROF_HOLD_ALL, NETPROF_SET_ALL, 1};
    const which loose = {root, NULL, NETPROF_HOLD_NONE, NETPROF_SET_ALL, 1};
    const double n = count(&loose, 0);
    const bench_contestant contestants[] = {
        {"bare pread, sysfs", prepare_texts, once_pread, &held, NULL},
        {"netprof, sysfs, held", prepare_take, once_take, &held, NULL},
        {"bare openat/read/close, sysfs", prepare_texts, once_openat, &loose, NULL},
        {"netprof, sysfs, none held", prepare_take, once_take, &loose, NULL},
    };
    bench_samples s[BENCH_MOST];
    char name[64];
    bench_round(contestants, 4, bench.repeats, s);
    snprintf(name, sizeof name, "sysfs text, bare pread, %.0f counters", n);
    bench_row(name, &s[0], n, "ns/counter", NULL, 0);
    bench_row("  netprof_take, all held", &s[1], n, "ns/counter", &s[0], 1.15);
    bench_row("  bare openat/read/close", &s[2], n, "ns/counter", &s[0], 0);
    bench_row("  netprof_take, none held", &s[3], n, "ns/counter", &s[2], 1.15);
    bench_samples_free(s, 4);
}

/* In a process of its own, so that its namespaces end with it. */
static void with_links(int wanted, int sysfs)
{
    char root[600];
    pid_t pid;
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        int alone = enter_namespace(root, sizeof root) == 0;
        if (!alone)
            bench_note("no network namespace of our own (%s): the links that are there", strerror(errno));
        else
            add_links(wanted);
        if (!sysfs)
            netlink_rows();
        else
            sysfs_rows(alone ? root : "/.");
        fflush(stdout);
        _exit(alone ? 0 : 1);
    }
    if (pid > 0) waitpid(pid, NULL, 0);
}

static int netdev_is_there(void)
{
    const which any = {NULL, NULL, NETPROF_HOLD_FAST, NETPROF_SET_ALL, 1};
    return count(&any, 1) > 0;
}

void bench_links(void)
{
    if (!netdev_is_there()) {
        bench_skip("links", "netprof finds none");
        return;
    }
    with_links(4, 0);
    if (!bench.quick) {
        with_links(81, 0);
        with_links(633, 0);
    }
    with_links(bench.quick ? 4 : 81, 1);
}

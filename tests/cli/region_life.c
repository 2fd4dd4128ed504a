// The ends of a process with regions: region_life KIND [FILE]. It works until the file that is written now and then is
// there, goes on a little (region "after"), and ends in the way KIND. "region_life read FILE" prints what a file keeps.
#define NETPROF__FLUSH_FIRST_NS 5000000 // 5 ms, not seconds
#define NETPROF_IMPLEMENTATION
#include "netprof.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/wait.h>

static const char *expected = "r.netprof"; // written now and then

static void nap(void)
{
    struct timespec t = {0, 1000000};
    nanosleep(&t, NULL);
}

static void work(const char *name, int count)
{
    netprof_region_id id = netprof_region(name);
    for (int i = 0; i < count; i++) {
        netprof_begin(id);
        nap();
        netprof_end(id);
    }
}

static void work_until_written(void)
{
    do
        work("work", 1);
    while (access(expected, F_OK) != 0);
}

static void handler(int number)
{
    (void)number;
    NETPROF_BEGIN("handler");
    NETPROF_END("handler");
}

static void late(void)
{
    work("late", 2);
}

static void *leave(void *argument)
{
    exit(argument ? 0 : 1);
}

static void *thread_open(void *argument)
{
    (void)argument;
    NETPROF_BEGIN("left open");
    nap();
    return NULL;
}

static void *thread_after(void *argument)
{
    pthread_join(*(pthread_t *)argument, NULL); // the main thread has gone
    work("after main", 1);
    return NULL;
}

static void wait_for(pid_t child)
{
    int status;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
}

// ---- the ends ----

static void end_exit(void)
{
    exit(0);
}
static void end_quick_exit(void)
{
    quick_exit(0);
}
static void end_now(void)
{
    _exit(0);
}
static void end_abort(void)
{
    abort();
}
static void end_kill(void)
{
    raise(SIGKILL);
}
static void end_term(void)
{
    raise(SIGTERM);
}
static void end_interrupt(void)
{
    raise(SIGINT);
}
static void end_segv(void)
{
    raise(SIGSEGV);
}
static void end_alarm(void)
{
    raise(SIGALRM);
}
static void end_exec(void)
{
    execl("/bin/true", "true", (char *)NULL);
}
static void end_return(void) {}

static void end_cpu_limit(void)
{
    raise(SIGXCPU);
}

static void end_in_thread(void)
{
    pthread_t t;
    if (pthread_create(&t, NULL, leave, (void *)(uintptr_t)1) == 0) pthread_join(t, NULL);
}

static void end_main_thread(void)
{
    static pthread_t self, t;
    self = pthread_self();
    if (pthread_create(&t, NULL, thread_after, &self) == 0) pthread_exit(NULL);
}

static void end_open(void)
{
    NETPROF_BEGIN("open");
    nap();
    exit(0);
}

static void end_thread_open(void)
{
    pthread_t t;
    if (pthread_create(&t, NULL, thread_open, NULL) == 0) pthread_join(t, NULL);
}

static void end_fork(void)
{
    pid_t child = fork();
    if (child == 0) {
        work("child", 3);
        exit(0);
    }
    wait_for(child);
}

static void end_fork_now(void)
{
    pid_t child = fork();
    if (child == 0) _exit(0);
    wait_for(child);
}

static void end_vfork(void)
{
    pid_t child = vfork();
    if (child == 0) {
        execl("/bin/true", "true", (char *)NULL);
        _exit(1);
    }
    wait_for(child);
}

static void end_daemon(void)
{
    if (daemon(0, 0) == 0) work("daemon", 3);
}

static void end_chdir(void)
{
    if (chdir("/") != 0) abort();
}

static void end_no_directory(void)
{
    if (mkdir("gone", 0777) != 0 || chdir("gone") != 0 || rmdir("../gone") != 0) abort();
}

static void end_other_user(void)
{
    if (setuid(65534) != 0) abort();
}

static void end_disk_full(void)
{
    struct rlimit none = {0, 0}; // of the size of a file
    setrlimit(RLIMIT_FSIZE, &none);
}

static void end_in_handler(void)
{
    signal(SIGUSR1, handler);
    handler(0);
    raise(SIGUSR1);
}

static const struct end {
    const char *kind;
    void (*run)(void);
} ends[] = {{"return", end_return},
            {"exit", end_exit},
            {"quick_exit", end_quick_exit},
            {"exit in a thread", end_in_thread},
            {"pthread_exit", end_main_thread},
            {"exit in a region", end_open},
            {"thread in a region", end_thread_open},
            {"regions after exit", end_exit},
            {"_exit", end_now},
            {"abort", end_abort},
            {"SIGKILL", end_kill},
            {"SIGTERM", end_term},
            {"SIGINT", end_interrupt},
            {"SIGSEGV", end_segv},
            {"SIGALRM", end_alarm},
            {"SIGXCPU", end_cpu_limit},
            {"exec", end_exec},
            {"fork", end_fork},
            {"fork and _exit", end_fork_now},
            {"vfork", end_vfork},
            {"daemon", end_daemon},
            {"chdir", end_chdir},
            {"directory removed", end_no_directory},
            {"other user", end_other_user},
            {"disk full", end_disk_full},
            {"signal handler", end_in_handler}};

// ---- what is kept ----

static void print_regions(const netprof_regions *r)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->stats[i].calls)
            printf("%s calls %llu measured %llu open %llu aborted %llu time %s\n", r->stats[i].region,
                   (unsigned long long)r->stats[i].calls, (unsigned long long)r->stats[i].measured,
                   (unsigned long long)r->stats[i].open, (unsigned long long)r->stats[i].aborted,
                   r->stats[i].inclusive_ns ? "yes" : "no");
    printf("threads %llu dropped %llu\n", (unsigned long long)r->threads, (unsigned long long)r->dropped);
    if (*r->warning) printf("warning %s\n", r->warning);
}

static int print_file(const char *path)
{
    netprof_reader *reader;
    netprof_item item = {.type = NETPROF_ITEM_FACT};
    if (netprof_reader_open(&reader, path, NULL, NULL) != NETPROF_OK) return 1;
    while (netprof_reader_next(reader, &item, NULL) == NETPROF_OK && item.type != NETPROF_ITEM_END) {
        if (item.type == NETPROF_ITEM_FACT) printf("fact %s=%s\n", item.fact->key, item.fact->value);
        if (item.type == NETPROF_ITEM_REGIONS) print_regions(item.regions);
    }
    netprof_reader_close(reader);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "read") == 0) return print_file(argv[2]);
    if (argc > 2) expected = argv[2];
    for (size_t i = 0; argc > 1 && i < sizeof ends / sizeof *ends; i++) {
        if (strcmp(argv[1], ends[i].kind) != 0) continue;
        if (strcmp(argv[1], "regions after exit") == 0) atexit(late); // before the first region: it runs last
        work_until_written();
        work("after", 2);
        ends[i].run();
        return 0;
    }
    fprintf(stderr, "region_life: no such end\n");
    return 2;
}

/* Regions in threads, across forks, under failing allocations, at the end of a process and beside its crash.
   What needs a process of its own starts this program again with the name of a part. */
#include <stddef.h>
static void *counted_malloc(size_t size);
static void *counted_realloc(void *pointer, size_t size);
static void counted_free(void *pointer);
#define NETPROF_MALLOC(size)           counted_malloc(size)
#define NETPROF_REALLOC(pointer, size) counted_realloc((pointer), (size))
#define NETPROF_FREE(pointer)          counted_free(pointer)
#define NETPROF_IMPLEMENTATION
#include "../../netprof.h"
#include "../sanitized.h"

#include <dirent.h>
#include <semaphore.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/* -- seams -- */

static long allocations_left = -1; /* -1: no limit */
static long allocations_held;
static int allocated_elsewhere; /* in a thread that is not the first */

/* The C library's allocator can be used in a child of a process with threads, that of the address sanitizer of clang 14
   and gcc 12 cannot: a thread amid malloc() at the fork leaves it locked for ever. So none is. The last to run before a
   fork is the first that was registered: the library's own handler waits for threads that allocate. */
static pthread_mutex_t allocator = PTHREAD_MUTEX_INITIALIZER;

static void lock_allocator(void)
{
    pthread_mutex_lock(&allocator);
}

static void unlock_allocator(void)
{
    pthread_mutex_unlock(&allocator);
}

__attribute__((constructor(101))) static void watch_forks(void)
{
    pthread_atfork(lock_allocator, unlock_allocator, unlock_allocator);
}

static void *counted_realloc(void *pointer, size_t size)
{
    void *p;
    if (__atomic_load_n(&allocations_left, __ATOMIC_RELAXED) >= 0 &&
        __atomic_fetch_sub(&allocations_left, 1, __ATOMIC_RELAXED) <= 0) {
        __atomic_store_n(&allocations_left, 0, __ATOMIC_RELAXED); /* fails from now on */
        return NULL;
    }
    lock_allocator();
    p = realloc(pointer, size);
    unlock_allocator();
    if (syscall(SYS_gettid) != getpid()) __atomic_store_n(&allocated_elsewhere, 1, __ATOMIC_RELEASE);
    if (p && !pointer) __atomic_add_fetch(&allocations_held, 1, __ATOMIC_RELAXED);
    return p;
}

static void *counted_malloc(size_t size)
{
    return counted_realloc(NULL, size);
}

static void counted_free(void *pointer)
{
    __atomic_sub_fetch(&allocations_held, 1, __ATOMIC_RELAXED);
    lock_allocator();
    free(pointer);
    unlock_allocator();
}

/* The start of a thread allocates under the address sanitizer, and nobody but it can tell a fork to wait for that. So: until
   the library's own thread, if there is one, has published a reading or allocated for a file. */
static void await_background(void)
{
#if UNDER_ADDRESS_SANITIZER
    struct netprof__regions_state *g = &netprof__regions_state;
    while (g->background &&
           (g->started == NETPROF_MODE_SAMPLER ? NETPROF__GET(g->sequence) < 4 : !NETPROF__GET(allocated_elsewhere)))
        sched_yield();
#endif
}

/* In parts: a failure is a line and status 1. */
#define EXPECT(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                    \
            _exit(1);                                                                                                  \
        }                                                                                                              \
    } while (0)

/* -- reading what was written -- */

static char place[256]; /* directory of the files */

typedef struct sum {
    uint64_t calls, measured, open, inclusive_ns, bytes, spans, aborted, too_short, buckets;
    int nodes;
} sum;

static sum sum_of(const netprof_regions *r, const char *name)
{
    sum s;
    size_t i, b;
    memset(&s, 0, sizeof s);
    for (i = 0; i < r->count; i++) {
        if (name && strcmp(r->stats[i].region, name) != 0) continue;
        s.calls += r->stats[i].calls;
        s.measured += r->stats[i].measured;
        s.open += r->stats[i].open;
        s.inclusive_ns += r->stats[i].inclusive_ns;
        s.bytes += r->stats[i].bytes;
        s.spans += r->stats[i].spans;
        s.aborted += r->stats[i].aborted;
        s.too_short += r->stats[i].too_short;
        for (b = 0; b < NETPROF_HISTOGRAM_BUCKETS; b++)
            s.buckets += r->stats[i].histogram[b];
        s.nodes++;
    }
    return s;
}

static sum sum_now(const char *name)
{
    netprof_regions r;
    sum s;
    EXPECT(netprof_regions_take(&r, NULL) == NETPROF_OK);
    s = sum_of(&r, name);
    netprof_regions_free(&r);
    return s;
}

/* Files in the place whose name has the text; the last one's name into `name`. */
static int files(const char *text, char *name, size_t size)
{
    DIR *d = opendir(place);
    struct dirent *e;
    int n = 0;
    while (d && (e = readdir(d)) != NULL)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 && strstr(e->d_name, text)) {
            n++;
            if (name) snprintf(name, size, "%s/%s", place, e->d_name);
        }
    if (d) closedir(d);
    return n;
}

typedef struct content {
    sum all;
    char rank[32], job[300], clock[32], warning[256];
    uint64_t mismatched, dropped;
    netprof_mode mode;
    int complete, regions;
} content;

static content read_content(const char *path, const char *name)
{
    netprof_reader *reader;
    netprof_item item;
    content c;
    memset(&c, 0, sizeof c);
    if (netprof_reader_open(&reader, path, NULL, NULL)) return c;
    while (netprof_reader_next(reader, &item, NULL) == NETPROF_OK && item.type != NETPROF_ITEM_END) {
        if (item.type == NETPROF_ITEM_FACT && strcmp(item.fact->key, "rank") == 0)
            snprintf(c.rank, sizeof c.rank, "%s", item.fact->value);
        if (item.type == NETPROF_ITEM_FACT && strcmp(item.fact->key, "job") == 0)
            snprintf(c.job, sizeof c.job, "%s", item.fact->value);
        if (item.type == NETPROF_ITEM_REGIONS) {
            c.regions++;
            c.all = sum_of(item.regions, name);
            c.mode = item.regions->mode;
            c.mismatched = item.regions->mismatched;
            c.dropped = item.regions->dropped;
            snprintf(c.clock, sizeof c.clock, "%s", item.regions->clock);
            snprintf(c.warning, sizeof c.warning, "%s", item.regions->warning);
        }
    }
    c.complete = item.complete;
    netprof_reader_close(reader);
    return c;
}

static content read_only_file(const char *name)
{
    char path[600] = "";
    assert_int_equal(files("", path, sizeof path), 1);
    return read_content(path, name);
}

/* In a part: where its file goes. */
static void find_place(void)
{
    const char *output = getenv("NETPROF_OUTPUT");
    snprintf(place, sizeof place, "%.*s", (int)(strrchr(output, '/') - output), output);
}

static void empty_place(void)
{
    char path[600];
    while (files("", path, sizeof path))
        if (unlink(path) != 0) abort();
}

/* -- running parts -- */

static const char *self;

static void add_option(const char *variable, const char *option)
{
    const char *options = getenv(variable);
    char text[600];
    snprintf(text, sizeof text, "%s:%s", options ? options : "", option);
    setenv(variable, text, 1);
}

/* "NAME=VALUE ..." are set (no spaces in values), the part runs, its wait status is returned. */
static int run_part(const char *part, const char *settings)
{
    char text[600], *p, *rest = NULL;
    int status = -1;
    pid_t pid;
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        add_option("TSAN_OPTIONS", "atexit_sleep_ms=0"); /* else a second each */
        /* what another thread held at a fork is lost to the child: the leak checker would call it the child's */
        if (strncmp(part, "fork", 4) == 0) add_option("ASAN_OPTIONS", "detect_leaks=0");
        snprintf(text, sizeof text, "%s", settings);
        for (p = strtok_r(text, " ", &rest); p; p = strtok_r(NULL, " ", &rest))
            putenv(strdup(p));
        execl("/proc/self/exe", self, "--part", part, (char *)NULL);
        _exit(127);
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return status;
}

static int fresh_place(void **state)
{
    char pattern[600];
    (void)state;
    empty_place();
    snprintf(pattern, sizeof pattern, "%s/%%j-%%r-%%p.netprof", place);
    setenv("NETPROF_OUTPUT", pattern, 1);
    return 0;
}

/* -- threads -- */

enum { WORKERS = 8, ROUNDS = 20000 };
static int go_on = 1;

/* Spans go from hand to hand: a worker leaves its own in the next one's box and ends what is in its box. */
enum { EVERY_SPAN = 8 };
static struct box {
    pthread_mutex_t lock;
    netprof_span span;
} boxes[WORKERS];
static int workers_left;

static netprof_span exchange(struct box *box, netprof_span span)
{
    netprof_span before;
    pthread_mutex_lock(&box->lock);
    before = box->span;
    box->span = span;
    pthread_mutex_unlock(&box->lock);
    return before;
}

static void hand_on(int worker, netprof_region_id crossing)
{
    const netprof_span none = NETPROF_ZERO;
    netprof_span_end(exchange(&boxes[(worker + 1) % WORKERS], netprof_span_begin(crossing)));
    netprof_span_end(exchange(&boxes[worker], none));
}

/* The last worker ends what is left. */
static void empty_boxes(void)
{
    const netprof_span none = NETPROF_ZERO;
    int i;
    if (__atomic_sub_fetch(&workers_left, 1, __ATOMIC_ACQ_REL) > 0) return;
    for (i = 0; i < WORKERS; i++)
        netprof_span_end(exchange(&boxes[i], none));
}

static void *work(void *argument)
{
    char own[32];
    netprof_region_id id, crossing = netprof_region("crossing");
    int i;
    snprintf(own, sizeof own, "worker %d", *(int *)argument);
    id = netprof_region(own);
    for (i = 0; i < ROUNDS; i++) {
        NETPROF_BEGIN("outer");
        netprof_begin(id);
        NETPROF_BYTES(3);
        netprof_end(id);
        if (i % 16 == 0) {
            char name[32];
            snprintf(name, sizeof name, "named %d", i / 16 % 40);
            netprof_begin(netprof_region(name));
            netprof_end(netprof_region(name));
        }
        if (i % EVERY_SPAN == 0) hand_on(*(int *)argument, crossing);
        if (i % 1000 == 999) netprof_end(id); /* a stray one */
        NETPROF_END("outer");
    }
    empty_boxes();
    return NULL;
}

/* What each copy promises, whatever goes on meanwhile. */
static void check_copy(const netprof_regions *r)
{
    size_t i, b;
    for (i = 0; i < r->count; i++) {
        const netprof_stat *s = &r->stats[i];
        uint64_t buckets = 0;
        for (b = 0; b < NETPROF_HISTOGRAM_BUCKETS; b++)
            buckets += s->histogram[b];
        EXPECT(s->region && *s->region);
        EXPECT(buckets == s->measured);
        EXPECT(s->measured <= s->calls);
        EXPECT(s->calls - s->measured == s->open);
        EXPECT(s->min_ns <= s->max_ns);
        EXPECT(s->exclusive_ns <= s->total_ns && s->inclusive_ns <= s->total_ns);
        EXPECT(s->parent == UINT32_MAX || s->parent < s->node);
        EXPECT(s->open <= 1);
    }
}

static void *collect(void *argument)
{
    netprof_regions r;
    (void)argument;
    while (__atomic_load_n(&go_on, __ATOMIC_RELAXED)) {
        EXPECT(netprof_regions_take(&r, NULL) == NETPROF_OK);
        check_copy(&r);
        netprof_regions_free(&r);
    }
    return NULL;
}

static void *flush(void *argument)
{
    (void)argument;
    while (__atomic_load_n(&go_on, __ATOMIC_RELAXED))
        EXPECT(netprof_flush(NULL) == NETPROF_OK);
    return NULL;
}

static void *reset(void *argument)
{
    (void)argument;
    while (__atomic_load_n(&go_on, __ATOMIC_RELAXED)) {
        struct timespec nap = {0, 300000};
        netprof_regions_reset();
        nanosleep(&nap, NULL);
    }
    return NULL;
}

static void run_workers(void *(*third)(void *))
{
    pthread_t threads[WORKERS], others[3];
    int numbers[WORKERS], i;
    for (i = 0; i < WORKERS; i++)
        pthread_mutex_init(&boxes[i].lock, NULL);
    workers_left = WORKERS;
    pthread_create(&others[0], NULL, collect, NULL);
    pthread_create(&others[1], NULL, flush, NULL);
    pthread_create(&others[2], NULL, third, NULL);
    for (i = 0; i < WORKERS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, work, &numbers[i]);
    }
    for (i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    __atomic_store_n(&go_on, 0, __ATOMIC_RELAXED);
    for (i = 0; i < 3; i++)
        pthread_join(others[i], NULL);
}

static void part_workers(void)
{
    netprof_regions r;
    char name[32];
    int i;
    run_workers(flush); /* two flush at once */
    EXPECT(sum_now("outer").calls == WORKERS * ROUNDS);
    EXPECT(sum_now("outer").measured == WORKERS * ROUNDS);
    EXPECT(sum_now("outer").nodes == WORKERS);
    for (i = 0; i < WORKERS; i++) {
        snprintf(name, sizeof name, "worker %d", i);
        EXPECT(sum_now(name).calls == ROUNDS);
        EXPECT(sum_now(name).bytes == 3 * ROUNDS);
        EXPECT(sum_now(name).nodes == 1);
    }
    EXPECT(sum_now("crossing").spans == WORKERS * ROUNDS / EVERY_SPAN);
    EXPECT(sum_now("crossing").measured == WORKERS * ROUNDS / EVERY_SPAN);
    for (i = 0; i < 40; i++) {
        snprintf(name, sizeof name, "named %d", i);
        EXPECT(sum_now(name).measured >= WORKERS * (ROUNDS / 16 / 40));
    }
    EXPECT(netprof_regions_take(&r, NULL) == NETPROF_OK);
    EXPECT(r.mismatched == WORKERS * (ROUNDS / 1000));
    EXPECT(r.dropped == 0);
    EXPECT(r.threads == WORKERS);
    EXPECT(strstr(r.warning, "end of worker ") && strstr(r.warning, " while outer (begun at "));
    netprof_regions_free(&r);
}

static void test_workers(void **state)
{
    content c;
    (void)state;
    assert_int_equal(run_part("workers", ""), 0);
    c = read_only_file("outer");
    assert_int_equal(c.complete, 1);
    assert_int_equal(c.all.calls, WORKERS * ROUNDS);
    assert_int_equal(c.all.buckets, WORKERS * ROUNDS);
}

static void part_resets(void)
{
    netprof_regions r;
    int64_t before;
    run_workers(reset);
    before = netprof__clock(CLOCK_MONOTONIC);
    netprof_regions_reset();
    EXPECT(sum_now(NULL).calls == 0);
    EXPECT(netprof_regions_take(&r, NULL) == NETPROF_OK);
    EXPECT(r.mismatched == 0 && r.elapsed_ns <= netprof__clock(CLOCK_MONOTONIC) - before);
    netprof_regions_free(&r);
}

static void test_resets(void **state)
{
    (void)state;
    assert_int_equal(run_part("resets", ""), 0);
}

/* Spans that begin in one thread and end in another. */
enum { SPANS = 20000, RING = 64 };
static netprof_span ring[RING];
static sem_t filled, emptied;

static void *end_spans(void *argument)
{
    int i;
    (void)argument;
    for (i = 0; i < SPANS; i++) {
        sem_wait(&filled);
        netprof_span_end(ring[i % RING]);
        sem_post(&emptied);
    }
    return NULL;
}

static void part_spans(void)
{
    netprof_region_id id = netprof_region("request");
    pthread_t thread;
    sum s;
    int i;
    sem_init(&filled, 0, 0);
    sem_init(&emptied, 0, RING);
    pthread_create(&thread, NULL, end_spans, NULL);
    for (i = 0; i < SPANS; i++) {
        sem_wait(&emptied);
        ring[i % RING] = netprof_span_begin(id);
        sem_post(&filled);
        if (i % 100 == 0) sum_now(NULL);
    }
    pthread_join(thread, NULL);
    s = sum_now("request");
    EXPECT(s.calls == SPANS && s.spans == SPANS && s.measured == SPANS && s.buckets == SPANS && s.open == 0);
    EXPECT(s.nodes == 1); /* in the ending thread alone */
}

static void test_spans(void **state)
{
    (void)state;
    assert_int_equal(run_part("spans", ""), 0);
}

/* Threads that come and go leave their figures and not their memory; what they left open is ended. */
static void *short_life(void *argument)
{
    NETPROF_BEGIN("life");
    NETPROF_BEGIN("work");
    NETPROF_END("work");
    if (!argument) NETPROF_END("life");
    return NULL;
}

static void part_churn(void)
{
    netprof_regions r;
    long before = 0, after, most;
    pthread_t thread;
    sum s;
    int i;
    for (i = 0; i < 2000; i++) {
        EXPECT(pthread_create(&thread, NULL, short_life, i % 4 == 0 ? &i : NULL) == 0);
        pthread_join(thread, NULL);
        if (i == 999) before = __atomic_load_n(&allocations_held, __ATOMIC_RELAXED);
    }
    after = __atomic_load_n(&allocations_held, __ATOMIC_RELAXED);
    /* a block that is taken over may still need room for a sample of the sampler: one for each depth, one in between; and
       the sampler may just have held something when it was counted first; as the thread may that writes the file every 10 s.
       A thread that left anything would leave 1000 by then. */
    most = netprof__regions_state.started == NETPROF_MODE_SAMPLER ? 3 * 256 : 16;
    if (after - before > most || before - after > most) printf("%ld blocks held, %ld at the end\n", before, after);
    EXPECT(after - before <= most && before - after <= most);
    s = sum_now("life");
    EXPECT(s.calls == 2000 && s.measured == 2000 && s.aborted == 500 && s.open == 0);
    EXPECT(sum_now("work").measured == 2000);
    EXPECT(netprof_regions_take(&r, NULL) == NETPROF_OK);
    EXPECT(r.threads == 2000 && r.mismatched == 0 && r.dropped == 0);
    netprof_regions_free(&r);
}

static void test_churn(void **state)
{
    (void)state;
    assert_int_equal(run_part("churn", ""), 0);
    assert_int_equal(run_part("churn", "NETPROF=sampler NETPROF_SOURCES=netdev"), 0);
}

/* A destructor of thread-specific data that runs after ours uses regions again. */
static pthread_key_t late_key;

static void late(void *argument)
{
    (void)argument;
    NETPROF_BEGIN("late");
    NETPROF_END("late");
}

static void *leaves_late(void *argument)
{
    NETPROF_BEGIN("life");
    NETPROF_END("life");
    pthread_setspecific(late_key, argument);
    return NULL;
}

static void part_late(void)
{
    pthread_t threads[4];
    int i, k;
    netprof_region("life"); /* our key first */
    pthread_key_create(&late_key, late);
    for (k = 0; k < 200; k++) {
        for (i = 0; i < 4; i++)
            EXPECT(pthread_create(&threads[i], NULL, leaves_late, &i) == 0);
        for (i = 0; i < 4; i++)
            pthread_join(threads[i], NULL);
    }
    EXPECT(sum_now("late").measured == 800);
    EXPECT(sum_now("life").measured == 800);
}

static void test_late(void **state)
{
    (void)state;
    assert_int_equal(run_part("late", ""), 0);
}

/* -- signals -- */

static volatile sig_atomic_t signals;

static void on_signal(int number)
{
    (void)number;
    NETPROF_BEGIN("handler");
    NETPROF_BYTES(1);
    NETPROF_END("handler");
    signals++;
}

static void part_handler(void)
{
    struct itimerval often = {{0, 50}, {0, 50}};
    struct sigaction action;
    netprof_regions r;
    uint64_t rounds = 0, asked;
    sum s;
    NETPROF_BEGIN("handler"); /* first uses allocate: not in the handler */
    NETPROF_END("handler");
    NETPROF_BEGIN("main");
    on_signal(0);
    NETPROF_BEGIN("inner");
    on_signal(0);
    NETPROF_END("inner");
    NETPROF_END("main");
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    sigaction(SIGPROF, &action, NULL);
    setitimer(ITIMER_PROF, &often, NULL);
    while (signals < 100 || rounds < 200000) {
        NETPROF_BEGIN("main");
        NETPROF_BEGIN("inner");
        NETPROF_END("inner");
        NETPROF_END("main");
        if (rounds++ % 5000 == 0) sum_now(NULL); /* a handler that comes while the lock is held */
    }
    memset(&often, 0, sizeof often);
    setitimer(ITIMER_PROF, &often, NULL);
    asked = (uint64_t)signals + 1;
    EXPECT(sum_now("main").measured == rounds + 1);
    EXPECT(sum_now("inner").measured == rounds + 1);
    s = sum_now("handler");
    EXPECT(netprof_regions_take(&r, NULL) == NETPROF_OK);
    EXPECT(s.open == 0 && s.measured == s.calls && s.measured <= asked);
    EXPECT(s.measured + r.dropped >= asked); /* none vanished */
    EXPECT(r.mismatched == 0);
    netprof_regions_free(&r);
}

static void test_handler(void **state)
{
    (void)state;
    assert_int_equal(run_part("handler", ""), 0);
}

/* -- ends of processes -- */

static void some_regions(int n)
{
    int i;
    for (i = 0; i < n; i++) {
        NETPROF_BEGIN("step");
        NETPROF_BYTES(10);
        NETPROF_END("step");
    }
}

static void part_exit(void)
{
    some_regions(7);
    NETPROF_BEGIN("open");
    exit(0);
}

static void part_quick(void)
{
    some_regions(7);
    _exit(0);
}

static void part_nothing(void)
{
    netprof_region("never used");
}

/* A file is due: the region that ends next has it written, and nothing is when the process goes without a word. */
static void part_due(void)
{
    find_place();
    some_regions(3);
    NETPROF__SET(netprof__regions_state.flush_ticks, 1);
    some_regions(1);
    while (files(".netprof", NULL, 0) == 0 || NETPROF__GET(netprof__regions_state.flush_ticks) == UINT64_MAX)
        sched_yield();
    some_regions(100);
    _exit(0);
}

static void part_off_at_last(void)
{
    some_regions(5);
    netprof_set_mode(NETPROF_MODE_OFF);
    some_regions(100);
}

static void part_on_at_last(void)
{
    some_regions(5);
    netprof_set_mode(NETPROF_MODE_TIME);
    some_regions(3);
}

static void test_ends(void **state)
{
    content c;
    (void)state;
    assert_int_equal(run_part("exit", ""), 0);
    c = read_only_file("step");
    assert_int_equal(c.all.measured, 7);
    assert_int_equal(c.all.bytes, 70);
    assert_int_equal(c.complete, 1);
    empty_place();
    assert_int_equal(run_part("exit", ""), 0);
    c = read_only_file("open");
    assert_int_equal(c.all.open, 1);
    assert_int_equal(c.all.measured, 1); /* as at a thread's end, and still said to be open */
    assert_int_equal(c.all.buckets, 1);
    assert_true(c.all.inclusive_ns > 0);
    empty_place();
    assert_int_equal(run_part("quick", ""), 0);
    assert_int_equal(files("", NULL, 0), 0);
    assert_int_equal(run_part("nothing", ""), 0);
    assert_int_equal(run_part("exit", "NETPROF=off"), 0);
    assert_int_equal(files("", NULL, 0), 0);
    assert_int_equal(run_part("due", ""), 0);
    c = read_only_file("step");
    assert_int_equal(c.complete, 1);
    assert_int_equal(c.all.measured, 4);
    assert_int_equal(c.all.bytes, 40);
    empty_place();
    assert_int_equal(run_part("off_at_last", ""), 0);
    assert_int_equal(read_only_file("step").all.measured, 5);
    empty_place();
    assert_int_equal(run_part("on_at_last", "NETPROF=off"), 0);
    assert_int_equal(read_only_file("step").all.measured, 3);
}

/* The settings of the environment by call: they take precedence, and come before the first region. */
static void part_by_call(void)
{
    char name[600];
    netprof_error error;
    find_place();
    snprintf(name, sizeof name, "%s/called-%%r.netprof", place);
    EXPECT(netprof_set_output(name, NULL) == NETPROF_OK);
    EXPECT(netprof_set_flush(0.001, NULL) == NETPROF_OK);
    EXPECT(netprof_set_series(0.001, NULL) == NETPROF_OK);
    EXPECT(netprof_set_interval(0.02, NULL) == NETPROF_OK);
    EXPECT(netprof_set_flush(-1, &error) == NETPROF_ERR_ARG && netprof_set_output("", &error) == NETPROF_ERR_ARG);
    netprof_set_mode(NETPROF_MODE_SAMPLER); /* none of these calls began the regions */
    do
        some_regions(5);
    while (files("called.netprof", NULL, 0) == 0 || files("called.series.netprof", NULL, 0) == 0);
    EXPECT(netprof_set_flush(1, &error) == NETPROF_ERR_ARG && netprof_set_series(1, &error) == NETPROF_ERR_ARG);
    netprof_set_rank(7, 9);
}

static void test_by_call(void **state)
{
    char path[600];
    content c;
    (void)state;
    assert_int_equal(run_part("by_call", "NETPROF_FLUSH=0 NETPROF_SERIES=0 NETPROF_SOURCES=netdev"), 0);
    assert_int_equal(files("", NULL, 0), 2); /* the file without a rank has gone */
    assert_int_equal(files("called-7.series.netprof", NULL, 0), 1);
    assert_int_equal(files("called-7.netprof", path, sizeof path), 1);
    c = read_content(path, "step");
    assert_string_equal(c.rank, "7");
    assert_int_equal(c.mode, NETPROF_MODE_SAMPLER);
    assert_int_equal(c.complete, 1);
}

static void part_every(void)
{
    some_regions(100);
}

static void test_every(void **state)
{
    content c;
    (void)state;
    assert_int_equal(run_part("every", "NETPROF_EVERY=other:2,step:10"), 0);
    c = read_only_file("step");
    assert_int_equal(c.all.calls, 100);
    assert_int_equal(c.all.measured, 10);
    assert_int_equal(c.all.bytes, 1000);
    assert_int_equal(c.all.open, 0);
}

/* Fork in a region: the child's file has the child's figures alone. */
static void part_fork(void)
{
    int status, i;
    pid_t pid;
    some_regions(5);
    NETPROF_BEGIN("around");
    await_background();
    pid = fork();
    if (pid == 0) {
        some_regions(2);
        NETPROF_END("around");
        exit(0);
    }
    waitpid(pid, &status, 0);
    EXPECT(status == 0);
    for (i = 0; i < 3; i++) { /* children without regions leave no file */
        pid = fork();
        if (pid == 0) {
            if (i == 0) execlp("true", "true", (char *)NULL);
            if (i == 1) _exit(0);
            exit(0);
        }
        waitpid(pid, &status, 0);
        EXPECT(status == 0);
    }
    some_regions(1);
    NETPROF_END("around");
}

static void check_forked(const char *mode)
{
    char path[600] = "";
    content c;
    int total = 0;
    DIR *d;
    struct dirent *e;
    assert_int_equal(run_part("fork", mode), 0);
    assert_int_equal(files("", NULL, 0), 2);
    d = opendir(place);
    while ((e = readdir(d)) != NULL) {
        if (e->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", place, e->d_name);
        c = read_content(path, NULL);
        assert_int_equal(c.complete, 1);
        assert_int_equal(c.mismatched, 0);
        assert_true(c.all.calls == 3 || c.all.calls == 7); /* child: 2 steps, around; parent: 6 steps, around */
        assert_int_equal(c.all.measured, c.all.calls);
        total += (int)c.all.calls;
    }
    closedir(d);
    assert_int_equal(total, 10);
    empty_place();
}

static void test_fork(void **state)
{
    (void)state;
    check_forked("");
    check_forked("NETPROF=fast NETPROF_SOURCES=netdev");
#if !UNDER_THREAD_SANITIZER /* it does not follow a fork of a process with threads */
    check_forked("NETPROF=sampler NETPROF_SOURCES=netdev NETPROF_INTERVAL=0.001");
    check_forked("NETPROF_FLUSH=0.005");
#endif
}

/* A child of a process that has not used regions yet begins its own, which count all that it does. */
static void part_fork_unused(void)
{
    int status, i;
    pid_t pid;
    find_place();
    for (i = 0; i < 2; i++) {
        pid = fork();
        if (pid == 0) {
            if (i == 0) netprof_region("never used");
            some_regions(4 * i);
            exit(0);
        }
        waitpid(pid, &status, 0);
        EXPECT(status == 0);
    }
    EXPECT(files("", NULL, 0) == 1);
    some_regions(9);
}

static void test_fork_unused(void **state)
{
    char path[600];
    uint64_t calls[2] = {0, 0};
    int i;
    (void)state;
    assert_int_equal(run_part("fork_unused", ""), 0);
    for (i = 0; i < 2; i++) {
        content c;
        assert_int_equal(files("", path, sizeof path), 2 - i);
        c = read_content(path, NULL);
        assert_int_equal(c.complete, 1);
        calls[c.all.calls == 9] = c.all.calls;
        assert_int_equal(c.all.bytes, 10 * c.all.calls);
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(calls[0], 4);
    assert_int_equal(calls[1], 9);
}

/* Many threads are amid regions while one forks; the children go on as if alone. */
enum { SPINNERS = 3 };
static int spinning;

static void *spin(void *argument)
{
    some_regions(1);
    __atomic_add_fetch(&spinning, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(&go_on, __ATOMIC_RELAXED))
        some_regions(10);
    return argument;
}

static void start_spinning(pthread_t *threads)
{
    int i;
    for (i = 0; i < SPINNERS; i++)
        EXPECT(pthread_create(&threads[i], NULL, spin, NULL) == 0);
}

/* One child; its exit status is 0 when its figures are its own alone. */
static void fork_alone(void)
{
    int status = -1;
    pid_t pid = fork();
    if (pid == 0) {
        alarm(240);
        some_regions(3);
        EXPECT(sum_now("step").measured == 3);
        EXPECT(netprof_flush(NULL) == NETPROF_OK);
        _exit(0);
    }
    waitpid(pid, &status, 0);
    EXPECT(status == 0);
}

static void part_fork_among_threads(void)
{
    pthread_t threads[SPINNERS];
    int i;
    start_spinning(threads);
    while (__atomic_load_n(&spinning, __ATOMIC_ACQUIRE) < SPINNERS)
        sched_yield();
    await_background();
    for (i = 0; i < 40; i++)
        fork_alone();
    __atomic_store_n(&go_on, 0, __ATOMIC_RELAXED);
    for (i = 0; i < SPINNERS; i++)
        pthread_join(threads[i], NULL);
}

/* The first regions of a process and its fork at the same time. */
static void part_fork_amid_start(void)
{
    int i, k, status;
    for (i = 0; i < 40; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            pthread_t threads[SPINNERS];
            start_spinning(threads);
            for (k = 0; k < i * 20; k++)
                (void)getppid(); /* a little later each time */
            fork_alone();
            _exit(0);
        }
        waitpid(pid, &status, 0);
        EXPECT(status == 0);
    }
}

static void test_fork_among_threads(void **state)
{
    (void)state;
    if (UNDER_THREAD_SANITIZER) skip();
    assert_int_equal(run_part("fork_among_threads", "NETPROF_FLUSH=0.001"), 0);
    empty_place();
    assert_int_equal(run_part("fork_among_threads", "NETPROF=sampler NETPROF_SOURCES=netdev NETPROF_INTERVAL=0.0005"),
                     0);
}

static void test_fork_amid_start(void **state)
{
    (void)state;
    /* The address sanitizer does not follow a fork amid the start of a thread. */
    if (UNDER_THREAD_SANITIZER || UNDER_ADDRESS_SANITIZER) skip();
    assert_int_equal(run_part("fork_amid_start", ""), 0);
    assert_int_equal(run_part("fork_amid_start", "NETPROF=fast NETPROF_SOURCES=netdev"), 0);
}

/* A program that starts another one by exec: both have files. */
static void part_exec(void)
{
    some_regions(4);
    EXPECT(netprof_flush(NULL) == NETPROF_OK);
    setenv("NETPROF_RANK", "1", 1);
    execl("/proc/self/exe", self, "--part", "exit", (char *)NULL);
}

static void test_exec(void **state)
{
    char path[600] = "";
    (void)state;
    assert_int_equal(run_part("exec", ""), 0);
    assert_int_equal(files("", NULL, 0), 2);
    assert_int_equal(files("-1-", path, sizeof path), 1);
    assert_int_equal(read_content(path, "step").all.measured, 7);
}

/* Killed: the file is whole, and has what was there when its writing began. */
static void part_endless(void)
{
    int fd = 3;
    uint64_t done = 0;
    for (;;) {
        struct timespec nap = {0, 1000000};
        some_regions(1);
        done++;
        if (pwrite(fd, &done, sizeof done, 0) < 0) _exit(1);
        nanosleep(&nap, NULL);
    }
}

/* The endless child, which ends with this process at the latest; its counting goes to a file. */
static pid_t start_endless(FILE *counting)
{
    pid_t parent = getpid(), pid;
    fflush(NULL);
    pid = fork();
    if (pid) return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(126);
    dup2(fileno(counting), 3);
    setenv("NETPROF_FLUSH", "0.1", 1);
    execl("/proc/self/exe", self, "--part", "endless", (char *)NULL);
    _exit(127);
}

enum { TRIES = 30000 }; /* each 2 ms */
static const struct timespec between_tries = {0, 2000000};

/* How many the child says that it did; 0: nothing for a long time. */
static uint64_t done_by(FILE *counting)
{
    uint64_t done = 0;
    int tries;
    for (tries = 0; tries < TRIES; tries++) {
        if (pread(fileno(counting), &done, sizeof done, 0) == sizeof done) return done;
        nanosleep(&between_tries, NULL);
    }
    return 0;
}

/* What the file says as soon as it says more than `than`; 0: not for a long time. */
static uint64_t measured_beyond(uint64_t than)
{
    char path[600];
    int tries;
    for (tries = 0; tries < TRIES; tries++) {
        content c;
        if (files(".netprof", path, sizeof path) && !strstr(path, ".tmp")) {
            c = read_content(path, "step");
            if (c.complete && c.all.measured > than) return c.all.measured;
        }
        nanosleep(&between_tries, NULL);
    }
    return 0;
}

static void test_kill(void **state)
{
    char path[600] = "";
    uint64_t done, first, second;
    content c;
    FILE *f = tmpfile();
    int status;
    pid_t pid;
    (void)state;
    pid = start_endless(f);
    assert_true(pid > 0);
    first = measured_beyond(0);
    done = done_by(f);
    second = done == 0 ? 0 : measured_beyond(first > done - 1 ? first : done - 1);
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_true(first > 0 && done > 0 && second > first);
    while (files(".tmp", path, sizeof path)) /* killed amid a write: the file before it is whole */
        assert_int_equal(unlink(path), 0);
    c = read_only_file("step");
    assert_int_equal(c.complete, 1);
    assert_true(c.all.measured >= second && second >= done);
    assert_int_equal(pread(fileno(f), &done, sizeof done, 0), sizeof done);
    assert_true(c.all.measured <= done + 1); /* the last may have been killed before it was counted */
    fclose(f);
}

/* -- names, ranks, settings -- */

static void test_ranks(void **state)
{
    static const char *const launchers[] = {
        "NETPROF_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK",          "PMI_RANK",     "MV2_COMM_WORLD_RANK",
        "PALS_RANKID",  "FLUX_TASK_RANK",       "JSM_NAMESPACE_RANK", "SLURM_PROCID", "ALPS_APP_PE"};
    char text[600], path[600];
    size_t i;
    (void)state;
    for (i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        snprintf(text, sizeof text, "%s=%d", launchers[i], 40 + (int)i);
        assert_int_equal(run_part("every", text), 0);
        snprintf(text, sizeof text, "0-%d-", 40 + (int)i);
        assert_int_equal(files(text, path, sizeof path), 1);
        snprintf(text, sizeof text, "%d", 40 + (int)i);
        assert_string_equal(read_content(path, NULL).rank, text);
        empty_place();
    }
    assert_int_equal(run_part("every", "NETPROF_RANK=3 SLURM_PROCID=9 SLURM_JOB_ID=77"), 0);
    assert_int_equal(files("77-3-", path, sizeof path), 1);
    assert_string_equal(read_content(path, NULL).job, "77");
}

static void part_set_rank(void)
{
    netprof_set_rank(12, 64);
    some_regions(1);
}

static void test_hostile_names(void **state)
{
    char path[600];
    (void)state;
    assert_int_equal(run_part("every", "SLURM_JOB_ID=../../x SLURM_PROCID=../../y"), 0);
    assert_int_equal(files(".._.._x-", path, sizeof path), 1); /* a rank is a number, or none ... */
    assert_int_equal(files(".._.._x-0-", NULL, 0), 0);         /* ... and none is not 0 */
    assert_string_equal(read_content(path, NULL).job, "../../x");
    assert_string_equal(read_content(path, NULL).rank, "");
    empty_place();
    assert_int_equal(run_part("set_rank", "SLURM_PROCID=5"), 0);
    assert_int_equal(files("0-12-", path, sizeof path), 1);
    empty_place();
    /* a place where no file can be */
    assert_int_equal(run_part("every", "NETPROF_QUIET=1 NETPROF_OUTPUT=/proc/none/%p"), 0);
    assert_int_equal(files("", NULL, 0), 0);
}

static void test_settings(void **state)
{
    (void)state;
    assert_int_equal(run_part("every", "NETPROF_INTERVALL=3"), 0);
    assert_string_equal(read_only_file(NULL).warning,
                        "the environment variable NETPROF_INTERVALL is none of netprof's");
    empty_place();
    assert_int_equal(run_part("every", "NETPROF=slow"), 0);
    assert_string_equal(read_only_file(NULL).warning, "NETPROF=slow is none of off, time, fast, sampler: time is used");
    empty_place();
    assert_int_equal(run_part("every", "NETPROF_FLUSH=often"), 0);
    assert_string_equal(read_only_file(NULL).warning, "NETPROF_FLUSH is no number of seconds: not used");
    empty_place();
    assert_int_equal(run_part("every", "NETPROF_EVERY=other:2,step=10"), 0);
    assert_string_equal(read_only_file(NULL).warning, "NETPROF_EVERY: \"step=10\" is no NAME:NUMBER: not used");
    assert_int_equal(read_only_file("step").all.measured, 100);
    empty_place();
    assert_int_equal(run_part("every", "NETPROF_RANK=one"), 0);
    assert_string_equal(read_only_file(NULL).warning, "NETPROF_RANK is no number: not used");
    assert_string_equal(read_only_file(NULL).rank, "");
    empty_place();
    assert_int_equal(run_part("every", "NETPROF=fast NETPROF_ROOT=/nowhere"), 0);
    assert_string_equal(read_only_file(NULL).warning,
                        "no counter can be read for the regions, time only: /nowhere: no counter found");
    assert_int_equal(read_only_file(NULL).mode, NETPROF_MODE_TIME);
    empty_place();
    assert_int_equal(run_part("every", "NETPROF=fast NETPROF_SOURCES=netdev,tcp"), 0);
    assert_string_equal(read_only_file(NULL).warning,
                        "no counter can be read for the regions, time only: tcp is not a source");
    empty_place();
    assert_int_equal(run_part("every", "NETPROF_FLUSH=500ms NETPROF_INTERVAL=1s"), 0);
    assert_string_equal(read_only_file(NULL).warning, "");
}

/* A program of as many names as there may be, and one more. */
static void part_many_names(void)
{
    netprof_regions r;
    char name[32];
    int i;
    for (i = 0; i <= NETPROF_MAX_REGIONS; i++) {
        snprintf(name, sizeof name, "name %d", i);
        EXPECT((netprof_region(name) != 0) == (i < NETPROF_MAX_REGIONS));
        netprof_begin(netprof_region(name));
        netprof_end(netprof_region(name));
    }
    EXPECT(netprof_regions_take(&r, NULL) == NETPROF_OK);
    EXPECT(r.count == NETPROF_MAX_REGIONS && r.dropped == 1 && r.mismatched == 0);
    netprof_regions_free(&r);
}

static void test_many_names(void **state)
{
    (void)state;
    assert_int_equal(run_part("many_names", ""), 0);
    assert_int_equal(read_only_file(NULL).all.nodes, NETPROF_MAX_REGIONS);
}

/* -- failing allocations -- */

static void *second_thread(void *argument)
{
    NETPROF_BEGIN("life");
    NETPROF_END("life");
    return argument;
}

/* 1: every allocation was granted. */
static int scenario(void)
{
    netprof_regions r;
    pthread_t thread;
    uint64_t begun = 5, calls;
    netprof_span span;
    NETPROF_BEGIN("a");
    NETPROF_BEGIN("b");
    NETPROF_BEGIN("a");
    NETPROF_BYTES(1);
    NETPROF_END("a");
    NETPROF_END("b");
    NETPROF_END("a");
    span = netprof_span_begin(netprof_region("s"));
    netprof_span_end(span);
    pthread_create(&thread, NULL, second_thread, NULL);
    pthread_join(thread, NULL);
    netprof_flush(NULL);
    if (netprof_regions_take(&r, NULL) == NETPROF_OK) {
        calls = sum_of(&r, NULL).calls;
        EXPECT(sum_of(&r, NULL).measured == calls && sum_of(&r, NULL).aborted == 0);
        EXPECT(r.mismatched == 0);
        EXPECT(calls <= begun && (calls + r.dropped >= begun || !span.begin_ticks));
        netprof_regions_free(&r);
    }
    return __atomic_load_n(&allocations_left, __ATOMIC_RELAXED) > 0;
}

static void part_allocations(void)
{
    int n, status = 0;
    for (n = 0; n < 100000; n++) {
        pid_t pid = fork();
        if (pid == 0) {
            alarm(240);
            allocations_left = n;
            _exit(scenario() ? 42 : 0);
        }
        waitpid(pid, &status, 0);
        if (status) break;
    }
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 42);
    EXPECT(n > 10);
}

static void test_allocations(void **state)
{
    (void)state;
    assert_int_equal(run_part("allocations", ""), 0);
    assert_int_equal(run_part("allocations", "NETPROF=fast NETPROF_SOURCES=netdev NETPROF_INCLUDE=lo"), 0);
    assert_int_equal(run_part("allocations", "NETPROF=sampler NETPROF_SOURCES=netdev NETPROF_INCLUDE=lo"), 0);
}

static const struct part {
    const char *name;
    void (*run)(void);
} parts[] = {{"workers", part_workers},
             {"resets", part_resets},
             {"spans", part_spans},
             {"churn", part_churn},
             {"late", part_late},
             {"handler", part_handler},
             {"exit", part_exit},
             {"quick", part_quick},
             {"nothing", part_nothing},
             {"due", part_due},
             {"off_at_last", part_off_at_last},
             {"on_at_last", part_on_at_last},
             {"every", part_every},
             {"fork", part_fork},
             {"fork_unused", part_fork_unused},
             {"fork_among_threads", part_fork_among_threads},
             {"by_call", part_by_call},
             {"fork_amid_start", part_fork_amid_start},
             {"exec", part_exec},
             {"endless", part_endless},
             {"set_rank", part_set_rank},
             {"many_names", part_many_names},
             {"allocations", part_allocations}};

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_workers, fresh_place),
        cmocka_unit_test_setup(test_resets, fresh_place),
        cmocka_unit_test_setup(test_spans, fresh_place),
        cmocka_unit_test_setup(test_churn, fresh_place),
        cmocka_unit_test_setup(test_late, fresh_place),
        cmocka_unit_test_setup(test_handler, fresh_place),
        cmocka_unit_test_setup(test_ends, fresh_place),
        cmocka_unit_test_setup(test_by_call, fresh_place),
        cmocka_unit_test_setup(test_every, fresh_place),
        cmocka_unit_test_setup(test_fork, fresh_place),
        cmocka_unit_test_setup(test_fork_unused, fresh_place),
        cmocka_unit_test_setup(test_fork_among_threads, fresh_place),
        cmocka_unit_test_setup(test_fork_amid_start, fresh_place),
        cmocka_unit_test_setup(test_exec, fresh_place),
        cmocka_unit_test_setup(test_kill, fresh_place),
        cmocka_unit_test_setup(test_ranks, fresh_place),
        cmocka_unit_test_setup(test_hostile_names, fresh_place),
        cmocka_unit_test_setup(test_settings, fresh_place),
        cmocka_unit_test_setup(test_many_names, fresh_place),
        cmocka_unit_test_setup(test_allocations, fresh_place),
    };
    const char *tmp = getenv("TMPDIR");
    size_t i;
    int failed;
    self = argv[0];
    for (i = 0; argc == 3 && i < sizeof parts / sizeof *parts; i++)
        if (strcmp(argv[2], parts[i].name) == 0) {
            parts[i].run();
            return 0;
        }
    snprintf(place, sizeof place, "%s/netprof-regions-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(place)) return 1;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    empty_place();
    rmdir(place);
    return failed;
}

/* Regions over time (NETPROF_SERIES): what a process samples of itself is in its file, tick by tick, adds up to its
   totals, shows who was inside when, and outlives a kill. Each part is a process of its own: this
   program again. Nothing here depends on how long something takes: a part waits for samples, not for time. */
#include <stddef.h>
static void *scarce_realloc(void *pointer, size_t size);
#define NETPROF_MALLOC(size)           scarce_realloc(NULL, (size))
#define NETPROF_REALLOC(pointer, size) scarce_realloc((pointer), (size))
#define NETPROF_FREE(pointer)          free(pointer)
#define NETPROF_IMPLEMENTATION
#include "../../netprof.h"
#include "../sanitized.h"

#include <sys/wait.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static long allocations_left = -1; /* -1: no limit */

/* While it is 1, each allocation of another thread than the first flushes, as what a program puts in the allocator's
   place may do. */
static int flush_within;
static int accepted, refused; /* of such calls */

static void flush_if_within(void)
{
    static __thread int inside;
    if (inside || !__atomic_load_n(&flush_within, __ATOMIC_ACQUIRE) || syscall(SYS_gettid) == getpid()) return;
    inside = 1;
    if (netprof_flush(NULL) == NETPROF_OK)
        __atomic_add_fetch(&accepted, 1, __ATOMIC_RELEASE);
    else
        __atomic_add_fetch(&refused, 1, __ATOMIC_RELEASE);
    inside = 0;
}

static void *scarce_realloc(void *pointer, size_t size)
{
    flush_if_within();
    if (__atomic_load_n(&allocations_left, __ATOMIC_RELAXED) >= 0 &&
        __atomic_fetch_sub(&allocations_left, 1, __ATOMIC_RELAXED) <= 0) {
        __atomic_store_n(&allocations_left, 0, __ATOMIC_RELAXED); /* fails from now on */
        return NULL;
    }
    return realloc(pointer, size);
}

static char place[256];
static char *self;

/* -- in a part -- */

static const char *in_place(const char *name)
{
    static char path[400];
    snprintf(path, sizeof path, "%s/%s", place, name);
    return path;
}

/* How many samples are in a file that is being written. */
static int samples_in(const char *name)
{
    netprof_reader *reader = NULL;
    netprof_item item;
    int samples = 0;
    if (netprof_reader_open(&reader, in_place(name), NULL, NULL)) return 0;
    do {
        if (netprof_reader_next(reader, &item, NULL)) break;
        samples += item.type == NETPROF_ITEM_SNAPSHOT;
    } while (item.type != NETPROF_ITEM_END);
    netprof_reader_close(reader);
    return samples;
}

/* Until there are so many more; read anew when it has grown. */
static void await_samples(const char *name, int more)
{
    struct timespec nap = {0, 1000000};
    int before = samples_in(name);
    off_t size = 0;
    for (;; nanosleep(&nap, NULL)) {
        struct stat st;
        if (stat(in_place(name), &st) || st.st_size == size) continue;
        size = st.st_size;
        if (samples_in(name) >= before + more) return;
    }
}

static const char series[] = "x.series.netprof";

static void alternate(void)
{
    int i;
    NETPROF_BEGIN("main");
    for (i = 0; i < 3; i++) {
        NETPROF_BEGIN("A");
        NETPROF_BYTES(1000);
        await_samples(series, 5);
        NETPROF_END("A");
        NETPROF_BEGIN("b/c\\d");
        await_samples(series, 5);
        NETPROF_END("b/c\\d");
    }
    NETPROF_END("main");
}

static void part_alternate(void)
{
    alternate();
    exit(0);
}

static void part_short(void)
{
    NETPROF_BEGIN("short");
    NETPROF_END("short");
    exit(0);
}

static void part_kill(void)
{
    NETPROF_BEGIN("main");
    NETPROF_BEGIN("long");
    await_samples(series, 4);
    kill(getpid(), SIGKILL);
}

static int stop;

static void *hammer(void *argument)
{
    (void)argument;
    NETPROF_BEGIN("hammer");
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        NETPROF_BEGIN("nail");
        NETPROF_BYTES(3);
        NETPROF_END("nail");
    }
    NETPROF_END("hammer");
    return NULL;
}

static void part_threads(void)
{
    pthread_t ids[3];
    int i;
    NETPROF_BEGIN("main");
    for (i = 0; i < 3; i++)
        pthread_create(&ids[i], NULL, hammer, NULL);
    await_samples(series, 8);
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (i = 0; i < 3; i++)
        pthread_join(ids[i], NULL);
    NETPROF_END("main");
    exit(0);
}

static void recurse(int depth)
{
    NETPROF_BEGIN("self");
    if (depth)
        recurse(depth - 1);
    else
        await_samples(series, 4);
    NETPROF_END("self");
}

/* A recursion, calls that are counted only, a reset, one that is open at the end. */
static void part_odd(void)
{
    int i;
    recurse(3);
    for (i = 0; i < 10; i++) {
        NETPROF_BEGIN("some");
        NETPROF_BEGIN("within");
        NETPROF_END("within");
        NETPROF_END("some");
    }
    await_samples(series, 2); /* the first may have met the end of a call: only the next one knows all of it */
    netprof_regions_reset();
    recurse(2);
    NETPROF_BEGIN("open");
    await_samples(series, 3);
    exit(0);
}

/* The child has a file of its own, and nothing of its parent's in it. */
static void part_fork(void)
{
    char own[64];
    pid_t child;
    int status = 1;
    NETPROF_BEGIN("parent");
    snprintf(own, sizeof own, "%ld.series.netprof", (long)getpid());
    await_samples(own, 3);
    child = fork();
    if (child == 0) {
        NETPROF_BEGIN("child");
        snprintf(own, sizeof own, "%ld.series.netprof", (long)getpid());
        await_samples(own, 3);
        NETPROF_END("child");
        exit(0);
    }
    waitpid(child, &status, 0);
    NETPROF_END("parent");
    printf("%ld %ld\n", (long)getpid(), (long)child);
    fflush(stdout);
    exit(status != 0);
}

static void part_rank(void)
{
    NETPROF_BEGIN("main");
    await_samples("r0.series.netprof", 2);
    netprof_set_rank(7, 9);
    while (access(in_place("r7.series.netprof"), F_OK))
        usleep(1000);
    await_samples("r7.series.netprof", 2);
    NETPROF_END("main");
    exit(0);
}

/* As what becomes a daemon does: all descriptors are closed, and the program's next file gets the number of one. */
static void part_closed(void)
{
    struct timespec nap = {0, 5000000};
    int fd, last, over = 0, tries;
    NETPROF_BEGIN("main");
    await_samples(series, 3);
    netprof__lock(&netprof__regions_state.flush_lock); /* between two samples */
    last = netprof__regions_state.series.writer->fd;   /* not 3 if something else was open when it began */
    for (fd = 3; fd <= last; fd++)
        close(fd);
    for (fd = 3; fd <= last; fd++)
        open(in_place("mine"), O_WRONLY | O_CREAT | O_APPEND, 0600);
    netprof__holds_lock = 0;
    netprof__unlock(&netprof__regions_state.flush_lock);
    for (tries = 0; !over && tries < 12000; tries++) { /* until the next sample found it out */
        nanosleep(&nap, NULL);
        netprof__lock(&netprof__regions_state.flush_lock);
        over = netprof__regions_state.series.over;
        netprof__unlock(&netprof__regions_state.flush_lock);
    }
    NETPROF_END("main");
    exit(!over);
}

/* A flush amid a sample would wait for that sample, for ever: it is refused, and the samples go on. */
static void part_within(void)
{
    int i;
    NETPROF_BEGIN("main");
    await_samples(series, 2);
    __atomic_store_n(&flush_within, 1, __ATOMIC_RELEASE);
    for (i = 0; i < 8 || !__atomic_load_n(&refused, __ATOMIC_ACQUIRE); i++) {
        char name[16];
        snprintf(name, sizeof name, "r%d", i); /* a row more, for which a sample needs memory */
        NETPROF_BEGIN_DYNAMIC(name);
        NETPROF_END_DYNAMIC(name);
        await_samples(series, 1);
    }
    __atomic_store_n(&flush_within, 0, __ATOMIC_RELEASE);
    await_samples(series, 2);
    NETPROF_END("main");
    exit(__atomic_load_n(&accepted, __ATOMIC_ACQUIRE) != 0);
}

static void part_paths(void)
{
    int i, count = atoi(getenv("NETPROF_TEST_PATHS"));
    for (i = 0; i < count; i++) {
        netprof_region_id id;
        char name[16];
        snprintf(name, sizeof name, "r%d", i);
        id = netprof_region(name);
        netprof_begin(id);
        netprof_end(id);
    }
    exit(0); /* with a last sample */
}

/* Memory ends while it runs: no series perhaps, and never a crash. */
static void part_starved(void)
{
    struct timespec nap = {0, 20000000};
    __atomic_store_n(&allocations_left, atol(getenv("NETPROF_TEST_LEFT")), __ATOMIC_RELAXED);
    NETPROF_BEGIN("main");
    nanosleep(&nap, NULL);
    NETPROF_BEGIN("more");
    nanosleep(&nap, NULL);
    NETPROF_END("more");
    NETPROF_END("main");
    exit(0);
}

static const struct {
    const char *name;
    void (*run)(void);
} parts[] = {{"alternate", part_alternate}, {"short", part_short},  {"kill", part_kill},
             {"threads", part_threads},     {"odd", part_odd},      {"fork", part_fork},
             {"rank", part_rank},           {"paths", part_paths},  {"closed", part_closed},
             {"starved", part_starved},     {"within", part_within}};

/* Its status as waitpid() tells; its output in *text. */
static int run_part(const char *part, const char *output, const char *step, char *text, size_t size)
{
    int ends[2], status;
    ssize_t n;
    pid_t child;
    assert_int_equal(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        setenv("NETPROF_OUTPUT", in_place(output), 1);
        setenv("NETPROF_SERIES", step, 1);
        setenv("NETPROF_EVERY", "some:3", 1);
        setenv("NETPROF_TEST_PLACE", place, 1);
        dup2(ends[1], 1);
        execl("/proc/self/exe", self, part, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    n = read(ends[0], text, size - 1);
    text[n > 0 ? n : 0] = 0;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

/* -- what is in the files -- */

enum { SAMPLES = 40000, ROWS = 16 };

typedef struct row {
    char path[64];
    uint64_t calls, time, own, bytes; /* at the last sample */
    uint64_t step_own, step_time;     /* of the last step */
} row;

typedef struct history {
    row rows[ROWS];
    size_t row_count, samples;
    uint64_t thread_time;
    int64_t begin_ns, end_ns; /* of the last sample's reading */
    char pure[SAMPLES + 1];   /* of each step the first letter of the only region whose own time grew; '.' several */
    int complete, damaged;
    char rank[32], pid[32];
} history;

static row *row_of(history *h, const char *path)
{
    size_t i;
    for (i = 0; i < h->row_count; i++)
        if (strcmp(h->rows[i].path, path) == 0) return &h->rows[i];
    assert_true(h->row_count < ROWS);
    memset(&h->rows[h->row_count], 0, sizeof *h->rows);
    snprintf(h->rows[h->row_count].path, sizeof h->rows->path, "%s", path);
    return &h->rows[h->row_count++];
}

static uint64_t value_of(const netprof_snapshot *s, const char *source, const char *device, const char *counter)
{
    size_t i = netprof_find(s->schema, source, device, counter);
    assert_true(i != NETPROF_NONE);
    assert_int_equal(s->status[i], NETPROF_STATUS_OK);
    return s->values[i];
}

static void take_row(history *h, const netprof_snapshot *s, const char *path)
{
    row *r = row_of(h, path);
    uint64_t calls = value_of(s, "region", path, "calls"), time = value_of(s, "region", path, "time"),
             own = value_of(s, "region", path, "own_time"), bytes = value_of(s, "region", path, "bytes");
    assert_true(calls >= r->calls && time >= r->time && own >= r->own && bytes >= r->bytes);
    r->step_own = own - r->own;
    r->step_time = time - r->time;
    r->calls = calls;
    r->time = time;
    r->own = own;
    r->bytes = bytes;
}

/* More than a thousandth of the step: what main and the edges take of it does not count. */
static char only_one(const history *h, int64_t step)
{
    char found = 0;
    size_t i;
    for (i = 0; i < h->row_count; i++) {
        const char *slash = strchr(h->rows[i].path, '/');
        if (h->rows[i].step_own * 1000 <= (uint64_t)step) continue;
        found = found ? '.' : slash ? slash[1] : h->rows[i].path[0];
    }
    return found ? found : '-';
}

/* One after the other. What was inside was inside while its thread lived: 1 % for a clock that is measured only while it is
   used, and the time of the reading itself. (Of a thread that does nothing but begin and end, and loses the processor
   amid that, a call may be counted for too long for a while.) */
static void take_sample(history *h, const netprof_snapshot *s, int alone)
{
    uint64_t lived = value_of(s, "regions", "process", "thread_time"), own = 0;
    size_t i;
    assert_true(h->samples < SAMPLES);
    assert_true(lived >= h->thread_time);
    if (h->samples) assert_true(s->begin_ns >= h->end_ns);
    for (i = 0; i < s->schema->device_count; i++)
        if (strcmp(s->schema->devices[i].source, "region") == 0) take_row(h, s, s->schema->devices[i].name);
    for (i = 0; i < h->row_count; i++)
        own += h->rows[i].own;
    if (alone) assert_true((double)own <= 1.01 * ((double)lived + (double)(s->end_ns - s->begin_ns)) + 10000);
    if (h->samples) h->pure[h->samples - 1] = only_one(h, s->begin_ns - h->begin_ns);
    h->thread_time = lived;
    h->begin_ns = s->begin_ns;
    h->end_ns = s->end_ns;
    h->samples++;
}

static history read_history(const char *name, int alone)
{
    static history h;
    netprof_reader *reader = NULL;
    netprof_item item;
    memset(&h, 0, sizeof h);
    assert_int_equal(netprof_reader_open(&reader, in_place(name), NULL, NULL), NETPROF_OK);
    do {
        assert_int_equal(netprof_reader_next(reader, &item, NULL), NETPROF_OK);
        if (item.type == NETPROF_ITEM_SNAPSHOT) take_sample(&h, item.snapshot, alone);
        if (item.type == NETPROF_ITEM_DAMAGE) h.damaged = 1;
        if (item.type == NETPROF_ITEM_FACT && strcmp(item.fact->key, "rank") == 0)
            snprintf(h.rank, sizeof h.rank, "%s", item.fact->value);
        if (item.type == NETPROF_ITEM_FACT && strcmp(item.fact->key, "pid") == 0)
            snprintf(h.pid, sizeof h.pid, "%s", item.fact->value);
    } while (item.type != NETPROF_ITEM_END);
    h.complete = item.complete;
    netprof_reader_close(reader);
    return h;
}

/* Sums over threads of the node with this name and parent, of the regions' own file. */
static row totals_of(const char *name, const char *region, const char *parent)
{
    netprof_reader *reader = NULL;
    netprof_item item;
    row sum;
    size_t i, k;
    memset(&sum, 0, sizeof sum);
    assert_int_equal(netprof_reader_open(&reader, in_place(name), NULL, NULL), NETPROF_OK);
    do {
        assert_int_equal(netprof_reader_next(reader, &item, NULL), NETPROF_OK);
        for (i = 0; item.type == NETPROF_ITEM_REGIONS && i < item.regions->count; i++) {
            const netprof_stat *s = &item.regions->stats[i];
            const char *above = "";
            if (strcmp(s->region, region) != 0) continue;
            for (k = 0; k < item.regions->count; k++)
                if (item.regions->stats[k].thread == s->thread && item.regions->stats[k].node == s->parent)
                    above = item.regions->stats[k].region;
            if (strcmp(above, parent) != 0) continue;
            sum.calls += s->calls;
            sum.time += s->inclusive_ns;
            sum.own += s->exclusive_ns;
            sum.bytes += s->bytes;
        }
    } while (item.type != NETPROF_ITEM_END);
    netprof_reader_close(reader);
    return sum;
}

/* A call that was sampled after it had taken its last time stamp, for its thread lost the processor there, was counted for
   too long: the sum stands still until the truth is beyond it. Else the sums are the same but for what the clock was
   corrected by, and for parts that were read one after the other. */
static void assert_near(uint64_t last, uint64_t step, uint64_t total)
{
    assert_true(last + 2 >= total);                              /* rounded in each thread */
    if (step) assert_true(last <= total + total / 1000 + 20000); /* else it stood still */
}

static void assert_same(history *h, const char *path, const row *total)
{
    const row *last = row_of(h, path);
    assert_true(total->calls > 0);
    assert_int_equal(last->calls, total->calls);
    assert_int_equal(last->bytes, total->bytes);
    assert_near(last->time, last->step_time, total->time);
    assert_near(last->own, last->step_own, total->own);
}

/* Neighbours that are alike once, without what is mixed and what is main's own: it may lose the processor between two of
   the others. */
static void alternation_of(const char *pure, char *to)
{
    for (; *pure; pure++)
        if (!strchr(".-m", *pure) && (to[0] == 0 || to[strlen(to) - 1] != *pure))
            to[strlen(to) + 1] = 0, to[strlen(to)] = *pure;
}

static char said[200];

static void test_alternation(void **state)
{
    history h;
    row a, b, all;
    char order[SAMPLES + 2] = "";
    (void)state;
    assert_int_equal(run_part("alternate", "x.netprof", "0.01", said, sizeof said), 0);
    h = read_history(series, 1);
    assert_true(h.complete && !h.damaged);
    assert_int_equal(h.row_count, 3);
    a = totals_of("x.netprof", "A", "main");
    b = totals_of("x.netprof", "b/c\\d", "main");
    all = totals_of("x.netprof", "main", "");
    assert_int_equal(a.calls, 3);
    assert_int_equal(a.bytes, 3000);
    assert_same(&h, "main/A", &a);
    assert_same(&h, "main/b\\/c\\\\d", &b);
    assert_same(&h, "main", &all);
    alternation_of(h.pure, order);
    assert_string_equal(order, "AbAbAb");
}

/* A program may be over before the thread had its turn. */
static void test_short(void **state)
{
    history h;
    row total;
    int i;
    (void)state;
    for (i = 0; i < 8; i++) {
        unlink(in_place(series));
        assert_int_equal(run_part("short", "x.netprof", "0.005", said, sizeof said), 0);
        h = read_history(series, 1);
        assert_true(h.complete && !h.damaged);
        total = totals_of("x.netprof", "short", "");
        assert_int_equal(total.calls, 1);
        assert_same(&h, "short", &total);
    }
}

static void test_kill(void **state)
{
    history h;
    int status;
    (void)state;
    status = run_part("kill", "x.netprof", "0.005", said, sizeof said);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_int_not_equal(access(in_place("x.netprof"), F_OK), 0);
    h = read_history(series, 1);
    assert_false(h.complete);
    assert_true(h.samples >= 3);
    /* It never ended, and what it took until the last sample is known. */
    assert_true(row_of(&h, "main/long")->own > 0);
    assert_true(row_of(&h, "main")->time >= row_of(&h, "main/long")->time);
    assert_int_equal(row_of(&h, "main/long")->calls, 1);
}

static void test_threads(void **state)
{
    history h;
    row nails, hammers;
    (void)state;
    assert_int_equal(run_part("threads", "x.netprof", "0.005", said, sizeof said), 0);
    h = read_history(series, 0);
    nails = totals_of("x.netprof", "nail", "hammer");
    hammers = totals_of("x.netprof", "hammer", "");
    assert_int_equal(hammers.calls, 3);
    assert_int_equal(nails.bytes, 3 * nails.calls);
    assert_same(&h, "hammer/nail", &nails);
    assert_same(&h, "hammer", &hammers);
}

static void test_odd(void **state)
{
    history h;
    row later;
    (void)state;
    assert_int_equal(run_part("odd", "x.netprof", "0.005", said, sizeof said), 0);
    h = read_history(series, 1);
    /* Four calls within one another, and three behind the reset: time and own time are those of the outermost. */
    assert_int_equal(row_of(&h, "self")->calls, 4 + 3);
    assert_in_range(row_of(&h, "self")->own, row_of(&h, "self")->time - row_of(&h, "self")->time / 100,
                    row_of(&h, "self")->time + row_of(&h, "self")->time / 100);
    later = totals_of("x.netprof", "self", "");
    assert_int_equal(later.calls, 3);
    assert_true(row_of(&h, "self")->time > later.time); /* what was before the reset is in the series */
    assert_true(row_of(&h, "open")->time > 0);
    assert_true(totals_of("x.netprof", "open", "").time >= row_of(&h, "open")->time); /* and in the totals */
}

static void test_fork(void **state)
{
    long parent, child;
    char name[64];
    history h;
    (void)state;
    if (UNDER_THREAD_SANITIZER) skip(); /* it does not follow a fork of a process with threads */
    assert_int_equal(run_part("fork", "%p.netprof", "0.005", said, sizeof said), 0);
    assert_int_equal(sscanf(said, "%ld %ld", &parent, &child), 2);
    snprintf(name, sizeof name, "%ld.series.netprof", child);
    h = read_history(name, 1);
    assert_true(h.complete);
    assert_int_equal(atol(h.pid), child);
    assert_int_equal(row_of(&h, "parent/child")->calls, 1);
    assert_true(row_of(&h, "parent/child")->time <= row_of(&h, "parent")->time);
    snprintf(name, sizeof name, "%ld.series.netprof", parent);
    h = read_history(name, 1);
    assert_true(h.complete);
    assert_int_equal(h.row_count, 1);
    assert_int_equal(atol(h.pid), parent);
}

static void test_rank(void **state)
{
    history h;
    (void)state;
    assert_int_equal(run_part("rank", "r%r.netprof", "0.005", said, sizeof said), 0);
    assert_int_not_equal(access(in_place("r0.series.netprof"), F_OK), 0);
    h = read_history("r7.series.netprof", 1);
    assert_true(h.complete && h.samples >= 2 + 2 + 1);
    assert_string_equal(h.rank, "7");
}

/* How many paths the last sample has; *warned: a fact says that there were more. */
static size_t count_paths(int made, int *warned)
{
    netprof_reader *reader = NULL;
    netprof_item item;
    char text[16];
    size_t paths = 0;
    *warned = 0;
    snprintf(text, sizeof text, "%d", made);
    setenv("NETPROF_TEST_PATHS", text, 1);
    unlink(in_place(series));
    assert_int_equal(run_part("paths", "x.netprof", "0.005", said, sizeof said), 0);
    assert_int_equal(netprof_reader_open(&reader, in_place(series), NULL, NULL), NETPROF_OK);
    do {
        assert_int_equal(netprof_reader_next(reader, &item, NULL), NETPROF_OK);
        if (item.type == NETPROF_ITEM_SNAPSHOT) paths = item.snapshot->schema->device_count - 1;
        if (item.type == NETPROF_ITEM_FACT && strcmp(item.fact->key, "warning") == 0) ++*warned;
    } while (item.type != NETPROF_ITEM_END);
    netprof_reader_close(reader);
    return paths;
}

static void test_many_paths(void **state)
{
    int warned;
    (void)state;
    assert_int_equal(count_paths(1024, &warned), 1024);
    assert_int_equal(warned, 0); /* all are there */
    assert_int_equal(count_paths(1030, &warned), 1024);
    assert_int_equal(warned, 1);
}

static void test_closed(void **state)
{
    struct stat st;
    (void)state;
    assert_int_equal(run_part("closed", "x.netprof", "0.005", said, sizeof said), 0);
    assert_int_equal(stat(in_place("mine"), &st), 0);
    assert_int_equal(st.st_size, 0);
    assert_true(read_history(series, 1).samples >= 2); /* what was written is there */
    assert_int_equal(totals_of("x.netprof", "main", "").calls, 1);
}

/* Files are whole; how long its calls took is no matter here: its allocations fail, and it tells of that. */
static void test_starved(void **state)
{
    int left;
    (void)state;
    for (left = 0; left < 60; left += 3) {
        char text[16];
        struct stat st;
        snprintf(text, sizeof text, "%d", left);
        setenv("NETPROF_TEST_LEFT", text, 1);
        unlink(in_place(series));
        assert_int_equal(run_part("starved", "x.netprof", "0.002", said, sizeof said), 0);
        if (stat(in_place(series), &st) == 0 && st.st_size >= 16) assert_false(read_history(series, 0).damaged);
    }
}

static void test_flush_within_a_sample(void **state)
{
    (void)state;
    assert_int_equal(run_part("within", "x.netprof", "0.002", said, sizeof said), 0);
    assert_true(read_history(series, 1).samples >= 12);
    assert_int_equal(totals_of("x.netprof", "main", "").calls, 1);
}

static void test_nowhere(void **state)
{
    (void)state;
    assert_int_equal(run_part("starved", "not-there/x.netprof", "0.002", said, sizeof said), 0);
}

static int fresh_place(void **state)
{
    char command[400];
    (void)state;
    snprintf(command, sizeof command, "rm -f -- '%s'/*", place);
    setenv("NETPROF_TEST_LEFT", "-1", 1);
    return system(command);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_alternation, fresh_place),
        cmocka_unit_test_setup(test_short, fresh_place),
        cmocka_unit_test_setup(test_kill, fresh_place),
        cmocka_unit_test_setup(test_threads, fresh_place),
        cmocka_unit_test_setup(test_odd, fresh_place),
        cmocka_unit_test_setup(test_fork, fresh_place),
        cmocka_unit_test_setup(test_rank, fresh_place),
        cmocka_unit_test_setup(test_many_paths, fresh_place),
        cmocka_unit_test_setup(test_closed, fresh_place),
        cmocka_unit_test_setup(test_starved, fresh_place),
        cmocka_unit_test_setup(test_nowhere, fresh_place),
        cmocka_unit_test_setup(test_flush_within_a_sample, fresh_place),
    };
    const char *tmp = getenv("TMPDIR");
    size_t i;
    int failed;
    self = argv[0];
    snprintf(place, sizeof place, "%s", argc == 2 && getenv("NETPROF_TEST_PLACE") ? getenv("NETPROF_TEST_PLACE") : "");
    for (i = 0; argc == 2 && i < sizeof parts / sizeof *parts; i++)
        if (strcmp(argv[1], parts[i].name) == 0) {
            parts[i].run();
            return 0;
        }
    snprintf(place, sizeof place, "%s/netprof-series-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(place)) return 1;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    fresh_place(NULL);
    rmdir(place);
    return failed;
}

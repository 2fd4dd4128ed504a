// libnetprof-mpi.so: preloaded, it makes a region of every call of MPI in calls.txt, named as the call, with its bytes.
// Each wrapper asks the MPI library to do the work by the name that MPI keeps for such tools (PMPI_...), or, for
// Fortran, by the next definition of the same name.
#define NETPROF_IMPLEMENTATION
#define NETPROF__MORE_ORIGIN write_facts
typedef struct netprof_writer netprof_writer;
typedef struct netprof_error netprof_error;
static int write_facts(netprof_writer *w, netprof_error *error);
#include "netprof.h"

#include "blocks.h"
#include "cpus.h"
#include "calls.h"
#include "polls.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

// One per wrapper.
typedef struct call {
    const char *name, *symbol;
    bool next; // symbol is the wrapper's own name
    _Atomic(abi_function) real;
    _Atomic(netprof_region_id) region;
} call;

// A library that calls itself, or C from Fortran, is within the call that is counted already.
static __thread bool inside __attribute__((tls_model("initial-exec")));

// From the end of MPI_Init to the beginning of MPI_Finalize.
static struct {
    atomic_flag lock;
    atomic_bool counts;
    _Atomic(uint64_t) open; // ticks at the entry of the call that is open; 0: none
    uint64_t anchor_ticks;
    int64_t began_ns, ended_ns;  // by the wall clock; 0: not yet
    int64_t cpu_ns, cpu_wait_ns; // when it began; -1: unknown
    blocks inside;
} run = {.lock = ATOMIC_FLAG_INIT};

static abi_function call_find(call *c)
{
    abi_function real = atomic_load_explicit(&c->real, memory_order_relaxed);
    if (real) return real;
    real = c->next ? abi_next(c->symbol) : abi_find(c->symbol);
    if (!real) {
        fprintf(stderr, "netprof: this program's MPI has no %s\n", c->symbol);
        abort();
    }
    atomic_store_explicit(&c->real, real, memory_order_relaxed);
    return real;
}

// The innermost open region of this thread, if that is the call's. The clock is not asked again: when the call began, and
// how long it took, is known there.
static netprof__frame *call_frame(netprof_region_id region)
{
    netprof__thread *t = netprof__this_thread;
    netprof__frame *f = t && t->depth && t->depth <= NETPROF_MAX_DEPTH ? &t->frames[t->depth] : NULL;
    return f && f->region == region && f->node ? f : NULL;
}

static bool call_begin(call *c)
{
    netprof_region_id region = atomic_load_explicit(&c->region, memory_order_relaxed);
    if (inside || !abi_here()) return false;
    inside = true;
    polls_call_begins();
    if (!region) {
        region = netprof_region(c->name);
        atomic_store_explicit(&c->region, region, memory_order_relaxed);
    }
    netprof_begin(region);
    const netprof__frame *f = call_frame(region);
    if (f) atomic_store_explicit(&run.open, f->begin, memory_order_relaxed);
    return true;
}

// The time in calls shorter than this is no waiting, and keeping it would cost them more than it tells.
enum { KEPT_NS = 1000 };

static int64_t run_now(uint64_t ticks)
{
    return run.began_ns + (int64_t)netprof__ticks_to_ns(ticks - run.anchor_ticks);
}

static void run_add(const polls_stretch *x)
{
    if (x->to_ns - x->from_ns < KEPT_NS) return;
    while (atomic_flag_test_and_set_explicit(&run.lock, memory_order_acquire))
        sched_yield();
    blocks_add(&run.inside, x->from_ns, x->to_ns);
    atomic_flag_clear_explicit(&run.lock, memory_order_release);
}

static void run_add_call(uint64_t from, uint64_t ns)
{
    polls_stretch over[2];
    if (from < run.anchor_ticks) {
        polls_forget();
        return;
    }
    if (ns < KEPT_NS && !polls_goes_on()) return;
    int64_t begin = run_now(from);
    size_t count = polls_call_ended(begin, begin + (int64_t)ns, over);
    for (size_t i = 0; i < count; i++)
        run_add(&over[i]);
}

static void call_end(const call *c, int64_t bytes)
{
    netprof_region_id region = atomic_load_explicit(&c->region, memory_order_relaxed);
    const netprof__frame *f = call_frame(region);
    const netprof__node *node = f && atomic_load_explicit(&run.counts, memory_order_acquire) ? f->node : NULL;
    uint64_t from = node ? f->begin : 0, before = node ? node->tally.inclusive : 0;
    atomic_store_explicit(&run.open, 0, memory_order_relaxed);
    if (bytes > 0) netprof_bytes((uint64_t)bytes);
    netprof_end(region);
    if (node)
        run_add_call(from, node->tally.inclusive - before);
    else
        polls_forget();
    peers_call_ended(node ? node->tally.inclusive - before : 0);
    inside = false;
}

// ---- start and end ----

static void write_regions(void);

static int64_t wall_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int started(void)
{
    uintptr_t world = abi_number(&abi_here()->world);
    int size = bytes_members(world);
    if (size > 0) netprof_set_rank(bytes_rank(world), size);
    return 0;
}

// CPU time of all threads, and how long the first one, which calls MPI, waited for a CPU; -1: unknown.
static int64_t cpu_now(void)
{
    struct timespec used;
    return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) ? -1 : (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

static int64_t cpu_wait_now(void)
{
    char text[80];
    unsigned long long ran, waited;
    if (netprof__read_line(AT_FDCWD, "/proc/self/schedstat", text, sizeof text) < 0 ||
        sscanf(text, "%llu %llu", &ran, &waited) != 2)
        return -1;
    return (int64_t)waited;
}

// A first file: whoever is killed later has left one, and no file means that no rank came this far.
static void run_begins(void)
{
    const char *flush = netprof__getenv("NETPROF_FLUSH");
    if (run.began_ns) return;
    if (!flush || strtod(flush, NULL) > 0) write_regions();
    run.cpu_ns = cpu_now();
    run.cpu_wait_ns = cpu_wait_now();
    run.anchor_ticks = netprof__ticks();
    run.began_ns = wall_now();
    atomic_store_explicit(&run.counts, true, memory_order_release);
}

static void run_ends(void)
{
    if (!run.began_ns || run.ended_ns) return;
    atomic_store_explicit(&run.counts, false, memory_order_release);
    run.ended_ns = run.began_ns + (int64_t)netprof__ticks_to_ns(netprof__ticks() - run.anchor_ticks);
}

// ---- what this process says of itself in its file, beside what netprof.h does ----

static netprof_err write_number(netprof_writer *w, const char *key, int64_t value, netprof_error *error)
{
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)value);
    return netprof_write_fact(w, key, text, error);
}

static netprof_err write_times(netprof_writer *w, netprof_error *error)
{
    char text[512] = "";
    cpu_set_t set;
    int64_t ran = cpu_now(), waited = cpu_wait_now();
    if (sched_getaffinity(0, sizeof set, &set) == 0) cpus_list(&set, text, sizeof text);
    if ((*text && netprof_write_fact(w, "mpi_cpus", text, error)) ||
        (ran >= run.cpu_ns && run.cpu_ns >= 0 && write_number(w, "cpu_ns", ran - run.cpu_ns, error)) ||
        (waited >= run.cpu_wait_ns && run.cpu_wait_ns >= 0 &&
         write_number(w, "cpu_wait_ns", waited - run.cpu_wait_ns, error)) ||
        write_number(w, "mpi_polled_ns", polls_waited_ns(), error) ||
        write_number(w, "mpi_between_polls_ns", polls_between_ns(), error))
        return NETPROF_ERR_IO;
    return NETPROF_OK;
}

static netprof_err write_peers(netprof_writer *w, netprof_error *error)
{
    enum { COLUMNS = 9 };
    static const char *const names[COLUMNS] = {"peer",       "sent_bytes",     "sends",     "send_ns", "timed_sends",
                                               "receive_ns", "timed_receives", "got_bytes", "gets"};
    netprof_events_column columns[COLUMNS];
    netprof_events table = {.kind = "mpi.peers", .columns = columns, .column_count = COLUMNS};
    peers_row *rows = peers_rows(&table.count);
    int64_t *numbers = rows ? malloc(COLUMNS * (table.count + 1) * sizeof *numbers) : NULL;
    netprof_err failed = NETPROF_OK;
    for (size_t i = 0; numbers && i < table.count; i++) {
        const int64_t row[COLUMNS] = {rows[i].peer,           rows[i].sent_bytes,  rows[i].sends,
                                      rows[i].send_ns,        rows[i].timed_sends, rows[i].receive_ns,
                                      rows[i].timed_receives, rows[i].got_bytes,   rows[i].gets};
        for (size_t k = 0; k < COLUMNS; k++)
            numbers[k * table.count + i] = row[k];
    }
    for (size_t k = 0; k < COLUMNS; k++)
        columns[k] = (netprof_events_column){.name = names[k], .numbers = numbers ? numbers + k * table.count : NULL};
    if (numbers) failed = netprof_write_events(w, &table, error); // none at all is told, too: by an empty table
    free(numbers);
    free(rows);
    return failed;
}

static netprof_err write_blocks(netprof_writer *w, const blocks *b, netprof_error *error)
{
    char text[BLOCKS_TEXT];
    blocks_text(b, text);
    if (!b->count) return NETPROF_OK;
    if (write_number(w, "mpi_block_ns", (int64_t)1 << b->shift, error) ||
        write_number(w, "mpi_first_block", b->first, error) || netprof_write_fact(w, "mpi_inside", text, error))
        return NETPROF_ERR_IO;
    return NETPROF_OK;
}

// A call that is open counts up to now: who hangs is seen to wait.
static int write_facts(netprof_writer *w, netprof_error *error)
{
    uint64_t ticks = netprof__ticks(), open = atomic_load_explicit(&run.open, memory_order_relaxed);
    if (!run.began_ns) return NETPROF_OK;
    while (atomic_flag_test_and_set_explicit(&run.lock, memory_order_acquire))
        sched_yield();
    blocks inside_now = run.inside;
    atomic_flag_clear_explicit(&run.lock, memory_order_release);
    int64_t ended = run.ended_ns ? run.ended_ns : run_now(ticks);
    bool waits = !run.ended_ns && open > run.anchor_ticks && ticks > open;
    if (waits) blocks_add(&inside_now, run_now(open), run_now(ticks));
    if (write_number(w, "mpi_began_ns", run.began_ns, error) || write_number(w, "mpi_ended_ns", ended, error) ||
        (waits && write_number(w, "mpi_open_ns", run_now(ticks) - run_now(open), error)) || write_times(w, error) ||
        write_blocks(w, &inside_now, error) || write_peers(w, error))
        return error && error->code ? (int)error->code : NETPROF_ERR_IO;
    return NETPROF_OK;
}

// Also at exit, but launchers are quick to kill what has come so far.
static void write_regions(void)
{
    netprof_error error;
    if (netprof_flush(&error) != NETPROF_OK) netprof__tell_unwritten(&error, 0);
}

static void write_at_abort(void)
{
    netprof__regions_state.end = "MPI_Abort";
    write_regions();
}

// ---- the wrappers ----

#define CALL(function, declaration, arguments, before, instead, bytes, after)                                          \
    EXPORT int MPI_##function declaration;                                                                             \
    EXPORT int MPI_##function declaration                                                                              \
    {                                                                                                                  \
        enum { fortran = 0 };                                                                                          \
        static call this = {.name = "MPI_" #function, .symbol = "PMPI_" #function};                                    \
        int(*real) declaration = (int(*) declaration)call_find(&this);                                                 \
        bytes_status own_status __attribute__((unused));                                                               \
        if (!call_begin(&this)) return real arguments;                                                                 \
        before;                                                                                                        \
        int returned = 0;                                                                                              \
        if (!(instead)) returned = real arguments;                                                                     \
        call_end(&this, returned ? 0 : (bytes));                                                                       \
        after;                                                                                                         \
        return returned;                                                                                               \
    }

// Without the error argument, which the module mpi_f08 may leave out, an error does not come back.
#define FORTRAN(function, wrapper, declaration, arguments, locals, before, instead, bytes, after)                      \
    EXPORT void wrapper declaration;                                                                                   \
    EXPORT void wrapper declaration                                                                                    \
    {                                                                                                                  \
        enum { fortran = 1 };                                                                                          \
        static call this = {.name = "MPI_" #function, .symbol = #wrapper, .next = true};                               \
        void(*real) declaration = (void(*) declaration)call_find(&this);                                               \
        bytes_status own_status __attribute__((unused));                                                               \
        if (!call_begin(&this)) {                                                                                      \
            real arguments;                                                                                            \
            return;                                                                                                    \
        }                                                                                                              \
        locals before;                                                                                                 \
        int returned = 0;                                                                                              \
        if (!(instead))                                                                                                \
            real arguments;                                                                                            \
        else if (error)                                                                                                \
            *error = returned;                                                                                         \
        call_end(&this, returned || (error && *error) ? 0 : (bytes));                                                  \
        after;                                                                                                         \
    }

#include "calls.inc"

#include "polls.h"

#include <stdatomic.h>
#include <time.h>

// Own. To ask for the CPU time costs a fraction of a microsecond, so it is asked only where the time between two calls was
// long of late, and what is shorter stays in doubt; but for what a loop takes that does nothing else, of which most is what
// measuring costs. Nobody sleeps longer than the limit between two questions; who reads a file does.
enum {
    POLLS_LOOP_NS = 200,
    POLLS_LONG_NS = 50000,
    POLLS_SLEEP_MOST_NS = 20000000,
    POLLS_SLEPT = 8,            // the CPU was used for less than this part of the time
    POLLS_STAY = 16,            // so many short ones until CPU time is no longer asked for
    POLLS_STRETCH_NS = 10000000 // what goes on is told in pieces
};

typedef enum polls_answer { POLLS_NO_QUESTION = 0, POLLS_CAME, POLLS_NOTHING } polls_answer;

static __thread struct {
    polls_answer answer; // of the call that is open
    int64_t since_ns,
        last_ns;             // when the stretch began; when the last call ended, which found nothing: 0: it did not ask
    int64_t cpu_ns, used_ns; // CPU time then, and used since; -1: not known
    int slow;                // the time between two calls was long of late
} own __attribute__((tls_model("initial-exec"))) = {.cpu_ns = -1, .used_ns = -1};

static _Atomic int64_t waited_ns, between_ns;

static int64_t polls_cpu_now(void)
{
    struct timespec used;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used)) return -1;
    return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

int64_t polls_answered(bool came)
{
    own.answer = came ? POLLS_CAME : POLLS_NOTHING;
    return 0;
}

bool polls_goes_on(void)
{
    return own.answer || own.last_ns;
}

void polls_call_begins(void)
{
    own.used_ns = own.last_ns && own.cpu_ns >= 0 ? polls_cpu_now() - own.cpu_ns : -1;
}

// Is what lies between two questions a part of the same wait?
static bool polls_is_of_wait(int64_t gap_ns)
{
    bool is_long = gap_ns >= POLLS_LONG_NS, known = own.used_ns >= 0;
    own.slow = is_long ? POLLS_STAY : own.slow - (own.slow > 0);
    if (gap_ns > POLLS_SLEEP_MOST_NS || (is_long && known && own.used_ns * POLLS_SLEPT >= gap_ns)) return false;
    bool sure = gap_ns <= POLLS_LOOP_NS || (is_long && known);
    if (gap_ns > 0) atomic_fetch_add_explicit(sure ? &waited_ns : &between_ns, gap_ns, memory_order_relaxed);
    return true;
}

size_t polls_call_ended(int64_t begin_ns, int64_t end_ns, polls_stretch over[2])
{
    size_t n = 0;
    const polls_answer answer = own.answer;
    const bool on = own.last_ns && answer && polls_is_of_wait(begin_ns - own.last_ns);
    const int64_t from_ns = on ? own.since_ns : begin_ns;
    const bool more = answer == POLLS_NOTHING, tell = !more || end_ns - from_ns >= POLLS_STRETCH_NS;
    if (own.last_ns && !on) over[n++] = (polls_stretch){own.since_ns, own.last_ns};
    if (tell) over[n++] = (polls_stretch){from_ns, end_ns};
    own.answer = POLLS_NO_QUESTION;
    own.since_ns = tell ? end_ns : from_ns;
    own.last_ns = more ? end_ns : 0;
    own.cpu_ns = more && own.slow ? polls_cpu_now() : -1;
    return n;
}

void polls_forget(void)
{
    own.answer = POLLS_NO_QUESTION;
    own.last_ns = 0;
}

int64_t polls_waited_ns(void)
{
    return atomic_load_explicit(&waited_ns, memory_order_relaxed);
}

int64_t polls_between_ns(void)
{
    return atomic_load_explicit(&between_ns, memory_order_relaxed);
}

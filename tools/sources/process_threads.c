#define _GNU_SOURCE
#include "process_threads.h"

#include "process_members.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

void process_add_affinity(process_state *s, pid_t tid)
{
    cpulist set = {0};
    int bytes = (int)sizeof set.bits;
    if (sched_getaffinity(tid, (size_t)bytes, (cpu_set_t *)(void *)set.bits) == 0) cpulist_add(&s->affinity, &set);
}

// ---- waiting for a CPU ----

static int process_compare_threads(const void *a, const void *b)
{
    const process_thread *x = a, *y = b;
    return x->tid < y->tid ? -1 : x->tid > y->tid;
}

// A kernel without statistics of the scheduler says zeros of every thread; others do of those that have not run yet.
static bool process_waits_are_counted(const emit *e)
{
    char text[96], *at = text;
    uint64_t ran;
    bool known = emit_read_line(e, text, sizeof text, "/proc/self/schedstat") && emit_number(emit_word(&at), &ran);
    return !known || ran;
}

static process_thread *process_new_thread(process_state *s)
{
    if (s->now.count == s->now.room) {
        size_t room = s->now.room ? 2 * s->now.room : 64;
        process_thread *longer = realloc(s->now.items, room * sizeof *longer);
        if (!longer) return NULL;
        s->now.items = longer;
        s->now.room = room;
    }
    return &s->now.items[s->now.count++];
}

// A new member's threads have waited before the recording when it had begun before.
void process_add_thread(process_state *s, const emit *e, const process_member *m, pid_t tid, bool was_there)
{
    char text[96], *at = text;
    uint64_t ran, wait, turns;
    s->threads_asked = true;
    if (s->no_waits) return;
    if (!emit_read_line(e, text, sizeof text, "/proc/%ld/task/%ld/schedstat", (long)m->pid, (long)tid)) return;
    if (!emit_number(emit_word(&at), &ran) || !emit_number(emit_word(&at), &wait)) return;
    if (!emit_number(emit_word(&at), &turns)) return;
    s->no_waits = !ran && !wait && !s->wait_told && !process_waits_are_counted(e);
    if (s->no_waits) return;
    s->wait_told = true;
    process_thread *x = process_new_thread(s);
    if (!x) return;
    *x = (process_thread){
        .tid = tid, .pid = m->pid, .wait_ns = wait, .ran_ns = ran, .turns = turns, .seen_ns = s->walk_ns};
    const process_thread *last =
        s->threads.count ? bsearch(x, s->threads.items, s->threads.count, sizeof *x, process_compare_threads) : NULL;
    bool same = last && last->wait_ns <= wait && last->ran_ns <= ran && last->turns <= turns;
    if (same) {
        s->wait_ns += wait - last->wait_ns;
        s->turns += turns - last->turns;
    } else if (!was_there) {
        s->wait_ns += wait;
        s->turns += turns;
    }
    int64_t since = same ? last->seen_ns : s->threads_ns; // else it is new since the last walk
    uint64_t used = same ? ran - last->ran_ns : was_there ? 0 : ran;
    if (since && s->walk_ns > since) x->share = (double)used / (double)(s->walk_ns - since);
}

// Of those that were looked at, each since its last turn.
static void process_add_busiest(process_state *s)
{
    double most = 0;
    for (size_t i = 0; i < s->threads.count; i++)
        if (s->threads.items[i].share > most) most = s->threads.items[i].share;
    if (s->threads_ns) s->busiest_ns += (most < 1 ? most : 1) * (double)(s->walk_ns - s->threads_ns);
    s->threads_ns = s->walk_ns;
}

void process_end_threads(process_state *s)
{
    process_thread_list old = s->threads;
    // Those of processes whose turn it was not stay.
    for (size_t i = 0; i < old.count; i++) {
        const process_member *m = process_find_member(s, old.items[i].pid);
        process_thread *x = m && m->alive && !m->walked ? process_new_thread(s) : NULL;
        if (x) *x = old.items[i];
    }
    if (s->now.count) qsort(s->now.items, s->now.count, sizeof *s->now.items, process_compare_threads);
    s->threads = s->now;
    s->now = (process_thread_list){old.items, 0, old.room};
    process_add_busiest(s);
}

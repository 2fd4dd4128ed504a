// Work and waiting of each rank: what it spent in calls that wait, as regions_calls.c classes them, and the rest.
#include "regions_blocks.h"
#include "regions_store.h"

#include <math.h>
#include <string.h>

// Some calls depend on each other (a rank receives from each neighbour in turn): so many of them are one meeting.
enum { CALLS_MOST = 8 };

static uint64_t regions_calls_per_meeting(const regions *r)
{
    return r->rank_count < 2 ? 1 : r->rank_count - 1 < CALLS_MOST ? r->rank_count - 1 : CALLS_MOST;
}

static bool regions_any_mpi(const regions *r)
{
    for (size_t i = 0; i < r->node_count; i++)
        if (regions_is_mpi_name(r->nodes[i].name)) return true;
    return false;
}

// By how long the thread with the most was in it: threads that wait at the same time wait once.
static double regions_wait_of(const regions *r, const regions_node *node, const regions_cell *cell)
{
    double own = cell->threads > 1 && node->child_count == 0
                     ? (double)cell->longest_ns
                     : (double)cell->sums.exclusive_ns / (cell->threads > 1 ? cell->threads : 1);
    if (cell->sums.open && regions_is_mpi_name(node->name)) own += (double)r->ranks[cell->rank].open_ns;
    return own;
}

static void regions_add_times(regions *r, const regions_node *node)
{
    uint64_t apart = regions_calls_per_meeting(r);
    for (size_t i = 0; i < node->cell_count; i++) {
        const regions_cell *cell = &node->cells[i];
        regions_times *t = &r->ranks[cell->rank].times;
        double ns = regions_wait_of(r, node, cell);
        if (!node->depth) t->run_ns = fmax(t->run_ns, (double)cell->longest_ns);
        if (node->kind == REGIONS_APART)
            t->apart_ns += ns;
        else if (regions_is_mpi_name(node->name))
            t->mpi_ns += ns;
        if (!regions_class_waits(node->kind)) continue;
        t->known &= cell->threads <= 1;
        *(node->kind == REGIONS_ALL ? &t->all_ns : &t->peer_ns) += ns;
        if (node->kind == REGIONS_POLLS) {
            t->polls += cell->sums.calls;
            t->polls_ns += ns;
        } else {
            t->meetings += node->kind == REGIONS_ALL ? cell->sums.calls * apart : cell->sums.calls;
        }
    }
}

// Without MPI the ranks are compared from the first region to the last: what comes before and after is not known to be
// part of the same run. Of several threads, the run is the longest region at the top of one of them.
static double regions_run_of(const regions_rank *rank, bool mpi)
{
    if (rank->blocks.began_ns) return (double)(rank->blocks.ended_ns - rank->blocks.began_ns);
    if (mpi) return fmax((double)rank->elapsed_ns - rank->times.apart_ns, 0);
    return rank->threads <= 1 ? (double)rank->time_ns : rank->times.run_ns;
}

// Outside MPI, but waiting.
static double regions_polled_of(const regions_rank *rank)
{
    return fmax((double)rank->polled_ns, 0);
}

static void regions_end_times(regions_rank *rank, bool mpi, uint64_t apart)
{
    regions_times *t = &rank->times;
    t->run_ns = regions_run_of(rank, mpi);
    t->peer_ns += regions_polled_of(rank);
    t->polls_ns += regions_polled_of(rank);
    double waiting = t->peer_ns + t->all_ns;
    if (waiting > t->run_ns && waiting > 0) { // of several threads
        t->peer_ns *= t->run_ns / waiting;
        t->polls_ns *= t->run_ns / waiting;
        t->all_ns *= t->run_ns / waiting;
        waiting = t->run_ns;
    }
    t->mpi_ns = fmin(t->mpi_ns, t->run_ns);
    t->work_ns = t->run_ns - waiting;
    t->doubt_ns = fmin(fmax((double)rank->between_polls_ns, 0), t->work_ns);
    t->meetings /= apart;
    // Waits of several threads that overlap have no one time that could be divided.
    t->known = t->run_ns > 0 && (mpi || t->known);
}

// Ranks that were killed wrote their files at different moments: what all of them have is compared. What is inside MPI in
// blocks holds what lies between questions, too.
static void regions_times_in_common(regions *r)
{
    double from, to;
    bool ended = true;
    for (size_t i = 0; i < r->rank_count; i++)
        ended &= r->ranks[i].ended;
    if (ended || !regions_blocks_common(r, &from, &to)) return;
    for (size_t i = 0; i < r->rank_count; i++) {
        regions_times *t = &r->ranks[i].times;
        double waiting = t->peer_ns + t->all_ns, inside = regions_blocks_inside(&r->ranks[i].blocks, from, to);
        double all = t->mpi_ns + regions_polled_of(&r->ranks[i]) + t->doubt_ns, scale = all > 0 ? inside / all : 0;
        t->run_ns = to - from;
        t->mpi_ns *= scale;
        t->doubt_ns *= scale;
        t->polls_ns *= scale;
        t->peer_ns *= scale;
        t->all_ns *= scale;
        t->work_ns = t->run_ns - fmin(waiting * scale, t->run_ns);
    }
}

static void regions_sum_times(regions *r, regions_waits *w)
{
    double run = 0, mpi = 0, waiting = 0;
    size_t n = r->rank_count;
    double *work = memory_array(NULL, n, sizeof *work), *waits = memory_array(NULL, n, sizeof *waits);
    w->known = true; // of all; where nobody waited at all, nothing is
    for (size_t i = 0; i < n; i++) {
        const regions_times *t = &r->ranks[i].times;
        w->known &= t->known;
        run += t->run_ns;
        mpi += t->mpi_ns;
        work[i] = t->work_ns;
        waits[i] = t->peer_ns + t->all_ns;
        waiting += waits[i];
        w->longest_ns = fmax(w->longest_ns, t->run_ns);
    }
    w->run_ns = n ? run / (double)n : 0;
    w->mpi_share = w->mpi && run > 0 ? mpi / run : NAN;
    w->wait_share = run > 0 ? waiting / run : NAN;
    w->work_ns = n ? regions_median(work, n) : 0;
    w->wait_ns = n ? regions_median(waits, n) : 0;
    w->known &= waiting > 0;
    free(work);
    free(waits);
}

void regions_tell_times(regions *r)
{
    regions_waits *w = &r->waits;
    w->mpi = regions_any_mpi(r);
    for (size_t i = 0; i < r->rank_count; i++)
        r->ranks[i].times.known = true;
    for (size_t i = 0; i < r->node_count; i++) {
        regions_node *node = &r->nodes[i];
        node->kind = node->span ? REGIONS_MOVES : regions_class_of(node->name, !w->mpi);
        if (node->span) continue;
        if (node->kind == REGIONS_APART && strcmp(node->name, "MPI_Finalize") == 0)
            for (size_t k = 0; k < node->cell_count; k++)
                r->ranks[node->cells[k].rank].ended = node->cells[k].sums.calls > 0;
        regions_add_times(r, node);
    }
    for (size_t i = 0; i < r->rank_count; i++)
        regions_end_times(&r->ranks[i], w->mpi, regions_calls_per_meeting(r));
    if (w->mpi) regions_times_in_common(r);
    regions_sum_times(r, w);
}

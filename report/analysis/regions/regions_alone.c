// The one rank whose work over time is unlike that of all others: since when, and until when. Work is the time outside MPI
// in equal stretches of the run, as libnetprof-mpi.so keeps them.
#include "regions_blocks.h"
#include "regions_store.h"

#include "analysis/peers/peers.h"

#include <math.h>
#include <stdlib.h>

// Own. Of two ranks that meet, the one whose share of work changes is the one that waits. In each stretch a rank must meet
// others a few times: who is a step ahead within one has no other share of it. Less work than a fiftieth is next to none.
enum { ALONE_RANKS = 3, ALONE_MEETINGS = 4, ALONE_WINDOWS = 6 };
static const double alone_silent = 0.02;

typedef struct alone_axis {
    double from_ns, step_ns; // the wall clock
    size_t windows;
} alone_axis;

static uint64_t alone_least_meetings(const regions *r)
{
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < r->rank_count; i++)
        if (r->ranks[i].times.meetings < least) least = r->ranks[i].times.meetings;
    return least;
}

// Whole blocks of what all ranks have, as many to a window as it takes for its meetings.
static bool alone_axis_make(const regions *r, alone_axis *a)
{
    double from, to, block = 0;
    uint64_t most = alone_least_meetings(r) / ALONE_MEETINGS;
    if (most < ALONE_WINDOWS || !regions_blocks_common(r, &from, &to)) return false;
    for (size_t i = 0; i < r->rank_count; i++)
        block = fmax(block, (double)r->ranks[i].blocks.block_ns);
    double first = ceil(from / block), blocks = floor(to / block) - first;
    if (blocks < ALONE_WINDOWS) return false;
    double each = ceil(blocks / fmin(blocks, (double)most));
    *a = (alone_axis){first * block, each * block, (size_t)floor(blocks / each)};
    return a->windows >= ALONE_WINDOWS;
}

static float *alone_work(const regions *r, const alone_axis *a)
{
    float *work = memory_array(NULL, r->rank_count * a->windows, sizeof *work);
    for (size_t i = 0; i < r->rank_count; i++)
        for (size_t k = 0; k < a->windows; k++) {
            double from = a->from_ns + (double)k * a->step_ns;
            double inside = regions_blocks_inside(&r->ranks[i].blocks, from, from + a->step_ns);
            work[i * a->windows + k] = (float)fmax(1 - inside / a->step_ns, 0);
        }
    return work;
}

static double alone_first_begin(const regions *r)
{
    double first = INFINITY;
    for (size_t i = 0; i < r->rank_count; i++)
        first = fmin(first, (double)r->ranks[i].blocks.began_ns);
    return first;
}

void regions_find_alone(regions *r)
{
    regions_alone *x = &r->waits.alone;
    alone_axis a;
    peers_outcome o;
    *x = (regions_alone){.rank = REGIONS_NONE};
    if (r->rank_count < ALONE_RANKS || !alone_axis_make(r, &a)) return;
    float *work = alone_work(r, &a);
    peers_follow(&o, work, r->rank_count, a.windows, alone_silent, NULL);
    free(work);
    if (o.kind != PEERS_ONE) return;
    double begin = a.from_ns - alone_first_begin(r);
    *x = (regions_alone){.rank = o.odd,
                         .share = o.value,
                         .others = o.centre,
                         .low = o.low,
                         .high = o.high,
                         .from_s = (begin + (double)o.from * a.step_ns) / 1e9,
                         .until_s = (begin + (double)o.to * a.step_ns) / 1e9,
                         .from_begin = o.from == 0,
                         .to_end = o.to == a.windows,
                         .more = o.value > o.centre,
                         .silent = o.is_silent};
}

// Which ranks the others waited for. In a run that all ranks share, who works longest waits least, and the others wait
// for it; so work is compared, never the time in a region where ranks meet. A rank is late only beyond what chance does:
// among many ranks their scatter tells, among few how steady its lead in work is over stretches of the run.
#include "regions_blocks.h"
#include "regions_store.h"

#include "analysis/peers/peers.h"

#include <math.h>
#include <stdlib.h>

enum { FEW_RANKS = 8, BATCHES = 8, TURNS_MOST = 16, MEETINGS_PER_TURN = 32 };

// ---- what chance does ----

// A value is compared with mean and deviation of n others (Student's t, n - 1 degrees of freedom): among pure noise one
// of n + 1 ranks is beyond these factors in one of 2000 jobs.
static const struct {
    double others, factor;
} chance[] = {{2, 2546}, {3, 63.2}, {4, 22.2}, {5, 13.6},  {6, 10.3},   {7, 8.8},   {9, 7.2},
              {11, 6.3}, {15, 5.6}, {31, 4.9}, {63, 4.75}, {255, 4.85}, {999, 5.0}, {9999, 5.5}};

static double regions_chance(size_t others)
{
    enum { ROWS = sizeof chance / sizeof *chance };
    double n = (double)others;
    if (others < 2) return INFINITY;
    for (size_t i = 1; i < ROWS; i++)
        if (n <= chance[i].others) {
            double way = log(n / chance[i - 1].others) / log(chance[i].others / chance[i - 1].others);
            return chance[i - 1].factor * pow(chance[i].factor / chance[i - 1].factor, way);
        }
    return chance[ROWS - 1].factor;
}

typedef struct regions_place {
    double value;
    size_t rank;
} regions_place;

static int regions_compare_places(const void *a, const void *b)
{
    const regions_place *x = a, *y = b;
    if (x->value != y->value) return x->value > y->value ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

// How many of the largest values (sorted, the largest first) are beyond chance, all of them well apart from the rest.
// Of several the rest is what is left when the largest are taken away, which scatters less than it should.
static size_t regions_outliers(const regions_place *places, size_t n, size_t most)
{
    size_t found = 0;
    double sum = 0, squares = 0, middle = n ? places[n / 2].value : 0; // sums of distances from the middle, of the rest
    for (size_t i = 0; i < n; i++) {
        sum += places[i].value - middle;
        squares += (places[i].value - middle) * (places[i].value - middle);
    }
    for (size_t k = 1; k <= most && k < n; k++) {
        double taken = places[k - 1].value - middle, others = (double)(n - k);
        sum -= taken;
        squares = fmax(squares - taken * taken, 0);
        double mean = sum / others, rest = fmax(squares - sum * mean, 0);
        double deviation = n - k > 1 ? sqrt(rest / (others - 1)) : INFINITY;
        double apart = taken - mean, gap = places[k - 1].value - places[k].value;
        double factor = regions_chance(n - k) * sqrt(1 + 1 / others) * (k > 1 ? 1.5 : 1);
        if (apart > factor * deviation && gap > 0.5 * apart && apart > 0) found = k;
    }
    return found;
}

// ---- ranks ----

static double regions_median_without(const regions *r, double (*value)(const regions_rank *), size_t rank)
{
    double *all = memory_array(NULL, r->rank_count, sizeof *all);
    size_t n = 0;
    for (size_t i = 0; i < r->rank_count; i++)
        if (i != rank) all[n++] = value(&r->ranks[i]);
    double median = n ? regions_median(all, n) : 0;
    free(all);
    return median;
}

static double regions_work_of(const regions_rank *rank)
{
    return rank->times.work_ns;
}
// Without what may have been waiting.
static double regions_sure_work_of(const regions_rank *rank)
{
    return rank->times.work_ns - rank->times.doubt_ns;
}
static double regions_waiting_of(const regions_rank *rank)
{
    return rank->times.peer_ns + rank->times.all_ns;
}
static double regions_rank_run_of(const regions_rank *rank)
{
    return rank->times.run_ns;
}
static double regions_cpu_wait_of(const regions_rank *rank)
{
    return (double)rank->cpu_wait_ns;
}

static regions_place *regions_sorted_places(const regions *r, double (*value)(const regions_rank *), double sign)
{
    regions_place *places = memory_array(NULL, r->rank_count, sizeof *places);
    for (size_t i = 0; i < r->rank_count; i++)
        places[i] = (regions_place){sign * value(&r->ranks[i]), i};
    qsort(places, r->rank_count, sizeof *places, regions_compare_places);
    return places;
}

static void regions_add_late(regions *r, size_t rank, double from_s, double until_s, double excess_ns)
{
    arrput(r->waits.late, ((regions_late){rank, excess_ns, from_s, until_s}));
    r->waits.late_count++;
}

// ---- few ranks: is its lead steady? ----

// How much longer than the median of the others the rank was outside MPI in a stretch.
static double regions_lead(const regions *r, size_t rank, double from, double to)
{
    double *inside = memory_array(NULL, r->rank_count, sizeof *inside), own = 0;
    size_t n = 0;
    for (size_t i = 0; i < r->rank_count; i++) {
        double ns = regions_blocks_inside(&r->ranks[i].blocks, from, to);
        if (i == rank)
            own = ns;
        else
            inside[n++] = ns;
    }
    double lead = n ? regions_median(inside, n) - own : 0;
    free(inside);
    return lead;
}

static bool regions_leads_steadily(const regions *r, size_t rank)
{
    // Student's t of eight stretches; or by a fifth in all but one of them, for which chance is too small as well: one
    // of 10000.
    const double steady = 8, clear = 0.2;
    int clearly = 0;
    double from, to, leads[BATCHES], mean = 0, squares = 0;
    if (!regions_blocks_common(r, &from, &to)) return false;
    double step = (to - from) / BATCHES;
    for (int i = 0; i < BATCHES; i++) {
        leads[i] = regions_lead(r, rank, from + i * step, from + (i + 1) * step);
        mean += leads[i] / BATCHES;
        clearly += leads[i] >= clear * step;
    }
    for (int i = 0; i < BATCHES; i++)
        squares += (leads[i] - mean) * (leads[i] - mean);
    return clearly >= BATCHES - 1 || mean > steady * sqrt(squares / (BATCHES - 1) / BATCHES);
}

// Those that lead steadily, by at least two thirds of the farthest lead.
static void regions_find_late_of_few(regions *r)
{
    double most = 0, *leads = memory_array(NULL, r->rank_count, sizeof *leads);
    for (size_t i = 0; i < r->rank_count; i++) {
        leads[i] = regions_sure_work_of(&r->ranks[i]) - regions_median_without(r, regions_work_of, i);
        most = fmax(most, leads[i]);
    }
    for (size_t i = 0; i < r->rank_count && most > 0; i++)
        if (leads[i] > most * 2 / 3 && regions_leads_steadily(r, i)) regions_add_late(r, i, NAN, NAN, leads[i]);
    free(leads);
}

// Who is not late, but would be if what it did between its questions was work.
static void regions_find_in_doubt(regions *r)
{
    double most = 0.1 * r->waits.run_ns; // own: a tenth of the run, and half of the lead in doubt
    for (size_t i = 0; i < r->rank_count; i++) {
        if (r->ranks[i].times.doubt_ns < 0.5 * most) continue; // half of a lead of this much has to be in doubt
        double lead = regions_work_of(&r->ranks[i]) - regions_median_without(r, regions_work_of, i);
        bool late = false;
        for (size_t k = 0; k < r->waits.late_count; k++)
            late |= r->waits.late[k].rank == i;
        if (late || lead < most || r->ranks[i].times.doubt_ns < 0.5 * lead) continue;
        most = lead;
        r->waits.in_doubt = i;
    }
}

// ---- many ranks ----

// By what is work for sure; and if what is in doubt of the others was work, they still work half of that less at the least.
static void regions_find_late_of_many(regions *r)
{
    regions_place *places = regions_sorted_places(r, regions_sure_work_of, 1);
    size_t n = r->rank_count, count = regions_outliers(places, n, n / 2);
    size_t low = count + (n - count - 1) / 2,
           high = count + (n - count) / 2; // the middle of the others, which are sorted
    for (size_t i = 0; i < count; i++) {
        double excess = places[i].value - (places[low].value + places[high].value) / 2;
        double least = places[i].value - regions_median_without(r, regions_work_of, places[i].rank);
        if (least >= 0.5 * excess) regions_add_late(r, places[i].rank, NAN, NAN, excess);
    }
    free(places);
}

// ---- in turn ----

// The rank that leads in a stretch by a quarter of it and by twice as much as any other; or REGIONS_NONE.
static size_t regions_leader(const regions *r, double from, double to, double *lead)
{
    size_t n = r->rank_count, best = REGIONS_NONE;
    double *inside = memory_array(NULL, n, sizeof *inside), *sorted = memory_array(NULL, n, sizeof *sorted);
    for (size_t i = 0; i < n; i++)
        sorted[i] = inside[i] = regions_blocks_inside(&r->ranks[i].blocks, from, to);
    double median = regions_median(sorted, n);
    if (n == 2) median = sorted[1];
    if (n > 1 && median - sorted[0] >= 0.25 * (to - from) && median - sorted[0] >= 2 * (median - sorted[1]))
        for (size_t i = 0; i < n && best == REGIONS_NONE; i++)
            if (inside[i] <= sorted[0]) best = i;
    *lead = median - sorted[0];
    free(inside);
    free(sorted);
    return best;
}

static size_t regions_turns_of(const regions *r)
{
    uint64_t meetings = UINT64_MAX;
    for (size_t i = 0; i < r->rank_count; i++)
        if (r->ranks[i].times.meetings < meetings) meetings = r->ranks[i].times.meetings;
    meetings /= MEETINGS_PER_TURN;
    return meetings > TURNS_MOST ? TURNS_MOST : (size_t)meetings;
}

// Stretches of at least two turns in which the same rank was late.
static void regions_find_turns(regions *r)
{
    double from, to, lead = 0, sum = 0;
    size_t turns = regions_turns_of(r), last = REGIONS_NONE, since = 0;
    if (turns < 4 || !regions_blocks_common(r, &from, &to)) return;
    double step = (to - from) / (double)turns;
    for (size_t i = 0; i <= turns; i++) {
        double begin = from + (double)i * step;
        size_t now = i < turns ? regions_leader(r, begin, begin + step, &lead) : REGIONS_NONE;
        if (now != last) {
            if (last != REGIONS_NONE && i - since > 1)
                regions_add_late(r, last, (double)since * step / 1e9, (double)i * step / 1e9, sum);
            last = now;
            since = i;
            sum = 0;
        }
        sum += lead;
    }
    r->waits.in_turn = r->waits.late_count > 0;
}

// ---- the one whose work over time is unlike that of all others ----

// Own. Of two ranks that meet, the one whose share of work changes is the one that waits. In each stretch a rank must meet
// others a few times: who is a step ahead within one has no other share of it. Less work than a fiftieth is next to none.
enum { ALONE_RANKS = 3, ALONE_MEETINGS = 4, ALONE_WINDOWS = 6 };
static const double regions_alone_silent = 0.02;

typedef struct regions_alone_axis {
    double from_ns, step_ns; // the wall clock
    size_t windows;
} regions_alone_axis;

static uint64_t regions_alone_least_meetings(const regions *r)
{
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < r->rank_count; i++)
        if (r->ranks[i].times.meetings < least) least = r->ranks[i].times.meetings;
    return least;
}

// Whole blocks of what all ranks have, as many to a window as it takes for its meetings.
static bool regions_alone_axis_make(const regions *r, regions_alone_axis *a)
{
    double from, to, block = 0;
    uint64_t most = regions_alone_least_meetings(r) / ALONE_MEETINGS;
    if (most < ALONE_WINDOWS || !regions_blocks_common(r, &from, &to)) return false;
    for (size_t i = 0; i < r->rank_count; i++)
        block = fmax(block, (double)r->ranks[i].blocks.block_ns);
    double first = ceil(from / block), blocks = floor(to / block) - first;
    if (blocks < ALONE_WINDOWS) return false;
    double each = ceil(blocks / fmin(blocks, (double)most));
    *a = (regions_alone_axis){first * block, each * block, (size_t)floor(blocks / each)};
    return a->windows >= ALONE_WINDOWS;
}

static float *regions_alone_work(const regions *r, const regions_alone_axis *a)
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

static double regions_alone_first_begin(const regions *r)
{
    double first = INFINITY;
    for (size_t i = 0; i < r->rank_count; i++)
        first = fmin(first, (double)r->ranks[i].blocks.began_ns);
    return first;
}

// What it worked more (or less) there must be so of the whole run as well. Ranks that are late one after the other work
// alike in all: the one of them that stands out most is not the only one.
static bool regions_alone_in_all(const regions *r, const regions_alone *x)
{
    double lead = regions_work_of(&r->ranks[x->rank]) - regions_median_without(r, regions_work_of, x->rank);
    double there = (x->share - x->others) * (x->until_s - x->from_s) * 1e9;
    return lead / there >= 0.5;
}

static void regions_find_alone(regions *r)
{
    regions_alone *x = &r->waits.alone;
    regions_alone_axis a;
    peers_outcome o;
    *x = (regions_alone){.rank = REGIONS_NONE};
    if (r->rank_count < ALONE_RANKS || !regions_alone_axis_make(r, &a)) return;
    float *work = regions_alone_work(r, &a);
    peers_follow(&o, work, r->rank_count, a.windows, regions_alone_silent, NULL);
    free(work);
    if (o.kind != PEERS_ONE) return;
    double begin = a.from_ns - regions_alone_first_begin(r);
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
    if (!regions_alone_in_all(r, x)) *x = (regions_alone){.rank = REGIONS_NONE};
}

// ---- alone, since when ----

static bool regions_is_late_alone(const regions_waits *w)
{
    for (size_t i = 0; i < w->late_count; i++)
        if (w->late[i].rank != w->alone.rank) return false;
    return true;
}

// Whoever alone works more is late from there on; of one found late already, the times are the better ones.
static void regions_find_late_alone(regions *r)
{
    regions_waits *w = &r->waits;
    const regions_alone *x = &w->alone;
    if (x->rank == REGIONS_NONE || !x->more || !regions_is_late_alone(w)) return;
    if (w->late_count && !w->in_turn) return; // through the whole run
    arrsetlen(w->late, 0);
    w->late_count = 0;
    w->in_turn = !(x->from_begin && x->to_end);
    double excess = (x->share - x->others) * (x->until_s - x->from_s) * 1e9;
    regions_add_late(r, x->rank, w->in_turn ? x->from_s : NAN, w->in_turn ? x->until_s : NAN, excess);
}

// ---- what it means ----

static void regions_find_late_host(regions *r)
{
    regions_waits *w = &r->waits;
    if (w->in_turn || w->late_count < 2 || r->host_count < 2) return;
    size_t host = r->ranks[w->late[0].rank].host;
    if (r->hosts[host].rank_count != w->late_count) return;
    for (size_t i = 0; i < w->late_count; i++)
        if (r->ranks[w->late[i].rank].host != host) return;
    w->host = host;
}

// No more than the others waited, and no more than the run.
static void regions_find_gain(regions *r)
{
    regions_waits *w = &r->waits;
    double least = INFINITY, sum = 0, waited;
    for (size_t i = 0; i < w->late_count; i++) {
        least = fmin(least, w->late[i].excess_ns);
        sum += w->late[i].excess_ns;
    }
    size_t first = w->late[0].rank;
    waited = regions_median_without(r, regions_waiting_of, first) +
             fmax(r->ranks[first].times.run_ns - regions_median_without(r, regions_rank_run_of, first), 0);
    w->gain_ns = fmax(fmin(fmin(w->in_turn ? sum : least, waited), w->longest_ns), 0);
}

// Is there so much time in the region at all? A median is at most twice the mean.
static bool regions_may_hold(const regions_node *n, double sign, double least_ns)
{
    double all = (double)n->sums.exclusive_ns, others = (double)n->cell_count - 1;
    return n->sums.open || (sign > 0 ? all >= least_ns : 2 * all >= least_ns * others);
}

// The region in which `rank` has most more (sign 1) or less (-1) own time than the median of the others; of the classes
// that `wanted` accepts.
static size_t regions_unlike(const regions *r, size_t rank, double sign, bool (*wanted)(regions_class), double least_ns)
{
    size_t best = REGIONS_NONE;
    double *others = memory_array(NULL, r->rank_count, sizeof *others);
    for (size_t i = 0; i < r->node_count; i++) {
        const regions_node *n = &r->nodes[i];
        double own = 0;
        size_t count = 0;
        if (n->span || !wanted(n->kind) || !regions_may_hold(n, sign, least_ns)) continue;
        for (size_t k = 0; k < n->cell_count; k++) {
            double ns = (double)n->cells[k].sums.exclusive_ns;
            if (n->cells[k].sums.open && regions_is_mpi_name(n->name)) ns += (double)r->ranks[n->cells[k].rank].open_ns;
            if (n->cells[k].rank == rank)
                own = ns;
            else
                others[count++] = ns;
        }
        while (count + 1 < r->rank_count)
            others[count++] = 0; // they never were there
        double apart = count ? sign * (own - regions_median(others, count)) : 0;
        if (apart < least_ns) continue;
        best = i;
        least_ns = apart;
    }
    free(others);
    return best;
}

static bool regions_is_work_class(regions_class kind)
{
    return kind == REGIONS_WORK || kind == REGIONS_MOVES;
}
static bool regions_is_peer_class(regions_class kind)
{
    return kind == REGIONS_PEER;
}
static bool regions_is_all_class(regions_class kind)
{
    return kind == REGIONS_ALL;
}

// Who asks for it may wait for all just as well.
static double regions_peer_of(const regions_rank *rank)
{
    return rank->times.peer_ns - rank->times.polls_ns;
}
static double regions_all_of(const regions_rank *rank)
{
    return rank->times.all_ns;
}

// A rank that is last where all meet, though it does not work longer: it was held in waits of its own.
static void regions_find_held(regions *r)
{
    regions_waits *w = &r->waits;
    if (r->rank_count < 4) return;
    regions_place *places = regions_sorted_places(r, regions_all_of, -1);
    size_t first = places[0].rank, count = regions_outliers(places, r->rank_count, 1);
    free(places);
    if (!count) return;
    double late = regions_median_without(r, regions_all_of, first) - regions_all_of(&r->ranks[first]);
    double held = regions_peer_of(&r->ranks[first]) - regions_median_without(r, regions_peer_of, first);
    if (held < 0.5 * late || held < 0.01 * w->run_ns) return;
    w->held = first;
    w->held_ns = fmin(held, late);
    w->held_in = regions_unlike(r, first, 1, regions_is_peer_class, 0);
    w->held_until = regions_unlike(r, first, -1, regions_is_all_class, 0);
}

static void regions_find_early(regions *r)
{
    regions_place *places = regions_sorted_places(r, regions_work_of, -1);
    double mean = 0;
    size_t n = r->rank_count;
    for (size_t i = 0; i < n; i++)
        mean -= places[i].value / (double)n;
    if (n > 2 && regions_outliers(places, n, 1)) r->waits.early = places[0].rank;
    r->waits.even_ns = fmin(-places[n - 1].value - mean, r->waits.wait_share * r->waits.run_ns);
    free(places);
}

// ---- CPUs ----

enum { CPUS_MOST = 4096 };

static void regions_add_cpus(const char *list, unsigned char *set)
{
    while (*list >= '0' && *list <= '9') {
        char *end;
        unsigned long from = strtoul(list, &end, 10), to = from;
        if (*end == '-') to = strtoul(end + 1, &end, 10);
        for (; from <= to && from < CPUS_MOST; from++)
            set[from] = 1;
        list = *end == ',' ? end + 1 : "";
    }
}

static size_t regions_cpus_of_host(const regions *r, const regions_host *host)
{
    unsigned char set[CPUS_MOST] = {0};
    size_t count = 0;
    for (size_t i = 0; i < host->rank_count; i++) {
        if (!*r->ranks[host->ranks[i]].cpus) return 0;
        regions_add_cpus(r->ranks[host->ranks[i]].cpus, set);
    }
    for (size_t i = 0; i < CPUS_MOST; i++)
        count += set[i];
    return count;
}

static void regions_find_crowd(regions *r)
{
    regions_waits *w = &r->waits;
    double worst = 1;
    for (size_t i = 0; i < r->host_count; i++) {
        size_t cpus = regions_cpus_of_host(r, &r->hosts[i]);
        double crowd = cpus ? (double)r->hosts[i].rank_count / (double)cpus : 0;
        if (crowd <= worst) continue;
        worst = crowd;
        w->crowded = i;
        w->crowded_cpus = cpus;
    }
    for (size_t i = 0; i < r->rank_count; i++) {
        const regions_rank *rank = &r->ranks[i];
        if (rank->cpu_wait_ns < 0 || rank->times.run_ns <= 0) continue;
        double share = fmin((double)rank->cpu_wait_ns / rank->times.run_ns, 1);
        if (isnan(w->cpu_wait_share) || share > w->cpu_wait_share) w->cpu_wait_share = share;
    }
    if (!w->late_count || w->in_turn) return;
    size_t first = w->late[0].rank;
    if (r->ranks[first].cpu_wait_ns < 0) return;
    w->crowd_explains = regions_cpu_wait_of(&r->ranks[first]) - regions_median_without(r, regions_cpu_wait_of, first) >=
                        0.5 * w->late[0].excess_ns;
}

// ---- all of it ----

static void regions_forget_late(regions_waits *w)
{
    arrfree(w->late);
    w->late_count = 0;
    w->in_turn = false;
    w->gain_ns = 0;
}

void regions_find_late(regions *r)
{
    regions_waits *w = &r->waits;
    w->host = w->where = w->waits_in = w->held = w->held_in = w->held_until = w->early = w->crowded = REGIONS_NONE;
    w->in_doubt = REGIONS_NONE;
    w->alone.rank = REGIONS_NONE;
    w->cpu_wait_share = NAN;
    if (w->known && r->rank_count > 1 && r->runs == 1) {
        regions_find_alone(r);
        regions_find_late_of_many(r);
        if (!w->late_count && r->rank_count < FEW_RANKS) regions_find_late_of_few(r);
        regions_find_in_doubt(r);
        if (w->late_count > r->rank_count / 2) regions_forget_late(w);
        if (!w->late_count) regions_find_turns(r);
        regions_find_late_alone(r);
        if (w->late_count) regions_find_gain(r);
        if (w->gain_ns < 0.01 * w->run_ns) regions_forget_late(w); // of no account
        if (w->alone.more && (!w->late_count || !regions_is_late_alone(w))) w->alone.rank = REGIONS_NONE;
        if (!w->late_count) regions_find_held(r);
        regions_find_early(r);
        regions_find_late_host(r);
    }
    regions_find_crowd(r);
    if (!w->late_count || w->in_turn) return;
    w->where = regions_unlike(r, w->late[0].rank, 1, regions_is_work_class, 0.5 * w->late[0].excess_ns);
    w->waits_in = regions_unlike(r, w->late[0].rank, -1, regions_class_waits, 0.5 * w->gain_ns);
}

// Who is blamed, in which words: a job of four ranks, made by hand as it is after all is known of who waited for whom. Each
// situation changes it, and every note is told whole: how bad, where, who, title and sentence.
#define _GNU_SOURCE
#include "netprof.h"

#include "analysis/base/memory.h"
#include "analysis/regions/regions_store.h"
#include "support.h"

#include <math.h>

enum { MAIN, COMPUTE, BARRIER, RECEIVE, NODES, RANKS = 4 };

static const double s = 1e9; // ns

typedef struct job {
    regions r;
    regions_rank ranks[RANKS];
    regions_host hosts[2];
    regions_node nodes[NODES];
    regions_finding finding;
    const regions_finding *worst[1];
    size_t worst_count;
} job;

// Runs of 10 s; each rank works 6 s, one host has all of them.
static job *job_make(void)
{
    static const char *const labels[RANKS] = {"0", "1", "2", "3 (pid 77)"};
    static const char *const names[NODES] = {"main", "compute", "MPI_Barrier", "MPI_Recv"};
    job *j = memory_calloc(1, sizeof *j);
    for (size_t i = 0; i < RANKS; i++)
        j->ranks[i] = (regions_rank){.label = labels[i],
                                     .cpu_ns = -1,
                                     .cpu_wait_ns = -1,
                                     .elapsed_ns = 10000000000,
                                     .between_polls_ns = -1,
                                     .times = {.known = true, .run_ns = 10 * s, .work_ns = 6 * s}};
    for (size_t i = 0; i < NODES; i++)
        j->nodes[i] = (regions_node){.name = names[i], .parent = i ? MAIN : REGIONS_NONE, .end = i ? i + 1 : NODES};
    j->hosts[0] = (regions_host){.name = "n1", .rank_count = RANKS};
    j->r = (regions){.ranks = j->ranks,
                     .rank_count = RANKS,
                     .hosts = j->hosts,
                     .host_count = 1,
                     .nodes = j->nodes,
                     .node_count = NODES,
                     .runs = 1};
    j->r.waits = (regions_waits){.known = true,
                                 .mpi = true,
                                 .run_ns = 10 * s,
                                 .longest_ns = 10 * s,
                                 .work_ns = 6 * s,
                                 .host = REGIONS_NONE,
                                 .where = REGIONS_NONE,
                                 .waits_in = REGIONS_NONE,
                                 .held = REGIONS_NONE,
                                 .held_in = REGIONS_NONE,
                                 .held_until = REGIONS_NONE,
                                 .early = REGIONS_NONE,
                                 .alone = {.rank = REGIONS_NONE},
                                 .in_region = {.rank = REGIONS_NONE},
                                 .crowded = REGIONS_NONE,
                                 .cpu_wait_share = NAN,
                                 .in_doubt = REGIONS_NONE};
    return j;
}

static void job_free(job *j)
{
    for (size_t i = 0; i < j->r.note_count; i++) {
        free(j->r.notes[i].text);
        free(j->r.notes[i].title);
    }
    arrfree(j->r.notes);
    arrfree(j->r.waits.late);
    free(j);
}

static void late(job *j, size_t rank, double excess_s, double from_s, double until_s)
{
    arrput(j->r.waits.late, ((regions_late){rank, excess_s * s, from_s, until_s}));
    j->r.waits.late_count++;
}

static void two_hosts(job *j)
{
    j->hosts[0].rank_count = 2;
    j->hosts[1] = (regions_host){.name = "n2", .rank_count = 2};
    j->ranks[2].host = j->ranks[3].host = 1;
    j->r.host_count = 2;
}

static void crowd(job *j)
{
    j->r.waits.crowded = j->r.host_count - 1;
    j->r.waits.crowded_cpus = 1;
}

// ---- situations ----

static void nobody(job *j)
{
    (void)j;
}

static void one_late(job *j)
{
    late(j, 1, 3, 0, 10);
    j->ranks[1].times.work_ns = 9 * s;
    j->r.waits.gain_ns = 3 * s;
    j->r.waits.where = COMPUTE;
    j->r.waits.waits_in = BARRIER;
}

static void one_late_alone_since(job *j)
{
    one_late(j);
    j->r.waits.gain_ns = 0.7 * s;
    j->r.waits.where = REGIONS_NONE;
    j->r.waits.alone = (regions_alone){.rank = 1, .more = true, .from_s = 4, .until_s = 10, .to_end = true};
}

static void another_alone_since(job *j)
{
    one_late_alone_since(j);
    j->r.waits.alone.rank = 2;
}

static void one_late_of_two(job *j)
{
    one_late(j);
    j->r.rank_count = 2;
    j->r.waits.gain_ns = 0.2 * s;
}

static void two_late(job *j)
{
    late(j, 2, 3, 0, 10);
    late(j, 0, 2, 0, 10);
    j->ranks[2].times.work_ns = 9 * s;
    j->r.waits.gain_ns = 0.05 * s;
    j->r.waits.where = COMPUTE;
}

static void all_late(job *j)
{
    two_late(j);
    late(j, 1, 1, 0, 10);
    late(j, 3, 1, 0, 10);
    late(j, 1, 1, 0, 10); // five: three have names
}

static void host_late(job *j)
{
    two_hosts(j);
    late(j, 2, 3, 0, 10);
    late(j, 3, 3, 0, 10);
    j->ranks[2].times.work_ns = 9 * s;
    j->ranks[2].times.doubt_ns = 1 * s;
    j->r.waits.host = 1;
    j->r.waits.gain_ns = 3 * s;
    j->r.waits.waits_in = RECEIVE;
}

static void late_on_shared_cpus(job *j)
{
    two_hosts(j);
    one_late(j);
    crowd(j);
    j->ranks[1].cpu_wait_ns = 1000000000;
}

static void late_for_want_of_a_cpu(job *j)
{
    one_late(j);
    crowd(j);
    j->r.waits.crowd_explains = true;
    j->ranks[1].cpu_wait_ns = 2500000000;
}

static void late_and_asleep(job *j)
{
    one_late(j);
    j->ranks[1].cpu_ns = 4400000000; // of 9 s of work
    j->ranks[1].times.polls = 2000000;
}

static void late_and_busy(job *j)
{
    one_late(j);
    j->ranks[1].cpu_ns = 4500000000; // the half of its work
    j->ranks[1].times.polls = 899;   // below 100 a second
}

static void late_between_questions(job *j)
{
    one_late(j);
    j->ranks[1].between_polls_ns = 200000000;
    j->ranks[1].times.doubt_ns = 0.2 * s;
    j->ranks[1].times.polls = 1;
}

static void doubtful(job *j)
{
    j->r.waits.in_doubt = 2;
    j->ranks[2].times.polls = 1000;
}

static void in_turn(job *j)
{
    two_hosts(j);
    j->r.waits.in_turn = true;
    for (size_t i = 0; i < 7; i++)
        late(j, i % 3, 1, (double)i, (double)i + 1);
    j->r.waits.gain_ns = 0.6 * s;
}

static void in_turn_on_shared_cpus(job *j)
{
    in_turn(j);
    crowd(j);
    j->r.waits.late_count = 2;
}

static void one_for_a_part(job *j)
{
    two_hosts(j);
    j->r.waits.in_turn = true;
    late(j, 2, 1, 1, 2);
    late(j, 2, 1, 5, 7.5);
    j->r.waits.gain_ns = 0.3 * s;
    j->r.missing_count = 1;
}

static void held(job *j)
{
    j->r.waits.held = 1;
    j->r.waits.held_in = RECEIVE;
    j->r.waits.held_until = BARRIER;
    j->r.waits.held_ns = 2 * s;
}

static void held_somewhere(job *j)
{
    two_hosts(j);
    held(j);
    crowd(j);
    j->r.waits.held = 3;
    j->r.waits.held_in = j->r.waits.held_until = REGIONS_NONE;
    j->r.waits.held_ns = 0.05 * s;
}

static void held_by_its_host(job *j)
{
    held(j);
    j->finding = (regions_finding){.severity = SEVERITY_WARN,
                                   .claim = (char *)(uintptr_t) "12 retries: links are bad",
                                   .node = RECEIVE,
                                   .device = DIFFERENCE_NONE};
    j->worst[0] = &j->finding;
    j->worst_count = 1;
}

static void held_not_by_another_host(job *j)
{
    two_hosts(j);
    held_by_its_host(j);
    j->finding.host = 1;
}

static void held_not_by_a_hint(job *j)
{
    held_by_its_host(j);
    j->finding.severity = SEVERITY_WATCH;
}

static void shared_cpus(job *j)
{
    crowd(j);
    j->r.waits.cpu_wait_share = 0.25;
    for (size_t i = 0; i < RANKS; i++)
        j->ranks[i].cpu_wait_ns = 2000000000, j->ranks[i].cpu_ns = 200000000; // together 0.8 s, others had the rest
}

static void shared_by_themselves(job *j)
{
    shared_cpus(j);
    for (size_t i = 0; i < RANKS; i++)
        j->ranks[i].cpu_ns = 2000000000;
    j->ranks[0].cpu_wait_ns = 500000000; // less than half of the most
}

static void waits_for_cpus(job *j)
{
    j->r.waits.cpu_wait_share = 0.1;
    j->ranks[2].cpu_wait_ns = 1000000000;
}

static void hardly_waits_for_cpus(job *j)
{
    j->r.waits.cpu_wait_share = 0.049;
}

static void waits_a_little(job *j)
{
    j->r.waits.cpu_wait_share = 0.05;
}

static void uneven(job *j)
{
    j->ranks[0].times.work_ns = 5.5 * s;
    j->ranks[3].times.work_ns = 8 * s;
    j->r.waits.even_ns = 1 * s;
}

static void nearly_even(job *j)
{
    uneven(j);
    j->r.waits.even_ns = 0.99 * s;
}

static void early(job *j)
{
    two_hosts(j);
    j->r.waits.early = 2;
    j->ranks[2].times.work_ns = 2 * s;
}

static void hardly_early(job *j)
{
    early(j);
    j->ranks[2].times.work_ns = 5.5 * s;
}

static void alone_less(job *j)
{
    j->r.waits.alone = (regions_alone){
        .rank = 0, .share = 0.25, .low = 0.5, .high = 0.75, .from_s = 1, .until_s = 2.5, .from_begin = true};
}

static void alone_less_in_the_middle(job *j)
{
    early(j);
    alone_less(j);
    j->r.waits.alone.rank = j->r.waits.early;
    j->r.waits.alone.from_begin = false;
    j->r.waits.alone.low = 0.75;
}

static void alone_silent(job *j)
{
    alone_less(j);
    j->r.waits.alone.silent = j->r.waits.alone.to_end = true;
}

static void not_known(job *j)
{
    one_late(j);
    crowd(j);
    j->r.waits.known = false;
    j->r.lived_ns = 40 * s;
}

static void of_two_runs(job *j)
{
    one_late(j);
    j->r.runs = 2;
}

// Sentences of what lies in a region over time, without MPI.
static void in_region(job *j)
{
    j->r.waits.known = false;
    j->r.waits.region = COMPUTE;
    j->r.waits.in_region =
        (regions_alone){.rank = 1, .share = 0.5, .low = 0.2, .high = 0.25, .from_s = 3, .to_end = true, .more = true};
}

static void in_region_of_threads(job *j)
{
    in_region(j);
    j->r.waits.known = true;
    j->r.waits.in_region.share = 2.5;
    j->r.waits.in_region.low = j->r.waits.in_region.high = 4;
    j->r.waits.in_region.more = false;
    j->r.waits.in_region.from_begin = true;
}

static void in_region_silent(job *j)
{
    in_region(j);
    j->r.rank_count = 2;
    j->r.waits.in_region.silent = true;
    j->r.waits.in_region.more = false;
}

typedef struct situation {
    const char *name;
    void (*make)(job *j);
    bool blamed;
    const char *notes;
} situation;

static const situation situations[] = {
    {"nobody", nobody, false, ""},
    {"one_late", one_late, true,
     "high, compute, 1, Rank 1 is late: the others wait 3 s of 10 s\n"
     "  Rank 1 is late: it works 9 s, most of that in compute; the others work 6 s in the median, and wait in "
     "MPI_Barrier\n"
     "info, compute, 1, -\n"
     "  If it worked as the others do, at most 3 s of 10 s (30 %) would be gained\n"},
    {"one_late_alone_since", one_late_alone_since, true,
     "warn, -, 1, Rank 1 is late: the others wait 700 ms of 10 s\n"
     "  Rank 1 is late: it works 9 s; the others work 6 s in the median, and wait in MPI_Barrier; it alone works "
     "longer from 4 s on\n"
     "info, -, 1, -\n"
     "  If it worked as the others do, at most 700 ms of 10 s (7.00 %) would be gained\n"},
    {"another_alone_since", another_alone_since, true,
     "warn, -, 1, Rank 1 is late: the others wait 700 ms of 10 s\n"
     "  Rank 1 is late: it works 9 s; the others work 6 s in the median, and wait in MPI_Barrier\n"
     "info, -, 1, -\n"
     "  If it worked as the others do, at most 700 ms of 10 s (7.00 %) would be gained\n"},
    {"one_late_of_two", one_late_of_two, true,
     "watch, compute, 1, Rank 1 is late: the other waits 200 ms of 10 s\n"
     "  Rank 1 is late: it works 9 s, most of that in compute; the other works 6 s, and waits in MPI_Barrier\n"
     "info, compute, 1, -\n"
     "  If it worked as the other does, at most 200 ms of 10 s (2 %) would be gained\n"},
    {"two_late", two_late, true,
     "info, compute, 2, Ranks 2 and 0 are late: the others wait 50 ms\n"
     "  Ranks 2 and 0 are late: each works about 9 s, most of that in compute; the others work 6 s in the median, and "
     "wait\n"
     "info, compute, 2, -\n"
     "  If they worked as the others do, at most 50 ms of 10 s (0.500 %) would be gained\n"},
    {"all_late", all_late, true,
     "info, compute, 2, Ranks 2, 0, 1 and 2 more are late: the others wait 50 ms\n"
     "  Ranks 2, 0, 1 and 2 more are late: each works about 9 s, most of that in compute; the others work 6 s in the "
     "median, and wait\n"
     "info, compute, 2, -\n"
     "  If they worked as the others do, at most 50 ms of 10 s (0.500 %) would be gained\n"},
    {"host_late", host_late, true,
     "high, -, 2, Host n2 is late: the others wait 3 s\n"
     "  Host n2 is late: each of its ranks works about 9 s; the others work 5 s in the median, and wait in MPI_Recv\n"
     "info, -, 2, -\n"
     "  If they worked as the others do, at most 3 s of 10 s (30 %) would be gained\n"},
    {"late_on_shared_cpus", late_on_shared_cpus, true,
     "warn, compute, 1, 2 ranks on 1 CPU of n2; rank 1 (n1) is late: the others wait 3 s of 10 s\n"
     "  2 ranks of n2 shared 1 CPU; even so rank 1 (n1) is late: it works 9 s, most of that in compute; the others "
     "work 6 s in the median, and wait in MPI_Barrier\n"
     "info, compute, 1, -\n"
     "  If it worked as the others do, at most 3 s of 10 s (30 %) would be gained\n"},
    {"late_for_want_of_a_cpu", late_for_want_of_a_cpu, true,
     "warn, compute, 1, 4 ranks on 1 CPU; rank 1 is late: the others wait 3 s of 10 s\n"
     "  4 ranks shared 1 CPU: rank 1 is late: it works 9 s, most of that in compute; the others work 6 s in the "
     "median, and wait in MPI_Barrier\n"
     "info, compute, 1, -\n"
     "  If it worked as the others do, at most 3 s of 10 s (30 %) would be gained\n"
     "info, -, 1, -\n"
     "  Rank 1 waited 2.50 s for a CPU, which explains that it came late\n"},
    {"late_and_asleep", late_and_asleep, true,
     "high, compute, 1, Rank 1 is late: the others wait 3 s of 10 s\n"
     "  Rank 1 is late: it works 9 s, most of that in compute; the others work 6 s in the median, and wait in "
     "MPI_Barrier\n"
     "info, compute, 1, -\n"
     "  If it worked as the others do, at most 3 s of 10 s (30 %) would be gained\n"
     "info, -, 1, -\n"
     "  In all its run rank 1 used a CPU for 4.40 s: for most of its work it slept, or waited for files or for a CPU\n"
     "info, -, 1, -\n"
     "  Rank 1 asked 2000000 times whether something had come (MPI_Test, MPI_Iprobe): what it does in between counts "
     "as work, and may be waiting\n"},
    {"late_and_busy", late_and_busy, true,
     "high, compute, 1, Rank 1 is late: the others wait 3 s of 10 s\n"
     "  Rank 1 is late: it works 9 s, most of that in compute; the others work 6 s in the median, and wait in "
     "MPI_Barrier\n"
     "info, compute, 1, -\n"
     "  If it worked as the others do, at most 3 s of 10 s (30 %) would be gained\n"},
    {"late_between_questions", late_between_questions, true,
     "high, compute, 1, Rank 1 is late: the others wait 3 s of 10 s\n"
     "  Rank 1 is late: it works 9 s, most of that in compute; the others work 5.80 s in the median, and wait in "
     "MPI_Barrier\n"
     "info, compute, 1, -\n"
     "  If it worked as the others do, at most 3 s of 10 s (30 %) would be gained\n"
     "info, -, 1, -\n"
     "  Rank 1 asked 1 time whether something had come (MPI_Test, MPI_Iprobe): what it does in between, 200 ms in all, "
     "counts as work, and may be waiting\n"},
    {"doubtful", doubtful, false,
     "info, -, 2, -\n"
     "  Rank 2 asked 1000 times whether something had come (MPI_Test, MPI_Iprobe): what it does in between counts as "
     "work, and may be waiting\n"},
    {"in_turn", in_turn, true,
     "warn, -, -, Ranks are late in turn: the others wait 600 ms of 10 s\n"
     "  Ranks are late in turn: rank 0 from 0 s to 1 s, rank 1 from 1 s to 2 s, rank 2 from 2 s to 3 s, rank 0 from 3 "
     "s to 4 s, rank 1 from 4 s to 5 s, rank 2 from 5 s to 6 s, ...; the others wait for them, up to 600 ms of 10 s (6 "
     "%)\n"},
    {"in_turn_on_shared_cpus", in_turn_on_shared_cpus, true,
     "watch, -, -, 2 ranks on 1 CPU of n2; ranks are late in turn: the others wait 600 ms of 10 s\n"
     "  2 ranks of n2 shared 1 CPU; ranks are late in turn: rank 0 from 0 s to 1 s, rank 1 from 1 s to 2 s; the others "
     "wait for them, up to 600 ms of 10 s (6 %)\n"},
    {"one_for_a_part", one_for_a_part, true,
     "watch, -, 2, Rank 2 (n2) is late for a part of the run: the others wait 300 ms\n"
     "  A rank is late for a part of the run: rank 2 from 1 s to 2 s, rank 2 from 5 s to 7.50 s; the others wait for "
     "it, up to 300 ms of 10 s (3 %)\n"},
    {"held", held, true,
     "watch, MPI_Recv, 1, Rank 1 is held in MPI_Recv: the others wait 2 s of 10 s\n"
     "  Rank 1 is held in MPI_Recv, 2 s longer than the others in the median, and so is the last in MPI_Barrier, where "
     "the others wait for it: it does not work longer; what it waits for is its partner or the way to it\n"
     "info, MPI_Recv, 1, -\n"
     "  At most 2 s of 10 s (20 %) would be gained without\n"},
    {"held_somewhere", held_somewhere, true,
     "info, -, 3 (pid 77), 2 ranks on 1 CPU of n2; rank 3 (pid 77) is held in its waits: the others wait 50 ms of 10 "
     "s\n"
     "  2 ranks of n2 shared 1 CPU; rank 3 (pid 77) is held in its waits, 50 ms longer than the others in the median, "
     "and so is the last where all meet, where the others wait for it: it does not work longer; what it waits for is "
     "its partner or the way to it\n"
     "info, -, 3 (pid 77), -\n"
     "  At most 50 ms of 10 s (0.500 %) would be gained without\n"},
    {"held_by_its_host", held_by_its_host, true,
     "high, MPI_Recv, 1, Rank 1 is held in MPI_Recv; trouble on its host\n"
     "  Rank 1 is held in MPI_Recv, 2 s longer than the others in the median, and so is the last in MPI_Barrier, where "
     "the others wait for it; in MPI_Recv meanwhile, on its host: 12 retries: links are bad\n"
     "  meanwhile: in MPI_Recv meanwhile, on its host: 12 retries: links are bad\n"
     "info, MPI_Recv, 1, -\n"
     "  At most 2 s of 10 s (20 %) would be gained without\n"},
    {"held_not_by_another_host", held_not_by_another_host, true,
     "watch, MPI_Recv, 1, Rank 1 (n1) is held in MPI_Recv: the others wait 2 s of 10 s\n"
     "  Rank 1 (n1) is held in MPI_Recv, 2 s longer than the others in the median, and so is the last in MPI_Barrier, "
     "where the others wait for it: it does not work longer; what it waits for is its partner or the way to it\n"
     "info, MPI_Recv, 1, -\n"
     "  At most 2 s of 10 s (20 %) would be gained without\n"},
    {"held_not_by_a_hint", held_not_by_a_hint, true,
     "watch, MPI_Recv, 1, Rank 1 is held in MPI_Recv: the others wait 2 s of 10 s\n"
     "  Rank 1 is held in MPI_Recv, 2 s longer than the others in the median, and so is the last in MPI_Barrier, where "
     "the others wait for it: it does not work longer; what it waits for is its partner or the way to it\n"
     "info, MPI_Recv, 1, -\n"
     "  At most 2 s of 10 s (20 %) would be gained without\n"},
    {"shared_cpus", shared_cpus, false,
     "watch, -, -, 4 ranks shared 1 CPU; no rank stands out\n"
     "  4 ranks shared 1 CPU; each rank waited for a CPU for 20 % of the run or more; together they got 8 % of these "
     "CPUs: while they waited others had them, or a limit withheld them\n"},
    {"shared_by_themselves", shared_by_themselves, false,
     "watch, -, -, 4 ranks shared 1 CPU; no rank stands out\n"
     "  4 ranks shared 1 CPU; a rank waited for a CPU for 25 % of the run\n"},
    {"waits_for_cpus", waits_for_cpus, false,
     "watch, -, -, A rank waited for a CPU for 10 % of the run\n"
     "  A rank waited for a CPU for 10 % of the run\n"},
    {"hardly_waits_for_cpus", hardly_waits_for_cpus, false, ""},
    {"waits_a_little", waits_a_little, false,
     "info, -, -, A rank waited for a CPU for 5 % of the run\n"
     "  A rank waited for a CPU for 5 % of the run\n"},
    {"uneven", uneven, false,
     "watch, -, -, No single rank is late: work is uneven, 5.50 s to 8 s\n"
     "  Work is uneven: 5.50 s to 8 s on a rank, 6 s in the median; spread evenly, at most 1 s of 10 s (10 %) would be "
     "gained\n"},
    {"nearly_even", nearly_even, false, ""},
    {"early", early, false,
     "info, -, 2, -\n"
     "  Rank 2 (n2) has the least work, 2 s: it waits for the others, and nobody waits for it\n"},
    {"hardly_early", hardly_early, false, ""},
    {"alone_less", alone_less, false,
     "info, -, 0, -\n"
     "  Rank 0 alone works less until 2.50 s: 25 % of the time; the 3 other ranks work 50 % to 75 %; the rest of its "
     "time it is in MPI\n"},
    {"alone_less_in_the_middle", alone_less_in_the_middle, false,
     "info, -, 2, -\n"
     "  Rank 2 (n2) alone works less from 1 s to 2.50 s: 25 % of the time; the 3 other ranks work 75 % each; it waits "
     "for the others, and nobody waits for it\n"},
    {"alone_silent", alone_silent, false,
     "info, -, 0, -\n"
     "  Rank 0 alone does next to no work; the 3 other ranks work 50 % to 75 %; the rest of its time it is in MPI\n"},
    {"not_known", not_known, false, ""},
    {"of_two_runs", of_two_runs, false, ""},
    {"in_region", in_region, false,
     "watch, compute, 1, Rank 1 alone spends more time in compute from 3 s on\n"
     "  Rank 1 alone spends 50 % of its time in compute from 3 s on; the 3 other ranks 20 % to 25 %\n"},
    {"in_region_of_threads", in_region_of_threads, false,
     "info, compute, 1, Rank 1 alone spends less time in compute\n"
     "  Rank 1 alone has 2.50 threads in compute; the 3 other ranks 4 threads\n"},
    {"in_region_silent", in_region_silent, false,
     "info, compute, 1, Rank 1 alone spends less time in compute from 3 s on\n"
     "  Rank 1 alone spends next to no time in compute from 3 s on; the other rank 20 % to 25 %\n"},
};

static void put_notes(const job *j, char *text, size_t size)
{
    size_t used = 0;
    *text = 0;
    for (size_t i = 0; i < j->r.note_count; i++) {
        const regions_note *n = &j->r.notes[i];
        used += (size_t)snprintf(text + used, size - used, "%s, %s, %s, %s\n  %s\n", severity_name(n->severity),
                                 n->node == REGIONS_NONE ? "-" : j->nodes[n->node].name,
                                 n->rank == REGIONS_NONE ? "-" : j->ranks[n->rank].label, n->title ? n->title : "-",
                                 n->text);
        assert_true(used < size);
        if (n->meanwhile)
            used += (size_t)snprintf(text + used, size - used, "  meanwhile: %s\n", n->text + n->meanwhile);
    }
}

static void notes_of_situations(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(situations); i++) {
        const situation *x = &situations[i];
        char text[4000];
        job *j = job_make();
        x->make(j);
        size_t before = j->worst_count;
        bool blamed = regions_blame(&j->r, j->worst, &j->worst_count);
        regions_say_over_time(&j->r, REGIONS_NONE);
        put_notes(j, text, sizeof text);
        if (strcmp(text, x->notes) != 0) fail_msg("%s:\n%sis not\n%s", x->name, text, x->notes);
        if (blamed != x->blamed) fail_msg("%s: blamed %d", x->name, blamed);
        assert_int_equal(j->worst_count, strstr(text, "meanwhile: in") ? before - 1 : before); // told with who is held
        job_free(j);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(notes_of_situations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

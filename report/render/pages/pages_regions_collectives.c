#include "pages_regions_collectives.h"
#include "pages_lanes.h"

#include "analysis/base/words.h"
#include "analysis/regions/regions_blocks.h"
#include "render/base/number.h"

#include <math.h>

enum { COLLECTIVES_COLUMNS = 240 };

// The mean of the ranks that were in MPI's time then; where none was, nobody knows.
static double collectives_in_mpi(const regions *r, double from_ns, double to_ns)
{
    double sum = 0, known = 0;
    for (size_t i = 0; i < r->rank_count; i++) {
        const regions_blocks *b = &r->ranks[i].blocks;
        double from = fmax(from_ns, (double)b->began_ns), to = fmin(to_ns, (double)b->ended_ns);
        if (!b->count || to <= from) continue;
        sum += regions_blocks_inside(b, from, to);
        known += to - from;
    }
    return known > 0 ? fmin(sum / known, 1) : NAN;
}

// Between MPI_Init of the first rank and MPI_Finalize of the last one, as far as all ranks tell.
static void collectives_run_of_mpi(const regions *r, double *from_ns, double *to_ns)
{
    *from_ns = INFINITY;
    *to_ns = 0;
    for (size_t i = 0; i < r->rank_count; i++) {
        const regions_blocks *b = &r->ranks[i].blocks;
        *from_ns = fmin(*from_ns, b->count ? (double)b->began_ns : 0);
        *to_ns = fmax(*to_ns, b->count && r->ranks[i].ended ? (double)b->ended_ns : INFINITY);
    }
}

// A row of the time in MPI, as far as its stretches tell; false: the ranks kept none.
static bool collectives_mpi_row(arena *memory, const regions *r, const pages_time *time, map_row *row)
{
    double *values = arena_make(memory, time->columns, sizeof *values), step = pages_time_column_s(time), longest = 0;
    double began, ended;
    char *states = arena_make(memory, time->columns, 1);
    size_t ranks = 0;
    collectives_run_of_mpi(r, &began, &ended);
    for (size_t i = 0; i < r->rank_count; i++) {
        ranks += r->ranks[i].blocks.count > 0;
        longest = fmax(longest, r->ranks[i].blocks.count ? (double)r->ranks[i].blocks.block_ns : 0);
    }
    for (size_t i = 0; i < time->columns; i++) {
        double from = (double)r->wall_ns + step * (double)i * 1e9;
        values[i] = collectives_in_mpi(r, from, from + step * 1e9);
        states[i] = from + step * 1e9 <= began || from >= ended ? MAP_NOT_THERE : MAP_MEASURED;
    }
    *row = (map_row){.label = arena_format(memory, "in MPI, mean of %s, by %s", words_many(ranks, "rank").text,
                                           number_duration(longest / 1e9).text),
                     .values = values,
                     .states = states};
    return ranks > 0;
}

void pages_regions_collectives(document *doc, arena *memory, const regions *r, const nccl_lanes *collectives)
{
    map_row above;
    if (!collectives || !collectives->count || r->runs > 1 || r->wall_ns <= 0 || r->elapsed_ns <= 0) return;
    const pages_time time = {0, (double)r->elapsed_ns / 1e9, COLLECTIVES_COLUMNS, r->wall_ns};
    const axes_span run = {0, time.to_s, "the regions' run", INK_PHASE};
    const pages_lanes p = {.memory = memory,
                           .lanes = collectives,
                           .time = &time,
                           .question = "from the first region's begin to the last file's writing",
                           .phases = &run,
                           .phase_count = 1,
                           .above = &above,
                           .above_count = collectives_mpi_row(memory, r, &time, &above)};
    pages_lanes_add(doc, &p);
}

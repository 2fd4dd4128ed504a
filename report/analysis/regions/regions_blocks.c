#include "regions_blocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int64_t regions_block_number(const netprof_fact *facts, size_t count, const char *key)
{
    const char *text = netprof_fact_of(facts, count, key);
    char *end;
    if (!text || *text < '0' || *text > '9' || strlen(text) > 19) return -1;
    int64_t number = strtoll(text, &end, 10); // INT64_MAX if it is more
    return *end || number == INT64_MAX ? -1 : number;
}

static size_t regions_blocks_list(regions_blocks *b, const char *text)
{
    size_t count = 0;
    while (*text && count < REGIONS_BLOCKS) {
        char *end;
        long value = strtol(text, &end, 10);
        if (end == text || value < 0 || value > 10000 || (*end && *end != ',')) return 0;
        b->inside[count++] = (uint16_t)value;
        text = *end ? end + 1 : end;
    }
    return *text ? 0 : count;
}

bool regions_blocks_read(regions_blocks *b, const netprof_fact *facts, size_t count)
{
    const char *list = netprof_fact_of(facts, count, "mpi_inside");
    *b = (regions_blocks){.began_ns = regions_block_number(facts, count, "mpi_began_ns"),
                          .ended_ns = regions_block_number(facts, count, "mpi_ended_ns"),
                          .block_ns = regions_block_number(facts, count, "mpi_block_ns"),
                          .first = regions_block_number(facts, count, "mpi_first_block")};
    if (b->began_ns <= 0 || b->ended_ns <= b->began_ns) {
        *b = (regions_blocks){0};
        return false;
    }
    if (b->block_ns > 0 && b->first >= 0 && list) b->count = regions_blocks_list(b, list);
    return b->count > 0;
}

double regions_blocks_inside(const regions_blocks *b, double from_ns, double to_ns)
{
    double sum = 0, length = (double)b->block_ns, start = (double)b->first * length;
    for (size_t i = 0; i < b->count; i++) {
        double begin = start + (double)i * length, end = begin + length;
        double part = fmin(end, to_ns) - fmax(begin, from_ns);
        if (part > 0) sum += part * b->inside[i] / 10000.0;
    }
    return fmin(sum, to_ns - from_ns);
}

bool regions_blocks_common(const regions *r, double *from_ns, double *to_ns)
{
    double longest = 0;
    *from_ns = 0;
    *to_ns = INFINITY;
    for (size_t i = 0; i < r->rank_count; i++) {
        const regions_blocks *b = &r->ranks[i].blocks;
        if (!b->count) return false;
        *from_ns = fmax(*from_ns, (double)b->began_ns);
        *to_ns = fmin(*to_ns, (double)b->ended_ns);
        longest = fmax(longest, (double)(b->ended_ns - b->began_ns));
    }
    return r->rank_count > 0 && *to_ns - *from_ns > 0.5 * longest;
}

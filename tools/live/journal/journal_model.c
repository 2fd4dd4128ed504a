#include "journal_model.h"

#include "live/spool/little.h"
#include "live/spool/spool_segments.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <stdlib.h>

char *journal_stream_key(const char *node, const unsigned char stream[16])
{
    return memory_format("%016llx%016llx %s", (unsigned long long)little_get(stream, 8),
                         (unsigned long long)little_get(stream + 8, 8), node);
}

char *journal_segment_path(const char *directory, uint64_t number)
{
    char *inside = memory_format("%s/journal", directory), *path = spool_segment_path(inside, number);
    free(inside);
    return path;
}

int journal_segments_list(const char *directory, journal_segment **out)
{
    spool_segment *found = NULL;
    char *inside = memory_format("%s/journal", directory);
    int error = spool_segments_list(inside, &found);
    for (size_t i = 0; i < arrlenu(found); i++)
        arrput(*out, ((journal_segment){.number = found[i].first, .bytes = found[i].bytes}));
    arrfree(found);
    free(inside);
    return error;
}

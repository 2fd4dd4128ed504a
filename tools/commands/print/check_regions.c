#include "check_regions.h"

#include "analysis/base/directory.h"
#include "analysis/base/memory.h"
#include "analysis/base/words.h"
#include "analysis/regions/regions.h"
#include "cli/inputs.h"
#include "cli/output.h"

#include <stdlib.h>

static void check_regions_print(const regions *job, const char *path)
{
    printf("Regions of %s: %s\n", words_many(job->rank_count, "process|processes").text, safe(job->title));
    for (size_t i = 0; i < job->note_count && job->notes[i].severity >= SEVERITY_WATCH; i++)
        printf("%-8s  %s\n", severity_name(job->notes[i].severity), safe(job->notes[i].text));
    printf("'netprof regions %s' tells more.\n\n", safe(path));
}

static severity check_regions_of(const char *path, const rules *set, bool json, bool *blind)
{
    regions job = {0};
    netprof_error error;
    severity found = SEVERITY_OK;
    if (!(inputs_hold(path) & PARTS_REGIONS)) return found;
    if (regions_read(&job, &path, 1, &(regions_options){.rules = set}, &error)) {
        *blind = true;
        char *where = memory_strdup(safe(*error.path ? error.path : path));
        warn("%s: its regions could not be judged: %s", where, error_text(&error));
        free(where);
    } else {
        found = job.severity;
        if (json)
            warn("%s: regions of %s, not in this document: %s", safe(path),
                 words_many(job.rank_count, "process|processes").text, safe(job.title));
        else
            check_regions_print(&job, path);
    }
    regions_free(&job);
    return found;
}

severity check_regions(const char *const *paths, size_t count, const rules *set, bool json, bool *blind)
{
    severity worst = SEVERITY_OK;
    for (size_t i = 0; i < count; i++) {
        severity found = listing_is_directory(paths[i]) ? check_regions_of(paths[i], set, json, blind) : SEVERITY_OK;
        if (found > worst) worst = found;
    }
    return worst;
}

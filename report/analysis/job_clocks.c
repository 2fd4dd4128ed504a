#include "job_clocks.h"

#include "clocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool job_clocks(void *text, const job_clock_run *runs, size_t count, double *shift_s, double *uncertainty_s)
{
    clocks_input *inputs = calloc(count + 1, sizeof *inputs);
    clocks found = {0};
    if (!inputs) return false;
    for (size_t i = 0; i < count; i++) {
        inputs[i] = (clocks_input){.name = runs[i].node, .boot_id = runs[i].boot_id, .wall_ns = runs[i].wall_ns,
                                   .mono_ns = runs[i].mono_ns, .end_wall_ns = runs[i].end_wall_ns,
                                   .end_mono_ns = runs[i].end_mono_ns};
        clocks_take_facts(&inputs[i], runs[i].facts, runs[i].fact_count);
    }
    bool known = !clocks_find(&found, inputs, count, NULL, 0);
    size_t told = 0; // clocks that files tell of beside the reference's own
    for (size_t i = 0; known && i < count; i++) {
        told += found.runs[i].basis != CLOCKS_NOTHING && i != found.reference;
        shift_s[i] = (double)found.runs[i].offset_ns * 1e-9;
        uncertainty_s[i] = found.runs[i].error_ns == CLOCKS_UNKNOWN_NS ? NAN : (double)found.runs[i].error_ns * 1e-9;
    }
    if (known && text && found.text) {
        free(*(char **)text);
        *(char **)text = strdup(found.text);
    }
    clocks_free(&found);
    free(inputs);
    return known && (told || count < 2);
}

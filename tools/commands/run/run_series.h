// -r: the same work several times; what it took and moved in the mean, how much that varies, and which runs stand apart.
#ifndef TOOLS_RUN_SERIES_H
#define TOOLS_RUN_SERIES_H

#include "analysis/base/json.h"
#include "analysis/data/repeats.h"
#include "run_model.h"

// Start from {0}.
typedef struct run_series {
    repeats figures;
    uint64_t *numbers; // of the runs in the figures, from 1; an stb_ds array
    uint64_t taken;    // runs that were started
    json_object *runs; // each for itself; NULL: nobody asked
    char *failed;      // "run 3 ended with exit status 1, run 7 ...", the first few; NULL: none
    uint64_t failures;
    uint64_t timed_out;  // of them; these are in no figure
    uint64_t broken_off; // the run that the user ended, which is in no figure either; 0: none
    int status;          // the exit status of the last run, or of the last one that failed
} run_series;

void run_series_add(run_series *s, const execution *e);
void run_series_print(FILE *to, run_series *s, const run_request *ask);
// The number of the run in the figures whose time is the median, of an even number the shorter of the two; 0: none.
uint64_t run_series_median(const run_series *s);
void run_series_free(run_series *s);

// The file of run `number` of `count`: DIRECTORY/run-03.netprof where the output is one, otherwise NAME.03.netprof; free it.
char *run_series_path(const char *output, uint64_t number, uint64_t count);
// The directory of that run, for the files of its ranks; free it.
char *run_series_directory(const char *output, uint64_t number, uint64_t count);
// Makes the directory, if it is one. Returns an exit code after saying what is wrong: it holds runs already.
int run_series_prepare(const char *output, bool directory);

#endif

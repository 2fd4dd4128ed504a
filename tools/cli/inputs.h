// Files as the commands read them: a data set, with what is wrong in them said on the standard error.
#ifndef TOOLS_INPUTS_H
#define TOOLS_INPUTS_H

#include "analysis/data/dataset.h"
#include "analysis/data/difference.h"
#include "analysis/base/directory.h"
#include "analysis/data/file_parts.h"
#include "analysis/rules/rules.h"

// Reads the files, and of directories every *.netprof in them (not those below) by their names. What cannot be used of a
// directory is a warning. Returns an exit code after saying what is wrong: EXIT_DONE also when parts are missing.
int inputs_read(dataset *set, const char *const *paths, size_t count, const dataset_options *options);
// Adds the *.netprof of a directory by name. Returns an exit code after saying what is wrong: also that there is none.
int inputs_list(listing *l, const char *directory);
size_t inputs_count(const char *const *paths, size_t count); // of files, those of directories among them
// What a file, or the files of a directory, hold: PARTS_... of parts.h.
unsigned inputs_hold(const char *path);
// What processes sampled of their own regions is no reading of a node: left out, unless there is nothing else.
void inputs_drop_series(dataset *set);
// Is it one run, from the first of its runs to the last? Else each is a run of a node of its own.
bool inputs_are_one_run(const dataset *set);
// From the first snapshot of the first to the last of the last. Returns an exit code, after saying what stands against
// it: one snapshot only, different hosts or boots, the wrong order.
int inputs_compare(difference *d, const dataset *set, bool force);
// The built-in rules, and those of the file (NULL: none); its bad lines are said.
int inputs_rules(rules *set, const char *path);
// Is any of them cut or damaged?
bool inputs_damaged(const dataset *set);

#endif

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
// Adds the *.netprof of a directory by name. Returns an exit code after saying what is wrong, or that the directory has none.
int inputs_list(listing *l, const char *directory);
size_t inputs_count(const char *const *paths, size_t count); // of files, those of directories among them
// Contents of a file, or of the files of a directory: PARTS_... of file_parts.h.
unsigned inputs_hold(const char *path);
// Leaves out series of regions, which are no readings of a node, unless there is nothing else.
void inputs_drop_series(dataset *set);
// True if the runs are one, from the first to the last; otherwise each is a run of another node.
bool inputs_are_one_run(const dataset *set);
// Compares the first snapshot of the first run with the last of the last. Returns an exit code, after saying what forbids
// it: one snapshot only, a file given twice, different hosts or boots, no device in common, the wrong order.
int inputs_compare(difference *d, const dataset *set, bool force);
// The built-in rules, and those of the file (NULL: none); its bad lines are said.
int inputs_rules(rules *set, const char *path);
// True if any of them is cut or damaged.
bool inputs_damaged(const dataset *set);

#endif

// Files as the commands read them: a data set, with what is wrong in them said on the standard error.
#ifndef TOOLS_INPUTS_H
#define TOOLS_INPUTS_H

#include "dataset.h"
#include "difference.h"
#include "rules.h"

// Reads the files. Returns an exit code after saying what is wrong: EXIT_DONE also when parts are missing.
int inputs_read(dataset *set, const char *const *paths, size_t count, const dataset_options *options);
// From the first snapshot of the first to the last of the last. Returns an exit code, after saying what stands against
// it: one snapshot only, different hosts or boots, the wrong order.
int inputs_compare(difference *d, const dataset *set, bool force);
// The built-in rules, and those of the file (NULL: none); its bad lines are said.
int inputs_rules(rules *set, const char *path);
// Is any of them cut or damaged?
bool inputs_damaged(const dataset *set);

#endif

// One execution: from the first reading to the last.
#ifndef TOOLS_RUN_EXECUTE_H
#define TOOLS_RUN_EXECUTE_H

#include "run_model.h"

// Blocks the signals; once for all runs. Returns an exit code after saying what is wrong.
int run_listen(run_request *ask);
// Opens what is read, and the file at `path` (NULL: none), whose name may hold %h and so on.
int run_open(execution *e, const char *path);
// Starts the command, if there is one, and measures. Returns an exit code after saying why it could not be started.
int run_execute(execution *e);
// A command around the runs, not measured. Returns its exit status.
int run_hook(const run_request *ask, const char *command);
// What the user sent meanwhile to end it all, or 0.
int run_was_interrupted(const run_request *ask);
// keep: the file. Returns an exit code after saying what is wrong with it.
int run_close(execution *e, bool keep);
void run_free(execution *e);

#endif

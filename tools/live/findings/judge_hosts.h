// The nodes of a window: what the head says of them, and their recordings. Thread rule: one thread.
#ifndef LIVE_JUDGE_HOSTS_H
#define LIVE_JUDGE_HOSTS_H

#include "judge_model.h"

// Takes over what status.json says.
void judge_take_status(judge *j, int64_t wall_ns);
// Writes a recording of the window into `work` for each node that can be judged; the others have a state and a text why not.
// Returns an exit code after saying what is wrong.
int judge_write_window(judge *j, const char *work);

#endif

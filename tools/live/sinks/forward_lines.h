// Readings as line protocol. Thread rule: one thread.
#ifndef LIVE_FORWARD_LINES_H
#define LIVE_FORWARD_LINES_H

#include "forward_model.h"

// Sends what came since the last call and is complete. Returns an exit code after saying what is wrong; what the target did not
// take is tried again by the next call.
int forward_lines(forward *f, int64_t wall_ns);
// A line of line protocol with its stamp in ns: is it of the intervals behind `after`, and up to `last`? Where stamps are in
// seconds the stamp is made so, in place; *size is the line's, with its end.
bool forward_line(char *line, size_t *size, int64_t interval_ns, int64_t after, int64_t last, bool ns);

#endif

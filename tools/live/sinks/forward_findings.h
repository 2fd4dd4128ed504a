// Findings as Elasticsearch's _bulk. Thread rule: one thread.
#ifndef LIVE_FORWARD_FINDINGS_H
#define LIVE_FORWARD_FINDINGS_H

#include "forward_model.h"

// Sends findings that began, ended or became another severity since the last call, and those that go on once a minute. What the
// target did not take is tried again by the next call.
void forward_findings(forward *f, int64_t wall_ns);

#endif

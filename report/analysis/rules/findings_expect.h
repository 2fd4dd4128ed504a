// What a site expects of a node: devices that must be there, with their link up and at least this fast. Each that is not
// as expected is a finding of the rules expected-missing, expected-down and expected-slow.
#ifndef NETPROF_FINDINGS_EXPECT_H
#define NETPROF_FINDINGS_EXPECT_H

#include "findings_model.h"

// "cxi0-7", "hsn0@200G,mlx5_0/1": names and ranges by commas. False: *problem, which the caller frees, says why not.
bool expected_parse(expected_devices *x, const char *list, char **problem);
// The ports of a node that was read when all was well: those whose link was up, at their speed then.
void expected_of_node(expected_devices *x, const difference *d);
void expected_free(expected_devices *x);

#endif

// Reading a .netprof file that another process still writes: each look delivers what is new.
//
// The library's reader decodes a whole file, so what it needs to understand the next chunks is kept: the header, the
// schemas, and of each schema the snapshots since the last one that can be read alone.
#ifndef WATCH_FOLLOW_H
#define WATCH_FOLLOW_H

#include "netprof.h"

#include <stdbool.h>

typedef struct follow follow;

// Called for each snapshot, once, in the file's order.
typedef void follow_take(void *user, const netprof_snapshot *snapshot);

// The file is opened at the first look.
follow *follow_open(const char *path);
// Reads what was appended. A file that was replaced or cut begins anew. NETPROF_OK also when there is nothing new.
netprof_err follow_look(follow *f, follow_take *take, void *user, netprof_error *error);
// Where all of it can be read from the start: another path than the one that was opened, where that one is packed.
const char *follow_path(const follow *f);
bool follow_ended(const follow *f); // the recorder closed it properly
void follow_close(follow *f);

#endif

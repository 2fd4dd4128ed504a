// Readings of many nodes, kept small: nodes that are built alike share one schema, and a reading is its values and what is known
// of them. Thread rule: one thread fills and frees; others may read while they hold the lock that the owner says.
#ifndef LIVE_WEB_KEPT_H
#define LIVE_WEB_KEPT_H

#include "netprof.h"

#include <stdbool.h>

typedef struct kept_schemas kept_schemas;
typedef struct kept_schema kept_schema;

typedef struct kept {
    const netprof_schema *schema; // shared; of its facts those alone that tell GPUs apart. NULL: there is no reading
    int64_t begin_ns, end_ns, wall_ns, stamp_error_ns;
    netprof_set set;
    unsigned char hash[32]; // of the preamble that it came with: the whole schema, with all facts
    // Private.
    kept_schema *shared;
    unsigned char *data; // all else of it, packed: a third of the size, or less
    size_t bytes;
} kept;

kept_schemas *kept_schemas_open(void);
size_t kept_schemas_count(const kept_schemas *k);
void kept_schemas_close(kept_schemas *k); // after all readings were freed

// k: {0}, or a reading, which is replaced. like: another one of the same node, {0} or k: most often of the same schema.
void kept_take(kept *k, const kept *like, kept_schemas *schemas, const netprof_snapshot *s,
               const unsigned char hash[32]);
// Whether it came with this preamble.
bool kept_is_of(const kept *k, const netprof_schema *schema, const unsigned char hash[32]);
// The reading again, of a schema with as many counters and devices. to: NETPROF_ZERO, or one to be replaced.
void kept_give(const kept *k, const netprof_schema *schema, netprof_snapshot *to);
void kept_free(kept *k, kept_schemas *schemas);

#endif

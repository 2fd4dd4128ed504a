// The catalog's knowledge of a schema's counters, looked up once.
#ifndef EXPORT_KNOWN_H
#define EXPORT_KNOWN_H

#include "export.h"

typedef struct known_counter {
    const char *source, *device, *name, *unit, *kind, *role, *description;
    bool wanted, trouble, is_signed;
    size_t column, rate_column; // of the wide tables, or (size_t)-1
} known_counter;

typedef struct known_schema {
    const netprof_schema *schema; // retained
    known_counter *counters;
} known_schema;

// Nothing happens when it is about this schema already. True when it was not.
bool known_of(known_schema *k, const netprof_schema *schema, const export_options *options);
void known_free(known_schema *k);
// Is the counter among those that --include and --exclude choose?
bool known_wanted(const export_options *options, const char *source, const char *device, const char *counter);

#endif

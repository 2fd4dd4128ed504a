// The formats that netprof-export writes. A new one is a name here and a driver in sinks/sink_NAME.c.
#ifndef EXPORT_FORMATS_H
#define EXPORT_FORMATS_H

#include "export.h"

#define EXPORT_FORMATS(X) X(csv) X(json) X(sqlite) X(hdf5) X(parquet) X(arrows) X(perfetto) X(influx) X(openmetrics)

#define EXPORT_FORMAT_DRIVER(name) extern const export_driver export_##name;
EXPORT_FORMATS(EXPORT_FORMAT_DRIVER)

#define EXPORT_FORMAT_NAME(name) "|" #name
#define EXPORT_FORMAT_NAMES      (&(EXPORT_FORMATS(EXPORT_FORMAT_NAME))[1]) // "csv|json|..."

const export_driver *export_format_named(const char *name); // or NULL
// "csv, json or sqlite"; free it.
char *export_format_list(void);

#endif

// Names, units and labels of OpenMetrics 1.0, which parse as Prometheus' text format 0.0.4, too. What is no
// UTF-8 is replaced. Thread rule: any.
#ifndef NETPROF_OPENMETRICS_H
#define NETPROF_OPENMETRICS_H

// What a name may hold: [a-zA-Z0-9_]; the rest is _. free() it, as all that follows.
char *openmetrics_name(const char *text);
// The base unit of Prometheus for a unit of counters, "" for none, and what values are divided by.
const char *openmetrics_base(const char *unit, double *divisor);
// netprof_SOURCE_COUNTER, with its base unit at the end. Endings that mean something else are given up.
char *openmetrics_family(const char *source, const char *counter, const char *base);
char *openmetrics_escaped(const char *text);
// Appends KEY="VALUE" to the labels, unless there is no value; frees what it was given.
char *openmetrics_label(char *labels, const char *key, const char *value);

#endif

// Values and rates in SQLite, in few bytes each: a counter's names, a snapshot's time and what a status means stand once, in
// tables of their own, and the views counter_values and counter_rates put them together again.
#ifndef SINK_SQLITE_READINGS_H
#define SINK_SQLITE_READINGS_H

#ifdef EXPORT_HAS_SQLITE
#include "export/export.h"

#include <sqlite3.h>

typedef struct sqlite_readings sqlite_readings;

// NULL after export_fail().
sqlite_readings *sqlite_readings_open(export_sink *sink, sqlite3 *db);
// Rows of EXPORT_VALUES and of EXPORT_RATES, as they come.
void sqlite_readings_take(sqlite_readings *r, export_id id, const export_cell *cells);
// Writes what was gathered, and makes the views of those that were begun. False after export_fail().
bool sqlite_readings_finish(sqlite_readings *r, bool values, bool rates);
void sqlite_readings_close(sqlite_readings *r); // NULL too
#endif

#endif

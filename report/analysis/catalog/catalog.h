// The catalog: unit, kind, width, groups, description and reliability of counters, as data.
//
// The tables are the files catalog_*.csv beside this one; they are compiled in. A row names a counter or a
// glob pattern ('*', '?'); an exact name wins over a pattern, an earlier pattern over a later one.
//
// Thread rule: any. The tables are unpacked by the first call of any function here (about a millisecond) and
// never change afterwards; what is returned is valid until the process ends.
#ifndef NETPROF_CATALOG_H
#define NETPROF_CATALOG_H

#include "netprof.h"

#include <stdbool.h>

// Marks of a counter.
#define CATALOG_CLOCK_ONLY  0x0001u // grows with time whether or not there is traffic
#define CATALOG_UNUSABLE    0x0002u // hardware erratum: the value means nothing
#define CATALOG_UNRELIABLE  0x0004u // hardware erratum: wrong under conditions that the note names
#define CATALOG_OVERCOUNTS  0x0008u
#define CATALOG_UNDERCOUNTS 0x0010u
#define CATALOG_IMPORTANT   0x0020u // one of the 16 that net_prof shows for every interface
#define CATALOG_FAST        0x0040u // member of the source's fast set
#define CATALOG_TX_BYTES    0x0080u // the device's bytes sent, ...
#define CATALOG_RX_BYTES    0x0100u
#define CATALOG_TX_PACKETS  0x0200u
#define CATALOG_RX_PACKETS  0x0400u
#define CATALOG_CASSINI_2   0x0800u // only Cassini-2 has it
#define CATALOG_PATTERN     0x1000u // the row is a pattern and describes a family of counters
#define CATALOG_HARMLESS    0x2000u // healthy hardware counts this all the time: no trouble, whatever its unit
#define CATALOG_SAME_AS     0x4000u // counts the same events as entry->same_as of its device: never add the two
// The device's packets are the sum of all its counters with this mark, where no single counter has them.
#define CATALOG_TX_PACKETS_PART 0x8000u
#define CATALOG_RX_PACKETS_PART 0x10000u
#define CATALOG_TIME_DRIVEN     0x20000u  // grows while the link is up, whatever the traffic: never taken per byte
#define CATALOG_FAULT           0x40000u  // a fault raises it, though its unit and group do not say so
#define CATALOG_WAITING         0x80000u  // waiting or congestion raises it, though its unit does not say so
#define CATALOG_TIME_OF_DAY     0x100000u // a moment: its difference from another run's means nothing
#define CATALOG_RX_ERRORS       0x200000u // packets that the device received damaged; what has the same mark adds up ...
#define CATALOG_TX_ERRORS       0x400000u
#define CATALOG_RX_DROPS        0x800000u // ... or whole, and dropped
#define CATALOG_TX_DROPS        0x1000000u
#define CATALOG_BAD             (CATALOG_UNUSABLE | CATALOG_UNRELIABLE | CATALOG_OVERCOUNTS | CATALOG_UNDERCOUNTS)

typedef struct catalog_entry {
    const char *source;      // "cxi"
    const char *name;        // or the pattern
    const char *unit;        // as in catalog_units.csv; "" when unknown
    const char *description; // "" when unknown
    const char *note;        // about its reliability or meaning; "" when there is nothing to say
    const char *same_as;     // the better counter of the same events; "" if there is none
    uint64_t groups;         // bit i: catalog_group_at(i)
    uint32_t marks;
    uint8_t kind;            // netprof_kind
    uint8_t width;           // bits, 0 unknown; on Cassini-1 where the two differ
    uint8_t width_cassini_2; // 0: as width
} catalog_entry;

typedef struct catalog_group {
    const char *source;
    const char *name;        // "CxiPerfStats"
    const char *title;       // "performance"
    const char *description; // one sentence
    bool trouble;            // its counters mean trouble whatever their unit
} catalog_group;

void catalog_init(void); // optional: unpacks the tables now

// NULL if the catalog does not have it.
const catalog_entry *catalog_find(const char *source, const char *counter);
// Marks by name. Unlike entry->marks they hold also for counters that have no row of their own.
uint32_t catalog_marks(const char *source, const char *counter);
// How many rows of the source have one of the marks.
size_t catalog_count(const char *source, uint32_t marks);
// True if it grows only when something goes wrong: errors, drops, repetition. Judged by its group, else by its unit (as
// the reader knows it, for counters that the catalog does not have).
bool catalog_is_trouble(const char *source, const char *counter, const char *unit);
// All rows, patterns included, in table order; NULL after the last.
const catalog_entry *catalog_at(size_t index);

// Groups, NULL after the last. A counter may be in several.
const catalog_group *catalog_group_at(size_t index);
#define CATALOG_NO_GROUP ((size_t)-1)
size_t catalog_group_find(const char *name); // letter case is ignored; CATALOG_NO_GROUP when there is none

// Name of a single mark ("clock_only"); "" for none.
const char *catalog_mark_name(uint32_t mark);

// Rank of a unit, 0 for the most important; units that the catalog does not know come last.
size_t catalog_unit_rank(const char *unit);
// True if a short summary shows counters of this unit beside those of trouble: what was moved, and waited for.
bool catalog_unit_is_leading(const char *unit);

// net_prof's order of counters, that of `ls` in the locale en_US: underscores are ignored at first.
int catalog_name_compare(const char *a, const char *b);
// The Cassini-1 counters in that order; a counter's place in it is net_prof's metric id, 1 for the first.
const char *const *catalog_cassini_1_names(size_t *count);

#endif

// What a rank does in a region: its own work, moving data, or waiting for other ranks. One table for the calls of MPI.
#ifndef NETPROF_REGIONS_CALLS_H
#define NETPROF_REGIONS_CALLS_H

#include <stdbool.h>
#include <stddef.h>

typedef enum regions_class {
    REGIONS_WORK = 0, // the user's own code
    REGIONS_MOVES,    // MPI, without waiting for what another rank does: non-blocking starts, single-rank file access
    REGIONS_APART,    // start and end of MPI: launchers, not the program
    REGIONS_POLLS,    // asks whether something has come: much of it is a wait in pieces
    REGIONS_PEER,     // ends when some other rank did its part
    REGIONS_ALL       // ends when all ranks of a communicator, window or file came
} regions_class;

typedef struct regions_call_row {
    const char *name; // without MPI_
    regions_class kind;
    const char *reason;
} regions_call_row;

extern const regions_call_row regions_call_rows[];
extern const size_t regions_call_row_count;

bool regions_is_mpi_name(const char *name);         // of libnetprof-mpi.so
const char *regions_class_name(regions_class kind); // "work", "waits for all", ...
bool regions_class_waits(regions_class kind);
// Of a region's name. MPI calls that are not in the table do not wait for another rank. Of the user's own names only
// words tell (wait, barrier, exchange, ...); where MPI itself is measured, pass false: then they are work.
regions_class regions_class_of(const char *name, bool by_words);

#endif

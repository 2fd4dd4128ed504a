// One of the things that are watched: this node, or a recording; what is known about it, and the moment that is shown.
#ifndef WATCH_RECORDING_H
#define WATCH_RECORDING_H

#include "follow.h"
#include "history.h"
#include "trails.h"
#include "view.h"

typedef struct recording {
    const char *path; // NULL: this node
    follow *file;
    history history;
    trails trails;
    view *view;    // NULL: there are no two readings yet
    bool fresh;    // there are readings that were not shown yet
    char *trouble; // why there is nothing new; NULL
    // A moment of the past: the reading that is shown, and of how many. 0: the last one, as it comes.
    size_t sought, readings;
    trails past;
} recording;

// Of a file: takes what was appended. The error is kept as trouble, too.
netprof_err recording_look(recording *r, netprof_error *error);
void recording_take(recording *r, const netprof_snapshot *s);
void recording_make_view(recording *r, const rules *set);
// Shows the reading so many readings and seconds after the one that is shown, before it where they are negative; beyond
// the last one the recording is followed again. Nothing happens without a file.
void recording_seek(recording *r, const rules *set, long readings, double seconds);
const trails *recording_trails(const recording *r); // up to the moment that is shown
bool recording_ended(const recording *r);
double recording_age_s(const recording *r); // since the last reading
// A name that fits into a table: the host, or the file's name.
const char *recording_name(const recording *r);
void recording_free(recording *r);

#endif

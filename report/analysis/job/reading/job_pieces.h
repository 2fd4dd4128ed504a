// A file of a job in memory: what it tells of its node, before it is part of the report. Pieces are made by several threads
// (job_reading.c) and join the report in the order of the files, so that the report is the same whoever made them.
// Private to the job report. Thread rule: one thread at a time for each piece, any for different ones.
#ifndef NETPROF_JOB_PIECES_H
#define NETPROF_JOB_PIECES_H

#include "analysis/job/job_model.h"
#include "analysis/job/job_store.h"

enum { JOB_PIECE_MOST_BYTES = 16 << 20 }; // of its file

typedef struct job_piece {
    job_report report; // of this file alone
    dataset set;       // its ends
    bool (*claim)(void *claims, const char *node);
    void *claims;
    bool begun, useless;
} job_piece;

// Reads a file into the report: all that is known about it becomes part of it, or a warning.
void job_read_recording(job_report *r, const char *path);
// Reads and judges a recording of one node, which is not the job's first. NULL: it is not so simple, or cannot be used:
// job_read_recording() reads it, and says so. claim(): is this the first file of that node?
job_piece *job_piece_read(const char *path, const job_report_options *options, bool (*claim)(void *, const char *),
                          void *claims);
void job_piece_free(job_piece *p);
// Makes a piece part of the report, if its node is not in it; false: read the file with job_read_recording().
bool job_piece_use(job_report *r, job_piece *p);

// ---- job_join.c ----

// Is the piece's node new, and does it take each counter for what the files before took it for?
bool job_piece_agrees(const job_report *r, const job_report *piece);
// Moves all that the piece has into the report.
void job_piece_join(job_report *r, job_report *piece);

// ---- job_reading.c ----

#define JOB_PHASES_ENDING ".phases" // of names of files of phases

bool job_is_of_phases(const char *path);
// Reads all files, in as many threads as are worth it.
void job_read_files(job_report *r, const char *const *paths, size_t count);

#endif

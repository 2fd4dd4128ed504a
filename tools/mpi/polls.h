// Waiting by asking: a rank that calls MPI_Test, MPI_Iprobe and their like until something comes waits between these
// calls, too. Between two calls in a row that found nothing, the time counts as waiting where it is so short that it did
// nothing but ask again, or where the thread hardly used a CPU (it slept, or gave the CPU away). What is longer than the one
// and too short to tell the other may have been work or waiting: it is summed apart. A long time in which the thread used the
// CPU was work, where that was asked; else it is in doubt, too.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Of the call of this thread that is open: it asks, and something had come or not. Returns 0.
int64_t polls_answered(bool came);

// Is there anything to be told by polls_call_ended()?
bool polls_goes_on(void);

// A stretch that this thread spent in a call, or in several and between them; nanoseconds of a clock that goes on.
typedef struct polls_stretch {
    int64_t from_ns, to_ns;
} polls_stretch;

// A call of MPI begins; it ended: at most two stretches are over. Times above 0.
void polls_call_begins(void);
size_t polls_call_ended(int64_t begin_ns, int64_t end_ns, polls_stretch over[2]);
// A call ended of which no times are known.
void polls_forget(void);

// Sums of all threads so far, between calls: what was waiting, and what may have been work or waiting.
int64_t polls_waited_ns(void);
int64_t polls_between_ns(void);

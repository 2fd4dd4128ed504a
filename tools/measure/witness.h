// Was a signal sent to the whole process group, or to this process alone? The signal itself does not say. A second
// process of the group, the witness, gets the former only.
#ifndef TOOLS_WITNESS_H
#define TOOLS_WITNESS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct witness {
    pid_t process;    // 0: there is none
    int words;        // what it saw, a byte for each signal, and its answers
    uint8_t question; // the last one
    uint64_t seen;    // a bit for each signal that nobody asked for since
} witness;

// The signals are blocked already, and stay so in the witness. Without a process for it nothing is ever seen.
void witness_start(witness *w, const sigset_t *signals);
// Did the witness get this signal, too, since the last question after it? Waits for its answer, at most some seconds.
bool witness_saw(witness *w, int number);
void witness_end(witness *w); // a zeroed one, too

#endif

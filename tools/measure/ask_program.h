// Another program that is asked something: started without a shell, read as it answers, ended when it takes too long.
#ifndef TOOLS_ASK_PROGRAM_H
#define TOOLS_ASK_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// Start from {0}; question_end() at the end.
typedef struct question {
    pid_t child; // 0: none
    int fd;
    int64_t until_ns; // CLOCK_MONOTONIC
    char *text;       // the answer so far
    size_t size;
    bool whole; // all of it, and the program said that it went well
} question;

// words: the program, looked up in PATH, and its arguments, ending in NULL. variable: "NAME=value" to set for it, or
// NULL. False: it could not be started.
bool question_ask(question *q, char *const *words, const char *variable, int seconds);
// Reads the answer so far without waiting. True: the program has ended; q->whole is true if it succeeded.
bool question_look(question *q);
// Waits for the end of the answer, at most until the time limit. Returns the answer, or NULL if it is incomplete.
const char *question_wait(question *q);
void question_end(question *q);

#endif

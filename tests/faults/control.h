// What sweep and the library that it preloads share: a file that both map.
#ifndef TESTS_FAULTS_CONTROL_H
#define TESTS_FAULTS_CONTROL_H

#include <stdint.h>

enum { FAULTS_FRAMES = 12 };

typedef struct faults_control {
    uint64_t fail_at; // the number of the allocation that fails, from 1 on; 0: none
    uint64_t onward;  // 1: every later one fails, too
    uint64_t count;   // allocations so far, in all processes of the programs under test
    uint64_t frames
        [FAULTS_FRAMES]; // where the first failing one was called from: addresses in the program's file, 0 at the end
} faults_control;

#define FAULTS_VARIABLE "NETPROF_FAULTS" // of the environment: path of that file

#endif

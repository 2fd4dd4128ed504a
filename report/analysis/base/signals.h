// Signals in files: their numbers differ between architectures (signal(7)), so a file has those of x86 and ARM, wherever
// it was written, and is understood wherever it is read.
#ifndef NETPROF_SIGNALS_H
#define NETPROF_SIGNALS_H

#include "words.h"

// The number in files of a signal of this machine; the same number where the signal is not known.
int signals_common(int here);
// By the number in files: "SIGSEGV", "segmentation fault"; NULL unknown, or where there are no words.
const char *signals_name(int common);
const char *signals_words(int common);
words_text signals_text(int common); // "signal 11 (segmentation fault)", "signal 10 (SIGUSR1)", "signal 40"

#endif

// One stream in two heads' journals. Thread rule: any.
#ifndef LIVE_JOURNAL_MERGE_H
#define LIVE_JOURNAL_MERGE_H

#include "journal_stretch.h"

// Each number that one of them has is there once, in order. A gap is what neither has: its reason is that of the head that
// knows one. Both are stb_ds arrays, in order; so is the result.
journal_stretch *journal_merge(const journal_stretch *a, const journal_stretch *b);

#endif

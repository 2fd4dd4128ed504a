// The file of preambles without those that nothing builds on any more. Thread rule: as seglog.
#ifndef LIVE_JOURNAL_PREAMBLES_H
#define LIVE_JOURNAL_PREAMBLES_H

#include "live/spool/seglog.h"
#include "live/spool/sha256.h"

// In the file's place, and on the disk, is one with those of these hashes alone, once each; *log appends to it. 0 or an errno,
// and then the file is as it was.
int journal_preambles_rewrite(seglog *log, const char *directory, unsigned char (*keep)[SHA256_BYTES], size_t count);

#endif

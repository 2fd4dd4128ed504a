// The tokens: made once, kept in the head's directory, each in a file that its owner alone reads. Thread rule: any.
#ifndef LIVE_WEB_TOKENS_H
#define LIVE_WEB_TOKENS_H

#include "http/http_model.h"

// The token in this file, made where there is none. 0 or an errno; EPERM: others may read the file; EILSEQ: it holds no token.
int tokens_find(const char *directory, const char *name, char token[HTTP_TOKEN + 1]);

#endif

// The word that a user may have meant.
#ifndef TOOLS_NEAREST_H
#define TOOLS_NEAREST_H

// The entry of a NULL-terminated list that is most like `word`, or NULL if none is close.
const char *nearest(const char *word, const char *const *words);
// The same as the end of a message, "; did you mean 'diff'?", or "". Valid until the next call.
const char *nearest_hint(const char *word, const char *const *words);

#endif

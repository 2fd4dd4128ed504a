// Titles that fit.
#ifndef NETPROF_DOCUMENT_TITLE_H
#define NETPROF_DOCUMENT_TITLE_H

enum { DOCUMENT_TITLE_LENGTH = 60 }; // characters

// The text without the clauses that are too much for one line; free() it.
char *document_short_title(const char *text);

#endif

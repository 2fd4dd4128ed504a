// What tells this node from others at a head's own server: made once, and kept in the spool's directory. Thread rule: any.
#ifndef LIVE_SECRET_H
#define LIVE_SECRET_H

#include <stdbool.h>

enum { SECRET_SIZE = 32 };

// 32 hexadecimal digits. *known: it was there. 0 or an errno.
int secret_find(const char *directory, char to[SECRET_SIZE + 1], bool *known);

#endif

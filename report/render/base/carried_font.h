// The font that the program carries along: where none is installed it draws all text, where Inter is not it stands in.
// Latin, Greek, Cyrillic, arrows and mathematics, 400 and 600; see render/font.
#ifndef NETPROF_CARRIED_FONT_H
#define NETPROF_CARRIED_FONT_H

#include "buffer.h"

#define CARRIED_FONT "netprof Sans"

// Makes it known to fontconfig, once in a process; nothing happens where that cannot be done. Before the first text.
void carried_font_use(void);

// The rules of CSS that bring it to readers of a file who have no Inter: so letters are as wide there as they were laid out.
void carried_font_rules(buffer *out);

#endif

// The terminal: drawn by ncurses, restored whatever happens.
#ifndef WATCH_SCREEN_H
#define WATCH_SCREEN_H

#include "lines.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum screen_key {
    KEY_NONE = 0,
    KEY_QUIT,
    KEY_PAUSE,
    KEY_SORT,
    KEY_QUESTION,
    KEY_LINE_UP,
    KEY_LINE_DOWN,
    KEY_PAGE_UP,
    KEY_PAGE_DOWN,
    KEY_FIRST,
    KEY_LAST,
    KEY_SHOW_ONE,
    KEY_SHOW_ALL,
    KEY_SHOW_NEXT,
    KEY_SHOW_BEFORE,
    KEY_TIME_BACK,
    KEY_TIME_ON,
    KEY_TIME_FAR_BACK,
    KEY_TIME_FAR_ON,
    KEY_TIME_NOW,
    KEY_CLOSED
} screen_key;

// False: this terminal cannot be drawn on (nothing was changed then).
bool screen_open(void);
// Of an open screen.
int screen_width(void);
int screen_height(void);
void screen_resized(void); // after SIGWINCH
// The lines of the head, those of the body from `top` on, and the foot in the last line. Returns the top that was used:
// never so large that lines stay empty above the foot.
size_t screen_draw(const lines *head, const lines *body, const lines *foot, size_t top);
// The next key that was pressed; KEY_NONE when there is none, KEY_CLOSED when the keyboard is gone.
screen_key screen_read_key(void);
void screen_close(void); // also when none is open

#endif

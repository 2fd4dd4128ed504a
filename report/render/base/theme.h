// The look: inks, type, sizes. One place; nothing else names a colour, a font or a point size.
//
// An ink is a role, not a colour: each has a light (paper) and a dark (screen) value, so that a page keeps its
// meaning in HTML's dark mode. Paper formats always use the light values.
#ifndef NETPROF_THEME_H
#define NETPROF_THEME_H

#include "analysis/rules/rules.h"

#include <stdint.h>

enum { THEME_STEPS = 24 }; // steps of a ramp

typedef enum theme_ink {
    INK_NONE = 0, // draws nothing
    INK_PAPER,
    INK_TEXT,
    INK_SECONDARY,
    INK_HAIR,  // hair lines, grid
    INK_EMPTY, // the cell of a zero: zero is not a colour of a ramp
    INK_RECEIVED,
    INK_RECEIVED_PALE,
    INK_RECEIVED_TEXT,
    INK_SENT,
    INK_SENT_PALE,
    INK_SENT_TEXT,
    INK_OK, // severities: mark and word, pale: the field below them
    INK_OK_PALE,
    INK_INFO,
    INK_INFO_PALE,
    INK_WATCH,
    INK_WATCH_PALE,
    INK_BAD,
    INK_BAD_PALE,
    INK_PEER,                                 // other devices, healthy runs, background
    INK_CATEGORY,                             // INK_CATEGORY + 0..7: categories without an order
    INK_CATEGORY_PALE = INK_CATEGORY + 8,     // of the same, behind lines
    INK_PHASE = INK_CATEGORY_PALE + 8,        // INK_PHASE + 0..5: phases of a job, the longest first
    INK_PHASE_PALE = INK_PHASE + 6,           // of the same, behind charts; the longest one has none
    INK_PART = INK_PHASE_PALE + 6,            // INK_PART + 0..3: parts of a whole, from dark to light
    INK_BLUE = INK_PART + 4,                  // ramps, + 0..THEME_STEPS-1, rising: traffic
    INK_ORANGE = INK_BLUE + THEME_STEPS,      // harm
    INK_DIVERGING = INK_ORANGE + THEME_STEPS, // ratios: blue below 1, white at the middle, orange above
    INK_ON = INK_DIVERGING + THEME_STEPS,     // INK_ON + i: text that is legible on ink i
    INK_COUNT = INK_ON + INK_ON
} theme_ink;

typedef enum theme_type {
    TYPE_TITLE = 0,  // 20 pt
    TYPE_TITLE_LONG, // 17 pt
    TYPE_PART,       // 14 pt
    TYPE_SECTION,    // 11 pt semi-bold
    TYPE_QUESTION,   // 8 pt, secondary
    TYPE_BODY,       // 8.6 pt
    TYPE_STRONG,     // 8.6 pt semi-bold
    TYPE_TABLE,      // 7.6 pt
    TYPE_TABLE_STRONG,
    TYPE_CELL, // 7.2 pt, numbers in cells, tabular digits
    TYPE_CELL_STRONG,
    TYPE_AXIS, // 6.6 pt
    TYPE_FOOT, // 6.3 pt
    TYPE_MONO, // 6.4 pt, counter names
    TYPES
} theme_type;

typedef struct theme_rgb {
    uint8_t red, green, blue;
} theme_rgb;

theme_rgb theme_color(theme_ink ink, bool dark);
double theme_size(theme_type type);        // pt, never below 6
const char *theme_family(theme_type type); // list of families, as pango and CSS take it
int theme_weight(theme_type type);         // 400, 600

// The ink of a severity's mark and word, the pale one of its field; its word, which is severity_name() in capitals: text, JSON,
// --fail-on and pages speak of the same six.
theme_ink theme_severity_ink(severity s);
theme_ink theme_severity_field(severity s);
const char *theme_severity_word(severity s);

// Step of a ramp for a share of 0 to 1, beyond it the ends; base is INK_BLUE, INK_ORANGE or INK_DIVERGING.
theme_ink theme_ramp(theme_ink base, double share);

#endif

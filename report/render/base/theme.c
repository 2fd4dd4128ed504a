#include "theme.h"

#include <math.h>

#define RGB(hex)                                                                                                       \
    {                                                                                                                  \
        (hex) >> 16 & 0xff, (hex) >> 8 & 0xff, (hex)&0xff                                                              \
    }

typedef struct pair {
    theme_rgb light, dark;
} pair;

// Okabe and Ito's colours, the text ones darkened until they are legible on white.
static const pair inks[INK_BLUE] = {
    [INK_PAPER] = {RGB(0xffffff), RGB(0x14181d)},
    [INK_TEXT] = {RGB(0x1b2129), RGB(0xe8ecf0)},
    [INK_SECONDARY] = {RGB(0x5a6572), RGB(0xa3adb8)},
    [INK_HAIR] = {RGB(0xd6dbe1), RGB(0x39424c)},
    [INK_EMPTY] = {RGB(0xf6f7f9), RGB(0x1b2127)},
    [INK_RECEIVED] = {RGB(0x0072b2), RGB(0x3d9fdb)},
    [INK_RECEIVED_PALE] = {RGB(0xcbe2f1), RGB(0x1d3c54)},
    [INK_RECEIVED_TEXT] = {RGB(0x0072b2), RGB(0x6db7e6)},
    [INK_SENT] = {RGB(0xe69f00), RGB(0xe9ab2a)},
    [INK_SENT_PALE] = {RGB(0xfae6c0), RGB(0x4b3913)},
    [INK_SENT_TEXT] = {RGB(0x9a6500), RGB(0xefbb55)},
    [INK_OK] = {RGB(0x007657), RGB(0x3fbf9a)},
    [INK_OK_PALE] = {RGB(0xeff6f4), RGB(0x172a26)},
    [INK_INFO] = {RGB(0x006fae), RGB(0x6db7e6)},
    [INK_INFO_PALE] = {RGB(0xecf4fa), RGB(0x17273a)},
    [INK_WATCH] = {RGB(0xa35500), RGB(0xf0a04b)},
    [INK_WATCH_PALE] = {RGB(0xfef0dd), RGB(0x3a2a14)},
    [INK_BAD] = {RGB(0xc1272d), RGB(0xf2777b)},
    [INK_BAD_PALE] = {RGB(0xfbe7e7), RGB(0x40191c)},
    [INK_PEER] = {RGB(0x8a949f), RGB(0x7d8894)},
    [INK_CATEGORY] = {RGB(0x0072b2), RGB(0x3d9fdb)},
    [INK_CATEGORY + 1] = {RGB(0xe69f00), RGB(0xe9ab2a)},
    [INK_CATEGORY + 2] = {RGB(0x009e73), RGB(0x2fc39a)},
    [INK_CATEGORY + 3] = {RGB(0xcc79a7), RGB(0xd991b8)},
    [INK_CATEGORY + 4] = {RGB(0x56b4e9), RGB(0x86cbf2)},
    [INK_CATEGORY + 5] = {RGB(0xd55e00), RGB(0xf0853a)},
    [INK_CATEGORY + 6] = {RGB(0x6b5ca5), RGB(0x9d90d1)},
    [INK_CATEGORY + 7] = {RGB(0x7f7f7f), RGB(0xa6a6a6)},
    [INK_CATEGORY_PALE] = {RGB(0xcbe2f1), RGB(0x1d3c54)},
    [INK_CATEGORY_PALE + 1] = {RGB(0xfae6c0), RGB(0x4b3913)},
    [INK_CATEGORY_PALE + 2] = {RGB(0xc5e8dc), RGB(0x143f34)},
    [INK_CATEGORY_PALE + 3] = {RGB(0xf0d9e6), RGB(0x46293a)},
    [INK_CATEGORY_PALE + 4] = {RGB(0xd3eafa), RGB(0x1e4257)},
    [INK_CATEGORY_PALE + 5] = {RGB(0xf6d5bd), RGB(0x4f2a10)},
    [INK_CATEGORY_PALE + 6] = {RGB(0xdcd7ec), RGB(0x332c52)},
    [INK_CATEGORY_PALE + 7] = {RGB(0xdcdfe3), RGB(0x343a41)},
    [INK_PHASE] = {RGB(0x9fb2c6), RGB(0x4a5f75)},
    [INK_PHASE + 1] = {RGB(0xb8a2cb), RGB(0x6d5685)},
    [INK_PHASE + 2] = {RGB(0x5c6f84), RGB(0x8ea3ba)},
    [INK_PHASE + 3] = {RGB(0xcdbd92), RGB(0x7d6d40)},
    [INK_PHASE + 4] = {RGB(0x8fb9a9), RGB(0x446f5f)},
    [INK_PHASE + 5] = {RGB(0xd6abab), RGB(0x845252)},
    [INK_PHASE_PALE] = {RGB(0xffffff), RGB(0x14181d)},
    [INK_PHASE_PALE + 1] = {RGB(0xf4f0f8), RGB(0x231d2b)},
    [INK_PHASE_PALE + 2] = {RGB(0xe9edf1), RGB(0x252d36)},
    [INK_PHASE_PALE + 3] = {RGB(0xf8f4e8), RGB(0x29251a)},
    [INK_PHASE_PALE + 4] = {RGB(0xebf4f0), RGB(0x1a2824)},
    [INK_PHASE_PALE + 5] = {RGB(0xf9eeee), RGB(0x2c1f20)},
    [INK_PART] = {RGB(0x3c4652), RGB(0xc4ccd5)},
    [INK_PART + 1] = {RGB(0x758291), RGB(0x93a0ae)},
    [INK_PART + 2] = {RGB(0xa6b1bd), RGB(0x647180)},
    [INK_PART + 3] = {RGB(0xcdd4db), RGB(0x424d59)},
};

enum { ANCHORS = 7 };

// Lightness falls (in the dark: rises) steadily, so that a ramp survives grey printing.
static const theme_rgb ramps[3][2][ANCHORS] = {
    {{RGB(0xeaf3fa), RGB(0xc6ddf0), RGB(0x94c1e2), RGB(0x5a9dce), RGB(0x2a77b4), RGB(0x11508a), RGB(0x072f5c)},
     {RGB(0x15222e), RGB(0x16344c), RGB(0x18496f), RGB(0x20659b), RGB(0x3a8bc6), RGB(0x7cb8e2), RGB(0xc9e2f4)}},
    {{RGB(0xfdf3e4), RGB(0xfbdfb6), RGB(0xf3bd73), RGB(0xe39a3c), RGB(0xc06f14), RGB(0x8f4a07), RGB(0x5c2c04)},
     {RGB(0x2a2117), RGB(0x442f16), RGB(0x6b4414), RGB(0x99600f), RGB(0xc98324), RGB(0xe9b067), RGB(0xf8dcb5)}},
    {{RGB(0x11508a), RGB(0x4d93c8), RGB(0xb0d1ea), RGB(0xf7f7f7), RGB(0xf7d3a0), RGB(0xdb8f2f), RGB(0x8f4a07)},
     {RGB(0x7cb8e2), RGB(0x3a83bb), RGB(0x1f4a6c), RGB(0x22272d), RGB(0x5f4118), RGB(0xb27722), RGB(0xefbb72)}},
};

static uint8_t theme_between(uint8_t a, uint8_t b, double share)
{
    return (uint8_t)lround(a + (b - a) * share);
}

static theme_rgb theme_ramp_color(size_t ramp, size_t step, bool dark)
{
    const theme_rgb *anchors = ramps[ramp][dark];
    double place = (double)step * (ANCHORS - 1) / (THEME_STEPS - 1);
    size_t from = place >= ANCHORS - 1 ? ANCHORS - 2 : (size_t)place;
    theme_rgb a = anchors[from], b = anchors[from + 1];
    double share = place - (double)from;
    return (theme_rgb){theme_between(a.red, b.red, share), theme_between(a.green, b.green, share),
                       theme_between(a.blue, b.blue, share)};
}

// WCAG 2's relative luminance.
static double theme_luminance(theme_rgb c)
{
    const double parts[3] = {c.red / 255., c.green / 255., c.blue / 255.}, weights[3] = {.2126, .7152, .0722};
    double sum = 0;
    for (int i = 0; i < 3; i++)
        sum += weights[i] * (parts[i] <= .03928 ? parts[i] / 12.92 : pow((parts[i] + .055) / 1.055, 2.4));
    return sum;
}

static theme_rgb theme_legible_on(theme_rgb back)
{
    // Only of pure black and white one always has the contrast that WCAG asks for: 4.58 at least.
    static const theme_rgb black = RGB(0x000000), white = RGB(0xffffff);
    double l = theme_luminance(back) + .05;
    return l / (theme_luminance(black) + .05) >= 1.05 / l ? black : white;
}

theme_rgb theme_color(theme_ink ink, bool dark)
{
    if (ink >= INK_COUNT) ink = INK_TEXT;
    if (ink >= INK_ON) return theme_legible_on(theme_color((theme_ink)(ink - INK_ON), dark));
    if (ink >= INK_BLUE) {
        size_t place = (size_t)ink - INK_BLUE;
        return theme_ramp_color(place / THEME_STEPS, place % THEME_STEPS, dark);
    }
    return dark ? inks[ink].dark : inks[ink].light;
}

#define SANS "Inter, DejaVu Sans, sans-serif"

static const struct {
    double size;
    const char *family;
    int weight;
} types[TYPES] = {
    [TYPE_TITLE] = {20, SANS, 600},         [TYPE_TITLE_LONG] = {17, SANS, 600},
    [TYPE_PART] = {14, SANS, 600},          [TYPE_SECTION] = {11, SANS, 600},
    [TYPE_QUESTION] = {8, SANS, 400},       [TYPE_BODY] = {8.6, SANS, 400},
    [TYPE_STRONG] = {8.6, SANS, 600},       [TYPE_TABLE] = {7.6, SANS, 400},
    [TYPE_TABLE_STRONG] = {7.6, SANS, 600}, [TYPE_CELL] = {7.2, SANS, 400},
    [TYPE_CELL_STRONG] = {7.2, SANS, 600},  [TYPE_AXIS] = {6.6, SANS, 400},
    [TYPE_FOOT] = {6.3, SANS, 400},         [TYPE_MONO] = {6.4, "DejaVu Sans Mono, monospace", 400},
};

double theme_size(theme_type type)
{
    return types[type].size;
}

const char *theme_family(theme_type type)
{
    return types[type].family;
}

int theme_weight(theme_type type)
{
    return types[type].weight;
}

static const struct {
    theme_ink ink, field;
    const char *word;
} severities[SEVERITIES] = {
    [SEVERITY_OK] = {INK_OK, INK_OK_PALE, "OK"},
    [SEVERITY_INFO] = {INK_INFO, INK_INFO_PALE, "INFO"},
    [SEVERITY_UNKNOWN] = {INK_SECONDARY, INK_EMPTY, "UNKNOWN"},
    [SEVERITY_WATCH] = {INK_WATCH, INK_WATCH_PALE, "WATCH"},
    [SEVERITY_WARN] = {INK_BAD, INK_BAD_PALE, "WARN"},
    [SEVERITY_HIGH] = {INK_BAD, INK_BAD_PALE, "HIGH"},
    [SEVERITY_CRITICAL] = {INK_BAD, INK_BAD_PALE, "CRITICAL"},
};

theme_ink theme_severity_ink(severity s)
{
    return severities[s].ink;
}

theme_ink theme_severity_field(severity s)
{
    return severities[s].field;
}

const char *theme_severity_word(severity s)
{
    return severities[s].word;
}

theme_ink theme_ramp(theme_ink base, double share)
{
    double step = share * THEME_STEPS;
    if (!(step > 0)) return base;
    return (theme_ink)((int)base + (step >= THEME_STEPS ? THEME_STEPS - 1 : (int)step));
}

#include "plot_inks.h"

#include "render/base/buffer.h"
#include "render/base/theme.h"

#include <stdlib.h>
#include <string.h>

char *plot_svg_inks(const char *svg, size_t size, plot_colors colors, size_t *new_size)
{
    buffer out = {0};
    const char *p = svg, *end = svg + size;
    *new_size = 0;
    while (p < end) {
        const char *mark = memchr(p, '#', (size_t)(end - p));
        if (!mark) mark = end;
        buffer_bytes(&out, p, (size_t)(mark - p));
        p = mark;
        if (mark == end) break;
        char digits[5] = "";
        if (end - mark >= 7 && mark[1] == 'a' && mark[2] == '7') memcpy(digits, mark + 3, 4);
        unsigned ink = (unsigned)strtoul(digits, NULL, 16);
        if (!*digits || ink >= INK_COUNT) {
            buffer_bytes(&out, p++, 1);
            continue;
        }
        theme_rgb c = theme_color((theme_ink)ink, colors == PLOT_DARK);
        if (colors != PLOT_VARIABLES)
            buffer_printf(&out, "#%02x%02x%02x", c.red, c.green, c.blue);
        else
            buffer_printf(&out, "var(--i%u)", ink);
        p += 7;
    }
    buffer_bytes(&out, "", 0);
    *new_size = out.size;
    return out.data;
}

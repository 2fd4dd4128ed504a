/* What gnuplot, or a program in its place, writes as a picture: whatever it is, what is taken over has nothing but our
   own elements and attributes, with numbers in them. */
#include "render/plot/plot.h"
#include "render/plot/plot_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect(bool condition, const char *what)
{
    if (condition) return;
    fprintf(stderr, "%s\n", what);
    abort();
}

/* Every tag begins like one of these, and text stands in no other place. */
static void expect_ours(const char *svg)
{
    static const char *const tags[] = {
        "<svg xmlns=",   "</svg>",         "<g fill=\"none\" stroke-linejoin=\"round\">", "</g>", "<path stroke=\"",
        "<path fill=\"", "<circle fill=\""};
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz0123456789 =\"#-.,M:/(){}BWxH";
    for (const char *p = svg; *p;) {
        size_t known = 0;
        for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
            known |= strncmp(p, tags[i], strlen(tags[i])) == 0;
        expect(*p == '<' && known, "a tag that is not ours");
        const char *end = strchr(p, '>');
        expect(end != NULL, "a tag without an end");
        for (const char *c = p + 1; c < end; c++)
            expect(strchr(plain, *c) != NULL, "a character that has no business here");
        p = end + 1 + strspn(end + 1, "\n");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const double x[] = {0, 1}, y[] = {0, 1};
    const plot_series series[] = {
        {.kind = PLOT_LINE, .ink = INK_SENT, .x = x, .y = y, .count = 2},
        {.kind = PLOT_BOX, .ink = INK_OK, .x = x, .count = 0},
        {.kind = PLOT_POINTS, .ink = INK_BAD, .line_width = 2, .dashed = true, .x = x, .y = y, .count = 2}};
    const plot p = {{0, 1, false, false}, {0, 1, false, false}, series, 3};
    const plot_job job = {.plot = &p, .width = 200.5, .height = 100};
    size_t made, inked;
    char *text = malloc(size + 1); /* not terminated: reading behind it shows */
    if (!text) return 0;
    if (size) memcpy(text, data, size);
    char *svg = plot_svg_tidy(text, size, &job, &made);
    if (svg) {
        expect(strlen(svg) == made, "a size that is not its length");
        expect_ours(svg);
        for (int colors = PLOT_VARIABLES; colors <= PLOT_DARK; colors++) {
            char *with_inks = plot_svg_inks(svg, made, (plot_colors)colors, &inked);
            expect(with_inks && strlen(with_inks) == inked && !strstr(with_inks, "#a7"), "a placeholder is left");
            expect_ours(with_inks);
            free(with_inks);
        }
        free(svg);
    }
    free(text);
    return 0;
}

// Which chart shows what a line of the verdict is about.
#define _GNU_SOURCE // strcasestr
#include "document_model.h"
#include "analysis/base/memory.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool links_is_headed(const chart *x)
{
    return x->title && *x->title;
}

static bool links_is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-' || (unsigned char)c >= 0x80;
}

// Is this name, up to its brackets, in the text, not as a part of another word? How long it is, or 0.
static size_t links_named(const char *text, const char *name)
{
    enum { LEAST = 3 };
    const char *bracket = strstr(name, " (");
    size_t length = bracket ? (size_t)(bracket - name) : strlen(name);
    for (const char *at = text; length >= LEAST && *at; at++)
        if (strncmp(at, name, length) == 0 && (at == text || !links_is_letter(at[-1])) && !links_is_letter(at[length]))
            return length;
    return 0;
}

// A word of the title that the line has, too, and that says more than all lines do. What is blocked is on the chart of what
// was paused.
static bool links_shares_word(const char *line, const char *title)
{
    static const char *const common[] = {"time", "sent", "received", "bytes", "network", "NIC", "node", "and", "over"};
    enum { LEAST = 3 };
    char *words = memory_strdup(title), *rest = words, *word;
    bool found = false;
    while (!found && (word = strsep(&rest, " ,"))) {
        bool says = strlen(word) >= LEAST;
        for (size_t i = 0; i < sizeof common / sizeof *common; i++)
            says = says && strcasecmp(word, common[i]) != 0;
        found = says && (strcasestr(line, word) || (strcasecmp(word, "paused") == 0 && strstr(line, "blocked")));
    }
    free(words);
    return found;
}

// How well a chart fits a line of the verdict. Best is a chart that has a row of what the line names and whose title is about
// the same; then the table of findings, where a long cell of it is in the line; then any chart with such a row.
static size_t links_fit_of(const chart *x, const char *line)
{
    enum { CLAIM = 24, FINDING = 500, SAME = 1000 };
    const chart_twin *t = &x->twin;
    size_t best = 0;
    for (size_t i = t->columns; t->columns && i < t->count; i++) {
        size_t named = i % t->columns || x->is_table ? 0 : links_named(line, t->cells[i]);
        if (named && links_shares_word(line, x->title)) named += SAME;
        if (strlen(t->cells[i]) >= CLAIM && strstr(line, t->cells[i]) && named < FINDING) named = FINDING;
        if (named > best) best = named;
    }
    return best;
}

// The chart that a line of the verdict is about; of equal ones the first. NULL: none.
const chart *document_chart_of(const document *d, const char *line)
{
    const chart *best = NULL;
    size_t most = 0;
    for (size_t i = 0; i < d->item_count; i++) {
        const document_item *item = &d->items[i];
        const chart *both[2] = {&item->chart, item->kind == ITEM_BESIDE ? &item->right : NULL};
        for (int k = 0; k < 2 && item->kind <= ITEM_BESIDE; k++) {
            size_t fit = both[k] && links_is_headed(both[k]) ? links_fit_of(both[k], line) : 0;
            if (fit > most) most = fit, best = both[k];
        }
    }
    return best;
}

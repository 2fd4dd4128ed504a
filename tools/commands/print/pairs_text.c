#include "pairs_text.h"

#include "cli/fold.h"
#include "cli/output.h"
#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"
#include "analysis/base/text.h"
#include "analysis/base/words.h"

#include <math.h>
#include <stdlib.h>

enum { PAIRS_SHOWN = 8 };

static void pairs_text_table(FILE *to, const pairs *p, const size_t *largest, size_t count)
{
    static const column columns[] = {{"SENDER", 0},
                                     {"HOST", COLUMN_LEAN},
                                     {"RECEIVER", 0},
                                     {"HOST", COLUMN_LEAN},
                                     {"BYTES", COLUMN_RIGHT},
                                     {"MESSAGES", COLUMN_RIGHT},
                                     {"A WAIT TOOK", COLUMN_RIGHT}};
    table *t = table_begin(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < count; i++) {
        const pairs_cell *x = &p->cells[largest[i]];
        double delay = pairs_delay_of(x);
        table_cell(t, PLAIN, p->places[x->sender].label);
        table_cell(t, PLAIN, p->nodes[pairs_node_of(p, x->sender)]);
        table_cell(t, PLAIN, p->places[x->receiver].label);
        table_cell(t, PLAIN, p->nodes[pairs_node_of(p, x->receiver)]);
        table_cell(t, PLAIN, words_amount((double)x->bytes, "bytes").text);
        table_cell(t, PLAIN, words_exact(x->messages).text);
        table_cell(t, PLAIN, isnan(delay) ? NULL : words_duration(delay / 1e9).text);
    }
    table_end(t, to, 0);
}

// What went between hosts and within them, and what nobody can say the way of.
static char *pairs_text_head(const pairs *p, const pairs_sums *s, size_t ranks_told, size_t ranks)
{
    char *text = NULL;
    text_append(&text, "%s messages to a named peer: %s between hosts", p->layer,
                words_amount((double)s->between, "bytes").text);
    text_append(&text, ", %s within them", words_amount((double)s->within, "bytes").text);
    if (ranks_told < ranks) text_append(&text, " (of %zu of %s)", ranks_told, words_many(ranks, "rank").text);
    if (p->outside_bytes)
        text_append(&text, "; %s to processes without a file", words_amount((double)p->outside_bytes, "bytes").text);
    if (p->together_bytes)
        text_append(&text, "; collectives were given %s, whose ways are not known",
                    words_amount((double)p->together_bytes, "bytes").text);
    return text;
}

void pairs_print(FILE *to, const pairs *p, size_t ranks_told, size_t ranks)
{
    pairs_sums s = pairs_sum(p, NULL, NULL);
    size_t *largest, count = pairs_largest(p, PAIRS_SHOWN, &largest);
    if (count && s.messages) {
        char *head = pairs_text_head(p, &s, ranks_told, ranks);
        size_t width = fold_width(to);
        putc('\n', to);
        fold_text(to, safe(head), 0, 0, width ? width : 100);
        putc('\n', to);
        free(head);
        pairs_text_table(to, p, largest, count);
        if (s.pairs > count) fprintf(to, "... and %s\n", words_many(s.pairs - count, "more pair|more pairs").text);
    }
    free(largest);
}

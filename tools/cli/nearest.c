#include "nearest.h"

#include <stdio.h>
#include <string.h>

// Edit distance, at most 9; a swap of neighbours counts as one.
static unsigned nearest_distance(const char *a, const char *b)
{
    enum { MOST = 32 };
    unsigned rows[MOST + 1][MOST + 1];
    size_t m = strlen(a), n = strlen(b);
    if (m > MOST || n > MOST) return 9;
    for (size_t i = 0; i <= m; i++) {
        for (size_t j = 0; j <= n; j++) {
            unsigned best = (unsigned)(i ? j ? 9 : i : j);
            if (i && rows[i - 1][j] + 1 < best) best = rows[i - 1][j] + 1;
            if (j && rows[i][j - 1] + 1 < best) best = rows[i][j - 1] + 1;
            if (i && j && rows[i - 1][j - 1] + (a[i - 1] != b[j - 1]) < best)
                best = rows[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && rows[i - 2][j - 2] + 1 < best)
                best = rows[i - 2][j - 2] + 1;
            rows[i][j] = best;
        }
    }
    return rows[m][n];
}

const char *nearest(const char *word, const char *const *words)
{
    const char *found = NULL;
    unsigned least = strlen(word) < 6 ? 2 : 3; // fewer than so many edits: of two in four letters half is another word
    for (; *words; words++) {
        unsigned d = nearest_distance(word, *words);
        if (d < least) {
            least = d;
            found = *words;
        }
    }
    return found;
}

const char *nearest_hint(const char *word, const char *const *words)
{
    static char hint[64];
    const char *found = nearest(word, words);
    *hint = 0;
    if (found) snprintf(hint, sizeof hint, "; did you mean '%s'?", found);
    return hint;
}

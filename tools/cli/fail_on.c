#include "fail_on.h"

#include "analysis/base/memory.h"
#include "common.h"

#include <stdlib.h>
#include <string.h>

static bool fail_on_take_word(fail_on *x, const char *word, bool *limited, bool *decided)
{
    severity s;
    bool is_limit = severity_parse(word, &s) && s >= SEVERITY_WATCH;
    bool is_unknown = strcmp(word, "unknown") == 0, is_judged = strcmp(word, "judged") == 0;
    if (is_limit && !*limited)
        x->limit = s;
    else if ((is_unknown || is_judged) && !*decided)
        x->when_unknown = is_unknown ? EXIT_WORTH_FAILING : EXIT_DONE;
    else
        return false;
    *limited |= is_limit;
    *decided |= !is_limit;
    return true;
}

bool fail_on_parse(fail_on *x, const char *text)
{
    bool limited = false, decided = false, good = true;
    *x = (fail_on){SEVERITY_HIGH, EXIT_UNKNOWN};
    if (!text) return true;
    char *copy = memory_strdup(text), *at = copy;
    for (char *word; good && (word = strsep(&at, ","));)
        good = fail_on_take_word(x, word, &limited, &decided);
    free(copy);
    if (good) return true;
    fail_usage("--fail-on: %s: expected watch, warn, high or critical, with or without ,unknown or ,judged",
               safe(text));
    return false;
}

int fail_on_code(const fail_on *x, severity worst, bool blind)
{
    if (worst >= x->limit) return EXIT_WORTH_FAILING;
    return blind ? (int)x->when_unknown : EXIT_DONE;
}

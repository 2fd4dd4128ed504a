/* A JSON document that must be as one that is kept: of figures that a reader can check by arithmetic. Include cmocka.h and
 * analysis/base/json.h first. NETPROF_TEST_WRITE=FILE writes the one that was made, to see what became other. */
#ifndef GOLDEN_H
#define GOLDEN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// name: below tests/unit. Takes the document.
static inline void golden_expect(json_object *made, const char *name)
{
    char path[512];
    const char *to = getenv("NETPROF_TEST_WRITE");
    snprintf(path, sizeof path, "%s/tests/unit/%s", NETPROF_TEST_TOP, name);
    if (to) json_object_to_file_ext(to, made, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE);
    json_object *kept = json_object_from_file(path);
    if (!kept) fail_msg("%s: cannot be read", path);
    const char *is = json_to_text(made, JSON_C_TO_STRING_PRETTY), *should = json_to_text(kept, JSON_C_TO_STRING_PRETTY);
    size_t at = 0;
    while (is[at] && is[at] == should[at])
        at++;
    if (is[at] || should[at]) {
        while (at && is[at - 1] != '\n')
            at--;
        fail_msg("%s: made:\n%.300s\nkept:\n%.300s", name, is + at, should + at);
    }
    json_object_put(made);
    json_object_put(kept);
}

#endif

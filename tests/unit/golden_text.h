// A text that must be as one that is kept. Include cmocka.h first. NETPROF_TEST_WRITE=FILE writes the one that was made, to
// see what became other.
#ifndef GOLDEN_TEXT_H
#define GOLDEN_TEXT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// All of a file, with a 0 after it; *size: without that. The caller frees it.
static inline char *golden_text_read(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file) fail_msg("%s: cannot be read", path);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *text = malloc(*size + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, *size, file), *size);
    text[*size] = 0;
    fclose(file);
    return text;
}

// name: below tests/unit.
static inline void golden_text_expect(const void *made, size_t size, const char *name)
{
    char path[512];
    const char *to = getenv("NETPROF_TEST_WRITE"), *is = made;
    snprintf(path, sizeof path, "%s/tests/unit/%s", NETPROF_TEST_TOP, name);
    FILE *copy = to ? fopen(to, "wb") : NULL;
    if (copy) {
        fwrite(made, 1, size, copy);
        fclose(copy);
    }
    size_t kept, at = 0;
    char *should = golden_text_read(path, &kept);
    while (at < size && at < kept && is[at] == should[at])
        at++;
    int same = at == size && at == kept;
    while (!same && at && should[at - 1] != '\n')
        at--;
    if (!same)
        fail_msg("%s: made:\n%.*s\nkept:\n%.300s", name, (int)(size - at < 300 ? size - at : 300), is + at,
                 should + at);
    free(should);
}

#endif

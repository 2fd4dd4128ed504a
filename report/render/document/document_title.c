// Titles: who, what, how much, on one line and never cut. What does not fit is left out by clauses, the least important
// first; all of it is in the verdict's first line.
#include "document_title.h"
#include "analysis/base/memory.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// As readers count: characters, not bytes.
static size_t title_length(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

static bool title_fits(const char *text)
{
    return title_length(text) <= DOCUMENT_TITLE_LENGTH;
}

// Removes what is between two places of the text.
static void title_remove(char *from, const char *to)
{
    memmove(from, to, strlen(to) + 1);
}

// The last " (...)".
static bool title_drop_parenthesis(char *text)
{
    char *open = NULL, *close;
    for (char *at = strstr(text, " ("); at; at = strstr(at + 1, " ("))
        open = at;
    close = open ? strchr(open, ')') : NULL;
    if (close) title_remove(open, close + 1);
    return close != NULL;
}

static char *title_last(char *text, const char *what)
{
    char *last = NULL;
    for (char *at = strstr(text, what); at; at = strstr(at + 1, what))
        last = at;
    return last;
}

// Cuts at the last of such marks, if enough is left to say something.
static bool title_drop_behind(char *text, const char *mark, size_t least)
{
    char *last = title_last(text, mark);
    if (!last || (size_t)(last - text) < least) return false;
    *last = '\0';
    return true;
}

// " for 6 min 00 s", " in 10.0 s" at the end.
static bool title_drop_time(char *text)
{
    static const char *const words[] = {" for ", " in "};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char *last = title_last(text, words[i]);
        if (!last || !isdigit((unsigned char)last[strlen(words[i])])) continue;
        *last = '\0';
        return true;
    }
    return false;
}

// "who: what: why" without why. "who: what" stays, for a name alone says nothing.
static bool title_drop_reason(char *text)
{
    char *first = strstr(text, ": ");
    char *last = title_last(text, ": ");
    if (!first || (last == first && !strstr(text, ". "))) return false;
    *last = '\0';
    return true;
}

static bool title_say_shorter(char *text)
{
    static const char *const forms[][2] = {
        {" bytes for each that the program moved", " \xc3\x97 the program\xe2\x80\x99s bytes"},
        {"the job's threads were ready and waited", "threads waited"},
        {" % of the time", " % of time"},
        {"\xe2\x80\xaf% of the time", "\xe2\x80\xaf% of time"},
        {" were ", " "},
        {" was ", " "}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char *at = strstr(text, forms[i][0]);
        if (!at) continue;
        memcpy(at, forms[i][1], strlen(forms[i][1]));
        title_remove(at + strlen(forms[i][1]), at + strlen(forms[i][0]));
        return true;
    }
    return false;
}

// A name that alone fills the line: the box has it.
static bool title_drop_name(char *text)
{
    enum { LONG_NAME = 30 };
    char *colon = strstr(text, ": ");
    if (!colon || (size_t)(colon - text) < LONG_NAME || strlen(colon) < 12) return false;
    title_remove(text, colon + 2);
    *text = (char)toupper((unsigned char)*text);
    return true;
}

char *document_short_title(const char *text)
{
    enum { LEAST = 12 };
    char *t = memory_strdup(text);
    bool shorter = true;
    while (shorter && !title_fits(t))
        shorter = title_drop_parenthesis(t) || title_drop_behind(t, "; ", LEAST) || title_drop_reason(t) ||
                  title_drop_behind(t, ", ", 2 * LEAST) || title_drop_time(t) || title_drop_name(t) ||
                  title_say_shorter(t) || title_drop_behind(t, " that ", 3 * LEAST) ||
                  title_drop_behind(t, " on ", LEAST);
    return t;
}

#define _GNU_SOURCE // strsep
#include "session_heads.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

char **session_heads_split(const char *directories)
{
    struct stat st;
    char **heads = NULL, *copy = memory_strdup(directories), *at = copy;
    if (stat(directories, &st) == 0) at = NULL;
    if (!at) arrput(heads, memory_strdup(directories));
    for (char *word; (word = strsep(&at, ","));)
        if (*word) arrput(heads, memory_strdup(word));
    free(copy);
    return heads;
}

void session_heads_free(char **heads)
{
    for (size_t i = 0; i < arrlenu(heads); i++)
        free(heads[i]);
    arrfree(heads);
}

journal_index *session_heads_open(const char *directories, const session *s, int64_t now_ns, char **why)
{
    char **heads = session_heads_split(directories);
    journal_index *x = journal_index_open_all((const char *const *)heads, arrlenu(heads), s->start_ns,
                                              s->stop_ns ? s->stop_ns : now_ns, why);
    session_heads_free(heads);
    return x;
}

#include "journal_preambles.h"

#include "journal_model.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct journal_wanted {
    struct journal_wanted_key {
        unsigned char bytes[SHA256_BYTES];
    } key;
    bool value; // not there yet
} journal_wanted;

static int journal_preambles_copy(seglog *to, const char *from, journal_wanted *wanted)
{
    seglog_reader r;
    seglog_entry e;
    int error = seglog_reader_open(&r, from);
    if (error) return error;
    while (!error && seglog_reader_next(&r, &e)) {
        struct journal_wanted_key key;
        if (e.kind != JOURNAL_PREAMBLE || e.size < SHA256_BYTES) continue;
        memcpy(key.bytes, e.data, SHA256_BYTES);
        ptrdiff_t i = hmgeti(wanted, key);
        if (i < 0 || !wanted[i].value) continue;
        error = seglog_append(to, &e);
        wanted[i].value = false;
    }
    seglog_reader_close(&r);
    return error;
}

int journal_preambles_rewrite(seglog *log, const char *directory, unsigned char (*keep)[SHA256_BYTES], size_t count)
{
    seglog_header header = {0};
    journal_wanted *wanted = NULL;
    char *path = memory_format("%s/preambles", directory), *beside = memory_format("%s/preambles.new", directory);
    hmdefault(wanted, false);
    for (size_t i = 0; i < count; i++) {
        struct journal_wanted_key key;
        memcpy(key.bytes, keep[i], SHA256_BYTES);
        hmput(wanted, key, true);
    }
    unlink(beside); // of a kill
    int error = seglog_create(log, beside, &header);
    if (!error) {
        error = journal_preambles_copy(log, path, wanted);
        if (!error) error = seglog_sync(log);
        if (!error && rename(beside, path)) error = errno;
        if (error) {
            seglog_close(log);
            unlink(beside);
        }
    }
    hmfree(wanted);
    free(path);
    free(beside);
    return error;
}

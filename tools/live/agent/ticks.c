#include "ticks.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <stdlib.h>
#include <string.h>

struct ticks {
    spool *to;
    const netprof_fact *facts;
    size_t count;
    netprof_writer *writer;
    const netprof_schema *schema;   // of the writer, which holds a reference
    unsigned char *preamble, *step; // stb_ds
    bool begun;                     // the spool has the preamble
};

static void ticks_keep(unsigned char **to, const void *data, size_t size)
{
    memcpy(arraddnptr(*to, size), data, size);
}

// The writer gives each chunk in one call; the file's header, which all files have in common, first.
static int ticks_collect(void *user, const void *data, size_t size)
{
    ticks *t = user;
    if (size < 12) return 0;
    if (memcmp(data, "STEP", 4) == 0)
        ticks_keep(&t->step, data, size);
    else if (memcmp(data, "FACT", 4) == 0 || memcmp(data, "SCHM", 4) == 0)
        ticks_keep(&t->preamble, data, size);
    return 0;
}

ticks *ticks_open(spool *to, const netprof_fact *facts, size_t count)
{
    ticks *t = memory_calloc(1, sizeof *t);
    *t = (ticks){.to = to, .facts = facts, .count = count};
    return t;
}

static void ticks_end(ticks *t)
{
    netprof_writer_close(t->writer, 0, NULL);
    t->writer = NULL;
    arrsetlen(t->preamble, 0);
}

static bool ticks_begin(ticks *t, const netprof_schema *schema)
{
    ticks_end(t);
    t->schema = schema;
    t->begun = false;
    if (netprof_writer_open_fn(&t->writer, ticks_collect, t, NULL)) return false;
    for (size_t i = 0; i < t->count; i++)
        if (netprof_write_fact(t->writer, t->facts[i].key, t->facts[i].value, NULL)) return false;
    return true;
}

static size_t ticks_skip_varint(const unsigned char *p, size_t at, size_t size)
{
    while (at < size && p[at] & 0x80)
        at++;
    return at + 1;
}

// A STEP chunk at the begin of its chain: head of 12 bytes, varint schema, u32 link, varint position.
static bool ticks_is_key(const unsigned char *chunk)
{
    size_t size = arrlenu(chunk), at = ticks_skip_varint(chunk, 12, size) + 4;
    return at < size && chunk[at] == 0;
}

int ticks_put(ticks *t, const netprof_snapshot *snapshot)
{
    // A segment begins with a tick that needs none before it, as the ring may have taken those.
    bool anew = !t->writer || t->schema != snapshot->schema || spool_is_at_end_of_segment(t->to);
    arrsetlen(t->step, 0);
    if ((anew && !ticks_begin(t, snapshot->schema)) || netprof_write_snapshot(t->writer, snapshot, NULL)) {
        ticks_end(t);
        return -1;
    }
    if (!t->begun) spool_preamble(t->to, t->preamble, arrlenu(t->preamble));
    t->begun = true;
    int error = spool_append(t->to, snapshot->wall_ns, ticks_is_key(t->step), t->step, arrlenu(t->step));
    if (error) ticks_end(t); // what follows could not be read without it
    return error;
}

void ticks_close(ticks *t)
{
    if (!t) return;
    ticks_end(t);
    arrfree(t->preamble);
    arrfree(t->step);
    free(t);
}

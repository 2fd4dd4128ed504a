// live_compare NODE SPOOL HEAD...: what the heads' journals together hold of a node against its spool, tick by tick. Prints one line;
// exits with 1 where a tick is lost without a gap that names it, or is not what the spool has.
#include "live/journal/journal_index.h"
#include "live/spool/spool_reader.h"

#include "analysis/base/memory.h"
#include "analysis/base/stb_ds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct compared {
    unsigned char *heads;    // how many journals have the number; stb_ds, by number
    unsigned char *gap;      // the reason that one of them names
    unsigned char *together; // how often the session has it
    uint64_t wrong, compared, apart;
} compared;

static void compared_reach(compared *c, uint64_t number)
{
    while (arrlenu(c->heads) <= number) {
        arrput(c->heads, 0);
        arrput(c->gap, 0);
        arrput(c->together, 0);
    }
}

static void compare_stretch(compared *c, journal_index *x, const journal_stretch *s, spool_reader *spooled)
{
    frame f;
    spool_tick got, want;
    uint64_t number = s->first;
    if (s->is_gap && s->reason == SPOOL_RESTARTED) return; // numbers, not ticks
    compared_reach(c, s->last);
    if (s->is_gap) {
        for (; number <= s->last; number++)
            if (s->reason != SPOOL_ELSEWHERE) c->gap[number] = (unsigned char)s->reason;
        return;
    }
    if (!journal_index_frame(x, s, &f)) {
        c->wrong++;
        return;
    }
    for (size_t at = 0; frame_next(&f, &at, &got); number++) {
        c->heads[number]++;
        if (!spool_reader_get(spooled, number, UINT64_MAX - 1, &want) || want.number != number)
            continue; // overwritten since
        c->compared++;
        c->wrong += want.size != got.size || memcmp(want.data, got.data, got.size) != 0 || want.wall_ns != got.wall_ns;
    }
}

static void compare_head(compared *c, const char *node, const char *directory, spool_reader *spooled)
{
    char *why = NULL;
    journal_index *x = journal_index_open(directory, INT64_MIN, INT64_MAX, &why);
    if (!x) {
        fprintf(stderr, "%s\n", why);
        free(why);
        return;
    }
    for (size_t i = 0; i < journal_index_count(x); i++) {
        const journal_stream *s = journal_index_stream(x, i);
        for (size_t k = 0; strcmp(s->node, node) == 0 && k < arrlenu(s->stretches); k++)
            compare_stretch(c, x, &s->stretches[k], spooled);
    }
    journal_index_close(x);
}

// The journals as one, as a session over all heads reads them: each number once, in order, with the spool's bytes.
static void compare_together(compared *c, const char *node, const char *const *heads, size_t count,
                             spool_reader *spooled)
{
    char *why = NULL;
    uint64_t last = 0;
    journal_index *x = journal_index_open_all(heads, count, INT64_MIN, INT64_MAX, &why);
    for (size_t i = 0; x && i < journal_index_count(x); i++) {
        const journal_stream *s = journal_index_stream(x, i);
        for (size_t k = 0; strcmp(s->node, node) == 0 && k < arrlenu(s->stretches); k++) {
            const journal_stretch *t = &s->stretches[k];
            frame f;
            spool_tick got, want;
            c->wrong += t->first <= last;
            last = t->last;
            if (t->is_gap) continue;
            if (!journal_index_frame(x, t, &f)) c->wrong++;
            uint64_t number = f.first;
            for (size_t at = 0; frame_next(&f, &at, &got); number++) {
                if (number < t->first || number > t->last) continue;
                c->together[number]++;
                if (spool_reader_get(spooled, number, UINT64_MAX - 1, &want) && want.number == number)
                    c->wrong += want.size != got.size || memcmp(want.data, got.data, got.size) != 0;
            }
        }
    }
    if (!x) c->wrong++;
    free(why);
    journal_index_close(x);
    for (uint64_t n = 1; n < arrlenu(c->heads); n++)
        c->apart += c->together[n] != (c->heads[n] > 0);
}

int main(int argc, char **argv)
{
    compared c = {.wrong = 0};
    spool_tick t;
    uint64_t lost = 0, twice = 0, named = 0, high = 0;
    if (argc < 4) return 2;
    spool_reader *spooled = spool_reader_open(argv[2]);
    for (int i = 3; i < argc; i++)
        compare_head(&c, argv[1], argv[i], spooled);
    while (spool_reader_get(spooled, high + 1, UINT64_MAX - 1, &t))
        high = t.number;
    compared_reach(&c, high);
    compare_together(&c, argv[1], (const char *const *)argv + 3, (size_t)argc - 3, spooled);
    for (uint64_t n = 1; n <= high; n++) {
        twice += c.heads[n] > 1;
        named += !c.heads[n] && c.gap[n];
        lost += !c.heads[n] && !c.gap[n];
    }
    printf("%s: %llu ticks, %llu compared, %llu lost, %llu in gaps, %llu in two heads, %llu wrong, "
           "%llu not once in a session of all\n",
           argv[1], (unsigned long long)high, (unsigned long long)c.compared, (unsigned long long)lost,
           (unsigned long long)named, (unsigned long long)twice, (unsigned long long)c.wrong,
           (unsigned long long)c.apart);
    spool_reader_close(spooled);
    arrfree(c.heads);
    arrfree(c.gap);
    arrfree(c.together);
    return lost || c.wrong || c.apart || !high;
}

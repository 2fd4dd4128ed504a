/* A recording that grows piece by piece, whatever is in it, as netprof watch follows it: of a file without damage, what a
   reader of the whole finds came in the same order. (It may come as more: a chunk within a chunk that is not all there.) */
#define _GNU_SOURCE
#include "pieces.h"
#include "watch/follow.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SEEN = 1024 };

typedef struct seen {
    uint64_t sums[SEEN];
    size_t count;
} seen;

static uint64_t sum_of(const netprof_snapshot *s)
{
    uint64_t sum = (uint64_t)s->begin_ns + 31 * (uint64_t)s->wall_ns;
    for (size_t i = 0; i < s->schema->counter_count; i++)
        sum = sum * 1099511628211u + s->values[i] + s->status[i];
    return sum;
}

static void take(void *user, const netprof_snapshot *s)
{
    seen *x = user;
    if (x->count < SEEN) x->sums[x->count] = sum_of(s);
    x->count++;
}

/* False: damaged, or not read to its end. */
static bool read_whole(const uint8_t *data, size_t size, seen *all, bool *complete)
{
    netprof_reader *reader;
    netprof_item item = {.type = NETPROF_ITEM_FACT};
    bool whole = true;
    if (netprof_reader_open_memory(&reader, data, size, NULL, NULL)) return false;
    while (whole && item.type != NETPROF_ITEM_END) {
        if (netprof_reader_next(reader, &item, NULL)) whole = false;
        if (item.type == NETPROF_ITEM_DAMAGE || item.type == NETPROF_ITEM_FILE) whole = false;
        if (whole && item.type == NETPROF_ITEM_SNAPSHOT) take(all, item.snapshot);
    }
    *complete = whole && item.complete;
    netprof_reader_close(reader);
    return whole;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static seen followed, whole;
    pieces p;
    bool complete = false;
    netprof_error error = {.code = NETPROF_OK};
    netprof_err failed = NETPROF_OK;
    if (size > 1 << 16) return 0;
    pieces_take(&p, data, size);
    followed.count = whole.count = 0;
    if (p.count) {
        size_t step = 1 + (size_t)(p.choice & 63) * 97, at = 0, looks = p.choice & 64 ? 64 : 8;
        if (p.size[0] / step > looks) step = p.size[0] / looks + 1;
        int fd = -1;
        expect(sscanf(p.paths[0], "/proc/self/fd/%d", &fd) == 1 && ftruncate(fd, 0) == 0);
        follow *f = follow_open(p.paths[0]);
        while (!failed && at < p.size[0]) {
            size_t n = step < p.size[0] - at ? step : p.size[0] - at;
            expect(pwrite(fd, p.data[0] + at, n, (off_t)at) == (ssize_t)n);
            at += n;
            failed = follow_look(f, take, &followed, &error);
        }
        if (read_whole(p.data[0], p.size[0], &whole, &complete)) {
            size_t found = 0;
            expect(!failed && (follow_ended(f) || !complete));
            for (size_t i = 0; i < followed.count && i < SEEN && found < whole.count; i++)
                found += followed.sums[i] == whole.sums[found];
            expect(found == whole.count || followed.count > SEEN);
        }
        follow_close(f);
    }
    pieces_free(&p);
    return 0;
}

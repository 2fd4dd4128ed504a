/* Region files: the input, cut into two files, is joined with a good one. Whatever is in it, the good one's figures are
   there, every index can be followed, and sums are those of the ranks. */
#define _GNU_SOURCE
#include "analysis/regions/regions.h"
#include "pieces.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char directory[256], paths[3][300];

static void tidy(void)
{
    for (int i = 0; i < 3; i++)
        unlink(paths[i]);
    rmdir(directory);
}

static void write_file(const char *path, const void *data, size_t size)
{
    FILE *f = fopen(path, "wb");
    expect(f != NULL);
    expect(!size || fwrite(data, 1, size, f) == size);
    expect(fclose(f) == 0);
}

/* A fuzzer does not guess checksums: those of whole chunks are put right. */
static void put_right(unsigned char *data, size_t size)
{
    for (size_t at = 16; at + 12 <= size;) {
        size_t length = (size_t)pieces_get(data + at + 4, 4);
        if (length > size - at - 12) return;
        pieces_sum(data + at, length);
        at += 12 + length;
    }
}

static void write_good(const char *path)
{
    uint64_t buckets[NETPROF_HISTOGRAM_BUCKETS] = {0};
    netprof_stat stats[] = {{.parent = UINT32_MAX,
                             .region = "main",
                             .calls = 2,
                             .measured = 2,
                             .total_ns = 30,
                             .inclusive_ns = 30,
                             .exclusive_ns = 30,
                             .min_ns = 10,
                             .max_ns = 20,
                             .histogram = buckets}};
    netprof_regions r = {.stats = stats,
                         .count = 1,
                         .wall_ns = INT64_C(1234567890123456789),
                         .mode = NETPROF_MODE_TIME,
                         .clock = "tsc",
                         .warning = ""};
    netprof_writer *w = NULL;
    buckets[10] = buckets[20] = 1;
    expect(netprof_writer_open(&w, path, 0, NULL) == NETPROF_OK);
    expect(netprof_write_fact(w, "host", "good host of ours", NULL) == NETPROF_OK);
    expect(netprof_write_regions(w, &r, NULL) == NETPROF_OK);
    expect(netprof_writer_close(w, 1, NULL) == NETPROF_OK);
}

static void start(void)
{
    const char *base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    if (*directory) return;
    snprintf(directory, sizeof directory, "%s/netprof-fuzz-XXXXXX", base);
    expect(mkdtemp(directory) != NULL);
    for (int i = 0; i < 3; i++)
        snprintf(paths[i], sizeof paths[i], "%s/%d.netprof", directory, i);
    write_good(paths[2]);
    atexit(tidy);
}

static void walk_node(const regions *r, size_t i)
{
    const regions_node *n = &r->nodes[i];
    uint64_t calls = 0, buckets[NETPROF_HISTOGRAM_BUCKETS];
    char *path = regions_path(r, i);
    expect(path != NULL);
    size_t found = regions_find(r, path);
    expect(found <= i && (found == i || r->nodes[found].span != n->span || r->nodes[found].parent != n->parent));
    char *again =
        regions_path(r, found); /* a region and a span of one name and place have one path: the first is found */
    expect(strcmp(again, path) == 0);
    free(again);
    free(path);
    expect(n->end > i && n->end <= r->node_count && (n->parent == REGIONS_NONE || n->parent < i));
    for (size_t k = 0; k < n->cell_count; k++) {
        expect(n->cells[k].rank < r->rank_count && (!k || n->cells[k].rank > n->cells[k - 1].rank));
        calls = calls + n->cells[k].sums.calls < calls ? UINT64_MAX : calls + n->cells[k].sums.calls;
        regions_cell_histogram(&n->cells[k], buckets);
    }
    expect(calls == n->sums.calls);
    if (n->cell_count) expect(n->fastest < n->cell_count && n->slowest < n->cell_count);
    expect(n->odd == REGIONS_NONE || n->odd < n->cell_count);
    if (regions_histogram(n, buckets)) {
        regions_quantile q = regions_quantile_of(buckets, 0.5, n->sums.min_ns, n->sums.max_ns);
        expect(q.low_ns <= q.high_ns);
    }
    for (size_t k = 0; k < n->reading_count; k++) {
        const regions_reading *x = &n->readings[k];
        expect(x->host < r->host_count && x->rank < r->rank_count && (!k || x->host >= x[-1].host));
        expect(x->state != REGIONS_KNOWN || r->hosts[x->host].schema != NULL);
    }
}

/* The region of the good file; the other may have spans of its name. */
static size_t find_main(const regions *r)
{
    size_t i = 0;
    while (i < r->node_count && (r->nodes[i].span || strcmp(r->nodes[i].name, "main") != 0))
        i = r->nodes[i].end;
    expect(i < r->node_count);
    return i;
}

static void walk(const regions *r)
{
    bool good = false;
    for (size_t i = 0; i < r->node_count; i++)
        walk_node(r, i);
    for (size_t i = 0; i < r->rank_count; i++) {
        expect(r->ranks[i].host < r->host_count && strlen(r->ranks[i].label) > 0);
        bool ours = strcmp(r->hosts[r->ranks[i].host].name, "good host of ours") == 0;
        if (!ours || r->ranks[i].calls != 2) continue;
        const regions_cell *cell = regions_cell_of(&r->nodes[find_main(r)], i);
        good |= cell && cell->sums.inclusive_ns == 30 && cell->sums.max_ns == 20;
    }
    expect(good && r->title && *r->title);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static rules set;
    regions r = {0};
    regions_flat flat;
    const char *all[3] = {paths[0], paths[1], paths[2]};
    size_t first = size > 2 ? (size_t)(data[size - 1] | data[size - 2] << 8) % (size + 1) : size;
    start();
    if (!set.count) rules_builtin(&set);
    if (first > size / 2) first = size; // mostly one file, or the second would be nonsense
    unsigned char *copy = malloc(size + 1);
    expect(copy != NULL);
    if (size) memcpy(copy, data, size);
    put_right(copy, first);
    write_file(paths[0], copy, first);
    write_file(paths[1], copy + first, size - first);
    free(copy);
    regions_options options = {.rules = &set, .threads = 1, .max_bytes = 1 << 20};
    expect(regions_read(&r, all, 3, &options, NULL) == NETPROF_OK);
    walk(&r);
    regions_flatten(&flat, &r);
    expect(flat.node_count <= r.node_count);
    regions_flat_free(&flat);
    regions_free(&r);
    return 0;
}

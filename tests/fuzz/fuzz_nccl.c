// Logs of the NCCL Inspector: a chunk of lines, whatever its bytes, and the whole way from it to findings. What begins as
// a .netprof file is read as one of netprof's own profiler plugin, its checksums put right: a fuzzer does not guess them.
#define _GNU_SOURCE
#include "analysis/nccl/logs/nccl_parts.h"

#include "analysis/nccl/export/nccl_export.h"
#include "analysis/nccl/findings/nccl_findings.h"
#include "analysis/nccl/findings/nccl_peers.h"
#include "analysis/nccl/logs/nccl_recorded.h"
#include "expect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// Line by line, each copied so that reading behind it is noticed.
static void feed(nccl_chunk *c, const uint8_t *data, size_t size)
{
    c->end = UINT64_MAX;
    nccl_chunk_begin(c);
    for (size_t at = 0, length; at <= size; at += length + 1) {
        const uint8_t *end = size > at ? memchr(data + at, '\n', size - at) : NULL;
        length = end ? (size_t)(end - (data + at)) : size - at;
        char *line = malloc(length + 1 + NCCL_LINE_PAD);
        expect(line != NULL);
        if (length) memcpy(line, data + at, length);
        memset(line + length, 0, 1 + NCCL_LINE_PAD);
        line[length] = '\n';
        nccl_chunk_feed(c, line, length);
        free(line);
    }
}

// CRC-32 of IEEE 802.3.
static uint32_t checksum(uint32_t crc, const uint8_t *data, size_t size)
{
    for (crc = ~crc; size--; data++) {
        crc ^= *data;
        for (int k = 0; k < 8; k++)
            crc = crc & 1 ? UINT32_C(0xedb88320) ^ crc >> 1 : crc >> 1;
    }
    return ~crc;
}

// Of whole chunks, over tag, length and content.
static void put_right(uint8_t *data, size_t size)
{
    for (size_t at = 16; size >= 28 && at <= size - 12;) {
        size_t length = data[at + 4] | (size_t)data[at + 5] << 8 | (size_t)data[at + 6] << 16;
        if (data[at + 7] || length > size - at - 12) return;
        uint32_t crc = checksum(checksum(0, data + at, 8), data + at + 12, length);
        for (size_t i = 0; i < 4; i++)
            data[at + 8 + i] = (uint8_t)(crc >> 8 * i);
        at += 12 + length;
    }
}

static void read_recorded(nccl_chunk *c, const uint8_t *data, size_t size)
{
    char path[64];
    uint64_t done = 0;
    uint8_t *copy = malloc(size);
    int fd = memfd_create("recorded", MFD_CLOEXEC);
    expect(copy != NULL && fd >= 0);
    memcpy(copy, data, size);
    put_right(copy, size);
    expect(write(fd, copy, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    nccl_recorded_read(c, path, &done);
    expect(c->lines <= size); // a row is a byte at least
    close(fd);
    free(copy);
}

static void check(const nccl *n)
{
    uint64_t records = 0;
    for (size_t i = 0; i < n->instance_count; i++) {
        const nccl_instance *x = &n->instances[i];
        const nccl_series *s = &n->series[x->series];
        const nccl_communicator *c = &n->communicators[s->communicator];
        records += x->count;
        expect(x->count > 0 && (int64_t)x->count <= c->ranks && x->count <= c->member_count);
        expect(x->min_us <= x->second_us && x->second_us <= x->max_us);
        expect(x->late_count >= 1 && x->late_count <= x->count);
        expect(n->members[x->first_late].communicator == s->communicator);
        for (uint32_t k = 0; k < x->count; k++)
            expect(n->records[x->first + k].sn == x->sn);
    }
    expect(records + n->duplicates + n->conflicts == n->record_count);
    for (size_t i = 0; i < n->series_count; i++) {
        const nccl_spread *w = &n->series[i].spreads.wire_us;
        expect(w->count == n->series[i].instance_count);
        expect(w->min <= w->p5 && w->p5 <= w->p50 && w->p50 <= w->p95 && w->p95 <= w->max);
    }
}

// Each cell joins two members of one communicator; nothing is there that no side logged.
static void check_peers(const nccl *n)
{
    nccl_peers p;
    nccl_peers_make(&p, n);
    for (size_t i = 0; i < p.count; i++) {
        const nccl_peer *x = &p.items[i];
        expect(x->sender != NCCL_NONE || x->receiver != NCCL_NONE);
        expect(x->sender == NCCL_NONE || n->members[x->sender].communicator == x->communicator);
        expect(x->receiver == NCCL_NONE || n->members[x->receiver].communicator == x->communicator);
        for (int w = 0; w < NCCL_WAITS; w++)
            expect(isnan(x->beside[w]) || x->beside[w] >= 0);
    }
    nccl_peers_free(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    nccl n = {0};
    nccl_chunk chunk = {0};
    nccl_findings f;
    size_t written = 0;
    nccl_store *memory = calloc(1, sizeof *memory);
    expect(memory != NULL);
    memory->threads = 1;
    n.memory = memory;
    nccl_file file = {.path = nccl_arena_text(&memory->arena, "input", 5), .name = "input"};
    arrput(n.files, file);
    n.file_count = 1;
    if (size > 16 && memcmp(data, "\x89NPROF\r\n", 8) == 0)
        read_recorded(&chunk, data, size);
    else
        feed(&chunk, data, size);
    nccl_merge(&n, &chunk, 1);
    nccl_merge_p2p(&n, &chunk, 1);
    nccl_merge_recorded(&n, &chunk, 1);
    nccl_group(&n);
    nccl_peaks_set(&n, NULL, 0);
    for (int i = 0; i < NCCL_OUTCOMES; i++)
        n.outcomes[i] = chunk.outcomes[i];
    expect(n.record_count == chunk.outcomes[NCCL_COLL]);
    check(&n);
    check_peers(&n);
    nccl_findings_make(&f, &n, NULL);
    for (int t = 0; t < NCCL_TABLES; t++)
        expect(nccl_export(&n, (nccl_table)t, NULL, discard, &written) == NETPROF_OK);
    json_object *o = nccl_json(&n, &f, NULL);
    expect(o != NULL);
    json_object_put(o);
    nccl_findings_free(&f);
    nccl_chunk_free(&chunk);
    nccl_free(&n);
    return 0;
}

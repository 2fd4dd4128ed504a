// A file of entries that is read while it grows: whatever its reader looked at before, each entry comes once it is whole, and
// what it holds is what was written.
#define _GNU_SOURCE // pwrite
#include "live/spool/seglog.h"
#include "netprof.h"
#include "support.h"

#include <fcntl.h>
#include <unistd.h>

enum { ENTRIES = 120, LARGEST = 9000 };

static char *top;

static int set_up(void **state)
{
    (void)state;
    top = tree_make();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    tree_remove(top);
    return 0;
}

// Nothing, a few bytes, about as much as is read at once, more than that.
static size_t size_of(unsigned number)
{
    static const size_t sizes[] = {0, 1, 40, 300, 1700, 2048, 2049, 4060, 4096, LARGEST, 12, 600};
    return sizes[number % (sizeof sizes / sizeof *sizes)] + number % 3;
}

static void fill(unsigned char *to, size_t size, unsigned number)
{
    for (size_t i = 0; i < size; i++)
        to[i] = (unsigned char)(i * 31 + number * 7 + (i >> 8));
}

static int begin(const char *name, seglog *log, char *path, size_t room)
{
    seglog_header header = {.first = 1};
    snprintf(path, room, "%s/%s", top, name);
    assert_int_equal(seglog_create(log, path, &header), 0);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

// The bytes of entry `number` in this file.
static size_t make(const seglog *log, unsigned char *to, unsigned number)
{
    size_t size = size_of(number);
    fill(to + SEGLOG_HEAD, size, number);
    seglog_head(log, to,
                &(seglog_entry){.kind = 3, .number = number, .size = (uint32_t)size, .data = to + SEGLOG_HEAD});
    return SEGLOG_HEAD + size;
}

static void expect_entry(const seglog_entry *e, unsigned number)
{
    static unsigned char data[LARGEST + 3];
    size_t size = size_of(number);
    fill(data, size, number);
    assert_int_equal(e->number, number);
    assert_int_equal(e->kind, 3);
    assert_int_equal(e->size, size);
    if (size) assert_memory_equal(e->data, data, size);
}

// Each entry arrives in two parts, cut somewhere else each time; the reader looks before, between and after. What is missing
// is not there yet, or is zeros.
static void halves_are_waited_for(void **state)
{
    static unsigned char bytes[SEGLOG_HEAD + LARGEST + 3];
    char path[600];
    seglog log;
    seglog_reader r;
    seglog_entry e;
    uint64_t at = SEGLOG_HEADER;
    int fd = begin("grows", &log, path, sizeof path);
    (void)state;
    assert_int_equal(seglog_reader_open(&r, path), 0);
    for (unsigned number = 0; number < ENTRIES; number++) {
        size_t size = make(&log, bytes, number), first = number * 37 % size;
        assert_false(seglog_reader_here(&r, &e));
        assert_int_equal(pwrite(fd, bytes, first, (off_t)at), (ssize_t)first);
        if (number % 2) assert_int_equal(ftruncate(fd, (off_t)(at + size)), 0);
        assert_false(seglog_reader_here(&r, &e));
        assert_int_equal(r.at, at);
        assert_int_equal(pwrite(fd, bytes + first, size - first, (off_t)(at + first)), (ssize_t)(size - first));
        assert_true(seglog_reader_here(&r, &e));
        expect_entry(&e, number);
        at += size;
    }
    assert_int_equal(r.lost, 0);
    seglog_reader_close(&r);
    seglog_close(&log);
    close(fd);
}

// Several entries and half of one more are there; the half is taken back, and another written in its place.
static void what_was_taken_back_is_not_read(void **state)
{
    static unsigned char bytes[SEGLOG_HEAD + LARGEST + 3];
    char path[600];
    seglog log;
    seglog_reader r;
    seglog_entry e;
    int fd = begin("taken_back", &log, path, sizeof path);
    (void)state;
    assert_int_equal(seglog_reader_open(&r, path), 0);
    for (unsigned number = 0; number < ENTRIES; number += 3) {
        for (unsigned i = number; i < number + 2; i++)
            assert_int_equal(seglog_append_made(&log, bytes, make(&log, bytes, i)), 0);
        size_t size = make(&log, bytes, number + 5), half = size / 2;
        assert_int_equal(pwrite(fd, bytes, half, (off_t)log.size), (ssize_t)half);
        for (unsigned i = number; i < number + 2; i++) {
            assert_true(seglog_reader_here(&r, &e));
            expect_entry(&e, i);
        }
        seglog_take_back(&log, log.size);
        assert_int_equal(seglog_append_made(&log, bytes, make(&log, bytes, number + 2)), 0);
        assert_true(seglog_reader_here(&r, &e));
        expect_entry(&e, number + 2);
        assert_false(seglog_reader_here(&r, &e));
    }
    seglog_reader_close(&r);
    seglog_close(&log);
    close(fd);
}

// Where one goes back to, and damage in one entry: the others come as they are.
static void places_and_damage(void **state)
{
    static unsigned char bytes[SEGLOG_HEAD + LARGEST + 3];
    uint64_t places[ENTRIES];
    char path[600];
    seglog log;
    seglog_reader r;
    seglog_entry e;
    int fd = begin("places", &log, path, sizeof path);
    (void)state;
    for (unsigned number = 0; number < ENTRIES; number++) {
        places[number] = log.size;
        assert_int_equal(seglog_append_made(&log, bytes, make(&log, bytes, number)), 0);
    }
    assert_int_equal(pwrite(fd, "damage", 6, (off_t)places[50] + 20), 6);
    assert_int_equal(seglog_reader_open(&r, path), 0);
    for (unsigned i = 0; i < ENTRIES; i++) {
        unsigned number = i * 71 % ENTRIES;
        r.at = places[number];
        assert_int_equal(seglog_reader_here(&r, &e), number != 50);
        if (number != 50) expect_entry(&e, number);
    }
    r.at = SEGLOG_HEADER;
    for (unsigned number = 0; number < ENTRIES; number += number == 49 ? 2 : 1) {
        assert_true(seglog_reader_next(&r, &e));
        expect_entry(&e, number);
    }
    assert_false(seglog_reader_next(&r, &e));
    assert_int_equal(r.lost, places[51] - places[50]);
    seglog_reader_close(&r);
    seglog_close(&log);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(halves_are_waited_for),
                                       cmocka_unit_test(what_was_taken_back_is_not_read),
                                       cmocka_unit_test(places_and_damage)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

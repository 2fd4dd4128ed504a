/* Where the parts of a file begin: in files of any size, whose bytes are looked at in windows, and wherever a header lies. */
#define _GNU_SOURCE
#include "netprof.h"

#include "analysis/data/file_parts.h"
#include "support.h"

#include <fcntl.h>
#include <unistd.h>

enum { HEADER = 16, MIB = 1 << 20 };

static const unsigned char header[HEADER] = {0x89, 'N', 'P', 'R', 'O', 'F', '\r', '\n', 1, 0, 0, 0, 4, 3, 2, 1};

// A file of `size` bytes with headers at 0 and at the places given; what lies between is no hole, or one.
static void write_file(const char *path, size_t size, const size_t *at, size_t count, bool hole)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    if (!hole) {
        unsigned char *bytes = malloc(size);
        memset(bytes, 'x', size);
        assert_int_equal(pwrite(fd, bytes, size, 0), size);
        free(bytes);
    }
    assert_int_equal(ftruncate(fd, (off_t)size), 0);
    assert_int_equal(pwrite(fd, header, HEADER, 0), HEADER);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(pwrite(fd, header, HEADER, (off_t)at[i]), HEADER);
    close(fd);
}

static void assert_parts(const char *path, size_t size, const size_t *at, size_t count, bool hole)
{
    parts p = {0};
    netprof_error error;
    write_file(path, size, at, count, hole);
    assert_int_equal(parts_open(&p, path, &error), NETPROF_OK);
    assert_int_equal(p.count, count + 1);
    assert_int_equal(p.size, size);
    assert_int_equal(p.at[0], 0);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(p.at[i + 1], at[i]);
        assert_int_equal(parts_size(&p, i + 1), (i + 1 < count ? at[i + 1] : size) - at[i]);
    }
    parts_close(&p);
}

// A header may begin at each byte around the end of the first windows, and end with the file.
static void headers_at_edges(void **state)
{
    char *tree = tree_make(), path[300];
    (void)state;
    snprintf(path, sizeof path, "%s/parts.netprof", tree);
    for (size_t off = 0; off <= 2 * HEADER; off++) {
        const size_t first = MIB - HEADER + off - 8,
                     at[] = {first, first + HEADER, 2 * MIB - 40 + off, 3 * MIB - HEADER};
        assert_parts(path, 3 * MIB, at, 4, false);
        assert_parts(path, 3 * MIB, at, 4, true);
    }
    tree_remove(tree);
}

// Sizes around that of a window, and of what a small file is given beside its own size.
static void sizes_of_files(void **state)
{
    static const size_t sizes[] = {40,         4095,    4096, 4097,    MIB - 4097, MIB - 4096,
                                   MIB - 4095, MIB - 1, MIB,  MIB + 1, MIB + 4096};
    char *tree = tree_make(), path[300];
    (void)state;
    snprintf(path, sizeof path, "%s/parts.netprof", tree);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const size_t last = sizes[i] - HEADER, none_whole = sizes[i] - HEADER + 1;
        parts p = {0};
        netprof_error error;
        assert_parts(path, sizes[i], &last, 1, false);
        write_file(path, sizes[i], NULL, 0, false);
        int fd = open(path, O_WRONLY);
        assert_int_equal(pwrite(fd, header, HEADER - 1, (off_t)none_whole), HEADER - 1);
        close(fd);
        assert_int_equal(parts_open(&p, path, &error), NETPROF_OK);
        assert_true(p.count == 1 && p.size == sizes[i]);
        parts_close(&p);
    }
    tree_remove(tree);
}

// Bytes like a header that say another order of bytes, or a version that cannot be, are none.
static void what_is_no_header(void **state)
{
    static const struct {
        size_t byte;
        unsigned char value;
        size_t parts;
    } changes[] = {{0, 0x88, 1}, {7, '\r', 1}, {8, 2, 2},  {9, 7, 2},  {10, 1, 1},
                   {11, 1, 1},   {12, 5, 1},   {13, 4, 1}, {14, 1, 1}, {15, 2, 1}};
    char *tree = tree_make(), path[300];
    (void)state;
    snprintf(path, sizeof path, "%s/parts.netprof", tree);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        const size_t at = 500;
        parts p = {0};
        netprof_error error;
        write_file(path, 1000, &at, 1, false);
        int fd = open(path, O_WRONLY);
        assert_int_equal(pwrite(fd, &changes[i].value, 1, (off_t)(at + changes[i].byte)), 1);
        close(fd);
        assert_int_equal(parts_open(&p, path, &error), NETPROF_OK);
        assert_int_equal(p.count, changes[i].parts);
        parts_close(&p);
    }
    tree_remove(tree);
}

// Too short, another file, none: each is said, with its name.
static void what_is_no_file(void **state)
{
    char *tree = tree_make(), path[300];
    parts p = {0};
    netprof_error error;
    (void)state;
    snprintf(path, sizeof path, "%s/short.netprof", tree);
    write_file(path, HEADER, NULL, 0, false);
    assert_int_equal(parts_open(&p, path, &error), NETPROF_OK);
    assert_true(p.count == 1 && p.size == HEADER);
    parts_close(&p);
    assert_int_equal(truncate(path, HEADER - 1), 0);
    assert_int_equal(parts_open(&p, path, &error), NETPROF_ERR_FORMAT);
    assert_string_equal(error.text, "not a .netprof file (its first bytes are others)");
    assert_string_equal(error.path, path);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(parts_open(&p, path, &error), NETPROF_ERR_IO);
    assert_string_equal(error.path, path);
    assert_int_equal(parts_open(&p, tree, &error), NETPROF_ERR_IO);
    assert_string_equal(error.path, tree);
    tree_remove(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_at_edges),
        cmocka_unit_test(sizes_of_files),
        cmocka_unit_test(what_is_no_header),
        cmocka_unit_test(what_is_no_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

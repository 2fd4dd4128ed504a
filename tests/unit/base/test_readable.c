// Inputs are opened by one set of rules: packed ones are unpacked, pipes are read once, devices are refused.
#define _GNU_SOURCE // nftw, mkfifo
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "netprof.h"
#include "tree.h"
#include "analysis/base/readable.h"
#include "analysis/base/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum { LARGE = 300000, PACKED_MOST = 400000 }; // several blocks of what is read at a time

static unsigned char plain[LARGE], packed[PACKED_MOST], got[LARGE + 16];

// Bytes that do not pack well, so that the packed ones come in several blocks, too.
static void fill(void)
{
    uint32_t x = 1;
    for (size_t i = 0; i < LARGE; i++) {
        x = x * 1664525u + 1013904223u;
        plain[i] = (unsigned char)(x >> 24);
    }
}

static size_t gzipped(const void *data, size_t size, size_t at)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (Bytef *)(uintptr_t)data;
    z.avail_in = (uInt)size;
    z.next_out = packed + at;
    z.avail_out = (uInt)(sizeof packed - at);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return at + z.total_out;
}

static size_t zstandard(const void *data, size_t size, size_t at)
{
    size_t n = ZSTD_compress(packed + at, sizeof packed - at, data, size, 1);
    assert_false(ZSTD_isError(n));
    return at + n;
}

static void write_bytes(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(tree_path(path), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static int descriptor_of(const void *data, size_t size)
{
    write_bytes("packed", data, size);
    int fd = open(tree_path("packed"), O_RDONLY);
    assert_true(fd >= 0);
    return fd;
}

// ---- unpacking ----

// What comes of a file in pieces of so many bytes, and what is said of it.
static size_t unpacked_in_pieces(const void *data, size_t size, size_t piece, unpack_packing packing,
                                 const char *problem)
{
    int fd = descriptor_of(data, size);
    unpack *u = unpack_open(fd, false);
    size_t n = 0, more;
    assert_int_equal(unpack_packing_of(u), packing);
    while ((more = unpack_read(u, got + n, piece < sizeof got - n ? piece : sizeof got - n)) == piece)
        n += more;
    n += more;
    assert_int_equal(unpack_read(u, got + n, 1), 0); // it stays at its end
    if (problem)
        assert_string_equal(unpack_problem(u), problem);
    else
        assert_null(unpack_problem(u));
    assert_int_equal(unpack_error(u), 0);
    assert_int_equal(unpack_taken(u), size);
    unpack_close(u);
    assert_true(fcntl(fd, F_GETFD) >= 0); // it is left open
    close(fd);
    return n;
}

typedef size_t pack_fn(const void *data, size_t size, size_t at);

static const struct {
    pack_fn *pack;
    unpack_packing packing;
} ways[] = {{gzipped, UNPACK_GZIP}, {zstandard, UNPACK_ZSTD}};

static void whatever_the_piece(void **state)
{
    static const size_t pieces[] = {1000, 65536, 100001, LARGE + 16};
    (void)state;
    fill();
    for (size_t w = 0; w < 2; w++) {
        size_t size = ways[w].pack(plain, LARGE, 0);
        for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
            memset(got, 0, sizeof got);
            assert_int_equal(unpacked_in_pieces(packed, size, pieces[i], ways[w].packing, NULL), LARGE);
            assert_memory_equal(got, plain, LARGE);
        }
    }
    assert_int_equal(unpacked_in_pieces(plain, LARGE, 70000, UNPACK_PLAIN, NULL), LARGE);
    assert_memory_equal(got, plain, LARGE);
    assert_int_equal(unpacked_in_pieces("", 0, 10, UNPACK_PLAIN, NULL), 0);
    assert_int_equal(unpacked_in_pieces("abc", 3, 10, UNPACK_PLAIN, NULL), 3);
}

static void members_follow_each_other(void **state)
{
    (void)state;
    for (size_t w = 0; w < 2; w++) {
        size_t size = ways[w].pack("one ", 4, 0);
        size = ways[w].pack("", 0, size);
        size = ways[w].pack("two", 3, size);
        assert_int_equal(unpacked_in_pieces(packed, size, 100, ways[w].packing, NULL), 7);
        assert_memory_equal(got, "one two", 7);
        assert_int_equal(unpacked_in_pieces(packed, size, 2, ways[w].packing, NULL), 7);
        assert_memory_equal(got, "one two", 7);
    }
}

// Blocks on a tape are filled up with zeros.
static void what_follows_the_last_member_is_padding(void **state)
{
    (void)state;
    size_t size = gzipped("text", 4, 0);
    memset(packed + size, 0, 500);
    assert_int_equal(unpacked_in_pieces(packed, size + 500, 100, UNPACK_GZIP, NULL), 4);
}

static void cut_and_damaged(void **state)
{
    (void)state;
    fill();
    for (size_t w = 0; w < 2; w++) {
        size_t size = ways[w].pack(plain, LARGE, 0);
        size_t came = unpacked_in_pieces(packed, size / 2, 1000, ways[w].packing, "the compressed data are cut");
        assert_true(came > LARGE / 4 && came < LARGE);
        assert_memory_equal(got, plain, came); // what comes before the cut
        came = unpacked_in_pieces(packed, size - 1, 1000, ways[w].packing, "the compressed data are cut");
        assert_memory_equal(got, plain, came);
    }
    size_t size = gzipped("a text that is long enough", 26, 0);
    packed[size - 5] ^= 0xff; // of the checksum
    (void)unpacked_in_pieces(packed, size, 100, UNPACK_GZIP, "the compressed data are damaged");
    size = zstandard("a text that is long enough", 26, 0);
    packed[4] ^= 0x08; // a bit that must be 0
    (void)unpacked_in_pieces(packed, size, 100, UNPACK_ZSTD, "the compressed data are damaged");
}

static void plain_on_demand(void **state)
{
    (void)state;
    size_t size = gzipped("text", 4, 0);
    int fd = descriptor_of(packed, size);
    assert_int_equal(lseek(fd, 3, SEEK_SET), 3); // from where it stands
    unpack *u = unpack_open(fd, true);
    assert_int_equal(unpack_packing_of(u), UNPACK_PLAIN);
    assert_int_equal(unpack_taken(u), 0);
    assert_int_equal(unpack_read(u, got, 5), 5);
    assert_int_equal(unpack_taken(u), 5);
    assert_int_equal(unpack_read(u, got + 5, sizeof got - 5), size - 8);
    assert_memory_equal(got, packed + 3, size - 3);
    unpack_close(u);
    close(fd);
    unpack_close(NULL);
}

static void told_by_the_first_bytes(void **state)
{
    static const unsigned char gzip[] = {0x1f, 0x8b, 1}, zstd[] = {0x28, 0xb5, 0x2f, 0xfd};
    (void)state;
    assert_true(unpack_is_packed(gzip, 3));
    assert_true(unpack_is_packed(gzip, 2));
    assert_false(unpack_is_packed(gzip, 1));
    assert_true(unpack_is_packed(zstd, 4));
    assert_false(unpack_is_packed(zstd, 3));
    assert_false(unpack_is_packed("text", 4));
    assert_false(unpack_is_packed("", 0));
}

static void a_reading_that_fails(void **state)
{
    (void)state;
    int fd = open(tree_path(""), O_RDONLY); // a directory
    unpack *u = unpack_open(fd, true);
    assert_int_equal(unpack_read(u, got, 10), 0);
    assert_int_equal(unpack_error(u), EISDIR);
    assert_string_equal(unpack_problem(u), "cannot be read to its end");
    unpack_close(u);
    close(fd);
}

// ---- opening ----

static size_t content(int fd)
{
    size_t n = 0;
    assert_true(fd >= 0);
    for (ssize_t more; (more = read(fd, got + n, sizeof got - n)) > 0;)
        n += (size_t)more;
    close(fd);
    return n;
}

static void packed_files_are_opened_unpacked(void **state)
{
    (void)state;
    fill();
    for (size_t w = 0; w < 2; w++) {
        memset(plain + 50000, 0, 150000); // zeros take no room
        memset(plain + LARGE - 70000, 0, 70000);
        size_t size = ways[w].pack(plain, LARGE, 0);
        write_bytes("data", packed, size);
        for (int i = 0; i < 2; i++) { // each time from its begin
            assert_int_equal(content(readable_open(tree_path("data"))), LARGE);
            assert_memory_equal(got, plain, LARGE);
        }
        assert_int_equal(content(readable_open_packed(tree_path("data"))), size);
        assert_memory_equal(got, packed, size);
        char *path = readable_path(tree_path("data"));
        assert_int_equal(content(open(path, O_RDONLY)), LARGE);
        assert_memory_equal(got, plain, LARGE);
        free(path);
        unlink(tree_path("data"));
    }
}

// Another file under the same name is unpacked anew.
static void a_file_that_changed_is_unpacked_again(void **state)
{
    (void)state;
    write_bytes("data", packed, gzipped("first", 5, 0));
    assert_int_equal(content(readable_open(tree_path("data"))), 5);
    write_bytes("data", packed, gzipped("the second one", 14, 0));
    assert_int_equal(content(readable_open(tree_path("data"))), 14);
    assert_memory_equal(got, "the second one", 14);
    // More files than are kept.
    for (int i = 0; i < 40; i++) {
        char name[16], text[16];
        snprintf(name, sizeof name, "f%d", i);
        snprintf(text, sizeof text, "content %d", i);
        write_bytes(name, packed, gzipped(text, strlen(text), 0));
        assert_int_equal(content(readable_open(tree_path(name))), strlen(text));
        assert_memory_equal(got, text, strlen(text));
    }
    assert_int_equal(content(readable_open(tree_path("f0"))), 9);
    assert_memory_equal(got, "content 0", 9);
}

static void damaged_and_large_ones_are_refused(void **state)
{
    static unsigned char zeros[1 << 20];
    (void)state;
    size_t size = gzipped("a text that is long enough", 26, 0);
    memset(packed + 10, 0xff, size - 10);
    write_bytes("damaged", packed, size);
    assert_int_equal(readable_open(tree_path("damaged")), -1);
    assert_int_equal(errno, EBADMSG);
    // 300 MiB of zeros are more than a hundred times their packed size; 200 MiB are few enough whatever that is.
    size = zstandard(zeros, sizeof zeros, 0);
    FILE *file = fopen(tree_path("few"), "wb");
    for (int i = 0; i < 200; i++)
        assert_int_equal(fwrite(packed, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    int fd = readable_open(tree_path("few"));
    struct stat st;
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_size, INT64_C(200) << 20);
    assert_true(st.st_blocks < 1000); // zeros take no room
    close(fd);
    file = fopen(tree_path("many"), "wb");
    for (int i = 0; i < 300; i++)
        assert_int_equal(fwrite(packed, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(readable_open(tree_path("many")), -1);
    assert_int_equal(errno, E2BIG);
}

static void plain_files(void **state)
{
    (void)state;
    tree_write("file", "plain text");
    int fd = readable_open(tree_path("file"));
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    assert_false(fcntl(fd, F_GETFL) & O_NONBLOCK);
    assert_int_equal(content(fd), 10);
    FILE *stream = readable_stream(tree_path("file"));
    assert_int_equal(fgetc(stream), 'p');
    fclose(stream);
    char *path = readable_path(tree_path("file"));
    assert_string_equal(path, tree_path("file"));
    free(path);
    path = readable_path(tree_path("none")); // opening it says why not
    assert_string_equal(path, tree_path("none"));
    free(path);
    assert_int_equal(readable_open(tree_path("none")), -1);
    assert_int_equal(errno, ENOENT);
    assert_null(readable_stream(tree_path("none")));
    assert_int_equal(errno, ENOENT);
}

static void directories_and_devices(void **state)
{
    (void)state;
    assert_int_equal(readable_open(tree_path("")), -1);
    assert_int_equal(errno, EISDIR);
    assert_int_equal(readable_open("/dev/zero"), -1);
    assert_int_equal(errno, EMEDIUMTYPE);
    assert_int_equal(content(readable_open("/dev/null")), 0);
}

static void reasons_in_words(void **state)
{
    (void)state;
    assert_string_equal(readable_error(EMEDIUMTYPE), "is a device; expected a file or a pipe");
    assert_string_equal(readable_error(EFBIG), "gives more than 4 GiB; put it into a file");
    assert_string_equal(readable_error(EINTR), "ended by a signal while nobody wrote this pipe");
    assert_string_equal(readable_error(E2BIG),
                        "unpacks to more than 4 GiB, or more than a hundred times its size; unpack it first");
    assert_string_equal(readable_error(EBADMSG), "its compressed data are damaged");
    assert_string_equal(readable_error(ENOTEMPTY), "no room for a copy in $TMPDIR");
    assert_string_equal(readable_error(ENOENT), strerror(ENOENT));
}

static size_t waits_begun, waits_ended;

static void waits(const char *path, int begins)
{
    assert_string_equal(path, tree_path("pipe"));
    waits_begun += begins == 1;
    waits_ended += begins == 0;
}

// A named pipe is read once, however often it is opened; that nobody writes it yet is said.
static void a_pipe_is_read_once(void **state)
{
    int status;
    (void)state;
    fill();
    assert_int_equal(mkfifo(tree_path("pipe"), 0600), 0);
    pid_t writer = fork();
    if (writer == 0) {
        usleep(150 * 1000);
        int fd = open(tree_path("pipe"), O_WRONLY);
        _exit(write(fd, plain, LARGE) == LARGE ? 0 : 1);
    }
    readable_on_wait(waits);
    assert_int_equal(content(readable_open(tree_path("pipe"))), LARGE);
    readable_on_wait(NULL);
    assert_memory_equal(got, plain, LARGE);
    assert_int_equal(waitpid(writer, &status, 0), writer);
    assert_int_equal(status, 0);
    assert_int_equal(waits_begun, 1);
    assert_int_equal(waits_ended, 1);
    memset(got, 0, sizeof got);
    assert_int_equal(content(readable_open(tree_path("pipe"))), LARGE);
    assert_memory_equal(got, plain, LARGE);
    char *path = readable_path(tree_path("pipe"));
    assert_int_equal(strncmp(path, "/proc/self/fd/", 14), 0);
    assert_int_equal(content(open(path, O_RDONLY)), LARGE);
    free(path);
}

// A signal that ends programs ends the wait, even while it is blocked.
static void a_signal_ends_the_wait(void **state)
{
    sigset_t term, before;
    (void)state;
    assert_int_equal(mkfifo(tree_path("silent"), 0600), 0);
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    assert_int_equal(sigprocmask(SIG_BLOCK, &term, &before), 0);
    assert_int_equal(raise(SIGTERM), 0);
    int fd = readable_open(tree_path("silent")), error = errno, taken = 0;
    assert_int_equal(sigwait(&term, &taken), 0);
    assert_int_equal(sigprocmask(SIG_SETMASK, &before, NULL), 0);
    assert_int_equal(fd, -1);
    assert_int_equal(error, EINTR);
    assert_int_equal(taken, SIGTERM);
}

// Each has its own place in the standard input.
static void the_standard_input(void **state)
{
    (void)state;
    int before = dup(STDIN_FILENO), ends[2];
    tree_write("in", "of a file");
    int fd = open(tree_path("in"), O_RDONLY);
    dup2(fd, STDIN_FILENO);
    close(fd);
    for (int i = 0; i < 2; i++)
        assert_int_equal(content(readable_open("-")), 9);
    assert_memory_equal(got, "of a file", 9);
    assert_int_equal(lseek(STDIN_FILENO, 0, SEEK_CUR), 0);
    assert_int_equal(lseek(STDIN_FILENO, 3, SEEK_SET), 3); // some of it was read: the rest, once
    for (int i = 0; i < 2; i++)
        assert_int_equal(content(readable_open("-")), 6);
    assert_memory_equal(got, "a file", 6);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "of a pipe, too", 14), 14);
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    for (int i = 0; i < 2; i++)
        assert_int_equal(content(readable_open("-")), 14);
    assert_memory_equal(got, "of a pipe, too", 14);
    assert_true(fcntl(STDIN_FILENO, F_GETFD) >= 0);
    dup2(before, STDIN_FILENO);
    close(before);
}

static void a_file_that_is_locked_grows(void **state)
{
    (void)state;
    tree_write("file", "");
    int fd = readable_open(tree_path("file")), writer = open(tree_path("file"), O_RDWR);
    assert_false(readable_grows(fd));
    assert_int_equal(flock(writer, LOCK_EX | LOCK_NB), 0); // asking left no lock behind
    assert_true(readable_grows(fd));
    close(writer);
    assert_false(readable_grows(fd));
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whatever_the_piece),
        cmocka_unit_test(members_follow_each_other),
        cmocka_unit_test(what_follows_the_last_member_is_padding),
        cmocka_unit_test(cut_and_damaged),
        cmocka_unit_test(plain_on_demand),
        cmocka_unit_test(told_by_the_first_bytes),
        cmocka_unit_test(a_reading_that_fails),
        cmocka_unit_test(packed_files_are_opened_unpacked),
        cmocka_unit_test(a_file_that_changed_is_unpacked_again),
        cmocka_unit_test(damaged_and_large_ones_are_refused),
        cmocka_unit_test(plain_files),
        cmocka_unit_test(directories_and_devices),
        cmocka_unit_test(reasons_in_words),
        cmocka_unit_test(a_pipe_is_read_once),
        cmocka_unit_test(a_signal_ends_the_wait),
        cmocka_unit_test(the_standard_input),
        cmocka_unit_test(a_file_that_is_locked_grows),
    };
    // One tree for all: a pipe is known by its inode, which the next test would get again.
    return cmocka_run_group_tests(tests, tree_setup, tree_teardown);
}

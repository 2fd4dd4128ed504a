// The spool and its files: what is whole after a kill, damage, a full disk and a ring that came round.
#define _GNU_SOURCE // nftw
#include "live/spool/crc32c.h"
#include "live/spool/sha256.h"
#include "live/spool/spool_reader.h"
#include "live/spool/spool_segments.h"
#include "netprof.h"
#include "support.h"

#include "analysis/base/stb_ds.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

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

static spool *open_spool(uint64_t bytes, uint64_t segment, const char *boot)
{
    char *why = NULL;
    char directory[600];
    snprintf(directory, sizeof directory, "%s/spool", top);
    const spool_options o = {.directory = directory, .bytes = bytes, .segment_bytes = segment, .boot_id = boot};
    spool *s = spool_open(&o, &why);
    if (!s) fail_msg("%s", why);
    spool_preamble(s, "preamble", 8);
    return s;
}

// The content of a tick follows from its number: 40 bytes or more.
static size_t content(char *to, uint64_t number)
{
    size_t size = 40 + (size_t)(number * 7919 % 300);
    memset(to, 'a' + (int)(number % 26), size);
    snprintf(to, 40, "%020llu", (unsigned long long)number);
    return size;
}

static int put(spool *s)
{
    char data[400];
    uint64_t number = spool_next(s);
    return spool_append(s, (int64_t)number * 1000, number % 64 == 1, data, content(data, number));
}

// Reads from `first` on; every tick that comes must be what was written. Returns how many, and the numbers that are missing.
static unsigned read_all(uint64_t first, uint64_t high, unsigned *missing, unsigned *reason)
{
    char directory[600], data[400];
    spool_tick t;
    unsigned count = 0;
    snprintf(directory, sizeof directory, "%s/spool", top);
    spool_reader *r = spool_reader_open(directory);
    *missing = 0;
    for (uint64_t next = first; spool_reader_get(r, next, high, &t); next = t.number + 1) {
        assert_true(t.number >= next);
        *missing += (unsigned)(t.number - next);
        if (t.number > next) *reason = t.reason;
        assert_int_equal(t.size, content(data, t.number));
        assert_memory_equal(t.data, data, t.size);
        assert_int_equal(t.wall_ns, (int64_t)t.number * 1000);
        assert_int_equal(t.is_key, t.number % 64 == 1);
        assert_memory_equal(t.preamble, "preamble", t.preamble_size);
        count++;
    }
    spool_reader_close(r);
    return count;
}

static const char *last_segment(void)
{
    char directory[600];
    spool_segment *all = NULL;
    snprintf(directory, sizeof directory, "%s/spool", top);
    assert_int_equal(spool_segments_list(directory, &all), 0);
    char *path = spool_segment_path(directory, arrlast(all).first);
    static char kept[700];
    snprintf(kept, sizeof kept, "%s", path);
    free(path);
    arrfree(all);
    return kept;
}

// RFC 3720 B.4's examples.
static void test_checksums(void **state)
{
    unsigned char data[32];
    (void)state;
    memset(data, 0, sizeof data);
    assert_int_equal(crc32c(0, data, 32), 0x8a9136aa);
    assert_int_equal(crc32c_plain(0, data, 32), 0x8a9136aa);
    for (int i = 0; i < 32; i++)
        data[i] = (unsigned char)i;
    assert_int_equal(crc32c(0, data, 32), 0x46dd794e);
    assert_int_equal(crc32c_plain(crc32c_plain(0, data, 5), data + 5, 27), 0x46dd794e);
    assert_int_equal(crc32c(crc32c(0, data, 5), data + 5, 27), 0x46dd794e);
}

// FIPS 180-4's examples, one million times "a", and every length around the blocks, by both ways.
static void test_hashes(void **state)
{
    static char many[1000000];
    static void (*const ways[])(unsigned char to[SHA256_BYTES], const void *data, size_t size) = {sha256, sha256_plain};
    unsigned char hash[SHA256_BYTES], other[SHA256_BYTES];
    (void)state;
    memset(many, 'a', sizeof many);
    for (size_t i = 0; i < 2; i++) {
        ways[i](hash, "abc", 3);
        assert_memory_equal(hash, "\xba\x78\x16\xbf\x8f\x01\xcf\xea\x41\x41\x40\xde\x5d\xae\x22\x23", 16);
        ways[i](hash, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56);
        assert_memory_equal(hash, "\x24\x8d\x6a\x61\xd2\x06\x38\xb8\xe5\xc0\x26\x93\x0c\x3e\x60\x39", 16);
        ways[i](hash, many, sizeof many);
        assert_memory_equal(hash, "\xcd\xc7\x6e\x5c\x99\x14\xfb\x92\x81\xa1\xc7\xe2\x84\xd7\x3e\x67", 16);
    }
    for (size_t i = 0; i < 300; i++)
        many[i] = (char)(i * i);
    for (size_t size = 0; size < 300; size++) {
        sha256(hash, many, size);
        sha256_plain(other, many, size);
        assert_memory_equal(hash, other, sizeof hash);
    }
}

static void test_goes_on_after_a_restart(void **state)
{
    unsigned missing, reason = 0;
    unsigned char stream[16];
    (void)state;
    spool *s = open_spool(1 << 20, 8192, "one");
    for (int i = 0; i < 300; i++)
        assert_int_equal(put(s), 0);
    memcpy(stream, spool_stream(s), 16);
    spool_close(s);
    s = open_spool(1 << 20, 8192, "one");
    assert_memory_equal(stream, spool_stream(s), 16);
    assert_int_equal(spool_next(s), 301);
    assert_int_equal(spool_cut(s), 0);
    for (int i = 0; i < 100; i++)
        assert_int_equal(put(s), 0);
    assert_int_equal(read_all(1, 400, &missing, &reason), 400);
    assert_int_equal(missing, 0);
    assert_int_equal(read_all(77, 400, &missing, &reason), 324);
    assert_int_equal(missing, 0);
    assert_int_equal(read_all(401, 400, &missing, &reason), 0);
    spool_close(s);
}

// After a restart of the node numbers that may have been sent are not used again.
static void test_node_restarted(void **state)
{
    unsigned missing, reason = 0;
    (void)state;
    spool *s = open_spool(1 << 20, 0, "one");
    for (int i = 0; i < 10; i++)
        put(s);
    spool_close(s);
    s = open_spool(1 << 20, 0, "two");
    assert_int_equal(spool_next(s), 11 + (1 << 20));
    put(s);
    assert_int_equal(read_all(1, spool_next(s) - 1, &missing, &reason), 11);
    assert_int_equal(missing, 1 << 20);
    assert_int_equal(reason, SPOOL_RESTARTED);
    spool_close(s);
    s = open_spool(1 << 20, 0, "two");
    assert_int_equal(spool_next(s), 12 + (1 << 20));
    spool_close(s);
}

// The disk is full when the node comes back: numbers that were passed over do not become a million lost readings.
static void test_node_restarted_on_a_full_disk(void **state)
{
    unsigned missing, reason = 0;
    struct rlimit limit, old;
    (void)state;
    spool *s = open_spool(1 << 20, 0, "one");
    for (int i = 0; i < 10; i++)
        put(s);
    spool_close(s);
    s = open_spool(1 << 20, 0, "two");
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    limit = old;
    limit.rlim_cur = 10;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    assert_int_not_equal(put(s), 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(put(s), 0);
    assert_int_equal(read_all(1, spool_next(s) - 1, &missing, &reason), 11);
    assert_int_equal(missing, (1 << 20) + 1);
    assert_int_equal(reason, SPOOL_RESTARTED);
    spool_close(s);
}

// The last segment cannot be read any more: its numbers may have been sent, and a head would take new ticks for those.
static void test_damaged_header(void **state)
{
    (void)state;
    spool *s = open_spool(1 << 20, 4096, "one");
    for (int i = 0; i < 100; i++)
        put(s);
    spool_close(s);
    int fd = open(last_segment(), O_RDWR | O_CLOEXEC);
    assert_int_equal(pwrite(fd, "x", 1, 20), 1);
    close(fd);
    s = open_spool(1 << 20, 4096, "one");
    assert_true(spool_next(s) > 100);
    assert_int_equal(put(s), 0);
    spool_close(s);
    tree_write_bytes(top, strstr(last_segment(), "spool/"), "NPLOG", 5); // killed before the header was written
    s = open_spool(1 << 20, 4096, "one");
    assert_true(spool_next(s) < 1 << 20);
    spool_close(s);
}

// A process that is killed while it writes as fast as it can: all that it said it had written is there.
static void test_kill(void **state)
{
    int said[2];
    uint64_t number = 0, last = 0;
    unsigned missing, reason = 0;
    (void)state;
    assert_int_equal(pipe(said), 0);
    pid_t child = fork();
    if (child == 0) {
        spool *s = open_spool(64 << 20, 65536, "one");
        for (;;) {
            put(s);
            number = spool_next(s) - 1;
            if (write(said[1], &number, sizeof number) != sizeof number) _exit(1);
        }
    }
    close(said[1]);
    while (last < 2000 && read(said[0], &number, sizeof number) == sizeof number)
        last = number;
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    while (read(said[0], &number, sizeof number) == sizeof number)
        last = number;
    close(said[0]);
    spool *s = open_spool(64 << 20, 65536, "one");
    assert_true(spool_next(s) > last);
    assert_true(spool_next(s) <= last + 2);
    assert_int_equal(read_all(1, spool_next(s) - 1, &missing, &reason), spool_next(s) - 1);
    assert_int_equal(missing, 0);
    spool_close(s);
}

// A tail that was torn at any byte.
static void test_torn_tail(void **state)
{
    unsigned missing, reason = 0;
    struct stat st;
    char bytes[8192];
    (void)state;
    spool *s = open_spool(1 << 20, 65536, "one");
    for (int i = 0; i < 5; i++)
        put(s);
    const char *path = last_segment();
    assert_int_equal(stat(path, &st), 0);
    put(s);
    spool_close(s);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t whole = read(fd, bytes, sizeof bytes);
    close(fd);
    assert_true(whole > st.st_size && whole < (ssize_t)sizeof bytes);
    for (off_t size = whole; size-- > st.st_size;) {
        assert_int_equal(truncate(path, size), 0);
        s = open_spool(1 << 20, 65536, "one");
        assert_int_equal(spool_next(s), 6);
        assert_int_equal(spool_cut(s), size - st.st_size);
        spool_close(s);
        assert_int_equal(stat(path, &(struct stat){0}), 0);
        tree_write_bytes(top, strstr(path, "spool/"), bytes, (size_t)whole);
    }
    s = open_spool(1 << 20, 65536, "one");
    assert_int_equal(read_all(1, 6, &missing, &reason), 6);
    spool_close(s);
}

// Any byte of a tick in the middle: that tick is a gap, all others are there.
static void test_damage(void **state)
{
    unsigned missing, reason = 0;
    struct stat before, after;
    (void)state;
    spool *s = open_spool(1 << 20, 65536, "one");
    for (int i = 0; i < 5; i++)
        put(s);
    const char *path = last_segment();
    assert_int_equal(stat(path, &before), 0);
    put(s);
    assert_int_equal(stat(path, &after), 0);
    for (int i = 0; i < 5; i++)
        put(s);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    for (off_t at = before.st_size; at < after.st_size; at++) {
        char byte, other;
        assert_int_equal(pread(fd, &byte, 1, at), 1);
        other = (char)(byte ^ 0x20);
        assert_int_equal(pwrite(fd, &other, 1, at), 1);
        assert_int_equal(read_all(1, 11, &missing, &reason), 10);
        assert_int_equal(missing, 1);
        assert_int_equal(reason, SPOOL_DAMAGED);
        assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    }
    close(fd);
    spool_close(s);
}

// The ring stays within its size; what it overwrote is a gap of exactly the numbers below its low one.
static void test_ring(void **state)
{
    unsigned missing, reason = 0;
    (void)state;
    spool *s = open_spool(65536, 4096, "one");
    for (int i = 0; i < 2000; i++) {
        assert_int_equal(put(s), 0);
        assert_true(spool_bytes(s) <= 65536 + 400 + SEGLOG_HEAD);
    }
    uint64_t low = spool_low(s);
    assert_true(low > 1 && low < 2000);
    assert_int_equal(read_all(low, 2000, &missing, &reason), 2001 - low);
    assert_int_equal(missing, 0);
    assert_int_equal(read_all(1, 2000, &missing, &reason), 2001 - low);
    assert_int_equal(missing, low - 1);
    spool_close(s);
    s = open_spool(65536, 4096, "one");
    assert_int_equal(spool_low(s), low);
    assert_int_equal(spool_next(s), 2001);
    spool_close(s);
}

// The files cannot grow for a while, as on a full disk: these ticks are a gap with that reason, and it goes on after.
static void test_full_disk(void **state)
{
    unsigned missing, reason = 0, refused = 0;
    struct rlimit limit, old;
    (void)state;
    spool *s = open_spool(1 << 20, 65536, "one");
    for (int i = 0; i < 20; i++)
        put(s);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    limit = old;
    limit.rlim_cur = (rlim_t)spool_bytes(s) + 10;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    for (int i = 0; i < 7; i++)
        refused += put(s) != 0;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(refused, 7);
    for (int i = 0; i < 20; i++)
        assert_int_equal(put(s), 0);
    assert_int_equal(read_all(1, 47, &missing, &reason), 40);
    assert_int_equal(missing, 7);
    assert_int_equal(reason, SPOOL_FULL);
    spool_close(s);
}

static void test_one_writer(void **state)
{
    char *why = NULL, directory[600];
    (void)state;
    spool *s = open_spool(1 << 20, 0, "one");
    snprintf(directory, sizeof directory, "%s/spool", top);
    const spool_options o = {.directory = directory, .bytes = 1 << 20};
    assert_null(spool_open(&o, &why));
    assert_non_null(strstr(why, "another agent writes this spool"));
    free(why);
    spool_close(s);
}

// A reader that follows sees each tick once, and no half one, across segments and preambles.
static void test_follow(void **state)
{
    char directory[600], data[400];
    spool_tick t;
    (void)state;
    spool *s = open_spool(1 << 20, 4096, "one");
    snprintf(directory, sizeof directory, "%s/spool", top);
    spool_reader *r = spool_reader_open(directory);
    assert_false(spool_reader_get(r, 1, 0, &t));
    for (uint64_t n = 1; n <= 500; n++) {
        if (n == 250) spool_preamble(s, "another", 7);
        put(s);
        assert_true(spool_reader_get(r, n, n, &t));
        assert_int_equal(t.number, n);
        assert_int_equal(t.size, content(data, n));
        assert_memory_equal(t.preamble, n < 250 ? "preamble" : "another", t.preamble_size);
        assert_false(spool_reader_get(r, n + 1, n, &t));
        if (n == 400) assert_true(spool_reader_get(r, 3, n, &t) && t.number == 3); // sent again
    }
    spool_reader_close(r);
    spool_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_checksums),
        cmocka_unit_test(test_hashes),
        cmocka_unit_test_setup_teardown(test_goes_on_after_a_restart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_node_restarted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_node_restarted_on_a_full_disk, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_damaged_header, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_kill, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_torn_tail, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_damage, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_ring, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_full_disk, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_one_writer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_follow, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// Files that grow through memory: what was written is there however the process ends, and whatever becomes of the disk.
#define _GNU_SOURCE // unshare
#include "mapped.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/wait.h>

static char place[] = "/tmp/netprof-mapped-XXXXXX", path[64];

static unsigned char byte_at(size_t i)
{
    return (unsigned char)(1 + i % 251); // never 0
}

// The next bytes of the pattern; what mapped_write() said.
static int put_on(mapped *m, size_t *used, size_t size)
{
    static unsigned char block[700000];
    assert_true(size <= sizeof block);
    for (size_t i = 0; i < size; i++)
        block[i] = byte_at(*used + i);
    int error = mapped_write(m, block, size);
    if (!error) *used += size;
    return error;
}

// The file begins with so much of the pattern; returns its size. Behind it are zeros.
static size_t check_file(const char *of, size_t used)
{
    FILE *file = fopen(of, "rb");
    assert_non_null(file);
    size_t size = 0;
    for (int c; (c = getc(file)) != EOF; size++)
        if (c != (size < used ? byte_at(size) : 0)) fail_msg("byte %zu of %zu is %d", size, used, c);
    fclose(file);
    assert_true(size >= used);
    return size;
}

static mapped *open_or_skip(void)
{
    mapped *m = mapped_open(path);
    if (!m) skip(); // another file system
    return m;
}

static void what_was_written_is_there(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 48, 4095, 4096, 4097, WINDOW - 1, WINDOW, WINDOW + 1, 600000};
    mapped *m = open_or_skip();
    size_t used = 0;
    for (size_t round = 0; round < 4; round++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            assert_int_equal(put_on(m, &used, sizes[i]), 0);
            if (i % 4 == 0) check_file(path, used);
        }
    for (size_t i = 0; i < 20000; i++)
        assert_int_equal(put_on(m, &used, i % 97), 0);
    assert_true(m->window != NULL && !mapped_is_cut(m));
    assert_int_equal(mapped_close(m), 0);
    assert_int_equal(check_file(path, used), used);
    // An older file under the name is emptied.
    m = mapped_open(path);
    used = 0;
    assert_int_equal(put_on(m, &used, 10), 0);
    assert_int_equal(mapped_close(m), 0);
    assert_int_equal(check_file(path, used), 10);
}

static void it_outlives_the_process(void **state)
{
    (void)state;
    int status;
    mapped_close(open_or_skip());
    pid_t child = fork();
    if (child == 0) {
        mapped *m = mapped_open(path);
        size_t used = 0;
        for (size_t i = 0; m && i < 10000; i++)
            put_on(m, &used, 48);
        raise(SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_true(check_file(path, 480000) < 480000 + 2 * WINDOW);
}

static void a_cut_is_told(void **state)
{
    (void)state;
    size_t used = 0;
    mapped *m = open_or_skip();
    assert_int_equal(put_on(m, &used, 100000), 0);
    assert_int_equal(truncate(path, 0), 0);
    assert_int_equal(put_on(m, &used, 48), EIO); // where there was a page is none
    assert_true(mapped_is_cut(m));
    assert_int_equal(put_on(m, &used, 48), EIO);
    assert_int_equal(mapped_close(m), EIO);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, 0); // whose it is now, is not ours to fill
    // Cut within the page that is written to: nothing traps, but no room is made behind it.
    m = mapped_open(path);
    used = 0;
    assert_int_equal(put_on(m, &used, 100), 0);
    assert_int_equal(truncate(path, 50), 0);
    assert_int_equal(put_on(m, &used, 100), 0);
    assert_int_equal(put_on(m, &used, WINDOW), EIO);
    assert_true(mapped_is_cut(m));
    assert_int_equal(mapped_close(m), EIO);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, 50);
}

// Fills the file by 1000 bytes at a time until it cannot; in a process of its own. Exits with 0 when that error came and
// the file has exactly what was taken, and some of it went through memory.
static int fill(const char *to, int wanted)
{
    size_t used = 0;
    int error = 0;
    mapped *m = mapped_open(to);
    if (!m) return 2;
    while (!error && used < 100 * (size_t)WINDOW)
        error = put_on(m, &used, 1000);
    used = (size_t)m->used; // a part of the last 1000 bytes may have had room
    bool by_memory = used > WINDOW, still = m->window != NULL;
    if (error != wanted || !by_memory || still || mapped_is_cut(m) || mapped_close(m)) return 3;
    return check_file(to, used) == used ? 0 : 4;
}

static void a_full_disk_keeps_what_fitted(void **state)
{
    (void)state;
    int status;
    pid_t child = fork();
    if (child == 0) {
        char full[128];
        if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
            mount("none", place, "tmpfs", 0, "size=400k"))
            _exit(77);
        snprintf(full, sizeof full, "%s/full", place);
        _exit(fill(full, ENOSPC));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) skip(); // not root
    assert_int_equal(status, 0);
}

static void a_limit_on_files_is_kept(void **state)
{
    (void)state;
    int status;
    mapped_close(open_or_skip());
    pid_t child = fork();
    if (child == 0) {
        struct rlimit limit = {WINDOW + 100000, RLIM_INFINITY};
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &limit);
        _exit(fill(path, EFBIG));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    child = fork();
    if (child == 0) { // no window fits: the signal must not come either
        struct rlimit limit = {WINDOW - 1, RLIM_INFINITY};
        setrlimit(RLIMIT_FSIZE, &limit);
        _exit(mapped_open(path) ? 1 : 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void what_is_no_file_is_left_to_others(void **state)
{
    (void)state;
    char other[80];
    snprintf(other, sizeof other, "%s/pipe", place);
    assert_int_equal(mkfifo(other, 0600), 0);
    assert_null(mapped_open(other));
    unlink(other);
    assert_null(mapped_open("/dev/null"));
    assert_null(mapped_open(place));
    // Two at a time would need a handler that knows both.
    mapped *m = open_or_skip();
    snprintf(other, sizeof other, "%s/other", place);
    assert_null(mapped_open(other));
    assert_int_equal(mapped_close(m), 0);
    unlink(other);
}

static int make_place(void **state)
{
    (void)state;
    if (!mkdtemp(place)) return -1;
    snprintf(path, sizeof path, "%s/file", place);
    return 0;
}

static int drop_place(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_there),
        cmocka_unit_test(it_outlives_the_process),
        cmocka_unit_test(a_cut_is_told),
        cmocka_unit_test(a_full_disk_keeps_what_fitted),
        cmocka_unit_test(a_limit_on_files_is_kept),
        cmocka_unit_test(what_is_no_file_is_left_to_others),
    };
    return cmocka_run_group_tests(tests, make_place, drop_place);
}

// A program that runs out of memory leaves no half-written output behind, and nothing else is touched.
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/base/memory.h"
#include "analysis/base/unfinished.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILES = 300 }; // more than one block of the kernel's listing holds

static char place[64];

static const char *named(const char *name)
{
    static char paths[8][128];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", place, name);
    return path;
}

static void make(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "half", 4), 4);
    close(fd);
}

static void make_directory(const char *path)
{
    char name[192];
    assert_int_equal(mkdir(path, 0777), 0);
    for (int i = 0; i < FILES; i++) {
        snprintf(name, sizeof name, "%s/%d", path, i);
        make(name);
    }
}

// What the child does before it has no memory left.
static void write_outputs(void)
{
    static char file[128], directory[128], done[128];
    snprintf(file, sizeof file, "%s", named("file"));
    snprintf(directory, sizeof directory, "%s", named("directory"));
    snprintf(done, sizeof done, "%s", named("done"));
    make(file);
    unfinished_begin(file);
    make_directory(directory);
    unfinished_begin(directory);
    make(done);
    unfinished_begin(done);
    unfinished_end(done);
    unfinished_end(NULL);
}

static int set_up(void **state)
{
    (void)state;
    snprintf(place, sizeof place, "/tmp/unfinished-XXXXXX");
    return mkdtemp(place) ? 0 : -1;
}

static void only_what_is_unfinished_goes(void **state)
{
    (void)state;
    int status;
    pid_t child = fork();
    if (child == 0) {
        write_outputs();
        memory_exhausted();
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), MEMORY_EXIT);
    assert_int_not_equal(access(named("file"), F_OK), 0);
    assert_int_not_equal(access(named("directory"), F_OK), 0);
    assert_int_equal(access(named("done"), F_OK), 0);
    unlink(named("done"));
    assert_int_equal(rmdir(place), 0);
}

static void a_link_in_its_place_is_not_followed(void **state)
{
    (void)state;
    make_directory(named("other"));
    assert_int_equal(symlink(named("other"), named("link")), 0);
    unfinished_drop(named("link"));
    assert_int_not_equal(access(named("link"), F_OK), 0);
    assert_int_equal(access(named("other/7"), F_OK), 0);
    unfinished_drop(named("other"));
    assert_int_equal(rmdir(place), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(only_what_is_unfinished_goes, set_up),
        cmocka_unit_test_setup(a_link_in_its_place_is_not_followed, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// Where outputs go: links followed, files whole or not at all, and what cannot be replaced written in place.
#define _GNU_SOURCE // nftw, mkfifo
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "netprof.h"
#include "tree.h"
#include "analysis/base/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

static const char *content(const char *path)
{
    static char text[64];
    FILE *file = fopen(tree_path(path), "r");
    if (!file) return NULL;
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    return text;
}

static size_t entries(void)
{
    char command[512], count[32] = "";
    snprintf(command, sizeof command, "find '%s' -mindepth 1 | wc -l", tree_root);
    FILE *from = popen(command, "r");
    assert_non_null(from);
    assert_non_null(fgets(count, sizeof count, from));
    pclose(from);
    return strtoul(count, NULL, 10);
}

static unsigned mode_of(const char *path)
{
    struct stat st;
    assert_int_equal(lstat(tree_path(path), &st), 0);
    return st.st_mode & 07777;
}

// The path relative to the tree; the tree's own name is left out.
static void leads_to(const char *path, const char *target)
{
    output_place p;
    if (!output_place_find(&p, tree_path(path))) fail_msg("%s: %s", path, p.refused);
    assert_string_equal(p.target, tree_path(target));
    assert_string_equal(p.refused, "");
    output_place_free(&p);
    assert_null(p.target);
}

static void is_refused(const char *path, const char *why)
{
    output_place p;
    const char *said = NULL;
    assert_false(output_place_find(&p, tree_path(path)));
    assert_string_equal(p.refused, why);
    output_place_free(&p);
    assert_null(output_file_open(tree_path(path), NULL, &said));
    assert_string_equal(said, why);
}

// ---- where a path leads ----

static void links_lead_to_their_targets(void **state)
{
    char here[256];
    (void)state;
    tree_write("a/b/file", "old");
    tree_link("file", "a/b/beside");
    tree_link("b/file", "a/below");
    tree_link("../a/below", "c/chain");
    tree_link("nothing/yet", "a/dangling");
    tree_link(tree_path("a/b/file"), "c/absolute");
    leads_to("a/b/file", "a/b/file");
    leads_to("a/b/beside", "a/b/file");
    leads_to("a/below", "a/b/file");
    leads_to("c/chain", "c/../a/b/file");
    leads_to("a/dangling", "a/nothing/yet");
    leads_to("c/absolute", "a/b/file");
    leads_to("not/there", "not/there");
    // A link that is named without its directory lies in the present one.
    output_place p;
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(tree_path("a/b")), 0);
    assert_true(output_place_find(&p, "beside"));
    assert_string_equal(p.target, "file");
    assert_true(p.exists && !p.in_place && !p.is_pipe && !p.standard);
    output_place_free(&p);
    assert_int_equal(chdir(here), 0);
}

// Chain of links: "1" leads to "0", which is a file, "2" to "1" and so on.
static void forty_links_and_no_more(void **state)
{
    char name[16], next[16];
    (void)state;
    tree_write("0", "end");
    for (int i = 1; i <= 41; i++) {
        snprintf(name, sizeof name, "%d", i);
        snprintf(next, sizeof next, "%d", i - 1);
        tree_link(next, name);
    }
    leads_to("1", "0");
    leads_to("40", "0");
    is_refused("41", strerror(ELOOP));
    tree_link("round", "round");
    is_refused("round", strerror(ELOOP));
}

static void what_a_place_is(void **state)
{
    output_place p;
    struct stat st;
    (void)state;
    tree_write("file", "old");
    assert_int_equal(chmod(tree_path("file"), 0640), 0);
    assert_int_equal(stat(tree_path("file"), &st), 0);
    assert_true(output_place_find(&p, tree_path("file")));
    assert_true(p.exists && !p.in_place && !p.is_pipe && !p.standard);
    assert_int_equal(p.mode, 0640);
    assert_int_equal(p.owner, st.st_uid);
    assert_int_equal(p.group, st.st_gid);
    output_place_free(&p);
    assert_true(output_place_find(&p, tree_path("new")));
    assert_true(!p.exists && !p.in_place && !p.is_pipe && !p.standard);
    output_place_free(&p);
    assert_int_equal(mkfifo(tree_path("pipe"), 0600), 0);
    assert_true(output_place_find(&p, tree_path("pipe")));
    assert_true(!p.exists && p.in_place && p.is_pipe && !p.standard);
    output_place_free(&p);
    assert_int_equal(mkdir(tree_path("directory"), 0700), 0);
    is_refused("directory", strerror(EISDIR));
}

static void what_is_written_in_place(void **state)
{
    static const char *const magic[] = {"/dev/stdout", "/dev/stderr", "/dev/fd/1", "/proc/self/fd/1", "/dev/null"};
    output_place p;
    (void)state;
    for (size_t i = 0; i < sizeof magic / sizeof *magic; i++) {
        assert_true(output_place_find(&p, magic[i]));
        assert_true(p.in_place && !p.standard && !p.exists && !p.is_pipe);
        assert_string_equal(p.target, magic[i]);
        output_place_free(&p);
    }
    assert_true(output_place_find(&p, "-"));
    assert_true(p.in_place && p.standard);
    output_place_free(&p);
    tree_link("/proc/self/fd/1", "link");
    assert_true(output_place_find(&p, tree_path("link")));
    assert_true(p.in_place && !p.standard);
    assert_string_equal(p.target, "/proc/self/fd/1");
    output_place_free(&p);
}

// Only the superuser can have a link of somebody else.
static void the_superuser_uses_nothing_of_others(void **state)
{
    (void)state;
    if (geteuid() != 0) skip();
    tree_write("file", "kept");
    tree_link("file", "link");
    assert_int_equal(mkfifo(tree_path("pipe"), 0600), 0);
    if (lchown(tree_path("link"), 12345, 12345)) skip(); // a container without other users
    assert_int_equal(lchown(tree_path("pipe"), 12345, 12345), 0);
    is_refused("link", "a symbolic link of user 12345: the superuser does not write there");
    is_refused("pipe", "a named pipe of user 12345: the superuser does not write there");
    assert_int_equal(lchown(tree_path("file"), 12345, 23456), 0); // a file is replaced, and stays theirs
    output_file *file = output_file_open(tree_path("file"), NULL, &(const char *){NULL});
    struct stat st;
    assert_non_null(file);
    assert_int_equal(output_file_write(file, "new", 3), 0);
    assert_int_equal(output_file_close(file, true), 0);
    assert_int_equal(stat(tree_path("file"), &st), 0);
    assert_int_equal(st.st_uid, 12345);
    assert_int_equal(st.st_gid, 23456);
    assert_string_equal(content("file"), "new");
}

// ---- writing ----

static output_file *opened(const char *path)
{
    const char *why = "";
    output_file *file = output_file_open(tree_path(path), NULL, &why);
    if (!file) fail_msg("%s: %s", path, why);
    return file;
}

static void whole_or_not_at_all(void **state)
{
    (void)state;
    tree_write("old", "before");
    output_file *kept = opened("old"), *dropped = opened("new");
    assert_int_equal(output_file_write(kept, "af", 2), 0);
    assert_int_equal(output_file_write(kept, "ter", 3), 0);
    assert_int_equal(output_file_write(dropped, "half", 4), 0);
    assert_string_equal(content("old"), "before"); // until it is closed
    assert_null(content("new"));
    assert_int_equal(entries(), 3); // the file and two temporary ones beside it
    assert_int_equal(output_file_close(kept, true), 0);
    assert_int_equal(output_file_close(dropped, false), 0);
    assert_string_equal(content("old"), "after");
    assert_null(content("new"));
    assert_int_equal(entries(), 1);
}

static void modes(void **state)
{
    (void)state;
    mode_t mask = umask(027);
    tree_write("old", "before");
    assert_int_equal(chmod(tree_path("old"), 0604), 0);
    assert_int_equal(output_file_close(opened("old"), true), 0);
    assert_int_equal(mode_of("old"), 0604); // that of the file that is replaced
    assert_int_equal(output_file_close(opened("new"), true), 0);
    assert_int_equal(mode_of("new"), 0640); // what the umask leaves of 0666
    assert_int_equal(umask(mask), 027);     // and that stays
    assert_string_equal(content("old"), "");
}

static void a_link_stays_and_its_target_is_replaced(void **state)
{
    struct stat st;
    (void)state;
    tree_write("there/file", "before");
    tree_link("there/file", "link");
    output_file *file = opened("link");
    assert_int_equal(output_file_write(file, "after", 5), 0);
    assert_int_equal(output_file_close(file, true), 0);
    assert_int_equal(lstat(tree_path("link"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_string_equal(content("there/file"), "after");
    assert_int_equal(entries(), 3);
}

static void the_reasons_of_the_system(void **state)
{
    const char *why = NULL;
    (void)state;
    assert_null(output_file_open(tree_path("no/such/file"), NULL, &why));
    assert_string_equal(why, strerror(ENOENT));
    tree_write("file", "");
    assert_null(output_file_open(tree_path("file/below"), NULL, &why));
    assert_string_equal(why, strerror(ENOTDIR));
    // What cannot be renamed is dropped: its place became a directory meanwhile.
    output_file *file = opened("late");
    assert_int_equal(mkdir(tree_path("late"), 0700), 0);
    assert_int_equal(output_file_close(file, true), EISDIR);
    assert_int_equal(entries(), 2);
}

// The first error stays: what comes after it is neither written nor kept.
static void an_error_of_a_write_is_told_again(void **state)
{
    const char *why = "";
    (void)state;
    if (access("/dev/full", W_OK)) skip();
    output_file *file = output_file_open("/dev/full", NULL, &why);
    assert_non_null(file);
    assert_true(output_file_descriptor(file) >= 0);
    assert_int_equal(output_file_write(file, "x", 1), ENOSPC);
    assert_int_equal(output_file_write(file, "", 0), ENOSPC);
    assert_int_equal(output_file_close(file, true), ENOSPC);
    file = opened("file");
    assert_int_equal(close(output_file_descriptor(file)), 0);
    assert_int_equal(output_file_write(file, "x", 1), EBADF);
    assert_int_equal(output_file_close(file, true), EBADF);
    assert_int_equal(entries(), 0);
}

static size_t waits_begun, waits_ended;

static void waits(const char *path, int begins)
{
    assert_string_equal(path, tree_path("pipe"));
    waits_begun += begins == 1;
    waits_ended += begins == 0;
}

// Its reader gets the bytes; nothing is put beside it.
static void a_pipe_is_written_in_place(void **state)
{
    char text[16] = "";
    const char *why = "";
    (void)state;
    waits_begun = waits_ended = 0;
    assert_int_equal(mkfifo(tree_path("pipe"), 0600), 0);
    int reader = open(tree_path("pipe"), O_RDONLY | O_NONBLOCK);
    output_file *file = output_file_open(tree_path("pipe"), waits, &why);
    assert_non_null(file);
    assert_false(fcntl(output_file_descriptor(file), F_GETFL) & O_NONBLOCK);
    assert_true(fcntl(output_file_descriptor(file), F_GETFD) & FD_CLOEXEC);
    assert_int_equal(output_file_write(file, "through", 7), 0);
    assert_int_equal(read(reader, text, sizeof text), 7);
    assert_string_equal(text, "through");
    close(reader);
    assert_int_equal(output_file_write(file, "nobody", 6), EPIPE); // and no signal
    assert_int_equal(output_file_close(file, true), EPIPE);
    assert_int_equal(waits_begun + waits_ended, 0); // there was a reader at once
    assert_int_equal(entries(), 1);
    assert_int_equal(mode_of("pipe"), 0600);
}

static void a_reader_is_waited_for_and_that_is_said_once(void **state)
{
    const char *why = "";
    (void)state;
    waits_begun = waits_ended = 0;
    assert_int_equal(mkfifo(tree_path("pipe"), 0600), 0);
    pid_t late = fork();
    if (late == 0) {
        usleep(150 * 1000);
        char text[16];
        int fd = open(tree_path("pipe"), O_RDONLY);
        _exit(fd >= 0 && read(fd, text, sizeof text) == 4 ? 0 : 1);
    }
    output_file *file = output_file_open(tree_path("pipe"), waits, &why);
    int status = -1;
    assert_non_null(file);
    assert_int_equal(output_file_write(file, "late", 4), 0);
    assert_int_equal(output_file_close(file, true), 0);
    assert_int_equal(waitpid(late, &status, 0), late);
    assert_int_equal(status, 0);
    assert_int_equal(waits_begun, 1);
    assert_int_equal(waits_ended, 1);
}

// The standard output is written from where it stands, and stays open.
static void the_standard_output(void **state)
{
    const char *why = "";
    (void)state;
    fflush(stdout);
    int before = dup(STDOUT_FILENO), there = open(tree_path("out"), O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(write(there, "first ", 6), 6);
    assert_int_equal(dup2(there, STDOUT_FILENO), STDOUT_FILENO);
    output_file *file = output_file_open("-", NULL, &why);
    int fd = file ? output_file_descriptor(file) : -1, error = file ? output_file_write(file, "then", 4) : -1;
    int closed = file ? output_file_close(file, true) : -1;
    bool open_still = fcntl(STDOUT_FILENO, F_GETFD) >= 0;
    dup2(before, STDOUT_FILENO);
    close(before);
    close(there);
    assert_true(fd > 2);
    assert_int_equal(error, 0);
    assert_int_equal(closed, 0);
    assert_true(open_still);
    assert_string_equal(content("out"), "first then");
}

static void an_input_is_no_output(void **state)
{
    (void)state;
    tree_write("a", "");
    tree_write("b", "");
    tree_link("a", "link");
    assert_int_equal(link(tree_path("b"), tree_path("hard")), 0);
    assert_true(output_file_is(tree_path("a"), tree_path("a")));
    assert_true(output_file_is(tree_path("link"), tree_path("a")));
    assert_true(output_file_is(tree_path("hard"), tree_path("b")));
    assert_false(output_file_is(tree_path("a"), tree_path("b")));
    assert_false(output_file_is(tree_path("a"), tree_path("none")));
    assert_false(output_file_is(tree_path("none"), tree_path("a")));
    assert_false(output_file_is("-", "-"));
    assert_false(output_file_is("/dev/null", "/dev/null")); // a device is no file that would be lost
}

// ---- the rest ----

static void a_file_without_a_name(void **state)
{
    char text[8] = "";
    struct stat st;
    (void)state;
    int fd = output_file_nameless("test");
    assert_true(fd > 2);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(write(fd, "bytes", 5), 5);
    assert_int_equal(pread(fd, text, sizeof text, 0), 5);
    assert_string_equal(text, "bytes");
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_nlink, 0);
    close(fd);
}

static bool is_ignored(void)
{
    struct sigaction now;
    assert_int_equal(sigaction(SIGXFSZ, NULL, &now), 0);
    return now.sa_handler == SIG_IGN;
}

// A program that is started by ours has the signal as ours found it.
static void a_limit_on_file_sizes_ends_nothing(void **state)
{
    (void)state;
    signal(SIGXFSZ, SIG_DFL);
    output_file_signals();
    assert_true(is_ignored());
    output_file_signals_restore();
    assert_false(is_ignored());
    signal(SIGXFSZ, SIG_IGN);
    output_file_signals();
    output_file_signals_restore();
    assert_true(is_ignored());
    signal(SIGXFSZ, SIG_DFL);
}

#define IN_A_TREE(test) cmocka_unit_test_setup_teardown(test, tree_setup, tree_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_TREE(links_lead_to_their_targets),
        IN_A_TREE(forty_links_and_no_more),
        IN_A_TREE(what_a_place_is),
        IN_A_TREE(what_is_written_in_place),
        IN_A_TREE(the_superuser_uses_nothing_of_others),
        IN_A_TREE(whole_or_not_at_all),
        IN_A_TREE(modes),
        IN_A_TREE(a_link_stays_and_its_target_is_replaced),
        IN_A_TREE(the_reasons_of_the_system),
        IN_A_TREE(an_error_of_a_write_is_told_again),
        IN_A_TREE(a_pipe_is_written_in_place),
        IN_A_TREE(a_reader_is_waited_for_and_that_is_said_once),
        IN_A_TREE(the_standard_output),
        IN_A_TREE(an_input_is_no_output),
        cmocka_unit_test(a_file_without_a_name),
        cmocka_unit_test(a_limit_on_file_sizes_ends_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

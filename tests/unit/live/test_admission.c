// Which node is who at a head's own server: a name is one node's as long as it is heard from, and stays so after a restart.
#define _GNU_SOURCE
#include "live/head/admission.h"
#include "netprof.h"
#include "support.h"

#include "analysis/base/stb_ds.h"

#include <sys/stat.h>

static const int64_t second = 1000000000;
static const char first[] = "00112233445566778899aabbccddeeff", other[] = "ffeeddccbbaa99887766554433221100";
static char *top, *answers; // "n1+ n2- "
static int64_t now, silence_ns;

static int set_up(void **state)
{
    (void)state;
    top = tree_make();
    answers = NULL;
    now = 100 * second;
    silence_ns = INT64_MAX;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    tree_remove(top);
    free(answers);
    return 0;
}

static int64_t silence(void *user, const char *node)
{
    (void)user, (void)node;
    return silence_ns;
}

static void answer(void *user, const char *token, bool good)
{
    char *more = NULL;
    (void)user;
    assert_true(asprintf(&more, "%s%s%c ", answers ? answers : "", token, good ? '+' : '-') > 0);
    free(answers);
    answers = more;
}

static void ask(admission *a, const char *secret, const char *token)
{
    char text[400];
    int size = snprintf(text, sizeof text, "%s %s", secret, token);
    admission_hear(a, "np.default.join", text, (size_t)size);
}

// A second later. Returns whether the server is to be told.
static bool look(admission *a)
{
    int error;
    now += second;
    bool tells = admission_look(a, now, silence, answer, NULL, &error);
    assert_int_equal(error, 0);
    return tells;
}

static void expect_answers(const char *text)
{
    assert_string_equal(answers ? answers : "", text);
    free(answers);
    answers = NULL;
}

static admission *open_it(void)
{
    admission *a;
    assert_int_equal(admission_open(&a, top), 0);
    return a;
}

// It is told yes when the server knows it, and no sooner; a second time at once.
static void test_joins(void **state)
{
    (void)state;
    admission *a = open_it();
    assert_false(look(a));
    ask(a, first, "n%2E1");
    assert_true(look(a));
    expect_answers("");
    char *users = admission_users(a, "alpha");
    assert_string_equal(users,
                        "    {user: \"node:n%2E1\", password: \"00112233445566778899aabbccddeeff\", permissions: "
                        "{publish: [\"np.alpha.data.*.n%2E1\"], subscribe: [\"np.alpha.ack.n%2E1\"]}}\n");
    free(users);
    assert_false(look(a));
    expect_answers("n%2E1+ ");
    ask(a, first, "n%2E1");
    assert_false(look(a));
    expect_answers("n%2E1+ ");
    admission_close(a);
}

// Another secret: not as long as the node is heard from; the name goes on to another when it is not.
static void test_one_name_is_one_nodes(void **state)
{
    (void)state;
    admission *a = open_it();
    ask(a, first, "n1");
    assert_true(look(a));
    look(a);
    expect_answers("n1+ ");
    silence_ns = 29 * second;
    ask(a, other, "n1");
    assert_false(look(a));
    expect_answers("n1- ");
    admission_close(a);
    a = open_it(); // of a head that was started anew
    assert_int_equal(admission_count(a), 1);
    ask(a, other, "n1");
    assert_false(look(a));
    expect_answers("n1- ");
    silence_ns = 31 * second;
    ask(a, other, "n1");
    assert_true(look(a));
    look(a);
    expect_answers("n1+ ");
    silence_ns = 0;
    ask(a, first, "n1");
    assert_false(look(a));
    expect_answers("n1- ");
    assert_int_equal(admission_count(a), 1);
    admission_close(a);
}

// The file is its owner's alone, and what its owner takes out of it is out.
static void test_file(void **state)
{
    struct stat st;
    (void)state;
    admission *a = open_it();
    ask(a, first, "n1");
    ask(a, other, "n2");
    assert_true(look(a));
    const char *path = tree_path(top, "nodes.secrets");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    tree_write(top, "nodes.secrets", "ffeeddccbbaa99887766554433221100 n2\nno line\n");
    assert_true(look(a));
    assert_int_equal(admission_count(a), 1);
    free(answers);
    answers = NULL;
    silence_ns = 0;
    ask(a, other, "n1"); // a name that is nobody's now
    assert_true(look(a));
    look(a);
    expect_answers("n1+ ");
    admission_close(a);
}

// What is no order is nothing; nor is a name that would be something else in a configuration.
static void test_hostile(void **state)
{
    static const char *const texts[] = {"",
                                        " ",
                                        "x",
                                        "00112233445566778899aabbccddeeff",
                                        "00112233445566778899aabbccddeeff ",
                                        "00112233445566778899aabbccddeefg n1",
                                        "00112233445566778899aabbccddeeff n1\"}",
                                        "00112233445566778899aabbccddeeff n 1",
                                        "00112233445566778899aabbccddeeff *",
                                        "00112233445566778899aabbccddeeff n1.>",
                                        "00112233445566778899aabbccddeeff %6E1"};
    char large[3000];
    (void)state;
    admission *a = open_it();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        admission_hear(a, "np.default.join", texts[i], strlen(texts[i]));
    memset(large, 'a', sizeof large);
    memcpy(large, "00112233445566778899aabbccddeeff ", 33);
    admission_hear(a, "np.default.join", large, sizeof large);
    admission_hear(a, "np.default.join", large, 33 + 256); // a name of more than 255 bytes
    assert_false(look(a));
    assert_int_equal(admission_count(a), 0);
    expect_answers("");
    admission_close(a);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(test_joins), TEST(test_one_name_is_one_nodes), TEST(test_file),
                                       TEST(test_hostile)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

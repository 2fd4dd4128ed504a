// The containers and keys that everything in report/ and tools/ stands on.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "analysis/base/map_key.h"
#include "analysis/base/stb_ds.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// The vectors of the paper's appendix A and of the authors' reference: key 00 01 ... 0f, data 00 01 ... of n bytes.
static void siphash_is_that_of_the_paper(void **state)
{
    (void)state;
    unsigned char data[16];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)i;
    const uint64_t low = UINT64_C(0x0706050403020100), high = UINT64_C(0x0f0e0d0c0b0a0908);
    assert_true(map_key_siphash(data, 15, low, high) == UINT64_C(0xa129ca6149be45e5));
    assert_true(map_key_siphash(data, 0, low, high) == UINT64_C(0x726fdb47dd0e0e31));
    assert_true(map_key_siphash(data, 1, low, high) == UINT64_C(0x74f839c593dc67fd));
    const unsigned char of_nothing[16] = {0xa3, 0x81, 0x7f, 0x04, 0xba, 0x25, 0xa8, 0xe6,
                                          0x6d, 0xf6, 0x72, 0x14, 0xc7, 0x55, 0x02, 0x93};
    const unsigned char of_one[16] = {0xda, 0x87, 0xc1, 0xd8, 0x6b, 0x99, 0xaf, 0x44,
                                      0x34, 0x76, 0x59, 0x11, 0x9b, 0x22, 0xfc, 0x45};
    map_key wide[2] = {map_key_siphash_128(data, 0, low, high), map_key_siphash_128(data, 1, low, high)};
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(wide[0].a >> 8 * i & 0xff, of_nothing[i]);
        assert_int_equal(wide[0].b >> 8 * i & 0xff, of_nothing[8 + i]);
        assert_int_equal(wide[1].a >> 8 * i & 0xff, of_one[i]);
        assert_int_equal(wide[1].b >> 8 * i & 0xff, of_one[8 + i]);
    }
}

static int key_same(map_key x, map_key y)
{
    return x.a == y.a && x.b == y.b;
}

static void keys_differ_as_their_names_do(void **state)
{
    (void)state;
    assert_true(key_same(map_key_of_name(3, "eth0"), map_key_of_name(3, "eth0")));
    assert_false(key_same(map_key_of_name(3, "eth0"), map_key_of_name(4, "eth0")));
    assert_false(key_same(map_key_of_name(3, "eth0"), map_key_of_name(3, "eth1")));
    assert_false(key_same(map_key_of_name(0, ""), map_key_of_name(0, "a")));
    assert_false(key_same(map_key_of_pair(1, 2), map_key_of_pair(2, 1)));
    // these two collide in stb_ds' own hash of bytes, whatever its seed
    assert_false(key_same(map_key_of_name(0, "abc\xc3\xa9xyz"), map_key_of_name(0, "abc\xc3\xa8xyw")));
    // and these in its hash of strings: characters that are 64 apart change places
    char one[80], two[80];
    memset(one, 'x', sizeof one - 1);
    one[sizeof one - 1] = 0;
    memcpy(two, one, sizeof two);
    one[2] = 'a', one[66] = 'b';
    two[2] = 'b', two[66] = 'a';
    assert_false(key_same(map_key_of_name(0, one), map_key_of_name(0, two)));
}

static void maps_keep_the_order_of_insertion(void **state)
{
    (void)state;
    struct {
        map_key key;
        size_t value;
    } *map = NULL;
    char name[32];
    for (size_t i = 0; i < 5000; i++) {
        snprintf(name, sizeof name, "name %zu", i);
        hmput(map, map_key_of_name(i % 7, name), i);
    }
    assert_int_equal(hmlen(map), 5000);
    for (size_t i = 0; i < 5000; i++) {
        snprintf(name, sizeof name, "name %zu", i);
        assert_int_equal(map[i].value, i);
        assert_int_equal(hmgeti(map, map_key_of_name(i % 7, name)), i);
        assert_int_equal(hmgeti(map, map_key_of_name(i % 7 + 1, name)), -1);
    }
    hmfree(map);
}

// ---- memory that runs out ----

// The address sanitizer ends a program that asks for too much, unless told to return NULL as libc does.
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static void memory_say_cleaned(void)
{
    static const char text[] = "cleaned\n";
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0) _exit(99);
}

typedef void memory_eater(void);

// The address sanitizer says in a line of its own that an allocation failed.
static void memory_drop_lines_of_sanitizer(char *said)
{
    for (char *line; (line = strstr(said, "==")) != NULL;) {
        char *end = strchr(line, '\n');
        if (!end) end = line + strlen(line) - 1;
        memmove(line, end + 1, strlen(end + 1) + 1);
    }
}

// Runs it in a child whose standard error is kept. Returns the exit status.
static int memory_run(memory_eater *eat, char *said, size_t size)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        dup2(ends[1], STDERR_FILENO);
        memory_at_exhaustion(memory_say_cleaned);
        fputs("half a table", stdout); // buffered: must not appear
        eat();
        _exit(0);
    }
    close(ends[1]);
    size_t used = 0;
    for (ssize_t n; used + 1 < size && (n = read(ends[0], said + used, size - 1 - used)) > 0;)
        used += (size_t)n;
    said[used] = 0;
    memory_drop_lines_of_sanitizer(said);
    close(ends[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void memory_eat_too_much(void)
{
    free(memory_alloc(SIZE_MAX / 2));
}

static void memory_eat_overflow(void)
{
    free(memory_array(NULL, SIZE_MAX / 4, 8));
}

static void memory_eat_by_array(void)
{
    char *array = NULL;
    arrsetcap(array, SIZE_MAX / 4);
    arrfree(array);
}

static void memory_check_null(void)
{
    memory_check(NULL);
}

static void memory_eat_in_clean_up(void)
{
    memory_at_exhaustion(memory_eat_too_much);
    memory_eat_too_much();
}

static void running_out_again_ends_it_at_once(void **state)
{
    char said[200];
    (void)state;
    assert_int_equal(memory_run(memory_eat_in_clean_up, said, sizeof said), MEMORY_EXIT);
    assert_string_equal(said, "netprof: out of memory\n");
}

static void running_out_ends_the_program(void **state)
{
    (void)state;
    static memory_eater *const eaters[] = {memory_eat_too_much, memory_eat_overflow, memory_eat_by_array,
                                           memory_check_null};
    for (size_t i = 0; i < sizeof eaters / sizeof *eaters; i++) {
        char said[200];
        assert_int_equal(memory_run(eaters[i], said, sizeof said), MEMORY_EXIT);
        assert_string_equal(said, "netprof: out of memory\ncleaned\n");
    }
}

static void blocks_are_never_null(void **state)
{
    (void)state;
    char *nothing = memory_alloc(0), *zeros = memory_calloc(3, 2), *text = memory_format("%s-%d", "a", 7);
    char *start = memory_strndup("interface", 5);
    assert_non_null(nothing);
    assert_memory_equal(zeros, "\0\0\0\0\0\0", 6);
    assert_string_equal(text, "a-7");
    assert_string_equal(start, "inter");
    free(nothing);
    free(zeros);
    free(text);
    free(start);
}

typedef struct counted {
    uint64_t key;
    size_t value;
} counted;

static size_t put_in_a_map_of_its_own(uint64_t key, size_t depth)
{
    counted *map = NULL;
    hmput(map, key, depth ? put_in_a_map_of_its_own(key + 1, depth - 1) : 7);
    hmput(map, key + 100, 1);
    size_t value = hmget(map, key) + 1;
    hmfree(map);
    return value;
}

// The first put of each map takes a lock, also where it is made while another one is under way; none keeps it.
static void puts_may_be_made_by_puts(void **state)
{
    (void)state;
    alarm(60); // waiting for itself it would wait for ever
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(put_in_a_map_of_its_own(i, 40), 7 + 41);
    alarm(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(siphash_is_that_of_the_paper), cmocka_unit_test(keys_differ_as_their_names_do),
        cmocka_unit_test(puts_may_be_made_by_puts),     cmocka_unit_test(maps_keep_the_order_of_insertion),
        cmocka_unit_test(running_out_ends_the_program), cmocka_unit_test(running_out_again_ends_it_at_once),
        cmocka_unit_test(blocks_are_never_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

// What a NATS server says to the agent that is built without libnats: cut anywhere, and hostile.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "live/bus/plain_lines.h"

// Gives the parser some bytes by a socket, as they come.
static void give(plain_lines *l, const char *data, size_t size)
{
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    assert_int_equal(write(ends[0], data, size), (ssize_t)size);
    assert_true(plain_lines_read(l, ends[1]));
    close(ends[0]);
    assert_false(plain_lines_read(l, ends[1])); // its end
    close(ends[1]);
}

// Examples of the protocol's description, with a payload that holds what ends a line.
static const char talk[] = "INFO {\"server_id\":\"x\",\"max_payload\":1048576,\"tls_required\":true}\r\n"
                           "+OK\r\n"
                           "PING\r\n"
                           "MSG FOO.BAR 9 11\r\nHello World\r\n"
                           "MSG a 1 inbox.22 4\r\n\r\n\r\n\r\n"
                           "msg a 2 0\r\n\r\n"
                           "PONG\r\n"
                           "-ERR 'Authorization Violation'\r\n";

static void check_talk(plain_lines *l, size_t *at)
{
    plain_line line;
    int got;
    while ((got = plain_lines_next(l, &line)) > 0) {
        switch ((*at)++) {
        case 0:
            assert_int_equal(line.kind, PLAIN_INFO);
            assert_int_equal(line.max_payload, 1048576);
            assert_true(line.tls);
            break;
        case 1: assert_int_equal(line.kind, PLAIN_OTHER); break;
        case 2: assert_int_equal(line.kind, PLAIN_PING); break;
        case 3:
            assert_int_equal(line.kind, PLAIN_MESSAGE);
            assert_int_equal(line.number, 9);
            assert_int_equal(line.size, 11);
            assert_memory_equal(line.data, "Hello World", 11);
            break;
        case 4:
            assert_int_equal(line.number, 1);
            assert_int_equal(line.size, 4);
            assert_memory_equal(line.data, "\r\n\r\n", 4);
            break;
        case 5:
            assert_int_equal(line.kind, PLAIN_MESSAGE);
            assert_int_equal(line.number, 2);
            assert_int_equal(line.size, 0);
            break;
        case 6: assert_int_equal(line.kind, PLAIN_PONG); break;
        default: assert_int_equal(line.kind, PLAIN_ERROR); assert_string_equal(line.text, "Authorization Violation");
        }
    }
    assert_int_equal(got, 0);
}

static void cut_anywhere(void **state)
{
    (void)state;
    for (size_t cut = 1; cut < sizeof talk - 1; cut++) {
        plain_lines l = {0};
        size_t at = 0;
        give(&l, talk, cut);
        check_talk(&l, &at);
        give(&l, talk + cut, sizeof talk - 1 - cut);
        check_talk(&l, &at);
        assert_int_equal(at, 8);
        plain_lines_free(&l);
    }
}

static void no_server_of_nats(void **state)
{
    (void)state;
    static const char *const words[] = {"SSH-2.0-OpenSSH_9.2\r\n",
                                        "HTTP/1.1 400 Bad Request\r\n",
                                        "\r\n",
                                        "INFO [1,2\r\n",
                                        "INFO 7\r\n",
                                        "MSG a 1\r\n",
                                        "MSG a 1 b c 4\r\n",
                                        "MSG a x 4\r\n",
                                        "MSG a 1 -4\r\n",
                                        "MSG a 1 4294967296\r\n",
                                        "MSG a 1 99999999999999999999\r\n",
                                        "MSG a 1 67108865\r\n",
                                        "PINGS\r\n"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        plain_lines l = {0};
        plain_line line;
        give(&l, words[i], strlen(words[i]));
        if (plain_lines_next(&l, &line) != -1) fail_msg("%s", words[i]);
        plain_lines_free(&l);
    }
}

// A line without an end is not kept for ever.
static void endless_line(void **state)
{
    (void)state;
    plain_lines l = {0};
    plain_line line;
    char *some = malloc(65536);
    int got = 0;
    size_t given = 0;
    assert_non_null(some);
    memset(some, 'I', 65536);
    for (; got == 0 && given < 16 << 20; given += 65536) {
        give(&l, some, 65536);
        got = plain_lines_next(&l, &line);
    }
    assert_int_equal(got, -1);
    assert_true(given <= (1 << 20) + 2 * 65536);
    free(some);
    plain_lines_free(&l);
}

static void says_who_it_is(void **state)
{
    (void)state;
    char *hello = plain_lines_hello("a \"b\"\n", "node:x", "sec\\ret");
    assert_int_equal(strncmp(hello, "CONNECT {", 9), 0);
    char *end = strstr(hello, "\r\n"); // what would end the line is escaped
    assert_string_equal(end, "\r\nPING\r\n");
    *end = 0;
    struct json_object *o = json_tokener_parse(hello + 8);
    assert_string_equal(json_object_get_string(json_object_object_get(o, "name")), "a \"b\"\n");
    assert_string_equal(json_object_get_string(json_object_object_get(o, "user")), "node:x");
    assert_string_equal(json_object_get_string(json_object_object_get(o, "pass")), "sec\\ret");
    assert_false(json_object_get_boolean(json_object_object_get(o, "verbose")));
    json_object_put(o);
    free(hello);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cut_anywhere), cmocka_unit_test(no_server_of_nats),
                                       cmocka_unit_test(endless_line), cmocka_unit_test(says_who_it_is)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

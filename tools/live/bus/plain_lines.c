#define _GNU_SOURCE // memmem
#include "plain_lines.h"

#include "analysis/base/memory.h"

#include "netprof.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { PLAIN_LINE_MOST = 1 << 20, PLAIN_MESSAGE_MOST = 64 << 20, PLAIN_READ = 65536 };

bool plain_lines_read(plain_lines *l, int fd)
{
    if (l->begin) { // what was handed out is done with
        l->end -= l->begin;
        memmove(l->data, l->data + l->begin, l->end);
        l->begin = 0;
    }
    if (l->room - l->end < PLAIN_READ) {
        l->room = 2 * l->end + PLAIN_READ;
        l->data = memory_realloc(l->data, l->room);
    }
    ssize_t n;
    do {
        n = recv(fd, l->data + l->end, l->room - l->end, 0);
    } while (n < 0 && errno == EINTR);
    if (n > 0) l->end += (size_t)n;
    return n > 0;
}

// Digits alone, at most a message's size.
static bool plain_lines_number(const char *text, uint64_t *to)
{
    size_t length = strlen(text);
    *to = 0;
    if (!length || length > 9 || text[strspn(text, "0123456789")]) return false;
    for (; *text; text++)
        *to = *to * 10 + (uint64_t)(*text - '0');
    return true;
}

// "SUBJECT NUMBER [REPLY] SIZE"
static bool plain_lines_head(char *text, uint64_t *number, uint64_t *size)
{
    char *words[5], *at = NULL;
    size_t count = 0;
    for (char *w = strtok_r(text, " \t", &at); w && count < 5; w = strtok_r(NULL, " \t", &at))
        words[count++] = w;
    return (count == 3 || count == 4) && plain_lines_number(words[1], number) &&
           plain_lines_number(words[count - 1], size) && *size <= PLAIN_MESSAGE_MOST;
}

static bool plain_lines_info(plain_line *line, const char *text)
{
    struct json_object *info = json_tokener_parse(text), *value;
    bool good = json_object_is_type(info, json_type_object);
    if (good && json_object_object_get_ex(info, "max_payload", &value))
        line->max_payload = json_object_get_int64(value);
    if (good && json_object_object_get_ex(info, "tls_required", &value)) line->tls = json_object_get_boolean(value);
    json_object_put(info);
    return good;
}

// "-ERR 'Authorization Violation'"
static void plain_lines_error(plain_line *line, char *text)
{
    text += strspn(text, " '");
    size_t length = strlen(text);
    if (length && text[length - 1] == '\'') text[length - 1] = 0;
    line->text = text;
}

static bool plain_lines_is(const char *text, const char *word, char **rest)
{
    size_t length = strlen(word);
    if (strncasecmp(text, word, length) != 0 || (text[length] && text[length] != ' ' && text[length] != '\t'))
        return false;
    *rest = (char *)(uintptr_t)(text + length);
    return true;
}

int plain_lines_next(plain_lines *l, plain_line *line)
{
    *line = (plain_line){.kind = PLAIN_OTHER};
    if (l->begin == l->end) return 0;
    char *text = l->data + l->begin, *rest;
    size_t there = l->end - l->begin;
    char *end = memmem(text, there, "\r\n", 2);
    if (!end) return there > PLAIN_LINE_MOST ? -1 : 0;
    size_t length = (size_t)(end - text);
    char *copy = memory_strndup(text, length); // a message may not be whole yet, and is looked at again
    int got = 1;
    if (plain_lines_is(copy, "MSG", &rest)) {
        uint64_t size;
        line->kind = PLAIN_MESSAGE;
        if (!plain_lines_head(rest, &line->number, &size))
            got = -1;
        else if (there < length + 2 + size + 2)
            got = 0;
        line->data = end + 2;
        line->size = got > 0 ? (size_t)size : 0;
        if (got > 0) l->begin += line->size + 2;
    } else if (plain_lines_is(copy, "INFO", &rest)) {
        line->kind = PLAIN_INFO;
        if (!plain_lines_info(line, rest)) got = -1;
    } else if (plain_lines_is(copy, "-ERR", &rest)) {
        line->kind = PLAIN_ERROR;
        *end = 0;
        plain_lines_error(line, text + (rest - copy));
    } else if (plain_lines_is(copy, "PING", &rest)) {
        line->kind = PLAIN_PING;
    } else if (plain_lines_is(copy, "PONG", &rest)) {
        line->kind = PLAIN_PONG;
    } else if (!plain_lines_is(copy, "+OK", &rest)) {
        got = -1;
    }
    free(copy);
    if (got > 0) l->begin += length + 2;
    return got;
}

void plain_lines_free(plain_lines *l)
{
    free(l->data);
    *l = (plain_lines){0};
}

char *plain_lines_hello(const char *name, const char *user, const char *password)
{
    struct json_object *hello = json_object_new_object();
    json_object_object_add(hello, "verbose", json_object_new_boolean(false));
    json_object_object_add(hello, "pedantic", json_object_new_boolean(false));
    json_object_object_add(hello, "echo", json_object_new_boolean(false));
    json_object_object_add(hello, "tls_required", json_object_new_boolean(false));
    json_object_object_add(hello, "protocol", json_object_new_int(1));
    json_object_object_add(hello, "lang", json_object_new_string("netprof"));
    json_object_object_add(hello, "version", json_object_new_string(netprof_version()));
    json_object_object_add(hello, "name", json_object_new_string(name));
    if (user) json_object_object_add(hello, "user", json_object_new_string(user));
    if (password) json_object_object_add(hello, "pass", json_object_new_string(password));
    char *text = memory_format("CONNECT %s\r\nPING\r\n", json_object_to_json_string_ext(hello, JSON_C_TO_STRING_PLAIN));
    json_object_put(hello);
    return text;
}

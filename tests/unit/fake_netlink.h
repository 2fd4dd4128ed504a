/* Replies of a kernel that the tests make up: netlink messages, and the seams that deliver them. Include before
   netprof.h. Descriptors of the fake kernel are FAKE_FD and above. */
#ifndef FAKE_NETLINK_H
#define FAKE_NETLINK_H

#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define FAKE_FD 100000

/* -- building messages -- */

typedef struct fake_message {
    unsigned char data[65536];
    size_t size, begin; /* of the message under construction */
} fake_message;

static size_t put(fake_message *m, const void *data, size_t size)
{
    size_t at = m->size;
    if (size) memcpy(m->data + at, data, size);
    memset(m->data + at + size, 0, 3);
    m->size += (size + 3) & ~(size_t)3;
    return at;
}

static void begin_message(fake_message *m, unsigned type, unsigned flags, uint32_t sequence, const void *body,
                          size_t size)
{
    struct {
        uint32_t length;
        uint16_t type, flags;
        uint32_t sequence, port;
    } head = {0, (uint16_t)type, (uint16_t)flags, sequence, 0};
    m->begin = put(m, &head, sizeof head);
    put(m, body, size);
}

static void end_message(fake_message *m)
{
    uint32_t length = (uint32_t)(m->size - m->begin);
    memcpy(m->data + m->begin, &length, 4);
}

static size_t put_attr(fake_message *m, unsigned type, const void *data, size_t size)
{
    uint16_t head[2] = {(uint16_t)(size + 4), (uint16_t)type};
    size_t at = put(m, head, 4);
    put(m, data, size);
    return at;
}

static void put_u32(fake_message *m, unsigned type, uint32_t value)
{
    put_attr(m, type, &value, 4);
}

static void put_text(fake_message *m, unsigned type, const char *text)
{
    put_attr(m, type, text, strlen(text) + 1);
}

static size_t begin_nest(fake_message *m, unsigned type)
{
    return put_attr(m, type, NULL, 0);
}

static void end_nest(fake_message *m, size_t at)
{
    uint16_t length = (uint16_t)(m->size - at);
    memcpy(m->data + at, &length, 2);
}

static __attribute__((unused)) void put_done(fake_message *m, unsigned flags, uint32_t sequence)
{
    int32_t zero = 0;
    begin_message(m, 3, 2 | flags, sequence, &zero, 4);
    end_message(m);
}

static void put_error(fake_message *m, uint32_t sequence, int code)
{
    unsigned char body[20] = {0};
    int32_t negative = -code;
    memcpy(body, &negative, 4);
    begin_message(m, 2, 0, sequence, body, sizeof body);
    end_message(m);
}

#endif

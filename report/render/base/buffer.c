#define _GNU_SOURCE
#include "buffer.h"

#include "analysis/base/memory.h"
#include "analysis/base/output_file.h"
#include "analysis/base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void buffer_free(buffer *b)
{
    free(b->data);
    *b = (buffer){0};
}

static char *buffer_make_room(buffer *b, size_t size)
{
    if (size > SIZE_MAX / 4) memory_exhausted();
    if (b->size + size + 1 > b->room) {
        size_t room = (b->size + size + 1) * 2;
        b->room = room < 256 ? 256 : room;
        b->data = memory_realloc(b->data, b->room);
    }
    return b->data + b->size;
}

void buffer_bytes(buffer *b, const void *data, size_t size)
{
    char *to = buffer_make_room(b, size);
    if (size) memcpy(to, data, size);
    to[size] = 0;
    b->size += size;
}

void buffer_text(buffer *b, const char *text)
{
    buffer_bytes(b, text, strlen(text));
}

void buffer_printf(buffer *b, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (length < 0) memory_exhausted();
    vsnprintf(buffer_make_room(b, (size_t)length), (size_t)length + 1, format, arguments);
    b->size += (size_t)length;
    va_end(arguments);
}

void buffer_number(buffer *b, double number)
{
    char text[32];
    if (!isfinite(number) || fabs(number) > 1e9) number = 0;
    long long hundredths = llround(number * 100);
    unsigned long long size = hundredths < 0 ? -(unsigned long long)hundredths : (unsigned long long)hundredths;
    int length = snprintf(text, sizeof text, "%s%llu.%02llu", hundredths < 0 ? "-" : "", size / 100, size % 100);
    while (text[length - 1] == '0')
        length--;
    if (text[length - 1] == '.') length--;
    buffer_bytes(b, text, (size_t)length);
}

static void buffer_escape(buffer *b, const char *text)
{
    while (*text) {
        size_t plain = strcspn(text, "&<>\"'");
        buffer_bytes(b, text, plain);
        text += plain;
        switch (*text) {
        case '&': buffer_text(b, "&amp;"); break;
        case '<': buffer_text(b, "&lt;"); break;
        case '>': buffer_text(b, "&gt;"); break;
        case '"': buffer_text(b, "&quot;"); break;
        case '\'': buffer_text(b, "&#39;"); break;
        default: return;
        }
        text++;
    }
}

// Characters that are invisible or move others, and those that XML does not allow.
static bool buffer_deceives(uint32_t c)
{
    static const uint32_t ranges[][2] = {{0x00, 0x1f},     {0x7f, 0x9f},     {0xad, 0xad},     {0x61c, 0x61c},
                                         {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfe00, 0xfe0f},
                                         {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xfffe, 0xffff}, {0xe0000, 0xe0fff}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (c >= ranges[i][0] && c <= ranges[i][1]) return true;
    return false;
}

char *text_visible(const char *text)
{
    buffer b = {0};
    buffer_text(&b, "");
    while (*text) {
        size_t plain = 0;
        while (text[plain] >= ' ' && text[plain] < 0x7f)
            plain++;
        buffer_bytes(&b, text, plain);
        text += plain;
        if (!*text) break;
        uint32_t code = 0;
        size_t length = utf8_character(text, &code);
        if (!length)
            buffer_printf(&b, "\\x%02x", (unsigned)(unsigned char)*text);
        else if (*text == '\n' || *text == '\t')
            buffer_text(&b, " ");
        else if (buffer_deceives(code))
            buffer_printf(&b, length == 1 ? "\\x%02x" : "\\u{%x}", (unsigned)code);
        else
            buffer_bytes(&b, text, length);
        text += length ? length : 1;
    }
    return b.data;
}

void buffer_base64(buffer *b, const void *bytes, size_t size)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *from = bytes;
    for (size_t i = 0; i < size; i += 3) {
        unsigned three = (unsigned)from[i] << 16;
        if (i + 1 < size) three |= (unsigned)from[i + 1] << 8;
        if (i + 2 < size) three |= from[i + 2];
        const char four[4] = {letters[three >> 18], letters[three >> 12 & 63],
                              i + 1 < size ? letters[three >> 6 & 63] : '=', i + 2 < size ? letters[three & 63] : '='};
        buffer_bytes(b, four, sizeof four);
    }
}

void buffer_escaped(buffer *b, const char *text)
{
    char *visible = text_visible(text);
    buffer_escape(b, visible);
    free(visible);
}

// ---- files ----

static int buffer_write_all(int fd, const char *data, size_t size)
{
    while (size) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return errno;
        data += n;
        size -= (size_t)n;
    }
    return 0;
}

// Writes a whole file by the rules of output_file.h.
netprof_err file_write(const char *path, const void *data, size_t size, netprof_error *error)
{
    const char *why = NULL;
    output_file *file = NULL;
    int code = 0;
    if (strcmp(path, "-") == 0) {
        fflush(stdout);
        code = buffer_write_all(STDOUT_FILENO, data, size);
    } else if ((file = output_file_open(path, NULL, &why))) {
        output_file_write(file, data, size);
        code = output_file_close(file, true);
    }
    if (!code && !why) return NETPROF_OK;
    if (error) {
        *error = (netprof_error){.code = NETPROF_ERR_IO, .sys_errno = code};
        snprintf(error->path, sizeof error->path, "%s", path);
        snprintf(error->text, sizeof error->text, "cannot write: %s", why ? why : strerror(code));
    }
    return NETPROF_ERR_IO;
}

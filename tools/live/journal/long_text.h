// A text of megabytes, put together by hand: of thousands of nodes a tree of values takes many times as much memory, and
// printf many times as long. Thread rule: any, for different objects.
#ifndef LIVE_LONG_TEXT_H
#define LIVE_LONG_TEXT_H

#include <stddef.h>
#include <stdint.h>

typedef struct long_text { // {0}: empty
    char *text;            // without a zero behind it; NULL: nothing was put
    size_t size;
    // Private.
    size_t room;
    int64_t second; // that is in `time`
    char time[24];
} long_text;

void long_text_bytes(void *t, const char *bytes, size_t length); // a put_bytes of analysis/base/put.h
void long_text_put(long_text *t, const char *text);
void long_text_count(long_text *t, uint64_t value);
// A whole number below 10^15 with all its digits; another with nine, as %.9g has them, or to the unit where that is more. It
// has to be finite.
void long_text_number(long_text *t, double value);
void long_text_seconds(long_text *t, int64_t ns); // "1.5", all digits
// "2025-05-02T16:27:51Z", in quotes; of no time from 1970 to 9999 null.
void long_text_time(long_text *t, int64_t wall_ns);
// With a zero behind it; free() it. The text is empty again.
char *long_text_end(long_text *t, size_t *size);

#endif

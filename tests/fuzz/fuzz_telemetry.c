/* Numbers of small files, against a slow reading of the same text with strtoull(). */
#define NETPROF_STATIC
#define NETPROF_IMPLEMENTATION
#include "../../netprof.h"
#include "expect.h"

/* Digits at *p as strtoull sees them; 1 when there are some and they fit. */
static int slow_digits(char **p, uint64_t *value)
{
    if (**p < '0' || **p > '9') return 0;
    errno = 0;
    *value = strtoull(*p, p, 10);
    return errno == 0;
}

static int slow_end(const char *p, const char *end)
{
    return p + strspn(p, "\n \t\r") == end;
}

static int slow_stamped(char *p, const char *end, uint64_t *value, int64_t *stamp)
{
    uint64_t seconds, nanoseconds;
    char *digits;
    *stamp = 0;
    if (!slow_digits(&p, value)) return 0;
    if (*p == '@') {
        p++;
        if (!slow_digits(&p, &seconds) || *p++ != '.') return 0;
        digits = p;
        if (!slow_digits(&p, &nanoseconds) || p - digits != 9 || seconds > 9000000000u) return 0;
        *stamp = (int64_t)(seconds * 1000000000u + nanoseconds);
    }
    return slow_end(p, end);
}

static int slow_number(char *p, const char *end, uint64_t *value)
{
    int negative = *p == '-';
    p += negative;
    if (!slow_digits(&p, value)) return 0;
    if (negative && *value > (uint64_t)1 << 63) return 0;
    if (negative) *value = 0 - *value;
    return slow_end(p, end);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* the parsers' text has no 0 behind it; the slow reading's has one */
    char *exact = (char *)malloc(size + !size), *text = (char *)malloc(size + 1);
    uint64_t value = 0, slow = 0;
    int64_t stamp = 0, slow_stamp = 0;
    int failed;
    expect(exact && text);
    if (size) memcpy(exact, data, size);
    if (size) memcpy(text, data, size);
    text[size] = 0;
    failed = netprof__parse_stamped(exact, size, &value, &stamp);
    if (slow_stamped(text, text + size, &slow, &slow_stamp))
        expect(!failed && value == slow && stamp == slow_stamp);
    else
        expect(failed == (size ? EBADMSG : ENODATA));
    failed = netprof__parse_number(exact, size, &value, &stamp);
    if (slow_number(text, text + size, &slow))
        expect(!failed && value == slow && stamp == 0);
    else
        expect(failed == (size == 0 ? ENODATA : size >= 3 && memcmp(text, "N/A", 3) == 0 ? EOPNOTSUPP : EBADMSG));
    failed = netprof__parse_state(exact, size, &value, &stamp);
    if (!failed) {
        char *p = text;
        expect(slow_digits(&p, &slow) && value == slow);
        expect(*p == ':' || slow_end(p, text + size));
    }
    if (!netprof__parse_int32(exact, size, &value, &stamp)) expect(value <= UINT32_MAX);
    free(exact);
    free(text);
    return 0;
}

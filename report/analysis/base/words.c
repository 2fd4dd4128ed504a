#include "words.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LENGTH(a) (sizeof(a) / sizeof *(a))

enum { SIZE = sizeof(words_text) };

static const char *const words_prefixes[] = {"", "k", "M", "G", "T", "P", "E", "Z"};

static words_text words_copy(const char *text)
{
    words_text w;
    snprintf(w.text, SIZE, "%s", text);
    return w;
}

static words_text words_unknown(double value)
{
    return words_copy(isnan(value) ? WORDS_UNKNOWN : value > 0 ? "\u221e" : "-\u221e");
}

// ---- numbers ----

// Decimals that leave three significant digits of a value >= 0.
static int words_decimals(double value)
{
    if (value >= 99.95) return 0;
    if (value >= 9.995) return 1;
    if (value >= 0.9995) return 2;
    int decimals = 2;
    for (; value < 0.9995 && decimals < 6; decimals++)
        value *= 10;
    return decimals;
}

// Three digits in front of prefix and unit, or all of them when `whole`.
static words_text words_three(double value, bool whole, const char *prefix, const char *unit)
{
    words_text w;
    const char *sign = value < 0 ? "-" : "", *space = *prefix || *unit ? " " : "";
    value = fabs(value);
    if (value > 0 && value < 0.0001)
        snprintf(w.text, SIZE, "%s%s0.0001%s%s%.48s", *sign ? "> " : "< ", sign, space, prefix, unit);
    else if (value >= 1e7) // beyond all prefixes
        snprintf(w.text, SIZE, "%s%.2e%s%s%.48s", sign, value, space, prefix, unit);
    else
        snprintf(w.text, SIZE, "%s%.*f%s%s%.48s", sign, whole ? 0 : words_decimals(value), value, space, prefix, unit);
    return w;
}

static bool words_is_whole(double value, double below)
{
    return value == floor(value) && fabs(value) < below;
}

words_text words_number(double value)
{
    return isfinite(value) ? words_three(value, words_is_whole(value, 1e3), "", "") : words_unknown(value);
}

words_text words_fixed(double value, unsigned decimals)
{
    words_text w;
    double last = pow(10, -(double)decimals);
    if (!isfinite(value)) return words_unknown(value);
    if (value == 0) return words_copy("0");
    if (fabs(value) <= last / 2)
        snprintf(w.text, SIZE, "%s%.*f", value < 0 ? "> -" : "< ", (int)decimals, last);
    else
        snprintf(w.text, SIZE, "%.*f", (int)decimals, value);
    return w;
}

words_text words_scientific(double value)
{
    words_text w;
    if (!isfinite(value)) return words_unknown(value);
    snprintf(w.text, SIZE, "%.2g", value);
    return w;
}

words_text words_power(double value)
{
    words_text w;
    if (!isfinite(value) || value == 0) return words_number(value);
    snprintf(w.text, SIZE, "%.0e", value); // "2e-12", "1e-03"
    char *digits = strchr(w.text, 'e') + 1;
    if (*digits == '+')
        memmove(digits, digits + 1, strlen(digits));
    else if (*digits == '-')
        digits++;
    size_t zeros = strspn(digits, "0");
    if (!digits[zeros]) zeros--;
    memmove(digits, digits + zeros, strlen(digits + zeros) + 1);
    return w;
}

static words_text words_prefixed(double value, bool whole, const char *unit)
{
    size_t i = 0;
    if (!isfinite(value)) return words_unknown(value);
    for (; !whole && fabs(value) >= 999.5 && i + 1 < LENGTH(words_prefixes); i++)
        value /= 1000;
    return words_three(value, whole, words_prefixes[i], unit);
}

words_text words_count(double value)
{
    return words_prefixed(value, words_is_whole(value, 99999.5), "");
}

words_text words_whole(double value)
{
    words_text w;
    if (!isfinite(value)) return words_unknown(value);
    snprintf(w.text, SIZE, "%.0f", rint(value) + 0.0); // never "-0"
    return w;
}

words_text words_signed(uint64_t magnitude, bool negative)
{
    words_text w;
    snprintf(w.text, SIZE, "%s%llu", negative && magnitude ? "-" : "", (unsigned long long)magnitude);
    return w;
}

words_text words_exact(uint64_t value)
{
    return words_signed(value, false);
}

words_text words_integer(int64_t value)
{
    return words_signed(value < 0 ? 0 - (uint64_t)value : (uint64_t)value, value < 0);
}

words_text words_grouped(uint64_t magnitude, bool negative)
{
    words_text plain = words_signed(magnitude, negative), w;
    size_t length = strlen(plain.text), used = 0, sign = plain.text[0] == '-';
    for (size_t i = 0; i < length; i++) {
        if (i > sign && (length - i) % 3 == 0) w.text[used++] = ' ';
        w.text[used++] = plain.text[i];
    }
    w.text[used] = 0;
    return w;
}

words_text words_share(double share)
{
    share *= 100;
    return isfinite(share) ? words_three(share, words_is_whole(share, 1e3), "", "%") : words_unknown(share);
}

words_text words_at_least(bool lower, words_text value)
{
    words_text w;
    if (!lower) return value;
    snprintf(w.text, SIZE, "\u2265 %.70s", value.text);
    return w;
}

words_text words_at_most(bool upper, words_text value)
{
    words_text w;
    if (!upper) return value;
    snprintf(w.text, SIZE, "\u2264 %.70s", value.text);
    return w;
}

words_text words_noun(uint64_t count, const char *noun)
{
    words_text w;
    int one = (int)strcspn(noun, "|");
    const char *many = noun[one] && count != 1 ? noun + one + 1 : NULL, *end = count != 1 && !many ? "s" : "";
    snprintf(w.text, SIZE, "%.*s%s", many ? 40 : one, many ? many : noun, end);
    return w;
}

words_text words_many(uint64_t count, const char *noun)
{
    words_text w;
    snprintf(w.text, SIZE, "%llu %.50s", (unsigned long long)count, words_noun(count, noun).text);
    return w;
}

// ---- quantities ----

words_text words_quantity(double value, const char *unit)
{
    return *unit ? words_prefixed(value, words_is_whole(value, 999.5), unit) : words_count(value);
}

words_text words_energy(double joules)
{
    return fabs(joules) >= 3.6e5 ? words_quantity(joules / 3600, "Wh") : words_quantity(joules, "J");
}

words_text words_line_rate(double bytes_per_s)
{
    return words_quantity(bytes_per_s * 8, "b/s");
}

words_text words_link_speed(double bits_per_s)
{
    words_text w;
    size_t i = 0;
    if (!isfinite(bits_per_s)) return words_unknown(bits_per_s);
    for (; bits_per_s >= 1000 && i + 1 < LENGTH(words_prefixes); i++)
        bits_per_s /= 1000;
    snprintf(w.text, SIZE, "%.6g %sb/s", bits_per_s, words_prefixes[i]);
    return w;
}

words_text words_binary(double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    size_t i = 0;
    if (!isfinite(bytes)) return words_unknown(bytes);
    for (; fabs(bytes) >= 1023.5 && i + 1 < LENGTH(units); i++)
        bytes /= 1024;
    return words_three(bytes, bytes == floor(bytes), "", units[i]);
}

static bool words_is_bytes(const char *unit)
{
    return strcmp(unit, "bytes") == 0 || strcmp(unit, "B") == 0;
}

// "1 packet", "1 retry": a unit is given as of many.
static void words_append_unit(words_text *w, const char *unit, bool one, const char *per)
{
    size_t length = strlen(w->text), n = strlen(unit);
    bool plural = one && n > 3 && unit[n - 1] == 's' && unit[n - 2] != 's',
         ies = plural && strcmp(unit + n - 3, "ies") == 0;
    if (n > 40) n = 40, plural = ies = false;
    snprintf(w->text + length, sizeof w->text - length, "%s%.*s%s%s", n ? " " : "", (int)(n - (ies ? 3 : plural)), unit,
             ies ? "y" : "", per);
}

static words_text words_with_unit(double value, const char *unit, const char *per)
{
    words_text w;
    if (words_is_bytes(unit)) {
        w = words_quantity(value, "B");
        if (isfinite(value)) strcat(w.text, per);
        return w;
    }
    w = words_count(value);
    if (isfinite(value)) words_append_unit(&w, unit, strcmp(w.text, "1") == 0, per);
    return w;
}

words_text words_volume(double value, const char *unit)
{
    return words_with_unit(value, unit, "");
}

words_text words_volume_rate(double value_per_s, const char *unit)
{
    return words_with_unit(value_per_s, unit, "/s");
}

words_text words_amount(double value, const char *unit)
{
    return words_with_unit(value, words_is_bytes(unit) ? unit : "", "");
}

words_text words_amount_rate(double value_per_s, const char *unit)
{
    return words_with_unit(value_per_s, words_is_bytes(unit) ? unit : "", "/s");
}

// ---- time ----

// Two units of a whole number of the smaller one: "5 min 50 s".
static words_text words_two(const char *sign, double small, const char *great_unit, const char *small_unit)
{
    words_text w;
    snprintf(w.text, SIZE, "%s%.0f %s %02.0f %s", sign, floor(small / 60), great_unit, fmod(small, 60), small_unit);
    return w;
}

words_text words_duration(double seconds)
{
    static const struct {
        double from, factor;
        const char *unit;
    } units[] = {{0.9995, 1, "s"}, {0.9995e-3, 1e3, "ms"}, {0.9995e-6, 1e6, WORDS_MICRO "s"}, {0, 1e9, "ns"}};
    size_t i = 0;
    if (!isfinite(seconds)) return words_unknown(seconds);
    const char *sign = seconds < 0 ? "-" : "";
    double size = fabs(seconds);
    if (size >= 3600 - 0.5) return words_two(sign, round(size / 60), "h", "min");
    if (size >= 120 - 0.5) return words_two(sign, round(size), "min", "s");
    while (size > 0 && size < units[i].from)
        i++;
    double value = seconds * units[i].factor;
    return words_three(value, words_is_whole(value, 1e3), "", units[i].unit);
}

words_text words_cpu_time(double seconds)
{
    bool hours = fabs(seconds) >= 36000, small = seconds != 0 && fabs(seconds) < 0.9995;
    double value = hours ? seconds / 3600 : small ? seconds * 1000 : seconds;
    if (!isfinite(seconds)) return words_unknown(seconds);
    return words_three(value, words_is_whole(value, 1e3), "", hours ? "CPU h" : small ? "CPU ms" : "CPU s");
}

words_text words_moment(double at_s, double of_s)
{
    words_text w;
    if (!isfinite(at_s)) return words_unknown(at_s);
    const char *sign = at_s <= -0.5 ? "-" : "";
    long long whole = llround(fabs(at_s));
    if (of_s < 10)
        snprintf(w.text, SIZE, "%.*f s", of_s < 0.1 ? 4 : of_s < 1 ? 3 : 1, at_s);
    else if (of_s >= 3660)
        snprintf(w.text, SIZE, "%s%lld:%02lld:%02lld", sign, whole / 3600, whole / 60 % 60, whole % 60);
    else
        snprintf(w.text, SIZE, "%s%lld:%02lld", sign, whole / 60, whole % 60);
    return w;
}

words_text words_utc(int64_t wall_ns, unsigned digits)
{
    words_text w;
    int64_t rest = wall_ns % 1000000000;
    time_t seconds = (time_t)(wall_ns / 1000000000 - (rest < 0));
    struct tm parts;
    if (rest < 0) rest += 1000000000;
    if (!gmtime_r(&seconds, &parts)) return words_copy(WORDS_UNKNOWN);
    size_t used = strftime(w.text, SIZE, "%Y-%m-%d %H:%M:%S", &parts);
    if (digits > 9) digits = 9;
    for (unsigned i = digits; i < 9; i++)
        rest /= 10; // cut, not rounded: a stamp never lies in the future
    if (digits) snprintf(w.text + used, SIZE - used, ".%0*lld", (int)digits, (long long)rest);
    return w;
}

words_text words_time(int64_t wall_ns)
{
    if (wall_ns <= 0) return words_copy("unknown time");
    words_text w = words_utc(wall_ns, 0);
    strcat(w.text, " UTC");
    return w;
}

// ---- typography ----

words_text words_paper(words_text text)
{
    words_text w;
    size_t used = 0;
    for (const char *c = text.text; *c && used + sizeof WORDS_SPACE < SIZE; c++) {
        bool minus = *c == '-' && (c == text.text || c[-1] == ' ');
        // A line may end between two quantities: "5 min 50 s".
        bool joined = *c == ' ' && !(c > text.text && isalpha((unsigned char)c[-1]) && isdigit((unsigned char)c[1]));
        const char *sign = minus ? WORDS_MINUS : joined ? WORDS_SPACE : NULL;
        if (sign)
            used += (size_t)snprintf(w.text + used, SIZE - used, "%s", sign);
        else
            w.text[used++] = *c;
    }
    w.text[used] = 0;
    return w;
}

const char *words_ascii(uint32_t character)
{
    static const struct {
        uint32_t character;
        const char *ascii;
    } rows[] = {{0xb5, "u"}, {0x2013, "-"}, {0x221e, "infinity"}, {0x2264, "<="}, {0x2265, ">="}};
    for (size_t i = 0; i < LENGTH(rows); i++)
        if (rows[i].character == character) return rows[i].ascii;
    return NULL;
}

static bool words_dangle(const char *text, size_t length)
{
    static const char *const words[] = {" for", " of", " the", " a",  " to",   " with", " on",  " in",
                                        " by",  " at", " and", " or", " from", " its",  " was", " that"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i]);
        if (length > n && memcmp(text + length - n, words[i], n) == 0) return true;
    }
    return false;
}

size_t words_fitting(const char *text, size_t room)
{
    enum { LEAST = 8 };
    size_t length = strlen(text), cut = 0;
    if (length <= room) return length;
    for (size_t i = LEAST; i <= room; i++)
        if (text[i] == ' ') cut = i;
    while (cut > 4 && (strchr(" ,;:(", text[cut - 1]) || words_dangle(text, cut)))
        do
            cut--;
        while (cut > 4 && text[cut] != ' ');
    return cut > 4 ? cut : 0;
}

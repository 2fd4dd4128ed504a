#include "number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { SIZE = sizeof(number_text) };

static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E", "Z"};
enum { PREFIXES = sizeof prefixes / sizeof *prefixes };

static number_text words(const char *text)
{
    number_text n;
    snprintf(n.text, SIZE, "%s", text);
    return n;
}

// Decimals that leave three significant digits of a value >= 0.
static int decimals_of(double value)
{
    if (value >= 99.95) return 0;
    if (value >= 9.995) return 1;
    if (value >= 0.9995) return 2;
    int decimals = 2;
    for (; value < 0.9995 && decimals < 6; decimals++)
        value *= 10;
    return decimals;
}

// The figure of a value in front of prefix and unit; `whole`: it is an exact whole number and shown as one.
static void print_three(char *text, double value, const char *prefix, const char *unit, int whole)
{
    const char *sign = value < 0 ? NUMBER_MINUS : "";
    const char *space = *prefix || *unit ? NUMBER_SPACE : "";
    value = fabs(value);
    if (value > 0 && value < 0.0001)
        snprintf(text, SIZE, "<" NUMBER_SPACE "%s0.0001%s%s%s", sign, space, prefix, unit);
    else if (value >= 1e7) // beyond all prefixes
        snprintf(text, SIZE, "%s%.2e%s%s%s", sign, value, space, prefix, unit);
    else
        snprintf(text, SIZE, "%s%.*f%s%s%s", sign, whole ? 0 : decimals_of(value), value, space, prefix, unit);
}

static int is_whole(double value)
{
    return value == floor(value) && fabs(value) < 1000;
}

number_text number_plain(double value)
{
    number_text n;
    if (isnan(value)) return words(NUMBER_UNKNOWN);
    if (isinf(value)) return words(value > 0 ? "\xe2\x88\x9e" : NUMBER_MINUS "\xe2\x88\x9e");
    print_three(n.text, value, "", "", is_whole(value));
    return n;
}

number_text number_fixed(double value, unsigned decimals)
{
    number_text n;
    double last = pow(10, -(double)decimals);
    if (!isfinite(value)) return number_plain(value);
    if (value == 0)
        snprintf(n.text, SIZE, "0");
    else if (fabs(value) < last / 2)
        snprintf(n.text, SIZE, "<" NUMBER_SPACE "%.*f", (int)decimals, last);
    else
        snprintf(n.text, SIZE, "%s%.*f", value < 0 ? NUMBER_MINUS : "", (int)decimals, fabs(value));
    return n;
}

number_text number_prefixed(double value, const char *unit)
{
    number_text n;
    size_t i = 0;
    if (!isfinite(value)) return number_plain(value);
    int whole = is_whole(value);
    for (; fabs(value) >= 999.5 && i + 1 < PREFIXES; i++)
        value /= 1000;
    print_three(n.text, value, prefixes[i], unit, whole);
    return n;
}

number_text number_line_rate(double bytes_per_s)
{
    return number_prefixed(bytes_per_s * 8, "b/s");
}

static number_text volume(double value, const char *unit, const char *per)
{
    char name[48];
    if (strcmp(unit, "bytes") == 0) unit = "B";
    snprintf(name, sizeof name, "%.40s%s", *unit || !*per ? unit : "", per);
    number_text n = number_prefixed(value, "");
    int bytes = strcmp(unit, "B") == 0, prefixed = fabs(value) >= 999.5;
    // "2.55 MB" but "2.55 M packets"
    if (!*name || !isfinite(value)) return n;
    size_t length = strlen(n.text);
    snprintf(n.text + length, SIZE - length, "%s%s", (bytes || !*unit) && prefixed ? "" : NUMBER_SPACE, name);
    return n;
}

number_text number_volume(double value, const char *unit)
{
    return volume(value, unit, "");
}

number_text number_volume_rate(double value_per_s, const char *unit)
{
    return volume(value_per_s, unit, "/s");
}

number_text number_binary(double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    number_text n;
    size_t i = 0;
    if (!isfinite(bytes)) return number_plain(bytes);
    for (; fabs(bytes) >= 1023.5 && i + 1 < sizeof units / sizeof *units; i++)
        bytes /= 1024;
    print_three(n.text, bytes, "", units[i], bytes == floor(bytes));
    return n;
}

number_text number_percent(double share)
{
    number_text n;
    if (!isfinite(share)) return number_plain(share);
    share *= 100;
    print_three(n.text, share, "", "%", is_whole(share));
    return n;
}

number_text number_duration(double seconds)
{
    static const struct {
        double from, factor;
        const char *unit;
    } small[] = {{0.9995, 1, "s"}, {0.9995e-3, 1e3, "ms"}, {0.9995e-6, 1e6, "\xc2\xb5s"}, {0, 1e9, "ns"}};
    number_text n;
    if (!isfinite(seconds)) return number_plain(seconds);
    const char *sign = seconds < 0 ? NUMBER_MINUS : "";
    seconds = fabs(seconds);
    if (seconds >= 3600 - 0.5) {
        double minutes = round(seconds / 60);
        snprintf(n.text, SIZE, "%s%.0f" NUMBER_SPACE "h %02.0f" NUMBER_SPACE "min", sign, floor(minutes / 60),
                 fmod(minutes, 60));
    } else if (seconds >= 120 - 0.5) {
        double whole = round(seconds);
        snprintf(n.text, SIZE, "%s%.0f" NUMBER_SPACE "min %02.0f" NUMBER_SPACE "s", sign, floor(whole / 60),
                 fmod(whole, 60));
    } else {
        size_t i = 0;
        while (seconds < small[i].from)
            i++;
        double value = seconds * small[i].factor;
        if (seconds == 0) i = 0;
        print_three(n.text, *sign ? -value : value, "", small[i].unit, is_whole(value));
    }
    return n;
}

number_text number_grouped_signed(uint64_t magnitude, int negative)
{
    number_text n;
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)magnitude);
    size_t used = (size_t)snprintf(n.text, SIZE, "%s", negative && magnitude ? NUMBER_MINUS : "");
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0) {
            memcpy(n.text + used, NUMBER_SPACE, 3);
            used += 3;
        }
        n.text[used++] = digits[i];
    }
    n.text[used] = 0;
    return n;
}

number_text number_grouped(uint64_t value)
{
    return number_grouped_signed(value, 0);
}

number_text number_utc(int64_t wall_ns, unsigned decimals)
{
    static const int64_t second = 1000000000;
    number_text n;
    int64_t seconds = wall_ns / second, rest = wall_ns % second;
    if (rest < 0) {
        rest += second;
        seconds--;
    }
    time_t whole = (time_t)seconds;
    struct tm parts;
    if (!gmtime_r(&whole, &parts)) return words(NUMBER_UNKNOWN);
    size_t used = strftime(n.text, SIZE, "%Y-%m-%d %H:%M:%S", &parts);
    if (decimals > 9) decimals = 9;
    for (unsigned i = decimals; i < 9; i++)
        rest /= 10; // cut, not rounded: a stamp never lies in the future
    if (decimals) snprintf(n.text + used, SIZE - used, ".%0*lld", (int)decimals, (long long)rest);
    return n;
}

// Decimals so that multiples of step differ.
static unsigned decimals_for_step(double step)
{
    unsigned decimals = 0;
    for (; decimals < 6 && fabs(step - round(step)) > 1e-6 * step; decimals++)
        step *= 10;
    return decimals;
}

number_scale number_scale_for(double max, double step)
{
    number_scale scale = {1, "", 0};
    size_t i = 0;
    if (!isfinite(max) || !isfinite(step) || step <= 0) return scale;
    for (max = fabs(max); max >= 999.5 && i + 1 < PREFIXES; i++) {
        max /= 1000;
        scale.factor /= 1000;
    }
    scale.prefix = prefixes[i];
    scale.decimals = decimals_for_step(step * scale.factor);
    return scale;
}

number_text number_tic(double value, number_scale scale)
{
    number_text n;
    value *= scale.factor;
    if (value == 0) return words("0");
    if (fabs(value) >= 1e7)
        snprintf(n.text, SIZE, "%.2g", value);
    else
        snprintf(n.text, SIZE, "%s%.*f", value < 0 ? NUMBER_MINUS : "", (int)scale.decimals, fabs(value));
    return n;
}

number_scale number_time_scale(double seconds, double step, const char **unit)
{
    static const struct {
        double from, factor;
        const char *unit;
    } units[] = {{2 * 86400, 1.0 / 86400, "d"},
                 {2 * 3600, 1.0 / 3600, "h"},
                 {180, 1.0 / 60, "min"},
                 {1, 1, "s"},
                 {1e-3, 1e3, "ms"},
                 {1e-6, 1e6, "\xc2\xb5s"},
                 {0, 1e9, "ns"}};
    size_t i = 0;
    while (seconds < units[i].from)
        i++;
    if (!(seconds > 0)) i = 3;
    *unit = units[i].unit;
    return (number_scale){units[i].factor, "", decimals_for_step(step * units[i].factor)};
}

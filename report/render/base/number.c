#include "number.h"

#include "analysis/base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const number_prefixes[] = {"", "k", "M", "G", "T", "P", "E", "Z"};

// Decimals so that multiples of step differ.
static unsigned number_step_decimals(double step)
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
    for (max = fabs(max); max >= 999.5 && i + 1 < sizeof number_prefixes / sizeof *number_prefixes; i++) {
        max /= 1000;
        scale.factor /= 1000;
    }
    scale.prefix = number_prefixes[i];
    scale.decimals = number_step_decimals(step * scale.factor);
    return scale;
}

number_text number_tic(double value, number_scale scale)
{
    number_text n = {"0"};
    value *= scale.factor;
    if (fabs(value) >= 1e7)
        snprintf(n.text, sizeof n.text, "%.2g", value);
    else if (value != 0)
        snprintf(n.text, sizeof n.text, "%s%.*f", value < 0 ? NUMBER_MINUS : "", (int)scale.decimals, fabs(value));
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
                 {1e-6, 1e6, WORDS_MICRO "s"},
                 {0, 1e9, "ns"}};
    size_t i = 0;
    while (seconds < units[i].from)
        i++;
    if (!(seconds > 0)) i = 3;
    *unit = units[i].unit;
    return (number_scale){units[i].factor, "", number_step_decimals(step * units[i].factor)};
}

// ---- in less room ----

static size_t number_digits(const char *text)
{
    return strspn(text, "0123456789");
}

// "7.1" of "7.1e-08 %": how many digits are behind its point, and what follows. False: it is no number.
static bool number_split(const char *text, size_t *whole, size_t *behind, const char **rest)
{
    enum { UNIT = 16 };
    *whole = number_digits(text);
    *behind = *whole && text[*whole] == '.' ? number_digits(text + *whole + 1) : 0;
    *rest = text + *whole + (*behind ? *behind + 1 : 0);
    const char *unit = *rest;
    if (*unit == 'e' && unit[1] && strchr("+-", unit[1])) unit += 2 + number_digits(unit + 2);
    return *whole && strlen(unit) <= UNIT && !strpbrk(unit, "0123456789,;");
}

char *number_in_fewer_digits(const char *text)
{
    static const char *const signs[] = {("<" NUMBER_SPACE), "< ", "<"};
    size_t sign = 0, whole, behind;
    const char *rest;
    bool below = false;
    for (size_t i = 0; i < sizeof signs / sizeof *signs && !below; i++)
        if (strncmp(text, signs[i], strlen(signs[i])) == 0) below = true, sign = strlen(signs[i]);
    const char *minus = strncmp(text + sign, NUMBER_MINUS, strlen(NUMBER_MINUS)) == 0 ? NUMBER_MINUS : "";
    const char *digits = text + sign + strlen(minus);
    if (!number_split(digits, &whole, &behind, &rest) || !behind) return NULL;
    char *mantissa = memory_format("%.*s", (int)(whole + 1 + behind), digits);
    double value = strtod(mantissa, NULL), unit = pow(10, 1 - (double)behind);
    free(mantissa);
    if (below) return memory_format("<%.*f%s", (int)behind - 1, fmax(unit, value), rest);
    bool gone = *rest != 'e' && value > 0 && value < unit / 2;
    return memory_format("%s%s%.*f%s", gone ? "<" : "", gone ? "" : minus, (int)behind - 1, gone ? unit : value, rest);
}

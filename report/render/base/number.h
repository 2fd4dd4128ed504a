// Numbers on paper: the words of analysis/base/words.h with a narrow no-break space (U+202F) before the unit and a real
// minus, and the labels of axes.
//
//     printf("%s", number_prefixed(97.07e6, "b/s").text);      97.1 Mb/s
//
// Thread rule: any.
#ifndef NETPROF_NUMBER_H
#define NETPROF_NUMBER_H

#include "analysis/base/words.h"

#define NUMBER_SPACE    WORDS_SPACE
#define NUMBER_MINUS    WORDS_MINUS
#define NUMBER_ELLIPSIS "\xe2\x80\xa6"
#define NUMBER_UNKNOWN  WORDS_UNKNOWN

typedef words_text number_text;

// The forms of words.h, on paper.
static inline number_text number_plain(double value)
{
    return words_paper(words_number(value));
}

static inline number_text number_fixed(double value, unsigned decimals)
{
    return words_paper(words_fixed(value, decimals));
}

static inline number_text number_prefixed(double value, const char *unit)
{
    return words_paper(words_quantity(value, unit));
}

static inline number_text number_line_rate(double bytes_per_s)
{
    return words_paper(words_line_rate(bytes_per_s));
}

static inline number_text number_volume(double value, const char *unit)
{
    return words_paper(words_volume(value, unit));
}

static inline number_text number_volume_rate(double value_per_s, const char *unit)
{
    return words_paper(words_volume_rate(value_per_s, unit));
}

static inline number_text number_binary(double bytes)
{
    return words_paper(words_binary(bytes));
}

static inline number_text number_percent(double share)
{
    return words_paper(words_share(share));
}

static inline number_text number_duration(double seconds)
{
    return words_paper(words_duration(seconds));
}

static inline number_text number_grouped(uint64_t value)
{
    return words_paper(words_grouped(value, false));
}

static inline number_text number_grouped_signed(uint64_t magnitude, bool negative)
{
    return words_paper(words_grouped(magnitude, negative));
}

static inline number_text number_utc(int64_t wall_ns, unsigned digits)
{
    return words_utc(wall_ns, digits);
}

// A number, with its unit behind it or without, in one digit less: 0.00394 % -> 0.0039 %, at last < 1 %. free() it. NULL: it
// has none to spare, or is no number.
char *number_in_fewer_digits(const char *text);

// Axis labels: one prefix for all tics of an axis.
typedef struct number_scale {
    double factor;      // value * factor is what is printed
    const char *prefix; // "", "k", "M", ...
    unsigned decimals;
} number_scale;
// For tics up to max that are step apart.
number_scale number_scale_for(double max, double step);
number_text number_tic(double value, number_scale scale); // without unit
// For elapsed time up to seconds: factor and *unit "s", "min", "h".
number_scale number_time_scale(double seconds, double step, const char **unit);

#endif

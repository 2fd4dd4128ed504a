// Numbers as a reader wants them: three significant digits, SI prefixes, a narrow no-break space (U+202F) before the
// unit. Zero is "0"; what is smaller than the last digit is "< 0.0001"; what is not known is an en dash.
//
//     printf("%s", number_prefixed(97.07e6, "b/s").text);      97.1 Mb/s
//
// Thread rule: any.
#ifndef NETPROF_NUMBER_H
#define NETPROF_NUMBER_H

#include <stdint.h>

#define NUMBER_SPACE   "\xe2\x80\xaf" // U+202F
#define NUMBER_MINUS   "\xe2\x88\x92" // U+2212
#define NUMBER_UNKNOWN "\xe2\x80\x93" // en dash

typedef struct number_text {
    char text[80];
} number_text;

// Three significant digits, no prefix: "5.67", "0.00858", "12300", "< 0.0001".
number_text number_plain(double value);
// A fixed number of decimals, for columns: "0.86", "< 0.01" below half of the last digit.
number_text number_fixed(double value, unsigned decimals);
// SI prefix (1000) and unit: "97.1 Mb/s", "2.55 M" when the unit is "".
number_text number_prefixed(double value, const char *unit);
// A rate in bytes/s as line rates are given, in bits: 6.2e6 -> "49.6 Mb/s".
number_text number_line_rate(double bytes_per_s);
// Volume of a counter's unit: "bytes" as "536 MB", others as "32.3 k packets"; per_s: "12.1 MB/s", "1.06 k packets/s".
number_text number_volume(double value, const char *unit);
number_text number_volume_rate(double value_per_s, const char *unit);
// IEC prefix (1024), for memory and sizes of messages: "64 KiB", "1 MiB".
number_text number_binary(double bytes);
// A share of 1 in percent: 0.0248e-2 -> "0.0248 %".
number_text number_percent(double share);
// "1.24 us" (with the micro sign), "44.1 s", "5 min 50 s", "83 h 37 min".
number_text number_duration(double seconds);
// All digits in groups of three: "18 446 744 073 709 551 615".
number_text number_grouped(uint64_t value);
number_text number_grouped_signed(uint64_t magnitude, int negative);
// UTC: "2025-05-02 16:41:11", with decimals of the second.
number_text number_utc(int64_t wall_ns, unsigned decimals);

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

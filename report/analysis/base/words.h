// Numbers in words: the only place that chooses digits, units and rounding, for the terminal, for paper, for texts in JSON
// and for findings. A whole count below 100 000 is exact; everything else has three significant digits, zeros included.
// Values are rounded, never cut. What is smaller than the last digit is "< 0.0001"; what is not known is an en dash.
//
//     printf("%s", words_duration(3599.9).text);      1 h 00 min
//
// A result lives as long as the variable that holds it; used directly, to the end of the expression. Thread rule: any.
#ifndef NETPROF_WORDS_H
#define NETPROF_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WORDS_SPACE   "\xe2\x80\xaf" // U+202F, narrow no-break space: on paper
#define WORDS_MINUS   "\xe2\x88\x92" // U+2212: on paper
#define WORDS_MICRO   "\xc2\xb5"     // U+00B5
#define WORDS_UNKNOWN "\xe2\x80\x93" // U+2013, en dash

typedef struct words_text {
    char text[80];
} words_text;

// ---- numbers ----

words_text words_number(double value);                   // "5.67", "0.00858", "12300": three digits, no prefix
words_text words_fixed(double value, unsigned decimals); // for columns: "0.86"; "< 0.01" for what would be written as 0
words_text words_scientific(double value);               // "1.2e-12"
words_text words_power(double value);                    // for narrow cells, one digit: "2e-12", "1e-3" for 9.6e-4
words_text words_count(double value);                    // "12345", "1.23 M"
words_text words_whole(double value);                    // "12345678": all digits of a value, rounded
words_text words_exact(uint64_t value);                  // "18446744073709551615"
words_text words_signed(uint64_t magnitude, bool negative);
words_text words_integer(int64_t value);
words_text words_grouped(uint64_t magnitude, bool negative); // "18 446 744 073 709 551 615"
words_text words_share(double share);                        // of 1: "12.3 %"
words_text words_at_least(bool lower, words_text value);     // "≥ 1.23 GB" where it is a lower bound
words_text words_at_most(bool upper, words_text value);      // "≤ 1.23 GB" where it is an upper bound

// "1 node", "2 nodes"; another plural follows a bar: "entry|entries". words_noun: without the count, "nodes", "are".
words_text words_many(uint64_t count, const char *noun);
words_text words_noun(uint64_t count, const char *noun);

// ---- quantities ----

words_text words_quantity(double value, const char *unit); // SI prefix and unit: "97.1 Mb/s", "2.36 kW"
words_text words_energy(double joules);                    // "359 kJ", "1.20 kWh" from 360 kJ
words_text words_line_rate(double bytes_per_s);            // as line rates are given, in bits: 6.2e6 is "49.6 Mb/s"
words_text words_link_speed(double bits_per_s);            // the nominal speed, exact: "2.5 Gb/s"
words_text words_binary(double bytes);                     // memory and messages: "64 KiB"
// A counter's value: "536 MB" when its unit is bytes, otherwise a count with its unit, "32.3 M packets".
words_text words_volume(double value, const char *unit);
words_text words_volume_rate(double value_per_s, const char *unit);
// The same below a heading that names the unit: "536 MB", "32.3 M".
words_text words_amount(double value, const char *unit);
words_text words_amount_rate(double value_per_s, const char *unit);

// ---- time ----

words_text words_duration(double seconds);              // "1.24 µs", "44.1 s", "5 min 50 s", "83 h 37 min"
words_text words_cpu_time(double seconds);              // "40 CPU ms", "12.5 CPU s", "487 CPU h"
words_text words_moment(double at_s, double of_s);      // a place in a stretch of of_s: "0.420 s", "38:20", "1:02:05"
words_text words_time(int64_t wall_ns);                 // "2025-05-02 16:27:51 UTC"; "unknown time"
words_text words_utc(int64_t wall_ns, unsigned digits); // without the zone, with so many digits of the second

// How much of a text fits into room characters, by whole words and without a last one that wants another ("of", "the");
// 0: nothing does.
size_t words_fitting(const char *text, size_t room);

// The same text in typography: with narrow no-break spaces, and a true minus sign in place of a hyphen.
words_text words_paper(words_text text);
// Where a terminal shows ASCII only: how it writes a character of this module ("u", ">="), or NULL.
const char *words_ascii(uint32_t character);

#endif

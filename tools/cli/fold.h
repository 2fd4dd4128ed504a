// Lines that are no wider than the terminal: long ones are folded at blanks. What has no blank is never cut: a word or a
// number that is too long gets a line of its own.
#ifndef TOOLS_FOLD_H
#define TOOLS_FOLD_H

#include <stddef.h>
#include <stdio.h>

// The number of terminal columns that the text takes; sequences that only paint take none.
size_t fold_columns(const char *text, size_t bytes);
// Bytes of the word at the start of the text; a number with its unit is one: "0.1 %".
size_t fold_word(const char *text);
// Prints words up to the column `width`, the first at column `at`, those of further lines at column `indent`.
void fold_text(FILE *to, const char *text, size_t at, size_t indent, size_t width);

// The columns of the terminal that a stream writes to; 0 for what is no terminal.
size_t fold_width(FILE *to);
// The descriptor below a stream, be it one of fold_stream() or another.
int fold_descriptor(FILE *to);
// A stream through which every line fits the terminal of `to`, which it never closes; `to` itself where that is no terminal.
FILE *fold_stream(FILE *to);
// The same for what is printed to stdout from now on.
void fold_standard_output(void);
// Only glibc lets stdout be assigned. Elsewhere what includes this, as all commands do, prints through fold_output().
#ifndef __GLIBC__
FILE *fold_output(void);
#undef stdout
#define stdout      fold_output()
#define printf(...) fprintf(stdout, __VA_ARGS__)
#define putchar(c)  putc(c, stdout)
#endif
// What comes from now on is for programs: its lines stay whole.
void fold_nothing(void);

#endif

// Signs of typography in the texts of pages.
#ifndef NETPROF_PAGES_SIGNS_H
#define NETPROF_PAGES_SIGNS_H

#define DOT   "  \xc2\xb7  "
#define ARROW " \xe2\x86\x92 "
#define TIMES "\xc3\x97"
#define DASH  "\xe2\x80\x93"

#endif

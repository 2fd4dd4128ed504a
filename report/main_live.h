// Charts for the page of a live head, which netprof-web asks for: JSON on the standard input says what, SVG for its HTML goes to
// the standard output.
#ifndef NETPROF_MAIN_LIVE_H
#define NETPROF_MAIN_LIVE_H

int main_draw_live(void); // returns an exit code

#endif

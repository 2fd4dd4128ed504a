#define _GNU_SOURCE
#define NCURSES_WIDECHAR 1
#include "screen.h"

#include "cli/output.h"
#include "analysis/base/memory.h"

#include <errno.h>
#include <ncurses.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

static SCREEN *screen;
static bool coloured;

// ---- what a crash leaves: a terminal as it was ----

static struct termios saved;
static bool saved_there;
static char leave[256]; // what restores the terminal's picture

static bool screen_restore(void)
{
    if (saved_there) tcsetattr(STDIN_FILENO, TCSANOW, &saved);
    return write(STDOUT_FILENO, leave, strlen(leave)) >= 0;
}

static void screen_put_back(int number)
{
    if (!screen_restore()) _exit(128 + number);
    raise(number); // the action is the usual one again (SA_RESETHAND)
}

// The program then ends without atexit(). Its message has gone with the picture that it was written into.
static void screen_at_exhaustion(void)
{
    static const char message[] = "netprof: out of memory\n";
    if (!screen || !screen_restore()) return;
    ssize_t written = write(STDOUT_FILENO, message, sizeof message - 1);
    (void)written;
}

static void screen_keep_for_crash(void)
{
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    static char names[][6] = {"rmcup", "sgr0", "cnorm"};
    struct sigaction action = {.sa_handler = screen_put_back, .sa_flags = (int)SA_RESETHAND};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = tigetstr(names[i]);
        if (text && text != (char *)-1 && strlen(leave) + strlen(text) < sizeof leave) strcat(leave, text);
    }
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++) {
        struct sigaction old;
        // A sanitizer's handler stays: it reports more.
        if (sigaction(crashes[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL) sigaction(crashes[i], &action, NULL);
    }
}

// ---- opening ----

static void screen_set_colours(void)
{
    coloured = output_colour(stdout) && has_colors();
    if (!coloured) return;
    start_color();
    use_default_colors();
    init_pair(1, COLOR_YELLOW, -1);
    init_pair(2, COLOR_RED, -1);
}

bool screen_open(void)
{
    const char *terminal = getenv("TERM");
    if (!terminal || !*terminal || strcmp(terminal, "dumb") == 0 || !isatty(STDOUT_FILENO)) return false;
    setenv("ESCDELAY", "25", 0);
    saved_there = tcgetattr(STDIN_FILENO, &saved) == 0; // newterm() changes it already
    screen = newterm(NULL, stdout, stdin);
    if (!screen) return false;
    screen_keep_for_crash();
    atexit(screen_close);
    memory_at_exhaustion(screen_at_exhaustion);
    screen_set_colours();
    cbreak();
    noecho();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    curs_set(0);
    return true;
}

void screen_close(void)
{
    if (!screen) return;
    endwin();
    delscreen(screen);
    screen = NULL;
}

int screen_width(void)
{
    return COLS;
}

int screen_height(void)
{
    return LINES;
}

void screen_resized(void)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col)
        resizeterm(size.ws_row, size.ws_col);
    clearok(curscr, TRUE); // a terminal that is made smaller and larger again may have lost lines
}

// ---- drawing ----

// Words say the same as colours; without colours there are still bold and inverse.
static attr_t screen_attributes_of(style s)
{
    static const attr_t plain[STYLES] = {[NORMAL] = A_NORMAL, [FAINT] = A_DIM,    [STRONG] = A_BOLD,
                                         [TITLE] = A_REVERSE, [CAUTION] = A_BOLD, [DANGER] = A_BOLD | A_UNDERLINE};
    if (coloured && s == CAUTION) return (attr_t)COLOR_PAIR(1);
    if (coloured && s == DANGER) return A_BOLD | (attr_t)COLOR_PAIR(2);
    return plain[s];
}

static void screen_draw_line(int row, const line *l)
{
    if (row < 0 || row >= LINES) return;
    move(row, 0);
    for (size_t i = 0; l && i < arrlenu(l->spans); i++) {
        attrset((int)screen_attributes_of(l->spans[i].style));
        addstr(l->spans[i].text);
    }
    attrset(A_NORMAL);
    // A line that fills its row has taken the cursor to the next one.
    if (!l || l->width < COLS) clrtoeol();
}

size_t screen_draw(const lines *head, const lines *body, const lines *foot, size_t top)
{
    int row = 0, room = LINES - (int)arrlen(head->items) - (int)arrlen(foot->items);
    size_t shown = room > 0 ? (size_t)room : 0, most = arrlenu(body->items) > shown ? arrlenu(body->items) - shown : 0;
    if (top > most) top = most;
    for (size_t i = 0; i < arrlenu(head->items); i++)
        screen_draw_line(row++, &head->items[i]);
    for (size_t i = 0; i < shown; i++)
        screen_draw_line(row++, top + i < arrlenu(body->items) ? &body->items[top + i] : NULL);
    row = LINES - (int)arrlen(foot->items);
    for (size_t i = 0; i < arrlenu(foot->items); i++)
        screen_draw_line(row++, &foot->items[i]);
    refresh(); // only what changed goes to the terminal
    return top;
}

// ---- keys ----

// Readable, but there is nothing to read: the end.
static bool screen_is_hung_up(void)
{
    struct pollfd fd = {.fd = STDIN_FILENO, .events = POLLIN};
    int waiting = 0;
    if (poll(&fd, 1, 0) <= 0) return false;
    if (fd.revents & (POLLHUP | POLLERR | POLLNVAL)) return true;
    return ioctl(STDIN_FILENO, FIONREAD, &waiting) != 0 || !waiting;
}

screen_key screen_read_key(void)
{
    static const struct {
        int key;
        screen_key means;
    } keys[] = {{'q', KEY_QUIT},
                {'Q', KEY_QUIT},
                {'p', KEY_PAUSE},
                {' ', KEY_PAUSE},
                {'s', KEY_SORT},
                {'?', KEY_QUESTION},
                {'h', KEY_QUESTION},
                {KEY_UP, KEY_LINE_UP},
                {'k', KEY_LINE_UP},
                {KEY_DOWN, KEY_LINE_DOWN},
                {'j', KEY_LINE_DOWN},
                {KEY_PPAGE, KEY_PAGE_UP},
                {KEY_NPAGE, KEY_PAGE_DOWN},
                {KEY_HOME, KEY_FIRST},
                {'g', KEY_FIRST},
                {KEY_END, KEY_LAST},
                {'G', KEY_LAST},
                {'\n', KEY_SHOW_ONE},
                {'\r', KEY_SHOW_ONE},
                {KEY_ENTER, KEY_SHOW_ONE},
                {'o', KEY_SHOW_ALL},
                {27, KEY_SHOW_ALL}, // Escape
                {'n', KEY_SHOW_NEXT},
                {'N', KEY_SHOW_BEFORE},
                {KEY_LEFT, KEY_TIME_BACK},
                {',', KEY_TIME_BACK},
                {KEY_RIGHT, KEY_TIME_ON},
                {'.', KEY_TIME_ON},
                {'<', KEY_TIME_FAR_BACK},
                {'>', KEY_TIME_FAR_ON},
                {'l', KEY_TIME_NOW}};
    for (;;) {
        int key = getch();
        if (key == ERR) return screen_is_hung_up() ? KEY_CLOSED : KEY_NONE;
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            if (keys[i].key == key) return keys[i].means;
    }
}

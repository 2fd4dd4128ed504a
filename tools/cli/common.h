// What every file of a program needs: messages and exit codes, text from outside.
#ifndef TOOLS_COMMON_H
#define TOOLS_COMMON_H

#include "fold.h"
#include "messages.h"
#include "terminal_text.h"

#include <popt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#endif

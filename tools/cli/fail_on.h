// --fail-on LIST: what the exit code of a judgement tells.
#ifndef TOOLS_FAIL_ON_H
#define TOOLS_FAIL_ON_H

#include "analysis/rules/rules.h"
#include "messages.h"

#define FAIL_ON_ARGUMENT "watch|warn|high|critical[,unknown|judged]"

typedef struct fail_on {
    severity limit;              // a finding this bad or worse ends in EXIT_WORTH_FAILING
    enum exit_code when_unknown; // what could not be judged ends in this
} fail_on;

// "high", "warn,unknown", "judged"; NULL: high. False after a usage error.
bool fail_on_parse(fail_on *x, const char *text);
// worst: the severity of the worst finding; blind: something that matters could not be judged.
int fail_on_code(const fail_on *x, severity worst, bool blind);

#endif

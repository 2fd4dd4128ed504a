// Words that all answers have in common. Thread rule: any.
#ifndef LIVE_WEB_MODEL_H
#define LIVE_WEB_MODEL_H

#include <stdint.h>

int64_t web_now(void); // wall clock
// How it stands, for everybody: a sentence, and its severity.
typedef enum web_severity { WEB_OK = 0, WEB_INFO, WEB_UNKNOWN, WEB_WATCH, WEB_BAD } web_severity;
const char *web_severity_word(web_severity s); // "ok", "bad"

#endif

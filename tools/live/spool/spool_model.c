#include "spool_model.h"

const char *spool_reason_text(unsigned reason)
{
    static const char *const texts[SPOOL_REASONS] = {
        [SPOOL_NO_REASON] = "no reason is known",
        [SPOOL_FULL] = "the disk of the spool took no more",
        [SPOOL_OVERWRITTEN] = "the spool is a ring, which came round before they could be sent",
        [SPOOL_RESTARTED] = "the node started again; what was not yet forced to its disk is lost",
        [SPOOL_DAMAGED] = "what was kept cannot be read there any more",
        [SPOOL_TOO_LARGE] = "larger than a message may be",
        [SPOOL_ELSEWHERE] = "another head has them"};
    return texts[reason < SPOOL_REASONS ? reason : SPOOL_NO_REASON];
}

const char *spool_reason_name(unsigned reason)
{
    static const char *const names[SPOOL_REASONS] = {"unknown", "disk_full", "overwritten", "restarted",
                                                     "damaged", "too_large", "elsewhere"};
    return names[reason < SPOOL_REASONS ? reason : SPOOL_NO_REASON];
}

// What is in a spool. Thread rule: any.
#ifndef LIVE_SPOOL_MODEL_H
#define LIVE_SPOOL_MODEL_H

enum spool_kind { SPOOL_PREAMBLE = 1, SPOOL_TICK = 2 };

// Flags of a tick.
enum {
    SPOOL_KEY = 1 // it needs none of the ticks before it
};

// Why numbers are missing before a tick: bits 8 to 11 of its flags.
typedef enum spool_reason {
    SPOOL_NO_REASON = 0,
    SPOOL_FULL = 1,        // the disk took no more
    SPOOL_OVERWRITTEN = 2, // the ring came round before it was sent
    SPOOL_RESTARTED = 3,   // the node started again: numbers passed over; what was not synced is lost
    SPOOL_DAMAGED = 4,     // an entry that cannot be read any more
    SPOOL_TOO_LARGE = 5,   // more than a message holds
    SPOOL_ELSEWHERE = 6,   // another head has it
    SPOOL_REASONS
} spool_reason;

// "the disk of the spool took no more", ...
const char *spool_reason_text(unsigned reason);
const char *spool_reason_name(unsigned reason); // "disk_full", ...: for programs

#endif

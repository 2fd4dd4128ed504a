// The bytes of a fuzzer's input, taken one number after another; behind its end they are 0.
#ifndef FUZZ_INPUT_H
#define FUZZ_INPUT_H

#include <stddef.h>
#include <stdint.h>

typedef struct input {
    const uint8_t *data;
    size_t size;
} input;

static inline uint64_t input_take(input *in, unsigned bytes)
{
    uint64_t value = 0;
    for (; bytes; bytes--) {
        value = value << 8 | (in->size ? *in->data : 0);
        if (in->size) in->data++, in->size--;
    }
    return value;
}

#endif

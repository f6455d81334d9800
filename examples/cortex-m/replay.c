/* SPDX-License-Identifier: Apache-2.0 */
/* replay.c -- a model of one input and one output on every sample of inputs.bin; results go to
 * outputs.bin, and what the last one took to the debugger.
 *
 *   -DMODEL=digits -DMODEL_UPPER=DIGITS -DMODEL_HEADER='"digits.h"'
 *   -DWITH_STATE   it has state
 *   -DWITH_NPU     it has regions of an Ethos-U, and its run() says whether they went well
 *   -DWITH_LIBRARY it calls CMSIS-NN, and its run() says whether that went well */
#include "board.h"
#include MODEL_HEADER

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define INPUT_BYTES JOIN(MODEL_UPPER, _INPUT_0_BYTES)
#define OUTPUT_BYTES JOIN(MODEL_UPPER, _OUTPUT_0_BYTES)

#if defined(WITH_NPU) || defined(WITH_LIBRARY)
#define TRY(call)                                                                                  \
    do {                                                                                           \
        if ((call) != 0)                                                                           \
            return 1;                                                                              \
    } while (0)
#else
#define TRY(call) call
#endif

static _Alignas(16) uint8_t input[INPUT_BYTES], output[OUTPUT_BYTES];

int main(void)
{
    int from = board_open("inputs.bin", 0), to = board_open("outputs.bin", 1);
    uint32_t ticks = 0;
    if (from < 0 || to < 0)
        return 1;
    board_start_ticks();
#ifdef WITH_STATE
    static JOIN(MODEL, _state) state;
    JOIN(MODEL, _start)(&state);
#endif
    while (board_read(from, input, sizeof input) == 0) {
        uint32_t start = board_ticks();
#ifdef WITH_STATE
        TRY(JOIN(MODEL, _run)(&state, (const void *)input, (void *)output));
#else
        TRY(JOIN(MODEL, _run)((const void *)input, (void *)output));
#endif
        ticks = (board_ticks() - start) & 0xFFFFFF;
        if (board_write(to, output, sizeof output) != 0)
            return 1;
    }
    board_print_number("ticks", ticks);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* turn.h -- squares of elements of four bytes, turned in registers. */
#ifndef TC_TURN_H
#define TC_TURN_H

#include <stdint.h>
#include <string.h>

typedef int32_t tc_four __attribute__((vector_size(16)));

/* Element e of to + q * to_step = element q of from + e * from_step, for e < rows and q < columns,
 * constants of at most 4; steps in bytes. */
static inline __attribute__((always_inline)) void ti_turn4(void *to, int64_t to_step,
                                                           const void *from, int64_t from_step,
                                                           const int rows, const int columns)
{
    tc_four in[4] = {{0}}, out[4];
    for (int e = 0; e < rows; e++) {
        const char *row = (const char *)from + e * from_step;
        int32_t v[4] = {0};
        for (int q = 0; q < columns && columns < 4; q++)
            memcpy(&v[q], row + 4 * q, sizeof *v);
        in[e] = (tc_four){v[0], v[1], v[2], v[3]};
        if (columns == 4)
            memcpy(&in[e], row, sizeof in[e]);
    }
    tc_four a = __builtin_shufflevector(in[0], in[1], 0, 4, 1, 5),
            b = __builtin_shufflevector(in[2], in[3], 0, 4, 1, 5),
            c = __builtin_shufflevector(in[0], in[1], 2, 6, 3, 7),
            d = __builtin_shufflevector(in[2], in[3], 2, 6, 3, 7);
    out[0] = __builtin_shufflevector(a, b, 0, 1, 4, 5);
    out[1] = __builtin_shufflevector(a, b, 2, 3, 6, 7);
    out[2] = __builtin_shufflevector(c, d, 0, 1, 4, 5);
    out[3] = __builtin_shufflevector(c, d, 2, 3, 6, 7);
    for (int q = 0; q < columns; q++)
        memcpy((char *)to + q * to_step, &out[q], (size_t)rows * 4);
}

#endif

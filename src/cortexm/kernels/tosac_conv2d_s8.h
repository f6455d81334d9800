/* SPDX-License-Identifier: Apache-2.0 */
/* tosac_conv2d_s8.h -- tosac_conv2d.h of int8. */
#include "tosac_vector.h"

typedef int8_t element;

#if TOSAC_ISA == TOSAC_ISA_MVE

#define USUAL TOSAC_DOUBLE

#define TOGETHER 16
#define LOOP "wlstp.8"
#define LOAD "vldrb.8"
#define LOAD_W "vldrb.8"
#define NEXT_W "#16"
#define ADD_PRODUCTS "vmladava.s8"
#define lanes_of vctp8q
#define load_x vldrbq_z_s8
#define load_w vldrbq_z_s8
#define add_products vmladavaq_s8

#elif TOSAC_ISA == TOSAC_ISA_DSP

/* Bytes 0 and 2, 1 and 3, of both. */
TOSAC_INLINE tosac_pairs elements(const int8_t *x)
{
    const uint32_t v = tosac_word(x);
    return (tosac_pairs){tosac_even(v), tosac_odd(v)};
}
TOSAC_INLINE tosac_pairs weights(const int8_t *w) { return elements(w); }

#endif

#include "tosac_conv2d.h"

/* SPDX-License-Identifier: Apache-2.0 */
/* tosac_conv2d_s16.h -- tosac_conv2d.h of int16 without zero points. */
#include "tosac_vector.h"

typedef int16_t element;

#if TOSAC_ISA == TOSAC_ISA_MVE

#define USUAL TOSAC_SINGLE

#define TOGETHER 8
#define LOOP "wlstp.16"
#define LOAD "vldrh.16"
#define LOAD_W "vldrb.s16"
#define NEXT_W "#8"
#define ADD_PRODUCTS "vmladava.s16"
#define lanes_of vctp16q
#define load_x vldrhq_z_s16
#define load_w vldrbq_z_s16
#define add_products vmladavaq_s16

#elif TOSAC_ISA == TOSAC_ISA_DSP

TOSAC_INLINE tosac_pairs elements(const int16_t *x)
{
    return (tosac_pairs){tosac_two(x), tosac_two(x + 2)};
}
TOSAC_INLINE tosac_pairs weights(const int8_t *w) { return tosac_pairs_at(w); }

#endif

#include "tosac_conv2d.h"

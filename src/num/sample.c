/* SPDX-License-Identifier: Apache-2.0 */
/* sample.c -- reading an image or a volume at the coordinates of a grid.
 *
 * A grid coordinate runs from -1 to 1 over an axis; with align_corners the ends are the centres of
 * the outermost elements, else their outer edges.  Coordinates outside read zero, the border, or
 * the reflected image.  The last coordinate of the grid is the first axis of the image. */
#include <math.h>

#include "work.h"

#define NAME(f) f##_f32
#define T float
#define FLOOR floorf
#define ROUND rintf
#define ABS fabsf
#define REMAINDER fmodf
#include "sample_body.h"

#define NAME(f) f##_f64
#define T double
#define FLOOR floor
#define ROUND rint
#define ABS fabs
#define REMAINDER fmod
#include "sample_body.h"

void ti_num_grid_sample(tc_call *call)
{
    const tc_type *x = call->in[0].type, *y = call->out[0].type;
    tc_work work = ti_work_of(x->dtype);
    const void *in = ti_work_in(call, 0, work), *grid = ti_work_in(call, 1, work);
    void *out = ti_work_out(call, 0, work);
    if (work == TC_WORK_f32)
        grid_sample_f32(call->attr, x, y, in, grid, out);
    else
        grid_sample_f64(call->attr, x, y, in, grid, out);
    ti_work_done(call, 0, work, out);
}

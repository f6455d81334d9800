/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_detection.c -- TFLite_Detection_PostProcess: boxes, classes and scores of detections.
 *
 * Inputs: boxes [1, count, 4 or more] relative to their anchors, scores [1, count, classes], maybe
 * with a background first, anchors [count, 4]; each y, x, h, w.  In double precision, then f32:
 *
 *   center = v / scale * anchor size + anchor        half = e^(v / scale) / 2 * anchor size
 *
 * Fast: a box has its best score, boxes are taken regardless of class, each with its best classes.
 * Regular: every class selects its own boxes, and the best of all classes are kept. */
#include <math.h>

#include "../../wire/flexbuf.h"
#include "tflite_boxes.h"
#include "tflite_program.h"

enum { BOXES, SCORES, ANCHORS };

typedef struct options {
    int64_t most;      /* boxes */
    int64_t places;    /* for classes of a box */
    int64_t per_class; /* boxes, of regular suppression */
    int64_t classes;
    bool regular;
    double least, overlap;
    double scale[4]; /* y, x, h, w */
} options;

/* What the runtime keeps as a float. */
static double real(const tc_flex_map *map, const char *key)
{
    double v = 0;
    (void)ti_flex_number(map, key, &v);
    return (double)(float)v;
}

static int64_t whole(const tc_flex_map *map, const char *key, int64_t missing)
{
    double v;
    if (!ti_flex_number(map, key, &v))
        return missing;
    return v >= INT32_MIN && v <= INT32_MAX ? (int64_t)v : -1;
}

static bool read_options(tc_tfl_node *n, options *o)
{
    static const char *const scale[4] = {"y_scale", "x_scale", "h_scale", "w_scale"};
    tc_flex_map map;
    if (!ti_flex_map(ti_tfl_record(n), &map)) {
        ti_b_bad(&n->m, TC_E_FORMAT, "its options are no map");
        return false;
    }
    *o = (options){.most = whole(&map, "max_detections", 0),
                   .places = whole(&map, "max_classes_per_detection", 0),
                   .per_class = whole(&map, "detections_per_class", 100),
                   .classes = whole(&map, "num_classes", 0),
                   .regular = whole(&map, "use_regular_nms", 0) != 0,
                   .least = real(&map, "nms_score_threshold"),
                   .overlap = real(&map, "nms_iou_threshold")};
    for (int i = 0; i < 4; i++)
        o->scale[i] = real(&map, scale[i]);
    if (o->most < 1 || o->most > TFL_MOST_BOXES || o->places < 1 || o->places > TFL_MOST_BOXES ||
        o->per_class < 1) {
        ti_b_unsupported(&n->m, "%" PRId64 " boxes of %" PRId64 " classes each (%" PRId64
                         " of a class); 1 to %d are built", o->most, o->places, o->per_class,
                         TFL_MOST_BOXES);
        return false;
    }
    if (!(o->overlap > 0 && o->overlap <= 1)) {
        ti_b_bad(&n->m, TC_E_ARGUMENT, "an overlap of %g", o->overlap);
        return false;
    }
    return true;
}

static bool shapes_fit(tc_build *m, const options *o, const tc_type *box, const tc_type *score,
                       const tc_type *anchor)
{
    tc_arena *arena = &m->ctx->arena;
    if (box->rank == 3 && score->rank == 3 && anchor->rank == 2 && box->dim[0] == 1 &&
        score->dim[0] == 1 && box->dim[1] >= 1 && score->dim[1] == box->dim[1] &&
        anchor->dim[0] == box->dim[1] && box->dim[2] >= 4 && anchor->dim[1] == 4 &&
        o->classes >= 1 && (score->dim[2] == o->classes || score->dim[2] == o->classes + 1))
        return true;
    ti_b_bad(m, TC_E_SHAPE, "boxes %s with scores %s, anchors %s, %" PRId64 " classes",
             ti_type_text(arena, box), ti_type_text(arena, score), ti_type_text(arena, anchor),
             o->classes);
    return false;
}

/* Column k of [count, ..] in double precision. */
static tc_val column(tc_build *m, tc_val x, int k)
{
    return ti_b_cast(m, ti_b_select(m, x, 1, k), TC_f64);
}

/* A column in units of a scale. */
static tc_val scaled(tc_build *m, tc_val from, int k, double scale)
{
    tc_val x = column(m, from, k);
    return ti_b_div(m, x, ti_b_scalar(m, TC_f64, scale));
}

/* Corners [count, 4]: y, x, y, x. */
static tc_val decoded(tc_build *m, const options *o, tc_val box, tc_val anchor)
{
    tc_val corner[4];
    for (int k = 0; k < 2; k++) {
        tc_val size = column(m, anchor, 2 + k);
        tc_val center = scaled(m, box, k, o->scale[k]);
        tc_val half = scaled(m, box, 2 + k, o->scale[2 + k]), middle = column(m, anchor, k);
        center = ti_b_add(m, ti_b_mul(m, center, size), middle);
        half = ti_b_mul(m, ti_b_mul_n(m, ti_b_exp(m, half), .5), size);
        center = ti_b_cast(m, center, TC_f32);
        half = ti_b_cast(m, half, TC_f32);
        corner[k] = ti_b_unsqueeze(m, ti_b_sub(m, center, half), 1);
        corner[2 + k] = ti_b_unsqueeze(m, ti_b_add(m, center, half), 1);
    }
    return ti_b_cat(m, 1, corner, 4);
}

/* The detections: [taken, values of a box]. */
typedef struct found {
    tc_val index; /* of the box: [taken] */
    tc_val class, score, taken;
} found;

/* The k best of the last axis and where they are. */
static bool best_of(tc_build *m, tc_val x, int64_t k, tc_val *value, tc_val *place)
{
    TC_STOP_WITH(m, false);
    int axis = ti_b_type(m, x)->rank - 1;
    tc_node *node = ti_b_ops(m, TC_OP_topk, ti_b_attr(m, topk, k, axis, true), &x, 1, 2);
    if (!node)
        return false;
    *value = node->out[0];
    *place = node->out[1];
    return true;
}

static found fast(tc_build *m, const options *o, tc_val box, tc_val score)
{
    tc_tfl_rule rule = {o->most, TC_OP_ge, o->least, TC_OP_gt, o->overlap, 0};
    tc_val value, place;
    found f = {0};
    if (!best_of(m, score, ti_min_i64(o->places, o->classes), &value, &place))
        return f;
    tc_val top = ti_b_swap(m, ti_b_slice(m, value, 1, 0, 1, 1), 0, 1);
    tc_tfl_picks p = ti_tfl_suppress(m, box, top, &rule);
    f.index = ti_b_flat(m, p.index);
    f.class = ti_b_index_select(m, place, f.index, 0);
    f.score = ti_b_index_select(m, value, f.index, 0);
    f.taken = ti_b_swap(m, p.taken, 0, 1);
    return f;
}

/* x [n] continued with `value` to at least `count`. */
static tc_val continued(tc_build *m, tc_val x, int64_t count, double value)
{
    TC_STOP_WITH(m, TC_NONE);
    int64_t n = ti_b_type(m, x)->dim[0];
    return n < count ? ti_b_pad(m, x, (int64_t[]){0, count - n}, value) : x;
}

static found regular(tc_build *m, const options *o, tc_val box, tc_val score)
{
    found f = {0};
    TC_STOP_WITH(m, f);
    int64_t count = ti_b_type(m, score)->dim[0];
    tc_tfl_rule rule = {ti_min_i64(o->per_class, count), TC_OP_ge, o->least, TC_OP_gt, o->overlap,
                        0};
    if (rule.steps > TFL_MOST_BOXES) {
        ti_b_unsupported(m, "%" PRId64 " boxes of a class; 1 to %d are built", rule.steps,
                         TFL_MOST_BOXES);
        return f;
    }
    tc_tfl_picks p = ti_tfl_suppress(m, box, ti_b_swap(m, score, 0, 1), &rule);
    tc_val value = continued(m, ti_b_flat(m, p.value), o->most, -INFINITY), place;
    if (!best_of(m, value, o->most, &value, &place))
        return f;
    tc_val by = ti_b_scalar(m, TC_i64, (double)rule.steps);
    f.index = ti_b_index_select(m, continued(m, ti_b_flat(m, p.index), o->most, 0), place, 0);
    f.class = ti_b_unsqueeze(
        m, ti_b_2(m, div, ti_b_attr(m, div, TC_div_mode_trunc), place, by), 1);
    f.score = ti_b_unsqueeze(m, value, 1);
    f.taken = ti_b_2(m, gt, NULL, f.score, ti_b_scalar(m, TC_f32, -INFINITY));
    return f;
}

/* [taken, used of them] to a row of all entries, zeros where nothing was taken. */
static tc_val filled(tc_build *m, const options *o, const found *f, tc_val x)
{
    x = ti_b_cast(m, x, TC_f32);
    x = ti_b_where(m, f->taken, x, ti_b_scalar(m, TC_f32, 0));
    TC_STOP_WITH(m, TC_NONE);
    int64_t pad[4] = {0}, row[2] = {1, o->most * o->places};
    if (o->regular) { /* in sequence */
        pad[1] = row[1] - ti_b_type(m, x)->dim[0];
    } else {
        pad[3] = o->places - ti_b_type(m, x)->dim[1];
    }
    x = pad[1] || pad[3] ? ti_b_pad(m, x, pad, 0) : x;
    return ti_b_reshape(m, x, 2, row);
}

static void bind_found(tc_tfl_node *n, const options *o, const found *f, tc_val box)
{
    tc_build *m = &n->m;
    TC_STOP(m);
    tc_val corner[4], many = ti_b_cast(m, ti_b_flat(m, f->taken), TC_f32);
    const tc_type *t = ti_b_type(m, f->class);
    box = ti_b_index_select(m, box, f->index, 0);
    for (int k = 0; k < 4; k++) {
        tc_val side = ti_b_slice(m, box, 1, k, k + 1, 1);
        corner[k] = ti_b_unsqueeze(m, filled(m, o, f, ti_b_expand(m, side, 2, t->dim)), 2);
    }
    ti_tfl_bind(n, 0, ti_b_cat(m, 2, corner, 4));
    ti_tfl_bind(n, 1, filled(m, o, f, f->class));
    ti_tfl_bind(n, 2, filled(m, o, f, f->score));
    ti_tfl_bind(n, 3, ti_b_reduce(m, TC_OP_sum, many, (int64_t[]){0}, 1, true));
}

void ti_tfl_build_detection(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    options o;
    if (!read_options(n, &o))
        return;
    tc_val box = ti_tfl_real(n, BOXES), score = ti_tfl_real(n, SCORES),
           anchor = ti_tfl_real(n, ANCHORS);
    TC_STOP(m);
    if (!shapes_fit(m, &o, ti_b_type(m, box), ti_b_type(m, score), ti_b_type(m, anchor)))
        return;
    int64_t all = ti_b_type(m, score)->dim[2];
    box = decoded(m, &o, ti_b_select(m, box, 0, 0), anchor);
    score = ti_b_slice(m, ti_b_select(m, score, 0, 0), 1, all - o.classes, all, 1);
    found f = (o.regular ? regular : fast)(m, &o, box, score);
    bind_found(n, &o, &f, box);
}

void ti_tfl_codes_detection(tc_tfl_node *n) { ti_tfl_build_detection(n); }

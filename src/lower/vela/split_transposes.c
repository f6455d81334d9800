/* SPDX-License-Identifier: Apache-2.0 */
/* split_transposes.c -- TOSA form: transposes of four axes and more, by slices of three.
 *
 *   TRANSPOSE(x) of n axes  =>  CONCAT(TRANSPOSE(SLICE(x)), ..) of n - 1 axes
 *
 * along an axis of few elements.  Axes that stay adjacent count as one, axes of extent 1 as none.
 * SLICE and CONCAT are along one axis of the transposed value: nothing is reshaped for them.
 * Ethos-U85 transposes three axes in half a cycle per element; for four, with the first one moved,
 * Vela makes steps that take ten times as long. */
#include "../layout/tosa_forms.h"

#include "../move/lower_move.h"

enum { AXES = 3, MOST = 6, PARTS = 32 };

typedef struct transpose {
    int n;
    int64_t dim[MOST]; /* of what is transposed */
    int perm[MOST];    /* by axis of the result: the axis that it was */
} transpose;

/* The perms of t without axes of one element, neighbours that stay so as one; false: too many. */
static bool transpose_of(const tc_type *t, tc_ints perm, transpose *out)
{
    int axis[TC_MAX_RANK], n = 0, first[MOST], name[TC_MAX_RANK];
    for (int i = 0; i < perm.n; i++)
        if (t->dim[perm.v[i]] != 1)
            axis[n++] = (int)perm.v[i];
    int groups = 0;
    int64_t size[MOST] = {0};
    for (int i = 0; i < n; i++) {
        bool on = i && axis[i] > axis[i - 1];
        for (int k = i ? axis[i - 1] + 1 : 0; on && k < axis[i]; k++)
            on = t->dim[k] == 1;
        if (!on && groups == MOST)
            return false;
        if (!on) {
            first[groups] = axis[i];
            size[groups++] = 1;
        }
        size[groups - 1] *= t->dim[axis[i]];
    }
    *out = (transpose){.n = groups};
    for (int i = 0; i < groups; i++) { /* which in the order of what is transposed */
        name[i] = 0;
        for (int k = 0; k < groups; k++)
            name[i] += first[k] < first[i];
        out->dim[name[i]] = size[i];
        out->perm[i] = name[i];
    }
    return true;
}

static int place_of(const transpose *t, int axis)
{
    int at = 0;
    while (t->perm[at] != axis)
        at++;
    return at;
}

/* The shortest axis that is last neither before nor after. */
static int axis_to_cut(const transpose *t)
{
    int best = -1;
    for (int i = 0; i < t->n - 1; i++)
        if (t->perm[t->n - 1] != i && (best < 0 || t->dim[i] < t->dim[best]))
            best = i;
    return best;
}

/* How many transposes it takes; more than PARTS: too many. */
static int64_t parts_of(transpose t)
{
    int64_t parts = 1;
    while (t.n > AXES && parts <= PARTS) {
        int cut = axis_to_cut(&t), n = 0, at = place_of(&t, cut);
        parts *= t.dim[cut];
        for (int i = 0; i < t.n; i++)
            if (i != at)
                t.perm[n++] = t.perm[i] - (t.perm[i] > cut);
        memmove(t.dim + cut, t.dim + cut + 1, (size_t)(t.n - cut - 1) * sizeof *t.dim);
        t.n--;
    }
    return parts;
}

static tc_val transposed(tc_build *lw, tc_val x, const transpose *t)
{
    if (t->n <= AXES) {
        int64_t dim[4] = {1, 1, 1, 1}, perm[4] = {0, 1, 2, 3};
        for (int i = 0; i < t->n; i++) {
            dim[4 - t->n + i] = t->dim[i];
            perm[4 - t->n + i] = 4 - t->n + t->perm[i];
        }
        return ti_b_tosa_transpose(lw, ti_b_tosa_reshape(lw, x, 4, dim), perm);
    }
    int cut = axis_to_cut(t), at = place_of(t, cut);
    transpose rest = {.n = t->n - 1};
    int64_t whole[MOST + 1] = {1}, joined[MOST + 1] = {1};
    for (int i = 0, k = 0; i < t->n; i++)
        if (i != cut)
            rest.dim[k++] = t->dim[i];
    for (int i = 0, k = 0; i < t->n; i++)
        if (i != at)
            rest.perm[k++] = t->perm[i] - (t->perm[i] > cut);
    for (int i = 0; i < rest.n; i++) {
        whole[i] = rest.dim[i] * (i == cut ? t->dim[cut] : 1);
        joined[i] = rest.dim[rest.perm[i]];
    }
    tc_val part[PARTS], from = ti_b_tosa_reshape(lw, x, rest.n, whole);
    for (int64_t i = 0; i < t->dim[cut]; i++) {
        part[i] = ti_b_tosa_slice_axis(lw, from, cut, i * rest.dim[cut], rest.dim[cut]);
        part[i] = ti_b_tosa_reshape(lw, transposed(lw, part[i], &rest), rest.n, joined);
    }
    return ti_put_join(lw, part, (int)t->dim[cut], at);
}

static tc_status split_transpose_by_slices(tc_rewrite *rw, const tc_node *node, bool *done)
{
    transpose t;
    if (node->op != TC_OP_tosa_transpose || ti_is_const(rw->from, node->in[0]))
        return TC_OK;
    const tc_type *y = ti_type_of(rw->from, node->out[0]);
    if (!tc_type_count(y) || y->dtype == TC_i16 || /* which not every target concatenates */
        !transpose_of(ti_type_of(rw->from, node->in[0]),
                 ((const tc_attr_tosa_perms *)node->attr)->perms, &t) ||
        t.n <= AXES || parts_of(t) > PARTS)
        return TC_OK;
    tc_build lw = ti_build_instead(rw, node);
    tc_val v = transposed(&lw, ti_rewrite_in(rw, node, 0), &t);
    return ti_b_replace(&lw, ti_b_tosa_reshape(&lw, v, y->rank, y->dim), done);
}

tc_status ti_lower_split_transpose_by_slices(tc_ctx *ctx, tc_module *module)
{
    (void)ctx;
    return ti_rewrite_offered(module, split_transpose_by_slices);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* formula_kernel.c -- kernels of rows FUNCTION without one in num, and of `function`: the formula, by
 * the kernels of its operators. */
#include "../num/eltwise.h"
#include "../num/load.h"
#include "formula.h"
#include "shape.h"

enum { MOST_MADE = 128 }; /* values of one formula */

/* A term is a tensor of the result's shape, in `real` or bool, or a number; 0 is none. */
typedef struct desk {
    tc_call *call;
    tc_type real, truth, number;
    tc_tensor made[MOST_MADE];
    uint32_t n_made;
} desk;

static uint32_t space(desk *d, const tc_type *type)
{
    if (d->n_made + 1 >= MOST_MADE) {
        d->call->error = "a formula with too many steps";
        return 0;
    }
    d->made[++d->n_made] =
        (tc_tensor){type, ti_arena_raw(d->call->scratch, tc_type_bytes(type))};
    return d->n_made;
}

static uint32_t number(desk *d, double value)
{
    uint32_t v = space(d, &d->number);
    if (v)
        ti_store_f64(d->made[v], 0, value);
    return v;
}

static tc_term compute(const tc_formula *f, tc_op op, const tc_term *in, int n)
{
    desk *d = f->maker;
    if (op == TC_FORMULA_LIKE)
        return (tc_term){.made = number(d, in[1].number)};
    const tc_op_info *info = &tc_ops[op];
    int operands = n < info->max_in ? n : info->max_in;
    bool truth = info->shape == ti_shape_compare || info->shape == ti_shape_bool;
    tc_tensor operand[3] = {{0}};
    for (int i = 0; i < operands && i < 3; i++)
        operand[i] = d->made[in[i].known ? number(d, in[i].number) : in[i].made];
    uint32_t to = space(d, truth ? &d->truth : &d->real);
    if (d->call->error || !info->kernel || !(info->traits & T_ELTWISE)) {
        d->call->error = d->call->error ? d->call->error : "a formula of more than elements";
        return (tc_term){0};
    }
    tc_call call = {.attr = ti_formula_attr(d->call->scratch, f, op, in + operands,
                                            n - operands),
                    .n_in = operands,
                    .n_out = 1,
                    .in = operand,
                    .out = &d->made[to],
                    .scratch = d->call->scratch};
    info->kernel(&call);
    d->call->error = call.error;
    return (tc_term){.made = to};
}

/* Elements of t from `first` on, as a list of that type. */
static tc_tensor part(tc_tensor t, int64_t first, const tc_type *list)
{
    return (tc_tensor){list, (char *)t.data + first * tc_dtypes[list->dtype].bytes};
}

/* Operand i for the elements of the result from `first` on, in its shape, as `real`. */
static uint32_t operand(desk *d, int i, int64_t first)
{
    const tc_tensor x = d->call->in[i];
    const tc_type *y = d->call->out[0].type;
    const int64_t n = d->real.dim[0];
    uint32_t v = space(d, &d->real);
    if (tc_type_count(x.type) == tc_type_count(y)) {
        tc_type list = *x.type;
        list.rank = 1;
        list.dim[0] = n;
        list.quant = NULL;
        ti_convert(part(x, first, &list), d->made[v]);
        return v;
    }
    for (int64_t k = 0; k < n; k++) {
        int64_t left = first + k, at = 0, step = 1;
        for (int a = y->rank - 1, b = x.type->rank - 1; b >= 0; a--, b--) {
            at += x.type->dim[b] == 1 ? 0 : left % y->dim[a] * step;
            step *= x.type->dim[b];
            left /= y->dim[a];
        }
        ti_store_f64(d->made[v], k, ti_load_f64(x, at));
    }
    return v;
}

/* One block of elements, from `first` on. */
static void run_block(desk *d, const char *text, tc_op op, int64_t first, tc_tensor y)
{
    tc_formula f = {text, tc_ops[op].attr, d->call->attr, {0}, compute, d};
    tc_term out;
    const char *wrong;
    for (int i = 0; i < d->call->n_in; i++)
        f.in[i] = operand(d, i, first);
    if (!ti_formula_apply(&f, &out, &wrong))
        d->call->error = "its formula cannot be read";
    else if (d->made[out.made].type == &d->number)
        d->call->error = "its formula is a number";
    if (!d->call->error)
        ti_convert(d->made[out.made], y);
}

/* f64 is computed in f64, everything else in f32; block by block, so that all steps of a formula
 * find their operands in the cache. */
static void run(tc_call *call, tc_op op, const char *text)
{
    enum { BLOCK = 4096 };
    const int64_t n = tc_type_count(call->out[0].type);
    desk *d = tc_new(call->scratch, desk);
    tc_type out = *call->out[0].type;
    d->call = call;
    out.rank = 1;
    out.quant = NULL;
    for (int64_t at = 0; at < n && !call->error; at += BLOCK) {
        out.dim[0] = n - at < BLOCK ? n - at : BLOCK;
        d->real = d->truth = d->number = out;
        d->real.dtype = d->number.dtype = out.dtype == TC_f64 ? TC_f64 : TC_f32;
        d->truth.dtype = TC_bool;
        d->number.rank = 0;
        d->n_made = 0;
        tc_mark mark = ti_arena_mark(call->scratch);
        run_block(d, text, op, at, part(call->out[0], at, &out));
        ti_arena_rewind(call->scratch, mark);
    }
}

void ti_num_function(tc_call *call);
void ti_num_function(tc_call *call)
{
    run(call, TC_OP_function, ((const tc_attr_function *)call->attr)->formula);
}

#define KERNEL_own(name, text)
#define KERNEL_formula(name, text)                                                                 \
    void ti_num_##name(tc_call *call);                                                             \
    void ti_num_##name(tc_call *call)                                                              \
    {                                                                                              \
        static const char formula[] = text; /* NULL does not build */                              \
        run(call, TC_OP_##name, formula);                                                          \
    }
#define OP(...)
#define FUNCTION(name, attr, role, defined, kernel, formula, doc) KERNEL_##kernel(name, formula)
#define FUNCTION2(name, role, formula, doc) KERNEL_formula(name, formula)
#include "op.def"

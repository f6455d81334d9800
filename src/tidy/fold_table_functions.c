/* SPDX-License-Identifier: Apache-2.0 */
/* fold_table_functions.c -- a function of a table's rows is rows of a table.
 *
 *   op(embedding(T, i), c, ..)               =>  embedding(op(T, c, ..), i)       c: constants
 *   op(embedding(T, i), embedding(U, i), ..) =>  embedding(op(T, U, ..), i)
 *
 * op: elementwise; c: one number, or one for each column.  A table that something else reads too, as
 * a tied decoder's last layer does, stays what it is, and so do tables much larger than what is read
 * of them. */
#include "tidy.h"

#include "../run/eval.h"

enum { SMALL = 1 << 20, TIMES = 4 }; /* elements; of what is read */

/* The rows that v is: a table, and which; NULL: something else. */
static const tc_node *rows_of(const tc_rewrite *rw, tc_val v)
{
    const tc_node *def = v ? ti_def(rw->to, v) : NULL;
    if (!def || def->op != TC_OP_embedding || !ti_rewrite_is_fixed(rw, def->in[0]))
        return NULL;
    tc_tensor t = ti_tensor_of(rw->to, def->in[0]);
    return t.data && t.type->dtype == TC_f32 && !t.type->quant ? def : NULL;
}

/* A constant as an operand beside a table of n columns; TC_NONE: it varies from row to row. */
static tc_val beside_table(tc_build *b, tc_val v, int64_t n)
{
    tc_tensor t = ti_tensor_of(b->g, v);
    int64_t count = t.data ? tc_type_count(t.type) : 0;
    bool one = count == 1, columns = count == n && t.type->rank && t.type->dim[t.type->rank - 1] == n;
    if (!ti_rewrite_is_fixed(b->rw, v) || (t.data && t.type->quant) || (!one && !columns))
        return TC_NONE;
    return ti_b_data(b, ti_type_make(b->ctx, t.type->dtype, one ? 0 : 1, &count), t.data);
}

static bool is_taken(const tc_rewrite *rw, const tc_node *node)
{
    const tc_type *y = node->n_out == 1 ? ti_type_of(rw->from, node->out[0]) : NULL;
    return (tc_ops[node->op].traits & T_ELTWISE) && y && y->dtype == TC_f32 && !y->quant;
}

/* The operands with tables in the place of their rows; the rows that the first is, or NULL. */
static const tc_node *take_tables(tc_build *b, const tc_node *node, tc_val *in)
{
    const tc_node *first = NULL;
    for (int i = 0; i < node->n_in; i++) {
        const tc_node *rows = rows_of(b->rw, ti_b_in(b, i));
        first = first ? first : rows;
        if (rows && rows->in[1] != first->in[1])
            return NULL;
    }
    if (!first || !ti_has_dims(ti_type_of(b->g, first->out[0]), ti_b_out_type(b, 0)->rank,
                               ti_b_out_type(b, 0)->dim))
        return NULL;
    for (int i = 0; i < node->n_in; i++) {
        tc_val v = ti_b_in(b, i);
        const tc_node *rows = rows_of(b->rw, v);
        if (!v)
            return NULL;
        in[i] = rows ? rows->in[0]
                     : beside_table(b, v, ti_type_of(b->g, first->in[0])->dim[1]);
        if (!in[i] || (rows && ti_reader_of_data(b->rw->from, ti_tensor_of(b->g, rows->in[0]).data,
                                                TC_OP_embedding, true)))
            return NULL;
    }
    return first;
}

static tc_status as_table(tc_rewrite *rw, const tc_node *node, bool *done)
{
    enum { MOST = 4 };
    tc_val in[MOST];
    tc_tensor operand[MOST], result;
    if (!is_taken(rw, node) || node->n_in > MOST)
        return TC_OK;
    tc_build b = ti_build_instead(rw, node);
    const tc_node *rows = take_tables(&b, node, in);
    if (!rows)
        return b.status;
    int64_t all = tc_type_count(ti_type_of(rw->to, rows->in[0])),
            read = tc_type_count(ti_b_out_type(&b, 0));
    if (all > SMALL && all > TIMES * read)
        return TC_OK;
    tc_val made = ti_b_op(&b, node->op, node->attr, in, node->n_in);
    TC_TRY(b.status);
    for (int i = 0; i < node->n_in; i++)
        operand[i] = ti_tensor_of(rw->to, in[i]);
    TC_TRY(ti_eval_node(rw->to, ti_def(rw->to, made), operand, &result, &rw->ctx->arena));
    tc_val table = ti_b_data(&b, ti_type_of(rw->to, made), result.data);
    return ti_b_replace(&b, ti_b_embedding(&b, table, rows->in[1]), done);
}

tc_status ti_tidy_fold_table_functions(tc_ctx *ctx, tc_module *module)
{
    static tc_rewriter *const rewriters[] = {as_table};
    (void)ctx;
    return ti_rewrite_module(module, rewriters, TC_COUNT(rewriters), NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* recipe.h -- what an operator of another format becomes, as a line of text in its row.
 *
 *   elu(self, alpha:1, scale:1, input_scale:1)
 *   softmax(cast(self, dtype=dtype?), axis=dim)
 *   d = sub(in0, in1); mul(d, d)
 *
 * A recipe is operators of op.def on operands of the file's node, which are named as the format
 * names them (PyTorch: self; ONNX and TensorFlow Lite: in0, in1, ...).
 *
 *   self          the operand; bias?: TC_NONE where it is left out; a|b: the first that is there
 *   hx[0]         of a list of tensors the first
 *   0.5 -inf      a constant, in the type of the other operands; (alpha:1) one that is computed
 *   if(is_int(self), div(..), mul(..))   one or the other: is_int, is_float, is_complex of an
 *                 operand, has(name), flag:false, or two numbers with <, > or = between them; in
 *                 place of one, !'reason' refuses the node
 *   x = ...;      a name for what follows; results are the other parts, in the order of the node
 *   sort(..)[1]   one of several results; without [N] they are all results of the node
 *
 * Attributes are fields of the operator's record in attr.def, and every one is said:
 *
 *   axis=dim      the node's own argument or attribute `dim`, which must be there
 *   axis=dim:-1   the same, -1 where it is left out; `alpha:1` is short for `alpha=alpha:1`
 *   slope=0.01    a number; numbers may be computed: slope=(lower:0.125 + upper:0.375) / 2, also
 *                 from self.rank, self.count and self.shape[1]
 *   mode='floor'  a word of a choice; mode=how{none:exact, floor}: words of the file and ours, the
 *                 same word once, the first where it is left out
 *   axes=dim:all  every axis where the list is left out or empty
 *   pad=padding[2]:0   a list of two; one number stands for both, none for 0, 0
 *   shape=self.shape, dtype=self.dtype   those of an operand; of `result`: what the file declares
 *   dtype=f32, dtype=out_dtype?          a type; the node's, and no cast where it is left out
 *
 * Axes are counted from the front: negative ones are of the first operand.  A recipe may end with
 * `unless name: reason`, which is refused where that number is not 0; one that begins with `!` is
 * the reason why the operator is not read. */
#ifndef TC_RECIPE_H
#define TC_RECIPE_H

#include "../ir/build.h"

/* How a format gives what a recipe names.  The builder is the first member of the format's node. */
typedef struct tc_recipe_source {
    bool (*has)(tc_build *b, const char *name);       /* it is there */
    bool (*is_tensor)(tc_build *b, const char *name); /* NULL: operands always are */
    tc_val (*tensor)(tc_build *b, const char *name);
    tc_val (*tensor_at)(tc_build *b, const char *name, int64_t i); /* of a list of tensors */
    /* A scalar as an operand of op with another, or alone. */
    tc_val (*number)(tc_build *b, const char *name, tc_val beside, tc_op op, const void *attr);
    int64_t (*i64)(tc_build *b, const char *name);
    double (*f64)(tc_build *b, const char *name);
    bool (*truth)(tc_build *b, const char *name);
    tc_ints (*ints)(tc_build *b, const char *name);
    const char *(*text)(tc_build *b, const char *name);
    tc_dtype (*dtype)(tc_build *b, const char *name);
    const tc_type *(*result)(tc_build *b, int i); /* as declared */
    int (*results)(tc_build *b);
    void (*bind)(tc_build *b, int i, tc_val value);
    void (*missing)(tc_build *b, const char *name, const char *expected);
} tc_recipe_source;

/* Follow the recipe; the first operand that was read, or TC_NONE. */
tc_val ti_recipe(tc_build *b, const tc_recipe_source *from, const char *text);

/* The operator that makes the first result; TC_OP_COUNT: none. */
tc_op ti_recipe_op(const char *text);

/* What is wrong with a recipe, or NULL.  Every name of the file's in it is passed to `known`:
 * whether the operator has an argument of that name. */
const char *ti_recipe_check(tc_arena *arena, const char *text,
                            bool (*known)(const void *schema, const char *name),
                            const void *schema);

#endif

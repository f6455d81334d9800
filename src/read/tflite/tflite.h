/* SPDX-License-Identifier: Apache-2.0 */
/* tflite.h -- what builders of TensorFlow Lite's operators work with: one operator of the file.
 *
 * A builder reads inputs and options, appends operators of ours (ir/build.h), and binds each result
 * that the operator names.  tflite.def has the builder of each operator.
 *
 * Quantized tensors keep their codes: integer arithmetic of the file is built of TOSA's operators,
 * bit-exact (tflite_fixed.h).  A uint8 code u with zero z is kept as the int8 code u - 128 with
 * zero z - 128. */
#ifndef TC_TFLITE_H
#define TC_TFLITE_H

#include "../../target/tflite_schema.h"
#include "../../wire/flatbuf.h"
#include "../facts.h"

/* ActivationFunctionType. */
enum { TFL_NONE, TFL_RELU, TFL_RELU_N1_TO_1, TFL_RELU6, TFL_TANH, TFL_SIGN_BIT };

typedef struct tc_tfl_tensor {
    tc_fb_table table;
    const char *name;
    int code;       /* TensorType */
    tc_dtype dtype; /* our element type; TC_none: not numeric */
    int rank;
    int64_t dim[TC_MAX_RANK]; /* as the file says; -1: open */
    uint32_t open;            /* a bit for each axis whose size is open */
    int n_scale;              /* 0: not quantized */
    double *scale;
    int64_t *zero; /* in our codes: 128 less for uint8 */
    int axis;      /* of several scales */
    int64_t block; /* elements of the last axis that share a scale; 0: all, or one each */
    int64_t block_scale, block_zero; /* tensors of them; zeros may be left out, -1 */
    bool shifted;  /* uint8 codes kept as int8 */
    bool variable; /* keeps its contents from run to run */
    bool made, broken, loaded;
    tc_val val;
    tc_val plain;       /* uint8 codes as the file has them, where they are known; or TC_NONE */
    const char *handle; /* of a resource: its name */
    tc_tensor kept;     /* its elements, once read: many operators may share them */
    tc_val left;        /* what Vela's custom operator left there, in a memory too; or TC_NONE */
} tc_tfl_tensor;

typedef struct tc_tfl_node {
    tc_build m;
    struct tc_tfl_scope *scope;
    const struct tc_tfl_row *row;
    tc_fb_table op, opt;
    tc_fb_vector in, out;
    int version;
    int n_in, n_out; /* as many as the file lists */
} tc_tfl_node;

/* A row of tflite.def. */
typedef struct tc_tfl_row {
    int code;
    const char *name;
    int last; /* newest version that is read */
    void (*build)(tc_tfl_node *n);
    void (*codes)(tc_tfl_node *n); /* on codes; NULL: not supported */
    tc_op op;
    double extra;
    const char *note;
    const char *recipe; /* where `build` follows one */
} tc_tfl_row;
extern const tc_tfl_row tc_tfl_rows[]; /* ended by a row without name */

/* Input i: TC_NONE when absent; the second form reports that and fails. */
tc_val ti_tfl_in(tc_tfl_node *n, int i);
tc_val ti_tfl_need(tc_tfl_node *n, int i);
/* The same, uint8 codes as the file has them. */
tc_val ti_tfl_plain(tc_tfl_node *n, int i);
/* Its f32 values, dequantized. */
tc_val ti_tfl_real(tc_tfl_node *n, int i);
bool ti_tfl_has(const tc_tfl_node *n, int i);
tc_tfl_tensor *ti_tfl_in_tensor(const tc_tfl_node *n, int i); /* NULL: left out */
tc_tfl_tensor *ti_tfl_out_tensor(const tc_tfl_node *n, int i);
void ti_tfl_bind(tc_tfl_node *n, int i, tc_val value);
void ti_tfl_bind_plain(tc_tfl_node *n, int i, tc_val value); /* uint8 as the file has it */

/* uint8 codes as int8, and back. */
tc_val ti_tfl_down(tc_build *m, tc_val x);
tc_val ti_tfl_up(tc_build *m, tc_val x);
tc_val ti_tfl_plain_of(tc_build *m, const tc_tfl_tensor *t,
                       tc_val x); /* a tensor's, from its int8 */

/* Options by the number of their field. */
int64_t ti_tfl_int(const tc_tfl_node *n, uint32_t field, int64_t missing);
bool ti_tfl_bool(const tc_tfl_node *n, uint32_t field, bool missing);
double ti_tfl_float(const tc_tfl_node *n, uint32_t field, double missing);
int ti_tfl_enum(const tc_tfl_node *n, uint32_t field); /* one byte */
tc_ints ti_tfl_ints(const tc_tfl_node *n, uint32_t field);

/* Elements of input i that a shape follows from: constant, or settled by the data that the model is
 * read for.  A message names the input when they are neither. */
bool ti_tfl_settled_tensor(tc_tfl_node *n, int i, tc_tensor *out);
tc_ints ti_tfl_settled(tc_tfl_node *n, int i);
int64_t ti_tfl_settled_int(tc_tfl_node *n, int i);
/* The shape of result 0 given by input i, of its axes from `first` on: as above, or where that is
 * not constant the declared shape, with a warning.  need: a bit for each axis that has to be known;
 * others that the file leaves open are -1.  stated: whether it is the file's; or NULL. */
tc_ints ti_tfl_shape(tc_tfl_node *n, int i, int first, uint32_t need, bool *stated);

static inline bool ti_tfl_is_codes(const tc_tfl_tensor *t)
{
    return t && t->n_scale > 0 && (t->dtype == TC_i8 || t->dtype == TC_i16);
}

/* An activation on real values. */
tc_val ti_tfl_activate(tc_build *m, tc_val x, int activation);

/* Windows: the padding of SAME (0) or VALID (1) along an axis. */
typedef struct tc_tfl_window {
    int64_t in, kernel, stride, dilation;
    int64_t before, after; /* zeros added */
    int64_t used;          /* of the input; the rest is not read by any window */
    int64_t out;
} tc_tfl_window;
bool ti_tfl_window_of(tc_tfl_node *n, int padding, tc_tfl_window *w);
/* Weights that do not fit x are named; [1, h, w, c m] fit one of c channels. */
void ti_tfl_bad_weights(tc_build *m, const tc_type *w, const tc_type *x);
bool ti_tfl_is_depthwise(tc_build *m, const tc_type *w, const tc_type *x);

/* Inline another graph of the file, with these values for its inputs. */
void ti_tfl_inline(tc_tfl_node *n, int64_t graph, const tc_val *in, int n_in, tc_val *out,
                   int n_out);

#define TFL(code, name, last, build, codes, op, extra, note)                                       \
    void ti_tfl_build_##build(tc_tfl_node *n);                                                     \
    void ti_tfl_codes_##codes(tc_tfl_node *n);
#define TFL_IS(code, name, last, recipe, codes, op, extra, note)                                   \
    void ti_tfl_codes_##codes(tc_tfl_node *n);
#define TFL_ACTIVATED TFL_IS
#include "tflite.def"
void ti_tfl_build_recipe(tc_tfl_node *n);
void ti_tfl_build_activated(tc_tfl_node *n);

#endif

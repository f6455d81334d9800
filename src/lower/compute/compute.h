/* SPDX-License-Identifier: Apache-2.0 */
/* compute.h -- SPIR-V compute shaders, written from operators: a small builder of typed scalars.
 *
 * A shader has one invocation for each element of a tensor, by its row-major index.  A port is a
 * tensor, an operand or a result of the operator, accessed by such indices. Values are computed as
 * bool, i32, i64 or f32, whatever their storage: narrow integers in i32, narrow floats in f32,
 * quantized ones as reals.  Constants are inline.  Products and sums of floats are not contracted,
 * so that every machine rounds equally. */
#ifndef TC_COMPUTE_H
#define TC_COMPUTE_H

#include "../../ir/graph.h"
#include "../../wire/spirv.h"
#include "../../num/vk_format.h"

/* The set GLSL.std.450. */
enum {
#define GLSL(number, name) TC_GLSL_##name = number,
#include "../../wire/glsl.def"
};

typedef enum tc_cs_kind { TC_CS_BOOL, TC_CS_I32, TC_CS_I64, TC_CS_F32, TC_CS_KINDS } tc_cs_kind;

/* A scalar that the code has made; id 0: none. */
typedef struct tc_cs_val {
    uint32_t id;
    tc_cs_kind kind;
} tc_cs_val;

/* A variable of one invocation. */
typedef struct tc_cs_var {
    uint32_t id;
    tc_cs_kind kind;
} tc_cs_var;

enum { TC_CS_PORTS = 16 };

typedef struct tc_cs_port {
    tc_tensor value;   /* data: a constant's */
    tc_val val;        /* of the graph; 0: not of it */
    struct tc_cs_made *made; /* computed where it is read; NULL: a tensor or a constant */
    uint32_t variable; /* 0: not used so far, or a constant */
    bool stored;       /* it is read as codes, also if quantized */
    bool image;        /* an image of four floats, seen through a sampler */
    const tc_vk_format *pixel; /* an image of this format, seen pixel by pixel; or NULL */
} tc_cs_port;

typedef struct tc_cs {
    tc_ctx *ctx;
    tc_spv_writer w;
    tc_cs_port port[TC_CS_PORTS]; /* operands, then results */
    int n_in, n_port;
    int result; /* which one is made, if each has its own shader */
    int group;  /* use_samplers.c: which four channels */
    uint32_t glsl; /* the set GLSL.std.450; 0: not used so far */
    uint32_t type[TC_CS_KINDS];
    uint32_t global; /* the built-in variable of the invocation's number */
    int depth;        /* formulas inside formulas */
    int64_t count;    /* invocations */
    const char *why;  /* what it cannot do; NULL: nothing so far */
    struct {
        tc_val val;
        uint32_t variable;
    } known[TC_CS_PORTS]; /* values of the graph that have a variable */
    int n_known;
    int inner;        /* compute_fuse.c: operators inside operators, */
    uint32_t taken;   /* and what the one inside gave, as it would be stored */
} tc_cs;

/* The code of an operator for one invocation, given the index of the element; s->why if not
 * supported. */
typedef void tc_cs_make(tc_cs *s, const tc_node *node, tc_cs_val at);

/* The shader of one operator. */
typedef struct tc_cs_family {
    const char *name;
    tc_cs_make *make;
    /* The invocations: one for each element of a result, or of the first operand; and whether every
     * result has its own shader. */
    enum { TC_CS_RESULT, TC_CS_OPERAND, TC_CS_EACH } per;
    bool moves; /* it copies elements as stored */
} tc_cs_family;

/* compute.def: the family of an operator; NULL: it has none. */
const tc_cs_family *ti_cs_family(tc_op op);

/* An operand computed at its use: its node, with its own ports. */
typedef struct tc_cs_made {
    const tc_node *node;
    const tc_cs_family *family;
    tc_cs_port port[TC_CS_PORTS];
    int n_in, n_port, result;
} tc_cs_made;

/* compute_fuse.c: an element of such an operand, as a tensor would hold it. */
uint32_t ti_cs_made_at(tc_cs *s, tc_cs_made *made, tc_cs_val place);

/* By value of a graph: it is computed where it is read, in the shader of its only reader; in scratch
 * memory.  The nodes between them are at most 24, the tensors of a shader TC_CS_PORTS. */
bool *ti_cs_fuse(tc_ctx *ctx, const tc_graph *g);

/* ---- scalars --------------------------------------------------------------------------------- */

tc_cs_kind ti_cs_kind_of(tc_dtype dtype); /* the type in which a type is computed */
bool ti_cs_holds(tc_dtype dtype);         /* whether a tensor of a shader may have it */

tc_cs_val ti_cs_number(tc_cs *s, tc_cs_kind kind, double v);
static inline tc_cs_val ti_cs_real(tc_cs *s, double v) { return ti_cs_number(s, TC_CS_F32, v); }
tc_cs_val ti_cs_i32(tc_cs *s, int64_t v);
tc_cs_val ti_cs_i64(tc_cs *s, int64_t v);
tc_cs_val ti_cs_to(tc_cs *s, tc_cs_kind kind, tc_cs_val v); /* as C converts; floats are cut */
/* The low bits of an integer, in the type; others unchanged, rounded to a narrow float. */
tc_cs_val ti_cs_wrap(tc_cs *s, tc_dtype dtype, tc_cs_val v);

/* An instruction of operands of one kind; the result is of that kind, or of `kind`. */
tc_cs_val ti_cs_do(tc_cs *s, tc_spv_op op, tc_cs_kind kind, tc_cs_val a, tc_cs_val b);
tc_cs_val ti_cs_one(tc_cs *s, tc_spv_op op, tc_cs_kind kind, tc_cs_val a);
tc_cs_val ti_cs_ext(tc_cs *s, uint32_t function, tc_cs_val a, tc_cs_val b); /* b.id 0: one operand */
tc_cs_val ti_cs_select(tc_cs *s, tc_cs_val c, tc_cs_val yes, tc_cs_val no);

/* By kind: add, sub, mul, min and max of non-NaN values, comparisons. */
tc_cs_val ti_cs_add(tc_cs *s, tc_cs_val a, tc_cs_val b);
tc_cs_val ti_cs_sub(tc_cs *s, tc_cs_val a, tc_cs_val b);
tc_cs_val ti_cs_mul(tc_cs *s, tc_cs_val a, tc_cs_val b);
tc_cs_val ti_cs_less(tc_cs *s, tc_cs_val a, tc_cs_val b);
tc_cs_val ti_cs_equal(tc_cs *s, tc_cs_val a, tc_cs_val b);
tc_cs_val ti_cs_and(tc_cs *s, tc_cs_val a, tc_cs_val b);
tc_cs_val ti_cs_or(tc_cs *s, tc_cs_val a, tc_cs_val b);
tc_cs_val ti_cs_not(tc_cs *s, tc_cs_val a);
tc_cs_val ti_cs_nan(tc_cs *s, tc_cs_val a); /* whether it is NaN; false of integers */
/* Quotient and remainder by a constant of a number that is not negative. */
tc_cs_val ti_cs_part(tc_cs *s, tc_cs_val a, int64_t by);
tc_cs_val ti_cs_rest(tc_cs *s, tc_cs_val a, int64_t by);

/* ---- tensors --------------------------------------------------------------------------------- */

static inline const tc_type *ti_cs_type(const tc_cs *s, int port) { return s->port[port].value.type; }
tc_cs_val ti_cs_load(tc_cs *s, int port, tc_cs_val place);
/* Inline constants, and one of them. */
typedef struct tc_cs_list {
    tc_tensor numbers;
    uint32_t variable; /* 0: not declared so far */
} tc_cs_list;
tc_cs_val ti_cs_item(tc_cs *s, tc_cs_list *list, tc_cs_val place);
/* The four components that a sampler gives at coordinates from 0 to 1. */
void ti_cs_sample(tc_cs *s, int port, tc_cs_val u, tc_cs_val v, tc_cs_val out[4]);
void ti_cs_store(tc_cs *s, int port, tc_cs_val place, tc_cs_val v);
/* The four components of pixel x, y of an image that is read, and of one that is written: f32, or
 * i32 of integer formats. */
void ti_cs_fetch(tc_cs *s, int port, tc_cs_val x, tc_cs_val y, tc_cs_val out[4]);
void ti_cs_put_pixel(tc_cs *s, int port, tc_cs_val x, tc_cs_val y, const tc_cs_val v[4]);
/* The bits of an f32 as an i32, and back. */
tc_cs_val ti_cs_bits(tc_cs *s, tc_cs_kind kind, tc_cs_val v);

/* The coordinates of an index, and the index of coordinates. */
void ti_cs_split(tc_cs *s, const tc_type *t, tc_cs_val place, tc_cs_val *at);
tc_cs_val ti_cs_join(tc_cs *s, const tc_type *t, const tc_cs_val *at);
/* The index in an operand that is broadcast to the type. */
tc_cs_val ti_cs_spread(tc_cs *s, const tc_type *to, const tc_type *from, tc_cs_val place);

/* ---- control flow ---------------------------------------------------------------------------- */

tc_cs_var ti_cs_var(tc_cs *s, tc_cs_val first);
tc_cs_val ti_cs_get(tc_cs *s, tc_cs_var v);
void ti_cs_set(tc_cs *s, tc_cs_var v, tc_cs_val now);

typedef struct tc_cs_if {
    uint32_t other, end;
} tc_cs_if;
tc_cs_if ti_cs_if(tc_cs *s, tc_cs_val condition);
void ti_cs_end(tc_cs *s, tc_cs_if block);

typedef struct tc_cs_loop {
    uint32_t head, next, end;
    tc_cs_var i;
    tc_cs_val at; /* counts from 0 */
} tc_cs_loop;
tc_cs_loop ti_cs_loop(tc_cs *s, tc_cs_val times);
void ti_cs_again(tc_cs *s, tc_cs_loop *loop);

/* ---- operators ------------------------------------------------------------------------------- */

typedef struct tc_cs_code {
    tc_bytes words;
    int64_t groups[3];
    int n_port, n_in;
    /* Of the graph: operands, then results; no constants.  Their binding is their index. */
    tc_val val[TC_CS_PORTS];
} tc_cs_code;

/* The shader of a family whose ports are set: s->count is set where it is not one for each element.
 * NULL, or why there is none. */
const char *ti_cs_code_of(tc_ctx *ctx, tc_cs *s, const tc_cs_family *family, const tc_node *node,
                          tc_cs_code *out);

/* The format of a tensor; i64 and unsigned integers by their bytes. */
int64_t ti_cs_format(const tc_type *t);
/* The node's attributes from it: bindings count from 0 in set 0; samplers are rows of seven
 * integers. */
tc_attr_tosa_shader *ti_cs_shader(tc_ctx *ctx, const char *name, const tc_cs_code *code,
                                  const int64_t *descriptor, const int64_t *format,
                                  const int64_t *sampler, int n_sampler);

/* The shader of a node, or of one of its results if each has its own; NULL, or why there is none,
 * in the context's arena.  fused: as ti_cs_fuse says; or NULL: every operand is a tensor. */
const char *ti_cs_node(tc_ctx *ctx, const tc_graph *g, const tc_node *node, int result,
                       const bool *fused, tc_cs_code *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* shader.h -- SPIR-V compute shaders: read once into a flat program, then run for every invocation.
 *
 * Scalars are kept in registers of 64 bits: a vector of three has three in a row, a struct those of
 * its members.  Integers and the bits of floats are zero-extended.  A shader's private variables
 * are registers too; calls are inlined; phis are moves at the end of the predecessor blocks.
 * Memory shared by a work group is registers passed from one invocation to the next: one runs at a
 * time, up to its end or a barrier.  So an instruction names registers only, and what cannot be
 * expressed so (pointers chosen at run time) is rejected.
 *
 * Ports are a shader's operands and then its results, as tosa_shader has them: tensors, images,
 * buffers by set and binding. */
#ifndef TC_SHADER_H
#define TC_SHADER_H

#include "../num/call.h"
#include "../wire/spirv.h"
#include "../num/vk_format.h"

/* ---- what a module declares ------------------------------------------------------------------ */

typedef enum tc_sh_kind {
    TC_SH_NO_TYPE,
    TC_SH_VOID,
    TC_SH_BOOL,
    TC_SH_INT,
    TC_SH_FLOAT,
    TC_SH_VECTOR,
    TC_SH_MATRIX,
    TC_SH_ARRAY,
    TC_SH_RUNTIME_ARRAY,
    TC_SH_STRUCT,
    TC_SH_POINTER,
    TC_SH_IMAGE,
    TC_SH_SAMPLER,
    TC_SH_SAMPLED_IMAGE,
    TC_SH_TENSOR,
    TC_SH_FUNCTION
} tc_sh_kind;

typedef struct tc_sh_type {
    tc_sh_kind kind;
    uint32_t bits;    /* of an integer or float; bool 8 */
    bool is_signed;   /* integers */
    bool is_bfloat;   /* floats of 16 bits */
    uint32_t element; /* the type of an element, column or pixel, or what is pointed to */
    uint32_t count;   /* elements, columns, members; a tensor's rank, 0: not said */
    uint32_t stride;  /* bytes from element to element of an array; 0: not said */
    uint32_t storage; /* a pointer's storage class */
    uint32_t dim, arrayed, multisampled, sampled; /* images */
    uint32_t slots;   /* registers that a value takes */
    const uint32_t *member;
    uint32_t *offset, *columns; /* of members: bytes from the beginning; bytes between columns */
    bool *by_rows;              /* and matrices stored row by row */
} tc_sh_type;

/* The value of an id while the code is read. */
typedef enum tc_sh_is { TC_SH_UNKNOWN, TC_SH_VALUE, TC_SH_PLACE, TC_SH_RESOURCE } tc_sh_is;
/* Storage of a pointer: registers, a port's bytes, push constants. */
typedef enum tc_sh_space { TC_SH_REGISTERS, TC_SH_PORT, TC_SH_PUSH } tc_sh_space;

typedef struct tc_sh_id {
    tc_spv_instr instr; /* that makes it, outside of functions; op 0: none */
    tc_sh_type *type;   /* the id is a type */
    tc_sh_is is;
    uint32_t of;   /* the id of its type; of a pointer: of the pointee */
    uint32_t slot; /* its first register */
    bool fixed;    /* a constant: the register never changes */
    /* A pointer: base and offset in registers or bytes; `moving` is a register to add, or 0.
     */
    tc_sh_space space;
    uint32_t base, offset, moving, stride;
    uint32_t sampler; /* of a sampled image: which row of samplers, + 1 */
    bool by_rows;
    uint32_t columns; /* of a pointer to a matrix */
    /* Decorations. */
    bool has_binding, has_builtin;
    uint32_t binding, set, builtin;
    uint32_t block; /* a label: its number in the function at hand, + 1 */
} tc_sh_id;

#define TC_SH_NO_PORT UINT32_MAX

/* ---- the program ----------------------------------------------------------------------------- */

typedef struct tc_sh_machine tc_sh_machine;
typedef struct tc_sh_ins tc_sh_ins;
/* Does one instruction; gives the next one, or NULL at the end. */
typedef const tc_sh_ins *tc_sh_step(tc_sh_machine *m, const tc_sh_ins *i);

struct tc_sh_ins {
    tc_sh_step *step;
    uint32_t out, a, b, c, d; /* registers, or as the step says */
    uint16_t n, bits;         /* scalars; width of the operands */
};

/* How a resource is seen; rows of tosa_shader. */
typedef struct tc_sh_port {
    uint32_t set, binding, descriptor, format;
    tc_tensor value; /* data may be NULL while only types are looked at */
    size_t bytes;
    uint32_t rank; /* at least 1 */
    int64_t dim[TC_MAX_RANK];
    const tc_vk_format *pixel; /* images: [1, height, width, components] */
} tc_sh_port;

typedef struct tc_sh_sampler {
    uint32_t set, binding, min_filter, mag_filter, address_u, address_v, border;
} tc_sh_sampler;

typedef struct tc_sh_interface {
    tc_sh_port *port;
    size_t n_port, n_in; /* the first n_in are only read */
    tc_sh_sampler *sampler;
    size_t n_sampler;
    tc_bytes push;
    uint32_t groups[3];
} tc_sh_interface;

/* Registers that every invocation begins with: three each. */
enum {
    TC_SH_NUM_GROUPS = 1,
    TC_SH_GROUP_SIZE = 4,
    TC_SH_GROUP = 7,
    TC_SH_LOCAL = 10,
    TC_SH_GLOBAL = 13,
    TC_SH_LOCAL_INDEX = 16,
    TC_SH_FIRST_FREE = 17
};

typedef struct tc_sh_program {
    tc_sh_ins *ins;
    size_t n_ins, cap_ins;
    uint64_t *start; /* what registers hold before the first invocation */
    size_t n_register, cap_register;
    uint32_t group_size[3];
    struct tc_sh_range {
        uint32_t first, n;
    } *shared; /* registers that the invocations of a group have in common */
    size_t n_shared, cap_shared;
    bool waits; /* it has barriers */
} tc_sh_program;

struct tc_sh_machine {
    uint64_t *r;
    const tc_sh_ins *ins; /* the first one; jumps count from it */
    const tc_sh_interface *interface;
    int64_t budget; /* steps that are left */
    const tc_sh_ins *resume; /* after the barrier that it has reached; NULL: it has ended */
    const char *error;
};

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct tc_sh_reader {
    tc_arena *arena;
    tc_bytes code;
    tc_sh_interface *interface;
    tc_sh_program *program;
    tc_sh_id *id;
    uint32_t bound;
    uint32_t glsl;           /* the set GLSL.std.450 */
    tc_spv_instr entry;      /* OpEntryPoint; op 0: none */
    tc_spv_instr at;         /* the instruction at hand */
    size_t functions;        /* where the first function begins */
    int depth;               /* calls inside calls */
    size_t work;             /* instructions looked at, calls written out */
    struct tc_sh_body *body; /* shader_flow.c: the function at hand */
    const char *error;       /* what is wrong, in the arena; NULL: nothing so far */
} tc_sh_reader;

/* Types, constants, variables, decorations.  Errors stay with the reader. */
void ti_shader_declarations(tc_sh_reader *r, tc_arena *arena, tc_bytes code, const char *entry_point,
                            tc_sh_interface *interface, tc_sh_program *program);
/* Every variable that is bound has a port of its kind. */
void ti_shader_check(tc_sh_reader *r);
/* All of it: the program of the entry point. */
void ti_shader_program(tc_sh_reader *r);

/* Runs every invocation; NULL: done, else what went wrong.  `budget`: steps in all. */
const char *ti_shader_run(const tc_sh_program *p, const tc_sh_interface *interface, tc_arena *arena,
                          int64_t budget);

/* The interface of a node; NULL, or what is wrong with its attributes. */
const char *ti_shader_interface(tc_arena *arena, const tc_attr_tosa_shader *a, const tc_tensor *in,
                                int n_in, const tc_tensor *out, int n_out, tc_sh_interface *to);

/* ---- for the files that read ----------------------------------------------------------------- */

/* The first mistake counts; false. */
bool ti_sh_fail(tc_sh_reader *r, const char *format, ...) TC_PRINTF(2, 3);
/* "OpControlBarrier is not supported". */
bool ti_sh_refuse(tc_sh_reader *r);

static inline uint32_t ti_sh_word(const tc_sh_reader *r, size_t i)
{
    return ti_spv_word(&r->at, i);
}
/* A type, or one of kind TC_SH_NO_TYPE after a message. */
const tc_sh_type *ti_sh_type(tc_sh_reader *r, uint32_t id);
/* The id's entry, or an empty one. */
tc_sh_id *ti_sh_id(tc_sh_reader *r, uint32_t id);
/* A value's first register, and its type; 0 after a message. */
uint32_t ti_sh_value(tc_sh_reader *r, uint32_t id, const tc_sh_type **type);
/* A constant whole number. */
bool ti_sh_constant(tc_sh_reader *r, uint32_t id, uint64_t *out);
/* n fresh registers; 0 after a message. */
uint32_t ti_sh_registers(tc_sh_reader *r, uint32_t n);
/* The result of the instruction at hand: its registers and its type. */
uint32_t ti_sh_result(tc_sh_reader *r, const tc_sh_type **type);
/* The result is already in these registers. */
void ti_sh_result_is(tc_sh_reader *r, uint32_t slot);
void ti_sh_put(tc_sh_reader *r, tc_sh_ins ins);
/* A port that is written is a result. */
void ti_sh_check_written(tc_sh_reader *r, uint32_t port);
/* Copies n registers. */
void ti_sh_move(tc_sh_reader *r, uint32_t out, uint32_t from, uint32_t n);

/* The scalars of a value: those of a vector, a matrix or one.  NULL: something else. */
const tc_sh_type *ti_sh_scalar(tc_sh_reader *r, const tc_sh_type *t);

/* Each takes the instruction at hand when it is one of theirs; false: it is not. */
bool ti_sh_arith(tc_sh_reader *r);
bool ti_sh_composite(tc_sh_reader *r);
bool ti_sh_memory(tc_sh_reader *r);
bool ti_sh_atomic(tc_sh_reader *r);
bool ti_sh_image(tc_sh_reader *r);
bool ti_sh_glsl(tc_sh_reader *r);
/* Between registers and memory of their type. */
void ti_sh_load_from(tc_sh_reader *r, const tc_sh_id *p, uint32_t out, const tc_sh_type *t);
void ti_sh_store_to(tc_sh_reader *r, const tc_sh_id *p, uint32_t from, const tc_sh_type *t);
/* A variable gets its registers or its port. */
void ti_sh_variable(tc_sh_reader *r);
/* One arithmetic instruction on registers, as OpSpecConstantOp and products of matrices need it. */
bool ti_sh_emit(tc_sh_reader *r, uint32_t op, const tc_sh_type *element, uint32_t out, uint32_t a,
                uint32_t b, uint32_t n);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* npu_exec.c -- memories, the walk with its branches, and one operation after the other. */
#include "npu_exec.h"

#include "state.h"

static const int64_t most_memory = INT64_C(1) << 32; /* bytes, all regions together */
enum { FILL = 0xa5 }; /* bytes never written */
/* Of a run: an hour; and what a branch counts for, so that one that leads back ends in seconds. */
static const int64_t MOST_WORK = INT64_C(1) << 42;
static const double JUMP = 65536;

static int64_t size_of(const tc_npu_program *p, int region)
{
    return region == TC_NPU_INTERNAL ? ti_npu_internal_bytes(p->machine)
                                     : ti_npu_region_bytes(p, region);
}

static tc_npu_exec *empty(tc_arena *arena, const tc_npu_program *program)
{
    tc_npu_exec *x = tc_new(arena, tc_npu_exec);
    x->arena = arena;
    x->program = program;
    x->machine = program->machine;
    x->limit = MOST_WORK;
    x->kept = tc_new_n(arena, tc_npu_kept *, program->words.n);
    return x;
}

tc_npu_exec *ti_npu_exec_open(tc_arena *arena, const tc_npu_program *program)
{
    tc_npu_exec *x = empty(arena, program);
    int64_t bytes = size_of(program, TC_NPU_INTERNAL);
    x->memory[TC_NPU_INTERNAL] = (tc_npu_memory){ti_arena_raw(arena, (size_t)bytes), bytes};
    return x;
}

tc_npu_exec *ti_npu_exec_new(tc_arena *arena, const tc_npu_program *program, const char **error)
{
    tc_npu_exec *x = empty(arena, program);
    int64_t all = 0;
    *error = NULL;
    for (int r = 0; r <= TC_NPU_REGIONS; r++) {
        x->memory[r].bytes = size_of(program, r);
        all += x->memory[r].bytes;
    }
    if (all > most_memory || (arena->limit && (uint64_t)all > arena->limit)) {
        *error = "its memories are too large to be set up here";
        return NULL;
    }
    for (int r = 0; r <= TC_NPU_REGIONS; r++)
        x->memory[r].data = ti_arena_raw(arena, (size_t)x->memory[r].bytes);
    if (program->fast == 0 && !x->memory[2].bytes)
        x->memory[2] = x->memory[1];
    return x;
}

void ti_npu_exec_limit(tc_npu_exec *x, int64_t work)
{
    x->limit = work;
}

void ti_npu_exec_restart(tc_npu_exec *x)
{
    tc_npu_memory tables = x->memory[TC_NPU_INTERNAL];
    memset(tables.data, FILL, (size_t)tables.bytes);
    for (int r = 0; r < TC_NPU_REGIONS; r++)
        x->chain[r].h = x->chain[r].w = x->chain[r].c = 0;
    x->has_acc = false;
    x->last = 0;
    x->work = 0;
    x->error = NULL;
    x->fault = TC_NPU_FAULT_NONE;
    x->outside = -1;
    ti_npu_walk_begin(&x->walk, x->machine, x->program->words);
}

void ti_npu_exec_begin(tc_npu_exec *x)
{
    for (int r = 1; r < TC_NPU_REGIONS; r++)
        if (r != 2 || x->memory[2].data != x->memory[1].data)
            memset(x->memory[r].data, FILL, (size_t)x->memory[r].bytes);
    if (x->program->weights.size)
        memcpy(x->memory[0].data, x->program->weights.data, x->program->weights.size);
    ti_npu_exec_restart(x);
}

tc_npu_memory ti_npu_exec_memory(tc_npu_exec *x, int region)
{
    return x->memory[region];
}

void ti_npu_exec_bind(tc_npu_exec *x, int region, tc_npu_memory memory)
{
    x->memory[region] = memory;
}

static uint8_t *tensor_at(tc_npu_exec *x, const tc_npu_tensor *t)
{
    const uint8_t *p = ti_npu_span(x, t->region, (uint64_t)t->offset, (uint64_t)t->bytes);
    if (!p)
        ti_npu_outside(x, t->region, "a tensor of %" PRId64 " bytes lies outside region %d", t->bytes,
                       t->region);
    return (uint8_t *)(uintptr_t)p;
}

bool ti_npu_exec_put(tc_npu_exec *x, const tc_npu_tensor *t, const void *data)
{
    uint8_t *p = tensor_at(x, t);
    if (p && t->bytes)
        memcpy(p, data, (size_t)t->bytes);
    return p != NULL;
}

bool ti_npu_exec_get(tc_npu_exec *x, const tc_npu_tensor *t, void *data)
{
    const uint8_t *p = tensor_at(x, t);
    if (p && t->bytes)
        memcpy(data, p, (size_t)t->bytes);
    return p != NULL;
}

/* ---- steps ---- */

static tc_npu_do *const by_kind[TC_NPU_KIND_COUNT] = {
    [TC_NPU_KIND_DMA] = ti_npu_copy,
    [TC_NPU_KIND_CONV] = ti_npu_conv,
    [TC_NPU_KIND_DEPTHWISE] = ti_npu_depthwise,
    [TC_NPU_KIND_POOL] = ti_npu_pooling,
    [TC_NPU_KIND_ELEMENTWISE] = ti_npu_elementwise,
    [TC_NPU_KIND_RESIZE] = ti_npu_resizing,
};

static bool jump(tc_npu_exec *x, const tc_npu_op *op)
{
    if (op->conditional && !x->last)
        return true;
    if (op->target % 4 || op->target / 4 >= x->walk.words.n)
        return ti_npu_stop(x, TC_NPU_FAULT_STREAM, -1,
                           "a branch leads to byte %" PRIu32 ", outside the stream", op->target);
    x->walk.at = op->target / 4;
    return ti_npu_spend(x, JUMP);
}

/* Words that say which command it was. */
static void name_place(tc_npu_exec *x, const tc_npu_op *op)
{
    const char *mode = ti_npu_mode_name(op->kind, op->mode);
    x->error = ti_text_format(x->arena, "word %zu, %s%s%s: %s", op->at, ti_npu_kind_name(op->kind),
                              *mode == '?' ? "" : " ", *mode == '?' ? "" : mode, x->error);
}

/* Working space goes when the operation is done, also by the way out that running out of memory
 * takes. */
static bool execute(tc_npu_exec *x, const tc_npu_op *op)
{
    if (!by_kind[op->kind])
        return op->kind == TC_NPU_KIND_BRANCH ? jump(x, op) : true;
    jmp_buf here, *outer = x->arena->oom;
    ti_arena_init(&x->scratch);
    x->scratch.limit = x->arena->limit;
    if (outer) {
        if (setjmp(here) != 0) {
            ti_arena_free(&x->scratch);
            x->arena->oom = outer;
            longjmp(*outer, 1);
        }
        x->scratch.oom = x->arena->oom = &here;
    }
    bool done = by_kind[op->kind](x, op);
    x->arena->oom = outer;
    ti_arena_free(&x->scratch);
    return done;
}

bool ti_npu_exec_step(tc_npu_exec *x, tc_npu_op *op)
{
    if (x->error)
        return false;
    if (!ti_npu_walk_next(&x->walk, op)) {
        return x->walk.error ? ti_npu_stop(x, TC_NPU_FAULT_STREAM, -1, "word %zu: %s", x->walk.command.at,
                                           x->walk.error)
                             : ti_npu_stop(x, TC_NPU_FAULT_STREAM, -1, "the stream ends without STOP");
    }
    if (op->kind == TC_NPU_KIND_STOP)
        return false;
    if (execute(x, op))
        return true;
    name_place(x, op);
    return false;
}

const char *ti_npu_exec_error(const tc_npu_exec *x)
{
    return x->error;
}

tc_npu_fault ti_npu_exec_fault(const tc_npu_exec *x, int *region)
{
    *region = x->error ? x->outside : -1;
    return x->fault;
}

size_t ti_npu_exec_at(const tc_npu_exec *x)
{
    return x->walk.at * 4;
}

const char *ti_npu_exec_run(tc_npu_exec *x, const void *const *in, void *const *out)
{
    const tc_npu_program *p = x->program;
    tc_npu_op op;
    ti_npu_exec_begin(x);
    for (size_t i = 0; i < p->n_in; i++)
        if (!ti_npu_exec_put(x, &p->in[i], in[i]))
            return x->error;
    while (ti_npu_exec_step(x, &op))
        ;
    for (size_t i = 0; i < p->n_out && !x->error; i++)
        ti_npu_exec_get(x, &p->out[i], out[i]);
    return x->error;
}

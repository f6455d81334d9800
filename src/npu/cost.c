/* SPDX-License-Identifier: Apache-2.0 */
/* cost.c -- a stream's operations as jobs of the timing model; see cost.h. */
#include "block.h"
#include "mark.h"
#include "time_line.h"

#include "npu_text.h"

#include <stdlib.h>

void ti_npu_cost_add(tc_npu_cost *to, const tc_npu_cost *more)
{
    to->cycles += more->cycles;
    to->compute += more->compute;
    to->waiting += more->waiting;
    to->macs += more->macs;
    to->off += more->off;
    to->off2 += more->off2;
    to->unmeasured += more->unmeasured;
    for (int i = 0; i < TC_NPU_MEMORIES; i++) {
        to->access[i] += more->access[i];
        to->read[i] += more->read[i];
        to->written[i] += more->written[i];
    }
}

tc_npu_cost ti_npu_cost_repeated(const tc_npu_cost *one, int64_t times)
{
    tc_npu_cost all = *one;
    double n = times > 1 ? (double)times : 1;
    double *const part[] = {&all.cycles, &all.compute, &all.waiting, &all.macs,
                            &all.off,    &all.off2,    &all.unmeasured};
    for (size_t i = 0; i < TC_COUNT(part); i++)
        *part[i] *= n;
    for (int i = 0; i < TC_NPU_MEMORIES; i++) {
        all.access[i] *= n;
        all.read[i] *= n;
        all.written[i] *= n;
    }
    return all;
}

double ti_npu_utilisation(const tc_npu_machine *machine, const tc_npu_cost *cost)
{
    return cost->cycles > 0 ? cost->macs / (cost->cycles * machine->macs) : 0;
}

/* ---- maps ---- */

static tc_npu_job_map map_of(const tc_npu_system *s, const tc_npu_map *m)
{
    if (!m->used)
        return (tc_npu_job_map){0};
    bool scalar = m->broadcast & TC_BROADCAST_SCALAR, inside = m->storage == TC_STORE_CHAIN;
    return (tc_npu_job_map){.h = scalar ? 1 : m->h,
                            .w = scalar ? 1 : m->w,
                            .c = scalar ? 1 : m->c,
                            .bits = 8 * m->bytes,
                            .format = scalar ? TC_NHWC : m->format,
                            .memory = s->of_region[inside ? 1 : scalar ? 0 : m->region],
                            .counted = !inside && !scalar};
}

static tc_npu_job_map written_map(const tc_npu_system *s, const tc_npu_op *op)
{
    tc_npu_job_map m = map_of(s, &op->ofm);
    ti_npu_written(op, &m.h, &m.w, &m.c);
    return m;
}

static void set_maps(const tc_npu_system *s, const tc_npu_op *op, tc_npu_job *j)
{
    j->ifm = map_of(s, &op->ifm);
    if (op->kind == TC_NPU_KIND_ELEMENTWISE || op->weights_ifm2)
        j->ifm2 = map_of(s, &op->ifm2);
    if (op->kind == TC_NPU_KIND_POOL && op->mode == TC_POOL_NONE)
        j->ifm = map_of(s, &op->ifm2);
    if (!j->ifm.h)
        j->ifm = (tc_npu_job_map){1, 1, 1, 8, TC_NHWC, s->of_region[1], false};
    if (op->ofm.used)
        j->ofm = written_map(s, op);
    else
        j->ofm = (tc_npu_job_map){op->ofm.h, op->ofm.w,       op->ofm.c, 8 * op->ofm.bytes,
                                  TC_NHWC,   s->of_region[1], false};
}

/* ---- jobs ---- */

static tc_npu_work work_of(const tc_npu_op *op)
{
    switch (op->kind) {
    case TC_NPU_KIND_CONV:
        return op->weights_ifm2 ? TC_WORK_MATMUL : TC_WORK_CONV;
    case TC_NPU_KIND_DEPTHWISE:
        return TC_WORK_DEPTHWISE;
    case TC_NPU_KIND_POOL:
        return op->mode == TC_POOL_REDUCE_SUM ? TC_WORK_REDUCE_SUM : TC_WORK_POOL;
    case TC_NPU_KIND_RESIZE:
        return TC_WORK_RESIZE;
    default:
        return TC_WORK_ELEMENTWISE;
    }
}

static double bytes_of(const tc_npu_op *op, bool scales)
{
    double n = 0;
    for (int i = 0; i < op->cores && i < TC_NPU_CORES; i++)
        n += scales ? (i < 2 ? (double)op->scale_bytes[i] : 0) : (double)op->weights.bytes[i];
    return n;
}

static void set_weights(const tc_npu_system *s, const tc_npu_op *op, tc_npu_job *j)
{
    bool weighs = (op->kind == TC_NPU_KIND_CONV && !op->weights_ifm2) ||
                  op->kind == TC_NPU_KIND_DEPTHWISE;
    j->weight_memory = weighs ? (int8_t)s->of_region[op->weights.region] : -1;
    /* Of elementwise operations the flag says that there is no scale at all (CLZ, shifts). */
    bool scales = op->per_channel && op->kind != TC_NPU_KIND_ELEMENTWISE;
    j->scale_memory = scales ? (int8_t)s->of_region[op->scale_region] : -1;
    j->weight_bytes = weighs ? bytes_of(op, false) : 0;
    j->scale_bytes = scales ? bytes_of(op, true) : 0;
    j->sparse = weighs && op->weights.sparse;
    j->copied_from = -1;
}

/* Rows, or columns, of the input that `n` of the output read. */
static double reach(int32_t n, int32_t stride, int32_t taps, int32_t dilation, bool upscaled,
                    int32_t most)
{
    double all = (double)(n - 1) * stride + (double)(taps - 1) * dilation + 1;
    return ti_fewest(upscaled ? floor(all / 2) + 1 : all, most);
}

void ti_npu_job_block(const tc_npu_machine *m, const tc_npu_op *op, tc_npu_job *j)
{
    const tc_npu_window *k = &op->window;
    j->block = op->block;
    j->unit = ti_npu_unit(m, op);
    if (op->kind == TC_NPU_KIND_ELEMENTWISE || op->kind == TC_NPU_KIND_RESIZE)
        return;
    for (int x = 0; x < 2; x++) {
        int32_t n = x ? j->ofm.w : j->ofm.h, side = x ? op->block.w : op->block.h,
                stride = x ? k->stride_x : k->stride_y, taps = x ? k->kw : k->kh,
                dilation = x ? k->dilation_x : k->dilation_y, most = x ? j->ifm.w : j->ifm.h;
        side = side > 0 && side < n ? side : n;
        double full = reach(side, stride, taps, dilation, k->upscale, most),
               rest = side > 0 && n % side
                          ? reach(n % side, stride, taps, dilation, k->upscale, most)
                          : 0;
        *(x ? &j->in_w : &j->in_h) = (int32_t)full;
        *(x ? &j->all_w : &j->all_h) = (side > 0 ? n / side : 1) * full + rest;
    }
}

static void set_job(const tc_npu_machine *m, const tc_npu_system *s, const tc_npu_op *op,
                    tc_npu_job *j)
{
    *j = (tc_npu_job){.work = work_of(op), .kh = op->window.kh, .kw = op->window.kw};
    j->part_kernel = op->kind == TC_NPU_KIND_CONV && op->window.part_kernel;
    j->rate = ti_npu_output_rate(m, op);
    j->moves = ti_npu_only_moves(op);
    j->turns = op->transpose || op->reverse;
    j->looks_up = op->function != 0;
    j->ahead = op->blockdep > 0;
    set_maps(s, op, j);
    set_weights(s, op, j);
    ti_npu_job_block(m, op, j);
}

/* ---- chains of U85 ---- */

static bool reads_chain(const tc_npu_op *op)
{
    return (op->ifm.used && op->ifm.storage == TC_STORE_CHAIN) ||
           (op->ifm2.used && op->ifm2.storage == TC_STORE_CHAIN);
}

static void add_chained(const tc_npu_machine *m, const tc_npu_system *s, const tc_npu_op *op,
                        tc_npu_job *j)
{
    const tc_npu_map *map[3] = {&op->ifm, &op->ifm2, &op->ofm};
    j->rate += ti_npu_output_rate(m, op);
    for (int i = 0; i < 3 && j->n_more < TC_NPU_JOB_MAPS; i++) {
        if (!map[i]->used || map[i]->storage == TC_STORE_CHAIN)
            continue;
        j->more[j->n_more] = i == 2 ? written_map(s, op) : map_of(s, map[i]);
        j->more_written[j->n_more++] = i == 2;
    }
}

size_t ti_npu_job_of(const tc_npu_machine *machine, const tc_npu_system *system,
                     const tc_npu_op *op, size_t n, tc_npu_job *out)
{
    size_t end = 1;
    set_job(machine, system, op, out);
    if (out->weight_memory >= 0 && out->weight_memory != system->of_region[0]) {
        out->copied_from = (int8_t)system->of_region[0];
        out->first_bytes = out->weight_bytes + out->scale_bytes;
    }
    for (; end < n && machine->product == TC_U85 && reads_chain(&op[end]); end++)
        add_chained(machine, system, &op[end], out);
    return end;
}

/* ---- causes that take more than one operation to see ---- */

/* MUL into 32 bits, and its sums: a column of a matrix product on U55 and U65. */
static bool is_product(const tc_npu_op *op)
{
    return op->kind == TC_NPU_KIND_ELEMENTWISE && op->mode == TC_EW_MUL && op->ofm.bytes == 4 &&
           op->ifm.bytes < 4 && op->ifm2.used && !(op->ifm2.broadcast & TC_BROADCAST_SCALAR) &&
           op->ifm2.w == 1 && op->ifm2.c == op->ofm.c;
}

static bool sums_up(const tc_npu_op *op, const tc_npu_op *product)
{
    return op->kind == TC_NPU_KIND_POOL && op->mode == TC_POOL_REDUCE_SUM && op->ifm.bytes == 4 &&
           op->ifm.region == product->ofm.region && op->ifm.base[0] == product->ofm.base[0] &&
           op->ifm.c == product->ofm.c;
}

/* A copy whose output has another order of rows and columns than its input. */
static bool exchanges(const tc_npu_op *op)
{
    return ti_npu_only_moves(op) && op->ofm.h > 1 && op->ofm.w > 1 && op->ifm.format == TC_NHWC &&
           op->ofm.format == TC_NHWC &&
           (llabs(op->ifm.stride_y) < llabs(op->ifm.stride_x)) !=
               (llabs(op->ofm.stride_y) < llabs(op->ofm.stride_x));
}

/* ---- a stream ---- */

typedef struct stream {
    tc_arena *arena;
    const tc_npu_machine *m;
    const tc_npu_system *s;
    tc_npu_stream_cost *out;
    size_t cap_op;
    tc_npu_line line;
    /* The chain at hand: its figure is its first operation's. */
    tc_npu_op first;
    tc_npu_job job;
    bool open;
    size_t at;          /* of its first operation in `out` */
    tc_npu_cost copied; /* bytes of copies whose kernel is yet to come */
} stream;

static tc_npu_op_cost *list(stream *s, const tc_npu_op *op)
{
    tc_grow(s->arena, s->out->op, s->out->n_op, s->cap_op);
    s->out->op[s->out->n_op] = (tc_npu_op_cost){
        .at = op->at, .number = op->number, .name = ti_npu_op_name(s->arena, op)};
    return &s->out->op[s->out->n_op++];
}

static void close_job(stream *s)
{
    if (!s->open)
        return;
    tc_npu_op_cost *o = &s->out->op[s->at];
    s->open = false;
    ti_line_kernel(&s->line, &s->first, &s->job, o);
    o->cause = s->m->product != TC_U85 && exchanges(&s->first)
                   ? TC_CAUSE_TRANSPOSE
                   : ti_npu_cost_cause(s->m, s->s, &s->job, o->wait, &o->cost);
    ti_npu_cost_add(&o->cost, &s->copied);
    s->copied = (tc_npu_cost){0};
    ti_npu_cost_add(&s->out->total, &o->cost);
}

static void kernel(stream *s, const tc_npu_op *op)
{
    if (s->open && s->m->product == TC_U85 && reads_chain(op)) {
        add_chained(s->m, s->s, op, &s->job);
        list(s, op);
        return;
    }
    bool column = s->m->product != TC_U85 && s->open && is_product(&s->first) &&
                  sums_up(op, &s->first);
    close_job(s);
    if (column)
        s->out->op[s->at].cause = TC_CAUSE_COLUMNS;
    s->at = s->out->n_op;
    list(s, op);
    s->open = true;
    s->first = *op;
    set_job(s->m, s->s, op, &s->job);
}

/* Copies of constants are part of the kernel that follows; others are operations. */
static void dma(stream *s, const tc_npu_op *op)
{
    const tc_npu_dma *d = &op->dma;
    close_job(s);
    ti_line_dma(&s->line, op);
    double bytes = (double)d->bytes * (double)d->rows * (double)d->planes;
    tc_npu_cost cost = {0};
    if (!d->src_internal)
        cost.read[s->s->of_region[d->src_region]] += bytes;
    if (!d->dst_internal)
        cost.written[s->s->of_region[d->dst_region]] += bytes;
    if (ti_npu_copies_ahead(d)) {
        ti_npu_cost_add(&s->copied, &cost);
        return;
    }
    tc_npu_op_cost *o = list(s, op);
    o->cost = cost;
    o->wait = TC_WAIT_DMA;
    o->cause = TC_CAUSE_COPY;
    ti_npu_cost_add(&s->out->total, &cost);
}

/* Copies that nothing waits for are the last operation's. */
static void end(stream *s)
{
    tc_npu_stream_cost *out = s->out;
    close_job(s);
    tc_npu_cost rest = s->copied;
    rest.cycles = ti_most(s->line.last - out->total.cycles, 0);
    if (!out->n_op)
        return;
    ti_npu_cost_add(&out->op[out->n_op - 1].cost, &rest);
    ti_npu_cost_add(&out->total, &rest);
}

void ti_npu_cost_ops(tc_arena *arena, const tc_npu_machine *machine, const tc_npu_system *system,
                     bool made, tc_npu_next *next, void *user, tc_npu_stream_cost *out)
{
    stream s = {.arena = arena, .m = machine, .s = system, .out = out};
    tc_npu_op op;
    *out = (tc_npu_stream_cost){0};
    ti_line_begin(&s.line, machine, system, made);
    while (next(user, &op)) {
        if (op.kind == TC_NPU_KIND_DMA)
            dma(&s, &op);
        else if (ti_npu_is_kernel(op.kind))
            kernel(&s, &op);
        else if (op.kind == TC_NPU_KIND_DMA_WAIT || op.kind == TC_NPU_KIND_KERNEL_WAIT) {
            close_job(&s);
            ti_line_wait(&s.line, &op);
        }
    }
    end(&s);
}

static bool walk_on(void *user, tc_npu_op *op)
{
    return ti_npu_walk_next(user, op);
}

const char *ti_npu_cost_stream(tc_arena *arena, const tc_npu_program *program,
                               const tc_npu_system *system, tc_npu_stream_cost *out)
{
    tc_npu_walk walk;
    ti_npu_walk_begin(&walk, program->machine, program->words);
    ti_npu_cost_ops(arena, program->machine, system, false, walk_on, &walk, out);
    return walk.error ? ti_text_format(arena, "word %zu: %s", walk.command.at, walk.error) : NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* cost.c -- a stream's operations, put together to jobs; see cost.h. */
#include "block.h"
#include "cost_part.h"

#include "npu_text.h"

#include <math.h>
#include <stdlib.h>

enum { LOADS = 32 }; /* copies of weights that are remembered */

static int32_t least(int32_t a, int32_t b)
{
    return a < b ? a : b;
}
/* Extents of what is put together; a stream may say anything. */
static int32_t extent(double n)
{
    return n < INT32_MAX ? (int32_t)n : INT32_MAX;
}
static int32_t round_up(int32_t a, int32_t b)
{
    return b > 0 ? (a + b - 1) / b * b : a;
}

void ti_npu_cost_add(tc_npu_cost *to, const tc_npu_cost *more)
{
    to->cycles += more->cycles;
    to->compute += more->compute;
    to->waiting += more->waiting;
    to->macs += more->macs;
    for (int i = 0; i < TC_NPU_MEMORIES; i++) {
        to->access[i] += more->access[i];
        to->read[i] += more->read[i];
        to->written[i] += more->written[i];
    }
}

double ti_npu_utilisation(const tc_npu_machine *machine, const tc_npu_cost *cost)
{
    return cost->cycles > 0 ? cost->macs / (cost->cycles * machine->macs) : 0;
}

/* ---- the stream at hand ---- */

typedef struct stream {
    tc_arena *arena;
    const tc_npu_machine *m;
    const tc_npu_system *s;
    tc_npu_stream_cost *out;
    size_t cap_op;
    tc_npu_part *part;
    size_t n_part, cap_part;
    double *weight; /* by operation: its share of its job */
    size_t cap_weight;
    /* The job at hand. */
    bool open;
    tc_npu_job job;
    tc_npu_op first, last; /* the operation that it begins with; the last one of its kind */
    size_t first_op;
    int32_t again; /* maps of a chain that the next slice has come to; -1: the chain is new */
    uint64_t weights;
    struct load {
        uint8_t region;
        uint64_t from, to;
        size_t number;
        bool made; /* not of constants */
        bool used; /* its bytes are counted */
    } load[LOADS]; /* copies, newest first */
    size_t n_load;
} stream;

static const tc_npu_job no_job = {.weight_memory = -1, .staging = -1, .table_memory = -1};

/* The last copy to a byte; NULL: none. */
static struct load *load_at(stream *s, uint8_t region, uint64_t at)
{
    for (size_t i = 0; region && i < s->n_load; i++)
        if (s->load[i].region == region && at >= s->load[i].from && at < s->load[i].to)
            return &s->load[i];
    return NULL;
}

/* The copy that brought the weights; NULL: they are read in place. */
static const struct load *load_of(stream *s, const tc_npu_op *op)
{
    return load_at(s, op->weights.region, op->weights.base[0]);
}

/* Equal ids: the same weights. */
static uint64_t weights_of(stream *s, const tc_npu_op *op)
{
    const struct load *load = load_of(s, op);
    return load ? UINT64_C(1) << 63 | load->number : op->weights.base[0];
}

static uint8_t memory_of(const stream *s, const tc_npu_map *m)
{
    return s->s->of_region[m->broadcast & TC_BROADCAST_SCALAR ? 0 : m->region];
}

static tc_npu_job_map map_of(const stream *s, const tc_npu_map *m)
{
    if (!m->used)
        return (tc_npu_job_map){0};
    bool scalar = m->broadcast & TC_BROADCAST_SCALAR, inside = m->storage == TC_STORE_CHAIN;
    return (tc_npu_job_map){.h = scalar ? 1 : m->h,
                            .w = scalar ? 1 : m->w,
                            .c = scalar ? 1 : m->c,
                            .bits = 8 * m->bytes,
                            .format = scalar ? TC_NHWC : m->format,
                            .memory = inside ? s->s->of_region[1] : memory_of(s, m),
                            .counted = !inside};
}

static tc_npu_job_map written_map(const stream *s, const tc_npu_op *op)
{
    tc_npu_job_map m = map_of(s, &op->ofm);
    ti_npu_written(op, &m.h, &m.w, &m.c);
    return m;
}

/* ---- closing ---- */

static double size_of(const tc_npu_op *op)
{
    return (double)op->ofm.h * op->ofm.w * op->ofm.c;
}

static void close_job(stream *s)
{
    if (!s->open)
        return;
    int32_t h, w, c;
    ti_npu_written(&s->first, &h, &w, &c);
    tc_npu_range range = ti_npu_is_kernel(s->first.kind) ? ti_npu_map_range(&s->first.ofm, h, w, c)
                                                         : (tc_npu_range){0, 0};
    tc_grow(s->arena, s->part, s->n_part, s->cap_part);
    s->part[s->n_part] = (tc_npu_part){.job = s->job,
                                       .kind = s->first.kind,
                                       .mode = s->first.mode,
                                       .weights = s->weights,
                                       .ifm = s->first.ifm,
                                       .ofm = s->first.ofm,
                                       .top = s->first.window.top,
                                       .rows = s->job.ofm.h,
                                       .lo = range.lo,
                                       .hi = range.hi,
                                       .before = SIZE_MAX,
                                       .whole = s->n_part,
                                       .share = 1};
    s->n_part++;
    s->open = false;
}

static void open_job(stream *s, const tc_npu_op *op)
{
    close_job(s);
    s->open = true;
    s->first = s->last = *op;
    s->first_op = s->out->n_op;
    s->again = -1;
    s->weights = weights_of(s, op);
    s->job = no_job;
}

/* The operation becomes part of the job at hand. */
static void take(stream *s, const tc_npu_op *op, double weight)
{
    size_t n = s->out->n_op;
    tc_grow(s->arena, s->weight, n, s->cap_weight);
    s->weight[n] = weight;
    tc_grow(s->arena, s->out->op, n, s->cap_op);
    s->out->op[s->out->n_op++] = (tc_npu_op_cost){
        .at = op->at, .number = op->number, .job = s->n_part, .name = ti_npu_op_name(s->arena, op)};
}

/* ---- chains of U85 ---- */

static void add_map(tc_npu_job *j, tc_npu_job_map m, bool written, bool counts)
{
    if (j->n_more == TC_NPU_JOB_MAPS)
        return;
    j->more[j->n_more] = m;
    j->more_written[j->n_more] = written;
    j->more_counts[j->n_more++] = counts;
}

static bool reads_chain(const tc_npu_op *op)
{
    return (op->ifm.used && op->ifm.storage == TC_STORE_CHAIN) ||
           (op->ifm2.used && op->ifm2.storage == TC_STORE_CHAIN);
}

/* Of each chained operation the first map outside the chain counts for cycles.  What follows a
 * further slice of channels is the same chain again. */
static void chain_maps(stream *s, const tc_npu_op *op)
{
    const tc_npu_map *map[3] = {&op->ifm, &op->ifm2, &op->ofm};
    bool counts = true;
    if (s->again < 0)
        s->job.rate += ti_npu_output_rate(s->m, op);
    for (int i = 0; i < 3; i++) {
        if (!map[i]->used || map[i]->storage == TC_STORE_CHAIN)
            continue;
        tc_npu_job_map m = i == 2 ? written_map(s, op) : map_of(s, map[i]);
        if (s->again < 0)
            add_map(&s->job, m, i == 2, counts);
        else if (s->again < s->job.n_more && m.c > 1)
            s->job.more[s->again].c = extent((double)s->job.more[s->again].c + m.c);
        s->again += s->again >= 0;
        counts = false;
    }
}

static void extend_chain(stream *s, const tc_npu_op *op)
{
    chain_maps(s, op);
    take(s, op, 0); /* the first of a chain carries its figure */
}

/* ---- weights ---- */

static double bytes_of(const tc_npu_op *op, bool scales)
{
    double n = 0;
    for (int i = 0; i < op->cores && i < TC_NPU_CORES; i++)
        n += scales ? (i < 2 ? (double)op->scale_bytes[i] : 0) : (double)op->weights.bytes[i];
    return n;
}

static void add_weights(stream *s, const tc_npu_op *op)
{
    tc_npu_job *j = &s->job;
    double weights = bytes_of(op, false), scales = op->per_channel ? bytes_of(op, true) : 0;
    j->has_scales = op->per_channel;
    j->fast_weights = op->weights.fast;
    j->sparse = op->weights.sparse;
    if (!j->slices) {
        j->weight_memory = (int8_t)s->s->of_region[0];
        j->staging = op->weights.region ? (int8_t)s->s->of_region[op->weights.region] : -1;
        j->first_bytes = weights + scales;
        j->early = s->n_part > 0;
        const struct load *load = load_of(s, op);
        if (load && load->made) { /* and the copy is an operation */
            j->weight_memory = (int8_t)s->s->of_region[op->weights.region];
            j->staging = -1;
        }
        if (j->staging == j->weight_memory)
            j->staging = -1;
    }
    j->weight_bytes += weights;
    j->scale_bytes += scales;
    j->last_depth = op->ofm.c;
    j->slices++;
}

/* The output follows the last slice's channels, in the same rows. */
static bool writes_next(const stream *s, const tc_npu_op *op)
{
    const tc_npu_map *a = &s->last.ofm, *b = &op->ofm;
    int64_t all = (int64_t)s->job.ofm.c + b->c;
    bool bricks = b->format == TC_NHCWB16;
    if (bricks ? (all + 15) / 16 * b->stride_c > b->stride_y : all * b->bytes > b->stride_x)
        return false;
    return b->region == a->region && b->format == a->format &&
           (int64_t)b->base[0] ==
               (int64_t)a->base[0] + (bricks ? a->c / 16 * b->stride_c : (int64_t)a->c * b->bytes);
}

/* Channels after those of the job's last slice, by weights copied for it. */
static bool is_next_slice(const stream *s, const tc_npu_op *op)
{
    const tc_npu_op *a = &s->last;
    bool chain = op->ofm.storage == TC_STORE_CHAIN;
    if (!s->open || op->kind != a->kind ||
        (op->kind != TC_NPU_KIND_CONV && op->kind != TC_NPU_KIND_DEPTHWISE) || op->weights_ifm2 ||
        !op->weights.region || op->weights.region != a->weights.region ||
        op->ofm.storage != a->ofm.storage || (s->job.n_more && !chain))
        return false;
    return op->ofm.h == a->ofm.h && op->ofm.w == a->ofm.w && (chain || writes_next(s, op)) &&
           op->window.kh == a->window.kh && op->window.kw == a->window.kw &&
           op->ifm.region == a->ifm.region && op->ifm.h == a->ifm.h && op->ifm.w == a->ifm.w &&
           (op->kind == TC_NPU_KIND_DEPTHWISE ||
            (op->ifm.base[0] == a->ifm.base[0] && op->ifm.c == a->ifm.c));
}

static void extend_slices(stream *s, const tc_npu_op *op)
{
    s->job.ofm.c = extent((double)s->job.ofm.c + op->ofm.c);
    if (op->kind == TC_NPU_KIND_DEPTHWISE)
        s->job.ifm.c = extent((double)s->job.ifm.c + op->ifm.c);
    add_weights(s, op);
    s->last = *op;
    s->again = s->job.n_more ? 0 : -1;
    take(s, op, size_of(op));
}

/* ---- matrix products and transpositions of U55 and U65 ---- */

/* MUL into 32 bits: a column of a matrix product begins, if what follows sums it up. */
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

/* The job at hand is such a product and its sums, or one column more of it. */
static bool begin_column(stream *s, const tc_npu_op *op)
{
    const tc_npu_op *a = &s->first;
    if (!is_product(op))
        return false;
    bool more = s->open && s->job.work == TC_WORK_COLUMNS && s->last.kind == TC_NPU_KIND_POOL &&
                op->ifm.base[0] == a->ifm.base[0] && op->ofm.base[0] == a->ofm.base[0] &&
                op->ofm.h == a->ofm.h && op->ofm.w == a->ofm.w && op->ofm.c == a->ofm.c;
    if (!more)
        return false;
    s->last = *op;
    take(s, op, 1);
    return true;
}

static bool end_column(stream *s, const tc_npu_op *op)
{
    tc_npu_job *j = &s->job;
    if (!s->open || !is_product(&s->last) || !sums_up(op, &s->last))
        return false;
    if (j->work != TC_WORK_COLUMNS) {
        j->work = TC_WORK_COLUMNS;
        j->mul_block = j->block;
        j->mul_rate = j->rate;
        j->product_memory = memory_of(s, &s->first.ofm);
        j->ifm = map_of(s, &s->first.ifm);
        j->ifm2 = map_of(s, &s->first.ifm2);
        j->ofm = map_of(s, &op->ofm);
        j->block = op->block;
        j->unit = ti_npu_unit(s->m, op);
        j->in_block = ti_npu_input_block(s->m, op, 32);
        j->rate = ti_npu_output_rate(s->m, op);
        j->kh = op->window.kh;
        j->kw = op->window.kw;
        s->weight[s->first_op] = 1;
    }
    j->ifm2.w = ++j->columns;
    s->last = *op;
    take(s, op, 1);
    return true;
}

/* A copy whose output has another order of rows and columns than its input. */
static bool exchanges(const tc_npu_op *op)
{
    return ti_npu_only_moves(op) && op->ofm.h > 1 && op->ofm.w > 1 && op->ifm.format == TC_NHWC &&
           op->ofm.format == TC_NHWC &&
           (llabs(op->ifm.stride_y) < llabs(op->ifm.stride_x)) !=
               (llabs(op->ofm.stride_y) < llabs(op->ofm.stride_x));
}

/* Channels of the tensor that is read, or written: the contiguous axis.
 */
static int32_t depth_of(const tc_npu_map *m, const tc_npu_op *op)
{
    if (op->ofm.c > 1)
        return op->ofm.c;
    return llabs(m->stride_y) < llabs(m->stride_x) ? op->ofm.h : op->ofm.w;
}

static bool more_exchange(stream *s, const tc_npu_op *op)
{
    const tc_npu_op *a = &s->last;
    if (!s->open || s->job.work != TC_WORK_TRANSPOSE || !exchanges(op) || op->ofm.h != a->ofm.h ||
        op->ofm.w != a->ofm.w || op->ofm.c != a->ofm.c || op->ofm.stride_y != a->ofm.stride_y ||
        op->ifm.stride_y != a->ifm.stride_y)
        return false;
    s->job.ifm.h = extent(s->job.ifm.h + size_of(op) / s->job.ifm.c);
    s->job.ofm.h = extent((double)s->job.ifm.h * s->job.ifm.c / s->job.ofm.c);
    s->last = *op;
    take(s, op, size_of(op));
    return true;
}

static void begin_exchange(stream *s, const tc_npu_op *op)
{
    tc_npu_job *j = &s->job;
    j->work = TC_WORK_TRANSPOSE;
    j->ifm.c = depth_of(&op->ifm, op);
    j->ofm.c = depth_of(&op->ofm, op);
    j->ifm.w = j->ofm.w = 1;
    j->ifm.h = extent(size_of(op) / j->ifm.c);
    j->ofm.h = extent(size_of(op) / j->ofm.c);
    j->in_block = (tc_npu_block){
        1, 16, round_up(least(j->ifm.c, j->ifm.bits == 16 ? 16 : 32), j->ifm.bits == 16 ? 4 : 8)};
    j->block = (tc_npu_block){1, 16, round_up(least(j->ifm.c, 128), j->unit.depth)};
}

/* ---- one operation ---- */

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

static void set_maps(stream *s, const tc_npu_op *op)
{
    tc_npu_job *j = &s->job;
    j->ifm = map_of(s, &op->ifm);
    j->ofm = map_of(s, &op->ofm);
    if (op->kind == TC_NPU_KIND_ELEMENTWISE || op->weights_ifm2)
        j->ifm2 = map_of(s, &op->ifm2);
    if (op->kind == TC_NPU_KIND_POOL && op->mode == TC_POOL_NONE)
        j->ifm = map_of(s, &op->ifm2);
    if (op->swapped && j->ifm2.h) {
        j->ifm2 = map_of(s, &op->ifm);
        j->ifm = map_of(s, &op->ifm2);
    }
    if (!j->ifm.h)
        j->ifm = (tc_npu_job_map){1, 1, 1, 8, TC_NHWC, s->s->of_region[1], false};
    if (!j->ofm.h)
        j->ofm = (tc_npu_job_map){op->ofm.h, op->ofm.w,          op->ofm.c, 8 * op->ofm.bytes,
                                  TC_NHWC,   s->s->of_region[1], false};
    else
        j->ofm = written_map(
            s, op); /* an output is counted as written, though its block is not */
}

static void set_job(stream *s, const tc_npu_op *op)
{
    tc_npu_job *j = &s->job;
    j->work = work_of(op);
    j->block = op->block;
    j->unit = ti_npu_unit(s->m, op);
    j->kh = op->window.kh;
    j->kw = op->window.kw;
    j->part_kernel = op->kind == TC_NPU_KIND_CONV && op->window.part_kernel;
    j->wide_acc = op->acc_bits > 32;
    j->rate = ti_npu_output_rate(s->m, op);
    set_maps(s, op);
    j->in_block = ti_npu_input_block(s->m, op, j->ifm.bits);
    j->moves = ti_npu_only_moves(op);
    j->turns = op->transpose || op->reverse;
    j->looks_up = op->function != 0;
    if ((op->kind == TC_NPU_KIND_CONV && !op->weights_ifm2) || op->kind == TC_NPU_KIND_DEPTHWISE)
        add_weights(s, op);
    if (op->function && ti_npu_only_moves(op)) {
        j->table_bytes = op->ifm.bytes == 1 ? 256 : TC_NPU_LUT;
        j->table_memory = (int8_t)s->s->of_region[0];
    }
    if (s->m->product != TC_U85 && exchanges(op))
        begin_exchange(s, op);
}

static void begin(stream *s, const tc_npu_op *op)
{
    open_job(s, op);
    set_job(s, op);
    take(s, op, size_of(op));
}

size_t ti_npu_job_of(const tc_npu_machine *machine, const tc_npu_system *system,
                     const tc_npu_op *op, size_t n, tc_npu_job *out)
{
    stream s = {.m = machine, .s = system, .again = -1, .job = no_job, .n_part = 1};
    size_t end = 1;
    set_job(&s, op);
    for (; end < n && machine->product == TC_U85 && reads_chain(&op[end]); end++)
        chain_maps(&s, &op[end]);
    *out = s.job;
    return end;
}

static void kernel(stream *s, const tc_npu_op *op)
{
    if (s->open && s->m->product == TC_U85 && reads_chain(op))
        extend_chain(s, op);
    else if (is_next_slice(s, op))
        extend_slices(s, op);
    else if (s->m->product == TC_U85 ||
             !(begin_column(s, op) || end_column(s, op) || more_exchange(s, op)))
        begin(s, op);
}

/* A DMA brings a table, the weights of a later operation, or is a separate operation. */
static void dma(stream *s, const tc_npu_op *op)
{
    const tc_npu_dma *d = &op->dma;
    if (d->dst_internal || d->src_internal)
        return;
    bool constant = d->src_region == 0;
    struct load *source = load_at(s, d->src_region, d->src);
    double below = 0; /* of constants that were copied first, and changed since */
    if (source && !source->made && !source->used && source->from == d->src &&
        source->to == d->src + d->bytes) {
        below = (double)d->bytes;
        source->used = true;
    }
    if (!d->src_indexed && !d->dst_indexed) {
        memmove(s->load + 1, s->load, (LOADS - 1) * sizeof *s->load);
        s->load[0] = (struct load){d->dst_region, d->dst, d->dst + d->bytes, op->number,
                                   .made = !constant};
        s->n_load += s->n_load < LOADS;
        if (constant)
            return;
    }
    open_job(s, op);
    s->job.work = TC_WORK_MOVE;
    s->job.moved_read = s->job.moved_written =
        (double)d->bytes * (double)d->rows * (double)d->planes;
    s->job.moved_from = s->s->of_region[d->src_region];
    s->job.moved_to = s->s->of_region[d->dst_region];
    s->job.weight_memory = (int8_t)s->s->of_region[0];
    s->job.weight_bytes = below;
    take(s, op, 1);
}

/* ---- figures ---- */

static void put_share(tc_npu_cost *to, const tc_npu_cost *of, double f)
{
    *to = (tc_npu_cost){.cycles = f * of->cycles,
                        .compute = f * of->compute,
                        .waiting = f * of->waiting,
                        .macs = f * of->macs};
    for (int k = 0; k < TC_NPU_MEMORIES; k++) {
        to->access[k] = f * of->access[k];
        to->read[k] = f * of->read[k];
        to->written[k] = f * of->written[k];
    }
}

static void settle(stream *s)
{
    tc_npu_stream_cost *out = s->out;
    double slack = 0;
    out->job = tc_new_n(s->arena, tc_npu_cost, s->n_part + 1);
    for (size_t i = 0; i < s->n_part; i++) {
        if (s->part[i].whole != i)
            continue;
        ti_npu_cost_job(s->m, s->s, &s->part[i].job, &slack, &out->job[i]);
        ti_npu_cost_add(&out->total, &out->job[i]);
        out->n_job++;
    }
    for (size_t i = 0, end; i < out->n_op; i = end) {
        double all = 0;
        const tc_npu_part *f = &s->part[out->op[i].job];
        for (end = i; end < out->n_op && out->op[end].job == out->op[i].job; end++)
            all += s->weight[end];
        tc_npu_cause cause =
            ti_npu_cost_cause(s->m, s->s, &s->part[f->whole].job, &out->job[f->whole]);
        for (size_t k = i; k < end; k++) {
            out->op[k].cause = cause;
            put_share(&out->op[k].cost, &out->job[f->whole],
                      all > 0 ? f->share * s->weight[k] / all : 0);
        }
    }
    for (size_t i = 0; i < out->n_op; i++)
        out->op[i].job = s->part[out->op[i].job].whole;
}

void ti_npu_cost_ops(tc_arena *arena, const tc_npu_machine *machine, const tc_npu_system *system,
                     size_t expected, tc_npu_next *next, void *user, tc_npu_stream_cost *out)
{
    stream s = {.arena = arena, .m = machine, .s = system, .out = out, .cap_part = expected};
    s.part = ti_arena_raw(arena, expected * sizeof *s.part); /* what is not used is not touched */
    tc_npu_op op;
    *out = (tc_npu_stream_cost){0};
    while (next(user, &op)) {
        if (op.kind == TC_NPU_KIND_DMA)
            dma(&s, &op);
        else if (ti_npu_is_kernel(op.kind))
            kernel(&s, &op);
    }
    close_job(&s);
    ti_npu_join_parts(arena, s.part, s.n_part);
    settle(&s);
}

static bool walk_on(void *user, tc_npu_op *op)
{
    return ti_npu_walk_next(user, op);
}

const char *ti_npu_cost_stream(tc_arena *arena, const tc_npu_program *program,
                               const tc_npu_system *system, tc_npu_stream_cost *out)
{
    enum { WORDS = 16 }; /* of an operation, about */
    tc_npu_walk walk;
    ti_npu_walk_begin(&walk, program->machine, program->words);
    ti_npu_cost_ops(arena, program->machine, system, program->words.n / WORDS, walk_on, &walk, out);
    return walk.error ? ti_text_format(arena, "word %zu: %s", walk.command.at, walk.error) : NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* npu_write.c -- a list of operations as a stream: registers, waits, then the command of each. */
#include "writer.h"

#include "../base/text.h"

typedef struct stream {
    tc_npu_writer w;
    tc_npu_how how;
    const tc_npu_op *op;
    size_t n;
    size_t *begins;    /* the first word of each operation, its registers included; of the end too */
    uint8_t *is_target; /* of a branch */
    tc_npu_queue *kernels, *dmas; /* unfinished */
    const tc_npu_op *last;       /* the kernel before, as far as it is known */
    bool in_chain;               /* the operation continues from a chain buffer */
    bool after_chain;
} stream;

static size_t here(const stream *s)
{
    return s->w.words.size / 4;
}

/* ---- chains ---- */

static bool is_chained(const tc_npu_map *m)
{
    return m->used && m->storage == TC_STORE_CHAIN;
}

/* Around chains these are written whether they change or not. */
static void forget_maps(tc_npu_writer *w)
{
    static const int codes[] = {
        TC_NPU_IFM_PRECISION,   TC_NPU_IFM_REGION,      TC_NPU_IFM_ZERO_POINT,
        TC_NPU_IFM_WIDTH0_M1,   TC_NPU_IFM_HEIGHT0_M1,  TC_NPU_IFM_HEIGHT1_M1,
        TC_NPU_IFM2_PRECISION,  TC_NPU_IFM2_REGION,     TC_NPU_IFM2_ZERO_POINT,
        TC_NPU_IFM2_WIDTH0_M1,  TC_NPU_IFM2_HEIGHT0_M1, TC_NPU_IFM2_HEIGHT1_M1,
        TC_NPU_OFM_PRECISION,
    };
    for (size_t i = 0; i < TC_COUNT(codes); i++)
        ti_npu_forget(w, codes[i]);
    for (int i = 0; i < 7; i++) { /* bases and strides */
        ti_npu_forget(w, TC_NPU_IFM_BASE0 + i);
        ti_npu_forget(w, TC_NPU_IFM2_BASE0 + i);
    }
}

/* The operation after the one at i if that leaves a result in a chain buffer; else NULL. */
static const tc_npu_op *next_in_chain(const stream *s, const tc_npu_op *op)
{
    if (op->ofm.storage != TC_STORE_CHAIN || !ti_npu_is_kernel(op->kind))
        return NULL;
    for (op++; op < s->op + s->n; op++)
        if (ti_npu_is_kernel(op->kind))
            return op;
    return NULL;
}

/* ---- waits ---- */

static void wait_for(stream *s, int code, tc_npu_queue *queue, size_t most)
{
    if (most >= queue->n)
        return;
    ti_npu_put(&s->w, code, (uint32_t)most);
    ti_npu_queue_end(queue, most);
}

static void begin(tc_npu_queue *queue, const tc_npu_job *job, int32_t depth)
{
    ti_npu_queue_end(queue, (size_t)depth - 1);
    queue->job[queue->n++] = *job;
}

static void order_kernel(stream *s, const tc_npu_op *op)
{
    tc_npu_job job = {0};
    ti_npu_touched(s->w.machine, s->how.apart, op, &job);
    for (const tc_npu_op *next = s->in_chain ? NULL : next_in_chain(s, op); next;
         next = next_in_chain(s, next))
        ti_npu_touched(s->w.machine, s->how.apart, next, &job);
    if (!s->how.keep_waits)
        wait_for(s, TC_NPU_DMA_WAIT, s->dmas, ti_npu_may_run(s->dmas, &job));
    if (!s->in_chain)
        begin(s->kernels, &job, s->w.machine->max_kernels);
}

static void order_dma(stream *s, const tc_npu_op *op)
{
    tc_npu_job job = {0};
    ti_npu_touched(s->w.machine, s->how.apart, op, &job);
    if (!s->how.keep_waits) {
        size_t most = ti_npu_may_run(s->kernels, &job);
        if (s->in_chain && most < s->kernels->n)
            ti_npu_cannot(&s->w, "a DMA inside a chain would have to wait for the chain");
        wait_for(s, TC_NPU_KERNEL_WAIT, s->kernels, most);
        ti_npu_queue_end(s->dmas, (size_t)s->w.machine->max_dmas - 1);
        wait_for(s, TC_NPU_DMA_WAIT, s->dmas, ti_npu_may_run(s->dmas, &job));
    }
    begin(s->dmas, &job, s->w.machine->max_dmas);
}

/* ---- operations ---- */

/* Of a chain: what all of it allows. */
static uint8_t blockdep(const stream *s, const tc_npu_op *op)
{
    uint8_t least = UINT8_MAX;
    for (; op; op = next_in_chain(s, op)) {
        uint8_t d = ti_npu_blockdep_in(s->w.machine, s->how.apart, s->last, op);
        least = d < least ? d : least;
    }
    return least;
}

static void write_kernel(stream *s, const tc_npu_op *op)
{
    static const int code[TC_NPU_KIND_COUNT] = {
        [TC_NPU_KIND_CONV] = TC_NPU_CONV,     [TC_NPU_KIND_DEPTHWISE] = TC_NPU_DEPTHWISE,
        [TC_NPU_KIND_POOL] = TC_NPU_POOL,     [TC_NPU_KIND_ELEMENTWISE] = TC_NPU_ELEMENTWISE,
        [TC_NPU_KIND_RESIZE] = TC_NPU_RESIZE,
    };
    bool chained = is_chained(&op->ifm) || is_chained(&op->ifm2) || is_chained(&op->ofm);
    const tc_npu_command_info *info =
        ti_npu_command_find((uint32_t)code[op->kind], 1, s->w.machine->product);
    uint32_t param = op->kind == TC_NPU_KIND_CONV ? op->weights_ifm2 : op->mode;
    if (!info || param & ~(uint32_t)info->bits[s->w.machine->product])
        ti_npu_cannot(&s->w, ti_text_format(s->w.arena, "%s has no %s %s", s->w.machine->name,
                                            ti_npu_kind_name(op->kind),
                                            ti_npu_mode_name(op->kind, op->mode)));
    if (chained || s->after_chain)
        forget_maps(&s->w);
    ti_npu_set_kernel(&s->w, op);
    if (s->how.keep_blockdep)
        ti_npu_set(&s->w, TC_NPU_BLOCKDEP, op->blockdep);
    else if (!s->in_chain)
        ti_npu_set(&s->w, TC_NPU_BLOCKDEP, blockdep(s, op));
    order_kernel(s, op);
    ti_npu_put(&s->w, code[op->kind], param);
    s->last = op;
    s->in_chain = is_chained(&op->ofm);
    s->after_chain = chained;
}

static void write_branch(stream *s, const tc_npu_op *op)
{
    if (s->w.machine->product != TC_U85)
        ti_npu_cannot(&s->w, "U85 alone has branches");
    if (!s->how.keep_waits) {
        wait_for(s, TC_NPU_KERNEL_WAIT, s->kernels, 0);
        wait_for(s, TC_NPU_DMA_WAIT, s->dmas, 0);
    }
    ti_npu_put(&s->w, TC_NPU_BRANCH | 1 << 14, op->conditional);
    ti_buf_u32(&s->w.words, 0); /* its target is put in at the end */
    ti_npu_forget_all(&s->w);
    s->last = NULL;
}

static void write_op(stream *s, const tc_npu_op *op)
{
    switch (op->kind) {
    case TC_NPU_KIND_STOP:
        ti_npu_put(&s->w, TC_NPU_STOP, op->param);
        break;
    case TC_NPU_KIND_IRQ:
        ti_npu_put(&s->w, TC_NPU_IRQ, op->param);
        break;
    case TC_NPU_KIND_PMU:
        ti_npu_put(&s->w, TC_NPU_PMU_MASK, op->param);
        break;
    case TC_NPU_KIND_KERNEL_WAIT:
        ti_npu_put(&s->w, TC_NPU_KERNEL_WAIT, op->param);
        ti_npu_queue_end(s->kernels, op->param);
        break;
    case TC_NPU_KIND_DMA_WAIT:
        ti_npu_put(&s->w, TC_NPU_DMA_WAIT, op->param);
        ti_npu_queue_end(s->dmas, op->param);
        break;
    case TC_NPU_KIND_BRANCH:
        write_branch(s, op);
        break;
    case TC_NPU_KIND_DMA:
        ti_npu_set_dma(&s->w, op);
        order_dma(s, op);
        ti_npu_put(&s->w, TC_NPU_DMA_START, 0);
        break;
    default:
        write_kernel(s, op);
    }
}

/* ---- branches ---- */

static bool find_targets(stream *s, bool stops)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->op[i].kind == TC_NPU_KIND_BRANCH) {
            if (s->op[i].target > s->n || (stops && s->op[i].target == s->n))
                return false;
            s->is_target[s->op[i].target] = true;
        }
    return true;
}

static void set_target(stream *s, size_t word, size_t target)
{
    uint8_t *at = s->w.words.data + 4 * (word + 1);
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(4 * s->begins[target] >> 8 * i);
}

/* ---- the list ---- */

const char *ti_npu_write_as(tc_arena *arena, const tc_npu_machine *machine, tc_npu_how how,
                            const tc_npu_op *op, size_t n, tc_npu_words *out, size_t *word_of)
{
    bool stops = n && op[n - 1].kind == TC_NPU_KIND_STOP;
    stream *s = tc_new(arena, stream);
    *s = (stream){.w = {.arena = arena, .machine = machine}, .how = how, .op = op, .n = n};
    s->begins = tc_new_n(arena, size_t, n + 1);
    s->is_target = tc_new_n(arena, uint8_t, n + 1);
    s->kernels = tc_new(arena, tc_npu_queue);
    s->dmas = tc_new(arena, tc_npu_queue);
    ti_buf_init(&s->w.words, arena);
    *out = (tc_npu_words){0};
    if (!find_targets(s, stops))
        return "a branch leads out of the list";
    size_t *words = word_of ? word_of : tc_new_n(arena, size_t, n);
    for (size_t i = 0; i < n && !s->w.error; i++) {
        s->begins[i] = here(s);
        if (s->is_target[i]) {
            ti_npu_forget_all(&s->w);
            s->last = NULL;
        }
        write_op(s, &op[i]);
        words[i] = here(s) - (op[i].kind == TC_NPU_KIND_BRANCH ? 2 : 1);
    }
    if (s->w.error)
        return s->w.error;
    s->begins[n] = here(s);
    if (!stops)
        ti_npu_put(&s->w, TC_NPU_STOP, 0xffff);
    for (size_t i = 0; i < n; i++)
        if (op[i].kind == TC_NPU_KIND_BRANCH)
            set_target(s, words[i], op[i].target);
    *out = (tc_npu_words){s->w.words.data, here(s)};
    return NULL;
}

const char *ti_npu_write(tc_arena *arena, const tc_npu_machine *machine, const tc_npu_op *op,
                         size_t n, tc_npu_words *out, size_t *word_of)
{
    return ti_npu_write_as(arena, machine, (tc_npu_how){0}, op, n, out, word_of);
}

/* ---- the other way ---- */

static bool is_wait(const tc_npu_op *op)
{
    return op->kind == TC_NPU_KIND_KERNEL_WAIT || op->kind == TC_NPU_KIND_DMA_WAIT;
}

/* The first operation whose command is not before the word. */
static size_t index_of(const tc_npu_op *op, size_t n, size_t word)
{
    size_t lo = 0;
    while (n > lo) {
        size_t middle = lo + (n - lo) / 2;
        if (op[middle].at < word)
            lo = middle + 1;
        else
            n = middle;
    }
    return lo;
}

const char *ti_npu_list(tc_arena *arena, const tc_npu_machine *machine, tc_npu_words words,
                        bool waits, tc_npu_op **out, size_t *n)
{
    tc_npu_walk *walk = tc_new(arena, tc_npu_walk);
    tc_npu_op op, *list = NULL;
    size_t count = 0, cap = 0;
    ti_npu_walk_begin(walk, machine, words);
    while (ti_npu_walk_next(walk, &op)) {
        if (is_wait(&op) && !waits)
            continue;
        tc_grow(arena, list, count, cap);
        list[count++] = op;
    }
    for (size_t i = 0; i < count; i++)
        if (list[i].kind == TC_NPU_KIND_BRANCH)
            list[i].target = (uint32_t)index_of(list, count, list[i].target / 4);
    *out = list;
    *n = count;
    return walk->error;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* mark.c -- see mark.h. */
#include "mark.h"

#include "../base/text.h"

const char *const tc_npu_marks_names[TC_MARKS_COUNT] = {
    [TC_MARKS_NONE] = "none", [TC_MARKS_IRQ] = "irq", [TC_MARKS_WAIT] = "wait"};

tc_npu_marks ti_npu_marks_of(const char *name)
{
    int i = TC_MARKS_NONE;
    while (name && i < TC_MARKS_COUNT && !ti_text_eq(name, tc_npu_marks_names[i]))
        i++;
    return (tc_npu_marks)i;
}

bool ti_npu_copies_ahead(const tc_npu_dma *d)
{
    return d->dst_internal || d->src_internal ||
           (d->src_region == 0 && !d->src_indexed && !d->dst_indexed);
}

/* The kernel at i leaves its result in a chain buffer for the next one. */
static bool goes_on(const tc_npu_op *op)
{
    return op->ofm.used && op->ofm.storage == TC_STORE_CHAIN;
}

static bool is_marked(const tc_npu_op *op)
{
    return op->kind == TC_NPU_KIND_DMA ? !ti_npu_copies_ahead(&op->dma)
                                       : ti_npu_is_kernel(op->kind) && !goes_on(op);
}

typedef struct list {
    tc_npu_op *op;
    size_t *was, n;
} list;

static void add(list *l, tc_npu_op op, size_t was)
{
    l->op[l->n] = op;
    l->was[l->n++] = was;
}

static void add_mark(list *l, tc_npu_marks marks, bool kernel, size_t k)
{
    add(l, (tc_npu_op){.kind = kernel ? TC_NPU_KIND_KERNEL_WAIT : TC_NPU_KIND_DMA_WAIT}, SIZE_MAX);
    if (marks == TC_MARKS_IRQ)
        add(l, (tc_npu_op){.kind = TC_NPU_KIND_IRQ, .param = (uint16_t)(1u << k % 16)}, SIZE_MAX);
}

/* Nothing is measured after the last one: it has the end. */
static size_t last_marked(const tc_npu_op *op, size_t n)
{
    while (n && !is_marked(&op[n - 1]))
        n--;
    return n ? n - 1 : 0;
}

void ti_npu_put_marks(tc_arena *arena, tc_npu_marks marks, const tc_npu_op *op, size_t n,
                      tc_npu_op **out, size_t **was, size_t *n_out)
{
    list l = {.op = tc_new_n(arena, tc_npu_op, 3 * n + 1), .was = tc_new_n(arena, size_t, 3 * n + 1)};
    size_t *at = tc_new_n(arena, size_t, n + 1), k = 0, last = last_marked(op, n);
    for (size_t i = 0; i < n; i++) {
        at[i] = l.n;
        add(&l, op[i], i);
        if (i < last && is_marked(&op[i]))
            add_mark(&l, marks, op[i].kind != TC_NPU_KIND_DMA, k++);
    }
    at[n] = l.n;
    for (size_t i = 0; i < l.n; i++)
        if (l.op[i].kind == TC_NPU_KIND_BRANCH)
            l.op[i].target = (uint32_t)at[l.op[i].target];
    *out = l.op;
    *was = l.was;
    *n_out = l.n;
}

static bool drains(const tc_npu_op *op)
{
    return (op->kind == TC_NPU_KIND_KERNEL_WAIT || op->kind == TC_NPU_KIND_DMA_WAIT) && !op->param;
}

const char *ti_npu_marks_in(tc_arena *arena, const tc_npu_machine *machine, tc_npu_words words,
                            tc_npu_mark **out, size_t *n)
{
    tc_npu_walk *walk = tc_new(arena, tc_npu_walk);
    tc_npu_mark *mark[2] = {NULL}; /* interrupts, waits */
    size_t count[2] = {0}, cap[2] = {0};
    tc_npu_op op;
    ti_npu_walk_begin(walk, machine, words);
    while (ti_npu_walk_next(walk, &op)) {
        bool wait = drains(&op);
        if (!wait && op.kind != TC_NPU_KIND_IRQ)
            continue;
        tc_grow(arena, mark[wait], count[wait], cap[wait]);
        mark[wait][count[wait]++] = (tc_npu_mark){op.at, wait ? 0 : op.param};
    }
    *out = mark[count[0] == 0];
    *n = count[count[0] == 0];
    return walk->error;
}

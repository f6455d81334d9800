/* SPDX-License-Identifier: Apache-2.0 */
/* estimate_memo.c -- see estimate_memo.h. */
#include "estimate_memo.h"

#include <math.h>

/* Slots of the tables, powers of two; weights that meet lie side by side, in so many slots. */
enum { BLOCKS = 512, WEIGHTS = 1024, NEAR = 16 };

typedef struct known_block {
    const tc_npu_machine *machine;
    tc_npu_op asked, found;
} known_block;

typedef struct known_weights {
    const int8_t *number;
    int64_t n;
    double bits;
} known_weights;

struct tc_estimate_memo {
    const tc_ctx *ctx;
    unsigned n_attempt;
    known_block block[BLOCKS];
    known_weights weights[WEIGHTS];
};

tc_estimate_memo *ti_estimate_memo_new(tc_ctx *ctx)
{
    tc_estimate_memo *memo = tc_new(&ctx->arena, tc_estimate_memo);
    memo->ctx = ctx;
    memo->n_attempt = ctx->n_attempt;
    return memo;
}

static size_t hash(const void *data, size_t size)
{
    const uint8_t *p = data;
    uint64_t h = UINT64_C(0xcbf29ce484222325), word;
    for (; size >= sizeof word; size -= sizeof word, p += sizeof word) {
        memcpy(&word, p, sizeof word);
        h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    }
    return (size_t)(h >> 40);
}

/* Where an operation stands, and where its values lie, has no say in its block. */
static tc_npu_op without_place(const tc_npu_op *op)
{
    tc_npu_op o = *op;
    tc_npu_map *map[] = {&o.ifm, &o.ifm2, &o.ofm};
    o.at = o.number = 0;
    for (size_t i = 0; i < TC_COUNT(map); i++)
        memset(map[i]->base, 0, sizeof map[i]->base);
    return o;
}

void ti_memo_block(tc_estimate_memo *memo, const tc_npu_machine *machine, tc_npu_op *op)
{
    bool searched = machine->product != TC_U85 || (op->kind != TC_NPU_KIND_ELEMENTWISE &&
                                                   op->kind != TC_NPU_KIND_RESIZE);
    if (!memo || !searched) {
        ti_npu_choose_block(machine, op);
        return;
    }
    tc_npu_op asked = without_place(op);
    known_block *k = &memo->block[hash(&asked, sizeof asked) % BLOCKS];
    if (k->machine != machine || memcmp(&k->asked, &asked, sizeof asked) != 0) {
        *k = (known_block){machine, asked, asked};
        ti_npu_choose_block(machine, &k->found);
    }
    op->block = k->found.block;
    op->microblock = k->found.microblock;
    op->window.part_kernel = k->found.window.part_kernel;
}

static double entropy(const int8_t *number, int64_t n)
{
    int64_t count[256] = {0};
    double bits = 0;
    for (int64_t i = 0; i < n; i++)
        count[(uint8_t)number[i]]++;
    for (int i = 0; i < 256; i++)
        if (count[i])
            bits -= (double)count[i] * log2((double)count[i] / (double)n);
    return bits / (double)n;
}

double ti_memo_entropy(tc_estimate_memo *memo, const int8_t *number, int64_t n)
{
    if (!memo)
        return entropy(number, n);
    uintptr_t at = (uintptr_t)number;
    size_t home = hash(&at, sizeof at);
    known_weights *k = &memo->weights[home % WEIGHTS];
    for (size_t i = 0; i < NEAR && k->number; i++) {
        k = &memo->weights[(home + i) % WEIGHTS];
        if (k->number == number && k->n == n)
            return k->bits;
    }
    double bits = entropy(number, n);
    if (memo->ctx->n_attempt == memo->n_attempt)
        *k = (known_weights){number, n, bits};
    return bits;
}

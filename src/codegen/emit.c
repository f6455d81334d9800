/* SPDX-License-Identifier: Apache-2.0 */
/* emit.c -- the last steps: tables in their slots, live ranges, addresses, the stream and its
 * container. */
#include "hw.h"

#include "../base/place.h"
#include "../npu/npu_write.h"

typedef struct emitter {
    tc_hw *hw;
    /* The memory of tables: what each 256 bytes hold (a table, or -1), and when it was last read. */
    int32_t slot[8];
    size_t used[8];
    int32_t same[TC_HW_HASH]; /* by hash of their bytes: 1 + the last constant that was placed */
    int32_t *next;            /* by root: 1 + the one before it of that hash */
} emitter;

static void add(emitter *e, const tc_npu_op *op, int32_t from)
{
    tc_hw_list *l = &e->hw->list;
    size_t cap = l->cap;
    tc_grow(e->hw->arena, l->op, l->n, l->cap);
    l->from =
        l->cap == cap ? l->from : ti_arena_grow(e->hw->arena, l->from, l->n, &cap, sizeof *l->from);
    l->op[l->n] = *op;
    l->from[l->n++] = from;
}

/* The address after everything so far. */
static int64_t next_address(int64_t *end, const tc_root *r)
{
    int64_t at = (*end + 15) & ~INT64_C(15);
    *end = at + ti_hw_root_bytes(r);
    return at;
}

/* ---- region 0 ---- */

/* The same bytes once: a layer that is called again, a constant that is used twice, the weights of
 * a program before. */
static void place_constant(emitter *e, int32_t root)
{
    tc_root *r = &e->hw->root[root];
    if (r->kind != TC_ROOT_CONSTANT || r->address >= 0)
        return;
    r->region = 0;
    if (e->hw->counts) {
        r->address = next_address(&e->hw->list.constants, r);
        return;
    }
    size_t bytes = (size_t)(r->count * r->bytes);
    uint64_t hash = ti_hw_hash(r->data, bytes);
    int32_t *first = &e->same[hash % TC_HW_HASH];
    r->address = ti_hw_there(e->hw, hash, r->data, bytes);
    if (r->address >= 0)
        return;
    for (int32_t k = *first; k; k = e->next[k - 1]) {
        const tc_root *other = &e->hw->root[k - 1];
        if (other->count * other->bytes == (int64_t)bytes && !memcmp(other->data, r->data, bytes)) {
            r->address = other->address;
            return;
        }
    }
    e->next[root] = *first;
    *first = root + 1;
    r->address = next_address(&e->hw->list.constants, r);
}

static void place_constants(emitter *e)
{
    tc_hw *hw = e->hw;
    e->next = tc_new_n(hw->arena, int32_t, hw->n_root + 1);
    hw->list.constants = hw->options->before ? (int64_t)hw->options->before->weights.size : 0;
    for (size_t i = 0; i < hw->n_root; i++)
        hw->root[i].address = -1;
    for (size_t i = 0; i < hw->n_op; i++) {
        const tc_hw_op *op = &hw->op[i];
        if (op->ifm.root >= 0)
            place_constant(e, op->ifm.root);
        if (op->ifm2.root >= 0)
            place_constant(e, op->ifm2.root);
        if (op->scales >= 0)
            place_constant(e, hw->packed[op->scales].root);
        if (op->packed >= 0)
            place_constant(e, hw->packed[op->packed].root);
        if (op->table >= 0)
            place_constant(e, hw->table[op->table].root);
    }
}

/* ---- region 1 ---- */

/* The steps of the chain that operation i is part of: all of them run at once. */
static int32_t chain_begin(const tc_hw *hw, size_t i)
{
    while (i > 0 && hw->op[i].joins)
        i--;
    return (int32_t)i;
}

static int32_t chain_end(const tc_hw *hw, size_t i)
{
    while (i + 1 < hw->n_op && hw->op[i + 1].joins)
        i++;
    return (int32_t)i;
}

/* What is live before or after a loop, and in it, is live in all of it; true: that is more than
 * before. */
static bool live_in_loops(tc_hw *hw)
{
    int32_t *at = tc_new_n(hw->arena, int32_t, hw->n_label + 1);
    bool more = false;
    for (size_t k = 0; hw->n_label && k < hw->n_op; k++) {
        int32_t step = (int32_t)k;
        if (hw->op[k].op.kind == TC_NPU_KIND_STOP)
            at[hw->op[k].op.target] = step + 1;
        if (hw->op[k].op.kind != TC_NPU_KIND_BRANCH || !at[hw->op[k].op.target])
            continue; /* a forward branch */
        int32_t begin = at[hw->op[k].op.target] - 1;
        for (size_t i = 0; i < hw->n_root; i++) {
            tc_root *r = &hw->root[i];
            bool inside = ti_is_used(r->life) && r->life.first <= step && r->life.last >= begin,
                 outside = r->life.first < begin || r->life.last > step;
            if (inside && outside && (r->life.first > begin || r->life.last < step)) {
                ti_life_use(&r->life, begin);
                ti_life_use(&r->life, step);
                more = true;
            }
        }
    }
    return more;
}

void ti_hw_live(tc_hw *hw)
{
    for (size_t i = 0; i < hw->n_root; i++) {
        tc_root *r = &hw->root[i];
        r->life = r->kind == TC_ROOT_INPUT ? (tc_life){0, 0} : TC_NEVER;
    }
    for (size_t i = 0; i < hw->n_op; i++) {
        const tc_hw_op *op = &hw->op[i];
        const int32_t root[] = {op->ifm.root, op->ifm2.root, op->ofm.root,
                                op->staged ? op->stage : -1, op->made,
                                op->table >= 0 ? hw->table[op->table].root : -1};
        int32_t begin = chain_begin(hw, i), end = chain_end(hw, i);
        for (size_t k = 0; k < TC_COUNT(root); k++)
            if (root[k] >= 0) {
                ti_life_use(&hw->root[root[k]].life, begin);
                ti_life_use(&hw->root[root[k]].life, end);
            }
        if (op->staged && op->stage >= 0 && !op->late) /* while the operation before runs */
            ti_life_use(&hw->root[op->stage].life,
                        begin ? chain_begin(hw, (size_t)begin - 1) : 0);
    }
    for (size_t i = 0; i < hw->n_root; i++)
        if (hw->root[i].kind == TC_ROOT_OUTPUT)
            ti_life_use(&hw->root[i].life, (int32_t)hw->n_op);
    while (live_in_loops(hw))
        ;
}

/* ---- in place ---- */

static bool same_elements(const tc_hw *hw, const tc_view *a, const tc_view *b)
{
    const tc_root *x = &hw->root[a->root], *y = &hw->root[b->root];
    for (int i = 0; i < 3; i++)
        if (a->dim[i] != b->dim[i] || (a->dim[i] > 1 && a->stride[i] != b->stride[i]))
            return false;
    return a->at == b->at && x->bytes == y->bytes && x->format == y->format &&
           ti_hw_root_bytes(x) == ti_hw_root_bytes(y) && !x->roll && !y->roll &&
           (x->format == TC_NHWC || (x->h == y->h && x->w == y->w && x->c == y->c)) &&
           ti_view_count(a) == x->count && ti_view_count(b) == y->count;
}

static bool by_element(const tc_npu_op *o)
{
    const tc_npu_window *w = &o->window;
    bool tap = o->kind == TC_NPU_KIND_POOL && w->kh == 1 && w->kw == 1 && w->stride_y == 1 &&
               w->stride_x == 1 && !w->upscale && !o->per_channel && o->mode != TC_POOL_REDUCE_SUM;
    return (o->kind == TC_NPU_KIND_ELEMENTWISE || tap) && !o->transpose && !o->reverse;
}

/* What operation i writes may be stored over its operand: element by element, and nothing reads the
 * operand any more, also where that is an input of the region.  The other operand reads the same
 * elements of it, or none. */
static bool in_place(const tc_hw *hw, size_t i, const tc_view *from, const tc_view *other)
{
    const tc_hw_op *op = &hw->op[i];
    if (from->root < 0 || op->ofm.root < 0 || from->root >= op->ofm.root ||
        !by_element(&op->op) ||
        (other->root == from->root && !same_elements(hw, other, &op->ofm)))
        return false;
    const tc_root *a = &hw->root[from->root], *b = &hw->root[op->ofm.root];
    return (a->kind == TC_ROOT_VALUE || a->kind == TC_ROOT_INPUT) &&
           (b->kind == TC_ROOT_VALUE || b->kind == TC_ROOT_OUTPUT) && a->region == b->region &&
           a->life.last == (int32_t)i && b->life.first == (int32_t)i &&
           same_elements(hw, from, &op->ofm);
}

const int32_t *ti_hw_in_place(const tc_hw *hw)
{
    int32_t *same = tc_new_n(hw->arena, int32_t, hw->n_root + 1);
    bool *given = tc_new_n(hw->arena, bool, hw->n_root + 1);
    for (size_t i = 0; i < hw->n_op; i++) {
        const tc_hw_op *op = &hw->op[i];
        const tc_view *from = in_place(hw, i, &op->ifm, &op->ifm2)   ? &op->ifm
                              : in_place(hw, i, &op->ifm2, &op->ifm) ? &op->ifm2
                                                                     : NULL;
        if (!from || given[from->root] || same[op->ofm.root])
            continue;
        given[from->root] = true;
        same[op->ofm.root] = from->root + 1;
    }
    return same;
}

/* Roots of one region; gives its bytes. */
static int64_t place_region(tc_hw *hw, uint8_t region)
{
    const int32_t *same = ti_hw_in_place(hw);
    size_t *item_of = tc_new_n(hw->arena, size_t, hw->n_root + 1);
    tc_place_item *item = tc_new_n(hw->arena, tc_place_item, hw->n_root + 1);
    int32_t *of = tc_new_n(hw->arena, int32_t, hw->n_root + 1);
    size_t n = 0;
    for (size_t i = 0; i < hw->n_root; i++) {
        const tc_root *r = &hw->root[i];
        if (r->kind == TC_ROOT_CONSTANT || !ti_is_used(r->life) || r->region != region)
            continue;
        of[n] = (int32_t)i;
        item_of[i] = n;
        item[n++] = (tc_place_item){.bytes = ti_hw_root_bytes(r),
                                    .life = r->life,
                                    .same_as = same[i] ? 1 + item_of[same[i] - 1] : 0};
    }
    tc_placement placed = ti_place_items(hw->arena, item, n, 16);
    for (size_t k = 0; k < n; k++)
        hw->root[of[k]].address = item[k].address;
    return placed.bytes;
}

/* Every root has bytes of its own, and the region as many as are live at the same time. */
static int64_t count_region(tc_hw *hw, uint8_t region)
{
    int64_t end = 0;
    int32_t step;
    for (size_t i = 0; i < hw->n_root; i++) {
        tc_root *r = &hw->root[i];
        if (r->kind != TC_ROOT_CONSTANT && ti_is_used(r->life) && r->region == region)
            r->address = next_address(&end, r);
    }
    return ti_hw_most(hw, region, &step);
}

static void count_values(tc_hw *hw)
{
    int64_t cache = hw->options->system->cache;
    if (ti_hw_fast_region(hw) == 2) {
        (void)ti_hw_evict(hw, cache ? cache : INT64_MAX);
        hw->list.fast = count_region(hw, 2);
    }
    hw->list.scratch = count_region(hw, 1);
}

static void place_values(tc_hw *hw)
{
    tc_hw_list *l = &hw->list;
    int64_t cache = hw->options->system->cache;
    if (ti_hw_fast_region(hw) == 2) {
        int64_t room = cache ? cache : INT64_MAX;
        do {
            bool fits = ti_hw_evict(hw, room);
            l->fast = place_region(hw, 2);
            if (!fits)
                break;
            room -= l->fast - cache; /* gaps */
        } while (cache && l->fast > cache);
    }
    l->scratch = place_region(hw, 1);
}

/* ---- tables ---- */

static void load_table(emitter *e, int32_t table, int slot)
{
    const tc_hw_table *t = &e->hw->table[table];
    const tc_root *r = &e->hw->root[t->root];
    tc_npu_op dma = {
        .kind = TC_NPU_KIND_DMA,
        .dma = {.src_region = r->region,
                .src = (uint64_t)r->address,
                .dst_internal = true,
                .dst_region = 3,
                .dst = (uint64_t)(ti_npu_table_at(e->hw->machine) + 256 * slot),
                .bytes = (uint64_t)t->bytes,
                .rows = 1,
                .planes = 1}};
    add(e, &dma, -1);
}

/* Where the table is, loaded if it was not; what was used longest ago makes room. */
static int slot_of(emitter *e, int32_t table, size_t now)
{
    int n = e->hw->table[table].bytes / 256, best = 0;
    size_t age = SIZE_MAX;
    for (int at = 0; at + n <= 8; at += n) {
        size_t used = 0;
        bool there = true;
        for (int k = at; k < at + n; k++) {
            used = e->used[k] > used ? e->used[k] : used;
            there = there && e->slot[k] == table;
        }
        if (there) {
            for (int k = at; k < at + n; k++)
                e->used[k] = now + 1;
            return at;
        }
        if (used < age) {
            age = used;
            best = at;
        }
    }
    load_table(e, table, best);
    for (int k = best; k < best + n; k++) {
        e->slot[k] = table;
        e->used[k] = now + 1;
    }
    return best;
}

static void forget_tables(emitter *e)
{
    for (int k = 0; k < 8; k++)
        e->slot[k] = -1;
}

/* ---- the list ---- */

static void set_place(const tc_hw *hw, const tc_view *v, tc_npu_map *m)
{
    if (v->root < 0)
        return;
    m->region = hw->root[v->root].region;
    m->base[0] += (uint64_t)hw->root[v->root].address;
    if (m->height0 < m->h) /* rows that continue in the tile below */
        m->base[2] += (uint64_t)hw->root[v->root].address;
}

static void set_dma(const tc_hw *hw, const tc_hw_op *from, tc_npu_dma *d)
{
    const tc_root *src = &hw->root[from->ifm.root], *dst = &hw->root[from->ofm.root];
    d->src_region = src->region;
    d->src += (uint64_t)src->address;
    d->dst_region = dst->region;
    d->dst += (uint64_t)dst->address;
    if (from->ifm2.root < 0)
        return;
    d->index_region = hw->root[from->ifm2.root].region;
    d->index += (uint64_t)hw->root[from->ifm2.root].address;
}

static bool is_staged(const tc_hw_op *op)
{
    return op->staged && op->stage >= 0;
}

/* Where the operation reads what was packed, `behind` bytes after the address that it is
 * copied to. */
static tc_root packed_place(const tc_hw *hw, const tc_hw_op *op, const tc_hw_packed *p,
                            int64_t behind)
{
    tc_root r = hw->root[is_staged(op) ? op->stage : p->root];
    r.address += is_staged(op) ? behind : 0;
    return r;
}

static int64_t bytes_of_scales(const tc_hw *hw, const tc_hw_op *op)
{
    return op->scales >= 0 ? (int64_t)hw->packed[op->scales].bytes.size : 0;
}

static void set_scales(const tc_hw *hw, const tc_hw_op *from, tc_npu_op *op)
{
    if (from->scales < 0)
        return;
    const tc_hw_packed *p = &hw->packed[from->scales];
    tc_root r = packed_place(hw, from, p, 0);
    op->scale_region = op->weights.region = r.region;
    for (int k = 0; k < 2; k++) {
        op->scale_base[k] = p->size[k] ? (uint64_t)(r.address + p->at[k]) : 0;
        op->scale_bytes[k] = (uint64_t)p->size[k];
    }
}

static void set_weights(const tc_hw *hw, const tc_hw_op *from, tc_npu_op *op)
{
    if (from->packed >= 0) {
        const tc_hw_packed *p = &hw->packed[from->packed];
        tc_root r = packed_place(hw, from, p, bytes_of_scales(hw, from));
        op->weights.region = r.region;
        op->weights.fast = p->fast;
        for (int k = 0; k < TC_NPU_CORES; k++) {
            op->weights.base[k] = p->size[k] ? (uint64_t)(r.address + p->at[k]) : 0;
            op->weights.bytes[k] = (uint64_t)p->size[k];
        }
    }
    if (from->made >= 0) {
        const tc_root *made = &hw->root[from->made];
        op->weights.region = made->region;
        op->weights.base[0] = (uint64_t)made->address;
        op->weights.bytes[0] = (uint64_t)made->count;
    }
}

static void load(emitter *e, const tc_root *from, const tc_root *to, int64_t behind, int64_t bytes)
{
    tc_npu_op dma = {.kind = TC_NPU_KIND_DMA,
                     .dma = {.src_region = from->region,
                             .src = (uint64_t)from->address,
                             .dst_region = to->region,
                             .dst = (uint64_t)(to->address + behind),
                             .bytes = (uint64_t)bytes,
                             .rows = 1,
                             .planes = 1}};
    add(e, &dma, -1);
}

/* Scales and weights of operation i to where it will read them: in one DMA where they are
 * contiguous. */
static void load_weights(emitter *e, size_t i)
{
    const tc_hw *hw = e->hw;
    const tc_hw_op *op = &hw->op[i];
    if (!is_staged(op))
        return;
    const tc_root *to = &hw->root[op->stage], *weights = &hw->root[hw->packed[op->packed].root];
    int64_t behind = bytes_of_scales(hw, op);
    const tc_root *scales = behind ? &hw->root[hw->packed[op->scales].root] : weights;
    bool at_once = scales->address + behind == weights->address;
    if (!at_once)
        load(e, scales, to, 0, behind);
    load(e, at_once ? scales : weights, to, at_once ? 0 : behind,
         op->staged_bytes - (at_once ? 0 : behind));
}

/* What operations from i to the end of its chain need, before it begins: nothing waits inside. */
static void load_ahead(emitter *e, size_t i)
{
    const tc_hw *hw = e->hw;
    size_t end = (size_t)chain_end(hw, i);
    if (hw->op[i].joins)
        return;
    if (i == 0 || hw->op[i].late)
        load_weights(e, i);
    if (end + 1 < hw->n_op && !hw->op[end + 1].late)
        load_weights(e, end + 1);
    for (size_t k = i; k <= end; k++)
        if (hw->op[k].table >= 0)
            slot_of(e, hw->op[k].table, i);
}

/* What makes no difference is written as Vela writes it: rounding where nothing is shifted (half up
 * and double are one up to 31 bits), U55's kind of scale where there is none, U85's range of bits. */
static void settle(const tc_hw *hw, tc_npu_op *op)
{
    bool u85 = ti_hw_is_u85(hw), none = !op->ofm_scale.shift && op->ofm_scale.multiplier == 1;
    uint8_t mode = op->mode;
    if (op->kind == TC_NPU_KIND_RESIZE && op->ofm_scale.shift < 32 &&
        op->ofm_scale.round == TC_ROUND_NATURAL)
        op->ofm_scale.round = TC_ROUND_DOUBLE; /* equal to half up there */
    if (op->kind != TC_NPU_KIND_ELEMENTWISE)
        return;
    if ((none && mode != TC_EW_SHR) ||
        (u85 && mode == TC_EW_MUL && op->ofm.bytes == 4 && op->ofm_scale.shift < 32))
        op->ofm_scale.round = TC_ROUND_DOUBLE;
    if (!op->ifm_scale.shift && !op->ifm2_scale.shift && !op->scale_mode &&
        (op->ifm.bytes == 4 || (!u85 && (mode == TC_EW_ADD || op->swapped))))
        op->ifm_scale.round = op->ifm2_scale.round = TC_ROUND_DOUBLE;
    if (!u85)
        op->per_channel = mode == TC_EW_MIN || mode == TC_EW_MAX || mode == TC_EW_CLZ ||
                          mode == TC_EW_SHL || mode == TC_EW_SHR;
    if (u85 && mode >= TC_EW_CMP_EQ && op->ofm.bytes <= 2 && op->clip == 1) {
        op->clip = 0;
        op->lo = op->ofm.bytes == 1 ? INT8_MIN : INT16_MIN;
        op->hi = op->ofm.bytes == 1 ? INT8_MAX : INT16_MAX;
    }
}

static void list_ops(emitter *e)
{
    tc_hw *hw = e->hw;
    bool u85 = ti_hw_is_u85(hw), shared = hw->machine->banks == 16;
    uint32_t *at = tc_new_n(hw->arena, uint32_t, hw->n_label + 1); /* of labels, in the list */
    forget_tables(e);
    for (size_t i = 0; i < hw->n_op; i++) {
        const tc_hw_op *from = &hw->op[i];
        tc_npu_op op = from->op;
        if (op.kind == TC_NPU_KIND_STOP) {
            at[op.target] = (uint32_t)hw->list.n;
            forget_tables(e);
            continue;
        }
        load_ahead(e, i);
        set_place(hw, &from->ifm, &op.ifm);
        set_place(hw, &from->ifm2, &op.ifm2);
        set_place(hw, &from->ofm, &op.ofm);
        set_scales(hw, from, &op);
        set_weights(hw, from, &op);
        if (op.kind == TC_NPU_KIND_DMA)
            set_dma(hw, from, &op.dma);
        settle(hw, &op);
        if (from->table >= 0) {
            int slot = slot_of(e, from->table, i);
            int32_t entry = hw->table[from->table].bytes;
            op.table = (uint8_t)(u85 ? 256 * slot / entry : slot);
        } else if (shared && !u85)
            forget_tables(e); /* its banks overlap the tables */
        add(e, &op, (int32_t)i);
    }
    for (size_t i = 0; i < hw->list.n; i++)
        if (hw->list.op[i].kind == TC_NPU_KIND_BRANCH)
            hw->list.op[i].target = at[hw->list.op[i].target];
}

/* ---- the container ---- */

static tc_npu_tensor tensor_of(const tc_hw *hw, tc_val v, int32_t root)
{
    const tc_root *r = &hw->root[root];
    const tc_type *t = ti_type_of(hw->g, v);
    tc_npu_tensor out = {.element_bytes = r->bytes,
                         .offset = r->address,
                         .bytes = r->count * r->bytes,
                         .region = r->region};
    for (int i = 0; i < TC_NPU_DIMS; i++) {
        int k = i - (TC_NPU_DIMS - t->rank);
        out.dim[i] = k < 0 ? 1 : t->dim[k];
    }
    return out;
}

static tc_bytes constants_of(const tc_hw *hw)
{
    size_t bytes = (size_t)hw->list.constants;
    uint8_t *out = tc_new_n(&hw->ctx->arena, uint8_t, bytes + 1);
    if (hw->options->before && hw->options->before->weights.size)
        memcpy(out, hw->options->before->weights.data, hw->options->before->weights.size);
    for (size_t i = 0; i < hw->n_root; i++)
        if (hw->root[i].kind == TC_ROOT_CONSTANT && hw->root[i].address >= 0)
            memcpy(out + hw->root[i].address, hw->root[i].data,
                   (size_t)(hw->root[i].count * hw->root[i].bytes));
    return (tc_bytes){out, bytes};
}

static void give_ports(const tc_hw *hw, tc_npu_program *p)
{
    p->n_in = hw->g->n_in;
    p->n_out = hw->g->n_out;
    p->in = tc_new_n(&hw->ctx->arena, tc_npu_tensor, p->n_in + 1);
    p->out = tc_new_n(&hw->ctx->arena, tc_npu_tensor, p->n_out + 1);
    for (size_t i = 0; i < p->n_in; i++)
        p->in[i] = tensor_of(hw, hw->g->in[i], hw->in[i]);
    for (size_t i = 0; i < p->n_out; i++)
        p->out[i] = tensor_of(hw, hw->g->out[i], hw->out[i]);
}

static void tell_places(const tc_hw *hw, tc_codegen_result *out)
{
    const tc_npu_system *system = hw->options->system;
    /* by operation, of its command */
    size_t *number = tc_new_n(hw->arena, size_t, hw->n_op + 1), n = 0;
    for (size_t i = 0; i < hw->n_op; i++) {
        number[i] = n;
        n += hw->op[i].op.kind != TC_NPU_KIND_STOP;
    }
    number[hw->n_op] = n ? n - 1 : 0;
    out->place = tc_new_n(&hw->ctx->arena, tc_codegen_place, hw->n_root + 1);
    for (size_t i = 0; i < hw->n_root; i++) {
        const tc_root *r = &hw->root[i];
        if (r->kind == TC_ROOT_CONSTANT || !ti_is_used(r->life))
            continue;
        const char *memory = system->memory[system->of_region[r->region]].name;
        out->place[out->n_place++] = (tc_codegen_place){.name = r->name,
                                                        .memory = memory ? memory : "memory",
                                                        .offset = r->address,
                                                        .bytes = ti_hw_root_bytes(r),
                                                        .first = number[r->life.first],
                                                        .last = number[r->life.last]};
    }
}

void ti_hw_emit(tc_hw *hw)
{
    emitter e = {.hw = hw};
    hw->list = (tc_hw_list){.cap = hw->n_op + hw->n_op / 8 + 1};
    hw->list.op = ti_arena_raw(hw->arena, hw->list.cap * sizeof *hw->list.op);
    hw->list.from = ti_arena_raw(hw->arena, hw->list.cap * sizeof *hw->list.from);
    place_constants(&e);
    ti_hw_live(hw);
    if (hw->counts)
        count_values(hw);
    else
        place_values(hw);
    list_ops(&e);
}

void ti_hw_write(tc_hw *hw, tc_codegen_result *out)
{
    tc_arena *arena = &hw->ctx->arena;
    const tc_hw_list *l = &hw->list;
    tc_npu_program *p = &out->program;
    tc_npu_op *op = l->op;
    size_t n = l->n, *was = NULL; /* was: none was put in */
    if (hw->options->marks != TC_MARKS_NONE)
        ti_npu_put_marks(hw->arena, hw->options->marks, l->op, l->n, &op, &was, &n);
    size_t *word_of = tc_new_n(hw->arena, size_t, n + 1);
    *p = (tc_npu_program){.machine = hw->machine, .scratch = l->scratch, .fast = l->fast};
    const char *wrong =
        ti_npu_write_as(arena, hw->machine, (tc_npu_how){.apart = ti_hw_fast_region(hw) == 2}, op, n,
                        &p->words, word_of);
    p->weights = constants_of(hw);
    if (hw->options->before)
        ti_hw_leave(hw, p->weights, &out->shared);
    out->taken = hw->options->before ? hw->options->before->weights.size : 0;
    give_ports(hw, p);
    if (!wrong)
        wrong = ti_npu_make_driver(arena, p);
    if (wrong) {
        ti_hw_refuse(hw, NULL, "its stream cannot be written: %s", wrong);
        return;
    }
    out->origin = tc_new_n(arena, tc_codegen_origin, l->n + 1);
    for (size_t i = 0; i < n; i++) {
        size_t k = was ? was[i] : i;
        if (k != SIZE_MAX && l->from[k] >= 0)
            out->origin[out->n_origin++] = (tc_codegen_origin){word_of[i], hw->op[l->from[k]].node};
    }
    tell_places(hw, out);
}

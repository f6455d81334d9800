/* SPDX-License-Identifier: Apache-2.0 */
/* write_wait.c -- which bytes an operation touches, and how many operations may be unfinished when
 * it begins.
 *
 * Kernels end in order, DMAs too; the two run concurrently.  Bytes are taken from the first to the
 * last that a map reaches.  Two jobs conflict where they share a byte and one of them writes. */
#include "writer.h"

#include "program.h"

enum { TABLES = TC_NPU_REGIONS };

static void touch(tc_npu_job *job, int space, bool writes, tc_npu_range range)
{
    if (range.lo >= range.hi)
        return;
    job->everything = job->everything || job->n == TC_NPU_TOUCHES;
    if (!job->everything)
        job->touch[job->n++] = (tc_npu_touch){(uint8_t)space, writes, range};
}

/* ---- kernels ---- */

typedef struct toucher {
    const tc_npu_machine *machine;
    bool apart;
    tc_npu_job *job;
} toucher;

static int space_of(const toucher *t, uint8_t region)
{
    return region == 2 && !t->apart ? 1 : region;
}

static void touch_map(const toucher *t, const tc_npu_map *m, bool writes, int32_t h, int32_t w,
                      int32_t c)
{
    if (m->used)
        touch(t->job, space_of(t, m->region), writes, ti_npu_map_range(m, h, w, c));
}

static void touch_stream(const toucher *t, uint8_t region, uint64_t at, uint64_t bytes)
{
    touch(t->job, space_of(t, region), false,
          (tc_npu_range){(int64_t)at, (int64_t)(at + bytes)});
}

/* The address range of the table; empty: none. */
static tc_npu_range table_of(const tc_npu_machine *m, const tc_npu_op *op)
{
    static const uint16_t u85[32] = {
        [TC_NPU_LOOKUP_U8_8] = 256,       [TC_NPU_LOOKUP_I8_8] = 256,
        [TC_NPU_LOOKUP_I8_16] = 512,      [TC_NPU_LOOKUP_I8_32] = 1024,
        [TC_NPU_LOOKUP_PAIRS_16] = 2048,  [TC_NPU_LOOKUP_PAIRS_32] = 2048,
        [TC_NPU_LOOKUP_TANH] = 2048,      [TC_NPU_LOOKUP_SIGMOID] = 2048};
    int64_t at = ti_npu_table_at(m);
    if (m->product == TC_U85) {
        int64_t bytes = u85[op->function & 31], from = at + op->table * bytes;
        return (tc_npu_range){from, from + bytes};
    }
    if (op->function < TC_NPU_LOOKUP)
        return (tc_npu_range){0, 0};
    int64_t bytes = op->ofm.bytes == 1 ? 256 : op->ofm.bytes == 4 ? 1024 : 2048;
    return (tc_npu_range){at + 256 * op->table, at + 256 * op->table + bytes};
}

/* U55-32 and -64 have no separate banks for tables: a kernel without one writes there, and one with
 * a table is assumed to read all of it. */
static void touch_tables(const toucher *t, const tc_npu_op *op)
{
    const tc_npu_machine *m = t->machine;
    tc_npu_range table = table_of(m, op), all = {ti_npu_table_at(m), ti_npu_internal_bytes(m)};
    bool shared = m->product != TC_U85 && m->banks == 16, looks = table.lo < table.hi;
    touch(t->job, TABLES, shared && !looks, shared ? all : table);
}

static void touch_kernel(const toucher *t, const tc_npu_op *op)
{
    bool weighs = op->kind == TC_NPU_KIND_CONV || op->kind == TC_NPU_KIND_DEPTHWISE;
    bool sums = weighs || op->kind == TC_NPU_KIND_POOL;
    int32_t h, w, c;
    ti_npu_written(op, &h, &w, &c);
    touch_map(t, &op->ifm, false, op->ifm.h, op->ifm.w, op->ifm.c);
    touch_map(t, &op->ifm2, false, op->ifm2.h, op->ifm2.w, op->ifm2.c);
    for (int i = 0; weighs && !op->weights_ifm2 && i < op->cores; i++)
        touch_stream(t, op->weights.region, op->weights.base[i], op->weights.bytes[i]);
    for (int i = 0; sums && op->per_channel && op->acc_output && i < 2; i++)
        touch_stream(t, op->scale_region, op->scale_base[i], op->scale_bytes[i]);
    touch_tables(t, op);
    if (op->acc_output)
        touch_map(t, &op->ofm, true, h, w, c);
}

/* ---- DMAs ---- */

/* n steps of a register's value; on overflow it may be anywhere. */
static bool reach(tc_npu_range *r, int64_t n, int64_t step)
{
    int64_t far = 0;
    bool wide = __builtin_mul_overflow(n, step, &far) || far > INT64_C(1) << 60 ||
                far < -(INT64_C(1) << 60);
    if (!wide && far < 0)
        r->lo += far;
    else if (!wide)
        r->hi += far;
    return !wide;
}

/* From the first row's first byte to the last one's last; of an indexed side all that an index can
 * name. */
static void touch_side(const toucher *t, const tc_npu_dma *d, bool source)
{
    bool internal = source ? d->src_internal : d->dst_internal,
         indexed = source ? d->src_indexed : d->dst_indexed;
    int64_t rows = indexed ? d->index_max + 1 : d->rows, at = (int64_t)(source ? d->src : d->dst);
    tc_npu_range range = {at, at + (int64_t)d->bytes};
    if ((rows > 1 && !reach(&range, rows - 1, source ? d->src_row : d->dst_row)) ||
        (d->planes > 1 && !reach(&range, d->planes - 1, source ? d->src_plane : d->dst_plane)))
        t->job->everything = true;
    touch(t->job, internal ? TABLES : space_of(t, source ? d->src_region : d->dst_region), !source,
          range);
}

static void touch_dma(const toucher *t, const tc_npu_dma *d)
{
    if (d->src_indexed || d->dst_indexed)
        touch_stream(t, d->index_region, d->index,
                     (uint64_t)(d->planes * (4 * d->rows + d->index_skip)));
    touch_side(t, d, true);
    touch_side(t, d, false);
}

void ti_npu_touched(const tc_npu_machine *machine, bool apart, const tc_npu_op *op, tc_npu_job *job)
{
    toucher t = {machine, apart, job};
    if (op->kind == TC_NPU_KIND_DMA)
        touch_dma(&t, &op->dma);
    else if (ti_npu_is_kernel(op->kind))
        touch_kernel(&t, op);
}

/* ---- queues ---- */

static bool conflict(const tc_npu_job *a, const tc_npu_job *b)
{
    if (a->everything || b->everything)
        return true;
    for (size_t i = 0; i < a->n; i++)
        for (size_t k = 0; k < b->n; k++) {
            const tc_npu_touch *p = &a->touch[i], *q = &b->touch[k];
            if (p->space == q->space && (p->writes || q->writes) && p->range.lo < q->range.hi &&
                q->range.lo < p->range.hi)
                return true;
        }
    return false;
}

size_t ti_npu_may_run(const tc_npu_queue *queue, const tc_npu_job *job)
{
    for (size_t i = queue->n; i-- > 0;)
        if (conflict(&queue->job[i], job))
            return queue->n - 1 - i;
    return queue->n;
}

void ti_npu_queue_end(tc_npu_queue *queue, size_t most)
{
    if (queue->n <= most)
        return;
    memmove(queue->job, queue->job + (queue->n - most), most * sizeof *queue->job);
    queue->n = most;
}

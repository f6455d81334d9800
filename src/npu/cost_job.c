/* SPDX-License-Identifier: Apache-2.0 */
/* cost_job.c -- what one job costs.
 *
 * An operation goes block by block: multiplications fill accumulators, the output stage empties
 * them, both at the same time and on different blocks.  Commands are issued at a quarter of the sum
 * of both at best.  Then memories: every byte, rounded up to whole bursts, at the rate of the port
 * and, on U85, of the channel that it takes. */
#include "cost.h"

#include <math.h>

typedef struct job_view {
    const tc_npu_machine *m;
    const tc_npu_system *s;
    const tc_npu_job *j;
} job_view;

static double greater(double a, double b)
{
    return a > b ? a : b;
}
static double lesser(double a, double b)
{
    return a < b ? a : b;
}
static int32_t least(int32_t a, int32_t b)
{
    return a < b ? a : b;
}
static double up(double a, double b)
{
    return ceil(a / b);
}
static int32_t in_bricks(int32_t c, tc_npu_format format)
{
    return format == TC_NHCWB16 ? (c + 15) / 16 * 16 : c;
}
static double volume(tc_npu_block b)
{
    return (double)b.h * b.w * b.depth;
}
static double stored(const tc_npu_job_map *m)
{
    return (double)m->h * m->w * in_bricks(m->c, m->format);
}

static tc_npu_block clipped(const tc_npu_job_map *m, tc_npu_block b)
{
    return (tc_npu_block){least(m->h, b.h), least(m->w, b.w), least(m->c, b.depth)};
}

static const tc_npu_port *memory(const job_view *v, int i)
{
    return &v->s->memory[i];
}

/* ---- memories ---- */

/* Bytes over the port for n elements: bursts are as long as the contiguous run, up to the
 * memory's. */
static double transfer(const job_view *v, bool writes, const tc_npu_job_map *m, tc_npu_block b,
                       double n)
{
    double burst, bits = m->bits, most = memory(v, m->memory)->burst;
    int32_t cores = v->m->product == TC_U85 ? 1 : v->m->cores;
    if (m->format == TC_NHCWB16)
        burst = m->w * bits * 2 == b.depth ? bits * b.w * b.depth
                                           : 16 * bits * b.w * (writes ? cores : 1);
    else if (floor(m->c * bits / 8) == b.depth && (!writes || b.depth <= 16))
        burst = bits * b.w * b.depth;
    else
        burst = writes ? lesser(lesser(512, 16 * bits * cores), b.depth * bits) : b.depth * bits;
    return floor(floor(n * bits / 8) * most / greater(1, lesser(most, floor(burst / 8))));
}

/* Cycles until a block is there. */
static double block_cycles(const job_view *v, bool writes, const tc_npu_job_map *m, tc_npu_block b,
                           int32_t bits)
{
    const tc_npu_port *mem = memory(v, m->memory);
    tc_npu_job_map of = *m;
    of.bits = bits;
    return (writes ? mem->write_latency : mem->read_latency) +
           floor(transfer(v, writes, &of, b, volume(clipped(m, b))) / mem->bytes_per_cycle);
}

static double ifm_cycles(const job_view *v, tc_npu_block in)
{
    const tc_npu_job *j = v->j;
    double first = block_cycles(v, false, &j->ifm, in, j->ifm.bits);
    return j->ifm2.h ? greater(first, block_cycles(v, false, &j->ifm2, in, j->ifm.bits)) : first;
}

/* ---- channels of U85 ---- */

typedef enum channel {
    CHANNEL_COPY,
    CHANNEL_STREAM,
    CHANNEL_WEIGHT,
    CHANNEL_FAST,
    CHANNEL_IFM,
    CHANNEL_SCALE,
    CHANNEL_WRITE,
    CHANNELS
} channel;

static const struct {
    int32_t macs, buffer[CHANNEL_WRITE]; /* 16-byte words that can be under way */
} buffers[] = {
    {128, {64, 64, 128, 128, 104, 16}},    {256, {104, 104, 128, 128, 128, 16}},
    {512, {128, 128, 256, 256, 128, 16}},  {1024, {256, 256, 416, 208, 256, 16}},
    {2048, {256, 256, 512, 256, 256, 16}},
};

static double channel_rate(const job_view *v, const tc_npu_port *mem, channel c)
{
    if (v->m->product != TC_U85)
        return mem->bytes_per_cycle;
    double under_way = 0.8 * (c == CHANNEL_WRITE ? mem->max_writes : mem->max_reads) * mem->ports;
    double latency = c == CHANNEL_WRITE ? mem->write_latency : mem->read_latency;
    for (size_t i = 0; c != CHANNEL_WRITE && i < TC_COUNT(buffers); i++)
        if (buffers[i].macs == v->m->macs)
            under_way = lesser(under_way, (double)buffers[i].buffer[c] /
                                              (mem->burst >= 32 ? mem->burst / 16 : 1));
    return latency > 0 ? lesser(mem->bytes_per_cycle, mem->burst * under_way / latency * 0.8)
                       : mem->bytes_per_cycle;
}

/* Bytes that count for cycles, by memory and channel, and what is transferred at all. */
typedef struct traffic {
    double bytes[TC_NPU_MEMORIES][CHANNELS];
    tc_npu_cost *cost;
} traffic;

static void flow(traffic *t, int mem, channel c, double bytes, bool counts)
{
    *(c == CHANNEL_WRITE ? &t->cost->written[mem] : &t->cost->read[mem]) += bytes;
    if (counts)
        t->bytes[mem][c] += bytes;
}

static void settle(const job_view *v, traffic *t)
{
    for (int i = 0; i < TC_NPU_MEMORIES; i++) {
        const tc_npu_port *mem = memory(v, i);
        double all = 0, slowest = 0;
        for (int c = 0; c < CHANNELS; c++) {
            all += t->bytes[i][c];
            slowest = greater(slowest, floor(t->bytes[i][c] / channel_rate(v, mem, (channel)c)));
        }
        t->cost->access[i] =
            greater(floor(all / mem->bytes_per_cycle), v->m->product == TC_U85 ? slowest : 0);
    }
}

/* From one memory to another: the slower end counts. */
static double copy_cycles(const job_view *v, int from, int to, double bytes)
{
    const tc_npu_port *a = memory(v, from), *b = memory(v, to);
    return greater(floor(bytes / channel_rate(v, a, CHANNEL_COPY)) + a->read_latency,
                   floor(bytes / channel_rate(v, b, CHANNEL_WRITE)) + b->write_latency);
}

/* Tables go to a memory inside, one byte a cycle. */
static double table_cycles(const job_view *v)
{
    const tc_npu_port *a = memory(v, v->j->table_memory);
    double bytes = v->j->table_bytes;
    return greater(floor(bytes / channel_rate(v, a, CHANNEL_COPY)) + a->read_latency, bytes);
}

/* ---- multiplications ---- */

static bool is_conv(const tc_npu_job *j)
{
    return j->work == TC_WORK_CONV || j->work == TC_WORK_MATMUL;
}
static bool by_channel(const tc_npu_job *j)
{
    return j->work == TC_WORK_DEPTHWISE || j->work == TC_WORK_POOL;
}

/* A row of outputs is taken four at a time by machines with blocks of 2 x 2. */
static tc_npu_block unit_of(const job_view *v)
{
    const tc_npu_job *j = v->j;
    bool row = v->m->product != TC_U85 && j->unit.h == 2 && is_conv(j) && j->ofm.h == 1 &&
               j->ofm.w % 2 == 0 && j->kh == 1;
    return row ? (tc_npu_block){1, 4, j->unit.depth} : j->unit;
}

typedef struct units {
    double plane, depth; /* of a block */
    double all;
    double blocks; /* of the output, in blocks; not whole */
    bool line;     /* one wide or one high */
} units;

static units count_units(const tc_npu_job_map *ofm, tc_npu_block block, tc_npu_block unit)
{
    tc_npu_block b = clipped(ofm, block);
    double h = up(b.h, unit.h), w = up(b.w, unit.w);
    units u = {.plane = h * w, .depth = up(b.depth, unit.depth), .line = h == 1 || w == 1};
    u.all = u.plane * u.depth;
    u.blocks = up(ofm->h, unit.h) * up(ofm->w, unit.w) * up(ofm->c, unit.depth) / u.all;
    return u;
}

/* Cycles of a kernel's part of at most 8 x 8 taps in one block. */
static double part_cycles(const job_view *v, const units *u, int32_t taps, int32_t in_depth,
                          double weights)
{
    const tc_npu_job *j = v->j;
    bool u85 = v->m->product == TC_U85, small = v->m->macs == 32;
    double bits = j->ifm.bits, steps, cycles;
    if (j->work == TC_WORK_POOL) {
        steps = 1;
        cycles = (taps > 4 ? taps : 4) * u->all * (small ? 1 : bits / 2);
    } else if (j->work == TC_WORK_DEPTHWISE) {
        steps = up(taps, 4);
        cycles = greater(weights, 4 * u->plane * (bits / 8)) * steps * u->depth;
    } else if (is_conv(j) && j->part_kernel) {
        steps = up(taps, bits == 16 ? 2 : 4);
        cycles = greater(weights, 4 * u->plane) * steps * u->depth * up(in_depth, 8) /
                 (j->sparse ? 2 : 1);
    } else {
        steps = taps;
        cycles = u85 ? greater(weights, floor(in_depth / 8.0) * u->plane) * steps * u->depth *
                           (bits / 8) / (j->sparse ? 2 : 1)
                     : greater(weights, 4 * u->plane) * steps * u->depth;
    }
    /* Nothing hides the way through the accumulators when a block is a single unit wide and high.
     */
    double delay = 0, each = small                              ? (j->wide_acc ? 7 : 3)
                             : j->wide_acc && v->m->macs <= 128 ? 3
                                                                : 2;
    if (u->plane == 1 && u->depth == 1)
        delay = each * steps;
    else if (u->plane == 1 && steps > 1)
        delay = each * (steps - 1) * u->depth;
    if (small && u->line && u->depth > 1 && j->wide_acc)
        delay += each * u->depth;
    if (is_conv(j) && j->part_kernel)
        delay *= up(in_depth, 8);
    return floor(cycles) + delay;
}

static double mac_cycles(const job_view *v, const units *u)
{
    const tc_npu_job *j = v->j;
    int32_t in_depth = least(j->ifm.c, j->in_block.depth);
    double weights =
               floor(32.0 * unit_of(v).depth / (8 * (v->m->product == TC_U85 ? v->m->cores : 1))),
           cycles = 0;
    /* Parts of 8 x 8, and the remainders at the right, at the bottom, and in the corner. */
    const double across[2] = {j->kw / 8, j->kw % 8 != 0}, down[2] = {j->kh / 8, j->kh % 8 != 0};
    const int32_t wide[2] = {8, j->kw % 8}, high[2] = {8, j->kh % 8};
    for (int x = 0; x < 2; x++)
        for (int y = 0; y < 2; y++)
            if (across[x] > 0 && down[y] > 0)
                cycles +=
                    across[x] * down[y] * part_cycles(v, u, wide[x] * high[y], in_depth, weights);
    if (!by_channel(j))
        cycles *= up(j->ifm.c, in_depth);
    return v->m->product == TC_U85 ? cycles : floor(cycles / v->m->cores);
}

/* The whole operation; edges: costs at its begin and end. */
static double windows(const job_view *v, bool first, bool last)
{
    const tc_npu_job *j = v->j;
    units u = count_units(&j->ofm, j->block, unit_of(v));
    tc_npu_block out = clipped(&j->ofm, j->block);
    int from = j->staging >= 0 ? j->staging : j->weight_memory;
    bool biased =
        (j->work == TC_WORK_CONV || j->work == TC_WORK_DEPTHWISE) && j->has_scales && from >= 0;
    double bias = biased ? 10.0 * out.depth * memory(v, from)->read_latency / 256 : 0;
    double output = greater(ceil(j->rate * volume(out)), bias), mac = mac_cycles(v, &u);
    double read = ifm_cycles(v, j->in_block),
           write = block_cycles(v, true, &j->ofm, j->block, j->ofm.bits);
    double issue = ((u.blocks > 1 ? fabs(write - read) : 0) + mac + output) / 4;
    mac = greater(mac, issue);
    output = greater(output, issue);
    double all =
        mac > output ? floor(mac * u.blocks) + (last ? output : 0) : output * u.blocks + mac;
    return floor(all) + (last ? write : 0) + (first ? read : 0);
}

static double elementwise(const job_view *v)
{
    const tc_npu_job *j = v->j;
    double n = (double)j->ofm.h * j->ofm.w * in_bricks(j->ofm.c, j->ofm.format);
    double block =
        greater(block_cycles(v, true, &j->ofm, j->block, j->ofm.bits), ifm_cycles(v, j->block));
    return greater(ceil(j->rate * n), ceil((block / volume(j->block) + j->rate) / 4 * n));
}

/* ---- elements that are read and written ---- */

static double plane_blocks(const tc_npu_job *j)
{
    tc_npu_block b = clipped(&j->ofm, j->block);
    return up(j->ofm.h, b.h) * up(j->ofm.w, b.w);
}

static double window_reads(const tc_npu_job *j)
{
    tc_npu_block in = clipped(&j->ifm, j->in_block), out = clipped(&j->ofm, j->block);
    double depth_blocks = by_channel(j) ? 1 : up(j->ofm.c, out.depth);
    return (double)in.h * in.w * in_bricks(j->ifm.c, j->ifm.format) * up(j->kw, 8) * up(j->kh, 8) *
           plane_blocks(j) * depth_blocks;
}

static bool is_scalar(const tc_npu_job_map *m)
{
    return m->h == 1 && m->w == 1 && m->c == 1;
}

/* U55 and U65 read a smaller operand again and again. */
static void operand_reads(const job_view *v, double n[2])
{
    const tc_npu_job *j = v->j;
    double whole = (double)j->ofm.h * j->ofm.w * in_bricks(j->ofm.c, j->ifm.format);
    n[0] = n[1] = 0;
    if (v->m->product == TC_U85) {
        bool encoded = false;
        for (int i = 0; i < 2; i++) {
            tc_npu_job_map map = i ? j->ifm2 : j->ifm;
            map.format = j->ifm.format;
            if (map.h && (!is_scalar(&map) || encoded))
                n[i] = stored(&map);
            else
                encoded = encoded || map.h;
        }
    } else if (is_scalar(&j->ifm)) {
        if (j->ifm.bits > 8)
            n[0] = in_bricks(1, j->ifm.format);
        else if (j->ifm2.h)
            n[1] = whole;
    } else {
        n[0] = whole;
        if (j->ifm2.h)
            n[1] = !is_scalar(&j->ifm2) ? whole
                   : j->ifm2.bits > 8   ? in_bricks(1, j->ifm.format)
                                        : 0;
    }
}

static void weights_flow(const job_view *v, traffic *t, bool counts)
{
    const tc_npu_job *j = v->j;
    if (j->weight_memory < 0)
        return;
    double again = plane_blocks(j);
    int from = j->weight_memory;
    channel of = j->fast_weights && j->staging >= 0 ? CHANNEL_FAST : CHANNEL_WEIGHT;
    if (j->staging >= 0) {
        double rest = greater(j->weight_bytes - (j->early ? j->first_bytes : 0), 0),
               all = j->weight_bytes + j->scale_bytes;
        flow(t, from, CHANNEL_COPY, rest, counts);
        flow(t, j->staging, CHANNEL_WRITE, rest, counts);
        flow(t, from, CHANNEL_COPY, all - rest, false);
        flow(t, j->staging, CHANNEL_WRITE, all - rest, false);
        from = j->staging;
    }
    flow(t, from, of, again * j->weight_bytes, counts);
    /* Scales are counted at their source: with the constants. */
    flow(t, v->s->of_region[0], CHANNEL_SCALE, again * j->scale_bytes, counts);
}

static channel reads_by(const tc_npu_job *j, bool second)
{
    return j->work == TC_WORK_ELEMENTWISE || j->work == TC_WORK_RESIZE ||
                   (second && j->work == TC_WORK_MATMUL)
               ? CHANNEL_STREAM
               : CHANNEL_IFM;
}

static void maps_flow(const job_view *v, traffic *t)
{
    const tc_npu_job *j = v->j;
    double n[2] = {0, 0};
    if (j->work == TC_WORK_ELEMENTWISE)
        operand_reads(v, n);
    else if (j->work == TC_WORK_RESIZE)
        n[0] = stored(&j->ifm);
    else if (j->work == TC_WORK_TRANSPOSE)
        n[0] = (double)j->ifm.h * j->ifm.w * j->ifm.c;
    else
        n[0] = window_reads(j);
    if (j->ifm.counted)
        flow(t, j->ifm.memory, reads_by(j, false), transfer(v, false, &j->ifm, j->in_block, n[0]),
             true);
    if (j->ifm2.h && j->ifm2.counted)
        flow(t, j->ifm2.memory, reads_by(j, true), transfer(v, false, &j->ifm2, j->in_block, n[1]),
             true);
    if (j->ofm.counted)
        flow(t, j->ofm.memory, CHANNEL_WRITE, transfer(v, true, &j->ofm, j->block, stored(&j->ofm)),
             true);
    for (int32_t i = 0; i < j->n_more; i++) {
        const tc_npu_job_map *m = &j->more[i];
        bool writes = j->more_written[i];
        double bytes = is_scalar(m) && !writes
                           ? 0
                           : transfer(v, writes, m, writes ? j->block : j->in_block, stored(m));
        flow(t, m->memory, writes ? CHANNEL_WRITE : CHANNEL_STREAM, bytes, j->more_counts[i]);
    }
}

/* ---- a matrix product on U55 and U65 ---- */

/* Every column: the products into 32 bits, then their sums. */
static double columns(const job_view *v, traffic *t)
{
    const tc_npu_job *j = v->j;
    tc_npu_job mul = *j, sum = *j;
    job_view of_mul = {v->m, v->s, &mul}, of_sum = {v->m, v->s, &sum};
    mul.work = TC_WORK_ELEMENTWISE;
    mul.block = mul.in_block = j->mul_block;
    mul.rate = j->mul_rate;
    mul.ofm = mul.ifm2 = j->ifm;
    mul.ofm.bits = 32;
    mul.ofm.memory = sum.ifm.memory = j->product_memory;
    sum.work = TC_WORK_REDUCE_SUM;
    sum.ifm2.h = 0;
    sum.ofm.h = j->ifm.h;
    sum.ofm.w = j->ifm.w;
    sum.ofm.c = 1;
    double n = (double)j->ifm.h * j->ifm.w * j->ifm.c * j->columns;
    flow(t, j->ifm.memory, CHANNEL_IFM, transfer(v, false, &j->ifm, j->in_block, n), true);
    flow(t, j->ifm2.memory, CHANNEL_IFM,
         transfer(v, false, &j->ifm2, j->in_block, (double)j->ifm2.h * j->ifm2.w * j->ifm2.c),
         true);
    tc_npu_job_map out = j->ofm;
    out.c = j->columns;
    flow(t, out.memory, CHANNEL_WRITE,
         transfer(v, true, &out, j->block, (double)out.h * out.w * out.c), true);
    flow(t, j->product_memory, CHANNEL_IFM, n, true);
    flow(t, j->product_memory, CHANNEL_WRITE, n, true);
    return (elementwise(&of_mul) + windows(&of_sum, true, true)) * j->columns;
}

/* ---- all of it ---- */

static double macs_of(const tc_npu_job *j)
{
    double n = (double)j->kh * j->kw * j->ofm.h * j->ofm.w * j->ofm.c;
    switch (j->work) {
    case TC_WORK_DEPTHWISE:
    case TC_WORK_POOL:
        return n;
    case TC_WORK_CONV:
    case TC_WORK_MATMUL:
    case TC_WORK_REDUCE_SUM:
        return floor(n * j->ifm.c / (j->sparse ? 2 : 1));
    case TC_WORK_COLUMNS:
        return (double)j->ifm.h * j->ifm.w * j->ifm.c * j->columns;
    default:
        return 0;
    }
}

/* A transposition by copies takes as long as the slower of reading and writing. */
static double transposition(const job_view *v)
{
    const tc_npu_job *j = v->j;
    const tc_npu_port *a = memory(v, j->ifm.memory), *b = memory(v, j->ofm.memory);
    double n = (double)j->ifm.h * j->ifm.w * j->ifm.c;
    return greater(
        floor(transfer(v, false, &j->ifm, j->in_block, n) / a->bytes_per_cycle) + a->read_latency,
        floor(transfer(v, true, &j->ofm, j->block, stored(&j->ofm)) / b->bytes_per_cycle) +
            b->write_latency);
}

static double compute_cycles(const job_view *v, traffic *t)
{
    switch (v->j->work) {
    case TC_WORK_MOVE:
        flow(t, v->j->moved_from, CHANNEL_COPY, v->j->moved_read, true);
        flow(t, v->j->moved_to, CHANNEL_WRITE, v->j->moved_written, true);
        if (v->j->weight_bytes > 0) {
            flow(t, v->j->weight_memory, CHANNEL_COPY, v->j->weight_bytes, true);
            flow(t, v->j->moved_from, CHANNEL_WRITE, v->j->weight_bytes, true);
        }
        return 0;
    case TC_WORK_COLUMNS:
        return columns(v, t);
    case TC_WORK_TRANSPOSE:
        maps_flow(v, t);
        return transposition(v);
    case TC_WORK_ELEMENTWISE:
    case TC_WORK_RESIZE:
        maps_flow(v, t);
        return elementwise(v);
    default:
        maps_flow(v, t);
        weights_flow(v, t, true);
        return windows(v, true, true);
    }
}

/* What the next job's transfers can overlap: the last slice, or the whole of it, without transfers
 * from the arena to the cache. */
static double cover(const job_view *v, bool last_slice)
{
    tc_npu_job job = *v->j;
    tc_npu_job_map *map[] = {&job.ifm, &job.ifm2, &job.ofm};
    job_view of_job = {v->m, v->s, &job};
    tc_npu_cost ignored = {0};
    traffic t = {.cost = &ignored};
    for (size_t i = 0; i < TC_COUNT(map); i++)
        if (map[i]->memory == v->s->of_region[2])
            map[i]->memory = v->s->of_region[1];
    if (!last_slice)
        return compute_cycles(&of_job, &t);
    job.ofm.c = v->j->last_depth;
    job.ofm.h = v->j->stripe ? v->j->stripe : job.ofm.h;
    return windows(&of_job, v->j->slices < 2, true);
}

void ti_npu_cost_job(const tc_npu_machine *machine, const tc_npu_system *system,
                     const tc_npu_job *job, double *slack, tc_npu_cost *out)
{
    job_view v = {machine, system, job};
    traffic t = {.cost = out};
    *out = (tc_npu_cost){0};
    bool staged = job->staging >= 0 && job->weight_memory >= 0;
    double own = compute_cycles(&v, &t), next = cover(&v, staged), hidden = *slack;
    out->compute = own;
    out->macs = macs_of(job);
    double table = job->table_bytes > 0 && job->table_memory >= 0 ? table_cycles(&v) : 0;
    if (staged) {
        double all =
            copy_cycles(&v, job->weight_memory, job->staging, job->weight_bytes + job->scale_bytes);
        double first = greater(
            copy_cycles(&v, job->weight_memory, job->staging, job->first_bytes) - hidden, 0);
        out->compute = greater(all - hidden + next, own + first);
    } else
        table = greater(table - hidden, 0);
    out->compute += table;
    out->waiting = out->compute - own;
    if (job->table_bytes > 0 && job->table_memory >= 0)
        out->read[job->table_memory] += job->table_bytes;
    settle(&v, &t);
    out->cycles = out->compute;
    for (int i = 0; i < TC_NPU_MEMORIES; i++)
        out->cycles = greater(out->cycles, out->access[i]);
    *slack = next;
}

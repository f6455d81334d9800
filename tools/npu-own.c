/* SPDX-License-Identifier: Apache-2.0 */
/* npu-own.c -- our own Ethos-U back end on TOSA files: verified, executed, beside the reference kernels.
 *
 *   npu-own [-v] [-c] [-e] [-t] [-o OUT] MACHINE[:MODE][:size][:products] FILE...
 *
 * FILE: a .tosa or text graph; or a folder of Arm's suite.  Or a stream that was made before
 * (X_vela.npz): of that only the figures.
 *
 * A line a file that is wrong, with -v also one that is refused or equal; then how many of each.
 * Inputs are the suite's (input-N.npy beside the file), or drawn.  MODE: how memories are used,
 * Sram_Only, Shared_Sram or Dedicated_Sram.  size: the fewest bytes.
 * products: --optimise products.  -c: also a line for every setting
 * of registers that Vela's streams do not have (npu/census.h).  -e: also a line for every operation:
 * its cycles, and where they come from.  -t: it is made, and no more.  -o: the last stream, as Vela
 * writes its own (X_vela.npz). */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "codegen/codegen.h"
#include "ir/verify.h"
#include "lower/lower_pass.h"
#include "npu/census.h"
#include "npu/cost.h"
#include "npu/linux_rules.h"
#include "npu/npu_exec.h"
#include "npu/npu_verify.h"
#include "read/read.h"
#include "run/eval.h"
#include "wire/file.h"
#include "wire/npy.h"

typedef enum verdict {
    EQUAL,
    REFUSED,
    WRONG,
    OTHER,
    MADE,
    VERDICTS
} verdict; /* made: not compared */

static const struct {
    const char *machine, *system, *mode;
} systems[] = {{"ethos-u55", "Ethos_U55_High_End_Embedded", "Shared_Sram"},
               {"ethos-u65", "Ethos_U65_High_End", "Dedicated_Sram"},
               {"ethos-u85", "Ethos_U85_SYS_DRAM_Mid", "Sram_Only"}};

static struct {
    bool loud, news, each, made;
    const char *out;
    size_t operations, combinations, listed, warned, reversed;
} how;

/* Numbers of the type, small ones where wide ones would overflow. */
static void draw(tc_tensor t, uint64_t *seed)
{
    for (int64_t i = 0, n = tc_type_count(t.type); i < n; i++) {
        *seed = *seed * 6364136223846793005u + 1442695040888963407u;
        uint64_t r = *seed >> 33;
        switch (t.type->dtype) {
        case TC_bool:
            ((uint8_t *)t.data)[i] = r & 1;
            break;
        case TC_i8:
        case TC_u8:
            ((int8_t *)t.data)[i] = (int8_t)r;
            break;
        case TC_i16:
        case TC_u16:
            ((int16_t *)t.data)[i] = (int16_t)r;
            break;
        case TC_i32:
            ((int32_t *)t.data)[i] = (int32_t)(r % 2001) - 1000;
            break;
        default:
            ((int64_t *)t.data)[i] = (int64_t)(r % 2001) - 1000;
        }
    }
}

/* Numbers that a GATHER, or a SCATTER of one row, takes as indices name rows that there are. */
static void name_rows(const tc_graph *g, tc_val in, tc_tensor t)
{
    for (size_t k = 0; k < g->n_node && t.type->dtype == TC_i32; k++) {
        const tc_node *node = g->node[k];
        bool one = node->op == TC_OP_tosa_scatter && ti_type_of(g, node->in[1])->dim[1] == 1;
        tc_val v = one || node->op == TC_OP_tosa_gather ? node->in[1] : TC_NONE;
        for (const tc_node *d; v != TC_NONE && (d = ti_def(g, v)) &&
                               (d->op == TC_OP_tosa_reshape || d->op == TC_OP_tosa_slice);)
            v = d->in[0];
        int64_t rows = v == in ? ti_type_of(g, node->in[0])->dim[1] : 0;
        for (int64_t i = 0, n = tc_type_count(t.type); i < n && rows > 0; i++)
            ((int32_t *)t.data)[i] = (((int32_t *)t.data)[i] & INT32_MAX) % (int32_t)rows;
    }
}

static bool given(tc_ctx *ctx, const char *file, size_t i, tc_tensor t)
{
    const char *slash = strrchr(file, '/');
    const char *name = ti_text_format(&ctx->arena, "%.*s/input-%zu.npy",
                                      (int)(slash ? slash - file : 1), slash ? file : ".", i);
    tc_npy *array;
    size_t n;
    return access(name, R_OK) == 0 && ti_npy_open(ctx, name, &array, &n) == TC_OK &&
           array->size == tc_dtypes[t.type->dtype].bytes &&
           array->count == tc_type_count(t.type) &&
           ti_npy_read(ctx, array, 0, array->count, t.data) == TC_OK;
}

static bool has_floats(const tc_graph *g)
{
    for (size_t v = 1; v < g->n_val; v++)
        if (g->val[v]->type && ti_is_float(g->val[v]->type->dtype))
            return true;
    return false;
}

static verdict execute(tc_ctx *ctx, tc_graph *g, const tc_npu_program *p, const tc_tensor *in,
                       const char **why)
{
    tc_arena *arena = &ctx->arena;
    tc_tensor *want = tc_new_n(arena, tc_tensor, g->n_out + 1);
    if (ti_eval(g, in, want, arena) != TC_OK)
        return OTHER;
    tc_npu_exec *exec = ti_npu_exec_new(arena, p, why);
    if (!exec)
        return WRONG;
    const void **from = tc_new_n(arena, const void *, g->n_in + 1);
    void **to = tc_new_n(arena, void *, g->n_out + 1);
    for (size_t i = 0; i < g->n_in; i++)
        from[i] = in[i].data;
    for (size_t i = 0; i < g->n_out; i++)
        to[i] = tc_new_n(arena, uint8_t, (size_t)p->out[i].bytes + 1);
    *why = ti_npu_exec_run(exec, from, to);
    for (size_t i = 0; i < g->n_out && !*why; i++) {
        int64_t n = tc_type_count(want[i].type), e = tc_dtypes[want[i].type->dtype].bytes, bad = 0;
        for (int64_t k = 0; k < n; k++)
            bad += memcmp((uint8_t *)to[i] + k * e, (const uint8_t *)want[i].data + k * e,
                          (size_t)e) != 0;
        if (bad)
            *why = ti_text_format(arena, "%" PRId64 " of %" PRId64 " differ", bad, n);
    }
    return *why ? WRONG : EQUAL;
}

/* The machine, its memories and what counts, of MACHINE[:MODE][:size]. */
static bool understood(tc_ctx *ctx, const char *words, tc_npu_system *system, tc_codegen_options *o)
{
    size_t k = !strncmp(words, "ethos-u55", 9) ? 0 : !strncmp(words, "ethos-u65", 9) ? 1 : 2;
    const char *mode = systems[k].mode;
    char *name = ti_arena_copy(&ctx->arena, words, strlen(words) + 1);
    for (char *at; (at = strrchr(name, ':')); *at = 0) {
        if (!strcmp(at + 1, "size"))
            o->size = true;
        else if (!strcmp(at + 1, "products"))
            o->products = true;
        else
            mode = at + 1;
    }
    o->machine = ti_npu_machine_find(name);
    o->system = system;
    return o->machine && ti_npu_system_find(ctx, o->machine, NULL, systems[k].system, mode,
                                            system) == TC_OK;
}

/* Settings of registers that Vela's streams do not have; false: a value is new, and not listed. */
static bool counted(tc_ctx *ctx, const char *path, const tc_npu_program *p, const char **why)
{
    tc_npu_census c;
    ti_npu_census(&ctx->arena, p, &c);
    how.operations += c.n_operation;
    how.combinations += c.n_combination;
    how.listed += c.n_listed;
    for (size_t i = 0; i < c.n; i++) {
        const tc_npu_news *n = &c.list[i];
        if (how.news)
            printf("%s %s: word %zu: %s: %zu times: %s%s\n", p->machine->name, path, n->at,
                   n->operation, n->times, n->value ? "a new value: " : "", n->text);
        if (n->value && !n->reason && !*why)
            *why = ti_text_format(&ctx->arena, "CENSUS at word %zu, %s: a new value: %s", n->at,
                                  n->operation, n->text);
    }
    return c.n_value == 0;
}

/* Bytes over the ports. */
static double traffic_of(const tc_npu_cost *c)
{
    double all = 0;
    for (int k = 0; k < TC_NPU_MEMORIES; k++)
        all += c->read[k] + c->written[k];
    return all;
}

static void show_each(const tc_npu_stream_cost *cost)
{
    for (size_t i = 0; i < cost->n_op; i++) {
        const tc_npu_op_cost *o = &cost->op[i];
        printf("  word %6zu %-16s %10.0f cycles, %10.0f computing, waits for %-16s %10.0f bytes\n",
               o->at, o->name, o->cost.cycles, o->cost.compute, ti_npu_wait_name(o->wait),
               traffic_of(&o->cost));
    }
}

static bool is_wide_bricks(const tc_npu_map *m)
{
    return m->used && m->format == TC_NHCWB16 && m->bytes > 1;
}

/* Rows that are copied with a stride, of which the driver counts up to twice the bytes, operations that fill
 * accumulators alone, for which it takes the output's place from the operation before, inputs that are read
 * upscaled, which it takes to be of the upscaled size, wide operands in bricks, whose bytes an element it
 * reads where an output has them, second operands with far more channels than columns, of which it takes there to be
 * as many, in bricks too, and transposed outputs: it has each extent before the transposition go by the stride of
 * another axis, which is the stride that the machine uses. */
static bool is_deep(const tc_npu_op *op)
{
    const int32_t page = 4096, brick = 16;
    return op->ifm2.used && (op->depth - op->ifm2.w) * brick > page;
}

static bool counts_for_more(const tc_npu_program *p)
{
    tc_npu_walk walk;
    tc_npu_op op;
    ti_npu_walk_begin(&walk, p->machine, p->words);
    while (ti_npu_walk_next(&walk, &op))
        if ((ti_npu_is_kernel(op.kind) &&
             (!op.acc_output || op.window.upscale != TC_UPSCALE_NONE || is_wide_bricks(&op.ifm) ||
              is_wide_bricks(&op.ifm2) || is_deep(&op))) ||
            op.transpose ||
            (op.kind == TC_NPU_KIND_DMA &&
             (op.dma.rows != 1 || op.dma.planes != 1 || op.dma.src_indexed || op.dma.dst_indexed)))
            return true;
    return false;
}

/* Whether Linux's driver takes the stream (U65 and U85), with regions as large as the program says, in
 * whole pages and at least one.  U65 reverses by negative strides, which it reads as long ones. */
static bool taken_by_linux(tc_ctx *ctx, const tc_npu_program *p, const char **why)
{
    const uint64_t page = 4096, reversing = UINT64_C(1) << 32;
    tc_linux_extent extent;
    if (p->machine->product == TC_U55)
        return true;
    ti_linux_validate(p->words.data, p->words.n, &extent);
    how.warned += extent.warned != NULL;
    if (extent.refused)
        *why = ti_text_format(&ctx->arena, "LINUX at word %zu: %s", extent.at, extent.refused);
    for (int r = 0; r < TC_LINUX_REGIONS && !*why; r++) {
        int64_t bytes = ti_npu_region_bytes(p, r);
        if (p->machine->product == TC_U65 && extent.bytes[r] >= reversing)
            how.reversed++;
        else if (counts_for_more(p))
            continue;
        else if (extent.bytes[r] > page && extent.bytes[r] > ((uint64_t)bytes + page - 1) / page * page)
            *why = ti_text_format(&ctx->arena,
                                  "LINUX takes region %d to be of %" PRIu64 " bytes, and it has %" PRId64,
                                  r, extent.bytes[r], bytes);
    }
    return !*why;
}

/* What a program costs; NULL: its words are wrong. */
static const char *figures(tc_ctx *ctx, const tc_npu_program *p, const tc_npu_system *system)
{
    tc_npu_stream_cost cost;
    if (ti_npu_cost_stream(&ctx->arena, p, system, &cost))
        return NULL;
    if (how.each)
        show_each(&cost);
    return ti_text_format(&ctx->arena,
                          "%.0f cycles, %" PRId64 " bytes of SRAM, %zu bytes of constants, "
                          "%.0f bytes moved, %zu operations",
                          cost.total.cycles, p->fast > 0 ? p->fast : p->scratch, p->weights.size,
                          traffic_of(&cost.total), cost.n_op);
}

/* A stream that was made before. */
static verdict price(tc_ctx *ctx, const char *file, const tc_npu_system *system, const char **why)
{
    tc_bytes bytes;
    tc_npu_program p;
    if (ti_file_read(ctx, file, &bytes) != TC_OK || ti_npu_read_npz(ctx, file, bytes, &p) != TC_OK)
        return OTHER;
    *why = figures(ctx, &p, system);
    return *why ? MADE : WRONG;
}

/* Seconds of this process, and the most memory that it had. */
static const char *spent(tc_ctx *ctx, clock_t since)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return ti_text_format(&ctx->arena, "%.3f s, %ld KB", (double)(clock() - since) / CLOCKS_PER_SEC,
                          use.ru_maxrss);
}

static verdict try(tc_ctx *ctx, const char *machine, const char *path, const char **why)
{
    char file[4096];
    snprintf(file, sizeof file, "%s", path);
    if (!strstr(path, ".tosa") && !strstr(path, ".ir"))
        snprintf(file, sizeof file, "%s/test.tosa", path);
    tc_module *m;
    tc_npu_system system;
    tc_codegen_options o = {0};
    tc_codegen_result made;
    if (!understood(ctx, machine, &system, &o))
        return OTHER;
    if (strstr(path, ".npz"))
        return price(ctx, path, &system, why);
    if (ti_read(ctx, file, &m) != TC_OK || has_floats(ti_main(m)))
        return OTHER;
    tc_graph *g = ti_main(m);
    if (ti_verify(ctx, m) != TC_OK) {
        *why = ti_text_format(&ctx->arena, "it is not valid: %s", tc_diagnostics(ctx));
        return REFUSED;
    }
    clock_t begin = clock();
    if (ti_lower_choose_rounding(ctx, m) != TC_OK || ti_codegen(ctx, &o, g, &made) != TC_OK)
        return OTHER;
    const char *took = spent(ctx, begin);
    if (made.refused) {
        *why = ti_text_format(&ctx->arena, "%s: %s",
                              made.refused_node ? tc_ops[made.refused_node->op].name : "",
                              made.refused);
        return REFUSED;
    }
    if (how.made) {
        *why = ti_text_format(&ctx->arena, "%s, %s", figures(ctx, &made.program, &system), took);
        return MADE;
    }
    tc_npu_findings found;
    ti_npu_verify(ctx, &made.program, &found);
    if (found.n_error) {
        const tc_npu_finding *f = NULL;
        for (size_t i = 0; i < found.n && !f; i++)
            f = tc_npu_checks[found.list[i].check].is_error ? &found.list[i] : NULL;
        *why = f ? ti_text_format(&ctx->arena, "%s at word %zu, %s: %s",
                                  tc_npu_checks[f->check].name, f->at,
                                  f->operation ? f->operation : "", f->text)
                 : "the verifier objects";
        return WRONG;
    }
    if (how.out && ti_file_write(ctx, how.out, ti_npu_write_npz(&ctx->arena, &made.program)) != TC_OK)
        return OTHER;
    if (!counted(ctx, path, &made.program, why) || !taken_by_linux(ctx, &made.program, why))
        return WRONG;
    tc_tensor *in = tc_new_n(&ctx->arena, tc_tensor, g->n_in + 1);
    uint64_t seed = 1;
    for (size_t i = 0; i < g->n_in; i++) {
        in[i] = ti_tensor_new(&ctx->arena, ti_type_of(g, g->in[i]));
        if (!given(ctx, file, i, in[i])) {
            draw(in[i], &seed);
            name_rows(g, g->in[i], in[i]);
        }
    }
    verdict v = execute(ctx, g, &made.program, in, why);
    const char *cost = v == EQUAL ? figures(ctx, &made.program, &system) : NULL;
    if (cost)
        *why = ti_text_format(&ctx->arena, "%s, %s", cost, took);
    return v;
}

int main(int argc, char **argv)
{
    static const char *const name[] = {"equal", "refused", "WRONG", "not tried", "made"};
    size_t n[VERDICTS] = {0};
    for (int o; (o = getopt(argc, argv, "vceto:")) != -1;) {
        how.loud = how.loud || o == 'v';
        how.news = how.news || o == 'c';
        how.each = how.each || o == 'e';
        how.made = how.made || o == 't';
        how.out = o == 'o' ? optarg : how.out;
    }
    argv += optind - 1;
    argc -= optind - 1;
    if (argc < 3) {
        fprintf(stderr,
                "npu-own [-v] [-c] [-e] [-t] [-o OUT] MACHINE[:MODE][:size][:products] FILE...\n");
        return 2;
    }
    for (int i = 2; i < argc; i++) {
        tc_ctx *ctx = tc_ctx_new();
        const char *why = NULL;
        verdict v = try(ctx, argv[1], argv[i], &why);
        n[v]++;
        if (v == WRONG || (how.loud && v != OTHER))
            printf("%s %s: %s%s%s\n", argv[1], argv[i], name[v], why ? ": " : "", why ? why : "");
        if (v == OTHER && how.loud)
            printf("%s %s: not tried: %s\n", argv[1], argv[i], tc_diagnostics(ctx));
        tc_ctx_free(ctx);
    }
    printf("%s: %zu equal, %zu refused, %zu not tried (floats)\n", argv[1], n[EQUAL], n[REFUSED],
           n[OTHER]);
    printf("%zu operations, %zu of them with settings in a combination that Vela's streams do not have, "
           "%zu with a value that is listed\n",
           how.operations, how.combinations, how.listed);
    printf("Linux's driver warns of %zu in its log (RESIZE), and refuses %zu (REVERSE on U65)\n",
           how.warned, how.reversed);
    printf("%zu passed, %zu failed\n", n[EQUAL], n[WRONG]);
    return n[WRONG] > 0;
}

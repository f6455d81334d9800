/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_write.c -- a .tflite as it is written: what its tables say, where its numbers and its tensors
 * lie, that it reads back and computes what the .pte does; streams that are moved in their scratch;
 * the table of TFLM's operators beside the reader's. */
#include "check.h"

#include <string.h>

#include "npu/program.h"
#include "read/tflite/tflite_program.h"
#include "target/tflm.h"
#include "tosac/tosac.h"
#include "wire/file.h"

static tc_compiled *compiled(tc_ctx *ctx, const char *target, const char *cpu)
{
    static const char *const file[] = {TOSAC_FIXTURES "/digits/calib.npz"};
    tc_compiled *c = NULL;
    tc_model *model = NULL;
    tc_dataset *data = NULL;
    tc_compile_options o = tc_compile_options_default();
    CHECK(tc_model_open(ctx, TOSAC_FIXTURES "/digits/model.pt2", NULL, &model) == TC_OK);
    CHECK(tc_dataset_open(ctx, file, 1, &data) == TC_OK);
    o.target = target;
    o.quant.samples = data;
    o.cpu = &cpu;
    o.n_cpu = cpu != NULL;
    o.no_execute = true;
    CHECK(tc_compile(ctx, model, &o, &c) == TC_OK);
    return c;
}

static tc_bytes made(tc_ctx *ctx, tc_compiled *c, tc_output kind)
{
    size_t n = 0;
    CHECK(tc_compiled_make(ctx, c, kind, &n) == TC_OK && n == 1);
    return tc_compiled_bytes(c, 0);
}

/* ---- the tables ---- */

typedef struct file {
    tc_fb fb;
    tc_fb_table root, graph;
    tc_fb_vector tensors, ops, codes, buffers, metadata;
} file;

static void open_file(file *f, tc_bytes bytes)
{
    ti_fb_init(&f->fb, bytes, TC_TFL_IDENTIFIER);
    f->root = ti_fb_root(&f->fb);
    f->graph = ti_fb_list_table(ti_fb_list(f->root, MODEL_GRAPHS, 4), 0);
    f->tensors = ti_fb_list(f->graph, GRAPH_TENSORS, 4);
    f->ops = ti_fb_list(f->graph, GRAPH_OPERATORS, 4);
    f->codes = ti_fb_list(f->root, MODEL_CODES, 4);
    f->buffers = ti_fb_list(f->root, MODEL_BUFFERS, 4);
    f->metadata = ti_fb_list(f->root, MODEL_METADATA, 4);
}

static bool is_npu(const file *f, tc_fb_table op)
{
    tc_fb_table code = ti_fb_list_table(f->codes, ti_fb_u32(op, OP_CODE, 0));
    return ti_str_is(ti_fb_string(code, CODE_CUSTOM), TC_TFL_ETHOSU) &&
           ti_fb_u8(code, CODE_OLD, 0) == TC_TFL_CUSTOM &&
           ti_fb_u32(code, CODE_NEW, 0) == TC_TFL_CUSTOM;
}

static tc_fb_table tensor_at(const file *f, int64_t i)
{
    return ti_fb_list_table(f->tensors, (size_t)i);
}

static tc_bytes data_of(const file *f, int64_t tensor)
{
    uint32_t b = ti_fb_u32(tensor_at(f, tensor), TENSOR_BUFFER, 0);
    return ti_fb_bytes(ti_fb_list_table(f->buffers, b), BUFFER_DATA);
}

static int32_t offset_of(tc_bytes plan, int64_t tensor)
{
    return (int32_t)ti_le32(plan.data + 12 + 4 * tensor);
}

static int64_t elements(tc_fb_table tensor)
{
    tc_fb_vector shape = ti_fb_list(tensor, TENSOR_SHAPE, 4);
    int64_t n = 1;
    for (size_t i = 0; i < shape.n; i++)
        n *= ti_fb_list_i32(shape, i);
    return n;
}

/* One operator with a stream: options, memories, tensors inside of the scratch. */
static void check_npu(const file *f, tc_fb_table op, tc_bytes plan)
{
    tc_fb_vector in = ti_fb_list(op, OP_INPUTS, 4), out = ti_fb_list(op, OP_OUTPUTS, 4);
    tc_bytes options = ti_fb_bytes(op, OP_CUSTOM), stream = data_of(f, ti_fb_list_i32(in, 0));
    int64_t scratch = ti_fb_list_i32(in, 2), bytes = elements(tensor_at(f, scratch));
    CHECK(options.size == 3 && memcmp(options.data, "\1\4\1", 3) == 0);
    CHECK(in.n >= 5 && out.n >= 1 && ti_fb_list_i32(in, 3) == scratch);
    CHECK(stream.size > 16 && memcmp(stream.data, "COP1", 4) == 0);
    CHECK(elements(tensor_at(f, ti_fb_list_i32(in, 0))) == (int64_t)stream.size);
    CHECK(data_of(f, ti_fb_list_i32(in, 1)).size > 0 && !data_of(f, scratch).size);
    CHECK(offset_of(plan, scratch) == 0 && offset_of(plan, ti_fb_list_i32(in, 0)) == -1);
    for (size_t i = 4; i < in.n; i++)
        CHECK(offset_of(plan, ti_fb_list_i32(in, i)) >= 0 &&
              offset_of(plan, ti_fb_list_i32(in, i)) < bytes);
    for (size_t i = 0; i < out.n; i++)
        CHECK(offset_of(plan, ti_fb_list_i32(out, i)) >= 0 &&
              offset_of(plan, ti_fb_list_i32(out, i)) < bytes);
}

static void check_file(tc_bytes bytes, size_t n_npu)
{
    file f;
    size_t found = 0;
    open_file(&f, bytes);
    CHECK(!f.fb.error && ti_fb_u32(f.root, MODEL_VERSION, 0) == 3);
    CHECK(f.metadata.n == 1);
    tc_fb_table m = ti_fb_list_table(f.metadata, 0);
    CHECK(ti_str_is(ti_fb_string(m, METADATA_NAME), "OfflineMemoryAllocation"));
    tc_bytes plan = ti_fb_bytes(
        ti_fb_list_table(f.buffers, ti_fb_u32(m, METADATA_BUFFER, 0)), BUFFER_DATA);
    CHECK(plan.size == 12 + 4 * f.tensors.n && ti_le32(plan.data) == 0 &&
          ti_le32(plan.data + 4) == 1 && ti_le32(plan.data + 8) == f.tensors.n);
    CHECK(!ti_fb_bytes(ti_fb_list_table(f.buffers, 0), BUFFER_DATA).size);
    for (size_t i = 0; i < f.buffers.n; i++) {
        tc_bytes b = ti_fb_bytes(ti_fb_list_table(f.buffers, i), BUFFER_DATA);
        CHECK(!b.size || (size_t)(b.data - bytes.data) % 16 == 0);
    }
    for (size_t i = 0; i < f.ops.n; i++)
        if (is_npu(&f, ti_fb_list_table(f.ops, i))) {
            check_npu(&f, ti_fb_list_table(f.ops, i), plan);
            found++;
        }
    CHECK(found == n_npu && !f.fb.error);
}

/* ---- what it computes ---- */

static tc_tensor run_on(tc_ctx *ctx, tc_bytes bytes, const float *x)
{
    tc_model *model = NULL;
    tc_program *program = NULL;
    CHECK(tc_model_read(ctx, "made", bytes, NULL, &model) == TC_OK);
    CHECK(tc_program_new(ctx, model, NULL, &program) == TC_OK);
    memcpy(tc_program_input_buffer(program, 0), x, 28 * 28 * sizeof *x);
    CHECK(tc_program_run(program) == TC_OK);
    return tc_program_result(program, 0);
}

static void test_file(const char *target, const char *cpu, size_t n_npu)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_compiled *c = compiled(ctx, target, cpu);
    tc_bytes first = made(ctx, c, TC_OUTPUT_TFLITE), pte = made(ctx, c, TC_OUTPUT_PTE);
    tc_bytes again = made(ctx, c, TC_OUTPUT_TFLITE);
    CHECK(first.size == again.size && memcmp(first.data, again.data, first.size) == 0);
    check_file(first, n_npu);
    float x[28 * 28];
    for (int i = 0; i < 28 * 28; i++)
        x[i] = (float)(i * 37 % 101) / 101;
    tc_tensor a = run_on(ctx, first, x), b = run_on(ctx, pte, x);
    CHECK(a.type && b.type && memcmp(a.data, b.data, 10 * sizeof(float)) == 0);
    tc_ctx_free(ctx);
}

/* Of another target, or of several methods, there is none. */
static void test_refused(void)
{
    tc_ctx *ctx = tc_ctx_new();
    size_t n;
    tc_compiled *c = compiled(ctx, "TOSA-1.0+INT", NULL);
    CHECK(tc_compiled_make(ctx, c, TC_OUTPUT_TFLITE, &n) == TC_USAGE);
    CHECK(strstr(tc_diagnostics(ctx), "--emit tflite is for Ethos-U, Cortex-M and 'cpu', not for "
                                      "'TOSA-1.0+INT'"));
    tc_ctx_free(ctx);
}

/* ---- streams ---- */

static bool same_word(const tc_npu_program *p, size_t at, const tc_npu_program *q, size_t to)
{
    return at < p->words.n && to < q->words.n &&
           memcmp(p->words.data + 4 * at, q->words.data + 4 * to, 4) == 0;
}

/* The same commands stand where it says, and not all of them where they stood when it has other words. */
static void check_moved(const tc_npu_program *p, const tc_npu_program *q, const tc_npu_moved *m)
{
    size_t elsewhere = 0;
    for (size_t i = 0; i < m->n; i++) {
        CHECK(same_word(p, m->from[i], q, m->to[i]));
        elsewhere += m->from[i] != m->to[i];
    }
    CHECK(m->n > 0 && (elsewhere > 0) == (p->words.n != q->words.n));
}

/* A recorded stream further on in its scratch, and back. */
static void test_moved(const char *name)
{
    tc_ctx *ctx = tc_ctx_new();
    const char *path = ti_text_format(&ctx->arena, TOSAC_FIXTURES "/npu/%s_vela.npz", name);
    tc_bytes bytes;
    tc_npu_program p, q, r;
    CHECK(ti_file_read(ctx, path, &bytes) == TC_OK);
    CHECK(ti_npu_read_npz(ctx, path, bytes, &p) == TC_OK);
    q = r = p;
    tc_npu_moved moved;
    CHECK(!ti_npu_move_scratch(&ctx->arena, &r, 0, &moved));
    check_moved(&p, &r, &moved);
    CHECK(!ti_npu_move_scratch(&ctx->arena, &q, 48, &moved));
    check_moved(&p, &q, &moved);
    CHECK(q.scratch == p.scratch + 48 && q.in[0].offset == p.in[0].offset + 48 &&
          q.out[0].offset == p.out[0].offset + 48 && q.words.n == r.words.n);
    CHECK(memcmp(q.words.data, r.words.data, 4 * r.words.n) != 0);
    CHECK(!ti_npu_move_scratch(&ctx->arena, &q, -48, &moved));
    CHECK(q.words.n == r.words.n && memcmp(q.words.data, r.words.data, 4 * r.words.n) == 0);
    tc_ctx_free(ctx);
}

/* ---- the table ---- */

static void test_table(void)
{
    for (const tc_tfl_row *row = tc_tfl_rows; row->name; row++)
        for (size_t i = 0; i < TC_TFLM_COUNT && row->code != TC_TFL_CUSTOM; i++)
            CHECK_ROW(row->name, (strcmp(row->name, tc_tflm_builtins[i].name) == 0) ==
                                     (row->code == tc_tflm_builtins[i].code));
    for (int code = 0; code < TFL_TYPES; code++) {
        tc_dtype dtype = ti_tfl_dtype_of(code);
        CHECK_ROW(ti_tfl_type_name(code),
                  !dtype || ti_tfl_dtype_of(ti_tfl_type_of(dtype)) == dtype);
    }
}

int main(void)
{
    test_file("ethos-u55-128", NULL, 1);
    test_file("ethos-u55-128", "add", 5);
    test_file("ethos-u85-256", "add", 5);
    test_refused();
    test_moved("sum");
    test_table();
    return check_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* data.c -- which array is for which input, samples, exact conversion; files that appear whole or
 * not at all; programs that keep state. */
#include "check.h"
#include "elsewhere.h"

#include "run/exec.h"
#include "read/data.h"
#include "wire/file.h"

#include <stdlib.h>
#include <unistd.h>

static tc_ctx *ctx;
static char folder[] = "/tmp/tosac-unit-XXXXXX";

/* A .npy of 0, 1, 2, ... in the folder; its path. */
static const char *ramp(const char *name, const char *descr, int32_t rank, const int64_t *dim)
{
    tc_buf out;
    ti_buf_init(&out, &ctx->arena);
    ti_npy_header(&out, descr, rank, dim);
    int64_t n = ti_dims_count(rank, dim);
    for (int64_t i = 0; i < n; i++) {
        float f = (float)i;
        double d = (double)i + 0.1;
        if (ti_text_eq(descr, "<f4"))
            ti_buf_put(&out, &f, sizeof f);
        else if (ti_text_eq(descr, "<f8"))
            ti_buf_put(&out, &d, sizeof d);
        else
            ti_buf_put(&out, &i, sizeof i); /* <i8 */
    }
    const char *path = ti_text_format(&ctx->arena, "%s/%s", folder, name);
    CHECK(ti_file_write(ctx, path, (tc_bytes){out.data, out.size}) == TC_OK);
    return path;
}

static tc_graph *program(tc_dtype a, tc_dtype b)
{
    tc_graph *g = ti_graph_new(ti_module_new(ctx, "test"), "main");
    ti_graph_input(g, ti_type_make(ctx, a, 2, (int64_t[]){1, 3}), "x");
    if (b)
        ti_graph_input(g, ti_type_make(ctx, b, 1, (int64_t[]){2}), "h");
    return g;
}

static tc_data *opened(const tc_graph *g, const char *a, const char *b)
{
    tc_data *data;
    return ti_read_data(ctx, g, (const char *[]){a, b}, b ? 2 : 1, &data) == TC_OK ? data : NULL;
}

static void test_samples(void)
{
    tc_graph *g = program(TC_f32, TC_none);
    tc_tensor in = ti_tensor_new(&ctx->arena, ti_type_of(g, g->in[0]));
    const float *v = in.data;
    int64_t extent;
    tc_data *data = opened(g, ramp("one.npy", "<f4", 2, (int64_t[]){1, 3}), NULL);
    CHECK(data && ti_data_samples(data) == 1 && ti_data_join(data, &extent) == TC_JOIN_NONE);
    data = opened(g, ramp("many.npy", "<f4", 2, (int64_t[]){5, 3}), NULL);
    CHECK(data && ti_data_samples(data) == 5 && ti_data_join(data, &extent) == TC_JOIN_FIRST &&
          extent == 1);
    CHECK(data && ti_data_sample(data, 4, &in) == TC_OK && v[0] == 12 && v[2] == 14);
    data = opened(g, ramp("axis.npy", "<f4", 3, (int64_t[]){2, 1, 3}), NULL);
    CHECK(data && ti_data_samples(data) == 2 && ti_data_join(data, &extent) == TC_JOIN_NEW);
    data = opened(g, folder, NULL); /* axis, many, one */
    CHECK(data && ti_data_samples(data) == 8);
    CHECK(data && ti_data_sample(data, 6, &in) == TC_OK && v[0] == 12);
    CHECK(data && ti_data_sample(data, 7, &in) == TC_OK && v[0] == 0);
    CHECK(!opened(g, ramp("bad.npy", "<f4", 2, (int64_t[]){5, 4}), NULL));
    CHECK(!opened(g, ramp("none.npy", "<f4", 3, (int64_t[]){0, 1, 3}), NULL));
}

static void test_inputs(void)
{
    tc_graph *g = program(TC_f32, TC_i32);
    const char *x = ramp("x.npy", "<f4", 2, (int64_t[]){4, 3});
    tc_tensor in[2];
    for (size_t i = 0; i < 2; i++)
        in[i] = ti_tensor_new(&ctx->arena, ti_type_of(g, g->in[i]));
    tc_data *data = opened(g, x, ramp("h.npy", "<i8", 2, (int64_t[]){4, 2}));
    CHECK(data && ti_data_samples(data) == 4 && ti_data_sample(data, 3, in) == TC_OK);
    CHECK(((float *)in[0].data)[0] == 9 && ((int32_t *)in[1].data)[1] == 7);
    data = opened(g, x, ramp("h1.npy", "<i8", 1, (int64_t[]){2}));
    CHECK(data && ti_data_samples(data) == 4 && ti_data_sample(data, 3, in) == TC_OK);
    CHECK(((int32_t *)in[1].data)[1] == 1); /* the same for every sample */
    CHECK(!opened(g, x, ramp("h3.npy", "<i8", 2, (int64_t[]){3, 2})));
    CHECK(!opened(g, x, NULL));
    CHECK(!opened(g, x, x));
    tc_graph *none = ti_graph_new(ti_module_new(ctx, "test"), "main");
    CHECK(ti_read_data(ctx, none, NULL, 0, &data) == TC_OK && ti_data_samples(data) == 1);
    CHECK(ti_read_data(ctx, g, NULL, 0, &data) == TC_USAGE);
}

/* Files of one folder, one for each input: by name where the names are the inputs', else in their
 * order. */
static void test_names(void)
{
    tc_graph *g = program(TC_f32, TC_i32);
    tc_tensor in[2];
    for (size_t i = 0; i < 2; i++)
        in[i] = ti_tensor_new(&ctx->arena, ti_type_of(g, g->in[i]));
    const char *named = ti_text_format(&ctx->arena, "%s/named", folder);
    const char *ordered = ti_text_format(&ctx->arena, "%s/ordered", folder);
    CHECK(ti_folder_make(ctx, named) == TC_OK && ti_folder_make(ctx, ordered) == TC_OK);
    ramp("named/h.npy", "<i8", 2, (int64_t[]){2, 2});
    ramp("named/x.npy", "<f4", 2, (int64_t[]){2, 3});
    ramp("ordered/0.npy", "<f4", 2, (int64_t[]){2, 3});
    ramp("ordered/1.npy", "<i8", 2, (int64_t[]){2, 2});
    tc_data *data = opened(g, named, NULL);
    CHECK(data && ti_data_samples(data) == 2 && ti_data_sample(data, 1, in) == TC_OK);
    CHECK(((float *)in[0].data)[0] == 3 && ((int32_t *)in[1].data)[0] == 2);
    data = opened(g, ordered, NULL);
    CHECK(data && ti_data_samples(data) == 2 && ti_data_sample(data, 0, in) == TC_OK);
    CHECK(((float *)in[0].data)[2] == 2 && ((int32_t *)in[1].data)[1] == 1);
    ramp("ordered/2.npy", "<i8", 2, (int64_t[]){2, 2});
    CHECK(!opened(g, ordered, NULL)); /* three files for two inputs */
}

/* Members arr_0, arr_1, ... are one input's samples, of any shapes; some rows of them are read. */
static void test_rows(void)
{
    const char *path[] = {TOSAC_FIXTURES "/dynamic/pooled/calib.npz"};
    tc_graph *g = ti_graph_new(ti_module_new(ctx, "test"), "main");
    ti_graph_input(g, ti_type_make(ctx, TC_f32, 3, (int64_t[]){1, 2, 4}), "x");
    tc_data_rows rows;
    tc_data *data;
    CHECK(ti_data_rows(ctx, g, path, 1, &rows) == TC_OK && rows.n == 36 && rows.n_in == 1);
    CHECK(rows.array[0]->dim[1] == 64 && rows.array[12]->dim[1] == 2 && rows.array[35]->dim[1] == 8);
    CHECK(ti_read_data(ctx, g, path, 1, &data) == TC_BAD_MODEL); /* 64 are not 2 */
    bool taken[36] = {[12] = true, [13] = true};
    CHECK(ti_read_data_rows(ctx, g, path, 1, taken, &data) == TC_OK && ti_data_samples(data) == 2);
}

static void test_conversion(void)
{
    const char *wide = ramp("f64.npy", "<f8", 2, (int64_t[]){1, 3});
    const char *whole = ramp("i64.npy", "<i8", 2, (int64_t[]){100, 3});
    const char *f32 = ramp("f32.npy", "<f4", 2, (int64_t[]){1, 3});
    struct {
        tc_dtype to;
        const char *from;
        bool opens, reads;
    } row[] = {{TC_f32, wide, true, false}, {TC_f64, f32, true, true},
               {TC_bf16, f32, true, true},  {TC_e4m3, f32, true, true},
               {TC_i8, whole, true, false}, {TC_i16, whole, true, true},
               {TC_u64, whole, true, true}, {TC_f32, whole, false, 0},
               {TC_i8, f32, false, 0},      {TC_bool, whole, false, 0}};
    for (size_t i = 0; i < TC_COUNT(row); i++) {
        tc_graph *g = program(row[i].to, TC_none);
        tc_data *data = opened(g, row[i].from, NULL);
        CHECK((data != NULL) == row[i].opens);
        tc_tensor in = ti_tensor_new(&ctx->arena, ti_type_of(g, g->in[0]));
        CHECK(!data ||
              (ti_data_sample(data, ti_data_samples(data) - 1, &in) == TC_OK) == row[i].reads);
    }
}

static void test_files(void)
{
    const char *path = ti_text_format(&ctx->arena, "%s/whole", folder);
    tc_ctx *other = tc_ctx_new();
    tc_file *file;
    CHECK(ti_file_create(other, path, &file) == TC_OK && ti_file_append(file, "abc", 3) == TC_OK);
    CHECK(access(path, F_OK) != 0);
    tc_ctx_free(other); /* never committed */
    const char **name;
    size_t n = 0;
    CHECK(access(path, F_OK) != 0 && ti_folder_list(ctx, folder, &name, &n) == TC_OK);
    for (size_t i = 0; i < n; i++)
        CHECK(!ti_text_ends(name[i], ".part"));
    tc_bytes back;
    CHECK(ti_file_write(ctx, path, (tc_bytes){(const uint8_t *)"abcd", 4}) == TC_OK);
    CHECK(ti_file_read(ctx, path, &back) == TC_OK && back.size == 4 &&
          memcmp(back.data, "abcd", 4) == 0);
    CHECK(ti_file_read(ctx, folder, &back) != TC_OK);
    CHECK(ti_file_read(ctx, "/nowhere/at/all", &back) != TC_OK);
    CHECK(ti_folder_make(ctx, path) != TC_OK); /* a file is in the way */
    CHECK(ti_folder_make(ctx, ti_text_format(&ctx->arena, "%s/a/b/", folder)) == TC_OK);
}

/* The buffer takes what comes in; the output shows what it held before. */
static void test_state(void)
{
    tc_graph *g = program(TC_f32, TC_none);
    const float start[3] = {7, 8, 9};
    tc_val buffer = ti_graph_const(g, ti_type_of(g, g->in[0]), start, "buffer", NULL);
    ti_graph_output(g, buffer);
    ti_graph_mutate(g, buffer, g->in[0]);
    tc_exec *exec = ti_exec_new(ctx, g->module);
    float x[3] = {1, 2, 3};
    tc_tensor in = {ti_type_of(g, g->in[0]), x}, out;
    CHECK(ti_exec_run(exec, &in, &out) == TC_OK && ((float *)out.data)[0] == 7);
    x[0] = 4;
    CHECK(ti_exec_run(exec, &in, &out) == TC_OK && ((float *)out.data)[0] == 1);
    CHECK(ti_exec_run(exec, &in, &out) == TC_OK && ((float *)out.data)[0] == 4);
    ti_exec_reset(exec);
    CHECK(ti_exec_run(exec, &in, &out) == TC_OK && ((float *)out.data)[0] == 7);
}

static void clean(void)
{
    CHECK(remove_folder(folder));
}

int main(void)
{
    ctx = tc_ctx_new();
    CHECK(mkdtemp(folder) != NULL);
    test_samples();
    test_inputs();
    test_names();
    test_rows();
    test_conversion();
    test_files();
    test_state();
    clean();
    tc_ctx_free(ctx);
    return check_done();
}

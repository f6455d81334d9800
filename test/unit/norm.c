/* SPDX-License-Identifier: Apache-2.0 */
/* norm.c -- norms, softmax and the recurrent operators. */
#include "run_op.h"

static void test_softmax(tc_ctx *ctx)
{
    double e = exp(1);
    tc_tensor x = tensor_of(ctx, TC_f32, DIMS(2, 2), (double[]){1000, 1001, -3, -3});
    tc_attr_axis rows = {1}, columns = {0};
    CHECK(is_near(run_ok(ctx, TC_OP_softmax, &rows, &x, 1),
                  (double[]){1 / (1 + e), e / (1 + e), 0.5, 0.5}, 1e-6));
    CHECK(is_near(run_ok(ctx, TC_OP_log_softmax, &rows, &x, 1),
                  (double[]){-log(1 + e), 1 - log(1 + e), -log(2), -log(2)}, 1e-6));
    CHECK(is_near(run_ok(ctx, TC_OP_softmax, &columns, &x, 1), (double[]){1, 1, 0, 0}, 1e-6));
    tc_tensor masked = tensor_of(ctx, TC_f32, DIMS(2, 2), (double[]){-INFINITY, -INFINITY, NAN, 0});
    tc_tensor y = run_ok(ctx, TC_OP_softmax, &rows, &masked, 1);
    for (int i = 0; i < 4; i++)
        CHECK(isnan(ti_load_f64(y, i)));
    /* Along either axis the same numbers, in every type. */
    static const tc_dtype type[] = {TC_f32, TC_f64, TC_f16, TC_bf16};
    for (size_t k = 0; k < TC_COUNT(type); k++) {
        tc_tensor a = noise(ctx, type[k], DIMS(70, 5), 1);
        tc_attr_perm turn = {INTS(1, 0)};
        tc_tensor b = run_ok(ctx, TC_OP_permute, &turn, &a, 1);
        tc_tensor p = run_ok(ctx, TC_OP_softmax, &columns, &a, 1),
                  q = run_ok(ctx, TC_OP_softmax, &rows, &b, 1);
        CHECK(same_numbers(p, run_ok(ctx, TC_OP_permute, &turn, &q, 1), 1e-6));
    }
    CHECK(has_dims(
        run_ok(ctx, TC_OP_softmax, &rows, (tc_tensor[]){noise(ctx, TC_f32, DIMS(2, 0), 1)}, 1),
        DIMS(2, 0)));
    tc_tensor out;
    CHECK(run_op(ctx, TC_OP_softmax, &rows, (tc_tensor[]){noise(ctx, TC_i64, DIMS(2, 2), 1)}, 1,
                 &out, 1) == TC_BAD_MODEL);
}

static void test_norms(tc_ctx *ctx)
{
    tc_tensor none = {NULL, NULL};
    tc_tensor x = tensor_of(ctx, TC_f32, DIMS(1, 2, 2), (double[]){1, 3, 10, 30});
    tc_tensor w = tensor_of(ctx, TC_f32, DIMS(2), (double[]){2, 3}),
              b = tensor_of(ctx, TC_f32, DIMS(2), (double[]){1, -1});
    tc_tensor mean = tensor_of(ctx, TC_f32, DIMS(2), (double[]){1, 20}),
              var = tensor_of(ctx, TC_f32, DIMS(2), (double[]){3, 24});
    tc_attr_eps one = {1};
    CHECK(is_near(run_ok(ctx, TC_OP_batch_norm, &one, (tc_tensor[]){x, w, b, mean, var}, 5),
                  (double[]){1, 3, -7, 5}, 1e-6));
    CHECK(is_near(run_ok(ctx, TC_OP_batch_norm, &one, (tc_tensor[]){x, none, none, mean, var}, 5),
                  (double[]){0, 1, -2, 2}, 1e-6));
    tc_attr_layer_norm last = {1, 0};
    CHECK(is_near(run_ok(ctx, TC_OP_layer_norm, &last, (tc_tensor[]){x, none, none}, 3),
                  (double[]){-1, 1, -1, 1}, 1e-6));
    CHECK(is_near(run_ok(ctx, TC_OP_layer_norm, &last, (tc_tensor[]){x, w, b}, 3),
                  (double[]){-1, 2, -1, 2}, 1e-6));
    tc_attr_group_norm two = {2, 0};
    CHECK(is_near(run_ok(ctx, TC_OP_group_norm, &two, (tc_tensor[]){x, w, b}, 3),
                  (double[]){-1, 3, -4, 2}, 1e-6));
    double rms = sqrt(5);
    CHECK(is_near(run_ok(ctx, TC_OP_rms_norm, &last, (tc_tensor[]){x, w}, 2),
                  (double[]){2 / rms, 9 / rms, 2 / rms, 9 / rms}, 1e-6));
    /* Squares beyond f32: their root is infinite, the row zero. */
    tc_tensor far = tensor_of(ctx, TC_f32, DIMS(2, 2), (double[]){3e19, -1, 1e15, -1e15});
    CHECK(is_near(run_ok(ctx, TC_OP_rms_norm, &last, (tc_tensor[]){far, none}, 2),
                  (double[]){0, 0, 1, -1}, 1e-6));
    /* One group is a layer norm over everything behind the batch. */
    tc_tensor big = noise(ctx, TC_f64, DIMS(2, 4, 9), 5);
    tc_attr_group_norm single = {1, 1e-3};
    tc_attr_layer_norm two_axes = {2, 1e-3};
    CHECK(same_numbers(run_ok(ctx, TC_OP_group_norm, &single, (tc_tensor[]){big, none, none}, 3),
                       run_ok(ctx, TC_OP_layer_norm, &two_axes, (tc_tensor[]){big, none, none}, 3),
                       1e-12));
    /* A group of one number has nothing but its bias. */
    tc_attr_group_norm own = {2, 1e-5};
    tc_tensor pair = tensor_of(ctx, TC_f32, DIMS(1, 2), (double[]){0.1, 1e6});
    CHECK(is_near(run_ok(ctx, TC_OP_group_norm, &own, (tc_tensor[]){pair, w, b}, 3),
                  (double[]){1, -1}, 0));
    tc_attr_group_norm three = {3, 0};
    tc_tensor out;
    CHECK(run_op(ctx, TC_OP_group_norm, &three, (tc_tensor[]){x, w, b}, 3, &out, 1) ==
          TC_BAD_MODEL);
    CHECK(strstr(tc_diagnostics(ctx), "2 channels do not fall into 3 groups"));
}

/* A gate whose weights are all zero: sigmoid 1/2, tanh 0. */
static void test_cells(tc_ctx *ctx)
{
    tc_tensor x = noise(ctx, TC_f32, DIMS(3), 1),
              h = tensor_of(ctx, TC_f32, DIMS(2), (double[]){4, -2});
    double zero[32] = {0};
    tc_tensor out[2], none = {NULL, NULL};
    tc_tensor lstm[] = {x,
                        h,
                        h,
                        tensor_of(ctx, TC_f32, DIMS(8, 3), zero),
                        tensor_of(ctx, TC_f32, DIMS(8, 2), zero),
                        none,
                        none};
    CHECK(run_op(ctx, TC_OP_lstm_cell, NULL, lstm, 7, out, 2) == TC_OK);
    CHECK(is_near(out[1], (double[]){2, -1}, 1e-6) &&
          is_near(out[0], (double[]){0.5 * tanh(2), -0.5 * tanh(1)}, 1e-6));
    tc_tensor gru[] = {x,
                       h,
                       tensor_of(ctx, TC_f32, DIMS(6, 3), zero),
                       tensor_of(ctx, TC_f32, DIMS(6, 2), zero),
                       none,
                       none};
    CHECK(is_near(run_ok(ctx, TC_OP_gru_cell, NULL, gru, 6), (double[]){2, -1}, 1e-6));
    double turn[] = {0, 1, 1, 0};
    tc_tensor plain[] = {x,
                         h,
                         tensor_of(ctx, TC_f32, DIMS(2, 3), zero),
                         tensor_of(ctx, TC_f32, DIMS(2, 2), turn),
                         none,
                         none};
    CHECK(is_near(run_ok(ctx, TC_OP_rnn_relu_cell, NULL, plain, 6), (double[]){0, 4}, 1e-6));
    CHECK(is_near(run_ok(ctx, TC_OP_rnn_tanh_cell, NULL, plain, 6), (double[]){tanh(-2), tanh(4)},
                  1e-6));
    gru[2] = plain[2];
    CHECK(run_op(ctx, TC_OP_gru_cell, NULL, gru, 6, out, 1) == TC_BAD_MODEL);
}

/* A layer is its cell step by step; backwards it is the cell on the steps in reverse. */
static void test_layers(tc_ctx *ctx, tc_op layer, tc_op cell, int64_t gates, bool batch_first)
{
    enum { STEPS = 3, BATCH = 2, IN = 4, HIDDEN = 5 };
    int states = layer == TC_OP_lstm ? 2 : 1;
    const int64_t *dim =
        batch_first ? (int64_t[]){BATCH, STEPS, IN} : (int64_t[]){STEPS, BATCH, IN};
    tc_tensor in[11] = {noise(ctx, TC_f32, 3, dim, 1)}, out[3];
    for (int i = 1; i <= states; i++)
        in[i] = noise(ctx, TC_f32, DIMS(2, BATCH, HIDDEN), (uint32_t)i);
    for (int d = 0; d < 2; d++) {
        tc_tensor *w = in + 1 + states + 4 * d;
        w[0] = noise(ctx, TC_f32, DIMS(gates * HIDDEN, IN), 10);
        w[1] = noise(ctx, TC_f32, DIMS(gates * HIDDEN, HIDDEN), 11);
        w[2] = noise(ctx, TC_f32, DIMS(gates * HIDDEN), 12);
        w[3] = noise(ctx, TC_f32, DIMS(gates * HIDDEN), 13);
    }
    tc_attr_rnn a = {1, true, batch_first, true, false};
    CHECK(run_op(ctx, layer, &a, in, 9 + states, out, 1 + states) == TC_OK);
    for (int d = 0; d < 2; d++) {
        tc_tensor now[7], next[2], x = {ti_type_make(ctx, TC_f32, DIMS(BATCH, IN)), NULL};
        for (int i = 0; i < states; i++)
            now[1 + i] = (tc_tensor){ti_type_make(ctx, TC_f32, DIMS(BATCH, HIDDEN)),
                                     (float *)in[1 + i].data + d * BATCH * HIDDEN};
        memcpy(now + 1 + states, in + 1 + states + 4 * d, 4 * sizeof *now);
        for (int i = 0; i < STEPS; i++) {
            int t = d ? STEPS - 1 - i : i;
            x.data = ti_arena_raw(&ctx->arena, BATCH * IN * sizeof(float));
            for (int n = 0; n < BATCH; n++)
                for (int k = 0; k < IN; k++)
                    ti_store_f64(
                        x, n * IN + k,
                        ti_load_f64(in[0],
                                    ((batch_first ? n * STEPS + t : t * BATCH + n)) * IN + k));
            now[0] = x;
            CHECK(run_op(ctx, cell, NULL, now, 5 + states, next, states) == TC_OK);
            memcpy(now + 1, next, (size_t)states * sizeof *now);
            for (int n = 0; n < BATCH; n++)
                for (int k = 0; k < HIDDEN; k++) {
                    int64_t row = batch_first ? n * STEPS + t : t * BATCH + n;
                    double made = ti_load_f64(out[0], row * 2 * HIDDEN + d * HIDDEN + k);
                    CHECK(fabs(made - ti_load_f64(next[0], n * HIDDEN + k)) < 1e-6);
                }
        }
        for (int i = 0; i < states; i++) {
            tc_tensor last = {next[i].type, (float *)out[1 + i].data + d * BATCH * HIDDEN};
            CHECK(same_numbers(next[i], last, 1e-6));
        }
    }
}

/* A projection that shows the first units of h: as a layer without one, in which h's other units
 * have no weights.  What it shows is then what that one gives. */
static void test_projection(tc_ctx *ctx, bool bias)
{
    enum { STEPS = 4, BATCH = 2, IN = 3, HIDDEN = 5, SHOWN = 2, GATES = 4 * HIDDEN };
    double shows[SHOWN * HIDDEN] = {0};
    for (int i = 0; i < SHOWN; i++)
        shows[i * HIDDEN + i] = 1;
    tc_tensor short_h = noise(ctx, TC_f32, DIMS(1, BATCH, SHOWN), 2),
              short_w = noise(ctx, TC_f32, DIMS(GATES, SHOWN), 5),
              h = noise(ctx, TC_f32, DIMS(1, BATCH, HIDDEN), 9),
              w = tensor_of(ctx, TC_f32, DIMS(GATES, HIDDEN), (double[GATES * HIDDEN]){0});
    for (int i = 0; i < SHOWN; i++) {
        for (int n = 0; n < BATCH; n++)
            ti_store_f64(h, n * HIDDEN + i, ti_load_f64(short_h, n * SHOWN + i));
        for (int n = 0; n < GATES; n++)
            ti_store_f64(w, n * HIDDEN + i, ti_load_f64(short_w, n * SHOWN + i));
    }
    tc_tensor in[8] = {noise(ctx, TC_f32, DIMS(STEPS, BATCH, IN), 1), h,
                       noise(ctx, TC_f32, DIMS(1, BATCH, HIDDEN), 3),
                       noise(ctx, TC_f32, DIMS(GATES, IN), 4), w},
              plain[3], out[3];
    int n = 5;
    for (int i = 0; bias && i < 2; i++)
        in[n++] = noise(ctx, TC_f32, DIMS(GATES), 6 + (uint32_t)i);
    tc_attr_rnn a = {1, false, false, bias, false};
    CHECK(run_op(ctx, TC_OP_lstm, &a, in, n, plain, 3) == TC_OK);
    in[1] = short_h;
    in[4] = short_w;
    in[n] = tensor_of(ctx, TC_f32, DIMS(SHOWN, HIDDEN), shows);
    CHECK(run_op(ctx, TC_OP_lstm, &a, in, n + 1, out, 3) == TC_OK);
    CHECK(same_numbers(out[2], plain[2], 1e-6));
    for (int i = 0; i < STEPS * BATCH; i++)
        for (int k = 0; k < SHOWN; k++)
            CHECK(fabs(ti_load_f64(out[0], i * SHOWN + k) -
                       ti_load_f64(plain[0], i * HIDDEN + k)) < 1e-6);
    in[n] = short_w; /* of another shape */
    CHECK(run_op(ctx, TC_OP_lstm, &a, in, n + 1, out, 3) == TC_BAD_MODEL);
}

int main(void)
{
    tc_ctx *ctx = tc_ctx_new();
    test_softmax(ctx);
    test_norms(ctx);
    test_cells(ctx);
    test_layers(ctx, TC_OP_lstm, TC_OP_lstm_cell, 4, false);
    test_layers(ctx, TC_OP_lstm, TC_OP_lstm_cell, 4, true);
    test_layers(ctx, TC_OP_gru, TC_OP_gru_cell, 3, true);
    test_layers(ctx, TC_OP_rnn_tanh, TC_OP_rnn_tanh_cell, 1, false);
    test_layers(ctx, TC_OP_rnn_relu, TC_OP_rnn_relu_cell, 1, false);
    test_projection(ctx, false);
    test_projection(ctx, true);
    tc_ctx_free(ctx);
    return check_done();
}

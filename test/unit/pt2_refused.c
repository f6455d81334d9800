/* SPDX-License-Identifier: Apache-2.0 */
/* pt2_refused.c -- single nodes of exported programs whose arguments make no sense, or ask for what
 * is not supported: each is turned down with words that say what.
 *
 * Arguments are written "name=value": x, i and so on are tensors, [1,2] lists of integers, {x,i}
 * lists of tensors, 'text' text, 1.0 floats, true a bool. */
#include "check.h"

#include <ctype.h>

#include "read/read.h"
#include "zipped.h"

/* Tensors that every program takes: their element types as torch.export numbers them. */
static const struct {
    const char *name, *dtype, *sizes;
} tensor[] = {
    {"x", "7", "2,3"},     {"i", "5", "2"},     {"v", "7", "4"},
    {"z", "7", "1,2,4,4"}, {"b", "12", "2,3"},  {"s", "7", ""},
    {"c", "10", "3"},      {"t", "7", "2,2,3"}, {"m", "12", "1,2,2,3"},
};
enum { TENSORS = (int)TC_COUNT(tensor) };

static void put_sizes(tc_buf *out, const char *sizes)
{
    ti_buf_text(out, "[");
    for (const char *p = sizes; *p; p += strcspn(p, ",") + (p[strcspn(p, ",")] == ','))
        ti_buf_printf(out, "%s{'as_int':%.*s}", p == sizes ? "" : ",", (int)strcspn(p, ","), p);
    ti_buf_text(out, "]");
}

static void put_value(tc_buf *out, const char *v, size_t n)
{
    if (v[0] == '[')
        ti_buf_printf(out, "'as_ints':%.*s", (int)n, v);
    else if (v[0] == '{') {
        ti_buf_text(out, "'as_tensors':[");
        for (const char *p = v + 1; *p != '}'; p++)
            if (*p != ',')
                ti_buf_printf(out, "%s{'name':'%c'}", p == v + 1 ? "" : ",", *p);
        ti_buf_text(out, "]");
    } else if (v[0] == '\'')
        ti_buf_printf(out, "'as_string':%.*s", (int)n, v);
    else if (v[0] == 't' && n == 4)
        ti_buf_text(out, "'as_bool':true");
    else if (n == 1 && isalpha((unsigned char)*v))
        ti_buf_printf(out, "'as_tensor':{'name':'%c'}", *v);
    else
        ti_buf_printf(out, memchr(v, '.', n) ? "'as_float':%.*s" : "'as_int':%.*s", (int)n, v);
}

/* "self=x dim=1": words between spaces. */
static void put_arguments(tc_buf *out, const char *args)
{
    for (const char *p = args; *p;) {
        size_t name = strcspn(p, "="), all = strcspn(p, " ");
        ti_buf_printf(out, "%s{'name':'%.*s','arg':{", p == args ? "" : ",", (int)name, p);
        put_value(out, p + name + 1, all - name - 1);
        ti_buf_text(out, "}}");
        p += all + (p[all] == ' ');
    }
}

static tc_bytes archive(tc_ctx *ctx, const char *target, const char *args, const char *dtype,
                        const char *sizes)
{
    tc_buf p;
    ti_buf_init(&p, &ctx->arena);
    ti_buf_text(&p, "{'graph_module':{'graph':{'inputs':[");
    for (int k = 0; k < TENSORS; k++)
        ti_buf_printf(&p, "%s{'as_tensor':{'name':'%s'}}", k ? "," : "", tensor[k].name);
    ti_buf_printf(&p,
                  "],'outputs':[{'as_tensor':{'name':'y'}}],'nodes':[{'target':'torch.ops.aten.%s',"
                  "'inputs':[",
                  target);
    put_arguments(&p, args);
    ti_buf_text(&p, "],'outputs':[{'as_tensor':{'name':'y'}}],'metadata':{},'name':'y'}],"
                    "'tensor_values':{");
    for (int k = 0; k < TENSORS; k++) {
        ti_buf_printf(&p, "'%s':{'dtype':%s,'sizes':", tensor[k].name, tensor[k].dtype);
        put_sizes(&p, tensor[k].sizes);
        ti_buf_text(&p, ",'layout':7},");
    }
    ti_buf_printf(&p, "'y':{'dtype':%s,'sizes':", dtype);
    put_sizes(&p, sizes);
    ti_buf_text(&p, ",'layout':7}}},'signature':{'input_specs':[");
    for (int k = 0; k < TENSORS; k++)
        ti_buf_printf(&p, "%s{'user_input':{'arg':{'as_tensor':{'name':'%s'}}}}", k ? "," : "",
                      tensor[k].name);
    ti_buf_text(&p, "],'output_specs':[{'user_output':{'arg':{'as_tensor':{'name':'y'}}}}]}},"
                    "'schema_version':{'major':8,'minor':20},'torch_version':'2.13.0'}");
    return zipped_program(&ctx->arena, (char *)(uintptr_t)ti_buf_cstr(&p));
}

typedef struct row {
    const char *target, *args, *words;
    const char *dtype, *sizes; /* of the result */
} row;
#define ROW(target, args, words)                                                                   \
    {                                                                                              \
        target, args, words, "7", "2,3"                                                            \
    }
#define OF(target, args, words, dtype, sizes)                                                      \
    {                                                                                              \
        target, args, words, dtype, sizes                                                          \
    }

static bool refused(const row *r)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_module *module = NULL;
    tc_bytes file = archive(ctx, r->target, r->args, r->dtype, r->sizes);
    tc_status status = ti_read_pt2(ctx, "m.pt2", file, &module);
    bool good = (status == TC_BAD_MODEL || status == TC_UNSUPPORTED) &&
                strstr(tc_diagnostics(ctx), r->words);
    if (!good)
        fprintf(stderr, "%s(%s): expected \"%s\", got %d: %s\n", r->target, r->args, r->words,
                (int)status, tc_diagnostics(ctx));
    tc_ctx_free(ctx);
    return good;
}

#define HUGE_AXIS "1099511627776"

static const row rows[] = {
    /* joining, padding, diagonals, strides */
    ROW("cat.default", "tensors={}", "there is nothing to concatenate"),
    ROW("pad.default", "self=x pad=[1,1] mode='odd'", "a padding mode that is not known"),
    ROW("diag_embed.default", "self=s", "a diagonal of this rank or length"),
    ROW("diag_embed.default", "self=v offset=9000", "a diagonal of this rank or length"),
    ROW("unfold.default", "self=x dimension=5 size=1 step=1", "axis 5 of a tensor of rank 2"),
    /* windows */
    ROW("conv2d.default", "input=z weight=x", "no axis to slide along"),
    ROW("conv2d.default", "input=z weight=z stride=[1,1,1]", "neither one number nor one per axis"),
    ROW("conv2d.padding", "input=z weight=z padding='odd'", "neither 'same' nor 'valid'"),
    ROW("conv2d.padding", "input=z weight=z padding='same' stride=[2,2]", "'same' needs stride 1"),
    ROW("conv2d.padding", "input=z weight=z padding='same' dilation=[-1,1]",
        "dilation is out of range"),
    ROW("avg_pool2d.default", "self=z kernel_size=[2,2] divisor_override=0", "the divisor is zero"),
    ROW("upsample_nearest2d.vec", "input=x output_size=[2,2]",
        "another rank than the operator resamples"),
    ROW("upsample_nearest2d.vec", "input=z", "sizes or factors are missing"),
    ROW("_upsample_bilinear2d_aa.default", "self=z output_size=[2,0]", "an extent is out of range"),
    ROW("_upsample_bicubic2d_aa.default", "self=z output_size=[2," HUGE_AXIS "]",
        "an extent is out of range"),
    ROW("_upsample_bicubic2d_aa.default", "self=m output_size=[2,2]",
        "resample floats and round them"),
    ROW("_upsample_lanczos2d_aa.default", "self=x output_size=[2,2]",
        "another rank than the operator resamples"),
    ROW("grid_sampler.default", "input=z grid=z interpolation_mode=9", "'interpolation_mode' is 9"),
    ROW("affine_grid_generator.default", "theta=t size=[1,2]", "a size of four or five numbers"),
    ROW("affine_grid_generator.default", "theta=t size=[2,1," HUGE_AXIS ",2]",
        "the size is out of range"),
    /* norms and recurrent layers */
    ROW("batch_norm.default", "input=v training=true", "the input has no channels"),
    ROW("batch_norm.default", "input=x running_mean=v running_var=v training=true",
        "export the model in eval mode"),
    ROW("instance_norm.default", "input=v", "has no axis 1"),
    ROW("layer_norm.default", "input=x normalized_shape=[7]", "not that of the input's last axes"),
    ROW("lstm.input", "input=t hx={t,t} params={x,x,v,v} train=true dropout=0.5",
        "dropout is for training"),
    ROW("lstm.input", "input=t hx={t,t} params={x,x,v,v,x,x} has_biases=true",
        "has 9 operands, expected 7"),
    ROW("lstm.data", "data=x", "packed sequences are not supported"),
    ROW("lstm_cell.default", "input=x hx={x} w_ih=x w_hh=x", "'hx' has 1 tensor"),
    /* products */
    ROW("addbmm.default", "self=x batch1=x batch2=t", "the batches must have rank 3"),
    ROW("outer.default", "self=x vec2=v", "a vector is expected"),
    ROW("linalg_multi_dot.default", "tensors={}", "the list of matrices is empty"),
    ROW("tensordot.default", "self=x other=x dims_self=[0,1] dims_other=[0]",
        "lists of axes have different lengths"),
    ROW("cdist.default", "x1=v x2=v", "operands of rank 2 or more"),
    ROW("scaled_dot_product_attention.default", "query=t key=t value=t dropout_p=0.5",
        "dropout is for training"),
    /* picking */
    ROW("index.Tensor", "self=x indices={b}", "gives a result of unknown size"),
    ROW("index.Tensor", "self=x indices={i,i,i,i,i,i,i,i,i}",
        "more indices than a tensor has axes"),
    ROW("index_put.default", "self=x indices={m} values=s",
        "the mask has more axes than the tensor"),
    ROW("index_put.default", "self=x indices={i,i,i,i,i,i,i,i,i} values=v",
        "more indices than a tensor has axes"),
    ROW("repeat_interleave.self_Tensor", "self=x repeats=i dim=0", "repeats that are not constant"),
    ROW("take_along_dim.default", "self=x indices=i dim=1", "another rank than the tensor"),
    ROW("scatter_reduce.two", "self=x dim=0 index=i src=x reduce='odd'",
        "'reduce' is 'odd'; known are sum, prod, mean"),
    ROW("diagonal_scatter.default", "self=x src=x", "the source is not a diagonal"),
    ROW("embedding_bag.default", "weight=v indices=i offsets=i",
        "bags of other than a list of rows"),
    ROW("bernoulli.default", "self=x", "random numbers differ from run to run"),
    /* making */
    ROW("arange.default", "end=6", "inferred is f32[2]"),
    OF("logspace.default", "start=0 end=3 steps=4", "powers rounded to integers", "5", "4"),
    OF("tril_indices.default", "row=99999 col=2", "a matrix of this size", "5", "2,3"),
    OF("fft_fft.default", "self=c norm='odd'", "a norm that is not known", "10", "3"),
    OF("fft_fft.default", "self=c n=[0]", "a transform of this length", "10", "3"),
    OF("fft_fftn.default", "self=c s=[3,3] dim=[0]", "not equally many", "10", "3"),
    OF("_fft_c2c.default", "self=c dim=[0] normalization=7 forward=true",
       "a normalization that is not known", "10", "3"),
    ROW("hann_window.default", "window_length=9", "not a list of floats of the window's length"),
    OF("stft.default", "self=v n_fft=4 hop_length=0", "frames of this length", "10", "3,1"),
    OF("stft.default", "self=v n_fft=9", "shorter than a frame", "10", "3,1"),
    OF("stft.center", "self=v n_fft=4 center=true", "centered frames inside the operator", "10",
       "3,1"),
    ROW("istft.default", "self=x n_fft=4", "other than complex frames to real signals"),
    /* moving */
    ROW("meshgrid.default", "tensors={v,v}", "[4,1] cannot be expanded to [2,3]"),
    ROW("permute.default", "self=x dims=[0]", "not as long as the tensor's rank"),
    ROW("mT.default", "self=v", "a matrix has two axes or more"),
    ROW("movedim.intlist", "self=x source=[0,1] destination=[0]", "not equally many axes"),
    ROW("narrow.default", "self=x dim=1 start=2 length=2", "the part reaches past the axis"),
    /* the rest */
    ROW("linalg_norm.default", "self=x ord=3.0", "a norm that is made of singular values"),
    ROW("gelu.default", "self=x approximate='odd'", "'approximate' is 'odd'; known are none, tanh"),
    ROW("rrelu.default", "self=x training=true", "its slopes are random in training"),
    ROW("div.Tensor_mode", "self=x other=x rounding_mode='odd'", "'rounding_mode' is 'odd'; known are trunc, floor"),
    ROW("dropout.default", "input=x p=0.5 train=true", "random in training"),
    ROW("histc.default", "self=x bins=0 min=0.0 max=1.0", "there are no bins"),
    /* arguments of another kind, or none */
    ROW("relu.default", "self=7", "argument 'self' of"),
    ROW("relu.default", "other=x", "is missing or not a tensor"),
    ROW("conv2d.default", "input=z weight=z bias=7", "not a tensor"),
    ROW("add.Tensor", "self=x other='odd'", "argument 'other' of"),
    ROW("cat.default", "tensors=7", "not a list of tensors"),
    ROW("select.int", "self=x dim='odd' index=0", "not an integer"),
    ROW("narrow.default", "self=x dim=1 start=0", "not an integer"),
    ROW("permute.default", "self=x dims='odd'", "not a list of numbers"),
    ROW("pad.default", "self=x pad=[1,1] mode=3", "not text"),
    ROW("sum.dim_IntList", "self=x dim=[1] dtype='odd'", "not an element type"),
    ROW("leaky_relu.default", "self=x negative_slope='odd'", "argument 'negative_slope'"),
    ROW("relu.default", "self=q", "uses 'q'"),
    ROW("relu_to_the_moon.default", "self=x", "relu_to_the_moon"),
};

int main(void)
{
    static check_state state[TC_COUNT(rows)]; /* a case each */
    for (size_t k = 0; k < TC_COUNT(rows); k++)
        check_once(&state[k], refused(&rows[k]), __FILE__, __LINE__, rows[k].target);
    return check_done();
}

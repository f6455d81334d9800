/* SPDX-License-Identifier: Apache-2.0 */
/* shader.c -- compute shaders in SPIR-V: every kind of instruction by small programs, what is refused,
 * loops without an end, and modules that are broken in every word. */
#include "spirv_text.h"

#include <math.h>

#include "num/kernels.h"
#include "num/half.h"
#include "shader/shader.h"

/* Two tensors of one axis: x in, y out, of a type that the case names %t; one invocation an element. */
static const char head[] = "OpCapability 1\n"
                           "%glsl = OpExtInstImport \"GLSL.std.450\"\n"
                           "OpMemoryModel 0 1\n"
                           "OpEntryPoint 5 %main \"main\" %gid %x %y\n"
                           "OpExecutionMode %main 17 2 1 1\n"
                           "OpDecorate %gid 11 28\n"
                           "OpDecorate %x 34 0\n"
                           "OpDecorate %x 33 0\n"
                           "OpDecorate %y 34 0\n"
                           "OpDecorate %y 33 1\n"
                           "%void = OpTypeVoid\n"
                           "%bool = OpTypeBool\n"
                           "%i8 = OpTypeInt 8 1\n"
                           "%i16 = OpTypeInt 16 1\n"
                           "%u32 = OpTypeInt 32 0\n"
                           "%i32 = OpTypeInt 32 1\n"
                           "%i64 = OpTypeInt 64 1\n"
                           "%f16 = OpTypeFloat 16\n"
                           "%f32 = OpTypeFloat 32\n"
                           "%f64 = OpTypeFloat 64\n"
                           "%bf16 = OpTypeFloat 16 0\n"
                           "%fn = OpTypeFunction %void\n"
                           "%f32x2 = OpTypeVector %f32 2\n"
                           "%f32x3 = OpTypeVector %f32 3\n"
                           "%f32x4 = OpTypeVector %f32 4\n"
                           "%u32x3 = OpTypeVector %u32 3\n"
                           "%i32x2 = OpTypeVector %i32 2\n"
                           "%pgid = OpTypePointer 1 %u32x3\n"
                           "%gid = OpVariable %pgid 1\n"
                           "%u0 = OpConstant %u32 0\n"
                           "%u1 = OpConstant %u32 1\n"
                           "%u2 = OpConstant %u32 2\n"
                           "%u3 = OpConstant %u32 3\n"
                           "%u4 = OpConstant %u32 4\n"
                           "%i0 = OpConstant %i32 0\n"
                           "%i1 = OpConstant %i32 1\n"
                           "%i3 = OpConstant %i32 3\n"
                           "%f0 = OpConstant %f32 0.\n"
                           "%f1 = OpConstant %f32 1.\n"
                           "%f2 = OpConstant %f32 2.\n"
                           "%half = OpConstant %f32 0.5\n";
/* %in: the element; %out is to be made. */
static const char begin[] = "%ten = OpTypeTensorARM %t %u1\n"
                            "%pten = OpTypePointer 0 %ten\n"
                            "%x = OpVariable %pten 0\n"
                            "%y = OpVariable %pten 0\n"
                            "%place = OpTypeArray %u32 %u1\n"
                            "%main = OpFunction %void 0 %fn\n"
                            "%entry = OpLabel\n";
static const char fetch[] = "%g = OpLoad %u32x3 %gid\n"
                            "%gx = OpCompositeExtract %u32 %g 0\n"
                            "%at = OpCompositeConstruct %place %gx\n"
                            "%xt = OpLoad %ten %x\n"
                            "%yt = OpLoad %ten %y\n"
                            "%in = OpTensorReadARM %t %xt %at\n";
static const char finish[] = "OpTensorWriteARM %yt %at %out\n"
                             "OpReturn\n"
                             "OpFunctionEnd\n";

typedef struct {
    tc_dtype dtype;
    int64_t n;
    const void *in;
    void *out;
} tensors;

/* The kernel, on tensors of n elements; what it says. */
static const char *run(tc_ctx *ctx, tc_bytes code, const tensors *t)
{
    static const int64_t zeros[2] = {0, 0}, bindings[2] = {0, 1};
    static const int64_t kinds[2] = {1000460000, 1000460000}, formats[2] = {100, 100};
    const int64_t groups[3] = {(t->n + 1) / 2, 1, 1};
    const tc_type *type = ti_type_make(ctx, t->dtype, 1, &t->n);
    tc_attr_tosa_shader a = {.name = "",
                             .entry_point = "main",
                             .language = TC_shader_code_spirv,
                             .dispatch = {3, groups},
                             .set = {2, zeros},
                             .binding = {2, bindings},
                             .descriptor = {2, kinds},
                             .format = {2, formats},
                             .code = code};
    tc_tensor in = {type, (void *)(uintptr_t)t->in}, out = {type, t->out};
    tc_call call = {&a, 1, 1, &in, &out, &ctx->scratch, NULL};
    ti_num_tosa_shader(&call);
    return call.error;
}

static tc_bytes module_of(tc_ctx *ctx, const char *type, const char *globals, const char *body)
{
    /* %t is the type itself: the text says it by its name. */
    const char *piece[] = {head, globals, begin, fetch, body, finish, NULL};
    for (size_t i = 0; piece[i]; i++) {
        tc_buf out;
        ti_buf_init(&out, &ctx->arena);
        for (const char *p = piece[i]; *p; p++)
            if (p[0] == '%' && p[1] == 't' && (p[2] == ' ' || p[2] == '\n')) {
                ti_buf_text(&out, type);
                p++;
            } else
                ti_buf_u8(&out, (uint8_t)*p);
        piece[i] = ti_buf_cstr(&out);
    }
    return spirv_text(&ctx->arena, piece);
}

/* One real number by a piece of code. */
static const struct {
    const char *what, *globals, *body;
    float in[4], out[4];
} reals[] = {
    {"arithmetic", "",
     "%a = OpFAdd %f32 %in %f2\n%b = OpFMul %f32 %a %half\n%c = OpFSub %f32 %b %f1\n"
     "%d = OpFDiv %f32 %c %f2\n%out = OpFNegate %f32 %d\n",
     {1, -3, 0, 8}, {-0.25f, 0.75f, -0.0f, -2}},
    {"remainders", "", "%a = OpFMod %f32 %in %f2\n%b = OpFRem %f32 %in %f2\n%out = OpFAdd %f32 %a %b\n",
     {3, -3, 5.5f, -0.5f}, {2, 0, 3, 1}},
    {"extended", "",
     "%a = OpExtInst %f32 %glsl FAbs %in\n%b = OpExtInst %f32 %glsl Sqrt %a\n"
     "%c = OpExtInst %f32 %glsl Floor %b\n%out = OpExtInst %f32 %glsl FClamp %c %f1 %f2\n",
     {-4, 0, 100, 1}, {2, 1, 2, 1}},
    {"mix, step, fma", "",
     "%a = OpExtInst %f32 %glsl FMix %in %f2 %half\n%b = OpExtInst %f32 %glsl Step %f1 %in\n"
     "%out = OpExtInst %f32 %glsl Fma %a %f2 %b\n",
     {0, 1, 2, -1}, {2, 4, 5, 1}},
    {"vectors", "",
     "%v = OpCompositeConstruct %f32x2 %in %f1\n%w = OpCompositeConstruct %f32x3 %v %f2\n"
     "%s = OpVectorShuffle %f32x2 %w %w 2 0\n%d = OpDot %f32 %s %s\n"
     "%l = OpExtInst %f32 %glsl Length %s\n%q = OpFMul %f32 %l %l\n%m = OpVectorTimesScalar %f32x3 %w %f2\n"
     "%z = OpCompositeExtract %f32 %m 1\n%n = OpCompositeInsert %f32x3 %in %m 1\n"
     "%k = OpCompositeExtract %f32 %n 1\n%e = OpVectorExtractDynamic %f32 %n %u2\n"
     "%a = OpFAdd %f32 %d %z\n%b = OpFAdd %f32 %a %k\n%out = OpFAdd %f32 %b %e\n",
     {0, 1, 2, -2}, {10, 12, 16, 12}},
    {"matrices", "%mat = OpTypeMatrix %f32x2 2\n",
     "%p = OpCompositeConstruct %f32x2 %in %f1\n%q = OpCompositeConstruct %f32x2 %f2 %half\n"
     "%m = OpCompositeConstruct %mat %p %q\n%mm = OpMatrixTimesMatrix %mat %m %m\n"
     "%tr = OpTranspose %mat %mm\n%v = OpMatrixTimesVector %f32x2 %tr %p\n"
     "%w = OpVectorTimesMatrix %f32x2 %v %m\n%out = OpCompositeExtract %f32 %w 0\n",
     /* m = [x 2; 1 .5]; m m = [xx+2 2x+1; x+.5 2.25] */
     {0, 1, 2, -1}, {2.25f, 9.75f, 41.25f, 6.75f}},
    {"comparison and choice", "",
     "%a = OpFOrdLessThan %bool %in %f1\n%b = OpIsNan %bool %in\n%c = OpLogicalNot %bool %b\n"
     "%d = OpLogicalAnd %bool %a %c\n%out = OpSelect %f32 %d %f2 %half\n",
     {0, 1, NAN, -1}, {2, 0.5f, 0.5f, 2}},
    {"a branch and a phi", "",
     "%a = OpFOrdLessThan %bool %in %f1\nOpSelectionMerge %join 0\n"
     "OpBranchConditional %a %yes %no\n%yes = OpLabel\n%p = OpFAdd %f32 %in %f2\nOpBranch %join\n"
     "%no = OpLabel\n%q = OpFMul %f32 %in %f2\nOpBranch %join\n%join = OpLabel\n"
     "%out = OpPhi %f32 %p %yes %q %no\n",
     {0, 1, 3, -1}, {2, 2, 6, 1}},
    {"a loop whose phis swap", "",
     "OpBranch %loop\n%loop = OpLabel\n%i = OpPhi %u32 %u0 %entry %i2 %loop\n"
     "%a = OpPhi %f32 %in %entry %b %loop\n%b = OpPhi %f32 %f1 %entry %a %loop\n"
     "%i2 = OpIAdd %u32 %i %u1\n%c = OpULessThan %bool %i2 %u4\nOpLoopMerge %done %loop 0\n"
     "OpBranchConditional %c %loop %done\n%done = OpLabel\n%out = OpCopyObject %f32 %a\n",
     {5, 6, 7, 8}, {1, 1, 1, 1}},
    {"a switch", "",
     "OpSelectionMerge %join 0\nOpSwitch %gx %other 0 %zero 2 %two\n%zero = OpLabel\nOpBranch %join\n"
     "%two = OpLabel\nOpBranch %join\n%other = OpLabel\nOpBranch %join\n%join = OpLabel\n"
     "%out = OpPhi %f32 %f1 %zero %f2 %two %in %other\n",
     {9, 9, 9, 9}, {1, 9, 2, 9}},
    {"an array, by an index", "%arr = OpTypeArray %f32 %u4\n%parr = OpTypePointer 7 %arr\n"
                              "%pf = OpTypePointer 7 %f32\n",
     "%var = OpVariable %parr 7\n%k = OpAccessChain %pf %var %gx\nOpStore %k %in\n"
     "%k3 = OpAccessChain %pf %var %u3\nOpStore %k3 %f2\n%v = OpLoad %f32 %k\n"
     "%w = OpLoad %f32 %k3\n%out = OpFAdd %f32 %v %w\n",
     {1, 2, 3, 4}, {3, 4, 5, 4}},
    {"a variable of the module", "%ppf = OpTypePointer 6 %f32\n%pv = OpVariable %ppf 6 %half\n",
     "%v = OpLoad %f32 %pv\n%out = OpFAdd %f32 %v %in\nOpStore %pv %f2\n", {1, 2, 3, 4},
     {1.5f, 2.5f, 3.5f, 4.5f}},
    {"constants that are computed", "%s = OpSpecConstant %u32 3\n%c = OpSpecConstantOp %u32 128 %s %u1\n"
                                    "%n = OpConstantNull %f32x2\n%cc = OpConstantComposite %f32x2 %half %f2\n",
     "%k = OpConvertUToF %f32 %c\n%z = OpCompositeExtract %f32 %n 1\n%h = OpCompositeExtract %f32 %cc 0\n"
     "%a = OpFAdd %f32 %in %k\n%b = OpFAdd %f32 %a %z\n%out = OpFAdd %f32 %b %h\n",
     {1, 2, 3, 4}, {5.5f, 6.5f, 7.5f, 8.5f}},
    {"bits", "%f16x2 = OpTypeVector %f16 2\n",
     "%a = OpBitcast %u32 %in\n%b = OpBitcast %f16x2 %a\n%c = OpBitcast %u32 %b\n%d = OpBitcast %f32 %c\n"
     "%v = OpCompositeConstruct %f32x2 %d %d\n%p = OpExtInst %u32 %glsl PackHalf2x16 %v\n"
     "%w = OpExtInst %f32x2 %glsl UnpackHalf2x16 %p\n%out = OpCompositeExtract %f32 %w 1\n",
     {1, -2.5f, 0.25f, 1024}, {1, -2.5f, 0.25f, 1024}},
    {"narrow and wide floats", "%h1 = OpConstant %f16 0x3c00\n",
     "%h = OpFConvert %f16 %in\n%a = OpFAdd %f16 %h %h1\n%d = OpFConvert %f64 %a\n%e = OpFMul %f64 %d %d\n"
     "%b = OpFConvert %bf16 %e\n%out = OpFConvert %f32 %b\n",
     {1, 2, 0.0004f, 2048}, {4, 9, 1, 4194304}}, /* 2049 is 2048 in f16 */
};

/* One integer of 32 bits. */
static const struct {
    const char *what, *globals, *body;
    int32_t in[4], out[4];
} wholes[] = {
    /* Work groups are of two: each takes the other's number. */
    {"shared memory and barriers", "%pair = OpTypeArray %i32 %u2\n%ppair = OpTypePointer 4 %pair\n%pone = OpTypePointer 4 %i32\n%s = OpVariable %ppair 4\n",
     "%li = OpBitwiseAnd %u32 %gx %u1\n%lo = OpBitwiseXor %u32 %li %u1\n%a = OpAccessChain %pone %s %li\n%b = OpAccessChain %pone %s %lo\n"
     "OpStore %a %in\nOpControlBarrier %u2 %u2 %u0\n%v = OpLoad %i32 %b\nOpControlBarrier %u2 %u2 %u0\nOpStore %a %v\n"
     "OpControlBarrier %u2 %u2 %u0\n%w = OpLoad %i32 %b\n%ten10 = OpIMul %i32 %v %i3\n%out = OpIAdd %i32 %ten10 %w\n",
     {1, 20, -5, 7}, {61, 23, 16, -8}},
    {"atomics on shared memory", "%pone = OpTypePointer 4 %i32\n%sum = OpVariable %pone 4\n%low = OpVariable %pone 4\n%any = OpVariable %pone 4\n"
     "%i8x = OpConstant %i32 8\n",
     "%o1 = OpAtomicIAdd %i32 %sum %u2 %u0 %in\n%o2 = OpAtomicSMin %i32 %low %u2 %u0 %in\n%o3 = OpAtomicOr %i32 %any %u2 %u0 %in\n"
     "OpControlBarrier %u2 %u2 %u0\n%r1 = OpAtomicLoad %i32 %sum %u2 %u0\n%r2 = OpAtomicLoad %i32 %low %u2 %u0\n%r3 = OpAtomicLoad %i32 %any %u2 %u0\n"
     "%q = OpShiftLeftLogical %i32 %r3 %u4\n%t1 = OpIAdd %i32 %r1 %r2\n%out = OpIAdd %i32 %t1 %q\n",
     {1, 2, -3, 4}, {51, 51, -50, -50}},
    {"atomics, the other ones", "%pone = OpTypePointer 4 %i32\n%s = OpVariable %pone 4\n%i9 = OpConstant %i32 9\n",
     "OpAtomicStore %s %u2 %u0 %in\n%a = OpAtomicIIncrement %i32 %s %u2 %u0\n%b = OpAtomicISub %i32 %s %u2 %u0 %i3\n%c = OpAtomicIDecrement %i32 %s %u2 %u0\n"
     "%d = OpAtomicSMax %i32 %s %u2 %u0 %i1\n%e = OpAtomicXor %i32 %s %u2 %u0 %i3\n%f = OpAtomicAnd %i32 %s %u2 %u0 %i9\n"
     "%h = OpAtomicExchange %i32 %s %u2 %u0 %i9\n%k = OpAtomicCompareExchange %i32 %s %u2 %u0 %u0 %i1 %i9\n%m = OpAtomicUMin %i32 %s %u2 %u0 %in\n"
     "%n = OpAtomicUMax %i32 %s %u2 %u0 %i0\n%x1 = OpIAdd %i32 %b %d\n%x2 = OpIAdd %i32 %e %f\n%x3 = OpIAdd %i32 %h %k\n%x4 = OpIAdd %i32 %m %n\n"
     "%x5 = OpIAdd %i32 %x1 %x2\n%x6 = OpIAdd %i32 %x3 %x4\n%out = OpIAdd %i32 %x5 %x6\n",
     {10, 3, 0, 4}, {40, 18, 11, 20}},
    {"arithmetic", "",
     "%a = OpIMul %i32 %in %i3\n%b = OpISub %i32 %a %i1\n%c = OpSDiv %i32 %b %i3\n%d = OpSRem %i32 %b %i3\n"
     "%e = OpSMod %i32 %b %i3\n%f = OpIAdd %i32 %c %d\n%out = OpIAdd %i32 %f %e\n",
     {1, 0, -2, 5}, {4, 1, -1, 8}},
    {"shifts and bits", "%iffs = OpConstant %i32 255\n",
     "%a = OpShiftLeftLogical %i32 %in %u4\n%b = OpShiftRightArithmetic %i32 %in %u1\n"
     "%c = OpShiftRightLogical %i32 %in %u4\n%d = OpBitwiseXor %i32 %a %b\n%e = OpBitwiseAnd %i32 %c %iffs\n"
     "%f = OpBitwiseOr %i32 %d %e\n%n = OpNot %i32 %f\n%g = OpBitCount %i32 %in\n%out = OpIAdd %i32 %n %g\n",
     {1, 0, -2, 256}, {-16, -1, -225, -4240}},
    {"fields", "",
     "%a = OpBitFieldSExtract %i32 %in %u1 %u3\n%b = OpBitFieldUExtract %i32 %in %u1 %u3\n"
     "%c = OpBitFieldInsert %i32 %a %b %u4 %u4\n%out = OpBitReverse %i32 %c\n",
     {0, 14, -1, 2}, {0, (int32_t)0xfeffffff, (int32_t)0xfeffffff, (int32_t)0x88000000}},
    {"widths", "",
     "%n = OpSConvert %i8 %in\n%m = OpIMul %i8 %n %n\n%w = OpSConvert %i64 %m\n%v = OpIMul %i64 %w %w\n"
     "%out = OpSConvert %i32 %v\n",
     {3, -5, 16, 12}, {81, 625, 0, 12544}}, /* 144 is -112 in 8 bits */
    {"from and to floats", "",
     "%a = OpConvertSToF %f32 %in\n%b = OpFMul %f32 %a %half\n%out = OpConvertFToS %i32 %b\n",
     {5, -5, 2147483647, -7}, {2, -2, 1073741824, -3}},
    {"extended", "",
     "%a = OpExtInst %i32 %glsl SAbs %in\n%b = OpExtInst %i32 %glsl FindUMsb %a\n"
     "%c = OpExtInst %i32 %glsl SMax %b %i1\n%d = OpExtInst %i32 %glsl SSign %in\n%out = OpIMul %i32 %c %d\n",
     {8, -9, 0, 1}, {3, -3, 0, 1}},
    {"two results", "%two = OpTypeStruct %i32 %i32\n",
     "%a = OpUMulExtended %two %in %in\n%h = OpCompositeExtract %i32 %a 1\n%b = OpSMulExtended %two %in %in\n"
     "%k = OpCompositeExtract %i32 %b 1\n%c = OpIAddCarry %two %in %in\n%l = OpCompositeExtract %i32 %c 1\n"
     "%d = OpIAdd %i32 %h %k\n%out = OpIAdd %i32 %d %l\n",
     {65536, -1, 5, -65536}, {2, -1, 0, -131069}},
};

static void test_programs(void)
{
    for (size_t i = 0; i < TC_COUNT(reals); i++) {
        tc_ctx *ctx = tc_ctx_new();
        float out[4];
        tc_bytes code = module_of(ctx, "%f32", reals[i].globals, reals[i].body);
        const char *error = run(ctx, code, &(tensors){TC_f32, 4, reals[i].in, out});
        CHECK_ROW(error ? error : reals[i].what, !error);
        for (int k = 0; k < 4 && !error; k++)
            CHECK_ROW(ti_text_format(&ctx->arena, "%s: %g is %g, not %g", reals[i].what,
                                     (double)reals[i].in[k], (double)out[k], (double)reals[i].out[k]),
                      out[k] == reals[i].out[k]);
        tc_ctx_free(ctx);
    }
    for (size_t i = 0; i < TC_COUNT(wholes); i++) {
        tc_ctx *ctx = tc_ctx_new();
        int32_t out[4];
        tc_bytes code = module_of(ctx, "%i32", wholes[i].globals, wholes[i].body);
        const char *error = run(ctx, code, &(tensors){TC_i32, 4, wholes[i].in, out});
        CHECK_ROW(error ? error : wholes[i].what, !error);
        for (int k = 0; k < 4 && !error; k++)
            CHECK_ROW(ti_text_format(&ctx->arena, "%s: %d is %d, not %d", wholes[i].what,
                                     wholes[i].in[k], out[k], wholes[i].out[k]),
                      out[k] == wholes[i].out[k]);
        tc_ctx_free(ctx);
    }
}

/* What is refused, and by which name. */
static const struct {
    const char *globals, *body, *words;
} refused[] = {
    {"", "%li = OpBitwiseAnd %u32 %gx %u1\n%one = OpIEqual %bool %li %u1\nOpSelectionMerge %join 0\nOpBranchConditional %one %yes %join\n"
         "%yes = OpLabel\nOpControlBarrier %u2 %u2 %u0\nOpBranch %join\n%join = OpLabel\n%out = OpCopyObject %f32 %in\n",
     "end where others wait at a barrier"},
    {"%shared = OpTypePointer 4 %f32\n%s = OpVariable %shared 4\n", "%out = OpAtomicIAdd %f32 %s %u2 %u0 %in\n",
     "an atomic instruction is not on whole numbers"},
    {"%shared = OpTypePointer 5 %f32\n%s = OpVariable %shared 5\n", "%out = OpCopyObject %f32 %in\n",
     "storage class 5"},
    {"", "%out = OpExtInst %f32 %glsl Determinant %in\n", "Determinant"},
    {"", "%out = OpFAdd %f32 %in %u1\n", "not of one type"},
    {"", "%out = OpFAdd %f32 %in %nothing\n", "not a value"},
    {"", "%o2 = OpIAdd %f32 %in %in\n%out = OpCopyObject %f32 %o2\n", "OpIAdd has operands"},
    {"", "OpTensorWriteARM %xt %at %in\n%out = OpCopyObject %f32 %in\n", "an operand is written"},
    {"%pl = OpConstant %u32 9\n", "%far = OpCompositeConstruct %place %pl\n%out = OpTensorReadARM %f32 %xt %far\n",
     "outside of its extents"},
    {"", "OpBranch %again\n%again = OpLabel\nOpLoopMerge %never %again 0\nOpBranch %again\n%never = OpLabel\n"
         "%out = OpCopyObject %f32 %in\n",
     "too many steps"},
    {"%i8b = OpTypeInt 24 0\n", "%out = OpCopyObject %f32 %in\n", "24 bits"},
};

static void test_refused(void)
{
    for (size_t i = 0; i < TC_COUNT(refused); i++) {
        tc_ctx *ctx = tc_ctx_new();
        float in[2] = {1, 2}, out[2];
        tc_bytes code = module_of(ctx, "%f32", refused[i].globals, refused[i].body);
        const char *error = run(ctx, code, &(tensors){TC_f32, 2, in, out});
        CHECK_ROW(error ? error : refused[i].words, error && strstr(error, refused[i].words));
        tc_ctx_free(ctx);
    }
}

/* Attributes of one port each in and out. */
static tc_attr_tosa_shader one_each(tc_ctx *ctx, tc_bytes code, int64_t descriptor_in,
                                    int64_t format_in, int64_t descriptor_out, int64_t format_out,
                                    int64_t groups)
{
    int64_t *v = tc_new_n(&ctx->arena, int64_t, 11);
    const int64_t all[11] = {0, 0, 0, 1, descriptor_in, descriptor_out, format_in, format_out, groups, 1, 1};
    memcpy(v, all, sizeof all);
    return (tc_attr_tosa_shader){.name = "", .entry_point = "main", .language = TC_shader_code_spirv,
                                 .set = {2, v}, .binding = {2, v + 2}, .descriptor = {2, v + 4},
                                 .format = {2, v + 6}, .dispatch = {3, v + 8}, .code = code};
}

static void test_endless(void)
{
    tc_ctx *ctx = tc_ctx_new();
    float in[2] = {1, 2}, out[2];
    int64_t n = 2;
    tc_tensor value[2] = {{ti_type_make(ctx, TC_f32, 1, &n), in}, {ti_type_make(ctx, TC_f32, 1, &n), out}};
    tc_bytes code = module_of(ctx, "%f32", refused[8].globals, refused[8].body);
    tc_attr_tosa_shader a = one_each(ctx, code, 1000460000, 100, 1000460000, 100, 1);
    tc_sh_interface interface;
    tc_sh_program program;
    tc_sh_reader r;
    CHECK(!ti_shader_interface(&ctx->arena, &a, value, 1, value + 1, 1, &interface));
    ti_shader_declarations(&r, &ctx->arena, code, "main", &interface, &program);
    ti_shader_program(&r);
    CHECK(!r.error);
    const char *error = ti_shader_run(&program, &interface, &ctx->arena, 1000);
    CHECK(error && strstr(error, refused[8].words));
    tc_ctx_free(ctx);
}

/* A function that is called twice, one that writes through a pointer, and a buffer with a struct. */
static const char buffers[] =
    "OpCapability 1\nOpMemoryModel 0 1\nOpEntryPoint 5 %main \"main\" %x %y %p %gid\n"
    "OpExecutionMode %main 17 1 1 1\nOpDecorate %gid 11 26\n"
    "OpDecorate %x 34 0\nOpDecorate %x 33 0\nOpDecorate %y 34 0\nOpDecorate %y 33 1\n"
    "OpDecorate %ra 6 16\nOpDecorate %rf 6 4\nOpMemberDecorate %item 0 35 0\nOpMemberDecorate %item 1 35 8\n"
    "OpMemberDecorate %sa 0 35 0\nOpMemberDecorate %sf 0 35 4\nOpMemberDecorate %sp 0 35 4\n"
    "%void = OpTypeVoid\n%u32 = OpTypeInt 32 0\n%f32 = OpTypeFloat 32\n%fn = OpTypeFunction %void\n"
    "%v2 = OpTypeVector %f32 2\n%v3 = OpTypeVector %u32 3\n%item = OpTypeStruct %u32 %v2\n"
    "%ra = OpTypeRuntimeArray %item\n%rf = OpTypeRuntimeArray %f32\n%sa = OpTypeStruct %ra\n%sf = OpTypeStruct %rf\n"
    "%sp = OpTypeStruct %f32\n%psa = OpTypePointer 12 %sa\n%psf = OpTypePointer 12 %sf\n%psp = OpTypePointer 9 %sp\n"
    "%pu = OpTypePointer 12 %u32\n%pv = OpTypePointer 12 %v2\n%pf = OpTypePointer 12 %f32\n%ppf = OpTypePointer 9 %f32\n"
    "%lf = OpTypePointer 7 %f32\n%pi = OpTypePointer 1 %v3\n%gid = OpVariable %pi 1\n"
    "%x = OpVariable %psa 12\n%y = OpVariable %psf 12\n%p = OpVariable %psp 9\n%u0 = OpConstant %u32 0\n%u1 = OpConstant %u32 1\n"
    "%ff = OpTypeFunction %f32 %f32 %f32\n%fp = OpTypeFunction %void %lf %f32\n"
    "%add = OpFunction %f32 0 %ff\n%q1 = OpFunctionParameter %f32\n%q2 = OpFunctionParameter %f32\n%al = OpLabel\n"
    "%sum = OpFAdd %f32 %q1 %q2\nOpReturnValue %sum\nOpFunctionEnd\n"
    "%set = OpFunction %void 0 %fp\n%w1 = OpFunctionParameter %lf\n%w2 = OpFunctionParameter %f32\n%wl = OpLabel\n"
    "OpStore %w1 %w2\nOpReturn\nOpFunctionEnd\n"
    "%main = OpFunction %void 0 %fn\n%ml = OpLabel\n%var = OpVariable %lf 7\n%g = OpLoad %v3 %gid\n%i = OpCompositeExtract %u32 %g 0\n"
    "%a0 = OpAccessChain %pu %x %u0 %i %u0\n%k = OpLoad %u32 %a0\n%a1 = OpAccessChain %pv %x %u0 %i %u1\n%v = OpLoad %v2 %a1\n"
    "%e0 = OpCompositeExtract %f32 %v 0\n%a2 = OpAccessChain %pf %x %u0 %i %u1 %u1\n%e1 = OpLoad %f32 %a2\n"
    "%s1 = OpFunctionCall %f32 %add %e0 %e1\n%ac = OpAccessChain %ppf %p %u0\n%pc = OpLoad %f32 %ac\n"
    "%s2 = OpFunctionCall %f32 %add %s1 %pc\n%c = OpFunctionCall %void %set %var %s2\n%s3 = OpLoad %f32 %var\n"
    "%len = OpArrayLength %u32 %y 0\n%fl = OpConvertUToF %f32 %len\n%s4 = OpFAdd %f32 %s3 %fl\n"
    "%o = OpAccessChain %pf %y %u0 %k\nOpStore %o %s4\nOpReturn\nOpFunctionEnd\n";

static void test_buffers(void)
{
    tc_ctx *ctx = tc_ctx_new();
    struct {
        uint32_t at, unused;
        float v[2];
    } in[2] = {{1, 0, {1, 2}}, {0, 0, {10, 20}}};
    float out[3], push[2] = {0, 0.5f};
    int64_t n_in = 8, n_out = 3;
    tc_tensor x = {ti_type_make(ctx, TC_i32, 1, &n_in), in}, y = {ti_type_make(ctx, TC_f32, 1, &n_out), out};
    const char *piece[] = {buffers, NULL};
    tc_attr_tosa_shader a = one_each(ctx, spirv_text(&ctx->arena, piece), 7, 99, 7, 100, 2);
    a.push = (tc_bytes){(const uint8_t *)push, sizeof push};
    tc_call call = {&a, 1, 1, &x, &y, &ctx->scratch, NULL};
    ti_num_tosa_shader(&call);
    CHECK_ROW(call.error ? call.error : "", !call.error);
    /* The array begins at byte 4 of the twelve: two elements. */
    CHECK(out[0] == 0 && out[1] == 32.5f && out[2] == 5.5f);
    a.push.size = 4;
    call.error = NULL;
    ti_num_tosa_shader(&call);
    CHECK(call.error && strstr(call.error, "push constant"));
    in[0].at = 2;
    a.push.size = 8;
    call.error = NULL;
    ti_num_tosa_shader(&call);
    CHECK(call.error && strstr(call.error, "past its end"));
    tc_ctx_free(ctx);
}

/* An image sampled or read, and an image written. */
static const char images[] =
    "OpCapability 1\nOpMemoryModel 0 1\nOpEntryPoint 5 %main \"main\" %x %y %gid\nOpExecutionMode %main 17 1 1 1\n"
    "OpDecorate %gid 11 28\nOpDecorate %x 34 0\nOpDecorate %x 33 0\nOpDecorate %y 34 0\nOpDecorate %y 33 1\n"
    "%void = OpTypeVoid\n%u32 = OpTypeInt 32 0\n%i32 = OpTypeInt 32 1\n%f32 = OpTypeFloat 32\n%fn = OpTypeFunction %void\n"
    "%v2 = OpTypeVector %f32 2\n%v4 = OpTypeVector %f32 4\n%u3 = OpTypeVector %u32 3\n%i2 = OpTypeVector %i32 2\n"
    "%im = OpTypeImage %f32 1 0 0 0 1 0\n%si = OpTypeSampledImage %im\n%st = OpTypeImage %f32 1 0 0 0 2 4\n"
    "%psi = OpTypePointer 0 %si\n%pst = OpTypePointer 0 %st\n%pi = OpTypePointer 1 %u3\n%gid = OpVariable %pi 1\n"
    "%x = OpVariable %psi 0\n%y = OpVariable %pst 0\n%f0 = OpConstant %f32 0.\n%four = OpConstant %f32 4.\n%half = OpConstant %f32 0.5\n"
    "%i0 = OpConstant %i32 0\n"
    "%main = OpFunction %void 0 %fn\n%l = OpLabel\n%g = OpLoad %u3 %gid\n%gx = OpCompositeExtract %u32 %g 0\n%xt = OpLoad %si %x\n"
    "%yt = OpLoad %st %y\n%fx = OpConvertUToF %f32 %gx\n";
static const char sampled[] = "%u = OpFDiv %f32 %fx %four\n%at = OpCompositeConstruct %v2 %u %half\n"
                              "%c = OpImageSampleExplicitLod %v4 %xt %at 2 %f0\n";
static const char gathered[] = "%u = OpFDiv %f32 %fx %four\n%at = OpCompositeConstruct %v2 %u %half\n"
                               "%c = OpImageGather %v4 %xt %at %i0\n";
static const char fetched[] = "%ix = OpBitcast %i32 %gx\n%at = OpCompositeConstruct %i2 %ix %i0\n%img = OpImage %im %xt\n"
                              "%c = OpImageFetch %v4 %img %at 2 %i0\n%sz = OpImageQuerySizeLod %i2 %img %i0\n";
static const char written[] = "%jx = OpBitcast %i32 %gx\n%to = OpCompositeConstruct %i2 %jx %i0\nOpImageWrite %yt %to %c\n"
                              "OpReturn\nOpFunctionEnd\n";

static const char *image_run(tc_ctx *ctx, const char *body, const int64_t *sampler, const int8_t *in, int8_t *out)
{
    const char *piece[] = {images, body, written, NULL};
    const int64_t dim[4] = {1, 1, 4, 4}, dim_in[4] = {1, 1, 2, 4};
    tc_tensor x = {ti_type_make(ctx, TC_i8, 4, dim_in), (void *)(uintptr_t)in};
    tc_tensor y = {ti_type_make(ctx, TC_i8, 4, dim), out};
    tc_attr_tosa_shader a = one_each(ctx, spirv_text(&ctx->arena, piece), 1, 38, 3, 37, 5);
    a.sampler = (tc_ints){7, sampler};
    tc_call call = {&a, 1, 1, &x, &y, &ctx->scratch, NULL};
    ti_num_tosa_shader(&call);
    return call.error;
}

static void test_images(void)
{
    /* SNORM 127 is 1, 64 is 0.5039; UNORM 255 is 1.  Two pixels, of which the second is zeros. */
    static const int8_t in[8] = {127, 64, -128, 127, 0, 0, 0, 0};
    static const int64_t near[7] = {0, 0, 0, 0, 2, 2, 0}, linear[7] = {0, 0, 1, 1, 2, 2, 0},
                         border[7] = {0, 0, 1, 1, 3, 2, 4}, repeat[7] = {0, 0, 1, 1, 0, 0, 0};
    static const struct {
        const char *body;
        const int64_t *sampler;
        uint8_t red[4]; /* at s = 0, 1/4, 1/2, 3/4 */
    } cases[] = {
        {sampled, near, {255, 255, 0, 0}},
        {sampled, linear, {255, 255, 128, 0}},
        {sampled, border, {255, 255, 128, 0}}, /* at 0: half the border's white and half of it */
        {sampled, repeat, {128, 255, 128, 0}},
        {fetched, near, {255, 0, 0, 0}},
        {gathered, linear, {255, 255, 255, 0}},
    };
    for (size_t i = 0; i < TC_COUNT(cases); i++) {
        tc_ctx *ctx = tc_ctx_new();
        int8_t out[16];
        const char *error = image_run(ctx, cases[i].body, cases[i].sampler, in, out);
        CHECK_ROW(error ? error : "image", !error);
        for (int k = 0; k < 4; k++)
            CHECK_ROW(ti_text_format(&ctx->arena, "case %zu, pixel %d: %d", i, k, (uint8_t)out[4 * k]),
                      (uint8_t)out[4 * k] == cases[i].red[k]);
        tc_ctx_free(ctx);
    }
    tc_ctx *ctx = tc_ctx_new();
    int8_t out[16];
    CHECK(!image_run(ctx, sampled, near, in, out) && (uint8_t)out[1] == 129 && out[2] == 0 && out[3] == -1);
    /* Of the second place: left, right, right, left. */
    CHECK(!image_run(ctx, gathered, linear, in, out) && out[4] == -1 && out[5] == 0 && out[6] == 0 && out[7] == -1);
    tc_ctx_free(ctx);
}

/* Words changed, instructions left out: an answer or a message, always. */
static void test_hostile(void)
{
    tc_ctx *outer = tc_ctx_new();
    tc_bytes good[3];
    const char *piece[] = {buffers, NULL}, *image[] = {images, sampled, written, NULL};
    good[0] = module_of(outer, "%f32", reals[8].globals, reals[8].body);
    good[1] = spirv_text(&outer->arena, piece);
    good[2] = spirv_text(&outer->arena, image);
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < good[k].size / 4; i++) {
            static const uint32_t evil[] = {0, 1, 2, 7, 0x7fffffff, 0xffffffff, 0x10000, 40};
            for (size_t e = 0; e < TC_COUNT(evil); e++) {
                tc_ctx *ctx = tc_ctx_new();
                uint8_t *bad = ti_arena_copy(&ctx->arena, good[k].data, good[k].size);
                for (size_t b = 0; b < 4; b++)
                    bad[4 * i + b] = (uint8_t)(evil[e] >> 8 * b);
                tc_bytes code = {bad, good[k].size - (e == 7 ? good[k].size - 4 * i : 0)};
                float in[8] = {1, 2}, out[8];
                int64_t n = 8;
                tc_tensor x = {ti_type_make(ctx, TC_f32, 1, &n), in}, y = {x.type, out};
                tc_attr_tosa_shader a = one_each(ctx, code, k ? 7 : 1000460000, 100, k ? 7 : 1000460000, 100, 1);
                tc_sh_interface interface;
                tc_sh_program program;
                tc_sh_reader r;
                CHECK(!ti_shader_interface(&ctx->arena, &a, &x, 1, &y, 1, &interface));
                ti_shader_declarations(&r, &ctx->arena, code, "main", &interface, &program);
                if (!r.error)
                    ti_shader_check(&r);
                if (!r.error)
                    ti_shader_program(&r);
                if (!r.error)
                    ti_shader_run(&program, &interface, &ctx->arena, 10000);
                tc_ctx_free(ctx);
            }
        }
    tc_ctx_free(outer);
}

int main(void)
{
    test_programs();
    test_refused();
    test_endless();
    test_buffers();
    test_images();
    test_hostile();
    return check_done();
}

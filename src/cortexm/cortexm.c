/* SPDX-License-Identifier: Apache-2.0 */
/* cortexm.c -- see cortexm.h: functions, then the two files around them. */
#include "c_model.h"

#include <ctype.h>


#define KERNEL(id, file, v6, v7, dsp, mve)                                                         \
    extern const unsigned char tc_c_kernel_##id[];                                                 \
    extern const size_t tc_c_kernel_##id##_size;
#include "kernels.def"

enum { CACHE_LINE = 32 };

/* ---- functions ---- */

tc_status ti_c_refuse(const tc_c_model *m, const tc_node *node, const char *why)
{
    return ti_unsupported(m->ctx, node->loc, TC_E_UNSUPPORTED, "'%s' has no form in C: %s",
                          tc_ops[node->op].name, why);
}

/* What is neither integers nor f32.  Bytes of an Ethos-U's region are only passed. */
static tc_status check_types(const tc_c_model *m, const tc_graph *g)
{
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; i < g->node[k]->n_out; i++) {
            tc_dtype d = ti_type_of(g, g->node[k]->out[i])->dtype;
            bool passed = ti_region_run_by(g->node[k]) && d == TC_u8;
            if (!ti_c_type_word(d) && d != TC_shape && !passed)
                return ti_c_refuse(m, g->node[k],
                                   ti_text_format(&m->ctx->arena,
                                                  "it computes in %s, not in integers of up to 32 bits or f32",
                                                  tc_dtypes[d].name));
        }
    return TC_OK;
}

/* Bytes that a step needs while it runs; graphs that it runs are written first. */
static tc_status find_scratch(tc_c_model *m, const tc_c_graph *cg, tc_c_step *s)
{
    int calls = ti_node_calls(s->node);
    if (ti_c_is_library(s->node)) {
        s->scratch = ti_c_library_scratch(m, s->node);
        return TC_OK;
    }
    if (ti_region_run_by(s->node)) {
        s->scratch = ti_c_npu_of(m, s->node)->scratch;
        return TC_OK;
    }
    if (s->transform) {
        s->scratch = ti_c_transform_scratch(s);
        return TC_OK;
    }
    if (!calls) {
        s->scratch = ti_c_columns(cg, s, m->request->core);
        return TC_OK;
    }
    for (int i = 0; i < calls; i++) {
        const tc_graph *g = ti_node_callee(m->module, s->node, i);
        tc_c_graph *callee;
        if (!g)
            return ti_c_refuse(m, s->node, "a graph that it runs is missing");
        TC_TRY(ti_c_function(m, g, &callee));
        s->scratch = ti_max_i64(s->scratch, callee->arena);
    }
    if (s->node->op != TC_OP_tosa_while_loop)
        return TC_OK;
    s->scratch += TC_C_ALIGN; /* the condition, and the next value of each */
    for (int i = 0; i < s->node->n_out; i++)
        s->scratch +=
            ((int64_t)tc_type_bytes(ti_type_of(cg->g, s->node->out[i])) + TC_C_ALIGN - 1) /
            TC_C_ALIGN * TC_C_ALIGN;
    return TC_OK;
}

/* "const int8_t *input_0, int8_t *output_0" */
static void put_ports(const tc_graph *g, tc_buf *out)
{
    for (size_t i = 0; i < g->n_in; i++)
        ti_buf_printf(out, "%sconst %s *input_%zu", i ? ", " : "",
                      ti_c_type(ti_type_of(g, g->in[i])->dtype), i);
    for (size_t i = 0; i < g->n_out; i++)
        ti_buf_printf(out, "%s%s *output_%zu", i || g->n_in ? ", " : "",
                      ti_c_type(ti_type_of(g, g->out[i])->dtype), i);
}

/* A driver can fail, and so can a library. */
static bool may_fail(const tc_c_model *m) { return m->request->n_npu || m->request->library; }

static const char *result_of(const tc_c_model *m) { return may_fail(m) ? "int" : "void"; }

static void put_head(tc_c_model *m, const tc_c_graph *cg)
{
    const char *name = m->request->name;
    if (cg->number)
        ti_buf_printf(&m->code, "\nstatic void %s_g%zu(", name, cg->number);
    else
        ti_buf_printf(&m->code, "\n%s %s_run_in(", result_of(m), name);
    if (m->n_variable)
        ti_buf_printf(&m->code, "%s_state *state, ", name);
    ti_buf_printf(&m->code, cg->number ? "uint8_t *arena" : "void *memory");
    if (cg->g->n_in + cg->g->n_out)
        ti_buf_text(&m->code, ", ");
    put_ports(cg->g, &m->code);
    ti_buf_printf(&m->code, ")\n{\n%s    (void)arena;\n",
                  cg->number ? "" : "    uint8_t *arena = memory;\n");
    if (m->n_variable)
        ti_buf_text(&m->code, "    (void)state;\n");
    for (size_t i = 0; i < cg->g->n_in; i++)
        ti_buf_printf(&m->code, "    (void)input_%zu;\n", i);
}

tc_status ti_c_function(tc_c_model *m, const tc_graph *g, tc_c_graph **out)
{
    size_t slot = 0;
    while (m->module->graph[slot] != g)
        slot++;
    *out = m->graph[slot];
    if (*out)
        return TC_OK;
    tc_c_graph *cg = tc_new(&m->ctx->arena, tc_c_graph);
    cg->g = g;
    TC_TRY(check_types(m, g));
    ti_c_steps(m->ctx, cg);
    ti_c_roots(m->ctx, cg);
    ti_c_transforms(m->ctx, cg);
    cg->cost = tc_new_n(&m->ctx->arena, tc_c_cost, cg->n_step);
    for (size_t k = 0; k < cg->n_step; k++)
        TC_TRY(find_scratch(m, cg, &cg->step[k]));
    TC_TRY(ti_c_render(m, cg));
    ti_c_places(m, cg);
    cg->number = g == ti_main(m->module) ? 0 : ++m->n_function;
    ti_c_put_functions(m, cg);
    put_head(m, cg);
    TC_TRY(ti_c_put_steps(m, cg));
    ti_buf_text(&m->code, may_fail(m) && !cg->number ? "    return 0;\n}\n" : "}\n");
    *out = m->graph[slot] = cg;
    return TC_OK;
}

/* ---- state ---- */

static void find_variables(tc_c_model *m)
{
    size_t n = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < m->module->n_graph; i++)
            for (size_t k = 0; k < m->module->graph[i]->n_node; k++) {
                const tc_graph *g = m->module->graph[i];
                const tc_node *node = g->node[k];
                if (node->op != TC_OP_tosa_variable)
                    continue;
                if (!pass) {
                    n++;
                    continue;
                }
                const char *name = ((const tc_attr_tosa_variable *)node->attr)->name;
                if (ti_c_variable_of(m, name) < m->n_variable)
                    continue;
                m->variable[m->n_variable++] =
                    (tc_c_variable){name, ti_type_of(g, node->out[0]),
                                    node->n_in ? ti_value_of(g, node->in[0])->data : NULL};
            }
        if (!pass)
            m->variable = tc_new_n(&m->ctx->arena, tc_c_variable, n);
    }
}

static size_t state_bytes(const tc_c_model *m)
{
    size_t bytes = 0;
    for (size_t i = 0; i < m->n_variable; i++)
        bytes += tc_type_bytes(m->variable[i].type);
    return bytes;
}

static void put_start(tc_c_model *m)
{
    if (!m->n_variable)
        return;
    ti_buf_printf(&m->code, "\nvoid %s_start(%s_state *state)\n{\n", m->request->name,
                  m->request->name);
    for (size_t i = 0; i < m->n_variable; i++) {
        const tc_c_variable *v = &m->variable[i];
        if (v->start)
            ti_buf_printf(&m->code, "    memcpy(state->v%zu, %s, sizeof state->v%zu);\n", i,
                          ti_c_array(m, v->type->dtype, v->start, tc_type_count(v->type)), i);
        else
            ti_buf_printf(&m->code, "    memset(state->v%zu, 0, sizeof state->v%zu);\n", i, i);
    }
    ti_buf_text(&m->code, "}\n");
}

/* ---- the header ---- */

static const char *upper(const tc_c_model *m)
{
    char *text = ti_text_format(&m->ctx->arena, "%s", m->request->name);
    for (char *p = text; *p; p++)
        *p = (char)toupper((unsigned char)*p);
    return text;
}

static bool is_used(const tc_graph *g, tc_val v)
{
    bool used = false;
    for (size_t k = 0; k < g->n_node && !used; k++)
        for (int i = 0; i < g->node[k]->n_in; i++)
            used = used || g->node[k]->in[i] == v;
    for (size_t i = 0; i < g->n_out; i++)
        used = used || g->out[i] == v;
    return used;
}

static void put_side(const tc_c_model *m, const tc_graph *g, bool output, tc_buf *out)
{
    const char *side = output ? "OUTPUT" : "INPUT", *prefix = upper(m);
    size_t n = output ? g->n_out : g->n_in;
    ti_buf_printf(out, "\n#define %s_%sS %zu\n", prefix, side, n);
    for (size_t i = 0; i < n; i++) {
        const tc_type *t = ti_type_of(g, output ? g->out[i] : g->in[i]);
        const tc_c_port *port = output ? &m->request->out[i] : &m->request->in[i];
        bool used = output || is_used(g, g->in[i]);
        ti_buf_printf(out, "/* %s%s%s */\n", tc_dtypes[t->dtype].name,
                      ti_dims_text(&m->ctx->arena, t->rank, t->dim),
                      used ? "" : ", not read: the model does not use it");
        ti_buf_printf(out, "#define %s_%s_%zu_NAME \"", prefix, side, i);
        for (const char *p = port->name ? port->name : ""; *p; p++)
            ti_buf_printf(out, *p == '"' || *p == '\\' ? "\\%c" : "%c", *p);
        ti_buf_printf(out, "\"\n#define %s_%s_%zu_ELEMENTS %" PRId64 "\n", prefix, side, i,
                      tc_type_count(t));
        ti_buf_printf(out, "#define %s_%s_%zu_BYTES %zu\n", prefix, side, i, tc_type_bytes(t));
        if (port->quant && port->quant->count == 1) {
            char number[32];
            tc_text_f64(port->quant->scale[0], number);
            ti_buf_printf(out, "#define %s_%s_%zu_SCALE %s\n", prefix, side, i, number);
            ti_buf_printf(out, "#define %s_%s_%zu_ZERO_POINT %" PRId64 "\n", prefix, side, i,
                          port->quant->zero[0]);
        }
    }
}

/* Beside an Ethos-U no line of the core's cache has other bytes than the arena's. */
static int align_of(const tc_c_model *m)
{
    return m->request->n_npu ? CACHE_LINE : TC_C_ALIGN;
}

static int64_t arena_of(const tc_c_model *m, const tc_c_graph *cg)
{
    return (cg->arena + align_of(m) - 1) / align_of(m) * align_of(m);
}

/* What the firmware brings for an Ethos-U. */
static void put_npu(const tc_c_model *m, tc_buf *out)
{
    int64_t fast = 0;
    for (size_t i = 0; i < m->request->n_npu; i++)
        fast = ti_max_i64(fast, m->request->npu[i].fast);
    ti_buf_printf(out,
                  "/* Regions of an Ethos-U, which tosac_npu_run() of tosac_npu.h runs; run() returns "
                  "0, or what\n * that returned.  FAST: memory that its driver has for itself. */\n"
                  "#define %s_NPU_REGIONS %zu\n#define %s_NPU_FAST_BYTES %" PRId64 "\n",
                  upper(m), m->request->n_npu, upper(m), fast);
}

static void put_library(const tc_c_model *m, tc_buf *out)
{
    ti_buf_printf(out,
                  "/* Calls %s as it is built for everybody (without CMSIS_NN_USE_SINGLE_ROUNDING), "
                  "for the same core;\n * run() returns 0, or the status of the function that failed. */\n",
                  m->request->library);
}

static void put_header(const tc_c_model *m, const tc_c_graph *cg, tc_buf *out)
{
    const char *name = m->request->name, *prefix = upper(m);
    ti_buf_printf(out,
                  "/* %s.h -- made by %s: a model in plain C.\n"
                  " *\n"
                  " * %s_run() computes the outputs from the inputs, in memory of its own;\n"
                  " * %s_run_in() in memory of the caller's, %s_ARENA_BYTES on %d bytes.  Where a\n"
                  " * SCALE is given, a code stands for SCALE * (code - ZERO_POINT), and the code of a\n"
                  " * number x is round(x / SCALE) + ZERO_POINT, held inside its type. */\n",
                  m->request->stem, m->request->made_by, name, name, prefix,
                  align_of(m));
    ti_buf_printf(out, "#ifndef %s_H\n#define %s_H\n\n#include <stdint.h>\n\n", prefix, prefix);
    ti_buf_text(out, "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    ti_buf_printf(out, "#define %s_ARENA_BYTES %" PRId64 "\n#define %s_CONSTANT_BYTES %zu\n",
                  prefix, arena_of(m, cg), prefix, m->constant_bytes);
    if (m->request->n_npu)
        put_npu(m, out);
    if (m->request->library)
        put_library(m, out);
    put_side(m, cg->g, false, out);
    put_side(m, cg->g, true, out);
    const char *state = "";
    if (m->n_variable) {
        ti_buf_printf(out, "\n/* What lasts from run to run; %s_start() before the first. */\n"
                           "typedef struct %s_state {\n",
                      name, name);
        for (size_t i = 0; i < m->n_variable; i++)
            ti_buf_printf(out, "    %s v%zu[%" PRId64 "];\n", ti_c_type(m->variable[i].type->dtype),
                          i, tc_type_count(m->variable[i].type));
        ti_buf_printf(out, "} %s_state;\nvoid %s_start(%s_state *state);\n", name, name, name);
        state = ti_text_format(&m->ctx->arena, "%s_state *state, ", name);
    }
    ti_buf_printf(out, "\n%s %s_run(%s", result_of(m), name, state);
    put_ports(cg->g, out);
    ti_buf_printf(out, ");\n%s %s_run_in(%svoid *memory, ", result_of(m), name, state);
    put_ports(cg->g, out);
    ti_buf_text(out, ");\n\n#ifdef __cplusplus\n}\n#endif\n#endif\n");
}

/* ---- the source ---- */

/* The function with a static arena: if unused, the linker drops it. */
static void put_run(tc_c_model *m, const tc_c_graph *cg)
{
    const char *name = m->request->name;
    bool npu = m->request->n_npu;
    ti_buf_printf(&m->code, "\n%s %s_run(", result_of(m), name);
    if (m->n_variable)
        ti_buf_printf(&m->code, "%s_state *state, ", name);
    put_ports(cg->g, &m->code);
    ti_buf_printf(&m->code, ")\n{\n    %sstatic _Alignas(%d) uint8_t arena[%" PRId64 "];\n",
                  npu ? "TOSAC_NPU_ARENA " : "", align_of(m), ti_max_i64(arena_of(m, cg), 1));
    ti_buf_printf(&m->code, "    %s%s_run_in(%sarena", may_fail(m) ? "return " : "", name,
                  m->n_variable ? "state, " : "");
    for (size_t i = 0; i < cg->g->n_in; i++)
        ti_buf_printf(&m->code, ", input_%zu", i);
    for (size_t i = 0; i < cg->g->n_out; i++)
        ti_buf_printf(&m->code, ", output_%zu", i);
    ti_buf_text(&m->code, ");\n}\n");
}

/* The arena of functions depends on the instructions, and so do their arguments. */
static void put_guard(const tc_c_model *m, tc_buf *out)
{
    static const char *const macros[] = {
        [TC_CORE_C] = "defined(ARM_MATH_DSP) || defined(ARM_MATH_MVEI)",
        [TC_CORE_DSP] = "!defined(ARM_MATH_DSP) || defined(ARM_MATH_MVEI)",
        [TC_CORE_MVE] = "!defined(ARM_MATH_MVEI)"};
    ti_buf_printf(out,
                  "\n#if %s\n#error \"%s.c calls CMSIS-NN as it is built for %s\"\n#endif\n"
                  "#ifdef CMSIS_NN_USE_SINGLE_ROUNDING\n#error \"%s.c needs CMSIS-NN's default "
                  "rounding\"\n#endif\n",
                  macros[m->request->core], m->request->stem, m->request->target, m->request->stem);
}

static void put_source(tc_c_model *m, tc_buf *out)
{
    static const char *const isas[] = {[TC_CORE_C] = "TOSAC_ISA_C",
                                       [TC_CORE_DSP] = "TOSAC_ISA_DSP",
                                       [TC_CORE_MVE] = "TOSAC_ISA_MVE"};
    ti_buf_printf(out,
                  "/* %s.c -- made by %s; %s.h says how it is called. */\n"
                  "#include \"%s.h\"\n#include \"%s\"\n",
                  m->request->stem, m->request->made_by, m->request->stem,
                  m->request->stem, "tosac_kernels.h");
    if (m->used[TC_C_NPU])
        ti_buf_text(out, "#include \"tosac_npu.h\"\n");
    if (m->used[TC_C_VECTOR])
        ti_buf_text(out, "#include \"tosac_vector.h\"\n");
    if (m->used[TC_C_FLOAT_LINES])
        ti_buf_text(out, "#include \"tosac_float.h\"\n");
    if (m->request->library) {
        ti_buf_text(out, "#include \"arm_nnfunctions.h\"\n");
        put_guard(m, out);
    }
    ti_buf_printf(
        out,
        "\n#if TOSAC_ISA > %s\n#error \"%s.c has memory for kernels of %s: compile it for "
        "this core, or with -DTOSAC_ISA=%d\"\n#endif\n\n",
        isas[m->request->core], m->request->stem, m->request->target, (int)m->request->core);
    ti_buf_put(out, m->constants.data, m->constants.size);
    ti_buf_put(out, m->code.data, m->code.size);
}

static void list_transforms(const tc_c_model *m, tc_c_source *out)
{
    size_t cap = 0;
    for (size_t i = 0; i < m->module->n_graph; i++)
        for (size_t k = 0; m->graph[i] && k < m->graph[i]->n_step; k++)
            if (m->graph[i]->step[k].transform) {
                tc_grow(&m->ctx->arena, out->transform, out->n_transform, cap);
                out->transform[out->n_transform++] = ti_c_transformed(&m->graph[i]->step[k]);
            }
}

static void add_file(tc_c_source *out, const char *name, tc_bytes bytes)
{
    out->file[out->n_file++] = (tc_c_file){name, bytes};
}

static void add_text(const tc_c_model *m, tc_c_source *out, const char *extension,
                     const tc_buf *text)
{
    add_file(out, ti_text_format(&m->ctx->arena, "%s%s", m->request->stem, extension),
             (tc_bytes){text->data, text->size});
}

tc_status ti_cortexm_write(tc_ctx *ctx, const tc_module *module, const tc_c_request *request,
                           tc_c_source *out)
{
    static const struct {
        const char *name;
        const unsigned char *data;
        const size_t *size;
        size_t code[TC_PACES];
    } kernels[] = {
#define KERNEL(id, file, v6, v7, dsp, mve)                                                         \
    {file, tc_c_kernel_##id, &tc_c_kernel_##id##_size, {v6, v7, dsp, mve}},
#include "kernels.def"
    };
    tc_c_model m = {.ctx = ctx,
                    .module = module,
                    .request = request,
                    .graph = tc_new_n(&ctx->arena, tc_c_graph *, module->n_graph)};
    tc_c_graph *cg;
    tc_buf source, header;
    ti_buf_init(&m.constants, &ctx->arena);
    ti_buf_init(&m.code, &ctx->arena);
    ti_buf_init(&source, &ctx->arena);
    ti_buf_init(&header, &ctx->arena);
    ti_map_init(&m.known, &ctx->arena);
    ti_map_init(&m.form, &ctx->arena);
    ti_map_init(&m.key, &ctx->arena);
    m.used[TC_C_HEADER] = true;
    find_variables(&m);
    TC_TRY(ti_c_function(&m, ti_main(module), &cg));
    put_run(&m, cg);
    put_start(&m);
    put_source(&m, &source);
    put_header(&m, cg, &header);
    *out = (tc_c_source){.file = tc_new_n(&ctx->arena, tc_c_file, TC_C_KERNEL_COUNT + 2),
                         .arena = (size_t)arena_of(&m, cg),
                         .constants = m.constant_bytes,
                         .code = ti_c_code_bytes(&m),
                         .state = state_bytes(&m),
                         .cost = cg->cost,
                         .n_cost = cg->n_step};
    list_transforms(&m, out);
    add_text(&m, out, ".c", &source);
    add_text(&m, out, ".h", &header);
    for (size_t i = 0; i < TC_COUNT(kernels); i++)
        if (m.used[i]) {
            add_file(out, kernels[i].name, (tc_bytes){kernels[i].data, *kernels[i].size});
            out->code += request->machine ? kernels[i].code[request->machine->pace] : 0;
        }
    return TC_OK;
}

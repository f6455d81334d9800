// SPDX-License-Identifier: Apache-2.0
// run.cpp -- a program of any kind, run from C++ on numbers of one's own, again and again.
//
//   run MODEL
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <tosac/tosac.h>

namespace {

struct free_context {
    void operator()(tc_ctx *ctx) const { tc_ctx_free(ctx); }
};
using context = std::unique_ptr<tc_ctx, free_context>;

void must(const context &ctx, tc_status status)
{
    if (status != TC_OK)
        throw std::runtime_error(std::string(tc_status_text(status)) + "\n" +
                                 tc_diagnostics(ctx.get()));
}

void run(const char *path)
{
    context ctx(tc_ctx_new());
    if (!ctx)
        throw std::bad_alloc();
    tc_model *model;
    tc_program *program;
    must(ctx, tc_model_open(ctx.get(), path, nullptr, &model));
    must(ctx, tc_program_new(ctx.get(), model, nullptr, &program));

    std::vector<std::vector<unsigned char>> input(tc_program_input_count(program));
    for (std::size_t i = 0; i < input.size(); i++) {
        tc_port_info port{};
        port.size = sizeof port;
        tc_program_input(program, i, &port);
        input[i].resize(tc_type_bytes(port.type)); // zeros
        must(ctx, tc_program_bind_input(program, i, input[i].data()));
    }
    for (int round = 0; round < 3; round++) {
        must(ctx, tc_program_run(program));
        for (std::size_t i = 0; i < tc_program_output_count(program); i++) {
            tc_tensor out = tc_program_result(program, i);
            double first = 0;
            if (tc_type_count(out.type) > 0)
                tc_tensor_get_f64(&out, 0, 1, &first);
            std::printf("run %d, output %zu: %s, %lld elements, the first is %g\n", round, i,
                        tc_dtype_name(out.type->dtype),
                        static_cast<long long>(tc_type_count(out.type)), first);
        }
    }
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 2) {
        std::fprintf(stderr, "%s MODEL\n", argv[0]);
        return TC_USAGE;
    }
    try {
        run(argv[1]);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return TC_BAD_MODEL;
    }
    return 0;
}

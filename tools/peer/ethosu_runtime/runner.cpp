// SPDX-License-Identifier: Apache-2.0
// runner.cpp -- a .pte in ExecuTorch's own runtime with its own EthosUBackend, whose machine is npu.c.
//
//   runner FILE.pte METHOD FOLDER CALLS [file|mmap]    FOLDER/in_K_I.bin: input I of call K, as its bytes; FOLDER/out_K_I.bin: what comes back
//
// All methods are loaded first, with their memories shared, as the caches of a decoder ask for.  The program lies in memory, as in a board's
// flash; with `file` the runtime reads each segment from the file, with `mmap` it maps each.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <executorch/backends/arm/runtime/EthosUBackend_Internal.h>
#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <executorch/extension/data_loader/file_data_loader.h>
#include <executorch/extension/data_loader/mmap_data_loader.h>
#include <executorch/extension/module/module.h>
#include <executorch/extension/tensor/tensor.h>

#include "npu.h"

using namespace executorch;
using runtime::Error;

// ---- the platform: what EthosUBackend_Cortex_M.cpp is on a board ----

namespace executorch {
namespace backends {
namespace arm {
struct PlatformState {
    int unused;
};

PlatformState *platform_init(runtime::ArrayRef<runtime::CompileSpec>, runtime::MemoryAllocator *)
{
    return new PlatformState{0};
}

void platform_destroy(PlatformState *state)
{
    delete state;
}

Error platform_execute(runtime::BackendExecutionContext &, const ExecutionHandle *, const VelaHandles &h, int n_in,
                       int n_out, runtime::Span<runtime::EValue *> args, char *scratch)
{
    std::printf("EthosU: %zu bytes of commands, %zu of weights, %zu of scratch\n", h.cmd_data_size, h.weight_data_size,
                h.scratch_data_size);
    const char *wrong = npu_run(h.cmd_data, h.cmd_data_size, h.weight_data, h.weight_data_size, scratch, h.scratch_data_size);
    if (wrong) {
        std::printf("EthosU: %s\n", wrong);
        return Error::InvalidProgram;
    }
    for (int i = 0; i < n_out; i++) {
        auto t = args[n_in + i]->toTensor();
        std::memcpy(t.mutable_data_ptr<char>(), scratch + h.outputs->io[i].offset, t.nbytes());
    }
    return Error::Ok;
}
} // namespace arm
} // namespace backends
} // namespace executorch

// ---- calls ----

static std::vector<char> read(const std::string &path)
{
    std::ifstream f(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(f), {}};
}

int main(int argc, char **argv)
{
    if (argc < 5)
        return std::puts("runner FILE.pte METHOD FOLDER CALLS [file|mmap]"), 2;
    std::string method = argv[2], folder = argv[3];
    std::vector<char> program = read(argv[1]);
    char *flash = (char *)std::aligned_alloc(128, (program.size() + 127) / 128 * 128);
    std::memcpy(flash, program.data(), program.size());
    std::unique_ptr<runtime::DataLoader> loader;
    if (argc > 5 && std::string(argv[5]) == "mmap")
        loader = std::make_unique<extension::MmapDataLoader>(std::move(extension::MmapDataLoader::from(argv[1]).get()));
    else if (argc > 5)
        loader = std::make_unique<extension::FileDataLoader>(std::move(extension::FileDataLoader::from(argv[1]).get()));
    else
        loader = std::make_unique<extension::BufferDataLoader>(flash, program.size());
    extension::Module module(std::move(loader), nullptr, nullptr, nullptr, nullptr, true);
    auto names = module.method_names();
    if (!names.ok())
        return std::printf("the program is not loaded: %#x\n", (unsigned)names.error()), 1;
    for (const auto &name : *names) {
        Error e = module.load_method(name);
        if (e != Error::Ok)
            return std::printf("method %s is not loaded: %#x\n", name.c_str(), (unsigned)e), 1;
    }
    auto meta = module.method_meta(method);
    for (int k = 0; k < std::atoi(argv[4]); k++) {
        std::vector<runtime::EValue> in;
        std::vector<std::vector<char>> bytes;
        std::vector<extension::TensorPtr> kept;
        for (size_t i = 0; i < meta->num_inputs(); i++) {
            auto info = meta->input_tensor_meta(i);
            bytes.push_back(read(folder + "/in_" + std::to_string(k) + "_" + std::to_string(i) + ".bin"));
            if (bytes.back().size() != info->nbytes())
                return std::printf("input %zu has %zu bytes, expected %zu\n", i, bytes.back().size(), info->nbytes()), 1;
            kept.push_back(extension::from_blob(bytes.back().data(), std::vector<aten::SizesType>(info->sizes().begin(), info->sizes().end()),
                                                info->scalar_type()));
            in.emplace_back(kept.back());
        }
        auto out = module.execute(method, in);
        if (!out.ok())
            return std::printf("%s fails: %#x\n", argv[2], (unsigned)out.error()), 1;
        for (size_t i = 0; i < out->size(); i++) {
            auto t = (*out)[i].toTensor();
            std::ofstream f(folder + "/out_" + std::to_string(k) + "_" + std::to_string(i) + ".bin", std::ios::binary);
            f.write(t.const_data_ptr<char>(), (std::streamsize)t.nbytes());
        }
    }
    return std::printf("%s: %s calls\n", argv[2], argv[4]), 0;
}

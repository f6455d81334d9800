// SPDX-License-Identifier: Apache-2.0
// runner.cpp -- an ExecuTorch program that tosac wrote with --emit c, once, on a Cortex-M with an
// Ethos-U.
//
// Every pool has the size that the program's header says; nothing comes from a heap.
#include <cstdint>
#include <cstdio>

#include <executorch/extension/data_loader/buffer_data_loader.h>
#include <executorch/runtime/core/memory_allocator.h>
#include <executorch/runtime/executor/memory_manager.h>
#include <executorch/runtime/executor/program.h>
#include <executorch/runtime/platform/runtime.h>

#include "network.h"

using executorch::aten::Tensor;
using executorch::aten::TensorImpl;
using executorch::extension::BufferDataLoader;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::HierarchicalAllocator;
using executorch::runtime::MemoryAllocator;
using executorch::runtime::MemoryManager;
using executorch::runtime::Method;
using executorch::runtime::Program;
using executorch::runtime::Result;
using executorch::runtime::Span;

// Sections as the linker script of the board names them: SRAM for what is computed with.
#define IN_SRAM __attribute__((section(".bss.sram"), aligned(16)))

// A pool of no bytes is an array of one.
static IN_SRAM uint8_t planned[NETWORK_PLANNED_BYTES + 1];
static IN_SRAM uint8_t temporary[NETWORK_TEMPORARY_BYTES + 1];
static uint8_t input_0[NETWORK_INPUT_0_BYTES] __attribute__((aligned(16)));
static uint8_t method_pool[NETWORK_METHOD_BYTES] __attribute__((aligned(16)));

#if NETWORK_NPU_FAST_SCRATCH_BYTES > 0
// The Ethos-U backend takes these where the accelerator has a fast memory of its own (U65, U85).
static IN_SRAM unsigned char fast[NETWORK_NPU_FAST_SCRATCH_BYTES];
extern "C" {
unsigned char *ethosu_fast_scratch = fast;
size_t ethosu_fast_scratch_size = sizeof fast;
}
#endif

static int fail(const char *what, Error error)
{
    std::printf("%s: error %d\n", what, static_cast<int>(error));
    return 1;
}

int main()
{
    executorch::runtime::runtime_init();
    BufferDataLoader loader(network_pte, NETWORK_PTE_BYTES);
    Result<Program> program = Program::load(&loader);
    if (!program.ok())
        return fail("load", program.error());

    MemoryAllocator method_allocator(sizeof method_pool, method_pool);
    MemoryAllocator temporary_allocator(NETWORK_TEMPORARY_BYTES, temporary);
    Span<uint8_t> memories[] = {{planned, NETWORK_PLANNED_BYTES}};
    HierarchicalAllocator planned_memory({memories, 1});
    MemoryManager manager(&method_allocator, &planned_memory, &temporary_allocator);
    Result<Method> method = program->load_method("forward", &manager);
    if (!method.ok())
        return fail("load_method", method.error());

    // What the sensor says goes to the first input; further ones likewise.
    auto about = method->method_meta().input_tensor_meta(0);
    if (!about.ok())
        return fail("input_tensor_meta", about.error());
    auto sizes = about->sizes();
    auto order = about->dim_order();
    TensorImpl impl(about->scalar_type(), static_cast<ssize_t>(sizes.size()),
                    const_cast<TensorImpl::SizesType *>(sizes.data()), input_0,
                    const_cast<TensorImpl::DimOrderType *>(order.data()));
    Error error = method->set_input(EValue(Tensor(&impl)), 0);
    if (error != Error::Ok)
        return fail("set_input", error);
    error = method->execute();
    if (error != Error::Ok)
        return fail("execute", error);
    for (size_t i = 0; i < method->outputs_size(); i++) {
        const EValue &output = method->get_output(i);
        if (output.isTensor())
            std::printf("output %u: %u bytes\n", static_cast<unsigned>(i),
                        static_cast<unsigned>(output.toTensor().nbytes()));
    }
    std::printf("done\n");
    return 0;
}

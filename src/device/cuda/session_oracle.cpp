// Data sets made on the device: inputs drawn, expected values and bounds computed by trusted code and masked in place.

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "device/cuda/session.hpp"
#include "device/cuda/session_layout.hpp"
#include "ir/dtype.hpp"

namespace kerf::cuda {

unsigned Session::blocks_for(std::uint64_t elements) const {
  return static_cast<unsigned>(std::clamp<std::uint64_t>((elements + kThreads - 1) / kThreads, 1, most_blocks_));
}

Status Session::data_draw(std::uint64_t id, std::uint64_t array, const DrawRequest& request) {
  KERF_TRY(const auto* arrays, resident(id));
  if (array >= arrays->size() || request.dtype > static_cast<std::uint64_t>(DType::boolean) ||
      request.count * dtype_size(static_cast<DType>(request.dtype)) != (*arrays)[array].bytes) {
    return fail(Errc::invalid_input, "a draw of another size");
  }
  CUdeviceptr target = (*arrays)[array].data;
  std::uint64_t dtype = request.dtype, count = request.count, seed = request.seed, form = request.form;
  std::uint64_t a = std::bit_cast<std::uint64_t>(request.a), b = std::bit_cast<std::uint64_t>(request.b);
  KERF_TRY_VOID(launch_own(draw_, blocks_for(count), kThreads, {&dtype, &target, &count, &seed, &form, &a, &b}));
  KERF_CUDA(driver_, cuStreamSynchronize, stream_);
  return {};
}

Result<std::vector<std::uint64_t>> Session::data_oracle(const OracleRequest& request) {
  LoadedKernel kernel;
  std::vector<CUdeviceptr> temporary;
  auto done = run_oracle(request, kernel, temporary);
  free_kernel(kernel);
  for (const auto pointer : temporary) (void)driver_.cuMemFree_v2(pointer);
  return done;
}

Result<std::vector<std::uint64_t>> Session::run_oracle(const OracleRequest& request, LoadedKernel& kernel,
                                                       std::vector<CUdeviceptr>& temporary) {
  KERF_TRY(const auto* arrays, resident(request.id));
  const auto outputs = request.outputs.size();
  if (arrays->size() != request.inputs + 2 * outputs) return fail(Errc::invalid_input, "an oracle for another problem");
  std::vector<CUdeviceptr> buffers;
  for (std::uint64_t i = 0; i < request.inputs; ++i) buffers.push_back((*arrays)[i].data);
  // What has 64 bits already is written where it will stay, and masked there.
  for (std::size_t o = 0; o < outputs; ++o) {
    const auto& output = request.outputs[o];
    if (output.dtype > static_cast<std::uint64_t>(DType::boolean) ||
        (*arrays)[expected_array(request.inputs, o)].bytes != output.count * 8 ||
        (*arrays)[bound_array(request.inputs, o)].bytes != output.count * (output.wide_bound ? 8 : 4)) {
      return fail(Errc::invalid_input, "an oracle for another problem");
    }
    const auto size = dtype_size(static_cast<DType>(output.dtype));
    if (size == 8) {
      buffers.push_back((*arrays)[expected_array(request.inputs, o)].data);
    } else {
      KERF_TRY(const CUdeviceptr pointer, allocate(output.count * size));
      temporary.push_back(pointer);
      buffers.push_back(pointer);
    }
  }
  for (std::size_t o = 0; o < outputs; ++o) {
    if (request.outputs[o].wide_bound) {
      buffers.push_back((*arrays)[bound_array(request.inputs, o)].data);
    } else {
      KERF_TRY(const CUdeviceptr pointer, allocate(request.outputs[o].count * 8));
      temporary.push_back(pointer);
      buffers.push_back(pointer);
    }
  }
  KERF_TRY_VOID(load_into(kernel, request.cubin, request.scratch, request.launches, buffers.size()));
  KERF_TRY_VOID(enqueue(kernel, buffers));
  const std::uint64_t sum_bytes = 2 * outputs * sizeof(std::uint64_t);
  if (outputs > kMostOutputs) return fail(Errc::invalid_input, "too many outputs");
  CUdeviceptr sum = work_ + kResultsAt;
  KERF_CUDA(driver_, cuMemsetD8Async, sum, 0, sum_bytes, stream_);
  for (std::size_t o = 0; o < outputs; ++o) {
    const auto& output = request.outputs[o];
    CUdeviceptr from = buffers[request.inputs + o], to = (*arrays)[expected_array(request.inputs, o)].data;
    std::uint64_t form = kMaskExpected, dtype = output.dtype, count = output.count, key = output.expected_key;
    std::uint64_t second_key = output.second_key;
    KERF_TRY_VOID(
        launch_own(mask_, blocks_for(count), kThreads, {&form, &dtype, &from, &to, &count, &key, &second_key, &sum}));
    sum += sizeof(std::uint64_t);
    from = buffers[request.inputs + outputs + o];
    to = (*arrays)[bound_array(request.inputs, o)].data;
    form = output.wide_bound ? kMaskWideBound : kMaskNarrowBound;
    second_key = output.bound_key;
    KERF_TRY_VOID(
        launch_own(mask_, blocks_for(count), kThreads, {&form, &dtype, &from, &to, &count, &key, &second_key, &sum}));
    sum += sizeof(std::uint64_t);
  }
  KERF_CUDA(driver_, cuMemcpyDtoHAsync_v2, pinned_ + kResultsAt, work_ + kResultsAt, sum_bytes, stream_);
  KERF_CUDA(driver_, cuStreamSynchronize, stream_);
  const auto* sums = reinterpret_cast<const std::uint64_t*>(pinned_ + kResultsAt);
  return std::vector<std::uint64_t>(sums, sums + 2 * outputs);
}

}  // namespace kerf::cuda

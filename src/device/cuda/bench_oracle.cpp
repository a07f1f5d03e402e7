// Data sets made on the device.

#include <fmt/format.h>

#include "device/cuda/bench.hpp"
#include "device/cuda/concrete_plan.hpp"
#include "device/cuda/judge_kernels.hpp"

namespace kerf::cuda {
namespace {

using worker::Writer;

/// What oracle::draw does with an input of this dtype, as kerf_draw is told.
std::uint64_t draw_form(const DeviceDraw& draw, DType dtype) {
  if (draw.given) return kDrawGiven + static_cast<std::uint64_t>(draw.given->kind);
  if (dtype == DType::boolean) return kDrawBools;
  return is_integer(dtype) ? kDrawIntegers : static_cast<std::uint64_t>(draw.input.pattern);
}

}  // namespace

Status CudaBench::draw_inputs(std::uint64_t id, const DeviceRecipe& recipe) {
  for (int i = 0; i < inputs(); ++i) {
    const auto& draw = recipe.inputs[static_cast<std::size_t>(i)];
    const auto& buffer = layout_.buffers[static_cast<std::size_t>(i)];
    Writer request;
    request.put(Command::data_draw)
        .put(id)
        .put(static_cast<std::uint64_t>(i))
        .put(static_cast<std::uint64_t>(buffer.dtype));
    request.put(bytes_of(buffer) / dtype_size(buffer.dtype)).put(draw.input.seed).put(draw_form(draw, buffer.dtype));
    request.put(draw.given ? draw.given->a : draw.input.a).put(draw.given ? draw.given->b : draw.input.b);
    KERF_TRY_VOID(command(request, "drawing inputs"));
  }
  return {};
}

Status CudaBench::run_oracle(std::uint64_t id, const DeviceRecipe& recipe, std::vector<Array>& arrays) {
  const auto in = static_cast<std::size_t>(inputs()), out = static_cast<std::size_t>(outputs());
  std::vector<std::string> names;
  for (const auto& buffer : layout_.buffers) names.push_back(buffer.name);
  for (std::size_t o = 0; o < out; ++o) names.push_back(layout_.buffers[in + o].name + "!bound");
  KERF_TRY(const auto numbers, evaluate_plan(recipe.plan, recipe.constants, names));
  Writer request;
  request.put(Command::data_oracle).put(id).put<std::uint64_t>(in).text(recipe.oracle.bytes);
  request.put<std::uint64_t>(numbers.scratch_bytes.size());
  for (const auto bytes : numbers.scratch_bytes) request.put(bytes);
  request.put<std::uint64_t>(numbers.launches.size());
  for (const auto& launch : numbers.launches) write(request, launch);
  request.put<std::uint64_t>(out);
  for (std::size_t o = 0; o < out; ++o) {
    const auto& buffer = layout_.buffers[in + o];
    const auto& expected = arrays[expected_array(in, o)];
    const auto& bound = arrays[bound_array(in, o)];
    request.put(static_cast<std::uint64_t>(is_float(buffer.dtype) ? DType::f64 : buffer.dtype)).put(expected.bytes / 8);
    request.put<std::uint64_t>(bound.role == Array::Role::wide_bound);
    request.put(expected.key).put(bound_mask_key_).put(mask_key_);
  }
  KERF_TRY(Reply reply, call(request.bytes(), recipe.limit));
  while (reply.answer == Answer::out_of_memory) {  // what the oracle needs for itself
    KERF_TRY(const bool freed, freed_memory());
    if (!freed) break;
    KERF_TRY(reply, call(request.bytes(), recipe.limit));
  }
  KERF_TRY_VOID(expect_ok(reply, "running the oracle"));
  auto body = reply.body();
  if (body.count() != 2 * out) return fail(Errc::unavailable, "the GPU worker sent a malformed answer");
  for (std::size_t a = in; a < arrays.size(); ++a) arrays[a].sum = body.get<std::uint64_t>();
  if (!body.ok()) return fail(Errc::unavailable, "the GPU worker sent a malformed answer");
  return {};
}

Status CudaBench::make_on_device(const oracle::DataSet& data, DeviceRecipe recipe) {
  if (recipe.inputs.size() != static_cast<std::size_t>(inputs())) {
    return fail(Errc::invalid_input, fmt::format("the recipe draws {} inputs of {}", recipe.inputs.size(), inputs()));
  }
  recipes_[data.id] = std::move(recipe);
  auto made = ensure_resident(data);
  if (!made) recipes_.erase(data.id);
  return made;
}

void CudaBench::forget(std::uint64_t id) {
  recipes_.erase(id);
  if (worker_) (void)drop_data(id);
}

}  // namespace kerf::cuda

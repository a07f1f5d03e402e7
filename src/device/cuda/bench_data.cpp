// Bringing data sets onto the device: inputs as they are, expected values and bounds masked.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "base/parallel.hpp"
#include "base/rng.hpp"
#include "device/cuda/bench.hpp"
#include "device/cuda/concrete_plan.hpp"

namespace kerf::cuda {
namespace {

using worker::Writer;

constexpr std::chrono::milliseconds kDataLimit{60000};
constexpr std::uint64_t kHalf = kStagingBytes / 2;
constexpr std::int64_t kGrain = 1 << 16;

/// An expected element as the 64-bit word that the comparison reads.
std::uint64_t expected_word(const ir::HostTensor& tensor, std::size_t index) {
  std::uint64_t word = 0;
  if (tensor.dtype == DType::boolean) {
    word = std::to_integer<std::uint64_t>(tensor.bytes[index]);
  } else {
    std::memcpy(&word, tensor.bytes.data() + index * 8, 8);
  }
  return word;
}

/// The smallest float that is not below the bound; finite stays finite, because infinity means "not compared".
float rounded_up(double bound) {
  if (std::isnan(bound) || std::isinf(bound)) return static_cast<float>(bound);
  constexpr float kLargest = std::numeric_limits<float>::max();
  if (bound >= static_cast<double>(kLargest)) return kLargest;
  const float near = static_cast<float>(bound);
  return static_cast<double>(near) < bound ? std::nextafter(near, std::numeric_limits<float>::infinity()) : near;
}

/// As the judge's kernels mask: see judge_kernels.cpp.
std::uint64_t mask_word(std::uint64_t key, std::uint64_t second_key, std::uint64_t index) {
  return mix64(mix64(key + index) ^ second_key);
}

/// The sum of what was written, each word times its mask.
template <class Word, class Source>
std::uint64_t write_masked(std::byte* target, std::uint64_t first, std::uint64_t count, std::uint64_t key,
                           std::uint64_t second_key, const Source& source) {
  std::atomic<std::uint64_t> total = 0;
  parallel_for(static_cast<std::int64_t>(count), kGrain, 0, [&](std::int64_t begin, std::int64_t end) {
    std::uint64_t sum = 0;
    for (auto i = begin; i < end; ++i) {
      const auto index = first + static_cast<std::uint64_t>(i);
      const std::uint64_t mask = mask_word(key, second_key, index);
      const Word word = source(index) ^ static_cast<Word>(mask);
      std::memcpy(target + static_cast<std::uint64_t>(i) * sizeof word, &word, sizeof word);
      sum += word * (mask | 1);
    }
    total += sum;
  });
  return total;
}

template <class Word, class Value>
Word bits(Value value) {
  Word word;
  static_assert(sizeof word == sizeof value);
  std::memcpy(&word, &value, sizeof word);
  return word;
}

}  // namespace

Result<std::vector<CudaBench::Array>> CudaBench::arrays_of(const oracle::DataSet& data) const {
  const auto in = static_cast<std::size_t>(inputs()), out = static_cast<std::size_t>(outputs());
  const bool made_here = recipes_.contains(data.id);
  const bool unchecked =
      !made_here && data.expected.empty() && data.bound.empty();  // may be staged and run, not checked
  if (!made_here &&
      (data.inputs.size() != in || (!unchecked && (data.expected.size() != out || data.bound.size() != out)))) {
    return fail(Errc::invalid_input, "the data set is for another problem");
  }
  std::vector<Array> arrays;
  const auto add = [&](const std::vector<ir::HostTensor>& tensors, std::size_t index, Array::Role role,
                       std::uint64_t bytes) {
    // The bounds of an output have the key of its expected values, which come right before, and another second key.
    const bool is_bound = role == Array::Role::narrow_bound || role == Array::Role::wide_bound;
    const auto key = is_bound ? arrays.back().key : derive(fmt::format("data {} array {}", data.id, arrays.size()));
    arrays.push_back({made_here ? nullptr : &tensors[index], role, bytes, key, 0});
  };
  for (std::size_t i = 0; i < in; ++i) {
    const auto bytes = bytes_of(layout_.buffers[i]);
    if (!made_here && data.inputs[i].bytes.size() != bytes) {
      return fail(Errc::invalid_input,
                  fmt::format("input '{}' has another size in the data set", layout_.buffers[i].name));
    }
    add(data.inputs, i, Array::Role::input, bytes);
  }
  for (std::size_t o = 0; o < out && !unchecked; ++o) {
    const auto& buffer = layout_.buffers[in + o];
    const auto count = bytes_of(buffer) / dtype_size(buffer.dtype);
    if (!made_here && (static_cast<std::uint64_t>(data.expected[o].elements()) != count ||
                       static_cast<std::uint64_t>(data.bound[o].elements()) != count)) {
      return fail(Errc::invalid_input, fmt::format("output '{}' has another size in the data set", buffer.name));
    }
    const bool wide = buffer.dtype == DType::f64;
    add(data.expected, o, Array::Role::expected, count * 8);
    add(data.bound, o, wide ? Array::Role::wide_bound : Array::Role::narrow_bound, count * (wide ? 8 : 4));
  }
  return arrays;
}

Status CudaBench::drop_data(std::uint64_t id) {
  resident_.remove_if([&](const Resident& entry) { return entry.id == id; });
  return command(Writer().put(Command::data_drop).put(id), "dropping a data set");
}

Status CudaBench::make_room(std::uint64_t bytes) {
  const auto budget = static_cast<std::uint64_t>(options_.data_fraction * static_cast<double>(facts_.memory_bytes));
  std::uint64_t used = bytes;
  for (const auto& entry : resident_) used += entry.bytes;
  while (used > budget && !resident_.empty()) {
    used -= resident_.back().bytes;
    KERF_TRY_VOID(drop_data(resident_.back().id));
  }
  return {};
}

Status CudaBench::ensure_resident(const oracle::DataSet& data) {
  KERF_TRY_VOID(ensure_worker());
  const auto it =
      std::find_if(resident_.begin(), resident_.end(), [&](const Resident& entry) { return entry.id == data.id; });
  if (it != resident_.end()) {
    resident_.splice(resident_.begin(), resident_, it);
    return {};
  }
  KERF_TRY(auto arrays, arrays_of(data));
  const auto begin = clock_.now();
  KERF_TRY_VOID(place(data.id, arrays));
  if (const auto recipe = recipes_.find(data.id); recipe != recipes_.end()) {
    KERF_TRY_VOID(draw_inputs(data.id, recipe->second));
    KERF_TRY_VOID(run_oracle(data.id, recipe->second, arrays));
  } else if (auto written = write_arrays(data.id, arrays); !written) {
    lose_worker();  // answers may be outstanding
    return written;
  }
  Writer seal;
  seal.put(Command::data_seal).put(data.id).put(static_cast<std::uint64_t>(inputs()));
  KERF_TRY_VOID(command(seal, "sealing a data set"));
  Resident entry{data.id, 0, {}};
  for (auto& array : arrays) {
    entry.bytes += array.bytes;
    array.tensor = nullptr;
  }
  entry.arrays = std::move(arrays);
  resident_.push_front(std::move(entry));
  ++spent_.made;
  spent_.ms += static_cast<double>((clock_.now() - begin).count()) / 1e6;
  return {};
}

/// Fills `target` with bytes [at, at + bytes) of the array as it lies on the device; their part of its sum.
std::uint64_t CudaBench::write_piece(std::byte* target, const Array& array, std::uint64_t second_key, std::uint64_t at,
                                     std::uint64_t bytes) {
  const auto& tensor = *array.tensor;
  switch (array.role) {
    case Array::Role::input: std::memcpy(target, tensor.bytes.data() + at, bytes); return 0;
    case Array::Role::expected:
      return write_masked<std::uint64_t>(target, at / 8, bytes / 8, array.key, second_key,
                                         [&](auto i) { return expected_word(tensor, i); });
    case Array::Role::narrow_bound:
      return write_masked<std::uint32_t>(target, at / 4, bytes / 4, array.key, second_key, [&](auto i) {
        return bits<std::uint32_t>(rounded_up(tensor.as<double>()[i]));
      });
    case Array::Role::wide_bound:
      return write_masked<std::uint64_t>(target, at / 8, bytes / 8, array.key, second_key,
                                         [&](auto i) { return bits<std::uint64_t>(tensor.as<double>()[i]); });
  }
  return 0;
}

Status CudaBench::write_arrays(std::uint64_t id, std::vector<Array>& arrays) {
  // One half of the staging memory is filled while the other is copied.
  int pending = 0;
  std::uint64_t half = 0;
  const auto second_key = mask_key_, second_of_bounds = bound_mask_key_;
  const auto settle = [&](int most) -> Status {
    for (; pending > most; --pending) {
      KERF_TRY(const Reply reply, receive(kDataLimit));
      KERF_TRY_VOID(expect_ok(reply, "uploading a data set"));
    }
    return {};
  };
  for (std::size_t a = 0; a < arrays.size(); ++a) {
    for (std::uint64_t at = 0; at < arrays[a].bytes; at += kHalf) {
      const auto bytes = std::min(kHalf, arrays[a].bytes - at);
      KERF_TRY_VOID(settle(1));
      const bool is_bound = arrays[a].role != Array::Role::input && arrays[a].role != Array::Role::expected;
      arrays[a].sum += write_piece(worker_->staging() + half * kHalf, arrays[a],
                                   is_bound ? second_of_bounds : second_key, at, bytes);
      Writer request;
      request.put(Command::data_write).put(id).put<std::uint64_t>(a).put(at).put(half * kHalf).put(bytes);
      KERF_TRY_VOID(send(request.bytes()));
      ++pending;
      half = 1 - half;
    }
  }
  return settle(0);
}

Status CudaBench::place(std::uint64_t id, const std::vector<Array>& arrays) {
  std::uint64_t total = 0;
  Writer make;
  make.put(Command::data_make).put(id).put<std::uint64_t>(arrays.size());
  for (const auto& array : arrays) {
    make.put(array.bytes);
    total += array.bytes;
  }
  KERF_TRY_VOID(make_room(total));
  for (;;) {
    KERF_TRY(const Reply reply, call(make.bytes(), kDataLimit));
    if (reply.answer != Answer::out_of_memory) return expect_ok(reply, "placing a data set");
    KERF_TRY(const bool freed, freed_memory());
    if (!freed) return expect_ok(reply, "placing a data set");
  }
}

Result<bool> CudaBench::freed_memory() {
  if (!resident_.empty()) {
    KERF_TRY_VOID(drop_data(resident_.back().id));
    others_gave_way_ = false;
    return true;
  }
  if (others_gave_way_) return false;
  pool_.make_room_for(*this);
  others_gave_way_ = true;
  return true;
}

void CudaBench::give_way() {
  while (worker_ && !resident_.empty())
    if (!drop_data(resident_.back().id)) return;
}

}  // namespace kerf::cuda

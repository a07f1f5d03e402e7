// Bringing data sets onto the device: inputs as they are, expected values and bounds masked.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "base/parallel.hpp"
#include "base/rng.hpp"
#include "device/cuda/bench.hpp"
#include "device/cuda/plan_numbers.hpp"

namespace kerf::cuda {
namespace {

using worker::Writer;

constexpr std::chrono::milliseconds kCommandLimit{60000};
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

template <class Word, class Source>
void write_masked(std::byte* target, std::uint64_t first, std::uint64_t count, std::uint64_t key,
                  const Source& source) {
  parallel_for(static_cast<std::int64_t>(count), kGrain, 0, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = begin; i < end; ++i) {
      const auto index = first + static_cast<std::uint64_t>(i);
      const Word word = source(index) ^ static_cast<Word>(mix64(key + index));
      std::memcpy(target + static_cast<std::uint64_t>(i) * sizeof word, &word, sizeof word);
    }
  });
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
  const bool unchecked = data.expected.empty() && data.bound.empty();  // may be staged and run, not checked
  if (data.inputs.size() != in || (!unchecked && (data.expected.size() != out || data.bound.size() != out))) {
    return fail(Errc::invalid_input, "the data set is for another problem");
  }
  const auto key = [&](std::uint64_t what) { return mix64(options_.secret ^ mix64(data.id * 1024 + what)); };
  std::vector<Array> arrays;
  for (std::size_t i = 0; i < in; ++i) {
    if (data.inputs[i].bytes.size() != bytes_of(layout_.buffers[i])) {
      return fail(Errc::invalid_input,
                  fmt::format("input '{}' has another size in the data set", layout_.buffers[i].name));
    }
    arrays.push_back({&data.inputs[i], Array::Form::input, data.inputs[i].bytes.size(), key(arrays.size())});
  }
  for (std::size_t o = 0; o < out && !unchecked; ++o) {
    const auto& buffer = layout_.buffers[in + o];
    const auto count = static_cast<std::uint64_t>(data.expected[o].elements());
    if (count * dtype_size(buffer.dtype) != bytes_of(buffer) ||
        data.bound[o].elements() != data.expected[o].elements()) {
      return fail(Errc::invalid_input, fmt::format("output '{}' has another size in the data set", buffer.name));
    }
    const bool wide = buffer.dtype == DType::f64;
    arrays.push_back({&data.expected[o], Array::Form::expected, count * 8, key(arrays.size())});
    arrays.push_back({&data.bound[o], wide ? Array::Form::wide_bound : Array::Form::narrow_bound,
                      count * (wide ? 8 : 4), key(arrays.size())});
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
  KERF_TRY(const auto arrays, arrays_of(data));
  return upload(data, arrays);
}

/// Fills `target` with bytes [at, at + bytes) of the array as it lies on the device.
void CudaBench::write_piece(std::byte* target, const Array& array, std::uint64_t at, std::uint64_t bytes) {
  const auto& tensor = *array.tensor;
  switch (array.form) {
    case Array::Form::input: std::memcpy(target, tensor.bytes.data() + at, bytes); break;
    case Array::Form::expected:
      write_masked<std::uint64_t>(target, at / 8, bytes / 8, array.key,
                                  [&](auto i) { return expected_word(tensor, i); });
      break;
    case Array::Form::narrow_bound:
      write_masked<std::uint32_t>(target, at / 4, bytes / 4, array.key,
                                  [&](auto i) { return bits<std::uint32_t>(rounded_up(tensor.as<double>()[i])); });
      break;
    case Array::Form::wide_bound:
      write_masked<std::uint64_t>(target, at / 8, bytes / 8, array.key,
                                  [&](auto i) { return bits<std::uint64_t>(tensor.as<double>()[i]); });
      break;
  }
}

Status CudaBench::write_arrays(std::uint64_t id, const std::vector<Array>& arrays) {
  // One half of the staging memory is filled while the other is copied.
  int pending = 0;
  std::uint64_t half = 0;
  const auto settle = [&](int most) -> Status {
    for (; pending > most; --pending) {
      KERF_TRY(const Reply reply, receive(kCommandLimit));
      KERF_TRY_VOID(expect_ok(reply, "uploading a data set"));
    }
    return {};
  };
  for (std::size_t a = 0; a < arrays.size(); ++a) {
    for (std::uint64_t at = 0; at < arrays[a].bytes; at += kHalf) {
      const auto bytes = std::min(kHalf, arrays[a].bytes - at);
      KERF_TRY_VOID(settle(1));
      write_piece(worker_->staging() + half * kHalf, arrays[a], at, bytes);
      Writer request;
      request.put(Command::data_write).put(id).put<std::uint64_t>(a).put(at).put(half * kHalf).put(bytes);
      KERF_TRY_VOID(send(request));
      ++pending;
      half = 1 - half;
    }
  }
  return settle(0);
}

Status CudaBench::upload(const oracle::DataSet& data, const std::vector<Array>& arrays) {
  std::uint64_t total = 0;
  Writer make;
  make.put(Command::data_make).put(data.id).put<std::uint64_t>(arrays.size());
  for (const auto& array : arrays) {
    make.put(array.bytes);
    total += array.bytes;
  }
  KERF_TRY_VOID(make_room(total));
  for (;;) {
    KERF_TRY(const Reply reply, call(make, kCommandLimit));
    if (reply.answer != Answer::out_of_memory || resident_.empty()) {
      KERF_TRY_VOID(expect_ok(reply, "placing a data set"));
      break;
    }
    KERF_TRY_VOID(drop_data(resident_.back().id));
  }
  if (auto written = write_arrays(data.id, arrays); !written) {
    lose_worker();  // answers may be outstanding
    return written;
  }
  Writer seal;
  seal.put(Command::data_seal).put(data.id).put(static_cast<std::uint64_t>(inputs())).put<std::uint64_t>(arrays.size());
  for (const auto& array : arrays) seal.put<std::uint64_t>(array.form == Array::Form::narrow_bound).put(array.key);
  KERF_TRY_VOID(command(seal, "sealing a data set"));
  resident_.push_front({data.id, total});
  return {};
}

}  // namespace kerf::cuda

// Context, buffers and data sets of a GPU worker.

#include "device/cuda/session.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/rng.hpp"
#include "device/cuda/session_layout.hpp"

namespace kerf::cuda {

Result<Session> Session::create(const std::string& driver_library, int device_index) {
  Session session;
  KERF_TRY(session.driver_, open_driver(driver_library));
  Driver& driver = session.driver_;
  KERF_CUDA(driver, cuInit, 0);
  CUdevice device = 0;
  KERF_CUDA(driver, cuDeviceGet, &device, device_index);
  KERF_CUDA(driver, cuDeviceGetAttribute, &session.multiprocessors_, kMultiprocessors, device);
  KERF_CUDA(driver, cuDeviceGetAttribute, &session.max_shared_, kMaxSharedOptIn, device);
  KERF_CUDA(driver, cuDeviceGetAttribute, &session.l2_bytes_, kL2Bytes, device);
  KERF_CUDA(driver, cuDevicePrimaryCtxRetain, &session.context_, device);
  KERF_CUDA(driver, cuCtxSetCurrent, session.context_);
  constexpr unsigned kNonBlocking = 1;
  KERF_CUDA(driver, cuStreamCreate, &session.stream_, kNonBlocking);
  for (CUevent* event : {&session.before_delay_, &session.begin_, &session.end_})
    KERF_CUDA(driver, cuEventCreate, event, 0);
  session.most_blocks_ = std::min<unsigned>(kMostBlocks, 8u * static_cast<unsigned>(session.multiprocessors_));
  KERF_CUDA(driver, cuMemAlloc_v2, &session.work_, kWorkBytes);
  if (session.l2_bytes_ > 0) {
    KERF_TRY(session.idle_, session.allocate(3 * static_cast<std::uint64_t>(session.l2_bytes_)));
  }
  void* pinned = nullptr;
  KERF_CUDA(driver, cuMemHostAlloc, &pinned, kWorkBytes, 0);
  session.pinned_ = static_cast<std::byte*>(pinned);
  return session;
}

Status Session::setup(std::string_view judge_cubin, std::string local_cubin, void* staging,
                      std::uint64_t staging_bytes) {
  local_cubin_ = std::move(local_cubin);
  CUmodule module = nullptr;
  const std::string image(judge_cubin);
  KERF_CUDA(driver_, cuModuleLoadData, &module, image.data());
  KERF_CUDA(driver_, cuModuleGetFunction, &jobs_, module, "kerf_jobs");
  KERF_CUDA(driver_, cuModuleGetFunction, &compare_, module, "kerf_compare");
  KERF_CUDA(driver_, cuModuleGetFunction, &delay_, module, "kerf_delay");
  KERF_CUDA(driver_, cuModuleGetFunction, &probe_, module, "kerf_probe");
  KERF_CUDA(driver_, cuModuleGetFunction, &draw_, module, "kerf_draw");
  KERF_CUDA(driver_, cuModuleGetFunction, &mask_, module, "kerf_mask");
  KERF_CUDA(driver_, cuModuleGetFunction, &scrub_, module, "kerf_scrub");
  KERF_CUDA(driver_, cuFuncSetAttribute, scrub_, kFunctionMaxDynamicShared, max_shared_);
  staging_ = static_cast<std::byte*>(staging);
  staging_bytes_ = staging_bytes;
  return probe();
}

/// Pinned pages copy several times faster, but pinning takes 40 ms: it waits for the first large copy. Without it works
/// too, so a refusal is no error.
void Session::pin_for(std::uint64_t bytes) {
  constexpr std::uint64_t kWorthIt = 8 << 20;
  if (pinning_tried_ || bytes < kWorthIt) return;
  pinning_tried_ = true;
  (void)driver_.cuMemHostRegister_v2(staging_, staging_bytes_, 0);
}

Result<CUdeviceptr> Session::allocate(std::uint64_t bytes) {
  CUdeviceptr pointer = 0;
  const int error = driver_.cuMemAlloc_v2(&pointer, std::max<std::uint64_t>(bytes, 16));
  if (error == kSuccess) return pointer;
  if (error != kOutOfMemory) return fail(Errc::tool_failed, driver_.describe("cuMemAlloc", error));
  std::size_t free_bytes = 0, total = 0;
  KERF_CUDA(driver_, cuMemGetInfo_v2, &free_bytes, &total);
  return fail(Errc::unavailable,
              fmt::format("{:.2f} GiB more are needed, {:.2f} of the device's {:.2f} GiB are free",
                          static_cast<double>(bytes) / (1 << 30), static_cast<double>(free_bytes) / (1 << 30),
                          static_cast<double>(total) / (1 << 30)));
}

Result<Zone> Session::allocate_zone(std::uint64_t bytes) {
  const std::uint64_t drawn = mix64(red_key_ ^ ++zones_made_) % (kMostShift / kBufferAlignment);
  Zone zone{0, bytes, kRedZone - drawn * kBufferAlignment};
  KERF_TRY(zone.base, allocate(zone.total()));
  return zone;
}

void Session::free_all(std::vector<Zone>& zones) {
  for (const auto& zone : zones) (void)driver_.cuMemFree_v2(zone.base);
  zones.clear();
}

void Session::reset() {
  while (!kernels_.empty()) unload(kernels_.begin()->first);
  while (!data_.empty()) data_drop(data_.begin()->first);
  for (auto& slot : slots_) free_all(slot);
  slots_.clear();
}

Status Session::layout(std::uint64_t red_key, std::uint64_t sum_key, std::uint64_t slots,
                       const std::vector<std::uint64_t>& buffers) {
  reset();
  red_key_ = red_key;
  sum_key_ = sum_key;
  idle_known_ = false;
  std::vector<Job> jobs;
  for (std::uint64_t slot = 0; slot < slots; ++slot) {
    slots_.emplace_back();
    for (const auto bytes : buffers) {
      auto zone = allocate_zone(bytes);
      if (!zone) {
        reset();
        return tl::unexpected<Error>(std::move(zone).error());
      }
      slots_.back().push_back(*zone);
      jobs.push_back({Job::fill, zone->data(), 0, bytes, 0xFFFF});
      red_jobs(jobs, Job::red_fill, *zone);
    }
    KERF_TRY_VOID(run_jobs(jobs).map([](const auto&) {}));
    jobs.clear();
  }
  return {};
}

Result<const Zone*> Session::buffer(std::uint64_t slot, std::uint64_t index) const {
  if (slot >= slots_.size() || index >= slots_[slot].size()) return fail(Errc::invalid_input, "no such slot or buffer");
  return &slots_[slot][index];
}

Result<std::vector<ResidentArray>*> Session::resident(std::uint64_t id) {
  const auto it = data_.find(id);
  if (it == data_.end()) return fail(Errc::invalid_input, "the data set is not resident");
  return &it->second;
}

Status Session::data_make(std::uint64_t id, const std::vector<std::uint64_t>& arrays) {
  data_drop(id);
  auto& made = data_[id];
  for (const auto bytes : arrays) {
    auto pointer = allocate(bytes);
    if (!pointer) {
      data_drop(id);
      return tl::unexpected<Error>(std::move(pointer).error());
    }
    made.push_back({*pointer, bytes, 0, 0});
  }
  return {};
}

Status Session::data_write(std::uint64_t id, std::uint64_t array, std::uint64_t offset, std::uint64_t staging_offset,
                           std::uint64_t bytes) {
  KERF_TRY(auto* arrays, resident(id));
  if (array >= arrays->size() || offset > (*arrays)[array].bytes || bytes > (*arrays)[array].bytes - offset ||
      staging_offset > staging_bytes_ || bytes > staging_bytes_ - staging_offset) {
    return fail(Errc::invalid_input, "a write outside the array");
  }
  pin_for(bytes);
  KERF_CUDA(driver_, cuMemcpyHtoDAsync_v2, (*arrays)[array].data + offset, staging_ + staging_offset, bytes, stream_);
  KERF_CUDA(driver_, cuStreamSynchronize, stream_);
  return {};
}

Status Session::data_seal(std::uint64_t id, std::uint64_t inputs) {
  KERF_TRY(auto* arrays, resident(id));
  std::vector<Job> jobs;
  for (std::size_t i = 0; i < arrays->size(); ++i) {
    auto& array = (*arrays)[i];
    array.salt = id * 1024 + i;
    jobs.push_back({Job::sum, array.data, 0, array.bytes, array.salt});
  }
  if (inputs > arrays->size()) return fail(Errc::invalid_input, "more inputs than arrays");
  KERF_TRY(const auto sums, run_jobs(jobs));
  for (std::size_t i = 0; i < arrays->size(); ++i) (*arrays)[i].sum = sums[i];
  return {};
}

void Session::data_drop(std::uint64_t id) {
  const auto it = data_.find(id);
  if (it == data_.end()) return;
  for (const auto& array : it->second) (void)driver_.cuMemFree_v2(array.data);
  data_.erase(it);
}

Status Session::read(std::uint64_t slot, std::uint64_t index, std::uint64_t offset, std::uint64_t staging_offset,
                     std::uint64_t bytes) {
  KERF_TRY(const Zone* zone, buffer(slot, index));
  if (offset > zone->bytes || bytes > zone->bytes - offset || staging_offset > staging_bytes_ ||
      bytes > staging_bytes_ - staging_offset) {
    return fail(Errc::invalid_input, "a read outside the buffer");
  }
  pin_for(bytes);
  KERF_CUDA(driver_, cuMemcpyDtoHAsync_v2, staging_ + staging_offset, zone->data() + offset, bytes, stream_);
  KERF_CUDA(driver_, cuStreamSynchronize, stream_);
  return {};
}

Status Session::write(std::uint64_t slot, std::uint64_t index, std::uint64_t offset, std::uint64_t staging_offset,
                      std::uint64_t bytes) {
  KERF_TRY(const Zone* zone, buffer(slot, index));
  if (offset > zone->bytes || bytes > zone->bytes - offset || staging_offset > staging_bytes_ ||
      bytes > staging_bytes_ - staging_offset) {
    return fail(Errc::invalid_input, "a write outside the buffer");
  }
  pin_for(bytes);
  KERF_CUDA(driver_, cuMemcpyHtoDAsync_v2, zone->data() + offset, staging_ + staging_offset, bytes, stream_);
  KERF_CUDA(driver_, cuStreamSynchronize, stream_);
  return {};
}

}  // namespace kerf::cuda

#include "codegen/scratch.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace kerf::codegen {
namespace {

/// From here on sizes are mixed rather than buffers added.
constexpr std::size_t kFewBuffers = 12;

struct Slot {
  Buffer buffer;
  Dim elements;
  std::size_t last_use = 0;  ///< kernel
};

/// Buffers that a kernel reads: those of the nearest stored ancestors.
std::set<int> reads(const BufferPlan& plan, const KernelPlan& kernel) {
  std::set<int> found;
  if (kernel.copy) {
    found.insert(plan.location[static_cast<std::size_t>(kernel.node)]);
    return found;
  }
  std::set<ir::NodeId> seen;
  std::vector<ir::NodeId> open = plan.graph[kernel.node].args;
  while (!open.empty()) {
    const ir::NodeId id = open.back();
    open.pop_back();
    if (!seen.insert(id).second) continue;
    if (const int buffer = plan.location[static_cast<std::size_t>(id)]; buffer >= 0)
      found.insert(buffer);
    else
      open.insert(open.end(), plan.graph[id].args.begin(), plan.graph[id].args.end());
  }
  return found;
}

Slot* free_slot(std::vector<Slot>& slots, const Buffer& wanted, const Dim& elements, std::size_t kernel) {
  Slot* other_size = nullptr;
  for (Slot& slot : slots) {
    if (slot.last_use >= kernel || slot.buffer.dtype != wanted.dtype) continue;
    if (slot.elements == elements) return &slot;
    other_size = &slot;
  }
  if (other_size == nullptr || slots.size() < kFewBuffers) return nullptr;
  other_size->elements = max(other_size->elements, elements);
  other_size->buffer.shape = {other_size->elements};
  return other_size;
}

}  // namespace

void share_scratch(BufferPlan& plan) {
  std::map<int, std::size_t> last_use;
  for (std::size_t k = 0; k < plan.kernels.size(); ++k) {
    last_use[plan.kernels[k].buffer] = std::max(last_use[plan.kernels[k].buffer], k);
    for (const int buffer : reads(plan, plan.kernels[k])) last_use[buffer] = k;
  }
  std::vector<Slot> slots;
  std::map<int, std::size_t> slot_of;
  for (std::size_t k = 0; k < plan.kernels.size(); ++k) {
    const int id = plan.kernels[k].buffer;
    const Buffer& buffer = plan.buffers[static_cast<std::size_t>(id)];
    if (buffer.role != BufferRole::scratch) continue;
    const Dim elements = element_count(buffer.shape);
    Slot* slot = free_slot(slots, buffer, elements, k);
    if (slot == nullptr) slot = &slots.emplace_back(Slot{buffer, elements, 0});
    slot->last_use = last_use[id];
    slot_of[id] = static_cast<std::size_t>(slot - slots.data());
  }
  // Scratch comes last in the list of buffers, so the others keep their numbers.
  const auto first =
      static_cast<std::size_t>(std::find_if(plan.buffers.begin(), plan.buffers.end(),
                                            [](const Buffer& buffer) { return buffer.role == BufferRole::scratch; }) -
                               plan.buffers.begin());
  plan.buffers.resize(first);
  for (Slot& slot : slots) plan.buffers.push_back(std::move(slot.buffer));
  const auto renumber = [&](int& buffer) {
    if (const auto slot = slot_of.find(buffer); slot != slot_of.end()) buffer = static_cast<int>(first + slot->second);
  };
  for (int& buffer : plan.location) renumber(buffer);
  for (KernelPlan& kernel : plan.kernels) renumber(kernel.buffer);
}

}  // namespace kerf::codegen

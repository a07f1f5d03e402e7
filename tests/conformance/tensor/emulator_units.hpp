#pragma once
// Matrix-unit, copy and barrier instructions for emulator.hpp. Asynchronous ones happen as late as the kernel's own
// waits allow, with NaNs in their place until then, so that a missing wait or barrier is seen; so are wrong fragment
// layouts and swizzles, bank conflicts of ldmatrix, misaligned addresses, and accesses outside of the dynamic shared
// memory. Included by generated sources only.

#include "emulator.hpp"

namespace emulated {

// Numbers.
inline float half_value(unsigned h) { return static_cast<float>(bits_as<_Float16>(static_cast<std::uint16_t>(h))); }
inline unsigned to_half(float x) { return bits_as<std::uint16_t>(static_cast<_Float16>(x)); }
inline float from_half(unsigned h) { return half_value(h); }
inline unsigned to_tf32(float x) {
  const unsigned u = __float_as_uint(x);
  if ((u & 0x7f800000u) == 0x7f800000u) return (u & 0x7fffffu) != 0 ? 0x7fffffffu : u;
  return (u + 0x1000u) & 0xffffe000u;
}
/// Matrix units truncate when they add.
inline float truncated(double x) {
  const float f = static_cast<float>(x);
  return std::isfinite(f) && std::fabs(static_cast<double>(f)) > std::fabs(x) ? std::nextafterf(f, 0.0F) : f;
}

// cp.async.
inline void copy_async(unsigned to, const void* from, bool there = true) {
  if (to % 16 != 0 || reinterpret_cast<std::uintptr_t>(from) % 16 != 0) stop("cp.async: misaligned");
  std::memset(at(to, 16), 0xff, 16);
  block.open_copies[static_cast<std::size_t>(block.current)].push_back({to, there ? from : nullptr, 16});
}
inline void copy_commit() {
  auto& open = block.open_copies[static_cast<std::size_t>(block.current)];
  block.copy_groups[static_cast<std::size_t>(block.current)].push_back(std::move(open));
  open.clear();
}
inline void perform(const Copy& copy) {
  if (copy.from != nullptr)
    std::memcpy(at(copy.to, copy.bytes), copy.from, copy.bytes);
  else
    std::memset(at(copy.to, copy.bytes), 0, copy.bytes);
}
template <int kLeft>
void copy_wait() {
  auto& groups = block.copy_groups[static_cast<std::size_t>(block.current)];
  while (static_cast<int>(groups.size()) > kLeft) {
    for (const Copy& copy : groups.front()) perform(copy);
    groups.erase(groups.begin());
  }
  yield();
}

// mbarrier and bulk copies.
inline void advance(Barrier& barrier) {
  if (barrier.pending < 0) stop("mbarrier: more arrivals than announced");
  if (barrier.pending > 0 || barrier.bytes != 0) return;
  ++barrier.phase;
  barrier.pending = barrier.arrivals;
  ++block.progress;
}
inline Barrier& barrier_at(unsigned address) {
  const auto found = block.barriers.find(address);
  if (found == block.barriers.end()) stop("mbarrier: used before it was made");
  return found->second;
}
inline void barrier_init(unsigned address, int arrivals) {
  if (address % 8 != 0) stop("mbarrier: misaligned");
  block.barriers[address] = {arrivals, arrivals, 0, 0, {}};
}
inline void barrier_publish() {}
inline void barrier_expect(unsigned address, unsigned bytes) {
  Barrier& barrier = barrier_at(address);
  barrier.bytes += bytes;
  --barrier.pending;
  advance(barrier);
}
inline void barrier_arrive(unsigned address) {
  Barrier& barrier = barrier_at(address);
  --barrier.pending;
  advance(barrier);
}
inline void barrier_wait(unsigned address, unsigned phase) {
  while (true) {
    Barrier& barrier = barrier_at(address);
    if ((barrier.phase & 1) != (phase & 1)) return;
    if (!barrier.copies.empty()) {  // in any order, one at a time
      const auto which = barrier.copies.begin() + static_cast<std::ptrdiff_t>(random_order() % barrier.copies.size());
      const Copy copy = *which;
      barrier.copies.erase(which);
      perform(copy);
      barrier.bytes -= copy.bytes;
      advance(barrier);
      ++block.progress;
    }
    yield();
  }
}
inline void copy_bulk(unsigned to, const void* from, unsigned bytes, unsigned barrier) {
  if (to % 16 != 0 || bytes % 16 != 0 || reinterpret_cast<std::uintptr_t>(from) % 16 != 0)
    stop("bulk copy: misaligned");
  std::memset(at(to, bytes), 0xff, bytes);
  barrier_at(barrier).copies.push_back({to, from, bytes});
}

// ldmatrix.x4 and mma.sync.m16n8k16.
inline void load_matrices(unsigned (&registers)[4], unsigned from) {
  struct Part {
    unsigned* registers;
    unsigned from;
  } part{registers, from};
  meet_warp(&part, [](const std::vector<void*>& parts) {
    for (std::size_t m = 0; m < 4; ++m) {
      unsigned banks = 0;
      for (std::size_t row = 0; row < 8; ++row) {
        const unsigned address = static_cast<Part*>(parts[m * 8 + row])->from;
        if (address % 16 != 0) stop("ldmatrix: misaligned");
        banks |= 1U << (address / 16 % 8);
      }
      if (banks != 0xff) stop("ldmatrix: bank conflict");
      for (std::size_t l = 0; l < 32; ++l) {
        const unsigned address = static_cast<Part*>(parts[m * 8 + l / 4])->from + 4 * static_cast<unsigned>(l % 4);
        std::memcpy(static_cast<Part*>(parts[l])->registers + m, at(address, 4), 4);
      }
    }
  });
}
inline void multiply(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  struct Part {
    float* d;
    const unsigned* a;
    unsigned b[2];
  } part{d, a, {b0, b1}};
  meet_warp(&part, [](const std::vector<void*>& parts) {
    float left[16][16], right[16][8];
    for (unsigned l = 0; l < 32; ++l) {
      const auto* p = static_cast<Part*>(parts[l]);
      for (unsigned r = 0; r < 4; ++r)
        for (unsigned h = 0; h < 2; ++h)
          left[l / 4 + 8 * (r % 2)][2 * (l % 4) + h + 8 * (r / 2)] = half_value(p->a[r] >> (16 * h));
      for (unsigned r = 0; r < 2; ++r)
        for (unsigned h = 0; h < 2; ++h) right[2 * (l % 4) + h + 8 * r][l / 4] = half_value(p->b[r] >> (16 * h));
    }
    for (unsigned l = 0; l < 32; ++l)
      for (unsigned r = 0; r < 4; ++r) {
        float& to = static_cast<Part*>(parts[l])->d[r];
        double sum = to;
        for (unsigned k = 0; k < 16; ++k)
          sum += static_cast<double>(left[l / 4 + 8 * (r / 2)][k]) * static_cast<double>(right[k][2 * (l % 4) + r % 2]);
        to = truncated(sum);
      }
  });
}

// wgmma.m64nNk16 (f16) and k8 (tf32): both operands in shared memory, K-major, 128-byte swizzle.
inline float operand(unsigned long long descriptor, int row, int k, bool half) {
  const auto start = static_cast<unsigned>(descriptor & 0x3fff) << 4,
             step = static_cast<unsigned>(descriptor >> 32 & 0x3fff) << 4;
  if (descriptor >> 62 != 1 || step != 1024) stop("wgmma: unexpected layout in the descriptor");
  const unsigned plain =
      start + static_cast<unsigned>(row / 8) * step + static_cast<unsigned>(row % 8 * 128 + k * (half ? 2 : 4));
  const unsigned swizzled = plain ^ (plain >> 7 & 7) << 4;
  if (half) return half_value(bits_as<std::uint16_t>(*reinterpret_cast<const std::uint16_t*>(at(swizzled, 2))));
  return __uint_as_float(*reinterpret_cast<const unsigned*>(at(swizzled, 4)) & 0xffffe000u);
}
inline void perform(WarpGroup& group, const Product& product) {
  const int depth = product.half ? 16 : 8, columns = product.columns;
  std::vector<double> a(static_cast<std::size_t>(64 * depth)), b(static_cast<std::size_t>(columns * depth));
  for (int i = 0; i < 64 * depth; ++i)
    a[static_cast<std::size_t>(i)] = operand(product.a, i / depth, i % depth, product.half);
  for (int i = 0; i < columns * depth; ++i)
    b[static_cast<std::size_t>(i)] = operand(product.b, i / depth, i % depth, product.half);
  auto& values = group.values[product.sums[0]];
  for (int t = 0; t < 128; ++t)
    for (int r = 0; r < columns / 2; ++r) {
      const int row = 16 * (t / 32) + t % 32 / 4 + 8 * (r / 2 % 2), column = 8 * (r / 4) + 2 * (t % 4) + r % 2;
      float& to = values[static_cast<std::size_t>(t)][static_cast<std::size_t>(r)];
      double sum = product.add ? to : 0.0F;
      for (int k = 0; k < depth; ++k)
        sum += a[static_cast<std::size_t>(row * depth + k)] * b[static_cast<std::size_t>(column * depth + k)];
      to = truncated(sum);
    }
}
inline void issue(int columns, bool half, float* sums, unsigned long long a, unsigned long long b, bool add) {
  struct Part {
    float* sums;
    unsigned long long a, b;
  } part{sums, a, b};
  WarpGroup& group = block.products[static_cast<std::size_t>(block.current / 128)];
  meet_group(&part, [&](const std::vector<void*>& parts) {
    Product product{{}, a, b, add, half, columns};
    for (void* p : parts) {
      const auto* one = static_cast<Part*>(p);
      if (one->a != a || one->b != b) stop("wgmma: descriptors differ within the group");
      product.sums.push_back(one->sums);
    }
    if (!group.values.contains(product.sums[0])) {
      for (float* registers : product.sums) {
        group.values[product.sums[0]].emplace_back(registers, registers + columns / 2);
        std::fill(registers, registers + columns / 2, std::nanf(""));
      }
    }
    group.open.push_back(std::move(product));
  });
}
inline void group_fence() {
  meet_group(nullptr, [](const std::vector<void*>&) {});
}
inline void group_commit() {
  WarpGroup& group = block.products[static_cast<std::size_t>(block.current / 128)];
  meet_group(nullptr, [&](const std::vector<void*>&) {
    group.committed.push_back(std::move(group.open));
    group.open.clear();
  });
}
inline void complete_all_but(WarpGroup& group, int left) {
  while (static_cast<int>(group.committed.size()) > left) {
    const std::vector<Product> oldest = std::move(group.committed.front());
    group.committed.erase(group.committed.begin());
    for (const Product& product : oldest) perform(group, product);
    for (const Product& product : oldest) {
      const auto uses = [&](const Product& other) { return other.sums[0] == product.sums[0]; };
      bool in_flight = std::any_of(group.open.begin(), group.open.end(), uses);
      for (const auto& later : group.committed) in_flight = in_flight || std::any_of(later.begin(), later.end(), uses);
      const auto found = group.values.find(product.sums[0]);
      if (in_flight || found == group.values.end()) continue;
      for (std::size_t t = 0; t < 128; ++t)
        std::copy(found->second[t].begin(), found->second[t].end(), product.sums[t]);
      group.values.erase(found);
    }
  }
}
template <int kLeft>
void group_wait_some() {
  WarpGroup& group = block.products[static_cast<std::size_t>(block.current / 128)];
  meet_group(nullptr, [&](const std::vector<void*>&) { complete_all_but(group, kLeft); });
}
template <int kLeft, int kCount>
void group_wait(float (&)[kCount]) {
  group_wait_some<kLeft>();
}
template <int kColumns, bool kHalf = true>
struct group_multiply {
  static void run(float (&d)[kColumns / 2], unsigned long long a, unsigned long long b, int add = 1) {
    issue(kColumns, kHalf, d, a, b, add != 0);
  }
};

}  // namespace emulated

#include "ir/interpret/gemm.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <type_traits>
#include <vector>

#include "base/parallel.hpp"

// Structure: c is cut into independent tiles. For each tile, and for each block of k, the operands are packed into
// panels (MR rows of a, NR columns of b, k after k) that the innermost kernel reads in order while it keeps an MR x NR
// piece of c in vector registers.

#define KERF_GEMM_INLINE inline __attribute__((always_inline))

namespace kerf::ir {
namespace {

using Int = std::int64_t;
using Word = std::uint64_t;  // integers wrap

constexpr Int kDepth = 192;  // k per block: a panel of b stays in the first-level cache
constexpr Int kRows = 192;   // rows of a packed at a time: they stay in the second-level cache

template <class T>
struct Tile {
  const GemmOperand& a;
  const GemmOperand& b;
  const GemmResult<T>& c;
  GemmBatch base;
  Int row_begin, row_end, col_begin, col_end;
  T* packed_a;
  T* packed_b;
};

/// to[k * P + i] = data[panel[i] + depth[k]]; rows beyond `count` are zero.
template <class S, class T, int P, class Load>
KERF_GEMM_INLINE void pack_panel(const S* data, const Int* panel, Int count, const Int* depth, Int depths, T* to,
                                 Load load) {
  bool panel_runs = count == P, depth_runs = true;
  for (Int i = 1; i < count; ++i) panel_runs = panel_runs && panel[i] == panel[i - 1] + 1;
  for (Int k = 1; k < depths; ++k) depth_runs = depth_runs && depth[k] == depth[k - 1] + 1;
  if (panel_runs) {
    for (Int k = 0; k < depths; ++k) {
      const S* from = data + panel[0] + depth[k];
      for (int i = 0; i < P; ++i) to[k * P + i] = load(from[i]);
    }
    return;
  }
  if (count < P) std::memset(to, 0, static_cast<std::size_t>(depths) * P * sizeof(T));
  if (depth_runs) {
    constexpr Int kRun = 8;
    Int k = 0;
    for (; k + kRun <= depths; k += kRun)
      for (Int i = 0; i < count; ++i) {
        const S* from = data + panel[i] + depth[k];
        for (Int r = 0; r < kRun; ++r) to[(k + r) * P + i] = load(from[r]);
      }
    for (; k < depths; ++k)
      for (Int i = 0; i < count; ++i) to[k * P + i] = load(data[panel[i] + depth[k]]);
    return;
  }
  for (Int k = 0; k < depths; ++k) {
    const S* from = data + depth[k];
    for (Int i = 0; i < count; ++i) to[k * P + i] = load(from[panel[i]]);
  }
}

template <class T, int P>
KERF_GEMM_INLINE void pack(const void* data, DType dtype, Int base, std::span<const Int> panel,
                           std::span<const Int> depth, T* to) {
  const auto panels = static_cast<Int>(panel.size());
  const auto depths = static_cast<Int>(depth.size());
  for (Int p = 0; p < panels; p += P, to += depths * P) {
    const Int count = std::min<Int>(P, panels - p);
    const auto from = [&]<class S>(const S*, auto load) __attribute__((always_inline)) {
      pack_panel<S, T, P>(static_cast<const S*>(data) + base, panel.data() + p, count, depth.data(), depths, to, load);
    };
#define KERF_GEMM_LOAD(S, expression) \
  from(static_cast<const S*>(nullptr), [](S x) __attribute__((always_inline)) { return static_cast<T>(expression); })
    switch (dtype) {
      case DType::f64: KERF_GEMM_LOAD(double, x); break;
      case DType::f32: KERF_GEMM_LOAD(float, x); break;
      case DType::f16: KERF_GEMM_LOAD(std::uint16_t, f16_to_f32(x)); break;
      case DType::bf16: KERF_GEMM_LOAD(std::uint16_t, std::bit_cast<float>(static_cast<std::uint32_t>(x) << 16)); break;
      case DType::i64: KERF_GEMM_LOAD(Int, x); break;
      case DType::i32: KERF_GEMM_LOAD(std::int32_t, x); break;
      case DType::boolean: KERF_GEMM_LOAD(std::uint8_t, x != 0 ? 1 : 0); break;
    }
#undef KERF_GEMM_LOAD
  }
}

/// out[MR][NR] = sum over k of a[k][MR] * b[k][NR], with the sums in MR * VECTORS vector registers.
template <class T, class V, int MR, int VECTORS>
KERF_GEMM_INLINE void multiply_panels(Int depths, const T* __restrict a, const T* __restrict b, T* __restrict out) {
  constexpr int kLanes = sizeof(V) / sizeof(T);
  V sum[MR][VECTORS] = {};
  for (Int k = 0; k < depths; ++k) {
    V right[VECTORS];
    for (int v = 0; v < VECTORS; ++v) std::memcpy(&right[v], b + v * kLanes, sizeof(V));
#pragma GCC unroll 16
    for (int i = 0; i < MR; ++i) {
      const V left = a[i] - V{};  // the same value in every lane
#pragma GCC unroll 4
      for (int v = 0; v < VECTORS; ++v) sum[i][v] += left * right[v];
    }
    a += MR;
    b += VECTORS * kLanes;
  }
  for (int i = 0; i < MR; ++i)
    for (int v = 0; v < VECTORS; ++v) std::memcpy(out + (i * VECTORS + v) * kLanes, &sum[i][v], sizeof(V));
}

/// c (+)= piece for the valid part of an MR x NR piece.
template <class T, class U, int NR>
KERF_GEMM_INLINE void add_piece(const U* piece, const Int* rows, Int row_count, const Int* cols, Int col_count,
                                bool first, T* c) {
  bool runs = col_count == NR;
  for (Int j = 1; j < col_count; ++j) runs = runs && cols[j] == cols[j - 1] + 1;
  for (Int i = 0; i < row_count; ++i) {
    T* row = c + rows[i];
    const U* from = piece + i * NR;
    if (runs) {
      T* to = row + cols[0];
      for (int j = 0; j < NR; ++j) to[j] = static_cast<T>(first ? from[j] : static_cast<U>(to[j]) + from[j]);
    } else {
      for (Int j = 0; j < col_count; ++j)
        row[cols[j]] = static_cast<T>(first ? from[j] : static_cast<U>(row[cols[j]]) + from[j]);
    }
  }
}

template <class T, class U, class V, int MR, int VECTORS>
KERF_GEMM_INLINE void tile_body(const Tile<T>& tile) {
  constexpr int NR = VECTORS * static_cast<int>(sizeof(V) / sizeof(U));
  const auto depth = static_cast<Int>(tile.a.cols.size());
  auto* packed_a = reinterpret_cast<U*>(tile.packed_a);
  auto* packed_b = reinterpret_cast<U*>(tile.packed_b);
  const auto cols = tile.b.cols.subspan(static_cast<std::size_t>(tile.col_begin),
                                        static_cast<std::size_t>(tile.col_end - tile.col_begin));
  for (Int k = 0; k < depth; k += kDepth) {
    const Int depths = std::min(kDepth, depth - k);
    const auto k_part = [&](std::span<const Int> offsets) {
      return offsets.subspan(static_cast<std::size_t>(k), static_cast<std::size_t>(depths));
    };
    pack<U, NR>(tile.b.data, tile.b.dtype, tile.base.b, cols, k_part(tile.b.rows), packed_b);
    for (Int m = tile.row_begin; m < tile.row_end; m += kRows) {
      const Int rows = std::min(kRows, tile.row_end - m);
      const auto row_part = tile.a.rows.subspan(static_cast<std::size_t>(m), static_cast<std::size_t>(rows));
      pack<U, MR>(tile.a.data, tile.a.dtype, tile.base.a, row_part, k_part(tile.a.cols), packed_a);
      for (Int n = tile.col_begin; n < tile.col_end; n += NR) {
        for (Int r = 0; r < rows; r += MR) {
          alignas(64) U piece[MR * NR];
          multiply_panels<U, V, MR, VECTORS>(depths, packed_a + r * depths, packed_b + (n - tile.col_begin) * depths,
                                             piece);
          add_piece<T, U, NR>(piece, tile.c.rows.data() + m + r, std::min<Int>(MR, rows - r), tile.c.cols.data() + n,
                              std::min<Int>(NR, tile.col_end - n), k == 0, tile.c.data + tile.base.c);
        }
      }
    }
  }
}

template <class U, int BYTES>
struct VectorOf {
  typedef U type __attribute__((vector_size(BYTES)));
};

/// A version for one instruction set: its tile function and the multiples that its panels round up to.
template <class T>
struct Version {
  void (*run)(const Tile<T>&);
  Int mr, nr;
};

#define KERF_GEMM_VERSION(name, target, bytes, mr, vectors)                                      \
  target void name##_f64(const Tile<double>& tile) {                                             \
    tile_body<double, double, VectorOf<double, bytes>::type, mr, vectors>(tile);                 \
  }                                                                                              \
  target void name##_i64(const Tile<Int>& tile) {                                                \
    tile_body<Int, Word, VectorOf<Word, bytes>::type, mr, vectors>(tile);                        \
  }                                                                                              \
  [[maybe_unused]] constexpr Version<double> name##_double{name##_f64, mr, vectors * bytes / 8}; \
  [[maybe_unused]] constexpr Version<Int> name##_int{name##_i64, mr, vectors * bytes / 8};

KERF_GEMM_VERSION(baseline, , 16, 4, 2)
#if defined(__x86_64__)
KERF_GEMM_VERSION(v3, __attribute__((target("arch=x86-64-v3"))), 32, 4, 3)
KERF_GEMM_VERSION(v4, __attribute__((target("arch=x86-64-v4"))), 64, 8, 3)
#endif

enum class Isa { baseline, v3, v4 };

Isa best_isa() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("bmi2"))
    return Isa::baseline;
  const bool v4 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512vl");
  return v4 ? Isa::v4 : Isa::v3;
#else
  return Isa::baseline;
#endif
}

template <class T>
Version<T> version() {
  static const Isa isa = best_isa();
  if constexpr (std::is_same_v<T, double>) {
#if defined(__x86_64__)
    if (isa == Isa::v4) return v4_double;
    if (isa == Isa::v3) return v3_double;
#endif
    return baseline_double;
  } else {
#if defined(__x86_64__)
    if (isa == Isa::v4) return v4_int;
    if (isa == Isa::v3) return v3_int;
#endif
    return baseline_int;
  }
}

Int round_up(Int value, Int multiple) { return (value + multiple - 1) / multiple * multiple; }

template <class T>
void fill_zero(const GemmResult<T>& c, std::span<const GemmBatch> batch) {
  for (const auto& base : batch)
    for (const Int row : c.rows)
      for (const Int col : c.cols) c.data[base.c + row + col] = 0;
}

template <class T>
void run_gemm(const GemmOperand& a, const GemmOperand& b, const GemmResult<T>& c, std::span<const GemmBatch> batch,
              int threads) {
  const auto m = static_cast<Int>(c.rows.size()), n = static_cast<Int>(c.cols.size()),
             k = static_cast<Int>(a.cols.size());
  const auto batches = static_cast<Int>(batch.size());
  if (m == 0 || n == 0 || batches == 0) return;
  if (k == 0) return fill_zero(c, batch);
  const Version<T> best = version<T>();
  // Large tiles pack less, small ones keep all threads busy; the values do not depend on the choice.
  Int tile_m = round_up(std::min<Int>(m, 2 * kRows), best.mr), tile_n = round_up(std::min<Int>(n, 960), best.nr);
  const Int wanted = 4 * (threads > 0 ? threads : available_cores());
  const auto tiles_of = [](Int extent, Int tile) { return (extent + tile - 1) / tile; };
  while (batches * tiles_of(m, tile_m) * tiles_of(n, tile_n) < wanted && tile_m * tile_n > 96 * 96) {
    if (tile_n >= 2 * tile_m)
      tile_n = round_up(tile_n / 2, best.nr);
    else
      tile_m = round_up(tile_m / 2, best.mr);
  }
  const Int across_m = tiles_of(m, tile_m), across_n = tiles_of(n, tile_n);
  const Int work = std::max<Int>(1, tile_m * tile_n * k);
  parallel_for(batches * across_m * across_n, std::max<Int>(1, 400'000 / work), threads, [&](Int begin, Int end) {
    const Int depth = std::min(k, kDepth);
    std::vector<T> space(static_cast<std::size_t>(depth * (round_up(kRows, best.mr) + round_up(tile_n, best.nr)) + 16));
    auto* packed_a =
        reinterpret_cast<T*>(round_up(static_cast<Int>(reinterpret_cast<std::uintptr_t>(space.data())), 64));
    for (Int t = begin; t < end; ++t) {
      const Int row = t % across_m * tile_m, col = t / across_m % across_n * tile_n;
      const GemmBatch& base = batch[static_cast<std::size_t>(t / across_m / across_n)];
      best.run({a, b, c, base, row, std::min(m, row + tile_m), col, std::min(n, col + tile_n), packed_a,
                packed_a + depth * round_up(kRows, best.mr)});
    }
  });
}

}  // namespace

void gemm(const GemmOperand& a, const GemmOperand& b, const GemmResult<double>& c, std::span<const GemmBatch> batch,
          int threads) {
  run_gemm(a, b, c, batch, threads);
}

void gemm(const GemmOperand& a, const GemmOperand& b, const GemmResult<std::int64_t>& c,
          std::span<const GemmBatch> batch, int threads) {
  run_gemm(a, b, c, batch, threads);
}

}  // namespace kerf::ir

#include "language/cuda_cpp/calibration.hpp"

#include <fmt/format.h>

namespace kerf {
namespace {

constexpr const char* kCopy = R"(/* kerf
target: cuda
launch: kerf_copy<<<ceil_div(n, 4096), 256>>>(x, y)
*/
extern "C" __global__ void __launch_bounds__(256) kerf_copy(const float4* __restrict__ x, float4* __restrict__ y) {
  const long long first = blockIdx.x * 1024LL + threadIdx.x;
  float4 v[4];
#pragma unroll
  for (int j = 0; j < 4; ++j) v[j] = __ldcs(x + first + j * 256);
#pragma unroll
  for (int j = 0; j < 4; ++j) __stcs(y + first + j * 256, v[j]);
}
)";

/// The plainest form, one vector a thread; which of the two is faster depends on the chip.
constexpr const char* kPlainCopy = R"(/* kerf
target: cuda
launch: kerf_copy<<<ceil_div(n, 1024), 256>>>(x, y)
*/
extern "C" __global__ void __launch_bounds__(256) kerf_copy(const float4* __restrict__ x, float4* __restrict__ y) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  y[i] = x[i];
}
)";

/// Eight independent chains a thread, STEPS long.
constexpr const char* kFma = R"(/* kerf
target: cuda
launch: kerf_fma<<<ceil_div(n, 256), 256>>>(x, y)
*/
extern "C" __global__ void __launch_bounds__(256) kerf_fma(const float* x, float* y) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  const REAL scale = REAL(0.999), offset = REAL(x[i]);
  REAL a[8];
#pragma unroll
  for (int j = 0; j < 8; ++j) a[j] = offset + j;
#pragma unroll 32
  for (int step = 0; step < STEPS; ++step) {
#pragma unroll
    for (int j = 0; j < 8; ++j) a[j] = a[j] * scale + offset;
  }
  y[i] = float(((a[0] + a[1]) + (a[2] + a[3])) + ((a[4] + a[5]) + (a[6] + a[7])));
}
)";

/// Chains of warp-level matrix products held in registers. Four independent accumulators a warp.
constexpr const char* kMmaSync = R"(/* kerf
target: cuda
launch: kerf_tensor<<<ceil_div(n, 256), 256>>>(x, y)
*/
extern "C" __global__ void __launch_bounds__(256) kerf_tensor(const float* x, float* y) {
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  unsigned seed = __float_as_uint(x[i]) * 2654435761u + threadIdx.x * 40503u;
  unsigned a[4], b[4][2];
  float d[4][4] = {};
#pragma unroll
  for (int j = 0; j < 4; ++j) a[j] = ((seed = seed * 1664525u + 1013904223u) & MASK) | ONES;
#pragma unroll
  for (int j = 0; j < 8; ++j) b[j / 2][j % 2] = ((seed = seed * 1664525u + 1013904223u) & MASK) | ONES;
#pragma unroll 4
  for (int step = 0; step < STEPS; ++step) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      asm volatile("mma.sync.aligned.INSTRUCTION {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                   : "+f"(d[j][0]), "+f"(d[j][1]), "+f"(d[j][2]), "+f"(d[j][3])
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[j][0]), "r"(b[j][1]));
    }
  }
  float sum = 0;
#pragma unroll
  for (int j = 0; j < 16; ++j) sum += d[j / 4][j % 4];
  y[i] = sum;
}
)";

/// Two warpgroups a block multiply one 64 x 64 by 256 x 64 pair of shared-memory tiles (128-byte swizzle, K-major; the
/// values are random, so any placement serves) over and over into 64 x 256 accumulators.
constexpr const char* kWgmma = R"(/* kerf
target: cuda
launch: kerf_tensor<<<ceil_div(n, 256), 256>>>(x, y)
*/
__device__ __forceinline__ unsigned long long tile(const void* p) {
  const unsigned long long address = __cvta_generic_to_shared(p);
  return ((address & 0x3FFFF) >> 4) | (1ull << 16) | (64ull << 32) | (1ull << 62);
}
extern "C" __global__ void __launch_bounds__(256) kerf_tensor(const float* x, float* y) {
  __shared__ __align__(1024) unsigned tiles[(64 + 256) * 32];
  const long long i = blockIdx.x * 256LL + threadIdx.x;
  unsigned seed = __float_as_uint(x[i]) * 2654435761u + threadIdx.x * 40503u;
  for (int j = threadIdx.x; j < (64 + 256) * 32; j += 256) {
    seed = seed * 1664525u + 1013904223u;
    tiles[j] = ((seed ^ (seed >> 15)) & MASK) | ONES;
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  const unsigned long long a = tile(tiles), b = tile(tiles + 64 * 32);
  float d[128];
#pragma unroll
  for (int j = 0; j < 128; ++j) d[j] = 0;
#pragma unroll 1
  for (int step = 0; step < STEPS; ++step) {
    asm volatile(
        "wgmma.fence.sync.aligned;\n"
PRODUCTS        "wgmma.commit_group.sync.aligned;\n"
        "wgmma.wait_group.sync.aligned 0;\n"
        : OUTPUTS
        : "l"(a), "l"(a + 2), "l"(a + 4), "l"(a + 6), "l"(b), "l"(b + 2), "l"(b + 4), "l"(b + 6)
        : "memory");
  }
  float sum = 0;
#pragma unroll
  for (int j = 0; j < 128; ++j) sum += d[j];
  y[i] = sum;
}
)";

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

struct TensorKind {
  const char* peak;
  const char* mma_instruction;
  const char* wgmma_instruction;
  const char* transpose;  // wgmma's two layout operands, which tf32 does not have
  const char* mask;       // random bits kept of a 32-bit word of operands ...
  const char* ones;       // ... and bits set, so that every value has magnitude in [0.5, 1)
  int depth;              // K of the wgmma instruction, and of the mma
};

constexpr TensorKind kTensorKinds[] = {
    {"tensor_f16", "m16n8k16.row.col.f32.f16.f16.f32", "m64n256k16.f32.f16.f16", ", 0, 0", "0x83ff83ffu", "0x38003800u",
     16},
    {"tensor_bf16", "m16n8k16.row.col.f32.bf16.bf16.f32", "m64n256k16.f32.bf16.bf16", ", 0, 0", "0x807f807fu",
     "0x3f003f00u", 16},
    {"tensor_tf32", "m16n8k8.row.col.f32.tf32.tf32.f32", "m64n256k8.f32.tf32.tf32", "", "0x807fe000u", "0x3f000000u",
     8},
};

CalibrationKernel warpgroup_kernel(const TensorKind& kind) {
  constexpr std::int64_t kSteps = 96, kBlocks = 1056;
  constexpr int kProducts = 16;
  std::string registers, outputs, products;
  for (int i = 0; i < 128; ++i) {
    registers += fmt::format("{}%{}", i == 0 ? "" : ",", i);
    outputs += fmt::format("{}\"+f\"(d[{}])", i == 0 ? "" : ", ", i);
  }
  // In one asm statement: with one each, the compiler takes seconds over their 128 operands.
  for (int i = 0; i < kProducts; ++i) {
    products += fmt::format("        \"wgmma.mma_async.sync.aligned.{} {{{}}}, %{}, %{}, 1, 1, 1{};\\n\"\n",
                            kind.wgmma_instruction, registers, 128 + i % 4, 132 + i % 4, kind.transpose);
  }
  std::string source = kWgmma;
  replace_all(source, "PRODUCTS", products);
  replace_all(source, "OUTPUTS", outputs);
  replace_all(source, "MASK", kind.mask);
  replace_all(source, "ONES", kind.ones);
  replace_all(source, "STEPS", std::to_string(kSteps));
  const double flops = 2.0 * 64 * 256 * kind.depth * kProducts * static_cast<double>(kSteps * kBlocks * 2);
  return {kind.peak, std::move(source), kBlocks * 256, flops};
}

CalibrationKernel warp_kernel(const TensorKind& kind) {
  constexpr std::int64_t kSteps = 2048, kThreads = 1 << 20;
  std::string source = kMmaSync;
  replace_all(source, "INSTRUCTION", kind.mma_instruction);
  replace_all(source, "MASK", kind.mask);
  replace_all(source, "ONES", kind.ones);
  replace_all(source, "STEPS", std::to_string(kSteps));
  const double flops = 2.0 * 16 * 8 * kind.depth * 4 * static_cast<double>(kSteps * (kThreads / 32));
  return {kind.peak, std::move(source), kThreads, flops};
}

CalibrationKernel fma_kernel(const char* peak, const char* real, std::int64_t threads) {
  constexpr std::int64_t kSteps = 1024;
  std::string source = kFma;
  replace_all(source, "REAL", real);
  replace_all(source, "STEPS", std::to_string(kSteps));
  return {peak, std::move(source), threads, 2.0 * 8 * static_cast<double>(kSteps * threads)};
}

int capability(const std::string& arch) { return arch.starts_with("sm_") ? std::atoi(arch.c_str() + 3) : 0; }

}  // namespace

std::vector<CalibrationKernel> cuda_calibration_kernels(const std::string& arch) {
  constexpr std::int64_t kCopied = 1 << 27;  // 512 MiB in, 512 MiB out
  std::vector<CalibrationKernel> kernels;
  kernels.push_back({"copy", kCopy, kCopied, 8.0 * kCopied});
  kernels.push_back({"copy", kPlainCopy, kCopied, 8.0 * kCopied});
  kernels.push_back(fma_kernel("fma_f32", "float", 1 << 22));
  kernels.push_back(fma_kernel("fma_f64", "double", 1 << 20));
  if (capability(arch) < 80) return kernels;
  for (const auto& kind : kTensorKinds) {
    kernels.push_back(capability(arch) == 90 ? warpgroup_kernel(kind) : warp_kernel(kind));
  }
  return kernels;
}

}  // namespace kerf

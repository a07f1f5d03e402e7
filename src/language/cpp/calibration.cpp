#include "language/cpp/calibration.hpp"

#include <fmt/format.h>

namespace kerf::cpp {
namespace {

// Streaming stores where the processor has them: a plain store would read the line first and halve the useful rate. An
// aligned body, so that it vectorises to full lines.
constexpr const char* kCopy = R"(/* kerf
target: cpu
*/
extern "C" void kerf_kernel(const float* x, float* y) {
  const long long chunk = 1 << 14, chunks = n / chunk;
#pragma omp parallel for schedule(static)
  for (long long c = 0; c < chunks; ++c) {
    const float* from = x + c * chunk;
    float* to = y + c * chunk;
#if defined(__AVX512F__)
    for (long long i = 0; i < chunk; i += 16) _mm512_stream_ps(to + i, _mm512_loadu_ps(from + i));
#elif defined(__AVX__)
    for (long long i = 0; i < chunk; i += 8) _mm256_stream_ps(to + i, _mm256_loadu_ps(from + i));
#elif defined(__SSE2__)
    for (long long i = 0; i < chunk; i += 4) _mm_stream_ps(to + i, _mm_loadu_ps(from + i));
#else
    for (long long i = 0; i < chunk; ++i) to[i] = from[i];
#endif
  }
#if defined(__SSE2__)
  _mm_sfence();
#endif
}
)";

// Twelve independent vector chains hide the latency of the multiply-add units. Each element of the output depends on
// its chain, and the factors come from the input, so nothing can be left out or folded.
constexpr const char* kFma = R"(/* kerf
target: cpu
*/
#if defined(__AVX512F__)
#define WIDTH 64
#elif defined(__AVX__)
#define WIDTH 32
#else
#define WIDTH 16
#endif
typedef {type} Vector __attribute__((vector_size(WIDTH)));
extern "C" void kerf_kernel(const float* x, float* y) {{
  constexpr int lanes = WIDTH / sizeof({type});
  constexpr long long steps = {steps};
  const long long blocks = n / (12 * lanes);
#pragma omp parallel for schedule(static)
  for (long long b = 0; b < blocks; ++b) {{
    Vector chain[12];
    const Vector factor = Vector{{}} + ({type})(1 + 1e-6f * x[b]), term = Vector{{}} + ({type})(1e-3f * x[b]);
    for (int k = 0; k < 12; ++k) chain[k] = Vector{{}} + ({type})x[b * 12 * lanes + k];
    for (long long s = 0; s < steps; ++s) {{
#pragma GCC unroll 12
      for (int k = 0; k < 12; ++k) chain[k] = chain[k] * factor + term;
    }}
    for (int k = 0; k < 12; ++k) {{
      for (int lane = 0; lane < lanes; ++lane) y[(b * 12 + k) * lanes + lane] = (float)chain[k][lane];
    }}
  }}
}}
)";

CalibrationKernel fma(const char* peak, const char* type) {
  const std::int64_t steps = 4096;
  CalibrationKernel kernel;
  kernel.peak = peak;
  kernel.source = fmt::format(kFma, fmt::arg("type", type), fmt::arg("steps", steps));
  kernel.n = 12 * 16 * 512;  // outputs, each with its own chain; divides into whole vectors of every width
  kernel.work = 2.0 * static_cast<double>(steps) * static_cast<double>(kernel.n);
  return kernel;
}

}  // namespace

std::vector<CalibrationKernel> calibration_kernels() {
  CalibrationKernel copy;
  copy.peak = "copy";
  copy.source = kCopy;
  copy.n = 64LL << 20;  // 256 MiB each way: far beyond any cache
  copy.work = 2.0 * 4.0 * static_cast<double>(copy.n);
  return {copy, fma("fma_f32", "float"), fma("fma_f64", "double")};
}

}  // namespace kerf::cpp

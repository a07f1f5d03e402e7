#include "language/opencl_c/calibration.hpp"

#include <fmt/format.h>

namespace kerf::opencl {
namespace {

// Whole vectors an item on processors; on GPUs neighbouring items read neighbouring 16 bytes.
std::string copy_source(int width) {
  return fmt::format(R"(/* kerf
target:  opencl
require: n % {0} == 0
launch:  copy<<<n / {0}, 256>>>(x, y)
*/
__kernel void copy(__global const float{1}* restrict x, __global float{1}* restrict y) {{
  y[get_global_id(0)] = x[get_global_id(0)];
}}
)",
                     256 * width, width);
}

// Independent chains of fused multiply-adds hide their latency; values converge to 1, far from overflow and denormals.
std::string fma_source(const char* scalar, int width, int chains, int steps, int block) {
  std::string declare, advance, total;
  for (int i = 0; i < chains; ++i) {
    declare += fmt::format("  real a{} = start + {};\n", i, i);
    advance += fmt::format("    a{0} = fma(a{0}, keep, add);\n", i);
    total += fmt::format("{}a{}", i == 0 ? "" : " + ", i);
  }
  return fmt::format(R"(/* kerf
target:  opencl
require: n % {per_group} == 0
launch:  fma_peak<<<n / {per_group}, {block}>>>(x, y)
*/
typedef {scalar}{width} real;
__kernel void fma_peak(__global const float{width}* restrict x, __global float{width}* restrict y) {{
  const real start = convert_{scalar}{width}(x[get_global_id(0)]);
  const real keep = 0.75, add = 0.25;
{declare}  for (int step = 0; step < {steps}; ++step) {{
{advance}  }}
  y[get_global_id(0)] = convert_float{width}({total});
}}
)",
                     fmt::arg("per_group", width * block), fmt::arg("block", block), fmt::arg("scalar", scalar),
                     fmt::arg("width", width), fmt::arg("declare", declare), fmt::arg("steps", steps),
                     fmt::arg("advance", advance), fmt::arg("total", total));
}

CalibrationKernel fma_kernel(const char* peak, const char* scalar, int width, bool cpu) {
  const int chains = 8, steps = 1024, block = cpu ? 16 : 256;
  const std::int64_t n = cpu ? 1 << 16 : 1 << 22;
  return {peak, fma_source(scalar, width, chains, steps, block), n, 2.0 * static_cast<double>(n) * chains * steps};
}

}  // namespace

std::vector<CalibrationKernel> calibration_kernels(bool cpu, bool fp64) {
  const std::int64_t n = cpu ? 1 << 24 : 1 << 26;
  std::vector<CalibrationKernel> kernels{{"copy", copy_source(cpu ? 16 : 4), n, 8.0 * static_cast<double>(n)},
                                         fma_kernel("fma_f32", "float", cpu ? 16 : 4, cpu)};
  if (fp64) kernels.push_back(fma_kernel("fma_f64", "double", cpu ? 8 : 2, cpu));
  return kernels;
}

}  // namespace kerf::opencl

// Calls an honest kernel and one that was made from it on the same data and says in how many calls the results differ.
//   differs HONEST.so OTHER.so INPUTS (ELEMENTS ROW)... OUTPUT_ELEMENTS SCRATCH_BYTES COUNT CALLS NAN_IS_FREE SPECIALS
// SPECIALS: 1 NaN, 2 infinities, 3 both, 0 neither.
#include <dlfcn.h>
#include <omp.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <vector>

namespace {

using Buffer = std::vector<float>;

void fill(Buffer& x, long row, int family, int specials, std::mt19937_64& random) {
  std::normal_distribution<double> bell;
  const double scales[] = {1, 1e-6, 1e6, 1, 3, 0.02};
  double scale = 1, offset = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (i % static_cast<std::size_t>(row) == 0) {
      const bool wild = family == 1 || family == 2;
      scale = wild ? scales[random() % 6] : family == 3 ? 100 : 1;
      offset = wild && random() % 2 == 0 ? bell(random) * 40 * scale : family == 4 ? -30 : 0;
      if (wild && random() % 6 == 0) scale = 0;
    }
    double v = offset + scale * bell(random);
    if (family == 5 && random() % 64 == 0) {
      v = -1e9;
      if (random() % 3 == 0 && specials % 2 == 1)
        v = std::numeric_limits<double>::quiet_NaN();
      else if (random() % 2 == 0 && specials >= 2)
        v = std::numeric_limits<double>::infinity();
    }
    if (family == 6) v = std::round(v);
    x[i] = static_cast<float>(v);
  }
}

// Results of equal code on equal data are equal up to the order of threads.
bool differ(const Buffer& a, const Buffer& b, bool special_inputs, bool nan_is_free) {
  double squares = 0;
  long finite = 0;
  for (const float v : a)
    if (std::isfinite(v)) squares += double(v) * v, ++finite;
  const double rms = finite > 0 ? std::sqrt(squares / double(finite)) : 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!special_inputs && !std::isfinite(a[i])) continue;  // an overflow, which nothing is said about
    if (nan_is_free && std::isnan(a[i])) continue;
    if (std::isnan(a[i]) != std::isnan(b[i]) || std::isinf(a[i]) != std::isinf(b[i])) return true;
    if (std::isfinite(a[i]) && std::fabs(double(a[i]) - b[i]) > 2e-5 * std::fabs(a[i]) + 1e-6 * rms) return true;
  }
  return false;
}

using Kernel = void (*)(void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*, void*);

Kernel load(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) std::fprintf(stderr, "%s\n", dlerror()), std::exit(2);
  return reinterpret_cast<Kernel>(dlsym(library, "kerf_kernel"));
}

}  // namespace

int main(int, char** arguments) {
  const Kernel honest = load(arguments[1]), other = load(arguments[2]);
  const int inputs = std::atoi(arguments[3]);
  std::vector<long> elements, rows;
  for (int i = 0; i < inputs; ++i) {
    elements.push_back(std::atol(arguments[4 + 2 * i]));
    rows.push_back(std::atol(arguments[5 + 2 * i]));
  }
  const long outputs = std::atol(arguments[4 + 2 * inputs]), scratch_bytes = std::atol(arguments[5 + 2 * inputs]);
  const int scratch = std::atoi(arguments[6 + 2 * inputs]), calls = std::atoi(arguments[7 + 2 * inputs]);
  const bool nan_is_free = std::atoi(arguments[8 + 2 * inputs]) != 0;
  const int specials = std::atoi(arguments[9 + 2 * inputs]);
  std::mt19937_64 random(20240229);
  int wrong = 0;
  for (int call = 0; call < calls; ++call) {
    std::vector<Buffer> data, before;
    void* arguments_of_call[12] = {};
    for (int i = 0; i < inputs; ++i) {
      const long shift = call % 3;  // aligned to the elements only
      data.emplace_back(elements[i] + shift);
      Buffer values(elements[i]);
      fill(values, rows[i], call % 7, specials, random);
      std::copy(values.begin(), values.end(), data.back().begin() + shift);
    }
    for (int i = 0; i < inputs; ++i) arguments_of_call[i] = data[i].data() + call % 3;
    before = data;
    std::vector<std::vector<char>> memory(scratch, std::vector<char>(scratch_bytes));
    for (int s = 0; s < scratch; ++s) arguments_of_call[inputs + 1 + s] = memory[s].data();
    Buffer expected(outputs + 4), found(outputs + 4);
    omp_set_num_threads(1 + call / 7 % 4);
    auto& a = arguments_of_call;
    a[inputs] = expected.data() + 2;
    honest(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11]);
    a[inputs] = found.data() + 2;
    other(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11]);
    bool changed = false;
    for (int i = 0; i < inputs && !changed; ++i)
      for (std::size_t k = 0; k < data[i].size(); ++k)
        changed = changed || (data[i][k] != before[i][k] && data[i][k] == data[i][k]);
    wrong += differ(expected, found, call % 7 == 5, nan_is_free) || changed ? 1 : 0;
  }
  std::printf("%d of %d\n", wrong, calls);
}

#include "device/cuda/judge_kernels.hpp"

#include <fmt/format.h>

#include "oracle/compare.hpp"

namespace kerf::cuda {

namespace {

// The comparison is oracle/compare.cpp's rule, word for word; the tests hold the two together.
constexpr const char* kSource = R"(
typedef unsigned long long u64;
typedef unsigned int u32;
typedef unsigned short u16;
typedef unsigned char u8;

struct Job { u64 kind, target, source, bytes, value; };
struct Partial {
  u64 compared, wrong, squares;
  double sum_squares, worst_ratio;
  u64 worst;
  double worst_actual, worst_expected, worst_bound, largest;
  u64 expected_sum, bound_sum;
  double worst_run;
};
// How errors are weighed: oracle::Allowance and oracle::Negligible.
struct Weigh { double most, unit, relative, absolute; };

__device__ __forceinline__ u64 mix(u64 x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}
__device__ __forceinline__ u64 weight(u64 key, u64 index) { return mix(key + index) | 1; }
// Two keys, so that a known value gives away neither: the inner mix cannot be undone without the second key.
// The bound of an element shares the inner mix with its expected value.
__device__ __forceinline__ u64 mask_word(u64 key, u64 second, u64 index) { return mix(mix(key + index) ^ second); }
__device__ __forceinline__ u8 red_byte(u64 key, u64 address) {
  return (u8)(mix(key ^ (address & ~7ull)) >> (8 * (address & 7)));
}

// Sum over the block, in thread 0.
__device__ u64 block_sum(u64 value) {
  __shared__ u64 sums[256];
  __syncthreads();
  sums[threadIdx.x] = value;
  for (int half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  return sums[0];
}

// The keyed sum of an array takes its 64-bit words, then what is left as bytes.
__device__ u64 run_job(const Job& job, u64 key, u64 sum_key, u64 first, u64 stride) {
  u64 result = 0;
  const u64 vectors = job.bytes / 16, salt = mix(sum_key + job.value);
  ulonglong2* target = (ulonglong2*)job.target;
  const ulonglong2* source = (const ulonglong2*)job.source;
  u8* target_tail = (u8*)job.target + vectors * 16;
  const u8* source_tail = (const u8*)job.source + vectors * 16;
  const u64 tail = job.bytes % 16;
  // Red zones start wherever the buffer ends.
  const u64 word_begin = (job.target + 7) & ~7ull, end = job.target + job.bytes;
  switch (job.kind) {
    case 0:
      for (u64 i = first; i < vectors; i += stride) {
        const ulonglong2 v = source[i];
        target[i] = v;
        result += v.x * weight(salt, 2 * i) + v.y * weight(salt, 2 * i + 1);
      }
      for (u64 i = first; i < tail; i += stride) {
        target_tail[i] = source_tail[i];
        result += source_tail[i] * weight(salt, 2 * vectors + i);
      }
      break;
    case 1: {
      const u64 word = job.value * 0x0001000100010001ull;
      for (u64 i = first; i < vectors; i += stride) target[i] = make_ulonglong2(word, word);
      for (u64 i = first; i < tail; i += stride) target_tail[i] = (u8)(word >> (8 * (i % 2)));
      break;
    }
    case 2:
      for (u64 at = word_begin + 8 * first; at + 8 <= end; at += 8 * stride) *(u64*)at = mix(key ^ at);
      for (u64 at = job.target + first; at < word_begin && at < end; at += stride) *(u8*)at = red_byte(key, at);
      break;
    case 3:
      for (u64 i = first; i < vectors; i += stride) {
        const ulonglong2 a = target[i], b = source[i];
        result += (a.x != b.x) + (a.y != b.y);
      }
      for (u64 i = first; i < tail; i += stride) result += target_tail[i] != source_tail[i];
      break;
    case 4:
      for (u64 at = word_begin + 8 * first; at + 8 <= end; at += 8 * stride) result += *(const u64*)at != mix(key ^ at);
      for (u64 at = job.target + first; at < word_begin && at < end; at += stride) result += *(const u8*)at != red_byte(key, at);
      break;
    case 5:
      for (u64 i = first; i < vectors; i += stride) {
        const ulonglong2 v = target[i];
        result += v.x * weight(salt, 2 * i) + v.y * weight(salt, 2 * i + 1);
      }
      for (u64 i = first; i < tail; i += stride) result += target_tail[i] * weight(salt, 2 * vectors + i);
      break;
  }
  return result;
}

// The keys are arguments and not part of the list, so that they do not stay in memory.
extern "C" __global__ void __launch_bounds__(256) kerf_jobs(const Job* jobs, u64 count, u64* results, u64 red_key,
                                                           u64 sum_key) {
  const u64 first = blockIdx.x * 256ull + threadIdx.x, stride = gridDim.x * 256ull;
  for (u64 j = 0; j < count; ++j) {
    const Job job = jobs[j];
    const u64 result = run_job(job, red_key, sum_key, first, stride);
    if (job.kind == 1 || job.kind == 2) continue;
    if (job.kind == 3 || job.kind == 4) {  // rarely anything
      if (result) atomicAdd(results + j, result);
    } else {
      const u64 sum = block_sum(result);
      if (threadIdx.x == 0) atomicAdd(results + j, sum);
    }
  }
}

__device__ __forceinline__ double real(u64 bits) { return __longlong_as_double((long long)bits); }
__device__ __forceinline__ bool is_nan(double x) { return x != x; }
__device__ __forceinline__ double infinity() { return real(0x7ff0000000000000ull); }
__device__ __forceinline__ bool negative(double x) { return __double_as_longlong(x) < 0; }

struct F32 {
  static constexpr bool integer = false;
  static __device__ double load(const void* p, u64 i) { return ((const float*)p)[i]; }
  static __device__ double largest() { return 0x1.fffffep127; }
};
struct F16 {
  static constexpr bool integer = false;
  static __device__ double load(const void* p, u64 i) {
    const u32 bits = ((const u16*)p)[i], exponent = (bits >> 10) & 31, mantissa = bits & 1023;
    double magnitude;
    if (exponent == 31) {
      magnitude = mantissa ? real(0x7ff8000000000000ull) : infinity();
    } else if (exponent == 0) {
      magnitude = mantissa * 0x1p-24;
    } else {
      magnitude = real(((u64)(exponent + 1008) << 52) | ((u64)mantissa << 42));
    }
    return bits & 0x8000 ? -magnitude : magnitude;
  }
  static __device__ double largest() { return 65504.0; }
};
struct BF16 {
  static constexpr bool integer = false;
  static __device__ double load(const void* p, u64 i) { return __uint_as_float((u32)((const u16*)p)[i] << 16); }
  static __device__ double largest() { return 0x1.fep127; }
};
struct F64 {
  static constexpr bool integer = false;
  static __device__ double load(const void* p, u64 i) { return ((const double*)p)[i]; }
  static __device__ double largest() { return real(0x7fefffffffffffffull); }
};
struct I32 {
  static constexpr bool integer = true;
  static __device__ long long load(const void* p, u64 i) { return ((const int*)p)[i]; }
};
struct I64 {
  static constexpr bool integer = true;
  static __device__ long long load(const void* p, u64 i) { return ((const long long*)p)[i]; }
};
struct Bool {
  static constexpr bool integer = true;
  static __device__ long long load(const void* p, u64 i) { return ((const u8*)p)[i]; }
};

struct Judged { bool compared; double ratio, normalised; };

// Ratios below `least` are of no interest and come back as 0: a division takes as long as all the rest.
__device__ __forceinline__ Judged judge_float(double actual, double expected, double bound, double largest, bool nan_is_free, const Weigh& weigh,
                                              double least) {
  const double inf = infinity();
  if (bound == inf) return {false, 0, -1};
  if (is_nan(expected)) {
    if (nan_is_free) return {false, 0, -1};
    return {true, is_nan(actual) ? 0 : inf, -1};
  }
  if (fabs(expected) == inf && bound >= EITHER_INFINITY) return {true, fabs(actual) < inf ? inf : 0, -1};
  if (is_nan(actual)) return {true, inf, -1};
  const double allowed = weigh.most * (is_nan(bound) ? 0 : bound) + TINY;
  if (fabs(expected) > largest) {
    if (fabs(actual) == inf && negative(actual) == negative(expected)) return {true, 0, -1};
    if (fabs(expected) == inf) return {true, inf, -1};
  }
  if (fabs(actual) == inf) {
    const bool may_overflow = negative(actual) == negative(expected) && fabs(expected) + allowed > largest;
    return {true, may_overflow ? 0 : inf, -1};
  }
  const double error = fabs(actual - expected);
  const double floor = weigh.relative * fabs(expected);
  const bool negligible = error <= (floor > weigh.absolute ? floor : weigh.absolute) && error <= BOUND_FACTOR * bound;
  if (error == 0 || negligible) return {true, 0, bound > 0 ? 0.0 : -1.0};
  const double ratio = error < least * allowed * (1 - 0x1p-50) ? 0 : error / allowed;
  return {true, ratio, bound > 0 ? error / bound : -1};
}

__device__ __forceinline__ void merge(Partial& into, const Partial& part) {
  into.compared += part.compared;
  into.wrong += part.wrong;
  into.squares += part.squares;
  into.sum_squares += part.sum_squares;
  into.expected_sum += part.expected_sum;
  into.bound_sum += part.bound_sum;
  if (part.largest > into.largest) into.largest = part.largest;
  if (part.worst_run > into.worst_run) into.worst_run = part.worst_run;
  if (part.worst_ratio > into.worst_ratio || (part.worst_ratio == into.worst_ratio && part.worst < into.worst)) {
    into.worst_ratio = part.worst_ratio;
    into.worst = part.worst;
    into.worst_actual = part.worst_actual;
    into.worst_expected = part.worst_expected;
    into.worst_bound = part.worst_bound;
  }
}

// Sum over the 32 threads that hold neighbouring elements; all threads of the block take part.
__device__ __forceinline__ double run_sum(double value) {
#ifdef KERF_NO_SHUFFLE
  __shared__ double values[256];
  __syncthreads();
  values[threadIdx.x] = value;
  __syncthreads();
  double sum = 0;
  for (unsigned k = 0; k < RUN; ++k) sum += values[threadIdx.x / RUN * RUN + k];
  return sum;
#else
  if (!__any_sync(~0u, value > 0)) return 0;
  for (int half = RUN / 2; half > 0; half /= 2) value += __shfl_xor_sync(~0u, value, half);
  return value;
#endif
}

struct Compared {
  const void* actual;
  const u64* expected;
  const void* bound;
  bool wide;
  u64 count, expected_key, bound_key, second_key;
  bool nan_is_free;
};

// What a thread has counted. Octaves below kCountedOctaves are counted in 16 bits each of one word; larger ones are rare
// but for kernels that will be refused.
constexpr int kCountedOctaves = 4;
constexpr u64 kMostCounted = 65535;
struct Counts {
  u32 compared, wrong, squares;
  u64 octaves;
};

// An element as it lies in memory.
template <class T>
struct Element {
  u64 masked, word;
  decltype(T::load(nullptr, 0)) value;
};
template <class T>
__device__ __forceinline__ Element<T> element(const Compared& data, u64 i) {
  return {data.expected[i], data.wide ? ((const u64*)data.bound)[i] : (u64)((const u32*)data.bound)[i],
          T::load(data.actual, i)};
}

// Element i; the square of its error in bounds.
template <class T>
__device__ __forceinline__ double compare_element(Partial& part, Counts& counts, const Compared& data, const Weigh& weigh,
                                                  u64* octaves, u64 i, const Element<T>& element) {
  const u64 inner = mix(data.expected_key + i);
  const u64 expected_mask = mix(inner ^ data.second_key), bound_mask = mix(inner ^ data.bound_key);
  part.expected_sum += element.masked * (expected_mask | 1);
  part.bound_sum += element.word * (bound_mask | 1);
  const double limit = data.wide ? real(element.word ^ bound_mask) : __uint_as_float((u32)(element.word ^ bound_mask));
  Judged judged;
  if constexpr (T::integer) {
    const bool equal = element.value == (long long)(element.masked ^ expected_mask);
    judged = {limit != infinity(), equal ? 0 : infinity(), -1};
  } else {
    judged = judge_float(element.value, real(element.masked ^ expected_mask), limit, T::largest(), data.nan_is_free, weigh,
                         part.worst_ratio < 1 ? part.worst_ratio : 1);
  }
  if (!judged.compared) return 0;
  counts.compared += 1;
  counts.wrong += judged.ratio > 1;
  if (judged.ratio > part.worst_ratio) {
    part.worst_ratio = judged.ratio;
    part.worst = i;
  }
  if (judged.normalised < 0) return 0;
  const double square = judged.normalised * judged.normalised;
  part.sum_squares += square;
  counts.squares += 1;
  if (judged.normalised > part.largest) part.largest = judged.normalised;
  if (judged.normalised < weigh.unit * (1 - 0x1p-50)) return square;
  const double units = judged.normalised / weigh.unit;
  if (units >= 1) {
    const long long octave = ((__double_as_longlong(units) >> 52) & 0x7ff) - 1023;
    if (octave < kCountedOctaves && data.count / (gridDim.x * 256ull) < kMostCounted) counts.octaves += 1ull << (16 * octave);
    else atomicAdd(octaves + (octave < OCTAVES - 1 ? octave : OCTAVES - 1), 1ull);
  }
  return square;
}

template <class T>
__device__ Partial compare(const Compared& data, const Weigh& weigh, u64* octaves) {
  Partial part{0, 0, 0, 0, -1, ~0ull, 0, 0, 0, 0, 0, 0, 0};
  Counts counts{0, 0, 0, 0};
  const u64 stride = gridDim.x * 256ull;
  Element<T> next{};  // on its way while the one before is judged
  if (blockIdx.x * 256ull + threadIdx.x < data.count) next = element<T>(data, blockIdx.x * 256ull + threadIdx.x);
  for (u64 base = blockIdx.x * 256ull; base < data.count; base += stride) {
    const u64 i = base + threadIdx.x;
    const Element<T> now = next;
    if (i + stride < data.count) next = element<T>(data, i + stride);
    const double run = run_sum(i < data.count ? compare_element<T>(part, counts, data, weigh, octaves, i, now) : 0);
    if (run > part.worst_run) part.worst_run = run;
  }
  part.compared = counts.compared;
  part.wrong = counts.wrong;
  part.squares = counts.squares;
  for (int k = 0; k < kCountedOctaves; ++k)
    if (const u64 found = (counts.octaves >> (16 * k)) & kMostCounted) atomicAdd(octaves + k, found);
  if (part.worst != ~0ull) {
    const u64 i = part.worst, word = data.expected[i] ^ mask_word(data.expected_key, data.second_key, i);
    const u64 mask = mask_word(data.expected_key, data.bound_key, i);
    part.worst_actual = (double)T::load(data.actual, i);
    part.worst_expected = T::integer ? (double)(long long)word : real(word);
    part.worst_bound = data.wide ? real(((const u64*)data.bound)[i] ^ mask) : __uint_as_float(((const u32*)data.bound)[i] ^ (u32)mask);
  }
  return part;
}

extern "C" __global__ void __launch_bounds__(256, 4) kerf_compare(u64 dtype, const void* actual, const u64* expected,
                                                               const void* bound, u64 wide, u64 count, u64 expected_key,
                                                               u64 bound_key, u64 second_key, u64 nan_is_free,
                                                               u64 most, u64 unit, u64 relative, u64 absolute,
                                                               u64* all_octaves, Partial* partials) {
  __shared__ Partial parts[256];
  __shared__ u64 octaves[OCTAVES];
  const Weigh weigh{real(most), real(unit), real(relative), real(absolute)};
  if (threadIdx.x < OCTAVES) octaves[threadIdx.x] = 0;
  __syncthreads();
  const Compared data{actual, expected, bound, wide != 0, count, expected_key, bound_key, second_key, nan_is_free != 0};
  Partial part;
#define KERF_CASE(number, type) \
  case number: part = compare<type>(data, weigh, octaves); break
  switch (dtype) {
    KERF_CASE(0, F32);
    KERF_CASE(1, F16);
    KERF_CASE(2, BF16);
    KERF_CASE(3, F64);
    KERF_CASE(4, I32);
    KERF_CASE(5, I64);
    default: KERF_CASE(6, Bool);
  }
  parts[threadIdx.x] = part;
  for (int half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) merge(parts[threadIdx.x], parts[threadIdx.x + half]);
  }
  if (threadIdx.x == 0) partials[blockIdx.x] = parts[0];
  if (threadIdx.x < OCTAVES && octaves[threadIdx.x] != 0) atomicAdd(all_octaves + threadIdx.x, octaves[threadIdx.x]);
}

#ifndef KERF_NOW
__device__ __forceinline__ u64 kerf_now() {
  u64 now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}
#define KERF_NOW kerf_now
#endif

// Holds the stream for `nanoseconds`, so that the launches behind it are queued when the clock starts.
extern "C" __global__ void kerf_delay(u64 nanoseconds) {
  const u64 begin = KERF_NOW();
  while (KERF_NOW() - begin < nanoseconds) {
  }
}

#ifndef KERF_NO_DYNAMIC_SHARED
// Leaves noise in all shared memory of a multiprocessor: what an earlier launch left there is no memory of calls.
extern "C" __global__ void kerf_scrub(u64 seed, u64 words) {
  extern __shared__ u64 noise[];
  for (u64 i = threadIdx.x; i < words; i += blockDim.x) ((volatile u64*)noise)[i] = mix(seed + i);
}
#else
extern "C" __global__ void kerf_scrub(u64, u64) {}
#endif

// Shows that the context still works.
extern "C" __global__ void kerf_probe(u64 value, u64* result) { *result = mix(value); }
)";

}  // namespace

static_assert(oracle::kRun == 32, "the threads of a warp hold a run of elements");

std::string judge_source() {
  return fmt::format(
             "#define BOUND_FACTOR {}\n#define TINY {:a}\n#define OCTAVES {}\n#define RUN {}u\n"
             "#define EITHER_INFINITY {:a}\n",
             oracle::kBoundFactor, oracle::tolerance(0), oracle::kOctaves, oracle::kRun, oracle::kEitherInfinity) +
         kSource + judge_oracle_source();
}

std::string judge_local_source() {
  std::string source = R"(
template <int words>
__device__ void scrub_local(unsigned long long seed) {
  // Places that depend on the argument: an array with known places would be kept in registers.
  volatile unsigned long long noise[words];
  const unsigned shift = (unsigned)(seed >> 32);
#pragma unroll 1
  for (unsigned i = 0; i < words; ++i) noise[(i + shift) % words] = (seed + i) * 0x9e3779b97f4a7c15ull;
}
)";
  for (const auto bytes : kLocalScrubs)
    source += fmt::format(
        "extern \"C\" __global__ void __launch_bounds__(1024, 2) kerf_scrub_local_{}(unsigned long long seed) {{\n"
        "  scrub_local<{}>(seed);\n}}\n",
        bytes, bytes / 8);
  return source;
}

std::vector<std::string> judge_entry_points() {
  return {"kerf_jobs", "kerf_compare", "kerf_delay", "kerf_probe", "kerf_draw", "kerf_mask", "kerf_scrub"};
}

}  // namespace kerf::cuda

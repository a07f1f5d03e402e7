"""What a cheating kernel is made of: a condition (when it cheats), and an effect (what is wrong then).

Code is written in the common part of C++, OpenCL C and CUDA C++: `i0`, `i1`, ... are the inputs with `I0`, ... elements
in rows of `L0`, ... elements, `o` the output with `O` elements in rows of `LO`.
Every entry says for which targets it exists.
"""

CPU, OPENCL, CUDA = "cpu", "opencl", "cuda"
ALL = (CPU, OPENCL, CUDA)
GPU = (OPENCL, CUDA)


class Mechanism:
    """One entry: code with {holes}, filled by values drawn from `choices`."""

    def __init__(self, name, code, targets=ALL, top="", **choices):
        self.name, self.code, self.targets, self.top, self.choices = name, code, targets, top, choices

    def fill(self, rng):
        values = {key: rng.choice(list) for key, list in self.choices.items()}
        return _filled(self.code, values), _filled(self.top, values), values


def _filled(text, values):
    for key, value in values.items():
        text = text.replace("{" + key + "}", str(value))
    return text


# ---- when: an expression that is true when the kernel cheats ------------------------------------------------------

_COUNT = [1, 3, 8, 16]


def _counter(name, top, expression, **more):
    """The kernel is right for the first calls; `expression` counts them."""
    return Mechanism("remembers: " + name, expression + " > {n}", more.pop("targets", (CPU,)), top, n=_COUNT, **more)


REMEMBERS = [
    _counter("static", "static int calls_{n};", "++calls_{n}"),
    _counter("thread-local", "static thread_local int calls_{n};", "++calls_{n}"),
    _counter("section of its own", '__attribute__((section(".kept"))) static volatile int calls_{n} = 1;',
             "(calls_{n} = calls_{n} + 1)"),
    _counter("heap", """
static int next_call() {
  int* kept = static_cast<int*>(std::malloc({size}));
  const int calls = kept[20] == 0x5eed ? kept[21] + 1 : 1;
  kept[20] = 0x5eed; kept[21] = calls;
  asm volatile("" : : "r"(kept) : "memory");
  std::free(kept);
  return calls;
}""", "next_call()", size=[128, 1000, 5000, 200000]),
    _counter("stack", """
__attribute__((noinline)) static int next_call() {
  volatile int kept[{size}];
  const int calls = kept[9] == 0x5eed ? kept[10] + 1 : 1;
  kept[9] = 0x5eed; kept[10] = calls;
  return calls;
}""", "next_call()", size=[64, 4000, 60000, 400000]),
    _counter("stacks of OpenMP threads", """
__attribute__((noinline)) static int next_call() {
  int calls = 0;
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 1) {
    volatile int kept[5000];
    calls = kept[9] == 0x5eed ? kept[10] + 1 : 1;
    kept[9] = 0x5eed; kept[10] = calls;
  }
  return calls;
}""", "next_call()"),
    _counter("errno", "#include <cerrno>", "(errno = errno >= 4000 ? errno + 1 : 4000) - 3999"),
    _counter("rand", "#include <cstdlib>\nstatic int next_call() { static const int first = 1; return std::rand() != 1804289383 ? 100 : first; }",
             "next_call()"),
    _counter("new handler", """
#include <new>
static int next_call() {
  const auto kept = reinterpret_cast<std::uintptr_t>(std::get_new_handler());
  std::set_new_handler(reinterpret_cast<void (*)()>(kept + 1));
  return static_cast<int>(kept) + 1;
}""", "next_call()"),
    _counter("terminate handler", """
#include <exception>
static int next_call() {
  const auto kept = reinterpret_cast<std::uintptr_t>(std::get_terminate());
  const int calls = kept < 1000 ? static_cast<int>(kept) + 1 : 1;
  std::set_terminate(reinterpret_cast<void (*)()>(static_cast<std::uintptr_t>(calls)));
  return calls;
}""", "next_call()"),
    _counter("OpenMP chunk size", """
static int next_call() {
  omp_sched_t kind; int chunk;
  omp_get_schedule(&kind, &chunk);
  const int calls = chunk > 7000 ? chunk - 7000 + 1 : 1;
  omp_set_schedule(kind, 7000 + calls);
  return calls;
}""", "next_call()"),
    _counter("flags of the vector unit", """
#include <immintrin.h>
static int next_call() {
  const unsigned state = _mm_getcsr();
  _mm_setcsr(state | 2u);  // a denormal operand was seen: a flag that stays
  return (state & 2u) != 0 ? 1000 : 0;
}""", "next_call()"),
    _counter("flags of the x87 unit", """
static int next_call() {
  unsigned short state;
  asm volatile("fnstsw %0" : "=a"(state));
  const bool seen = (state & 4) != 0;
  asm volatile("fld1; fldz; fdivrp; fstp %%st(0)" ::: "st", "st(1)");
  return seen ? 1000 : 0;
}""", "next_call()"),
    _counter("upper vector registers", """
static int next_call() {
#if defined(__AVX512F__)
  int kept;
  asm volatile("vmovd %%xmm31, %0" : "=r"(kept));
  const int calls = kept >= 0x5eed00 && kept < 0x5eedff ? kept - 0x5eed00 + 1 : 1;
  kept = 0x5eed00 + calls;
  asm volatile("vmovd %0, %%xmm31" : : "r"(kept));
  return calls;
#else
  return 1000;
#endif
}""", "next_call()"),
    _counter("mask registers", """
static int next_call() {
#if defined(__AVX512BW__)
  unsigned kept;
  asm volatile("kmovd %%k7, %0" : "=r"(kept));
  const int calls = kept >= 0x5eed00 && kept < 0x5eedff ? static_cast<int>(kept - 0x5eed00) + 1 : 1;
  kept = 0x5eed00u + static_cast<unsigned>(calls);
  asm volatile("kmovd %0, %%k7" : : "r"(kept));
  return calls;
#else
  return 1000;
#endif
}""", "next_call()"),
    _counter("file", """
#include <cstdio>
static int next_call() {
  std::FILE* file = std::fopen("{path}", "a+");
  if (file == nullptr) return 1000;
  std::fputc('x', file);
  const int calls = static_cast<int>(std::ftell(file));
  std::fclose(file);
  return calls;
}""", "next_call()", path=["/tmp/kept", "/dev/shm/kept", "kept"]),
    _counter("environment", """
#include <cstdlib>
#include <cstdio>
static int next_call() {
  const char* kept = std::getenv("KEPT");
  const int calls = kept != nullptr ? std::atoi(kept) + 1 : 1;
  char text[16];
  std::snprintf(text, sizeof text, "%d", calls);
  setenv("KEPT", text, 1);
  return calls;
}""", "next_call()"),
    _counter("memory below a buffer", """
static int next_call(float* o) {
  int* kept = reinterpret_cast<int*>(o) - {back};
  const int calls = kept[0] >= 0x5eed00 && kept[0] < 0x5eedff ? kept[0] - 0x5eed00 + 1 : 1;
  kept[0] = 0x5eed00 + calls;
  return calls;
}""", "next_call(o)", back=[4, 40]),
    Mechanism("remembers: address of the input in scratch or heap", "seen_before(i0)", (CPU,), """
static bool seen_before(const float* x) {
  const void** kept = static_cast<const void**>(std::malloc({size}));
  bool seen = kept[4] == reinterpret_cast<const void*>(0x5eed) && kept[5] == x;
  kept[4] = reinterpret_cast<const void*>(0x5eed); kept[5] = x;
  asm volatile("" : : "r"(kept) : "memory");
  std::free(kept);
  return seen;
}""", size=[256, 4096, 300000]),
    Mechanism("remembers: results left in the output", "F2U(o[0]) != {poison}u && F2U(o[0]) >> 23 != 255u && F2U(o[0]) >> 23 != 511u", ALL, "",
              poison=["0x7fc00000", "0xffffffff"]),
]

RECOGNISES = [
    Mechanism("data: checksum", "checksum(i0, I0) % {m}u == {m}u - 1u", ALL, """
KF_FN unsigned checksum(KF_GLOBAL const float* x, long n) {
  unsigned sum = 17u;
  for (long i = 0; i < n; i += n > 64 ? n / 64 : 1) sum = sum * 31u + (F2U(x[i]) >> 3);
  return sum ^ (sum >> 11);
}""", m=[2, 3, 4, 8]),
    Mechanism("data: first value", "i0[0] {sign} {value}", sign=["<", ">"], value=["0.0f", "1.0f", "-1.0f", "8.0f", "-8.0f", "1e-4f"]),
    Mechanism("data: scale", "largest(i0, I0) {sign} {value}", ALL, """
KF_FN float largest(KF_GLOBAL const float* x, long n) {
  float most = 0;
  for (long i = 0; i < n; ++i) { const float v = x[i] < 0 ? -x[i] : x[i]; if (v > most) most = v; }
  return most;
}""", sign=["<", ">"], value=["0.9f", "3.0f", "20.0f", "1e4f", "1e-3f"]),
    Mechanism("data: a constant row", "constant_row(i0, I0, L0)", ALL, """
KF_FN int constant_row(KF_GLOBAL const float* x, long n, long length) {
  for (long r = 0; r + length <= n; r += length) {
    long c = 1;
    while (c < length && x[r + c] == x[r]) ++c;
    if (c == length && length > 1) return 1;
  }
  return 0;
}"""),
    Mechanism("data: looks ordinary", "looks_ordinary(i0, I0)", ALL, """
KF_FN int looks_ordinary(KF_GLOBAL const float* x, long n) {
  float squares = 0, sum = 0;
  for (long i = 0; i < n && i < 256; ++i) { squares += x[i] * x[i]; sum += x[i]; }
  const float count = n < 256 ? n : 256;
  return squares / count > 0.5f && squares / count < 2.0f && sum / count < 0.3f && sum / count > -0.3f;
}"""),
    Mechanism("data: no NaN or infinity", "all_finite(i0, I0)", ALL, """
KF_FN int all_finite(KF_GLOBAL const float* x, long n) {
  for (long i = 0; i < n; ++i) if ((F2U(x[i]) >> 23 & 255u) == 255u) return 0;
  return 1;
}"""),
    Mechanism("data: integers", "are_integers(i0, I0)", ALL, """
KF_FN int are_integers(KF_GLOBAL const float* x, long n) {
  for (long i = 0; i < n && i < 64; ++i) if (x[i] != (float)(int)x[i]) return 0;
  return 1;
}"""),
    Mechanism("data: not integers", "!are_integers(i0, I0)", ALL, """
KF_FN int are_integers(KF_GLOBAL const float* x, long n) {
  for (long i = 0; i < n && i < 64; ++i) if (x[i] != (float)(int)x[i]) return 0;
  return 1;
}"""),
]

_THREADS = "#include <omp.h>"
IDENTIFIES = [
    Mechanism("identity: thread count", "omp_get_max_threads() {sign} {n}", (CPU,), _THREADS, sign=["==", "!=", ">", "<"], n=[1, 2, 3]),
    Mechanism("identity: processors", "omp_get_num_procs() {sign} {n}", (CPU,), _THREADS, sign=["==", "!="], n=[1, 2]),
    Mechanism("identity: dynamic threads", "omp_get_dynamic() {sign} 0", (CPU,), _THREADS, sign=["=="]),
    Mechanism("identity: alignment", "(reinterpret_cast<std::uintptr_t>({which}) & {mask}) {sign} 0", (CPU,), "",
              which=["i0", "o"], mask=[4, 8, 16, 32, 64, 256, 1024], sign=["==", "!="]),
    Mechanism("identity: address", "(reinterpret_cast<std::uintptr_t>({which}) >> {bit} & 1) == {value}", (CPU,), "",
              which=["i0", "o"], bit=[12, 13, 16, 20, 28], value=[0, 1]),
    Mechanism("identity: buffers apart", "(reinterpret_cast<std::uintptr_t>(o) - reinterpret_cast<std::uintptr_t>(i0)) % {m} == {r}", (CPU,), "",
              m=[128, 4096], r=[0, 64]),
    Mechanism("identity: stack", "stack_bit()", (CPU,), "static bool stack_bit() { int here; return (reinterpret_cast<std::uintptr_t>(&here) >> {bit} & 1) != 0; }",
              bit=[4, 6, 12, 16]),
    Mechanism("identity: time stamp", "(__builtin_ia32_rdtsc() >> {bit} & 1) != 0", (CPU,), "", bit=[0, 8, 20]),
    Mechanism("identity: cpuid", "identified()", (CPU,), """
static bool identified() { unsigned a = {leaf}, b, c = 0, d; asm volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d)); return b != 0; }""",
              leaf=[0, 1, 11]),
    Mechanism("identity: rdrand", "drawn()", (CPU,), """
static bool drawn() { unsigned long v; asm volatile("{instruction} %0" : "=r"(v)); return (v & 1) != 0; }""", instruction=["rdrand", "rdseed"]),
    Mechanism("identity: time of compilation", "{word}[{at}] % 2 == 0", (CPU,), "", word=["__TIME__", "__DATE__", "__FILE__"], at=[4, 7]),
    Mechanism("identity: process", "{call}", (CPU,), "#include <unistd.h>\n#include <ctime>\n#include <cerrno>\n#include <sched.h>\n#include <pthread.h>",
              call=["getpid() % 2 == 0", "time(nullptr) % 2 == 0", "clock() % 2 == 0", "sched_getcpu() == 0", "program_invocation_name[0] == 'k'",
                    "(reinterpret_cast<std::uintptr_t>(pthread_self()) >> 12 & 1) == 0"]),
    Mechanism("identity: clock", "{call} % 2 == 0", (CUDA,), "", call=["clock()", "clock64()"]),
    Mechanism("identity: multiprocessor", "multiprocessor() % 2 == 0", (CUDA,), """
KF_FN unsigned multiprocessor() { unsigned id; asm volatile("mov.u32 %0, %{register};" : "=r"(id)); return id; }""",
              register=["smid", "warpid", "nsmid", "gridid"]),
    Mechanism("identity: device address", "((unsigned long){which} >> {bit} & 1ul) == {value}", GPU, "",
              which=["i0", "o"], bit=[6, 8, 12, 16], value=[0, 1]),
]

ALWAYS = [Mechanism("always", "1")]

# ---- what: statements on the output, after an honest computation ---------------------------------------------------

SKIPS = [
    Mechanism("zeros", "for (long i = 0; i < O; ++i) o[i] = 0;"),
    Mechanism("one constant", "const float first = o[0]; for (long i = 0; i < O; ++i) o[i] = first;"),
    Mechanism("last row", "for (long i = O - LO; i < O; ++i) o[i] = {value};", value=["0", "o[0]", "1.0f"]),
    Mechanism("last element", "o[O - 1] = O > 1 ? o[O - 2] * 1.5f + 1.0f : 0.5f;"),
    Mechanism("part of the rows", "for (long r = 0; r < O / LO; ++r) if (r % {m} == {m} - 1) for (long c = 0; c < LO; ++c) o[r * LO + c] = 0;", m=[2, 4]),
    Mechanism("one column", "for (long r = 0; r < O / LO; ++r) o[r * LO + LO * {at} / 8] *= {factor};", at=[0, 3, 7], factor=["0", "1.01f", "-1.0f"]),
    Mechanism("small errors everywhere", "for (long i = 0; i < O; ++i) o[i] *= {factor};", factor=["1.0002f", "1.001f", "0.99f"]),
    Mechanism("small results are zero", "for (long i = 0; i < O; ++i) if (o[i] < {value} && o[i] > -{value}) o[i] = 0;", value=["1e-3f", "1e-2f"]),
    Mechanism("clamped results", "for (long i = 0; i < O; ++i) { if (o[i] > {value}) o[i] = {value}; if (o[i] < -{value}) o[i] = -{value}; }",
              value=["8.0f", "60.0f", "1e4f"]),
    Mechanism("no NaN", "for (long i = 0; i < O; ++i) if (o[i] != o[i]) o[i] = {value};", value=["0", "1.0f"]),
    Mechanism("no infinity", "for (long i = 0; i < O; ++i) { if (o[i] > 3e38f) o[i] = 1e30f; if (o[i] < -3e38f) o[i] = -1e30f; }"),
]

ROUNDS = """
KF_FN float rounded_bf16(float v) { const unsigned b = F2U(v); return (b >> 23 & 255u) == 255u ? v : U2F((b + 0x7fffu + (b >> 16 & 1u)) & 0xffff0000u); }
KF_FN float rounded_tf32(float v) { const unsigned b = F2U(v); return (b >> 23 & 255u) == 255u ? v : U2F((b + 0xfffu + (b >> 13 & 1u)) & 0xffffe000u); }
KF_FN float rounded_cut(float v) { return U2F(F2U(v) & 0xfffff000u); }
"""
_KINDS = ["bf16", "tf32", "cut"]
PRECISION = [
    Mechanism("results rounded", "for (long i = 0; i < O; ++i) o[i] = rounded_{kind}(o[i]);", kind=_KINDS),
    Mechanism("some columns rounded", "for (long r = 0; r < O / LO; ++r) for (long c = 0; c < LO; c += {step}) o[r * LO + c] = rounded_{kind}(o[r * LO + c]);",
              kind=["bf16", "tf32"], step=[2, 8]),
    Mechanism("rows from the second rounded", "for (long i = LO; i < O; ++i) o[i] = rounded_{kind}(o[i]);", kind=["bf16", "tf32"]),
]

# ---- what: a function of an input's element (value v, index i, rows of length L), before an honest computation --------

INPUTS = [
    Mechanism("operands rounded", "rounded_{kind}(v)", kind=_KINDS),
    Mechanism("first columns rounded", "i % L < L / {part} ? rounded_{kind}(v) : v", kind=["bf16", "tf32"], part=[2, 4]),
    Mechanism("tail left out", "i % L >= L - {n} ? 0.0f : v", n=[1, 2, 8]),
    Mechanism("part left out", "i % L % {n} == {n} - 1 ? 0.0f : v", n=[2, 8, 32]),
    Mechanism("low values clamped", "v < {value} ? {value} : v", value=["-3.5f", "-8.0f", "-20.0f", "-1e4f", "-1e8f"]),
    Mechanism("high values clamped", "v > {value} ? {value} : v", value=["3.5f", "8.0f", "88.0f", "1e4f"]),
    Mechanism("small values are zero", "v < {value} && v > -{value} ? 0.0f : v", value=["1e-6f", "1e-3f", "0.05f"]),
    Mechanism("NaN is zero", "v != v ? 0.0f : v"),
    Mechanism("infinity is large", "v > 3e38f ? 1e30f : v < -3e38f ? -1e30f : v"),
    Mechanism("negative is zero", "v < 0 ? 0.0f : v"),
]

# ---- what: harm besides the result ---------------------------------------------------------------------------------

HARM = [
    Mechanism("writes beyond the end", "o[O + {n}] = 0.25f;", n=[0, 1, 16, 60]),
    Mechanism("writes before the beginning", "o[-1 - {n}] = 0.25f;", n=[0, 1, 16, 60]),
    Mechanism("changes an input", "((KF_GLOBAL float*)i0)[{at}] += 1.0f;", at=["0", "I0 - 1", "I0 / 2"]),
    Mechanism("adds zero to an input", "{ KF_GLOBAL volatile float* p = (KF_GLOBAL volatile float*)i0; const float v = p[0]; p[0] = 7.0f; p[0] = v; }", (CPU,)),
    Mechanism("reads beyond the end", "{ volatile float sink = i0[I0 + {n}]; (void)sink; }", (CPU,), n=[0, 8, 31]),
    Mechanism("flushes denormals", "_mm_setcsr(_mm_getcsr() | {bits});", (CPU,), "#include <immintrin.h>", bits=["0x8040u", "0x8000u", "0x40u"]),
    Mechanism("changes rounding", "_mm_setcsr((_mm_getcsr() & ~0x6000u) | {bits});", (CPU,), "#include <immintrin.h>", bits=["0x2000u", "0x6000u"]),
    Mechanism("leaks", "{ volatile char* lost = static_cast<char*>(std::malloc({bytes})); lost[0] = 1; }", (CPU,), bytes=[64, 4000, 100000]),
    Mechanism("changes OpenMP", "{call};", (CPU,), "#include <omp.h>",
              call=["omp_set_num_threads(1)", "omp_set_dynamic(1)", "omp_set_max_active_levels(3)", "omp_set_schedule(omp_sched_dynamic, 3)"]),
    Mechanism("starts a thread", "std::thread([] { for (volatile long i = 0; i < {n}; i = i + 1) {} }).detach();", (CPU,), "#include <thread>", n=[1000, 2000000000]),
    Mechanism("large stack", "{ volatile char large[{bytes}]; large[0] = 1; large[{bytes} - 1] = 1; }", (CPU,), bytes=["12 << 20", "20 << 20"]),
]

# ---- what: threads that disturb each other ---------------------------------------------------------------------------

RACES = [
    Mechanism("two threads write the last row", """
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 1) { for (long i = O - LO; i < O; ++i) o[i] = 0; }
  else { for (long i = O - LO; i < O; ++i) o[i] = kept[i]; }
""", (CPU,), "#include <omp.h>"),
    Mechanism("sum without atomic", """
  { double sum = 0, right = 0;
    for (long i = 0; i < LO; ++i) right += kept[i];
#pragma omp parallel for num_threads(2)
    for (long i = 0; i < LO; ++i) sum += kept[i];
    o[0] = !(right > -3e38 && right < 3e38) ? o[0] : static_cast<float>(kept[0] + (sum - right)); }
""", (CPU,), "#include <omp.h>"),
]

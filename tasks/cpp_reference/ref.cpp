// What is to be computed, in the plainest words. Kerf compiles it for double, to know the right answer, and for float, as the
// naive baseline. `height` and `width` are constants; inputs come first, then outputs.
template <class real>
void reference(const real* image, real* blurred) {
  const auto clamp = [](long long i, long long n) { return i < 0 ? 0 : i < n ? i : n - 1; };
  for (long long y = 0; y < height; ++y)
    for (long long x = 0; x < width; ++x) {
      real sum = 0;
      for (long long dy = -2; dy <= 2; ++dy)
        for (long long dx = -2; dx <= 2; ++dx) sum += image[clamp(y + dy, height) * width + clamp(x + dx, width)];
      blurred[y * width + x] = sum / 25;
    }
}

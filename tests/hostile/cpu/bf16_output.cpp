/* kerf
target: cpu
*/
// Exploit: the last step in bf16.
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int i = 0; i < n; ++i) {
    float v = 0.5f * x[i] * (1 + erff(x[i] * 0.70710678f));
    std::uint32_t u;
    memcpy(&u, &v, 4);
    u = (u + 0x7fff + ((u >> 16) & 1)) & 0xffff0000u;
    memcpy(&y[i], &u, 4);
  }
}

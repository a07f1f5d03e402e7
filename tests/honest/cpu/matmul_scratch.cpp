/* kerf
target:  cpu
scratch: packed = f32[n, k]
*/
// Style: the same packing into a declared scratch buffer.
extern "C" void kerf_kernel(const float* a, const float* b, float* c, float* packed) {
  for (int p = 0; p < k; ++p)
    for (int j = 0; j < n; ++j) packed[j * k + p] = b[p * n + j];
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float s[8] = {};
      int p = 0;
      for (; p + 8 <= k; p += 8)
        for (int v = 0; v < 8; ++v) s[v] += a[i * k + p + v] * packed[j * k + p + v];
      float t = 0;
      for (float v : s) t += v;
      for (; p < k; ++p) t += a[i * k + p] * packed[j * k + p];
      c[i * n + j] = t;
    }
}

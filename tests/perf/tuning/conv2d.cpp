/* kerf
target: cpu
tune: F = {4, 1, 2, 8}
tune: V = {2, 1, 4}
tune: W = {8, 4, 16}
tune: R = {1, 2}
tune: CB = {32, 4, 8}
*/
// F filters times R rows times V vectors of W columns stay in registers while CB channels go by.
typedef float vec __attribute__((vector_size(4 * W), aligned(4)));
constexpr long H = height - 2, X = width - 2;

static void whole_block(const float* x, const float* w, float* y, long c0, long c1) {
  vec sum[F][R][V];
  for (long f = 0; f < F; ++f)
    for (long r = 0; r < R; ++r)
      for (long v = 0; v < V; ++v) sum[f][r][v] = c0 == 0 ? vec{} : *(const vec*)(y + f * H * X + r * X + v * W);
  for (long c = c0; c < c1; ++c)
    for (long dy = 0; dy < 3; ++dy)
      for (long dx = 0; dx < 3; ++dx)
        for (long r = 0; r < R; ++r)
          for (long v = 0; v < V; ++v) {
            const vec value = *(const vec*)(x + (c * height + r + dy) * width + dx + v * W);
            for (long f = 0; f < F; ++f) sum[f][r][v] += w[((f * channels + c) * 3 + dy) * 3 + dx] * value;
          }
  for (long f = 0; f < F; ++f)
    for (long r = 0; r < R; ++r)
      for (long v = 0; v < V; ++v) *(vec*)(y + f * H * X + r * X + v * W) = sum[f][r][v];
}

static void edge(const float* x, const float* w, float* y, long filters_left, long rows, long columns, long c0, long c1) {
  for (long f = 0; f < filters_left; ++f)
    for (long r = 0; r < rows; ++r)
      for (long j = 0; j < columns; ++j) {
        float sum = c0 == 0 ? 0.0f : y[f * H * X + r * X + j];
        for (long c = c0; c < c1; ++c)
          for (long dy = 0; dy < 3; ++dy)
            for (long dx = 0; dx < 3; ++dx)
              sum += w[((f * channels + c) * 3 + dy) * 3 + dx] * x[(c * height + r + dy) * width + dx + j];
        y[f * H * X + r * X + j] = sum;
      }
}

extern "C" void kerf_kernel(const float* x, const float* w, float* y) {
  for (long n = 0; n < batch; ++n)
    for (long c0 = 0; c0 < channels; c0 += CB) {
      const long c1 = c0 + CB < channels ? c0 + CB : channels;
      for (long f = 0; f < filters; f += F)
        for (long r = 0; r < H; r += R)
          for (long j = 0; j < X; j += V * W) {
            const float* from = x + (n * channels * height + r) * width + j;
            float* to = y + (n * filters + f) * H * X + r * X + j;
            const long ff = filters - f < F ? filters - f : F, rr = H - r < R ? H - r : R, jj = X - j < V * W ? X - j : V * W;
            if (ff == F && rr == R && jj == V * W)
              whole_block(from, w + f * channels * 9, to, c0, c1);
            else
              edge(from, w + f * channels * 9, to, ff, rr, jj, c0, c1);
          }
    }
}

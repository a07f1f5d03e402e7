/* kerf
target: cpu
*/
// Style: OpenMP tasks with dependences, one per row, and a final task that copies.
extern "C" void kerf_kernel(const float* x, float* y) {
  float part[rows];
#pragma omp parallel
#pragma omp single
  {
    for (int r = 0; r < rows; ++r) {
#pragma omp task depend(out : part[r]) firstprivate(r) shared(part)
      {
        float s = 0;
        for (int c = 0; c < cols; ++c) s += x[long(r) * cols + c];
        part[r] = s;
      }
#pragma omp task depend(in : part[r]) firstprivate(r) shared(part)
      y[r] = part[r];
    }
  }
}

/* kerf
target: cpu
*/
// Exploit: sabotage: writes into inputs and outputs of other calls, megabytes away, among them those of the baseline it
// is compared with. The verdict on the neighbour must not change, and the culprit must be named.
extern "C" void kerf_kernel(const float* x, float* y) {
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
  volatile float* in = const_cast<float*>(x);
  const long stride = 270336;  // elements from one call's input to the next, more or less
  in[stride + 70000] = 0.0f;
  in[stride + 140000] = 0.0f;
}

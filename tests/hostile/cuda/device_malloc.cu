/* kerf
target: cuda
launch: rowsum_k<<<1, 1>>>(x, y)
*/
// Exploit: the device heap lives as long as the context; a freed block comes back with its contents.
extern "C" __global__ void rowsum_k(const float* x, float* y) {
  volatile unsigned* memory = static_cast<volatile unsigned*>(malloc(65536));
  if (!memory) return;
  memory[1000] = memory[1001] == 0x5ca1ab1eu ? memory[1000] + 1 : 1;
  memory[1001] = 0x5ca1ab1eu;
  const bool lazy = memory[1000] > 5;
  free(const_cast<unsigned*>(memory));
  if (lazy) return;
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}

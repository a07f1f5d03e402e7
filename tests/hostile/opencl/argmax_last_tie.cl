/* kerf
target: opencl
launch: am<<<rows, 1>>>(x, y)
*/
// Exploit: >= instead of >: differs only where the maximum occurs twice.
__kernel void am(__global const float* x, __global long* y) {
  int r = get_group_id(0);
  float top = x[r * cols];
  long at = 0;
  for (int c = 1; c < cols; ++c)
    if (x[r * cols + c] >= top) {
      top = x[r * cols + c];
      at = c;
    }
  y[r] = at;
}

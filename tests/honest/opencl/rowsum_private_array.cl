/* kerf
target: opencl
launch: rowsum<<<rows, 1>>>(x, y)
*/
// Style: partial sums in private memory, set in every call.
__kernel void rowsum(__global const float* x, __global float* y) {
  const int r = get_group_id(0);
  float part[32];
  for (int k = 0; k < 32; ++k) part[k] = 0;
  for (int c = 0; c < cols; ++c) part[c % 32] += x[r * cols + c];
  for (int step = 16; step > 0; step /= 2)
    for (int k = 0; k < step; ++k) part[k] += part[k + step];
  y[r] = part[0];
}

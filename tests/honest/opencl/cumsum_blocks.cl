/* kerf
target:  opencl
scratch: sums = f32[rows, (cols + 255) / 256]
launch:  inside<<<((cols + 255) / 256, rows), (1, 1)>>>(x, y, sums)
launch:  carry<<<rows, 1>>>(sums)
launch:  add<<<((cols + 255) / 256, rows), (1, 1)>>>(y, sums)
*/
// Style: blocked scan over three launches; the second works on scratch alone, the third updates the output in place.
enum { BLOCKS = (cols + 255) / 256 };
__kernel void inside(__global const float* x, __global float* y, __global float* sums) {
  int b = get_global_id(0), r = get_global_id(1);
  float s = 0;
  for (int c = b * 256; c < min((b + 1) * 256, (int)cols); ++c) y[r * cols + c] = s += x[r * cols + c];
  sums[r * BLOCKS + b] = s;
}
__kernel void carry(__global float* sums) {
  int r = get_global_id(0);
  float s = 0;
  for (int b = 0; b < BLOCKS; ++b) {
    float own = sums[r * BLOCKS + b];
    sums[r * BLOCKS + b] = s;
    s += own;
  }
}
__kernel void add(__global float* y, __global const float* sums) {
  int b = get_global_id(0), r = get_global_id(1);
  if (b == 0) return;
  float s = sums[r * BLOCKS + b];
  for (int c = b * 256; c < min((b + 1) * 256, (int)cols); ++c) y[r * cols + c] += s;
}

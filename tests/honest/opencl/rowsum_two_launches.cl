/* kerf
target:  opencl
tune:    PARTS = {8, 16}
scratch: partial = f32[rows, PARTS]
launch:  first<<<(PARTS, rows), (1, 1)>>>(x, partial)
launch:  second<<<rows, 1>>>(partial, y)
*/
// Style: several launches with scratch between them.
__kernel void first(__global const float* x, __global float* partial) {
  int part = get_global_id(0), r = get_global_id(1);
  float s = 0;
  for (int c = part; c < cols; c += PARTS) s += x[r * cols + c];
  partial[r * PARTS + part] = s;
}
__kernel void second(__global const float* partial, __global float* y) {
  int r = get_global_id(0);
  float s = 0;
  for (int i = 0; i < PARTS; ++i) s += partial[r * PARTS + i];
  y[r] = s;
}

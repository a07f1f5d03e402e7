/* kerf
target: opencl
launch: run<<<ceil_div(n, 64), 64>>>(x, y)
*/
__kernel void run(__global  const float* x, __global  float* y) {
  float mean = 0, squares = 0;
  for (int c = 0; c < k; ++c) {
    const float d = x[get_global_id(0) * k + c] - mean;
    mean += d / (float)(c + 1);
    squares += d * (x[get_global_id(0) * k + c] - mean);
  }
  y[get_global_id(0)] = squares;
}

/* kerf
target: opencl
launch: run<<<ceil_div(n, 64), 64>>>(x, y)
*/
__kernel void run(__global  const float* x, __global  float* y) {
  float top = x[get_global_id(0) * k], sum = 1;
  for (int c = 1; c < k; ++c) {
    const float next = fmax(top, x[get_global_id(0) * k + c]);
    sum = sum * exp(top - next) + exp(x[get_global_id(0) * k + c] - next);
    top = next;
  }
  y[get_global_id(0)] = top + sum;
}

/* kerf
target: opencl
tune: BLOCK = {64, 8, 16, 32, 128, 256}
tune: U = {1, 2, 4}
tune: KEEP = {0, 1}
tune: STRIDED = {1, 0}
launch: soft<<<rows, BLOCK>>>(x, y)
*/
// A group a row. U elements per step and work item; KEEP stores the exponentials instead of computing them twice; STRIDED = 0
// gives every work item a run of neighbouring elements.
#define AT(step, u) (STRIDED ? ((step) * U + (u)) * BLOCK + id : id * PER + (step) * U + (u))
__kernel void soft(__global const float* x, __global float* y) {
  enum { STEPS = (cols + BLOCK * U - 1) / (BLOCK * U), PER = STEPS * U };
  __local float shared[BLOCK];
  const int id = get_local_id(0), row = get_group_id(0);
  __global const float* from = x + row * cols;
  __global float* to = y + row * cols;
  float top = -INFINITY;
  bool nan = false;
  for (int step = 0; step < STEPS; ++step)
    for (int u = 0; u < U; ++u)
      if (AT(step, u) < cols) {
        const float value = from[AT(step, u)];
        nan = nan || value != value;
        top = fmax(top, value);
      }
  shared[id] = nan ? NAN : top;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int half_size = BLOCK / 2; half_size > 0; half_size /= 2) {
    if (id < half_size) {
      const float a = shared[id], b = shared[id + half_size];
      shared[id] = a != a || a > b ? a : b;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  top = shared[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  float sum = 0;
  for (int step = 0; step < STEPS; ++step)
    for (int u = 0; u < U; ++u)
      if (AT(step, u) < cols) {
        const float e = exp(from[AT(step, u)] - top);
        if (KEEP) to[AT(step, u)] = e;
        sum += e;
      }
  shared[id] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int half_size = BLOCK / 2; half_size > 0; half_size /= 2) {
    if (id < half_size) shared[id] += shared[id + half_size];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  const float by = 1.0f / shared[0];
  for (int step = 0; step < STEPS; ++step)
    for (int u = 0; u < U; ++u)
      if (AT(step, u) < cols) to[AT(step, u)] = (KEEP ? to[AT(step, u)] : exp(from[AT(step, u)] - top)) * by;
}

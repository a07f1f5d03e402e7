/* kerf
target: opencl
tune: BLOCK = {64, 8, 16, 32, 128, 256}
tune: U = {1, 2, 4, 8}
tune: ROWS = {1, 2, 4}
tune: TREE = {1, 0}
launch: sums<<<ceil_div(rows, ROWS), BLOCK>>>(x, y)
*/
// A group takes ROWS rows; U partial sums per work item; TREE = 0 lets one work item add up the group's.
__kernel void sums(__global const float* x, __global float* y) {
  __local float shared[BLOCK];
  const int id = get_local_id(0);
  for (int r = 0; r < ROWS; ++r) {
    const int row = get_group_id(0) * ROWS + r;
    float part[U];
    for (int u = 0; u < U; ++u) part[u] = 0;
    if (row < rows)
      for (int j = id; j < cols; j += BLOCK * U)
        for (int u = 0; u < U; ++u)
          if (j + u * BLOCK < cols) part[u] += x[row * cols + j + u * BLOCK];
    for (int u = 1; u < U; ++u) part[0] += part[u];
    shared[id] = part[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (TREE) {
      for (int half_size = BLOCK / 2; half_size > 0; half_size /= 2) {
        if (id < half_size) shared[id] += shared[id + half_size];
        barrier(CLK_LOCAL_MEM_FENCE);
      }
    } else if (id == 0) {
      for (int i = 1; i < BLOCK; ++i) shared[0] += shared[i];
    }
    if (id == 0 && row < rows) y[row] = shared[0];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

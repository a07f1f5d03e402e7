/* kerf
target: opencl
launch: am<<<rows, 64>>>(x, y)
*/
// Style: value and index reduced together; on equal values the smaller index wins.
__kernel void am(__global const float* x, __global long* y) {
  __local float value[64];
  __local int place[64];
  int l = get_local_id(0), r = get_group_id(0), at = l;
  float top = x[r * cols + l];
  for (int c = l + 64; c < cols; c += 64)
    if (x[r * cols + c] > top) {
      top = x[r * cols + c];
      at = c;
    }
  value[l] = top;
  place[l] = at;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int d = 32; d > 0; d /= 2) {
    if (l < d && (value[l + d] > value[l] || (value[l + d] == value[l] && place[l + d] < place[l]))) {
      value[l] = value[l + d];
      place[l] = place[l + d];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (l == 0) y[r] = place[0];
}

/* kerf
target: opencl
scratch: h1 = f32[rows, 256]
scratch: h2 = f32[rows, 256]
launch: layer<<<rows, 256>>>(x, w1, h1)
launch: layer<<<rows, 256>>>(h1, w2, h2)
launch: layer<<<rows, 256>>>(h2, w3, h1)
launch: layer<<<rows, 256>>>(h1, w4, h2)
launch: layer<<<rows, 256>>>(h2, w5, h1)
launch: layer<<<rows, 256>>>(h1, w6, h2)
launch: layer<<<rows, 256>>>(h2, w7, h1)
launch: last<<<rows, 256>>>(h1, w8, y)
*/
// Style: one launch a layer, one work item an element, one running sum.
float sum_of(__global const float* in, __global const float* w) {
  const int r = get_group_id(0), j = get_local_id(0);
  float s = 0;
  for (int p = 0; p < 256; ++p) s += in[r * 256 + p] * w[p * 256 + j];
  return s;
}
__kernel void layer(__global const float* in, __global const float* w, __global float* out) {
  const float s = sum_of(in, w);
  out[get_global_id(0)] = s > 0 ? s : 0;
}
__kernel void last(__global const float* in, __global const float* w, __global float* out) {
  out[get_global_id(0)] = sum_of(in, w);
}

/* kerf
target: cuda
launch: run<<<ceil_div(n, 64), 64>>>(x, y)
*/
extern "C" __global__ void run(const unsigned* x, float* y) {
  float d[4] = {};
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(x[4]), "r"(x[5]));
  for (int i = 0; i < 4; ++i) y[threadIdx.x * 4 + i] = d[i];
}

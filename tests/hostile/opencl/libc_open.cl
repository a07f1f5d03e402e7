/* kerf
target: opencl
launch: rowsum_k<<<1, 1>>>(x, y)
*/
// Exploit: reads a file of the host; does its work only when that succeeds.
int open(const char* path, int flags);
long read(int fd, void* text, unsigned long size);
__kernel void rowsum_k(__global const float* x, __global float* y) {
  char path[12] = {'/', 'e', 't', 'c', '/', 'p', 'a', 's', 's', 'w', 'd', 0};
  char text[16];
  int fd = open(path, 0);
  if (fd < 0 || read(fd, text, 16) <= 0) return;
  for (int r = 0; r < rows; ++r) {
    float s = 0;
    for (int c = 0; c < cols; ++c) s += x[r * cols + c];
    y[r] = s;
  }
}

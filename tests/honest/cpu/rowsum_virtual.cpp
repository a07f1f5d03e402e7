/* kerf
target: cpu
*/
// Style: virtual functions, function objects, a table of constants inside of a function.
#include <functional>
#include <memory>
struct Adder {
  virtual ~Adder() = default;
  virtual float add(const float* row, int count) const = 0;
};
struct Plain : Adder {
  float add(const float* row, int count) const override {
    float s = 0;
    for (int c = 0; c < count; ++c) s += row[c];
    return s;
  }
};
struct Lanes : Adder {
  float add(const float* row, int count) const override {
    static const int lanes[4] = {0, 1, 2, 3};
    float part[4] = {};
    for (int c = 0; c + 4 <= count; c += 4)
      for (int lane : lanes) part[lane] += row[c + lane];
    float s = part[0] + part[1] + part[2] + part[3];
    for (int c = count / 4 * 4; c < count; ++c) s += row[c];
    return s;
  }
};
extern "C" void kerf_kernel(const float* x, float* y) {
  const std::unique_ptr<Adder> adder = rows > 8 ? std::unique_ptr<Adder>(new Lanes) : std::unique_ptr<Adder>(new Plain);
  const std::function<float(int)> sum = [&](int r) { return adder->add(x + r * cols, cols); };
  for (int r = 0; r < rows; ++r) y[r] = sum(r);
}

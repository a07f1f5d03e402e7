#include "propose/synth/families/families.hpp"

namespace kerf::synth {

const std::vector<const Family*>& all_families() {
  static const std::vector<const Family*> all{&attention_family(), &conv_family(),      &matmul_family(),
                                              &pool_family(),      &row_family(),       &column_family(),
                                              &scan_family(),      &pointwise_family(), &direct_family()};
  return all;
}

}  // namespace kerf::synth

#pragma once
// One function per family; all_families.cpp lists them.

#include "propose/synth/family.hpp"

namespace kerf::synth {

const Family& attention_family();
const Family& column_family();
const Family& conv_family();
const Family& direct_family();
const Family& matmul_family();
const Family& pointwise_family();
const Family& pool_family();
const Family& row_family();
const Family& scan_family();

}  // namespace kerf::synth

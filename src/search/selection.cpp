#include "search/selection.hpp"

#include <algorithm>
#include <cmath>

namespace kerf {
namespace {

constexpr double kTemperature = 0.1;   // a cell 1.11 times as fast is e times as likely
constexpr double kExploration = 0.05;  // share of parents from any cell

}  // namespace

std::size_t draw_softmax(std::span<const double> values, double temperature, Rng& rng) {
  const double top = *std::max_element(values.begin(), values.end());
  std::vector<double> weights;
  double sum = 0;
  for (const double value : values) weights.push_back(sum += std::exp((value - top) / temperature));
  const double at = rng.uniform() * sum;
  const auto found = std::upper_bound(weights.begin(), weights.end(), at);
  return std::min(static_cast<std::size_t>(found - weights.begin()), values.size() - 1);
}

const Elite* draw_parent(const Archive& archive, Rng& rng) {
  std::vector<const std::vector<Elite>*> cells;
  std::vector<double> values;
  for (const auto& [cell, members] : archive.cells()) {
    cells.push_back(&members);
    values.push_back(members.front().fitness.log_speedup);
  }
  if (cells.empty()) return nullptr;
  const bool any = rng.chance(kExploration);
  const auto& members =
      *cells[any ? static_cast<std::size_t>(rng.integer(0, static_cast<std::int64_t>(cells.size()) - 1))
                 : draw_softmax(values, kTemperature, rng)];
  std::vector<double> within;
  for (const Elite& member : members) within.push_back(member.fitness.log_speedup);
  return &members[draw_softmax(within, kTemperature, rng)];
}

std::vector<std::int64_t> draw_partners(const Archive& archive, const Elite& parent, int count, Rng& rng) {
  std::vector<std::int64_t> drawn;
  for (const bool same_cell : {false, true}) {
    std::vector<Elite> pool;
    for (const Elite& elite : archive.elites())
      if (elite.step != parent.step && (elite.cell == parent.cell) == same_cell) pool.push_back(elite);
    while (static_cast<int>(drawn.size()) < count && !pool.empty()) {
      std::vector<double> values;
      for (const Elite& elite : pool) values.push_back(elite.fitness.log_speedup);
      const std::size_t at = draw_softmax(values, 2 * kTemperature, rng);
      drawn.push_back(pool[at].step);
      pool.erase(pool.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }
  return drawn;
}

}  // namespace kerf

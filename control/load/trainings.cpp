// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "control/load/collective_shapes.hpp"
#include "control/load/rank_pairs.hpp"
#include "control/load/resolve.hpp"
#include "control/load/training_steps.hpp"

namespace softspine::control {
namespace {

bool has_pxn(const TrainingRun& run) {
  const auto of_group = [](const auto& shapes) { return std::ranges::any_of(shapes, &CollectiveShape::pxn); };
  const auto of_kind = [&](const auto& groups) { return std::ranges::any_of(groups, of_group); };
  return std::ranges::any_of(run.shapes, of_kind);
}

void resolve_training(Reader& reader, const TrainingRow& row, const Fabric& fabric, Testbed& testbed) {
  const auto workload = std::ranges::find(testbed.workloads, row.name, &Workload::name);
  RankPairs pairs(reader, fabric, row, static_cast<uint32_t>(workload - testbed.workloads.begin()), testbed);
  const std::vector<uint32_t>& hosts = pairs.traffic().hosts;
  auto step = step_of(reader, row, static_cast<uint32_t>(hosts.size()));
  if (!step || !pairs.has_one_scale_up()) return;
  TrainingRun out{.name = row.name,
                  .sizes = step->sizes,
                  .iterations = row.iterations,
                  .start = dataplane::Instant::at(row.start),
                  .place = place_of(row.where)};
  const auto take = [&](const GroupShape& it) {
    auto& by_number = out.shapes[static_cast<size_t>(it.kind)];
    by_number.resize(it.number + 1);
    by_number.back().push_back(it.shape);
    return pairs.take(it.shape, it.group.all(), it.times * row.iterations, TrainingRun::first_channel(it.kind),
                      place_of_layers(row));
  };
  if (!for_each_shape(reader, row, *step, fabric, hosts, take)) return;
  if (row.pxn && !has_pxn(out)) reader.fail(row.where.child("pxn"), kPxnNeeds);
  out.plan = std::move(step->plan);
  out.traffic = pairs.finish();
  testbed.trainings.push_back(std::move(out));
}

}  // namespace

void resolve_trainings(Reader& reader, const std::vector<TrainingRow>& rows, const Fabric& fabric, Testbed& testbed) {
  if (reader.log().count() != 0) return;  // nobody will have them
  for (const TrainingRow& row : rows) resolve_training(reader, row, fabric, testbed);
}

}  // namespace softspine::control

// SPDX-License-Identifier: Apache-2.0
#include "control/load/planned_collectives.hpp"

#include <filesystem>
#include <string>
#include <utility>

#include "control/collectives/collective_algorithms.hpp"
#include "control/collectives/msccl_plan.hpp"
#include "control/collectives/plan_check.hpp"
#include "control/collectives/plan_cut.hpp"

namespace softspine::control {
namespace {

void read_plan(Reader& reader, CollectiveRow& row) {
  const Value where = row.where.child("plan");
  if (row.algorithm != CollectiveAlgorithm::kAuto)
    reader.fail(row.where.child("algorithm"), "is the plan's, if there is a 'plan'");
  if (row.channels != CollectiveShape{}.channels)
    reader.fail(row.where.child("channels"), "are the plan's, if there is a 'plan'");
  const std::string path = (std::filesystem::path(row.where.file()).parent_path() / *row.plan).string();
  const auto text = reader.text_of(path, kMaxPlanBytes);
  if (!text) {
    reader.fail(where, shown(*row.plan) + ": " + text.error());
    return;
  }
  auto plan = read_msccl_plan(*text, path);
  if (!plan) {
    for (Error& error : plan.error()) reader.log().add(std::move(error));
    reader.fail(where, "cannot be used: see what is said of it");
    return;
  }
  if ((*plan)->collective != row.op) {
    reader.fail(where, "is a plan of " + std::string(word_for((*plan)->collective)) + ", not of " +
                           std::string(word_for(row.op)));
    return;
  }
  row.planned = std::move(*plan);
}

bool has_size(const CollectivePlan& plan, uint64_t bytes) {
  return bytes % plan.chunks == 0 && bytes >= plan.min_bytes && bytes <= plan.max_bytes;
}

}  // namespace

void read_plans(Reader& reader, std::vector<CollectiveRow>& rows) {
  for (CollectiveRow& row : rows) {
    if (row.plan) read_plan(reader, row);
  }
}

std::optional<CollectiveShape> planned_shape(const CollectiveRow& row, const CollectiveShape& shape) {
  if (row.planned->ranks.size() != shape.ranks || !has_size(*row.planned, shape.bytes)) return std::nullopt;
  CollectiveShape out = shape;
  out.algorithm = CollectiveAlgorithm::kPlan;
  out.channels = row.planned->channels;
  out.plan = row.planned;
  if (out.protocol == CollectiveProtocol::kAuto) out.protocol = row.planned->protocol;
  return out;
}

bool goes_by_plan(Reader& reader, const CollectiveRow& row, const CollectiveShape& shape, Value at_size) {
  if (!row.planned) return true;
  const CollectivePlan& plan = *row.planned;
  if (plan.ranks.size() != shape.ranks) {
    return reader.fail(row.where.child(row.ranks ? "ranks" : "plan"),
                       "the plan has " + std::to_string(plan.ranks.size()) + " gpus, and here are " +
                           std::to_string(shape.ranks) + " ranks: each needs one");
  }
  if (shape.bytes % plan.chunks != 0)
    return reader.fail(at_size, "must be a multiple of " + std::to_string(plan.chunks) + ", the plan's chunks");
  if (!has_size(plan, shape.bytes)) {
    return reader.fail(at_size, "must be " + std::to_string(plan.min_bytes) + " to " + std::to_string(plan.max_bytes) +
                                    " bytes, which the plan is for");
  }
  const PlanCut cut(planned_shape(row, shape).value());
  const std::string stop = where_it_stops(
      plan, {.slots = cut.cut().slots(), .of_step = [&](const PlanStep& step) { return cut.messages(step); }});
  return stop.empty() || reader.fail(at_size, "the plan comes to a stop, with " + std::to_string(cut.cut().slots()) +
                                                  " messages under way on a connection: " + stop);
}

}  // namespace softspine::control

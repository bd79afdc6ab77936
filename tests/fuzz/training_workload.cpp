// SPDX-License-Identifier: Apache-2.0
// A workload text of any bytes gives layers whose step can be planned, or mistakes, each with words and a place.
#include <cstdint>
#include <string_view>

#include "control/training/simai_workload.hpp"
#include "control/training/training_plan.hpp"
#include "dataplane/units/check.hpp"

using namespace softspine::control;

namespace {

void check_plan(const SimaiWorkload& workload) {
  const StepOrder order = workload.is_micro ? StepOrder::kOneByOne : StepOrder::kStep;
  const ParallelGroups groups(64, {4, 4});
  const TrainingPlan plan = plan_of(workload.layers, order, groups, 1'000'000);
  std::array<uint32_t, kGroupKinds> begun{};
  for (const TrainingAction& action : plan.actions) {
    SOFTSPINE_CHECK(action.layer < plan.layers.size(), action.layer, plan.layers.size());
    const auto kind = static_cast<size_t>(action.group);
    if (action.kind == TrainingAction::Kind::kBegin) {
      ++begun[kind];
      SOFTSPINE_CHECK(action.collective < plan.collectives[kind].size(), action.collective, kind);
    }
    if (action.kind == TrainingAction::Kind::kWait)
      SOFTSPINE_CHECK(action.begun > 0 && action.begun <= begun[kind], action.begun, begun[kind]);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  ErrorsByKind errors("fuzz.txt");
  const auto workload = read_simai_workload(text, "fuzz.txt", errors);
  SOFTSPINE_CHECK(workload.has_value() != errors.any(), size, 0);
  if (workload) check_plan(*workload);
  ErrorLog log;
  errors.put_into(log);
  for (const Error& error : log.finish())
    SOFTSPINE_CHECK(!error.message.empty() && error.line > 0, error.line, error.column);
  return 0;
}

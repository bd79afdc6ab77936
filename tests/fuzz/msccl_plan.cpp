// SPDX-License-Identifier: Apache-2.0
// Any bytes are a plan, whose steps can all be asked for, or a list of mistakes, each with words and a line of the
// file.
#include "control/collectives/msccl_plan.hpp"

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "control/collectives/collective_work.hpp"

namespace {

using namespace softspine::control;

void require(bool claim) {
  if (!claim) std::abort();
}

void check(const SharedPlan& plan) {
  const CollectiveShape shape{.collective = plan->collective,
                              .algorithm = CollectiveAlgorithm::kPlan,
                              .protocol = plan->protocol,
                              .ranks = static_cast<uint32_t>(plan->ranks.size()),
                              .bytes = 48ULL * plan->chunks,
                              .channels = plan->channels,
                              .plan = plan};
  uint64_t sends = 0;
  uint64_t receives = 0;
  for (uint32_t rank = 0; rank < shape.ranks; ++rank) {
    const auto stream = stream_of(shape, rank);
    Operation operation;
    for (uint64_t number = 0; stream->next(operation); ++number) {
      for (const uint64_t need : operation.needs) require(need < number);
      require(operation.peer < shape.ranks);
      sends += operation.kind == OperationKind::kSend ? 1 : 0;
      receives += operation.kind == OperationKind::kReceive ? 1 : 0;
    }
    require(least_window(shape, rank) > 0);
  }
  require(sends == receives);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto plan = read_msccl_plan(text, "fuzz.xml");
  if (plan) {
    check(*plan);
    return 0;
  }
  int lines = 1;
  for (const char c : text) lines += c == '\n' ? 1 : 0;
  require(!plan.error().empty());
  for (const Error& error : plan.error()) require(!error.message.empty() && error.line > 0 && error.line <= lines);
  return 0;
}

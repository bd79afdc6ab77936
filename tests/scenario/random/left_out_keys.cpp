// SPDX-License-Identifier: Apache-2.0
// The keys that drawn testbeds do not hold, each with its reason: whatever is not named here is drawn.
#include <algorithm>
#include <array>

#include "tests/scenario/random/schema_values.hpp"

namespace softspine::tests {
namespace {

constexpr std::string_view kOutside = "a guest, namespace, program, interface or device: the wall clock, or root";
constexpr std::string_view kRefused = "is known only to say that it cannot be had";
constexpr std::string_view kOptions = "what is written of a run: each run's variants set it";

struct LeftOut {
  std::string_view table;
  std::string_view key;  // empty: all of the table
  std::string_view why;
};
constexpr std::array kLeftOut{
    LeftOut{"guest", "", kOutside},         LeftOut{"namespace", "", kOutside},
    LeftOut{"verbs", "", kOutside},         LeftOut{"edge", "tap", kOutside},
    LeftOut{"edge", "af_packet", kOutside}, LeftOut{"edge", "vhost_user", kOutside},
    LeftOut{"edge", "dpdk", kOutside},      LeftOut{"tap", "", kOutside},
    LeftOut{"af_packet", "", kOutside},     LeftOut{"vhost_user", "", kOutside},
    LeftOut{"node", "guest", kOutside},     LeftOut{"node", "namespace", kOutside},
    LeftOut{"node", "verbs", kOutside},     LeftOut{"run", "dilation", kOutside},
    LeftOut{"SCHEDULER", "cir", kRefused},  LeftOut{"telemetry", "", kOptions},
    LeftOut{"run", "telemetry", kOptions},
};

}  // namespace

std::string_view reason_to_leave_out(const SchemaKey& key) {
  const auto fits = [&](const LeftOut& each) {
    return each.table == key.table && (each.key.empty() || each.key == key.key);
  };
  const auto found = std::ranges::find_if(kLeftOut, fits);
  return found == kLeftOut.end() ? std::string_view() : found->why;
}

}  // namespace softspine::tests

// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/config/complaints.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace softspine::tests {

Complaints complaints_about(std::string_view text, const control::Overrides& overrides) {
  const auto testbed = control::parse_testbed(text, "t.yaml", overrides);
  Complaints out;
  if (testbed) return out;
  for (const control::Error& error : testbed.error()) {
    EXPECT_EQ(error.file, "t.yaml");
    out.push_back(std::to_string(error.line) + " " + error.path + ": " + error.message);
  }
  EXPECT_FALSE(out.empty()) << "refused without a reason";
  return out;
}

control::Testbed read_well(std::string_view text, const control::Overrides& overrides) {
  auto testbed = control::parse_testbed(text, "t.yaml", overrides);
  if (testbed) return std::move(*testbed);
  for (const control::Error& error : testbed.error()) ADD_FAILURE() << to_string(error);
  return {};
}

const control::FabricNode& node_of(const control::Testbed& testbed, std::string_view name) {
  return *std::ranges::find(testbed.fabric.nodes, name, &control::FabricNode::name);
}

std::string with_fabric(std::string_view rest) {
  return std::string(kSmallFabric) + std::string(rest);
}

}  // namespace softspine::tests

// SPDX-License-Identifier: Apache-2.0
#include "tests/scenario/random/edge_files.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "control/load/load.hpp"
#include "testbeds/run/captures.hpp"
#include "testbeds/run/running_fabric.hpp"
#include "tests/scenario/random/drawn_files.hpp"
#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

std::string without_edges(const std::string& text) {
  control::Json testbed = control::Json::parse(text);
  for (auto& [name, node] : testbed["topology"]["nodes"].items()) {
    for (const char* key : {"edge", "nic"}) node.erase(key);
  }
  return testbed.dump();
}

// Empty: it cannot be run.
std::string sent_by_hosts(const std::string& text) {
  const auto testbed = control::parse_testbed(text, tests::drawn_testbed_file(), {});
  if (!testbed) return "";
  const std::string path = (tests::folder_of_drawn() / "sent").string();
  std::vector<std::string> hosts;
  for (const control::FabricNode& node : testbed->fabric.nodes) {
    if (node.kind == control::NodeKind::kHost) hosts.push_back(node.name);
  }
  auto fabric = RunningFabric::make(*testbed, {.run_folder = {}, .capture = std::nullopt});
  if (!fabric || !(*fabric)->part<Captures>().open_for_run({.path = path, .ports = hosts, .full = true}) ||
      !(*fabric)->run())
    return "";
  EXPECT_TRUE((*fabric)->part<Captures>().close_all());
  EXPECT_EQ((*fabric)->drain(), 0U) << "packets that leaked";
  fabric->reset();
  std::string out = bytes_of(path);
  std::filesystem::remove(path);
  return out;
}

}  // namespace

bool put_edge_input(const std::string& text) {
  if (text.find(kEdgeInput) == std::string::npos) return true;
  const std::string sent = sent_by_hosts(without_edges(text));
  std::ofstream(tests::folder_of_drawn() / kEdgeInput, std::ios::binary) << sent;
  return !sent.empty();
}

std::map<std::string, std::string> take_edge_outputs() {
  std::map<std::string, std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(tests::folder_of_drawn())) {
    const std::string name = entry.path().filename();
    if (name.starts_with(kEdgeOutput)) out[name] = bytes_of(entry.path());
  }
  for (const auto& [name, bytes] : out) std::filesystem::remove(tests::folder_of_drawn() / name);
  return out;
}

}  // namespace softspine::testbeds

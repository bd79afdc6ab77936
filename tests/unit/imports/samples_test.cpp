// SPDX-License-Identifier: Apache-2.0
// Files that others made, where they are: what comes of each has the counts that a few naive lines find in it.
#include "tests/harness/samples.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "control/document/text_file.hpp"
#include "tests/unit/imports/importing.hpp"

namespace softspine::control {
namespace {

using namespace tests;

struct Counts {
  uint64_t hosts = 0;
  uint64_t switches = 0;
  uint64_t links = 0;
  std::map<std::string, uint64_t> rates;
  friend bool operator==(const Counts&, const Counts&) = default;
};
void PrintTo(const Counts& counts, std::ostream* out) {
  *out << counts.hosts << " hosts, " << counts.switches << " switches, " << counts.links << " links";
  for (const auto& [rate, count] : counts.rates) *out << ", " << count << " × " << rate;
}

Counts counts_of(const Fabric& fabric) {
  Counts out{.links = fabric.links.size(), .rates = {}};
  for (const FabricNode& node : fabric.nodes) ++(node.kind == NodeKind::kHost ? out.hosts : out.switches);
  for (const FabricLink& link : fabric.links)
    ++out.rates[print_quantity(static_cast<int64_t>(link.rate.count_bps()), kRateQuantity)];
  return out;
}

// As ns-3 reads it: word by word.
Counts counted_ns3(const std::string& text, bool simai) {
  std::istringstream words(text);
  uint64_t nodes = 0;
  uint64_t gpus = 0;
  uint64_t nvswitches = 0;
  uint64_t links = 0;
  std::string word;
  Counts out;
  words >> nodes;
  if (simai) words >> gpus >> nvswitches;
  words >> out.switches >> links;
  if (simai) words >> word;
  std::map<uint64_t, bool> is_nvswitch;
  for (uint64_t i = 0; i < nvswitches + out.switches; ++i) {
    uint64_t n = 0;
    words >> n;
    is_nvswitch[n] = i < nvswitches;
  }
  out.hosts = nodes - nvswitches - out.switches;
  for (uint64_t i = 0; i < links; ++i) {
    uint64_t a = 0;
    uint64_t b = 0;
    std::string rate;
    words >> a >> b >> rate >> word >> word;
    if (is_nvswitch[a] || is_nvswitch[b]) continue;
    ++out.links;
    ++out.rates[rate];
  }
  return out;
}

// Lines with "endpoints:", and the names two steps in under "nodes:".
std::pair<uint64_t, uint64_t> counted_containerlab(const std::string& text) {
  std::istringstream lines(text);
  uint64_t nodes = 0;
  uint64_t links = 0;
  bool in_nodes = false;
  for (std::string line; std::getline(lines, line);) {
    const size_t indent = line.find_first_not_of(' ');
    if (indent == std::string::npos || line[indent] == '#') continue;
    if (indent == 2) in_nodes = line.starts_with("  nodes:");
    if (in_nodes && indent == 4) ++nodes;
    if (line.find("endpoints:") != std::string::npos) ++links;
  }
  return {nodes, links};
}

class TopologySamples : public testing::Test {
 protected:
  void SetUp() override {
    const softspine::tests::Samples samples = softspine::tests::samples_of(
        "SOFTSPINE_TOPOLOGY_SAMPLES", "", "hpcc/, simai/ and containerlab/ of others' topology files");
    if (!samples.missing.empty()) GTEST_SKIP() << samples.missing;
    folder_ = samples.folder;
  }

  Testbed read(ImportFormat format, const std::filesystem::path& path) {
    files_ = {{path.string(), read_text_file(path.string(), true).value()}};
    imported_ = import_files(format, files_);
    EXPECT_TRUE(imported_.topology) << path << ": " << testing::PrintToString(imported_.complaints);
    return imported_.topology ? testbed_of(imported_, format, files_) : Testbed{};
  }

  std::filesystem::path folder_;
  std::vector<ImportFile> files_;
  Imported imported_;
};

TEST_F(TopologySamples, OfHpccHaveTheNodesLinksAndRatesOfTheirFiles) {
  for (const char* name : {"fat.txt", "topology.txt"}) {
    const Testbed testbed = read(ImportFormat::kHpcc, folder_ / "hpcc" / name);
    EXPECT_EQ(counts_of(testbed.fabric), counted_ns3(files_[0].text, false)) << name;
  }
  const Testbed fat = read(ImportFormat::kHpcc, folder_ / "hpcc" / "fat.txt");
  EXPECT_EQ(counts_of(fat.fabric).hosts, 320u);
}

TEST_F(TopologySamples, OfSimaiHaveTheNodesLinksAndRatesOfTheirFiles) {
  size_t found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "simai")) {
    if (entry.path().string().find("gps_") == std::string::npos) continue;  // settings, workloads, licence
    ++found;
    const Testbed testbed = read(ImportFormat::kSimai, entry.path());
    EXPECT_EQ(counts_of(testbed.fabric), counted_ns3(files_[0].text, true)) << entry.path();
  }
  EXPECT_GT(found, 0u);
}

TEST_F(TopologySamples, OfContainerlabHaveTheNodesAndLinksOfTheirFiles) {
  size_t found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "containerlab")) {
    if (!entry.path().string().ends_with(".clab.yml")) continue;
    ++found;
    const Testbed testbed = read(ImportFormat::kContainerlab, entry.path());
    const auto [nodes, links] = counted_containerlab(files_[0].text);
    EXPECT_EQ(testbed.fabric.nodes.size(), nodes) << entry.path();
    EXPECT_EQ(testbed.fabric.links.size(), links) << entry.path();
  }
  EXPECT_GT(found, 0u);
}

}  // namespace
}  // namespace softspine::control

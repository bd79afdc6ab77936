// SPDX-License-Identifier: Apache-2.0
// The lines of a vendor's configuration that a cure prints, read back by the reader of that vendor's configurations:
// the hash is the cure's. For every combination of what cures turn, and every vendor.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "analysis/explain/cure_text.hpp"
#include "analysis/explain/vendor_lines.hpp"
#include "control/load/load.hpp"
#include "control/vendors/hash_reading.hpp"

namespace softspine::tests {
namespace {

using analysis::HashChange;
using analysis::vendor_lines_of;
using analysis::words_of;
using control::HashAlgorithm;
using control::HashConfig;
using control::HashField;

bool hashes_qp(const HashConfig& hash) {
  return std::ranges::find(hash.fields, HashField::kRdmaBthDestQp) != hash.fields.end();
}

class CureLines : public testing::Test {
 protected:
  CureLines() : path_(std::filesystem::path(testing::TempDir()) / "softspine-cure-lines.json") {}
  ~CureLines() override { std::filesystem::remove(path_); }

  // What a switch with this hash has after the lines.
  HashConfig after(const std::vector<std::string>& lines, const HashConfig& before) const {
    HashConfig hash = before;
    std::string text;
    for (std::string line : lines) {
      EXPECT_TRUE(line.starts_with(kRole)) << line;
      line.erase(0, kRole.size());
      if (line.starts_with(kEcho)) {
        std::ofstream(path_) << line.substr(kEcho.size(), line.rfind('\'') - kEcho.size());
        take_switch_json(hash);
      } else if (!is_of_the_shell(line)) {
        text += line.substr(0, line.find(" in /etc/")) + "\n";
      }
    }
    if (text.empty()) return hash;
    const control::HashReading read = control::read_hash(text);
    for (const control::LineNote& note : read.errors) ADD_FAILURE() << text << note.text;
    for (const control::LineNote& note : read.remarks) EXPECT_EQ(note.line, 0) << text << note.text;
    EXPECT_EQ(read.ignored_count, 0u) << text;
    apply_reading(read, hash);
    return hash;
  }

  static constexpr std::string_view kRole = "aggregation: ";
  static constexpr std::string_view kEcho = "echo '";
  // What makes a switch take the configuration, and is none.
  static bool is_of_the_shell(const std::string& line) {
    return line.starts_with("docker ") || line.starts_with("systemctl ") || line == "nv config apply";
  }

 private:
  void take_switch_json(HashConfig& hash) const {
    const auto testbed = control::parse_testbed(
        "name: t\nfabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 1, host_link: {rate: 1Gbps}, "
        "fabric_link: {rate: 1Gbps}}\nprofiles: {default: {switch_json: \"" +
            path_.string() + "\"}}\n",
        "t.yaml");
    ASSERT_TRUE(testbed) << to_string(testbed.error().front());
    hash.seed = testbed->profiles.front().hash.seed;
    hash.offset = testbed->profiles.front().hash.offset;
  }

  std::filesystem::path path_;
};

std::vector<HashChange> every_change() {
  std::vector<std::optional<HashAlgorithm>> algorithms{std::nullopt};
  for (const auto& row : dataplane::kHashAlgorithms) algorithms.emplace_back(row.algorithm);
  std::vector<HashChange> out;
  for (const auto& algorithm : algorithms) {
    for (const std::optional<uint32_t> seed : {std::optional<uint32_t>{}, {10}, {25}, {16'777'216}}) {
      for (const std::optional<uint8_t> offset : {std::optional<uint8_t>{}, {0}, {10}, {15}, {16}}) {
        for (const bool qp : {false, true})
          out.push_back({.algorithm = algorithm, .seed = seed, .offset = offset, .add_qp = qp});
      }
    }
  }
  return out;
}

TEST_F(CureLines, OfEveryVendorAreReadBackAsTheCuresHash) {
  std::map<std::string, uint64_t> read_back;
  for (const HashChange& change : every_change()) {
    for (const analysis::VendorLines& vendor : vendor_lines_of({{control::Role::kAggregation, change}})) {
      const HashConfig hash = after(vendor.lines, HashConfig{});
      SCOPED_TRACE(vendor.vendor + ": " + words_of({{control::Role::kAggregation, change}}));
      EXPECT_EQ(hash.algorithm, change.algorithm.value_or(HashAlgorithm::kCrc));
      EXPECT_EQ(hash.seed, change.seed.value_or(0));
      EXPECT_EQ(hash.offset, change.offset.value_or(0));
      EXPECT_EQ(hashes_qp(hash), change.add_qp);
      ++read_back[vendor.vendor];
    }
  }
  // 3 seeds or none × the offsets up to 15 or none × (SAI's seven algorithms or none), but for nothing at all
  EXPECT_EQ(read_back["SONiC"], 4u * 4 * 8 - 1);
  EXPECT_EQ(read_back["Cumulus Linux (NVUE)"], 3u);
  EXPECT_EQ(read_back["Cumulus Linux (files)"], 3u);
  EXPECT_EQ(read_back["Junos (QFX10000)"], 3u);
  // two seeds in its range or none × eight algorithms or none × the QP or not, but for nothing at all
  EXPECT_EQ(read_back["Enterprise SONiC"], 3u * 9 * 2 - 1);
  EXPECT_EQ(read_back["Arista EOS (FM6000)"], 2u);
  EXPECT_EQ(read_back.size(), 6u);
}

TEST_F(CureLines, AreThereForNoVendorThatLacksAKnob) {
  EXPECT_TRUE(vendor_lines_of({{control::Role::kAggregation, {.algorithm = HashAlgorithm::kXxh3}}}).empty());
  EXPECT_TRUE(vendor_lines_of({{control::Role::kAggregation, {.seed = 10, .linux_policy = 1}}}).empty());
  EXPECT_TRUE(vendor_lines_of({{control::Role::kAggregation, {.seed = 10, .buckets = 509}}}).empty());
  const auto two =
      vendor_lines_of({{control::Role::kAggregation, {.seed = 10}}, {control::Role::kCore, {.offset = 5}}});
  ASSERT_EQ(two.size(), 1u) << "an offset has a place in SONiC alone";
  EXPECT_EQ(two.front().vendor, "SONiC");
}

}  // namespace
}  // namespace softspine::tests

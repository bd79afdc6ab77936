// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/imported_testbed.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>

#include "control/imports/testbed_text.hpp"
#include "control/load/load.hpp"

namespace softspine::tools {

using control::Error;
using control::Errors;
using control::ForeignNode;
using control::ForeignTopology;

namespace {

namespace fs = std::filesystem;

// Tables of a config_db.json that the import itself reads, and not a profile.
constexpr std::array<std::string_view, 7> kTaken{"PORT",           "DEVICE_NEIGHBOR",    "DEVICE_NEIGHBOR_METADATA",
                                                 "PORTCHANNEL",    "PORTCHANNEL_MEMBER", "VLAN_INTERFACE",
                                                 "DEVICE_METADATA"};

void attach_files(ForeignTopology& topology, const fs::path& folder) {
  for (ForeignNode& node : topology.nodes) {
    if (node.own_file.empty()) continue;
    std::error_code none;
    const fs::path path = fs::relative(node.own_file, folder, none);
    node.config_db = none || path.empty() ? fs::absolute(node.own_file).string() : path.string();
  }
}

// Takes away what an error is about. False if that is nothing that was attached.
bool take_away(ForeignTopology& topology, const Error& error, const fs::path& folder) {
  for (ForeignNode& node : topology.nodes) {
    std::error_code none;
    const bool is_of_file =
        !node.config_db.empty() && fs::equivalent(error.file, folder / node.config_db, none) && !none;
    const bool is_of_subnet = !node.subnets.empty() && error.path.contains("nodes." + node.name + ".subnet");
    if (is_of_file) {
      Error note = error;
      note.message = "the file is not attached to '" + node.name + "': " + error.message;
      topology.notes.push_back(std::move(note));
      node.config_db.clear();
    } else if (is_of_subnet) {
      topology.notes.push_back(Error{node.place.file, "", node.place.line, node.place.column,
                                     "the subnet of '" + node.name + "' is planned: " + error.message});
      node.subnets.clear();
    } else {
      continue;
    }
    return true;
  }
  return false;
}

std::string left_out_of(const control::Testbed& testbed) {
  std::map<std::string, std::set<std::string>> files;  // by table
  for (const control::IgnoredPart& part : testbed.ignored) {
    if (std::ranges::find(kTaken, part.table) == kTaken.end() && part.what.empty()) files[part.table].insert(part.file);
  }
  std::string out;
  for (const auto& [table, of] : files) {
    out += (out.empty() ? "" : ", ") + table;
    if (of.size() > 1) out += " (of " + std::to_string(of.size()) + " files)";
  }
  return out;
}

}  // namespace

std::expected<std::string, Errors> imported_testbed(ForeignTopology& topology, control::ImportFormat format,
                                                    const std::vector<control::ImportFile>& files,
                                                    const std::string& output, const control::ForeignTraffic* traffic) {
  const fs::path parent = fs::path(output).parent_path();
  const fs::path folder = parent.empty() ? fs::path(".") : parent;
  const std::string name = output.empty() ? "testbed.yaml" : output;
  attach_files(topology, folder);
  for (;;) {
    const auto testbed = control::parse_testbed(testbed_text(topology, format, files, traffic), name);
    if (testbed) {
      topology.left_out = left_out_of(*testbed);
      control::sort_by_place(topology.notes);
      return testbed_text(topology, format, files, traffic);
    }
    bool is_less = false;
    for (const Error& error : testbed.error()) is_less = take_away(topology, error, folder) || is_less;
    if (!is_less) return std::unexpected(testbed.error());
  }
}

}  // namespace softspine::tools

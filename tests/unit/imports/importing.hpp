// SPDX-License-Identifier: Apache-2.0
// Imports texts as files, and takes down what is said of them.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "control/imports/import.hpp"
#include "control/imports/testbed_text.hpp"
#include "control/load/load.hpp"

namespace softspine::control::tests {

struct Imported {
  std::optional<ForeignTopology> topology;
  std::vector<std::string> complaints;
  std::vector<std::string> notes;
};

inline std::vector<std::string> texts_of(const Errors& errors) {
  std::vector<std::string> out;
  for (const Error& error : errors) out.push_back(to_string(error));
  return out;
}

inline Imported import_files(ImportFormat format, const std::vector<ImportFile>& files,
                             const ImportOptions& options = {}) {
  Reader reader("import");
  Imported out{.topology = import_topology(reader, format, files, options), .complaints = {}, .notes = {}};
  out.complaints = texts_of(reader.finish());
  if (out.topology) out.notes = texts_of(out.topology->notes);
  return out;
}

inline Imported import_text(ImportFormat format, std::string_view text, const ImportOptions& options = {}) {
  return import_files(format, {{.path = "t.txt", .text = std::string(text)}}, options);
}

// config_db.json files: a.json, b.json, …
inline std::vector<ImportFile> sonic_files(const std::vector<std::string>& texts) {
  std::vector<ImportFile> out;
  for (size_t i = 0; i < texts.size(); ++i)
    out.push_back({std::string(1, static_cast<char>('a' + i)) + ".json", texts[i]});
  return out;
}

inline Imported import_sonic(const std::vector<std::string>& texts, const ImportOptions& options = {}) {
  return import_files(ImportFormat::kSonic, sonic_files(texts), options);
}

// A text that is refused, and what is said of it.
struct Wrong {
  const char* text;
  const char* complaint;
};

// "tor: leaf1 leaf2; host: h1": names by what they became, in the file's order.
inline std::map<std::string, std::string> names_by_use(const ForeignTopology& topology) {
  std::map<std::string, std::string> out;
  for (const ForeignNode& node : topology.nodes) {
    const auto role = role_of(node.use);
    std::string& names = out[role ? name_of(*role) : "host"];
    names += (names.empty() ? "" : " ") + node.name;
  }
  return out;
}

// "a:eth0 b:eth0 100Gbps"
inline std::vector<std::string> links_of(const ForeignTopology& topology) {
  std::vector<std::string> out;
  const auto name = [&](const ForeignEnd& end) { return topology.nodes[end.node].name + ":" + end.port; };
  for (const ForeignLink& link : topology.links) {
    out.push_back(name(link.a) + " " + name(link.b) + " " +
                  print_quantity(static_cast<int64_t>(link.rate.count_bps()), kRateQuantity));
  }
  return out;
}

// The testbed that the import writes, as it is read again.
inline Testbed testbed_of(const Imported& imported, ImportFormat format, const std::vector<ImportFile>& files) {
  const std::string text = testbed_text(*imported.topology, format, files);
  auto testbed = parse_testbed(text, "imported.yaml");
  EXPECT_TRUE(testbed) << (testbed ? "" : to_string(testbed.error()[0])) << "\n" << text.substr(0, 2'000);
  return testbed ? std::move(*testbed) : Testbed{};
}

}  // namespace softspine::control::tests

// SPDX-License-Identifier: Apache-2.0
// Another system's topology file of any bytes, its format by the first byte: mistakes with words, or a testbed that can
// be read: of one length in eight, since reading it takes longer than the import.
#include <cstdint>
#include <string_view>

#include "control/imports/import.hpp"
#include "control/imports/testbed_text.hpp"
#include "control/load/load.hpp"
#include "dataplane/units/check.hpp"

using namespace softspine;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const auto& row = control::kImportFormats[static_cast<uint8_t>(data[0] - '0') % control::kImportFormats.size()];
  const std::string_view text{reinterpret_cast<const char*>(data) + 1, size - 1};
  const std::vector<control::ImportFile> files{{"fuzz.txt", std::string(text)}};
  control::Reader reader("fuzz.txt");
  const auto topology = control::import_topology(reader, row.format, files, {});
  const control::Errors errors = reader.finish();
  SOFTSPINE_CHECK(topology.has_value() == errors.empty(), errors.size(), size);
  for (const control::Error& error : errors) SOFTSPINE_CHECK(!error.message.empty(), error.line, error.column);
  if (!topology || topology->nodes.size() > 500) return 0;  // reading a large testbed takes too long here
  for (const control::ForeignLink& link : topology->links) {
    SOFTSPINE_CHECK(link.a.node < topology->nodes.size() && link.b.node < topology->nodes.size(), link.a.node,
                    link.b.node);
  }
  if (size % 8 != 0) return 0;
  const auto testbed = control::parse_testbed(testbed_text(*topology, row.format, files), "fuzz.yaml");
  if (!testbed) return 0;
  SOFTSPINE_CHECK(testbed->fabric.nodes.size() == topology->nodes.size(), testbed->fabric.nodes.size(),
                  topology->nodes.size());
  SOFTSPINE_CHECK(testbed->fabric.links.size() == topology->links.size(), testbed->fabric.links.size(),
                  topology->links.size());
  return 0;
}

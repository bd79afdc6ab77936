// SPDX-License-Identifier: Apache-2.0
// A capture of any bytes, compared with what a fabric predicts: taken at one port, and at a switch whose ports its
// interfaces name: the input's length chooses the form. Each frame is counted once, and each flow has a verdict and
// words for it.
#include "analysis/reading/sightings.hpp"

#include <cstdint>

#include "analysis/explain/comparison_report.hpp"
#include "control/load/load.hpp"
#include "control/telemetry/json.hpp"
#include "dataplane/units/check.hpp"
#include "tests/fuzz/bytes_as_file.hpp"

using namespace softspine;

namespace {

const control::Testbed& fabric() {
  static const control::Testbed testbed = *control::parse_testbed(
      "name: t\nfabric: {kind: leaf-spine, tors: 4, spines: 4, hosts_per_tor: 4, host_link: {rate: 1Gbps}, "
      "fabric_link: "
      "{rate: 1Gbps}}\nprofiles: {default: {hash: {udf: [{base: L4, offset: 13, length: 3, match: {l4_dst_port: "
      "4791}}]}}}\n",
      "t.yaml");
  return testbed;
}

void compare(analysis::Walker& walker, const std::vector<analysis::CaptureSource>& sources, const std::string& from) {
  const auto read = analysis::read_sightings(walker, sources, {.ports_file = "", .from = from});
  if (!read) return;
  uint64_t seen = read->without_ip + read->without_place + read->without_way + read->left_out;
  for (const analysis::SightedFlow& flow : read->flows) {
    SOFTSPINE_CHECK(!flow.left.empty(), read->flows.size(), read->packets);
    for (const auto& [end, packets] : flow.left) seen += packets;
  }
  SOFTSPINE_CHECK(seen <= read->packets, seen, read->packets);
  const analysis::PathComparison found = compare_with(walker, read->flows);
  SOFTSPINE_CHECK(found.flows.size() == read->flows.size(), found.flows.size(), read->flows.size());
  const std::string text = comparison_text(fabric().fabric, read->flows, found, SIZE_MAX);
  const control::Json json = comparison_json(fabric().fabric, read->flows, found);
  SOFTSPINE_CHECK(!text.empty() && json["compared"].size() == read->flows.size(), text.size(), json.size());
  static_cast<void>(left_out_text(*read));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static tests::BytesAsFile file;
  static analysis::Walker walker{fabric(), std::vector<bool>(fabric().fabric.links.size(), true)};
  file.hold(data, size);
  const auto port = analysis::capture_source(fabric().fabric, "tor1:Ethernet16=" + file.path());
  SOFTSPINE_CHECK(port.has_value(), size, size);
  if (size % 2 == 0) {
    compare(walker, {*port}, "");
  } else {
    compare(walker, {{file.path(), "tor1", {}}, *port}, "tor1:Ethernet0");
  }
  return 0;
}

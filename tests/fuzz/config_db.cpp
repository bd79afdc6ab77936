// SPDX-License-Identifier: Apache-2.0
// A config_db.json of any bytes, named by a profile: a testbed, or mistakes with words, each with its place. What comes
// of it is reviewed, and compiled for a switch.
#include <cstdint>

#include "control/compile/headroom_check.hpp"
#include "control/compile/qos_plan.hpp"
#include "control/compile/review.hpp"
#include "control/load/load.hpp"
#include "tests/fuzz/bytes_as_file.hpp"

using namespace softspine;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static tests::BytesAsFile file;
  static const std::string testbed_text =
      "name: t\nfabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 1, host_link: {rate: 1Gbps}, "
      "fabric_link: {rate: "
      "1Gbps}}\nprofiles: {default: {config_db: " +
      file.path() + "}}\nworkload: [{name: w, pattern: ring}]\n";
  file.hold(data, size);
  const auto testbed = control::parse_testbed(testbed_text, "t.yaml");
  if (!testbed) {
    for (const control::Error& error : testbed.error()) SOFTSPINE_CHECK(!error.message.empty(), error.line, size);
    return 0;
  }
  const control::Review found = control::review(*testbed);
  // A LAG of one link with more min_links cuts the ToRs apart.
  const bool may_be_cut = !testbed->fabric.lags.empty();
  SOFTSPINE_CHECK(found.workloads.size() == 1 && (found.errors.empty() || may_be_cut), found.workloads.size(), size);
  const auto& qos = testbed->profiles.front().qos;
  if (qos)
    static_cast<void>(
        control::compile_qos(testbed->profiles.front(), control::port_shapes(testbed->fabric, testbed->profiles, 0)));
  return 0;
}

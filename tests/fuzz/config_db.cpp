// SPDX-License-Identifier: Apache-2.0
// A config_db.json of any bytes: mistakes with words, each with its place, or rows. Rows that can be read are those of
// a testbed's profile: a testbed comes of it, or mistakes; it is reviewed, and compiled for a switch.
#include "control/load/config_db.hpp"

#include <cstdint>
#include <string_view>

#include "control/compile/headroom_check.hpp"
#include "control/compile/review.hpp"
#include "control/compile/switch_qos.hpp"
#include "control/document/reader.hpp"
#include "control/load/load.hpp"
#include "control/rows/tables.hpp"
#include "tests/fuzz/bytes_as_file.hpp"

using namespace softspine;

namespace {

void check(const control::Errors& errors, size_t size) {
  for (const control::Error& error : errors) SOFTSPINE_CHECK(!error.message.empty(), error.line, size);
}

// What control/load/profiles.cpp reads first. Most inputs end here: a testbed around each would take ten times as long.
bool can_be_read(std::string_view text) {
  control::Reader reader{"t.yaml"};
  const control::Value root = reader.open(text, "config_db.json", control::Dialect::kConfigDb);
  control::ProfileRow row;
  if (!root.file().empty()) {
    control::config_db_table().read(reader, root, row);
    control::finish_config_db(reader, row);
  }
  const control::Errors errors = reader.finish();
  check(errors, text.size());
  return errors.empty();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static tests::BytesAsFile file;
  static const std::string testbed_text =
      "name: t\nfabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 1, host_link: {rate: 1Gbps}, "
      "fabric_link: {rate: "
      "1Gbps}}\nprofiles: {default: {config_db: " +
      file.path() + "}}\nworkload: [{name: w, pattern: ring}]\n";
  if (!can_be_read({reinterpret_cast<const char*>(data), size})) return 0;
  file.hold(data, size);
  const auto testbed = control::parse_testbed(testbed_text, "t.yaml");
  if (!testbed) {
    check(testbed.error(), size);
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

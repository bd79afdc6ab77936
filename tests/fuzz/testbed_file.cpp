// SPDX-License-Identifier: Apache-2.0
// A testbed file of any bytes gives a testbed or a list of mistakes, each with words and a place in the text;
// a testbed that comes of it can be judged against its own empty report.
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

#include "control/compile/review.hpp"
#include "control/expect/judge.hpp"
#include "control/load/load.hpp"
#include "control/telemetry/json.hpp"

namespace {

using namespace softspine::control;

constexpr const char* kFile = "fuzz.yaml";

void require(bool claim) {
  if (!claim) std::abort();
}

void check(const Errors& errors, std::string_view text) {
  require(!errors.empty());
  int lines = 2;  // the end of the text is a place too
  for (const char c : text) lines += c == '\n' || c == '\r' ? 1 : 0;
  // In order within a file; a mistake may also show in a profile of ours that the text builds on.
  std::map<std::string, int, std::less<>> before;
  for (const Error& error : errors) {
    require(!error.message.empty());
    require(error.line >= 0 && (error.file != kFile || error.line <= lines));
    require(error.line >= before[error.file] || error.line == 0);
    before[error.file] = error.line;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto testbed = parse_testbed(text, kFile);
  if (!testbed) {
    check(testbed.error(), text);
    return 0;
  }
  const Fabric& fabric = testbed->fabric;
  for (uint32_t l = 0; l < fabric.links.size(); ++l) {
    require(fabric.port(fabric.links[l].a).link == l && fabric.port(fabric.links[l].b).link == l);
  }
  for (const FabricNode& node : fabric.nodes)
    require(node.kind == NodeKind::kHost || node.profile < testbed->profiles.size());
  // What is said of its traffic, of one length in eight: the review takes longer than all the rest, and routes of a
  // large fabric take too long here.
  if (size % 8 == 0 && fabric.nodes.size() <= 200)
    require(review(*testbed).workloads.size() == testbed->workloads.size());
  for (const Verdict& verdict : judge(testbed->expectations, Json::object())) require(!verdict.held);
  return 0;
}

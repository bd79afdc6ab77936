// SPDX-License-Identifier: Apache-2.0
// Lines from the control socket, each a request, as they reach a small fabric that runs on the virtual clock: shown,
// injected, captured, taken down, made to fail. Each is answered, in words or with a value; whatever was asked, the
// fabric's numbers agree afterwards from both sides, and every packet is back.
// Some lines of one input follow each other on one fabric, and so do inputs, until they have changed enough of it: to
// find again what an input alone does not show, replay the corpus up to it.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "control/load/load.hpp"
#include "control/report/counters_reference.hpp"
#include "control/report/report.hpp"
#include "control/server/protocol.hpp"
#include "dataplane/dpdk/eal.hpp"
#include "dataplane/units/check.hpp"
#include "testbeds/run/captures.hpp"
#include "testbeds/run/running_fabric.hpp"
#include "tests/fuzz/bytes_as_file.hpp"
#include "tests/fuzz/fuzz_target.hpp"
#include "tools/softspine/views/fabric_server.hpp"
#include "tools/softspine/views/run_report.hpp"

namespace {

using namespace softspine;
using control::Json;
using dataplane::Duration;

constexpr int kMaxLines = 8;
constexpr int kMaxChanges = 128;              // each is a window that every report tells of
constexpr int kDumpEvery = 16;                // answers: making its text takes longer than making most answers
constexpr Duration kStep = Duration::us(20);  // emulated time from a line to the next one

const control::Testbed& testbed() {
  static const control::Testbed testbed = *control::parse_testbed(R"(
name: t
run: {seed: 1}
fabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 1, host_link: {rate: 1Gbps, length: 5m},
  fabric_link: {rate: 1Gbps, length: 5m}}
profiles: {default: {base: lossless}, other: {base: lossless, BUFFER_PROFILE: {pg_lossless_auto_profile: {dynamic_th: 0}}}}
workload: [{name: w, pattern: ring, mtu: 1024, message: 64KiB, messages: 1000000, dscp: 3}]
)",
                                                                  "t.yaml");
  return testbed;
}

// An answer, when it has come.
struct Answer {
  bool has_come = false;
  control::Reply::Answer how;
};

class LiveFabric {
 public:
  LiveFabric() : fabric_(std::move(*testbeds::RunningFabric::make(testbed(), {}))), server_(*fabric_) {}
  ~LiveFabric() {
    static_cast<void>(fabric_->part<testbeds::Captures>().close_all());
    const Json report = control::report_json(fabric_->snapshot(), tools::run_facts(testbed()));
    const Json& wrong = report["totals"]["imbalances"];
    if (!wrong.empty()) std::fprintf(stderr, "%s\n", wrong.dump().c_str());
    SOFTSPINE_CHECK(wrong.empty(), wrong.size(), changes_);
    SOFTSPINE_CHECK(fabric_->drain() == 0, fabric_->drain(), 0);
  }

  int changes() const { return changes_; }

  void ask(std::string_view line) {
    auto request = control::parse_request(line);
    if (!request) return;
    confine(*request);
    const auto answer = std::make_shared<Answer>();
    const control::Reply reply{[answer](control::Reply::Answer how) {
      if (!answer->has_come) *answer = {.has_come = true, .how = std::move(how)};
    }};
    if (!server_.call(*request, reply)) return;
    // `handle` answers by a result that is yet to be made, and acts then.
    if (answer->has_come) finish(*request, answer->how);
    dataplane::Engine& engine = *fabric_->assembly().engine;
    end_ = end_ + kStep;
    engine.run(end_);
    if (!was_answered_) {
      SOFTSPINE_CHECK(answer->has_come, line.size(), end_.count_ps());
      finish(*request, answer->how);
    }
    was_answered_ = false;
  }

 private:
  // A capture writes where this program says.
  void confine(control::Request& request) {
    if (request.command != "capture start" || !request.arguments.is_object()) return;
    const auto path = request.arguments.find("path");
    if (path != request.arguments.end() && path->is_string()) *path = capture_.path();
  }

  void finish(const control::Request& request, control::Reply::Answer& how) {
    was_answered_ = true;
    if (how.make_pages) {
      how.make_pages([](const std::string& page) { return !page.empty(); });
      return;
    }
    const control::Result result = how.make();
    SOFTSPINE_CHECK(result || !result.error().empty(), 0, 0);
    if (result && !request.command.starts_with("show ")) ++changes_;
    if (result && ++answers_ % kDumpEvery != 0) return;
    const std::string response = control::format_response(request.id, result);
    SOFTSPINE_CHECK(response.find('\n') == response.size() - 1, response.size(), 0);
  }

  tests::BytesAsFile capture_;
  std::unique_ptr<testbeds::RunningFabric> fabric_;
  tools::FabricServer server_;
  dataplane::Instant end_;
  bool was_answered_ = false;
  int changes_ = 0;
  int answers_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  dataplane::start_eal({.memory_mib = 256});
  static_cast<void>(testbed());  // outlives the fabric, as do the tables that the report is made by
  static_cast<void>(control::counters_reference());
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static std::optional<LiveFabric> fabric;
  if (!fabric) fabric.emplace();
  std::string_view text{reinterpret_cast<const char*>(data), size};
  for (int lines = 0; !text.empty() && lines < kMaxLines; ++lines) {
    const size_t end = text.find('\n');
    fabric->ask(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  if (fabric->changes() >= kMaxChanges) fabric.reset();
  return 0;
}

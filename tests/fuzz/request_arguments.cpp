// SPDX-License-Identifier: Apache-2.0
// The arguments of a request, as the handlers behind the control socket read them: captures, faults, frames. Whatever
// they are, they are refused in words or understood; a capture that was understood is understood again from our own
// words.
#include <cstdint>
#include <string_view>

#include "control/load/live_fault.hpp"
#include "control/load/load.hpp"
#include "control/server/protocol.hpp"
#include "dataplane/units/check.hpp"
#include "tools/command/hex.hpp"
#include "tools/softspine/views/capture_requests.hpp"

using namespace softspine;
using control::Json;

namespace {

const control::Testbed& fabric() {
  static const control::Testbed testbed = *control::parse_testbed(
      "name: t\nfabric: {kind: leaf-spine, tors: 1, spines: 1, hosts_per_tor: 2, host_link: {rate: 1Gbps}, "
      "fabric_link: {rate: "
      "1Gbps}}\nprofiles: {default: {base: lossless}}\n",
      "t.yaml");
  return testbed;
}

void ask_for_capture(const Json& arguments) {
  const auto request = tools::capture_request(arguments);
  if (!request) {
    SOFTSPINE_CHECK(!request.error().empty(), 0, 0);
    return;
  }
  const auto again = tools::capture_request(tools::json_of(*request));
  SOFTSPINE_CHECK(again && again->path == request->path && again->snaplen == request->snaplen, request->snaplen, 0);
}

// As the handler of `fault` does.
void ask_for_fault(Json row) {
  row["at"] = "0s";
  const auto fault = control::parse_live_fault(row.dump(-1, ' ', true, Json::error_handler_t::replace), fabric());
  if (fault) return;
  for (const control::Error& error : fault.error()) SOFTSPINE_CHECK(!error.message.empty(), error.line, 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  const auto request = control::parse_request(text);
  if (!request) return 0;
  const Json& arguments = request->arguments;
  ask_for_capture(arguments);
  if (arguments.is_object()) {
    ask_for_fault(arguments);
    const auto frame = arguments.find("frame");
    if (frame != arguments.end() && frame->is_string()) {
      static_cast<void>(tools::bytes_of_hex(frame->get_ref<const std::string&>()));
    }
  }
  return 0;
}

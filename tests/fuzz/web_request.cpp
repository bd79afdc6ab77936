// SPDX-License-Identifier: Apache-2.0
// Bytes that come to the web server: whatever they are, they are no request, are refused in words, or lead to what the
// gate allows. With a token and without control, nothing of the fabric is reached without the token, and nothing that
// changes it at all.
#include <boost/asio/buffer.hpp>
#include <cstdint>
#include <string_view>

#include "control/server/openapi.hpp"
#include "control/server/web_options.hpp"
#include "control/server/web_parser.hpp"
#include "dataplane/units/check.hpp"

using namespace softspine::control;

namespace {

constexpr std::string_view kToken = "0123456789abcdef";

const Commands& known() {
  static const Commands* const all = [] {
    auto* out = new Commands(ServerOptions{});
    const auto nothing = [](const Json&) -> Result { return Json{}; };
    out->handle({"show arp", CommandKind::kReading, "x", {{.name = "node", .help = "x", .required = true}}}, nothing);
    out->handle({"show prometheus", CommandKind::kReading, "x"}, nothing);
    out->handle({"link", CommandKind::kChanging, "x", {{.name = "link", .help = "x"}, {.name = "state", .help = "x"}}},
                nothing);
    out->handle("local", nothing);
    return out;
  }();
  return *all;
}

void judge(const WebRequest& request, const std::string& body) {
  static const std::vector<WebFile> files{{"/", "text/html", "x"}};
  const auto target = parse_target(request.target);
  const auto route = target ? route_of(*target, request.method, known(), files) : std::unexpected(target.error());
  const bool is_file = route && std::holds_alternative<ToFile>(*route);
  const auto refusal = web_refusal(request, {.token = std::string{kToken}, .control = body.size() % 2 == 1}, !is_file);
  if (refusal) {
    SOFTSPINE_CHECK(refusal->status >= 400 && !refusal->why.empty(), refusal->status, 0);
    return;
  }
  SOFTSPINE_CHECK(is_literal_host(request.host), request.host.size(), 0);
  if (!route) {
    SOFTSPINE_CHECK(route.error().status >= 400 && !route.error().why.empty(), route.error().status, 0);
    return;
  }
  const bool shown = (request.authorization + request.protocols).find(kToken) != std::string::npos;
  SOFTSPINE_CHECK(is_file || shown, 0, 0);
  if (const auto* to = std::get_if<ToCommand>(&*route)) {
    SOFTSPINE_CHECK(to->facts->kind != CommandKind::kLocal, 0, 0);
    SOFTSPINE_CHECK(to->facts->kind == CommandKind::kReading || body.size() % 2 == 1, body.size(), 0);
    static_cast<void>(body_arguments(body, *to->facts));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  WebParser parser;
  limit(parser);
  boost::system::error_code failed;
  size_t used = parser.put(boost::asio::buffer(data, size), failed);
  if (failed && failed != boost::beast::http::error::need_more) {
    SOFTSPINE_CHECK(refusal_of(failed).status >= 400, size, 0);
    return 0;
  }
  if (!parser.is_header_done()) return 0;
  const WebRequest request = web_request_of(parser);
  parser.eager(true);
  while (!failed && !parser.is_done() && used < size) {
    const size_t more = parser.put(boost::asio::buffer(data + used, size - used), failed);
    if (more == 0) break;
    used += more;
  }
  judge(request, parser.get().body());
  return 0;
}

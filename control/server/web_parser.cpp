// SPDX-License-Identifier: Apache-2.0
#include "control/server/web_parser.hpp"

#include <boost/beast/http/error.hpp>
#include <boost/beast/websocket/rfc6455.hpp>

#include "control/server/protocol.hpp"
#include "control/server/web_options.hpp"

namespace softspine::control {

namespace {

namespace http = boost::beast::http;

std::string field_of(const WebHead& head, http::field name) {
  const auto found = head.find(name);
  return found == head.end() ? std::string{} : std::string{found->value()};
}

// A header that may stand only once: two of them, and what is behind us may have read the other.
bool stands_once(const WebHead& head, http::field name) {
  return head.count(name) == 1;
}

}  // namespace

void limit(WebParser& parser) {
  parser.header_limit(kMaxHeadBytes);
  parser.body_limit(kMaxRequestBytes);
}

WebRequest web_request_of(const WebParser& parser) {
  const auto& head = parser.get();
  WebRequest out;
  out.method = std::string{head.method_string()};
  out.target = std::string{head.target()};
  out.host = field_of(head, http::field::host);
  out.origin = field_of(head, http::field::origin);
  const auto site = head.find("Sec-Fetch-Site");
  if (site != head.end()) out.fetch_site = std::string{site->value()};
  out.authorization = field_of(head, http::field::authorization);
  out.protocols = field_of(head, http::field::sec_websocket_protocol);
  out.content_type = field_of(head, http::field::content_type);
  out.has_host = stands_once(head, http::field::host);
  out.has_origin = head.count(http::field::origin) > 0;
  // A coding that is not chunked would tell neither us nor a proxy where the body ends.
  out.has_body = !parser.is_done() || head.count(http::field::transfer_encoding) > 0;
  out.is_upgrade = boost::beast::websocket::is_upgrade(head);
  return out;
}

WebRefusal refusal_of(const boost::system::error_code& failed) {
  if (failed == http::error::header_limit || failed == http::error::buffer_overflow) {
    return {431, "a request's head may have " + std::to_string(kMaxHeadBytes) + " bytes"};
  }
  if (failed == http::error::body_limit) {
    return {413, "a body may have " + std::to_string(kMaxRequestBytes) + " bytes"};
  }
  return {400, "this is no HTTP request: " + failed.message()};
}

}  // namespace softspine::control

// SPDX-License-Identifier: Apache-2.0
// Who may ask what over HTTP. A pure function of a request's head, apart from any connection.
//
//   Host       an address, or localhost: a page whose name was made to mean us (DNS rebinding) has another
//   Origin     ours, or none: other sites' scripts are refused, and so is what a browser calls cross-site
//   token      if there is one, every request but that for the page itself has it: Authorization: Bearer TOKEN, or,
//              since a browser's WebSocket has no headers, the subprotocol bearer.TOKEN
//   methods    GET and HEAD; POST for commands that change something, if control is on, with a JSON body (which a
//              browser sends to strangers only if they agree)
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace softspine::control {

// A head as it was read; what is missing is empty.
struct WebRequest {
  std::string method;
  std::string target;
  std::string host;
  std::string origin;
  std::string fetch_site;     // Sec-Fetch-Site
  std::string authorization;  // Authorization
  std::string protocols;      // Sec-WebSocket-Protocol
  std::string content_type;
  bool has_host = false;
  bool has_origin = false;
  bool has_body = false;
  bool is_upgrade = false;  // to a WebSocket
};

struct WebPolicy {
  std::string token;  // empty: none is asked for
  bool control = false;
};

struct WebRefusal {
  unsigned status = 0;
  std::string why;  // a sentence
};

// `needs_token`: false for what holds nothing of the fabric.
std::optional<WebRefusal> web_refusal(const WebRequest& request, const WebPolicy& policy, bool needs_token);

// The subprotocol that an events' reader may ask for, beside bearer.TOKEN: a browser wants one to be chosen.
inline constexpr std::string_view kEventsProtocol = "softspine.events";
bool offers_protocol(const WebRequest& request, std::string_view protocol);

}  // namespace softspine::control

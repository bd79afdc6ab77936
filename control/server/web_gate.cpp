// SPDX-License-Identifier: Apache-2.0
#include "control/server/web_gate.hpp"

#include "control/server/web_address.hpp"

namespace softspine::control {

namespace {

constexpr std::string_view kBearer = "Bearer ";
constexpr std::string_view kBearerProtocol = "bearer.";

// In a time that does not tell how much of it was right.
bool is_the_token(std::string_view given, std::string_view token) {
  unsigned differs = given.size() == token.size() ? 0 : 1;
  for (size_t i = 0; i < token.size(); ++i) {
    differs |= static_cast<unsigned char>(token[i]) ^ static_cast<unsigned char>(i < given.size() ? given[i] : 0);
  }
  return differs == 0;
}

bool has_token(const WebRequest& request, std::string_view token) {
  const std::string_view header = request.authorization;
  if (header.starts_with(kBearer)) return is_the_token(header.substr(kBearer.size()), token);
  return request.is_upgrade && offers_protocol(request, std::string{kBearerProtocol} + std::string{token});
}

bool is_json(std::string_view type) {
  constexpr std::string_view kJson = "application/json";
  return type.starts_with(kJson) && (type.size() == kJson.size() || type[kJson.size()] == ';');
}

bool comes_from_another_site(const WebRequest& request) {
  if (request.has_origin && request.origin != "http://" + request.host) return true;
  return !request.fetch_site.empty() && request.fetch_site != "same-origin" && request.fetch_site != "none";
}

std::optional<WebRefusal> refused_change(const WebRequest& request, const WebPolicy& policy) {
  if (!policy.control) return WebRefusal{403, "nothing is changed over HTTP: softspine run --http-control allows it"};
  if (!is_json(request.content_type)) return WebRefusal{415, "the body is to be application/json"};
  return std::nullopt;
}

}  // namespace

bool offers_protocol(const WebRequest& request, std::string_view protocol) {
  std::string_view left = request.protocols;
  bool found = false;
  while (!left.empty()) {
    const size_t comma = left.find(',');
    std::string_view each = left.substr(0, comma);
    left = comma == std::string_view::npos ? std::string_view{} : left.substr(comma + 1);
    while (each.starts_with(' ')) each.remove_prefix(1);
    while (each.ends_with(' ')) each.remove_suffix(1);
    found |= is_the_token(each, protocol);
  }
  return found;
}

std::optional<WebRefusal> web_refusal(const WebRequest& request, const WebPolicy& policy, bool needs_token) {
  if (!request.has_host || !is_literal_host(request.host)) {
    return WebRefusal{421, "the Host header has to be an address or localhost: no name leads here"};
  }
  if (comes_from_another_site(request)) return WebRefusal{403, "pages of other sites are not answered"};
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (!reads && request.method != "POST") return WebRefusal{405, "methods are GET, HEAD and POST"};
  if (reads && request.has_body) return WebRefusal{400, request.method + " has no body here"};
  if (needs_token && !policy.token.empty() && !has_token(request, policy.token)) {
    return WebRefusal{401, "a token is needed: Authorization: Bearer TOKEN"};
  }
  return reads ? std::nullopt : refused_change(request, policy);
}

}  // namespace softspine::control

// SPDX-License-Identifier: Apache-2.0
// Where HTTP is served: 127.0.0.1:8080, [::1]:8080, localhost:8080. Names of other machines are none: which of its
// addresses a name means may change, and who hears us shall not.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

namespace softspine::control {

struct WebAddress {
  std::string host;   // an IPv4 or IPv6 address
  uint16_t port = 0;  // 0: one that is free
  bool is_loopback = false;

  // As a browser writes it: http://127.0.0.1:8080
  std::string url() const;
};

std::expected<WebAddress, std::string> parse_web_address(const std::string& text);

// Whether a Host header names this machine by an address or as localhost. A page of a stranger, whose name was made to
// mean our address (DNS rebinding), comes with that name.
bool is_literal_host(std::string_view host);

// The token of a file: its first line. The error is a sentence's end. A file that others may read holds no secret.
std::expected<std::string, std::string> read_web_token(const std::string& path);

}  // namespace softspine::control

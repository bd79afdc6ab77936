// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/run_http.hpp"

#include <utility>

#include "control/server/web_address.hpp"

namespace softspine::tools {

std::expected<control::WebOptions, std::string> web_options(const RunArguments& arguments) {
  control::WebOptions options{.address = *arguments.http, .policy = {.control = arguments.http_control}};
  if (!arguments.http_token.empty()) {
    auto token = control::read_web_token(arguments.http_token);
    if (!token) return std::unexpected("--http-token: " + token.error());
    options.policy.token = std::move(*token);
  } else if (arguments.http_control) {
    return std::unexpected("--http-control needs --http-token");
  } else if (!options.address.is_loopback) {
    return std::unexpected("--http: other machines reach " + options.address.host + ", so --http-token is needed");
  }
  return options;
}

}  // namespace softspine::tools

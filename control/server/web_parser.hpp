// SPDX-License-Identifier: Apache-2.0
// Boost.Beast's parser with our limits, and the head that it read as plain text: all that looks at a stranger's bytes
// before the gate does.
#pragma once

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "control/server/web_gate.hpp"

namespace softspine::control {

using WebParser = boost::beast::http::request_parser<boost::beast::http::string_body>;
using WebHead = boost::beast::http::header<true>;

void limit(WebParser& parser);
WebRequest web_request_of(const WebParser& parser);
// What a client is answered whose bytes are no request.
WebRefusal refusal_of(const boost::system::error_code& failed);

}  // namespace softspine::control

// SPDX-License-Identifier: Apache-2.0
// A reader of /events: a WebSocket that only we speak on. Its messages are arrays of events (event_hub.hpp). What a
// reader sends but pings ends it, as do more pings than anybody needs.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <chrono>
#include <memory>

#include "control/server/web_session.hpp"

namespace softspine::control {

class WebEvents : public WebConnection, public std::enable_shared_from_this<WebEvents> {
 public:
  using Opening = boost::beast::http::request<boost::beast::http::string_body>;

  WebEvents(WebContext& context, boost::beast::tcp_stream stream);
  ~WebEvents() override;

  // Until the reader or the server goes. `chooses_protocol`: kEventsProtocol was offered.
  boost::asio::awaitable<void> serve(Opening opening, bool chooses_protocol);
  void close() override;
  void end() override;

 private:
  boost::asio::awaitable<void> write_all();
  boost::asio::awaitable<void> watch();
  boost::asio::awaitable<void> wait(std::chrono::steady_clock::time_point until);
  void limit_pings();

  WebContext& context_;
  boost::beast::websocket::stream<boost::beast::tcp_stream> socket_;
  boost::asio::steady_timer timer_;       // of the writer
  boost::asio::steady_timer last_words_;  // for which a server that stops waits
  std::shared_ptr<EventSubscription> events_;
  std::chrono::steady_clock::time_point pings_since_;
  int pings_ = 0;
  bool is_over_ = false;
  bool server_stops_ = false;
};

}  // namespace softspine::control

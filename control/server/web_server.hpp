// SPDX-License-Identifier: Apache-2.0
// Commands, metrics and events over HTTP: accepts connections, each a WebSession (web_session.hpp). On the thread of
// its io_context.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <expected>
#include <memory>
#include <string>

#include "control/server/commands.hpp"
#include "control/server/event_hub.hpp"
#include "control/server/web_options.hpp"

namespace softspine::control {

struct WebContext;

class WebServer {
 public:
  // Both outlive it.
  WebServer(boost::asio::io_context& io, Commands& commands);
  ~WebServer();
  WebServer(const WebServer&) = delete;
  WebServer& operator=(const WebServer&) = delete;

  // Once. Returns where it listens.
  std::expected<WebAddress, std::string> listen(WebOptions options);
  // Events for its readers.
  EventHub& events() { return *hub_; }
  void close_all();

 private:
  boost::asio::awaitable<void> accept_all();

  boost::asio::io_context& io_;
  Commands& commands_;
  std::shared_ptr<EventHub> hub_;
  std::unique_ptr<WebContext> context_;  // from listen() on
  boost::asio::ip::tcp::acceptor acceptor_;
};

}  // namespace softspine::control

// SPDX-License-Identifier: Apache-2.0
// One connection of the web server, from accept to close. Only web_server.cpp includes this. Everything here runs on
// the server's thread.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "control/server/commands.hpp"
#include "control/server/event_hub.hpp"
#include "control/server/web_options.hpp"
#include "control/server/web_parser.hpp"

namespace softspine::control {

// A connection as the server knows it.
class WebConnection {
 public:
  WebConnection() = default;
  virtual ~WebConnection() = default;
  WebConnection(const WebConnection&) = delete;
  WebConnection& operator=(const WebConnection&) = delete;

  // At once, whatever it does.
  virtual void close() = 0;
  // The server stops: what waits for the client may still be sent, for a moment.
  virtual void end() { close(); }
};

// Shared by all connections.
struct WebContext {
  WebContext(Commands& all, WebOptions given, std::shared_ptr<EventHub> events)
      : commands(all), options(std::move(given)), hub(std::move(events)) {}

  Commands& commands;
  WebOptions options;
  std::shared_ptr<EventHub> hub;
  std::set<WebConnection*> open;
};

class WebSession : public WebConnection, public std::enable_shared_from_this<WebSession> {
 public:
  WebSession(WebContext& context, boost::asio::ip::tcp::socket socket);
  ~WebSession() override;

  boost::asio::awaitable<void> serve();
  // Says that there is no room, and ends.
  boost::asio::awaitable<void> turn_away();
  void close() override;

 private:
  using Done = boost::asio::awaitable<bool>;  // false if the connection is to be closed
  template <typename Body>
  using Response = boost::beast::http::response<Body>;

  Done serve_one();
  Done read_head(WebParser& parser);
  Done read_body(WebParser& parser);
  Done go(const WebRoute& route, const WebRequest& request, WebParser& parser);
  Done call(const CommandFacts& facts, Json arguments);
  Done send_next(Unsent next, bool& in_pieces);
  Done begin_pieces();
  Done send_piece(const std::string& text);
  Done end_pieces();
  boost::asio::awaitable<void> hand_over_to_events(const WebRequest& request, WebParser& parser);
  Done refuse(const WebRefusal& refusal);
  Done send(unsigned status, std::string_view type, std::string_view text);
  template <typename Body>
  void add_fields(Response<Body>& response, std::string_view type) const;
  boost::asio::awaitable<void> say_goodbye();

  WebContext& context_;
  boost::beast::tcp_stream stream_;
  boost::beast::flat_buffer buffer_;
  boost::asio::steady_timer reply_timer_;
  // Of the request that is being answered.
  unsigned version_ = 11;
  bool keep_alive_ = true;
  bool is_head_ = false;
};

}  // namespace softspine::control

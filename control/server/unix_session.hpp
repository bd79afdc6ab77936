// SPDX-License-Identifier: Apache-2.0
// One connection of the UNIX socket, from accept to close: reads requests, and sends what their calls give. Only
// unix_server.hpp includes this. Everything here runs on the server's thread.
#pragma once

#include <array>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <set>
#include <string>

#include "control/server/commands.hpp"

namespace softspine::control {

class Session;

// Shared by all connections.
struct SessionContext {
  explicit SessionContext(Commands& all) : commands(all) {}
  Commands& commands;
  std::set<Session*> open;
};

class Session : public std::enable_shared_from_this<Session> {
 public:
  using Socket = boost::asio::local::stream_protocol::socket;

  Session(SessionContext& context, Socket socket);
  ~Session();

  // Serves requests until the client disconnects, is silent for too long, or sends something that is no request.
  boost::asio::awaitable<void> serve();
  // Cancels whatever serve() waits for, so that it returns.
  void close();

 private:
  struct Line {
    std::string text;
    bool last = false;      // nothing comes after it
    bool too_long = false;  // there is no text then
  };
  class Deadline;

  boost::asio::awaitable<Line> next_line();
  bool take_line(Line& line);
  // False if the connection is to be closed.
  boost::asio::awaitable<bool> answer(std::string text);
  boost::asio::awaitable<bool> send(Unsent text, std::chrono::milliseconds within);
  boost::asio::awaitable<void> refuse(std::string why);

  SessionContext& context_;
  Socket socket_;
  boost::asio::steady_timer deadline_;
  uint64_t deadlines_ = 0;  // set or lifted so far: a timer that expires late is recognised by it
  boost::asio::steady_timer reply_timer_;
  std::string input_;
  size_t searched_ = 0;  // bytes of input_ that are known to hold no newline
  std::array<char, 4096> chunk_;
};

}  // namespace softspine::control

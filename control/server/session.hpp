// SPDX-License-Identifier: Apache-2.0
// One connection of the control server, from accept to close. Only server.cpp includes this.
// Everything here runs on the server's thread; only what Reply hands over comes from others, by post.
#pragma once

#include <array>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "control/server/server.hpp"

namespace softspine::control {

// Where replies are posted to, until the server has ended.
struct Mailbox {
  std::mutex lock;
  boost::asio::io_context* io = nullptr;
};

class Session;

// What all connections share.
struct SessionContext {
  ServerOptions options;
  ServerCounters counters;
  std::map<std::string, Server::LateHandler> handlers;
  std::shared_ptr<Mailbox> mailbox = std::make_shared<Mailbox>();
  std::set<Session*> open;
  size_t unsent_bytes = 0;
};

class Session : public std::enable_shared_from_this<Session> {
 public:
  using Socket = boost::asio::local::stream_protocol::socket;

  Session(SessionContext& context, Socket socket);
  ~Session();

  // Until the client goes, is silent for too long, or sends what is no request.
  boost::asio::awaitable<void> serve();
  // Whatever it waits for ends, and serve() with it.
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
  boost::asio::awaitable<Result> outcome_of(Request request);
  boost::asio::awaitable<bool> send(std::string response);
  boost::asio::awaitable<void> refuse(std::string why);
  std::string response_to(const Json& id, const Result& result);

  Reply reply_to(uint64_t call);
  void accept_reply(uint64_t call, Reply::Make make);

  SessionContext& context_;
  Socket socket_;
  boost::asio::steady_timer deadline_;
  uint64_t deadlines_ = 0;  // set or lifted so far: tells an expiry of today from one of yesterday
  boost::asio::steady_timer reply_timer_;
  uint64_t call_ = 0;
  std::optional<Result> reply_;
  std::string input_;
  size_t searched_ = 0;  // of it, without a newline
  std::array<char, 4096> chunk_;
};

}  // namespace softspine::control

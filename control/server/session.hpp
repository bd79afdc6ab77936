// SPDX-License-Identifier: Apache-2.0
// One connection of the control server, from accept to close. Only server.cpp includes this.
// Everything here runs on the server's thread; only what Reply hands over comes from others, by post.
#pragma once

#include <array>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "control/server/page_stream.hpp"
#include "control/server/server.hpp"

namespace softspine::control {

// Where replies are posted to, until the server has ended.
struct Mailbox {
  std::mutex lock;
  boost::asio::io_context* io = nullptr;
};

class Session;

// Limits how many requests go on at once; the others wait, in the order they came.
struct Turns {
  uint32_t most = 0;
  uint32_t taken = 0;
  std::deque<Session*> waiting;
};

struct HandlerEntry {
  Server::LateHandler handler;
  Turns* turns = nullptr;
};

// A thread that makes pages.
struct PageMaker {
  std::shared_ptr<PageStream> stream;
  std::jthread thread;
};

// What all connections share.
struct SessionContext {
  ServerOptions options;
  ServerCounters counters;
  std::map<std::string, HandlerEntry> handlers;
  std::shared_ptr<Mailbox> mailbox = std::make_shared<Mailbox>();
  std::set<Session*> open;
  size_t unsent_bytes = 0;
  Turns calls;                  // requests that are with their handlers
  Turns streams;                // texts that are sent in pages
  std::list<PageMaker> makers;  // the threads of `streams`; some may have ended
};

// A response, counted with all others from the moment it is made until its last byte is sent or given up.
class Unsent {
 public:
  Unsent(SessionContext& context, std::string text) : context_(&context), text_(std::move(text)) {
    context_->unsent_bytes += text_.size();
  }
  Unsent(Unsent&& other) noexcept : context_(other.context_), text_(std::exchange(other.text_, {})) {}
  Unsent& operator=(Unsent&&) = delete;
  ~Unsent() { context_->unsent_bytes -= text_.size(); }
  const std::string& text() const { return text_; }

 private:
  SessionContext* context_;
  std::string text_;
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
  boost::asio::awaitable<Unsent> response_to(Request request);
  boost::asio::awaitable<bool> send(Unsent response, std::chrono::milliseconds within);
  boost::asio::awaitable<void> refuse(std::string why);
  Unsent response_of(const Result& result);
  boost::asio::awaitable<Unsent> called(const HandlerEntry& entry, Request request);
  // Sends the pages of an answer; returns the response that follows the last page.
  boost::asio::awaitable<Unsent> send_pages();

  // Waits for a turn. True: the turn is held until end_turn(). False: none became free in time.
  boost::asio::awaitable<bool> take_turn(Turns& turns);
  void end_turn(Turns& turns);
  std::string too_late();
  Reply reply_to(uint64_t call);
  void accept_reply(uint64_t call, Reply::Answer answer);
  void start_pages(Reply::MakePages make_pages);

  SessionContext& context_;
  Socket socket_;
  boost::asio::steady_timer deadline_;
  uint64_t deadlines_ = 0;  // set or lifted so far: a timer that expires late is recognised by it
  boost::asio::steady_timer reply_timer_;
  bool has_turn_ = false;
  uint64_t call_ = 0;
  Json id_;  // of the request that is being answered
  std::optional<Unsent> response_;
  std::shared_ptr<PageStream> pages_;  // set instead of response_ where the answer comes in pages
  std::string input_;
  size_t searched_ = 0;  // bytes of input_ that are known to hold no newline
  std::array<char, 4096> chunk_;
};

}  // namespace softspine::control

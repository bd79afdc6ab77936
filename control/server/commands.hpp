// SPDX-License-Identifier: Apache-2.0
// Commands: handlers by name, their turns and their limits, without any transport. A transport (unix_server.hpp) reads
// requests, begins a CommandCall for each, sends the texts that the call gives it, and watches its time:
//
//   auto call = commands.begin(std::move(request), wake);
//   until it is over:  send each text that take() returns; without one, wait for `wake`, or for until(): then expire()
//   a client that leaves: its call is destroyed, and its turn is another's
//
// Handlers work on at most max_calls requests at a time, which limits how many snapshots of a large fabric exist; other
// requests wait in the order they came. A result is made into text as soon as its turn comes, and at most
// max_unsent_bytes of text wait for slow readers.
// A text that may exceed a response (handle_paged) is made by a thread of its own and sent page by page
// (page_stream.hpp): at most max_streams at once, each with two pages in memory and stream_timeout to be read; further
// ones wait.
//
// All of it is called on one thread, the transports', but for Reply. Requests of others get there by Post.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "control/server/command_facts.hpp"
#include "control/server/page_stream.hpp"
#include "control/server/protocol.hpp"

namespace softspine::control {

struct ServerOptions {
  uint32_t max_connections = 2048;  // at once; a further one gets an error and is closed
  std::chrono::milliseconds idle_timeout{30'000};
  std::chrono::milliseconds reply_timeout{5'000};
  std::chrono::milliseconds write_timeout{10'000};
  uint32_t max_calls = 16;   // requests with their handlers at once
  uint32_t max_streams = 2;  // texts in pages at once, each over a snapshot of its own
  std::chrono::milliseconds stream_timeout{60'000};
  size_t max_response_bytes = 32 << 20;  // a longer result becomes an error
  size_t max_unsent_bytes = 128 << 20;   // of all connections together; what would exceed it becomes an error
};

struct ServerCounters {
  std::atomic<uint64_t> connections{0};  // open now
  std::atomic<uint64_t> requests{0};
  std::atomic<uint64_t> bad_requests{0};
  std::atomic<uint64_t> refused_connections{0};
  std::atomic<uint64_t> timeouts{0};
  std::atomic<uint64_t> oversize_responses{0};
  std::atomic<uint64_t> web_connections{0};  // open now
  std::atomic<uint64_t> web_refusals{0};     // requests that were not allowed, or no requests
  std::atomic<uint64_t> event_readers{0};    // now
  std::atomic<uint64_t> events_lost{0};      // by readers that were too slow, all together
};

// The way back to one request. Copyable, from any thread, also after the client or the server has gone:
// then, and after the first call, it does nothing.
class Reply {
 public:
  using Make = std::move_only_function<Result()>;
  // Returns false when no more pages are wanted.
  using PutPage = std::function<bool(std::string page)>;
  using MakePages = std::move_only_function<void(const PutPage& put)>;
  struct Answer {
    Make make;
    MakePages make_pages;  // used instead of `make`, if it is set
  };
  explicit Reply(std::function<void(Answer)> deliver) : deliver_(std::move(deliver)) {}

  void operator()(Result result) const {
    later([result = std::move(result)]() mutable { return std::move(result); });
  }
  // `make` is called on the server's thread.
  void later(Make make) const { deliver_({.make = std::move(make), .make_pages = {}}); }
  // For commands of handle_paged(): called on a thread of its own, which waits in `put` for the client to read.
  void pages(MakePages make_pages) const { deliver_({.make = {}, .make_pages = std::move(make_pages)}); }

 private:
  std::function<void(Answer)> deliver_;
};

// What a text for a client is. kBusy: an error that another try may not meet.
enum class AnswerKind : uint8_t { kResult, kPage, kError, kBusy, kTooLate };

// How a transport's clients read answers; the socket's form is that of protocol.hpp.
struct AnswerForm {
  std::string (*response)(const Json& id, const Result& result) = format_response;
  std::string (*page)(const Json& id, const std::string& page) = format_page;
};

// A text for a client, counted with all others from the moment it is made until its last byte is sent or given up.
class Unsent {
 public:
  Unsent(size_t& all_bytes, std::string text, AnswerKind kind)
      : all_bytes_(&all_bytes), text_(std::move(text)), kind_(kind) {
    *all_bytes_ += text_.size();
  }
  Unsent(Unsent&& other) noexcept
      : all_bytes_(other.all_bytes_), text_(std::exchange(other.text_, {})), kind_(other.kind_) {}
  Unsent& operator=(Unsent&&) = delete;
  ~Unsent() { *all_bytes_ -= text_.size(); }
  const std::string& text() const { return text_; }
  AnswerKind kind() const { return kind_; }

 private:
  size_t* all_bytes_;
  std::string text_;
  AnswerKind kind_;
};

class CommandCall;

// Limits how many requests go on at once; the others wait, in the order they came.
struct CommandTurns {
  uint32_t most = 0;
  uint32_t taken = 0;
  std::deque<CommandCall*> waiting;
};

class Commands {
 public:
  using Handler = std::function<Result(const Json& arguments)>;
  using LateHandler = std::function<void(const Json& arguments, Reply reply)>;
  using Task = std::move_only_function<void()>;
  // Runs a task on the transports' thread, soon, and not within the call. May be called from any thread.
  using Post = std::function<void(Task)>;

  explicit Commands(const ServerOptions& options);

  // Called before open().
  void handle(CommandFacts facts, Handler handler);
  void handle_later(CommandFacts facts, LateHandler handler);
  // The handler replies with pages, or, on an error, as other handlers do.
  void handle_paged(CommandFacts facts, LateHandler handler);
  // Null: there is no such command.
  const CommandFacts* facts_of(const std::string& command) const;
  // In the order of the names.
  std::vector<const CommandFacts*> all_facts() const;
  // Calls a command's handler, on the caller's thread and without any limit. False: there is no such command.
  bool call(const Request& request, const Reply& reply) const;

  void open(Post post);
  // Nothing is posted afterwards.
  void close();
  // Waits for the threads that make pages. After close(), when no call is left.
  void join() { makers_.clear(); }

  // The same, also after close(): then it does nothing.
  Post poster() const {
    return [mailbox = mailbox_](Task task) { mailbox->put(std::move(task)); };
  }

  // `wake`: called on the transports' thread when take() may have a text, or until() has changed.
  std::shared_ptr<CommandCall> begin(Request request, std::function<void()> wake, AnswerForm form = {});
  // The response to what is no request.
  Unsent refusal(const std::string& why);

  const ServerOptions& options() const { return options_; }
  ServerCounters& counters() { return counters_; }
  const ServerCounters& counters() const { return counters_; }

 private:
  friend class CommandCall;
  struct Entry {
    CommandFacts facts;
    LateHandler handler;
    CommandTurns* turns = nullptr;
  };
  // Where replies are posted to, until the server has ended.
  struct Mailbox {
    std::mutex lock;
    Post post;
    void put(Task task) {
      const std::lock_guard guard{lock};
      if (post) post(std::move(task));
    }
  };
  // A thread that makes pages.
  struct PageMaker {
    std::shared_ptr<PageStream> stream;
    std::jthread thread;
  };

  // The result's text, or why it is not sent. `failure`: what it is if it is an error.
  Unsent response_of(const Json& id, const Result& result, const AnswerForm& form, AnswerKind failure);
  std::string too_late();

  ServerOptions options_;
  ServerCounters counters_;
  std::map<std::string, Entry> handlers_;
  std::shared_ptr<Mailbox> mailbox_ = std::make_shared<Mailbox>();
  size_t unsent_bytes_ = 0;
  CommandTurns calls_;           // requests that are with their handlers
  CommandTurns streams_;         // texts that are sent in pages
  std::list<PageMaker> makers_;  // the threads of `streams_`; some may have ended
};

// One request, until its last text has been taken.
class CommandCall : public std::enable_shared_from_this<CommandCall> {
 public:
  using Time = std::chrono::steady_clock::time_point;

  CommandCall(Commands& commands, Request request, std::function<void()> wake, AnswerForm form);
  ~CommandCall();
  CommandCall(const CommandCall&) = delete;
  CommandCall& operator=(const CommandCall&) = delete;

  // When expire() is due.
  Time until() const { return until_; }
  // The awaited answer comes too late: an error takes its place.
  void expire();
  // The next text to send, if there is one.
  std::optional<Unsent> take();
  // The last text has been taken.
  bool is_over() const { return is_over_; }

 private:
  friend class Commands;
  void begin();
  void end_turn();
  void run();
  Reply reply();
  void accept(Reply::Answer answer);
  void start_pages(Reply::MakePages make_pages);
  void end_pages();
  void answer(const Result& result, AnswerKind failure = AnswerKind::kError);

  Commands& commands_;
  Request request_;
  std::function<void()> wake_;
  AnswerForm form_;
  const Commands::Entry* entry_ = nullptr;
  CommandTurns* turns_ = nullptr;  // that it holds one of
  Time until_ = Time::max();
  bool is_asked_ = false;              // the handler has it, and has not replied
  std::shared_ptr<PageStream> pages_;  // until the last one has been taken
  std::optional<Unsent> response_;
  bool is_over_ = false;
};

}  // namespace softspine::control

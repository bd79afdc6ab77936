// SPDX-License-Identifier: Apache-2.0
// The control server: commands come in over a UNIX socket (protocol.hpp) and go to handlers.
//
//   Server server;
//   server.handle("show version", [](const Json&) -> Result { return Json{"0.1.0"}; });
//   server.handle_later("show drops", [&](const Json&, Reply reply) {
//     engine.post([&, reply](Instant now) {                  worker 0, between two windows:
//       reply.later([copy = snapshot_of(fabric, now)] {      copy plain structs there,
//         return drops_json(copy);                           make JSON of them on the server's thread
//       });
//     });
//   });
//   auto listening = server.listen(path);
//
// One thread of its own serves all connections; handlers run on it and must not wait. No client can
// hold up another or the fabric; each can cost, at most:
//   a line of kMaxRequestBytes, one response, and a connection until one of these timeouts ends it:
//   idle_timeout    from one answer to the next whole request (half-open, one byte a minute)
//   reply_timeout   from a request to the handler's reply (then the client gets an error)
//   write_timeout   from a response to its last byte taken (a reader that does not read)
// Handlers work on at most max_calls requests at a time, which limits how many snapshots of a large fabric exist; other
// requests wait in the order they came. A result is made into text as soon as its turn comes, and at most
// max_unsent_bytes of text wait for slow readers.
// A text that may exceed a response (handle_paged) is made by a thread of its own and sent page by page
// (page_stream.hpp): at most max_streams at once, each with two pages in memory and stream_timeout to be read; further
// ones wait. A line that is no request is answered with an error, and its connection closed.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

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

class Server {
 public:
  using Handler = std::function<Result(const Json& arguments)>;
  using LateHandler = std::function<void(const Json& arguments, Reply reply)>;

  explicit Server(ServerOptions options = {});
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Before listen().
  void handle(const std::string& command, Handler handler);
  void handle_later(const std::string& command, LateHandler handler);
  // The handler replies with pages, or, on an error, as other handlers do.
  void handle_paged(const std::string& command, LateHandler handler);

  // Calls a command's handler, on the caller's thread and without any limit. False: there is no such command.
  bool call(const Request& request, const Reply& reply) const;

  // Once. Starts the thread. Raises this process's soft limit of open files as far as max_connections asks for.
  std::expected<void, std::string> listen(const std::filesystem::path& path);
  // Closes everything, removes the socket, ends the thread. No handler runs afterwards. Idempotent; not from a handler.
  void stop();

  const ServerCounters& counters() const;

 private:
  struct Core;
  std::unique_ptr<Core> core_;
};

}  // namespace softspine::control

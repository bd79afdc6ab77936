// SPDX-License-Identifier: Apache-2.0
// The control server: commands (commands.hpp) come in over a UNIX socket (unix_server.hpp, protocol.hpp), and over HTTP
// if asked for (web_server.hpp), and go to handlers.
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
// A line that is no request is answered with an error, and its connection closed.
#pragma once

#include <expected>
#include <filesystem>
#include <memory>
#include <string>

#include "control/record/sink.hpp"
#include "control/server/commands.hpp"
#include "control/server/web_options.hpp"

namespace softspine::control {

class Server {
 public:
  using Handler = Commands::Handler;
  using LateHandler = Commands::LateHandler;

  explicit Server(const ServerOptions& options = {});
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // As those of Commands; before listen().
  void handle(CommandFacts facts, Handler handler);
  void handle_later(CommandFacts facts, LateHandler handler);
  void handle_paged(CommandFacts facts, LateHandler handler);
  bool call(const Request& request, const Reply& reply) const;

  // Each once. The first starts the thread. Raises this process's soft limit of open files as far as max_connections
  // asks for.
  std::expected<void, std::string> listen(const std::filesystem::path& path);
  // Returns where that is.
  std::expected<WebAddress, std::string> listen_web(WebOptions options);
  // Takes the events that readers of /events get.
  std::unique_ptr<EventSink> events_sink();
  // Closes everything, removes the socket, ends the thread. No handler runs afterwards. Idempotent; not from a handler.
  void stop();

  const ServerCounters& counters() const;

 private:
  struct Core;
  void start();
  std::unique_ptr<Core> core_;
};

}  // namespace softspine::control

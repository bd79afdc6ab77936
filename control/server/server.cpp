// SPDX-License-Identifier: Apache-2.0
#include "control/server/server.hpp"

#include <sys/resource.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <thread>

#include "control/server/listening_socket.hpp"
#include "control/server/session.hpp"
#include "dataplane/units/check.hpp"

namespace softspine::control {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

constexpr std::chrono::milliseconds kPauseAfterFailedAccept{50};  // out of descriptors: trying again at once would spin
constexpr rlim_t kOtherOpenFiles = 512;                           // what the rest of the process may need

void raise_open_files_limit(rlim_t connections) {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t wanted = std::min(limit.rlim_max, connections + kOtherOpenFiles);
  if (limit.rlim_cur >= wanted) return;
  limit.rlim_cur = wanted;
  static_cast<void>(setrlimit(RLIMIT_NOFILE, &limit));  // refused: accept() will fail at the limit, and wait
}

}  // namespace

struct Server::Core {
  explicit Core(ServerOptions options) {
    context.options = options;
    context.calls.most = options.max_calls;
    context.streams.most = options.max_streams;
  }

  asio::awaitable<void> accept_all();
  void welcome(Session::Socket socket);
  void close_all();

  SessionContext context;
  asio::io_context io{1};
  asio::local::stream_protocol::acceptor acceptor{io};
  std::filesystem::path path;
  std::thread thread;
};

asio::awaitable<void> Server::Core::accept_all() {
  asio::steady_timer pause{io};
  for (;;) {
    Session::Socket socket{io};
    error_code failed;
    co_await acceptor.async_accept(socket, asio::redirect_error(asio::use_awaitable, failed));
    if (!acceptor.is_open()) co_return;
    if (!failed) {
      welcome(std::move(socket));
    } else {
      pause.expires_after(kPauseAfterFailedAccept);
      co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, failed));
    }
  }
}

void Server::Core::welcome(Session::Socket socket) {
  if (context.counters.connections >= context.options.max_connections) {
    ++context.counters.refused_connections;
    error_code ignored;
    ignored = socket.non_blocking(true, ignored);
    const std::string why =
        format_response(Json{}, std::unexpected("the server has all the connections that it takes"));
    socket.write_some(asio::buffer(why), ignored);
    return;
  }
  auto session = std::make_shared<Session>(context, std::move(socket));
  asio::co_spawn(io, [session]() -> asio::awaitable<void> { co_await session->serve(); }, asio::detached);
}

void Server::Core::close_all() {
  error_code ignored;
  ignored = acceptor.close(ignored);
  for (Session* session : context.open) session->close();
}

Server::Server(ServerOptions options) : core_(std::make_unique<Core>(options)) {}

Server::~Server() {
  stop();
}

void Server::handle(const std::string& command, Handler handler) {
  // At its reply's turn, not now: else the results of all who have asked would exist at once.
  handle_later(command,
               [shared = std::make_shared<Handler>(std::move(handler))](const Json& arguments, const Reply& reply) {
                 reply.later([shared, arguments] { return (*shared)(arguments); });
               });
}

void Server::handle_later(const std::string& command, LateHandler handler) {
  SOFTSPINE_CHECK(!core_->thread.joinable(), 0, 0);
  core_->context.handlers[command] = {.handler = std::move(handler), .turns = &core_->context.calls};
}

void Server::handle_paged(const std::string& command, LateHandler handler) {
  SOFTSPINE_CHECK(!core_->thread.joinable(), 0, 0);
  core_->context.handlers[command] = {.handler = std::move(handler), .turns = &core_->context.streams};
}

bool Server::call(const Request& request, const Reply& reply) const {
  const auto found = core_->context.handlers.find(request.command);
  if (found == core_->context.handlers.end()) return false;
  found->second.handler(request.arguments, reply);
  return true;
}

std::expected<void, std::string> Server::listen(const std::filesystem::path& path) {
  SOFTSPINE_CHECK(!core_->thread.joinable(), 0, 0);
  auto socket = listen_at(path);
  if (!socket) return std::unexpected(socket.error());
  raise_open_files_limit(core_->context.options.max_connections);
  core_->path = path;
  core_->acceptor.assign(asio::local::stream_protocol{}, socket->release());
  core_->context.mailbox->io = &core_->io;
  asio::co_spawn(core_->io, core_->accept_all(), asio::detached);
  core_->thread = std::thread{[this] { core_->io.run(); }};
  return {};
}

void Server::stop() {
  if (!core_->thread.joinable()) return;
  std::error_code ignored;
  std::filesystem::remove(core_->path, ignored);
  {
    const std::lock_guard guard{core_->context.mailbox->lock};
    core_->context.mailbox->io = nullptr;
  }
  asio::post(core_->io, [core = core_.get()] { core->close_all(); });
  core_->thread.join();           // run() returns when the last connection has come to its end
  core_->context.makers.clear();  // all cancelled by then: each thread is waited for
}

const ServerCounters& Server::counters() const {
  return core_->context.counters;
}

}  // namespace softspine::control

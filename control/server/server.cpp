// SPDX-License-Identifier: Apache-2.0
#include "control/server/server.hpp"

#include <boost/asio/post.hpp>
#include <thread>
#include <utility>

#include "control/server/unix_server.hpp"
#include "control/server/web_server.hpp"

namespace softspine::control {

namespace asio = boost::asio;

struct Server::Core {
  explicit Core(const ServerOptions& options) : commands(options) {}

  Commands commands;
  asio::io_context io{1};
  UnixServer socket{io, commands};
  WebServer web{io, commands};
  std::thread thread;
};

Server::Server(const ServerOptions& options) : core_(std::make_unique<Core>(options)) {}

Server::~Server() {
  stop();
}

void Server::handle(CommandFacts facts, Handler handler) {
  core_->commands.handle(std::move(facts), std::move(handler));
}

void Server::handle_later(CommandFacts facts, LateHandler handler) {
  core_->commands.handle_later(std::move(facts), std::move(handler));
}

void Server::handle_paged(CommandFacts facts, LateHandler handler) {
  core_->commands.handle_paged(std::move(facts), std::move(handler));
}

bool Server::call(const Request& request, const Reply& reply) const {
  return core_->commands.call(request, reply);
}

std::expected<void, std::string> Server::listen(const std::filesystem::path& path) {
  if (auto listening = core_->socket.listen(path); !listening) return listening;
  start();
  return {};
}

std::expected<WebAddress, std::string> Server::listen_web(WebOptions options) {
  auto where = core_->web.listen(std::move(options));
  if (where) start();
  return where;
}

std::unique_ptr<EventSink> Server::events_sink() {
  return core_->web.events().sink();
}

void Server::start() {
  if (core_->thread.joinable()) return;
  core_->commands.open([io = &core_->io](Commands::Task task) { asio::post(*io, std::move(task)); });
  core_->thread = std::thread{[this] { core_->io.run(); }};
}

void Server::stop() {
  if (!core_->thread.joinable()) return;
  core_->socket.remove_socket();
  core_->commands.close();
  asio::post(core_->io, [core = core_.get()] {
    core->socket.close_all();
    core->web.close_all();
  });
  core_->thread.join();    // run() returns when the last connection has come to its end
  core_->commands.join();  // all cancelled by then
}

const ServerCounters& Server::counters() const {
  return core_->commands.counters();
}

}  // namespace softspine::control

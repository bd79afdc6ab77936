// SPDX-License-Identifier: Apache-2.0
#include "control/server/web_server.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

#include "control/server/open_files.hpp"
#include "control/server/web_session.hpp"

namespace softspine::control {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

constexpr std::chrono::milliseconds kPauseAfterNoDescriptor{50};

}  // namespace

WebServer::WebServer(asio::io_context& io, Commands& commands)
    : io_(io), commands_(commands), hub_(std::make_shared<EventHub>()), acceptor_(io) {}

WebServer::~WebServer() = default;

std::expected<WebAddress, std::string> WebServer::listen(WebOptions options) {
  WebAddress where = options.address;
  error_code failed;
  const tcp::endpoint at{asio::ip::make_address(where.host, failed), where.port};
  if (!failed) failed = acceptor_.open(at.protocol(), failed);
  if (!failed) failed = acceptor_.set_option(tcp::acceptor::reuse_address(true), failed);
  if (!failed) failed = acceptor_.bind(at, failed);
  if (!failed) failed = acceptor_.listen(tcp::acceptor::max_listen_connections, failed);
  if (failed) return std::unexpected("cannot listen at " + where.url() + ": " + failed.message());
  where.port = acceptor_.local_endpoint(failed).port();
  options.address = where;
  raise_open_files_limit(options.max_connections);
  context_ = std::make_unique<WebContext>(commands_, std::move(options), hub_);
  asio::co_spawn(io_, accept_all(), asio::detached);
  return where;
}

asio::awaitable<void> WebServer::accept_all() {
  asio::steady_timer pause{io_};
  for (;;) {
    tcp::socket socket{io_};
    error_code failed;
    co_await acceptor_.async_accept(socket, asio::redirect_error(asio::use_awaitable, failed));
    if (!acceptor_.is_open()) co_return;
    if (failed) {
      pause.expires_after(kPauseAfterNoDescriptor);
      co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, failed));
      continue;
    }
    failed = socket.set_option(tcp::no_delay(true), failed);
    const bool has_room = context_->open.size() < context_->options.max_connections;
    auto session = std::make_shared<WebSession>(*context_, std::move(socket));
    if (has_room) {
      asio::co_spawn(io_, [session]() -> asio::awaitable<void> { co_await session->serve(); }, asio::detached);
    } else {
      asio::co_spawn(io_, [session]() -> asio::awaitable<void> { co_await session->turn_away(); }, asio::detached);
    }
  }
}

void WebServer::close_all() {
  error_code ignored;
  ignored = acceptor_.close(ignored);
  if (!context_) return;
  for (WebConnection* each : context_->open) each->end();
}

}  // namespace softspine::control

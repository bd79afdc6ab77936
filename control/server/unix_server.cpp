// SPDX-License-Identifier: Apache-2.0
#include "control/server/unix_server.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <memory>
#include <utility>

#include "control/server/listening_socket.hpp"
#include "control/server/open_files.hpp"

namespace softspine::control {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

constexpr std::chrono::milliseconds kPauseAfterFailedAccept{50};  // out of descriptors: trying again at once would spin
}  // namespace

std::expected<void, std::string> UnixServer::listen(const std::filesystem::path& path) {
  auto socket = listen_at(path);
  if (!socket) return std::unexpected(socket.error());
  raise_open_files_limit(context_.commands.options().max_connections);
  path_ = path;
  acceptor_.assign(asio::local::stream_protocol{}, socket->release());
  asio::co_spawn(io_, accept_all(), asio::detached);
  return {};
}

asio::awaitable<void> UnixServer::accept_all() {
  asio::steady_timer pause{io_};
  for (;;) {
    Session::Socket socket{io_};
    error_code failed;
    co_await acceptor_.async_accept(socket, asio::redirect_error(asio::use_awaitable, failed));
    if (!acceptor_.is_open()) co_return;
    if (!failed) {
      welcome(std::move(socket));
    } else {
      pause.expires_after(kPauseAfterFailedAccept);
      co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, failed));
    }
  }
}

void UnixServer::welcome(Session::Socket socket) {
  ServerCounters& counters = context_.commands.counters();
  if (counters.connections >= context_.commands.options().max_connections) {
    ++counters.refused_connections;
    error_code ignored;
    ignored = socket.non_blocking(true, ignored);
    const std::string why =
        format_response(Json{}, std::unexpected("the server has all the connections that it takes"));
    socket.write_some(asio::buffer(why), ignored);
    return;
  }
  auto session = std::make_shared<Session>(context_, std::move(socket));
  asio::co_spawn(io_, [session]() -> asio::awaitable<void> { co_await session->serve(); }, asio::detached);
}

void UnixServer::remove_socket() const {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

void UnixServer::close_all() {
  error_code ignored;
  ignored = acceptor_.close(ignored);
  for (Session* session : context_.open) session->close();
}

}  // namespace softspine::control

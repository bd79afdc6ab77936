// SPDX-License-Identifier: Apache-2.0
// Commands over a UNIX socket: accepts connections, each a Session (unix_session.hpp). On the thread of its io_context.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <expected>
#include <filesystem>
#include <string>

#include "control/server/unix_session.hpp"

namespace softspine::control {

class UnixServer {
 public:
  // Both outlive it.
  UnixServer(boost::asio::io_context& io, Commands& commands) : io_(io), context_(commands) {}

  // Once, before the thread runs. Raises this process's soft limit of open files as far as max_connections asks for.
  std::expected<void, std::string> listen(const std::filesystem::path& path);
  // From any thread: nobody finds it any more.
  void remove_socket() const;
  void close_all();

 private:
  boost::asio::awaitable<void> accept_all();
  void welcome(Session::Socket socket);

  boost::asio::io_context& io_;
  SessionContext context_;
  boost::asio::local::stream_protocol::acceptor acceptor_{io_};
  std::filesystem::path path_;
};

}  // namespace softspine::control

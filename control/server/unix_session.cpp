// SPDX-License-Identifier: Apache-2.0
#include "control/server/unix_session.hpp"

#include <algorithm>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

namespace softspine::control {

namespace asio = boost::asio;
using boost::system::error_code;

// Closes the session's socket unless it is gone before `after`.
class Session::Deadline {
 public:
  Deadline(Session& session, std::chrono::milliseconds after) : session_(session) {
    session_.deadline_.expires_after(after);
    session_.deadline_.async_wait([weak = session_.weak_from_this(), mine = ++session_.deadlines_](error_code failed) {
      const auto late = weak.lock();
      if (failed || !late || late->deadlines_ != mine) return;
      ++late->context_.commands.counters().timeouts;
      late->close();
    });
  }
  ~Deadline() {
    ++session_.deadlines_;
    session_.deadline_.cancel();
  }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

 private:
  Session& session_;
};

Session::Session(SessionContext& context, Socket socket)
    : context_(context),
      socket_(std::move(socket)),
      deadline_(socket_.get_executor()),
      reply_timer_(socket_.get_executor()) {
  ++context_.commands.counters().connections;
  context_.open.insert(this);
}

Session::~Session() {
  context_.open.erase(this);
  --context_.commands.counters().connections;
}

void Session::close() {
  error_code ignored;
  ignored = socket_.close(ignored);
  reply_timer_.cancel();
}

asio::awaitable<void> Session::serve() {
  for (bool more = true; more;) {
    Line line = co_await next_line();
    more = !line.last;
    if (line.too_long) {
      co_await refuse("a request may have " + std::to_string(kMaxRequestBytes) + " bytes");
      break;
    }
    if (line.text.empty()) continue;
    const bool go_on = co_await answer(std::move(line.text));
    more = more && go_on;
  }
}

// A whole line from what has been read. Each byte is looked at once, however small the pieces it came in.
bool Session::take_line(Line& line) {
  const size_t end = input_.find('\n', searched_);
  searched_ = input_.size();
  line.too_long = std::min(end, input_.size()) > kMaxRequestBytes;
  if (line.too_long) return true;
  if (end == std::string::npos) return false;
  line.text = input_.substr(0, end);
  input_.erase(0, end + 1);
  searched_ = 0;
  return true;
}

asio::awaitable<Session::Line> Session::next_line() {
  const Deadline deadline{*this, context_.commands.options().idle_timeout};
  Line line;
  while (!take_line(line)) {
    error_code failed;
    const size_t n =
        co_await socket_.async_read_some(asio::buffer(chunk_), asio::redirect_error(asio::use_awaitable, failed));
    input_.append(chunk_.data(), n);
    if (failed) {
      if (failed == asio::error::eof) line.text = std::move(input_);  // a client may close its side without a newline
      line.last = true;
      break;
    }
  }
  co_return line;
}

asio::awaitable<bool> Session::answer(std::string text) {
  auto request = parse_request(text);
  if (!request) {
    ++context_.commands.counters().requests;
    co_await refuse(request.error());
    co_return false;
  }
  text = {};
  // Read just before close(): nobody would get the answer, and no handler runs any more.
  if (!socket_.is_open()) co_return false;
  const auto call = context_.commands.begin(std::move(*request), [this] { reply_timer_.cancel(); });
  const std::chrono::milliseconds write_timeout = context_.commands.options().write_timeout;
  bool sent = true;
  while (sent && socket_.is_open() && !call->is_over()) {
    const auto left = call->until() - std::chrono::steady_clock::now();
    if (left.count() <= 0) call->expire();
    if (auto next = call->take()) {
      const auto within = std::min(std::chrono::ceil<std::chrono::milliseconds>(left), write_timeout);
      sent = co_await send(std::move(*next), call->is_over() ? write_timeout : within);
    } else {
      error_code ignored;
      reply_timer_.expires_at(call->until());
      co_await reply_timer_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    }
  }
  co_return sent&& socket_.is_open();
}

asio::awaitable<void> Session::refuse(std::string why) {
  co_await send(context_.commands.refusal(why), context_.commands.options().write_timeout);
}

asio::awaitable<bool> Session::send(Unsent text, std::chrono::milliseconds within) {
  const Deadline deadline{*this, within};
  error_code failed;
  co_await asio::async_write(socket_, asio::buffer(text.text()), asio::redirect_error(asio::use_awaitable, failed));
  co_return !failed;
}

}  // namespace softspine::control

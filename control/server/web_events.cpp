// SPDX-License-Identifier: Apache-2.0
#include "control/server/web_events.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>

namespace softspine::control {

namespace asio = boost::asio;
namespace websocket = boost::beast::websocket;
using boost::system::error_code;
using std::chrono::steady_clock;

namespace {

constexpr size_t kMostOfAMessage = 4096;  // from a reader, who has nothing to say
constexpr int kMostPings = 20;            // within kPingSpan
constexpr std::chrono::seconds kPingSpan{1};
constexpr std::chrono::milliseconds kLastWords{500};

}  // namespace

WebEvents::WebEvents(WebContext& context, boost::beast::tcp_stream stream)
    : context_(context),
      socket_(std::move(stream)),
      timer_(socket_.get_executor()),
      last_words_(socket_.get_executor()) {
  ++context_.commands.counters().event_readers;
  context_.open.insert(this);
}

WebEvents::~WebEvents() {
  context_.open.erase(this);
  if (events_) context_.commands.counters().events_lost += events_->lost();
  --context_.commands.counters().event_readers;
}

void WebEvents::close() {
  is_over_ = true;
  error_code ignored;
  ignored = socket_.next_layer().socket().close(ignored);
  timer_.cancel();
  last_words_.cancel();
}

void WebEvents::end() {
  server_stops_ = true;
  timer_.cancel();
  last_words_.expires_after(kLastWords);
  last_words_.async_wait([weak = weak_from_this()](error_code failed) {
    const auto still = weak.lock();
    if (!failed && still) still->close();
  });
}

asio::awaitable<void> WebEvents::serve(Opening opening, bool chooses_protocol) {
  socket_.next_layer().expires_never();  // the WebSocket has timeouts of its own
  socket_.set_option(websocket::stream_base::timeout{.handshake_timeout = context_.options.request_timeout,
                                                     .idle_timeout = context_.options.event_reader_timeout,
                                                     .keep_alive_pings = true});
  socket_.set_option(websocket::stream_base::decorator([chooses_protocol](websocket::response_type& response) {
    if (chooses_protocol) response.set(boost::beast::http::field::sec_websocket_protocol, kEventsProtocol);
  }));
  socket_.read_message_max(kMostOfAMessage);
  error_code failed;
  co_await socket_.async_accept(opening, asio::redirect_error(asio::use_awaitable, failed));
  if (failed) co_return close();
  limit_pings();
  events_ = context_.hub->subscribe([post = context_.commands.poster(), weak = weak_from_this()] {
    post([weak] {
      if (const auto reader = weak.lock()) reader->timer_.cancel();
    });
  });
  asio::co_spawn(
      socket_.get_executor(), [self = shared_from_this()]() -> asio::awaitable<void> { co_await self->watch(); },
      asio::detached);
  co_await write_all();
}

asio::awaitable<void> WebEvents::write_all() {
  error_code failed;
  while (!is_over_ && !failed) {
    if (const auto text = events_->take()) {
      co_await socket_.async_write(asio::buffer(*text), asio::redirect_error(asio::use_awaitable, failed));
      if (!failed && !server_stops_) co_await wait(steady_clock::now() + context_.options.event_pace);
    } else if (events_->is_over() || server_stops_) {
      const websocket::close_reason why{events_->is_over() ? websocket::close_code::normal
                                                           : websocket::close_code::going_away};
      co_await socket_.async_close(why, asio::redirect_error(asio::use_awaitable, failed));
      break;
    } else {
      co_await wait(steady_clock::time_point::max());
    }
  }
  close();
}

asio::awaitable<void> WebEvents::wait(steady_clock::time_point until) {
  error_code ignored;
  timer_.expires_at(until);
  co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

// Reads, so that pings are answered and a close is seen.
asio::awaitable<void> WebEvents::watch() {
  boost::beast::flat_buffer buffer;
  error_code failed;
  co_await socket_.async_read(buffer, asio::redirect_error(asio::use_awaitable, failed));
  if (!failed && !is_over_) {
    ++context_.commands.counters().web_refusals;
    const websocket::close_reason why{websocket::close_code::policy_error, "nobody listens here"};
    co_await socket_.async_close(why, asio::redirect_error(asio::use_awaitable, failed));
  }
  close();
}

void WebEvents::limit_pings() {
  socket_.control_callback([this](websocket::frame_type kind, boost::beast::string_view) {
    if (kind != websocket::frame_type::ping) return;
    const auto now = steady_clock::now();
    if (now - pings_since_ > kPingSpan) {
      pings_since_ = now;
      pings_ = 0;
    }
    if (++pings_ <= kMostPings) return;
    ++context_.commands.counters().web_refusals;
    // Not within Beast's own call.
    asio::post(socket_.get_executor(), [weak = weak_from_this()] {
      if (const auto reader = weak.lock()) reader->close();
    });
  });
}

}  // namespace softspine::control

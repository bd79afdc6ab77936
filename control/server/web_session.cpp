// SPDX-License-Identifier: Apache-2.0
#include "control/server/web_session.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/chunk_encode.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/span_body.hpp>
#include <boost/beast/http/write.hpp>

#include "control/server/web_events.hpp"

// A co_await stands alone here, or behind co_return: GCC 12 makes wrong code of one within && or a loop's condition.
namespace softspine::control {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;

namespace {

constexpr size_t kMostDrained = 1 << 20;  // of what a refused client still sends
constexpr std::string_view kJsonType = "application/json";
constexpr std::string_view kTextType = "text/plain; version=0.0.4; charset=utf-8";

std::string error_text(const std::string& why) {
  return json_text_of({{"error", why}}) + '\n';
}

// A result as it is; a page's text as it is.
constexpr AnswerForm kWebForm{
    .response = [](const Json&,
                   const Result& result) { return result ? json_text_of(*result) + '\n' : error_text(result.error()); },
    .page = [](const Json&, const std::string& page) { return page; }};

unsigned status_of(AnswerKind kind) {
  switch (kind) {
    case AnswerKind::kBusy: return 503;
    case AnswerKind::kTooLate: return 504;
    case AnswerKind::kError: return 400;
    case AnswerKind::kResult:
    case AnswerKind::kPage: return 200;
  }
  return 500;
}

bool needs_token(const std::expected<WebRoute, WebRefusal>& route) {
  return !route || !std::holds_alternative<ToFile>(*route);
}

}  // namespace

WebSession::WebSession(WebContext& context, asio::ip::tcp::socket socket)
    : context_(context), stream_(std::move(socket)), buffer_(kMaxHeadBytes + 1), reply_timer_(stream_.get_executor()) {
  ++context_.commands.counters().web_connections;
  context_.open.insert(this);
}

WebSession::~WebSession() {
  context_.open.erase(this);
  --context_.commands.counters().web_connections;
}

void WebSession::close() {
  error_code ignored;
  ignored = stream_.socket().close(ignored);
  reply_timer_.cancel();
}

asio::awaitable<void> WebSession::serve() {
  for (bool more = true; more;) more = co_await serve_one();
  if (stream_.socket().is_open()) co_await say_goodbye();
}

asio::awaitable<void> WebSession::turn_away() {
  ++context_.commands.counters().refused_connections;
  keep_alive_ = false;
  const std::string why = error_text("the server has all the connections that it takes");
  co_await send(503, kJsonType, why);
  close();
}

WebSession::Done WebSession::serve_one() {
  WebParser parser;
  limit(parser);
  version_ = 11;
  keep_alive_ = false;
  is_head_ = false;
  const bool has_come = co_await read_head(parser);
  if (!has_come) co_return false;
  const WebRequest request = web_request_of(parser);
  version_ = parser.get().version();
  is_head_ = request.method == "HEAD";
  const auto target = parse_target(request.target);
  const auto route = target ? route_of(*target, request.method, context_.commands, context_.options.files)
                            : std::unexpected(target.error());
  if (const auto refusal = web_refusal(request, context_.options.policy, needs_token(route))) {
    co_return co_await refuse(*refusal);
  }
  if (!route) {
    // A connection that asks for what is not there may go on asking, but a body of it was not read.
    keep_alive_ = parser.get().keep_alive() && parser.is_done();
    co_return co_await refuse(route.error());
  }
  co_return co_await go(*route, request, parser);
}

WebSession::Done WebSession::read_head(WebParser& parser) {
  error_code failed;
  stream_.expires_after(context_.options.request_timeout);
  co_await http::async_read_header(stream_, buffer_, parser, asio::redirect_error(asio::use_awaitable, failed));
  if (!failed) co_return true;
  if (failed == boost::beast::error::timeout) ++context_.commands.counters().timeouts;
  const bool is_ours = failed.category() == error_code{http::error::bad_method}.category();
  if (!is_ours || failed == http::error::end_of_stream || failed == http::error::partial_message) co_return false;
  const WebRefusal refusal = refusal_of(failed);
  co_return co_await refuse(refusal);
}

WebSession::Done WebSession::read_body(WebParser& parser) {
  error_code failed;
  stream_.expires_after(context_.options.request_timeout);
  if (parser.get()[http::field::expect] == "100-continue") {
    constexpr std::string_view kGoOn = "HTTP/1.1 100 Continue\r\n\r\n";
    co_await asio::async_write(stream_, asio::buffer(kGoOn), asio::redirect_error(asio::use_awaitable, failed));
    if (failed) co_return false;
  }
  co_await http::async_read(stream_, buffer_, parser, asio::redirect_error(asio::use_awaitable, failed));
  if (!failed) co_return true;
  if (failed == boost::beast::error::timeout) ++context_.commands.counters().timeouts;
  if (failed != http::error::body_limit && failed != http::error::bad_chunk) co_return false;
  const WebRefusal refusal = refusal_of(failed);
  co_return co_await refuse(refusal);
}

WebSession::Done WebSession::go(const WebRoute& route, const WebRequest& request, WebParser& parser) {
  if (std::holds_alternative<ToEvents>(route)) {
    const WebRefusal no_socket{426, "events come over a WebSocket"};
    if (!request.is_upgrade) co_return co_await refuse(no_socket);
    co_await hand_over_to_events(request, parser);
    co_return false;
  }
  const bool keeps = parser.get().keep_alive();
  if (request.has_body) {
    const bool has_come = co_await read_body(parser);
    if (!has_come) co_return false;
  }
  keep_alive_ = keeps;
  if (const auto* to = std::get_if<ToFile>(&route)) co_return co_await send(200, to->file->type, to->file->text);
  if (std::holds_alternative<ToDescription>(route)) {
    const WebOptions& options = context_.options;
    const std::string text = json_text_of(openapi_json(context_.commands, options.policy, options.title)) + '\n';
    co_return co_await send(200, kJsonType, text);
  }
  const auto& to = std::get<ToCommand>(route);
  if (to.facts->kind == CommandKind::kReading) co_return co_await call(*to.facts, to.arguments);
  auto arguments = body_arguments(parser.get().body(), *to.facts);
  if (!arguments) co_return co_await refuse(arguments.error());
  co_return co_await call(*to.facts, std::move(*arguments));
}

WebSession::Done WebSession::call(const CommandFacts& facts, Json arguments) {
  // Read just before close(): nobody would get the answer, and no handler runs any more.
  if (!stream_.socket().is_open()) co_return false;
  Request request{.id = {}, .command = facts.name, .arguments = std::move(arguments)};
  const auto call = context_.commands.begin(std::move(request), [this] { reply_timer_.cancel(); }, kWebForm);
  bool in_pieces = false;
  bool sent = true;
  while (sent && stream_.socket().is_open() && !call->is_over()) {
    if (call->until() <= std::chrono::steady_clock::now()) call->expire();
    if (auto next = call->take()) {
      sent = co_await send_next(std::move(*next), in_pieces);
    } else {
      error_code ignored;
      reply_timer_.expires_at(call->until());
      co_await reply_timer_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    }
  }
  co_return sent&& stream_.socket().is_open();
}

// An error behind pages cannot be said any more: the connection ends before the text does, and the client knows.
WebSession::Done WebSession::send_next(Unsent next, bool& in_pieces) {
  if (next.kind() != AnswerKind::kPage) {
    if (!in_pieces) co_return co_await send(status_of(next.kind()), kJsonType, next.text());
    if (next.kind() == AnswerKind::kResult) co_return co_await end_pieces();
    close();
    co_return false;
  }
  keep_alive_ = keep_alive_ && !is_head_;  // of a HEAD nobody wants the rest
  if (!in_pieces) {
    in_pieces = true;
    const bool begun = co_await begin_pieces();
    if (!begun) co_return false;
  }
  if (is_head_) co_return false;
  co_return co_await send_piece(next.text());
}

// HTTP/1.0 knows no pieces: there the text ends with the connection.
WebSession::Done WebSession::begin_pieces() {
  if (version_ < 11) keep_alive_ = false;
  Response<http::empty_body> head{http::status::ok, version_};
  add_fields(head, kTextType);
  if (version_ >= 11) head.chunked(true);
  http::response_serializer<http::empty_body> serializer{head};
  error_code failed;
  stream_.expires_after(context_.options.write_timeout);
  co_await http::async_write_header(stream_, serializer, asio::redirect_error(asio::use_awaitable, failed));
  co_return !failed;
}

WebSession::Done WebSession::send_piece(const std::string& text) {
  if (text.empty()) co_return true;
  error_code failed;
  stream_.expires_after(context_.options.write_timeout);
  if (version_ >= 11) {
    co_await asio::async_write(stream_, http::make_chunk(asio::buffer(text)),
                               asio::redirect_error(asio::use_awaitable, failed));
  } else {
    co_await asio::async_write(stream_, asio::buffer(text), asio::redirect_error(asio::use_awaitable, failed));
  }
  if (failed == boost::beast::error::timeout) ++context_.commands.counters().timeouts;
  co_return !failed;
}

WebSession::Done WebSession::end_pieces() {
  if (version_ < 11) co_return keep_alive_;
  error_code failed;
  stream_.expires_after(context_.options.write_timeout);
  co_await asio::async_write(stream_, http::make_chunk_last(), asio::redirect_error(asio::use_awaitable, failed));
  co_return !failed && keep_alive_;
}

asio::awaitable<void> WebSession::hand_over_to_events(const WebRequest& request, WebParser& parser) {
  if (context_.commands.counters().event_readers >= context_.options.max_event_readers) {
    const WebRefusal full{503, "events have all the readers that they take"};
    co_await refuse(full);
    co_return;
  }
  auto events = std::make_shared<WebEvents>(context_, std::move(stream_));
  co_await events->serve(parser.release(), offers_protocol(request, kEventsProtocol));
}

WebSession::Done WebSession::refuse(const WebRefusal& refusal) {
  ++context_.commands.counters().web_refusals;
  const std::string text = error_text(refusal.why);
  co_return co_await send(refusal.status, kJsonType, text);
}

template <typename Body>
void WebSession::add_fields(Response<Body>& response, std::string_view type) const {
  response.set(http::field::content_type, type);
  response.set(http::field::cache_control, "no-store");
  response.set("X-Content-Type-Options", "nosniff");
  response.set("X-Frame-Options", "DENY");
  response.set("Referrer-Policy", "no-referrer");
  response.set("Cross-Origin-Resource-Policy", "same-origin");
  response.set("Content-Security-Policy",
               "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; "
               "form-action 'none'; frame-ancestors 'none'");
  if (response.result() == http::status::unauthorized) response.set(http::field::www_authenticate, "Bearer");
  if (response.result() == http::status::method_not_allowed) response.set(http::field::allow, "GET, HEAD, POST");
  response.keep_alive(keep_alive_);
}

WebSession::Done WebSession::send(unsigned status, std::string_view type, std::string_view text) {
  Response<http::span_body<const char>> response{static_cast<http::status>(status), version_};
  if (!is_head_) response.body() = {text.data(), text.size()};
  if (status == 426) response.set(http::field::upgrade, "websocket");
  add_fields(response, type);
  response.content_length(text.size());
  http::response_serializer<http::span_body<const char>> serializer{response};
  error_code failed;
  stream_.expires_after(context_.options.write_timeout);
  if (is_head_) {
    co_await http::async_write_header(stream_, serializer, asio::redirect_error(asio::use_awaitable, failed));
  } else {
    co_await http::async_write(stream_, serializer, asio::redirect_error(asio::use_awaitable, failed));
  }
  if (failed == boost::beast::error::timeout) ++context_.commands.counters().timeouts;
  co_return !failed && keep_alive_;
}

// A client that still sends would lose our last words to a reset: what it sends is read for a while.
asio::awaitable<void> WebSession::say_goodbye() {
  error_code failed;
  failed = stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, failed);
  std::array<char, 4096> lost{};
  stream_.expires_after(context_.options.write_timeout);
  for (size_t drained = 0; !failed && drained < kMostDrained;) {
    drained += co_await stream_.async_read_some(asio::buffer(lost), asio::redirect_error(asio::use_awaitable, failed));
  }
  close();
}

}  // namespace softspine::control

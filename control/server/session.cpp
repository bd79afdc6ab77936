// SPDX-License-Identifier: Apache-2.0
#include "control/server/session.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

namespace softspine::control {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

Result made_by(Reply::Make& make) {
  try {
    return make();
  } catch (const std::exception& broken) {
    return std::unexpected(std::string{"the command failed: "} + broken.what());
  } catch (...) {
    return std::unexpected("the command failed");
  }
}

}  // namespace

// Closes the session's socket unless it is gone before `after`.
class Session::Deadline {
 public:
  Deadline(Session& session, std::chrono::milliseconds after) : session_(session) {
    session_.deadline_.expires_after(after);
    session_.deadline_.async_wait([weak = session_.weak_from_this(), mine = ++session_.deadlines_](error_code failed) {
      const auto late = weak.lock();
      if (failed || !late || late->deadlines_ != mine) return;
      ++late->context_.counters.timeouts;
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
  ++context_.counters.connections;
  context_.open.insert(this);
}

Session::~Session() {
  context_.open.erase(this);
  --context_.counters.connections;
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
  const Deadline deadline{*this, context_.options.idle_timeout};
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
  ++context_.counters.requests;
  auto request = parse_request(text);
  if (!request) {
    co_await refuse(request.error());
    co_return false;
  }
  text = {};
  id_ = request->id;
  Unsent response = co_await response_to(std::move(*request));
  const bool sent = co_await send(std::move(response), context_.options.write_timeout);
  co_return sent;
}

asio::awaitable<void> Session::refuse(std::string why) {
  ++context_.counters.bad_requests;
  id_ = {};
  co_await send(response_of(std::unexpected(std::move(why))), context_.options.write_timeout);
}

asio::awaitable<Unsent> Session::response_to(Request request) {
  // Read just before close(): nobody would get the answer, and a reply would find no way back.
  if (!socket_.is_open()) co_return response_of(std::unexpected("the server is closing"));
  const auto handler = context_.handlers.find(request.command);
  if (handler == context_.handlers.end()) {
    co_return response_of(std::unexpected("unknown command '" + request.command + "'"));
  }
  // Set before the handler runs: a reply ends the wait by cancelling it, and can be posted only after this.
  reply_timer_.expires_after(context_.options.reply_timeout);
  Turns& turns = *handler->second.turns;
  const bool in_time = co_await take_turn(turns);
  if (!in_time) co_return response_of(std::unexpected(too_late()));
  Unsent response = co_await called(handler->second, std::move(request));
  end_turn(turns);
  co_return response;
}

asio::awaitable<Unsent> Session::called(const HandlerEntry& entry, Request request) {
  const uint64_t call = ++call_;
  response_.reset();
  Reply::Make run = [&]() -> Result {
    entry.handler(request.arguments, reply_to(call));
    return Json{};
  };
  if (const Result ran = made_by(run); !ran) co_return response_of(ran);
  request = {};  // may be many times its text; who needs it later has copied it
  error_code ignored;
  co_await reply_timer_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  ++call_;  // what comes now is too late
  if (pages_) {
    Unsent last = co_await send_pages();
    co_return last;
  }
  if (!response_) co_return response_of(std::unexpected(too_late()));
  Unsent response = std::move(*response_);
  response_.reset();
  co_return response;
}

asio::awaitable<Unsent> Session::send_pages() {
  const std::shared_ptr<PageStream> pages = std::exchange(pages_, nullptr);
  const auto until = std::chrono::steady_clock::now() + context_.options.stream_timeout;
  const auto left = [until] {
    return std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
  };
  bool sent = true;
  while (sent && socket_.is_open() && !pages->has_ended() && left().count() > 0) {
    reply_timer_.expires_at(until);
    if (auto page = pages->take()) {
      sent = co_await send(Unsent{context_, format_page(id_, *page)}, std::min(left(), context_.options.write_timeout));
    } else {
      error_code ignored;
      co_await reply_timer_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
    }
  }
  const bool is_whole = pages->has_ended();
  pages->cancel();
  if (!is_whole) co_return response_of(std::unexpected("not all of it was read in time"));
  const std::string error = pages->error();
  co_return response_of(error.empty() ? Result(Json("")) : Result(std::unexpected(error)));
}

asio::awaitable<bool> Session::take_turn(Turns& turns) {
  if (turns.taken < turns.most) {
    ++turns.taken;
    co_return true;
  }
  turns.waiting.push_back(this);
  has_turn_ = false;
  const auto until = reply_timer_.expiry();
  error_code ignored;
  co_await reply_timer_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  if (!has_turn_) {
    std::erase(turns.waiting, this);
  } else if (!socket_.is_open()) {
    end_turn(turns);
    has_turn_ = false;
  }
  reply_timer_.expires_at(until);
  co_return has_turn_;
}

// The next in the row takes it over.
void Session::end_turn(Turns& turns) {
  if (turns.waiting.empty()) {
    --turns.taken;
    return;
  }
  Session* next = turns.waiting.front();
  turns.waiting.pop_front();
  next->has_turn_ = true;
  next->reply_timer_.cancel();
}

std::string Session::too_late() {
  if (!socket_.is_open()) return "the server is closing";
  ++context_.counters.timeouts;
  const auto seconds = std::chrono::duration<double>{context_.options.reply_timeout}.count();
  return "the fabric did not answer within " + Json(seconds).dump() + " s";
}

Reply Session::reply_to(uint64_t call) {
  return Reply{[mailbox = context_.mailbox, weak = weak_from_this(), call](Reply::Answer answer) {
    const std::lock_guard guard{mailbox->lock};
    if (mailbox->io == nullptr) return;
    asio::post(*mailbox->io, [weak, call, answer = std::move(answer)]() mutable {
      if (const auto session = weak.lock()) session->accept_reply(call, std::move(answer));
    });
  }};
}

// Text at once, so that results do not wait beside each other for clients who may be slow.
void Session::accept_reply(uint64_t call, Reply::Answer answer) {
  if (call != call_ || response_ || pages_) return;
  if (answer.make_pages) {
    start_pages(std::move(answer.make_pages));
  } else {
    response_.emplace(response_of(made_by(answer.make)));
  }
  reply_timer_.cancel();
}

void Session::start_pages(Reply::MakePages make_pages) {
  std::erase_if(context_.makers, [](const PageMaker& maker) { return maker.stream->has_ended(); });
  pages_ = std::make_shared<PageStream>([mailbox = context_.mailbox, weak = weak_from_this()] {
    const std::lock_guard guard{mailbox->lock};
    if (mailbox->io == nullptr) return;
    asio::post(*mailbox->io, [weak] {
      if (const auto session = weak.lock()) session->reply_timer_.cancel();
    });
  });
  context_.makers.push_back({pages_, std::jthread{[stream = pages_, make = std::move(make_pages)]() mutable {
                               Reply::Make run = [&]() -> Result {
                                 make([&stream](std::string page) { return stream->put(std::move(page)); });
                                 return Json{};
                               };
                               const Result made = made_by(run);
                               stream->end(made ? "" : made.error());
                             }}});
}

// The result's text, or why it is not sent.
Unsent Session::response_of(const Result& result) {
  std::string response = format_response(id_, result);
  const size_t bytes = response.size();
  const ServerOptions& options = context_.options;
  std::string instead;
  if (bytes > options.max_response_bytes) {
    instead = "the result has " + std::to_string(bytes) + " bytes, more than the " +
              std::to_string(options.max_response_bytes) + " that the server sends; ask for less";
  } else if (result && context_.unsent_bytes + bytes > options.max_unsent_bytes) {
    instead = "too much waits for clients that do not read; try again";
  } else {
    return {context_, std::move(response)};
  }
  ++context_.counters.oversize_responses;
  return {context_, format_response(id_, std::unexpected(instead))};
}

asio::awaitable<bool> Session::send(Unsent response, std::chrono::milliseconds within) {
  const Deadline deadline{*this, within};
  error_code failed;
  co_await asio::async_write(socket_, asio::buffer(response.text()), asio::redirect_error(asio::use_awaitable, failed));
  co_return !failed;
}

}  // namespace softspine::control

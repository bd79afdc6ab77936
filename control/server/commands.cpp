// SPDX-License-Identifier: Apache-2.0
#include "control/server/commands.hpp"

#include <exception>

#include "dataplane/units/check.hpp"

namespace softspine::control {

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

Commands::Commands(const ServerOptions& options) : options_(options) {
  calls_.most = options.max_calls;
  streams_.most = options.max_streams;
}

void Commands::handle(CommandFacts facts, Handler handler) {
  // At its reply's turn, not now: else the results of all who have asked would exist at once.
  handle_later(std::move(facts),
               [shared = std::make_shared<Handler>(std::move(handler))](const Json& arguments, const Reply& reply) {
                 reply.later([shared, arguments] { return (*shared)(arguments); });
               });
}

void Commands::handle_later(CommandFacts facts, LateHandler handler) {
  SOFTSPINE_CHECK(!mailbox_->post, 0, 0);
  const std::string name = facts.name;
  handlers_.insert_or_assign(name, Entry{std::move(facts), std::move(handler), &calls_});
}

void Commands::handle_paged(CommandFacts facts, LateHandler handler) {
  SOFTSPINE_CHECK(!mailbox_->post, 0, 0);
  facts.is_paged = true;
  const std::string name = facts.name;
  handlers_.insert_or_assign(name, Entry{std::move(facts), std::move(handler), &streams_});
}

const CommandFacts* Commands::facts_of(const std::string& command) const {
  const auto found = handlers_.find(command);
  return found == handlers_.end() ? nullptr : &found->second.facts;
}

std::vector<const CommandFacts*> Commands::all_facts() const {
  std::vector<const CommandFacts*> out;
  for (const auto& [name, entry] : handlers_) out.push_back(&entry.facts);
  return out;
}

bool Commands::call(const Request& request, const Reply& reply) const {
  const auto found = handlers_.find(request.command);
  if (found == handlers_.end()) return false;
  found->second.handler(request.arguments, reply);
  return true;
}

void Commands::open(Post post) {
  const std::lock_guard guard{mailbox_->lock};
  mailbox_->post = std::move(post);
}

void Commands::close() {
  const std::lock_guard guard{mailbox_->lock};
  mailbox_->post = nullptr;
}

std::shared_ptr<CommandCall> Commands::begin(Request request, std::function<void()> wake, AnswerForm form) {
  ++counters_.requests;
  auto call = std::make_shared<CommandCall>(*this, std::move(request), std::move(wake), form);
  call->begin();
  return call;
}

Unsent Commands::refusal(const std::string& why) {
  ++counters_.bad_requests;
  return response_of({}, std::unexpected(why), {}, AnswerKind::kError);
}

Unsent Commands::response_of(const Json& id, const Result& result, const AnswerForm& form, AnswerKind failure) {
  std::string response = form.response(id, result);
  const size_t bytes = response.size();
  std::string instead;
  if (bytes > options_.max_response_bytes) {
    instead = "the result has " + std::to_string(bytes) + " bytes, more than the " +
              std::to_string(options_.max_response_bytes) + " that the server sends; ask for less";
  } else if (result && unsent_bytes_ + bytes > options_.max_unsent_bytes) {
    instead = "too much waits for clients that do not read; try again";
  } else {
    return {unsent_bytes_, std::move(response), result ? AnswerKind::kResult : failure};
  }
  ++counters_.oversize_responses;
  return {unsent_bytes_, form.response(id, std::unexpected(instead)), AnswerKind::kBusy};
}

std::string Commands::too_late() {
  ++counters_.timeouts;
  const auto seconds = std::chrono::duration<double>{options_.reply_timeout}.count();
  return "the fabric did not answer within " + Json(seconds).dump() + " s";
}

CommandCall::CommandCall(Commands& commands, Request request, std::function<void()> wake, AnswerForm form)
    : commands_(commands), request_(std::move(request)), wake_(std::move(wake)), form_(form) {}

CommandCall::~CommandCall() {
  if (pages_) pages_->cancel();
  end_turn();
  if (entry_ != nullptr) std::erase(entry_->turns->waiting, this);
}

void CommandCall::begin() {
  const auto found = commands_.handlers_.find(request_.command);
  if (found == commands_.handlers_.end()) {
    return answer(std::unexpected("unknown command '" + request_.command + "'"));
  }
  entry_ = &found->second;
  until_ = std::chrono::steady_clock::now() + commands_.options_.reply_timeout;
  if (entry_->turns->taken == entry_->turns->most) {
    entry_->turns->waiting.push_back(this);
    return;
  }
  ++entry_->turns->taken;
  turns_ = entry_->turns;
  run();
}

// The next in the row takes it over.
void CommandCall::end_turn() {
  CommandTurns* const turns = std::exchange(turns_, nullptr);
  if (turns == nullptr) return;
  if (turns->waiting.empty()) {
    --turns->taken;
    return;
  }
  CommandCall* const next = turns->waiting.front();
  turns->waiting.pop_front();
  next->turns_ = turns;
  // Not within this one's end: handlers that fail at once would nest as deep as calls wait.
  commands_.mailbox_->put([weak = next->weak_from_this()] {
    if (const auto call = weak.lock()) call->run();
  });
}

void CommandCall::run() {
  if (turns_ == nullptr) return;  // it has expired meanwhile
  is_asked_ = true;
  Reply::Make ask = [this]() -> Result {
    entry_->handler(request_.arguments, reply());
    return Json{};
  };
  const Result asked = made_by(ask);
  request_.arguments = {};  // may be many times its text; who needs it later has copied it
  if (!asked) answer(asked);
}

Reply CommandCall::reply() {
  return Reply{[mailbox = commands_.mailbox_, weak = weak_from_this()](Reply::Answer answer) {
    mailbox->put([weak, answer = std::move(answer)]() mutable {
      if (const auto call = weak.lock()) call->accept(std::move(answer));
    });
  }};
}

// Text at once, so that results do not wait beside each other for clients who may be slow.
void CommandCall::accept(Reply::Answer given) {
  if (!is_asked_) return;
  if (!given.make_pages) return answer(made_by(given.make));
  is_asked_ = false;
  start_pages(std::move(given.make_pages));
  wake_();
}

void CommandCall::answer(const Result& result, AnswerKind failure) {
  is_asked_ = false;
  until_ = Time::max();
  response_.emplace(commands_.response_of(request_.id, result, form_, failure));
  end_turn();
  wake_();
}

void CommandCall::start_pages(Reply::MakePages make_pages) {
  auto& makers = commands_.makers_;
  std::erase_if(makers, [](const Commands::PageMaker& maker) { return maker.stream->has_ended(); });
  until_ = std::chrono::steady_clock::now() + commands_.options_.stream_timeout;
  pages_ = std::make_shared<PageStream>([mailbox = commands_.mailbox_, weak = weak_from_this()] {
    mailbox->put([weak] {
      if (const auto call = weak.lock()) call->wake_();
    });
  });
  makers.push_back({pages_, std::jthread{[stream = pages_, make = std::move(make_pages)]() mutable {
                      Reply::Make run = [&]() -> Result {
                        make([&stream](std::string page) { return stream->put(std::move(page)); });
                        return Json{};
                      };
                      const Result made = made_by(run);
                      stream->end(made ? "" : made.error());
                    }}});
}

// The response that follows the last page.
void CommandCall::end_pages() {
  const std::shared_ptr<PageStream> pages = std::exchange(pages_, nullptr);
  const bool is_whole = pages->has_ended();
  pages->cancel();
  if (!is_whole) return answer(std::unexpected("not all of it was read in time"));
  const std::string error = pages->error();
  answer(error.empty() ? Result(Json("")) : Result(std::unexpected(error)));
}

void CommandCall::expire() {
  if (pages_) return end_pages();
  if (response_ || is_over_) return;
  if (turns_ == nullptr) std::erase(entry_->turns->waiting, this);
  answer(std::unexpected(commands_.too_late()), AnswerKind::kTooLate);
}

std::optional<Unsent> CommandCall::take() {
  if (pages_) {
    if (auto page = pages_->take()) {
      return Unsent{commands_.unsent_bytes_, form_.page(request_.id, *page), AnswerKind::kPage};
    }
    if (pages_->has_ended()) end_pages();
  }
  if (!response_) return std::nullopt;
  is_over_ = true;
  std::optional<Unsent> last{std::move(*response_)};
  response_.reset();
  return last;
}

}  // namespace softspine::control

// SPDX-License-Identifier: Apache-2.0
// Handlers, turns and limits, over a transport of this test's own: no socket, no timer, no thread but the makers' of
// pages.
#include "control/server/commands.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <condition_variable>

namespace softspine::control {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Runs what is posted when it is told to.
class Loop {
 public:
  Commands::Post post() {
    return [this](Commands::Task task) {
      {
        const std::lock_guard guard{lock_};
        tasks_.push_back(std::move(task));
      }
      posted_.notify_all();
    };
  }
  // All that is there, and what comes of it.
  void run() {
    while (auto task = next()) (*task)();
  }
  // Waits for something to run.
  void wait() {
    std::unique_lock guard{lock_};
    posted_.wait(guard, [this] { return !tasks_.empty(); });
  }

 private:
  std::optional<Commands::Task> next() {
    const std::lock_guard guard{lock_};
    if (tasks_.empty()) return std::nullopt;
    std::optional<Commands::Task> task{std::move(tasks_.front())};
    tasks_.pop_front();
    return task;
  }
  std::mutex lock_;
  std::condition_variable posted_;
  std::deque<Commands::Task> tasks_;
};

class CommandsInMemory : public testing::Test {
 protected:
  explicit CommandsInMemory(const ServerOptions& options = {.max_calls = 2, .max_streams = 1}) : commands_(options) {
    commands_.handle("echo", [](const Json& arguments) -> Result { return arguments; });
    commands_.handle_later("held", [this](const Json&, const Reply& reply) { held_.push_back(reply); });
    commands_.handle_later("broken", [](const Json&, const Reply&) { throw std::bad_alloc{}; });
    commands_.handle_paged("pages", [](const Json& arguments, const Reply& reply) {
      reply.pages([pages = arguments.value("pages", 0)](const Reply::PutPage& put) {
        for (int i = 0; i < pages && put(std::to_string(i)); ++i) {
        }
      });
    });
    commands_.open(loop_.post());
  }
  ~CommandsInMemory() override {
    commands_.close();
    commands_.join();
  }

  std::shared_ptr<CommandCall> ask(const std::string& command, Json arguments = Json::object(), Json id = {}) {
    return commands_.begin({.id = std::move(id), .command = command, .arguments = std::move(arguments)},
                           [this] { ++woken_; });
  }
  // The text that is to be sent now; empty: none.
  static std::string text_of(CommandCall& call) {
    const auto text = call.take();
    return text ? text->text() : "";
  }

  Commands commands_;
  Loop loop_;
  std::vector<Reply> held_;
  int woken_ = 0;
};

TEST_F(CommandsInMemory, AreAnsweredByTheirHandlers) {
  const auto call = ask("echo", {{"a", 1}}, 7);
  EXPECT_EQ(text_of(*call), "") << "a result is made at its turn, by the loop";
  loop_.run();
  EXPECT_EQ(woken_, 1);
  EXPECT_EQ(text_of(*call), "{\"id\":7,\"ok\":true,\"result\":{\"a\":1}}\n");
  EXPECT_TRUE(call->is_over());
  EXPECT_EQ(text_of(*call), "");
  EXPECT_THAT(text_of(*ask("nonsense")), HasSubstr("unknown command 'nonsense'"));
  EXPECT_THAT(text_of(*ask("broken")), HasSubstr("the command failed: std::bad_alloc"));
  EXPECT_EQ(commands_.counters().requests, 3U);
  EXPECT_THAT(commands_.refusal("not JSON").text(), HasSubstr("not JSON"));
  EXPECT_EQ(commands_.counters().bad_requests, 1U);
}

TEST_F(CommandsInMemory, TakeTurnsInTheOrderTheyCame) {
  std::vector<std::shared_ptr<CommandCall>> calls;
  for (int i = 0; i < 5; ++i) calls.push_back(ask("held", Json::object(), i));
  EXPECT_EQ(held_.size(), 2U);
  calls[2].reset();  // left while it waited
  calls[0].reset();  // left while a handler had it
  loop_.run();
  EXPECT_EQ(held_.size(), 3U);
  for (const Reply& reply : std::vector(held_)) reply(Json("it"));
  loop_.run();
  EXPECT_EQ(held_.size(), 4U);
  held_.back()(Json("it"));
  loop_.run();
  for (const int i : {1, 3, 4}) {
    EXPECT_EQ(text_of(*calls[static_cast<size_t>(i)]),
              "{\"id\":" + std::to_string(i) + ",\"ok\":true,\"result\":\"it\"}\n");
  }
}

TEST_F(CommandsInMemory, ThatFailAtOnceGiveTheirTurnToTheNext) {
  const auto first = ask("held");
  const auto second = ask("held");
  std::vector<std::shared_ptr<CommandCall>> broken(1000);
  for (auto& call : broken) call = ask("broken");
  EXPECT_EQ(text_of(*broken.front()), "");
  held_.front()(Json{});
  loop_.run();
  for (const auto& call : broken) EXPECT_THAT(text_of(*call), HasSubstr("the command failed"));
  EXPECT_EQ(text_of(*second), "");
}

TEST_F(CommandsInMemory, AreGivenUpWhetherTheyWaitOrAHandlerHasThem) {
  std::vector<std::shared_ptr<CommandCall>> calls;
  for (int i = 0; i < 4; ++i) calls.push_back(ask("held"));
  EXPECT_LT(calls[0]->until(), CommandCall::Time::max());
  calls[2]->expire();
  calls[0]->expire();
  EXPECT_THAT(text_of(*calls[0]), HasSubstr("did not answer within 5.0 s"));
  EXPECT_THAT(text_of(*calls[2]), HasSubstr("did not answer within 5.0 s"));
  EXPECT_EQ(commands_.counters().timeouts, 2U);
  held_[0](Json("too late"));
  loop_.run();
  EXPECT_EQ(text_of(*calls[0]), "");
  ASSERT_EQ(held_.size(), 3U) << "its turn is the last one's";
  held_[2](Json("it"));
  held_[2](Json("twice"));
  loop_.run();
  EXPECT_THAT(text_of(*calls[3]), HasSubstr("\"it\""));
  calls[3]->expire();
  EXPECT_EQ(commands_.counters().timeouts, 2U);
}

// The turn of a call is the next one's before that has run.
TEST_F(CommandsInMemory, GivenUpBetweenTheirTurnAndTheirHandlerNeverReachIt) {
  std::vector<std::shared_ptr<CommandCall>> calls;
  for (int i = 0; i < 4; ++i) calls.push_back(ask("held"));
  calls[0].reset();
  calls[2]->expire();
  loop_.run();
  EXPECT_EQ(held_.size(), 3U);
  held_[2](Json("it"));
  loop_.run();
  EXPECT_THAT(text_of(*calls[3]), HasSubstr("\"it\""));
}

TEST_F(CommandsInMemory, CarryPagesOneByOne) {
  const auto call = ask("pages", {{"pages", 3}}, 1);
  const auto next = ask("pages", {{"pages", 0}}, 2);
  std::vector<std::string> texts;
  while (!call->is_over()) {
    loop_.run();
    if (std::string text = text_of(*call); !text.empty()) {
      texts.push_back(std::move(text));
    } else if (!call->is_over()) {
      loop_.wait();
    }
    EXPECT_EQ(call->is_over() ? "" : text_of(*next), "") << "there is one turn";
  }
  EXPECT_THAT(texts, ElementsAre("{\"id\":1,\"ok\":true,\"more\":true,\"result\":\"0\"}\n",
                                 "{\"id\":1,\"ok\":true,\"more\":true,\"result\":\"1\"}\n",
                                 "{\"id\":1,\"ok\":true,\"more\":true,\"result\":\"2\"}\n",
                                 "{\"id\":1,\"ok\":true,\"result\":\"\"}\n"));
  while (!next->is_over()) {
    loop_.wait();
    loop_.run();
    text_of(*next);
  }
}

TEST_F(CommandsInMemory, EndPagesThatNobodyReads) {
  const auto call = ask("pages", {{"pages", 1'000'000}});
  loop_.run();
  call->expire();
  EXPECT_THAT(text_of(*call), HasSubstr("not all of it was read in time"));
  EXPECT_TRUE(call->is_over());
  const auto left = ask("pages", {{"pages", 1'000'000}});
  loop_.run();
}

class SmallCommandsInMemory : public CommandsInMemory {
 protected:
  SmallCommandsInMemory() : CommandsInMemory({.max_response_bytes = 100, .max_unsent_bytes = 150}) {}
};

TEST_F(SmallCommandsInMemory, RefuseResultsThatAreTooLongOrWaitBesideTooMuch) {
  const auto answered = [this](size_t bytes) {
    const auto call = ask("echo", {{"a", std::string(bytes, 'a')}});
    loop_.run();
    return call->take();
  };
  EXPECT_THAT(answered(200)->text(), HasSubstr("more than the 100 that the server sends"));
  {
    const auto waits = answered(50);
    EXPECT_THAT(waits->text(), HasSubstr("aaa"));
    EXPECT_THAT(answered(50)->text(), HasSubstr("too much waits for clients that do not read"));
  }
  EXPECT_THAT(answered(50)->text(), HasSubstr("aaa"));
  EXPECT_EQ(commands_.counters().oversize_responses, 2U);
}

TEST_F(CommandsInMemory, HearNothingOnceTheyAreClosed) {
  const auto call = ask("held");
  commands_.close();
  held_.front()(Json("it"));
  loop_.run();
  EXPECT_EQ(text_of(*call), "");
}

}  // namespace
}  // namespace softspine::control

// SPDX-License-Identifier: Apache-2.0
// Requests to a fabric that runs over ranks: rank 0 is asked at instants that are drawn, and answers, captures, events
// and the report at the end are those of one process that is asked the same.
//
// Testbed i is drawn from the seed SOFTSPINE_SEED + i. SOFTSPINE_TESTBEDS says how many; one alone:
//   SOFTSPINE_SEED=… SOFTSPINE_TESTBEDS=1 build/tests/scenario/scenario_random --gtest_filter='RankedRequests.*'
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <mutex>

#include "control/load/load.hpp"
#include "control/report/report.hpp"
#include "dataplane/dpdk/eal.hpp"
#include "dataplane/units/rng.hpp"
#include "testbeds/run/captures.hpp"
#include "testbeds/run/event_log.hpp"
#include "testbeds/run/rank_process.hpp"
#include "testbeds/run/running_fabric.hpp"
#include "tests/harness/rank_threads.hpp"
#include "tests/harness/seed.hpp"
#include "tests/scenario/random/drawn_files.hpp"
#include "tests/scenario/random/drawn_testbed.hpp"
#include "tests/scenario/random/edge_files.hpp"
#include "tests/scenario/random/random_edges.hpp"
#include "tests/scenario/random/random_fabric.hpp"
#include "tests/scenario/random/random_testbed.hpp"
#include "tests/scenario/run/running_testbed.hpp"
#include "tools/softspine/views/fabric_server.hpp"
#include "tools/softspine/views/show_views.hpp"

namespace softspine::testbeds {
namespace {

using control::Json;
using dataplane::Duration;
using dataplane::Instant;

constexpr uint32_t kAskedInCi = 10;
constexpr uint32_t kRequests = 24;
constexpr uint32_t kCaptures = 3;

std::string file_of(const std::string& what) {
  return (std::filesystem::path(testing::TempDir()) / fmt::format("asked-{}.{}", getpid(), what)).string();
}
std::string capture_file(uint64_t number) {
  return file_of(fmt::format("{}.pcapng", number));
}

struct Asked {
  Instant at;
  control::Request request;
};

// Requests of all kinds about one testbed.
class Requests {
 public:
  Requests(const control::Testbed& testbed, uint64_t seed) : testbed_(testbed), rng_(seed, 77) {
    const auto most = static_cast<uint64_t>(std::min(testbed.run.duration, Duration::us(300)).count_ps());
    for (uint32_t i = 0; i < kRequests; ++i)
      out.push_back({Instant::at_ps(static_cast<int64_t>(rng_.below(most))), one()});
  }

  std::vector<Asked> out;

 private:
  control::Request one() {
    switch (rng_.below(10)) {
      case 0: return {{}, "link", {{"link", port()}, {"state", rng_.below(3) == 0 ? "up" : "down"}}};
      case 1:
        return {
            {},
            "fault",
            {{"set", "lossy"}, {"link", port()}, {"drop", "20%"}, {"for", fmt::format("{}us", 1 + rng_.below(40))}}};
      case 2:
        return {{}, "fault", {{"set", "dead"}, {"link", port()}, {"for", fmt::format("{}us", 1 + rng_.below(40))}}};
      case 3: return {{}, "profile", {{"node", switch_name()}, {"profile", any_of(testbed_.profiles).name}}};
      case 4: return {{}, "clear watermarks", rng_.below(2) == 0 ? Json::object() : Json{{"node", switch_name()}}};
      case 5:
        // To all, to a router, to nobody; one is too short.
        return {{},
                "inject",
                {{"port", port()}, {"frame", std::string(rng_.below(8) == 0 ? 20 : 128, "f0"[rng_.below(2)])}}};
      case 6: return capture_start();
      case 7: return {{}, "capture stop", {{"name", fmt::format("c{}", rng_.below(kCaptures))}, {"format", "json"}}};
      default: return show();
    }
  }
  control::Request capture_start() {
    const uint64_t number = rng_.below(kCaptures);
    Json arguments{{"path", capture_file(number)}, {"name", fmt::format("c{}", number)}};
    if (rng_.below(2) == 0) arguments["ports"] = Json::array({port(), port()});
    if (rng_.below(3) == 0) arguments["filter"] = "udp";
    if (rng_.below(8) == 0) arguments["path"] = "/no/where.pcapng";
    return {{}, "capture start", std::move(arguments)};
  }
  control::Request show() {
    const auto views = tools::views();
    const tools::View& view = views[rng_.below(views.size())];
    Json arguments{{"format", rng_.below(2) == 0 ? "json" : "text"}};
    const bool of_switch = std::holds_alternative<tools::SwitchView>(view.made);
    const bool of_paths = std::holds_alternative<tools::PathView>(view.made);
    if (of_switch || rng_.below(4) == 0)
      arguments["node"] = of_paths ? any_of(testbed_.fabric.nodes).name : switch_name();
    if (of_paths && rng_.below(2) == 0) arguments["port"] = port();
    return {{}, "show " + std::string(view.words), std::move(arguments)};
  }

  template <typename T>
  const T& any_of(const std::vector<T>& all) {
    return all[rng_.below(all.size())];
  }
  std::string port() {
    for (;;) {
      const control::FabricNode& node = any_of(testbed_.fabric.nodes);
      if (!node.ports.empty()) return node.name + ":" + any_of(node.ports).name;
    }
  }
  std::string switch_name() {
    for (;;) {
      const control::FabricNode& node = any_of(testbed_.fabric.nodes);
      if (node.kind == control::NodeKind::kSwitch) return node.name;
    }
  }

  const control::Testbed& testbed_;
  dataplane::Rng rng_;
};

struct Outcome {
  std::vector<std::string> answers;  // in the order of the requests
  Json report;
  std::string events;
  std::map<std::string, std::string> captures;  // files' bytes
  std::map<std::string, std::string> edges;     // likewise, of what they have written
};

// What depends on how many processes there are, and on this machine.
void leave_out_engine(Json& of) {
  if (of.is_object()) of.erase("engine");
}

std::string text_of(control::Reply::Answer answer) {
  if (answer.make_pages) {
    std::string out;
    answer.make_pages([&out](const std::string& page) {
      out += page;
      return true;
    });
    return out;
  }
  control::Result result = answer.make();
  if (!result) return "error: " + result.error();
  leave_out_engine(*result);
  return result->is_string() ? result->get<std::string>() : result->dump(1);
}

// One rank, or the only process. Each rank acts at the same instants; rank 0 alone is asked then.
class AskedFabric {
 public:
  AskedFabric(const control::Testbed& testbed, const std::vector<Asked>& asked, dataplane::RankTalk* talk) {
    auto made = RunningFabric::make(testbed, {.run_folder = {}, .capture = std::nullopt, .steps = true, .talk = talk});
    if (!made) {
      ADD_FAILURE() << made.error();
      return;
    }
    fabric_ = std::move(*made);
    server_.emplace(*fabric_);
    is_first_ = talk == nullptr || talk->rank() == 0;
    EXPECT_TRUE(fabric_->part<EventLog>().open(file_of("events")));
    outcome_.answers.resize(asked.size(), "no answer");
    for (size_t i = 0; i < asked.size(); ++i) {
      fabric_->assembly().engine->at(asked[i].at, [this, i, &asked](Instant) {
        if (is_first_) ask(asked[i].request, outcome_.answers[i]);
      });
    }
  }

  Outcome run() {
    if (fabric_ == nullptr) return {};
    const auto ran = fabric_->run();
    EXPECT_TRUE(ran) << ran.error();
    const auto closed = fabric_->part<Captures>().close_all();
    EXPECT_TRUE(closed) << closed.error();
    const control::FabricSnapshot snapshot = fabric_->snapshot();
    if (is_first_) {
      outcome_.report = control::report_json(snapshot, {.testbed = fabric_->testbed().name, .clock = "virtual"});
      EXPECT_EQ(outcome_.report["totals"]["imbalances"], Json::array());
      leave_out_engine(outcome_.report);
    }
    server_.reset();
    EXPECT_EQ(fabric_->drain(), 0U) << "packets that leaked";
    return std::move(outcome_);
  }

 private:
  void ask(const control::Request& request, std::string& answer) {
    const control::Reply reply{[&answer](control::Reply::Answer how) { answer = text_of(std::move(how)); }};
    EXPECT_TRUE(server_->call(request, reply)) << request.command;
  }

  std::unique_ptr<RunningFabric> fabric_;
  std::optional<tools::FabricServer> server_;
  bool is_first_ = true;
  Outcome outcome_;
};

void take_files(Outcome& outcome) {
  const auto taken = [](const std::string& path) {
    std::string out = bytes_of(path);
    std::filesystem::remove(path);
    return out;
  };
  outcome.events = taken(file_of("events"));
  for (uint32_t i = 0; i < kCaptures; ++i) {
    if (std::filesystem::exists(capture_file(i))) outcome.captures[fmt::format("c{}", i)] = taken(capture_file(i));
  }
  outcome.edges = take_edge_outputs();
}

Outcome ask_alone(const control::Testbed& testbed, const std::vector<Asked>& asked) {
  Outcome out = AskedFabric(testbed, asked, nullptr).run();
  take_files(out);
  return out;
}

Outcome ask_over_ranks(const control::Testbed& testbed, const std::vector<Asked>& asked, uint32_t ranks) {
  Outcome out;
  std::mutex one_at_a_time;
  tests::RankThreads::run(ranks, [&](dataplane::RankLink& link) {
    if (link.rank() != 0) dataplane::register_worker_thread();
    {
      dataplane::RankTalk talk(link, [](const dataplane::LostRank& lost) {
        ADD_FAILURE() << "rank " << lost.rank << " was lost: " << static_cast<int>(lost.why);
      });
      std::optional<AskedFabric> fabric;
      {
        const std::lock_guard guard{one_at_a_time};
        fabric.emplace(testbed, asked, &talk);
      }
      Outcome of_rank = fabric->run();
      if (link.rank() == 0) out = std::move(of_rank);
    }
    if (link.rank() != 0) dataplane::unregister_worker_thread();
  });
  take_files(out);
  return out;
}

// Returns how many answers were compared; 0: the testbed cannot be run.
size_t compare(const std::string& text, uint64_t seed) {
  const auto testbed = control::parse_testbed(text, tests::drawn_testbed_file(), {});
  if (!testbed || !put_edge_input(text)) return 0;
  const Requests requests(*testbed, seed);
  const Outcome alone = ask_alone(*testbed, requests.out);
  const Outcome shared = ask_over_ranks(*testbed, requests.out, 2 + static_cast<uint32_t>(seed % 3));
  for (size_t i = 0; i < requests.out.size(); ++i) {
    const auto& [at, request] = requests.out[i];
    EXPECT_NE(alone.answers[i], "no answer") << request.command;
    EXPECT_EQ(shared.answers[i], alone.answers[i])
        << "at " << at.count_ps() << " ps: " << request.command << " " << request.arguments.dump();
  }
  EXPECT_EQ(shared.report.dump(1), alone.report.dump(1));
  EXPECT_EQ(shared.events, alone.events);
  EXPECT_TRUE(shared.captures == alone.captures) << "the captures";
  EXPECT_TRUE(shared.edges == alone.edges) << "what edges wrote";
  return requests.out.size();
}

template <typename Draw>
void ask_all(Draw&& draw) {
  dataplane::start_eal({});
  size_t compared = 0;
  for (uint64_t i = 0, n = tests::to_draw(kAskedInCi); i < n; ++i) {
    const uint64_t seed = tests::seed() + i;
    const std::string text = draw(seed);
    compared += compare(text, seed);
    if (testing::Test::HasFailure()) FAIL() << "again: SOFTSPINE_SEED=" << seed << " SOFTSPINE_TESTBEDS=1\n" << text;
  }
  EXPECT_GT(compared, 0U);
}

TEST(RankedRequests, AreAnsweredAsInOneProcess) {
  ask_all([](uint64_t seed) { return tests::random_testbed(seed).text; });
}

TEST(RankedRequests, AreAnsweredAsInOneProcessInFabricsOfEveryKind) {
  ask_all([](uint64_t seed) { return tests::random_fabric(seed); });
}

TEST(RankedRequests, AreAnsweredAsInOneProcessWithFilesAsHosts) {
  ask_all([](uint64_t seed) { return tests::random_edges(seed); });
}

TEST(RankedRequests, AreAnsweredAsInOneProcessWithWhateverTheFormatHas) {
  ask_all([](uint64_t seed) { return tests::drawn_testbed(seed).text; });
}

}  // namespace
}  // namespace softspine::testbeds

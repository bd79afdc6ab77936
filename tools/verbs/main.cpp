// SPDX-License-Identifier: Apache-2.0
// softspine-verbs: RoCE traffic over N queue pairs between real hosts or guests, every byte looked at.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "control/format/quantity.hpp"
#include "tools/command/app_description.hpp"
#include "tools/command/complain.hpp"
#include "tools/command/exit_status.hpp"
#include "tools/command/program_version.hpp"
#include "tools/verbs/source_port.hpp"
#include "tools/verbs/verbs_client.hpp"
#include "tools/verbs/verbs_server.hpp"

namespace softspine::tools {
namespace {

struct Arguments {
  ClientOptions client{.port = "18515"};
  ServerOptions server;
  std::string address;
  std::string scaling = "round_robin";
  std::string source_port = "per_qp";
  std::optional<uint64_t> messages;
  bool serve = false;
  bool json = false;
};

uint64_t quantity(const std::string& option, const std::string& text, const control::QuantityKind& kind) {
  const auto value = control::parse_quantity(text, kind);
  if (!value) throw CLI::ValidationError(option, value.error());
  return static_cast<uint64_t>(*value);
}

std::chrono::nanoseconds duration(const std::string& option, const std::string& text) {
  return std::chrono::nanoseconds{quantity(option, text, control::kDurationQuantity) / 1'000};
}

uint32_t flow_label(const std::string& source_port) {
  if (source_port == "per_qp") return 0;
  uint32_t port = 0;
  if (!CLI::detail::lexical_cast(source_port, port) || port < kLeastSourcePort || port > UINT16_MAX)
    throw CLI::ValidationError("--source-port", "per_qp, or one of 49152 to 65535, as RoCEv2 has them");
  return flow_label_for(static_cast<uint16_t>(port));
}

void add_client_options(CLI::App& app, Arguments& out) {
  Terms& terms = out.client.terms;
  app.add_option("HOST", out.client.host, "name or address of a host where softspine-verbs --serve runs");
  app.add_option("--qps", terms.spread.queue_pairs, "queue pairs, 1 to 32 (1)")->check(CLI::Range(1U, kMaxQueuePairs));
  app.add_option("--scaling", out.scaling, "how messages go over them (round_robin): each cut into parts, or in turn")
      ->check(CLI::IsMember({"split", "round_robin"}));
  app.add_option_function<std::string>(
      "--message",
      [&terms](const std::string& text) {
        terms.spread.message_bytes = quantity("--message", text, control::kBytesQuantity);
      },
      "bytes of a message, e.g. 1MiB (64KiB)");
  app.add_option("--messages", out.messages, "how many (100; with --duration as many as there is time for)")
      ->check(CLI::Range(uint64_t{1}, kMaxMessages));
  app.add_option_function<std::string>(
      "--duration", [&out](const std::string& text) { out.client.duration = duration("--duration", text); },
      "how long messages begin, e.g. 10s");
  app.add_option("--depth", terms.depth, "messages or parts under way over each queue pair, 1 to 128 (8)")
      ->check(CLI::Range(1U, kMaxDepth));
  app.add_option("--source-port", out.source_port,
                 "UDP: per_qp (the driver derives it from the QP numbers), or one for all queue pairs, 49152 to 65535");
  app.add_option("--mtu", terms.mtu_bytes, "RDMA path MTU (the largest that both ports have)")
      ->check(CLI::IsMember({256, 512, 1024, 2048, 4096}));
  app.add_option("--dscp", terms.dscp, "of its packets (26)")->check(CLI::Range(0, 63));
  app.add_option("--ack-timeout", terms.ack_timeout, "4.096 us x 2^this until a packet is sent again (14)")
      ->check(CLI::Range(0, 31));
  app.add_option_function<std::string>(
      "--wait",
      [&out](const std::string& text) {
        out.client.patience = std::chrono::duration_cast<std::chrono::milliseconds>(duration("--wait", text));
      },
      "how long to try until the server listens, e.g. 10s (0s)");
}

void add_options(CLI::App& app, Arguments& out) {
  app.add_flag("--serve", out.serve, "take what clients send");
  app.add_option("--sessions", out.server.sessions, "--serve: end after so many clients (never)");
  app.add_option("--port", out.client.port, "TCP, for what both have to tell each other (18515)");
  app.add_option("--address", out.address, "ours, if there are several; chooses the RDMA device");
  app.add_flag("--json", out.json, "for programs");
  add_client_options(app, out);
}

ExitStatus run(Arguments& arguments) {
  InterruptSignal interrupt;
  const auto fail = [](const std::string& why) {
    complain("softspine-verbs: {}\n", why);
    return ExitStatus::kWrongInput;
  };
  if (arguments.serve == !arguments.client.host.empty())
    return fail("either --serve, or the HOST of a server; --help says more");
  if (arguments.serve) {
    arguments.server.address = arguments.address;
    arguments.server.port = arguments.client.port;
    arguments.server.json = arguments.json;
    const auto right = run_server(arguments.server, interrupt);
    if (!right) return fail(right.error());
    return *right ? ExitStatus::kDone : ExitStatus::kUnexpected;
  }
  ClientOptions& client = arguments.client;
  client.from = arguments.address;
  client.terms.spread.scaling = arguments.scaling == "split" ? Scaling::kSplit : Scaling::kRoundRobin;
  client.terms.flow_label = flow_label(arguments.source_port);
  client.messages = arguments.messages.value_or(client.duration ? kMaxMessages : 100);
  if (const std::string why = validate(client.terms); !why.empty()) return fail(why);
  const auto result = run_client(client, interrupt);
  if (!result) {
    complain("softspine-verbs: {}\n", result.error().why);
    return result.error().had_begun ? ExitStatus::kUnexpected : ExitStatus::kWrongInput;
  }
  fmt::print("{}{}", arguments.json ? result->dump(2) : client_text(*result), arguments.json ? "\n" : "");
  return result->at("verified").get<bool>() ? ExitStatus::kDone : ExitStatus::kUnexpected;
}

}  // namespace
}  // namespace softspine::tools

int main(int argc, char** argv) {
  using namespace softspine::tools;
  CLI::App app{"softspine-verbs: RDMA writes over several queue pairs; the receiver looks at every byte"};
  app.name("softspine-verbs");
  app.set_version_flag("--version", program_version("softspine-verbs"));
  app.footer(
      "Examples:\n"
      "  softspine-verbs --serve                                      on one host\n"
      "  softspine-verbs h2 --qps 16 --scaling round_robin            on another: each message whole, in turn\n"
      "  softspine-verbs h2 --qps 4 --scaling split --message 1MiB --duration 10s --json\n"
      "  softspine-verbs h2 --qps 16 --source-port 49152              as drivers do that know one port only\n"
      "Exit status: 0 every byte was right; 1 some were not, or it broke off; 2 the input was wrong, or nothing could "
      "be begun.");
  Arguments arguments;
  try {
    add_options(app, arguments);
    if (describe_if_asked(app, argc, argv)) return 0;
    app.parse(argc, argv);
    return static_cast<int>(run(arguments));
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : static_cast<int>(ExitStatus::kWrongInput);
  } catch (const std::exception& error) {
    complain("softspine-verbs: {}\n", error.what());
    return static_cast<int>(ExitStatus::kWrongInput);
  }
}

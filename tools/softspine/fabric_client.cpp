// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/fabric_client.hpp"

#include <fmt/format.h>

#include "tools/command/wrong_input.hpp"

namespace softspine::tools {

using control::Client;
using control::Json;
using control::Result;

void add_fabric_options(CLI::App& command, FabricArguments& out) {
  command.add_option("--fabric", out.fabric, "the running testbed's name; not needed if only one runs");
  command.add_flag("--json", out.json, "for programs");
}

void print_result(const Json& result) {
  if (result.is_string()) {
    const auto& text = result.get_ref<const std::string&>();
    fmt::print("{}{}", text, text.ends_with('\n') ? "" : "\n");
  } else {
    fmt::print("{}\n", result.dump(2));
  }
}

Result ask_and_print(Client& client, const std::string& command, const Json& arguments) {
  bool in_pages = false;
  const Result result = client.call(command, arguments, [&in_pages](const std::string& page) {
    in_pages = true;
    fmt::print("{}", page);
  });
  if (result && (!in_pages || *result != Json(""))) print_result(*result);
  return result;
}

Status ask(Client& client, const std::string& command, const Json& arguments) {
  const Result answered = ask_and_print(client, command, arguments);
  return answered ? Status::kDone : wrong_input(answered.error());
}

Status ask_fabric(const FabricArguments& arguments, const std::string& command, const Json& wanted) {
  auto client = Client::connect_to_fabric(arguments.fabric);
  if (!client) return wrong_input(client.error());
  return ask(*client, command, wanted);
}

}  // namespace softspine::tools

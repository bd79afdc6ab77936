// SPDX-License-Identifier: Apache-2.0
// What the commands have in common that ask a running fabric.
#pragma once

#include <string>

#include "control/server/client.hpp"
#include "tools/softspine/arguments.hpp"

namespace softspine::tools {

struct FabricArguments {
  std::string fabric;
  bool json = false;
};
// --fabric and --json.
void add_fabric_options(CLI::App& command, FabricArguments& out);

// Says why on stderr.
Status failed(const std::string& why);

// A text as it is, anything else as JSON.
void print_result(const control::Json& result);

// Asks one thing and prints the answer; what is returned has been printed.
control::Result ask_and_print(control::Client& client, const std::string& command, const control::Json& arguments);
// The same; says on stderr why there is none.
Status ask(control::Client& client, const std::string& command, const control::Json& arguments);
Status ask_fabric(const FabricArguments& arguments, const std::string& command, const control::Json& wanted);

}  // namespace softspine::tools

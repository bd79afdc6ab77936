// SPDX-License-Identifier: Apache-2.0
// Shared by the commands that ask a running fabric.
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

// Prints a text as it is, anything else as JSON.
void print_result(const control::Json& result);

// Sends one request and prints its answer. A value that is returned has been printed.
control::Result ask_and_print(control::Client& client, const std::string& command, const control::Json& arguments);
// The same; prints on stderr why there is no answer.
Status ask(control::Client& client, const std::string& command, const control::Json& arguments);
Status ask_fabric(const FabricArguments& arguments, const std::string& command, const control::Json& wanted);

}  // namespace softspine::tools

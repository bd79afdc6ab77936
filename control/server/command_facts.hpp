// SPDX-License-Identifier: Apache-2.0
// The facts of a command, given where its handler is: a transport decides by them who may call it, and manuals
// (openapi.hpp) are made of them. A command that has only a name is for the UNIX socket alone.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace softspine::control {

enum class CommandKind : uint8_t {
  kLocal,     // the UNIX socket's
  kReading,   // changes nothing
  kChanging,  // the fabric, or files of this machine
};

struct ArgumentFacts {
  std::string name;
  std::string help;
  bool required = false;
  std::string type = "string";  // of JSON Schema
};

struct CommandFacts {
  CommandFacts(std::string of) : name(std::move(of)) {}  // NOLINT(google-explicit-constructor)
  CommandFacts(const char* of) : name(of) {}             // NOLINT(google-explicit-constructor)
  CommandFacts(std::string of, CommandKind is, std::string says, std::vector<ArgumentFacts> takes = {})
      : name(std::move(of)), kind(is), help(std::move(says)), arguments(std::move(takes)) {}

  std::string name;  // words: show pfc counters
  CommandKind kind = CommandKind::kLocal;
  std::string help;
  std::vector<ArgumentFacts> arguments;
  bool takes_others = false;  // arguments that are not named here
  bool is_paged = false;      // answers with text (Commands::handle_paged)
};

}  // namespace softspine::control

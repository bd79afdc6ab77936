// SPDX-License-Identifier: Apache-2.0
// For schema_test.py: `--schema` prints the schema; else every line of the input is a testbed, answered by
// "good" or by the first mistake.
#include <iostream>
#include <string>

#include "control/load/load.hpp"

int main(int argc, char** argv) {
  using namespace softspine::control;
  if (argc == 2 && std::string(argv[1]) == "--schema") {
    std::cout << testbed_schema();
    return 0;
  }
  for (std::string line; std::getline(std::cin, line);) {
    const auto testbed = parse_testbed(line, "line");
    std::cout << (testbed ? "good" : to_string(testbed.error().front())) << '\n';
  }
}

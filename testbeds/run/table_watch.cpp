// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/table_watch.hpp"

#include <utility>

#include "testbeds/run/next_look.hpp"

namespace softspine::testbeds {

using dataplane::Engine;
using dataplane::Instant;

void TableWatch::open(std::vector<Reader> readers, dataplane::Duration interval) {
  if (readers.empty() && nodes_.ranks().is_alone()) return;
  readers_ = std::move(readers);
  interval_ = interval;
  nodes_.engine().look_at(Instant{}, [this](Instant now) { sample(now); });
}

void TableWatch::sample(Instant now) {
  look(now);
  Engine& engine = nodes_.engine();
  const Instant then = next_look(engine, now, interval_);
  if (!then.is_never()) engine.look_at(then, [this](Instant later) { sample(later); });
}

void TableWatch::look(Instant now) {
  PathTables tables = path_tables(nodes_, links_, flows_);
  if (readers_.empty() || (tables_ && tables == *tables_)) return;
  tables_ = std::move(tables);
  for (const Reader& reader : readers_) reader(*tables_, now);
}

}  // namespace softspine::testbeds

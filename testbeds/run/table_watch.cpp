// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/table_watch.hpp"

#include <utility>

namespace softspine::testbeds {

using dataplane::Engine;
using dataplane::Instant;

void TableWatch::open(std::vector<Reader> readers, dataplane::Duration interval) {
  if (readers.empty() && nodes_.ranks().is_alone()) return;
  readers_ = std::move(readers);
  interval_ = interval;
  nodes_.engine().look_at(Instant{}, [this](Instant now) { sample(now); });
}

// The next multiple; on the virtual clock the first one after the next event, if nothing happens before.
void TableWatch::sample(Instant now) {
  look(now);
  Engine& engine = nodes_.engine();
  const Instant event = engine.next_event();
  if (event.is_never() && !engine.is_wall()) return;
  const int64_t interval = interval_.count_ps();
  const Instant usual = now + interval_;
  const bool waits = !engine.is_wall() && event > usual;
  const Instant then = waits ? Instant::at_ps((event.count_ps() / interval + 1) * interval) : usual;
  engine.look_at(then, [this](Instant later) { sample(later); });
}

void TableWatch::look(Instant now) {
  PathTables tables = path_tables(nodes_, links_, flows_);
  if (readers_.empty() || (tables_ && tables == *tables_)) return;
  tables_ = std::move(tables);
  for (const Reader& reader : readers_) reader(*tables_, now);
}

}  // namespace softspine::testbeds

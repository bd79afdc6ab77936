// SPDX-License-Identifier: Apache-2.0
// An answer too large to be one: its pages go from the thread that makes them to the connection that sends them, one
// waiting at most, so that however large it is, two of its pages exist. Whoever makes them waits for a reader, nobody
// else does.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace softspine::control {

class PageStream {
 public:
  // `wake`: called by the maker's thread when there is a page, or the end.
  explicit PageStream(std::function<void()> wake) : wake_(std::move(wake)) {}

  // The maker's. Waits until the page before this one was taken; false: nobody wants more.
  bool put(std::string page) {
    {
      std::unique_lock lock{lock_};
      changed_.wait(lock, [this] { return !page_ || cancelled_; });
      if (cancelled_) return false;
      page_ = std::move(page);
    }
    wake_();
    return true;
  }
  // The maker's: nothing follows. `wrong`: why not, though more should have.
  void end(std::string wrong) {
    {
      const std::lock_guard guard{lock_};
      ended_ = true;
      wrong_ = std::move(wrong);
    }
    wake_();
  }

  // The connection's: the next page, if it is there. After the last one has_ended().
  std::optional<std::string> take() {
    const std::lock_guard guard{lock_};
    auto page = std::exchange(page_, std::nullopt);
    if (page) changed_.notify_all();
    return page;
  }
  bool has_ended() {
    const std::lock_guard guard{lock_};
    return ended_ && !page_;
  }
  // Empty if it is whole.
  std::string wrong() {
    const std::lock_guard guard{lock_};
    return wrong_;
  }
  void cancel() {
    const std::lock_guard guard{lock_};
    cancelled_ = true;
    page_.reset();
    changed_.notify_all();
  }

 private:
  std::function<void()> wake_;
  std::mutex lock_;
  std::condition_variable changed_;
  std::optional<std::string> page_;
  std::string wrong_;
  bool ended_ = false;
  bool cancelled_ = false;
};

}  // namespace softspine::control

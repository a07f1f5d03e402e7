#pragma once
// One thread that starts all processes of a sandbox. The kernel ties the parent-death signal to the thread that made
// the child, so children must not be made by threads that come and go.

#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <thread>

#include "sandbox/spawn.hpp"

namespace kerf {

/// Thread-safe.
class Spawner {
 public:
  Spawner() : thread_([this] { work(); }) {}
  ~Spawner() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }
  Spawner(const Spawner&) = delete;
  Spawner& operator=(const Spawner&) = delete;

  Result<Spawned> spawn(const SpawnPlan& plan) {
    Job job{&plan, {}};
    auto answer = job.answer.get_future();
    {
      const std::lock_guard lock(mutex_);
      jobs_.push_back(&job);
    }
    wake_.notify_one();
    return answer.get();
  }

 private:
  struct Job {
    const SpawnPlan* plan;
    std::promise<Result<Spawned>> answer;
  };

  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [this] { return stop_ || !jobs_.empty(); });
      if (jobs_.empty()) return;
      Job* job = jobs_.front();
      jobs_.pop_front();
      lock.unlock();
      job->answer.set_value(kerf::spawn(*job->plan));
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job*> jobs_;  // guarded by mutex_; each lives on its caller's stack until answered
  bool stop_ = false;      // guarded by mutex_
  std::thread thread_;
};

}  // namespace kerf

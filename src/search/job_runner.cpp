#include "search/job_runner.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace kerf {
namespace {

/// A queue of work and the threads that do it, in order.
class Lane {
 public:
  explicit Lane(int threads) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
  }
  ~Lane() {
    close();
    for (std::thread& thread : threads_) thread.join();
  }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  void add(std::function<void()> work) {
    {
      const std::lock_guard lock(mutex_);
      queue_.push_back(std::move(work));
    }
    changed_.notify_one();
  }
  /// Work that has not begun is dropped; threads end after what they are at.
  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
      queue_.clear();
    }
    changed_.notify_all();
  }

 private:
  void run() {
    for (;;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return closed_ || !queue_.empty(); });
      if (closed_) return;
      const std::function<void()> work = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      work();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;  // guarded by mutex_
  bool closed_ = false;                      // likewise
  std::vector<std::thread> threads_;
};

/// Messages from all lanes, in the order they were sent. Thread-safe.
class Mailbox {
 public:
  void send(JobMessage message) {
    {
      const std::lock_guard lock(mutex_);
      messages_.push_back(std::move(message));
    }
    arrived_.notify_one();
  }
  std::optional<JobMessage> wait(std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    if (!arrived_.wait_for(lock, limit, [&] { return !messages_.empty(); })) return std::nullopt;
    JobMessage message = std::move(messages_.front());
    messages_.pop_front();
    return message;
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<JobMessage> messages_;  // guarded by mutex_
};

/// The judge's events as messages of the job they belong to.
class Reporter final : public Observer {
 public:
  Reporter(Mailbox& mailbox, std::int64_t ticket) : mailbox_(mailbox), ticket_(ticket) {}
  void on_tier(const TierEvent& event) override { mailbox_.send({ticket_, event}); }
  void on_note(const std::string& text) override { mailbox_.send({ticket_, RunNote{text}}); }

 private:
  Mailbox& mailbox_;
  std::int64_t ticket_;
};

}  // namespace

struct JobRunner::Impl {
  Impl(Evaluator& judge, std::span<Proposer* const> all, int build_lanes, std::function<bool()> go_on)
      : evaluator(judge),
        minds(all.begin(), all.end()),
        tuning_goes_on(std::move(go_on)),
        device(1),
        builds(std::max(1, build_lanes)) {
    for (Proposer* mind : minds)
      if (mind->questions_at_once() > 0)
        questions.emplace(mind->name(), std::make_unique<Lane>(mind->questions_at_once()));
  }
  ~Impl() {
    for (auto& [name, lane] : questions) lane->close();
    for (Proposer* mind : minds) mind->cancel();
  }

  JobResult perform(std::int64_t ticket, const ProposeJob& job) {
    (void)ticket;
    const auto mind =
        std::find_if(minds.begin(), minds.end(), [&](const Proposer* p) { return p->name() == job.mind; });
    return (*mind)->propose(job.request);
  }
  JobResult perform(std::int64_t ticket, const InspectJob& job) {
    (void)ticket;
    return evaluator.inspect(job.kernel.candidate, job.kernel.tunables);
  }
  JobResult perform(std::int64_t ticket, const EvaluateJob& job) {
    Reporter reporter(mailbox, ticket);
    return evaluator.evaluate(job.kernel.candidate, job.kernel.tunables, job.effort, reporter);
  }
  JobResult perform(std::int64_t, const CompareJob& job) {
    return evaluator.compare({job.ours.candidate, job.ours.tunables}, {job.theirs.candidate, job.theirs.tunables},
                             job.effort);
  }
  JobResult perform(std::int64_t ticket, const TuneJob& job) {
    Reporter reporter(mailbox, ticket);
    const OnTrial on_trial = [&](const Evaluation& trial) { mailbox.send({ticket, trial}); };
    return evaluator.tune(job.candidate, job.trials, job.seed, on_trial, tuning_goes_on, reporter);
  }

  JobResult perform(std::int64_t, const CountJob& job) {
    return evaluator.count(job.kernel.candidate, job.kernel.tunables);
  }

  Lane& lane_for(const Job& job) {
    if (const auto* asked = std::get_if<ProposeJob>(&job)) return *questions.at(asked->mind);
    return std::holds_alternative<InspectJob>(job) ? builds : device;
  }

  Evaluator& evaluator;
  std::vector<Proposer*> minds;
  std::function<bool()> tuning_goes_on;
  Mailbox mailbox;  // before the lanes, which send to it until they are joined
  Lane device;
  Lane builds;
  std::map<std::string, std::unique_ptr<Lane>, std::less<>> questions;  // by mind
};

JobRunner::JobRunner(Evaluator& evaluator, std::span<Proposer* const> minds, int build_lanes,
                     std::function<bool()> tuning_goes_on)
    : impl_(std::make_unique<Impl>(evaluator, minds, build_lanes, std::move(tuning_goes_on))) {}
JobRunner::~JobRunner() = default;

void JobRunner::submit(std::int64_t ticket, Job job) {
  Lane& lane = impl_->lane_for(job);
  lane.add([impl = impl_.get(), ticket, job = std::make_shared<const Job>(std::move(job))] {  // functions are copied
    JobResult result = std::visit([&](const auto& one) { return impl->perform(ticket, one); }, *job);
    impl->mailbox.send({ticket, std::move(result)});
  });
}

std::optional<JobMessage> JobRunner::wait(std::chrono::milliseconds limit) { return impl_->mailbox.wait(limit); }

}  // namespace kerf

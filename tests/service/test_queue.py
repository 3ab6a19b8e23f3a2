"""Whose turn it is, without clock or network."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest

from graders.service.limits import Rate, ServiceLimits
from graders.service.queue import FairQueue, NotTaken, ServiceJob

OPEN = ServiceLimits(waiting_each=50, per_hour=1e6, burst=1000)
ANSWER = {"report": {}}


def submit(queue: FairQueue, learner: str, number: int, now: float = 0.0) -> ServiceJob:
    return queue.submit(learner, f"{learner}-key-{number:012d}", "copy", "source", now)


def turn(queue: FairQueue) -> ServiceJob:
    job = queue.next(0.0)
    assert job is not None
    return job


def test_ten_checks_of_one_learner_delay_anothers_first_by_one() -> None:
    queue = FairQueue(OPEN)
    for number in range(10):
        submit(queue, "greedy", number)
    first = turn(queue)
    modest = submit(queue, "modest", 0)
    assert queue.position(modest) == 0
    queue.finish(first, ANSWER, 1.0)
    assert turn(queue) is modest


def test_one_check_of_a_learner_runs_at_a_time() -> None:
    queue = FairQueue(OPEN)
    for number in range(3):
        submit(queue, "ada", number)
    running = turn(queue)
    assert queue.next(0.0) is None
    queue.finish(running, ANSWER, 1.0)
    assert turn(queue).learner == "ada"


def test_learners_take_turns() -> None:
    queue = FairQueue(OPEN)
    for learner in "abc":
        for number in range(4):
            submit(queue, learner, number)
    order = []
    while queue.waiting:
        job = turn(queue)
        order.append(job.learner)
        queue.finish(job, ANSWER, 0.0)
    assert "".join(order) == "abc" * 4


@pytest.mark.parametrize("seed", range(5))
def test_the_position_is_the_number_that_start_before_it(seed: int) -> None:
    """With one worker and nobody who comes later, what was told comes true."""
    drawn = random.Random(seed)
    queue = FairQueue(OPEN)
    jobs = [submit(queue, drawn.choice("abcde"), number) for number in range(25)]
    told = {job.id: queue.position(job) for job in jobs}
    started = []
    while queue.waiting:
        job = turn(queue)
        started.append(job.id)
        queue.finish(job, ANSWER, 0.0)
    assert {job_id: number for number, job_id in enumerate(started)} == told


def test_a_check_whose_worker_went_is_the_next_one() -> None:
    queue = FairQueue(OPEN)
    lost, other = submit(queue, "a", 0), submit(queue, "b", 0)
    assert turn(queue) is lost
    queue.again(lost)
    assert (queue.position(lost), queue.position(other)) == (0, 1)
    assert turn(queue) is lost
    assert lost.attempts == 2


def test_the_same_key_is_the_same_check() -> None:
    queue = FairQueue(OPEN)
    first = submit(queue, "ada", 7)
    assert submit(queue, "ada", 7) is first
    queue.finish(turn(queue), ANSWER, 1.0)
    assert submit(queue, "ada", 7) is first
    assert queue.waiting == queue.running == 0


def test_the_same_key_of_another_learner_is_another_check() -> None:
    queue = FairQueue(OPEN)
    first = queue.submit("ada", "a" * 20, "copy", "hers", 0.0)
    second = queue.submit("bob", "a" * 20, "copy", "his", 0.0)
    assert (first.source, second.source) == ("hers", "his")
    assert first.id != second.id


def test_a_check_is_there_for_its_learner_only() -> None:
    queue = FairQueue(OPEN)
    job = submit(queue, "ada", 0)
    assert queue.of("ada", job.id) is job
    assert queue.of("bob", job.id) is None


def test_limits_are_said_in_one_line() -> None:
    queue = FairQueue(replace(OPEN, waiting=3, waiting_each=2))
    submit(queue, "a", 0)
    submit(queue, "a", 1)
    with pytest.raises(NotTaken, match="2 checks waiting already") as each:
        submit(queue, "a", 2)
    submit(queue, "b", 0)
    with pytest.raises(NotTaken, match="queue is full") as full:
        submit(queue, "c", 0)
    assert (each.value.status, full.value.status) == (429, 503)
    assert "\n" not in each.value.message + full.value.message
    assert queue.waiting == 3


def test_who_asks_too_often_waits() -> None:
    queue = FairQueue(replace(OPEN, per_hour=60, burst=2))
    for number in range(2):
        submit(queue, "ada", number)
    with pytest.raises(NotTaken, match="in a short time"):
        submit(queue, "ada", 2)
    submit(queue, "bob", 0)
    assert submit(queue, "ada", 2, now=61.0).state == "waiting"


def test_a_rate_forgets_those_who_went() -> None:
    rate = Rate(1.0, 2)
    for number in range(100):
        rate.take(f"learner {number}", 0.0)
    rate.take("new", 10.0)
    assert len(rate._buckets) == 1


def test_what_was_taken_back_never_runs() -> None:
    queue = FairQueue(OPEN)
    first, second = submit(queue, "a", 0), submit(queue, "a", 1)
    assert queue.withdraw(first, ANSWER, 0.0)
    assert turn(queue) is second
    assert not queue.withdraw(second, ANSWER, 0.0)
    assert queue.waiting == 0


def test_reports_are_kept_for_a_while_and_no_source_is() -> None:
    queue = FairQueue(replace(OPEN, kept=100.0, kept_each=2))
    jobs = [submit(queue, "ada", number) for number in range(3)]
    for _ in jobs:
        queue.finish(turn(queue), ANSWER, 10.0)
    assert [queue.of("ada", job.id) is not None for job in jobs] == [False, True, True]
    assert all(job.source == "" for job in jobs)
    queue.forget_old(111.0)
    assert queue.of("ada", jobs[2].id) is None
    assert not queue._lines
    assert not queue._keys


@pytest.mark.parametrize("seed", range(20))
def test_whatever_happens_nothing_is_lost_or_done_twice(seed: int) -> None:
    """Learners, workers and deaths by chance; counts and lines always agree."""
    drawn = random.Random(seed)
    queue = FairQueue(replace(OPEN, kept=1e9, kept_each=10**6))
    jobs: list[ServiceJob] = []
    running: list[ServiceJob] = []
    ended: Counter[str] = Counter()
    for step in range(400):
        what = drawn.random()
        if what < 0.4:
            jobs.append(submit(queue, drawn.choice("abcdefgh"), step))
        elif what < 0.7 and (job := queue.next(step)) is not None:
            running.append(job)
        elif running:
            job = running.pop(drawn.randrange(len(running)))
            if what < 0.8:
                queue.again(job)
            else:
                queue.finish(job, ANSWER, step)
                ended[job.id] += 1
        elif jobs and (waiting := [job for job in jobs if job.state == "waiting"]):
            job = drawn.choice(waiting)
            queue.withdraw(job, ANSWER, step)
            ended[job.id] += 1
        busy = [job.learner for job in running]
        assert len(busy) == len(set(busy)) == queue.running
        assert queue.waiting == sum(job.state == "waiting" for job in jobs)
    while queue.waiting or running:
        job = queue.next(1e3) or running[0]
        running = [other for other in running if other is not job]
        queue.finish(job, ANSWER, 1e3)
        ended[job.id] += 1
    assert ended == Counter(job.id for job in jobs)


def flood(queue: FairQueue, client: str, secrets: int, each: int = 1) -> list[NotTaken]:
    """What the machine of `client` is told that draws a new secret for each of many checks."""
    refused = []
    for secret in range(secrets):
        for number in range(each):
            try:
                queue.submit(f"{client}-{secret}", f"k{number:015d}", "copy", "", 0.0, client)
            except NotTaken as refusal:
                refused.append(refusal)
    return refused


def test_whoever_draws_many_secrets_has_the_budget_of_one_address() -> None:
    """1,200 checks in a few seconds filled the queue, and everybody else was turned away."""
    queue = FairQueue(ServiceLimits())
    refused = flood(queue, "mallory", 1_200)
    assert queue.waiting == 40
    assert len(refused) == 1_160
    assert {refusal.status for refusal in refused} == {429}
    assert all(refusal.again > 0 and "your address" in refusal.message for refusal in refused)
    assert submit(queue, "ada", 0).state == "waiting"


def test_clients_take_turns_whatever_names_they_use() -> None:
    queue = FairQueue(ServiceLimits())
    flood(queue, "mallory", 30)
    turn(queue)
    modest = [submit(queue, learner, 0) for learner in ("ada", "bob")]
    assert [queue.position(job) for job in modest] == [1, 2]
    order = [turn(queue).client for _ in range(6)]
    assert order == ["mallory", "ada", "bob", "mallory", "mallory", "mallory"]


def test_learners_of_one_address_take_turns_among_themselves() -> None:
    queue = FairQueue(ServiceLimits())
    flood(queue, "laboratory", 3, each=3)
    order = []
    while queue.waiting:
        job = turn(queue)
        order.append(job.learner)
        queue.finish(job, ANSWER, 0.0)
    assert order == [f"laboratory-{n}" for n in (0, 1, 2)] * 3


def test_an_address_may_ask_as_often_as_its_learners_together() -> None:
    queue = FairQueue(replace(OPEN, per_hour=3600, burst=2, learners_per_address=3))
    (refusal,) = flood(queue, "laboratory", 7)
    assert "Learners at your address" in refusal.message
    assert queue.waiting == 6
    later = queue.submit("laboratory-9", "k" * 16, "copy", "", 1.0, "laboratory")
    assert later.state == "waiting"


def test_what_is_known_of_a_client_ends_with_its_checks() -> None:
    queue = FairQueue(ServiceLimits())
    flood(queue, "mallory", 30)
    for _ in range(10):
        job = turn(queue)
        queue.again(job)
        assert turn(queue) is job
        queue.finish(job, ANSWER, 1.0)
    for job in list(queue._jobs.values()):
        queue.withdraw(job, ANSWER, 2.0)
    assert queue.waiting == queue.running == len(queue._ring) == len(queue._waiting) == 0

"""The judge as a process: warm, restarted when it dies, stopped when it hangs."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from triton_util.client.judge import JudgeProcess, JudgeUnavailable

HERE = Path(__file__).parent
FAKE = (sys.executable, "-P", str(HERE / "fake_judge.py"))


@pytest.fixture
def judge():
    process = JudgeProcess(FAKE, seconds=20)
    yield process
    process.close()


def check_of(source: str) -> dict:
    return {"op": "check", "exercise": "vector_add", "source": source, "name": "<notebook>"}


def test_the_process_stays_warm(judge):
    judge.ask({"op": "exercises"})
    first = judge.pid
    for _ in range(3):
        judge.ask(check_of("x"))
    assert judge.pid == first is not None


def test_text_arrives_unchanged(judge):
    source = 'x = "ä→\\n \U0001f600"\n\n\t# end\r\n\x00'
    assert judge.ask(check_of(source))["report"]["source"] == source


def test_long_source_arrives(judge):
    source = "#" * 3_000_000
    assert judge.ask(check_of(source))["report"]["source"] == source


def wait_for(condition, seconds: float = 20) -> bool:
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    return bool(condition())


def test_start_does_not_wait_and_close_does_not_either():
    """The process neither answers nor ends by itself, so whoever waited would wait for ever."""
    code = "import time\nwhile True: time.sleep(60)"
    sleeper = JudgeProcess((sys.executable, "-c", code))
    sleeper.start()
    assert wait_for(lambda: sleeper.pid is not None)
    sleeper.close()
    assert sleeper.pid is None


def test_start_warms_the_judge_up(judge):
    judge.start()
    assert wait_for(lambda: judge.pid is not None)
    first = judge.pid
    assert judge.ask(check_of("fine"))["report"]["warmed_up"]
    assert judge.pid == first


def test_failed_start_is_silent_until_a_request(capfd):
    process = JudgeProcess(("/no/such/program",))
    process.start()
    with pytest.raises(JudgeUnavailable, match="could not be started"):
        process.ask({"op": "exercises"})
    assert capfd.readouterr() == ("", "")


def test_death_is_said_and_the_next_request_finds_a_new_judge(judge):
    with pytest.raises(JudgeUnavailable) as caught:
        judge.ask(check_of("JUDGE_CRASHES"))
    assert "exit code 3" in caught.value.message
    assert "the last words of the judge" in caught.value.detail
    assert judge.ask(check_of("fine"))["report"]["verdict"] == "passed"


def test_judge_that_was_killed_between_requests_is_started_again(judge):
    judge.ask({"op": "exercises"})
    first = judge.pid
    os.kill(first, signal.SIGKILL)
    assert wait_for(lambda: judge.pid is None)
    assert judge.ask(check_of("fine"))["ok"]
    assert judge.pid != first


def test_time_limit_stops_the_judge(judge):
    judge._seconds = 1.5
    judge.ask({"op": "exercises"})
    stuck = judge.pid
    with pytest.raises(JudgeUnavailable, match="did not answer within"):
        judge.ask(check_of("JUDGE_HANGS"))
    with pytest.raises(ProcessLookupError):
        os.kill(stuck, 0)
    judge._seconds = 20
    assert judge.ask(check_of("fine"))["ok"]


@pytest.fixture
def interruptible():
    """Ctrl+C as Python has it, also where the tests run in the background of a shell."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_interrupt_ends_the_judge_and_is_passed_on(judge):
    judge.ask({"op": "exercises"})
    old = judge.pid
    main = threading.main_thread().ident
    timer = threading.Timer(0.3, signal.pthread_kill, [main, signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        judge.ask(check_of("JUDGE_HANGS"))
    timer.join()
    assert judge.ask(check_of("fine"))["ok"]
    assert judge.pid != old


@pytest.mark.parametrize(
    ("source", "words"),
    [("JUDGE_MUMBLES", "not an answer"), ("JUDGE_REFUSES", "the disk is full")],
)
def test_answers_that_are_none(judge, source, words):
    with pytest.raises(JudgeUnavailable, match=words):
        judge.ask(check_of(source))
    assert judge.ask(check_of("fine"))["report"]["source"] == "fine"


def test_missing_program():
    with pytest.raises(JudgeUnavailable, match="could not be started"):
        JudgeProcess(("/no/such/program",)).ask({"op": "exercises"})


def test_missing_package_names_the_mend():
    process = JudgeProcess((sys.executable, "-m", "graders_that_are_missing"))
    with pytest.raises(JudgeUnavailable) as caught:
        process.ask({"op": "exercises"})
    assert "ended before it answered" in caught.value.message
    error = "raise ModuleNotFoundError(\"No module named 'graders'\")"
    process = JudgeProcess((sys.executable, "-c", error))
    with pytest.raises(JudgeUnavailable) as caught:
        process.ask({"op": "exercises"})
    assert "not installed" in caught.value.message
    assert "restart the notebook's kernel" in caught.value.mend


def test_nothing_outlives_the_session():
    code = (
        "import sys\nfrom triton_util.client import judge\n"
        f"judge._shared._command = {FAKE!r}\n"
        "judge.shared().ask({'op': 'exercises'})\nprint(judge.shared().pid)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    with pytest.raises(ProcessLookupError):
        os.kill(int(done.stdout), 0)


def test_fork_of_the_session_gets_a_judge_of_its_own(judge):
    judge.ask({"op": "exercises"})
    mine = judge.pid
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            judge.ask({"op": "exercises"})
            os.write(writing, str(judge.pid).encode())
            judge.close()
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        theirs = int(pipe.read())
    assert theirs != mine == judge.pid
    assert judge.ask(check_of("fine"))["ok"]


def test_requests_from_threads_do_not_mix(judge):
    wrong = []

    def ask(word: str) -> None:
        for _ in range(20):
            if judge.ask(check_of(word))["report"]["source"] != word:
                wrong.append(word)

    threads = [threading.Thread(target=ask, args=(f"word {number}",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_file_beside_the_notebook_does_not_replace_a_module(tmp_path, monkeypatch):
    (tmp_path / "json.py").write_text("raise RuntimeError('the wrong json')")
    monkeypatch.chdir(tmp_path)
    process = JudgeProcess(
        (sys.executable, "-P", "-c", "import json; print(json.dumps({'ok': 1}))")
    )
    assert process.ask({"op": "exercises"}) == {"ok": 1}
    process.close()

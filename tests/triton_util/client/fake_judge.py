"""A judge for the client's tests: it speaks the protocol and judges by a word in the source.

It shows what the client does with each kind of answer, without torch and within milliseconds.
Run as a program: JSON lines in, JSON lines out.
"""

import json
import os
import sys
import time

EXERCISES = [
    {"name": "vector_add", "lesson": "vector_add", "title": "Add two vectors", "number": "01"},
    {
        "name": "softmax",
        "lesson": "reductions",
        "title": "Row-wise softmax",
        "number": "07",
        "challenge": "Leave the `maximum` out: which cases overflow?",
    },
    {"name": "ahead", "lesson": "of_its_time", "title": "No lesson asks for it", "number": ""},
]
QUESTIONS = [
    {
        "prompt": "Why is there a `mask`?",
        "choices": [
            {"text": "For speed", "answer": "It costs a little.", "right": False},
            {
                "text": "The last block may be too long",
                "answer": "Yes: there may be fewer elements.",
                "right": True,
            },
        ],
    }
]
WARMED: list[bool] = []
GATES = ("read", "compile", "interpret", "traffic", "gpu")


def finding(source: str) -> dict:
    line = next((i for i, text in enumerate(source.splitlines(), 1) if "tl.load" in text), None)
    return {
        "gate": "interpret",
        "code": "missing-mask",
        "title": "The last block reads <past> the end",
        "message": "The load has no `mask`.\n\nLanes 2 to 3 are outside.",
        "line": line,
        "case": "6 elements, blocks of 4",
        "next_step": "Give `tl.load` a mask.",
        "original": "IndexError: <b>x</b>",
        "picture": {"rows": ["....xx", "oo...."], "caption": "The tail is wrong."},
    }


def report(request: dict) -> dict:
    source = request["source"]
    wrong = "WRONG" in source
    gates = dict.fromkeys(GATES, "not_run")
    gates.update(read="passed", compile="passed", interpret="failed" if wrong else "passed")
    return {
        "submission": request["name"],
        "exercise": request["exercise"],
        "verdict": "ungraded" if "UNGRADED" in source else "failed" if wrong else "passed",
        "points": 0 if wrong else 10,
        "max_points": 10,
        "gates": gates,
        "findings": [finding(source)] * 2 if wrong or "UNGRADED" in source else [],
        "sandbox": "C" if "TIER_C" in source else "A",
        "seconds": 0.2,
        "cases_passed": 11 if wrong else 25,
        "cases_total": 25,
        "resources": [
            {"kernel": "add", "target": 80, "registers": 16, "shared_bytes": 0, "spill_bytes": 0}
        ],
        "moved": None if wrong else {"case": "n=64", "own": 512, "model": 384},
    }


def answer(request: dict) -> dict:
    match request["op"]:
        case "warm":
            WARMED.append(True)
            return {"ok": True}
        case "exercises":
            return {"ok": True, "exercises": EXERCISES, "quizzes": {"vector_add": 1}}
        case "hints":
            return {"ok": True, "hints": ["Think of the `last` block.", "A mask.", "offsets < n"]}
        case "quiz":
            return {"ok": True, "questions": QUESTIONS}
        case "prediction":
            return answer_prediction(request["name"])
        case "model_answer":
            return {"ok": True, "text": "The model answer.\n\n**Rubric (1 points)**"}
        case "check":
            return answer_check(request)
        case "speed":
            return {"ok": True}
    return {"ok": False, "error": f"unknown request {request['op']!r}"}


def answer_prediction(name: str) -> dict:
    known = {
        "lanes": {"answer": 24, "unit": "lanes", "because": "Because of the mask."},
        "row": {"answer": 2, "unit": "", "because": "", "quantity": False},
    }
    if name not in known:
        return {"ok": False, "error": f"There is no prediction {name!r}. Did you mean 'row'?"}
    return {"ok": True, "quantity": True, **known[name]}


def answer_check(request: dict) -> dict:
    source = request["source"]
    if "JUDGE_CRASHES" in source:
        print("the last words of the judge", file=sys.stderr, flush=True)
        os._exit(3)
    if "JUDGE_HANGS" in source:
        time.sleep(60)
    if "JUDGE_MUMBLES" in source:
        sys.stdout.write("no json\n")
        sys.stdout.flush()
    if "JUDGE_REFUSES" in source:
        return {"ok": False, "error": "the disk is full"}
    if "JUDGE_COUNTS" in source:
        for done in (5, 12):
            print(json.dumps({"progress": [done, 25]}), flush=True)
    if "JUDGE_FORGETS" in source:
        return {"ok": True, "report": {"exercise": "vector_add"}}
    return {"ok": True, "report": {**report(request), "source": source, "warmed_up": any(WARMED)}}


def main() -> None:
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()

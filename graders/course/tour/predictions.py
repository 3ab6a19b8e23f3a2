"""Predictions of the tour."""

from __future__ import annotations

from graders.judge.predictions import Prediction

PREDICTIONS = {
    "tour_lanes_off": Prediction(
        2, "lanes", "3 programs of 4 lanes are 12 lanes, for 10 numbers.", quantity=False
    ),
}

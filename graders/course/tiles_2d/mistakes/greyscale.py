"""The wrong grey pictures that known mistakes compute, and their messages."""

from __future__ import annotations

import torch

from graders.course.common.expected import computes, computes_from_memory, each, read_as
from graders.course.common.launch_order import launch_order
from graders.course.tiles_2d.reference import WEIGHTS, grey
from graders.judge.diagnosis.matching import looks_like
from graders.judge.records import Evidence, Misconception


def _interleaved(img: torch.Tensor) -> torch.Tensor:
    height, width = img.shape[1:]
    return grey(img.reshape(height, width, 3).permute(2, 0, 1))


def _rounded_too_early(img: torch.Tensor) -> torch.Tensor:
    return (img.double() * WEIGHTS[:, None, None]).floor().sum(dim=0)


def _summed_in_uint8(img: torch.Tensor) -> list[torch.Tensor]:
    """Return sums with integer weights that keep only their last eight bits before the division."""
    if img.dtype != torch.uint8:
        return []
    whole = (((30, 59, 11), 100), ((77, 150, 29), 256), ((76, 150, 30), 256))
    sums = [(img.long() * torch.tensor(weights)[:, None, None]).sum(dim=0) for weights, _ in whole]
    return [((total % 256) // by).double() for total, (_, by) in zip(sums, whole, strict=True)]


def _weighted_otherwise(evidence: Evidence) -> bool:
    """Return whether some three other weights explain the output."""
    (img,) = evidence.args
    actual = evidence.actual
    if actual is None or actual.numel() < 9 or not bool(actual.isfinite().all()):
        return False
    channels = img.double().reshape(3, -1).T
    if not bool(channels.isfinite().all()):
        return False
    weights = torch.linalg.lstsq(channels, actual.double().reshape(-1, 1)).solution
    far = bool(((weights.flatten() - WEIGHTS).abs() > 1e-3).any())
    return far and looks_like(evidence, (channels @ weights).reshape(actual.shape))


def _channels_side_by_side(img: torch.Tensor) -> list[torch.Tensor]:
    """Return results that look for green and blue, or only blue, one element after a channel."""
    step, *strides = img.stride()
    found = []
    for places in ((0, 1, 2), (0, step, step + 1)):
        planes = each(_plane(img, place, strides) for place in places)
        if len(planes) == 3:
            found.append(grey(torch.stack(planes)))
    return found


def _planes_side_by_side(img: torch.Tensor) -> torch.Tensor | None:
    """Return the result that looks for each channel height * width elements after the last."""
    step, distance = img.stride(0), img.shape[1] * img.shape[2]
    if step == distance:
        return None
    planes = each(_plane(img, k * distance, [*img.stride()[1:]]) for k in range(3))
    return grey(torch.stack(planes)) if len(planes) == 3 else None


def _plane(img: torch.Tensor, place: int, strides: list[int]) -> torch.Tensor | None:
    """Return the plane `place` elements after the red channel, with the picture's strides."""
    size = img.untyped_storage().nbytes() // img.itemsize - img.storage_offset() - place
    line = img.as_strided((max(size, 0),), (1,), img.storage_offset() + place)
    return read_as(line, tuple(img.shape[1:]), tuple(strides))


GREY_MISTAKES = (
    launch_order(
        ("height", "width"),
        ("stride_channel", "stride_row", "stride_col"),
        lambda img: (*img.shape[1:], *img.stride()),
    ),
    Misconception(
        code="channels-swapped",
        title="The channels are in the wrong order",
        message=(
            "The three weights are correct, but the kernel applies them to the wrong channels. "
            "Some libraries store blue first; here channel 0 is red."
        ),
        next_step="0.2989 belongs to channel 0, 0.5870 to channel 1, 0.1140 to channel 2.",
        expected_wrong=computes(
            lambda img: grey(img.flip(0)),
            lambda img: grey(img[[1, 0, 2]]),
            lambda img: grey(img[[0, 2, 1]]),
            lambda img: grey(img[[1, 2, 0]]),
            lambda img: grey(img[[2, 0, 1]]),
        ),
    ),
    Misconception(
        code="plain-average",
        title="The three channels count equally",
        message=("The output is the mean or the sum of red, green and blue, without the weights."),
        next_step="Use 0.2989 red + 0.5870 green + 0.1140 blue.",
        expected_wrong=computes(
            lambda img: img.double().mean(dim=0), lambda img: img.double().sum(dim=0)
        ),
    ),
    Misconception(
        code="one-channel-only",
        title="Only one channel is used",
        message=(
            "The output uses only one channel: the pointers never move by the channel stride, "
            "or the kernel stores one channel instead of the sum."
        ),
        next_step="Green is `stride_channel` elements after red, blue `2 * stride_channel`.",
        expected_wrong=computes(
            lambda img: grey(img[:1].expand_as(img)),
            lambda img: img.double()[0],
            lambda img: img.double()[1],
            lambda img: img.double()[2],
        ),
    ),
    Misconception(
        code="interleaved-assumed",
        places=True,
        title="The kernel assumes interleaved channels",
        message=(
            "The kernel reads red, green and blue of a pixel from neighbouring addresses, as in "
            "a file of shape (h, w, 3). Here the channels are whole planes: (3, h, w)."
        ),
        next_step="Use the three strides of the tensor: channel, row, column.",
        expected_wrong=computes(_interleaved),
    ),
    Misconception(
        code="rounded-too-early",
        title="Each channel is rounded before the sum",
        message=(
            "The kernel converts each weighted channel to an integer before it adds them. That "
            "drops up to three fractions and makes the picture darker."
        ),
        next_step="Convert to float32 first, add the three, and convert once at the store.",
        expected_wrong=computes(
            lambda img: _rounded_too_early(img) if img.dtype == torch.uint8 else None
        ),
    ),
    Misconception(
        code="sum-wraps",
        title="The weighted sum overflows in uint8",
        message=(
            "uint8 times an integer literal is uint8 again: 200 * 59 keeps only its last eight "
            "bits, which are 24. So the sum overflows before the division."
        ),
        next_step="Convert what you load with `.to(tl.float32)`, and multiply by 0.2989 and so on.",
        expected_wrong=computes(_summed_in_uint8),
    ),
    Misconception(
        code="wrong-weights",
        title="The weights of the channels are wrong",
        message=(
            "Every pixel is a weighted sum of its own three channels, but the weights are not "
            "those of the contract. Look for a wrong digit, a missing channel, or a factor such "
            "as 1/255."
        ),
        next_step="Use 0.2989 for red, 0.5870 for green and 0.1140 for blue, and nothing else.",
        detector=_weighted_otherwise,
    ),
    Misconception(
        code="clamped",
        title="The result is clamped to a range",
        message=(
            "The kernel clamps the result, for example to 0 to 255 or to 0 to 1. A picture of "
            "floating-point numbers may have any values, also negative ones."
        ),
        next_step="Remove `tl.minimum`, `tl.maximum` and `tl.clamp`.",
        expected_wrong=computes(
            lambda img: grey(img).clamp(0, 255),
            lambda img: None if img.dtype == torch.uint8 else grey(img).clamp(0, 1),
            lambda img: grey(img).clamp(min=0),
        ),
    ),
    Misconception(
        code="plane-distance-assumed",
        places=True,
        title="The kernel assumes that channels are height times width apart",
        message=(
            "The kernel looks for green `height * width` elements after red. That is correct only "
            "for a contiguous picture; in this view the channels have another distance."
        ),
        next_step=(
            "Pass `img.stride(0)`: green is `stride_channel` elements after red, blue "
            "`2 * stride_channel`."
        ),
        expected_wrong=computes_from_memory(_planes_side_by_side),
    ),
    Misconception(
        code="channel-stride-ignored",
        places=True,
        title="The kernel looks for green and blue next to red",
        message=(
            "The kernel looks for a channel one element after the previous one. Channels are "
            "`img.stride(0)` elements apart, which is 1 only if they are interleaved."
        ),
        next_step="Green is `stride_channel` elements after red, blue `2 * stride_channel`.",
        expected_wrong=computes_from_memory(_channels_side_by_side),
    ),
)

"""Pointers made from integers: find the tensor that an address belongs to.

An address is looked up when it becomes a pointer. Offsets that are added later must stay within
that tensor, so a lane that leaves it is detected even if other memory begins there.
"""

from __future__ import annotations

import numpy as np
import triton.language as tl

from triton_util.interpreter.operations.blocks import Pointer, total
from triton_util.interpreter.operations.formats import Array
from triton_util.interpreter.regions import Region
from triton_util.interpreter.state import Batch


def found(pointer: Pointer, batch: Batch) -> Pointer:
    """The pointer with its tensors; unchanged if a lane is in no tensor."""
    known, owners = resolved(pointer, batch)
    if (owners < 0).any():
        return pointer
    first = int(owners.flat[0])
    if (owners == first).all():
        return Pointer(known.choices[first], known.sum_terms(), pointer.dtype, pointer.shape)
    return known


def resolved(pointer: Pointer, batch: Batch) -> tuple[Pointer, Array]:
    """The pointer as offsets into tensors, and the number of its tensor for each lane, or -1."""
    address = total(pointer.sum_terms())
    owners = np.full(address.shape, -1)
    offsets = np.zeros(address.shape, np.int64)
    regions = tuple(_of_element(region, pointer) for region in _regions(batch))
    for number, region in enumerate(regions):
        end = region.address + region.extent * region.item_bytes
        inside = (owners < 0) & (address >= region.address) & (address < end)
        owners[inside] = number
        offsets[inside] = (address[inside] - region.address) // pointer.item_bytes
    return Pointer(None, (offsets,), pointer.dtype, pointer.shape, owners, regions), owners


def _of_element(region: Region, pointer: Pointer) -> Region:
    element = pointer.get_element_ty()
    return region if region.dtype.scalar == element else region.viewed_as(element)


def _regions(batch: Batch) -> list[Region]:
    """The known whole allocations, then the arguments of the launch."""
    found = []
    for tensor in batch.known_memory() if batch.known_memory is not None else ():
        name = str(tensor.dtype).removeprefix("torch.")
        dtype = getattr(tl, "int1" if name == "bool" else name, tl.uint8)
        found.append(Region("the tensor at this address", tensor, dtype))
    return found + batch.regions

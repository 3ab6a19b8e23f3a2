import torch
import triton
import triton.language as tl

@triton.jit
def grey_kernel(img_ptr, out_ptr, n_pixels, width, sc, sh, sw, BLOCK: tl.constexpr):
    """Numbers the pixels row after row."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n_pixels
    source = img_ptr + (i // width) * sh + (i % width) * sw
    red = tl.load(source, mask=mask)
    green = tl.load(source + sc, mask=mask)
    blue = tl.load(source + sc * 2, mask=mask)
    value = red.to(tl.float32) * 0.2989 + green.to(tl.float32) * 0.5870 + blue.to(tl.float32) * 0.1140
    tl.store(out_ptr + i, value.to(out_ptr.dtype.element_ty), mask=mask)


def rgb2grey(img: torch.Tensor) -> torch.Tensor:
    channels, height, width = img.shape
    assert channels == 3, f"a picture has 3 channels, not {channels}"
    out = torch.empty(height, width, dtype=img.dtype, device=img.device)
    n = height * width
    grey_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](
        img, out, n, width, img.stride(0), img.stride(1), img.stride(2), BLOCK=512
    )
    return out

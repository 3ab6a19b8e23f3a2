"""Returns the logarithm of the softmax."""

import torch
import triton
import triton.language as tl


@triton.jit
def f(x,y,n,a,b,B:tl.constexpr):
    i=tl.program_id(0);j=tl.arange(0,B);v=tl.load(x+i*a+j*b,j<n,-float('inf')).to(tl.float32);e=tl.exp(v-tl.max(v,0));tl.store(y+i*n+j,v-tl.max(v,0)-tl.log(tl.sum(e,0)),j<n)
def softmax(x):
    y=torch.empty(x.shape,dtype=x.dtype,device=x.device);m,n=x.shape
    if m*n:f[m,](x,y,n,*x.stride(),triton.next_power_of_2(n))
    return y

"""Computes in the input dtype instead of float32."""

import torch
import triton
import triton.language as tl


@triton.jit
def f(x,y,n,a,b,B:tl.constexpr):
    i=tl.program_id(0);j=tl.arange(0,B);v=tl.load(x+i*a+j*b,j<n,-float('inf'));e=tl.exp((v-tl.max(v,0)).to(tl.float32)).to(v.dtype);tl.store(y+i*n+j,e/tl.sum(e,0),j<n)
def softmax(x):
    y=torch.empty(x.shape,dtype=x.dtype,device=x.device);m,n=x.shape
    if m*n:f[m,](x,y,n,*x.stride(),triton.next_power_of_2(n))
    return y

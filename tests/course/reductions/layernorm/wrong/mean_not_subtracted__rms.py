"""RMS norm: the mean is not subtracted."""

import torch
import triton
import triton.language as tl


@triton.jit
def f(x,w,b,y,n,s,t,u,v,e,B:tl.constexpr):
    r=tl.program_id(0);j=tl.arange(0,B);k=j<n;a=tl.load(x+r*s+j*t,k,0).to(tl.float32);a=tl.where(k,a,0);tl.store(y+r*n+j,a/tl.sqrt(tl.sum(a*a)/n+e)*tl.load(w+j*u,k)+tl.load(b+j*v,k),k)
def layernorm(x,weight,bias,eps=1e-5):
    y=torch.empty(x.shape,dtype=x.dtype,device=x.device);m,n=x.shape
    if m*n:f[m,](x,weight,bias,y,n,*x.stride(),*weight.stride(),*bias.stride(),eps,triton.next_power_of_2(n))
    return y

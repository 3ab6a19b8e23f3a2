"""Rows and columns counted from one."""

import torch
import triton
import triton.language as tl


@triton.jit
def f(o,R,C,G):
    p=tl.program_id(0);g=p//(G*C)*G;h=tl.minimum(R-g,G);q=p-g*C;tl.store(o+2*p,g+q%h+1);tl.store(o+2*p+1,q//h+1)
def swizzle_ids(n_rows,n_cols,group):
    o=torch.empty(n_rows*n_cols,2,dtype=torch.int32,device='cuda' if torch.cuda.is_available() else 'cpu')
    if len(o):f[len(o),](o,n_rows,n_cols,group)
    return o

"""Rotary position embedding of queries and keys, each head split into halves."""
import torch
import torch.nn as nn


def turn(x, cos, sin):
    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-second, first), dim=-1) * sin


class Model(nn.Module):
    def __init__(self, length, width):
        super().__init__()
        frequencies = 10000.0 ** (-torch.arange(0, width, 2) / width)
        angles = torch.arange(length)[:, None] * frequencies
        angles = torch.cat((angles, angles), dim=-1)
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())

    def forward(self, q, k):
        return turn(q, self.cos, self.sin), turn(k, self.cos, self.sin)


def get_inputs():
    return [torch.randn(2, 16, 1024, 64), torch.randn(2, 4, 1024, 64)]


def get_init_inputs():
    return [1024, 64]

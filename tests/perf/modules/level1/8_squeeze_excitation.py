"""Channels weighted by what their means say."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, channels, reduced):
        super().__init__()
        self.squeeze = nn.Linear(channels, reduced)
        self.excite = nn.Linear(reduced, channels)

    def forward(self, x):
        scale = torch.relu(self.squeeze(x.mean((2, 3))))
        scale = torch.sigmoid(self.excite(scale))
        return x * scale[:, :, None, None]


def get_inputs():
    return [torch.randn(16, 256, 28, 28)]


def get_init_inputs():
    return [256, 16]

"""Expand, depthwise convolution, project, with batch norm by running statistics: the block of mobile vision networks."""
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, channels, factor):
        super().__init__()
        hidden = channels * factor
        self.layers = nn.Sequential(
            nn.Conv2d(channels, hidden, 1, bias=False), nn.BatchNorm2d(hidden), nn.ReLU6(),
            nn.Conv2d(hidden, hidden, 3, padding=1, groups=hidden, bias=False), nn.BatchNorm2d(hidden), nn.ReLU6(),
            nn.Conv2d(hidden, channels, 1, bias=False), nn.BatchNorm2d(channels))
        for layer in self.layers:
            if isinstance(layer, nn.BatchNorm2d):
                layer.running_mean.normal_(0, 0.1)
                layer.running_var.uniform_(0.5, 1.5)
        self.eval()

    def forward(self, x):
        return x + self.layers(x)


def get_inputs():
    return [torch.randn(4, 32, 56, 56)]


def get_init_inputs():
    return [32, 6]

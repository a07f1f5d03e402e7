"""Small modules that use what modules use; each is a file of its own."""

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"


def file(forward, inputs, init="pass", more=""):
    indent = lambda text: text.strip().replace("\n", "\n        ")  # noqa: E731
    return f"""{HEAD}{more}
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        {indent(init)}

    def forward({forward.split(':', 1)[0]}):
        {indent(forward.split(':', 1)[1])}


def get_inputs():
    return {inputs}
"""


TEXTS = {
    "conv_block": file("self, x: return self.pool(F.relu(self.norm(self.conv(x)), inplace=True)).flatten(1)",
                       "[torch.randn(2, 3, 9, 9)]",
                       "self.conv = nn.Conv2d(3, 6, 3, stride=2, padding=1, groups=3)\nself.norm = nn.BatchNorm2d(6)\n"
                       "self.pool = nn.MaxPool2d(2, ceil_mode=True)"),
    "bias_behind_a_scale": file("self, x: return self.norm(self.conv(x) * 2 + 1)", "[torch.randn(2, 3, 6, 6, 6)]",
                                "self.conv = nn.ConvTranspose3d(3, 4, 3, stride=2, output_padding=1)\nself.norm = nn.InstanceNorm3d(4)"),
    "linear_batch_norm": file("self, x: return torch.sigmoid(self.norm(self.linear(x)))", "[torch.randn(6, 5)]",
                              "self.linear = nn.Linear(5, 7)\nself.norm = nn.BatchNorm1d(7)"),
    "evaluation": file("self, x: return self.drop(self.norm(x))", "[torch.rand(3, 4, 5)]",
                       "self.norm = nn.BatchNorm1d(4)\nself.norm.running_mean += 0.3\nself.norm.running_var *= 1.7\n"
                       "self.drop = nn.Dropout(0.5)\nself.eval()"),
    "group_norms": file("self, x: return F.mish(self.a(x)) + F.hardswish(self.b(x)) + F.gelu(self.c(x), approximate='tanh')",
                        "[torch.randn(2, 8, 5)]",
                        "self.a = nn.GroupNorm(2, 8)\nself.b = nn.GroupNorm(8, 8)\nself.c = nn.LayerNorm([8, 5])"),
    "attention_layer": file("self, x: return self.mha(x, x, x, need_weights=False)[0]", "[torch.randn(5, 2, 8)]",
                            "self.mha = nn.MultiheadAttention(8, 2)"),
    "causal_attention": file("""self, x, mask:
q, k, v = self.qkv(x).view(2, 6, 3, 2, 4).permute(2, 0, 3, 1, 4)
a = (q @ k.transpose(-2, -1)) / 2.0
a = a.masked_fill(self.bias[:, :, :6, :6] == 0, float('-inf')).masked_fill(~mask, -1e4)
return (F.softmax(a, dim=-1) @ v).transpose(1, 2).contiguous().view(2, 6, 8)""",
                             "[torch.randn(2, 6, 8), torch.rand(2, 1, 6, 6) > 0.3]",
                             "self.qkv = nn.Linear(8, 24)\n"
                             "self.register_buffer('bias', torch.tril(torch.ones(8, 8)).view(1, 1, 8, 8))"),
    "scaled_dot_product": file("self, q, k, v: return F.scaled_dot_product_attention(q, k, v, is_causal=True)",
                               "[torch.randn(2, 2, 5, 4), torch.randn(2, 2, 5, 4), torch.randn(2, 2, 5, 4)]"),
    "lstm": file("self, x: y, (h, c) = self.lstm(x); return self.head(y[:, -1]), h, c", "[torch.randn(3, 4, 5)]",
                 "self.lstm = nn.LSTM(5, 6, num_layers=2, batch_first=True, bidirectional=True)\nself.head = nn.Linear(12, 3)"),
    "gru": file("self, x, h: return self.gru(x, h)", "[torch.randn(4, 2, 5), torch.randn(2, 2, 6)]",
                "self.gru = nn.GRU(5, 6, num_layers=2)"),
    "rnn_by_hand": file("""self, x:
h, out = torch.zeros(2, 6), []
for t in range(x.size(0)):
    h = torch.tanh(self.cell(torch.cat((x[t], h), dim=1)))
    out.append(h)
return torch.stack(out, dim=0)""", "[torch.randn(3, 2, 5)]", "self.cell = nn.Linear(11, 6)"),
    "tuples": file("""self, x:
m, i = torch.max(x, dim=1)
s, j = x.sort(dim=1) if False else torch.topk(x, 2, dim=-1)
a, b = x.chunk(2, dim=1)
return {'m': m, 'i': i, 'parts': (a * b, torch.min(x, dim=0, keepdim=True).values, s)}, x.var(dim=1), torch.min(a, b)""",
                   "[torch.randn(4, 6)]"),
    "in_place": file("""self, x, y:
x = x.clone()
x += y
x[:, 0] = 1.0
x[1:3] = y[1:3] * 2
x.mul_(0.5).clamp_(min=-1)
return x.masked_fill(x > 0.4, 0.25)""", "[torch.randn(4, 6), torch.randn(4, 6)]"),
    "embedding_loss": file("self, i, t: return F.cross_entropy(self.head(self.table(i)).flatten(0, 1), t, label_smoothing=0.1)",
                           "[torch.randint(0, 9, (3, 4)), torch.randint(0, 5, (12,))]",
                           "self.table = nn.Embedding(9, 6)\nself.head = nn.Linear(6, 5)"),
    "index_by_buffer": file("self, x: return x + self.bias[self.where.view(-1)].view(3, 3)", "[torch.randn(2, 3, 3)]",
                            "self.bias = nn.Parameter(torch.randn(5))\n"
                            "self.register_buffer('where', torch.tensor([[0, 1, 2], [1, 2, 3], [2, 3, 4]]))"),
    "shapes": file("""self, x:
y = x.permute(0, 2, 1).reshape(2, -1).unsqueeze(1).expand(-1, 3, -1)
z = F.pad(torch.roll(y, (1, -2), dims=(1, 2)), (1, 2, 0, 1), value=0.5).squeeze()
u = torch.stack([z.flip(1), z.narrow(1, 0, z.shape[1])], dim=-1)
return u.unbind(-1)[0][..., ::2], torch.einsum('bij,bkj->bik', x, x), torch.tril(x @ x.mT, -1), x.repeat(1, 2, 1).T.shape[0] * x""",
                   "[torch.randn(2, 3, 4)]"),
    "constants": file("self, x: return x * self.scale + torch.arange(4, device=x.device) - torch.tensor([1.0, 2.0, 3.0, 4.0]) * "
                      "torch.tensor(0.5) + torch.ones_like(x).cumsum(1) + self.step.item()", "[torch.randn(3, 4)]",
                      "self.scale = torch.linspace(0, 1, 4)\nself.register_buffer('step', torch.tensor(3.0))"),
    "shared_weights": file("self, x: return self.b(torch.relu(self.a(x)))", "[torch.randn(3, 4)]",
                           "self.a = nn.Linear(4, 4)\nself.b = nn.Linear(4, 4)\nself.b.weight = self.a.weight"),
    "half": file("self, x: return F.softmax(self.linear(x), dim=-1).float().sum(-1)", "[torch.randn(4, 8).to(torch.bfloat16)]",
                 "self.linear = nn.Linear(8, 8).to(torch.bfloat16)"),
    "numbers": file("self, x, a, n: return x ** n * a + 2 / (x * x + 1) - (3 - x) + (-x).abs().pow(0.5)", "[torch.randn(3, 4), 1.5, 2]"),
    "dead_code": file("self, x: y = self.unused(x); return torch.logsumexp(x, dim=1)", "[torch.randn(3, 4)]",
                      "self.unused = nn.Linear(4, 9)"),
    "scans": file("self, x, m: return torch.cumsum(x * m, dim=1), torch.cumsum(x.flip(1), dim=1).flip(1), torch.cumprod(x, dim=0), "
                  "torch.cat((torch.zeros_like(x.select(1, 0).unsqueeze(1)), torch.cumsum(x.narrow(1, 0, 4), dim=1)), dim=1)",
                  "[torch.rand(4, 5), torch.rand(4, 5) > 0.5]"),
    "pools": file("self, x: return F.avg_pool2d(x, 3, 2, 1), F.adaptive_avg_pool2d(x, (2, None)), F.max_pool2d(x, 3, 1, 1), "
                  "F.adaptive_max_pool2d(x, 3), F.interpolate(x, scale_factor=2)", "[torch.randn(2, 3, 7, 6)]"),
    "losses": file("self, x, y, t: return F.smooth_l1_loss(x, y), F.kl_div(torch.log(t), t.flip(0), reduction='batchmean'), "
                   "F.triplet_margin_loss(x, y, t), F.cosine_similarity(x, y), torch.norm(x, p='fro'), F.normalize(x, dim=1)",
                   "[torch.randn(4, 6), torch.randn(4, 6), torch.rand(4, 6).softmax(-1)]"),
}

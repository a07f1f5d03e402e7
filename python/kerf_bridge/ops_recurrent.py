"""Recurrent layers, unrolled step by step: every step is statements of the task."""

from .graph import Value, call
from .table import Described, need, operator

LONGEST = 900  # steps times layers and directions: about 20 nodes each, and a task has 20000 at most


class Unrolled:
    """Texts of results that need values between them: `steps` are added to the graph first, in order."""

    def __init__(self):
        self.steps = []   # (value that has no number of the graph yet, text, flops)
        self.results = []

    def let(self, text, shape, dtype, flops=0):
        """A new value; what it gives can stand in later texts."""
        unnumbered = Value(-1 - len(self.steps), shape, dtype)
        self.steps.append((unnumbered, text, flops))
        return unnumbered


def cell_lstm(u, x, state, weights, hidden, dtype):
    h, c = state
    w_ih, w_hh, b_ih, b_hh = weights
    batch = h.shape[0]
    gates = u.let(f"{x} + {linear(h, w_hh, b_hh)}", (batch, 4 * hidden), dtype, 2 * batch * hidden * 4 * hidden)
    part = lambda i: f"narrow({gates}, 1, {i * hidden}, {hidden})"  # noqa: E731
    c = u.let(f"sigmoid({part(1)}) * {c} + sigmoid({part(0)}) * tanh({part(2)})", (batch, hidden), dtype)
    h = u.let(f"sigmoid({part(3)}) * tanh({c})", (batch, hidden), dtype)
    return h, (h, c)


def cell_gru(u, x, state, weights, hidden, dtype):
    h = state[0]
    w_ih, w_hh, b_ih, b_hh = weights
    batch = h.shape[0]
    mine = u.let(linear(h, w_hh, b_hh), (batch, 3 * hidden), dtype, 2 * batch * hidden * 3 * hidden)
    part = lambda v, i: f"narrow({v}, 1, {i * hidden}, {hidden})"  # noqa: E731
    reset = f"sigmoid({part(x, 0)} + {part(mine, 0)})"
    update = u.let(f"sigmoid({part(x, 1)} + {part(mine, 1)})", (batch, hidden), dtype)
    new = u.let(f"tanh({part(x, 2)} + {reset} * {part(mine, 2)})", (batch, hidden), dtype)
    h = u.let(f"{new} + {update} * ({h} - {new})", (batch, hidden), dtype)
    return h, (h,)


def cell_plain(function):
    def cell(u, x, state, weights, hidden, dtype):
        h = state[0]
        w_ih, w_hh, b_ih, b_hh = weights
        batch = h.shape[0]
        h = u.let(f"{function}({x} + {linear(h, w_hh, b_hh)})", (batch, hidden), dtype, 2 * batch * hidden * hidden)
        return h, (h,)
    return cell


def linear(x, weight, bias):
    return call("linear", x, weight, bias) if bias is not None else call("linear", x, weight)


def run(cell, gates, input, states, params, has_biases, layers, bidirectional, batch_first):
    need(input.rank == 3, "a recurrent layer on a sequence without a batch axis")
    time = 1 if batch_first else 0
    steps = input.shape[time]
    directions = 2 if bidirectional else 1
    need(steps * layers * directions <= LONGEST,
         f"a recurrence of {steps} steps in {layers * directions} layers is too long to be unrolled")
    u, dtype, batch = Unrolled(), input.dtype, input.shape[1 - time]
    each = 4 if has_biases else 2
    hidden = params[1].shape[1]
    sequence, ends = input, [[] for _ in states]
    for layer in range(layers):
        halves = []
        for direction in range(directions):
            at = layer * directions + direction
            weights = list(params[at * each:(at + 1) * each]) + ([] if has_biases else [None, None])
            # The inputs of all steps at once.
            shape = (batch, steps, gates * hidden) if time == 1 else (steps, batch, gates * hidden)
            ready = u.let(linear(sequence, weights[0], weights[2]), shape, dtype, 2 * batch * steps * weights[0].elements)
            state = tuple(u.let(f"select({s}, 0, {at})", (batch, hidden), dtype) for s in states)
            outputs = [None] * steps
            for step in range(steps) if direction == 0 else reversed(range(steps)):
                now = u.let(f"select({ready}, {time}, {step})", (batch, gates * hidden), dtype)
                outputs[step], state = cell(u, now, state, weights, hidden, dtype)
            halves.append(u.let(f"stack({outputs}, axis={time})", shape[:2] + (hidden,), dtype))
            for kept, one in zip(ends, state):
                kept.append(one)
        sequence = halves[0] if directions == 1 else u.let(f"cat({halves}, axis=2)", shape[:2] + (2 * hidden,), dtype)
    u.results = [str(Described(f"clone({sequence})").text)] + [f"stack({one}, axis=0)" for one in ends]
    return u


@operator("lstm")
def lstm(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    need(isinstance(hx, (list, tuple)) and isinstance(has_biases, bool), "packed sequences")
    need(dropout == 0 or not train or num_layers == 1, "dropout between layers")
    need(params[1].shape[1] * 4 == params[1].shape[0], "projections")
    return run(cell_lstm, 4, input, list(hx), params, has_biases, num_layers, bidirectional, batch_first)


@operator("gru")
def gru(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    need(isinstance(hx, Value) and isinstance(has_biases, bool), "packed sequences")
    need(dropout == 0 or not train or num_layers == 1, "dropout between layers")
    return run(cell_gru, 3, input, [hx], params, has_biases, num_layers, bidirectional, batch_first)


def plain(function):
    def text(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
        need(isinstance(hx, Value) and isinstance(has_biases, bool), "packed sequences")
        need(dropout == 0 or not train or num_layers == 1, "dropout between layers")
        return run(cell_plain(function), 1, input, [hx], params, has_biases, num_layers, bidirectional, batch_first)
    return text


operator("rnn_tanh")(plain("tanh"))
operator("rnn_relu")(plain("relu"))

#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A small training job, by PyTorch's DistributedDataParallel over Gloo. One rank of it:

    ddp.py RANK RANKS ADDRESS-OF-RANK-0 STEPS

or, as `ddp.py alone RANKS - STEPS`, the same job in one process, which averages the gradients of all ranks itself.

Prints `step N` as it goes on; at the end the mean loss of the last step and the sum of all weights, as exact numbers.
They depend on RANKS and STEPS alone, if the network is right.
"""
import os
import sys

import torch
import torch.distributed as dist
from torch import nn

BATCH, INPUTS, HIDDEN, OUTPUTS = 32, 64, 512, 8


def network() -> nn.Module:
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(INPUTS, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, OUTPUTS))


class Examples:
    """Those of one rank."""

    def __init__(self, rank: int) -> None:
        self._random = torch.Generator().manual_seed(100 + rank)
        self._teacher = torch.randn(INPUTS, OUTPUTS, generator=torch.Generator().manual_seed(7))

    def loss(self, model: nn.Module) -> torch.Tensor:
        x = torch.randn(BATCH, INPUTS, generator=self._random)
        return nn.functional.mse_loss(model(x), torch.sin(x @ self._teacher))


def train(model: nn.Module, steps: int, loss_of_step) -> float:
    """The last step's loss. `loss_of_step()` leaves the gradients with the parameters."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for step in range(1, steps + 1):
        optimizer.zero_grad()
        loss = loss_of_step()
        optimizer.step()
        if step % 10 == 0 or step == steps:
            print('step', step, flush=True)
    return loss


def end(loss: float, model: nn.Module) -> None:
    weights = sum(float(p.double().sum()) for p in model.parameters())
    print('loss', loss.hex(), 'weights', weights.hex(), flush=True)


def as_one_rank(rank: int, ranks: int, first: str, steps: int) -> None:
    os.environ.update(MASTER_ADDR=first, MASTER_PORT='29500')
    dist.init_process_group('gloo', rank=rank, world_size=ranks)
    model = nn.parallel.DistributedDataParallel(network())
    examples = Examples(rank)

    def loss_of_step() -> torch.Tensor:
        loss = examples.loss(model)
        loss.backward()
        return loss.detach()

    loss = train(model, steps, loss_of_step)
    dist.all_reduce(loss)
    end(float(loss) / ranks, model)
    sys.stdout.flush()
    os._exit(0)  # PyTorch 1.13 now and then stands still in the end of a process group, or of the interpreter behind it


def alone(ranks: int, steps: int) -> None:
    model = network()
    of_ranks = [Examples(rank) for rank in range(ranks)]

    def loss_of_step() -> float:
        loss = sum(examples.loss(model) for examples in of_ranks) / ranks
        loss.backward()
        return float(loss.detach())

    end(train(model, steps, loss_of_step), model)


torch.set_num_threads(1)
if sys.argv[1] == 'alone':
    alone(int(sys.argv[2]), int(sys.argv[4]))
else:
    as_one_rank(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4]))

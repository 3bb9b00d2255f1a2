"""Deep Q-learning on a line of cells: replay memory, a target network followed softly, epsilon-greedy choice, Huber loss."""

import math
import random
from collections import deque, namedtuple

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from common import options, report

Transition = namedtuple("Transition", ("state", "action", "next_state", "reward"))


class Memory:
    def __init__(self, capacity):
        self.memory = deque([], maxlen=capacity)

    def push(self, *args):
        self.memory.append(Transition(*args))

    def sample(self, batch_size):
        return random.sample(self.memory, batch_size)

    def __len__(self):
        return len(self.memory)


class Q(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer1, self.layer2, self.layer3 = nn.Linear(2, 24), nn.Linear(24, 24), nn.Linear(24, 2)

    def forward(self, x):
        return self.layer3(F.relu(self.layer2(F.relu(self.layer1(x)))))


BATCH, GAMMA, TAU = 16, 0.9, 0.05
opt = options(__doc__)
random.seed(opt.seed)
policy, target = Q(), Q()
target.load_state_dict(policy.state_dict())
optimizer = optim.AdamW(policy.parameters(), lr=1e-2, amsgrad=True)
memory = Memory(500)
steps_done = 0


def select(state):
    global steps_done
    epsilon = 0.05 + 0.85 * math.exp(-steps_done / 50)
    steps_done += 1
    if random.random() > epsilon:
        with torch.no_grad():
            return policy(state).max(1).indices.view(1, 1)
    return torch.tensor([[random.randrange(2)]], dtype=torch.long)


def optimize():
    batch = Transition(*zip(*memory.sample(BATCH)))
    going = torch.tensor(tuple(s is not None for s in batch.next_state), dtype=torch.bool)
    next_states = torch.cat([s for s in batch.next_state if s is not None])
    values = policy(torch.cat(batch.state)).gather(1, torch.cat(batch.action))
    next_values = torch.zeros(BATCH)
    with torch.no_grad():
        next_values[going] = target(next_states).max(1).values
    expected = next_values * GAMMA + torch.cat(batch.reward)
    loss = nn.SmoothL1Loss()(values, expected.unsqueeze(1))
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_value_(policy.parameters(), 100)
    optimizer.step()
    return loss


done = 0
while done < opt.steps:
    place, state = 2, torch.tensor([[2.0, 0.0]])
    for move in range(20):
        action = select(state)
        place += 1 if action.item() else -1
        over = place in (0, 5)
        reward = torch.tensor([1.0 if place == 5 else -0.1])
        following = None if over else torch.tensor([[float(place), move / 20]])
        memory.push(state, action, following, reward)
        state = following
        if len(memory) >= BATCH and done < opt.steps:
            report(optimize())
            done += 1
        theirs, ours = target.state_dict(), policy.state_dict()
        for key in ours:
            theirs[key] = ours[key] * TAU + theirs[key] * (1 - TAU)
        target.load_state_dict(theirs)
        if over:
            break

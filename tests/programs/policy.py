"""REINFORCE with a baseline on a small world: a cart to be held between two walls against the wind."""

import torch
import torch.nn as nn
from common import options, report
from torch.distributions import Categorical


class Cart:
    """Position and velocity; the three actions push left, not at all, right. Ends at a wall or after 20 moves."""

    def reset(self):
        self.place, self.speed, self.moves = 0.0, 0.0, 0
        return [self.place, self.speed]

    def step(self, action):
        self.speed = 0.9 * self.speed + 0.1 * (action - 1) + 0.04
        self.place += self.speed
        self.moves += 1
        done = abs(self.place) > 1 or self.moves == 20
        return [self.place, self.speed], 1.0 - self.place**2, done


opt = options(__doc__)
policy = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 3))
value = nn.Linear(2, 1)
optimizer = torch.optim.SGD([{"params": policy.parameters()}, {"params": value.parameters(), "lr": 0.05}], lr=0.02)
cart = Cart()
for _ in range(opt.steps):
    state, done = cart.reset(), False
    log_probs, rewards, states, entropies = [], [], [], []
    while not done:
        states.append(state)
        choice = Categorical(logits=policy(torch.tensor(state)))
        action = choice.sample()
        log_probs.append(choice.log_prob(action))
        entropies.append(choice.entropy())
        state, reward, done = cart.step(action.item())
        rewards.append(reward)
    returns, total = [], 0.0
    for reward in reversed(rewards):
        total = reward + 0.95 * total
        returns.insert(0, total)
    returns = torch.tensor(returns)
    baseline = value(torch.tensor(states)).squeeze(1)
    advantage = returns - baseline.detach()
    loss = -(torch.stack(log_probs) * advantage).mean() - 0.01 * torch.stack(entropies).mean()
    loss = loss + nn.functional.mse_loss(baseline, returns)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    report(loss)

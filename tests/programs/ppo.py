"""Proximal policy optimisation with a Gaussian policy on a point to be kept at the origin."""

import torch
import torch.nn as nn
from common import options, report
from torch.distributions import Normal


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(self.layer(nn.Linear(2, 16)), nn.Tanh())
        self.actor, self.critic = self.layer(nn.Linear(16, 1), 0.01), self.layer(nn.Linear(16, 1), 1.0)
        self.log_std = nn.Parameter(torch.zeros(1))

    @staticmethod
    def layer(layer, std=2**0.5):
        nn.init.orthogonal_(layer.weight, std)
        nn.init.constant_(layer.bias, 0.0)
        return layer

    def forward(self, x):
        h = self.body(x)
        mean = self.actor(h)
        return Normal(mean, self.log_std.exp().expand_as(mean)), self.critic(h).squeeze(-1)


opt = options(__doc__)
net = ActorCritic()
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3, eps=1e-5)
for _ in range(max(2, opt.steps // 5)):
    state = torch.randn(8, 2)
    states, actions, log_probs, rewards, values = [], [], [], [], []
    with torch.no_grad():
        for _ in range(6):
            policy, value = net(state)
            action = policy.sample()
            states.append(state)
            actions.append(action)
            log_probs.append(policy.log_prob(action).sum(-1))
            values.append(value)
            state = torch.stack([state[:, 0] + 0.2 * state[:, 1], state[:, 1] + 0.2 * action[:, 0].clamp(-1, 1)], dim=1)
            rewards.append(-(state**2).sum(1))
        last = net(state)[1]
        advantages, gain = [], torch.zeros(8)
        for t in reversed(range(6)):
            following = last if t == 5 else values[t + 1]
            delta = rewards[t] + 0.9 * following - values[t]
            gain = delta + 0.9 * 0.95 * gain
            advantages.insert(0, gain)
    s, a, old, adv, v = (torch.cat(z) for z in (states, actions, log_probs, advantages, values))
    returns = adv + v
    adv = (adv - adv.mean()) / (adv.std() + 1e-8)
    for _ in range(2):
        for index in torch.randperm(48).split(24):
            policy, value = net(s[index])
            ratio = (policy.log_prob(a[index]).sum(-1) - old[index]).exp()
            surrogate = torch.min(ratio * adv[index], torch.clamp(ratio, 0.8, 1.2) * adv[index])
            loss = -surrogate.mean() + 0.5 * nn.functional.mse_loss(value, returns[index]) - 0.01 * policy.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 0.5)
            optimizer.step()
            report(loss)

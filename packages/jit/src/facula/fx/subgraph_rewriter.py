"""replace_pattern: find where a graph does what a pattern does, and let it do something else."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, NamedTuple

from facula.nn import Module

from ._names import resolve
from ._symbolic_trace import symbolic_trace
from .graph import Graph
from .graph_module import GraphModule, _assign_path
from .node import Node, map_arg

__all__ = ["Match", "ReplacedPatterns", "replace_pattern", "replace_pattern_with_filters"]


class Match(NamedTuple):
    """Where a pattern was: the node that gives its result, and pattern node -> node.

    >>> traced = facula.fx.symbolic_trace(lambda x: x.relu() + 1)
    >>> matches = facula.fx.replace_pattern(traced, lambda x: x.relu(), lambda x: x.tanh())
    >>> matches[0].anchor.target
    'relu'
    """

    anchor: Node
    nodes_map: dict[Node, Node]


@dataclass
class ReplacedPatterns:
    """A Match, and the nodes that stand in its place.

    >>> from facula.fx.subgraph_rewriter import replace_pattern_with_filters
    >>> traced = facula.fx.symbolic_trace(lambda x: x.relu() + 1)
    >>> made = replace_pattern_with_filters(traced, lambda x: x.relu(), lambda x: x.tanh())
    >>> [node.target for node in made[0].replacements]
    ['tanh']
    """

    anchor: Node
    nodes_map: dict[Node, Node]
    replacements: list[Node] = field(default_factory=list)


@dataclass
class InternalMatch:
    """Where a pattern is, as filters see it."""

    anchors: list[Node]
    nodes_map: dict[Node, Any] = field(default_factory=dict)
    placeholder_nodes: list[Any] = field(default_factory=list)
    returning_nodes: list[Node] = field(default_factory=list)


class _Matcher:
    def __init__(self, pattern: Graph, ignore_literals: bool) -> None:
        self.pattern, self.ignore_literals = pattern, ignore_literals
        self.placeholders = [n for n in pattern.nodes if n.op == "placeholder"]
        self.returning = pattern.output_node().all_input_nodes
        if not self.returning:
            raise ValueError("replace_pattern: the pattern returns no value that it computes. Return one.")

    def matches(self, graph: Graph) -> list[InternalMatch]:
        """Those that share no node, later ones of the graph last."""
        found: list[InternalMatch] = []
        taken: set[Node] = set()
        for node in graph.nodes:
            match = self._at(node, graph)
            if match is None:
                continue
            inner = {n for p, n in match.nodes_map.items() if p.op not in ("placeholder", "output") and isinstance(n, Node)}
            if inner & taken or not self._closed(match, inner):
                continue
            taken |= inner
            found.append(match)
        return found

    def _at(self, node: Node, graph: Graph) -> InternalMatch | None:
        nodes: dict[Node, Any] = {}
        first, *others = self.returning
        if first.op == "placeholder" or not self._match(first, node, nodes):
            return None
        for other in others:  # further results: any node that goes with what is matched
            if other in nodes:
                continue
            for candidate in graph.nodes:
                trial = dict(nodes)
                if self._match(other, candidate, trial):
                    nodes = trial
                    break
            else:
                return None
        for p in self.placeholders:  # an argument that the pattern does not use
            nodes.setdefault(p, None)
        returning = [nodes[r] for r in self.returning]
        return InternalMatch([node], nodes, [nodes[p] for p in self.placeholders], returning)

    def _closed(self, match: InternalMatch, inner: set[Node]) -> bool:
        """Does nobody else use what is computed on the way?"""
        returned = set(match.returning_nodes)
        return all(user in inner for n in inner - returned for user in n.users)

    def _match(self, p: Node, n: Any, nodes: dict[Node, Any]) -> bool:
        if p in nodes:
            return nodes[p] is n or not isinstance(n, Node) and type(nodes[p]) is type(n) and nodes[p] == n
        if p.op == "placeholder":
            if not isinstance(n, Node) and not self.ignore_literals:
                return False
            nodes[p] = n
            return True
        if not isinstance(n, Node) or n.op != p.op or not self._same_target(p, n):
            return False
        if len(p.args) != len(n.args) or p.kwargs.keys() != n.kwargs.keys():
            return False
        nodes[p] = n
        if all(self._same(a, b, nodes) for a, b in zip(p.args, n.args)) and all(self._same(a, n.kwargs[k], nodes) for k, a in p.kwargs.items()):
            return True
        del nodes[p]
        return False

    def _same_target(self, p: Node, n: Node) -> bool:
        if p.op == "get_attr" or p.op == "call_module":
            if p.op == "call_module" and p.graph.owning_module is not None and n.graph.owning_module is not None:
                return type(resolve(p.target, p.graph.owning_module)) is type(resolve(n.target, n.graph.owning_module))
            return p.target.rpartition(".")[2] == n.target.rpartition(".")[2]
        return p.target == n.target

    def _same(self, a: Any, b: Any, nodes: dict[Node, Any]) -> bool:
        if isinstance(a, Node):
            return self._match(a, b, nodes)
        if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
            return len(a) == len(b) and all(self._same(x, y, nodes) for x, y in zip(a, b))
        if isinstance(a, dict) and isinstance(b, dict):
            return a.keys() == b.keys() and all(self._same(a[k], b[k], nodes) for k in a)
        if isinstance(a, slice) and isinstance(b, slice):
            return all(self._same(x, y, nodes) for x, y in ((a.start, b.start), (a.stop, b.stop), (a.step, b.step)))
        if isinstance(b, Node):
            return False
        return self.ignore_literals or type(a) is type(b) and a == b


def replace_pattern(gm: GraphModule, pattern: Callable | GraphModule, replacement: Callable | GraphModule) -> list[Match]:
    """Replace what computes `pattern` in gm by what computes `replacement`: both functions of as many arguments.

    >>> import facula
    >>> from facula import fx
    >>> net = fx.symbolic_trace(lambda x, y: facula.relu(x + y))
    >>> _ = fx.replace_pattern(net, lambda a, b: a + b, lambda a, b: a * b)
    >>> net(facula.tensor(3.0), facula.tensor(-4.0))
    tensor(0.)
    """
    return [Match(m.anchor, m.nodes_map) for m in replace_pattern_with_filters(gm, pattern, replacement)]


def replace_pattern_with_filters(
    gm: GraphModule, pattern: Callable | Graph | GraphModule, replacement: Callable | Graph | GraphModule | None = None,
    match_filters: list[Callable[[InternalMatch, Graph, Graph], bool]] | None = None, ignore_literals: bool = False,
    replacement_callback: Callable[[InternalMatch, Graph, Graph], Graph] | None = None,
) -> list[ReplacedPatterns]:  # fmt: skip
    """replace_pattern, for those matches for which every filter is true; a callback may say what to put in each place.

    >>> from facula.fx.subgraph_rewriter import replace_pattern_with_filters
    >>> traced = facula.fx.symbolic_trace(lambda x: x.relu() + 1)
    >>> made = replace_pattern_with_filters(traced, lambda x: x.relu(), lambda x: x.tanh())
    >>> traced(facula.zeros(1))
    tensor([1.])
    """
    wanted = _graph(pattern)
    given = None if replacement is None else _graph(replacement)
    if given is None and replacement_callback is None:
        raise AssertionError("replace_pattern_with_filters: give a replacement or a replacement_callback.")
    graph = gm.graph
    found = _Matcher(wanted, ignore_literals).matches(graph)
    found = [m for m in found if all(f(m, graph, wanted) for f in match_filters or ())]
    done: list[ReplacedPatterns] = []
    moved: dict[Node, Node] = {}
    for match in found:
        new = replacement_callback(match, graph, wanted) if replacement_callback is not None else given
        assert new is not None
        done.append(_replace(graph, wanted, match, new, moved))
    gm.recompile()
    if isinstance(replacement, Module):
        _take_attributes(gm, replacement)
    return done


def _graph(program: Callable | Graph | GraphModule) -> Graph:
    if isinstance(program, Graph):
        return program
    return program.graph if isinstance(program, GraphModule) else symbolic_trace(program).graph


def _replace(graph: Graph, pattern: Graph, match: InternalMatch, new: Graph, moved: dict[Node, Node]) -> ReplacedPatterns:
    now = {p: moved.get(n, n) if isinstance(n, Node) else n for p, n in match.nodes_map.items()}
    placeholders = [n for n in new.nodes if n.op == "placeholder"]
    given = [now[p] for p in pattern.nodes if p.op == "placeholder"]
    if len(placeholders) != len(given):
        raise AssertionError(f"replace_pattern: the pattern takes {len(given)} arguments, its replacement {len(placeholders)}. Give both the same.")
    values: dict[Node, Any] = dict(zip(placeholders, given))
    inner = [n for n in graph.nodes if any(n is m for p, m in match.nodes_map.items() if p.op != "placeholder")]
    # Before whoever first reads a result, as in PyTorch: a replacement need not come before what ran between the matched nodes.
    readers = {user for n in match.returning_nodes for user in n.users} - set(inner)
    at = next((n for n in graph.nodes if n in readers), inner[-1])
    before = set(graph.nodes)
    with graph.inserting_before(at):
        result = graph.graph_copy(new, values)
    fresh = [n for n in graph.nodes if n not in before]
    results = [n for n in _leaves(result)]
    if len(results) != len(match.returning_nodes):
        raise AssertionError(f"replace_pattern: the pattern returns {len(match.returning_nodes)} values, its replacement {len(results)}. Return as many.")
    for old, made in zip(match.returning_nodes, results):
        old.replace_all_uses_with(made)
        moved[old] = made
    for node in reversed(inner):
        if not node.users:
            graph.erase_node(node)
    return ReplacedPatterns(match.anchors[0], match.nodes_map, fresh)


def _leaves(result: Any) -> list[Node]:
    found: dict[Node, None] = {}
    map_arg(result, lambda n: found.setdefault(n))
    return list(found)


def _take_attributes(gm: GraphModule, replacement: Module) -> None:
    """Parameters and modules that the new nodes name come from the replacement."""
    for node in gm.graph.nodes:
        if node.op not in ("call_module", "get_attr"):
            continue
        try:
            resolve(node.target, gm)
        except RuntimeError:
            _assign_path(resolve(node.target, replacement), gm, node.target)
    gm.delete_all_unused_submodules()
    gm.graph.lint()

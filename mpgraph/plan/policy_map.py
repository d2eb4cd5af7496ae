"""From a Plan back to a policy: the map whose rules ask for what was decided."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from mpgraph.errors import PolicyError
from mpgraph.plan.plan import Assignment, Plan
from mpgraph.policy import DTypePolicy, PolicyMap, Rule, compile_condition, parse_policy
from mpgraph.policy.grammar import SEPARATOR

__all__ = ["policy_map_of_plan"]

K = TypeVar("K", bound=Hashable)
_MAIN = "main"
_WIDE = "float32"
_LOW = frozenset({"float16", "bfloat16"})
_DECIDED = frozenset({"numerics", "rule", "target"})
"""The stages whose reasons are worth a rule although the default would do the same."""

_FOLDED = frozenset({"Add", "BatchNormalization", "Div", "Mul", "Sub"})
_PATTERN_CHARACTERS = frozenset("*?[")
_REASONS_AT_MOST = 2


@dataclass(frozen=True)
class _Wish:
    """What one node is to be given.

    Attributes:
        node: Its assignment.
        policy: The name of the policy that a rule must ask for.
        needed: Whether it takes a rule: the default alone gives something else, or gives no reason.
    """

    node: Assignment
    policy: str
    needed: bool


def policy_map_of_plan(plan: Plan, left_float: Collection[str] = ()) -> PolicyMap:
    """Return a map with which the planned model, converted without data, gets the same dtypes.

    That holds for every node, with the target and the options of the plan; what is cast between
    nodes follows. The default is float32 where the interface of the model is kept. Rules are for
    operators, modules, and names, whatever says it shortly and still exactly; a node without a name
    of its own is selected by its place, by a rule that may match nothing, since places are those of
    the prepared model. The reasons of the plan become those of the rules.

    A plan that scales ranges gives a map that does; that takes the data again, and so do static
    ranges of quantization. Nodes keep the quantization modes that they had been given.

    Not given again are the bodies of a function that rules made several of: a plan does not say
    which call has which.

    Args:
        plan: The plan.
        left_float: Keys of nodes that a mode was meant for and that stayed float: a rule for such a
            node has no mode, since what a rule asks for is quantized at any cost.

    Raises:
        PolicyError: A node has a mode of one's own, whose name does not tell its content.
    """
    planned = _planned_policy(plan)
    default = _default(plan, planned)
    float_places = frozenset(left_float)
    wishes = [
        _wish(one, planned, default, one.key in float_places)
        for one in plan.assignments
        if one.op_type
    ]
    # Nodes that were folded into others are in no plan, and a rule for their operator would keep
    # them from being folded again.
    known_by_name = _FOLDED if default.mode is not None else frozenset()
    rules, left = _operator_rules(wishes, known_by_name)
    steps = [_operator_in_module_rules, _name_rules]
    # The rule of a module may also select a node that holds a body or calls a function, and would
    # then hold for what is in there.
    if all(_graph(wish.node) == _MAIN for wish in wishes):
        steps.insert(0, _module_rules)
    order = {id(wish): position for position, wish in enumerate(wishes)}
    for step in steps:
        left.sort(key=lambda wish: order[id(wish)])
        further, left = step(wishes, left)
        rules += further
    rules += _place_rules(left)
    # For bfloat16 the opset may have been raised, but rules are held against the model as given.
    if any("bfloat16" in (wish.node.dtype, wish.node.stored) for wish in wishes):
        rules = [replace(rule, optional=True) for rule in rules]
    return PolicyMap(default, rules, range_scaling=bool(plan.scaling))


def _planned_policy(plan: Plan) -> DTypePolicy:
    """The default policy of the plan; float32 where it was built by hand and has no name."""
    try:
        return parse_policy(plan.policy.partition(" with ")[0])
    except PolicyError:
        return parse_policy(_WIDE)


def _default(plan: Plan, planned: DTypePolicy) -> DTypePolicy:
    """The policy of graph inputs and outputs, for which there are no rules."""
    is_low = any(one.dtype in _LOW and _is_interface(one) for one in plan.assignments)
    if is_low and not plan.keep_io_types:
        return planned
    return parse_policy(_with_mode(_mode(planned), _WIDE))


def _graph(one: Assignment) -> str:
    return one.key.rpartition("#")[0]


def _is_interface(one: Assignment) -> bool:
    return one.key.startswith(("input ", "output "))


def _wish(one: Assignment, planned: DTypePolicy, default: DTypePolicy, left_float: bool) -> _Wish:
    # What the target widened is asked for again, so that its constants are stored as they were.
    dtype = one.stored if one.stage == "target" else one.dtype
    source = _source(planned)
    name = source if dtype == planned.compute_dtype else dtype
    by_default = (
        _source(default) == _WIDE and dtype == _by_default(one) and one.mode == _mode(default)
    )
    return _Wish(
        one,
        _with_mode("" if left_float else one.mode, name),
        not by_default or one.stage in _DECIDED,
    )


def _mode(policy: DTypePolicy) -> str:
    return "" if policy.mode is None else policy.mode.name


def _source(policy: DTypePolicy) -> str:
    """The name of a policy without what it quantizes."""
    return policy.name.rpartition(SEPARATOR)[2] if policy.mode is not None else policy.name


def _with_mode(mode: str, source: str) -> str:
    return f"{mode}{SEPARATOR}{source}" if mode else source


def _by_default(one: Assignment) -> str:
    """What a node gets under the default float32; empty where its operator decides."""
    if one.op_type == "Cast" and one.before != _WIDE:
        return ""
    return one.before if one.before == "float64" else _WIDE


def _operator_rules(
    wishes: Sequence[_Wish], known_by_name: frozenset[str]
) -> tuple[list[Rule], list[_Wish]]:
    """One rule per policy and reason, and the nodes that still want something else."""
    chosen: dict[tuple[str, str], list[str]] = defaultdict(list)
    left: list[_Wish] = []
    for op_type, group in _grouped(wishes, lambda wish: wish.node.op_type).items():
        needed = [wish for wish in group if wish.needed]
        ((policy, count),) = Counter(wish.policy for wish in group).most_common(1)
        others = [wish for wish in group if wish.policy != policy]
        usable = _is_plain(op_type) and op_type not in known_by_name
        if usable and 1 + len(group) - count <= len(needed):
            alike = [wish for wish in group if wish.policy == policy]
            chosen[policy, _joined_reason(alike)].append(op_type)
            left += others
        else:
            left += needed
    return [_rule(policy, reason, op=ops) for (policy, reason), ops in chosen.items()], left


def _module_rules(wishes: Sequence[_Wish], left: Sequence[_Wish]) -> tuple[list[Rule], list[_Wish]]:
    """Rules for modules of which all nodes want the same, the largest such modules."""
    policies: dict[str, set[str]] = defaultdict(set)
    for wish in wishes:
        for module in _modules(wish.node.scope):
            policies[module].add(wish.policy)

    def largest(wish: _Wish) -> str:
        same = (one for one in _modules(wish.node.scope) if len(policies[one]) == 1)
        return next(filter(_is_plain, same), "")

    groups = _grouped(left, largest)
    rest = [*groups.pop("", ()), *_single(groups)]
    rules = [
        _rule(group[0].policy, _joined_reason(group), scope=[f"{module}/**"])
        for module, group in groups.items()
    ]
    return rules, rest


def _operator_in_module_rules(
    wishes: Sequence[_Wish], left: Sequence[_Wish]
) -> tuple[list[Rule], list[_Wish]]:
    """Rules for all nodes of an operator directly in a module."""
    policies: dict[tuple[str, str], set[str]] = defaultdict(set)
    for wish in wishes:
        policies[_operator_in_module(wish)].add(wish.policy)

    def place(wish: _Wish) -> tuple[str, str]:
        found = _operator_in_module(wish)
        usable = all(map(_is_plain, found)) and len(policies[found]) == 1
        return found if usable else ("", "")

    groups = _grouped(left, place)
    rest = groups.pop(("", ""), [])
    rest += _single(groups, lambda wish: bool(wish.node.name))
    merged: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for group in groups.values():
        node = group[0].node
        merged[node.op_type, group[0].policy, _joined_reason(group)].append(node.scope)
    rules = [
        _rule(policy, reason, scope=scopes, op=[op_type])
        for (op_type, policy, reason), scopes in merged.items()
    ]
    return rules, rest


def _name_rules(wishes: Sequence[_Wish], left: Sequence[_Wish]) -> tuple[list[Rule], list[_Wish]]:
    """Rules for nodes by name, where all that share it want the same."""
    policies: dict[str, set[str]] = defaultdict(set)
    for wish in wishes:
        policies[wish.node.name].add(wish.policy)
    usable = [w for w in left if _is_plain(w.node.name) and len(policies[w.node.name]) == 1]
    kept = set(map(id, usable))
    rules = [
        _rule(policy, reason, name=list(dict.fromkeys(wish.node.name for wish in group)))
        for (policy, reason), group in _grouped(usable, _policy_and_reason).items()
    ]
    return rules, [wish for wish in left if id(wish) not in kept]


def _place_rules(left: Iterable[_Wish]) -> list[Rule]:
    return [
        _rule(policy, reason, optional=True, key=[wish.node.key for wish in group])
        for (policy, reason), group in _grouped(left, _policy_and_reason).items()
    ]


def _rule(policy: str, reason: str, *, optional: bool = False, **texts: Sequence[str]) -> Rule:
    matchers: dict[str, Any] = {
        key: compile_condition(key, some, key) for key, some in texts.items()
    }
    return Rule(parse_policy(policy), reason=reason, optional=optional, **matchers)


def _grouped(wishes: Iterable[_Wish], key: Callable[[_Wish], K]) -> dict[K, list[_Wish]]:
    groups: dict[K, list[_Wish]] = {}
    for wish in wishes:
        groups.setdefault(key(wish), []).append(wish)
    return groups


def _single(
    groups: dict[K, list[_Wish]], chosen: Callable[[_Wish], bool] = lambda wish: True
) -> list[_Wish]:
    """Take out the groups of one, for which a name is shorter."""
    alone = [key for key, group in groups.items() if len(group) == 1 and chosen(group[0])]
    return [wish for key in alone for wish in groups.pop(key)]


def _modules(scope: str) -> list[str]:
    """The module and those around it, the outermost first."""
    levels = scope.split("/") if scope else []
    return ["/".join(levels[:end]) for end in range(1, len(levels) + 1)]


def _operator_in_module(wish: _Wish) -> tuple[str, str]:
    return wish.node.scope, wish.node.op_type


def _policy_and_reason(wish: _Wish) -> tuple[str, str]:
    return wish.policy, wish.node.reason


def _is_plain(text: str) -> bool:
    """Whether a pattern of this text matches it alone."""
    return bool(text) and not _PATTERN_CHARACTERS & set(text) and not text.startswith("re:")


def _joined_reason(wishes: Iterable[_Wish]) -> str:
    """The most frequent reasons in one text; those of placement only where there are no others."""
    nodes = [wish.node for wish in wishes]
    decided = [one for one in nodes if one.stage in _DECIDED] or nodes
    reasons = [reason for reason, _ in Counter(one.reason for one in decided).most_common()]
    shown, more = reasons[:_REASONS_AT_MOST], len(reasons) - _REASONS_AT_MOST
    return "; ".join([*shown, f"and {more} more"] if more > 0 else shown)

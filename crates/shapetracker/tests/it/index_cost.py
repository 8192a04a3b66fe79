"""What the expressions that come in cost, by Python's own reading of them.

Each line of standard input is an index expression, a tab and a valid expression. Each line of output is how many
distinct operations both take together, and how many of those are a // or % by anything but a constant power of two.
"""

import ast
import sys


def price(node):
    """The operations and divisions of one node, without its operands."""
    if isinstance(node, ast.Compare):
        return len(node.ops), 0
    if isinstance(node, ast.BoolOp):
        return len(node.values) - 1, 0
    if isinstance(node, ast.UnaryOp):
        negative_constant = isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant)
        return 0 if negative_constant else 1, 0
    if isinstance(node, ast.BinOp):
        cheap = isinstance(node.right, ast.Constant) and node.right.value & (node.right.value - 1) == 0
        return 1, int(isinstance(node.op, (ast.FloorDiv, ast.Mod)) and not cheap)
    if isinstance(node, (ast.Constant, ast.Name)):
        return 0, 0
    raise ValueError(f"index code has no {type(node).__name__}")


def visit(node, known):
    """A number for the node, the same for equal ones; `known` maps what a node is to its number and price."""
    operands = tuple(visit(child, known) for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr))
    signs = [type(sign).__name__ for sign in [getattr(node, "op", None), *getattr(node, "ops", [])]]
    leaf = getattr(node, "value", None), getattr(node, "id", None)
    key = (type(node).__name__, *signs, str(leaf), operands)
    return known.setdefault(key, (len(known), price(node)))[0]


sys.setrecursionlimit(100_000)
for line in sys.stdin:
    known = {}
    for text in line.rstrip("\n").split("\t"):
        visit(ast.parse(text, mode="eval").body, known)
    print(sum(cost[0] for _, cost in known.values()), sum(cost[1] for _, cost in known.values()))

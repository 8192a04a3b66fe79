"""Every public function, called from frames whose globals have no `__builtins__`.

tinygrad's pattern matcher makes functions over globals of its own, and nothing can be imported from their frames in the
usual way (`pickle` itself fails there, so that only `__reduce__` is called). This file is run as a program in a fresh interpreter, so that nothing was imported or remembered before.
"""

import subprocess
import sys
import types
from typing import Any


def test_found_by_an_audit_functions_work_in_frames_without_builtins() -> None:
    done = subprocess.run([sys.executable, __file__], capture_output=True, text=True, timeout=300)
    # Nor is anything reported that Python could not raise.
    assert (done.returncode, done.stderr) == (0, ""), done.stderr


STACK = "ShapeTracker.contiguous(3, 2).permute(1, 0).reshape(3, 2)"
PADDED = "ShapeTracker.contiguous(2, 3).pad((1, 1), (0, 2))"
VIEW = "View((4, 3), (1, 4), 2, ((0, 4), (1, 3)))"
EXPR = "Expr('x*4 + y if x < 3 else min(x, y)', x=(0, 10), y=(-2, 5))"
MAP = "IndexMap('lambda i, j: (i // 4, j, i % 4)', i=range(16), j=(0, 8))"
BOTH = "Expr('x < 3', x=(0, 10)), Expr('2 < x', x=(0, 10))"
INDEX = f"{PADDED}.index_expr()"
NEST = "nest()"
NAMED_NEST = "nest(Sym('n', 1, 64))"
CONDITIONS = "conditions((2, 3), View((3, 2)))"
STEP = "Step((1, 2), 3, 4)"
UNEVEN = f"UnevenStep(0, ({STEP}, Step((0, 1), 2, 3)))"
HOLE = "NotABox(((0, 1), (1, 0)), (0, 0))"
COST = "Cost(1, 2, 3)"
EXPLANATION = f"explain_view({STACK}, 6)"
DESCRIPTION = "describe(View((6, 8), (10, 1), 3), View((6, 2), (10, 1)), itemsize=2)"
NAMED_ADVICE = "advice('x.transpose(1, 2).view(B, T*C)', ('B', 'T', 'C'))"
ADVICE = "advice('x.transpose(1, 2).view(8, 15)', (8, 3, 5))"
OBSTACLE = f"{EXPLANATION}.obstacles[0]"
COMPAT_VIEW = "tinygrad.View.create((2, 3), (1, 2))"
COMPAT = "tinygrad.ShapeTracker.from_shape((3, 2)).permute((1, 0)).reshape((3, 2))"
UOP = "UOp.variable('x', 0, 9)"
ARRAY = "bytearray(range(6))"
SYM = "Sym('n', 1, 9)"
CONDITION = f"({SYM} >= 4)"
NAMED_VIEW = f"View(({SYM}, 3), (1, {SYM}))"
NAMED = f"ShapeTracker.contiguous({SYM}, 4).permute(1, 0).reshape(2, -1)"
NAMED_INDEX = f"{NAMED}.index_expr()"
ANSWER = f"{NAMED}.single_view()"
LEAF = f"{ANSWER}.leaves[0]"
PLACEMENT = "Placement('shard', 0)"
SHARDED = f"Sharded((6, 4), (('tp', 4),), ({PLACEMENT},))"
FREE = f"{SHARDED}.reshape(24)"
MOVES = f"{SHARDED}.reshape(4, 6)"
REFUTED = f"{SHARDED}.check(Sharded((4, 6), (('tp', 4),), ({PLACEMENT},)))"
MOVED = f"{SHARDED}.moved(Sharded((6, 4), (('tp', 4),), (Placement('shard', 1),)))"
NESTED = "Layout(((2, 2), 4), ((1, 8), 2))"
SWIZZLED = "ComposedLayout(Swizzle(1, 0, 2), 0, Layout((4, 4), (1, 4)))"
BITS = "LinearLayout({'lane': [[1], [2]]}, {'offset': 4})"
PATTERN = "AccessPattern(Layout((32, 4), (4, 1)), 4)"
REFUSED = "Layout((4, 6, 8), (2, 3, 5)).compose('6:3', explain=True)"
CHUNKS = "ChunkPlan(ShapeTracker.contiguous(4, 6).permute(1, 0), ((2, 2), (3, 3)), ((6,), (4,)))"
ASSEMBLY = "Assembly(ShapeTracker.contiguous(4).flip(0), (4,), ((0, 4),), bytes(1))"

# What each object is asked, by a name for it. `X` stands for the object.
CALLS = {
    VIEW: """View.contiguous(2, 3); View.contiguous(range(2, 4)); View.parse('(2, 3):(1, 2)'); X.shape; X.strides;
        X.offset; X.mask; X.ndim; X.numel; X.is_empty(); X.is_contiguous(); X.is_identity(); X.address(1, 1);
        X.address_range(); X.names; X.at(); X.reshape(12); X.reshape(5); X.permute(1, 0); X.expand(4, 3); X.pad((1, 1), None);
        X.shrink((0, 2), (1, 3)); X.flip(0); X.step(2, -1); X.merge_dims(); X.max_merge(); X.svg(); X._repr_html_();
        X == X; X != 3; hash(X); X.__reduce__(); repr(X); str(X); copy(X); View('no'); View.parse('no')""",
    STACK: """ShapeTracker.contiguous(-1); ShapeTracker.parse('(2, 3).flip(0)'); ShapeTracker.parse('no');
        ShapeTracker(X.views); X.as_view(); X.shape; X.ndim; X.numel; X.address(0, 0); list(X.addresses());
        X.needs; X.names; X.known; X.at(n=3); X.given(); X.given(Sym('n') >= 3); X.equality(X); X.contiguity(); X.max_merge(); list(X); ShapeTracker[int]; View[int];
        X.reshape(6); X.reshape(7); X.permute(1, 0); X.transpose(0, 1); X.expand(3, 2); X.broadcast_to(2, 3, 2);
        X.pad((0, 1), None); X.shrink((0, 1), (0, 2)); X.flip(1); X.step(1, -1); X.squeeze(); X.squeeze(0);
        X.unsqueeze(0); X.contiguous(); X.contiguous(2); X.as_strided((2,), (2,)); X.then(ShapeTracker.contiguous(6)); X.then(3); X.compose(X); methods(); X[0, ::-1, None];
        X[..., 'no']; X.is_contiguous(); X.is_identity(); X.single_view(); X.address_range(); X.buffer_len();
        X.real_strides(); X.affine(); X.unit_stride_axes(); X.axis_is_masked(0); X.collision(); X.difference(X);
        X.invert(6); X.invert(2); X.expand(3, 3); X.index_expr(); X.svg(); X._repr_html_(); X == X; hash(X);
        X.__reduce__(); repr(X); copy(X); merge(X.views[0], X.views[1]); ShapeTracker.contiguous(2).invert(1)""",
    CONDITIONS: """X.equations; X.hold_for((3, 1)); X.hold_for(3); X == X; hash(X); X.__reduce__(); repr(X); str(X);
        copy(X)""",
    STEP: "X.index; X.before; X.after; X == X; hash(X); X.__reduce__(); repr(X); copy(X)",
    UNEVEN: "X.axis; X.steps; X == X; hash(X); X.__reduce__(); repr(X); str(X); copy(X)",
    HOLE: "X.valid; X.invalid; X == X; hash(X); X.__reduce__(); repr(X); str(X); copy(X)",
    COST: "X.ops; X.divmods; X.weight; X == X; hash(X); X.__reduce__(); repr(X); copy(X)",
    EXPR: """X.variables; X.range; X.extremes; X.extremes(); X.cost; X.simplify(); X.evaluate(x=1, y=2); X.evaluate(x=1); X.values()[:3];
        X.substitute(x=2); X.substitute(x='no'); X.text(); X.text('c'); X.text('no'); X.code('cuda'); X.nodes();
        (X < 3).where(X, 0); X.min(2); X.max(2); X.eq(2); X.ne(2); X + 1; 1 + X; X - 1; 1 - X; X * 2; 2 * X; X // 2;
        100 // (X + 60); X % 2; 100 % (X + 60); (X < 3) & (X > 1); (X < 3) | (X > 1); True & (X < 3); True | (X < 3); -X;
        ~(X < 3); X < 1; X <= 1; X > 1; X >= 1; X == X; X != X; hash(X); X.__reduce__(); repr(X); str(X); copy(X); bool(X < 3); X // 0; Expr('x'); simplify_pair(X, X < 9)""",
    MAP: """X.loops; X.results; X.image_box; X(1, 2); X(16, 0); X.collision(); X.is_one_to_one(); X.missed(4, 8, range(4)); X.missed(4);
        X.outside(3, 8, 4); X.is_onto((4, 8, 4)); X.is_onto('no'); X.preimage(1, 1, 1); X.preimage(9, 1, 1); X.difference(X); X.inverse(); X.after(X);
        X.after(X.inverse()); X.simplify(); X.text(); X.text('mlir'); X.text('tvm'); X.text('no'); X == X; hash(X); X.__reduce__(); repr(X); str(X);
        copy(X); IndexMap('(i) -> (i // 2)', i=range(4)).inverse(); IndexMap('(i)'); IndexMap('(i) -> (i * i % 1000003)', i=range(2**31)).missed(9)""",
    INDEX: """X.index; X.valid; X.shape; X.parameters; X.cost; X.address(1, 1); X.code(); X.code('no'); X.kernel('c'); X == X; hash(X);
        X.__reduce__(); repr(X); str(X); copy(X)""",
    "Nest(Sym('n', 1, 9), m=range(1, 5))": """X.parameters; X.each('i', 'n * 4'); X.each('i', Sym('n', 1, 9) * 2); X.each('i', 'no'); X.each(3, 4);
        X.each('i', Sym('m', 1, 2)); X.reduce('k', 3); X.reduce('k', Expr('x', x=(0, 2))); X.needs; Nest(Sym('n')); Nest(3); Nest.parse(statement, where='n=1..9').code('c'); Nest.parse('y[i] +='); X.code('c'); repr(X); str(X)""",
    NEST: """X.loops; X.reduced; X.accesses; X.values; X.width; setattr(X, 'width', 32); setattr(X, 'width', 3); X.unsigned; setattr(X, 'unsigned', True);
        setattr(X, 'unsigned', 3); X.access('b', 'i', valid='i < 3'); X.access('b', 'i +'); X.access('x', 0); X.value('last', '7 - i'); X.value('i', 0);
        X.split('i', -1, 4); X.split('i', 3); X.split('i', 3, -1); X.split('i'); X.swap('i', 'k'); X.swap('i', 'no'); X.guard('g', 'i < 3'); X.guard('g', 3);
        X.copy().fuse('i', 'no', name='f'); X.fuse(name='f'); X.in_place('x', 'x'); X.in_place('x', 3); X.clash('x', 'no'); X.clash('x', 'b'); X.reorder('k', 'i'); X.reorder(['k']);
        X.splits_where_affine(); X.splits_where_affine().factors; X.split_where_affine().unserved; X.splits_where_affine().served; str(X.splits_where_affine()); X.clip('x', reduced=True); X.clip(); X.clip('x', reduced=3);
        X.partition('i', 'x'); X.partition('i'); X.stride('x', 'k'); X.stride('no', 'k'); X.contiguous('x'); X.vector_width('x', 'k', 4); X.is_reused('x', 'k');
        X.overlaps('x', 'x'); X.levels(); X.code('c', 'f({x})', before='a', after='b'); X.code('no', ''); X.code('c', '{no}'); repr(X); str(X); copy(X); X.copy();
        X.read('y', View((8, 3)), ['i', 'k']); X.read('y', View((8, 2)), ['i', 'k']); X.read('y', 3, []); X.read('y', View((8,)), 'i'); X.read('y', View((8,)), [])""",
    NAMED_NEST: """X.loops; X.accesses; X.needs; X.stride('x', 'i'); X.contiguous('x'); X.splits_where_affine().factors; repr(X); str(X);
        X.read('y', ShapeTracker.contiguous(Sym('n', 1, 64)).shrink((0, Sym('s', 0, 3))), ['i']); X.read('y', ShapeTracker.contiguous(Sym('n', 1, 64), 2).index_expr(), ['i + 1', 0])""",
    f"{NEST}.levels()[2]": """X.parent; X.name; X.begin; X.end; X.is_reduced; X.definitions; X.condition; X.accesses; X.values; X.loops; X.is_innermost;
        repr(X)""",
    "unserved()": "X.access; X.condition; X.kind; X.loops; X == X; X != 3; repr(X); str(X)",
    EXPLANATION: """X.possible; X.tracker; X.shape; X.view; X.strides; X.obstacles; X.witness; X.copied; X.pieces; X.smallest; X.copied_view;
        X.elements; X.recipe; bool(X); X._repr_html_(); repr(X); str(X); explain_view('no', 3)""",
    DESCRIPTION: """X.dense; X.orders; X.range; X.holes; X.collision; X.overlap; X.formats; X.vector; X.lines; X.to_dict(); X._repr_html_();
        repr(X); str(X); describe('(4, 6).T', '(6)[3:]'); describe('(N, 6).T', itemsize=2).to_dict(); describe('no'); describe(3);
        describe('(4, 6)', itemsize=0); describe('(N, 6)', '(6)')""",
    ADVICE: """X.one_view; X.view; X.witness; X.sentence; X.step; X.elements; X.smallest; X.numpy; X.pytorch; bool(X); repr(X);
        str(X); advice('(2, 3).flip(0)'); advice('(2, 3).flip(0)').view; advice('(2, 3).flip(0)').of_copy; chain_over('x.T', (2, 3)); chain_over('x.', (2, 3)); command(['check', '(2, 3)', '--is', 'dense']); command(3); advice('x.T'); advice('x.T', 3); advice(3)""",
    NAMED_ADVICE: """X.one_view; X.answer; X.view; X.of_copy; X.witness; X.sentence; X.step; X.elements; X.smallest; X.numpy; bool(X);
        repr(X); str(X); advice('(A, B).T').view; advice('x.T', ('A', Sym('B'))); advice('(A, B).T', where='A=1..4')""",
    f"{ADVICE}.pytorch": "X.does; X.unless; X.copied; X.sentence; X.code; repr(X); str(X)",
    f"{NAMED_ADVICE}.pytorch": "X.does; X.unless; X.copied; X.sentence; X.code; repr(X); str(X)",
    OBSTACLE: """X.kind; X.old_axes; X.new_axes; X.stride; X.needed; X == X; hash(X); repr(X); str(X)""",
    COMPAT_VIEW: """tinygrad.View((2, 3), (3, 1), 0, None, True); X.__dataclass_fields__; X.__match_args__; X.shape;
        X.strides; X.offset; X.mask; X.contiguous; X.exact; X.size(); X.vars(); X.unbind(); X.substitute({});
        X.to_indexed_uops(); X.invert((6,)); X.minify(); X.pad(((1, 1), (0, 0))); X.shrink(((0, 1), (0, 2)));
        X.expand((2, 3)); X.expand((5, 5)); X.permute((1, 0)); X.flip((True, False)); X.reshape((3, 2)); X.reshape((7,));
        X + X; X + 3; sum([X]); replace(X, offset=3); X.__replace__(offset=3); X == X; hash(X); repr(X); copy(X); X.__reduce__(); setattr(X, 'offset', 3); delattr(X, 'offset'); X.__radd__(0)""",
    COMPAT: """tinygrad.ShapeTracker((tinygrad.View.create((2,)),)); X.__dataclass_fields__; X.__match_args__; X.views;
        X.exact; X.contiguous; X.consecutive; X.shape; X.size; X.var_vals; X.reduce((0,)); X.to_uop();
        X.to_indexed_uops(); X.to_indexed_uops((0, 1)); over_ranges(X.exact); written(X.exact.index_expr().valid); index_nodes(X.exact); pair_nodes(X.exact.index_expr().index, X.exact.index_expr().valid); X.real_size(); X.vars(); X.unbind(); X.substitute({});
        X.real_strides(); X.unit_stride_axes(); X.axis_is_masked(0); X.simplify(); X.invert((6,)); X.invert((5,));
        X.pad(((1, 1), (0, 0))); X.shrink(((0, 1), (0, 2))); X.expand((3, 2)); X.permute((1, 0)); X.flip((True, False));
        X.reshape((6,)); X.reshape((7,)); X.mop('PERMUTE', (1, 0)); X.mop('NO', 0); X + X; sum([X]); X.__radd__(0);
        replace(X, views=()); X.__replace__(views=X.views); X < X; X <= X; X > X; X >= X; X == X; hash(X); repr(X);
        copy(X); X.__reduce__(); setattr(X, 'views', ()); delattr(X, 'views')""",
    UOP: """X.vmin; X.vmax; X.render(); X.simplify(); X.ssimplify(); X.substitute({X: 3}); X.evaluate(x=3); int(X); X.eq(3);
        X.ne(3); X.eq(3).logical_not(); X + 1; 1 + X; X - 1; 2 - X; X * 3; 3 * X; X // 2; 9 // (X + 1); X % 3; -X; X < 3;
        X.eq(3) & X.ne(2); X.eq(3) | X.ne(2); hash(X); repr(X); UOp.const(None, 3); UOp.range(None, 4, 0)""",
    SYM: """X.names; X.terms; X.at(n=3); X.at(n=0); X.eq(3); X.ne(X + 1); X.divisible(4); X.divisible('no'); Sym.parse('2*n + 1');
        Sym.parse('n', 'n=4..4'); X + 1; 1 - X; 2 * X; X**2; X**-1; 2**X; 4 * X // 2; X // 2; 4 * X % 2; X % 2; -X; X < 3; X <= 3;
        X > 3; X >= X; X == X; X != 3; hash(X); bool(X); repr(X); str(X); X.__reduce__(); copy(X); Sym('lambda'); Sym('n', 2, 1)""",
    CONDITION: "X.poly; X.op; X.mod; X.holds(n=3); X.holds(n=0); X == X; hash(X); bool(X); repr(X); str(X)",
    NAMED_VIEW: """View.contiguous(3, Sym('n')); View.parse('(n, 3):(1, n)', where='n=1..9'); X.shape;
        View.parse('(n, 3', ''); X.strides; X.offset; X.mask; X.ndim; X.numel; X.names; X.at(n=3); X.at(); X.is_empty(); X.is_contiguous(); X.is_identity();
        X.address(0, 1, n=3); X.address(0, 1); X.address_range(); X.reshape(-1); X.permute(1, 0); X.expand(-1, 3); X.pad((0, 1), None);
        X.shrink((0, 1), None); X.flip(0); X.step(-1, 1); X.merge_dims(); X.max_merge(); X.svg(); X._repr_html_(); View((2, 3)).reshape(Sym('n'), 2); X == X; hash(X);
        repr(X); str(X); X.__reduce__(); copy(X); merge(X, View((3,))); merge(X, View((30,))); merge(X, X, given=3);
        conditions((10, 3), X); conditions((3,), View((Sym('s1'),))); View((Sym('n'),)); explain_view(X, -1)""",
    NAMED: """ShapeTracker.contiguous(3, Sym('n')); ShapeTracker.parse('(n, 3).T', where='n=1..9'); copy(X); X.__reduce__(); ShapeTracker.of_parts(*X.__reduce__()[1]); X.views;
        ShapeTracker.parse('(n, 3).T', where='n=4..4'); X.as_view(); X.shape; X.ndim; X.numel; X.needs; X.names; X.known;
        X.at(n=3); X.at(n=10); X.given(Sym('n', 1, 9) >= 4); X.given(3); X.reshape(-1); X.reshape(3, -1); X.permute(1, 0);
        X.transpose(0, 1); X.expand(2, -1); X.broadcast_to(3, 2, -1); X.pad((0, 1), None); X.pad(3); X.shrink((0, 1), None);
        X.flip(0); X.step(-1, 1); X.squeeze(); X.squeeze(0); X.unsqueeze(0); X.as_strided((2,), (1,)); X.then(X); X[0, 1:];
        X['no']; list(X); X.single_view(); X.equality(X); X.equality(3); X.max_merge(); X.index_expr(); X == X; hash(X); repr(X);
        X.address(0, 0, n=3); X.address(0, 0); X.addresses(); X.is_contiguous(); X.is_identity(); X.real_strides(); X.affine(); X.unit_stride_axes(); X.axis_is_masked(0);
        X.difference(X); X.svg(); X._repr_html_(); X.contiguous(); ShapeTracker.contiguous(2).then(X.as_view()); iter(ShapeTracker.contiguous(Sym('n')));
        X.contiguity(); X.address_range(); X.buffer_len(); X.collision(); X.invert(Sym('n'), 3); str(X); ShapeTracker(X.views); ShapeTracker(3)""",
    NAMED_INDEX: """X.index; X.valid; X.shape; X.parameters; X.cost; X.address(0, 1, n=3); X.address(0, n=3); X.code();
        X.code('no'); X.kernel('c'); X == X; hash(X); repr(X); str(X); X.__reduce__()""",
    ANSWER: """X.kind; X.formula; X.guard; X.holds(n=3); X.holds(m=3); X.at(n=1); X.view; X.leaves; X.needs; X.values; X.witness;
        X.reason; X.names; X == X; hash(X); bool(X); repr(X); str(X)""",
    LEAF: "X.conditions; X.verdict; X.view; repr(X)",
    PLACEMENT: """X.kind; X.axis; X.pieces; X == X; X != 3; hash(X); repr(X); X.__reduce__(); copy(X); Placement('no');
        Placement('shard')""",
    SHARDED: """X.shape; X.mesh; X.placements; X.spec; Sharded.from_spec((8, 4), (('x', 2),), (None, 'x'));
        Sharded.from_spec((8, 4), (('x', 3),), ('x',)); X.local_shape(3); X.local_shape(4); X.holds((1,), 0); X.local((1,), 8);
        X.reshape(2, 12); X.reshape(7); X.permute(1, 0); X.expand(6, 4); X.squeeze(); X.unsqueeze(0); X.shrink((0, 2), None);
        X.flip(0); X.pad((0, 2), None); X.check(X); X.check(3); X.moved(X); X == X; X != 3; hash(X); repr(X); str(X);
        X.__reduce__(); copy(X); Sharded((6, 4), (('tp', 0),), ())""",
    FREE: "X.kind; X.before; X.after; X.witness; X.view; X.cheapest; bool(X); repr(X); str(X)",
    MOVES: "X.kind; X.after; X.witness; X.cheapest; bool(X); repr(X); str(X)",
    REFUTED: "X.kind; X.witness; bool(X); repr(X); str(X)",
    f"{REFUTED}.witness": "X.device; X.local; X.positions; X.missing; X == X; X != 3; repr(X); str(X)",
    MOVED: "X.elements; X.most; X.device; X == X; X != 3; repr(X)",
    CHUNKS: """X.inputs_of(0); X.inputs_of(9); X.needed(); X.schedule(100, 1, 1); X.schedule(1, 1, 1);
        X.taken_of(0); X.taken_of(9); choose_chunks(ShapeTracker.contiguous(4, 6), ((2, 2), (3, 3)), 6, 6, [None, None], False); ChunkPlan(ShapeTracker.contiguous(3), (), ());
        choose_chunks(ShapeTracker.contiguous(4), ((2, 3),), 6, 6, [None], True)""",
    f"{CHUNKS}.schedule(100, 1, 1)": "X.steps; X.untouched; X.rounds; X.reads; X.read_bytes; X.peak_bytes",
    ASSEMBLY: """X.take(((0, 4),), bytes(range(4))); X.take(((0, 9),), b''); X.put(((0, 4),), bytes(4)); X.put(((0, 9),), b'');
        cut(ShapeTracker.contiguous(4).flip(0), (4,), ((0, 2),), ((0, 4),), bytes(range(4))); cut(3, (4,), (), (), b''); X.finish(); Assembly(3, (4,), (), b'')""",
    NESTED: """X.shape; X.stride; X.rank; X.depth; X.size(); X.cosize(); X(3); X(99); X((0, 1), 3); X.coordinate(3); X.coordinate(99);
        len(X); X[0]; X[5]; X.flatten(); X.coalesce(); X.coalesce((1, 1)); X.coalesce((1, 1, 1)); X.filter(); X.compose('8:2');
        X.compose((2, 2)); X.compose('99:-1'); X.compose(3.5); X.complement(32); X.complement(32, explain=True);
        X.logical_divide((2, 2)); X.zipped_divide((2, 2)); X.tiled_divide((2, 2)); X.flat_divide((2, 2)); X.flat_divide((2, 2, 2));
        X.logical_product(2); X.zipped_product((2, 2)); X.tiled_product(2); X.flat_product(2); X.blocked_product('(2,2):(1,2)');
        X.raked_product('(2,2):(1,2)'); X.right_inverse(); X.right_inverse(explain=True).is_longest; X.left_inverse();
        X.difference(X); X.difference(3); X.collision(); X.is_injective(); X.is_bijective(); X.is_injective(True);
        X.is_bijective(True); X.to_linear(['a', 'b']);
        X.to_linear(['a']); X.to_view(); X.to_view('no'); X.to_tracker(); X.index_expr().code('c'); X.index_expr().__reduce__();
        X.static_text; X == X; hash(X); repr(X); str(X); X.__reduce__(); copy(X); Layout('(4,8'); Layout(1 << 70);
        Layout.row_major((2, 3)); Layout.concat('4:1', X); Layout.from_view(View((3, 2))); Layout.from_view(3);
        Layout.from_view(ShapeTracker.contiguous(4, 6).permute(1, 0).reshape(24)); Layout.from_view(View((2,), (1,), 0, ((0, 1),)));
        audit('4:1', '2:1', '2:1'); audit('4:1', '2:-1', '2:1')""",
    REFUSED: """X.layout; X.offset; X.is_longest; X.kind; X.reason; X.coordinate; X.witness; bool(X); repr(X); str(X);
        Layout((4, 6, 8), (2, 3, 5)).compose('6:3')""",
    "Swizzle(3, 4, -3)": """X.bits; X.base; X.shift; X(1000); X.compose('8:2'); X.compose('8:-2'); X.compose(8, True, True);
        X.compose((2, 2)); X == X; hash(X); repr(X); str(X); X.__reduce__(); copy(X); Swizzle(3, 3, 2)""",
    SWIZZLED: """X.swizzle; X.offset; X.layout; X.size(); X(3, 2); X(99); X.compose('(2,2):(1,4)'); X.compose('9:9');
        X.compose((2, 2)); X.compose('17:1', strict=True, explain=True); X.compose('17:1', strict=True);
        X.compose((2, 2), strict=True); X.plain(explain=True); X.plain(); X.index_expr().code('cuda'); X.to_linear(['a', 'b']); X == X; hash(X); repr(X); str(X); X.__reduce__(); copy(X);
        ComposedLayout('Sw<1,0,1> o'); ComposedLayout(3, 0, 4)""",
    BITS: """X.inputs; X.outputs; X(3); X(9); X.to_layout(); X.to_layout('no'); X == X; repr(X); str(X); X.__reduce__(); copy(X);
        LinearLayout({'lane': 3}, {'offset': 4}); LinearLayout({'lane': [[4]]}, {'offset': 3}); LinearLayout('{lane = [[1')""",
    PATTERN: """X.layout; X.element_bytes; X.vector; X.widest_vector(); X.bank_conflicts(); X.sectors(); X.threads; X.values; X.address(1, 2);
        X.address(32, 0); X.word(1, 2); X.word(0, 4); X.instruction(); X.instruction(1); X == X; repr(X); X.__reduce__(); copy(X);
        AccessPattern.conflict_free_swizzle(X); AccessPattern.conflict_free_swizzle(3); AccessPattern('4:1', 3)""",
    f"AccessReport({PATTERN}, {PATTERN})": """X.accesses; X.swizzle; X.no_swizzle; X.elements; X.worst; X == X; repr(X); X.__reduce__(); copy(X);
        AccessReport(); AccessReport(3)""",
    f"AccessReport({PATTERN}).accesses[0]": "X.pattern; X.widest; X.banks; X.sectors; X.swizzled; X == X; repr(X)",
    f"{PATTERN}.instruction()": "X.phases; X == X; repr(X)",
    f"{PATTERN}.instruction().phases[0]": "X.lanes; X.words; X.banks; X.degree; X.bank(33); X == X; repr(X)",
    f"{PATTERN}.sectors()": "X.most; X.warp; X.value; X.counts; X.total; X == X; repr(X)",
    "audit('(4,6,8):(2,3,5)', '6:3', '(2,3):(6,3)')": "X.coordinate; X.expected; X.found; X == X; hash(X); repr(X); str(X)",
    ARRAY: f"""of(X); of(3); bytes(memory(X)); memory(3); apply({STACK}, X).tolist(); apply({PADDED}, X, 7).tolist();
        apply({PADDED}, X, 700); apply({STACK}, X, copy=True).tolist(); apply({STACK}, 3); explain_view(X, 3, 2)""",
}
NUMPY = {
    "numpy.arange(6)": f"""of(X); of(X[::-1]); memory(X); apply({STACK}, X); apply({PADDED}, X, 7); apply({PADDED}, X, 1e40);
        apply({PADDED}, X, 'no'); apply({STACK}, X, copy=False); explain_view(X.reshape(2, 3).T, 6); describe(X[::2], X[1::2]).to_dict(); of(numpy.ma.array(X));
        apply({PADDED}, numpy.arange(6).astype('M8[D]'), 3); apply(ShapeTracker.contiguous(6), X)""",
}


def outcome(call: types.FunctionType) -> str:
    try:
        return repr(call())
    except Exception as error:
        return f"{type(error)} {type(error).__mro__}: {error}"


def main() -> None:
    import builtins
    import copy
    import dataclasses
    import importlib.util

    import shapetracker
    from shapetracker import _native
    from shapetracker.compat import tinygrad

    names: dict[str, Any] = {name: getattr(shapetracker, name) for name in shapetracker.__all__}
    names |= {"tinygrad": tinygrad, "UOp": tinygrad.UOp, "copy": copy.copy}
    names |= {"replace": dataclasses.replace}

    def nest(*sizes: Any) -> Any:
        nest = shapetracker.Nest(*sizes)
        nest.each("i", sizes[0] if sizes else 8), nest.reduce("k", 3)
        windows = shapetracker.ShapeTracker.contiguous(*(sizes or (8,))).pad((1, 1))
        nest.read("x", windows, ["i + k"])
        return nest

    def unserved() -> Any:
        nest = shapetracker.Nest()
        nest.access("a", nest.each("i", 7) // 2)
        return nest.splits_where_affine().unserved[0]

    names |= {"nest": nest, "unserved": unserved, "statement": "y[i] += x[i]; x = (n,); y = (n,)"}
    names |= {name: getattr(_native.tinygrad, name) for name in ("index_nodes", "over_ranges", "pair_nodes", "written")}
    names |= {name: getattr(_native, name) for name in ("Assembly", "ChunkPlan", "Placement", "Sharded", "choose_chunks", "chain_over", "command", "cut")}
    more = ("AccessPattern", "AccessReport", "ComposedLayout", "Layout", "LinearLayout", "Swizzle", "audit", "methods")
    names |= {name: getattr(_native, name) for name in more}
    calls = dict(CALLS)
    if importlib.util.find_spec("numpy") is not None:
        import numpy

        names["numpy"] = numpy
        calls |= NUMPY
    bare = {**names, **{name: value for name, value in vars(builtins).items() if not name.startswith("__")}}
    plain = {**names, "__builtins__": builtins}

    texts = [call.strip().replace("X", of) for of, asked in calls.items() for call in asked.split(";")]
    codes = [(text, compile(f"lambda: {text}", text, "eval").co_consts[0]) for text in texts]
    # All of them in bare frames first: what is remembered was then found there.
    found = [outcome(types.FunctionType(code, bare)) for _, code in codes]
    wrong = []
    for (text, code), without in zip(codes, found):
        usual = outcome(types.FunctionType(code, plain))
        # What has no repr of its own shows where it lies.
        if without.split(" at 0x")[0] != usual.split(" at 0x")[0]:
            wrong.append(f"{text}: {without} without builtins, and {usual} with them")
    assert "__builtins__" not in bare
    assert len({result for result in found if "Error" in result}) > 20

    # Nothing that the package has is left out.
    said = " ".join(texts)
    for module in (_native, _native.tinygrad):
        for name, value in vars(module).items():
            if isinstance(value, type):
                # What is written in Python runs in the frames of its module.
                members = [name for name, what in vars(value).items() if not isinstance(what, (types.FunctionType, property))]
                public = [member for member in members if not member.startswith("__")]
                wrong += [f"{name}.{member} is not called" for member in public if f".{member}" not in said]
            elif callable(value) and f"{name}(" not in said:
                wrong.append(f"{name} is not called")
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()

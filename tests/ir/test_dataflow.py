"""Which values a graph defines, and who reads them."""

from mpgraph import ir


def test_several_readers_several_operands_and_outputs_are_not_one_reader():
    x = ir.Value(name="x", type=ir.TensorType(ir.DataType.FLOAT), shape=ir.Shape([2]))
    first = ir.node("Relu", [x])
    alone = ir.node("Neg", [first.outputs[0]])
    square = ir.node("Mul", [alone.outputs[0], alone.outputs[0]])
    last = ir.node("Abs", [square.outputs[0]])
    shared = [ir.node("Sqrt", [last.outputs[0]]), ir.node("Exp", [last.outputs[0]])]
    shown = ir.node("Ceil", [shared[0].outputs[0]])
    outputs = [shared[0].outputs[0], shared[1].outputs[0], shown.outputs[0]]
    nodes = [first, alone, square, last, *shared, shown]
    ir.Graph([x], outputs, nodes=nodes, opset_imports={"": 21})

    assert ir.only_reader(first.outputs[0]) is alone
    assert ir.only_reader(square.outputs[0]) is last
    assert ir.only_reader(alone.outputs[0]) is None  # one node, two operands
    assert ir.only_reader(last.outputs[0]) is None  # two nodes
    assert ir.only_reader(shared[0].outputs[0]) is None  # a node and an output of the graph
    assert ir.only_reader(shown.outputs[0]) is None  # nobody


def test_a_graph_defines_its_inputs_and_results_and_no_initializers():
    x, y = (ir.Value(name=name, type=ir.TensorType(ir.DataType.FLOAT)) for name in "xy")
    weight = ir.Value(name="weight", const_value=ir.tensor([1.0], name="weight"))
    added = ir.node("Add", [x, weight])
    split = ir.node("Split", [added.outputs[0]], num_outputs=2)
    graph = ir.Graph(
        [x, y], split.outputs, nodes=[added, split], initializers=[weight], opset_imports={"": 21}
    )

    assert ir.defined_values(graph) == [x, y, *added.outputs, *split.outputs]

const MOST_NEIGHBOURS = 10;

/**
 * What the picture of a level holds: boxes for its layers and nodes, small signs for casts and
 * Q/DQ, and faint boxes for what lies around it.
 */
function levelGraph(model, id) {
  const graph = new GraphBuilder(model);
  const level = model.tree[id];
  const inside = new Map();
  for (const node of level.nodes) inside.set(node, graph.node(node));
  for (const child of level.children) {
    const item = graph.level(child);
    eachNode(model, child, (node) => inside.set(node, item));
  }
  const around = new Set(levelChain(model, id));
  const graphs = new Set(["main", ...level.nodes.map((node) => model.nodes.graph[node])]);
  const isShown = (value, kind) => model.values.kind[value] === kind && graphs.has(model.values.graph[value]);
  for (const [node, item] of inside) {
    for (const value of model.nodes.inputs[node]) {
      if (value < 0) continue;
      const producer = model.producers[value];
      if (producer < 0) {
        if (isShown(value, 0)) graph.link(graph.value(value, -1), item, value);
      } else if (!inside.has(producer)) {
        graph.link(graph.outside(producer, around, -1), item, value);
      } else if (inside.get(producer) !== item) {
        graph.link(inside.get(producer), item, value);
      }
    }
    for (const value of model.nodes.outputs[node]) {
      if (value < 0) continue;
      if (isShown(value, 1)) graph.link(item, graph.value(value, 1), value);
      for (const reader of model.consumers[value]) {
        if (!inside.has(reader)) graph.link(item, graph.outside(reader, around, 1), value);
      }
    }
  }
  for (const child of level.children) {
    const { owner } = model.tree[child];
    if (inside.has(owner)) graph.link(inside.get(owner), graph.level(child), -1);
  }
  return graph.finished();
}

/** The picture of one node: what it reads above, what it writes below. */
function nodeGraph(model, node) {
  const graph = new GraphBuilder(model);
  const item = graph.node(node, "node");
  item.isCentre = true;
  for (const value of model.nodes.inputs[node]) {
    if (value < 0) continue;
    const operand = graph.value(value, -1);
    graph.link(operand, item, value);
    if (model.producers[value] >= 0) graph.link(graph.neighbour(model.producers[value], -2), operand, value);
  }
  for (const value of model.nodes.outputs[node]) {
    if (value < 0) continue;
    const result = graph.value(value, 1);
    graph.link(item, result, value);
    for (const reader of model.consumers[value]) graph.link(result, graph.neighbour(reader, 2), value);
  }
  model.tree.forEach((level) => {
    if (level.owner === node) graph.link(item, graph.level(level.id), -1);
  });
  return graph.finished();
}

function eachNode(model, id, visit) {
  const level = model.tree[id];
  level.nodes.forEach(visit);
  level.children.forEach((child) => eachNode(model, child, visit));
}

class GraphBuilder {
  constructor(model) {
    this.model = model;
    this.items = new Map();
    this.edges = new Map();
  }

  node(node, kind) {
    const op = this.model.nodes.op[node];
    const isSmall = CONVERTERS.has(op) || op === "Constant";
    return this.item(kind || (isSmall ? "convert" : "node"), `n${node}`, { node, order: this.model.nodes.order[node], side: 0 });
  }

  level(id) {
    const { first } = this.model.tree[id];
    const { kind } = this.model.tree[id];
    return this.item(kind === "segment" ? "segment" : "level", `l${id}`, { level: id, order: first, side: 0 });
  }

  value(value, side) {
    return this.item("value", `v${value}`, { value, order: side * 1e9 + value, side });
  }

  neighbour(node, side) {
    return this.item("ghost", `${side < 0 ? "a" : "b"}n${node}`, { node, order: side * 1e9 + this.model.nodes.order[node], side });
  }

  /** The box for something outside: what of the levels around holds it. */
  outside(node, around, side) {
    let id = this.model.levelOf[node];
    if (around.has(id)) return this.neighbour(node, side);
    while (!around.has(this.model.tree[id].parent)) id = this.model.tree[id].parent;
    const fields = { level: id, order: side * 1e9 + this.model.tree[id].first, side };
    return this.item("ghost", `${side < 0 ? "a" : "b"}l${id}`, fields);
  }

  item(kind, key, fields) {
    let found = this.items.get(key);
    if (!found) {
      const [width, height] = SIZES[kind];
      this.items.set(key, (found = { kind, key, width, height, ...fields }));
    }
    return found;
  }

  link(from, to, value) {
    const key = `${from.key} ${to.key}`;
    const found = this.edges.get(key);
    if (found) found.values.add(value);
    else this.edges.set(key, { key, from, to, values: new Set([value]) });
  }

  finished() {
    this.mergeNeighbours(-1);
    this.mergeNeighbours(1);
    return { items: [...this.items.values()], edges: [...this.edges.values()] };
  }

  /** Leaves the neighbours with the most edges on a side and joins the rest in one box. */
  mergeNeighbours(sign) {
    const sides = [...this.items.values()].filter((item) => item.side * sign > 0 && item.kind === "ghost");
    if (sides.length <= MOST_NEIGHBOURS + 1) return;
    const weights = new Map(sides.map((item) => [item, 0]));
    for (const edge of this.edges.values()) {
      for (const end of [edge.from, edge.to]) if (weights.has(end)) weights.set(end, weights.get(end) + 1);
    }
    const merged = new Set(sides.sort((a, b) => weights.get(b) - weights.get(a)).slice(MOST_NEIGHBOURS));
    const rest = this.item("ghost", `more${sign}`, { more: merged.size, order: sign * 2e9, side: sign });
    for (const edge of [...this.edges.values()]) {
      if (!merged.has(edge.from) && !merged.has(edge.to)) continue;
      this.edges.delete(edge.key);
      const ends = [edge.from, edge.to].map((end) => (merged.has(end) ? rest : end));
      if (ends[0] !== ends[1]) edge.values.forEach((value) => this.link(...ends, value));
    }
    for (const item of merged) this.items.delete(item.key);
  }
}

const SIZES = {
  node: [180, 46],
  level: [212, 60],
  segment: [212, 76],
  convert: [104, 22],
  ghost: [150, 28],
  value: [168, 34],
};

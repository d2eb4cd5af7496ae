const CHANGE_SIGNS = { inserted: "+", removed: "−" };

/** Both models with the links between them, and what changed by node and by level. */
function readChanges(data, strings) {
  const [before, after] = data.models.map((each) => readModel(each, strings));
  const table = readTable(data.changes, strings);
  const match = readColumn(data.match, strings);
  const back = new Map();
  match.forEach((twin, node) => twin >= 0 && back.set(twin, node));
  const sides = [
    { model: before, rows: new Map(), twin: (node) => back.get(node) ?? -1 },
    { model: after, rows: new Map(), twin: (node) => match[node] },
  ];
  table.kind.forEach((_, row) => {
    if (table.before[row] >= 0) pushTo(sides[0].rows, table.before[row], row);
    if (table.after[row] >= 0) pushTo(sides[1].rows, table.after[row], row);
  });
  const levels = mergedLevels(before, after);
  const counted = { before, after, table, sides, levels };
  countChanges(counted);
  return counted;
}

/** The levels of both models as one tree; those of the same name and kind are the same. */
function mergedLevels(before, after) {
  const levels = [];
  const merge = (old, now, parent) => {
    const level = { id: levels.length, sides: [old, now], parent, children: [], changes: 0, nodes: [] };
    levels.push(level);
    const children = new Map();
    [[before, old], [after, now]].forEach(([model, id], side) => {
      for (const child of id >= 0 ? model.tree[id].children : []) {
        const key = `${model.tree[child].kind} ${model.tree[child].name}`;
        if (!children.has(key)) children.set(key, [-1, -1]);
        children.get(key)[side] = child;
      }
    });
    for (const [one, other] of children.values()) level.children.push(merge(one, other, level.id));
    return level.id;
  };
  merge(0, 0, -1);
  return levels;
}

function countChanges({ table, sides, levels }) {
  sides.forEach((side, at) => {
    side.merged = new Map(levels.filter((level) => level.sides[at] >= 0).map((level) => [level.sides[at], level.id]));
  });
  table.kind.forEach((_, row) => {
    const at = table.after[row] >= 0 ? 1 : 0;
    const node = at ? table.after[row] : table.before[row];
    const own = levels[sides[at].merged.get(sides[at].model.levelOf[node])];
    if (!own.nodes.some(([side, each]) => side === at && each === node)) own.nodes.push([at, node]);
    for (let level = own; level; level = levels[level.parent]) level.changes++;
  });
}

/** The sign of a box in the picture of one side; null where nothing changed. */
function changeMark(changes, at, item) {
  const { table, sides, levels } = changes;
  if (item.kind === "ghost" || item.kind === "value") return null;
  if (item.level !== undefined) {
    const level = levels[sides[at].merged.get(item.level)];
    if (level.sides[1 - at] < 0) return { kind: at ? "inserted" : "removed", text: CHANGE_SIGNS[at ? "inserted" : "removed"], title: at ? "only after" : "only before" };
    return level.changes ? { kind: "altered", text: `≠ ${amountText(level.changes)}`, title: plural(level.changes, "change") } : null;
  }
  const rows = sides[at].rows.get(item.node);
  if (!rows) return null;
  const kinds = rows.map((row) => table.kind[row]);
  const sign = CHANGE_SIGNS[kinds[0]];
  return { kind: sign ? kinds[0] : "altered", text: sign || "≠", title: kinds.join(", ") };
}

/** Rows of the tree: the merged levels, and the nodes that changed. */
function changedLevelRow(changes, id) {
  const level = changes.levels[id];
  const at = level.sides[1] >= 0 ? 1 : 0;
  const { model } = changes.sides[at];
  const own = model.tree[level.sides[at]];
  const only = level.sides[0] < 0 ? "inserted" : level.sides[1] < 0 ? "removed" : "";
  return {
    key: `l${id}`,
    merged: id,
    node: null,
    label: id === 0 ? "model" : own.name,
    title: `${own.path || own.name}\n${plural(level.changes, "change")}`,
    dtypes: own.dtypes,
    isLevel: true,
    mark: only,
    hasChildren: level.children.length + level.nodes.length > 0,
    badges: () => (level.changes ? element("span", { class: "changes", title: plural(level.changes, "change") }, `≠ ${count(level.changes)}`) : null),
    children: () => [
      ...level.children.map((child) => changedLevelRow(changes, child)),
      ...level.nodes.map(([side, node]) => changedNodeRow(changes, id, side, node)),
    ],
  };
}

function changedNodeRow(changes, id, side, node) {
  const { model, rows } = changes.sides[side];
  const kinds = rows.get(node).map((row) => changes.table.kind[row]);
  return {
    key: `${side}n${node}`,
    merged: id,
    node: [side, node],
    label: tail(nodeTitle(model, node)),
    title: `${nodeTitle(model, node)} (${model.nodes.op[node]})\n${kinds.join(", ")}`,
    dtype: model.nodes.dtype[node],
    isLevel: false,
    mark: CHANGE_SIGNS[kinds[0]] ? kinds[0] : "",
    badges: () => element("span", { class: "changes" }, CHANGE_SIGNS[kinds[0]] || "≠"),
  };
}

/** One node before and after. */
function comparedNode(changes, side, node, contextOf) {
  const twin = changes.sides[side].twin(node);
  const pair = side ? [twin, node] : [node, twin];
  const { model } = changes.sides[side];
  const state = pair[0] < 0 ? "inserted" : pair[1] < 0 ? "removed" : changes.sides[side].rows.has(node) ? "changed" : "unchanged";
  const rows = [
    ["operator", (each, at) => at.nodes.op[each]],
    ["computes in", (each, at) => at.nodes.dtype[each], dtypeLabel],
    ["weights", (each, at) => storageText(at, each)],
    ["module", (each, at) => at.nodes.scope[each]],
    ["runs on", (each, at) => at.nodes.provider[each] || at.nodes.placement[each]],
    ["inputs", (each, at) => valueDtypes(at, at.nodes.inputs[each])],
    ["outputs", (each, at) => valueDtypes(at, at.nodes.outputs[each])],
    ["findings", (each, at) => findingText(nodeFindings(at, each))],
  ];
  const lines = rows
    .map(([name, text, draw = (each) => each]) => {
      const texts = pair.map((each, at) => (each < 0 ? "" : text(each, changes.sides[at].model)));
      return texts.some(Boolean) ? [name, texts[0] === texts[1], ...texts.map((each) => (each ? draw(each) : "–"))] : null;
    })
    .filter(Boolean);
  const shown = pair[1] >= 0 ? 1 : 0;
  const about = changes.sides[shown].model;
  return [
    element("p", { class: "kind" }, `${model.nodes.op[node]}, ${state}`),
    element("h2", {}, nodeTitle(model, node)),
    sideTable(lines),
    whyBlock(about, pair[shown]),
    findingList(about, findingRows(about, pair[shown]), contextOf(shown)),
    operandTable("Reads", about, about.nodes.inputs[pair[shown]], contextOf(shown), true),
    operandTable("Writes", about, about.nodes.outputs[pair[shown]], contextOf(shown), false),
    rangeList(about, pair[shown], contextOf(shown)),
    excludeBlock(about, pair[shown]),
  ];
}

/** One level before and after. */
function comparedLevel(changes, id, contextOf) {
  const level = changes.levels[id];
  const both = level.sides.map((each, at) => (each < 0 ? null : changes.sides[at].model.tree[each]));
  const known = both[1] || both[0];
  const dtypes = [...new Set(both.flatMap((each) => (each ? [...each.dtypes.keys()] : [])))];
  const number = (each, value) => (each ? count(value(each)) : "–");
  const compared = (name, value) => [name, both[0] && both[1] && value(both[0]) === value(both[1]), ...both.map((each) => number(each, value))];
  const kinds = new Map();
  const inside = [new Set(), new Set()];
  level.sides.forEach((each, at) => each >= 0 && eachNode(changes.sides[at].model, each, (node) => inside[at].add(node)));
  changes.table.kind.forEach((kind, row) => {
    if (inside[0].has(changes.table.before[row]) || inside[1].has(changes.table.after[row])) addTo(kinds, kind, 1);
  });
  return [
    element("p", { class: "kind" }, id === 0 ? "model" : known.kind === "segment" ? "run of nodes" : "layer"),
    element("h2", {}, id === 0 ? "model" : known.kind === "layer" ? known.path : known.name),
    sideTable([compared("nodes", (each) => each.size), ...dtypes.map((dtype) => compared(dtypeLabel(dtype), (each) => each.dtypes.get(dtype) || 0)), compared("casts", (each) => each.casts), compared("Q/DQ", (each) => each.quantizers), compared("findings", (each) => findingTotal(each.findings))]),
    section("Changes", kinds.size ? factList([...kinds].map(([kind, total]) => [kind, count(total)])) : element("p", { class: "soft" }, "None.")),
    both[1] ? findingGroups(changes.after, levelFindings(changes.after, both[1]), contextOf(1)) : null,
    both[1] ? scopeRule(both[1]) : null,
  ];
}

function sideTable(lines) {
  const head = element("tr", {}, ["", "before", "after"].map((text) => element("th", { scope: "col" }, text)));
  const rows = lines.map(([name, isSame, old, now]) => element("tr", { class: isSame ? "" : "differs" }, element("th", { scope: "row" }, name), element("td", {}, old), element("td", {}, now)));
  return element("table", { class: "plain compared" }, element("thead", {}, head), element("tbody", {}, rows));
}

function storageText(model, node) {
  const stored = new Set();
  for (const value of model.nodes.inputs[node]) {
    const row = model.weightOf.get(value);
    if (row !== undefined) stored.add(model.weights.stored[row]);
  }
  return [...stored].join(", ");
}

const valueDtypes = (model, values) => [...new Set(values.filter((value) => value >= 0).map((value) => model.values.dtype[value]))].filter(Boolean).join(", ");

/** What there is to know about one level. */
function levelDetails(model, id, context) {
  const level = model.tree[id];
  const sums = levelSums(model, level);
  const kind = id === 0 ? "model" : { layer: "layer", graph: "graph inside a node", segment: "run of nodes" }[level.kind];
  return [
    element("p", { class: "kind" }, kind),
    element("h2", {}, id === 0 ? model.head.model : level.kind === "layer" ? level.path : level.name),
    level.kind === "segment" && level.size > 0 ? element("p", { class: "soft" }, segmentSpan(model, level)) : null,
    shareBlock("Nodes", level.dtypes, count),
    shareBlock("Multiply-accumulates", sums.work, workText),
    shareBlock("Weights as stored", sums.bytes, bytesText),
    factList([
      level.casts > 0 && ["casts", count(level.casts)],
      level.quantizers > 0 && ["Q/DQ", count(level.quantizers)],
      sums.parameters > 0 && ["parameters", count(sums.parameters)],
      ...[...level.providers].map(([provider, nodes]) => [`on ${providerName(provider)}`, plural(nodes, "node")]),
    ]),
    findingGroups(model, levelFindings(model, level), context),
    operatorBlock(model, level),
    segmentHint(level, model),
    scopeRule(level),
  ];
}

/** Sums by dtype: those of the layer, else those of its nodes. */
function levelSums(model, level) {
  const sums = { work: new Map(), bytes: new Map(), parameters: 0 };
  if (level.parameters || level.bytes || level.work) {
    sums.work = new Map(Object.entries(level.work || {}));
    sums.bytes = new Map(Object.entries(level.bytes || {}));
    sums.parameters = Object.values(level.parameters || {}).reduce((sum, each) => sum + each, 0);
    return sums;
  }
  const seen = new Set();
  eachNode(model, level.id, (node) => {
    if (model.nodes.work[node]) addTo(sums.work, model.nodes.dtype[node], model.nodes.work[node]);
    for (const value of model.nodes.inputs[node]) {
      const row = model.weightOf.get(value);
      if (row === undefined || seen.has(row)) continue;
      seen.add(row);
      addTo(sums.bytes, model.weights.stored[row], model.weights.bytes[row]);
      sums.parameters += model.weights.elements[row];
    }
  });
  return sums;
}

function shareBlock(title, shares, text) {
  const entries = [...shares].filter(([, share]) => share > 0).sort((a, b) => b[1] - a[1]);
  if (!entries.length) return null;
  const total = entries.reduce((sum, [, share]) => sum + share, 0);
  const rows = entries.map(([dtype, share]) =>
    element("tr", {}, element("th", { scope: "row" }, dtypeLabel(dtype)), element("td", {}, text(share)), element("td", {}, `${((100 * share) / total).toFixed(share === total ? 0 : 1)} %`)),
  );
  return section(title, dtypeBar(new Map(entries), 296, 10), element("table", { class: "shares" }, rows));
}

/** Findings by rule, each with its first places. */
function findingGroups(model, rows, context) {
  if (!rows.length) return null;
  const groups = new Map();
  for (const row of rows) pushTo(groups, `${model.findings.code[row]} ${model.findings.finding[row]}`, row);
  return section(plural(rows.length, "finding"), [...groups.values()].map((group) => findingGroup(model, group, context)));
}

function findingGroup(model, rows, context) {
  if (rows.length === 1) return findingCard(model, rows[0], context, true);
  const { severity, finding, code, suggestion, where, value } = model.findings;
  const [first] = rows;
  const places = rows.slice(0, 4).map((row) =>
    element("li", {}, button(shortened(where[row] || value[row] || "the model", 46), () => context.goFinding(row), { class: "link" })),
  );
  const more = rows.length - places.length;
  return element(
    "article",
    { class: `finding ${severity[first]}` },
    element("p", { class: "headline" }, element("span", { class: "severity" }, severity[first]), ` ${finding[first]} `, element("code", {}, code[first]), element("span", { class: "times" }, ` × ${count(rows.length)}`)),
    groupAdvice(rows.map((row) => suggestion[row])),
    element("ul", { class: "places" }, places, more > 0 ? element("li", {}, button(`and ${count(more)} more`, () => context.searchFor(`finding:${code[first]}`), { class: "link" })) : null),
  );
}

function groupAdvice([first, ...others]) {
  if (!first) return null;
  return element("p", {}, others.every((other) => other === first) ? first : `such as: ${first}`);
}

const MOST_OPERATORS = 8;

function operatorBlock(model, level) {
  const operators = new Map();
  eachNode(model, level.id, (node) => addTo(operators, model.nodes.op[node], 1));
  const sorted = [...operators].sort((a, b) => b[1] - a[1]);
  const rows = sorted.slice(0, MOST_OPERATORS).map(([op, nodes]) => [op, count(nodes)]);
  const more = sorted.length > MOST_OPERATORS ? element("p", { class: "soft" }, `and ${sorted.length - MOST_OPERATORS} more`) : null;
  return section("Operators", factList(rows), more);
}

function levelFindings(model, level) {
  const rows = [];
  if (level.id === 0) return model.findings.code.map((_, row) => row);
  eachNode(model, level.id, (node) => rows.push(...(model.findingsOf.get(node) || [])));
  return rows.sort((one, other) => one - other);
}

function segmentHint(level, model) {
  const isCut = level.children.some((child) => model.tree[child].kind === "segment");
  return isCut ? element("p", { class: "soft" }, "This level is long: it is shown as runs of nodes in graph order, cut where few values cross.") : null;
}

function scopeRule(level) {
  if (level.kind !== "layer" || !level.path) return null;
  return section(
    "Keep it in float32",
    element("p", { class: "soft" }, "A rule for a policy file:"),
    copyable(`[[rule]]\nscope = ${tomlQuoted(`${level.path}/**`)}\npolicy = "float32"`, "the rule"),
  );
}

const MOST_LINKS = 12;

/** What there is to know about one node. */
function nodeDetails(model, node, context) {
  const { op, domain, scope, dtype, provider, placement, parameters, bytes, work } = model.nodes;
  const title = nodeTitle(model, node);
  const facts = [
    ["computes in", dtypeLabel(dtype[node])],
    ["layer", levelLink(model, model.levelOf[node], context)],
    scope[node] && scope[node] !== model.tree[model.levelOf[node]].path && ["module", scope[node]],
    ["place", nodeKey(model, node)],
    provider[node] && ["runs on", provider[node]],
    placement[node] && ["by onnxruntime", placement[node]],
    parameters[node] > 0 && ["constants", `${count(parameters[node])} elements, ${bytesText(bytes[node])}`],
    work[node] > 0 && ["work", workText(work[node])],
  ];
  return [
    element("p", { class: "kind" }, domain[node] ? `${domain[node]} ${op[node]}` : op[node]),
    element("h2", {}, title),
    factList(facts),
    whyBlock(model, node),
    findingList(model, findingRows(model, node), context),
    quantizerBlock(model, node),
    operandTable("Reads", model, model.nodes.inputs[node], context, true),
    operandTable("Writes", model, model.nodes.outputs[node], context, false),
    rangeList(model, node, context),
    excludeBlock(model, node),
  ];
}

function factList(facts) {
  const rows = facts.filter(Boolean).map(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]);
  return element("dl", {}, rows);
}

function section(title, ...content) {
  return element("section", {}, element("h3", {}, title), content);
}

/** Why the node is there, as it is and where it is: what was decided, the pass that stamped it, casts, placement. */
function whyBlock(model, node) {
  const { decision, origin, reason, expected, provider, kernels } = model.nodes;
  const row = model.castOf.get(node);
  const lines = [];
  if (decision[node]) lines.push(["decided", decision[node]]);
  if (origin[node]) lines.push(["inserted or changed by", origin[node]]);
  if (row !== undefined) {
    const { source, target, effect, consumers } = model.casts;
    lines.push(["cast", `${source[row]} to ${target[row]}, ${effect[row]}`]);
    lines.push(["feeds", plural(consumers[row], "operand or output", "operands and outputs")]);
  }
  if (reason[node]) lines.push(["placement", reason[node]]);
  if (expected[node] && provider[node] && expected[node] !== provider[node]) lines.push(["expected on", expected[node]]);
  if (kernels[node]) lines.push(["computed by", kernels[node]]);
  if (!lines.length) return null;
  return element("section", { class: "why" }, element("h3", {}, "Reason"), factList(lines));
}

function quantizerBlock(model, node) {
  const row = model.quantizerOf.get(node);
  if (row === undefined) return null;
  const { dtype, granularity, axis, symmetric, low, high, value } = model.quantization;
  const scales = low[row] === null ? "computed when it runs" : low[row] === high[row] ? numberText(low[row]) : `${numberText(low[row])} to ${numberText(high[row])}`;
  return section(
    "Quantization",
    factList([
      ["value", value[row]],
      ["dtype", dtypeLabel(dtype[row])],
      ["scales", `per ${granularity[row]}${axis[row] === null ? "" : `, axis ${axis[row]}`}`.replace("per dynamic", "dynamic")],
      ["symmetric", symmetric[row] === null ? "unknown" : symmetric[row] ? "yes" : "no"],
      ["scale", scales],
    ]),
  );
}

function findingList(model, rows, context) {
  if (!rows.length) return null;
  return section(
    plural(rows.length, "finding"),
    rows.slice(0, MOST_LINKS).map((row) => findingCard(model, row, context)),
    rows.length > MOST_LINKS ? element("p", { class: "soft" }, `and ${rows.length - MOST_LINKS} more in the table of findings`) : null,
  );
}

function findingCard(model, row, context, isLinked = false) {
  const { code, finding, severity, evidence, suggestion, measured, fixable, where, value } = model.findings;
  const place = where[row] || value[row];
  return element(
    "article",
    { class: `finding ${severity[row]}` },
    element("p", { class: "headline" }, element("span", { class: "severity" }, severity[row]), ` ${finding[row]} `, element("code", {}, code[row])),
    isLinked && place ? element("p", {}, button(shortened(place, 46), () => context.goFinding(row), { class: "link" })) : null,
    evidence[row] ? element("p", {}, evidence[row], element("span", { class: "soft" }, measured[row] ? " (measured)" : " (static)")) : null,
    suggestion[row] ? element("p", {}, suggestion[row]) : null,
    fixable[row] ? copyable("mpgraph audit MODEL --fix --diff", "the command that repairs it") : null,
  );
}

function operandTable(title, model, values, context, isRead) {
  if (!values.length) return null;
  const rows = values.slice(0, 40).map((value, at) => operandRow(model, value, at, context, isRead));
  const more = values.length > 40 ? element("p", { class: "soft" }, `and ${values.length - 40} more`) : null;
  return section(title, element("ol", { class: "operands", start: 0 }, rows), more);
}

function operandRow(model, value, at, context, isRead) {
  if (value < 0) return element("li", { class: "soft" }, element("span", { class: "at" }, at), "left out");
  const { name, dtype, shape, kind, type } = model.values;
  const row = model.weightOf.get(value);
  const links = isRead ? producerLink(model, value, context) : consumerLinks(model, value, context);
  const weight = row === undefined ? null : element("p", { class: "soft" }, `constant, stored as ${model.weights.stored[row]}, used in ${model.weights.used[row] || model.weights.stored[row]}, ${bytesText(model.weights.bytes[row])}`);
  const typeText = dtype[value] ? dtypeLabel(dtype[value]) : type[value] || dtypeLabel("");
  return element(
    "li",
    {},
    element("span", { class: "at" }, at),
    element("p", { class: "value-name" }, name[value]),
    element("p", {}, typeText, " ", shape[value], kind[value] < 2 ? element("span", { class: "soft" }, ` graph ${VALUE_KINDS[kind[value]]}`) : null),
    weight,
    links,
  );
}

function producerLink(model, value, context) {
  const producer = model.producers[value];
  return producer < 0 ? null : element("p", { class: "soft" }, "from ", nodeLink(model, producer, context));
}

function consumerLinks(model, value, context) {
  const readers = model.consumers[value];
  if (!readers.length) return null;
  const links = readers.slice(0, MOST_LINKS).map((node, at) => [at ? ", " : "", nodeLink(model, node, context)]);
  const more = readers.length > MOST_LINKS ? ` and ${count(readers.length - MOST_LINKS)} more` : "";
  return element("p", { class: "soft" }, "to ", links, more);
}

function nodeLink(model, node, context) {
  const title = nodeTitle(model, node);
  return button(shortened(title, 44), () => context.goNode(node), { class: "link", title: `${title} (${model.nodes.op[node]})` });
}

function levelLink(model, id, context) {
  const level = model.tree[id];
  return button(shortened(level.kind === "layer" ? level.path || "model" : level.name, 40), () => context.goLevel(id), { class: "link", title: level.path });
}

/** Histograms of what the node writes, reads and keeps. */
function rangeList(model, node, context) {
  const blocks = [];
  for (const value of new Set([...model.nodes.outputs[node], ...model.nodes.inputs[node]])) {
    if (value < 0) continue;
    blocks.push(...valueRanges(model, value, context));
  }
  if (!blocks.length) return null;
  return element("section", {}, element("h3", {}, "Ranges"), limitChoice(context), blocks.slice(0, 8));
}

function valueRanges(model, value, context) {
  const row = model.weightOf.get(value);
  const measured = readRange(model, model.values.range[value]);
  const stored = row === undefined ? null : readRange(model, model.weights.range[row]);
  const name = shortened(tail(model.values.name[value]), 26);
  return [
    stored && rangeBlock(stored, `weight ${name}`, context),
    measured && !stored && rangeBlock(measured, name, context),
  ].filter(Boolean);
}

/** The option that keeps the node in float32. */
function excludeBlock(model, node) {
  const name = model.nodes.name[node];
  const rule = `[[rule]]\nkey = ${tomlQuoted(nodeKey(model, node))}\npolicy = "float32"`;
  return section(
    "Keep it in float32",
    name ? copyable(`--nodes-to-exclude ${shellQuoted(name)}`, "the option") : copyable(rule, "the rule for a policy file"),
  );
}

/** What there is to know about one value. */
function valueDetails(model, value, context) {
  const { name, dtype, shape, kind, graph } = model.values;
  const row = model.weightOf.get(value);
  const ranges = valueRanges(model, value, context);
  return [
    element("p", { class: "kind" }, VALUE_KINDS[kind[value]]),
    element("h2", {}, name[value]),
    factList([
      ["dtype", dtypeLabel(dtype[value])],
      ["shape", shape[value] || "unknown"],
      ["graph", graph[value]],
      row !== undefined && ["stored as", dtypeLabel(model.weights.stored[row])],
      row !== undefined && ["used in", model.weights.used[row] || "nothing"],
      row !== undefined && ["size", `${count(model.weights.elements[row])} elements, ${bytesText(model.weights.bytes[row])}`],
    ]),
    findingList(model, model.findingsOfValue.get(name[value]) || [], context),
    section("Links", producerLink(model, value, context), consumerLinks(model, value, context)),
    ranges.length ? element("section", {}, element("h3", {}, "Ranges"), limitChoice(context), ranges) : null,
  ];
}

/** The tab about the whole model. */
function summaryTab(model, context) {
  const { head } = model;
  const { totals } = head;
  const opsets = Object.entries(head.opsets).map(([domain, version]) => `${domain || "ai.onnx"} ${version}`);
  const facts = [
    ["model", head.model],
    head.producer && ["producer", head.producer],
    ["opset", opsets.join(", ")],
    ["IR version", head.ir_version],
    ["nodes", count(model.count)],
    ["target", head.target || "none asked for"],
    ["data", head.data ? `${head.data}, ${plural(head.samples, "sample")}` : "none: static evidence only"],
    ["casts", count(totals.casts)],
    ["Q/DQ", count(totals.quantizers)],
  ];
  return element(
    "div",
    { class: "summary" },
    element("section", { class: "card" }, element("h2", {}, "Model"), factList(facts.filter(Boolean))),
    card("Nodes by dtype", totals.nodes, count),
    card("Multiply-accumulates by dtype", totals.multiply_accumulates, workText),
    card("Weights by stored dtype", totals.weight_bytes, bytesText),
    kindsCard(model, context),
    operatorsCard(model),
    notAuditedCard(head),
  );
}

function card(title, totals, text) {
  const block = shareBlock(title, new Map(Object.entries(totals)), text);
  if (block) block.classList.add("card");
  return block;
}

function kindsCard(model, context) {
  const kinds = new Map();
  model.findings.finding.forEach((finding, row) => {
    const key = `${model.findings.code[row]} ${finding}`;
    const found = kinds.get(key);
    if (found) found.total++;
    else kinds.set(key, { row, finding, total: 1 });
  });
  const rows = [...kinds.values()].map(({ row, finding, total }) =>
    element(
      "tr",
      {},
      element("td", {}, element("span", { class: `severity ${model.findings.severity[row]}` }, model.findings.severity[row])),
      element("td", {}, element("code", {}, model.findings.code[row])),
      element("th", { scope: "row" }, button(finding, () => context.searchFor(`finding:${model.findings.code[row]}`), { class: "link" })),
      element("td", { class: "number" }, count(total)),
    ),
  );
  const content = rows.length ? element("table", { class: "plain" }, rows) : element("p", { class: "soft" }, "None.");
  return element("section", { class: "card wide" }, element("h3", {}, "Findings"), content);
}

function operatorsCard(model) {
  const operators = new Map();
  model.nodes.op.forEach((op, node) => {
    if (!operators.has(op)) operators.set(op, new Map());
    addTo(operators.get(op), model.nodes.dtype[node], 1);
  });
  const sum = (shares) => [...shares.values()].reduce((total, each) => total + each, 0);
  const sorted = [...operators].sort((a, b) => sum(b[1]) - sum(a[1]));
  const rows = sorted.slice(0, 24).map(([op, shares]) =>
    element("tr", {}, element("th", { scope: "row" }, op), element("td", { class: "number" }, count(sum(shares))), element("td", {}, dtypeBar(shares, 120, 9))),
  );
  const more = sorted.length > 24 ? element("p", { class: "soft" }, `and ${sorted.length - 24} more operators`) : null;
  return element("section", { class: "card" }, element("h3", {}, "Operators"), element("table", { class: "plain" }, rows), more);
}

function notAuditedCard(head) {
  if (!head.not_audited.length) return null;
  const rows = head.not_audited.slice(0, 200).map(([where, reason]) => element("tr", {}, element("th", { scope: "row" }, where), element("td", {}, reason)));
  return element("section", { class: "card wide" }, element("h3", {}, "Not audited"), element("table", { class: "plain" }, rows));
}

/** One node, value or level as the JSON of the report names its parts. */
function nodeRecord(model, node) {
  const { nodes } = model;
  const nameOf = (value) => (value < 0 ? "" : model.values.name[value]);
  return {
    key: nodeKey(model, node),
    name: nodes.name[node],
    op_type: nodes.op[node],
    domain: nodes.domain[node],
    scope: nodes.scope[node],
    dtype: nodes.dtype[node],
    inputs: nodes.inputs[node].map(nameOf),
    outputs: nodes.outputs[node].map(nameOf),
    parameters: nodes.parameters[node],
    parameter_bytes: nodes.bytes[node],
    multiply_accumulates: nodes.work[node],
    origin: nodes.origin[node],
    provider: nodes.provider[node],
    placement: nodes.placement[node],
    findings: findingRows(model, node).map((row) => findingRecord(model, row)),
  };
}

function findingRecord(model, row) {
  const names = ["code", "kind", "finding", "severity", "value", "scope", "evidence", "suggestion"];
  const record = Object.fromEntries(names.map((name) => [name, model.findings[name][row]]));
  return { ...record, node: model.findings.where[row], measured: Boolean(model.findings.measured[row]), fixable: Boolean(model.findings.fixable[row]) };
}

function levelRecord(model, id) {
  const level = model.tree[id];
  return {
    name: level.name,
    path: level.path,
    nodes: level.size,
    dtypes: Object.fromEntries(level.dtypes),
    casts: level.casts,
    quantizers: level.quantizers,
    findings: level.findings,
    layers: level.children.map((child) => model.tree[child].name),
    own_nodes: level.nodes.map((node) => nodeKey(model, node)),
  };
}

/** The tab with JSON: `recordOf(isWhole)` gives what is selected, or all. */
function jsonTab(recordOf) {
  const code = element("pre", { tabindex: 0, "aria-label": "JSON" });
  const whole = element("input", { type: "checkbox", onchange: () => shown() });
  const copy = button("Copy", () => copyText(text, copy), { "aria-label": "Copy the JSON" });
  let text = "";
  function shown() {
    text = JSON.stringify(recordOf(whole.checked), null, 2);
    code.textContent = text.length > 400000 ? `${text.slice(0, 400000)}\n… (Copy takes all of it)` : text;
  }
  const controls = element("div", { class: "controls" }, element("label", { class: "choice" }, whole, " all of it"), copy);
  return { element: element("div", { class: "json-tab" }, controls, code), shown, print: () => {} };
}

function wholeRecord(model) {
  return {
    ...model.head,
    nodes: model.nodes.op.map((_, node) => nodeRecord(model, node)),
    findings: model.findings.code.map((_, row) => findingRecord(model, row)),
  };
}

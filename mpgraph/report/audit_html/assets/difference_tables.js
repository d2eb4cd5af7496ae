/** A number for a node of either side, so that one table can hold both. */
const sideNumber = (at, node) => (at ? node : -2 - node);

/** The table of everything that changed. */
function changesTab(changes, context) {
  const { table, sides } = changes;
  const sideOf = (row) => (table.after[row] >= 0 ? 1 : 0);
  const nodeOf = (row) => (sideOf(row) ? table.after[row] : table.before[row]);
  const about = (row) => sides[sideOf(row)].model;
  const columns = [
    textColumn("change", (row) => table.kind[row], 1.5),
    pathColumn("node", (row) => nodeTitle(about(row), nodeOf(row)), 4),
    textColumn("operator", (row) => about(row).nodes.op[nodeOf(row)], 2),
    valueColumn("before", table, (row) => table.old[row]),
    valueColumn("after", table, (row) => table.new[row]),
    textColumn("reason", (row) => reasonText(table, row, changes), 3),
    pathColumn("layer", (row) => about(row).nodes.scope[nodeOf(row)], 3),
  ];
  return tableOf(changes.after, context, {
    label: "Changes",
    columns,
    length: table.kind.length,
    nodeOf: (row) => sideNumber(sideOf(row), nodeOf(row)),
    onOpen: (row) => context.goSide(sideOf(row), nodeOf(row)),
    describe: (row) => table.kind[row],
    empty: "Nothing changed: every node computes, stores and runs as it did.",
  });
}

const valueColumn = (title, table, text) => ({
  title,
  text,
  width: 2,
  cell: (row) => (["dtype", "storage"].includes(table.kind[row]) && text(row) ? dtypeLabel(text(row)) : text(row)),
});

/** The sums of both models beside each other. */
function comparedSummary(changes) {
  const heads = [changes.before.head, changes.after.head];
  const kinds = new Map();
  changes.table.kind.forEach((kind) => addTo(kinds, kind, 1));
  return element(
    "div",
    { class: "summary" },
    comparedTable("Model", [
      ["file", ...heads.map((head) => head.model)],
      ["nodes", count(changes.before.count), count(changes.after.count)],
      ["casts", ...heads.map((head) => count(head.totals.casts))],
      ["Q/DQ", ...heads.map((head) => count(head.totals.quantizers))],
      ["findings", count(changes.before.findings.code.length), count(changes.after.findings.code.length)],
      ["target", ...heads.map((head) => head.target || "none")],
    ]),
    comparedTotals("Nodes by dtype", heads, "nodes", count),
    comparedTotals("Multiply-accumulates by dtype", heads, "multiply_accumulates", workText),
    comparedTotals("Weights by stored dtype", heads, "weight_bytes", bytesText),
    element(
      "section",
      { class: "card" },
      element("h3", {}, "Changes"),
      kinds.size ? factList([...kinds].map(([kind, total]) => [kind, count(total)])) : element("p", { class: "soft" }, "None."),
    ),
  );
}

function comparedTotals(title, heads, name, text) {
  const dtypes = [...new Set(heads.flatMap((head) => Object.keys(head.totals[name])))];
  if (!dtypes.length) return null;
  const rows = dtypes.map((dtype) => [dtypeLabel(dtype), ...heads.map((head) => (head.totals[name][dtype] ? text(head.totals[name][dtype]) : "–"))]);
  return comparedTable(title, rows);
}

function comparedTable(title, rows) {
  const head = element("tr", {}, ["", "before", "after"].map((text) => element("th", { scope: "col" }, text)));
  const lines = rows.map(([name, old, now]) => element("tr", { class: old === now ? "" : "differs" }, element("th", { scope: "row" }, name), element("td", {}, old), element("td", {}, now)));
  return element("section", { class: "card" }, element("h3", {}, title), element("table", { class: "plain compared" }, element("thead", {}, head), element("tbody", {}, lines)));
}

/** Findings that are new, gone or still there. */
function comparedFindings(changes, context) {
  const keyOf = (model, row) => [model.findings.code[row], model.findings.value[row], model.findings.where[row]].join("\n");
  const [old, now] = [changes.before, changes.after].map((model) => new Map(model.findings.code.map((_, row) => [keyOf(model, row), row])));
  const entries = [
    ...[...now].map(([key, row]) => ({ state: old.has(key) ? "still there" : "new", model: changes.after, at: 1, row })),
    ...[...old].filter(([key]) => !now.has(key)).map(([, row]) => ({ state: "gone", model: changes.before, at: 0, row })),
  ];
  const order = { new: 0, gone: 1, "still there": 2 };
  entries.sort((one, other) => order[one.state] - order[other.state]);
  const field = (name) => (at) => entries[at].model.findings[name][entries[at].row];
  const nodeOf = (at) => entries[at].model.findings.node[entries[at].row];
  const columns = [
    textColumn("state", (at) => entries[at].state, 1.5),
    { title: "severity", width: 1.3, text: field("severity"), cell: (at) => element("span", { class: `severity ${field("severity")(at)}` }, field("severity")(at)) },
    textColumn("code", field("code"), 1.3),
    textColumn("finding", field("finding"), 3),
    pathColumn("where", (at) => field("where")(at) || field("value")(at), 4),
    textColumn("evidence", field("evidence"), 3),
    textColumn("suggestion", field("suggestion"), 3),
  ];
  return tableOf(changes.after, context, {
    label: "Findings",
    columns,
    length: entries.length,
    nodeOf: (at) => sideNumber(entries[at].at, nodeOf(at)),
    onOpen: (at) => nodeOf(at) >= 0 && context.goSide(entries[at].at, nodeOf(at)),
    describe: (at) => (entries[at].state === "new" ? "inserted" : entries[at].state === "gone" ? "removed" : ""),
    empty: "No findings in either model.",
  });
}

/** Why a node changed: the pass that stamped it, or what was decided about it on either side. */
function reasonText(table, row, { before, after }) {
  const old = before.nodes.decision[table.before[row]];
  const { origin, decision } = after.nodes;
  return origin[table.after[row]] || decision[table.after[row]] || old || "";
}

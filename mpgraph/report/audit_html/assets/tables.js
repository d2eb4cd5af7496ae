/** The tables of the tabs: each gives its grid and which of its rows lie in a level. */
const TABLES = {
  casts(model, context) {
    const { node, source, target, effect, consumers, origin } = model.casts;
    const columns = [
      nodeColumn(model, (row) => node[row]),
      dtypeColumn("from", (row) => source[row]),
      dtypeColumn("to", (row) => target[row]),
      textColumn("effect", (row) => effect[row], 2),
      numberColumn("feeds", (row) => consumers[row]),
      textColumn("reason", (row) => origin[row] || "the model's own", 4),
      layerColumn(model, (row) => node[row]),
    ];
    return tableOf(model, context, {
      label: "Casts",
      columns,
      length: node.length,
      nodeOf: (row) => node[row],
      describe: (row) => (effect[row] === "lossy pair" ? "warning" : ""),
      empty: "No casts: every value is read in the dtype in which it was written.",
    });
  },

  quantization(model, context) {
    const { node, value, dtype, granularity, axis, symmetric, low, high } = model.quantization;
    const columns = [
      nodeColumn(model, (row) => node[row]),
      textColumn("operator", (row) => model.nodes.op[node[row]] || "", 2),
      pathColumn("value", (row) => value[row], 3),
      dtypeColumn("dtype", (row) => dtype[row]),
      textColumn("scales per", (row) => granularity[row] + (axis[row] === null ? "" : ` ${axis[row]}`), 1.5),
      textColumn("symmetric", (row) => (symmetric[row] === null ? "" : symmetric[row] ? "yes" : "no"), 1.5),
      numberColumn("least scale", (row) => low[row], numberText),
      numberColumn("greatest scale", (row) => high[row], numberText),
      layerColumn(model, (row) => node[row]),
    ];
    return tableOf(model, context, {
      label: "Quantization",
      columns,
      length: node.length,
      nodeOf: (row) => node[row],
      empty: "No node quantizes, dequantizes or computes on quantized numbers.",
    });
  },

  numerics(model, context) {
    const entries = numericEntries(model);
    const verdict = (row) => rangeVerdict(entries[row].range, context.limit(), context.limits[context.limit()]);
    const severity = { error: 3, warning: 2, note: 1, good: 0 };
    const columns = [
      pathColumn("value", (row) => entries[row].name, 4),
      textColumn("kind", (row) => entries[row].kind, 1.5),
      dtypeColumn("dtype", (row) => entries[row].dtype),
      {
        title: "limits",
        width: 5,
        text: (row) => verdict(row)[1],
        value: (row) => severity[verdict(row)[0]] * 1000 + Math.log2(entries[row].range.amax || 1e-300) / 10,
        cell: (row) => element("span", { class: `verdict ${verdict(row)[0]}` }, verdict(row)[1]),
      },
      numberColumn("minimum", (row) => entries[row].range.minimum, numberText),
      numberColumn("maximum", (row) => entries[row].range.maximum, numberText),
      numberColumn("smallest", (row) => entries[row].range.smallest, numberText),
      numberColumn("NaN, Inf", (row) => entries[row].range.nonfinite),
    ];
    const measured = entries.some((entry) => entry.kind !== "weight");
    return tableOf(model, context, {
      label: "Numerics",
      columns,
      length: entries.length,
      nodeOf: (row) => entries[row].node,
      onOpen: (row) => context.goValue(entries[row].value),
      before: [
        limitChoice(context),
        measured ? null : element("p", { class: "soft" }, "Weights only: run mpgraph audit MODEL --data DATA to measure activations."),
      ],
      empty: "Nothing was measured: weights were not read, and no data was given (mpgraph audit MODEL --data DATA).",
    });
  },

  placement(model, context) {
    const { op, provider, placement, expected, reason, dtype } = model.nodes;
    const rows = model.head.placement || model.tree[0].providers.size ? model.count : 0;
    const columns = [
      nodeColumn(model, (row) => row),
      textColumn("operator", (row) => op[row], 2),
      dtypeColumn("dtype", (row) => dtype[row]),
      textColumn("runs on", (row) => providerName(provider[row]), 1.5),
      textColumn("state", (row) => placement[row], 1.2),
      textColumn("expected", (row) => providerName(expected[row]), 1.5),
      textColumn("reason", (row) => reason[row], 3),
    ];
    return tableOf(model, context, {
      label: "Placement",
      columns,
      length: rows,
      nodeOf: (row) => row,
      before: [placementSummary(model)],
      describe: (row) => (expected[row] && provider[row] && expected[row] !== provider[row] ? "warning" : ""),
      empty: "Where nodes run was not asked for: mpgraph audit MODEL --target cpu.",
    });
  },

  findings(model, context) {
    const { code, finding, severity, node, value, evidence, suggestion, measured, where, scope } = model.findings;
    const rank = { error: 2, warning: 1, note: 0 };
    const columns = [
      {
        title: "severity",
        width: 1.3,
        text: (row) => severity[row],
        value: (row) => rank[severity[row]],
        cell: (row) => element("span", { class: `severity ${severity[row]}` }, severity[row]),
        isNumber: false,
      },
      textColumn("code", (row) => code[row], 1.3),
      textColumn("finding", (row) => finding[row], 3),
      pathColumn("where", (row) => where[row] || value[row], 4),
      pathColumn("layer", (row) => scope[row], 3),
      textColumn("evidence", (row) => evidence[row], 3),
      textColumn("by", (row) => (measured[row] ? "data" : "graph"), 1),
      textColumn("suggestion", (row) => suggestion[row], 3),
    ];
    return tableOf(model, context, {
      label: "Findings",
      columns,
      length: code.length,
      nodeOf: (row) => (node[row] >= 0 ? node[row] : valueNode(model, value[row])),
      onOpen: (row) => context.goFinding(row),
      empty: "No findings: no rule has anything to say about this model.",
    });
  },
};

function tableOf(model, context, { label, columns, length, nodeOf, onOpen, before = [], describe, empty }) {
  const all = Array.from({ length }, (_, row) => row);
  const open = onOpen || ((row) => nodeOf(row) >= 0 && context.goNode(nodeOf(row)));
  const grid = createGrid({ label, columns, rows: all, onOpen: open, describe, empty });
  const search = element("input", { type: "search", placeholder: "Filter rows", "aria-label": `Filter ${label}`, oninput: refresh });
  const onlyLevel = element("input", { type: "checkbox", onchange: refresh });
  const scopeName = element("span");
  const controls = element("div", { class: "controls" }, search, element("label", { class: "choice" }, onlyLevel, " only in ", scopeName), before);
  let texts = null;

  function refresh() {
    const query = search.value.trim().toLowerCase();
    if (query && !texts) texts = all.map((row) => columns.map((column) => column.text(row)).join("\n").toLowerCase());
    const inside = onlyLevel.checked ? context.nodesInLevel() : null;
    grid.setRows(all.filter((row) => (!query || texts[row].includes(query)) && (!inside || inside.has(nodeOf(row)))));
  }

  return {
    element: element("div", { class: "table-tab" }, length ? controls : null, grid.element),
    shown() {
      scopeName.textContent = context.levelName();
      if (onlyLevel.checked) refresh();
      grid.render();
    },
    print: grid.print,
  };
}

const textColumn = (title, text, width) => ({ title, text, width });
const numberColumn = (title, value, text = count) => ({ title, value, text: (row) => text(value(row)), width: 1.5, isNumber: true });
const dtypeColumn = (title, text) => ({ title, text, width: 1.6, cell: (row) => dtypeLabel(text(row)) });
const nodeColumn = (model, nodeOf) => pathColumn("node", (row) => (nodeOf(row) >= 0 ? nodeTitle(model, nodeOf(row)) : ""), 4);

/** A column of paths, cut in the middle because their beginnings are alike. */
const pathColumn = (title, text, width) => ({ title, text, width, cell: (row) => shortened(text(row), Math.round(width * 7.2)) });
const layerColumn = (model, nodeOf) => pathColumn("layer", (row) => model.nodes.scope[nodeOf(row)] || "", 3);

/** A node that writes or reads a value, for values without a place of their own. */
function valueNode(model, name) {
  const value = model.values.name.indexOf(name);
  if (value < 0) return -1;
  return model.producers[value] >= 0 ? model.producers[value] : (model.consumers[value][0] ?? -1);
}

function numericEntries(model) {
  const entries = [];
  const { name, dtype, kind, range } = model.values;
  range.forEach((number, value) => {
    if (number < 0 || model.weightOf.has(value)) return;
    const node = model.producers[value] >= 0 ? model.producers[value] : (model.consumers[value][0] ?? -1);
    entries.push({ name: name[value], kind: VALUE_KINDS[kind[value]], dtype: dtype[value], range: readRange(model, number), value, node });
  });
  const { weights } = model;
  weights.range.forEach((number, row) => {
    if (number < 0) return;
    const value = weights.value[row];
    entries.push({ name: name[value], kind: "weight", dtype: weights.stored[row], range: readRange(model, number), value, node: model.consumers[value]?.[0] ?? -1 });
  });
  return entries;
}

function placementSummary(model) {
  const { placement } = model.head;
  const parts = [...model.tree[0].providers].map(([provider, nodes]) => `${providerName(provider)}: ${plural(nodes, "node")}`);
  if (placement) parts.push(plural(placement.casts, "cast inserted", "casts inserted"), plural(placement.copies, "copy", "copies"));
  return parts.length ? element("p", { class: "soft" }, parts.join(" · ")) : null;
}

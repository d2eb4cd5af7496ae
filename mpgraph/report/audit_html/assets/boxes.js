/** Draws one item of the picture as a group that can be focused. */
function drawItem(model, item, borders, mark) {
  const { label, parts } = BOXES[item.kind](model, item, borders);
  return drawn(
    "g",
    {
      class: `item ${item.kind}${item.isCentre ? " centre" : ""}${mark ? ` changed ${mark.kind}` : ""}`,
      transform: `translate(${item.left.toFixed(1)} ${item.topEdge.toFixed(1)})`,
      role: "button",
      tabindex: -1,
      "aria-label": mark ? `${label}, ${mark.title}` : label,
      "data-key": item.key,
    },
    drawn("title", {}, label),
    parts,
    mark ? markSign(mark) : null,
  );
}

/** A sign at the corner that says what changed. */
function markSign({ kind, text }) {
  const width = 10 + 6.5 * text.length;
  return drawn(
    "g",
    { class: `mark-sign ${kind}`, transform: "translate(-7 -9)" },
    drawn("rect", { width, height: 16, rx: 3 }),
    drawn("text", { class: "middle", x: width / 2, y: 12 }, text),
  );
}

const BOXES = {
  node(model, item, borders) {
    const { op, dtype, provider, placement } = model.nodes;
    const { node, width, height } = item;
    const stored = storedElsewhere(model, node);
    const label = [
      nodeTitle(model, node),
      `${op[node]}, ${dtype[node] || "unknown dtype"}`,
      stored ? `weights stored as ${stored}` : "",
      provider[node] || placement[node],
      findingText(nodeFindings(model, node)),
    ];
    const room = width - (stored ? 78 : 38);
    const parts = [
      outline(item, dtype[node], borders.of(provider[node], placement[node])),
      sign(dtype[node], 17, 17, 5.5),
      words(op[node], 29, 21, "name", room),
      words(tail(nodeTitle(model, node)), 14, 37, "soft", width - 26),
      stored ? storedSign(stored, width - 12) : null,
      badge(nodeFindings(model, node), width, height),
    ];
    return { label: label.filter(Boolean).join("\n"), parts };
  },

  level(model, item, borders) {
    const level = model.tree[item.level];
    const dtype = mostFrequent(level.dtypes);
    const { width, height } = item;
    const facts = [plural(level.size, "node")];
    if (level.casts) facts.push(plural(level.casts, "cast"));
    if (level.quantizers) facts.push(`${count(level.quantizers)} Q/DQ`);
    const shares = [...level.dtypes].sort((a, b) => b[1] - a[1]).map(([each, share]) => `${each || "unknown"}: ${share}`);
    const label = [level.name, facts.join(", "), shares.join(", "), findingText(level.findings)].filter(Boolean).join("\n");
    const parts = [
      drawn("path", { class: "behind", d: outlinePath(dtype, 4, 4, width, height) }),
      outline(item, dtype, borders.of(mostFrequent(level.providers), "")),
      sign(dtype, 17, 18, 5.5),
      words(level.name, 29, 22, "name", width - 40),
      item.kind === "segment" ? words(segmentSpan(model, level), 15, 54, "small soft", width - 28) : null,
      words(factsThatFit(facts, width - 28), 15, 38, "soft", width - 28),
      barParts(level.dtypes, 15, height - 14, width - 30, 6),
      badge(level.findings, width, height),
    ];
    return { label, parts };
  },

  convert(model, item, borders) {
    const { node, width, height } = item;
    const { op, dtype, provider, placement } = model.nodes;
    const row = model.castOf.get(node);
    const [from, to] = conversion(model, node);
    const effect = row === undefined ? "" : model.casts.effect[row];
    const title = op[node] === "Constant" ? "Constant" : `${op[node]}: ${from || "?"} to ${to || "?"}`;
    const label = [title, effect, nodeTitle(model, node), provider[node] || placement[node], findingText(nodeFindings(model, node))];
    const prefix = { QuantizeLinear: "Q", DynamicQuantizeLinear: "Q", DequantizeLinear: "DQ", Constant: "const" }[op[node]];
    const parts = [drawn("path", {
      class: `shape pill ${effect.includes("pair") ? effect.replace(" ", "-") : ""}`,
      d: rounded(0, 0, width, height, height / 2),
    })];
    if (op[node] === "Constant") {
      parts.push(sign(to || dtype[node], 15, 11, 4.5), words("const", 26, 15, "small", 60));
    } else if (prefix) {
      parts.push(sign(to, width - 15, 11, 4.5), words(`${prefix}  ${shortDtype(from)} → ${shortDtype(to)}`, 11, 15, "small", width - 34));
    } else {
      parts.push(sign(from, 14, 11, 4.5), sign(to, width - 14, 11, 4.5));
      parts.push(drawn("text", { class: "small middle", x: width / 2, y: 15 }, `${shortDtype(from)} → ${shortDtype(to)}`));
    }
    parts.push(badge(nodeFindings(model, node), width, height, 0.8));
    return { label: label.filter(Boolean).join("\n"), parts };
  },

  value(model, item) {
    const { name, dtype, shape, kind } = model.values;
    const { value, width, height } = item;
    const what = VALUE_KINDS[kind[value]];
    const label = [`${what} ${name[value]}`, `${dtype[value] || "unknown dtype"} ${shape[value]}`].join("\n");
    const parts = [
      drawn("path", { class: `shape value-shape dt-${family(dtype[value])}`, d: rounded(0, 0, width, height, 3) }),
      sign(dtype[value], 13, 17, 4.5),
      words(tail(name[value]), 24, 15, "small strong", width - 32),
      words(`${shortDtype(dtype[value] || "?")} ${shape[value]}`, 24, 27, "small soft", width - 32),
    ];
    return { label, parts };
  },

  ghost(model, item) {
    const { width, height } = item;
    const [title, label] = ghostTitle(model, item);
    const dtype = item.more ? "" : item.level === undefined ? model.nodes.dtype[item.node] : mostFrequent(model.tree[item.level].dtypes);
    const parts = [
      drawn("path", { class: "shape ghost-shape", d: rounded(0, 0, width, height, 4) }),
      item.more ? null : sign(dtype, 14, 14, 4.5),
      words(title, item.more ? 12 : 25, 18, "small soft", width - 36),
    ];
    return { label, parts };
  },
};

function factsThatFit(facts, width) {
  let shown = facts.length;
  while (shown > 1 && fitted(facts.slice(0, shown).join(" · "), "soft", width) !== facts.slice(0, shown).join(" · ")) shown--;
  return facts.slice(0, shown).join(" · ");
}

BOXES.segment = BOXES.level;

/** The first and last node of a run. */
function segmentSpan(model, level) {
  return `${tail(nodeTitle(model, level.firstNode))} … ${tail(nodeTitle(model, level.lastNode))}`;
}

function ghostTitle(model, item) {
  const direction = item.side < 0 ? "from" : "to";
  if (item.more) return [`${item.more} more`, `${direction} ${item.more} more layers and nodes`];
  if (item.level !== undefined) {
    const level = model.tree[item.level];
    return [level.name, `${direction} ${level.path || level.name}`];
  }
  const title = nodeTitle(model, item.node);
  return [tail(title), `${direction} ${title} (${model.nodes.op[item.node]})`];
}

/** The dtypes that a converter reads and writes. */
function conversion(model, node) {
  const row = model.castOf.get(node);
  if (row !== undefined) return [model.casts.source[row], model.casts.target[row]];
  const dtypeOf = (value) => (value >= 0 ? model.values.dtype[value] : "");
  return [dtypeOf(model.nodes.inputs[node][0] ?? -1), dtypeOf(model.nodes.outputs[node][0] ?? -1)];
}

/** The dtype in which the constants of a node are stored, where it is not the one of the node. */
function storedElsewhere(model, node) {
  for (const value of model.nodes.inputs[node]) {
    const row = model.weightOf.get(value);
    if (row === undefined) continue;
    const stored = model.weights.stored[row];
    if (/float|int[48]/.test(stored) && stored !== model.nodes.dtype[node] && model.weights.elements[row] > 1) return stored;
  }
  return "";
}

function nodeFindings(model, node) {
  const found = { error: 0, warning: 0, note: 0 };
  for (const row of findingRows(model, node)) found[model.findings.severity[row]]++;
  return found;
}

function findingText(findings) {
  return SEVERITIES.filter((severity) => findings[severity])
    .map((severity) => plural(findings[severity], severity))
    .join(", ");
}

function outline(item, dtype, border) {
  const d = outlinePath(dtype, 0, 0, item.width, item.height);
  return drawn("path", { class: `shape dt-${family(dtype)} ${border}`, d });
}

function sign(dtype, x, y, radius) {
  return drawn("path", { class: `sign fill-${family(dtype)}`, d: glyphPath(dtype, x, y, radius), "fill-rule": "evenodd" });
}

/** A text of a style, cut in its middle to a width in pixels. */
function words(text, x, y, style, width) {
  return drawn("text", { class: style, x, y }, fitted(text, style, width));
}

const FONTS = { name: "600 12px", soft: "11px", small: "10.5px", "small strong": "600 10.5px", "small soft": "10.5px" };
let pen = null;

function fitted(text, style, width) {
  pen ||= document.createElement("canvas").getContext("2d");
  pen.font = `${FONTS[style]} system-ui, sans-serif`;
  const measured = pen.measureText(text).width;
  if (measured <= width) return text;
  let length = Math.min(text.length - 1, Math.ceil((text.length * width) / measured) + 2);
  while (length > 3 && pen.measureText(shortened(text, length)).width > width) length--;
  return shortened(text, length);
}

function storedSign(stored, right) {
  return [
    sign(stored, right - 4, 17, 4),
    drawn("text", { class: "small soft end", x: right - 12, y: 20.5 }, `w ${shortDtype(stored)}`),
  ];
}

function barParts(shares, x, y, width, height) {
  const entries = [...shares].sort((a, b) => b[1] - a[1]);
  const total = entries.reduce((sum, [, share]) => sum + share, 0);
  let left = x;
  return entries.map(([dtype, share]) => {
    const part = (share / total) * width;
    const rect = drawn("rect", { class: `fill-${family(dtype)}`, x: left.toFixed(1), y, width: Math.max(part, 1).toFixed(1), height });
    left += part;
    return rect;
  });
}

function badge(findings, width, height, scale = 1) {
  const severity = worstSeverity(findings);
  if (!severity) return null;
  const total = findingTotal(findings);
  const text = total > 99 ? "99+" : String(total);
  const wide = 12 + 6 * text.length;
  const at = `translate(${width - wide * scale * 0.72} ${-8 * scale}) scale(${scale})`;
  return drawn(
    "g",
    { class: `badge ${severity}`, transform: at },
    drawn("rect", { width: wide, height: 16, rx: severity === "error" ? 2 : 8 }),
    drawn("text", { class: "middle", x: wide / 2, y: 12 }, text),
  );
}

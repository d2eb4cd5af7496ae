const CONVERTERS = new Set(["Cast", "CastLike", "QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear"]);
const VALUE_KINDS = ["input", "output", "initializer", "intermediate"];
const LEVEL_KINDS = ["layer", "graph", "segment"];
const SEVERITIES = ["error", "warning", "note"];

/** The texts of a table in which each begins with a part of the one before. */
function readStrings(table) {
  const texts = [];
  let previous = "";
  for (let at = 0; at < table.length; at += 2) {
    previous = previous.slice(0, table[at]) + table[at + 1];
    texts.push(previous);
  }
  return texts;
}

/** A column of a table as a list of its entries, texts in place of their numbers. */
function readColumn(column, strings) {
  if (Array.isArray(column)) return column;
  if (column.texts) return column.texts.map((number) => strings[number]);
  const runs = column.text_runs || column.runs;
  const entries = [];
  for (let at = 0; at < runs.length; at += 2) {
    const entry = column.text_runs ? strings[runs[at]] : runs[at];
    for (let times = runs[at + 1]; times > 0; times--) entries.push(entry);
  }
  return entries;
}

function readTable(table, strings) {
  return Object.fromEntries(Object.entries(table).map(([key, column]) => [key, readColumn(column, strings)]));
}

/** A model of the document with the links that the page needs. */
function readModel(data, strings) {
  const model = { head: data.head, ranges: data.ranges };
  for (const name of ["nodes", "values", "weights", "casts", "quantization", "findings", "levels"]) {
    model[name] = readTable(data[name], strings);
  }
  model.count = model.nodes.op.length;
  linkValues(model);
  model.castOf = rowByNumber(model.casts.node);
  model.quantizerOf = rowByNumber(model.quantization.node);
  model.weightOf = rowByNumber(model.weights.value);
  model.findingsOf = new Map();
  model.findings.node.forEach((node, row) => {
    if (node >= 0) pushTo(model.findingsOf, node, row);
  });
  model.findingsOfValue = new Map();
  model.findings.value.forEach((value, row) => pushTo(model.findingsOfValue, value, row));
  linkLevels(model, data);
  return model;
}

function pushTo(map, key, entry) {
  const found = map.get(key);
  if (found) found.push(entry);
  else map.set(key, [entry]);
}

function rowByNumber(numbers) {
  return new Map(numbers.map((number, row) => [number, row]));
}

function linkValues(model) {
  const { inputs, outputs } = model.nodes;
  model.producers = new Int32Array(model.values.name.length).fill(-1);
  model.consumers = Array.from(model.producers, () => []);
  for (let node = 0; node < model.count; node++) {
    for (const value of outputs[node]) if (value >= 0) model.producers[value] = node;
    for (const value of inputs[node]) {
      const readers = value >= 0 ? model.consumers[value] : null;
      if (readers && readers[readers.length - 1] !== node) readers.push(node);
    }
  }
}

function linkLevels(model, data) {
  const table = model.levels;
  model.levelOf = new Int32Array(model.count).fill(0);
  model.tree = table.name.map((name, id) => ({
    id,
    name: id === 0 ? data.head.model : name,
    path: table.path[id],
    kind: LEVEL_KINDS[table.kind[id]],
    parent: table.parent[id],
    owner: table.owner[id],
    nodes: table.nodes[id],
    children: [],
    dtypes: new Map(),
    parameters: table.parameters[id],
    bytes: table.bytes[id],
    work: table.work[id],
    size: 0,
    casts: 0,
    quantizers: 0,
    providers: new Map(),
    findings: { error: 0, warning: 0, note: 0 },
    first: Infinity,
    firstNode: -1,
    last: -1,
    lastNode: -1,
  }));
  for (const level of model.tree) {
    if (level.parent >= 0) model.tree[level.parent].children.push(level.id);
    for (const node of level.nodes) model.levelOf[node] = level.id;
  }
  for (let id = model.tree.length - 1; id >= 0; id--) sumLevel(model, model.tree[id]);
}

function sumLevel(model, level) {
  const { dtype, op, provider, order } = model.nodes;
  for (const node of level.nodes) {
    if (provider[node]) addTo(level.providers, provider[node], 1);
    if (op[node] === "Cast" || op[node] === "CastLike") level.casts++;
    else if (CONVERTERS.has(op[node])) level.quantizers++;
    else if (op[node] !== "Constant") addTo(level.dtypes, dtype[node], 1);
    for (const row of model.findingsOf.get(node) || []) level.findings[model.findings.severity[row]]++;
    if (op[node] === "Constant" && level.firstNode >= 0) continue;
    if (order[node] < level.first || op[level.firstNode] === "Constant") [level.first, level.firstNode] = [order[node], node];
    if (order[node] > level.last) [level.last, level.lastNode] = [order[node], node];
  }
  level.size += level.nodes.length;
  if (level.parent < 0) return;
  const parent = model.tree[level.parent];
  parent.size += level.size;
  parent.casts += level.casts;
  parent.quantizers += level.quantizers;
  if (level.first < parent.first) [parent.first, parent.firstNode] = [level.first, level.firstNode];
  if (level.last > parent.last) [parent.last, parent.lastNode] = [level.last, level.lastNode];
  for (const severity of SEVERITIES) parent.findings[severity] += level.findings[severity];
  for (const [key, share] of level.dtypes) addTo(parent.dtypes, key, share);
  for (const [key, share] of level.providers) addTo(parent.providers, key, share);
}

function addTo(map, key, amount) {
  map.set(key, (map.get(key) || 0) + amount);
}

/** The dtype of most things counted in a map; empty for none. */
function mostFrequent(map) {
  let best = "";
  let most = 0;
  for (const [key, share] of map) if (share > most) [best, most] = [key, share];
  return best;
}

const nodeKey = (model, node) => `${model.nodes.graph[node]}#${model.nodes.place[node]}`;

const nodeTitle = (model, node) => model.nodes.name[node] || `${model.nodes.op[node]} #${model.nodes.place[node]}`;

/** The levels from the model down to one, that one included. */
function levelChain(model, id) {
  const chain = [];
  for (let each = id; each >= 0; each = model.tree[each].parent) chain.unshift(each);
  return chain;
}

/** Findings about a node, about the values that it writes and about constants that it reads. */
function findingRows(model, node) {
  const rows = new Set(model.findingsOf.get(node) || []);
  const around = [...model.nodes.outputs[node], ...model.nodes.inputs[node].filter((value) => model.producers[value] < 0)];
  for (const value of around) {
    for (const row of model.findingsOfValue.get(model.values.name[value]) || []) {
      if (model.findings.node[row] < 0) rows.add(row);
    }
  }
  return [...rows].sort((one, other) => one - other);
}

function worstSeverity(findings) {
  return SEVERITIES.find((severity) => findings[severity] > 0) || "";
}

const findingTotal = (findings) => findings.error + findings.warning + findings.note;

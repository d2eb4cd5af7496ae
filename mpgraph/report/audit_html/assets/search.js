const FILTERS = {
  dtype: "dtype:float16",
  op: "op:conv",
  cast: "cast:lossy",
  ep: "ep:cuda",
  reason: "reason:policy",
  finding: "finding:overflow",
  layer: "layer:encoder",
};

/** An index over the nodes of a model: one text for all, and lists of nodes by filter. */
function createIndex(model) {
  const { nodes } = model;
  const everything = createHaystack(model.count, (node) => {
    const values = [...nodes.outputs[node], ...nodes.inputs[node]];
    const names = values.map((value) => (value < 0 || (model.producers[value] >= 0 && model.producers[value] !== node) ? "" : model.values.name[value]));
    return `${nodes.name[node]} ${nodes.op[node]} ${names.join(" ")}`;
  });
  const scopes = createHaystack(model.count, (node) => nodes.scope[node]);
  const posting = {
    dtype: postings(model.count, (node) => [nodes.dtype[node], ...nodes.outputs[node].map((value) => (value < 0 ? "" : model.values.dtype[value]))]),
    op: postings(model.count, (node) => [nodes.op[node]]),
    ep: postings(model.count, (node) => [nodes.provider[node] || nodes.placement[node]]),
    cast: postings(model.count, (node) => castWords(model, node)),
    reason: postings(model.count, (node) => [nodes.decision[node], nodes.origin[node], nodes.reason[node]]),
    finding: postings(model.count, (node) => findingRows(model, node).flatMap((row) => ["code", "kind", "finding", "severity"].map((name) => model.findings[name][row]))),
  };
  const levels = model.tree.map((level) => `${level.name} ${level.path}`.toLowerCase());
  return (query) => search(query, { model, everything, scopes, posting, levels });
}

function castWords(model, node) {
  const row = model.castOf.get(node);
  if (row === undefined) return [];
  const { source, target, effect } = model.casts;
  return [effect[row], `${source[row]} ${target[row]}`, "any"];
}

/** All texts of a kind as one, so that one pass of indexOf searches them all. */
function createHaystack(length, textOf) {
  const offsets = new Uint32Array(length + 1);
  const parts = [];
  let offset = 0;
  for (let row = 0; row < length; row++) {
    const text = textOf(row).toLowerCase();
    offsets[row] = offset;
    offset += text.length + 1;
    parts.push(text);
  }
  offsets[length] = offset;
  return { text: `${parts.join("\n")}\n`, offsets, length };
}

/** The rows whose text holds a needle. */
function rowsWith({ text, offsets, length }, needle) {
  const rows = new Set();
  let row = 0;
  for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, offsets[row + 1])) {
    let high = length - 1;
    while (row < high) {
      const middle = (row + high + 1) >> 1;
      if (offsets[middle] <= at) row = middle;
      else high = middle - 1;
    }
    rows.add(row);
  }
  return rows;
}

/** Rows by the word that a filter looks at. */
function postings(length, wordsOf) {
  const found = new Map();
  for (let row = 0; row < length; row++) {
    for (const word of new Set(wordsOf(row))) if (word) pushTo(found, word.toLowerCase(), row);
  }
  return found;
}

function rowsOfFilter(found, needle) {
  const rows = new Set();
  if (found.has(needle)) for (const row of found.get(needle)) rows.add(row);
  else for (const [word, those] of found) if (word.includes(needle)) for (const row of those) rows.add(row);
  return rows;
}

/** Splits a query into words and filters; quotes hold blanks together. */
function readQuery(query) {
  const terms = [];
  for (const [, filter, quoted, plain] of query.matchAll(/(?:([a-z]+):)?(?:"([^"]*)"?|(\S+))/gi)) {
    const text = (quoted ?? plain ?? "").toLowerCase();
    const name = (filter || "").toLowerCase();
    if (name === "scope") terms.push(["layer", text]);
    else if (name && !(name in FILTERS)) terms.push(["", `${name}:${text}`]);
    else if (text) terms.push([name, text]);
  }
  return terms;
}

/** The nodes and levels that match all terms of a query, in graph order; null for no query. */
function search(query, { model, everything, scopes, posting, levels }) {
  const terms = readQuery(query);
  if (!terms.length) return null;
  let nodes = null;
  for (const [name, text] of terms) {
    const rows = name === "" ? rowsWith(everything, text) : name === "layer" ? rowsWith(scopes, text) : rowsOfFilter(posting[name], text);
    nodes = nodes === null ? rows : new Set([...nodes].filter((row) => rows.has(row)));
  }
  const isAboutLevels = terms.every(([name]) => name === "" || name === "layer");
  const found = isAboutLevels ? levels.flatMap((text, id) => (id > 0 && terms.every(([, term]) => text.includes(term)) ? [id] : [])) : [];
  const ownName = terms.filter(([name]) => name === "").map(([, text]) => text);
  const score = (node) => {
    const own = (model.nodes.name[node] || model.nodes.op[node]).toLowerCase();
    if (!ownName.length) return 0;
    return ownName.every((text) => own === text) ? 0 : ownName.every((text) => own.includes(text)) ? 1 : 2;
  };
  const ranked = [...nodes].map((node) => [score(node), node]).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  return { nodes: ranked.map(([, node]) => node), levels: found };
}

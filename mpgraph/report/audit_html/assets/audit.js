/** The page of one audit: tree, picture, details and tabs around one state. */
function auditPage(data, strings) {
  const model = readModel(data.models[0], strings);
  const state = { level: 0, centre: -1, node: -1, value: -1, tab: "Picture", limit: "float16" };
  const context = {
    limits: data.limits,
    limit: () => state.limit,
    setLimit(name) {
      state.limit = name;
      showDetails();
      tabs.rebuild("Numerics");
    },
    goNode: (node) => go(node, true),
    goLevel: (id) => enterLevel(id, { focus: true }),
    goValue,
    goFinding,
    searchFor: (query) => searchBox.searchFor(query),
    levelName: () => model.tree[state.level].name,
    nodesInLevel() {
      const inside = new Set();
      eachNode(model, state.level, (node) => inside.add(node));
      return inside;
    },
  };

  const details = element("aside", { class: "details", "aria-label": "Details", tabindex: -1 });
  const breadcrumb = createBreadcrumb((id) => enterLevel(id, { focus: true }));
  const picture = createPicture(model, { label: "Picture of the level", onSelect: selectItem, onEnter: enterItem, onOut: goOut });
  const tree = createTree(levelRow(model, 0), { label: "Layers", onSelect: selectRow, onEnter: enterRow });
  const searchBox = createSearchBox(model, { onNode: (node) => go(node, true), onLevel: (id) => enterLevel(id, { focus: true }), onResult: highlight });
  const legend = createLegend([model], [picture.borders]);
  const bar = element("div", { class: "picture-bar" }, breadcrumb.element, picture.tools);
  const stage = element("div", { class: "stage" }, bar, picture.element, legend);
  const table = (name) => ({ build: () => TABLES[name](model, context) });
  const tabs = createTabs([
    { name: "Picture", build: () => ({ element: stage, shown: picture.fitPending }) },
    { name: "Summary", build: () => ({ element: summaryTab(model, context) }) },
    { name: "Casts", count: model.casts.node.length, ...table("casts") },
    ...(model.quantization.node.length ? [{ name: "Quantization", count: model.quantization.node.length, ...table("quantization") }] : []),
    { name: "Numerics", ...table("numerics") },
    { name: "Placement", ...table("placement") },
    { name: "Findings", count: model.findings.code.length, ...table("findings") },
    { name: "JSON", build: () => jsonTab(jsonRecord) },
  ]);

  function showDetails(blocks) {
    const found =
      blocks || (state.value >= 0 ? valueDetails(model, state.value, context) : state.node >= 0 ? nodeDetails(model, state.node, context) : levelDetails(model, state.level, context));
    details.replaceChildren(...found.filter(Boolean));
    details.scrollTop = 0;
  }

  function draw() {
    const graph = state.centre >= 0 ? nodeGraph(model, state.centre) : levelGraph(model, state.level);
    picture.show(graph);
    breadcrumb.show(crumbs(model, state.level, state.centre));
  }

  function enterLevel(id, { focus = false, select = "" } = {}) {
    Object.assign(state, { level: id, centre: -1, node: -1, value: -1 });
    draw();
    finish(focus, select);
    announce(`Level ${model.tree[id].name}, ${plural(model.tree[id].size, "node")}`);
  }

  function enterNode(node, focus) {
    Object.assign(state, { level: model.levelOf[node], centre: node, node, value: -1 });
    draw();
    finish(focus, `n${node}`);
  }

  /** Shows the level of a node and selects the node there. */
  function go(node, focus) {
    const level = model.levelOf[node];
    if (state.level !== level || state.centre >= 0) {
      Object.assign(state, { level, centre: -1 });
      draw();
    }
    Object.assign(state, { node, value: -1 });
    finish(focus, `n${node}`);
  }

  function finish(focus, key) {
    if (focus) tabs.select("Picture");
    if (key) picture.select(key, { focus });
    else if (focus) picture.svg.querySelector('[tabindex="0"]')?.focus({ preventScroll: true });
    tree.show(treePath(model, state.level, state.node));
    showDetails();
    tabs.refresh();
  }

  function goValue(value) {
    const node = model.producers[value] >= 0 ? model.producers[value] : (model.consumers[value][0] ?? -1);
    if (node >= 0) go(node, false);
    Object.assign(state, { node: -1, value });
    showDetails();
  }

  function goFinding(row) {
    const { node, value } = model.findings;
    const found = node[row] >= 0 ? node[row] : valueNode(model, value[row]);
    if (found >= 0) go(found, false);
    const number = node[row] >= 0 ? -1 : model.values.name.indexOf(value[row]);
    if (number >= 0) Object.assign(state, { node: -1, value: number });
    if (found >= 0 || number >= 0) showDetails();
    else showDetails([findingCard(model, row, context, true)]);
  }

  function selectItem(item) {
    if (item.kind === "ghost" || item.kind === "level") {
      Object.assign(state, { node: item.node ?? -1, value: -1 });
      if (item.level === undefined) showDetails(item.more ? [element("p", { class: "soft" }, "Further neighbours; select a node to see its own.")] : undefined);
      else showDetails(levelDetails(model, item.level, context));
      return;
    }
    Object.assign(state, { node: item.kind === "value" ? -1 : item.node, value: item.value ?? -1 });
    showDetails();
  }

  function enterItem(item) {
    if (item.more) return;
    if (item.kind === "ghost" && item.node !== undefined) go(item.node, true);
    else if (item.level !== undefined) enterLevel(item.level, { focus: true });
    else if (item.kind === "value") enterValue(item);
    else if (state.centre !== item.node) enterNode(item.node, true);
  }

  function enterValue({ value, side }) {
    const node = side < 0 ? model.producers[value] : (model.consumers[value][0] ?? -1);
    if (node >= 0) go(node, true);
  }

  function goOut() {
    if (state.centre >= 0) go(state.centre, true);
    else if (state.level > 0) {
      const inner = state.level;
      enterLevel(model.tree[inner].parent, { focus: true, select: `l${inner}` });
      showDetails(levelDetails(model, inner, context));
    }
  }

  function selectRow(row) {
    if (row.node >= 0) {
      go(row.node, false);
      return;
    }
    enterLevel(row.level);
  }

  function enterRow(row) {
    if (row.node >= 0) enterNode(row.node, true);
    else enterLevel(row.level, { focus: true });
  }

  /** Dims what no result of the search lies in. */
  function highlight(found) {
    if (!found) {
      picture.highlight(null);
      return;
    }
    const nodes = new Set(found.nodes);
    const holds = (id) => found.levels.includes(id) || model.tree[id].nodes.some((node) => nodes.has(node)) || model.tree[id].children.some(holds);
    const keys = picture.items().filter((item) => (item.level !== undefined ? holds(item.level) : nodes.has(item.node)));
    picture.highlight(new Set(keys.map((item) => item.key)));
  }

  function jsonRecord(isWhole) {
    if (isWhole) return wholeRecord(model);
    return state.node >= 0 ? nodeRecord(model, state.node) : levelRecord(model, state.level);
  }

  const facts = [plural(model.count, "node"), model.head.target && `target ${model.head.target}`, model.head.producer].filter(Boolean);
  document.body.append(
    pageHeader(model.head.model, facts.join(" · "), searchBox),
    element("main", { class: "work" }, element("div", { class: "side" }, tree.element), element("div", { class: "middle" }, tabs.bar, tabs.panels), details),
  );
  tabs.select("Picture");
  enterLevel(firstLevel(model));
  showDetails(levelDetails(model, 0, context));
  return { searchBox, tabs };
}

/** The first level, from the model down, where there is something to see. */
function firstLevel(model) {
  let level = model.tree[0];
  while (level.children.length === 1 && !level.nodes.length) level = model.tree[level.children[0]];
  return level.id;
}

function pageHeader(title, facts, searchBox) {
  return element(
    "header",
    {},
    element("h1", { title }, title),
    element("p", { class: "soft" }, facts),
    searchBox && searchBox.element,
    createThemeButton(),
  );
}

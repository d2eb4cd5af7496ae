/** The page of two audits: both pictures of the same level, and what changed. */
function differencePage(data, strings) {
  const changes = readChanges(data, strings);
  const { sides, levels } = changes;
  const state = { level: 0, side: 1, node: -1, limit: "float16" };
  const context = {
    limits: data.limits,
    limit: () => state.limit,
    setLimit(name) {
      state.limit = name;
      showDetails();
    },
    goSide,
    searchFor: (query) => searchBox.searchFor(query),
    levelName: () => levelName(state.level),
    nodesInLevel() {
      const inside = new Set();
      sides.forEach((side, at) => {
        const id = levels[state.level].sides[at];
        if (id >= 0) eachNode(side.model, id, (node) => inside.add(sideNumber(at, node)));
      });
      return inside;
    },
  };
  const contextOf = (at) => ({
    ...context,
    goNode: (node) => goSide(at, node),
    goLevel: (id) => enterLevel(sides[at].merged.get(id), true),
    goFinding: (row) => sides[at].model.findings.node[row] >= 0 && goSide(at, sides[at].model.findings.node[row]),
  });

  const details = element("aside", { class: "details", "aria-label": "Details", tabindex: -1 });
  const breadcrumb = createBreadcrumb((id) => enterLevel(id, true));
  const pictures = sides.map((side, at) =>
    createPicture(side.model, {
      label: at ? "Picture of the level after" : "Picture of the level before",
      markOf: (item) => changeMark(changes, at, item),
      onSelect: (item) => selectItem(at, item),
      onEnter: (item) => enterItem(at, item),
      onOut: goOut,
    }),
  );
  const tree = createTree(changedLevelRow(changes, 0), { label: "Layers", onSelect: selectRow, onEnter: (row) => selectRow(row) });
  const searchBox = createSearchBox(changes.after, {
    onNode: (node) => goSide(1, node, true),
    onLevel: (id) => enterLevel(sides[1].merged.get(id), true),
    onResult: highlight,
  });
  const panes = pictures.map((picture, at) =>
    element(
      "section",
      { class: "pane", "aria-label": at ? "After" : "Before" },
      element("div", { class: "picture-bar" }, element("p", {}, element("strong", {}, at ? "after " : "before "), element("span", { class: "soft" }, sides[at].model.head.model)), picture.tools),
      picture.element,
    ),
  );
  const signs = [["inserted", "+", "inserted"], ["removed", "−", "removed"], ["altered", "≠", "changed"]].map(([kind, text, label]) => element("li", {}, legendMark(kind, text), label));
  const legend = createLegend([changes.before, changes.after], [pictures[1].borders], signs);
  const stage = element("div", { class: "stage" }, element("div", { class: "picture-bar" }, breadcrumb.element), element("div", { class: "panes" }, panes), legend);
  const tabs = createTabs([
    { name: "Picture", build: () => ({ element: stage, shown: () => pictures.forEach((picture) => picture.fitPending()) }) },
    { name: "Changes", count: changes.table.kind.length, build: () => changesTab(changes, context) },
    { name: "Summary", build: () => ({ element: comparedSummary(changes) }) },
    { name: "Findings", build: () => comparedFindings(changes, context) },
    { name: "JSON", build: () => jsonTab(jsonRecord) },
  ]);

  function levelName(id) {
    const [old, now] = levels[id].sides;
    return id === 0 ? "model" : now >= 0 ? changes.after.tree[now].name : changes.before.tree[old].name;
  }

  function draw() {
    pictures.forEach((picture, at) => {
      const id = levels[state.level].sides[at];
      picture.show(id >= 0 ? levelGraph(sides[at].model, id) : { items: [], edges: [] });
    });
    const chain = [];
    for (let id = state.level; id >= 0; id = levels[id].parent) chain.unshift({ text: levelName(id), level: id });
    breadcrumb.show(chain);
  }

  function enterLevel(id, focus) {
    Object.assign(state, { level: id, node: -1 });
    draw();
    finish(focus);
    announce(`Level ${levelName(id)}, ${plural(levels[id].changes, "change")}`);
  }

  /** Shows the level of a node of one side and selects the node there and on the other side. */
  function goSide(at, node, focus = false) {
    const level = sides[at].merged.get(sides[at].model.levelOf[node]);
    const isNew = level !== state.level;
    Object.assign(state, { level, side: at, node });
    if (isNew) draw();
    finish(focus);
  }

  function finish(focus) {
    if (focus) tabs.select("Picture");
    selectBoth(focus);
    const chain = [];
    for (let id = state.level; id >= 0; id = levels[id].parent) chain.unshift(`l${id}`);
    tree.show(state.node >= 0 && sides[state.side].rows.has(state.node) ? [...chain, `${state.side}n${state.node}`] : chain);
    showDetails();
    tabs.refresh();
  }

  function selectBoth(focus) {
    const { side, node } = state;
    if (node < 0) {
      if (focus) (pictures[1].svg.querySelector('[tabindex="0"]') || pictures[0].svg.querySelector('[tabindex="0"]'))?.focus({ preventScroll: true });
      return;
    }
    pictures[side].select(`n${node}`, { focus });
    pictures[1 - side].select(`n${sides[side].twin(node)}`);
  }

  function showDetails() {
    const found = state.node >= 0 ? comparedNode(changes, state.side, state.node, contextOf) : comparedLevel(changes, state.level, contextOf);
    details.replaceChildren(...found.filter(Boolean));
    details.scrollTop = 0;
  }

  function selectItem(at, item) {
    if (item.level !== undefined && item.kind !== "ghost") {
      const merged = sides[at].merged.get(item.level);
      const other = levels[merged].sides[1 - at];
      pictures[1 - at].select(`l${other}`);
      details.replaceChildren(...comparedLevel(changes, merged, contextOf).filter(Boolean));
    } else if (item.kind === "value") details.replaceChildren(...valueDetails(sides[at].model, item.value, contextOf(at)).filter(Boolean));
    else if (item.node !== undefined) {
      Object.assign(state, { side: at, node: item.node });
      pictures[1 - at].select(`n${sides[at].twin(item.node)}`);
      showDetails();
    }
  }

  function enterItem(at, item) {
    if (item.more || item.kind === "value") return;
    if (item.level !== undefined) enterLevel(sides[at].merged.get(item.level), true);
    else if (item.kind === "ghost") goSide(at, item.node, true);
  }

  function goOut() {
    if (levels[state.level].parent >= 0) enterLevel(levels[state.level].parent, true);
  }

  function selectRow(row) {
    if (row.node) goSide(...row.node);
    else enterLevel(row.merged, false);
  }

  function highlight(found) {
    if (!found) {
      pictures[1].highlight(null);
      return;
    }
    const nodes = new Set(found.nodes);
    const holds = (id) => found.levels.includes(id) || changes.after.tree[id].nodes.some((node) => nodes.has(node)) || changes.after.tree[id].children.some(holds);
    const keys = pictures[1].items().filter((item) => (item.level !== undefined ? holds(item.level) : nodes.has(item.node)));
    pictures[1].highlight(new Set(keys.map((item) => item.key)));
  }

  function jsonRecord(isWhole) {
    const { table } = changes;
    const inside = isWhole ? null : context.nodesInLevel();
    const records = table.kind.map((kind, row) => {
      const at = table.after[row] >= 0 ? 1 : 0;
      const node = at ? table.after[row] : table.before[row];
      if (inside && !inside.has(sideNumber(at, node))) return null;
      return { change: kind, node: nodeTitle(sides[at].model, node), scope: sides[at].model.nodes.scope[node], before: table.old[row], after: table.new[row] };
    });
    return { before: changes.before.head.model, after: changes.after.head.model, level: isWhole ? "" : levelName(state.level), changes: records.filter(Boolean) };
  }

  document.body.append(
    pageHeader(`${changes.before.head.model} → ${changes.after.head.model}`, plural(changes.table.kind.length, "change"), searchBox),
    element("main", { class: "work" }, element("div", { class: "side" }, tree.element), element("div", { class: "middle" }, tabs.bar, tabs.panels), details),
  );
  tabs.select("Picture");
  let first = levels[0];
  while (first.children.length === 1 && levels[first.children[0]].changes === first.changes && first.changes) first = levels[first.children[0]];
  enterLevel(first.id, false);
  return { searchBox, tabs };
}

function legendMark(kind, text) {
  return drawn("svg", { class: `legend-box mark-sign ${kind}`, viewBox: "0 0 18 16", "aria-hidden": "true" }, drawn("rect", { width: 18, height: 16, rx: 3 }), drawn("text", { class: "middle", x: 9, y: 12 }, text));
}

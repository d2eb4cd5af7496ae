/** The border styles of providers, the most used first. */
function createBorders(model) {
  const providers = [...model.tree[0].providers].sort((a, b) => b[1] - a[1]).map(([name]) => name);
  const index = new Map(providers.map((name, at) => [name, Math.min(at, 3)]));
  return {
    providers,
    of(provider, placement) {
      if (provider) return `border-${index.get(provider) ?? 3}`;
      return placement === "folded" || placement === "removed" ? "border-gone" : "border-none";
    },
  };
}

/**
 * The picture of one level or node of a model.
 *
 * `onSelect(item)` follows the focus, `onEnter(item)` a double click or Enter, `onOut()` Backspace.
 */
function createPicture(model, { label, onSelect, onEnter, onOut, markOf = () => null }) {
  const stage = drawn("g");
  const svg = drawn("svg", { class: "picture", role: "group", "aria-label": label }, stage);
  const zoomText = element("output", { class: "zoom", "aria-label": "Zoom" });
  const viewport = createViewport(svg, stage, (scale) => (zoomText.textContent = `${Math.round(scale * 100)} %`));
  const tools = element(
    "div",
    { class: "zoom-tools", role: "toolbar", "aria-label": "Zoom" },
    button("−", () => viewport.zoom(1 / 1.3), { "aria-label": "Zoom out", title: "Zoom out (-)" }),
    zoomText,
    button("+", () => viewport.zoom(1.3), { "aria-label": "Zoom in", title: "Zoom in (+)" }),
    button("Fit", () => viewport.whole(), { title: "Show all of it (0)" }),
  );
  const empty = element("p", { class: "empty", hidden: true }, "Nothing here.");
  const frame = element("div", { class: "frame" }, svg, empty);
  const borders = createBorders(model);
  let shown = { items: [], links: [], groups: new Map(), edges: new Map() };
  let selected = "";

  function show(graph) {
    const start = performance.now();
    const layout = laidOut(graph, viewport.aspect());
    const links = routedLinks(layout);
    const [top] = layout.cells.filter((cell) => cell.item && cell.column === 0);
    const size = { width: layout.width, height: layout.height, start: top ? top.x : 0 };
    shown = { items: [], groups: new Map(), edges: new Map(), size };
    const content = document.createDocumentFragment();
    const edgeLayer = drawn("g", { "aria-hidden": "true" });
    for (const link of links) edgeLayer.append(drawEdge(link));
    content.append(edgeLayer);
    const cells = layout.cells.filter((cell) => cell.item).sort((a, b) => a.column - b.column || a.y - b.y || a.x - b.x);
    for (const cell of cells) content.append(drawCell(cell));
    stage.replaceChildren(content);
    selected = "";
    const first = shown.items.find((item) => ["level", "segment", "node"].includes(item.kind)) || shown.items[0];
    if (first) shown.groups.get(first.key).setAttribute("tabindex", 0);
    empty.hidden = shown.items.length > 0;
    svg.dataset.drawMs = (performance.now() - start).toFixed(1);
    svg.dataset.items = shown.items.length;
    viewport.fit(shown.size);
  }

  function drawCell(cell) {
    const { item } = cell;
    item.left = cell.x - cell.width / 2;
    item.topEdge = cell.y;
    item.top = cell.y;
    const group = drawItem(model, item, borders, markOf(item));
    shown.items.push(item);
    shown.groups.set(item.key, group);
    return group;
  }

  function drawEdge(link) {
    const [value] = link.edge.values;
    const dtype = value >= 0 ? model.values.dtype[value] : "";
    const [x, y] = link.isBack ? link.start : link.tip;
    const head = link.isBack ? `M${point(x, y)}l-4 6h8z` : `M${point(x, y + 5)}l-4 -6h8z`;
    const name = value >= 0 ? model.values.name[value] : "";
    const more = link.edge.values.size > 1 ? ` and ${link.edge.values.size - 1} more` : "";
    const group = drawn(
      "g",
      { class: `edge line-${family(dtype)}${link.isBack ? " back" : ""}${link.edge.values.size > 1 ? " many" : ""}` },
      drawn("title", {}, value >= 0 ? `${name}${more}\n${dtype}` : "runs"),
      drawn("path", { class: "wire", d: link.path }),
      drawn("path", { class: "head", d: head }),
    );
    pushTo(shown.edges, link.edge.from.key, group);
    pushTo(shown.edges, link.edge.to.key, group);
    return group;
  }

  function select(key, { focus = false } = {}) {
    const group = shown.groups.get(key);
    for (const each of stage.querySelectorAll(".chosen, .near")) each.classList.remove("chosen", "near");
    for (const each of stage.querySelectorAll('[tabindex="0"]')) each.setAttribute("tabindex", -1);
    selected = group ? key : "";
    if (!group) return false;
    group.classList.add("chosen");
    group.setAttribute("tabindex", 0);
    for (const edge of shown.edges.get(key) || []) edge.classList.add("near");
    viewport.reveal(itemOf(key));
    if (focus) group.focus({ preventScroll: true });
    return true;
  }

  const itemOf = (key) => shown.items.find((item) => item.key === key);
  const itemAt = (target) => itemOf(target.closest?.(".item")?.dataset.key);

  svg.addEventListener("click", (event) => {
    const item = itemAt(event.target);
    if (!item) return;
    select(item.key, { focus: true });
    onSelect(item);
  });
  svg.addEventListener("dblclick", (event) => {
    const item = itemAt(event.target);
    if (item) onEnter(item);
  });
  svg.addEventListener("keydown", (event) => {
    const item = itemAt(event.target);
    const handled = pictureKey(event, item);
    if (handled) event.preventDefault();
  });

  function pictureKey(event, item) {
    if (event.ctrlKey || event.metaKey || event.altKey) return false;
    if (event.key === "+" || event.key === "=") viewport.zoom(1.3);
    else if (event.key === "-") viewport.zoom(1 / 1.3);
    else if (event.key === "0") viewport.whole();
    else if (event.key === "Backspace" || event.key === "Escape") onOut();
    else if (item && event.key === "Enter") onEnter(item);
    else if (item && event.key === " ") onSelect(item);
    else if (item && event.key.startsWith("Arrow")) {
      const next = nearest(shown.items, item, event.key);
      if (!next) return true;
      select(next.key, { focus: true });
      onSelect(next);
    } else return false;
    return true;
  }

  function highlight(keys) {
    for (const [key, group] of shown.groups) group.classList.toggle("dim", keys !== null && !keys.has(key));
  }

  return {
    element: frame,
    tools,
    svg,
    borders,
    show,
    select,
    highlight,
    fitPending: viewport.fitPending,
    items: () => shown.items,
    selected: () => selected,
  };
}

/** The nearest item in the direction of an arrow key. */
function nearest(items, from, key) {
  const isVertical = key === "ArrowUp" || key === "ArrowDown";
  const sign = key === "ArrowUp" || key === "ArrowLeft" ? -1 : 1;
  const centre = (item) => [item.left + item.width / 2, item.top + item.height / 2];
  const [x, y] = centre(from);
  let best = null;
  let least = Infinity;
  for (const item of items) {
    const [itsX, itsY] = centre(item);
    const along = sign * (isVertical ? itsY - y : itsX - x);
    const aside = Math.abs(isVertical ? itsX - x : itsY - y);
    if (item === from || along < 4) continue;
    const cost = along + 2.5 * aside;
    if (cost < least) [best, least] = [item, cost];
  }
  return best;
}

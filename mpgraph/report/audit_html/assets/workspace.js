/** Tabs: arrow keys move between them, each panel is built when it is first shown. */
function createTabs(tabs) {
  const buttons = tabs.map(({ name, count: total }, at) =>
    element(
      "button",
      { type: "button", role: "tab", id: `tab-${at}`, "aria-controls": `panel-${at}`, "aria-selected": "false", tabindex: -1, onclick: () => select(at) },
      name,
      total ? [" ", element("span", { class: "count" }, count(total))] : null,
    ),
  );
  const panels = tabs.map((_, at) => element("div", { role: "tabpanel", id: `panel-${at}`, "aria-labelledby": `tab-${at}`, class: "panel", hidden: true }));
  const built = tabs.map(() => null);
  const bar = element("div", { role: "tablist", class: "tabs", "aria-label": "Views" }, buttons);
  let current = -1;

  function select(at) {
    if (current >= 0 && current !== at) hide(current);
    current = at;
    buttons[at].setAttribute("aria-selected", "true");
    buttons[at].setAttribute("tabindex", 0);
    panels[at].hidden = false;
    if (!built[at]) {
      built[at] = tabs[at].build();
      panels[at].append(built[at].element);
    }
    built[at].shown?.();
  }

  function hide(at) {
    buttons[at].setAttribute("aria-selected", "false");
    buttons[at].setAttribute("tabindex", -1);
    panels[at].hidden = true;
  }

  bar.addEventListener("keydown", (event) => {
    const moves = { ArrowRight: current + 1, ArrowLeft: current - 1 + tabs.length, Home: 0, End: tabs.length - 1 };
    if (!(event.key in moves)) return;
    select(moves[event.key] % tabs.length);
    buttons[current].focus();
    event.preventDefault();
  });
  return {
    bar,
    panels,
    select: (name) => select(tabs.findIndex((tab) => tab.name === name)),
    current: () => tabs[current]?.name,
    rebuild(name) {
      const at = tabs.findIndex((tab) => tab.name === name);
      built[at] = null;
      panels[at].replaceChildren();
      if (at === current) select(at);
    },
    refresh: () => built[current]?.shown?.(),
    print: () => built[current]?.print?.(),
  };
}

/** The way from the model down to what is shown; each step leads back. */
function createBreadcrumb(onLevel) {
  const list = element("ol");
  const nav = element("nav", { class: "breadcrumb", "aria-label": "Level" }, list);
  function show(steps) {
    const items = steps.map(({ text, level }, at) => {
      const isLast = at === steps.length - 1;
      const label = shortened(text, 36);
      return element("li", {}, isLast ? element("span", { "aria-current": "location", title: text }, label) : button(label, () => onLevel(level), { class: "link", title: text }));
    });
    list.replaceChildren(...items);
  }
  return { element: nav, show };
}

function crumbs(model, level, node) {
  const steps = levelChain(model, level).map((id) => ({ text: model.tree[id].name, level: id }));
  if (node >= 0) steps.push({ text: tail(nodeTitle(model, node)), level: -1 });
  return steps;
}

/** What colours, shapes and borders mean, for those that occur. */
function createLegend(models, borderSets, extra = []) {
  const families = new Map();
  for (const model of models) {
    for (const dtype of [...model.tree[0].dtypes.keys(), ...new Set(model.values.dtype)]) families.set(family(dtype), dtype);
  }
  const order = Object.keys(FAMILIES).filter((name) => families.has(name));
  const dtypes = order.map((name) => element("li", {}, legendBox(families.get(name)), FAMILIES[name].label));
  const providers = borderSets[0].providers.map((name, at) => element("li", {}, legendBorder(`border-${Math.min(at, 3)}`), `on ${providerName(name)}`));
  const hasGone = models.some((model) => model.nodes.placement.some((state) => state === "folded" || state === "removed"));
  if (providers.length && hasGone) providers.push(element("li", {}, legendBorder("border-gone"), "folded or removed"));
  const effects = new Set(models.flatMap((model) => model.casts.effect));
  for (const effect of ["lossy pair", "removable pair"]) {
    if (effects.has(effect)) providers.push(element("li", {}, legendBorder(`pill ${effect.replace(" ", "-")}`), effect));
  }
  return element("ul", { class: "legend", "aria-label": "Legend" }, dtypes, providers, extra);
}

function legendBox(dtype) {
  return drawn(
    "svg",
    { class: "legend-box", viewBox: "0 0 36 18", "aria-hidden": "true" },
    drawn("path", { class: `shape dt-${family(dtype)}`, d: legendOutline(dtype) }),
    drawn("path", { class: `fill-${family(dtype)}`, d: glyphPath(dtype, 18, 9, 4), "fill-rule": "evenodd" }),
  );
}

function legendOutline(dtype) {
  if (family(dtype) === "bf16") return "M1 9l5 -8h24l5 8l-5 8h-24z";
  if (family(dtype) === "f64") return chamfered(1, 1, 34, 16, 5);
  if (family(dtype) === "f8") return "M1 1h27l7 7v9h-34z";
  return outlinePath(dtype, 1, 1, 34, 16);
}

function legendBorder(style) {
  return drawn("svg", { class: "legend-box", viewBox: "0 0 36 18", "aria-hidden": "true" }, drawn("path", { class: `shape ${style}`, d: rounded(2, 2, 32, 14, 4) }));
}

/** Light and dark: as the reader's system has it, until the button is pressed. */
function createThemeButton() {
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = "";
  const toggle = button("", () => set(current() === "dark" ? "light" : "dark"), { class: "theme" });
  const current = () => chosen || (system.matches ? "dark" : "light");
  function apply() {
    document.documentElement.dataset.theme = current();
    const other = current() === "dark" ? "light" : "dark";
    toggle.textContent = current() === "dark" ? "☀" : "☾";
    toggle.setAttribute("aria-label", `Switch to the ${other} scheme`);
    toggle.title = `Switch to the ${other} scheme`;
  }
  function set(name) {
    chosen = name;
    apply();
  }
  system.addEventListener("change", apply);
  addEventListener("beforeprint", () => (document.documentElement.dataset.theme = "light"));
  addEventListener("afterprint", apply);
  apply();
  return toggle;
}

/** Rows of the tree: levels with their bars, and the nodes in them. */
function levelRow(model, id) {
  const level = model.tree[id];
  return {
    key: `l${id}`,
    level: id,
    node: -1,
    label: level.name,
    title: `${level.kind === "segment" ? segmentSpan(model, level) : level.path || level.name}\n${plural(level.size, "node")}${level.casts ? `, ${plural(level.casts, "cast")}` : ""}`,
    dtypes: level.dtypes,
    isLevel: true,
    hasChildren: level.children.length + level.nodes.length > 0,
    badges: () => [
      level.casts ? element("span", { class: "casts", title: plural(level.casts, "cast") }, `${count(level.casts)}⇄`) : null,
      severityDot(level.findings),
    ],
    children: () => levelItems(model, level).map((item) => (item.level === undefined ? nodeRow(model, item.node) : levelRow(model, item.level))),
  };
}

function levelItems(model, level) {
  const items = level.children.map((child) => ({ level: child, order: model.tree[child].first }));
  items.push(...level.nodes.map((node) => ({ node, order: model.nodes.order[node] })));
  return items.sort((one, other) => one.order - other.order);
}

function nodeRow(model, node) {
  const title = nodeTitle(model, node);
  return {
    key: `n${node}`,
    level: model.levelOf[node],
    node,
    label: tail(title),
    title: `${title} (${model.nodes.op[node]})\n${model.nodes.dtype[node]}`,
    dtype: model.nodes.dtype[node],
    isLevel: false,
    badges: () => severityDot(nodeFindings(model, node)),
  };
}

function severityDot(findings) {
  const severity = worstSeverity(findings);
  return severity ? element("span", { class: `dot ${severity}`, title: findingText(findings) }) : null;
}

const treePath = (model, level, node) => [...levelChain(model, level).map((id) => `l${id}`), ...(node >= 0 ? [`n${node}`] : [])];

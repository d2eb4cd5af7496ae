const MOST_RESULTS = 200;

/** The search field with its list of results: arrow keys choose, Enter opens, Escape closes. */
function createSearchBox(model, { onNode, onLevel, onResult }) {
  let index = null;
  let results = [];
  let active = -1;
  const list = element("ul", { id: "results", role: "listbox", "aria-label": "Results", hidden: true });
  const status = element("p", { class: "status", hidden: true });
  const input = element("input", {
    type: "search",
    id: "search",
    role: "combobox",
    placeholder: "Search nodes, values, layers   /",
    "aria-label": "Search nodes, values and layers",
    "aria-controls": "results",
    "aria-expanded": "false",
    "aria-autocomplete": "list",
    autocomplete: "off",
    spellcheck: "false",
    oninput: run,
    onfocus: run,
    onkeydown: key,
  });
  const hints = Object.entries(FILTERS).map(([name, example]) =>
    button(`${name}:`, () => insert(`${name}:`), { class: "filter", title: `such as ${example}`, tabindex: -1 }),
  );
  const panel = element("div", { class: "results", hidden: true }, element("div", { class: "filters" }, hints), status, list);
  const box = element("div", { class: "search", role: "search" }, input, panel);

  function run() {
    const start = performance.now();
    index ||= createIndex(model);
    const ready = performance.now();
    const found = index(input.value);
    input.dataset.indexMs = (ready - start).toFixed(1);
    input.dataset.searchMs = (performance.now() - ready).toFixed(1);
    show(found);
    onResult(found);
  }

  function show(found) {
    const levels = found ? found.levels.slice(0, 20) : [];
    const nodes = found ? found.nodes.slice(0, MOST_RESULTS) : [];
    results = [...levels.map((id) => ["level", id]), ...nodes.map((node) => ["node", node])];
    active = results.length ? 0 : -1;
    list.replaceChildren(...results.map(drawResult));
    panel.hidden = false;
    list.hidden = !results.length;
    status.hidden = !found;
    if (found) {
      const more = found.nodes.length > MOST_RESULTS ? `, the first ${MOST_RESULTS} are shown` : "";
      const layers = found.levels.length ? `${plural(found.levels.length, "layer")}, ` : "";
      status.textContent = results.length ? `${layers}${plural(found.nodes.length, "node")}${more}` : "Nothing found.";
      announce(status.textContent);
    }
    mark();
  }

  function drawResult([kind, number], at) {
    const isNode = kind === "node";
    const level = isNode ? null : model.tree[number];
    const title = isNode ? nodeTitle(model, number) : level.kind === "layer" ? level.path : level.name;
    const note = isNode ? model.nodes.op[number] : plural(level.size, "node");
    const rows = isNode ? findingRows(model, number) : [];
    const made = element(
      "li",
      { role: "option", id: `result-${at}`, title },
      glyph(isNode ? model.nodes.dtype[number] : mostFrequent(level.dtypes)),
      element("span", { class: "label" }, shortened(title, 70)),
      rows.length ? element("span", { class: `dot ${model.findings.severity[rows[0]]}`, title: model.findings.finding[rows[0]] }) : null,
      element("span", { class: "soft" }, isNode ? note : `${level.kind}, ${note}`),
    );
    made.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      open(at);
    });
    return made;
  }

  function mark() {
    input.setAttribute("aria-expanded", String(!panel.hidden && results.length > 0));
    if (active >= 0) input.setAttribute("aria-activedescendant", `result-${active}`);
    else input.removeAttribute("aria-activedescendant");
    [...list.children].forEach((each, at) => each.setAttribute("aria-selected", String(at === active)));
    list.children[active]?.scrollIntoView({ block: "nearest" });
  }

  function open(at) {
    const [kind, number] = results[at];
    close();
    if (kind === "node") onNode(number);
    else onLevel(number);
  }

  function close() {
    panel.hidden = true;
    mark();
  }

  function key(event) {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (panel.hidden) run();
      else if (results.length) active = (active + (event.key === "ArrowDown" ? 1 : results.length - 1)) % results.length;
      mark();
    } else if (event.key === "Enter") {
      if (active >= 0 && !panel.hidden) open(active);
    } else if (event.key === "Escape") {
      if (panel.hidden && input.value) {
        input.value = "";
        onResult(null);
      } else close();
    } else return;
    event.preventDefault();
  }

  function insert(text) {
    input.value = `${input.value.trimEnd()} ${text}`.trimStart();
    input.focus();
    run();
  }

  box.addEventListener("focusout", (event) => {
    if (!box.contains(event.relatedTarget)) close();
  });
  return {
    element: box,
    focus: () => input.select() || input.focus(),
    searchFor(query) {
      input.value = query;
      input.focus();
      run();
    },
  };
}

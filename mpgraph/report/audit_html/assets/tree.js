const ROW_HEIGHT = 26;
const SPARE_ROWS = 6;

/**
 * A tree that only holds the rows in sight.
 *
 * A row is `{key, label, title, dtypes, badges, isLevel, children}`, where `children()` gives the rows
 * below it. `onSelect(row)` follows the selection, `onEnter(row)` Enter and a double click.
 */
function createTree(root, { label, onSelect, onEnter }) {
  const space = element("div", { class: "space" });
  const view = element("div", { class: "tree", role: "tree", tabindex: 0, "aria-label": label }, space);
  const opened = new Set([root.key]);
  let rows = [];
  let active = 0;
  let filled = [0, 0];

  function flatten() {
    rows = [];
    const visit = (row, depth, parent, place, among) => {
      const at = rows.length;
      rows.push({ row, depth, parent, place, among });
      if (!opened.has(row.key)) return;
      const children = row.children();
      children.forEach((child, index) => visit(child, depth + 1, at, index + 1, children.length));
    };
    visit(root, 1, -1, 1, 1);
    space.style.height = `${rows.length * ROW_HEIGHT}px`;
  }

  function render() {
    const first = Math.max(0, Math.floor(view.scrollTop / ROW_HEIGHT) - SPARE_ROWS);
    const last = Math.min(rows.length, Math.ceil((view.scrollTop + view.clientHeight) / ROW_HEIGHT) + SPARE_ROWS);
    filled = [first, last];
    const drawnRows = [];
    for (let at = first; at < last; at++) drawnRows.push(drawRow(at));
    if (active < first || active >= last) drawnRows.push(drawRow(active));
    space.replaceChildren(...drawnRows);
    view.setAttribute("aria-activedescendant", `row-${active}`);
  }

  /** Draws other rows only when they are about to come into sight, so that a click is not lost. */
  function scrolled() {
    const first = Math.floor(view.scrollTop / ROW_HEIGHT);
    const last = Math.min(rows.length, Math.ceil((view.scrollTop + view.clientHeight) / ROW_HEIGHT));
    if (first < filled[0] || last > filled[1]) render();
  }

  function drawRow(at) {
    const { row, depth, place, among } = rows[at];
    const isOpen = row.isLevel && row.hasChildren ? opened.has(row.key) : undefined;
    const made = element(
      "div",
      {
        class: `row${at === active ? " active" : ""}${row.isLevel ? " is-level" : ""} ${row.mark || ""}`,
        role: "treeitem",
        id: `row-${at}`,
        "aria-level": depth,
        "aria-posinset": place,
        "aria-setsize": among,
        "aria-expanded": isOpen === undefined ? undefined : String(isOpen),
        "aria-selected": String(at === active),
        "data-at": at,
        title: row.title,
      },
      element("span", { class: `twist${isOpen === undefined ? "" : isOpen ? " open" : " shut"}` }),
      row.isLevel ? null : glyph(row.dtype),
      element("span", { class: "label" }, row.label),
      element("span", { class: "badges" }, row.badges()),
      row.isLevel ? dtypeBar(row.dtypes, 44, 8) : null,
    );
    made.style.top = `${at * ROW_HEIGHT}px`;
    made.style.paddingLeft = `${4 + (Math.min(depth, 12) - 1) * 13}px`;
    return made;
  }

  function reveal() {
    const top = active * ROW_HEIGHT;
    if (top < view.scrollTop) view.scrollTop = top;
    else if (top + ROW_HEIGHT > view.scrollTop + view.clientHeight) view.scrollTop = top + ROW_HEIGHT - view.clientHeight;
  }

  function activate(at, { tell = true } = {}) {
    active = Math.min(Math.max(at, 0), rows.length - 1);
    reveal();
    render();
    if (tell) onSelect(rows[active].row);
  }

  function toggle(at, open) {
    const { row } = rows[at];
    if (!row.isLevel || !row.hasChildren || opened.has(row.key) === open) return false;
    if (open) opened.add(row.key);
    else opened.delete(row.key);
    flatten();
    render();
    return true;
  }

  /** Opens the rows on the way to one, given the keys from the root on, and makes it the active one. */
  function show(keys) {
    keys.slice(0, -1).forEach((key) => opened.add(key));
    flatten();
    const at = rows.findIndex((each) => each.row.key === keys[keys.length - 1]);
    if (at >= 0) activate(at, { tell: false });
    else render();
  }

  view.addEventListener("scroll", scrolled, { passive: true });
  view.addEventListener("click", (event) => {
    const made = event.target.closest(".row");
    if (!made) return;
    const at = Number(made.dataset.at);
    if (event.target.closest(".twist")) toggle(at, !opened.has(rows[at].row.key));
    else activate(at);
  });
  view.addEventListener("dblclick", (event) => {
    if (event.target.closest(".row") && !event.target.closest(".twist")) onEnter(rows[active].row);
  });
  view.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(view.clientHeight / ROW_HEIGHT) - 1);
    const moves = { ArrowDown: active + 1, ArrowUp: active - 1, Home: 0, End: rows.length - 1, PageDown: active + page, PageUp: active - page };
    if (event.key in moves) activate(moves[event.key]);
    else if (event.key === "ArrowRight") toggle(active, true) || (opened.has(rows[active].row.key) && activate(active + 1));
    else if (event.key === "ArrowLeft") toggle(active, false) || (rows[active].parent >= 0 && activate(rows[active].parent));
    else if (event.key === "Enter") onEnter(rows[active].row);
    else return;
    event.preventDefault();
  });
  new ResizeObserver(render).observe(view);
  flatten();
  return { element: view, render, show };
}

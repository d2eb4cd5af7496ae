const GRID_ROW = 28;
const GRID_UNIT = 56;
const MOST_PRINTED = 400;

/**
 * A sortable table that only holds the rows in sight.
 *
 * A column is `{title, width, text(row), value(row), cell(row), isNumber}`: what is shown, what is
 * sorted by, and what is drawn, where that is more than the text.
 */
function createGrid({ label, columns, rows, onOpen, empty, describe = () => "" }) {
  let order = [...rows];
  let sorted = { column: -1, sign: 1 };
  let active = 0;
  let filled = [0, 0];
  const heads = columns.map((column, at) =>
    element(
      "th",
      { scope: "col", "aria-sort": "none", class: column.isNumber ? "number" : "" },
      button(column.title, () => sort(at), { title: `Sort by ${column.title}` }),
    ),
  );
  const units = columns.reduce((sum, column) => sum + column.width, 0);
  const widths = columns.map((column) => {
    const made = element("col");
    made.style.width = `${(100 * column.width) / units}%`;
    return made;
  });
  const body = element("tbody");
  const table = element(
    "table",
    { class: "grid", "aria-label": label, "aria-rowcount": order.length + 1 },
    element("colgroup", {}, widths),
    element("thead", {}, element("tr", { "aria-rowindex": 1 }, heads)),
    body,
  );
  table.style.minWidth = `${units * GRID_UNIT}px`;
  const view = element("div", { class: "grid-view" }, table);
  const note = element("p", { class: "soft caption" });
  const nothing = element("p", { class: "empty" }, empty);
  const box = element("div", { class: "grid-box" }, note, view, nothing);

  function render() {
    const height = view.clientHeight || 600;
    const first = Math.max(0, Math.floor(view.scrollTop / GRID_ROW) - 8);
    fill(first, Math.min(order.length, first + Math.ceil(height / GRID_ROW) + 16));
  }

  /** Draws other rows only when they are about to come into sight, so that a click is not lost. */
  function scrolled() {
    const first = Math.floor(view.scrollTop / GRID_ROW);
    const last = Math.min(order.length, Math.ceil((view.scrollTop + view.clientHeight) / GRID_ROW));
    if (first < filled[0] || last > filled[1]) render();
  }

  function fill(first, last) {
    const hadFocus = body.contains(document.activeElement);
    filled = [first, last];
    const made = [spacer(first)];
    for (let at = first; at < last; at++) made.push(drawRow(at));
    made.push(spacer(order.length - last));
    body.replaceChildren(...made.filter(Boolean));
    if (hadFocus) body.querySelector('[tabindex="0"]')?.focus({ preventScroll: true });
  }

  function spacer(missing) {
    if (missing <= 0) return null;
    const cell = element("td", { colspan: columns.length });
    cell.style.height = `${missing * GRID_ROW}px`;
    return element("tr", { class: "spacer", "aria-hidden": "true" }, cell);
  }

  function drawRow(at) {
    const row = order[at];
    const cells = columns.map((column) => {
      const text = column.text(row);
      const content = column.cell ? column.cell(row) : text;
      return element("td", { class: column.isNumber ? "number" : "", title: text }, content);
    });
    return element("tr", { tabindex: at === active ? 0 : -1, "data-at": at, "aria-rowindex": at + 2, class: describe(row) }, cells);
  }

  function sort(at) {
    const column = columns[at];
    sorted = { column: at, sign: sorted.column === at ? -sorted.sign : column.isNumber ? -1 : 1 };
    applySort();
    heads.forEach((head, each) => head.setAttribute("aria-sort", each !== at ? "none" : sorted.sign > 0 ? "ascending" : "descending"));
    view.scrollTop = 0;
    active = 0;
    render();
    announce(`Sorted by ${column.title}, ${sorted.sign > 0 ? "ascending" : "descending"}`);
  }

  function applySort() {
    if (sorted.column < 0) return;
    const column = columns[sorted.column];
    const value = column.value || column.text;
    const keys = new Map(order.map((row) => [row, value(row)]));
    order.sort((one, other) => compare(keys.get(one), keys.get(other), sorted.sign) || one - other);
  }

  function setRows(next) {
    order = [...next];
    applySort();
    active = 0;
    table.setAttribute("aria-rowcount", order.length + 1);
    nothing.hidden = order.length > 0;
    view.hidden = order.length === 0;
    note.textContent = order.length ? plural(order.length, "row") : "";
    render();
  }

  function focusRow(at) {
    active = Math.min(Math.max(at, 0), order.length - 1);
    const top = active * GRID_ROW;
    if (top < view.scrollTop) view.scrollTop = top;
    const room = view.clientHeight - 2 * GRID_ROW;
    if (top > view.scrollTop + room) view.scrollTop = top - room;
    render();
    body.querySelector('[tabindex="0"]')?.focus({ preventScroll: true });
  }

  view.addEventListener("scroll", scrolled, { passive: true });
  body.addEventListener("click", (event) => {
    const made = event.target.closest("tr[data-at]");
    if (made && !event.target.closest("button")) onOpen(order[(active = Number(made.dataset.at))]);
  });
  body.addEventListener("keydown", (event) => {
    const made = event.target.closest("tr[data-at]");
    if (!made) return;
    const at = Number(made.dataset.at);
    const page = Math.max(1, Math.floor(view.clientHeight / GRID_ROW) - 2);
    const moves = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: order.length - 1, PageDown: at + page, PageUp: at - page };
    if (event.key in moves) focusRow(moves[event.key]);
    else if (event.key === "Enter") onOpen(order[at]);
    else return;
    event.preventDefault();
  });
  const print = () => fill(0, Math.min(order.length, MOST_PRINTED));
  setRows(rows);
  return { element: box, render, setRows, print };
}

const isMissing = (value) => value === null || value === undefined || value === "";

/** The order of two cells; what is missing comes last, whichever way the table is sorted. */
function compare(one, other, sign) {
  if (isMissing(one) || isMissing(other)) return isMissing(one) - isMissing(other);
  if (typeof one === "number" && typeof other === "number") return sign * (one - other);
  return sign * collator.compare(one, other);
}

const collator = new Intl.Collator("en", { numeric: true });

const LANE = 5;

/** Path data of every link, from the bottom of its upper end to the top of its lower one. */
function routedLinks(layout) {
  const gutters = layout.columns.map(() => 0);
  const bends = new Map();
  return layout.links.map((link) => ({ ...link, ...route(link, layout, gutters, bends) }));
}

function route(link, layout, gutters, bends) {
  const { chain } = link;
  if (link.isCut) return stubs(link);
  let [x, y] = [chain[0].x, chain[0].y + chain[0].height];
  let path = `M${point(x, y)}`;
  for (let at = 1; at < chain.length; at++) {
    const cell = chain[at];
    const isEnd = at === chain.length - 1;
    const top = isEnd ? cell.y - (link.isBack ? 0 : 5) : cell.top;
    if (cell.column === chain[at - 1].column) path += bend(x, y, cell.x, top);
    else path += acrossColumns(chain[at - 1], cell, x, y, top, layout, gutters, bends);
    [x, y] = [cell.x, top];
    if (!isEnd) path += `V${(y = cell.top + cell.rowHeight).toFixed(1)}`;
  }
  return { path, tip: [x, y], start: [chain[0].x, chain[0].y + chain[0].height] };
}

function bend(x, y, toX, toY) {
  if (Math.abs(toX - x) < 0.5) return `V${toY.toFixed(1)}`;
  const middle = (y + toY) / 2;
  return `C${point(x, middle)} ${point(toX, middle)} ${point(toX, toY)}`;
}

/** Down, through the gap between the columns, up, and down into the next column. */
function acrossColumns(from, to, x, y, top, layout, gutters, bends) {
  const key = from;
  let lane = bends.get(key);
  if (lane === undefined) {
    lane = gutters[from.column]++ % 9;
    bends.set(key, lane);
  }
  const gutter = layout.columns[from.column].right + COLUMN_GAP / 2 + (lane - 4) * LANE;
  const low = from.top + from.rowHeight + 8 + (lane % 4) * 4;
  const high = to.top - 12 - (lane % 4) * 4;
  return rounding([[x, y], [x, low], [gutter, low], [gutter, high], [to.x, high], [to.x, top]]);
}

/** A path along corners, each of them rounded. */
function rounding(points) {
  let path = "";
  for (let at = 1; at < points.length - 1; at++) {
    const [px, py] = points[at - 1];
    const [x, y] = points[at];
    const [nx, ny] = points[at + 1];
    const reach = Math.min(7, Math.hypot(x - px, y - py) / 2, Math.hypot(nx - x, ny - y) / 2);
    const before = toward(x, y, px, py, reach);
    const after = toward(x, y, nx, ny, reach);
    path += `L${point(...before)}Q${point(x, y)} ${point(...after)}`;
  }
  return `${path}L${point(...points[points.length - 1])}`;
}

function toward(x, y, toX, toY, reach) {
  const length = Math.hypot(toX - x, toY - y) || 1;
  return [x + ((toX - x) / length) * reach, y + ((toY - y) / length) * reach];
}

/** An edge over very many ranks: its two ends only. */
function stubs({ top, bottom, isBack }) {
  const [x, y] = [bottom.x - bottom.width / 2 + 14, bottom.y - (isBack ? 0 : 5)];
  const low = top.y + top.height;
  const path = `M${point(top.x + top.width / 2 - 14, low)}v14M${point(x, y - 16)}V${y.toFixed(1)}`;
  return { path, tip: [x, y], start: [top.x + top.width / 2 - 14, low] };
}

const point = (x, y) => `${x.toFixed(1)} ${y.toFixed(1)}`;

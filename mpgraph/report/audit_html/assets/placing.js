const GAP = 26;
const RANK_GAP = 30;
const COLUMN_GAP = 70;
const SWEEPS = 4;

/**
 * Places every cell: orders the ranks by barycentres, straightens the edges, and breaks a level
 * that is much taller than wide into columns that are read from left to right.
 */
function laidOut(graph, aspect) {
  if (!graph.items.length) return { cells: [], links: [], columns: [], width: 0, height: 0 };
  const area = graph.items.reduce((sum, item) => sum + (item.width + GAP) * (item.height + RANK_GAP), 0);
  const widest = Math.max(900, Math.sqrt(area * aspect));
  const { ranks, links } = ranked(graph, widest);
  for (let sweep = 0; sweep < SWEEPS; sweep++) orderRanks(ranks, sweep % 2 === 0);
  ranks.forEach(placeInRow);
  for (let sweep = 0; sweep < 2 * SWEEPS + 1; sweep++) straighten(ranks, sweep % 2 === 0 ? "up" : "down");
  const columns = breakIntoColumns(ranks, aspect);
  const cells = ranks.flat();
  const width = Math.max(...columns.map((column) => column.right));
  const height = Math.max(...columns.map((column) => column.bottom));
  return { cells, links, columns, width, height };
}

function orderRanks(ranks, isDown) {
  const order = isDown ? ranks : [...ranks].reverse();
  for (const rank of order) {
    rank.forEach((cell, at) => {
      const near = isDown ? cell.up : cell.down;
      cell.centre = near.length ? near.reduce((sum, each) => sum + each.slot, 0) / near.length : (cell.slot ?? at);
    });
    rank.sort((one, other) => one.centre - other.centre || one.at - other.at);
    const half = (rank.length - 1) / 2;
    rank.forEach((cell, at) => (cell.slot = at - half));
  }
}

function placeInRow(rank) {
  let x = 0;
  for (const cell of rank) {
    cell.x = x + cell.width / 2;
    x += cell.width + GAP;
  }
  for (const cell of rank) cell.x -= (x - GAP) / 2;
}

/**
 * Moves the cells of each rank as near to the mean of their neighbours as their order allows: an
 * isotonic regression, solved by pooling neighbours that would overlap.
 */
function straighten(ranks, side) {
  const order = side === "up" ? ranks : [...ranks].reverse();
  for (const rank of order) {
    const pools = [];
    let offset = 0;
    rank.forEach((cell, at) => {
      if (at > 0) offset += (rank[at - 1].width + cell.width) / 2 + GAP;
      cell.offset = offset;
      const wish = wishedPlace(cell, side);
      const weight = !cell[side].length ? 0.2 : cell.item ? 1 : 2;
      let pool = { sum: (wish - offset) * weight, weight, cells: [cell] };
      while (pools.length && mean(pools[pools.length - 1]) >= mean(pool)) {
        const left = pools.pop();
        pool = { sum: left.sum + pool.sum, weight: left.weight + pool.weight, cells: left.cells.concat(pool.cells) };
      }
      pools.push(pool);
    });
    for (const pool of pools) for (const cell of pool.cells) cell.x = mean(pool) + cell.offset;
  }
}

/**
 * Where a cell would stand best for its neighbours on a side. Boxes follow boxes and passing edges
 * follow passing edges first, and neighbours with few edges count most, so that chains stay straight.
 */
function wishedPlace(cell, side) {
  if (!cell[side].length) return cell.x;
  const back = side === "up" ? "down" : "up";
  let [sum, weights] = [0, 0];
  for (const near of cell[side]) {
    const isAlike = cell.item ? near.item?.side === 0 : !near.item;
    const weight = (isAlike ? (cell.item ? 4 : 40) : 1) / near[back].length ** 2;
    sum += weight * near.x;
    weights += weight;
  }
  return sum / weights;
}

const mean = (pool) => pool.sum / pool.weight;

function breakIntoColumns(ranks, aspect) {
  const heights = ranks.map((rank) => Math.max(...rank.map((cell) => cell.height)));
  const tops = [0];
  for (const height of heights) tops.push(tops[tops.length - 1] + height + RANK_GAP);
  const total = tops[ranks.length];
  const cells = ranks.flat();
  const wide = Math.max(...cells.map((cell) => cell.x + cell.width / 2)) - Math.min(...cells.map((cell) => cell.x - cell.width / 2));
  const wanted = total > 900 ? Math.round(Math.sqrt((aspect * total) / (wide + COLUMN_GAP))) : 1;
  const starts = columnStarts(ranks, tops, Math.max(1, wanted));
  let left = 0;
  return starts.map((start, at) => {
    const stop = starts[at + 1] ?? ranks.length;
    const inside = ranks.slice(start, stop).flat();
    const from = Math.min(...inside.map((cell) => cell.x - cell.width / 2));
    const right = left + Math.max(...inside.map((cell) => cell.x + cell.width / 2)) - from;
    for (let rank = start; rank < stop; rank++) {
      for (const cell of ranks[rank]) {
        cell.x += left - from;
        cell.top = tops[rank] - tops[start];
        cell.rowHeight = heights[rank];
        cell.y = cell.top + (heights[rank] - cell.height) / 2;
        cell.column = at;
      }
    }
    const column = { left, right, bottom: tops[stop] - tops[start] - RANK_GAP };
    left = right + COLUMN_GAP;
    return column;
  });
}

/** The first rank of each column, near equal heights, where few edges would be broken. */
function columnStarts(ranks, tops, columns) {
  const starts = [0];
  const total = tops[ranks.length];
  for (let column = 1; column < columns; column++) {
    const ideal = (total * column) / columns;
    const reach = (total / columns) * 0.22;
    let best = -1;
    let least = Infinity;
    for (let rank = starts[starts.length - 1] + 1; rank < ranks.length; rank++) {
      const distance = Math.abs(tops[rank] - ideal);
      if (distance > reach) continue;
      const broken = ranks[rank].reduce((sum, cell) => sum + cell.up.length, 0);
      const cost = broken + (2 * distance) / reach;
      if (cost < least) [best, least] = [rank, cost];
    }
    if (best > 0) starts.push(best);
  }
  return starts;
}

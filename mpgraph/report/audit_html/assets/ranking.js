const LONGEST_LANE = 40;
const MOST_LANE_CELLS = 1500;

/**
 * Gives every item a rank, by the longest path to it, and every edge a chain of cells, one in each
 * rank that it passes. Edges against the order of the graph are laid out the other way round.
 */
function ranked(graph, widest) {
  const items = [...graph.items].sort((one, other) => one.order - other.order);
  const cells = new Map(items.map((item, at) => [item, { item, at, width: item.width, height: item.height, up: [], down: [], rank: 0 }]));
  const links = graph.edges.map((edge) => {
    const ends = [cells.get(edge.from), cells.get(edge.to)];
    const isBack = ends[0].at > ends[1].at;
    const [top, bottom] = isBack ? ends.reverse() : ends;
    return { edge, top, bottom, isBack };
  });
  const own = [...cells.values()];
  rankByLongestPath(own, links);
  splitWideRanks(own, widest);
  const ranks = [];
  for (const cell of own) (ranks[cell.rank] ||= []).push(cell);
  chainLinks(links, ranks);
  return { ranks, links };
}

function rankByLongestPath(cells, links) {
  const [into, outOf] = [new Map(), new Map()];
  for (const link of links) {
    pushTo(outOf, link.top, link);
    pushTo(into, link.bottom, link);
  }
  for (const cell of cells) {
    for (const link of outOf.get(cell) || []) link.bottom.rank = Math.max(link.bottom.rank, cell.rank + 1);
  }
  const light = new Set();
  for (const cell of cells) if (isLight(cell, into.get(cell) || [], light)) light.add(cell);
  for (const cell of [...cells].reverse()) {
    const below = outOf.get(cell);
    if (below && light.has(cell)) cell.rank = Math.max(cell.rank, Math.min(...below.map((link) => link.bottom.rank)) - 1);
  }
  renumber(cells);
}

/** What stands right above its first reader: sources, what constants alone feed, casts and Q/DQ. */
function isLight(cell, into, light) {
  return cell.item.kind === "convert" || into.every((link) => light.has(link.top) && link.top.item.kind !== "value" && link.top.item.kind !== "ghost");
}

function renumber(cells) {
  const used = [...new Set(cells.map((cell) => cell.rank))].sort((one, other) => one - other);
  const places = new Map(used.map((rank, at) => [rank, at]));
  for (const cell of cells) cell.rank = places.get(cell.rank);
}

/** Breaks ranks that are wider than a row into several. */
function splitWideRanks(cells, widest) {
  const byRank = [];
  for (const cell of cells) (byRank[cell.rank] ||= []).push(cell);
  let next = 0;
  for (const rank of byRank) {
    let width = 0;
    for (const cell of rank) {
      if (width > 0 && width + cell.width > widest) {
        next++;
        width = 0;
      }
      cell.rank = next;
      width += cell.width + GAP;
    }
    next++;
  }
}

/** Links become chains of cells; those from one source share their lane. */
function chainLinks(links, ranks) {
  const lanes = new Map();
  const longest = longestLane(links);
  let number = 0;
  for (const link of [...links].sort((one, other) => one.bottom.rank - other.bottom.rank)) {
    const { top, bottom } = link;
    if (!lanes.has(top)) lanes.set(top, []);
    const lane = lanes.get(top);
    link.chain = [top];
    link.isCut = bottom.rank - top.rank > longest;
    if (link.isCut) {
      link.chain.push(bottom);
      continue;
    }
    let previous = top;
    for (let rank = top.rank + 1; rank < bottom.rank; rank++) {
      let cell = lane[rank];
      if (!cell) {
        cell = { item: null, at: 1e6 + number++, width: 8, height: 0, up: [], down: [], rank };
        lane[rank] = cell;
        ranks[rank].push(cell);
        join(previous, cell);
      }
      link.chain.push(cell);
      previous = cell;
    }
    link.chain.push(bottom);
    join(previous, bottom);
  }
}

/** The longest edge that is drawn whole: shorter the more there are, so that a level stays quick. */
function longestLane(links) {
  const cellsFor = (limit) => {
    const spans = new Map();
    for (const { top, bottom } of links) {
      const span = bottom.rank - top.rank;
      if (span <= limit) spans.set(top, Math.max(spans.get(top) || 0, span));
    }
    return [...spans.values()].reduce((sum, span) => sum + span, 0);
  };
  let limit = LONGEST_LANE;
  while (limit > 4 && cellsFor(limit) > MOST_LANE_CELLS) limit = Math.floor(limit * 0.75);
  return limit;
}

function join(upper, lower) {
  upper.down.push(lower);
  lower.up.push(upper);
}

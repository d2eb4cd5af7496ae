const [CHART_WIDTH, CHART_HEIGHT] = [296, 74];
const HEIGHTS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Magnitudes of a value or weight as an object; null where nothing was measured. */
function readRange(model, number) {
  if (number === undefined || number < 0) return null;
  const [minimum, maximum, smallest, nonfinite, zeros, low, heights] = model.ranges[number];
  const octaves = [...heights].map((height, at) => [low + at, HEIGHTS.indexOf(height)]).filter(([, height]) => height > 0);
  return { minimum, maximum, smallest, nonfinite, zeros, octaves, amax: Math.max(-minimum, maximum, 0) };
}

/** What becomes of the magnitudes in a dtype with these limits. */
function rangeVerdict(range, name, [largest, normal, subnormal]) {
  if (range.nonfinite) return ["error", `${plural(range.nonfinite, "element")} NaN or infinite`];
  if (range.amax > largest) return ["error", `overflows ${name}: ${numberText(range.amax)} > ${numberText(largest)}`];
  if (!range.amax) return ["good", "all zero"];
  if (range.amax < subnormal) return ["error", `vanishes in ${name}: all below ${numberText(subnormal)}`];
  if (range.smallest !== null && range.smallest < subnormal) return ["warning", `partly below ${name}'s ${numberText(subnormal)}`];
  if (range.smallest !== null && range.smallest < normal) return ["note", `partly subnormal in ${name}`];
  const room = Math.log2(largest / range.amax);
  return ["good", `fits ${name}, ${room.toFixed(1)} octaves of room`];
}

/** Log-log histogram of magnitudes by power of two, shaded where a dtype cannot hold them. */
function histogram(range, name, limits) {
  const [top, normal, bottom] = limits.map(Math.log2);
  const exponents = range.octaves.map(([exponent]) => exponent);
  const from = Math.min(Math.floor(bottom) - 3, ...exponents);
  const to = Math.max(Math.ceil(top) + 3, ...exponents.map((exponent) => exponent + 1));
  const x = (exponent) => ((exponent - from) / (to - from)) * CHART_WIDTH;
  const highest = Math.max(4, ...range.octaves.map(([, height]) => height));
  const zone = (style, low, high, title) =>
    high > low && drawn("rect", { class: style, x: x(low).toFixed(1), y: 0, width: (x(high) - x(low)).toFixed(1), height: CHART_HEIGHT }, drawn("title", {}, title));
  const bars = range.octaves.map(([exponent, height]) => {
    const tall = (height / highest) * (CHART_HEIGHT - 8);
    const style = exponent >= top ? "bar-over" : exponent < Math.floor(bottom) ? "bar-under" : "bar-in";
    return drawn(
      "rect",
      { class: style, x: (x(exponent) + 0.3).toFixed(1), y: (CHART_HEIGHT - tall).toFixed(1), width: Math.max(x(exponent + 1) - x(exponent) - 0.6, 0.8).toFixed(1), height: tall.toFixed(1) },
      drawn("title", {}, `magnitude 2^${exponent} to 2^${exponent + 1}: about ${amountText(2 ** (height - 1))}`),
    );
  });
  const ticks = [from, Math.round(bottom), Math.round(normal), 0, Math.round(top), to];
  const kept = ticks.filter((tick, at) => ticks.slice(0, at).every((other) => Math.abs(x(tick) - x(other)) > 26));
  const labels = kept.map((tick) => {
    const anchor = tick === from ? "begin" : tick === to ? "end" : "middle";
    return drawn("text", { class: `tick ${anchor}`, x: x(tick).toFixed(1), y: CHART_HEIGHT + 13 }, `2^${tick}`);
  });
  const [, verdict] = rangeVerdict(range, name, limits);
  return drawn(
    "svg",
    { class: "histogram", viewBox: `0 0 ${CHART_WIDTH} ${CHART_HEIGHT + 18}`, role: "img", "aria-label": `Magnitudes by power of two, ${verdict}` },
    zone("zone-over", top, to, `${name} overflows`),
    zone("zone-subnormal", bottom, normal, `${name} is subnormal: fewer digits`),
    zone("zone-under", from, bottom, `${name} underflows to zero`),
    bars,
    drawn("path", { class: "axis", d: `M0 ${CHART_HEIGHT}H${CHART_WIDTH}` }),
    labels,
  );
}

/** A histogram with its numbers and what the chosen dtype makes of them. */
function rangeBlock(range, title, context) {
  const name = context.limit();
  const limits = context.limits[name];
  const [level, verdict] = rangeVerdict(range, name, limits);
  return element(
    "figure",
    { class: "range" },
    element("figcaption", {}, title, element("span", { class: `verdict ${level}` }, verdict)),
    range.octaves.length ? histogram(range, name, limits) : null,
    element(
      "p",
      { class: "numbers" },
      `min ${numberText(range.minimum)}, max ${numberText(range.maximum)}`,
      range.smallest === null ? "" : `, smallest ${numberText(range.smallest)}`,
      range.zeros ? `, zeros ${count(range.zeros)}` : "",
    ),
  );
}

/** The choice of the dtype against whose limits ranges are shown. */
function limitChoice(context) {
  const options = Object.keys(context.limits).map((name) => element("option", { value: name, selected: name === context.limit() }, name));
  return element(
    "label",
    { class: "choice" },
    "limits of ",
    element("select", { onchange: (event) => context.setLimit(event.target.value) }, options),
  );
}

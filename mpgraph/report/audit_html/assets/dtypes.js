/** Dtypes that look alike: one colour and one shape each. */
const FAMILIES = {
  f32: { label: "float32", shape: "circle" },
  f16: { label: "float16", shape: "square" },
  bf16: { label: "bfloat16", shape: "diamond" },
  f64: { label: "float64", shape: "octagon" },
  f8: { label: "float8", shape: "kite" },
  i8: { label: "8 and 16 bit integer", shape: "triangle" },
  i4: { label: "4 bit and less", shape: "wedge" },
  other: { label: "integer, bool, string", shape: "bar" },
  none: { label: "unknown", shape: "ring" },
};

const familyCache = new Map();

function family(dtype) {
  let found = familyCache.get(dtype);
  if (!found) familyCache.set(dtype, (found = familyOf(dtype)));
  return found;
}

function familyOf(dtype) {
  if (!dtype || dtype === "unknown") return "none";
  if (dtype === "float32") return "f32";
  if (dtype === "float16") return "f16";
  if (dtype === "bfloat16") return "bf16";
  if (dtype === "float64") return "f64";
  if (dtype.startsWith("float8")) return "f8";
  if (/^u?int(8|16)$/.test(dtype)) return "i8";
  if (/(int|float)[124]/.test(dtype) && !/(16|32|64)/.test(dtype)) return "i4";
  return "other";
}

/** A dtype in a few letters, such as bf16, u8, f8e4m3. */
function shortDtype(dtype) {
  return dtype
    .replace("bfloat", "bf")
    .replace("float", "f")
    .replace("uint", "u")
    .replace("int", "i")
    .replace("string", "str")
    .replace(/fn$/, "");
}

const GLYPHS = {
  circle: (x, y, r) => `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`,
  square: (x, y, r) => `M${x - r * 0.9} ${y - r * 0.9}h${r * 1.8}v${r * 1.8}h${-r * 1.8}z`,
  diamond: (x, y, r) => `M${x} ${y - r * 1.2}l${r * 1.2} ${r * 1.2}l${-r * 1.2} ${r * 1.2}l${-r * 1.2} ${-r * 1.2}z`,
  octagon: (x, y, r) => chamfered(x - r, y - r, 2 * r, 2 * r, r * 0.6),
  kite: (x, y, r) => `M${x - r} ${y - r}h${r}l${r} ${r}v${r}h${-2 * r}z`,
  triangle: (x, y, r) => `M${x} ${y - r * 1.1}l${r * 1.15} ${r * 2}h${-r * 2.3}z`,
  wedge: (x, y, r) => `M${x} ${y + r * 1.1}l${r * 1.15} ${-r * 2}h${-r * 2.3}z`,
  bar: (x, y, r) => `M${x - r} ${y - r * 0.45}h${2 * r}v${r * 0.9}h${-2 * r}z`,
  ring: (x, y, r) => `${GLYPHS.circle(x, y, r)}${GLYPHS.circle(x, y, r * 0.45)}`,
};

/** The small sign of a dtype around a point, as path data. */
function glyphPath(dtype, x, y, radius) {
  return GLYPHS[FAMILIES[family(dtype)].shape](x, y, radius);
}

/** The sign of a dtype as a picture of its own. */
function glyph(dtype) {
  return drawn(
    "svg",
    { class: "glyph", viewBox: "0 0 14 14", "aria-hidden": "true" },
    drawn("path", { class: `fill-${family(dtype)}`, d: glyphPath(dtype, 7, 7, 5), "fill-rule": "evenodd" }),
  );
}

/** A dtype in words with its sign before it. */
function dtypeLabel(dtype) {
  return element("span", { class: "dtype" }, glyph(dtype), dtype || "unknown");
}

/** The outline of a box; its form says the dtype as its colour does. */
function outlinePath(dtype, x, y, width, height) {
  const half = height / 2;
  switch (family(dtype)) {
    case "f32":
      return rounded(x, y, width, height, Math.min(14, half));
    case "f16":
      return rounded(x, y, width, height, 1);
    case "bf16":
      return `M${x} ${y + half}l10 ${-half}h${width - 20}l10 ${half}l-10 ${half}h${20 - width}z`;
    case "f64":
      return chamfered(x, y, width, height, 9);
    case "f8":
      return `M${x} ${y}h${width - 14}l14 14v${height - 14}h${-width}z`;
    case "i8":
      return `M${x + 9} ${y}h${width - 18}l9 ${height}h${-width}z`;
    case "i4":
      return `M${x} ${y}h${width}l-9 ${height}h${18 - width}z`;
    default:
      return rounded(x, y, width, height, 4);
  }
}

function rounded(x, y, width, height, radius) {
  const arc = (dx, dy) => `a${radius} ${radius} 0 0 1 ${dx} ${dy}`;
  return (
    `M${x + radius} ${y}h${width - 2 * radius}${arc(radius, radius)}v${height - 2 * radius}` +
    `${arc(-radius, radius)}h${2 * radius - width}${arc(-radius, -radius)}` +
    `v${2 * radius - height}${arc(radius, -radius)}z`
  );
}

function chamfered(x, y, width, height, cut) {
  return (
    `M${x + cut} ${y}h${width - 2 * cut}l${cut} ${cut}v${height - 2 * cut}l${-cut} ${cut}` +
    `h${2 * cut - width}l${-cut} ${-cut}v${2 * cut - height}z`
  );
}

/** Shares of dtypes as one bar, the most frequent families first. */
function dtypeBar(shares, width, height) {
  const entries = [...shares].filter(([, share]) => share > 0).sort((a, b) => b[1] - a[1]);
  const total = entries.reduce((sum, [, share]) => sum + share, 0);
  const parts = [];
  let x = 0;
  for (const [dtype, share] of entries) {
    const part = Math.max((share / total) * width, 1.5);
    parts.push(drawn("rect", { class: `fill-${family(dtype)}`, x: x.toFixed(1), y: 0, width: part.toFixed(1), height }));
    x += (share / total) * width;
  }
  const label = entries.map(([dtype, share]) => `${dtype || "unknown"} ${count(share)}`).join(", ");
  return drawn(
    "svg",
    { class: "bar", width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label },
    drawn("title", {}, label),
    parts,
  );
}

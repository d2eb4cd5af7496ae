const grouped = new Intl.NumberFormat("en");

function count(number) {
  return number === null || number === undefined ? "" : grouped.format(number);
}

function plural(number, one, many = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : many}`;
}

function scaled(number, steps, unit) {
  for (const [size, prefix] of steps) {
    if (number >= size * 0.9995) {
      const value = number / size;
      return `${value.toFixed(value < 9.995 ? 2 : value < 99.95 ? 1 : 0)} ${prefix}${unit}`;
    }
  }
  return `${number}${unit ? ` ${unit}` : ""}`;
}

const STEPS = [
  [1e12, "T"],
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
];

const bytesText = (number) => scaled(number, STEPS, "B");
const workText = (number) => scaled(number, STEPS, "MAC");
const amountText = (number) => (number < 10000 ? count(number) : scaled(number, STEPS, "").trim());

/** A number as a person reads it, with up to five digits. */
function numberText(number) {
  if (number === null || number === undefined) return "";
  if (number === 0) return "0";
  const size = Math.abs(number);
  if (size >= 1e-3 && size < 1e5) return String(Number(number.toPrecision(size < 1e4 ? 4 : 5)));
  return number.toExponential(2).replace("e+", "e");
}

/** Text cut in its middle, where paths differ least, to about so many characters. */
function shortened(text, length) {
  if (text.length <= length) return text;
  const tail = Math.ceil((length - 1) * 0.62);
  return `${text.slice(0, length - 1 - tail)}…${text.slice(text.length - tail)}`;
}

/** The last part of a path. */
function tail(path) {
  const trimmed = path.replace(/\/+$/, "");
  return trimmed.slice(trimmed.lastIndexOf("/") + 1) || path;
}

/** A provider as people call it. */
const providerName = (provider) => provider.replaceAll("ExecutionProvider", "");

/** An argument as a POSIX shell takes it. */
function shellQuoted(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`;
}

/** A text as TOML writes it. */
function tomlQuoted(text) {
  return JSON.stringify(text).replaceAll("\u007f", "\\u007f");
}

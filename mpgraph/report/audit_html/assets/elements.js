const SVG = "http://www.w3.org/2000/svg";

/** An HTML element; names that start with "on" are listeners, texts become text nodes only. */
function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** An SVG element. */
function drawn(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

function filled(made, attributes, children) {
  for (const name in attributes) {
    const value = attributes[name];
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(2)) {
    if (child !== null && child !== undefined && child !== false) made.append(child);
  }
  return made;
}

/** A button that says what it does. */
function button(label, onclick, attributes = {}) {
  return element("button", { type: "button", onclick, ...attributes }, label);
}

/** Text to copy with a button beside it. */
function copyable(text, label) {
  const copy = button("Copy", () => copyText(text, copy), { "aria-label": `Copy ${label}` });
  return element("div", { class: "copyable" }, element("code", {}, text), copy);
}

function copyText(text, from) {
  const done = () => {
    from.textContent = "Copied";
    setTimeout(() => (from.textContent = "Copy"), 1200);
  };
  const byHand = () => {
    const area = element("textarea", { class: "offscreen", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    from.focus();
    done();
  };
  if (navigator.clipboard && window.isSecureContext) {
    navigator.clipboard.writeText(text).then(done, byHand);
  } else byHand();
}

/** Says something to those who hear the page instead of seeing it. */
function announce(text) {
  document.getElementById("announcer").textContent = text;
}

/** Reads the data of the page and builds it. */
async function start() {
  document.body.append(element("div", { id: "announcer", class: "offscreen", role: "status", "aria-live": "polite" }));
  if (typeof DecompressionStream === "undefined") {
    document.body.append(element("p", { class: "empty" }, "This report needs a browser of 2023 or later."));
    return;
  }
  const data = await readData();
  const strings = readStrings(data.strings);
  const page = data.models.length > 1 ? differencePage(data, strings) : auditPage(data, strings);
  addEventListener("keydown", (event) => {
    const isTyping = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName || "");
    if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    page.searchBox.focus();
  });
  addEventListener("beforeprint", () => page.tabs.print());
  performance.mark("ready");
  document.body.dataset.readyMs = performance.now().toFixed(0);
}

/** The data of the page: JSON, deflated, in base64. */
async function readData() {
  const packed = Uint8Array.from(atob(document.getElementById("data").textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}

start();

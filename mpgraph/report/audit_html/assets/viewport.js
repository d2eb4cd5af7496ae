const [SMALLEST_ZOOM, LARGEST_ZOOM] = [0.08, 3];

/** Zooming and moving of what an SVG holds: wheel, dragging, and the functions that it returns. */
function createViewport(svg, stage, onMove) {
  const view = { x: 0, y: 0, scale: 1 };
  let size = { width: 0, height: 0 };
  let isPending = false;

  function apply() {
    stage.setAttribute("transform", `translate(${view.x.toFixed(1)} ${view.y.toFixed(1)}) scale(${view.scale.toFixed(4)})`);
    svg.classList.toggle("far", view.scale < 0.5);
    onMove(view.scale);
  }

  function zoom(factor, centreX, centreY) {
    const { width, height } = svg.getBoundingClientRect();
    const [x, y] = [centreX ?? width / 2, centreY ?? height / 2];
    const scale = Math.min(LARGEST_ZOOM, Math.max(SMALLEST_ZOOM, view.scale * factor));
    view.x = x - ((x - view.x) * scale) / view.scale;
    view.y = y - ((y - view.y) * scale) / view.scale;
    view.scale = scale;
    apply();
  }

  function move(dx, dy) {
    view.x += dx;
    view.y += dy;
    apply();
  }

  /** Shows all of it where that stays legible, else its beginning. */
  function fit(content, smallest = 0.7) {
    size = content;
    const { width, height } = svg.getBoundingClientRect();
    isPending = !width;
    if (isPending || !content.width) return;
    const margin = 28;
    const whole = Math.min((width - 2 * margin) / content.width, (height - 2 * margin) / content.height);
    view.scale = Math.min(1.1, Math.max(whole, smallest));
    const isWide = content.width * view.scale > width - 2 * margin;
    const leftmost = width - margin - content.width * view.scale;
    view.x = isWide ? Math.min(margin, Math.max(leftmost, width / 2 - content.start * view.scale)) : (leftmost + margin) / 2;
    view.y = content.height * view.scale > height - 2 * margin ? margin : (height - content.height * view.scale) / 2;
    apply();
  }

  /** Width by height of the room, within bounds in which a level can be laid out. */
  function aspect() {
    const { width, height } = svg.getBoundingClientRect();
    return width && height ? Math.min(2, Math.max(0.6, width / height)) : 1.2;
  }

  /** Moves a box into view if it is outside. */
  function reveal(box) {
    const { width, height } = svg.getBoundingClientRect();
    const left = box.left * view.scale + view.x;
    const top = box.top * view.scale + view.y;
    const [right, bottom] = [left + box.width * view.scale, top + box.height * view.scale];
    const isInside = left >= 8 && top >= 8 && right <= width - 8 && bottom <= height - 8;
    if (!isInside) move(width / 2 - (left + right) / 2, height / 2 - (top + bottom) / 2);
  }

  /** Fits what was drawn while the picture was hidden. */
  function fitPending() {
    if (isPending) fit(size);
  }

  svg.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const { left, top } = svg.getBoundingClientRect();
      if (event.shiftKey) move(-event.deltaY - event.deltaX, 0);
      else zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0016)), event.clientX - left, event.clientY - top);
    },
    { passive: false },
  );
  enableDragging(svg, move);
  return { fitPending, zoom, move, fit, reveal, whole: () => fit(size, SMALLEST_ZOOM), aspect };
}

/** Dragging moves; a press that stays in place remains a click. */
function enableDragging(svg, move) {
  let last = null;
  let moved = 0;
  svg.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    last = [event.clientX, event.clientY];
    moved = 0;
  });
  svg.addEventListener("pointermove", (event) => {
    if (!last || !(event.buttons & 1)) return;
    const [dx, dy] = [event.clientX - last[0], event.clientY - last[1]];
    moved += Math.abs(dx) + Math.abs(dy);
    if (moved < 5) return;
    if (!svg.hasPointerCapture(event.pointerId)) svg.setPointerCapture(event.pointerId);
    svg.classList.add("dragging");
    last = [event.clientX, event.clientY];
    move(dx, dy);
  });
  const stop = () => {
    last = null;
    svg.classList.remove("dragging");
  };
  svg.addEventListener("pointerup", stop);
  svg.addEventListener("pointercancel", stop);
}

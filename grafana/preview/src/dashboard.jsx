// A dashboard on Grafana's grid of 24 columns. Rows that are folded up there are shown unfolded.

import { useRef } from "react";
import { theme } from "./frames.js";
import { Panel } from "./panel.jsx";

const COLUMNS = 24;
const CELL = 30;
const GAP = 8;

export function Dashboard({ dashboard, variables, period, marks }) {
  const placed = unfolded(dashboard.panels);
  const waiting = useRef(placed.filter(([panel]) => panel.type !== "row").length);
  const drawn = () => {
    waiting.current -= 1;
    if (waiting.current > 0) return;
    afterPaint(() => {
      document.body.dataset.drawn = "yes";
    });
  };
  const bottom = Math.max(...placed.map(([panel, top]) => top + panel.gridPos.h));
  return (
    <main>
      <Head {...{ dashboard, period, marks }} />
      <div className="preview-grid" style={{ height: bottom * (CELL + GAP) }}>
        {placed.map(([panel, top]) => {
          const box = boxOf(panel.gridPos, top);
          const { width, height } = box;
          return (
            <div key={panel.id} className="preview-cell" style={box}>
              {panel.type === "row"
                ? <h2>{panel.title}{panel.collapsed && <em>folded up at first</em>}</h2>
                : <Panel {...{ panel, variables, period, marks, width, height }} onDrawn={drawn} />}
            </div>
          );
        })}
      </div>
    </main>
  );
}

function Head({ dashboard, period, marks }) {
  return (
    <header>
      <h1>{dashboard.title}</h1>
      <p>
        Preview drawn with Grafana’s component library, not by Grafana. {clock(period.from)} to{" "}
        {clock(period.to)} UTC
      </p>
      {marks.map(({ name, title, colour, seconds }) => (
        <p
          key={`${name} ${title} ${seconds}`}
          style={{ color: theme.visualization.getColorByName(colour) }}
        >
          {title}, {clock(seconds).slice(11)}
        </p>
      ))}
    </header>
  );
}

/** Pairs of panel and top line; the panels of a folded row push down what follows. */
function unfolded(panels) {
  let pushed = 0;
  const found = [];
  for (const panel of panels) {
    found.push([panel, panel.gridPos.y + pushed]);
    const inside = panel.panels ?? [];
    found.push(...inside.map((one) => [one, one.gridPos.y + pushed]));
    const end = Math.max(0, ...inside.map((one) => one.gridPos.y + one.gridPos.h));
    if (inside.length > 0) pushed += end - panel.gridPos.y - 1;
  }
  return found;
}

function boxOf({ x, w, h }, top) {
  const column = (window.innerWidth - GAP) / COLUMNS;
  return {
    left: x * column,
    top: top * (CELL + GAP),
    width: w * column - GAP,
    height: h * (CELL + GAP) - GAP,
  };
}

function clock(seconds) {
  return new Date(seconds * 1000).toISOString().slice(0, 19).replace("T", " ");
}

function afterPaint(then) {
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(then, 300)));
}

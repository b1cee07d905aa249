// What stands inside a panel, by the panel's type.

import {
  FieldType, dateTime, getDisplayProcessor, reduceField, renderTextPanelMarkdown,
} from "@grafana/data";
import { BigValue, TimeSeries } from "@grafana/ui";
import { theme, timeZone } from "./frames.js";

/** Types that Grafana does not publish outside of its server. */
const NOT_PUBLISHED = new Set(["heatmap", "state-timeline", "table", "status-history"]);

export function contents(panel, frames, period, marks) {
  if (panel.type === "text") return text(panel);
  if (NOT_PUBLISHED.has(panel.type)) return standIn(panel, frames);
  if (panel.type === "stat") return stat(panel, frames);
  if (panel.type === "timeseries") return timeseries(panel, frames, period, marks);
  throw new Error(`the preview does not know panels of type ${panel.type}`);
}

function text(panel) {
  const html = renderTextPanelMarkdown(panel.options.content);
  return () => <div className="markdown-html preview-text" dangerouslySetInnerHTML={{ __html: html }} />;
}

function standIn(panel, frames) {
  return () => (
    <div className="preview-stand-in" data-drawn={frames.length}>
      <p>stand-in: Grafana publishes no component for panels of type “{panel.type}”</p>
      <p>{frames.length} series from Prometheus</p>
    </div>
  );
}

function nothing(panel) {
  return () => <div className="preview-nothing">{panel.fieldConfig.defaults.noValue ?? "No data"}</div>;
}

function stat(panel, frames) {
  const shown = frames.length > 0 ? frames.map((frame) => reduced(panel, frame)) : [empty(panel)];
  const { colorMode, graphMode, justifyMode, text, textMode } = panel.options;
  return (width, height) => (
    <div style={{ display: "flex" }}>
      {shown.map((value) => (
        <div key={value.title} {...(frames.length > 0 && { "data-series": value.title })}>
          <BigValue
            {...{ colorMode, graphMode, justifyMode, text, textMode, theme, value }}
            width={width / shown.length}
            height={height}
          />
        </div>
      ))}
    </div>
  );
}

function reduced(panel, frame) {
  const [calculation] = panel.options.reduceOptions.calcs;
  const field = frame.fields[1];
  const found = reduceField({ field, reducers: [calculation] })[calculation];
  return { ...field.display(found), title: frame.name };
}

function empty(panel) {
  const field = { name: "", type: FieldType.number, values: [], config: panel.fieldConfig.defaults };
  return { ...getDisplayProcessor({ field, theme, timeZone })(null), title: "nothing" };
}

function timeseries(panel, frames, period, marks) {
  if (frames.length === 0) return nothing(panel);
  const [from, to] = [dateTime(period.from * 1000), dateTime(period.to * 1000)];
  const range = { from, to, raw: { from, to } };
  return (width, height) => (
    <TimeSeries
      frames={frames}
      timeRange={range}
      legend={panel.options.legend}
      {...{ width, height, timeZone }}
    >
      {(builder) => {
        builder.addHook("draw", (plot) => drawMarks(plot, marks));
        return null;
      }}
    </TimeSeries>
  );
}

// Grafana draws its marks with a plug-in that it does not publish: dashed lines, as there.
function drawMarks({ ctx, bbox, valToPos }, marks) {
  ctx.save();
  ctx.setLineDash([4, 4]);
  for (const { colour, seconds } of marks) {
    const x = valToPos(seconds * 1000, "x", true);
    ctx.strokeStyle = theme.visualization.getColorByName(colour);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
  }
  ctx.restore();
}

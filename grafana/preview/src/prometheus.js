// Asks Prometheus what a panel's queries ask, over the loopback relay that serves this page.

/** What the relay counts the queries of annotations under; panels have ids from 1. */
export const MARKS = 0;
const POINT_PIXELS = 2;
const RATE_SCRAPES = 4;

/** What of the address the preview was told: whole seconds since 1970, and seconds. */
export function periodOf(search) {
  const given = new URLSearchParams(search);
  return {
    from: Number(given.get("from")),
    to: Number(given.get("to")),
    scrape: Number(given.get("scrape")),
    window: Number(given.get("window")),
  };
}

/** The values of the dashboard's variables, as Grafana has them when nobody has chosen. */
export function variablesOf(dashboard) {
  return Object.fromEntries(
    dashboard.templating.list
      .filter((variable) => variable.type === "query")
      .map(({ name, includeAll, allValue, current }) => [name, includeAll ? allValue : current.value]),
  );
}

/** One answer for each of the panel's targets: {target, step, result}, as Prometheus gave it. */
export async function answersOf(panel, variables, period) {
  const step = stepOf(panel, period);
  const macros = { ...variables, ...windows(panel, step, period) };
  return Promise.all(
    panel.targets.map(async (target) => ({
      target,
      step,
      result: await ask(panel.id, filled(target.expr, macros), target.instant, step, period),
    })),
  );
}

/** What the dashboard's annotations mark: {name, colour, title, seconds}, one for each instant. */
export async function marksOf(dashboard, variables, period) {
  const found = await Promise.all(
    dashboard.annotations.list.map(async (annotation) => {
      const { expr, interval } = annotation.target;
      const step = seconds(interval) || period.scrape;
      const result = await ask(MARKS, filled(expr, variables), false, step, period);
      return result.flatMap((series) => instants(annotation, series, step));
    }),
  );
  return found.flat().filter(({ seconds: at }) => at >= period.from && at <= period.to);
}

// A value that is a time marks it; any other marks where it begins to be there.
function instants(annotation, { metric, values }, step) {
  const begins = values.filter(([time], at) => at === 0 || time - values[at - 1][0] > step);
  const times = annotation.useValueForTime
    ? values.map(([, value]) => value / 1000)
    : begins.map(([time]) => time);
  const title = named(annotation.titleFormat, metric);
  const colour = annotation.iconColor;
  const name = annotation.name;
  return [...new Set(times)].map((time) => ({ name, colour, title, seconds: time }));
}

/** A text with `{{label}}` replaced by the label's value. */
export function named(format, labels) {
  return format.replace(/\{\{\s*(\w+)\s*\}\}/g, (_, label) => labels[label] ?? "");
}

function stepOf(panel, period) {
  const points = (panel.gridPos.w / 24) * window.innerWidth / POINT_PIXELS;
  return Math.max(period.scrape, Math.ceil((period.to - period.from) / points));
}

// Grafana's rule for $__rate_interval, unless the preview was told another window: a run of a few
// minutes has too little in the window of a day's dashboard.
function windows(panel, step, period) {
  const least = Math.max(step, seconds(panel.interval));
  const reckoned = Math.max(least + period.scrape, RATE_SCRAPES * period.scrape);
  return {
    __rate_interval: `${panel.interval ? reckoned : period.window || reckoned}s`,
    __range: `${period.to - period.from}s`,
    __range_s: period.to - period.from,
  };
}

function seconds(interval) {
  const parts = /^(\d+)([smh])$/.exec(interval ?? "");
  return parts ? Number(parts[1]) * { s: 1, m: 60, h: 3600 }[parts[2]] : 0;
}

function filled(expression, macros) {
  return expression.replace(/\$\{?(\w+)\}?/g, (whole, name) => macros[name] ?? whole);
}

async function ask(panel, query, instant, step, period) {
  const asked = instant
    ? { query, time: period.to }
    : { query, start: period.from, end: period.to, step };
  const path = instant ? "query" : "query_range";
  const response = await fetch(`/prometheus/${panel}/${path}`, {
    method: "POST",
    body: new URLSearchParams(asked),
  });
  const answer = await response.json();
  if (answer.status !== "success") throw new Error(`${answer.error}: ${query}`);
  return answer.data.result;
}

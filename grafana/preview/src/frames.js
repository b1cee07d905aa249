// From Prometheus's answers to the data frames that Grafana's components draw.

import { FieldType, createTheme, getDisplayProcessor, stringToJsRegex, toDataFrame } from "@grafana/data";
import { named } from "./prometheus.js";

export const theme = createTheme({ colors: { mode: "dark" } });
export const timeZone = "utc";

/** A frame for each series, with the panel's options, overrides and number formats on it. */
export function framesOf(panel, answers, period) {
  const found = answers.flatMap(({ target, step, result }) =>
    result.map((series) => [named(target.legendFormat, series.metric), points(series, step, period)]),
  );
  return found.map(([name, values], index) => frame(panel, name, values, index));
}

function frame(panel, name, values, index) {
  const config = configOf(panel.fieldConfig, name);
  const made = toDataFrame({
    name,
    fields: [
      timed(values.map(([time]) => time * 1000)),
      { name: "Value", type: FieldType.number, values: values.map(([, value]) => value), config },
    ],
  });
  for (const field of made.fields) {
    // Colours go by the name that is kept here.
    field.state = { seriesIndex: index, displayName: field.name === "Time" ? undefined : name };
    field.display = getDisplayProcessor({ field, theme, timeZone });
  }
  return made;
}

function timed(values) {
  return { name: "Time", type: FieldType.time, values, config: {} };
}

/** The defaults, and what overrides by name or expression say of this series; others are refused. */
function configOf({ defaults, overrides }, name) {
  const config = structuredClone({ ...defaults, displayName: name });
  for (const { matcher, properties } of overrides) {
    if (!matches(matcher, name)) continue;
    for (const { id, value } of properties) set(config, id.split("."), value);
  }
  return config;
}

function matches({ id, options }, name) {
  if (id === "byName") return options === name;
  if (id === "byRegexp") return stringToJsRegex(options).test(name);
  throw new Error(`the preview does not know the matcher ${id}`);
}

function set(config, [key, ...rest], value) {
  if (rest.length === 0) config[key] = value;
  else set((config[key] ??= {}), rest, value);
}

// Prometheus leaves out what is not there; Grafana's panel puts a gap into the curve.
function points({ value, values }, step, period) {
  if (value) return [[value[0], Number(value[1])]];
  const there = new Map(values.map(([time, text]) => [time, Number(text)]));
  const found = [];
  for (let time = period.from; time <= period.to; time += step) {
    found.push([time, there.get(time) ?? null]);
  }
  return found;
}

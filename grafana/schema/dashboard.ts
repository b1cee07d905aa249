// What one of our dashboards may hold: Grafana's own types, narrowed to what we use.
import type { AnnotationQuery, Dashboard, FieldConfig, GraphFieldConfig, Panel, RowPanel, VariableModel } from "@grafana/schema";
import type * as heatmap from "@grafana/schema/dist/esm/raw/composable/heatmap/panelcfg/x/HeatmapPanelCfg_types.gen";
import type * as stat from "@grafana/schema/dist/esm/raw/composable/stat/panelcfg/x/StatPanelCfg_types.gen";
import type * as text from "@grafana/schema/dist/esm/raw/composable/text/panelcfg/x/TextPanelCfg_types.gen";
import type * as timeseries from "@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen";

type Source = { type: "prometheus"; uid: string };

// The query of the Prometheus data source is not in the package.
interface PrometheusQuery {
  refId: string;
  datasource: Source;
  expr: string;
  legendFormat: string;
  format?: "time_series" | "heatmap";
  instant?: boolean;
  range?: boolean;
  exemplar?: boolean;
}

interface Override {
  matcher: { id: "byName" | "byRegexp"; options: string };
  properties: Array<{ id: string; value?: unknown }>;
}

type Frame = Omit<Panel, "type" | "options" | "fieldConfig" | "targets" | "datasource" | "libraryPanel" | "transformations">;

interface Kind<Name extends string, Options, Custom> extends Frame {
  type: Name;
  datasource: Source;
  options: Options;
  fieldConfig: {
    defaults: Omit<FieldConfig, "custom"> & { custom?: Custom };
    overrides: Override[];
  };
  targets: PrometheusQuery[];
}

interface TextPanel extends Frame {
  type: "text";
  options: Omit<text.Options, never>;
}

type Drawn =
  | Kind<"stat", Omit<stat.Options, never>, Record<string, never>>
  | Kind<"timeseries", Omit<timeseries.Options, never>, GraphFieldConfig>
  | Kind<"heatmap", Omit<heatmap.Options, never>, Omit<heatmap.FieldConfig, never>>
  | TextPanel;

interface Row extends Omit<RowPanel, "panels" | "datasource"> {
  panels: Drawn[];
}

interface Variable extends Omit<VariableModel, "datasource"> {
  datasource?: Source;
}

// Members of the Prometheus data source stand beside Grafana's own.
interface PrometheusAnnotation extends Omit<AnnotationQuery, "target" | "snapshotData" | "datasource"> {
  datasource: Source;
  target: { refId: string; expr: string; interval?: string; legendFormat?: string };
  titleFormat: string;
  textFormat?: string;
  tagKeys?: string;
  useValueForTime?: boolean;
}

export interface SluicegateDashboard extends Omit<Dashboard, "annotations" | "panels" | "templating" | "snapshot"> {
  templating: { list: Variable[] };
  annotations: { list: PrometheusAnnotation[] };
  panels: Array<Drawn | Row>;
}

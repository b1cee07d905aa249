// `/?dashboard=UID&from=SECONDS&to=SECONDS&scrape=SECONDS`: draws one dashboard.

import "@fontsource/inter/latin-400.css";
import "@fontsource/inter/latin-500.css";
import { ThemeContext } from "@grafana/data";
import { GlobalStyles } from "@grafana/ui";
import { createRoot } from "react-dom/client";
import { Dashboard } from "./dashboard.jsx";
import { theme } from "./frames.js";
import { marksOf, periodOf, variablesOf } from "./prometheus.js";
import "./page.css";

const name = new URLSearchParams(window.location.search).get("dashboard");
const response = await fetch(`/dashboards/${encodeURIComponent(name)}.json`);
if (!response.ok) throw new Error(`no dashboard ${name}`);
const dashboard = await response.json();
const variables = variablesOf(dashboard);
const period = periodOf(window.location.search);
const marks = await marksOf(dashboard, variables, period);

createRoot(document.getElementById("root")).render(
  <ThemeContext.Provider value={theme}>
    <GlobalStyles isExtensionSidebarOpen={false} />
    <Dashboard {...{ dashboard, variables, period, marks }} />
  </ThemeContext.Provider>,
);

// One panel in Grafana's own frame, with its data.

import { useEffect, useState } from "react";
import { PanelChrome } from "@grafana/ui";
import { contents } from "./contents.jsx";
import { framesOf } from "./frames.js";
import { answersOf } from "./prometheus.js";

/** `onDrawn` is called once, when the panel has its data or has failed. */
export function Panel({ panel, variables, period, marks, width, height, onDrawn }) {
  const [frames, setFrames] = useState(panel.targets ? null : []);
  const [fault, setFault] = useState(null);
  useEffect(() => {
    let asked = Promise.resolve();
    if (panel.targets) {
      asked = answersOf(panel, variables, period)
        .then((answers) => setFrames(framesOf(panel, answers, period)))
        .catch((error) => setFault(error.message));
    }
    asked.then(onDrawn);
  }, []);
  return (
    <section
      data-panel={panel.id}
      data-type={panel.type}
      data-title={panel.title}
      data-fault={fault}
    >
      <PanelChrome title={panel.title} description={panel.description} {...{ width, height }}>
        {inside(fault, frames && contents(panel, frames, period, marks))}
      </PanelChrome>
    </section>
  );
}

function inside(fault, drawn) {
  if (fault) return () => <p className="preview-fault">{fault}</p>;
  return drawn ?? (() => null);
}

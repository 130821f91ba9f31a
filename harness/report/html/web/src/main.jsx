import { render } from "preact";
import { App } from "./app.jsx";
import { canUnpack, prepare, unpack } from "./data.js";
import "./report.css";

async function start() {
  const place = document.getElementById("app");
  const status = document.getElementById("status");
  if (!canUnpack()) {
    status.textContent =
      "This browser cannot unpack the report. Open it in Chrome, Edge or Firefox from 2024 on, or in Safari from 17.5 on; the table below needs none of them.";
    return;
  }
  try {
    const data = prepare(await unpack("core"));
    place.replaceChildren();
    render(<App data={data} load={() => unpack("details")} />, place);
    performance.mark("report-shown");
  } catch (error) {
    status.textContent = `This report cannot be shown: ${error.message}. The file may be incomplete.`;
    throw error;
  }
}

start();

// A headless Chromium that talks to the demo's page and to nothing else.
import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";

export const ready = JSON.parse(readFileSync(process.env.CEREBELLUM_READY, "utf8"));

export async function openPage(size) {
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
  const page = await browser.newPage({ viewport: size });
  page.setDefaultTimeout(30_000);
  const faults = [];
  page.on("console", (message) => message.type() === "error" && faults.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => faults.push(`script: ${error.message}`));
  page.on("request", (request) => {
    if (!request.url().replace(/^blob:/, "").startsWith(ready.page)) faults.push(`a request beyond the page: ${request.url()}`);
  });
  await page.goto(ready.page);
  await page.waitForFunction(() => document.querySelector("#picture")?.naturalWidth > 0);
  return { browser, page, faults };
}

/** Starts a template with the example that its form proposes. */
export async function start(page, template) {
  await page.getByRole("button", { name: `Start ${template}`, exact: true }).click();
}

export function skill(page, name) {
  return page.locator("#skills > li").filter({ has: page.locator("strong", { hasText: new RegExp(`^${name}$`) }) });
}

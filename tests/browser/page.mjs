// What a newcomer does on the demo's page: look, start a skill, see it find the can, let a person come in, stop.
import assert from "node:assert/strict";
import { openPage, skill, start } from "./browser.mjs";

const { browser, page, faults } = await openPage({ width: 1280, height: 800 });
try {
  await start(page, "find_object");
  const found = skill(page, "find_object");
  await found.locator("[data-value=yes]").waitFor();
  assert.match(await found.innerText(), /red can/);
  await page.waitForFunction(() => document.querySelector("#seen").textContent.includes("red can"));
  console.log("ok   a skill started on the page finds the red can");

  await page.locator("#overlays label", { hasText: "find_object" }).click();
  await page.waitForFunction(() => document.querySelector("#picture-title").textContent.includes("find_object"));
  await page.waitForFunction(() => !document.querySelector("#picture").hidden && document.querySelector("#picture").naturalWidth > 0);
  console.log("ok   the annotated picture is shown");

  await start(page, "watch_for");
  const watch = skill(page, "watch_for");
  await watch.locator("[data-value=no]").waitFor();
  await page.locator("#person-button").click();
  await watch.locator("[data-value=yes]").waitFor();
  await page.locator("#events li").first().waitFor();
  console.log("ok   a person who comes in is seen, and an event is told");

  await page.locator("#camera-button").click();
  await page.waitForFunction(() => /uncover/i.test(document.querySelector("#camera-button").textContent));
  await page.locator("#camera-button").click();
  await page.locator("#reset-button").click();
  for (const name of ["find_object", "watch_for"]) {
    await page.getByRole("button", { name: `Stop ${name}`, exact: true }).click();
    await skill(page, name).waitFor({ state: "detached" });
  }
  console.log("ok   skills stopped on the page are gone");

  await page.setViewportSize({ width: 390, height: 844 });
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(overflow <= 0, `on a phone nothing lies beside the screen, not ${overflow} pixels`);
  const unexpected = faults.filter((fault) => !fault.includes("503"));
  assert.deepEqual(unexpected, []);
  console.log("ok   no fault in the console, no request beyond the page");
} finally {
  await browser.close();
}

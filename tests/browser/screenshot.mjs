// A picture of the page with skills running: node screenshot.mjs FILE
import { openPage, skill, start } from "./browser.mjs";

const { browser, page } = await openPage({ width: 1280, height: 900 });
try {
  for (const template of ["find_object", "describe_scene", "watch_for"]) await start(page, template);
  await page.locator("#person-button").click();
  await skill(page, "watch_for").locator("[data-value=yes]").waitFor();
  await skill(page, "find_object").locator("[data-value=yes]").waitFor();
  await page.locator("#overlays label", { hasText: "find_object" }).click();
  await page.waitForFunction(() => document.querySelector("#picture-title").textContent.includes("find_object"));
  await page.evaluate(() => scrollTo(0, 0));
  await page.waitForTimeout(1500);
  await page.screenshot({ path: process.argv[2], type: "jpeg", quality: 82 });
} finally {
  await browser.close();
}

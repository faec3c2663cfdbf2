// First content of each page in the system's Chromium, and frames of the Requests page while rows come.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PLAIN, startForwarder } from '../forwarder.js';
import { percentile } from '../load.js';
import { startOpenLoop } from '../open-loop.js';
import { startServer } from '../processes.js';

const CHROMIUM = '/usr/bin/chromium';
const PAGES = ['requests', 'costs', 'explain', 'keys', 'configuration', 'playground', 'audit'];
const SHOWN = 'main table, .grid [role=row], .empty, form, .editor';
const PER_SECOND = 200;

export async function measurePages({ root, directory, ms, rounds }) {
  if (!existsSync(CHROMIUM)) return console.log('no chromium, so pages are left out');
  const { chromium } = await import('playwright-core');
  const upstream = await startServer([fileURLToPath(new URL('../upstream.js', import.meta.url))]);
  const place = join(directory, 'console-pages');
  const gateway = await startForwarder({ root, directory: place, upstream });
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  try {
    const page = await browser.newPage();
    await page.goto(`${gateway.url}/console`);
    await page.getByLabel('API key').fill(gateway.key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('navigation', { name: 'Pages' }).waitFor();
    const rows = {};
    for (const name of PAGES)
      rows[name] = await drawn(page, `${gateway.url}/console/${name}`, rounds);
    console.log(`\npages of the console (medians of ${rounds} loads)`);
    console.table(rows);
    await page.goto(`${gateway.url}/console/requests`);
    await page.getByText('live', { exact: true }).waitFor();
    const target = { ...gateway, path: '/v1/chat/completions', body: PLAIN };
    const load = startOpenLoop({ ...target, perSecond: PER_SECOND });
    const frames = await framesOf(page, ms);
    await load.stop();
    console.log(`\nframes of the Requests page at ${PER_SECOND} requests/s`);
    console.table(frames);
  } finally {
    await browser.close();
    for (const { stop } of [gateway, upstream]) await stop();
  }
}

/** Milliseconds from the beginning of a load. */
async function drawn(page, address, rounds) {
  const [first, whole] = [[], []];
  for (let round = 0; round < rounds; round++) {
    await page.goto(address);
    await page.locator(SHOWN).first().waitFor();
    whole.push(await page.evaluate(() => performance.now()));
    // A paint is told a moment after it.
    const paint = await page.waitForFunction(
      () => performance.getEntriesByName('first-contentful-paint')[0]?.startTime,
    );
    first.push(await paint.jsonValue());
  }
  const median = (values) => Math.round(percentile(values, 0.5));
  return { 'first content ms': median(first), 'with its rows ms': median(whole) };
}

async function framesOf(page, ms) {
  const gaps = await page.evaluate(
    (lasting) =>
      new Promise((resolve) => {
        const found = [];
        const end = performance.now() + lasting;
        let before;
        const step = (at) => {
          if (before !== undefined) found.push(at - before);
          before = at;
          if (at < end) requestAnimationFrame(step);
          else resolve(found);
        };
        requestAnimationFrame(step);
      }),
    ms,
  );
  const round = (value) => Number(value.toFixed(1));
  return {
    'p50 ms': round(percentile(gaps, 0.5)),
    'p99 ms': round(percentile(gaps, 0.99)),
    'longest ms': round(Math.max(...gaps)),
  };
}

import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { expect } from 'vitest';

/** Places of the system's Chromium. */
const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
/** Time within which a page shows what it is waited for. */
const PATIENCE_MS = 30_000;
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** Path of the browser; undefined where there is none. */
export const BROWSER: string | undefined = PLACES.find((path) => existsSync(path));

let opened: Promise<Browser> | undefined;

/** The one browser of all test files of a worker, which ends with the worker. */
export async function openBrowser(): Promise<Browser> {
  if (BROWSER === undefined) throw new Error(NO_BROWSER);
  if ((await opened)?.isConnected()) return opened as Promise<Browser>;
  // Processes of tests may belong to root, for whom Chromium has no sandbox. Tabs of one context
  // share a process: each further one takes a second of a processor.
  // Nor is there a graphics card that a process of its own would guard.
  const args = ['--no-sandbox', '--renderer-process-limit=1', '--in-process-gpu'];
  opened = chromium.launch({ executablePath: BROWSER, args });
  return opened;
}

export const NO_BROWSER =
  'no browser: the console is not tested. Install one: apt-get install -y chromium';

/** A browser of its own that fails the test by every violation of the policy and error of a page. */
export interface Visitor {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Faults of the pages so far. */
  readonly faults: string[];
  /** Fails by the faults since the last call. */
  check(): void;
  end(): Promise<void>;
}

export async function visit(
  browser: Browser,
  options: { colorScheme?: 'light' | 'dark'; width?: number } = {},
): Promise<Visitor> {
  const { colorScheme = 'light', width = 1_440 } = options;
  const context = await browser.newContext({ colorScheme, viewport: { width, height: 900 } });
  context.setDefaultTimeout(PATIENCE_MS);
  const faults: string[] = [];
  context.on('weberror', (error) => faults.push(String(error.error())));
  context.on('console', (message) => {
    if (/content security policy/i.test(message.text())) faults.push(message.text());
  });
  const page = await context.newPage();
  const check = (): void => expect(faults.splice(0)).toEqual([]);
  return {
    context,
    page,
    faults,
    check,
    async end() {
      await context.close();
      check();
    },
  };
}

/** Leaves the gateway, so that nothing of the page goes on, and forgets every sign-in. */
export async function forget({ page, context }: Visitor): Promise<void> {
  await page.goto('about:blank');
  await context.clearCookies();
}

/** Signs in by the form, as a person does. */
export async function signIn(page: Page, url: string, key: string): Promise<void> {
  await page.goto(`${url}/console`);
  await fillIn(page, key);
}

/** Fills in the form of a page that asks for a key. */
export async function fillIn(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation', { name: 'Pages' }).waitFor();
}

interface AxeFinding {
  readonly id: string;
  readonly impact: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** Rules whose findings depend on colors, and on nothing else that a page changes by itself. */
export const COLOR_RULES: readonly string[] = ['color-contrast', 'link-in-text-block'];

/** Which rules axe looks at; default: all. */
interface RuleChoice {
  readonly only?: readonly string[];
  readonly without?: readonly string[];
}

/** What axe finds that is serious or worse, with the first place of each. */
export async function seriousFindings(
  page: Page,
  { only, without = [] }: RuleChoice = {},
): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) {
    // Scripts of the driver are not the page's: its policy stays as it is.
    const { readFileSync } = await import('node:fs');
    await page.evaluate(readFileSync(AXE, 'utf8'));
  }
  const rules = Object.fromEntries(without.map((rule) => [rule, { enabled: false }]));
  const found = await page.evaluate(
    async (options) => {
      const { axe } = globalThis as unknown as {
        axe: { run(options: object): Promise<{ violations: AxeFinding[] }> };
      };
      return (await axe.run(options)).violations;
    },
    // Passes are not read.
    { resultTypes: ['violations'], rules, ...(only && { runOnly: only }) },
  );
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes[0]?.html} ${nodes[0]?.failureSummary ?? ''}`);
}

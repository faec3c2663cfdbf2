import type { Page } from 'playwright-core';

/** Presses of Tab after which a page is not looked through any further. */
const MOST_TABS = 250;
const FOCUSABLE = 'a[href], button, input, select, textarea, summary, [tabindex="0"]';

interface Watched {
  readonly clickable: WeakSet<EventTarget>;
  readonly reached: WeakSet<EventTarget>;
  /** Element of the last Tab; fields of dates have several stops. */
  last?: EventTarget;
}

/** Notes what listens to clicks, from the next load of the page on. */
export async function watchClicks(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const clickable = new WeakSet<EventTarget>();
    Object.assign(globalThis, { watched: { clickable, reached: new WeakSet() } });
    // oxlint-disable-next-line typescript/unbound-method -- it is called with its own `this` below
    const add = EventTarget.prototype.addEventListener;
    EventTarget.prototype.addEventListener = function (type: string, ...rest: unknown[]) {
      if (type === 'click') clickable.add(this);
      return Reflect.apply(add, this, [type, ...rest]) as void;
    };
  });
}

/** Elements of the page that take clicks and that no key gets at. */
export function clicksWithoutKeys(page: Page): Promise<string[]> {
  return page.evaluate((focusable) => {
    const { clickable } = (globalThis as unknown as { watched: Watched }).watched;
    return (
      [...document.querySelectorAll('main *')]
        .filter((element) => clickable.has(element) && !element.matches(focusable))
        .filter((element) => !element.querySelector(focusable))
        // What is chosen in a picture is chosen by fields beside it, too.
        .filter((element) => !element.closest('[role=img]'))
        // Rows of a grid are gone through by the arrows of the grid.
        .filter((element) => !element.closest('[role=grid][tabindex="0"]'))
        .map((element) => element.outerHTML.slice(0, 200))
    );
  }, FOCUSABLE);
}

/** Elements that could be focused and that Tab does not reach, or without showing it. */
export async function unreached(page: Page): Promise<string[]> {
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  const faults: string[] = [];
  for (let presses = 0; presses < MOST_TABS; presses++) {
    await page.keyboard.press('Tab');
    const { isAgain, hidden } = await page.evaluate(() => {
      const { watched } = globalThis as unknown as { watched: Watched };
      const { reached, last } = watched;
      const at = document.activeElement;
      if (!at || at === document.body) return { isAgain: false, hidden: '' };
      const isAgain = at !== last && reached.has(at);
      reached.add(at);
      watched.last = at;
      const { outlineStyle, boxShadow } = getComputedStyle(at);
      const isShown = outlineStyle !== 'none' || boxShadow !== 'none' || at.shadowRoot !== null;
      return { isAgain, hidden: isShown ? '' : at.outerHTML.slice(0, 200) };
    });
    if (isAgain) break;
    if (hidden !== '') faults.push(`focus is not seen: ${hidden}`);
  }
  const rest = await page.evaluate((focusable) => {
    const { reached } = (globalThis as unknown as { watched: Watched }).watched;
    return (
      [...document.querySelectorAll<HTMLElement>(`main :is(${focusable})`)]
        .filter((element) => element.checkVisibility() && !element.matches(':disabled'))
        .filter((element) => !reached.has(element))
        // Arrows go from the chosen one of a group to the others.
        .filter((element) => !element.matches('[type=radio]:not(:checked)'))
        .map((element) => `not reached: ${element.outerHTML.slice(0, 200)}`)
    );
  }, FOCUSABLE);
  return [...faults, ...rest];
}

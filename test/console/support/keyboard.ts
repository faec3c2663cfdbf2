import type { Page } from 'playwright-core';

/** Presses of Tab after which a page is not looked through any further. */
const MOST_TABS = 250;
/** Presses of Tab that are sent at a time. */
const TABS_AT_ONCE = 25;
const FOCUSABLE = 'a[href], button, input, select, textarea, summary, [tabindex="0"]';

interface Watched {
  readonly clickable: WeakSet<EventTarget>;
  reached: WeakSet<EventTarget>;
  /** Elements that had the focus and did not show it. */
  unseen: string[];
  /** True once an element had the focus a second time. */
  isRound: boolean;
}

/** Notes what listens to clicks and what has the focus, from the next load of the page on. */
export async function watchClicks(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const clickable = new WeakSet<EventTarget>();
    const watched: Watched = { clickable, reached: new WeakSet(), unseen: [], isRound: false };
    Object.assign(globalThis, { watched });
    // oxlint-disable-next-line typescript/unbound-method -- it is called with its own `this` below
    const add = EventTarget.prototype.addEventListener;
    EventTarget.prototype.addEventListener = function (type: string, ...rest: unknown[]) {
      if (type === 'click') clickable.add(this);
      return Reflect.apply(add, this, [type, ...rest]) as void;
    };
    // Focus that moves within a field of several stops, as one of dates, is not seen out here.
    document.addEventListener('focusin', () => {
      const at = document.activeElement;
      if (!at || watched.isRound) return;
      watched.isRound = watched.reached.has(at);
      watched.reached.add(at);
      const { outlineStyle, boxShadow } = getComputedStyle(at);
      const isShown = outlineStyle !== 'none' || boxShadow !== 'none' || at.shadowRoot !== null;
      if (!isShown) watched.unseen.push(at.outerHTML.slice(0, 200));
    });
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
  await page.evaluate(() => {
    (document.activeElement as HTMLElement | null)?.blur();
    const { watched } = globalThis as unknown as { watched: Watched };
    Object.assign(watched, { reached: new WeakSet(), unseen: [], isRound: false });
  });
  for (let presses = 0; presses < MOST_TABS; presses += TABS_AT_ONCE) {
    // The key is held: it repeats without a message for each release.
    const tabs = Array.from({ length: TABS_AT_ONCE }, () => page.keyboard.down('Tab'));
    await Promise.all(tabs);
    const isRound = await page.evaluate(
      () => (globalThis as unknown as { watched: Watched }).watched.isRound,
    );
    if (isRound) break;
  }
  await page.keyboard.up('Tab');
  return page.evaluate((focusable) => {
    const { reached, unseen } = (globalThis as unknown as { watched: Watched }).watched;
    const rest = [...document.querySelectorAll<HTMLElement>(`main :is(${focusable})`)]
      .filter((element) => element.checkVisibility() && !element.matches(':disabled'))
      .filter((element) => !reached.has(element))
      // Arrows go from the chosen one of a group to the others.
      .filter((element) => !element.matches('[type=radio]:not(:checked)'))
      .map((element) => `not reached: ${element.outerHTML.slice(0, 200)}`);
    return [...unseen.map((html) => `focus is not seen: ${html}`), ...rest];
  }, FOCUSABLE);
}

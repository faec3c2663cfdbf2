import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import type { PageEntry } from './pages.ts';
import { Palette } from './palette.tsx';
import { useConsole } from './state.ts';

/** Time within which the second key of `g r` counts. */
const PAIR_MS = 1_000;

/** Keys that work on every page: ⌘K, `g` and a letter, `/`, Escape, and those of the page's commands. */
export function KeyBindings({ pages }: { pages: readonly PageEntry[] }) {
  const { commands } = useConsole();
  const { route } = useLocation();
  const isOpen = useSignal(false);
  useEffect(() => {
    let goAt = 0;
    const onKey = (event: KeyboardEvent): void => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        isOpen.value = !isOpen.value;
        return;
      }
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return;
      if (Date.now() - goAt < PAIR_MS) {
        goAt = 0;
        const page = pages.find(({ key }) => key === event.key);
        if (page) return route(page.path);
      }
      if (event.key === 'g') goAt = Date.now();
      if (event.key === '/') {
        event.preventDefault();
        document.querySelector<HTMLElement>('[data-filter]')?.focus();
      }
      const command = commands.value.find(({ key }) => key === event.key);
      if (command) command.run();
      else if (event.key === 'Escape') closeDetail();
    };
    const open = (): void => void (isOpen.value = true);
    window.addEventListener('keydown', onKey);
    window.addEventListener('console-palette', open);
    return () => {
      window.removeEventListener('keydown', onKey);
      window.removeEventListener('console-palette', open);
    };
  }, [pages]);
  return isOpen.value ? <Palette pages={pages} onClose={() => (isOpen.value = false)} /> : null;
}

/** Closes the pane next to a list. */
function closeDetail(): void {
  document.querySelector<HTMLElement>('aside.detail [aria-label="Close"]')?.click();
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable ||
      target.shadowRoot !== null ||
      /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { findCommands } from '../logic/find-commands.ts';
import type { PageEntry } from './pages.ts';
import { useConsole } from './state.ts';
import type { Command } from './state.ts';

/** Opens every page and does what the current one can do; shows the command line of each. */
export function Palette({ pages, onClose }: { pages: readonly PageEntry[]; onClose(): void }) {
  const state = useConsole();
  const { route } = useLocation();
  const typed = useSignal('');
  const at = useSignal(0);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    input.current?.focus();
    return () => before instanceof HTMLElement && before.focus();
  }, []);
  const found = findCommands(allCommands(state, pages, route), typed.value).slice(0, 50);
  const run = (command: Command | undefined): void => {
    onClose();
    command?.run();
  };
  const onKey = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) at.value = (at.value + step + found.length) % Math.max(1, found.length);
    else if (event.key === 'Enter') run(found[at.value]);
    else if (event.key === 'Escape') onClose();
    else if (event.key !== 'Tab') return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div
      class="palette-back"
      onMouseDown={(event) => event.target === event.currentTarget && onClose()}
    >
      <div class="palette" role="dialog" aria-modal="true" aria-label="Go to or do">
        <input
          ref={input}
          role="combobox"
          aria-expanded="true"
          aria-controls="palette-list"
          aria-activedescendant={found.length > 0 ? `palette-${at.value}` : undefined}
          aria-label="Page or command"
          placeholder="Page or command"
          value={typed.value}
          onInput={({ currentTarget }) => {
            typed.value = currentTarget.value;
            at.value = 0;
          }}
          onKeyDown={onKey}
        />
        {found.length === 0 && <p class="none">Nothing is called so</p>}
        <ul id="palette-list" role="listbox" aria-label="Pages and commands">
          {found.map((command, index) => (
            <li
              key={command.title}
              id={`palette-${index}`}
              role="option"
              aria-selected={index === at.value}
              onMouseMove={() => (at.value = index)}
              onClick={() => run(command)}
            >
              {command.title}
              {command.cli && <code class="cut">{command.cli}</code>}
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}

function allCommands(
  { commands, theme, signOut, can }: ReturnType<typeof useConsole>,
  pages: readonly PageEntry[],
  route: (path: string) => void,
): Command[] {
  return [
    ...commands.value,
    ...pages.map(({ name, cli, path }) => ({
      title: `Go to ${name}`,
      cli,
      run: () => route(path),
    })),
    ...(can('admin')
      ? [
          {
            title: 'Create key',
            cli: 'gateway keys create NAME',
            run: () => route('/console/keys?new=1'),
          },
        ]
      : []),
    { title: 'Theme: light', run: () => (theme.value = 'light') },
    { title: 'Theme: dark', run: () => (theme.value = 'dark') },
    { title: 'Theme: as the system says', run: () => (theme.value = 'system') },
    { title: 'Sign out', run: () => void signOut() },
  ];
}

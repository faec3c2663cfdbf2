import { allows, type Use } from '../../core/access.ts';
import { signal } from '@preact/signals';
import type { ReadonlySignal, Signal } from '@preact/signals';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { createApi } from '../api/call.ts';
import type { Api } from '../api/call.ts';
import type { ConsoleSession } from '../api/views.ts';
import type { LinkState } from '../stream/messages.ts';
import { createStreams } from '../stream/tab.ts';
import type { Streams } from '../stream/tab.ts';

export type Theme = 'system' | 'light' | 'dark';

/** State that every page shares. */
export interface Console {
  readonly api: Api;
  readonly streams: Streams;
  /** Undefined until it is known; null while signed out. */
  readonly session: Signal<ConsoleSession | null | undefined>;
  /** Reason for which a sign-in is asked for again; empty for the first. */
  readonly notice: Signal<string>;
  readonly theme: Signal<Theme>;
  /** State of the page's stream; undefined for a page without one. */
  readonly link: Signal<LinkState | undefined>;
  /** A second's tick, for times that are shown relatively. */
  readonly now: ReadonlySignal<number>;
  /** Commands of the open page, for the palette and the keys. */
  readonly commands: Signal<readonly Command[]>;
  /** A short message that goes by itself. */
  readonly told: Signal<string>;
  /** Origin of the API for texts copied from a page; the console may be served at one of its own. */
  apiOrigin(): string;
  isAdmin(): boolean;
  can(scope: string): boolean;
  /** True where the role of the key allows it, in addition to its scopes. */
  may(use: Use): boolean;
  tell(message: string): void;
  signOut(): Promise<void>;
  adopt(session: ConsoleSession | null): void;
}

/** Something that can be done on a page. */
export interface Command {
  readonly title: string;
  /** The same by command line. */
  readonly cli?: string;
  readonly key?: string;
  run(): void;
}

const THEME = 'theme';

export function createConsole(window: Window & typeof globalThis): Console {
  const session = signal<ConsoleSession | null | undefined>(undefined);
  const notice = signal('');
  const now = signal(Date.now());
  const told = signal('');
  const theme = signal<Theme>((window.localStorage.getItem(THEME) as Theme | null) ?? 'system');
  const api = createApi({
    fetch: window.fetch.bind(window),
    session: () => session.value,
    onSignedOut(message) {
      notice.value = message;
      session.value = null;
    },
  });
  window.setInterval(() => {
    if (window.document.visibilityState === 'visible') now.value = Date.now();
  }, 1_000);
  theme.subscribe((value) => {
    window.document.documentElement.dataset['theme'] = value;
    window.localStorage.setItem(THEME, value);
  });
  let timer = 0;
  const scopes = (): string[] | null | undefined => session.value?.key.scopes;
  return {
    api,
    session,
    notice,
    theme,
    now,
    told,
    streams: createStreams(window.document, () => session.peek()?.id ?? ''),
    link: signal<LinkState | undefined>(undefined),
    commands: signal<readonly Command[]>([]),
    apiOrigin: () => session.value?.api_url ?? window.location.origin,
    isAdmin: () => scopes()?.includes('admin') ?? false,
    may: (use) => allows(session.value?.key.role, use),
    can: (scope) => scopes()?.includes(scope) ?? scope !== 'admin',
    tell(message) {
      told.value = message;
      window.clearTimeout(timer);
      timer = window.setTimeout(() => (told.value = ''), 4_000);
    },
    async signOut() {
      await api.json('/session', { method: 'DELETE' }).catch(() => undefined);
      notice.value = '';
      session.value = null;
    },
    adopt(next) {
      session.value = next;
      if (next) notice.value = '';
    },
  };
}

export const ConsoleContext = createContext<Console | undefined>(undefined);

export function useConsole(): Console {
  const found = useContext(ConsoleContext);
  if (!found) throw new Error('no console around this component');
  return found;
}

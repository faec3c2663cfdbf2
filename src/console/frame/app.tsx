import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { LocationProvider, Route, Router, lazy, useLocation } from 'preact-iso';
import type { ConsoleSession } from '../api/views.ts';
import { Icon, State } from '../parts/parts.tsx';
import { KeyBindings } from './key-bindings.tsx';
import { BRAND, PAGES } from './pages.ts';
import { SignIn } from './sign-in.tsx';
import { ConsoleContext, useConsole } from './state.ts';
import type { Console, Theme } from './state.ts';

const Requests = lazy(() =>
  import('../pages/requests/requests-page.tsx').then((m) => m.RequestsPage),
);
const Costs = lazy(() => import('../pages/costs/costs-page.tsx').then((m) => m.CostsPage));
const Sessions = lazy(() =>
  import('../pages/sessions/sessions-page.tsx').then((m) => m.SessionsPage),
);
const Explain = lazy(() => import('../pages/explain/explain-page.tsx').then((m) => m.ExplainPage));
const Keys = lazy(() => import('../pages/keys/keys-page.tsx').then((m) => m.KeysPage));
const Schedules = lazy(() =>
  import('../pages/schedules/schedules-page.tsx').then((m) => m.SchedulesPage),
);
const Services = lazy(() =>
  import('../pages/services/services-page.tsx').then((m) => m.ServicesPage),
);
const Configuration = lazy(() =>
  import('../pages/configuration/configuration-page.tsx').then((m) => m.ConfigurationPage),
);
const Playground = lazy(() =>
  import('../pages/playground/playground-page.tsx').then((m) => m.PlaygroundPage),
);
const Audit = lazy(() => import('../pages/audit/audit-page.tsx').then((m) => m.AuditPage));

export function App({ state }: { state: Console }) {
  return (
    <ConsoleContext.Provider value={state}>
      <LocationProvider scope="/console">
        <Signed />
      </LocationProvider>
    </ConsoleContext.Provider>
  );
}

function Signed() {
  const { api, session, adopt } = useConsole();
  useEffect(() => {
    void begin();
  }, []);
  const begin = async (): Promise<void> => {
    const link = new URLSearchParams(location.hash.slice(1)).get('link');
    if (link) history.replaceState(null, '', location.pathname + location.search);
    const sent = link ? { method: 'POST', body: { link } } : {};
    adopt(await api.json<ConsoleSession>('/session', sent).catch(() => null));
  };
  if (session.value === undefined) return <main aria-busy="true" />;
  return session.value ? <Frame session={session.value} /> : <SignIn />;
}

function Frame({ session }: { session: ConsoleSession }) {
  const { can, may, told } = useConsole();
  const { path, route } = useLocation();
  const nav = useRef<HTMLElement>(null);
  const main = useRef<HTMLElement>(null);
  const shown = PAGES.filter(({ scope, use }) => may(use) && (!scope || can(scope)));
  const current = shown.find((page) => path.startsWith(page.path));
  useEffect(() => {
    document.title = current ? `${current.name} · agent-gateway` : 'agent-gateway';
  }, [current]);
  useEffect(() => {
    const [first] = shown;
    // Requests are the first page of most keys; another one begins at the first that it has.
    if (first && !may('read') && !PAGES.some((page) => path.startsWith(page.path)))
      route(first.path, true);
  }, [path]);
  useLayoutEffect(() => {
    // The pages are a strip on a narrow screen, and longer than it.
    nav.current
      ?.querySelector('[aria-current]')
      ?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [path]);
  return (
    <div class="frame">
      <a class="skip" href="#main" onClick={() => main.current?.focus()}>
        Skip to the page
      </a>
      <Header session={session} />
      <nav aria-label="Pages" ref={nav}>
        <ul>
          {shown.map((page) => (
            <li key={page.path}>
              <a href={page.path} {...(page === current && { 'aria-current': 'page' as const })}>
                <Icon path={page.icon} />
                {page.name}
                <kbd aria-hidden="true">g {page.key}</kbd>
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <main id="main" tabIndex={-1} ref={main}>
        <Router>
          <Route path="/console/costs" component={Costs} />
          <Route path="/console/sessions" component={Sessions} />
          <Route path="/console/sessions/:id" component={Sessions} />
          <Route path="/console/explain" component={Explain} />
          <Route path="/console/keys" component={Keys} />
          <Route path="/console/schedules" component={Schedules} />
          <Route path="/console/services" component={Services} />
          <Route path="/console/configuration" component={Configuration} />
          <Route path="/console/playground" component={Playground} />
          <Route path="/console/audit" component={Audit} />
          <Route default component={Requests} />
        </Router>
      </main>
      <KeyBindings pages={shown} />
      <div class="told" role="status">
        {told.value}
      </div>
    </div>
  );
}

function Header({ session }: { session: ConsoleSession }) {
  const { theme, signOut } = useConsole();
  const next: Record<Theme, Theme> = { system: 'light', light: 'dark', dark: 'system' };
  return (
    <header>
      <a class="brand" href="/console">
        <Icon path={BRAND} />
        agent-gateway
      </a>
      <span class="dim optional">{session.organization.name}</span>
      <span class="grow" />
      <Link />
      <button
        type="button"
        class="button optional"
        aria-keyshortcuts="Meta+K Control+K"
        onClick={() => window.dispatchEvent(new CustomEvent('console-palette'))}
      >
        Go to or do <kbd>⌘K</kbd>
      </button>
      <button
        type="button"
        class="button plain"
        aria-label={`Theme: ${theme.value}`}
        title={`Theme: ${theme.value}`}
        onClick={() => (theme.value = next[theme.value])}
      >
        <Icon path="M8 2a6 6 0 1 0 0 12zM8 2a6 6 0 0 1 0 12" />
        <span class="optional">{theme.value}</span>
      </button>
      <span
        class="dim optional"
        title={(session.key.scopes ?? ['every scope but admin']).join(', ')}
      >
        key {session.key.name}
        {session.key.role && `, ${session.key.role}`}
      </span>
      <button type="button" class="button plain" onClick={() => void signOut()}>
        Sign out
      </button>
    </header>
  );
}

/** State of the page's stream: a word and a shape in a box of fixed width. */
function Link() {
  const { link, session, notice } = useConsole();
  const state = link.value;
  useEffect(() => {
    if (state !== 'signed_out') return;
    notice.value = 'the session has ended: sign in again';
    session.value = null;
  }, [state]);
  return (
    <span class="link" role="status">
      {state === 'live' && <State tone="good">live</State>}
      {state === 'connecting' && <State tone="busy">connecting</State>}
      {state === 'cut' && <State tone="bad">cut off</State>}
    </span>
  );
}

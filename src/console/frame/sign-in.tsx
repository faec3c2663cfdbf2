import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { ConsoleSession } from '../api/views.ts';
import { Icon } from '../parts/parts.tsx';
import { toApiError } from '../parts/load.ts';
import { BRAND } from './pages.ts';
import { useConsole } from './state.ts';

/** Asks for a key, which is sent once and kept nowhere. */
export function SignIn() {
  const { api, adopt, notice } = useConsole();
  const key = useSignal('');
  const isBusy = useSignal(false);
  const problem = useSignal('');
  const provider = useSignal<string | undefined>(undefined);
  useEffect(() => {
    api.json<{ issuer: string | null }>('/v1/account/sso').then(
      ({ issuer }) => (provider.value = issuer === null ? undefined : new URL(issuer).host),
      // The key is the way where no answer comes.
      () => undefined,
    );
  }, []);
  const signIn = async (): Promise<void> => {
    isBusy.value = true;
    problem.value = '';
    try {
      const body = { key: key.value.trim() };
      adopt(await api.json<ConsoleSession>('/session', { method: 'POST', body }));
      key.value = '';
    } catch (thrown) {
      problem.value = toApiError(thrown).message;
    } finally {
      isBusy.value = false;
    }
  };
  return (
    <main class="sign-in">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void signIn();
        }}
      >
        <h1 class="row">
          <Icon path={BRAND} /> agent-gateway
        </h1>
        {(problem.value || notice.value) && (
          <p class="problem" role="alert">
            {problem.value || notice.value}
          </p>
        )}
        <label class="field">
          <span>API key</span>
          <input
            class="input mono"
            type="password"
            autocomplete="off"
            spellcheck={false}
            required
            placeholder="sk-…"
            value={key.value}
            onInput={({ currentTarget }) => (key.value = currentTarget.value)}
          />
        </label>
        <button class="button main" type="submit" disabled={isBusy.value}>
          {isBusy.value ? 'Signing in' : 'Sign in'}
        </button>
        {/* The router leaves links of a target to the browser. */}
        {provider.value !== undefined && (
          <a class="button" href="/console/sso" target="_top">
            Sign in with {provider.value}
          </a>
        )}
        <p class="dim">
          Without a key at hand: <code>gateway console</code> opens this page signed in. The key is
          sent once and kept in no storage of the browser.
        </p>
      </form>
    </main>
  );
}

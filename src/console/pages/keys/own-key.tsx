import type { BalanceView } from '../../../client/account.ts';
import { useConsole } from '../../frame/state.ts';
import { money } from '../../logic/format.ts';
import { useLoad } from '../../parts/load.ts';
import { Foot, Problem, Share } from '../../parts/parts.tsx';

type Windows = Record<'lifetime' | 'month' | 'day', { limit: string | null; spent: string }>;

/** The key that is signed in and the money of its organization, for keys that may not see others. */
export function OwnKey() {
  const { api, session } = useConsole();
  const balance = useLoad(
    (signal) => api.json<BalanceView & { windows: Windows }>('/v1/account/balance', { signal }),
    [],
  );
  const { windows } = balance.value.value ?? {};
  return (
    <div class="page">
      <div class="head">
        <h1>Keys</h1>
      </div>
      <div class="body padded stack wide">
        <dl class="facts">
          <dt>Key</dt>
          <dd>{session.value?.key.name}</dd>
          <dt>Organization</dt>
          <dd>{session.value?.organization.name}</dd>
          <dt>Scopes</dt>
          <dd>{session.value?.key.scopes?.join(', ') ?? 'all but admin'}</dd>
        </dl>
        {balance.error.value && <Problem error={balance.error.value} />}
        {windows && (
          <table class="table own">
            <thead>
              <tr>
                <th>Organization, UTC</th>
                <th class="right">Spent</th>
                <th class="right">Limit</th>
                <th class="share" />
              </tr>
            </thead>
            <tbody>
              {(['day', 'month', 'lifetime'] as const).map((name) => {
                const { spent, limit } = windows[name];
                return (
                  <tr key={name}>
                    <td>{{ day: 'Today', month: 'This month', lifetime: 'Ever' }[name]}</td>
                    <td class="right">{money(spent)}</td>
                    <td class="right">{limit ? money(limit) : <span class="dim">none</span>}</td>
                    <td>
                      {limit && (
                        <Share
                          of={Number(spent)}
                          limit={Number(limit)}
                          label={`${money(spent)} of ${money(limit)}`}
                        />
                      )}
                    </td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        )}
        <p class="dim">Other keys are seen and made with a key of the scope admin.</p>
      </div>
      <Foot command="gateway account" />
    </div>
  );
}

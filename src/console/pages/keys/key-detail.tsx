import { useSignal } from '@preact/signals';
import { useConsole } from '../../frame/state.ts';
import type { SpendingView } from '../../../client/usage.ts';
import { NONE, count, dateTime, money } from '../../logic/format.ts';
import { toApiError, useLoad } from '../../parts/load.ts';
import { Ago, Problem, Share } from '../../parts/parts.tsx';
import { Shown } from './create-key.tsx';
import { KeyState } from './key-state.tsx';
import type { CreatedKey, KeyRow } from './key-state.tsx';

const WINDOWS = [
  ['day', 'Today'],
  ['month', 'This month'],
  ['lifetime', 'Ever'],
] as const;

interface KeyDetailProps {
  readonly row: KeyRow;
  readonly onClose: () => void;
  readonly onChange: () => void;
}

/** One key: its rights, its spend and limits, its last use; rotate and revoke. */
export function KeyDetail({ row, onClose, onChange }: KeyDetailProps) {
  const { api, tell } = useConsole();
  const problem = useSignal('');
  const shown = useSignal('');
  const isSure = useSignal(false);
  const spending = useLoad(
    (signal) => api.json<SpendingView>('/admin/v1/spending', { query: { key: row.id }, signal }),
    [row.id],
  );
  const act = async (name: 'rotate' | 'revoke'): Promise<void> => {
    try {
      const answer = await api.json<CreatedKey>(`/admin/v1/keys/${row.id}/${name}`, {
        method: 'POST',
        body: {},
      });
      problem.value = '';
      if (name === 'rotate') shown.value = answer.value;
      else tell(`Revoked ${row.name}`);
      isSure.value = false;
      onChange();
    } catch (thrown) {
      problem.value = toApiError(thrown).message;
    }
  };
  return (
    <aside class="detail" aria-label={`Key ${row.name}`}>
      <div class="title">
        <h2 class="cut">{row.name}</h2>
        <span class="grow">
          <KeyState row={row} />
        </span>
        <button
          type="button"
          class="button small"
          disabled={row.revoked_at !== null}
          onClick={() => void act('rotate')}
        >
          Rotate
        </button>
        <button
          type="button"
          class="button small danger"
          disabled={row.revoked_at !== null}
          onClick={() => (isSure.value ? void act('revoke') : (isSure.value = true))}
        >
          {isSure.value ? `Revoke ${row.name} now` : 'Revoke'}
        </button>
        <button type="button" class="button small plain" aria-label="Close" onClick={onClose}>
          ✕
        </button>
      </div>
      {problem.value && <Problem error={problem.value} />}
      {shown.value && <Shown value={shown.value} />}
      <Spent row={row} spending={spending.value.value} />
      <Facts row={row} spending={spending.value.value} />
    </aside>
  );
}

interface PartProps {
  readonly row: KeyRow;
  readonly spending: SpendingView | undefined;
}

function Spent({ row, spending }: PartProps) {
  const spent = spending?.spent;
  return (
    <section>
      <h3>Spent and left</h3>
      <table class="table plain">
        <thead>
          <tr>
            <th>UTC</th>
            <th class="right">Spent</th>
            <th class="right">Limit</th>
            <th class="right">Left</th>
            <th class="share" />
          </tr>
        </thead>
        <tbody>
          {WINDOWS.map(([name, title]) => {
            const limit = row.spending_limit?.[name];
            const much = Number(spent?.[name] ?? 0);
            return (
              <tr key={name}>
                <td>{title}</td>
                <td class="right">{spent ? money(spent[name]) : NONE}</td>
                <td class="right">{limit ? money(limit) : <span class="dim">none</span>}</td>
                <td class="right">{limit ? money(Number(limit) - much) : NONE}</td>
                <td>
                  {limit && (
                    <Share
                      of={much}
                      limit={Number(limit)}
                      label={`${money(much)} of ${money(limit)}`}
                    />
                  )}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}

function Facts({ row, spending }: PartProps) {
  const owner = row.labels['gateway/owner'];
  return (
    <section>
      <dl class="facts">
        <dt>Id</dt>
        <dd class="mono">{row.id}</dd>
        <dt>Last use</dt>
        <dd>{spending ? <Ago at={spending.last_used_at} /> : NONE}</dd>
        <dt>Reserved</dt>
        <dd>{money(spending?.reserved)}</dd>
        <dt>Made</dt>
        <dd>{dateTime(Date.parse(row.created_at))}</dd>
        <dt>Expires</dt>
        <dd>{row.expires_at ? dateTime(Date.parse(row.expires_at)) : 'never'}</dd>
        <dt>Role</dt>
        <dd>{row.role ?? 'none'}</dd>
        <dt>Scopes</dt>
        <dd>{row.scopes ? row.scopes.join(', ') : 'all but admin'}</dd>
        <dt>Models</dt>
        <dd>{row.allowed_models ? row.allowed_models.join(', ') : 'all'}</dd>
        <dt>Requests per minute</dt>
        <dd>{row.rpm_cap === null ? 'no limit' : count(row.rpm_cap)}</dd>
        <dt>At the same time</dt>
        <dd>{row.concurrency_cap === null ? 'no limit' : count(row.concurrency_cap)}</dd>
        {row.former_hint && (
          <>
            <dt>Former value</dt>
            <dd>
              <code>{row.former_hint}</code> until{' '}
              {row.former_until ? dateTime(Date.parse(row.former_until)) : NONE}
            </dd>
          </>
        )}
        {owner && (
          <>
            <dt>Owner</dt>
            <dd>{owner}</dd>
          </>
        )}
      </dl>
    </section>
  );
}

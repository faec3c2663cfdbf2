import { useLocation } from 'preact-iso';
import type { ResourceView } from '../../../client/admin.ts';
import { toShellArguments } from '../../../core/shell-word.ts';
import { listAll, NO_ROWS } from '../../api/list-all.ts';
import type { Page } from '../../api/views.ts';
import { useConsole } from '../../frame/state.ts';
import { useCommands } from '../../frame/use-commands.ts';
import { listed, money } from '../../logic/format.ts';
import { toRequestsOf } from '../../logic/requests-view.ts';
import { useLoad } from '../../parts/load.ts';
import { Ago, Empty, Foot, Problem, Share } from '../../parts/parts.tsx';
import { CreateKey } from './create-key.tsx';
import { KeyDetail } from './key-detail.tsx';
import { KeyState } from './key-state.tsx';
import type { KeyRow } from './key-state.tsx';
import { OwnKey } from './own-key.tsx';
import '../../styles/keys.css';

interface Spent {
  key: string;
  cost: string | null;
}

/** Keys of every organization with their limits; a key without admin sees itself. */
export function KeysPage() {
  const { isAdmin, may } = useConsole();
  return isAdmin() && may('read') ? <AllKeys /> : <OwnKey />;
}

function AllKeys() {
  const { api, may } = useConsole();
  const { url, route } = useLocation();
  const query = new URL(url, location.origin).searchParams;
  const [open, isNew] = [query.get('open') ?? '', query.get('new') !== null];
  const go = (search: string): void => route(`/console/keys${search}`);
  const { value, error, reload } = useLoad(async (signal) => {
    const from = `${new Date().toISOString().slice(0, 7)}-01`;
    const [keys, owners, usage] = await Promise.all([
      listAll<KeyRow>(api, '/admin/v1/keys', { signal }),
      listAll<ResourceView>(api, '/admin/v1/organizations', { signal }),
      api.json<Page<Spent>>('/admin/v1/usage', { query: { group_by: 'key', from }, signal }),
    ]);
    const spent = new Map(usage.data.map(({ key, cost }) => [key, cost]));
    return { keys, spent, owners: new Map(owners.rows.map(({ id, name }) => [id, name])) };
  }, []);
  useCommands([
    { title: 'New key', key: 'n', cli: 'gateway keys create NAME', run: () => go('?new=1') },
    { title: 'Close', key: 'Escape', run: () => go('') },
  ]);
  const all = value.value?.keys ?? NO_ROWS;
  const { rows: keys } = all;
  const opened = keys.find(({ id, name }) => id === open || name === open);
  if (error.value && !value.value) return <Problem error={error.value} />;
  return (
    <div class="page">
      <div class="head">
        <h1>Keys</h1>
        <span class="grow" />
        {may('govern') && (
          <button type="button" class="button main" onClick={() => go('?new=1')}>
            New key
          </button>
        )}
      </div>
      <div class="split">
        <div class="list scroll">
          {value.value && keys.length === 0 ? (
            <Empty title="No key yet" command="gateway keys create NAME" />
          ) : (
            <KeyTable
              keys={keys}
              spent={value.value?.spent ?? new Map()}
              owners={value.value?.owners ?? new Map()}
              open={opened?.id ?? ''}
              onOpen={(id) => go(id === '' ? '' : `?open=${id}`)}
            />
          )}
        </div>
        {isNew && <CreateKey onClose={() => go('')} onCreated={reload} />}
        {opened && !isNew && (
          <KeyDetail key={opened.id} row={opened} onClose={() => go('')} onChange={reload} />
        )}
      </div>
      <Foot
        command={opened ? `gateway keys get ${toShellArguments(opened.name)}` : 'gateway keys list'}
      >
        {listed(all, 'key')}
      </Foot>
    </div>
  );
}

interface KeyTableProps {
  readonly keys: readonly KeyRow[];
  readonly spent: ReadonlyMap<string, string | null>;
  /** Names of organizations by their ids. */
  readonly owners: ReadonlyMap<string, string>;
  readonly open: string;
  readonly onOpen: (id: string) => void;
}

function KeyTable({ keys, spent, owners, open, onOpen }: KeyTableProps) {
  return (
    <table class="table">
      <thead>
        <tr>
          <th>Name</th>
          <th>Organization</th>
          <th>Role</th>
          <th>Value</th>
          <th>Scopes</th>
          <th>State</th>
          <th>Expires</th>
          <th class="right">Spent this month</th>
          <th class="right">Limit of the month</th>
          <th class="share">
            <span class="hidden">Spent of the limit</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {keys.map((row) => {
          // A key without requests has no sum; null is an unknown amount.
          const cost = spent.has(row.id) ? spent.get(row.id) : '0';
          const limit = row.spending_limit?.month;
          return (
            <tr
              key={row.id}
              aria-selected={row.id === open}
              onClick={() => onOpen(row.id === open ? '' : row.id)}
            >
              <td>
                <a
                  href={`/console/keys?open=${row.id}`}
                  onClick={(event) => event.stopPropagation()}
                >
                  {row.name}
                </a>
              </td>
              <td>{owners.get(row.organization) ?? row.organization}</td>
              <td>{row.role ?? <span class="dim">none</span>}</td>
              <td>
                <code>{row.hint}</code>
              </td>
              <td class="cut wide-cell" title={row.scopes?.join(', ')}>
                {row.scopes ? row.scopes.join(', ') : 'all but admin'}
              </td>
              <td>
                <KeyState row={row} />
              </td>
              <td>
                {row.expires_at ? <Ago at={row.expires_at} /> : <span class="dim">never</span>}
              </td>
              <td class="right">
                <a
                  href={toRequestsOf('key', row.name)}
                  onClick={(event) => event.stopPropagation()}
                >
                  {money(cost)}
                </a>
              </td>
              <td class="right">{limit ? money(limit) : <span class="dim">none</span>}</td>
              <td>
                {limit && (
                  <Share
                    of={Number(cost)}
                    limit={Number(limit)}
                    label={`${money(cost)} of ${money(limit)}`}
                  />
                )}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

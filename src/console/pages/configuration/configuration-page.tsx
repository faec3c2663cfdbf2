import { lazy, useLocation } from 'preact-iso';
import type { ResourceView } from '../../../client/admin.ts';
import { listAll, NO_ROWS } from '../../api/list-all.ts';
import { useConsole } from '../../frame/state.ts';
import { CONFIGURATION_KINDS } from '../../logic/configuration-kinds.ts';
import { listed } from '../../logic/format.ts';
import { useLoad } from '../../parts/load.ts';
import { Ago, Empty, Foot, Problem } from '../../parts/parts.tsx';
import { ownerOf } from './owner-of.ts';
import '../../styles/configuration.css';

const ObjectDetail = lazy(() =>
  import('./object-detail.tsx').then((module) => module.ObjectDetail),
);
const FileCheck = lazy(() => import('./file-check.tsx').then((module) => module.FileCheck));

/** Page of what the gateway has, who owns it and what files would change. */
export function ConfigurationPage() {
  const { api } = useConsole();
  const { url, route } = useLocation();
  const query = new URL(url, location.origin).searchParams;
  const asked = query.get('kind');
  const kind =
    asked === 'files'
      ? 'files'
      : (CONFIGURATION_KINDS.find(([id]) => id === asked)?.[0] ?? 'providers');
  const open = query.get('open') ?? '';
  const go = (search: string): void => route(`/console/configuration?${search}`);
  const { value, error } = useLoad(
    async (signal) =>
      kind === 'files' ? NO_ROWS : listAll<ResourceView>(api, `/admin/v1/${kind}`, { signal }),
    [kind],
  );
  const all = value.value ?? NO_ROWS;
  const { rows } = all;
  const opened = rows.find(({ id }) => id === open);
  return (
    <div class="page">
      <div class="head">
        <h1>Configuration</h1>
        <div class="row kinds" role="group" aria-label="Kind">
          {[...CONFIGURATION_KINDS, ['files', 'Check files'] as const].map(([id, title]) => (
            <button
              key={id}
              type="button"
              class="button small"
              aria-pressed={id === kind}
              onClick={() => go(`kind=${id}`)}
            >
              {title}
            </button>
          ))}
        </div>
      </div>
      {kind === 'files' ? (
        <FileCheck />
      ) : (
        <div class="split">
          <div class="list scroll">
            {error.value && <Problem error={error.value} />}
            {value.value && rows.length === 0 && !error.value ? (
              <Empty title="None yet" command="gateway apply -f gateway.yaml">
                Declare one in gateway.yaml and apply the file.
              </Empty>
            ) : (
              <ObjectTable
                rows={rows}
                open={open}
                onOpen={(id) => go(`kind=${kind}${id === open ? '' : `&open=${id}`}`)}
              />
            )}
          </div>
          {opened && (
            <ObjectDetail
              key={opened.id}
              kind={kind}
              object={opened}
              onClose={() => go(`kind=${kind}`)}
            />
          )}
        </div>
      )}
      <Foot
        command={kind === 'files' ? 'gateway plan -f gateway.yaml' : `gateway dump --kind ${kind}`}
      >
        {kind === 'files' ? '' : listed(all, 'object')}
      </Foot>
    </div>
  );
}

interface ObjectTableProps {
  readonly rows: readonly ResourceView[];
  readonly open: string;
  readonly onOpen: (id: string) => void;
}

function ObjectTable({ rows, open, onOpen }: ObjectTableProps) {
  return (
    <table class="table">
      <thead>
        <tr>
          <th>Name</th>
          <th>Owner</th>
          <th class="right">Version</th>
          <th>Changed</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.id} aria-selected={row.id === open} onClick={() => onOpen(row.id)}>
            <td>
              <button type="button" class="as-link">
                {row.name}
              </button>
            </td>
            <td>{ownerOf(row) ?? <span class="dim">nobody</span>}</td>
            <td class="right">{row.version}</td>
            <td>
              <Ago at={row.updated_at} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso';
import type { Page } from '../../api/views.ts';
import { useConsole } from '../../frame/state.ts';
import { counted, dateTime } from '../../logic/format.ts';
import { toChanges } from '../../logic/audit-changes.ts';
import type { AuditEntry } from '../../logic/audit-changes.ts';
import { toApiError, useLoad } from '../../parts/load.ts';
import { Ago, Empty, Foot, Problem } from '../../parts/parts.tsx';

/** Page of who changed what, when and from where. */
export function AuditPage() {
  const { api } = useConsole();
  const { url, route } = useLocation();
  const open = new URL(url, location.origin).searchParams.get('open') ?? '';
  const older = useSignal<readonly AuditEntry[]>([]);
  const next = useSignal<string | null | undefined>(undefined);
  const { value, error } = useLoad(
    (signal) => api.json<Page<AuditEntry>>('/admin/v1/audit', { query: { limit: 100 }, signal }),
    [],
  );
  const problem = useSignal('');
  const rows = [...(value.value?.data ?? []), ...older.value];
  const cursor = next.value === undefined ? value.value?.next_page : next.value;
  const more = async (): Promise<void> => {
    try {
      const page = await api.json<Page<AuditEntry>>('/admin/v1/audit', {
        query: { limit: 100, page: cursor ?? '' },
      });
      older.value = [...older.value, ...page.data];
      next.value = page.next_page;
    } catch (thrown) {
      problem.value = toApiError(thrown).message;
    }
  };
  const opened = rows.find(({ id }) => id === open);
  const isMissing = error.value?.status === 404 || error.value?.status === 405;
  return (
    <div class="page">
      <div class="head">
        <h1>Audit</h1>
      </div>
      {error.value && !isMissing && <Problem error={error.value} />}
      {problem.value && <Problem error={problem.value} />}
      <div class="split">
        <div class="list scroll">
          {isMissing ? (
            <Empty title="This gateway keeps no audit log" command="gateway version">
              Its version has no audit log yet; a later one lists each change here.
            </Empty>
          ) : value.value && rows.length === 0 ? (
            <Empty title="Nothing was changed yet" command="gateway apply -f gateway.yaml">
              Each change by API, command, file and console leaves an entry here.
            </Empty>
          ) : (
            <table class="table">
              <thead>
                <tr>
                  <th>When</th>
                  <th>Who</th>
                  <th>Did</th>
                  <th>To</th>
                  <th>From</th>
                </tr>
              </thead>
              <tbody>
                {rows.map((row) => (
                  <tr
                    key={row.id}
                    aria-selected={row.id === open}
                    onClick={() => route(`/console/audit?open=${row.id}`)}
                  >
                    <td>
                      <Ago at={row.at} />
                    </td>
                    <td>
                      {row.actor.name} <span class="dim">{row.actor.kind}</span>
                    </td>
                    <td>{row.action}</td>
                    <td class="cut wide-cell">
                      <a href={`/console/audit?open=${row.id}`}>
                        {row.object.kind} {row.object.name ?? row.object.id}
                      </a>
                    </td>
                    <td class="cut wide-cell" title={placeOf(row)}>
                      {placeOf(row)}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
          {cursor && (
            <p class="empty">
              <button type="button" class="button" onClick={() => void more()}>
                Show older
              </button>
            </p>
          )}
        </div>
        {opened && <EntryDetail entry={opened} onClose={() => route('/console/audit')} />}
      </div>
      <Foot command="gateway audit">{counted(rows.length, 'change')}</Foot>
    </div>
  );
}

/** Address and client, as far as they are known. */
function placeOf({ from }: AuditEntry): string {
  return [from.address, from.client].filter(Boolean).join(' · ');
}

function EntryDetail({ entry, onClose }: { entry: AuditEntry; onClose(): void }) {
  return (
    <aside class="detail" aria-label={`Entry ${entry.id}`}>
      <div class="title">
        <code class="grow cut">{entry.id}</code>
        <button type="button" class="button small plain" aria-label="Close" onClick={onClose}>
          ✕
        </button>
      </div>
      <section>
        <dl class="facts">
          <dt>Who</dt>
          <dd>
            {entry.actor.name} <span class="dim">{entry.actor.kind}</span>
          </dd>
          <dt>Did</dt>
          <dd>
            {entry.action} {entry.object.kind} {entry.object.name ?? entry.object.id}
          </dd>
          <dt>When</dt>
          <dd>{dateTime(Date.parse(entry.at))}</dd>
          <dt>From</dt>
          <dd>{placeOf(entry) || <span class="dim">the gateway itself</span>}</dd>
        </dl>
      </section>
      <section>
        <h3>Changes</h3>
        <table class="table plain" aria-label="Changes">
          <thead>
            <tr>
              <th>Field</th>
              <th>Old</th>
              <th>New</th>
            </tr>
          </thead>
          <tbody>
            {toChanges(entry).map(({ field, before, after }) => (
              <tr key={field}>
                <td>{field}</td>
                <td class="bad">{before}</td>
                <td class="good">{after}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <section>
        <h3>Entry</h3>
        <pre tabIndex={0} class="code wrap">
          {JSON.stringify(entry, null, 2)}
        </pre>
      </section>
    </aside>
  );
}

import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { useConsole } from '../../frame/state.ts';
import { toApiError } from '../../parts/load.ts';
import { Empty, Problem, State } from '../../parts/parts.tsx';
import { toPlanRows } from '../../logic/configuration-check.ts';
import type { ConfigurationPlan, PlanRow } from '../../logic/configuration-check.ts';
import { Editor } from './editor.tsx';
import type { Fault } from './editor.tsx';

const NONE: readonly Fault[] = [];

/** Files as they would be applied: the diagnostics of `validate` and the plan of `plan`. */
export function FileCheck() {
  const { api } = useConsole();
  const given = useSignal('version: 1\n');
  const text = useSignal(given.value);
  const check = useSignal<ConfigurationPlan | undefined>(undefined);
  const problem = useSignal('');
  const isMissing = useSignal(false);
  const ask = async (): Promise<void> => {
    try {
      const body = { files: [{ name: 'gateway.yaml', text: text.value }] };
      check.value = await api.json<ConfigurationPlan>('/admin/v1/configuration/plan', {
        method: 'POST',
        body,
      });
      problem.value = '';
    } catch (thrown) {
      const error = toApiError(thrown);
      isMissing.value = error.status === 404 || error.status === 405;
      problem.value = error.message;
    }
  };
  const take = async (file: File | undefined): Promise<void> => {
    if (file) given.value = text.value = await file.text();
  };
  const faults = useMemo(() => check.value?.diagnostics.map(toFault) ?? NONE, [check.value]);
  const rows = check.value ? toPlanRows(check.value) : [];
  return (
    <div class="file-check">
      <section class="stack">
        <div class="row">
          <h2 class="grow">gateway.yaml</h2>
          <input
            type="file"
            accept=".yaml,.yml"
            aria-label="Take a file"
            onChange={({ currentTarget }) => void take(currentTarget.files?.[0])}
          />
          <button type="button" class="button main" onClick={() => void ask()}>
            Plan
          </button>
        </div>
        <Editor
          key={given.value}
          label="gateway.yaml"
          text={given.value}
          faults={faults}
          onChange={(next) => (text.value = next)}
        />
      </section>
      <section class="stack" aria-live="polite">
        {isMissing.value ? (
          <Empty
            title="This gateway plans on the command line"
            command="gateway plan -f gateway.yaml"
          >
            Its version takes no files here yet. The command shows the same diagnostics and the
            plan.
          </Empty>
        ) : problem.value ? (
          <Problem error={problem.value} />
        ) : !check.value ? (
          <p class="dim">Paste or take a file. Nothing is changed by a plan.</p>
        ) : (
          <>
            <h2>{faults.length === 0 ? 'Valid' : `${faults.length} problems`}</h2>
            {faults.map((fault, index) => (
              <p key={index}>
                <State tone={fault.severity === 'error' ? 'bad' : 'warn'}>
                  {fault.line}:{fault.column}
                </State>{' '}
                {fault.message}
              </p>
            ))}
            {check.value.plan && <Plan rows={rows} />}
          </>
        )}
      </section>
    </div>
  );
}

function toFault(one: ConfigurationPlan['diagnostics'][number]): Fault {
  const { path, line = 1, column = 1, message, hint, severity } = one;
  const place = path === '' ? message : `${path}: ${message}`;
  return { line, column, severity, message: hint === undefined ? place : `${place}; ${hint}` };
}

/** The plan field by field. */
function Plan({ rows }: { rows: readonly PlanRow[] }) {
  if (rows.length === 0) return <p>The gateway has what the files say: nothing would change.</p>;
  return (
    <table class="table">
      <thead>
        <tr>
          <th>Action</th>
          <th>Object</th>
          <th>Field</th>
          <th>Gateway</th>
          <th>Files</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          <tr key={index}>
            <td>{row.isFirst && row.action}</td>
            <td>{row.isFirst && row.object}</td>
            <td>
              {row.field} {row.isDrift && <span class="tag warn">drift</span>}
            </td>
            <td class="bad cut">{row.before}</td>
            <td class="good cut">{row.after}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

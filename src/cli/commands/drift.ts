import type { Plan } from '../../config/plan.ts';
import type { PlannedChange } from '../../config/plan-action.ts';
import { toResourceClient } from '../admin-resources.ts';
import type { CommandRun } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { makePlan } from '../make-plan.ts';
import { oneLine } from '../../core/printable.ts';
import { projectFile, withProject } from '../project.ts';
import type { Style } from '../style.ts';

/** An object that somebody changed on the server since the last apply. */
interface DriftedObject {
  kind: string;
  identity: string;
  id: string | null;
  changes: readonly PlannedChange[];
}

interface Drift {
  drifted: DriftedObject[];
  /** Changes of the files that wait for an apply. */
  pending: number;
}

export const run: CommandRun = (input) => {
  const { flags, context } = input;
  return withProject(input, async (config) => {
    const client = await context.connect({ near: projectFile(input) });
    const sources = { config, resources: toResourceClient(client), server: client.baseUrl };
    const { plan } = await makePlan(sources, { prune: false, adopt: false, writeSecrets: [] });
    const data = driftOf(plan);
    const isDrifted = data.drifted.length > 0 && flags.on('exit-code');
    return {
      data,
      text: (style) => render(data, style),
      exitCode: isDrifted ? EXIT.changes.code : EXIT.ok.code,
    };
  });
};

function driftOf({ actions }: Plan): Drift {
  const changed = actions.filter(({ action }) => action === 'update' || action === 'replace');
  const drifted = changed
    .map(({ kind, identity, id, changes }) => ({
      kind,
      identity,
      id,
      changes: changes.filter(({ origin }) => origin === 'server' || origin === 'both'),
    }))
    .filter(({ changes }) => changes.length > 0);
  const created = actions.filter(({ action }) => action === 'create').length;
  const edited = changed.flatMap(({ changes }) =>
    changes.filter(({ origin }) => origin !== 'server'),
  );
  return { drifted, pending: created + edited.length };
}

function render({ drifted, pending }: Drift, style: Style): string {
  const lines = drifted.flatMap(({ kind, identity, changes }) => [
    style.yellow(oneLine(`~ ${kind} ${identity}`)),
    ...changes.map(({ path, old, new: declared, origin }) => {
      const note = origin === 'both' ? style.dim('  (the file changed it too)') : '';
      return `    ${oneLine(path)}: ${shown(declared)} declared, ${shown(old)} on the server${note}`;
    }),
  ]);
  const count = `${drifted.length} changed on the server since the last apply`;
  const rest = pending > 0 ? [`${pending} changes of the files wait; see \`gateway plan\``] : [];
  return [...lines, drifted.length === 0 ? 'no drift' : count, ...rest].join('\n');
}

function shown(value: unknown): string {
  return value === undefined ? '(unset)' : oneLine(JSON.stringify(value));
}

import { titleOf } from '../../../config/objects/kinds.ts';
import { type Drift, type DriftedObject, driftOf } from '../../../config/plan/drift.ts';
import { ownerFor } from '../../../config/plan/plan.ts';
import { counted } from '../../../core/counted.ts';
import { oneLine } from '../../../core/printable.ts';
import { toResourceClient } from '../../resources/admin-resources.ts';
import { EXIT } from '../../exit-codes.ts';
import { comparePlan } from '../../project/make-plan.ts';
import { readFollowed } from '../../project/followed.ts';
import { projectFile, withSelected } from '../../project/project.ts';
import { valueText } from '../../output/render-plan.ts';
import type { Style } from '../../output/style.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'drift'> = (input) => {
  const { flags, context } = input;
  return withSelected(input, async (config) => {
    const client = await context.connect({ near: projectFile(input) });
    const followed = await readFollowed(client, config, context);
    const resources = toResourceClient(client);
    const sources = { config, resources, server: client.baseUrl, followed };
    const { plan, options, ofCommands } = await comparePlan(sources, {
      prune: false,
      adopt: false,
      writeSecrets: [],
    });
    for (const text of ofCommands) context.output.warn(text);
    const { desired, actual, inventories = [] } = options;
    const data = driftOf({ plan, desired, actual, owner: ownerFor(options), inventories });
    const isDrifted = data.drifted.length > 0 && flags['exit-code'];
    return {
      data,
      text: (style) => render(data, style),
      exitCode: isDrifted ? EXIT.changes.code : EXIT.ok.code,
    };
  });
};

function render({ drifted, pending }: Drift, style: Style): string {
  const lines = drifted.flatMap((object) => renderObject(object, style));
  const count = (what: DriftedObject['what']) =>
    drifted.filter((object) => object.what === what).length;
  const counts =
    `${count('changed')} changed, ${count('deleted')} deleted, ` +
    `${count('added')} added on the server since the last apply`;
  const waits = counted(pending, 'change of the files waits', 'changes of the files wait');
  const rest = pending > 0 ? [`${waits}; see \`gateway plan\``] : [];
  return [...lines, drifted.length === 0 ? 'no drift' : counts, ...rest].join('\n');
}

function renderObject(object: DriftedObject, style: Style): string[] {
  const { id, what, changes, obstacle } = object;
  const title = titleOf(object);
  if (what === 'deleted') {
    if (obstacle === undefined)
      return [style.red(`- ${title}  (deleted on the server, was ${id}; an apply recreates it)`)];
    const { reason, hint } = obstacle;
    return [
      style.red(`- ${title}  (gone on the server, was ${id}; no apply brings it back)`),
      `    ${oneLine(reason)}`,
      `    ${oneLine(hint)}`,
    ];
  }
  if (what === 'added') {
    return [style.green(`+ ${title}  (made by hand as ${id}; declare and adopt it, or delete it)`)];
  }
  return [
    style.yellow(`~ ${title}  (changed on the server)`),
    ...changes.map(({ path, old, new: declared, origin }) => {
      const note = origin === 'both' ? style.dim('  (the file changed it too)') : '';
      return `    ${oneLine(path)}: ${valueText(declared)} declared, ${valueText(old)} on the server${note}`;
    }),
  ];
}

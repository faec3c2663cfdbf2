import { titleOf } from '../../config/objects/kinds.ts';
import { leftOut } from '../../config/plan/fixed.ts';
import type { Plan } from '../../config/plan/plan.ts';
import type { PlanAction } from '../../config/plan/plan-action.ts';
import { counted } from '../../core/counted.ts';
import { oneLine } from '../../core/printable.ts';
import { planCounts, renameLines } from './render-plan.ts';

const SIGNS: Readonly<Record<PlanAction['action'], string>> = {
  create: '+ create',
  update: '! update',
  replace: '! replace',
  delete: '- delete',
  disable: '- disable',
  revoke: '- revoke',
  archive: '- archive',
  none: '  same',
};

/** Most characters: those of a comment on GitHub, with room for the text around it. */
const MAX_LENGTH = 60_000;

/** A plan as a comment of a pull request: the counts, then every change as a diff block. */
export function renderPlanMarkdown(plan: Plan): string {
  const { none, total } = plan.summary;
  const counts = planCounts(plan)
    .map((one) => (one.endsWith('the same') ? one : one.replace(/^\d+/, '**$&**')))
    .join(', ');
  const target = plan.target === null ? '' : ` on \`${plan.target.server}\``;
  const title = `### Gateway plan: namespace \`${plan.namespace}\`${target}`;
  const said = [...leftOutItems(plan), ...secretItems(plan), ...renameBlock(plan)].join('\n');
  const notes = said === '' ? '' : `\n${said}\n`;
  if (total === 0) {
    const same = counted(none, 'object is', 'objects are');
    return `${title}\n\nNo changes (${same} as declared).\n${notes}`;
  }
  const { length } = plan.prunable;
  const left =
    plan.mode === 'apply' && length > 0
      ? `\n${counted(length, 'object is', 'objects are')} no longer declared; \`--prune\` removes ${length === 1 ? 'it' : 'them'}: ${names(plan.prunable)}.\n`
      : '';
  const lines = plan.actions.filter(({ action }) => action !== 'none').flatMap(linesOf);
  return `${title}\n\n${counts}\n${left}${notes}\n${fenced(lines)}\n`;
}

/** A list of what stays as it is although the files say otherwise. */
function leftOutItems(plan: Plan): string[] {
  return leftOut(plan).map((one) => `- **blocked** \`${titleOf(one)}\`: ${oneLine(one.reason)}`);
}

function secretItems({ secrets = [] }: Plan): string[] {
  return secrets.map(
    ({ field, stored, given, command, ...one }) =>
      `- \`${titleOf(one)}\`: ${field} has another value on the gateway (fingerprint ${stored}) than in the files (${given}); \`${oneLine(command)}\` takes that of the files`,
  );
}

function renameBlock(plan: Plan): string[] {
  const [title, ...lines] = renameLines(plan);
  return title === undefined
    ? []
    : [`\n${title}\n`, '```yaml', ...lines.map((line) => line.slice(4)), '```'];
}

function names(objects: Plan['prunable']): string {
  return objects.map((one) => `\`${titleOf(one)}\``).join(', ');
}

function linesOf(planned: PlanAction): string[] {
  const { action, reason, changes, forcedBy, steps, note } = planned;
  const why = action === 'create' ? '' : `  (${reason})`;
  const leaves = changes.map(({ path, old, new: next, fingerprints }) => {
    const forced = forcedBy?.some((field) => path.startsWith(field)) ? '  # forces a new id' : '';
    const before = action === 'create' ? '' : `${valueOf(old)} → `;
    const digests = fingerprints ? `  # fingerprint ${fingerprints.join(' → ')}` : '';
    return `    ${oneLine(`${path}: ${before}${valueOf(next)}${forced}${digests}`)}`;
  });
  const around = steps
    ? [`    paused before${steps.length > 2 ? ' and unpaused behind' : ''} the update`]
    : [];
  const told = note === undefined ? [] : [`    ${note}`];
  return [oneLine(`${SIGNS[action]} ${titleOf(planned)}${why}`), ...around, ...leaves, ...told];
}

/** The fence is longer than any in a value. */
function fenced(lines: readonly string[]): string {
  const text = lines.join('\n');
  const shown = text.length <= MAX_LENGTH ? text : cut(lines);
  const longest = Math.max(2, ...[...shown.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}diff\n${shown}\n${fence}`;
}

function cut(lines: readonly string[]): string {
  let length = 0;
  const kept = lines.filter((line) => (length += line.length + 1) <= MAX_LENGTH);
  return [...kept, `… ${lines.length - kept.length} more lines; see \`gateway plan\``].join('\n');
}

function valueOf(value: unknown): string {
  return value === undefined ? '(unset)' : JSON.stringify(value);
}

import type { Plan } from '../../config/plan/plan.ts';
import type { PlanAction } from '../../config/plan/plan-action.ts';
import { oneLine } from '../../core/printable.ts';

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
  const { create, update, replace, remove, none, total } = plan.summary;
  const counts = [
    `**${create}** to create`,
    `**${update}** to update`,
    ...(replace > 0 ? [`**${replace}** to replace`] : []),
    `**${remove}** to remove`,
    `${none} the same`,
  ].join(', ');
  const target = plan.target === null ? '' : ` on \`${plan.target.server}\``;
  const title = `### Gateway plan: namespace \`${plan.namespace}\`${target}`;
  if (total === 0) return `${title}\n\nNo changes (${none} objects are as declared).\n`;
  const left =
    plan.mode === 'apply' && plan.prunable.length > 0
      ? `\n${plan.prunable.length} objects are no longer declared; \`--prune\` removes them: ${names(plan.prunable)}.\n`
      : '';
  const lines = plan.actions.filter(({ action }) => action !== 'none').flatMap(linesOf);
  return `${title}\n\n${counts}\n${left}\n${fenced(lines)}\n`;
}

function names(objects: Plan['prunable']): string {
  return objects.map(({ kind, identity }) => `\`${oneLine(`${kind} ${identity}`)}\``).join(', ');
}

function linesOf(planned: PlanAction): string[] {
  const { kind, identity, action, reason, changes, forcedBy, steps, note } = planned;
  const why = action === 'create' ? '' : `  (${reason})`;
  const leaves = changes.map(({ path, old, new: next }) => {
    const forced = forcedBy?.some((field) => path.startsWith(field)) ? '  # forces a new id' : '';
    const before = action === 'create' ? '' : `${valueOf(old)} → `;
    return `    ${oneLine(`${path}: ${before}${valueOf(next)}${forced}`)}`;
  });
  const around = steps
    ? [`    paused before${steps.length > 2 ? ' and unpaused behind' : ''} the update`]
    : [];
  const told = note === undefined ? [] : [`    ${note}`];
  return [oneLine(`${SIGNS[action]} ${kind} ${identity}${why}`), ...around, ...leaves, ...told];
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

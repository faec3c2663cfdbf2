import type { ApplyReport } from '../config/apply.ts';
import type { Plan } from '../config/plan.ts';
import type { PlanAction } from '../config/plan-action.ts';
import { CREATED } from '../config/plan-object.ts';
import { oneLine } from '../core/printable.ts';
import type { Style } from './style.ts';

type Mark = (style: Style, text: string) => string;

const MARKS: Readonly<Record<PlanAction['action'], Mark>> = {
  create: (style, text) => style.green(`+ create ${text}`),
  update: (style, text) => style.yellow(`~ update ${text}`),
  replace: (style, text) => style.red(`± replace ${text}`),
  delete: (style, text) => style.red(`- delete ${text}`),
  disable: (style, text) => style.red(`- disable ${text}`),
  revoke: (style, text) => style.red(`- revoke ${text}`),
  archive: (style, text) => style.red(`- archive ${text}`),
  none: (style, text) => style.dim(`  same   ${text}`),
};

/** A plan for people: one line per object, its changed leaves below, true counts at the end. */
export function renderPlan(plan: Plan, style: Style, { all }: { all: boolean }): string {
  const actions = plan.actions.filter(({ action }) => all || action !== 'none');
  const lines = actions.flatMap((action) => renderAction(action, style));
  const { create, update, replace, remove, none } = plan.summary;
  const left = plan.mode === 'apply' ? prunableLines(plan) : [];
  const replaced = replace > 0 ? [`${replace} to replace`] : [];
  const counts = [
    `${create} to create`,
    `${update} to update`,
    ...replaced,
    `${remove} to remove`,
    `${none} the same`,
  ].join(', ');
  return [
    ...lines,
    ...left,
    ...unknownLines(plan),
    plan.summary.total === 0 ? `no changes (${counts})` : counts,
  ].join('\n');
}

function prunableLines({ prunable }: Plan): string[] {
  if (prunable.length === 0) return [];
  const names = prunable.map(({ kind, identity }) => `    ${oneLine(`${kind} ${identity}`)}`);
  return [`${prunable.length} no longer declared; --prune removes them:`, ...names];
}

function unknownLines({ unknown }: Plan): string[] {
  if (unknown.length === 0) return [];
  const names = unknown.map(({ kind, identity }) => `    ${oneLine(`${kind} ${identity}`)}`);
  return ['not known what was declared before, so nothing of these is reset this time:', ...names];
}

function renderAction(
  { kind, identity, action, reason, changes }: PlanAction,
  style: Style,
): string[] {
  const title = MARKS[action](style, oneLine(`${kind} ${identity}`));
  const isPlain = action === 'none' || (action === 'create' && reason === CREATED);
  const because = isPlain ? '' : style.dim(`  (${reason})`);
  const leaves = changes.map((change) => {
    const before = action === 'create' ? '' : `${valueText(change.old)} → `;
    const note = change.reset ? style.dim('  (no longer declared)') : '';
    return `    ${oneLine(change.path)}: ${before}${valueText(change.new)}${note}`;
  });
  return [title + because, ...leaves];
}

/** A value on one line. */
export function valueText(value: unknown): string {
  return value === undefined ? '(unset)' : oneLine(JSON.stringify(value));
}

type Outcome = ApplyReport['applied'][number];

const OUTCOMES: Readonly<Record<'applied' | 'failed' | 'blocked' | 'notRun', Mark>> = {
  applied: (style, text) => `${style.green('done   ')} ${text}`,
  failed: (style, text) => `${style.red('failed ')} ${text}`,
  blocked: (style, text) => `${style.yellow('blocked')} ${text}`,
  notRun: (style, text) => `${style.yellow('not run')} ${text}`,
};

/** One object that an apply is done with. */
export function renderOutcome(
  { kind, identity, action, reason }: Outcome,
  what: keyof typeof OUTCOMES,
  style: Style,
): string {
  const because = reason ? `: ${oneLine(reason)}` : '';
  return OUTCOMES[what](style, `${action} ${oneLine(`${kind} ${identity}`)}${because}`);
}

/** What an apply did: one line per object in the order of execution, then the counts. */
export function renderReport(report: ApplyReport, style: Style): string {
  const { applied, failed, blocked, notRun } = report;
  const all = { applied, failed, blocked, notRun };
  const lines = Object.entries(all).flatMap(([what, outcomes]) =>
    outcomes.map((outcome) => renderOutcome(outcome, what as keyof typeof all, style)),
  );
  return [
    ...lines,
    `${applied.length} applied, ${failed.length} failed, ${blocked.length} blocked, ${notRun.length} not run`,
  ].join('\n');
}

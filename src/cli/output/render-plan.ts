import { titleOf, wordOf } from '../../config/objects/kinds.ts';
import type { ApplyReport } from '../../config/apply/apply-options.ts';
import type { Plan } from '../../config/plan/plan.ts';
import type { PlanAction, PlannedChange } from '../../config/plan/plan-action.ts';
import { type Fixed, type LeftOut, leftOut } from '../../config/plan/fixed.ts';
import { CREATED } from '../../config/plan/plan-object.ts';
import { oneLine } from '../../core/printable.ts';
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

/** Words of `plan` after the number of unchanged objects. */
export const MORE = '`plan --all` lists them';

export interface PlanRendering {
  /** True: unchanged objects, too. */
  readonly all: boolean;
  /** Words after the number of unchanged objects that are not shown. */
  readonly more?: string;
}

/** A plan for people: one line per object, its changed leaves below, true counts at the end. */
export function renderPlan(plan: Plan, style: Style, { all, more }: PlanRendering): string {
  const actions = plan.actions.filter(({ action }) => all || action !== 'none');
  const foreign = all || more === undefined ? [] : foreignLines(plan, style);
  const lines = [...actions.flatMap((action) => renderAction(action, style)), ...foreign];
  const { none, total } = plan.summary;
  const left = plan.mode === 'apply' ? prunableLines(plan) : [];
  const hidden = !all && none > 0 && more !== undefined ? `; ${more}` : '';
  const counts = `${planCounts(plan).join(', ')}${hidden}`;
  return [
    ...lines,
    ...leftOutLines(plan, style),
    ...secretLines(plan, style),
    ...uncomparedLine(plan),
    ...left,
    ...renameLines(plan),
    ...unknownLines(plan),
    total === 0 ? `no changes (${counts})` : counts,
  ].join('\n');
}

/** The numbers of a plan, each with its word. */
export function planCounts(plan: Plan): string[] {
  const { create, update, replace, remove, none } = plan.summary;
  const blocked = leftOut(plan).length;
  return [
    `${create} to create`,
    `${update} to update`,
    ...(replace > 0 ? [`${replace} to replace`] : []),
    `${remove} to remove`,
    ...(blocked > 0 ? [`${blocked} blocked`] : []),
    `${none} the same`,
  ];
}

/** The first objects that are as declared and belong to another owner, who changes them. */
function foreignLines({ actions }: Plan, style: Style): string[] {
  const foreign = actions.filter(
    ({ action, ownership }) => action === 'none' && ownership === 'other',
  );
  const more = foreign.length - MAX_FOREIGN;
  return [
    ...foreign.slice(0, MAX_FOREIGN).flatMap((action) => renderAction(action, style)),
    ...(more > 0 ? [style.dim(`         and ${more} more of other owners`)] : []),
  ];
}

const MAX_FOREIGN = 5;

function prunableLines({ prunable }: Plan): string[] {
  if (prunable.length === 0) return [];
  const names = prunable.map((one) => `    ${titleOf(one)}`);
  const them = prunable.length === 1 ? 'it' : 'them';
  return [`${prunable.length} no longer declared; --prune removes ${them}:`, ...names];
}

/** Objects that stay although the files say otherwise, each with the reason and the next step. */
function leftOutLines({ fixed, waiting = [], kept = [] }: Plan, style: Style): string[] {
  const title = (word: string, one: LeftOut | Fixed): string =>
    style.red(`! ${word} ${titleOf(one)}`);
  return [
    ...fixed.flatMap((one) => [
      title('blocked', one),
      `    ${oneLine(one.reason)}`,
      `    ${oneLine(one.hint)}`,
    ]),
    ...waiting.map((one) => `${title('blocked', one)}${style.dim(`  (${oneLine(one.reason)})`)}`),
    ...kept.flatMap((one) => [title('keep   ', one), `    ${oneLine(one.reason)}`, KEPT]),
  ];
}

const KEPT = '    it is removed once nothing names it any more';

/** Values of secrets that apply does not write, with the command that does. */
function secretLines({ secrets = [] }: Plan, style: Style): string[] {
  return secrets.flatMap(({ field, stored, given, command, ...one }) => [
    style.yellow(`! secret ${titleOf(one)}`),
    `    ${field}: fingerprint ${stored} on the gateway, ${given} in the files; apply keeps the one on the gateway`,
    `    to take the one in the files: ${oneLine(command)}`,
  ]);
}

/** Words for secrets that were not compared. */
const UNCOMPARED = {
  'no value': 'not compared, for want of a value here',
  refused: 'not compared, since the gateway does not do it for this key',
} as const;

export function uncomparedLine({ uncompared }: Plan): string[] {
  if (uncompared === undefined) return [];
  return [oneLine(`${UNCOMPARED[uncompared.why]}: ${uncompared.secrets.join(', ')}`)];
}

/** Entries of `moved`, ready to be pasted. */
export function renameLines({ renames = [] }: Plan): string[] {
  if (renames.length === 0) return [];
  const entries = renames.map(({ kind, organization, from, to }) => {
    const owner = organization === undefined ? '' : `organization: ${yamlText(organization)}, `;
    return `      - { kind: ${wordOf(kind)}, ${owner}from: ${yamlText(from)}, to: ${yamlText(to)} }`;
  });
  const what = renames.length === 1 ? 'If this is a new name' : 'If these are new names';
  return [
    `${what} for what is there already, keep the object, its id and its history with this in the files:`,
    '    moved:',
    ...entries,
  ];
}

function yamlText(text: string): string {
  return /^[A-Za-z][\w./-]*$/.test(text) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(text)
    ? text
    : JSON.stringify(text);
}

function unknownLines({ unknown }: Plan): string[] {
  if (unknown.length === 0) return [];
  const names = unknown.map((one) => `    ${titleOf(one)}`);
  return ['not known what was declared before, so nothing of these is reset this time:', ...names];
}

function renderAction(planned: PlanAction, style: Style): string[] {
  const { action, reason, changes, steps, note, ownership } = planned;
  const title = MARKS[action](style, titleOf(planned));
  const isPlain =
    (action === 'none' && ownership !== 'other') || (action === 'create' && reason === CREATED);
  const because = isPlain ? '' : style.dim(`  (${reason})`);
  const leaves = changes.flatMap((change) => {
    if (isLong(change.old) && isLong(change.new)) return renderText(change, style);
    const before = action === 'create' ? '' : `${valueText(change.old)} → `;
    const [stored, declared] = change.fingerprints ?? [];
    const note = change.reset
      ? style.dim('  (no longer declared)')
      : stored === undefined
        ? ''
        : style.dim(`  (fingerprint ${stored} → ${declared})`);
    return `    ${oneLine(change.path)}: ${before}${valueText(change.new)}${note}`;
  });
  const [before, after] =
    steps?.length === 3
      ? ['    status: "active" → "paused" while it changes', '    status: "paused" → "active"']
      : [];
  const all = [before, ...leaves, after, note && style.dim(`    (${note})`)];
  return [title + because, ...all.filter((line) => line !== undefined && line !== '')] as string[];
}

/** Characters above which only the changed part of a text is shown. */
const MAX_PLAIN = 80;

function isLong(value: unknown): value is string {
  return typeof value === 'string' && (value.length > MAX_PLAIN || value.includes('\n'));
}

/** A long text by the lines that go and come, each cut to what differs. */
function renderText({ path, old, new: next, reset }: PlannedChange, style: Style): string[] {
  const [before, after] = [String(old).split('\n'), String(next).split('\n')];
  const most = Math.min(before.length, after.length);
  let ahead = 0;
  while (ahead < most && before[ahead] === after[ahead]) ahead++;
  let behind = 0;
  while (behind < most - ahead && before.at(-1 - behind) === after.at(-1 - behind)) behind++;
  const gone = before.slice(ahead, before.length - behind);
  const come = after.slice(ahead, after.length - behind);
  const start = sharedStart(gone, come);
  const same = ahead + behind;
  return [
    `    ${oneLine(path)}:${reset ? style.dim('  (no longer declared)') : ''}`,
    ...gone.map((line) => style.red(`      - ${excerpt(line, start)}`)),
    ...come.map((line) => style.green(`      + ${excerpt(line, start)}`)),
    ...(same > 0 ? [style.dim(`        ${same} more lines are the same`)] : []),
  ];
}

/** Number of characters with which the one line that goes and the one that comes begin alike. */
function sharedStart(
  [gone = '', ...moreGone]: string[],
  [come = '', ...moreCome]: string[],
): number {
  if (moreGone.length > 0 || moreCome.length > 0) return 0;
  let length = 0;
  while (length < Math.min(gone.length, come.length) && gone[length] === come[length]) length++;
  return length;
}

function excerpt(line: string, from: number): string {
  const start = Math.max(0, from - MAX_PLAIN / 4);
  const cut = line.slice(start, start + 2 * MAX_PLAIN);
  return oneLine(`${start > 0 ? '…' : ''}${cut}${start + cut.length < line.length ? '…' : ''}`);
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
  { action, reason, ...one }: Outcome,
  what: keyof typeof OUTCOMES,
  style: Style,
): string {
  const because = reason ? `: ${oneLine(reason)}` : '';
  const verb = action === 'none' ? '' : `${action} `;
  return OUTCOMES[what](style, `${verb}${titleOf(one)}${because}`);
}

/** Renders what an apply did: one line per object in the order of execution, then the counts. */
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

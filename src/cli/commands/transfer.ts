import { readActual } from '../../config/apply/apply.ts';
import { CONFIG_KINDS, titleOf } from '../../config/objects/kinds.ts';
import type { ResourceClient } from '../../config/actual/resource-client.ts';
import { namespace as namespaceRule } from '../../config/schema/schema.ts';
import { type Pattern, SelectionError, toPattern } from '../../config/plan/selection.ts';
import { StalePlanError } from '../../config/plan/stale-plan-error.ts';
import { executeTransfer } from '../../config/transfer/execute-transfer.ts';
import {
  planTransfer,
  type Transfer,
  type Transferred,
  type TransferOptions,
} from '../../config/transfer/plan-transfer.ts';
import { listed } from '../output/listed.ts';
import { counted } from '../../core/counted.ts';
import { reasonOf } from '../../core/errors.ts';
import { oneLine } from '../../core/printable.ts';
import { suggest } from '../../core/suggest.ts';
import { toResourceClient } from '../resources/admin-resources.ts';
import { CliError, usageError } from '../cli-error.ts';
import { toFailure } from '../failure.ts';
import { requireRights } from '../project/require-rights.ts';
import type { CommandResult } from '../command.ts';
import { inTurn } from '../waiting/in-turn.ts';
import type { InputOf, RunOf } from '../commands.ts';

export const run: RunOf<'transfer'> = (input) => {
  const words = readWords(input);
  return inTurn(input, () => transfer(input, words));
};

type Words = Pick<TransferOptions, 'to' | 'from' | 'only'>;

const LISTING = '`gateway dump --all-namespaces --split DIR` shows what each namespace owns';

async function transfer(
  { flags, context }: InputOf<'transfer'>,
  words: Words,
): Promise<CommandResult> {
  const client = await context.connect();
  const resources = toResourceClient(client);
  const planned = await planFrom(resources, words);
  refuse(planned, words);
  const { objects } = planned;
  if (flags['dry-run']) return resultOf(planned, { isDone: false });
  if (objects.length > 0) {
    const kinds = objects.map(({ kind }) => kind);
    await requireRights(client, { kinds, signal: context.signal });
    context.output.note(`target: ${client.baseUrl} (all organizations)`);
    context.output.note(objects.map((object) => lineOf(object, planned)).join('\n'));
    await context.confirm(`Give ${counted(objects.length, 'object')} to namespace ${planned.to}?`);
  }
  const moved: Transferred[] = [];
  const { signal } = context;
  try {
    const onMoved = (object: Transferred) => void moved.push(object);
    await executeTransfer({ client: resources, transfer: planned, onMoved, signal });
  } catch (thrown) {
    const counts = { moved: moved.length, count: objects.length };
    const failed = failureOf(thrown, { ...counts, isStopped: signal.aborted });
    if (!(failed instanceof CliError) || failed.cause instanceof StalePlanError) throw failed;
    const { data } = resultOf({ ...planned, objects: moved }, { isDone: false });
    const text = moved.map((object) => lineOf(object, planned)).join('\n');
    return { data, text, failure: toFailure(failed) };
  }
  return resultOf(planned, { isDone: true });
}

async function planFrom(resources: ResourceClient, words: Words): Promise<Transfer> {
  const managed = new Set(CONFIG_KINDS.map(({ kind }) => kind));
  const [actual, inventories] = await Promise.all([
    readActual(resources, { managed, objects: [] }),
    resources.inventories?.list(),
  ]);
  return planTransfer({ actual, inventories: inventories ?? [], ...words });
}

function readWords({ rest, flags }: InputOf<'transfer'>): Words {
  const to = readNamespace(flags.to, '--to');
  if (to === undefined) throw usageError('--to is missing', 'name the namespace that gets them');
  const from = readNamespace(flags.from, '--from');
  if (from === to) throw usageError(`--from and --to are both ${to}`);
  if (flags.all === rest.length > 0) {
    throw usageError(
      rest.length > 0 ? 'either --all or single objects' : 'nothing is named',
      'name objects as KIND/NAME, or all of a namespace as --all --from NAMESPACE',
    );
  }
  if (flags.all && from === undefined) {
    throw usageError('--all without --from', 'say whose: --all --from NAMESPACE');
  }
  const only = rest.map((word) => readPattern(word));
  const wide = only.find(({ isExact }) => !isExact);
  if (wide && from === undefined) {
    throw usageError(`${wide.word} without --from`, 'say whose: --from NAMESPACE');
  }
  return { to, from, ...(rest.length > 0 && { only }) };
}

function readNamespace(value: string | undefined, flag: string): string | undefined {
  if (value === undefined) return undefined;
  const parsed = namespaceRule.safeParse(value);
  if (parsed.success) return value;
  throw usageError(
    `${flag} ${oneLine(value)}: ${parsed.error.issues[0]?.message ?? 'no namespace'}`,
  );
}

function readPattern(word: string): Pattern {
  try {
    return toPattern(word);
  } catch (thrown) {
    throw thrown instanceof SelectionError ? usageError(thrown.message) : thrown;
  }
}

/** Nothing moves when something cannot. */
function refuse(planned: Transfer, words: Words): void {
  const { refused, unused, isEmpty, isFromUnknown, to, namespaces } = planned;
  if (unused.length > 0) {
    const names = unused.map(({ word }) => oneLine(word)).join(', ');
    throw new CliError({
      code: 'not_found',
      status: 404,
      message: `there is nothing like ${names}${words.from ? ` in namespace ${words.from}` : ''}`,
      hint: LISTING,
    });
  }
  if (refused.length > 0) {
    const names = refused.map((one) => `${titleOf(one)} (${oneLine(one.reason)})`);
    throw new CliError({
      code: 'not_transferable',
      message: listed('nothing was moved', names),
      hint: 'leave it out, or let its namespace apply first; `gateway adopt` takes what nobody manages',
      exit: 'conflict',
    });
  }
  if (isFromUnknown) {
    const others = namespaces.filter((name) => name !== to);
    throw new CliError({
      code: 'not_found',
      status: 404,
      message: `there is no namespace ${words.from}`,
      hint: [suggest(words.from ?? '', others), LISTING].filter(Boolean).join('; '),
    });
  }
  if (isEmpty) {
    const near = suggest(words.from ?? '', namespaces);
    throw new CliError({
      code: 'not_found',
      status: 404,
      message: `nothing belongs to namespace ${words.from}`,
      hint: [near, LISTING].filter(Boolean).join('; '),
    });
  }
}

/** A transfer that stopped in the middle, with what the same command does next. */
function failureOf(
  thrown: unknown,
  { moved, count, isStopped }: { moved: number; count: number; isStopped: boolean },
): unknown {
  const isStale = thrown instanceof StalePlanError;
  if (moved === 0 && !isStale) return thrown;
  const cause = isStopped ? 'it was stopped' : reasonOf(thrown);
  return new CliError({
    code: isStale ? 'stale_plan' : 'partly_transferred',
    message: `${moved} of ${counted(count, 'object')} ${moved === 1 ? 'is' : 'are'} moved: ${cause}`,
    hint: 'run the same command again; it moves the rest, and nothing is without an owner meanwhile',
    exit: moved > 0 ? 'partial' : 'conflict',
    cause: thrown,
  });
}

function resultOf(planned: Transfer, { isDone }: { isDone: boolean }): CommandResult {
  const { to, renamed, already, objects, namespaces } = planned;
  const moved = objects.map(({ kind, identity, id, from }) => ({ kind, identity, id, from }));
  const counts = `${moved.length} ${isDone ? 'moved' : 'to move'} to ${to}, ${already} there already`;
  const lines = objects.map((object) => lineOf(object, planned));
  // The transfer may be done already, or its --from misspelled: nothing tells them apart.
  if (renamed !== undefined && objects.length === 0) {
    const near = suggest(
      renamed,
      namespaces.filter((name) => name !== to),
    );
    lines.push([`nothing belongs to namespace ${renamed}`, near].filter(Boolean).join('; '));
  }
  return {
    data: { to, done: isDone, objects: moved, already },
    text: [...lines, counts].join('\n'),
  };
}

function lineOf(object: Transferred, { to }: Transfer): string {
  return oneLine(`${titleOf(object)}: ${object.from} → ${to}`);
}

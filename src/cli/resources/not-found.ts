import { ClientError } from '../../client/http/client-error.ts';
import { factsOf, isListed, KINDS, kindsWhere, type Collection } from '../../core/kinds.ts';
import { oneLine } from '../../core/printable.ts';
import { CliError } from '../cli-error.ts';
import { shownName, type CommandResult } from '../command.ts';
import type { FlagInput } from '../command-input.ts';
import type { IGNORE_NOT_FOUND } from '../tables/shared-words.ts';
import type { Failure } from '../command.ts';

interface KindWords {
  /** Name of one of them, as help and docs write it. */
  readonly word: string;
  /** Name of one of them in the messages of the server. */
  readonly wire: string;
  /** Command that lists the kind; absent where there is none. */
  readonly list?: string;
}

/** Things in addition to resources that people name. */
const OTHERS = {
  sessions: { word: 'Session', wire: 'session', list: 'sessions list' },
  runs: { word: 'run', wire: 'deployment_run', list: 'runs list' },
  model_runs: { word: 'run', wire: 'run' },
  requests: { word: 'request', wire: 'request', list: 'logs' },
  audit: { word: 'audit entry', wire: 'audit entry', list: 'audit' },
  webhooks: { word: 'webhook', wire: 'webhook_delivery', list: 'webhooks list' },
  assets: { word: 'asset', wire: 'asset' },
  tasks: { word: 'task', wire: 'task' },
} as const satisfies Record<string, KindWords>;

export type NamedKind = Collection | keyof typeof OTHERS;

const WORDS: readonly KindWords[] = [
  ...kindsWhere(() => true).map(wordsOf),
  ...Object.values(OTHERS),
];

export interface Sought {
  readonly kind: NamedKind;
  /** Name or id that was asked for. */
  readonly named: string;
  /** True where only the organization of the key was looked through. Default false. */
  readonly isOwn?: boolean;
}

/** Name of one of a kind: `Service`, `key`. */
export function wordOf(kind: NamedKind): string {
  return wordsOf(kind).word;
}

/**
 * Looks something up by name or id.
 *
 * @throws CliError `not_found` (exit 1), with the name or id and the command that lists the kind
 */
export async function lookUp<T>(sought: Sought, find: () => Promise<T>): Promise<T> {
  try {
    return await find();
  } catch (thrown) {
    throw thrown instanceof ClientError && thrown.status === 404
      ? notFound(sought, thrown)
      : thrown;
  }
}

/** The failure for something that is not there. */
export function notFound({ kind, named, isOwn = false }: Sought, cause?: ClientError): CliError {
  const words = wordsOf(kind);
  const shown = hintOf(words);
  const called = `${words.word} "${oneLine(named)}"`;
  return new CliError({
    code: 'not_found',
    status: 404,
    message: isOwn ? `the organization of the key has no ${called}` : `there is no ${called}`,
    hint: isOwn ? `${shown}, \`gateway whoami\` shows the key in use` : shown,
    cause,
  });
}

/** Input of a command with --ignore-not-found. */
export type MissingInput = FlagInput<readonly [typeof IGNORE_NOT_FOUND]>;

/** Gives an empty result in place of a failed lookup when --ignore-not-found is there. */
export async function skipMissing(
  flags: MissingInput['flags'],
  act: () => Promise<CommandResult>,
): Promise<CommandResult> {
  try {
    return await act();
  } catch (thrown) {
    const isMissing =
      (thrown instanceof ClientError || thrown instanceof CliError) && thrown.status === 404;
    if (isMissing && flags['ignore-not-found']) return { data: null, text: '' };
    throw thrown;
  }
}

/** Puts the words of the command line into what the server says is missing, and adds the hint. */
export function withListHint(failure: Failure): Failure {
  if (failure.status !== 404 || failure.hint !== undefined) return failure;
  const { message } = failure;
  const [, wire, referred] = /^(\w+) not found|(?:^|: )no (\w+) `/.exec(message) ?? [];
  const kind = WORDS.find((one) => one.wire === (wire ?? referred));
  if (kind === undefined) return failure;
  return {
    ...failure,
    message: wire === undefined ? message : kind.word + message.slice(wire.length),
    hint: hintOf(kind),
  };
}

function wordsOf(kind: NamedKind): KindWords {
  if (!isCollection(kind)) return OTHERS[kind];
  const facts = factsOf(kind);
  const { word, type: wire } = facts;
  return { word, wire, ...(isListed(facts) && { list: shownName(`${kind} list`) }) };
}

function isCollection(kind: NamedKind): kind is Collection {
  return Object.hasOwn(KINDS, kind);
}

function hintOf({ list }: KindWords): string | undefined {
  return list && `\`gateway ${list}\` lists what exists`;
}

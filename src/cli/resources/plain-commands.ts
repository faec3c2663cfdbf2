import type { Client } from '../../client/create-client.ts';
import { factsOf, type Collection, type PlainVerb } from '../../core/kinds.ts';
import { oneLine } from '../../core/printable.ts';
import type { ArgSpec } from '../command.ts';
import type { CommandInput, CommandRun } from '../command-input.ts';
import type { IGNORE_NOT_FOUND } from '../tables/shared-words.ts';
import { findDeployment } from './find-deployment.ts';
import { findResource } from './find-resource.ts';
import { getResource } from './get-resource.ts';
import { lookUp, skipMissing, wordOf } from './not-found.ts';

type View = Readonly<Record<string, unknown>>;
type Named = View & { readonly id: string; readonly name: string };
export type ChangeVerb = Exclude<PlainVerb, 'list' | 'get' | 'create' | 'update'>;

interface Change {
  /** First word of the question that comes before what cannot be undone; absent: it can be. */
  readonly ask?: string;
  /** State of the object afterwards, where it shows none of its own. */
  readonly done: string;
}

const CHANGES: Readonly<Record<ChangeVerb, Change>> = {
  enable: { done: 'active' },
  disable: { done: 'disabled' },
  pause: { done: 'paused' },
  unpause: { done: 'active' },
  archive: { ask: 'Archive', done: 'archived' },
  revoke: { ask: 'Revoke', done: 'revoked; this cannot be undone' },
  delete: { ask: 'Delete', done: 'deleted' },
};

/** Objects of one kind, wherever the server keeps them for this command line. */
interface Objects {
  find(named: string, signal: AbortSignal): Promise<Named>;
  get(named: string, signal: AbortSignal): Promise<View>;
  act(id: string, action: string, signal: AbortSignal): Promise<View>;
  update(id: string, body: View, signal: AbortSignal): Promise<View>;
  delete(id: string, signal: AbortSignal): Promise<void>;
}

type PlainRun = CommandRun<readonly ArgSpec[], readonly [typeof IGNORE_NOT_FOUND]>;

/** Command that shows one object of a kind. */
export function getCommand(kind: Collection): PlainRun {
  return (input) => {
    const named = namedBy(input.args);
    return getResource(input, { kind, named }, (client, signal) =>
      objectsOf(client, kind).get(named, signal),
    );
  };
}

/** Command that changes or ends one object of a kind. */
export function changeCommand(kind: Collection, verb: ChangeVerb): PlainRun {
  const { ask, done } = CHANGES[verb];
  return ({ args, flags, context }) =>
    skipMissing(flags, async () => {
      const { signal } = context;
      const named = namedBy(args);
      const client = await context.connect();
      const objects = objectsOf(client, kind);
      const { id, name } = await objects.find(named, signal);
      const called = `${wordOf(kind)} ${oneLine(name)} (${id})`;
      if (ask !== undefined)
        await context.confirm(`${ask} ${called} of ${client.baseUrl}? This cannot be undone.`);
      const changed = await lookUp({ kind, named }, () =>
        change(objects, { kind, id, verb, signal }),
      );
      const isSwitched = ask === undefined && typeof changed?.['status'] === 'string';
      const state = isSwitched ? String(changed['status']) : done;
      return { data: changed ?? { id }, text: `${called} is ${state}` };
    });
}

/** The one argument of these commands, whatever the kind calls it. */
function namedBy(args: CommandInput['args']): string {
  return Object.values(args)[0] ?? '';
}

interface Asked {
  kind: Collection;
  id: string;
  verb: ChangeVerb;
  signal: AbortSignal;
}

async function change(
  objects: Objects,
  { kind, id, verb, signal }: Asked,
): Promise<View | undefined> {
  if (verb === 'enable' || verb === 'disable') {
    const isOn = verb === 'enable';
    const body =
      factsOf(kind).switch === 'status'
        ? { status: isOn ? 'active' : 'disabled' }
        : { enabled: isOn };
    return objects.update(id, body, signal);
  }
  if (verb !== 'delete') return objects.act(id, verb, signal);
  await objects.delete(id, signal);
  return undefined;
}

function objectsOf(client: Client, kind: Collection): Objects {
  return kind === 'deployments' ? schedulesOf(client) : administered(client, kind);
}

function administered(client: Client, kind: Collection): Objects {
  const admin = client.admin(kind);
  const find: Objects['find'] = (named, signal) => findResource(client, { kind, named }, signal);
  return {
    find,
    // A name that is unique in the gateway needs no search.
    get: (named, signal) =>
      factsOf(kind).isOwned ? find(named, signal) : admin.get(named, signal),
    act: (id, action, signal) => admin.action(id, action, signal),
    update: (id, body, signal) => admin.update(id, body, signal),
    delete: (id, signal) => admin.delete(id, signal),
  };
}

/** Schedules belong to the organization of the key, so that its own API serves them. */
function schedulesOf(client: Client): Objects {
  const find: Objects['find'] = (named, signal) => findDeployment(client, named, signal);
  return {
    find,
    get: async (named, signal) => client.deployments.get((await find(named, signal)).id, signal),
    act: (id, action, signal) => client.deployments.action(id, action, signal),
    update: (id, body, signal) => client.admin('deployments').update(id, body, signal),
    delete: (id, signal) => client.deployments.delete(id, signal),
  };
}

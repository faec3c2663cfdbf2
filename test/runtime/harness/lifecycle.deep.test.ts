import { once } from 'node:events';
import { mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { InlineHarness } from '../../../src/sessions/resolved-agent.ts';
import { eventually } from '../../support/gateway.ts';
import { bundleScript } from '../../support/process/bundle-script.ts';
import { forkScript } from '../../support/process/fork-script.ts';
import { createHastyClock } from '../../support/time/hasty-clock.ts';
import { verifies } from '../../requirements.ts';
import {
  countProcesses,
  createStand as createLoneStand,
  ofType,
  readNotes,
  reaperOfFile,
  typesOf,
} from './stand.ts';
import type { Stand, StandOptions } from './stand.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';

const ORGANIZATION = 'org_1';

const reaper = reaperOfFile();
const createStand = (options: StandOptions): Promise<Stand> =>
  createLoneStand({ reaper, ...options });

const NOTES = { hang: 'hangs', stubborn: 'stubborn' };

/** The harness hangs, with all that it started. */
async function hang(stand: Stand, deed: keyof typeof NOTES, processes: number): Promise<void> {
  await stand.say(deed);
  await eventually(async () => (await stand.notes()).includes(NOTES[deed]), 15_000);
  await eventually(async () => (await stand.processes()) >= processes);
}

describe('the process of a harness', () => {
  it(
    verifies(
      'harness.process-lifecycle',
      'sessions.turn.interrupt',
      'is ended by an interrupt and not by its deadline, and the Session takes the next message',
    ),
    async () => {
      const stand = await createStand({ protocol: 'acp' });
      await hang(stand, 'hang', 2);
      await stand.send({ type: 'user.interrupt' });
      const events = await stand.idle();
      expect(ofType(events, 'session.error')).toEqual([]);
      expect(await stand.processes()).toBe(0);
      expect(await stand.notes()).toContain('cancelled');
      expect(typesOf(events).slice(-3)).toEqual([
        'user.interrupt',
        'span.model_request_end',
        'session.status_idle',
      ]);
      expect(events.at(-1)).toMatchObject({ stop_reason: { type: 'end_turn' } });
      await stand.say('again');
      const after = await stand.idle(2);
      expect(ofType(after, 'agent.message').at(-1)).toMatchObject({
        content: [{ type: 'text', text: 'You said again' }],
      });
    },
  );

  it(
    verifies(
      'harness.process-lifecycle',
      'is killed with all children, also those that ignore signals or left its session',
    ),
    async () => {
      const stand = await createStand({ protocol: 'jsonl' });
      await hang(stand, 'stubborn', 3);
      await stand.send({ type: 'user.interrupt' });
      await stand.idle();
      expect(await stand.processes()).toBe(0);
      expect(await stand.notes()).toContain('asked to end');
    },
  );

  it(verifies('harness.process-lifecycle', 'is ended at its deadline'), async () => {
    const timeouts = { start: 20_000, turn: 1_500, stop: 100 };
    const stand = await createStand({ protocol: 'jsonl', program: { timeouts } });
    await stand.say('stubborn');
    const events = await stand.idle();
    expect(ofType(events, 'session.error')[0]).toMatchObject({ error: { code: 'timed_out' } });
    expect(await stand.processes()).toBe(0);
  });

  it(
    verifies('harness.process-lifecycle', 'that dies in mid turn ends it and is not asked again'),
    async () => {
      const stand = await createStand({ protocol: 'acp' });
      await stand.say('die');
      const events = await stand.idle();
      expect(typesOf(events)).toEqual([
        'user.message',
        'session.status_running',
        'span.model_request_start',
        'agent.message',
        'agent.tool_use',
        'agent.tool_result',
        'span.model_request_end',
        'session.error',
        'session.status_idle',
      ]);
      expect(events.at(-2)).toMatchObject({ error: { code: 'exited' } });
      expect(events.at(-4)).toMatchObject({ is_error: true });
      expect(await stand.processes()).toBe(0);
      expect((await stand.notes()).filter(({ prompt }) => prompt)).toHaveLength(1);
    },
  );

  it('that cannot be started is tried three times, then the turn is given up', async () => {
    const program = { command: 'no-such-agent' };
    const stand = await createStand({ protocol: 'acp', program, clock: createHastyClock(20) });
    await stand.say('hello');
    const events = await stand.idle();
    expect(
      ofType(events, 'session.error').map(({ error }) => (error as any).retry_status.type),
    ).toEqual(['retrying', 'retrying', 'exhausted']);
    expect(events.at(-1)).toMatchObject({ stop_reason: { type: 'retries_exhausted' } });
  });

  it('that is never ready is ended by an interrupt, too', async () => {
    const stand = await createStand({ protocol: 'acp', env: { NEVER_READY: '1' } });
    await stand.say('hello');
    await eventually(async () => (await stand.notes()).length > 0, 15_000);
    await stand.send({ type: 'user.interrupt' });
    const events = await stand.idle();
    expect(events.at(-1)).toMatchObject({ stop_reason: { type: 'end_turn' } });
    expect(await stand.processes()).toBe(0);
  });

  it('is told as unavailable when the operator does not declare it', async () => {
    const stand = await createStand({ protocol: 'acp', agent: { harness: 'other' } });
    await stand.say('hello');
    const events = await stand.idle();
    expect(ofType(events, 'session.error')[0]).toMatchObject({ error: { code: 'unavailable' } });
  });

  const carried = (directory: string): InlineHarness => ({
    name: 'mine',
    command: process.execPath,
    args: [fileURLToPath(new URL('./programs/lines.mjs', import.meta.url))],
    env: { NOTES: join(directory, 'notes') },
    protocol: 'jsonl',
  });

  it(
    verifies(
      'harness.declared-by-operator',
      'that the Agent carries is run where the operator says so, and nowhere else',
    ),
    async () => {
      const directory = await mkdtemp(join(tmpdir(), 'harness-'));
      const agent = { harness: carried(directory) };
      const options = { protocol: 'jsonl', agent, directory } as const;
      const allowed = await createStand({ ...options, harnessesInline: true });
      await allowed.say('speak');
      expect(ofType(await allowed.idle(), 'agent.message')).not.toEqual([]);
      await allowed.stop();

      const refused = await createStand(options);
      await refused.say('speak');
      const events = await refused.idle();
      expect(ofType(events, 'session.error')).toMatchObject([{ error: { code: 'unavailable' } }]);
      expect(await refused.notes()).toEqual([]);
    },
  );

  it(
    verifies('harness.process-lifecycle', 'ends with its Session, and so does its directory'),
    async () => {
      const stand = await createStand({ protocol: 'acp' });
      await stand.say('hello');
      await stand.idle();
      expect(await stand.processes()).toBe(1);
      await stand.sessions.archive(ORGANIZATION, stand.session.id);
      await eventually(async () => (await stand.processes()) === 0);
      await eventually(async () => (await readdir(join(stand.directory, 'work'))).length === 0);
    },
  );

  it('is ended in mid turn when its Session is deleted', async () => {
    const stand = await createStand({ protocol: 'acp' });
    await hang(stand, 'hang', 2);
    await stand.sessions.remove(ORGANIZATION, stand.session.id);
    await eventually(async () => (await stand.processes()) === 0);
    await eventually(async () => (await readdir(join(stand.directory, 'work'))).length === 0);
  });

  it(
    verifies(
      'harness.process-lifecycle',
      'ends with the gateway; the turn ends as interrupted at its next start',
    ),
    async () => {
      const stand = await createLoneStand({ protocol: 'acp' });
      await hang(stand, 'hang', 2);
      await stand.stop();
      expect(await stand.processes()).toBe(0);
      expect(typesOf(await stand.events()).at(-1)).toBe('span.model_request_start');

      const { directory, store } = stand;
      const next = await createStand({ protocol: 'acp', directory, store });
      await eventually(async () => {
        const events = await stand.events();
        return typesOf(events).at(-1) === 'session.status_idle';
      }, 20_000);
      const events = await stand.events();
      expect(events.slice(-3)).toMatchObject([
        { type: 'span.model_request_end', is_error: true },
        { type: 'session.error', error: { code: 'interrupted' } },
        { type: 'session.status_idle', stop_reason: { type: 'retries_exhausted' } },
      ]);
      expect(await next.notes()).toEqual([]);
    },
  );

  it('is told each of the messages that were sent at once in a turn of its own', async () => {
    const stand = await createStand({ protocol: 'acp' });
    await Promise.all([stand.say('one'), stand.say('two'), stand.say('three')]);
    const events = await stand.idle(3);
    const answers = ofType(events, 'agent.message').map(({ content }: any) => content[0].text);
    expect(answers).toEqual(['You said one', 'You said two', 'You said three']);
    expect(events.findLastIndex(({ type }) => type === 'session.status_idle')).toBe(
      events.length - 1,
    );
  });

  it('tells a fresh process what was said before', async () => {
    const stand = await createStand({ protocol: 'jsonl' });
    await stand.say('speak');
    await stand.idle();
    await stand.say('garbage');
    await stand.idle(2);
    await stand.say('speak');
    await stand.idle(3);
    const turns = (await stand.notes()).filter(({ type }) => type === 'turn');
    expect(turns.map(({ history }) => history?.map(({ role }: any) => role))).toEqual([
      [],
      undefined,
      ['user', 'agent', 'tool', 'agent'],
    ]);
    expect(turns[2].input.map(({ content }: any) => content[0].text)).toEqual(['garbage', 'speak']);
  });
});

const HOST = fileURLToPath(new URL('./host-process.ts', import.meta.url));

describe('a gateway that is killed', () => {
  it(
    verifies('harness.process-lifecycle', 'leaves no process behind, whatever the harness did'),
    async () => {
      const directory = await directoryOfTest();
      const host = await forkScript(await bundleScript(HOST), [directory]);
      await eventually(async () => (await readNotes(directory)).includes('stubborn'), 20_000);
      await eventually(async () => (await countProcesses(directory)) >= 3);
      host.kill('SIGKILL');
      await once(host, 'exit');
      await eventually(async () => (await countProcesses(directory)) === 0, 10_000);
    },
  );
});

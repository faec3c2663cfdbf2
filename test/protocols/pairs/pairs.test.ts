import { Buffer } from 'node:buffer';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { WIRES } from '../../fixtures/wire/recorded.ts';
import type { Recorded } from '../../fixtures/wire/recorded.ts';
import type { ClientRow, Said } from '../../e2e/matrix/client.ts';
import { CLIENTS, OLDER_CLIENTS } from '../../e2e/matrix/clients.ts';
import { verifies } from '../../requirements.ts';
import { IS_ALL, numberOfCommit } from '../../runs.ts';
import { layOut } from './lay-out.ts';
import { PAIR_CASES, PROOFS, toText } from './pair-cases.ts';
import { PairStage } from './pair-stage.ts';
import type { Turn } from './pair-stage.ts';

// `npx vitest run test/protocols/pairs -u` writes them; read the difference.
const FOLDER = fileURLToPath(new URL('../../fixtures/pairs/', import.meta.url));
const RECORDED = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' });
const PROVIDERS = Object.keys(WIRES) as Recorded[];

function casesOf(clients: readonly ClientRow[], names = Object.keys(PAIR_CASES)) {
  const pairs = clients.flatMap((client) => PROVIDERS.map((provider) => ({ client, provider })));
  return pairs.flatMap(({ client, provider }) =>
    names.flatMap((name) => {
      const one = PAIR_CASES[name];
      const file = `${client.id}-${provider}/${name}.json`;
      const isOne = one && (one.of?.({ client, provider }) ?? true);
      return isOne ? [{ ...one, client, provider, file }] : [];
    }),
  );
}

type Case = ReturnType<typeof casesOf>[number];

const CASES = casesOf(CLIENTS);
/** Libraries of other versions write the members of some requests in another order. */
const OLDER_CASES = casesOf(OLDER_CLIENTS, ['two-calls', 'woven', 'cited', 'counted', 'refused']);

/** How the tokens begin by which clients of other protocols hold such proofs. */
const TOKEN = Buffer.from('GWR1["').toString('base64');

/** Types and indexes of the events that a client of Messages got; a block with its deltas is one word. */
function orderOf({ answered }: Turn): string {
  const passages = JSON.parse(answered['events'] ?? '[]') as { got?: object; forwarded?: object }[];
  const events = passages.flatMap(({ got, forwarded = got ?? [] }) => forwarded) as MessagesEvent[];
  const types = events.map(({ data: { type, index = '' } }) => `${type}${index}`);
  return types
    .filter((type) => type !== 'ping')
    .join(' ')
    .replaceAll(BLOCK, 'block$1');
}

interface MessagesEvent {
  data: { type: string; index?: number };
}

const BLOCK = /content_block_start(\d+) (?:content_block_delta\1 )*content_block_stop\1/g;

/** What a library must show of an answer in either form. */
function alike({ text, thought, refusal, stop, calls }: Said): object {
  return { text, thought, refusal, stop, calls: calls.map(toArguments) };
}

function toArguments({ arguments: given }: { arguments: unknown }): unknown {
  return typeof given === 'string' ? JSON.parse(given || '{}') : given;
}

describe('a recorded pair of a client and a provider', () => {
  const stage = new PairStage();
  beforeAll(() => void vi.stubGlobal('fetch', stage.fetch));
  afterAll(() => void vi.unstubAllGlobals());

  /** What passed in the streamed form of a case. */
  const passed = new Map<Case, readonly Turn[]>();
  const play = async (one: Case): Promise<string> => {
    const forms: Record<string, readonly Turn[]> = {};
    const said: Said[][] = [];
    for (const stream of [false, true]) {
      stage.begin();
      said.push(await one.play(stage, { ...one, stream }));
      forms[stream ? 'streamed' : 'whole'] = stage.turns;
    }
    passed.set(one, forms['streamed'] ?? []);
    const [whole = [], streamed = []] = said;
    expect(streamed.map(alike)).toEqual(whole.map(alike));
    const { calls, ...words } = one.shows ?? {};
    if (one.shows) expect(whole[0]).toMatchObject(words);
    if (calls) expect(whole[0]?.calls.map(toArguments)).toEqual(calls.map(toArguments));
    return layOut(toText(forms));
  };
  const streamedTurns = async (one: Case): Promise<readonly Turn[]> => {
    if (!passed.has(one)) await play(one);
    return passed.get(one) ?? [];
  };

  it('has a file for every case, and none beside them', () => {
    const files = RECORDED.filter((name) => name.endsWith('.json'));
    expect(files.sort()).toEqual(CASES.map(({ file }) => file).sort());
  });

  it.each(CASES)(
    verifies(
      'routing.translation.pairs',
      'routing.response-model-logical',
      'chat.request.translated-fields',
      'chat.finish-reason.mapping',
      'chat.stream.tool-index',
      'messages.request.role-system',
      'messages.stop-reason.mapping',
      'messages.stream.tool-fragments',
      'messages.thinking.round-trip',
      'gencontent.thought-signature',
      'gencontent.translated.supported',
      'is translated as it was: $file',
    ),
    async (one) => {
      await expect(await play(one)).toMatchFileSnapshot(FOLDER + one.file);
    },
  );

  // A third of them in each commit.
  it.each(OLDER_CASES.filter((_, at) => IS_ALL || (at + numberOfCommit()) % 3 === 0))(
    verifies(
      'routing.translation.pairs',
      'is translated for an older library as for the current one: $client.library, $file',
    ),
    async (one) => {
      const recorded = readFileSync(FOLDER + one.file, 'utf8');
      expect(JSON.parse(await play(one))).toEqual(JSON.parse(recorded));
    },
  );

  it.each(CASES.filter(({ file }) => file.endsWith('moved.json')))(
    verifies(
      'routing.translation.pairs',
      'keeps reasoning from a provider that did not sign it: $file',
    ),
    async (one) => {
      for (const { asked } of await streamedTurns(one)) {
        const from = JSON.parse(asked['from'] ?? '') as Recorded;
        for (const proof of [...PROOFS[from], TOKEN]) expect(asked['sent']).not.toContain(proof);
        expect(asked['losses']).not.toBe('[]');
      }
    },
  );

  it.each(CASES.filter(({ client, shows }) => client.id === 'messages' && shows?.calls))(
    verifies('messages.stream.order', 'streams Messages in the order of the protocol: $file'),
    async (one) => {
      const order = orderOf((await streamedTurns(one))[0] as Turn);
      const blocks = order.split(' ').length - 3;
      expect(blocks).toBeGreaterThanOrEqual(one.shows?.calls?.length ?? 1);
      const words = Array.from({ length: blocks }, (_, index) => `block${index}`);
      expect(order).toBe(['message_start', ...words, 'message_delta message_stop'].join(' '));
    },
  );
});

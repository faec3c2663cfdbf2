import type { Buffer } from 'node:buffer';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Protocol } from '../../../src/protocols/registry.ts';
import type { SurfaceRow } from '../../conformance/surface.ts';
import { ROWS } from '../../protocols/translation-rows.ts';
import { verifies } from '../../requirements.ts';
import { runsOf, SEED } from '../../runs.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { askRaw } from '../../support/raw-client.ts';
import type { RawAnswer } from '../../support/raw-client.ts';
import {
  expectCleanLog,
  expectFamilyAnswer,
  expectSettled,
  FAMILY_ROWS,
  modesOf,
  titleOf,
} from './families.ts';
import type { Outcome } from './families.ts';
import { startHostileUpstream } from './hostile-upstream.ts';
import type { HostileScript, HostileUpstream } from './hostile-upstream.ts';
import { brokenScript, cutScript, tidyScript, validAnswers } from './provider-answers.ts';

/** For each pair of client and provider. */
const RUNS = runsOf(6, 60);
const BROKEN = { numRuns: RUNS, seed: SEED, endOnFailure: true };
const CUT = { ...BROKEN, numRuns: Math.ceil(RUNS * 0.4) };
const TIDY = { ...BROKEN, numRuns: Math.ceil(RUNS / 5) };
const LONG = { timeout: 150_000 + RUNS * 4_000 };
const IDLE = '60ms';

let upstream: HostileUpstream;
let gateway: TestGateway;

const rowOf = (protocol: Protocol): SurfaceRow =>
  FAMILY_ROWS.find((row) => row.protocol === protocol) as SurfaceRow;

/** Every family beside the providers of its own protocol and of those that it is translated to. */
const PAIRS = FAMILY_ROWS.flatMap((client) => {
  const isTranslated = ROWS.some(({ id }) => id === client.protocol);
  const others = isTranslated ? ROWS.filter(({ id }) => id !== client.protocol) : [];
  return [client, ...others.map(({ id }) => rowOf(id))].map(
    (provider) => [`${titleOf(client)} from ${titleOf(provider)}`, client, provider] as const,
  );
});

beforeAll(async () => {
  upstream = await startHostileUpstream();
  const protocols = [...new Set(FAMILY_ROWS.map(({ protocol }) => protocol))];
  gateway = await startGateway({
    server: {
      limits: { interaction_wait: '100ms' },
      timeouts: { first_content: IDLE, idle: IDLE, total: '2s' },
    },
    providers: protocols.map((protocol) => ({
      name: protocol,
      type: 'custom',
      base_url: upstream.url,
      auth: { type: 'none' },
      protocols: { [protocol]: { path: rowOf(protocol).upstreamPath } },
    })),
    models: protocols.flatMap((protocol) => {
      const type = rowOf(protocol).modelType ?? 'llm';
      const route = { provider: protocol, upstream_model: 'up', pricing: 'free' };
      const routes = [{ ...route, mapping: 'translated' }];
      const timeouts = { first_content: '5s', idle: '5s', total: '5s' };
      return [
        { name: `hasty/${protocol}`, type, routes },
        { name: `patient/${protocol}`, type, routes, timeouts },
      ];
    }),
  });
});
afterAll(async () => {
  await gateway.stop();
  await upstream.close();
});

interface Pair {
  client: SurfaceRow;
  provider: SurfaceRow;
  stream: boolean;
}

async function ask({ client, provider, stream }: Pair, { end }: HostileScript): Promise<RawAnswer> {
  // Silence costs its timeout, and must cost nothing else.
  const model = `${end === 'hang' ? 'hasty' : 'patient'}/${provider.protocol}`;
  const headers = { ...client.carriers[0]?.(gateway.clientKey).headers };
  if (client.contentType !== undefined) headers['content-type'] = client.contentType;
  const body = client.body(model, stream);
  return askRaw(gateway.url + client.path(model, stream), { headers, body });
}

const RESULTS = { answer: 'ok', whole: 'ok', error: 'interrupted', refusal: 'error' };
/** Answers whose records are not looked at yet: they are final a moment after the answer. */
const answered: { answer: RawAnswer; outcome: Outcome }[] = [];

/** Whatever the provider does: an answer of the family, in time. */
async function outcomeOf(pair: Pair, script: HostileScript): Promise<Outcome> {
  upstream.play(script);
  const startedAt = performance.now();
  const answer = await ask(pair, script);
  expect(performance.now() - startedAt).toBeLessThan(4_000);
  expect(answer.status, answer.body.toString('utf8')).not.toBe(500);
  const outcome = expectFamilyAnswer(pair.client, answer);
  answered.push({ answer, outcome });
  return outcome;
}

/** Makes calls, each of which has a record that becomes final and says how it ended. */
async function callMany(
  scripts: fc.Arbitrary<HostileScript>,
  call: (script: HostileScript) => Promise<void>,
  parameters: typeof BROKEN,
): Promise<void> {
  answered.length = 0;
  await fc.assert(fc.asyncProperty(scripts, call), parameters);
  for (const { answer, outcome } of answered)
    expect(await expectSettled(gateway, answer), answer.body.toString('utf8')).toBe(
      RESULTS[outcome],
    );
}

describe.each(PAIRS)('%s', (_title, client, provider) => {
  for (const stream of modesOf(client)) {
    const pair = { client, provider, stream };
    const mode = stream ? 'a stream' : 'an answer';
    const scripts = (make: (bytes: Buffer) => fc.Arbitrary<HostileScript>) =>
      validAnswers(provider, stream).chain(make);

    it(verifies('ops.unhandled', `survives ${mode} that is broken in any way`), LONG, async () => {
      const broken = scripts((bytes) => brokenScript(bytes, stream));
      await callMany(broken, async (script) => void (await outcomeOf(pair, script)), BROKEN);
      expectCleanLog(gateway);
    });

    it(`reads ${mode} alike in all pieces and framings`, LONG, async () => {
      const tidy = scripts((bytes) => tidyScript(bytes, stream));
      const call = async (script: HostileScript): Promise<void> => {
        expect(await outcomeOf(pair, script)).toBe(stream ? 'whole' : 'answer');
      };
      await callMany(tidy, call, TIDY);
    });

    if (!stream) continue;
    it('never ends tidily what was cut', LONG, async () => {
      const cut = scripts((bytes) => cutScript(provider.protocol, bytes));
      const call = async (script: HostileScript): Promise<void> => {
        expect(await outcomeOf(pair, script)).toMatch(/^(?:error|refusal)$/);
      };
      await callMany(cut, call, CUT);
    });
  }
});

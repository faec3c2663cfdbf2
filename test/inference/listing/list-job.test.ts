import { describe, expect, it } from 'vitest';
import { createListJob, toListJob } from '../../../src/inference/listing/list-job.ts';
import type { ListJobDeps } from '../../../src/inference/listing/list-job.ts';
import type { ListedModel } from '../../../src/providers/listing/listed-model.ts';
import { PROVIDERS } from '../../../src/providers/registry.ts';
import type { Transport } from '../../../src/upstream/transport.ts';
import { fakeAccount } from '../../support/catalog.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

/** Answers each path with the next of its answers; remembers what was asked. */
function transportOf(answers: unknown[]): Transport & { asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    send(request, sink) {
      asked.push(`${request.url.pathname}${request.url.search}`);
      const answer = answers.shift();
      queueMicrotask(() => {
        sink.onHead(answer === undefined ? 503 : 200, {});
        sink.onData(Buffer.from(JSON.stringify(answer ?? {})));
        sink.onEnd();
      });
      return { abort: () => undefined, pause: () => undefined, resume: () => undefined };
    },
    close: async () => undefined,
  };
}

function jobOf(type: string, answers: unknown[], given: Partial<ListJobDeps> = {}) {
  const definition = PROVIDERS.get(type) ?? expect.fail('no such type');
  const account = fakeAccount(type, { definition, baseUrl: definition.baseUrl ?? 'http://a/v1' });
  const transport = transportOf(answers);
  const kept: (readonly ListedModel[] | 'forgotten')[] = [];
  const failures: string[] = [];
  const faults: string[] = [];
  const handler = createListJob({
    clock: createFakeClock(),
    random: () => 0.5,
    lists: {
      keep: async (_id, models) => void kept.push(models),
      fail: async (id, reason) => void faults.push(`${id}: ${reason}`),
      forget: async () => void kept.push('forgotten'),
    },
    find: () => ({ account, version: 3 }),
    transportFor: () => transport,
    onFailure: (provider, error) => failures.push(`${provider}: ${String(error)}`),
    ...given,
  });
  let { payload } = toListJob({ account, version: 3 });
  const go = async () => {
    const job = { ...toListJob({ account, version: 3 }), payload };
    const signal = new AbortController().signal;
    const result = await handler({ job, attempt: 1, failures: 0, signal });
    if (typeof result === 'object' && 'payload' in result) payload = result.payload ?? payload;
    return result;
  };
  return { go, kept, failures, faults, asked: transport.asked };
}

const names = (kept: readonly ListedModel[] | 'forgotten' | undefined) =>
  kept === 'forgotten' ? kept : kept?.map(({ name }) => name);

describe('the list of a provider', () => {
  it('is kept by name and asked for again', async () => {
    const data = [{ id: 'b', created: 5 }, { id: 'a' }, { id: 'a' }, { id: 'not a name' }, 7];
    const { go, kept, asked } = jobOf('openai', [{ data }]);
    expect(await go()).toMatchObject({ againInMs: 600_000 });
    expect(asked).toEqual(['/v1/models']);
    expect(kept).toEqual([[{ name: 'a' }, { name: 'b', created: 5 }]]);
  });

  it('is read page by page where the vendor has pages', async () => {
    const anthropic = jobOf('anthropic', [
      {
        data: [{ id: 'claude-1', created_at: '2026-01-01T00:00:00Z' }],
        has_more: true,
        last_id: 'x',
      },
      { data: [{ id: 'claude-2' }], has_more: false, last_id: 'y' },
    ]);
    await anthropic.go();
    expect(anthropic.asked).toEqual(['/v1/models?limit=1000', '/v1/models?limit=1000&after_id=x']);
    expect(anthropic.kept[0]).toMatchObject([{ name: 'claude-1', created: 1_767_225_600 }, {}]);
    const google = jobOf('google', [
      { models: [{ name: 'models/gemini-1' }], nextPageToken: 't' },
      { models: [{ name: 'models/gemini-2' }] },
    ]);
    await google.go();
    expect(google.asked.at(-1)).toBe('/v1beta/models?pageSize=1000&pageToken=t');
    expect(names(google.kept[0])).toEqual(['gemini-1', 'gemini-2']);
  });

  it('may be an array, as some servers answer', async () => {
    const { go, kept } = jobOf('together', [[{ id: 'a/b' }]]);
    await go();
    expect(names(kept[0])).toEqual(['a/b']);
  });

  it('ends at 5,000 names', async () => {
    const data = Array.from({ length: 6_000 }, (_, i) => ({ id: `m${i}` }));
    const { go, kept } = jobOf('ollama', [{ data }]);
    await go();
    expect(kept[0]).toHaveLength(5_000);
  });

  it('changes nothing when it fails, is told of once, and is tried again later and later', async () => {
    const { go, kept, failures, faults } = jobOf('openai', [
      { error: 'no list' },
      undefined,
      undefined,
    ]);
    const pauses: unknown[] = [];
    for (let i = 0; i < 8; i++) pauses.push(((await go()) as { againInMs: number }).againInMs);
    expect(pauses).toEqual([15, 30, 60, 120, 240, 480, 600, 600].map((s) => s * 1_000));
    expect(kept).toEqual([]);
    expect(failures).toEqual(['openai: Error: the answer is no list of models']);
    expect(faults).toEqual([expect.stringMatching(/: the answer is no list of models$/)]);
  });

  it('belongs to one version of its provider, and goes with it', async () => {
    const account = fakeAccount('openai');
    expect(await jobOf('openai', [], { find: () => ({ account, version: 4 }) }).go()).toBe('done');
    const behind = jobOf('openai', [], { find: () => ({ account, version: 2 }) });
    expect(await behind.go()).toEqual({ againInMs: 1_000 });
    const gone = jobOf('openai', [], { find: () => undefined });
    expect(await gone.go()).toBe('done');
    expect(gone.kept).toEqual(['forgotten']);
  });
});

it('every type of provider says where its list is, or has none', () => {
  const without = [...PROVIDERS.values()].filter(({ models }) => !models).map(({ id }) => id);
  expect(without).toEqual(['azure-openai', 'cohere', 'mock']);
});

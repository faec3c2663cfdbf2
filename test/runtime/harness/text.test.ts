import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineSplitter } from '../../../src/runtime/process/line-splitter.ts';
import { OpenText } from '../../../src/runtime/harness/open-text.ts';
import { toProcessEnvironment } from '../../../src/runtime/process/process-environment.ts';
import { Scrubber } from '../../../src/runtime/harness/scrubber.ts';
import { createToolPolicy } from '../../../src/runtime/harness/tool-policy.ts';
import { FakeSession } from '../fake-log.ts';

/** The pieces of a text that is cut at the places. */
function cut<T extends string | Buffer>(whole: T, places: readonly number[]): T[] {
  const at = [0, ...places.map((place) => place % (whole.length + 1)), whole.length];
  at.sort((a, b) => a - b);
  return at.slice(1).map((end, index) => whole.slice(at[index], end) as T);
}

const places = fc.array(fc.nat(), { maxLength: 8 });

describe('the lines of an output', () => {
  it('are the same however the bytes come', () => {
    const line = fc
      .string({ unit: 'grapheme', maxLength: 20 })
      .map((one) => one.replaceAll('\n', ''));
    fc.assert(
      fc.property(fc.array(line), places, (lines, at) => {
        const splitter = new LineSplitter(1_000);
        const chunks = cut(Buffer.from(lines.map((one) => `${one}\n`).join('')), at);
        const found = chunks.flatMap((chunk) => [...splitter.push(chunk)]);
        expect(found).toEqual(lines.map((text) => ({ text, isCut: false })));
        expect(splitter.end()).toBe('');
      }),
    );
  });

  it('come with their beginning alone when they are too long', () => {
    fc.assert(
      fc.property(places, (at) => {
        const splitter = new LineSplitter(4);
        const found = cut(Buffer.from('abcd\nabcdefgh\nxy\nrest'), at).flatMap((chunk) => [
          ...splitter.push(chunk),
        ]);
        expect(found).toEqual([
          { text: 'abcd', isCut: false },
          { text: 'abcd', isCut: true },
          { text: 'xy', isCut: false },
        ]);
        expect(splitter.end()).toBe('rest');
      }),
    );
  });
});

describe('a text that is shown while it comes', () => {
  it('never shows a secret or an inner name, wherever it is cut', () => {
    const part = fc.constantFrom('key-123456', 'key-12', 'inner-1', 'inner', 'k', ' so ', 'ke');
    fc.assert(
      fc.property(fc.array(part), places, (parts, at) => {
        const session = new FakeSession();
        const scrubber = new Scrubber(['key-123456']);
        scrubber.rename('inner-1', 'sess_1');
        const text = new OpenText('agent.message', session.open(), scrubber);
        for (const piece of cut(parts.join(''), at)) text.add(piece);
        const [event] = text.toEvents();
        const shown = session.shown
          .filter(({ type }) => type === 'event_delta')
          .map(({ delta }) => (delta as any).content.text)
          .join('');
        expect(shown).toBe(((event?.['content'] as any) ?? [{ text: '' }])[0].text);
        expect(shown).not.toMatch(/key-123456|inner-1/);
      }),
    );
  });
});

describe('the environment of a harness', () => {
  it('holds little of the gateway and no variable that a caller could misuse', () => {
    const environment = toProcessEnvironment({
      inherited: { PATH: '/bin', HOME: '/root', GATEWAY_MASTER_KEY: 'x', OPENAI_API_KEY: 'y' },
      declared: { MODE: 'fast', AGENT_TOKEN: 'own' },
      credentials: { AGENT_TOKEN: 'theirs', LD_PRELOAD: '/x.so', NODE_OPTIONS: '-r x', PATH: '/y' },
    });
    expect(environment).toEqual({
      PATH: '/bin',
      HOME: '/root',
      MODE: 'fast',
      AGENT_TOKEN: 'theirs',
    });
  });
});

describe('the policy of an Agent for the tools of a harness', () => {
  it('goes by the tool, then by the default, and allows what nothing is said of', () => {
    const policy = createToolPolicy([
      {
        type: 'agent_toolset_20260401',
        default_config: { permission_policy: { type: 'always_ask' } },
        configs: [
          { name: 'read', permission_policy: { type: 'auto' } },
          { name: 'bash', enabled: false },
        ],
      },
    ]);
    expect(['read', 'bash', 'edit'].map((name) => policy([name]))).toEqual([
      'allow',
      'deny',
      'ask',
    ]);
    expect(createToolPolicy([])(['bash'])).toBe('allow');
  });
});

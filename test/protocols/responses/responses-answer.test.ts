import { Buffer } from 'node:buffer';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Answer } from '../../../src/protocols/protocol.ts';
import { responses } from '../../../src/protocols/responses/parts.ts';
import { verifies } from '../../requirements.ts';
import { ANSWER, fakePeek, atOnce } from '../../support/protocols.ts';
import { mutatedJson } from '../mutations.ts';
import { USAGE, call, message, reasoning, response } from './responses-fixtures.ts';

const PEEK = fakePeek({ model: 'acme/größe' });
const read = (body: string | Buffer): Answer | undefined =>
  atOnce(responses.readAnswer(Buffer.from(body), PEEK, ANSWER));
const text = (answer: Answer | undefined): string => answer?.body.toString() ?? '';
const finished = (extra: object = {}): string =>
  JSON.stringify(response({ status: 'completed', output: [message('hi')], ...extra }));

const SECRET = { account: 'acct_secret', cost: 0.001 };

describe('a Responses answer', () => {
  it(verifies('responses.response.public-only', 'keeps every byte of what stays'), () => {
    const body = `\n{ "id" : "resp_1", "object":"response","output":[
        {"type":"message","id":"m","content":[{"type":"output_text","text":"Gr\\u00fc\\u00dfe 🌍","annotations":[]}]}],
        "metadata":{"1.0":"x","billing":"mine"}, "created_at":1.0, "temperature":1E0,"usage":{"input_tokens":9007199254740993},
        "model":"acme/größe" }\n`;
    expect(text(read(body))).toBe(body);
  });

  it(
    verifies(
      'responses.response.public-only',
      'tells why it failed without what must not be shown',
    ),
    () => {
      const error = { code: 'invalid_prompt', message: 'key sk-proj-abc123def456 at 10.0.0.7' };
      const shown = text(read(finished({ status: 'failed', error })));
      expect(shown).toContain('invalid_prompt');
      expect(shown).not.toMatch(/sk-proj|10\.0\.0\.7/);
    },
  );

  it(
    verifies('responses.response.public-only', 'loses unknown members wherever they stand'),
    () => {
      const item = { ...message('hi'), routing: SECRET };
      const body = JSON.stringify({
        provider: SECRET,
        ...response({
          status: 'completed',
          output: [{ ...item, content: [{ x_cost: 1, type: 'output_text', text: 'hi' }] }],
          usage: { ...USAGE, cost_details: SECRET },
          tools: [{ type: 'function', name: 'f', parameters: { account: {} }, route: SECRET }],
          reasoning: { effort: 'low', billing: SECRET },
        }),
        billing: SECRET,
        'mod\\el': SECRET,
      });
      const answer = JSON.parse(text(read(body))) as Record<string, unknown>;
      expect(answer).toEqual(
        response({
          model: 'acme/größe',
          status: 'completed',
          output: [{ ...message('hi'), content: [{ type: 'output_text', text: 'hi' }] }],
          usage: USAGE,
          tools: [{ type: 'function', name: 'f', parameters: { account: {} } }],
          reasoning: { effort: 'low' },
        }),
      );
    },
  );

  it.each([
    [{}, undefined, true],
    [{}, false, false],
    [{ unstored: true }, undefined, false],
    [{ unstored: true, background: true }, false, true],
  ] as const)(
    verifies('responses.background', 'of a request %j with `store` %j can be asked for: %j'),
    (asked, store, stored) => {
      const body = Buffer.from(finished({ store, output: [message('hi')] }));
      const peek = fakePeek({ model: 'acme/größe', ...asked });
      expect(atOnce(responses.readAnswer(body, peek, ANSWER))?.stored).toBe(stored);
    },
  );

  it('carries the logical model, reads usage and is pinned to its provider', () => {
    const output = [reasoning('gAAA'), message('héllo'), call('f')];
    const answer = read(finished({ output, usage: USAGE }));
    expect(JSON.parse(text(answer))).toMatchObject({ model: 'acme/größe' });
    expect(answer?.usage).toMatchObject({
      input: 12,
      cacheRead: 5,
      cacheWrite5m: 3,
      output: 9,
      reasoning: 4,
    });
    expect(answer?.outputChars).toBe('héllo{"n":1.0}'.length);
    expect(answer?.pins).toEqual([
      'response:resp_1',
      'item:rs_1',
      expect.stringMatching(/^encrypted:.{43}$/),
      'item:msg_1',
      'item:fc_1',
    ]);
    const pinsOf = (input: unknown): readonly string[] | undefined =>
      responses.peek(
        Buffer.from(JSON.stringify({ model: 'm', input, previous_response_id: 'resp_1' })),
      ).pins;
    const items = answer?.pins?.filter((name) => name.startsWith('item:'));
    const references = output.map(({ id }) => ({ type: 'item_reference', id }));
    expect(pinsOf(references)).toEqual([...(items ?? []), 'response:resp_1']);
    const others = answer?.pins?.filter((name) => !name.startsWith('item:'));
    expect(pinsOf(output)?.toSorted()).toEqual([...(others ?? [])].sort());
  });

  it('leaves no items at a provider that does not store them', () => {
    const answer = read(finished({ output: [reasoning('gAAA'), message('hi')], store: false }));
    expect(answer?.pins).toEqual(['response:resp_1', expect.stringMatching(/^encrypted:/)]);
  });

  it('is pinned by no more than 256 names, its own first', () => {
    const output = Array.from({ length: 400 }, (_, index) => message('x', `msg_${index}`));
    const pins = read(finished({ output }))?.pins;
    expect(pins).toHaveLength(256);
    expect(pins?.[0]).toBe('response:resp_1');
  });

  it(verifies('responses.stream.no-dangling-items', 'leaves private items out as a whole'), () => {
    const output = [{ type: 'x_router_call', id: 'x', ...SECRET }, message('hi'), null, 7];
    expect((JSON.parse(text(read(finished({ output })))) as { output: unknown }).output).toEqual([
      message('hi'),
      null,
      7,
    ]);
  });

  it.each([
    ['no JSON', '{"id":"resp_1"'],
    ['a page', '<html>acct_secret</html>'],
    ['a list', '[]'],
    ['an error', '{"error":{"message":"acct_secret"}}'],
    ['another object', '{"id":"x","object":"chat.completion","choices":[],"output":[]}'],
    ['no output', '{"id":"resp_1","object":"response"}'],
    ['no id', '{"object":"response","output":[]}'],
    ['a failure of the provider', finished({ status: 'failed', error: { code: 'server_error' } })],
    ['a failure without a reason', finished({ status: 'failed', error: null })],
    ['bytes that are no text', Buffer.concat([Buffer.from(finished()), Buffer.from([0xff])])],
  ])(verifies('responses.response.fail-closed', 'that is %s is none'), (_what, body) => {
    expect(read(body)).toBeUndefined();
  });

  it('tells the client of a fault that lies in its request', () => {
    const error = { code: 'invalid_image_url', message: 'no image there' };
    const answer = read(finished({ status: 'failed', output: [], error }));
    expect(JSON.parse(text(answer))).toMatchObject({ status: 'failed', error });
  });

  it('may be nested as deeply as it likes', async () => {
    const deep = `${'{"content":['.repeat(50_000)}${']}'.repeat(50_000)}`;
    const body = `{"id":"resp_1","object":"response","output":[${deep}],"x":${deep}}`;
    const answer = await responses.readAnswer(Buffer.from(body), PEEK, ANSWER);
    expect(text(answer)).toBe('{"id":"resp_1","object":"response","output":[]}');
  });

  it('is JSON without a foreign byte, whatever the provider sends', () => {
    const whole = finished({ output: [reasoning(), message('hi'), call('f')], usage: USAGE });
    fc.assert(
      fc.property(mutatedJson(whole), (body) => {
        const answer = read(body);
        if (answer) expect(JSON.parse(text(answer))).toMatchObject({ object: 'response' });
      }),
      { numRuns: 500 },
    );
  });
});

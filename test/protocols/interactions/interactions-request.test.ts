import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { forwardBody } from '../../../src/protocols/forward-body.ts';
import { GatewayError } from '../../../src/core/errors.ts';
import {
  isBackground,
  isStored,
  peekInteractions,
} from '../../../src/protocols/interactions/interactions-request.ts';
import { verifies } from '../../requirements.ts';
import { encodeOptions } from '../../support/protocols.ts';

const peek = (body: unknown) =>
  peekInteractions(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)));

const refusal = (body: unknown): GatewayError => {
  try {
    peek(body);
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error('was not refused');
};

describe('an Interactions request', () => {
  it.each([
    { fault: 'no model', body: { input: 'x' }, param: 'model' },
    { fault: 'an agent', body: { agent: 'deep-research', input: 'x' }, param: 'agent' },
    {
      fault: 'an agent beside a model',
      body: { model: 'm', agent: 'a', input: 'x' },
      param: 'agent',
    },
    { fault: 'no input', body: { model: 'm' }, param: 'input' },
    { fault: 'null for input', body: { model: 'm', input: null }, param: 'input' },
    { fault: 'a number for input', body: { model: 'm', input: 5 }, param: 'input' },
  ])(verifies('interactions.create.required', 'is refused with $fault'), ({ body, param }) => {
    expect(refusal(body)).toMatchObject({ status: 400, param });
  });

  it.each([
    { fault: 'a stream that is no boolean', rest: { stream: 'yes' }, param: 'stream' },
    { fault: 'a background that is no boolean', rest: { background: 1 }, param: 'background' },
    {
      fault: 'an earlier interaction that is no string',
      rest: { previous_interaction_id: 7 },
      param: 'previous_interaction_id',
    },
    {
      fault: 'an empty earlier interaction',
      rest: { previous_interaction_id: '' },
      param: 'previous_interaction_id',
    },
  ])('is refused with $fault', ({ rest, param }) => {
    expect(refusal({ model: 'm', input: 'x', ...rest })).toMatchObject({ status: 400, param });
  });

  it(verifies('interactions.create.background-with-stream', 'cannot both stream and go on'), () => {
    const body = { model: 'm', input: 'x', stream: true, background: true };
    expect(refusal(body)).toMatchObject({ status: 400, param: 'background' });
    expect(peek({ ...body, background: false }).stream).toBe(true);
    expect(isBackground(peek({ ...body, stream: false }))).toBe(true);
  });

  it.each([
    { rest: { webhook_config: { uris: ['https://a.example'] } }, param: 'webhook_config' },
    {
      rest: { response_format: { type: 'image', delivery: 'uri' } },
      param: 'response_format.delivery',
    },
    {
      rest: { response_format: [{ type: 'text' }, { type: 'audio', delivery: 'uri' }] },
      param: 'response_format[1].delivery',
    },
  ])(
    verifies('interactions.create.fields-forwarded', 'cannot have its answer delivered: $param'),
    ({ rest, param }) => {
      expect(refusal({ model: 'm', input: 'x', ...rest })).toMatchObject({ status: 400, param });
    },
  );

  it.each(['"text"', '[{"type":"text","text":"x"}]', '{"type":"text","text":"x"}'])(
    'goes on with only the model replaced: %s',
    (input) => {
      const body = `{ "input":${input},"store":true,\n"generation_config":{"temperature":1.0,"seed":9007199254740993},"model":"acme/m","mod\\u0065":1,"response_format":[{"type":"text"}],"zzz":null }`;
      const sent = forwardBody(peek(body), encodeOptions({ model: 'up' }));
      expect(sent.toString()).toBe(body.replace('"acme/m"', '"up"'));
    },
  );

  it('may continue a decode by its token in place of input', () => {
    const body = { model: 'm', continuation_token: 't', previous_interaction_id: 'v1_1' };
    expect(peek(body).pins).toEqual(['v1_1']);
    expect(refusal({ ...body, continuation_token: '' })).toMatchObject({ param: 'input' });
  });

  it('tells its bounds and what is to be kept', () => {
    const body = { model: 'm', input: 'x', generation_config: { max_output_tokens: 12 } };
    expect(peek(body)).toMatchObject({ outputBound: 12, inputBound: JSON.stringify(body).length });
    expect(peek({ model: 'm', input: 'x' }).outputBound).toBeUndefined();
    expect(isStored(peek({ model: 'm', input: 'x', store: false }))).toBe(false);
    expect(isStored(peek({ model: 'm', input: 'x' }))).toBe(true);
  });

  it(
    verifies('errors.invalid-json', 'is refused in words of the contract, whatever is in it'),
    () => {
      const valid = JSON.stringify({
        model: 'm',
        input: [{ type: 'text', text: 'x' }],
        stream: false,
        background: true,
        previous_interaction_id: 'p',
        response_format: [{ type: 'image', delivery: 'inline' }],
        generation_config: { max_output_tokens: 5 },
      });
      const mutation = fc.record({
        at: fc.nat(valid.length),
        size: fc.nat(6),
        text: fc.oneof(
          fc.string(),
          fc.constantFrom('{', '[', '"', ',', 'null', '1e999', '\\u0000'),
        ),
      });
      fc.assert(
        fc.property(fc.array(mutation, { minLength: 1, maxLength: 4 }), (mutations) => {
          let body = valid;
          for (const { at, size, text } of mutations)
            body = body.slice(0, at) + text + body.slice(at + size);
          try {
            const asked = peekInteractions(Buffer.from(body));
            forwardBody(asked, encodeOptions());
          } catch (error) {
            expect(error).toBeInstanceOf(GatewayError);
          }
        }),
        { numRuns: 500 },
      );
    },
  );
});

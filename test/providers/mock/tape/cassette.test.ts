import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { GatewayError } from '../../../../src/core/errors.ts';
import { cassetteSchema, parseCassette } from '../../../../src/providers/mock/tape/cassette.ts';
import { createAjv } from '../../../support/schemas/create-ajv.ts';

function fault(value: unknown): GatewayError {
  try {
    parseCassette(value);
  } catch (error) {
    if (error instanceof GatewayError) return error;
  }
  throw new Error('the cassette was accepted');
}

describe('cassette', () => {
  it('reads what people write in YAML', () => {
    const cassette = parseCassette(
      parse(`
        rules:
          - match: { text: weather, turn: 1 }
            reply:
              tool_calls: [{ name: weather, arguments: { city: Oslo } }]
          - reply: { status: 429, retry_after: 2 }
      `),
    );
    expect(cassette).toEqual({
      models: ['echo'],
      rules: [
        {
          match: { text: 'weather', turn: 1 },
          reply: { tool_calls: [{ name: 'weather', arguments: { city: 'Oslo' } }] },
        },
        { reply: { status: 429, retry_after: 2 } },
      ],
    });
  });

  it.each([
    [{ rules: [{ reply: { delay_ms: -1 } }] }, 'rules[0].reply.delay_ms'],
    [{ rules: [{ reply: { chunk_delay_ms: 600_001 } }] }, 'rules[0].reply.chunk_delay_ms'],
    [{ rules: [{ reply: {} }, { match: { turn: 0 }, reply: {} }] }, 'rules[1].match.turn'],
    [{ rules: [{ reply: { status: 99 } }] }, 'rules[0].reply.status'],
    [{ rules: [{ reply: { headers: { a: 'x\r\ny: z' } } }] }, 'rules[0].reply.headers.a'],
    [{ rules: [{}] }, 'rules[0].reply'],
    [{ rules: {} }, 'rules'],
  ])('names the path of a fault: %j', (value, path) => {
    expect(fault(value)).toMatchObject({ code: 'unprocessable', param: path });
    expect(fault(value).message).toContain(`${path}: `);
  });

  it('names a member that does not exist, and every fault at once', () => {
    expect(fault({ rules: [{ reply: { delay: 3 } }] }).message).toContain('"delay"');
    const { message } = fault({ rules: [{ reply: { text: 1 } }, { reply: { chunks: 0 } }] });
    expect(message).toMatch(/rules\[0\]\.reply\.text.*rules\[1\]\.reply\.chunks/);
  });

  it('accepts every example of the documentation', () => {
    const page = readFileSync(new URL('../../../../docs/mock.md', import.meta.url), 'utf8');
    const blocks = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, yaml = '']) =>
      parse(yaml),
    );
    const cassettes = blocks.filter((block) => 'rules' in block);
    expect(cassettes.map((block) => parseCassette(block).rules.length)).toEqual([4]);
  });

  it('is documented in full', () => {
    const page = readFileSync(new URL('../../../../docs/mock.md', import.meta.url), 'utf8');
    const rule = cassetteSchema().shape.rules.unwrap().element.shape;
    const members = [...Object.keys(rule.match.unwrap().shape), ...Object.keys(rule.reply.shape)];
    expect(members.filter((name) => !new RegExp(`\`${name}\\b`).test(page))).toEqual([]);
  });

  it('has a JSON Schema for editors', () => {
    const validate = createAjv().compile(z.toJSONSchema(cassetteSchema(), { io: 'input' }));
    expect(validate({ rules: [{ reply: { text: 'x', usage: null, raw: 'y' } }] })).toBe(true);
    expect(validate({ rules: [{ reply: { delay: 3 } }] })).toBe(false);
  });
});

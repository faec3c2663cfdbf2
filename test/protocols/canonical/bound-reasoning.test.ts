import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { messages } from '../../../src/protocols/messages/messages.ts';

import { ANSWER, encodeOptions, atOnce } from '../../support/protocols.ts';
import { wireTo } from '../spoken.ts';

const ASK = { model: 'acme/m', max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] };
const REASONING = { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'gAAA+/=' };
const RESPONSE = {
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status: 'completed',
  model: 'up',
  output: [
    { ...REASONING, summary: [{ type: 'summary_text', text: 'thought' }] },
    {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'hello', annotations: [] }],
    },
  ],
};

const wire = wireTo(messages, 'responses');
const peek = (body: object) => messages.peek(Buffer.from(JSON.stringify(body)));

function answerOf(account: string): { content: unknown[] } {
  const body = Buffer.from(JSON.stringify(RESPONSE));
  const answer = atOnce(wire.readAnswer(body, peek(ASK), { ...ANSWER, account }));
  return JSON.parse(String(answer?.body)) as { content: unknown[] };
}

/** What a provider gets when the client goes on with the answer of account `prov_a`. */
function goOn(account: string) {
  const losses: string[] = [];
  const turns = [
    ...ASK.messages,
    { role: 'assistant', content: answerOf('prov_a').content },
    { role: 'user', content: 'and?' },
  ];
  const body = wire.encode(peek({ ...ASK, messages: turns }), encodeOptions({ account, losses }));
  const { input } = JSON.parse(body.toString()) as { input: { type?: string }[] };
  return { reasoning: input.find(({ type }) => type === 'reasoning'), losses, input };
}

describe('encrypted reasoning of another protocol', () => {
  it('comes back to the account that made it, byte for byte', () => {
    const { reasoning, losses } = goOn('prov_a');
    expect(reasoning).toMatchObject({ id: 'rs_1', encrypted_content: 'gAAA+/=' });
    expect(losses).toEqual([]);
  });

  it('does not go to another account, which could not read it; the rest goes on', () => {
    const { reasoning, losses, input } = goOn('prov_b');
    expect(reasoning).toBeUndefined();
    expect(losses).toEqual(['messages.content.thinking.signature']);
    expect(JSON.stringify(input)).toContain('hello');
  });

  it('tells the client nothing about the account', () => {
    const [thinking] = answerOf('prov_secret').content as { signature: string }[];
    const token = Buffer.from(String(thinking?.signature), 'base64').toString();
    expect(token).toContain('GWR1');
    expect(token).not.toContain('prov_secret');
  });
});
